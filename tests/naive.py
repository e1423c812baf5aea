"""Slow, obvious twins of every principle, straight from the definitions.

Groups are plain lists of values, None for a missing one; arithmetic is in fractions; nothing is
shared with the package. What stands here is to be checked against the papers by reading.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from math import asin, cos, lcm, prod, radians, sin, sqrt
from typing import Any

DAY = 86_400 * 10**6  # microseconds


@dataclass(frozen=True)
class Context:
    """What a verdict may depend on besides the group.

    ``table`` holds the value of every row, ``parents`` the parent of each node of a semantic tree
    (None above the root), ``population`` the number of people who match the group.
    """

    table: Sequence[Any]
    parents: dict[str, str | None] | None = None
    population: int | None = None

    def exact(self, value: Any) -> Fraction:
        """Return a number or date (in days) as its writer meant it."""
        if isinstance(value, datetime):
            since = value - datetime(1970, 1, 1)
            return Fraction(since.days * DAY + since.seconds * 10**6 + since.microseconds, DAY)
        if isinstance(value, date):
            return Fraction(value.toordinal())
        if isinstance(value, float):
            return Fraction(repr(value))
        return Fraction(value)

    def numbers(self, group: Sequence[Any]) -> list[Fraction]:
        """Return the numbers of a group, missing values left out."""
        return [self.exact(v) for v in group if v is not None]


def given(number: Any) -> Fraction:
    """Return a parameter as the decimal that its writer wrote."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


# ---- sizes


def k_anonymity(group: Sequence[Any], context: Context, k: int) -> bool:
    return len(group) >= k


def delta_presence(group: Sequence[Any], context: Context, delta_max: Any, delta_min: Any) -> bool:
    """Nergiz, Atzori, Clifton 2007, Def. 3; a table larger than its population exceeds any δ."""
    if not context.population:
        return False
    return given(delta_min) <= Fraction(len(group), context.population) <= given(delta_max)


# ---- values that need no protection


def harmless(value: Any, allowed: Sequence[Any]) -> bool:
    """Whether a value is allowed; a policy writes values as text, and 1.0 may stand for 1."""

    def read(written: Any) -> Any:
        try:
            return Fraction(str(written))
        except ValueError:
            return str(written)

    return value is not None and read(value) in [read(one) for one in allowed]


def guarded(group: Sequence[Any], allowed: Sequence[Any]) -> list[Any]:
    """The rows that need protection."""
    return [v for v in group if not harmless(v, allowed)]


# ---- equal values


def distinct_l(
    group: Sequence[Any],
    context: Context,
    l: int,  # noqa: E741
    allowed: Sequence[Any] = (),
) -> bool:
    values = {"harmless" if harmless(v, allowed) else (v,) for v in group}
    return values == {"harmless"} or len(values) >= l


def frequency_l(
    group: Sequence[Any],
    context: Context,
    l: Any,  # noqa: E741
    allowed: Sequence[Any] = (),
) -> bool:
    counts = Counter(guarded(group, allowed)).values()
    return max(counts, default=0) * given(l) <= len(group)


def alpha_k(group: Sequence[Any], context: Context, alpha: Any, k: int) -> bool:
    shares = [Fraction(count, len(group)) for count in Counter(group).values()]
    return len(group) >= k and max(shares) <= given(alpha)


def m_uniqueness(group: Sequence[Any], context: Context, m: int) -> bool:
    return len(group) >= m and len(set(group)) == len(group)


def entropy_l(
    group: Sequence[Any],
    context: Context,
    l: Any,  # noqa: E741
    allowed: Sequence[Any] = (),
) -> bool:
    """H >= log l, both sides exponentiated and raised to the power N.

    Allowed values are one, of which any number of rows may be left out.
    """
    own = guarded(group, allowed)
    if not own:
        return True
    for harmless_rows in range(len(group) - len(own) + 1):
        counts = [*Counter(own).values(), *([harmless_rows] if harmless_rows else [])]
        size = sum(counts)
        if prod(Fraction(n, size) ** n for n in counts) * given(l) ** size <= 1:
            return True
    return False


