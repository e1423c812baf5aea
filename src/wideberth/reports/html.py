"""A report as one HTML page: no script, nothing fetched, to be read, printed and listened to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from markupsafe import Markup

from wideberth.core import text
from wideberth.reports import tables
from wideberth.reports.chart_style import Chart
from wideberth.reports.pages import environment
from wideberth.reports.pictures import pictures, same
from wideberth.reports.summary import overall_loss

Dict = dict[str, Any]
_environment = cache(lambda: environment("wideberth.reports"))


def page(content: Dict) -> str:
    """Return the page of a report's content."""
    template = _environment().get_template("report.html")
    drawn = pictures(content)
    shown = zip(content["risk"]["after"]["attributes"], drawn["attributes"], strict=True)
    return template.render(
        report=content,
        attributes=[_attribute(told, content, found["charts"]) for told, found in shown],
        identity={
            "table": tables.identity(content["risk"]),
            "charts": _drawn(drawn["identity"]),
        },
        unprotected=tables.unprotected(content["risk"]),
        tradeoffs=_drawn(drawn["tradeoffs"]),
        sizes=_drawn(drawn["sizes"]),
        losses=_drawn(drawn["losses"]),
        errors=_drawn(drawn["errors"]),
        glance=glance(content),
    )


def _drawn(charts: Iterable[Chart]) -> list[Dict]:
    return [{"chart": chart, "svg": Markup(chart.svg())} for chart in charts]  # noqa: S704


def _attribute(attribute: Dict, content: Dict, charts: Iterable[Chart]) -> Dict:
    """Gather what is shown of a sensitive attribute."""
    return {
        "on": attribute["on"],
        "values": attribute.get("values"),
        "table": tables.learnt(attribute, same(content["risk"]["before"], attribute["on"])),
        "claims": tables.claims(attribute),
        "charts": _drawn(charts),
    }


def glance(content: Dict) -> list[Dict]:
    """Return the few figures that stand below the verdict: before, now, and what it is."""
    after, before = content["risk"]["after"], content["risk"]["before"]
    then = _both(before["identity"]) if before else None
    told = [_tile("worst chance to find a row", then, _both(after["identity"]))]
    for attribute in after["attributes"][:2]:
        how = tables.chief(attribute["known"])[0]
        other = same(before, attribute["on"])
        then = _learnt(other, how) if other else None
        what = f"worst chance to guess {attribute['on']} {how}"
        told.append(_tile(what, then, _learnt(attribute, how)))
    loss = overall_loss(content)
    if loss is not None:
        told.append({"then": None, "now": text.percent(loss), "what": "of detail lost (NCP)"})
    queries = content["queries"]
    if queries and queries.get("median") is not None:
        error = text.percent(queries["median"])
        told.append({"then": None, "now": error, "what": "median error of count queries"})
    findings = content["findings"]
    gravest = f", the gravest: {findings[0]['severity']}" if findings else ""
    what = ("finding" if len(findings) == 1 else "findings") + gravest
    return [*told, {"then": None, "now": str(len(findings)), "what": what}]


def _both(identity: Dict) -> list[float]:
    """Return the worst chance of who knows the group, and of who does not."""
    return [risk["worst"] for risk in (identity["prosecutor"], identity["covering"]) if risk]


def _learnt(attribute: Dict, how: str) -> list[float]:
    """Return the same of guessing a value so nearly; nothing where that was not measured."""
    seen = [tables.chief(m) for m in (attribute["known"], attribute.get("covering")) if m]
    return [risk["worst"] for near, risk in seen if near == how]


def _tile(what: str, then: list[float] | None, now: list[float]) -> Dict:
    """Show the worse of two chances, and which adversary has it: whether the group is known."""
    before = text.as_risk(max(then)) if then else None
    worst, known = text.as_risk(max(now)), text.as_risk(now[0])
    if worst != known:
        what += f", group not known ({known} if the group is known)"
    elif worst in map(text.as_risk, now[1:]):
        what += ", whether or not the group is known"
    else:
        what += " if the group is known"
    return {"then": before, "now": worst, "what": what}
