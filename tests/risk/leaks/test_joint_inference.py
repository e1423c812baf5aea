"""What releases tell together, against all worlds that fit them."""

from __future__ import annotations

from itertools import permutations, product

import networkx
import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth.core.groups import Groups
from wideberth.labels import BoxCover, PublishedBoxes
from wideberth.risk.leaks import (
    intersect,
)
from wideberth.risk.leaks.joint_inference import deduce


def worlds(
    truth: list[str], releases: list[list[tuple[set[int], list[str]]]]
) -> list[tuple[str, ...]]:
    """Enumerate who could have which value. A release lists boxes: whom each covers, its values."""
    values = sorted(set(truth))
    found = []
    for world in product(values, repeat=len(truth)):
        if all(fits(world, release) for release in releases):
            found.append(world)
    return found


def fits(world: tuple[str, ...], release: list[tuple[set[int], list[str]]]) -> bool:
    """Tell whether each row of a release can be the row of a person of its own."""
    rows = [(covers, value) for covers, values in release for value in values]
    graph = networkx.Graph()
    graph.add_nodes_from(("row", at) for at in range(len(rows)))
    for at, (covers, value) in enumerate(rows):
        graph.add_edges_from((("row", at), ("person", i)) for i in covers if world[i] == value)
    top = [("row", at) for at in range(len(rows))]
    matching = networkx.bipartite.hopcroft_karp_matching(graph, top)
    return sum(node[0] == "row" for node in matching) == len(rows)


def laid_out(
    truth: list[str], releases: list[list[tuple[set[int], list[str]]]]
) -> tuple[list[BoxCover], list[Groups], np.ndarray]:
    """Return releases as `deduce` takes them."""
    values = sorted(set(truth))
    coverings, groups = [], []
    for release in releases:
        lists = [
            tuple(b for b, (covers, _) in enumerate(release) if i in covers)
            for i in range(len(truth))
        ]
        kinds = sorted({boxes for boxes in lists if boxes})
        situation = np.array([kinds.index(boxes) if boxes else -1 for boxes in lists])
        coverings.append(
            BoxCover(
                victims=np.arange(len(truth)),
                of=len(truth),
                situation=situation,
                start=np.cumsum([0, *map(len, kinds)]),
                boxes=np.array([box for boxes in kinds for box in boxes]),
                exact=True,
            )
        )
        groups.append(
            Groups.of([[values.index(v) for v in held] for _, held in release], len(values))
        )
    return coverings, groups, np.array([values.index(value) for value in truth])


def kept(truth: list[str], releases: list[list[tuple[set[int], list[str]]]]) -> list[set[str]]:
    """Return the values that are left for each person."""
    values = sorted(set(truth))
    possible = deduce(*laid_out(truth, releases))
    assert possible is not None
    parts = np.split(possible.codes, possible.start[1:-1])
    return [{values[code] for code in parts[kind]} for kind in possible.member]


def grouped(truth: list[str], member: list[int]) -> list[tuple[set[int], list[str]]]:
    """Publish groups, which everybody knows."""
    return [
        (
            {i for i, g in enumerate(member) if g == group},
            [v for v, g in zip(truth, member, strict=True) if g == group],
        )
        for group in sorted(set(member))
    ]


