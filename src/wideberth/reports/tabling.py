"""The tables of a report: what is written in each cell, for every rendering the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wideberth.core.text import count, counted, figure, reach, sentence, written

Dict = dict[str, Any]
#: A sign for each severity, so that no colour is needed to tell them apart.
SIGNS = {"high": "◆", "medium": "▲", "low": "●", "info": "○"}
#: How many quasi-identifiers get a column each.
_MANY = 6
#: Principles that bound the share of a group that is near, or has, a value: 1/m or 1/l.
_BOUNDS = ("epsilon-m", "delta-l", "frequency-l")


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table as it is shown."""

    caption: str  # what it holds
    columns: tuple[str, ...]  # heads; the first column names the rows
    rows: Sequence[tuple[str, ...]] = ()


def principles(policy: Dict) -> Table:
    """List the principles: what was asked, what is reached, where it fails."""
    return Table(
        caption="Principles of the policy, checked on the published values",
        columns=("principle", "on", "verdict", "reached", "groups that fail", "rows in them"),
        rows=[
            (
                written(p["name"], p["parameters"]),
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


def roles(policy: Dict) -> Table:
    """List which column has which role."""
    meaning = {
        "quasi": "quasi-identifiers: what others may know",
        "sensitive": "sensitive: what nobody is to learn",
        "identifier": "identifiers: not published",
        "insensitive": "insensitive: of no concern",
        "group": "column of group ids",
    }
    given = policy["roles"]
    return Table(
        caption="Roles of the columns" + (" (guessed)" if policy["guessed"] else ""),
        columns=("role", "columns"),
        rows=[
            (meaning.get(role, role), names if isinstance(names, str) else ", ".join(names))
            for role, names in given.items()
        ],
    )


def tradeoffs(curves: list[Dict]) -> Table:
    """Return what was chosen for each sensitive number, and how far one could have gone."""
    rows = []
    for curve in curves:
        relative = curve["relative"]
        bound = curve["max_epsilon_exclusive"]
        rows.append(
            (
                curve["on"],
                reach(curve["epsilon"], relative),
                figure(curve["m"]),
                figure(curve["max_m"]),
                reach(bound, relative),
            )
        )
    return Table(
        caption="What was chosen, and how far one could go with the other as it is",
        columns=("on", "ε", "m", "m up to", "ε below"),
        rows=rows,
    )


def worst_groups(part: Dict) -> Table:
    """List a principle's worst groups by what is published of them."""
    where = f" on {part['on']}" if part["on"] else ""
    names = list(dict.fromkeys(name for group in part["groups"] for name in group["group"]))
    rows = []
    for told in part["groups"]:
        cells = ["–" if (v := told["group"].get(name)) is None else str(v) for name in names]
        if len(names) > _MANY:
            cells = [", ".join(f"{n} {cell}" for n, cell in zip(names, cells, strict=True))]
        rows.append((*cells, count(told["rows"]), reached(told["achieved"]), told["reason"]))
    return Table(
        caption=f"Worst groups: {written(part['principle'], part['parameters'])}{where}",
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


def utility(utility: Dict) -> Table:
    """List what was measured, a figure a row."""
    rows = []
    for measured in utility["figures"]:
        if measured["name"] == "group-sizes":
            continue  # shown by itself
        low, high = measured.get("low"), measured.get("high")
        between = f"{figure(low)} to {figure(high)}" if high is not None else f"from {figure(low)}"
        better = {"lower": "lower", "higher": "higher"}.get(measured.get("goal", ""), "–")
        rows.append((measured["title"], figure(measured["value"]), between, better))
    return Table(
        caption="What the release is worth",
        columns=("measure", "value", "range", "better"),
        rows=rows,
    )


def not_measured(utility: Dict) -> list[tuple[str, str]]:
    """List what could not be measured, and why."""
    told = utility.get("not_measured") or ()
    return [(lacking.get("title") or lacking["name"], lacking["reason"]) for lacking in told]


def probe(probe: Dict) -> Table:
    """Compare models that learnt from the release with models that learnt from the original."""
    rows = [
        (f"{score['model']}: {name}", figure(value), figure(score["release"].get(name)))
        for score in probe["scores"]
        for name, value in score["original"].items()
    ]
    return Table(
        caption=f"Predicting {probe['target']}: models trained on the original, on the release",
        columns=("model and score", "original", "release"),
        rows=rows,
    )


def manifest(manifest: Dict) -> Table:
    """List what a manifest tells, in rows of text."""
    wanted = ("created", "input", "output", "group", "principles", "transform", "seed",
              "suppressed", "loss", "seconds")  # fmt: skip
    return Table(
        caption="From the manifest",
        columns=("what", "as recorded"),
        rows=[(key, told) for key in wanted if (told := _flat(manifest.get(key)))],
    )


def versions(versions: Dict) -> str:
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
