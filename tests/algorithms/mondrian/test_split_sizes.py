"""(ε,m)-anonymity beside demands for larger groups: found where it can be, refused in two ways."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import combinations
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from tests.algorithms.mondrian.test_kernel_splitter import check_same, engine, silent
from tests.algorithms.test_suppression import is_true
from tests.effort import examples
from tests.engines.spark.emulation import emulated, groups_of
from tests.laws.test_releases import either_engine
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian import rule_splitter, split
from wideberth.algorithms.mondrian.arrangement import SplitProblem
from wideberth.algorithms.mondrian.rule_splitter import PlainSplitter, RankJudge
from wideberth.algorithms.mondrian.split import grow
from wideberth.core.codes import encode
from wideberth.engines.split.histogram_judge import HistogramJudge
from wideberth.hierarchy.quasi import read_quasi
from wideberth.kernels.randomness import root_key
from wideberth.principles import parse

QUASI = ["age", "state", "hours"]
DEFAULTS = ["epsilon-m:epsilon=10000,m=2", "k-anonymity:k=5"]


def wages(rows: int, *, middle: float = 10.2, seed: int = 1) -> pl.DataFrame:
    """People with wages: skewed, a long tail, most of them round numbers."""
    rng = np.random.default_rng(seed)
    pay = np.exp(rng.normal(middle, 0.7, rows))
    grain = rng.choice(
        [1, 100, 500, 1000, 5000, 10_000], rows, p=[0.15, 0.1, 0.1, 0.25, 0.25, 0.15]
    )
    return pl.DataFrame(
        {
            "age": rng.integers(16, 86, rows),
            "state": rng.integers(0, 51, rows),
            "hours": rng.integers(1, 99, rows),
            "pay": np.minimum(np.rint(pay / grain) * grain, 1_100_000).astype(np.int64),
        }
    )


def satisfied(group: Sequence[int], epsilon: int, m: int) -> bool:
    """The definition, row by row."""
    return all(sum(abs(x - y) <= epsilon for y in group) * m <= len(group) for x in group)


def sizes_that_do(pay: np.ndarray, sizes: range, epsilon: int = 10_000, m: int = 2) -> list[int]:
    """The group sizes for which dealing the whole table in turn satisfies."""
    pay, found = np.sort(pay), []
    for size in sizes:
        hands = [pay[h :: len(pay) // size] for h in range(len(pay) // size)]
        if all(satisfied(hand.tolist(), epsilon, m) for hand in hands):
            found.append(size)
    return found


def confirm(frame: pl.DataFrame, release: Any, k: int = 5) -> None:
    assert release.table.height == frame.height
    for (_,), group in release.table.group_by("group"):
        assert group.height >= k
        assert satisfied(group["pay"].to_list(), 10_000, 2)
    assert release.check().satisfied


# ---- found where it can be


@pytest.mark.parametrize("compiled", [False, True])
def test_wages(compiled: bool) -> None:
    """Six rows a group will do, and no other size: halving the number of hands misses it."""
    frame = wages(1500)
    assert sizes_that_do(frame["pay"].to_numpy(), range(5, 25)) == [6]
    how = {"quasi": QUASI, "sensitive": "pay", "principles": DEFAULTS, "seed": 1}
    with either_engine(compiled):
        release = wb.anonymize(frame, **how)
    confirm(frame, release)
    assert release.manifest["groups"] > 1500 / 8


@pytest.mark.nightly
def test_wages_of_a_quarter_of_a_million() -> None:
    """The app's first proposal, at the size of a survey."""
    frame = wages(250_000)
    release = wb.anonymize(frame, quasi=QUASI, sensitive="pay", principles=DEFAULTS, seed=1)
    assert release.check().satisfied
    assert release.manifest["groups"] > 250_000 / 8


def test_wages_that_no_size_dealt_in_turn_is_for() -> None:
    """Columns put rows side by side into a group, as many as are permitted."""
    frame = wages(1500, middle=10.0)
    assert sizes_that_do(frame["pay"].to_numpy(), range(5, 41)) == []
    release = wb.anonymize(frame, quasi=QUASI, sensitive="pay", principles=DEFAULTS, seed=1)
    confirm(frame, release)


@pytest.mark.parametrize("middle", [10.0, 10.2])
@pytest.mark.parametrize("cuts", ["best", "paper"])
def test_wages_on_every_engine(middle: float, cuts: str) -> None:
    frame = wages(6000, middle=middle)
    how = {"quasi": QUASI, "sensitive": "pay", "principles": DEFAULTS, "seed": 3, "cuts": cuts}
    whole = wb.anonymize(frame, **how)
    table, _ = emulated(frame, bucket_rows=700, **how)
    columns = [*QUASI, "pay"]
    assert groups_of(table, columns).equals(groups_of(whole.table, columns))


