"""The policy that ``wideberth init`` proposes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from textwrap import wrap
from typing import Any

import polars as pl

from wideberth.core.notation import plainly_numbers
from wideberth.core.questions import is_read, is_remarked, like_missing, tokens, value_remarks
from wideberth.core.strings import is_text
from wideberth.core.types import unnamed
from wideberth.errors import TableError, what_to_type
from wideberth.io import ReadOptions, in_formats, notation, notations
from wideberth.policy.guesses import Guess
from wideberth.policy.people import People
from wideberth.policy.roles import ROLES, UNDECIDED
from wideberth.policy.strays import find_non_person_rows


@dataclass(frozen=True)
class Suggestion:
    """Something that a policy may say, and why."""

    value: Any  # for a principle an entry of a policy, empty for a mere remark
    why: str  # in plain words, without a value of the table
    active: bool = True  # otherwise it is written as a comment, for somebody to decide


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What a policy should begin with, apart from the roles."""

    principles: list[Suggestion] = field(default_factory=list)
    hierarchies: dict[str, Suggestion] = field(default_factory=dict)  # rules by column
    align: dict[str, Suggestion] = field(default_factory=dict)  # grids by column
    # other than the guessed ones, where the rest needs them
    types: dict[str, str] = field(default_factory=dict)


def policy_text(
    guesses: Sequence[Guess],
    table_name: str,
    options: ReadOptions | None = None,
    notes: Sequence[str] = (),
    people: People | None = None,
    proposal: Proposal | None = None,
) -> str:
    """Compose the policy that ``wideberth init`` proposes: names and counts, no values."""
    reading = options or ReadOptions()
    sensitive = [g for g in guesses if g.role == "sensitive"]
    proposal = proposal or Proposal()
    parts = [
        f"# Proposed by `wideberth init` for {_quoted(table_name)}. Roles are guesses: check each.",
        *(f"# NOTE: {note.translate(_CONTROLS)}" for note in notes),
        "version = 1",
        *_people_part(people),
        *_table_part(reading),
        "",
        "[roles]  # every column has exactly one",
        *(line for role in ROLES for line in _role_part(role, guesses)),
        *_undecided_part(guesses),
        "",
        "[types]",
        *(_type_part(g, proposal.types.get(g.column, g.type)) for g in guesses),
        *_formats_part(guesses, reading),
        *([] if sensitive else _NOTHING_SENSITIVE),
        *(line for one in proposal.principles for line in _principle_part(one)),
        *_settings_part(_HIERARCHIES, proposal.hierarchies),
        *_settings_part(_GRIDS, proposal.align),
    ]
    return "\n".join(parts) + "\n"


#: Columns of a table for which a policy is proposed: each takes milliseconds to look at, and
#: somebody must check its role.
MAX_PROPOSED_COLUMNS = 5_000
#: Letters of a line of comment.
_WIDTH = 96
_HIERARCHIES = "[hierarchies]  # coarser and coarser values; for the lattice, each column needs one"
_GRIDS = "[transform.align]  # where intervals end: on a grid, not at people's own values"

_NOTHING_SENSITIVE = """
# WARNING: no column looks sensitive, so NOTHING BUT GROUP SIZE IS PROTECTED. If a column
# holds what nobody must learn of a person, move it to `sensitive` and add a principle on it.
""".rstrip().split("\n")


def _people_part(people: People | None) -> list[str]:
    """Ask whether rows are people, if an identifier repeats."""
    if people is None:
        return []
    return [
        "",
        f"# {str(people).translate(_CONTROLS)}. Does a person have several rows?",
        "# Principles count rows: a group of five rows of one person hides nobody, so this policy",
        "# makes no release. Publish one row for each person; or, if every row is a different",
        "# person all the same, remove the mark:",
        "# rows_are_people = true",
    ]


def _table_part(options: ReadOptions) -> list[str]:
    said = {k: v for k, v in asdict(options).items() if k not in ("formats", "made")}
    kept = {k: v for k, v in said.items() if v != getattr(ReadOptions(), k)}
    lines = [f"{key} = {_value(value)}" for key, value in kept.items()]
    return ["", "[table]", *lines] if lines else []


def _type_part(guess: Guess, kind: str) -> str:
    """Write a type; one that is unclear as a comment, for it would count as decided."""
    line = f"{_key(guess.column)} = {_quoted(kind)}"
    return f"# {line}  # unclear: see the notes above" if guess.unclear else line


def _formats_part(guesses: Sequence[Guess], options: ReadOptions) -> list[str]:
    """Write how numbers and dates are written; where that is unclear, what to choose from."""
    lines = [f"{_key(column)} = {_quoted(way)}" for column, way in options.formats.items()]
    for guess in guesses:
        if len(guess.ways) > 1:
            lines.append(f"# {_quoted(guess.column)} can be read in several ways. Keep one line:")
            lines += [f"# {_key(guess.column)} = {_quoted(way)}" for way in guess.ways]
    title = "[formats]  # how numbers and dates are written: check each"
    return ["", title, *lines] if lines else []


def _role_part(role: str, guesses: Sequence[Guess]) -> list[str]:
    lines = [
        f"    {_quoted(g.column)},  # {g.type}, {g.missing} missing: {g.why}"
        for g in guesses
        if g.role == role
    ]
    return [f"{role} = [", *lines, "]"] if lines else [f"{role} = []"]


