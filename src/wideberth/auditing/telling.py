"""What a release says of itself: the manifest in the file beside it, if it is of that file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wideberth.anatomy import MANIFEST, NAMES, published
from wideberth.errors import WideberthError
from wideberth.principles import Principle, parse
from wideberth.release import manifest_path, sha256


def manifest_beside(source: str | Path | None) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the manifest that lies beside a file, or in a folder; and what is wrong with it.

    Parameters
    ----------
    source : str or Path, optional
        The file, or the folder of an anatomised release. None has no manifest.
    """
    if source is None:
        return None, []
    folder = published(source)
    beside = manifest_path(source) if folder is None else Path(source) / MANIFEST
    try:
        told = json.loads(beside.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, []
    except (OSError, ValueError):
        told = None
    told = told if isinstance(told, dict) else {}
    output = told.get("output")
    if not isinstance(output, dict) or not isinstance(told.get("roles"), dict):
        return None, [f"{beside.name} could not be read as a manifest"]
    if folder is None:
        same = output.get("sha256") == sha256(source)
    else:
        digests = [{"name": file.name, "sha256": sha256(file)} for file in folder]
        same = [output.get(part) for part in NAMES] == digests
    if not same:
        return None, [f"{beside.name} is of another file than {Path(source).name}: not looked at"]
    return told, []


def principles_told(manifest: Mapping[str, Any]) -> list[Principle]:
    """Return the principles that a manifest says were verified; none if it cannot be read.

    >>> principles_told({"principles": ["k-anonymity:k=5", "distinct-l:l=3 on pay"]})
    [KAnonymity(on=None, k=5), DistinctLDiversity(on='pay', l=3)]
    """
    found = []
    for text in manifest.get("principles") or ():
        name, _, on = str(text).partition(" on ")
        try:
            found.append(parse(f"{name},on={on}" if on else name))
        except WideberthError:
            return []
    return found
