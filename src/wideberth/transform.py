"""How a release is made: what a policy's [transform] and the arguments of `anonymize` may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

from wideberth.errors import ParameterError

ALGORITHMS = ("mondrian",)
#: Planned; said so, rather than "unknown".
_LATER = ("lattice", "anatomy")
CUTS = ("paper", "disjoint", "best", "quality")
DEALING = ("rank", "matching")
#: Nor may a weight be heavier than the inverse of this.
_LIGHTEST = 1e-9
RECODINGS = ("interval", "bounds", "hierarchy", "set")

#: A step for numbers, a number of days or a calendar unit for dates, or "hierarchy".
Grid: TypeAlias = int | float | str | Fraction


@dataclass(frozen=True, kw_only=True)
class Transform:
    """How a release is made.

    Parameters
    ----------
    algorithm : str
        What makes the groups: "mondrian".
    cuts : str
        Which cuts are tried: "paper", "disjoint", "best" or "quality".
    dealing : str
        How a non-monotone principle's groups are dealt: by "rank" of the sensitive values alone,
        or by "matching", which looks at quasi-identifiers too and so gives away more.
    suppression_limit : float
        The largest share of rows that may be left out where the principles cannot be met
        otherwise; 0 to refuse instead.
    recoding : str or mapping, optional
        How quasi-identifiers are published: "interval", "bounds", "hierarchy" or "set", for each
        column or for all that it suits.
    align : str or mapping, optional
        Where intervals may end, by column: a step, a number of days, "week", "month", "quarter",
        "year" or "hierarchy"; or "hierarchy" for all that have one.
    weights : mapping
        How much the loss on a quasi-identifier counts beside the others; 1 by default.

    Examples
    --------
    >>> Transform(cuts="paper").dealing
    'rank'
    >>> Transform(cuts="papers")
    Traceback (most recent call last):
    wideberth.errors.ParameterError: cuts must be one of paper, disjoint, best, quality
      try: cuts = "paper"
    """

    algorithm: str = "mondrian"
    cuts: str = "best"
    dealing: str = "rank"
    suppression_limit: float = 0.0
    recoding: str | Mapping[str, str] | None = None
    align: str | Mapping[str, Grid] | None = None
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what makes no sense whatever the table."""
        if self.algorithm in _LATER:
            raise ParameterError(
                f"the algorithm '{self.algorithm}' is not there yet", hint='algorithm = "mondrian"'
            )
        _one_of("algorithm", self.algorithm, ALGORITHMS)
        _one_of("cuts", self.cuts, CUTS)
        _one_of("dealing", self.dealing, DEALING)
        if not _number(self.suppression_limit) or not 0 <= self.suppression_limit <= 1:
            raise ParameterError(
                "suppression_limit must be a number from 0 to 1", hint="suppression_limit = 0.01"
            )
        if isinstance(self.recoding, Mapping):
            for column, how in self.recoding.items():
                key = f'recoding."{column}"'  # as in a policy
                _one_of(f"recoding of '{column}'", how, RECODINGS, key=key)
        elif self.recoding is not None:
            _one_of("recoding", self.recoding, RECODINGS)
        if isinstance(self.align, Mapping):
            for column, grid in self.align.items():
                if not isinstance(grid, str) and (not _number(grid) or grid <= 0):
                    raise ParameterError(
                        f"align of '{column}' must be a step above 0, a calendar unit or "
                        '"hierarchy"',
                        hint="align = { age = 5 }",
                    )
        elif self.align is not None:
            _one_of("align", self.align, ("hierarchy",))
        self._check_weights()

    def _check_weights(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise ParameterError("weights must be a table by column", hint="weights = { age = 2 }")
        for column, weight in self.weights.items():
            if not _number(weight) or not _LIGHTEST <= weight <= 1 / _LIGHTEST:
                raise ParameterError(
                    f"the weight of '{column}' must be a number above 0, and of common size",
                    hint=f'weights = {{ "{column}" = 2 }}',
                )

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return what a policy may say."""
        return tuple(f.name for f in fields(cls))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""

        def plain(value: object) -> Any:
            if isinstance(value, Mapping):
                return {key: plain(inner) for key, inner in value.items()}
            return value if isinstance(value, int | float | str | None) else str(value)

        return {key: plain(getattr(self, key)) for key in self.keys()}


def _number(value: object) -> bool:
    if not isinstance(value, int | float | Fraction) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # too large for a float
        return False


def _one_of(what: str, value: object, choices: tuple[str, ...], key: str | None = None) -> None:
    if value not in choices:
        near = get_close_matches(str(value), choices, n=1) or choices
        raise ParameterError(
            f"{what} must be one of {', '.join(choices)}", hint=f'{key or what} = "{near[0]}"'
        )
