"""advise: which parameters can a sensitive attribute satisfy, before anything is published."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import polars as pl
import pyarrow as pa

from wideberth import engines, io
from wideberth.core.codes import Column, Domain
from wideberth.core.exact import Ints, fraction
from wideberth.core.memory import bounded
from wideberth.core.names import prefix_of, spread_over_columns
from wideberth.core.questions import column_question
from wideberth.core.text import as_html
from wideberth.core.types import TYPES, infer_type
from wideberth.distances import DistanceFunction
from wideberth.errors import (
    InfeasibleError,
    ParameterError,
    TableError,
    UndecidedError,
    what_to_type,
)
from wideberth.policy.policy import Policy
from wideberth.policy.spec import columns_named
from wideberth.principles import (
    Dissimilarity,
    DistinctLDiversity,
    EpsilonMAnonymity,
    Principle,
    lookup,
)
from wideberth.principles.allowance import allowed_codes
from wideberth.principles.columns import GroupedTable, require_column
from wideberth.principles.feasibility.gaps import Spacing
from wideberth.principles.feasibility.limits import Limit, WholeTable, window_share_limit
from wideberth.principles.feasibility.nearness import DissimilarityAdvice
from wideberth.principles.feasibility.refusal import infeasible_error

# -----------------------------------------------------------------------------
# Which sensitive attribute advice is asked about, and the table it is in.


@dataclass(frozen=True)
class AdvisedAttribute:
    """The sensitive attribute that is asked about, and what is known of its columns."""

    names: list[str]
    types: dict[str, str]
    hierarchies: dict[str, Any]

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        *,
        sensitive: str | Sequence[str] | None,
        types: Mapping[str, str] | None,
        hierarchies: Mapping[str, Any] | None,
        policy: Policy | None,
    ) -> AdvisedAttribute:
        """Settle it by a table's columns; see `advise`."""
        types, hierarchies = dict(types or {}), dict(hierarchies or {})
        names = columns_named(sensitive, frame.columns)
        if policy is not None:
            types, hierarchies = {**policy.types, **types}, {**policy.hierarchies, **hierarchies}
            listed = columns_named(policy.roles.get("sensitive"), frame.columns)
            if not names and (len(listed) == 1 or prefix_of(listed) is not None):
                names = listed
        if not names and frame.width == 1:
            names = frame.columns
        if not names:
            several = [] if policy is None else list(policy.roles.get("sensitive", ()))
            raise ParameterError(
                "which column is sensitive is not said"
                + (f": the policy has {len(several)}" if several else ""),
                hint=what_to_type(
                    python=f'sensitive="{several[0] if several else "column"}"',
                    command=f"--sensitive {several[0] if several else 'COLUMN'}",
                ),
            )
        types, hierarchies = (
            spread_over_columns(types, frame.columns),
            spread_over_columns(hierarchies, frame.columns),
        )
        for name in names:
            require_column(frame, name)
        for kind in types.values():
            if kind not in TYPES:
                what = f"there is no type '{kind}'"
                raise ParameterError(what, hint=f"one of {', '.join(TYPES)}")
        return cls(
            names,
            {k: v for k, v in types.items() if k in names},
            {k: v for k, v in hierarchies.items() if k in names},
        )

    @property
    def known(self) -> dict[str, Any]:
        """What `GroupedTable` needs to know of the attribute."""
        # A column is its own group id: nothing here looks at groups.
        return {
            "quasi": [],
            "sensitive": self.names,
            "group": self.names[0],
            "hierarchies": self.hierarchies,
            "types": self.types,
        }


def load_advice_table(table: object, policy: Policy | None) -> pl.DataFrame:
    """Take in a table, a file or a single column, with its numbers and dates read."""
    if isinstance(table, str | Path):
        return io.read(table, policy.options if policy else None)
    frame = _in_memory(table)
    return frame if policy is None else io.in_formats(frame, policy.options)


