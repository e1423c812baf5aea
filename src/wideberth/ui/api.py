"""What the pages' scripts ask for: JSON in, JSON out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from wideberth.errors import OutputError, ParameterError, PolicyError, TableError, WideberthError
from wideberth.io import documents
from wideberth.ui.attachments import MAX_ATTACHMENT_BYTES, POLICY, tree_rows
from wideberth.ui.comparison import RunComparison
from wideberth.ui.open_tables import (
    AppSession,
    OpenTable,
    ReleaseRun,
    principles_in_words,
    release_name,
)
from wideberth.ui.saved import SavedSettings
from wideberth.ui.workspace import RefusedError, safe_name, small_file

#: How much of an upload is held in memory, and how large a policy may be.
_PIECE, _SMALL = 1 << 20, 1 << 20


def routes() -> list[Route]:
    """Return all routes below /api."""
    table, run = "/tables/{table}", "/tables/{table}/runs/{run}"
    return [
        Route("/tables", open_path, methods=["POST"]),
        Route("/tables/upload", upload, methods=["POST"]),
        Route("/drafts/{draft}", take_up, methods=["POST"]),
        Route("/drafts/{draft}", forget, methods=["DELETE"]),
        Route(table, state),
        Route(table, close, methods=["DELETE"]),
        Route(f"{table}/reread", reread, methods=["POST"]),
        Route(f"{table}/plan", change, methods=["PUT"]),
        Route(f"{table}/policy", apply_policy, methods=["POST"]),
        Route(f"{table}/advice", advice, methods=["POST"]),
        Route(f"{table}/possible", possible, methods=["POST"]),
        Route(f"{table}/fits", fits, methods=["POST"]),
        Route(f"{table}/protect", protect, methods=["POST"]),
        Route(f"{table}/hierarchy", saved_tree),
        Route(f"{table}/hierarchy", hierarchy, methods=["POST"]),
        Route(f"{table}/hierarchy/usual", usual_hierarchies, methods=["POST"]),
        Route(f"{table}/hierarchy/file", hierarchy_file, methods=["POST"]),
        Route(f"{table}/runs", start_run, methods=["POST"]),
        Route(run, run_state),
        Route(f"{table}/weigh", weigh, methods=["POST"]),
        Route(f"{run}/cancel", cancel, methods=["POST"]),
        Route(f"{run}/reopen", reopen, methods=["POST"]),
    ]


def session_of(request: Request) -> AppSession:
    """Return the session that the app serves."""
    session: AppSession = request.app.state.session
    return session


def requested_table(request: Request) -> OpenTable:
    """Return the table that an address names."""
    return session_of(request).table(request.path_params["table"])


def requested_settings(request: Request, number: str | None) -> SavedSettings | None:
    """Return the kept settings that a request names, if it names any."""
    drafts = session_of(request).drafts
    return None if number is None or drafts is None else drafts.named(number)


def address(request: Request, path: str) -> str:
    """Return the address of a page, as a browser needs it."""
    return f"{request.app.state.root}{path}"


def run_of(request: Request) -> ReleaseRun:
    """Return the run that an address names."""
    return session_of(request).run(request.path_params["table"], request.path_params["run"])


async def open_path(request: Request) -> Response:
    """Open a table by its path."""
    given = await _body(request)
    opened = await session_of(request).open_path(_text(given, "path"))
    return _opened(request, opened)


async def upload(request: Request) -> Response:
    """Take in a file piece by piece, without ever holding all of it, and open it."""
    session = session_of(request)
    name = safe_name(request.query_params.get("name", ""))
    draft = requested_settings(request, request.query_params.get("draft"))
    number, folder = session.new_folder()
    try:
        with session.workspace.file(folder, name) as file:
            await _store(request.stream(), file)
    except ClientDisconnect:  # nobody waits for an answer
        session.discard(folder)
        return Response(status_code=400)
    except OSError as error:
        session.discard(folder)
        raise OutputError(
            f"the upload could not be kept: {error.strerror}",
            hint="open the table by its path, which copies nothing",
        ) from None
    return _opened(request, await session.open(number, folder, folder / name, draft))


async def take_up(request: Request) -> Response:
    """Open a table again by its path, with the settings that were kept."""
    draft = requested_settings(request, request.path_params["draft"])
    if draft is None or draft.path is None:
        raise TableError("the table was uploaded, and no copy is kept", hint="choose it again")
    return _opened(request, await session_of(request).open_path(draft.path, draft))


async def forget(request: Request) -> Response:
    """Remove settings that were kept."""
    if draft := requested_settings(request, request.path_params["draft"]):
        draft.remove()
    return JSONResponse({"url": address(request, "/")})


async def _store(stream: AsyncIterator[bytes], file: IO[bytes]) -> None:
    pieces: list[bytes] = []
    held = 0
    async for piece in stream:
        pieces.append(piece)
        held += len(piece)
        if held >= _PIECE:
            await run_in_threadpool(file.writelines, pieces)
            pieces, held = [], 0
    await run_in_threadpool(file.writelines, pieces)


def _opened(request: Request, table: OpenTable) -> Response:
    page = address(request, f"/tables/{table.number}/data")
    return JSONResponse({"table": table.number, "url": page})


async def state(request: Request) -> Response:
    """Return the state of a table: reading, profile, settings and runs."""
    table = requested_table(request)
    return JSONResponse(
        {
            "table": table.number,
            "name": table.name,
            "job": table.job.view(),
            "profile": table.profile,
            **settings(table),
            "runs": [run_as_dict(run) for run in table.runs.values()],
        }
    )


def settings(table: OpenTable) -> dict[str, Any]:
    """Return the settings as a page's script changes them."""
    return {
        "content": table.content,
        "seed": table.seed,
        "version": table.version,
        "asked": principles_in_words(table.content),
    }


