"""l-diversity in all its forms, and the other principles about equal sensitive values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil, prod
from typing import ClassVar

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, at_least, at_most, fraction
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError
from wideberth.kernels import kinds
from wideberth.kernels.kinds import CompiledRule
from wideberth.kernels.randomness import Chance
from wideberth.principles.allowance import (
    AllowedValues,
    allowed_codes,
    allowed_values,
    allowed_values_of,
    times,
)
from wideberth.principles.base import (
    Principle,
    Rule,
    parameter,
    plain_value,
    register,
    remembered,
    rows_in_words,
)
from wideberth.principles.partition.deal import deal

_MACHANAVAJJHALA = "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006"
_HARMLESS = "allowed values only"
_ABOUT_EQUALITY = (
    "Values that differ but are close (salaries 1000, 1010, 1020 count as diverse), and "
    "an adversary who can rule out more values than l - 2."
)


@register
@dataclass(frozen=True, kw_only=True)
class DistinctLDiversity(Principle):
    """Every group has at least l distinct sensitive values.

    With `allowed`, values that need no protection count as one value, and a group that has no
    others need not have more.
    """

    l: int = parameter("fewest distinct values", kind="whole", low=1, stronger="higher")  # noqa: E741
    allowed: tuple[object, ...] = allowed_values()

    name: ClassVar[str] = "distinct-l"
    example: ClassVar[str] = "distinct-l:l=3"
    title: ClassVar[str] = "distinct l-diversity"
    reference: ClassVar[str] = f"{_MACHANAVAJJHALA}, Sec. 4.1"
    protects: ClassVar[str] = "Homogeneity: a group that shares a single sensitive value."
    does_not_protect: ClassVar[str] = f"A value that nearly all of a group share. {_ABOUT_EQUALITY}"
    monotonicity: ClassVar[str] = "Monotone: a union holds every value of its parts."

    def bind(self, domain: Domain) -> Rule:
        """Bind to any domain."""
        return _Distinct(self.l, allowed_values_of(domain, self.allowed))


class _Distinct(Rule):
    upward = True

    def __init__(self, wanted: int, allowed: AllowedValues | None = None) -> None:
        self.wanted = self.least = wanted
        self.kernel = CompiledRule(kinds.DISTINCT, (wanted,))
        if allowed is not None:
            # A group of allowed values alone satisfies, and does not with any rows added.
            self.upward, self.least, self.usual, self.allowance = False, 1, wanted, allowed
            self.kernel = CompiledRule(
                kinds.DISTINCT, (wanted, 1, allowed.last), order=allowed.order
            )

    @remembered
    def values(self, groups: Groups) -> tuple[Ints, Bools]:
        """Return how many values each group has, and which groups need not have more."""
        if self.allowance is None:
            return groups.distinct, np.zeros(len(groups), dtype=bool)
        return self.allowance.values(groups)

    def satisfies(self, groups: Groups) -> Bools:
        distinct, free = self.values(groups)
        return (distinct >= self.wanted) | free

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        distinct, free = self.values(groups)
        return {"l": np.where(free, np.inf, distinct.astype(np.float64))}

    def reason(self, groups: Groups, group: int) -> str:
        distinct, free = self.values(groups)
        if free[group]:
            return _HARMLESS
        return f"{distinct[group]:,} distinct in {rows_in_words(groups.sizes[group])}"


@register
@dataclass(frozen=True, kw_only=True)
class FrequencyLDiversity(Principle):
    """No sensitive value makes up more than 1/l of a group.

    With `allowed`, values that need no protection may: they count in the size of a group only.
    """

    l: float = parameter("inverse of the largest share", low=1, stronger="higher")  # noqa: E741
    allowed: tuple[object, ...] = allowed_values()

    name: ClassVar[str] = "frequency-l"
    example: ClassVar[str] = "frequency-l:l=3"
    title: ClassVar[str] = "frequency l-diversity"
    reference: ClassVar[str] = "Xiao, Tao 2006, Def. 2"
    protects: ClassVar[str] = "Naming anybody's sensitive value with confidence above 1/l."
    does_not_protect: ClassVar[str] = _ABOUT_EQUALITY
    monotonicity: ClassVar[str] = "Monotone: the largest count of a union is at most the sum."

    def bind(self, domain: Domain) -> Rule:
        """Bind to any domain."""
        return _Frequency(1 / fraction(self.l), 1, "l", allowed_values_of(domain, self.allowed))


@register
@dataclass(frozen=True, kw_only=True)
class AlphaKAnonymity(Principle):
    """Every group has at least k rows, and no value makes up more than alpha of them."""

    alpha: float = parameter("largest share of one value", low=0, high=1, stronger="lower")
    k: int = parameter("the smallest permitted group", kind="whole", low=1, stronger="higher")

    name: ClassVar[str] = "alpha-k"
    example: ClassVar[str] = "alpha-k:alpha=0.5,k=5"
    title: ClassVar[str] = "(α,k)-anonymity"
    reference: ClassVar[str] = "Wong, Li, Fu, Wang 2006, general form"
    protects: ClassVar[str] = (
        "Telling which of k rows is a person's, and naming a value with confidence above alpha."
    )
    does_not_protect: ClassVar[str] = "Values that differ but are close."
    monotonicity: ClassVar[str] = "Monotone: both of its parts are."

    def bind(self, domain: Domain) -> Rule:
        """Bind to any domain."""
        return _Frequency(fraction(self.alpha), self.k, "alpha")


class _Frequency(Rule):
    """At most ``share`` of a group's rows hold one value, and it has ``k`` rows or more."""

    def __init__(
        self, share: Fraction, k: int, speaks_of: str, allowed: AllowedValues | None = None
    ) -> None:
        self.share = share
        self.k = k
        self.speaks_of = speaks_of
        self.least = max(k, ceil(1 / share) if share else 1)
        numbers = share.numerator, share.denominator, 0, 0
        self.kernel = CompiledRule(kinds.CROWD, numbers)
        if allowed is not None:
            self.least, self.usual, self.allowance = k, self.least, allowed
            reach = allowed.last_of(np.arange(len(allowed.codes)))
            self.kernel = CompiledRule(kinds.CROWD, numbers, reach, order=allowed.order)

    @remembered
    def largest(self, groups: Groups) -> Ints:
        """Return the count of each group's most frequent value that is not allowed."""
        if self.allowance is None:
            return groups.largest
        return groups.max(self.allowance.counts(groups))

    def satisfies(self, groups: Groups) -> Bools:
        return at_most(self.largest(groups), self.share, groups.sizes) & (groups.sizes >= self.k)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        largest = self.largest(groups)
        if self.speaks_of == "l":
            return {"l": times(groups.sizes, largest)}
        return {"alpha": largest / groups.sizes, "k": groups.sizes.astype(np.float64)}

    def reason(self, groups: Groups, group: int) -> str:
        largest = self.largest(groups)[group]
        return f"one value holds {largest:,} of {rows_in_words(groups.sizes[group])}"


