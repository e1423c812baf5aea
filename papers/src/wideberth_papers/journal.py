"""What a study has measured so far, kept in a file: an interrupted run goes on where it stopped.

The first line says what is run on what; each further line is a step that is done, with its rows.
A line that was cut off, because the run was killed while it wrote, counts for nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from wideberth import io
from wideberth.errors import OutputError
from wideberth_papers.study import Rows


class Journal:
    """The steps of one study that are done, and a place for the others.

    Parameters
    ----------
    path : Path
        Its file.
    setting : mapping
        What is run on what, as plain values. A journal of another setting is not continued.
    force : bool
        Whether to begin anew whatever is there.

    Raises
    ------
    OutputError
        If the file is of another setting, is no journal, or is in use.
    """

    def __init__(self, path: Path, setting: Mapping[str, Any], *, force: bool = False) -> None:
        self.path = path
        self.setting = dict(setting)
        self.done: dict[str, Rows] = {}
        self.seconds: dict[str, float] = {}
        try:
            self._file = path.open("a+b")
        except OSError:
            raise OutputError(f"{path} cannot be written", hint="check the permissions") from None
        try:
            if not io.lock(self._file):  # before anything is read, or cut off
                raise OutputError(
                    f"another run writes to {path.parent}",
                    hint="wait for it, or choose another folder with -o",
                )
            self._begin(anew=force)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, *, anew: bool) -> None:
        """Read what an earlier run has left, and cut off what it did not finish."""
        self._file.seek(0)
        first, *others = ([] if anew else self._file.readlines()) or [b""]
        if not first:
            self._file.truncate(0)
            self._write(self.setting)
            return
        if _parsed(first) != self.setting:
            raise OutputError(
                f"{self.path.parent} holds a run with other settings, or of another table",
                hint="choose another folder with -o, or begin anew with --force",
            )
        whole = len(first)
        for line in others:
            match _parsed(line):
                case {"step": str(step), "rows": list(rows), "seconds": int() | float() as taken}:
                    self.done[step], self.seconds[step] = rows, taken
                case _:
                    break
            whole += len(line)
        self._file.truncate(whole)

    def keep(self, step: str, rows: Iterable[Mapping[str, Any]], seconds: float) -> None:
        """Write down what a step has measured."""
        entry = {"step": step, "seconds": round(seconds, 3), "rows": [dict(row) for row in rows]}
        self._write(entry)
        # As the next run will read it: figures do not depend on where a run was interrupted.
        self.done[step] = json.loads(json.dumps(entry["rows"]))
        self.seconds[step] = seconds

    def _write(self, content: Mapping[str, Any]) -> None:
        line = json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        """Leave the file open."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._file.close()


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return what a line says; nothing if it is not whole."""
    try:
        content = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
