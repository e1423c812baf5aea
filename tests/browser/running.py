"""The app as a process of its own, and a program that talks to it as its pages do."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx

#: For whatever is waited for. A release is compiled, audited and reported on, which takes a minute
#: or two on a machine that has ten times as much to do as it can.
SECONDS = 180.0


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for something that no page tells of."""
    end = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.01)
    return found


def wideberth(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    return subprocess.run(
        [sys.executable, "-m", "wideberth", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


class Server:
    """The app, as `wideberth ui` starts it; its private folder lies in one of ours.

    Parameters
    ----------
    folder : Path
        For temporary files.
    arguments : object
        What follows ``wideberth ui --no-browser``.
    state : Path, optional
        Where settings are kept; in the folder if not given.
    """

    def __init__(self, folder: Path, *arguments: object, state: Path | None = None) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._errors = folder / "stderr.txt"
        with self._errors.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "wideberth", "ui", "--no-browser", *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={
                    **os.environ,
                    "TMPDIR": str(folder),
                    "XDG_STATE_HOME": str(state or folder / "state"),
                },
            )
        self._said = [self._line()]
        assert self._said[0].startswith("open http://"), self.errors
        self.address = self._said[0].split()[1]
        #: Below it lie all pages.
        self.root = self.address.partition("/?")[0]
        self.origin = self.root.rpartition("/")[0]

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    @property
    def private(self) -> Path:
        """The folder in which it keeps what is private."""
        (found,) = self.folder.glob("wideberth-ui-*")
        return found

    @property
    def errors(self) -> str:
        """What it wrote to the terminal besides the address."""
        return self._errors.read_text()

    @property
    def said(self) -> str:
        """Everything it wrote to the terminal, once it has ended."""
        return "".join(self._said) + self.errors

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=SECONDS)
        self._said.append(rest or "")
        return self.process.returncode

    def workers(self) -> list[int]:
        """Return the processes that make its releases."""
        return [pid for pid in _children(self.process.pid) if _is_worker(pid)]

    def worker(self) -> int:
        """Wait for a release to be at work; return its process."""
        return int(until(self.workers, "a release is at work")[0])

    @contextmanager
    def frozen(self, number: int = 1) -> Iterator[list[int]]:
        """Hold so many releases in the middle of their work, for as long as the block lasts."""
        held: list[int] = []

        def hold() -> bool:
            for pid in self.workers():
                if pid not in held:
                    os.kill(pid, signal.SIGSTOP)
                    held.append(pid)
            return len(held) >= number

        until(hold, f"{number} releases are at work")
        try:
            yield held
        finally:
            for pid in held:
                if _state(pid) is not None:
                    os.kill(pid, signal.SIGCONT)


def _children(parent: int) -> list[int]:
    """Return a process's own children, by what the system tells of every process."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(words[1]) == parent:
            found.append(int(status.parent.name))
    return sorted(found)


def _is_worker(pid: int) -> bool:
    """Tell whether a child of the server makes a release.

    Between fork and exec it still has the server's command line. To stop it there would stop the
    server as well, which waits for the exec.
    """
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"wideberth.ui.worker\0release\0" in command and not is_gone(pid)


def _state(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended."""
    return _state(pid) in ("Z", None)


class Client:
    """A program that talks to the app as its pages do."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.http = httpx.Client(base_url=server.root, timeout=SECONDS, trust_env=False)
        self.welcome = self.http.get(server.address.removeprefix(server.root))
        found = re.search(r'name="csrf" content="([^"]+)"', self.http.get("/").text)
        assert found
        self.headers = {"X-Wideberth": found[1]}

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def try_to(self, method: str, path: str, given: object = None, **more: Any) -> httpx.Response:
        """Ask for something below /api."""
        if given is not None:
            more["json"] = given
        return self.http.request(method, f"/api{path}", headers=self.headers, **more)

    def ask(self, method: str, path: str, given: object = None, **more: Any) -> dict[str, Any]:
        """Ask for something below /api that is granted."""
        answer = self.try_to(method, path, given, **more)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def wait(self, path: str) -> dict[str, Any]:
        """Wait for the end of a job, and return what is said of it."""
        return dict(
            until(
                lambda: (found := self.ask("GET", path))["job"]["state"] != "running" and found,
                "the job has ended",
            )
        )

    def open(self, path: Path) -> str:
        """Open a table, wait until it is read, and return the address of its pages."""
        table = "/tables/" + self.ask("POST", "/tables", {"path": str(path)})["table"]
        self.wait(table)
        return table

    def plan(self, table: str, seed: int | None = None, **parts: Any) -> None:
        """Replace parts of a table's policy."""
        now = self.ask("GET", table)
        content = {**now["content"], **parts}
        given = {"content": content, "version": now["version"], "seed": seed}
        self.ask("PUT", f"{table}/plan", given)

    def run(self, table: str) -> str:
        """Make a release, and return the address of the run's pages."""
        run = f"{table}/runs/{self.ask('POST', f'{table}/runs')['run']}"
        self.wait(run)
        return run
