"""wideberth audit."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.options import (
    SETTINGS,
    add_options,
    assignments,
    console,
    echo_json,
    format_option,
    read_options,
    rows_are_people_option,
    speaks_unicode,
    split_names,
    table_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

    from wideberth.risk.outcome import AttributeResult, Audit

NOT_SAFE = 3
#: How a verdict looks, and what stands for its sign where a terminal knows only ASCII.
_STYLES = {"good": "green bold", "caution": "yellow bold", "bad": "red bold"}
_PLAIN = {"good": "ok", "caution": "!", "bad": "FAIL"}


def audit_options(command: Any) -> Any:
    """Add the options that say what is audited, and what the adversary knows."""
    option: Callable[..., Any] = click.option
    return add_options(
        command,
        option("--original", metavar="FILE", help="The table that RELEASE was made from."),
        option("-p", "--policy", metavar="FILE", help="Roles, types, principles: a policy.toml."),
        option("--qi", multiple=True, metavar="C,…", help="Quasi-identifiers."),
        option("--sensitive", multiple=True, metavar="C,…", help="Sensitive attributes."),
        option(
            "--principle",
            "principles",
            multiple=True,
            metavar="NAME:P=V,…",
            help="A principle that RELEASE should satisfy; may be repeated.",
        ),
        option("--group", metavar="COLUMN", help="Column of group ids."),
        option("--count", metavar="COLUMN", help="Column that says for how many a row stands."),
        option(
            "--sensitive-table",
            metavar="FILE",
            help="Second table of an anatomised release: group, value, count.",
        ),
        option(
            "--population",
            metavar="FILE",
            help="Everybody who might be in RELEASE, with their quasi-identifiers.",
        ),
        option(
            "--other",
            "others",
            multiple=True,
            metavar="FILE",
            help="Another release of the same table, to be combined with; may be repeated.",
        ),
        option(
            "--priors",
            metavar="FILE",
            help="What the adversary believes beforehand: sensitive value, probability, and "
            "perhaps quasi-identifiers of whom it is believed.",
        ),
        option(
            "--epsilon",
            multiple=True,
            metavar="[COLUMN=]E",
            help="How near is near, of numbers; 10% for a share.  [default: the policy's]",
        ),
        option(
            "--limit",
            "limits",
            multiple=True,
            metavar="NAME=P",
            help="What counts as a disclosure: delta=0.1, negligible=0.05, floor=0.1, rho1=0.1, "
            "rho2=0.5 are the defaults.",
        ),
        option(
            "--hierarchy",
            "hierarchies",
            multiple=True,
            metavar="COLUMN=FILE",
            help="Hierarchy of a column.",
        ),
        option("--type", "types", multiple=True, metavar="COLUMN=TYPE", help="Type of a column."),
        rows_are_people_option(),
        option(
            "--fail-on",
            type=click.Choice(["low", "medium", "high"]),
            default="high",
            show_default=True,
            help="Exit with code 3 from findings of this severity on.",
        ),
        option(
            "--everyone",
            is_flag=True,
            help="Look at every person of a large table, not at a random sample of them.",
        ),
        option(
            "--swaps/--no-swaps",
            default=None,
            help="Make the release anew with sensitive values swapped, to see whether groups "
            "depend on them.  [default: if the original has up to 5,000 rows]",
        ),
    )


@click.command(context_settings=SETTINGS)
@click.argument("release", metavar="RELEASE")
@audit_options
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many groups to show for each principle.",
)
@click.option(
    "--show-rows",
    is_flag=True,
    help="With --format json: show the quasi-identifiers of the worst groups, which may be those "
    "of single people.",
)
@table_options
@format_option()
def audit(release: str, worst: int, show_rows: bool, fail_on: str, form: str, **asked: Any) -> int:
    """Tell what an adversary learns from RELEASE, whoever made it and however.

    RELEASE is a CSV, Parquet or Arrow file, or the folder of an anatomised release. Without a
    policy, the roles of its columns are guessed, which is said. With the original, more is found:
    who is covered by which groups, and what was suppressed.

    \b
    wideberth audit release.csv
    wideberth audit release.csv --original people.csv -p policy.toml
    wideberth audit foreign.csv --qi age,zip,sex --sensitive salary --epsilon 1000
    wideberth audit release.csv -p policy.toml --other last_year.csv
    wideberth audit release.csv --epsilon salary=1000 --epsilon "score=5%" --limit rho2=0.3
    wideberth audit release.csv -p policy.toml --format json

    No sensitive value is quoted, and no quasi-identifier without --show-rows. The last line is the
    verdict: "In order", "With care" or "Not ready". Exit code 3 if a principle is violated or a
    finding is of high severity (--fail-on: or of a lower one), else 0.
    """
    with console(stderr=True).status("reading and auditing …"):
        from wideberth.risk.audit import audit as run

        found = run(**arguments(release, asked), worst=worst)
    if form == "json":
        echo_json(found.to_dict(show_rows=show_rows))
    else:
        out = console()
        for part in render(found, release, out):
            out.print(part)
    return NOT_SAFE if found.fails(fail_on) else 0


def arguments(release: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Read the files of a command line, and name everything as the library does."""
    from dataclasses import replace

    from wideberth.io.manifest import compare
    from wideberth.policy.policy import Policy
    from wideberth.policy.two_tables import read_if_path
    from wideberth.release.anatomized import published
    from wideberth.risk.inputs import require_described_files

    source = release
    plan = None if asked["policy"] is None else Policy.load(asked["policy"])
    options = read_options(
        asked["delimiter"],
        asked["encoding"],
        asked["missing"],
        plan.options if plan else None,
        skip_rows=asked["skip_rows"],
        written=asked["written"],
    )
    if plan is not None:
        plan = replace(plan, options=options)
    if asked["sensitive_table"] is None and (pair := published(release)) is not None:
        release, asked["sensitive_table"] = map(str, pair)
    elif asked["sensitive_table"] is not None:
        compare(release, asked["sensitive_table"])
    require_described_files(*asked["others"])

    def table(path: str | None) -> Any:
        return read_if_path(path, options)

    return {
        "table": table(release),
        "source": source,
        "original": table(asked["original"]),
        "policy": plan,
        "quasi": split_names(asked["qi"]) or None,
        "sensitive": split_names(asked["sensitive"]) or None,
        "principles": list(asked["principles"]) or None,
        "group": asked["group"],
        "count": asked["count"],
        "sensitive_table": table(asked["sensitive_table"]),
        "population": table(asked["population"]),
        "others": [table(path) for path in asked["others"]],
        "priors": table(asked["priors"]),
        "epsilon": _reaches(asked["epsilon"]),
        "limits": _limits(asked["limits"]),
        "hierarchies": assignments(asked["hierarchies"], "--hierarchy"),
        "types": assignments(asked["types"], "--type"),
        "everyone": asked["everyone"],
        "rows_are_people": asked["rows_are_people"],
        "swaps": asked["swaps"],
    }


