"""All traces that a release may carry besides its groups, looked for in one go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from wideberth.core.names import expand_short_forms
from wideberth.errors import InfeasibleError
from wideberth.labels import BoxCover, PublishedBoxes
from wideberth.policy.spec import as_published
from wideberth.policy.two_tables import load_table
from wideberth.principles.columns import name_table_in_errors, require_column
from wideberth.release.release import Release
from wideberth.risk.findings import Finding
from wideberth.risk.inputs import AuditInputs, require_described_files, take_inputs
from wideberth.risk.leaks import (
    exact_ends,
    formulas,
    identifiers,
    intersect,
    not_combined,
    row_order,
    suppression_findings,
    swap_audit,
)

#: Tables of up to so many rows are made anew for a swap audit without being asked.
SMALL = 5_000


def find_leaks(
    taken: AuditInputs, published: PublishedBoxes, cover: BoxCover | None
) -> list[Finding]:
    """Look for what one release gives away besides its groups."""
    given, original = taken.examined, taken.original
    found = identifiers(
        given.frame,
        quasi=given.quasi,
        sensitive=given.sensitive,
        # What was only guessed to be one is named by what gives it away.
        identifier=[] if taken.reasons else taken.roles["identifier"],
        group=given.group,
        boxes=published.boxes,
    )
    if given.counted is None:  # an anatomised table's values were paired with rows by us
        found += row_order(
            given.frame,
            original,
            quasi=given.quasi,
            sensitive=given.sensitive,
            group=given.group,
            published=published,
            covering=cover,
        )
        found += exact_ends(published)
    if taken.text:
        found += formulas(given.frame)
    found += suppression_findings(
        given.frame, original, sensitive=given.sensitive, published=published, covering=cover
    )
    # Of several attributes the same may be said.
    return list({(finding.name, finding.title): finding for finding in found}.values())


def combine_releases(taken: AuditInputs, others: object) -> list[Finding]:
    """Combine a release with other releases of the same table."""
    given, original = taken.examined, taken.original
    several = others if isinstance(others, list | tuple) else [others]
    if not several:
        return []
    if not given.sensitive:
        return [not_combined("the releases were not combined: there is no sensitive attribute")]
    with name_table_in_errors("another release"):
        rest = [_other(taken, other) for other in several]
    if any(one.examined.counted is not None for one in (taken, *rest)):
        return [not_combined("the releases were not combined: one is in two tables (anatomy)")]
    frames = [given.frame, *(one.examined.frame for one in rest)]
    read = [
        PublishedBoxes.read(
            frame,
            given.attributes,
            original=original,
            hierarchies=given.hierarchies,
            types=given.types,
        )
        for frame in frames
    ]
    return [
        finding
        for on in given.sensitive
        for finding in intersect(frames, read, on=on, original=original)
    ]


def _other(taken: AuditInputs, other: object) -> AuditInputs:
    given = taken.examined
    if isinstance(other, Release):
        return take_inputs(other)
    if isinstance(other, str | Path):
        require_described_files(other)
    frame, _ = load_table(other, given.options)
    for column in given.sensitive:
        require_column(frame, column)
    quasi = as_published(given.attributes, frame.columns)
    for column in quasi:
        require_column(frame, column)
    return take_inputs(
        frame,
        quasi=quasi,
        sensitive=given.sensitive,
        hierarchies=given.hierarchies,
        types=given.types,
    )


def audit_swaps(taken: AuditInputs, *, asked: bool | None) -> list[Finding]:
    """Make the release anew with sensitive values swapped, and see whether the groups change."""
    # By default (`asked` is None) only for small tables.
    given, original = taken.examined, taken.original
    if original is None or not given.principles or given.counted is not None:
        return []
    if not taken.made and given.policy is None:
        return []  # somebody else's table, made in a way that we do not know
    if asked is False or (asked is None and original.height > SMALL):
        return []
    makes = [p for p in given.principles if p.needs != "population"]  # which can only be checked
    if not makes:
        return []
    policy = given.policy
    how: dict[str, Any] = {"policy": policy and replace(policy, principles=makes)}
    if given.policy is None and taken.manifest is not None:
        roles = dict(taken.manifest["roles"])
        how = {
            **{role: roles[role] for role in roles if roles[role]},
            "principles": makes,
            "hierarchies": given.hierarchies,
            "types": given.types,
            **{k: v for k, v in taken.manifest["transform"].items() if v is not None},
        }
    try:
        return swap_audit(original[_made_from(taken)], **how)
    except InfeasibleError:  # by this policy no release can be made: this one was not
        return []


def _made_from(taken: AuditInputs) -> list[str]:
    """Return the columns of the original that have roles; others were dropped before."""
    original, policy = taken.original, taken.examined.policy
    assert original is not None  # noqa: S101 - asked only if there is one
    roles = policy.roles if policy is not None else (taken.manifest or {})["roles"]
    named = [
        name for names in roles.values() for name in expand_short_forms(names, original.columns)
    ]
    return [column for column in original.columns if column in named]
