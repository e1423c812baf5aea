"""Anatomy as a user types it: two tables or none, whatever befalls."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path

import polars as pl
import pytest

from wideberth import io

TREE = "".join(
    f"{disease};{kind};*\n"
    for kind, diseases in {
        "lung": ["flu", "pneumonia"],
        "stomach": ["ulcer", "gastritis"],
        "tumour": ["cancer", "carcinoid"],
    }.items()
    for disease in diseases
)
DISEASES = [line.split(";")[0] for line in TREE.splitlines()]
KIND = dict(line.split(";")[:2] for line in TREE.splitlines())
ROLES = '[roles]\nidentifier = ["name"]\nquasi = ["age", "zip"]\nsensitive = ["disease"]\n'
PRINCIPLE = '[[principle]]\nname = "l-e"\nl = 3\ne = 1\n'
TRANSFORM = '[transform]\nalgorithm = "anatomy"\n'
POLICY = f'version = 1\n{ROLES}[hierarchies]\ndisease = "tree.csv"\n{TRANSFORM}{PRINCIPLE}'
LE = ("--principle", "l-e:l=3,e=1", "--hierarchy", "disease=tree.csv")
OPTIONS = ("--identifier", "name", "--qi", "age,zip", "--sensitive", "disease")
ANATOMY = ("anonymize", "people.csv", *OPTIONS, "--algorithm", "anatomy")
ANATOMIZE = (*ANATOMY, *LE)
CHECK = ("check", "out/quasi.csv", "--sensitive-table", "out/sensitive.csv")
INPUT = ["people.csv", "policy.toml", "tree.csv"]
OUTPUT = ["manifest.json", "quasi.csv", "sensitive.csv"]

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(autouse=True)
def people(write):
    """24 people, four with each disease, whom age and zip tell apart."""
    frame = pl.DataFrame(
        {
            "name": [f"somebody{i}" for i in range(24)],
            "age": [20 + i % 12 for i in range(24)],
            "zip": [f"0130{i}" for i in range(24)],
            "disease": [DISEASES[i % 6] for i in range(24)],
        }
    )
    frame.write_csv("people.csv")
    write("tree.csv", TREE)
    write("policy.toml", POLICY)
    return frame


def names(folder="."):
    return sorted(os.listdir(folder))


def satisfied(quasi, sensitive, people):
    """Whether two files, read as text, are an anatomy of the people in groups of three kinds."""
    quasi, sensitive = io.read(quasi), io.read(sensitive)
    assert quasi.columns == ["age", "zip", "group"]
    assert sensitive.columns == ["group", "disease", "count"]
    disease = dict(people.select("zip", "disease").rows())
    held = defaultdict(list)
    for _, town, group in quasi.rows():
        held[str(group)].append(disease.pop(town))
    told = Counter({(str(g), d): int(n) for g, d, n in sensitive.rows()})
    assert told == Counter((group, d) for group, inside in held.items() for d in inside)
    assert not disease
    return all(len({KIND[d] for d in inside}) == len(inside) >= 3 for inside in held.values())


def complete(quasi, sensitive, manifest):
    """Whether both files are what the manifest says."""
    told = json.loads(Path(manifest).read_text())["output"]
    return told == {
        part: {
            "name": Path(path).name,
            "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest(),
        }
        for part, path in (("quasi", quasi), ("sensitive", sensitive))
    }


# Where all is well.


def test_into_a_folder(run, people):
    outcome = run(*ANATOMIZE, "-o", "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert names() == sorted([*INPUT, "out"])
    assert names("out") == OUTPUT
    assert satisfied("out/quasi.csv", "out/sensitive.csv", people)
    assert complete("out/quasi.csv", "out/sensitive.csv", "out/manifest.json")
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    assert lines[0] == "out: 24 rows in 8 groups"
    assert lines[2] == "✓  l-e:l=3,e=1  disease  l=3       none"
    assert lines[5].startswith("no row is left out; quasi-identifiers are exact")
    assert lines[6].startswith("reconstruction error 0.667 a row, 0.444 at the true value")
    assert lines[7].endswith("of one kind: 33% at level 0, 33% at level 1 (0 is the value itself)")
    assert lines[8] == "wrote out/quasi.csv, out/sensitive.csv and out/manifest.json"
    assert lines[9].startswith("note: quasi-identifiers are published exactly")


def test_into_a_folder_that_is_there(run, people):
    Path("out").mkdir()
    Path("out/other.txt").write_text("mine")
    assert run(*ANATOMIZE, "-o", "out").code == 0
    assert names("out") == sorted([*OUTPUT, "other.txt"])
    assert Path("out/other.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("source", "suffix"),
    [
        ("people.parquet", "parquet"),
        ("people.arrow", "arrow"),
        ("people.tsv", "tsv"),
        ("people.csv.gz", "csv"),
    ],
)
def test_files_of_the_kind_of_the_input(run, people, source, suffix):
    io.write(people, source)
    line = ("anonymize", source, *ANATOMIZE[2:])
    assert run(*line, "-o", "out").code == 0
    files = [f"quasi.{suffix}", f"sensitive.{suffix}"]
    assert names("out") == ["manifest.json", *files]
    assert satisfied(*(f"out/{name}" for name in files), people)


def test_into_two_files(run, people):
    outcome = run(*ANATOMIZE, "-o", "q.csv", "-o", "s.parquet")
    assert outcome.code == 0
    assert "wrote q.csv, s.parquet and q.csv.manifest.json\n" in outcome.out
    assert names() == sorted([*INPUT, "q.csv", "q.csv.manifest.json", "s.parquet"])
    assert satisfied("q.csv", "s.parquet", people)
    assert complete("q.csv", "s.parquet", "q.csv.manifest.json")


def test_with_a_policy(run, people):
    assert run("anonymize", "people.csv", "-p", "policy.toml", "-o", "out").code == 0
    assert satisfied("out/quasi.csv", "out/sensitive.csv", people)
    assert run(*CHECK, "-p", "policy.toml").code == 0


def test_options_before_the_policy(run, people, write):
    write("policy.toml", POLICY.replace(TRANSFORM, TRANSFORM + 'method = "mbf"\n'))
    line = ("anonymize", "people.csv", "-p", "policy.toml", "--dry-run", "--format", "json")
    told = json.loads(run(*line).out)["transform"]
    assert (told["method"], told["group_rows"]) == ("mbf", None)
    told = json.loads(run(*line, "--method", "components", "--group-rows", 4).out)["transform"]
    assert (told["method"], told["group_rows"]) == ("components", 4)


def test_a_dry_run_writes_nothing(run):
    outcome = run(*ANATOMIZE, "-o", "out", "--dry-run")
    assert outcome.code == 0
    assert "nothing was written (--dry-run)" in outcome.out
    assert run(*ANATOMIZE, "--dry-run").code == 0
    assert names() == INPUT


def test_json_is_the_manifest(run):
    outcome = run(*ANATOMIZE, "-o", "out", "--format", "json")
    assert outcome.code == 0
    told = json.loads(outcome.out)
    assert told == json.loads(Path("out/manifest.json").read_text())
    assert told["output"]["quasi"]["name"] == "quasi.csv"
    assert told["input"] == {"name": "people.csv", "rows": 24, "columns": 4}
    assert told["anatomy"]["suppression_proven_least"] is True
    dry = json.loads(run(*ANATOMIZE, "--dry-run", "--format", "json").out)
    assert dry.keys() == told.keys()


def test_the_manifest_holds_no_cell(run, people):
    run(*ANATOMIZE, "-o", "out")
    told = json.loads(Path("out/manifest.json").read_text())
    text = json.dumps({**told, "output": None})  # whose digits are chance
    cells = {*people["name"], *people["zip"], *people["disease"]}
    assert not [cell for cell in cells if cell in text]


def test_suppression(run, people):
    more = [people[:1].with_columns(zip=pl.lit(town)) for town in ("99998", "99999")]
    pl.concat([people, *more]).write_csv("people.csv")
    # Which two rows are left out is chance: with this seed, they have one value.
    run(*ANATOMIZE, "-o", "out", "--seed", "2").refuses(
        3,
        "column 'disease': 10 of 26 rows have similar values, more than 1/3",
        "2 rows would have to be suppressed (7.692 %)",
        "l=2 with e=1 (tried: 0% loss), or e=0.5 with l=3 (tried: 0% loss)",
        "not suppression_limit=0.077: both rows left out have one value of 'disease'",
    )
    run(*ANATOMIZE, "-o", "out", "--suppression-limit", "0.07").refuses(3, "the limit is 7 %")
    assert names() == INPUT
    outcome = run(*ANATOMIZE, "-o", "out", "--suppression-limit", "0.077")
    assert outcome.code == 0
    assert "2 rows are left out; " in outcome.out
    assert io.read("out/quasi.csv").height == 24


# Where it goes, and what is refused before the work.


@pytest.fixture
def idle(monkeypatch):
    """Let no work be done."""

    def work(*_, **__):
        raise AssertionError("the target was not checked first")

    monkeypatch.setattr("wideberth.release.anonymize.anonymize", work)


def test_one_file_is_not_enough(run, idle):
    run(*ANATOMIZE, "-o", "out.csv").refuses(
        1, "an anatomised release is two tables, out.csv is one file", "-o FOLDER, or -o"
    )
    assert names() == INPUT


@pytest.mark.parametrize(
    ("output", "phrases"),
    [
        (["a.csv", "b.csv", "c.csv"], ["two tables, not 3"]),
        (["a.csv", "a.csv"], ["both tables would be written to one file"]),
        (["a.csv", "./a.csv"], ["both tables would be written to one file"]),
        (["a.csv", "b.xlsx"], ["unknown suffix '.xlsx'"]),
        (["a", "b"], ["unknown suffix"]),
        (["nowhere/out"], ["there is no directory nowhere", "create it"]),
        (["a.csv", "nowhere/b.csv"], ["there is no directory nowhere"]),
        (["tree"], ["tree is a file", "name a folder"]),
        (["new/a.csv", "b.csv"], ["there is no directory new"]),
    ],
    ids=str,
)
def test_places_that_do_not_do(run, idle, write, output, phrases):
    write("tree", "a file, no folder")
    line = [part for name in output for part in ("-o", name)]
    run(*ANATOMIZE, *line).refuses(1, *phrases)
    assert names() == sorted([*INPUT, "tree"])


@pytest.mark.parametrize("name", OUTPUT)
def test_what_exists_stays_unless_forced(run, idle, name):
    Path("out").mkdir()
    Path("out", name).write_text("precious")
    run(*ANATOMIZE, "-o", "out").refuses(1, f"out/{name} exists", "--force")
    assert names("out") == [name]
    assert Path("out", name).read_text() == "precious"


@pytest.mark.parametrize("name", ["q.csv", "s.csv", "q.csv.manifest.json"])
def test_two_files_that_exist_stay_unless_forced(run, idle, write, name):
    write(name, "precious")
    run(*ANATOMIZE, "-o", "q.csv", "-o", "s.csv").refuses(1, f"{name} exists", "--force")
    assert names() == sorted([*INPUT, name])
    assert Path(name).read_text() == "precious"


def test_what_exists_is_replaced_on_demand(run, people):
    Path("out").mkdir()
    for name in OUTPUT:
        Path("out", name).write_text("old")
    assert run(*ANATOMIZE, "-o", "out", "--force").code == 0
    assert names("out") == OUTPUT
    assert satisfied("out/quasi.csv", "out/sensitive.csv", people)
    assert complete("out/quasi.csv", "out/sensitive.csv", "out/manifest.json")


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
@pytest.mark.parametrize(
    "output",
    [
        ("people.csv", "s.csv"),
        ("q.csv", "people.csv"),
        ("q.csv", "tree.csv"),
        ("link.csv", "s.csv"),
        ("q.csv", "./x/../people.csv"),
        ("q.csv", "twin.csv"),
    ],
    ids=str,
)
def test_what_is_read_is_never_replaced(run, idle, output, force):
    before = Path("people.csv").read_bytes()
    Path("x").mkdir()
    Path("link.csv").symlink_to("people.csv")
    os.link("people.csv", "twin.csv")
    run(*ANATOMIZE, "-o", output[0], "-o", output[1], *force).refuses(1, "is the file that is read")
    assert Path("people.csv").read_bytes() == before
    assert Path("tree.csv").read_text() == TREE


def test_a_folder_in_which_the_original_lies(run, idle):
    """The original may itself be named quasi.csv."""
    Path("out").mkdir()
    Path("people.csv").rename("out/quasi.csv")
    line = ("anonymize", "out/quasi.csv", *ANATOMIZE[2:], "-o", "out", "--force")
    run(*line).refuses(1, "out/quasi.csv is the file that is read")


def test_two_files_are_for_anatomy_only(run):
    line = ("anonymize", "people.csv", *OPTIONS, "--principle", "k-anonymity:k=3")
    run(*line, "-o", "a.csv", "-o", "b.csv").refuses(2, "only an anatomy has two tables")


def test_nowhere(run):
    run(*ANATOMIZE).refuses(2, "-o OUT", "--dry-run")


# Failures leave nothing.


@pytest.mark.parametrize("output", [["-o", "out"], ["-o", "q.csv", "-o", "s.csv"]], ids=str)
def test_principles_that_cannot_be_met_leave_no_folder(run, output):
    line = (*ANATOMY, "--principle", "l-e:l=4,e=1", "--hierarchy", "disease=tree.csv")
    run(*line, *output).refuses(3, "3 buckets of similar values, too few for l-e:l=4,e=1", "l=3")
    assert names() == INPUT


@pytest.mark.parametrize("folder", [False, True], ids=["new folder", "old folder"])
@pytest.mark.parametrize("part", ["quasi", "sensitive", "manifest"])
def test_a_disk_that_is_full(run, monkeypatch, part, folder):
    """Whichever of the three files cannot be written, none is there, nor a draft."""

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    honest = io.put

    def put(frame, path):
        return full() if part in path.name else honest(frame, path)

    monkeypatch.setattr(io, "put", put)
    if part == "manifest":
        monkeypatch.setattr(Path, "write_text", full)
    if folder:
        Path("out").mkdir()
    run(*ANATOMIZE, "-o", "out").refuses(1, "cannot be written: No space left on device")
    assert names() == sorted([*INPUT, "out"] if folder else INPUT)
    assert not folder or names("out") == []


def test_a_release_that_fails_its_verification(run, monkeypatch):
    from wideberth.release import anatomized

    honest = anatomized.sorted_value_counts

    def forged(ids, values):
        return honest(ids, values).with_columns(pl.col("row").reverse())

    monkeypatch.setattr(anatomized, "sorted_value_counts", forged)
    run(*ANATOMIZE, "-o", "out").refuses(1, "failed its own verification", "please report it")
    assert names() == INPUT


#: Runs the command line, but is hit by a signal when half of the second table is written.
HIT_MIDWAY = """
import os, signal, sys
import polars as pl
whole = pl.DataFrame.write_csv
def part(self, file, **options):
    if "count" not in self.columns:
        return whole(self, file, **options)
    whole(self.head(self.height // 2), file, **options)
    file.flush()
    os.kill(os.getpid(), signal.{signal})
pl.DataFrame.write_csv = part
from wideberth.cli import main
main(sys.argv[1:])
"""


def hit(how, *arguments):
    return subprocess.run(
        [sys.executable, "-c", HIT_MIDWAY.format(signal=how), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


@posix
def test_interrupted_while_writing():
    done = hit("SIGINT", *ANATOMIZE, "-o", "out")
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "interrupted")
    assert names() == INPUT


@posix
def test_killed_while_writing(run, people):
    done = hit("SIGKILL", *ANATOMIZE, "-o", "out")
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert all(name.startswith(".") for name in names("out"))  # drafts alone
    assert run(*ANATOMIZE, "-o", "out").code == 0
    assert names("out") == OUTPUT
    assert satisfied("out/quasi.csv", "out/sensitive.csv", people)


# Checking.


@pytest.fixture
def out(run):
    assert run(*ANATOMIZE, "-o", "out", "--seed", 1).code == 0


def test_check(run, out):
    outcome = run(*CHECK, "--sensitive", "disease", *LE)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("out/quasi.csv: 24 rows in 8 groups\n")
    assert "✓ satisfied: 1 principle" in outcome.out


@pytest.mark.parametrize(
    ("principle", "code"),
    [("l-e:l=3,e=1.5", 0), ("l-e:l=4,e=1", 3), ("l-e:l=3,e=2", 3), ("entropy-l:l=3", 0)],
)
def test_check_of_another_principle(run, out, principle, code):
    line = ("--sensitive", "disease", "--principle", principle, "--hierarchy", "disease=tree.csv")
    assert run(*CHECK, *line).code == code


def test_check_with_a_policy(run, out, write):
    """The policy that made it, with its algorithm and hierarchies."""
    assert run(*CHECK, "-p", "policy.toml").code == 0
    outcome = run(*CHECK, "-p", "policy.toml", "--format", "json")
    told = json.loads(outcome.out)
    assert (told["rows"], told["groups"], told["satisfied"]) == (24, 8, True)
    write("policy.toml", POLICY.replace("l = 3", "l = 4"))
    assert run(*CHECK, "-p", "policy.toml").code == 3


def test_check_of_a_group_with_another_name(run, write):
    write("policy.toml", 'group = "cell"\n' + POLICY)
    assert run("anonymize", "people.csv", "-p", "policy.toml", "-o", "out").code == 0
    assert io.read("out/sensitive.csv").columns[0] == "cell"
    assert run(*CHECK, "-p", "policy.toml").code == 0
    assert run(*CHECK, "--sensitive", "disease", "--group", "cell", *LE).code == 0
    run(*CHECK, "--sensitive", "disease", *LE).refuses(1, "no column 'group'")


@pytest.mark.parametrize("policy", [True, False], ids=["policy", "options"])
@pytest.mark.parametrize(
    ("change", "phrases"),
    {
        "a count": (
            lambda text: text.replace(",1\n", ",2\n", 1),
            ["1 group does not have as many"],
        ),
        "a line": (lambda text: text.rsplit("\n", 2)[0] + "\n", ["1 group does not have as many"]),
        "no number": (
            lambda text: text.replace(",1\n", ",Zq7Xhush\n", 1),
            ["column 'count', row 1"],
        ),
        "zero": (lambda text: text.replace(",1\n", ",0\n", 1), ["row 1: not a number of rows"]),
        "no count": (lambda text: text.replace("count", "many"), ["has 2 columns besides"]),
        "no group": (lambda text: text.replace("group", "cell"), ["no column 'group'"]),
        "a stranger": (
            lambda text: text.replace("flu", "Zq7Xhush", 1),
            ["1 value is missing from the hierarchy"],
        ),
    }.values(),
)
def test_check_of_tables_that_were_changed(run, out, policy, change, phrases):
    path = Path("out/sensitive.csv")
    path.write_text(change(path.read_text()))
    given = ("-p", "policy.toml") if policy else ("--sensitive", "disease", *LE)
    run(*CHECK, *given).refuses(1, *phrases)


def test_check_of_tables_in_the_wrong_order(run, out):
    line = ("check", "out/sensitive.csv", "--sensitive-table", "out/quasi.csv")
    run(*line, "-p", "policy.toml").refuses(1, "in the right order")


def test_check_of_a_value_that_was_exchanged_for_a_similar_one(run, out):
    """A group with an ulcer gets gastritis for its tumour."""
    path = Path("out/sensitive.csv")
    lines = path.read_text().splitlines()
    group = next(line.split(",")[0] for line in lines if ",ulcer," in line)
    tumour = next(
        i
        for i, line in enumerate(lines)
        if line.startswith(f"{group},c")  # cancer or carcinoid
    )
    lines[tumour] = f"{group},gastritis,1"
    path.write_text("\n".join(lines) + "\n")
    run(*CHECK, "-p", "policy.toml").refuses(1, "not the file that manifest.json describes")
    Path("out/manifest.json").unlink()  # the change is meant
    outcome = run(*CHECK, "-p", "policy.toml")
    assert outcome.code == 3
    assert "1 group, 3 rows" in outcome.out


# Joining.


def test_join(run, out, people):
    outcome = run("join", "out/quasi.csv", "out/sensitive.csv", "-o", "joined.csv")
    assert (outcome.code, outcome.out) == (0, "wrote joined.csv: 72 rows for 24 people\n")
    joined = pl.read_csv("joined.csv", schema_overrides={"zip": pl.String})
    assert joined.columns == ["age", "zip", "group", "disease", "probability"]
    assert joined["probability"].sum() == pytest.approx(24)
    true = joined.join(people, on=["zip", "disease"])
    assert true["probability"].to_list() == pytest.approx([1 / 3] * 24)


def test_join_in_json(run, out):
    outcome = run(
        "join", "out/quasi.csv", "out/sensitive.csv", "-o", "j.parquet", "--format", "json"
    )
    assert json.loads(outcome.out) == {"output": "j.parquet", "rows": 72, "people": 24}


def test_join_refuses(run, out, write):
    tables_ = ("out/quasi.csv", "out/sensitive.csv")
    before = {name: Path(name).read_bytes() for name in tables_}
    for name, force in product(tables_, ([], ["--force"])):
        run("join", *tables_, "-o", name, *force).refuses(1, "is the file that is read")
    assert before == {name: Path(name).read_bytes() for name in tables_}
    write("kept.csv", "precious")
    run("join", *tables_, "-o", "kept.csv").refuses(1, "kept.csv exists", "--force")
    assert Path("kept.csv").read_text() == "precious"
    assert run("join", *tables_, "-o", "kept.csv", "--force").code == 0
    run("join", *tables_, "-o", "j").refuses(1, "unknown suffix")
    run("join", *tables_[::-1], "-o", "j.csv").refuses(1, "in the right order")
    run("join", *tables_, "-o", "j.csv", "--group", "cell").refuses(1, "no column 'cell'")
    run("join", tables_[0], "nothing.csv", "-o", "j.csv").refuses(1, "there is no file nothing.csv")
    run("join", *tables_).refuses(2, "-o")
    assert not Path("j.csv").exists()


# What is wrong.


def named(cases):
    return [pytest.param(*case, id=name) for name, case in cases.items()]


@pytest.mark.parametrize(
    ("tree", "phrases"),
    named(
        {
            "value not in the tree": (
                TREE.replace("flu", "influenza"),
                ["column 'disease': 1 value is missing from the hierarchy (first in row 1)"],
            ),
            "two roots": (
                TREE.replace("lung;*", "lung;chest"),
                ["the tree of 'disease' has several roots", "put one node above them"],
            ),
            "two parents": (
                TREE + "lung cancer;lung;tumour\n",
                ["cell 2 holds one label (line 1) and (line 7) under different parents"],
            ),
            "nothing": ("", ["tree.csv"]),
            "an empty cell": (TREE + "x;;*\n", ["cell 2 is empty (line 7)"]),
        }
    ),
)
def test_a_tree_with_a_mistake(run, write, tree, phrases):
    write("tree.csv", tree)
    run(*ANATOMIZE, "-o", "out").refuses(1, *phrases)
    assert names() == INPUT


@pytest.mark.parametrize(
    ("pairs", "phrases"),
    named(
        {
            "cycle": (
                "lung,stomach\nstomach,tumour\ntumour,lung\n",
                ["is its own ancestor", "leave out one row of the circle"],
            ),
            "two parents": ("flu,tumour\n", ["one child has different parents", "(line 8)"]),
            "two roots": ("lung,chest\nstomach,*\ntumour,*\n", ["several roots"]),
        }
    ),
)
def test_children_and_parents_with_a_mistake(run, write, pairs, phrases):
    leaves = "".join(f"{leaf},{kind}\n" for leaf, kind in KIND.items())
    write("tree.csv", "child,parent\n" + leaves + pairs)
    write("policy.toml", POLICY.replace('"tree.csv"', '{ parents = "tree.csv" }'))
    run("anonymize", "people.csv", "-p", "policy.toml", "-o", "out").refuses(1, *phrases)
    assert names() == INPUT


def test_children_and_parents(run, write, people):
    leaves = "".join(f"{leaf},{kind}\n" for leaf, kind in KIND.items())
    write("tree.csv", "child,parent\n" + leaves + "lung,all\nstomach,all\ntumour,all\n")
    write("policy.toml", POLICY.replace('"tree.csv"', '{ parents = "tree.csv" }'))
    assert run("anonymize", "people.csv", "-p", "policy.toml", "-o", "out").code == 0
    assert satisfied("out/quasi.csv", "out/sensitive.csv", people)


@pytest.mark.parametrize(
    ("options", "code", "phrases"),
    named(
        {
            "negative e": (["--principle", "l-e:l=3,e=-1"], 2, ["e must be a number from 0"]),
            "no e": (["--principle", "l-e:l=3"], 2, ["needs its parameter 'e'"]),
            "l of a half": (["--principle", "l-e:l=2.5,e=1"], 2, ["l must be a whole number"]),
            "l above the buckets": (
                ["--principle", "l-e:l=4,e=1"],
                3,
                ["3 buckets of similar values, too few", "l=3 with e=1 (tried: 0% loss), or e=0.5"],
            ),
            "l above the rows": (["--principle", "l-e:l=25,e=0"], 3, ["too few", "l=6 with e=0"]),
            "k-anonymity": (["--principle", "k-anonymity:k=3"], 2, ["k-anonymity speaks of rows"]),
            "cuts": (["--cuts", "paper", *LE], 2, ["cuts means nothing"]),
            "measure": (["--measure", "ncp", *LE], 2, ["measure means nothing"]),
            "level": (["--level", "age=1", *LE], 2, ["levels means nothing"]),
            "method": (["--method", "magic", *LE], 2, ["--method"]),
            "group rows": (["--group-rows", "0", *LE], 2, ["--group-rows"]),
            "limit": (["--suppression-limit", "2", *LE], 2, ["--suppression-limit"]),
            "mbf without buckets": (
                ["--method", "mbf", "--principle", "entropy-l:l=3"],
                2,
                ["takes rows from buckets", "optimal"],
            ),
        }
    ),
)
def test_what_cannot_be(run, options, code, phrases):
    tree = [] if "tree.csv" in " ".join(options) else ["--hierarchy", "disease=tree.csv"]
    run(*ANATOMY, *options, *tree, "-o", "out").refuses(code, *phrases)
    assert names() == INPUT


def test_no_tree(run):
    line = (*ANATOMY, "--principle", "l-e:l=3,e=1", "-o", "out")
    run(*line).refuses(2, "'disease' has no hierarchy", "--hierarchy COLUMN=FILE")


@pytest.mark.parametrize(
    ("policy", "phrases"),
    named(
        {
            "cuts": (
                POLICY.replace(TRANSFORM, TRANSFORM + 'cuts = "paper"\n'),
                ["cuts means nothing to the algorithm 'anatomy'"],
            ),
            "method": (
                POLICY.replace(TRANSFORM, TRANSFORM + 'method = "magic"\n'),
                ["method must be one of optimal, mbf, components"],
            ),
            "group rows": (
                POLICY.replace(TRANSFORM, TRANSFORM + "group_rows = 0\n"),
                ["group_rows must be a whole number from 1"],
            ),
            "method of mondrian": (
                POLICY.replace(TRANSFORM, '[transform]\nmethod = "mbf"\n'),
                ["method means nothing to the algorithm 'mondrian'"],
            ),
            "k-anonymity": (
                POLICY + '[[principle]]\nname = "k-anonymity"\nk = 3\n',
                ["k-anonymity speaks of rows"],
            ),
            "two sensitive": (
                POLICY.replace('["age", "zip"]', '["age"]')
                .replace('["disease"]', '["disease", "zip"]')
                .replace('"l-e"', '"l-e"\non = "disease"'),
                ["one sensitive attribute, not 2"],
            ),
            "group of that name": ('group = "age"\n' + POLICY, ["'age'"]),
        }
    ),
)
def test_a_policy_with_a_mistake(run, write, policy, phrases):
    write("policy.toml", policy)
    run("anonymize", "people.csv", "-p", "policy.toml", "-o", "out").refuses(1, *phrases)
    assert names() == INPUT


@pytest.mark.parametrize("where", ["name", "age", "zip", "disease"])
def test_no_cell_is_told(run, people, secret, where):
    """One value for all rows, which is wrong for diseases only."""
    people.with_columns(pl.lit(secret).alias(where)).write_csv("people.csv")
    outcome = run(*ANATOMIZE, "-o", "out")
    if where == "disease":
        # A label that so many rows hold is no single person's.
        assert outcome.code == 1
        assert "1 value is missing from the hierarchy" in outcome.err
        assert f"'{secret}' in 24 rows" in outcome.err
        return
    assert outcome.code == 0
    assert secret not in outcome.out + outcome.err + Path("out/manifest.json").read_text()


def test_no_value_of_a_refusal_is_told(run, people, secret, write):
    write("tree.csv", TREE.replace("flu", secret))
    rows = pl.concat([people.with_columns(disease=pl.lit(secret)), people[2:5]])
    rows = rows.with_columns(name="p" + pl.int_range(pl.len()).cast(pl.String))
    rows.write_csv("people.csv")
    run(*ANATOMIZE, "-o", "out").refuses(3, "24 of 27 rows have similar values")
    line = (*ANATOMY, "--principle", "frequency-l:l=2", "-o", "out")
    run(*line).refuses(3, "24 of 27 rows share one value", "suppression_limit")
    assert names() == INPUT


# A release is a folder.


def test_another_release_in_the_folder_is_in_the_way(run, people):
    """Two groupings of one table together give away what each of them hides."""
    assert run(*ANATOMIZE, "-o", "out").code == 0
    people.write_parquet("people.parquet")
    line = [*ANATOMIZE, "-o", "out", "--force"]
    line[1] = "people.parquet"
    run(*line).refuses(1, "out/quasi.csv is of another release", "choose another folder")
    assert names("out") == OUTPUT


def test_check_and_join_take_the_folder(run):
    assert run(*ANATOMIZE, "-o", "out").code == 0
    assert run("check", "out", "-p", "policy.toml").code == 0
    assert run("join", "out", "-o", "joined.csv").code == 0
    assert pl.read_csv("joined.csv").height == 24 * 3
    run("join", "people.csv", "-o", "other.csv").refuses(2, "the folder that holds them")


def test_check_asks_for_the_second_table(run):
    assert run(*ANATOMIZE, "-o", "out").code == 0
    run("check", "out/quasi.csv", "-p", "policy.toml").refuses(1, "second one", "--sensitive-table")


def test_rows_of_the_second_table_are_counted_as_they_are(run, write):
    write("q.csv", "age,zip,group\n1,01,1\n2,02,1\n3,03,1\n4,04,1\n")
    write("s.csv", "group,disease,count\n1,flu,3\n1,grippe,1\n")
    line = ("check", "q.csv", "--sensitive-table", "s.csv", "-p", "policy.toml")
    run(*line).refuses(1, "the table of sensitive values: column 'disease'", "row 2")


def test_a_list_of_parents_is_named(run, write):
    pairs = {(line.split(";")[i], line.split(";")[i + 1]) for line in TREE.split() for i in (0, 1)}
    write("parents.csv", "".join(f"{child};{parent}\n" for child, parent in sorted(pairs)))
    line = [*ANATOMY, "--principle", "l-e:l=3,e=1", "-o", "out", "--hierarchy"]
    run(*line, "disease=parents.csv").refuses(1, "several roots", "parents:FILE")
    assert run(*line, "disease=parents:parents.csv").code == 0
    assert run("hierarchy", "tree", "parents:parents.csv").code == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [(str.upper, "capital letters"), (lambda d: f" {d} ", "spaces"), (lambda d: f"{d}.", "dots")],
)
def test_what_values_lack_to_be_in_the_tree(run, people, change, said):
    people.with_columns(pl.col("disease").map_elements(change, pl.String)).write_csv("people.csv")
    run(*ANATOMIZE, "-o", "out").refuses(1, "6 values are missing", f"differ in {said}")