@pytest.mark.parametrize(
    "principles",
    [
        ["epsilon-m:epsilon=10000,m=2", "distinct-l:l=5"],
        ["epsilon-m:epsilon=10000,m=2", "alpha-k:alpha=0.5,k=5"],
        ["epsilon-m:epsilon=10000,m=2", "m-uniqueness:m=5"],
    ],
    ids=" and ".join,
)
def test_wages_beside_other_bounds(principles: list[str]) -> None:
    frame = wages(1500)
    if "m-uniqueness" in principles[1]:
        with pytest.raises(wb.ParameterError, match="both non-monotone"):
            wb.anonymize(frame, quasi=QUASI, sensitive="pay", principles=principles)
        return
    release = wb.anonymize(frame, quasi=QUASI, sensitive="pay", principles=principles, seed=1)
    confirm(frame, release)


#: Each demands what k-anonymity with k = 5 does beside (ε,m) with m = 2, and no more.
SAME = [
    ["alpha-k:alpha=1,k=5"],
    ["frequency-l:l=2", "k-anonymity:k=5"],
    ["distinct-l:l=2", "k-anonymity:k=5"],
]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("beside", SAME, ids=" and ".join)
def test_wages_dealt_by_columns_beside_other_tests(beside: list[str], compiled: bool) -> None:
    """What is implied makes no difference: the same groups, also where only columns will do."""
    frame = wages(1500, middle=10.0)
    assert sizes_that_do(frame["pay"].to_numpy(), range(5, 41)) == []
    how = {"quasi": QUASI, "sensitive": "pay", "seed": 1}
    expected = wb.anonymize(frame, principles=DEFAULTS, **how)
    with either_engine(compiled):
        release = wb.anonymize(frame, principles=[DEFAULTS[0], *beside], **how)
    confirm(frame, release)
    columns = [*QUASI, "pay"]
    assert groups_of(release.table, columns).equals(groups_of(expected.table, columns))


@pytest.mark.parametrize("compiled", [False, True])
def test_columns_are_put_to_the_other_tests(compiled: bool) -> None:
    """Rows side by side may hold one value again and again: then they are not taken."""
    outcomes = set()
    principles = ["epsilon-m:epsilon=9,m=2", "k-anonymity:k=5", "distinct-l:l=4"]
    for seed in range(8):
        pay = np.random.default_rng(seed).integers(0, 30, 40)
        frame = pl.DataFrame({"age": range(40), "pay": pay})
        for extra in (1, 2):  # without the last principle, and with it
            asked = principles[: 1 + extra]
            try:
                with either_engine(compiled):
                    made = wb.anonymize(frame, quasi="age", sensitive="pay", principles=asked)
            except wb.InfeasibleError:
                outcomes.add((extra, "refused"))
                continue
            outcomes.add((extra, "made"))
            for (_,), group in made.table.group_by("group"):
                values = group["pay"].to_list()
                assert len(values) >= 5
                assert satisfied(values, 9, 2)
                assert extra == 1 or len(set(values)) >= 4
    assert outcomes >= {(1, "made"), (2, "made")}


@pytest.mark.parametrize("middle", [10.0, 10.2])
def test_wages_in_two_tables(middle: float) -> None:
    """Dealt in turn, or, where all values differ, by columns."""
    frame, epsilon = wages(1500, middle=middle), 10_000
    if middle == 10.0:
        frame = frame.with_columns(pl.col("pay") * 2000 + pl.int_range(pl.len()))
        epsilon *= 2000
    made = wb.anonymize(
        frame,
        quasi=QUASI,
        sensitive="pay",
        principles=[f"epsilon-m:epsilon={epsilon},m=2", "distinct-l:l=5"],
        algorithm="anatomy",
        seed=1,
    )
    assert made.check().satisfied


# ---- engines agree


def task_of(pay: list[int], principles: list[str], key: int = 7) -> SplitProblem:
    ages = np.random.default_rng(key).integers(0, 30, len(pay))
    column = encode(pl.Series("pay", pay))
    demands = []
    for principle in map(parse, principles):
        own = None if principle.name == "k-anonymity" else column
        domain = (own or encode(pl.Series("rows", ages))).domain
        demands.append(Demand(principle, principle.bind(domain), own))
    return SplitProblem([read_quasi(pl.Series("age", ages))], demands, root_key(key))


