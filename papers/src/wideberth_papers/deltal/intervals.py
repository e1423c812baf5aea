"""What the study of (δ,l)-diversity measures: groups of numbers, and how full their intervals are.

`literal` is the principle as its paper prints it: no value has more than 1/l of its group within
2δ. `stab` is its monotone repair: no interval of length 2δ holds more than 1/l of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.checks.check import check
from wideberth.errors import InfeasibleError, VerificationError
from wideberth.release.anonymize import anonymize
from wideberth.utility.queries import query_error
from wideberth_papers.sources import Shape
from wideberth_papers.study import Row

_Values = npt.NDArray[np.int64]
_Verdicts = npt.NDArray[np.bool_]


def literal(delta: float, ell: float) -> str:
    """Name the principle as printed.

    >>> literal(0.5, 2)
    'delta-l:delta=0.5,l=2,variant=literal'
    """
    return f"delta-l:delta={delta},l={ell},variant=literal"


def stab(delta: float, ell: float) -> str:
    """Name its monotone repair."""
    return f"delta-l:delta={delta},l={ell}"


def near(epsilon: float, ell: float) -> str:
    """Name (ε,m)-anonymity, with l for m."""
    return f"epsilon-m:epsilon={epsilon},m={ell}"


def judged(groups: Sequence[Sequence[float]] | _Values, principles: Sequence[str]) -> _Verdicts:
    """Tell which groups satisfy which principles: a row a principle.

    Examples
    --------
    >>> judged([[0, 2], [1, 3], [0, 1, 2, 3]], [literal(0.5, 2), stab(0.5, 2)])
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    sizes = [len(group) for group in groups]
    frame = pl.DataFrame(
        {"group": np.repeat(np.arange(len(groups)), sizes), "value": np.concatenate(groups)}
    )
    return _satisfied(frame, ["group"], "value", principles)


def _satisfied(
    frame: pl.DataFrame, by: Sequence[str], sensitive: str, principles: Sequence[str]
) -> _Verdicts:
    """Tell the same of a table, whose groups are told by one column, or by quasi-identifiers."""
    told: dict[str, Any] = {"group": by[0]} if len(by) == 1 else {"quasi": list(by)}
    result = check(frame, sensitive=sensitive, principles=list(principles), worst=0, **told)
    table: pl.DataFrame = result.table
    if len(by) == 1:
        table = table.sort(by[0])
    verdicts = [name for name, kind in table.schema.items() if kind == pl.Boolean]
    return np.array([table[name].to_numpy() for name in verdicts], dtype=bool)


def rated(group: Sequence[float], principle: str) -> float:
    """Return the l, or m, that a group reaches.

    >>> rated([490, 500, 510, 1000], literal(10, 2))
    1.3333333333333333
    """
    frame = pl.DataFrame({"group": ["E"] * len(group), "value": list(group)})
    report = check(frame, group="group", sensitive="value", principles=principle).principles[0]
    return report.achieved["m" if principle.startswith("epsilon-m") else "l"]


# ---- unions, and what implies what


def chained(verdicts: _Verdicts) -> Row:
    """Count where one principle should imply the next, and where it does not.

    Parameters
    ----------
    verdicts : array of bool
        Of stab(2δ), literal(δ), stab(δ) and (δ,l)-anonymity on the same groups.

    Examples
    --------
    >>> chained(np.array([[1, 0], [1, 0], [1, 1], [1, 1]], dtype=bool))["implied"]
    4
    """
    given, then = verdicts[:-1], verdicts[1:]
    return {"implied": int(given.sum()), "broken": int((given & ~then).sum())}


