"""A report for a terminal: the same content as the page, in lines of text that fit 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wideberth.core.text import count, percent
from wideberth.reports import tables
from wideberth.reports.content import Report
from wideberth.reports.summary import reported_losses
from wideberth.risk.verdict import MARKS, WORDS

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_STYLES = {
    "good": "green", "caution": "yellow", "bad": "red",
    "high": "red", "medium": "yellow", "low": "cyan", "info": "dim",
}  # fmt: skip
_WIDEST = 24  # of a bar
#: For terminals that know only ASCII.
_ASCII = str.maketrans(
    {"ε": "epsilon", "–": "-", "…": "...", "“": '"', "”": '"', "→": "->", "ρ": "rho", "δ": "delta",
     "✓": "ok", "✗": "FAIL", "◆": "*", "▲": "!", "●": "o", "○": ".", "█": "#", "·": ",", "≥": ">="}
)  # fmt: skip


def render_report(report: Report, *, unicode: bool = True) -> list[RenderableType]:
    """Return the parts that a person reads; `unicode`: the terminal shows more than ASCII."""
    from rich.text import Text

    told = report.content
    write = _Writer(unicode)
    verdict = told["verdict"]
    style = _STYLES[verdict["level"]]
    sign, word = MARKS[verdict["level"]], WORDS[verdict["level"]]
    parts: list[RenderableType] = [
        Text(write.text(told["title"]), style="bold"),
        Text(write.text(tables.release_in_words(told["release"]))),
        Text(write.text(f"\n{sign} {word}: {verdict['headline']}"), style=f"{style} bold"),
        write.pairs((line["about"], line["text"]) for line in verdict["sentences"]),
    ]
    if told["policy"]["principles"]:
        parts += write.table(tables.principles_table(told["policy"]))
    parts += write.table(tables.identity_table(told["risk"]))
    for attribute in told["risk"]["after"]["attributes"]:
        parts += write.table(tables.learned_table(attribute, _before(told, attribute["on"])))
        parts += [Text(write.text(claim)) for claim in tables.proximity_claims(attribute)]
    if (unprotected := tables.unprotected(told["risk"])) is not None:
        parts += write.table(unprotected)
    if told["tradeoff"]:
        parts += write.table(tables.tradeoffs(told["tradeoff"]))
    parts += _bars(told, write)
    if told["utility"] and told["utility"].get("figures"):
        parts += write.table(tables.utility_table(told["utility"]))
    if told["probe"]:
        parts += write.table(tables.probe_table(told["probe"]))
    parts.append(write.head("Findings" if told["findings"] else "Findings: none"))
    for found in told["findings"]:
        severity = found["severity"]
        line = f"{tables.SIGNS[severity]} {severity}: {found['title']}"
        parts.append(Text(write.text(line), style=_STYLES[severity]))
        parts.append(write.pairs([("", found["meaning"]), ("do:", found["advice"])]))
    parts += [Text(write.text(f"note: {note}"), style="yellow") for note in told["notes"]]
    parts += [write.head("Promise"), Text(write.text(told["promise"])), write.head("Not promised")]
    parts.append(write.pairs(("-", line) for line in told["not_promised"]))
    return parts


def _before(told: dict[str, Any], on: str) -> dict[str, Any] | None:
    before = told["risk"]["before"] or {"attributes": []}
    return next((a for a in before["attributes"] if a["on"] == on), None)


def _bars(told: dict[str, Any], write: _Writer) -> list[RenderableType]:
    """Return sizes of groups, losses and errors as lines of blocks."""
    parts = []
    sizes = (told["group_sizes"] or {}).get("histogram")
    if sizes:
        bars = [
            (tables.between(bar["from"], bar["to"]), bar["groups"], count(bar["groups"]))
            for bar in sizes
        ]
        parts += write.bars("Groups by rows", bars)
    if lost := reported_losses(told):
        parts += write.bars(
            "Loss by quasi-identifier", [(k, v, percent(v)) for k, v in lost.items()]
        )
    errors = (told["queries"] or {}).get("quantiles") or {}
    given = [(percent(float(q)), e, percent(e)) for q, e in errors.items() if e is not None]
    if given:
        parts += write.bars("Error that so many count queries do not exceed", given)
    return parts


class _Writer:
    """A maker of rich's objects from texts, none of which is taken for markup."""

    def __init__(self, unicode: bool) -> None:
        self.unicode = unicode

    def text(self, text: str) -> str:
        """Return a text as the terminal can show it."""
        text = text.replace("\u00a0", " ")
        return text if self.unicode else text.translate(_ASCII)

    def head(self, text: str) -> RenderableType:
        """Return a heading, after an empty line."""
        from rich.text import Text

        return Text("\n" + self.text(text), style="bold")

    def table(self, told: tables.ReportTable) -> list[RenderableType]:
        """Return a table under its caption; numbers are at the right."""
        table = self._grid(head=True)
        for at, heading in enumerate(told.columns):
            numbers = at > 0 and all(_numeric(row[at]) for row in told.rows)
            table.add_column(
                self.text(heading), justify="right" if numbers else "left", overflow="fold"
            )
        for row in told.rows:
            table.add_row(*map(self._cell, row))
        return [self.head(told.caption), table]

    def pairs(self, pairs: Iterable[tuple[str, str]]) -> RenderableType:
        """Return lines with a word before each."""
        table = self._grid(head=False)
        table.add_column(style="bold", no_wrap=True, max_width=16)
        table.add_column(overflow="fold")
        for word, text in pairs:
            table.add_row(self._cell(word), self._cell(text))
        return table

    def bars(self, title: str, bars: list[tuple[str, float, str]]) -> list[RenderableType]:
        """Return bars with their numbers."""
        table = self._grid(head=False)
        table.add_column(justify="right", overflow="fold", max_width=28)
        table.add_column()
        top = max([size for _, size, _ in bars] or [0]) or 1
        for name, size, label in bars:
            length = round(_WIDEST * size / top) or (1 if size else 0)
            table.add_row(self._cell(name), self._cell(f"{'█' * length} {label}".strip()))
        return [self.head(title), table]

    def _cell(self, text: str) -> RenderableType:
        from rich.text import Text

        return Text(self.text(text))

    def _grid(self, *, head: bool) -> Table:
        from rich.table import Table

        return Table(box=None, pad_edge=False, show_header=head, header_style="dim")


def _numeric(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] in "<–-"