def _in_memory(table: object) -> pl.DataFrame:
    if isinstance(table, Mapping):
        what = f"expected a table or the values of a column, got {type(table).__name__}"
        raise TableError(what, hint="build a dataframe, or name a file")
    native: Any = nw.to_native(table, pass_through=True)
    if isinstance(native, pa.Array):
        native = pa.chunked_array([native])
    try:
        column = nw.from_native(native, series_only=True)
    except TypeError:
        if not isinstance(native, Iterable) or hasattr(native, "columns"):
            return io.adopt(table)[0]
        if isinstance(native, pa.Table):
            return io.adopt(table)[0]
        try:
            listed = native if hasattr(native, "dtype") else list(native)
            column = nw.from_native(pl.Series(listed, strict=False), series_only=True)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise TableError(
                "the values are of no kind that a column can hold", hint="numbers, texts or dates"
            ) from None
    named = column if column.name else column.alias("values")
    return io.adopt(named.to_frame().to_native())[0]


# -----------------------------------------------------------------------------
# advise: which parameters can a sensitive attribute satisfy, before anything is published.


#: An int where it is whole, a float where that denotes it exactly, else a Fraction.
AnyNumber: TypeAlias = int | float | Fraction

_NUMERIC = ("integer", "float", "decimal", "date")
#: What is said about an attribute besides (ε,m): a principle, the parameter, the others' values.
_CATEGORIES: list[tuple[str, str, dict[str, Any]]] = [
    ("k-anonymity", "k", {}),
    ("distinct-l", "l", {}),
    ("frequency-l", "l", {}),
    ("entropy-l", "l", {}),
    ("recursive-cl", "c", {"l": 2}),
    ("recursive-cl", "c", {"l": 3}),
    ("recursive-cl", "l", {"c": 3}),
    ("alpha-k", "alpha", {"k": 2}),
    ("m-uniqueness", "m", {}),
    ("t-closeness", "t", {}),
]
_TREE: list[tuple[str, str, dict[str, Any]]] = [
    ("l-e", "l", {"e": 0}),
    ("l-e", "l", {"e": 1}),
    ("l-e", "e", {"l": 2}),
    ("l-e", "e", {"l": 3}),
]
_NUMBERS: list[tuple[str, str, dict[str, Any]]] = [
    ("delta-l", "delta", {"l": 2}),
    ("delta-l", "delta", {"l": 5}),
    ("k-e", "k", {"e": 0}),
    ("k-e", "e", {"k": 2}),
    ("variance", "t", {}),
]


def advise(
    table: object,
    sensitive: str | Sequence[str] | None = None,
    *,
    types: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    policy: Policy | str | Path | None = None,
    allowed: object = (),
    max_memory: int | None = None,
    memory: str | int | None = None,
) -> Advice:
    """Return which parameters are possible for a sensitive attribute.

    Parameters
    ----------
    table : series, sequence, dataframe or path
        A pandas, polars or pyarrow column, or any sequence of values; or a table with it, also a
        Spark DataFrame.
    sensitive : str or sequence of str, optional
        Which column of a table, or columns that are one value together; "disease.*" stands for all
        that begin with "disease.". May be left out with a policy that has one sensitive attribute.
    types, hierarchies : mapping, optional
        As in `check`.
    policy : Policy or path, optional
        Where what is not given here comes from.
    allowed : value or sequence of values, optional
        Values that need no protection, such as a wage of 0: for every principle that has a
        parameter of that name.
    max_memory : int, optional
        How many megabytes distances may take at a time, 256 by default. Less takes longer.
    memory : str or int, optional
        For a file that does not fit into memory: how much of it may be taken in all, as "2GB" or
        in bytes. The answers are the same; the attribute's distinct values must fit. What can be
        told row by row only (dissimilarity, but for some of its answers, and (l,e)-diversity on
        trees of unequal depth) is told of up to 4 million rows; so it is with Spark.

    Returns
    -------
    Advice

    Examples
    --------
    >>> advice = advise([1000, 1010, 1020, 16000, 24000, 31000, 33000, 50000])
    >>> advice.max_m(epsilon=100), advice.max_epsilon(m=4), advice.curve()[:2]
    (2, 20, [(inf, 1), (23000, 2)])
    """
    asked: dict[str, Any] = {"sensitive": sensitive, "types": types, "hierarchies": hierarchies}
    if (engine := engines.engine_for(table, memory)) is not None:
        limits = {} if memory is None else {"memory": memory}
        advice: Advice = engine.advise(
            table, **asked, policy=policy, allowed=allowed, max_memory=max_memory, **limits
        )
        return advice
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    frame = load_advice_table(table, policy)
    about = AdvisedAttribute.of(frame, **asked, policy=policy)
    subject = GroupedTable(frame[about.names], **about.known)
    return Advice(subject, max_memory=max_memory, allowed=allowed)


