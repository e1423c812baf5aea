"""Hierarchies that follow from the values themselves: intervals, masks, dates and flat ones.

Each function takes a column or its distinct values, leaves out what is missing (None), and sorts
what remains, so that the order of rows does not matter. Messages give row numbers, not values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias, TypeVar

from wideberth.errors import HierarchyError
from wideberth.hierarchy.load import from_rows
from wideberth.hierarchy.tree import TOP, Hierarchy, describe_faults

NumberOrText: TypeAlias = int | float | str | Decimal
T = TypeVar("T")

# Far beyond any float; larger ones would only cost time and memory.
_LARGEST_EXPONENT = 400
_LONGEST_NUMBER = 1000
#: Levels that a rule may make: nobody can look at more, and each costs time.
MOST_LEVELS = 1000


def intervals(
    values: Iterable[object],
    widths: NumberOrText | Sequence[NumberOrText],
    origin: NumberOrText = 0,
    *,
    rows: Sequence[int] | None = None,
) -> Hierarchy:
    """Group numbers into intervals of fixed widths, with `*` on top.

    >>> intervals([7, 34, 38], [5, 10]).to_rows()
    [['7', '5-9', '0-9', '*'], ['34', '30-34', '30-39', '*'], ['38', '35-39', '30-39', '*']]
    >>> intervals(["0.3", "-0.05"], 0.1).to_rows()
    [['-0.05', '[-0.1, 0)', '*'], ['0.3', '[0.3, 0.4)', '*']]
    """
    # Numbers are taken as written (0.1 is a tenth), and all arithmetic is exact. If values, widths
    # and origin are whole, an interval is labelled by its first and last number, "30-39", or "-10
    # to -1" throughout if any is negative; otherwise by its ends, "[30, 40)".
    # Each width is a multiple of the one before. rows: for messages; position + 1 by default.
    if len(_as_list(widths)) > MOST_LEVELS:
        raise HierarchyError(f"there are more than {MOST_LEVELS} widths", hint="interval = [5, 10]")
    steps = [_parameter(width, "interval width") for width in _as_list(widths)]
    _check_widths(steps)
    start = _parameter(origin, "interval origin")
    numbers = _parse(values, _number, "not numeric", rows)

    # Everything becomes a whole multiple of 10 ** -places.
    places = max(
        [_places(value) for value in numbers.values()]
        + [0 if x == x.to_integral_value() else _places(x) for x in (start, *steps)]
    )
    scale = 10**places
    zero = _scaled(start, scale)
    sizes = [_scaled(step, scale) for step in steps]
    scaled = {text: _scaled(value, scale) for text, value in numbers.items()}

    def floor(number: int, size: int) -> int:
        return number - (number - zero) % size

    lowest = min((floor(number, sizes[-1]) for number in scaled.values()), default=0)
    label = _closed("-" if lowest >= 0 else " to ") if places == 0 else _half_open(places)

    # Intervals nest, so the narrowest one around a value settles all the wider ones.
    above: dict[int, list[str]] = {}
    paths = []
    for text in sorted(scaled, key=lambda text: (scaled[text], text)):
        narrow = floor(scaled[text], sizes[0])
        if narrow not in above:
            lows = [floor(narrow, size) for size in sizes]
            above[narrow] = [label(low, low + size) for low, size in zip(lows, sizes, strict=True)]
        paths.append([text, *above[narrow]])
    return _topped(paths)


def masks(values: Iterable[object], levels: int, char: str = "*") -> Hierarchy:
    """Mask the last character, then the last two, and so on.

    >>> masks(["13053", "13068"], 2).to_rows()
    [['13053', '1305*', '130**', '*'], ['13068', '1306*', '130**', '*']]
    >>> masks(["7", "12"], 2).to_rows()
    [['12', '1*', '**', '*'], ['7', '*', '*', '*']]
    """
    # A mask shows how long the values behind it are; a value shorter than the mask is masked whole,
    # and an empty one becomes a single mask character. `*` is put on top unless the last level is
    # one mask that shows no character, such as `*****` for `masks(zips, 5)`.
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 1:
        raise HierarchyError(f"mask {levels!r} is not a whole number above 0")
    if levels > MOST_LEVELS:
        raise HierarchyError(f"mask {levels} has more than {MOST_LEVELS} levels", hint="mask = 5")
    if len(char) != 1:
        raise HierarchyError(f"mask character {char!r} is not one character")
    texts = sorted({str(value) for value in values if value is not None})
    paths = []
    for text in texts:
        hidden = [min(i, len(text)) for i in range(1, levels + 1)]
        paths.append([text, *(text[: len(text) - n] + char * n or char for n in hidden)])
    tops = {path[-1] for path in paths}
    # One mask that still shows how all values begin would tell it even of a suppressed row.
    if len(tops) == 1 and set(*tops) == {char}:
        return from_rows(paths)
    return _topped(paths)


# Each grain is made of whole grains of the one before.
_GRAINS: dict[str, Callable[[datetime], str]] = {
    "day": lambda d: f"{d.year:04}-{d.month:02}-{d.day:02}",
    "month": lambda d: f"{d.year:04}-{d.month:02}",
    "quarter": lambda d: f"{d.year:04}-Q{(d.month + 2) // 3}",
    "year": lambda d: f"{d.year:04}",
    "decade": lambda d: f"{d.year // 10:03}0s",
}


def dates(
    values: Iterable[object],
    levels: str | Sequence[str] = ("month", "year"),
    *,
    rows: Sequence[int] | None = None,
) -> Hierarchy:
    """Group ISO dates into calendar periods, with `*` on top.

    >>> dates(["2024-03-05", "2023-11-30"], ["quarter", "decade"]).to_rows()
    [['2023-11-30', '2023-Q4', '2020s', '*'], ['2024-03-05', '2024-Q1', '2020s', '*']]
    """
    # A time of day is read as written. levels: some of day, month, quarter, year and decade, in
    # order.
    grains = [levels] if isinstance(levels, str) else list(levels)
    known = list(_GRAINS)
    if unknown := [grain for grain in grains if grain not in known]:
        raise HierarchyError(
            f"date level {unknown[0]!r} does not exist", hint=f"use some of {', '.join(known)}"
        )
    if not grains or grains != sorted(set(grains), key=known.index):
        raise HierarchyError(
            f"date levels {', '.join(grains) or '(none)'} do not go from fine to coarse",
            hint=f"keep the order {', '.join(known)}",
        )
    parsed = _parse(values, _moment, "not in ISO date form", rows)
    ordered = sorted(parsed, key=lambda text: (parsed[text].replace(tzinfo=None), text))
    return _topped([text, *(_GRAINS[g](parsed[text]) for g in grains)] for text in ordered)


def flat(values: Iterable[object]) -> Hierarchy:
    """Put `*` above every value, with nothing in between: two levels.

    >>> flat(["m", None, "f", "m"]).to_rows()
    [['f', '*'], ['m', '*']]
    """
    return _topped([text] for text in sorted({str(value) for value in values if value is not None}))


def _topped(paths: Iterable[list[str]]) -> Hierarchy:
    """Put the top above all paths; without any, the top is all there is."""
    return from_rows([[*path, TOP] for path in paths] or [[TOP]])


def _parse(
    values: Iterable[object],
    parse: Callable[[str], T | None],
    fault: str,
    rows: Sequence[int] | None,
) -> dict[str, T]:
    """Return each distinct value's meaning by its text, or raise where there is none."""
    texts = [None if value is None else str(value) for value in values]
    meanings = {text: parse(text) for text in dict.fromkeys(texts) if text is not None}
    known = {text: meaning for text, meaning in meanings.items() if meaning is not None}
    if len(known) < len(meanings):
        bad = [i for i, text in enumerate(texts) if text is not None and text not in known]
        raise HierarchyError(
            describe_faults(texts, bad, fault, rows),
            hint="correct them, or list them in a hierarchy file",
        )
    return known


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    sound = number.is_finite() and abs(number.adjusted()) <= _LARGEST_EXPONENT
    return number if sound and len(text) <= _LONGEST_NUMBER else None


