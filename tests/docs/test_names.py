"""Files and names that the pages about the code mention are those of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import DOCS, ROOT

SOURCE = ROOT / "src" / "wideberth"
PAGES = ["glossary.md", "architecture.md", *(f"how/{page.name}" for page in DOCS.glob("how/*.md"))]
FILES = {
    file.relative_to(ROOT).as_posix()
    for folder in ("src", "papers", "docs", "tests")
    for file in (ROOT / folder).rglob("*")
}


def defined(file: Path) -> set[str]:
    """Return the names that a module defines, those within classes with the class before them."""

    def walk(body: list[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield prefix + node.name
                yield from walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                yield prefix + node.name
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                named = [part for target in targets for part in ast.walk(target)]
                yield from (prefix + part.id for part in named if isinstance(part, ast.Name))

    return set(walk(ast.parse(file.read_text(encoding="utf-8")).body, ""))


@pytest.mark.parametrize("name", PAGES)
def test_files_exist(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    mentioned = set(re.findall(r"(?<![\w/.*<])((?:\w+/)*\w+\.(?:py|js))\b", text))
    assert mentioned or name == "how/decisions.md"
    assert [one for one in mentioned if not any(f"/{f}".endswith(f"/{one}") for f in FILES)] == []


def test_the_glossary_names_what_is_there() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1:4] for line in text.splitlines() if line[:2] == "| "]
    assert len(rows) > 50
    for term, _, where in rows[1:]:
        for place in where.split(";"):
            paths = re.findall(r"`([\w/]+(?:\.py|/))`", place)
            assert paths or "see" in place, term
            assert all((SOURCE / path).exists() for path in paths), (term, paths)
            known = {
                one for path in paths if path.endswith(".py") for one in defined(SOURCE / path)
            }
            roles = re.findall(r"role `(\w+)`", place)
            for one in set(re.findall(r"`([\w.]+)`", place)) - set(paths) - set(roles):
                assert one in known or any(k.endswith(f".{one}") for k in known), (term, one)


def test_the_house_is_the_list_of_layers() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", text.split("## The house")[1], flags=re.MULTILINE)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"wideberth\.(\w+)"', project.split("\nlayers = ")[1].split("]")[0])
    assert listed == [layer for layer in reversed(layers) if layer != "__main__"]
