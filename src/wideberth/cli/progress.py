"""How far the work is, shown on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wideberth.cli.options import console

#: The phases that go through nodes of a lattice; the others go through rows of the table.
_OF_NODES = ("searching", "minimal nodes", "drawing")


@contextmanager
def telling() -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what shows progress, on a terminal; elsewhere nothing."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} {task.fields[unit]}", markup=False),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )
    with bar:
        phases: dict[str, Any] = {}

        def tell(phase: str, done: int, total: int) -> None:
            if phase not in phases:
                for earlier in phases.values():
                    bar.update(earlier, visible=False)
                unit = "nodes" if phase in _OF_NODES else "rows"
                phases[phase] = bar.add_task(phase, total=total, unit=unit)
            bar.update(phases[phase], completed=done, total=total)

        yield tell