def _places(number: Decimal) -> int:
    """Count the decimal places as written."""
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _scaled(number: Decimal, scale: int) -> int:
    numerator, denominator = number.as_integer_ratio()
    return numerator * (scale // denominator)


def _as_list(widths: NumberOrText | Sequence[NumberOrText]) -> list[NumberOrText]:
    if isinstance(widths, int | float | str | Decimal):
        return [widths]
    return list(widths)


def _parameter(value: NumberOrText, what: str) -> Decimal:
    number = None if isinstance(value, bool) else _number(str(value))
    if number is None:
        raise HierarchyError(f"{what} {value!r} is not a number")
    return number


def _check_widths(widths: Sequence[Decimal]) -> None:
    if not widths:
        raise HierarchyError("there is no interval width", hint="give one or more: [5, 10]")
    if min(widths) <= 0:
        raise HierarchyError(f"interval width {min(widths)} is not above 0")
    for narrow, wide in pairwise(widths):
        if (Fraction(wide) / Fraction(narrow)).denominator != 1:
            raise HierarchyError(
                f"interval width {wide} is not a multiple of {narrow}",
                hint="go from narrow to wide, each a multiple of the one before: [5, 10, 20]",
            )


def _closed(separator: str) -> Callable[[int, int], str]:
    """Label whole numbers by the first and the last."""
    return lambda low, end: f"{low}{separator}{end - 1}" if end - low > 1 else str(low)


def _half_open(places: int) -> Callable[[int, int], str]:
    """Label decimals by both ends, the upper one not included."""
    return lambda low, end: f"[{_decimal(low, places)}, {_decimal(end, places)})"


def _decimal(number: int, places: int) -> str:
    """Write number / 10 ** places exactly, without an exponent or trailing zeros."""
    digits = f"{abs(number):0{places + 1}}"
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"-{text}" if number < 0 else text
