"""The papers' experiments, run again: what they claim, and what we find.

Each paper is a package with a `Study`: steps that measure, figures that show and judge. The modules
beside them hold what the studies share: `study`, `sources` (tables), `running` and `journal`
(steps, kept in a file), `plotting` and `page` (what is written). `errata` lists the papers' errors,
each with a proof. `reproduction` runs studies and writes their pages.

The names below are imported on first use, so that the command's help need not wait for polars.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

#: All studies, in the order of `all`.
PAPERS = ("machanavajjhala2006", "li2008", "wang2009", "wang2013", "deltal")
SEED = 2008

__all__ = ["PAPERS", "SEED", "Outcome", "Reproduction", "reproduce", "study_of"]

if TYPE_CHECKING:
    from wideberth_papers.reproduction import Reproduction, reproduce, study_of
    from wideberth_papers.running import Outcome


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.reproduction"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
