"""Which pictures a report has: of each risk, of the trade-offs, and of what was lost."""

from __future__ import annotations

from typing import Any

from wideberth.reports import charts, tables, tabling
from wideberth.reports.chart_style import Chart
from wideberth.reports.summary import losses

Dict = dict[str, Any]


def pictures(content: Dict) -> Dict:
    """Return lists of charts, empty where there is nothing to show, of a report's content."""
    shares = losses(content)
    return {
        "identity": [_identity(content["risk"])],
        "attributes": [
            {"on": attribute["on"], "charts": _attribute(f"s{at}", attribute, content)}
            for at, attribute in enumerate(content["risk"]["after"]["attributes"])
        ],
        "tradeoffs": [
            charts.tradeoff(curve, name=f"tradeoff-{at}")
            for at, curve in enumerate(content["tradeoff"])
            if any(step[0] is not None for step in curve["curve"])
        ],
        "sizes": [charts.group_sizes(content["group_sizes"])] if _bars(content) else [],
        "losses": [charts.losses(shares)] if shares else [],
        "errors": [charts.query_errors(content["queries"])] if _asked(content) else [],
    }


def same(audit: Dict | None, on: str) -> Dict | None:
    """Return what an audit says of an attribute."""
    return next((a for a in (audit or {}).get("attributes", ()) if a["on"] == on), None)


def _bars(content: Dict) -> bool:
    return bool((content["group_sizes"] or {}).get("histogram"))


def _asked(content: Dict) -> bool:
    return any(e is not None for e in ((content["queries"] or {}).get("quantiles") or {}).values())


def _identity(risk: Dict) -> Chart:
    after, before = risk["after"]["identity"], (risk["before"] or {}).get("identity")
    known = "group" if after["covering"] else "quasi-identifiers"
    return charts.at_risk(
        after["prosecutor"],
        before["prosecutor"] if before else None,
        name="identity",
        title="People whose row can be found",
        what="How many people's row is found with at least so high a chance, by who knows their "
        f"{known} and that they are in the table.",
    )


def _attribute(name: str, attribute: Dict, content: Dict) -> list[Chart]:
    """Return the charts of a sensitive attribute."""
    on, known, covering = attribute["on"], attribute["known"], attribute.get("covering")
    before = same(content["risk"]["before"], on)
    how, risk = tables.chief(known)
    then = tables.chief(before["known"]) if before else None
    steps = [(m.get("background") or {}).get("ruled_out") or [] for m in (known, covering or {})]
    found = [
        charts.at_risk(
            risk,
            then[1] if then and then[0] == how else None,
            name=f"{name}-risk",
            title=f"People whose {on} is guessed {how}",
            what=f"About how many people {on} is guessed rightly, with at least so high a chance, "
            "by who knows their group.",
        ),
        charts.adversaries(
            _pairs(known, covering),
            name=f"{name}-who",
            on=on,
            bound=tabling.bound(content["policy"]["principles"], on),
        ),
    ]
    if steps[0]:
        found.append(charts.background(*steps, name=f"{name}-background", on=on))
    return found


def _pairs(known: Dict, covering: Dict | None) -> list[tuple[str, Dict, Dict | None]]:
    """Return what is learnt, and the risks of who knows the group and of who does not."""
    pairs = [("exact value", known["guess"], covering["guess"] if covering else None)]
    how, risk = tables.chief(known)
    if risk is not known["guess"]:
        other = tables.chief(covering) if covering else None
        short = how.removeprefix("to ").partition(" (")[0]
        pairs.append((short, risk, other[1] if other and other[0] == how else None))
    return pairs
