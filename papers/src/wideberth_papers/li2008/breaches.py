"""Which principle catches which breach: small groups of salaries, judged by each.

A group is breached if an adversary can place some member's salary within `NEAR` of its true value
with more than `SURE` confidence. The groups are those of Li, Tao and Xiao's Section 3.1, with two
in which nothing is breached.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import polars as pl

from wideberth.checks.check import check
from wideberth.checks.result import CheckResult
from wideberth.core.text import percent
from wideberth.datasets import li2008_table1b
from wideberth.errors import VerificationError
from wideberth.principles import Principle, parse
from wideberth_papers.study import Row, Rows, Verdict
from wideberth_papers.trends import Finding, if_measured, together

NEAR, SURE = 20, Fraction(1, 2)
#: How far the paper says two groups to lie from their table, and what is equal to that.
DISTANCE, _EQUAL = 0.1, 1e-9
PASSES, CATCHES = "passes it", "catches it"

#: What there was before, with parameters that ask for a lot of groups this small.
EARLIER = (
    "k-anonymity:k=3",
    "distinct-l:l=3",
    "entropy-l:l=3",
    "recursive-cl:c=2,l=2",
    "alpha-k:alpha=1/3,k=3",
    "m-uniqueness:m=3",
    "k-e:k=3,e=4900",
    "variance:t=4000000",
    "t-closeness:t=0.2",
)
PROPOSED = f"epsilon-m:epsilon={NEAR},m=2"
#: What came later.
LATER = f"delta-l:delta={NEAR},l=2"


class Group(NamedTuple):
    """A group of salaries, and the others of its table."""

    letter: str
    name: str
    values: Sequence[int]
    others: Sequence[int]

    @property
    def risk(self) -> Fraction:
        """How sure an adversary can be to place a member within reach of its value.

        >>> Group("A", "Andy's", [1000, 1010, 1020, 50000], []).risk
        Fraction(3, 4)
        """
        crowd = max(sum(abs(x - y) <= NEAR for y in self.values) for x in self.values)
        return Fraction(crowd, len(self.values))


def groups() -> list[Group]:
    """List the groups of the paper's Section 3.1, and two in which all is well."""
    table = li2008_table1b()
    salaries = table["salary"].to_list()
    whole = [1, 2, 3, 4000, 5000, 6000]
    spread = [8000, 16000, 24000, 33000]
    return [
        Group("A", "Table 1b, group 1", salaries[:4], salaries[4:]),
        Group("B", "one far value", [1000, 1001, 1002, 1003, 90000], spread),
        Group("C", "equal but for one", [1000, 1000, 1000, 1000, 90000], spread),
        Group("D", "all equal", [1000, 1000, 1000, 1000], spread),
        Group("E", "{1, 3, 5000}", [1, 3, 5000], [v for v in whole if v not in (1, 3, 5000)]),
        Group(
            "F", "{2, 4000, 6000}", [2, 4000, 6000], [v for v in whole if v not in (2, 4000, 6000)]
        ),
        Group("G", "spread out", spread, [1000, 1001, 1002, 1003]),
    ]


def listed() -> str:
    """Write the groups, for people."""
    return "; ".join(f"{g.letter} {', '.join(map(str, g.values))} ({g.risk})" for g in groups())


def judged(group: Group, principle: str | Principle) -> CheckResult:
    """Check one group, as one of its table.

    >>> bool(judged(groups()[0], "distinct-l:l=4")), bool(judged(groups()[0], PROPOSED))
    (True, False)
    """
    mine = pl.DataFrame({"group": [1] * len(group.values), "salary": list(group.values)})
    table = pl.DataFrame({"group": 1, "salary": [*group.values, *group.others]})
    return check(mine, group="group", sensitive="salary", principles=principle, reference=table)


def measure() -> Rows:
    """Judge every group by every principle.

    The proposed one is defined by what a breach is: if it disagrees, the program is wrong.
    """
    found: Rows = []
    for group in groups():
        for text in (*EARLIER, PROPOSED, LATER):
            result = judged(group, text)
            if text == PROPOSED and result.satisfied == (group.risk > SURE):
                raise VerificationError(
                    f"{text} is not what it is defined to be on group {group.letter}",
                    hint="this is a defect of wideberth, please report it",
                )
            found.append(
                {
                    "measured": "breach",
                    "letter": group.letter,
                    "group": group.name,
                    "salaries": ", ".join(map(str, group.values)),
                    "risk": float(group.risk),
                    "breached": group.risk > SURE,
                    "principle": text,
                    "title": parse(text).title,
                    "judgement": PASSES if result.satisfied else CATCHES,
                    "reason": result.principles[0].worst[0].reason,
                    "distance": result.principles[0].achieved.get("t")
                    if text.startswith("t-closeness")
                    else None,
                }
            )
    return found


@if_measured
def judge(rows: Rows) -> Verdict:
    """Say whether each earlier principle lets some breach pass, and the proposed one none."""
    return together([_earlier(rows), _proposed(rows), _distances(rows)])


def _earlier(rows: Rows) -> Finding:
    missed = {text: _missed(rows, text) for text in EARLIER}
    perfect = [text for text, names in missed.items() if not names]
    counts = ", ".join(f"{text} {len(names)}" for text, names in missed.items())
    breached = len({row["group"] for row in rows if row["breached"]})
    said = f"Of {breached} breached groups pass: {counts}."
    if perfect:
        return Finding("fails", said, f"{', '.join(perfect)} let no breach pass")
    return Finding("holds", said)


def _proposed(rows: Rows) -> Finding:
    mine = [row for row in rows if row["principle"] == PROPOSED]
    wrong = [row["group"] for row in mine if row["breached"] == (row["judgement"] == PASSES)]
    if wrong:
        return Finding("fails", f"{PROPOSED} misjudges some.", f"{PROPOSED}: {', '.join(wrong)}")
    return Finding("holds", f"{PROPOSED} catches all of them, and passes the others.")


def _distances(rows: Rows) -> Finding:
    """Compare the two groups that t-closeness cannot tell apart."""
    found: dict[str, Row] = {
        row["group"]: row
        for row in rows
        if row["distance"] is not None and row["group"].startswith("{")
    }
    if len(found) < 2:
        return Finding("open", "Distances were not measured.")
    said = " and ".join(
        f"{name} lies {row['distance']:.3g} from its table and has a risk of {percent(row['risk'])}"
        for name, row in found.items()
    )
    distances = [row["distance"] for row in found.values()]
    alike = max(distances) - min(distances) < _EQUAL
    if not alike or len({row["breached"] for row in found.values()}) == 1:
        return Finding("fails", f"{said}.", said)
    if abs(distances[0] - DISTANCE) < _EQUAL:
        return Finding("holds", f"{said}.")
    return Finding("differs", f"{said}; the paper says {DISTANCE:g}.")


def _missed(rows: Rows, principle: str) -> list[str]:
    return [
        row["group"]
        for row in rows
        if row["principle"] == principle and row["breached"] and row["judgement"] == PASSES
    ]
