"""What commands print is kept in logs and tickets: it names no value of a person, in any form.

Asking for rows, hierarchies and reports, which show labels, is another matter: docs/threat-model.md
lists what does.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

ROWS = 120
#: One group by themselves: what is possible for all, and what only refusals speak of.
POSSIBLE = ("k-anonymity:k=5", "distinct-l:l=3,on=ill", "epsilon-m:epsilon=1000000,m=3,on=pay")
IMPOSSIBLE = (
    "frequency-l:l=40,on=ill",
    "epsilon-m:epsilon=500000000,m=30,on=pay",
    "k-anonymity:k=500",
)
ROLES = ("--qi", "age,code", "--sensitive", "ill,pay", "--identifier", "nr", "--rows-are-people")


@pytest.fixture
def values(write) -> set[str]:
    """Write a table, and return its values as they may be printed; ages are like other figures."""
    rng = random.Random(5)
    rows = [
        (
            f"Nq{rng.randint(0, 10**6)}",
            rng.randint(20, 80),
            f"Cq{rng.choice('abcdefgh')}{rng.choice('abcd')}x",
            rng.choice(["Iqflu", "Iqgout", "Iqmumps", f"Iqrare{rng.randint(0, 9)}"]),
            rng.randint(10**8, 10**9),
        )
        for _ in range(ROWS)
    ]
    lines = [",".join(map(str, row)) for row in rows]
    write("people.csv", "\n".join(["nr,age,code,ill,pay", *lines]) + "\n")
    texts = {str(cell) for nr, _, code, ill, pay in rows for cell in (nr, code, ill, pay)}
    return texts | {f"{pay:,}" for *_, pay in rows}


@pytest.mark.parametrize("form", [(), ("--format", "json")], ids=["text", "json"])
def test_no_command_prints_a_value_unasked(run, values, form):
    asked = ("--qi", "age,code", "--sensitive", "ill,pay", "--rows-are-people")
    beside = ("release.csv", "--original", "people.csv", "--rows-are-people")
    lines = {
        ("init", "people.csv"): 0,
        ("check", "people.csv", *asked, *_demanded(POSSIBLE)): 3,
        ("check", "people.csv", *asked, *_demanded(POSSIBLE), "--memory", "600MB"): 3,
        ("advise", "people.csv", "--sensitive", "pay", "--m", "2"): 0,
        ("advise", "people.csv", "--sensitive", "pay", "--epsilon", "100000"): 0,
        ("advise", "people.csv", "--sensitive", "ill"): 0,
        (
            "anonymize",
            "people.csv",
            *ROLES,
            *_demanded(POSSIBLE),
            "-o",
            "release.csv",
            "--force",
        ): 0,
        ("audit", *beside, "--no-swaps"): None,
        ("measure", "release.csv", "--original", "people.csv", "--qi", "age,code"): 0,
        ("audit", "people.csv", *asked, "--epsilon", "pay=100000"): 3,
        ("check", "release.csv", *asked, *_demanded(POSSIBLE), "--group", "group"): 0,
    }
    for demand in IMPOSSIBLE:
        lines["anonymize", "people.csv", *ROLES, *_demanded([demand]), "-o", "no.csv"] = 3
    for line, code in lines.items():
        done = run(*line, *form)
        assert done.code == code or (code is None and done.code in (0, 3)), (line, done.err)
        said = done.out + done.err
        assert said
        assert not {value for value in values if value in said}, line
    assert not Path("no.csv").exists()


def test_rows_are_shown_on_request(run, values):
    line = ("check", "people.csv", "--qi", "age,code", "--sensitive", "ill,pay")
    done = run(*line, "--principle", "k-anonymity:k=5", "--show-rows")
    assert any(value in done.out for value in values)


def _demanded(principles: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return tuple(word for text in principles for word in ("--principle", text))
