"""Several rows for one person: noticed by identifiers that repeat.

Every bound of a principle counts rows. Where a person has several, five rows can be one person, and
a group of five hides nobody. So a table in which an identifier repeats needs a decision: its rows
are people all the same (``rows_are_people``), or they are not, and the bounds do not hold.

Which columns count is told from names, roles and values. Texts do not, nor do identifiers of
things such as hospitals or products. Date of birth, sex and postcode together count if they repeat
far more often than chance explains. A column whose name does not speak of people, as a clinic's
that was made an identifier to drop it, does not count if rows that agree in it differ in sex, birth
or age: then they are different people.

Different people share names, telephones and addresses. These count if rows that agree in them also
agree in what people keep, far beyond chance; telephones and full names also if nobody can tell.
Codes in a column whose name says nothing count likewise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Literal

import numpy as np
import polars as pl

from wideberth.core.exact import Bools, Ints
from wideberth.core.strings import as_string, is_text
from wideberth.core.types import convert, infer_type, unnamed
from wideberth.errors import UndecidedError, what_to_type
from wideberth.policy.shapes import numbers_people
from wideberth.policy.vocabulary import ALONE, KEYS, NUMBERS, PERSONS, name_words

Strength = Literal["person", "plain"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Stems of words for a person, with which a column's words begin, and such words in short.
_PERSON = tuple(PERSONS.split())
_SHORT = _set("pat pers cust emp resp")
#: Words for a key, and how compound words for one end.
_KEY = _set(f"{KEYS} {NUMBERS} numéro")
_IDS = _set("id ids uuid guid identifier pseudonym hash")
_KEYS_AT_THE_END = ("nummer", "number", "nr", "id", "kennung")
#: Words that number the rows or people of a table if they stand alone.
_NUMBERING = _set(f"{ALONE} número")
#: Words that make a count of what follows them, or of what stands before "of".
_COUNTS = _set("no nr num number")
_SMALL = _set("de du des del der la le l")
#: Words that name a person's own number or address by themselves.
_OWN = _set(
    "mrn nhs ssn nino nin pesel bsn cpf dni nif nie iin curp insee svnr email mail passport iban "
    "pid ptid patid custid userid username uid"
)
#: Words for what people share: its identifier repeats among different people.
_SHARED = _set(
    "hospital clinic klinik ward practice doctor physician nurse provider arzt interviewer "
    "enumerator school schule class style "
    "college university course teacher store shop product item article sku brand category region "
    "district county city country state department dept division company employer firm "
    "organisation organization org branch site station center centre device sensor machine room "
    "bed group cluster batch bucket box type status level version file survey wave round question "
    "drug test lab team unit plan tariff model location place zone block tract area cell "
    "zip postal postcode plz year month quarter icd diagnosis diagnose procedure"
)
#: Words for names, telephones and addresses of people, which different people share, and for those
#: who live together.
_PHONES = _set("phone telephone telefon tel handy mobile mobil mobilnummer téléphone teléfono fax")
_TOGETHER = _set("house household family")
_ADDRESSES = _set("address adresse anschrift street strasse straße rue calle dirección domicilio")
_NAMED = _set(
    "name names surname firstname lastname fullname forename middlename initials vorname nachname "
    "nom prenom prénom nombre apellido apellidos"
)
_NAMES = _NAMED | _PHONES | _TOGETHER | _ADDRESSES

#: Values that are identifiers by their shape, in whatever column: hashes, UUIDs, long numbers.
_SHAPES = (
    r"^\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?$",
    r"^(?:[0-9a-f]{16,128}|[0-9A-F]{16,128})$",
    r"^[A-Za-z]{1,5}[-_/ ]?[0-9]{6,12}$",
)
#: Rows of a value that is a crowd's.
_CROWD = 20
_LABEL = r"\*|\.\.|^[\[\(\{]"  # a published range, set or mask
_ENOUGH = 20  # different values below which a shape means little
_OFTEN = 100  # rows for each value of a column that hardly names people
_SAMPLE = 1000  # values whose shape is looked at first
_MANY, _BEYOND = 0.05, 3  # share of rows, and times what chance explains, for several columns
#: How often rows of two values may agree in what people keep, if a value is to be a person's: of
#: codes, names and addresses, and of telephones.
_RARE, _COMMON = 0.2, 0.6
#: Rows of a large table that are looked at to see whether those of a value are one person's.
MAX_LOOKED_AT_VALUES = 5000


@dataclass(frozen=True)
class People:
    """An identifier that repeats: how many people there are, and how many rows."""

    columns: tuple[str, ...]  # one, or several that repeat together, as birth, sex and postcode
    people: int  # different values; each missing one counts as a person
    rows: int
    others: tuple[str, ...] = ()  # other columns that look like identifiers and repeat as well

    @property
    def column(self) -> str:
        """The identifier's name."""
        return "+".join(self.columns)

    @property
    def grave(self) -> bool:
        """Whether more than one row in twenty is a further row of somebody."""
        return self.rows - self.people > _MANY * self.rows

    def __str__(self) -> str:
        """Return the counts in words.

        >>> print(People(("patient_id",), 400, 1771))
        1,771 rows, but only 400 different values of 'patient_id'
        """
        what = " and ".join(f"'{column}'" for column in self.columns)
        value = "combination" if len(self.columns) > 1 else "value"
        many = "" if self.people == 1 else "s"
        return f"{self.rows:,} rows, but only {self.people:,} different {value}{many} of {what}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "column": self.column,
            "columns": list(self.columns),
            "people": self.people,
            "rows": self.rows,
            "others": list(self.others),
        }

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> People:
        """Return what `to_dict` was made from.

        >>> found = People(("patient_id",), 400, 1771)
        >>> People.of(found.to_dict()) == found
        True
        """
        others = tuple(told.get("others", ()))
        return cls(tuple(told["columns"]), told["people"], told["rows"], others)

    def hint(self) -> str:
        """Return what to do about it, and how to declare that rows are people.

        >>> print(People(("clinic",), 10, 400).hint())
        publish one row for each person; or, if every row is a different person (because 'clinic' \
stands for a place or an interviewer, say), rows_are_people=True
        """
        crowd = len(self.columns) == 1 and self.rows >= _CROWD * self.people
        why = f" (because '{self.column}' stands for a place or an interviewer, say)"
        return f"publish one row for each person; or, {how_to_declare_people(why if crowd else '')}"

    @property
    def error(self) -> UndecidedError:
        """The refusal to go on until somebody decides."""
        return UndecidedError(
            f"{self}: a person seems to have several rows, and a group of five rows may be one "
            "person",
            hint=self.hint(),
        )


