"""The pages of the documentation that are written from the code itself.

`docs/generate.py` writes them (``make docs``). They are kept with the rest, so that they can be
read without building anything; a test compares them with what this package says now.
"""

from __future__ import annotations

from pathlib import Path

from pages import api, commands, examples, reproduction
from wideberth import principles
from wideberth.principles import catalog as of_principles
from wideberth.utility import metrics
from wideberth.utility.metrics import base as of_metrics

DOCS = Path(__file__).resolve().parents[1]
#: Folders that hold nothing but written pages: what is no longer written is removed.
FOLDERS = ("api", "commands", "principles")


def pages() -> dict[str, str]:
    """Return every written page by its path below docs/.

    Returns
    -------
    dict
        Markdown texts, in the order of their paths.
    """
    known = list(principles.iterate())
    written = {
        "principles.md": of_principles.principles_as_markdown(known),
        "metrics.md": of_metrics.metrics_as_markdown(metrics.iterate()),
        "reproduction.md": reproduction.page(DOCS),
        **commands.pages(),
        **api.pages(),
    }
    for cls in known:
        written[f"principles/{cls.name}.md"] = (
            of_principles.principles_as_markdown([cls]) + "\n" + examples.of(cls)
        )
    return dict(sorted(written.items()))


def stale(docs: Path = DOCS) -> list[Path]:
    """Return pages in the written folders that nothing writes any more."""
    written = {docs / name for name in pages()}
    found = (page for folder in FOLDERS for page in (docs / folder).glob("*.md"))
    return sorted(page for page in found if page not in written)
