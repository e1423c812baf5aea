"""Tables that ARX, sdcMicro, anjana and anonypy published, audited; NOTE.md tells about them."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import wideberth as wb
from wideberth import io
from wideberth.cli import main
from wideberth.errors import on_command_line

HERE = Path(__file__).parent
EPSILON = 1000  # salaries so near to each other are as good as the same
UNNAMED = "Unnamed: 0"  # as pandas calls a first column without a name


@dataclass(frozen=True)
class Peer:
    """A published table, and what whoever made it knows about it."""

    file: str
    quasi: tuple[str, ...] = ("age", "zip", "sex", "education")
    sensitive: tuple[str, ...] = ("disease", "salary")

    def __str__(self) -> str:
        return self.file


ARX = Peer("arx.csv")
LOCAL = Peer("arx_local.csv")
MEANS = Peer("arx_microaggregated.csv")
SDCMICRO = Peer("sdcmicro.csv", quasi=("age", "zip", "sex"))
ANJANA = Peer("anjana.csv")
DIVERSE = Peer("anjana_diverse.csv")
ANONYPY = Peer("anonypy.csv", sensitive=("disease",))

PEERS = [ARX, LOCAL, MEANS, SDCMICRO, ANJANA, DIVERSE, ANONYPY]
# The labels of these cover the people they stand for. Means do not, and sdcMicro changed diseases
# and salaries too.
GENERALISED = [ARX, LOCAL, ANJANA, DIVERSE, ANONYPY]
ROWS = dict.fromkeys(PEERS, 240) | {ANJANA: 222, DIVERSE: 222}  # anonypy's 180 lines count 240


def each(peers):
    return pytest.mark.parametrize("peer", peers, ids=str)


@cache
def published(peer: Peer) -> pl.DataFrame:
    return io.read(HERE / peer.file)


@cache
def people() -> pl.DataFrame:
    return io.read(HERE / "people.csv")


@cache
def audited(peer: Peer, *, roles: bool, original: bool) -> dict:
    """Audit in Python: the hints of a finding depend on where the audit runs, so keep one kind."""
    return audit(peer, roles=roles, original=original)


def audit(peer: Peer, *, roles: bool, original: bool) -> dict:
    named = {"quasi": list(peer.quasi), "sensitive": list(peer.sensitive)} if roles else {}
    before = people() if original else None
    return wb.audit(published(peer), original=before, **named).to_dict()


@cache
def rows_of(peer: Peer) -> list[dict[str, str | None]]:
    """Read a file in the plainest way; a line that counts people is repeated for each."""
    separator = ";" if peer.file.startswith("arx") else ","
    frame = pl.read_csv(HERE / peer.file, separator=separator, infer_schema=False)
    return [
        {name: None if text == "NA" else text for name, text in row.items()}
        for row in frame.to_dicts()
        for _ in range(int(row.get("count") or 1))
    ]


def sizes_of(peer: Peer) -> list[int]:
    """Count, for each row, the rows that have the same labels."""
    keys = [tuple(row[name] for name in peer.quasi) for row in rows_of(peer)]
    return [keys.count(key) for key in keys]


def covers(label: str | None, value: str) -> bool:
    """Tell whether a label stands for a value: each tool's grammar, one after the other."""
    if label is None or not label.strip("*"):
        return True
    label = label.removeprefix("['").removesuffix("']")
    if found := re.fullmatch(r"([\[\](])(\d+), ?(\d+)([\[\])])", label):
        opening, low, high, closing = found.groups()
        above = int(value) >= int(low) if opening == "[" else int(value) > int(low)
        return above and (int(value) <= int(high) if closing == "]" else int(value) < int(high))
    if found := re.fullmatch(r"(<|>=)(\d+)", label):
        below = int(value) < int(found[2])
        return below if found[1] == "<" else not below
    if found := re.fullmatch(r"(\d+)-(\d+)", label):
        return int(found[1]) <= int(value) <= int(found[2])
    if "*" in label:
        return value.startswith(label.rstrip("*"))
    return value in label.strip("{}").replace(", ", ",").split(",")


@cache
def candidates(peer: Peer) -> list[list[dict[str, str | None]]]:
    """Find, for each person, the published rows that could be theirs."""
    boxes: dict[tuple[str | None, ...], list[dict[str, str | None]]] = {}
    for row in rows_of(peer):
        boxes.setdefault(tuple(row[name] for name in peer.quasi), []).append(row)
    return [
        [row for box, rows in boxes.items() if all(map(covers, box, person)) for row in rows]
        for person in people().select(pl.col(peer.quasi).cast(pl.String)).rows()
    ]


def names(found: dict) -> dict[str, str]:
    return {finding["name"]: finding["severity"] for finding in found["findings"]}


# ---- roles


@each(PEERS)
def test_roles_are_guessed_which_is_said(peer):
    found = audited(peer, roles=False, original=False)
    assert found["guessed"]
    assert any("guessed" in note for note in found["notes"])
    assert set(found["roles"]["sensitive"]) == set(peer.sensitive)
    # A column that is "*" throughout tells nobody from anybody, so it may be left out.
    told = {name for name in peer.quasi if len({row[name] for row in rows_of(peer)}) > 1}
    assert told <= set(found["roles"]["quasi"]) <= set(peer.quasi)