def how_to_declare_people(why: str = "") -> str:
    """Return what to write if rows are people, whatever a table looks like."""
    return f"if every row is a different person{why}, " + what_to_type(
        python="rows_are_people=True",
        command="rows_are_people = true in the policy (--rows-are-people)",
        app="tick the box below the columns in step 1",
    )


def find_people(
    frame: pl.DataFrame, *, identifier: Collection[str] = (), ignored: Collection[str] = ()
) -> People | None:
    """Return the identifier that repeats in a table; None if none does.

    >>> visits = pl.DataFrame({"patient_id": [7, 7, 8, 9], "age": [30, 30, 41, 52]})
    >>> find_people(visits)
    People(columns=('patient_id',), people=3, rows=4, others=())
    """
    # `identifier`: the columns that the custodian calls identifiers; `ignored`: columns not to look
    # at (sensitive ones, ids of groups).
    identifier, ignored = set(identifier), set(ignored)
    fit = _fitting(frame, identifier, ignored, lambda *_: frame)
    found = repeating_identifier(fit, lambda column: _distinct(frame[column]), frame.height)
    if found is not None:
        return found
    known = [column for column, strength in fit.items() if strength == "person"]
    if any(_distinct(frame[column]) == (frame.height, 0) for column in known):
        return _born(frame, ignored)
    return _born(frame, ignored) or _named_and_born(frame, identifier, ignored)


