"""Advice on a table that is not at hand: from the distinct values of the attribute, counted."""

from __future__ import annotations

from typing import Any

from wideberth.checks.about import About
from wideberth.checks.advise import Advice
from wideberth.core.codes import Column
from wideberth.errors import TableError
from wideberth.principles import Principle
from wideberth.principles.counts import Ask, Digest, of_no_row, recounted
from wideberth.principles.subject import Subject


class Digested(Subject):
    """A sensitive attribute by its distinct values; the histograms of its columns count rows."""

    def __init__(self, digest: Digest, **known: Any) -> None:
        super().__init__(digest.frame, **known)
        self._digest = digest
        self._counted: dict[Column, Column] = {}

    def column(self, on: tuple[str, ...], principle: Principle) -> Column:
        """Return the attribute encoded; see `wideberth.principles.columns.Attributes.column`."""
        with of_no_row():
            raw = super().column(on, principle)
        if raw not in self._counted:
            self._counted[raw] = recounted(raw, self._digest)
        return self._counted[raw]


def advice_on(
    about: About, ask: Ask, *, max_memory: int | None = None, allowed: object = ()
) -> Advice:
    """Return the advice on an attribute."""
    digest = ask(tuple(about.names))
    if not digest.rows:
        raise TableError("the table has no rows", hint="check how it was made")
    subject = Digested(digest, **about.known)
    return Advice(subject, max_memory=max_memory, rows=digest.rows, allowed=allowed)
