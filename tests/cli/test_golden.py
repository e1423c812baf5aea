"""Output compared letter by letter with files in tests/golden.

When output changes on purpose, refresh the files, and read the difference before keeping it::

    WIDEBERTH_GOLDEN=refresh pytest tests/cli/test_golden.py
    git diff tests/golden
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"

SALARIES = (
    *("check", "salaries.csv", "--qi", "age,zip", "--sensitive", "salary"),
    *("--principle", "k-anonymity:k=2", "--principle", "distinct-l:l=2"),
    *("--principle", "epsilon-m:epsilon=100,m=2", "--principle", "delta-l:delta=100,l=4/3"),
)
INPATIENTS = (
    *("check", "inpatients.csv", "--qi", "zip,age,nationality", "--sensitive", "condition"),
    *("--principle", "k-anonymity:k=4", "--principle", "distinct-l:l=2"),
    *("--principle", "entropy-l:l=2", "--principle", "recursive-cl:c=2,l=2"),
    *("--principle", "t-closeness:t=0.5"),
)


@pytest.mark.parametrize(
    ("name", "code", "arguments"),
    [
        ("salaries.txt", 3, SALARIES),
        ("salaries.json", 3, (*SALARIES, "--format", "json")),
        ("inpatients.txt", 3, INPATIENTS),
        ("inpatients.json", 3, (*INPATIENTS, "--format", "json")),
        ("epsilon-m.txt", 0, ("principles", "epsilon-m")),
        ("init.toml", 0, ("init", "people.csv")),
    ],
)
def test_golden(run, name, code, arguments):
    """The tables are Table 1b of Li et al. 2008 and Figure 2 of Machanavajjhala et al. 2006."""
    for table in GOLDEN.glob("*.csv"):
        shutil.copy(table, table.name)
    outcome = run(*arguments)
    assert (outcome.code, outcome.err) == (code, "")
    golden = GOLDEN / name
    if os.environ.get("WIDEBERTH_GOLDEN") == "refresh":
        golden.write_text(outcome.out, encoding="utf-8", newline="\n")
    assert outcome.out == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "table"),
    [("salaries.csv", "li2008_table1b"), ("inpatients.csv", "machanavajjhala2006_figure2")],
)
def test_the_tables_are_those_of_the_papers(name, table):
    from wideberth import datasets, tables

    printed = getattr(datasets, table)()
    assert tables.read(GOLDEN / name).rows() == [
        tuple(map(str, row)) for row in printed.select(tables.read(GOLDEN / name).columns).rows()
    ]
