"""What measurements of groups of numbers say about the claims made for (δ,l)-diversity."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from wideberth_papers.study import Row, Rows, Verdict

#: Ways to make releases: as printed, repaired, and repaired so that it implies the first.
LITERAL, STAB, STAB_TWICE = WAYS = ("literal(δ)", "stab(δ)", "stab(2δ)")
#: From this size on overheads do not count in times.
LARGE = 100_000
#: The most that moves a row may grow to be called the same, and nearly the same, and how much rows
#: must grow meanwhile.
STEADY, NEARLY, _GROWTH = 1.5, 3.0, 10


def judge_examples(rows: Rows) -> Verdict:
    """Compare with what the paper prints."""
    two = [row for row in rows if row["delta"] == 15]
    alice = next((row for row in rows if row["certain"] is not None), None)
    if alice is None or len(two) != 2:
        return Verdict("not tested here", "The examples were not looked at.")
    small, large = two
    told = (
        f"At δ = ε = 15, {small['values']} has l = {small['literal']:g} and m = "
        f"{small['epsilon_m']:g}, {large['values']} l = {large['literal']:g} and m = "
        f"{large['epsilon_m']:g}. In {alice['values']}, {alice['certain']:.0%} lie in [490, 510], "
        f"and l at δ = 10 is {alice['literal']:.4g}."
    )
    against = [
        f"{row['values']} has {name} = {row[key]:g}, not {said}"
        for row, name, key, said in (
            (small, "l", "literal", 1), (small, "m", "epsilon_m", 2), (large, "m", "epsilon_m", 1))
        if row[key] != said
    ]  # fmt: skip
    if against:
        return Verdict("contradicted", told, f"{'; '.join(against)}.")
    if alice["certain"] < 1:
        return Verdict(
            "contradicted",
            f"{told} So the ratings are as printed, but of Alice it is likely, not sure.",
            f"{alice['values']}: {1 - alice['certain']:.0%} of the class lie outside [490, 510].",
        )
    return Verdict("confirmed", told)


def judge_drawback(rows: Rows) -> Verdict:
    """Judge whether one principle lowers a rating for a further value, and the other does not."""
    pairs = {
        delta: [row for row in rows if row["delta"] == delta and row["values"]]
        for delta in dict.fromkeys(row["delta"] for row in rows)
    }
    lowered = {
        name: [
            f"δ = {delta:g}: {pair[0]['values']} has {letter} = {pair[0][name]:g}, "
            f"{pair[1]['values']} only {letter} = {pair[1][name]:g}."
            for delta, pair in pairs.items()
            if len(pair) == 2 and pair[1][name] < pair[0][name]
        ]
        for name, letter in (("literal", "l"), ("epsilon_m", "m"))
    }
    if not any(len(pair) == 2 for pair in pairs.values()):
        return Verdict("not tested here", "The two groups were not looked at.")
    groups, otherwise = (
        sum(row[name] for row in rows if row["example"] == "random groups")
        for name in ("groups", "judged_otherwise")
    )
    because = (
        f"Of {groups:,} random groups {otherwise:,} are judged otherwise than by (2δ,l)-anonymity."
    )
    if lowered["literal"]:
        return Verdict("contradicted", because, lowered["literal"][0])
    if lowered["epsilon_m"]:
        return Verdict("confirmed", f"{because} (ε,m)-anonymity: {lowered['epsilon_m'][0]}")
    return Verdict(
        "confirmed with differences", f"{because} (ε,m)-anonymity does not do so here, either."
    )


def judge_monotonicity(rows: Rows) -> Verdict:
    """Judge whether unions of groups that satisfy the principle satisfy it."""
    totals = {
        name: tuple(
            sum(row[part] for row in rows if row["principle"] == name and row["values"] == "random")
            for part in ("failed", "unions")
        )
        for name in ("literal", "stab")
    }
    because = "; ".join(
        f"{name}: {failed:,} of {unions:,} random unions fail"
        for name, (failed, unions) in totals.items()
    )
    worst = max(
        (r for r in rows if r["principle"] == "literal" and r["share"] is not None
         and r["values"] == "random"),
        key=lambda r: float(r["share"]), default=None,
    )  # fmt: skip
    if worst is not None and worst["failed"]:
        because += (
            f"; most of the first, {worst['share']:.1%}, at δ = {worst['delta']:g} with "
            f"{worst['size']} rows a group"
        )
    asked = [row for row in rows if row["principle"] == "literal" and row["unions"]]
    if not asked:
        return Verdict("not tested here", "No two groups satisfy it.")
    failing = [row for row in asked if row["failed"]]  # the printed example is the first
    if not failing:
        return Verdict("confirmed", f"{because}.")
    row = failing[0]
    groups = row["values"]
    if groups == "random":
        groups = f"{row['failed']:,} of {row['unions']:,} pairs of random groups of {row['size']}"
    return Verdict(
        "contradicted",
        f"{because}.",
        f"δ = {row['delta']:g}, l = {row['l']}: {groups} each satisfy it, their union does not.",
    )


def judge_repair(rows: Rows) -> Verdict:
    """Judge whether splitting can begin with the whole table, and what the repair costs."""
    made = {(row["way"], row["delta"]): row for row in rows if row["ncp"] is not None}
    possible = [delta for way, delta in made if way == LITERAL]
    if not possible:
        return Verdict("not tested here", "No δ is possible on this table.")
    stuck = [delta for delta in possible if not made[LITERAL, delta]["whole"]]
    both = [
        (made[STAB, delta], made[LITERAL, delta]) for delta in possible if (STAB, delta) in made
    ]
    because = (
        f"As printed, splitting alone cannot even begin at {len(stuck)} of the {len(possible)} δ "
        "that are possible: the whole table does not satisfy it, though dealt groups of it do."
        if stuck
        else f"At all {len(possible)} δ that are possible the whole table satisfies it."
    )
    because += f" For its repair, which asks less, plain splitting is enough at {len(both)} of them"
    losses, errors = (_ratios(both, name) for name in ("ncp", "query_error"))
    if losses:
        because += (
            f"; as nothing is dealt, it loses {min(losses):.2f} to {max(losses):.2f} times as much "
            "(NCP)"
        )
    if errors:
        because += f", with errors of counts {min(errors):.2f} to {max(errors):.2f} times as large"
    because += "."
    if not stuck:
        return Verdict("confirmed", because)
    row = made[LITERAL, stuck[0]]
    return Verdict(
        "contradicted",
        because,
        f"δ = {stuck[0]}, l = {row['l']}: the table as one group does not satisfy the printed "
        f"definition, its {row['groups']:,} groups dealt from {row['leaves']:,} leaves do.",
    )


def _ratios(pairs: Sequence[tuple[Row, Row]], name: str) -> list[float]:
    """Divide one measurement of the first by that of the second, where that is possible."""
    return [one[name] / two[name] for one, two in pairs if one[name] is not None and two[name]]


def judge_chain(rows: Rows) -> Verdict:
    """Judge whether each principle implies the next."""
    broken, implied = (sum(row[name] for row in rows) for name in ("broken", "implied"))
    if not implied:
        return Verdict("not tested here", "No group satisfies any of the principles.")
    because = f"{implied:,} implications on {sum(r['groups'] for r in rows):,} groups."
    if not broken:
        return Verdict("confirmed", f"None broken of {because}")
    row = next(row for row in rows if row["broken"])
    return Verdict(
        "contradicted", f"{broken} broken of {because}", f"{row['on']}, δ = {row['delta']}."
    )


def judge_code(rows: Rows) -> Verdict:
    """Judge whether the printed code decides as the definition does."""
    if not rows:
        return Verdict("not tested here", "No class was looked at.")
    classes, wrong, alone, open_ = (
        sum(row[name] for row in rows)
        for name in ("classes", "misjudged", "of_one_row", "misjudged_open")
    )
    if not wrong:
        return Verdict("confirmed", f"The code judges all {classes:,} classes rightly.")
    because = f"Of {classes:,} classes the code misjudges {wrong:,}, {alone:,} of them of one row. "
    if alone == wrong:
        because += "Of two rows or more it is right. "
    because += f"With < in the second comparison it misjudges {open_:,}."
    row = min((row for row in rows if row["misjudged"]), key=lambda row: int(row["classes"]))
    case = f"{row['case']}, δ = {row['delta']:g}, l = {row['l']:g}"
    if row["classes"] > 1:
        case += f": {row['misjudged']:,} of {row['classes']:,} classes are misjudged."
    else:
        said = {True: "satisfied", False: "violated", None: "a division by zero"}
        by_code, by_definition = said[row["printed"]], said[row["definition"]]
        case += f": {by_code} by the code, {by_definition} by the definition."
    return Verdict("contradicted", because, case)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the power of x that y grows with: a straight line through logarithms.

    >>> round(slope([(1, 2), (10, 20), (100, 200)]), 6)
    1.0
    """
    xs, ys = (np.array([log(point[i]) for point in points]) for i in (0, 1))
    return float(np.polyfit(xs, ys, 1)[0])


