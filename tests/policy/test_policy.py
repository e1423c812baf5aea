"""policy.toml becomes objects; a key that nothing reads is a mistake."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wideberth as wb
from wideberth import Dissimilarity, OutputError, Policy, PolicyError, io
from wideberth.checks.protection import proposed_policy
from wideberth.cli.options import Share
from wideberth.datasets import census, wang2013_figure1
from wideberth.errors import UndecidedError
from wideberth.io import ReadOptions
from wideberth.policy import roles
from wideberth.policy.guesses import guess_columns
from wideberth.policy.proposal import policy_text
from wideberth.policy.roles import check_roles

ROLES: dict[str, Any] = {
    "identifier": ["name"],
    "quasi": ["age", "zip"],
    "sensitive": ["disease", "salary"],
    "insensitive": ["visits"],
}
LATTICE = {"algorithm": "lattice"}

EVERYTHING = """
version = 1
population = "everyone.csv"
group = "group"

[table]
delimiter = ";"
encoding = "latin-1"
missing = ["-", ""]

[roles]
identifier = ["name"]
quasi = ["age", "zip"]
sensitive = ["disease", "salary"]
insensitive = ["visits"]

[types]
zip = "text"
salary = "decimal"

[[principle]]
name = "epsilon-m"
on = "salary"
epsilon = "10%"
m = 5

[[principle]]
name = "multi-attribute-l"
on = ["disease", "salary"]
l = 2

[[principle]]
name = "recursive-cl"
on = "disease"
c = 2.5
l = 2
allowed = ["healthy", "flu"]

[[principle]]
name = "k-anonymity"
k = 5

[hierarchies]
zip = { mask = 5 }
disease = "trees/disease.csv"
age = { file = "age.csv", header = true }
salary = { parents = "salary.csv" }