def recursive_cl(
    group: Sequence[Any],
    context: Context,
    c: Any,
    l: int,  # noqa: E741
    allowed: Sequence[Any],
    required: Sequence[Any],
    c2: Any,
) -> bool:
    """Machanavajjhala et al. 2006, Defs. 4.2 to 4.4; values in a policy are text."""
    counts = Counter(group)
    wanted = {str(v) for v in required}
    by_text = {str(v): n for v, n in counts.items() if v is not None}
    if any(by_text.get(v, 0) * 100 < given(c2) * len(group) for v in wanted):
        return False
    rest = [v for v in counts if not harmless(v, allowed)]
    if l == 1 or not rest:
        return True
    top = max(rest, key=counts.__getitem__)
    others = sorted((n for v, n in counts.items() if v != top), reverse=True)
    return counts[top] < given(c) * sum(others[l - 2 :])


def multi_attribute_l(
    group: Sequence[tuple[Any, ...]],
    context: Context,
    l: Any,  # noqa: E741
    form: str,
    c: Any,
) -> bool:
    """Machanavajjhala et al. 2006, Def. 4.5: group again by the other sensitive attributes."""

    def diverse(values: list[Any]) -> bool:
        if form == "recursive":
            return recursive_cl(values, context, c, l, (), (), 0)
        forms = {"distinct": distinct_l, "frequency": frequency_l, "entropy": entropy_l}
        return forms[form](values, context, l)

    for own in range(len(group[0])):
        finer = defaultdict(list)
        for row in group:
            finer[row[:own] + row[own + 1 :]].append(row[own])
        if not all(diverse(values) for values in finer.values()):
            return False
    return True


# ---- numbers


def near(x: Any, y: Any, context: Context, epsilon: Any, relative: bool, e1: Any, e2: Any) -> bool:
    """Whether y lies in the neighbourhood of x; a missing value is near missing ones only."""
    if x is None or y is None:
        return x is y
    x, y = context.exact(x), context.exact(y)
    if epsilon is None:
        return x - given(e1) <= y <= x + given(e2)
    reach = given(epsilon) * (abs(x) if relative else 1)
    return x - reach <= y <= x + reach


def epsilon_m(
    group: Sequence[Any],
    context: Context,
    epsilon: Any,
    m: int,
    relative: bool,
    e1: Any,
    e2: Any,
    allowed: Sequence[Any] = (),
) -> bool:
    """Li, Tao, Xiao 2008, Defs. 7 and 8."""
    nearby, own = (context, epsilon, relative, e1, e2), guarded(group, allowed)
    return all(sum(near(x, y, *nearby) for y in own) * m <= len(group) for x in own)


def maxsize(
    group: Sequence[Any], context: Context, epsilon: Any, relative: bool, e1: Any, e2: Any
) -> int:
    """The most rows of which any two are similar: one is in the neighbourhood of the other."""
    nearby = (context, epsilon, relative, e1, e2)
    for size in range(len(group), 0, -1):
        for rows in combinations(group, size):
            pairs = combinations(rows, 2)
            if all(near(x, y, *nearby) or near(y, x, *nearby) for x, y in pairs):
                return size
    return 0


def delta_l(
    group: Sequence[Any],
    context: Context,
    delta: Any,
    l: Any,  # noqa: E741
    variant: str,
    allowed: Sequence[Any] = (),
) -> bool:
    """`literal`: δ-intervals overlap. `stab`: the fullest closed interval of length 2δ."""
    delta, l = given(delta), given(l)  # noqa: E741
    own = guarded(group, allowed)
    lacking, numbers = own.count(None), context.numbers(own)
    if variant == "literal":
        crowds = [
            sum(x - delta <= y + delta and y - delta <= x + delta for y in numbers) for x in numbers
        ]
    else:
        # A fullest interval can be moved up until it begins with a value.
        crowds = [sum(x <= y <= x + 2 * delta for y in numbers) for x in numbers]
    return max([lacking, *crowds]) * l <= len(group)


