"""Questions that a column of text raises: whether it is numbers or dates, and in which notation.

Nothing is changed here. A question or remark names columns, counts and rows, and never a person's
value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from wideberth.core.notation import mostly_written, notation, notations, plainly_numbers
from wideberth.core.strings import is_text
from wideberth.core.types import confirmation, floats, is_read_plainly, unnamed
from wideberth.errors import ParameterError, UndecidedError, what_to_type

#: What often stands for a missing value, in small letters.
LIKE_MISSING = (
    *("nan", "n/a", "na", "n.a.", "null", "none", "nil", "-", "--", "."),
    *("#n/a", "#na", "#null!", "#value!", "#ref!", "#div/0!"),
)
_LIKE_MISSING = rf"(?i)^\s*(?:{'|'.join(map(re.escape, LIKE_MISSING))})\s*$"
#: What a text has that is no mere word: digits, what looks missing, and infinity.
_NO_WORD = rf"[0-9]|{_LIKE_MISSING}|(?i)^\s*[+-]?inf(?:inity)?\s*$"
_NEARLY = 0.95  # share of numbers that makes the rest a slip
_MOSTLY = 0.9  # likewise of dates, and of numbers in a notation, which are written on purpose
#: How people write numbers that no notation reads, and how to rewrite them so that one does.
_DISGUISES = {
    "stand in parentheses": (r"^\((.*[0-9].*)\)$", "-$1"),
    "have a minus behind them": (r"^(.*[0-9].*?)\s*[\x{2212}-]$", "-$1"),
    "end in k or M": (r"^(.*[0-9])\s*[kKM]$", "$1"),
}
_DISGUISED = "|".join(pattern for pattern, _ in _DISGUISES.values())
#: How every number begins that the program reads without being told.
_NEARLY_NUMBER = r"(?i)^\s*[+-]?(?:\.?[0-9]|nan|inf)"
_CLOCK = r"^(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?: ?[AaPp]\.?[Mm]\.?)?$"


@dataclass(frozen=True)
class ColumnQuestion:
    """Something about a column that only a person can answer."""

    what: str
    hint: str  # what to write to answer it
    ways: Sequence[str] = ()  # notations that fit

    @property
    def error(self) -> ParameterError:
        """The refusal to go on without an answer."""
        return ParameterError(self.what, hint=self.hint)


def column_question(
    series: pl.Series, *, made: bool = False, slips: bool = True, rows: bool = True
) -> ColumnQuestion | None:
    """Return what must be answered before a column of text is taken for numbers, or for none.

    >>> print(column_question(pl.Series("wage", ["77158,97", "1200,50"])).what)
    column 'wage' looks like numbers written as 1234,56, and stays text until you confirm that
    >>> column_question(pl.Series("wage", ["77158.97", "1200.50"]))
    """
    # `made`: this program wrote the column, so a point parts decimals. `slips`: ask about a few
    # texts among numbers or dates, too. `rows`: the column has the rows of the table, so one can be
    # named.
    if not is_text(series.dtype):
        return None
    name, texts = series.name, unnamed(series)
    distinct = texts.drop_nulls().unique(maintain_order=True).cast(pl.String)
    if plainly_numbers(distinct) or all_words(distinct):
        return None
    blank = like_missing(distinct)
    rest = distinct.filter(~blank) if blank.any() else distinct
    ways = notations(distinct)
    if not ways and len(rest) < len(distinct):  # N/A beside 1.234,56
        ways = notations(rest)
    if made and "1234.56" in ways:
        return None
    if len(ways) > 1:
        as_ways = " or as ".join(ways)
        what = f"column {name!r} can be read in {len(ways)} ways: as {as_ways}"
        return ColumnQuestion(what, confirmation(name, ways), ways)
    if ways:
        noun = "dates" if notation(ways[0]).date else "numbers"
        what = f"column {name!r} looks like {noun} written as {ways[0]}, and stays text until you "
        return ColumnQuestion(f"{what}confirm that", confirmation(name, ways), ways)
    if (forms := _disguised(rest)) and not is_read_plainly(distinct):
        some = " or ".join(forms)
        return ColumnQuestion(
            f"column {name!r} looks like numbers, and is text, for some of them {some}",
            f"write all of them as -1200.50 or 92000; {_as_text(name)}",
        )
    if not slips or is_read_plainly(distinct):
        return None
    return _slips(name, texts, distinct, blank, rows)


def require_one_way(series: pl.Series) -> None:
    """Refuse a column of text that can be read in two ways, until somebody says in which.

    >>> require_one_way(pl.Series("born", ["05/31/2013", "05/06/2013"]))
    >>> require_one_way(pl.Series("born", ["05/07/2013", "05/06/2013"]))
    Traceback (most recent call last):
    wideberth.errors.UndecidedError: column 'born' can be read in 2 ways: as %d/%m/%Y or as %m/%d/%Y
      try: born = "%d/%m/%Y" or born = "%m/%d/%Y" under [formats] of the policy; or, to keep it as \
