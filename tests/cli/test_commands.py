"""Every command as a user types it, when all is well."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from wideberth import __version__

CHECK = ("check", "people.csv", "--qi", "age,zip")
SALARY = ("--sensitive", "salary")


# check


def test_satisfied(run):
    outcome = run(*CHECK, "--principle", "k-anonymity:k=3")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "people.csv: 6 rows in 2 groups"
    assert lines[2].split() == ["✓", "k-anonymity:k=3", "-", "k=3", "none"]
    assert lines[-1] == "✓ satisfied: 1 principle"


def test_not_satisfied(run):
    outcome = run(*CHECK, *SALARY, "--principle", "epsilon-m:epsilon=100,m=2")
    assert (outcome.code, outcome.err) == (3, "")
    assert "epsilon-m:epsilon=100,m=2  salary  m=1       1 group, 3 rows" in outcome.out
    assert "<30" not in outcome.out
    shown = run(*CHECK, *SALARY, "--principle", "epsilon-m:epsilon=100,m=2", "--show-rows")
    assert "<30  130**     3  m=1" in shown.out
    assert ">=40" not in shown.out
    assert outcome.out.endswith("✗ not satisfied: 1 of 1 principle\n")


def test_one_failing_principle_is_enough(run):
    both = ("--principle", "k-anonymity:k=3", "--principle", "k-anonymity:k=4")
    outcome = run(*CHECK, *both)
    assert outcome.code == 3
    assert outcome.out.endswith("✗ not satisfied: 1 of 2 principles\n")


def test_policy(run):
    outcome = run("check", "people.csv", "-p", "policy.toml")
    assert outcome.code == 0
    assert "✓ satisfied: 2 principles" in outcome.out


def test_the_command_line_goes_before_the_policy(run):
    stricter = ("--principle", "k-anonymity:k=4")
    outcome = run("check", "people.csv", "-p", "policy.toml", *stricter)
    assert outcome.code == 3
    assert "distinct-l" not in outcome.out


def test_options_may_be_repeated(run):
    once = run(*CHECK, "--principle", "k-anonymity:k=4")
    twice = run(
        *("check", "people.csv", "--qi", "age", "--qi", " zip , age"),
        *("--principle", "k-anonymity:k=4"),
    )
    assert once == twice


def test_group_ids(run, write):
    write("release.csv", "group,salary\n1,40\n1,60\n2,50\n2,80\n")
    line = ("check", "release.csv", *SALARY, "--principle", "epsilon-m:epsilon=15,m=2")
    assert run(*line, "--group", "group").code == 0


def test_population(run, write):
    write("everyone.csv", "name;age;zip\n" + "a;<30;130**\n" * 12 + "b;>=40;1485*\n" * 6)
    line = (*CHECK, "--population", "everyone.csv", "--principle")
    assert run(*line, "delta-presence:delta_max=0.5,delta_min=0.25").code == 0
    assert run(*line, "delta-presence:delta_max=0.4").code == 3


def test_options_for_csv_hold_for_the_population_too(run, write):
    write("people.csv", "age;zip\n1,5;x\n1,5;\n")
    write("everyone.csv", "age;zip\n1,5;x\n1,5;-\n")
    outcome = run(
        *(*CHECK, "--population", "everyone.csv", "--delimiter", ";", "--missing", "-,"),
        *("--principle", "delta-presence:delta_min=1,delta_max=1"),
    )
    assert outcome.code == 0


def test_reference(run, write):
    write("original.csv", Path("people.csv").read_text() + "*,*,flu,0\n" * 6)
    line = (*CHECK, "--sensitive", "disease", "--principle")
    # The groups have 2/3 and 1/3 flu, the table 1/2, the original 9/12.
    assert run(*line, "t-closeness:t=0.2").code == 0
    outcome = run(*line, "t-closeness:t=0.2", "--reference", "original.csv")
    assert outcome.code == 3
    assert "note: t-closeness compares with the 12 rows of the reference" in outcome.out
    assert run(*line, "t-closeness:t=0.42", "--reference", "original.csv").code == 0


def test_a_reference_beside_a_policy_that_says_how_to_read(run, write):
    write("people.csv", "age;salary\n1;5\n1;-\n2;5\n2;-\n")
    write("original.csv", "age;salary;name\n1;5;a\n2;-;b\n")
    write(
        "policy.toml",
        '[table]\nmissing = ["-"]\n[roles]\nquasi = ["age"]\nsensitive = ["salary"]\n'
        '[[principle]]\nname = "t-closeness"\nt = 0\n',
    )
    outcome = run("check", "people.csv", "-p", "policy.toml", "--reference", "original.csv")
    assert (outcome.code, outcome.err) == (0, "")


def test_a_reference_that_nothing_asks_for(run):
    outcome = run(*CHECK, "--principle", "k-anonymity:k=3", "--reference", "people.csv")
    assert outcome.code == 0
    assert outcome.err == "note: no principle asks for the --reference\n"


def test_a_reference_of_another_table(run, write, secret):
    write("people.csv", Path("people.csv").read_text() + f"<30,130**,{secret},1000\n")
    write("other.csv", "disease\nflu\ncancer\nulcer\n")
    line = (*CHECK, "--sensitive", "disease", "--principle", "t-closeness:t=1", "--reference")
    run(*line, "other.csv").refuses(1, "column 'disease', row 7", "the release was made from")
    run(*line, "policy.csv").refuses(1, "policy.csv")


def test_options_for_csv_complete_those_of_the_policy(run, write):
    write("people.csv", "age|salary\ncafé|x\ncafé|2\n".encode("latin-1"))
    write(
        "policy.toml",
        '[table]\nencoding = "latin-1"\nmissing = ["x"]\n'
        '[roles]\nquasi = ["age"]\nsensitive = ["salary"]\n'
        '[[principle]]\nname = "variance"\nt = 0\n',
    )
    outcome = run("check", "people.csv", "-p", "policy.toml", "--delimiter", "|")
    assert (outcome.code, outcome.err) == (0, "")


def test_hierarchy_from_where_the_user_stands(run, write):
    Path("rules").mkdir()
    write("tree.csv", "flu;infection;*\ncancer;tumour;*\nulcer;stomach;*\n")
    policy = Path("policy.toml").read_text()
    Path("rules/policy.toml").write_text(policy)
    outcome = run(
        *("check", "people.csv", "-p", "rules/policy.toml", "--hierarchy", "disease=tree.csv"),
        *("--principle", "l-e:on=disease,l=2,e=1"),
    )
    assert outcome.code == 3
    assert outcome.err == "note: --principle replaces the 2 that the policy lists\n"


def test_type(run, write):
    write("people.csv", "age,zip,salary\n1,2,1.0\n1,2,1.00\n")
    line = (*CHECK, *SALARY, "--principle", "distinct-l:l=2", "--type")
    assert run(*line, "salary=float").code == 3
    assert run(*line, "salary=text").code == 0


@pytest.mark.parametrize(("worst", "shown"), [(0, 0), (1, 1), (2, 2), (9, 2)])
def test_worst(run, worst, shown):
    line = (*CHECK, "--principle", "k-anonymity:k=9", "--worst", worst)
    assert run(*line).out.count("k = 9 wanted") == shown
    report = json.loads(run(*line, "--format", "json").out)
    assert len(report["principles"][0]["worst"]) == shown


def test_values_are_shown_as_they_are(run, write):
    write("people.csv", "age,zip\n[red],1\n[/x],2\n:smile:,3\n[a-c],4\n,5\n")
    out = run(*CHECK, "--principle", "k-anonymity:k=2", "--show-rows").out
    for label in ("[red]", "[/x]", ":smile:", "[a-c]", "<missing>"):
        assert f"\n{label} " in out


def test_values_are_not_shown_unless_asked_for(run, write):
    write("people.csv", "age,zip\n41,13053\n42,13068\n42,13068\n")
    outcome = run(*CHECK, "--principle", "k-anonymity:k=3")
    assert "--show-rows" in outcome.out
    for value in ("41", "42", "13053", "13068"):
        assert value not in outcome.out + outcome.err
    assert [line.split()[:2] for line in outcome.out.splitlines() if "wanted" in line] == [
        ["1", "1"],
        ["2", "2"],
    ]


def test_a_file_in_another_encoding_is_read_with_a_note(shell, write):
    write("people.csv", "age,zip\ncafé,1\n".encode("cp1252"))
    outcome = shell("wideberth check people.csv --qi age,zip --principle k-anonymity:k=1")
    assert outcome.code == 0
    assert outcome.err.startswith("note: line 2 of people.csv is not valid UTF-8")
    assert "Warning" not in outcome.err
    assert "café" not in outcome.err


# init


def test_init_prints(run):
    outcome = run("init", "people.csv")
    assert (outcome.code, outcome.err) == (0, "")
    assert '"disease",  # category' in outcome.out


def test_init_writes_what_check_reads(run):
    outcome = run("init", "people.csv", "-o", "new.toml")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "wrote new.toml: check the roles of 4 columns\n"
    assert Path("new.toml").read_text() == run("init", "people.csv").out
    assert run("check", "people.csv", "-p", "new.toml").code == 3  # k = 5 is not met


@pytest.mark.parametrize("digits", [19, 20, 39, 60])
def test_init_of_long_ids(run, write, digits):
    ids = [str(10**digits + 7 * i) for i in range(30)]
    write("long.csv", "\n".join(["id,age", *(f"{each},{20 + i}" for i, each in enumerate(ids))]))
    columns = json.loads(run("init", "long.csv", "--format", "json").out)["columns"]
    assert columns[0]["role"] == "identifier"


def test_init_remembers_how_the_table_is_read(run, write):
    write("odd.csv", "age|zip\n1|-\n2|5\n")
    run("init", "odd.csv", "--delimiter", "|", "--missing", "-", "-o", "new.toml")
    outcome = run("check", "odd.csv", "-p", "new.toml", "--format", "json", "--show-rows")
    worst = json.loads(outcome.out)["principles"][0]["worst"]
    assert {"age": "1", "zip": None} in [group["group"] for group in worst]


# principles


def test_principles(run):
    outcome = run("principles")
    assert outcome.code == 0
    assert "epsilon-m          epsilon, m, relative, e1, e2" in outcome.out


def test_principles_for_programs(run):
    every = json.loads(run("principles", "--format", "json").out)
    one = json.loads(run("principles", "epsilon-m", "--format", "json").out)
    assert one in every
    assert one["reference"].startswith("Li, Tao, Xiao 2008")
    assert [p["name"] for p in one["parameters"] if p["required"]] == ["m"]


# hierarchy


def test_hierarchy_show(run, write):
    write("tree.csv", "flu;infection;*\ncold;infection;*\nulcer;stomach;*\n")
    outcome = run("hierarchy", "show", "tree.csv")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "tree.csv: 3 leaves all at equal depth, 3 levels",
        "distinct values per level: 3 → 2 → 1",
        "",
        "*  (3)",
        "  infection  (2)",
        "    flu",
        "    cold",
        "  stomach",
        "    ulcer",
    ]


def test_hierarchy_show_stops_somewhere(run, write):
    write("tree.csv", "".join(f"leaf {i};*\n" for i in range(10)))
    outcome = run("hierarchy", "show", "tree.csv", "--limit", 4)
    assert "leaf 2" in outcome.out
    assert "leaf 3" not in outcome.out
    assert outcome.out.endswith("… and 7 more nodes (--limit)\n")


def test_hierarchy_show_for_programs(run, write):
    write("tree.csv", "E11.9;E11\nE11;E10-E14\nI10;I10-I15\n")
    facts = json.loads(run("hierarchy", "show", "--parents", "tree.csv", "--format", "json").out)
    assert (facts["leaves"], facts["levels"], facts["balanced"]) == (2, 4, False)


@pytest.mark.filterwarnings("always")
def test_hierarchy_validate_says_what_may_be_a_header(run, write):
    write("h.csv", "sector,kind\nState,Public\nCity,Public\nFirm,Private\n")
    write("jobs.csv", "job\nState\nCity\nFirm\n")
    line = ("hierarchy", "validate", "h.csv", "--table", "jobs.csv", "--column", "job")
    said = "the first row of the file is taken for a value, which the column does not have"
    done = run(*line)
    assert (done.code, said in done.err, "sector" in done.err) == (0, True, False)
    assert json.loads(run(*line, "--format", "json").out)["doubt"].startswith(said)


def test_hierarchy_validate(run, write):
    write("tree.csv", "flu;infection;*\ncancer;tumour;*\nulcer;stomach;*\n")
    assert run("hierarchy", "validate", "tree.csv").out == (
        "tree.csv is consistent: 3 leaves, 3 levels\n"
    )
    outcome = run(
        "hierarchy", "validate", "tree.csv", "--table", "people.csv", "--column", "disease"
    )
    assert outcome.code == 0
    assert outcome.out.endswith("3 levels, and every value of 'disease'\n")
    write("tree.csv", "disease,kind\nflu,infection\ncancer,tumour\nulcer,stomach\n")
    outcome = run(
        "hierarchy", "validate", "tree.csv", "--table", "people.csv", "--column", "disease"
    )
    assert "3 leaves, 3 levels, its first row taken for a header, and every" in outcome.out


@pytest.mark.parametrize(
    ("column", "way", "row"),
    [
        ("salary", ["--interval", "500,1000"], "1020;1000-1499;1000-1999;*"),
        ("salary", ["--interval", "500", "--origin", "20"], "1020;1020-1519;*"),
        ("zip", ["--mask", "2"], "1485*;1485*;148**;*"),
        ("born", ["--date", "month,year"], "1999-12-31;1999-12;1999;*"),
        ("disease", ["--flat"], "flu;*"),
    ],
    ids=["interval", "origin", "mask", "date", "flat"],
)
def test_hierarchy_build(run, write, column, way, row):
    table = pl.read_csv("people.csv").with_columns(born=pl.lit("1999-12-31"))
    table.with_columns(born=pl.when(pl.col("salary") > 1000).then("born")).write_csv("people.csv")
    build = ("hierarchy", "build", "--table", "people.csv", "--column", column, *way)
    printed = run(*build)
    assert (printed.code, printed.err) == (0, "")
    assert row in printed.out.splitlines()
    written = run(*build, "-o", "new.csv")
    assert (written.code, written.out) == (0, "")
    assert Path("new.csv").read_text() == printed.out
    valid = run("hierarchy", "validate", "new.csv", "--table", "people.csv", "--column", column)
    assert valid.code == 0


# demo, and the program as such


DEMO = ["census.csv", "policy.toml", "release.csv", "release.csv.manifest.json", "report.html"]


def test_demo(run):
    outcome = run("demo", "--rows", "500")
    assert (outcome.code, outcome.err) == (0, "")
    assert "epsilon-m:epsilon=100,m=2  salary  m=1.333" in outcome.out
    assert "✓ satisfied: 2 principles" in outcome.out
    assert "one whole group of release.csv" in outcome.out
    assert sorted(path.name for path in Path("wideberth-demo").iterdir()) == DEMO


def test_demo_keeps_what_can_be_checked(run):
    assert run("demo", "--rows", "500", "-o", "new/demo").code == 0
    assert sorted(path.name for path in Path("new/demo").iterdir()) == DEMO
    check = ("check", "-p", "new/demo/policy.toml")
    assert run(*check, "new/demo/census.csv").code == 3
    assert run(*check, "new/demo/release.csv", "--group", "group").code == 0
    assert run("demo", "--rows", "500", "-o", "new/demo", "--force").code == 0


def test_demo_for_programs(run):
    outcome = run("demo", "--rows", "500", "--format", "json")
    found = json.loads(outcome.out)
    assert outcome.err == ""
    assert not found["Table 1b"]["satisfied"]
    assert found["verified"]["satisfied"]
    assert found["verified"]["rows"] == found["manifest"]["rows"] == 500
    assert found["advice"]["max_m"] >= 5


def test_version(run):
    assert run("--version") == (0, f"wideberth, version {__version__}\n", "")


def test_no_command_shows_the_help(run):
    outcome = run()
    assert outcome.code == 2
    assert "Usage: wideberth" in outcome.err


@pytest.mark.parametrize(
    ("line", "code", "begins"),
    [
        ("wideberth --help", 0, "Usage: wideberth"),
        ("wideberth check people.csv -p policy.toml", 0, "people.csv: 6 rows in 2 groups\n"),
        ("wideberth check people.csv -p policy.toml --format json", 0, "{\n"),
        ("wideberth check people.csv --qi age --principle k-anonymity:k=4", 3, "people.csv: 6"),
        ("wideberth check people.csv --qi age --principle k-anonymity", 2, ""),
        ("wideberth check nowhere.csv -p policy.toml", 1, ""),
        ("wideberth init people.csv", 0, "# Proposed by"),
    ],
)
def test_in_a_real_shell(shell, line, code, begins):
    outcome = shell(line)
    assert outcome.code == code
    assert outcome.out.startswith(begins)
    assert bool(outcome.out) == (code in (0, 3))
    assert bool(outcome.err) == (code in (1, 2))
    assert "Traceback" not in outcome.err


def test_help_does_not_wait_for_what_it_does_not_need(shell):
    listing = "import sys, wideberth.cli; print(*sys.modules)"
    modules = set(shell(f"{sys.executable} -c '{listing}'").out.split())
    assert "click" in modules
    assert not {"polars", "numpy", "pyarrow", "rich"} & modules
