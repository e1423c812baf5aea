"""What `wideberth advise` says about values with a distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wideberth.cli.advise import bar, number, others
from wideberth.cli.options import speaks_unicode

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from wideberth.checks.advise import Advice
    from wideberth.principles.feasibility.brackets import Bracket
    from wideberth.principles.feasibility.nearness import DissimilarityAdvice, Satisfiability


class Far:
    """Answers about (epsilon,delta)^k-dissimilarity."""

    def __init__(
        self, advice: Advice, distance: str, epsilon: str | None, delta: str | None, k: int
    ) -> None:
        from wideberth.principles import Dissimilarity, make

        known = Dissimilarity.parameters()
        asked: dict[str, Any] = {
            key: None if text is None else known[key].parse(text)
            for key, text in (("epsilon", epsilon), ("delta", delta))
        }
        weakest = {key: 0 if value is None else value for key, value in asked.items()}
        make("dissimilarity", {**weakest, "k": k, "distance": distance})  # refuses what is odd
        self.advice, self.asked = advice, {**asked, "k": k}
        self.far: DissimilarityAdvice = advice.dissimilarity(distance)
        self.distance = distance
        self.answer: Satisfiability | None = None
        if asked["epsilon"] is not None and asked["delta"] is not None:
            self.answer = self.far.satisfiable(**self.asked)
        self.possible = self.answer is None or self.answer.verdict == "yes"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return self.advice.to_dict(dissimilarity={**self.asked, "distance": self.distance})

    def parts(self, out: Console) -> list[RenderableType]:
        """Return what a person reads."""
        from rich.text import Text

        from wideberth.core.names import shown
        from wideberth.principles import plain

        unicode = speaks_unicode(out)
        yes, no = ("✓ ", "✗ ") if unicode else ("ok ", "FAIL ")
        said = {key: f"{key}={plain(v)}" for key, v in self.asked.items() if v is not None}
        k = self.asked["k"]
        name, rows = self.advice.sensitive, self.advice.rows
        lines = [Text(f"{shown(name.split('+'))}: {rows:,} rows, distance {self.far.space.name}")]
        all_of_it = ", ".join(said.values())
        if self.answer is not None and self.answer.groups is not None:
            groups = int(self.answer.groups.max()) + 1
            text = f"{yes}possible: {all_of_it} ({groups:,} groups found)"
            lines.append(Text(text, style="green bold"))
        elif self.answer is not None and self.answer.verdict == "no":
            lines.append(Text(f"{no}not possible: {all_of_it}", style="red bold"))
            lines.append(Text(f"  {self.answer.witness}"))
        elif self.answer is not None:
            lines.append(Text(f"{no}not known: {all_of_it}", style="red bold"))
            lines.append(Text("  no partition was found, and none was ruled out"))
        if "epsilon" in said:
            bracket = self.far.max_delta(self.asked["epsilon"], k)
            lines.append(Text(f"with {said['epsilon']}, k={k}: {_between('delta', bracket)}"))
        if "epsilon" not in said:
            delta = self.asked["delta"] if "delta" in said else 1
            bracket = self.far.max_epsilon(delta, k)
            lines.append(Text(f"with delta={plain(delta)}, k={k}: {_between('epsilon', bracket)}"))
        return [*lines, others(self.advice), *_risks(self.far, unicode)]


def _between(key: str, bracket: Bracket) -> str:
    """Describe what is certain about a parameter."""
    if bracket.every:
        return f"any {key} is possible"
    feasible, infeasible = bracket.feasible, bracket.infeasible
    words = f"no {key} is known to be possible"
    if feasible is not None:
        words = f"{key} {'up to' if bracket.attained else 'below'} {number(feasible)} is possible"
    if infeasible is None:
        return f"{words}, none is ruled out"
    if feasible is None and infeasible == 0:
        return f"no {key} is possible"
    if key == "delta" and feasible == 1:
        return words
    last = f"above {number(infeasible, up=True)}" if bracket.beyond else ""
    words += f", {last or f'from {number(infeasible, up=True)} on'} it is not"
    return words + (f" (gap {number(bracket.gap, up=True)})" if bracket.gap else "")


def _risks(far: DissimilarityAdvice, unicode: bool) -> list[RenderableType]:
    """Return bars: for each epsilon, the risk of the table as one single group."""
    from rich.text import Text

    curve = far.risk_curve()
    lines = ["", "risk of the whole table as one group, for each epsilon"]
    if not curve.exact:
        lines[-1] += " (around some values only: it may be higher)"
    labels = [number(epsilon) for epsilon, _ in curve]
    margin = max(map(len, labels)) + 1
    for label, (_, risk) in zip(labels, curve, strict=True):
        drawn = bar(risk, 1.0, unicode) if risk else ""
        shown = f"{float(risk):.1%}".replace("%", " %")
        lines.append(label.rjust(margin) + f" {'│' if unicode else '|'}{drawn} {shown}")
    return [Text(line, no_wrap=True, overflow="crop") for line in lines]
