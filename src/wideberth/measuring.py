"""measure: what a published table is still worth, by every metric that can be computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.encode import Codes, Column, Domain
from wideberth.errors import ParameterError, TableError
from wideberth.exact import Bools, Ints
from wideberth.examining import Examined, examine
from wideberth.groups import Groups, Partition
from wideberth.metrics import Figure, Material, Metric, iterate, lookup
from wideberth.policy import Policy
from wideberth.principles import DistinctLDiversity, KAnonymity
from wideberth.published import Published
from wideberth.querying import ORIGINAL, RELEASE, encoded_alike, told_by
from wideberth.subject import require_column
from wideberth.twofold import table_of

#: Reads a sensitive attribute as it is, with its tree if it has one.
_PLAIN = DistinctLDiversity(l=1)


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
        from wideberth.showing import notebook

        return notebook.utility(self.to_dict())

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
    wanted = _wanted(metrics)
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
    before = None if original is None else tables.adopt(table_of(original, given.options))[0]
    return measured(given, before, metrics=wanted, manifest=manifest, k=k, seed=seed)


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
    """Measure a table whose columns have their roles.

    Parameters
    ----------
    given : Examined
        The table.
    original : polars.DataFrame, optional
        What it was made from.
    published : Published, optional
        What it says of its quasi-identifiers, if that was read before.
    metrics : sequence of Metric, optional
        Which metrics; by default all that are registered.
    manifest : mapping, optional
        What a release of ours says of itself.
    k, seed
        As in `measure`.
    """
    material = gather(given, original, published=published, manifest=manifest, k=k, seed=seed)
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
        original_rows=None if original is None else original.height,
        figures=figures,
        not_measured=not_measured,
        notes=list(_notes(given, original, material, manifest or {})),
    )


def gather(
    given: Examined,
    original: pl.DataFrame | None,
    *,
    published: Published | None = None,
    manifest: Mapping[str, Any] | None = None,
    k: int | None = None,
    seed: int = 0,
) -> Material:
    """Gather what metrics look at; see `measured`."""
    manifest, rows = manifest or {}, given.frame.height
    if original is not None:
        for column in [*given.attributes, *given.sensitive]:
            require_column(original, column, ORIGINAL)
        if original.height < rows:
            raise TableError(
                f"{RELEASE} has {rows:,} rows, {ORIGINAL} only {original.height:,}",
                hint="both must belong together",
            )
    if published is None and given.quasi:
        published = Published.read(
            given.frame,
            given.attributes,
            original=original,
            hierarchies=given.hierarchies,
            types=given.types,
        )
    partition = given.subject.partition
    sizes = partition.sizes().sizes
    suppressed = (manifest.get("suppressed") or {}).get("rows", 0)
    if original is not None:
        suppressed = original.height - rows
    starred = _starred(published, partition, given.group)
    if starred is not None and not starred.all():  # rows of which nothing is said
        suppressed, sizes = suppressed + int(sizes[starred].sum()), sizes[~starred]
    groups, domain = None, None
    if len(given.sensitive) == 1:
        coded = given.subject.column(tuple(given.sensitive), _PLAIN)
        groups, domain = given.subject.groups(coded), coded.domain
    unlike, boxed, values = None, None, None
    try:
        boxed, values = _alike(given, original, published)
    except TableError as error:  # perturbed on purpose, perhaps: only some metrics compare them
        unlike = error.what
    transform = manifest.get("transform") or (given.policy.transform if given.policy else {})
    return Material(
        sizes=sizes,
        suppressed=int(suppressed),
        published=published,
        groups=groups,
        domain=domain,
        boxed=boxed,
        values=values,
        unlike=unlike,
        k=k or max((p.k for p in given.principles if isinstance(p, KAnonymity)), default=None),
        anatomised=given.counted is not None,
        weights=transform.get("weights") or {},
        seed=seed,
    )


def _starred(published: Published | None, partition: Partition, group: str | None) -> Bools | None:
    """Tell which groups say ``*`` of every quasi-identifier; None where groups are no boxes."""
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


def _notes(
    given: Examined,
    original: pl.DataFrame | None,
    material: Material,
    manifest: Mapping[str, Any],
) -> Iterator[str]:
    if original is None and not manifest:
        yield "the original is not given: how many rows were suppressed is not known"
    if original is None and material.published is not None:
        yield "the original is not given: losses are shares of what the labels span together"
    starred = int(given.frame.height - material.sizes.sum())
    if starred:
        yield f"rows that say * of every quasi-identifier, and count as suppressed: {starred:,}"


def _wanted(metrics: str | Sequence[str] | None) -> list[type[Metric]] | None:
    if metrics is None:
        return None
    chosen = [lookup(name) for name in ([metrics] if isinstance(metrics, str) else metrics)]
    if not chosen:
        raise ParameterError("no metric is asked for", hint="leave metrics out for all of them")
    return chosen


def _facts(metric: type[Metric]) -> dict[str, Any]:
    return {
        "name": metric.name,
        "title": metric.title,
        "goal": metric.goal,
        "low": metric.low,
        "high": metric.high,
    }
