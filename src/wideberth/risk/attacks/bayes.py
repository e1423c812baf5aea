"""What an adversary believes of a victim, before and after: Machanavajjhala et al. 2006, Sec. 3.

Theorem 3.1: of a victim with quasi-identifiers q, in a group q* that holds n_s rows of each value
s, an adversary who knows how values are distributed believes β(s) = n_s f(s|q) / f(s|q*), over the
sum of that. The belief before is α(s) = f(s|q).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, fraction
from wideberth.errors import ParameterError
from wideberth.risk.attacks.situations import VictimClasses


def posterior(
    counts: Sequence[int],
    prior: Sequence[float | Fraction],
    group_prior: Sequence[float | Fraction] | None = None,
) -> list[Any]:
    """Return what is believed of a victim after seeing a group: Theorem 3.1.

    Parameters
    ----------
    counts : sequence of int
        How many rows of the group have each value.
    prior : sequence of number
        f(s|q): how likely each value is for people like the victim. It need not add up to 1.
    group_prior : sequence of number, optional
        f(s|q*): how likely it is for people of whom the group can be. By default the same.

    Returns
    -------
    list of number
        One belief a value: fractions, if fractions or integers were given, else floats.

    Raises
    ------
    ParameterError
        If the group holds a value that no one can have, by `group_prior`; or none that the
        victim can have, by `prior`.

    Examples
    --------
    Heart disease is three times as rare among people like the victim.

    >>> posterior([2, 2], [Fraction(1, 10), Fraction(9, 10)], [Fraction(3, 10), Fraction(7, 10)])
    [Fraction(7, 34), Fraction(27, 34)]
    """
    group_prior = prior if group_prior is None else group_prior
    if not len(counts) == len(prior) == len(group_prior):
        raise ParameterError(
            f"{len(counts)} counts, but {len(prior)} and {len(group_prior)} probabilities",
            hint="one number for each value, in the same order",
        )
    if min((*counts, *prior, *group_prior), default=0) < 0:
        raise ParameterError("counts and probabilities must not be negative")
    if any(n and not g for n, g in zip(counts, group_prior, strict=True)):
        raise _impossible()
    if not any(isinstance(number, float) for number in (*prior, *group_prior)):
        counts = [Fraction(n) for n in counts]  # type: ignore[misc]  # whose quotients are exact
    triples = zip(counts, prior, group_prior, strict=True)
    weights = [n * f / g if n else n * f for n, f, g in triples]
    total = sum(weights)
    if not total:
        raise _contradicted()
    return [weight / total for weight in weights]


@dataclass(frozen=True, kw_only=True)
class BeliefChange:
    """The change of beliefs, over all histograms and all values in them."""

    largest_ratio: float  # of β/α
    largest_gain: float  # of β - α
    # people whose own value is believed with more than 1 - δ, and the histograms they face
    positive: tuple[int, int]
    # people of whom a value that they do not have is believed with less than ε, though α was at
    # least `floor`; and the histograms they face
    negative: tuple[int, int]
    # (ρ1,ρ2)-breaches, of any value, be it somebody's own or not: people who face a histogram with
    # α <= ρ1 and β >= ρ2 for some value
    upward: int
    downward: int  # people who face one with α >= 1 - ρ1 and β <= 1 - ρ2 for some value
    breached: int  # people with a breach of either kind

    @classmethod
    def merged(cls, parts: Sequence[BeliefChange]) -> BeliefChange:
        """Put together what changes for different people."""
        positive = [sum(pair) for pair in zip(*(part.positive for part in parts), strict=True)]
        negative = [sum(pair) for pair in zip(*(part.negative for part in parts), strict=True)]
        return cls(
            largest_ratio=max(part.largest_ratio for part in parts),
            largest_gain=max(part.largest_gain for part in parts),
            positive=(positive[0], positive[1]),
            negative=(negative[0], negative[1]),
            upward=sum(part.upward for part in parts),
            downward=sum(part.downward for part in parts),
            breached=sum(part.breached for part in parts),
        )


class BeliefAttack:
    """An adversary with priors, who holds the same ones of everybody.

    >>> from wideberth.core.groups import Groups
    >>> domain = Domain(name="s", histogram=np.array([5, 3, 2]))
    >>> faced = VictimClasses.known(Groups.of([[0, 0, 0, 0, 0], [1, 1, 1, 2, 2]], width=3))
    >>> change = BeliefAttack(domain).change(faced)
    >>> change.largest_ratio, change.largest_gain, change.positive, change.negative
    (2.0, 0.5, (5, 1), (10, 2))
    """

    def __init__(
        self,
        domain: Domain,
        *,
        prior: Floats | None = None,
        group_prior: Floats | None = None,
        delta: float = 0.1,
        epsilon: float = 0.05,
        floor: float = 0.1,
        rho1: float = 0.1,
        rho2: float = 0.5,
        harmless: Bools | None = None,
    ) -> None:
        # `prior` is α, a probability for each code, by default its share of the whole table.
        # `group_prior` is f(s|q*), by default the same; then β is the share in the histogram. A
        # value with a prior below `floor` was never likely, so ruling it out reveals little.
        self.harmless = np.zeros(domain.size, dtype=bool) if harmless is None else harmless
        for name, number in {
            "delta": delta,
            "epsilon": epsilon,
            "floor": floor,
            "rho1": rho1,
            "rho2": rho2,
        }.items():
            if not 0 <= number <= 1:
                raise ParameterError(f"{name} must be from 0 to 1", hint=f"{name}=0.1")
        self.given = prior is not None
        self.prior = (
            domain.histogram / max(int(domain.histogram.sum()), 1)
            if prior is None
            else _distribution(prior, domain)
        )
        self.weights: Floats | None = None
        possible = self.prior
        if group_prior is not None:
            possible = _distribution(group_prior, domain)
            self.weights = np.divide(self.prior, possible, where=possible > 0, out=0 * possible)
        self.impossible = possible <= 0
        self.delta, self.epsilon, self.floor = delta, epsilon, floor
        self.rho1, self.rho2 = rho1, rho2

    def after(self, faced: VictimClasses) -> Floats:
        """Return β for each entry of the histograms; for any other value it is 0."""
        groups = faced.groups
        if self.impossible[groups.codes].any():
            raise _impossible()
        if self.weights is None:
            return groups.counts / groups.sizes[groups.owner]
        weights = groups.counts * self.weights[groups.codes]
        total = groups.sum(weights)
        if (total <= 0).any():
            raise _contradicted()
        return weights / total[groups.owner]

    def change(self, faced: VictimClasses) -> BeliefChange:
        """Compare beliefs before and after."""
        codes = faced.groups.codes
        before, after = self.prior[codes], self.after(faced)
        guarded = ~self.harmless[codes]
        # A value that was ruled out before stays so: 0 of 0 is no change.
        ratio = np.divide(after, before, where=before > 0, out=np.zeros_like(after))
        beta = faced.of_own(after)
        positive = faced.count(beta > _complement(self.delta))
        # The values that were likely, and for each histogram how many of them are so no longer.
        # No belief is less than 0, not even in a value that is absent.
        likely = (self.prior >= self.floor) & (self.epsilon > 0)
        gone = _fewer(faced, likely, after >= self.epsilon)
        own_gone = likely[faced.codes] & (beta < self.epsilon)
        negative = faced.count(gone[faced.owner] > own_gone)
        raised = np.zeros(len(faced.groups), dtype=bool)
        raised[faced.groups.owner[(before <= self.rho1) & (after >= self.rho2) & guarded]] = True
        upward = raised[faced.owner]
        assumed = self.prior >= _complement(self.rho1)
        downward = _fewer(faced, assumed, after > _complement(self.rho2))[faced.owner] > 0
        return BeliefChange(
            largest_ratio=float(ratio[guarded].max(initial=0.0)),
            largest_gain=float((after - before)[guarded].max(initial=0.0)),
            positive=(int(positive.sum()), int(np.count_nonzero(positive))),
            negative=(int(negative.sum()), int(np.count_nonzero(negative))),
            upward=int(faced.people[upward].sum()),
            downward=int(faced.people[downward].sum()),
            breached=int(faced.people[upward | downward].sum()),
        )

    def to_dict(self, change: BeliefChange) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "prior": "given" if self.given else "estimated",
            "largest_ratio": change.largest_ratio,
            "largest_gain": change.largest_gain,
            "positive": {
                "delta": float(self.delta),
                "people": change.positive[0],
                "groups": change.positive[1],
            },
            "negative": {
                "epsilon": float(self.epsilon),
                "floor": float(self.floor),
                "people": change.negative[0],
                "groups": change.negative[1],
            },
            "breaches": {
                "rho1": float(self.rho1),
                "rho2": float(self.rho2),
                "people": change.breached,
                "upward": change.upward,
                "downward": change.downward,
            },
        }


def _fewer(faced: VictimClasses, values: Bools, still: Bools) -> Ints:
    """Count, for each histogram, those of `values` for which `still` does not hold."""
    # What is absent from a histogram never holds, so only what is there need be looked at.
    if not values.any():
        return np.zeros(len(faced.groups), dtype=np.int64)
    there = values[faced.groups.codes] & still
    held = np.bincount(faced.groups.owner[there], minlength=len(faced.groups))
    return np.count_nonzero(values) - held


def _complement(number: float) -> float:
    return float(1 - fraction(number))


def _distribution(numbers: Floats, domain: Domain) -> Floats:
    given = np.asarray(numbers, dtype=np.float64)
    if given.shape != (domain.size,):
        raise ParameterError(
            f"'{domain.name}' has {domain.size:,} values, but {given.size:,} probabilities were "
            "given",
            hint="one for each value in order, the missing one last",
        )
    if not np.isfinite(given).all() or (given < 0).any() or not given.sum():
        raise ParameterError("probabilities must be numbers from 0 up, and not all 0")
    return given / given.sum()


def _impossible() -> ParameterError:
    return ParameterError(
        "a value occurs that has probability 0",
        hint="give every value that occurs a small probability at least",
    )


def _contradicted() -> ParameterError:
    return ParameterError(
        "a group holds only values that have probability 0 for the victim",
        hint="give every value that occurs a small probability at least",
    )