def find_people_by_counts(
    first: pl.DataFrame,
    distinct: Callable[[str], tuple[int, int]],
    rows: int,
    some: RowsOf | None = None,
    *,
    identifier: Collection[str] = (),
    ignored: Collection[str] = (),
) -> People | None:
    """Return the identifier that repeats in a table not in memory; None if none does."""
    # `first` has the first rows. `distinct` returns how many values a column has, and how many rows
    # lack one; `some` returns columns of all rows that hold some values of the first of them, about
    # LOOKED_AT rows (by default, those of `first`).
    fit = _fitting(first, identifier, ignored, some or (lambda *_: first))
    return repeating_identifier(fit, distinct, rows)


#: Returns some columns of all rows that hold some values of the first of them.
RowsOf = Callable[..., pl.DataFrame]


def _fitting(
    frame: pl.DataFrame, identifier: Collection[str], ignored: Collection[str], some: RowsOf
) -> dict[str, Strength]:
    """Return the columns that may say whose row it is, by their names, roles and values."""
    named = candidates(frame.columns, identifier=identifier, ignored=ignored)
    for series in frame:
        if series.name not in named and series.name not in ignored and _shaped(series):
            named[series.name] = "plain"
    fitting = {c for c in named if _fits(frame[c], called=c not in identifier)}
    kept = of_person_traits(frame.columns)
    fit = {
        column: strength
        for column, strength in named.items()
        if column in fitting
        if strength == "person" or not mostly_several_people(frame, column, kept)
    }
    traits = PersonTraits.of(frame.columns)
    for series in frame:
        column = series.name
        if column in fit or column in ignored or column in traits.columns.values():
            continue
        if column in fitting:
            continue  # of several people
        if _of_one(series, traits, some, dropped=column in identifier):
            fit[column] = "plain"
    return fit


def _of_one(series: pl.Series, traits: PersonTraits, some: RowsOf, *, dropped: bool) -> bool:
    """Return whether rows that agree in a column of names or unknown codes are one person's."""
    column, words = series.name, set(lowercase_words(series.name))
    contact = words_are_names(column)
    named = contact or (dropped and is_text(series.dtype) and not _known_for_another(column))
    if not named and not _may_be_codes(series, traits):
        return False
    if (words <= _TOGETHER | _KEY and words & _TOGETHER) or not (words - _NAMES).isdisjoint(
        _SHARED
    ):
        return False
    phone, address = (not words.isdisjoint(known) for known in (_PHONES, _ADDRESSES))
    if address and "sex" not in traits.columns:
        return False  # couples share one, and are of an age
    if named and not phone and not address:
        traits = traits.without("sex")  # which a name tells
    frame = some(column, *traits.columns.values())
    cells = unnamed(frame[column]).drop_nulls()
    many = cells.n_unique()
    if many < 2 or many == len(cells):
        return False
    rare = len(cells) - many <= _MANY * len(cells)
    if not named and (many < _ENOUGH or rare or len(cells) > _CROWD * many):
        return False
    if _generalised(frame, column, traits):
        return False
    if not named:
        return traits.all_say(frame, column, chance=_RARE)
    found = traits.verdict(frame, column, chance=_COMMON if phone else _RARE)
    if found == "unclear" and not address:
        return phone or _more_than_namesakes(cells)
    return found == "same"


def _may_be_codes(series: pl.Series, traits: PersonTraits) -> bool:
    """Return whether a column whose name says nothing can hold codes of people."""
    if len(traits.columns) < 2 or _known_for_another(series.name):
        return False
    return _fits(series, called=True)


def _known_for_another(name: str) -> bool:
    """Return whether a column's name says that it holds something else than people or keys."""
    if not set(lowercase_words(name)).isdisjoint(_SHARED):
        return True
    return any(said.kind not in ("identifier", "key", "name") for said in name_words(name))


