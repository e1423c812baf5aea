"""A request bound to a table that is not at hand: codes, demands, and how each part is finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.generalize import generalize
from wideberth.algorithms.mondrian.arrangement import SplitProblem, require_combinable
from wideberth.algorithms.mondrian.split import find_leaves
from wideberth.core.codes import Codes, Column, Domain, encode, encode_as
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.core.progress import Progress
from wideberth.core.strings import is_text
from wideberth.core.types import infer_type
from wideberth.engines.split.histogram_judge import HistogramJudge, single_group
from wideberth.errors import EngineError, InfeasibleError, ParameterError
from wideberth.hierarchy.quasi import Quasi
from wideberth.kernels.randomness import KEY, RootKey, Stream, permuted, subkey
from wideberth.policy.request import Request
from wideberth.policy.settings import Transform
from wideberth.principles.columns import compares_with_table
from wideberth.principles.counts import (
    Coding,
    CountedSensitiveColumns,
    DistinctQuery,
    quasi_of,
    with_row_counts,
)
from wideberth.principles.feasibility.refusal import infeasible_error
from wideberth.release.anonymize import group_column, require_new_names
from wideberth.release.lattice import LatticeRecoding, lattice_account, lattice_problem, settings_of
from wideberth.release.prepare import refuse_check_only, release_identity
from wideberth.release.publish import labels_as_text
from wideberth.release.recode import recode
from wideberth.release.styles import Recoding, choose_recodings
from wideberth.release.verify import require_true_labels

# -----------------------------------------------------------------------------
# Random group ids and places of published rows. A part that runs again draws the same ones.
#
# What is published must tell nothing of how it came about. So they have a secret of their own,
# which has nothing to do with the one that breaks ties; each purpose and each part has a stream of
# its own; and a group's number, made of its part's and its own within the part, is published only
# after a secret permutation of all such numbers.


#: A group's number is made of the part's number and its own, which has 32 bits. Ids go up to 2^52:
#: whole numbers even to those who have no others than floats.
_OWN, _BITS = 32, 52
_PARTS = 1 << (_BITS - _OWN)


def random_group_ids(secret: bytes, part: int, many: int) -> Ints:
    """Number the groups of a part at random, unlike those of any other part.

    >>> first, second = random_group_ids(b"s", 0, 1000), random_group_ids(b"s", 1, 1000)
    >>> len({*first.tolist(), *second.tolist()})
    2000
    """
    if part >= _PARTS:
        raise EngineError("there are more than a million parts", hint="a larger bucket_rows")
    numbers = np.arange(many, dtype=np.uint64) | np.uint64(part << _OWN)
    return permuted(subkey(secret, "ids"), numbers, _BITS).astype(np.int64) + 1


def random_places(secret: bytes, part: int, rows: int) -> Ints:
    """Draw a number for each row of a part: in the order of these, rows of all parts are mixed."""
    return (Stream(secret, "places", part).words(rows) >> np.uint64(1)).astype(np.int64)


# -----------------------------------------------------------------------------
# A request bound to a table that is not at hand: codes, demands, and how each part is finished.


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundRequest:
    """A request bound to a table, and what its parts must know."""

    rows: int
    # bound to the whole table, like the demands; codes are those of distinct values, not rows
    quasis: Sequence[Quasi]
    demands: Sequence[Demand]
    # the codes that rows get: a line for each quasi-identifier, then for each sensitive attribute
    # that a demand looks at, then for each that none does
    codings: Sequence[Coding]
    key: bytes  # the secret that breaks ties; nothing that is published follows from it but groups
    secret: bytes  # from which group ids and places are drawn, see above
    cuts: str
    styles: Mapping[str, Recoding]
    group: str | None  # the column of group ids
    untouched: Sequence[str]  # the columns that are published as they are
    # the largest share of rows to leave out; none are here, but refusals mention it
    limit: float = 0.0

    @cached_property
    def columns(self) -> list[Column]:
        """The sensitive attributes that demands look at, each once."""
        found = {id(d.column): d.column for d in self.demands if d.column is not None}
        return list(found.values())

    @cached_property
    def task(self) -> SplitProblem:
        """The demands without rows, for judging by histograms."""
        return SplitProblem(self.quasis, self.demands, self.key, ())

    def node_judge(self, **settings: Any) -> HistogramJudge:
        """Return the judge of nodes."""
        return HistogramJudge(self.task, **settings)

    def views(self, node_judge: HistogramJudge) -> list[int]:
        """Return the line of codes that each attribute of a judge is read from."""
        lines = {id(column): place for place, column in enumerate(self.columns)}
        return [len(self.quasis) + lines[id(column)] for column in node_judge.columns]

    @property
    def slim(self) -> BoundRequest:
        """The same without the values behind codes, for executors whose rows have codes."""
        nothing = np.zeros(0, np.int32)
        return replace(self, codings=[Coding(c.values.clear(), nothing) for c in self.codings])

    def arranged(self, codes: Sequence[Any]) -> SplitProblem:
        """Return the task of some of the rows, whose codes are given line by line."""
        d, k = len(self.quasis), len(self.columns)
        quasis = [replace(q, codes=line) for q, line in zip(self.quasis, codes, strict=False)]
        own = {
            id(column): Column(line, column.domain)
            for column, line in zip(self.columns, codes[d : d + k], strict=True)
        }
        demands = [
            d if d.column is None else replace(d, column=own[id(d.column)]) for d in self.demands
        ]
        return SplitProblem(quasis, demands, self.key, codes[d + k :])

    def finish(
        self,
        part: int,
        codes: Sequence[Codes],
        payload: pl.DataFrame,
        *,
        ties: Ints | None = None,
        threads: int | None = None,
    ) -> FinishedPart:
        """Split a part's rows to the end, publish them, and verify what is published."""
        # `codes` has a line for each of the codings; `ties`: see `part_content_order`.
        order = part_content_order(self, codes, payload, ties)
        payload = pl.DataFrame([series.gather(order) for series in payload])
        codes = [np.ascontiguousarray(line[order]) for line in codes]
        task = self.arranged(codes)
        # As in a large table: were it done without compiled code, ties could be judged otherwise.
        try:
            engine, leaves = find_leaves(task, self.cuts, threads=threads, few=False)
        except InfeasibleError as error:
            if task.rows < self.rows:  # other cuts were not tried
                raise error.hedged("that is so of a part of the table") from None
            raise refusal_without_suppression(error, self.limit) from None
        partition, boxes = engine.deal(leaves)
        recoded = recode(task.quasis, partition, self.styles, None, boxes)
        published = [labels_as_text(s) for columns in recoded.columns.values() for s in columns]
        if self.group is not None:
            numbers = random_group_ids(self.secret, part, partition.count)[partition.labels]
            published.append(pl.Series(self.group, numbers, dtype=pl.Int64))
        table = pl.DataFrame([*published, *payload])
        require_true_labels(
            table,
            payload,
            np.arange(task.rows),
            quasis=task.quasis,
            styles=self.styles,
            untouched=self.untouched,
            group=self.group,
        )
        told = {
            "rows": task.rows,
            "groups": partition.count,
            "leaves": len(leaves),
            "losses": {name: loss * task.rows for name, loss in recoded.losses.items()},
            "starred": dict(recoded.starred),
        }
        return FinishedPart(table, random_places(self.secret, part, task.rows), told)

    def example_row(self) -> dict[str, pl.Series]:
        """Return a published row's quasi-identifiers, for their types."""
        quasis = [replace(quasi, codes=quasi.codes[:1]) for quasi in self.quasis]
        recoded = recode(quasis, Partition(np.zeros(1, np.int32), 1), self.styles)
        return {s.name: labels_as_text(s) for columns in recoded.columns.values() for s in columns}


