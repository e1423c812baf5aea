"""The sensitive attributes of a table, encoded as each principle reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.codes import Column, Domain, encode, encode_as, join_columns
from wideberth.core.exact import Ints
from wideberth.core.groups import Groups, Partition, Uneven
from wideberth.core.names import (
    absent_column_message,
    attribute_label,
    expand_short_forms,
    prefix_of,
    short_form_prefix,
)
from wideberth.core.questions import column_question, value_remarks
from wideberth.core.strings import is_text
from wideberth.core.types import convert, infer_type, require_vectors
from wideberth.errors import HierarchyError, ParameterError, TableError, what_to_type
from wideberth.hierarchy import Hierarchy, parse_spec
from wideberth.hierarchy.quasi import one_text_per_value, spelling_notes
from wideberth.principles import Principle, TCloseness

_NUMERIC = ("integer", "float", "decimal", "date")
#: Distances that are computed from numbers.
_OF_VECTORS = ("euclidean", "manhattan", "cosine", "haversine", "variational", "jensen-shannon")
_COMPUTED = ("absolute", "relative", *_OF_VECTORS)


class SensitiveColumns:
    """A table's sensitive attributes."""

    def __init__(
        self,
        frame: pl.DataFrame,
        *,
        sensitive: Sequence[str],
        hierarchies: Mapping[str, Any],
        types: Mapping[str, str],
        reference: pl.DataFrame | None = None,
    ) -> None:
        # reference: the table whose distribution groups are compared with; None stands for `frame`.
        self.frame = frame
        self.sensitive = list(sensitive)
        self.hierarchies = hierarchies
        self.types = types
        self.reference = reference
        for column, rule in hierarchies.items():
            if column not in sensitive and not isinstance(rule, Hierarchy):
                parse_spec(
                    _rule(rule), [], Path(), column=column
                )  # not needed here, but it must be sound
        self._kinds: dict[tuple[str, bool], str] = {}
        self._columns: dict[tuple[tuple[tuple[str, str], ...], bool, bool], Column] = {}

    def attribute(self, principle: Principle) -> tuple[str, ...]:
        """Return the sensitive columns that a principle guards."""
        if principle.needs in ("size", "population"):
            return ()
        if principle.on is not None:
            on = guarded_by(principle, self.sensitive)
            for column in on:
                if column not in self.sensitive:
                    what = f"'{column}' is no sensitive attribute"
                    if begin := short_form_prefix(column):
                        what = f"no sensitive attribute begins with '{begin}'"
                    named = f"on={self._first(principle)}" if self.sensitive else None
                    raise ParameterError(
                        f"{principle.name}: {what}",
                        hint=named
                        or what_to_type(python='sensitive="column"', command="--sensitive COLUMN"),
                    )
            return on
        if not self.sensitive:
            raise ParameterError(
                f"{principle.name} needs a sensitive attribute",
                hint=what_to_type(python='sensitive="column"', command="--sensitive COLUMN"),
            )
        together = principle.needs == "distance" and prefix_of(self.sensitive) is not None
        if len(self.sensitive) > 1 and principle.needs != "several" and not together:
            first = self._first(principle)
            raise ParameterError(
                f"{principle.name} must say which sensitive attribute it is on",
                hint=what_to_type(
                    python=f"on={self.sensitive if '+' in first else repr(first)}",
                    command=f'{principle.name}:on={first},… or on = "{first}" in the policy',
                ),
            )
        return tuple(self.sensitive)

    def _first(self, principle: Principle) -> str:
        """Name a sensitive attribute: one of several columns, if the principle can guard it."""
        if principle.needs in ("distance", "values"):
            prefixes = [column.rpartition(".")[0] for column in self.sensitive]
            shared = (f"{p}.*" for p in prefixes if p and prefixes.count(p) > 1)
            vectors = _distance(principle) in _OF_VECTORS
            return next(shared, "+".join(self.sensitive) if vectors else self.sensitive[0])
        return self.sensitive[0]

    def column(self, on: tuple[str, ...], principle: Principle) -> Column:
        """Return a sensitive attribute encoded; several columns are taken together."""
        # Its domain is that of the reference where the principle compares with one.
        referred = self.reference_for(principle) is not None
        read_as = tuple((name, self._kind(name, principle)) for name in on)
        # The same column may be read as numbers, and by its tree.
        bare = _computes(principle) and not self.hierarchies.keys().isdisjoint(on)
        key = (read_as, referred, bare)
        if key not in self._columns:
            parts = [self._single(name, kind, principle) for name, kind in read_as]
            measured = _distance(principle) in ("auto", *_COMPUTED)
            if measured and all(kind in _NUMERIC for _, kind in read_as):
                _require_whole(parts)
            column = parts[0] if len(parts) == 1 else join_columns(attribute_label(on), parts)
            if referred:
                column = _counted_below(column, self.frame.height)
            self._columns[key] = column
        return self._columns[key]

    def reference_for(self, principle: Principle) -> pl.DataFrame | None:
        """Return the reference if the principle compares groups with it."""
        return self.reference if compares_with_table(principle) else None

    def _kind(self, name: str, principle: Principle) -> str:
        """Return the type a principle reads a column as: its own, unless it must be numbers."""
        key = (name, self.reference_for(principle) is not None)
        if key not in self._kinds:
            series = self._series(name, principle)
            # Of a column without a value, no type is wrong.
            nothing = series.null_count() == len(series) and not series.dtype.is_nested()
            self._kinds[key] = self.types.get(name) or ("float" if nothing else infer_type(series))
        kind = self._kinds[key]
        if _computes(principle):
            series = self._series(name, principle)
            if (
                name not in self.types
                and (asked := column_question(series, slips=False)) is not None
            ):
                what = f"{principle.name} needs numbers; {asked.what}"
                raise ParameterError(what, hint=asked.hint)
            given = name in self.types or kind in _NUMERIC
            return kind if given else "float"  # converting says in which row there is no number
        if name not in self.types and name not in self.hierarchies and _depends(principle):
            # Taken for text, 10,1 and 10,2 would be as far apart as any two values.
            series = self._series(name, principle)
            if (asked := column_question(series)) is not None:
                what = f"{principle.name} measures numbers by their difference; {asked.what}"
                raise ParameterError(what, hint=asked.hint)
        # A tree's labels are the values as written.
        return "text" if name in self.hierarchies and name not in self.types else kind

    def _series(self, name: str, principle: Principle) -> pl.Series:
        """Return a column; the reference's follows below where the principle compares with it."""
        reference = self.reference_for(principle)
        if reference is None:
            return self.frame[name]
        require_column(reference, name, "the reference")
        return stack_columns(self.frame[name], reference[name], "the reference").alias(name)

    def _single(self, name: str, kind: str, principle: Principle) -> Column:
        series, rows = self._series(name, principle), self.frame.height
        try:
            return self._encoded(series, kind, principle)
        except (TableError, HierarchyError):
            if len(series) == rows:
                raise
        # Its row number may count on from the table into the reference, so each is asked alone.
        self._encoded(series.head(rows), kind, principle)
        with name_table_in_errors("the reference"):
            self._encoded(series.slice(rows), kind, principle)
        raise _different(name, "the reference")

    def _encoded(self, series: pl.Series, kind: str, principle: Principle) -> Column:
        name = series.name
        plain = name in self.hierarchies or self.types.get(name, "vector") != "vector"
        if series.dtype.is_nested() and principle.needs != "numbers" and not plain:
            require_vectors(series)
            return encode(series)
        try:
            column = encode_as(series, kind)
        except TableError as error:
            if name in self.types or not _computes(principle):
                raise
            what = f"{principle.name} needs numbers; {error.what}"
            raise TableError(what, hint=error.hint) from None
        if name in self.hierarchies and not _computes(principle):
            column = column.with_tree(self._tree(name, column))
        return column

    def _tree(self, name: str, column: Column) -> Hierarchy:
        tree = self.hierarchies[name]
        texts = column.domain.texts
        _, first = np.unique(column.codes, return_index=True)
        rows = (first[: len(texts)] + 1).tolist()
        if not isinstance(tree, Hierarchy):
            tree = parse_spec(_rule(tree), texts, Path(), rows=rows, column=name)
        tree.require(texts, name, rows, column.domain.histogram.tolist())
        return tree


