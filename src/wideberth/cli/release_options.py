"""What `anonymize` and `lattice` ask alike: the options, and what they mean to the library."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, isfinite, log10
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from wideberth.cli.check import overridden
from wideberth.cli.options import (
    F,
    Share,
    add_options,
    assignments,
    read_options,
    rows_are_people_option,
    split_names,
)
from wideberth.policy.settings import MEASURES


def release_options(command: F) -> F:
    """Add the options that say what a release must be like."""
    return add_options(
        command,
        click.option(
            "-p", "--policy", metavar="FILE", help="Roles, types and principles: a policy.toml."
        ),
        click.option(
            "--qi", multiple=True, metavar="C,…", help="Quasi-identifiers, which are coarsened."
        ),
        click.option(
            "--sensitive", multiple=True, metavar="C,…", help="Sensitive attributes, kept."
        ),
        click.option(
            "--identifier", multiple=True, metavar="C,…", help="Identifiers, which are dropped."
        ),
        click.option("--insensitive", multiple=True, metavar="C,…", help="Other columns, kept."),
        click.option(
            "--principle",
            "principles",
            multiple=True,
            metavar="NAME:P=V,…",
            help="A principle to satisfy; may be repeated. See `wideberth principles`.",
        ),
        click.option(
            "--hierarchy",
            "hierarchies",
            multiple=True,
            metavar="COLUMN=FILE",
            help="Hierarchy of a quasi-identifier, or semantic tree of a sensitive attribute.",
        ),
        click.option(
            "--type", "types", multiple=True, metavar="COLUMN=TYPE", help="Type of a column."
        ),
        click.option(
            "--suppression-limit",
            type=Share(),
            metavar="SHARE",
            help="Share of rows that may be left out, as 0.05 or 5%.  [default: 0]",
        ),
        rows_are_people_option(),
    )


def search_options(command: F) -> F:
    """Add the options that say how a lattice is searched."""
    return add_options(
        command,
        click.option(
            "--measure",
            type=click.Choice(MEASURES),
            help="What the lattice loses as little of as possible.  [default: loss]",
        ),
        click.option(
            "--level",
            "levels",
            multiple=True,
            metavar="COLUMN=L[-H]",
            help="The level a column must have in the lattice, or the lowest and the highest.",
        ),
        click.option(
            "--max-seconds",
            type=click.FloatRange(0, min_open=True),
            metavar="S",
            help="How long to search the lattice.  [default: until the best node is certain]",
        ),
        click.option(
            "--max-checks",
            type=click.IntRange(1),
            metavar="N",
            help="How many nodes of the lattice to check at most.",
        ),
        click.option(
            "--max-memory",
            type=click.IntRange(1),
            metavar="MB",
            help="Memory for the lattice's tables  [default: 1024], elsewhere for distances at a "
            "time.  [default: 256]",
        ),
    )


@dataclass(frozen=True)
class ReleaseArguments:
    """What the options ask for."""

    arguments: Mapping[str, Any]  # for `wideberth.anonymize` and `wideberth.lattice`
    # files that are read, so must not be overwritten; and some texts that are no files
    sources: Sequence[str]


def require_policy_or_principle(policy: str | None, principles: Sequence[str]) -> None:
    """Refuse to work without knowing what for."""
    if policy is None and not principles:
        raise click.UsageError("give a policy (-p FILE) or a principle (--principle NAME:P=V,…)")


def read_release_options(
    table: str,
    *,
    policy: str | None,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    identifier: tuple[str, ...],
    insensitive: tuple[str, ...],
    principles: tuple[str, ...],
    hierarchies: tuple[str, ...],
    types: tuple[str, ...],
    levels: tuple[str, ...],
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    skip_rows: int | None,
    written: tuple[str, ...],
    **settings: Any,
) -> ReleaseArguments:
    """Read the options of `release_options`, `search_options` and `table_options`."""
    # Settings are passed on as they are. Notes list which options override the policy.
    trees = assignments(hierarchies, "--hierarchy")
    kinds = assignments(types, "--type")
    within = ranges(levels)

    from wideberth.policy.policy import Policy
    from wideberth.principles import parse

    wanted = [parse(text) for text in principles]
    plan = Policy(roles={}) if policy is None else Policy.load(policy)
    options = read_options(
        delimiter, encoding, missing, plan.options, skip_rows=skip_rows, written=written
    )
    plan = replace(plan, options=options)
    for note in overridden(plan, qi, sensitive, wanted):
        click.echo(f"note: {note}", err=True)
    arguments = {
        "quasi": split_names(qi),
        "sensitive": split_names(sensitive),
        "identifier": split_names(identifier),
        "insensitive": split_names(insensitive),
        "principles": wanted,
        "hierarchies": trees,
        "types": kinds,
        "policy": plan,
        # By column, as hierarchies and types are: what the policy says of others stays.
        "levels": {**plan.transform.get("levels", {}), **within} if within else None,
        **settings,
    }
    named = [table, *([policy] if policy else []), *_files({**plan.hierarchies, **trees})]
    return ReleaseArguments(arguments, named)


def ranges(values: Sequence[str]) -> dict[str, int | tuple[int, int]]:
    """Read COLUMN=L and COLUMN=L-H.

    >>> ranges(["age=2", "zip=1-3"])
    {'age': 2, 'zip': (1, 3)}
    """
    found: dict[str, int | tuple[int, int]] = {}
    for column, text in assignments(values, "--level").items():
        ends = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text)
        if ends is None:
            raise click.UsageError(
                f"--level {column}={text!r} is neither a level ({column}=2) nor a range of levels "
                f"({column}=1-3)"
            )
        low = int(ends[1])
        found[column] = low if ends[2] is None else (low, int(ends[2]))
    return found


def _files(rules: Mapping[str, Any]) -> list[str]:
    """Return the hierarchy files that rules name, and some texts that are no files."""
    inner = (rule.values() if isinstance(rule, Mapping) else [rule] for rule in rules.values())
    return [value for values in inner for value in values if isinstance(value, str)]


def retyped(command: click.Command, *more: str, without: Sequence[str] = ()) -> str:
    """Return a line that runs another command with the options typed for this one, and more."""
    # Options that the other command does not have are left out, and so are those in `without`.
    context = click.get_current_context()
    shared = {option.name for option in command.params} - set(without)
    words = ["wideberth", str(command.name), str(context.params["table"])]
    for option in context.command.params:
        name = str(option.name)
        typed = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
        if isinstance(option, click.Option) and typed and name in shared:
            given = context.params[name]
            for value in given if option.multiple else [given]:
                words += [option.opts[0], *([] if option.is_flag else [str(value)])]
    return shlex.join([*words, *more])


def release_target(
    output: Sequence[str], table: str, question: ReleaseArguments, *, force: bool, dry_run: bool
) -> str:
    """Refuse what a release cannot be written to, before the work; return what will be written."""
    # What an interrupted run left there is put in order, unless nothing is to be written.
    from wideberth import io
    from wideberth.io.manifest import manifest_path
    from wideberth.release import anatomized

    said = question.arguments["policy"].transform.get("algorithm")
    if (question.arguments.get("algorithm") or said) == "anatomy":
        goal = anatomized.anatomy_files(output, anatomized.suffix_for(table))
        if not dry_run:
            anatomized.repair_anatomy(goal)
        anatomized.check_anatomy_files(goal, force=force, sources=question.sources)
        return f"{goal.quasi}, {goal.sensitive} and {goal.manifest}"
    if len(output) > 1:
        raise click.UsageError("one release, one -o; only an anatomy has two tables")
    if not dry_run:
        io.repair(output[0], manifest_path(output[0]))
    io.check_target(output[0], force=force, table=True, sources=question.sources)
    io.check_target(Path(manifest_path(output[0])), force=force, sources=question.sources)
    return f"{output[0]} and {manifest_path(output[0]).name} beside it"


# -----------------------------------------------------------------------------
# Nodes of a lattice, in words.


def format_levels(levels: Mapping[str, int]) -> list[str]:
    """Write levels as options do.

    >>> format_levels({"age": 2, "sex": 0})
    ['age=2', 'sex=0']
    """
    return [f"{column}={level}" for column, level in levels.items()]


def certainty(
    nodes: int, measure: str, score: float | None, bound: float | None, proven: bool
) -> str:
    """Describe how certain it is that a node is the best, and its score unless that is kept back.

    >>> certainty(36, "loss", 0.123456, 0.123456, True)
    'the best of 36 nodes: loss 0.1235'
    >>> certainty(36, "loss", 0.123456, 0.1, False)
    'best so far of 36 nodes: loss 0.1235; no node is better than 0.1'
    >>> certainty(36, "entropy", None, None, True)
    'the best of 36 nodes by entropy'
    """
    scored = f" by {measure}" if score is None else f": {measure} {format_measure(score)}"
    if nodes == 1:
        return f"the only node{scored}"
    if proven:
        return f"the best of {nodes:,} nodes{scored}"
    known = ""
    if bound is not None and isfinite(bound):
        known = f"; no node is better than {format_measure(_lowered(bound))}"
    return f"best so far of {nodes:,} nodes{scored}{known}"


def format_measure(value: float) -> str:
    """Write a measure with four digits, large ones in thousands, millions and so on.

    >>> [format_measure(value) for value in (0, 0.6183825, 142.7142, 4000, 405168, 123456789)]
    ['0', '0.6184', '142.7', '4000', '405.2k', '123.5M']
    """
    size = min(floor(log10(abs(value)) / 3), 5) if abs(value) >= 9999.5 else 0
    return f"{value / 1000**size:.4g}{' kMGTP'[size].strip()}"


def _lowered(bound: float) -> float:
    """Round down to four digits, so that a bound stays one.

    >>> _lowered(0.123476)
    0.1234
    """
    unit = 3 - floor(log10(bound)) if bound > 0 else 0
    return float(Fraction(floor(Fraction(bound) * Fraction(10) ** unit)) / Fraction(10) ** unit)