def _more_than_namesakes(cells: pl.Series) -> bool:
    """Return whether full names repeat far more often than their parts explain."""
    names = as_string(cells).cast(pl.String).str.strip_chars()
    parts = names.str.splitn(" ", 2).struct.unnest()
    if parts.null_count().sum_horizontal()[0] > _MANY * parts.height:
        return False  # no full names
    by_chance = repeats_by_chance(parts.fill_null(""))
    return len(names) - names.n_unique() > max(2, _BEYOND * by_chance)


def _generalised(frame: pl.DataFrame, column: str, traits: PersonTraits) -> bool:
    """Return whether a column numbers the groups of a release: its labels go with its values."""
    if not traits.labeled(frame):
        return False
    names = [*traits.columns.values()]
    return frame.select(column, *names).n_unique() == frame.select(names).n_unique()


def candidates(
    columns: Sequence[str], *, identifier: Collection[str] = (), ignored: Collection[str] = ()
) -> dict[str, Strength]:
    """Return the columns that may say whose row it is, by their names and roles alone.

    >>> candidates(["patient_id", "hospital_id", "surname", "visit_id", "age"])
    {'patient_id': 'person', 'visit_id': 'plain'}
    """
    found: dict[str, Strength] = {}
    for column in columns:
        if column in ignored:
            continue
        if strength := _strength(lowercase_words(column), role=column in identifier):
            found[column] = strength
    return found


def repeating_identifier(
    named: dict[str, Strength], distinct: Callable[[str], tuple[int, int]], rows: int
) -> People | None:
    """Return the identifier that repeats, by the counts of its values; None if none does."""
    # If a column that clearly names people differs in every row, rows are people, and other
    # identifiers may repeat. `distinct`: as for `find_people_by_counts`.
    counts: dict[str, int] = {}
    for column, strength in named.items():
        known, missing = distinct(column)
        if known < (2 if strength == "person" else 3):
            continue
        if strength == "plain" and (rows - missing) > _OFTEN * known:
            continue
        counts[column] = known + missing
    sure = [column for column in counts if named[column] == "person"]
    if sure and all(counts[column] == rows for column in sure):
        return None
    repeated = [column for column in counts if counts[column] < rows]
    if not repeated:
        return None
    first = max(repeated, key=lambda c: (named[c] == "person", counts[c]))
    others = tuple(column for column in repeated if column != first)
    return People((first,), counts[first], rows, others)


def _strength(listed: Sequence[str], *, role: bool) -> Strength | None:
    """Return how surely a column's words say whose row it is."""
    said = [word for word in listed if word not in _SMALL]
    words = set(said)
    shared = not words.isdisjoint(_SHARED)
    if not shared and not words.isdisjoint(_OWN):
        return "person"
    if _keyed(said[-2:] if shared else said):  # a school's "student id", but no "patient zip code"
        return "person"
    if shared or not words.isdisjoint(_NAMES):
        return None
    ids = words <= _NUMBERING or not words.isdisjoint(
        {"id", "ids", "uuid", "guid", "identifier", "pseudonym", "hash"}
    )
    return "plain" if ids or role else None


def _keyed(words: Sequence[str]) -> bool:
    """Return whether a word for a person and a word for a key stand side by side."""
    for at, word in enumerate(words):
        if not (word.startswith(_PERSON) or word in _SHORT):
            continue
        after, before = words[at + 1 : at + 3], words[at - 1] if at else ""
        counted = after[:1] and after[0] in _COUNTS and after[1:] in (["of"], ["per"])
        if after and after[0] in _KEY and not counted:
            return True
        if before in _KEY - _COUNTS or word.endswith(_KEYS_AT_THE_END):
            return True
    return False


def _fits(series: pl.Series, *, called: bool) -> bool:
    """Return whether values can be identifiers: no fractions, lists, labels or plain words."""
    # Not `called`: only its role makes the column a candidate. Then values must have digits, for
    # names repeat among different people.
    cells = unnamed(series).drop_nulls()
    kind = cells.dtype
    if kind.is_nested() or kind == pl.Boolean or kind.is_temporal() or not len(cells):
        return False
    if kind.is_float():
        return bool((cells == cells.floor()).all())
    if kind.is_integer():
        return True
    texts = as_string(cells.unique()).cast(pl.String)
    if texts.str.contains(_LABEL).any():
        return False
    words = texts.str.count_matches(r"\s+").mean()
    if isinstance(words, float) and words >= 2:  # sentences
        return False
    named = called and not words_are_names(series.name)
    digits = texts.str.contains(r"[0-9@]").mean()
    return named or (isinstance(digits, float) and digits > 0.5)


