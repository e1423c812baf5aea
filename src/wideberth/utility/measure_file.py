"""measure for files that do not fit into memory: labels, boxes and groups are counted by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth import io
from wideberth.checks.fold import CodedDemand, GroupBlock, require_values, resolve_engine_table
from wideberth.core.codes import Domain
from wideberth.core.exact import Ints
from wideberth.core.groups import Groups, Partition
from wideberth.engines.duckdb.coded import CodedColumn, PackedKeys
from wideberth.engines.duckdb.source import FileSource, limit_of
from wideberth.errors import EngineError, ParameterError
from wideberth.labels import PublishedBoxes, PublishedQuasi
from wideberth.labels.axes import read_published_quasi
from wideberth.labels.boxes import columns_of
from wideberth.policy.policy import Policy
from wideberth.policy.spec import ExaminedTable
from wideberth.principles.counts import (
    COUNT,
    CountedSensitiveColumns,
    DistinctCounts,
    without_row_numbers,
)
from wideberth.utility.measure import (
    AS_READ,
    CountedRelease,
    Utility,
    chosen_metrics,
    require_original,
)
from wideberth.utility.metrics import Metric, iterate

#: Of all memory, the part that boxes, groups and histograms may take, each.
_SHARE = 4


def measure_file(
    table: str | Path,
    *,
    memory: str | int,
    original: object = None,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    group: str | None = None,
    sensitive_table: object = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    metrics: str | Sequence[str] | None = None,
    k: int | None = None,
    seed: int = 0,
    options: io.ReadOptions | None = None,
) -> Utility:
    """Measure a file under a limit on memory; the figures are those of `wideberth.measure`."""
    # The labels of each quasi-identifier must fit into the memory, and so must the sizes of all
    # groups. Metrics that look at rows of the original are not measured.
    limit = limit_of(memory)
    wanted = chosen_metrics(metrics)
    if original is not None and not isinstance(original, str | Path):
        raise ParameterError("with memory=, the original must be a file, too", hint="name its path")
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    if policy is not None:
        options = options or policy.options
        # Of principles, only k is looked at.
        made = tuple(p for p in policy.principles if p.needs != "population")
        policy = replace(policy, principles=made)
    with FileSource.opened(table, memory=limit, options=options) as source:
        given = resolve_engine_table(
            source.schema,
            quasi=quasi,
            sensitive=sensitive,
            group=group,
            sensitive_table=sensitive_table,
            hierarchies=hierarchies,
            types=types,
            policy=policy,
        )
        before = None
        if original is not None:
            with FileSource.opened(original, memory=limit, options=options) as other:
                require_original(given, other.schema, source.rows, other.rows)
                digests = {name: other.digest((name,)) for name in given.attributes}
                before = _Original(other.rows, digests)
        gathered = _gathered(source, given, before, _needs_histograms(wanted))
    return gathered.utility(given, wanted, manifest={}, k=k, seed=seed)


@dataclass(frozen=True, eq=False)
class _Original:
    """What is known of an original: its rows, and the values of its quasi-identifiers."""

    rows: int
    digests: Mapping[str, DistinctCounts]


def _needs_histograms(metrics: Sequence[type[Metric]] | None) -> bool:
    """Return whether some metric looks at sensitive values other than those of an anatomy."""
    asked = list(iterate()) if metrics is None else metrics
    return any("sensitive" in m.needs and "anatomy" not in m.needs for m in asked)


def _gathered(
    source: FileSource, given: ExaminedTable, before: _Original | None, histograms: bool
) -> CountedRelease:
    """Count a file, and what is known of its original."""
    published, merged = None, False
    if given.quasi:
        labels = [
            _labels(source, given, name, columns, None if before is None else before.digests[name])
            for name, columns in columns_of(source.schema, given.attributes).items()
        ]
        merged = any(each.merged for each in labels)
        published = _published(source, labels, None if before is None else before.rows)
    grouping = source.grouping(given.subject.keys, given.subject.readable)
    for name, column in grouping.columns.items():
        if not column.known:
            require_values(given, name, source.types[name])
    counted: dict[str, Any] = {}
    if published is not None and given.group is None and not merged:
        sizes = published.sizes  # groups are boxes then
    else:
        sizes = _sizes(source, grouping)
    if published is not None and given.group is None and len(sizes) == len(published.sizes):
        sizes, counted["starred"] = published.sizes, published.starred
    if histograms and len(given.sensitive) == 1:
        counted["groups"], counted["domain"] = _histograms(source, given, grouping)
    return CountedRelease(
        rows=source.rows,
        sizes=sizes,
        original_rows=None if before is None else before.rows,
        published=published,
        **counted,
    )


@dataclass(frozen=True, eq=False)
class _LabelColumn:
    """A quasi-identifier's labels."""

    axis: PublishedQuasi  # as read from the distinct labels
    coded: CodedColumn  # which label a row has, for the database
    merged: bool  # whether different ways to write a label are one


