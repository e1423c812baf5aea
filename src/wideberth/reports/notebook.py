"""How objects show themselves in a notebook: small HTML that brings its own style and no more.

Each function takes the dict that the object's `to_dict` gives (of a release, its manifest). Styles
are written into the elements, so that nothing around them changes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from wideberth.core.groups import Uneven
from wideberth.core.text import (
    as_risk,
    count,
    counted,
    figure,
    nearness_in_words,
    percent,
    principle_in_words,
)
from wideberth.principles import lookup
from wideberth.reports import charts, tables
from wideberth.risk.verdict import MARKS

_BOX = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;max-width:60rem"
_CELL = "text-align:left;padding:.25em 1em .25em 0;border-bottom:1px solid #8886"
_FINDING = ("severity", "finding", "what it means", "what to do")
_COLOURS = {True: "#17603a", False: "#9b1c1c", None: "inherit"}


def framed(page: str, title: str) -> str:
    """Show a whole page in a frame of its own; its style stays in there, and scripts are off."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" sandbox="" '
        'style="width:100%;height:720px;border:1px solid #8886;border-radius:4px"></iframe>'
    )


def check_html(told: Mapping[str, Any]) -> str:
    """Show a `CheckResult`: the verdict, and a line a principle."""
    table = tables.principles_table({"principles": told["principles"]})
    return _box(
        _verdict(told["satisfied"], f"{_rows(told)}", said=told.get("verdict")),
        _table(table.columns, table.rows),
        _uneven(told.get("uneven")),
        _notes(told.get("notes") or ()),
    )


def release_html(manifest: Mapping[str, Any]) -> str:
    """Show a `Release`: what was made, what was verified, what it cost."""
    loss, left = manifest.get("loss") or {}, (manifest.get("suppressed") or {}).get("rows")
    lost = loss.get("ncp_percent")
    facts = [
        ("verified", ", ".join(manifest["principles"]) or "nothing was asked"),
        ("loss (NCP)", None if lost is None else f"{figure(lost)} %"),
        ("rows left out", None if left is None else count(left)),
        ("algorithm", (manifest.get("transform") or {}).get("algorithm")),
    ]
    satisfied = (manifest.get("verified") or {}).get("satisfied")
    return _box(
        _verdict(satisfied, _rows(manifest)),
        _table(("", ""), [(name, told) for name, told in facts if told is not None]),
        _notes(manifest.get("warnings") or ()),
    )


def advice_html(told: Mapping[str, Any]) -> str:
    """Show an `Advice`: the trade-off as a picture, and how far the other principles can go."""
    steps = [step for step in told.get("curve") or () if step[0] is not None]
    parts = [f"<strong>{escape(str(told['sensitive']))}</strong>: {counted(told['rows'], 'row')}"]
    if steps:
        curve = {
            "on": told["sensitive"],
            "relative": bool(told.get("relative")),
            "epsilon": told.get("epsilon"),
            "m": told.get("m"),
            "curve": steps,
        }
        chart = charts.tradeoff(curve, name=f"advice-{secrets.token_hex(4)}")
        parts.append(
            '<div style="background:#fff;color:#1f2933;padding:.5em;max-width:490px">'
            f"{chart.svg()}</div>"
        )
    rows = [
        (principle_in_words(other["name"], other["given"]), _limit(other))
        for other in told.get("other") or ()
        if other.get("achievable") and other.get("value") is not None
    ]
    return _box(*parts, _table(("principle", "possible"), rows) if rows else "")


