"""Where published intervals end: at people's own values, or on a grid that holds none of them.

An end depends on one code alone, so both ends are worked out once for each distinct value; a group
then only looks them up.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import polars as pl

from wideberth.core.exact import Floats, Ints, Numbers, fraction, whole
from wideberth.errors import ParameterError
from wideberth.hierarchy.quasi import Quasi
from wideberth.policy.settings import Grid

UNITS = {"week": "1w", "month": "1mo", "quarter": "1q", "year": "1y"}
_MIDNIGHT = " 00:00:00"
_MOST_DAYS = 1_000_000
_MONDAY = -3  # 1969-12-29 in days from 1970-01-01, so that a grid of 7 days is one of weeks
_MOST_PLACES = 300
_TICKS = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}  # of a day
_LAST_TICK = 2**63 - 1
_EARLIEST, _LATEST = date(1, 1, 1), date(9999, 12, 31)  # of those that Python knows
_SECONDS = 2 * 86_400  # a clock that is put forward skips a day at most


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalEnds:
    """The ends of the interval that each code of a quasi-identifier falls into."""

    lows: pl.Series
    highs: pl.Series
    low_texts: pl.Series
    high_texts: pl.Series
    low_places: Floats  # along the domain: from 0 to 1, or a little beyond
    high_places: Floats


def interval_ends(quasi: Quasi, grid: Grid | None = None) -> IntervalEnds:
    """Work out both ends for every code that is not missing.

    >>> from wideberth.hierarchy.quasi import read_quasi
    >>> age = interval_ends(read_quasi(pl.Series("age", [23, 31])), 5)
    >>> age.low_texts.to_list(), age.high_texts.to_list()
    (['20', '30'], ['24', '34'])
    """
    # grid: for numbers the step; for dates a number of days, or week, month, quarter or year. By
    # default the values are their own ends.
    values = quasi.domain.values
    assert values is not None  # noqa: S101 - numbers and dates have values
    if grid is None:
        texts = values_as_text(values)
        places = quasi.places[: len(values)]
        return IntervalEnds(
            lows=values,
            highs=values,
            low_texts=texts,
            high_texts=texts,
            low_places=places,
            high_places=places,
        )
    if values.dtype == pl.Duration:
        raise ParameterError(
            f"align: column '{quasi.name}' holds durations, which have no grid",
            hint="make it a number of days",
        )
    if values.dtype.is_temporal():
        return _calendar(quasi, values, grid)
    return _numbers(quasi, values, grid)


def values_as_text(values: pl.Series) -> pl.Series:
    """Write values as people do: 25 for 25.0, no fractions of whole seconds.

    >>> values_as_text(pl.Series([25.0, 0.1])).to_list()
    ['25', '0.1']
    """
    if values.dtype == pl.Duration:
        return pl.Series(values.name, [str(v) for v in values], dtype=pl.String)
    texts = values.cast(pl.String)
    if values.dtype.is_float():
        return texts.str.strip_suffix(".0")
    if values.dtype == pl.Datetime:
        texts = texts.str.replace(r"\.0+\b", "")
        whole = texts.str.ends_with(_MIDNIGHT).all()
        return texts.str.strip_suffix(_MIDNIGHT) if whole else texts
    return texts


def step_of(name: str, grid: Grid, *, integer: bool) -> Fraction:
    """Read the step of a grid of numbers."""
    try:
        step = fraction(grid)
    except (ValueError, TypeError, ZeroDivisionError):
        step = Fraction(0)
    fits = step > 0 and not isinstance(grid, bool) and _places_of(step) is not None
    if not fits or (integer and step.denominator != 1):
        kind = "a whole number" if integer else "a decimal number"
        raise ParameterError(
            f"align: the step of column '{name}' must be {kind} above 0",
            hint=f"align = {{ {name} = 5 }}",
        )
    return step


def _numbers(quasi: Quasi, values: pl.Series, grid: Grid) -> IntervalEnds:
    """Put every number into its cell, from one multiple of the step to the next."""
    # Both ends are closed: whole numbers end just before the next multiple, others at it.
    integer = values.dtype.is_integer()
    step = step_of(quasi.name, grid, integer=integer)
    numbers = quasi.domain.numbers
    assert numbers is not None  # noqa: S101 - asked of numbers only
    down, up = step.denominator, numbers.per * step.numerator
    cells = whole(numbers.units, max(numbers.bound, 1) * max(down, up)) * down // up
    distinct, position = np.unique(cells, return_inverse=True)
    lows = [int(cell) * step for cell in distinct]
    highs = [low + step - (1 if integer else 0) for low in lows]

    def of(cell_ends: list[Fraction]) -> tuple[pl.Series, pl.Series, Floats]:
        places = _places_of(step) or 0
        texts = pl.Series([_decimal(end, places) for end in cell_ends], dtype=pl.String)
        typed = _typed(quasi.name, cell_ends, texts, values.dtype)
        return typed.gather(position), texts.gather(position), _along(cell_ends, numbers)[position]

    low, low_text, low_place = of(lows)
    high, high_text, high_place = of(highs)
    return IntervalEnds(
        lows=low,
        highs=high,
        low_texts=low_text,
        high_texts=high_text,
        low_places=low_place,
        high_places=high_place,
    )


def _typed(name: str, exact: list[Fraction], texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Cast ends to the type of the values; one beyond its range becomes the end of the range."""
    if dtype.is_integer():
        bounds = pl.select(low=dtype.min(), high=dtype.max()).row(0)  # type: ignore[attr-defined]
        clipped = [max(bounds[0], min(bounds[1], int(end))) for end in exact]
        return pl.Series(clipped, dtype=dtype)
    if dtype.is_decimal():
        scale = max(dtype.scale, *(_places_of(end) or 0 for end in exact))  # type: ignore[attr-defined]
        typed = texts.cast(pl.Decimal(38, scale), strict=False)
        if typed.has_nulls():
            raise ParameterError(
                f"align: column '{name}' has no room for a step of so many places: its ends need "
                "more than 38 digits",
                hint="a step of fewer places",
            )
        return typed
    return pl.Series([float(end) for end in exact], dtype=dtype)


