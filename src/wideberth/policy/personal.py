"""Addresses and numbers of people within texts: what they look like, and what their checks say.

A number with check digits counts only if these are right; one whose check is weak, only if more of
a column's texts pass it than chance explains. So wages, codes of diseases, dates and ranges of them
are not taken for numbers of people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import polars as pl

from wideberth.core.exact import Bools

EMAIL, PHONE = "e-mail addresses", "telephone numbers"
IBAN, CARD, NATIONAL = "bank account numbers (IBAN)", "card numbers", "national identity numbers"
RECORD, WEB = "patient or record numbers", "web addresses or account names"

#: What a date looks like: it is no telephone number.
PERSONAL_DATE = r"\b[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}\b"
#: Every text that holds anything of this has one of these; nearly all texts of a table have none.
POSSIBLE = r"@|[0-9].*[0-9].*[0-9]|(?i:https?://|www\.)"
#: A number of something else.
DECIMAL = r"^\s*[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?\s*$"

#: Of so few candidates, each counts whose check is right.
_SINGLE = 3
#: Standard deviations above what chance explains.
_ABOVE = 3.0
#: How many texts of a column must pass a check that is no proof, if they hold nothing else; and
#: which share of the texts that are nothing but digits must be telephone numbers.
_SEVERAL, _NEARLY_ALL = 5, 0.9
#: What people write, and no code of anything.
_WORD = r"^[^0-9]*[^\W\d_]{3}[^0-9]*$"
#: A number of digits and nothing else.
_BARE = r"^ *[0-9]{5,} *$"
#: Nothing that is a part of a longer number or word.
_ALONE = r"(?<![\w+])(?<![0-9][ .,:/-])(?:{})(?![\w]|[.,:/-][0-9])"

_DIGITS = re.compile(r"[0-9]")
_NOT_DIGITS = re.compile(r"[^0-9]")
#: How long an IBAN is, by country.
_IBANS = {
    **{"AD": 24, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18},
    **{"EE": 20, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22},
    **{"IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MT": 31, "NL": 18},
    **{"NO": 15, "PL": 28, "PT": 25, "RO": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TR": 26},
}
_SPANISH = "TRWAGMYFPDXBNJZSQVHLCKE"
_FINNISH = "0123456789ABCDEFHJKLMNPRSTUVWXY"


def _digits(text: str) -> list[int]:
    return [int(digit) for digit in _DIGITS.findall(text)]


def _iban(text: str) -> bool:
    """Check the two digits of an IBAN (ISO 13616).

    >>> _iban("DE89 3704 0044 0532 0130 00"), _iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    bare = text.replace(" ", "").upper()
    length = _IBANS.get(bare[:2])
    if length is not None:
        if len(bare) < length:
            return False
        bare = bare[:length]
    number = "".join(str(int(letter, 36)) for letter in bare[4:] + bare[:4])
    return 15 <= len(bare) <= 34 and int(number) % 97 == 1


def _nhs(text: str) -> bool:
    """Check the last digit of an NHS number (England, Wales, Isle of Man).

    >>> _nhs("943 476 5919"), _nhs("943 476 5918")
    (True, False)
    """
    digits = _digits(text)
    check = -sum(weight * digit for weight, digit in zip(range(10, 1, -1), digits, strict=False))
    return len(set(digits)) > 1 and check % 11 == digits[9]


def _german(text: str) -> bool:
    """Check a German tax number: one digit repeats among the first ten, and ISO 7064 mod 11, 10.

    >>> _german("86 095 742 719"), _german("86 095 742 718")
    (True, False)
    """
    digits = _digits(text)
    counts = sorted((digits[:10].count(digit) for digit in set(digits[:10])), reverse=True)
    if counts[0] not in (2, 3) or counts[1:2] != [1]:
        return False
    product = 10
    for digit in digits[:10]:
        product = 2 * ((digit + product) % 10 or 10) % 11
    return (11 - product) % 10 == digits[10]


def _french(text: str) -> bool:
    """Check the key of a French social security number.

    >>> _french("2 55 08 14 168 025 38"), _french("2 55 08 14 168 025 39")
    (True, False)
    """
    bare = text.replace(" ", "").replace("2A", "19").replace("2B", "18")
    return int(bare[:13]) % 97 + int(bare[13:]) == 97


def _spanish(text: str) -> bool:
    """Check the letter of a Spanish DNI or NIE.

    >>> _spanish("12345678Z"), _spanish("X1234567L"), _spanish("12345678A")
    (True, True, False)
    """
    bare = text.replace("-", "")
    return bare[-1] == _SPANISH[int(bare[:-1].translate(str.maketrans("XYZ", "012"))) % 23]


