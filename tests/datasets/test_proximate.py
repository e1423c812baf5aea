"""Made-up values with a distance."""

import numpy as np
import polars as pl
import pytest
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from scipy.spatial.distance import cdist

import wideberth as wb
from wideberth import datasets
from wideberth.core.exact import fraction

#: Made-up tables whose sensitive values have a distance, and how far that may be.
PROXIMATE = {
    "symptoms": ("variational", 0.1),
    "measurements": ("euclidean", 1),
    "addresses": ("haversine", 1),
    "notes": ("edit", 10),
}


# values with a distance


@pytest.fixture(scope="module")
def tables():
    return {name: getattr(datasets, name)(4_000) for name in PROXIMATE}


@pytest.mark.parametrize("name", PROXIMATE)
def test_values_with_a_distance_are_reproducible(tables, name):
    make = getattr(datasets, name)
    assert tables[name].equals(make(4_000))
    one, other = make(500, seed=1), make(500, seed=2)
    assert one.equals(make(500, seed=1))
    assert all(not one[column].equals(other[column]) for column in one.columns)


@pytest.mark.parametrize("name", PROXIMATE)
@pytest.mark.parametrize("rows", [1, 2, 37])
def test_values_with_a_distance_for_any_number_of_people(name, rows):
    assert getattr(datasets, name)(rows).height == rows


@pytest.mark.parametrize("name", PROXIMATE)
def test_values_with_a_distance_are_of_plausible_people(tables, name):
    table = tables[name]
    assert table.columns[:3] == ["age", "zip", "sex"]
    assert sum(table.null_count().row(0)) == 0
    least, most = (16, 67) if name == "addresses" else (0, 95)
    assert table["age"].is_between(least, most).all()
    assert table["age"].value_counts()["count"].max() < 0.04 * table.height  # no heap at an end
    assert table["zip"].str.contains(r"^[0-9]{5}$").all()
    assert set(table["sex"]) == {"F", "M"}


@pytest.mark.parametrize("name", PROXIMATE)
def test_values_with_a_distance_leave_room_for_groups_of_ten(tables, name):
    """By Hajnal and Szemerédi, neighbourhoods of a tenth suffice for k = 10 and δ = 1.

    500 rows are looked at, and half of a tenth is asked for.
    """
    epsilon = PROXIMATE[name][1]
    near = (_far(name, tables[name]) <= epsilon + 1e-9).mean(axis=1)
    assert 0.001 < near.mean() < 0.01
    assert near.max() < 0.05


@pytest.mark.parametrize("name", PROXIMATE)
def test_neighbours_resemble_each_other_in_age_or_place(tables, name):
    """Whom a value is near depends on the quasi-identifiers, if not by much."""
    table = tables[name]
    one, other = np.nonzero(_far(name, table) <= PROXIMATE[name][1] + 1e-9)
    one, other = one[one != other], other[one != other]
    zips = table["zip"].str.slice(0, 3).to_numpy()
    ages = table["age"].to_numpy()
    alike = (zips[one] == zips[other]).mean()
    by_chance = ((table["zip"].str.slice(0, 3).value_counts()["count"] / table.height) ** 2).sum()
    assert by_chance * 1.05 < alike < 0.6
    if name != "addresses":
        assert 0.2 < np.corrcoef(ages[one], ages[other])[0, 1] < 0.9


def _far(name, table):
    """Return the distances of 500 rows to all."""
    distance = PROXIMATE[name][0]
    if distance == "edit":
        texts = table["note"].to_list()
        return process.cdist(texts[:500], texts, scorer=Levenshtein.distance)
    if distance == "variational":
        shares = table.select("^disease.*$").to_numpy()
        return cdist(shares[:500], shares, "cityblock") / 2
    vectors = np.array(table[table.columns[3]].to_list())
    if distance == "euclidean":
        return cdist(vectors[:500], vectors)
    latitude, longitude = np.radians(vectors).T
    between = np.sin((latitude[:500, None] - latitude) / 2) ** 2
    along = np.sin((longitude[:500, None] - longitude) / 2) ** 2
    chord = between + np.cos(latitude[:500, None]) * np.cos(latitude) * along
    return 2 * 6371.0088 * np.arcsin(np.sqrt(chord))


@pytest.mark.parametrize("outcomes", [3, 8, 12])
def test_symptoms_are_distributions_to_the_last_digit(outcomes):
    table = datasets.symptoms(300, outcomes=outcomes)
    shares = table.select("^disease.*$")
    assert shares.width == outcomes
    for row in shares.iter_rows():
        assert sum(fraction(share) for share in row) == 1
        assert all(share >= 0 and 100 % fraction(share).denominator == 0 for share in row)


@pytest.mark.parametrize(
    ("rows", "distinct", "found"),
    [(200_000, None, 10_000), (4_000, None, 1_000), (700, None, 700), (700, 5, 5), (700, 1, 1)],
)
def test_symptoms_differ_as_often_as_asked(rows, distinct, found):
    table = datasets.symptoms(rows, distinct=distinct)
    assert table.select("^disease.*$").unique().height == found


@pytest.mark.parametrize(
    ("make", "options", "complaint"),
    [
        (datasets.symptoms, {"outcomes": 2}, "outcomes must be a whole number from 3 to 12"),
        (datasets.symptoms, {"outcomes": 13}, "outcomes must be"),
        (datasets.symptoms, {"distinct": 0}, "distinct must be a whole number from 1 to 100 "),
        (datasets.symptoms, {"distinct": 101}, "distinct must be"),
        (datasets.measurements, {"dimensions": 0}, "dimensions must be"),
    ],
)
def test_values_with_a_distance_that_cannot_be_made(make, options, complaint):
    with pytest.raises(wb.ParameterError, match=complaint):
        make(100, **options)


def test_measurements_are_lists_of_different_floats(tables):
    table = tables["measurements"]
    assert table.schema["profile"] == pl.List(pl.Float64)
    assert set(table["profile"].list.len()) == {16}
    assert table["profile"].n_unique() == table.height
    assert set(datasets.measurements(50, dimensions=1)["profile"].list.len()) == {1}


def test_addresses_are_shared_by_some_and_lie_in_towns_of_differing_size(tables):
    homes = tables["addresses"]["home"]
    assert homes.dtype == pl.List(pl.Float64)
    assert 0.3 < homes.n_unique() / len(homes) < 0.8
    latitude, longitude = homes.list.get(0), homes.list.get(1)
    assert latitude.is_between(43, 47).all()
    assert longitude.is_between(-31, -26).all()
    squares = (latitude * 5).floor() * 1000 + (longitude * 5).floor()
    counts = squares.value_counts(sort=True)["count"]
    assert counts[0] > 5 * counts.median()


def test_notes_are_short_texts_and_mostly_different(tables):
    notes = tables["notes"]["note"]
    assert notes.n_unique() > 0.85 * len(notes)
    assert notes.str.len_chars().is_between(15, 80).all()
    ages = [
        tables["notes"].filter(pl.col("note").str.contains(word))["age"].mean()
        for word in ("earache", "headache", "dizzy")
    ]
    assert ages == sorted(ages)