def _reaches(given: tuple[str, ...]) -> str | dict[str, str] | None:
    """Read --epsilon: one for all numbers, or one for each column."""
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    return assignments(given, "--epsilon") or None


def _limits(given: tuple[str, ...]) -> dict[str, float]:
    found = {}
    for name, text in assignments(given, "--limit").items():
        try:
            found[name] = float(text)
        except ValueError:
            raise click.UsageError(f"--limit {name}={text!r} is no number") from None
    return found


def render(found: Audit, name: str, out: Console) -> list[RenderableType]:
    """Return what a person reads: risks in a table each, findings, a closing line."""
    from rich.text import Text

    groups = f"{found.groups:,} group" + ("" if found.groups == 1 else "s")
    parts: list[RenderableType] = [Text(f"{name}: {found.rows:,} rows in {groups}")]
    for role in ("quasi", "sensitive"):
        named = ", ".join(found.roles[role]) or "none"
        parts.append(Text(f"{role}: {named}{' (guessed)' if found.guessed else ''}", style="dim"))
    parts += _principles(found, out)
    parts.append(_identity(found))
    parts += [_attribute(attribute) for attribute in found.attributes]
    parts += _findings(found)
    parts += [Text(f"\nnote: {note}", style="yellow") for note in found.notes]
    told = found.judgement
    mark = told.mark if speaks_unicode(out) else _PLAIN[told.level]
    return [*parts, Text(), Text(f"{mark} {told}", style=_STYLES[told.level])]


def _principles(found: Audit, out: Console) -> list[RenderableType]:
    from wideberth.cli.check import verdicts

    return [] if found.checked is None else [verdicts(found.checked, out)]


def _risks(title: str, lines: list[tuple[str, Any]]) -> RenderableType:
    """Show risks, a line each: the worst, the mean, and how many people are above which."""
    from rich.table import Table

    from wideberth.core.text import as_risk, percent

    table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
    table.title, table.title_style = f"\n{title}", "bold"
    table.add_column("")
    for heading in ("worst", "mean", "≥ 50 %", "≥ 75 %", "≥ 90 %", "certain"):
        table.add_column(heading, justify="right")
    for label, risk in lines:
        if risk is not None:
            above = (f"{number:,}" for number in risk.above.values())
            mean = "" if isnan(risk.mean) else percent(risk.mean)
            table.add_row(label, as_risk(risk.worst), mean, *above)
    return table


def _identity(found: Audit) -> RenderableType:
    identity = found.identity
    return _risks(
        "whose row it is",
        [
            ("group known", identity.prosecutor),
            ("group not known", identity.covering),
            ("in a population", identity.journalist),
        ],
    )


def _attribute(attribute: AttributeResult) -> RenderableType:
    lines = []
    for who, measures in (
        ("group known", attribute.known),
        ("group not known", attribute.covering),
    ):
        if measures is not None:
            lines.append((f"the value, {who}", measures.guess))
            near = measures.attacks.neighbourhoods
            if near is not None and measures.nearness is not None:
                share = near.epsilon * 100 if near.relative else near.epsilon
                reach = f"{float(share):,g}{' %' if near.relative else ''}"
                lines.append((f"within {reach}, {who}", measures.nearness.risk))
                lines.append((f"best interval of ± {reach}, {who}", measures.nearness.best()))
            if measures.kinds is not None and measures.kinds.similarity is not None:
                lines.append((f"a similar value, {who}", measures.kinds.similarity))
            if measures.dissimilarity is not None:
                lines.append((f"a value near by, {who}", measures.dissimilarity))
    return _risks(f"{attribute.on}: {attribute.values:,} values", lines)


def _findings(found: Audit) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    styles = {"high": "red bold", "medium": "yellow bold", "low": "bold", "info": "dim"}
    if not found.findings:
        return []
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    for finding in found.findings:
        table.add_row(
            Text(finding.severity, style=styles[finding.severity]), Text(finding.title, "bold")
        )
        table.add_row("", finding.meaning)
        table.add_row("", f"to do: {finding.advice}")
    return [Text("\nfindings", style="bold"), table]