def words_are_names(name: str) -> bool:
    """Return whether a column's name says that it holds names or addresses of people."""
    return not set(lowercase_words(name)).isdisjoint(_NAMES)


def _shaped(series: pl.Series) -> bool:
    """Return whether all values of a column of text have the shape of an identifier."""
    # Numbers with a prefix or leading zeros have it unless the name says that they are something
    # else, such as postcodes.
    if not is_text(series.dtype) or not set(lowercase_words(series.name)).isdisjoint(_SHARED):
        return False
    cells = unnamed(series).drop_nulls()
    first = as_string(cells.head(_SAMPLE)).cast(pl.String)
    # The first cell mostly tells: a wide table has many columns.
    may = [shape for shape in _SHAPES if len(first) and re.match(shape, first[0])]
    shape = next((shape for shape in may if _all(first, shape)), None)
    if shape is None:
        other = any(said.kind not in ("identifier", "key") for said in name_words(series.name))
        named = other or words_are_names(series.name)
        return not named and numbers_people(series, "text", coded=True)
    texts = as_string(cells.unique()).cast(pl.String)
    return len(texts) >= _ENOUGH and _all(texts, shape)


def _all(texts: pl.Series, shape: str) -> bool:
    return bool(texts.str.contains(shape).all())


def _distinct(series: pl.Series) -> tuple[int, int]:
    cells = unnamed(series)
    return cells.drop_nulls().n_unique(), cells.null_count()


def _born(frame: pl.DataFrame, ignored: Collection[str]) -> People | None:
    """Find dates of birth that repeat with sex and postcode, far more often than by chance."""
    columns = []
    for words in (BIRTH, SEX, POST):
        fits = (
            c
            for c in frame.columns
            if not words.isdisjoint(lowercase_words(c)) and c not in ignored
        )
        columns.append(next(fits, None))
    if None in columns or frame.height < _ENOUGH:
        return None
    names = [column for column in columns if column is not None]
    birth = unnamed(frame[names[0]])
    days = birth if birth.dtype.is_temporal() else None
    if days is None and infer_type(birth) == "date":
        days = convert(birth, "date")
    if days is None or days.dtype not in (pl.Date, pl.Datetime) or days.dt.day().n_unique() < 10:
        return None  # not to the day, so different people share it
    return _together(frame, names)


def _named_and_born(
    frame: pl.DataFrame, identifier: Collection[str], ignored: Collection[str]
) -> People | None:
    """Find names that repeat with age or birth, and postcode, far more often than by chance."""
    traits = PersonTraits.of(frame.columns, ignored)
    if not {"years", "post"} <= traits.columns.keys():
        return None
    sex = [traits.columns["sex"]] if "sex" in traits.columns else []
    kept = [*traits.without("sex").columns.values()]
    for column in frame.columns:
        words = set(lowercase_words(column))
        named = words & _NAMED or (column in identifier and not words_are_names(column))
        if named and column not in (*ignored, *kept, *sex) and is_text(frame[column].dtype):
            found = _together(frame, [column, *kept], sex)
            if found is not None:
                return found
    return None


def _together(
    frame: pl.DataFrame, columns: Sequence[str], more: Sequence[str] = ()
) -> People | None:
    """Return columns as an identifier if they repeat together far more often than by chance."""
    # Chance is estimated from `columns` alone: `more`, as sex beside names, may depend on them.
    parts = pl.DataFrame([unnamed(frame[n]).alias(n) for n in (*columns, *more)]).drop_nulls()
    if parts.height < _ENOUGH:
        return None
    further = parts.height - parts.n_unique()
    by_chance = repeats_by_chance(parts.select(columns))
    if further <= max(_MANY * parts.height, _BEYOND * by_chance):
        return None
    return People((*columns, *more), frame.height - further, frame.height)


