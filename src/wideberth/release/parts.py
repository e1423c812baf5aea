"""A request bound to a table that is not at hand: codes, demands, and how each part is finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.arrangement import Arrangement, check_list
from wideberth.core.codes import Column, Domain, encode, encode_as
from wideberth.core.strings import is_text
from wideberth.core.types import infer_type
from wideberth.engines.split.histogram_judge import Court, single
from wideberth.errors import InfeasibleError, ParameterError
from wideberth.hierarchy.quasi import Quasi
from wideberth.kernels.randomness import KEY, RootKey, Stream, subkey
from wideberth.policy.request import Request
from wideberth.policy.settings import Transform
from wideberth.principles.counts import Ask, Coding, Sensed, quasi_of, recounted
from wideberth.principles.feasibility.refusal import refusal
from wideberth.release.anonymize import check_names, group_column
from wideberth.release.prepare import identity, require_made
from wideberth.release.styles import Style, styles


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """A request bound to a table, and what its parts must know."""

    rows: int
    # bound to the whole table, like the demands; codes are those of distinct values, not rows
    quasis: Sequence[Quasi]
    demands: Sequence[Demand]
    # the codes that rows get: a line for each quasi-identifier, then for each sensitive attribute
    # that a demand looks at, then for each that none does
    codings: Sequence[Coding]
    key: bytes  # the secret that breaks ties; nothing that is published follows from it but groups
    secret: bytes  # that of lots, see `wideberth.release.lots`
    cuts: str
    styles: Mapping[str, Style]
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
    def task(self) -> Arrangement:
        """The demands without rows, for judging by histograms."""
        return Arrangement(self.quasis, self.demands, self.key, ())

    def court(self, **settings: Any) -> Court:
        """Return the judge of nodes."""
        return Court(self.task, **settings)

    def views(self, court: Court) -> list[int]:
        """Return the line of codes that each attribute of a court is read from."""
        lines = {id(column): place for place, column in enumerate(self.columns)}
        return [len(self.quasis) + lines[id(column)] for column in court.columns]

    @property
    def slim(self) -> Job:
        """The same without the values behind codes, for executors whose rows have codes."""
        nothing = np.zeros(0, np.int32)
        return replace(self, codings=[Coding(c.values.clear(), nothing) for c in self.codings])

    def arranged(self, codes: Sequence[Any]) -> Arrangement:
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
        return Arrangement(quasis, demands, self.key, codes[d + k :])


def bind(request: Request, ask: Ask, root: RootKey) -> Job:
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
    sensed = Sensed(ask, request.frame, **request.guarded)
    demands: list[Demand] = []
    found: dict[int, Coding] = {}
    for principle in request.principles:
        require_made(principle)
        column, domain = None, Domain(name="rows", histogram=np.array([rows]))
        if (told := sensed.column(principle)) is not None:
            column, coding = told
            domain, found[id(column)] = column.domain, coding
        demands.append(Demand(principle, principle.bind(domain), column))
    check_list(demands)
    # The lattice leaves out whole groups, and finds out itself whether that helps.
    for demand in () if request.transform.algorithm == "lattice" else demands:
        whole = np.array([rows]) if demand.column is None else demand.column.domain.histogram
        if not demand.rule.feasible(single(whole))[0]:
            counts = None if demand.column is None else demand.column.domain.histogram
            why = refusal(demand.principle, demand.column, rows, counts)
            raise refused(why, request.transform.suppression_limit)
    wish = request.transform
    how = styles(quasis, wish.recoding, wish.align, wish.max_set)
    if request.transform.algorithm == "lattice":
        how = {quasi.name: Style("hierarchy") for quasi in quasis}
    group = group_column(request, demands)
    check_names(request, quasis, how, group)
    plain = [_plain(request, ask, name) for name in request.unguarded]
    key = root.bound(identity(request, quasis, demands, [column.domain for column, _ in plain]))
    return Job(
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


def refused(error: InfeasibleError, limit: float) -> InfeasibleError:
    """Return a refusal with the note that no rows are left out here, if some might be."""
    if not limit:
        return error
    lattice = 'algorithm="lattice", which leaves out whole groups'
    return error.hedged(
        "which rows to leave out is found only with the table in memory",
        hint=lattice if error.hint is None else f"{error.hint}, or {lattice}",
    )


def _plain(request: Request, ask: Ask, name: str) -> tuple[Column, Coding]:
    """Encode a column that no demand looks at, for breaking ties."""
    digest = ask((name,))
    series = digest.frame.to_series()
    # As in memory, where what a file of text says in whole numbers is read as such.
    whole = is_text(series.dtype) and request.types.get(name, "integer") == "integer"
    read = whole and infer_type(series) == "integer"
    column = recounted(encode_as(series, "integer") if read else encode(series), digest)
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
