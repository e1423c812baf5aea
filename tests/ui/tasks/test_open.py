"""What the app's task of opening says of a table."""

from __future__ import annotations

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
from tests.ui.tasks.conftest import opened, people, quiet
from wideberth import io
from wideberth.checks.protection import proposed_policy
from wideberth.core.notation import Notation
from wideberth.errors import (
    PolicyError,
    TableError,
)
from wideberth.policy.guesses import guess_columns
from wideberth.policy.policy import Policy
from wideberth.policy.proposal import policy_text
from wideberth.ui.tasks.open import profile
from wideberth.ui.tasks.possible import possible


def column(told: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in told["columns"] if one["name"] == name]
    return found


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
