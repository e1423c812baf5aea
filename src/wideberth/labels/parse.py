"""How published values are written: one label at a time, whatever the table.

A label may be a value, an interval, a set, a mask, or say nothing at all. Which of these it is may
depend on the column (``20-34`` is an interval of ages, or the name of a street), so each function
answers for one form only, and whoever knows the column decides.
"""

from __future__ import annotations

import csv
import re
from ast import literal_eval
from typing import NamedTuple

#: What stands between the ends of an interval.
TO = ".."
#: What a group adds to its value when some of its rows have none.
OR_MISSING = " or missing"

#: What is published of a group whose set of values would be too long.
ANYTHING = "*"
#: Words for "could be any value", beside stars.
ANY = frozenset({"Any", "any", "ANY"})
#: Words for a missing value, where no value is called so.
NOTHING = frozenset({"", "NA", "N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"})

#: A number; digits after a zero are a code, as 01234 is.
NUMBER = r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
DATE = (
    r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?"
    r"|\d{4}/\d{2}/\d{2}|\d{2}\.\d{2}\.\d{4}"
)
_INFINITE = r"[+-]?(?:inf(?:inity)?|∞)"
_END = rf"({DATE}|{NUMBER}|{_INFINITE})"
_BRACKETED = re.compile(
    rf"([\[\](])\s*{_END}\s*(?:,|;|:|\.\.|-|–|—|~|to)\s*{_END}\s*([\[\])])", re.I
)
_DASHED = re.compile(rf"{_END}\s*(?:-|–|—|~|to)\s*{_END}", re.I)
_COMPARED = re.compile(rf"(<=|>=|<|>|≤|≥|=<|=>)\s*{_END}")
_AND_MORE = re.compile(rf"{_END}\s*\+")
_LISTED = re.compile(r"[^,\s][^,]*(,[^,\s][^,]*)+")
_UNBOUNDED = re.compile(_INFINITE, re.I)


class Interval(NamedTuple):
    """The ends of an interval as written, None where there is none, and whether they belong."""

    low: str | None
    high: str | None
    with_low: bool = True
    with_high: bool = True


def interval(label: str) -> Interval | None:
    """Read an interval, in one of the ways in which tools write them.

    >>> interval("20..34")
    Interval(low='20', high='34', with_low=True, with_high=True)
    >>> interval("[20, 35[").with_high, interval("-5 - -3").high, interval("< 30").low
    (False, '-3', None)
    """
    if TO in label and label[0] not in "[](":
        low, _, high = label.partition(TO)
        return Interval(low.strip(), high.strip())
    if match := _BRACKETED.fullmatch(label):
        opening, low, high, closing = match.groups()
        return Interval(_end(low), _end(high), opening == "[", closing == "]")
    if match := _DASHED.fullmatch(label):
        return Interval(_end(match[1]), _end(match[2]))
    if match := _COMPARED.fullmatch(label):
        sign, end = match.groups()
        closed = sign not in ("<", ">")
        below = sign in ("<", "<=", "=<", "≤")
        return Interval(None, end, True, closed) if below else Interval(end, None, closed)
    if match := _AND_MORE.fullmatch(label):
        return Interval(match[1], None)
    return None


def _end(text: str) -> str | None:
    return None if _UNBOUNDED.fullmatch(text) else text


def members(label: str) -> tuple[str, ...] | None:
    """Read a set: ``{a|b}`` (marks of its own in quotes), ``{a, b}``, ``['a', 'b']``, ``a,b``.

    >>> members("{a|b}"), members("['a', 'b']"), members("a,b"), members("Doe, Jane")
    (('a', 'b'), ('a', 'b'), ('a', 'b'), None)
    """
    # Two texts in square brackets are no set: they may be the ends of an order that nobody tells.
    if not bracketed(label):
        return tuple(label.split(",")) if _LISTED.fullmatch(label) else None
    inner = label[1:-1]
    if "|" in inner and label[0] == "{":
        return tuple(next(csv.reader([inner], delimiter="|"), ()))
    if inner.startswith(("'", '"')):
        return _quoted(inner)
    found = tuple(member.strip() for member in inner.split(","))
    return found if label[0] == "{" or len(found) > 2 else None


def unpacked(label: str) -> str:
    """Take a text out of a list that holds it alone.

    >>> unpacked("['47-68']"), unpacked("47-68")
    ('47-68', '47-68')
    """
    if label.startswith(("['", '["')) and label.endswith(("']", '"]')):
        listed = _quoted(label[1:-1])
        return listed[0] if listed is not None and len(listed) == 1 else label
    return label


def _quoted(inner: str) -> tuple[str, ...] | None:
    """Read texts in quotes, as Python writes them."""
    try:
        return tuple(str(member) for member in literal_eval(f"[{inner}]"))
    except (SyntaxError, ValueError):
        return None


def bracketed(label: str) -> bool:
    """Return whether brackets show that a label is a set, or an interval."""
    return len(label) > 1 and label[0] + label[-1] in ("{}", "[]", "()")


def masked(label: str) -> bool:
    """Return whether some characters are replaced by stars, but not all."""
    return "*" in label and not anything(label)


def anything(label: str) -> bool:
    """Return whether a label is but stars.

    >>> anything("*****"), masked("130**")
    (True, True)
    """
    return label != "" and not label.strip("*")
