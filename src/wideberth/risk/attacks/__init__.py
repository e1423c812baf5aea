"""What an adversary learns from the histogram that a victim faces."""

from wideberth.risk.attacks.bayes import BeliefAttack, BeliefChange, posterior
from wideberth.risk.attacks.guess import BackgroundKnowledge, Homogeneity, own_shares, share_without
from wideberth.risk.attacks.identity import IdentityRisk, identification_risk
from wideberth.risk.attacks.intervals import (
    IntervalClaim,
    ProximityAttack,
    ProximityResult,
    interval_claim,
    usual_epsilon,
)
from wideberth.risk.attacks.results import AdversarySettings, AttackResults, AttributeAttacks, learn
from wideberth.risk.attacks.similarity import (
    DissimilarityAttack,
    SimilarityAttack,
    SimilarityLevel,
    SimilarityResult,
)
from wideberth.risk.attacks.situations import CONFIDENCES, Risk, VictimClasses

__all__ = [
    "CONFIDENCES",
    "AdversarySettings",
    "AttackResults",
    "AttributeAttacks",
    "BackgroundKnowledge",
    "BeliefAttack",
    "BeliefChange",
    "DissimilarityAttack",
    "Homogeneity",
    "IdentityRisk",
    "IntervalClaim",
    "ProximityAttack",
    "ProximityResult",
    "Risk",
    "SimilarityAttack",
    "SimilarityLevel",
    "SimilarityResult",
    "VictimClasses",
    "identification_risk",
    "interval_claim",
    "learn",
    "own_shares",
    "posterior",
    "share_without",
    "usual_epsilon",
]
