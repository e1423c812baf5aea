"""The predictive probe: what models learn from a release, beside the original."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth.errors import ParameterError, TableError
from wideberth.hierarchy import Hierarchy
from wideberth.labels import PublishedBoxes
from wideberth.utility.models import MOST_ROWS, Probe, _expected, _features, probe

pytest.importorskip("sklearn")
QUASI = ["age", "job"]
JOBS = Hierarchy.build(["*", "office", "clerk", "kitchen", "cook", "nurse"], [-1, 0, 1, 0, 3, 3])


def people(rows: int = 2000, seed: int = 0) -> pl.DataFrame:
    """People whose pay follows their age and job, and who are ill by chance and age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, rows)
    job = rng.choice(["clerk", "cook", "nurse"], rows)
    pay = 100 * age + 3000 * (job == "clerk") + rng.normal(0, 300, rows)
    ill = rng.random(rows) < (age - 20) / 60
    return pl.DataFrame({"age": age, "job": job, "pay": pay.round(), "ill": ill})


def released(frame: pl.DataFrame, sensitive: str, **more: Any) -> wb.Release:
    return wb.anonymize(
        frame.select(*QUASI, sensitive),
        quasi=QUASI,
        sensitive=sensitive,
        principles="k-anonymity:k=5",
        seed=1,
        **more,
    )


def by_model(found: Probe, figure: str) -> dict[str, tuple[float, float]]:
    return {s.model: (s.original[figure], s.release[figure]) for s in found.scores}


def test_a_quantity() -> None:
    frame = people()
    found = probe(released(frame, "pay"), frame)
    assert (found.target, found.features, found.task) == ("pay", QUASI, "regression")
    assert (found.trained, found.tested) == (1400, 600)
    r2 = by_model(found, "r2")
    assert r2["baseline"][0] == pytest.approx(0, abs=0.05)
    for model in ("linear", "tree"):
        original, release = r2[model]
        assert original > 0.9
        assert 0.8 < release <= original + 0.02
    assert by_model(found, "mean_absolute_error")["linear"][0] < 400
    json.dumps(found.to_dict(), allow_nan=False)
    assert "linear: r2 0.9" in str(found)


def test_two_classes() -> None:
    frame = people()
    found = probe(released(frame, "ill"), frame)
    assert found.task == "classification"
    assert by_model(found, "auc")["baseline"] == (0.5, 0.5)
    assert by_model(found, "balanced_accuracy")["baseline"] == (0.5, 0.5)
    for model in ("linear", "tree"):
        original, release = by_model(found, "auc")[model]
        assert original > 0.7
        assert release > 0.65


def test_several_classes_with_missing_values_and_a_hierarchy() -> None:
    frame = people().with_columns(
        kind=pl.when(pl.col("age") > 45).then(pl.lit("a")).otherwise(pl.col("job")),
        age=pl.when(pl.col("age") % 7 == 0).then(None).otherwise(pl.col("age")),
    )
    release = released(frame, "kind", hierarchies={"job": JOBS})
    found = probe(release, frame)  # a release knows its hierarchies
    accuracy = by_model(found, "accuracy")
    assert "auc" not in found.scores[0].original
    assert accuracy["tree"][0] > accuracy["baseline"][0] + 0.2
    assert accuracy["tree"][1] > accuracy["baseline"][1] + 0.2


def test_a_release_knows_its_hierarchies() -> None:
    frame = people(60)
    release = released(frame, "pay", hierarchies={"job": JOBS})
    with pytest.raises(TableError, match="could not be understood"):
        probe(release.table, frame, target="pay", features=QUASI)
    said = probe(release.table, frame, target="pay", features=QUASI, hierarchies={"job": JOBS})
    assert probe(release, frame).to_dict() == said.to_dict()


def test_a_release_knows_its_types() -> None:
    frame = people().with_columns(pl.col("age").cast(pl.String), rank=pl.col("age") // 10)
    release = released(frame, "rank", types={"age": "integer", "rank": "float"})
    found = probe(release, frame)
    assert found.task == "regression"  # 5 numbers would be classes otherwise
    assert probe(release, frame, types={"rank": "integer"}).task == "classification"
    assert by_model(found, "r2")["tree"][1] > 0.9


def test_what_says_nothing_teaches_nothing() -> None:
    frame = people()
    nothing = frame.with_columns(age=pl.lit("*"), job=pl.lit("*"))
    found = probe(nothing, frame, target="pay", features=QUASI)
    for _, release in by_model(found, "r2").values():
        assert release == pytest.approx(0, abs=0.05)


def test_what_says_all_teaches_all() -> None:
    frame = people()
    found = probe(frame, frame, target="pay", features=QUASI)
    original, release = by_model(found, "r2")["linear"]
    assert release == pytest.approx(original, abs=0.02)


def test_labels_are_seen_as_what_is_expected() -> None:
    frame = pl.DataFrame({"age": [20, 24, 30, None], "job": ["clerk", "cook", "nurse", "cook"]})
    release = pl.DataFrame({"age": ["20..24", "30 or missing"], "job": ["kitchen", "*"]})
    published = PublishedBoxes.read(
        release, QUASI, original=frame, hierarchies={"job": JOBS}, types={}
    )
    age, job = published.axes
    seen = _expected(published, np.arange(2))
    places = _features(age)
    assert seen[0, :2] == pytest.approx((places[0] + places[1]) / 2)
    assert seen[1, :2] == pytest.approx((places[2] + places[3]) / 2)
    assert job.atoms.to_list() == ["clerk", "cook", "nurse"]
    assert seen[0, 2:] == pytest.approx([0, 0.5, 0.5, 0])
    assert seen[1, 2:] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


def test_equal_seeds_give_equal_results() -> None:
    frame = people(400)
    release = released(frame, "pay")
    assert probe(release, frame, seed=3) == probe(release, frame, seed=3)
    assert probe(release, frame, seed=3) != probe(release, frame, seed=4)


def test_a_sample_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wideberth.utility.models.MOST_ROWS", 300)
    frame = people(400)
    found = probe(released(frame, "pay"), frame)
    assert found.trained + found.tested == 300
    assert any("300 rows were drawn" in note for note in found.notes)
    assert MOST_ROWS == 50_000


def test_a_release_with_one_class_left() -> None:
    frame = people(300)
    release = frame.with_columns(ill=pl.lit(True))
    found = probe(release, frame, target="ill", features=QUASI)
    assert by_model(found, "balanced_accuracy")["tree"][1] == 0.5
    assert by_model(found, "auc")["linear"][1] == 0.5


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(200)
    with pytest.raises(ParameterError, match="must be named"):
        probe(frame, frame, target="pay")
    with pytest.raises(ParameterError, match="test must be"):
        probe(frame, frame, target="pay", features=QUASI, test=1)
    with pytest.raises(TableError, match="the release has 20 rows, too few"):
        probe(frame.head(20), frame, target="pay", features=QUASI)
    same = frame.with_columns(ill=pl.lit("no"))
    with pytest.raises(TableError, match="nothing to predict"):
        probe(same, same, target="ill", features=QUASI)
    with pytest.raises(TableError, match="the release has no column 'pay'"):
        probe(frame.drop("pay"), frame, target="pay", features=QUASI)
    two = wb.anonymize(
        frame.select("age", "job"),
        quasi="age",
        sensitive="job",
        principles="frequency-l:l=2",
        algorithm="anatomy",
    )
    with pytest.raises(ParameterError, match="anatomised"):
        probe(two, frame)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ParameterError, match="scikit-learn is not installed"):
        probe(frame, frame, target="pay", features=QUASI)
