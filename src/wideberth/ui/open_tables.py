"""The session of the app: the tables that are open, each with its policy and its runs.

The settings of a table are the content of a policy file, nothing else; only a seed, which is for
tests, is kept apart. Going back a step therefore undoes nothing and loses nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import stat
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wideberth.core.text import principle_in_words
from wideberth.errors import TableError, WideberthError
from wideberth.policy.policy import normal
from wideberth.policy.roles import UNDECIDED, require_decided
from wideberth.ui import attachments, policy_forms
from wideberth.ui.attachments import HIERARCHIES, MAX_ATTACHMENT_BYTES, POLICY
from wideberth.ui.jobs import Job, Jobs
from wideberth.ui.saved import SavedSettings, SettingsStore
from wideberth.ui.workspace import Workspace, small_file, within

Content = dict[str, Any]

#: Letters of a path that a message shows.
_SHOWN = 300


class ChangedError(WideberthError):
    """Settings that were changed elsewhere, in another tab, since they were read."""


class UnknownError(WideberthError):
    """A table or a run that is not there, or no longer."""


def principles_in_words(content: Content) -> list[str]:
    """Write what a policy asks of groups, a text for each principle.

    >>> asked = {"name": "epsilon-m", "on": "pay", "epsilon": 4500, "m": 5}
    >>> principles_in_words({"principle": [asked]})
    ['epsilon-m (epsilon = 4,500, m = 5) on pay']
    """
    said = []
    for entry in content.get("principle", ()):
        given = {key: value for key, value in entry.items() if key not in ("name", "on")}
        on = entry.get("on")
        where = f" on {on if isinstance(on, str) else '+'.join(on)}" if on else ""
        said.append(principle_in_words(entry["name"], given) + where)
    return said


def _said(value: Any) -> str:
    """Write a setting: a word, a number, or one for each column."""
    if isinstance(value, dict):
        return " ".join(f"{key}={each}" for key, each in value.items())
    return str(value)


@dataclass
class ReleaseRun:
    """One release that was asked for: with which settings, and what became of it."""

    number: int
    content: Content
    seed: int | None
    folder: Path
    job: Job

    @property
    def result(self) -> dict[str, Any] | None:
        """What was made, once it is."""
        return self.job.result

    @property
    def made(self) -> Path:
        """Where the release and the report lie."""
        return self.folder / "made"

    @property
    def is_anatomy(self) -> bool:
        """Whether the release is two tables, in a folder."""
        return self.content.get("transform", {}).get("algorithm") == "anatomy"

    @property
    def settings(self) -> str:
        """The settings in a line: principles, algorithm, and what else was chosen."""
        chosen = dict(self.content.get("transform", {}))
        algorithm = str(chosen.pop("algorithm", "mondrian"))
        more = [f"{key.replace('_', ' ')} {_said(value)}" for key, value in chosen.items() if value]
        return "; ".join([*principles_in_words(self.content), ", ".join([algorithm, *more])])


def release_name(run: ReleaseRun) -> str:
    """Return what the release of a run is called: a file, or the folder of its two tables."""
    return str((run.result or {})["files"][0]).partition("/")[0]


@dataclass
class OpenTable:
    """A table that is open."""

    number: str  # in the addresses of its pages
    name: str
    path: Path  # the custodian's own file, or what was uploaded
    folder: Path  # private: hierarchy files and runs
    job: Job  # reads the table; its result is the profile
    draft: SavedSettings | None = None  # where the settings are kept for the next time
    taking: SavedSettings | None = None  # settings to take up as soon as the table is read
    notice: dict[str, Any] | None = None  # what became of them: kind, what and hint of a message
    content: Content = field(default_factory=dict)
    seed: int | None = None
    version: int = 0
    runs: dict[int, ReleaseRun] = field(default_factory=dict)
    begun: int = 0
    weighed: dict[tuple[int, str, str], float] = field(default_factory=dict)
    judged: tuple[str, dict[str, Any]] | None = None

    @property
    def profile(self) -> dict[str, Any] | None:
        """What was found out about the table, once it was read."""
        return self.job.result

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [column["name"] for column in (self.profile or {}).get("columns", ())]

    def settle(self) -> None:
        """Take the proposed policy, as soon as there is one, for the settings to begin with."""
        if not self.content and self.profile is not None:
            self.content = deepcopy(self.profile["proposal"])

    def change(self, content: Content, version: int, seed: int | None) -> None:
        """Replace the settings, unless somebody else did so meanwhile."""
        if version != self.version:
            raise ChangedError(
                "these settings were changed in another tab", hint="reload the page to see them"
            )
        self.content, self.seed = self.valid(content), seed
        self.version += 1
        self.notice = None
        self.keep()

    def keep(self) -> None:
        """Let the settings outlive the app, if they can; that is no reason to stop working."""
        if self.draft is None:
            return
        try:
            self.draft.keep(self.content, self.folder)
        except (OSError, WideberthError) as error:
            reason = getattr(error, "strerror", None) or "the state folder cannot be used"
            self.notice = {
                "kind": "caution",
                "what": f"these settings are lost when the app ends: {reason}",
                "hint": "download them below",
            }

    def valid(self, content: Content) -> Content:
        """Return settings in their one form; refuse those that name files of others."""
        settings = normal(content, folder=self.folder)
        for name in policy_forms.files_of(settings).values():
            within(self.folder / HIERARCHIES, name.removeprefix(f"{HIERARCHIES}/"))
        return settings

    @property
    def question(self) -> str:
        """What the answer of :attr:`possible` depends on: all but how the work is done."""
        transform = self.content.get("transform", {})
        kept = {key: transform.get(key) for key in ("algorithm", "max_memory")}
        return json.dumps({**self.content, "transform": kept}, sort_keys=True)

    @property
    def possible(self) -> dict[str, Any] | None:
        """What is known of the principles on this table, if that was asked with these settings."""
        return self.judged[1] if self.judged and self.judged[0] == self.question else None

    def latest(self) -> ReleaseRun | None:
        """Return the last run that made a release."""
        made = [run for run in self.runs.values() if run.result is not None]
        return made[-1] if made else None


def table_file(text: str) -> Path:
    """Return the file that somebody names, if there is one."""
    path = Path(os.path.expanduser(text.strip())).absolute()
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # not there, not for us, or no name at all
        shown = os.fsencode(path).decode(errors="replace")[:_SHOWN]
        raise TableError(f"there is no file {shown}", hint="check the path") from None
    if not stat.S_ISREG(mode):
        raise TableError("that is no file", hint="name one file: CSV, Parquet or Arrow")
    return path.resolve()


class AppSession:
    """The open tables."""

    def __init__(
        self, workspace: Workspace, jobs: Jobs, drafts: SettingsStore | None = None
    ) -> None:
        self.workspace = workspace
        self.jobs = jobs
        self.drafts = drafts
        self.tables: dict[str, OpenTable] = {}
        self._tidying: set[asyncio.Task[None]] = set()

    def table(self, number: str) -> OpenTable:
        """Return an open table, its settings ready if it was read."""
        if number not in self.tables:
            raise UnknownError("there is no such table, or it was closed", hint="open it again")
        table = self.tables[number]
        table.settle()
        if table.taking is not None and table.profile is not None:
            draft, table.taking = table.taking, None
            self._take_up(table, draft)
        return table

    def shown(self) -> list[OpenTable]:
        """Return the tables that are open; one that could not be read is not."""
        return [one for one in self.tables.values() if one.job.state in ("running", "done")]

    def _take_up(self, table: OpenTable, draft: SavedSettings) -> None:
        """Take the settings of an earlier day, and go on with them."""
        fresh, table.draft = table.draft, draft
        try:
            if not draft.hold():
                raise UnknownError("their table is open already", hint="close it there first")
            lacking = self.apply_policy(table, draft.policy(), draft.folder)
        except (OSError, WideberthError) as error:
            table.draft = fresh
            draft.release()
            what = error.what if isinstance(error, WideberthError) else "they cannot be read"
            hint = error.hint if isinstance(error, WideberthError) else None
            table.notice = {
                "kind": "bad",
                "what": f"the kept settings do not fit this table and stay as they are: {what}",
                "hint": hint,
            }
            return
        if lacking:
            what = f"settings taken up, but the hierarchies of {', '.join(lacking)} are lost"
            table.notice = {"kind": "caution", "what": what, "hint": "attach them again"}
        else:
            what = f"the settings of {draft.when} are taken up again"
            table.notice = {"kind": "good", "what": what, "hint": None}

    def run(self, number: str, run: str) -> ReleaseRun:
        """Return a run of an open table."""
        found = {str(each.number): each for each in self.table(number).runs.values()}
        if run not in found:
            raise UnknownError("there is no such run of this table", hint="see Anonymize")
        return found[run]

    def new_folder(self) -> tuple[str, Path]:
        """Make a private folder for a table, and the number to name it by."""
        number = secrets.token_hex(4)
        return number, self.workspace.folder(number)

    async def open_path(self, text: str, taking: SavedSettings | None = None) -> OpenTable:
        """Open a table that lies on this machine, where it lies."""
        path = table_file(text)
        number, folder = self.new_folder()
        return await self.open(number, folder, path, taking)

    async def open(
        self, number: str, folder: Path, path: Path, taking: SavedSettings | None = None
    ) -> OpenTable:
        """Open a file as a table, with the settings of an earlier day if there are any."""
        # If the job cannot begin, the folder of the table is removed.
        for other in [one for one in self.tables.values() if one not in self.shown()]:
            await self.close_table(other.number)  # nothing came of it, and its file lies here
        asked = {"path": str(path)} | ({"options": taking.options()} if taking else {})
        try:
            job = await self.jobs.start("open", asked)
        except BaseException:  # too many others, or nobody waits any more
            self.discard(folder)
            raise
        # A name need not be text that can be written in a page.
        name = os.fsencode(path.name).decode(errors="replace")
        own = None if path.is_relative_to(folder) else os.fsencode(path).decode(errors="replace")
        draft = None if self.drafts is None else self.drafts.new(name, own)
        self.tables[number] = OpenTable(number, name, path, folder, job, draft, taking)
        return self.tables[number]

    async def reread(self, table: OpenTable, options: dict[str, Any]) -> None:
        """Read a table differently; if that fails, it stays as it is."""
        # Types are guessed anew. Roles and the rest stay, if there are the same columns.
        job = await self._started(table, "open", {"path": str(table.path), "options": options})
        await job.finished()
        proposal, before = job.outcome()["proposal"], table.columns
        table.job = job
        kept = dict(table.content) if table.columns == before else {}
        kept.pop("table", None)
        table.content = {**proposal, **kept, "types": proposal["types"]}
        table.version += 1
        table.keep()

    def discard(self, folder: Path) -> None:
        """Remove what was begun and came to nothing."""
        shutil.rmtree(folder, ignore_errors=True)

    async def close_table(self, number: str) -> None:
        """Close a table: end its jobs and remove what is private of it; its settings are kept."""
        table = self.tables.pop(number, None)  # first, so that nothing new is begun on it
        if table is None:
            return
        for job in [table.job, *(run.job for run in table.runs.values())]:
            await job.cancel()
        await asyncio.to_thread(self.discard, table.folder)
        if table.draft is not None:
            table.draft.release()

    async def _started(self, table: OpenTable, task: str, asked: dict[str, Any]) -> Job:
        """Start a job on a table, unless the table is closed meanwhile."""
        job = await self.jobs.start(task, asked)
        if table.number not in self.tables:
            await job.cancel()
            self.discard(table.folder)
            raise UnknownError("the table was closed", hint="open it again")
        return job

    def asked(self, table: OpenTable, **more: Any) -> dict[str, Any]:
        """Return what jobs on a table are told."""
        return {
            "path": str(table.path),
            "content": table.content,
            "folder": str(table.folder),
            **more,
        }

    async def start_run(self, table: OpenTable) -> ReleaseRun:
        """Make a release by the table's settings, in a folder of its own."""
        require_decided(table.content.get("roles", {}).get(UNDECIDED, ()))
        table.begun += 1
        number, content, seed = table.begun, deepcopy(table.content), table.seed
        folder = self.workspace.folder(f"{table.number}/run-{number}")
        try:
            with self.workspace.file(folder, POLICY) as file:
                file.write(policy_forms.policy_toml(content, name=table.name).encode())
            attachments.copy(table.folder, folder, content)
            output = self.workspace.folder(f"{table.number}/run-{number}/made")
            asked = self.asked(table, seed=seed, output=str(output))
            job = await self._started(table, "release", {**asked, "folder": str(folder)})
        except BaseException:
            self.discard(folder)
            raise
        table.runs[number] = ReleaseRun(number, content, seed, folder, job)
        if seed is not None:  # it was for this run: the next may be the one that is published
            table.seed = None
            table.version += 1
        tidying = asyncio.create_task(self._tidy(job, output))
        self._tidying.add(tidying)
        tidying.add_done_callback(self._tidying.discard)
        return table.runs[number]

    async def _tidy(self, job: Job, output: Path) -> None:
        """Keep nothing of a run that came to nothing."""
        await job.finished()
        if job.result is None:
            await asyncio.to_thread(self.discard, output)

    def attach(self, table: OpenTable, called: str, text: bytes, *, written: bool = False) -> str:
        """Keep a hierarchy file, and return by which name a policy finds it."""
        self.workspace.folder(f"{table.number}/{HIERARCHIES}")
        name = attachments.stored_name(called, written=written)
        with self.workspace.file(table.folder / HIERARCHIES, Path(name).name) as file:
            file.write(text)
        return name

    def apply_policy(self, table: OpenTable, data: bytes, folder: Path | None) -> list[str]:
        """Take the settings of a policy file; return the columns whose hierarchy is lacking."""
        # `data` is a policy file or a package of it and its hierarchy files; `folder` is where the
        # file lies, None if it was uploaded.
        beside: dict[str, bytes] = {}
        if attachments.is_packed(data):
            data, beside = attachments.unpack_policy(data)
            folder = None
        content = policy_forms.read_policy_text(data, folder=folder)
        found, lacking = {}, []
        for column, name in policy_forms.files_of(content).items():
            try:
                if folder is None and name not in beside:
                    raise UnknownError("uploaded alone")
                rows = (
                    beside[name]
                    if folder is None
                    else small_file(within(folder, name), MAX_ATTACHMENT_BYTES)
                )
                found[column] = self.attach(table, name, rows)
            except (WideberthError, OSError):
                lacking.append(column)
        # What the file does not bring along stays as it was here.
        kept = {k: v for k, v in content.get("hierarchies", {}).items() if k not in lacking}
        here = {k: v for k, v in table.content.get("hierarchies", {}).items() if k in lacking}
        lacking = [column for column in lacking if column not in here]
        content = policy_forms.relocated({**content, "hierarchies": kept}, found)
        content["hierarchies"] = {**content.get("hierarchies", {}), **here}
        content.pop("population", None)  # which no release looks at
        if "table" in table.content:  # as it was read, and is shown
            content["table"] = table.content["table"]
        _require_columns(content, table.columns)
        table.change(content, table.version, table.seed)
        return lacking


def _require_columns(content: Content, columns: list[str]) -> None:
    """Refuse a policy of another table."""
    from wideberth.core.names import expand_short_forms
    from wideberth.policy.roles import check_roles

    roles = {role: expand_short_forms(names, columns) for role, names in content["roles"].items()}
    check_roles(columns, roles)
