"""Making a release, and the report on it: the same files as the command line writes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import io
from wideberth.core.progress import Progress
from wideberth.policy.policy import Policy
from wideberth.release.anatomized import suffix_for
from wideberth.release.anonymize import anonymize
from wideberth.release.lattice import lattice
from wideberth.release.release import Release
from wideberth.ui import tasks
from wideberth.ui.tasks.open import short_texts

#: Seconds for which other nodes of the lattice are looked for.
_SECONDS = 60
#: Rows that are shown of a release.
_ROWS = 10


def release_task(
    *,
    path: str,
    content: Mapping[str, Any],
    folder: str,
    seed: int | None = None,
    output: str,
    tell: Progress,
) -> dict[str, Any]:
    """Make a release by a policy, save it, and report on it."""
    # `output` is an empty folder. If there is no report, "problem" says why; the release is there
    # all the same.
    policy = Policy.of(content, folder=Path(folder))
    goal = Path(output)
    exact = policy.transform.get("algorithm") == "anatomy"
    target = goal / ("release" if exact else f"release{suffix_for(path)}")
    with _private():
        made = anonymize(path, policy=policy, seed=seed, progress=tell)
        tell("saving", 0, 1)
        manifest = made.save(target)
        made = replace(made, manifest=manifest)
        told, charts, problem = _reported(made, path, policy, target, tell)
    return {
        "manifest": manifest,
        "report": told,
        "charts": charts,
        "problem": problem,
        "nodes": _nodes(path, policy, tell),
        "previews": _previews(made),
        "files": sorted(p.relative_to(goal).as_posix() for p in goal.rglob("*") if p.is_file()),
    }


def _reported(
    made: Release, path: str, policy: Policy, target: Path, tell: Progress
) -> tuple[dict[str, Any] | None, Any, dict[str, Any] | None]:
    """Write the report; return what it says and its charts, or why there is none."""
    try:
        from wideberth.reports.html import report_charts
        from wideberth.reports.report import report

        original = io.read(path, policy.options)
        told = report(made, original=original, source=target, progress=tell)
        for form in ("html", "json"):
            told.save(target.parent / f"report.{form}")
        return told.to_dict(), without_charts(report_charts(told.to_dict())), None
    except Exception as error:  # whatever it is, the release is made and verified
        return None, None, tasks.failure(error)


def without_charts(content: Any) -> Any:
    """Put plain values in the place of charts."""
    if isinstance(content, Mapping):
        return {key: without_charts(inner) for key, inner in content.items()}
    if isinstance(content, list | tuple):
        return [without_charts(inner) for inner in content]
    return content.to_dict() if hasattr(content, "to_dict") else content


def _previews(made: Release) -> list[dict[str, Any]]:
    """Return the first rows of what is published: of one table, or of two."""
    published = [made.table, getattr(made, "sensitive", None)]
    frames = [io.adopt(one)[0] for one in published if one is not None]
    return [
        {
            "columns": frame.columns,
            "rows": list(
                map(list, zip(*(short_texts(series) for series in frame.head(_ROWS)), strict=True))
            ),
            "sorted_by": _sorted_by(frame),
        }
        for frame in frames
    ]


def _sorted_by(frame: pl.DataFrame) -> str | None:
    """Return the first column in whose order all rows stand, if there is one."""
    for series in frame:
        cells = series.alias("")
        if cells.dtype.is_nested() or cells.n_unique() < 2:
            continue
        if cells.is_sorted() or cells.is_sorted(descending=True):
            return series.name
    return None


def _nodes(path: str, policy: Policy, tell: Progress) -> dict[str, Any] | None:
    """Return the nodes that could be published instead, if it is a lattice."""
    if policy.transform.get("algorithm") != "lattice":
        return None
    seconds = min(policy.transform.get("max_seconds") or _SECONDS, _SECONDS)
    try:
        return lattice(path, policy=policy, max_seconds=seconds, progress=tell).to_dict()
    except Exception:  # none was found in so short a time, say; the release is there
        return None


@contextmanager
def _private() -> Iterator[None]:
    """Make files that only their owner may read."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
