"""What each column is (its type) and what it does to privacy (its role), guessed or checked.

Types are told from all values of a column, never from a sample: one late odd value must not
come up in the middle of a release. Roles can only be guessed, from names and counts, so every
guess carries its reason, and a column about which nothing is known is taken for a
quasi-identifier: protecting it in vain costs utility, not somebody's privacy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from wideberth.errors import ParameterError, PolicyError, TableError
from wideberth.tables import ReadOptions
from wideberth.words import is_text

ROLES = ("identifier", "quasi", "sensitive", "insensitive")
# A vector is a list of numbers in each row, such as a probability distribution.
TYPES = ("integer", "float", "decimal", "date", "boolean", "text", "category", "vector")

_INTEGER = r"^[+-]?(0|[1-9][0-9]*)$"
_DECIMAL = r"^[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_FLOAT = r"^([+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|[+-]?inf(inity)?)$"
_DATES = {
    "%Y-%m-%d": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "%Y/%m/%d": r"^[0-9]{4}/[0-9]{2}/[0-9]{2}$",
    "%d.%m.%Y": r"^[0-9]{2}\.[0-9]{2}\.[0-9]{4}$",
}
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_DIGITS = 18  # so many always fit into 64 bits
_NEARLY = 0.95  # share of distinct values that makes a column as good as unique
_ENOUGH = 20  # rows below which being unique means little

_WORDS = {
    "identifier": "id uuid name surname firstname lastname fullname username email mail phone "
    "telephone mobile fax ssn passport iban account address street",
    "sensitive": "salary income wage wages earnings pay tax debt disease diagnosis condition "
    "illness symptom medication treatment drug hiv religion belief party orientation score grade",
    "quasi": "age sex gender zip zipcode postcode postal birth birthdate birthday birthplace dob "
    "nationality citizenship race ethnicity marital education degree school occupation job "
    "profession employer workclass region city town county state country language",
}


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why; it holds none of the column's values."""

    column: str
    type: str  # one of TYPES
    role: str  # one of ROLES
    distinct: int  # different values, missing ones aside
    missing: int
    why: str  # the reason for the role, in plain words


def infer_type(series: pl.Series) -> str:
    """Tell the type of a column from all its values.

    Parameters
    ----------
    series : polars.Series
        Text, as read from CSV, or already typed.

    Returns
    -------
    str
        One of :data:`TYPES`. Digits with leading zeros, or too many for 64 bits, are text: as
        numbers, different codes could become the same.

    Examples
    --------
    >>> infer_type(pl.Series(["21", "34"])), infer_type(pl.Series(["01234", "99999"]))
    ('integer', 'text')
    """
    dtype = series.dtype
    if is_text(dtype) or dtype == pl.Null:
        return _infer_from_text(_unnamed(series))
    if isinstance(dtype, pl.List | pl.Array):
        return "vector" if pl.Series(dtype=dtype.inner).dtype.is_numeric() else "text"
    kinds = {
        "integer": dtype.is_integer(),
        "float": dtype.is_float(),
        "decimal": dtype.is_decimal(),
        "date": dtype in (pl.Date, pl.Datetime, pl.Duration),
        "boolean": dtype == pl.Boolean,
        "category": isinstance(dtype, pl.Categorical | pl.Enum),
    }
    return next((kind for kind, fits in kinds.items() if fits), "text")


