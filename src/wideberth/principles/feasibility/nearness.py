"""What (ε,δ)^k-dissimilarity a table can satisfy: certified on either side, with the gap between.

Satisfiability is NP-hard, so no formula tells the strongest parameters. Every yes here has groups
in hand, every no a witness. Both reach further than the value that was asked for: what is possible
stays so for a smaller ε or δ, what is impossible for a larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, partial
from math import ceil
from typing import Any

import numpy as np

from wideberth.core.codes import Column
from wideberth.core.exact import Floats, Ints, fraction
from wideberth.core.groups import Groups, Partition
from wideberth.core.memory import bounded
from wideberth.distances import DistanceFunction, Similarity, Space, TreeSimilarity, Windows, space
from wideberth.distances.custom import FunctionDistance
from wideberth.errors import ParameterError
from wideberth.principles import Dissimilarity
from wideberth.principles.dissimilarity import DissimilarityRule
from wideberth.principles.feasibility.gaps import Spacing
from wideberth.principles.partition.decide import (
    PartitionAnswer,
    PartitionVerdict,
    Witness,
    clique_witness,
)
from wideberth.principles.partition.swap import NeighborCap

# -----------------------------------------------------------------------------
# Numbers that are short to write, on the side on which they stay true.


def rounded(value: Fraction, *, up: bool, digits: int = 6) -> Fraction:
    """Return a number that is short to write, on the given side of the exact one.

    >>> rounded(Fraction(2, 3), up=False, digits=2), rounded(Fraction(1200), up=True)
    (Fraction(33, 50), Fraction(1200, 1))
    """
    if value.denominator == 1:
        return value
    with localcontext(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR):
        return Fraction(Decimal(value.numerator) / Decimal(value.denominator))


# -----------------------------------------------------------------------------
# How strong a parameter can be where that is hard to tell: what is certain on either side.


#: Asks for a value: the verdict, and the end that it moves: how far a yes, or a no, is known.
FeasibilityProbe = Callable[[Fraction], tuple[PartitionVerdict, Fraction]]


@dataclass(frozen=True)
class Bracket:
    """Bounds on the strongest value of a parameter; what lies between them is unknown."""

    feasible: Fraction | None  # possible up to here; None if no value is known to be
    infeasible: Fraction | None  # impossible from here on; None if no value is known to be
    attained: bool = True  # whether `feasible` itself is possible, not only what is below
    beyond: bool = False  # whether only values above `infeasible` are impossible, not itself
    every: bool = False  # whether all values are possible

    @property
    def gap(self) -> Fraction | None:
        """How far the two are apart: 0 if nothing is left to know, None if one is not known."""
        if self.every or (self.feasible is None and self.infeasible == 0):
            return Fraction(0)
        if self.feasible is None or self.infeasible is None:
            return None
        return self.infeasible - self.feasible


class BracketSearch:
    """A search that moves both ends of a bracket towards each other."""

    def __init__(
        self,
        low: Fraction,
        high: Fraction | None,
        *,
        top: Fraction,
        between: Callable[[Fraction, Fraction], Fraction],
        close: Callable[[Fraction, Fraction], bool],
    ) -> None:
        # `low` is possible; all from `high` on is impossible; nothing above `top` is asked for.
        self.low, self.high, self.top = low, high, top
        self.between, self.close = between, close

    def ask(self, value: Fraction, probe: FeasibilityProbe) -> PartitionVerdict:
        """Ask for a value, and move an end if the answer is certain."""
        verdict, end = probe(value)
        if verdict == "yes":
            self.low = max(self.low, end)
        elif verdict == "no":
            self.high = end if self.high is None else min(self.high, end)
        return verdict

    def lower(self, probe: FeasibilityProbe, tries: int) -> None:
        """Look for the first no; below it, the answer may be unknown for a while."""
        edge = self.low
        for _ in range(tries):
            high = self.top if self.high is None else self.high
            edge = max(edge, self.low)
            if edge >= high or self.close(edge, high):
                break
            middle = self.between(edge, high)
            if self.ask(middle, probe) != "no":
                edge = middle

    def lift(self, probe: FeasibilityProbe, tries: int, guesses: Iterable[Fraction] = ()) -> None:
        """Look for the last yes, first at some guesses; above it, the answer may be unknown."""
        edge = self.top
        for guess in guesses:
            if self.low < guess <= edge and self.ask(guess, probe) != "yes":
                edge = guess
        for _ in range(tries):
            edge = min(edge, self.top if self.high is None else self.high)
            if self.low >= edge or self.close(self.low, edge):
                break
            middle = self.between(self.low, edge)
            if self.ask(middle, probe) != "yes":
                edge = middle


def halfway(low: Fraction, high: Fraction) -> Fraction:
    """Return a short number about halfway between two others.

    >>> halfway(Fraction(1, 2), Fraction(3, 4))
    Fraction(5, 8)
    """
    middle = (low + high) / 2
    short = rounded(middle, up=False)
    return short if low < short < high else middle


def last_possible(most: int, possible: Callable[[int], bool]) -> int:
    """Return the last possible number from 1 to ``most``, possible ones coming first; else 0.

    >>> last_possible(9, lambda number: number * number < 30)
    5
    """
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if possible(middle):
            low = middle
        else:
            most = middle - 1
    return low


# -----------------------------------------------------------------------------
# Which δ of (ε,δ)^k-dissimilarity a no rules out: all that are larger, and often some more.


#: Rows of which every possible δ is considered.
EXACT_DELTA_ROWS = 1000


def excluded_delta(answer: PartitionAnswer, delta: Fraction, n: int, unit: int) -> Fraction:
    """Return the δ above which a no is certain, from a no for one of them."""
    witness, bound = answer.witness, delta
    if witness is not None and witness.kind == "vertex":
        bound = min(bound, Fraction(n - 1 - witness.rows, unit - 1))
    if witness is not None and witness.kind == "clique":
        bound = min(bound, Fraction(n - witness.rows, n - n // unit))
        if n <= EXACT_DELTA_ROWS:
            return _room(witness, bound, n, unit)
    return _largest_below(delta, n, unit) if n <= EXACT_DELTA_ROWS and bound == delta else bound


def _room(witness: Witness, bound: Fraction, n: int, unit: int) -> Fraction:
    """Return the largest δ that has room for a crowd, by whole rows in groups of any sizes."""
    low, high = Fraction(0), bound
    while high - low > Fraction(1, n * n):
        middle = halfway(low, high)
        if clique_witness(n, witness.rows, NeighborCap.of_share(middle), unit) is None:
            low = middle
        else:
            high = _largest_below(middle, n, unit)
    return high


def _largest_below(delta: Fraction, n: int, unit: int) -> Fraction:
    """Return the largest share below δ that any group of n rows or fewer can reach.

    >>> _largest_below(Fraction(3, 4), 4, 2)
    Fraction(2, 3)
    """
    shares = (Fraction(ceil(delta * others) - 1, others) for others in range(unit - 1, n))
    return max(Fraction(0), *shares)


# -----------------------------------------------------------------------------
# How the risk of a proximity breach grows with ε, in a table that is one single group.


#: Values around all of which neighbours are counted; of a Python function's.
_EACH, _EACH_CALLED = 5000, 400
#: Values around which they are counted beyond that.
_CENTRES, _CENTRES_CALLED = 64, 4


@dataclass(frozen=True)
class RiskCurve:
    """The risk for some ε: the largest share of the others that are near one row."""

    points: tuple[tuple[Fraction, Fraction], ...]  # each ε with its risk
    exact: bool  # False if neighbours of some values only were counted: the true risk may be higher

    def __iter__(self) -> Iterator[tuple[Fraction, Fraction]]:
        """Go through the points."""
        return iter(self.points)

    def __len__(self) -> int:
        """Return how many points there are."""
        return len(self.points)


def risk_curve(space: Space, whole: Groups, distances: Floats, points: int) -> RiskCurve:
    """Compute the risk for at most `points` ε, taken from distances that occur."""
    rows = int(whole.sizes[0])
    called = isinstance(space, FunctionDistance)
    each = len(whole.codes) <= (_EACH_CALLED if called else _EACH)
    spread = np.linspace(0, len(whole.codes) - 1, _CENTRES_CALLED if called else _CENTRES)
    centres = np.unique(np.append(spread.astype(np.int64), whole.counts.argmax()))
    found, exact = [], True
    for epsilon in _epsilons(space, distances, points):
        near = space.within(epsilon)
        if each or isinstance(near, Windows | TreeSimilarity):
            crowd = int(near.crowd(whole).max())
        else:
            exact = False
            crowd = max(_around(near, whole, int(centre)) for centre in centres)
        found.append((epsilon, Fraction(crowd - 1, rows - 1) if rows > 1 else Fraction(1)))
        if found[-1][1] == 1:
            break
    return RiskCurve(tuple(found), exact)


def _around(near: Similarity, whole: Groups, entry: int) -> int:
    """Count the rows that are near one entry's."""
    codes = near.near(int(whole.codes[entry]))
    return int(whole.counts[np.isin(whole.codes, codes, assume_unique=True)].sum())


