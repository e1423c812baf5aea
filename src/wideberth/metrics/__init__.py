"""What a release is worth and what it risks, measured on what it publishes."""

from wideberth.metrics.anatomy import (
    AnatomyFigures,
    LevelRisk,
    average_diversity,
    diversity_degree,
    reconstruction_error,
    similarity_risk,
    true_point_error,
)

__all__ = [
    "AnatomyFigures",
    "LevelRisk",
    "average_diversity",
    "diversity_degree",
    "reconstruction_error",
    "similarity_risk",
    "true_point_error",
]
