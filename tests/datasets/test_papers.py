"""The shapes of the printed tables."""

import pytest

from tests.datasets.test_proximate import PROXIMATE
from wideberth import datasets

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
