"""The errors we found in the papers, and remarks, each with a line of Python that proves it.

All five papers are worth reading, and their main theorems hold unless an entry says otherwise.
`KINDS` says what kinds of entries there are; a "rounding" or a "choice" is no error of the paper.
What may be damage of our copies is left out.

Proofs are expressions in the names of `errata.proofs`; the test suite evaluates them, the library
only shows them. Where one rests on a number or a formula of the paper, or of a table, that is not
in the library, the entry says that it is quoted.
"""

from __future__ import annotations

from collections.abc import Iterable

from wideberth_papers.errata import deltal, li2008, machanavajjhala2006, wang2009, wang2013
from wideberth_papers.errata.erratum import KINDS, Erratum

__all__ = ["ERRATA", "KINDS", "Erratum", "as_markdown"]

#: All of them, by paper and place.
ERRATA: tuple[Erratum, ...] = (
    *machanavajjhala2006.ERRATA,
    *li2008.ERRATA,
    *wang2009.ERRATA,
    *wang2013.ERRATA,
    *deltal.ERRATA,
)


def as_markdown(errata: Iterable[Erratum] = ERRATA) -> str:
    """Return errata as a table of Markdown, numbered from 1.

    Parameters
    ----------
    errata : iterable of Erratum
        What to list; by default all.

    Examples
    --------
    >>> print(as_markdown(e for e in ERRATA if e.place == "Section 1, Figure 1"))
    | | where | the paper says | what holds, and a proof |
    |---|---|---|---|
    | 1 | deltal, Section 1, Figure 1: wrong | Alice's salary is within [490K, 510K] with ...
    """
    lines = [
        "| | where | the paper says | what holds, and a proof |",
        "|---|---|---|---|",
    ]
    for number, one in enumerate(errata, start=1):
        where = f"{one.paper}, {one.place}: {one.kind}"
        cells = [where, one.says, f"{one.holds}<br>`{one.proof}`"]
        escaped = (cell.replace("|", "\\|") for cell in cells)
        lines.append(f"| {number} | {' | '.join(escaped)} |")
    return "\n".join(lines)
