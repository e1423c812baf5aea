"""The build fails when a command, an option or a principle is undocumented."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from wideberth.cli import wideberth
from wideberth.principles import iterate, parse, registry

ROOT = Path(__file__).parents[2]


def commands(
    command: click.Command = wideberth, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Go through the command line: each command with the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*path, name))


ALL = dict(commands())
each_command = pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(path) or "wideberth")
each_principle = pytest.mark.parametrize("cls", list(iterate()), ids=lambda cls: cls.name)


def examples(text: str) -> list[list[str]]:
    """Find the lines that call wideberth, continued ones made whole, explanations cut off."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    calls = (re.split(r"\s{2,}", line.strip())[0] for line in lines)
    return [shlex.split(call) for call in calls if call.startswith("wideberth ")]


def parses(words: list[str]) -> None:
    """Let click read a command line without running it."""
    path: tuple[str, ...] = ()
    while (*path, words[1 + len(path)]) in ALL:
        path = (*path, words[1 + len(path)])
        if len(words) == 1 + len(path):
            break
    assert path, words
    ALL[path].make_context(path[-1], words[1 + len(path) :])


def test_the_commands_are_those_promised():
    assert {" ".join(path) for path in ALL} >= {
        "advise",
        "anonymize",
        "check",
        "demo",
        "init",
        "lattice",
        "principles",
        "hierarchy show",
        "hierarchy validate",
        "hierarchy build",
    }


@each_command
def test_help(run, path):
    outcome = run(*path, "--help")
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.out == run(*path, "-h").out
    assert outcome.out.startswith(" ".join(["Usage: wideberth", *path]))


@each_command
def test_help_has_an_example_of_the_command(path):
    lines = examples(ALL[path].help or "")
    assert any(tuple(words[1 : 1 + len(path)]) == path for words in lines)


@pytest.mark.parametrize(
    "words",
    [w for p, command in ALL.items() if p for w in examples(command.help or "")],
    ids=" ".join,
)
def test_examples_in_the_help_can_be_typed(words):
    parses(words)


@each_command
def test_every_option_says_what_it_does(path):
    for parameter in ALL[path].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
        else:
            assert (parameter.metavar or parameter.name.upper()) in (ALL[path].help or "")


@each_command
def test_readme_names_every_command(path):
    assert " ".join(["wideberth", *path]) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_examples_in_the_readme_can_be_typed():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [
        words for block in re.findall("```sh\n(.*?)```", text, re.S) for words in examples(block)
    ]
    assert found
    for words in found:
        parses(words)


def test_the_page_of_principles_is_what_the_command_prints(run):
    outcome = run("principles", "--format", "markdown")
    assert outcome.code == 0
    page = (ROOT / "docs" / "principles.md").read_text(encoding="utf-8")
    assert outcome.out == page, "run `make docs`"


@each_principle
def test_every_principle_says_what_it_is(run, cls):
    text = run("principles", cls.name).out
    flat = " ".join(text.split())
    for said in (cls.title, cls.protects, cls.does_not_protect, cls.monotonicity, cls.reference):
        assert len(said) > 5
        assert " ".join(said.split()) in flat
    for key, parameter in cls.parameters().items():
        assert parameter.doc
        assert f"{key}: {parameter.doc}" in flat
    assert f"--principle {cls.example}" in flat
    assert ">>>" not in text


@each_principle
def test_every_example_of_a_principle_is_one(cls):
    principle = parse(cls.example)
    assert type(principle) is cls
    assert parse(str(principle)) == principle


def test_the_names_of_the_principles_are_those_promised():
    promised = """
        k-anonymity distinct-l frequency-l entropy-l recursive-cl alpha-k m-uniqueness k-e variance
        t-closeness delta-presence epsilon-m delta-l dissimilarity l-e
    """
    assert set(registry()) >= set(promised.split())
