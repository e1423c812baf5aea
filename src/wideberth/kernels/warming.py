"""Compiling the kernels the first time: in two processes at once, into numba's cache.

Compiling takes seconds, and numba compiles one function at a time. The kernels know each other as
pointers only, so each can be compiled by itself, and only those that are needed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np


def compiled_before(
    place: Path | None = None, *, paper: bool = False, looks_up: bool = False, ranks: bool = True
) -> bool:
    """Tell whether there is compiled code from an earlier run, by default where it usually is."""
    if place is None:
        chosen = os.environ.get("NUMBA_CACHE_DIR")
        place = Path(chosen) if chosen else Path(__file__).with_name("__pycache__")
    needed = {
        "cutting._subtree",
        "cutting._median_cuts" if paper else "cutting._value_cuts",
        "judging._hands" if looks_up else "judging._hands_by_rank",
        *(["solving.solve", "solving._solve_pools"] if ranks else []),
    }
    return needed <= {path.name.split("-")[0] for path in place.rglob("*.nbc")}


def warm(kind: type, *, paper: bool, looks_up: bool, ranks: bool) -> None:
    """See to it that the kernels are compiled.

    Parameters
    ----------
    kind : type
        Of the codes.
    paper, looks_up, ranks : bool
        Whether only cuts next to medians are wanted, whether demands look at single values, and
        whether there will be cuts at ranks.
    """
    from numba.core.caching import FunctionCache

    from wideberth.kernels import cutting, judging

    place = Path(FunctionCache(judging._hands).cache_path)
    if os.environ.get("NUMBA_DISABLE_JIT") or compiled_before(
        place, paper=paper, looks_up=looks_up, ranks=ranks
    ):
        return
    helper = None
    if ranks and sys.executable and not compiled_before(place):
        path = os.pathsep.join(filter(None, sys.path))
        helper = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", __name__, np.dtype(kind).name],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        judging.hands(looks_up)
        cutting.proposer(kind, paper)
        cutting.subtree_for(kind)
        if helper is not None:
            helper.wait()  # if it fails, its part is compiled here, when it is needed
    finally:
        if helper is not None:
            helper.kill()


def _solving(kind: type) -> None:
    from wideberth.kernels import solving

    solving.solver()
    solving.pools_for(kind)


if __name__ == "__main__":
    _solving(np.dtype(sys.argv[1]).type)
