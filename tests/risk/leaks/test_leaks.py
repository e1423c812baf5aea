"""What a release gives away besides its groups: tables with a leak, and tables without."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests.risk.leaks.conftest import NEAR, QUASI, as_csv
from wideberth.algorithms.mondrian.split import split
from wideberth.labels import PublishedBoxes
from wideberth.policy.request import Request
from wideberth.release.prepare import demands_of, quasis_of
from wideberth.risk.leaks import (
    exact_ends,
    identifiers,
    row_order,
    suppression_findings,
)

MADE = {
    "near": {"principles": NEAR},
    "diverse": {"principles": ["k-anonymity:k=4", "distinct-l:l=3"], "cuts": "disjoint"},
    "bounds": {"principles": "k-anonymity:k=5", "recoding": "bounds"},
    "sets": {"principles": "k-anonymity:k=5", "recoding": "set"},
    "lattice": {
        "principles": "k-anonymity:k=5",
        "algorithm": "lattice",
        "hierarchies": {name: {"interval": [10, 100, 500]} for name in QUASI},
    },
    "aligned": {"principles": NEAR, "align": {"age": 10, "birthplace": 20, "occupation": 100}},
    "anatomy": {"principles": "frequency-l:l=3", "algorithm": "anatomy"},
}


@pytest.mark.parametrize("how", MADE)
@pytest.mark.parametrize("text", [False, True])
def test_our_own_releases_raise_nothing_grave(people: pl.DataFrame, how: str, text: bool) -> None:
    bare = people.drop("region").with_columns(
        age=pl.when(pl.col("age") > 75).then(None).otherwise("age"),  # some are missing
    )
    made = wb.anonymize(bare, quasi=QUASI, sensitive="income", seed=3, **MADE[how])
    table = as_csv(made.table) if text else made.table
    group = "group" if "group" in table.columns else None
    sensitive = [name for name in ("income",) if name in table.columns]
    read = PublishedBoxes.read(table, QUASI, original=bare)
    quasi = [name for axis in read.axes for name in axis.columns]
    covering = read.covering()
    roles = {"quasi": quasi, "sensitive": sensitive, "group": group}
    found = [
        *row_order(table, **roles),
        *row_order(table, bare, published=read, covering=covering, **roles),
        *identifiers(table, boxes=read.boxes, **roles),
        *identifiers(table, **roles),
        *suppression_findings(table, bare, sensitive=sensitive, published=read, covering=covering),
    ]
    assert [str(finding) for finding in found if finding.severity in ("high", "medium")] == []
    assert how == "anatomy" or not found
    assert {finding.name for finding in exact_ends(read)} <= {"exact-ends"}
    if how in ("lattice", "aligned", "anatomy"):
        assert not exact_ends(read)


def test_no_finding_tells_a_value(people: pl.DataFrame) -> None:
    """Texts and figures are for a report: they hold counts and column names only."""
    secret = people.with_columns(
        income=pl.lit("top-secret"), region=pl.Series([f"z{i}q@example.org" for i in range(300)])
    )
    found = [
        *identifiers(secret, quasi=QUASI, sensitive=["income"]),
        *identifiers(secret, identifier=["region"]),
        *row_order(secret, secret, quasi=[], sensitive=["income"]),
        *suppression_findings(secret.head(200), secret, sensitive=["income"]),
    ]
    assert len(found) > 3
    for finding in found:
        text = str(finding.to_dict())
        assert "top-secret" not in text
        assert "@example" not in text
        assert finding.advice.endswith((".", "!"))


# ---- the worst case of splitting


@pytest.mark.parametrize(("cuts", "above"), [("paper", 144), ("best", 352)])
def test_for_single_people_cuts_can_tell_everything(cuts: str, above: int) -> None:
    """Six people of different ages, all 720 ways to give them six salaries; epsilon = 1, m = 2.

    Somebody who knows the algorithm and everybody's group holds those ways for possible that lead
    to what is published. How likely is it that a salary is within 1 of the true one? Above 1/m for
    144 (3.3 %) or 352 (8.1 %) of 4,320 rows, and certain for some.
    """
    pay = np.array([1, 2, 3, 10, 11, 20])
    request = Request.of(
        pl.DataFrame({"age": np.arange(6), "pay": pay}),
        roles={"quasi": ["age"], "sensitive": ["pay"], "identifier": [], "insensitive": []},
        principles="epsilon-m:epsilon=1,m=2",
        hierarchies=None,
        types=None,
        policy=None,
        transform={"cuts": cuts},
        group=None,
    )
    [age], demands = quasis_of(request, request.frame), demands_of(request, request.frame)
    views: dict[frozenset[object], list[tuple[int, ...]]] = {}
    for ages in permutations(range(6)):  # row i has salary i; whose it is differs
        people = replace(age, codes=np.array(ages, dtype=age.codes.dtype))
        made = split([people], demands, rng=np.random.default_rng(1), cuts=cuts, threads=1)
        labels = made.partition.labels
        groups = [np.flatnonzero(labels == group) for group in range(made.partition.count)]
        seen = frozenset((tuple(sorted(ages[i] for i in g)), tuple(pay[g])) for g in groups)
        views.setdefault(seen, []).append(tuple(pay[np.argsort(ages)]))
    chances = []
    for worlds in views.values():
        held = np.array(worlds)
        near = np.abs(held[:, None, :] - held[None, :, :]) <= 1
        chances.append(near.mean(axis=0).ravel())
    found = np.concatenate(chances)
    assert len(found) == 720 * 6
    assert int((found > 1 / 2).sum()) == above
    assert found.max() == 1