@register
@dataclass(frozen=True, kw_only=True)
class EntropyLDiversity(Principle):
    """The entropy of every group's sensitive values is at least log l.

    Tested as the product of n^n over all counts n, times l^N, being at most N^N: in logarithms,
    and in integers where these are too close to call.

    With `allowed`, values that need no protection count as one value, and as many of their rows
    are left out as serve the entropy; a group that has no others satisfies.
    """

    l: float = parameter("exponential of the least entropy", low=1, stronger="higher")  # noqa: E741
    allowed: tuple[object, ...] = allowed_values()

    name: ClassVar[str] = "entropy-l"
    example: ClassVar[str] = "entropy-l:l=2.5"
    title: ClassVar[str] = "entropy l-diversity"
    reference: ClassVar[str] = f"{_MACHANAVAJJHALA}, Def. 4.1"
    protects: ClassVar[str] = (
        "Homogeneity and skew: a group less uncertain than l equally likely values."
    )
    does_not_protect: ClassVar[str] = f"A single value with a fairly large share. {_ABOUT_EQUALITY}"
    monotonicity: ClassVar[str] = "Monotone: entropy is concave."

    def bind(self, domain: Domain) -> Rule:
        """Bind to any domain."""
        rule = _Entropy(fraction(self.l))
        allowed = allowed_values_of(domain, self.allowed)
        return rule if allowed is None else _EntropyWithAllowed(rule, allowed)


