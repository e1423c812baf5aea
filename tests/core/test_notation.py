"""Numbers and dates as people write them: read exactly where confirmed, asked about elsewhere."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from wideberth import io
from wideberth.core.questions import column_question, value_remarks
from wideberth.errors import ParameterError, PolicyError, TableError
from wideberth.io import ReadOptions
from wideberth.policy.guesses import guess_columns
from wideberth.policy.policy import Policy
from wideberth.policy.proposal import proposed_reading, reading_remarks
from wideberth.policy.strays import non_person_remarks

#: Example, mark of thousands, mark of decimals, what stands before and behind.
STYLES = [
    ("1234,56", "", ",", "", ""),
    ("1.234,56", ".", ",", "", ""),
    ("1,234.56", ",", ".", "", ""),
    ("1 234,56", "\u202f", ",", "", ""),
    ("1 234,56", "\u00a0", ",", "", ""),
    ("1'234.56", "\u2019", ".", "", ""),
    ("$1,234.56", ",", ".", "$", ""),
    ("1.234,56 €", ".", ",", "", " €"),
    ("CHF 1'234.56", "'", ".", "CHF ", ""),
    ("12,5 %", "", ",", "", " %"),
]


def written(number: Fraction, places: int, style: tuple[str, ...]) -> str:
    """Write a number slowly, digit by digit: the oracle."""
    _, group, decimal, before, behind = style
    scaled = abs(number) * 10**places
    assert scaled.denominator == 1
    digits = str(scaled.numerator).rjust(places + 1, "0")
    whole, rest = (digits[:-places], digits[-places:]) if places else (digits, "")
    parts = []
    while len(whole) > 3 and group:
        whole, parts = whole[:-3], [whole[-3:], *parts]
    text = group.join([whole, *parts]) + (decimal + rest if places else "")
    return before + ("-" if number < 0 else "") + text + behind


@given(
    st.lists(st.integers(-(10**20), 10**20), min_size=1, max_size=8),
    st.integers(0, 6),
    st.sampled_from(STYLES),
)
def test_numbers_in_any_notation_are_read_exactly(
    units: list[int], places: int, style: tuple[str, ...]
) -> None:
    numbers = [Fraction(unit, 10**places) for unit in units]
    texts = [written(number, places, style) for number in numbers]
    frame = pl.DataFrame({"pay": [*texts, None]})
    read = io.in_formats(frame, ReadOptions(formats={"pay": style[0]}))["pay"]
    values = [Fraction(text) for text in read.cast(pl.String).drop_nulls()]
    assert values == numbers
    assert read[-1] is None
    ways = column_question(frame["pay"])
    if style[0] in io.notations(pl.Series(texts)):
        assert ways is not None


@given(st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), min_size=1, max_size=8))
def test_dates_are_read_or_asked_about(days: list[dt.date]) -> None:
    for way in ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"):
        texts = [day.strftime(way) for day in days]
        found = io.notations(pl.Series(texts))
        assert found
        read = {
            one: io.in_formats(pl.DataFrame({"d": texts}), ReadOptions(formats={"d": one}))
            for one in found
        }
        assert days in [frame["d"].to_list() for frame in read.values()]
        # A doubt remains if and only if days and months can change places.
        swapped = all(day.day <= 12 for day in days) and any(day.day != day.month for day in days)
        assert (len(found) > 1) == swapped


@pytest.mark.parametrize(
    ("values", "ways"),
    [
        (["77158,97", "12,5"], ["1234,56"]),
        (["77,158"], ["1234,56", "1,234.56"]),
        (["1.234", "950"], ["1234.56", "1.234,56"]),
        (["1.234", "0.5"], []),
        (["1.234.567"], ["1.234,56"]),
        (["77158 €"], ["1234 €"]),
        (["12 %", "7%"], ["1234 %"]),
        (["1 234,5"], ["1 234,56"]),
        (["2013-05-31 14:02:11"], ["%Y-%m-%d %H:%M:%S"]),
        (["2013-05-31T14:02:11"], ["%Y-%m-%dT%H:%M:%S"]),
        (["2013-05-31 14:02+02"], []),
        (["5/31/2013 3:05 PM", "6/1/2013 12:00 AM"], ["%m/%d/%Y %I:%M %p"]),
        (["5/31/2013", "6/1/2013"], ["%m/%d/%Y"]),
        (["31.5.1990", "1.12.1990"], ["%d.%m.%Y"]),
        (["2013-5-12"], ["%Y-%m-%d"]),
        (["2013.05.31"], ["%Y.%m.%d"]),
        (["17-May-1979", "1-JUN-1980"], ["%d-%b-%Y"]),
        (["17MAY1979"], ["%d%b%Y"]),
        (["May 17, 1979", "September 3, 1980"], ["%b %d, %Y"]),
        (["17 people 1979"], []),
        (["E 10 1979"], []),
        (["31.05.2013"], []),
        (["01234", "99999"], []),
        (["P12", "P13"], []),
        (["5 €", "5 $"], []),
        (["1234.5", "7"], []),
    ],
)
def test_notations_are_told_by_all_values(values: list[str], ways: list[str]) -> None:
    assert io.notations(pl.Series(values)) == ways


@pytest.mark.parametrize(
    ("mark", "months"),
    [
        ("{0} {1} {2}", "January February March April May June July August September October"),
        ("{0}. {1} {2}", "Januar Februar März April Mai Juni Juli August September Oktober"),
        ("{0}-{1}-{2}", "janv. févr. mars avr. mai juin juil. août sept. oct."),
        ("{0} de {1} de {2}", "enero FEBRERO marzo abril mayo junio julio agosto septiembre oct"),
    ],
)
def test_names_of_months_are_read_in_four_languages(mark: str, months: str) -> None:
    names = [*months.split(), "nov", "dec"]
    days = [dt.date(1950 + i, i + 1, 2 * i + 1) for i in range(12)]
    texts = [mark.format(day.day, name, day.year) for day, name in zip(days, names, strict=True)]
    (way,) = io.notations(pl.Series(texts))
    read = io.in_formats(pl.DataFrame({"d": texts}), ReadOptions(formats={"d": way}))["d"]
    assert read.to_list() == days


def test_years_of_two_digits_are_read_within_a_window() -> None:
    now = dt.date.today().year
    last = f"({now - 99}-{now})"
    in_doubt = io.notations(pl.Series(["05/31/13", "06/30/12"]))
    assert in_doubt == [f"%m/%d/%y {last}", "%m/%d/%y (1900-1999)"]
    old = io.notations(pl.Series(["05/31/61"]))
    assert old == [f"%m/%d/%y {last}", "%m/%d/%y (1969-2068)"]
    assert io.notations(pl.Series(["17-May-79"])) == [f"%d-%b-%y {last}"]  # all say 1979
    frame = pl.DataFrame({"d": ["31.5.61", "29.2.60", "1.1.29", "1.1.30"]})
    read = io.in_formats(frame, ReadOptions(formats={"d": "%d.%m.%y (1930-2029)"}))["d"]
    assert [day.year for day in read] == [1961, 1960, 2029, 1930]
    table = pl.DataFrame({"born": [f"0{1 + i % 9}/{i + 13}/61" for i in range(15)], "ill": "a"})
    asked: dict[str, Any] = {"quasi": "born", "sensitive": "ill", "principles": "k-anonymity:k=2"}
    with pytest.raises(wb.errors.UndecidedError, match=r"2 ways.*1969-2068"):
        wb.anonymize(table, **asked)


def test_dates_with_short_days_and_months_are_dates() -> None:
    texts = [f"{1 + i % 28}.{1 + i % 12}.{1950 + i}" for i in range(40)]
    table = pl.DataFrame({"born": texts, "ill": [str(i % 5) for i in range(40)]})
    formats = proposed_reading(table, ReadOptions()).formats
    assert formats == {"born": "%d.%m.%Y"}
    read = io.in_formats(table, ReadOptions(formats=formats))
    made = wb.anonymize(read, quasi="born", sensitive="ill", principles="k-anonymity:k=5")
    assert made.table["born"].str.contains(r"^\d{4}-\d\d-\d\d\.\.\d{4}-\d\d-\d\d$").all()


@pytest.mark.parametrize("texts", [["14:02", "09:05"], ["14:02:11"], ["3:05 PM", "11:10 am"]])
@pytest.mark.parametrize("made", [pl.Series, lambda texts: pl.Series([dt.time(14, 2)])])
def test_times_of_the_day_are_remarked_on(texts: list[str], made: Any) -> None:
    seen = made(texts).alias("seen")
    table = pl.DataFrame({"seen": seen.gather([0] * 8), "ill": list("abcdefgh")})
    said = "seen looks like times of the day, which are text here"
    asked: dict[str, Any] = {"quasi": "seen", "sensitive": "ill", "principles": "k-anonymity:k=2"}
    notes = reading_remarks(table, ReadOptions(), proposed_reading(table, ReadOptions()))
    for found in (
        notes,
        wb.anonymize(table, **asked).manifest["warnings"],
        *([wb.check(table, **asked).notes] if seen.dtype == pl.String else []),
    ):
        assert any(note.startswith(said) for note in found)
    assert not value_remarks("score", pl.Series(["14:02", "9:71"]))


@pytest.mark.parametrize(
    ("write", "form"),
    [
        ("({},200.00)", "stand in parentheses"),
        ("($12{}.50)", "stand in parentheses"),
        ("{}158.97-", "have a minus behind them"),
        ("{}k", "end in k or M"),
    ],
)
def test_numbers_that_no_notation_reads_are_noticed(write: str, form: str) -> None:
    pay = [*(write.format(1 + i % 9) for i in range(20)), "$7.50" if "$" in write else "7"]
    table = pl.DataFrame({"zip": ["1"] * 21, "pay": pay})
    said = f"column 'pay' looks like numbers, and is text, for some of them {form}"
    notes = reading_remarks(table, ReadOptions(), proposed_reading(table, ReadOptions()))
    assert any(note.startswith(said) for note in notes)
    with pytest.raises(ParameterError, match=form):
        wb.audit(table, quasi="zip", sensitive="pay")
    assert wb.audit(table, quasi="zip", sensitive="pay", types={"pay": "text"}).rows == 21
    codes = pl.DataFrame({"code": [*pay, "Ann"]})
    assert not reading_remarks(codes, ReadOptions(), proposed_reading(codes, ReadOptions()))


def test_a_moment_keeps_its_time() -> None:
    frame = pl.DataFrame({"t": ["2013-05-31T14:02:11.25", "2013-05-31T00:00:00"]})
    options = ReadOptions(formats={"t": "%Y-%m-%dT%H:%M:%S%.f"})
    read = io.in_formats(frame, options)["t"].to_list()
    assert read == [dt.datetime(2013, 5, 31, 14, 2, 11, 250_000), dt.datetime(2013, 5, 31)]


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("1,234", "two ways"),
        ("abc", "not a way"),
        ("1.2.3", "not a way"),
        ("%d/%m", "year, month and day"),
        ("%d/%m/%y", "which century"),
        ("%d/%m/%y (1930-2030)", "hundred years"),
        ("%d/%m/%Y (1930-2029)", "year, month and day"),
        ("%d/%m/%Y %I:%M", "year, month and day"),
        ("%d/%j/%Y", "not a way"),
        (7, "must be text"),
    ],
)
def test_policies_refuse_what_is_no_notation(way: Any, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        Policy.of({"roles": {"sensitive": ["pay"]}, "formats": {"pay": way}})
    with pytest.raises(PolicyError, match="has no role"):
        Policy.of({"roles": {"sensitive": ["pay"]}, "formats": {"wage": "1.234,56"}})


def test_a_cell_in_another_notation_is_refused_with_its_row() -> None:
    frame = pl.DataFrame({"pay": ["1,5", None, "1.5"]})
    with pytest.raises(TableError, match=r"column 'pay', row 3: not written as 1234,56"):
        io.in_formats(frame, ReadOptions(formats={"pay": "1234,56"}))
    long = pl.DataFrame({"pay": ["1,5", "1" * 38 + ",25"]})
    with pytest.raises(TableError, match=r"row 1: .* more than 38 digits"):
        io.in_formats(long, ReadOptions(formats={"pay": "1234,56"}))


def test_labels_and_plain_numbers_stay_as_they_are() -> None:
    """A release has points and labels, whatever the notation of its original."""
    for cells in (["20..30", "40"], ["234.567", "234.567..300.000"], ["7", "12"], ["*", "*"]):
        frame = pl.DataFrame({"pay": cells})
        read = io.in_formats(frame, ReadOptions(formats={"pay": "1.234,56"}))
        assert read["pay"].to_list() == cells
    ours = pl.DataFrame({"pay": ["234.567", "300.000"]})
    read = io.in_formats(ours, ReadOptions(formats={"pay": "1.234,56"}, made=True))
    assert [str(cell) for cell in read["pay"]] == ["234.567", "300.000"]
    thousands = io.in_formats(ours, ReadOptions(formats={"pay": "1.234,56"}))
    assert thousands["pay"].to_list() == [234_567, 300_000]


PEOPLE = {"zip": ["1"] * 3 + ["2"] * 3, "pay": ["10,5", "10,6", "90,1", "20,2", "50,0", "80,8"]}
POLICY = {
    "roles": {"quasi": ["zip"], "sensitive": ["pay"]},
    "formats": {"pay": "1234,56"},
    "principle": [{"name": "epsilon-m", "epsilon": 1, "m": 2}],
}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_dataframes_are_read_by_a_policy(make: Any) -> None:
    points = pl.DataFrame(PEOPLE).with_columns(pl.col("pay").str.replace(",", ".").cast(pl.Float64))
    policy = Policy.of(POLICY)
    plain = Policy.of({key: value for key, value in POLICY.items() if key != "formats"})
    table = make(PEOPLE)
    assert wb.check(table, policy=policy).to_dict() == wb.check(points, policy=plain).to_dict()
    advice, expected = wb.advise(table, policy=policy), wb.advise(points, policy=plain)
    assert advice.max_m(epsilon=10) == expected.max_m(epsilon=10)
    release = wb.anonymize(table, policy=policy, principles="distinct-l:l=3", seed=1)
    again, _ = io.adopt(release.table)
    assert sorted(map(float, again["pay"])) == sorted(points["pay"])
    audit = wb.audit(release.table, original=table, policy=policy, epsilon=1, swaps=False)
    assert audit.rows == 6
    assert wb.measure(release.table, original=table, policy=policy).suppressed == 0


def test_numeric_demands_stop_at_text() -> None:
    table = pl.DataFrame(PEOPLE)
    known: dict[str, Any] = {"quasi": "zip", "sensitive": "pay"}
    for principle in (
        "epsilon-m:epsilon=1,m=2",
        "delta-l:delta=1,l=2",
        "variance:t=1",
        "k-e:k=2,e=1",
    ):
        with pytest.raises(ParameterError, match="'pay' looks like numbers written as 1234,56"):
            wb.check(table, **known, principles=principle)
    with pytest.raises(ParameterError, match="1234,56"):
        wb.anonymize(table, **known, principles="epsilon-m:epsilon=1,m=2")
    for epsilon in (None, 1000, {"pay": 1000}):
        with pytest.raises(ParameterError, match="1234,56"):
            wb.audit(table, **known, epsilon=epsilon)
    with pytest.raises(ParameterError, match="1234,56"):
        wb.report(table, **known, epsilon=1000)
    with pytest.raises(ParameterError, match=r"epsilon needs numbers .* 'pay'"):
        wb.audit(table, **known, epsilon=1000, types={"pay": "text"})
    with pytest.raises(ParameterError, match="'wage', which is no sensitive"):
        wb.audit(table, **known, epsilon={"wage": 1000}, types={"pay": "text"})
    (note,) = wb.check(table, **known, principles="distinct-l:l=2").notes
    assert "1234,56" in note


@pytest.mark.parametrize("memory", [None, "600MB"])
def test_distances_that_depend_on_the_reading_stop_at_text(
    tmp_path: Path, memory: str | None
) -> None:
    """As text, 10,1 and 10,2 would be as far apart as any two values: a release would seem safe."""
    near = ["10,1", "10,2", "10,3", "90,1", "90,2", "90,3"]
    points = [cell.replace(",", ".") for cell in near]
    demand = "dissimilarity:epsilon=0.5,delta=0.5,k=2"
    known: dict[str, Any] = {"quasi": "zip", "sensitive": "pay"}
    slip = [*map(str, range(100, 139)), "about 7"]
    paths = {name: tmp_path / f"{name}.csv" for name in ("points", "commas", "slip")}
    for path, pay in zip(paths.values(), (points, near, slip), strict=True):
        zips = [str(2 * row // len(pay)) for row in range(len(pay))]
        pl.DataFrame({"zip": zips, "pay": pay}).write_csv(path)
    if memory is not None:
        pytest.importorskip("duckdb")
        known["memory"] = memory
    assert not wb.check(paths["points"], **known, principles=demand).satisfied
    for name, said in (("commas", "1234,56"), ("slip", "save 1")):
        for asked in (demand, "t-closeness:t=0.2,distance=ordered"):
            with pytest.raises(ParameterError, match=f"by their difference; .*{said}"):
                wb.check(paths[name], **known, principles=asked)
    with pytest.raises(ParameterError, match="1234,56"):
        wb.anonymize(io.read(paths["commas"]), quasi="zip", sensitive="pay", principles=demand)
    # A decision, and a distance that does not depend on it.
    assert wb.check(paths["commas"], **known, principles=demand, types={"pay": "text"}).satisfied
    assert wb.check(paths["commas"], **known, principles=f"{demand},distance=discrete").satisfied
    # Equality, which a column of text gets, asks for no less than the order of numbers does.
    for t in (0.2, 0.5, 0.6, 1):
        asked = f"t-closeness:t={t}"
        texts, numbers = (
            wb.check(paths[name], **known, principles=asked).satisfied
            for name in ("commas", "points")
        )
        assert numbers or not texts


def test_points_before_three_digits_everywhere_are_asked_about() -> None:
    table = pl.DataFrame({"zip": ["1"] * 3, "pay": ["1.234", "12.500", "950"]})
    known: dict[str, Any] = {
        "quasi": "zip",
        "sensitive": "pay",
        "principles": "epsilon-m:epsilon=1,m=1",
    }
    with pytest.raises(ParameterError, match=r"2 ways: as 1234.56 or as 1.234,56"):
        wb.check(table, **known)
    assert wb.check(table, **known, types={"pay": "float"}).satisfied  # a decision
    (guess,) = guess_columns(table[["pay"]])
    assert (guess.type, guess.ways) == ("text", ("1234.56", "1.234,56"))


def test_a_few_slips_among_numbers_stop_an_audit() -> None:
    pay = [*map(str, range(100, 140)), "about 7"]
    table = pl.DataFrame({"zip": ["1"] * 41, "pay": pay})
    with pytest.raises(ParameterError, match=r"numbers save 1 .see row 41") as caught:
        wb.audit(table, quasi="zip", sensitive="pay")
    assert "about" not in str(caught.value)
    assert wb.audit(table, quasi="zip", sensitive="pay", types={"pay": "text"}).rows == 41


@pytest.mark.parametrize(
    ("write", "nouns"),
    [
        ("{0},{1:02}", "numbers written as 1234,56"),
        ("${0}.{1:02}", "numbers written as $1234.56"),
        ("{2:02}/{3:02}/{4}", "dates written as %d/%m/%Y"),
        ("{4}-{3:02}-{2:02}", "dates"),
        ("{2:02}.{3:02}.{4}", "dates"),
    ],
)
def test_a_few_slips_among_notations_and_dates_are_counted(write: str, nouns: str) -> None:
    cells = [write.format(1000 + 7 * i, i % 90 + 10, 1 + i % 28, 1 + i % 12, 1950 + i % 50)
             for i in range(98)]  # fmt: skip
    slips = ["about 7", "Ann"]
    table = pl.DataFrame({"zip": ["1"] * 100, "pay": [*cells, *slips]})
    said = reading_remarks(table, ReadOptions(), proposed_reading(table, ReadOptions()))
    assert any(f"'pay' is text, but all its values are {nouns} save 2" in one for one in said)
    assert not any(slip in one for one in said for slip in slips)
    (_, guess) = guess_columns(table)
    assert f"ALL BUT 2 ARE {nouns.partition(' ')[0].upper()}" in guess.why
    with pytest.raises(ParameterError, match=r"save 2 .see row 99"):
        wb.audit(table, quasi="zip", sensitive="pay")
    beside = table.with_columns(pay=pl.Series([*cells, "n.a.", "Ann"]))
    said = reading_remarks(beside, ReadOptions(), proposed_reading(beside, ReadOptions()))
    assert any(f"{nouns} save 1" in one for one in said)


@pytest.mark.parametrize("write", ["{}-12", "E{}.9", "{} and more", "{}..2000", "1/{}"])
def test_texts_that_are_neither_numbers_nor_dates_have_no_slips(write: str) -> None:
    texts = [write.format(1000 + i) for i in range(98)]
    table = pl.DataFrame({"note": [*texts, "about 7", "Ann"]})
    assert reading_remarks(table, ReadOptions(), proposed_reading(table, ReadOptions())) == []


def test_files_in_parts_give_the_same(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    born = [f"0{i + 1}/20/2013" for i in range(6)]
    table = pl.DataFrame({**PEOPLE, "born": born})
    roles = {"quasi": ["zip", "born"], "sensitive": ["pay"]}
    formats = {"pay": "1234,56", "born": "%m/%d/%Y"}
    policy = Policy.of({**POLICY, "roles": roles, "formats": formats})
    table.write_csv(tmp_path / "t.csv", separator=";")
    table.write_parquet(tmp_path / "t.parquet")
    within = wb.check(table, policy=policy).to_dict()
    for name in ("t.csv", "t.parquet"):
        found = wb.check(tmp_path / name, policy=policy, memory="512MB").to_dict()
        for one, other in zip(found["principles"], within["principles"], strict=True):
            for group, known in zip(one["worst"], other["worst"], strict=True):
                assert group.pop("number") is None  # there is no table of groups by number
                group["number"] = known["number"]
        assert found == within
    advice = wb.advise(tmp_path / "t.csv", policy=policy, memory="512MB")
    assert advice.max_m(epsilon=10) == wb.advise(table, policy=policy).max_m(epsilon=10)
    two = {"principles": "distinct-l:l=2", "seed": 1, "policy": policy}
    parts = wb.anonymize(tmp_path / "t.csv", memory="512MB", **two)
    parts.save(tmp_path / "parts.csv")
    wb.anonymize(tmp_path / "t.csv", **two).save(tmp_path / "whole.csv")
    texts = [sorted((tmp_path / name).read_text().split()) for name in ("parts.csv", "whole.csv")]
    assert texts[0] == texts[1]
    odd = Policy.of({**POLICY, "roles": roles, "formats": {"pay": "1234.56"}})
    with pytest.raises(TableError, match=r"row 1: not written as 1234.56, which"):
        wb.check(tmp_path / "t.csv", policy=odd, memory="512MB")


def test_a_release_beside_its_manifest_has_points(tmp_path: Path) -> None:
    """Its 234.567 is no number of thousands, though the original's would be."""
    pay = [f"{100 + i},{500 + i}" for i in range(6)]
    original = pl.DataFrame({"zip": ["1"] * 3 + ["2"] * 3, "pay": pay})
    policy = Policy.of({**POLICY, "formats": {"pay": "1.234,56"}})
    release = wb.anonymize(original, policy=policy, principles="distinct-l:l=3")
    release.save(path := tmp_path / "release.csv")
    assert "100.5" in path.read_text()
    for memory in (None, "512MB"):
        result = wb.check(path, policy=policy, principles="epsilon-m:epsilon=50,m=1", memory=memory)
        assert result.satisfied
    near = wb.check(path, policy=policy, principles="epsilon-m:epsilon=50,m=2")
    assert not near.satisfied  # which 100,500 and 101,501 would be
    assert wb.audit(path, original=original, policy=policy, swaps=False).suppressed == 0


