"""What the study of l-diversity measures: tables that publish each column on one level.

A search finds all minimal tables: those that satisfy a principle while no finer one does. Whatever
is said of one of them is read off its release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from wideberth.checks.check import check
from wideberth.errors import InfeasibleError
from wideberth.release.anonymize import anonymize
from wideberth.release.lattice import Lattice, NodeFigures, lattice
from wideberth_papers.sources import Source
from wideberth_papers.study import Row

#: A search that takes longer than so many seconds is timed once, a shorter one so many times.
_LONG, _TURNS = 1.0, 3
#: To search tables of fewer rows takes hardly longer than to read them, so one time will do.
TIMED_FROM = 5_000
#: What is told of an attack.
_ATTACKED = ("number", "levels", "groups", "alike", "revealed", "size_alike", "entropy_l", "c")
#: What is told of tables that satisfy a principle.
USEFUL = ("tables", "height", "average_size", "discernibility")
#: The least diversity there is: not all the same.
DIVERSE = "distinct-l:l=2"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A table with its hierarchies.

    Parameters
    ----------
    name : str
        What figures call it.
    source : Source
        Where it comes from.
    quasi, sensitive : tuple of str
        Its columns, in the order of the paper.
    trees : callable
        From the table to the hierarchies of its quasi-identifiers.
    sampled : sequence of int, optional
        Keep about one row in 20, drawn with this seed.
    """

    name: str
    source: Source
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    trees: Callable[[pl.DataFrame], Mapping[str, Any]]
    sampled: Sequence[int] | None = None

    @cached_property
    def table(self) -> pl.DataFrame:
        """The table."""
        table = self.source.table
        if self.sampled is not None:
            rng = np.random.default_rng(self.sampled)
            table = table.filter(pl.Series(rng.random(table.height) < 0.05))
        return table

    @cached_property
    def _trees(self) -> Mapping[str, Any]:
        return self.trees(self.table)

    def sample(self, *seed: int) -> Subject:
        """Return the same with a twentieth of the rows."""
        return replace(self, sampled=seed)

    def asked(self, many: int, sensitive: str | Sequence[str], principle: str) -> dict[str, Any]:
        """Return what is asked of a search: the first quasi-identifiers, and a principle."""
        quasi = self.quasi[:many]
        wanted = [sensitive] if isinstance(sensitive, str) else list(sensitive)
        return {
            "table": self.table.select(*quasi, *wanted),
            "quasi": quasi,
            "sensitive": wanted,
            "principles": principle,
            "hierarchies": {name: self._trees[name] for name in quasi},
        }


def attacked(
    subject: Subject, many: int, sensitive: Sequence[str], k: int, seed: int
) -> Iterator[Row]:
    """Publish every minimal k-anonymous table, and count the groups that are all the same.

    Yields
    ------
    dict
        For each sensitive attribute and table: its levels, its groups, those without diversity,
        how many rows they reveal and how large they are; the l of entropy l-diversity that all
        groups reach, and the c of recursive (c,2)-diversity. Nothing of all this if there is no
        such table.
    """
    asked = subject.asked(many, sensitive, f"k-anonymity:k={k}")
    nodes = minimal_tables(asked)
    for name in () if nodes else sensitive:
        some = {"table": subject.name, "rows": subject.table.height, "sensitive": name}
        yield {**some, **dict.fromkeys(_ATTACKED)}
    for number, node in enumerate(nodes, 1):
        released = anonymize(**asked, algorithm="lattice", levels=node.levels, seed=seed)
        for name in sensitive:
            found = check(
                released.table,
                quasi=asked["quasi"],
                sensitive=name,
                principles=[DIVERSE, "entropy-l:l=2", "recursive-cl:c=6,l=2"],
            )
            groups = pl.DataFrame(found.table)
            alike = groups.filter(~pl.col(DIVERSE))["rows"]
            _, entropy, recursive = (principle.achieved for principle in found.principles)
            yield {
                "table": subject.name,
                "rows": subject.table.height,
                "sensitive": name,
                "number": number,
                "levels": levels_text(node.levels),
                "groups": groups.height,
                "alike": len(alike),
                "revealed": int(alike.sum()),
                "size_alike": None if alike.is_empty() else alike.sum() / len(alike),
                "entropy_l": entropy.get("l"),
                "c": recursive.get("c") if alike.is_empty() else None,
            }


def minimal_tables(asked: Mapping[str, Any]) -> list[NodeFigures]:
    """Return all minimal tables; none if even the coarsest one does not satisfy."""
    found = _search(asked)
    return [] if found is None else sorted(found.minimal, key=lambda one: [*one.levels.values()])


