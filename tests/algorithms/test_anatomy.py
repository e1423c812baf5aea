"""Anatomy's groups: as few rows left out as possible, and refusals that are true."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, combinations_with_replacement
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wideberth as wb
from tests import naive, samples
from wideberth.algorithms.anatomy import maximal_bucket_first
from wideberth.algorithms.suppression import thin_windows
from wideberth.principles import parse
from wideberth.principles.feasibility.limits import WindowShareLimit

#: Two levels below the root; all diseases at equal depth.
KINDS = {
    "lung": ["flu", "pneumonia", "bronchitis"],
    "stomach": ["ulcer", "gastritis"],
    "tumour": ["cancer", "carcinoid"],
    "injury": ["fracture"],
}


PARENTS: dict[str, str | None] = {
    "*": None,
    **dict.fromkeys(KINDS, "*"),
    **{leaf: kind for kind, leaves in KINDS.items() for leaf in leaves},
}


DISEASES = [leaf for leaves in KINDS.values() for leaf in leaves]


#: d(a, b) = d(b, c) = 2, but d(a, c) = 3.
UNEVEN = {"R": None, "b": "R", "X": "R", "X1": "X", "a": "X1", "Y": "R", "Y1": "Y", "c": "Y1"}


def table(values: Sequence[Any]) -> pl.DataFrame:
    """People who are told apart by their age, which is their row."""
    return pl.DataFrame(
        {
            "name": [f"somebody{i}" for i in range(len(values))],
            "age": range(len(values)),
            "s": pl.Series(values, dtype=pl.String if isinstance(values[0], str) else None),
        }
    )


def anatomize(
    people: Any, principles: Any, parents: dict[str, str | None] | None = None, **how: Any
) -> wb.Anatomy:
    frame = table(people) if isinstance(people, list | tuple) else people
    if parents is not None:
        how["hierarchies"] = {"s": samples.hierarchy(parents)}
    roles = {"identifier": "name", "quasi": "age", "sensitive": "s"}
    how = {**roles, "trials": False, **how}
    release = wb.anonymize(frame, principles=principles, algorithm="anatomy", **how)
    assert isinstance(release, wb.Anatomy)
    return release


def rows_of(given: Any) -> list[tuple[Any, ...]]:
    """The rows of a table of any kind; missing is None."""
    if isinstance(given, pa.Table):
        return [tuple(row.values()) for row in given.to_pylist()]
    if isinstance(given, pd.DataFrame):
        given = given.astype(object).where(given.notna(), None)
        return [tuple(row) for row in given.itertuples(index=False)]
    return given.rows()


def groups_of(sensitive: Any) -> dict[int, list[Any]]:
    """The sensitive values of each group, as often as they are counted."""
    found = defaultdict(list)
    for group, value, many in rows_of(sensitive):
        found[group] += [value] * many
    return dict(found)


def sound(release: wb.Anatomy, values: Sequence[Any], good: Callable[[Any], bool]) -> bool:
    """Whether two tables about people, told apart by their age, are true and keep a principle."""
    groups = groups_of(release.sensitive)
    held = defaultdict(list)
    for age, group in release.table.select("age", "group").rows():
        held[group].append(values[age])
    assert {g: Counter(v) for g, v in held.items()} == {g: Counter(v) for g, v in groups.items()}
    assert len(set(release.table["age"])) == release.table.height
    return all(map(good, groups.values()))


def left_out(release: wb.Anatomy) -> int:
    lost = release.manifest["suppressed"]["rows"]
    assert lost == release.manifest["input"]["rows"] - release.table.height
    return lost


# ---- as few rows as possible


def fewest_left_out(values: Sequence[Any], good: Callable[[tuple[Any, ...]], bool]) -> int:
    """Try every group for the first row left, and none."""
    good = cache(good)

    @cache
    def most(left: tuple[Any, ...]) -> int:
        if not left:
            return 0
        first, rest = left[0], left[1:]
        best = most(rest)
        for size in range(len(rest) + 1):
            for others in combinations(range(len(rest)), size):
                group = (first, *(rest[i] for i in others))
                if good(group):
                    after = tuple(v for i, v in enumerate(rest) if i not in others)
                    best = max(best, len(group) + most(after))
        return best

    return len(values) - most(tuple(sorted(values, key=repr)))


@dataclass(frozen=True)
class Case:
    """A few rows with values on a tree, and what is wanted of their groups."""

    parents: dict[str, str | None]
    values: list[str | None]
    l: int  # noqa: E741
    e: float

    @property
    def principle(self) -> wb.LEDiversity:
        return wb.LEDiversity(l=self.l, e=self.e)

    def similar(self, one: str | None, other: str | None) -> bool:
        context = naive.Context(self.values, self.parents)
        return naive.similar(one, other, context, "tree", self.e)

    def good(self, group: Sequence[str | None]) -> bool:
        context = naive.Context(self.values, self.parents)
        return naive.l_e(group, context, self.l, self.e)

    @property
    def fewest(self) -> int:
        return fewest_left_out(self.values, self.good)

    @property
    def transitive(self) -> bool:
        known = set(self.values)
        return all(
            self.similar(a, c)
            for b in known
            for a in known
            for c in known
            if self.similar(a, b) and self.similar(b, c)
        )

    @property
    def buckets(self) -> list[int]:
        """How many rows are similar to each value; at equal depth, its bucket."""
        return [sum(self.similar(a, b) for b in self.values) for a in self.values]

    def anatomize(self, **how: Any) -> wb.Anatomy:
        return anatomize(self.values, self.principle, self.parents, **how)


@st.composite
def cases(draw: st.DrawFn, balanced: bool) -> Case:
    parents = draw(samples.trees(balanced))
    inner = set(parents.values())
    nodes = [node for node in parents if not balanced or node not in inner]
    pool = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=6))
    if draw(st.integers(0, 3)) == 0:
        pool.append(None)
    values = [pool[0], *draw(st.lists(st.sampled_from(pool), min_size=1, max_size=8))]
    e = draw(st.sampled_from([0, 0.3, 0.5, 1, 1.5, 2, 2.5]))
    return Case(parents, values, draw(st.integers(2, 4)), e)


@pytest.mark.parametrize("balanced", [True, False], ids=["equal depth", "any depth"])
@given(data=st.data())
@settings(max_examples=70)
def test_as_few_rows_as_possible(balanced, data):
    case = data.draw(cases(balanced))
    fewest, rows = case.fewest, len(case.values)
    if fewest == rows:
        with pytest.raises(wb.InfeasibleError, match="leaving out rows does not help"):
            case.anatomize(suppression_limit=1)
        return
    release = case.anatomize(suppression_limit=1)
    assert sound(release, case.values, case.good)
    assert left_out(release) == fewest
    told = release.manifest["anatomy"]
    assert (told["suppressed_at_least"], told["suppression_proven_least"]) == (fewest, True)
    # Without a limit, and just below what is needed, nothing is left out silently.
    if fewest:
        for limit in (0, (fewest - 0.01) / rows):
            with pytest.raises(wb.InfeasibleError, match=f" {fewest} rows? would have to be"):
                case.anatomize(suppression_limit=limit)
    assert left_out(case.anatomize(suppression_limit=Fraction(fewest, rows))) == fewest


@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=2, max_size=9),
    st.sampled_from([1.2, 1.5, 2, 2.5, 3, 4]),
)
@settings(max_examples=60)
def test_as_few_rows_as_possible_for_equal_values(values, wanted):
    def good(group: Sequence[Any]) -> bool:
        return naive.frequency_l(group, naive.Context(values), wanted)

    fewest = fewest_left_out(values, good)
    principle = wb.FrequencyLDiversity(l=wanted)
    if fewest == len(values):
        with pytest.raises(wb.InfeasibleError, match="leaving out rows does not help"):
            anatomize(values, principle, suppression_limit=1)
        return
    release = anatomize(values, principle, suppression_limit=1)
    assert sound(release, values, good)
    assert left_out(release) == fewest
    if fewest:
        with pytest.raises(wb.InfeasibleError, match=f" {fewest} rows? would have to be"):
            anatomize(values, principle)


@given(cases(balanced=True))
@settings(max_examples=70)
def test_all_rows_are_kept_if_the_largest_bucket_fits(case):
    """Equal depth: if and only if it has at most floor(n / l) rows."""
    if max(case.buckets) <= len(case.values) // case.l:
        assert left_out(case.anatomize()) == 0
    else:
        with pytest.raises(wb.InfeasibleError):
            case.anatomize()


def test_many_rows_in_few_buckets():
    """The largest g with Σ min(b, g) >= g · l, by counting."""
    rng = np.random.default_rng(4)
    values = rng.choice(DISEASES, 3000, p=[0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05]).tolist()
    sizes = Counter(PARENTS[v] for v in values).values()
    most = max(g for g in range(1, 1500) if sum(min(b, g) for b in sizes) >= 2 * g)
    context = naive.Context(values, PARENTS)
    for method in ("optimal", "mbf"):
        release = anatomize(values, "l-e:l=2,e=1", PARENTS, method=method, suppression_limit=1)
        assert sound(release, values, lambda g: naive.l_e(g, context, 2, 1))
        assert left_out(release) == 3000 - sum(min(b, most) for b in sizes) > 0


# ---- the paper's greedy method


def by_the_book(sizes: Iterable[int], wanted: int) -> int:
    """Algorithm 1 of Wang et al. 2013 on buckets of such sizes: how many rows are suppressed.

    Buckets are sorted anew in every round. In step 3 a row tries all groups.
    """
    buckets = [[number] * size for number, size in enumerate(sizes)]
    groups: list[list[int]] = []
    while sum(1 for bucket in buckets if bucket) >= wanted:
        buckets.sort(key=len, reverse=True)
        groups.append([bucket.pop() for bucket in buckets[:wanted]])
    suppressed = 0
    for row in chain.from_iterable(buckets):
        fitting = [group for group in groups if row not in group]
        if fitting:
            fitting[0].append(row)
        else:
            suppressed += 1
    return suppressed


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 10**6)
)
@settings(max_examples=150)
def test_maximal_bucket_first_is_the_printed_algorithm(sizes, wanted, seed):
    rng = np.random.default_rng(seed)
    buckets = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    labels = maximal_bucket_first(buckets, wanted, rng)
    groups = [buckets[labels == g].tolist() for g in range(labels.max() + 1)]
    assert all(len(set(group)) == len(group) >= wanted for group in groups)
    assert (labels < 0).sum() == by_the_book(sizes, wanted)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(1, 4))
@settings(max_examples=60)
def test_maximal_bucket_first_is_never_better_than_the_best(sizes, wanted):
    """Nor worse, as its step 3 tries all groups."""
    rows = [bucket for bucket, size in enumerate(sizes) for _ in range(size)][:9]
    labels = maximal_bucket_first(np.array(rows), wanted, np.random.default_rng(1))
    best = fewest_left_out(rows, lambda g: len(set(g)) == len(g) >= wanted)
    assert (labels < 0).sum() == best


def test_step_3_must_try_all_groups():
    """Three of one bucket: the third row fits into none of two groups, the fourth's into both."""
    labels = maximal_bucket_first(np.array([0, 0, 0, 1, 2]), 2, np.random.default_rng(0))
    assert (labels < 0).sum() == 1
    assert sorted(np.bincount(labels[labels >= 0])) == [2, 2]


