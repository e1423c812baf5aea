"""l-diversity and its kin where a verdict turns: thresholds equal to what a group achieves."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log, nextafter

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from tests.samples import Sample, bound, sample
from wideberth.core.groups import Groups

TINY = Fraction(1, 10**15)
groups_of_text = st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=12).map(
    lambda values: sample("text", values)
)


def verdict(principle: wb.Principle, table: Sample, population: int | None = None) -> bool:
    people = None if population is None else [population]
    return bool(bound(principle, table).satisfies(table.groups(table.parts, people))[0])


@given(groups_of_text)
def test_frequency_and_alpha_at_the_largest_share(table: Sample) -> None:
    share = Fraction(max(Counter(table.values).values()), len(table.values))
    assert verdict(wb.FrequencyLDiversity(l=1 / share), table)
    assert not verdict(wb.FrequencyLDiversity(l=1 / share + TINY), table)
    assert verdict(wb.AlphaKAnonymity(alpha=share, k=len(table.values)), table)
    assert not verdict(wb.AlphaKAnonymity(alpha=share - TINY, k=1), table)
    assert not verdict(wb.AlphaKAnonymity(alpha=share, k=len(table.values) + 1), table)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 3))
def test_entropy_close_to_the_threshold(counts: list[int], repeated: int) -> None:
    """Def. 4.1, from both sides, nearer than logarithms in floating point can tell."""
    counts = [n * repeated for n in counts]
    group = [code for code, n in enumerate(counts) for _ in range(n)]
    table = sample("integers", group)
    entropy = log(len(group)) - sum(n * log(n) for n in counts) / len(group)
    near = exp(entropy)
    for wanted in map(Fraction, (near, nextafter(near, 0), nextafter(near, 99), near + 1e-9)):
        if wanted >= 1:
            expected = naive.entropy_l(group, table.context, wanted)
            assert verdict(wb.EntropyLDiversity(l=wanted), table) == expected


@pytest.mark.parametrize("copies", [1, 7, 1000, 10**6])
def test_entropy_of_uniform_groups_is_their_number_of_values(copies: int) -> None:
    """Counts are reduced by their common factor, or a million copies would take forever."""
    domain = sample("integers", list(range(60))).column.domain
    for wanted in range(2, 60):
        groups = Groups(
            start=np.array([0, wanted]),
            codes=np.arange(wanted),
            counts=domain.histogram[:wanted] * copies,
            width=60,
        )
        assert wb.EntropyLDiversity(l=wanted).bind(domain).satisfies(groups)[0]
        assert not wb.EntropyLDiversity(l=wanted + TINY).bind(domain).satisfies(groups)[0]


def c_reached(group: list[str | None], wanted: int, allowed: tuple[str, ...]) -> Fraction | None:
    """The c that Def. 4.2 (with the set Y of Def. 4.3) asks to be exceeded; None for any c."""
    counts = Counter(group)
    guarded = [n for v, n in counts.items() if v is None or v not in allowed]
    if wanted == 1 or not guarded:
        return Fraction(0)
    others = sorted(counts.values(), reverse=True)
    others.remove(max(guarded))
    tail = sum(others[wanted - 2 :])
    return Fraction(max(guarded), tail) if tail else None


@given(groups_of_text, st.integers(1, 5), st.sets(st.sampled_from("abcx")).map(tuple))
def test_recursive_is_strict(table: Sample, wanted: int, allowed: tuple[str, ...]) -> None:
    reached = c_reached(table.values, wanted, allowed)
    rule = {"l": wanted, "allowed": allowed}
    if reached is None:
        assert not verdict(wb.RecursiveCLDiversity(c=10**12, **rule), table)
    elif reached == 0:
        assert verdict(wb.RecursiveCLDiversity(c=TINY, **rule), table)
    else:
        assert not verdict(wb.RecursiveCLDiversity(c=reached, **rule), table)
        assert verdict(wb.RecursiveCLDiversity(c=reached + TINY, **rule), table)
        figures = bound(wb.RecursiveCLDiversity(c=1, **rule), table).achieved(
            table.groups(table.parts)
        )
        assert figures["c"][0] == pytest.approx(float(reached))


def test_recursive_where_the_allowed_value_is_as_frequent() -> None:
    """Y = {h}: the five a's count, and h is among the others that may be ruled out."""
    table = sample("text", ["h"] * 5 + ["a"] * 5)
    assert not verdict(wb.RecursiveCLDiversity(c=1, l=2, allowed=("h",)), table)
    assert verdict(wb.RecursiveCLDiversity(c=1 + TINY, l=2, allowed=("h",)), table)
    assert verdict(wb.RecursiveCLDiversity(c=TINY, l=2, allowed=("h", "a")), table)


