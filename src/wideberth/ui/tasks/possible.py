"""Which principles of a policy a table can satisfy, each by itself and all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.arrangement import SplitProblem, require_combinable
from wideberth.algorithms.mondrian.split import require_groups
from wideberth.core.exact import fraction
from wideberth.core.memory import bounded
from wideberth.core.names import expand_short_forms, spread_over_columns
from wideberth.core.progress import Progress
from wideberth.errors import InfeasibleError, WideberthError
from wideberth.hierarchy.quasi import Quasi, read_quasi
from wideberth.kernels.randomness import KEY
from wideberth.policy.policy import Policy
from wideberth.policy.settings import Transform
from wideberth.principles import Principle, make, plain_value
from wideberth.principles.columns import SensitiveColumns
from wideberth.principles.feasibility.limits import WholeTable
from wideberth.principles.feasibility.nearness import rounded
from wideberth.principles.feasibility.refusal import alternatives, infeasible_error, weaker
from wideberth.release.anatomized import one_attribute_error
from wideberth.release.prepare import refuse_check_only

_YES = "some grouping of the rows satisfies it"
_UNKNOWN = "no grouping was found that satisfies it, though none was ruled out"
#: Rows up to which it is tested whether principles go together where rows are dealt by who is near
#: whom, which takes long.
_NEAR = 5000
#: How often the way between what fits and what does not is halved, and digits of what is proposed.
_CLOSER, _DIGITS = 3, 2


def possible(
    *, path: str, content: Mapping[str, Any], folder: str, tell: Progress
) -> dict[str, Any]:
    """Return for each principle whether some grouping of the whole table satisfies it."""
    entries = list(content.get("principle", ()))
    policy = Policy.of({**content, "principle": []}, folder=Path(folder))
    tell("reading", 0, 0)
    return judge_principles(io.read(path, policy.options), policy, entries, tell)


def judge_principles(
    frame: pl.DataFrame, policy: Policy, entries: Sequence[Mapping[str, Any]], tell: Progress
) -> dict[str, Any]:
    """Return what `possible` returns, for a table that is read already."""
    # "together" is None unless the principles do not go together though each would alone. "tries"
    # are proposals: "words", and "at" which place which "entry" of a policy goes; there are none if
    # the principles are not the obstacle.
    feasibility_judge = _FeasibilityJudge(frame, policy)
    verdicts = []
    for number, entry in enumerate(entries):
        tell("judging", number, len(entries) + 1)
        verdicts.append(feasibility_judge.judge(number, entry))
    tell("judging", len(entries), len(entries) + 1)
    return {"principles": verdicts, "together": feasibility_judge.together(verdicts)}


class _FeasibilityJudge:
    """Judge of the principles on one table."""

    def __init__(self, frame: pl.DataFrame, policy: Policy) -> None:
        columns = frame.columns
        sensitive = expand_short_forms(policy.roles["sensitive"], columns)
        hierarchies = spread_over_columns(policy.hierarchies, columns)
        types = spread_over_columns(policy.types, columns)
        self.attributes = SensitiveColumns(
            frame,
            sensitive=sensitive,
            hierarchies={name: rule for name, rule in hierarchies.items() if name in sensitive},
            types={name: kind for name, kind in types.items() if name in sensitive},
        )
        self.sensitive = sensitive
        self.rows = frame.height
        self.transform = Transform(**policy.transform)
        self.megabytes = self.transform.memory_for_distances
        self.demands: dict[int, Demand] = {}
        self.entries: dict[int, Mapping[str, Any]] = {}

    def judge(self, at: int, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Judge one principle, as a policy has it at some place of its list."""
        where = "policy"
        try:
            with bounded(self.megabytes):
                return {"tries": [], **self._judge(at, entry, where)}
        except WideberthError as error:
            # A principle is judged alone, so that it is always the first.
            what = error.what.removeprefix(f"{where}: principle 1: ")
            return {"verdict": "no", "what": what, "hint": error.hint, "tries": []}

    def _judge(self, at: int, entry: Mapping[str, Any], where: str) -> dict[str, Any]:
        principle = Policy.of({"principle": [entry]}, where=where).principles[0]
        try:
            refuse_check_only(principle)
        except WideberthError as error:
            return {"verdict": "unknown", "what": error.what, "hint": error.hint}
        on = self.attributes.attribute(principle)
        column = self.attributes.column(on, principle) if on else None
        table = WholeTable(column, self.rows)
        self.demands[at] = Demand(principle, table.bind(principle), column)
        self.entries[at] = entry
        verdict = table.verdict(principle)
        if verdict == "yes":
            return {"verdict": verdict, "what": _YES, "hint": None}
        why = infeasible_error(principle, column, self.rows)
        what = why.what if verdict == "no" else _UNKNOWN
        others = alternatives(principle, table) if verdict == "no" else []
        tries = [
            {"words": one.words, **self._entry(at, one.principle)}
            for one in others
            if one.principle is not None
        ]
        return {"verdict": verdict, "what": what, "hint": why.hint, "tries": tries}

    def _entry(self, at: int, principle: Principle) -> dict[str, Any]:
        """Return a principle as an entry of a policy, in the place of the one that is there."""
        before, now = self.demands[at].principle.given(), principle.given()
        changed = {
            key: plain_value(value) for key, value in now.items() if before.get(key) != value
        }
        return {"at": at, "entry": {**self.entries[at], **changed}}

    def together(self, verdicts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
        """Return why the principles cannot be required together; None if no reason is known."""
        demands = list(self.demands.values())
        try:
            require_combinable(demands)
        except WideberthError as error:
            return {"verdict": "no", "what": error.what, "hint": error.hint, "tries": []}
        if self.transform.exact and len(self.sensitive) > 1:
            many = one_attribute_error(self.sensitive)
            # No other principle helps, so none is offered.
            return {"verdict": "no", "what": many.what, "hint": many.hint, "tries": None}
        dealt = [demand for demand in demands if not demand.rule.monotone]
        alone = len(demands) < 2 or any(one["verdict"] != "yes" for one in verdicts)
        # What is monotone holds in the whole table, as one group.
        if alone or not dealt:
            return None
        if all(self._in_one_group(demand) for demand in demands):
            return None
        task = SplitProblem([self._quasi()], demands, b"possible".ljust(KEY))
        if task.apart and self.rows > _NEAR:
            return None
        why = _refusal(task)
        if why is None:
            return None
        verdict = "no" if why.outcome == "impossible" else "unknown"
        # Other algorithms do not deal: what is impossible is so for them, too, but not conversely.
        deals = self.transform.algorithm == Transform.algorithm
        if not deals and verdict != "no":
            return None
        tries = list(self._weaker(task)) if deals else []
        return {"verdict": verdict, "what": why.what, "hint": why.hint, "tries": tries}

    def _quasi(self) -> Quasi:
        """Return a quasi-identifier that is the same in all rows: values alone decide."""
        return read_quasi(pl.Series("", np.zeros(self.rows, np.int64)))

    def _in_one_group(self, demand: Demand) -> bool:
        """Return whether all rows, as one group, satisfy a principle."""
        table = WholeTable(demand.column, self.rows)
        return table.looked_at(demand.rule) and bool(demand.rule.satisfies(table.groups)[0])

    def _go_together(self, task: SplitProblem, place: int, principle: Principle) -> bool:
        """Return whether the principles do with another in the place of one, on the same column."""
        column = task.demands[place].column
        table = WholeTable(column, self.rows)
        if table.verdict(principle) != "yes":
            return False
        demands = list(task.demands)
        demands[place] = Demand(principle, table.bind(principle), column)
        if all(map(self._in_one_group, demands)):
            return True
        return not _refusal(replace(task, demands=demands))

    def _weaker(self, task: SplitProblem) -> Iterator[dict[str, Any]]:
        """Yield the nearest parameters, one changed at a time, that do go with the others."""
        for place, (at, demand) in enumerate(self.demands.items()):
            principle = demand.principle
            for key, parameter in principle.parameters().items():
                now = principle.given().get(key)
                if parameter.stronger is None or isinstance(now, bool | str | None):
                    continue
                fits = partial(self._with, task, place, key)
                whole = parameter.kind == "whole" and parameter.stronger == "higher"
                found = _highest(int(now) - 1, fits) if whole else _nearest(principle, key, fits)
                if found is not None:
                    words = f"{principle.title}: {key}={plain_value(found.given()[key])}"
                    yield {"words": words, **self._entry(at, found)}

    def _with(self, task: SplitProblem, place: int, key: str, value: Any) -> Principle | None:
        """Return a principle with another parameter, if it then goes with the others."""
        principle = task.demands[place].principle
        changed = make(principle.name, {**principle.given(), key: value})
        return changed if self._go_together(task, place, changed) else None


#: Makes a principle with a parameter, unless it does not go with the others then.
_Fits = Callable[[Any], Principle | None]


def _highest(most: int, fits: _Fits) -> Principle | None:
    """Return the principle with the highest whole number that fits."""
    found, low, high = None, 2, most
    while low <= high:
        middle = (low + high) // 2
        if tried := fits(middle):
            found, low = tried, middle + 1
        else:
            high = middle - 1
    return found


def _nearest(principle: Principle, key: str, fits: _Fits) -> Principle | None:
    """Return the principle with a weaker parameter that fits, near the one that does not."""
    beyond = fraction(principle.given()[key])
    for one in weaker(principle, key):
        assert one.principle is not None  # noqa: S101 - with such parameters it is one
        value = fraction(one.principle.given()[key])
        found = fits(value)
        if found is None:
            beyond = value
            continue
        for _ in range(_CLOSER):  # between what fits and what does not
            middle = rounded((value + beyond) / 2, up=beyond < value, digits=_DIGITS)
            if middle in (value, beyond):
                break
            if tried := fits(middle):
                found, value = tried, middle
            else:
                beyond = middle
        return found
    return None


def _refusal(task: SplitProblem) -> InfeasibleError | None:
    """Return why rows cannot be dealt to groups that satisfy all principles, if they cannot."""
    try:
        require_groups(task)
    except InfeasibleError as error:
        return error
    return None
