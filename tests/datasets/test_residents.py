"""The made-up census."""

import polars as pl
import pytest

import wideberth as wb
from tests.datasets.test_proximate import PROXIMATE
from wideberth import datasets


@pytest.fixture(scope="module")
def people():
    return datasets.census()


def test_census_is_reproducible(people):
    assert people.equals(datasets.census())
    assert datasets.census(500, seed=7).equals(datasets.census(500, seed=7))


def test_census_differs_by_seed():
    one, other = datasets.census(500, seed=1), datasets.census(500, seed=2)
    assert all(not one[column].equals(other[column]) for column in one.columns)


def test_census_has_the_promised_columns(people):
    assert people.schema == {
        "id": pl.String,
        "age": pl.Int64,
        "zip": pl.String,
        "sex": pl.String,
        "education": pl.String,
        "disease": pl.String,
        "salary": pl.Int64,
    }
    assert people.height == 10_000


@pytest.mark.parametrize("rows", [1, 2, 79, 100_000])
def test_census_of_any_size_repeats_no_identifier(rows):
    people = datasets.census(rows)
    assert people.height == rows
    assert people["id"].n_unique() == rows


@pytest.mark.parametrize("rows", [0, -5])
@pytest.mark.parametrize(
    "make", [datasets.census, datasets.sal, *map(vars(datasets).get, PROXIMATE)]
)
def test_census_of_nobody_is_refused(make, rows):
    with pytest.raises(wb.ParameterError, match="at least one row"):
        make(rows)


def test_census_misses_a_few_values_in_zip_and_disease_only(people):
    missing = people.null_count().row(0, named=True)
    assert {column for column, count in missing.items() if count} == {"zip", "disease"}
    assert 50 <= missing["zip"] <= 200
    assert 100 <= missing["disease"] <= 400


def test_census_values_are_plausible(people):
    assert people["age"].is_between(17, 90).all()
    assert people["zip"].drop_nulls().str.contains(r"^[0-9]{5}$").all()
    assert people["zip"].drop_nulls().str.starts_with("0").any()
    assert set(people["sex"]) == {"F", "M"}
    assert people["salary"].min() > 0
    assert people.filter(pl.col("education") == "doctorate")["age"].min() >= 27


def test_census_diseases_are_skewed_leaves_of_the_tree(people):
    known = people["disease"].drop_nulls()
    assert set(known) == set(datasets.wang2013_figure1().leaves)
    counts = known.value_counts(sort=True)["count"]
    assert counts[0] > 5 * counts[-1]


def test_census_salaries_are_heaped(people):
    hundreds, thousands = ((people["salary"] % unit == 0).mean() for unit in (100, 1000))
    assert 0.8 < hundreds < 0.9
    assert 0.5 < thousands < 0.65


def test_census_salaries_grow_with_education_and_age(people):
    by_level = people.group_by("education").agg(pl.median("salary")).sort("salary")
    levels = ["primary", "secondary", "vocational", "bachelor", "master", "doctorate"]
    assert by_level["education"].to_list() == levels
    young, old = (people.filter(which)["salary"] for which in (pl.col.age < 25, pl.col.age > 45))
    assert young.median() < old.median()


def test_census_can_be_checked_as_it_is(people):
    result = wb.check(
        people,
        quasi=["sex", "education"],
        sensitive=["disease", "salary"],
        principles=[
            "k-anonymity:k=5",
            "distinct-l:on=disease,l=8",
            "epsilon-m:on=salary,e1=0,e2=1,m=2",
        ],
    )
    assert result.satisfied
    assert result.groups == 12
