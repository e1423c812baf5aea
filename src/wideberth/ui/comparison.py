"""Several runs of a table, side by side: what each risks and what it costs.

A risk is measured with the reach that a run's own policy has: to be within 10 of an income is
harder than to be within 5,000 of it. Runs are compared on one yardstick only: the widest reach of
them all, for what is sensitive in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wideberth.core.text import join_names, reach_in_words
from wideberth.reports.charts import comparison_chart
from wideberth.reports.summary import overall_loss
from wideberth.reports.tables import chief
from wideberth.ui.open_tables import ReleaseRun

#: Worst chances that were measured anew: by run, attribute and reach.
Weighed = dict[tuple[int, str, str], float]


@dataclass(frozen=True)
class RunComparison:
    """The measures by which runs are compared."""

    runs: Sequence[ReleaseRun]
    shared: list[str] = field(default_factory=list)  # sensitive in all runs
    aside: list[str] = field(default_factory=list)  # sensitive in some runs only
    # by attribute, the ε for all runs, where theirs differ
    reaches: dict[str, str] = field(default_factory=dict)
    # attributes for which only exact guesses can be compared
    exact: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, runs: Sequence[ReleaseRun]) -> RunComparison:
        """Find what runs have in common."""
        judged = [run for run in runs if _attributes(run)]
        sets = [set(_attributes(run)) for run in judged]
        shared = sorted(set.intersection(*sets)) if sets else []
        found = cls(judged, shared, sorted(set().union(*sets).difference(shared)))
        for on in shared:
            measures = [_attributes(run)[on]["known"] for run in judged]
            if len({chief(one)[0] for one in measures}) == 1:
                continue
            near = [one.get("nearness") for one in measures]
            if all(near) and len({bool(one["relative"]) for one in near}) == 1:
                widest = max(float(one["epsilon"]) for one in near)
                share = bool(near[0]["relative"])
                found.reaches[on] = f"{100 * widest:.12g}%" if share else f"{widest:.12g}"
            else:
                found.exact.append(on)
        return found

    def lacking(self, weighed: Weighed) -> list[ReleaseRun]:
        """Return the runs that have yet to be measured with it."""
        return [
            run
            for run in self.runs
            if any((run.number, on, near) not in weighed for on, near in self.reaches.items())
        ]

    def risk(self, run: ReleaseRun, weighed: Weighed) -> float | None:
        """Return the worst chance to guess a shared attribute of anybody, group known or not."""
        found = []
        for on in self.shared if run in self.runs else ():
            told = _attributes(run)[on]
            if on in self.reaches:
                found.append(weighed.get((run.number, on, self.reaches[on])))
                continue
            faced = [one for one in (told["known"], told.get("covering")) if one]
            risks = [one["guess"] if on in self.exact else chief(one)[1] for one in faced]
            found.append(max(risk["worst"] for risk in risks))
        return max((one for one in found if one is not None), default=None)

    def words(self) -> list[str]:
        """Return notes on what is measured, where that does not go without saying."""
        said = []
        for on, near in self.reaches.items():
            widest = near if near.endswith("%") else reach_in_words(float(near))
            said.append(f"guessing {on} to within {widest}, the widest reach of these runs")
        for on in self.exact:
            said.append(f"guessing {on} exactly, as the runs ask for unlike things")
        if self.aside:
            said.append(
                f"left out: {join_names(self.aside)}, sensitive in some of the runs only; "
                "where it is not, it is published openly"
            )
        return said


def _attributes(run: ReleaseRun) -> dict[str, dict[str, Any]]:
    """Return what was found out about each sensitive attribute of a run."""
    report = (run.result or {}).get("report") or {}
    after = (report.get("risk") or {}).get("after") or {}
    return {told["on"]: told for told in after.get("attributes", ())}


def comparison(runs: Sequence[ReleaseRun], weighed: Weighed) -> dict[str, Any]:
    """Return a row for each run, and the picture of their risk beside their loss."""
    yardstick = RunComparison.of(runs)
    waiting = bool(yardstick.lacking(weighed))
    rows = [_row(run, None if waiting else yardstick.risk(run, weighed)) for run in runs]
    drawn = [
        {"name": f"run {row['run']}", "loss": row["loss"], "risk": row["guess"]}
        for row in rows
        if row["loss"] is not None and row["guess"] is not None
    ]
    return {
        "rows": rows,
        "charts": [comparison_chart(drawn).to_dict()] if len(drawn) > 1 else [],
        "waiting": waiting,
        "words": yardstick.words(),
    }


def _row(run: ReleaseRun, guess: float | None) -> dict[str, Any]:
    """Gather the figures of a run; None where one was not measured."""
    made: Mapping[str, Any] = run.result or {}
    manifest, report = made["manifest"], made["report"] or {}
    after = (report.get("risk") or {}).get("after") or {}
    identity = after.get("identity") or {}
    found = [one["worst"] for who in ("prosecutor", "covering") if (one := identity.get(who))]
    return {
        "run": run.number,
        "settings": run.settings,
        "groups": manifest["groups"],
        "suppressed": manifest["suppressed"]["rows"],
        "loss": overall_loss(report) if report else None,
        "identity": max(found, default=None),
        "guess": guess,
        "queries": (report.get("queries") or {}).get("median"),
        "findings": len(report.get("findings") or ()),
        "verdict": report.get("verdict"),
    }


# -----------------------------------------------------------------------------
# The picture of what ε leaves to m: the report's own, for the app to put the point into.


def pictured(advice: dict[str, Any]) -> dict[str, Any]:
    """Return the specifications of the curves there are: absolute, halved for δ, relative."""
    from wideberth.reports.charts import tradeoff

    curves = {
        "absolute": advice["absolute"],
        "halved": _halved(advice["absolute"] or []),
        "relative": advice["relative"],
    }
    found = {}
    for kind, curve in curves.items():
        if curve:
            asked = {
                "on": advice["column"],
                "curve": curve,
                "relative": kind == "relative",
                "epsilon": None,
                "m": None,
            }
            letters = ("δ", "l") if kind == "halved" else ("ε", "m")
            found[kind] = tradeoff(asked, name=kind, movable=True, letters=letters).spec
    return found


def _halved(curve: list[list[Any]]) -> list[list[Any]]:
    """Turn the curve of ε and m into one of δ and l: windows are twice δ, so ε = 2δ, m = l."""
    return [[None if bound is None else bound / 2, m] for bound, m in curve]
