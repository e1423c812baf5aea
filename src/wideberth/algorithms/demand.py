"""What algorithms are told to achieve."""

from __future__ import annotations

from dataclasses import dataclass

from wideberth.core.codes import Column
from wideberth.principles import Principle, Rule


@dataclass(frozen=True, eq=False)
class Demand:
    """One principle bound to one table."""

    principle: Principle
    rule: Rule
    column: Column | None  # None if it looks at sizes only

    def __str__(self) -> str:
        """Return the principle, and the attribute that it is demanded of."""
        return str(self.principle) + (f" on {self.column.domain.name}" if self.column else "")
