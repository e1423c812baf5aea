"""Who may talk to the app: one browser on this machine, by the address that was printed.

Any page that a browser shows can send requests to 127.0.0.1, and any name can be made to lead
there. So every request is looked at before anything else sees it:

- its Host must be ours: a foreign name that leads here (DNS rebinding) is refused;
- its Origin and Sec-Fetch-Site, where there are any, must say that our own page sent it;
- its path must begin with a secret part, and it must carry a cookie, which only the address with
  the token gives. Browsers send a cookie to every port of a host, but only to the paths that it is
  for: a page that another user of this machine serves on another port never gets it;
- if it may change something, it must also carry a header that only our own pages know.

Answers forbid what the pages do not need: scripts of others, frames, being kept in a cache.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import socket
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qs, quote
from weakref import WeakKeyDictionary

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from wideberth.errors import unexpected

# -----------------------------------------------------------------------------
# Connections to the app: whose they are, and how many are kept.
#
# The kernel knows which user holds the other end of a connection within this machine. Connections
# of other users are closed before anything is read from them. That is a second line of defense: the
# first is that other users' pages cannot learn the cookie (:mod:`wideberth.ui.security`).
#
# Asking the kernel means reading a list of all connections, which takes the longer the more there
# are. So one reading answers for all connections that wait, beside the event loop.


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
MAX_WAITING_CONNECTIONS = 512
#: Connections that are kept; a browser opens six. If all of them are busy, twice as many.
MAX_CONNECTIONS = 128


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
        if len(others) >= MAX_CONNECTIONS and idle:
            min(idle, key=lambda one: one.since).transport.abort()
        elif len(others) >= 2 * MAX_CONNECTIONS:
            self.transport.abort()
            return
        self.flow.resume_reading()


class OwnerCheck:
    """Finds out whose the waiting connections are; one reading of the lists serves them all."""

    def __init__(self) -> None:
        # how often each waiting connection was looked for in vain
        self.waiting: dict[Connection, int] = {}
        self._work: asyncio.Task[None] | None = None

    def ask(self, connection: Connection) -> None:
        """Admit or close a connection soon."""
        if len(self.waiting) >= MAX_WAITING_CONNECTIONS:
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
                known = await asyncio.to_thread(connection_owners)
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


_DOORKEEPERS: WeakKeyDictionary[asyncio.AbstractEventLoop, OwnerCheck] = WeakKeyDictionary()


def _doorkeeper(loop: asyncio.AbstractEventLoop) -> OwnerCheck:
    return _DOORKEEPERS.setdefault(loop, OwnerCheck())


class _SocketOwner(NamedTuple):
    """The holder of an end of a connection."""

    uid: int
    inode: int  # 0: the socket was closed, and the kernel lists it as root's


ConnectionEnds = tuple[str, str]


def connection_owners() -> dict[ConnectionEnds, _SocketOwner] | None:
    """Return who holds the connections of this machine; None on a system that does not tell."""
    lines: list[str] = []
    for file in _LISTS:
        try:
            lines += file.read_text().splitlines()
        except OSError:  # another system, or one without IPv6
            continue
    return parse_connection_list(lines) if lines or sys.platform == "linux" else None


def is_stranger(
    known: Mapping[ConnectionEnds, _SocketOwner] | None, client: Any, server: Any
) -> bool | None:
    """Return whether another user made a connection (root may); None if it is not listed."""
    # A connection that nobody holds any more counts as a stranger's.
    if known is None:  # there is nobody to ask
        return False
    try:
        held = known.get((_written(client), _written(server))) if client and server else None
    except OSError:  # no address, but a name
        held = None
    return None if held is None else not held.inode or held.uid not in (os.geteuid(), 0)


def parse_connection_list(lines: Iterable[str]) -> dict[ConnectionEnds, _SocketOwner]:
    """Return who holds each connection of IPv4, by its near and its far end.

    >>> line = "0: 0100007F:A1B2 0100007F:1F90 01 0:0 0:0 0 1000 0 4242"
    >>> parse_connection_list(["sl local_address rem_address", line])
    {('0100007F:A1B2', '0100007F:1F90'): _SocketOwner(uid=1000, inode=4242)}
    """
    found: dict[ConnectionEnds, _SocketOwner] = {}
    for words in map(str.split, lines):
        if len(words) > 9 and words[3] != _CALLING:
            near, far = map(_plain, words[1:3])
            if near and far:
                found.setdefault((near, far), _SocketOwner(int(words[7]), int(words[9])))
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


# -----------------------------------------------------------------------------
# Who may talk to the app: one browser on this machine, by the address that was printed.


#: The header that a request must carry to change something.
HEADER = "X-Wideberth"
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
_HARMLESS = ("GET", "HEAD")
_POLICY = "Content-Security-Policy"
_CACHE = "Cache-Control"
#: What every answer says; an answer's own word goes first for those of `_YIELDING`.
_ALWAYS = {
    _POLICY: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    _CACHE: "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), "
    "midi=(), payment=(), serial=(), usb=()",
}
_YIELDING = (_POLICY, _CACHE)
#: A path of ours: one slash, and nothing that browsers drop or take for another slash.
_PATH = re.compile(r"/(?!.*//)(?!/)[!-\[\]-~]*")
_OPEN = "open the address that `wideberth ui` printed in the terminal"
_PAGE = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><link rel="icon" href="data:,">{head}
<title>{title} – wideberth</title></head>
<body><main><h1>{title}</h1><p>{text}</p></main></body>
</html>
"""


