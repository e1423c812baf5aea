"""Generated pages are what the code says now, and nothing public is left out of them."""

from __future__ import annotations

from pathlib import Path

import click
import pages
import pytest
from pages import api, commands, examples

import wideberth as wb
from wideberth import cli, datasets
from wideberth.principles import iterate, parse
from wideberth.utility import metrics

from .conftest import DOCS

Pages = dict[str, str]


@pytest.fixture(scope="module")
def written() -> Pages:
    return pages.pages()


def test_pages_are_what_their_generator_says(written: Pages) -> None:
    for name, text in written.items():
        page = DOCS / name
        assert page.exists(), "run `make docs`"
        assert page.read_text(encoding="utf-8") == text, "run `make docs`"


def test_no_page_is_left_of_what_is_gone() -> None:
    assert pages.stale() == [], "run `make docs`"


def test_every_command_has_a_page(written: Pages) -> None:
    def walk(command: click.Command, path: tuple[str, ...]) -> list[str]:
        context = click.Context(command)
        names = command.list_commands(context) if isinstance(command, click.Group) else []
        inner = [(name, command.get_command(context, name)) for name in names]
        return [" ".join(path), *(p for name, sub in inner for p in walk(sub, (*path, name)))]

    paths = walk(cli.wideberth, ())[1:]
    assert "hierarchy tree" in paths
    for path in paths:
        page = written[f"commands/{path.replace(' ', '-')}.md"]
        assert page.startswith(f"# wideberth {path}\n")
        assert f"wideberth {path} [OPTIONS]" in page
        assert (
            f"[`wideberth {path}`](commands/{path.replace(' ', '-')}.md)"
            in (written["commands.md"])
        )


def test_the_page_of_a_command_has_all_of_its_options(written: Pages) -> None:
    for path, command in commands.commands():
        page = written[f"commands/{'-'.join(path)}.md"]
        for option in command.params:
            if isinstance(option, click.Option):
                for name in option.opts:
                    assert f"`{name}`" in page, (path, name)
        assert "`--help`" in page


def test_help_is_told_apart() -> None:
    @click.command()
    @click.argument("table")
    @click.option("--few", type=click.IntRange(1, 9), default=3, show_default=True, help="How few.")
    @click.option("--kind", type=click.Choice(["a", "b"]), help="Which.  [default: either]")
    @click.option("--name", multiple=True, metavar="N|M", help="Who.")
    def look(**_: object) -> None:
        """Look at TABLE.

        With --few, look less. Exit code 3 if nothing is seen.

        \b
        wideberth look a.csv --few 2
        """

    page = commands.page(("look",), look)
    assert "With `--few`, look less.\n" in page
    assert "```text\nwideberth look [OPTIONS] TABLE\n```" in page
    assert "```sh\nwideberth look a.csv --few 2\n```" in page
    assert "| `--few` | How few. | `INTEGER RANGE` from 1 to 9 | `3` |" in page
    assert "| `--kind` | Which. | `a` `b` | either |" in page
    assert "| `--name` | Who. | `N\\|M`, may be repeated |  |" in page
    assert "## Exit codes\n\nExit code 3 if nothing is seen.\n" in page


@pytest.mark.parametrize("cls", list(iterate()), ids=lambda cls: cls.name)
def test_the_page_of_a_principle(cls: type[wb.Principle], written: Pages) -> None:
    page = written[f"principles/{cls.name}.md"]
    for said in (cls.title, cls.protects, cls.does_not_protect, cls.monotonicity, cls.reference):
        assert said in page
    assert f"(principles/{cls.name}.md)" in written["principles.md"]
    assert all(f"| `{name}` |" in page for name in cls.parameters())
    _, example = page.split("## Example")
    assert "# True" in example or "# False" in example


@pytest.mark.parametrize("cls", list(iterate()), ids=lambda cls: cls.name)
def test_the_spellings_of_a_principle_are_one_principle(
    cls: type[wb.Principle], written: Pages, tmp_path: Path
) -> None:
    page = written[f"principles/{cls.name}.md"]
    (toml,) = (part.split("```")[0] for part in page.split("```toml\n")[1:])
    python = page.split("In Python:\n\n```python\n")[1].split("```")[0]
    policy = tmp_path / "policy.toml"
    policy.write_text(f'version = 1\n[roles]\nquasi = ["q"]\nsensitive = ["s"]\n{toml}')
    (from_policy,) = wb.Policy.load(policy).principles
    from_python = eval(python, {"wb": wb})  # noqa: S307 - our own page
    assert str(from_policy) == str(from_python) == str(parse(cls.example))


def test_an_example_is_run_not_made_up() -> None:
    assert examples.run("print(1 + 1)") == "2\n"


def test_every_metric_is_on_the_page(written: Pages) -> None:
    for metric in metrics.iterate():
        assert f"`{metric.name}` · `{metric.__name__}`" in written["metrics.md"]


def test_every_public_name_has_a_place(written: Pages) -> None:
    told = "\n".join(text for name, text in written.items() if name.startswith("api/")).splitlines()
    for name in set(wb.__all__) - {"__version__"}:
        assert told.count(f"::: wideberth.{name}") == 1, name
    for name in datasets.__all__:
        assert f"::: wideberth.datasets.{name}" in told
    assert "::: wideberth.utility.metrics.register" in told
    assert "::: wideberth.utility.workload.QueryError" in told


def test_a_name_without_a_place_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wb, "__all__", [*wb.__all__, "forgotten"])
    with pytest.raises(LookupError, match="forgotten"):
        api.pages()
