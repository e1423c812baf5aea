"""Run a study: its steps one after the other, those already done left out; then its figures."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from wideberth import __version__
from wideberth.errors import OutputError, PrivacyWarning, TableError
from wideberth_papers.journal import Journal
from wideberth_papers.sources import Source
from wideberth_papers.study import Figure, Plan, Rows, Setting, Study, Verdict

#: Told the study, the step that begins, how many steps are done, and how many there are.
Progress: TypeAlias = Callable[[str, str, int, int], None]

JOURNAL = "steps.jsonl"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A figure with its rows, and what they say about the claim."""

    figure: Figure
    rows: Rows
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a study.

    Parameters
    ----------
    study : Study
        Which it was.
    source : Source, optional
        What it was run on.
    shown : list of Shown
        Its figures.
    seconds : float
        How long its steps took, all together, whenever they were run.
    """

    study: Study
    source: Source | None
    shown: list[Shown]
    seconds: float

    @property
    def title(self) -> str:
        """What it is called: the study, and what it was run on."""
        return f"{self.study.name} on {self.source.name}" if self.source else self.study.name

    @property
    def table(self) -> str:
        """What it was run on, in words."""
        return self.source.describe() if self.source else "no table"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "paper": self.study.name,
            "title": self.study.paper,
            "table": self.table,
            "seconds": round(self.seconds, 1),
            "figures": [
                {
                    "name": shown.figure.name,
                    "title": shown.figure.title,
                    "claim": shown.figure.claim,
                    "verdict": shown.verdict.word,
                    "because": shown.verdict.because,
                    "counterexample": shown.verdict.counterexample,
                }
                for shown in self.shown
            ],
        }


def run(
    study: Study,
    setting: Setting,
    folder: Path,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Run a study, or what is left of it.

    Parameters
    ----------
    study : Study
        What to run.
    setting : Setting
        On what.
    folder : Path
        Where its journal is, or will be.
    force : bool
        Whether to begin anew.
    progress : callable, optional
        Told where it is.
    """
    plan = study.plan(setting)
    folder.mkdir(parents=True, exist_ok=True)
    with Journal(folder / JOURNAL, _identity(study, setting, plan), force=force) as journal:
        with warnings.catch_warnings():
            # The seed is fixed, so that anybody can repeat the run: nothing is published here.
            warnings.simplefilter("ignore", PrivacyWarning)
            for number, step in enumerate(plan.steps):
                if step.key in journal.done:
                    continue
                if progress is not None:
                    progress(study.name, step.key, number, len(plan.steps))
                begin = perf_counter()
                rows = list(step.run())
                journal.keep(step.key, rows, perf_counter() - begin)
            if progress is not None:
                progress(study.name, "", len(plan.steps), len(plan.steps))
        rows = [row for step in plan.steps for row in journal.done[step.key]]
        seconds = sum(journal.seconds.values())
    return Outcome(
        study=study,
        source=plan.source,
        shown=[_show(figure, rows) for figure in plan.figures],
        seconds=seconds,
    )


def _show(figure: Figure, rows: Rows) -> Shown:
    chosen = figure.select(rows)
    return Shown(figure=figure, rows=chosen, verdict=figure.judge(chosen))


def _identity(study: Study, setting: Setting, plan: Plan) -> dict[str, Any]:
    """Return what a run is told by: its figures would be others if this were."""
    path = None if plan.source is None else plan.source.path
    return {
        "study": study.name,
        "wideberth": __version__,
        "rows": setting.rows,
        "seed": setting.seed,
        "table": None if path is None else _digest(Path(path)),
    }


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        raise TableError(f"{path} cannot be read", hint="check the path") from None


def require_folder(folder: Path) -> None:
    """Refuse, before the work, a place where nothing can be written."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is not a directory", hint="choose another name with -o")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{folder} cannot be made", hint="choose another place with -o") from None
