"""How published values are written: one label at a time, whatever the table.

A label may be a value, an interval, a set, a mask, or say nothing at all. Which of these it is may
depend on the column (``20-34`` is an interval of ages, or the name of a street), so each function
answers for one form only, and whoever knows the column decides.
"""

from __future__ import annotations

import csv
import re
from ast import literal_eval
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from wideberth.core.exact import fraction

#: What stands between the ends of an interval.
TO = ".."
#: What a group adds to its value when some of its rows have none.
OR_MISSING = " or missing"

#: What is published of a group whose set of values would be too long.
STAR = "*"
#: Words for "could be any value", beside stars.
ANY = frozenset({"Any", "any", "ANY"})
#: Words for a missing value, where no value is called so.
NOTHING = frozenset({"", "NA", "N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"})

#: A number; digits after a zero are a code, as 01234 is.
NUMBER_PATTERN = r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
DATE_PATTERN = (
    r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?"
    r"|\d{4}/\d{2}/\d{2}|\d{2}\.\d{2}\.\d{4}"
)
_INFINITE = r"[+-]?(?:inf(?:inity)?|∞)"
_END = rf"({DATE_PATTERN}|{NUMBER_PATTERN}|{_INFINITE})"
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


def unwrap_text(label: str) -> str:
    """Take a text out of a list that holds it alone.

    >>> unwrap_text("['47-68']"), unwrap_text("47-68")
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
    return "*" in label and not is_all_stars(label)


def is_all_stars(label: str) -> bool:
    """Return whether a label is but stars.

    >>> is_all_stars("*****"), masked("130**")
    (True, True)
    """
    return label != "" and not label.strip("*")


# -----------------------------------------------------------------------------
# What the end of an interval says: a number, or the days of a calendar period.


_NUMBER = re.compile(NUMBER_PATTERN)
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_PERIOD = re.compile(r"(\d{3})0s|(\d{4})(?:-(\d{2})|-Q([1-4]))?|(\d{2})/(\d{4})|Q([1-4]) (\d{4})")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})|(\d{4})/(\d{2})/(\d{2})")
_GERMAN = re.compile(r"(\d{2})\.(\d{2})\.(\d{4})")
_LARGEST = 10**300
_EPOCH = date(1970, 1, 1).toordinal()
#: Of a day.
MICROSECONDS = 86_400_000_000


class EndRange(NamedTuple):
    """From where to where an end reaches: a number is one place, a month has many days."""

    low: int | Fraction
    high: int | Fraction


def parse_number(text: str) -> EndRange | None:
    """Read a number.

    >>> parse_number("-5"), parse_number("0.5").low, parse_number("five")
    (EndRange(low=-5, high=-5), Fraction(1, 2), None)
    """
    if _WHOLE.fullmatch(text):
        return EndRange(int(text), int(text))
    if not _NUMBER.fullmatch(text):
        return None
    try:
        exact = fraction(text)
    except ValueError:
        return None
    return EndRange(exact, exact) if abs(exact) < _LARGEST else None


def calendar(text: str) -> EndRange | None:
    """Read a day, a month, a quarter, a year or a decade, as days from 1970 on.

    >>> calendar("1970-01-03"), calendar("1970-01"), calendar("1970-01-01 12:00:00").low
    (EndRange(low=2, high=2), EndRange(low=0, high=30), Fraction(1, 2))
    """
    # A time of day is a part of a day.
    try:
        if match := _DAY.fullmatch(text):
            year, month, day = (int(part) for part in match.groups() if part)
            return _days(date(year, month, day), date(year, month, day))
        if match := _GERMAN.fullmatch(text):
            day, month, year = map(int, match.groups())
            return _days(date(year, month, day), date(year, month, day))
        if match := _PERIOD.fullmatch(text):
            return _period(match)
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        return None
    passed = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    exact = Fraction(passed, MICROSECONDS)
    return EndRange(exact, exact)


def _period(match: re.Match[str]) -> EndRange:
    decade, year, month, quarter = match.groups()[:4]
    if decade:
        return _days(date(int(decade) * 10, 1, 1), date(int(decade) * 10 + 9, 12, 31))
    year, month, quarter = year or match[6] or match[8], month or match[5], quarter or match[7]
    first, last = 1, 12
    if month:
        first = last = int(month)
    elif quarter:
        first, last = 3 * int(quarter) - 2, 3 * int(quarter)
    end = date(int(year), last, 28) + timedelta(days=4)  # in the next month
    return _days(date(int(year), first, 1), end - timedelta(days=end.day))


def _days(first: date, last: date) -> EndRange:
    return EndRange(first.toordinal() - _EPOCH, last.toordinal() - _EPOCH)
