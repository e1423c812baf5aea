"""The tutorial's commands, typed one after another, print what it shows; so does its Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .conftest import DOCS

#: The same for every terminal; the commands are those of this environment.
TERMINAL = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
GAP = "…"  # lines that a page leaves out


@dataclass
class Step:
    """A command and what the page shows of its output, or a file that the reader writes."""

    command: str = ""
    shown: list[str] = field(default_factory=list)
    file: str = ""
    content: str = ""


def steps(page: str) -> Iterator[Step]:
    for language, options, body in FENCE.findall(page):
        named = re.search(r'title="([^"]+)"', options)
        if named is not None:
            yield Step(file=named[1], content=body)
        elif language == "console":
            for block in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, *shown = block.rstrip("\n").split("\n")
                yield Step(command, shown)


def fits(shown: list[str], printed: list[str]) -> bool:
    """Tell whether lines were printed as they are shown, where a gap is any number of lines.

    >>> fits(["a", "…", "d"], ["a", "b", "c", "d"]), fits(["a", "c"], ["a", "b", "c"])
    (True, False)
    """
    wanted = "".join(".*" if line == GAP else re.escape(f"{line}\n") for line in shown)
    return bool(re.fullmatch(wanted, "".join(f"{line}\n" for line in printed), re.DOTALL))


def test_the_tutorial(tmp_path: Path) -> None:
    environment = os.environ | TERMINAL
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    code, failed = 0, ""
    done = list(steps((DOCS / "tutorial.md").read_text(encoding="utf-8")))
    assert sum("wideberth" in step.command for step in done) >= 10
    for step in done:
        if step.file:
            (tmp_path / step.file).write_text(step.content, encoding="utf-8")
            continue
        if step.command == "echo $?":
            assert step.shown == [str(code)]
            code, failed = 0, ""
            continue
        assert code == 0, f"the tutorial does not say that this fails: {failed}"
        outcome = subprocess.run(
            ["bash", "-c", step.command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        code, failed = outcome.returncode, f"{step.command}\n{outcome.stdout}"
        plain = outcome.stdout.replace("\N{NO-BREAK SPACE}", " ")
        printed = [line.rstrip() for line in plain.splitlines()]
        assert "Traceback" not in outcome.stdout
        assert fits(step.shown, printed), f"{step.command}\n{outcome.stdout}"
    assert code == 0, failed


def python_blocks() -> Iterator[tuple[str, str]]:
    for name in ("index", "choosing", "threat-model"):
        page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        for language, _, body in FENCE.findall(page):
            if language == "python":
                yield name, body


@pytest.mark.parametrize(("name", "code"), list(python_blocks()), ids=lambda text: text[:12])
def test_python_prints_what_its_comments_say(
    name: str, code: str, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    exec(compile(code, f"{name}.md", "exec"), {})
    promised = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    assert promised
    assert capsys.readouterr().out.splitlines() == promised


def test_how_it_works_builds_on_itself(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for _, _, code in (found for found in FENCE.findall(page) if found[0] == "python"):
        exec(compile(code, "architecture.md", "exec"), names)
        promised = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
        assert promised
        assert capsys.readouterr().out.splitlines() == promised
    assert "leaves" in names


def test_a_gap_is_no_licence() -> None:
    assert fits(["a", GAP], ["a", "b"])
    assert fits([GAP, "b", GAP], ["a", "b"])
    assert not fits(["b", GAP], ["a", "b"])
    assert not fits([GAP, "a"], ["a", "b"])
    assert fits([], [])
    assert not fits([], ["a"])
