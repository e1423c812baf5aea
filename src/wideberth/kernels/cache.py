"""Compiling the kernels the first time: in two processes at once, into numba's cache.

Compiling takes seconds, and numba compiles one function at a time. The kernels know each other as
pointers only, so each can be compiled by itself, and only those that are needed.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

#: Where the source of each kernel is, and about how many seconds it takes to compile.
_KERNELS = {
    "_hands_by_rank": ("group_tests", 0.5),
    "_hands": ("group_tests", 3.4),
    "_hands_apart": ("equal_groups", 4.0),
    "_part": ("equal_groups", 2.0),
    "_median_cuts": ("splits", 0.8),
    "_value_cuts": ("splits", 1.0),
    "_subtree": ("splits", 1.6),
    "solve": ("refine", 3.4),
    "_solve_pools": ("refine", 1.4),
    "_exchange_rows": ("refine", 1.0),
    "count_keys": ("lattice_rollup", 0.7),
    "count_values": ("lattice_rollup", 0.2),
    "reach_node": ("lattice_judge", 2.0),
    "judge_node_groups": ("lattice_judge", 4.5),
    "weigh_suppression": ("lattice_judge", 0.5),
    "lift": ("lattice_judge", 0.3),
    "choose": ("lattice_judge", 0.4),
    "choose_in_order": ("lattice_judge", 0.2),
}
_LATTICE = ("lattice_rollup", "weighing", "tagging")
#: To start a process takes about as long.
_START = 0.8


def needed(
    cuts: str, *, looks_up: bool, only_sizes: bool = False, apart: bool = False
) -> list[str]:
    """Return the kernels that a run needs."""
    # looks_up: demands look at single values; apart: at who is near whom.
    judge = "_hands" if looks_up else "_hands_by_rank"
    return [
        *(["_hands_apart", "_part"] if apart else [judge]),
        "_median_cuts" if cuts == "paper" else "_value_cuts",
        "_subtree",
        *(["solve", "_solve_pools"] if cuts in ("best", "quality") else []),
        *(["_exchange_rows"] if cuts == "quality" and only_sizes else []),
    ]


def for_lattice(*, tests: bool) -> list[str]:
    """Return the kernels that search a lattice; without tests, only the sizes of groups matter."""
    names = [name for name, (module, _) in _KERNELS.items() if module in _LATTICE]
    return [name for name in names if tests or name not in ("count_values", "judge_node_groups")]


@cache
def warm_for_lattice(*, tests: bool) -> None:
    """Compile and load, once, the kernels that search a lattice."""
    names = for_lattice(tests=tests)
    warm(np.uint16, names)
    _compile(np.uint16, names)


def missing(names: Iterable[str], place: Path | None = None) -> list[str]:
    """Return those kernels of which there is no compiled code from an earlier run."""
    # By default it is looked for where it usually is, so that numba need not be loaded.
    here = Path(__file__).parent
    if place is None:
        chosen = os.environ.get("NUMBA_CACHE_DIR")
        place = Path(chosen) if chosen else here / "__pycache__"
    made: dict[str, float] = {}
    for path in place.rglob("*.nbc"):  # module.function-line.version.number.nbc
        name = path.name.split("-")[0]
        made[name] = max(made.get(name, 0.0), path.stat().st_mtime)

    def current(name: str) -> bool:
        module, _ = _KERNELS[name]
        changed = (here / f"{module}.py").stat().st_mtime
        return made.get(f"{module}.{name}", 0.0) > changed

    return [name for name in names if not current(name)]


def warm(kind: type, names: Iterable[str]) -> None:
    """Compile kernels for codes of a type, unless an earlier run has."""
    from wideberth.kernels.sort import cache_folder

    place = cache_folder()
    if place is None or os.environ.get("NUMBA_DISABLE_JIT"):
        return  # each is compiled when it is needed
    own, others = _shares(missing(names, place))
    helper = None
    if others and sys.executable and not getattr(sys, "frozen", False):
        path = os.pathsep.join(filter(None, sys.path))
        helper = subprocess.Popen(  # noqa: S603 - this very program
            # -P: nothing that lies in the current folder is imported.
            [sys.executable, "-P", "-m", "wideberth.kernels.cache", np.dtype(kind).name, *others],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        _compile(kind, own)
        if helper is not None:
            helper.wait()  # if it fails, its part is compiled here, when it is needed
    finally:
        if helper is not None:
            helper.kill()


def _shares(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Divide work between this process and a helper, so that both end at about the same time."""
    shares: tuple[list[str], list[str]] = ([], [])
    busy = [0.0, _START]
    for name in sorted(names, key=lambda name: -_KERNELS[name][1]):
        which = busy.index(min(busy))
        shares[which].append(name)
        busy[which] += _KERNELS[name][1]
    return shares


def _compile(kind: type, names: Iterable[str]) -> None:
    from wideberth.kernels import equal_groups, group_tests, refine, splits, warmup

    actions: dict[str, Callable[[], object]] = {
        "_hands_by_rank": lambda: group_tests.group_count_kernel(False),
        "_hands": lambda: group_tests.group_count_kernel(True),
        "_hands_apart": equal_groups.part_count_kernel,
        "_part": equal_groups.part_kernel,
        "_median_cuts": lambda: splits.proposer(kind, True),
        "_value_cuts": lambda: splits.proposer(kind, False),
        "_subtree": lambda: splits.subtree_for(kind),
        "solve": refine.solver,
        "_solve_pools": lambda: refine.pools_for(kind),
        "_exchange_rows": refine.exchanger,
        **warmup.LATTICE,
    }
    with _no_collecting():
        for name in names:
            with _interruptions_held():
                actions[name]()


@contextmanager
def _interruptions_held() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block: within it, Python may drop the exception."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Switch off garbage collection, which would take a tenth of the time to compile."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def main(words: list[str]) -> None:
    """Compile all kernels (to build the image of a machine), those of a part, or those named."""
    lattice = for_lattice(tests=True)
    parts = {"splitting": [name for name in _KERNELS if name not in lattice], "lattice": lattice}
    if not words:
        warm(np.uint16, _KERNELS)
    elif words[0] in parts:
        warm(np.uint16, parts[words[0]])
    else:
        _compile(np.dtype(words[0]).type, words[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
