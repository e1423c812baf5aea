"""Run the app on this machine until it is told to stop, and leave nothing behind."""

from __future__ import annotations

import logging
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from wideberth.errors import OutputError, in_the_app
from wideberth.ui import missing_extra_error
from wideberth.ui.jobs import Jobs
from wideberth.ui.open_tables import AppSession, table_file
from wideberth.ui.saved import SettingsStore
from wideberth.ui.security import Key
from wideberth.ui.workspace import Workspace

if TYPE_CHECKING:
    import uvicorn

_HOST = "127.0.0.1"
#: Signals that mean "stop", where the system has them.
_STOP = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)]


def serve(
    table: str | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the app on the loopback interface; returns when it is told to stop."""
    try:
        import uvicorn

        from wideberth.ui.app import create
        from wideberth.ui.security import Connection
    except ModuleNotFoundError as error:
        raise missing_extra_error(error) from None
    if table is not None:
        table_file(table)
    listening = _listen(port)
    port = listening.getsockname()[1]
    key = Key.new()
    with listening, Workspace.open() as workspace:
        session = AppSession(workspace, Jobs(), SettingsStore())

        async def ready() -> None:
            opened = None if table is None else await session.open_path(table)
            way = "/" if opened is None else f"/tables/{opened.number}/data"
            address = key.address(port, way)
            announce(address)
            if browser:
                webbrowser.open(_doorway(workspace, address).as_uri())

        config = uvicorn.Config(
            create(session, key=key, port=port, ready=ready),
            http=Connection,
            log_config=None,  # its messages could quote a table; see `_quiet`
            access_log=False,
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        _quiet()
        server = uvicorn.Server(config)
        with _stopping(server), in_the_app():
            server.run(sockets=[listening])


def _quiet() -> None:
    """Let libraries log nothing: what is to be told, the app tells itself."""
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False


def _doorway(workspace: Workspace, address: str) -> Path:
    """Make a page that leads on to the address, for a browser to open."""
    # Other users of the machine can see the browser's command line, and so would see the key in the
    # address.
    with workspace.file(workspace.path, "open.html") as file:
        file.write(f'<meta http-equiv="refresh" content="0;url={escape(address)}">'.encode())
    return workspace.path / "open.html"


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_HOST, port))
        listening.listen()  # whoever is told the address may come before the app is quite ready
    except OSError as error:
        listening.close()
        what = f"port {port} cannot be used: {error.strerror}"
        raise OutputError(what, hint="--port 0 takes one that is free") from None
    return listening


@contextmanager
def _stopping(server: uvicorn.Server) -> Iterator[None]:
    """Let signals end the server, not the process, so that what is private gets removed."""
    # uvicorn stops by itself on some signals, and then raises them again for its caller.

    def stop(number: int, frame: FrameType | None) -> None:
        if not server.started:
            raise _Stopped
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in _STOP}
    try:
        yield
    except _Stopped:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Stopped(BaseException):
    """Told to stop before it began; no Exception, so that nobody takes it for their own."""
