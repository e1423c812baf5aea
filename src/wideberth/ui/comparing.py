"""Several runs of a table, side by side: what each risks and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wideberth.reporting.verdict import overall_loss
from wideberth.showing.adversaries import chief
from wideberth.showing.charts import compared
from wideberth.ui.desk import Run


def comparison(runs: Sequence[Run]) -> dict[str, Any]:
    """Return a row for each run, and the picture of their risk beside their loss."""
    rows = [_row(run) for run in runs]
    drawn = [
        {"name": f"run {row['run']}", "loss": row["loss"], "risk": row["guess"]}
        for row in rows
        if row["loss"] is not None and row["guess"] is not None
    ]
    charts = [compared(drawn).to_dict()] if len(drawn) > 1 else []
    return {"rows": rows, "charts": charts}


def _row(run: Run) -> dict[str, Any]:
    """Gather the figures of a run; None where one was not measured."""
    made = run.result or {}
    manifest, report = made["manifest"], made["report"] or {}
    after = (report.get("risk") or {}).get("after") or {}
    guesses = [
        chief(faced)[1]["worst"]
        for attribute in after.get("attributes", ())
        for faced in (attribute["known"], attribute.get("covering"))
        if faced
    ]
    loss = overall_loss(report) if report else None
    identity = (after.get("identity") or {}).get("prosecutor") or {}
    return {
        "run": run.number,
        "settings": run.settings,
        "groups": manifest["groups"],
        "suppressed": manifest["suppressed"]["rows"],
        "loss": loss,
        "identity": identity.get("worst"),
        "guess": max(guesses, default=None),
        "queries": (report.get("queries") or {}).get("median"),
        "findings": len(report.get("findings") or ()),
        "verdict": report.get("verdict"),
    }