@dataclass(frozen=True)
class Key:
    """The secrets of one run of the app."""

    token: str = field(repr=False)  # in the address that is printed
    way: str = field(repr=False)  # first step of all paths; the address bar shows it
    cookie: str = field(repr=False)  # what the browser gets for the token, for these paths only
    csrf: str = field(repr=False)  # in `HEADER` of our pages' requests that change something

    @classmethod
    def new(cls) -> Key:
        """Draw new secrets."""
        return cls(*(secrets.token_urlsafe(32) for _ in range(4)))

    @property
    def root(self) -> str:
        """The path below which everything lies, without a slash at its end."""
        return f"/{self.way}"

    def address(self, port: int, path: str = "/") -> str:
        """Return the address to open in a browser; it leads on to a path of the app."""
        onward = "" if path == "/" else f"&next={quote(path, safe='/')}"
        return f"http://127.0.0.1:{port}{self.root}/?token={self.token}{onward}"


class _RejectedRequest(Exception):
    """A request that is not let in."""

    def __init__(self, status: int, what: str, hint: str = _OPEN) -> None:
        super().__init__(what)
        self.status, self.what, self.hint = status, what, hint


class AccessControl:
    """Middleware that lets in what the app's own pages send, and nothing else; see the module."""

    def __init__(self, app: ASGIApp, *, port: int, key: Key) -> None:
        self.app, self.key = app, key
        hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost")]
        if port == 80:
            hosts += ["127.0.0.1", "localhost"]
        self.hosts = [host.encode() for host in hosts]
        self.origins = [f"http://{host}".encode() for host in hosts]
        self.name = f"wideberth-{port}"  # a browser does not tell cookies of two ports apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def told(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": _with_headers(message.get("headers", ()))}
            await send(message)

        try:
            onward = self._let_in(scope)
            if onward is None:
                await self.app({**scope, "root_path": self.key.root}, receive, told)
            else:
                await self._welcome(onward, told)
        except _RejectedRequest as refusal:
            await _reply(told, scope, refusal.status, refusal.what, refusal.hint)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except ClientDisconnect:
            return
        except BaseException as error:  # raised further, the server would log its message
            _log(error)
            if not started:  # else the answer stays incomplete, which the browser notices
                bug = unexpected(error)
                await _reply(told, scope, 500, bug.what, bug.hint)

    def _let_in(self, scope: Scope) -> str | None:
        """Refuse requests that are not ours; return the target if the address has the token."""
        said = _Headers(scope)
        if len(hosts := said["host"]) != 1 or hosts[0] not in self.hosts:
            raise _RejectedRequest(400, "this is not the address of the app")
        if scope["method"] not in _METHODS:
            raise _RejectedRequest(
                405, "the app does not know this method", f"use {', '.join(_METHODS)}"
            )
        if any(origin not in self.origins for origin in said["origin"]):
            raise _RejectedRequest(403, "another site sent this request")
        way, slash, inner = scope["path"].removeprefix("/").partition("/")
        if not slash or not _same(self.key.way, [way.encode()]):
            raise _RejectedRequest(403, "this is not an address of this run of the app")
        asked = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and not inner and "token" in asked:
            # Whatever page the address is opened from: who knows the token is let in.
            if not _same(self.key.token, [text.encode() for text in asked["token"]]):
                raise _RejectedRequest(403, "this address is of an earlier run, or incomplete")
            return self.key.root + _own(asked.get("next", ["/"])[0])
        if any(site not in (b"same-origin", b"none") for site in said["sec-fetch-site"]):
            raise _RejectedRequest(403, "another site sent this request")
        if not _same(self.key.cookie, said.cookies(self.name)):
            raise _RejectedRequest(403, "this browser has not been let in")
        if scope["method"] not in _HARMLESS and not _same(self.key.csrf, said[HEADER.lower()]):
            raise _RejectedRequest(403, "no page of the app sent this request", "reload the page")
        return None

    async def _welcome(self, onward: str, send: Send) -> None:
        """Set the cookie, and lead on to a page of the app."""
        # Not by a redirect: if the address was opened from another site, a browser would follow it
        # without the cookie, which it keeps for requests of our own pages.
        target = escape(onward, quote=True)
        page = _PAGE.format(
            head=f'<meta http-equiv="refresh" content="0;url={target}">',
            title="Welcome",
            text=f'<a href="{target}">Go on</a>',
        )
        cookie = f"{self.name}={self.key.cookie}; HttpOnly; SameSite=Strict; Path={self.key.root}/"
        await _send(send, 200, "text/html; charset=utf-8", page, {"Set-Cookie": cookie})


