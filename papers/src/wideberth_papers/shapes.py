"""The shapes of the literature's tables."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from wideberth_papers.sources import Shape


def _with_income(column: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Leave out missing values; losses and zeros, too: no range is relative to them."""
    return lambda table: table.drop_nulls().filter(pl.col(column) > 0)


def _taxed(table: pl.DataFrame) -> pl.DataFrame:
    """Keep who has an income, and write the lowest ages so that they come first.

    As texts, "under 20" comes after "70 and over": groups and queries would join the youngest with
    the oldest.
    """
    kept = _with_income("taxable_income")(table)
    if kept["age_range"].dtype != pl.String:  # codes, which are in order
        return kept
    return kept.with_columns(pl.col("age_range").str.replace("(?i)^under 20$", "0 to 19"))


#: The census of incomes that proximity privacy is measured on; `datasets.sal` makes one up.
SAL = Shape(
    name="SAL",
    quasi=("age", "birthplace", "occupation"),
    sensitive=("income",),
    whole=("age", "birthplace", "occupation", "income"),
    keep=_with_income("income"),
)

#: The sample files of the Australian Taxation Office.
ATO = Shape(
    name="ATO",
    quasi=("age_range", "occ_code", "region", "gender", "partner_status"),
    sensitive=("taxable_income",),
    whole=("taxable_income",),
    sparse=True,
    keep=_taxed,
)

#: The census extract of the UCI repository, rows with missing values left out as in the papers;
#: `datasets.adults` makes one up.
ADULT = Shape(
    name="Adult",
    quasi=(
        "age",
        "sex",
        "race",
        "marital_status",
        "education",
        "native_country",
        "workclass",
        "income",
    ),
    sensitive=("occupation",),
    whole=("age",),
    keep=pl.DataFrame.drop_nulls,
)