def _rule(given: object) -> Any:
    return str(given) if isinstance(given, Path) else given


def guarded_by(principle: Principle, sensitive: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a principle says it is on, short forms written out."""
    on = principle.on or ()
    if isinstance(on, str):
        on = [on] if on in sensitive else on.split("+")
    return tuple(dict.fromkeys(expand_short_forms(on, sensitive)))


def unguarded_columns(principles: Sequence[Principle], sensitive: Sequence[str]) -> list[str]:
    """Return the sensitive columns that no principle looks at.

    >>> from wideberth.principles import parse
    >>> wanted = [parse("k-anonymity:k=5"), parse("distinct-l:on=disease,l=3")]
    >>> unguarded_columns(wanted, ["disease", "salary"])
    ['salary']
    """
    looks = [p for p in principles if p.needs not in ("size", "population")]
    if any(p.on is None for p in looks):
        return []
    seen = {name for p in looks for name in guarded_by(p, sensitive)}
    return [column for column in sensitive if column not in seen]


def _computes(principle: Principle) -> bool:
    """Return whether a principle cannot do without numbers."""
    return principle.needs == "numbers" or _distance(principle) in _COMPUTED


def _depends(principle: Principle) -> bool:
    """Return whether how far values are apart depends on whether they are read as numbers."""
    if isinstance(principle, TCloseness):  # of text, auto is equality, which asks for more
        return principle.distance == "ordered"
    return _distance(principle) == "auto"


def _distance(principle: Principle) -> object:
    return getattr(principle, "distance", None) if principle.needs == "distance" else None


def _require_whole(parts: Sequence[Column]) -> None:
    """Refuse rows that have some components of a vector, but not all."""
    lacking = np.array([part.codes == part.domain.missing for part in parts])
    odd = lacking & ~lacking.all(axis=0)
    if odd.any():
        row = int(odd.any(axis=0).argmax())
        name = parts[int(odd[:, row].argmax())].domain.name
        raise TableError(
            f"column '{name}', row {row + 1}: missing, but other components are not",
            hint="give all components of a row, or none",
        )


def compares_with_table(principle: Principle) -> bool:
    """Return whether a principle compares each group with the whole table's distribution."""
    return isinstance(principle, TCloseness)


def _counted_below(column: Column, rows: int) -> Column:
    """Keep the codes of the first `rows` rows, and count values in the reference below them."""
    domain = column.domain
    counts = np.bincount(column.codes[rows:], minlength=domain.size)
    strange = counts[column.codes[:rows]] == 0
    if bool(strange.any()):
        raise TableError(
            f"column '{domain.name}', row {int(strange.argmax()) + 1}: "
            "a value that the reference does not have",
            hint="the reference must be the table that the release was made from",
        )
    return Column(column.codes[:rows], with_counts(domain, counts))


def with_counts(domain: Domain, counts: Ints) -> Domain:
    """Return the domain with other counts, and its components with those that follow."""
    components = domain.components
    if domain.parts is not None:
        components = tuple(
            with_counts(part, np.bincount(codes, weights=counts, minlength=part.size).astype(int))
            for part, codes in zip(components, domain.parts.T, strict=True)
        )
    return replace(domain, histogram=counts, components=components)


def stack_columns(above: pl.Series, below: pl.Series, where: str) -> pl.Series:
    """Put two columns into one; of different types, as text, where 25.0 is written 25."""
    # A moment at midnight is written as its date.
    if above.dtype != below.dtype:
        if any(s.dtype.is_nested() or s.dtype in (pl.Duration, pl.Binary) for s in (above, below)):
            raise _different(above.name, where)
        moments = any(s.dtype in (pl.Date, pl.Datetime) for s in (above, below))
        above = _written(above, moments=moments)
        with name_table_in_errors(where):
            below = _written(below, moments=moments)
    return pl.concat([above.alias(""), below.alias("")])


def _written(series: pl.Series, *, moments: bool = False) -> pl.Series:
    """Return a column as text; if it may hold moments, those as well as they can be compared."""
    if series.dtype.is_float():
        if not bool(series.is_finite().all()):
            encode(series)  # says in which row there is no number
        whole = series.cast(pl.Int64, strict=False)
        if whole.null_count() == series.null_count() and bool((whole == series).all()):
            series = whole
    texts = series.cast(pl.String)
    if series.dtype.is_float():
        return texts.str.strip_suffix(".0")
    if series.dtype.is_decimal():
        return texts.str.replace(r"(\.[0-9]*?)0+$", "$1").str.strip_suffix(".")
    if moments:
        texts = texts.str.replace(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)", "$1 $2")
        texts = texts.str.replace(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d*?)0+\b", "$1$2")
        texts = texts.str.replace(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\D|$)", "$1$2")
        return texts.str.strip_suffix(" 00:00:00")
    return texts


@contextmanager
def name_table_in_errors(where: str) -> Iterator[None]:
    """Name the table in errors that the block raises."""
    try:
        yield
    except (TableError, HierarchyError) as error:
        raise type(error)(f"{where}: {error.what}", hint=error.hint) from None


def _different(column: str, where: str) -> TableError:
    return TableError(
        f"column '{column}' has different types in the table and {where}",
        hint="give it the same type in both",
    )


def require_column(frame: pl.DataFrame, column: str, where: str = "the table") -> None:
    """Refuse a column that is not there, with the nearest name that is."""
    if column not in frame.columns:
        what, near = absent_column_message(column, frame.columns, where)
        hint = what_to_type(
            python="look at its columns",
            command="look at its first line, or let wideberth init list its columns",
        )
        if frame.width == 1:
            hint = "it has one column only: is the delimiter right?"
        if near:
            hint = f"did you mean '{near}'?"
        raise TableError(what, hint=hint)


# -----------------------------------------------------------------------------
# A table made ready for principles: rows grouped, sensitive attributes encoded on demand.


class GroupedTable(SensitiveColumns):
    """A table, its groups, and its sensitive attributes."""

    def __init__(
        self,
        frame: pl.DataFrame,
        *,
        quasi: Sequence[str],
        sensitive: Sequence[str],
        group: str | None,
        hierarchies: Mapping[str, Any],
        types: Mapping[str, str],
        reference: pl.DataFrame | None = None,
    ) -> None:
        # group: a column of group ids, which then make the groups.
        # reference: see `SensitiveColumns`.
        if not quasi and group is None:
            raise ParameterError(
                "no quasi-identifiers are given",
                hint=what_to_type(
                    python='quasi=["age", "zip"], or group="column"',
                    command="--qi age,zip,sex, or --group COLUMN",
                ),
            )
        for column in [*quasi, *sensitive, *([group] if group else [])]:
            require_column(frame, column)
        if both := set(quasi) & set(sensitive):
            raise TableError(
                f"column '{min(both)}' is both quasi-identifier and sensitive",
                hint="name it once",
            )
        super().__init__(
            frame, sensitive=sensitive, hierarchies=hierarchies, types=types, reference=reference
        )
        self.quasi = list(quasi)
        self.group = group
        self._groups: dict[Column | None, Groups] = {}
        self._rewritten: dict[str, pl.Series] = {}
        self._odd: dict[str, list[str]] = {}

    @cached_property
    def partition(self) -> Partition:
        """The groups: rows with equal quasi-identifiers, or with equal group ids."""
        if self.group is not None:
            return Partition.by_equality([encode(self.frame[self.group])], self.frame.height)
        return Partition.by_equality(map(self._quasi, self.quasi), self.frame.height)

    @property
    def readable(self) -> dict[str, Any]:
        """The keys whose text may be read as numbers and dates, with their hierarchies."""
        # Labels of groups are text as it is, as is what has the type of text.
        return {
            name: self.hierarchies.get(name)
            for name in ([] if self.group is not None else self.quasi)
            if self.types.get(name) not in ("text", "category")
        }

    def _quasi(self, name: str) -> Column:
        given = self.frame[name]
        column, series = self._read(given)
        if column.domain.known == 0:
            raise TableError(
                f"quasi-identifier '{name}' is missing in every row",
                hint="leave it out, or look at what counts as missing",
            )
        if series is not given:
            self._rewritten[name] = series
        if column.domain.values is not None and is_text(column.domain.values.dtype):
            self._odd[name] = value_remarks(name, column.domain.values)
        return column

    def _read(self, series: pl.Series) -> tuple[Column, pl.Series]:
        """Encode a key, and return it with one text for each value."""
        name, column = series.name, encode(series)
        texts = column.domain.values
        if name not in self.readable or texts is None or not is_text(series.dtype):
            return column, series
        named = texts.alias(name)
        written = one_text_per_value(named, self.readable[name])
        if written is named:
            return column, series
        series = written.extend_constant(None, 1).gather(column.codes).alias(name)
        return encode(series), series

    @property
    def notes(self) -> list[str]:
        """What a reader must know of how the quasi-identifiers are written."""
        _ = self.partition
        odd = [note for notes in self._odd.values() for note in notes]
        return [*spelling_notes([name for name in self.quasi if name in self._rewritten]), *odd]

    def key(self, name: str) -> pl.Series:
        """Return a column that identifies groups, with one text for each value."""
        _ = self.partition  # finds out what is written in several ways
        return self._rewritten.get(name, self.frame[name])

    def groups(self, column: Column | None) -> Groups:
        """Return the histograms of a sensitive attribute; of none, the sizes alone."""
        if column not in self._groups:
            self._groups[column] = (
                self.partition.sizes() if column is None else self.partition.histograms(column)
            )
        return self._groups[column]

    def uneven(self, columns: Sequence[str]) -> Uneven | None:
        """Find groups within which some columns differ; None if there are none."""
        labels, count = self.partition.labels, self.partition.count
        first = self.partition.first_rows()[labels]
        differs = np.zeros(count, dtype=bool)
        found = []
        for name in columns:
            series = self.frame[name].alias("")  # polars may take a name for a pattern
            if series.dtype.is_nested():  # any list is a label here, and compares by its text
                series = pl.Series(map(repr, series.to_list()))
            other = series.ne_missing(series.gather(first)).to_numpy()
            if other.any():
                found.append(name)
                differs[labels[other]] = True
        if not found:
            return None
        return Uneven(int(differs.sum()), int(np.count_nonzero(differs[labels])), found)

    @property
    def keys(self) -> list[str]:
        """The columns that identify a group: quasi-identifiers, or the group id."""
        return [self.group] if self.group is not None else self.quasi

    def group_values(self, group: int) -> dict[str, Any]:
        """Return what identifies a group."""
        row = int((self.partition.labels == group).argmax())
        return {column: _cell(self.key(column), row) for column in self.keys}

    def with_population(
        self, population: object
    ) -> tuple[Groups, Callable[[int], dict[str, Any]], Ints]:
        """Group the table and a population together, for the latter may have more groups."""
        # Returns the sizes in both, also of groups that the table lacks; what identifies one of
        # these groups; and where the table's own groups are among them.
        if population is None:
            raise ParameterError(
                "delta-presence needs a table of the population",
                hint=what_to_type(python="population=table", command="--population FILE"),
            )
        people, _ = io.adopt(population)
        for column in self.keys:
            require_column(people, column, "the population")
        both, columns = {}, []
        for name in self.keys:
            own, theirs = self.frame[name], people[name]
            if name in self.readable and is_text(own.dtype) != is_text(theirs.dtype):
                own, theirs = _as_values(own), _as_values(theirs)
            series = stack_columns(own, theirs, "the population").alias(name)
            encoded, both[name] = self._read(series)
            columns.append(encoded)
        rows = self.frame.height
        partition = Partition.by_equality(columns, rows + people.height)
        groups = replace(
            Partition(partition.labels[:rows], partition.count).sizes(),
            population=np.bincount(partition.labels[rows:], minlength=partition.count),
        )
        first = partition.first_rows()

        def values(group: int) -> dict[str, Any]:
            return {column: _cell(series, int(first[group])) for column, series in both.items()}

        return groups, values, partition.labels[self.partition.first_rows()].astype(np.int64)


def _as_values(series: pl.Series) -> pl.Series:
    """Read text as what it is, so that it compares with values of that type."""
    kind = infer_type(series) if is_text(series.dtype) else "text"
    return series if kind in ("text", "category") else convert(series, kind)


def _cell(series: pl.Series, row: int) -> Any:
    """Return a cell as a plain value: a list as a list."""
    return series.slice(row, 1).to_list()[0]