def _along(exact: list[Fraction], numbers: Numbers) -> Floats:
    """Return how far along the domain the ends are, as shares of its length."""
    first, last = (Fraction(int(numbers.units[i]), numbers.per) for i in (0, -1))
    span = last - first
    return np.array([float((end - first) / span) if span else 0.0 for end in exact])


def _calendar(quasi: Quasi, values: pl.Series, grid: Grid) -> IntervalEnds:
    """Put every date into its period, from its first day to its last."""
    days = values.dt.date() if values.dtype == pl.Datetime else values
    if isinstance(grid, str) and grid in UNITS:
        first = days.dt.truncate(UNITS[grid])
        after = first.dt.offset_by(UNITS[grid])
    else:
        try:
            step = int(step_of(quasi.name, grid, integer=True))
        except ParameterError:
            raise ParameterError(
                f"align: column '{quasi.name}' holds dates",
                hint=f"a number of days, or one of {', '.join(UNITS)}",
            ) from None
        if step > _MOST_DAYS:
            raise ParameterError(
                f"align: column '{quasi.name}' has no use for periods of so many days",
                hint=f'align = {{ "{quasi.name}" = "year" }}',
            )
        numbers = days.to_physical().cast(pl.Int64)
        start = (numbers - _MONDAY) // step * step + _MONDAY
        first = start.cast(pl.Int32).cast(pl.Date)
        after = (start + step).cast(pl.Int32).cast(pl.Date)
    first = first.clip(lower_bound=_EARLIEST)
    last = after.dt.offset_by("-1d").clip(upper_bound=_LATEST)
    after = last.dt.offset_by("1d")
    lows, highs = first, last
    if isinstance(values.dtype, pl.Datetime):
        lows, highs = _moments(first, after, values.dtype)
    exact = quasi.domain.numbers
    assert exact is not None  # noqa: S101 - dates are numbers of days
    floats = exact.floats()
    span = float(floats[-1] - floats[0])

    def along(ends_in_days: Ints) -> Floats:
        return (ends_in_days - floats[0]) / span if span else np.zeros(len(floats))

    whole_days = values.dtype == pl.Date
    return IntervalEnds(
        lows=lows,
        highs=highs,
        low_texts=values_as_text(first),
        high_texts=values_as_text(last),
        low_places=along(_days(first)),
        high_places=along(_days(last if whole_days else after)),
    )


def _moments(first: pl.Series, after: pl.Series, dtype: pl.Datetime) -> tuple[pl.Series, pl.Series]:
    """Return the first moment of a period, and the last before the day after it."""
    plain, ticks = pl.Datetime(dtype.time_unit), _TICKS[dtype.time_unit]
    low, high = (_days(days) for days in (first, after))
    most = _LAST_TICK // ticks  # days; beyond, the end of the type covers as much
    begins = np.where(low < -most, -_LAST_TICK, low.clip(-most, most) * ticks)
    ends = np.where(high > most, _LAST_TICK, high.clip(-most, most) * ticks - 1)
    lows, highs = (pl.Series(moments).cast(plain) for moments in (begins, ends))
    zone = dtype.time_zone
    if zone is None:
        return lows, highs
    # A clock that is put back shows some moments twice: a period begins with the earlier one, and
    # ends with the later one.
    return _in_zone(lows, zone, "earliest"), _in_zone(highs, zone, "latest")


def _in_zone(moments: pl.Series, zone: str, twice: Literal["earliest", "latest"]) -> pl.Series:
    """Read what a clock shows; of what it skips, take the next second that it shows."""

    def read(shown: pl.Series) -> pl.Series:
        return shown.dt.replace_time_zone(zone, ambiguous=twice, non_existent="null")

    zoned = read(moments)
    if not zoned.has_nulls():
        return zoned
    second = _TICKS[zoned.dtype.time_unit] // 86_400  # type: ignore[attr-defined]
    shown = moments.to_physical()
    skipped = shown.filter(zoned.is_null()).drop_nulls().unique()
    next_shown = []
    for moment in skipped.to_list():
        later = pl.Series(moment + np.arange(_SECONDS) * second).cast(moments.dtype)
        next_shown.append(read(later).drop_nulls().to_physical()[0])
    known = shown.replace_strict(skipped, next_shown, default=None, return_dtype=pl.Int64)
    return zoned.fill_null(known.cast(zoned.dtype))


def _days(dates: pl.Series) -> Any:
    return dates.to_physical().cast(pl.Int64).to_numpy()


def _places_of(number: Fraction) -> int | None:
    """Count the decimal places a number needs; None if no decimal is exact."""
    rest, twos, fives = number.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    return places if rest == 1 and places <= _MOST_PLACES else None


def _decimal(number: Fraction, places: int) -> str:
    """Write a number exactly, without trailing zeros."""
    units = int(number * 10**places)
    digits = f"{abs(units):0{places + 1}}"
    text = digits if not places else f"{digits[:-places]}.{digits[-places:]}".rstrip("0")
    text = text.rstrip(".")
    return f"-{text}" if units < 0 else text
