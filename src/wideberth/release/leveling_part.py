"""The lattice of a table that is not at hand: its distinct tuples are, with their counts.

They are counted once; the search rolls them up and never asks for rows. What is published of a row
then depends on its quasi-identifiers alone, so rows are published wherever they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from wideberth.algorithms.lattice.generalize import generalize
from wideberth.core.codes import Codes, Column
from wideberth.core.exact import Ints
from wideberth.core.progress import Progress
from wideberth.errors import ParameterError
from wideberth.policy.request import Request
from wideberth.principles.columns import compares
from wideberth.release import lots
from wideberth.release.finishing import Finished, by_content
from wideberth.release.lattice import account, ground_of, settings_of
from wideberth.release.leveling import Leveled
from wideberth.release.parts import Job
from wideberth.release.verifying import require_truth


@dataclass(frozen=True, eq=False)
class Labels:
    """What is published of each combination of quasi-identifiers; rows of others are suppressed."""

    codes: pl.DataFrame  # combinations, each once, in columns `code0`, `code1` and so on
    published: pl.DataFrame  # labels, and group ids if need be
    consistent: bool  # whether equal values are published alike

    def publish(
        self,
        job: Job,
        part: int,
        codes: Sequence[Codes],
        payload: pl.DataFrame,
        *,
        ties: Ints | None = None,
    ) -> Finished:
        """Publish a part of the rows, whichever; see `wideberth.release.finishing.finish`."""
        order = by_content(job, codes, payload, ties)
        payload = pl.DataFrame([series.gather(order) for series in payload])
        d = len(job.quasis)
        codes = [line[order] for line in codes[:d]]
        lines = [
            pl.Series(name, line) for name, line in zip(self.codes.columns, codes, strict=True)
        ]
        known = self.codes.with_row_index("label")
        found = pl.DataFrame(lines).join(
            known, on=self.codes.columns, how="left", maintain_order="left"
        )["label"]
        kept = found.is_not_null().to_numpy()
        payload = payload.filter(kept)
        table = pl.DataFrame([*self.published[found.drop_nulls()], *payload])
        quasis = [
            replace(quasi, codes=line[kept]) for quasi, line in zip(job.quasis, codes, strict=True)
        ]
        if table.height:
            require_truth(
                table,
                payload,
                np.arange(table.height),
                quasis=quasis,
                styles=job.styles,
                untouched=job.untouched,
                group=job.group,
                consistent=self.consistent,
            )
        place = lots.places(job.secret, part, table.height)
        return Finished(table, place, {"rows": table.height})


def choose(
    request: Request,
    job: Job,
    codes: Sequence[Codes],
    counts: Ints,
    progress: Progress | None,
) -> tuple[Labels, dict[str, Any]]:
    """Search the lattice; return what is published of each combination, and figures."""
    # `codes` are the distinct tuples, a line for each quasi-identifier, then for each sensitive
    # attribute; `counts` is how many rows hold each.
    d = len(job.quasis)
    quasis = [replace(q, codes=line) for q, line in zip(job.quasis, codes[:d], strict=True)]
    own = {
        id(column): Column(line, column.domain)
        for column, line in zip(job.columns, codes[d:], strict=True)
    }
    demands = [d if d.column is None else replace(d, column=own[id(d.column)]) for d in job.demands]
    ground = ground_of(quasis, demands, request.transform, counts)
    leveled = Leveled(generalize(ground, settings_of(request.transform), progress))
    entries, partition = leveled.rows, leveled.partition
    rows = ground.rows_of(entries)
    if rows < job.rows and any(compares(p) for p in request.principles):
        raise ParameterError(
            "t-closeness with suppressed rows can be verified only with the table in memory",
            hint="suppression_limit=0, or no engine for large tables",
        )
    recoded = leveled.recoded(np.arange(len(entries)))
    published = [
        series.cast(pl.String) for columns in recoded.columns.values() for series in columns
    ]
    if job.group is not None:
        numbers = lots.ids(job.secret, 0, partition.count)[partition.labels]
        published.append(pl.Series(job.group, numbers, dtype=pl.Int64))
    tuples = pl.DataFrame([pl.Series(f"code{i}", q.codes[entries]) for i, q in enumerate(quasis)])
    # Tuples that differ in sensitive values only are published alike.
    first = tuples.with_row_index("first").unique(tuples.columns, keep="first")["first"]
    labels = Labels(tuples[first], pl.DataFrame(published)[first], len(leveled.made.rounds) == 1)
    told: dict[str, Any] = {
        "rows": rows,
        "groups": partition.count,
        "losses": recoded.losses,
        "made": {"lattice": account(leveled.made)},
    }
    return labels, told