def test_maximal_bucket_first_breaks_ties_by_chance():
    found = {
        tuple(maximal_bucket_first(np.repeat([0, 1, 2], 4), 3, np.random.default_rng(s)).tolist())
        for s in range(6)
    }
    assert len(found) == 6


@given(cases(balanced=True))
@settings(max_examples=60)
def test_mbf(case):
    """Sound, and as good as the best at equal depth; where all rows are lost, it says so."""
    try:
        release = case.anatomize(method="mbf", suppression_limit=1)
    except wb.InfeasibleError:
        assert case.fewest == len(case.values)
        return
    assert sound(release, case.values, case.good)
    assert left_out(release) == case.fewest
    told = release.manifest["anatomy"]
    assert (told["suppressed_at_least"], told["suppression_proven_least"]) == (case.fewest, True)
    if case.fewest:
        with pytest.raises(wb.InfeasibleError, match=f" {case.fewest} rows? would have to be"):
            case.anatomize(method="mbf")


@given(
    st.lists(st.sampled_from("abcd"), min_size=2, max_size=9),
    st.sampled_from(["frequency-l:l=2", "frequency-l:l=2.5", "m-uniqueness:m=3"]),
)
@settings(max_examples=40)
def test_mbf_on_equal_values(values, text):
    principle = parse(text)
    try:
        release = anatomize(values, principle, method="mbf", suppression_limit=1)
    except wb.InfeasibleError:
        return
    context = naive.Context(values)
    assert sound(release, values, lambda g: samples.expected(principle, g, context))
    best = left_out(anatomize(values, principle, suppression_limit=1))
    assert left_out(release) >= best
    told = release.manifest["anatomy"]
    assert told["suppressed_at_least"] == (best if left_out(release) else 0)
    assert told["suppression_proven_least"] is (left_out(release) == best)