class _Headers:
    """The headers of a request."""

    def __init__(self, scope: Scope) -> None:
        self.pairs = cast("list[tuple[bytes, bytes]]", list(scope["headers"]))

    def __getitem__(self, name: str) -> list[bytes]:
        return [value for key, value in self.pairs if key.lower() == name.encode()]

    def cookies(self, name: str) -> list[bytes]:
        """Return the values of a cookie: another app on this machine may have set some, too."""
        pairs = [part.partition(b"=") for part in b";".join(self["cookie"]).split(b";")]
        return [value.strip() for key, _, value in pairs if key.strip() == name.encode()]


def _same(secret: str, given: list[bytes]) -> bool:
    """Return whether a secret was given, in a time that tells nothing about it."""
    return any(secrets.compare_digest(secret.encode(), one) for one in given)


def _own(path: str) -> str:
    """Return a path if it leads to the app itself, else the first page."""
    return path if _PATH.fullmatch(path) else "/"


def _with_headers(given: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    said = {name.lower() for name, _ in given}
    ours = {
        name.lower().encode(): value.encode()
        for name, value in _ALWAYS.items()
        if name not in _YIELDING or name.lower().encode() not in said
    }
    return [*((name, value) for name, value in given if name.lower() not in ours), *ours.items()]


async def _reply(send: Send, scope: Scope, status: int, what: str, hint: str | None) -> None:
    """Send an error: to a script as JSON, to a person as a page."""
    if "/api/" in scope["path"]:
        text = json.dumps({"what": what, "hint": hint})
        await _send(send, status, "application/json", text)
        return
    title = what[:1].upper() + what[1:]
    advice = "" if hint is None else f"What to try: {hint}."
    page = _PAGE.format(head="", title=escape(title), text=escape(advice))
    await _send(send, status, "text/html; charset=utf-8", page)


async def _send(
    send: Send, status: int, kind: str, text: str, more: dict[str, str] | None = None
) -> None:
    body = text.encode()
    said = {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}
    headers = [(name.lower().encode(), value.encode()) for name, value in said.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _log(error: BaseException) -> None:
    """Write to the terminal where a bug is, without values that its message may hold."""
    shown = os.environ.get("WIDEBERTH_TRACEBACK")
    text = "".join(traceback.format_exception(error)) if shown else f"error: {unexpected(error)}\n"
    sys.stderr.write(text)