[transform]
algorithm = "mondrian"
cuts = "best"
suppression_limit = 0.0
recoding = { zip = "hierarchy" }
align = { age = 5 }
weights = { age = 2 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(EVERYTHING, encoding="utf-8")
    return tmp_path


def test_every_section(folder):
    policy = wb.Policy.load(folder / "policy.toml")
    assert policy.roles == ROLES
    assert policy.types == {"zip": "text", "salary": "decimal"}
    assert policy.options == ReadOptions(delimiter=";", encoding="latin-1", missing=("-", ""))
    assert policy.principles == [
        wb.EpsilonMAnonymity(on="salary", epsilon="10%", m=5),
        wb.MultiAttributeLDiversity(on=("disease", "salary"), l=2),
        wb.RecursiveCLDiversity(on="disease", c=2.5, l=2, allowed=("healthy", "flu")),
        wb.KAnonymity(k=5),
    ]
    assert policy.transform == {
        "algorithm": "mondrian",
        "cuts": "best",
        "suppression_limit": 0.0,
        "recoding": {"zip": "hierarchy"},
        "align": {"age": 5},
        "weights": {"age": 2},
    }
    assert policy.group == "group"


@pytest.mark.parametrize("limit", ["5%", " 5 % ", "0.05", "1/20", 0.05])
def test_a_share_is_read_alike_in_every_interface(tmp_path, limit):
    table = pl.DataFrame({"age": [*range(20, 39), 90], "ill": ["a", "b"] * 10})
    (tmp_path / "policy.toml").write_text(
        f'version = 1\nroles = {{ quasi = ["age"], sensitive = ["ill"] }}\n'
        f"transform = {{ suppression_limit = {limit!r} }}\n"
    )
    loaded = wb.Policy.load(tmp_path / "policy.toml")
    assert loaded.transform == {"suppression_limit": 0.05}
    made_by_hand = wb.Policy(roles=loaded.roles, transform={"suppression_limit": limit})
    asked = {"principles": "k-anonymity:k=2", "seed": 1}
    for made in (
        wb.anonymize(table, policy=loaded, **asked),
        wb.anonymize(table, policy=made_by_hand, **asked),
        wb.anonymize(table, quasi="age", sensitive="ill", suppression_limit=limit, **asked),
    ):
        assert made.manifest["transform"]["suppression_limit"] == 0.05
    assert Share().convert(limit, None, None) == 0.05


@pytest.mark.parametrize("limit", ["5", "105%", "few", "-1%", "1/0"])
def test_what_is_no_share_is_refused(limit):
    with pytest.raises(wb.ParameterError, match="suppression_limit must be") as refused:
        wb.anonymize(
            pl.DataFrame({"age": [1]}),
            quasi="age",
            principles="k-anonymity:k=1",
            suppression_limit=limit,
        )
    assert '"5%"' in refused.value.hint


def test_a_number_as_text(tmp_path):
    """TOML has no fractions."""
    path = tmp_path / "policy.toml"
    path.write_text(
        'version = 1\n[roles]\nquasi = ["a"]\nsensitive = ["b"]\n'
        '[[principle]]\nname = "dissimilarity"\nepsilon = 1\ndelta = "5/6"\nk = 3\n'
    )
    (principle,) = wb.Policy.load(path).principles
    assert principle == wb.Dissimilarity(epsilon=1, delta=Fraction(5, 6), k=3)


def test_paths_start_at_the_policys_folder(folder):
    policy = wb.Policy.load(folder / "policy.toml")
    assert policy.population == str(folder / "everyone.csv")
    assert policy.hierarchies == {
        "zip": {"mask": 5},
        "disease": str(folder / "trees" / "disease.csv"),
        "age": {"file": str(folder / "age.csv"), "header": True},
        "salary": {"parents": str(folder / "salary.csv")},
    }


def test_absolute_paths_stay_as_they_are(tmp_path):
    population = str(tmp_path / "everyone.csv")
    assert wb.Policy.of({"population": population}, folder=Path("else")).population == population


def test_text_and_path_load_alike(folder):
    path = folder / "policy.toml"
    assert wb.Policy.load(str(path)) == wb.Policy.load(path)


def test_a_mark_at_the_beginning_of_the_file(folder):
    path = folder / "policy.toml"
    expected = wb.Policy.load(path)
    path.write_text(EVERYTHING.lstrip(), encoding="utf-8-sig")
    assert wb.Policy.load(path) == expected


def test_of_is_what_load_reads(folder):
    content = tomllib.loads(EVERYTHING)
    assert wb.Policy.of(content, folder=folder) == wb.Policy.load(folder / "policy.toml")


def test_nothing_need_be_said():
    policy = wb.Policy.of({})
    assert policy.roles == {key: [] for key in roles.ROLES}
    assert policy == wb.Policy(roles={key: [] for key in roles.ROLES}, principles=[])
    assert policy.options == ReadOptions()
    assert policy.population is None


def test_what_is_not_said_of_reading_is_as_usual():
    policy = wb.Policy.of({"table": {"encoding": "latin-1"}})
    assert policy.options == ReadOptions(encoding="latin-1")


def test_a_policy_made_by_hand_need_not_name_every_role():
    policy = wb.Policy(roles={"quasi": ["age"]}, principles=[wb.KAnonymity(k=2)])
    assert wb.check(pl.DataFrame({"age": [1, 1]}), policy=policy)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"role": {}}, "policy has an unknown key 'role'\n.*did you mean 'roles'"),
        ({"roles": {"sensitiv": []}}, r"\[roles\] has an unknown key 'sensitiv'\n.*'sensitive'"),
        ({"table": {"sep": ","}}, r"\[table\] has an unknown key 'sep'\n.*missing, delimiter"),
        ({"transform": {"cut": "best"}}, r"\[transform\] has an unknown key 'cut'\n.*'cuts'"),
        ({"transform": {"algorithm": "magic"}}, "algorithm must be one of mondrian, lattice"),
        ({"transform": {"levels": {"age": 1}}}, "levels means nothing to the algorithm 'mondrian'"),
        ({"transform": {"max_checks": 5}}, "max_checks means nothing to the algorithm 'mondrian'"),
        ({"transform": {"max_memory": 0}}, "max_memory must be a whole number"),
        ({"transform": {**LATTICE, "cuts": "paper"}}, "cuts means nothing to the algorithm 'lat"),
        ({"transform": {**LATTICE, "dealing": "matching"}}, "dealing means nothing"),
        ({"transform": {**LATTICE, "recoding": "set"}}, "recoding means nothing"),
        ({"transform": {**LATTICE, "align": {"age": 5}}}, "align means nothing"),
        ({"transform": {**LATTICE, "measure": "beauty"}}, "measure must be one of loss, ncp"),
        ({"transform": {**LATTICE, "levels": 2}}, "levels must be a table"),
        ({"transform": {**LATTICE, "levels": {"age": [2, 1]}}}, "levels of 'age' must be a level"),
        ({"transform": {**LATTICE, "levels": {"age": "1"}}}, "levels of 'age' must be a level"),
        ({"transform": {**LATTICE, "levels": {"age": -1}}}, "levels of 'age' must be a level"),
        ({"transform": {**LATTICE, "levels": {"age": [0, 1, 2]}}}, "levels of 'age' must be"),
        ({"roles": ROLES, "transform": {**LATTICE, "levels": {"agee": 1}}}, "'agee'\n.*'age'"),
        ({"transform": {**LATTICE, "local_rounds": -1}}, "local_rounds must be a whole number"),
        ({"transform": {**LATTICE, "local_rounds": 1.5}}, "local_rounds must be a whole number"),
        ({"transform": {**LATTICE, "max_checks": 0}}, "max_checks must be a whole number from 1"),
        ({"transform": {**LATTICE, "max_memory": True}}, "max_memory must be a whole number"),
        ({"transform": {**LATTICE, "max_seconds": 0}}, "max_seconds must be a number above 0"),
        ({"transform": {"cuts": "better"}}, "cuts must be one of paper, disjoint"),
        ({"transform": {"dealing": 1}}, "dealing must be one of rank, matching"),
        ({"transform": {"suppression_limit": 1.5}}, "suppression_limit must be a number from 0"),
        ({"transform": {"suppression_limit": True}}, "suppression_limit must be a number"),
        ({"transform": {"recoding": "mean"}}, "recoding must be one of interval, bounds"),
        ({"transform": {"recoding": ["set"]}}, "recoding must be one of"),
        ({"roles": ROLES, "transform": {"recoding": {"age": "x"}}}, "recoding of 'age' must be"),
        ({"transform": {"align": "month"}}, "align must be one of hierarchy"),
        ({"roles": ROLES, "transform": {"align": {"age": -5}}}, "align of 'age' must be a step"),
        ({"roles": ROLES, "transform": {"align": {"agee": 5}}}, "'agee'\n.*did you mean 'age'"),
        (
            {"roles": ROLES, "transform": {"weights": {"salary": 5}}},
            "no quasi-identifier: 'salary'",
        ),
        ({"roles": ROLES, "transform": {"weights": {"age": "2"}}}, "weight of 'age' must be"),
        ({"transform": {"weights": 2}}, "weights must be a table"),
        ({"roles": []}, "roles must be a section"),
        ({"types": 1}, "types must be a section"),
        ({"hierarchies": "x"}, "hierarchies must be a section"),
        ({"roles": {"quasi": "age"}}, "roles.quasi must be a list"),
        ({"roles": {"quasi": ["age", 1]}}, "roles.quasi must be a list"),
        ({"roles": ROLES, "types": {"age": "money"}}, "'age' cannot have the type 'money'"),
        ({"roles": ROLES, "types": {"age": ["text"]}}, "'age' cannot have the type"),
        (
            {"roles": ROLES, "types": {"agee": "text"}},
            r"'agee' has no role, but .*\[types\]\n.*'age'\?",
        ),
        ({"roles": ROLES, "hierarchies": {"x": {}}}, r"'x' has no role.*\[hierarchies\]\n.* role"),
        ({"table": {"missing": "NA"}}, "table.missing must be a list of texts"),
        ({"table": {"missing": [1]}}, "table.missing must be a list of texts"),
        ({"table": {"encoding": 8}}, "table.encoding must be text"),
        ({"population": 1}, "population must be text"),
        ({"group": ["a"]}, "group must be text"),
        ({"version": 2}, "version this program does not know"),
        ({"version": "1"}, "version this program does not know"),
        ({"principle": {"name": "k-anonymity"}}, r"write \[\[principle\]\]"),
        ({"principle": ["k-anonymity"]}, r"write \[\[principle\]\]"),
        ({"principle": [{"k": 5}]}, "principle 1 has no name"),
        ({"principle": [{"name": 5}]}, "principle 1 has no name"),
        ({"principle": [{"name": "k-anonimity"}]}, "principle 1: .*did you mean 'k-anonymity'"),
        ({"principle": [{"name": "k-anonymity", "k": 0}]}, "principle 1: .*k must be"),
        ({"principle": [{"name": "k-anonymity", "k": True}]}, "principle 1: .*k must be"),
        ({"principle": [{"name": "distinct-l", "on": 1, "l": 2}]}, "principle 1: on must name"),
        ({"principle": [{"name": "distinct-l", "on": [1], "l": 2}]}, "principle 1: on must name"),
    ],
    ids=str,
)
def test_refused(content, message):
    with pytest.raises(wb.PolicyError, match=message) as refusal:
        wb.Policy.of(content)
    assert refusal.value.hint
    assert refusal.value.exit_code == 1


