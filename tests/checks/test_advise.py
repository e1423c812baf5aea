"""What is possible, against brute force: no partition exists where the advice says so."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf, nextafter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import wideberth as wb
from tests import naive, samples
from wideberth import datasets
from wideberth.core.codes import encode, join_columns
from wideberth.principles import EpsilonMAnonymity, iterate, lookup, parse
from wideberth.principles.feasibility.limits import WholeTable, last_possible_near
from wideberth.principles.feasibility.nearness import rounded
from wideberth.principles.feasibility.refusal import alternatives, infeasible_error

TABLE_1A = [1000, 1010, 1020, 16000, 24000, 31000, 33000, 50000]

CELL = st.one_of(
    st.none(), st.integers(-6, 6), st.sampled_from([-1000, -900, 90, 99, 100, 110, 1000])
)
COLUMNS = st.lists(CELL, min_size=1, max_size=9)


def similar_at(x: int, y: int, relative: bool) -> Fraction | None:
    """The smallest ε at which two numbers are similar; None if no permitted one is."""
    if not relative:
        return Fraction(abs(x - y))
    if x == y:
        return Fraction(0)
    share = Fraction(abs(x - y), max(abs(x), abs(y)))
    return share if share <= 1 else None


def exactly(bound: float | Fraction) -> float | Fraction:
    """Read a bound as it is written: 0.1 is a tenth."""
    return inf if bound == inf else naive.given(bound)


def largest_m(values: list[int | None], epsilon: Fraction, relative: bool) -> int:
    crowd = naive.maxsize(values, naive.Context(values), epsilon, relative, None, None)
    return len(values) // crowd


def test_the_vectors_of_the_paper():
    advice = wb.advise(datasets.li2008_table1a(), "salary")
    assert advice.max_m(e1=20, e2=10000) == 2
    assert advice.max_m(e1=10000, e2=20) == 2
    assert advice.max_epsilon(m=3) == 20
    assert advice.achievable(epsilon=Fraction(1999, 100), m=3)
    assert not advice.achievable(epsilon=20, m=3)
    assert advice.achievable(e1=20, e2=10000, m=2)
    assert advice.max_epsilon(m=1) == inf
    assert advice.max_epsilon(m=9) == 0
    assert advice.curve() == [(inf, 1), (23000, 2), (20, 4), (10, 8)]


@given(COLUMNS, st.booleans())
def test_curve_and_bounds_are_those_of_brute_force(values, relative):
    advice = wb.advise(pl.Series("s", values, dtype=pl.Int64))
    known = [v for v in values if v is not None]
    pairs = [similar_at(x, y, relative) for x in known for y in known]
    edges = sorted({e for e in pairs if e is not None})
    tried = sorted({*edges, *(e + Fraction(1, 10**9) for e in edges), Fraction(0)})
    tried = [e for e in tried if not relative or e <= 1]
    curve = [(exactly(bound), m) for bound, m in advice.curve(relative=relative)]
    for epsilon in tried:
        most = largest_m(values, epsilon, relative)
        assert advice.max_m(epsilon=epsilon, relative=relative) == most
        assert max(m for bound, m in curve if epsilon < bound) == most
        for m in range(1, len(values) + 2):
            possible = advice.achievable(epsilon=epsilon, m=m, relative=relative)
            assert possible == (m <= most)
            assert possible == (epsilon < exactly(advice.max_epsilon(m, relative=relative)))
    assert [m for _, m in curve] == sorted({m for _, m in curve})
    assert [e for e, _ in curve] == sorted({e for e, _ in curve}, reverse=True)
    assert curve[-1][1] == largest_m(values, Fraction(0), relative)


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([3, 60, 10**6]))
@settings(max_examples=20)
def test_blocks_find_what_every_rank_shows(seed, relative, spread):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.integers(-spread // 3, spread, 5000))
    spacing = WholeTable(encode(pl.Series("s", values)), len(values)).spacing(relative)
    for most in (64, 127, 129, 700, 2500, 4999):
        pairs = zip(values[:-most].tolist(), values[most:].tolist(), strict=True)
        shares = [similar_at(x, y, relative) for x, y in pairs]
        expected = min((s for s in shares if s is not None), default=None)
        assert spacing.supremum(most) == expected


@pytest.mark.parametrize(
    ("values", "m", "bound"),
    [
        ([date(2024, 1, 1), date(2024, 1, 31), date(2024, 3, 1)], 3, 30),
        ([0.7, 0.8, 1.5], 3, 0.1),
        ([Decimal("0.70"), Decimal("0.81"), Decimal("1.50")], 3, 0.11),
        ([7], 1, inf),
        ([7], 2, 0),
        ([5, 5, 5], 3, 0),
        ([5, 5, 5], 1, inf),
        ([10**17, 10**17 + 1, 10**17 + 3], 3, 1),
        ([1e300, -1e300, 1e-300], 3, 1e300 - 0),
        ([None, None, 1, 2], 2, inf),
        ([None, None, 1, 2], 3, 0),
        ([None, None], 1, inf),
    ],
)
def test_kinds_of_numbers(values, m, bound):
    column = pl.Series("s", values)
    found = wb.advise(column).max_epsilon(m=m)
    assert found == pytest.approx(bound) if bound == 1e300 else found == bound


def test_relative_edges():
    assert wb.advise([0, 5]).max_epsilon(m=2, relative=True) == 1  # exclusive: 0 is within 100 %
    assert wb.advise([-1, 5]).max_epsilon(m=2, relative=True) == inf  # never similar
    assert wb.advise([11000, 12100]).max_epsilon(m=2, relative=True) == Fraction(1, 11)
    assert wb.advise([11000, 12100]).max_m(epsilon="10%") == 1
    assert wb.advise([11000, 12100]).max_m(epsilon="9%") == 2
    with pytest.raises(wb.ParameterError, match="date"):
        wb.advise([date(2024, 1, 1)]).max_epsilon(m=2, relative=True)


@pytest.mark.parametrize(
    "column",
    [
        TABLE_1A,
        tuple(TABLE_1A),
        np.array(TABLE_1A),
        pd.Series(TABLE_1A),
        pd.Series(TABLE_1A, name="salary"),
        pl.Series("salary", TABLE_1A),
        pa.array(TABLE_1A),
        pa.chunked_array([TABLE_1A]),
        pl.DataFrame({"salary": TABLE_1A}),
        iter(TABLE_1A),
    ],
    ids=lambda c: type(c).__module__.split(".")[0] + "." + type(c).__name__,
)
def test_any_kind_of_column(column):
    assert wb.advise(column).max_epsilon(m=3) == 20


def test_files_and_policies(tmp_path):
    frame = pl.DataFrame({"age": [1, 2, 3], "salary": [10, 20, 40], "zip": ["a", "a", "b"]})
    frame.write_csv(tmp_path / "t.csv")
    (tmp_path / "p.toml").write_text(
        'version = 1\n[roles]\nquasi = ["age", "zip"]\nsensitive = ["salary"]\n'
    )
    for advice in (
        wb.advise(tmp_path / "t.csv", "salary"),
        wb.advise(tmp_path / "t.csv", policy=tmp_path / "p.toml"),
        wb.advise(frame, "salary", types={"salary": "float"}),
    ):
        assert advice.max_epsilon(m=3) == 10
    with pytest.raises(wb.ParameterError, match="sensitive"):
        wb.advise(frame)
    with pytest.raises(wb.TableError, match="no column"):
        wb.advise(frame, "salry")
    with pytest.raises(wb.ParameterError, match="no type"):
        wb.advise(frame, "salary", types={"salary": "number"})
    with pytest.raises(wb.TableError):
        wb.advise(3)


def test_categories_have_no_epsilon():
    advice = wb.advise(["flu", "flu", "ulcer", None])
    assert not advice.numeric
    with pytest.raises(wb.TableError, match="needs numbers"):
        advice.max_m(epsilon=1)
    assert advice.to_dict()["curve"] is None
    assert advice.best("distinct-l", "l").value == 3
    assert advice.best("frequency-l", "l").value == 2
    assert advice.best("m-uniqueness", "m").value == 2
    with pytest.raises(wb.ParameterError, match="strongest"):
        advice.best("delta-l", "variant")
    with pytest.raises(wb.ParameterError, match="one attribute"):
        advice.best("delta-presence", "delta_max")


def test_to_dict():
    found = wb.advise(TABLE_1A).to_dict(epsilon=20, m=3)
    assert list(found)[:8] == [
        *("sensitive", "rows", "epsilon", "m", "achievable", "max_m"),
        *("max_epsilon_exclusive", "curve"),
    ]
    assert found["achievable"] is False
    assert (found["max_m"], found["max_epsilon_exclusive"]) == (2, 20)
    assert found["curve"] == [[None, 1], [23000, 2], [20, 4], [10, 8]]
    relative = wb.advise([11000, 12100]).to_dict(epsilon="9%", m=2)
    assert (relative["epsilon"], relative["relative"]) == (0.09, True)
    assert relative["achievable"] is True
    assert Fraction(relative["max_epsilon_exclusive"]) <= Fraction(1, 11)
    nothing = wb.advise(TABLE_1A).to_dict()
    assert nothing["achievable"] is nothing["max_m"] is nothing["epsilon"] is None


# ---- every limit: possible just within, impossible just beyond

ASKED = [
    *(("k-anonymity", "k", {}), ("distinct-l", "l", {}), ("frequency-l", "l", {})),
    *(("entropy-l", "l", {}), ("recursive-cl", "c", {"l": 2}), ("recursive-cl", "c", {"l": 3})),
    *(("recursive-cl", "l", {"c": 1}), ("recursive-cl", "l", {"c": Fraction(5, 2)})),
    *(("alpha-k", "alpha", {"k": 2}), ("alpha-k", "k", {"alpha": Fraction(1, 2)})),
    *(("m-uniqueness", "m", {}), ("t-closeness", "t", {}), ("delta-l", "l", {"delta": 1})),
    *(("delta-l", "delta", {"l": 2}), ("delta-l", "delta", {"l": Fraction(4, 3)})),
    *(("delta-l", "delta", {"l": 2, "variant": "literal"}), ("k-e", "e", {"k": 2})),
    *(("k-e", "k", {"e": 3}), ("variance", "t", {}), ("epsilon-m", "m", {"epsilon": 2})),
    *(("epsilon-m", "epsilon", {"m": 2}), ("epsilon-m", "epsilon", {"m": 3, "relative": True})),
    *(("l-e", "l", {"e": 1}), ("l-e", "e", {"l": 2})),
]


@pytest.mark.parametrize(("name", "key", "others"), ASKED, ids=str)
@given(data=st.data())
@settings(max_examples=30)
def test_limits_are_tight(name, key, others, data):
    cls = lookup(name)
    kinds = ("balanced",) if cls.needs == "tree" else ("integers",)
    sample = data.draw(samples.samples(cls, rows=7, kinds=kinds, groups=1))
    table = WholeTable(sample.column, len(sample.values))
    limit = table.strongest(name, key, others)
    specification = cls.parameters()[key]
    sign = 1 if specification.stronger == "higher" else -1

    def possible(value: Fraction) -> bool:
        principle = cls(**others, **{key: value})
        return naive.feasible(
            sample.values, lambda g: samples.expected(principle, g, sample.context)
        )

    if limit is None:
        least = table.weakest(name, key)
        assert not possible(least) or (least == 0 and specification.stronger == "higher")
        return
    if limit.value is None:
        return
    step = {"whole": Fraction(1)}.get(specification.kind, Fraction(1, 10**9) * sign)
    step = Fraction(1, 2) if name == "l-e" and key == "e" else step
    beyond = limit.value + step
    if specification.accepts(limit.value):
        assert possible(limit.value) != limit.exclusive
    if limit.exclusive and specification.accepts(limit.value - step):
        assert possible(limit.value - step)
    if not limit.exclusive and specification.accepts(beyond) and specification.accepts(limit.value):
        unbounded = name == "l-e" and beyond > sample.column.domain.tree.height
        assert unbounded or not possible(beyond)


# ---- figures that are rounded: the last float that is possible, whatever the rounding


def just_beyond(limit: Fraction, stronger: str) -> Fraction:
    """The next float on the side that asks more."""
    return naive.given(nextafter(float(limit), inf if stronger == "higher" else 0.0))


@pytest.mark.parametrize("end", [0, 1, 5, 17, 40])
def test_searching_around_a_guess(end):
    for edge, guess in product(range(-1, end + 1), range(end + 1)):
        asked: list[int] = []

        def possible(place: int, edge: int = edge, asked: list[int] = asked) -> bool:
            asked.append(place)
            return place <= edge

        expected = edge if edge >= 0 else None
        assert last_possible_near(guess, end, possible, beyond=True) == expected
        nearer = None if expected is None else min(edge, guess)
        assert last_possible_near(guess, end, possible, beyond=False) == nearer
        assert 0 <= min(asked) <= max(asked) <= end


@pytest.mark.parametrize(
    "counts",
    [(23, *[1] * 10), (14, 16), (1, 1, 2), (1, 2), (3, 5, 7, 11), (997, 2, 1), (1, 1, 1, 1, 4)],
    ids=str,
)
def test_the_last_entropy_l(counts):
    values = [str(value) for value, many in enumerate(counts) for _ in range(many)]
    limit = wb.advise(values).best("entropy-l", "l")
    assert not limit.exclusive
    assert naive.entropy_l(values, None, limit.value)
    assert not naive.entropy_l(values, None, just_beyond(limit.value, "higher"))
    table = pl.DataFrame({"q": [1] * len(values), "s": values})
    asked = {"quasi": ["q"], "sensitive": ["s"]}
    assert wb.check(table, **asked, principles=[lookup("entropy-l")(l=limit.value)])
    beyond = lookup("entropy-l")(l=just_beyond(limit.value, "higher"))
    assert not wb.check(table, **asked, principles=[beyond])


def test_the_last_entropy_l_of_many_rows():
    rng = np.random.default_rng(3)
    for _ in range(20):
        kinds = int(rng.integers(2, 200))
        values = rng.choice(kinds, size=10_000, p=rng.dirichlet(np.full(kinds, 0.5)))
        table = WholeTable(encode(pl.Series("s", values)), len(values))
        limit = table.strongest("entropy-l", "l", {})
        assert limit is not None
        assert table.feasible(lookup("entropy-l")(l=limit.value))
        assert not table.feasible(lookup("entropy-l")(l=just_beyond(limit.value, "higher")))


ROUNDED = [
    *(("entropy-l", "l", {}), ("variance", "t", {}), ("k-e", "e", {"k": 2})),
    *(("recursive-cl", "c", {"l": 2}), ("recursive-cl", "c", {"l": 3})),
    ("recursive-cl", "c2", {"c": 9, "l": 1, "required": ("a",)}),
    ("multi-attribute-l", "l", {"form": "entropy"}),
]


@pytest.mark.parametrize(("name", "key", "others"), ROUNDED, ids=str)
@given(data=st.data())
@settings(max_examples=40)
def test_the_last_of_any_figure(name, key, others, data):
    cls = lookup(name)
    kinds = {"numbers": ("large", "tenths", "floats"), "several": ("several",)}.get(cls.needs)
    sample = data.draw(samples.samples(cls, rows=30, kinds=kinds or ("text",), groups=1))
    limit = WholeTable(sample.column, len(sample.values)).strongest(name, key, others)

    def satisfied(value: Fraction) -> bool:
        return samples.expected(cls(**others, **{key: value}), sample.values, sample.context)

    specification = cls.parameters()[key]
    if limit is None:
        weakest = {"c": 10**300, "l": 1}.get(key, Fraction(1, 10**300))
        assert not satisfied(weakest)
    elif limit.exclusive:
        assert not (limit.value and satisfied(limit.value))
        assert satisfied(limit.value + Fraction(1, 10**9))
    else:
        assert limit.value == specification.low or satisfied(limit.value)
        beyond = just_beyond(limit.value, specification.stronger)
        assert not (specification.accepts(beyond) and satisfied(beyond))


@pytest.mark.parametrize(
    ("values", "variance", "distance", "bound"),
    [
        ([1e300, -1e300, 5.0], None, None, 1e300 / 2),
        ([1e200, -1e200], None, 2 * 10**200, 1e200),
        ([1.7e308, -1.7e308], None, None, None),
        ([1e150, -1e150], None, 2 * 10**150, 1e150),  # every t that there is
        ([1e-200, -1e-200], 0, Fraction(2, 10**200), 1e-200),
        ([1e-308, 3e-308], 0, 0, 1e-308),
    ],
    ids=["-1e300 to 1e300", "1e200", "1.7e308", "1e150", "1e-200", "1e-308"],
)
def test_figures_beyond_floats(values, variance, distance, bound):
    """The largest number that a parameter takes is 10^300, the least above 0 is 10^-300."""
    advice = wb.advise(pl.Series("s", values))
    assert advice.best("variance", "t").value == variance
    assert advice.best("k-e", "e", k=2).value == distance
    reach = advice.best("delta-l", "delta", l=2).value
    assert reach == (None if bound is None else pytest.approx(bound, rel=1e-9))
    told = {(one["name"], one["parameter"]): one for one in advice.to_dict(m=2)["other"]}
    assert told["variance", "t"]["achievable"] is True
    assert told["k-e", "e"]["achievable"] is True
    assert str(infeasible_error(parse("k-e:k=9,e=1"), encode(pl.Series("s", values)), len(values)))


def test_limits_in_json_are_possible():
    """A share that must not be exceeded is rounded up, a number to reach is rounded down."""
    values = list("aab")
    table = pl.DataFrame({"q": [1] * 3, "s": values})
    for limit in wb.advise(values).limits():
        if not limit["achievable"] or limit["value"] is None:
            continue
        value = naive.given(limit["value"])
        if limit["exclusive"]:
            value += Fraction(1, 10**9)
        principle = lookup(limit["name"])(**limit["given"], **{limit["parameter"]: value})
        if not principle.monotone:
            continue
        asked = {"quasi": ["q"], "sensitive": ["s"], "principles": [principle]}
        assert wb.check(table, **asked), principle


# ---- refusals are true

REFUSED = ["epsilon-m", "m-uniqueness", "delta-l", "frequency-l", "l-e"]


@pytest.mark.parametrize("name", REFUSED)
@given(data=st.data())
@settings(max_examples=60)
def test_refusals_are_true(name, data):
    cls = lookup(name)
    kinds = ("balanced", "unbalanced") if name == "l-e" else ("integers", "tenths")
    sample = data.draw(samples.samples(cls, rows=7, kinds=kinds, groups=1))
    principle = data.draw(samples.principles(cls, sample))
    rows = len(sample.values)

    def exists(wanted) -> bool:
        return naive.feasible(sample.values, lambda g: samples.expected(wanted, g, sample.context))

    table = WholeTable(sample.column, rows)
    assert table.feasible(principle) == exists(principle)
    assume(not table.feasible(principle))
    for alternative in alternatives(principle, table):
        assert exists(alternative.principle), alternative
    error = infeasible_error(principle, sample.column, rows)
    assert isinstance(error, wb.InfeasibleError)
    assert error.hint
    if isinstance(principle, EpsilonMAnonymity):
        crowd = naive.maxsize(
            naive.guarded(sample.values, principle.allowed),
            sample.context,
            *(principle.epsilon, principle.relative, principle.e1, principle.e2),
        )
        assert f"{crowd} of {rows} row" in error.what


JUDGED = [cls for cls in iterate() if cls.needs != "population"]


@pytest.mark.parametrize("cls", JUDGED, ids=lambda cls: cls.name)
@given(data=st.data())
@settings(max_examples=20)
def test_verdicts_are_true(cls, data):
    sample = data.draw(samples.samples(cls, rows=6, groups=1))
    principle = data.draw(samples.principles(cls, sample))
    verdict = WholeTable(sample.column, len(sample.values)).verdict(principle)
    exists = naive.feasible(sample.values, lambda g: samples.expected(principle, g, sample.context))
    assert verdict == "unknown" or (verdict == "yes") == exists


def test_limits_and_the_domain():
    advice = wb.advise(["flu", "flu", None, "ulcer", "cancer"])
    assert (advice.domain.known, advice.domain.missing) == (3, 3)
    assert advice.limits() == advice.to_dict()["other"]
    named = {limit["name"] for limit in advice.limits(without=("entropy-l",))}
    assert "entropy-l" not in named
    assert "distinct-l" in named


@pytest.mark.parametrize("cls", list(iterate()), ids=lambda cls: cls.name)
def test_every_principle_can_be_refused(cls):
    column = None if cls.needs in ("size", "population") else encode(pl.Series("s", [1, 1, 2]))
    if cls.needs == "tree":
        column = encode(pl.Series("s", ["a", "a", "b"])).with_tree(
            samples.hierarchy({"r": None, "a": "r", "b": "r"})
        )
    if cls.needs == "several":
        column = join_columns(
            "s+t", [encode(pl.Series("s", [1, 1, 2])), encode(pl.Series("t", ["a", "a", "b"]))]
        )
    if cls.needs == "distance":
        column = encode(pl.Series("s", [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]]))
    error = infeasible_error(parse(cls.example), column, 3)
    assert error.exit_code == 3
    assert error.hint


def test_what_a_refusal_says():
    salaries = encode(pl.Series("salary", TABLE_1A))

    def said(principle: str, column=salaries) -> str:
        return str(infeasible_error(parse(principle), column, 8))

    assert said("epsilon-m:epsilon=4500,m=5") == (
        "column 'salary': 3 of 8 rows lie within 20 of each other, more than 1/5\n"
        "  try: m=2 with epsilon=4500, or epsilon below 10 with m=5"
    )
    assert said("epsilon-m:e1=20,e2=1000,m=4").endswith(
        "m=2 with e1=20 and e2=1000, or e1 and e2 below 20 with m=4"
    )
    assert "epsilon below 1.96078% with m=4" in said("epsilon-m:epsilon=10%,m=4")
    assert said("k-anonymity:k=50", None) == (
        "k-anonymity:k=50 needs 50 rows, the table has 8\n  try: k=8"
    )
    assert said("alpha-k:alpha=0.1,k=9").endswith("try: alpha=0.125, k=8")
    secret = encode(pl.Series("disease", ["hush", "hush", "flu"]))
    text = str(infeasible_error(parse("frequency-l:l=2"), secret, 3))
    assert text == "column 'disease': 2 of 3 rows share one value, more than 1/2\n  try: l=1.5"
    gaps = encode(pl.Series("s", [None, None, None, 4]))
    assert "3 of 4 rows have no value" in str(
        infeasible_error(parse("epsilon-m:epsilon=0,m=2"), gaps, 4)
    )


def test_rounded():
    assert rounded(Fraction(1, 3), up=True, digits=3) == Fraction(334, 1000)
    assert rounded(Fraction(1, 3), up=False, digits=3) == Fraction(333, 1000)


def test_a_mapping_is_no_column() -> None:
    with pytest.raises(wb.TableError, match="got dict"):
        wb.advise({"pay": [1, 2, 3]})
