"""Another user of this machine is refused, even with cookie and token in hand."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from wideberth.ui import security
from wideberth.ui.security import connection_owners, parse_connection_list

#: Connect as a user, do something with that, say which port it is, and wait to be told to end.
_CONNECT = """
import encodings.idna, os, socket, sys
os.setuid(int(sys.argv[1]))
joined = socket.socket()
joined.connect(("127.0.0.1", int(sys.argv[2])))
near = joined.getsockname()[1]
exec(sys.argv[3])
print(near, flush=True)
sys.stdin.read()
"""


def is_stranger(client: Any, server: Any) -> bool | None:
    return security.is_stranger(connection_owners(), client, server)


@pytest.fixture
def port() -> Iterator[int]:
    """Yield a port that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        held: list[socket.socket] = []

        def take() -> None:
            while True:
                try:
                    held.append(listening.accept()[0])
                except OSError:
                    return

        threading.Thread(target=take, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    for one in held:
        one.close()


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="only Linux tells")
def test_ourselves(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as joined:
        assert not is_stranger(joined.getsockname(), ("127.0.0.1", port))


@pytest.mark.skipif(
    not os.path.exists("/proc/net/tcp") or os.geteuid() != 0, reason="only root can be another"
)
@pytest.mark.parametrize(
    ("uid", "meanwhile", "stranger"),
    [
        (65534, "", True),
        (65534, "joined.shutdown(socket.SHUT_WR)", True),
        (65534, "joined.close()", True),  # the kernel lists it as root's
        (0, "", False),
        (0, "joined.shutdown(socket.SHUT_WR)", False),
        (0, "joined.close()", True),
    ],
)
def test_another_user(port: int, uid: int, meanwhile: str, stranger: bool) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", _CONNECT, str(uid), str(port), meanwhile],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout is not None
        near = int(other.stdout.readline())
        assert is_stranger(("127.0.0.1", near), ("127.0.0.1", port)) is stranger
        other.communicate()


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="only Linux tells")
def test_what_is_not_listed_is_not_known() -> None:
    assert is_stranger(None, ("127.0.0.1", 80)) is None
    assert is_stranger(("127.0.0.1", 80), None) is None
    assert is_stranger(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
    assert is_stranger(("testclient", 50000), ("127.0.0.1", 2)) is None


@pytest.mark.parametrize(("system", "stranger"), [("linux", None), ("darwin", False)])
def test_nobody_to_ask(
    system: str, stranger: bool | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(security, "_LISTS", (tmp_path / "tcp",))
    monkeypatch.setattr(security, "sys", SimpleNamespace(platform=system, byteorder=sys.byteorder))
    assert is_stranger(("127.0.0.1", 1), ("127.0.0.1", 80)) is stranger


@pytest.mark.parametrize(
    ("uid", "inode", "stranger"),
    [
        (os.geteuid(), 7, False),
        (0, 7, False),
        (54321, 7, True),
        (0, 0, True),
        (os.geteuid(), 0, True),
    ],
)
@pytest.mark.parametrize("state", ["01", "04", "05", "06", "08", "0B"])
def test_every_state_counts(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    state: str,
    uid: int,
    inode: int,
    stranger: bool,
) -> None:
    line = f"0: 0100007F:0001 0100007F:0003 {state} 0:0 0:0 0 {uid} 0 {inode}"
    (tmp_path / "tcp").write_text(f"sl local_address rem_address\n{line}\n")
    monkeypatch.setattr(security, "_LISTS", (tmp_path / "tcp", tmp_path / "tcp6"))
    assert is_stranger(("127.0.0.1", 1), ("127.0.0.1", 3)) is stranger


def holder(lines: list[str], near: Any, far: Any) -> object:
    return parse_connection_list(lines).get((security._written(near), security._written(far)))


def test_both_ends_count() -> None:
    lines = [
        "0: 0100007F:0001 0100007F:0002 01 0:0 0:0 0 1000 0 1",
        "1: 0200007F:0001 0100007F:0003 01 0:0 0:0 0 0 0 2",  # another address
        "3: 0100007F:0001 0100007F:0003 01 0:0 0:0 0 1001 0 2",
    ]
    here = "127.0.0.1"
    assert holder(lines, (here, 1), (here, 3)) == (1001, 2)
    assert holder(lines, (here, 3), (here, 1)) is None
    assert holder(["sl  local_address rem_address st"], (here, 1), (here, 2)) is None
    for begin, found in (("0000000000000000FFFF0000", (7, 8)), ("0" * 24, None)):
        end = f"{begin}0100007F"  # the same as an address of IPv6, and another
        line = f"0: {end}:0001 {end}:0009 01 0 0 0 7 0 8"
        assert holder([line], (here, 1), (here, 9)) == found


def test_a_call_without_an_answer_is_not_the_connection() -> None:
    """A stranger may have closed the connection, whose port another user takes for a new call."""
    line = "0: 0100007F:0001 0100007F:0002 {} 0:0 0:0 0 1000 0 1"
    here = "127.0.0.1"
    assert holder([line.format("02")], (here, 1), (here, 2)) is None
    assert holder([line.format("01")], (here, 1), (here, 2)) == (1000, 1)


# Many connections at once


class Idle(asyncio.Protocol):
    """The other end of a connection: it only waits."""

    def __init__(self) -> None:
        self.lost = asyncio.get_running_loop().create_future()
        self.heard = b""

    def data_received(self, data: bytes) -> None:
        self.heard += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(None)


async def _answer(scope: Any, receive: Any, send: Any) -> None:
    if scope["path"] == "/wait":
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[int, ServerState]]:
    config = Config(_answer, http=security.Connection, lifespan="off", log_config=None)
    config.load()
    state, loop = ServerState(), asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: security.Connection(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    try:
        yield server.sockets[0].getsockname()[1], state
    finally:
        server.close()
        for one in list(state.connections):
            one.transport.abort()
        await asyncio.sleep(0)


async def request(port: int, path: str = "/") -> Idle:
    loop = asyncio.get_running_loop()
    wire, end = await loop.create_connection(Idle, "127.0.0.1", port)
    wire.write(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    return end


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):  # only so that a failure ends
        while not holds():
            await asyncio.sleep(0.01)


def counted(monkeypatch: pytest.MonkeyPatch, answer: Any = None) -> list[int]:
    """Count the readings of the lists; they may have another answer."""
    readings: list[int] = []
    truly = connection_owners

    def read() -> Any:
        readings.append(threading.get_ident())
        return truly() if answer is None else answer()

    monkeypatch.setattr(security, "connection_owners", read)
    return readings


class Everybody(dict[Any, Any]):
    """A list in which every connection is one user's."""

    def __init__(self, uid: int) -> None:
        self.uid = uid

    def get(self, key: Any, default: Any = None) -> Any:
        return security._SocketOwner(self.uid, 7)


def test_one_reading_is_for_all_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,100 idle connections kept every answer waiting for 45 seconds."""
    readings = counted(monkeypatch, lambda: Everybody(os.geteuid()))

    async def main() -> None:
        async with serving() as (port, state):
            many = range(400)
            idle = [(await request_nothing(port)) for _ in many]
            asked = await request(port)
            await until(lambda: b" 204 " in asked.heard)
            assert len(readings) < len(many) / 4
            assert threading.get_ident() not in readings  # not in the event loop
            assert len(state.connections) <= security.MAX_CONNECTIONS + 1
            await until(
                lambda: sum(one.lost.done() for one in idle) >= len(many) - security.MAX_CONNECTIONS
            )

    asyncio.run(main())


async def request_nothing(port: int) -> Idle:
    loop = asyncio.get_running_loop()
    return (await loop.create_connection(Idle, "127.0.0.1", port))[1]


@pytest.mark.parametrize("answer", [lambda: Everybody(54321), dict, lambda: 1 // 0])
def test_strangers_are_closed_and_nothing_is_read(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted(monkeypatch, answer)
    monkeypatch.setattr(H11Protocol, "data_received", None)  # which would fail

    async def main() -> None:
        async with serving() as (port, state):
            asked = [await request(port) for _ in range(5)]
            await until(lambda: all(one.lost.done() for one in asked))
            await until(lambda: not state.connections)
            assert not any(one.heard for one in asked)

    asyncio.run(main())


def test_few_wait_to_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    going = threading.Event()
    counted(monkeypatch, lambda: going.wait(60) and Everybody(os.geteuid()))
    monkeypatch.setattr(security, "MAX_WAITING_CONNECTIONS", 10)

    async def main() -> None:
        async with serving() as (port, state):
            ends = [await request_nothing(port) for _ in range(30)]
            await until(lambda: sum(one.lost.done() for one in ends) == 20)
            assert len(state.connections) == 10
            going.set()
            await until(lambda: all(one.admitted for one in state.connections))

    asyncio.run(main())


def test_a_new_connection_beside_busy_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    counted(monkeypatch, lambda: Everybody(os.geteuid()))
    monkeypatch.setattr(security, "MAX_CONNECTIONS", 3)

    async def main() -> None:
        async with serving() as (port, state):

            def busy() -> int:
                return sum(one.cycle is not None for one in state.connections)

            ends = []
            for number in range(1, 7):  # twice as many as are kept otherwise
                ends.append(await request(port, "/wait"))
                await until(lambda number=number: busy() == number)
            more = await request(port)
            await until(more.lost.done)  # the last resort
            assert not any(one.lost.done() for one in ends)

    asyncio.run(main())


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="only Linux tells")
def test_the_owner_is_answered_truly() -> None:
    async def main() -> None:
        async with serving() as (port, _):
            asked = await request(port)
            await until(lambda: b" 204 " in asked.heard)

    asyncio.run(main())