text, types={'born': 'text'}
    """
    asked = column_question(series, slips=False)
    if asked is not None and len(asked.ways) > 1:
        name = series.name
        text = what_to_type(
            python=f"types={{{name!r}: 'text'}}",
            command=f"--type '{name}=text'",
            app="choose that type there",
        )
        raise UndecidedError(asked.what, hint=f"{asked.hint}; or, to keep it as text, {text}")


def _disguised(texts: pl.Series) -> list[str]:
    """Return the forms of a column's numbers if no notation reads them and it has nothing else.

    >>> _disguised(pl.Series(["(1,200.50)", "3.5"])), _disguised(pl.Series(["(a)", "92k"]))
    (['stand in parentheses'], [])
    """
    # `texts` are different, and none of them looks missing.
    plain = texts.str.strip_chars()
    if plain.is_empty() or not plain.str.contains(_DISGUISED).any():
        return []
    if not plain.str.contains("[0-9]").all():
        return []
    forms = []
    for form, (pattern, instead) in _DISGUISES.items():
        if plain.str.contains(pattern).any():
            plain = plain.str.replace(pattern, instead)
            forms.append(form)
    if not forms or (floats(plain).has_nulls() and not notations(plain)):
        return []
    return forms


def _as_text(name: str) -> str:
    """Return what to write so that a column that looks like something else is text."""
    entry = f'{name} = "text" under [types]'
    return what_to_type(
        python=f'if that is what it is, {entry}, or types={{"{name}": "text"}}',
        command=f"--type {name}=text if that is what it is, or {entry}",
        app="choose the type text in step 1 if that is what it is",
    )


def _blank(texts: pl.Series) -> pl.Series:
    """Return the distinct texts that look missing."""
    distinct = texts.drop_nulls().unique().cast(pl.String)
    return distinct.filter(like_missing(distinct))


def _slips(
    name: str, texts: pl.Series, distinct: pl.Series, missing: pl.Series, rows: bool
) -> ColumnQuestion | None:
    """Ask about a few texts among numbers or dates; `missing` marks those that look missing."""
    blank = distinct.filter(missing)
    rest = distinct.filter(~missing)
    as_text = _as_text(name)
    if len(blank) and len(rest) and is_read(rest):
        listed = ", ".join(f'"{token}"' for token in tokens(blank))
        return ColumnQuestion(
            f"column {name!r} is text, for it holds {listed} beside numbers or dates",
            what_to_type(
                python=f'missing = ["?", "", "NA", {listed}] under [table] of the policy',
                command=f'missing = ["?", "", "NA", {listed}] under [table] of the policy, or '
                "--missing",
                app=f"add {listed} to the missing values (“Is the file read wrongly?” in step 1)",
            )
            + f"; {as_text}",
        )
    if (found := odd_among(distinct)) is None:
        return None
    nouns, odd = found
    if odd.str.contains(r"^\s*[0-9]+\s*$").all():  # 01234: codes, and no slip
        return None
    row = int(texts.cast(pl.String).is_in(odd.to_list()).fill_null(False).arg_true()[0])
    at = f" (see row {row + 1})" if rows else ""
    return ColumnQuestion(
        f"column {name!r} is text, but all its values are {nouns} save {len(odd)}{at}",
        f"correct them, or list them as missing; {as_text}",
    )


def odd_among(distinct: pl.Series) -> tuple[str, pl.Series] | None:
    """Return what nearly all different texts of a column are, and the few that are not.

    >>> odd_among(pl.Series([*map(str, range(40)), "abc"]))[0]
    'numbers'
    >>> odd_among(pl.Series([*(f"{i:02}/05/2013" for i in range(1, 29)), "abc"]))[0]
    'dates written as %d/%m/%Y'
    """
    if distinct.str.contains(_NEARLY_NUMBER).any():
        odd = distinct.filter(floats(distinct.str.strip_chars()).is_null())
        if len(odd) <= len(distinct) * (1 - _NEARLY):
            return ("numbers", odd) if len(odd) else None
    found = mostly_written(distinct, 1 - _MOSTLY)
    if found is None:
        return None
    way, odd = found
    ways = notations(distinct.filter(~distinct.is_in(odd.to_list())))
    nouns = "dates" if notation(way).date else "numbers"
    return f"{nouns} written as {' or as '.join(ways)}" if ways else nouns, odd


def is_read(texts: pl.Series) -> bool:
    """Return whether texts are numbers or dates, plain or in a notation."""
    return is_read_plainly(texts) or bool(notations(texts))


def like_missing(texts: pl.Series) -> pl.Series:
    """Mark the texts that often stand for a missing value."""
    return texts.str.contains(_LIKE_MISSING)


def all_words(texts: pl.Series) -> bool:
    """Return whether no text has a digit, looks missing, or is infinity: none is read as anything.

    >>> all_words(pl.Series(["north", "yes"])), all_words(pl.Series(["north", "n/a"]))
    (True, False)
    """
    return not texts.str.contains(_NO_WORD).any()


def tokens(texts: pl.Series) -> list[str]:
    """Return the distinct texts, without white space around them, sorted."""
    return texts.str.strip_chars().unique().sort().to_list()


def value_remarks(name: str, texts: pl.Series) -> list[str]:
    """Remark on the distinct texts of a column: those that look alike, or missing, or like numbers.

    >>> value_remarks("sex", pl.Series(["F", "f", "F ", "M"]))[0].partition(" (")[0]
    'sex has 3 pairs of values that look the same'
    """
    plain = texts.alias("").drop_nulls().cast(pl.String)
    if plainly_numbers(plain):  # most columns of a wide table; nothing below applies to them
        return []
    said = []
    bare = plain.str.strip_chars().str.replace(r"^([+-]?)0+([0-9][0-9.,]*)$", "$1$2")
    alike = bare.str.to_lowercase().str.normalize("NFC").value_counts()
    same = alike["count"].cast(pl.Int64)
    if pairs := int((same * (same - 1)).sum()) // 2:
        said.append(
            f"{name} has {pairs:,} pair{'' if pairs == 1 else 's'} of values that look the same "
            "(white space around them, upper and lower case, leading zeros, or the encoding of "
            "accents, differs) but count as different: make them equal first, or diversity is "
            "overstated and equal people are told apart"
        )
    if len(blank := _blank(plain)):
        listed = ", ".join(f'"{token}"' for token in tokens(blank))
        said.append(
            f"{name} holds {listed}, which counts as a value: list it under missing if it is none "
            f"({what_to_type(python='', command='--missing, or ')}[table] of the policy)"
        )
    present = plain.filter(~plain.is_in(blank.to_list()))
    if (asked := column_question(present.alias(name), rows=False)) is not None:
        said.append(f"{asked.what} ({asked.hint})")
    return said + _on_times(name, present.str.strip_chars())


def is_remarked(dtype: pl.DataType) -> bool:
    """Return whether there is something to remark on the values of a type: texts, and times."""
    return is_text(dtype) or dtype == pl.Time


def _on_times(name: str, texts: pl.Series) -> list[str]:
    """Remark that a column holds times of the day, which have no type.

    >>> _on_times("seen", pl.Series(["14:02", "09:05"]))[0].partition(":")[0]
    'seen looks like times of the day, which are text here'
    >>> _on_times("score", pl.Series(["14:02", "9:71"]))
    []
    """
    if texts.is_empty() or not texts.str.contains(_CLOCK).all():
        return []
    lengths = texts.str.len_chars().unique().to_list()
    padded = len(lengths) == 1 and not texts.str.contains("[A-Za-z]").any()
    mask = f", or, for hours, the hierarchy {{ mask = {lengths[0]} }}" if padded else ""
    return [
        f"{name} looks like times of the day, which are text here: close ones count as different, "
        "and a set of them lists people's own times; write minutes since midnight instead, which "
        f"are numbers{mask}"
    ]
