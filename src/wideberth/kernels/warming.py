"""Compiling the kernels the first time: in several processes at once, into numba's cache.

Compiling takes seconds, and numba compiles one function at a time. The kernels know each other as
pointers only, so each can be compiled in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np

#: What there is to compile, in portions that take about equally long.
PORTIONS = ("judging", "solving", "cutting")


def compiled_before(place: Path | None = None) -> bool:
    """Tell whether there is compiled code from an earlier run, by default where it usually is."""
    if place is None:
        chosen = os.environ.get("NUMBA_CACHE_DIR")
        place = Path(chosen) if chosen else Path(__file__).with_name("__pycache__")
    found = {path.name.split(".")[0] for path in place.rglob("*.nbc")}
    return found.issuperset(PORTIONS)


@cache
def warm(kind: type) -> None:
    """See to it that all kernels for codes of a type are compiled, if need be by helpers."""
    from numba.core.caching import FunctionCache

    from wideberth.kernels import judging

    if not sys.executable or os.environ.get("NUMBA_DISABLE_JIT"):
        return
    if compiled_before(Path(FunctionCache(judging._hands).cache_path)):
        return
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    name = np.dtype(kind).name
    helpers = [
        subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", __name__, portion, name],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for portion in PORTIONS[1:]
    ]
    try:
        prepare(PORTIONS[0], kind)
        for helper in helpers:
            helper.wait()  # if one fails, its portion is compiled here, when it is needed
    finally:
        for helper in helpers:
            helper.kill()


def prepare(portion: str, kind: type) -> None:
    """Compile one portion, and so put it into the cache."""
    from wideberth.kernels import cutting, judging, solving

    if portion == "judging":
        judging.hands()
    elif portion == "solving":
        solving.solver()
        solving.pools_for(kind)
    else:
        cutting.subtree_for(kind)


if __name__ == "__main__":
    prepare(sys.argv[1], np.dtype(sys.argv[2]).type)
