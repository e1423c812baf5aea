"""What mkdocs runs before it builds: an entry of the navigation may be a whole folder.

So a new command, principle or page of a paper has its place as soon as its page is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: Not a page, but what docs/reproduction.md is written from.
LEFT_OUT = ("summary.md",)


def on_config(config: Any) -> Any:
    """Put the pages of a folder in the place of its name."""
    config.nav = expanded(config.nav, Path(config.docs_dir))
    return config


def expanded(nav: list[Any], docs: Path) -> list[Any]:
    """Return a navigation in which no folder is left.

    Parameters
    ----------
    nav : list
        Pages (``{"Home": "index.md"}``), sections (``{"Start": [...]}``), folders (``"api/"``).
    docs : Path
        Where they are.
    """
    entries: list[Any] = []
    for entry in nav:
        if isinstance(entry, str) and entry.endswith("/"):
            found = {
                page.relative_to(docs).as_posix(): page
                for page in (docs / entry).glob("*.md")
                if page.name not in LEFT_OUT
            }
            entries += [{title(found[name]): name} for name in ordered(found, docs / entry)]
        elif isinstance(entry, dict):
            entries.append({name: _inner(value, docs) for name, value in entry.items()})
        else:
            entries.append(entry)
    return entries


def ordered(names: Iterable[str], folder: Path) -> list[str]:
    """Return pages in the order in which the overview beside their folder links to them."""
    overview = folder.with_suffix(".md")
    text = overview.read_text(encoding="utf-8") if overview.exists() else ""
    links = re.findall(r"\]\(([^)#]+)", text)
    return sorted(
        names, key=lambda name: (links.index(name) if name in links else len(links), name)
    )


def title(page: Path) -> str:
    """Return a page's heading."""
    with page.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), page.stem)


def _inner(value: Any, docs: Path) -> Any:
    return expanded(value, docs) if isinstance(value, list) else value
