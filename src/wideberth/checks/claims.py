"""What an adversary can claim about anybody whose group is known: a value close to the truth.

Wang et al. 2009, Example 2: four of five rows of Kevin's group are near one of them, so "Kevin's
disease is close to that one" is true with 80 %. Claims quote the table's sensitive values: that is
what they are for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from wideberth.core.codes import Column
from wideberth.core.exact import fraction
from wideberth.core.names import prefix_of
from wideberth.distances import Similarity
from wideberth.principles import plain_value
from wideberth.principles.columns import GroupedTable


@dataclass(frozen=True)
class Claim:
    """The claim about one group that an adversary is surest of.

    Parameters
    ----------
    group : dict
        The group's quasi-identifiers as published, or its id.
    rows : int
        Its size.
    about : str
        The sensitive attribute.
    epsilon : Fraction
        How near is near.
    centre : int
        The row whose neighbourhood is claimed, counted from 1.
    value : object
        Its sensitive value; a tuple if it has components, None if it is missing.
    neighbours : tuple of int
        The rows of the group that are near it, itself included, counted from 1.
    """

    group: dict[str, Any]
    rows: int
    about: str
    epsilon: Fraction
    centre: int
    value: Any
    neighbours: tuple[int, ...]

    @property
    def confidence(self) -> Fraction:
        """How likely the claim is true: the share of the group that is near the centre."""
        return Fraction(len(self.neighbours), self.rows)

    @property
    def prior(self) -> Fraction:
        """How likely each row is to be the victim's, to begin with."""
        return Fraction(1, self.rows)

    @property
    def risk(self) -> Fraction:
        """The share of the others that are near the centre; 1 if there are no others."""
        if self.rows == 1:
            return Fraction(1)
        return Fraction(len(self.neighbours) - 1, self.rows - 1)

    def __str__(self) -> str:
        """Return the claim as the adversary would make it."""
        where = ", ".join(f"{key} {_shown(value)}" for key, value in self.group.items())
        sure = f"{float(100 * self.confidence):.3g} % confidence"
        if self.value is None:
            return f"anybody in the group ({where}) has no value of {self.about}, with {sure}"
        article = "an" if self.about[:1].lower() in "aeiou" else "a"
        near = f"within {plain_value(self.epsilon)} of {_shown(self.value)}"
        return f"anybody in the group ({where}) has {article} {self.about} {near} with {sure}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "group": {key: _jsonable(value) for key, value in self.group.items()},
            "rows": self.rows,
            "centre": self.centre,
            "value": _jsonable(self.value),
            "near": len(self.neighbours),
            "confidence": float(self.confidence),
            "prior": float(self.prior),
            "risk": float(self.risk),
            "claim": str(self),
        }


def worst_claims(
    subject: GroupedTable,
    on: Sequence[str],
    column: Column,
    near: Similarity,
    epsilon: float,
    worst: int,
) -> list[Claim]:
    """Find the rows that most of their group are near, the surest claims first."""
    groups = subject.groups(column)
    crowds = [block.max(near.crowd(block)) for block in groups.blocks()]
    crowd = np.concatenate(crowds)
    others = np.maximum(groups.sizes - 1, 1)
    risk = np.where(groups.sizes == 1, 1.0, (crowd - 1) / others)
    found = []
    for group in np.lexsort((-risk, -crowd / groups.sizes))[:worst].tolist():
        alone = groups[group : group + 1]
        centre = int(alone.codes[near.crowd(alone).argmax()])
        members = np.flatnonzero(subject.partition.labels == group)
        codes = column.codes[members]
        row = int(members[(codes == centre).argmax()])
        neighbours = members[np.isin(codes, near.near(centre))]
        found.append(
            Claim(
                group=subject.group_values(group),
                rows=len(members),
                about=prefix_of(on) or ", ".join(on),
                epsilon=fraction(epsilon),
                centre=row + 1,
                value=_value(subject, on, row, missing=centre == column.domain.missing),
                neighbours=tuple((neighbours + 1).tolist()),
            )
        )
    return found


def _value(subject: GroupedTable, on: Sequence[str], row: int, *, missing: bool) -> Any:
    """Return a row's sensitive value: of several columns, of a list or a struct, as a tuple."""
    if missing:
        return None
    cells = [subject.frame[name].slice(row, 1).to_list()[0] for name in on]
    value = cells[0] if len(cells) == 1 else tuple(cells)
    if isinstance(value, dict):
        return tuple(value.values())
    return tuple(value) if isinstance(value, list) else value


def _shown(value: object) -> str:
    if value is None:
        return "<missing>"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _jsonable(value: object) -> Any:
    if isinstance(value, tuple | list):
        return [_jsonable(cell) for cell in value]
    return value if isinstance(value, int | float | str | None) else str(value)
