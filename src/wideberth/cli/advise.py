"""wideberth advise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.options import (
    SETTINGS,
    assignments,
    console,
    echo_json,
    format_option,
    read_options,
    speaks_unicode,
    split_names,
    table_options,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from wideberth.checks.advise import Advice, AnyNumber
    from wideberth.principles.feasibility.limits import Limit
    from wideberth.principles.feasibility.nearness import (
        Bracket,
        DissimilarityAdvice,
        Satisfiability,
    )


NOT_POSSIBLE = 3
#: The m whose bounds are drawn, as far as they are possible.
_DRAWN = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100, 1000)
_WIDTH = 50  # of the longest bar


@click.command(context_settings=SETTINGS)
@click.argument("table", metavar="TABLE")
@click.option(
    "--sensitive", multiple=True, metavar="C,…", help="The sensitive attribute, or its columns."
)
@click.option("--epsilon", metavar="E", help="How near is too near; 10% for a share of the value.")
@click.option("--m", type=click.IntRange(1), metavar="M", help="Nobody's value surer than 1/M.")
@click.option("--relative", is_flag=True, help="Epsilon is a share of the value (0.1, or 10%).")
@click.option("--e1", metavar="E", help="Reach below a value, together with --e2.")
@click.option("--e2", metavar="E", help="Reach above a value, together with --e1.")
@click.option("--distance", metavar="NAME", help="How far two values are apart, for dissimilarity.")
@click.option("--delta", metavar="D", help="Share of a group that must be farther than epsilon.")
@click.option("--k", type=click.IntRange(1), metavar="K", help="Smallest group.  [default: 2]")
@click.option(
    "--allowed",
    multiple=True,
    metavar="VALUE",
    help="A value that needs no protection, such as 0; may be given several times.",
)
@click.option("-p", "--policy", metavar="FILE", help="Roles, types, hierarchies: a policy.toml.")
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    help="Semantic tree of the sensitive attribute, for l-e.",
)
@click.option(
    "--type", "types", multiple=True, metavar="COLUMN=TYPE", help="Type of the attribute."
)
@click.option(
    "--max-memory",
    type=click.IntRange(1),
    metavar="MB",
    help="Memory for distances at a time.  [default: 256]",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="Memory for everything, such as 2GB: TABLE is then read in parts, and may be larger.",
)
@table_options
@format_option()
def advise(
    table: str,
    sensitive: tuple[str, ...],
    epsilon: str | None,
    m: int | None,
    relative: bool,
    e1: str | None,
    e2: str | None,
    distance: str | None,
    delta: str | None,
    k: int | None,
    allowed: tuple[str, ...],
    policy: str | None,
    hierarchies: tuple[str, ...],
    types: tuple[str, ...],
    max_memory: int | None,
    memory: str | None,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    skip_rows: int | None,
    written: tuple[str, ...],
    form: str,
) -> int:
    """Tell which parameters are possible for a sensitive attribute of TABLE.

    For numbers and dates (epsilon in days): the largest m for an epsilon, the epsilon that an m
    must stay below, and the trade-off between them. For any attribute: how far the other
    principles can go. All of that is exact.

    For any values with a distance (--distance, --delta or --k, or a value of several numbers),
    (epsilon,delta)^k-dissimilarity: whether it is possible, the largest delta for an epsilon, the
    largest epsilon for a delta, and the risk of the whole table for each epsilon. That is hard to
    tell, so the answer may leave a gap: up to here it is possible, from there on not.

    \b
    wideberth advise people.csv --sensitive salary
    wideberth advise people.csv --sensitive salary --epsilon 4500
    wideberth advise people.csv --sensitive salary --epsilon 10% --m 5
    wideberth advise people.csv --sensitive salary --epsilon 4500 --allowed 0
    wideberth advise people.csv -p policy.toml --m 5 --format json
    wideberth advise people.csv --sensitive "disease.*" --distance variational --epsilon 0.1 --k 5
    wideberth advise people.parquet --sensitive profile --distance euclidean \\
        --epsilon 1.5 --delta 0.8 --k 5
    wideberth advise census.parquet --sensitive salary --m 5 --memory 2GB

    Exit code 3 if an epsilon and m, or an epsilon and delta, are given and are not possible
    together, or are not known to be; else 0.
    """
    trees, kinds = assignments(hierarchies, "--hierarchy"), assignments(types, "--type")
    of_crowds = m is not None or relative or e1 is not None or e2 is not None
    of_distances = not (distance is None and delta is None and k is None)
    if of_crowds and of_distances:
        raise click.UsageError(
            "--m, --relative, --e1 and --e2 are about epsilon-m; "
            "--distance, --delta and --k about dissimilarity: ask for one at a time"
        )
    if allowed and of_distances:
        raise click.UsageError("dissimilarity knows no allowed values: leave out --allowed")
    with console(stderr=True).status("reading and sorting …"):
        from wideberth import engines, io
        from wideberth.checks.advise import advise as run
        from wideberth.policy.policy import Policy

        plan = None if policy is None else Policy.load(policy)
        usual = plan.options if plan else None
        options = read_options(
            delimiter, encoding, missing, usual, skip_rows=skip_rows, written=written
        )
        if plan is not None:
            plan = replace(plan, options=options)
        known: dict[str, Any] = {
            "sensitive": split_names(sensitive) or None,
            "types": kinds,
            "hierarchies": trees,
            "policy": plan,
            "allowed": allowed,
            "max_memory": max_memory,
        }
        if memory is not None:
            engine = engines.engine_for(table, memory)
            advice = engine.advise(table, memory=memory, options=options, **known)
        else:
            advice = run(io.read(table, options), **known)
        out = console()
        if of_distances or (advice.vector and not of_crowds):
            found: DissimilarityAnswers | _EpsilonMAnswers = DissimilarityAnswers(
                advice, distance or "auto", epsilon, delta, k or 2
            )
        else:
            advice.require_no_question()
            found = _EpsilonMAnswers(advice, epsilon, m, relative, e1, e2)
        if form == "json":
            echo_json(found.to_dict())
        else:
            parts = found.parts(out)
    if form == "text":
        for part in parts:
            out.print(part)
    return 0 if found.possible else NOT_POSSIBLE


class _EpsilonMAnswers:
    """Answers about (epsilon,m)-anonymity."""

    def __init__(
        self,
        advice: Advice,
        epsilon: str | None,
        m: int | None,
        relative: bool,
        e1: str | None,
        e2: str | None,
    ) -> None:
        from wideberth.principles import EpsilonMAnonymity

        known = EpsilonMAnonymity.parameters()
        asked: dict[str, Any] = {
            key: None if text is None else known[key].parse(text)
            for key, text in (("epsilon", epsilon), ("e1", e1), ("e2", e2))
        }
        asked["relative"] = relative
        reach = None
        if any(asked[key] is not None for key in ("epsilon", "e1", "e2")):
            reach = EpsilonMAnonymity(**asked, m=m or 1)  # reads 10 %, refuses what makes no sense
            asked["relative"], asked["epsilon"] = reach.relative, reach.epsilon
        self.advice, self.asked, self.m = advice, asked, m
        self.possible = True if reach is None or m is None else advice.achievable(**asked, m=m)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return self.advice.to_dict(**self.asked, m=self.m)

    def parts(self, out: Console) -> list[RenderableType]:
        """Return what a person reads."""
        advice = self.advice
        parts = [
            *_answers(advice, self.asked, self.m, self.possible, out),
            other_principles_table(advice),
        ]
        if advice.numeric:
            parts += _drawing(advice, self.asked["relative"], self.m, speaks_unicode(out))
        return parts


def _answers(
    advice: Advice, asked: dict[str, Any], m: int | None, possible: bool, out: Console
) -> list[RenderableType]:
    """Return the answers to what was asked, in a line each."""
    from rich.text import Text

    from wideberth.principles import EpsilonMAnonymity

    yes, no = ("✓ ", "✗ ") if speaks_unicode(out) else ("ok ", "FAIL ")
    relative = asked["relative"]
    lines: list[RenderableType] = [Text(f"{advice.sensitive}: {advice.rows:,} rows")]
    if advice.allowed:
        lines.append(Text(f"{advice.allowed_rows:,} of them need no protection (--allowed)"))
    given = ", ".join(
        f"{key}={_epsilon(asked[key], relative)}"
        for key in ("epsilon", "e1", "e2")
        if asked[key] is not None
    )
    if not given and m is None and not advice.numeric:
        lines.append(Text("no numbers or dates, so epsilon-m does not apply"))
    elif given and m is not None:
        if possible:
            lines.append(Text(f"{yes}possible: {given}, m={m}", style="green bold"))
        else:
            error = advice.refusal(EpsilonMAnonymity(**asked, m=m, allowed=advice.allowed))
            lines.append(Text(f"{no}not possible: {given}, m={m}", style="red bold"))
            lines += [Text(f"  {error.what}"), Text(f"  try: {error.hint}")]
    if given:
        lines.append(Text(f"with {given}: m up to {advice.max_m(**asked):,}"))
    if m is not None:
        bound = advice.max_epsilon(m, relative=relative)
        lines.append(Text(f"with m={m}: {_bound(bound, relative)}"))
    if not given and m is None and advice.numeric:
        steps = advice.curve(relative=relative)
        epsilon, most = steps[-1]
        lines.append(Text(f"largest m of all: {most:,}, with {_bound(epsilon, relative)}"))
    return lines


def other_principles_table(advice: Advice) -> RenderableType:
    """Return a table of how far the other principles can go."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold")
    made.title, made.title_justify, made.title_style = "\nother principles", "left", "bold"
    for heading in ("principle", "given", "possible"):
        made.add_column(heading)
    for name, key, others, limit in advice.other():
        given = ", ".join(f"{k}={v}" for k, v in others.items())
        made.add_row(name, given or "-", _limit(name, key, limit))
    return made


