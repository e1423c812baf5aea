"""Hierarchy files that the settings of a table name: what they are called, and what goes with them.

A file lies in the private folder under the name that the user gave it, with a few digits more, so
that two files of one name do not meet. The digits follow a mark that is escaped in the user's name,
as is all else but letters, digits, dots and hyphens. Messages and pages show the user's own name.
"""

from __future__ import annotations

import re
import secrets
import shutil
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from wideberth.errors import PolicyError
from wideberth.hierarchy import parse_spec
from wideberth.ui import policy_forms
from wideberth.ui.workspace import within

#: What a policy is called, beside which the hierarchy files lie.
POLICY = "policy.toml"
#: Where hierarchy files lie, of a table as of a run.
HIERARCHIES = "hierarchies"
#: Bytes of a hierarchy file, and of all that is packed with a policy.
MAX_ATTACHMENT_BYTES = 32 << 20
_WRITTEN = "tree-of~~"
_SUFFIXES = (".csv", ".txt", ".tsv")
#: Digits that tell files of one name apart, and what stands before them.
_APART, _MARK = 3, "~~"
_STORED = re.compile(
    rf"(?P<written>{_WRITTEN})?(?P<stem>(?:[^/~%]|~[0-9A-F]{{2}})+){_MARK}[0-9a-f]{{{2 * _APART}}}"
    r"(?P<suffix>\.\w+)"
)
#: Bytes of a name that are kept, escaped.
_LONG = 150
#: Files in a package; nobody has as many hierarchies.
_MOST = 2000


def stored_name(called: str, *, written: bool = False) -> str:
    """Return a new name for a hierarchy file, as a policy writes it."""
    plain = str(PurePosixPath(called.replace("\\", "/")).name)
    if found := _STORED.fullmatch(plain):  # a copy of a copy keeps its first name
        written = written or bool(found["written"])
        plain = _own(found)
    known = plain.lower().endswith(_SUFFIXES)
    name = Path(plain if known else f"{plain}.csv")
    prefix = _WRITTEN if written else ""
    apart = secrets.token_hex(_APART)
    suffix = name.suffix or ".csv"
    return f"{HIERARCHIES}/{prefix}{_escaped(name.stem) or 'tree'}{_MARK}{apart}{suffix}"


def _escaped(name: str) -> str:
    """Escape what is no letter, digit, dot or hyphen; cut what is too long for a file's name.

    >>> _escaped("my tree~1")
    'my~20tree~7E1'
    """
    told, size = "", 0
    for letter in name.encode(errors="replace").decode():
        plain = re.fullmatch(r"[\w.-]" if told else r"\w", letter) is not None  # no hidden file
        part = letter if plain else "".join(f"~{byte:02X}" for byte in letter.encode())
        size += len(part.encode())
        if size > _LONG:
            break
        told += part
    return told


def _own(found: re.Match[str]) -> str:
    """Return the user's own name of a file."""
    return unquote(found["stem"].replace("~", "%")) + found["suffix"]


def with_own_names(text: str, folder: str | Path) -> str:
    """Let a message name the user's files, not those of the private folder.

    >>> with_own_names("/tmp/x/hierarchies/sex~~1a2b3c.csv: cell 2 is empty (line 3)", "/tmp/x")
    'sex.csv: cell 2 is empty (line 3)'
    >>> with_own_names("/tmp/x/hierarchies/tree-of~~sex~~1a2b3c.csv: there are no rows", "/tmp/x")
    'the tree written here: there are no rows'
    """

    def name(found: re.Match[str]) -> str:
        if found["written"]:
            return "the tree written here"
        return _own(found)

    lies = re.escape(f"{folder}/{HIERARCHIES}/")
    return re.sub(lies + _STORED.pattern, name, text)


def tree_rows(rule: Any, column: str, folder: Path) -> list[list[str]]:
    """Return the tree that a rule names, a row for each value: it and what it belongs to."""
    if not policy_forms.files_of({"hierarchies": {column: rule}}):
        return []
    return parse_spec(rule, (), folder, column=column).to_rows()


def copy(source: Path, target: Path, content: Mapping[str, Any]) -> None:
    """Copy the files that settings name from one folder to another, those that are not there."""
    names = set(policy_forms.files_of(content).values())
    if names:
        (target / HIERARCHIES).mkdir(mode=0o700, exist_ok=True)
    for name in names:
        if not (target / name).exists():
            shutil.copy2(within(source, name), target / name)


def packed(content: Mapping[str, Any], folder: Path, *, name: str) -> bytes:
    """Pack settings, as a policy file and the hierarchy files that it names."""
    held = BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(POLICY, policy_forms.policy_toml(content, name=name))
        for file in sorted(set(policy_forms.files_of(content).values())):
            archive.write(within(folder, file), file)
    return held.getvalue()


def is_packed(data: bytes) -> bool:
    """Return whether a file is a package, and not a policy by itself."""
    return data.startswith(b"PK\x03\x04")


def unpack_policy(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Return the policy of a package, and by the names that it uses the files beside it."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            found = [one for one in members if PurePosixPath(one.filename).name == POLICY]
            if len(found) != 1 or len(members) > _MOST:
                raise PolicyError(
                    f"the package holds {len(found) or 'no'} {POLICY}", hint="choose another file"
                )
            base = PurePosixPath(found[0].filename).parent
            beside = {
                str(PurePosixPath(one.filename).relative_to(base)): one
                for one in members
                if PurePosixPath(one.filename).is_relative_to(base / HIERARCHIES)
            }
            if sum(one.file_size for one in (found[0], *beside.values())) > MAX_ATTACHMENT_BYTES:
                raise PolicyError("the package is too large", hint="name the policy by its path")
            return archive.read(found[0]), {name: archive.read(one) for name, one in beside.items()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError):
        raise PolicyError("the package cannot be read", hint="download it again") from None