def judge_time(rows: Rows) -> Verdict:
    """Judge whether the moves of the code are proportional to size; tell how times grow."""
    counted = [row for row in rows if row["moves_a_row"]]
    sizes = [row["size"] for row in counted]
    if not sizes or max(sizes) < _GROWTH * min(sizes):
        return Verdict("not tested here", "The classes are about equally large.")
    least, most = (
        extreme(counted, key=lambda row: float(row["moves_a_row"])) for extreme in (min, max)
    )
    growth = most["moves_a_row"] / least["moves_a_row"]
    because = (
        f"From {min(sizes):,} to {max(sizes):,} rows the code makes {least['moves_a_row']:.2f} to "
        f"{most['moves_a_row']:.2f} moves a row."
    )
    large = [row for row in rows if row["size"] >= LARGE]
    if len({row["size"] for row in large}) > 1:
        powers = {
            way: slope([(row["size"], row["seconds"]) for row in large if row["way"] == way])
            for way in dict.fromkeys(row["way"] for row in large)
        }
        because += " From {:,} rows on, CPU time grows with the power of size: {}.".format(
            LARGE, "; ".join(f"{way}: {power:.1f}" for way, power in powers.items())
        )
    if growth > NEARLY:
        return Verdict(
            "contradicted",
            because,
            f"{most['size']:,} rows: {most['moves_a_row']:.2f} moves a row, {growth:.1f} times as "
            f"many as of {least['size']:,}.",
        )
    return Verdict("confirmed" if growth <= STEADY else "confirmed with differences", because)
