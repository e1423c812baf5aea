"""Which principles of a policy a table can satisfy: each for itself, before anything is made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import tables
from wideberth.advice import refusal
from wideberth.advice.limits import Whole
from wideberth.algorithms import Demand
from wideberth.algorithms.arrangement import check_list
from wideberth.attributes import Attributes
from wideberth.binding import require_made
from wideberth.clock import Progress
from wideberth.errors import WideberthError
from wideberth.memory import bounded
from wideberth.policy import Policy
from wideberth.schema import by_column, expanded
from wideberth.transform import Transform

_YES = "some grouping of the rows satisfies it"
_UNKNOWN = "no grouping was found that satisfies it, though none was ruled out"


def possible(
    *, path: str, content: Mapping[str, Any], folder: str, tell: Progress
) -> dict[str, Any]:
    """Tell of each principle whether some grouping of the whole table satisfies it.

    Parameters
    ----------
    path : str
        The table.
    content, folder
        A policy, and where the files lie that it names.
    tell : callable
        Told how far it is.

    Returns
    -------
    dict
        "principles" has a verdict for each, in their order; "together" says what keeps them from
        being asked for together, if anything does that is known before the work.
    """
    entries = list(content.get("principle", ()))
    policy = Policy.of({**content, "principle": []}, folder=Path(folder))
    tell("reading", 0, len(entries))
    frame = tables.read(path, policy.options)
    court = _Court(frame, policy)
    verdicts = []
    for number, entry in enumerate(entries):
        tell("judging", number, len(entries))
        verdicts.append(court.judge(entry))
    return {"principles": verdicts, "together": court.together()}


class _Court:
    """Who judges the principles on one table.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    policy : Policy
        Roles, types and hierarchies.
    """

    def __init__(self, frame: pl.DataFrame, policy: Policy) -> None:
        columns = frame.columns
        sensitive = expanded(policy.roles["sensitive"], columns)
        hierarchies = by_column(policy.hierarchies, columns)
        types = by_column(policy.types, columns)
        self.attributes = Attributes(
            frame,
            sensitive=sensitive,
            hierarchies={name: rule for name, rule in hierarchies.items() if name in sensitive},
            types={name: kind for name, kind in types.items() if name in sensitive},
        )
        self.rows = frame.height
        self.megabytes = Transform(**policy.transform).memory_for_distances
        self.demands: list[Demand] = []

    def judge(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Judge one principle, as a policy has it."""
        where = "policy"
        try:
            with bounded(self.megabytes):
                return self._judge(entry, where)
        except WideberthError as error:
            # A principle is judged alone, so that it is always the first.
            what = error.what.removeprefix(f"{where}: principle 1: ")
            return {"verdict": "no", "what": what, "hint": error.hint}

    def _judge(self, entry: Mapping[str, Any], where: str) -> dict[str, Any]:
        principle = Policy.of({"principle": [entry]}, where=where).principles[0]
        try:
            require_made(principle)
        except WideberthError as error:
            return {"verdict": "unknown", "what": error.what, "hint": error.hint}
        on = self.attributes.attribute(principle)
        column = self.attributes.column(on, principle) if on else None
        table = Whole(column, self.rows)
        self.demands.append(Demand(principle, table.bind(principle), column))
        verdict = table.verdict(principle)
        if verdict == "yes":
            return {"verdict": verdict, "what": _YES, "hint": None}
        why = refusal(principle, column, self.rows)
        what = why.what if verdict == "no" else _UNKNOWN
        return {"verdict": verdict, "what": what, "hint": why.hint}

    def together(self) -> dict[str, Any] | None:
        """Say why the principles cannot be asked for together, if so."""
        try:
            check_list(self.demands)
        except WideberthError as error:
            return {"what": error.what, "hint": error.hint}
        return None
