"""measure: what a published table is still worth, by every metric that can be computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import engines
from wideberth.core.codes import Codes, Column, Domain
from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Groups, Partition
from wideberth.errors import ParameterError, TableError
from wideberth.io.manifest import compare
from wideberth.labels import Published
from wideberth.policy.policy import Policy
from wideberth.policy.spec import Examined, examine
from wideberth.policy.two_tables import adopted
from wideberth.utility.gathering import PLAIN, Gathered, chosen, require_original
from wideberth.utility.metrics import Metric
from wideberth.utility.queries import RELEASE, encoded_alike, told_by
from wideberth.utility.utility import Utility


def measure(
    table: object,
    *,
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
    memory: str | int | None = None,
) -> Utility:
    """Measure what a published table is still worth.

    Parameters
    ----------
    table : Release, dataframe or path
        What was published, by whomever. What a `Release` knows of itself need not be said.
    original : dataframe or path, optional
        What it was made from. Without it, the values that people can have are those that the
        labels tell, suppressed rows are not known, and some metrics cannot be computed.
    quasi, sensitive, group, sensitive_table, types, policy
        As in `check`.
    hierarchies : mapping, optional
        Hierarchies of quasi-identifiers, by which nodes are told from each other, and semantic
        trees of sensitive attributes.
    metrics : str or sequence of str, optional
        Which metrics; by default all that are registered.
    k : int, optional
        The least size of groups that was asked for; by default what the principles say.
    seed : int
        For metrics that look at a sample of rows.
    memory : str or int, optional
        For a file that does not fit into memory: how much of it may be taken in all, as "2GB" or
        in bytes. The original must then be a file, too. The figures are the same; metrics that
        look at rows of the original (KL divergence) are not measured, nor is an anatomy.

    Returns
    -------
    Utility

    Examples
    --------
    >>> people = pl.DataFrame({"age": [20, 22, 30], "job": ["cook", "clerk", "cook"]})
    >>> release = pl.DataFrame({"age": ["20..22", "20..22", "30"], "job": ["*", "*", "cook"]})
    >>> print(measure(release, original=people, quasi=["age", "job"], metrics=["ncp", "loss"]))
    3 rows in 2 groups, 0 suppressed
    ncp: 0.4 (age 0.1333, job 0.6667)
    loss: 0.3744 (age 0.1333, job 0.6667)
    """
    found: Utility
    beside = compare(table, sensitive_table)
    if (engine := engines.engine_for(table, memory)) is not None:
        if not hasattr(engine, "measure"):
            raise ParameterError(
                "a Spark DataFrame cannot be measured",
                hint='write it to a Parquet file, and measure that with memory="2GB"',
            )
        found = engine.measure(
            table,
            original=original,
            quasi=quasi,
            sensitive=sensitive,
            group=group,
            sensitive_table=sensitive_table,
            hierarchies=hierarchies,
            types=types,
            policy=policy,
            metrics=metrics,
            k=k,
            seed=seed,
            memory=memory,
        )
        return replace(found, notes=[*found.notes, *beside.notes])
    wanted = chosen(metrics)
    manifest: Mapping[str, Any] = {}
    principles = None
    if (said := told_by(table)) is not None:
        table, manifest = said.table, said.manifest
        hierarchies, types = said.reading(hierarchies, types)
        group, principles = group or said.group, said.question.get("principles")
        quasi = quasi or said.question.get("quasi")
        sensitive, sensitive_table = sensitive or said.sensitive, sensitive_table or said.second
    given = examine(
        table,
        quasi=quasi,
        sensitive=sensitive,
        principles=principles,
        group=group,
        sensitive_table=sensitive_table,
        hierarchies=hierarchies,
        types=types,
        policy=policy,
    )
    before = None if original is None else adopted(original, given.options)[0]
    found = measured(given, before, metrics=wanted, manifest=manifest, k=k, seed=seed)
    return replace(found, notes=[*found.notes, *beside.notes])


def measured(
    given: Examined,
    original: pl.DataFrame | None = None,
    *,
    published: Published | None = None,
    metrics: Sequence[type[Metric]] | None = None,
    manifest: Mapping[str, Any] | None = None,
    k: int | None = None,
    seed: int = 0,
) -> Utility:
    """Measure a table whose columns have their roles."""
    # metrics: all that are registered by default. manifest: what a release of ours says of itself.
    # k, seed: as in `measure`.
    gathered = _gathered(given, original, published)
    return gathered.utility(given, metrics, manifest=manifest or {}, k=k, seed=seed)


def detail(
    given: Examined,
    original: pl.DataFrame | None,
    published: Published,
    *,
    manifest: Mapping[str, Any] | None = None,
) -> Utility:
    """Measure nothing but how much detail is lost (NCP), for a verdict to take into account."""
    # Groups and rows are those that are not only ``*``.
    partition = given.subject.partition
    gathered = Gathered(
        rows=given.frame.height,
        sizes=partition.sizes().sizes,
        starred=_starred(published, partition, given.group),
        original_rows=None if original is None else original.height,
        published=published,
    )
    return gathered.utility(given, chosen("ncp"), manifest=manifest or {}, k=None, seed=0)


def _gathered(
    given: Examined, original: pl.DataFrame | None, published: Published | None
) -> Gathered:
    """Count a table in memory."""
    rows = given.frame.height
    if original is not None:
        require_original(given, original, rows, original.height)
    if published is None and given.quasi:
        published = Published.read(
            given.frame,
            given.attributes,
            original=original,
            hierarchies=given.hierarchies,
            types=given.types,
        )
    partition = given.subject.partition
    groups, domain = None, None
    if len(given.sensitive) == 1:
        coded = given.subject.column(tuple(given.sensitive), PLAIN)
        groups, domain = given.subject.groups(coded), coded.domain
    unlike, boxed, values = None, None, None
    try:
        boxed, values = _alike(given, original, published)
    except TableError as error:  # perturbed on purpose, perhaps: only some metrics compare them
        unlike = error.what
    return Gathered(
        rows=rows,
        sizes=partition.sizes().sizes,
        starred=_starred(published, partition, given.group),
        original_rows=None if original is None else original.height,
        published=published,
        groups=groups,
        domain=domain,
        boxed=boxed,
        values=values,
        unlike=unlike,
    )


def _starred(published: Published | None, partition: Partition, group: str | None) -> Bools | None:
    """Return which groups say ``*`` of every quasi-identifier; None where groups are no boxes."""
    if published is None or group is not None or partition.count != len(published.sizes):
        return None
    return published.starred[published.boxes.labels[partition.first_rows()]]


def _alike(
    given: Examined, original: pl.DataFrame | None, published: Published | None
) -> tuple[Groups | None, Codes | None]:
    """Encode the sensitive values of boxes and of the original by the same codes."""
    if original is None or published is None or not given.sensitive:
        return None, None
    rows, columns = original.height, []
    for name in given.sensitive:
        known, theirs = encoded_alike(original[name], given.frame[name], RELEASE)
        columns.append(Column(np.concatenate([known.codes, theirs]), known.domain))
    joint = Partition.by_equality(columns, rows + given.frame.height)
    histogram: Ints = np.bincount(joint.labels, minlength=joint.count)
    domain = Domain(name="+".join(given.sensitive), histogram=histogram)
    boxed = published.boxes.histograms(Column(joint.labels[rows:], domain))
    return boxed, joint.labels[:rows]
