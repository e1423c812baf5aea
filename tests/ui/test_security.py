"""Only the app's own pages are let in, and an error gives nothing away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx2 as httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from wideberth.ui.security import HEADER, AccessControl, Key

PORT = 8765
HOST = f"127.0.0.1:{PORT}"
KEY = Key("the-token", "the-way", "the-cookie", "the-csrf")  # the same in every process
COOKIE = {"cookie": f"wideberth-{PORT}={KEY.cookie}"}
SECRET = "Zq7Xhush"  # noqa: S105 - a marker
#: A request that is let in.
ASKED: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "path": f"{KEY.root}/",
    "query_string": b"",
    "headers": [(b"host", HOST.encode()), (b"cookie", COOKIE["cookie"].encode())],
}
Headers = dict[str, str] | Sequence[tuple[str, str]]


async def inner(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("let in")(scope, receive, send)


def ask(
    target: str = "/",
    headers: Headers = COOKIE,
    *,
    method: str = "GET",
    host: str = HOST,
    port: int = PORT,
    app: Any = inner,
    key: Key = KEY,
    root: str = KEY.root,
) -> httpx.Response:
    """Send one request for something below the secret part of the paths."""

    async def sent() -> httpx.Response:
        transport = httpx.ASGITransport(AccessControl(app, port=port, key=key))
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.request(method, f"http://{host}{root}{target}", headers=headers)

    return asyncio.run(sent())


def with_cookie(**more: str) -> dict[str, str]:
    return {**COOKIE, **{name.replace("_", "-"): value for name, value in more.items()}}


# Host


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}"])
def test_our_own_names(host):
    assert ask(host=host).text == "let in"


@pytest.mark.parametrize(
    "host",
    [
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost.:{PORT}",
        f"127.0.0.1:{PORT + 1}",
        "127.0.0.1",
        "localhost",
        f"127.0.0.1:{PORT}0",
        f"0.0.0.0:{PORT}",
        f"[::1]:{PORT}",
        "",
    ],
)
def test_foreign_names(host):
    answer = ask(headers=[*COOKIE.items(), ("host", host)])
    assert answer.status_code == 400
    assert "let in" not in answer.text


def test_a_foreign_name_does_not_even_reach_the_token():
    assert ask(f"/?token={KEY.token}", {}, host=f"evil.example:{PORT}").status_code == 400


def test_two_names():
    twice = [*COOKIE.items(), ("host", HOST), ("host", HOST)]
    assert ask(headers=twice).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.1:80", "localhost:80"])
def test_the_usual_port_may_be_left_out(host):
    headers = [("cookie", f"wideberth-80={KEY.cookie}"), ("host", host)]
    assert ask(headers=headers, port=80).text == "let in"


def test_no_name():
    said = raw({**ASKED, "headers": []})
    assert said[0]["status"] == 400


def raw(scope: dict[str, Any], app: Any = inner) -> list[Message]:
    """Send what no well-behaved client sends."""
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    async def receive() -> Message:
        return await asyncio.Event().wait()  # type: ignore[return-value] # nothing more comes

    asyncio.run(AccessControl(app, port=PORT, key=KEY)({"type": "http", **scope}, receive, send))
    return said


# The token


def test_the_token_is_exchanged_for_a_cookie():
    answer = ask(f"/?token={KEY.token}", {})
    assert answer.status_code == 200  # no redirect: the cookie would not come along
    assert '<meta http-equiv="refresh" content="0;url=/the-way/">' in answer.text
    cookie = answer.headers["set-cookie"]
    assert cookie == f"wideberth-{PORT}={KEY.cookie}; HttpOnly; SameSite=Strict; Path=/the-way/"
    assert ask(headers={"cookie": cookie.partition(";")[0]}).text == "let in"


@pytest.mark.parametrize("token", ["", "wrong", KEY.token[:-1], KEY.token + "x", KEY.cookie, "é"])
def test_a_wrong_token(token):
    answer = ask(f"/?token={token}", COOKIE)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(("method", "path"), [("POST", "/"), ("HEAD", "/"), ("GET", "/data")])
def test_the_token_counts_nowhere_else(method, path):
    assert ask(f"{path}?token={KEY.token}", {}, method=method).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none"])
def test_the_address_may_be_opened_from_anywhere(site):
    assert ask(f"/?token={KEY.token}", {"sec-fetch-site": site}).status_code == 200


def test_the_address_may_lead_on():
    assert leads_to("/tables/12/data%3Fa%3D1%26b%3D2") == "/tables/12/data?a=1&amp;b=2"


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "http://evil.example",
        "javascript:alert(1)",
        "/%5Cevil.example",
        "/\\evil.example",
        "/%09/evil.example",
        "/%0A/evil.example",
        "/x//evil.example",
        "/.//evil.example",
        "%20//evil.example",
        "/%C3%A9",
        "x",
        "",
    ],
)
def test_the_address_leads_nowhere_else(path):
    assert leads_to(path) == "/"


def test_where_it_leads_cannot_add_to_the_page():
    answer = ask(f"/?token={KEY.token}&next=/%22%3E%3Cscript%3E", {})
    assert "<script>" not in answer.text


def test_looking_at_where_it_leads_takes_no_time():
    assert leads_to("/" + "a" * 60_000 + "%20") == "/"


def leads_to(path: str) -> str:
    answer = ask(f"/?token={KEY.token}&next={path}", {})
    assert answer.status_code == 200
    return answer.text.partition('content="0;url=/the-way')[2].partition('"')[0]


def test_an_address_to_print():
    address = KEY.address(PORT, "/tables/1/data?a=b")
    assert address.startswith(f"http://{HOST}/the-way/?token={KEY.token}&next=")
    answer = ask(address.removeprefix(f"http://{HOST}/the-way"), {})
    assert 'url=/the-way/tables/1/data?a=b"' in answer.text
    assert KEY.address(PORT) == f"http://{HOST}/the-way/?token={KEY.token}"


# The secret part of the paths


@pytest.mark.parametrize("root", ["", "/", "/the", "/the-way-x", "/THE-WAY", "/x/the-way", "/é"])
@pytest.mark.parametrize("target", ["/", "/data", "/static/app.js", f"/?token={KEY.token}"])
def test_everything_lies_below_the_secret_part(root, target):
    answer = ask(target, with_cookie(x_wideberth=KEY.csrf), root=root)
    assert answer.status_code == 403
    assert "let in" not in answer.text
    assert "set-cookie" not in answer.headers


def test_the_secret_part_is_a_folder():
    assert ask("", root="/the-way").status_code == 403


def test_the_app_learns_where_it_lies():
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(scope["root_path"])(scope, receive, send)

    assert ask("/data", app=app).text == "/the-way"


# The cookie


@pytest.mark.parametrize("target", ["/", "/data", "/static/app.js", "/api/tables"])
@pytest.mark.parametrize(
    "cookie",
    [
        None,
        f"wideberth-{PORT}=wrong",
        f"wideberth-{PORT}=",
        f"wideberth-{PORT + 1}={KEY.cookie}",
        f"wideberth-{PORT}={KEY.token}",
        f"x=wideberth-{PORT}={KEY.cookie}",
    ],
)
def test_everything_needs_the_cookie(target, cookie):
    answer = ask(target, {} if cookie is None else {"cookie": cookie})
    assert answer.status_code == 403
    assert "open the address that `wideberth ui` printed in the terminal" in answer.text


@pytest.mark.parametrize("target", ["/", "/data", "/static/app.js", "/api/tables"])
def test_the_cookie_is_enough_to_look(target):
    assert ask(target).text == "let in"
    assert ask(target, method="HEAD").status_code == 200


def test_cookies_of_other_apps_do_not_hinder():
    others = f"a=b; wideberth-{PORT}=old; {COOKIE['cookie']}; c"
    assert ask(headers={"cookie": others}).text == "let in"


def test_a_script_is_told_in_json():
    answer = ask("/api/tables", {})
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"what", "hint"}


# Who sent it


@pytest.mark.parametrize("origin", [f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT}"])
def test_our_own_origin(origin):
    assert ask(headers=with_cookie(origin=origin)).text == "let in"


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        f"https://127.0.0.1:{PORT}",
        f"http://127.0.0.1:{PORT + 1}",
        f"http://127.0.0.1:{PORT}.evil.example",
        "http://127.0.0.1",
        "file://",
    ],
)
@pytest.mark.parametrize("target", ["/", f"/?token={KEY.token}"])
def test_a_foreign_origin(origin, target):
    assert ask(target, with_cookie(origin=origin)).status_code == 403


def test_one_foreign_origin_of_two():
    both = [("origin", f"http://{HOST}"), ("origin", "http://evil.example")]
    assert ask(headers=[*COOKIE.items(), *both]).status_code == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_pages(site):
    assert ask(headers=with_cookie(sec_fetch_site=site)).text == "let in"


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "anything"])
def test_pages_of_others(site):
    assert ask(headers=with_cookie(sec_fetch_site=site)).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_changes_need_the_header(method):
    assert ask(method=method).status_code == 403
    for wrong in ("", "wrong", KEY.cookie, KEY.token):
        assert ask(headers={**COOKIE, HEADER: wrong}, method=method).status_code == 403
    assert ask(headers={**COOKIE, HEADER: KEY.csrf}, method=method).text == "let in"


def test_the_header_does_not_replace_the_cookie():
    assert ask(headers={HEADER: KEY.csrf}, method="POST").status_code == 403


@pytest.mark.parametrize("method", ["OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "BREW"])
def test_other_methods(method):
    assert raw({**ASKED, "method": method})[0]["status"] == 405


def test_websockets_are_closed():
    said = raw({**ASKED, "type": "websocket"})
    assert [message["type"] for message in said] == ["websocket.close"]


def test_the_app_is_told_when_the_server_starts_and_ends():
    seen = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def nothing(*_: object) -> Any:
        return {}

    asyncio.run(AccessControl(app, port=PORT, key=KEY)({"type": "lifespan"}, nothing, nothing))
    assert seen == ["lifespan"]


# What answers say


@pytest.mark.parametrize(
    ("target", "headers", "status"),
    [("/", COOKIE, 200), ("/", {}, 403), (f"/?token={KEY.token}", {}, 200), ("/api/x", {}, 403)],
)
def test_every_answer_forbids_what_is_not_needed(target, headers, status):
    answer = ask(target, headers)
    assert answer.status_code == status
    said = answer.headers
    assert said["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    assert said["x-content-type-options"] == "nosniff"
    assert said["referrer-policy"] == "no-referrer"
    assert said["cross-origin-opener-policy"] == "same-origin"
    assert said["cross-origin-resource-policy"] == "same-origin"
    assert said["cache-control"] == "no-store"
    assert "camera=()" in said["permissions-policy"]


def test_an_answer_may_have_its_own_policy_but_not_all_its_own_words():
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        own = {
            "Content-Security-Policy": "sandbox",
            "Cache-Control": "private",
            "Referrer-Policy": "unsafe-url",
            "X-Other": "1",
        }
        await Response("x", headers=own)(scope, receive, send)

    said = ask(app=app).headers
    assert said.get_list("content-security-policy") == ["sandbox"]
    assert said.get_list("cache-control") == ["private"]
    assert said.get_list("referrer-policy") == ["no-referrer"]
    assert said["x-other"] == "1"


# Errors


def failing(request: Request) -> Response:
    raise KeyError(SECRET)


def halfway(request: Request) -> Response:
    def pieces():
        yield "begun"
        raise ValueError(SECRET)

    return StreamingResponse(pieces())


def panic(request: Request) -> Response:
    class Panic(BaseException):
        pass

    raise Panic(SECRET)


ROUTES = [
    Route("/bad", failing),
    Route("/api/bad", failing),
    Route("/half", halfway),
    Route("/panic", panic),
]


def safe_inside() -> Starlette:
    """Return an app with the middleware where it should be: below what Starlette says of bugs."""
    return Starlette(routes=ROUTES, middleware=[Middleware(AccessControl, port=PORT, key=KEY)])


def sent_to(app: Any, target: str) -> httpx.Response:
    async def sent() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.get(f"http://{HOST}{KEY.root}{target}", headers=COOKIE)

    return asyncio.run(sent())


def test_a_bug_is_told_without_values(capsys):
    answer = sent_to(safe_inside(), "/bad")
    assert answer.status_code == 500
    assert answer.headers["content-type"].startswith("text/html")
    assert "KeyError in test_security.py:" in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    told = capsys.readouterr()
    assert told.err.startswith(
        "error: wideberth failed unexpectedly (KeyError in test_security.py:"
    )
    assert SECRET not in answer.text + told.err + told.out
    assert "Traceback" not in told.err


def test_a_bug_is_told_to_a_script_in_json(capsys):
    answer = sent_to(safe_inside(), "/api/bad")
    assert answer.status_code == 500
    assert answer.json()["what"].startswith("wideberth failed unexpectedly (KeyError in ")
    assert answer.json()["hint"]
    assert SECRET not in answer.text


def test_a_bug_below_what_starlette_says_gives_nothing_away(capsys):
    answer = sent_to(AccessControl(Starlette(routes=ROUTES), port=PORT, key=KEY), "/bad")
    told = capsys.readouterr()
    assert answer.status_code == 500
    assert "KeyError in test_security.py:" in told.err
    assert SECRET not in answer.text + told.err + told.out


def test_a_bug_halfway_leaves_the_answer_incomplete(capsys):
    said = raw({**ASKED, "path": f"{KEY.root}/half"}, Starlette(routes=ROUTES))
    assert [message.get("body") for message in said] == [None, b"begun"]
    assert said[-1]["more_body"]  # so the server drops the connection
    told = capsys.readouterr().err
    assert "ValueError in test_security.py:" in told
    assert SECRET not in told


def test_a_panic_is_no_end(capsys):
    assert sent_to(safe_inside(), "/panic").status_code == 500
    assert SECRET not in capsys.readouterr().err


def test_more_is_shown_if_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("WIDEBERTH_TRACEBACK", "1")
    answer = sent_to(safe_inside(), "/bad")
    assert SECRET in capsys.readouterr().err
    assert SECRET not in answer.text


@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit, KeyboardInterrupt])
def test_what_ends_a_task_passes_through(error, capsys):
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise error

    async def sent() -> None:
        with pytest.raises(error):
            await AccessControl(app, port=PORT, key=KEY)(ASKED, None, None)  # type: ignore[arg-type]

    asyncio.run(sent())
    assert capsys.readouterr().err == ""


def test_who_goes_away_is_no_bug(capsys):
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("begun")(scope, receive, send)
        raise ClientDisconnect

    ask(app=app)
    assert capsys.readouterr().err == ""


# Secrets


def test_secrets_differ_and_are_not_shown():
    key = Key.new()
    secrets = [key.token, key.way, key.cookie, key.csrf]
    assert len({*secrets, KEY.token, KEY.way, KEY.cookie, KEY.csrf}) == 8
    assert all(len(secret) >= 43 for secret in secrets)
    assert not any(secret in repr(key) for secret in secrets)


def test_no_refusal_tells_a_secret():
    for headers in ({}, {"origin": "null"}):
        text = json.dumps([ask("/", headers).text, dict(ask("/", headers).headers)])
        assert not any(secret in text for secret in (KEY.token, KEY.way, KEY.cookie, KEY.csrf))
