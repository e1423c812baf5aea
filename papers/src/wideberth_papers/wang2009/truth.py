"""Theorem 2, conditions and the solver, on graphs that are small enough to know the truth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from wideberth.checks.advise import advise
from wideberth.core.exact import Bools
from wideberth.errors import VerificationError
from wideberth.principles.partition.decide import PartitionAnswer, decide_partition
from wideberth.principles.partition.swap import NeighborCap, SimilarityMatrix
from wideberth_papers.plotting import Axis, bars
from wideberth_papers.study import Row, Rows, Spec, Verdict
from wideberth_papers.wang2009.graphs import (
    KINDS,
    all_graphs,
    best_delta,
    chromatic,
    edges,
    ensuring,
    holds,
    metric,
    padded,
    possible,
    random_graph,
    refuting,
    sizes_of,
)

_DELTAS = tuple(map(Fraction, ("1/3", "1/2", "2/3", "3/4", "1")))
_DENSITIES = (0.1, 0.2, 0.3, 0.45, 0.6)
#: All graphs of so many rows are looked at.
GRAPHS = (4, 5, 6, 7)
#: Colours m and rows N of graphs that are padded to m N rows, few enough to try everything.
_PADDED = ((2, 3), (2, 4), (2, 5), (3, 3), (3, 4))
#: Rows of the tables that the solver is tried on; up to so many, all partitions are looked at.
TABLES, _FEW = (6, 8, 10, 12, 14, 16), 10
#: Share of the possible tables that are nearly all of them, and that are most of them.
_NEARLY_ALL, _MOST = 0.99, 0.9
#: Shares of tables that conditions are to settle: of impossible ones most, of possible ones a part.
_HALF, _PART = 0.5, 0.1
#: What is said if one of the necessary conditions fails, and if one of the sufficient is met.
_NECESSARY, _SUFFICIENT = "either", "any"
CONDITIONS = {
    "crowd": "necessary",
    "row": "necessary",
    _NECESSARY: "necessary",
    "whole": "sufficient",
    "colours": "sufficient",
    "merged": "sufficient",
    _SUFFICIENT: "sufficient",
}


def defect(what: str, near: Bools, delta: Fraction, k: int) -> VerificationError:
    """Return what to raise for an answer of ours that is wrong: it says nothing of the paper."""
    return VerificationError(f"{what}: δ = {delta}, k = {k}, {edges(near)}")


# ---- all small graphs


def measure_graphs(n: int) -> Iterator[Row]:
    """Find the truth for all graphs of n rows; compare with colourings and with conditions."""
    graphs = list(all_graphs(n))
    needed = [chromatic(near) for near in graphs]
    for k in sizes_of(n):
        best = [best_delta(near, k) or Fraction(0) for near in graphs]
        enough = [colours <= n // k for colours in needed]
        parted = [reach == 1 for reach in best]
        odd = [g for g, e, p in zip(graphs, enough, parted, strict=True) if e != p]
        yield {
            "measured": "theorem-2",
            "reading": "as printed",
            "rows": n,
            "k": k,
            "colours": n // k,
            "graphs": len(graphs),
            "groups": sum(parted),
            "coloured": sum(enough),
            "coloured, but no groups": sum(e > p for p, e in zip(parted, enough, strict=True)),
            "groups, but not coloured": sum(p > e for p, e in zip(parted, enough, strict=True)),
            "example": edges(min(odd, key=np.sum)) if odd else None,
        }
        yield from _conditions(n, k, graphs, best)


def _conditions(n: int, k: int, graphs: list[Bools], best: list[Fraction]) -> Iterator[Row]:
    """Count how often each condition gives an answer: a no where it is due, or a yes."""
    for delta in _DELTAS:
        told: dict[str, list[tuple[Bools, list[str]]]] = {"necessary": [], "sufficient": []}
        for near, reach in zip(graphs, best, strict=True):
            refuted, ensured = refuting(near, delta, k), ensuring(near, delta, k)
            if ensured if reach < delta else refuted:
                raise defect("a condition is wrong", near, delta, k)
            if reach < delta:
                told["necessary"].append((near, [*refuted, _NECESSARY] if refuted else []))
            else:
                told["sufficient"].append((near, [*ensured, _SUFFICIENT] if ensured else []))
        for name, kind in CONDITIONS.items():
            silent = [near for near, names in told[kind] if name not in names]
            yield {
                "measured": "conditions",
                "condition": name,
                "kind": kind,
                "rows": n,
                "k": k,
                "delta": str(delta),
                "cases": len(told[kind]),
                "decided": len(told[kind]) - len(silent),
                "not settled": f"δ = {delta}, k = {k}, {edges(silent[0])}" if silent else None,
            }


def measure_padding(most: int) -> Iterator[Row]:
    """Add rows that are near nobody to graphs of at most so many, and let the library decide."""
    for colours, n in _PADDED:
        if n > most:
            continue
        graphs = list(all_graphs(n))
        enough = [chromatic(near) <= colours for near in graphs]
        answers = [satisfiable(padded(near, colours * n), Fraction(1), n) for near in graphs]
        for near, coloured, answer in zip(graphs, enough, answers, strict=True):
            if answer == ("no" if coloured else "yes"):  # padded, both are proven to be the same
                raise defect("a padded graph is misjudged", near, Fraction(1), n)
        parted = [answer == "yes" for answer in answers]
        yield {
            "measured": "theorem-2",
            "reading": "padded",
            "rows": colours * n,
            "k": n,
            "colours": colours,
            "graphs": len(graphs),
            "groups": sum(parted),
            "coloured": sum(enough),
            "coloured, but no groups": sum(e > p for p, e in zip(parted, enough, strict=True)),
            "groups, but not coloured": sum(p > e for p, e in zip(parted, enough, strict=True)),
            "example": None,
        }


def satisfiable(near: Bools, delta: Fraction, k: int) -> str:
    """Ask the library about the table of a graph; the groups of a yes are looked at."""
    advice = advise(list(range(len(near)))).dissimilarity(metric(near))
    answer = advice.satisfiable(1, delta, k)  # type: ignore[arg-type]
    if answer.groups is not None and not holds(near, answer.groups.tolist(), delta, k):
        raise defect("groups are not dissimilar", near, delta, k)
    return answer.verdict


def judge_theorem(rows: Rows) -> Verdict:
    """Compare colourings with groups, as printed and padded."""
    printed, pads = (
        [row for row in rows if row["reading"] == reading] for reading in ("as printed", "padded")
    )
    if not printed or not pads:
        return Verdict("not tested here", "No graphs were looked at.")
    graphs, without, apart, *padding = (
        sum(row[name] for row in here)
        for here in (printed, pads)
        for name in ("graphs", "groups, but not coloured", "coloured, but no groups")
    )
    said = f"Of {graphs:,} cases, a graph and k each, {without:,} have groups without a coloring"
    if not without and not apart:
        return Verdict("confirmed", f"{said}, and none a coloring without groups.")
    row = next(row for row in printed if row["example"])
    example = f"k = {row['k']}, {row['example']}."
    if without:  # the paper says it of all graphs
        return Verdict("contradicted", f"{said}.", example)
    same, other = padding[0], padding[1] + padding[2]
    return Verdict(
        "confirmed with differences",
        f"{said}, but {apart:,} have a coloring with N/k colors and no groups of k, as some color "
        f"is used too rarely: {example} So a coloring is necessary, and does not suffice. Rows "
        "that are near nobody mend the proof: added until a graph of N rows and m colors has mN, "
        f"with k = N, both are the same in {same - other} of {same} cases.",
    )


def select_conditions(rows: Rows) -> Rows:
    """Add up over sizes and parameters."""
    shown = []
    for name, kind in CONDITIONS.items():
        here = [r for r in rows if r["measured"] == "conditions" and r["condition"] == name]
        cases, decided = (sum(r[key] for r in here) for key in ("cases", "decided"))
        shown.append(
            {
                "condition": name,
                "kind": kind,
                "cases": cases,
                "decided": decided,
                "share": decided / cases if cases else None,
                "not settled": next((r["not settled"] for r in here if r["not settled"]), None),
            }
        )
    return shown


def judge_conditions(rows: Rows) -> Verdict:
    """Tell how many of the impossible and of the possible tables conditions settle."""
    here = {row["condition"]: row for row in rows if row["cases"]}
    if _NECESSARY not in here or _SUFFICIENT not in here:
        return Verdict("not tested here", "No table is impossible, or none is possible.")
    none, some = here[_NECESSARY], here[_SUFFICIENT]
    all_ = (none["decided"] + some["decided"]) / (none["cases"] + some["cases"])
    single = ", ".join(
        f"{row['condition']} {100 * row['share']:.0f} %"
        for row in here.values()
        if row not in (none, some)
    )
    said = (
        f"They settle {100 * all_:.0f} % of all cases, {100 * none['share']:.0f} % of the "
        f"{none['cases']:,} impossible and {100 * some['share']:.0f} % of the {some['cases']:,} "
        f"possible ones. One by one: {single}."
    )
    if none["share"] < _HALF:
        return Verdict("contradicted", said, f"Impossible, not refuted: {none['not settled']}.")
    both = some["share"] >= _PART
    return Verdict("confirmed" if both else "confirmed with differences", said)


def draw_conditions(rows: Rows) -> Spec:
    """Draw how much each condition settles."""
    y = Axis("share", "share of cases that it settles", ".0%", domain=(0, 1))
    return bars(rows, "condition", y, "kind", order=["necessary", "sufficient"],
                title_x="condition")  # fmt: skip


# ---- the solver


def measure_solver(n: int, tables: int, seed: int) -> Iterator[Row]:
    """Ask the solver about random tables of n rows, of which the truth is known."""
    rng = np.random.default_rng([seed, n])
    row: Row = {"measured": "solver", "rows": n, "tables": tables}
    row |= dict.fromkeys(("possible", "found", "found at once", "refuted", "refuted at once"), 0)
    row |= dict.fromkeys(("unknown", "optima", "optima advised", "optima at once"), 0)
    row["oracle"] = "all partitions" if n <= _FEW else "CP-SAT"
    row["not at once"] = None
    for _ in range(tables):
        near = random_graph(
            KINDS[rng.integers(len(KINDS))], n, _DENSITIES[rng.integers(len(_DENSITIES))], rng
        )
        delta, k = _DELTAS[rng.integers(len(_DELTAS))], int(rng.integers(2, n // 2 + 1))
        best = best_delta(near, k) if n <= _FEW else None
        truth = possible(near, delta, k) if best is None else best >= delta
        if truth is None:  # no CP-SAT
            yield row | {
                key: None for key, value in row.items() if type(value) is int and not value
            }
            return
        at_once, answer = _quick(near, delta, k), satisfiable(near, delta, k)
        row["possible"] += truth
        row["found"] += answer == "yes"
        row["found at once"] += at_once == "yes"
        row["refuted"] += answer == "no"
        row["refuted at once"] += at_once == "no"
        row["unknown"] += answer == "unknown"
        if ("no" if truth else "yes") in (answer, at_once):
            raise defect("an answer is wrong", near, delta, k)
        if truth and at_once != "yes":
            row["not at once"] = row["not at once"] or f"δ = {delta}, k = {k}, {edges(near)}"
        if best is not None and best > 0:
            advised = advise(list(range(n))).dissimilarity(metric(near)).max_delta(1, k)
            row["optima"] += 1
            row["optima advised"] += advised.feasible == best
            row["optima at once"] += _quick(near, best, k) == "yes"
    yield row


def _quick(near: Bools, delta: Fraction, k: int) -> str:
    """Ask for what is found without trying everything."""
    answer: PartitionAnswer = decide_partition(
        SimilarityMatrix(near),
        np.arange(len(near)),
        NeighborCap.of_share(delta),
        max(k, 2),
        exact=False,
    )
    if answer.labels is not None and not holds(near, answer.labels.tolist(), delta, k):
        raise defect("groups are not dissimilar", near, delta, k)
    return answer.verdict


def judge_solver(rows: Rows) -> Verdict:
    """Tell how often the solver finds groups where there are some, without trying everything."""
    known = [row for row in rows if row["possible"] is not None]
    if not any(row["possible"] for row in known):
        return Verdict("not tested here", "No table is known to have groups.")
    total = {
        key: sum(row[key] for row in known)
        for key, value in known[0].items()
        if isinstance(value, int)
    }
    others = total["tables"] - total["possible"]
    share = total["found at once"] / total["possible"]
    said = (
        f"Of {total['tables']:,} tables {total['possible']:,} have such groups. The solver finds "
        f"groups for {total['found at once']:,} of them ({100 * share:.1f} %) without trying "
        f"everything, for {total['found']:,} by trying; it refutes {total['refuted at once']:,} of "
        f"the {others:,} others without, {total['refuted']:,} by trying. "
        f"The largest δ is found for {total['optima advised']:,} of {total['optima']:,} tables, "
        f"groups at that very δ {total['optima at once']:,} times without trying everything."
    )
    if len(known) < len(rows):
        said += f" Tables of more than {_FEW} rows were left out: CP-SAT is not installed."
    if share < _MOST:
        missed = next(row["not at once"] for row in known if row["not at once"])
        return Verdict("contradicted", said, f"Not found without trying everything: {missed}.")
    return Verdict("confirmed" if share >= _NEARLY_ALL else "confirmed with differences", said)


def draw_solver(rows: Rows) -> Spec:
    """Draw how many of the tables that have groups are solved."""
    series = {"by trying everything": "found", "at once": "found at once"}
    shown = [
        {"rows": row["rows"], "series": name, "share": row[key] / row["possible"]}
        for row in rows
        for name, key in series.items()
        if row["possible"]
    ]
    y = Axis("share", "share of possible tables solved", ".0%", domain=(0, 1))
    return bars(shown, "rows", y, "series", order=list(series), title_x="rows of the table")
