"""The manifest beside a release: where it lies, and whether files are those that it describes.

A manifest has the SHA-256 of every table of its release. So files that do not belong together, of
two releases or of one that somebody has changed, are found out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wideberth import io
from wideberth.errors import TableError, what_to_type
from wideberth.io import documents

#: The manifest in the folder of an anatomised release, and the two tables that it describes.
MANIFEST = "manifest.json"
TABLE_ROLES = ("quasi", "sensitive")
#: Principles, or sentences of a kind; a release has a handful.
_MOST = 1000


def manifest_path(path: str | Path) -> Path:
    """Return where the manifest of a published file lies.

    >>> manifest_path("out/release.csv").name
    'release.csv.manifest.json'
    """
    path = Path(path)
    return path.with_name(path.name + ".manifest.json")


def sha256(path: str | Path) -> str:
    """Return a file's SHA-256 in hexadecimal; a folder's is that of its Parquet files' list."""
    path = Path(path)
    if path.is_dir():
        return files_sha256({part.name: sha256(part) for part in path.glob("*.parquet")})
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_sha256(digests: Mapping[str, str]) -> str:
    """Return the SHA-256 of a list of files, each with its own SHA-256."""
    lines = "".join(sorted(f"{digest}  {name}\n" for name, digest in digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


@dataclass
class Comparison:
    """The outcome of comparing files with the manifest beside them."""

    path: Path | None = None  # of the manifest; None if there is none
    told: Mapping[str, Any] | None = None  # what it says; None if it cannot be read as a manifest
    fault: str = ""  # why it cannot, if that is known
    # the files that are not those that it describes
    strange: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)  # those that were compared with it

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the manifest."""
        if self.untied is not None:
            return [self.untied]
        return [self._unread] if self.path is not None and self.told is None else []

    @property
    def untied(self) -> str | None:
        """That nothing ties two files together, if so."""
        if self.path is not None or len(self.files) < 2:
            return None
        both = " and ".join(self.files)
        return f"there is no {MANIFEST}: nothing says that {both} are of one release"

    @property
    def matches(self) -> bool | None:
        """Whether the files are those that the manifest describes; None if nothing says."""
        return None if self.told is None else not self.strange

    @property
    def _unread(self) -> str:
        told = "the manifest" if self.path is None else self.path.name
        return f"{told} could not be read as a manifest{self.fault}"

    @property
    def _what(self) -> str:
        many = "is not the file that" if len(self.strange) == 1 else "are not the files that"
        told = "the manifest" if self.path is None else self.path.name
        return f"{' and '.join(self.strange)} {many} {told} describes"

    def refuse(self) -> None:
        """Raise an error if files do not belong together, or if nothing tells of two."""
        if self.told is None and self.path is not None and len(self.files) > 1:
            raise TableError(
                f"{self._unread}: nothing says that {' and '.join(self.files)} are of one release",
                hint=f"{_again()}; or, if you are sure that they are, remove {self.path}",
            )
        if self.strange and self.path is not None:
            raise TableError(
                f"{self._what}: they do not belong together",
                hint=f"{_again()}; or, if the change is meant, remove {self.path}",
            )


def compare(table: object, second: object = None) -> Comparison:
    """Compare tables with the manifest beside them, if they are files and there is one."""
    # What is not a path has no manifest. Raises also if a run writes the files or was stopped while
    # it did.
    if not isinstance(table, str | Path):
        return Comparison()
    files = [Path(table), *([Path(second)] if isinstance(second, str | Path) else [])]
    _require_finished(*files)
    found = _compared(files)
    found.files = [file.name for file in files]
    if found.strange:  # a run may have begun to write them meanwhile
        _require_finished(*files)
    found.refuse()
    return found


def as_made(path: str | Path, options: io.ReadOptions) -> io.ReadOptions:
    """Return options to read a file as this program wrote it, if its manifest says that it did."""
    # How its original is written says nothing of it: notations, title, delimiter and encoding.
    ours = io.ReadOptions(missing=options.missing, formats=options.formats, made=True)
    if options.made or (not options.formats and replace(options, made=True) == ours):
        return options
    return options if _compared([Path(path)], hashed=False).told is None else ours


@contextmanager
def compare_meanwhile(table: object, second: object = None) -> Iterator[Comparison]:
    """Compare as `compare` does, while the block works; the result is known when that ends."""
    # An error of the block goes first, for it says more of what is wrong with the tables; but not
    # if a run was stopped while it wrote them.
    found = Comparison()
    if not isinstance(table, str | Path):
        yield found
        return
    _require_finished(Path(table))
    with ThreadPoolExecutor(1) as pool:  # hashing lets others work meanwhile
        comparing = pool.submit(compare, table, second)
        yield found
        known = comparing.result()
        found.path, found.told = known.path, known.told
        found.fault, found.strange = known.fault, known.strange
        found.files = known.files


def _require_finished(*files: Path) -> None:
    for file in files:
        state = io.unfinished(file)
        if state == "running":
            raise TableError(
                f"{file.name} is being written by another run, and the files of its release do not "
                "belong together yet",
                hint="try again when that run has ended",
            )
        if state:
            raise TableError(
                f"{file.name} is of an unfinished release: a run was stopped while it wrote the "
                "files, and they do not belong together",
                hint=f"{_again()}: that repairs the files first",
            )


def _again() -> str:
    return what_to_type(
        python="make the release again, and save it with force=True",
        command="make the release again (wideberth anonymize … --force)",
    )


def _compared(files: Sequence[Path], *, hashed: bool = True) -> Comparison:
    for path in (manifest_path(files[0]), files[0].parent / MANIFEST):
        told = _read(path)
        if (fault := _fault(told)) is not None:
            if path.is_file() and (path.name != MANIFEST or len(files) > 1):
                return Comparison(path, fault=fault)
            continue
        output = told["output"]
        if "sha256" in output and path.name == MANIFEST:
            continue  # of a table that is named otherwise
        entries = [output] if "sha256" in output else [output.get(part) for part in TABLE_ROLES]
        if path.name == MANIFEST and files[0].name not in [_named(entry) for entry in entries]:
            continue
        if len(files) == 1:
            entries = [next((e for e in entries if _named(e) == files[0].name), entries[0])]
        pairs = zip(files, entries, strict=False)
        strange = [file.name for file, e in pairs if hashed and not _is(file, e)]
        return Comparison(path, told, strange=strange)
    return Comparison()


def _named(entry: object) -> object:
    return entry.get("name") if isinstance(entry, Mapping) else None


def _is(file: Path, entry: object) -> bool:
    """Return whether a file is what a manifest describes; in doubt, when reading fails, it is."""
    if not isinstance(entry, Mapping):
        return False
    told = entry.get("sha256")
    with suppress(OSError):  # whoever reads the table says so
        return (told is None and file.is_dir()) or told == sha256(file)
    return True


def _read(path: Path) -> Any:
    """Read a document beside a table; None if there is none, or nothing that can be read."""
    try:
        with io.open_regular(path, os.O_RDONLY) as file:
            held = file.read(documents.LARGEST_MANIFEST + 1)
        return None if len(held) > documents.LARGEST_MANIFEST else documents.json(held.decode())
    except (OSError, ValueError):
        return None


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _tables_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_texts, value.values()))


def _text(value: object) -> bool:
    return isinstance(value, str)


def _name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _few(value: object) -> bool:
    return _texts(value) and len(value) <= _MOST  # type: ignore[arg-type]


def _versions(value: object) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values())) and "wideberth" in value


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53


def _numbers(value: object) -> bool:
    return isinstance(value, dict) and all(map(_number, value.values()))


def _object(value: object) -> bool:
    return isinstance(value, dict)


def _shaped(**parts: Callable[[object], bool]) -> Callable[[object], bool]:
    """Return a test of objects whose parts, as far as they are there, pass tests of their own."""

    def fits(value: object) -> bool:
        return isinstance(value, dict) and all(
            value.get(key) is None or fit(value[key]) for key, fit in parts.items()
        )

    return fits


def _people(value: object) -> bool:
    """Return whether an object says which identifier repeats, and how often."""
    needed = {"columns": _texts, "people": _number, "rows": _number}
    return isinstance(value, dict) and all(fit(value.get(key)) for key, fit in needed.items())


#: What the parts of a manifest are, as far as anything here or in a report reads them.
_SHAPE: dict[str, Callable[[object], bool]] = {
    "output": _shaped(name=_text),
    "roles": _tables_of_texts,
    "group": _name,
    "principles": _few,
    "transform": _object,
    "people": _people,
    "suppressed": _shaped(rows=_number),
    "loss": _shaped(ncp_percent=_number, ncp_percent_by_attribute=_numbers),
    "warnings": _few,
    "versions": _versions,
    "promise": _text,
    "not_promised": _few,
}
_REQUIRED = ("output", "roles")


def _fault(told: object) -> str | None:
    """Return what keeps a document from being a manifest; None if nothing does."""
    if not isinstance(told, dict):
        return ""
    for part, fits in _SHAPE.items():
        absent = told.get(part) is None
        if absent and part in _REQUIRED:
            return f": it lacks '{part}'"
        if not absent and not fits(told[part]):
            return f": '{part}' is not what a manifest has there"
    return None
