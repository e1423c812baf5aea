"""Studies are run step by step, kept, continued, judged and written down."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import wideberth as wb
from wideberth import datasets
from wideberth.io import TableWarning
from wideberth_papers import PAPERS, page, plotting, study_of, trends
from wideberth_papers.journal import Journal
from wideberth_papers.machanavajjhala2006.claims import (
    ANONYMITY,
    ENTROPY,
    RECURSIVE,
    judge_discernibility,
    judge_heights,
)
from wideberth_papers.plotting import Axis
from wideberth_papers.running import JOURNAL, run
from wideberth_papers.shapes import ADULT, ATO, SAL
from wideberth_papers.sources import choose
from wideberth_papers.study import (
    SCALE,
    Figure,
    Plan,
    Setting,
    Step,
    Study,
    Verdict,
    graded,
)
from wideberth_papers.wang2013.claims import Pair, Tally, judge_orders


class Toy:
    """A study of doubling, which counts how often each step is run."""

    def __init__(self, steps: int = 4, fails_at: int | None = None) -> None:
        self.runs: list[int] = []
        self.steps, self.fails_at = steps, fails_at

    def measure(self, x: int) -> list[dict[str, object]]:
        if x == self.fails_at:
            raise KeyboardInterrupt
        self.runs.append(x)
        return [{"x": x, "y": 2 * x, "who": who, "none": None} for who in ("a", "b")]

    def plan(self, setting: Setting) -> Plan:
        steps = [Step(f"x = {x}", lambda x=x: self.measure(x)) for x in range(self.steps)]
        figure = Figure(
            name="figure-1",
            title="Figure 1: doubling",
            claim="Twice a number is more than it.",
            select=lambda rows: [row for row in rows if row["who"] == "a"],
            judge=lambda rows: Verdict(
                "confirmed" if all(r["y"] > r["x"] for r in rows) else "contradicted",
                f"{len(rows)} numbers",
                next((f"{r['x']}" for r in rows if r["y"] <= r["x"]), None),
            ),
            draw=lambda rows: plotting.lines(
                rows, Axis("x", "x"), Axis("y", "y"), "who", order=["a"], limit=(3, "three")
            ),
            note="Zero is a number.",
        )
        table = replace(figure, name="table-1", title="Table 1: the same", draw=None)
        return Plan(None, steps, [figure, table])

    @property
    def study(self) -> Study:
        return Study(name="toy", paper="Nobody: Doubling.", about="Doubling.", plan=self.plan)


def test_a_study_is_run_and_judged_by_its_rows(tmp_path: Path) -> None:
    outcome = run(Toy().study, Setting(), tmp_path)
    assert [len(shown.rows) for shown in outcome.shown] == [4, 4]
    assert outcome.shown[0].verdict == Verdict("contradicted", "4 numbers", "0")


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    stopped = Toy(fails_at=2)
    with pytest.raises(KeyboardInterrupt):
        run(stopped.study, Setting(), tmp_path)
    again = Toy()
    outcome = run(again.study, Setting(), tmp_path)
    assert (stopped.runs, again.runs) == ([0, 1], [2, 3])
    whole = run(Toy().study, Setting(), tmp_path / "other")
    assert [s.rows for s in outcome.shown] == [s.rows for s in whole.shown]


def test_a_line_cut_off_is_measured_again(tmp_path: Path) -> None:
    run(Toy().study, Setting(), tmp_path)
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes()[:-9])
    again = Toy()
    run(again.study, Setting(), tmp_path)
    assert again.runs == [3]
    assert [json.loads(line) for line in path.read_text().splitlines()][-1]["step"] == "x = 3"


def test_other_settings_are_not_mixed(tmp_path: Path) -> None:
    run(Toy().study, Setting(), tmp_path)
    with pytest.raises(wb.OutputError, match="other settings"):
        run(Toy().study, Setting(seed=1), tmp_path)
    second = Toy()
    run(second.study, Setting(seed=1), tmp_path, force=True)
    assert second.runs == [0, 1, 2, 3]


@pytest.mark.parametrize("force", [False, True])
def test_two_runs_do_not_write_one_journal(tmp_path: Path, force: bool) -> None:
    path = tmp_path / JOURNAL
    with Journal(path, {"a": 1}) as journal:
        journal.keep("first", [{"x": 1}], 0)
        with path.open("ab") as half:
            half.write(b'{"step": "sec')  # the first run is about to write the rest of it
        before = path.read_bytes()
        with pytest.raises(wb.OutputError, match="another run"):
            Journal(path, {"a": 1}, force=force)
        assert path.read_bytes() == before
    with Journal(path, {"a": 1}, force=force) as again:
        assert set(again.done) == (set() if force else {"first"})


@pytest.mark.parametrize("damage", [b"", b"no journal\n", b"[]\n", b"\xff\n"])
def test_what_is_no_journal_is_left_alone(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / JOURNAL
    path.write_bytes(damage)
    if not damage:  # the run was killed before it wrote anything
        Journal(path, {}).__exit__(None, None, None)
        return
    with pytest.raises(wb.OutputError, match="other settings"):
        Journal(path, {})
    assert path.read_bytes() == damage


def test_a_damaged_line_ends_what_is_known(tmp_path: Path) -> None:
    run(Toy().study, Setting(), tmp_path)
    path = tmp_path / JOURNAL
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"step": "x = 1"}\n', *lines[3:]]))
    again = Toy()
    run(again.study, Setting(), tmp_path)
    assert again.runs == [1, 2, 3]


def test_a_figure_without_rows_has_no_files(tmp_path: Path) -> None:
    outcome = run(Toy().study, Setting(), tmp_path / "toy")
    figure = replace(outcome.shown[0].figure, select=lambda rows: [])
    nothing = replace(outcome.shown[0], figure=figure, rows=[])
    page.write(replace(outcome, shown=[nothing]), tmp_path, "wideberth reproduce toy")
    assert "Nothing was measured." in (tmp_path / "toy.md").read_text()
    assert {path.name for path in (tmp_path / "toy").iterdir()} == {JOURNAL}


def test_a_claim_of_ours_is_not_the_papers(tmp_path: Path) -> None:
    outcome = run(Toy().study, Setting(), tmp_path / "toy")
    ours = replace(outcome.shown[0], figure=replace(outcome.shown[0].figure, ours=True))
    page.write(replace(outcome, shown=[ours]), tmp_path, "wideberth reproduce toy")
    text = (tmp_path / "toy.md").read_text()
    assert "**Our claim:** Twice" in text
    assert "The paper" not in text


def test_pages_of_others_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "deltal").mkdir()
    Journal(tmp_path / "deltal" / JOURNAL, {}).__exit__(None, None, None)
    (tmp_path / "li2008.md").write_text("mine")
    with pytest.raises(wb.OutputError, match=r"li2008\.md exists"):
        wb.reproduce("all", output=tmp_path, rows=300)
    assert (tmp_path / "li2008.md").read_text() == "mine"


def test_progress_tells_each_step(tmp_path: Path) -> None:
    told: list[tuple[object, ...]] = []
    run(Toy(2).study, Setting(), tmp_path, progress=lambda *what: told.append(what))
    assert told == [("toy", "x = 0", 0, 2), ("toy", "x = 1", 1, 2), ("toy", "", 2, 2)]


def test_numbers_that_json_does_not_know_are_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / JOURNAL, {}) as journal, pytest.raises(ValueError, match="JSON"):
        journal.keep("step", [{"x": float("nan")}], 0)


def test_a_page_shows_claim_verdict_picture_and_table(tmp_path: Path) -> None:
    outcome = run(Toy().study, Setting(), tmp_path / "toy")
    files = page.write(outcome, tmp_path, "wideberth reproduce toy")
    text = (tmp_path / "toy.md").read_text()
    for part in (
        "Twice a number is more than it.",
        "*contradicted*. 4 numbers",
        "**Counterexample:** 0",
        "Zero is a number.",
        "![Figure 1: doubling](toy/figure-1.svg)",
        "`wideberth reproduce toy`",
        "| 3 | 6 | a | – |",
    ):
        assert part in text
    assert {path.name for path in files} == {
        "toy.md", "figure-1.csv", "figure-1.svg", "figure-1.png", "table-1.csv",
    }  # fmt: skip
    assert (tmp_path / "toy/figure-1.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "toy/figure-1.svg").read_text()
    assert pl.read_csv(tmp_path / "toy/figure-1.csv")["y"].to_list() == [0, 2, 4, 6]
    collected = page.summary([outcome], "wideberth reproduce all")
    assert "[Figure 1: doubling](toy.md#figure-1) | contradicted" in collected
    assert '<a id="figure-1"></a>' in text


@pytest.mark.parametrize("log", [False, True])
def test_pictures_can_be_drawn(log: bool) -> None:
    import vl_convert

    rows = [{"x": x, "y": x * x, "who": who, "at": x % 2} for x in (1, 2, 3) for who in "ab"]
    rows.append({"x": 4, "y": None, "who": "a", "at": 0})
    specs = [
        plotting.lines(
            rows, Axis("x", "x", log=log), Axis("y", "y", log=log), "who", order="ab", panels="at"
        ),
        plotting.bars(rows, "x", Axis("y", "y"), "who", order="ab", title_x="x"),
        plotting.table_map(
            rows[:-1], "x", "at", "who", title_x="x", title_y="y", text="y", panels="at",
            colours={"a": "#ffffff", "b": "#000000"},
        ),
    ]  # fmt: skip
    for spec in specs:
        svg = vl_convert.vegalite_to_svg(spec)
        assert "NaN" not in svg


def chosen(given: list[Path], shapes=(SAL, ATO), **asked: object):
    setting = Setting(**{"rows": None, "seed": 7, "given": [str(p) for p in given]} | asked)
    return choose(shapes, setting, make=datasets.sal, made="made up", usual=100)


def test_a_table_is_made_up_unless_one_fits(tmp_path: Path) -> None:
    strange = tmp_path / "strange.csv"
    strange.write_text("a,b\n1,2\n")
    source = chosen([strange])
    assert source.path is None
    assert_frame_equal(source.table, datasets.sal(100, 7))
    assert chosen([strange], rows=50).table.height == 50
    assert "made up (seed 7)" in source.describe()


def test_a_given_table_is_read_with_the_columns_of_its_shape(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    people = datasets.sal(300).rename({"age": "AGE"}).with_columns(note=pl.lit("x"))
    people.write_csv(path)
    source = chosen([path], rows=200)
    assert source.table.columns == list(SAL.columns)
    assert source.table.height == 200
    assert source.table["income"].dtype.is_integer()
    assert source.table.join(datasets.sal(300), on=list(SAL.columns), how="anti").is_empty()
    assert_frame_equal(source.table, chosen([path], rows=200).table)
    assert not chosen([path], rows=200, seed=8).table.equals(source.table)
    assert chosen([path]).table.height == 300


def test_a_folder_is_searched_for_the_first_shape_that_fits(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no table")
    (tmp_path / "b.parquet").write_bytes(b"damaged")
    tax = pl.DataFrame(
        {"Gender": ["f"], "age_range": ["1"], "Occ_code": [1], "Partner-status": [1],
         "Region": [1], "Taxable_Income": [list(range(-3, 300))]}
    )  # fmt: skip
    tax.explode("Taxable_Income").write_csv(tmp_path / "c.csv")
    source = chosen([tmp_path])
    assert source.name == "ATO"
    assert sorted(source.table["taxable_income"]) == list(range(1, 300))
    datasets.sal(20).write_parquet(tmp_path / "z.parquet")
    assert chosen([tmp_path]).name == "SAL"


def test_a_table_without_usable_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "adult.csv"
    path.write_text(",".join(ADULT.columns) + "\n" + ",".join("?" * len(ADULT.columns)) + "\n")
    with pytest.raises(wb.TableError, match="has 0 rows that the experiments can use"):
        _ = chosen([path], shapes=[ADULT]).table


@pytest.mark.parametrize(
    ("row", "value", "what"),
    [
        (7, "plenty", "column 'income', row 7: not"),
        (12, "1.5", "column 'income', row 12: not"),
        (3, "20000000", "column 'income', row 3: beyond"),
    ],
)
def test_what_is_no_income_is_named_by_its_row(
    tmp_path: Path, row: int, value: str, what: str
) -> None:
    path = tmp_path / "mine.csv"
    incomes = datasets.sal(300)["income"].cast(pl.String).to_list()
    incomes[row - 1] = value
    datasets.sal(300).with_columns(income=pl.Series(incomes)).write_csv(path)
    with pytest.raises(wb.TableError, match=what):
        _ = chosen([path]).table


def test_whole_numbers_may_be_written_as_decimals(tmp_path: Path) -> None:
    """As a CSV file has them that was written from floats, and as Parquet keeps them."""
    people = datasets.sal(300)
    floats = people.with_columns(pl.col("income").cast(pl.Float64))
    floats.write_csv(tmp_path / "floats.csv")
    floats.write_parquet(tmp_path / "floats.parquet")
    people.write_csv(tmp_path / "whole.csv")
    assert ".0\n" in (tmp_path / "floats.csv").read_text()
    names = ("floats.csv", "floats.parquet", "whole.csv")
    first, *others = (chosen([tmp_path / name]).table for name in names)
    for other in others:
        assert first["income"].to_list() == other["income"].to_list()


def test_the_youngest_come_before_the_oldest(tmp_path: Path) -> None:
    """As texts, "under 20" comes after "70 and over"; codes of ages are left as they are."""
    ages = ["under 20", "20 to 24", "70 and over"] * 100
    tax = pl.DataFrame(
        {"Gender": "f", "age_range": ages, "Occ_code": 1, "Partner_status": 1, "Region": 1,
         "Taxable_Income": range(1, 301)}
    )  # fmt: skip
    for name, table in (("texts", tax), ("codes", tax.with_columns(age_range=pl.lit(11)))):
        table.write_parquet(tmp_path / f"{name}.parquet")
    texts, codes = (chosen([tmp_path / f"{name}.parquet"]).table for name in ("texts", "codes"))
    assert texts["age_range"].unique().sort().to_list() == ["0 to 19", "20 to 24", "70 and over"]
    assert codes["age_range"].unique().to_list() == [11]


def test_a_refusal_names_every_table_that_would_do(tmp_path: Path) -> None:
    strange = tmp_path / "strange.csv"
    strange.write_text("a,b\n1,2\n")
    for paper in ("li2008", "deltal"):
        with pytest.raises(wb.TableError) as refused:
            wb.reproduce(paper, data=strange, output=tmp_path / "out")
        for shape in (SAL, ATO):
            assert f"{shape.name} ({', '.join(shape.columns)})" in (refused.value.hint or "")


def test_of_all_papers_one_must_be_able_to_use_a_table(tmp_path: Path) -> None:
    strange = tmp_path / "strange.csv"
    strange.write_text("a,b\n1,2\n")
    with pytest.raises(wb.TableError, match="no table that was given"):
        wb.reproduce("all", data=strange, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    datasets.sal(300).write_parquet(tmp_path / "sal.parquet")
    taken = tmp_path / "taken"
    (taken / "li2008").mkdir(parents=True)
    (taken / "li2008" / "notes.txt").write_text("mine")
    with (
        pytest.warns(TableWarning, match="can use no table"),
        pytest.raises(wb.OutputError, match="holds other files"),
    ):
        wb.reproduce("all", data=tmp_path, output=taken)


def test_the_names_of_columns_are_read_alone(tmp_path: Path) -> None:
    from wideberth import io

    (tmp_path / "a.csv").write_text("x; y\n1;2\n")
    datasets.sal(3).write_parquet(tmp_path / "a.parquet")
    assert io.column_names(tmp_path / "a.csv") == ["x", "y"]
    assert io.column_names(tmp_path / "a.parquet") == list(SAL.columns)
    with pytest.raises(wb.TableError, match="no file"):
        io.column_names(tmp_path / "none.csv")
    with pytest.raises(wb.TableError, match="directory"):
        io.column_names(tmp_path)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_study_is_planned_without_work(paper: str) -> None:
    study = study_of(paper)
    plan = study.plan(Setting(rows=1000))
    keys = [step.key for step in plan.steps]
    assert len(set(keys)) == len(keys)
    names = [figure.name for figure in plan.figures]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and " " not in name for name in names)
    assert study.name == paper
    if plan.source is not None:
        assert "table" not in vars(plan.source)  # neither read nor made yet


def test_a_strange_paper_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wb.ParameterError, match="no reproduction"):
        wb.reproduce("li2009", output=tmp_path)
    with pytest.raises(wb.ParameterError, match="rows"):
        wb.reproduce("li2008", output=tmp_path, rows=0)


def test_draws_depend_on_the_seed_alone(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    datasets.sal(500).write_parquet(path)
    first, second = (chosen([path], rows=100).table for _ in range(2))
    np.random.default_rng().random()
    assert_frame_equal(first, second)


# ---- the scale of verdicts

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("of", range(1, 9))
def test_the_scale_at_its_borders(of):
    """All, half of them or more, fewer."""
    for holds in range(of + 1):
        fewer = "contradicted" if holds < of / 2 else "confirmed with differences"
        assert graded(holds, of) == ("confirmed" if holds == of else fewer)
    assert graded(0, 0) == "not tested here"
    for wrong in ((-1, of), (of + 1, of)):
        with pytest.raises(ValueError, match="points"):
            graded(*wrong)


def test_judges_agree_where_a_claim_holds_in_half_of_the_points():
    """Whatever the paper, half is a difference, and less a contradiction."""
    forms = {ANONYMITY: (3, 3), ENTROPY: (4, 9), RECURSIVE: (4, 9)}

    def used(field, by_form):
        return [
            {"principle": form, "at": at, "rows": 1_000, field: value}
            for form, values in by_form.items()
            for at, value in enumerate(values, 2)
        ]

    def orders(*gains):
        known = {"alphabetical": 1.0, "random_mean": 1.0, "random_least": 1.0, "random_most": 1.1}
        return [
            {"n": 5_000, "l": ell, "mbf": 1.0, "mbf_semantic": gain, **known}
            for ell, gain in enumerate(gains, 2)
        ]

    half = [
        judge_heights(used("height", forms)),
        judge_discernibility(used("discernibility", forms | {ENTROPY: (4, 90)})),
        judge_orders(orders(1.05, 1.3)),
    ]
    assert {verdict.word for verdict in half} == {"confirmed with differences"}
    less = [
        judge_heights(used("height", forms | {ENTROPY: (9, 9)})),
        judge_discernibility(used("discernibility", forms | {ENTROPY: (40, 90)})),
        judge_orders(orders(1.3, 1.3)),
    ]
    assert {verdict.word for verdict in less} == {"contradicted"}
    pairs = [Pair(n, 2, 1.0, 2.0 - (n % 2)) for n in range(4)]
    assert Tally.of(pairs, 0.01).word == "confirmed with differences"
    assert Tally.of(pairs[1:], 0.01).word == "contradicted"


def test_a_trend_is_one_if_three_quarters_of_all_pairs_are_in_order():
    border, below = (1, 8, 2, 3, 4, 5, 7, 6), (1, 8, 2, 3, 4, 7, 5, 6)  # 21 and 20 of 28 pairs
    points = [[(x, float(y)) for x, y in enumerate(ys)] for ys in (border, below)]
    assert trends.share_in_order(points[0], slack=0) == 0.75
    assert [trends.trend(some, "It", slack=0).state for some in points] == ["differs", "fails"]


def test_the_page_states_the_scale():
    text = " ".join((DOCS / "reproduction.md").read_text(encoding="utf-8").split())
    for word, meaning in SCALE.items():
        assert f"*{word}*: {meaning}" in text


@pytest.mark.parametrize("name", [*PAPERS, "ato/li2008"])
def test_the_verdicts_that_are_published_follow_from_what_was_measured(name):
    """Every judge, asked about the rows that lie beside the pages, says what the pages say."""
    page = (DOCS / "reproduction" / f"{name}.md").read_text(encoding="utf-8")
    summary = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    study = study_of(name.rpartition("/")[2])
    judged = 0
    for figure in study.plan(Setting()).figures:
        path = DOCS / "reproduction" / name / f"{figure.name}.csv"
        if not path.exists():
            continue
        rows = pl.read_csv(path, infer_schema_length=None).rows(named=True)
        verdict, judged = figure.judge(rows), judged + 1
        section = page.split(f'<a id="{figure.name}"></a>')[1].split('<a id="')[0]
        assert f"**Here:** *{verdict.word}*." in section
        assert ("**Counterexample:**" in section) == (verdict.word == "contradicted")
        assert figure.claim in section
        if "/" not in name:
            line = f"[{figure.title}](reproduction/{name}.md#{figure.name}) | "
            assert line + ("our own claim: " if figure.ours else "") + verdict.word in summary
    assert judged >= 7
