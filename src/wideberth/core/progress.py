"""How long each phase of the work takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

#: Told the phase, how many rows or nodes are settled, and how many there are.
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass
class Clock:
    """Takes the time of each phase, and tells that it begins and ends."""

    progress: Progress | None
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, phase: str, rows: int = 0) -> Iterator[None]:
        """Take the time of a phase that settles `rows` rows; 0 if it reports progress itself."""
        if self.progress is not None and rows:
            self.progress(phase, 0, rows)
        start = time.perf_counter()
        yield
        self.seconds[phase] = round(time.perf_counter() - start, 3)
        if self.progress is not None and rows:
            self.progress(phase, rows, rows)
