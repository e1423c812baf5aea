"""What tests of several packages share: a shell, and one Spark session.

The shell is a folder to stand in, files to make, commands to type. The Spark session runs in the
process that runs the tests. PySpark warns that it does not know pandas 3 well. Our library keeps
that quiet, but these tests call PySpark themselves.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from wideberth.cli import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Stands in cells that are wrong; no message may repeat it.
SECRET = "Zq7Xhush"  # noqa: S105 - a marker

PEOPLE = """\
age,zip,disease,salary
<30,130**,flu,1000
<30,130**,cancer,1010
<30,130**,flu,1020
>=40,1485*,ulcer,16000
>=40,1485*,flu,24000
>=40,1485*,cancer,50000
"""

POLICY = """\
version = 1
[roles]
quasi = ["age", "zip"]
sensitive = ["disease", "salary"]
[[principle]]
name = "k-anonymity"
k = 3
[[principle]]
name = "distinct-l"
on = "disease"
l = 2
"""

#: The same for every terminal: the width fixed, no colours.
TERMINAL = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
#: What PySpark says to whoever has pandas 3.
PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
}


class Outcome(NamedTuple):
    """What a command leaves behind."""

    code: int
    out: str
    err: str

    def refuses(self, code: int, *phrases: str) -> None:
        """Assert a proper refusal: what and where and a hint, no value, and no result."""
        assert self.code == code, self.err
        if self.out:  # JSON was asked for
            assert json.loads(self.out)["exit_code"] == code
            assert SECRET not in self.out
        assert "Traceback" not in self.err
        assert "unexpectedly" not in self.err
        assert SECRET not in self.err
        for phrase in phrases:
            assert phrase in self.err
        if not self.err.startswith("Usage:"):
            first, *rest = self.err.splitlines()
            assert first.startswith("error: ")
            assert len(rest) == 1, self.err
            assert rest[0].startswith("  try: "), self.err


Run = Callable[..., Outcome]
Write = Callable[[str, str | bytes], Path]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files first that have tests with Spark.

    pytest-xdist deals tests to processes in one piece each, and idle processes steal from the end
    of a piece. So what comes first stays with the first process, and there is one Java process.
    """
    files = {item.path for item in items if "spark" in getattr(item, "fixturenames", ())}
    for item in items:
        if item.path in files:
            item.add_marker(pytest.mark.filterwarnings(PANDAS))
    items.sort(key=lambda item: item.path not in files)


@pytest.fixture
def secret() -> str:
    return SECRET


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Make files in a new current folder, which has people.csv and policy.toml already."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, content: str | bytes) -> Path:
        path = Path(name)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    make("people.csv", PEOPLE)
    make("policy.toml", POLICY)
    return make


@pytest.fixture
def run(write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, in the folder of `write`."""
    for key, value in TERMINAL.items():
        monkeypatch.setenv(key, value)
    monkeypatch.delenv("WIDEBERTH_TRACEBACK", raising=False)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main sets its own

    def typed(*arguments: object) -> Outcome:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return Outcome(stop.value.code, captured.out, captured.err)

    return typed


@pytest.fixture
def shell(write: Write) -> Run:
    """Run a whole command line in a real shell, where `wideberth` is the installed script."""
    script = Path(sys.executable).with_name("wideberth")

    def typed(line: str, **environment: str) -> Outcome:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line.replace("wideberth ", f"{script} ")],
            capture_output=True,
            encoding="utf-8",
            env=os.environ | TERMINAL | environment,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return typed


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start Spark on two cores, with this very Python as its executors'."""
    pytest.importorskip("pyspark", reason="no PySpark: pip install '.[spark]'")
    if shutil.which("java") is None:
        pytest.skip("no Java: apt install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").appName("wideberth's tests")
        warehouse = str(tmp_path_factory.mktemp("warehouse"))
        session = (
            builder.config("spark.sql.warehouse.dir", warehouse).config(map=SETTINGS).getOrCreate()
        )
    yield session
    session.stop()
