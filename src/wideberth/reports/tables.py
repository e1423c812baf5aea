"""The tables of who could be found and of what adversaries learn, and the same in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wideberth.core.text import FEW, as_risk, count, figure, nearness, percent, reach
from wideberth.reports.tabling import Table

Dict = dict[str, Any]


def identity(risk: Dict) -> Table:
    """Compare who could be named before and after."""
    after, before = risk["after"], risk["before"]
    audits = [a["identity"] for a in (before, after) if a is not None]
    rows: list[tuple[str, ...]] = []

    def add(label: str, cell: Callable[[Dict], str]) -> None:
        cells = [cell(told) for told in audits]
        if any(text != "–" for text in cells):
            rows.append((label, *cells))

    sample = next((looked_at(a.get("victims")) for a in after["attributes"]), "")
    if after["identity"]["covering"] is None:
        add("people alone with their quasi-identifiers", lambda i: count(i["uniques"]))
    else:
        add("people alone in their group", lambda i: count(i["uniques"]))
        add(f"people alone with their quasi-identifiers{sample}",
            lambda i: _at(i["covering"], "1") if i["covering"] else "–")  # fmt: skip
    add("fewest rows that look alike", lambda i: count(i["smallest"]))
    add("worst chance, target known to be in it (prosecutor)", lambda i: _worst(i["prosecutor"]))
    add("mean chance of the same", lambda i: _mean(i["prosecutor"]))
    add("worst chance, target from the population (journalist)", lambda i: _worst(i["journalist"]))
    add("share of rows matched rightly (marketer)", lambda i: percent(i["marketer"]))
    add(f"worst chance, group not known{sample}", lambda i: _worst(i["covering"]))
    heads = ("before", "after") if before is not None else ("release",)
    return Table(caption="Risk that somebody's row is found", columns=("risk", *heads), rows=rows)


def chief(measures: Dict) -> tuple[str, Dict]:
    """Return how a value is then known, and the risk, for the risk that counts most."""
    # To be near a value is enough where near means something; else it must be guessed.
    if near := measures.get("nearness"):
        return f"to within {nearness(near)}", near["risk"]
    if far := measures.get("dissimilarity"):
        return f"to within {reach(far['epsilon'])}", far
    kinds = measures.get("kinds") or {}
    if kinds.get("similarity"):
        return f"but for similar values (e = {figure(kinds.get('e'))})", kinds["similarity"]
    return "exactly", measures["guess"]


def looked_at(victims: Dict | None) -> str:
    """Describe how many were looked at, if not all were, to find who faces which groups.

    >>> looked_at({"looked_at": 802, "of": 6000, "exact": False})
    ' (802 of 6,000 looked at)'
    """
    if victims is None or victims["exact"]:
        return ""
    return f" ({count(victims['looked_at'])} of {count(victims['of'])} looked at)"


def learnt(attribute: Dict, before: Dict | None) -> Table:
    """Compare what is learnt about a sensitive attribute: before, group known, group not known."""
    seen = [] if before is None else [before["known"]]
    seen.append(attribute["known"])
    heads = ["before"] if before is not None else []
    heads.append("group known")
    if attribute.get("covering") is not None:
        seen.append(attribute["covering"])
        heads.append("group not known" + looked_at(attribute.get("victims")))
    rows: list[tuple[str, ...]] = []

    def add(label: str, cell: Callable[[Dict], Any]) -> None:
        cells = [str(_tried(cell, told)) for told in seen]
        if any(text != "–" for text in cells):
            rows.append((label, *cells))

    add("value guessed: worst chance", lambda m: as_risk(m["guess"]["worst"]))
    add("value guessed: mean chance", lambda m: percent(m["guess"]["mean"]))
    add("people whose value is as likely as not, or more", lambda m: _at(m["guess"], "0.5"))
    add("people whose value is certain", lambda m: count(m["certain"]["people"]))
    near = attribute["known"].get("nearness")
    if near:
        how = f"guessed to within {nearness(near)}"
        add(f"{how}: worst chance", lambda m: as_risk(m["nearness"]["risk"]["worst"]))
        add(f"{how}: mean chance", lambda m: percent(m["nearness"]["risk"]["mean"]))
        add(
            f"{how}: people, as likely as not, or more", lambda m: _at(m["nearness"]["risk"], "0.5")
        )
        add(f"most of a group in one interval, ± {nearness(near)}",
            lambda m: as_risk(m["nearness"]["fullest"]))  # fmt: skip
    add("values to rule out until one is certain, at least",
        lambda m: count(m["background"]["needed"]["least"]))  # fmt: skip
    add("belief grows by at most", lambda m: _points(m["change"]["largest_gain"]))
    add("belief grows at most", lambda m: f"{figure(m['change']['largest_ratio'])}-fold")
    for label, kind in disclosures(attribute["known"].get("change") or {}):
        add(label, lambda m, kind=kind: count(m["change"][kind]["people"]))  # type: ignore[misc]
    levels = (attribute["known"].get("kinds") or {}).get("levels", ())
    for at in range(len(levels)):  # counted from the values up, as a hierarchy's levels are
        add(f"kind of value (level {len(levels) - 1 - at}): worst chance",
            lambda m, at=at: as_risk(m["kinds"]["levels"][at]["worst"]))  # type: ignore[misc]  # fmt: skip
    add("similar value: worst chance", lambda m: as_risk(m["kinds"]["similarity"]["worst"]))
    add("dissimilarity: worst risk", lambda m: as_risk(m["dissimilarity"]["worst"]))
    return Table(
        caption=f"What is learnt about {attribute['on']}",
        columns=("measure", *heads),
        rows=rows,
    )


def unprotected(risk: Dict) -> Table | None:
    """List what the release says of columns that no principle protects; None if there are none."""
    told = risk["after"].get("disclosures") or ()
    if not told:
        return None
    looks = {"known": "usual quasi-identifier", "sensitive": "sensitive", "unknown": "unknown"}
    sample = next((looked_at(one["victims"]) for one in told), "")
    return Table(
        caption="What the release says of quasi-identifiers and insensitive columns to an "
        "adversary who knows a person's other quasi-identifiers",
        columns=(
            "column",
            "role",
            "looks like",
            "rows that say exactly one value",
            f"people whose value is certain{sample}",
            "at least 90 % sure",
            "most common value",
        ),
        rows=[
            (
                one["on"],
                one["role"],
                looks[one["looks_like"]],
                count(one["published_exactly"]),
                _at(one["guess"], "1"),
                _at(one["guess"], "0.9"),
                percent(one["most_common"]),
            )
            for one in told
        ],
    )


def disclosures(change: Dict) -> list[tuple[str, str]]:
    """Name the ways to learn too much, with their limits, and where their people are counted."""
    told = []
    if sure := change.get("positive"):
        label = f"people whose value is believed with more than {percent(1 - sure['delta'])}"
        told.append((f"{label} (positive disclosure, δ = {figure(sure['delta'])})", "positive"))
    if gone := change.get("negative"):
        label = f"people of whom a value is all but ruled out: below {percent(gone['epsilon'])}"
        if gone.get("floor") is not None:
            label += f", before {percent(gone['floor'])} or more"
        told.append((f"{label} (negative disclosure, ε = {figure(gone['epsilon'])})", "negative"))
    if breach := change.get("breaches"):
        low, high = breach["rho1"], breach["rho2"]
        told.append(
            (
                f"people of whom a belief goes from {percent(low)} or less to {percent(high)} or "
                f"more, or from {percent(1 - low)} or more to {percent(1 - high)} or less "
                "((ρ1,ρ2)-breach)",
                "breaches",
            )
        )
    return told


def claims(attribute: Dict) -> list[str]:
    """Describe how near values are known, of whom and how surely, without naming a value."""
    said = []
    mixed = "Group not known" + looked_at(attribute.get("victims"))
    for who, key in (("Group known", "known"), (mixed, "covering")):
        near = (attribute.get(key) or {}).get("nearness") or {}
        told = near.get("claims") or []
        some = [claim for claim in told if claim["people"]] or told[:1]
        texts = [_claim(claim, attribute["on"], near) for claim in some]
        texts += [width["text"] for width in near.get("widths") or () if width.get("text")][:1]
        if texts:
            said.append(f"{who}: {'; '.join(texts)}.")
    return said


def _claim(claim: Dict, on: str, near: Dict) -> str:
    if claim.get("text"):
        return str(claim["text"])
    people = claim["people"]
    whose = "nobody's" if people == 0 else f"{count(people)} people's"
    sure = "with certainty"
    if claim["confidence"] < 1:
        sure = f"with {percent(claim['confidence'])} confidence"
    within = nearness({**near, "epsilon": claim["within"]})
    how = f"to within {within}" if claim["within"] else "exactly"
    return f"{whose} {on} is known {how} {sure}"


def _worst(risk: Dict | None) -> str:
    return "–" if risk is None else as_risk(risk["worst"])


def _mean(risk: Dict | None) -> str:
    return "–" if risk is None else percent(risk["mean"])


def _at(risk: Dict, level: str) -> str:
    people = risk["above"].get(level, 0)
    return people if people == FEW else count(people)


def _points(gain: float | None) -> str:
    return "–" if gain is None else f"{100 * gain:.3g} points"


def _tried(cell: Callable[[Dict], Any], told: Dict) -> Any:
    """Return a cell; a dash where the audit did not measure it."""
    try:
        return cell(told)
    except (KeyError, TypeError, IndexError):
        return "–"
