"""Tasks: what they tell of a table, and that releases are those of the command line."""

from __future__ import annotations

import gzip
import json
import stat
import subprocess
import sys
import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from wideberth import datasets, io
from wideberth.checks.protection import proposed_policy
from wideberth.core.notation import Notation
from wideberth.errors import (
    HierarchyError,
    OutputError,
    PolicyError,
    TableError,
    UndecidedError,
    WideberthError,
    in_the_app,
)
from wideberth.policy.guesses import guess_columns
from wideberth.policy.policy import Policy
from wideberth.policy.proposal import policy_text
from wideberth.ui.tasks.advise import advise_task, thin_curve
from wideberth.ui.tasks.hierarchy import hierarchy_task, protect
from wideberth.ui.tasks.open import fits_task, profile
from wideberth.ui.tasks.possible import possible
from wideberth.ui.tasks.release import release_task, without_charts


def quiet(phase: str, done: int, total: int) -> None:
    """Listen to nothing."""


def opened(path: str | Path, **options: Any) -> dict[str, Any]:
    told = profile(path=str(path), options=options, tell=quiet)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told


def column(told: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in told["columns"] if one["name"] == name]
    return found


def people(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(10)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(18, 80, rows),
            "zip": [f"{z:05}" for z in rng.integers(1000, 1040, rows)],
            "disease": rng.choice(["flu", "cold", "ulcer", "gastritis"], rows),
            "salary": rng.integers(10, 90, rows) * 1000,
        }
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people().write_csv(path)
    return path


TREE = "flu;airways;*\ncold;airways;*\nulcer;stomach;*\ngastritis;stomach;*\n"
ROLES = {
    "identifier": ["name"],
    "quasi": ["age", "zip"],
    "sensitive": ["disease", "salary"],
    "insensitive": [],
}
CONTENT: dict[str, Any] = {
    "version": 1,
    "roles": ROLES,
    "types": {"age": "integer", "zip": "text", "disease": "category", "salary": "integer"},
    "principle": [{"name": "k-anonymity", "k": 5}],
}


# ---- open


def test_a_table_is_described(table: Path) -> None:
    told = opened(table)
    assert (told["rows"], told["bytes"]) == (300, table.stat().st_size)
    assert told["notes"] == []
    assert [one["name"] for one in told["columns"]] == people().columns
    assert len(told["preview"]) == 12
    assert told["preview"] == [[str(cell) for cell in row] for row in people().rows()[:12]]
    zip_ = column(told, "zip")
    assert zip_["values"] == sorted(set(people()["zip"]))
    assert zip_["examples"] == people()["zip"].unique(maintain_order=True)[:3].to_list()
    assert column(told, "name")["values"] is None
    assert column(told, "disease")["role"] == "sensitive"
    proposal = told["proposal"]
    assert proposal["roles"]["identifier"] == ["name"]
    assert proposal["types"]["zip"] == "text"
    asked = [p["name"] for p in proposal["principle"]]
    assert asked == ["k-anonymity", "frequency-l", "delta-l"]
    assert Policy.of(tomli_loaded(proposal)).roles["quasi"] == ["age", "zip"]


def test_a_wide_table_shows_how_far_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    wide = {f"n{i}": rng.integers(0, 9999, 400) for i in range(40)}
    wide |= {f"f{i}": rng.integers(0, 9999, 400) / 100 for i in range(20)}
    path = tmp_path / "wide.csv"
    pl.DataFrame(wide).write_csv(path)
    heard, read = [], []
    plain_of = Notation.plain

    def counted(self: Notation, texts: pl.Series) -> pl.Series:
        read.append(self.example)
        return plain_of(self, texts)

    monkeypatch.setattr(Notation, "plain", counted)
    told = profile(path=str(path), tell=lambda *said: heard.append(said))
    assert {one["type"] for one in told["columns"]} == {"integer", "float"}
    assert [said for said in heard if said[0] == "looking at columns"] == [
        ("looking at columns", done, 60) for done in range(60)
    ]
    # A dozen notations were tried four times on every column, which took minutes.
    assert not read


def tomli_loaded(content: dict[str, Any]) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(tomli_w.dumps(content))


@given(
    salaries=st.lists(
        st.none() | st.integers(-50, 50) | st.sampled_from([10**6, 10**15, -(10**12)]),
        min_size=1,
        max_size=30,
    ),
    kind=st.sampled_from(["integer", "tenths", "exponents"]),
)
def test_nothing_impossible_is_proposed(
    tmp_path_factory: pytest.TempPathFactory, salaries: list[int | None], kind: str
) -> None:
    written = {"integer": "{}", "tenths": "{}.5", "exponents": "{}e-7"}[kind]
    path = tmp_path_factory.mktemp("proposed") / "table.csv"
    cells = ["?" if cell is None else written.format(cell) for cell in salaries]
    path.write_text(
        "age,income,diagnosis\n" + "".join(f"{i},{c},{c}\n" for i, c in enumerate(cells))
    )
    proposal = opened(path)["proposal"]
    judged = possible(path=str(path), content=proposal, folder="", tell=quiet)
    assert {one["verdict"] for one in judged["principles"]} <= {"yes"}
    assert judged["together"] is None