@pytest.mark.parametrize("text", ["1.5", "2", "2.5", "3", "3.5"])
def test_mbf_against_the_best_for_any_l(text):
    """As few rows as the best for a whole l, and no fewer for any other; all small buckets."""
    wanted = Fraction(text)
    more = 0
    for sizes in combinations_with_replacement(range(1, 5), 4):
        buckets = np.repeat(np.arange(4), sizes)
        each = np.arange(4)
        best = int(thin_windows(buckets, WindowShareLimit(each, each, 1 / wanted)).sum())
        kept = (maximal_bucket_first(buckets, ceil(wanted), np.random.default_rng(0)) >= 0).sum()
        assert kept <= best
        more += kept < best
    assert (more == 0) == (wanted.denominator == 1)


def test_mbf_at_a_fractional_l():
    """The example of docs/anatomy.md."""
    values = list("aabbc")
    assert left_out(anatomize(values, "frequency-l:l=2.5")) == 0
    with pytest.raises(wb.InfeasibleError) as refusal:
        anatomize(values, "frequency-l:l=2.5", method="mbf")
    assert refusal.value.what == "maximal bucket first would leave out 2 of 5 rows"
    assert refusal.value.hint == 'method = "optimal", which leaves out 0'
    release = anatomize(values, "frequency-l:l=2.5", method="mbf", suppression_limit=0.4)
    assert left_out(release) == 2
    told = release.manifest["anatomy"]
    assert (told["suppressed_at_least"], told["suppression_proven_least"]) == (0, False)