def united(size: int, delta: float, ell: int, groups: int, rng: np.random.Generator) -> Row:
    """Draw random groups, and see whether unions of two that satisfy a principle still do.

    Parameters
    ----------
    size : int
        Rows of a group; their values are whole numbers from 0 to 99.
    delta, ell : number
        Of the principles.
    groups : int
        How many to draw.
    rng : numpy.random.Generator
        Draws.

    Returns
    -------
    dict
        For `literal` and `stab` how many groups pass, how many unions of two of them were looked
        at and how many of these fail; what `chained` counts; and how many groups are judged
        otherwise by (2δ,l)-anonymity than by `literal`.
    """
    drawn = rng.integers(0, 100, (groups, size))
    asked = [stab(2 * delta, ell), literal(delta, ell), stab(delta, ell), near(delta, ell)]
    verdicts = judged(drawn, [*asked, near(2 * delta, ell)])
    row: Row = {"size": size, "delta": delta, "l": ell, "groups": groups, **chained(verdicts[:-1])}
    row["judged_otherwise"] = int((verdicts[1] != verdicts[-1]).sum())
    for name, place in (("literal", 1), ("stab", 2)):
        passing = rng.permutation(np.flatnonzero(verdicts[place]))
        pairs = passing[: len(passing) // 2 * 2].reshape(-1, 2)
        unions = drawn[pairs].reshape(len(pairs), 2 * size)
        failed = 0 if not len(pairs) else int((~judged(unions, [asked[place]])[0]).sum())
        if name == "stab" and failed:  # it is proven to be monotone
            raise VerificationError(f"{failed} unions do not satisfy {asked[place]}")
        row |= {
            f"{name}_pass": len(passing),
            f"{name}_unions": len(pairs),
            f"{name}_failed": failed,
        }
    return row


# ---- releases


def released(
    table: pl.DataFrame, shape: Shape, delta: float, ell: int, principle: str, seed: int
) -> Row:
    """Make a release, and measure it.

    Returns
    -------
    dict
        `ncp`, the loss, as a share; `query_error`, the mean relative error of counts; `leaves` of
        the splitting and `groups`, which are more if leaves had to be dealt; CPU `seconds`; what
        `chained` counts on its groups. None if there is no such release.
    """
    (sensitive,) = shape.sensitive
    begin = process_time()
    try:
        release = anonymize(
            table,
            quasi=list(shape.quasi),
            sensitive=sensitive,
            principles=principle,
            seed=seed,
            trials=False,
        )
    except InfeasibleError:
        names = ("ncp", "query_error", "leaves", "groups", "seconds", "implied", "broken")
        return dict.fromkeys(names)
    seconds = process_time() - begin
    frame = release.table
    by = ["group"] if "group" in frame.columns else list(shape.quasi)
    chain = [stab(2 * delta, ell), literal(delta, ell), stab(delta, ell), near(delta, ell)]
    error = query_error(table, release=release)
    return {
        "ncp": release.manifest["loss"]["ncp_percent"] / 100,
        "query_error": error.mean if error.left_out < error.queries else None,
        "leaves": release.manifest["leaves"],
        "groups": release.manifest["groups"],
        "seconds": seconds,
        **chained(_satisfied(frame, by, sensitive, chain)),
    }


def whole(table: pl.DataFrame, sensitive: str, principle: str) -> bool:
    """Tell whether a table satisfies a principle as one group: where splitting begins."""
    one = table.select(sensitive, group=pl.lit(0))
    return check(one, group="group", sensitive=sensitive, principles=principle, worst=0).satisfied


# ---- checking


def printed(
    values: Sequence[float], delta: float, ell: float, *, closed: bool = True
) -> bool | None:
    """Decide about ascending values as the paper's Figure 3 does; None if it divides by zero.

    It moves the ends of the window of values whose intervals overlap that of one value, from value
    to value, until the window reaches the last.

    Parameters
    ----------
    values : sequence of float
        Those of a class, ascending.
    delta, ell : float
        Of the principle.
    closed : bool
        Whether the second comparison is ≤. In our copy of the paper both are <.

    Examples
    --------
    >>> printed([1, 3, 9], 3, 1.5), printed([1, 3, 9], 3, 1.5, closed=False), printed([7], 1, 2)
    (False, True, True)
    """
    rows = len(values)
    reached = inf
    for first, end, _ in _windows(values, delta, closed=closed):
        if end == first:
            return None
        reached = min(reached, rows / (end - first))
    return reached >= ell


def moves(values: Sequence[float], delta: float) -> int:
    """Count how often the paper's code goes on by a value, with any of its three places.

    >>> moves([1, 3, 9], 3), moves([7], 1)
    (4, 0)
    """
    return sum(moved for _, _, moved in _windows(values, delta, closed=True))


def _windows(
    values: Sequence[float], delta: float, *, closed: bool
) -> Iterator[tuple[int, int, int]]:
    """Yield the ends of each window, and how many moves it took."""
    rows = len(values)
    first, end, at = 0, 1, 0
    while end < rows:
        moved = 1
        while values[first] + delta < values[at] - delta:
            first += 1
            moved += 1
        high = values[at] + delta
        while end < rows and (
            values[end] - delta < high or (closed and values[end] - delta == high)
        ):
            end += 1
            moved += 1
        yield first, end, moved
        at += 1


def misjudged(values: str, classes: int, delta: float, ell: int, rng: np.random.Generator) -> Row:
    """Count the random classes that the printed code judges otherwise than the definition.

    Parameters
    ----------
    values : str
        "whole numbers" from 0 to 20, or "real numbers" between.
    classes : int
        How many, of one to eight rows.
    delta, ell : number
        Of the principle.
    rng : numpy.random.Generator
        Draws.
    """
    sizes = rng.integers(1, 9, classes)
    draw: Any = rng.integers if values == "whole numbers" else rng.uniform
    drawn = [sorted(draw(0, 20, size).tolist()) for size in sizes]
    by_definition = judged(drawn, [literal(delta, ell)])[0]
    row: Row = {"case": f"random, {values}", "delta": delta, "l": ell, "classes": classes}
    wrong, wrong_open = (
        np.array([printed(group, delta, ell, closed=closed) for group in drawn]) != by_definition
        for closed in (True, False)
    )
    return row | {
        "misjudged": int(wrong.sum()),
        "of_one_row": int((wrong & (sizes == 1)).sum()),
        "misjudged_open": int(wrong_open.sum()),
    }


def timed(size: int, rng: np.random.Generator) -> Iterator[Row]:
    """Measure how long it takes to check one class of so many ascending values.

    As many values are distinct, in relation, whatever the size; an interval of length 2δ holds
    about half a percent of them. CPU seconds, the least of two, after a call that warms up.
    """
    values = np.sort(rng.integers(0, size, size))
    frame = pl.DataFrame({"group": np.zeros(size, dtype=np.int8), "value": values})
    ascending = values.tolist()
    delta = size // 400

    def check_all(principle: str, frame: pl.DataFrame) -> None:
        check(frame, group="group", sensitive="value", principles=principle, worst=0)

    yield {
        "size": size,
        "way": "the printed code, in Python",
        "moves_a_row": moves(ascending, delta) / size,
        "seconds": _least(lambda: printed(ascending, delta, 2)),
    }
    for way, principle in (("check, literal", literal(delta, 2)), ("check, stab", stab(delta, 2))):
        check_all(principle, frame.head(1000))
        seconds = _least(partial(check_all, principle, frame))
        yield {"size": size, "way": way, "moves_a_row": None, "seconds": seconds}


def _least(work: Callable[[], object]) -> float:
    """Return the CPU seconds of the faster of two runs."""
    taken = []
    for _ in range(2):
        begin = process_time()
        work()
        taken.append(process_time() - begin)
    return min(taken)
