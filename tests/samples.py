"""Random small tables for any principle, and random principles for any table.

Both follow from what a principle declares: the kind of data from its `needs`, its parameters from
their `Parameter` specifications. `_SETTLE` lists the combinations of parameters that belong
together and that no specification can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import polars as pl
from hypothesis import strategies as st

from tests import naive
from wideberth.core.codes import Column, encode, join_columns
from wideberth.core.groups import Groups
from wideberth.hierarchy import Hierarchy
from wideberth.principles import Parameter, Principle, Rule

NUMERIC = ("integers", "large", "tenths", "decimals", "floats", "dates", "datetimes")
_DATES = ("dates", "datetimes")
KINDS_FOR = {
    "size": ("integers", "text"),
    "population": ("integers", "text"),
    "values": ("text", "integers", "tenths", "dates", "balanced", "unbalanced"),
    "numbers": NUMERIC,
    "tree": ("balanced", "unbalanced"),
    "distance": ("integers", "tenths", "floats", "text", "balanced", "unbalanced", "vectors"),
    "several": ("several",),
}

_DTYPES: dict[str, Any] = {
    "integers": pl.Int64,
    "large": pl.Int64,
    "tenths": pl.Float64,
    "decimals": pl.Decimal(18, 1),
    "floats": pl.Float64,
    "dates": pl.Date,
    "datetimes": pl.Datetime("us"),
    "vectors": pl.List(pl.Float64),
}

_FULL = st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-12)

_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "integers": st.integers(-6, 6),
    "large": st.integers(-8, 8).map(lambda k: 10**17 * (k // 3) + k),
    "tenths": st.integers(-25, 25).map(lambda k: k / 10),
    "decimals": st.integers(-25, 25).map(lambda k: Decimal(k) / 10),
    "floats": st.one_of(_FULL, st.sampled_from([0.1, 0.2, 0.1 + 0.2, 0.3, 1 / 3, 2 / 3, -1 / 3])),
    "dates": st.integers(-40, 40).map(lambda k: date(2024, 2, 28) + timedelta(k)),
    "datetimes": st.integers(-9, 9).map(lambda k: datetime(2024, 2, 28) + timedelta(hours=8 * k)),
    "text": st.sampled_from("abcdef"),
}


_ROUND = sorted({Fraction(a, b) for a in range(13) for b in range(1, 13)})


@dataclass(frozen=True)
class Sample:
    """A column in both worlds: plain values for the twins, codes for the rules."""

    kind: str
    values: list[Any]
    column: Column
    context: naive.Context
    parts: list[list[int]]  # the rows of each group

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show what a failing test needs, instead of every field."""
        groups = [self.of(part) for part in self.parts]
        printer.text(f"{self.kind} in groups {groups}, tree {self.context.parents}")

    def groups(
        self, parts: Sequence[Sequence[int]], population: Sequence[int] | None = None
    ) -> Any:
        """Return the histograms of groups given by their rows."""
        coded = [self.column.codes[list(part)].tolist() for part in parts]
        return Groups.of(coded, self.column.domain.size, population)

    def of(self, part: Sequence[int]) -> list[Any]:
        """Return the values of some rows."""
        return [self.values[row] for row in part]

    def numbers(self) -> list[Fraction]:
        """Return the distinct numbers, if these are numbers."""
        return sorted(set(self.context.numbers(self.values))) if self.kind in NUMERIC else []


def sample(kind: str, values: Sequence[Any], parents: Any = None, parts: Any = None) -> Sample:
    """Encode values of a known kind."""
    if kind == "several":
        columns = [
            encode(pl.Series(f"s{i}", list(column), dtype=pl.String))
            for i, column in enumerate(zip(*values, strict=True))
        ]
        column = join_columns("+".join(c.domain.name for c in columns), columns)
    else:
        plain = [list(v) if isinstance(v, tuple) else v for v in values]
        column = encode(pl.Series("s", plain, dtype=_DTYPES.get(kind, pl.String)))
    if parents:
        column = column.with_tree(hierarchy(parents))
    parts = parts or [list(range(len(values)))]
    return Sample(kind, list(values), column, naive.Context(tuple(values), parents), parts)


def hierarchy(parents: dict[str, str | None]) -> Hierarchy:
    """Build the package's tree of a dictionary of parents."""
    labels = list(parents)
    return Hierarchy.build(labels, [labels.index(p) if p else -1 for p in parents.values()])


