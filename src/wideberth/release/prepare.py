"""A request bound to its table: encoded quasi-identifiers, and principles as demands on groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import polars as pl

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.arrangement import require_combinable
from wideberth.core.codes import Domain
from wideberth.core.threads import map_threads
from wideberth.errors import ParameterError, PolicyError
from wideberth.hierarchy.quasi import Quasi, read_quasi
from wideberth.policy.request import Request
from wideberth.principles import Principle
from wideberth.principles.columns import GroupedTable


def quasis_of(request: Request, frame: pl.DataFrame) -> list[Quasi]:
    """Encode the quasi-identifiers of a table, or of some of its rows."""

    def encoded(name: str) -> Quasi:
        return read_quasi(
            frame[name],
            kind=request.kind(request.frame[name]),
            hierarchy=request.hierarchies.get(name),
            weight=float(request.transform.weights.get(name, 1.0)),
        )

    return map_threads(encoded, request.roles["quasi"])


def demands_of(request: Request, frame: pl.DataFrame) -> list[Demand]:
    """Bind every principle to the attribute that it guards."""
    subject = GroupedTable(frame, quasi=request.roles["quasi"], group=None, **request.guarded)
    demands = []
    for principle in request.principles:
        refuse_check_only(principle)
        on = subject.attribute(principle)
        column = subject.column(on, principle) if on else None
        domain = (
            column.domain if column else Domain(name="rows", histogram=np.array([frame.height]))
        )
        demands.append(Demand(principle, principle.bind(domain), column))
    require_combinable(demands)
    return demands


def refuse_check_only(principle: Principle) -> None:
    """Refuse what can be checked, but not made."""
    if principle.needs == "population":
        raise ParameterError(
            f"{principle.name} cannot be made, only checked: the population would have to be "
            "generalised like the table",
            hint="leave it out, and check the release against a population generalised alike",
        )


def release_identity(
    request: Request,
    quasis: Sequence[Quasi],
    demands: Sequence[Demand],
    others: Sequence[Domain],
) -> Iterator[object]:
    """Yield what a release depends on, the same on every engine: its policy, and counted values."""
    # The order of the rows, and columns that do not matter, do not count.
    yield {role: list(names) for role, names in sorted(request.roles.items())}
    yield [str(principle) for principle in request.principles]
    yield sorted((key, repr(value)) for key, value in request.transform.to_dict().items())
    yield request.group
    guarded = [demand.column.domain for demand in demands if demand.column is not None]
    for domain in (*(quasi.domain for quasi in quasis), *guarded, *others):
        yield domain.histogram.tolist()
        yield None if domain.parts is None else domain.parts.tolist()
        yield [(part.name, part.texts) for part in (domain, *domain.components)]
    for tree in (*(quasi.tree for quasi in quasis), *(domain.tree for domain in guarded)):
        yield None if tree is None else (list(tree.labels), tree.parent.tolist())


@contextmanager
def blame_policy(policy: object, *given: object) -> Iterator[None]:
    """Let a mistake be the policy's, unless what can be wrong was given beside it."""
    try:
        yield
    except ParameterError as error:
        if policy is None or any(given):
            raise
        raise PolicyError(error.what, hint=error.hint) from None