def _nordic(text: str) -> bool:
    """Check a number of Finland, Sweden or Denmark: it begins with a date, and may have a check.

    >>> _nordic("131052-308T"), _nordic("811228-9874"), _nordic("991352-308T")
    (True, True, False)
    """
    first, second, third = (int(text[at : at + 2]) for at in (0, 2, 4))
    if text[-1].isalpha():
        return _is_day(first, second) and _FINNISH[int(text[:6] + text[7:10]) % 31] == text[-1]
    if _is_day(first, second):  # Denmark has no check; a Finnish check may be a digit
        return True
    doubled = [d * (2 - at % 2) for at, d in enumerate(_digits(text))]
    return _is_day(third, second) and sum(d // 10 + d % 10 for d in doubled) % 10 == 0


def _is_day(day: int, month: int) -> bool:
    return 1 <= day <= 31 and 1 <= month <= 12


def _swiss(text: str) -> bool:
    """Check the last digit of a Swiss AHV number.

    >>> _swiss("756.9217.0769.85"), _swiss("756.9217.0769.84")
    (True, False)
    """
    digits = _digits(text)
    return sum(digit * (1 + 2 * (at % 2)) for at, digit in enumerate(digits)) % 10 == 0


def _american(text: str) -> bool:
    area, group, serial = text.split("-")
    return area not in ("000", "666") and area[0] != "9" and group != "00" and serial != "0000"


def _british(text: str) -> bool:
    return text[:2] not in ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")


def _phone(text: str) -> bool:
    """Return whether a text is a telephone number, not a range or a number with a sign.

    >>> _phone("+49 170 1234567"), _phone("010000-020000"), _phone("+1234567.50")
    (True, False, False)
    """
    parts = text.split("-")
    if len(parts) == 2 and len(parts[0]) == len(parts[1]) and all(p.isdigit() for p in parts):
        return False
    if re.fullmatch(r"\+[0-9]+\.[0-9]+", text) or ".." in text:
        return False
    return 8 <= len(_NOT_DIGITS.sub("", text)) <= 15


def _abroad(text: str) -> bool:
    """Return whether a number begins with 00 and a country's code, not just with zeros.

    >>> _abroad("00491701234567"), _abroad("0044 7700 900123"), _abroad("000049170123")
    (True, True, False)
    """
    digits = _NOT_DIGITS.sub("", text)
    return 11 <= len(digits) <= 16 and digits[2] != "0"


def _in_country(text: str) -> bool:
    """Return whether digits are a telephone number that begins with a zero.

    >>> _in_country("01712345678"), _in_country("0001234567"), _in_country("01052013")
    (True, False, False)
    """
    digits = text.strip()
    return 9 <= len(digits) <= 11 and digits[0] == "0" and digits[1] != "0"


def _in_america(text: str) -> bool:
    """Return whether ten digits may be a telephone number of North America.

    >>> _in_america("2125550187"), _in_america("1370000000"), _in_america("9115550187")
    (True, False, False)
    """
    digits = text.strip()
    area, exchange = digits[:3], digits[3:6]
    return len(digits) == 10 and all(
        part[0] in "23456789" and part[1:] != "11" for part in (area, exchange)
    )


def _card(text: str) -> bool:
    """Check the last digit of a card number (Luhn), of the ranges and lengths that are given out.

    >>> _card("4111 1111 1111 1111"), _card("4111 1111 1111 1112"), _card("378282246310005")
    (True, False, True)
    """
    digits = _digits(text)
    first = int("".join(map(str, digits[:4])))
    issued = {
        14: 3000 <= first < 3060 or 3600 <= first < 3700 or 3800 <= first < 4000,
        15: first // 100 in (34, 37),
        16: 4000 <= first < 5000
        or 5100 <= first < 5600
        or 2221 <= first <= 2720
        or 3528 <= first < 3590
        or first == 6011
        or 6440 <= first < 6600,
    }
    doubled = [digit * (1 + at % 2) for at, digit in enumerate(reversed(digits))]
    return issued.get(len(digits), False) and sum(d // 10 + d % 10 for d in doubled) % 10 == 0


def _insured(text: str) -> bool:
    """Check the last digit of a German health insurance number: a letter and nine digits.

    >>> _insured("A123456780"), _insured("A123456781")
    (True, False)
    """
    digits = _digits(f"{ord(text[0]) - 64:02}{text[1:]}")
    doubled = [digit * (1 + at % 2) for at, digit in enumerate(digits[:10])]
    return sum(d // 10 + d % 10 for d in doubled) % 10 == digits[10]


@dataclass(frozen=True)
class PersonalPattern:
    """One way to write an address or number of a person."""

    what: str
    pattern: str  # both polars and Python understand it
    holds: Callable[[str], bool] | None = None  # whether the check digits of such a text are right
    chance: float = 0.0  # share of texts that look like it and pass the check by chance
    inside: bool = False  # counts wherever it is; else only outside longer numbers and words
    undated: bool = False  # dates are left out first, as they may look like it
    mostly: float | None = None  # more than this share of the candidates must pass
    beside_words: int = _SEVERAL  # how many are enough in a column of which other texts are words
    only_beside: bool = False  # only such columns count

    def found(self, text: str) -> tuple[int, int]:
        """Count the candidates in a text, and those of them whose check is right."""
        some = [match.group() for match in self._search(text)]
        return len(some), len(some) if self.holds is None else sum(map(self.holds, some))

    def _search(self, text: str) -> Iterator[re.Match[str]]:
        pattern = self.pattern if self.inside else _ALONE.replace("{}", self.pattern)
        return re.finditer(pattern, text)  # the compiled pattern is kept by re


PERSONAL_PATTERNS = (
    PersonalPattern(EMAIL, r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}", inside=True),
    PersonalPattern(
        WEB,
        r"(?i:https?://|www\.)[\w-]+\.[\w.-]+|(?:^|[\s(,;:|{'\"])@[A-Za-z_]\w{2,}",
        inside=True,
    ),
    PersonalPattern(
        PHONE, r"\+[0-9]{1,3}[ ./-]?\(?[0-9][0-9 ()./-]{5,}[0-9]", _phone, undated=True
    ),
    PersonalPattern(PHONE, r"0[0-9]{1,5}[ /-][0-9][0-9 /-]{4,}[0-9]", _phone, undated=True),
    PersonalPattern(PHONE, r"0[1-9](?:\.[0-9]{2}){4}"),
    PersonalPattern(PHONE, r"\([0-9]{3}\) ?[0-9]{3}[ .-][0-9]{4}"),
    PersonalPattern(PHONE, r"(?:1[ .-])?[2-9][0-9]{2}[ .-][2-9][0-9]{2}[ .-][0-9]{4}"),
    PersonalPattern(PHONE, r"\(0[0-9]{1,5}\) ?[0-9][0-9 /-]{4,}[0-9]", _phone, undated=True),
    PersonalPattern(
        PHONE, r"00[1-9][0-9]{0,2}[ ./-]?\(?[0-9][0-9 ()./-]{5,}[0-9]", _abroad, undated=True
    ),
    PersonalPattern(
        PHONE, r"[^\W\d_]{3}.*\b0[1-9][0-9]{8,9}\b|\b0[1-9][0-9]{8,9}\b.*[^\W\d_]{3}", inside=True
    ),
    PersonalPattern(PHONE, _BARE, _in_country, inside=True, mostly=_NEARLY_ALL, beside_words=1),
    PersonalPattern(
        PHONE,
        _BARE,
        _in_america,
        inside=True,
        mostly=_NEARLY_ALL,
        beside_words=1,
        only_beside=True,
    ),
    PersonalPattern(
        PHONE,
        r"(?i:\b(?:t[eé]l|(?:tele)?phone|t[eé]l[eé](?:ph|f)on[eo]?|fon|mobile?|handy|fax|cell"
        r"|call|ring|dial|whatsapp|anruf(?:en)?|r(?:ü|ue)ckruf|durchwahl|portable|appeler"
        r"|m[oó]vil|llamar)(?:[ -]?(?:nummer|number|nr|no|num))?"
        r"(?: (?:back|me|us|him|her|them|at|on|under|unter|an|bei|au|al))*)"
        r"[.:]* ?[+(]?[0-9][0-9 ()/-]{5,}[0-9]",
        lambda text: 7 <= len(_NOT_DIGITS.sub("", text)) <= 15,
        inside=True,
        undated=True,
    ),
    PersonalPattern(IBAN, r"[A-Z]{2}[0-9]{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}", _iban, 1 / 97),
    PersonalPattern(
        CARD,
        r"[2-6][0-9]{3}(?:[ -][0-9]{4}){3}|3[0-9]{3}[ -][0-9]{6}[ -][0-9]{4,5}|[2-6][0-9]{13,15}",
        _card,
        1 / 10,
    ),
    PersonalPattern(NATIONAL, r"[0-9]{3}-[0-9]{2}-[0-9]{4}", _american),
    PersonalPattern(
        NATIONAL,
        r"(?i:\bSSN|\bsocial security(?: number| no\.?)?)[ .:#=-]*"
        r"[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}\b",
        inside=True,
    ),
    PersonalPattern(NATIONAL, r"[A-Z][0-9]{9}", _insured, 1 / 10),
    PersonalPattern(
        NATIONAL, r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?(?:[0-9]{2} ?){3}[A-D]", _british
    ),
    PersonalPattern(NATIONAL, r"[0-9]{3}[ -][0-9]{3}[ -][0-9]{4}", _nhs, 1 / 11),
    PersonalPattern(NATIONAL, r"[0-9]{10}", _nhs, 1 / 11, mostly=0.5),
    PersonalPattern(NATIONAL, r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]"),  # Italy
    PersonalPattern(
        NATIONAL,
        r"[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} "
        r"?[0-9]{2}",
        _french,
        1 / 97,
    ),
    PersonalPattern(NATIONAL, r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}", _german, 0.004),
    PersonalPattern(NATIONAL, r"[0-9]{6}[-+A][0-9]{3}[0-9A-Y]", _nordic, 0.3),
    PersonalPattern(NATIONAL, r"[0-9XYZ][0-9]{7}-?[A-Z]", _spanish, 1 / 23),
    PersonalPattern(NATIONAL, r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", _swiss, 0.1),
    PersonalPattern(
        RECORD,
        r"(?i:\bMRN|\bNHC|\bIPP|\b(?:medical )?record[ -]?(?:no|nr|number|id)"
        r"|\bp(?:t|at)(?:\.|ient(?:en)?)?[ -]?(?:no|nr|num|number|nummer|id)|\bp(?:atient|t) ?#"
        r"|\b(?:chart|case|hospital|admission)[ -]?(?:no|nr|number|id)|\bfall[ -]?(?:nr|nummer)"
        r"|\bNHS[ -]?(?:no|number)|\bn[°º] ?(?:de )?dossier|\bhistoria cl[ií]nica)"
        r"[ .:#°º=-]*[A-Z]{0,3}[ -]?[0-9][0-9 -]{2,}[0-9]",
        inside=True,
    ),
    PersonalPattern(
        RECORD,
        r"(?i:\b(?:case|chart|patient|pt|fall|akte|dossier)\b)[ .:#]*[0-9]{5,}\b",
        inside=True,
    ),
)
#: Every text in which any of them is found matches this: most texts of digits do not. Dates may
#: hide one, as they are left out of some searches first.
_ANY = "|".join([PERSONAL_DATE, *(f"(?:{kind.pattern})" for kind in PERSONAL_PATTERNS)])


def has_words(texts: pl.Series) -> bool:
    """Return whether some of a column's texts are words, so that it is no column of numbers.

    >>> has_words(pl.Series(["none", "2125550187"])), has_words(pl.Series(["77158", "N/A"]))
    (True, False)
    """
    return bool(texts.alias("").str.contains(_WORD).any())


def find_personal(texts: pl.Series, *, words: bool | None = None) -> dict[str, Bools]:
    """Find the texts that hold addresses or numbers of people.

    >>> found = find_personal(pl.Series(["to a.b@example.org", "77158", "MRN 123456", "E11.9"]))
    >>> {what: hits.tolist() for what, hits in found.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'e-mail addresses': [True, False, False, False],
     'patient or record numbers': [False, False, True, False]}
    """
    # Returns for each kind that was found which texts hold it. `words`: whether the column holds
    # words, if these texts are not all of it.
    bare = texts.alias("")
    may = bare.str.contains(POSSIBLE) & ~bare.str.contains(DECIMAL)
    likely = may.arg_true()
    at = likely.gather(bare.gather(likely).str.contains(_ANY).arg_true()).to_numpy()
    some = bare.gather(at)
    found: dict[str, Bools] = {}
    undated = None
    words = has_words(texts) if words is None and len(some) else bool(words)
    for kind in PERSONAL_PATTERNS:
        if not len(some):
            break
        if kind.only_beside and not words:
            continue
        searched = some
        if kind.undated:
            if undated is None:
                undated = some.str.replace_all(PERSONAL_DATE, " ")
            searched = undated
        here = searched.str.contains(kind.pattern).arg_true().to_numpy()
        if not len(here):
            continue
        counted = np.array([kind.found(text) for text in searched.gather(here)])
        candidates, right = counted.sum(axis=0)
        if not _more_than_chance(kind, int(candidates), int(right), words=words):
            continue
        hits = found.setdefault(kind.what, np.zeros(len(texts), dtype=bool))
        hits[at[here[counted[:, 1] > 0]]] = True
    return found


def _more_than_chance(kind: PersonalPattern, candidates: int, right: int, *, words: bool) -> bool:
    if kind.mostly is not None:
        least = kind.beside_words if words else _SEVERAL
        return right >= least and right > kind.mostly * candidates
    if candidates <= _SINGLE or not kind.chance:
        return right > 0
    expected = candidates * kind.chance
    return right > expected + _ABOVE * sqrt(expected * (1 - kind.chance))