class _Entropy(Rule):
    #: Relatively: far above the rounding error of the logarithms, far below a real difference.
    TOO_CLOSE = 1e-9

    def __init__(self, wanted: Fraction) -> None:
        self.wanted = wanted
        self.least = ceil(wanted)
        self.kernel = CompiledRule(kinds.ENTROPY, (wanted.numerator, wanted.denominator))

    @remembered
    def diversity(self, groups: Groups) -> Floats:
        """exp(H), H = log N - (sum of n log n) / N; with equal counts, the number of values."""
        inner = groups.sum(groups.counts * np.log(groups.counts)) / groups.sizes
        estimate = groups.sizes / np.exp(inner)
        return np.where(_uniform(groups), groups.distinct, estimate)

    def satisfies(self, groups: Groups) -> Bools:
        diversity = self.diversity(groups)
        wanted = float(self.wanted)
        enough = at_least(groups.distinct, self.wanted, np.ones_like(groups.distinct))
        uniform = _uniform(groups)
        verdict = np.where(uniform, enough, diversity >= wanted)
        close = ~uniform & (np.abs(diversity - wanted) < self.TOO_CLOSE * wanted)
        for group in np.flatnonzero(close):
            verdict[group] = _diverse_exactly(groups.shape(group), self.wanted)
        return verdict

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        diversity = self.diversity(groups).copy()
        # A float just beside a whole number may be that number: then say so.
        nearest = np.rint(diversity)
        close = (diversity != nearest) & (np.abs(diversity - nearest) < self.TOO_CLOSE * nearest)
        for group in np.flatnonzero(close):
            if _diverse_exactly(groups.shape(group), Fraction(int(nearest[group]))):
                diversity[group] = max(diversity[group], nearest[group])
        return {"l": diversity}

    def reason(self, groups: Groups, group: int) -> str:
        return (
            f"{groups.distinct[group]:,} distinct in {rows_in_words(groups.sizes[group])}, "
            f"the most frequent {groups.largest[group]:,} times"
        )


class _EntropyWithAllowed(_Entropy):
    """Entropy beside allowed values, of which as few rows count as is best."""

    def __init__(self, plain: _Entropy, allowed: AllowedValues) -> None:
        self.plain, self.wanted = plain, plain.wanted
        self.least, self.usual, self.allowance = 1, plain.least, allowed
        p, q = self.wanted.numerator, self.wanted.denominator
        self.kernel = CompiledRule(kinds.ENTROPY, (p, q, allowed.last, 1), order=allowed.order)

    @remembered
    def evened(self, groups: Groups) -> tuple[list[Groups], Bools]:
        """Return groups without surplus rows, in two ways; and which hold allowed values only."""
        assert self.allowance is not None  # noqa: S101 - it is not made without one
        return self.allowance.evened(groups), self.allowance.values(groups)[1]

    def satisfies(self, groups: Groups) -> Bools:
        (one, other), free = self.evened(groups)
        return free | self.plain.satisfies(one) | self.plain.satisfies(other)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        (one, other), free = self.evened(groups)
        best = np.maximum(self.plain.achieved(one)["l"], self.plain.achieved(other)["l"])
        return {"l": np.where(free, np.inf, best)}

    def reason(self, groups: Groups, group: int) -> str:
        (one, other), free = self.evened(groups)
        if free[group]:
            return _HARMLESS
        ones, others = (self.plain.diversity(choice)[group] for choice in (one, other))
        return self.plain.reason(one if ones >= others else other, group)


def _uniform(groups: Groups) -> Bools:
    """Return which groups hold all their values equally often."""
    return groups.largest * groups.distinct == groups.sizes


@lru_cache(maxsize=1 << 14)
def _diverse_exactly(counts: tuple[int, ...], wanted: Fraction) -> bool:
    """Decide with more digits, and if these do not suffice, in integers."""
    total = sum(counts)
    p, q = wanted.numerator, wanted.denominator
    with localcontext(prec=60):
        need = _logarithms(counts) + total * Decimal(p).ln()
        have = total * Decimal(total * q).ln()
        if abs(have - need) > Decimal(10) ** -40 * have:
            return need < have
    return prod(n**n for n in counts) * p**total <= (total * q) ** total


