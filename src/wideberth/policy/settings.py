"""How a release is made: what a policy's [transform] and the arguments of `anonymize` may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

from wideberth.errors import ParameterError, what_to_type

ALGORITHMS = ("mondrian", "lattice", "anatomy")
CUTS = ("paper", "disjoint", "best", "quality")
DEALING = ("rank", "matching")
METHODS = ("optimal", "mbf", "components")
#: Nor may a weight be heavier than the inverse of this.
_LIGHTEST = 1e-9
_OF_RANGES = ("recoding", "align", "max_set", "cuts", "dealing")
_OF_LATTICES = ("measure", "levels", "local_rounds", "max_checks", "max_seconds")
_OF_ANATOMY = ("method", "group_rows")
#: What an algorithm does not look at.
STRANGE_TO = {
    "mondrian": (*_OF_LATTICES, *_OF_ANATOMY),
    "lattice": (*_OF_RANGES, *_OF_ANATOMY),
    "anatomy": (*_OF_RANGES, *_OF_LATTICES, "weights"),
}
#: See `wideberth.algorithms.lattice.measures`.
MEASURES = (
    "loss",
    "ncp",
    "discernibility",
    "average-size",
    "precision",
    "height",
    "entropy",
)
RECODINGS = ("interval", "bounds", "hierarchy", "set")
#: How many values a published set may list.
MAX_SET = 50

#: A step for numbers, a number of days or a calendar unit for dates, or "hierarchy".
Grid: TypeAlias = int | float | str | Fraction


@dataclass(frozen=True, kw_only=True)
class Transform:
    """How a release is made.

    Parameters
    ----------
    algorithm : str
        What makes the groups: "mondrian" splits the table again and again; "lattice" publishes
        every quasi-identifier on one level of its hierarchy, the same for the whole table;
        "anatomy" publishes quasi-identifiers exactly, and sensitive values in a second table.
    cuts : str
        Which cuts mondrian tries: "paper", "disjoint", "best" or "quality". "paper" differs from
        Li, Tao and Xiao 2008 in three points: it cuts nearest the median, not at or below it;
        deals N rows to floor(N/m) groups, not to as many as the fullest interval has rows; and
        deals every leaf, also one that satisfies as it is.
    dealing : str
        How a non-monotone principle's groups are dealt: by "rank" of the sensitive values alone,
        or by "matching", which looks at quasi-identifiers too and so gives away more.
    suppression_limit : float or str
        The largest share of rows that may be left out, as 0.05 or "5%": by mondrian and anatomy
        where the principles cannot be met otherwise, by the lattice where that loses less.
    recoding : str or mapping, optional
        How quasi-identifiers are published: "interval", "bounds", "hierarchy" or "set", for each
        column or for all that it suits.
    align : str or mapping, optional
        Where intervals may end, by column: a step, a number of days, "week", "month", "quarter",
        "year" or "hierarchy"; or "hierarchy" for all that have one.
    max_set : int
        How many values a published set may list, 50 by default. A set of more values, or of more
        than 20 times as many characters, is published as ``*``.
    weights : mapping
        How much the loss on a quasi-identifier counts beside the others; 1 by default.
    measure : str or callable
        What the lattice minimises: a name, or a function of `Facts`.
    levels : mapping
        By quasi-identifier, the level that the lattice must use, or the lowest and the highest.
    local_rounds : int
        How often the lattice generalises the rows that it would suppress by themselves.
    max_checks, max_seconds : optional
        How long the lattice is searched; without, until its best node is proven best.
    max_memory : int
        How many megabytes the tables of the lattice's nodes may take, 1024 by default; of other
        algorithms, how many distances may take at a time, 256 by default.
    method : str
        How anatomy makes groups: "optimal" leaves out as few rows as possible; "mbf" takes rows
        from the largest buckets first, as Wang et al. 2013 do; "components" makes buckets of all
        values that are connected by similar ones, where leaves of a tree lie at unequal depth.
    group_rows : int, optional
        How many rows anatomy's groups should have if the principles permit; by default as few as
        they need.

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
    max_set: int = MAX_SET
    weights: Mapping[str, float] = field(default_factory=dict)
    measure: str | Callable[[Any], float] = "loss"
    levels: Mapping[str, int | Sequence[int]] = field(default_factory=dict)
    local_rounds: int = 0
    max_checks: int | None = None
    max_seconds: float | None = None
    max_memory: int = None  # type: ignore[assignment] # filled in by algorithm
    method: str = "optimal"
    group_rows: int | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense whatever the table."""
        _one_of("algorithm", self.algorithm, ALGORITHMS)
        if vars(self)["max_memory"] is None:
            usual = 1024 if self.algorithm == "lattice" else 256
            object.__setattr__(self, "max_memory", usual)
        _one_of("cuts", self.cuts, CUTS)
        _one_of("dealing", self.dealing, DEALING)
        _one_of("method", self.method, METHODS)
        object.__setattr__(self, "suppression_limit", as_number(self.suppression_limit))
        if not _number(self.suppression_limit) or not 0 <= self.suppression_limit <= 1:
            raise ParameterError(
                "suppression_limit must be a number from 0 to 1, or a share from 0% to 100%",
                hint='suppression_limit = 0.05, or "5%"',
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
        self._check_lattice()

    def _check_weights(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise ParameterError("weights must be a table by column", hint="weights = { age = 2 }")
        for column, weight in self.weights.items():
            if not _number(weight) or not _LIGHTEST <= weight <= 1 / _LIGHTEST:
                raise ParameterError(
                    f"the weight of '{column}' must be a number above 0, and of common size",
                    hint=f'weights = {{ "{column}" = 2 }}',
                )

    def _check_lattice(self) -> None:
        if not callable(self.measure):
            _one_of("measure", self.measure, MEASURES)
        if not isinstance(self.levels, Mapping):
            raise ParameterError("levels must be a table by column", hint="levels = { age = 2 }")
        self._check_algorithm()
        for column, given in self.levels.items():
            ends = [given] if isinstance(given, int) else given
            if not isinstance(ends, list | tuple | range) or not 1 <= len(ends) <= 2:
                ends = [-1]
            if not all(_whole(end, 0) for end in ends) or ends[0] > ends[-1]:
                raise ParameterError(
                    f"levels of '{column}' must be a level, or the lowest and then the highest",
                    hint=f'levels = {{ "{column}" = [0, 2] }}',
                )
        for key, least, usual in (
            ("local_rounds", 0, 1),
            ("max_checks", 1, 10_000),
            ("max_memory", 1, 256),
            ("group_rows", 1, 5),
            ("max_set", 1, MAX_SET),
        ):
            value = getattr(self, key)
            if value is not None and not _whole(value, least):
                what = f"{key} must be a whole number from {least}"
                raise ParameterError(what, hint=f"{key} = {usual}")
        if self.max_seconds is not None and not (
            _number(self.max_seconds) and self.max_seconds > 0
        ):
            raise ParameterError("max_seconds must be a number above 0", hint="max_seconds = 60")

    def _check_algorithm(self) -> None:
        """Refuse what the algorithm does not look at: whoever wrote it expects something of it."""
        if self.method == "mbf" and self.group_rows is not None:
            raise ParameterError(
                "group_rows means nothing to the method 'mbf'", hint='method = "optimal"'
            )
        usual = {f.name: f.default for f in fields(self)}
        for key in STRANGE_TO[self.algorithm]:
            value = getattr(self, key)
            if value not in (usual[key], {}) and (
                value != "hierarchy" or self.algorithm != "lattice"
            ):
                other = next(name for name in ALGORITHMS if key not in STRANGE_TO[name])
                raise ParameterError(
                    f"{key} means nothing to the algorithm '{self.algorithm}'",
                    hint=what_to_type(
                        python=f'leave it out, or algorithm="{other}"',
                        command=f'leave it out, or algorithm = "{other}" (--algorithm {other})',
                    ),
                )

    @property
    def memory_for_distances(self) -> int | None:
        """How many megabytes distances may take at a time; None where that is not said."""
        return None if self.algorithm == "lattice" else self.max_memory

    @property
    def exact(self) -> bool:
        """Whether quasi-identifiers are published as they are."""
        return self.algorithm == "anatomy"

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return what a policy may say."""
        return tuple(f.name for f in fields(cls))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON: those that the algorithm looks at."""

        def plain(value: object) -> Any:
            if isinstance(value, Mapping):
                return {key: plain(inner) for key, inner in value.items()}
            if isinstance(value, list | tuple | range):
                return [plain(inner) for inner in value]
            if callable(value):
                return getattr(value, "__name__", "a function")
            return value if isinstance(value, int | float | str | None) else str(value)

        strange = STRANGE_TO[self.algorithm]
        return {key: plain(getattr(self, key)) for key in self.keys() if key not in strange}


def as_number(limit: Any) -> Any:
    """Return a share that is written as text, as "5%", as a number; what is none comes back.

    >>> as_number("5%"), as_number(0.05), as_number("few")
    (0.05, 0.05, 'few')
    """
    if not isinstance(limit, str):
        return limit
    try:
        from wideberth.core.exact import share  # NumPy, for which --help need not wait

        return float(share(limit))
    except (ValueError, ZeroDivisionError):
        return limit


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


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
