"""What a release is worth and what it risks, measured on what it publishes.

A metric is a class with a few facts and one method; `register` makes it known everywhere.
"""

from wideberth.utility.metrics.base import (
    METRICS,
    NEEDS,
    Figure,
    Material,
    Metric,
    NotMeasuredError,
    iterate,
    lookup,
    register,
    registry,
)
from wideberth.utility.metrics.buckets import (
    AnatomyFigures,
    AverageDiversity,
    LevelRisk,
    ReconstructionError,
    SimilarityRisk,
    TruePointError,
    average_diversity,
    diversity_degree,
    reconstruction_error,
    similarity_risk,
    true_point_error,
)
from wideberth.utility.metrics.entropy import KLDivergence, NonUniformEntropy
from wideberth.utility.metrics.loss import NCP, Granularity, Height, Loss, Precision
from wideberth.utility.metrics.sizes import (
    AverageSize,
    Discernibility,
    GroupSizes,
    NormalizedAverageSize,
    size_histogram,
)

__all__ = [
    "METRICS",
    "NCP",
    "NEEDS",
    "AnatomyFigures",
    "AverageDiversity",
    "AverageSize",
    "Discernibility",
    "Figure",
    "Granularity",
    "GroupSizes",
    "Height",
    "KLDivergence",
    "LevelRisk",
    "Loss",
    "Material",
    "Metric",
    "NonUniformEntropy",
    "NormalizedAverageSize",
    "NotMeasuredError",
    "Precision",
    "ReconstructionError",
    "SimilarityRisk",
    "TruePointError",
    "average_diversity",
    "diversity_degree",
    "iterate",
    "lookup",
    "reconstruction_error",
    "register",
    "registry",
    "similarity_risk",
    "size_histogram",
    "true_point_error",
]