@lru_cache(maxsize=1 << 10)
def _logarithms(counts: tuple[int, ...]) -> Decimal:
    """Add up n log n over all counts, to 60 digits."""
    with localcontext(prec=60):
        each = (many * n * Decimal(n).ln() for n, many in Counter(counts).items())
        return sum(each, Decimal(0))


@register
@dataclass(frozen=True, kw_only=True)
class RecursiveCLDiversity(Principle):
    """The most frequent value is less than c times all but the l - 1 most frequent ones.

    With `allowed` (the set Y) it is positive-disclosure recursive: values in Y may be disclosed,
    so the most frequent value *not* in Y counts. With `required` (the set W) and `c2` it is
    negative/positive-disclosure recursive: every value in W must also make up at least c2 percent
    of each group, so that nobody can be told *not* to have it.
    """

    c: float = parameter(
        "how often the most frequent value may outnumber the tail",
        low=0,
        low_open=True,
        stronger="lower",
        exclusive=True,
    )
    l: int = parameter("values to rule out, plus one", kind="whole", low=1, stronger="higher")  # noqa: E741
    allowed: tuple[object, ...] = parameter(
        "values whose disclosure is no harm (Y)", kind="values", default=()
    )
    required: tuple[object, ...] = parameter(
        "values whose absence must not be disclosed (W)", kind="values", default=()
    )
    c2: float = parameter(
        "least percentage of each required value", default=0, low=0, high=100, stronger="higher"
    )

    name: ClassVar[str] = "recursive-cl"
    example: ClassVar[str] = "recursive-cl:c=3,l=3,allowed=healthy"
    title: ClassVar[str] = "recursive (c,l)-diversity"
    reference: ClassVar[str] = f"{_MACHANAVAJJHALA}, Defs. 4.2-4.4"
    protects: ClassVar[str] = "Becoming sure of the most frequent value by ruling out l - 2 others."
    does_not_protect: ClassVar[str] = _ABOUT_EQUALITY
    monotonicity: ClassVar[str] = "Monotone: top counts of a union are at most the sums."

    def validate(self) -> None:
        """W and c2 belong together."""
        if bool(self.required) != bool(self.c2):
            raise ParameterError(
                "recursive-cl: required and c2 go together",
                hint="give both, or neither",
            )

    def bind(self, domain: Domain) -> Rule:
        """Bind to any domain; values that do not occur in it are absent from every group."""
        guarded = [domain.code_of(value) for value in self.required]
        return _Recursive(self, allowed_codes(domain, self.allowed), guarded)