def run_as_dict(run: ReleaseRun) -> dict[str, Any]:
    """Return the state of a run, as plain values."""
    return {"run": run.number, "settings": run.settings, "job": run.job.view()}


async def weigh(request: Request) -> Response:
    """Measure all runs of a table on one yardstick."""
    table = requested_table(request)
    yardstick = RunComparison.of([run for run in table.runs.values() if run.result is not None])
    runs = [
        {
            "run": run.number,
            "release": str(run.made / release_name(run)),
            "content": run.content,
            "folder": str(run.folder),
            "group": None if run.is_anatomy else (run.result or {})["manifest"]["group"],
        }
        for run in yardstick.lacking(table.weighed)
    ]
    asked = {"path": str(table.path), "runs": runs, "reaches": yardstick.reaches}
    found = await _waited(request, "weigh", asked)
    for number, risks in found["runs"].items():
        for on, worst in risks.items():
            table.weighed[int(number), on, yardstick.reaches[on]] = worst
    return JSONResponse({"measured": sum(map(len, found["runs"].values()))})


async def close(request: Request) -> Response:
    """Close a table."""
    await session_of(request).close_table(requested_table(request).number)
    return JSONResponse({"url": address(request, "/")})


async def reread(request: Request) -> Response:
    """Read a table's file differently: another delimiter, encoding, or tokens for missing."""
    table, given = requested_table(request), await _body(request)
    await session_of(request).reread(table, {key: value for key, value in given.items() if value})
    return _opened(request, table)


async def change(request: Request) -> Response:
    """Replace the settings of a table."""
    table, given = requested_table(request), await _body(request)
    content, version, seed = (given.get(key) for key in ("content", "version", "seed"))
    if not isinstance(content, dict) or not isinstance(version, int):
        raise ParameterError("settings are a policy and the version that was read")
    if seed is not None and not (isinstance(seed, int) and seed >= 0):
        raise ParameterError("a seed is a whole number from 0", hint="leave it empty")
    table.change(content, version, seed)
    return JSONResponse(settings(table))


async def apply_policy(request: Request) -> Response:
    """Take the settings of a policy file, by its path or as it was uploaded."""
    session, table = session_of(request), requested_table(request)
    if request.headers.get("content-type", "").startswith("application/json"):
        path = Path(os.path.expanduser(_text(await _body(request), "path")))
        try:
            data = await run_in_threadpool(small_file, path, MAX_ATTACHMENT_BYTES)
        except (OSError, RefusedError):
            raise PolicyError("there is no such policy file", hint="the whole path") from None
        lacking = session.apply_policy(table, data, path.resolve().parent)
    else:
        data = await _small(request, MAX_ATTACHMENT_BYTES)
        lacking = session.apply_policy(table, data, None)
    return JSONResponse({**settings(table), "lacking": lacking})


async def advice(request: Request) -> Response:
    """Return what is possible for a sensitive column, and hand over the picture of it."""
    from wideberth.ui.comparison import pictured

    table = requested_table(request)
    column = _text(await _body(request), "column")
    session = session_of(request)
    found = await _waited(request, "advise", session.asked(table, column=column))
    return JSONResponse({**found, "spec": pictured(found)})


async def possible(request: Request) -> Response:
    """Return for each principle, and for all together, whether some grouping satisfies it."""
    session, table = session_of(request), requested_table(request)
    question, known = table.question, table.possible
    if known is None:
        known = await _waited(request, "possible", session.asked(table))
        table.judged = question, known
    return JSONResponse(known)


async def fits(request: Request) -> Response:
    """Refuse a type that some value of a column does not have."""
    session, table, given = session_of(request), requested_table(request), await _body(request)
    column, kind = _text(given, "column"), _text(given, "type")
    return JSONResponse(
        await _waited(request, "fits", session.asked(table, column=column, kind=kind))
    )


async def protect(request: Request) -> Response:
    """Propose principles for a column that became sensitive."""
    session, table = session_of(request), requested_table(request)
    column = _text(await _body(request), "column")
    return JSONResponse(await _waited(request, "protect", session.asked(table, column=column)))


