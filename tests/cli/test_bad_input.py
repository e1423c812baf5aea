"""Whatever is wrong: one message with what, where and a hint, the right exit code, no value.

1 is an error of the input, a policy's mistakes included; 2 is a command line that asks for what
does not exist. The cells at fault hold a marker that no message may repeat.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

QI = ("--qi", "age,zip")
ON_SALARY = (*QI, "--sensitive", "salary", "--principle")
PROXIMITY = (*ON_SALARY, "epsilon-m:epsilon=100,m=2")
SIZES = (*QI, "--principle", "k-anonymity:k=2")


def named(cases: dict[str, tuple[str, list[str]]]) -> list:
    return [pytest.param(*case, id=name) for name, case in cases.items()]


# The table as a file.


def test_file_not_found(run):
    run("check", "peple.csv", *SIZES).refuses(1, "there is no file peple.csv")


def test_directory_instead_of_a_file(run):
    Path("folder.csv").mkdir()
    run("check", "folder.csv", *SIZES).refuses(1, "folder.csv is a directory")


def test_file_of_no_bytes(run, write):
    write("people.csv", "")
    run("check", "people.csv", *SIZES).refuses(1, "people.csv is empty")


@pytest.mark.parametrize("blank", ["\n", " \n\n", "\ufeff"])
def test_table_without_a_header(run, write, blank):
    write("people.csv", blank)
    run("check", "people.csv", *SIZES).refuses(1, "people.csv is empty")


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_no_rows_after_the_header(run, name):
    frame = pl.DataFrame(schema={"age": pl.String, "zip": pl.String})
    frame.write_csv(name) if name.endswith("csv") else frame.write_parquet(name)
    run("check", name, *SIZES).refuses(1, name, "no rows")


def test_unknown_suffix(run, write):
    write("people.xlsx", "age,zip\n1,2\n")
    run("check", "people.xlsx", *SIZES).refuses(1, "people.xlsx", "'.xlsx'", ".csv")


def test_text_that_calls_itself_parquet(run, write, secret):
    write("people.parquet", f"age,zip\n1,{secret}\n")
    run("check", "people.parquet", *SIZES).refuses(1, "people.parquet is damaged")


@pytest.mark.parametrize("extra", ["", ",x,y"], ids=["too short", "too long"])
def test_ragged_rows(run, write, secret, extra):
    write("people.csv", f"age,zip,salary\n1,2,3\n1,2,3\n{secret},2{extra}\n1,2,3\n")
    width = 2 + extra.count(",")
    run("check", "people.csv", *SIZES).refuses(
        1, f"row 3 of people.csv has {width} fields", "the header has 3"
    )


def test_quote_that_is_never_closed(run, write, secret):
    write("people.csv", f'age,zip\n1,2\n"{secret},2\n1,2\n')
    run("check", "people.csv", *SIZES).refuses(1, "people.csv", "quote")


def test_bytes_that_are_not_of_the_given_encoding(run, write, secret):
    write("people.csv", f"age,zip\n1,2\n{secret}é,2\n".encode("latin-1"))
    run("check", "people.csv", *SIZES, "--encoding", "utf-8").refuses(
        1, "line 3 of people.csv is not valid utf-8", "--encoding"
    )


def test_bytes_that_are_of_no_likely_encoding(run, write, secret):
    write("people.csv", f"age,zip\n{secret},".encode() + b"\x81\xff\n")
    run("check", "people.csv", *SIZES).refuses(1, "line 2 of people.csv", "--encoding")


def test_unknown_encoding(run):
    run("check", "people.csv", *SIZES, "--encoding", "utf-9").refuses(1, "no encoding 'utf-9'")


def test_impossible_delimiter(run):
    run("check", "people.csv", *SIZES, "--delimiter", "ab").refuses(2, "'ab'", "delimiter")


# Its columns.


def test_duplicate_column(run, write, secret):
    write("people.csv", f"age,zip,age\n1,2,{secret}\n")
    run("check", "people.csv", *SIZES).refuses(1, "columns 1 and 3", "'age'")


def test_column_without_a_name(run, write, secret):
    write("people.csv", f"age,,zip\n1,{secret},2\n")
    run("check", "people.csv", *SIZES).refuses(1, "column 2", "no name")


def test_missing_column(run):
    run("check", "people.csv", "--qi", "agee,zip", "--principle", "k-anonymity:k=2").refuses(
        1, "the table has no column 'agee'", "did you mean 'age'?"
    )


def test_missing_column_like_no_other(run):
    run("check", "people.csv", "--qi", "height", "--principle", "k-anonymity:k=2").refuses(
        1, "the table has no column 'height'", "wideberth init"
    )


def test_missing_sensitive_column(run):
    run(
        "check", "people.csv", *QI, "--sensitive", "salry", "--principle", "distinct-l:l=2"
    ).refuses(1, "'salry'", "did you mean 'salary'?")


def test_missing_group_column(run):
    run("check", "people.csv", "--group", "grp", "--principle", "k-anonymity:k=2").refuses(
        1, "the table has no column 'grp'"
    )


def test_column_in_two_roles(run):
    run("check", "people.csv", *QI, "--sensitive", "zip", "--principle", "distinct-l:l=2").refuses(
        1, "'zip' is both quasi-identifier and sensitive"
    )


def test_quasi_identifier_missing_in_every_row(run, write):
    write("people.csv", "age,zip\n?,1\nNA,2\n,3\n")
    run("check", "people.csv", *SIZES).refuses(1, "'age' is missing in every row")


# Its cells.


def _with_cell(write, cell: str) -> None:
    write("people.csv", f"age,zip,salary\n1,2,1000\n1,2,1200\n1,2,{cell}\n1,2,1400\n")


def test_text_among_numbers(run, write, secret):
    _with_cell(write, secret)
    run("check", "people.csv", *PROXIMITY).refuses(1, "'salary', row 3: not a number")


def test_text_among_numbers_after_a_principle_that_takes_text(run, write, secret):
    _with_cell(write, secret)
    first = (*ON_SALARY, "distinct-l:l=2", "--principle", "delta-l:delta=1,l=2")
    run("check", "people.csv", *first).refuses(1, "'salary', row 3: not a number")


def test_text_that_is_said_to_be_a_number(run, write, secret):
    _with_cell(write, secret)
    run("check", "people.csv", *ON_SALARY, "distinct-l:l=2", "--type", "salary=integer").refuses(
        1, "'salary', row 3: not an integer"
    )


def test_numbers_that_are_said_to_be_text(run):
    run("check", "people.csv", *PROXIMITY, "--type", "salary=text").refuses(
        1, "epsilon-m needs numbers", "'salary'"
    )


@pytest.mark.parametrize(
    ("cell", "kind"), [("NaN", "NaN"), ("inf", "an infinite number"), ("-inf", "an infinite")]
)
def test_not_finite_in_csv(run, write, cell, kind):
    _with_cell(write, cell)
    run("check", "people.csv", *PROXIMITY).refuses(1, f"'salary', row 3: {kind}", "missing")


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("column", ["salary", "age"])
def test_not_finite_in_parquet(run, cell, column):
    numbers = {"age": [30.0] * 4, "salary": [1000.0, 1200.0, 1300.0, 1400.0]}
    numbers[column][2] = float(cell)
    pl.DataFrame({"zip": ["1"] * 4, **numbers}).write_parquet("people.parquet")
    kind = "NaN" if cell == "nan" else "an infinite number"
    run("check", "people.parquet", *PROXIMITY).refuses(1, f"'{column}', row 3: {kind}")


def test_distributions_that_do_not_add_up(run, write):
    write("people.csv", "age,zip,p,q\n1,2,0.5,0.5\n1,2,0.5,0.4\n")
    run(
        *("check", "people.csv", *QI, "--sensitive", "p,q", "--principle"),
        "dissimilarity:on=p+q,epsilon=0.1,delta=0.5,k=2,distance=variational",
    ).refuses(1, "'p+q'", "do not add up to 1")


# What the command line asks for.


@pytest.mark.parametrize(
    ("principle", "phrases"),
    named(
        {
            "unknown principle": (
                "k-anonimity:k=5",
                ["'k-anonimity'", "did you mean 'k-anonymity'?"],
            ),
            "nothing like it": ("privacy:k=5", ["there is no principle 'privacy'", "principles"]),
            "no name": (":k=5", ["there is no principle ''"]),
            "unknown parameter": (
                "epsilon-m:epsilom=1,m=2",
                ["'epsilom'", "did you mean 'epsilon'?"],
            ),
            "missing parameter": ("epsilon-m:epsilon=5", ["epsilon-m needs its parameter 'm'"]),
            "no parameters": ("k-anonymity", ["k-anonymity needs its parameter 'k'"]),
            "either of two": ("epsilon-m:m=5", ["epsilon", "e1 and e2"]),
            "no equals sign": ("k-anonymity:5", ["'5' in 'k-anonymity:5'", "parameter=value"]),
            "no value": ("k-anonymity:k=", ["k must be a whole number from 1", "''"]),
            "too low": ("k-anonymity:k=0", ["k must be a whole number from 1, not 0"]),
            "not whole": ("k-anonymity:k=2.5", ["k must be a whole number from 1"]),
            "not a number": ("t-closeness:t=close", ["t must be a number from 0", "'close'"]),
            "too high": ("alpha-k:alpha=2,k=2", ["alpha must be a number", "not 2"]),
            "negative": ("epsilon-m:epsilon=-1,m=2", ["epsilon must be a number from 0, not -1"]),
            "infinite": ("variance:t=inf", ["t must be a number from 0"]),
            "below one": ("entropy-l:l=0.5", ["l must be a number from 1"]),
            "no choice": ("delta-l:delta=1,l=2,variant=odd", ["one of stab, literal", "'odd'"]),
            "no flag": ("epsilon-m:epsilon=0.1,m=2,relative=maybe", ["true or false", "'maybe'"]),
            "no metric": (
                "dissimilarity:epsilon=1,delta=1,k=2,distance=far",
                ["one of auto", "'far'"],
            ),
            "share above all": ("epsilon-m:epsilon=120%,m=2", ["relative epsilon", "0 to 1"]),
            "larger than any table": ("k-anonymity:k=1e300", ["k must be a whole number"]),
            "beyond all numbers": ("epsilon-m:epsilon=1e99999999,m=2", ["epsilon must be"]),
            "beyond all floats": ("frequency-l:l=1e400", ["l must be a number from 1"]),
            "next to nothing": ("epsilon-m:epsilon=1e-5000,m=2", ["epsilon must be"]),
            "twice": ("k-anonymity:k=2,k=3", ["'k' stands twice"]),
            "not of that form": ("k-anonymity:5", ["parameter=value", "k-anonymity:k=5"]),
            "on nothing": ("k-anonymity:k=2,on=salary", ["looks at no attribute"]),
            "one without the other": ("recursive-cl:c=2,l=2,c2=5", ["required and c2"]),
            "needs a tree": ("l-e:l=2,e=1", ["'salary' has no hierarchy", "--hierarchy"]),
            "needs several": ("multi-attribute-l:l=2", ["two or more sensitive attributes"]),
        }
    ),
)
def test_principle_that_cannot_be(run, principle, phrases):
    run("check", "people.csv", *ON_SALARY, principle).refuses(2, *phrases)


def test_delta_presence_of_an_empty_range(run):
    empty = "delta-presence:delta_max=0.1,delta_min=0.5"
    outcome = run("check", "people.csv", *ON_SALARY, empty)
    assert (outcome.code, outcome.out) == (2, "")
    assert "delta_min must not exceed delta_max" in outcome.err


def test_principle_on_a_column_that_is_not_sensitive(run):
    run("check", "people.csv", *ON_SALARY, "distinct-l:on=zip,l=2").refuses(
        2, "distinct-l: 'zip' is no sensitive attribute", "on=salary"
    )


def test_principle_without_any_sensitive_attribute(run):
    run("check", "people.csv", *QI, "--principle", "distinct-l:l=2").refuses(
        2, "distinct-l needs a sensitive attribute", "--sensitive"
    )


def test_several_sensitive_attributes_and_no_word_which(run):
    run(
        "check", "people.csv", *QI, "--sensitive", "disease,salary", "--principle", "distinct-l:l=2"
    ).refuses(2, "which sensitive attribute", "distinct-l:on=disease")


def test_no_principle(run):
    run("check", "people.csv", *QI).refuses(2, "-p FILE", "--principle NAME")


def test_no_quasi_identifiers(run):
    run("check", "people.csv", "--principle", "k-anonymity:k=2").refuses(
        2, "no quasi-identifiers", "--qi"
    )


def test_delta_presence_without_a_population(run):
    run("check", "people.csv", *QI, "--principle", "delta-presence:delta_max=0.5").refuses(
        2, "population", "--population FILE"
    )


def test_population_without_a_quasi_identifier(run, write, secret):
    write("everyone.csv", f"age,name\n<30,{secret}\n")
    presence = ("--principle", "delta-presence:delta_max=0.5", "--population", "everyone.csv")
    run("check", "people.csv", *QI, *presence).refuses(1, "the population has no column 'zip'")


def test_population_that_is_not_there(run):
    presence = ("--principle", "delta-presence:delta_max=0.5", "--population", "everyone.csv")
    run("check", "people.csv", *QI, *presence).refuses(1, "there is no file everyone.csv")


def test_type_of_a_column_that_is_not_there(run):
    run("check", "people.csv", *PROXIMITY, "--type", "salry=float").refuses(
        1, "'salry'", "did you mean 'salary'?"
    )


def test_unknown_type(run):
    run("check", "people.csv", *PROXIMITY, "--type", "salary=money").refuses(
        2, "no type 'money'", "integer, float"
    )


@pytest.mark.parametrize("option", ["--type", "--hierarchy"])
@pytest.mark.parametrize("text", ["salary", "=float", "salary="])
def test_option_that_is_no_assignment(run, option, text):
    run("check", "people.csv", *PROXIMITY, option, text).refuses(2, option, text, "COLUMN=VALUE")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "people.csv", "--worst", "-1"],
        ["check", "people.csv", "--format", "xml"],
        ["check", "people.csv", "--qo", "age"],
        ["chek", "people.csv"],
        ["demo", "--rows", "3"],
        ["hierarchy", "validate", "tree.csv", "--table", "people.csv"],
        ["hierarchy", "build", "--table", "people.csv", "--column", "zip"],
        ["hierarchy", "build", "--table", "people.csv", "--column", "zip", "--mask", "0"],
        ["hierarchy", "build", "--table=people.csv", "--column=zip", "--mask=2", "--date=year"],
        ["hierarchy", "build", "--table=people.csv", "--column=zip", "--mask=2", "--origin=1"],
        ["principles", "k-anonimity"],
    ],
    ids=" ".join,
)
def test_wrong_usage(run, arguments):
    run(*arguments).refuses(2)


# Hierarchies.

TREE = "flu;infection;*\ncancer;tumour;*\nulcer;stomach;*\n"
ON_TREE = (
    *(*QI, "--sensitive", "disease", "--principle", "l-e:l=2,e=1"),
    *("--hierarchy", "disease=tree.csv"),
)


def test_hierarchy_that_lacks_a_value(run, write, secret):
    write("tree.csv", TREE)
    write("people.csv", f"age,zip,disease\n1,2,flu\n1,2,cancer\n1,2,{secret}\n")
    run("check", "people.csv", *ON_TREE).refuses(1, "disease", "row 3")


def test_hierarchy_that_lacks_a_value_when_validated(run, write, secret):
    write("tree.csv", TREE)
    write("people.csv", f"age,zip,disease\n1,2,flu\n1,2,{secret}\n")
    run(
        "hierarchy", "validate", "tree.csv", "--table", "people.csv", "--column", "disease"
    ).refuses(1, "disease", "row 2")


@pytest.mark.parametrize("command", ["check", "show", "validate"])
def test_hierarchy_that_is_not_there(run, command):
    outcome = (
        run("check", "people.csv", *ON_TREE)
        if command == "check"
        else run("hierarchy", command, "tree.csv")
    )
    outcome.refuses(1, "tree.csv", "No such file")


def test_hierarchy_in_a_circle(run, write):
    write("tree.csv", "child;parent\nflu;infection\ninfection;disease\ndisease;infection\n")
    run("hierarchy", "validate", "--parents", "tree.csv").refuses(
        1, "tree.csv", "its own ancestor", "(line 4)"
    )


def test_hierarchy_with_a_label_under_two_parents(run, write):
    write("tree.csv", "flu;infection;body;*\ncold;infection;mind;*\n")
    run("hierarchy", "validate", "tree.csv").refuses(
        1, "tree.csv: cell 2 holds one label (line 1) and (line 2) under different parents"
    )


def test_inconsistent_hierarchy_in_a_check(run, write):
    write("tree.csv", "flu;infection;body;*\ncold;infection;mind;*\n")
    run("check", "people.csv", *ON_TREE).refuses(1, "tree.csv", "under different parents")


def test_hierarchy_of_a_column_that_is_not_there(run, write):
    write("tree.csv", TREE)
    run("check", "people.csv", *PROXIMITY, "--hierarchy", "diseas=tree.csv").refuses(
        1, "'diseas'", "did you mean 'disease'?"
    )


def test_intervals_of_what_is_no_number(run, write, secret):
    write("people.csv", f"age,zip\n31,2\n{secret},2\n")
    run(
        "hierarchy", "build", "--table", "people.csv", "--column", "age", "--interval", "5"
    ).refuses(1, "row 2")


def test_intervals_that_do_not_nest(run, write):
    write("people.csv", "age,zip\n31,2\n")
    run(
        "hierarchy", "build", "--table", "people.csv", "--column", "age", "--interval", "5,12"
    ).refuses(1, "12 is not a multiple of 5")


# Policies.


def test_policy_that_is_not_there(run):
    run("check", "people.csv", "-p", "polciy.toml").refuses(
        1, "there is no policy polciy.toml", "wideberth init"
    )


def test_policy_that_is_a_directory(run):
    run("check", "people.csv", "-p", ".").refuses(1, "cannot read policy .")


def test_policy_that_is_not_utf8(run, write):
    write("policy.toml", b"version = 1 # \xe9\n")
    run("check", "people.csv", "-p", "policy.toml").refuses(1, "policy.toml", "UTF-8")


def test_policy_that_is_not_toml(run, write):
    write("policy.toml", "version = 1\n[roles]\nquasi = [age]\n")
    run("check", "people.csv", "-p", "policy.toml").refuses(1, "policy.toml", "line 3")


ROLES = '[roles]\nquasi = ["age", "zip"]\nsensitive = ["disease", "salary"]\n'


@pytest.mark.parametrize(
    ("policy", "phrases"),
    named(
        {
            "unlisted column": (
                '[roles]\nquasi = ["age", "zip"]\nsensitive = ["salary"]\n',
                ["column 'disease' has no role"],
            ),
            "column that is not there": (
                ROLES.replace('"zip"', '"zip", "sexx"'),
                ["the table has no column 'sexx'"],
            ),
            "two roles": (
                ROLES + 'insensitive = ["zip"]\n',
                ["column 'zip' is listed as quasi and as insensitive"],
            ),
            "roles that are no list": (
                ROLES.replace('["age", "zip"]', '"age"'),
                ["roles.quasi must be a list of column names", 'quasi = ["column"]'],
            ),
            "roles that are no names": (
                ROLES.replace('["age", "zip"]', "[1, 2]"),
                ["roles.quasi must be a list of column names"],
            ),
            "unknown role": (ROLES + "secret = []\n", ["[roles]", "unknown key 'secret'"]),
            "misspelt role": (
                ROLES.replace("quasi", "quassi"),
                ["'quassi'", "did you mean 'quasi'?"],
            ),
            "misspelt section": ("[rolls]\n" + ROLES, ["'rolls'", "did you mean 'roles'?"]),
            "section that is none": ("roles = 1\n", ["roles must be a section", "[roles]"]),
            "unknown version": ("version = 2\n" + ROLES, ["version", "version = 1"]),
            "unknown type": (
                ROLES + '[types]\nsalary = "money"\n',
                ["column 'salary' cannot have the type 'money'", "integer, float"],
            ),
            "type of an unlisted column": (
                ROLES + '[types]\nsalry = "integer"\n',
                ["[types]", "'salry'", "did you mean 'salary'?"],
            ),
            "hierarchy of an unlisted column": (
                ROLES + '[hierarchies]\nziip = "zip.csv"\n',
                ["[hierarchies]", "'ziip'", "did you mean 'zip'?"],
            ),
            "missing values that are no list": (
                ROLES + '[table]\nmissing = "NA"\n',
                ["table.missing must be a list of texts"],
            ),
            "delimiter that is no text": (
                ROLES + "[table]\ndelimiter = 1\n",
                ["table.delimiter must be text"],
            ),
            "group that is no text": ("group = 1\n" + ROLES, ["group must be text"]),
            "one bracket": (ROLES + '[principle]\nname = "k-anonymity"\n', ["[[principle]]"]),
            "principle that is no section": (
                'principle = ["k-anonymity"]\n' + ROLES,
                ["[[principle]]"],
            ),
            "principle without a name": (
                ROLES + "[[principle]]\nk = 5\n",
                ["principle 1 has no name"],
            ),
            "unknown principle": (
                ROLES + '[[principle]]\nname = "k-anonimity"\nk = 5\n',
                ["policy.toml: principle 1", "did you mean 'k-anonymity'?"],
            ),
            "second principle out of range": (
                ROLES + '[[principle]]\nname = "k-anonymity"\nk = 2\n'
                '[[principle]]\nname = "k-anonymity"\nk = "five"\n',
                ["policy.toml: principle 2", "k must be a whole number from 1, not 'five'"],
            ),
            "unknown parameter": (
                ROLES + '[[principle]]\nname = "k-anonymity"\nkk = 5\n',
                ["principle 1", "no parameter 'kk'"],
            ),
            "missing parameter": (
                ROLES + '[[principle]]\nname = "k-anonymity"\n',
                ["principle 1", "needs its parameter 'k'"],
            ),
            "principle on what is no name": (
                ROLES + '[[principle]]\nname = "distinct-l"\non = 1\nl = 2\n',
                ["principle 1", 'on = "salary"'],
            ),
            "principle on what is not sensitive": (
                ROLES + '[[principle]]\nname = "distinct-l"\non = "zip"\nl = 2\n',
                ["'zip' is no sensitive attribute"],
            ),
            "principle on one of several": (
                ROLES + '[[principle]]\nname = "distinct-l"\nl = 2\n',
                ["which sensitive attribute"],
            ),
            "no population": (
                ROLES + '[[principle]]\nname = "delta-presence"\ndelta_max = 0.5\n',
                ["population"],
            ),
            "hierarchy that is not there": (
                ROLES + '[[principle]]\nname = "l-e"\non = "disease"\nl = 2\ne = 1\n'
                '[hierarchies]\ndisease = "tree.csv"\n',
                ["tree.csv", "No such file"],
            ),
        }
    ),
)
def test_policy_with_a_mistake(run, write, policy, phrases):
    if "principle" not in policy:
        policy += '[[principle]]\nname = "k-anonymity"\nk = 2\n'
    write("policy.toml", policy)
    run("check", "people.csv", "-p", "policy.toml").refuses(1, *phrases)


def test_policy_without_quasi_identifiers(run, write):
    write("people.csv", "salary\n1\n2\n")
    write("policy.toml", '[roles]\nsensitive = ["salary"]\n[[principle]]\nname="variance"\nt=1\n')
    run("check", "people.csv", "-p", "policy.toml").refuses(1, "no quasi-identifiers")


def test_policy_without_principles(run, write):
    write("policy.toml", ROLES)
    run("check", "people.csv", "-p", "policy.toml").refuses(1, "no principle to check")


# The lattice.

COLUMNS = "age,zip,salary\n" + "".join(f"{20 + i},130{i % 3}{i % 5},{i}\n" for i in range(30))
TREES = "[hierarchies]\nage = { interval = [5, 10] }\nzip = { mask = 2 }\n"
SIMPLE = '[roles]\nquasi = ["age", "zip"]\nsensitive = ["salary"]\n'
FIVE = '[[principle]]\nname = "k-anonymity"\nk = 5\n'
LATTICE = ("lattice", "people.csv", "-p", "policy.toml")
RELEASE = ("anonymize", "people.csv", "-p", "policy.toml", "--dry-run")
BY_LATTICE = (*RELEASE, "--algorithm", "lattice")
each_way = pytest.mark.parametrize("line", [LATTICE, BY_LATTICE], ids=["lattice", "anonymize"])


@pytest.fixture
def levelled(write):
    """People whose quasi-identifiers have hierarchies."""
    write("people.csv", COLUMNS)
    write("policy.toml", SIMPLE + TREES + FIVE)


@each_way
@pytest.mark.parametrize(
    ("cells", "offer"),
    [
        ("1\n2\n", "{ interval = [5, 10, 20] }; or let wideberth hierarchy build"),
        ("2001-01-31\n2002-12-01\n", '{ date = ["month", "year"] }; or let wideberth hierarchy'),
        ("Zq7Xhush\nb\n", "{ flat = true }; or let wideberth hierarchy build --table"),
    ],
    ids=["numbers", "dates", "text"],
)
def test_lattice_without_a_hierarchy(run, write, line, cells, offer):
    write("people.csv", "age\n" + cells)
    write("policy.toml", '[roles]\nquasi = ["age"]\n' + FIVE)
    run(*line).refuses(
        1, "quasi-identifier 'age' has no hierarchy", '[hierarchies] in the policy: "age" =', offer
    )


@each_way
def test_several_columns_without_a_hierarchy(run, write, line):
    """All of them are named at once."""
    write("people.csv", "age,born\n1,2001-01-31\n")
    write("policy.toml", '[roles]\nquasi = ["age", "born"]\n' + FIVE)
    run(*line).refuses(1, "2 quasi-identifiers have no hierarchy: 'age', 'born'", "interval")


@each_way
def test_a_wrong_hierarchy_names_its_column(run, write, line):
    write("people.csv", "age\n1\n2\n")
    trees = "[hierarchies]\nage = { interval = [5, 12] }\n"
    write("policy.toml", '[roles]\nquasi = ["age"]\n' + FIVE + trees)
    run(*line).refuses(1, "the hierarchy of 'age': interval width 12 is not a multiple of 5")


@each_way
def test_a_level_given_twice(run, levelled, line):
    run(*line, "--level", "age=1", "--level", "age=2").refuses(2, "'age' twice")


@each_way
def test_lattice_of_a_hierarchy_without_a_common_root(run, write, levelled, line, secret):
    write("tree.csv", "".join(f"{20 + i};{secret if i % 2 else 'even'}\n" for i in range(30)))
    run(*line, "--hierarchy", "age=tree.csv").refuses(
        1, "the hierarchy of 'age' has no common root", "the same label"
    )


@each_way
@pytest.mark.parametrize("limit", ["-0.1", "1.5", "nan", "few"])
def test_lattice_with_a_suppression_limit_that_cannot_be(run, levelled, line, limit):
    run(*line, "--suppression-limit", limit).refuses(2, "limit")


@each_way
@pytest.mark.parametrize(
    ("options", "phrases"),
    named(
        {
            "unknown measure": (["--measure", "beauty"], ["--measure", "'loss'"]),
            "no assignment": (["--level", "age"], ["--level 'age'", "COLUMN=VALUE"]),
            "no level": (["--level", "age=low"], ["--level age='low'", "age=1-3"]),
            "negative level": (["--level", "age=-1"], ["--level age='-1'"]),
            "three levels": (["--level", "age=1-2-3"], ["--level age='1-2-3'"]),
            "upside down": (["--level", "age=2-1"], ["levels of 'age' must be a level"]),
            "too high": (
                ["--level", "age=4"],
                ["levels: the hierarchy of 'age' has levels 0 to 3"],
            ),
            "partly too high": (["--level", "zip=1-9"], ["the hierarchy of 'zip' has levels 0 to"]),
            "no quasi-identifier": (
                ["--level", "salary=1"],
                ["levels: 'salary' is no quasi-identifier", "one of age, zip"],
            ),
            "no column": (["--level", "agee=1"], ["levels: 'agee' is no quasi-identifier"]),
            "no time": (["--max-seconds", "0"], ["--max-seconds"]),
            "no checks": (["--max-checks", "0"], ["--max-checks"]),
            "no memory": (["--max-memory", "0"], ["--max-memory"]),
        }
    ),
)
def test_lattice_that_cannot_be_searched(run, levelled, line, options, phrases):
    run(*line, *options).refuses(2, *phrases)


@each_way
@pytest.mark.parametrize(
    ("transform", "phrases"),
    named(
        {
            "unknown measure": ('measure = "los"', ["[transform]: measure must be one of loss"]),
            "too high": ("levels = { age = 9 }", ["the hierarchy of 'age' has levels 0 to 3"]),
            "no quasi-identifier": (
                "levels = { salary = 1 }",
                ["transform.levels has what is no quasi-identifier: 'salary'"],
            ),
            "no level": ('levels = { age = "low" }', ["levels of 'age' must be a level"]),
            "suppression beyond all": ("suppression_limit = 2", ["suppression_limit must be"]),
            "no checks": ("max_checks = 0", ["max_checks must be a whole number from 1"]),
            "cuts": ('cuts = "paper"', ["cuts means nothing to the algorithm 'lattice'"]),
            "intervals": ('recoding = "interval"', ["recoding means nothing"]),
        }
    ),
)
def test_policy_with_a_mistake_about_the_lattice(run, write, levelled, line, transform, phrases):
    policy = f'{SIMPLE}{TREES}[transform]\nalgorithm = "lattice"\n{transform}\n{FIVE}'
    write("policy.toml", policy)
    run(*line).refuses(1, *phrases)


@each_way
def test_lattice_too_large_to_search_to_the_end(run, levelled, monkeypatch, line):
    monkeypatch.setattr("wideberth.algorithms.lattice.generalize.LISTED", 5)
    run(*line).refuses(2, "the lattice has 16 nodes, too many to search to the end", "max_seconds")


@each_way
def test_lattice_that_has_no_admissible_node(run, levelled, line):
    run(*line, "--level", "age=0").refuses(3, "satisfies k-anonymity:k=5", "suppression_limit")


@pytest.mark.parametrize(
    "options",
    [
        ["--measure", "ncp"],
        ["--level", "age=1"],
        ["--local-rounds", "1"],
        ["--max-seconds", "5"],
        ["--max-checks", "5"],
    ],
    ids=" ".join,
)
def test_mondrian_with_what_only_the_lattice_knows(run, levelled, options):
    run(*RELEASE, *options).refuses(
        2, "means nothing to the algorithm 'mondrian'", 'algorithm = "lattice"'
    )


@pytest.mark.parametrize("options", [["--cuts", "paper"], ["--dealing", "matching"]], ids=" ".join)
def test_lattice_with_what_only_mondrian_knows(run, levelled, options):
    run(*BY_LATTICE, *options).refuses(
        2, "means nothing to the algorithm 'lattice'", "leave it out"
    )


def test_unknown_algorithm(run, levelled):
    run(*RELEASE, "--algorithm", "magic").refuses(2, "--algorithm")


# Where results go.

OUTPUT = [
    ["init", "people.csv"],
    ["hierarchy", "build", "--table", "people.csv", "--column", "salary", "--interval", "500"],
]


@pytest.mark.parametrize("command", OUTPUT, ids=["init", "build"])
def test_output_that_exists_stays_as_it_is(run, write, command):
    write("kept.txt", "precious")
    before = sorted(Path().iterdir())
    run(*command, "-o", "kept.txt").refuses(1, "kept.txt exists", "--force")
    assert Path("kept.txt").read_text() == "precious"
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("command", OUTPUT, ids=["init", "build"])
def test_output_that_exists_is_refused_before_the_table_is_read(run, write, command):
    write("kept.txt", "precious")
    Path("people.csv").unlink()
    run(*command, "-o", "kept.txt").refuses(1, "kept.txt exists")


@pytest.mark.parametrize("command", OUTPUT, ids=["init", "build"])
def test_output_that_exists_is_replaced_on_demand(run, write, command):
    write("old.txt", "old")
    before = sorted(Path().iterdir())
    outcome = run(*command, "-o", "old.txt", "--force")
    assert (outcome.code, outcome.out) == (0, "")
    assert "wrote old.txt" in outcome.err
    assert Path("old.txt").read_text() not in ("", "old")
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("command", OUTPUT, ids=["init", "build"])
def test_output_into_a_folder_that_is_not_there(run, command):
    run(*command, "-o", "nowhere/new.txt").refuses(1, "no directory nowhere", "create it")
    assert not Path("nowhere").exists()


@pytest.mark.parametrize("command", OUTPUT, ids=["init", "build"])
def test_output_onto_a_folder(run, command):
    run(*command, "-o", ".", "--force").refuses(1, "is a directory")


def test_a_table_that_fails_leaves_no_output(run, write, secret):
    write("people.csv", f"age\n{secret}\n")
    build = ("hierarchy", "build", "--table", "people.csv", "--column", "age", "--interval", "5")
    run(*build, "-o", "age.csv").refuses(1)
    assert sorted(path.name for path in Path().iterdir()) == ["people.csv", "policy.toml"]


def test_demo_into_an_earlier_demo(run, write):
    Path("demo").mkdir()
    write("demo/release.csv", "precious")
    outcome = run("demo", "--rows", "100", "-o", "demo")
    assert outcome.code == 1
    assert "release.csv exists" in outcome.err
    assert [path.name for path in Path("demo").iterdir()] == ["release.csv"]


def test_demo_onto_a_file(run):
    outcome = run("demo", "--rows", "100", "-o", "people.csv")
    assert outcome.code == 1
    assert "people.csv cannot be made" in outcome.err


# What is nobody's fault, or ours.


def test_interrupted(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("wideberth.io.read", interrupted)
    outcome = run("check", "people.csv", *SIZES)
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err.strip() == "interrupted"


def test_a_panic_about_an_interrupt_is_one(run, monkeypatch):
    def broken(*_, **__):
        raise pl.exceptions.PanicException("PyErr { type: <class 'KeyboardInterrupt'> }")

    monkeypatch.setattr("wideberth.checks.check.check", broken)
    outcome = run("check", "people.csv", *SIZES)
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "interrupted")


@pytest.mark.parametrize("kind", [RuntimeError, KeyError, pl.exceptions.PanicException])
def test_a_bug_of_ours_says_no_more_than_where(run, monkeypatch, secret, kind):
    def broken(*_, **__):
        raise kind(secret)

    monkeypatch.setattr("wideberth.checks.check.check", broken)
    outcome = run("check", "people.csv", *SIZES)
    assert (outcome.code, outcome.out) == (1, "")
    assert "Traceback" not in outcome.err
    assert secret not in outcome.err
    first, hint = outcome.err.splitlines()
    assert first.startswith(f"error: wideberth failed unexpectedly ({kind.__name__} in test_bad_")
    assert "WIDEBERTH_TRACEBACK=1" in hint


def test_a_bug_of_ours_can_be_looked_into(run, monkeypatch, secret):
    def broken(*_, **__):
        raise RuntimeError(secret)

    monkeypatch.setattr("wideberth.checks.check.check", broken)
    monkeypatch.setenv("WIDEBERTH_TRACEBACK", "1")
    outcome = run("check", "people.csv", *SIZES)
    assert outcome.code == 1
    assert "Traceback" in outcome.err
    assert secret in outcome.err


def test_a_reader_that_takes_one_line(shell):
    outcome = shell("wideberth principles --format json | head -1")
    assert outcome.out == "[\n"
    assert outcome.err == ""


def test_a_reader_that_is_gone(shell):
    outcome = shell("{ sleep 0.5; wideberth principles; } | true")
    assert outcome == (0, "", "")


def test_a_reader_that_leaves_does_not_hide_the_verdict(shell):
    line = "wideberth check people.csv --qi age,zip,salary --principle k-anonymity:k=2"
    outcome = shell(f"{line} | head -1")
    assert (outcome.code, outcome.err) == (3, "")
    assert outcome.out.startswith("people.csv: 6 rows")


def test_a_terminal_without_the_letters(shell):
    line = "wideberth check people.csv --qi age,zip --principle k-anonymity:k=3"
    outcome = shell(line, PYTHONIOENCODING="ascii")
    assert outcome.code == 0
    assert "ok  k-anonymity:k=3" in outcome.out


def test_json_without_the_letters(shell):
    line = "wideberth principles epsilon-m --format json"
    outcome = shell(line, PYTHONIOENCODING="latin-1")
    assert outcome.code == 0
    assert '"title": "(\\u03b5,m)-anonymity"' in outcome.out
