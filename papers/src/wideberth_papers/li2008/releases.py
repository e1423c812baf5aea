"""What Li, Tao and Xiao measure: the errors and times of releases under (ε,m)-anonymity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import fmean
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
import polars as pl

from wideberth.errors import InfeasibleError
from wideberth.release.anonymize import anonymize
from wideberth.release.release import Release
from wideberth.utility.perturbation import retention
from wideberth_papers.li2008.grounds import Asked, Ground
from wideberth_papers.sources import Source
from wideberth_papers.study import Row

PAPER, BEST, MATCHING = "paper's algorithm", "best cuts", "best cuts and matching"
PERTURBATION = "perturbation"
#: How each method makes its groups: cuts and dealing.
_HOW = {PAPER: ("paper", "rank"), BEST: ("best", "rank"), MATCHING: ("best", "matching")}
ABSOLUTE, RELATIVE = "absolute", "relative"
#: Queries a point: fewer on tables so small that they tell little anyway. These are timed once.
QUERIES, _FEW_QUERIES, SMALL = 1000, 200, 5000
#: Times of groupings are taken so often, but once if longer than so many seconds: of the
#: processor, or on the wall, where one time alone may be that of other work.
_TIMES, _LONG, _LONG_WALL = 3, 1.0, 10.0
#: Rows of the table that is released before any time is taken: so many that all is compiled.
_WARMING = 25_000
#: Perturbed tables whose errors are averaged.
DRAWS = 5
#: Rows on which matching is tried: on half a million it may take minutes.
SAMPLE = 20_000


class Point(NamedTuple):
    """A pair of parameters.

    >>> Point(RELATIVE, Fraction(1, 8), 5).principle
    'epsilon-m:epsilon=12.5%,m=5'
    """

    kind: str
    epsilon: Fraction
    m: int

    @property
    def principle(self) -> str:
        """The principle, as on the command line."""
        reach = f"{float(self.epsilon):g}"
        if self.kind == RELATIVE:
            reach = f"{float(self.epsilon * 100):g}%"
        return f"epsilon-m:epsilon={reach},m={self.m}"

    def __str__(self) -> str:
        """Write it for people."""
        return f"ε = {float(self.epsilon):g}, m = {self.m}"

    def row(self, measured: str, method: str) -> Row:
        """Begin a row."""
        return {
            "measured": measured,
            "method": method,
            "kind": self.kind,
            "epsilon": float(self.epsilon),
            "m": self.m,
        }


@dataclass(frozen=True, kw_only=True)
class Experiments:
    """The experiments on one table.

    Parameters
    ----------
    source : Source
        The table.
    seed : int
        Of queries, releases and perturbed values.
    """

    source: Source
    seed: int

    @cached_property
    def ground(self) -> Ground:
        """The table, and the queries on it."""
        return self._ground(self.source.table)

    @cached_property
    def warm(self) -> Ground:
        """The same, once each method was run: nothing is compiled or loaded while it is timed.

        That is no step of its own, which a run that goes on after an interruption would leave out.
        """
        if self.source.table.height >= SMALL:  # nothing is said about the times of fewer rows
            some = self._ground(self.source.table.head(_WARMING))
            for method in (PAPER, BEST):
                for kind, reach in ((ABSOLUTE, Fraction(1)), (RELATIVE, Fraction(1, 100))):
                    self._release(some, method, Point(kind, reach, 2))
        return self.ground

    @cached_property
    def sample(self) -> Ground:
        """Some of its rows; all of a small table."""
        if self.source.table.height <= SAMPLE:
            return self.ground
        return self._ground(self.source.table.head(SAMPLE))

    def _ground(self, table: pl.DataFrame) -> Ground:
        queries = QUERIES if table.height >= SMALL else _FEW_QUERIES
        return Ground(table=table, shape=self.source.shape, queries=queries, seed=self.seed)

    def released(self, method: str, point: Point, asked: Sequence[Asked]) -> Iterator[Row]:
        """Make a release, ask it, and take its time."""
        ground = self.warm
        rows = {"rows": ground.table.height}
        alone = _Stopwatch(process_time, _LONG)
        release = self._release(ground, method, point, alone, threads=1)
        if release is None:
            yield from (point.row("error", method) | _error(kind, None) | rows for kind in asked)
            return
        for kind, error in zip(asked, ground.errors(release.table, asked), strict=True):
            yield point.row("error", method) | _error(kind, error.mean, error.median) | rows
        together = _Stopwatch(perf_counter, _LONG_WALL)
        for clock, threads in ((alone, 1), (together, None)):
            while not clock.enough(_TIMES if ground.table.height >= SMALL else 1):
                self._release(ground, method, point, clock, threads=threads)
        times = alone.least() | {f"{name}_wall": least for name, least in together.least().items()}
        yield point.row("time", method) | times | rows

    def perturbed(self, point: Point, asked: Sequence[Asked]) -> Iterator[Row]:
        """Perturb the table as little as the parameters allow, and ask it.

        Noise is all of the error: it is the mean of several perturbed tables, for the first kind
        of queries. The others are asked of one.
        """
        ground = self.ground
        keep = retention(
            ground.values,
            epsilon=point.epsilon,
            m=point.m,
            relative=point.kind == RELATIVE,
            domain="occurring" if ground.shape.sparse else None,
        )
        row = point.row("error", PERTURBATION) | {
            "keep": None if keep is None else float(keep),
            "rows": ground.table.height,
        }
        if not keep:
            yield from (row | _error(kind, None) | _spread([]) for kind in asked)
            return
        reach = point.epsilon
        rng = np.random.default_rng([self.seed, reach.numerator, reach.denominator, point.m])
        tables = [ground.perturbed_errors(keep, asked, rng)]
        tables += [ground.perturbed_errors(keep, asked[:1], rng) for _ in range(DRAWS - 1)]
        for i, kind in enumerate(asked):
            errors = [error for table in tables for error in table[i : i + 1] if error is not None]
            means, medians = ([e.mean for e in errors], [e.median for e in errors])
            yield row | _error(kind, fmean(means), fmean(medians)) | _spread(means)

    def compared(self, method: str, point: Point, asked: Asked) -> Iterator[Row]:
        """Make a release of the sample, and ask it."""
        release = self._release(self.sample, method, point)
        error = loss = None
        if release is not None:
            error = _known(self.sample.errors(release.table, [asked])[0].mean)
            loss = release.manifest["loss"]["ncp_percent"]
        yield point.row("sample", method) | {
            "error": error,
            "ncp_percent": loss,
            "rows": self.sample.table.height,
        }

    def _release(
        self,
        ground: Ground,
        method: str,
        point: Point,
        clock: _Stopwatch | None = None,
        threads: int | None = None,
    ) -> Release | None:
        cuts, dealing = _HOW[method]
        if clock is not None:
            clock.start()
        try:
            release = anonymize(
                ground.table,
                quasi=list(ground.shape.quasi),
                sensitive=ground.sensitive,
                principles=point.principle,
                cuts=cuts,
                dealing=dealing,
                seed=self.seed,
                threads=threads,
                trials=False,
                progress=clock,
            )
        except InfeasibleError:
            return None
        if clock is not None:
            clock.stop()
        return release


class _Stopwatch:
    """Takes the times of releases: of the whole, and between encoding and recoding.

    Parameters
    ----------
    now : callable
        What it reads: the processor's time, to which it makes no difference what else the machine
        does, or that on the wall.
    long : float
        A grouping that takes so many seconds is timed once.
    """

    def __init__(self, now: Callable[[], float], long: float) -> None:
        self.groupings: list[float] = []
        self.wholes: list[float] = []
        self._now, self._long = now, long
        self._begin = self._grouping = 0.0

    def start(self) -> None:
        """Begin a release."""
        self._begin = self._now()

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Be told where a release is."""
        if phase == "encoding" and done == total:
            self._grouping = self._now()
        elif phase == "recoding" and not done:
            self.groupings.append(self._now() - self._grouping)

    def stop(self) -> None:
        """End it."""
        self.wholes.append(self._now() - self._begin)

    def enough(self, times: int) -> bool:
        """Tell whether so many releases were timed, or one that took long."""
        return bool(self.wholes) and (len(self.wholes) >= times or self.groupings[-1] >= self._long)

    def least(self) -> Row:
        """Return the least of the times, which is disturbed least."""
        return {"grouping": round(min(self.groupings), 4), "whole": round(min(self.wholes), 4)}


def _error(asked: Asked, mean: float | None, median: float | None = None) -> Row:
    return {
        "dimensions": asked.dimensions,
        "volume": float(asked.volume),
        "error": _known(mean),
        "median": _known(median),
    }


def _spread(means: Sequence[float]) -> Row:
    """Say how far the errors of several perturbed tables lie apart."""
    return {
        "least": _known(min(means, default=None)),
        "most": _known(max(means, default=None)),
        "draws": len(means),
    }


def _known(number: float | None) -> float | None:
    """Leave out what is not a number: the error where no query matches any row."""
    return number if number is not None and np.isfinite(number) else None