def _limit(name: str, key: str, limit: Limit | None) -> str:
    from wideberth.principles import lookup

    if limit is None:
        return f"no {key}"
    higher = lookup(name).parameters()[key].stronger == "higher"
    if limit.value is None:
        return f"any {key}"
    value = safe_number(limit.value, up=not higher)
    if limit.exclusive:
        return f"{key} {'below' if higher else 'above'} {value}"
    return f"{key} {'up to' if higher else 'from'} {value}"


def _drawing(
    advice: Advice, relative: bool, wanted: int | None, unicode: bool
) -> list[RenderableType]:
    """Return bars: for each m, how far epsilon can go."""
    from rich.text import Text

    drawn = sorted({*_DRAWN, *([] if wanted is None else [wanted])})
    bounds = {m: advice.max_epsilon(m, relative=relative) for m in drawn}
    shown = [m for m in drawn if bounds[m] > 0][:12]
    if not shown:
        return []
    finite = [float(bounds[m]) for m in shown if not isinf(bounds[m])]
    end = max(finite, default=1.0)
    margin = max(len(f"{shown[-1]:,}"), 3) + 1
    lines = ["", "how far epsilon can go for each m (the end of a bar is just out of reach)"]
    lines.append("m".rjust(margin - 1))
    for m in shown:
        line, label = bar(bounds[m], end, unicode), "any"
        if not isinf(bounds[m]):
            label = _epsilon(bounds[m], relative)
        lines.append(f"{m:,}".rjust(margin - 1) + f" {'│' if unicode else '|'}{line} {label}")
    ticks = [_tick(end * share, relative) for share in (0, 0.5, 1)]
    half = _WIDTH // 2
    rule = ("└" + ("─" * (half - 1) + "┴") * 2) if unicode else "+" + ("-" * (half - 1) + "+") * 2
    lines.append(" " * margin + rule)
    axis = ticks[0].ljust(half - len(ticks[1]) // 2) + ticks[1]
    axis = axis.ljust(_WIDTH - len(ticks[2]) // 2) + ticks[2]
    lines.append(" " * margin + axis + "  epsilon")
    return [Text(line, no_wrap=True, overflow="crop") for line in lines]


def bar(bound: AnyNumber, end: float, unicode: bool) -> str:
    """Draw a bar, the longest of which ends at `end`."""
    share = 1.0 if isinf(bound) else float(bound) / end
    if not unicode:
        return "#" * max(1, round(share * _WIDTH))
    eighths = max(1, round(share * _WIDTH * 8))
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8]).rstrip()


