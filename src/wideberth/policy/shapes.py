"""What the values of a column look like, whatever it is called: addresses, hashes, free text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from wideberth.core.exact import Ints
from wideberth.core.strings import is_text
from wideberth.core.types import unnamed
from wideberth.io import notations
from wideberth.policy.personal import PHONE, find_personal

_FIRST = 20_000  # rows whose texts are looked at
_LOOKED = 2_000  # different texts that are searched for addresses and numbers of people
_MOST = 0.5  # share of the distinct texts that makes a shape the column's
#: Codes that stand for one person or record each, hashed or not.
_CODES = {
    "UUIDs": r"^\{?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?$",
    "hashes": r"^(0x)?([0-9A-Fa-f]{32}|[0-9A-Fa-f]{40}|[0-9A-Fa-f]{56}|[0-9A-Fa-f]{64}"
    r"|[0-9A-Fa-f]{96}|[0-9A-Fa-f]{128})$|^\$2[aby]\$.{56}$",
    "IP addresses": r"^\s*(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}[0-9]{1,3}\s*$",
}
_ANY_CODE = "|".join(_CODES.values())
_PLACE = (
    r"^\s*(POINT\s*)?[\[(]?\s*-?[0-9]{1,3}\.[0-9]{2,}\s*[,; ]\s*-?[0-9]{1,3}\.[0-9]{2,}\s*[\])]?$"
)
_TIME = r"^\s*[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{1,2}:[0-9]{2}"
#: A text of so many words and letters on average is one that somebody wrote.
_WORDS, _LETTERS = 5, 25
#: Texts that differ: a share of the rows that have one, and at least so many.
_DIFFER, _SEVERAL = 0.3, 5
#: Numbers of people that repeat: so many different ones at least, as a share of the rows, and the
#: largest share of the rows, and number of them, that one of them may have.
_PEOPLE, _SHARE, _ONE, _ROWS = 200, 0.1, 0.02, 10
_DIGITS = 5
#: Of numbers with a prefix or leading zeros, which wages and counts do not have, fewer will do.
_CODED = 20
#: Share of distinct values that makes a column as good as unique.
NEARLY = 0.95
#: A prefix, if any, and digits. One prefix, or a few, such as those of the sites of a study.
_TEMPLATE = r"^\s*((?:.*[^0-9])?)([0-9]{1,18})\s*$"
_PREFIXES, _LETTERS_BEFORE = 10, 16
#: What stands before digits that number nobody: a sign, a currency, the dialing code of a country,
#: or the whole part of a decimal number.
_NO_PREFIX = r"^(?:[^\p{L}0-9#]*|\+.*|[+-]?[0-9]+[.,])$"
#: What ends with digits, and numbers nobody: times and durations (7:05, 1:02:03.5, 2h30), pairs of
#: small numbers (3:1, 120/80), IP addresses, and months, quarters and weeks of a year.
_YEAR = r"(?:19|20)[0-9]{2}"
_MONTHS = (
    "jan|ene|feb|f[eé]v|m[aä]r|apr|avr|abr|ma[iy]|ju[nil]|aug|ao[uû]|ago|sep|o[ck]t|nov|d[eé][czi]"
)
_MEASURES = (
    r"[0-9]{1,3}[:h][0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?",
    r"(?:0|[1-9][0-9]{0,2}) ?[:/x] ?(?:0|[1-9][0-9]{0,2})|[0-9] ?- ?[0-9]",
    r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}",
    rf"{_YEAR}[-/. ](?:0?[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])[-/. ]{_YEAR}",
    rf"(?i:{_MONTHS})\p{{Ll}}*\.? ?{_YEAR}",
    rf"{_YEAR}[-/ ]?\p{{Lu}}{{1,2}}[-/ ]?[0-9]{{1,2}}|[QTH][1-4][-/ ]?{_YEAR}",
    rf"K?W ?[0-9]{{1,2}}[-/ ]{_YEAR}",
)
_ANY_MEASURE = rf"^\s*(?:{'|'.join(f'(?:{form})' for form in _MEASURES)})\s*$"
#: How a day, or a time of the day, is written in digits alone.
_DAYS = {8: ("%Y%m%d", "%d%m%Y", "%m%d%Y"), 6: ("%y%m%d", "%d%m%y", "%m%d%y")}
_YEAR = r"^(?:1[89]|20)[0-9]{2}$"
_CLOCK = {4: r"^(?:[01][0-9]|2[0-3])[0-5][0-9]$", 6: r"^(?:[01][0-9]|2[0-3])(?:[0-5][0-9]){2}$"}


def shape_of(series: pl.Series, type_: str, *, ranges: bool = False) -> str | None:
    """Return what the values look like if that makes the column an identifier, else None.

    >>> shape_of(pl.Series(["ann@example.org", "bob@example.com"]), "text")
    'its values look like e-mail addresses'
    >>> shape_of(pl.Series(["north", "south"]), "text")
    """
    # `ranges`: values may be published ranges, which can look like telephone numbers.
    if type_ not in ("text", "category") or not is_text(series.dtype):
        return None
    present = unnamed(series).drop_nulls().head(_FIRST).cast(pl.String)
    texts = present.unique(maintain_order=True)
    if texts.is_empty():
        return None
    coded = texts.str.contains(_ANY_CODE).sum() > _MOST * len(texts)
    for what, pattern in _CODES.items() if coded else ():
        if texts.str.contains(pattern).sum() > _MOST * len(texts):
            return f"its values are {what}, each of which stands for a person or a record"
    if not ranges:
        looked = texts.head(_LOOKED)
        for what, hits in find_personal(looked).items():
            if np.sum(hits) > _MOST * len(looked):
                return f"its values look like {what}"
    if texts.str.contains(_PLACE).sum() > _MOST * len(texts):
        return "its values are coordinates: make a column of each to publish them coarsened"
    return "it is free text, which may name people" if _is_free(present, texts) else None


def _is_free(present: pl.Series, texts: pl.Series) -> bool:
    """Return whether texts are sentences that somebody wrote, nearly each of them another one."""
    if len(texts) < max(_SEVERAL, _DIFFER * len(present)):
        return False
    if texts.str.contains(r"^\s*[\[{(]").sum() > _MOST * len(texts):  # a published set of values
        return False
    words = texts.str.count_matches(r"\S+").mean()
    letters = texts.str.len_chars().mean()
    return float(words or 0) >= _WORDS and float(letters or 0) >= _LETTERS  # type: ignore[arg-type]


def has_times(series: pl.Series) -> bool:
    """Return whether a column holds times of the day beside dates.

    >>> has_times(pl.Series(["2020-01-01 10:03:59"])), has_times(pl.Series(["2020-01-01"]))
    (True, False)
    """
    if isinstance(series.dtype, pl.Datetime):
        times = unnamed(series).drop_nulls().head(_FIRST).dt.time()
        return bool((times.cast(pl.Int64) != 0).any())
    if not is_text(series.dtype):
        return False
    texts = unnamed(series).drop_nulls().head(_FIRST).cast(pl.String)
    return len(texts) > 0 and bool(texts.str.contains(_TIME).sum() > _MOST * len(texts))


def numbers_people(series: pl.Series, type_: str, *, coded: bool = False) -> bool:
    """Return whether a column seems to hold numbers of people or records that repeat.

    >>> visits = pl.Series([100_000 + 37 * (i // 3) for i in range(3000)])
    >>> numbers_people(visits, "integer"), numbers_people(visits % 90, "integer")
    (True, False)
    >>> numbers_people(pl.Series([f"P-{4000 + 7 * (i // 3)}" for i in range(90)]), "text")
    True
    """
    # They are many, none of them frequent, and look as if somebody had given them out. `coded`:
    # only numbers with a prefix or leading zeros count.
    present = unnamed(series).drop_nulls()
    if type_ not in ("integer", "text") or not (is_text(present.dtype) or type_ == "integer"):
        return False
    if coded and not (is_text(present.dtype) and _templated(present.head(_LOOKED))):
        return False
    counted = present.value_counts()
    return _given_out(counted.to_series(0), counted["count"].to_numpy(), coded=coded)


def _given_out(values: pl.Series, counts: Ints, *, coded: bool) -> bool:
    """Return whether different values are many, none of them frequent, and look like numbers."""
    rows, many = int(counts.sum()), len(values)
    if many < max(_CODED, _SHARE * rows) or too_often(counts):
        return False
    read = _read_numbers(values)
    if read is None or (not read.coded and (coded or many < _PEOPLE)):
        return False
    return read.given_out(many, rows)


def too_often(counts: Ints) -> bool:
    """Return whether a value has more rows than one person or record has among many.

    >>> too_often(np.array([3, 10])), too_often(np.array([3, 11])), too_often(np.ones(9))
    (False, True, False)
    """
    return int(counts.max(initial=0)) > max(_ONE * int(counts.sum()), _ROWS)


def are_days(values: pl.Series) -> bool:
    """Return whether different whole numbers are years, or days in digits.

    >>> are_days(pl.Series([19790517, 20130531])), are_days(pl.Series([504_746, 981_177]))
    (True, False)
    """
    if not values.dtype.is_integer():
        return False
    digits = values.cast(pl.String)
    lengths = digits.str.len_bytes().unique()
    years = bool(digits.str.contains(_YEAR).all())
    return years or (len(lengths) == 1 and _are_times(digits, int(lengths[0])))


def look_numbered(values: pl.Series, rows: int) -> bool:
    """Return whether different values look like numbers that somebody gave out, one after another.

    >>> look_numbered(pl.Series([103_227, 103_311, 104_597]), 3)
    True
    >>> look_numbered(pl.Series([20_000, 31_500, 47_000]), 3)
    False
    >>> look_numbered(pl.Series(["P-0017", "P-4711", "P-2503"]), 3)
    True
    """
    # `values` are the different numbers, or texts of digits, of so many `rows`.
    read = _read_numbers(values)
    if read is None:
        return False
    if read.coded and len(values) >= NEARLY * rows and (read.prefixed or read.width is not None):
        return True
    return read.given_out(len(values), rows)


@dataclass(frozen=True)
class _Numbers:
    """Numbers that have one template: a prefix, or none, and digits."""

    numbers: Ints
    width: int | None  # how many digits all have; None if they differ in that
    prefixed: bool
    padded: bool  # whether some have leading zeros

    @property
    def coded(self) -> bool:
        return self.prefixed or self.padded

    def given_out(self, many: int, rows: int) -> bool:
        """Return whether they are consecutive, or all of the same length and not rounded."""
        low, high = int(self.numbers.min()), int(self.numbers.max())
        rounded = float(np.mean(self.numbers % 10 == 0)) >= 2 * _SHARE
        if not self.coded:
            same = low >= 10 ** (_DIGITS - 1) and len(str(low)) == len(str(high))
            consecutive = high - low < 1.2 * many and many > 3 * _SHARE * rows
            return (same and not rounded) or consecutive
        if self.width is not None and self.width < 3 and not self.prefixed:
            return False  # months, days, hours
        if high - low < 3 * len(np.unique(self.numbers)):
            return True
        # Five digits, with zeros, far apart, may be postcodes.
        least = _DIGITS - 1 if self.prefixed else _DIGITS + 1
        return self.width is not None and self.width >= least and not rounded


def _read_numbers(values: pl.Series) -> _Numbers | None:
    """Read numbers after a common prefix; None if values are none, but days, times or scores."""
    if values.dtype.is_integer() or values.dtype.is_decimal():
        texts = values.cast(pl.String)
    elif is_text(values.dtype):
        texts = values.cast(pl.String).str.strip_chars()
    else:
        return None
    if not _templated(texts) or _are_measures(texts):
        return None
    prefixes = texts.str.extract(_TEMPLATE, 1).unique()
    tails = texts.str.extract(_TEMPLATE, 2)
    prefixed = not (len(prefixes) == 1 and prefixes[0] == "")
    if prefixed and not _are_prefixes(prefixes, texts):
        return None
    widths = tails.str.len_bytes().unique()
    width = int(widths[0]) if len(widths) == 1 else None
    padded = bool(tails.str.contains("^0[0-9]").any())
    if not prefixed and width is not None and is_text(values.dtype) and _are_times(tails, width):
        return None
    return _Numbers(tails.cast(pl.Int64).to_numpy(), width, prefixed, padded)


def _templated(texts: pl.Series) -> bool:
    return len(texts) > 0 and bool(texts.cast(pl.String).str.contains(_TEMPLATE).all())


def _are_measures(texts: pl.Series) -> bool:
    """Return whether all texts are times, scores, addresses of machines, or parts of years."""
    if not texts.str.contains(_ANY_MEASURE).all():
        return False
    return any(bool(texts.str.contains(rf"^\s*(?:{form})\s*$").all()) for form in _MEASURES)


def _are_prefixes(prefixes: pl.Series, texts: pl.Series) -> bool:
    """Return whether what stands before digits can name a site or a kind of number."""
    if len(prefixes) > max(1, min(_PREFIXES, len(texts) // _CODED)):
        return False
    long = prefixes.str.len_chars() > _LETTERS_BEFORE
    if (long | prefixes.str.contains(_NO_PREFIX)).any():
        return False
    some = texts.head(_CODED)
    phones = find_personal(some).get(PHONE)
    return not notations(some) and (phones is None or int(np.sum(phones)) <= _MOST * len(some))


def _are_times(tails: pl.Series, width: int) -> bool:
    """Return whether digits are days, or times of the day until the evening."""
    clock = _CLOCK.get(width)
    if clock is not None and tails.str.contains(clock).all() and tails.str.contains("^[12]").any():
        return True
    read = (tails.str.to_date(style, strict=False) for style in _DAYS.get(width, ()))
    return any(not days.has_nulls() for days in read)
