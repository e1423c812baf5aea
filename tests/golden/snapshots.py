"""Stored text: compare it with what the program does now, or rewrite it.

Tests only compare. To rewrite every file after a change that you mean to make::

    WIDEBERTH_GOLDEN=refresh .venv/bin/pytest tests/golden
    git diff tests/golden

Each file belongs to one test, so tests may run in any order and in several processes.
"""

from __future__ import annotations

import hashlib
import json
import os
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
STORED, TABLES = HERE / "stored", HERE / "tables"
REWRITE = "WIDEBERTH_GOLDEN=refresh .venv/bin/pytest tests/golden"
#: Lines of a difference that a failure shows, letters of a line, and letters of a line of JSON.
_LINES, _WIDEST, _WIDTH = 40, 160, 100
#: Digits of a float: the last ones depend on the processor.
_DIGITS = 12


def compare(name: str, text: str) -> None:
    """Fail unless a file in `stored` holds this text."""
    path = STORED / name
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if text == before:
        return
    if rewriting():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    pytest.fail(_message(name, before, text), pytrace=False)


def rewriting() -> bool:
    """Whether this run was told to rewrite the files."""
    return os.environ.get("WIDEBERTH_GOLDEN") == "refresh"


def _message(name: str, before: str, text: str) -> str:
    both = before.splitlines(), text.splitlines()
    lines = list(unified_diff(*both, "stored", "now", n=2, lineterm=""))
    shown = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…" for line in lines[:_LINES]]
    if len(lines) > _LINES:
        shown.append(f"… and {len(lines) - _LINES} more lines")
    return "\n".join(
        [
            f"the result is not what tests/golden/stored/{name} holds:",
            *shown,
            f"If you mean this change, rewrite the file: {REWRITE}",
            "Then read `git diff tests/golden`, and write in CHANGELOG.md what changed.",
        ]
    )


def json_text(value: object) -> str:
    """Write plain values as JSON: in their own order, short ones on one line."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _folded(json.loads(text, parse_float=_short), "") + "\n"


def _short(number: str) -> float:
    return float(f"{float(number):.{_DIGITS}g}")


def _folded(value: Any, indent: str) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= _WIDTH or not isinstance(value, dict | list):
        return line
    deeper = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(k, ensure_ascii=False)}: {_folded(v, deeper)}" for k, v in value.items()
        ]
    else:
        parts = [_folded(one, deeper) for one in value]
    inside = ",\n".join(deeper + part for part in parts)
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{inside}\n{indent}{end}"


def steady(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest without times and versions; its keys stay, in their order."""
    return manifest | {
        "created": "…",
        "versions": dict.fromkeys(manifest["versions"], "…"),
        "seconds": dict.fromkeys(manifest["seconds"], "…"),
    }


def digest(text: str) -> str:
    """Return the first 16 digits of a text's SHA-256, which is enough to see a change."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
