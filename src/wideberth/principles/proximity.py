"""Principles about sensitive numbers that lie close together, and those they are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import (
    Bools,
    Floats,
    Ints,
    WholeNumbers,
    at_least,
    at_most,
    fraction,
    ratios,
    whole,
)
from wideberth.core.groups import Groups
from wideberth.distances import Windows, numbers_of, windows
from wideberth.errors import ParameterError
from wideberth.kernels import kinds
from wideberth.kernels.kinds import CompiledRule
from wideberth.kernels.randomness import Chance
from wideberth.principles.allowance import AllowedValues, allowed_values, allowed_values_of, times
from wideberth.principles.base import (
    Needs,
    Principle,
    Rule,
    parameter,
    plain_value,
    register,
    remembered,
    rows_in_words,
)
from wideberth.principles.partition.caps import SearchedRule
from wideberth.principles.partition.deal import deal
from wideberth.principles.partition.decide import (
    Witness,
    clique_witness,
    row_witness,
    search_equal_groups,
)
from wideberth.principles.partition.swap import NeighborCap, SimilarityMatrix


@register
@dataclass(frozen=True, kw_only=True)
class EpsilonMAnonymity(Principle):
    """At most 1/m of a group lies in the neighbourhood of any of its values.

    The neighbourhood of x is [x - ε, x + ε]; with `relative` it is [x - ε|x|, x + ε|x|]; with e1
    and e2 instead of ε it is [x - e1, x + e2]. Its ends belong to it. With `allowed`, values that
    need no protection are in no neighbourhood; they count in the size of a group only.

    >>> str(EpsilonMAnonymity(epsilon="10%", m=4))
    'epsilon-m:epsilon=10%,m=4'
    """

    epsilon: float | str | None = parameter(
        "reach of the neighbourhood; 10% for a relative one", low=0, default=None, stronger="higher"
    )
    m: int = parameter("inverse of the largest share", kind="whole", low=1, stronger="higher")
    relative: bool = parameter("epsilon is a share of the value", kind="flag", default=False)
    e1: float | None = parameter("reach below the value", low=0, default=None, stronger="higher")
    e2: float | None = parameter("reach above the value", low=0, default=None, stronger="higher")
    allowed: tuple[object, ...] = allowed_values()

    name: ClassVar[str] = "epsilon-m"
    example: ClassVar[str] = "epsilon-m:epsilon=4500,m=5"
    title: ClassVar[str] = "(ε,m)-anonymity"
    reference: ClassVar[str] = "Li, Tao, Xiao 2008, Defs. 7 and 8"
    protects: ClassVar[str] = (
        "Proximity: placing anybody's number within ε of a value of the group with confidence "
        "above 1/m."
    )
    does_not_protect: ClassVar[str] = (
        "Claims around a number that no row holds ({40, 60} lie within 15 of 50), and groups "
        "whose published quasi-identifiers overlap: there the bound is 2/m. delta-l with δ = ε "
        "covers both."
    )
    needs: ClassVar[Needs] = "numbers"
    monotonicity: ClassVar[str] = (
        "Not monotone: {40, 60} and {50, 80} satisfy ε = 15, m = 2, their union does not."
    )

    def __str__(self) -> str:
        """Write a relative ε as it is usually given."""
        if not self.relative or self.epsilon is None:
            return super().__str__()
        allowed = f",allowed={plain_value(self.allowed)}" if self.allowed else ""
        return (
            f"{self.name}:epsilon={plain_value(fraction(self.epsilon) * 100)}%,m={self.m}{allowed}"
        )

    def __post_init__(self) -> None:
        """Read "10%" as a relative ε."""
        if isinstance(self.epsilon, str) and self.epsilon.strip().endswith("%"):
            try:
                share = fraction(self.epsilon.strip().removesuffix("%").strip()) / 100
            except ValueError:
                pass  # the range check names the mistake
            else:
                object.__setattr__(self, "epsilon", share)
                object.__setattr__(self, "relative", True)
        super().__post_init__()

    def validate(self) -> None:
        """Refuse anything but one kind of neighbourhood."""
        asymmetric = (self.e1 is not None, self.e2 is not None)
        if any(asymmetric) == (self.epsilon is not None) or len(set(asymmetric)) > 1:
            raise ParameterError(
                "epsilon-m needs either epsilon, or both e1 and e2",
                hint="epsilon-m:epsilon=4500,m=5",
            )
        if self.relative and (self.epsilon is None or fraction(self.epsilon) > 1):
            raise ParameterError(
                "epsilon-m: a relative epsilon must be from 0 to 1 (0 % to 100 %)",
                hint='epsilon="10%"',
            )

    @property
    def monotone(self) -> bool:
        """No."""
        return False

    def share_bound(self, *, anywhere: bool = False) -> Fraction | None:
        """1/m, around a value of the group."""
        return None if anywhere else Fraction(1, self.m)

    def bind(self, domain: Domain) -> Rule:
        """Bind to a domain of numbers or dates (ε in days)."""
        numbers = numbers_of(domain, self.name)
        if self.relative and self.epsilon is not None:
            if domain.dated:
                raise ParameterError(
                    f"epsilon-m: a share of a date means nothing (column '{domain.name}')",
                    hint="give epsilon as a number of days",
                )
            first, last = numbers.within_share(fraction(self.epsilon))
        else:
            below, above = (self.e1, self.e2) if self.epsilon is None else (self.epsilon,) * 2
            assert below is not None  # noqa: S101 - validate has seen to it
            assert above is not None  # noqa: S101
            first, last = numbers.within(fraction(below), fraction(above))
        near = windows(domain, first, last)
        return _NeighborhoodShare(near, self.m, "m", allowed_values_of(domain, self.allowed))


@register
@dataclass(frozen=True, kw_only=True)
class DeltaLDiversity(Principle):
    """No interval of length 2δ holds more than 1/l of a group (variant `stab`).

    `literal` is the definition as printed: at most 1/l of a group is δ-similar to any of its
    values, two values being δ-similar if they differ by at most 2δ. Against the paper's claim that
    is not monotone: with δ = 1/2, l = 2, {0, 2} and {1, 3} pass and {0, 1, 2, 3} fails. For a whole
    l it is (2δ, l)-anonymity under another name.

    With `allowed`, values that need no protection are in no interval; they count in the size of a
    group only.
    """

    delta: float = parameter("half the length of the interval", low=0, stronger="higher")
    l: float = parameter("inverse of the largest share", low=1, stronger="higher")  # noqa: E741
    variant: str = parameter(
        "which reading", kind="choice", choices=("stab", "literal"), default="stab"
    )
    allowed: tuple[object, ...] = allowed_values()

    name: ClassVar[str] = "delta-l"
    example: ClassVar[str] = "delta-l:delta=2000,l=5"
    title: ClassVar[str] = "(δ,l)-diversity"
    reference: ClassVar[str] = "Zare-Mirakabad 2012, Def. 5, repaired to be monotone"
    protects: ClassVar[str] = (
        "Proximity to any number whatever: a claim “within δ of x” with confidence above 1/l, "
        "also by an adversary who faces several candidate groups."
    )
    does_not_protect: ClassVar[str] = "Claims about intervals longer than 2δ."
    needs: ClassVar[Needs] = "numbers"
    monotonicity: ClassVar[str] = (
        "stab is monotone: the fullest window of a union holds at most the sum. literal is not."
    )

    def validate(self) -> None:
        """Refuse allowed values where groups must be searched for."""
        if self.allowed and self.variant == "literal" and fraction(self.l).denominator != 1:
            raise ParameterError(
                "delta-l: beside allowed values, variant=literal takes a whole l only",
                hint=f"l={ceil(fraction(self.l))}, or variant=stab",
            )

    @property
    def monotone(self) -> bool:
        """Only the repaired variant is."""
        return self.variant == "stab"

    def share_bound(self, *, anywhere: bool = False) -> Fraction | None:
        """1/l, around any number."""
        return 1 / fraction(self.l)

    def bind(self, domain: Domain) -> Rule:
        """Bind to a domain of numbers or dates (δ in days)."""
        numbers = numbers_of(domain, self.name)
        length = 2 * fraction(self.delta)
        if self.variant == "literal":
            near = windows(domain, *numbers.within(length, length))
            wanted = fraction(self.l)
            if wanted.denominator == 1:
                return _NeighborhoodShare(
                    near, int(wanted), "l", allowed_values_of(domain, self.allowed)
                )
            return _FractionalNeighborhoodShare(near, domain.size, wanted)
        near = windows(domain, *numbers.within(Fraction(0), length))
        return _WindowShare(near, fraction(self.l), "l", allowed_values_of(domain, self.allowed))


class _WindowShare(Rule):
    """At most ``1 / wanted`` of a group's rows are near any one of them."""

    where = "in one interval of length 2δ"

    def __init__(
        self, near: Windows, wanted: Fraction, speaks_of: str, allowed: AllowedValues | None = None
    ) -> None:
        self.near = near
        self.wanted = wanted
        self.speaks_of = speaks_of
        self.least = ceil(wanted)
        numbers = wanted.denominator, wanted.numerator, 0, 0
        self.kernel = CompiledRule(kinds.CROWD, numbers, near.last)
        if allowed is not None:
            self.least, self.usual, self.allowance = 1, self.least, allowed
            reach = allowed.last_of(near.last)
            self.kernel = CompiledRule(kinds.CROWD, numbers, reach, order=allowed.order)

    @remembered
    def crowd(self, groups: Groups) -> Ints:
        """Return the most rows of each group that are near one of them."""
        if self.allowance is None:
            return groups.max(self.near.crowd(groups))
        return groups.max(self.allowance.crowd(self.near, groups))

    def satisfies(self, groups: Groups) -> Bools:
        return at_most(self.crowd(groups), 1 / self.wanted, groups.sizes)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        return {self.speaks_of: times(groups.sizes, self.crowd(groups))}

    def reason(self, groups: Groups, group: int) -> str:
        return f"{self.crowd(groups)[group]:,} of {rows_in_words(groups.sizes[group])} {self.where}"