# --- what is noticed ---------------------------------------------------------------------


def test_cells_that_look_missing_are_listed() -> None:
    frame = pl.DataFrame(
        {"pay": ["1,5", "N/A", "#N/A", "2,5"], "test": ["-", "+", "None", "-"], "age": list("1234")}
    )
    better = proposed_reading(frame, ReadOptions())
    assert set(better.missing) == {"?", "", "NA", "N/A", "#N/A"}  # but "-" may be a result
    assert better.formats == {"pay": "1234,56"}
    notes = reading_remarks(frame, ReadOptions(), better)
    assert '"N/A" is proposed as missing: 1 in pay' in notes
    assert any(note.startswith('test holds "-", "None", which counts as a value') for note in notes)


@pytest.mark.parametrize(
    ("columns", "total"),
    [
        ({"id": ["a", "b", "Total"], "pay": ["1", "2", "9"]}, True),
        ({"id": ["a", "b", "Summe:"], "pay": ["1", "2", "3"]}, True),
        ({"id": [*"abcdefgh", None], "pay": ["1.5"] * 8 + ["12.0"]}, True),
        ({"id": [*"abcdefgh", None], "pay": [*range(1, 9), 36]}, True),
        ({"id": [*"abcdefgh", None], "pay": [*range(1, 9), 37]}, False),
        ({"id": ["a", "b", None], "pay": [1, 2, 3]}, False),  # by chance, perhaps
        ({"id": ["a", "b", None], "pay": [1, 2, 4]}, False),
        ({"id": ["a", None, None], "pay": [1, 2, 3]}, False),
        ({"id": ["a", "b", "c"], "pay": [1, 2, 3]}, False),
        ({"kind": ["total", "part", "total"], "pay": [1, 2, 4]}, False),
    ],
)
def test_a_total_is_no_person(columns: dict[str, list[Any]], total: bool) -> None:
    frame = pl.DataFrame(columns)
    assert bool(non_person_remarks(frame)) == total
    if "id" in columns and total:
        result = wb.check(frame, quasi="id", sensitive="pay", principles="k-anonymity:k=1")
        assert non_person_remarks(frame)[0] in result.notes
        asked = {"quasi": "id", "sensitive": "pay", "principles": "k-anonymity:k=1"}
        with pytest.raises(wb.errors.UndecidedError, match="looks like a total") as refusal:
            wb.anonymize(frame, **asked)
        assert "rows_are_people=True" in str(refusal.value.hint)
        made = wb.anonymize(frame, **asked, rows_are_people=True)
        audit = wb.audit(made, original=frame, swaps=False)
        [found] = [one for one in audit.findings if one.name == "total-row"]
        assert found.severity == "medium"
        assert audit.judgement.level != "good"