class _Recursive(Rule):
    def __init__(
        self, principle: RecursiveCLDiversity, open_to_all: Bools, guarded: list[int | None]
    ) -> None:
        self.c = fraction(principle.c)
        self.wanted = principle.l
        self.share = fraction(principle.c2) / 100
        self.open_to_all = open_to_all
        self.guarded = guarded
        self.least = 1 if open_to_all.any() else self.wanted
        self.kernel = CompiledRule(
            kinds.RECURSIVE,
            (
                self.c.numerator,
                self.c.denominator,
                self.wanted,
                self.share.numerator,
                self.share.denominator,
                len(guarded),
            ),
            np.append(open_to_all, [-1 if code is None else code for code in guarded]).astype(
                np.int64
            ),
        )

    @remembered
    def head(self, groups: Groups) -> Ints:
        """Return r_s: the count of the most frequent value not in Y; 0 if all are in Y."""
        return groups.max(np.where(self.open_to_all[groups.codes], 0, groups.counts))

    @remembered
    def tail(self, groups: Groups) -> Ints:
        """Return N - r_s - the top l - 2 counts among the others."""
        head = self.head(groups)
        # Either s is among the l - 1 most frequent values, or the l - 2 most frequent are others.
        among = self._count_at(groups, self.wanted - 2) <= head
        others = self._top(groups, self.wanted - 2)
        return groups.sizes - np.where(among, self._top(groups, self.wanted - 1), others + head)

    @staticmethod
    def _top(groups: Groups, many: int) -> Ints:
        """Add up the largest counts of each group."""
        if many <= 0:
            return np.zeros_like(groups.sizes)
        running = np.concatenate(([0], np.cumsum(groups.descending)))
        end = groups.start[:-1] + np.minimum(groups.distinct, many)
        return running[end] - running[groups.start[:-1]]

    @staticmethod
    def _count_at(groups: Groups, rank: int) -> Ints:
        """Return the count at a rank from 0; below 0 the largest, past the end nothing."""
        at = groups.start[:-1] + max(rank, 0)
        inside = at < groups.start[1:]
        return np.where(inside, groups.descending[np.where(inside, at, 0)], 0)

    @remembered
    def least_share(self, groups: Groups) -> Ints:
        """Return the smallest count of a required value in each group."""
        least = groups.sizes
        for code in self.guarded:
            # A required value that the table lacks is absent from every group.
            held = 0 if code is None else groups.lookup(np.arange(len(groups)), code)
            least = np.minimum(least, held)
        return least

    def satisfies(self, groups: Groups) -> Bools:
        enough = at_least(self.least_share(groups), self.share, groups.sizes)
        return self._diverse(groups) & enough

    def _diverse(self, groups: Groups) -> Bools:
        head = self.head(groups)
        if self.wanted == 1:
            return np.ones(len(groups), dtype=bool)
        # r_s < c * tail, which is the opposite of tail <= r_s / c
        return (head == 0) | ~at_most(self.tail(groups), 1 / self.c, head)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        head, tail = self.head(groups), self.tail(groups)
        ratio = np.divide(head, tail, out=np.full(len(groups), np.inf), where=tail > 0)
        figures = {"c": np.where((head == 0) | (self.wanted == 1), 0.0, ratio)}
        if self.share:
            figures["c2"] = 100 * self.least_share(groups) / groups.sizes
        return figures

    def reason(self, groups: Groups, group: int) -> str:
        head, tail = self.head(groups)[group], self.tail(groups)[group]
        wanted = f"{head} < {plain_value(self.c)} × {tail} wanted"
        text = f"{head} rows hold one value, {tail} its tail: {wanted}"
        if self.share:
            text += f"; the rarest required value {self.least_share(groups)[group]} times"
        return text


@register
@dataclass(frozen=True, kw_only=True)
class MUniqueness(Principle):
    """Every group has at least m rows, and no two of them share a sensitive value."""

    m: int = parameter("the smallest permitted group", kind="whole", low=1, stronger="higher")

    name: ClassVar[str] = "m-uniqueness"
    example: ClassVar[str] = "m-uniqueness:m=5"
    title: ClassVar[str] = "m-uniqueness"
    reference: ClassVar[str] = "Xiao, Tao 2007, Def. 3 (m-invariance of a single release)"
    protects: ClassVar[str] = "Naming a sensitive value with confidence above 1/m."
    does_not_protect: ClassVar[str] = "Values that differ but are close."
    monotonicity: ClassVar[str] = "Not monotone: {a,b} and {a,b} satisfy m = 2, {a,a,b,b} does not."

    @property
    def monotone(self) -> bool:
        """No."""
        return False

    def bind(self, domain: Domain) -> Rule:
        """Bind to any domain."""
        return _Unique(self.m)


class _Unique(Rule):
    monotone = False

    def __init__(self, m: int) -> None:
        self.m = self.least = m
        self.kernel = CompiledRule(kinds.CROWD, (1, m, 1, 1))

    def satisfies(self, groups: Groups) -> Bools:
        return (groups.largest == 1) & (groups.sizes >= self.m)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        return {"m": np.where(groups.largest == 1, groups.sizes, 0).astype(np.float64)}

    def reason(self, groups: Groups, group: int) -> str:
        return f"one value holds {groups.largest[group]:,} of {rows_in_words(groups.sizes[group])}"

    def feasible(self, groups: Groups) -> Bools:
        # Enough rows for as many groups as the most frequent value needs. Then dealing the rows
        # in order of value separates equal ones.
        return at_most(groups.largest, Fraction(1, self.m), groups.sizes)

    def finish(self, codes: Ints, rng: Chance) -> Ints:
        return deal(codes, len(codes) // self.m, rng)
