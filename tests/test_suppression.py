"""Leaving out as few rows as possible, against trying every subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import wideberth as wb
from kernels import samples
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.suppression import suppress
from wideberth.encode import encode
from wideberth.groups import Groups
from wideberth.principles import lookup, parse

LEAST = {
    "epsilon-m": ("integers", "tenths"),
    "delta-l": ("integers",),
    "frequency-l": ("text",),
    "alpha-k": ("text",),
    "m-uniqueness": ("text",),
    "l-e": ("balanced",),
    "entropy-l": ("text",),
    "recursive-cl": ("text",),
}


def demand(principle: str, values: list) -> Demand:
    wanted = parse(principle)
    if wanted.needs == "size":
        return Demand(wanted, wanted.bind(encode(pl.Series("s", values)).domain), None)
    column = encode(pl.Series("s", values))
    return Demand(wanted, wanted.bind(column.domain), column)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.parametrize("name", LEAST)
@given(data=st.data())
@settings(max_examples=60)
def test_fewest_rows(name, data):
    cls = lookup(name)
    sample = data.draw(
        samples.samples(cls, rows=8 if cls.needs != "tree" else 7, kinds=LEAST[name], groups=1)
    )
    principle = data.draw(samples.principles(cls, sample))
    if name == "recursive-cl" and principle.required:
        return
    rows = len(sample.values)
    known: dict[tuple, bool] = {}

    def possible(kept: tuple[int, ...]) -> bool:
        group = tuple(sorted((sample.values[i] for i in kept), key=repr))
        if group not in known:
            known[group] = naive.feasible(
                group, lambda g: samples.expected(principle, g, sample.context)
            )
        return known[group]

    fewest = next(
        (
            lost
            for lost in range(rows)
            if any(possible(kept) for kept in combinations(range(rows), rows - lost))
        ),
        None,
    )
    wanted = Demand(principle, principle.bind(sample.column.domain), sample.column)
    if fewest is None:
        with pytest.raises(wb.InfeasibleError):
            suppress([wanted], rows, 1, rng())
        return
    dropped = suppress([wanted], rows, 1, rng())
    assert len(dropped) == fewest
    assert possible(tuple(sorted(set(range(rows)) - set(dropped.tolist()))))


def test_many_rows_in_windows():
    values = np.sort(np.random.default_rng(5).integers(0, 300, 2000)).tolist() + [400] * 1500
    wanted = demand("epsilon-m:epsilon=10,m=4", values)
    dropped = suppress([wanted], len(values), 0.5, rng())
    kept = np.delete(np.arange(len(values)), dropped)
    left = [values[i] for i in kept]
    assert wb.advise(left).max_m(epsilon=10) == 4


def test_chance_picks_among_equal_rows():
    wanted = demand("frequency-l:l=2", ["a"] * 20 + ["b"] * 5)
    picks = {tuple(suppress([wanted], 25, 1, np.random.default_rng(s)).tolist()) for s in range(5)}
    assert len(picks) == 5
    assert all(len(p) == 15 and max(p) < 20 for p in picks)


def test_nothing_to_do():
    assert not len(suppress([demand("frequency-l:l=2", ["a", "b"])], 2, 0, rng()))
    assert not len(suppress([], 2, 0, rng()))


def test_the_limit():
    wanted = demand("epsilon-m:epsilon=1,m=2", [1, 1, 1, 9])
    assert len(suppress([wanted], 4, 0.5, rng())) == 2
    with pytest.raises(wb.InfeasibleError) as caught:
        suppress([wanted], 4, 0.49, rng())
    assert caught.value.what == (
        "column 's': 3 of 4 rows lie in the window [1, 1], more than 1/2; "
        "2 rows would have to be suppressed (50 %), the limit is 49 %"
    )


def test_no_suppression_helps():
    for principle in ("k-anonymity:k=5", "distinct-l:l=3", "k-e:k=1,e=100"):
        with pytest.raises(wb.InfeasibleError, match="does not help"):
            suppress([demand(principle, [1, 1, 2])], 3, 1, rng())


def test_several_demands():
    salaries, diseases = [1, 1, 1, 9, 20, 30, 40, 50], list("aaaaabcd")
    wanted = [
        demand("epsilon-m:epsilon=1,m=3", salaries),
        demand("entropy-l:l=3", diseases),
        demand("k-anonymity:k=3", salaries),
    ]
    dropped = suppress(wanted, 8, 1, rng())
    kept = np.delete(np.arange(8), dropped)
    assert 0 < len(dropped) <= 5
    for one in wanted[:2]:
        again = encode(one.column.domain.values.gather(one.column.codes[kept]))
        rule = one.principle.bind(again.domain)
        assert rule.feasible(Groups.of([again.codes.tolist()], again.domain.size)).all()