_PAY = [(f"E{i}", 20 + i % 50, "fm"[i % 2], 1000.0 + i) for i in range(60)]
_ALL = sum(pay for *_, pay in _PAY)
_SOME = sum(pay for *_, pay in _PAY[:30])
_EMPTY = (None, None, None, None)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*_PAY, ("Total", None, None, _ALL), _EMPTY], ["row 61 looks like a total", "1 row is"]),
        (
            [*_PAY, ("Total", None, None, _ALL), ("Source: HR", None, None, None)],
            ["row 61 looks like a total", "the last row (row 62) has one cell only"],
        ),
        (
            [*_PAY[:30], ("Subtotal", None, None, _SOME), *_PAY[30:]],
            ["row 31 looks like a total"],
        ),
        (
            [
                *_PAY[:30],
                ("Zwischensumme:", None, None, _SOME),
                *_PAY[30:],
                ("Summe B", 9, None, 1.0),
            ],
            ["rows 31 and 62 look like totals"],
        ),
        ([*_PAY, ("Average", None, None, _ALL / 60)], ["the last row (row 61) looks like a total"]),
        ([*_PAY, ("Mittelwert", 44.0, "m", 1029.5)], ["the last row (row 61) looks like a total"]),
        ([*_PAY, (None, 44, "f", _ALL), _EMPTY, _EMPTY], ["row 61 looks like a total", "2 rows"]),
        ([*_PAY, ("as of May", None, None, None)], ["the last row (row 61) has one cell only"]),
        ([*_PAY[:30], _EMPTY, *_PAY[30:]], ["1 row is empty in all columns"]),
        # People with such names, or few answers.
        ([*_PAY, ("Sumner", 30, "m", 7.0), ("Media", 31, "f", 9.0)], []),
        ([*_PAY[:30], ("Total", 30, "m", 7.0), *_PAY[30:]], []),
        ([*_PAY, ("Count", 30, "m", 7.0)], []),
        ([*_PAY, ("E60", None, "m", 7.0)], []),
        ([*_PAY, ("E60", 4, None, None)], []),
        ([(f"E{i}", None, "f", None) if i else _PAY[0] for i in range(60)], []),
    ],
)
def test_rows_that_are_no_people_wherever_they_stand(
    tmp_path: Path, rows: list[tuple[Any, ...]], said: list[str]
) -> None:
    frame = pl.DataFrame(
        rows,
        schema={"name": pl.String, "age": pl.Float64, "sex": pl.String, "pay": pl.Float64},
        orient="row",
    )
    frame.write_parquet(path := tmp_path / "pay.parquet")
    notes = " ".join(non_person_remarks(frame))
    assert all(one in notes for one in said)
    assert bool(notes) == bool(said)
    asked: dict[str, Any] = {"quasi": "sex", "principles": "k-anonymity:k=1"}
    large = wb.check(path, **asked, memory="600MB")
    assert [n for n in large.notes if n in notes] == non_person_remarks(frame)
    roles = {"identifier": "name", "insensitive": ["age", "pay"]}
    refused = any("looks like" in one or "one cell" in one for one in said)
    if refused and "Subtotal" in frame["name"]:
        for memory in (None, "600MB"):
            with pytest.raises(wb.errors.UndecidedError, match="row 31 looks like a total"):
                wb.anonymize(path, **asked, **roles, memory=memory)
        made = wb.anonymize(path, **asked, **roles, rows_are_people=True)
        audit = wb.audit(made, original=frame, swaps=False)
        assert "total-row" in {one.name for one in audit.findings}


