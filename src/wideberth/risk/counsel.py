"""What to do about a finding: what helps, what the table permits, and what was not asked for yet.

A principle that the policy asks for is not advised again: if it is violated, to anonymize again
with it helps; if it holds, it does not help. A table as a whole is the best that any grouping can
do for most principles, so what its histogram rules out is not advised either.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from wideberth.core.codes import Column
from wideberth.core.exact import fraction
from wideberth.errors import ParameterError, WideberthError
from wideberth.principles import Principle, plain_value
from wideberth.principles.allowance import allowed_codes, commonly_allowed
from wideberth.principles.feasibility.limits import WholeTable
from wideberth.principles.feasibility.nearness import rounded
from wideberth.principles.feasibility.refusal import infeasible_error
from wideberth.principles.remedies import Remedy

_AGAIN = "The policy forbids this already: anonymize again with it."
_DIGITS = 3
#: Rows up to which it is soon known whether rows can be dealt that are compared with one another.
_SOON = 5000


class RemedyAdvice:
    """What may be advised about one attribute, or about the sizes of groups.

    >>> from wideberth.principles.remedies import least_group
    >>> print(RemedyAdvice(None, 3).against([least_group(2)], otherwise="Do not publish it."))
    Ask for k-anonymity with k = 3: every group then has 3 rows or more (the table permits no more).
    """

    def __init__(
        self,
        column: Column | None,
        rows: int,
        asked: Sequence[Principle] = (),
        holding: Sequence[Principle] = (),
    ) -> None:
        # `column` has a code for each row of the table that can be anonymized again; None for
        # sizes. `asked` is what the policy asks for, `holding` what of it holds.
        self.table = WholeTable(column, rows)
        self.asked = asked
        self.holding = holding
        self.allowed: tuple[object, ...] = ()
        harmless = None if column is None else commonly_allowed(self.table.domain, asked)
        if harmless is not None:
            named = [value for one in asked for value in getattr(one, "allowed", ())]
            self.allowed = tuple(
                value
                for value in dict.fromkeys(named)
                if (allowed_codes(self.table.domain, [value]) & harmless).any()
            )

    def against(self, remedies: Sequence[Remedy], *, otherwise: str) -> str:
        """Return advice: the first remedy that the table permits and that does not hold yet."""
        # Remedies come best first. `otherwise` is the advice if none of them is left.
        if any(self._forbids(guard, remedy) for guard in self.asked for remedy in remedies):
            return _AGAIN
        for remedy in remedies:
            if self._held(remedy):
                continue
            value = self._value(remedy)
            if value is not None:
                return self._worded(remedy, value)
        return otherwise

    def commonest(self) -> str:
        """Return in words how many rows share a value, of those that need protection.

        >>> import polars as pl
        >>> from wideberth.core.codes import encode
        >>> RemedyAdvice(encode(pl.Series("ill", ["flu", "flu", "flu", "ulcer"])), 4).commonest()
        'one value has 3 of 4 rows'
        """
        counts = self.table.counts
        if (harmless := commonly_allowed(self.table.domain, self.asked)) is not None:
            counts = counts[~harmless]
        return f"one value has {int(counts.max(initial=0)):,} of {self.table.rows:,} rows"

    def about(self, guard: Principle) -> str:
        """Return what to do about a principle that is violated."""
        if not self._known(guard) or self._feasible(guard):
            return "Anonymize again with this policy."
        why = infeasible_error(guard, self.table.column, self.table.rows)
        if why.outcome != "impossible":
            return f"Anonymize again; {why.what}. If that fails, try {why.hint}."
        return f"No grouping of this table satisfies it: {why.what}. Try {why.hint}" + (
            "." if self.table.column is None else "; or leave the column out."
        )

    def _forbids(self, guard: Principle, remedy: Remedy) -> bool:
        """Return whether a principle that is violated would help, and can be satisfied."""
        if guard in self.holding:
            return False
        value = remedy.asked_by(guard)
        return value is not None and value >= remedy.least and self._feasible(guard)

    def _held(self, remedy: Remedy) -> bool:
        """Return whether as much holds already."""
        values = [remedy.asked_by(guard) for guard in self.holding]
        return any(value is not None and value >= remedy.least for value in values)

    def _value(self, remedy: Remedy) -> Fraction | None:
        """Return what the table permits of a remedy, up to the usual; None if that is too little.

        >>> from wideberth.principles.remedies import least_group
        >>> RemedyAdvice(None, 12)._value(least_group(2))
        Fraction(5, 1)
        >>> RemedyAdvice(None, 1)._value(least_group(2))
        """
        usual = max(remedy.usual, remedy.least)
        for value in (usual, remedy.least):
            try:
                principle = remedy.principle(value, self.allowed)
            except ParameterError:  # such as a share of a number that is none
                return None
            if self._feasible(principle):
                break
        else:
            return None
        if value == usual:
            return value
        if self._searched(principle):
            return value
        limit = self.table.strongest(remedy.name, remedy.key, remedy.others(self.allowed))
        if limit is None or limit.value is None:
            return value
        found = rounded(limit.value, up=False, digits=_DIGITS)
        if found < value or not self._feasible(remedy.principle(found, self.allowed)):
            return value
        return found

    def _feasible(self, principle: Principle) -> bool:
        """Return whether some grouping is known to satisfy a principle."""
        try:
            return self._known(principle) and self.table.feasible(principle)
        except WideberthError:  # the attribute is not of the kind that the principle is about
            return False

    def _known(self, principle: Principle) -> bool:
        """Return whether it is soon known what the table permits."""
        if principle.needs == "population":
            return False
        try:
            return not self._searched(principle) or self.table.rows <= _SOON
        except WideberthError:
            return False

    def _searched(self, principle: Principle) -> bool:
        return self.table.searched(self.table.bind(principle))

    def _worded(self, remedy: Remedy, value: Fraction) -> str:
        given = {k: v for k, v in remedy.settings.items() if v is not False}
        share = given.pop("relative", False)
        if share:
            given["epsilon"] = f"{plain_value(100 * fraction(given['epsilon']))}%"
        said = [f"{key} = {plain_value(each)}" for key, each in given.items()]
        said.append(f"{remedy.key} = {plain_value(value)}")
        effect = remedy.effect.format(value=plain_value(value))
        text = f"Ask for {remedy.name} with {' and '.join(said)}: {effect}"
        if value < remedy.usual:
            text += " (the table permits no more)"
        if self.allowed:
            text += "; allow the same values as now"
        return f"{text}."
