"""A report as one HTML page: no script, nothing fetched, to be read, printed and listened to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wideberth.reporting.verdict import losses, overall_loss
from wideberth.showing import adversaries, charts, picture, tabling, wording

Dict = dict[str, Any]


def page(content: Dict) -> str:
    """Return the page of a report's content."""
    template = _environment().get_template("report.html")
    return template.render(
        report=content,
        attributes=[_attribute(a, content) for a in content["risk"]["after"]["attributes"]],
        identity=_identity(content),
        tradeoffs=_drawn(
            charts.tradeoff(curve, name=f"tradeoff-{at}")
            for at, curve in enumerate(content["tradeoff"])
            if any(step[0] is not None for step in curve["curve"])
        ),
        sizes=_drawn([charts.group_sizes(content["group_sizes"])] if _bars(content) else []),
        losses=_drawn([charts.losses(shares)] if (shares := losses(content)) else []),
        errors=_drawn([charts.query_errors(content["queries"])] if _asked(content) else []),
        glance=_glance(content),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("wideberth.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for shown in (wording.count, wording.counted, wording.figure, wording.percent,
                  wording.as_risk, wording.sentence, wording.moment):  # fmt: skip
        environment.filters[shown.__name__] = shown
    environment.globals.update(tabling=tabling, signs=tabling.SIGNS, words=tabling.WORDS)
    return environment


def _drawn(pictures: Iterable[picture.Chart]) -> list[Dict]:
    return [{"chart": chart, "svg": Markup(chart.svg())} for chart in pictures]  # noqa: S704


def _bars(content: Dict) -> bool:
    return bool((content["group_sizes"] or {}).get("histogram"))


def _asked(content: Dict) -> bool:
    return any(e is not None for e in ((content["queries"] or {}).get("quantiles") or {}).values())


def _identity(content: Dict) -> Dict:
    after, before = content["risk"]["after"], content["risk"]["before"]
    known = "group" if after["identity"]["covering"] else "quasi-identifiers"
    chart = charts.at_risk(
        after["identity"]["prosecutor"],
        before["identity"]["prosecutor"] if before else None,
        name="identity",
        title="People whose row can be found",
        what="How many people's row is found with at least so high a chance, by who knows their "
        f"{known} and that they are in the table.",
    )
    return {"table": adversaries.identity(content["risk"]), "charts": _drawn([chart])}


def _attribute(attribute: Dict, content: Dict) -> Dict:
    """Gather what is shown of a sensitive attribute."""
    on, known, covering = attribute["on"], attribute["known"], attribute.get("covering")
    before = _same(content["risk"]["before"], on)
    name = f"s{content['risk']['after']['attributes'].index(attribute)}"
    how, risk = adversaries.chief(known)
    then = adversaries.chief(before["known"]) if before else None
    steps = [(m.get("background") or {}).get("ruled_out") or [] for m in (known, covering or {})]
    pictures = [
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
        pictures.append(charts.background(*steps, name=f"{name}-background", on=on))
    return {
        "on": on,
        "values": attribute.get("values"),
        "table": adversaries.learnt(attribute, before),
        "claims": adversaries.claims(attribute),
        "charts": _drawn(pictures),
    }


def _pairs(known: Dict, covering: Dict | None) -> list[tuple[str, Dict, Dict | None]]:
    """Return what is learnt, and the risks of who knows the group and of who does not."""
    pairs = [("exact value", known["guess"], covering["guess"] if covering else None)]
    how, risk = adversaries.chief(known)
    if risk is not known["guess"]:
        other = adversaries.chief(covering) if covering else None
        short = how.removeprefix("to ").partition(" (")[0]
        pairs.append((short, risk, other[1] if other and other[0] == how else None))
    return pairs


def _same(audit: Dict | None, on: str) -> Dict | None:
    """Return what an audit says of an attribute."""
    return next((a for a in (audit or {}).get("attributes", ()) if a["on"] == on), None)


def _glance(content: Dict) -> list[Dict]:
    """Return the few figures that stand below the verdict: before, now, and what it is."""
    after, before = content["risk"]["after"], content["risk"]["before"]
    then = _both(before["identity"]) if before else None
    told = [_tile("worst chance to find a row", then, _both(after["identity"]))]
    for attribute in after["attributes"][:2]:
        how = adversaries.chief(attribute["known"])[0]
        other = _same(before, attribute["on"])
        then = _learnt(other, how) if other else None
        what = f"worst chance to guess {attribute['on']} {how}"
        told.append(_tile(what, then, _learnt(attribute, how)))
    loss = overall_loss(content)
    if loss is not None:
        told.append({"then": None, "now": wording.percent(loss), "what": "of detail lost (NCP)"})
    queries = content["queries"]
    if queries and queries.get("median") is not None:
        error = wording.percent(queries["median"])
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
    seen = [adversaries.chief(m) for m in (attribute["known"], attribute.get("covering")) if m]
    return [risk["worst"] for near, risk in seen if near == how]


def _tile(what: str, then: list[float] | None, now: list[float]) -> Dict:
    """Show the worse of two chances; if it is that without the group, the other one as well."""
    before = wording.as_risk(max(then)) if then else None
    worst, known = wording.as_risk(max(now)), wording.as_risk(now[0])
    if worst != known:
        what += f" ({known} if the group is known)"
    return {"then": before, "now": worst, "what": what}
