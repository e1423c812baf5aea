"""Harmless values: their rows hide others in a group, but need no protection themselves.

Some values hurt nobody who is known to have them: a wage of 0, a negative test. A principle that
is told so (`allowed`) bounds the crowds of all other values only. Rows with allowed values count
in no crowd, and they count in the size of their group, for they are people whom an adversary must
hold possible.

Let U(G) be the rows of a group G that need protection, and N its size.

Shares (frequency-l, epsilon-m, delta-l): the fullest crowd of U(G) times l is at most N. Crowds of
a union are at most the sums of its parts' crowds, and sizes add up, so whatever is monotone without
allowed values stays so. For epsilon-m, g hands suffice if no window holds more than g rows of U(G)
and g <= N / m: deal U(G) in the order of its values, and go on dealing with the other rows, in any
order. A hand has one row of a window at most, and at least floor(N / g) >= m rows. Fewer than
m * maxsize(U(G)) rows are too few for any groups, by the argument of Theorem 1.

Counts of values (distinct-l, entropy-l): all allowed values count as one value, and a group without
rows in U(G) is free. For distinct-l a union has the values of its parts. For entropy-l a group
satisfies if what is left after leaving out some rows with allowed values, none or all of them if
need be, has an entropy of log l. Entropy is concave, so what is left of two groups satisfies
together, and is what is left of their union. Each value's share of the group is at most its share
of what is left: the values that need protection are as well protected as without `allowed`.

(l,e)-diversity: allowed values are similar to nothing, not even to themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.distances import Similarity
from wideberth.principles.base import Principle, parameter


def allowed_values() -> Any:
    """Declare the parameter for values that need no protection."""
    return parameter(
        "values that need no protection; their rows count in the size of a group only",
        kind="values",
        default=(),
    )


def allowed_codes(domain: Domain, values: Sequence[object]) -> Bools:
    """Return which codes stand for given values; those that do not occur have none.

    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> allowed_codes(encode(pl.Series("wage", [0.0, 5.5])).domain, ["0", "7"]).tolist()
    [True, False]
    """
    open_to_all = np.zeros(domain.size, dtype=bool)
    for value in values:
        if (code := domain.code_of(value)) is not None:
            open_to_all[code] = True
    return open_to_all


def commonly_allowed(domain: Domain, principles: Iterable[Principle]) -> Bools | None:
    """Return which codes need no protection, by all principles that guard one attribute."""
    # Every principle that can allow values must allow them: in doubt a value is protected. None if
    # none is allowed.
    lists = [
        allowed_codes(domain, allowed)
        for principle in principles
        if (allowed := getattr(principle, "allowed", None)) is not None
    ]
    codes: Bools = np.logical_and.reduce(lists) if lists else np.zeros(1, dtype=bool)
    return codes if codes.any() else None


def allowed_values_of(domain: Domain, values: Sequence[object]) -> AllowedValues | None:
    """Return the allowance of a domain; None if none of the values occurs."""
    codes = allowed_codes(domain, values)
    return AllowedValues(codes) if codes.any() else None


@dataclass(frozen=True, eq=False)
class AllowedValues:
    """The values of a domain that need no protection."""

    codes: Bools  # for each code, whether it needs no protection

    @cached_property
    def guarded(self) -> Ints:
        """The codes that need protection."""
        return np.flatnonzero(~self.codes)

    @property
    def last(self) -> int:
        """The class of all allowed values."""
        return len(self.guarded)

    @cached_property
    def order(self) -> Ints:
        """The class of each code: guarded ones keep their order, all others come last."""
        order = np.full(len(self.codes), self.last, dtype=np.int64)
        order[self.guarded] = np.arange(self.last)
        return order

    def first_of(self, first: Ints) -> Ints:
        """Turn the first code of each code's window into classes; no class is above the last."""
        classes = np.searchsorted(self.guarded, first[self.guarded], side="left")
        return np.append(classes, self.last + 1)

    def last_of(self, last: Ints) -> Ints:
        """Turn the last code of each code's window into classes; allowed ones reach nothing."""
        classes = np.searchsorted(self.guarded, last[self.guarded], side="right") - 1
        return np.append(classes, self.last - 1)

    def counts(self, groups: Groups) -> Ints:
        """Return the rows of each entry that need protection."""
        return np.where(self.codes[groups.codes], 0, groups.counts)

    def crowd(self, near: Similarity, groups: Groups) -> Ints:
        """Count, for each entry, the guarded rows similar to it; 0 for allowed values."""
        crowd = near.crowd(replace(groups, counts=self.counts(groups)))
        return np.where(self.codes[groups.codes], 0, crowd)

    def values(self, groups: Groups) -> tuple[Ints, Bools]:
        """Return how many values each group has, allowed ones being one, and which need none."""
        free = self.codes[groups.codes]
        guarded = groups.sum((~free).astype(np.int64))
        return guarded + groups.max(free), guarded == 0

    def places(self, codes: Ints) -> tuple[Ints, Ints]:
        """Return the different guarded codes of some rows, and each row's place among them."""
        # Rows with allowed values follow, each at a place of its own.
        free = self.codes[codes]
        values, places = np.unique(codes, return_inverse=True)
        guarded = ~self.codes[values]
        result = (np.cumsum(guarded) - 1)[places.reshape(-1)]
        values = values[guarded]
        result[free] = len(values) + np.arange(int(free.sum()))
        return values, result

    def apart(self, near: Bools, rows: int) -> Bools:
        """Add rows with allowed values, each similar to itself alone, to a matrix."""
        many = len(near)
        result = np.eye(many + rows, dtype=bool)
        result[:many, :many] = near
        return result

    def evened(self, groups: Groups) -> list[Groups]:
        """Leave out allowed rows: two choices, one of which has the largest entropy."""
        # All allowed values of a group are one, of which c rows stay. Along c the entropy first
        # rises, then falls. Where it no longer rises, log c is the mean of log n over the guarded
        # rows, n being the count of a row's value; the best whole c is next to that.
        owner, free = groups.owner, self.codes[groups.codes]
        held = self.counts(groups)
        rows = groups.sum(held)
        spare = groups.sizes - rows
        logs = groups.sum(held * np.log(np.maximum(held, 1)))
        middle = np.exp(logs / np.maximum(rows, 1)).astype(np.int64)
        found = []
        for best in (middle, middle + 1):
            # What needs no protection is judged elsewhere; here it must not be empty.
            stay = np.where(rows == 0, 1, np.minimum(spare, np.maximum(best, 1)))
            with_spare = stay > 0
            owners = np.concatenate((owner[~free], np.flatnonzero(with_spare)))
            codes = np.concatenate(
                (self.order[groups.codes[~free]], np.full(int(with_spare.sum()), self.last))
            )
            counts = np.concatenate((groups.counts[~free], stay[with_spare]))
            order = np.lexsort((codes, owners))
            start = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(groups)))))
            found.append(
                Groups(start=start, codes=codes[order], counts=counts[order], width=self.last + 1)
            )
        return found


def times(sizes: Ints, crowd: Ints) -> Floats:
    """Return how many times a crowd fits into its group; infinitely often if nobody is in it."""
    return np.divide(sizes, crowd, out=np.full(len(sizes), np.inf), where=crowd > 0)
