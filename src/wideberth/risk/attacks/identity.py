"""Whose row is whose: what an adversary makes of the sizes of the groups alone.

References
----------
El Emam, Dankar: Protecting privacy using k-anonymity. JAMIA 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wideberth.core.exact import Ints
from wideberth.errors import ParameterError
from wideberth.risk.attacks.situations import Risk


def identification_risk(rows: Ints, people: Ints) -> Risk:
    """Return the risk of being picked out, by how many rows could be one's own."""
    # 0 rows: nothing can be picked, so no risk.
    return Risk.of(np.where(rows > 0, 1 / np.maximum(rows, 1), 0.0), people)


@dataclass(frozen=True, kw_only=True)
class IdentityRisk:
    """The risk that an adversary finds somebody's row."""

    prosecutor: Risk  # the victim is known to be in the table: one over the size of the group
    marketer: float  # share of rows that are found if every row is guessed: the mean of the same
    uniques: int  # people who are alone in their group
    smallest: int  # size of the smallest group; 0 if there is none
    # it is not known: one over the number of people of a population who match the group
    journalist: Risk | None = None
    # People in groups of which the population has fewer people than the table has rows: it cannot
    # be complete there, so the size of the group is taken instead.
    lacking: int | None = None
    # the group is not known: one over the rows of all groups that cover the victim
    covering: Risk | None = None

    @classmethod
    def of(
        cls,
        sizes: Ints,
        people: Ints | None = None,
        population: Ints | None = None,
        covering: Risk | None = None,
    ) -> IdentityRisk:
        """Measure the risk of groups.

        >>> identity = IdentityRisk.of(np.array([4, 1]), population=np.array([20, 0]))
        >>> identity.prosecutor.worst, identity.marketer, identity.uniques
        (1.0, 0.4, 1)
        >>> identity.journalist.mean, identity.lacking
        (0.24, 1)
        """
        # For each group: its rows (`sizes`), its victims (as many as rows by default), and the
        # people of a population who match it. `covering` is what `identification_risk` returns.
        people = sizes if people is None else people
        journalist = lacking = None
        if population is not None:
            if len(population) != len(sizes):
                raise ParameterError(
                    f"population has {len(population):,} numbers, but there are {len(sizes):,} "
                    "groups",
                    hint="one number for each group, in the same order",
                )
            journalist = identification_risk(np.maximum(population, sizes), people)
            lacking = int(people[population < sizes].sum())
        prosecutor = identification_risk(sizes, people)
        return cls(
            prosecutor=prosecutor,
            marketer=prosecutor.mean,
            uniques=int(people[sizes == 1].sum()),
            smallest=int(sizes.min()) if len(sizes) else 0,
            journalist=journalist,
            lacking=lacking,
            covering=covering,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "prosecutor": self.prosecutor.to_dict(),
            "marketer": self.marketer,
            "uniques": self.uniques,
            "smallest": self.smallest,
            "journalist": None if self.journalist is None else self.journalist.to_dict(),
            "lacking": self.lacking,
            "covering": None if self.covering is None else self.covering.to_dict(),
        }
