"""Every registered principle against its slow twin, with parameters at the boundary."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor, isfinite

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.effort import examples
from tests.samples import bound, expected, principles, samples
from wideberth.errors import ParameterError
from wideberth.principles import Principle, iterate

OURS = [cls for cls in iterate() if cls.__module__.startswith("wideberth.")]
each = pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.name)


def test_every_principle_has_a_twin() -> None:
    assert sorted(naive.SATISFIES) == [cls.name for cls in OURS]


@each
@examples(100, 33)
@given(data=st.data())
def test_satisfies(cls: type[Principle], data: st.DataObject) -> None:
    table = data.draw(samples(cls))
    principle = data.draw(principles(cls, table))
    people = [data.draw(st.integers(0, 9)) for _ in table.parts]
    verdicts = bound(principle, table).satisfies(table.groups(table.parts, people))
    assert verdicts.dtype == bool
    for part, count, verdict in zip(table.parts, people, verdicts, strict=True):
        context = replace(table.context, population=count)
        assert verdict == expected(principle, table.of(part), context), table.of(part)


@pytest.mark.parametrize(
    # A part of a group has no population of its own.
    "cls",
    [cls for cls in OURS if cls.needs != "population"],
    ids=lambda cls: cls.name,
)
@examples(60, 20)
@given(data=st.data())
def test_feasible_tries_all_partitions(cls: type[Principle], data: st.DataObject) -> None:
    table = data.draw(samples(cls, rows=6, groups=1))
    principle = data.draw(principles(cls, table))
    rule = bound(principle, table)
    possible = naive.feasible(table.values, lambda g: expected(principle, g, table.context))
    assert rule.feasible(table.groups(table.parts))[0] == possible
    if possible:
        labels = rule.finish(table.column.codes.astype(np.int64), np.random.default_rng(1))
        made = [[r for r, at in enumerate(labels) if at == label] for label in set(labels)]
        assert all(expected(principle, table.of(part), table.context) for part in made)


@each
@examples(100, 33)
@given(data=st.data())
def test_achieved_is_the_strongest_that_satisfies(
    cls: type[Principle], data: st.DataObject
) -> None:
    """A group satisfies with a parameter at its achieved value, and not just beyond."""
    table = data.draw(samples(cls))
    principle = data.draw(principles(cls, table))
    groups = table.groups(table.parts, [data.draw(st.integers(1, 9)) for _ in table.parts])
    figures = bound(principle, table).achieved(groups)
    assert figures
    for key, achieved in figures.items():
        assert achieved.dtype == np.float64
        for group in range(len(table.parts)):

            def verdict(value: object, key: str = key, group: int = group) -> bool | None:
                try:
                    changed = replace(principle, **{key: value})
                except ParameterError:  # outside the parameter's range
                    return None
                return bool(bound(changed, table).satisfies(groups)[group])

            check_bound(principle, key, float(achieved[group]), verdict)


def check_bound(principle: Principle, key: str, reached: float, verdict) -> None:
    specification = principle.parameters()[key]
    higher = specification.stronger == "higher"
    assert specification.stronger is not None
    if higher:
        weakest = verdict(specification.low)
    else:
        weakest = verdict(specification.high if specification.high is not None else 10**9)
    assert not np.isnan(reached)
    if not isfinite(reached):
        if higher:  # no row needs protection, so nothing is too strong
            assert weakest is not False
            assert verdict(10**6) is True
        else:
            assert weakest is False  # nothing is weak enough
        return
    exact = Fraction(reached)
    if not weakest:
        # It fails by the other parameters, or achieves less than the weakest permitted value.
        at, beyond = None, verdict(floor(exact) + 1) if higher else None
    elif _whole(principle, key):
        at, beyond = verdict(floor(exact)), verdict(floor(exact) + 1)
    else:
        tiny = Fraction(1, 10**9) * (1 if higher else -1)
        weaker = exact * (1 - tiny)
        if specification.high is not None:
            weaker = min(weaker, Fraction(specification.high))
        at = verdict(max(weaker, Fraction(specification.low or 0)))
        beyond = verdict(exact * (1 + tiny) + tiny)
    assert at in (True, None)
    assert beyond in (False, None)
    assert weakest is not True or at is True or (exact == 0 and specification.low_open)


def _whole(principle: Principle, key: str) -> bool:
    form = getattr(principle, "form", "")
    variant = getattr(principle, "variant", "")
    if key == "l" and (form in ("distinct", "recursive") or variant == "literal"):
        return True
    return principle.parameters()[key].kind == "whole"
