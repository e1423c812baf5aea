"""A report as one HTML page: no script, nothing fetched, to be read, printed and listened to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wideberth.core import text
from wideberth.reports import charts, tables
from wideberth.reports.chart_style import Chart
from wideberth.reports.summary import overall_loss, reported_losses
from wideberth.risk.verdict import MARKS, WORDS

# -----------------------------------------------------------------------------
# Pages from templates: how numbers are written in them, and the parts that all of them share.


def environment(package: str) -> Environment:
    r"""Return what renders the templates of a package, and those of reports.

    >>> environment("wideberth.reports").from_string("{{ 0.071|percent }}").render()
    '7.1\xa0%'
    """
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("wideberth.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for shown in (text.count, text.counted, text.figure, text.percent,
                  text.as_risk, text.sentence, text.moment):  # fmt: skip
        made.filters[shown.__name__] = shown
    made.globals.update(report_tables=tables, signs=tables.SIGNS, words=WORDS, marks=MARKS)
    return made


# -----------------------------------------------------------------------------
# Which pictures a report has: of each risk, of the trade-offs, and of what was lost.


Dict = dict[str, Any]


def report_charts(content: Dict) -> Dict:
    """Return lists of charts, empty where there is nothing to show, of a report's content."""
    shares = reported_losses(content)
    return {
        "identity": [_identity(content["risk"])],
        "attributes": [
            {"on": attribute["on"], "charts": _pictured_attribute(f"s{at}", attribute, content)}
            for at, attribute in enumerate(content["risk"]["after"]["attributes"])
        ],
        "tradeoffs": [
            charts.tradeoff(curve, name=f"tradeoff-{at}")
            for at, curve in enumerate(content["tradeoff"])
            if any(step[0] is not None for step in curve["curve"])
        ],
        "sizes": [charts.group_sizes(content["group_sizes"])] if _bars(content) else [],
        "losses": [charts.loss_chart(shares)] if shares else [],
        "errors": [charts.query_errors(content["queries"])] if _asked(content) else [],
    }


def attribute_in_audit(audit: Dict | None, on: str) -> Dict | None:
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


def _pictured_attribute(name: str, attribute: Dict, content: Dict) -> list[Chart]:
    """Return the charts of a sensitive attribute."""
    on, known, covering = attribute["on"], attribute["known"], attribute.get("covering")
    before = attribute_in_audit(content["risk"]["before"], on)
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
        charts.adversary_chart(
            _pairs(known, covering),
            name=f"{name}-who",
            on=on,
            bound=tables.bound(content["policy"]["principles"], on),
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


# -----------------------------------------------------------------------------
# A report as one HTML page: no script, nothing fetched, to be read, printed and listened to.


_environment = cache(lambda: environment("wideberth.reports"))


def page(content: Dict) -> str:
    """Return the page of a report's content."""
    template = _environment().get_template("report.html")
    drawn = report_charts(content)
    shown = zip(content["risk"]["after"]["attributes"], drawn["attributes"], strict=True)
    return template.render(
        report=content,
        attributes=[_attribute(told, content, found["charts"]) for told, found in shown],
        identity={
            "table": tables.identity_table(content["risk"]),
            "charts": _drawn(drawn["identity"]),
        },
        unprotected=tables.unprotected(content["risk"]),
        tradeoffs=_drawn(drawn["tradeoffs"]),
        sizes=_drawn(drawn["sizes"]),
        losses=_drawn(drawn["losses"]),
        errors=_drawn(drawn["errors"]),
        glance=key_figures(content),
    )


def _drawn(charts: Iterable[Chart]) -> list[Dict]:
    return [{"chart": chart, "svg": Markup(chart.svg())} for chart in charts]  # noqa: S704


def _attribute(attribute: Dict, content: Dict, charts: Iterable[Chart]) -> Dict:
    """Gather what is shown of a sensitive attribute."""
    return {
        "on": attribute["on"],
        "values": attribute.get("values"),
        "table": tables.learned_table(
            attribute, attribute_in_audit(content["risk"]["before"], attribute["on"])
        ),
        "claims": tables.proximity_claims(attribute),
        "charts": _drawn(charts),
    }


def key_figures(content: Dict) -> list[Dict]:
    """Return the few figures that stand below the verdict: before, now, and what it is."""
    after, before = content["risk"]["after"], content["risk"]["before"]
    then = _both(before["identity"]) if before else None
    told = [_tile("worst chance to find a row", then, _both(after["identity"]))]
    for attribute in after["attributes"][:2]:
        how = tables.chief(attribute["known"])[0]
        other = attribute_in_audit(before, attribute["on"])
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
