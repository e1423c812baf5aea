"""Hints are in the reader's own words: options on the command line, arguments in Python."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import wideberth as wb
from wideberth.core.questions import column_question
from wideberth.core.types import confirmation
from wideberth.errors import WideberthError, in_the_app, on_command_line

SOURCES = Path(wb.__file__).parent
PEOPLE = pl.DataFrame({"age": [1, 2], "pay": [3, 4], "ill": ["a", "b"]})
OPTION = re.compile(r"(^|[\s('])--[a-z]")


def _raised(ask) -> WideberthError:
    with pytest.raises(WideberthError) as caught:
        ask()
    return caught.value


@pytest.mark.parametrize(
    ("ask", "python", "command"),
    [
        (lambda: wb.check(PEOPLE, principles="k-anonymity:k=2"), "quasi=", "--qi"),
        (
            lambda: wb.check(PEOPLE, quasi="age", principles="distinct-l:l=2"),
            "sensitive=",
            "--sensitive",
        ),
        (
            lambda: wb.check(PEOPLE, quasi="age", principles="delta-presence:delta_max=0.5"),
            "population=",
            "--population",
        ),
        (
            lambda: wb.check(PEOPLE, quasi="age", sensitive="ill", principles="l-e:l=2,e=1"),
            "hierarchies=",
            "--hierarchy",
        ),
        (
            lambda: wb.check(PEOPLE, quasi="age", principles="k-anonymity:k=0"),
            "help(",
            "wideberth pri",
        ),
        (lambda: wb.advise(PEOPLE), "sensitive=", "--sensitive"),
        (
            lambda: wb.anonymize(
                PEOPLE,
                quasi="age",
                sensitive=["pay", "ill"],
                principles="k-anonymity:k=2",
                algorithm="lattice",
                cuts="best",
                hierarchies={"age": {"flat": True}},
                recoding="set",
            ),
            "algorithm=",
            "--algorithm",
        ),
    ],
)
def test_the_same_error_in_both_interfaces(ask, python, command):
    told = _raised(ask)
    assert python in told.hint
    assert not OPTION.search(str(told))
    with on_command_line():
        assert command in _raised(ask).hint


@pytest.mark.parametrize(
    "ask",
    [
        lambda: confirmation("pay", ["1.234,56"]),
        lambda: column_question(pl.Series("pay", [*"123456789", "N/A"])).hint,
        lambda: column_question(pl.Series("pay", [*map(str, range(100)), "x"])).hint,
        lambda: (
            _raised(lambda: wb.audit(PEOPLE, quasi="age", sensitive="ill", epsilon=1)).hint or ""
        ),
    ],
)
def test_a_type_that_does_not_fit_is_put_right_in_every_interface(ask):
    assert not OPTION.search(ask())
    with on_command_line():
        assert OPTION.search(ask())
    with in_the_app():
        assert not OPTION.search(ask())
        assert "step 1" in ask()


def test_no_hint_of_the_library_names_an_option_to_python():
    """Options stand in `command=` of `what_to_type` only, but for what is the command line's."""
    wrong = []
    for path in SOURCES.rglob("*.py"):
        inner = path.relative_to(SOURCES)
        if inner.parts[0] in ("cli", "ui"):
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            for keyword in call.keywords if isinstance(call, ast.Call) else ():
                if keyword.arg in ("hint", "python", "app"):
                    wrong += [
                        f"{inner}: {text}" for text in _texts(keyword.value) if OPTION.search(text)
                    ]
    assert not wrong


def _texts(node: ast.AST) -> list[str]:
    """Return the texts below a node, those for the command line aside."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.keyword) and node.arg == "command":
        return []
    return [text for child in ast.iter_child_nodes(node) for text in _texts(child)]


def test_parameters_without_names():
    for ask, hint in (
        (lambda: wb.KAnonymity(5), "KAnonymity(k=5)"),
        (lambda: wb.EpsilonMAnonymity(100, 3), "EpsilonMAnonymity(epsilon=100, m=3)"),
        (lambda: wb.EpsilonMAnonymity(100, m=3), "EpsilonMAnonymity(epsilon=100)"),
    ):
        told = _raised(ask)
        assert "by name" in told.what
        assert told.hint == hint
    assert "did you mean 'epsilon'?" in _raised(lambda: wb.EpsilonMAnonymity(epsilom=1, m=2)).what


def test_the_app_without_its_extra():
    program = (
        "import sys; sys.modules['starlette'] = None; sys.argv[1:] = ['ui', '--no-browser'];"
        "from wideberth.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'wideberth[ui]'" in done.stderr
    assert "unexpectedly" not in done.stderr


def test_the_papers_experiments_without_their_distribution():
    """The two names say what to install; the others do not depend on it."""
    program = """
import sys
sys.modules["wideberth_papers"] = None
import wideberth as wb
from wideberth import *
from wideberth.errors import NotInstalledError
assert not {"reproduce", "Reproduction"} & {*dir(wb), *globals()}
for name in ("reproduce", "Reproduction"):
    try:
        getattr(wb, name)
    except NotInstalledError as error:
        assert isinstance(error, wb.WideberthError)
        print(error)
try:
    from wideberth import reproduce
except ImportError as error:
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    hint = "  try: pip install wideberth-papers; from a checkout: pip install ./papers"
    assert done.stdout.splitlines() == [
        "wb.reproduce needs wideberth-papers, which is not installed",
        hint,
        "wb.Reproduction needs wideberth-papers, which is not installed",
        hint,
        "NotInstalledError",
    ]


def test_an_import_that_fails_inside_the_papers_experiments_is_not_hidden(tmp_path):
    (tmp_path / "wideberth_papers.py").write_text("import a_package_that_is_missing")
    program = "import wideberth as wb; wb.reproduce"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 1
    assert "No module named 'a_package_that_is_missing'" in done.stderr
    assert "wideberth-papers" not in done.stderr
