"""Principles about the size of a group alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, at_least, at_most, fraction
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, what_to_type
from wideberth.kernels import kinds
from wideberth.kernels.kinds import CompiledRule
from wideberth.principles.base import Needs, Principle, Rule, parameter, register, rows_in_words


@register
@dataclass(frozen=True, kw_only=True)
class KAnonymity(Principle):
    """Every group has at least k rows.

    >>> KAnonymity(k=5)
    KAnonymity(on=None, k=5)
    """

    k: int = parameter("the smallest permitted group", kind="whole", low=1, stronger="higher")

    name: ClassVar[str] = "k-anonymity"
    example: ClassVar[str] = "k-anonymity:k=5"
    title: ClassVar[str] = "k-anonymity"
    reference: ClassVar[str] = "Samarati 2001; Sweeney 2002"
    protects: ClassVar[str] = "Telling which of k rows is a given person's."
    does_not_protect: ClassVar[str] = (
        "The sensitive value: if all k rows hold the same or nearly the same one, it is known."
    )
    needs: ClassVar[Needs] = "size"
    monotonicity: ClassVar[str] = "Monotone: a union is larger than its parts."

    def bind(self, domain: Domain) -> Rule:
        """Bind to any domain; only sizes matter."""
        return _AtLeast(self.k)


class _AtLeast(Rule):
    upward = True

    def __init__(self, k: int) -> None:
        self.k = self.least = k
        self.kernel = CompiledRule(kinds.SIZE, (k,))

    def satisfies(self, groups: Groups) -> Bools:
        return groups.sizes >= self.k

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        return {"k": groups.sizes.astype(np.float64)}

    def reason(self, groups: Groups, group: int) -> str:
        return f"{rows_in_words(groups.sizes[group])}, k = {self.k} wanted"


@register
@dataclass(frozen=True, kw_only=True)
class DeltaPresence(Principle):
    """In every group, between delta_min and delta_max of the matching population is in the table.

    The population is a table with the same quasi-identifiers, generalised in the same way.
    Groups of the population that the table lacks have presence 0.
    """

    delta_max: float = parameter(
        "largest permitted share of the matching population", low=0, high=1, stronger="lower"
    )
    delta_min: float = parameter(
        "smallest permitted share", default=0, low=0, high=1, stronger="higher"
    )

    name: ClassVar[str] = "delta-presence"
    example: ClassVar[str] = "delta-presence:delta_max=0.5"
    title: ClassVar[str] = "δ-presence"
    reference: ClassVar[str] = "Nergiz, Atzori, Clifton 2007, Def. 3"
    protects: ClassVar[str] = (
        "Telling, beyond δ certainty, whether a member of a known population is in the table."
    )
    does_not_protect: ClassVar[str] = (
        "Anyone the adversary already knows to be in the table; sensitive values as such."
    )
    needs: ClassVar[Needs] = "population"
    monotonicity: ClassVar[str] = (
        "Monotone: the share in a union lies between the shares in its parts."
    )

    def validate(self) -> None:
        """Refuse an empty range."""
        if fraction(self.delta_min) > fraction(self.delta_max):
            raise ParameterError(
                "delta-presence: delta_min must not exceed delta_max",
                hint="delta_min=0.1,delta_max=0.5",
            )

    def bind(self, domain: Domain) -> Rule:
        """Bind to any domain; only sizes and the population matter."""
        return _Presence(self)


class _Presence(Rule):
    def __init__(self, principle: DeltaPresence) -> None:
        self.low = fraction(principle.delta_min)
        self.high = fraction(principle.delta_max)

    def satisfies(self, groups: Groups) -> Bools:
        population = _population(groups)
        enough = at_least(groups.sizes, self.low, population)
        return enough & at_most(groups.sizes, self.high, population)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        with np.errstate(divide="ignore"):
            share = groups.sizes / _population(groups)
        return {"delta_max": share, "delta_min": share}

    def reason(self, groups: Groups, group: int) -> str:
        people = _population(groups)[group]
        return (
            f"{rows_in_words(groups.sizes[group])} of {people:,} matching people in the population"
        )


def _population(groups: Groups) -> Ints:
    if groups.population is None:
        raise ParameterError(
            "delta-presence needs a population table",
            hint=what_to_type(python="check(…, population=table)", command="--population FILE"),
        )
    return groups.population
