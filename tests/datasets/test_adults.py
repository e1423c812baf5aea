"""Made-up adults and orders: the shapes of the literature's tables, and what depends on what."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from wideberth import datasets
from wideberth.errors import ParameterError

DATA = Path(os.environ.get("WIDEBERTH_DATA", Path(__file__).parents[3] / "shared" / "data"))
REAL = DATA / "adult.csv"


@pytest.fixture(scope="module")
def people():
    return datasets.adults(100_000)


@pytest.fixture(scope="module")
def sales():
    return datasets.orders(200_000)


def share(table: pl.DataFrame, column: str, value: str, **given: str) -> float:
    """Tell how common a value is among the rows that have some other values."""
    return float((table.filter(**given)[column] == value).mean())


@pytest.mark.parametrize("make", [datasets.adults, datasets.orders])
def test_equal_seeds_give_equal_tables(make):
    assert make(500, seed=7).equals(make(500, seed=7))
    assert not make(500, seed=7).equals(make(500, seed=8))
    assert make(1).height == 1
    with pytest.raises(ParameterError, match="at least one row, not 0"):
        make(0)


# ---- adults


def test_adults_have_the_printed_numbers_of_values(people):
    """Figure 4, but for occupations: it prints 41 of them, as many as countries; there are 14."""
    assert people["age"].n_unique() == 74
    assert {name: people[name].n_unique() for name in people.columns[1:]} == {
        "sex": 2,
        "race": 5,
        "marital_status": 7,
        "education": 16,
        "native_country": 41,
        "workclass": 7,
        "income": 2,
        "occupation": 14,
    }
    assert sum(people.null_count().row(0)) == 0


def test_more_than_a_block_of_adults():
    many = datasets.adults(70_000)
    assert many.height == 70_000
    assert not many[65_536:].equals(many[: 70_000 - 65_536])


@pytest.mark.parametrize(
    ("column", "value", "more", "less"),
    [
        (
            "income",
            ">50K",
            {"marital_status": "Married-civ-spouse"},
            {"marital_status": "Divorced"},
        ),
        ("income", ">50K", {"education": "Masters"}, {"education": "HS-grad"}),
        ("income", ">50K", {"occupation": "Exec-managerial"}, {"occupation": "Other-service"}),
        ("occupation", "Adm-clerical", {"sex": "Female"}, {"sex": "Male"}),
        ("occupation", "Prof-specialty", {"education": "Doctorate"}, {"education": "Bachelors"}),
        ("workclass", "Local-gov", {"occupation": "Protective-serv"}, {"occupation": "Sales"}),
        ("native_country", "India", {"race": "Asian-Pac-Islander"}, {"race": "White"}),
    ],
)
def test_what_depends_on_what(people, column, value, more, less):
    assert share(people, column, value, **more) > 2 * share(people, column, value, **less)


def test_the_young_are_single_and_the_old_are_widowed(people):
    young, old = people.filter(pl.col("age") < 25), people.filter(pl.col("age") > 65)
    assert share(young, "marital_status", "Never-married") > 0.8
    assert share(old, "marital_status", "Widowed") > 0.15
    assert share(young, "education", "Doctorate") < 0.001


@pytest.mark.skipif(not REAL.exists(), reason="needs the real table")
def test_shares_are_near_the_real_ones(people):
    real = pl.read_csv(REAL, null_values="?").drop_nulls()
    for column in people.columns[1:]:
        shares = {
            name: dict(table[column].value_counts(normalize=True).iter_rows())
            for name, table in (("real", real), ("made", people))
        }
        assert set(shares["real"]) == set(shares["made"])
        for value, real_share in shares["real"].items():
            assert shares["made"][value] == pytest.approx(real_share, abs=0.02), (column, value)
    assert people["age"].mean() == pytest.approx(real["age"].mean(), abs=1)


# ---- orders


def test_orders_have_no_more_values_than_printed(sales):
    printed = {
        "zipcode": 31_953,
        "order_date": 320,
        "gender": 2,
        "style": 1_509,
        "price": 346,
        "quantity": 1,
        "shipment": 2,
        "cost": 147,
    }
    assert sales.columns == list(printed)
    for name, most in printed.items():
        assert 0.75 * most <= sales[name].n_unique() <= most
    assert sales["zipcode"].str.contains(r"^\d{5}$").all()
    assert sales["price"].is_between(1, 9_999).all()
    assert (sales["cost"] % 100 == 0).all()


def test_most_styles_always_cost_the_same(sales):
    costs = sales.group_by("style").agg(pl.col("cost").n_unique())["cost"]
    assert 0.55 < (costs == 1).mean() < 0.75
    assert costs.max() <= 4


def test_the_house_does_not_depend_on_the_seed(sales):
    other = datasets.orders(200_000, seed=1)
    same = [
        table.group_by("style").agg(pl.col("price").max()).sort("style") for table in (sales, other)
    ]
    both = same[0].join(same[1], on="style")
    assert (both["price"] == both["price_right"]).mean() > 0.99