def audit_html(told: Mapping[str, Any]) -> str:
    """Show an `Audit`: the verdict, the worst risks, the findings."""
    identity = told["identity"]
    rows = [("find a row", as_risk(identity["prosecutor"]["worst"]), _worst(identity["covering"]))]
    for attribute in told["attributes"]:
        known, covering = attribute["known"], attribute.get("covering") or {}
        rows.append(
            (f"guess {attribute['on']}", _worst(known["guess"]), _worst(covering.get("guess")))
        )
        near = known.get("nearness")
        if near:
            how = nearness_in_words(near)
            mixed = (covering.get("nearness") or {}).get("risk")
            name = f"guess {attribute['on']} to within {how}"
            rows.append((name, _worst(near["risk"]), _worst(mixed)))
    sample = next((tables.sample_note(a.get("victims")) for a in told["attributes"]), "")
    found = [
        (f"{tables.SIGNS[f['severity']]} {f['severity']}", f["title"], f["meaning"], f["advice"])
        for f in told["findings"]
    ]
    return _box(
        _safe(told, _rows(told)),
        _table(("worst chance to", "group known", f"group not known{sample}"), rows),
        _table(("severity", "finding", "what it means", "what to do"), found)
        if found
        else "No findings.",
        _notes(told.get("notes") or ()),
    )


def utility_html(told: Mapping[str, Any]) -> str:
    """Show a `Utility`: a line a metric, a column a quasi-identifier."""
    figures = [f for f in told["figures"] if f["name"] != "group-sizes"]
    names = list(dict.fromkeys(n for f in figures for n in f.get("by_attribute") or ()))
    rows = [
        (
            f["title"],
            figure(f["value"]),
            *(figure((f.get("by_attribute") or {}).get(name)) for name in names),
        )
        for f in figures
    ]
    return _box(
        f"<strong>{escape(_rows(told))}</strong>",
        _table(("metric", "overall", *names), rows),
        _notes(told.get("notes") or ()),
    )


def queries_html(told: Mapping[str, Any]) -> str:
    """Show a `QueryError`: the errors that given shares of the queries do not exceed."""
    rows = [(percent(float(q)), percent(e)) for q, e in told["quantiles"].items()]
    head = f"{counted(told['queries'], 'query', 'queries')}, mean error {percent(told['mean'])}"
    return _box(f"<strong>{escape(head)}</strong>", _table(("queries", "error at most"), rows))


def _limit(other: Mapping[str, Any]) -> str:
    """Write how far a parameter can go; of some, less is stronger."""
    lower = lookup(other["name"]).parameters()[other["parameter"]].stronger == "lower"
    sign = ">" if lower else "<"
    sign = sign if other["exclusive"] else "≥" if lower else "≤"
    return f"{other['parameter']} {sign} {figure(other['value'])}"


def _rows(told: Mapping[str, Any]) -> str:
    return f"{counted(told['rows'], 'row')} in {counted(told['groups'], 'group')}"


def _uneven(told: Mapping[str, Any] | None) -> str:
    return "" if told is None else escape(f"✗ {Uneven(**told)}")


def _worst(risk: Mapping[str, Any] | None) -> str:
    return "–" if risk is None else as_risk(risk["worst"])


def _verdict(satisfied: bool | None, text: str, *, said: str | None = None) -> str:
    if satisfied and said not in (None, "satisfied"):
        satisfied, said = False, f"✗ {said}: a person seems to have several rows"
    else:
        said = {True: "✓ satisfied", False: "✗ not satisfied", None: "no policy"}[satisfied]
    return (
        f'<strong style="color:{_COLOURS[satisfied]}">{said}</strong> <span>{escape(text)}</span>'
    )


def _safe(told: Mapping[str, Any], text: str) -> str:
    level = told["level"]
    said = f"{MARKS[level]} {told['verdict']}"
    colour = _COLOURS[{"good": True, "bad": False}.get(level)]
    return f'<strong style="color:{colour}">{escape(said)}</strong> <span>{escape(text)}</span>'


def _box(*parts: str) -> str:
    inner = "".join(f'<div style="margin:.2em 0 .6em">{part}</div>' for part in parts if part)
    return f'<div style="{_BOX}">{inner}</div>'


def _table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    heads = "".join(f'<th style="{_CELL}" scope="col">{escape(c)}</th>' for c in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(str(c))}</td>' for c in row) + "</tr>"
        for row in rows
    )
    top = f"<thead><tr>{heads}</tr></thead>" if any(columns) else ""
    return f'<table style="border-collapse:collapse">{top}<tbody>{body}</tbody></table>'


def _notes(notes: Iterable[str]) -> str:
    return "".join(f"<div>note: {escape(note)}</div>" for note in notes)