crowded = st.lists(st.integers(0, 30), min_size=5, max_size=60)
reaches = st.one_of(
    st.tuples(st.integers(0, 12)).map(lambda e: f"epsilon={e[0]}"),
    st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda e: f"e1={e[0]},e2={e[1]}"),
    st.integers(0, 60).map(lambda e: f"epsilon={e}%"),
)


@examples(30, 10)
@given(crowded, reaches, st.integers(2, 4), st.integers(1, 6), st.sampled_from(["best", "paper"]))
def test_the_compiled_engine_finds_the_same(
    pay: list[int], reach: str, m: int, more: int, cuts: str
) -> None:
    principles = [f"epsilon-m:{reach},m={m}", f"k-anonymity:k={m + more}"]
    check_same(task_of(pay, principles), cuts)


tests_beside = ["alpha-k:alpha=1,k=5", "distinct-l:l=4", "frequency-l:l=3", "entropy-l:l=3.5"]


@examples(30, 10)
@given(crowded, reaches, st.integers(2, 4), st.integers(1, 6), st.sampled_from(tests_beside))
def test_the_compiled_engine_finds_the_same_beside_tests(
    pay: list[int], reach: str, m: int, more: int, beside: str
) -> None:
    principles = [f"epsilon-m:{reach},m={m}", f"k-anonymity:k={m + more}", beside]
    check_same(task_of(pay, principles), "best")


@pytest.mark.parametrize("beside", [[], ["distinct-l:l=4"]], ids=str)
def test_both_ways_of_dealing_occur(beside: list[str]) -> None:
    found = set()
    for seed in range(40):
        pay = np.random.default_rng(seed).integers(0, 30, 40).tolist()
        task = task_of(pay, ["epsilon-m:epsilon=9,m=2", "k-anonymity:k=5", *beside])
        slow, fast = PlainSplitter(task, silent), engine(task)
        hands = [grow(one, task, "best").hands.tolist() for one in (slow, fast)]
        assert sorted(hands[0]) == sorted(hands[1])
        found |= set(np.sign(hands[0]).tolist())
    assert found >= ({-1} if beside else {1, -1})


@examples(60, 20)
@given(crowded, reaches, st.integers(2, 4), st.integers(1, 6), st.sampled_from([3, 4096]))
def test_histograms_tell_the_same(pay: list[int], reach: str, m: int, more: int, few: int) -> None:
    task = task_of(pay, [f"epsilon-m:{reach},m={m}", f"k-anonymity:k={m + more}"])
    expected = RankJudge(task).hands(np.arange(task.rows)) != 0
    codes, width = task.leading
    node_judge = HistogramJudge(task, few=few)
    for layout, coarse in ((node_judge.exact, False), (node_judge.coarse, True)):
        cells = np.bincount(layout.cells[0][codes], minlength=int(layout.edges[-1]))
        assert len(np.bincount(codes, minlength=width)) == width
        told = node_judge.judge(task.rows, cells, coarse=coarse)
        assert told == expected or (coarse and told is None)


# ---- impossible, or not found


@examples(40, 13)
@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=8),
    st.integers(0, 3),
    st.integers(2, 3),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
def test_against_all_partitions(
    pay: list[int], epsilon: int, m: int, more: int, compiled: bool, searched: bool
) -> None:
    """A few rows are searched to the end; without that, "impossible" is said only if it is."""
    frame = pl.DataFrame({"age": range(len(pay)), "pay": pay})
    principles = [f"epsilon-m:epsilon={epsilon},m={m}", f"k-anonymity:k={m + more}"]

    def good(part: Any) -> bool:
        return len(part) >= m + more and satisfied(list(part), epsilon, m)

    possible = naive.feasible(pay, good)
    release = refused = None
    with either_engine(compiled), ExitStack() as stack:
        for module in () if searched else (rule_splitter, split):
            stack.enter_context(mock.patch.object(module, "SUBSETS", 0))
        try:
            release = wb.anonymize(frame, quasi="age", sensitive="pay", principles=principles)
        except wb.InfeasibleError as error:
            refused = error
    if refused is not None:
        impossible = refused.outcome == "impossible"
        assert impossible == (refused.witness is not None)
        assert not (possible and (searched or impossible))
        assert searched <= impossible
        assert {"outcome", "what", "witness", "hint"} <= set(refused.to_dict())
        return
    assert possible
    for (_,), group in release.table.group_by("group"):
        assert good(group["pay"].to_list())


