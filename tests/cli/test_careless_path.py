"""Who follows what the commands propose makes a safe release, or is asked, or is told it is unsafe.

init, then a decision wherever one is asked for, then anonymize, audit and report. The release is
judged by the test itself, from the published file: a green tick on an unsafe one is a failure.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.everyday import TABLES, Everyday, renamed, unsafe

#: Where a line of an undecided column stands in a policy.
_UNDECIDED = re.compile(r"^undecided = \[.*?^\]\n", re.MULTILINE | re.DOTALL)
ORIGINAL = ("release.csv", "--original", "people.csv", "-p", "policy.toml")
MAKE = ("anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv")
AUDIT, REPORT = ("audit", *ORIGINAL), ("report", *ORIGINAL, "-o", "report.html")


def _decide(everyday: Everyday) -> None:
    """Write into the policy what the person at the keyboard decides of undecided columns."""
    path = Path("policy.toml")
    text = path.read_text()
    if "undecided = [" not in text:
        return
    text = _UNDECIDED.sub("", text)
    for column, role in everyday.decisions.items():
        text = re.sub(
            rf"^{role} = \[", f'{role} = [\n    "{column}",', text, count=1, flags=re.MULTILINE
        )
    path.write_text(text)


@pytest.mark.parametrize("name", TABLES)
def test_no_green_tick_on_an_unsafe_release(run, write, name):
    everyday = TABLES[name]()
    write("people.csv", everyday.text)
    Path("policy.toml").unlink()
    done = run("init", "people.csv", "-o", "policy.toml")
    if done.code == 0:
        if everyday.decisions:
            run(*MAKE).refuses(2, *everyday.decisions)
            _decide(everyday)
        done = run(*MAKE)
    if everyday.asked is not None:
        assert done.code in (1, 2)
        assert everyday.asked in done.err
        assert not Path("release.csv").exists()
        return
    assert done.code == 0, done.err
    audit, report = (run(*way) for way in (AUDIT, REPORT))
    assert audit.code == report.code  # both judge alike
    assert audit.code in (0, 3)
    found = unsafe(everyday, Path("people.csv"), Path("release.csv"))
    if "✓" in _verdict(audit.out) + _verdict(report.out):
        assert not found, audit.out
    if audit.code == 0:  # at most what was decided at the keyboard, and the verdict doubts that
        assert all(what.split()[0] in everyday.decisions for what in found), audit.out


def _verdict(printed: str) -> str:
    """Return the lines of a verdict."""
    words = ("In order", "With care", "Not ready")
    lines = [line for line in printed.splitlines() if any(word in line for word in words)]
    assert lines, printed
    return "\n".join(lines)


def test_a_harmful_column_that_somebody_calls_harmless(run, write):
    """The column is named when it is published, and the audit says whose value it gives away."""
    everyday = renamed("insensitive")()
    write("people.csv", everyday.text)
    Path("policy.toml").unlink()
    run("init", "people.csv", "-o", "policy.toml")
    _decide(everyday)
    made = run(*MAKE)
    assert "note: 'kz7' is published exactly, as insensitive" in made.out
    assert unsafe(everyday, Path("people.csv"), Path("release.csv"))[0].startswith("kz7 of ")
    audit = run(*AUDIT)
    assert "▲ With care" in _verdict(audit.out)
    assert "medium  'kz7' of" in audit.out


@pytest.mark.parametrize("role", ["quasi", "insensitive"])
def test_judge_finds_what_an_untouched_table_gives_away(write, role):
    everyday = renamed(role)()
    people = write("people.csv", everyday.text)
    found = unsafe(everyday, people, people)
    assert found == [f"{on} of 240 of 240 people is known" for on in ("kz7", "salary")]


def test_a_title_above_the_original_is_not_looked_for_in_its_release(run, write):
    everyday = TABLES["export"]()
    rows = everyday.text.splitlines()[:-1]  # without the total
    write("people.csv", "\n".join(rows) + "\n")
    Path("policy.toml").unlink()
    assert run("init", "people.csv", "--skip-rows", "1", "-o", "policy.toml").code == 0
    assert "skip_rows = 1" in Path("policy.toml").read_text()
    assert run(*MAKE).code == 0
    audit, report = (run(*way) for way in (AUDIT, REPORT))
    assert (audit.code, report.code) == (0, 0), audit.err
    assert run("check", "release.csv", "-p", "policy.toml").code == 0
