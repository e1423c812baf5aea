"""Random tables of people: quasi-identifiers, sensitive attributes, and principles for them.

Hypothesis draws the kinds, the pools of values and the parameters. Which row gets which of them
follows from a drawn seed, for to draw dozens of rows one by one takes long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from tests import naive
from tests.naive import ancestry
from tests.samples import KINDS_FOR, Sample, hierarchy, principles, sample, samples, trees
from wideberth.algorithms.demand import Demand
from wideberth.hierarchy.quasi import Quasi, read_quasi
from wideberth.principles import Principle, Rule, lookup

QUASI = ("integers", "floats", "dates", "text", "balanced", "unbalanced")

#: What a list asks for: the attribute, the principle, and parameters that are not drawn.
Wish = tuple[str | None, str | type[Principle], Mapping[str, Any]]

#: Lists of principles on the sensitive attributes "s" and "t".
LISTS: dict[str, list[Wish]] = {
    "epsilon-m and k": [("s", "epsilon-m", {}), (None, "k-anonymity", {})],
    "epsilon-m and more k": [("s", "epsilon-m", {"m": 2}), (None, "k-anonymity", {"k": 5})],
    "epsilon-m and less k": [("s", "epsilon-m", {"m": 3}), (None, "k-anonymity", {"k": 2})],
    "epsilon-m and distinct": [("s", "epsilon-m", {}), ("t", "distinct-l", {})],
    "epsilon-m and entropy": [("s", "epsilon-m", {"m": 2}), ("t", "entropy-l", {})],
    "epsilon-m and frequency": [("t", "frequency-l", {}), ("s", "epsilon-m", {"m": 2})],
    "epsilon-m and others on it": [
        ("s", "epsilon-m", {"m": 2}),
        ("s", "k-e", {}),
        ("s", "recursive-cl", {}),
        ("s", "delta-l", {"variant": "stab"}),
    ],
    "m-uniqueness and k": [("s", "m-uniqueness", {}), (None, "k-anonymity", {})],
    "m-uniqueness and closeness": [("s", "m-uniqueness", {}), ("t", "t-closeness", {})],
    "l-e and k": [("s", "l-e", {}), (None, "k-anonymity", {})],
    "l-e and others on it": [("s", "l-e", {"l": 2}), ("s", "distinct-l", {}), ("s", "alpha-k", {})],
    "stab and k": [("s", "delta-l", {"variant": "stab"}), (None, "k-anonymity", {})],
    "monotone ones": [
        ("s", "k-e", {}),
        ("t", "recursive-cl", {}),
        ("s", "variance", {}),
        ("s", "delta-l", {"variant": "stab"}),
        ("t", "frequency-l", {}),
        (None, "k-anonymity", {}),
    ],
    "closeness to two tables": [("s", "t-closeness", {}), ("t", "t-closeness", {})],
}


TREE: dict[str, str | None] = {"n": None, **{f"n{a}": "n" for a in "xyzuvw"}}
TREE |= {f"n{a}{b}": f"n{a}" for a in "xyzuvw" for b in range(4)}

#: So many different values that demanding principles are feasible too.
MANY: dict[str, list[Any]] = {
    "integers": [*range(-30, 60, 2)],
    "tenths": [i / 10 for i in range(-60, 300, 9)],
    "decimals": [Decimal(i) / 10 for i in range(-60, 300, 9)],
    "floats": [i / 7 for i in range(-100, 100, 5)],
    "dates": [date(2024, 1, 1) + timedelta(3 * i) for i in range(40)],
    "text": [*"abcdefghijklmnopqrst"],
    "balanced": [f"n{a}{b}" for a in "xyzuvw" for b in range(4)],
}


@dataclass(frozen=True)
class Case:
    """A table and what its groups must satisfy.

    ``trees`` holds the parents of every node, of quasi-identifiers that have a hierarchy;
    ``samples`` the sensitive attributes.
    """

    quasi: dict[str, list[Any]]
    trees: dict[str, dict[str, str | None]]
    weights: dict[str, float]
    samples: dict[str, Sample]
    wanted: list[Principle]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"{self.quasi}, weights {self.weights}, trees {self.trees}; ")
        printer.text(f"{ {name: s.values for name, s in self.samples.items()} }: {self.wanted}")

    @property
    def rows(self) -> int:
        return len(next(iter(self.quasi.values())))

    def quasis(self) -> list[Quasi]:
        """The quasi-identifiers as algorithms see them."""
        return [
            read_quasi(
                pl.Series(name, cells),
                hierarchy=hierarchy(self.trees[name]) if name in self.trees else None,
                weight=self.weights[name],
            )
            for name, cells in self.quasi.items()
        ]

    def demands(self) -> list[Demand]:
        """The principles bound to their attributes."""
        return [
            Demand(p, rule_for(p, self.samples), self.sample_for(p).column if p.on else None)
            for p in self.wanted
        ]

    def sample_for(self, principle: Principle) -> Sample:
        """The attribute that a principle is on, or any if it looks at sizes."""
        return self.samples[_attribute_of(principle, self.samples)]

    def cells(self) -> dict[str, pl.Series]:
        """The sensitive columns, typed; an attribute of several columns has them numbered."""
        return {c.name: c for name, data in self.samples.items() for c in _columns(name, data)}


def _columns(name: str, data: Sample) -> list[pl.Series]:
    if data.kind == "several":
        lines = zip(*data.values, strict=True)
        return [pl.Series(f"{name}{i}", list(c), dtype=pl.String) for i, c in enumerate(lines)]
    if data.kind == "vectors":
        cells = [None if v is None else list(v) for v in data.values]
        return [pl.Series(name, cells, dtype=pl.List(pl.Float64))]
    values = data.column.domain.values
    assert values is not None
    return [pl.Series(name, data.values, dtype=values.dtype)]


def rule_for(principle: Principle, known: Mapping[str, Sample]) -> Rule:
    """Bind a principle to the attribute it is on, or to any if it looks at sizes."""
    return principle.bind(known[_attribute_of(principle, known)].column.domain)


def _attribute_of(principle: Principle, known: Mapping[str, Sample]) -> str:
    on = principle.on
    if on is None or isinstance(on, str):
        return on or next(iter(known))
    return on[0][:-1]  # its columns are numbered


def wish(cls: type[Principle]) -> list[Wish]:
    """One principle by itself."""
    return [(None if cls.needs == "size" else "s", cls, {})]


@st.composite
def cases(
    draw: st.DrawFn, wishes: Sequence[Wish], rows: int = 60, kinds: Sequence[str] = ()
) -> Case:
    """Draw a table of up to so many rows and principles that suit it, feasible ones if possible."""
    n = draw(st.integers(1, rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    known, wanted = draw(_guarded(wishes, n, rng, kinds))
    quasi, trees_of, weights = {}, {}, {}
    for name in "abcd"[: draw(st.integers(1, 4))]:
        quasi[name], parents = draw(_quasi(n, rng))
        weights[name] = draw(st.sampled_from([1.0, 1.0, 0.3, 7.0]))
        if parents:
            trees_of[name] = parents
    return Case(quasi, trees_of, weights, known, wanted)


@st.composite
def climbing(
    draw: st.DrawFn, wishes: Sequence[Wish], rows: int = 40, nodes: int = 150, many: bool = True
) -> Case:
    """Draw the same where every quasi-identifier has a hierarchy; so many nodes of a lattice."""
    n = draw(st.integers(3, rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    known, wanted = draw(_guarded(wishes, n, rng, (), many))
    quasi, trees_of, weights = {}, {}, {}
    for name in "abcd"[: draw(st.integers(1, 4))]:
        cells, parents = draw(_climbing(n, rng))
        nodes //= 1 + max(len(ancestry(node, parents)) - 1 for node in parents)
        if quasi and not nodes:
            break
        quasi[name], trees_of[name] = cells, parents
        weights[name] = draw(st.sampled_from([1.0, 1.0, 0.3, 7.0]))
    return Case(quasi, trees_of, weights, known, wanted)


@st.composite
def _guarded(
    draw: st.DrawFn,
    wishes: Sequence[Wish],
    n: int,
    rng: Any,
    kinds: Sequence[str],
    many: bool = True,
) -> tuple[dict[str, Sample], list[Principle]]:
    """Draw the sensitive attributes, and the principles."""
    attributes = dict.fromkeys(on for on, _, _ in wishes if on) or {"s": None}
    known = {on: draw(_attribute(on, wishes, n, rng, kinds, many)) for on in attributes}
    return known, [draw(_principle(one, known)) for one in wishes]


@st.composite
def _attribute(
    draw: st.DrawFn,
    on: str,
    wishes: Sequence[Wish],
    n: int,
    rng: Any,
    kinds: Sequence[str],
    many: bool = True,
) -> Sample:
    """Draw a pool of values that suit all principles on an attribute, and deal it to the rows."""
    asking = [_class(who) for at, who, _ in wishes if at == on] or [lookup("k-anonymity")]
    fitting = [k for k in KINDS_FOR[asking[0].needs] if all(_suits(k, cls) for cls in asking)]
    few = draw(samples(asking[0], rows=12, groups=1, kinds=kinds or fitting))
    pool, parents = few.values, few.context.parents
    if many and few.kind in MANY and draw(st.booleans()):
        pool, parents = MANY[few.kind], parents and TREE
    evenly = draw(st.booleans())
    at = rng.permutation(n) % len(pool) if evenly else rng.integers(0, len(pool), n)
    values = [pool[i] for i in at]
    if few.kind == "vectors" and all(v is None for v in values):
        values[0] = next(v for v in pool if v is not None)
    return sample(few.kind, values, parents)


def _suits(kind: str, cls: type[Principle]) -> bool:
    return kind in KINDS_FOR[cls.needs] or cls.needs == "values"


def _class(who: str | type[Principle]) -> type[Principle]:
    return lookup(who) if isinstance(who, str) else who


@st.composite
def _principle(draw: st.DrawFn, one: Wish, known: Mapping[str, Sample]) -> Principle:
    on, who, fixed = one
    data = known[on or next(iter(known))]
    for _ in range(4):
        drawn = draw(principles(_class(who), data))
        if fixed.get("variant") == "literal" and naive.given(getattr(drawn, "l", 1)) % 1:
            drawn = replace(drawn, allowed=())  # type: ignore[call-arg]  # which is refused
        drawn = replace(drawn, **fixed)
        if on is not None:
            columns = [column.name for column in _columns(on, data)]
            drawn = replace(drawn, on=columns[0] if len(columns) == 1 else columns)
        rule = drawn.bind(data.column.domain)
        if len(data.values) >= rule.least and rule.feasible(data.groups(data.parts))[0]:
            break
    return drawn


@st.composite
def _quasi(draw: st.DrawFn, n: int, rng: Any) -> tuple[list[Any], Any]:
    """Draw a quasi-identifier; the first row has a value, for one must."""
    kind = draw(st.sampled_from(QUASI))
    many = draw(st.sampled_from([1, 2, 5, 100]))
    parents = None
    at = rng.integers(0, many, n)
    if kind.endswith("balanced"):
        parents = draw(trees(kind == "balanced"))
        inner = set(parents.values())
        nodes = [v for v in parents if kind == "unbalanced" or v not in inner]
        cells = [nodes[i % len(nodes)] for i in at]
    elif kind == "integers":
        cells = (at * at).tolist()
    elif kind == "floats":
        cells = (at / 7 - 3).tolist()
    elif kind == "dates":
        cells = [date(2000, 1, 1) + timedelta(31 * int(i)) for i in at]
    else:
        cells = [f"v{i:02}" for i in at]
    if draw(st.integers(0, 2)) == 0:
        _forget(cells, rng)
    return cells, parents


@st.composite
def _climbing(draw: st.DrawFn, n: int, rng: Any) -> tuple[list[Any], dict[str, str | None]]:
    """Draw a quasi-identifier with a hierarchy, which need not list numbers in their order."""
    kind = draw(st.sampled_from(["balanced", "unbalanced", "numbers", "balanced", "root"]))
    parents: dict[str, str | None] = {"n0": None}
    if kind != "root":
        parents = draw(trees(kind == "balanced"))
    nodes = [*parents]
    if kind == "balanced" or draw(st.booleans()):
        nodes = [node for node in parents if node not in parents.values()]
    at = rng.integers(0, draw(st.sampled_from([2, 5, 100])), n)
    cells: list[Any] = [nodes[i % len(nodes)] for i in at]
    if kind == "numbers":
        number = dict(zip(parents, (rng.permutation(len(parents)) * 7 - 10).tolist(), strict=True))
        cells = [number[cell] for cell in cells]
        parents = {str(number[v]): up and str(number[up]) for v, up in parents.items()}
    if draw(st.integers(0, 2)) == 0:
        _forget(cells, rng)
    return cells, parents


def _forget(cells: list[Any], rng: Any) -> None:
    """Leave out some values, but not the first."""
    for row in np.flatnonzero(rng.random(len(cells)) < 0.3)[1:].tolist():
        cells[row] = None
