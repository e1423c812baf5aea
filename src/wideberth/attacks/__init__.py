"""What an adversary learns from the histogram that a victim faces."""

from wideberth.attacks.bayes import Beliefs, Change, posterior
from wideberth.attacks.faced import CONFIDENCES, Faced, Risk
from wideberth.attacks.farness import Farness
from wideberth.attacks.guessing import Background, Homogeneity, own_shares, share_without
from wideberth.attacks.identity import Identity, among
from wideberth.attacks.kinds import Kinds, KindsFound, LevelOfKinds
from wideberth.attacks.learning import Attacks, Measures, Settings, learn
from wideberth.attacks.proximity import (
    IntervalClaim,
    Nearness,
    Neighbourhoods,
    interval_claim,
    usual_epsilon,
)

__all__ = [
    "CONFIDENCES",
    "Attacks",
    "Background",
    "Beliefs",
    "Change",
    "Faced",
    "Farness",
    "Homogeneity",
    "Identity",
    "IntervalClaim",
    "Kinds",
    "KindsFound",
    "LevelOfKinds",
    "Measures",
    "Nearness",
    "Neighbourhoods",
    "Risk",
    "Settings",
    "among",
    "interval_claim",
    "learn",
    "own_shares",
    "posterior",
    "share_without",
    "usual_epsilon",
]
