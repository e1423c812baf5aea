"""l-diversity of several sensitive attributes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wideberth.core.codes import Codes, Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, what_to_type
from wideberth.principles.base import Needs, Principle, Rule, parameter, register, remembered
from wideberth.principles.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    RecursiveCLDiversity,
)


@register
@dataclass(frozen=True, kw_only=True)
class MultiAttributeLDiversity(Principle):
    """Each sensitive attribute stays l-diverse for someone who knows all the others.

    Literally Def. 4.5: for each attribute, the other sensitive attributes count as
    quasi-identifiers too. `on` names the attributes; by default all sensitive ones.
    """

    l: float = parameter("as in the chosen form", low=1, stronger="higher")  # noqa: E741
    form: str = parameter(
        "which l-diversity",
        kind="choice",
        choices=("distinct", "frequency", "entropy", "recursive"),
        default="distinct",
    )
    c: float | None = parameter(
        "as in recursive-cl; only for that form",
        low=0,
        low_open=True,
        default=None,
        stronger="lower",
        exclusive=True,
    )

    name: ClassVar[str] = "multi-attribute-l"
    example: ClassVar[str] = "multi-attribute-l:l=3,form=entropy"
    title: ClassVar[str] = "multi-attribute l-diversity"
    reference: ClassVar[str] = "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006, Def. 4.5"
    protects: ClassVar[str] = (
        "Learning one sensitive attribute of a person from another one that is known."
    )
    does_not_protect: ClassVar[str] = "What the chosen form of l-diversity does not protect."
    needs: ClassVar[Needs] = "several"
    monotonicity: ClassVar[str] = "Monotone: a union merges the parts that agree on the others."

    def validate(self) -> None:
        """Refuse c without the recursive form, and the other way round; build the form once."""
        if (self.c is not None) != (self.form == "recursive"):
            raise ParameterError(
                "multi-attribute-l: c belongs to form=recursive, which needs it",
                hint="form=recursive,c=2,l=3",
            )
        self.single()

    def single(self) -> Principle:
        """Return the principle that each attribute must satisfy."""
        if self.form == "frequency":
            return FrequencyLDiversity(l=self.l)
        if self.form == "entropy":
            return EntropyLDiversity(l=self.l)
        # The whole-number forms say themselves if l is not whole.
        if self.c is not None:
            return RecursiveCLDiversity(c=self.c, l=self.l)  # type: ignore[arg-type]
        return DistinctLDiversity(l=self.l)  # type: ignore[arg-type]

    def bind(self, domain: Domain) -> Rule:
        """Bind to the joint domain of several attributes."""
        if domain.parts is None:
            raise ParameterError(
                "multi-attribute-l needs two or more sensitive attributes",
                hint=what_to_type(
                    python='sensitive=["disease", "salary"]', command="--sensitive disease,salary"
                ),
            )
        return _Several(self.single(), domain)


class _Several(Rule):
    def __init__(self, single: Principle, domain: Domain) -> None:
        assert domain.parts is not None  # noqa: S101 - the only caller has checked
        self.views = [
            _View(domain.parts, index, component.size)
            for index, component in enumerate(domain.components)
        ]
        self.rules = [single.bind(component) for component in domain.components]
        self.stronger = {key: p.stronger for key, p in single.parameters().items()}

    @remembered
    def split(self, groups: Groups) -> list[tuple[Groups, Ints]]:
        """For each attribute: the finer groups, and where those of each group begin."""
        return [view.split(groups) for view in self.views]

    def satisfies(self, groups: Groups) -> Bools:
        verdict = np.ones(len(groups), dtype=bool)
        for rule, (finer, begin) in zip(self.rules, self.split(groups), strict=True):
            verdict &= np.logical_and.reduceat(rule.satisfies(finer), begin)
        return verdict

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        worst: dict[str, Floats] = {}
        for rule, (finer, begin) in zip(self.rules, self.split(groups), strict=True):
            for key, figures in rule.achieved(finer).items():
                weaker = np.minimum if self.stronger[key] == "higher" else np.maximum
                here = weaker.reduceat(figures, begin)
                worst[key] = weaker(worst[key], here) if key in worst else here
        return worst

    def reason(self, groups: Groups, group: int) -> str:
        failing = [
            domain + 1
            for domain, (rule, (finer, begin)) in enumerate(
                zip(self.rules, self.split(groups), strict=True)
            )
            if not np.logical_and.reduceat(rule.satisfies(finer), begin)[group]
        ]
        if not failing:
            return "each attribute is diverse given the others"
        which = ", ".join(map(str, failing))
        return f"given the others, sensitive attribute {which} is not diverse"


class _View:
    """One attribute as the sensitive one, the others as quasi-identifiers."""

    def __init__(self, parts: Codes, index: int, width: int) -> None:
        _, others = np.unique(np.delete(parts, index, axis=1), axis=0, return_inverse=True)
        self.others = others.reshape(-1).astype(np.int64)
        self.many = int(self.others.max()) + 1
        self.own = parts[:, index].astype(np.int64)
        self.width = width

    def split(self, groups: Groups) -> tuple[Groups, Ints]:
        finer = groups.owner * self.many + self.others[groups.codes]
        codes = self.own[groups.codes]
        order = np.lexsort((codes, finer))
        finer = finer[order]
        begin = np.flatnonzero(np.diff(finer, prepend=-1))
        parts = Groups(
            start=np.append(begin, len(finer)),
            codes=codes[order],
            counts=groups.counts[order],
            width=self.width,
        )
        first = np.searchsorted(finer[begin] // self.many, np.arange(len(groups)))
        return parts, first
