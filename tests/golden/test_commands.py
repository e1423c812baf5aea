"""What commands print for fixed tables: text, JSON, refusals and exit codes.

The tables stand in `tables`: Table 1b of Li et al. 2008 (salaries.csv), Figure 2 of Machanavajjhala
et al. 2006 (inpatients.csv), forty made-up adults with three releases of them, and small ones.

Swaps are switched off wherever groups depend on sensitive values: an audit tries as many of them
as fit into three seconds, so their number depends on the machine.
"""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import wideberth as wb
from tests.conftest import Outcome, Run

from .snapshots import STORED, TABLES, compare, json_text, rewriting, steady

SALARIES = (
    "check salaries.csv --qi age,zip --sensitive salary "
    "--principle k-anonymity:k=2 --principle distinct-l:l=2 "
    "--principle epsilon-m:epsilon=100,m=2 --principle delta-l:delta=100,l=4/3"
)
INPATIENTS = (
    "check inpatients.csv --qi zip,age,nationality --sensitive condition "
    "--principle k-anonymity:k=4 --principle distinct-l:l=2 --principle entropy-l:l=2 "
    "--principle recursive-cl:c=2,l=2 --principle t-closeness:t=0.5"
)
ANATOMY = "--qi age,zip,sex --sensitive disease --hierarchy disease=diseases.csv"
RELEASED = "released.csv --original adults.csv -p adults.toml"
AUDIT = f"audit {RELEASED} --no-swaps --worst 1"
MEASURE = f"measure {RELEASED}"
LATTICE = "lattice adults.csv -p adults.toml --suppression-limit 0.1"
ANONYMIZE = "anonymize adults.csv -p adults.toml --dry-run --seed 1"
ANATOMIZE = (
    f"anonymize adults.csv --identifier name {ANATOMY} --dry-run --seed 1 --algorithm anatomy"
)

#: Commands whose output is text, by the name of the file in `stored/commands`.
TEXT = {
    "check-salaries": SALARIES,
    "check-inpatients": INPATIENTS,
    "principles-epsilon-m": "principles epsilon-m",
    "init": "init people.csv",
    "lattice": f"{LATTICE} --best 3 --minimal 1",
    "advise": "advise salaries.csv --sensitive salary --epsilon 1000",
    "audit": AUDIT,
    "measure": MEASURE,
    "report": f"report {RELEASED} --no-swaps",
}
#: Commands to which --format json is added.
JSON = {
    "check-salaries-json": SALARIES,
    "check-inpatients-json": INPATIENTS,
    "check-satisfied": "check released.csv -p adults.toml --show-rows --worst 1",
    "check-claims": "check salaries.csv --qi age,zip --sensitive salary --claims --show-rows "
    "--principle dissimilarity:epsilon=100,delta=0.5,k=2",
    "check-groups-that-differ": 'check scores.csv --group group --qi age --sensitive "score.*" '
    "--principle dissimilarity:epsilon=0.2,delta=0.5,k=2",
    "check-rows-of-one-person": "check visits.csv -p visits.toml",
    "check-rows-are-people": "check visits.csv -p visits.toml --rows-are-people",
    "check-anatomy": f"check anatomy {ANATOMY} --principle l-e:l=2,e=1",
    "check-population": "check inpatients.csv --qi zip,age,nationality --population residents.csv "
    "--principle delta-presence:delta_max=0.7,delta_min=0.1",
    "check-reference": "check earlier.csv -p adults.toml --reference adults.csv "
    "--principle t-closeness:t=0.2",
    "check-by-duckdb": "check salaries.csv --qi age,zip --sensitive salary --memory 600MB "
    "--principle epsilon-m:epsilon=100,m=2",
    "advise-numbers": "advise salaries.csv --sensitive salary",
    "advise-possible": "advise salaries.csv --sensitive salary --epsilon 10% --m 2",
    "advise-impossible": "advise salaries.csv --sensitive salary --e1 500 --e2 2000 --m 3",
    "advise-allowed": "advise salaries.csv --sensitive salary --epsilon 1000 --allowed 50000",
    "advise-dates": 'advise people.csv --sensitive "birth date" --epsilon 30 --m 2',
    "advise-categories": "advise adults.csv -p adults.toml --hierarchy disease=diseases.csv",
    "advise-dissimilarity": 'advise scores.csv --sensitive "score.*" --distance euclidean '
    "--epsilon 0.2 --delta 0.5 --k 2",
    "advise-dissimilarity-impossible": "advise salaries.csv --sensitive salary --epsilon 30000 "
    "--delta 1 --k 4 --distance absolute",
    "advise-by-duckdb": "advise salaries.csv --sensitive salary --m 5 --memory 600MB",
    "audit-original": f"{AUDIT} --show-rows --hierarchy disease=diseases.csv",
    "audit-guessed": "audit inpatients.csv --limit rho2=0.3",
    "audit-violated": "audit salaries.csv --qi age,zip --sensitive salary --epsilon 100 "
    "--principle epsilon-m:epsilon=100,m=2 --worst 1",
    "audit-others": "audit earlier.csv --original adults.csv --qi age,zip,sex --sensitive disease "
    "--other released.csv --population population.csv --priors priors.csv --fail-on low",
    "audit-anatomy": f"audit anatomy --original adults.csv {ANATOMY} --principle frequency-l:l=2",
    "measure-original": MEASURE,
    "measure-alone": "measure salaries.csv --qi age,zip --sensitive salary --k 2",
    "measure-some": "measure earlier.csv -p adults.toml --metric ncp,precision,group-sizes",
    "measure-anatomy": f"measure anatomy --original adults.csv {ANATOMY}",
    "measure-by-duckdb": f"{MEASURE} --memory 600MB",
    "lattice-suppression": LATTICE,
    "lattice-all-rows": "lattice adults.csv -p adults.toml --level age=1-3 "
    "--measure discernibility",
    "lattice-budget": "lattice adults.csv -p adults.toml --max-checks 3",
    "anonymize": ANONYMIZE,
    "anonymize-anatomy": f"{ANATOMIZE} --principle frequency-l:l=2",
    "join": "join anatomy -o joined.csv",
    "hierarchy-show": "hierarchy show diseases.csv",
    "hierarchy-tree": "hierarchy tree diseases.csv --distance flu cold --e 1",
    "hierarchy-validate": "hierarchy validate diseases.csv --table adults.csv --column disease",
    "init-json": "init people.csv",
    "principles": "principles",
    "metrics": "metrics",
    # Refusals.
    "refused-no-table": "check nowhere.csv --qi age --principle k-anonymity:k=2",
    "refused-no-policy": "measure released.csv -p nowhere.toml",
    "refused-column": "audit salaries.csv --qi age,plz --sensitive salary",
    "refused-text": "advise adults.csv --sensitive disease --epsilon 5",
    "refused-hierarchy": "lattice adults.csv --qi age,zip --principle k-anonymity:k=2 "
    "--identifier name --insensitive sex,disease",
    "refused-changed-table": "check changed.csv -p adults.toml",
    "refused-principle": "check salaries.csv --qi age --principle k-anon:k=2",
    "refused-parameter": "check salaries.csv --qi age --principle k-anonymity:k=0",
    "refused-metric": "measure salaries.csv --qi age --metric nothing",
    "refused-option": "lattice adults.csv --colour",
    "refused-nothing-to-check": "check salaries.csv --qi age",
    "refused-anatomy": "audit anatomy --original adults.csv -p adults.toml",
    "refused-impossible": f"{ANONYMIZE} --principle k-anonymity:k=50",
    "refused-similar-values": f"{ANATOMIZE} --principle l-e:l=2,e=1",
    "refused-no-node": "lattice adults.csv -p adults.toml --principle k-anonymity:k=40 "
    "--level zip=0",
    "refused-rows-of-one-person": "anonymize visits.csv -p visits.toml --dry-run --seed 1",
}
CASES = TEXT | {name: f"{line} --format json" for name, line in JSON.items()}
FILES = [f"commands/{name}.txt" for name in CASES]


