"""What metrics are asked about: a table, and its original, counted. Nothing here sees a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wideberth.core.codes import Codes, Domain
from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, TableError
from wideberth.labels import Published
from wideberth.policy.spec import Examined
from wideberth.principles import DistinctLDiversity, KAnonymity
from wideberth.principles.columns import require_column
from wideberth.utility.metrics import Material, Metric, iterate, lookup
from wideberth.utility.queries import ORIGINAL, RELEASE
from wideberth.utility.utility import Utility

#: Reads a sensitive attribute as it is, with its tree if it has one.
PLAIN = DistinctLDiversity(l=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Gathered:
    """What is counted of a table and its original, so that whoever measures needs no rows."""

    rows: int
    sizes: Ints  # the rows of each group
    # which groups say ``*`` of every quasi-identifier; None where groups are no boxes
    starred: Bools | None = None
    original_rows: int | None = None
    published: Published | None = None  # from here on, see `Material`
    groups: Groups | None = None
    domain: Domain | None = None
    boxed: Groups | None = None
    values: Codes | None = None
    unlike: str | None = None

    def utility(
        self,
        given: Examined,
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
        self, given: Examined, manifest: Mapping[str, Any], k: int | None, seed: int
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


def require_original(given: Examined, original: pl.DataFrame, rows: int, all_rows: int) -> None:
    """Refuse an original that a table was not made from."""
    for column in [*given.attributes, *given.sensitive]:
        require_column(original, column, ORIGINAL)
    if all_rows < rows:
        raise TableError(
            f"{RELEASE} has {rows:,} rows, {ORIGINAL} only {all_rows:,}",
            hint="both must belong together",
        )


def chosen(metrics: str | Sequence[str] | None) -> list[type[Metric]] | None:
    """Return the metrics that are asked for; None stands for all of them."""
    if metrics is None:
        return None
    found = [lookup(name) for name in ([metrics] if isinstance(metrics, str) else metrics)]
    if not found:
        raise ParameterError("no metric is asked for", hint="leave metrics out for all of them")
    return found
