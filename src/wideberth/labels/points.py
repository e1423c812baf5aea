"""What the end of an interval says: a number, or the days of a calendar period."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from wideberth.core.exact import fraction
from wideberth.labels.parse import NUMBER

_NUMBER = re.compile(NUMBER)
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_PERIOD = re.compile(r"(\d{3})0s|(\d{4})(?:-(\d{2})|-Q([1-4]))?|(\d{2})/(\d{4})|Q([1-4]) (\d{4})")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})|(\d{4})/(\d{2})/(\d{2})")
_GERMAN = re.compile(r"(\d{2})\.(\d{2})\.(\d{4})")
_LARGEST = 10**300
_EPOCH = date(1970, 1, 1).toordinal()
#: Of a day.
MICROSECONDS = 86_400_000_000


class Point(NamedTuple):
    """From where to where an end reaches: a number is one place, a month has many days."""

    low: int | Fraction
    high: int | Fraction


def number(text: str) -> Point | None:
    """Read a number.

    >>> number("-5"), number("0.5").low, number("five")
    (Point(low=-5, high=-5), Fraction(1, 2), None)
    """
    if _WHOLE.fullmatch(text):
        return Point(int(text), int(text))
    if not _NUMBER.fullmatch(text):
        return None
    try:
        exact = fraction(text)
    except ValueError:
        return None
    return Point(exact, exact) if abs(exact) < _LARGEST else None


def calendar(text: str) -> Point | None:
    """Read a day, a month, a quarter, a year or a decade, as days from 1970 on.

    >>> calendar("1970-01-03"), calendar("1970-01"), calendar("1970-01-01 12:00:00").low
    (Point(low=2, high=2), Point(low=0, high=30), Fraction(1, 2))
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
    return Point(exact, exact)


def _period(match: re.Match[str]) -> Point:
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


def _days(first: date, last: date) -> Point:
    return Point(first.toordinal() - _EPOCH, last.toordinal() - _EPOCH)
