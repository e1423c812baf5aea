"""Another user of this machine is refused, even with cookie and token in hand."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from wideberth.ui.peers import is_stranger, owner

#: Connect as a user, say which port that is, and wait to be told to end.
_CONNECT = """
import encodings.idna, os, socket, sys
os.setuid(int(sys.argv[1]))
joined = socket.socket()
joined.connect(("127.0.0.1", int(sys.argv[2])))
print(joined.getsockname()[1], flush=True)
sys.stdin.read()
"""


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
@pytest.mark.parametrize(("uid", "stranger"), [(65534, True), (0, False)])
def test_another_user(port: int, uid: int, stranger: bool) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", _CONNECT, str(uid), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout is not None
        near = int(other.stdout.readline())
        assert is_stranger(("127.0.0.1", near), ("127.0.0.1", port)) is stranger
        other.communicate()


def test_nobody_to_ask() -> None:
    assert not is_stranger(None, ("127.0.0.1", 80))
    assert not is_stranger(("testclient", 50000), None)
    here = "127.0.0.1"
    assert owner([], (here, 1), (here, 2)) is None
    assert owner(["sl  local_address rem_address st"], (here, 1), (here, 2)) is None
    assert owner([], ("testclient", 1), (here, 2)) is None


def test_both_ends_count() -> None:
    lines = [
        "0: 0100007F:0001 0100007F:0002 01 0:0 0:0 0 1000 0 1",
        "1: 0200007F:0001 0100007F:0003 01 0:0 0:0 0 0 0 2",  # another address
        "2: 0100007F:0001 0100007F:0003 06 0:0 0:0 0 0 0 2",  # closed before
        "3: 0100007F:0001 0100007F:0003 01 0:0 0:0 0 1001 0 2",
    ]
    here = "127.0.0.1"
    assert owner(lines, (here, 1), (here, 3)) == 1001
    assert owner(lines, (here, 3), (here, 1)) is None
    long = "0000000000000000FFFF00000100007F"  # the same as an address of IPv6
    assert owner([f"0: {long}:0001 {long}:0009 01 0 0 0 7 0"], (here, 1), (here, 9)) == 7