def k_e(group: Sequence[Any], context: Context, k: int, e: Any) -> bool:
    numbers = context.numbers(group) or [Fraction(0)]
    return len(set(group)) >= k and max(numbers) - min(numbers) >= given(e)


def variance(group: Sequence[Any], context: Context, t: Any) -> bool:
    numbers = context.numbers(group)
    return variance_of(numbers) >= given(t) if numbers else given(t) == 0


def variance_of(numbers: Sequence[Fraction]) -> Fraction:
    mean = sum(numbers) / Fraction(len(numbers))
    return sum(((x - mean) ** 2 for x in numbers), Fraction(0)) / len(numbers)


# ---- distances


def tree_distance(a: str, b: str, parents: dict[str, str | None]) -> Fraction:
    """((h1 - hc) + (h2 - hc)) / 2 with hc the depth of the lowest common ancestor."""
    one, other = ancestry(a, parents), ancestry(b, parents)
    shared = len(set(one) & set(other))
    return Fraction(len(one) - shared + len(other) - shared, 2)


def ancestry(node: str | None, parents: dict[str, str | None]) -> list[str]:
    """The node and all above it."""
    path = []
    while node is not None:
        path.append(node)
        node = parents[node]
    return path


def distance(a: Any, b: Any, context: Context, kind: Any) -> Fraction | float:
    """The distance of two values that are not missing; a float where it is irrational."""
    if callable(kind):
        return kind(a, b)
    if kind == "auto":
        kind = "absolute"
        if isinstance(a, tuple):
            kind = "variational"
        elif isinstance(a, str):
            kind = "tree" if context.parents else "discrete"
    if kind == "absolute":
        return abs(context.exact(a) - context.exact(b))
    if kind == "relative":
        x, y = context.exact(a), context.exact(b)
        return abs(x - y) / (max(abs(x), abs(y)) or 1)
    if kind == "discrete":
        return Fraction(a != b)
    if kind == "edit":
        return Fraction(edit_distance(a, b))
    if kind == "haversine":
        return haversine(*a, *b)
    if kind == "tree":
        return tree_distance(a, b, context.parents)
    one, other = (
        [context.exact(x) for x in v] if isinstance(v, tuple) else [context.exact(v)]
        for v in (a, b)
    )
    gaps = [abs(x - y) for x, y in zip(one, other, strict=True)]
    if kind == "manhattan":
        return sum(gaps, Fraction(0))
    if kind == "variational":
        return sum(gaps, Fraction(0)) / 2
    if kind == "euclidean":
        return root(sum((gap * gap for gap in gaps), Fraction(0)))
    if kind == "cosine":
        product = sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))
        cosine = root(product**2 / sum(x * x for x in one) / sum(y * y for y in other))
        return 1 - cosine if product > 0 else 1 + cosine
    assert kind == "jensen-shannon"
    return float(divergence(one, other).sqrt())


def root(square: Fraction) -> float:
    """The square root of a number of any size."""
    with localcontext(prec=60):
        return float((Decimal(square.numerator) / square.denominator).sqrt())


def edit_distance(a: str, b: str) -> int:
    """Levenshtein: the fewest letters to insert, delete or replace."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
    return row[-1]


def haversine(north: float, east: float, further: float, aside: float) -> float:
    """Kilometres on a sphere of the Earth's mean radius, 6371.0088 km."""
    a, b = radians(north), radians(further)
    square = sin((a - b) / 2) ** 2 + cos(a) * cos(b) * sin(radians(east - aside) / 2) ** 2
    return 2 * 6371.0088 * asin(min(1.0, sqrt(square)))


def divergence(p: Sequence[Fraction], q: Sequence[Fraction]) -> Decimal:
    """Jensen and Shannon: the mean divergence from the middle, in bits, to 60 digits."""
    with localcontext(prec=60):

        def written(x: Fraction) -> Decimal:
            return Decimal(x.numerator) / x.denominator

        terms = [
            written(x) * (written(x) / written((x + y) / 2)).ln()
            for one, other in ((p, q), (q, p))
            for x, y in zip(one, other, strict=True)
            if x
        ]
        return max(sum(terms, Decimal(0)) / 2 / Decimal(2).ln(), Decimal(0))


