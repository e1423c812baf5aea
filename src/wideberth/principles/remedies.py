"""Which principle helps against what an audit finds, and from which parameter on.

An audit knows dangers, not principles. Here is what keeps each of them away, the best remedy
first. Whether a table permits it, and whether it was asked for already, is for the audit to tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from wideberth.core.exact import fraction
from wideberth.principles.base import Principle, lookup, make


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A principle that helps against a danger."""

    name: str
    key: str  # the parameter that matters; higher values are stronger
    least: Fraction  # the weakest value that helps
    usual: Fraction  # advised where a table permits it
    effect: str  # what then holds, with ``{value}`` for the value
    settings: Mapping[str, Any] = field(default_factory=dict)  # the other parameters

    def others(self, allowed: tuple[object, ...]) -> dict[str, Any]:
        """Return the other parameters, with the values that need no protection."""
        beside = {"allowed": allowed} if "allowed" in lookup(self.name).parameters() else {}
        return {**(beside if allowed else {}), **self.settings}

    def principle(self, value: Fraction, allowed: tuple[object, ...] = ()) -> Principle:
        """Return the principle with a value."""
        return make(self.name, {**self.others(allowed), self.key: value})

    def asked_by(self, guard: Principle) -> Fraction | None:
        """Return the value that a policy asks for already, if its principle is this one.

        >>> from wideberth.principles import parse
        >>> least_group(2).asked_by(parse("k-anonymity:k=4"))
        Fraction(4, 1)
        """
        if guard.name != self.name:
            return None
        given = {key: getattr(guard, key) for key in self.settings}
        declared = guard.parameters()
        if not all(
            declared[key].as_strong(given[key], wanted) for key, wanted in self.settings.items()
        ):
            return None
        return fraction(getattr(guard, self.key))


def least_group(rows: int) -> Remedy:
    """Help against groups with fewer rows."""
    return Remedy(
        name="k-anonymity",
        key="k",
        least=Fraction(rows),
        usual=Fraction(5),
        effect="every group then has {value} rows or more",
    )


def several_values() -> list[Remedy]:
    """Help against groups with a single value."""
    return [
        Remedy(
            name="frequency-l",
            key="l",
            least=Fraction(2),
            usual=Fraction(2),
            effect="no value then has more than half of a group",
        ),
        distinct_values(2),
    ]


def distinct_values(many: int) -> Remedy:
    """Help against groups with fewer values."""
    return Remedy(
        name="distinct-l",
        key="l",
        least=Fraction(many),
        usual=Fraction(many),
        effect="every group then has {value} different values or more",
    )


def no_common_value(share: Fraction) -> list[Remedy]:
    """Help against a value that has such a share of a group, or more."""
    return [
        Remedy(
            name="frequency-l",
            key="l",
            least=1 / share + Fraction(1, 100),
            usual=Fraction(2),
            effect="no value then has more than 1/{value} of a group",
        )
    ]


def no_interval(epsilon: Any, relative: bool, share: Fraction) -> list[Remedy]:
    """Help against an interval around any number that has such a share of a group, or more."""
    anywhere = Remedy(
        name="delta-l",
        key="l",
        least=1 / share + Fraction(1, 100),
        usual=Fraction(2),
        effect="no interval that reaches δ to either side then has more than 1/{value} of a group, "
        "wherever it lies",
        settings={"delta": epsilon},
    )
    around = Remedy(
        name="epsilon-m",
        key="m",
        least=Fraction(2),
        usual=Fraction(2),
        effect="no more than 1/{value} of a group then lies within ε of any of its values",
        settings={"epsilon": epsilon, "relative": relative},
    )
    return [around] if relative else [anywhere, around]


def no_mixture(epsilon: Any, relative: bool, wanted: Fraction) -> list[Remedy]:
    """Help against crowds of close values in several groups that may be a victim's."""
    # In any mixture of groups (ε,m)-anonymity bounds the share by 2/m, (δ,l)-diversity by 1/l.
    anywhere = Remedy(
        name="delta-l",
        key="l",
        least=wanted,
        usual=wanted,
        effect="its bound holds for any mixture of groups",
        settings={"delta": epsilon},
    )
    around = Remedy(
        name="epsilon-m",
        key="m",
        least=Fraction(int(wanted) + 1),
        usual=Fraction(int(2 * wanted)),
        effect="in a mixture of groups its bound is 2/m",
        settings={"epsilon": epsilon, "relative": relative},
    )
    return [around] if relative else [anywhere, around]


def no_kind(steps: int) -> list[Remedy]:
    """Help against groups of one kind, up to so many steps above the values of a tree."""
    return [
        Remedy(
            name="l-e",
            key="l",
            least=Fraction(2),
            usual=Fraction(2),
            effect="any two values of a group are then farther than e apart on the tree",
            settings={"e": e},
        )
        for e in range(steps, 0, -1)
    ]


def farther(asked: Sequence[Principle], share: Fraction) -> list[Remedy]:
    """Help against such a share of a group near anybody's value, by the distances asked for."""
    return [
        Remedy(
            name=guard.name,
            key="delta",
            least=1 - share + Fraction(1, 100),
            usual=Fraction(1, 2),
            effect="of the others in a group, such a share is then farther than ε from anybody",
            settings={key: value for key, value in guard.given().items() if key != "delta"},
        )
        for guard in asked
        if guard.name == "dissimilarity"
    ]
