"""Whose process is at the other end of a connection within this machine.

Browsers send a cookie to every port of a host, so a server of somebody else on this machine can
come to know ours. Then it matters that it is somebody else: the kernel knows who holds a
connection.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_ESTABLISHED = "01"
#: Where Linux lists connections; 127.0.0.1 may be written as an address of IPv6, too.
_LISTS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def is_stranger(client: Any, server: Any) -> bool:
    """Tell whether another user of this machine has sent a request; root may do as he likes.

    Parameters
    ----------
    client, server : (host, port) or None
        As ASGI tells them.
    """
    if not client or not server or not hasattr(os, "geteuid"):
        return False
    for file in _LISTS:
        try:
            lines = file.read_text().splitlines()
        except OSError:  # another system: there is nobody to ask
            continue
        uid = owner(lines, client, server)
        if uid is not None:
            return uid not in (os.geteuid(), 0)
    return False


def owner(lines: Iterable[str], near: tuple[str, int], far: tuple[str, int]) -> int | None:
    """Return who holds the connection from one address to another; None if it is not listed.

    >>> line = "0: 0100007F:A1B2 0100007F:1F90 01 0:0 0:0 0 1000 0 4242"
    >>> owner(["sl local_address rem_address", line], ("127.0.0.1", 0xA1B2), ("127.0.0.1", 0x1F90))
    1000
    """
    try:
        ends = _written(near), _written(far)
    except OSError:  # no address, but a name
        return None
    for words in map(str.split, lines):
        listed = len(words) > 7 and words[3] == _ESTABLISHED
        if listed and words[1].endswith(ends[0]) and words[2].endswith(ends[1]):
            return int(words[7])
    return None


def _written(address: tuple[str, int]) -> str:
    """Write an address as the kernel does: in the order of the machine's bytes."""
    host = socket.inet_aton(address[0])
    host = host[::-1] if sys.byteorder == "little" else host
    return f"{host.hex().upper()}:{address[1]:04X}"