# -----------------------------------------------------------------------------
# What people keep: sex, birth, age and postcode; and whether rows agree in it.
#
# If most rows that share a value differ in sex, birth or age, they are different people's, whatever
# the column is called. If nearly all of them agree in everything that people keep, although other
# rows do not, a value stands for a person, and the person has several rows.


TraitKind = Literal["sex", "years", "post"]


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


BIRTH = _set_of(
    "birth dob yob birthdate birthday birthyear geburtsdatum geburtstag geburtsjahr naissance "
    "nacimiento born"
)
SEX = _set_of("sex gender geschlecht sexe sexo genero género genre")
POST = _set_of("zip zipcode postcode postal plz postleitzahl cp")
_AGE = _set_of("age alter edad")
#: Words that may stand beside those for birth, sex, age and postcode.
_BESIDE = _set_of("date of datum day year years de fecha du patient patienten person code")
_NUMBERS = ("integer", "float", "decimal")
#: Years between two rows that make them different people's, and that a person's rows may be apart.
_APART, _DRIFT = 40, 5
#: The share of values whose rows agree that makes a value a person's, in a table and in a release,
#: where a person's rows may come into different groups; how unlikely that must be by chance (a
#: bound of Chernoff's, as a logarithm); and how often rows of two values are compared.
_SAME, _SAME_LABELS, _UNLIKELY, _COMPARED = 0.7, 0.4, 7.0, 8
_TRAIT = r"\*|\.\.|^[\[\(\{]"  # a published range, set or mask

SamePersonVerdict = Literal["same", "different", "unclear"]


def lowercase_words(name: str) -> list[str]:
    """Split a column's name into its words, in small letters.

    >>> lowercase_words("PatientID"), lowercase_words("visit_no2")
    (['patient', 'id'], ['visit', 'no'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word for word in re.split(r"[\W\d_]+", spaced.lower()) if word]


@dataclass(frozen=True)
class PersonTraits:
    """The columns of a table that hold what people keep, at most one of each kind."""

    columns: dict[TraitKind, str]

    @classmethod
    def of(cls, columns: Sequence[str], ignored: Collection[str] = ()) -> PersonTraits:
        """Find these columns by their names.

        >>> PersonTraits.of(["id", "age", "date_of_birth", "sex", "town"]).columns
        {'sex': 'sex', 'years': 'date_of_birth'}
        """
        found: dict[TraitKind, str] = {}
        named: tuple[tuple[TraitKind, frozenset[str]], ...] = (
            ("sex", SEX),
            ("years", BIRTH),
            ("years", _AGE),
            ("post", POST),
        )
        for kind, known in named:
            for column in columns:
                words = set(lowercase_words(column)) - _BESIDE
                if kind not in found and column not in ignored and words and words <= known:
                    found[kind] = column
        return cls(found)

    def without(self, *kinds: TraitKind) -> PersonTraits:
        """Return the columns of all other kinds."""
        return PersonTraits(
            {kind: name for kind, name in self.columns.items() if kind not in kinds}
        )

    def labeled(self, frame: pl.DataFrame) -> bool:
        """Return whether they are published ranges, sets or masks, so that a table is a release."""
        cells = (frame[name] for name in self.columns.values())
        return any(
            cell.cast(pl.String).str.contains(_TRAIT).any() for cell in cells if is_text(cell.dtype)
        )

    def all_say(self, frame: pl.DataFrame, column: str, *, chance: float) -> bool:
        """Return whether rows equal in a column seem one person's, even without any one trait."""
        # What depends on one trait alone, as a town's code on the postcode, does not pass.
        if self.verdict(frame, column, chance=chance) != "same":
            return False
        return all(
            self.without(kind).verdict(frame, column, chance=1) == "same" for kind in self.columns
        )

    def verdict(self, frame: pl.DataFrame, column: str, *, chance: float) -> SamePersonVerdict:
        """Return whether rows that agree in a column seem to be the same person's."""
        # Two rows of each value are compared in all traits, and so are rows of two values. If those
        # agree more often than `chance`, the verdict is "unclear".
        names = [name for name in self.columns.values() if name != column]
        codes = unnamed(frame[column]).rank("dense").to_physical()
        rows = np.flatnonzero(codes.is_not_null().to_numpy())
        if not names or len(rows) < 2:
            return "unclear"
        of = codes.drop_nulls().cast(pl.Int64).to_numpy()
        order = np.argsort(of, kind="stable")
        rows, of = rows[order], of[order]
        first = np.flatnonzero(np.diff(of, prepend=-1))
        again = first[np.diff(first, append=len(of)) > 1]
        if not len(again) or len(first) < 2:
            return "unclear"
        kept = [_comparable(frame[name]) for name in names]
        same = _agree(kept, rows[again], rows[again + 1])
        others = np.random.default_rng(0).permutation(rows[first])
        shifts = range(1, min(_COMPARED, len(others) - 1) + 1)
        alike = np.concatenate([_agree(kept, others, np.roll(others, by)) for by in shifts])
        share, by_chance = float(same.mean()), max(float(alike.mean()), 1 / len(alike))
        if share < (_SAME_LABELS if self.labeled(frame) else _SAME):
            return "different"
        unlikely = share > by_chance and len(same) * _divergence(share, by_chance) > _UNLIKELY
        return "same" if unlikely and by_chance <= chance else "unclear"


