"""The tables of who could be found and of what adversaries learn, and the same in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wideberth.core.text import (
    FEWER_THAN_3,
    as_risk,
    count,
    counted,
    figure,
    nearness_in_words,
    percent,
    principle_in_words,
    reach_in_words,
    sentence,
)

# -----------------------------------------------------------------------------
# The tables of a report: what is written in each cell, for every rendering the same.


Dict = dict[str, Any]
#: A sign for each severity, so that no colour is needed to tell them apart.
SIGNS = {"high": "◆", "medium": "▲", "low": "●", "info": "○"}
#: How many quasi-identifiers get a column each.
_MANY = 6
#: Principles that bound the share of a group that is near, or has, a value: 1/m or 1/l.
_BOUNDS = ("epsilon-m", "delta-l", "frequency-l")


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """A table as it is shown."""

    caption: str  # what it holds
    columns: tuple[str, ...]  # heads; the first column names the rows
    rows: Sequence[tuple[str, ...]] = ()


def principles_table(policy: Dict) -> ReportTable:
    """List the principles: what was asked, what is reached, where it fails."""
    return ReportTable(
        caption="Principles of the policy, checked on the published values",
        columns=("principle", "on", "verdict", "reached", "groups that fail", "rows in them"),
        rows=[
            (
                principle_in_words(p["name"], p["parameters"]),
                p.get("on") or "group sizes",
                "✓ kept" if p["satisfied"] else "✗ not kept",
                reached(p["achieved"]),
                count(p["violating_groups"]) if p["violating_groups"] else "none",
                count(p["violating_rows"]) if p["violating_rows"] else "none",
            )
            for p in policy["principles"]
        ],
    )


def reached(achieved: Dict) -> str:
    """Write what a group, or all of them, achieve."""
    told = (f"no {k}" if v is None else f"{k} = {figure(v)}" for k, v in achieved.items())
    return ", ".join(told) or "–"


def roles(policy: Dict) -> ReportTable:
    """List which column has which role."""
    meaning = {
        "quasi": "quasi-identifiers: what others may know",
        "sensitive": "sensitive: what nobody is to learn",
        "identifier": "identifiers: not published",
        "insensitive": "insensitive: of no concern",
        "group": "column of group ids",
    }
    given = policy["roles"]
    return ReportTable(
        caption="Roles of the columns" + (" (guessed)" if policy["guessed"] else ""),
        columns=("role", "columns"),
        rows=[
            (meaning.get(role, role), names if isinstance(names, str) else ", ".join(names))
            for role, names in given.items()
        ],
    )


def tradeoffs(curves: list[Dict]) -> ReportTable:
    """Return what was chosen for each sensitive number, and how far one could have gone."""
    rows = []
    for curve in curves:
        relative = curve["relative"]
        bound = curve["max_epsilon_exclusive"]
        rows.append(
            (
                curve["on"],
                reach_in_words(curve["epsilon"], relative),
                figure(curve["m"]),
                figure(curve["max_m"]),
                reach_in_words(bound, relative),
            )
        )
    return ReportTable(
        caption="What was chosen, and how far one could go with the other as it is",
        columns=("on", "ε", "m", "m up to", "ε below"),
        rows=rows,
    )


def worst_groups(part: Dict) -> ReportTable:
    """List a principle's worst groups by what is published of them."""
    where = f" on {part['on']}" if part["on"] else ""
    names = list(dict.fromkeys(name for group in part["groups"] for name in group["group"]))
    rows = []
    for told in part["groups"]:
        cells = ["–" if (v := told["group"].get(name)) is None else str(v) for name in names]
        if len(names) > _MANY:
            cells = [", ".join(f"{n} {cell}" for n, cell in zip(names, cells, strict=True))]
        rows.append((*cells, count(told["rows"]), reached(told["achieved"]), told["reason"]))
    return ReportTable(
        caption=f"Worst groups: {principle_in_words(part['principle'], part['parameters'])}{where}",
        columns=(*(names if len(names) <= _MANY else ["group"]), "rows", "reached", "why"),
        rows=rows,
    )


