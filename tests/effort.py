"""How many examples a property is tried with: a part of them in `make test`, all at night."""

from __future__ import annotations

import os

from hypothesis import settings

#: `make test-nightly` sets WIDEBERTH_NIGHTLY; whoever explores wants all of them too.
ALL = not {"WIDEBERTH_NIGHTLY", "WIDEBERTH_EXPLORE"}.isdisjoint(os.environ)


def examples(most: int, part: int) -> settings:
    """Try so many examples at night, and a part of them in every run."""
    return settings(max_examples=most if ALL else part)
