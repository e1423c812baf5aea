"""A process that does one job: ``python -P -m wideberth.ui.worker TASK``.

It reads one line of JSON, the task's arguments, and writes lines of JSON: any number of
``{"progress": [phase, done, total]}``, then ``{"result": {…}}`` or ``{"error": {"kind": …,
"what": …, "hint": …}}``. Nobody else writes there, and an error quotes no cell. The input stays
open as long as somebody waits: when it closes, the process ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
import warnings
from time import monotonic
from typing import Any, NoReturn

#: Seconds between two words on progress within a phase.
_OFTEN = 0.1
_PIECE = 1 << 16


class MessageWriter:
    """Writer of messages to the server, by a file descriptor."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lock = threading.Lock()  # progress may come from any thread
        self._told: tuple[str, int] | None = None
        self._at = 0.0

    def tell(self, phase: str, done: int, total: int) -> None:
        """Report progress: every new phase, and the rest only now and then."""
        now, news = monotonic(), self._told is None or self._told[0] != phase
        if news or (now - self._at >= _OFTEN and self._told != (phase, done)):
            self._told, self._at = (phase, done), now
            self.say(_line({"progress": [phase, int(done), int(total)]}))

    def say(self, line: bytes) -> None:
        """Write a line."""
        rest = memoryview(line)
        with self._lock:
            while rest:
                rest = rest[os.write(self._target, rest) :]


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, allow_nan=False).encode() + b"\n"


def main() -> NoReturn:
    """Do the job that the command line names."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # whoever started us may have ignored it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    speaker = MessageWriter(os.dup(1))
    os.dup2(2, 1)  # nobody prints into the conversation
    request = _request()
    threading.Thread(target=_watch, daemon=True).start()
    try:
        speaker.say(_answer(sys.argv[1], request, speaker))
    except BrokenPipeError:
        _leave()
    # At once: to give back the memory of a large table piece by piece would take its time.
    os._exit(0)


def _answer(task: str, request: bytes, speaker: MessageWriter) -> bytes:
    """Do the job, and return the last line."""
    from wideberth.errors import in_the_app
    from wideberth.ui import tasks

    arguments = json.loads(request)
    try:
        with in_the_app():
            return _line({"result": tasks.named(task)(**arguments, tell=speaker.tell)})
    except BrokenPipeError:
        raise
    except BaseException as error:  # polars' own panics are not even an Exception
        if os.environ.get("WIDEBERTH_TRACEBACK"):
            traceback.print_exc(file=sys.stderr)
        return _line({"error": tasks.failure(error, arguments.get("folder"))})


def _request() -> bytes:
    """Read the first line; the rest is never read, only waited for."""
    heard = b""
    while not heard.endswith(b"\n"):
        piece = os.read(0, _PIECE)
        if not piece:
            os._exit(1)
        heard += piece
    return heard


def _watch() -> None:
    """End the process when nobody waits for it any more."""
    while os.read(0, _PIECE):
        pass
    _leave()


def _leave() -> NoReturn:
    """End the process, and what it has started, if it leads a group of its own."""
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