def test_variants_of_a_quasi_identifier_are_noticed() -> None:
    frame = pl.DataFrame({"sex": ["F", "f", "F ", "M"] * 5, "ill": [str(i % 7) for i in range(20)]})
    known: dict[str, Any] = {"quasi": "sex", "sensitive": "ill", "principles": "k-anonymity:k=2"}
    said = "sex has 3 pairs of values that look the same"
    assert any(note.startswith(said) for note in wb.check(frame, **known).notes)
    assert any(note.startswith(said) for note in wb.anonymize(frame, **known).manifest["warnings"])
    assert any(note.startswith(said) for note in wb.audit(frame, **known).notes)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Report 2013\nage,zip\n1,2\n3,4\n", 1),
        ("Report, 2013\n\nage;zip;pay\n1;2;3\n3;4;5\n", 2),
        ("Report 2013,,\nage,zip,pay\n1,2,3\n3,4,5\n", 1),
        ("age,zip\n1,2\n3,4\n", 0),
        ("note\na word\nanother\n", 0),
        ("age,\n1,2\n3,4\n", 0),
    ],
)
def test_titles_above_the_header(tmp_path: Path, text: str, lines: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    if lines:
        with pytest.raises(TableError, match=f"title above the header\n.*skip_rows = {lines}"):
            io.read(path)
        with pytest.raises(TableError, match="title"):
            list(io.batches(path))
    elif text.startswith("age,\n"):
        with pytest.raises(TableError, match="no name"):
            io.read(path)
        return
    options = ReadOptions(skip_rows=lines)
    read = io.read(path, options)
    assert read.columns[0] in ("age", "note")
    assert pl.concat(io.batches(path, options)).equals(read)


def test_rows_below_a_skipped_title_are_counted_from_the_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Report\nage,zip\n1,2\n3,4,5\n")
    with pytest.raises(TableError, match=r"row 2 of t.csv has 3 fields, the header has 2"):
        io.read(path, ReadOptions(skip_rows=1))
    with pytest.raises(TableError, match="nothing below the 9 lines"):
        io.read(path, ReadOptions(skip_rows=9))


def test_spark_refuses_what_it_would_misread(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from types import SimpleNamespace

    from wideberth.engines.spark.input import read_spark_table, require_no_formats

    frame: Any = SimpleNamespace(dtypes=[("age", "int"), ("pay", "string")])
    require_no_formats(frame, ReadOptions(formats={"age": "1.234,56"}))
    with pytest.raises(TableError, match=r"'pay' holds text.*Spark reads numbers with points"):
        require_no_formats(frame, ReadOptions(formats={"pay": "1.234,56"}))
    nowhere: Any = None
    with pytest.raises(TableError, match="does not skip lines"):
        read_spark_table(nowhere, tmp_path / "t.csv", ReadOptions(skip_rows=1))
