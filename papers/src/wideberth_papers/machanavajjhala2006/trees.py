"""The hierarchies of the Adult table, as high as the literature's (Incognito, l-diversity).

Ages go into ranges of 5, 10 and 20 years; sex, race and income are shown or not; the others climb
trees: marital status, country and employer two steps, education three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from wideberth.hierarchy.load import from_rows
from wideberth.hierarchy.tree import TOP, Hierarchy

#: Where values go that are in no tree.
_ELSE = "other"

_MARITAL = {
    "married": ("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
    "single": ("Never-married", "Divorced", "Separated", "Widowed"),
}
_EDUCATION: dict[str, dict[str, tuple[str, ...]]] = {
    "no degree": {
        "primary": ("Preschool", "1st-4th", "5th-6th", "7th-8th"),
        "secondary": ("9th", "10th", "11th", "12th"),
    },
    "school": {
        "high school": ("HS-grad",),
        "college": ("Some-college", "Assoc-voc", "Assoc-acdm"),
    },
    "university": {
        "undergraduate": ("Bachelors",),
        "graduate": ("Masters", "Prof-school", "Doctorate"),
    },
}
_COUNTRY = {
    "North America": ("United-States", "Canada", "Outlying-US(Guam-USVI-etc)"),
    "Latin America": (
        "Mexico", "Puerto-Rico", "El-Salvador", "Cuba", "Jamaica", "Dominican-Republic",
        "Guatemala", "Columbia", "Haiti", "Nicaragua", "Peru", "Ecuador", "Trinadad&Tobago",
        "Honduras",
    ),
    "Europe": (
        "Germany", "England", "Italy", "Poland", "Portugal", "Greece", "France", "Ireland",
        "Yugoslavia", "Hungary", "Scotland", "Holand-Netherlands",
    ),
    "Asia": (
        "Philippines", "India", "South", "China", "Vietnam", "Japan", "Iran", "Taiwan", "Hong",
        "Cambodia", "Thailand", "Laos",
    ),
}  # fmt: skip
_WORKCLASS = {
    "government": ("Federal-gov", "Local-gov", "State-gov"),
    "own": ("Self-emp-not-inc", "Self-emp-inc"),
    "other": ("Private", "Without-pay", "Never-worked"),
}
_FLAT: Mapping[str, Any] = {"flat": True}


def adult_trees(table: pl.DataFrame) -> dict[str, Mapping[str, Any] | Hierarchy]:
    """Give each quasi-identifier of an Adult table its hierarchy.

    Parameters
    ----------
    table : polars.DataFrame
        Its values are all covered: those that no tree knows stand under "other".

    Returns
    -------
    dict
        By column, what `anonymize` and `lattice` take as `hierarchies`.

    Examples
    --------
    >>> table = pl.DataFrame({"marital_status": ["Divorced", "Engaged"], "sex": ["Male", "Male"]})
    >>> trees = adult_trees(table)
    >>> trees["marital_status"].generalize("Engaged", 1), trees["sex"]
    ('other', {'flat': True})
    """
    rules: dict[str, Mapping[str, Any] | Hierarchy] = {
        "age": {"interval": [5, 10, 20]},
        "sex": _FLAT,
        "race": _FLAT,
        "marital_status": _tree(_parts(_MARITAL), table, "marital_status"),
        "education": _tree(
            [
                [leaf, *above, part]
                for part, one in _EDUCATION.items()
                for leaf, *above in _parts(one)
            ],
            table,
            "education",
        ),
        "native_country": _tree(_parts(_COUNTRY), table, "native_country"),
        "workclass": _tree(_parts(_WORKCLASS), table, "workclass"),
        "income": _FLAT,
    }
    return {name: rule for name, rule in rules.items() if name in table.columns}


def _parts(tree: Mapping[str, Iterable[str]]) -> list[list[str]]:
    return [[leaf, part] for part, leaves in tree.items() for leaf in leaves]


def _tree(paths: Sequence[Sequence[str]], table: pl.DataFrame, name: str) -> Hierarchy:
    """Put the top above the paths, and beside them what only the table has."""
    known = {path[0] for path in paths}
    values = table[name].unique().drop_nulls().to_list() if name in table.columns else []
    others = [[value] + [_ELSE] * (len(paths[0]) - 1) for value in sorted(set(values) - known)]
    return from_rows([[*path, TOP] for path in (*paths, *others)])