def _bound(bound: AnyNumber, relative: bool) -> str:
    if isinf(bound):
        return "any epsilon" + (" up to 100%" if relative else "")
    return f"epsilon below {_epsilon(bound, relative)}" if bound > 0 else "no epsilon is possible"


def _epsilon(value: AnyNumber, relative: bool) -> str:
    if relative:
        return safe_number(_exact(value) * 100) + "%"
    return safe_number(_exact(value))


def _tick(value: float, relative: bool) -> str:
    return f"{value * 100:.3g}%" if relative else f"{value:,.6g}"


def _exact(value: Any) -> Fraction:
    from wideberth.core.exact import fraction

    return fraction(value)


def safe_number(value: Fraction, *, up: bool = False) -> str:
    """Write a number with few digits, rounded to the side on which it stays true."""
    from wideberth.principles.feasibility.nearness import rounded

    shown = rounded(value, up=up)
    return f"{int(shown):,}" if shown.denominator == 1 else f"{float(shown):,.10g}"


# -----------------------------------------------------------------------------
# What `wideberth advise` says about values with a distance.


class DissimilarityAnswers:
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

        from wideberth.core.names import attribute_label
        from wideberth.principles import plain_value

        unicode = speaks_unicode(out)
        yes, no = ("✓ ", "✗ ") if unicode else ("ok ", "FAIL ")
        said = {key: f"{key}={plain_value(v)}" for key, v in self.asked.items() if v is not None}
        k = self.asked["k"]
        name, rows = self.advice.sensitive, self.advice.rows
        lines = [
            Text(
                f"{attribute_label(name.split('+'))}: {rows:,} rows, distance {self.far.space.name}"
            )
        ]
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
            lines.append(
                Text(f"with delta={plain_value(delta)}, k={k}: {_between('epsilon', bracket)}")
            )
        return [*lines, other_principles_table(self.advice), *_risks(self.far, unicode)]


