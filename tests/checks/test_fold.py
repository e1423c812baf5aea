"""The law of folding: verdicts on blocks of groups, added up, are the verdict on all groups."""

from __future__ import annotations

import pickle
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests.effort import examples
from tests.laws.test_laws import SizeCap
from tests.samples import bound, principles, samples
from wideberth.checks.check import PrincipleVerdict
from wideberth.checks.fold import CodedDemand, GroupBlock, PartialVerdict
from wideberth.core.groups import Groups
from wideberth.principles import Principle, iterate
from wideberth.principles.counts import COUNT, ENTRY, whole_groups

FOLDED = [cls for cls in iterate() if cls.needs != "population"]
each = pytest.mark.parametrize("cls", [*FOLDED, SizeCap], ids=lambda cls: cls.name)


def drawn(cls: type[Principle], data: st.DataObject) -> tuple[CodedDemand, pl.DataFrame, Any]:
    """Draw a table as its groups, and what is asked of it."""
    table = data.draw(samples(cls, rows=24, groups=8))
    principle = data.draw(principles(cls, table))
    domain = table.column.domain
    question = CodedDemand(
        principle=principle,
        on="s",
        rule=bound(principle, table),
        codes=np.arange(domain.size, dtype=np.int32),
        width=domain.size,
    )
    ids = [(i // 2, None if i % 3 == 2 else "xyz"[i % 2]) for i in range(len(table.parts))]
    ids.sort(key=lambda key: (key[0], key[1] is None, key[1] or ""))
    keys = pl.DataFrame(ids, schema={"k0": pl.Int64, "k1": pl.String}, orient="row")
    return question, keys, table.groups(table.parts)


@each
@examples(100, 33)
@given(data=st.data())
def test_folding_blocks_is_judging_the_whole(cls: type[Principle], data: st.DataObject) -> None:
    question, keys, groups = drawn(cls, data)
    worst = data.draw(st.integers(0, 9))
    cuts = data.draw(st.sets(st.integers(1, len(groups)), max_size=6))
    edges = [0, *sorted(cuts - {len(groups)}), len(groups)]
    tallies = [
        PartialVerdict.of(question, groups[a:b], keys[a:b], worst) for a, b in pairwise(edges)
    ]
    tallies = data.draw(st.permutations(tallies))
    folded = reduce(add, [pickle.loads(pickle.dumps(tally)) for tally in tallies])  # noqa: S301
    whole = PrincipleVerdict.of(
        question.principle, "s", question.rule, groups, lambda g: keys.row(g, named=True)
    ).report(worst)
    assert folded.report() == whole
    assert (folded.groups, folded.rows) == (len(groups), int(groups.sizes.sum()))


@each
@examples(20, 6)
@given(data=st.data())
def test_a_question_survives_a_journey(cls: type[Principle], data: st.DataObject) -> None:
    question, keys, groups = drawn(cls, data)
    there = pickle.loads(pickle.dumps(question))  # noqa: S301
    assert PartialVerdict.of(there, groups, keys, 3) == PartialVerdict.of(question, groups, keys, 3)


@examples(200, 50)
@given(data=st.data())
def test_a_stream_is_cut_between_groups(data: st.DataObject) -> None:
    """However entries arrive, blocks hold whole groups, with the histograms of their rows."""
    cells = data.draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1))
    cells.sort(key=lambda cell: cell[0])  # the entries of a group come in any order
    frame = pl.DataFrame(
        {
            "k0": [None if key == 4 else key for key, _ in cells],
            ENTRY: [entry for _, entry in cells],
            COUNT: [1] * len(cells),
        },
        schema_overrides={"k0": pl.Int64},
    )
    cuts = sorted(data.draw(st.sets(st.integers(1, len(cells)))) | {len(cells)})
    frames = [frame[a:b] for a, b in pairwise([0, *cuts])]
    blocks = list(whole_groups(frames, ["k0"], data.draw(st.integers(1, 9))))
    assert pl.concat(blocks).equals(frame)
    seen = [key for block in blocks for key in block["k0"].unique(maintain_order=True)]
    assert len(seen) == len(set(seen))
    codes = np.array([1, 0, 1, 2], dtype=np.int32)  # two values that a principle takes for one
    question = CodedDemand(
        principle=wb.KAnonymity(k=1), on=None, rule=SizeCap(most=1).bind(None), codes=codes, width=3
    )
    for block in (GroupBlock.of(frame, ["k0"]) for frame in blocks):
        groups = block.groups(question)
        for g, key in enumerate(block.keys["k0"]):
            rows = [codes[e] for k, e in cells if (None if k == 4 else k) == key]
            assert groups.rows(g).tolist() == sorted(rows)


def test_of_equals_the_smallest_keys_are_kept() -> None:
    """Missing is the largest key, as in memory, whichever tally comes first."""
    table = pl.DataFrame({"q": ["b", None, "a", "c"], "s": [1, 1, 1, 1]})
    whole = wb.check(table, quasi="q", principles="k-anonymity:k=2", worst=3).principles[0]
    rule = wb.KAnonymity(k=2)
    question = CodedDemand(principle=rule, on=None, rule=rule.bind(None))

    one = Groups.of([[0]], width=1)
    tallies = [PartialVerdict.of(question, one, pl.DataFrame({"q": [q]}), 3) for q in table["q"]]
    assert reduce(add, tallies).report() == whole
    assert [group.values["q"] for group in whole.worst] == ["a", "b", "c"]
