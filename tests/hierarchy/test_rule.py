"""Hierarchies as a policy specifies them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hierarchy.test_tree import same, write
from wideberth.errors import HierarchyError
from wideberth.hierarchy import (
    dates,
    flat,
    intervals,
    masks,
    parse_spec,
    read_hierarchy,
)

# ---- what a policy says


def test_specs(tmp_path: Path) -> None:
    write(tmp_path / "sex.csv", "f;*\nm;*\n")
    write(tmp_path / "tree.csv", "code,within\na,X\nb,X\n")
    sex = read_hierarchy(tmp_path / "sex.csv")
    assert same(parse_spec("sex.csv", [], tmp_path), sex)
    assert same(parse_spec(str(tmp_path / "sex.csv"), [], Path("/nowhere")), sex)
    assert parse_spec({"file": "sex.csv", "header": True}, [], tmp_path).leaves == ("m",)
    assert parse_spec({"file": "sex.csv", "delimiter": ","}, [], tmp_path).leaves == ("f;*", "m;*")
    parents = parse_spec({"parents": "tree.csv", "header": True}, [], tmp_path)
    assert parents.labels == ("X", "a", "b")

    numbers = ["34", None, "38"]
    assert same(parse_spec({"interval": [5, 10]}, numbers, tmp_path), intervals(numbers, [5, 10]))
    assert same(
        parse_spec({"interval": 10, "origin": 4}, numbers, tmp_path), intervals(numbers, 10, 4)
    )
    assert same(parse_spec({"mask": 2}, numbers, tmp_path), masks(numbers, 2))
    assert same(parse_spec({"mask": 2, "char": "x"}, numbers, tmp_path), masks(numbers, 2, "x"))
    days = ["2024-03-05"]
    assert same(parse_spec({"date": ["year"]}, days, tmp_path), dates(days, ["year"]))
    assert same(parse_spec({"date": "month"}, days, tmp_path), dates(days, "month"))
    assert same(parse_spec({"flat": True}, numbers, tmp_path), flat(numbers))


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        (5, "a hierarchy is neither a path nor a table of keys", "file, parents, interval, mask"),
        ({}, "no key of a hierarchy is known: none", "parents, interval, mask, date, flat"),
        ({"masks": 5}, "no key of a hierarchy is known: 'masks'", "mask, date"),
        ({"mask": 5, "date": "year"}, "a hierarchy is both mask and date", "one of the keys"),
        ({"mask": 5, "origin": 1}, "hierarchy key 'origin' does not exist", "mask takes char"),
        ({"date": "year", "x": 1}, "hierarchy key 'x' does not exist", "date takes no other key"),
        ({"file": "a", "x": 1}, "hierarchy key 'x' does not exist", "file takes header, delimiter"),
        ({"mask": "5"}, "hierarchy key 'mask' is not a whole number", ""),
        ({"mask": True}, "hierarchy key 'mask' is not a whole number", ""),
        ({"mask": 5, "char": 0}, "hierarchy key 'char' is not a text", ""),
        ({"interval": True}, "hierarchy key 'interval' is not a number or a list of numbers", ""),
        ({"interval": [5, [6]]}, "hierarchy key 'interval' is not a number or a list", ""),
        ({"interval": 5, "origin": []}, "hierarchy key 'origin' is not a number", ""),
        ({"date": 5}, "hierarchy key 'date' is not a text or a list of texts", ""),
        ({"flat": False}, "hierarchy key 'flat' is not true", ""),
        ({"flat": 1}, "hierarchy key 'flat' is not true", ""),
        ({"flat": True, "x": 1}, "hierarchy key 'x' does not exist", "flat takes no other key"),
        ({"flat": True, "mask": 5}, "a hierarchy is both mask and flat", "one of the keys"),
        ({"file": 5}, "hierarchy key 'file' is not a text", ""),
        ({"file": "a", "header": 1}, "hierarchy key 'header' is not true or false", ""),
    ],
)
def test_wrong_specs(spec: object, message: str, hint: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        parse_spec(spec, [], Path())  # type: ignore[arg-type]
    assert caught.value.what.startswith(message)
    assert hint in (caught.value.hint or "")


def test_a_spec_passes_row_numbers_on() -> None:
    with pytest.raises(HierarchyError, match="first in row 17"):
        parse_spec({"interval": 5}, ["x"], Path(), rows=[17])
    with pytest.raises(HierarchyError, match="first in row 17"):
        parse_spec({"date": "year"}, ["x"], Path(), rows=[17])
