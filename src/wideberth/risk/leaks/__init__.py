"""What a release gives away besides its groups.

Each check is one function that returns findings, the fewer the better: none if all is well. What a
check cannot see is said in its module.

`row_order`
    the order of the rows: that of the original, or one that chance does not explain;
`identifiers`
    columns that number or name the rows, texts that look like addresses or numbers of people,
    insensitive columns that tell rows apart;
`formulas`
    cells of a file of text that a spreadsheet program would run;
`exact_ends`
    intervals that end at people's own values;
`intersect`
    several releases of one table, of which each rules out what the others leave possible;
`suppression_findings`
    rows that were left out, and what totals tell about them;
`swap_audit`
    groups that depend on who has which sensitive value.

No text of a finding, and no figure, holds a value of the table.
"""

from wideberth.risk.leaks.cells import formulas, personal_texts
from wideberth.risk.leaks.identifiers import identifiers, row_numbers
from wideberth.risk.leaks.interval_ends import exact_ends
from wideberth.risk.leaks.releases import intersect, not_combined
from wideberth.risk.leaks.sequence import row_order
from wideberth.risk.leaks.suppressed_rows import suppression_findings
from wideberth.risk.leaks.swaps import swap_audit

__all__ = [
    "exact_ends",
    "formulas",
    "identifiers",
    "intersect",
    "not_combined",
    "personal_texts",
    "row_numbers",
    "row_order",
    "suppression_findings",
    "swap_audit",
]
