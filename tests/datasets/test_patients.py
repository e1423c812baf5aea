"""The made-up patients."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.hierarchy import (
    icd10,
)

# ---- patients


@pytest.fixture(scope="module")
def hospital() -> pl.DataFrame:
    return datasets.patients(50_000)


def test_patients_are_reproducible(hospital):
    assert hospital.equals(datasets.patients(50_000))
    one, other = datasets.patients(500, seed=1), datasets.patients(500, seed=2)
    assert all(not one[column].equals(other[column]) for column in one.columns)


def test_patients_have_the_promised_columns(hospital):
    assert hospital.schema == {
        "age": pl.Int64,
        "sex": pl.String,
        "zip": pl.String,
        "admitted": pl.Date,
        "diagnosis": pl.String,
    }
    assert datasets.patients().height == 10_000
    assert datasets.patients(1).height == 1
    with pytest.raises(wb.ParameterError, match="at least one row"):
        datasets.patients(0)


def test_patients_are_plausible(hospital):
    assert hospital["age"].is_between(0, 100).all()
    assert set(hospital["sex"]) == {"F", "M"}
    assert hospital["zip"].str.contains(r"^[0-9]{5}$").all()
    years = hospital["admitted"].dt.year()
    assert (years.min(), years.max()) == (2022, 2024)
    missing = hospital.null_count().row(0, named=True)
    assert {column for column, count in missing.items() if count} == {"diagnosis"}
    assert 400 <= missing["diagnosis"] <= 600


def test_diagnoses_are_skewed_codes_and_some_are_categories(hospital):
    tree = icd10()
    known = hospital["diagnosis"].drop_nulls()
    node = tree.nodes_of(known.to_list())
    assert 0.02 < 1 - np.isin(node, tree.leaf_nodes).mean() < 0.06
    assert not known.str.contains("-").any()
    assert known.n_unique() > 5_000
    assert 0.03 < known.value_counts(sort=True)["count"][0] / hospital.height < 0.05
    while (tree.depth[node] > 2).any():
        node = np.where(tree.depth[node] > 2, tree.parent[node], node)
    assert 0.05 < np.bincount(node).max() / hospital.height < 0.2


def test_diagnoses_depend_on_age_and_sex(hospital):
    born = hospital.filter(pl.col("diagnosis").str.starts_with("O"))
    assert set(born["sex"]) == {"F"}
    assert born["age"].is_between(15, 49).all()
    heart = pl.col("diagnosis").str.starts_with("I")
    old, young = (hospital.filter(which) for which in (pl.col.age >= 70, pl.col.age < 50))
    assert old.select(heart.mean()).item() > 2 * young.select(heart.mean()).item()
