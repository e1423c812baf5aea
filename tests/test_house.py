"""The house: one name for one thing, and tests where a reader looks for them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import wideberth
from wideberth.engines.spark.executors import ship

SRC = Path(wideberth.__file__).parent
TESTS = Path(__file__).parent

#: An alias under an old name: the command `python -m wideberth.kernels.warming` is documented.
GERUNDS = {"kernels/warming.py"}
#: Every family of plugins has its protocol in `base.py`.
FAMILIES = {"distances", "principles", "utility/metrics"}
#: A command and a task of the app have the name of the library's verb.
VERBS = {"cli", "ui/tasks"}
#: Tests of the whole, not of one package.
CROSS_CUTTING = {"browser", "cluster", "docs", "golden", "laws", "papers", "peers"}


def modules() -> Iterator[tuple[str, str]]:
    """Yield the folder and the name of each module, packages aside."""
    for path in sorted(SRC.rglob("*.py")):
        if path.name not in ("__init__.py", "__main__.py"):
            yield path.parent.relative_to(SRC).as_posix(), path.stem


def test_no_module_is_a_gerund() -> None:
    names = {f"{folder}/{name}.py" for folder, name in modules() if name.endswith("ing")}
    assert names == GERUNDS


def test_no_module_name_occurs_twice() -> None:
    places = defaultdict(list)
    for folder, name in modules():
        if folder not in VERBS and not (name == "base" and folder in FAMILIES):
            places[name].append(folder)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_class_name_occurs_twice() -> None:
    places = defaultdict(list)
    for path in sorted(SRC.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(SRC)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_tests_mirror_the_packages() -> None:
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.parent.relative_to(TESTS)
        if path.parent != TESTS and folder.parts[0] not in CROSS_CUTTING:
            assert (SRC / folder / "__init__.py").exists(), path
        assert (path.parent / "__init__.py").exists(), path


def test_no_package_is_without_tests() -> None:
    """A package below another one may be tested with its parent."""
    for path in sorted(SRC.iterdir()):
        if (path / "__init__.py").exists():
            assert list((TESTS / path.name).rglob("test_*.py")), path


def test_documented_names_still_work() -> None:
    assert ship.__module__ == "wideberth.engines.spark.executors"
    command = [sys.executable, "-m", "wideberth.kernels.warming", "uint16"]  # compiles nothing more
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