def bind(request: Request, ask: DistinctQuery, root: RootKey) -> BoundRequest:
    """Bind a request to a table that is not at hand, and refuse what it cannot satisfy."""
    require_possible(request.transform)
    quasis, codings = [], []
    rows = 0
    for name in request.roles["quasi"]:
        digest = ask((name,))
        rows = digest.rows
        quasi, coding = quasi_of(
            digest,
            kind=request.kind(digest.frame.to_series()),
            hierarchy=request.hierarchies.get(name),
            weight=float(request.transform.weights.get(name, 1.0)),
        )
        quasis.append(quasi)
        codings.append(coding)
    sensed = CountedSensitiveColumns(ask, request.frame, **request.guarded)
    demands: list[Demand] = []
    found: dict[int, Coding] = {}
    for principle in request.principles:
        refuse_check_only(principle)
        column, domain = None, Domain(name="rows", histogram=np.array([rows]))
        if (told := sensed.column(principle)) is not None:
            column, coding = told
            domain, found[id(column)] = column.domain, coding
        demands.append(Demand(principle, principle.bind(domain), column))
    require_combinable(demands)
    # The lattice leaves out whole groups, and finds out itself whether that helps.
    for demand in () if request.transform.algorithm == "lattice" else demands:
        whole = np.array([rows]) if demand.column is None else demand.column.domain.histogram
        if not demand.rule.feasible(single_group(whole))[0]:
            counts = None if demand.column is None else demand.column.domain.histogram
            why = infeasible_error(demand.principle, demand.column, rows, counts)
            raise refusal_without_suppression(why, request.transform.suppression_limit)
    wish = request.transform
    how = choose_recodings(quasis, wish.recoding, wish.align, wish.max_set)
    if request.transform.algorithm == "lattice":
        how = {quasi.name: Recoding("hierarchy") for quasi in quasis}
    group = group_column(request, demands)
    require_new_names(request, quasis, how, group)
    plain = [_plain(request, ask, name) for name in request.unguarded]
    key = root.bound(
        release_identity(request, quasis, demands, [column.domain for column, _ in plain])
    )
    return BoundRequest(
        rows=rows,
        quasis=quasis,
        demands=demands,
        codings=[
            *codings,
            *found.values(),
            *(coding for _, coding in plain),
        ],
        key=Stream(key, "splitting").bytes(KEY),  # as `split` draws it in memory
        secret=subkey(key, "lots"),
        cuts=request.transform.cuts,
        styles=how,
        group=group,
        untouched=[
            name
            for name in request.columns
            if name in (*request.roles["sensitive"], *request.roles["insensitive"])
        ],
        limit=request.transform.suppression_limit,
    )