def similar(a: Any, b: Any, context: Context, kind: Any, epsilon: Any) -> bool:
    """Whether two values are at distance ε or less; by squares, where roots are irrational."""
    if a is None or b is None:
        return a is b
    reach = given(epsilon)
    if kind in ("jensen-shannon", "haversine"):
        return a == b or distance(a, b, context, kind) <= float(reach) * (1 + 1e-9)
    if kind not in ("euclidean", "cosine"):
        return distance(a, b, context, kind) <= reach
    one, other = (
        [context.exact(x) for x in v] if isinstance(v, tuple) else [context.exact(v)]
        for v in (a, b)
    )
    if kind == "euclidean":
        return sum((x - y) ** 2 for x, y in zip(one, other, strict=True)) <= reach**2
    # 1 - xy / |x||y| <= ε, that is xy >= (1 - ε) |x||y|: a number with its sign, squared.
    product = sum(x * y for x, y in zip(one, other, strict=True))
    lengths = sum(x * x for x in one) * sum(y * y for y in other)
    least = 1 - reach
    return product * abs(product) >= least * abs(least) * lengths


def dissimilarity(
    group: Sequence[Any], context: Context, epsilon: Any, delta: Any, k: int, distance: Any
) -> bool:
    """Wang et al. 2009: the share of *other* rows; a row that is alone has risk 1."""
    if len(group) == 1:
        return k == 1 and given(delta) == 0
    far = [sum(not similar(x, y, context, distance, epsilon) for y in group) for x in group]
    return len(group) >= k and all(n >= given(delta) * (len(group) - 1) for n in far)


def l_e(
    group: Sequence[Any],
    context: Context,
    l: int,  # noqa: E741
    e: Any,
    allowed: Sequence[Any] = (),
) -> bool:
    pairs = combinations(guarded(group, allowed), 2)
    return len(group) >= l and not any(similar(x, y, context, "tree", e) for x, y in pairs)


# ---- t-closeness


def t_closeness(group: Sequence[Any], context: Context, t: Any, distance: str) -> bool:
    """Li, Li, Venkatasubramanian 2007, Def. 2."""
    return closeness(group, context, distance) <= given(t)


def closeness(group: Sequence[Any], context: Context, kind: str) -> Fraction:
    """The earth mover's distance between a group and its table, as a transport problem."""
    return transport(*transport_problem(group, context, kind))


def transport_problem(
    group: Sequence[Any], context: Context, kind: str
) -> tuple[list[Fraction], list[Fraction], list[list[Fraction]]]:
    """Return the group's shares, the table's shares, and the distances between the values."""
    table = Counter(context.table)
    known = [v for v in table if v is not None]
    if kind == "auto":
        numeric = bool(known) and not isinstance(known[0], str | tuple)
        kind = "ordered" if numeric else "equal"
    values = [*(sorted(known, key=context.exact) if kind == "ordered" else known)]
    rank = {v: i for i, v in enumerate(values)}
    if None in table:
        values.append(None)
    depth = {v: len(ancestry(v, context.parents)) - 1 for v in context.parents or ()}

    def ground(a: Any, b: Any) -> Fraction:
        if a == b:
            return Fraction(0)
        if kind == "hierarchical":
            height = max(depth.values())
            if a is None or b is None:
                # A missing value hangs under the root, at distance 1 from the nearest value.
                above = min(depth[v] for v in known)
                return 1 + Fraction(depth[a if b is None else b] - above, 2 * height)
            return tree_distance(a, b, context.parents) / height
        if a is None or b is None or kind == "equal":
            return Fraction(1)
        return Fraction(abs(rank[a] - rank[b]), len(known) - 1)

    here = Counter(group)
    p = [Fraction(here[v], len(group)) for v in values]
    q = [Fraction(table[v], len(context.table)) for v in values]
    return p, q, [[ground(a, b) for b in values] for a in values]


