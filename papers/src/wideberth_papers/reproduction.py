"""Run the studies of one paper or of all, and write their pages."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from wideberth import io
from wideberth.errors import OutputError, ParameterError, TableError
from wideberth_papers import PAPERS, SEED, page
from wideberth_papers.running import JOURNAL, Outcome, Progress, require_folder, run
from wideberth_papers.sources import LEAST
from wideberth_papers.study import Setting, Study


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What came of all studies that were run.

    Parameters
    ----------
    outcomes : list of Outcome
        One a study.
    files : list of Path
        What was written, pages before what they show.
    """

    outcomes: list[Outcome]
    files: list[Path]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "studies": [outcome.to_dict() for outcome in self.outcomes],
            "files": [str(path) for path in self.files],
        }


def study_of(paper: str) -> Study:
    """Return the study of a paper.

    >>> study_of("li2008").name
    'li2008'
    """
    if paper not in PAPERS:
        raise ParameterError(
            f"there is no reproduction of {paper!r}", hint=f"use one of {', '.join(PAPERS)}, all"
        )
    study: Study = import_module(f"wideberth_papers.{paper}").STUDY
    return study


def reproduce(
    paper: str = "all",
    *,
    output: str | Path,
    data: str | Path | Sequence[str | Path] = (),
    rows: int | None = None,
    seed: int = SEED,
    force: bool = False,
    progress: Progress | None = None,
) -> Reproduction:
    """Run a paper's experiments, and write tables, pictures and a page with verdicts.

    A run that was interrupted goes on where it stopped when it is called again.

    Parameters
    ----------
    paper : str
        One of `PAPERS`, or "all".
    output : path
        The folder for everything.
    data : path or sequence of paths
        Tables to use instead of made-up ones, or folders with such. A single paper must be able to
        use one of them; of all papers, those that cannot use any make one up.
    rows : int, optional
        How many rows the tables have at most; by default those of the papers, or all that a given
        table has.
    seed : int
        Equal seeds give equal figures, times apart.
    force : bool
        Whether to begin anew, and to replace pages of other runs.
    progress : callable, optional
        Told the paper, what is measured next, how many steps are done, and how many there are.

    Returns
    -------
    Reproduction
        The figures with their verdicts, and what was written.
    """
    studies = [study_of(name) for name in (PAPERS if paper == "all" else [paper])]
    if rows is not None and rows < LEAST:
        raise ParameterError(f"rows must be a whole number from {LEAST}, not {rows}")
    given = [data] if isinstance(data, str | Path) else list(data)
    setting = Setting(rows=rows, seed=seed, given=[str(path) for path in given])
    for path in setting.given:
        if not Path(path).is_dir():
            io.column_names(path)  # says what is wrong with it, before the work
    _check_given(studies, setting)
    folder = Path(output)
    _check_folder(folder, studies, force=force)
    command = _command(paper, setting)
    outcomes: list[Outcome] = []
    files: list[Path] = []
    for study in studies:
        outcome = run(
            study,
            setting,
            folder / study.name,
            force=force,
            progress=progress,
        )
        files += page.write(outcome, folder, command)
        outcomes.append(outcome)
    if paper == "all":
        files.insert(0, page.write_summary(outcomes, folder, command))
    return Reproduction(outcomes=outcomes, files=files)


def _check_given(studies: Sequence[Study], setting: Setting) -> None:
    """Refuse, before the work, tables that no study can use; say which studies can use none."""
    if not setting.given:
        return
    sources = {study.name: study.plan(setting).source for study in studies}
    unused = [name for name, source in sources.items() if source is None or source.path is None]
    if len(unused) == len(studies):
        shapes = [shape for s in sources.values() if s is not None for shape in s.accepted]
        known = dict.fromkeys(f"{shape.name} ({', '.join(shape.columns)})" for shape in shapes)
        raise TableError(
            f"no table that was given has the columns that {' or '.join(unused)} needs",
            hint=f"give one with the columns of {' or '.join(known)}; or leave out --data",
        )
    for name in unused:
        what = f"{name} can use no table that was given: one is made up"
        warnings.warn(what, io.TableWarning, stacklevel=3)


def _check_folder(folder: Path, studies: Sequence[Study], *, force: bool) -> None:
    """Refuse, before the work, to replace anything that no run has left here."""
    require_folder(folder)
    begun = [(folder / study.name / JOURNAL).exists() for study in studies]
    for study, known in zip(studies, begun, strict=True):
        own = folder / study.name
        if own.exists() and not (known or force) and (not own.is_dir() or any(own.iterdir())):
            what = f"{own} holds other files"
            raise OutputError(what, hint="choose another folder with -o, or use --force")
        io.check_target(folder / f"{study.name}.md", force=force or known)
    if len(studies) > 1:
        io.check_target(folder / page.SUMMARY, force=force or all(begun))


def _command(paper: str, setting: Setting) -> str:
    """Return what to type to repeat a run; of tables the names alone."""
    parts = ["wideberth reproduce", paper]
    parts += [f"--data {Path(path).name}" for path in setting.given]
    if setting.rows is not None:
        parts.append(f"--rows {setting.rows}")
    if setting.seed != SEED:
        parts.append(f"--seed {setting.seed}")
    return " ".join(parts)