def _epsilons(space: Space, distances: Floats, points: int) -> list[Fraction]:
    """Choose round steps over most distances, or each of them, if there are few."""
    if len(distances) < points:
        return [Fraction(0), *(fraction(float(d)) for d in distances)]
    end = fraction(float(np.quantile(distances, 0.9)))
    step = rounded(end / (points - 1), up=True, digits=1)
    if bool((distances == np.rint(distances)).all()):  # whole numbers, as of letters to change
        step = Fraction(-(-step.numerator // step.denominator))
    steps = [step * i for i in range(points)]
    return [epsilon for epsilon in steps if space.top is None or epsilon <= space.top]


# -----------------------------------------------------------------------------
# What (ε,δ)^k-dissimilarity a table can satisfy: certified on either side, with the gap between.


#: Rows of a sample that tells first where to look, if there are more.
_SAMPLE = 256
#: Rows that are searched to the end for each value, so that also a no takes the whole search.
_SEARCHED = 30
#: How often an answer may be looked for: in few rows; a no in more; a yes in ever more.
_TRIES, _NOES, _YESES = 40, 10, ((_SEARCHED, 40), (_SAMPLE, 5), (20_000, 2))
#: How near the ends of a bracket must be: of δ as it is, of ε relatively.
_CLOSE = Fraction(1, 100)
#: Values whose distances are looked at, to know where ε may lie.
_SAMPLED = 200
#: Rows of a table that is not in memory that are looked at one by one, at most.
MAX_SEARCHED_ROWS = 4_000_000


@dataclass(frozen=True, eq=False)
class Satisfiability:
    """The answer to whether a table can satisfy (ε,δ)^k-dissimilarity."""

    verdict: PartitionVerdict  # "unknown": no partition was found, and none was ruled out
    # With a yes: the group of each row; of a table not in memory, of its rows in the order of
    # values.
    groups: Ints | None = None
    delta: Fraction | None = None  # with a yes: the δ that these groups reach
    witness: str | None = None  # with a no: the reason

    def __bool__(self) -> bool:
        """Return whether it is known to be possible."""
        return self.verdict == "yes"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "verdict": self.verdict,
            "groups": None if self.groups is None else int(self.groups.max()) + 1,
            "witness": self.witness,
        }


class DissimilarityAdvice:
    """Advice on dissimilarity by one distance, made by `Advice.dissimilarity`."""

    def __init__(
        self,
        column: Column,
        distance: str | DistanceFunction = "auto",
        *,
        max_memory: int | None = None,
        counts: Ints | None = None,
    ) -> None:
        # max_memory: megabytes that distances may take at a time. counts: how many rows hold each
        # code, if the column's own codes are not one for each row.
        self.distance = distance
        self._column = column
        self._at_hand = counts is None
        if counts is None:
            counts = np.bincount(column.codes, minlength=column.domain.size)
        self._counts = counts
        self.rows = int(counts.sum())
        self._max_memory = max_memory
        self._latest: tuple[Fraction, Similarity] | None = None
        self._answers: dict[tuple[Fraction, Fraction, int], Satisfiability] = {}
        with bounded(max_memory):
            self.space: Space = space(column.domain, distance)

    def satisfiable(self, epsilon: float, delta: float, k: int) -> Satisfiability:
        """Return whether some partition satisfies: yes with groups, no with a witness, or unknown.

        >>> from wideberth import advise
        >>> found = advise([1, 2, 3, 4]).dissimilarity().satisfiable(epsilon=1, delta=1, k=2)
        >>> found.verdict, found.groups.tolist()
        ('yes', [0, 1, 0, 1])
        """
        asked = fraction(epsilon), fraction(delta), k
        if asked not in self._answers:
            self._answers[asked] = self._satisfiable(*asked)
        return self._answers[asked]

    def _satisfiable(self, epsilon: Fraction, delta: Fraction, k: int) -> Satisfiability:
        with bounded(self._max_memory):
            rule = self._rule(epsilon, delta, k)
            answer = rule.answer(self._codes)
            if answer.labels is None:
                witness = None if answer.witness is None else str(answer.witness)
                return Satisfiability(answer.verdict, witness=witness)
            labels = answer.labels
            if self._at_hand:
                labels = np.empty_like(answer.labels)
                labels[np.argsort(self._column.codes, kind="stable")] = answer.labels
            reached = self._reached(rule, self._codes, answer.labels)
            return Satisfiability("yes", groups=labels, delta=reached)

    def max_delta(self, epsilon: float, k: int) -> Bracket:
        """Return the largest δ for ε and k: `feasible` is possible, all above `infeasible` not.

        >>> from wideberth import advise
        >>> advise([1, 2, 3, 50]).dissimilarity().max_delta(epsilon=1, k=3).feasible
        Fraction(1, 3)
        """
        # A row with d others near it needs (N - 1 - d) / (k - 1) >= δ, as k - 1 others or more are
        # in its group. Of Q rows all near each other, groups have room for δ floor(N/k) + (1 - δ)
        # N, so (N - Q) / (N - floor(N/k)) >= δ.
        reach = fraction(epsilon)
        with bounded(self._max_memory):
            return self._max_delta(self._codes, self._rule(reach, Fraction(0), k), reach, k)

    def max_epsilon(self, delta: float, k: int) -> Bracket:
        """Return the largest ε for δ and k: up to `feasible` possible, from `infeasible` on not.

        >>> from wideberth import advise
        >>> bracket = advise([1, 2, 3, 50]).dissimilarity().max_epsilon(delta=1, k=2)
        >>> bracket.feasible, bracket.attained, bracket.gap
        (Fraction(2, 1), False, Fraction(0, 1))
        """
        # Of numbers with δ = 1 it is exact, and only what is below it is possible.
        share = fraction(delta)
        with bounded(self._max_memory):
            self._rule(Fraction(0), share, k)  # refuses what makes no sense
            if share == 1 and self.space.name in ("absolute", "relative"):
                return self._spaced(k)
            return self._max_epsilon(self._codes, share, k)

    def max_k(self, epsilon: float, delta: float) -> Bracket:
        """Return the largest k for ε and δ: up to `feasible` possible, above `infeasible` not.

        >>> from wideberth import advise
        >>> advise([1, 1, 2, 2, 3, 3]).dissimilarity().max_k(epsilon=0, delta=1).feasible
        Fraction(3, 1)
        """
        reach, share = fraction(epsilon), fraction(delta)

        def open_(k: int) -> bool:
            return self._rule(reach, share, k).refuted(self._codes).verdict != "no"

        def found(k: int) -> bool:
            return self._asked(self._rule(reach, share, k), self._codes).verdict == "yes"

        with bounded(self._max_memory):
            high = last_possible(self.rows, open_)
            low = high if high and found(high) else last_possible(high - 1, found)
        return Bracket(Fraction(low) if low > 0 else None, Fraction(high), beyond=True)

    def risk_curve(self, points: int = 20) -> RiskCurve:
        """Return the risk of the table as one single group, for at most `points` ε."""
        if points < 2:
            raise ParameterError("points must be a whole number from 2", hint="points=20")
        with bounded(self._max_memory):
            return risk_curve(self.space, self._whole(), self._distances(), points)

    def to_dict(
        self, *, epsilon: float | None = None, delta: float | None = None, k: int = 2
    ) -> dict[str, Any]:
        """Return plain values for JSON: what was asked and the answers; null for the rest."""
        # If anything is rounded, what is possible is rounded down, and what is impossible up.
        asked = epsilon is not None and delta is not None
        curve = self.risk_curve()
        return {
            "distance": self.space.name,
            "epsilon": None if epsilon is None else float(epsilon),
            "delta": None if delta is None else float(delta),
            "k": k,
            "satisfiable": self.satisfiable(epsilon, delta, k).to_dict()  # type: ignore[arg-type]
            if asked
            else None,
            "max_delta": None if epsilon is None else _plain(self.max_delta(epsilon, k)),
            "max_epsilon": None
            if delta is None or epsilon is not None
            else _plain(self.max_epsilon(delta, k)),
            "risk": [[float(e), float(risk)] for e, risk in curve],
            "risk_exact": curve.exact,
        }

    # ---- one table, or a sample of its rows

    def _rule(self, epsilon: Fraction, delta: Fraction, k: int) -> DissimilarityRule:
        principle = Dissimilarity(epsilon=epsilon, delta=delta, k=k, distance=self.distance)  # type: ignore[arg-type]
        return principle.over(self._near(epsilon), self._column.domain.size)

    def _near(self, epsilon: Fraction) -> Similarity:
        """Return who is near whom; δ and k are often asked about for the same ε."""
        if self._latest is None or self._latest[0] != epsilon:
            self._latest = epsilon, self.space.within(epsilon)
        return self._latest[1]

    def _asked(self, rule: DissimilarityRule, codes: Ints) -> PartitionAnswer:
        """Ask for an answer, one of many, so that none of them may take long."""
        return rule.answer(codes, exact=len(codes) <= _SEARCHED)

    @cached_property
    def _codes(self) -> Ints:
        """The code of each row, ascending."""
        if not self._at_hand and self.rows > MAX_SEARCHED_ROWS:
            what = f"dissimilarity is told row by row, and {self.rows:,} rows are too many"
            raise ParameterError(
                what, hint=f"ask about a sample of {MAX_SEARCHED_ROWS:,} rows or fewer"
            )
        return np.repeat(np.arange(len(self._counts)), self._counts)

    def _whole(self) -> Groups:
        held = np.flatnonzero(self._counts)
        return Groups(
            start=np.array([0, len(held)]),
            codes=held,
            counts=self._counts[held].astype(np.int64),
            width=len(self._counts),
        )

    def _reached(self, rule: DissimilarityRule, codes: Ints, labels: Ints) -> Fraction:
        """Return the δ that groups reach; a row that is alone has nobody to be far from."""
        column = Column(codes.astype(np.int32), self._column.domain)
        partition = Partition(labels.astype(np.int32), int(labels.max()) + 1)
        least = Fraction(1)
        for block in partition.histograms(column).blocks():
            far, others = block.sizes - rule.crowd(block), np.maximum(block.sizes - 1, 1)
            worst = int((far / others).argmin())
            least = min(least, Fraction(int(far[worst]), int(others[worst])))
        return least

    def _max_delta(
        self, codes: Ints, loose: DissimilarityRule, epsilon: Fraction, k: int
    ) -> Bracket:
        """Narrow δ down; `loose` is the rule for δ = 0."""
        n, unit = len(codes), max(k, 2)
        if n < k:
            return Bracket(None, Fraction(0))
        whole = np.zeros(n, dtype=np.int64)
        low, high = self._reached(loose, codes, whole), Fraction(1)
        if n < unit:
            return Bracket(low, low, beyond=True)

        def quickly(
            delta: Fraction, *, search: bool = n <= _SEARCHED
        ) -> tuple[PartitionVerdict, Fraction]:
            rule = self._rule(epsilon, delta, k)
            answer = self._asked(rule, codes) if search else rule.refuted(codes)
            if answer.labels is not None:
                return "yes", self._reached(rule, codes, answer.labels)
            return answer.verdict, excluded_delta(answer, delta, n, unit)

        search = BracketSearch(
            low,
            high,
            top=high,
            between=halfway,
            close=lambda one, other: n > EXACT_DELTA_ROWS and other - one <= _CLOSE,
        )
        probe = partial(quickly, search=True)
        if search.ask(high, probe) != "yes":
            bound = high if search.high is None else search.high
            if n <= _SEARCHED:
                search.lower(quickly, _TRIES)
            elif bound < high:  # a row with many neighbours bounds δ, and perhaps a crowd yet more
                search.ask(bound, quickly)
            guesses = [bound if search.high is None else search.high]
            if n > _SAMPLE:
                sample = self._max_delta(_thinned(codes), loose, epsilon, k).feasible or high
                guesses += [sample - less * _CLOSE for less in (1, 4, 10)]
            search.lift(probe, _yeses(n), guesses)
        return Bracket(search.low, search.high, beyond=True)

    def _max_epsilon(self, codes: Ints, delta: Fraction, k: int) -> Bracket:
        distances = self._distances()
        top = self.space.top or rounded(fraction(2 * float(distances.max(initial=0))), up=True)
        n = len(codes)

        def quickly(
            epsilon: Fraction, *, search: bool = n <= _SEARCHED
        ) -> tuple[PartitionVerdict, Fraction]:
            rule = self._rule(epsilon, delta, k)
            answer = self._asked(rule, codes) if search else rule.refuted(codes)
            return answer.verdict, epsilon

        def between(low: Fraction, high: Fraction) -> Fraction:
            inside = distances[(distances > float(low)) & (distances < float(high))]
            if len(inside):  # nothing changes but at a distance that occurs
                middle = fraction(float(inside[len(inside) // 2]))
                if low < middle < high:
                    return middle
            return halfway(low, high)

        probe = partial(quickly, search=True)
        lowest, highest = probe(Fraction(0))[0], probe(top)[0]
        if highest == "yes":
            return Bracket(top, None, every=True)
        if lowest == "no":
            return Bracket(None, Fraction(0))
        search = BracketSearch(
            Fraction(0),
            top if highest == "no" else None,
            top=top,
            between=between,
            close=lambda one, other: other - one <= _CLOSE * other,
        )
        search.lower(quickly, _TRIES if n <= _SEARCHED else _NOES)
        guesses: list[Fraction] = []
        if n > _SAMPLE:
            sample = self._max_epsilon(_thinned(codes), delta, k).feasible or Fraction(0)
            guesses = [sample * (1 - less * _CLOSE) for less in (3, 10, 25)]
        search.lift(probe, _yeses(n), guesses)
        nothing = search.low == 0 and lowest != "yes"
        return Bracket(None if nothing else search.low, search.high)

    def _spaced(self, k: int) -> Bracket:
        """Bound ε by Theorem 1 of (ε,m)-anonymity, with which δ = 1 agrees on numbers."""
        if self.rows < k:
            return Bracket(None, Fraction(0))
        relative = self.space.name == "relative"
        spacing = Spacing.of(self._column.domain, self._counts, relative=relative)
        supremum = spacing.supremum(self.rows // max(k, 2))
        if supremum is None:
            return Bracket(self.space.top, None, every=True)
        if supremum == 0:
            return Bracket(None, supremum)
        return Bracket(supremum, supremum, attained=False)

    def _distances(self) -> Floats:
        """Return some of the distances that occur, ascending, finite ones and not 0."""
        rng = np.random.default_rng(0)  # which of them are looked at is no secret
        known = np.flatnonzero(self._counts[: self._column.domain.known])
        some = np.sort(rng.permutation(known)[:_SAMPLED])
        apart = self.space.apart(some, some)
        if len(known) > len(some):
            apart = np.append(apart, self.space.apart(some[:1], known))
        found = apart[np.isfinite(apart) & (apart > 0)]
        exponent = int(np.frexp(found.max(initial=0))[1]) * 3 // 10
        return np.unique(np.round(found, min(max(12 - exponent, 0), 300)))


def _thinned(codes: Ints) -> Ints:
    """Take a sample of rows that lie evenly among all."""
    return codes[:: -(-len(codes) // _SAMPLE)]


def _yeses(n: int) -> int:
    """Return how often a yes may be looked for among n rows."""
    return next((tries for rows, tries in _YESES if n <= rows), 0)


def _plain(bracket: Bracket) -> dict[str, Any]:
    def end(value: Fraction | None, *, up: bool) -> float | None:
        return None if value is None else float(rounded(value, up=up, digits=12))

    return {
        "feasible": end(bracket.feasible, up=False),
        "feasible_attained": bracket.attained,
        "infeasible": end(bracket.infeasible, up=True),
        "infeasible_itself": not bracket.beyond,
        "gap": end(bracket.gap, up=True),
        "every": bracket.every,
    }