def _undecided_part(guesses: Sequence[Guess]) -> list[str]:
    """List the columns that somebody must decide, with what each choice would mean."""
    undecided = [g for g in guesses if g.role == UNDECIDED]
    if not undecided:
        return []
    lines = ["# YOU MUST DECIDE these: move each to one of the lists above. Nothing is published"]
    lines += ["# before that.", f"{UNDECIDED} = ["]
    for g in undecided:
        lines += [
            f"    # {_quoted(g.column)}: {g.type}, {g.missing} missing: "
            f"{g.why.translate(_CONTROLS)}",
            *(f"    #   {role:<12} {meaning}" for role, meaning in _choices(g).items()),
            f"    {_quoted(g.column)},",
        ]
    return [*lines, "]"]


def _choices(g: Guess) -> dict[str, str]:
    """Return what each role would mean for a column."""
    coarse = "ranges" if g.type in ("integer", "float", "decimal", "date") else "sets of values"
    many = f"{g.distinct} values"
    return {
        "identifier": "it leads to a person: dropped",
        "quasi": f"others may know it: its {many} become {coarse}, but are not protected",
        "sensitive": f"nobody must learn it: its {many} stay exact, protected by a principle on it",
        "insensitive": f"harmless: its {many} stay exact, next to everything else in the row",
    }


def _principle_part(one: Suggestion) -> list[str]:
    """Write a principle below the reason for it; as a comment if somebody must decide first."""
    lines = [f"# {line}" for line in wrap(one.why.translate(_CONTROLS), _WIDTH)]
    if one.value:
        entry = ["[[principle]]", *(f"{key} = {_value(v)}" for key, v in one.value.items())]
        lines += entry if one.active else [f"# {line}" for line in entry]
    return ["", *lines]


def _settings_part(title: str, settings: Mapping[str, Suggestion]) -> list[str]:
    """Write what is said of single columns; as a comment where somebody must decide first."""
    lines = []
    for column, one in settings.items():
        mark = "" if one.active else "# "
        why = f"  # {one.why}" if one.why else ""
        lines.append(f"{mark}{_key(column)} = {_value(one.value)}{why.translate(_CONTROLS)}")
    return ["", title, *lines] if lines else []


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(v)}" for key, v in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    return _quoted(value) if isinstance(value, str) else str(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)}


def _quoted(text: str) -> str:
    return '"' + text.translate(_CONTROLS | {ord("\\"): "\\\\", ord('"'): '\\"'}) + '"'


# -----------------------------------------------------------------------------
# What `init` remarks on a table: notations, missing cells, and rows that are no people.
#
# A remark names columns, counts and rows, and never a person's value.


def require_moderate_width(frame: pl.DataFrame, name: str) -> None:
    """Refuse a table with more columns than anybody can decide on, before any is looked at.

    >>> require_moderate_width(pl.DataFrame({"age": [21]}), "people.csv")
    """
    if frame.width > MAX_PROPOSED_COLUMNS:
        raise TableError(
            f"{name} has {frame.width:,} columns; roles are proposed for {MAX_PROPOSED_COLUMNS:,} "
            "at most",
            hint="keep the columns that you mean to publish, and leave out the others; or, if "
            "there should be fewer, name the delimiter"
            + what_to_type(
                python="",
                command=" (--delimiter)",
                app=" (“Is the file read wrongly?” in step 1)",
            ),
        )


def proposed_reading(frame: pl.DataFrame, options: ReadOptions) -> ReadOptions:
    """Propose how to read a table better: notations that leave no doubt, and what is missing.

    >>> people = pl.DataFrame({"wage": ["1200,50", "N/A"], "sex": ["f", "m"]})
    >>> better = proposed_reading(people, ReadOptions())
    >>> better.missing, better.formats
    (('?', '', 'NA', 'N/A'), {'wage': '1234,56'})
    """
    # A token counts as missing if numbers or dates stand beside it in every column that has it.
    texts = {
        series.name: unnamed(series).drop_nulls().unique().cast(pl.String)
        for series in frame
        if is_text(series.dtype)
    }
    texts = {name: column for name, column in texts.items() if not plainly_numbers(column)}
    found: dict[str, bool] = {}
    for column in texts.values():
        blank = like_missing(column)
        if blank.any():
            rest = column.filter(~blank)
            read = len(rest) > 0 and is_read(rest)
            for token in tokens(column.filter(blank)):
                found[token] = read and found.get(token, True)
    sure = [token for token, read in found.items() if read]
    formats = dict(options.formats)
    for name, column in texts.items():
        ways = notations(column.filter(~column.str.strip_chars().is_in(sure)))
        if len(ways) == 1 and name not in formats:
            formats[name] = ways[0]
    return replace(options, missing=(*options.missing, *sure), formats=formats)


def reading_remarks(frame: pl.DataFrame, options: ReadOptions, better: ReadOptions) -> list[str]:
    """Return what `init` noticed: how columns are read, what looks missing or alike, strays."""
    added = [token for token in better.missing if token not in options.missing]
    said = [f'"{token}" is proposed as missing: {_counted(frame, token)}' for token in added]
    said += [
        f"{column} is written as {way}: read as {'dates' if notation(way).date else 'numbers'}, "
        "see [formats]"
        for column, way in better.formats.items()
        if column not in options.formats
    ]
    for series in frame:
        if is_remarked(series.dtype):
            texts = unnamed(series).drop_nulls().unique().cast(pl.String)
            texts = texts.filter(~texts.str.strip_chars().is_in(added))
            known = series.name in better.formats
            said += (
                value_remarks(series.name, pl.Series() if known else texts) if len(texts) else []
            )
    return [*said, *find_non_person_rows(in_formats(frame, options)).notes]


def _counted(frame: pl.DataFrame, token: str) -> str:
    counts: Mapping[str, int] = {
        series.name: int((unnamed(series).cast(pl.String).str.strip_chars() == token).sum())
        for series in frame
        if is_text(series.dtype)
    }
    found: Sequence[str] = [f"{many:,} in {name}" for name, many in counts.items() if many]
    return ", ".join(found)