def emd_equal(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """½ Σ |p - q|."""
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2


def emd_ordered(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """1/(K-1) Σ |p1 + … + pi - q1 - … - qi|."""
    total = carried = Fraction(0)
    for a, b in zip(p, q, strict=True):
        carried += a - b
        total += abs(carried)
    return total / max(len(p) - 1, 1)


def transport(
    p: Sequence[Fraction], q: Sequence[Fraction], cost: Sequence[Sequence[Fraction]]
) -> Fraction:
    """The least cost of turning p into q, by successive shortest paths (Bellman-Ford).

    In whole numbers: in fractions, forty values take a minute.
    """
    shares = lcm(*(share.denominator for share in (*p, *q)))
    unit = lcm(*(c.denominator for row in cost for c in row))
    whole = least_cost(
        [int(share * shares) for share in p],
        [int(share * shares) for share in q],
        [[int(c * unit) for c in row] for row in cost],
    )
    return Fraction(whole, shares * unit)


def least_cost(p: Sequence[int], q: Sequence[int], cost: Sequence[Sequence[int]]) -> int:
    """The least cost of turning p into q, all in whole numbers."""
    size = len(p)
    supply, demand = list(p), list(q)
    flow = [[0] * size for _ in range(size)]
    while any(supply):
        # Nodes 0 .. size-1 give, size .. 2*size-1 take; a path may undo an earlier flow.
        length: list[int | None] = [0 if s else None for s in supply] + [None] * size
        before: dict[int, int] = {}
        for _ in range(2 * size):
            known = list(length)
            for i in range(size):
                for j in range(size):
                    there, back = length[i], length[size + j]
                    if there is not None and (back is None or there + cost[i][j] < back):
                        length[size + j], before[size + j] = there + cost[i][j], i
                    back = length[size + j]
                    if (
                        flow[i][j]
                        and back is not None
                        and (there is None or back - cost[i][j] < there)
                    ):
                        length[i], before[i] = back - cost[i][j], size + j
            if length == known:  # nothing becomes shorter any more
                break
        end = min(
            (j for j in range(size) if demand[j] and length[size + j] is not None),
            key=lambda j: length[size + j],
        )
        path = [size + end]
        while path[-1] in before:
            path.append(before[path[-1]])
        steps = list(zip(path[1:], path, strict=False))
        room = [flow[b][a - size] for a, b in steps if a >= size]
        moved = min([supply[path[-1]], demand[end], *room])
        for a, b in steps:
            if a < size:
                flow[a][b - size] += moved
            else:
                flow[b][a - size] -= moved
        supply[path[-1]] -= moved
        demand[end] -= moved
    return sum(flow[i][j] * cost[i][j] for i in range(size) for j in range(size))


# ---- all of them, and partitions

SATISFIES: dict[str, Callable[..., bool]] = {
    "alpha-k": alpha_k,
    "delta-l": delta_l,
    "delta-presence": delta_presence,
    "dissimilarity": dissimilarity,
    "distinct-l": distinct_l,
    "entropy-l": entropy_l,
    "epsilon-m": epsilon_m,
    "frequency-l": frequency_l,
    "k-anonymity": k_anonymity,
    "k-e": k_e,
    "l-e": l_e,
    "m-uniqueness": m_uniqueness,
    "multi-attribute-l": multi_attribute_l,
    "recursive-cl": recursive_cl,
    "t-closeness": t_closeness,
    "variance": variance,
}


def partitions(items: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """All ways to divide the items into parts."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for parts in partitions(rest):
        yield [[first], *parts]
        for i in range(len(parts)):
            yield [*parts[:i], [first, *parts[i]], *parts[i + 1 :]]


def feasible(group: Sequence[Hashable], satisfies: Callable[[Sequence[Any]], bool]) -> bool:
    """Whether some partition has every part satisfy, by trying all of them."""
    known: dict[tuple[int, ...], bool] = {}

    def good(part: list[int]) -> bool:
        key = tuple(part)
        if key not in known:
            known[key] = satisfies([group[i] for i in part])
        return known[key]

    return any(all(map(good, parts)) for parts in partitions(range(len(group))))


# ---- attacks: a victim with a value faces rows


def share(value: Any, rows: Sequence[Any]) -> Fraction:
    """How many of the rows have the victim's value."""
    return Fraction(list(rows).count(value), len(rows))


def share_without(value: Any, rows: Sequence[Any], values: int) -> Fraction:
    """The same after so many other values are ruled out, the most frequent ones."""
    others = Counter(row for row in rows if row != value)
    out = {other for other, _ in others.most_common(values)}
    left = [row for row in rows if row not in out]
    return share(value, left) if left else Fraction(0)


def posterior(victim: str, rest: Sequence[str], prior: dict[tuple[str, str], Fraction]) -> Any:
    """The chance of each value, for a victim of whom q is known, in a table of some people.

    Theorem 3.1 by going through all tables: everybody else has any (q, s) with its prior, whoever
    has a q of the group q* is published in it, and of these nothing but the values is seen.
    ``victim`` is the victim's q, ``rest`` the values seen in q*, that of the victim among them;
    ``prior`` holds the q of the group in its keys, and any others as "outside".
    """
    seen, chances = Counter(rest), Counter()
    people = len(rest)  # one more than are in q* beside the victim
    own = {s: chance for (q, s), chance in prior.items() if q == victim}
    for s, chance in own.items():
        for others in product(prior, repeat=people):
            shown = Counter([s, *(v for q, v in others if q != "outside")])
            if shown == seen:
                chances[s] += chance * prod(prior[other] for other in others)
    return {s: chance / sum(chances.values()) for s, chance in chances.items()}


def fullest(rows: Sequence[Any], context: Context, epsilon: Any, relative: bool) -> int:
    """The most rows in an interval [x - ε, x + ε], or [x - ε|x|, x + ε|x|], for whatever x."""
    numbers, reach = context.numbers(rows), given(epsilon)

    def fit(low: Fraction, high: Fraction) -> bool:
        if not relative:
            return high - low <= 2 * reach
        # If any interval holds both, then one that begins with the one or ends with the other.
        ends = [end / k for end in (low, high) for k in (1, 1 - reach, 1 + reach) if k]
        return any(x - reach * abs(x) <= low and high <= x + reach * abs(x) for x in ends)

    return max(
        (
            sum(a <= x <= b for x in numbers)
            for a in numbers
            for b in numbers
            if a <= b and fit(a, b)
        ),
        default=0,
    )


def shortest(rows: Sequence[Any], context: Context, confidence: Fraction) -> Fraction | None:
    """The length of the shortest interval with so large a share of the rows."""
    numbers = context.numbers(rows)
    lengths = [
        b - a
        for a in numbers
        for b in numbers
        if a <= b and sum(a <= x <= b for x in numbers) >= confidence * len(rows)
    ]
    return min(lengths, default=None)


def kind(value: Any, context: Context, level: int) -> str | None:
    """The node so many steps below the root that the value is at or below."""
    if value is None or context.parents is None:
        return None
    path = ancestry(value, context.parents)[::-1]
    return path[level] if level < len(path) else None


def near_others(
    value: Any, rows: Sequence[Any], context: Context, distance: Any, epsilon: Any
) -> Fraction:
    """The share of the other rows that are near the victim's, whose row is one of them if any."""
    others = list(rows)
    if value in others:
        others.remove(value)
    if not others:
        return Fraction(1)
    return Fraction(
        sum(similar(value, other, context, distance, epsilon) for other in others), len(others)
    )


def told_exactly(
    person: dict[str, Any],
    on: str,
    others: Sequence[str],
    release: Sequence[dict[str, Any]],
    covers: Callable[[Any, Any], bool],
) -> Fraction:
    """Return the share of the rows an adversary faces that say exactly a person's value.

    The adversary knows the person's other quasi-identifiers: the rows faced are those whose labels
    cover them.
    """
    faced = [row for row in release if all(covers(row[name], person[name]) for name in others)]
    return Fraction(sum(row[on] == str(person[on]) for row in faced), max(len(faced), 1))


def unnumbered(result):
    """A check's result as JSON has it, without the numbers of groups: engines know none."""
    told = result.to_dict()
    for principle in told["principles"]:
        for group in principle["worst"]:
            del group["number"]
    return told
