"""A request bound to a table that is not at hand: codes, demands, and how each part is finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from wideberth.advice import refusal
from wideberth.algorithms import Demand
from wideberth.algorithms.arrangement import Arrangement, check_list
from wideberth.anonymizing import check_names, group_column
from wideberth.binding import require_made
from wideberth.encode import Column, Domain, encode, encode_as
from wideberth.engines.court import Court, single
from wideberth.engines.digest import Ask, Coding, Sensed, quasi_of
from wideberth.errors import InfeasibleError, ParameterError
from wideberth.quasi import Quasi
from wideberth.request import Request
from wideberth.schema import infer_type
from wideberth.styling import Style, styles
from wideberth.transform import Transform
from wideberth.words import is_text


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """What is to be made of a table.

    Parameters
    ----------
    rows : int
        How many rows the table has.
    quasis, demands : sequence
        Bound to the whole table; the codes are those of distinct values, not of rows.
    codings : sequence of Coding
        Which codes the rows get: a line for each quasi-identifier, then for each sensitive
        attribute that a demand looks at, then for each that none does.
    key : int
        The secret that breaks ties; nothing that is published follows from it but groups.
    secret : bytes
        The secret of lots; see `wideberth.engines.lots`.
    cuts : str
        How cuts are chosen.
    styles : mapping
        How quasi-identifiers are published.
    group : str, optional
        The column of group ids.
    untouched : sequence of str
        The columns that are published as they are.
    """

    rows: int
    quasis: Sequence[Quasi]
    demands: Sequence[Demand]
    codings: Sequence[Coding]
    key: int
    secret: bytes
    cuts: str
    styles: Mapping[str, Style]
    group: str | None
    untouched: Sequence[str]

    @cached_property
    def columns(self) -> list[Column]:
        """The sensitive attributes that demands look at, each once."""
        found = {id(d.column): d.column for d in self.demands if d.column is not None}
        return list(found.values())

    @cached_property
    def task(self) -> Arrangement:
        """The demands, for whoever judges by histograms; it has no rows."""
        return Arrangement(self.quasis, self.demands, self.key, ())

    def court(self, **settings: Any) -> Court:
        """Return who judges nodes."""
        return Court(self.task, **settings)

    def views(self, court: Court) -> list[int]:
        """Return the line of codes that each attribute of a court is read from."""
        lines = {id(column): place for place, column in enumerate(self.columns)}
        return [len(self.quasis) + lines[id(column)] for column in court.columns]

    @property
    def slim(self) -> Job:
        """The same without dictionaries, for those who have rows with codes."""
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


def bind(request: Request, ask: Ask, rng: np.random.Generator) -> Job:
    """Bind a request to a table that is not at hand, and refuse what it cannot satisfy.

    Parameters
    ----------
    request : Request
        What is asked; its frame has no rows.
    ask : callable
        Gives digests of the table's columns.
    rng : numpy.random.Generator
        Where the secret comes from.
    """
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
            raise _refused(request, demand, rows)
    how = styles(quasis, request.transform.recoding, request.transform.align)
    if request.transform.algorithm == "lattice":
        how = {quasi.name: Style("hierarchy") for quasi in quasis}
    group = group_column(request, demands)
    check_names(request, quasis, how, group)
    return Job(
        rows=rows,
        quasis=quasis,
        demands=demands,
        codings=[
            *codings,
            *found.values(),
            *(_plain(request, ask, name) for name in request.unguarded),
        ],
        key=int(rng.integers(2**63)),
        secret=rng.bytes(32),
        cuts=request.transform.cuts,
        styles=how,
        group=group,
        untouched=[
            name
            for name in request.columns
            if name in (*request.roles["sensitive"], *request.roles["insensitive"])
        ],
    )


def _refused(request: Request, demand: Demand, rows: int) -> InfeasibleError:
    """Say why the table cannot satisfy a demand, and that no rows are left out for it."""
    counts = None if demand.column is None else demand.column.domain.histogram
    error = refusal(demand.principle, demand.column, rows, counts)
    if not request.transform.suppression_limit:
        return error
    return InfeasibleError(
        f"{error.what}; which rows to leave out is found only with the table in memory",
        hint=f'{error.hint}, or algorithm="lattice", which leaves out whole groups',
    )


def _plain(request: Request, ask: Ask, name: str) -> Coding:
    """Encode a column that no demand looks at, for breaking ties."""
    digest = ask((name,))
    series = digest.frame.to_series()
    # As in memory, where what a file of text says in whole numbers is read as such.
    whole = is_text(series.dtype) and request.types.get(name, "integer") == "integer"
    if whole and infer_type(series) == "integer":
        return Coding(digest.frame, encode_as(series, "integer").codes)
    return Coding(digest.frame, encode(series).codes)


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