def test_the_app_begins_with_what_init_proposes(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    wb.datasets.census(400).write_csv(path)
    frame = io.read(path)
    guesses = guess_columns(frame)
    text = policy_text(guesses, "people.csv", proposal=proposed_policy(frame, guesses))
    written = tomllib.loads(text)
    proposal = opened(path)["proposal"]
    for part in ("types", "principle", "hierarchies", "transform"):
        assert proposal[part] == written[part]
    assert [p["name"] for p in proposal["principle"]] == ["k-anonymity", "frequency-l", "delta-l"]
    assert proposal["transform"]["align"] == {"age": 5}


def test_read_options_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("age|salary\n30|n.a.\n31|1\n32|2\n".encode("utf-16"))
    told = opened(path, delimiter="|", missing=["n.a."])
    assert told["proposal"]["table"] == {"delimiter": "|", "missing": ["n.a."]}
    assert told["preview"][0] == ["30", None]
    with pytest.raises(PolicyError, match="unknown key 'delimeter'"):
        opened(path, delimeter="|")


def test_a_guessed_encoding_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("name,age\nJosé,3\nAnn,4\n".encode("cp1252"))
    told = opened(path)
    assert "Windows-1252" in told["notes"][0]
    assert told["preview"][0][0] == "José"


def test_typed_columns_are_shown_plainly(tmp_path: Path) -> None:
    path = tmp_path / "typed.parquet"
    pl.DataFrame(
        {
            "born": [date(1990, 5, 1), None, date(1991, 1, 2)],
            "height": [1.5, 2.0, None],
            "price": [Decimal("1.20"), Decimal("3.40"), Decimal("5.00")],
            "paid": [True, None, False],
            "kind": pl.Series(["a", "b", None], dtype=pl.Categorical),
            "profile": [[0.25, 0.75], None, [0.5, 0.5]],
            "place": [{"lat": 1.5, "lon": 2.0}] * 3,
            "raw": [b"abc", None, b"de"],
            "note": ["x" * 5000, "", None],
        }
    ).write_parquet(path)
    told = opened(path)
    assert told["preview"][0][:8] == [
        *("1990-05-01", "1.5", "1.20", "true", "a", "[0.25, 0.75]", "lat: 1.5, lon: 2.0", "3 bytes")
    ]
    assert told["preview"][1] == [
        *(None, "2.0", "3.40", None, "b", None, "lat: 1.5, lon: 2.0", None, "")
    ]
    assert len(told["preview"][0][8]) == 200
    assert column(told, "born")["values"] == ["1990-05-01", "1991-01-02"]
    assert column(told, "paid")["values"] == ["false", "true"]
    assert column(told, "profile")["values"] is None
    assert column(told, "profile")["examples"] == ["[0.25, 0.75]", "[0.5, 0.5]"]


def test_distributions_are_guarded_together(tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    pl.DataFrame(
        {"age": range(6), "disease.flu": [0.5, 0.25] * 3, "disease.cold": [0.5, 0.75] * 3}
    ).write_csv(path)
    told = opened(path)
    assert told["proposal"]["principle"][1:] == [{"name": "frequency-l", "on": "disease.*", "l": 2}]
    assert column(told, "disease.flu")["part_of"] == "disease"


BAD = {
    "empty.csv": b"",
    "header.csv": b"a,b\n",
    "twice.csv": b"a,a\n1,2\n",
    "nameless.csv": b"a,\n1,2\n",
    "ragged.csv": b"a,b\n1,2\n1,2,3\n",
    "picture.csv": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff",
    "noise.csv": bytes(range(256)) * 8,
    "noise.csv.gz": b"no such thing",
    "noise.parquet": bytes(range(256)),
    "table.xlsx": b"PK\3\4",
}


@pytest.mark.parametrize("name", [*BAD, "absent.csv", "folder.csv"])
def test_what_is_no_table_is_said_in_a_sentence(tmp_path: Path, name: str) -> None:
    if name in BAD:
        (tmp_path / name).write_bytes(BAD[name])
    elif name == "folder.csv":
        (tmp_path / name).mkdir()
    with pytest.raises(TableError) as caught:
        opened(tmp_path / name)
    assert name in caught.value.what
    assert caught.value.hint
    assert "\n" not in caught.value.what


def test_strange_names(tmp_path: Path) -> None:
    path = tmp_path / "strange.csv"
    path.write_text('^a$,"x, y",*,disease.*\n1,2,3,4\n5,6,7,8\n')
    assert [one["name"] for one in opened(path)["columns"]] == ["^a$", "x, y", "*", "disease.*"]


# ---- advise


def advised(path: Path, on: str, content: dict[str, Any] | None = None) -> dict[str, Any]:
    told = advise_task(
        path=str(path), content=content or CONTENT, folder=str(path.parent), column=on, tell=quiet
    )
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told


def test_advice_is_that_of_the_library(table: Path) -> None:
    told = advised(table, "salary")
    advice = wb.advise(pl.read_csv(table), "salary")
    assert told["absolute"] == advice.to_dict()["curve"]
    assert told["relative"] == advice.to_dict(relative=True)["curve"]
    assert told["limits"] == advice.to_dict()["other"]
    assert (told["rows"], told["missing"], told["numeric"]) == (300, 0, True)
    assert (told["low"], told["high"]) == (10_000.0, 89_000.0)
    assert told["distinct"] == people()["salary"].n_unique()
    assert (told["tree"], told["vector"], told["dates"]) == (False, False, False)


def test_advice_on_categories_and_trees(table: Path) -> None:
    told = advised(table, "disease")
    assert told["numeric"] is told["tree"] is False
    assert told["absolute"] is told["relative"] is told["low"] is None
    assert "l-e" not in {limit["name"] for limit in told["limits"]}
    (table.parent / "tree.csv").write_text(TREE)
    told = advised(table, "disease", {**CONTENT, "hierarchies": {"disease": "tree.csv"}})
    assert told["tree"] is True
    apart = [one["value"] for one in told["limits"] if one["name"] == "l-e"]
    assert apart[0] == 300 // people()["disease"].value_counts()["count"].max()


def test_advice_on_dates_is_in_days(tmp_path: Path) -> None:
    path = tmp_path / "dates.csv"
    path.write_text("age,seen\n" + "".join(f"{i},2024-01-{1 + 3 * i:02}\n" for i in range(8)))
    roles = {"quasi": ["age"], "sensitive": ["seen"]}
    told = advised(path, "seen", {"roles": roles, "types": {"seen": "date"}})
    assert told["dates"] is told["numeric"] is True
    assert told["absolute"] == [[None, 1], [12, 2], [6, 4], [3, 8]]
    assert told["relative"] is None
    assert told["high"] - told["low"] == 21


def test_advice_on_vectors(tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    pl.DataFrame({"d.flu": [0.5, 0.25, None], "d.cold": [0.5, 0.75, None]}).write_csv(path)
    told = advised(path, "d.*", {"roles": {"sensitive": ["d.*"]}})
    assert (told["vector"], told["numeric"], told["column"]) == (True, False, "d.*")
    assert (told["distinct"], told["missing"]) == (2, 1)


def test_advice_says_what_is_wrong(table: Path) -> None:
    with pytest.raises(TableError, match="no column 'salry'"):
        advised(table, "salry")


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(2, 9))
def test_a_thinned_curve_claims_no_more(values: list[int], most: int) -> None:
    whole = wb.advise(values).to_dict()["curve"]
    thin = thin_curve(whole, most)
    assert len(thin) <= max(most, 2)
    assert thin[0] == whole[0]
    assert thin[-1] == whole[-1]

    def largest(steps: list[Any], epsilon: float) -> int:
        return max(m for bound, m in steps if bound is None or epsilon < bound)

    for epsilon in [0, *(bound for bound, _ in whole if bound is not None)]:
        assert largest(thin, epsilon) <= largest(whole, epsilon)


# ---- possible


def judged(path: Path, *principles: dict[str, Any], **content: Any) -> list[dict[str, Any]]:
    asked = {**CONTENT, **content, "principle": list(principles)}
    told = possible(path=str(path), content=asked, folder=str(path.parent), tell=quiet)
    assert len(told["principles"]) == len(principles)
    return told["principles"]


def test_each_principle_is_judged_alone(table: Path) -> None:
    (table.parent / "tree.csv").write_text(TREE)
    told = judged(
        table,
        {"name": "k-anonymity", "k": 300},
        {"name": "k-anonymity", "k": 301},
        {"name": "epsilon-m", "on": "salary", "epsilon": 1000, "m": 5},
        {"name": "epsilon-m", "on": "salary", "epsilon": 60_000, "m": 5},
        {"name": "l-e", "on": "disease", "l": 2, "e": 1},
        {"name": "l-e", "on": "disease", "l": 3, "e": 1},
        {"name": "t-closeness", "on": "disease", "t": 0.1},
        {"name": "multi-attribute-l", "l": 2},
        hierarchies={"disease": "tree.csv"},
    )
    # By hand: each kind of disease needs a group of its own, and no more than half the rows.
    stomach = people()["disease"].is_in(["ulcer", "gastritis"]).sum()
    halves = "yes" if stomach == 150 else "no"
    # And each value of one attribute must occur with two of the other.
    pairs = people()["disease", "salary"].unique()
    least = min(pairs.group_by(name).len()["len"].min() for name in pairs.columns)
    several = "yes" if least >= 2 else "no"
    verdicts = [one["verdict"] for one in told]
    assert verdicts == ["yes", "no", "yes", "no", halves, "no", "yes", several]
    assert told[1]["what"] == "k-anonymity:k=301 needs 301 rows, the table has 300"
    assert told[1]["hint"] == "k=300"
    assert "epsilon below" in told[3]["hint"]
    assert all((one["hint"] is None) == (one["verdict"] == "yes") for one in told)


def test_a_bad_principle_does_not_spoil_the_others(table: Path) -> None:
    told = judged(
        table,
        {"name": "k-anonimity", "k": 5},
        {"k": 5},
        {"name": "epsilon-m", "on": "salary", "epsilon": "much", "m": 5},
        {"name": "distinct-l", "l": 2},
        {"name": "distinct-l", "on": "age", "l": 2},
        {"name": "epsilon-m", "on": "disease", "epsilon": 1, "m": 2},
        {"name": "l-e", "on": "disease", "l": 2, "e": 1},
        {"name": "distinct-l", "on": 5, "l": 2},
        {"name": "delta-presence", "delta_max": 0.5},
        {"name": "k-anonymity", "k": 5},
    )
    assert [one["verdict"] for one in told] == ["no"] * 8 + ["unknown", "yes"]
    assert told[0]["what"].startswith("there is no principle 'k-anonimity'")
    assert told[2]["what"].startswith("epsilon-m: epsilon must be")
    assert "which sensitive attribute" in told[3]["what"]
    assert "no sensitive attribute" in told[4]["what"]
    assert "cannot be made" in told[8]["what"]


def test_what_cannot_be_told_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "vectors.csv"
    rng = np.random.default_rng(3)
    pl.DataFrame(
        {"age": range(60), "p.x": rng.integers(0, 9, 60), "p.y": rng.integers(0, 9, 60)}
    ).write_csv(path)
    content = {"roles": {"quasi": ["age"], "sensitive": ["p.*"]}, "types": {}}
    entries = [
        {"name": "dissimilarity", "on": "p.*", "delta": 1, "k": 3, "distance": "euclidean"}
        | {"epsilon": epsilon}
        for epsilon in (0, 1, 2, 3, 4, 5, 6, 100)
    ]
    told = judged(path, *entries, **content)
    verdicts = [one["verdict"] for one in told]
    assert verdicts[0] == "yes"
    assert verdicts[-1] == "no"
    frame = pl.read_csv(path)
    advice = wb.advise(frame, ["p.x", "p.y"]).dissimilarity("euclidean")
    assert verdicts == [advice.satisfiable(e["epsilon"], 1, 3).verdict for e in entries]


def test_principles_that_do_not_go_together(table: Path) -> None:
    near = {"name": "epsilon-m", "on": "salary", "epsilon": 1000, "m": 2}
    asked = {**CONTENT, "principle": [near, {**near, "m": 3}]}
    told = possible(path=str(table), content=asked, folder="", tell=quiet)
    assert "non-monotone" in told["together"]["what"]
    asked = {**CONTENT, "principle": [near]}
    assert possible(path=str(table), content=asked, folder="", tell=quiet)["together"] is None


def test_principles_are_tested_together_and_proposals_hold(tmp_path: Path) -> None:
    # Of 0, 1, … 39, only pairs such as 7 and 27 differ by more than 19.
    path = tmp_path / "pairs.csv"
    pl.DataFrame({"age": range(40), "pay": range(40)}).write_csv(path)
    near = {"name": "epsilon-m", "on": "pay", "epsilon": 19, "m": 2}
    crowd = {"name": "k-anonymity", "k": 10}
    content = {"roles": {"quasi": ["age"], "sensitive": ["pay"]}, "types": {"pay": "integer"}}

    def told_of(*entries: dict[str, Any]) -> dict[str, Any]:
        asked = {**CONTENT, **content, "principle": list(entries)}
        told = possible(path=str(path), content=asked, folder="", tell=quiet)
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        return told

    told = told_of(crowd, near)
    assert [one["verdict"] for one in told["principles"]] == ["yes", "yes"]
    assert told["together"]["verdict"] in ("no", "unknown")
    assert "k-anonymity" in told["together"]["what"]
    crowded, nearer = told["together"]["tries"]
    assert crowded == {"words": "k-anonymity: k=2", "at": 0, "entry": {**crowd, "k": 2}}
    assert told_of(crowded["entry"], near)["together"] is None
    assert nearer["words"] == "(ε,m)-anonymity: epsilon=15"
    assert told_of(crowd, nearer["entry"])["together"] is None

    told = told_of(crowd, {**near, "epsilon": 30})
    assert [one["verdict"] for one in told["principles"]] == ["yes", "no"]
    tries = told["principles"][1]["tries"]
    assert {one["at"] for one in tries} == {1}
    for one in tries:
        assert told_of(one["entry"])["principles"][0]["verdict"] == "yes"


def test_principles_that_the_whole_table_satisfies_go_together(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    datasets.sal(100).write_csv(path)
    far = {"name": "dissimilarity", "on": "income", "k": 5, "epsilon": 8000, "delta": 0.5}
    content: dict[str, Any] = {
        "version": 1,
        "roles": {
            "quasi": ["age"],
            "sensitive": ["income"],
            "insensitive": ["birthplace", "occupation"],
        },
        "principle": [{"name": "k-anonymity", "k": 70}, far],
    }
    assert possible(path=str(path), content=content, folder="", tell=quiet)["together"] is None
    assert wb.anonymize(path, policy=Policy.of(content)).manifest["groups"] == 1


@pytest.mark.parametrize(
    ("algorithm", "m"), [("mondrian", 2), ("mondrian", 3), ("lattice", 2), ("anatomy", 2)]
)
def test_what_each_algorithm_is_told_of_principles_together(
    tmp_path: Path, algorithm: str, m: int
) -> None:
    path = tmp_path / "pairs.csv"
    table = pl.DataFrame({"age": range(40), "pay": range(40), "ill": ["a", "b"] * 20})
    table.write_csv(path)
    asked = [
        {"name": "k-anonymity", "k": 10},
        {"name": "frequency-l", "on": "ill", "l": 2},
        {"name": "epsilon-m", "on": "pay", "epsilon": 19 if m == 2 else 12, "m": m},
    ]
    content = {
        "version": 1,
        "roles": {"quasi": ["age"], "sensitive": ["pay", "ill"]},
        "types": {"pay": "integer"},
        "transform": {"algorithm": algorithm},
        "hierarchies": {"age": {"interval": [10, 20, 40]}},
    }
    told = possible(path=str(path), content={**content, "principle": asked}, folder="", tell=quiet)
    assert {one["verdict"] for one in told["principles"]} == {"yes"}
    with pytest.raises(WideberthError):
        wb.anonymize(path, policy=Policy.of({**content, "principle": asked}))
    assert told["together"]["verdict"] == ("no" if m == 2 else "unknown")
    assert ("one sensitive attribute" in told["together"]["what"]) is (algorithm == "anatomy")
    assert m != 3 or any("epsilon=" in one["words"] for one in told["together"]["tries"])
    for one in told["together"]["tries"] or ():
        changed = [*asked[: one["at"]], one["entry"], *asked[one["at"] + 1 :]]
        assert wb.anonymize(path, policy=Policy.of({**content, "principle": changed}), seed=1)


def test_a_column_made_sensitive_gets_a_principle_that_goes_with_the_others(table: Path) -> None:
    near = {"name": "epsilon-m", "on": "salary", "epsilon": 1000, "m": 5}
    asked = [{"name": "k-anonymity", "k": 5}, near]
    roles = {**ROLES, "quasi": ["zip"], "sensitive": ["disease", "salary", "age"]}
    content = {**CONTENT, "roles": roles, "principle": asked}
    given: dict[str, Any] = {"path": str(table), "folder": "", "tell": quiet}
    for column, name in (("age", "delta-l"), ("disease", "frequency-l")):
        (entry,) = protect(column=column, content=content, **given)["principle"]
        assert (entry["name"], entry["on"]) == (name, column)
        told = possible(content={**content, "principle": [*asked, entry]}, **given)
        assert {one["verdict"] for one in told["principles"]} == {"yes"}
        assert told["together"] is None
    people().with_columns(disease=pl.lit("flu")).write_csv(table)
    told = protect(column="disease", content=content, **given)
    assert told["principle"] == []
    assert "one value" in told["why"]


def test_a_type_that_does_not_fit_is_refused_with_the_row(table: Path) -> None:
    given: dict[str, Any] = {"path": str(table), "content": CONTENT, "folder": "", "tell": quiet}
    assert fits_task(column="age", kind="float", **given) == {"column": "age", "type": "float"}
    with pytest.raises(TableError, match="column 'disease', row 1: not an integer"):
        fits_task(column="disease", kind="integer", **given)
    with pytest.raises(WideberthError):
        fits_task(column="height", kind="integer", **given)


def test_roles_need_not_be_complete(table: Path) -> None:
    (one,) = judged(table, {"name": "k-anonymity", "k": 2}, roles={}, types={})
    assert one["verdict"] == "yes"


# ---- hierarchy


def tried(path: Path, on: str, rule: Any, **content: Any) -> dict[str, Any]:
    told = hierarchy_task(
        path=str(path),
        content={**CONTENT, **content},
        folder=str(path.parent),
        column=on,
        rule=rule,
        tell=quiet,
    )
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told


def test_intervals_masks_and_trees(table: Path) -> None:
    ages = tried(table, "age", {"interval": [10, 20]})
    assert [level["level"] for level in ages["levels"]] == [0, 1, 2, 3]
    assert ages["levels"][0]["values"] == people()["age"].n_unique() == ages["leaves"]
    assert ages["levels"][-1]["values"] == 1
    assert ages["levels"][1]["examples"][0] == ["18", "10-19"]
    assert all(len(level["examples"]) == 6 for level in ages["levels"])
    assert ages["balanced"] is True
    assert ages["outline"][0] == [0, "*", ages["leaves"]]
    zips = tried(table, "zip", {"mask": 2})
    assert zips["levels"][1]["examples"][0][1].endswith("*")
    (table.parent / "tree.csv").write_text(TREE)
    tree = tried(table, "disease", "tree.csv")
    assert tree["leaves"] == 4
    assert [level["values"] for level in tree["levels"]] == [4, 2, 1]
    assert ["flu", "airways"] in tree["levels"][1]["examples"]


def test_levels_are_those_of_an_audit_s_findings(tmp_path: Path) -> None:
    """Also where values lie at unequal depth: a finding's level is one that the editor shows."""
    (tmp_path / "tree.csv").write_text("flu;airways;inner;*\ncold;airways;inner;*\nulcer;inner;*\n")
    ill = ["flu", "cold"] * 3 + ["flu", "ulcer"] * 3
    frame = pl.DataFrame({"age": [1] * 6 + [2] * 6, "ill": ill})
    frame.write_csv(tmp_path / "ill.csv")
    roles = {"quasi": ["age"], "sensitive": ["ill"]}
    told = hierarchy_task(
        path=str(tmp_path / "ill.csv"),
        content={"roles": roles},
        folder=str(tmp_path),
        column="ill",
        rule="tree.csv",
        tell=quiet,
    )
    shown = {level["level"]: dict(level["examples"]) for level in told["levels"]}
    rules = {"ill": str(tmp_path / "tree.csv")}
    audit = wb.audit(frame, quasi="age", sensitive="ill", hierarchies=rules)
    (finding,) = [one for one in audit.findings if one.name == "similarity"]
    found = finding.figures["levels"]
    assert [one["people"] for one in found] == [6, 12]
    for one in found:
        level = one["above_values"]
        assert f"at level {level}" in finding.title
        # By hand: those whose group is of one kind on that level, and not on the one below.
        kinds = [shown[level][value] for value in ill]
        alike = sum(6 for group in (kinds[:6], kinds[6:]) if len(set(group)) == 1)
        assert alike == one["people"]
        below = [shown[level - 1][value] for value in ill]
        assert alike > sum(6 for group in (below[:6], below[6:]) if len(set(group)) == 1)


def test_what_is_wrong_with_a_hierarchy(table: Path) -> None:
    (table.parent / "short.csv").write_text("flu;airways;*\ncold;airways;*\n")
    (table.parent / "odd.csv").write_text("flu;airways;*\ncold;flu;*\nairways;flu;*\n")
    with pytest.raises(
        HierarchyError, match=r"2 values are missing .*row \d+.*'ulcer' in \d+ rows"
    ):
        tried(table, "disease", "short.csv")  # labels, of many people each
    for on, rule in (
        ("disease", "odd.csv"),
        ("disease", "absent.csv"),
        ("age", {"interval": [10, 15]}),
        ("age", {"intervall": 10}),
        ("zip", {"date": ["year"]}),
    ):
        with pytest.raises(HierarchyError):
            tried(table, on, rule)
    with pytest.raises(WideberthError, match="'wage'"):
        tried(table, "wage", {"flat": True})


# ---- release


def run(*words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wideberth", *map(str, words)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def released(path: Path, content: dict[str, Any], **more: Any) -> tuple[dict[str, Any], Path]:
    output = path.parent / "made"
    output.mkdir(mode=0o700)
    asked = {"path": str(path), "content": content, "folder": str(path.parent), "seed": 7} | more
    told = release_task(**asked, output=str(output), tell=quiet)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told, output


NEAR = {"name": "epsilon-m", "on": "salary", "epsilon": 2000, "m": 4}
DIVERSE = {"name": "frequency-l", "on": "disease", "l": 2}
MADE = {
    "mondrian": {"principle": [{"name": "k-anonymity", "k": 4}, NEAR]},
    "matching": {"principle": [NEAR], "transform": {"cuts": "paper", "dealing": "matching"}},
    "lattice": {
        "principle": [{"name": "k-anonymity", "k": 4}, DIVERSE],
        "hierarchies": {"age": {"interval": [10, 20]}, "zip": "zip.csv"},
        "transform": {"algorithm": "lattice", "suppression_limit": 0.05},
    },
    "anatomy": {
        "roles": {**ROLES, "sensitive": ["disease"], "insensitive": ["salary"]},
        "hierarchies": {"disease": "tree.csv"},
        "principle": [{"name": "l-e", "on": "disease", "l": 2, "e": 0}],
        "transform": {"algorithm": "anatomy", "suppression_limit": 0.2},
    },
}


@pytest.mark.filterwarnings("ignore:dealing by matching")
@pytest.mark.parametrize("kind", MADE)
def test_a_release_is_that_of_the_command_line(table: Path, kind: str) -> None:
    content, folder = {**CONTENT, **MADE[kind]}, table.parent
    (folder / "tree.csv").write_text(TREE)
    zips = sorted(set(people()["zip"]))
    (folder / "zip.csv").write_text("".join(f"{z};{z[:4]}*;*\n" for z in zips))
    policy = folder / "policy.toml"
    policy.write_text(tomli_w.dumps(content))
    told, output = released(table, content)
    assert told["problem"] is None
    exact = kind == "anatomy"
    target = folder / "typed" if exact else folder / "release.csv"
    report = folder / "typed.json"
    typed = ["anonymize", table, "-p", policy, "-o", target, "--seed", "7", "--report", report]
    run(*typed)
    if exact:
        made = ["release/manifest.json", "release/quasi.csv", "release/sensitive.csv"]
        pairs = [(output / name, target / Path(name).name) for name in made[1:]]
    else:
        made = ["release.csv", "release.csv.manifest.json"]
        pairs = [(output / "release.csv", target)]
    # "Random order" stands under no sorted table: that of an anatomy's values is one.
    assert [one["sorted_by"] for one in told["previews"]] == ([None, "group"] if exact else [None])
    assert told["files"] == [*made, "report.html", "report.json"]
    for ours, theirs in pairs:
        assert ours.read_bytes() == theirs.read_bytes()
    written = json.loads((output / made[0 if exact else 1]).read_text())
    assert told["manifest"] == written
    assert any(text.startswith("the seed is fixed") for text in told["manifest"]["warnings"])
    assert told["manifest"]["seed"] == "fixed, for tests only"
    theirs = json.loads(report.read_text())
    assert told["report"] == json.loads((output / "report.json").read_text())
    same = ("risk", "group_sizes", "utility", "queries", "tradeoff")
    assert {k: told["report"][k] for k in same} == {k: theirs[k] for k in same}
    # What to do is said in words of the app there, and in those of the command line here.
    found, typed_ones = (
        [[finding[key] for key in ("name", "severity")] for finding in one["findings"]]
        for one in (told["report"], theirs)
    )
    assert found == typed_ones
    for path in output.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert (told["nodes"] is None) == (kind != "lattice")
    if kind == "lattice":
        assert told["nodes"]["minimal"]
        assert told["nodes"]["best"][0]["levels"] == written["lattice"]["rounds"][0]["levels"]
    charts = [*told["charts"]["sizes"], *told["charts"]["identity"]]
    assert all({"name", "title", "text", "columns", "rows", "spec"} <= set(c) for c in charts)


def test_files_are_of_the_input_s_kind(tmp_path: Path) -> None:
    content = {**CONTENT, "principle": [{"name": "k-anonymity", "k": 5}]}
    path = tmp_path / "people.parquet"
    people().write_parquet(path)
    assert "release.parquet" in released(path, content)[0]["files"]
    packed = tmp_path / "packed"
    packed.mkdir()
    path = packed / "people.csv.gz"
    path.write_bytes(gzip.compress(people().write_csv().encode()))
    told, output = released(path, content, seed=None)
    assert "release.csv" in told["files"]
    assert (output / "release.csv").read_text().startswith("age,")
    assert told["manifest"]["seed"].startswith("secret")
    assert told["manifest"]["input"]["name"] == "people.csv.gz"


def test_without_a_report_the_release_is_there(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise TableError("the original is gone", hint="look for it")

    monkeypatch.setattr("wideberth.reports.report.report", fails)
    told, output = released(table, CONTENT)
    assert told["report"] is told["charts"] is None
    assert told["problem"] == {
        "kind": "TableError",
        "what": "the original is gone",
        "hint": "look for it",
    }
    assert told["files"] == ["release.csv", "release.csv.manifest.json"]
    assert (output / "release.csv").exists()


def test_nothing_is_replaced(table: Path) -> None:
    (table.parent / "made").mkdir()
    (table.parent / "made" / "release.csv").write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        release_task(
            path=str(table),
            content=CONTENT,
            folder="",
            output=str(table.parent / "made"),
            tell=quiet,
        )
    assert (table.parent / "made" / "release.csv").read_text() == "mine"


def test_charts_become_plain() -> None:
    from wideberth.reports.chart_style import Chart

    chart = Chart(
        name="a", title="b", text="c", columns=("x",), rows=[("1",)], spec={"mark": "bar"}
    )
    made = without_charts({"on": "salary", "charts": [chart], "more": ({"one": chart}, 5, None)})
    assert made["charts"][0]["spec"] == {"mark": "bar"}
    assert made["more"][1:] == [5, None]
    json.dumps(made, allow_nan=False)


def test_progress_is_told(table: Path, tmp_path: Path) -> None:
    heard: list[str] = []
    (tmp_path / "out").mkdir()
    release_task(
        path=str(table),
        content=CONTENT,
        folder="",
        seed=1,
        output=str(tmp_path / "out"),
        tell=lambda phase, done, total: heard.append(phase),
    )
    assert {"encoding", "recoding", "verifying", "saving", "auditing", "measuring"} <= set(heard)


@pytest.mark.parametrize("made", [datasets.adults, datasets.census, datasets.symptoms])
def test_what_is_proposed_can_be_released(tmp_path: Path, made: Any) -> None:
    path = tmp_path / "table.csv"
    made(400).write_csv(path)
    proposal = opened(path)["proposal"]
    assert sum(map(len, proposal["roles"].values())) == made(400).width
    told, _ = released(path, proposal)
    assert told["problem"] is None


def test_an_identifier_that_repeats_is_asked_about_in_step_1(tmp_path: Path) -> None:
    once = people(60).drop("name")
    visits = pl.concat([once, once]).with_columns(patient_id=pl.Series([*range(60)] * 2))
    visits.write_csv(tmp_path / "visits.csv")
    told = opened(tmp_path / "visits.csv")
    assert told["people"]["what"] == "120 rows, but only 60 different values of 'patient_id'"
    content = told["proposal"]
    content["roles"]["identifier"] = ["patient_id"]
    content["roles"]["quasi"] = ["age", "zip"]
    content["principle"] = [{"name": "k-anonymity", "k": 5}]
    refusal = pytest.raises(UndecidedError, match="120 rows, but only 60")
    with in_the_app(), refusal as refused:
        released(tmp_path / "visits.csv", content)
    assert "tick the box below the columns in step 1" in str(refused.value.hint)
    (tmp_path / "made").rmdir()
    made, _ = released(tmp_path / "visits.csv", {**content, "rows_are_people": True})
    assert made["manifest"]["rows_are_people"] is True
    once.write_csv(tmp_path / "once.csv")
    assert opened(tmp_path / "once.csv")["people"] is None


def test_dates_that_can_be_read_in_two_ways_are_asked_about_in_step_1(tmp_path: Path) -> None:
    born = [f"0{1 + i % 9}/0{1 + i % 7}/1972" for i in range(60)]
    people(60).drop("name", "zip").with_columns(born=pl.Series(born)).write_csv(
        tmp_path / "people.csv"
    )
    content = opened(tmp_path / "people.csv")["proposal"]
    content["roles"]["quasi"] = ["age", "born"]
    content["principle"] = [{"name": "k-anonymity", "k": 5}]
    refusal = pytest.raises(UndecidedError, match="'born' can be read in 2 ways")
    with in_the_app(), refusal as refused:
        released(tmp_path / "people.csv", content)
    assert str(refused.value.hint).endswith("or, to keep it as text, choose that type there")
    assert "types=" not in str(refused.value.hint)


def test_a_total_is_asked_about_in_step_1(tmp_path: Path) -> None:
    table = people(60).drop("name").with_columns(pl.col("zip").cast(pl.String))
    total = table.tail(1).with_columns(zip=pl.lit("Total"))
    pl.concat([table, total]).write_csv(tmp_path / "people.csv")
    content = opened(tmp_path / "people.csv")["proposal"]
    content["roles"]["quasi"] = ["age", "zip"]
    content["principle"] = [{"name": "k-anonymity", "k": 5}]
    refusal = pytest.raises(UndecidedError, match="looks like a total")
    with in_the_app(), refusal as refused:
        released(tmp_path / "people.csv", content)
    assert str(refused.value.hint).startswith("delete it; or, if every row is a different person")
    assert "tick the box below the columns in step 1" in str(refused.value.hint)
