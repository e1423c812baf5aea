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
import sys
import traceback
from dataclasses import dataclass, field
from html import escape
from typing import cast
from urllib.parse import parse_qs, quote

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wideberth.errors import unexpected

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


class _Refusal(Exception):
    """A request that is not let in."""

    def __init__(self, status: int, what: str, hint: str = _OPEN) -> None:
        super().__init__(what)
        self.status, self.what, self.hint = status, what, hint


class Safety:
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
        except _Refusal as refusal:
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
            raise _Refusal(400, "this is not the address of the app")
        if scope["method"] not in _METHODS:
            raise _Refusal(405, "the app does not know this method", f"use {', '.join(_METHODS)}")
        if any(origin not in self.origins for origin in said["origin"]):
            raise _Refusal(403, "another site sent this request")
        way, slash, inner = scope["path"].removeprefix("/").partition("/")
        if not slash or not _same(self.key.way, [way.encode()]):
            raise _Refusal(403, "this is not an address of this run of the app")
        asked = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and not inner and "token" in asked:
            # Whatever page the address is opened from: who knows the token is let in.
            if not _same(self.key.token, [text.encode() for text in asked["token"]]):
                raise _Refusal(403, "this address is of an earlier run, or incomplete")
            return self.key.root + _own(asked.get("next", ["/"])[0])
        if any(site not in (b"same-origin", b"none") for site in said["sec-fetch-site"]):
            raise _Refusal(403, "another site sent this request")
        if not _same(self.key.cookie, said.cookies(self.name)):
            raise _Refusal(403, "this browser has not been let in")
        if scope["method"] not in _HARMLESS and not _same(self.key.csrf, said[HEADER.lower()]):
            raise _Refusal(403, "no page of the app sent this request", "reload the page")
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
