"""The synthetic tables, and the shapes of the printed ones."""

import numpy as np
import polars as pl
import pytest
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from scipy.spatial.distance import cdist

import wideberth as wb
from wideberth import datasets
from wideberth.core.codes import encode
from wideberth.core.exact import fraction
from wideberth.core.groups import Partition
from wideberth.principles import parse

PRINTED = {
    "machanavajjhala2006_figure1": (12, 5),
    "machanavajjhala2006_figure2": (12, 5),
    "machanavajjhala2006_figure3": (12, 5),
    "li2008_table1a": (8, 3),
    "li2008_table1b": (8, 4),
    "zaremirakabad2012_figure1": (10, 3),
    "zaremirakabad2012_figure2": (5, 2),
    "wang2009_table1": (8, 8),
    "wang2013_table1": (9, 6),
    "wang2013_table2": (9, 4),
    "wang2013_table3": (9, 2),
    "wang2013_table4": (9, 4),
    "wang2013_table5": (9, 2),
}


#: Made-up tables whose sensitive values have a distance, and how far that may be.
PROXIMATE = {
    "symptoms": ("variational", 0.1),
    "measurements": ("euclidean", 1),
    "addresses": ("haversine", 1),
    "notes": ("edit", 10),
}


@pytest.fixture(scope="module")
def people():
    return datasets.census()


@pytest.fixture(scope="module")
def incomes():
    return datasets.sal(200_000)


@pytest.mark.parametrize(("name", "shape"), PRINTED.items())
def test_printed_tables_have_the_printed_shape_and_nothing_missing(name, shape):
    table = getattr(datasets, name)()
    assert table.shape == shape
    assert sum(table.null_count().row(0)) == 0


def test_every_public_function_gives_a_table_or_a_tree():
    made_up = {"adults", "census", "orders", "patients", "sal", *PROXIMATE}
    assert set(datasets.__all__) == {*PRINTED, *made_up, "wang2013_figure1"}
    assert {name for name, item in vars(datasets).items() if callable(item)} == set(
        datasets.__all__
    )


def test_printed_tables_cannot_be_spoilt_for_the_next_caller():
    datasets.li2008_table1a().drop_in_place("salary")
    assert "salary" in datasets.li2008_table1a().columns


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