def test_all_partitions_are_tried_beside_other_principles() -> None:
    """No way of dealing finds groups of {1, 5, 9} twice on both attributes: a search does."""
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        frame = pl.DataFrame(
            {"age": range(8), "pay": rng.integers(0, 9, 8), "job": rng.choice(["a", "b", "c"], 8)}
        )
        values = list(zip(frame["pay"], frame["job"], strict=True))

        def good(part: Any) -> bool:
            pay, job = zip(*part, strict=True)
            return satisfied(list(pay), 2, 2) and len(set(job)) >= 2 and len(part) >= 3

        how = {
            "quasi": "age",
            "sensitive": ["pay", "job"],
            "principles": [
                "epsilon-m:epsilon=2,m=2,on=pay",
                "distinct-l:l=2,on=job",
                "k-anonymity:k=3",
            ],
        }
        if naive.feasible(values, good):
            assert wb.anonymize(frame, **how).check().satisfied
            for dealing in ("rank", "matching"):
                with mock.patch("warnings.warn"):
                    assert wb.anonymize(frame, **how, dealing=dealing).check().satisfied
            found += 1
        else:
            with pytest.raises(wb.InfeasibleError) as refused:
                wb.anonymize(frame, **how)
            assert refused.value.outcome == "impossible"
    assert found > 3


def test_not_found_is_not_impossible() -> None:
    """Fourteen of thirty rows lie in one window: hardly anything is left to choose."""
    counts = {0: 4, 2: 2, 3: 3, 4: 4, 5: 3, 6: 3, 7: 1, 8: 2, 9: 3, 10: 1, 11: 2, 12: 1, 14: 1}
    pay = np.repeat([*counts], [*counts.values()])
    frame = pl.DataFrame({"age": range(30), "pay": pay})
    how = {"quasi": "age", "sensitive": "pay"}
    wb.anonymize(frame, principles="epsilon-m:epsilon=4,m=2", **how)
    for compiled in (False, True):
        with either_engine(compiled), pytest.raises(wb.InfeasibleError) as refused:
            wb.anonymize(frame, principles=["epsilon-m:epsilon=4,m=2", "k-anonymity:k=3"], **how)
        assert (refused.value.outcome, refused.value.witness) == ("not found", None)
        assert "no way was found" in refused.value.what
        assert "is not proven" in refused.value.what


@pytest.mark.parametrize(
    ("principles", "witness"),
    [
        (["k-anonymity:k=9"], "k-anonymity:k=9 needs 9 rows, the table has 8"),
        (["frequency-l:l=4"], "3 of 8 rows share one value, more than 1/4"),
        (["epsilon-m:epsilon=5,m=4"], "3 of 8 rows share one value, more than 1/4"),
        (
            ["epsilon-m:epsilon=1000,m=2", "k-anonymity:k=2"],
            "8 of 8 rows lie within 499 of each other",
        ),
    ],
)
def test_a_single_principle_that_is_impossible(principles: list[str], witness: str) -> None:
    frame = pl.DataFrame({"age": range(8), "pay": [1, 1, 1, 100, 200, 300, 400, 500]})
    with pytest.raises(wb.InfeasibleError) as refused:
        wb.anonymize(frame, quasi="age", sensitive="pay", principles=principles)
    assert refused.value.outcome == "impossible"
    assert witness in refused.value.witness


@pytest.mark.parametrize("memory", [None, "2GB"])
def test_rows_that_might_be_left_out_prove_nothing(memory: str | None, tmp_path: Any) -> None:
    """Without 50, the others are a group: words and JSON say the same, on every engine."""
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": range(4), "pay": [40, 60, 50, 80]}).write_csv(path)
    assert satisfied([40, 60, 80], 15, 2)
    how = {
        "quasi": "age",
        "sensitive": "pay",
        "principles": ["epsilon-m:epsilon=15,m=2", "k-anonymity:k=3"],
        **({} if memory is None else {"memory": memory}),
    }
    for limit in (0.3, 0.2, 0):
        with pytest.raises(wb.InfeasibleError) as refused:
            wb.anonymize(path, **how, suppression_limit=limit)
        told = refused.value.to_dict()
        if limit == 0.3 or (limit and memory):
            assert (told["outcome"], told["witness"]) == ("not found", None)
            assert "impossible" not in told["what"]
            assert "which rows to leave out is " in told["what"]
        else:  # no row may go
            assert told["outcome"] == "impossible"
            assert " are impossible together: " in told["what"]
            assert told["witness"] in told["what"]
            assert ("at least 1 row would have to be suppressed" in told["what"]) == (not memory)


small = st.lists(st.integers(0, 6), min_size=3, max_size=7)


