"""The pages: one for each step, each with its own address."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from wideberth.reports.html import environment as environment_of
from wideberth.reports.html import key_figures
from wideberth.ui import api, attachments, policy_forms
from wideberth.ui.attachments import HIERARCHIES, POLICY
from wideberth.ui.choices import PRINCIPLE_KINDS, catalogue, size_principles, unfit_for_anatomy
from wideberth.ui.comparison import comparison
from wideberth.ui.open_tables import OpenTable, ReleaseRun, UnknownError, release_name
from wideberth.ui.workspace import safe_name, within

#: The steps: the name in an address, and that for people.
PAGE_STEPS = {
    "data": "Data and roles",
    "principle": "Principle",
    "anonymize": "Anonymize",
    "judge": "Risk and utility",
    "export": "Export",
}
#: How many nodes of a lattice are listed.
_NODES = 20
#: A report has its style within it, and no script.
_REPORT_CSP = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


@cache
def _environment() -> Environment:
    environment = environment_of("wideberth.ui")
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}  # what comes first is first
    environment.filters["size"] = _size
    environment.filters["coded"] = _coded
    environment.globals.update(steps=PAGE_STEPS)
    return environment


def _coded(text: str) -> Markup:
    """Show what stands between backticks as code.

    >>> _coded("see `wideberth advise` & more")
    Markup('see <code>wideberth advise</code> &amp; more')
    """
    parts = [escape(part) for part in text.split("`")]
    code = [Markup("<code>%s</code>") % part if at % 2 else part for at, part in enumerate(parts)]
    return Markup("").join(code)


def _size(number: int) -> str:
    """Write a file's size.

    >>> _size(900), _size(104_000_000)
    ('900 bytes', '104.0 MB')
    """
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= bytes_:
            return f"{number / bytes_:.1f} {unit}"
    return f"{number} bytes"


def _page(request: Request, name: str, *, status: int = 200, **shown: Any) -> Response:
    given = {
        "step": name,
        "csrf": request.app.state.csrf,
        "root": request.app.state.root,
        "table": None,
        "run": None,
        "state": {},
        "ways": {},
        **shown,
    }
    text = _environment().get_template(f"{name}.html").render(given)
    return HTMLResponse(text, status_code=status)


def refusal_page(request: Request, status: int, what: str, hint: str | None) -> Response:
    """Return a page that says what was wrong and what to do."""
    return _page(request, "refused", status=status, what=what, hint=hint)


def _about(
    request: Request, table: OpenTable, run: ReleaseRun | None = None, **state: Any
) -> dict[str, Any]:
    """Return what the pages of a table share."""
    shown = run or table.latest()
    base = api.address(request, f"/tables/{table.number}")
    ways = {step: f"{base}/{step}" for step in ("data", "principle", "anonymize")}
    if table.profile is None:
        ways = {"data": ways["data"]}
    if shown is not None and shown.result is not None:
        ways |= {step: f"{base}/runs/{shown.number}/{step}" for step in ("judge", "export")}
    if sum(other.result is not None for other in table.runs.values()) > 1:
        ways["compare"] = f"{base}/compare"
    told = {"table": table.number, **api.settings(table), **state}
    return {"table": table, "run": run, "ways": ways, "state": told}


async def home(request: Request) -> Response:
    """Show where a table is opened, and those that are open."""
    session = api.session_of(request)
    # At once, without a thread: who has closed half of the connection is still answered.
    drafts = [] if session.drafts is None else session.drafts.left()
    return _page(request, "home", opened=session.shown(), drafts=drafts)


async def data(request: Request) -> Response:
    """Show step 1: the columns and their roles."""
    from wideberth.core.types import TYPES
    from wideberth.policy.roles import LISTS

    table = api.requested_table(request)
    about = _about(request, table, job=table.job.view(), profile=table.profile)
    return _page(request, "data", **about, roles=LISTS, types=TYPES)


async def settings(request: Request) -> Response:
    """Hand over the settings as they are: the policy, with the hierarchy files that it names."""
    table = api.requested_table(request)
    if table.profile is None:
        raise UnknownError("this table was not read, so it has no settings", hint="see step 1")
    packed = await run_in_threadpool(
        attachments.packed, table.content, table.folder, name=table.name
    )
    name = safe_name(f"{Path(table.name).stem}-settings.zip")
    return Response(
        packed,
        media_type="application/zip",
        headers={"Content-Disposition": f"attachment; filename*=utf-8''{quote(name)}"},
    )


async def principle(request: Request) -> Response:
    """Show step 2: what nobody must learn, and what is possible."""
    table = api.requested_table(request)
    if table.profile is None:
        return RedirectResponse(api.address(request, f"/tables/{table.number}/data"), 303)
    about = _about(
        request, table, profile=_outline(table), catalogue=catalogue(), kinds=PRINCIPLE_KINDS
    )
    return _page(request, "principle", **about)


async def anonymize(request: Request) -> Response:
    """Show step 3: how the release is made, and that it is being made."""
    from wideberth.policy.settings import ALGORITHMS, CUTS, DEALING, MEASURES, METHODS

    table = api.requested_table(request)
    if table.profile is None:
        return RedirectResponse(api.address(request, f"/tables/{table.number}/data"), 303)
    # A refusal of other settings than these would only confuse.
    runs = [
        {**api.run_as_dict(run), "current": run.content == table.content}
        for run in table.runs.values()
    ]
    return _page(
        request,
        "anonymize",
        **_about(
            request,
            table,
            runs=runs,
            possible=table.possible,
            unfit=unfit_for_anatomy(),
            of_size=size_principles(),
        ),
        runs=list(reversed(table.runs.values())),
        choices={"algorithm": ALGORITHMS, "cuts": CUTS, "dealing": DEALING, "measure": MEASURES,
                 "method": METHODS},
    )  # fmt: skip


def _outline(table: OpenTable) -> dict[str, Any]:
    """Return the part of a profile that needs no values."""
    profile = table.profile or {}
    names = ("name", "type", "distinct", "missing", "part_of")
    columns = [{key: column[key] for key in names} for column in profile.get("columns", ())]
    return {"rows": profile.get("rows"), "columns": columns}


def _made(request: Request) -> tuple[OpenTable, ReleaseRun, dict[str, Any]]:
    """Return a run that made a release."""
    table, run = api.requested_table(request), api.run_of(request)
    if run.result is None:
        raise UnknownError(f"run {run.number} made no release", hint="see Anonymize")
    return table, run, run.result


async def judge(request: Request) -> Response:
    """Show step 4: what an adversary learns, and what the release is worth."""
    table, run = api.requested_table(request), api.run_of(request)
    if run.result is None:  # still at work, or in vain: that is shown where it was started
        return RedirectResponse(api.address(request, f"/tables/{table.number}/anonymize"), 303)
    made = run.result
    about = _about(request, table, run, charts=made["charts"], judged=run.number)
    return _page(
        request,
        "judge",
        **about,
        report=made["report"],
        problem=made.get("problem"),
        glance=key_figures(made["report"]) if made["report"] else [],
        manifest=made["manifest"],
        charts=made["charts"],
        nodes=_nodes(made["nodes"], made["manifest"]),
        previews=made["previews"],
        others=[other for other in table.runs.values() if other.result is not None],
    )


def _nodes(found: Mapping[str, Any] | None, manifest: Mapping[str, Any]) -> Any:
    """Return the minimal nodes of a lattice as they are listed, the best first."""
    if not found or not found["minimal"]:
        return None
    measure = found["measure"]
    ranked = sorted(found["minimal"], key=lambda node: node["scores"][measure])
    return {
        "measure": measure,
        "proven": found["proven"],
        "columns": list(ranked[0]["levels"]),
        "examples": {
            name: dict(zip(levels, found["examples"][name], strict=True))
            for name, levels in found["quasi"].items()
        },
        "published": manifest["lattice"]["rounds"][0]["levels"],
        "shown": ranked[:_NODES],
        "more": max(len(ranked) - _NODES, 0),
    }


async def compare(request: Request) -> Response:
    """Show several runs side by side."""
    table = api.requested_table(request)
    runs = [run for run in table.runs.values() if run.result is not None]
    found = comparison(runs, table.weighed)
    about = _about(request, table, charts={"compared": found["charts"]}, waiting=found["waiting"])
    return _page(request, "compare", **about, found=found, rows=found["rows"])


async def export(request: Request) -> Response:
    """Show step 5: what there is to take along."""
    table, run, made = _made(request)
    output = release_name(run)
    files = _files(run, made)
    return _page(
        request,
        "export",
        **_about(request, table, run),
        parts=[
            (title, words, packed, [file for file in files if file["part"] == packed])
            for packed, (title, words) in _PARTS.items()
        ],
        offered=_is_offered(request, made),
        judged=made["report"] is not None,
        problem=made.get("problem"),
        policy=(run.folder / POLICY).read_text(encoding="utf-8"),
        command=policy_forms.command_line(
            run.content, table=table.name, output=output, report="report.html"
        ),
        python=policy_forms.python(run.content, table=table.name, output=output),
    )


#: What each file is, by how its name begins or ends.
_WORDS = {
    POLICY: "the settings, to make the release again, here or on the command line: no data",
    "report.html": "risk, worth, promise and limits: for those who decide whether to publish",
    "report.json": "the same for programs",
    "manifest.json": "how the release was made and what it promises: goes with the release",
    f"{HIERARCHIES}/": "a hierarchy that the policy names; it lists values, so it is for you alone",
    "release/quasi": "the release: exact columns, and the group of each row",
    "release/sensitive": "the release: the sensitive values of each group",
    "release.": "the release: this is what recipients get",
}


#: What is packed together: how it is headed, and why these files.
_PARTS = {
    "recipients.zip": (
        "For recipients",
        "The release, and the manifest, which states what the release promises. Neither holds a "
        "seed or a key.",
    ),
    "for-you-alone.zip": (
        "For you alone",
        "The report compares the release with the original table, hierarchies list its values, "
        "and with the policy you make the release again. Recipients need none of it; show the "
        "report to those who decide whether to publish.",
    ),
}
#: With this in its address, the page offers the files of a run that was not judged.
_UNJUDGED = "unjudged"


def _is_offered(request: Request, made: Mapping[str, Any]) -> bool:
    """Return whether files are handed over: of a run that was not judged only on demand."""
    return made["report"] is not None or request.query_params.get(_UNJUDGED) == "yes"


def _part(name: str) -> str:
    """Return with which files a file is packed."""
    mine = name.startswith((POLICY, "report.", f"{HIERARCHIES}/"))
    return "for-you-alone.zip" if mine else "recipients.zip"


def _files(run: ReleaseRun, made: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List what can be taken along: name, size, and what it is."""
    kept = sorted(f"{HIERARCHIES}/{path.name}" for path in (run.folder / HIERARCHIES).glob("*"))
    names = [*made["files"], POLICY, *kept]
    return [
        {
            "name": name,
            "part": _part(name),
            "bytes": _path(run, made, name).stat().st_size,
            "words": next(
                said
                for part, said in _WORDS.items()
                if name.endswith(part) or name.startswith(part)
            ),
        }
        for name in names
    ]


