"""Whose process is at the other end of a connection within this machine.

Browsers send a cookie to every port of a host, so a server of somebody else on this machine can
come to know ours. Then it matters that it is somebody else: the kernel knows who holds a
connection.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
        uid = owner(lines, client[1], server[1])
        if uid is not None:
            return uid not in (os.geteuid(), 0)
    return False


def owner(lines: Iterable[str], near: int, far: int) -> int | None:
    """Return who holds the connection from one port to another; None if it is not listed.

    >>> line = "0: 0100007F:A1B2 0100007F:1F90 01 0:0 0:0 0 1000 0 4242"
    >>> owner(["sl local_address rem_address", line], 0xA1B2, 0x1F90)
    1000
    """
    ends = (f":{near:04X}", f":{far:04X}")
    for words in map(str.split, lines):
        if len(words) > 7 and words[1].endswith(ends[0]) and words[2].endswith(ends[1]):
            return int(words[7])
    return None
