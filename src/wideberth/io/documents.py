"""Small documents from outside, policies and manifests: TOML and JSON, read within limits.

A document of a few kilobytes can take gigabytes to parse: the standard library's TOML parser needs
memory that grows with the square of a dotted key's length, and both parsers recurse. So the
size of a document and the depth of its nesting are bounded before it is parsed. The bounds are far
above what any policy or manifest has.
"""

from __future__ import annotations

import json as standard
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from wideberth.errors import PolicyError
from wideberth.io import open_regular

#: Bytes that a policy may have.
LARGEST_POLICY = 2**20
#: Bytes that a manifest may have.
LARGEST_MANIFEST = 2**22
#: How deep brackets and the parts of dotted keys may be nested.
DEEPEST = 32

#: Strings and comments, which may hold anything, and the marks that nest. A string that is never
#: closed reaches to the end, so that no text is looked at twice. A plain "*" would remember every
#: step of the way there, in hundreds of bytes each.
_MARKS = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[\[\]{}.,=\n]",
    re.DOTALL,
)


def read_text(path: Path, most: int) -> str | None:
    """Return the text of a file in UTF-8; None if it has more than `most` bytes."""
    # Raises OSError, for a pipe or a device as well, which may never end; or UnicodeDecodeError.
    with open_regular(Path(os.path.realpath(path)), os.O_RDONLY) as file:
        held = file.read(most + 1)
    return None if len(held) > most else held.decode("utf-8-sig")


def parse_toml(text: str | None, where: str) -> dict[str, Any]:
    """Parse the text of a policy; None stands for a text that `read_text` found too large.

    >>> parse_toml("roles.quasi = ['age']", "the policy")
    {'roles': {'quasi': ['age']}}
    >>> parse_toml("[" * 99, "the policy")
    Traceback (most recent call last):
    wideberth.errors.PolicyError: the policy is nested too deeply (line 1)
      try: is it a policy file? Write keys with dots in quotes: "a.b"
    """
    if text is None or len(text) > LARGEST_POLICY:
        what = f"{where} is larger than {LARGEST_POLICY >> 20} MB"
        raise PolicyError(what, hint="is it a policy file?")
    if line := _too_deep(text):
        raise PolicyError(
            f"{where} is nested too deeply (line {line})",
            hint='is it a policy file? Write keys with dots in quotes: "a.b"',
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:  # its message ends in "(at line 3, column 7)"
        twice = "twice" in str(error) or "overwrite" in str(error).lower()
        hint = "[[principle]], two brackets" if twice else 'write texts in quotes: "age"'
        raise PolicyError(f"{where} is not valid TOML: {error}", hint=hint) from None
    except (ValueError, OverflowError, RecursionError):  # a number of thousands of digits
        what = f"{where} holds a number that is too long"
        raise PolicyError(what, hint="write a shorter number") from None


def _too_deep(text: str) -> int | None:
    """Return the line in which a document becomes too deep; None if it never does."""
    depth = dots = 0
    for found in _MARKS.finditer(text):
        mark = found[0]
        if mark == ".":
            dots += 1
        elif mark in "[{":
            depth, dots = depth + 1, 0
        elif mark in "]}":
            depth, dots = max(depth - 1, 0), 0
        elif mark in ",=\n":
            dots = 0
        if depth + dots > DEEPEST:
            return text.count("\n", 0, found.start()) + 1
    return None


def json(text: str | None) -> Any:
    """Parse JSON; None if it is none, is too large or is nested too deeply.

    >>> json('{"rows": 5}'), json("[" * 10**6), json(None)
    ({'rows': 5}, None, None)
    """
    if text is None or _too_deep(text):
        return None
    try:
        read = standard.loads(text)
        if "\\ud" in text.lower():  # half of a letter, which no file could hold
            standard.dumps(read, ensure_ascii=False).encode()
    except ValueError:  # also of a number of thousands of digits
        return None
    return read