@examples(60, 20)
@given(small, st.integers(0, 2), st.integers(2, 3), st.integers(1, 2), st.sampled_from([0, 3, 6]))
def test_what_is_said_of_rows_to_leave_out(
    pay: list[int], epsilon: int, m: int, more: int, tenths: int
) -> None:
    """What is said of rows, and what is hinted at, against all subsets and their partitions."""
    k, rows = m + more, len(pay)

    def good(part: Any) -> bool:
        return len(part) >= k and satisfied(list(part), epsilon, m)

    lost = [
        many
        for many in range(rows)
        if any(naive.feasible(list(kept), good) for kept in combinations(pay, rows - many))
    ]
    fewest = min(lost, default=None)
    frame = pl.DataFrame({"age": range(rows), "pay": pay})
    how = {
        "quasi": "age",
        "sensitive": "pay",
        "principles": [f"epsilon-m:epsilon={epsilon},m={m}", f"k-anonymity:k={k}"],
        "trials": False,
    }
    allowed = rows * tenths // 10
    refused = None
    try:
        wb.anonymize(frame, **how, suppression_limit=tenths / 10)
    except wb.InfeasibleError as error:
        refused = error
    if refused is None:
        assert fewest is not None
        assert fewest <= allowed
        return
    assert is_true(refused.what, fewest), (refused.what, fewest)
    if refused.outcome == "impossible":
        assert fewest is None or fewest > allowed
        assert refused.witness is not None
        assert refused.witness in refused.what
    else:
        assert "impossible" not in refused.what
    hinted = re.search(r"suppression_limit=([0-9.]+)", refused.hint or "")
    if hinted is not None:  # what is proposed works
        limit = float(hinted[1])
        assert wb.anonymize(frame, **how, suppression_limit=limit).check().satisfied


@pytest.mark.parametrize(
    ("pay", "fewest"), [([5, 4, 4, 0, 6, 2, 5], 2), ([6, 5, 3, 0, 4, 3], 1)], ids=str
)
def test_refusals_that_said_too_much_or_too_little(pay: list[int], fewest: int) -> None:
    test_what_is_said_of_rows_to_leave_out.hypothesis.inner_test(pay, 1, 2, 2, 0)
    frame = pl.DataFrame({"age": range(len(pay)), "pay": pay})
    principles = ["epsilon-m:epsilon=1,m=2", "k-anonymity:k=4"]
    with pytest.raises(wb.InfeasibleError, match="at least 1 row would have to be") as refused:
        wb.anonymize(frame, quasi="age", sensitive="pay", principles=principles)
    assert "suppression_limit" not in refused.value.hint
    assert fewest >= 1


@pytest.mark.parametrize(
    "error",
    [
        wb.InfeasibleError.together("a", "b", "of “x”, 3\n of 4 are near", "weaken one"),
        wb.InfeasibleError("too few", outcome="impossible", witness="too few"),
        wb.InfeasibleError("all of it; are impossible together: no", hint="less"),
        wb.InfeasibleError.together("a", "b", "c", "d").hedged("other rows might go"),
    ],
    ids=str,
)
def test_a_refusal_comes_whole_from_an_executor(error: wb.InfeasibleError) -> None:
    from wideberth.engines.spark.failures import (
        ExecutorRefusal,
        carry_refusals,
        translate_spark_error,
    )

    with pytest.raises(ExecutorRefusal) as caught, carry_refusals():
        raise error
    text = "".join(traceback.format_exception(caught.value))
    arrived = translate_spark_error(
        RuntimeError(f"An exception was thrown from the Python worker:\n{text}")
    )
    assert isinstance(arrived, wb.InfeasibleError)
    assert arrived.to_dict() == error.to_dict()


def test_json_of_a_refusal(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from wideberth.cli import main

    path = tmp_path / "people.csv"
    pl.DataFrame({"age": range(4), "pay": [40, 60, 50, 80]}).write_csv(path)
    asked = ["anonymize", str(path), "--qi", "age", "--sensitive", "pay", "--dry-run"]
    asked += ["--principle", "epsilon-m:epsilon=15,m=2", "--principle", "k-anonymity:k=3"]
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--format", "json"])
    assert ended.value.code == 3
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert told["outcome"] == "impossible"
    assert told["witness"] in told["what"]
    assert told["what"] in said.err
    with pytest.raises(SystemExit):
        main(asked)
    assert not capsys.readouterr().out


def test_what_the_app_is_told() -> None:
    from wideberth.ui.jobs import JobError
    from wideberth.ui.tasks import failure

    error = wb.InfeasibleError("no", outcome="impossible", witness="too few rows")
    told = failure(error)
    assert (told["outcome"], told["witness"]) == ("impossible", "too few rows")
    again = JobError(**told)
    assert (again.kind, again.outcome) == ("InfeasibleError", "impossible")