@pytest.mark.parametrize("principle", ["entropy-l:l=2", "distinct-l:l=2", "recursive-cl:c=3,l=2"])
def test_mbf_needs_buckets(principle):
    with pytest.raises(wb.ParameterError, match="buckets of similar values") as refusal:
        anatomize(list("aabbcc"), principle, method="mbf")
    assert refusal.value.hint == 'method = "optimal"'


# ---- unequal depth


def test_mbf_where_values_lie_at_unequal_depth():
    with pytest.raises(wb.ParameterError, match="unequal depth") as refusal:
        anatomize(list("aabc"), "l-e:l=2,e=2", UNEVEN, method="mbf")
    assert '"optimal"' in refusal.value.hint
    assert '"components"' in refusal.value.hint
    # Where being similar is transitive all the same, there are buckets.
    assert left_out(anatomize(list("aacc"), "l-e:l=2,e=2", UNEVEN, method="mbf")) == 0


@given(cases(balanced=False))
@settings(max_examples=80)
def test_other_methods_at_any_depth(case):
    """Components are sound, and never better than the best; MBF needs buckets."""

    def lost(method: str) -> int:
        try:
            release = case.anatomize(method=method, suppression_limit=1)
        except wb.InfeasibleError:
            return len(case.values)
        assert sound(release, case.values, case.good)
        return left_out(release)

    assert lost("optimal") <= lost("components")
    if case.transitive:
        assert lost("mbf") == lost("components") == case.fewest
    else:
        with pytest.raises(wb.ParameterError, match="unequal depth"):
            lost("mbf")


def test_components_are_coarser():
    """By way of b, a and c are in one component."""
    values = list("aaccb") + ["X1"] * 3
    how: dict[str, Any] = {"principles": "l-e:l=2,e=2", "parents": UNEVEN}
    best = anatomize(values, **how, suppression_limit=1)
    assert left_out(best) == fewest_left_out(values, Case(UNEVEN, values, 2, 2).good)
    with pytest.raises(wb.InfeasibleError, match="would leave out 8 of 8 rows") as refusal:
        anatomize(values, **how, method="components", suppression_limit=1)
    assert "optimal" in refusal.value.hint


#: Three trees like UNEVEN, far from each other.
FOREST: dict[str, str | None] = {"R": None}
for _tree in "123":
    FOREST |= {f"{_tree}--": "R", f"{_tree}-": f"{_tree}--", f"{_tree}R": f"{_tree}-"}
    FOREST |= {f"{_tree}{node}": f"{_tree}{up}" for node, up in UNEVEN.items() if up}


@given(
    st.lists(st.sampled_from([t + v for t in "123" for v in "abc"]), min_size=1, max_size=6),
    st.integers(2, 3),
)
@settings(max_examples=60)
def test_components_are_buckets(others, wanted):
    """Whole components, one row of each at most in a group, and no row more than must be."""
    values = ["1a", "1b", "1c", *others]  # so that being similar is not transitive

    def component(value: str) -> str:
        """Of each tree, b alone is similar to others."""
        return value[0] if f"{value[0]}b" in values else value

    def good(group: Sequence[str]) -> bool:
        return len(set(map(component, group))) == len(group) >= wanted

    best = fewest_left_out(values, good)
    principle = wb.LEDiversity(l=wanted, e=2)
    if best == len(values):
        with pytest.raises(wb.InfeasibleError):
            anatomize(values, principle, FOREST, method="components", suppression_limit=1)
        return
    release = anatomize(values, principle, FOREST, method="components", suppression_limit=1)
    assert sound(release, values, good)
    assert left_out(release) == best
    assert release.manifest["anatomy"]["handling"] == "components"


