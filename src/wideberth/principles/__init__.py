"""The privacy principles, one file per family. Importing this package registers them all."""

from wideberth.principles.base import (
    Parameter,
    Principle,
    Rule,
    iterate,
    lookup,
    make,
    parameter,
    parse,
    plain_value,
    register,
    registry,
)
from wideberth.principles.closeness import TCloseness
from wideberth.principles.dissimilarity import Dissimilarity, LEDiversity
from wideberth.principles.diversity import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    MUniqueness,
    RecursiveCLDiversity,
)
from wideberth.principles.multi_attribute import MultiAttributeLDiversity
from wideberth.principles.proximity import (
    DeltaLDiversity,
    EpsilonMAnonymity,
    KEAnonymity,
    VarianceControl,
)
from wideberth.principles.size import DeltaPresence, KAnonymity

__all__ = [
    "AlphaKAnonymity",
    "DeltaLDiversity",
    "DeltaPresence",
    "Dissimilarity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "FrequencyLDiversity",
    "KAnonymity",
    "KEAnonymity",
    "LEDiversity",
    "MUniqueness",
    "MultiAttributeLDiversity",
    "Parameter",
    "Principle",
    "RecursiveCLDiversity",
    "Rule",
    "TCloseness",
    "VarianceControl",
    "iterate",
    "lookup",
    "make",
    "parameter",
    "parse",
    "plain_value",
    "register",
    "registry",
]
