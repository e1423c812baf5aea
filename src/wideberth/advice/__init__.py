"""What is possible: the strongest parameters of each principle for a table, and why no more."""

from wideberth.advice.advising import Advice, advise
from wideberth.advice.brackets import Bracket
from wideberth.advice.dissimilar import DissimilarityAdvice, Satisfiability
from wideberth.advice.limits import Limit
from wideberth.advice.refusal import Alternative, alternatives, refusal
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
    "refusal",
]
