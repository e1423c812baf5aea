"""The app: which address is answered by what, and how errors are told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from wideberth.errors import WideberthError
from wideberth.ui import api, pages
from wideberth.ui.open_tables import AppSession, ChangedError, UnknownError
from wideberth.ui.security import AccessControl, Key

_STATIC = Path(__file__).parent / "static"
_STATUS = {ChangedError: 409, UnknownError: 404}

_TABLE = "/tables/{table}"
_RUN = "/tables/{table}/runs/{run}"


async def _nothing() -> None:
    return


def create(
    session: AppSession, *, key: Key, port: int, ready: Callable[[], Awaitable[None]] = _nothing
) -> Starlette:
    """Return the app of a session; `ready` is awaited before it answers."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await ready()
        yield
        await session.jobs.close()

    app = Starlette(
        routes=[
            Route("/", pages.home),
            Route(f"{_TABLE}/data", pages.data),
            Route(f"{_TABLE}/principle", pages.principle),
            Route(f"{_TABLE}/anonymize", pages.anonymize),
            Route(f"{_TABLE}/compare", pages.compare),
            Route(f"{_TABLE}/settings.zip", pages.settings),
            Route(f"{_RUN}/judge", pages.judge),
            Route(f"{_RUN}/export", pages.export),
            Route(f"{_RUN}/report", pages.report),
            Route(f"{_RUN}/files/{{name:path}}", pages.file),
            Mount("/api", routes=api.routes()),
            Mount("/static", StaticFiles(directory=_STATIC)),
        ],
        exception_handlers={
            WideberthError: _refused,
            HTTPException: _missing,
            ClientDisconnect: _unheard,
        },
        middleware=[Middleware(AccessControl, port=port, key=key)],
        lifespan=lifespan,
    )
    app.state.session = session
    app.state.csrf = key.csrf
    app.state.root = key.root
    return app


async def _refused(request: Request, error: Exception) -> Response:
    """Return what was wrong, to the page's script or to the reader."""
    assert isinstance(error, WideberthError)  # noqa: S101
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 422)
    kind = getattr(error, "kind", type(error).__name__)
    proof = {
        key: value
        for key in ("outcome", "witness", "tries")
        if (value := getattr(error, key, None)) is not None
    }
    return _told(request, status, error.what, error.hint, kind, **proof)


async def _unheard(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    what = "there is no such page" if error.status_code == 404 else str(error.detail)
    return _told(request, error.status_code, what, "begin at the first page", "HTTPException")


def _told(
    request: Request, status: int, what: str, hint: str | None, kind: str, **proof: Any
) -> Response:
    if request.url.path.startswith(f"{request.app.state.root}/api/"):
        told = {"what": what, "hint": hint, "kind": kind, **proof}
        return JSONResponse(told, status_code=status)
    return pages.refusal_page(request, status, what, hint)
