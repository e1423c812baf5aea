"""What an erratum says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["wrong", "imprecise", "misprint", "gap", "rounding", "choice"]

#: What each kind means, from the gravest to what is no error at all.
KINDS: dict[Kind, str] = {
    "wrong": "a statement that does not hold",
    "imprecise": "one that holds roughly, or in a sense that the paper does not spell out",
    "misprint": "what is meant is clear",
    "gap": "something is left open, or a step of a proof is missing",
    "rounding": "true of real numbers, and unsafe in floating point: for those who program it",
    "choice": "sound, but another choice is better",
}


@dataclass(frozen=True)
class Erratum:
    """An error in a paper, or a remark on it.

    Parameters
    ----------
    paper : str
        The name of its study.
    kind : str
        One of `KINDS`.
    place : str
        Where in the paper.
    says : str
        What the paper says there, in our words.
    holds : str
        What is true instead.
    proof : str
        An expression of Python that shows it.
    """

    paper: str
    kind: Kind
    place: str
    says: str
    holds: str
    proof: str
