"""Every distance against its slow twin: whoever asks, and in whatever blocks, near is near."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests import naive
from tests.samples import hierarchy
from wideberth import distances
from wideberth.core import memory
from wideberth.core.codes import Column, encode, join_columns
from wideberth.core.groups import Groups
from wideberth.distances import pairs as blocks
from wideberth.distances import pairs as points
from wideberth.distances.pairs import PairwiseSimilarity, PointTest
from wideberth.errors import ParameterError, TableError

TINY = Fraction(1, 10**12)
CONTEXT = naive.Context(())

tenths = st.integers(-12, 12).map(lambda k: k / 10)
whole = st.integers(-5, 5)
long = st.one_of(
    st.sampled_from([1 / 3, 2 / 3, 0.1 + 0.2, 0.3, 1e-9, 1e300, -1e300, 2.0**53, 0.1, 5e-324]),
    st.floats(-10, 10, allow_subnormal=False),
)
large = st.integers(-4, 4).map(lambda k: 10**17 * (k // 2) + k)


def vectors(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists of vectors, all of one length."""
    widths = st.integers(1, 4)
    return widths.flatmap(lambda m: st.lists(st.tuples(*[numbers] * m), min_size=1, max_size=8))


def _shares(cuts: Sequence[int], per: int) -> tuple[float, ...]:
    edges = [0, *sorted(cuts), per]
    return tuple((b - a) / per for a, b in pairwise(edges))


shares = st.one_of(
    *(
        st.lists(
            st.tuples(*[st.integers(0, per)] * 3).map(lambda cuts, per=per: _shares(cuts, per)),
            min_size=1,
            max_size=8,
        )
        for per in (10, 12, 30, 1000)
    )
)
spots = st.lists(
    st.tuples(
        st.sampled_from([-90, -45.5, -0.1, 0, 0.1, 30, 51.5, 90]),
        st.sampled_from([-180, -179.9, -45, 0, 0.1, 13.4, 134.5, 180]),
    ).map(lambda place: tuple(map(float, place))),
    min_size=1,
    max_size=8,
)
words = st.lists(st.text("abcé😀", max_size=6), min_size=1, max_size=8)

VALUES: dict[str, st.SearchStrategy[list[Any]]] = {
    "absolute": st.lists(tenths, min_size=1, max_size=8),
    "relative": st.one_of(st.lists(n, min_size=1, max_size=8) for n in (tenths, whole, large)),
    "discrete": st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8),
    "variational": shares,
    "jensen-shannon": shares,
    "euclidean": st.one_of(vectors(n) for n in (tenths, whole, long, large)),
    "manhattan": st.one_of(vectors(n) for n in (tenths, whole, long, large)),
    "cosine": st.one_of(
        vectors(n).map(lambda rows: [row for row in rows if any(row)] or [(1,)])
        for n in (tenths, whole, long, large)
    ),
    "haversine": spots,
    "edit": words,
}


def coded(values: Sequence[Any]) -> Column:
    """Encode values: vectors as a column of lists."""
    plain = [list(v) if isinstance(v, tuple) else v for v in values]
    return encode(pl.Series("s", plain))


def epsilons(values: Sequence[Any], kind: str) -> list[Fraction]:
    """The distances that occur, and just beside each of them."""
    found = {naive.distance(a, b, CONTEXT, kind) for a, b in combinations(values, 2)} | {0}
    around: list[Fraction] = []
    for apart in found:
        exact = Fraction(apart)
        near = (TINY, exact / 10**6) if isinstance(apart, float) else (TINY,)
        around += [exact, *(exact + d for d in near), *(max(exact - d, Fraction(0)) for d in near)]
        around.append(naive.given(float(f"{float(exact):.3g}")))
    top = distances.TOPS.get(kind)
    return sorted({e for e in around if top is None or e <= top})


def expected(values: Sequence[Any], kind: Any, epsilon: Fraction) -> np.ndarray:
    return np.array(
        [[naive.similar(a, b, CONTEXT, kind, epsilon) for b in values] for a in values], dtype=bool
    )


