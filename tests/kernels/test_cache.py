"""Kernels are loaded undisturbed."""

from __future__ import annotations

import signal
import threading

import pytest

from wideberth.kernels.cache import _interruptions_held


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals go to the main one"
)
def test_an_interruption_is_heard_at_the_end() -> None:
    """Not in the midst, where llvmlite's callbacks would swallow it; and not forgotten either."""
    before = signal.getsignal(signal.SIGINT)
    steps = []

    def load() -> None:
        with _interruptions_held():
            signal.raise_signal(signal.SIGINT)
            steps.append("went on")

    with pytest.raises(KeyboardInterrupt):
        load()
    assert steps == ["went on"]
    assert signal.getsignal(signal.SIGINT) is before
    with _interruptions_held():
        steps.append("undisturbed")
    assert steps == ["went on", "undisturbed"]
