"""What is to be audited: a release of ours, or anybody's table about which little is known."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.codes import Column, encode, encode_as
from wideberth.core.exact import Ints
from wideberth.core.names import expand_short_forms
from wideberth.core.strings import as_string, is_text
from wideberth.core.types import infer_type
from wideberth.errors import ParameterError, TableError, WideberthError, what_to_type
from wideberth.io.manifest import MANIFEST, compare, manifest_path
from wideberth.policy.guesses import guess_columns
from wideberth.policy.people import People, find_people
from wideberth.policy.policy import GROUP_COLUMN, Policy
from wideberth.policy.roles import UNDECIDED
from wideberth.policy.spec import (
    ExaminedTable,
    as_published,
    columns_named,
    examine,
    original_names,
)
from wideberth.policy.two_tables import COUNT, load_table, whole_counts
from wideberth.principles import Principle, parse
from wideberth.principles.columns import require_column
from wideberth.release.align import values_as_text
from wideberth.release.anatomized import Anatomy, published
from wideberth.release.release import Release

# -----------------------------------------------------------------------------
# Columns of a release and of its original, in codes that mean the same in both.


def encode_published(series: pl.Series) -> Column:
    """Encode a published column, whatever it holds: text that is numbers as numbers.

    >>> encode_published(pl.Series("pay", ["100", "20", None, "20"])).codes.tolist()
    [1, 0, 2, 0]
    """
    # A number that is none (NaN) counts as missing: other tools write it so.
    if series.dtype == pl.Null:
        series = series.cast(pl.String)
    series = _finite(series)
    return encode_as(series, infer_type(series)) if is_text(series.dtype) else encode(series)


def encode_together(above: pl.Series, *below: pl.Series) -> Column:
    """Encode two columns, or more, as one: each below the one before.

    >>> encode_together(pl.Series("pay", ["7", "8"]), pl.Series("pay", [8.0])).codes.tolist()
    [0, 1, 1]
    """
    # Of different types, they are compared as they are written: a CSV file's 25 is a number's 25.
    columns = [as_string(_finite(series)) for series in (above, *below)]
    if len({series.dtype for series in columns}) > 1:
        columns = [_as_text(series) for series in columns]
    return encode_published(pl.concat([series.alias("") for series in columns]).alias(above.name))


def _finite(series: pl.Series) -> pl.Series:
    if not series.dtype.is_float() or bool(series.alias("").is_finite().all()):
        return series
    return pl.select(pl.when(series.is_finite()).then(series).alias("")).to_series()


def _as_text(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Boolean:
        return series.cast(pl.String)
    if series.dtype.is_nested():
        return pl.Series(series.name, [str(cell) for cell in series.to_list()], dtype=pl.String)
    return values_as_text(series) if series.dtype.is_float() else series.cast(pl.String)


# -----------------------------------------------------------------------------
# What a release says of itself: the manifest in the file beside it, if it is of that file.


def manifest_beside(
    source: str | Path | None, second: object = None
) -> tuple[Mapping[str, Any] | None, list[str]]:
    """Return the manifest that lies beside a file, or in a folder; and what is wrong with it."""
    # A manifest of other files is a TableError: what an audit finds must be of one release.
    if source is None:
        return None, []
    folder = published(source)
    first, other = folder or (source, None)
    found = compare(first, second if isinstance(second, str | Path) else other)
    if second is None and folder is None and found.told and "sha256" not in found.told["output"]:
        raise TableError(
            f"{Path(source).name} is one of the two tables of an anatomised release",
            hint=what_to_type(
                python="name their folder, or the second table as well (sensitive_table=)",
                command="name their folder, or the second table as well (--sensitive-table)",
            ),
        )
    asked = folder is not None or found.path == manifest_path(source)
    notes = found.notes
    if found.path is None and len(found.files) == 1 and second is not None:  # read beforehand
        both = f"{found.files[0]} and its second table"
        notes = [f"there is no {MANIFEST}: nothing says that {both} are of one release"]
    return (found.told if asked else None), notes


def require_described_files(*others: str | Path) -> None:
    """Refuse other releases that are not what the manifests beside them describe."""
    # What cannot be read as a manifest is only warned of.
    for other in others:
        for doubt in compare(other).notes:
            warnings.warn(doubt, io.TableWarning, stacklevel=3)


def manifest_principles(manifest: Mapping[str, Any]) -> list[Principle]:
    """Return the principles that a manifest says were verified; none if it cannot be read.

    >>> manifest_principles({"principles": ["k-anonymity:k=5", "distinct-l:l=3 on pay"]})
    [KAnonymity(on=None, k=5), DistinctLDiversity(on='pay', l=3, allowed=())]
    """
    found = []
    for text in manifest.get("principles") or ():
        name, _, on = str(text).partition(" on ")
        try:
            found.append(parse(f"{name},on={on}" if on else name))
        except WideberthError:
            return []
    return found


# -----------------------------------------------------------------------------
# What is to be audited: a release of ours, or anybody's table about which little is known.


#: What is said of a table whose columns nobody explained.
_GUESSED = "roles were guessed from names and values: name the columns, or give a policy"
_CAUTIOUS = (
    "nothing shows what {} is, so it counts as a quasi-identifier, which others may know: say what "
    "it is with --qi or --sensitive (in Python quasi= or sensitive=), or give a policy",
    "nothing shows what {} are, so they count as quasi-identifiers, which others may know: say "
    "what they are with --qi or --sensitive (in Python quasi= or sensitive=), or give a policy",
)


#: What is said of single columns.
_BY_COLUMN = ("hierarchies", "types")
#: For how many people the rows of a table may stand.
_MOST = 100_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditInputs:
    """A table to be audited, with the original that it was made from, if that is at hand."""

    examined: ExaminedTable
    original: pl.DataFrame | None
    roles: Mapping[str, list[str]]
    # why a column was given its role, where that was guessed
    reasons: Mapping[str, str] = field(default_factory=dict)
    # columns that nothing shows the role of; they count as quasi-identifiers
    undecided: Sequence[str] = ()
    silent: Sequence[str] = ()  # quasi-identifiers that are missing in every row
    unlisted: Sequence[str] = ()  # columns that the policy does not know
    doubts: Sequence[str] = ()  # what is wrong with the manifest beside it
    manifest: Mapping[str, Any] | None = None
    made: bool = False  # given as a Release, which knows how it was made
    text: bool = False  # whether it lies in a file of text, as CSV is

    @property
    def people(self) -> tuple[People | None, str]:
        """An identifier that repeats in the table, or in the original, and in which of them."""
        # Without the original, a release's manifest has what was found in it.
        found = find_people(self.examined.frame, **self._person)
        if found is not None:
            return found, "the table"
        if self.original is not None:
            return find_people(self.original, **self._person), "the original"
        told = (self.manifest or {}).get("people")
        return None if told is None else People.of(told), "the original"

    @property
    def _person(self) -> dict[str, Sequence[str]]:
        told = (self.manifest or {}).get("roles") or {}
        person = self.examined.person
        return {**person, "identifier": [*person["identifier"], *told.get("identifier", ())]}

    @property
    def notes(self) -> list[str]:
        """What the reader of an audit must know about its beginnings."""
        counted = [f"rows count as often as '{COUNT}' says"] if COUNT in self.reasons else []
        silent = [f"'{name}' is missing in every row, and says nothing" for name in self.silent]
        names = ", ".join(f"'{name}'" for name in self.undecided)
        return [
            *self.doubts,
            *counted,
            *silent,
            *([_GUESSED] if self.reasons.keys() - {COUNT} else []),
            *([_CAUTIOUS[len(self.undecided) > 1].format(names)] if names else []),
        ]


def take_inputs(
    table: object,
    *,
    original: object = None,
    policy: Policy | str | Path | None = None,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    count: str | None = None,
    source: str | Path | None = None,
    **known: Any,
) -> AuditInputs:
    """Read a table, and its original; guess what nobody says about its columns."""
    # A manifest beside `source`, the file that a table was read from, gives the roles of columns if
    # nothing else does.
    if isinstance(table, Release):
        policy = None  # which it was made by, or with options beside it
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    options = policy.options if policy else io.ReadOptions()
    opened = _opened(table, source, known)
    frame, _ = load_table(opened.table, options)
    known, manifest = opened.known, opened.manifest
    if policy is None and not (quasi or sensitive):
        quasi = as_published(opened.quasi, frame.columns) or None
        sensitive = opened.sensitive or None
        if not opened.made and manifest is not None:
            known["group"] = known.get("group") or manifest.get("group")
            known["principles"] = known.get("principles") or manifest_principles(manifest)
    if known.get("rows_are_people") is None and (manifest or {}).get("rows_are_people") is True:
        known["rows_are_people"] = True
    unlisted = [] if policy is None else _unlisted(frame, policy, known.get("group"))
    if policy is not None and unlisted:
        more = [*policy.roles.get("insensitive", ()), *unlisted]
        policy = replace(policy, roles={**policy.roles, "insensitive": more})
    reasons: dict[str, str] = {}
    undecided: list[str] = []
    unexplained = policy is None and manifest is None and count is None
    if unexplained and _counts(frame, quasi, sensitive, known):
        count, reasons[COUNT] = COUNT, "it says for how many people a row stands"
    people = None if count is None else _people(frame, count)
    frame = frame if count is None else frame.drop(count)
    if policy is None and not (quasi and sensitive):
        if known.get("sensitive_table") is not None:
            sensitive = sensitive or _of_second(known, options)
        quasi, sensitive, known["group"], why, undecided = _guess(
            frame, quasi, sensitive, known.get("group")
        )
        reasons |= why
    if people is not None:
        frame = frame[np.repeat(np.arange(frame.height), people)]
    if policy is not None and known.get("group") is None and policy.group is None:
        known["group"] = _unlisted_group(frame, policy)
    before = None if original is None else load_table(original, options)[0]
    if before is not None and reasons:  # what was guessed, and is not in the original, is no role
        known_there = as_published(before.columns, frame.columns)
        strange = [c for c in reasons if c not in (*known_there, COUNT)]
        quasi, sensitive = (
            [column for column in columns_named(names, frame.columns) if column not in strange]
            for names in (quasi, sensitive)
        )
    quasi, silent = _telling(frame, quasi, policy)
    examined = examine(frame, quasi=quasi, sensitive=sensitive, policy=policy, **known)
    if before is not None:
        for column in [*examined.attributes, *examined.sensitive]:
            require_column(before, column, "the original")
    return AuditInputs(
        examined=examined,
        original=before,
        roles=_roles(examined, reasons, policy),
        reasons=reasons,
        undecided=[name for name in undecided if name in examined.quasi],
        silent=silent,
        unlisted=unlisted,
        doubts=opened.doubts,
        manifest=manifest,
        made=opened.made,
        text=_is_text(opened.table, source),
    )


@dataclass(frozen=True, kw_only=True)
class _LoadedTable:
    """A table, and what it brings along: by itself, or in a manifest beside it."""

    table: object
    known: dict[str, Any]
    quasi: Sequence[str] = ()
    sensitive: Sequence[str] = ()
    manifest: Mapping[str, Any] | None = None
    doubts: Sequence[str] = ()
    made: bool = False


def _opened(table: object, source: str | Path | None, known: Mapping[str, Any]) -> _LoadedTable:
    """Open a release, a file, a folder or a table; what is known of it goes before what it says."""
    if isinstance(table, Release):
        said = dict(table.question)
        merged = {k: {**(said.get(k) or {}), **(known.get(k) or {})} for k in _BY_COLUMN}
        quasi, sensitive = said.pop("quasi"), said.pop("sensitive")
        if isinstance(table, Anatomy):
            said["sensitive_table"] = table.sensitive
        return _LoadedTable(
            table=table.table,
            known={**said, **_given(known), **merged},
            quasi=quasi,
            sensitive=sensitive,
            manifest=table.manifest,
            made=True,
        )
    source = table if isinstance(table, str | Path) else source
    manifest, doubts = manifest_beside(source, known.get("sensitive_table"))
    known = dict(known)
    if isinstance(table, str | Path) and (pair := published(table)) is not None:
        table, known["sensitive_table"] = pair[0], known.get("sensitive_table") or pair[1]
    roles = {} if manifest is None else manifest["roles"]
    return _LoadedTable(
        table=table,
        known=known,
        quasi=roles.get("quasi", ()),
        sensitive=roles.get("sensitive", ()),
        manifest=manifest,
        doubts=doubts,
    )


def _is_text(table: object, source: str | Path | None) -> bool:
    path = table if isinstance(table, str | Path) else source
    return path is not None and io.is_table(path) and io.is_csv(path)


def _people(frame: pl.DataFrame, count: str) -> Ints:
    """Read for how many people each row stands."""
    require_column(frame, count)
    people = whole_counts(frame[count], "the table")
    if people.astype(float).sum() > _MOST:
        raise TableError(
            f"rows stand for more than {_MOST:,} people, by column '{count}'",
            hint="is it a number of people? If not, rename it",
        )
    return people


def _of_second(known: dict[str, Any], options: io.ReadOptions) -> list[str]:
    """Read the second table of an anatomy; what is neither group nor count is what it is about."""
    counted, _ = load_table(known["sensitive_table"], options)
    known["sensitive_table"], known["group"] = counted, known.get("group") or GROUP_COLUMN
    return [column for column in counted.columns if column not in (known["group"], COUNT)]


def _unlisted(frame: pl.DataFrame, policy: Policy, group: str | None) -> list[str]:
    """Return the columns that a policy does not know: they should not be there."""
    named = [
        name for names in policy.roles.values() for name in expand_short_forms(names, frame.columns)
    ]
    known = {*as_published(named, frame.columns), group, policy.group, GROUP_COLUMN}
    return [column for column in frame.columns if column not in known]


def _telling(
    frame: pl.DataFrame, quasi: str | Sequence[str] | None, policy: Policy | None
) -> tuple[list[str], list[str]]:
    """Split quasi-identifiers into those with values and those that are all missing."""
    said = policy.roles.get("quasi", ()) if quasi is None and policy is not None else quasi
    names = as_published(columns_named(said, frame.columns), frame.columns)
    silent = [c for c in names if c in frame.columns and frame[c].null_count() == frame.height]
    return [name for name in names if name not in silent], silent


def _unlisted_group(frame: pl.DataFrame, policy: Policy) -> str | None:
    """Return the column of group ids that a release has and its policy does not name."""
    roles = [
        name for names in policy.roles.values() for name in expand_short_forms(names, frame.columns)
    ]
    return GROUP_COLUMN if GROUP_COLUMN in frame.columns and GROUP_COLUMN not in roles else None


def _counts(
    frame: pl.DataFrame,
    quasi: str | Sequence[str] | None,
    sensitive: str | Sequence[str] | None,
    known: Mapping[str, Any],
) -> bool:
    """Return whether a column seems to say for how many people a row stands: "count", numbers."""
    named = [*columns_named(quasi, frame.columns), *columns_named(sensitive, frame.columns)]
    taken = (
        COUNT in named or known.get("group") == COUNT or known.get("sensitive_table") is not None
    )
    if COUNT not in frame.columns or taken or frame[COUNT].dtype.is_nested():
        return False
    many = as_string(frame[COUNT]).cast(pl.String).cast(pl.Int64, strict=False)
    return not many.has_nulls() and bool(many.is_between(1, _MOST // frame.height).all())


def _given(known: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in known.items() if value is not None}


def _guess(
    frame: pl.DataFrame,
    quasi: str | Sequence[str] | None,
    sensitive: str | Sequence[str] | None,
    group: str | None,
) -> tuple[list[str], list[str], str | None, dict[str, str], list[str]]:
    """Guess the roles of the columns that are not named, and list those that show none."""
    # What shows no role counts as a quasi-identifier: the more others know, the worse the verdict.
    if group is None and GROUP_COLUMN in frame.columns:
        group = GROUP_COLUMN
    named = {*columns_named(quasi, frame.columns), *columns_named(sensitive, frame.columns), group}
    # A column of counts beside the rows they count is another matter than a number of a person.
    rest = [g for g in guess_columns(frame) if g.column not in named]
    roles = {"quasi": [] if quasi else ["quasi", UNDECIDED], "sensitive": ["sensitive"]}
    found = {
        role: [g.column for g in rest if g.role in guessed]
        for role, guessed in ({**roles, "sensitive": []} if sensitive else roles).items()
    }
    if not (found["quasi"] or quasi or group):  # what is the same in every row was generalised so
        found["quasi"] = [g.column for g in rest if g.role == "insensitive" and g.distinct <= 1]
    reasons = {g.column: g.why for g in rest if g.column in (*found["quasi"], *found["sensitive"])}
    settled = columns_named(quasi, frame.columns) or found["quasi"]
    if not settled and group is None:
        raise ParameterError(
            "no column looks like a quasi-identifier",
            hint=what_to_type(python='quasi=["age", "zip"]', command="--qi age,zip,sex"),
        )
    guarded = columns_named(sensitive, frame.columns) or found["sensitive"]
    undecided = [g.column for g in rest if g.role == UNDECIDED and g.column in found["quasi"]]
    return settled, guarded, group, reasons, undecided


def _roles(
    examined: ExaminedTable, reasons: Mapping[str, str], policy: Policy | None
) -> dict[str, list[str]]:
    """Give every column of the table its role; what nobody named is insensitive."""
    used = {*examined.quasi, *examined.sensitive, examined.group}
    rest = [column for column in examined.frame.columns if column not in used]
    identifiers = [] if policy is None else list(policy.roles.get("identifier", ()))
    if reasons:
        identifiers = [g.column for g in guess_columns(examined.frame) if g.role == "identifier"]
    return {
        "quasi": original_names(examined.quasi, examined.frame.columns),
        "sensitive": list(examined.sensitive),
        "identifier": [column for column in rest if column in identifiers],
        "insensitive": [column for column in rest if column not in identifiers],
    }