def refusal_without_suppression(error: InfeasibleError, limit: float) -> InfeasibleError:
    """Return a refusal with the note that no rows are left out here, if some might be."""
    if not limit:
        return error
    lattice = 'algorithm="lattice", which leaves out whole groups'
    return error.hedged(
        "which rows to leave out is found only with the table in memory",
        hint=lattice if error.hint is None else f"{error.hint}, or {lattice}",
    )


def _plain(request: Request, ask: DistinctQuery, name: str) -> tuple[Column, Coding]:
    """Encode a column that no demand looks at, for breaking ties."""
    digest = ask((name,))
    series = digest.frame.to_series()
    # As in memory, where what a file of text says in whole numbers is read as such.
    whole = is_text(series.dtype) and request.types.get(name, "integer") == "integer"
    read = whole and infer_type(series) == "integer"
    column = with_row_counts(encode_as(series, "integer") if read else encode(series), digest)
    return column, Coding(digest.frame, column.codes)


def require_possible(transform: Transform) -> None:
    """Refuse what takes the whole table in memory."""
    said = None
    if transform.exact:
        said = ('the algorithm "anatomy"', 'algorithm="mondrian"')
    elif transform.cuts == "quality":
        said = ('cuts="quality"', 'cuts="best"')
    elif transform.dealing == "matching":
        said = ('dealing="matching"', 'dealing="rank"')
    if said is not None:
        raise ParameterError(
            f"{said[0]} needs the whole table in memory",
            hint=f"{said[1]}, or no engine for large tables",
        )


# -----------------------------------------------------------------------------
# A part of a large table, finished by itself: split to the end, published, and verified.
#
# A leaf of the split tree holds all rows that could share a group, so nothing else need be known.
# What comes out depends on what the rows hold, never on the order in which they came: a part that
# is finished twice, because a machine was lost, comes out the same.