def figures(found: Dict) -> str:
    """Write the numbers behind a finding."""
    return _flat(found.get("figures") or {})


def bound(principles: Sequence[Dict], on: str) -> float | None:
    """Return the chance that the policy permits to who wants to be near a value; None if not said.

    >>> bound([{"name": "epsilon-m", "on": "salary", "parameters": {"m": 5}}], "salary")
    0.2
    """
    told = [p["parameters"] for p in principles if p.get("on") == on and p["name"] in _BOUNDS]
    shares = [1 / n for given in told for key in ("m", "l") if _number(n := given.get(key))]
    return min(shares, default=None)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and value >= 1


def between(low: int, high: int) -> str:
    """Write a range of sizes.

    >>> between(5, 5), between(6, 10)
    ('5', '6–10')
    """
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def sizes_in_words(sizes: Dict) -> str:
    """Describe how large groups are."""
    parts = [
        f"{name} {figure(sizes[name])}"
        for name in ("smallest", "median", "mean", "largest")
        if sizes.get(name) is not None
    ]
    return sentence(f"rows in a group: {', '.join(parts)}") if parts else ""


def release_in_words(release: Dict) -> str:
    """Describe a release by its rows, groups and algorithm."""
    text = f"{counted(release['rows'], 'row')} in {counted(release['groups'], 'group')}"
    return text + (f", algorithm {release['algorithm']}" if release["algorithm"] else "")


def utility_table(utility: Dict) -> ReportTable:
    """List what was measured, a figure a row."""
    rows = []
    for measured in utility["figures"]:
        if measured["name"] == "group-sizes":
            continue  # shown by itself
        low, high = measured.get("low"), measured.get("high")
        between = f"{figure(low)} to {figure(high)}" if high is not None else f"from {figure(low)}"
        better = {"lower": "lower", "higher": "higher"}.get(measured.get("goal", ""), "–")
        rows.append((measured["title"], figure(measured["value"]), between, better))
    return ReportTable(
        caption="What the release is worth",
        columns=("measure", "value", "range", "better"),
        rows=rows,
    )


def not_measured(utility: Dict) -> list[tuple[str, str]]:
    """List what could not be measured, and why."""
    told = utility.get("not_measured") or ()
    return [(lacking.get("title") or lacking["name"], lacking["reason"]) for lacking in told]


def probe_table(probe: Dict) -> ReportTable:
    """Compare models that learnt from the release with models that learnt from the original."""
    rows = [
        (f"{score['model']}: {name}", figure(value), figure(score["release"].get(name)))
        for score in probe["scores"]
        for name, value in score["original"].items()
    ]
    return ReportTable(
        caption=f"Predicting {probe['target']}: models trained on the original, on the release",
        columns=("model and score", "original", "release"),
        rows=rows,
    )


def manifest(manifest: Dict) -> ReportTable:
    """List what a manifest tells, in rows of text."""
    wanted = ("created", "input", "output", "group", "principles", "transform", "seed",
              "suppressed", "loss", "seconds")  # fmt: skip
    return ReportTable(
        caption="From the manifest",
        columns=("what", "as recorded"),
        rows=[(key, told) for key in wanted if (told := _flat(manifest.get(key)))],
    )


def versions_in_words(versions: Dict) -> str:
    """Name the versions of what made it."""
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def _flat(part: Any) -> str:
    """Write a part of a manifest in one line; what is empty is left out."""
    if isinstance(part, dict):
        told = ((key.replace("_", " "), _flat(value)) for key, value in part.items())
        return "; ".join(f"{key}: {text}" for key, text in told if text)
    if isinstance(part, list):
        return ", ".join(_flat(each) for each in part)
    return "" if part is None else figure(part)


# -----------------------------------------------------------------------------
# The tables of who could be found and of what adversaries learn, and the same in words.


