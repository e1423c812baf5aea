"""What an erratum says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["wrong", "misprint", "gap"]


@dataclass(frozen=True)
class Erratum:
    """An error in a paper.

    Parameters
    ----------
    paper : str
        The name of its study.
    kind : str
        "wrong", "misprint" or "gap".
    place : str
        Where in the paper.
    says : str
        What the paper says there, in our words.
    holds : str
        What is true instead.
    proof : str
        An expression of Python, true because the paper is not.
    """

    paper: str
    kind: Kind
    place: str
    says: str
    holds: str
    proof: str
