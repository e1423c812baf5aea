"""Commands of other distributions: listed, run, and unable to break or replace ours."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import EntryPoint

import click
import pytest

from wideberth.cli import plugins, wideberth

#: What a distribution might bring: a command that works, and three that cannot be imported.
MODULE = '''
import click

@click.command()
@click.option("--loud", is_flag=True, help="Shout.")
def greet(loud):
    """Greet whoever reads this.

    Nobody is left out.
    """
    click.echo("HELLO" if loud else "hello")

number = 7
'''
BROKEN = {
    "lacking": ("import a_package_that_is_missing", "No module named 'a_package_that_is_missing'"),
    "leaving": ("import sys; sys.exit('too old')", "SystemExit: too old"),
    "misspelt": ("def command(:", "SyntaxError: "),
}


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install entry points: words for commands, and where their objects are."""

    def entries(*points: tuple[str, str]) -> None:
        found = [EntryPoint(name, value, plugins.ENTRY_POINT_GROUP) for name, value in points]
        monkeypatch.setattr(
            "importlib.metadata.entry_points",
            lambda *, group: found if group == plugins.ENTRY_POINT_GROUP else [],
        )
        forget()

    def forget() -> None:
        plugins.installed.cache_clear()
        plugins.load_command.cache_clear()

    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "brought.py").write_text(MODULE)
    for name, (code, _) in BROKEN.items():
        (folder / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(folder)
    yield entries
    monkeypatch.undo()
    forget()
    for name in ("brought", *BROKEN):
        sys.modules.pop(name, None)


def test_a_command_of_another_distribution_is_listed_and_runs(run, bring):
    bring(("greet", "brought:greet"))
    assert "  greet       Greet whoever reads this.\n" in run("--help").out
    assert run("greet", "--loud") == (0, "HELLO\n", "")
    assert run("greet", "--help").out.startswith("Usage: wideberth greet [OPTIONS]\n")
    run("greet", "--quiet").refuses(2, "--quiet")


def test_our_own_commands_cannot_be_replaced(run, bring):
    bring(("check", "brought:greet"), ("demo", "lacking:command"))
    assert "hello" not in run("check", "people.csv", "-p", "policy.toml").out
    page = run("--help").out
    assert "Greet" not in page
    assert page.count("\n  check ") == page.count("\n  demo ") == 1


@pytest.mark.parametrize("module", BROKEN)
def test_a_command_that_cannot_be_imported_says_so_and_breaks_no_other(run, bring, module):
    bring((module, f"{module}:command"), ("greet", "brought:greet"))
    why = BROKEN[module][1]
    for arguments in ((), ("--help",), ("people.csv", "-p", "policy.toml", "--qi=age", "-x")):
        outcome = run(module, *arguments)
        outcome.refuses(1, f"the command '{module}' of {module}:command cannot be loaded", why)
    page = run("--help")
    assert (page.code, page.err) == (0, "")
    assert f"  {module}  " in page.out
    assert "cannot be loaded" in page.out
    assert run("greet") == (0, "hello\n", "")
    assert run("check", "people.csv", "-p", "policy.toml").code == 0


def test_the_reason_is_json_as_well_and_a_traceback_on_request(run, bring, monkeypatch):
    bring(("lacking", "lacking:command"))
    told = json.loads(run("lacking", "--format", "json").out)
    assert told["exit_code"] == 1
    assert told["what"].startswith("the command 'lacking' of lacking:command cannot be loaded")
    monkeypatch.setenv("WIDEBERTH_TRACEBACK", "1")
    outcome = run("lacking")
    assert outcome.code == 1
    assert "import a_package_that_is_missing" in outcome.err


@pytest.mark.parametrize(
    ("value", "why"),
    [("brought:number", "is not a click command"), ("brought:missing", "AttributeError")],
)
def test_an_entry_point_that_is_not_a_command(run, bring, value, why):
    bring(("odd", value))
    run("odd").refuses(1, "cannot be loaded", why)


def test_two_distributions_that_bring_the_same_word(run, bring):
    bring(("greet", "lacking:command"), ("greet", "brought:greet"))
    run("greet").refuses(1, "brought:greet and lacking:command both bring a command 'greet'")
    assert run("--help").code == 0


@pytest.mark.parametrize(
    "arguments", [(), ("--help",), ("li2008", "--rows", "1000", "-o", "out", "--format=json")]
)
def test_the_papers_experiments_without_their_distribution(run, bring, arguments):
    bring()
    outcome = run("reproduce", *arguments)
    outcome.refuses(2, "wideberth reproduce needs wideberth-papers, which is not installed")
    assert "pip install wideberth-papers; from a checkout: pip install ./papers" in outcome.err
    assert "  reproduce   Run a paper's experiments: pip install" in run("--help").out


def test_distributions_are_not_searched_for_our_own_commands(monkeypatch):
    def search(**_):
        raise AssertionError

    monkeypatch.setattr("importlib.metadata.entry_points", search)
    plugins.installed.cache_clear()
    context = click.Context(wideberth)
    for name, command in wideberth.commands.items():
        assert wideberth.get_command(context, name) is command


def test_nothing_heavy_is_imported_for_the_help():
    program = (
        "import sys\nfrom wideberth.cli import main\ntry: main(['--help'])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: wideberth")
    assert not {"polars", "numba", "pyarrow", "rich"} & set(done.stderr.split())
