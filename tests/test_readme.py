"""What README.md shows is what a reader gets."""

import re
import shlex
from pathlib import Path

import pytest

from wideberth.cli import main

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    return [block for name, block in fenced if name == language]


def test_python_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})
    promised = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    assert promised
    assert capsys.readouterr().out.splitlines()[: len(promised)] == promised


def test_commands_run_and_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    assert run("demo", "-o", "out/demo") == 0
    (script,) = (block for block in blocks("sh") if "wideberth init" in block)
    (shown,) = blocks("")
    codes = []
    for line in script.replace("\\\n", " ").splitlines():
        capsys.readouterr()
        codes.append(run(*shlex.split(line, comments=True)[1:]))
    assert codes == [0, 3, 3]
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    for line in shown.splitlines():
        assert line == "…" or line.rstrip() in printed


def run(*arguments: str) -> object:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return stopped.value.code