@pytest.mark.parametrize("name", CASES)
def test_commands(run: Run, name: str) -> None:
    shutil.copytree(TABLES, ".", dirs_exist_ok=True)
    for file in ("released.csv", "released.csv.manifest.json"):  # a release that somebody changed
        text = Path(file).read_text(encoding="utf-8").replace("flu", "cold")
        Path(file.replace("released", "changed")).write_text(text, encoding="utf-8")
    outcome = run(*shlex.split(CASES[name]))
    text = transcript(CASES[name], outcome, as_json=name in JSON)
    assert str(Path.cwd()) not in text
    compare(f"commands/{name}.txt", text)


def transcript(line: str, outcome: Outcome, *, as_json: bool) -> str:
    """Return what was typed and what came of it."""
    out = json_text(plain(outcome.out)) if as_json else outcome.out
    said = f"\nstandard error:\n{outcome.err}" if outcome.err else ""
    return f"$ wideberth {line}\nexit code {outcome.code}\n\n{out}{said}"


def plain(text: str) -> Any:
    """Read JSON as the standard has it, and leave out times and versions of a manifest."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found = json.loads(text, parse_constant=refuse)
    return steady(found) if isinstance(found, dict) and "versions" in found else found


@pytest.mark.skipif(rewriting(), reason="other tests may not have written their files yet")
def test_every_exit_code_is_there() -> None:
    texts = [(STORED / name).read_text(encoding="utf-8") for name in FILES]
    assert {text.split("exit code ")[1][0] for text in texts} == set("0123")


@pytest.mark.parametrize(
    ("name", "table"),
    [("salaries.csv", "li2008_table1b"), ("inpatients.csv", "machanavajjhala2006_figure2")],
)
def test_the_tables_are_those_of_the_papers(name: str, table: str) -> None:
    printed = getattr(wb.datasets, table)()
    first, *rows = (TABLES / name).read_text(encoding="utf-8").splitlines()
    expected = [[str(cell) for cell in row] for row in printed.select(first.split(",")).rows()]
    assert [next(csv.reader([row])) for row in rows] == expected
