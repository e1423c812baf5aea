"""Tables as people write them on the command line: asked about, confirmed, read alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROWS = [
    (20 + i % 3 * 10, "x" if i % 2 else "y", 5000 * (i % 3) + 10 * i + i / 4) for i in range(30)
]
POINTS = "age;job;wage\n" + "".join(f"{a};{j};{w:.2f}\n" for a, j, w in ROWS)
COMMAS = POINTS.replace(".", ",")
AUDIT = ("--qi", "age,job", "--sensitive", "wage", "--epsilon", "1000", "--format", "json")


def test_an_audit_stops_at_decimal_commas_until_they_are_confirmed(run, write):
    write("points.csv", POINTS)
    write("commas.csv", COMMAS)
    run("audit", "commas.csv", *AUDIT).refuses(2, "'wage'", "1234,56", "[formats]", "--written")
    expected = run("audit", "points.csv", *AUDIT)
    assert expected.code == 3
    assert "100 %" in expected.out
    found = run("audit", "commas.csv", *AUDIT, "--written", "wage=1234,56")
    assert (found.code, json.loads(found.out)) == (3, json.loads(expected.out))
    write("policy.toml", '[roles]\nquasi = ["age", "job"]\nsensitive = ["wage"]\n')
    run("audit", "commas.csv", *AUDIT[4:], "-p", "policy.toml").refuses(2, "'wage'", "1234,56")
    write(
        "policy.toml",
        '[roles]\nquasi = ["age", "job"]\nsensitive = ["wage"]\n[formats]\nwage = "1234,56"\n',
    )
    by_policy = run("audit", "commas.csv", *AUDIT[4:], "-p", "policy.toml")
    assert by_policy.code == 3
    assert json.loads(by_policy.out)["findings"] == json.loads(expected.out)["findings"]


@pytest.mark.parametrize(
    "command",
    [
        ("check", "commas.csv", "--principle", "epsilon-m:epsilon=1000,m=2"),
        ("check", "commas.csv", "--principle", "delta-l:delta=5,l=2", "--memory", "512MB"),
        ("anonymize", "commas.csv", "--principle", "epsilon-m:epsilon=1,m=2", "-o", "r.csv"),
        ("report", "commas.csv", "--epsilon", "1000"),
    ],
)
def test_numeric_demands_stop(run, write, command):
    write("commas.csv", COMMAS)
    run(*command, "--qi", "age,job", "--sensitive", "wage").refuses(2, "'wage'", "1234,56")


def test_advise_stops_and_answers(run, write):
    write("commas.csv", COMMAS)
    asked = ("advise", "commas.csv", "--sensitive", "wage", "--epsilon", "2")
    run(*asked).refuses(2, "'wage'", "--written")
    assert run(*asked, "--written", "wage=1234,56").code == 0


def test_init_proposes_and_every_command_reads(run, write):
    header, _, rest = COMMAS.partition("\n")
    rows = [f"{r};05/{13 + i % 9}/2013\n" for i, r in enumerate(rest.splitlines())]
    write("t.csv", f"{header};birthdate\n" + "".join(rows))
    made = run("init", "t.csv", "-o", "policy.toml", "--force")
    assert "wage is written as 1234,56: read as numbers" in made.err
    text = Path("policy.toml").read_text()
    assert 'wage = "1234,56"' in text
    assert 'birthdate = "%m/%d/%Y"' in text
    assert 'wage = "decimal"' in text
    told = json.loads(run("init", "t.csv", "--format", "json").out)
    assert told["formats"] == {"wage": "1234,56", "birthdate": "%m/%d/%Y"}
    assert run("anonymize", "t.csv", "-p", "policy.toml", "-o", "r.csv").code == 0
    assert run("check", "r.csv", "-p", "policy.toml").code == 0
    for verb in ("audit", "report", "measure"):
        done = run(verb, "r.csv", "-p", "policy.toml", "--original", "t.csv")
        assert done.code in (0, 3), done.err
    assert run("check", "t.csv", "-p", "policy.toml", "--memory", "512MB").code == 3
    assert run("advise", "t.csv", "-p", "policy.toml", "--epsilon", "3").code == 0


@pytest.mark.parametrize(
    ("write_day", "way"),
    [
        ("{0}.{1}.{2}", "%d.%m.%Y"),
        ("{0}-{3}-{2}", "%d-%b-%Y"),
        ("{1}/{0}/{4}", "%m/%d/%y (1930-2029)"),
    ],
)
def test_days_as_people_write_them_are_published_on_a_grid(run, write, write_day, way):
    names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    days = [(1 + i % 28, 1 + i % 12, 1930 + i) for i in range(60)]
    cells = [write_day.format(d, m, y, names[m - 1], f"{y % 100:02}") for d, m, y in days]
    write("t.csv", "born,disease\n" + "".join(f"{c},{i % 4}\n" for i, c in enumerate(cells)))
    told = () if "y" not in way else ("--written", f"born={way}")
    assert run("init", "t.csv", "-o", "policy.toml", "--force", *told).code == 0
    policy = Path("policy.toml").read_text()
    assert 'born = "date"' in policy
    assert f'born = "{way}"' in policy
    for more in ((), ("--memory", "600MB")):
        line = ("anonymize", "t.csv", "-p", "policy.toml", "-o", "r.csv", "--force", *more)
        assert run(*line).code == 0
        text = Path("r.csv").read_text()
        assert not any(f",{cell}," in text or f"{cell}," in text for cell in cells)
        assert "-01-01.." in text


def test_init_asks_where_two_ways_are_possible(run, write):
    write("t.csv", "age,wage,born\n" + "".join(f'{i},"{i + 1},234",05/06/2013\n' for i in range(6)))
    made = run("init", "t.csv")
    assert "'wage' can be read in 2 ways" in made.err
    assert '# wage = "1,234.56"\n' in made.out
    assert '# born = "%m/%d/%Y"\n' in made.out
    assert '\nwage = "text"' not in made.out  # that would be an answer


@pytest.mark.parametrize("more", [(), ("--memory", "600MB")])
def test_a_quasi_identifier_that_can_be_read_in_two_ways_is_asked_about(run, write, more):
    days = (f"0{1 + i % 4}/0{1 + i % 3}/1972" for i in range(40))
    write("t.csv", "born,ill\n" + "".join(f"{day},{'abcd'[i % 4]}\n" for i, day in enumerate(days)))
    line = ("anonymize", "t.csv", "--qi", "born", "--sensitive", "ill", *more)
    line += ("--principle", "distinct-l:l=2", "-o", "r.csv", "--force")
    run(*line).refuses(2, "'born' can be read in 2 ways", "--written 'born=%d/%m/%Y'")
    assert not Path("r.csv").exists()
    for answer in ("--written=born=%d/%m/%Y", "--type=born=text"):
        done = run(*line, answer)
        assert done.code == 0, done.err
        assert ("1972-0" in Path("r.csv").read_text()) == answer.startswith("--written")


def test_a_type_that_is_unclear_is_not_decided_by_init(run, write):
    """An audit by the proposed policy asks, too: text would seem safe."""
    rows = "".join(f"{20 + i % 3};{1000 + i}\n" for i in range(40))
    write("t.csv", f"age;wage\n{rows}21;about 7\n")
    made = run("init", "t.csv", "-o", "policy.toml", "--force")
    assert "all its values are numbers save 1" in made.err
    assert run("anonymize", "t.csv", "-p", "policy.toml", "-o", "r.csv").code == 0
    run("audit", "r.csv", "-p", "policy.toml", "--original", "t.csv").refuses(
        2, "'wage'", "save 1 (see row"
    )
    done = run("audit", "r.csv", "-p", "policy.toml", "--original", "t.csv", "--type", "wage=text")
    assert done.code in (0, 3), done.err


def test_a_title_is_named_and_skipped(run, write):
    write("t.csv", "Wages of 2013\n" + POINTS)
    run("init", "t.csv").refuses(1, "title above the header", "--skip-rows 1")
    made = run("init", "t.csv", "--skip-rows", "1", "-o", "policy.toml", "--force")
    assert made.code == 0
    assert run("anonymize", "t.csv", "-p", "policy.toml", "--dry-run").code == 0


def test_wrong_notations_are_usage(run, write):
    write("t.csv", COMMAS)
    run("init", "t.csv", "--written", "wage=1,234").refuses(2, "two ways")
    run("init", "t.csv", "--written", "wage=1,234.56").refuses(1, "'wage', row 1", "1,234.56")
