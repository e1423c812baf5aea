"""The page that collects the reproductions: what was measured, and the papers' errata.

What was measured is in docs/reproduction/, as `make reproduction` left it; it takes long and needs
real tables, so it is not made anew with the other pages. The errata are what the code says now.
"""

from __future__ import annotations

import re
from pathlib import Path

from wideberth_papers.page import ERRATA, errata
from wideberth_papers.study import SCALE

_SUMMARY = "reproduction/summary.md"
_INTRO = """\
# The papers' experiments, reproduced

Five papers are behind wideberth. `wideberth reproduce` runs their experiments anew and judges
every claim by what it measures:

{scale}

The paper's claims are told in our words, and claims of our own are marked. None of the tables is
one that a paper used, except Adult: that a bound which a paper measured is exceeded on another
table is a difference, no contradiction. "The paper's algorithm" of li2008 is `cuts = "paper"`,
which differs from the paper in [three points](policy.md).

```sh
pip install . ./papers                                     # brings the command, in a checkout
wideberth reproduce all --rows 20000                       # made-up tables in the papers' shapes
wideberth reproduce li2008 --data sal.parquet              # a real one, all of its rows
wideberth reproduce machanavajjhala2006 --data adult.csv -o adult
```

Without `--data`, tables are made up on the spot, with equal results for equal seeds (times
apart). `--data` takes files, or a folder with some, and finds out by their columns which study
they are for: SAL (age, birthplace, occupation, income), the sample files of the Australian
Taxation Office (age_range, Occ_code, Region, Gender, Partner_status, Taxable_Income), Adult of
the UCI repository (age, sex, race, marital_status, education, native_country, workclass, income,
occupation). A run that was interrupted goes on where it stopped.

## What came out
"""


def page(docs: Path) -> str:
    """Return the page, from what was measured and what the code says now.

    Parameters
    ----------
    docs : Path
        The folder that reproduction/ is in.
    """
    summary = (docs / _SUMMARY).read_text(encoding="utf-8")
    measured = summary.split("\n", 1)[1].split(f"\n{ERRATA}\n")[0].strip()
    measured = re.sub(r"\]\((?!http)", "](reproduction/", measured)
    also = sorted((docs / "reproduction").glob("*/*.md"))
    others = [f"- [{_title(path)}]({path.relative_to(docs).as_posix()})" for path in also]
    more = ["", "Also measured:", "", *others] if others else []
    scale = "\n".join(f"- *{word}*: {meaning}" for word, meaning in SCALE.items())
    return "\n".join([_INTRO.replace("{scale}", scale), measured, *more, "", errata()])


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")
