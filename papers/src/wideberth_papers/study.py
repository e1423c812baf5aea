"""What a reproduction is made of: steps that measure, figures that show and judge.

A study is one paper. Its steps are run one after the other; each returns rows, plain values by
name, which are kept in a file, so that an interrupted study goes on where it stopped. Its figures
read these rows, and nothing else: which of them belong to a figure of the paper, how they are
drawn, and what they say about the paper's claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from wideberth_papers.sources import Source

#: What was measured at one point: numbers, texts and truth values by name; None where there is
#: nothing, such as the error of a method that is impossible here.
Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = list[Row]
#: A Vega-Lite specification, or a part of one.
Spec: TypeAlias = dict[str, Any]


def chosen(rows: Rows, columns: Iterable[str], **wanted: object) -> Rows:
    """Return some columns of the rows in which others have the wanted values.

    >>> chosen([{"x": 1, "y": 2, "of": "a"}, {"x": 3, "y": 4, "of": "b"}], ["y"], of="b")
    [{'y': 4}]
    """
    names = tuple(columns)
    found = [row for row in rows if all(row.get(name) == is_ for name, is_ in wanted.items())]
    return [{name: row[name] for name in names} for row in found]


Word: TypeAlias = Literal[
    "confirmed", "confirmed with differences", "contradicted", "not tested here"
]

#: The scale of verdicts. Pages print it, and judges go by it: see `graded`.
SCALE: dict[Word, str] = {
    "confirmed": "all of it was tested and holds",
    "confirmed with differences": "it holds, but not in every point (in half of them or more; of a "
    "trend, in three quarters of all pairs of points), or by another amount, or a part of it "
    "cannot be tested on this table",
    "contradicted": "it holds in fewer points, or something that it says of all cases, as a "
    "theorem does, fails in one; with what contradicts it",
    "not tested here": "table or machine cannot tell",
}


def graded(holds: int, of: int) -> Word:
    """Apply the scale to a claim that holds in so many of the points where it was tested.

    >>> [graded(holds, 4) for holds in (4, 3, 2, 1)]
    ['confirmed', 'confirmed with differences', 'confirmed with differences', 'contradicted']
    >>> graded(0, 0)
    'not tested here'
    """
    if not 0 <= holds <= of:
        raise ValueError(f"{holds} of {of} points")
    if not of:
        return "not tested here"
    if holds == of:
        return "confirmed"
    return "confirmed with differences" if 2 * holds >= of else "contradicted"


@dataclass(frozen=True)
class Verdict:
    """What became of a claim.

    Parameters
    ----------
    word : str
        One of the `SCALE`, which says what it means.
    because : str
        The figures it rests on, in a sentence or two, taken from the rows.
    counterexample : str, optional
        What contradicts the claim, so that anybody can check it: given exactly if it is.

    Examples
    --------
    >>> Verdict("contradicted", "It is not so.")
    Traceback (most recent call last):
    ValueError: a verdict has a counterexample exactly if it is "contradicted"
    """

    word: Word
    because: str
    counterexample: str | None = None

    def __post_init__(self) -> None:
        """Refuse to contradict without an example, or to confirm with one."""
        if (self.word == "contradicted") != bool(self.counterexample):
            raise ValueError('a verdict has a counterexample exactly if it is "contradicted"')


class Step(NamedTuple):
    """Something to measure, on its own and with the same result whenever it is run.

    Parameters
    ----------
    key : str
        What is measured, in words: shown as progress, and different from every other step's.
    run : callable
        Measures it. The random numbers it needs depend on the seed of the setting and on what is
        measured, not on the steps before.
    """

    key: str
    run: Callable[[], Iterable[Row]]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure or table of the paper, made anew.

    Parameters
    ----------
    name : str
        Of small letters, digits and hyphens: files are called by it.
    title : str
        What it shows, beginning with the paper's own number of it: "Figure 4a: …".
    claim : str
        What the paper says, in our words; or what we say.
    select : callable
        Which rows belong to it, and which of their columns, in the order of the figure.
    judge : callable
        From these rows to the verdict on the claim.
    draw : callable, optional
        From these rows to a picture. Without one the page shows them as a table.
    ours : bool
        Whether the claim is ours.
    note : str
        What we do differently from the paper, or what a reader must know to read the figure.
    """

    name: str
    title: str
    claim: str
    select: Callable[[Rows], Rows]
    judge: Callable[[Rows], Verdict]
    draw: Callable[[Rows], Spec] | None = None
    ours: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How a study is to be run.

    Parameters
    ----------
    rows : int, optional
        How many rows the tables are to have, at most; by default as many as the paper's.
    seed : int
        Equal seeds give equal figures, times apart.
    given : sequence of path
        Tables to use instead of made-up ones, if they fit.
    """

    rows: int | None = None
    seed: int = 2008
    given: Sequence[str] = ()


class Plan(NamedTuple):
    """A study with its table: what is to be measured on it, and shown."""

    source: Source | None
    steps: Sequence[Step]
    figures: Sequence[Figure]


@dataclass(frozen=True, kw_only=True)
class Study:
    """The experiments of one paper.

    Parameters
    ----------
    name : str
        As on the command line.
    paper : str
        Authors, title, where and when.
    about : str
        What its experiments are about, in a sentence.
    plan : callable
        From a setting to the plan. It may read a table's header, but does nothing that takes
        long: tables are read or made when the first step needs them.
    """

    name: str
    paper: str
    about: str
    plan: Callable[[Setting], Plan]
