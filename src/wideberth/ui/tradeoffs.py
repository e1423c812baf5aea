"""The picture of what ε leaves to m: the report's own, for the app to put the point into."""

from __future__ import annotations

from typing import Any


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