def _labels(
    source: FileSource,
    given: ExaminedTable,
    name: str,
    columns: Sequence[str],
    before: DistinctCounts | None,
) -> _LabelColumn:
    """Read a quasi-identifier by its distinct labels, and by the original's distinct values."""
    digest, numbers = source.numbered(tuple(columns))
    with without_row_numbers():
        axis = read_published_quasi(
            name,
            list(digest.frame),
            original=None if before is None else before.frame.to_series(),
            hierarchy=given.hierarchies.get(name),
            kind=given.types.get(name),
        )
    labels, many = axis.labels, len(axis.texts)
    axis = replace(axis, counts=_summed(labels, digest.counts, many))
    if before is not None and axis.points is not None:
        counts = _summed(axis.points, before.counts, len(axis.atoms) + 1)
        axis = replace(axis, points=None, histogram=counts)
    lent = source.lent(pl.DataFrame({"i": np.arange(len(labels)), "label": labels}))
    made = source.unused()
    source.run(
        f"CREATE TEMP TABLE {made} AS SELECT {numbers}.*, {lent}.label "  # noqa: S608 - our names
        f"FROM {numbers} JOIN {lent} USING (i)"
    )
    same = " AND ".join(
        f"{source.place(column)} IS NOT DISTINCT FROM {made}.v{i}"
        for i, column in enumerate(columns)
    )
    coded = CodedColumn(
        many,
        True,
        f"{made}.label",
        f"JOIN {made} ON {same}",
        lambda codes: pl.Series(name, axis.texts, dtype=pl.String).gather(codes),
    )
    return _LabelColumn(axis, coded, many < len(labels))


def _published(
    source: FileSource, labels: Sequence[_LabelColumn], original_rows: int | None
) -> PublishedBoxes:
    """Count the rows of each box."""
    grouping = PackedKeys({each.axis.name: each.coded for each in labels})
    of_boxes, sizes = _boxes(source, grouping)
    axes = tuple(
        replace(each.axis, labels=column) for each, column in zip(labels, of_boxes.T, strict=True)
    )
    return PublishedBoxes(
        axes=axes,
        rows=source.rows,
        boxes=Partition(np.arange(len(sizes), dtype=np.int32), len(sizes)),
        labels=of_boxes,
        sizes=sizes,
        original_rows=original_rows,
    )


def _boxes(source: FileSource, grouping: PackedKeys) -> tuple[npt.NDArray[np.int32], Ints]:
    """Return the labels of all boxes, a line each, and their sizes."""
    labels: list[npt.NDArray[np.int32]] = []
    sizes: list[Ints] = []
    for block in _within(source, source.blocks(grouping), 4 * len(grouping.columns) + 8):
        labels.append(_codes(grouping, block))
        sizes.append(block[COUNT].to_numpy().astype(np.int64))
    return np.concatenate(labels), np.concatenate(sizes)


def _sizes(source: FileSource, grouping: PackedKeys) -> Ints:
    """Return the sizes of all groups."""
    blocks = _within(source, source.blocks(grouping), 8)
    return np.concatenate([block[COUNT].to_numpy().astype(np.int64) for block in blocks])


def _codes(grouping: PackedKeys, block: pl.DataFrame) -> npt.NDArray[np.int32]:
    """Part words into codes, a line for each group."""
    codes: list[npt.NDArray[np.int32]] = []
    for name, sizes in zip(grouping.names, grouping.spans, strict=True):
        word, own = block[name].to_numpy(), list[npt.NDArray[np.int32]]()
        for size in reversed(sizes):
            word, code = np.divmod(word, size)
            own.append(code.astype(np.int32))
        codes += reversed(own)
    return np.stack(codes, axis=1)


def _histograms(
    source: FileSource, given: ExaminedTable, grouping: PackedKeys
) -> tuple[Groups, Domain]:
    """Count the sensitive values of each group."""
    sensed = CountedSensitiveColumns(
        source.digest,
        source.schema,
        sensitive=given.sensitive,
        hierarchies=given.hierarchies,
        types=given.types,
    )
    told = sensed.column(AS_READ)
    assert told is not None  # noqa: S101 - it guards an attribute
    column, coding = told
    question = CodedDemand(
        principle=AS_READ,
        on=None,
        rule=AS_READ.bind(column.domain),
        codes=coding.codes,
        width=column.domain.size,
    )
    blocks = _within(source, source.blocks(grouping, given.sensitive), 16)
    found = [GroupBlock.of(block, grouping.names).groups(question) for block in blocks]
    lengths = np.concatenate([groups.distinct for groups in found])
    groups = Groups(
        start=np.concatenate(([0], np.cumsum(lengths))),
        codes=np.concatenate([groups.codes for groups in found]),
        counts=np.concatenate([groups.counts for groups in found]),
        width=column.domain.size,
    )
    return groups, column.domain


def _within(
    source: FileSource, blocks: Iterator[pl.DataFrame], bytes_each: int
) -> Iterator[pl.DataFrame]:
    """Yield blocks; refuse more lines than fit into the memory at `bytes_each` for each."""
    lines, most = 0, source.memory // _SHARE // bytes_each
    for block in blocks:
        lines += block.height
        if lines > most:
            raise EngineError(
                f"the release has more than {most:,} groups, or values in groups, which do not "
                "fit into the memory",
                hint="allow more memory",
            )
        yield block


def _summed(codes: Any, counts: Ints, size: int) -> Ints:
    """Add up the rows that have each code."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, codes, counts)
    return total
