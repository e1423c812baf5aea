"""What README.md and CONTRIBUTING.md show is what a reader gets."""

import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

import wideberth as wb
from wideberth.cli import main
from wideberth.principles import base

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    return [block for name, block in fenced if name == language]


@pytest.mark.parametrize("code", blocks("python"))
def test_python_prints_what_its_comments_say(
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
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
    (shown,) = (block for block in blocks("") if "wrote release.csv" in block)
    codes, printed = [], []
    for line in script.replace("\\\n", " ").splitlines():
        capsys.readouterr()
        codes.append(run(*shlex.split(line, comments=True)[1:]))
        if "anonymize" in line:
            printed = capsys.readouterr().out.splitlines()
    assert codes == [0, 3, 0, 0]
    assert [counted(line) for line in printed] == [counted(line) for line in shown.splitlines()]


def counted(line: str) -> str:
    """Leave out figures, for no two releases are the same, and the width of columns."""
    return " ".join(re.sub(r"[0-9][0-9.,]*", "#", line).split())


def run(*arguments: str) -> object:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return stopped.value.code


def test_the_principle_of_the_contributors_guide_works() -> None:
    guide = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^   ```python\n(.*?)^   ```$", guide, flags=re.DOTALL | re.MULTILINE)
    names = {**vars(base), "ClassVar": ClassVar, "dataclass": dataclass}
    exec(textwrap.dedent(code), names)
    try:
        for values, verdict in ((["a", "a", "b"], False), (["a", "a", "b", "c"], True)):
            table = pl.DataFrame({"q": [1] * len(values), "s": values})
            result = wb.check(table, quasi="q", sensitive="s", principles="majority-free")
            assert result.satisfied == verdict
    finally:
        del base._REGISTRY["majority-free"]
