"""What a policy should begin with: protection for sensitive columns, and how others are coarsened.

`wideberth init` and the app both propose this. All of it is computed from the table, by the exact
limits of `wideberth.checks.advise`, and nothing is proposed that the table cannot satisfy: every
principle in force is monotone and holds for the whole table as one group, so all hold together.
A proposal names columns, counts and rounded widths, and never a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from math import floor, log10
from typing import Any

import numpy as np
import polars as pl

from wideberth.checks.advise import Advice, advise
from wideberth.core.codes import Domain
from wideberth.core.names import attribute_label
from wideberth.core.strings import is_text
from wideberth.core.types import convert, unnamed
from wideberth.errors import WideberthError
from wideberth.policy.guesses import Guess, leads_to_people
from wideberth.policy.proposal import Proposal, Suggestion
from wideberth.principles.feasibility.limits import Limit

#: The largest k and l that are proposed.
_K, _L = 5, 3
#: δ, as a share of the spread of the middle 80% of the rows.
_DELTA = Fraction(1, 20)
#: How far a group may differ from the table, where one value has more than half of the rows.
_T = 0.2
#: Stands for a value that only the custodian can name.
_NAME_IT = "…"
_NUMBERS = ("integer", "float", "decimal")
#: The finest intervals divide the range into about this many; each level joins two of them.
_PARTS, _LEVELS = 24, 4
#: A grid has about so many cells over the middle 80% of the rows; fewer numbers need none.
_CELLS, _FEW = 12, 6
#: Whole numbers spread as ages are, or more, have cells of 5 at least.
_AGES = 25
#: Mask codes letter by letter if there are more than this many and none is longer than this.
_CODES, _LETTERS = 20, 12
#: Names of columns whose digits are codes, not numbers.
_POSTCODE = re.compile(r"zip|post|plz|(?<![a-z])cp(?![a-z])|cod(e|igo)_?postal", re.IGNORECASE)
#: Days that dates must span before they are published by a calendar unit.
_UNITS = (("year", 3650), ("quarter", 1460), ("month", 180), ("week", 28))


def proposed_policy(frame: pl.DataFrame, guesses: Sequence[Guess]) -> Proposal:
    """Propose principles, hierarchies and grids for a table.

    >>> people = pl.DataFrame({"age": range(20, 80), "disease": ["flu", "ulcer", "angina"] * 20})
    >>> from wideberth.policy.guesses import guess_columns
    >>> proposal = proposed_policy(people, guess_columns(people))
    >>> [one.value for one in proposal.principles]
    [{'name': 'k-anonymity', 'k': 5}, {'name': 'frequency-l', 'on': 'disease', 'l': 3}]
    >>> proposal.align["age"].value
    5
    """
    proposal = Proposal(principles=[_crowd(frame.height)])
    attributes: dict[str, list[Guess]] = {}
    for guess in guesses:
        if guess.role == "sensitive":
            attributes.setdefault(guess.part_of or guess.column, []).append(guess)
        if guess.role in ("quasi", "undecided"):
            _coarsen(proposal, unnamed(frame[guess.column]), guess)
    for parts in attributes.values():
        columns = frame[[guess.column for guess in parts]]
        proposal.principles.extend(proposed_protection(columns, parts[0].type))
    return proposal


def _crowd(rows: int) -> Suggestion:
    """Propose k-anonymity."""
    if rows < 2:
        return Suggestion({}, "The table has one row at most: nobody can be hidden in it.")
    why = f"Everybody is hidden among {_K} people or more."
    if rows < _K:
        why = f"The table has {rows} rows, so k cannot be {_K}."
    return Suggestion({"name": "k-anonymity", "k": min(_K, rows)}, why)


def proposed_protection(columns: pl.Series | pl.DataFrame, kind: str) -> list[Suggestion]:
    """Propose principles for a sensitive column, or for columns that are one value together.

    >>> proposed_protection(pl.Series("disease", ["flu", "flu", "ulcer", "angina"]), "category")
    ... # doctest: +ELLIPSIS
    [Suggestion(value={'name': 'frequency-l', 'on': 'disease', 'l': 2}, why=..., active=True)]
    >>> [wage] = proposed_protection(pl.Series("wage", range(1000, 5000, 10)), "integer")
    >>> wage.value
    {'name': 'delta-l', 'on': 'wage', 'delta': 200, 'l': 3}
    """
    # Suggestions that are `active` can be satisfied; the others are for somebody to decide. One
    # with an empty value is a remark.
    frame = columns.to_frame() if isinstance(columns, pl.Series) else columns
    names = frame.columns
    on = names[0] if len(names) == 1 else attribute_label(names)
    try:
        advice = advise(frame, names, types=dict.fromkeys(names, kind))
        if advice.domain.size < 2:
            return [Suggestion({}, f'"{on}" has one value at most: no grouping can hide it.')]
        if len(names) == 1 and kind in (*_NUMBERS, "date"):
            return _for_numbers(advice, on, kind)
        found = _for_categories(advice, on)
        if len(names) > 1 or kind == "vector":
            distance = "variational" if len(names) > 1 else "euclidean"
            found.append(_for_distances(on, distance))
    except WideberthError as error:
        return [Suggestion({}, f'No protection could be computed for "{on}": {error.what}')]
    return found


def _for_categories(advice: Advice, on: str) -> list[Suggestion]:
    """Propose frequency-l, with the largest l up to the usual one."""
    limit = advice.best("frequency-l", "l")
    l = _whole(limit)  # noqa: E741
    if l < 2:
        return _for_spikes(advice, on, {"name": "frequency-l", "on": on})
    why = f'No value of "{on}" is held by more than 1 in {l} of a group{_permitted(limit)}.'
    return [Suggestion({"name": "frequency-l", "on": on, "l": l}, why)]


def _for_numbers(advice: Advice, on: str, kind: str) -> list[Suggestion]:
    """Propose delta-l: δ from the spread of the numbers, and the largest l up to the usual one."""
    delta = _delta(advice.domain, advice.domain.histogram, kind)
    if delta is None:  # hardly more than a few numbers, next to each other
        return _for_categories(advice, on)
    limit = advice.best("delta-l", "l", delta=delta)
    l = _whole(limit)  # noqa: E741
    if l < 2:
        most = advice.best("delta-l", "delta", l=2)
        smaller = None if most is None or most.value is None else _below(most.value, kind)
        if smaller is None:
            if _whole(advice.best("frequency-l", "l")) >= 2:
                return _for_categories(advice, on)
            return _for_spikes(advice, on, {"name": "delta-l", "on": on}, kind)
        delta, l, limit = smaller, 2, None  # noqa: E741
    days = " days" if kind == "date" else ""
    why = (
        f'No interval of "{on}" that is {2 * delta:,}{days} long (twice delta) holds more than '
        f"1 in {l} of a group{_permitted(limit)}. Set delta to what would do harm."
    )
    return [Suggestion({"name": "delta-l", "on": on, "delta": delta, "l": l}, why)]


def _for_spikes(
    advice: Advice, on: str, entry: Mapping[str, Any], kind: str = ""
) -> list[Suggestion]:
    """Propose what is left where one value, or one crowd of close ones, has over half the rows."""
    domain = advice.domain
    code = int(domain.histogram.argmax())
    rows = int(domain.histogram[code])
    share = f"{rows:,} of {advice.rows:,} rows"
    found = []
    if advice.best("t-closeness", "t") is not None:
        why = (
            f'The values of "{on}" in a group are spread nearly as in the whole table: one value '
            f"has {share}, so no l of 2 or more is possible."
        )
        found.append(Suggestion({"name": "t-closeness", "on": on, "t": _T}, why))
    if code == domain.missing:
        return [*found, Suggestion({}, f'"{on}" is missing in {share}.')]
    beside = advice.allowing(domain.texts[code])
    settings = dict(entry)
    if entry["name"] == "delta-l":
        others = domain.histogram.copy()
        others[code] = 0
        settings["delta"] = _delta(domain, others, kind) or (0 if kind != "date" else 1)
    limit = beside.best(
        entry["name"], "l", **{key: settings[key] for key in ("delta",) if key in settings}
    )
    l = _whole(limit)  # noqa: E741
    if l < 2:
        return found
    why = (
        f'The most frequent value of "{on}" has {share}. If it harms nobody to be known to have '
        f"it, write it in place of {_NAME_IT} and remove the marks; t-closeness is then not needed."
    )
    return [*found, Suggestion({**settings, "l": l, "allowed": [_NAME_IT]}, why, active=False)]


def _for_distances(on: str, distance: str) -> Suggestion:
    """Propose a principle for vectors and distributions, which somebody must complete."""
    why = (
        "Different values can still lie close together: of the others in a group, a share delta "
        "or more should be farther than epsilon from anybody. Choose and remove the marks:"
    )
    entry = {"name": "dissimilarity", "on": on, "epsilon": 0.1, "delta": 0.8, "k": _K}
    return Suggestion({**entry, "distance": distance}, why, active=False)


def _whole(limit: Limit | None) -> int:
    """Return the largest l up to the usual one that a limit permits."""
    if limit is None:
        return 1
    return _L if limit.value is None else min(_L, floor(limit.value))


def _permitted(limit: Limit | None) -> str:
    if limit is None or limit.value is None:
        return ""
    return f" (the table permits up to {floor(limit.value * 10) / 10:g})"


def _delta(domain: Domain, counts: Any, kind: str) -> int | float | None:
    """Return a δ that is short to write; None if it is too small for values of this type."""
    numbers = domain.numbers
    if numbers is None:
        return None
    running = np.cumsum(counts[: domain.known])
    if not running.size or not running[-1]:
        return None
    low, high = (
        int(np.searchsorted(running, -(-int(running[-1]) * tenths // 10))) for tenths in (1, 9)
    )
    spread = Fraction(int(numbers.units[high]) - int(numbers.units[low]), numbers.per)
    if not spread:
        spread = Fraction(int(numbers.units[-1]) - int(numbers.units[0]), numbers.per)
    try:
        delta = round_number(spread * _DELTA)
    except (ValueError, OverflowError):  # 0, or beyond floats
        return None
    return None if delta < 1 and kind in ("integer", "date") else delta


def _below(bound: Fraction, kind: str) -> int | float | None:
    """Return the largest number of 1, 2, 5, 10, 20 and so on that is below a bound."""
    try:
        power = floor(log10(bound))
    except (ValueError, OverflowError):
        return None
    fitting = [
        number
        for place in (power - 1, power)
        for digit in (1, 2, 5)
        if (number := Fraction(10) ** place * digit) < bound
    ]
    best = max(fitting)
    if kind in ("integer", "date") and best < 1:
        return None
    return int(best) if best.denominator == 1 else float(best)


def round_number(value: Fraction) -> int | float:
    """Return the nearest of 1, 2, 5, 10, 20, …: at most 1.6 times as much, or as little.

    >>> round_number(Fraction(4250)), round_number(Fraction(3, 10)), round_number(Fraction(1))
    (5000, 0.2, 1)
    """
    power = floor(log10(value))
    near = [Fraction(10) ** place * digit for place in (power, power + 1) for digit in (1, 2, 5)]
    best = min(near, key=lambda one: max(one / value, value / one))
    return int(best) if best.denominator == 1 else float(best)


def _coarsen(proposal: Proposal, series: pl.Series, guess: Guess) -> None:
    """Propose how a quasi-identifier is coarsened: a mask, a grid, or a hierarchy to write."""
    name, kind = guess.column, guess.type
    if guess.distinct < 2 or series.dtype.is_nested():
        return
    decided = guess.role == "quasi"
    coded = kind in ("text", "category")
    if coded and _number_people(name, series):
        return  # a mask would publish beginnings of numbers that belong to single people
    if (length := _digits(series)) and (coded or _POSTCODE.search(name)):
        why = f"codes of {length} digits, masked from the right"
        proposal.hierarchies[name] = Suggestion({"mask": length}, why, active=decided)
        proposal.types[name] = "text"
        return
    try:
        grid = _grid(series, kind)
        rule = rule_for(series.alias(name), kind)
    except WideberthError:  # a number that is none, say: whoever uses the column is told
        return
    if grid is not None:
        proposal.align[name] = Suggestion(grid, "", active=decided)
        if kind in _NUMBERS:
            rule = {"interval": [grid * 2**level for level in range(_LEVELS)]}
    why = ""
    if "flat" in rule and guess.distinct > _CODES:
        rule, why = {"file": f"{name}.csv"}, "a file with a line for each value: value;group;…;*"
    proposal.hierarchies[name] = Suggestion(rule, why, active=False)


def _number_people(name: str, series: pl.Series) -> bool:
    """Return whether codes seem to number people or records, and are no postcodes by name."""
    counted = series.alias("value").drop_nulls().value_counts()
    known = leads_to_people(name, counted["value"], counted["count"].to_numpy())
    return known in ("by name", "by shape") and not _POSTCODE.search(name)


def _digits(series: pl.Series) -> int | None:
    """Return how many digits codes have, if all have as many and there are enough of them."""
    if not is_text(series.dtype) and not series.dtype.is_integer():
        return None
    texts = series.drop_nulls().unique().cast(pl.String)
    if len(texts) <= _CODES:
        return None
    lengths = texts.str.len_chars().unique().to_list()
    same = len(lengths) == 1 and 1 < lengths[0] <= _LETTERS
    return lengths[0] if same and bool(texts.str.contains(r"^[0-9]+$").all()) else None


def _grid(series: pl.Series, kind: str) -> int | float | str | None:
    """Return where intervals should end: a step or a calendar unit; None if that says nothing."""
    values = convert(series.drop_nulls(), kind) if kind in (*_NUMBERS, "date") else None
    if values is None or values.n_unique() < 2:
        return None
    if kind == "date":
        days = values.cast(pl.Date)
        first, last = days.min(), days.max()
        assert isinstance(first, date)  # noqa: S101 - there are two at least
        assert isinstance(last, date)  # noqa: S101
        span = (last - first).days
        return next((unit for unit, least in _UNITS if span >= least), None)
    numbers = values.cast(pl.Float64)
    if values.n_unique() <= _FEW or not bool(numbers.is_finite().all()):
        return None
    low, high = numbers.quantile(0.1, "nearest"), numbers.quantile(0.9, "nearest")
    assert low is not None  # noqa: S101
    assert high is not None  # noqa: S101
    spread = high - low if high > low else float(numbers.max()) - float(numbers.min())  # type: ignore[arg-type]
    step = round_number(Fraction(spread) / _CELLS)
    if kind == "integer":
        return max(5 if spread >= _AGES else 2, step)
    return step


def rule_for(series: pl.Series, kind: str) -> dict[str, Any]:
    """Return the rule of a hierarchy, as people would write it for such values.

    >>> rule_for(pl.Series([17, 90]), "integer")
    {'interval': [2, 4, 8, 16]}
    >>> rule_for(pl.Series(["f", "m"]), "category")
    {'flat': True}
    """
    values = series.alias("").drop_nulls()
    if kind in _NUMBERS:
        numbers = convert(values, kind).cast(pl.Float64)
        low, high = numbers.min(), numbers.max()
        if isinstance(low, float) and isinstance(high, float) and high > low:
            width = round_number(Fraction(high - low) / _PARTS)
            width = max(1, width) if kind == "integer" else width
            return {"interval": [width * 2**level for level in range(_LEVELS)]}
    if kind == "date":
        return {"date": ["month", "quarter", "year"]}
    texts = values.cast(pl.String).unique() if not values.dtype.is_nested() else values.clear()
    lengths = texts.str.len_chars().unique().to_list() if texts.dtype == pl.String else []
    same = len(lengths) == 1 and len(texts) > _CODES and 1 < lengths[0] <= _LETTERS
    if same and not _number_people(series.name, series):
        return {"mask": lengths[0]}
    return {"flat": True}