class TestDeduction:
    def test_rows_and_columns(self) -> None:
        """Person by person nobody is certain; all worlds, and the filter, leave 4 of 12 one."""
        truth = list("xyyzxzwyyzxz")
        releases = [
            grouped(truth, [i // 4 for i in range(12)]),
            grouped(truth, [i % 4 for i in range(12)]),
        ]
        alone = [set(truth[i - i % 4 : i - i % 4 + 4]) & set(truth[i % 4 :: 4]) for i in range(12)]
        assert min(map(len, alone)) == 2
        # All of 4**12 assignments are too many: each row in all orders, columns compared.
        orders = [sorted(set(permutations(truth[r : r + 4]))) for r in (0, 4, 8)]
        columns = [sorted(truth[c::4]) for c in range(4)]
        possible = [
            [*one, *two, *three]
            for one, two, three in product(*orders)
            if [sorted(column) for column in zip(one, two, three, strict=True)] == columns
        ]
        assert len(possible) == 4
        exact = [{world[i] for world in possible} for i in range(12)]
        assert sum(len(values) == 1 for values in exact) == 4
        assert kept(truth, releases) == exact

    @pytest.mark.parametrize("seed", range(60))
    def test_no_world_is_ruled_out(self, seed: int) -> None:
        """Against all worlds: groups, boxes that overlap, and people whom a release left out."""
        rng = np.random.default_rng(seed)
        n = 6
        truth = [str(value) for value in rng.choice(list("abc"), n)]
        releases = []
        for _ in range(int(rng.integers(2, 4))):
            order = rng.permutation(n)
            cuts = np.sort(rng.choice(np.arange(1, n), 2, replace=False))
            release = []
            for members in np.split(order, cuts):
                there = [int(i) for i in members if seed % 3 != 1 or rng.random() > 0.2]
                more = rng.choice(n, int(rng.integers(0, 3))).tolist() if seed % 3 == 2 else []
                if there:
                    covers = {*map(int, members), *more}
                    release.append((covers, [truth[i] for i in there]))
            if release:
                releases.append(release)
        exact = [set(values) for values in zip(*worlds(truth, releases), strict=True)]
        found = kept(truth, releases)
        for i in range(n):
            faced = {
                v for release in releases for cov, values in release if i in cov for v in values
            }
            assert exact[i] & faced <= found[i] <= faced
        if seed % 3 == 0:  # nobody was left out, and nobody is covered by a box of others
            for i in range(n):
                each = [{*values} for release in releases for cov, values in release if i in cov]
                assert found[i] <= set.intersection(*each)

    @pytest.mark.parametrize("links", [None, 0], ids=["matching", "person by person"])
    @pytest.mark.parametrize("leave_out", [0.0, 0.25])
    def test_at_least_is_never_too_many(
        self, links: int | None, leave_out: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whoever is reported as certain has one value in all worlds, also if rows are missing."""
        if links is not None:
            monkeypatch.setattr("wideberth.risk.leaks.releases.LINKS", links)
        claimed = 0
        for seed in range(25):
            rng = np.random.default_rng(seed)
            n = 6
            truth = [str(value) for value in rng.choice(list("abc"), n)]
            keys = {"age": np.arange(n), "zip": rng.permutation(n)}
            releases, frames = [], []
            for name, key in keys.items():
                cuts = np.sort(rng.choice(np.arange(1, n), 2, replace=False))
                release, rows = [], []
                for members in np.split(np.argsort(key), cuts):
                    there = [int(i) for i in members if rng.random() >= leave_out]
                    if there:
                        release.append(({*map(int, members)}, [truth[i] for i in there]))
                    label = f"{key[members].min()}..{key[members].max()}"
                    every = dict.fromkeys(keys, f"0..{n - 1}")
                    rows += [{**every, name: label, "ill": truth[i]} for i in there]
                releases.append(release)
                frames.append(pl.DataFrame(rows, schema=["age", "zip", "ill"]))
            if not all(frame.height for frame in frames):
                continue
            original = pl.DataFrame({**keys, "ill": truth})
            read = [PublishedBoxes.read(frame, [*keys], original=original) for frame in frames]
            [found] = intersect(frames, read, on="ill", original=original)
            exact = [set(values) for values in zip(*worlds(truth, releases), strict=True)]
            certain = found.figures.get("certain", {"after": 0})["after"]
            assert certain <= sum(len(values) == 1 for values in exact), seed
            claimed += certain
        assert claimed

    def test_releases_of_other_values(self) -> None:
        """Nothing is left of values that were recoded: that is no reason to fail."""
        original = pl.DataFrame({"age": [20, 21, 30, 31], "ill": list("abab")})
        first = original.with_columns(age=pl.Series(["20..29"] * 2 + ["30..39"] * 2))
        second = first.with_columns(ill=pl.Series(list("xyxy")))
        read = [PublishedBoxes.read(t, ["age"], original=original) for t in (first, second)]
        [found] = intersect([first, second], read, on="ill", original=original)
        assert found.figures["certain"] == {"before": 0, "after": 0}

    @pytest.mark.parametrize(("draw", "expected"), [(0, (12, 55)), (2, (6, 37))])
    def test_more_is_proven_than_person_by_person(
        self, draw: int, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two releases of 200 people, each distinct 3-diverse: few by themselves, many together."""
        rng = np.random.default_rng(draw)
        original = pl.DataFrame(
            {
                "age": rng.integers(20, 80, 200),
                "zip": rng.integers(0, 100, 200),
                "ill": rng.choice([f"d{i}" for i in range(6)], 200),
            }
        )
        known = {"quasi": ["age", "zip"], "sensitive": "ill", "principles": "distinct-l:l=3"}
        tables = [
            wb.anonymize(original, **known, cuts=cuts, seed=seed).table
            for seed, cuts in enumerate(("best", "paper"))
        ]
        read = [PublishedBoxes.read(table, ["age", "zip"], original=original) for table in tables]
        [together] = intersect(tables, read, on="ill", original=original)
        monkeypatch.setattr("wideberth.risk.leaks.releases.LINKS", 0)
        [alone] = intersect(tables, read, on="ill", original=original)
        few, many = (found.figures["certain"]["after"] for found in (alone, together))
        assert (few, many) == expected
        assert f"at least {many} of 200 people" in together.title
        assert together.figures["inference"] == "matching"
        assert together.figures["mean"]["after"] > alone.figures["mean"]["after"]

    def test_values_that_fit_nobody_are_not_believed(self) -> None:
        """A release whose values were changed says nothing, instead of something wrong."""
        truth = list("aabb")
        changed = [({0, 1}, ["a", "b"]), ({2, 3}, ["b", "b"])]
        found = kept(truth, [grouped(truth, [0, 0, 1, 1]), changed])
        assert found == [{"a"}, {"a"}, {"b"}, {"b"}]

    def test_boxes_with_too_many_links_rule_nothing_out(self) -> None:
        truth = list("xyyzxzwyyzxz")
        releases = [
            grouped(truth, [i // 4 for i in range(12)]),
            grouped(truth, [i % 4 for i in range(12)]),
        ]
        parts = laid_out(truth, releases)
        every = deduce(*parts)
        some = deduce(*parts, most=36)  # of 3 x 4 x 3 links by rows, and 2 or 3 values by columns
        none = deduce(*parts, most=len(truth))
        assert every is not None
        assert some is not None
        assert none is None
        assert set(every.codes.tolist()) == {0, 1, 2, 3}
        assert len(every.codes) <= len(some.codes)
