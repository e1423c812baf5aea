"""Columns by name, or all of a prefix at once: ``disease.*`` for disease.flu and the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T")

_ALL = ".*"
#: The endings of the columns in which a quasi-identifier is published as bounds.
BOUNDS = ("min", "max", "missing")


def short_form_prefix(name: str) -> str | None:
    """Return how the columns begin that a short form stands for; None if it is no short form.

    >>> short_form_prefix("disease.*"), short_form_prefix("disease")
    ('disease.', None)
    """
    return name.removesuffix("*") if name.endswith(_ALL) else None


def name_covers_column(name: str, column: str) -> bool:
    """Return whether a name stands for a column: it is the same, or the short form of its prefix.

    >>> name_covers_column("disease.*", "disease.flu"), name_covers_column("disease.*", "diseases")
    (True, False)
    """
    begin = short_form_prefix(name)
    return name == column or (begin is not None and column.startswith(begin))


def expand_short_forms(names: Iterable[str], columns: Collection[str]) -> list[str]:
    """Put the columns that a short form stands for in its place.

    >>> expand_short_forms(["age", "p.*"], ["p.a", "age", "p.b"])
    ['age', 'p.a', 'p.b']
    """
    # A column of that very name goes first. A name that stands for no column stays, for whatever
    # needs the column to refuse it.
    found = []
    for name in names:
        meant = (
            []
            if name in columns
            else [column for column in columns if name_covers_column(name, column)]
        )
        found += meant or [name]
    return found


def spread_over_columns(said: Mapping[str, T], columns: Collection[str]) -> dict[str, T]:
    """Put columns in the place of short forms; what is said of a column itself goes first.

    >>> spread_over_columns({"p.a": "text", "p.*": "float"}, ["p.a", "p.b"])
    {'p.a': 'text', 'p.b': 'float'}
    """
    meant = {name: expand_short_forms([name], columns) for name in said}
    return {
        **{column: said[name] for name in said for column in meant[name]},
        **{name: said[name] for name in said if meant[name] == [name]},
    }


def prefix_of(columns: Sequence[str]) -> str | None:
    """Return what is before the last point that two or more columns share, or None.

    >>> prefix_of(["disease.flu", "disease.asthma"])
    'disease'
    >>> prefix_of(["disease.flu", "age"])
    """
    paths = [column.split(".")[:-1] for column in columns]
    shared = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return ".".join(shared) if len(columns) > 1 and any(shared) else None


def attribute_label(columns: Sequence[str]) -> str:
    """Name columns that are one value together, shortly if they share a prefix.

    >>> attribute_label(["disease.flu", "disease.asthma"]), attribute_label(["lat", "lon"])
    ('disease.*', 'lat+lon')
    """
    prefix = prefix_of(columns)
    return "+".join(columns) if prefix is None else prefix + _ALL


def absent_column_message(
    name: str, columns: Collection[str], where: str = "the table"
) -> tuple[str, str | None]:
    """Return the message that a name stands for no column, and the nearest name, if any."""
    begin = short_form_prefix(name)
    what, known = f"{where} has no column '{name}'", list(columns)
    if begin is not None:
        what = f"{where} has no column that begins with '{begin}'"
        known = sorted({column.rpartition(".")[0] + _ALL for column in columns if "." in column})
    return what, next(iter(get_close_matches(name, known, n=1)), None)
