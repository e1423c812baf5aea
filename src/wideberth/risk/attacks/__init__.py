"""What an adversary learns from the histogram that a victim faces."""

from wideberth.risk.attacks.bayes import Beliefs, Change, posterior
from wideberth.risk.attacks.guess import Background, Homogeneity, own_shares, share_without
from wideberth.risk.attacks.identity import Identity, among
from wideberth.risk.attacks.intervals import (
    IntervalClaim,
    Nearness,
    Neighbourhoods,
    interval_claim,
    usual_epsilon,
)
from wideberth.risk.attacks.results import Attacks, Measures, Settings, learn
from wideberth.risk.attacks.similarity import Farness, Kinds, KindsFound, LevelOfKinds
from wideberth.risk.attacks.situations import CONFIDENCES, Faced, Risk

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