@each(PEERS)
def test_roles_that_are_given_are_not_guessed(peer):
    found = audited(peer, roles=True, original=False)
    assert set(found["reasons"]) <= {"count"}  # anonypy's has no role
    assert found["roles"]["quasi"] == list(peer.quasi)


# ---- whose row is whose


@each(PEERS)
@pytest.mark.parametrize("roles", [False, True], ids=["guessed", "given"])
def test_the_prosecutor_counts_equal_labels(peer, roles):
    sizes = sizes_of(peer)
    found = audited(peer, roles=roles, original=False)
    assert found["rows"] == len(sizes) == ROWS[peer]
    risk = found["identity"]["prosecutor"]
    assert risk["worst"] == 1 / min(sizes)
    assert risk["mean"] == pytest.approx(sum(1 / size for size in sizes) / len(sizes))
    assert risk["above"]["0.5"] == sum(size <= 2 for size in sizes)
    assert found["identity"]["smallest"] == min(sizes)
    assert found["identity"]["uniques"] == sizes.count(1)


@each(GENERALISED)
def test_with_the_original_all_rows_that_cover_a_person_count(peer):
    found = audited(peer, roles=True, original=True)
    risk = found["identity"]["covering"]
    shares = [1 / len(rows) for rows in candidates(peer) if rows]
    assert found["original_rows"] == 240
    assert risk["people"] in (len(shares), 240)  # nobody can be picked out who is not covered
    assert risk["worst"] == max(shares)
    assert risk["mean"] * risk["people"] == pytest.approx(sum(shares))


# ---- what is learnt


def near(a: str | None, b: str | None) -> bool:
    """Tell whether salaries are as near to each other as this module's audits ask for."""
    return abs(int(a or 0) - int(b or 0)) <= EPSILON


@each(PEERS)
def test_a_disease_is_guessed_by_its_share_of_the_group(peer):
    rows = rows_of(peer)
    keys = [tuple(row[name] for name in peer.quasi) for row in rows]
    told = list(zip(keys, (row["disease"] for row in rows), strict=True))
    shares = [told.count(pair) / keys.count(pair[0]) for pair in told]
    known = audited(peer, roles=True, original=False)["attributes"][0]["known"]
    assert known["guess"]["worst"] == max(shares)
    assert known["guess"]["mean"] == pytest.approx(sum(shares) / len(shares))
    assert known["certain"]["people"] == shares.count(1)
    values = [len({disease for k, disease in told if k == key}) for key in keys]
    assert known["background"]["ruled_out"][1]["certain"] == sum(n <= 2 for n in values)


@each(GENERALISED)
def test_a_disease_is_guessed_by_its_share_of_all_rows_that_cover_a_person(peer):
    diseases = people()["disease"].to_list()
    shares = [
        sum(row["disease"] == disease for row in rows) / len(rows)
        for rows, disease in zip(candidates(peer), diseases, strict=True)
        if rows
    ]
    covering = audited(peer, roles=True, original=True)["attributes"][0]["covering"]
    assert covering["guess"]["people"] == len(shares)
    assert covering["guess"]["worst"] == max(shares)
    assert covering["guess"]["mean"] == pytest.approx(sum(shares) / len(shares))


@each([ARX, LOCAL, ANJANA, DIVERSE])
def test_a_salary_is_nearly_known_by_the_share_of_those_near_it(peer):
    rows = rows_of(peer)
    keys = [tuple(row[name] for name in peer.quasi) for row in rows]
    known, covering = [], []
    for key, row in zip(keys, rows, strict=True):
        others = [other for k, other in zip(keys, rows, strict=True) if k == key]
        known.append(sum(near(row["salary"], o["salary"]) for o in others) / len(others))
    for rows, salary in zip(candidates(peer), people()["salary"].to_list(), strict=True):
        if rows:
            covering.append(sum(near(salary, row["salary"]) for row in rows) / len(rows))
    found = wb.audit(
        published(peer),
        original=people(),
        quasi=list(peer.quasi),
        sensitive="salary",
        epsilon=EPSILON,
    ).to_dict()["attributes"][0]
    for measures, shares in ((found["known"], known), (found["covering"], covering)):
        risk = measures["nearness"]["risk"]
        assert risk["worst"] == max(shares)
        assert risk["mean"] == pytest.approx(sum(shares) / len(shares))
        assert risk["above"]["0.5"] == sum(share >= 0.5 for share in shares)


# ---- labels


def unread(found: dict) -> list[str]:
    return [note for note in found["notes"] if "could not be read" in note]


@each(PEERS)
def test_every_label_is_understood(peer):
    assert not unread(audited(peer, roles=True, original=False))


@each([*GENERALISED, SDCMICRO])
def test_every_label_is_understood_with_the_original(peer):
    assert not unread(audited(peer, roles=True, original=True))


