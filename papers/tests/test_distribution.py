"""Two distributions: what each contains, and how wideberth finds this one."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import click

import wideberth as wb
import wideberth_papers
from wideberth.cli import plugins, wideberth
from wideberth_papers.command import reproduce

ROOT = Path(__file__).parents[2]
LIBRARY, PAPERS = (
    tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    for folder in (ROOT, ROOT / "papers")
)


def test_the_command_is_found_by_its_entry_point():
    (entry,) = entry_points(group=plugins.ENTRY_POINT_GROUP, name="reproduce")
    assert entry.value == "wideberth_papers.command:reproduce"
    assert PAPERS["project"]["entry-points"] == {
        plugins.ENTRY_POINT_GROUP: {"reproduce": entry.value}
    }
    assert wideberth.get_command(click.Context(wideberth), "reproduce") is reproduce


def test_the_public_names_are_those_of_this_package():
    assert wb.reproduce is wideberth_papers.reproduce
    assert wb.Reproduction is wideberth_papers.Reproduction
    assert {"reproduce", "Reproduction"} <= {*wb.__all__, *dir(wb)}


def test_the_versions_belong_together():
    assert LIBRARY["project"]["version"] == PAPERS["project"]["version"] == wb.__version__
    required = [*PAPERS["project"]["dependencies"]]
    required += PAPERS["project"]["optional-dependencies"]["exact"]
    pinned = [one for one in required if one.startswith("wideberth")]
    assert pinned == [f"wideberth=={wb.__version__}", f"wideberth[exact]=={wb.__version__}"]
    licences = [(folder / "LICENSE").read_bytes() for folder in (ROOT, ROOT / "papers")]
    assert licences[0] == licences[1]


def test_bounds_of_dependencies_are_those_of_the_library():
    known = {*LIBRARY["project"]["dependencies"]}
    assert {d for d in PAPERS["project"]["dependencies"] if "wideberth" not in d} <= known


def test_every_package_that_is_imported_is_a_dependency():
    named = {re.split(r"\W", one)[0] for one in PAPERS["project"]["dependencies"]}
    known = {*sys.stdlib_module_names, *named, "wideberth_papers", "vl_convert", "ortools"}
    for path in Path(wideberth_papers.__file__).parent.rglob("*.py"):
        found = re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M)
        assert {*found} <= known, path


def test_the_wheel_of_the_library_lacks_the_reproduction():
    where = LIBRARY["tool"]["setuptools"]["packages"]["find"]["where"]
    found = {path.parent for folder in where for path in (ROOT / folder).rglob("__init__.py")}
    names = {path.relative_to(ROOT / "src").parts for path in found}
    assert {name[0] for name in names} == {"wideberth"}
    assert not [name for name in names if re.search("papers|reproduc", "/".join(name))]
    assert not list((ROOT / "src" / "wideberth").rglob("*reprodu*.py"))


def test_the_library_runs_without_this_package():
    """All modules and all public names can be imported where this package is missing."""
    program = """
import sys
sys.modules["wideberth_papers"] = None
from importlib import import_module
from pkgutil import walk_packages
import wideberth as wb
for module in walk_packages(wb.__path__, "wideberth."):
    if module.name not in ("wideberth.__main__",):
        import_module(module.name)
for name in wb.__all__:
    getattr(wb, name)
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
