"""What a refusal proposes was tried on the table: it works, is useful, and gives nobody away."""

from __future__ import annotations

import json
import re
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests.effort import examples
from wideberth.principles import make, parse
from wideberth.release import trials


def refusal(table: pl.DataFrame, **asked: Any) -> wb.InfeasibleError:
    with pytest.raises(wb.InfeasibleError) as caught:
        wb.anonymize(table, **{"quasi": "age", "sensitive": "pay", "seed": 1, **asked})
    return caught.value


def outcomes(error: wb.InfeasibleError) -> dict[str, str]:
    return {one["setting"]: one["outcome"] for one in error.tries}


def workers(zeros: int, others: int) -> pl.DataFrame:
    rows = zeros + others
    pay = [0] * zeros + [1_000 + 10 * i for i in range(others)]
    return pl.DataFrame({"age": [20 + i * 7 % 50 for i in range(rows)], "pay": pay})


def test_suppression_of_one_value_is_not_proposed():
    """All rows that would go earn nothing: whoever is missing from the release does."""
    error = refusal(workers(55, 45), principles="frequency-l:l=2")
    assert "10 rows would have to be suppressed" in error.what
    assert outcomes(error)["suppression_limit=0.1"] == "not safe"
    proposed, against = error.hint.split("; not ")
    assert "suppression_limit" not in proposed
    assert against.startswith("suppression_limit=0.1: all 10 rows left out have one value of 'pay'")
    release = wb.anonymize(
        workers(55, 45),
        quasi="age",
        sensitive="pay",
        principles="frequency-l:l=2",
        suppression_limit=0.1,
    )
    high = [f for f in wb.audit(release, original=workers(55, 45)).findings if f.severity == "high"]
    assert "suppression" in [finding.name for finding in high]


def test_a_value_that_needs_no_protection_is_proposed_without_naming_it():
    table = workers(55, 45)
    error = refusal(table, principles="frequency-l:l=2")
    setting = "allowed = the value that 55 rows share"
    assert outcomes(error)[setting] == "works"
    assert f"{setting}, if that value needs no protection (tried: " in error.hint
    allowed = wb.anonymize(
        table, quasi="age", sensitive="pay", principles="frequency-l:l=2,allowed=0"
    )
    assert allowed.check()


def test_what_is_possible_but_useless_gives_way_to_what_is_useful():
    """The strongest possible parameters make one group, whose ranges span everything."""
    error = refusal(workers(3, 97), principles="k-anonymity:k=400")
    found = outcomes(error)
    assert found["k=100"] == "loses too much"
    assert error.tries[0]["loss"] == 100
    works = [setting for setting, outcome in found.items() if outcome == "works"]
    assert len(works) == 1
    assert re.fullmatch(rf"{works[0]} \(tried: \d+% loss\)", error.hint)
    release = wb.anonymize(
        workers(3, 97), quasi="age", sensitive="pay", principles=f"k-anonymity:{works[0]}", seed=1
    )
    assert release.manifest["loss"]["ncp_percent"] <= trials.USEFUL


def test_what_an_audit_finds_grave_is_not_proposed():
    """A weaker l is possible, but beside it groups share the result of a test."""
    table = pl.DataFrame(
        {
            "age": [18 + i * 31 % 60 for i in range(300)],
            "test": ["positive" if i % 50 == 7 else "negative" for i in range(300)],
            "ill": ["abc"[i * 7 % 11 % 3] for i in range(300)],
        }
    )
    asked: dict[str, Any] = {"quasi": "age", "sensitive": ["test", "ill"]}
    error = refusal(table, **asked, principles=["k-anonymity:k=5", "distinct-l:l=5,on=ill"])
    assert outcomes(error) == {"l=3": "not safe", "l=2": "not safe"}
    assert "not l=3: an audit finds that test of " in error.hint
    assert "l=3 (tried:" not in error.hint
    followed = ["k-anonymity:k=5", "distinct-l:l=3,on=ill"]
    audit = wb.audit(wb.anonymize(table, **asked, principles=followed, seed=1), original=table)
    assert "high" in [finding.severity for finding in audit.findings]
    protected = ["k-anonymity:k=20", "distinct-l:l=5,on=ill", "recursive-cl:on=test,c=60,l=2"]
    error = refusal(table, **asked, principles=protected)
    assert "not safe" not in outcomes(error).values()
    assert "l=3 (tried: " in error.hint


def test_nothing_is_proposed_where_nothing_works():
    table = pl.DataFrame({"age": [20, 80], "pay": [1, 2]})
    error = refusal(table, principles="k-anonymity:k=3")
    assert set(outcomes(error).values()) == {"loses too much"}
    assert "the only setting that was tried is not both useful and safe" in error.hint
    assert "(best: k=2, 100% loss)" in error.hint


def test_other_principles_must_hold_as_well():
    """m = 2 alone is possible; beside this k and frequency, it is not."""
    table = pl.DataFrame({"age": [20, 21, 60, 61] * 5, "pay": [1, 1, 1, 5] * 5})
    error = refusal(table, principles=["distinct-l:l=3", "frequency-l:l=1.5"])
    assert outcomes(error)["l=2"] == "not possible"
    assert "l=2 (tried" not in error.hint


def test_principles_that_are_impossible_together_only():
    table = pl.DataFrame({"age": [20, 21, 40, 41], "pay": [40, 60, 50, 80]})
    error = refusal(table, principles=["epsilon-m:epsilon=15,m=2", "k-anonymity:k=3"])
    assert "are impossible together" in error.what
    assert outcomes(error)["k=2"] == "works"
    assert error.hint.startswith("k=2 (tried: ")
    assert "take a monotone principle instead" in error.hint


