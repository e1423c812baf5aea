"""What is possible: the strongest parameters of each principle for a table, and why no more."""

from wideberth.advice.advising import Advice, advise
from wideberth.advice.limits import Limit
from wideberth.advice.refusal import Alternative, alternatives, refusal

__all__ = ["Advice", "Alternative", "Limit", "advise", "alternatives", "refusal"]