def _between(key: str, bracket: Bracket) -> str:
    """Describe what is certain about a parameter."""
    if bracket.every:
        return f"any {key} is possible"
    feasible, infeasible = bracket.feasible, bracket.infeasible
    words = f"no {key} is known to be possible"
    if feasible is not None:
        words = (
            f"{key} {'up to' if bracket.attained else 'below'} {safe_number(feasible)} is possible"
        )
    if infeasible is None:
        return f"{words}, none is ruled out"
    if feasible is None and infeasible == 0:
        return f"no {key} is possible"
    if key == "delta" and feasible == 1:
        return words
    last = f"above {safe_number(infeasible, up=True)}" if bracket.beyond else ""
    words += f", {last or f'from {safe_number(infeasible, up=True)} on'} it is not"
    return words + (f" (gap {safe_number(bracket.gap, up=True)})" if bracket.gap else "")


def _risks(far: DissimilarityAdvice, unicode: bool) -> list[RenderableType]:
    """Return bars: for each epsilon, the risk of the table as one single group."""
    from rich.text import Text

    curve = far.risk_curve()
    lines = ["", "risk of the whole table as one group, for each epsilon"]
    if not curve.exact:
        lines[-1] += " (around some values only: it may be higher)"
    labels = [safe_number(epsilon) for epsilon, _ in curve]
    margin = max(map(len, labels)) + 1
    for label, (_, risk) in zip(labels, curve, strict=True):
        drawn = bar(risk, 1.0, unicode) if risk else ""
        shown = f"{float(risk):.1%}".replace("%", " %")
        lines.append(label.rjust(margin) + f" {'│' if unicode else '|'}{drawn} {shown}")
    return [Text(line, no_wrap=True, overflow="crop") for line in lines]