def test_the_lattice_tries_as_well():
    table = workers(10, 90).with_columns(age=pl.col("age").cast(pl.String))
    asked = {
        "algorithm": "lattice",
        "hierarchies": {"age": {"mask": 2}},
        "levels": {"age": [0, 1]},
        "principles": "k-anonymity:k=21",
        "types": {"age": "text"},
    }
    error = refusal(table, **asked)
    works = [setting for setting, outcome in outcomes(error).items() if outcome == "works"]
    assert works == ["k=11"]
    assert "k=11 (tried: " in error.hint
    assert wb.anonymize(
        table, quasi="age", sensitive="pay", **{**asked, "principles": "k-anonymity:k=11"}
    ).check()


def test_what_takes_too_long_is_not_tried(monkeypatch, tmp_path):
    table = workers(55, 45)
    for error in (
        refusal(table, principles="frequency-l:l=2", trials=False),
        *_large(monkeypatch, table),
    ):
        assert set(outcomes(error).values()) == {"not tried"}
        assert not any(one["tried"] for one in error.tries)
        assert error.hint.startswith("not tried, may help: l=1.81818, or suppression_limit=0.1")
        assert error.hint.endswith("if that value needs no protection")
        assert "(tried:" not in error.hint
    table.write_parquet(tmp_path / "workers.parquet")
    error = refusal(tmp_path / "workers.parquet", principles="frequency-l:l=2", memory="600MB")
    assert error.hint.startswith("not tried, may help: l=1.81818")


def _large(monkeypatch: pytest.MonkeyPatch, table: pl.DataFrame) -> list[wb.InfeasibleError]:
    found = []
    for name, value in (("ROWS", 99), ("SECONDS", -1.0)):
        with monkeypatch.context() as patch:
            patch.setattr(trials, name, value)
            found.append(refusal(table, principles="frequency-l:l=2"))
    return found


def test_tries_are_json():
    told = refusal(workers(55, 45), principles="frequency-l:l=2").to_dict()
    assert json.loads(json.dumps(told)) == told
    assert {"setting", "tried", "outcome", "loss", "why", "condition"} == set(told["tries"][0])


# Against the real thing: every proposal is followed.

TABLES = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([0, 0, 0, 1, 2, 3, 7])), min_size=4, max_size=24
).map(lambda rows: pl.DataFrame(rows, schema=["age", "pay"], orient="row"))
ASKED = st.sampled_from(
    [
        ["frequency-l:l=2"],
        ["frequency-l:l=3", "k-anonymity:k=2"],
        ["distinct-l:l=4"],
        ["entropy-l:l=3"],
        ["recursive-cl:c=1,l=3"],
        ["epsilon-m:epsilon=1,m=3"],
        ["epsilon-m:epsilon=2,m=2", "k-anonymity:k=3"],
        ["delta-l:delta=1,l=2"],
        ["m-uniqueness:m=3"],
        ["alpha-k:alpha=0.3,k=4"],
        ["k-anonymity:k=30"],
    ]
)


@given(TABLES, ASKED)
@examples(12, 5)
def test_what_was_tried_is_true(table, principles):
    asked = {"quasi": "age", "sensitive": "pay", "seed": 1}
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trials, "_MOST", 5)
            wb.anonymize(table, **asked, principles=principles)
    except wb.InfeasibleError as refused:
        error = refused
    else:
        return
    found = {}
    for one in error.tries:
        if not one["tried"]:
            assert many_tried(error) == 5
            continue
        matching = [
            outcome
            for changed in followed(one["setting"], principles, table)
            if (outcome := outcome_of(table, asked, changed)) == one["outcome"]
        ]
        assert matching, one
        found[one["setting"]] = one["outcome"]
        proposed = one["setting"] in error.hint.split("; n")[0]
        assert proposed == (one["outcome"] == "works"), error.hint
    if "works" not in found.values():
        assert "settings that were tried is both" in error.hint or "the only setting" in error.hint


def many_tried(error: wb.InfeasibleError) -> int:
    return sum(one["tried"] for one in error.tries)


def followed(setting: str, principles: list[str], table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return what a reader may write who follows a proposal, in any of the principles."""
    if setting.startswith("suppression_limit="):
        limit = float(setting.partition("=")[2])
        return [{"principles": principles, "suppression_limit": limit}]
    made = [parse(text) for text in principles]
    changed = []
    for place, principle in enumerate(made):
        if setting.startswith("allowed"):
            counts = table["pay"].value_counts().sort("count", "pay", descending=[True, False])
            new = {"allowed": (counts["pay"][0],)}
        else:
            pairs = re.findall(r"(\w+)=([0-9.]+)", setting)
            new = {key: principle.parameters()[key].parse(value) for key, value in pairs if key in principle.parameters()}  # noqa: E501  # fmt: skip
            if len(new) < len(pairs):
                continue
        if set(new) <= set(principle.parameters()):
            other = make(principle.name, {**principle.given(), **new})
            changed.append({"principles": [*made[:place], other, *made[place + 1 :]]})
    return changed


def outcome_of(table: pl.DataFrame, asked: dict[str, Any], changed: dict[str, Any]) -> str:
    """Judge a setting anew: by the check, the audit and the labels."""
    try:
        release = wb.anonymize(table, **asked, **changed, trials=False)
    except wb.InfeasibleError:
        return "not possible"
    assert release.check()
    gone = table.height - release.table.height
    if gone:
        found = wb.audit(release, original=table).findings
        if any(f.name == "suppression" and f.severity == "high" for f in found):
            return "not safe"
    lost = 100 * gone + release.table.height * release.manifest["loss"]["ncp_percent"]
    return "works" if lost <= trials.USEFUL * table.height else "loses too much"