def assert_all_agree(column: Column, kind: Any, epsilon: Fraction, truth: np.ndarray) -> None:
    """Compare near, matrix and crowd, whatever the memory, with the truth about all rows."""
    size, codes = column.domain.size, column.codes.astype(np.int64)
    row = np.array([int(np.flatnonzero(codes == code)[0]) for code in range(size)])
    by_code = truth[np.ix_(row, row)]
    rows = len(codes)
    parts = [range(rows), range(0, rows, 2), *([range(rows // 2)] if rows > 1 else [])]
    groups = Groups.of([codes[list(part)] for part in parts], size)
    crowds = [
        int(truth[row[code], list(part)].sum())
        for part in parts
        for code in np.unique(codes[list(part)])
    ]
    for bytes_ in (1, 1000, 2**28):
        token = memory.limit.set(bytes_)
        near = distances.similarity(column.domain, kind, epsilon)
        memory.limit.reset(token)
        assert near.matrix(codes).tolist() == truth.tolist()
        assert near.matrix(np.arange(size)).tolist() == by_code.tolist()
        for code in range(size):
            assert near.near(code).tolist() == np.flatnonzero(by_code[code]).tolist()
        assert near.crowd(groups).tolist() == crowds
        if isinstance(near, PairwiseSimilarity):
            assert_large_groups_agree(near, groups, crowds)


def assert_large_groups_agree(near: PairwiseSimilarity, groups: Groups, crowds: list[int]) -> None:
    ways = [near.measure.by_blocks]
    if isinstance(near.measure, PointTest):
        ways.append(near.measure.by_tree)
    for count in ways:
        for begin, end in zip(groups.start[:-1], groups.start[1:], strict=True):
            end -= int(groups.codes[end - 1] >= near.known)
            if begin < end:
                found = count(groups.codes[begin:end], groups.counts[begin:end])
                assert found.tolist() == crowds[begin:end]


@pytest.mark.parametrize("kind", VALUES)
@settings(max_examples=60)
@given(data=st.data())
def test_a_distance_and_its_twin(kind: str, data: st.DataObject) -> None:
    values = data.draw(VALUES[kind])
    epsilon = data.draw(st.sampled_from(epsilons(values, kind)))
    if kind == "haversine":  # the twin is no more exact than floats are
        found = [naive.distance(a, b, CONTEXT, kind) for a, b in combinations(values, 2)]
        assume(all(abs(d - float(epsilon) * (1 + 1e-9)) > 1e-7 or d == 0 for d in found))
    values = values + data.draw(st.lists(st.sampled_from([*values, None]), max_size=3))
    assert_all_agree(coded(values), kind, epsilon, expected(values, kind, epsilon))


@settings(max_examples=40)
@given(data=st.data())
def test_numbers_and_decimals_are_vectors_of_length_one(data: st.DataObject) -> None:
    """A single number column, whatever its type."""
    numbers = data.draw(st.lists(st.integers(-20, 20), min_size=1, max_size=7))
    values = [Decimal(n) / 10 for n in numbers]
    kind = data.draw(st.sampled_from(["euclidean", "manhattan"]))
    gaps = {abs(Fraction(a) - Fraction(b)) for a, b in combinations(values, 2)} | {Fraction(0)}
    epsilon = data.draw(st.sampled_from(sorted(gaps)))
    values = [*values, None]
    column = encode(pl.Series("s", values, dtype=pl.Decimal(18, 3)))
    assert_all_agree(column, kind, epsilon, expected(values, kind, epsilon))


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int64, pl.Decimal(30, 20), pl.Date])
def test_components_of_any_type_are_read_as_they_are_written(dtype: Any) -> None:
    """A tenth is a tenth in single precision, and no decimal or integer is too long."""
    pools: dict[Any, list[Any]] = {
        pl.Float32: [0.1, 0.2, 0.3, 0.7, 1.1],
        pl.Int64: [2**60, 2**60 + 1, 2**60 + 2, 0, -(2**60)],
        pl.Decimal(30, 20): [Decimal("0.1"), Decimal("0.10000000000000000001"), Decimal(3)],
        pl.Date: [pl.date(2024, 1, d) for d in (1, 2, 4)],
    }
    pool = pl.select(pl.concat_list(pools[dtype])).to_series().explode().cast(dtype)
    exact = encode(pool).domain.numbers
    assert exact is not None
    pairs = [(i, j) for i in range(len(pool)) for j in (0, 1)]
    columns = [encode(pool.gather([pair[at] for pair in pairs]).alias(f"c{at}")) for at in (0, 1)]
    column = join_columns("c0+c1", columns)
    own = [[Fraction(int(c.domain.numbers.units[k]), c.domain.numbers.per) for k in c.codes]
           for c in columns if c.domain.numbers is not None]  # fmt: skip
    values = list(zip(*own, strict=True))
    for kind in ("manhattan", "euclidean"):
        for epsilon in {abs(a[0] - b[0]) for a, b in combinations(values, 2)}:
            assert_all_agree(column, kind, epsilon, expected(values, kind, epsilon))


def _random(kind: str, size: int) -> list[Any]:
    rng = np.random.default_rng(7)
    if kind == "edit":
        return ["".join(rng.choice(list("abcd"), rng.integers(0, 9))) for _ in range(size)]
    if kind == "haversine":
        rows = rng.normal((50, 179), 3, (size, 2)).clip(-90, 180).round(2)
    elif kind in ("variational", "jensen-shannon"):
        rows = rng.multinomial(30, np.full(5, 0.2), size) / 30
    else:
        rows = rng.normal(size=(size, 3))
        rows[::2] = rows[::2].round(1)
    return [tuple(row) for row in rows.tolist()]


REACH = {
    "variational": "0.2",
    "jensen-shannon": "0.3",
    "euclidean": "0.7",
    "manhattan": "0.9",
    "cosine": "0.2",
    "haversine": "111",
    "edit": "3",
}


@pytest.mark.parametrize("kind", REACH)
@pytest.mark.parametrize("bytes_", [50_000, 2**28])
def test_large_groups(kind: str, bytes_: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether by list, by blocks or by tree, with as many rows to a value as may be."""
    values = _random(kind, 300)
    column, epsilon = coded(values), Fraction(REACH[kind])
    size = column.domain.size
    codes = np.concatenate((column.codes, column.codes[:150], column.codes[:90], [3] * 40))
    groups = Groups.of([codes.tolist(), codes[::3].tolist(), [1, 2]], size)
    token = memory.limit.set(bytes_)
    near = distances.similarity(column.domain, kind, epsilon)
    memory.limit.reset(token)
    assert isinstance(near, PairwiseSimilarity)
    matrix = near.matrix(np.arange(size))
    assert (matrix == matrix.T).all()
    value_of = dict(zip(column.codes.tolist(), values, strict=True))
    for code in range(0, size, 40):
        truth = [
            naive.similar(value_of[code], value_of[c], CONTEXT, kind, epsilon) for c in range(size)
        ]
        assert matrix[code].tolist() == truth
        assert near.near(code).tolist() == np.flatnonzero(truth).tolist()
    crowds = [
        int(groups.counts[a:b] @ matrix[c, groups.codes[a:b]])
        for a, b in zip(groups.start[:-1], groups.start[1:], strict=True)
        for c in groups.codes[a:b]
    ]
    assert_large_groups_agree(near, groups, crowds)
    for small, tree_from in ((48, 2000), (0, 260), (1000, 0)):
        monkeypatch.setattr(blocks, "_SMALL", small)
        monkeypatch.setattr(points, "_TREE_FROM", tree_from)
        assert near.crowd(groups).tolist() == crowds
    for choice in (True, False):
        monkeypatch.setattr(blocks, "_SMALL", 48)
        monkeypatch.setattr(PointTest, "_tree_wins", lambda *_, choice=choice: choice)
        assert near.crowd(groups).tolist() == crowds


@pytest.mark.parametrize("kind", ["variational", "manhattan", "euclidean", "cosine"])
def test_ties_of_long_decimals_are_decided_as_they_are_written(kind: str) -> None:
    """Thirds of floats: a third and two thirds are not exactly a third apart, nor is it 1e-17."""
    third = 1 / 3
    values = [(third, 1 - third), (2 * third, 1 - 2 * third), (0.0, 1.0), (1.0, 0.0)]
    column = coded(values)
    for a, b in combinations(values, 2):
        if kind in ("euclidean", "cosine"):
            exact = Fraction(naive.distance(a, b, CONTEXT, kind))
        else:
            exact = naive.distance(a, b, CONTEXT, kind)
        for epsilon in (exact, exact - Fraction(1, 10**18), exact + Fraction(1, 10**18)):
            epsilon = min(epsilon, Fraction(1))
            assert_all_agree(column, kind, epsilon, expected(values, kind, epsilon))


@settings(max_examples=30)
@example([(1, 1), (10**9, 10**9 + 1)], 1)
@example([(3, 4), (4, 3), (5, 0), (6, 8), (-3, -4), (4, -3)], 2)
@given(vectors(whole), st.integers(0, 20))
def test_cosine_at_rational_angles(values: list[Any], tenth: int) -> None:
    """3-4-5 triangles, multiples of each other, opposites and right angles are ties."""
    values = [v for v in values if any(v)]
    assume(values)
    epsilon = Fraction(tenth, 10)
    for step in (Fraction(0), TINY**2, -(TINY**2)):
        if 0 <= epsilon + step <= 2:
            truth = expected(values, "cosine", epsilon + step)
            assert_all_agree(coded(values), "cosine", epsilon + step, truth)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=9), st.integers(0, 6))
def test_trees_have_matrices_too(values: list[str], twice: int) -> None:
    parents = {"*": None, "x": "*", "y": "*", "a": "x", "b": "x", "c": "y", "d": "y", "e": "*"}
    parents["f"] = "a"
    context, epsilon = naive.Context((), parents), Fraction(twice, 2)
    column = coded([*values, None]).with_tree(hierarchy(parents))
    truth = np.array(
        [[naive.similar(a, b, context, "tree", epsilon) for b in [*values, None]]
         for a in [*values, None]]
    )  # fmt: skip
    assert_all_agree(column, "tree", epsilon, truth)


@pytest.mark.parametrize("kind", [k for k in VALUES if k != "discrete"])
@settings(max_examples=30)
@given(data=st.data())
def test_distances_to_show(kind: str, data: st.DataObject) -> None:
    values = [*data.draw(VALUES[kind]), None]
    column = coded(values)
    codes = column.codes.astype(np.int64)
    apart = distances.space(column.domain, kind).apart(codes, codes[::-1])
    for i, a in enumerate(values):
        for j, b in enumerate(values[::-1]):
            if a is None or b is None:
                assert apart[i, j] == (0 if a is b else np.inf)
            else:
                exact = float(naive.distance(a, b, CONTEXT, kind))
                # They are shown, never compared with ε: floats of the values may be as far off.
                off = max(1e-6, 1e-15 * _largest(a), 1e-15 * _largest(b))
                assert apart[i, j] == pytest.approx(exact, rel=1e-7, abs=off)


def _largest(value: Any) -> float:
    """Return the largest number of a value, 0 if it is none."""
    numbers = value if isinstance(value, tuple | list) else [value]
    return max((abs(float(x)) for x in numbers if isinstance(x, int | float | Decimal)), default=0)


# ---- functions


def test_a_function_is_called_for_no_more_pairs_than_needed() -> None:
    calls: list[tuple[int, int]] = []

    def metric(a: int, b: int) -> int:
        calls.append((min(a, b), max(a, b)))
        return abs(a - b)

    column = encode(pl.Series("s", range(1000)))
    near = distances.similarity(column.domain, metric, Fraction(1))
    assert len(calls) < 300  # a few dozen pairs, both ways, and each value with itself
    calls.clear()
    groups = Groups.of([[1, 2, 2, 9], [1, 2, 3], [2, 1], [500]], 1000)
    assert near.crowd(groups).tolist() == [3, 3, 1, 2, 3, 2, 2, 2, 1]
    assert sorted(calls) == [(1, 2), (1, 3), (1, 9), (2, 3), (2, 9)]
    calls.clear()
    near.matrix(np.array([7, 5, 7, 6]))
    assert sorted(calls) == [(5, 6), (5, 7), (6, 7)]


@given(st.lists(st.sampled_from([*range(6), None]), min_size=1, max_size=9), st.integers(0, 6))
def test_a_function_and_its_twin(values: list[Any], epsilon: int) -> None:
    assume(any(v is not None for v in values))
    truth = expected(values, lambda a, b: abs(a - b), Fraction(epsilon))
    assert_all_agree(coded(values), lambda a, b: abs(a - b), Fraction(epsilon), truth)


def test_a_function_gets_vectors_as_tuples() -> None:
    column = coded([(1.0, 2.0), (1.0, None), (4.0, 2.0)])

    def metric(a: Any, b: Any) -> float:
        assert isinstance(a, tuple)
        return abs(a[0] - b[0])

    assert distances.similarity(column.domain, metric, Fraction(1)).near(0).tolist() == [0, 1]


def test_a_mistake_among_the_last_values_is_found() -> None:
    """Not only the first values are tried."""
    domain = encode(pl.Series("s", range(1000))).domain
    with pytest.raises(ParameterError, match="symmetric"):
        distances.similarity(domain, lambda a, b: abs(a - b) + (a > b > 700), Fraction(1))


# ---- bad input


def message(error: type[Exception], values: Sequence[Any], kind: str, epsilon: str = "0.1") -> str:
    with pytest.raises(error) as caught:
        distances.similarity(coded(values).domain, kind, Fraction(epsilon))
    return str(caught.value)


def test_epsilon_beyond_all_distances() -> None:
    said = message(ParameterError, [(0.5, 0.5)], "variational", "1.1")
    assert said == (
        "epsilon must be at most 1 for distance=variational: no two values are farther apart\n"
        "  try: a smaller epsilon: the largest distance that counts as near"
    )
    assert "20015.115" in message(ParameterError, [(0.5, 0.5)], "haversine", "20016")
    assert "a share" in message(ParameterError, [1, 2], "relative", "1.1")
    for kind, top in distances.TOPS.items():
        domain = coded([0.5] if kind in ("discrete", "relative") else [(0.5, 0.5)]).domain
        assert distances.similarity(domain, kind, top).near(0).tolist() == [0]


def test_what_is_no_distribution() -> None:
    values = [(0.5, 0.6), (0.5, 0.5), (-0.5, 1.5), (0.1, 0.1)]
    for kind in ("variational", "jensen-shannon", "auto"):
        said = message(TableError, values, kind)
        assert "of its 4 distinct values" in said
        assert "1 with a negative share and 2 whose shares do not add up to 1" in said
        assert "euclidean, manhattan or cosine" in said
    assert "single number" in message(TableError, [0.5, 1.0], "variational")
    just = [(0.5, 0.500001), (0.5, 0.5)]
    assert distances.similarity(coded(just).domain, "auto", Fraction(1)).near(0).tolist() == [0, 1]
    assert "1 whose shares" in message(TableError, [(0.5, 0.5000011), (0.5, 0.5)], "auto")


def test_what_has_no_direction_or_is_no_place() -> None:
    assert "1 of the distinct values of 's' is all zeros" in message(
        TableError, [(0, 0), (1, 2)], "cosine"
    )
    assert "not 3" in message(TableError, [(1.0, 2.0, 3.0)], "haversine")
    assert "1 has a latitude beyond ±90" in message(TableError, [(91.0, 0.0)], "haversine")
    assert "2 have a longitude beyond ±180" in message(
        TableError, [(0.0, 181.0), (1.0, -181.0)], "haversine"
    )


def test_what_is_no_number_or_no_text() -> None:
    assert "no vector of numbers" in message(TableError, ["a", "b"], "euclidean")
    assert "needs text" in message(TableError, [1, 2], "edit")
    assert "needs numbers" in message(TableError, ["a"], "relative")
    dates = pl.Series("s", ["2024-01-01"]).str.to_date()
    with pytest.raises(ParameterError, match="share of a date"):
        distances.space(encode(dates).domain, "relative")
    assert "one of auto, absolute" in message(ParameterError, [1], "euclid")
    assert "lack the component" in message(TableError, [(1.0, None), (1.0, 2.0)], "euclidean")


def test_latitude_and_longitude_by_name() -> None:
    north = pl.Series("home.lat", [51.5, 48.9])
    east = pl.Series("home.lng", [120.0, 121.0])
    for columns in ((north, east), (east, north)):
        column = join_columns("home", [encode(c) for c in columns])
        space = distances.space(column.domain, "haversine")
        found = space.apart(column.codes[:1].astype(np.int64), column.codes[1:].astype(np.int64))
        assert found[0, 0] == pytest.approx(naive.haversine(51.5, 120, 48.9, 121))


@pytest.mark.parametrize("kind", ["euclidean", "cosine", "variational", "edit"])
def test_nothing_but_missing_values(kind: str) -> None:
    dtype = pl.String if kind == "edit" else pl.List(pl.Float64)
    column = encode(pl.Series("s", [None, None], dtype=dtype))
    near = distances.similarity(column.domain, kind, Fraction(1))
    assert near.crowd(Groups.of([[0, 0]], 1)).tolist() == [2]
    assert near.near(0).tolist() == [0]
    assert near.matrix(np.array([0, 0])).all()


def test_the_memory_is_bounded_where_it_is_set() -> None:
    before = memory.budget()
    with memory.bounded(3):
        assert memory.budget() == 3 * 2**20
        with memory.bounded(None):
            assert memory.budget() == 3 * 2**20
    assert memory.budget() == before
    with pytest.raises(ParameterError, match="at least 1"), memory.bounded(0):
        pass


def test_trees_and_blocks_agree_on_large_whole_numbers() -> None:
    """Where the root of a squared reach, squared again, may be the next whole number."""
    rng = np.random.default_rng(5)
    checked = 0
    for _ in range(400):
        one, step = rng.integers(0, 2**20, 8), rng.integers(25_000_000, 32_000_000, 8)
        square = int((step.astype(object) ** 2).sum())
        root = np.sqrt(float(square - 1))
        if root * root < square:
            continue
        checked += 1
        column = coded([tuple(one.tolist()), tuple((one + step).tolist())])
        epsilon = Fraction(float(root))
        near = distances.similarity(column.domain, "euclidean", epsilon)
        assert isinstance(near, PairwiseSimilarity)
        assert isinstance(near.measure, PointTest)
        both, ones = np.arange(2), np.ones(2, dtype=np.int64)
        expected = [1 + (square <= epsilon**2)] * 2
        assert near.measure.by_blocks(both, ones).tolist() == expected
        assert near.measure.by_tree(both, ones).tolist() == expected
    assert checked > 3


def test_functions_that_round_are_distances_too() -> None:
    """A cosine of floats is not quite 0 between a value and itself, nor is it quite symmetric."""

    def cosine(a: Sequence[float], b: Sequence[float]) -> float:
        product = sum(x * y for x, y in zip(a, b, strict=True))
        sizes = sum(x * x for x in a) ** 0.5 * sum(y * y for y in b) ** 0.5
        return abs(1 - product / sizes)

    rng = np.random.default_rng(2)
    column = coded([tuple(point) for point in rng.random((30, 5)).tolist()])
    for metric in (cosine, lambda a, b: cosine(a, b) ** 0.5):
        near = distances.similarity(column.domain, metric, Fraction(1, 100))
        assert all(code in near.near(code) for code in range(30))
    for metric in (lambda a, b: cosine(a, b) + 0.01, lambda a, b: cosine(a, b) * (1 + a[0])):
        with pytest.raises(ParameterError, match=r"not 0|not symmetric"):
            distances.similarity(column.domain, metric, Fraction(1, 100))


def test_one_place_written_in_two_ways() -> None:
    places = [(90.0, 0.0), (90.0, 50.0), (10.0, 180.0), (10.0, -180.0), (10.0, 179.0)]
    near = distances.similarity(coded(places).domain, "haversine", Fraction(0))
    codes = coded(places).codes
    found = near.matrix(codes.astype(np.int64))
    assert found.tolist() == [
        [True, True, False, False, False],
        [True, True, False, False, False],
        [False, False, True, True, False],
        [False, False, True, True, False],
        [False, False, False, False, True],
    ]
