"""Why a table cannot satisfy a principle, and what it could satisfy instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from wideberth.core.codes import Column
from wideberth.core.exact import Ints, fraction
from wideberth.errors import InfeasibleError, ParameterError
from wideberth.principles import (
    Dissimilarity,
    EpsilonMAnonymity,
    LEDiversity,
    Principle,
    make,
    plain_value,
)
from wideberth.principles.dissimilarity import DissimilarityRule, LEDiversityRule
from wideberth.principles.feasibility.limits import (
    Limit,
    WholeTable,
    WindowShareLimit,
    window_share_limit,
)
from wideberth.principles.feasibility.nearness import rounded

_SHORT = 3  # digits of a concrete value beside a bound that is out of reach itself
_STEPS = 6  # from a parameter to weaker ones
_COMMON = 5  # rows that share a value, before it is said that they do


@dataclass(frozen=True)
class Alternative:
    """Another setting that may be possible."""

    words: str  # what to say: "epsilon below 1200 with m=5"
    principle: Principle | None = None  # None if the principles stay
    setting: str = ""  # for these very parameters: "epsilon=1190 with m=5"
    key: str = ""  # what is changed
    replaces: Principle | None = None
    suppression_limit: float | None = None
    condition: str | None = None  # what only the reader can know
    method: str | None = None  # of anatomy


def infeasible_error(
    principle: Principle, column: Column | None, rows: int, counts: Ints | None = None
) -> InfeasibleError:
    """Return the error that says why no partition of a table satisfies a principle."""
    # It names a witness without a value: how many numbers lie how close together, or how many rows
    # share one value. The hint names the nearest parameters that are possible.
    table = WholeTable(column, rows, counts)
    found = alternatives(principle, table)
    hint = ", or ".join(a.words for a in found)
    proposals = [replace(a, replaces=principle) for a in [*found, *_harmless(principle, table)]]
    general = "a smaller epsilon" if isinstance(principle, Dissimilarity) else "a weaker principle"
    why = _witness(principle, table)
    proven = principle.needs == "population" or table.verdict(principle) == "no"
    return InfeasibleError(
        why,
        hint=hint or general,
        outcome="impossible" if proven else "not found",
        witness=why if proven else None,
        proposals=proposals or weaker(principle),
    )


def weaker(principle: Principle, key: str | None = None) -> list[Alternative]:
    """Return weaker parameters of a principle, step by step, whether they are possible or not.

    >>> from wideberth.principles import parse
    >>> [one.setting for one in weaker(parse("k-anonymity:k=50"))]
    ['k=25', 'k=13', 'k=7', 'k=4', 'k=2']
    >>> [one.setting for one in weaker(parse("t-closeness:t=0.2"))][:3]
    ['t=0.4', 't=0.7', 't=0.85']
    """
    # Each step about halves what the principle asks for; the last one still asks for something.
    # Without a key, each parameter is changed in turn.
    if principle.needs == "population":
        return []
    settings = principle.given()
    if principle.on is not None:
        settings["on"] = principle.on
    found = []
    for name, specification in principle.parameters().items():
        value = settings.get(name)
        if name != (key or name) or not specification.stronger or value is None:
            continue
        value = fraction(value)
        for _ in range(_STEPS):
            if specification.stronger == "higher":
                value = value / 2 if not specification.low else (value + specification.low) / 2
                if specification.kind == "whole":
                    value = Fraction(int(value))
            elif specification.high is None:
                value *= 2
            else:
                value = min(value * 2 or Fraction(1), (value + specification.high) / 2)
            value = rounded(value, up=specification.stronger == "lower", digits=_SHORT)
            edge = specification.low if specification.stronger == "higher" else specification.high
            if value == edge or not specification.accepts(value):
                break
            try:
                changed = make(principle.name, {**settings, name: value})
            except ParameterError:  # parameters that go together only
                break
            others = {k: v for k, v in settings.items() if k != name}
            words = _worded(principle, {name: value}, others)
            found.append(Alternative(words, changed, words, name, principle))
    return found


def _harmless(principle: Principle, table: WholeTable) -> list[Alternative]:
    """Propose that the most common value need no protection, if that would be enough."""
    # Only the reader can know whether it needs none. The value itself is not named.
    values = table.domain.values
    if values is None or "allowed" not in principle.parameters():
        return []
    counts = table.counts.copy()
    if table.domain.missing is not None:
        counts[table.domain.missing] = 0
    code = int(counts.argmax())
    if counts[code] < _COMMON:
        return []
    settings = {**principle.given(), "on": principle.on}
    if principle.on is None:
        del settings["on"]
    try:
        value = values.alias("")[code]
        changed = make(
            principle.name, {**settings, "allowed": (*settings.get("allowed", ()), value)}
        )
        if changed == principle or not table.feasible(changed):
            return []
    except ParameterError:
        return []
    words = f"allowed = the value that {_rows(int(counts[code]))} share"
    need = "if that value needs no protection"
    return [Alternative(words, changed, words, "allowed", principle, condition=need)]


def alternatives(principle: Principle, table: WholeTable) -> list[Alternative]:
    """Return the nearest parameters that a table can satisfy: one changed, the others kept."""
    if principle.needs == "population":
        return []
    given = principle.given()
    if principle.on is not None:
        given["on"] = principle.on
    if isinstance(principle, EpsilonMAnonymity):
        keys = ["m", "epsilon"]
    elif isinstance(principle, Dissimilarity):  # the other limits take many searches
        keys = ["delta"] if table.rows >= principle.k else ["k"]
    else:
        keys = [k for k, p in principle.parameters().items() if p.stronger and k in given]
    found = [_changed(principle, key, given, table) for key in keys]
    possible = [alternative for alternative in found if alternative is not None]
    if isinstance(principle, Dissimilarity):
        return possible
    return possible or _weakened(principle, keys, given, table)


def _changed(
    principle: Principle, key: str, given: Mapping[str, Any], table: WholeTable
) -> Alternative | None:
    others = {k: v for k, v in given.items() if k != key}
    lopsided = key == "epsilon" and "e1" in others
    if lopsided:  # the longer reach decides
        others = {k: v for k, v in others.items() if k not in ("e1", "e2")}
    limit = table.strongest(principle.name, key, others)
    value = None if limit is None else _concrete(principle, key, limit)
    if limit is None or limit.value is None or value is None:
        return None
    higher = principle.parameters()[key].stronger == "higher"
    settings = {**others, key: value}
    if not _accepted(principle, settings):  # beside some others, only whole numbers are
        value = Fraction(floor(value) if higher else ceil(value))
        settings[key] = value
        if not _accepted(principle, settings):
            return None
    said = {k: v for k, v in others.items() if k not in ("on", "relative", "allowed")}
    if lopsided:
        del settings["epsilon"]
        settings.update(e1=value, e2=value)
    new = {"e1": value, "e2": value} if lopsided else {key: value}
    setting = _worded(principle, new, others)
    elsewhere = " and ".join(f"{k}={_shown(k, v, principle)}" for k, v in said.items())
    if limit.exclusive:
        edge = _shown(key, rounded(limit.value, up=not higher), principle)
        words = f"{'e1 and e2' if lopsided else key} {'below' if higher else 'above'} {edge}"
    else:
        words = f"{key}={_shown(key, value, principle)}"
    changed = make(principle.name, settings)
    if not table.feasible(changed):
        return None
    words = f"{words} with {elsewhere}" if elsewhere else words
    return Alternative(words, changed, setting, key)


def _accepted(principle: Principle, settings: Mapping[str, Any]) -> bool:
    """Return whether parameters go together, whatever the table."""
    try:
        make(principle.name, settings)
    except ParameterError:
        return False
    return True


def _worded(principle: Principle, new: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    """Return the new parameters in words, and the others that a reader needs beside them."""
    said = {k: v for k, v in others.items() if k not in ("on", "relative", "allowed", *new)}
    words, kept = (
        " and ".join(f"{k}={_shown(k, v, principle)}" for k, v in some.items())
        for some in (new, said)
    )
    return f"{words} with {kept}" if kept else words


def _concrete(principle: Principle, key: str, limit: Limit) -> Fraction | None:
    """Return a short value within the limit; None if it would ask nothing of the table."""
    specification = principle.parameters()[key]
    higher = specification.stronger == "higher"
    if limit.value is None:
        return None
    value = rounded(limit.value, up=not higher)
    if limit.exclusive:
        nudge = limit.value * Fraction(1, 10**_SHORT) or Fraction(1, 10**_SHORT)
        value = rounded(
            limit.value - nudge if higher else limit.value + nudge, up=not higher, digits=_SHORT
        )
    least = specification.low
    # e = 0 still keeps equal values apart.
    apart = isinstance(principle, LEDiversity) and key == "e"
    if higher and least is not None and value <= least and not apart:
        return None
    if not higher and specification.high is not None and value >= specification.high:
        return None
    return value if specification.accepts(value) else None


def _weakened(
    principle: Principle, keys: list[str], given: Mapping[str, Any], table: WholeTable
) -> list[Alternative]:
    """Change several parameters, where no single one suffices."""
    if len(keys) < 2 or isinstance(principle, EpsilonMAnonymity):
        return []
    settings = {**given, **{key: table.weakest(principle.name, key) for key in keys}}
    for key in keys:
        others = {k: v for k, v in settings.items() if k != key}
        limit = table.strongest(principle.name, key, others)
        value = None if limit is None else _concrete(principle, key, limit)
        if value is not None:
            settings[key] = value
    try:
        changed = make(principle.name, settings)
    except ParameterError:  # parameters that go together only
        return []
    nothing = isinstance(changed, LEDiversity) and changed.l == 1  # any row is a group then
    if nothing or not table.feasible(changed):
        return []
    words = ", ".join(f"{key}={_shown(key, settings[key], principle)}" for key in keys)
    return [Alternative(words, changed, words, keys[0])]


def _shown(key: str, value: object, principle: Principle) -> str:
    share = key == "epsilon" and isinstance(principle, EpsilonMAnonymity) and principle.relative
    if share and isinstance(value, int | float | Fraction):
        return f"{plain_value(fraction(value) * 100)}%"
    return str(plain_value(value))


def _witness(principle: Principle, table: WholeTable) -> str:
    if principle.needs == "population":
        return f"{principle}: the table as a whole holds another share of the population"
    rule = table.bind(principle)
    crowd = window_share_limit(rule, table.domain.size)
    name = table.domain.name
    if isinstance(rule, DissimilarityRule):
        return _undecided(principle, rule, table)
    if isinstance(rule, LEDiversityRule) and rule.line is None and table.looked_at(rule):
        fullest = rule.fullest(table.groups.rows(0))
        if fullest * rule.least > table.rows:
            many = f"{fullest:,} of {_rows(table.rows)}"
            return f"column '{name}': {many} are similar to each other, more than 1/{rule.least}"
    if crowd is not None:
        buckets = len(np.unique(crowd.place[table.groups.codes]))
        if principle.needs == "tree" and buckets * crowd.share < 1 and rule.allowance is None:
            held = f"{buckets:,} bucket" + ("" if buckets == 1 else "s")
            return f"column '{name}' has {held} of similar values, too few for {principle}"
        fullest, begin = crowd.fullest(table.groups.codes, table.groups.counts)
        if fullest > crowd.share * table.rows:
            many = f"{fullest:,} of {_rows(table.rows)}"
            place = _place(principle, crowd, begin, table)
            return f"column '{name}': {many} {place}, more than {_part(crowd.share)}"
    if table.column is None:
        needed = getattr(principle, "k", None)
        needs = "" if needed is None else f" needs {_rows(needed)}"
        return f"{principle}{needs}, the table has {table.rows:,}"
    reason = rule.reason(table.groups, 0)
    return f"{principle} on column '{table.domain.name}': in the whole table, {reason}"


def _undecided(principle: Principle, rule: DissimilarityRule, table: WholeTable) -> str:
    """Return why rows cannot be dealt, or that it is not known whether they can."""
    if table.rows < rule.smallest:
        return f"{principle} needs {_rows(rule.smallest)}, the table has {table.rows:,}"
    answer = rule.answer(table.groups.rows(0)) if table.looked_at(rule) else None
    if answer is not None and answer.witness is not None:
        return f"column '{table.domain.name}': {answer.witness}"
    return (
        f"{principle} on column '{table.domain.name}': no partition was found, "
        "though none was ruled out"
    )


def _place(principle: Principle, crowd: WindowShareLimit, begin: int, table: WholeTable) -> str:
    """Describe how near a crowd's values are, without naming one: it may be a single person's."""
    domain = table.domain
    if domain.missing is not None and crowd.place[domain.missing] == begin:
        return "have no value"
    if principle.needs == "numbers" and domain.values is not None:
        held = table.groups.codes
        at = crowd.place[held]
        inside = held[(at >= begin) & (at <= crowd.reach[begin])]
        low, high = (domain.values[int(code)] for code in (inside[0], inside[-1]))
        if low == high:
            return "share one value"
        if domain.numbers is None:
            return "lie close together"
        first, last = (int(domain.numbers.units[int(code)]) for code in (inside[0], inside[-1]))
        return f"lie within {plain_value(Fraction(last - first, domain.numbers.per))} of each other"
    return "have similar values" if principle.needs == "tree" else "share one value"


def _part(share: Fraction) -> str:
    return f"1/{plain_value(1 / share)}" if share.numerator == 1 else str(plain_value(share))


def _rows(count: int) -> str:
    return f"{count:,} row" + ("" if count == 1 else "s")
