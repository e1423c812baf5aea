"""Every error a user can cause, as one sentence each: what, where, what to try.

The messages name columns and row numbers, never cell values: they end up in logs.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal

#: Letters of a message; what somebody gave for a name or a parameter may be longer.
_LONGEST = 1000
#: Where messages are read.
_interface: Literal["python", "command", "app"] = "python"


@contextmanager
def _read_in(interface: Literal["command", "app"]) -> Iterator[None]:
    global _interface
    before, _interface = _interface, interface
    try:
        yield
    finally:
        _interface = before


def on_command_line() -> AbstractContextManager[None]:
    """Let the hints of errors be what a reader types on the command line.

    >>> with on_command_line():
    ...     what_to_type(python="sensitive=", command="--sensitive COLUMN")
    '--sensitive COLUMN'
    """
    return _read_in("command")


def in_the_app() -> AbstractContextManager[None]:
    """Let the hints of errors say where a reader of the app clicks.

    >>> with in_the_app():
    ...     what_to_type(python="sensitive=", command="--sensitive COLUMN", app="step 1")
    'step 1'
    """
    return _read_in("app")


def what_to_type(*, python: str, command: str, app: str | None = None) -> str:
    """Return the hint for the interface that the reader uses; the app's defaults to Python's.

    >>> what_to_type(python="sensitive=", command="--sensitive COLUMN")
    'sensitive='
    """
    if _interface == "app":
        return python if app is None else app
    return command if _interface == "command" else python


class WideberthError(Exception):
    """Base of all errors that are the input's fault, not the program's.

    Parameters
    ----------
    what : str
        What is wrong and where, as one sentence without a full stop.
    hint : str, optional
        What to try next.
    """

    exit_code = 1

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        what = what if len(what) <= _LONGEST else f"{what[: _LONGEST - 1]}…"
        super().__init__(what if hint is None else f"{what}\n  try: {hint}")
        self.what = what
        self.hint = hint

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON.

        >>> TableError("people.csv is empty", hint="look at the file").to_dict()["error"]
        'TableError'
        """
        return {
            "error": type(self).__name__,
            "what": self.what,
            "hint": self.hint,
            "exit_code": self.exit_code,
        }


class TableError(WideberthError):
    """A table that cannot be read, or that does not hold what was asked of it."""


class HierarchyError(WideberthError):
    """A hierarchy that is inconsistent, or that lacks a value of the table."""


class PolicyError(WideberthError):
    """A policy file that cannot be read or contradicts its table."""


class UndecidedError(PolicyError):
    """A question about a table that only a person can answer, and that nobody has answered yet."""

    exit_code = 2


class RoleError(PolicyError):
    """A column that is unfit for the role it was given."""

    exit_code = 2


class ParameterError(WideberthError, ValueError):
    """A principle or parameter that does not exist or is out of range."""

    exit_code = 2


class OutputError(WideberthError):
    """A file that cannot be written, or exists already."""


class EngineError(WideberthError):
    """An engine such as Spark that is missing, unfit, or failed at its work."""


class NotInstalledError(WideberthError, ImportError):
    """Something that another distribution of this project brings, and that is not installed."""

    exit_code = 2


class InfeasibleError(WideberthError):
    """A table that no partition makes satisfy the principles, or none was found.

    Parameters
    ----------
    what, hint
        As of any error.
    outcome : str
        "impossible" if it is proven that no partition satisfies them, else "not found".
    witness : str, optional
        What proves it.
    fact : str, optional
        What is wrong with all rows, without a word on whether some could be left out; by default
        what is said anyway.
    proposals : sequence
        Other settings that may help, as `wideberth.principles.feasibility.refusal.Alternative`.
    tries : sequence of dict
        What came of trying them: "setting", "tried", "outcome", "loss" in percent or None.
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        hint: str | None = None,
        outcome: Literal["impossible", "not found"] = "not found",
        witness: str | None = None,
        fact: str | None = None,
        proposals: Sequence[Any] = (),
        tries: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(what, hint=hint)
        self.outcome = outcome
        self.witness = witness
        self.fact = what if fact is None else fact
        self.proposals = tuple(proposals)
        self.tries = [dict(one) for one in tries]

    @classmethod
    def together(
        cls,
        principle: str,
        others: str,
        witness: str,
        hint: str,
        proposals: Sequence[Any] = (),
    ) -> InfeasibleError:
        """Return the error that principles are impossible together, though each alone is not."""
        both = f"{principle} and {others}"
        return cls(
            f"{both} are impossible together: {witness}",
            hint=hint,
            outcome="impossible",
            witness=witness,
            fact=f"no groups of all rows satisfy {both}: {witness}",
            proposals=proposals,
        )

    def hedged(self, unknown: str, *, hint: str | None = None) -> InfeasibleError:
        """Return the same where something else might help: what is proven of all rows is no proof.

        >>> error = InfeasibleError.together("a", "b", "too few rows", "weaken one")
        >>> hedged = error.hedged("which rows to leave out is not known")
        >>> hedged.outcome, hedged.witness
        ('not found', None)
        >>> hedged.what
        'no groups of all rows satisfy a and b: too few rows; which rows to leave out is not known'
        """
        return InfeasibleError(
            f"{self.fact}; {unknown}", hint=hint or self.hint, proposals=self.proposals
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON.

        >>> InfeasibleError("no groups were found").to_dict()["outcome"]
        'not found'
        """
        return {
            **super().to_dict(),
            "outcome": self.outcome,
            "witness": self.witness,
            "tries": self.tries,
        }


class VerificationError(WideberthError):
    """A release that does not keep its promise: a defect of the program, never of the input.

    It is raised before anything is published.
    """


class HierarchyWarning(UserWarning):
    """A hierarchy that could be read, but only by assuming something about its file."""


class PrivacyWarning(UserWarning):
    """A choice that gives an adversary more than the default does."""


def papers_missing(name: str = "reproduce") -> NotInstalledError:
    """Return what to raise if the papers' experiments are wanted and are not installed.

    >>> papers_missing().what
    'wb.reproduce needs wideberth-papers, which is not installed'
    """
    who = what_to_type(python=f"wb.{name}", command=f"wideberth {name}")
    return NotInstalledError(
        f"{who} needs wideberth-papers, which is not installed",
        hint="pip install wideberth-papers; from a checkout: pip install ./papers",
    )


def unexpected(error: BaseException) -> WideberthError:
    """Describe a bug without the values that its own message may mention.

    >>> unexpected(MemoryError()).what
    'out of memory'
    >>> unexpected(KeyError("flu")).what
    'wideberth failed unexpectedly (KeyError)'
    """
    if isinstance(error, MemoryError):
        return WideberthError("out of memory")
    where = ""
    if places := traceback.extract_tb(error.__traceback__, limit=-1):
        where = f" in {os.path.basename(places[0].filename)}:{places[0].lineno}"
    return WideberthError(
        f"wideberth failed unexpectedly ({type(error).__name__}{where})",
        hint="WIDEBERTH_TRACEBACK=1 shows more (it may include values of the table)",
    )
