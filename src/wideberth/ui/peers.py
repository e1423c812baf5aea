"""Connections to the app: whose they are, and how many are kept.

The kernel knows which user holds the other end of a connection within this machine. Connections
of other users are closed before anything is read from them. That is a second line of defense: the
first is that other users' pages cannot learn the cookie (:mod:`wideberth.ui.security`).

Asking the kernel means reading a list of all connections, which takes the longer the more there
are. So one reading answers for all connections that wait, beside the event loop.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Where Linux lists connections; 127.0.0.1 may be written as an address of IPv6, too.
_LISTS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_MAPPED = "0000000000000000FFFF0000"
_SHORT, _LONG = len("0100007F:1F90"), len(_MAPPED) + len("0100007F:1F90")
#: The state of an end that calls and has no answer yet: what was taken cannot be that call, though
#: one may follow from the same port.
_CALLING = "02"
#: The kernel lists connections in pieces, so one may be missed while others come and go.
_READS = 3
#: Seconds between two readings, in which more connections may come to wait for the next.
_PAUSE = 0.02
#: Connections that may wait to be known. One of them, by lot, makes room for another.
MOST_WAITING = 512
#: Connections that are kept; a browser opens six. If all of them are busy, twice as many.
MOST = 128


class Connection(H11Protocol):
    """A connection that is served only if it is this user's."""

    since = 0.0
    admitted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Read nothing until it is known whose it is."""
        super().connection_made(transport)
        self.flow.pause_reading()
        _doorkeeper(self.loop).ask(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        _doorkeeper(self.loop).waiting.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Serve what is ours, and that alone."""
        if self.admitted:
            super().data_received(data)
        else:
            self.transport.abort()

    def admit(self) -> None:
        """Begin to serve it, and make room for it."""
        # Beyond MOST connections, the one that has waited longest without a request is closed, so
        # that idle connections never keep new ones out.
        self.admitted, self.since = True, monotonic()
        others = [one for one in self.connections if isinstance(one, Connection) and one.admitted]
        others = [one for one in others if one is not self and not one.transport.is_closing()]
        idle = [one for one in others if one.cycle is None or one.cycle.response_complete]
        if len(others) >= MOST and idle:
            min(idle, key=lambda one: one.since).transport.abort()
        elif len(others) >= 2 * MOST:
            self.transport.abort()
            return
        self.flow.resume_reading()


class Doorkeeper:
    """Finds out whose the waiting connections are; one reading of the lists serves them all."""

    def __init__(self) -> None:
        # how often each waiting connection was looked for in vain
        self.waiting: dict[Connection, int] = {}
        self._work: asyncio.Task[None] | None = None

    def ask(self, connection: Connection) -> None:
        """Admit or close a connection soon."""
        if len(self.waiting) >= MOST_WAITING:
            lot = list(self.waiting)[secrets.randbelow(len(self.waiting))]
            del self.waiting[lot]
            lot.transport.abort()
        self.waiting[connection] = 0
        if self._work is None or self._work.done():
            self._work = connection.loop.create_task(self._judge())

    async def _judge(self) -> None:
        while self.waiting:
            asked = list(self.waiting)  # the list is read after they were made
            try:
                known = await asyncio.to_thread(listed)
            except Exception:  # in doubt, nobody is let in
                known = {}
            for one in asked:
                if one not in self.waiting:
                    continue
                stranger = is_stranger(known, one.client, one.server)
                self.waiting[one] += 1
                if stranger is None and self.waiting[one] < _READS:
                    continue
                del self.waiting[one]
                if stranger is False:
                    one.admit()
                else:
                    one.transport.abort()
            await asyncio.sleep(_PAUSE)


_DOORKEEPERS: WeakKeyDictionary[asyncio.AbstractEventLoop, Doorkeeper] = WeakKeyDictionary()


def _doorkeeper(loop: asyncio.AbstractEventLoop) -> Doorkeeper:
    return _DOORKEEPERS.setdefault(loop, Doorkeeper())


class _Holder(NamedTuple):
    """The holder of an end of a connection."""

    uid: int
    inode: int  # 0: the socket was closed, and the kernel lists it as root's


Ends = tuple[str, str]


def listed() -> dict[Ends, _Holder] | None:
    """Return who holds the connections of this machine; None on a system that does not tell."""
    lines: list[str] = []
    for file in _LISTS:
        try:
            lines += file.read_text().splitlines()
        except OSError:  # another system, or one without IPv6
            continue
    return holders(lines) if lines or sys.platform == "linux" else None


def is_stranger(known: Mapping[Ends, _Holder] | None, client: Any, server: Any) -> bool | None:
    """Return whether another user made a connection (root may); None if it is not listed."""
    # A connection that nobody holds any more counts as a stranger's.
    if known is None:  # there is nobody to ask
        return False
    try:
        held = known.get((_written(client), _written(server))) if client and server else None
    except OSError:  # no address, but a name
        held = None
    return None if held is None else not held.inode or held.uid not in (os.geteuid(), 0)


def holders(lines: Iterable[str]) -> dict[Ends, _Holder]:
    """Return who holds each connection of IPv4, by its near and its far end.

    >>> line = "0: 0100007F:A1B2 0100007F:1F90 01 0:0 0:0 0 1000 0 4242"
    >>> holders(["sl local_address rem_address", line])
    {('0100007F:A1B2', '0100007F:1F90'): _Holder(uid=1000, inode=4242)}
    """
    found: dict[Ends, _Holder] = {}
    for words in map(str.split, lines):
        if len(words) > 9 and words[3] != _CALLING:
            near, far = map(_plain, words[1:3])
            if near and far:
                found.setdefault((near, far), _Holder(int(words[7]), int(words[9])))
    return found


def _plain(address: str) -> str | None:
    """Return an address as one of IPv4; None if it is none."""
    if len(address) == _LONG and address.startswith(_MAPPED):
        return address[len(_MAPPED) :]
    return address if len(address) == _SHORT else None


def _written(address: tuple[str, int]) -> str:
    """Write an address as the kernel does: in the order of the machine's bytes."""
    host = socket.inet_aton(address[0])
    host = host[::-1] if sys.byteorder == "little" else host
    return f"{host.hex().upper()}:{address[1]:04X}"
