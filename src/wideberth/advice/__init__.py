"""What is possible: the strongest parameters of each principle for a table, and why no more."""

from wideberth.advice.advising import Advice, advise
from wideberth.advice.brackets import Bracket
from wideberth.advice.dissimilar import DissimilarityAdvice, Satisfiability
from wideberth.advice.limits import Limit
from wideberth.advice.proposal import (
    proposed_policy,
    proposed_protection,
    round_number,
    rule_for,
)
from wideberth.advice.refusal import Alternative, alternatives, refusal, weaker
from wideberth.advice.risking import RiskCurve

__all__ = [
    "Advice",
    "Alternative",
    "Bracket",
    "DissimilarityAdvice",
    "Limit",
    "RiskCurve",
    "Satisfiability",
    "advise",
    "alternatives",
    "proposed_policy",
    "proposed_protection",
    "refusal",
    "round_number",
    "rule_for",
    "weaker",
]
