"""Leaving out as few rows as possible, against trying every subset."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests import naive, samples
from tests.effort import examples
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.suppression import suppress
from wideberth.core.codes import encode
from wideberth.core.groups import Groups
from wideberth.principles import Principle, iterate, lookup, parse

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
@examples(60, 20)
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
        "column 's': 3 of 4 rows share one value, more than 1/2; "
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


@pytest.mark.parametrize(
    "how",
    [
        {"principles": "frequency-l:l=4"},
        {"principles": "epsilon-m:epsilon=2,m=4"},
        {"principles": "delta-l:delta=2,l=4"},
        {"principles": "entropy-l:l=14"},
        {"principles": "recursive-cl:c=1,l=12"},
        {"principles": "dissimilarity:epsilon=1,delta=1,k=3"},
        {"principles": "dissimilarity:epsilon=1,delta=0.8,k=3"},
        {"principles": ["frequency-l:l=4,on=s", "entropy-l:l=5,on=p"], "sensitive": ["s", "p"]},
        {"principles": "frequency-l:l=3", "algorithm": "anatomy"},
        {"principles": "frequency-l:l=3", "algorithm": "anatomy", "method": "mbf"},
    ],
    ids=str,
)
def test_with_a_seed_the_order_of_rows_does_not_matter(how: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    table = pl.DataFrame({name: rng.integers(0, 30, 240) for name in ("a", "b", "s", "p")})
    crowded = pl.when(pl.col("a") < 14).then(0)
    table = table.with_columns(s=crowded.otherwise("s"), p=crowded.otherwise("p"))
    if "sensitive" not in how:
        table = table.drop("p")
    asked = {"quasi": ["a", "b"], "sensitive": "s", "suppression_limit": 0.8, "seed": 5, **how}

    def published(given: pl.DataFrame) -> tuple[int, list[Any]]:
        made = wb.anonymize(given, **asked)
        shown = made.join() if how.get("algorithm") else made.table
        named = made.manifest["group"]
        parts = [shown] if named is None else [g.drop(named) for _, g in shown.group_by(named)]
        return made.manifest["suppressed"]["rows"], sorted(sorted(p.rows()) for p in parts)

    first = published(table)
    assert first[0] > 0
    for seed in range(2):
        assert published(table.sample(fraction=1, shuffle=True, seed=seed)) == first


# ---- what a refusal says of rows to leave out, against all subsets and all their partitions

#: A principle, and the attribute that it is on.
Wanted = list[tuple[Principle, samples.Sample]]


def least(wanted: Wanted) -> int | None:
    """The fewest rows without which some partition satisfies all; None if nothing helps."""
    rows = len(wanted[0][1].values)
    known: dict[tuple[str, ...], bool] = {}

    def possible(kept: tuple[int, ...]) -> bool:
        key = tuple(sorted(repr([data.values[row] for _, data in wanted]) for row in kept))
        if key not in known:
            # What t-closeness compares with is what is published.
            contexts = [naive.Context(d.of(kept), d.context.parents) for _, d in wanted]

            def good(group: list[int]) -> bool:
                return all(
                    samples.expected(principle, data.of(group), context)
                    for (principle, data), context in zip(wanted, contexts, strict=True)
                )

            known[key] = naive.feasible(kept, good)
        return known[key]

    return next(
        (
            lost
            for lost in range(rows)
            if any(possible(kept) for kept in combinations(range(rows), rows - lost))
        ),
        None,
    )


SAID = re.compile(
    r"; (?:leaving out rows (?P<never>does not help)|which rows to leave out is (?P<open>not known)"
    r"|(?P<bound>at least )?(?P<low>\d+)(?: to (?P<high>\d+))? rows? "
    r"(?:would have to be suppressed|(?P<enough>suppressed would do)) .*)$"
)


def is_true(what: str, fewest: int | None) -> bool:
    """Whether what a refusal says of rows to leave out agrees with the fewest."""
    said = SAID.search(what)
    assert said is not None, what
    if said["open"]:
        return True
    if said["never"]:
        return fewest is None
    low, high = int(said["low"]), int(said["high"] or said["low"])
    if said["bound"]:
        return fewest is None or low <= fewest
    return fewest is not None and (said["enough"] is not None or low <= fewest) and fewest <= high


def judge(wanted: Wanted) -> None:
    """Whatever the limit, what is refused is refused in true words."""
    rows = len(wanted[0][1].values)
    demands = [
        Demand(principle, samples.bound(principle, data), None if sized else data.column)
        for principle, data in wanted
        for sized in [principle.needs == "size"]
    ]
    for limit in (0, 0.4, 1):
        try:
            suppress(demands, rows, limit, rng())
            continue
        except wb.InfeasibleError as error:
            what = error.what
        fewest = least(wanted)
        assert is_true(what, fewest), (what, fewest)


ALONE = [cls for cls in iterate() if cls.needs != "population"]


@pytest.mark.parametrize("cls", ALONE, ids=lambda cls: cls.name)
@given(data=st.data())
@examples(25, 8)
def test_refusals_count_rows_truly(cls, data):
    sample = data.draw(samples.samples(cls, rows=6, groups=1))
    judge([(data.draw(samples.principles(cls, sample)), sample)])


SIMPLE = [cls for cls in ALONE if cls.needs in ("size", "values", "numbers", "distance")]


@pytest.mark.parametrize("cls", SIMPLE, ids=lambda cls: cls.name)
@given(data=st.data())
@examples(8, 5)
def test_refusals_beside_another_demand(cls, data):
    """On the same attribute, and on another one."""
    sample = data.draw(samples.samples(cls, rows=6, kinds=("integers",), groups=1))
    first = data.draw(samples.principles(cls, sample))
    other = data.draw(st.sampled_from(SIMPLE))
    judge([(first, sample), (data.draw(samples.principles(other, sample)), sample)])
    letters = [data.draw(st.sampled_from("aab")) for _ in sample.values]
    beside = samples.sample("text", letters)
    other = data.draw(st.sampled_from([c for c in SIMPLE if c.needs == "values"]))
    judge([(first, sample), (data.draw(samples.principles(other, beside)), beside)])


@pytest.mark.parametrize(
    ("values", "principles", "fewest", "said"),
    [
        ([4, 4, 6, 6, 6], ["variance:t=1"], 1, ("at least 1 row", "not known")),
        ([4, 4, 6, 6, 6], ["variance:t=1.01"], None, ("does not help", "does not help")),
        ([3, 2, 2, 2], ["variance:t=0.25"], 2, ("at least 1 row", "not known")),
        (list("daacbc"), ["recursive-cl:c=1,l=2,required=b,c2=20"], 1, ("1 to 2 rows", None)),
        (list("aabdac"), ["recursive-cl:c=9,l=1,required=b,c2=50"], 4, ("at least 4 rows",) * 2),
        (list("aab"), ["recursive-cl:c=9,l=1,required=z,c2=50"], None, ("does not help",) * 2),
        (
            list("aabdacb"),
            ["t-closeness:t=0.1", "recursive-cl:c=1,l=3"],
            3,
            ("at least 3", "known"),
        ),
    ],
    ids=str,
)
def test_refusals_that_were_wrong(values, principles, fewest, said):
    kind = "text" if isinstance(values[0], str) else "integers"
    data = samples.sample(kind, values)
    wanted = [(parse(text), data) for text in principles]
    assert least(wanted) == fewest
    demands = [demand(text, values) for text in principles]
    for limit, words in zip((0, 0.5), said, strict=True):
        if words is not None:
            with pytest.raises(wb.InfeasibleError, match=words):
                suppress(demands, len(values), limit, rng())
    judge(wanted)


def test_whether_a_table_is_refused_does_not_hang_on_the_seed():
    """Which of the rows with a goes decides whether the rest can satisfy the other demand."""
    first, second = list("cdaabaa"), list("aacbbab")
    wanted = [demand("frequency-l:l=3", first), demand("recursive-cl:c=0.7,l=2", second)]
    for seed in range(24):
        assert len(suppress(wanted, 7, 1, np.random.default_rng(seed))) == 4


def test_a_release_does_not_hang_on_the_seed():
    people = pl.DataFrame({"age": range(7), "s": list("cdaabaa"), "t": list("aacbbab")})
    principles = ["frequency-l:l=3,on=s", "recursive-cl:c=0.7,l=2,on=t"]
    for seed in range(12):
        release = wb.anonymize(
            people,
            quasi=["age"],
            sensitive=["s", "t"],
            principles=principles,
            suppression_limit=0.6,
            seed=seed,
        )
        assert release.table.height == 3