@pytest.mark.parametrize(
    ("e", "possible"), [(0, True), (0.3, True), (0.5, False), (1, False), ("1/3", True)]
)
def test_distances_of_half_a_step(e, possible):
    """A node and its child are 1/2 apart, which must exceed e."""
    parents = {"R": None, "a": "R", "b": "a"}
    if possible:
        assert left_out(anatomize(["a", "b"], f"l-e:l=2,e={e}", parents)) == 0
    else:
        with pytest.raises(wb.InfeasibleError):
            anatomize(["a", "b"], f"l-e:l=2,e={e}", parents)


def test_missing_values_are_similar_to_each_other_only():
    values = ["flu", None, "pneumonia", None, "cancer", "ulcer"]
    release = anatomize(values, "l-e:l=3,e=1", PARENTS)
    context = naive.Context(values, PARENTS)
    assert sound(release, values, lambda g: naive.l_e(g, context, 3, 1))
    assert sorted(g.count(None) for g in groups_of(release.sensitive).values()) == [1, 1]
    with pytest.raises(wb.InfeasibleError, match="3 of 5 rows have no value"):
        anatomize(["flu", None, None, None, "ulcer"], "l-e:l=2,e=1", PARENTS)


def test_what_is_not_proven_least_is_not_said_to_be():
    """Without one a, b is a fifth of the rest and the most frequent value is less than its tail."""
    release = anatomize(
        list("daacbc"), "recursive-cl:c=1,l=2,required=b,c2=20", suppression_limit=0.5
    )
    assert left_out(release) == 2
    told = release.manifest["anatomy"]
    assert told["suppressed_at_least"] is None
    assert told["suppression_proven_least"] is False


# ---- refusals name what would do


def alternatives(refusal: wb.InfeasibleError) -> dict[str, float]:
    found = {}
    for part in [one["setting"] for one in refusal.tries if one["setting"] in refusal.hint]:
        if match := re.match(r"(l|e)=([0-9.]+) with |(suppression_limit)=([0-9.]+)$", part):
            found[match[1] or match[3]] = float(match[2] or match[4])
    return found


@given(cases(balanced=True))
@settings(max_examples=80)
def test_a_refusal_names_the_strongest_parameters_that_are_possible(case):
    def possible(**changed: Any) -> bool:
        try:
            Case(**{**vars(case), **changed}).anatomize()
        except wb.InfeasibleError:
            return False
        return True

    try:
        case.anatomize()
    except wb.InfeasibleError as error:
        found, what = alternatives(error), error.what
    else:
        return
    larger = int(found["l"]) if "l" in found else 1  # which hides nothing
    assert larger < case.l
    assert larger == 1 or possible(l=larger)
    assert not possible(l=larger + 1)
    if "e" in found:
        assert found["e"] < case.e
        assert possible(e=found["e"])
        assert not possible(e=found["e"] + 0.5)
    else:
        assert not possible(e=0)
    fewest, rows = case.fewest, len(case.values)
    if fewest == rows:
        assert what.endswith("leaving out rows does not help")
        assert "suppression_limit" not in found
        return
    many = re.search(r"; (\d+) rows? would have to be suppressed \(([0-9.]+) %\)$", what)
    assert int(many[1]) == fewest
    assert float(many[2]) == pytest.approx(100 * fewest / rows, abs=0.051)
    assert fewest / rows <= found["suppression_limit"] < fewest / rows + 1.01e-4
    assert left_out(case.anatomize(suppression_limit=found["suppression_limit"])) == fewest


def test_a_refusal_in_full():
    values = ["flu"] * 4 + ["pneumonia", "cancer", "ulcer"]
    with pytest.raises(wb.InfeasibleError) as refusal:
        anatomize(values, "l-e:l=3,e=1", PARENTS, trials=True)
    assert refusal.value.what == (
        "column 's': 5 of 7 rows have similar values, more than 1/3; "
        "4 rows would have to be suppressed (57.14 %)"
    )
    # Even with e = 0 the flu is more than a third, and with l = 2 a bucket more than half.
    assert refusal.value.hint.endswith("(best: suppression_limit=0.5715, 57% loss)")
    assert "l=2" not in refusal.value.hint
    with pytest.raises(wb.InfeasibleError, match=r"\(57.14 %\), the limit is 50 %"):
        anatomize(values, "l-e:l=3,e=1", PARENTS, suppression_limit=0.5)
