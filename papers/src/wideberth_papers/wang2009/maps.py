"""Where (ε,δ)^k-dissimilarity can be satisfied: maps over its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl

from wideberth.checks.advise import advise
from wideberth.checks.check import check
from wideberth.errors import VerificationError
from wideberth.principles import Dissimilarity
from wideberth_papers.plotting import table_map
from wideberth_papers.study import Row, Rows, Spec, Verdict
from wideberth_papers.wang2009.graphs import ensuring, random_graph, refuting
from wideberth_papers.wang2009.truth import defect, satisfiable

DENSITIES = (0.05, 0.1, 0.2, 0.35, 0.5)
EPSILONS = tuple(map(Fraction, ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7")))
_DELTAS = tuple(map(Fraction, ("1/2", "2/3", "4/5", "9/10", "1")))
_SIZES, _SIZES_OF_PEOPLE = (2, 4, 6), (2, 5, 10)
#: Shares of questions: so many that stay open are few, so many are still a minority, and so many
#: that are settled by conditions are most.
_FEW, _SOME, _MOST = 0.05, 0.2, 0.5
_COLOURS = {
    "always possible": "#0072B2",
    "sometimes": "#9ecae1",
    "partly unknown": "#F0E442",
    "never possible": "#D9D9D9",
}


# ---- random graphs


def measure_graphs(kind: str, density: float, rows: int, tables: int, seed: int) -> Iterator[Row]:
    """Ask about random graphs for each δ and k; count the answers, and what conditions tell."""
    rng = np.random.default_rng([seed, *kind.encode(), round(1000 * density)])
    graphs = [random_graph(kind, rows, density, rng) for _ in range(tables)]
    for delta, k in product(_DELTAS, _SIZES):
        row: Row = {"measured": "map-graphs", "kind": kind, "density": density, "rows": rows}
        row |= _cell(delta, k, tables) | {"conditions say yes": 0, "conditions say no": 0}
        for near in graphs:
            answer = satisfiable(near, delta, k)
            ensured, refuted = bool(ensuring(near, delta, k)), bool(refuting(near, delta, k))
            row["conditions say yes"] += ensured
            row["conditions say no"] += refuted
            if (ensured and answer == "no") or (refuted and (ensured or answer == "yes")):
                raise defect("a condition or an answer is wrong", near, delta, k)
            row[answer] += 1
        yield row


def _cell(delta: Fraction, k: int, tables: int) -> Row:
    counts = dict.fromkeys(("yes", "no", "unknown"), 0)
    return {"delta": str(delta), "k": k, "tables": tables, **counts}


def _settled(row: Row) -> int:
    """Return for how many tables conditions alone give an answer, if they were looked at."""
    return int(row.get("conditions say yes", 0) + row.get("conditions say no", 0))


# ---- distributions


def measure_people(
    table: pl.DataFrame, on: Sequence[str], epsilon: Fraction, sample: int, rows: int, seed: int
) -> Iterator[Row]:
    """Ask about a sample of people for each δ and k; groups are checked by their values."""
    rng = np.random.default_rng([seed, sample])
    people = table.select(on)[rng.permutation(table.height)[:rows]]
    advice = advise(people, list(on)).dissimilarity("variational")
    for delta, k in product(_DELTAS, _SIZES_OF_PEOPLE):
        answer = advice.satisfiable(epsilon, delta, k)  # type: ignore[arg-type]
        if answer.groups is not None:
            rule = Dissimilarity(
                epsilon=epsilon,  # type: ignore[arg-type]
                delta=delta,  # type: ignore[arg-type]
                k=k,
                on=tuple(on),
                distance="variational",
            )
            grouped = people.with_columns(group=pl.Series(answer.groups))
            if not check(grouped, group="group", sensitive=list(on), principles=rule).satisfied:
                raise VerificationError(f"groups of sample {sample} do not satisfy {rule}")
        yield {
            "measured": "map-distributions",
            "sample": sample,
            "rows": people.height,
            "epsilon": str(float(epsilon)),
            "delta": str(delta),
            "k": k,
            "verdict": answer.verdict,
            "witness": answer.witness,
        }


def select_people(rows: Rows) -> Rows:
    """Count the answers of all samples, cell by cell.

    Raises
    ------
    VerificationError
        If a no is refuted by a yes for parameters that are no weaker: steps do not know it.
    """
    asked: dict[tuple[str, str, int], Rows] = {}
    for row in rows:
        if row["measured"] == "map-distributions":
            asked.setdefault((row["epsilon"], row["delta"], row["k"]), []).append(row)
    shown = []
    for (epsilon, delta, k), here in asked.items():
        cell = _cell(Fraction(delta), k, len(here))
        cell["epsilon"], cell["rows"] = epsilon, here[0]["rows"]
        for row in here:
            cell[row["verdict"]] += 1
            if _at_odds(row, rows):
                raise VerificationError(
                    f"sample {row['sample']}: a no at {_where(cell)} and a yes for more"
                )
        shown.append(cell)
    return shown


def _at_odds(row: Row, rows: Rows) -> bool:
    """Tell whether a no is refuted by a yes for parameters that are no weaker."""
    return row["verdict"] == "no" and any(
        other["verdict"] == "yes"
        and other["sample"] == row["sample"]
        and float(other["epsilon"]) >= float(row["epsilon"])
        and Fraction(other["delta"]) >= Fraction(row["delta"])
        and other["k"] >= row["k"]
        for other in rows
        if other["measured"] == "map-distributions"
    )


# ---- both


def judge(rows: Rows) -> Verdict:
    """Tell how much of a map is decided, and how much of it by conditions, if they were tried."""
    total = {key: sum(row[key] for row in rows) for key in ("tables", "yes", "no", "unknown")}
    if not total["tables"]:
        return Verdict("not tested here", "The table is too small.")
    open_ = total["unknown"] / total["tables"]
    said = (
        f"Of {total['tables']:,} questions {total['yes']:,} have a yes, {total['no']:,} a no, "
        f"{total['unknown']:,} "
        f"({100 * open_:.1f} %) neither."
    )
    settled = 1.0
    if "conditions say yes" in rows[0]:
        settled = sum(map(_settled, rows)) / total["tables"]
        said += f" Conditions alone settle {100 * settled:.0f} %."
    if open_ > _SOME:
        worst = max(rows, key=lambda row: float(row["unknown"] / max(row["tables"], 1)))
        return Verdict(
            "contradicted",
            said,
            f"{_where(worst)}: {worst['unknown']} of {worst['tables']} questions stay open.",
        )
    all_ = open_ <= _FEW and settled >= _MOST
    return Verdict("confirmed" if all_ else "confirmed with differences", said)


def _where(row: Row) -> str:
    """Say which cell of a map it is."""
    graph = f"{row['kind']}, density {row['density']}" if "kind" in row else f"ε = {row['epsilon']}"
    return f"{graph}, δ = {row['delta']}, k = {row['k']}"


def draw(rows: Rows, x: str, title_x: str, by: str | None = None) -> Spec:
    """Draw a map for each k, and for each kind of graph."""
    shown = [
        row
        | {
            "panel": (f"{row[by]}, " if by else "") + f"k = {row['k']}",
            "answer": _answer(row),
            "text": _text(row),
        }
        for row in rows
    ]
    shown.sort(key=lambda row: (-Fraction(row["delta"]), float(row[x])))
    order = dict.fromkeys(row[by] if by else 0 for row in rows)
    place = {name: number for number, name in enumerate(order)}
    shown.sort(key=lambda row: (place[row[by] if by else 0], row["k"]))
    spec = table_map(
        shown,
        x,
        "delta",
        "answer",
        title_x=title_x,
        title_y="δ",
        colours=_COLOURS,
        text="text",
        panels="panel",
    )
    return spec | {"columns": len(_SIZES)}


def _answer(row: Row) -> str:
    if row["unknown"]:
        return "partly unknown"
    if row["yes"] == row["tables"]:
        return "always possible"
    return "sometimes" if row["yes"] else "never possible"


def _text(row: Row) -> str:
    """Write how many are possible; with a point where conditions alone settle all."""
    return f"{row['yes']}/{row['tables']}" + (" •" if _settled(row) == row["tables"] else "")
