"""How the numbers and dates of a column are written: 1.234,56 or 1,234.56, %d/%m/%Y or %m/%d/%Y.

A notation is given by an example of a number (``1.234,56``) or by the codes of a date
(``%d/%m/%Y``). Text is rewritten as the program writes it itself (1234.56, 2013-05-31), exactly:
digits are moved, never computed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache

import polars as pl

from wideberth.core.strings import is_text
from wideberth.errors import ParameterError, TableError

#: Digits that always fit into 64 bits, digits of the longest decimal, digits that floats keep.
WORD, DIGITS, SURE = 18, 38, 15
#: Numbers as the program writes them.
PLAIN_NUMBER = r"^[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_SPACES = " \u00a0\u2009\u202f"
_APOSTROPHES = "'\u2019"
_MINUS = "\u2212-"  # the hyphen last, as brackets of a pattern need it
_SIGN = r"[+\-\x{2212}]"
_UNITS = {"%", "‰", "US$", "A$", "C$", "R$", "kr", "zł", "Kč", "Ft", "Fr", "Fr.", "SFr.", "Rs"}
_UNITS |= {"EUR", "USD", "GBP", "CHF", "JPY", "CNY", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK"}
_UNITS |= {"PLN", "CZK", "HUF", "INR", "BRL", "MXN", "ZAR", "TRY", "KRW"}
_NAME = r"[^\W\d_]+\.?"
_DIRECTIVES = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "[0-9]{1,2}",
    "d": "[0-9]{1,2}",
    "H": "[0-9]{1,2}",
    "I": "0?[1-9]|1[0-2]",
    "M": "[0-9]{2}",
    "S": "[0-9]{2}",
    ".f": r"(?:\.[0-9]{1,6})?",
    "p": r"[AaPp]\.?[Mm]\.?",
    "b": _NAME,
    "B": _NAME,
}
#: Names of months, without accents, in English, German, French and Spanish; none means two.
_MONTHS = {
    name: str(number)
    for number, names in enumerate(
        (
            "jan january januar janner jaenner janv janvier ene enero",
            "feb february februar feber fev fevr fevrier febrero",
            "mar march marz maerz mrz mars marzo",
            "apr april avr avril abr abril",
            "may mai mayo",
            "jun june juni juin junio",
            "jul july juli juil juillet julio",
            "aug august aou aout ago agosto",
            "sep sept september septembre septiembre setiembre",
            "oct october okt oktober octobre octubre",
            "nov november novembre noviembre",
            "dec december dez dezember decembre dic diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
#: Dates that every command reads without being told, and what they look like: of another length,
#: they may be codes, such as 2013-5-12.
READ = {
    "%Y-%m-%d": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "%Y/%m/%d": r"^[0-9]{4}/[0-9]{2}/[0-9]{2}$",
    "%d.%m.%Y": r"^[0-9]{2}\.[0-9]{2}\.[0-9]{4}$",
}
#: Other dates in digits, by the mark between them; years have four digits or two.
_ASKED = {
    "-": ("%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d"),
    "/": ("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d"),
    ".": ("%Y.%m.%d", "%d.%m.%y"),
}
#: A day in digits, or with the name of its month, and a time behind it.
_DAY = r"\d{1,4}([-/.])\d{1,2}\1(?:\d{4}|\d{1,2})(?![\d.])"
_BETWEEN = "( de |[-/., ]{0,2})"
_NAMED = rf"(\d+|{_NAME}){_BETWEEN}(\d+|{_NAME}){_BETWEEN}(\d+)(?!\d)"
_TIME = r"(,? |T)\d{1,2}:\d\d(:\d\d(?:\.\d{1,6})?)?(?:( ?)[AaPp]\.?[Mm]\.?)?(Z?)"
#: The years that two digits may mean, behind the codes of a date.
_WINDOW = r"(.*\S) \((\d{4})-(\d{4})\)"
#: A number that a point parts into thousands, or decimals: nobody can tell which.
_THREES = r"^[+-]?[1-9][0-9]{0,2}\.[0-9]{3}$"
_FIRST = 50  # texts that a notation must fit before all are looked at
_A_FEW = 3  # texts one of which is written as most are
_HELP = 'an example such as "1.234,56", "$1,234.56" or "12 %", or the codes of a date: "%d/%m/%Y"'


class Notation:
    """One way to write numbers or dates.

    >>> Notation("1.234,56").plain(pl.Series(["77.158,97", "-5", "1,5", "7.15"])).to_list()
    ['77158.97', '-5', '1.5', None]
    >>> Notation("%m/%d/%Y").plain(pl.Series(["05/31/2013", "31/05/2013"])).to_list()
    ['2013-05-31', None]
    """

    def __init__(self, example: str) -> None:
        # example: how a policy names it.
        self.example = example
        self.date = re.search("%[A-Za-z.]", example) is not None
        if self.date:
            self._pattern, self._from = _date_pattern(example)
            self.timed = "%H" in example or "%I" in example
            return
        self._prefix, body, self._suffix = _parted(example)
        self._group, self._decimal = _marks(body, example)
        self._pattern = self._number_pattern()

    def resembles(self, texts: Sequence[str]) -> bool:
        """Return whether all of a few texts look as if they were written so, as a quick test."""
        matches = re.compile(self._pattern.replace(r"\x{2212}", "\u2212")).match
        return all(matches(text) for text in texts)

    @property
    def type(self) -> str:
        """The type of a column that is written so."""
        return "date" if self.date else "float"

    def _number_pattern(self) -> str:
        whole = "0|[1-9][0-9]*"
        if self._group:
            whole += f"|[1-9][0-9]{{0,2}}(?:[{re.escape(self._group)}][0-9]{{3}})+"
        behind = rf"(?:{re.escape(self._decimal)}[0-9]+)?" if self._decimal else ""
        sign, prefix, suffix = rf"({_SIGN}?)", re.escape(self._prefix), re.escape(self._suffix)
        if prefix:
            sign = rf"(?:({_SIGN}?)\s*{prefix}\s*|{prefix}\s*({_SIGN})\s*)"
        else:
            sign += "()"
        return rf"^{sign}((?:{whole}){behind})\s*{suffix}$"

    def plain(self, texts: pl.Series) -> pl.Series:
        """Rewrite texts as the program writes numbers and dates; others become null."""
        # A moment keeps its time: 2013-05-31 14:02:11.
        if self.date:
            written = self.moments(texts).cast(pl.String)
            return written.str.replace(r"\.0+$", "") if self.timed else written
        stripped = texts.cast(pl.String).alias("").str.strip_chars()
        frame = stripped.to_frame().select(
            before=pl.col("").str.extract(self._pattern, 1),
            behind=pl.col("").str.extract(self._pattern, 2),
            body=pl.col("").str.extract(self._pattern, 3),
        )
        body = frame["body"]
        if self._group:
            body = body.str.replace_all(f"[{re.escape(self._group)}]", "")
        if self._decimal:
            body = body.str.replace(self._decimal, ".", literal=True)
        signs = (frame["before"].fill_null("") + frame["behind"].fill_null("")).str.contains(
            f"[{_MINUS}]"
        )
        return signs.replace_strict({True: "-", False: ""}, return_dtype=pl.String) + body

    def moments(self, texts: pl.Series) -> pl.Series:
        """Read dates, or moments if the notation has a time."""
        text = texts.cast(pl.String).alias("").str.strip_chars()
        parts = text.str.extract_groups(self._pattern).struct.unnest()
        written = pl.select(
            pl.format("{}-{}-{}", self._year(parts), _month(parts), parts["d"])
        ).to_series()
        if self.timed:
            written = pl.select(pl.format("{} {}", written, _time(parts))).to_series()
            read = written.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        else:
            read = written.str.to_date("%Y-%m-%d", strict=False)
        return read.set((read.dt.year() < 1).fill_null(False), None)  # Python has no year 0

    def _year(self, parts: pl.DataFrame) -> pl.Series:
        if "Y" in parts.columns:
            return parts["Y"]
        years = self._from + (parts["y"].cast(pl.Int64) - self._from) % 100
        return years.cast(pl.String).str.zfill(4)


def _month(parts: pl.DataFrame) -> pl.Series:
    if "m" in parts.columns:
        return parts["m"]
    names = parts["b" if "b" in parts.columns else "B"].str.normalize("NFKD")
    names = names.str.replace_all(r"\p{M}|\.", "").str.to_lowercase()
    return names.replace_strict(_MONTHS, default=None, return_dtype=pl.String)


def _time(parts: pl.DataFrame) -> pl.Series:
    hours = parts["H" if "H" in parts.columns else "I"]
    if "I" in parts.columns:
        afternoon = parts["p"].str.contains("^[Pp]").cast(pl.Int64)
        hours = (hours.cast(pl.Int64) % 12 + 12 * afternoon).cast(pl.String)
    zero = pl.repeat("00", len(parts), eager=True)
    columns = [hours, *(parts[c] if c in parts.columns else zero for c in "MS")]
    fraction = parts["f"].replace("", ".0") if "f" in parts.columns else pl.lit(".0")
    return pl.select(pl.format("{}:{}:{}{}", *columns, fraction)).to_series()


def _date_pattern(example: str) -> tuple[str, int]:
    """Return a pattern of dates, and the first year that two digits may mean (else 0)."""
    window = re.fullmatch(_WINDOW, example)
    pattern, rest, seen = "", window[1] if window else example, set()
    while rest:
        code = re.match(r"%(\.f|.)", rest)
        if code is None:
            pattern, rest = pattern + re.escape(rest[0]), rest[1:]
            continue
        if code[1] not in _DIRECTIVES or code[1] in seen:
            raise ParameterError(
                f"{example!r} is not a way to write dates",
                hint="%Y, %m (or %b, %B) and %d, perhaps with %H:%M:%S or %I:%M %p; years of two "
                "digits as %y, with the hundred years that they may mean: %m/%d/%y (1930-2029)",
            )
        seen.add(code[1])
        pattern += f"(?P<{code[1].strip('.')}>{_DIRECTIVES[code[1]]})"
        rest = rest[code.end() :]
    _require_day(example, seen, window is not None)
    if window is None:
        return f"^{pattern}$", 0
    first, last = int(window[2]), int(window[3])
    if first < 1 or last - first != 99:
        raise ParameterError(
            f"{example!r} does not name a hundred years",
            hint=f"for example {window[1]} (1930-2029)",
        )
    return f"^{pattern}$", first


def _require_day(example: str, seen: set[str], window: bool) -> None:
    """Refuse codes of a date from which no day, or no moment, follows."""
    if "y" in seen and "Y" not in seen and not window:
        raise ParameterError(
            f"{example!r} does not say which century its years are of",
            hint=f"name the hundred years that they may mean: {example} (1930-2029)",
        )
    years, months = len(seen & set("yY")), len(seen & set("mbB"))
    hours = len(seen & set("HI"))
    times = [hours == 1, "M" in seen, "S" in seen, ".f" in seen]
    clock = hours <= 1 and times == sorted(times, reverse=True) and ("I" in seen) == ("p" in seen)
    if not (years == months == 1 and "d" in seen and clock and window == ("y" in seen)):
        raise ParameterError(
            f"{example!r} does not name year, month and day", hint="for example %d/%m/%Y"
        )


def _parted(example: str) -> tuple[str, str, str]:
    """Part an example of a number into what stands before, the digits, and what stands behind."""
    found = re.fullmatch(r"(\D*?)\s*(\d(?:.*\d)?)\s*(\D*)", example.strip())
    if found is None or any(mark in found[1] + found[3] for mark in "+-−()"):
        raise ParameterError(f"{example!r} is not a way to write numbers", hint=_HELP)
    return found[1], found[2], found[3]


def _marks(body: str, example: str) -> tuple[str, str]:
    """Return which marks part thousands, and which one parts the decimals, in an example."""
    marks = re.sub("[0-9]", "", body)
    kinds = {_kind(mark) for mark in marks}
    group = decimal = ""
    if len(kinds) == 2 and _kind(marks[-1]) in (",", ".") and marks.count(marks[-1]) == 1:
        decimal, group = marks[-1], next(iter(kinds - {marks[-1]}))
    elif len(kinds) == 1:
        one = next(iter(kinds))
        threes = re.fullmatch(rf"[1-9][0-9]{{0,2}}(?:[{re.escape(one)}][0-9]{{3}})+", body)
        if threes and len(marks) == 1 and one in (",", "."):
            other = "." if one == "," else ","
            raise ParameterError(
                f"{example!r} can be read in two ways",
                hint=f'"1{one}234{other}56" if the mark parts thousands, "1234{one}56" if decimals',
            )
        group, decimal = (one, "") if threes else ("", one)
    if kinds:
        whole = "[0-9]+" if not group else rf"[1-9][0-9]{{0,2}}(?:[{re.escape(group)}][0-9]{{3}})+"
        behind = rf"{re.escape(decimal)}[0-9]+" if decimal else ""
        known = decimal in ("", ",", ".") and (group or decimal)
        if not known or not re.fullmatch(whole + behind, body):
            raise ParameterError(f"{example!r} is not a way to write numbers", hint=_HELP)
    return group, decimal


def _kind(mark: str) -> str:
    """Return a mark, or all that stand for the same: spaces, apostrophes."""
    return next((same for same in (_SPACES, _APOSTROPHES) if mark in same), mark)


@lru_cache(maxsize=256)
def notation(example: str) -> Notation:
    """Return the notation that a policy names."""
    return Notation(example)


def formats_by_column(formats: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """Put columns in the place of short forms; what is said of a column itself goes first.

    >>> formats_by_column({"p.*": "1.234,56", "pay": "12 %"}, ["pay", "p.a"])
    {'p.a': '1.234,56', 'pay': '12 %'}
    """
    short = {name[:-1]: way for name, way in formats.items() if name.endswith(".*")}
    meant = {c: way for c in columns for begin, way in short.items() if c.startswith(begin)}
    return {**meant, **{c: formats[c] for c in columns if c in formats}}


def rewritten(
    frame: pl.DataFrame, formats: Mapping[str, str], *, made: bool = False
) -> pl.DataFrame:
    """Give columns of text the numbers or dates that they stand for, each by its notation."""
    # Columns of other types stay, and so do those without a single text in the notation: they are
    # written plainly already, or hold a release's labels. One that has both is refused.
    # made: this program wrote the table, so its numbers have a point, whatever the notation.
    if formats.keys().isdisjoint(frame.columns):
        return frame
    columns = []
    for series in frame:
        if series.name in formats and is_text(series.dtype):
            series = _read(series, notation("1234.56" if made else formats[series.name]), made)
        columns.append(series)
    return pl.DataFrame(columns)


def rewritten_piece(frame: pl.DataFrame, formats: Mapping[str, str], before: int) -> pl.DataFrame:
    """Rewrite columns of a piece of a table; `before` is the number of rows in front of it."""
    # Numbers stay text, as pieces may need different types. Every cell must be in its notation.
    columns = []
    for series in frame:
        if series.name in formats and is_text(series.dtype):
            how, name = notation(formats[series.name]), series.name
            text = series.alias("").cast(pl.String)
            plain = how.moments(text) if how.date else how.plain(text)
            if (odd := plain.is_null() & text.is_not_null()).any():
                raise _otherwise(name, before + int(odd.arg_true()[0]), how)
            series = plain.alias(name)
        columns.append(series)
    return pl.DataFrame(columns)


def _read(series: pl.Series, how: Notation, made: bool) -> pl.Series:
    text = series.alias("").cast(pl.String)
    distinct = text.drop_nulls().unique()
    plain = how.plain(distinct)
    fits = plain.is_not_null()
    simple = distinct.str.strip_chars().str.contains(PLAIN_NUMBER)
    differs = fits & (plain != distinct.str.strip_chars().str.strip_prefix("+"))
    certain = (fits & ~simple).any()
    if not (certain or made or (differs.any() and fits.all())) or (made and not fits.all()):
        if not made and notations(distinct):  # numbers, but in another notation
            raise _otherwise(series.name, int((text.is_not_null()).arg_true()[0]), how)
        return series
    if not fits.all():
        odd = text.is_in(distinct.filter(~fits).to_list()).fill_null(False)
        raise _otherwise(series.name, int(odd.arg_true()[0]), how)
    values = how.moments(distinct) if how.date else numbers(plain)
    if values.has_nulls():
        odd = text.is_in(distinct.filter(values.is_null()).to_list()).fill_null(False)
        raise too_long(series.name, int(odd.arg_true()[0]))
    read = text.replace_strict(distinct, values, default=None, return_dtype=values.dtype)
    return read.alias(series.name)


def _otherwise(name: str, row: int, how: Notation) -> TableError:
    return TableError(
        f"column {name!r}, row {row + 1}: not written as {how.example}, which [formats] says",
        hint="correct the cell or the notation, or list what it holds as missing",
    )


def too_long(name: str, row: int | None = None) -> TableError:
    """Return the refusal of a number, in a row if it is known, that cannot be held exactly."""
    where = f"column {name!r}" if row is None else f"column {name!r}, row {row + 1}"
    subject = "it" if row is None else "with this number, the column"
    return TableError(
        f"{where}: {subject} needs more than {DIGITS} digits",
        hint='round the column, or make the type "text"',
    )


def numbers(plain: pl.Series) -> pl.Series:
    """Read digits and points exactly; what is too long becomes missing."""
    places = plain.str.extract(r"\.([0-9]+)$").str.len_chars().fill_null(0)
    if not _most(places):
        whole = plain.cast(pl.Int64, strict=False)
        return decimals(plain) if whole.null_count() > plain.null_count() else whole
    if places.n_unique() > 1 and _most(plain.str.count_matches("[0-9]")) <= SURE:
        return plain.cast(pl.Float64)
    return decimals(plain)


def decimals(plain: pl.Series) -> pl.Series:
    """Read digits and points as decimals over a common unit; what is too long becomes missing."""
    before = plain.str.extract(r"^[+-]?0*([1-9][0-9]*)").str.len_chars().fill_null(0)
    behind = plain.str.extract(r"\.([0-9]+)$").str.len_chars().fill_null(0)
    fits = before <= DIGITS
    room = DIGITS - _most(before.filter(fits))
    fits &= behind <= room
    scale = _most(behind.filter(fits))
    short = DIGITS - room + scale <= WORD
    held = pl.Decimal(WORD if short else DIGITS, scale)
    return plain.set(~fits, None).cast(held, strict=False)


def _most(lengths: pl.Series) -> int:
    most = lengths.max()
    return most if isinstance(most, int) else 0


def notations(texts: pl.Series) -> list[str]:
    """Return the notations in which all texts can be read, one for each way to read them.

    >>> notations(pl.Series(["77158,97", "0,5"])), notations(pl.Series(["1,234", "2,500"]))
    (['1234,56'], ['1234,56', '1,234.56'])
    >>> notations(pl.Series(["05/31/2013"])), notations(pl.Series(["05/06/2013"]))
    (['%m/%d/%Y'], ['%d/%m/%Y', '%m/%d/%Y'])
    >>> notations(pl.Series(["1234.5", "7"])), notations(pl.Series(["a", "b"]))
    ([], [])
    """
    # None of them: the texts are plain numbers or dates already, or are neither in any notation.
    # One: there is no doubt. Two: somebody must say which one is meant.
    present = texts.alias("").drop_nulls()
    # A wide table has many columns: the first cells mostly decide, and Python is fast for few.
    first = [text.strip() for text in present.head(_FIRST).cast(pl.String).to_list()]
    if not first or not all(re.search("[0-9]", text) for text in first):
        return []
    examples = [
        example
        for example in (*_number_notations(first[0]), *_date_notations(first[0]))
        if notation(example).resembles(first)
    ]
    if not set(examples) - {"1234.56"}:
        return []
    distinct = present.unique().cast(pl.String).str.strip_chars().unique(maintain_order=True)
    if "1234.56" in examples and plainly_numbers(distinct):
        return []
    found: dict[str, pl.Series] = {}
    for example in examples:
        read = notation(example).plain(distinct)
        if not read.has_nulls() and not any(read.equals(other) for other in found.values()):
            found[example] = read
    if "1234.56" in found and len(found) == 1:
        return []
    plain = (distinct.str.contains(READ[example]).all() for example in found.keys() & READ.keys())
    return [] if any(plain) else list(found)


def mostly_written(texts: pl.Series, most: float) -> tuple[str, pl.Series] | None:
    """Return how all texts but a few are written, and those few; None if most are not alike.

    >>> way, odd = mostly_written(pl.Series([*(f"7158,{i}" for i in range(30)), "abc"]), 0.1)
    >>> way, odd.to_list()
    ('1234,56', ['abc'])
    """
    # most: the largest share of texts that may be written otherwise.
    plain = texts.alias("").cast(pl.String).str.strip_chars()
    some = plain.filter(plain.str.contains("[0-9]")).head(_A_FEW).to_list()
    examples = (one for text in some for one in (*_date_notations(text), *_number_notations(text)))
    found: tuple[str, pl.Series] | None = None
    for example in dict.fromkeys(examples):
        odd = texts.filter(notation(example).plain(plain).is_null())
        if 0 < len(odd) <= most * len(texts) and (found is None or len(odd) < len(found[1])):
            found = example, odd
    return found


def plainly_numbers(texts: pl.Series) -> bool:
    """Return whether texts are numbers as the program writes them, and no point parts thousands.

    >>> plainly_numbers(pl.Series(["1234.5", "7"])), plainly_numbers(pl.Series(["1.234", "7"]))
    (True, False)
    """
    if len(texts) and not re.match(PLAIN_NUMBER, texts[0]):  # a cell mostly tells
        return False
    if not texts.str.contains(PLAIN_NUMBER).all():
        return False
    pointed = texts.filter(texts.str.contains(".", literal=True))
    return pointed.is_empty() or not pointed.str.contains(_THREES).all()


def _number_notations(text: str) -> Iterator[str]:
    """Yield the notations that a text may be a number in, the simplest first."""
    found = re.fullmatch(
        rf"[+{_MINUS}]?\s*([^\d\s+{_MINUS}]*)(\s*)[+{_MINUS}]?\s*\d[\d.,\s'\u2019]*?(\s*)([^\d\s.,'\u2019]*)",
        text,
    )
    if found is None or not all(_is_unit(unit) for unit in (found[1], found[4]) if unit):
        return
    before, behind = found[1] + (found[2] and " "), (found[3] and " ") + found[4]
    if not found[1]:
        before = ""
    if not found[4]:
        behind = ""
    bodies = ["1234.56", "1234,56", "1,234.56", "1.234,56", "1 234", "1'234"]
    bodies += [f"1{group}234{decimal}56" for group in " '" for decimal in ".,"]
    if before or behind:
        bodies.insert(0, "1234")
    yield from (before + body + behind for body in bodies)


def _is_unit(text: str) -> bool:
    return text in _UNITS or (len(text) == 1 and unicodedata.category(text) == "Sc")


def _date_notations(text: str) -> Iterator[str]:
    """Yield the notations that a text may be a date in."""
    if found := re.match(_DAY, text):
        days = [way for way in (*READ, *_ASKED[found[1]]) if found[1] in way]
    elif found := re.match(_NAMED, text):
        days = [*_named(found)]
    else:
        return
    times = [*_times(text[found.end() :])]
    for way in (day + time for time in times for day in days):
        if "%y" in way:
            yield from (f"{way} ({last - 99}-{last})" for last in _windows())
        else:
            yield way


def _named(found: re.Match[str]) -> Iterator[str]:
    """Yield the codes of a day whose month has a name."""
    first, second, third = (_code(found[i]) for i in (1, 3, 5))
    for codes in (("d", "b", "Y"), ("b", "d", "Y"), ("Y", "b", "d")):
        year = {"Y": "y"} if "Y" not in (first, third) else {}
        short = [year.get(code, code) for code in codes]
        if all(code == one or (one == "d" and code == "y")
               for code, one in zip(short, (first, second, third), strict=True)):  # fmt: skip
            yield f"%{short[0]}{found[2]}%{short[1]}{found[4]}%{short[2]}"


def _code(part: str) -> str | None:
    """Return the code of a name, a year of four digits, or a day; a short year is one, too."""
    if not part.isdigit():
        plain = unicodedata.normalize("NFKD", part).strip(".").lower()
        return "b" if "".join(c for c in plain if not unicodedata.combining(c)) in _MONTHS else None
    return {1: "d", 2: "d", 4: "Y"}.get(len(part))


def _times(text: str) -> Iterator[str]:
    """Yield the codes of a time that stands behind a day."""
    found = re.fullmatch(_TIME, text) if text else None
    if found is None:
        if not text:
            yield ""
        return
    mark, seconds, blank, zone = found.groups()
    hours, half = ("%H", "") if blank is None else ("%I", f"{blank}%p")
    for rest in ("%S", "%S%.f") if seconds else ("",):
        yield f"{mark}{hours}:%M{rest and ':' + rest}{half}{zone}"


def _windows() -> Iterator[int]:
    """Yield the last years of the hundred that two digits may mean."""
    # Nobody was born, and nothing happened, after this year; what is due may be later (so do most
    # programs read two digits); and old tables are of one century.
    yield from (date.today().year, 2068, 1999)
