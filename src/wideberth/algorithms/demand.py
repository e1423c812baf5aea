"""What algorithms are told to achieve."""

from __future__ import annotations

from dataclasses import dataclass

from wideberth.encode import Column
from wideberth.principles import Principle, Rule


@dataclass(frozen=True, eq=False)
class Demand:
    """One principle bound to one table.

    Parameters
    ----------
    principle : Principle
        What the user wrote.
    rule : Rule
        The principle bound to the column's domain.
    column : Column or None
        The sensitive attribute it guards; None if it looks at sizes only.
    """

    principle: Principle
    rule: Rule
    column: Column | None

    def __str__(self) -> str:
        """Say what is demanded, and of which attribute."""
        return str(self.principle) + (f" on {self.column.domain.name}" if self.column else "")
