"""The verdict on a release: one rule, and one word, for audit, report and app.

"Not ready"
    A finding is of high severity; a principle that is violated is one.
"With care"
    Nothing of that kind, but something to look at: a finding of medium severity, a sensitive column
    that no principle protects, no policy to judge by, a seed that is for tests, roles that were
    guessed, groups that overlap and tell more together, several releases, or little use: more than
    half of the detail lost, or more than one row in ten left out.
"In order"
    A policy that is met, and none of these.

docs/audit.md says the same to readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wideberth.core.text import counted, percent
from wideberth.risk.findings import NOT_EXHAUSTED, SEVERAL, SEVERITIES, UNPROTECTED

Level = Literal["good", "caution", "bad"]

#: A verdict in a word, and the sign that goes with it.
WORDS: dict[str, str] = {"good": "In order", "caution": "With care", "bad": "Not ready"}
MARKS: dict[str, str] = {"good": "✓", "caution": "▲", "bad": "✗"}
#: Shares beyond which little is left to use. Half of the detail lost (NCP) means that a published
#: value spans half of its column's domain on average: "about 20 to 60" for an age. With more than
#: one row in ten left out, what is counted in the release is no longer true of the table.
MOST_LOST, MOST_LEFT_OUT = 0.5, 0.1


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """An overall judgement on a release."""

    level: Level
    headline: str  # the reason, in one line
    reasons: tuple[str, ...] = ()  # all that keeps it from being good; the first makes the headline

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return WORDS[self.level]

    @property
    def mark(self) -> str:
        """The sign that goes with it."""
        return MARKS[self.level]

    def __str__(self) -> str:
        """Return word and headline."""
        return f"{self.word}: {self.headline}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "level": self.level,
            "word": self.word,
            "headline": self.headline,
            "reasons": list(self.reasons),
        }


def judge_release(
    findings: Iterable[Mapping[str, Any]],
    *,
    satisfied: bool | None,
    principles: Sequence[Mapping[str, Any]] = (),
    guessed: bool = False,
    lost: float | None = None,
    left_out: float | None = None,
    seeded: bool = False,
) -> Verdict:
    """Return the verdict on a release.

    >>> print(judge_release([], satisfied=True, lost=0.07))
    In order: The policy is met, and the audit found nothing grave
    >>> judge_release([], satisfied=True, lost=0.596).level
    'caution'
    >>> print(judge_release([{"name": "uniques", "severity": "high"}], satisfied=None))
    Not ready: No policy was given to judge by, and there is 1 grave finding
    """
    # satisfied: None without principles. lost: the share of detail (NCP). left_out: the share of
    # rows that are not published, or only as ``*``. seeded: a fixed seed is for tests.
    found = list(findings)
    grave = sum(one["severity"] == "high" for one in found)
    if satisfied is False or grave:
        why = _bad(grave, satisfied, principles)
        return Verdict(level="bad", headline=why, reasons=(why,))
    reasons = tuple(_doubts(found, satisfied, guessed, lost, left_out, seeded))
    if reasons:
        return Verdict(level="caution", headline=reasons[0], reasons=reasons)
    return Verdict(level="good", headline="The policy is met, and the audit found nothing grave")


def seeded(manifest: Mapping[str, Any] | None) -> bool:
    """Return whether a release was made with a fixed seed, for tests only."""
    return str((manifest or {}).get("seed")).startswith("fixed")


def is_severe(findings: Iterable[Mapping[str, Any]], fail_on: str = "high") -> bool:
    """Return whether a finding is of so high a severity, or a higher one.

    >>> is_severe([{"name": "mixture", "severity": "low"}], "medium")
    False
    """
    limit = SEVERITIES.index(fail_on)
    return any(SEVERITIES.index(one["severity"]) <= limit for one in findings)


def _bad(grave: int, satisfied: bool | None, principles: Sequence[Mapping[str, Any]]) -> str:
    there = f"there {'is' if grave == 1 else 'are'} {counted(grave, 'grave finding')}"
    if satisfied is None:
        return f"No policy was given to judge by, and {there}"
    if satisfied:
        return f"The policy is met, yet {there}: do not publish it so"
    failed = sum(not one["satisfied"] for one in principles)
    if not failed:
        return "The policy is not met: rows of one group are not published alike"
    return f"The policy is not met: {failed} of {counted(len(principles), 'principle')} failed"


def _doubts(
    found: Sequence[Mapping[str, Any]],
    satisfied: bool | None,
    guessed: bool,
    lost: float | None,
    left_out: float | None,
    seeded: bool,
) -> Iterator[str]:
    """Yield what keeps a release without grave findings from being in order, the first first."""
    names = {one["name"] for one in found}
    if SEVERAL in names:
        given = "No policy was given" if satisfied is None else "The policy is met by this release"
        yield f"{given}; {NOT_EXHAUSTED}"
    if satisfied is None:
        yield "No policy was given: the risk is described, not judged"
        return
    if seeded:
        yield "The policy is met, but the seed is fixed: do not publish this release"
    bare = [one for one in found if one["name"] == UNPROTECTED]
    for one in bare:
        yield f"The policy is met, but {one['title']}"
    if doubts := sum(one["severity"] == "medium" for one in found) - len(bare):
        yield f"The policy is met, with {counted(doubts, 'finding')} to look at"
    if "mixture" in names:
        yield "The policy is met by each group, but groups that overlap tell more"
    if guessed:
        yield "The policy is met, if the roles of the columns are guessed right"
    if lost is not None and lost > MOST_LOST:
        yield f"The policy is met, but {_share(lost)} of the detail is lost: little is left to use"
    if left_out is not None and left_out > MOST_LEFT_OUT:
        yield f"The policy is met, but {_share(left_out)} of the rows are left out"


def _share(value: float) -> str:
    """Write a share with a plain space, for verdicts are also read by programs."""
    return percent(value).replace("\u00a0", " ")