@given(groups_of_text)
def test_required_values_at_their_very_percentage(table: Sample) -> None:
    """Def. 4.4: every value in W has at least c2 percent, one that is absent has 0."""
    required = ("a", "b")
    least = min(Fraction(100 * table.values.count(v), len(table.values)) for v in required)
    rule = {"c": 1, "l": 1, "required": required}
    if least:
        assert verdict(wb.RecursiveCLDiversity(c2=least, **rule), table)
    if least < 100:
        assert not verdict(wb.RecursiveCLDiversity(c2=least + TINY, **rule), table)


@pytest.mark.parametrize("required", [("a", "x"), ("x", "a"), ("a", "a", "x"), ("x",)])
def test_a_required_value_that_the_table_lacks(required: tuple[str, ...]) -> None:
    table = sample("text", ["a", "b"])
    principle = wb.RecursiveCLDiversity(c=2, l=2, required=required, c2=1)
    assert not verdict(principle, table)


@pytest.mark.parametrize("wanted", [2, 2.0, Fraction(2)])
def test_a_whole_number_in_any_notation(wanted: object) -> None:
    table = sample("text", ["a", "a", "b", "c"])
    groups = table.groups(table.parts)
    for principle in (
        wb.RecursiveCLDiversity(c=2, l=wanted),
        wb.DistinctLDiversity(l=wanted),
        wb.AlphaKAnonymity(alpha=0.5, k=wanted),
    ):
        assert bound(principle, table).satisfies(groups)[0]


@given(st.integers(1, 9), st.integers(1, 20))
def test_presence_at_the_very_share(rows: int, people: int) -> None:
    """Nergiz, Atzori, Clifton 2007, Def. 3: both ends are permitted."""
    table, share = sample("integers", [0] * rows), Fraction(rows, people)
    if share > 1:
        assert not verdict(wb.DeltaPresence(delta_max=1), table, people)
        return
    assert verdict(wb.DeltaPresence(delta_min=share, delta_max=share), table, people)
    assert not verdict(wb.DeltaPresence(delta_max=share - TINY), table, people)
    if share < 1:
        above = share + TINY
        assert not verdict(wb.DeltaPresence(delta_min=above, delta_max=1), table, people)


cell = st.sampled_from(["a", "b", None])
tables = st.lists(st.tuples(st.integers(0, 1), cell, cell, cell), min_size=1, max_size=12)


FULL = [(0, a, b, c) for a in "ab" for b in "ab" for c in "ab"]


@settings(max_examples=60)
@example(FULL, "distinct", 2)
@example(FULL, "entropy", 2)
@example([*FULL, (1, "a", "a", "a")], "frequency", 2)
@example([*FULL, (0, "c", "a", "a")], "recursive", 2)
@given(
    tables, st.sampled_from(["distinct", "frequency", "entropy", "recursive"]), st.integers(2, 3)
)
def test_several_attributes_are_checks_with_more_quasi_identifiers(
    rows: list[tuple[int, str, str, str]], form: str, wanted: int
) -> None:
    """Def. 4.5 as it is printed: S_i is l-diverse when Q and all other S_j are the identifiers."""
    columns = ["q", "s1", "s2", "s3"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    frame = frame.with_columns(pl.col("s1", "s2", "s3").fill_null("none"))
    c = Fraction(3, 2) if form == "recursive" else None
    together = wb.check(
        frame,
        quasi="q",
        sensitive=columns[1:],
        principles=wb.MultiAttributeLDiversity(l=wanted, form=form, c=c),
    )
    single = {
        "distinct": wb.DistinctLDiversity,
        "frequency": wb.FrequencyLDiversity,
        "entropy": wb.EntropyLDiversity,
        "recursive": wb.RecursiveCLDiversity,
    }[form](l=wanted, **({"c": c} if c else {}))
    apart = [
        wb.check(
            frame,
            quasi=[other for other in columns if other != own],
            sensitive=own,
            principles=single,
        ).satisfied
        for own in columns[1:]
    ]
    assert together.satisfied == all(apart)
