"""How well a release answers count queries on the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.codes import Codes, Column, Domain, encode
from wideberth.core.groups import Groups, Partition
from wideberth.core.strings import as_string, is_text
from wideberth.core.types import convert, infer_type
from wideberth.errors import ParameterError, TableError
from wideberth.labels import PublishedBoxes
from wideberth.policy.two_tables import QUASI_TABLE, SENSITIVE_TABLE, AnatomyTables, read_if_path
from wideberth.principles.columns import name_table_in_errors, require_column
from wideberth.utility.metrics.spans import has_missing
from wideberth.utility.workload import QueryError, Workload, anatomy_answers, answers, box_answers

ORIGINAL = "the original"
RELEASE = "the release"


def query_error(
    table: object,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | None = None,
    *,
    release: object = None,
    quasi_table: object = None,
    sensitive_table: object = None,
    group: str = "group",
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    dimensions: int = 3,
    volume: float | Fraction = 0.1,
    queries: int = 1000,
    seed: int = 0,
) -> QueryError:
    """Measure how well a release answers random count queries on the original.

    Parameters
    ----------
    table : dataframe or path
        The original.
    quasi : str or sequence of str
        Its quasi-identifiers. What a `Release` knows of itself need not be said, here and below.
    sensitive : str
        Its sensitive attribute.
    release : Release, dataframe or path
        What was published: generalised quasi-identifiers and sensitive values.
    quasi_table, sensitive_table : dataframe or path
        Or else the two tables of an anatomised release: the quasi-identifiers as in the original
        with the group of each row; and group, value, and how many rows of the group have it.
    group : str
        The column of group ids in these.
    hierarchies, types : mapping, optional
        Hierarchies and types of quasi-identifiers, to read generalised values by.
    dimensions, volume, queries, seed
        Which queries to ask; see `Workload.draw`. An attribute's domain are the values that occur
        in the original.

    Returns
    -------
    QueryError
        Suppressed rows are in the original alone: that they are not counted is part of the error.

    Examples
    --------
    >>> from wideberth import datasets
    >>> people = datasets.wang2013_table1()
    >>> sensitive = datasets.wang2013_table5().group_by("group", "disease").len("count")
    >>> error = query_error(
    ...     people, ["age", "sex", "zip"], "disease",
    ...     quasi_table=datasets.wang2013_table4(), sensitive_table=sensitive, volume=0.3,
    ... )
    >>> 0 < error.mean < 1
    True

    Of a generalised table, whose rows are taken to lie evenly in their intervals:

    >>> published = people.with_columns(age=pl.lit("20..70"))
    >>> query_error(people, ["age", "zip"], "disease", release=published, volume=0.3).queries
    1000
    """
    asked: dict[str, Any] = {
        "dimensions": dimensions,
        "volume": volume,
        "queries": queries,
        "seed": seed,
    }
    if (said := release_facts(release)) is not None:
        quasi, sensitive = quasi or said.quasi, sensitive or said.sensitive[0]
        hierarchies, types = said.reading(hierarchies, types)
        if said.second is None:
            release = said.table
        else:
            release, quasi_table, sensitive_table = None, said.table, said.second
            group = said.group or group
    if (release is None) == (quasi_table is None or sensitive_table is None):
        raise ParameterError(
            "what was published must be given, in one way",
            hint="release=, or quasi_table= and sensitive_table=",
        )
    names = [quasi] if isinstance(quasi, str) else list(quasi or ())
    if not names or sensitive is None:
        raise ParameterError(
            "quasi-identifiers and a sensitive attribute must be named",
            hint='query_error(original, ["age", "zip"], "salary", release=…)',
        )
    if len({*names, sensitive}) <= len(names):
        raise ParameterError("a column is named twice", hint="name each once")
    original = io.adopt(read_if_path(table, None))[0]
    for name in [*names, sensitive]:
        require_column(original, name, ORIGINAL)
    if release is None:
        exact, counted = (
            io.adopt(read_if_path(t, None))[0] for t in (quasi_table, sensitive_table)
        )
        return _of_anatomy(
            original, names, sensitive, AnatomyTables.of(exact, counted, group), asked
        )
    frame = io.adopt(read_if_path(release, None))[0]
    require_column(frame, sensitive, RELEASE)
    published = PublishedBoxes.read(
        frame, names, original=original, hierarchies=hierarchies or {}, types=types or {}
    )
    return _of_boxes(published, original[sensitive], frame[sensitive], asked)


def box_query_error(
    published: PublishedBoxes, groups: Groups, values: Codes, **asked: Any
) -> QueryError:
    """Measure the query error of a release and an original that were read before."""
    require_read(published)
    points = [axis.points for axis in published.axes if axis.points is not None]
    sizes = [len(axis.atoms) + has_missing(axis) for axis in published.axes]
    workload = Workload.draw([*sizes, groups.width], **asked)
    return QueryError.of(
        answers(workload, points, values), box_answers(workload, published, groups)
    )


def require_read(published: PublishedBoxes) -> None:
    """Refuse labels of which nobody knows what they cover."""
    for axis in published.axes:
        if not axis.read:
            raise TableError(
                f"{RELEASE}: the labels of column '{axis.name}' could not be understood",
                hint="give its hierarchy (hierarchies=), or leave it out",
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseFacts:
    """What a release object knows of itself."""

    table: object
    second: object  # of an anatomy, its second table
    quasi: list[str]  # columns of the original, as are those in `sensitive`
    sensitive: list[str]
    group: str | None  # the column of group ids
    question: Mapping[str, Any]  # how it is checked
    manifest: Mapping[str, Any]  # how it was made

    def reading(
        self, hierarchies: Mapping[str, Any] | None, types: Mapping[str, str] | None
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return hierarchies and types to read it by; where some are given, these hold."""
        return (
            {**(self.question.get("hierarchies") or {}), **(hierarchies or {})},
            {**(self.question.get("types") or {}), **(types or {})},
        )


