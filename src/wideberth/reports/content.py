"""What a report says, as a dict fit for JSON, composed from the dicts of its parts.

`redact` decides what it leaves out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from wideberth import io
from wideberth.errors import OutputError
from wideberth.release.release import NOT_PROMISED_LINES, PROMISE, now, program_versions
from wideberth.reports.redact import (
    redact_audit,
    redact_finding,
    redact_principle,
    redact_small_counts,
    redact_worst_groups,
    without,
)
from wideberth.reports.summary import verdict
from wideberth.risk.findings import SEVERITIES
from wideberth.risk.verdict import is_severe

#: How many points of a curve are kept, how many bars of a histogram, how many worst groups.
POINTS, BARS, WORST = 200, 40, 10
NO_PROMISE = (
    "None: no policy was given that the table could keep, or it does not keep the one given."
)
_SUFFIXES = (".html", ".htm", ".json")

Dict = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A report. Made by `compose`; `to_dict` is what it says, everything else shows it.

    Parameters
    ----------
    content : dict
        Title, verdict, release, policy, risk, tradeoff, group_sizes, worst_groups, utility,
        queries, probe, findings, promise, not_promised, notes, manifest.
    """

    content: Dict

    def to_dict(self) -> Dict:
        """Return plain values, for JSON."""
        return self.content

    def fails(self, fail_on: str = "high") -> bool:
        """Return whether a finding has this severity or a higher one, or the audit is not safe."""
        return not self.content["risk"]["after"]["safe"] or is_severe(
            self.content["findings"], fail_on
        )

    def json(self) -> str:
        """Return it as JSON."""
        return json.dumps(self.content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def html(self) -> str:
        """Return it as one HTML page that needs nothing else: no script, no network."""
        from wideberth.reports.html import page

        return page(self.content)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write it, all of it or nothing.

        Parameters
        ----------
        path : str or Path
            Where to: a page if it ends in .html, JSON if it ends in .json.
        force : bool
            Whether to replace a file that exists.
        """
        check_path(path, force=force)
        text = self.json() if Path(path).suffix.lower() == ".json" else self.html()
        io.write_text(text, path, force=force)

    def _repr_html_(self) -> str:
        from wideberth.reports.notebook import framed

        return framed(self.html(), self.content["title"])

    def __str__(self) -> str:
        """Return the verdict."""
        told = self.content["verdict"]
        return "\n".join([told["headline"], *(line["text"] for line in told["sentences"])])

    __repr__ = __str__


def check_path(
    path: str | Path, *, force: bool = False, sources: Sequence[str | Path] = ()
) -> None:
    """Raise now the `OutputError` that saving a report would raise later, after the work.

    >>> check_path("report.pdf")
    Traceback (most recent call last):
    wideberth.errors.OutputError: report.pdf: a report is written as .html or .json
      try: report.html
    """
    path = Path(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise OutputError(
            f"{path}: a report is written as .html or .json", hint=path.stem + ".html"
        )
    io.check_target(path, force=force, sources=sources)


def compose(
    *,
    audit: Mapping[str, Any],
    before: Mapping[str, Any] | None = None,
    check: Mapping[str, Any] | None = None,
    advice: Sequence[Mapping[str, Any]] = (),
    group_sizes: Mapping[str, Any] | None = None,
    utility: Mapping[str, Any] | None = None,
    queries: Mapping[str, Any] | None = None,
    probe: Mapping[str, Any] | None = None,
    manifest: Mapping[str, Any] | None = None,
    transform: Mapping[str, Any] | None = None,
    name: str | None = None,
    title: str | None = None,
    created: str | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """Compose a report from what was found out, each part as the dict its object gives."""
    # Defaults: of `check` the audit's own, of `group_sizes` what `utility` says, of `transform` the
    # manifest's, of `created` now.
    made = dict(manifest or {})
    if str(made.get("seed")).startswith("fixed"):  # manifests of earlier versions have the number
        made["seed"] = "fixed, for tests only"
    judged = list((check or audit).get("principles") or [])
    after = redact_audit(audit)
    name = name or (made.get("output") or {}).get("name")
    findings = sorted(
        audit.get("findings") or (), key=lambda found: SEVERITIES.index(found["severity"])
    )
    sizes = group_sizes or _measured_sizes(utility)
    keeps = audit.get("satisfied")
    content: Dict = {
        "title": title or (f"Privacy report: {name}" if name else "Privacy report"),
        "created": created or now(),
        "versions": made.get("versions") or program_versions(),
        "release": {
            "name": name,
            "rows": audit["rows"],
            "groups": audit["groups"],
            "original_rows": audit.get("original_rows"),
            **_suppressed(audit, made, utility),
            "algorithm": (made.get("transform") or transform or {}).get("algorithm"),
        },
        "policy": {
            "roles": _full(audit["roles"]),
            "guessed": bool(audit.get("guessed")),
            "reasons": dict(audit.get("reasons") or {}),
            "satisfied": keeps,
            "principles": [redact_principle(principle) for principle in judged],
            "transform": dict(transform or made.get("transform") or {}) or None,
        },
        "risk": {"before": None if before is None else redact_audit(before), "after": after},
        "tradeoff": [_tradeoff(curve) for curve in advice],
        "group_sizes": None if sizes is None else _sizes(sizes),
        "worst_groups": [
            {
                "principle": principle["name"],
                "on": principle.get("on"),
                "parameters": dict(principle.get("parameters") or {}),
                "groups": redact_worst_groups(principle["worst"][:WORST]),
            }
            for principle in judged
            if principle.get("worst")
        ],
        "utility": None if utility is None else dict(utility),
        "queries": None if queries is None else dict(queries),
        "probe": None if probe is None else dict(probe),
        "findings": [redact_finding(found) for found in findings],
        "promise": (made.get("promise") or PROMISE) if keeps else NO_PROMISE,
        "not_promised": list(made.get("not_promised") or NOT_PROMISED_LINES),
        "notes": [
            *map(redact_small_counts, audit.get("notes") or ()),
            *(made.get("warnings") or ()),
            *notes,
        ],
        "manifest": made or None,
    }
    content["verdict"] = verdict(content)
    return Report(_plain({key: content[key] for key in ("title", "created", "verdict", *content)}))


def _plain(part: Any) -> Any:
    """Return what JSON can hold. It knows no infinity: what has no bound is null."""
    if isinstance(part, Mapping):
        return {str(key): _plain(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(each) for each in part]
    if isinstance(part, float):
        return part if isfinite(part) else None
    return part if isinstance(part, int | str | None) else str(part)


def _suppressed(
    audit: Mapping[str, Any], manifest: Mapping[str, Any], utility: Mapping[str, Any] | None
) -> Dict:
    """Count the rows that are left out, and with them those that are published as ``*`` only."""
    left = audit.get("suppressed")
    if left is None:
        left = (manifest.get("suppressed") or {}).get("rows")
    starred = audit["rows"] - (utility or {}).get("rows", audit["rows"])
    return {"suppressed": None if left is None else left + starred, "starred": starred}


def _full(roles: Mapping[str, Any]) -> Dict:
    return {role: columns for role, columns in roles.items() if columns}


def _tradeoff(advice: Mapping[str, Any]) -> Dict:
    """Keep of an advice what is shown: at most `POINTS` of its curve, its ends always."""
    curve = list(advice["curve"] or ())
    if len(curve) > POINTS:
        last = len(curve) - 1
        curve = [curve[round(at * last / (POINTS - 1))] for at in range(POINTS)]
    return {
        "on": advice.get("on") or advice.get("sensitive"),
        "epsilon": advice.get("epsilon"),
        "m": advice.get("m"),
        "relative": bool(advice.get("relative")),
        "max_m": advice.get("max_m"),
        "max_epsilon_exclusive": advice.get("max_epsilon_exclusive"),
        "reached": advice.get("reached"),
        "curve": [list(point) for point in curve],
    }


def _measured_sizes(utility: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the sizes of groups as the metric of that name tells them."""
    told = (utility or {}).get("group_sizes")
    if told is None or "bins" not in told:
        return told
    return {**without(told, "bins"), "histogram": told["bins"]}


def _sizes(sizes: Mapping[str, Any]) -> Dict:
    """Keep at most `BARS` bars, the last of all larger groups; they end where groups do."""
    bars = [dict(bar) for bar in sizes.get("histogram") or ()]
    if len(bars) > BARS:
        rest = bars[BARS - 1 :]
        joined = {key: sum(bar[key] for bar in rest) for key in ("groups", "rows")}
        bars = [*bars[: BARS - 1], {"from": rest[0]["from"], "to": rest[-1]["to"], **joined}]
    if bars and sizes.get("smallest") is not None:
        bars[0]["from"] = max(bars[0]["from"], sizes["smallest"])
    if bars and sizes.get("largest") is not None:
        bars[-1]["to"] = min(bars[-1]["to"], sizes["largest"])
    return {**sizes, "histogram": bars}