def test_means_are_nobodys_age_which_is_said():
    (note,) = unread(audited(MEANS, roles=True, original=True))
    assert "'age'" in note


def test_names_for_several_values_are_not_understood_without_a_hierarchy():
    school = pl.col("education").is_in(["primary", "secondary", "vocational"])
    table = (
        people()
        .drop("name")
        .with_columns(
            age=pl.lit("*"),
            zip=pl.lit("*"),
            education=pl.when(school).then(pl.lit("school")).otherwise(pl.lit("university")),
        )
    )
    given = {"quasi": ["age", "zip", "sex", "education"], "sensitive": "disease"}
    notes = wb.audit(table, original=people(), **given).to_dict()["notes"]
    assert [note for note in notes if "education" in note]


# ---- what is suppressed


@pytest.mark.parametrize(("peer", "rows"), [(ARX, 73), (LOCAL, 5), (MEANS, 6)], ids=str)
def test_rows_of_stars_are_suppressed(peer, rows):
    assert sum(all(row[name] == "*" for name in peer.quasi) for row in rows_of(peer)) == rows
    found = audited(peer, roles=True, original=False)
    (figures,) = (f["figures"] for f in found["findings"] if f["name"] == "starred-rows")
    assert figures == {"rows": rows, "of": 240}


@each([ANJANA, DIVERSE])
def test_rows_that_are_missing_are_suppressed(peer):
    found = audited(peer, roles=True, original=True)
    assert found["suppressed"] == 18
    assert "suppression" in names(found)


# ---- what is left behind


@each([ANJANA, DIVERSE, SDCMICRO])
@pytest.mark.parametrize("roles", [False, True], ids=["guessed", "given"])
def test_row_numbers_are_found(peer, roles):
    found = audited(peer, roles=roles, original=False)
    titles = [f["title"] for f in found["findings"] if f["name"] == "row-numbers"]
    for column in {UNNAMED, "index"} & set(published(peer).columns):
        assert any(column in title for title in titles)
    assert titles


@each([ARX, LOCAL, MEANS])
def test_there_are_no_row_numbers_in_what_arx_writes(peer):
    assert "row-numbers" not in names(audited(peer, roles=True, original=False))


@each([ARX, ANJANA, SDCMICRO])
def test_rows_are_in_the_order_of_the_original(peer):
    """None of the tools shuffles: the first row published is the first person's."""
    # What microaggregation moved is no longer in its place: some rows of sdcMicro are.
    expected = "medium" if peer is SDCMICRO else "high"
    assert names(audited(peer, roles=True, original=True))["row-order"] == expected


def test_intervals_end_at_peoples_own_ages():
    """Of anonypy, whose intervals reach from the least to the greatest age of a group."""
    assert "exact-ends" in names(audited(ANONYPY, roles=True, original=True))


@each([ARX, LOCAL, ANJANA, SDCMICRO])
def test_intervals_end_on_a_grid(peer):
    assert "exact-ends" not in names(audited(peer, roles=True, original=True))


# ---- what anonypy counts


def test_a_column_of_counts_stands_for_people():
    found = audited(ANONYPY, roles=True, original=False)
    assert published(ANONYPY).height == 180
    assert found["rows"] == 240
    assert found["attributes"][0]["known"]["guess"]["people"] == 240


def test_sets_may_be_written_without_brackets():
    """As in anonypy's README; what is learnt is the same."""
    labels = pl.col(ANONYPY.quasi).str.strip_prefix("['").str.strip_suffix("']")
    bare = published(ANONYPY).with_columns(labels)
    given = {"quasi": list(ANONYPY.quasi), "sensitive": "disease", "original": people()}
    found = wb.audit(bare, **given).to_dict()
    assert found["identity"] == audited(ANONYPY, roles=True, original=True)["identity"]


# ---- sdcMicro changes the sensitive values too


def test_changed_sensitive_values_are_audited_all_the_same():
    found = audited(SDCMICRO, roles=True, original=True)
    assert [attribute["on"] for attribute in found["attributes"]] == ["disease", "salary"]


# ---- the command


@pytest.fixture
def typed(capsys, monkeypatch):
    """Type a command; return its exit code and what it prints."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main sets its own
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        return stop.value.code, capsys.readouterr().out

    return run


@each(PEERS)
@pytest.mark.parametrize("roles", [False, True], ids=["guessed", "given"])
def test_the_command_says_the_same(peer, roles, typed):
    named = ["--qi", ",".join(peer.quasi), "--sensitive", ",".join(peer.sensitive)]
    code, out = typed("audit", HERE / peer.file, "--format", "json", *(named if roles else []))
    found = json.loads(out)
    with on_command_line():
        expected = audit(peer, roles=roles, original=False)
    assert found == json.loads(json.dumps(expected))
    assert code == (0 if found["safe"] else 3)


def test_the_command_shows_a_foreign_table(typed):
    code, out = typed("audit", HERE / ANJANA.file, "--original", HERE / "people.csv")
    shown = " ".join(out.split())
    assert code == 3
    assert "guessed" in shown
    assert "column 'index' numbers the rows" in shown
