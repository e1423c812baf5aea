"""measure: what a published table is still worth, by every metric that can be computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import engines
from wideberth.core.codes import Codes, Column, Domain
from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Groups, Partition
from wideberth.core.text import as_html
from wideberth.errors import ParameterError, TableError
from wideberth.io.manifest import compare
from wideberth.labels import PublishedBoxes
from wideberth.policy.policy import Policy
from wideberth.policy.spec import ExaminedTable, examine
from wideberth.policy.two_tables import load_table
from wideberth.principles import DistinctLDiversity, KAnonymity
from wideberth.principles.columns import require_column
from wideberth.utility.metrics import Figure, Material, Metric, iterate, lookup
from wideberth.utility.queries import ORIGINAL, RELEASE, encoded_alike, release_facts

# -----------------------------------------------------------------------------
# What a release is worth: the answers of all metrics.


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Utility:
    """What a release is worth.

    Parameters
    ----------
    rows, groups : int
        What is published. A group of rows that say ``*`` of everything is none.
    suppressed : int
        How many rows of the original are not published, or only as ``*``.
    original_rows : int, optional
        How many rows the original has.
    figures : mapping
        The answer of each metric, by name.
    not_measured : mapping
        Why other metrics have none, by name.
    notes : list of str
        What a reader must know.
    """

    rows: int
    groups: int
    suppressed: int
    original_rows: int | None
    figures: Mapping[str, Figure]
    not_measured: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> float:
        """Return the value of a metric."""
        if name not in self.figures:
            reason = self.not_measured.get(name, "there is no such metric among those asked for")
            raise KeyError(f"{name}: {reason}")
        return self.figures[name].value

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        sizes = self.figures.get("group-sizes")
        return {
            "rows": self.rows,
            "groups": self.groups,
            "suppressed": self.suppressed,
            "original_rows": self.original_rows,
            "figures": [
                {**_facts(lookup(name)), **figure.to_dict()}
                for name, figure in self.figures.items()
            ],
            "not_measured": [
                {"name": name, "title": lookup(name).title, "reason": reason}
                for name, reason in self.not_measured.items()
            ],
            "group_sizes": None if sizes is None else dict(sizes.details),
            "notes": self.notes,
        }

    @property
    def table(self) -> pl.DataFrame:
        """The figures by quasi-identifier: one row each, one column a metric."""
        by_name = {n: f.by_attribute for n, f in self.figures.items() if f.by_attribute}
        names = list(dict.fromkeys(name for by in by_name.values() for name in by))
        columns = {metric: [by.get(name) for name in names] for metric, by in by_name.items()}
        return pl.DataFrame({"quasi-identifier": names, **columns})

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return as_html("utility", self.to_dict())

    def __str__(self) -> str:
        """Return one line a metric."""
        lines = [f"{self.rows:,} rows in {self.groups:,} groups, {self.suppressed:,} suppressed"]
        for name, figure in self.figures.items():
            by = ", ".join(f"{key} {value:.4g}" for key, value in figure.by_attribute.items())
            note = f"; {figure.note}" if figure.note else ""
            lines.append(f"{name}: {figure.value:.4g}" + (f" ({by})" if by else "") + note)
        lines += [f"{name}: not measured, {why}" for name, why in self.not_measured.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __repr__ = __str__


def _facts(metric: type[Metric]) -> dict[str, Any]:
    return {
        "name": metric.name,
        "title": metric.title,
        "goal": metric.goal,
        "low": metric.low,
        "high": metric.high,
    }


# -----------------------------------------------------------------------------
# What metrics are asked about: a table, and its original, counted. Nothing here sees a row.


#: Reads a sensitive attribute as it is, with its tree if it has one.
AS_READ = DistinctLDiversity(l=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedRelease:
    """What is counted of a table and its original, so that whoever measures needs no rows."""

    rows: int
    sizes: Ints  # the rows of each group
    # which groups say ``*`` of every quasi-identifier; None where groups are no boxes
    starred: Bools | None = None
    original_rows: int | None = None
    published: PublishedBoxes | None = None  # from here on, see `Material`
    groups: Groups | None = None
    domain: Domain | None = None
    boxed: Groups | None = None
    values: Codes | None = None
    unlike: str | None = None

    def utility(
        self,
        given: ExaminedTable,
        metrics: Sequence[type[Metric]] | None,
        *,
        manifest: Mapping[str, Any],
        k: int | None,
        seed: int,
    ) -> Utility:
        """Ask the metrics; see `measured`."""
        material = self._material(given, manifest, k, seed)
        figures, not_measured = {}, {}
        for metric in list(iterate()) if metrics is None else metrics:
            answer = metric().answer(material)
            if isinstance(answer, str):
                not_measured[metric.name] = answer
            else:
                figures[metric.name] = answer
        return Utility(
            rows=int(material.sizes.sum()),
            groups=len(material.sizes),
            suppressed=material.suppressed,
            original_rows=self.original_rows,
            figures=figures,
            not_measured=not_measured,
            notes=list(self._notes(material, manifest)),
        )

    def _material(
        self, given: ExaminedTable, manifest: Mapping[str, Any], k: int | None, seed: int
    ) -> Material:
        sizes, starred = self.sizes, self.starred
        suppressed = (manifest.get("suppressed") or {}).get("rows", 0)
        if self.original_rows is not None:
            suppressed = self.original_rows - self.rows
        if starred is not None and not starred.all():  # rows of which nothing is said
            suppressed, sizes = suppressed + int(sizes[starred].sum()), sizes[~starred]
        transform = manifest.get("transform") or (given.policy.transform if given.policy else {})
        return Material(
            sizes=sizes,
            suppressed=int(suppressed),
            published=self.published,
            groups=self.groups,
            domain=self.domain,
            boxed=self.boxed,
            values=self.values,
            unlike=self.unlike,
            k=k or max((p.k for p in given.principles if isinstance(p, KAnonymity)), default=None),
            anatomised=given.counted is not None,
            weights=transform.get("weights") or {},
            seed=seed,
        )

    def _notes(self, material: Material, manifest: Mapping[str, Any]) -> Iterator[str]:
        if self.original_rows is None and not manifest:
            yield "the original is not given: how many rows were suppressed is not known"
        if self.original_rows is None and self.published is not None:
            yield "the original is not given: losses are shares of what the labels span together"
        starred = int(self.rows - material.sizes.sum())
        if starred:
            yield f"rows that say * of every quasi-identifier, and count as suppressed: {starred:,}"


def require_original(
    given: ExaminedTable, original: pl.DataFrame, rows: int, all_rows: int
) -> None:
    """Refuse an original that a table was not made from."""
    for column in [*given.attributes, *given.sensitive]:
        require_column(original, column, ORIGINAL)
    if all_rows < rows:
        raise TableError(
            f"{RELEASE} has {rows:,} rows, {ORIGINAL} only {all_rows:,}",
            hint="both must belong together",
        )


def chosen_metrics(metrics: str | Sequence[str] | None) -> list[type[Metric]] | None:
    """Return the metrics that are asked for; None stands for all of them."""
    if metrics is None:
        return None
    found = [lookup(name) for name in ([metrics] if isinstance(metrics, str) else metrics)]
    if not found:
        raise ParameterError("no metric is asked for", hint="leave metrics out for all of them")
    return found


# -----------------------------------------------------------------------------
# measure: what a published table is still worth, by every metric that can be computed.


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
    wanted = chosen_metrics(metrics)
    manifest: Mapping[str, Any] = {}
    principles = None
    if (said := release_facts(table)) is not None:
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
    before = None if original is None else load_table(original, given.options)[0]
    found = measure_examined(given, before, metrics=wanted, manifest=manifest, k=k, seed=seed)
    return replace(found, notes=[*found.notes, *beside.notes])


def measure_examined(
    given: ExaminedTable,
    original: pl.DataFrame | None = None,
    *,
    published: PublishedBoxes | None = None,
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
    given: ExaminedTable,
    original: pl.DataFrame | None,
    published: PublishedBoxes,
    *,
    manifest: Mapping[str, Any] | None = None,
) -> Utility:
    """Measure nothing but how much detail is lost (NCP), for a verdict to take into account."""
    # Groups and rows are those that are not only ``*``.
    partition = given.subject.partition
    gathered = CountedRelease(
        rows=given.frame.height,
        sizes=partition.sizes().sizes,
        starred=_starred(published, partition, given.group),
        original_rows=None if original is None else original.height,
        published=published,
    )
    return gathered.utility(given, chosen_metrics("ncp"), manifest=manifest or {}, k=None, seed=0)


def _gathered(
    given: ExaminedTable, original: pl.DataFrame | None, published: PublishedBoxes | None
) -> CountedRelease:
    """Count a table in memory."""
    rows = given.frame.height
    if original is not None:
        require_original(given, original, rows, original.height)
    if published is None and given.quasi:
        published = PublishedBoxes.read(
            given.frame,
            given.attributes,
            original=original,
            hierarchies=given.hierarchies,
            types=given.types,
        )
    partition = given.subject.partition
    groups, domain = None, None
    if len(given.sensitive) == 1:
        coded = given.subject.column(tuple(given.sensitive), AS_READ)
        groups, domain = given.subject.groups(coded), coded.domain
    unlike, boxed, values = None, None, None
    try:
        boxed, values = _alike(given, original, published)
    except TableError as error:  # perturbed on purpose, perhaps: only some metrics compare them
        unlike = error.what
    return CountedRelease(
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


def _starred(
    published: PublishedBoxes | None, partition: Partition, group: str | None
) -> Bools | None:
    """Return which groups say ``*`` of every quasi-identifier; None where groups are no boxes."""
    if published is None or group is not None or partition.count != len(published.sizes):
        return None
    return published.starred[published.boxes.labels[partition.first_rows()]]


def _alike(
    given: ExaminedTable, original: pl.DataFrame | None, published: PublishedBoxes | None
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