def _path(run: ReleaseRun, made: Mapping[str, Any], name: str) -> Path:
    """Return where a file of a run lies, by the name under which it is offered."""
    return within(run.made if name in made["files"] else run.folder, name)


async def file(request: Request) -> Response:
    """Hand over one of a run's files, or those that belong together packed."""
    _, run, made = _made(request)
    name = request.path_params["name"]
    if not _is_offered(request, made):
        raise UnknownError(
            f"run {run.number} was not judged, so its files are handed over only on demand",
            hint="see Export",
        )
    files = _files(run, made)
    if name in _PARTS:
        names = [file["name"] for file in files if file["part"] == name]
        packed = await run_in_threadpool(_packed, run, made, name, names)
        judged = "" if made["report"] is not None else "-not-judged"
        return FileResponse(packed, filename=f"run-{run.number}{judged}-{name}")
    if name not in [file["name"] for file in files]:
        raise UnknownError("there is no such file of this run", hint="see Export")
    path = _path(run, made, name)
    return FileResponse(path, filename=path.name, media_type="application/octet-stream")


def _packed(run: ReleaseRun, made: Mapping[str, Any], called: str, names: list[str]) -> Path:
    """Pack files beside them, once; what is there under that name is whole."""
    packed = run.folder / called
    if not packed.exists():
        with (
            NamedTemporaryFile(dir=run.folder, delete=False) as draft,
            zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            for name in names:
                archive.write(_path(run, made, name), f"run-{run.number}/{name}")
        Path(draft.name).replace(packed)
    return packed


async def report(request: Request) -> Response:
    """Show the report, as the file shows it."""
    _, run, made = _made(request)
    path = _path(run, made, "report.html")
    return FileResponse(
        path, media_type="text/html", headers={"Content-Security-Policy": _REPORT_CSP}
    )