def test_the_message_names_the_file(tmp_path):
    path = tmp_path / "strict.toml"
    path.write_text("versoin = 1\n")
    with pytest.raises(wb.PolicyError, match=r"strict\.toml has an unknown key 'versoin'"):
        wb.Policy.load(path)


@pytest.mark.parametrize(
    ("text", "place"), [("a = 1\na = 2\n", "line 2"), ("\n\nb = [\n", "end of document")]
)
def test_what_is_no_toml(tmp_path, text, place):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(wb.PolicyError, match=f"policy.toml is not valid TOML: .*{place}"):
        wb.Policy.load(path)


# Policies at work.


def test_hierarchies_and_population_are_found_beside_the_policy(tmp_path):
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "everyone.csv").write_text("age\na\na\nb\nb\n")
    (rules / "tree.csv").write_text("flu;infection;*\ncancer;tumour;*\n")
    (rules / "policy.toml").write_text(
        """
        population = "everyone.csv"
        [roles]
        quasi = ["age"]
        sensitive = ["disease"]
        [[principle]]
        name = "l-e"
        l = 2
        e = 1
        [[principle]]
        name = "delta-presence"
        delta_max = 1
        delta_min = 0.5
        [hierarchies]
        disease = "tree.csv"
        """
    )
    table = pl.DataFrame({"age": ["a", "a", "b"], "disease": ["flu", "cancer", "flu"]})
    result = wb.check(table, policy=rules / "policy.toml")
    assert [p.satisfied for p in result.principles] == [False, True]
    assert [p.violating_rows for p in result.principles] == [1, 0]


