"""Threads that share tasks, the largest first. Kernels run without the interpreter's lock."""

from __future__ import annotations

import heapq
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply a function to a few large things at a time."""
    with ThreadPoolExecutor(max_workers=cores()) as pool:
        return list(pool.map(function, items))


def cores() -> int:
    """Return how many cores this process may use; all there are, if the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WorkItem:
    """Something to do that concerns `rows` rows; it may return further tasks."""

    def __init__(self, rows: int, act: Callable[[], Iterable[WorkItem] | None]) -> None:
        self.rows = rows
        self.act = act

    def __lt__(self, other: WorkItem) -> bool:
        """Order larger tasks before smaller ones."""
        return self.rows > other.rows


def run_work_items(tasks: Iterable[WorkItem], threads: int) -> None:
    """Do all tasks, and those that come of them."""
    heap = list(tasks)
    heapq.heapify(heap)
    if threads == 1:
        while heap:
            for more in heapq.heappop(heap).act() or ():
                heapq.heappush(heap, more)
        return
    changed = threading.Condition()
    busy = 0
    failures: list[BaseException] = []

    def toil() -> None:
        nonlocal busy
        while True:
            with changed:
                while not heap and busy and not failures:
                    changed.wait()
                if failures or not heap:
                    return
                task = heapq.heappop(heap)
                busy += 1
            more: list[WorkItem] = []
            try:
                more = list(task.act() or ())
            except BaseException as error:
                failures.append(error)
            with changed:
                busy -= 1
                for one in more:
                    heapq.heappush(heap, one)
                changed.notify_all()

    crew = [threading.Thread(target=toil, daemon=True) for _ in range(threads)]
    for thread in crew:
        thread.start()
    try:
        for thread in crew:
            thread.join()
    except BaseException as error:  # Ctrl-C: whoever is at work finishes one task at most
        with changed:
            failures.append(error)
            changed.notify_all()
        for thread in crew:
            thread.join()
        raise
    if failures:
        raise failures[0]