class _NeighborhoodShare(_WindowShare):
    """The rule of `_WindowShare` for two-sided neighbourhoods: not monotone, so rows are dealt."""

    where = "in the neighbourhood of one row"

    monotone = False

    def __init__(
        self, near: Windows, m: int, speaks_of: str, allowed: AllowedValues | None = None
    ) -> None:
        super().__init__(near, Fraction(m), speaks_of, allowed)
        self.m = m
        # The last code that is in reach of a code, or has it in reach. Both ends of a
        # neighbourhood grow with its centre, so whatever lies between is in reach too.
        codes = np.arange(len(near.first))
        self.reach = np.maximum(near.last, np.searchsorted(near.first, codes, side="right") - 1)
        parts, order = (self.reach, near.first, near.last), None
        if allowed is not None:
            order = allowed.order
            parts = (
                allowed.last_of(self.reach),
                allowed.first_of(near.first),
                allowed.last_of(near.last),
            )
        self.kernel = CompiledRule(kinds.CROWD, (1, m, 1, 0), np.concatenate(parts), order=order)

    def maxsize(self, groups: Groups) -> Ints:
        """Return the most rows of each group of which any two are similar (Def. 11)."""
        if self.allowance is not None:
            ahead = Windows(np.arange(len(self.reach)), self.reach)
            return groups.max(self.allowance.crowd(ahead, groups))
        return groups.max(groups.within(groups.codes, self.reach[groups.codes]))

    def feasible(self, groups: Groups) -> Bools:
        return at_most(self.maxsize(groups), Fraction(1, self.m), groups.sizes)  # Theorem 1

    def finish(self, codes: Ints, rng: Chance) -> Ints:
        # Any number of hands from maxsize up is valid; the most hands lose the least information.
        ranked = codes if self.allowance is None else self.allowance.order[codes]
        return deal(ranked, len(codes) // self.m, rng)

    def numbers(self, codes: Ints, unit: int) -> Iterator[int]:
        """Yield numbers of hands to try where similar rows may meet, perhaps without crowding."""
        # Less than 0: hands of whole columns; see `wideberth.kernels.kinds.column_layout`.
        n = len(codes)
        columns, _ = kinds.column_layout(n, unit, self.m)
        least = kinds.least_group_count(int(self.crowd(self._whole(codes))[0]) - 1, n, 1, self.m)
        hands = n // unit
        while columns or hands >= least:
            if columns > hands or hands < least:
                yield -columns
                columns = 0
            else:
                yield hands
                hands = kinds.next_group_count(hands, n, unit)

    def sought(self, codes: Ints, unit: int) -> Ints | None:
        """Look for groups by letting rows change places: a label for each row, None if none."""
        if self.allowance is None:
            values, places = np.unique(codes, return_inverse=True)
        else:
            values, places = self.allowance.places(codes)
        seen = (self.near.first[values][:, None] <= values) & (
            values <= self.near.last[values][:, None]
        )
        seen |= seen.T  # perhaps more than is near, never less
        if self.allowance is not None:
            seen = self.allowance.apart(seen, int(self.allowance.codes[codes].sum()))
        return search_equal_groups(
            SimilarityMatrix(seen), places.reshape(-1), NeighborCap.of_crowd(self.wanted), unit
        )

    def ruled_out(self, codes: Ints, unit: int) -> Witness | None:
        n, cap, whole = len(codes), NeighborCap.of_crowd(self.wanted), self._whole(codes)
        near = row_witness(n, int(self.crowd(whole)[0]) - 1, cap, unit)
        # Of rows that are all similar, in any group, the first or the last has all in its reach.
        return near or clique_witness(n, int(self.maxsize(whole)[0]), cap, unit)

    def _whole(self, codes: Ints) -> Groups:
        """Return all rows as one group."""
        held, counts = np.unique(codes, return_counts=True)
        start = np.array([0, len(held)])
        return Groups(start=start, codes=held, counts=counts, width=len(self.reach))


class _FractionalNeighborhoodShare(SearchedRule):
    """At most 1/l of a group in a neighbourhood, l not whole: Theorem 1 does not hold for it."""

    def __init__(self, near: Windows, width: int, wanted: Fraction) -> None:
        super().__init__(near, width, NeighborCap.of_crowd(wanted), ceil(wanted))
        self.wanted = wanted

    def satisfies(self, groups: Groups) -> Bools:
        return at_most(self.crowd(groups), 1 / self.wanted, groups.sizes)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        return {"l": groups.sizes / self.crowd(groups)}

    def reason(self, groups: Groups, group: int) -> str:
        crowd = self.crowd(groups)[group]
        return f"{crowd:,} of {rows_in_words(groups.sizes[group])} {_NeighborhoodShare.where}"


@register
@dataclass(frozen=True, kw_only=True)
class KEAnonymity(Principle):
    """Every group has at least k distinct values, the extremes of which are e or more apart.

    A missing value counts as a value of its own, without a place between the extremes.
    """

    k: int = parameter("fewest distinct values", kind="whole", low=1, stronger="higher")
    e: float = parameter("smallest range", low=0, stronger="higher")

    name: ClassVar[str] = "k-e"
    example: ClassVar[str] = "k-e:k=5,e=10000"
    title: ClassVar[str] = "(k,e)-anonymity"
    reference: ClassVar[str] = "Zhang, Koudas, Srivastava, Yu 2007, Def. 2"
    protects: ClassVar[str] = "Groups whose numbers span a short range as a whole."
    does_not_protect: ClassVar[str] = (
        "Proximity: one far value satisfies e while all the others lie together."
    )
    needs: ClassVar[Needs] = "numbers"
    monotonicity: ClassVar[str] = "Monotone: a union has the values and the extremes of its parts."

    def bind(self, domain: Domain) -> Rule:
        """Bind to a domain of numbers or dates (e in days)."""
        return _Range(self, domain)


class _Range(Rule):
    upward = True

    def __init__(self, principle: KEAnonymity, domain: Domain) -> None:
        self.numbers = numbers_of(domain, principle.name)
        self.missing = domain.missing
        self.k = self.least = principle.k
        self.apart = fraction(principle.e) * self.numbers.per
        if self.numbers.units.dtype != object:
            lacking = -1 if self.missing is None else self.missing
            self.kernel = CompiledRule(
                kinds.RANGE, (self.k, ceil(self.apart), lacking), self.numbers.units
            )

    @remembered
    def range(self, groups: Groups) -> WholeNumbers:
        """Return the largest number of each group less the smallest, in units."""
        low, high = groups.start[:-1], groups.start[1:] - 1
        units = self.numbers.units
        if self.missing is not None:
            # The missing code is the last, so it can only be a group's last entry. A group of
            # missing values alone has no range: it gets the same place twice.
            units = np.append(units, 0)
            high = np.maximum(high - (groups.codes[high] == self.missing), low)
        span: WholeNumbers = units[groups.codes[high]] - units[groups.codes[low]]
        return span

    def satisfies(self, groups: Groups) -> Bools:
        ones = np.ones(len(groups), dtype=np.int64)
        return (groups.distinct >= self.k) & at_least(self.range(groups), self.apart, ones)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        return {
            "e": ratios(self.range(groups), self.numbers.per),
            "k": groups.distinct.astype(np.float64),
        }

    def reason(self, groups: Groups, group: int) -> str:
        span = self.achieved(groups)["e"][group]
        rows = rows_in_words(groups.sizes[group])
        return f"{groups.distinct[group]:,} distinct in {rows}, range {span:g}"


@register
@dataclass(frozen=True, kw_only=True)
class VarianceControl(Principle):
    """The variance of every group's numbers is at least t.

    The variance is that of the group itself (divided by N, not N - 1), over its rows with a value.
    """

    t: float = parameter("least variance", low=0, stronger="higher")

    name: ClassVar[str] = "variance"
    example: ClassVar[str] = "variance:t=1000000"
    title: ClassVar[str] = "variance control"
    reference: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan 2006, Sec. 2"
    protects: ClassVar[str] = "Groups whose numbers all lie close to their mean."
    does_not_protect: ClassVar[str] = (
        "Proximity: one far value yields any variance while all the others are equal."
    )
    needs: ClassVar[Needs] = "numbers"
    monotonicity: ClassVar[str] = (
        "Monotone: a union's variance is at least the weighted mean of its parts'."
    )

    def bind(self, domain: Domain) -> Rule:
        """Bind to a domain of numbers or dates."""
        return _Variance(self, domain)


class _Variance(Rule):
    def __init__(self, principle: VarianceControl, domain: Domain) -> None:
        numbers = numbers_of(domain, principle.name)
        self.per = numbers.per
        self.spread = fraction(principle.t) * numbers.per**2
        base = numbers.units[0] if len(numbers.units) else 0
        # Distances from the smallest value: as small as integers can be, and a missing row adds 0.
        self.offset: WholeNumbers = numbers.units - base
        self.known = np.ones(domain.size, dtype=np.int64)
        if domain.missing is not None:
            self.offset = np.append(self.offset, 0)
            self.known[domain.missing] = 0
        if self.offset.dtype != object:
            lacking = -1 if domain.missing is None else domain.missing
            numbers_ = (self.spread.numerator, self.spread.denominator, lacking)
            self.kernel = CompiledRule(kinds.VARIANCE, numbers_, self.offset)

    @remembered
    def moments(self, groups: Groups) -> tuple[WholeNumbers, WholeNumbers]:
        """Return the number n of rows with a value, and n² times the variance, in units²."""
        largest = int(self.offset.max(initial=0)) + 1
        bound = (int(groups.sizes.max()) * largest) ** 2
        counts = whole(groups.counts * self.known[groups.codes], bound)
        x = whole(self.offset, bound)[groups.codes]
        n, total, squares = groups.sum(counts), groups.sum(counts * x), groups.sum(counts * x * x)
        return n, n * squares - total * total

    def satisfies(self, groups: Groups) -> Bools:
        n, spread = self.moments(groups)
        bound = int(groups.sizes.max()) ** 2
        square = whole(n, bound) * n
        return at_least(spread, self.spread, square) & ((square > 0) | (self.spread == 0))

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        n, spread = self.moments(groups)
        square = np.maximum(n.astype(object) ** 2, 1) * self.per**2
        return {"t": ratios(spread, square)}

    def reason(self, groups: Groups, group: int) -> str:
        rows = rows_in_words(groups.sizes[group])
        return f"variance {self.achieved(groups)['t'][group]:.4g} over {rows}"