class Advice:
    """What is possible for one sensitive attribute, exactly. Made by `advise`.

    Parameters
    ----------
    subject : Subject
        The attribute.
    max_memory : int, optional
        How many megabytes distances may take at a time.
    rows : int, optional
        How many rows the table has, if it is not in memory: the subject's are then the distinct
        values of the attribute, and the histograms of its columns count rows.
    allowed : value or sequence of values
        Values that need no protection.
    """

    def __init__(
        self,
        subject: GroupedTable,
        *,
        max_memory: int | None = None,
        rows: int | None = None,
        allowed: object = (),
    ) -> None:
        #: Values that need no protection.
        self.allowed = _listed(allowed)
        self._on = tuple(subject.sensitive)
        self.sensitive = "+".join(self._on)
        self._subject = subject
        self._max_memory = max_memory
        self._far: dict[str | DistanceFunction, DissimilarityAdvice] = {}
        self._at_hand = rows is None
        self.rows = subject.frame.height if rows is None else rows
        series = subject.frame[self._on[0]]
        kind = subject.types.get(self._on[0]) or infer_type(series)
        empty = series.null_count() == len(series) and not series.dtype.is_nested()
        guessed = self._on[0] not in subject.types  # of a column without a value, no type is wrong
        #: Whether it holds numbers or dates, so that (ε,m) means something.
        self.numeric = len(self._on) == 1 and (kind in _NUMERIC or (empty and guessed))
        #: Whether a value is made of several numbers, so that only a distance compares two of them.
        self.vector = len(self._on) > 1 or kind == "vector"

    def require_no_question(self) -> None:
        """Refuse text that looks like numbers or dates, until somebody says how it is read."""
        name = self._on[0]
        said = {*self._subject.types, *self._subject.hierarchies}
        if self.numeric or self.vector or name in said:
            return
        asked = column_question(self._subject.frame[name], slips=False)
        if asked is not None:
            raise UndecidedError(asked.what, hint=asked.hint)

    @cached_property
    def _numbers(self) -> WholeTable:
        probe = EpsilonMAnonymity(epsilon=0, m=1)
        if self.vector:
            raise TableError(
                f"epsilon-m needs numbers, but '{self.sensitive}' is made of several",
                hint="dissimilarity, with a distance",
            )
        return self._whole(probe)

    @cached_property
    def _values(self) -> WholeTable:
        return self._whole(DistinctLDiversity(l=1))

    @property
    def domain(self) -> Domain:
        """The values of the attribute, how many rows hold each, and its semantic tree, if any."""
        return self._values.domain

    def _whole(self, principle: Principle) -> WholeTable:
        """Return the whole table, as a principle reads the attribute."""
        column = self._subject.column(self._on, principle)
        return WholeTable(column, self.rows, self._counted(column))

    def _counted(self, column: Column) -> Ints | None:
        """Return how many rows hold each code, if the codes are not one for each row."""
        return None if self._at_hand else column.domain.histogram

    def dissimilarity(self, distance: str | DistanceFunction = "auto") -> DissimilarityAdvice:
        """Return what (ε,δ)^k-dissimilarity is possible.

        Parameters
        ----------
        distance : str or callable
            How far two values are apart: a name, as of the principle, or a function of two values.

        Examples
        --------
        >>> advice = advise([[1, 0], [0, 1], [1, 0], [0.5, 0.5]]).dissimilarity("variational")
        >>> advice.max_delta(epsilon=0.5, k=2).feasible
        Fraction(0, 1)
        """
        if distance not in self._far:
            asked = Dissimilarity(epsilon=0, delta=0, k=1, distance=distance)
            column = self._subject.column(self._on, asked)
            self._far[distance] = DissimilarityAdvice(
                column, distance, max_memory=self._max_memory, counts=self._counted(column)
            )
        return self._far[distance]

    def max_m(
        self,
        epsilon: float | str | None = None,
        *,
        relative: bool = False,
        e1: float | None = None,
        e2: float | None = None,
    ) -> int:
        """Return the largest m of (ε,m)-anonymity that is possible with a given ε, or e1 and e2.

        >>> advise([1, 2, 3, 10]).max_m(epsilon="10%")
        4
        """
        principle = EpsilonMAnonymity(
            epsilon=epsilon, m=1, relative=relative, e1=e1, e2=e2, allowed=self.allowed
        )
        crowd = window_share_limit(self._numbers.bind(principle), self._numbers.domain.size)
        assert crowd is not None  # noqa: S101 - (ε,m) is all about crowds
        groups = self._numbers.groups
        return self.rows // max(crowd.fullest(groups.codes, groups.counts)[0], 1)

    def max_epsilon(self, m: int, *, relative: bool = False) -> AnyNumber:
        """Return the ε that (ε,m)-anonymity must stay below; the bound itself is out of reach.

        0 if no ε is possible with this m; infinite if every ε is, of relative ones up to 1.
        """
        m = EpsilonMAnonymity(epsilon=0, m=m).m  # refuses what is no m
        return plain_number(self._spacing(relative).supremum(self.rows // m))

    def achievable(
        self,
        epsilon: float | str | None = None,
        m: int = 1,
        *,
        relative: bool = False,
        e1: float | None = None,
        e2: float | None = None,
    ) -> bool:
        """Return whether some partition of the table satisfies (ε,m)-anonymity."""
        return self._numbers.feasible(
            EpsilonMAnonymity(
                epsilon=epsilon, m=m, relative=relative, e1=e1, e2=e2, allowed=self.allowed
            )
        )

    def curve(self, *, relative: bool = False) -> list[tuple[AnyNumber, int]]:
        """Return the whole trade-off as steps (bound on ε, largest m).

        An ε below the bound of a step, but not below that of the next, allows m up to that of the
        step. The last step's m is the largest possible with any ε at all.
        """
        return [(plain_number(e), m) for e, m in self._spacing(relative).steps()]

    def _spacing(self, relative: bool) -> Spacing:
        with bounded(self._max_memory):
            return self._numbers.spacing(relative, self.allowed)

    def refusal(self, principle: Principle) -> InfeasibleError:
        """Return the error that says why no partition satisfies a principle on the attribute."""
        table = self._numbers if principle.needs == "numbers" else self._values
        if principle.needs == "size" or table.column is None:
            return infeasible_error(principle, None, self.rows)
        with bounded(self._max_memory):
            return infeasible_error(principle, table.column, self.rows, self._counted(table.column))

    def best(self, principle: str, parameter: str, **others: Any) -> Limit | None:
        """Return the strongest value of one parameter of any principle, given the others.

        None if no value will do, or none could be told (trees with leaves at unequal depth).

        >>> advise(["flu", "flu", "ulcer", "cancer"]).best("recursive-cl", "c", l=2)
        Limit(value=Fraction(1, 1), exclusive=True)
        """
        cls = lookup(principle)
        specification = cls.parameters().get(parameter)
        if specification is None or specification.stronger is None:
            known = [key for key, p in cls.parameters().items() if p.stronger]
            raise ParameterError(
                f"{principle} has no parameter '{parameter}' with a strongest value",
                hint=f"one of {', '.join(known)}",
            )
        if cls.needs in ("population", "several"):
            raise ParameterError(
                f"{principle} is not about one attribute of one table", hint="wideberth check"
            )
        table = self._numbers if cls.needs == "numbers" else self._values
        if self.allowed and "allowed" in cls.parameters():
            others = {"allowed": self.allowed, **others}
        with bounded(self._max_memory):
            return table.strongest(principle, parameter, others)

    def allowing(self, *allowed: object) -> Advice:
        """Return the same advice, but with other values that need no protection."""
        rows = None if self._at_hand else self.rows
        return Advice(self._subject, max_memory=self._max_memory, rows=rows, allowed=allowed)

    @property
    def allowed_rows(self) -> int:
        """How many rows hold values that need no protection."""
        table = self._numbers if self.numeric else self._values
        return int(table.counts[allowed_codes(table.domain, self.allowed)].sum())

    def other(
        self, without: Collection[str] = ()
    ) -> list[tuple[str, str, dict[str, Any], Limit | None]]:
        """Return the limits of the other principles: name, parameter, the others' values, limit."""
        asked = [*_CATEGORIES, *(_TREE if self._values.domain.tree is not None else ())]
        asked = [one for one in asked + _NUMBERS * self.numeric if one[0] not in without]
        return [(name, key, others, self.best(name, key, **others)) for name, key, others in asked]

    def limits(self, without: Collection[str] = ()) -> list[dict[str, Any]]:
        """Return the same as plain values, for JSON."""
        return [
            {
                "name": name,
                "parameter": key,
                "given": others,
                "value": None if limit is None else _written(name, key, limit),
                "exclusive": limit is not None and limit.exclusive,
                "achievable": limit is not None,
            }
            for name, key, others, limit in self.other(without)
        ]

    def to_dict(
        self,
        *,
        epsilon: float | str | None = None,
        m: int | None = None,
        relative: bool = False,
        e1: float | None = None,
        e2: float | None = None,
        dissimilarity: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return plain values, for JSON: what was asked and the answers.

        What is asked of dissimilarity (distance, epsilon, delta, k) has an entry of its own. A
        bound on ε is rounded down, if at all, so that every ε below it is possible. Null stands
        for what was not asked, or has no answer, and in place of an infinite bound: there every ε
        is possible, of relative ones up to 1. How many rows need no protection is told if values
        are allowed.
        """
        relative = relative or (isinstance(epsilon, str) and epsilon.strip().endswith("%"))
        reach: dict[str, Any] = {"epsilon": epsilon, "relative": relative, "e1": e1, "e2": e2}
        if e1 is not None or e2 is not None:
            reach["relative"] = False
        near = not (epsilon is None and e1 is None and e2 is None)
        known = relative_epsilon(epsilon) if relative else epsilon
        found: dict[str, Any] = {
            "sensitive": self.sensitive,
            "rows": self.rows,
            "epsilon": None if known is None else down(fraction(known)),
            "m": m,
            "achievable": self.achievable(m=m, **reach) if near and m is not None else None,
            "max_m": self.max_m(**reach) if near else None,
            "max_epsilon_exclusive": down(self.max_epsilon(m, relative=relative))
            if m is not None
            else None,
            "curve": [[down(e), most] for e, most in self.curve(relative=relative)]
            if self.numeric
            else None,
            "relative": relative,
            "e1": e1,
            "e2": e2,
            "other": self.limits(),
        }
        if self.allowed:
            found["allowed_rows"] = self.allowed_rows
        if dissimilarity is not None:
            asked = dict(dissimilarity)
            found["dissimilarity"] = self.dissimilarity(asked.pop("distance", "auto")).to_dict(
                **asked
            )
        return found

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return as_html("advice", self.to_dict())

    def __repr__(self) -> str:
        """Return a text that names the sensitive attribute and the number of rows."""
        return f"Advice(sensitive={self.sensitive!r}, rows={self.rows})"


def _listed(allowed: object) -> tuple[object, ...]:
    """Return values as a tuple; one may stand alone."""
    if isinstance(allowed, list | tuple | set | frozenset):
        return tuple(allowed)
    return (allowed,)


def relative_epsilon(epsilon: float | str | None) -> AnyNumber | None:
    """Return a relative ε as a share: 10% is 0.1."""
    if epsilon is None:
        return None
    read = EpsilonMAnonymity(epsilon=epsilon, m=1, relative=True).epsilon
    assert read is not None  # noqa: S101
    return plain_number(fraction(read))


def plain_number(exact: Fraction | None) -> AnyNumber:
    """Return the plainest number that is exact; None is infinite."""
    if exact is None:
        return inf
    if exact.denominator == 1:
        return int(exact)
    rough = float(exact)
    return rough if fraction(rough) == exact else exact


def _written(name: str, key: str, limit: Limit) -> int | float | None:
    """Return a limit for JSON; where no float denotes it, on the side that is possible."""
    if limit.value is None:
        return None
    if lookup(name).parameters()[key].stronger == "higher":
        return down(limit.value)
    least = down(-limit.value)
    return None if least is None else -least


def down(value: AnyNumber) -> int | float | None:
    """Return a number for JSON, rounded down where no float denotes it."""
    if value == inf:
        return None
    if isinstance(value, Fraction):
        plainest = plain_number(value)
        if not isinstance(plainest, Fraction):
            return plainest
        rough = float(value)
        return rough if fraction(rough) <= value else nextafter(rough, -inf)
    return value
