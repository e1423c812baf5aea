"""Settings that outlive the app, so that work can be taken up again after it ended or was killed.

A draft is a folder with a policy, the hierarchy files that it names, and the name of the table it
was made for. It holds no row: what it knows of values is what a policy may hold. Drafts lie in the
user's own state folder, which nobody else may look into. While a table is open, its draft is
locked, so that two apps do not write to one.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from wideberth.errors import PolicyError, WideberthError
from wideberth.io import documents, lock
from wideberth.ui import attachments, policy_forms
from wideberth.ui.workspace import small_file

Content = dict[str, Any]

_ABOUT, _LOCK = "about.json", ".lock"
_NUMBER = re.compile(r"[0-9a-f]{16}")
#: Drafts that are kept; of more, the oldest go.
MAX_SAVED_SETTINGS = 30
_SMALL = 1 << 20


def state_folder() -> Path:
    """Return where programs keep what they need again: by default ~/.local/state/wideberth."""
    named = os.environ.get("XDG_STATE_HOME" if os.name != "nt" else "LOCALAPPDATA", "")
    base = Path(named) if os.path.isabs(named) else Path.home() / ".local" / "state"
    return base / "wideberth" / "drafts"


@dataclass
class SavedSettings:
    """The settings of one table, on the disk."""

    folder: Path  # its name is the draft's number
    name: str  # the table's file name
    path: str | None  # of the table; None if it was uploaded, for then no copy is kept
    saved: str = ""  # last change, as ISO 8601 in UTC
    _held: IO[bytes] | None = field(default=None, repr=False)

    @property
    def number(self) -> str:
        """The number that addresses name it by."""
        return self.folder.name

    @property
    def when(self) -> str:
        """When it was last changed, for people, in their own time."""
        try:
            return f"{datetime.fromisoformat(self.saved).astimezone():%Y-%m-%d %H:%M}"
        except ValueError:
            return "some day"

    def keep(self, content: Content, files: Path) -> None:
        """Write the settings as they are now."""
        _private(self.folder)
        self.hold()
        self.saved = datetime.now(UTC).isoformat(timespec="seconds")
        attachments.copy(files, self.folder, content)
        _write(self.folder / attachments.POLICY, policy_forms.policy_toml(content, name=self.name))
        about = {"name": self.name, "path": self.path, "saved": self.saved}
        _write(self.folder / _ABOUT, json.dumps(about))
        named = set(policy_forms.files_of(content).values())
        for file in (self.folder / attachments.HIERARCHIES).glob("*"):
            file.chmod(0o600)
            if f"{attachments.HIERARCHIES}/{file.name}" not in named:
                file.unlink(missing_ok=True)

    def hold(self) -> bool:
        """Lock it for as long as its table is open; return whether nobody else has."""
        if self._held is None and self.folder.is_dir():
            number = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            held = os.fdopen(number, "rb")
            if os.name != "nt" and not lock(held):
                held.close()
                return False
            self._held = held
        return True

    def release(self) -> None:
        """Let others take it up."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def policy(self) -> bytes:
        """Return the text of the policy."""
        try:
            return small_file(self.folder / attachments.POLICY, _SMALL)
        except OSError:
            raise PolicyError("these settings are gone", hint="open the table again") from None

    def options(self) -> Content:
        """Return how the table was read."""
        found: Content = policy_forms.read_policy_text(self.policy(), folder=self.folder).get(
            "table", {}
        )
        return found

    def remove(self) -> None:
        """Remove it from the disk."""
        self.release()
        shutil.rmtree(self.folder, ignore_errors=True)


class SettingsStore:
    """All drafts of this user.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     drafts = SettingsStore(Path(place, "state"))
    ...     draft = drafts.new("people.csv", "/data/people.csv")
    ...     draft.keep({"roles": {"quasi": ["age"]}}, Path(place))
    ...     seen = drafts.left()  # its table is open: nobody else may take it up
    ...     draft.release()
    ...     [one.name for one in seen], [one.name for one in drafts.left()]
    ([], ['people.csv'])
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = state_folder() if folder is None else folder

    def new(self, name: str, path: str | None) -> SavedSettings:
        """Return a draft for a table; nothing is written before there is something to keep."""
        return SavedSettings(self.folder / secrets.token_hex(8), name, path)

    def left(self) -> list[SavedSettings]:
        """Return the drafts whose table is not open, the latest first; the oldest may go."""
        found = []
        with suppress(OSError):
            if _is_private(self.folder):
                found = [_read(path) for path in self.folder.iterdir()]
        free = [draft for draft in found if draft is not None and _is_free(draft)]
        free.sort(key=lambda draft: draft.saved, reverse=True)
        for old in free[MAX_SAVED_SETTINGS:]:
            old.remove()
        return free[:MAX_SAVED_SETTINGS]

    def named(self, number: str) -> SavedSettings:
        """Return a draft that can be taken up."""
        for draft in self.left():
            if draft.number == number:
                return draft
        raise PolicyError(
            "these settings are gone, or their table is open", hint="reload the first page"
        )


def _read(folder: Path) -> SavedSettings | None:
    """Return what lies in a folder, if it is a draft of this user's."""
    try:
        if not _NUMBER.fullmatch(folder.name) or not _is_private(folder):
            return None
        about = documents.json(small_file(folder / _ABOUT, _SMALL).decode())
    except (OSError, ValueError, WideberthError):
        return None
    if not isinstance(about, dict) or not isinstance(about.get("name"), str):
        return None
    path, saved = about.get("path"), about.get("saved")
    return SavedSettings(
        folder,
        about["name"],
        path if isinstance(path, str) else None,
        saved if isinstance(saved, str) else "",
    )


def _is_free(draft: SavedSettings) -> bool:
    """Return whether no app has the draft's table open."""
    with suppress(OSError):
        if draft.hold():
            draft.release()
            return True
    return False


def _is_private(folder: Path) -> bool:
    """Return whether a folder is this user's, and nobody else may look into it."""
    found = folder.lstat()
    if os.name == "nt":
        return stat.S_ISDIR(found.st_mode)
    mine = found.st_uid == os.geteuid()
    return stat.S_ISDIR(found.st_mode) and mine and not found.st_mode & 0o077


def _private(folder: Path) -> None:
    """Make a folder, and those above it that are ours, for this user alone."""
    folder.parent.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    for path in (folder.parent, folder):
        path.mkdir(mode=0o700, exist_ok=True)
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise NotADirectoryError(f"{path} is a link")
        path.chmod(0o700)  # whatever the umask


def _write(path: Path, text: str) -> None:
    """Replace a file at once, so that a process that is killed leaves the old or the new."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
