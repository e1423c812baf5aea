"""An example for each principle: code, and what it prints when it is run now.

A principle without an entry of its own is tried on a paper's table that has what it needs, with the
parameters of its ``example``. So whoever registers a principle has an example on its page.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass

from wideberth.principles import Principle


@dataclass(frozen=True)
class Example:
    """A table that a principle is tried on.

    Parameters
    ----------
    about : str
        What the table is, for the reader.
    table : str
        Python that makes ``table``; may need several lines.
    arguments : str
        What else `wideberth.check` is told.
    principle : str, optional
        Other parameters than those of the principle's own example.
    """

    about: str
    table: str
    arguments: str
    principle: str | None = None


_PATIENTS = Example(
    "The 3-diverse inpatients of Machanavajjhala et al. 2006, Figure 3: three groups of four.",
    "table = datasets.machanavajjhala2006_figure3()",
    'quasi=["zip", "age", "nationality"], sensitive="condition"',
)
_SALARIES = Example(
    "Table 1b of Li, Tao, Xiao 2008: salaries of 1000, 1010, 1020 and 50000 are one of its groups.",
    "table = datasets.li2008_table1b()",
    'quasi=["age", "zip"], sensitive="salary"',
)
_POPULATION = Example(
    "Inpatients (Machanavajjhala et al. 2006, Figure 3); a population has twice as many of each.",
    "table = datasets.machanavajjhala2006_figure3()\npopulation = pl.concat([table, table])",
    'quasi=["zip", "age", "nationality"], population=population',
)
_TREE = Example(
    "Table III of Wang et al. 2013 on its tree of diseases: group 3 is all about the stomach.",
    "table = datasets.wang2013_table3()",
    'group="group", sensitive="disease",\n    hierarchies={"disease": datasets.wang2013_figure1()}',
)
_DISTRIBUTIONS = Example(
    "Table I of Wang et al. 2009: each row holds a probability for each of four diseases.",
    'names = ["flu", "asthma", "bronchitis", "none"]\n'
    "table = datasets.wang2009_table1()\n"
    'table = table.rename({name: f"disease.{name}" for name in names})',
    'quasi="age", sensitive="disease.*"',
)
_SEVERAL = Example(
    "A made-up census: what do disease and education of somebody tell of each other?",
    "table = datasets.census(1_000)",
    'quasi="sex", sensitive=["disease", "education"], worst=2',
)

#: What is tried on what, by what a principle needs.
BY_NEED: Mapping[str, Example] = {
    "size": _PATIENTS,
    "values": _PATIENTS,
    "numbers": _SALARIES,
    "population": _POPULATION,
    "tree": _TREE,
    "distance": _DISTRIBUTIONS,
    "several": _SEVERAL,
}
#: Parameters that tell more on these tables than those of the principle's own example.
PARAMETERS: Mapping[str, str] = {
    "delta-l": "delta-l:delta=10,l=2",
    "epsilon-m": "epsilon-m:epsilon=100,m=2",
    "k-e": "k-e:k=2,e=2000",
    "l-e": "l-e:l=3,e=1",
    "recursive-cl": "recursive-cl:c=2,l=3",
    "variance": "variance:t=10000000",
}


def of(cls: type[Principle]) -> str:
    """Return the part of a principle's page that shows it at work."""
    example = BY_NEED[cls.needs]
    code = _code(example, PARAMETERS.get(cls.name, cls.example))
    printed = "".join(f"# {line}\n" for line in run(code).splitlines())
    return f"## Example\n\n{example.about}\n\n```python\n{code}{printed}```\n"


def _code(example: Example, principle: str) -> str:
    imports = ["import wideberth as wb", "from wideberth import datasets"]
    if "pl." in example.table:
        imports.insert(0, "import polars as pl")
    lines = [
        *imports,
        "",
        example.table,
        "result = wb.check(",
        f"    table, {example.arguments},",
        f'    principles="{principle}",',
        ")",
        "verdict = result.principles[0]",
        "print(verdict.satisfied, verdict.achieved)",
        "for group in verdict.worst:",
        "    print(group.values, group.satisfied, group.reason)",
    ]
    return "\n".join(lines) + "\n"


def run(code: str) -> str:
    """Return what a piece of documentation prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(code, "example", "exec"), {})  # noqa: S102 - our own examples
    return out.getvalue()