async def _waited(request: Request, task: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Do a job for a page that waits for it; end it if the page does so no longer."""
    work = asyncio.create_task(session_of(request).jobs.run(task, arguments))
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientDisconnect
        return work.result()
    finally:
        work.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def hierarchy(request: Request) -> Response:
    """Try a hierarchy on a column: a rule, or rows of a value and what it belongs to."""
    session, table, given = session_of(request), requested_table(request), await _body(request)
    column, rule = _text(given, "column"), given.get("rule")
    if rows := given.get("rows"):
        # A file without a header: none of its values may be taken for one.
        rule = {
            "file": session.attach(table, column, _delimited(rows), written=True),
            "header": False,
        }
    return JSONResponse(await _tried(request, table, column, rule))


async def saved_tree(request: Request) -> Response:
    """Return the tree of a column that is in the settings, a row for each value, to edit it."""
    table = requested_table(request)
    column = request.query_params.get("column", "")
    rule = table.content.get("hierarchies", {}).get(column)
    try:
        rows = await run_in_threadpool(tree_rows, rule, column, table.folder)
    except WideberthError:  # whoever tries it is told what is wrong
        rows = []
    return JSONResponse({"rows": rows})


async def hierarchy_file(request: Request) -> Response:
    """Try a hierarchy file on a column."""
    session, table = session_of(request), requested_table(request)
    asked = request.query_params
    column, called = asked.get("column", ""), asked.get("name") or asked.get("column", "")
    name = await run_in_threadpool(
        session.attach, table, called, await _small(request, MAX_ATTACHMENT_BYTES)
    )
    parents = asked.get("form") == "parents"
    rule = {"parents": name} if parents else name
    return JSONResponse(await _tried(request, table, column, rule))


async def usual_hierarchies(request: Request) -> Response:
    """Propose hierarchies for quasi-identifiers that have none."""
    from wideberth.core.names import expand_short_forms

    session, table = session_of(request), requested_table(request)
    columns = [
        name
        for name in expand_short_forms(
            table.content.get("roles", {}).get("quasi", ()), table.columns
        )
        if name not in table.content.get("hierarchies", {})
    ]
    return JSONResponse(await _waited(request, "usual", session.asked(table, columns=columns)))


async def _tried(request: Request, table: OpenTable, column: str, rule: Any) -> dict[str, Any]:
    """Return what a rule makes of a column, and the rule as the settings will name it."""
    table.valid({**table.content, "hierarchies": {column: rule}})
    asked = session_of(request).asked(table, column=column, rule=rule)
    found = await _waited(request, "hierarchy", asked)
    return {**found, "rule": rule}


async def start_run(request: Request) -> Response:
    """Make a release by the settings as they are."""
    table = requested_table(request)
    run = await session_of(request).start_run(table)
    page = address(request, f"/tables/{table.number}/runs/{run.number}/judge")
    return JSONResponse({**run_as_dict(run), "url": page, "now": settings(table)})


async def run_state(request: Request) -> Response:
    """Return how far a run is."""
    return JSONResponse(run_as_dict(run_of(request)))


async def cancel(request: Request) -> Response:
    """End a run."""
    run = run_of(request)
    await run.job.cancel()
    return JSONResponse(run_as_dict(run))


async def reopen(request: Request) -> Response:
    """Take the settings of a run again, with the levels of a node if one is named."""
    session, table, run = session_of(request), requested_table(request), run_of(request)
    given = await _body(request)
    session.apply_policy(table, (run.folder / POLICY).read_bytes(), run.folder)
    content = table.content
    if (levels := given.get("levels")) is not None:
        content = {**content, "transform": {**content.get("transform", {}), "levels": levels}}
    table.change(content, table.version, None)  # a seed is for one run
    return JSONResponse(settings(table))


async def _body(request: Request) -> dict[str, Any]:
    try:
        given = documents.json((await _small(request) or b"{}").decode())
    except UnicodeDecodeError:
        given = None
    if not isinstance(given, dict):
        raise ParameterError("the request is no JSON object")
    return given


async def _small(request: Request, most: int = _SMALL) -> bytes:
    """Read a body that is held in memory, up to a limit."""
    held = bytearray()
    async for piece in request.stream():
        held += piece
        if len(held) > most:
            raise TableError("the file is too large", hint="a policy or a hierarchy is smaller")
    return bytes(held)


def _text(given: dict[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or "\0" in value:
        raise ParameterError(f"{key} must be text")
    return value


def _delimited(rows: Any) -> bytes:
    """Write rows of texts as a hierarchy file."""
    import csv
    import io

    if not isinstance(rows, list) or not all(
        isinstance(row, list) and all(isinstance(cell, str) for cell in row) for row in rows
    ):
        raise ParameterError("a tree is rows of texts: a value and what it belongs to")
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