def release_facts(release: object) -> ReleaseFacts | None:
    """Return what a `Release` knows of itself; None of anything else."""
    question, manifest = (getattr(release, name, None) for name in ("question", "manifest"))
    if not isinstance(question, Mapping) or not isinstance(manifest, Mapping):
        return None
    roles = manifest.get("roles", question)
    return ReleaseFacts(
        table=getattr(release, "table", None),
        second=getattr(release, "sensitive", None),
        quasi=list(roles["quasi"]),
        sensitive=list(roles["sensitive"]),
        group=question.get("group"),
        question=question,
        manifest=manifest,
    )


def _of_boxes(
    published: PublishedBoxes, original: pl.Series, released: pl.Series, asked: Mapping[str, Any]
) -> QueryError:
    values, theirs = encoded_alike(original, released, RELEASE)
    groups = published.boxes.histograms(Column(theirs, values.domain))
    return box_query_error(published, groups, values.codes, **asked)


def _of_anatomy(
    original: pl.DataFrame,
    names: Sequence[str],
    sensitive: str,
    two: AnatomyTables,
    asked: Mapping[str, Any],
) -> QueryError:
    for frame, wanted, where in [
        (two.quasi, names, QUASI_TABLE),
        (two.sensitive, [sensitive], SENSITIVE_TABLE),
    ]:
        for name in wanted:
            require_column(frame, name, where)
    both = [encoded_alike(original[name], two.quasi[name], QUASI_TABLE) for name in names]
    values, published = encoded_alike(
        original[sensitive], two.sensitive[sensitive], SENSITIVE_TABLE
    )
    groups = _histograms(two, published, values.domain.size)
    sizes = [*(column.domain.size for column, _ in both), values.domain.size]
    workload = Workload.draw(sizes, **asked)
    return QueryError.of(
        answers(workload, [column.codes for column, _ in both], values.codes),
        anatomy_answers(workload, [codes for _, codes in both], two.member, groups),
    )


def encoded_alike(known: pl.Series, published: pl.Series, where: str) -> tuple[Column, Codes]:
    """Encode a column, and a published one by the same codes: it may lack values, but add none."""
    name, rows = known.name, len(known)
    kind = infer_type(known)
    try:
        both = _read_together(known, published, kind)
    except TableError:
        convert(known, kind)
        with name_table_in_errors(where):
            convert(published, kind)
        raise
    except pl.exceptions.PolarsError:  # its message may quote values
        raise TableError(
            f"column '{name}' has different types in {ORIGINAL} and {where}",
            hint="give it the same type in both",
        ) from None
    column = encode(both.alias(name))
    codes, theirs = column.codes[:rows], column.codes[rows:]
    counts = np.bincount(codes, minlength=column.domain.size)
    strange = counts[theirs] == 0
    if bool(strange.any()):
        raise TableError(
            f"{where}: column '{name}', row {int(strange.argmax()) + 1}: "
            f"a value that {ORIGINAL} does not have",
            hint="all tables must belong to one release",
        )
    return Column(codes, replace(column.domain, histogram=counts)), theirs


def _read_together(known: pl.Series, published: pl.Series, kind: str) -> pl.Series:
    """Read two columns as a type; text at once, for one number decides how all are held."""
    if is_text(known.dtype) and is_text(published.dtype):
        return convert(pl.concat([as_string(s).alias("") for s in (known, published)]), kind)
    frames = [convert(series, kind).alias("").to_frame() for series in (known, published)]
    return pl.concat(frames, how="vertical_relaxed").to_series()


def _histograms(two: AnatomyTables, codes: Codes, width: int) -> Groups:
    """Gather the lines of a sensitive table by group, whatever their order."""
    domain = Domain(name=two.value, histogram=np.zeros(width, dtype=np.int64))
    partition = Partition(np.repeat(two.owner, two.counts), int(two.member.max()) + 1)
    return partition.histograms(Column(np.repeat(codes, two.counts), domain))