def test_the_population_is_read_as_the_table_is(tmp_path):
    (tmp_path / "people.csv").write_text("age\n-\nx\n")
    (tmp_path / "everyone.csv").write_text("age\n-\nx\n")
    (tmp_path / "policy.toml").write_text(
        """
        population = "everyone.csv"
        [table]
        missing = ["-"]
        [roles]
        quasi = ["age"]
        [[principle]]
        name = "delta-presence"
        delta_max = 1
        delta_min = 1
        """
    )
    result = wb.check(tmp_path / "people.csv", policy=tmp_path / "policy.toml")
    assert result
    assert {group.values["age"] for group in result.principles[0].worst} == {None, "x"}


def test_the_policys_groups(tmp_path):
    content = {
        "group": "g",
        "roles": {"quasi": ["age"]},
        "principle": [{"name": "k-anonymity", "k": 2}],
    }
    table = pl.DataFrame({"age": [1, 1], "g": [1, 1]})
    assert wb.check(table, policy=wb.Policy.of(content))


ODD_NAMES = {
    'a "quoted" name': ["x", "y"],
    "back\\slash": ["x", "y"],
    "ünïcode": ["x", "y"],
    "dotted.name": ["x", "y"],
    "# hash": ["x", "y"],
    "new\nline": ["x", "y"],
}
TABLES = {
    "census": census(300),
    "odd names": pl.DataFrame(ODD_NAMES),
    "one column": pl.DataFrame({"age": [1, 1, 2]}),
    "many types": pl.DataFrame(
        {
            "age": ["01", "02"],
            "salary": ["1.50", "2.25"],
            "birth": ["2000-01-31", None],
            "smoker": ["yes", "no"],
            "score": ["1e3", "-2"],
            "diagnosis": ["a", "a"],
            "nothing": [None, None],
        },
        schema_overrides={"nothing": pl.String},
    ),
    "typed": pl.DataFrame(
        {
            "age": [1, 2],
            "salary": [1.5, None],
            "disease": [[0.5, 0.5], [0.1, 0.9]],
            "income": pl.Series([None, None], dtype=pl.Float64),
        }
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_what_init_proposes_loads_and_checks(tmp_path, name):
    frame = TABLES[name]
    path = tmp_path / "policy.toml"
    guesses = guess_columns(frame)
    proposal = proposed_policy(frame, guesses)
    io.write_text(policy_text(guesses, "table.csv", proposal=proposal), path)
    policy = wb.Policy.load(path)
    assert sorted(c for columns in policy.roles.values() for c in columns) == sorted(frame.columns)
    roles = dict(policy.roles)
    if undecided := roles.pop("undecided", []):
        with pytest.raises(UndecidedError, match="undecided"):
            wb.check(frame, policy=policy)
        policy = replace(policy, roles={**roles, "quasi": [*roles["quasi"], *undecided]})
    assert list(policy.types) == frame.columns
    assert wb.KAnonymity(k=min(5, frame.height)) in policy.principles
    if not policy.roles["quasi"]:
        pytest.fail("every table here has a quasi-identifier")
    result = wb.check(frame, policy=policy)
    assert result.rows == frame.height
    assert [p.on for p in result.principles] == [p.on for p in policy.principles]


SAVED = """
version = 1
group = "cell"
population = "register.csv"
[roles]
identifier = ["id"]
quasi = ["age", "zip"]
sensitive = ["pay", "illness"]
[types]
zip = "text"
[formats]
pay = "1.234,56"
[table]
missing = ["", "-"]
skip_rows = 2
[[principle]]
name = "k-anonymity"
k = 5
[[principle]]
name = "delta-l"
on = "pay"
delta = "1/3"
l = 2
allowed = [0]
[hierarchies]
zip = "sub/zips.csv"
age = { interval = [5, 10] }
illness = "parents:tree.csv"
[transform]
cuts = "disjoint"
suppression_limit = 0.05
"""


def test_a_saved_policy_is_read_as_it_was(tmp_path):
    (tmp_path / "policy.toml").write_text(SAVED)
    policy = Policy.load(tmp_path / "policy.toml")
    (tmp_path / "other").mkdir()
    policy.save(tmp_path / "other" / "copy.toml")
    assert Policy.load(tmp_path / "other" / "copy.toml").to_dict() == policy.to_dict()
    text = (tmp_path / "other" / "copy.toml").read_text()
    assert str(tmp_path) not in text  # the folder can be moved
    assert '"../sub/zips.csv"' in text
    with pytest.raises(OutputError, match="exists"):
        policy.save(tmp_path / "other" / "copy.toml")
    policy.save(tmp_path / "other" / "copy.toml", force=True)


def test_what_no_file_can_hold_is_not_saved(tmp_path):
    tree = wang2013_figure1()
    for policy in (
        Policy(roles={"quasi": ["age"]}, hierarchies={"age": tree}),
        Policy(
            roles={"quasi": ["age"], "sensitive": ["note"]},
            principles=[Dissimilarity(epsilon=1, delta=0.5, k=2, distance=lambda a, b: a != b)],
        ),
    ):
        with pytest.raises(PolicyError, match="no file can hold"):
            policy.save(tmp_path / "policy.toml")
    assert not list(tmp_path.iterdir())


def test_all_columns_without_a_role_are_named_at_once():
    with pytest.raises(PolicyError, match="columns 'sex', 'pay' have no role"):
        check_roles(["age", "sex", "pay"], {"quasi": ["age"]})
    with pytest.raises(PolicyError, match="column 'pay' has no role"):
        check_roles(["age", "pay"], {"quasi": ["age"]})