def _infer_from_text(series: pl.Series) -> str:
    present = series.drop_nulls()
    distinct = present.unique().cast(pl.String).str.strip_chars()
    if distinct.is_empty():
        return "text"
    if distinct.str.contains(_INTEGER).all():
        return "text" if _integers(distinct).has_nulls() else "integer"
    scales = distinct.str.extract(r"\.([0-9]+)$").str.len_chars()
    if scales.n_unique() == 1 and not scales.has_nulls() and not _decimals(distinct).has_nulls():
        return "decimal"
    for kind in ("float", "boolean", "date"):
        if not _PARSERS[kind](distinct).has_nulls():
            return kind
    few = max(20, len(present) // 100)
    recurring = len(distinct) < len(present)
    return "category" if recurring and len(distinct) <= few else "text"


def convert(series: pl.Series, type_: str) -> pl.Series:
    """Turn a column into the polars type that stands for `type_`.

    Parameters
    ----------
    series : polars.Series
        Text or already typed; blanks around numbers, dates and truth values do not count.
    type_ : str
        One of :data:`TYPES`.

    Returns
    -------
    polars.Series
        an integer or float type, ``Decimal``, ``Date`` (a ``Datetime`` stays one), ``Boolean``,
        ``List(Float64)``, or ``String`` for text and category; missing stays missing.
        The first value that does not fit is a ``TableError`` with its row.

    Examples
    --------
    >>> convert(pl.Series("paid", ["yes", None, "No"]), "boolean").to_list()
    [True, None, False]
    """
    if type_ not in TYPES:
        raise ParameterError(f"there is no type {type_!r}", hint=f"use one of {', '.join(TYPES)}")
    dtype, inferred = series.dtype, infer_type(series) if series.dtype.is_nested() else None
    if inferred == type_ == "vector":
        return series.cast(pl.List(pl.Float64))
    if type_ == "vector" or inferred or dtype in (pl.Binary, pl.Object):
        # Not the type in full, as that of an Enum lists its values.
        kind = dtype.base_type().__name__
        what = f"column {series.name!r} has polars type {kind}, which makes no {type_}"
        raise TableError(what, hint="convert it first, or leave it out")
    if type_ in ("text", "category"):
        return series.cast(pl.String)
    if type_ == "float" and dtype.is_numeric() and not dtype.is_float():
        return series.cast(pl.Float64)
    if (
        (type_ == "float" and dtype.is_float())  # single precision, too: see exact.Numbers
        or (type_ == "integer" and dtype.is_integer())
        or (type_ == "decimal" and dtype.is_decimal())
        or (type_ == "date" and dtype in (pl.Date, pl.Datetime, pl.Duration))
    ):
        return series
    plain = _unnamed(series)
    whole = type_ == "integer" and dtype.is_numeric()
    converted = _whole(plain) if whole else _parse(plain, type_)
    bad = converted.is_null() & plain.is_not_null()
    if bad.any():
        noun, form = _NOUNS[type_]
        what = f"column {series.name!r}, row {bad.arg_true()[0] + 1}: not {noun}"
        first = plain.filter(bad).cast(pl.String)[0]
        hint = f'write {form}, list it as missing, or make the type "text"'
        if re.fullmatch(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*", first):
            hint = "write thousands without commas, and a point for a decimal comma"
        elif re.fullmatch(r"\s*[+-]?[\d.]*,\d+\s*", first):
            hint = "write a point for the decimal comma"
        raise TableError(what, hint=hint)
    return converted.alias(series.name)


def _whole(series: pl.Series) -> pl.Series:
    # Floats too: pandas makes floats of integers as soon as one is missing.
    whole = series.cast(pl.Int64, strict=False)
    return whole.set((whole.cast(series.dtype) != series).fill_null(False), None)


def _parse(series: pl.Series, type_: str) -> pl.Series:
    # By way of the distinct values: half a million rows may hold but a hundred.
    text = series.cast(pl.String)
    distinct = text.drop_nulls().unique()
    parsed = _PARSERS[type_](distinct.str.strip_chars())
    return text.replace_strict(distinct, parsed, default=None, return_dtype=parsed.dtype)


def _unnamed(series: pl.Series) -> pl.Series:
    # Polars takes a name such as "^a$" for a pattern, even in methods of a series.
    return series.alias("")


def _integers(text: pl.Series) -> pl.Series:
    return _only(text, _INTEGER).cast(pl.Int64, strict=False)


def _decimals(text: pl.Series) -> pl.Series:
    plain = _only(text, _DECIMAL)
    plain = plain.set(plain.str.count_matches("[0-9]") > _DIGITS, None)
    scale = plain.str.extract(r"\.([0-9]+)$").str.len_chars().max() or 0
    return plain.cast(pl.Decimal(_DIGITS, scale), strict=False)  # type: ignore[arg-type]


def _floats(text: pl.Series) -> pl.Series:
    return _only(text.str.to_lowercase(), _FLOAT).cast(pl.Float64, strict=False)


def _booleans(text: pl.Series) -> pl.Series:
    return text.str.to_lowercase().replace_strict(_BOOLEANS, default=None, return_dtype=pl.Boolean)


def _dates(text: pl.Series) -> pl.Series:
    def read(style: str) -> pl.Series:
        dates = _only(text, _DATES[style]).str.to_date(style, strict=False)
        return dates.set((dates.dt.year() < 1).fill_null(False), None)  # Python knows no year 0

    return min(map(read, _DATES), key=pl.Series.null_count)


def _only(text: pl.Series, pattern: str) -> pl.Series:
    return text.set(~text.str.contains(pattern), None)


_PARSERS: dict[str, Callable[[pl.Series], pl.Series]] = {
    "integer": _integers,
    "decimal": _decimals,
    "float": _floats,
    "boolean": _booleans,
    "date": _dates,
}
_NOUNS = {
    "integer": ("an integer", "digits only, within 64 bits"),
    "decimal": ("a decimal", f"a point and at most {_DIGITS} digits"),
    "float": ("a number", "digits and a point"),
    "boolean": ("true or false", "true, false, yes or no"),
    "date": ("a date", "all dates as YYYY-MM-DD"),
}


def guess(frame: pl.DataFrame) -> list[Guess]:
    """Guess type and role of every column, in their order.

    Examples
    --------
    >>> [g.role for g in guess(pl.DataFrame({"zipCode": [1, 2], "salary": [3, 4]}))]
    ['quasi', 'sensitive']
    """
    return [_guess(series) for series in frame]


def _guess(series: pl.Series) -> Guess:
    type_ = infer_type(series)
    missing = series.null_count()
    distinct = _unnamed(series).drop_nulls().n_unique()
    role, reason = _role(series.name, type_, len(series), distinct, missing)
    why = f"{reason}; {distinct} distinct in {len(series)} rows{_stray(series, type_)}"
    return Guess(series.name, type_, role, distinct, missing, why)


def _stray(series: pl.Series, type_: str) -> str:
    """Remark that nearly all of a column's texts are numbers: a single slip makes it text."""
    if type_ not in ("text", "category") or not is_text(series.dtype):
        return ""
    texts = _unnamed(series).drop_nulls().unique().cast(pl.String)
    odd = texts.filter(_floats(texts.str.strip_chars()).is_null())
    if len(odd) > len(texts) * (1 - _NEARLY) or len(odd) == len(texts):
        return ""
    row = int(_unnamed(series).cast(pl.String).is_in(odd.to_list()).fill_null(False).arg_true()[0])
    return f"; ALL BUT {len(odd)} ARE NUMBERS, see row {row + 1}"


def _role(name: str, type_: str, rows: int, distinct: int, missing: int) -> tuple[str, str]:
    words = _words(name)
    hints = {
        role: next((w for w in words if w in said.split()), "") for role, said in _WORDS.items()
    }
    unique = distinct >= _NEARLY * (rows - missing) and distinct > 1
    # "disease_name" names a disease, "tax_id" a person: being unique decides.
    if hints["identifier"] and (unique or not (hints["sensitive"] or hints["quasi"])):
        return "identifier", f'the name has "{hints["identifier"]}"'
    if hints["sensitive"]:
        return "sensitive", f'the name has "{hints["sensitive"]}"'
    if rows > 1 and distinct + bool(missing) <= 1:
        return "insensitive", "the same in every row"
    if hints["quasi"]:
        return "quasi", f'the name has "{hints["quasi"]}"'
    if unique and rows >= _ENOUGH and type_ in ("integer", "text"):
        return "identifier", "(nearly) every row has its own value"
    return "quasi", "nothing tells its role, so the cautious one"


def _words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.split(r"[\W\d_]+", spaced.lower())


def check_roles(columns: Iterable[str], roles: Mapping[str, Sequence[str]]) -> None:
    """Raise a ``PolicyError`` unless every column has exactly one role.

    Parameters
    ----------
    columns : iterable of str
        The columns of the table.
    roles : mapping of str to sequence of str
        The columns of each role in :data:`ROLES`.
    """
    columns = list(columns)
    given: dict[str, str] = {}
    for role, members in roles.items():
        if role not in ROLES:
            raise PolicyError(f"there is no role {role!r}", hint=f"use one of {', '.join(ROLES)}")
        if isinstance(members, str):
            raise PolicyError(f"role {role!r} is not a list", hint=f'write ["{members}"]')
        for column in members:
            if column in given:
                twice = given[column] == role
                what = f"column {column!r} is listed " + (
                    f"twice as {role}" if twice else f"as {given[column]} and as {role}"
                )
                raise PolicyError(what, hint="keep one of them")
            if column not in columns:
                near = difflib.get_close_matches(str(column), columns, n=1)
                hint = f"did you mean {near[0]!r}?" if near else "is it another table's policy?"
                raise PolicyError(f"the table has no column {column!r}", hint=hint)
            given[column] = role
    for column in columns:
        if column not in given:
            what = f"column {column!r} has no role"
            hint = f"list it under one of {', '.join(ROLES)}"
            if column == "group":
                hint = "--group group, if it holds the group ids of a release; else " + hint
            raise PolicyError(what, hint=hint)


def policy_text(
    guesses: Sequence[Guess], table_name: str, options: ReadOptions | None = None
) -> str:
    """Compose the policy that ``wideberth init`` proposes: names and counts, no values.

    Parameters
    ----------
    guesses : sequence of Guess
        From :func:`guess`.
    table_name : str
        Named in the first line.
    options : ReadOptions, optional
        How the table was read; what differs from the defaults is kept.
    """
    sensitive = [g for g in guesses if g.role == "sensitive"]
    parts = [
        f"# Proposed by `wideberth init` for {_quoted(table_name)}. Roles are guesses: check each.",
        "version = 1",
        *_table_part(options or ReadOptions()),
        "",
        "[roles]  # every column has exactly one",
        *(line for role in ROLES for line in _role_part(role, guesses)),
        "",
        "[types]",
        *(f"{_key(g.column)} = {_quoted(g.type)}" for g in guesses),
        *([] if sensitive else _NOTHING_SENSITIVE),
        *_principle("k-anonymity", k=5),
        *(line for g in sensitive for line in _protection(g)),
    ]
    return "\n".join(parts) + "\n"


_NOTHING_SENSITIVE = """
# WARNING: no column looks sensitive, so NOTHING BUT GROUP SIZE IS PROTECTED. If a column
# holds what nobody must learn of a person, move it to `sensitive` and add a principle on it.
""".rstrip().split("\n")


def _table_part(options: ReadOptions) -> list[str]:
    kept = {k: v for k, v in asdict(options).items() if v != getattr(ReadOptions(), k)}
    lines = [f"{key} = {_value(value)}" for key, value in kept.items()]
    return ["", "[table]", *lines] if lines else []


def _role_part(role: str, guesses: Sequence[Guess]) -> list[str]:
    lines = [
        f"    {_quoted(g.column)},  # {g.type}, {g.missing} missing: {g.why}"
        for g in guesses
        if g.role == role
    ]
    return [f"{role} = [", *lines, "]"] if lines else [f"{role} = []"]


def _protection(g: Guess) -> list[str]:
    number = g.type in ("integer", "float", "decimal")
    if g.distinct < 2:
        return ["", f"# {_quoted(g.column)} has one value at most: no grouping can hide it."]
    diversity = _principle("distinct-l", on=g.column, l=min(3 if number else 2, g.distinct))
    if not number:
        return diversity
    proximity = _principle("epsilon-m", on=g.column, epsilon="10%", m=3)
    return [
        *diversity,
        "",
        "# Different numbers can still lie close together: at most 1 in m people should be",
        "# within epsilon of anybody. Choose both and remove the marks:",
        *(f"# {line}" for line in proximity if line),
    ]


def _principle(name: str, **parameters: str | int) -> list[str]:
    lines = [f"{key} = {_value(value)}" for key, value in parameters.items()]
    return ["", "[[principle]]", f"name = {_quoted(name)}", *lines]


def _value(value: str | int | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    return _quoted(value) if isinstance(value, str) else str(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    controls = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)}
    return '"' + text.translate(controls | {ord("\\"): "\\\\", ord('"'): '\\"'}) + '"'