@dataclass(frozen=True, eq=False)
class FinishedPart:
    """A finished part of a table."""

    table: pl.DataFrame
    place: Ints  # a lot for each row: in the order of these, rows of all parts are mixed
    told: dict[str, Any]  # figures that add up over the parts


def part_content_order(
    job: BoundRequest, codes: Sequence[Codes], payload: pl.DataFrame, ties: Ints | None
) -> Ints:
    """Order rows by what they hold; rows that hold the same may change places unnoticed."""
    # `ties` has a number for each row that depends on its payload. Those made here are the same
    # only within one run of the program.
    tags: Any = job.arranged(codes).tags
    if ties is None and not payload.width:
        return np.argsort(tags, kind="stable")
    return np.lexsort((payload.hash_rows().to_numpy() if ties is None else ties, tags))


def sum_part_figures(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the figures of all parts; losses become means."""
    total = {key: sum(one[key] for one in told) for key in ("rows", "groups", "leaves")}
    names = told[0]["losses"]
    losses = {name: sum(one["losses"][name] for one in told) / total["rows"] for name in names}
    starred = {name: sum(one["starred"].get(name, 0) for one in told) for name in names}
    starred = {name: rows for name, rows in starred.items() if rows}
    return {**total, "losses": losses, "starred": starred}


# -----------------------------------------------------------------------------
# The lattice of a table that is not at hand: its distinct tuples are, with their counts.
#
# They are counted once; the search rolls them up and never asks for rows. What is published of a
# row then depends on its quasi-identifiers alone, so rows are published wherever they lie.


@dataclass(frozen=True, eq=False)
class LabelTable:
    """What is published of each combination of quasi-identifiers; rows of others are suppressed."""

    codes: pl.DataFrame  # combinations, each once, in columns `code0`, `code1` and so on
    published: pl.DataFrame  # labels, and group ids if need be
    consistent: bool  # whether equal values are published alike

    def publish(
        self,
        job: BoundRequest,
        part: int,
        codes: Sequence[Codes],
        payload: pl.DataFrame,
        *,
        ties: Ints | None = None,
    ) -> FinishedPart:
        """Publish a part of the rows, whichever; see `wideberth.release.parts.finish`."""
        order = part_content_order(job, codes, payload, ties)
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
            require_true_labels(
                table,
                payload,
                np.arange(table.height),
                quasis=quasis,
                styles=job.styles,
                untouched=job.untouched,
                group=job.group,
                consistent=self.consistent,
            )
        place = random_places(job.secret, part, table.height)
        return FinishedPart(table, place, {"rows": table.height})


def choose_levels(
    request: Request,
    job: BoundRequest,
    codes: Sequence[Codes],
    counts: Ints,
    progress: Progress | None,
) -> tuple[LabelTable, dict[str, Any]]:
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
    ground = lattice_problem(quasis, demands, request.transform, counts)
    leveled = LatticeRecoding(generalize(ground, settings_of(request.transform), progress))
    entries, partition = leveled.rows, leveled.partition
    rows = ground.rows_of(entries)
    if rows < job.rows and any(compares_with_table(p) for p in request.principles):
        raise ParameterError(
            "t-closeness with suppressed rows can be verified only with the table in memory",
            hint="suppression_limit=0, or no engine for large tables",
        )
    recoded = leveled.recoded(np.arange(len(entries)))
    published = [
        series.cast(pl.String) for columns in recoded.columns.values() for series in columns
    ]
    if job.group is not None:
        numbers = random_group_ids(job.secret, 0, partition.count)[partition.labels]
        published.append(pl.Series(job.group, numbers, dtype=pl.Int64))
    tuples = pl.DataFrame([pl.Series(f"code{i}", q.codes[entries]) for i, q in enumerate(quasis)])
    # Tuples that differ in sensitive values only are published alike.
    first = tuples.with_row_index("first").unique(tuples.columns, keep="first")["first"]
    labels = LabelTable(
        tuples[first], pl.DataFrame(published)[first], len(leveled.made.rounds) == 1
    )
    told: dict[str, Any] = {
        "rows": rows,
        "groups": partition.count,
        "losses": recoded.losses,
        "made": {"lattice": lattice_account(leveled.made)},
    }
    return labels, told