@st.composite
def samples(
    draw: st.DrawFn, cls: type[Principle], rows: int = 8, kinds: Sequence[str] = (), groups: int = 3
) -> Sample:
    """Draw a table of one to so many groups that all have at least one row."""
    kind = draw(st.sampled_from(kinds or KINDS_FOR[cls.needs]))
    parents = draw(trees(kind == "balanced")) if kind.endswith("balanced") else None
    pool = draw(st.lists(_value(draw, kind, parents), min_size=1, max_size=6))
    missing = None if kind != "several" else (None,) * len(pool[0])
    if draw(st.integers(0, 2)) == 0:
        pool.append(missing)
    # One number for both the value and the group of a row: half as much to draw.
    cells = draw(st.lists(st.integers(0, len(pool) * groups - 1), min_size=1, max_size=rows))
    if kind == "several" and draw(st.booleans()) and (room := rows - 2 ** len(pool[0])) >= 0:
        # Every combination once: by chance alone, attributes are hardly ever diverse in each other.
        pool = [*product("ab", repeat=len(pool[0])), *pool]
        cells = [*range(0, 2 ** len(pool[0]) * groups, groups), *cells[:room]]
    if kind == "vectors" and all(pool[c // groups] is None for c in cells):
        cells.append(0)  # a column of missing lists has no length
    values = [pool[c // groups] for c in cells]
    parts = [[row for row, c in enumerate(cells) if c % groups == g] for g in range(groups)]
    return sample(kind, values, parents, [part for part in parts if part])


def _value(draw: st.DrawFn, kind: str, parents: Any) -> st.SearchStrategy[Any]:
    if kind == "vectors":
        cuts = st.tuples(st.integers(0, 10), st.integers(0, 10)).map(sorted)
        return cuts.map(lambda c: (c[0] / 10, (c[1] - c[0]) / 10, (10 - c[1]) / 10))
    if kind == "several":
        cell = st.one_of(st.sampled_from("abc"), st.sampled_from(["a", "b", None]))
        return st.tuples(*[cell] * draw(st.integers(2, 3)))
    if parents:
        inner = set(parents.values())
        leaves = [node for node in parents if node not in inner]
        return st.sampled_from(leaves if kind == "balanced" else list(parents))
    return _VALUES[kind]


@st.composite
def trees(draw: st.DrawFn, balanced: bool) -> dict[str, str | None]:
    """Draw a tree; in an unbalanced one leaves may lie at any depth."""
    parents: dict[str, str | None] = {"n0": None}
    if not balanced:
        for i in range(1, draw(st.integers(2, 9))):
            parents[f"n{i}"] = f"n{draw(st.integers(0, i - 1))}"
        return parents
    level = ["n0"]
    for _ in range(draw(st.integers(1, 3))):
        below = []
        for node in level:
            for _ in range(draw(st.integers(1, 3 if len(level) < 4 else 2))):
                below.append(f"n{len(parents)}")
                parents[below[-1]] = node
        level = below
    return parents


# ---- principles


@st.composite
def principles(draw: st.DrawFn, cls: type[Principle], data: Sample) -> Principle:
    """Draw parameters: at the edges of their range, round, or a figure of the very data."""
    chosen: dict[str, Any] = {}
    for field in fields(cls):
        if specification := field.metadata.get("parameter"):
            strategy = _parameter(specification, data)
            if field.default is not MISSING:
                strategy = st.one_of(strategy, st.just(field.default))
            chosen[field.name] = draw(strategy)
    if settle := _SETTLE.get(cls.name):
        settle(draw, chosen, data)
    return cls(**chosen)


def _parameter(specification: Parameter, data: Sample) -> st.SearchStrategy[Any]:
    kind, low, high = specification.kind, specification.low, specification.high
    if kind == "flag":
        return st.booleans()
    if kind == "choice":
        return st.sampled_from(specification.choices)
    if kind == "metric":
        return st.sampled_from(_DISTANCES.get(data.kind, ("discrete",)))
    if kind == "values":
        known = [v for v in data.values if v is not None and not isinstance(v, tuple)]
        words = [*map(str, known), "never seen"]
        return st.lists(st.sampled_from(words), max_size=3, unique=True).map(tuple)
    if kind == "whole":
        return st.integers(low or 0, (low or 0) + 4 if high is None else high)
    return _within(low or 0, high, specification.low_open, data).map(_as_written)


def _within(low: int, high: int | None, low_open: bool, data: Sample) -> st.SearchStrategy[Any]:
    """Draw an exact number and one of the ways to write it."""
    if high is not None:
        pool = st.sampled_from([low + (high - low) * f for f in _ROUND if f <= 1])
    else:
        pool = st.sampled_from([f for f in _ROUND if f > low or (f == low and not low_open)])
        if numbers := data.numbers():
            gaps = sorted({abs(x - y) for x in numbers for y in numbers})
            near = [g for gap in gaps for g in (gap, _just_below(gap)) if g > low]
            pool = st.one_of(pool, st.sampled_from(near)) if near else pool
    return st.tuples(pool, st.integers(0, 2))


def _as_written(drawn: tuple[Fraction, int]) -> Any:
    """A user may write a float where that is the number, and a fraction anywhere."""
    exact, notation = drawn
    if notation == 0 or Fraction(repr(float(exact))) != exact:
        return exact
    return float(exact) if notation == 1 else Decimal(repr(float(exact)))


def as_written(exact: Fraction) -> st.SearchStrategy[Any]:
    """Draw one of the ways to write a number."""
    return st.tuples(st.just(exact), st.integers(0, 2)).map(_as_written)


def _just_below(exact: Fraction) -> Fraction:
    return max(exact - Fraction(1, 10**12), Fraction(0))


def _by_letter(a: str, b: str) -> float:
    return abs(ord(a) - ord(b))


def _by_number(a: float, b: float) -> float:
    return abs(a - b)


_DISTANCES: dict[str, tuple[Any, ...]] = {
    "integers": ("auto", "absolute", "relative", "discrete", "manhattan", _by_number),
    "tenths": ("auto", "absolute", "relative", "discrete", "euclidean"),
    "floats": ("auto", "absolute", _by_number),
    "text": ("auto", "discrete", "edit", _by_letter),
    "balanced": ("auto", "tree", "discrete"),
    "unbalanced": ("auto", "tree", "discrete"),
    "vectors": ("auto", "variational", "manhattan", "euclidean", "cosine"),
}


def _settle_epsilon(draw: st.DrawFn, chosen: dict[str, Any], data: Sample) -> None:
    # A share of a date would depend on where its calendar begins.
    modes = ["absolute", "general", *(["relative"] if data.kind not in _DATES else [])]
    mode = draw(st.sampled_from(modes))
    gap = _parameter(Parameter("", low=0), data)
    share = _parameter(Parameter("", low=0, high=1), data)
    ratios = [abs(x - y) / max(abs(x), abs(y)) for x in data.numbers() for y in data.numbers() if x]
    if ratios := [r for r in ratios if r <= 1]:
        share = st.one_of(share, st.sampled_from(ratios))
    chosen.update(epsilon=None, e1=None, e2=None, relative=mode == "relative")
    if mode == "general":
        chosen.update(e1=draw(gap), e2=draw(gap))
    else:
        chosen.update(epsilon=draw(share if mode == "relative" else gap))


def _settle_recursive(draw: st.DrawFn, chosen: dict[str, Any], data: Sample) -> None:
    if not chosen["required"] or not chosen["c2"]:
        chosen.update(required=(), c2=0)


def _settle_presence(draw: st.DrawFn, chosen: dict[str, Any], data: Sample) -> None:
    ends = sorted([chosen["delta_min"], chosen["delta_max"]], key=naive.given)
    chosen.update(delta_min=ends[0], delta_max=ends[1])


def _settle_several(draw: st.DrawFn, chosen: dict[str, Any], data: Sample) -> None:
    recursive = chosen["form"] == "recursive"
    positive = _parameter(Parameter("", low=0, low_open=True), data)
    chosen["c"] = draw(positive) if recursive else None
    if chosen["form"] in ("distinct", "recursive"):
        chosen["l"] = int(chosen["l"])


def _settle_delta(draw: st.DrawFn, chosen: dict[str, Any], data: Sample) -> None:
    if chosen["variant"] == "literal":
        chosen["l"] = int(chosen["l"])
    chosen["delta"] = naive.given(chosen["delta"]) / draw(st.sampled_from([1, 2]))


def _settle_closeness(draw: st.DrawFn, chosen: dict[str, Any], data: Sample) -> None:
    ranked = data.kind in NUMERIC and any(v is not None for v in data.values)
    fitting = ["auto", "equal", *(["ordered"] if ranked else [])]
    if data.context.parents:
        fitting.append("hierarchical")
    chosen["distance"] = draw(st.sampled_from(fitting))


def _settle_dissimilarity(draw: st.DrawFn, chosen: dict[str, Any], data: Sample) -> None:
    """No ε beyond the distance's range."""
    distance = chosen["distance"]
    if distance == "auto":
        distance = {"text": "discrete", "vectors": "variational"}.get(data.kind, "")
    if distance in ("discrete", "relative", "variational", "cosine"):
        chosen["epsilon"] = min(chosen["epsilon"], 1)


_SETTLE: dict[str, Callable[[st.DrawFn, dict[str, Any], Sample], None]] = {
    "epsilon-m": _settle_epsilon,
    "recursive-cl": _settle_recursive,
    "delta-presence": _settle_presence,
    "multi-attribute-l": _settle_several,
    "delta-l": _settle_delta,
    "t-closeness": _settle_closeness,
    "dissimilarity": _settle_dissimilarity,
}


# ---- principle against twin


def settings_of(principle: Principle) -> dict[str, Any]:
    """Return the values of all parameters."""
    return {key: getattr(principle, key) for key in principle.parameters()}


def expected(principle: Principle, group: Sequence[Any], context: naive.Context) -> bool:
    """Return the twin's verdict."""
    return naive.SATISFIES[principle.name](group, context, **settings_of(principle))


def bound(principle: Principle, data: Sample) -> Rule:
    """Bind a principle to the sample's domain."""
    return principle.bind(data.column.domain)
