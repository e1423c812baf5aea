"""What a release says of itself: the manifest in the file beside it, if it is of that file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wideberth import io
from wideberth.errors import TableError, WideberthError, what_to_type
from wideberth.io.manifest import MANIFEST, compare, manifest_path
from wideberth.principles import Principle, parse
from wideberth.release.anatomy import published


def manifest_beside(
    source: str | Path | None, second: object = None
) -> tuple[Mapping[str, Any] | None, list[str]]:
    """Return the manifest that lies beside a file, or in a folder; and what is wrong with it."""
    # A manifest of other files is a TableError: what an audit finds must be of one release.
    if source is None:
        return None, []
    folder = published(source)
    first, other = folder or (source, None)
    found = compare(first, second if isinstance(second, str | Path) else other)
    if second is None and folder is None and found.told and "sha256" not in found.told["output"]:
        raise TableError(
            f"{Path(source).name} is one of the two tables of an anatomised release",
            hint=what_to_type(
                python="name their folder, or the second table as well (sensitive_table=)",
                command="name their folder, or the second table as well (--sensitive-table)",
            ),
        )
    asked = folder is not None or found.path == manifest_path(source)
    notes = found.notes
    if found.path is None and len(found.files) == 1 and second is not None:  # read beforehand
        both = f"{found.files[0]} and its second table"
        notes = [f"there is no {MANIFEST}: nothing says that {both} are of one release"]
    return (found.told if asked else None), notes


def require_whole(*others: str | Path) -> None:
    """Refuse other releases that are not what the manifests beside them describe."""
    # What cannot be read as a manifest is only warned of.
    for other in others:
        for doubt in compare(other).notes:
            warnings.warn(doubt, io.TableWarning, stacklevel=3)


def principles_told(manifest: Mapping[str, Any]) -> list[Principle]:
    """Return the principles that a manifest says were verified; none if it cannot be read.

    >>> principles_told({"principles": ["k-anonymity:k=5", "distinct-l:l=3 on pay"]})
    [KAnonymity(on=None, k=5), DistinctLDiversity(on='pay', l=3, allowed=())]
    """
    found = []
    for text in manifest.get("principles") or ():
        name, _, on = str(text).partition(" on ")
        try:
            found.append(parse(f"{name},on={on}" if on else name))
        except WideberthError:
            return []
    return found
