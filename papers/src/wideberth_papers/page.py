"""What a reproduction leaves behind: tables, pictures, a page for each paper and one for all."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import __version__, io
from wideberth_papers.errata import KINDS, as_markdown
from wideberth_papers.running import Outcome, Shown
from wideberth_papers.study import Figure, Rows

SUMMARY = "summary.md"
#: Rows of a table that a page shows; all are in the CSV file.
_MOST = 60
#: Pixels of a picture for one of its own units.
_SCALE = 2


def write(outcome: Outcome, folder: Path, command: str) -> list[Path]:
    """Write the tables and pictures of a study into a folder of its own, and its page beside it.

    Returns
    -------
    list of Path
        All files, the page first.
    """
    own = folder / outcome.study.name
    page = folder / f"{outcome.study.name}.md"
    written = [page]
    for shown in outcome.shown:
        if not shown.rows:
            continue
        written.append(own / f"{shown.figure.name}.csv")
        io.write(_frame(shown.rows), written[-1], force=True)
        if shown.figure.draw is not None:
            named = {"title": f"{outcome.study.name}, {shown.figure.title}"}
            written += _draw(named | shown.figure.draw(shown.rows), own / shown.figure.name)
    io.write_text(_page(outcome, command), page, force=True)
    return written


def write_summary(outcomes: Sequence[Outcome], folder: Path, command: str) -> Path:
    """Write the page that collects all studies."""
    path = folder / SUMMARY
    io.write_text(summary(outcomes, command), path, force=True)
    return path


def summary(outcomes: Sequence[Outcome], command: str) -> str:
    """Return the page that collects studies: verdicts, pictures, the papers' errata."""
    lines = ["# The papers' experiments, reproduced", "", *_made_by(command), ""]
    lines += ["| paper | figure | verdict |", "|---|---|---|"]
    for outcome in outcomes:
        name = outcome.study.name
        for shown in outcome.shown:
            link = f"{name}.md#{shown.figure.name}"
            word = _ours(shown.figure) + shown.verdict.word
            lines.append(f"| {name} | [{shown.figure.title}]({link}) | {word} |")
    for outcome in outcomes:
        name = outcome.study.name
        lines += ["", f"## {name}", "", f"{outcome.study.paper}", "", outcome.study.about, ""]
        lines += [f"On {outcome.table}. [All figures]({name}.md)."]
        for shown in outcome.shown:
            if shown.figure.draw is not None and shown.rows:
                lines += ["", _image(name, shown), "", f"**{shown.figure.title}.** {_said(shown)}"]
    return "\n".join([*lines, "", errata()])


def errata() -> str:
    """Return the section on the papers' errors, as a page ends."""
    return f"{ERRATA}\n\n{_ABOUT_ERRATA}\n\n{as_markdown()}\n"


#: The heading of that section.
ERRATA = "## Errata"
_ABOUT_ERRATA = (
    "What we found wrong or left open in the papers, and remarks for those who program them. "
    + "; ".join(f"*{kind}*: {meaning}" for kind, meaning in KINDS.items())
    + ". Each line ends with an expression of Python "
    "that is true because of it: `from wideberth_papers.errata.proofs import *` gives the "
    "names it uses, and the test suite evaluates all of them."
)


def _page(outcome: Outcome, command: str) -> str:
    name = outcome.study.name
    lines = [f"# {outcome.title}", "", outcome.study.paper, "", outcome.study.about, ""]
    lines += [f"Table: {outcome.table}. Steps: {outcome.seconds:,.0f} s.", ""]
    lines += [*_made_by(command), ""]
    lines += ["| figure | claim | verdict |", "|---|---|---|"]
    for shown in outcome.shown:
        figure = shown.figure
        lines.append(
            f"| [{figure.title}](#{figure.name}) | {_cell(_ours(figure) + figure.claim)} "
            f"| {shown.verdict.word} |"
        )
    for shown in outcome.shown:
        lines += ["", *_section(name, shown)]
    return "\n".join(lines).rstrip() + "\n"


def _section(name: str, shown: Shown) -> list[str]:
    figure = shown.figure
    lines = [f'<a id="{figure.name}"></a>', "", f"## {figure.title}", ""]
    who = "Our claim" if figure.ours else "The paper"
    lines += [f"**{who}:** {figure.claim}", "", f"**Here:** {_said(shown)}"]
    if shown.verdict.counterexample is not None:
        lines += ["", f"**Counterexample:** {shown.verdict.counterexample}"]
    if figure.note:
        lines += ["", f"**Note:** {figure.note}"]
    if not shown.rows:
        return [*lines, "", "Nothing was measured."]
    seen = _table(shown.rows) if figure.draw is None else [_image(name, shown)]
    return [*lines, "", *seen, "", f"[{figure.name}.csv]({name}/{figure.name}.csv)"]


def _ours(figure: Figure) -> str:
    """Mark what is not the paper's."""
    return "our own claim: " if figure.ours else ""


def _said(shown: Shown) -> str:
    return f"*{shown.verdict.word}*. {shown.verdict.because}"


def _image(name: str, shown: Shown) -> str:
    return f"![{shown.figure.title}]({name}/{shown.figure.name}.svg)"


def _made_by(command: str) -> list[str]:
    """Say by what command, program and machine."""
    return [
        f"Made by `{command}`, wideberth {__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores. Times are of this machine."
    ]


def _draw(spec: Mapping[str, Any], path: Path) -> list[Path]:
    """Write a picture as SVG and as PNG."""
    import vl_convert  # takes a while to load

    svg, png = path.with_suffix(".svg"), path.with_suffix(".png")
    with io.drafts(svg, png, force=True) as (vector, pixels):
        vector.write_text(vl_convert.vegalite_to_svg(dict(spec)), encoding="utf-8")
        pixels.write_bytes(vl_convert.vegalite_to_png(dict(spec), scale=_SCALE))
    return [svg, png]


def _frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def _table(rows: Rows) -> list[str]:
    """Return rows as a table of Markdown, the first of many."""
    heads = list(dict.fromkeys(name for row in rows for name in row))
    numbers = {h for h in heads if all(_is_number(row.get(h)) for row in rows)}
    lines = ["| " + " | ".join(heads) + " |"]
    lines.append("|" + "|".join("---:" if head in numbers else "---" for head in heads) + "|")
    lines += [_line(row.get(head) for head in heads) for row in rows[:_MOST]]
    if len(rows) > _MOST:
        lines += ["", f"The first {_MOST} of {len(rows):,} rows."]
    return lines


def _line(cells: Iterable[Any]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: Any) -> str:
    r"""Write a value into a cell of a table.

    >>> _cell(0.123456), _cell(1234567), _cell(None), _cell(True), _cell("a|b")
    ('0.1235', '1,234,567', '–', 'yes', 'a\\|b')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")