def levels_text(levels: Mapping[str, int]) -> str:
    """Say which levels a table has.

    >>> levels_text({"age": 2, "sex": 0})
    'age 2, sex 0'
    """
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def timed(
    subject: Subject, many: int, sensitive: str, principles: Mapping[str, str]
) -> Iterator[Row]:
    """Time the search for all minimal tables, in CPU seconds, for principles by name.

    They take turns, for a busy machine is then busy for all of them. The first turn is not
    counted, since it compiles what all share; of the others the shortest time is kept.
    """
    asked = {
        name: subject.asked(many, sensitive, principle) for name, principle in principles.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in principles}
    found: dict[str, Lattice | None] = {}
    for turn in range(1 + _TURNS):
        for name in principles:
            start = process_time()
            found[name] = _search(asked[name])
            passed = process_time() - start
            if turn:
                seconds[name].append(passed)
        few = subject.table.height < TIMED_FROM
        if turn and (few or max(map(min, seconds.values())) > _LONG):
            break
    for name, result in found.items():
        yield {
            "table": subject.name,
            "rows": subject.table.height,
            "quasi": many,
            "principle": name,
            "seconds": min(seconds[name]),
            "nodes": None if result is None else result.nodes,
            "checked": None if result is None else result.checked,
            "minimal": None if result is None else len(result.minimal),
        }


def useful(subject: Subject, many: int, sensitive: str, principle: str) -> Row:
    """Return the least height, average size and discernibility of tables that satisfy.

    All three grow from a table to a coarser one, so the minimal tables have the least.
    """
    found = minimal_tables(subject.asked(many, sensitive, principle))
    return {
        "rows": subject.table.height,
        "tables": len(found),
        "height": min((sum(one.levels.values()) for one in found), default=None),
        "average_size": min((one.scores["average-size"] for one in found), default=None),
        "discernibility": min((one.scores["discernibility"] for one in found), default=None),
    }


def _search(asked: Mapping[str, Any]) -> Lattice | None:
    try:
        return lattice(**asked, best=1)
    except InfeasibleError:
        return None


# ---- the calculation on the back of an envelope


def calculated(rows: int, k: int, values: int) -> Row:
    """Calculate how many groups of k have one value only, if all values are equally likely.

    A group's rows are alike with probability p = values^(1-k); the number of such groups is
    binomial.

    Examples
    --------
    >>> row = calculated(60_000, 5, 3)
    >>> row["groups"], round(row["alike"], 1), round(row["spread"], 1), round(row["revealed"])
    (12000, 148.1, 12.1, 741)
    """
    groups, chance = rows // k, float(values) ** (1 - k)
    return {
        "rows": rows,
        "way": "calculated",
        "runs": None,
        "groups": groups,
        "expected": groups * chance,
        "alike": groups * chance,
        "spread": (groups * chance * (1 - chance)) ** 0.5,
        "revealed": k * groups * chance,
    }


def dealt(rows: int, k: int, values: int, runs: int, rng: np.random.Generator) -> Row:
    """Draw values for groups of k, many times, and count the groups that are alike."""
    groups = rows // k
    alike = []
    for _ in range(runs):
        drawn = rng.integers(0, values, (groups, k), dtype=np.int8)
        alike.append(int((drawn == drawn[:, :1]).all(axis=1).sum()))
    return {
        "rows": rows,
        "way": "drawn at random",
        "runs": runs,
        "groups": groups,
        "expected": groups * float(values) ** (1 - k),
        "alike": float(np.mean(alike)),
        "spread": float(np.std(alike, ddof=1)),
        "revealed": k * float(np.mean(alike)),
    }


def split(rows: int, k: int, values: int, seeds: Sequence[Sequence[int]]) -> Row:
    """Make k-anonymous releases of such tables, and count the groups that are alike.

    No two rows of a table have the same quasi-identifiers, which are two numbers.
    """
    sizes, alike, revealed = [], [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        side = 10 * int(rows**0.5) + 1
        place = rng.choice(side * side, rows, replace=False)
        table = pl.DataFrame(
            {
                "east": place // side,
                "north": place % side,
                "value": rng.integers(0, values, rows).astype(np.str_),
            }
        )
        released = anonymize(
            table,
            quasi=["east", "north"],
            sensitive="value",
            principles=f"k-anonymity:k={k}",
            seed=int(rng.integers(2**31)),
        )
        groups = released.table.group_by("east", "north").agg(
            size=pl.len(), values=pl.col("value").n_unique()
        )
        same = groups.filter(pl.col("values") == 1)["size"]
        sizes.append(groups["size"].to_numpy())
        alike.append(len(same))
        revealed.append(int(same.sum()))
    return {
        "rows": rows,
        "way": "split by anonymize",
        "runs": len(seeds),
        "groups": float(np.mean([len(one) for one in sizes])),
        "expected": float(np.mean([(float(values) ** (1.0 - one)).sum() for one in sizes])),
        "alike": float(np.mean(alike)),
        "spread": float(np.std(alike, ddof=1)),
        "revealed": float(np.mean(revealed)),
    }
