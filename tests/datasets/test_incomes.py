"""The made-up incomes."""

import numpy as np
import polars as pl
import pytest

from wideberth import datasets
from wideberth.core.codes import encode
from wideberth.core.groups import Partition
from wideberth.principles import parse


@pytest.fixture(scope="module")
def incomes():
    return datasets.sal(200_000)


# sal


def test_sal_is_reproducible(incomes):
    assert incomes.equals(datasets.sal(200_000))
    one, other = datasets.sal(500, seed=1), datasets.sal(500, seed=2)
    assert all(not one[column].equals(other[column]) for column in one.columns)


def test_sal_has_the_promised_columns(incomes):
    assert incomes.schema == {
        "age": pl.Int16,
        "birthplace": pl.Int16,
        "occupation": pl.Int16,
        "income": pl.Int32,
    }
    assert sum(incomes.null_count().row(0)) == 0


@pytest.mark.parametrize(
    ("column", "lowest", "highest", "distinct"),
    [
        ("age", 16, 93, 78),
        ("birthplace", 1, 710, 250),
        ("occupation", 1, 983, 450),
        ("income", 1_000, 100_000, 900),
    ],
)
def test_sal_spans_the_domains_of_the_literature(incomes, column, lowest, highest, distinct):
    assert incomes[column].min() == lowest
    assert incomes[column].max() == highest
    assert incomes[column].n_unique() >= distinct


@pytest.mark.parametrize("rows", [1, 2, 262_144, 262_145])  # a block, and one more
def test_sal_of_any_size(rows):
    assert datasets.sal(rows).height == rows


def test_sal_is_the_same_country_whatever_the_seed(incomes):
    other = datasets.sal(200_000, seed=7)
    for column in ("birthplace", "occupation"):
        common = set(incomes[column]) & set(other[column])
        assert len(common) > 0.95 * incomes[column].n_unique()


def test_sal_incomes_depend_on_age_occupation_and_birthplace(incomes):
    income = pl.col("income").log()
    assert incomes.select(pl.corr("age", income)).item() > 0.2
    assert incomes.select(pl.corr("occupation", income)).item() < -0.15  # managers come first
    home, abroad = (incomes.filter(where)["income"] for where in (_HOME, ~_HOME))
    assert home.median() > abroad.median()


_HOME = pl.col.birthplace <= 56


def test_sal_occupations_depend_on_age_and_birthplace(incomes):
    manages = pl.col("occupation") <= 42
    assert incomes.select(pl.corr("age", manages)).item() > 0.05
    assert incomes.select(pl.corr(_HOME, manages)).item() > 0.02


def test_sal_incomes_are_heaped(incomes):
    hundreds, thousands = ((incomes["income"] % unit == 0).mean() for unit in (100, 1000))
    assert hundreds == 1
    assert 0.45 < thousands < 0.6


@pytest.mark.parametrize(("epsilon", "m", "room"), [(4500, 5, 8), ("10%", 4, 12)])
def test_sal_as_a_whole_can_be_made_anonymous(incomes, epsilon, m, room):
    """With room to spare, so that there is something to gain from splitting."""
    assert feasible(incomes, epsilon, m)
    assert feasible(incomes, epsilon, room)
    assert not feasible(incomes, epsilon, 2 * room)


@pytest.mark.parametrize("rows", [2_000, 20_000])
def test_small_sal_can_be_made_anonymous_too(rows):
    assert feasible(datasets.sal(rows), 4500, 5)
    assert feasible(datasets.sal(rows), "10%", 4)


@pytest.mark.parametrize(
    ("low", "high"),
    [(lambda v: v - 4000, lambda v: v + 4000), (lambda v: 0.85 * v, lambda v: 1.15 * v)],
)
def test_sal_is_where_perturbation_is_just_possible(incomes, low, high):
    income = np.sort(incomes["income"].to_numpy())
    values = np.unique(income)
    near = np.searchsorted(income, high(values), "right") - np.searchsorted(income, low(values))
    assert 0.185 < near.max() / len(income) < 0.2


def feasible(table, epsilon, m):
    """Tell whether some partition of the whole table satisfies (ε,m)-anonymity."""
    column = encode(table["income"])
    whole = Partition.by_equality([], table.height).histograms(column)
    (answer,) = parse(f"epsilon-m:epsilon={epsilon},m={m}").bind(column.domain).feasible(whole)
    return answer
