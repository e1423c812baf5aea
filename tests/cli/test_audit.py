"""wideberth audit, as a person types it: what it says, what programs read, what it refuses."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import wideberth as wb

TOP = [
    *("rows", "groups", "boxes", "original_rows", "suppressed", "people", "rows_are_people"),
    *("roles", "guessed", "reasons", "safe", "verdict", "level", "lost", "left_out", "satisfied"),
    *("principles", "identity", "attributes", "disclosures", "findings", "notes"),
]
RISK = ["worst", "mean", "people", "above"]
IDENTITY = ["prosecutor", "marketer", "uniques", "smallest", "journalist", "lacking", "covering"]
MEASURES = [
    *("guess", "certain", "background", "change", "nearness", "kinds", "dissimilarity"),
]
FINDING = ["name", "severity", "title", "meaning", "advice", "figures"]

POLICY = """\
version = 1
[roles]
identifier = ["name"]
quasi = ["age", "zip", "sex"]
sensitive = ["disease", "salary"]
[[principle]]
name = "k-anonymity"
k = 4
[[principle]]
name = "frequency-l"
on = "disease"
l = 2
[[principle]]
name = "epsilon-m"
on = "salary"
epsilon = 500
m = 3
"""
ILLS = ("flu", "cancer", "ulcer", "cold", "gout")


def people() -> pl.DataFrame:
    """Make people of every age, whose values are spread evenly."""
    at = range(60)
    return pl.DataFrame(
        {
            "name": [f"P{i}" for i in at],
            "age": [20 + 7 * i % 50 for i in at],
            "zip": [f"130{10 + 3 * i % 40}" for i in at],
            "sex": ["mf"[i % 2] for i in at],
            "disease": [ILLS[i * i % 5 if i % 3 else i % 5] for i in at],
            "salary": [1000 + 3700 * i % 50000 for i in at],
        }
    )


@cache
def release() -> pl.DataFrame:
    return wb.anonymize(
        people(),
        identifier="name",
        quasi=["age", "zip", "sex"],
        sensitive=["disease", "salary"],
        principles=[
            "k-anonymity:k=4",
            "frequency-l:l=2,on=disease",
            "epsilon-m:epsilon=500,m=3,on=salary",
        ],
        seed=1,
    ).table


@pytest.fixture
def audit(run, write):
    """Stand beside a release, its original and its policy, and audit with options."""
    people().write_csv("people.csv")
    release().cast({"age": pl.String, "zip": pl.String}).write_csv("release.csv")
    write("policy.toml", POLICY)

    def typed(*options: object, of: str = "release.csv"):
        return run("audit", of, "--no-swaps", *options)

    return typed


ORIGINAL = ("--original", "people.csv")
PLAN = ("-p", "policy.toml")
JSON = ("--format", "json")
NAMED = ("--qi", "age,zip,sex", "--sensitive", "disease,salary")


def told(outcome) -> dict:
    """Read the JSON of an audit, which has no infinity and nothing beside it."""
    assert outcome.code in (0, 3), outcome.err
    assert outcome.err == ""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(outcome.out, parse_constant=refuse)


def found(dict_: dict) -> dict[str, str]:
    return {finding["name"]: finding["severity"] for finding in dict_["findings"]}


# What a person reads.


def test_a_release_alone(audit):
    outcome = audit()
    assert outcome.code == 0
    assert "release.csv: 60 rows in" in outcome.out
    assert "quasi: age, zip, sex (guessed)" in outcome.out
    assert "sensitive: disease, salary (guessed)" in outcome.out
    assert "note: roles were guessed" in outcome.out
    assert "With care: No policy was given" in outcome.out.splitlines()[-1]


def test_with_policy_and_original(audit):
    outcome = audit(*PLAN, *ORIGINAL)
    assert outcome.code == 0
    assert "guessed" not in outcome.out
    for text in ("k-anonymity:k=4", "frequency-l:l=2", "epsilon-m:epsilon=500,m=3"):
        assert text in outcome.out
    for line in (
        "group known",
        "group not known",
        "within 500, group known",
        "within 500, group not known",
    ):
        assert line in outcome.out


def test_the_original_itself_is_not_safe(audit):
    outcome = audit(*PLAN, of="people.csv")
    assert outcome.code == 3
    assert "alone with their quasi-identifiers" in outcome.out
    assert "Not ready: The policy is not met" in outcome.out.splitlines()[-1]


def test_a_principle_that_is_violated(audit):
    outcome = audit(*NAMED, "--principle", "k-anonymity:k=30")
    assert outcome.code == 3
    assert "k-anonymity:k=30 is violated in" in outcome.out


def test_a_terminal_without_the_letters(shell, audit):
    outcome = shell("wideberth audit release.csv --no-swaps", PYTHONIOENCODING="ascii")
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1].startswith("! With care: No policy was given")


@pytest.mark.parametrize(
    "names",
    [
        ("[red]", "[/]", "[bold]x[/bold]"),
        ("^a.*(g$", "[s+e]x", "p.*|{y}"),
        ("âge 年", "s e x", "💶"),
        (":smile:", "{{7*7}}", "<b>&'"),
    ],
    ids=["markup", "regex", "unicode", "template"],
)
def test_names_are_only_names(run, write, names):
    frame = people().select("age", "sex", "salary")
    frame.columns = names
    frame.write_csv("odd.csv")
    first, second, last = names
    options = ("--qi", first, "--qi", second, "--sensitive", last, "--original", "odd.csv")
    outcome = run("audit", "odd.csv", *options)
    assert outcome.code == 3, outcome.err
    for name in names:
        assert name in outcome.out


# What programs read.


def test_keys(audit):
    report = told(audit(*PLAN, *ORIGINAL, "--format", "json"))
    assert list(report) == TOP
    assert sorted(report["roles"]) == ["group", "identifier", "insensitive", "quasi", "sensitive"]
    assert sorted(report["identity"]) == sorted(IDENTITY)
    assert list(report["identity"]["prosecutor"]) == RISK
    assert list(report["identity"]["prosecutor"]["above"]) == ["0.5", "0.75", "0.9", "1"]
    assert [attribute["on"] for attribute in report["attributes"]] == ["disease", "salary"]
    for attribute in report["attributes"]:
        for who in ("known", "covering"):
            assert sorted(attribute[who]) == sorted(MEASURES)
        assert attribute["victims"] == {"looked_at": 60, "of": 60, "exact": True}
    assert all(list(finding) == FINDING for finding in report["findings"])
    assert report["satisfied"] is True
    assert report["guessed"] is False
    assert (report["original_rows"], report["suppressed"]) == (60, 0)


def test_figures_are_as_counted_by_hand(audit):
    report = told(audit(*PLAN, *ORIGINAL, "--format", "json"))
    frame = release()
    by_group = [g.rows(named=True) for g in frame.partition_by("group")]
    assert report["groups"] == len(by_group)
    sizes = [len(group) for group in by_group]
    identity = report["identity"]
    assert identity["smallest"] == min(sizes)
    assert identity["prosecutor"]["worst"] == pytest.approx(1 / min(sizes))
    assert identity["marketer"] == pytest.approx(len(sizes) / 60)
    disease, salary = (attribute["known"] for attribute in report["attributes"])
    shares = [
        Counter(r["disease"] for r in group)[row["disease"]] / len(group)
        for group in by_group
        for row in group
    ]
    assert disease["guess"]["worst"] == pytest.approx(max(shares))
    assert disease["guess"]["mean"] == pytest.approx(sum(shares) / 60)
    near = [
        sum(abs(r["salary"] - row["salary"]) <= 500 for r in group) / len(group)
        for group in by_group
        for row in group
    ]
    assert salary["nearness"]["epsilon"] == 500
    assert salary["nearness"]["chosen"] == "policy"
    assert salary["nearness"]["risk"]["worst"] == pytest.approx(max(near))
    assert salary["nearness"]["risk"]["mean"] == pytest.approx(sum(near) / 60)


def test_claims_are_as_counted_by_hand(run, write):
    """A claim is an interval as long as twice the reach, about everybody in its group."""
    groups = {"a": [0, 100, 190, 1000], "b": [5, 5, 5, 900], "c": [0, 50, 100, 150]}
    rows = "".join(f"{zip_},{pay}\n" for zip_, pays in groups.items() for pay in pays)
    write("paid.csv", "zip,pay\n" + rows)
    roles = ("--qi", "zip", "--sensitive", "pay", "--epsilon", "100")
    report = told(run("audit", "paid.csv", *roles, "--format", "json"))
    claims = report["attributes"][0]["known"]["nearness"]["claims"]
    assert {claim["confidence"]: claim["people"] for claim in claims} == {
        0.5: 12,
        0.75: 12,
        0.9: 4,
        1: 4,
    }
    assert "4 people's pay is known to within 100 with 100 % confidence" in claims[-1]["text"]


def test_the_release_alone_has_no_original(audit):
    report = told(audit("--format", "json"))
    assert report["original_rows"] is None
    assert report["suppressed"] is None
    assert report["satisfied"] is None
    assert report["guessed"] is True
    assert set(report["reasons"]) == {"age", "zip", "sex", "disease", "salary"}
    assert report["roles"]["group"] == "group"


@pytest.mark.parametrize(
    ("epsilon", "relative", "near"), [("10%", True, 0.1), ("2500", False, 2500), ("0", False, 0)]
)
def test_how_near_is_near_can_be_said(audit, epsilon, relative, near):
    report = told(audit(*PLAN, "--epsilon", epsilon, "--format", "json"))
    nearness = report["attributes"][1]["known"]["nearness"]
    assert nearness["epsilon"] == pytest.approx(near)
    assert nearness["relative"] is relative
    assert nearness["chosen"] == "given"


def test_a_column_of_counts(run, write):
    write("counted.csv", "zip,ill,count\n1,flu,3\n1,gout,1\n2,cold,2\n")
    roles = ("--qi", "zip", "--sensitive", "ill", "--format", "json")
    said = told(run("audit", "counted.csv", *roles, "--count", "count"))
    assert said["rows"] == 6
    assert said["attributes"][0]["known"]["guess"]["above"]["0.75"] == 3 + 2
    assert told(run("audit", "counted.csv", *roles))["rows"] == 6


def test_a_role_called_count_counts_nobody(run, write):
    write("counted.csv", "count,ill\n3,flu\n3,gout\n2,cold\n2,cold\n")
    said = told(run("audit", "counted.csv", "--qi", "count", "--sensitive", "ill", *JSON))
    assert said["rows"] == 4
    assert said["attributes"][0]["known"]["certain"]["people"] == 2


def test_population(audit):
    """Who is one of ten thousand is found with less chance than who is one of sixty."""
    pl.concat([people()] * 3).write_csv("everyone.csv")
    identity = told(audit(*PLAN, "--population", "everyone.csv", *JSON))["identity"]
    assert identity["journalist"]["worst"] == pytest.approx(identity["prosecutor"]["worst"] / 3)
    assert identity["lacking"] == 0


def test_presence_in_a_population(audit):
    """The population has exact values; whoever a label covers may be one of its people."""
    pl.concat([people()] * 3).write_csv("everyone.csv")
    presence = ("--principle", "delta-presence:delta_max=0.9", "--population", "everyone.csv")
    outcome = audit(*NAMED, *presence, *ORIGINAL, *JSON)
    assert outcome.code == 0, outcome.err
    (principle,) = told(outcome)["principles"]
    assert principle["satisfied"] is True
    assert principle["achieved"]["delta_max"] <= 1 / 2


def test_presence_does_not_stop_the_swap_audit(audit, write, run):
    people().write_csv("everyone.csv")
    write("policy.toml", POLICY + '[[principle]]\nname = "delta-presence"\ndelta_max = 1\n')
    options = (*PLAN, *ORIGINAL, "--population", "everyone.csv", "--swaps")
    assert run("audit", "release.csv", *options).code in (0, 3)


def test_a_population_that_lacks_people(audit):
    people().head(20).write_csv("everyone.csv")
    identity = told(audit(*PLAN, "--population", "everyone.csv", *JSON))["identity"]
    assert 0 < identity["lacking"] <= 60


def test_numbers_name_nobody(run, write):
    """Digits of shares are no identity numbers."""
    rows = "".join(f"1..9,{(i * 0.6180339887498949) % 1!r}\n" for i in range(2000))
    write("shares.csv", "age,share\n" + rows)
    outcome = run("audit", "shares.csv", "--qi", "age", "--sensitive", "share", *JSON)
    assert not [f for f in told(outcome)["findings"] if "look like" in f["title"]]


def test_priors_about_everybody(audit, write):
    write("priors.csv", "disease,probability\nflu,0.9\n")
    disease, salary = told(audit(*PLAN, "--priors", "priors.csv", *JSON))["attributes"]
    assert disease["known"]["change"]["prior"] == "given"
    assert salary["known"]["change"]["prior"] == "estimated"


def test_priors_about_some_people(audit, write):
    write("priors.csv", "sex,disease,probability\nm,flu,0.9\nf,flu,0.01\n")
    asked = (*PLAN, "--priors", "priors.csv", *JSON)
    hidden = told(audit(*asked))["attributes"][0]
    assert [belief["of"] for belief in hidden["believed"]] == [{}, {}]
    disease, salary = told(audit(*asked, "--show-rows"))["attributes"]
    assert [belief["of"] for belief in disease["believed"]] == [{"sex": "m"}, {"sex": "f"}]
    assert salary["believed"] == []


def test_another_release(audit, write):
    """In each of two releases two values are possible, in both together one."""
    write("one.csv", "age,ill\n20..29,flu\n20..29,gout\n30..39,cold\n30..39,ulcer\n")
    write("two.csv", "age,ill\n20..24,flu\n20..24,cold\n25..39,gout\n25..39,ulcer\n")
    write("whole.csv", "age,ill\n20,flu\n25,gout\n30,ulcer\n20,cold\n")
    roles = ("--qi", "age", "--sensitive", "ill", *JSON)
    alone = told(audit(*roles, of="one.csv"))
    assert "several-releases" not in found(alone)
    together = audit(*roles, "--other", "two.csv", of="one.csv")
    assert "several-releases" in found(told(together))


def test_another_release_that_leaves_one_value(audit, write):
    write("one.csv", "age,ill\n20..29,flu\n20..29,gout\n30..39,cold\n30..39,ulcer\n")
    write("two.csv", "age,ill\n20..24,flu\n20..24,flu\n25..39,gout\n25..39,ulcer\n")
    write("whole.csv", "age,ill\n20,flu\n25,gout\n30,cold\n31,ulcer\n")
    outcome = audit(
        *("--qi", "age", "--sensitive", "ill", "--other", "two.csv", *JSON), of="one.csv"
    )
    assert outcome.code == 3
    assert found(told(outcome))["several-releases"] == "high"


SEVERAL = "joint inference over the releases was not exhausted"


def test_other_releases_are_never_called_harmless(audit, write):
    """A release beside itself tells nothing more, but that is not proven."""
    rows = [f"{20 + 10 * (i // 8)}..{29 + 10 * (i // 8)},{'abcd'[i % 4]}" for i in range(16)]
    write("one.csv", "age,ill\n" + "\n".join(rows) + "\n")
    whole = [f"{20 + 10 * (i // 8) + i % 8},{'abcd'[i % 4]}" for i in range(16)]
    write("whole.csv", "age,ill\n" + "\n".join(whole) + "\n")
    line = ("--qi", "age", "--sensitive", "ill", "--original", "whole.csv")
    plain = audit(*line, of="one.csv")
    assert "With care: No policy was given: the risk" in plain.out.splitlines()[-1]
    beside = audit(*line, "--other", "one.csv", of="one.csv")
    assert beside.code == 0
    assert "nothing grave" not in beside.out
    last = " ".join(beside.out.splitlines()[-2:])
    assert f"With care: No policy was given; {SEVERAL}" in last
    said = told(audit(*line, "--other", "one.csv", *JSON, of="one.csv"))
    assert said["verdict"].endswith(SEVERAL)
    [several] = [f for f in said["findings"] if f["name"] == "several-releases"]
    assert several["severity"] == "info"
    assert several["figures"]["lower_bound"] is True


# An anatomised release.


@pytest.fixture
def folder(audit, run):
    outcome = run(
        *("anonymize", "people.csv", "--qi", "age,zip,sex", "--sensitive", "disease"),
        *("--identifier", "name,salary", "--principle", "distinct-l:l=3"),
        *("--algorithm", "anatomy", "-o", "folder", "--seed", "1"),
    )
    assert outcome.code == 0, outcome.err
    return "folder"


def test_an_anatomised_folder(audit, folder):
    for options in ([], [*ORIGINAL], ["--principle", "distinct-l:l=3"]):
        report = told(audit(*options, *JSON, of=folder))
        assert report["rows"] == 60
        (attribute,) = report["attributes"]
        assert attribute["on"] == "disease"
        assert attribute["known"]["guess"]["worst"] <= 1 / 3
        assert attribute["covering"] is None
        assert report["satisfied"] in (None, True)


def test_two_tables_by_name(audit, folder):
    pair = ("folder/quasi.csv", "folder/sensitive.csv")
    by_name = audit("--sensitive-table", pair[1], *JSON, of=pair[0])
    one, other = told(by_name), told(audit(*JSON, of=folder))  # which has a manifest
    assert one["guessed"]
    assert not other["guessed"]
    for key in ("rows", "groups", "roles", "identity", "findings"):
        assert one[key] == other[key]


# What is refused.


def test_a_release_of_more_rows_than_the_original(audit):
    people().head(30).write_csv("people.csv")
    audit(*PLAN, *ORIGINAL).refuses(1, "the release has 60 rows, the original only 30")


@pytest.mark.parametrize("column", ["age", "disease"])
def test_original_without_a_column(audit, column):
    people().drop(column).write_csv("people.csv")
    audit(*PLAN, *ORIGINAL).refuses(1, f"the original has no column '{column}'")


@pytest.mark.parametrize("column", ["age", "disease"])
def test_a_policy_that_does_not_fit(audit, column):
    release().drop(column).write_csv("release.csv")
    audit(*PLAN).refuses(1, f"the table has no column '{column}'")


def test_an_original_of_other_people(audit):
    people().with_columns(age=pl.lit(99)).write_csv("people.csv")
    audit(*PLAN, *ORIGINAL).refuses(1, "'age'", "original")


@pytest.mark.parametrize("column", ["age", "disease"])
def test_another_release_without_a_column(audit, column):
    release().drop(column).write_csv("other.csv")
    audit(*PLAN, "--other", "other.csv").refuses(1, f"no column '{column}'", "other")


@pytest.mark.parametrize("column", ["age", "sex"])
def test_population_without_a_column(audit, column):
    people().drop(column).write_csv("everyone.csv")
    audit(*PLAN, "--population", "everyone.csv").refuses(
        1, f"the population has no column '{column}'"
    )


@pytest.mark.parametrize(
    ("priors", "phrases"),
    [
        pytest.param("disease,probability\nZq7Xhush,0.5\n", ["'disease', row 1"], id="value"),
        pytest.param("disease,probability\nflu,0.1\ngout,Zq7Xhush\n", ["row 2"], id="text"),
        pytest.param("disease,probability\nflu,-0.1\n", ["'probability', row 1"], id="negative"),
        pytest.param("disease,probability\nflu,1.5\n", ["'probability', row 1"], id="above one"),
        pytest.param("disease,probability\nflu,nan\n", ["'probability', row 1"], id="nan"),
        pytest.param("disease,probability\nflu,inf\n", ["'probability', row 1"], id="inf"),
        pytest.param("disease,probability\nflu,\n", ["'probability', row 1"], id="missing"),
        pytest.param("disease,probability\nflu,0.7\ngout,0.7\n", ["add up"], id="sum"),
        pytest.param("disease,probability\nflu,0.1\nflu,0.2\n", ["twice"], id="twice"),
        pytest.param("disease,p\nflu,0.5\n", ["'probability'"], id="no probability"),
        pytest.param("ill,probability\nflu,0.5\n", ["sensitive attribute"], id="no attribute"),
        pytest.param("disease,agee,probability\nflu,30,0.5\n", ["'agee'"], id="unknown column"),
        pytest.param("disease,salary,probability\nflu,1,0.5\n", ["one sensitive"], id="two"),
    ],
)
def test_priors_that_cannot_be(audit, write, priors, phrases):
    write("priors.csv", priors)
    audit(*PLAN, "--priors", "priors.csv").refuses(1, *phrases)


def test_priors_that_rule_out_what_occurs(audit, write):
    write("priors.csv", "disease,probability\n" + "".join(f"{ill},0\n" for ill in ILLS))
    audit(*PLAN, "--priors", "priors.csv").refuses(1, "priors")


FILES = {
    "release": lambda name: (name, ()),
    "--original": lambda name: ("release.csv", ("--original", name)),
    "--other": lambda name: ("release.csv", ("--other", name)),
    "--population": lambda name: ("release.csv", ("--population", name)),
    "--priors": lambda name: ("release.csv", ("--priors", name)),
    "--sensitive-table": lambda name: ("release.csv", ("--sensitive-table", name)),
}


@pytest.mark.parametrize(
    ("name", "content", "phrase"),
    [
        ("none.csv", None, "there is no file none.csv"),
        ("empty.csv", "", "empty.csv is empty"),
        ("header.csv", "age,zip,sex,disease,salary\n", "no rows"),
        ("damaged.parquet", "Zq7Xhush", "damaged.parquet is damaged"),
        ("table.xlsx", "Zq7Xhush", "'.xlsx'"),
        ("ragged.csv", "age,zip\n1,2\nZq7Xhush\n", "row 2 of ragged.csv"),
        ("a_folder", "mkdir", "a_folder is a directory"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value[-8:] else "",
)
@pytest.mark.parametrize("role", FILES)
def test_files_that_cannot_be_read(audit, write, role, name, content, phrase):
    if content == "mkdir":
        Path(name).mkdir()
    elif content is not None:
        write(name, content)
    of, options = FILES[role](name)
    audit(*NAMED, *options, of=of).refuses(1, phrase)


@pytest.mark.parametrize(
    ("options", "code", "phrase"),
    [
        (["--epsilon", "near"], 2, "epsilon must be a number"),
        (["--epsilon", "-1"], 2, "epsilon must be a number"),
        (["--epsilon", "200%"], 2, "100 %"),
        (["--count", "disease"], 1, "'disease', row 1: not a number of rows"),
        (["--count", "many"], 1, "no column 'many'"),
        (["--qi", "agee"], 1, "did you mean 'age'?"),
        (["--sensitive", "salry"], 1, "did you mean 'salary'?"),
        (["--qi", "age", "--sensitive", "age"], 1, "both quasi-identifier and sensitive"),
        (["--group", "grp"], 1, "no column 'grp'"),
        (["--type", "salary=odd"], 2, "no type 'odd'"),
        (["--principle", "k-anonimity:k=2"], 2, "did you mean 'k-anonymity'?"),
        (["-p", "plan.toml"], 1, "there is no policy plan.toml"),
        (["--hierarchy", "zip=none.csv"], 1, "none.csv"),
        (["--worst", "-1"], 2, "--worst"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_cannot_be(audit, options, code, phrase):
    audit(*options).refuses(code, phrase)


@pytest.mark.parametrize("cell", ["Zq7Xhush", "NaN", "inf"])
@pytest.mark.parametrize("table", ["release", "people"])
def test_cells_that_are_no_numbers(audit, table, cell):
    frame = people() if table == "people" else release()
    cells = [cell, *map(str, frame["salary"][1:])]
    frame.with_columns(salary=pl.Series(cells)).write_csv(f"{table}.csv")
    audit(*PLAN, *ORIGINAL).refuses(1, "'salary', row 1")


def test_nan_that_no_principle_asks_about(audit):
    frame = release().with_columns(salary=pl.col("salary").cast(pl.Float64))
    frame[0, "salary"] = float("nan")
    frame.write_parquet("release.parquet")
    outcome = audit(*NAMED, of="release.parquet")
    outcome.refuses(1, "'salary', row 1: NaN")
    assert "epsilon-m" not in outcome.err


def test_help_names_every_option(run):
    outcome = run("audit", "--help")
    assert outcome.code == 0
    for option in ("--original", "--other", "--population", "--priors", "--epsilon", "--swaps"):
        assert option in outcome.out


# Groups by ids.


def test_exact_ages_put_back_into_groups(audit, run, write):
    """Groups of three by their ids, but everybody's own age: check and audit say so."""
    rows = [f"{i // 3},{20 + i},{'abc'[i % 3]}" for i in range(9)]
    write("one.csv", "group,age,ill\n" + "\n".join(rows) + "\n")
    line = ("--group", "group", "--qi", "age", "--sensitive", "ill")
    for principle in ((), ("--principle", "k-anonymity:k=3")):
        outcome = audit(*line, *principle, *JSON, of="one.csv")
        assert outcome.code == 3
        assert found(told(outcome))["uneven-groups"] == "high"
    checked = run("check", "one.csv", *line, "--principle", "k-anonymity:k=3")
    assert checked.code == 3
    assert "3 groups are not uniform: 9 rows" in " ".join(checked.out.split())
    assert "the groups are not uniform" in checked.out.splitlines()[-1]
    said = told(run("check", "one.csv", *line, "--principle", "k-anonymity:k=3", *JSON))
    assert said["satisfied"] is False
    assert said["uneven"] == {"groups": 3, "rows": 9, "columns": ["age"]}
    run("report", "one.csv", *line, "--principle", "k-anonymity:k=3", "-o", "r.json")
    verdict = json.loads(Path("r.json").read_text())["verdict"]
    assert verdict["level"] == "bad"
    assert "not published alike" in verdict["headline"]