def _comparable(series: pl.Series) -> pl.Series:
    """Return ages as numbers, and everything else as it is."""
    cells = unnamed(series)
    aged = not (set(lowercase_words(series.name)) - _BESIDE - _AGE)
    if aged and (kind := infer_type(cells)) in _NUMBERS:
        return convert(cells, kind).cast(pl.Float64)
    return cells


def _agree(kept: Sequence[pl.Series], one: Ints, other: Ints) -> Bools:
    """Return which rows agree with which others; what is missing agrees with everything."""
    agree = np.ones(len(one), dtype=bool)
    for cells in kept:
        here, there = cells[one], cells[other]
        near = (here - there).abs() <= _DRIFT if cells.dtype == pl.Float64 else here == there
        agree &= near.fill_null(True).to_numpy()
    return agree


def _divergence(share: float, chance: float) -> float:
    """Return how unlikely a share is, for each case, by chance (Kullback and Leibler)."""
    rest = (1 - share) * log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return share * log(share / chance) + rest


def of_person_traits(columns: Sequence[str]) -> list[str]:
    """Return the columns that hold sex, birth or age, by their names."""
    said = {column: set(lowercase_words(column)) - _BESIDE for column in columns}
    return [column for column, words in said.items() if words and words <= SEX | BIRTH | _AGE]


def mostly_several_people(frame: pl.DataFrame, column: str, kept: Sequence[str]) -> bool:
    """Return whether most rows that agree in a column differ in `kept`: sex, birth or age."""
    for other in kept:
        if other == column:
            continue
        words = set(lowercase_words(other)) - _BESIDE
        cells = unnamed(frame[other])
        if aged := words <= _AGE:
            kind = infer_type(cells)
            if kind not in _NUMBERS:
                continue
            cells = convert(cells, kind).cast(pl.Float64)
        pair = pl.DataFrame({"of": unnamed(frame[column]), "is": cells}).drop_nulls()
        one = pl.col("is")
        apart = one.max() - one.min() > _APART if aged else one.n_unique() > 1
        repeated = pair.group_by("of").agg(rows=pl.len(), apart=apart).filter(pl.col("rows") > 1)
        if repeated.height and repeated["apart"].sum() > repeated.height / 2:
            return True
    return False


def repeats_by_chance(frame: pl.DataFrame) -> float:
    """Return how many rows repeat another one's values by chance, if columns are independent."""
    # No column may have missing values.
    alike = 1.0
    for part in frame:
        shares = part.unique_counts().cast(pl.Float64) / frame.height
        alike *= float((shares * shares).sum())
    return alike * frame.height * (frame.height - 1) / 2
