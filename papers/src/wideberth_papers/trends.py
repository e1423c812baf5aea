"""What measured points say about a claim: whether they grow, stay below, peak in between.

A claim of a paper is often several. Each is found to hold, to hold with differences, or to fail;
or it stays open, because table or clock cannot tell. Together they make the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import combinations
from statistics import fmean
from typing import Literal, NamedTuple, TypeAlias

from wideberth.core.text import counted, percent
from wideberth_papers.study import Rows, Verdict, Word

#: What is measured where: x and y.
Points: TypeAlias = Sequence[tuple[float, float]]
#: How a y is written.
Form: TypeAlias = Callable[[float], str]

#: So many pairs of points in the claimed order are a trend, though not all are.
_MOST = 0.75
#: Times that differ by no larger a factor may do so by chance.
_CHANCE = 1.5
#: The same as what a time may go back and still count as equal.
_WITHIN = 1 - 1 / _CHANCE

State: TypeAlias = Literal["holds", "differs", "fails", "open", "aside"]


class Finding(NamedTuple):
    """What became of one part of a claim.

    Parameters
    ----------
    state : str
        "holds", "differs", "fails"; "open" if table or clock cannot tell; "aside" if it is no part
        of the claim, but worth knowing.
    said : str
        A sentence with the figures, from a capital letter to a full stop.
    against : str, optional
        The counterexample, where it fails.
    """

    state: State
    said: str
    against: str | None = None


def together(findings: Sequence[Finding]) -> Verdict:
    """Judge a claim by its parts, the main one first.

    One that fails contradicts it, whatever the others do. If the main one is open, so is the
    claim; if another is, the claim is confirmed but for that.

    Examples
    --------
    >>> together([Finding("holds", "It grows."), Finding("open", "Too small.")]).word
    'confirmed with differences'
    >>> together([Finding("holds", "It grows."), Finding("fails", "It does not end.", "5 at 7")])
    Verdict(word='contradicted', because='It grows. It does not end.', counterexample='5 at 7')
    """
    states = {finding.state for finding in findings}
    word: Word = "confirmed"
    if "fails" in states:
        word = "contradicted"
    elif findings[0].state == "open":
        word = "not tested here"
    elif states & {"differs", "open"}:
        word = "confirmed with differences"
    against = "; ".join(f.against for f in findings if f.state == "fails" and f.against)
    return Verdict(word, " ".join(finding.said for finding in findings), against or None)


def if_measured(judge: Callable[[Rows], Verdict]) -> Callable[[Rows], Verdict]:
    """Let a judge say nothing where nothing was measured.

    Examples
    --------
    >>> if_measured(lambda rows: Verdict("confirmed", "All of them."))([]).word
    'not tested here'
    """

    @wraps(judge)
    def careful(rows: Rows) -> Verdict:
        return judge(rows) if rows else Verdict("not tested here", "Nothing was measured.")

    return careful


def share_in_order(points: Points, *, falling: bool = False, slack: float = 0.05) -> float:
    """Return the share of pairs of points whose y grows with x, or nearly.

    Parameters
    ----------
    points : sequence of pairs
        x and y, by ascending x.
    falling : bool
        Whether y is to fall instead.
    slack : float
        How much of itself y may go the other way and still count as equal.

    Examples
    --------
    >>> share_in_order([(1, 2.0), (2, 4.0), (3, 3.0)])
    0.6666666666666666
    """
    ys = [y for _, y in points]
    pairs = [(b, a) if falling else (a, b) for a, b in combinations(ys, 2)]
    return sum(b >= a * (1 - slack) for a, b in pairs) / len(pairs) if pairs else 1.0


def trend(
    points: Points,
    name: str,
    form: Form = percent,
    *,
    sign: str = "",
    falling: bool = False,
    slack: float = 0.05,
    flat: Literal["fails", "differs"] = "fails",
    enough: bool = True,
) -> Finding:
    """Find out whether y grows with x, or falls.

    Parameters
    ----------
    points : sequence of pairs
        x and y, by ascending x.
    name : str
        What y is, with a capital letter.
    form : callable
        How y is written; x is written as it is.
    sign : str
        What x is called: "ε".
    falling, slack
        See `share_in_order`. From the first to the last point y must move by more than the slack.
    flat : str
        What becomes of the claim if y moves by less, and nowhere back by more: where the slack is
        that of chance, the trend may be there and be hidden by it.
    enough : bool
        Whether the table is large enough for the lack of a trend to mean anything.

    Examples
    --------
    >>> trend([(1, 0.1), (2, 0.2), (3, 0.4)], "The error", "{:.2f}".format, sign="m").said
    'The error goes from 0.10 at m = 1 to 0.40 at 3, and nowhere back.'
    >>> trend([(1, 0.1), (2, 0.1), (3, 0.1)], "The error").state
    'fails'
    >>> trend([(1, 5.0), (2, 5.2), (3, 5.6)], "The error", slack=0.2, flat="differs").state
    'differs'
    """
    if len(points) < 3:
        return _few(points, name)
    if not any(y for _, y in points):
        return Finding("open", f"{name} is {form(0.0)} everywhere: there is nothing to change.")
    first, last = points[0], points[-1]
    moved = last[1] < first[1] * (1 - slack) if falling else last[1] * (1 - slack) > first[1]
    path = f"goes {_path(first, last, form, sign)}"
    share = share_in_order(points, falling=falling, slack=slack)
    if share == 1.0 and moved:
        exactly = share_in_order(points, falling=falling, slack=0) == 1.0
        by = "" if exactly else f" by more than {percent(slack)}"
        return Finding("holds", f"{name} {path}, and nowhere back{by}.")
    if share == 1.0:
        path += f", no change beyond {percent(slack)}"
        against = path
        if flat == "differs" and enough:
            return Finding("differs", f"{name} {path}.")
    else:
        worst = _worst(points, falling)
        against = f"goes {_path(*worst, form, sign)}"
        if share >= _MOST and moved:
            return Finding("differs", f"{name} {path}, but in between {against[5:]}.")
        path += "" if worst == (first, last) else f", but also {against[5:]}"
    if not enough:
        return Finding("open", f"{name} {path}: the table is too small to tell.")
    return Finding("fails", f"{name} {path}.", f"{_small(name)} {against}")


def quicker(points: Points, name: str, form: Form) -> Finding:
    """Find out whether times fall with x, beyond what may be chance.

    Means of the first and of the last half are compared, so that no single time decides.

    Examples
    --------
    >>> quicker([(1, 4.0), (2, 3.0), (3, 2.0), (4, 1.0)], "The time", "{:g} s".format).said
    'The time falls from 3.5 s to 1.5 s, by means of the first and the last 2 points.'
    >>> quicker([(1, 1.1), (2, 1.2), (3, 1.0), (4, 1.1)], "The time", "{:g} s".format).state
    'open'
    """
    if len(points) < 3:
        return _few(points, name)
    ys = [y for _, y in points]
    half = len(ys) // 2
    early, late = fmean(ys[:half]), fmean(ys[-half:])
    means = f"{form(early)} to {form(late)}, by means of the first and the last {half} points"
    if early >= _CHANCE * late:
        said = f"{name} falls from {means}"
        if share_in_order(points, falling=True, slack=_WITHIN) == 1.0:
            return Finding("holds", f"{said}.")
        return Finding("differs", f"{said}, but not at every step.")
    if late >= _CHANCE * early:
        return Finding("fails", f"{name} rises from {means}.", f"{_small(name)} rises from {means}")
    return Finding("open", f"{name} goes from {means}: no difference beyond noise.")


def peak(points: Points, name: str, form: Form) -> Finding:
    """Find out whether times first rise and then fall, beyond what may be chance.

    A rise or a fall is seen if two points show it: one alone may be chance. It is contradicted if
    times go the other way from the first third of the points to those between, or from these to
    the last third. What is neither stays open.

    Examples
    --------
    >>> peak([(1, 1.0), (2, 3.0), (3, 2.0), (4, 1.3), (5, 1.0)], "It", "{:g} s".format).said
    'It is 1 s at 1, rises to 3 s at 2, and falls to 1 s at 5.'
    >>> peak([(1, 5.0), (2, 4.0), (3, 3.0), (4, 2.0), (5, 1.0)], "It", "{:g} s".format).against
    'it takes 5 s on average up to 1, but 3 s from 2 to 4'
    >>> peak([(1, 1.0), (2, 1.2), (3, 1.2), (4, 1.0), (5, 0.9)], "It", "{:g} s".format).state
    'open'
    """
    if len(points) < 5:
        return _few(points, name)
    ys = [y for _, y in points]
    high = sorted(ys)[-2]
    rises, falls = high >= _CHANCE * ys[0], high >= _CHANCE * max(ys[-2:])
    top = ys.index(max(ys))
    (x, first), (y, most), (z, last) = points[0], points[top], points[-1]
    if rises and falls:
        said = (
            f"{name} is {form(first)} at {x:g}, rises to {form(most)} at {y:g}, and falls to "
            f"{form(last)} at {z:g}"
        )
        before = share_in_order(points[: top + 1], slack=_WITHIN)
        after = share_in_order(points[top:], falling=True, slack=_WITHIN)
        if before == after == 1.0:
            return Finding("holds", f"{said}.")
        return Finding("differs", f"{said}, though not at every step.")
    said = f"{name} is {form(first)} at {x:g}, at most {form(most)} at {y:g}"
    said += f", and {form(last)} at {z:g}"
    third = len(points) // 3
    early, middle, late = points[:third], points[third:-third], points[-third:]
    between = f"{form(_mean(middle))} from {middle[0][0]:g} to {middle[-1][0]:g}"
    # The end and what is next to it: neither decides alone.
    if not rises and min(first, _mean(early)) >= _CHANCE * _mean(middle):
        against = f"takes {form(_mean(early))} on average up to {early[-1][0]:g}, but {between}"
        return Finding("fails", f"{said}: it falls at once.", f"{_small(name)} {against}")
    if not falls and min(last, _mean(late)) >= _CHANCE * _mean(middle):
        against = f"takes {between} on average, but {form(_mean(late))} from {late[0][0]:g} on"
        return Finding("fails", f"{said}: it rises to the end.", f"{_small(name)} {against}")
    if rises:
        seen = "it rises, but does not fall after,"
    else:
        seen = "it falls, but does not rise before," if falls else "it neither rises nor falls"
    return Finding("open", f"{said}: {seen} by more than may be chance.")


def below(
    points: Sequence[tuple[str, float]],
    limit: float,
    name: str,
    form: Form = percent,
    *,
    promised: bool = False,
    enough: bool = True,
) -> Finding:
    """Find out whether y stays within a limit.

    A limit that a paper has seen on its own table is no promise: beyond it, another table differs.

    Parameters
    ----------
    points : sequence of pairs
        Where, in words ("at 5"), and what is measured there.
    limit : float
        The largest that y may be.
    name, form
        See `trend`.
    promised : bool
        Whether the limit is to hold whatever the table, so that what is beyond contradicts it.
    enough : bool
        Whether the table is large enough for the limit.

    Examples
    --------
    >>> points = [("at 1", 0.1), ("at 2", 0.2)]
    >>> [below(points, 0.15, "The error", promised=p).state for p in (False, True)]
    ['differs', 'fails']
    """
    if not points:
        return Finding("open", f"{name} is not known anywhere.")
    where, most = max(points, key=lambda point: point[1])
    said = f"{name} is at most {form(most)}, {where}"
    if most <= limit:
        return Finding("holds", f"{said}.")
    beyond = f"{said}, beyond {form(limit)}"
    if not enough:
        return Finding("open", f"{beyond}, but the table is smaller than the paper's.")
    if not promised:
        return Finding("differs", f"{beyond}; but the table is not the paper's.")
    return Finding("fails", f"{beyond}.", f"{_small(name)} is {form(most)} {where}")


def _few(points: Points, name: str) -> Finding:
    return Finding("open", f"{name} is known at {counted(len(points), 'point')} only.")


def _path(begin: tuple[float, float], end: tuple[float, float], form: Form, sign: str) -> str:
    named = f"{sign} = " if sign else ""
    return f"from {form(begin[1])} at {named}{begin[0]:g} to {form(end[1])} at {end[0]:g}"


def _mean(points: Points) -> float:
    return fmean(y for _, y in points)


def _small(sentence: str) -> str:
    return f"{sentence[0].lower()}{sentence[1:]}"


def _worst(points: Points, falling: bool) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the two points whose y goes the wrong way the most, in proportion."""
    return max(combinations(points, 2), key=lambda pair: _back(pair[0][1], pair[1][1], falling))


def _back(earlier: float, later: float, falling: bool) -> float:
    high, low = (later, earlier) if falling else (earlier, later)
    return high / low if low > 0 else float(high > 0)