def identity_table(risk: Dict) -> ReportTable:
    """Compare who could be named before and after."""
    after, before = risk["after"], risk["before"]
    audits = [a["identity"] for a in (before, after) if a is not None]
    rows: list[tuple[str, ...]] = []

    def add(label: str, cell: Callable[[Dict], str]) -> None:
        cells = [cell(told) for told in audits]
        if any(text != "–" for text in cells):
            rows.append((label, *cells))

    sample = next((sample_note(a.get("victims")) for a in after["attributes"]), "")
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
    return ReportTable(
        caption="Risk that somebody's row is found", columns=("risk", *heads), rows=rows
    )


def chief(measures: Dict) -> tuple[str, Dict]:
    """Return how a value is then known, and the risk, for the risk that counts most."""
    # To be near a value is enough where near means something; else it must be guessed.
    if near := measures.get("nearness"):
        return f"to within {nearness_in_words(near)}", near["risk"]
    if far := measures.get("dissimilarity"):
        return f"to within {reach_in_words(far['epsilon'])}", far
    kinds = measures.get("kinds") or {}
    if kinds.get("similarity"):
        return f"but for similar values (e = {figure(kinds.get('e'))})", kinds["similarity"]
    return "exactly", measures["guess"]


def sample_note(victims: Dict | None) -> str:
    """Describe how many were looked at, if not all were, to find who faces which groups.

    >>> sample_note({"looked_at": 802, "of": 6000, "exact": False})
    ' (802 of 6,000 looked at)'
    """
    if victims is None or victims["exact"]:
        return ""
    return f" ({count(victims['looked_at'])} of {count(victims['of'])} looked at)"


def learned_table(attribute: Dict, before: Dict | None) -> ReportTable:
    """Compare what is learnt about a sensitive attribute: before, group known, group not known."""
    seen = [] if before is None else [before["known"]]
    seen.append(attribute["known"])
    heads = ["before"] if before is not None else []
    heads.append("group known")
    if attribute.get("covering") is not None:
        seen.append(attribute["covering"])
        heads.append("group not known" + sample_note(attribute.get("victims")))
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
        how = f"guessed to within {nearness_in_words(near)}"
        add(f"{how}: worst chance", lambda m: as_risk(m["nearness"]["risk"]["worst"]))
        add(f"{how}: mean chance", lambda m: percent(m["nearness"]["risk"]["mean"]))
        add(
            f"{how}: people, as likely as not, or more", lambda m: _at(m["nearness"]["risk"], "0.5")
        )
        add(f"most of a group in one interval, ± {nearness_in_words(near)}",
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
    return ReportTable(
        caption=f"What is learnt about {attribute['on']}",
        columns=("measure", *heads),
        rows=rows,
    )


def unprotected(risk: Dict) -> ReportTable | None:
    """List what the release says of columns that no principle protects; None if there are none."""
    told = risk["after"].get("disclosures") or ()
    if not told:
        return None
    looks = {"known": "usual quasi-identifier", "sensitive": "sensitive", "unknown": "unknown"}
    sample = next((sample_note(one["victims"]) for one in told), "")
    return ReportTable(
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


def proximity_claims(attribute: Dict) -> list[str]:
    """Describe how near values are known, of whom and how surely, without naming a value."""
    said = []
    mixed = "Group not known" + sample_note(attribute.get("victims"))
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
    within = nearness_in_words({**near, "epsilon": claim["within"]})
    how = f"to within {within}" if claim["within"] else "exactly"
    return f"{whose} {on} is known {how} {sure}"


def _worst(risk: Dict | None) -> str:
    return "–" if risk is None else as_risk(risk["worst"])


def _mean(risk: Dict | None) -> str:
    return "–" if risk is None else percent(risk["mean"])


def _at(risk: Dict, level: str) -> str:
    people = risk["above"].get(level, 0)
    return people if people == FEWER_THAN_3 else count(people)


def _points(gain: float | None) -> str:
    return "–" if gain is None else f"{100 * gain:.3g} points"


def _tried(cell: Callable[[Dict], Any], told: Dict) -> Any:
    """Return a cell; a dash where the audit did not measure it."""
    try:
        return cell(told)
    except (KeyError, TypeError, IndexError):
        return "–"
