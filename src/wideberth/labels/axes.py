"""One quasi-identifier as published: its labels, and which values of people each covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from wideberth.core.codes import Codes, Domain, encode, encode_as, join_columns
from wideberth.core.exact import Bools, Floats, Ints, Numbers, ratios
from wideberth.core.types import infer_type
from wideberth.errors import TableError
from wideberth.hierarchy import Hierarchy, as_rule, parse_spec
from wideberth.hierarchy.quasi import Quasi, one_text_per_value, read_quasi
from wideberth.labels.parse import OR_MISSING, TO, is_all_stars, members, unwrap_text
from wideberth.labels.values import LabelCoverage, LabelReader, atoms_from_labels

HierarchyRule: TypeAlias = Hierarchy | str | Path | Mapping[str, Any]
Write: TypeAlias = Callable[[pl.Series], pl.Series]

#: Rules that make a hierarchy without seeing the values.
_SELF_CONTAINED = ("file", "parents", "icd")


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedQuasi:
    """One quasi-identifier as published."""

    name: str
    columns: tuple[str, ...]  # one, or ``name_min``, ``name_max`` and perhaps ``name_missing``
    # The values people can have, in order: numbers and dates ascending, leaves as in the hierarchy,
    # texts sorted.
    atoms: pl.Series
    # Where each atom lies: how far from the first (in days for dates), or 0, 1, 2, … for
    # categories.
    places: Floats
    numbers: Numbers | None  # the atoms exactly, if they are numbers or dates (in days)
    labels: Codes  # of each published row, or of each box if the table is not in memory
    texts: list[str | None]  # each label as written; None is a missing value
    counts: Ints  # how many published rows have each label
    # Label ``i`` covers the atoms ``first[j]`` to ``last[j]``, both included, for each ``j`` from
    # ``start[i]`` to ``start[i + 1]``, exclusive: nearly always one run.
    start: Ints
    first: Ints
    last: Ints
    missing: Bools  # which labels admit a missing value
    everything: Bools  # which labels cover every atom, and missing values
    read: bool  # whether the labels were understood; if not, each is an atom and stands for itself
    # The atom of each row of the original; ``len(atoms)`` where it is missing. None without an
    # original, or if it is not in memory.
    points: Codes | None
    histogram: Ints | None  # how many rows of the original have each atom, missing values last
    tree: Hierarchy | None

    @property
    def numeric(self) -> bool:
        """Whether the atoms are numbers or dates."""
        return self.numbers is not None

    def widths(self) -> Ints:
        """Return how many atoms each label covers; missing counts as one more."""
        total = np.concatenate(([0], np.cumsum(self.last - self.first + 1)))
        return total[self.start[1:]] - total[self.start[:-1]] + self.missing

    def drawn(self, labels: Codes, rng: np.random.Generator) -> Codes:
        """Draw an atom that each label covers; ``len(atoms)`` is a missing value."""
        known = np.concatenate(([0], np.cumsum(self.last - self.first + 1)))
        base, after = known[self.start[labels]], known[self.start[labels + 1]]
        many = after - base + self.missing[labels]
        at = base + np.minimum((rng.random(len(labels)) * many).astype(np.int64), many - 1)
        run = np.searchsorted(known, np.minimum(at, known[-1] - 1), side="right") - 1
        atoms = (np.append(self.first, 0)[run] + at - known[run]).astype(np.int32)
        return np.where(at < after, atoms, np.int32(len(self.atoms)))

    def spans(self) -> Floats:
        """Return how far apart the outermost places are that each label covers."""
        some = self.start[1:] > self.start[:-1]
        spans = np.zeros(len(self.texts))
        low = self.places[self.first[self.start[:-1][some]]]
        spans[some] = self.places[self.last[self.start[1:][some] - 1]] - low
        return spans


def read_published_quasi(
    name: str,
    published: Sequence[pl.Series],
    *,
    original: pl.Series | None = None,
    hierarchy: HierarchyRule | None = None,
    kind: str | None = None,
) -> PublishedQuasi:
    """Read one quasi-identifier from the columns published for it.

    >>> age = read_published_quasi("age", [pl.Series("age", ["20..22", "25", "*"])])
    >>> age.atoms.to_list(), age.texts, age.widths().tolist()
    ([20, 21, 22, 23, 24, 25], ['*', '20..22', '25'], [7, 3, 1])
    """
    as_written = kind in ("text", "category")
    write = None if as_written else partial(one_text_per_value, hierarchy=hierarchy)
    labels, texts = _merged(*_labels(name, published, write))
    read = True
    if original is not None:
        quasi = read_quasi(original.alias(name), kind=kind, hierarchy=hierarchy)
    elif (tree := _tree(name, hierarchy)) is not None:
        quasi = _of_leaves(name, tree, kind)
    else:
        atoms, kind, read = atoms_from_labels(name, texts, kind)
        quasi = read_quasi(atoms, kind=kind)
    domain = quasi.domain
    suppressing = original is not None and domain.missing is None
    line = LabelReader(domain, quasi.tree, suppressing=suppressing)
    found = [line.place(text) for text in texts] if read else []
    if original is None:  # a label that covers nothing is not understood
        found = [place if place and (place.runs or place.missing) else None for place in found]
    places = [place for place in found if place is not None]
    if len(places) < len(texts):
        domain = _with_labels(domain, texts)
        alone = LabelReader(domain, None, suppressing=suppressing)
        places = [alone.single(text) for text in texts]
    elif original is not None:
        _require_some(name, places, labels)
    numbers = domain.numbers
    return PublishedQuasi(
        name=name,
        columns=tuple(series.name for series in published),
        atoms=_values(domain),
        places=np.arange(domain.known, dtype=float)
        if numbers is None
        else ratios(numbers.offsets, numbers.per),
        numbers=numbers,
        labels=labels,
        texts=texts,
        counts=np.bincount(labels, minlength=len(texts)),
        start=np.cumsum([0, *(len(place.runs) for place in places)]),
        first=np.array([run[0] for place in places for run in place.runs], dtype=np.int64),
        last=np.array([run[1] for place in places for run in place.runs], dtype=np.int64),
        missing=np.array([place.missing for place in places], dtype=bool),
        everything=np.array([place.everything for place in places], dtype=bool),
        read=read and None not in found,
        **_counted(quasi, domain.known, original is not None),
        tree=quasi.tree,
    )


def _labels(
    name: str, published: Sequence[pl.Series], write: Write | None
) -> tuple[Codes, list[str | None]]:
    """Number the distinct labels, and write them, numbers in one way; two bounds make one."""
    columns = [encode(series) for series in published]
    if len(columns) == 1:
        domain = columns[0].domain
        if domain.values is None:
            raise TableError(
                f"quasi-identifier '{name}' holds lists", hint="make a column of each component"
            )
        lacking = domain.missing is not None
        return columns[0].codes, [*_written(domain, write), *([None] if lacking else [])]
    joint = join_columns(name, columns)
    assert joint.domain.parts is not None  # noqa: S101 - it was made of several columns
    written = [[*_written(column.domain, write), None] for column in columns]
    rows = (
        [texts[code] for texts, code in zip(written, codes, strict=True)]
        for codes in joint.domain.parts.tolist()
    )
    return joint.codes, [_bounded(*row) for row in rows]


def _merged(labels: Codes, texts: list[str | None]) -> tuple[Codes, list[str | None]]:
    """Take sets for the same label that list the same members in different orders."""
    sets = [None if text is None or "," not in text else _listed(text) for text in texts]
    number: dict[object, int] = {}
    at = [number.setdefault(s or t, len(number)) for s, t in zip(sets, texts, strict=True)]
    if len(number) == len(texts):
        return labels, texts
    first = np.unique(at, return_index=True)[1]
    return np.array(at, dtype=np.int32)[labels], [texts[i] for i in first.tolist()]


def _listed(text: str) -> frozenset[str] | None:
    listed = members(unwrap_text(text))
    return None if listed is None else frozenset(listed)


def _bounded(low: str | None, high: str | None, missing: str | None = None) -> str | None:
    """Write two bounds as an interval."""
    if low is None or high is None:
        return None
    text = low if low == high else f"{low}{TO}{high}"
    return text + OR_MISSING if missing is not None and missing.lower() == "true" else text


def _written(domain: Domain, write: Write | None) -> list[str]:
    """Write the values; whole floats as whole numbers, text that is numbers in one way."""
    if domain.values is not None and domain.values.dtype.is_float():
        return [text.removesuffix(".0") for text in domain.texts]
    if domain.values is not None and domain.values.dtype == pl.String and write is not None:
        return write(domain.values).to_list()
    return domain.texts


def _tree(name: str, rule: HierarchyRule | None) -> Hierarchy | None:
    """Return a hierarchy if it can be had without the values below it."""
    if rule is None or isinstance(rule, Hierarchy):
        return rule
    if isinstance(rule, str | Path):
        rule = as_rule(str(rule), Path())
    if not any(key in rule for key in _SELF_CONTAINED):
        return None
    return parse_spec(rule, [], Path(), column=name)


def _of_leaves(name: str, tree: Hierarchy, kind: str | None) -> Quasi:
    """Take the leaves of a hierarchy for the values; as numbers, if that changes no letter."""
    leaves = pl.Series(name, tree.leaves, dtype=pl.String)
    column = encode_as(leaves, kind or infer_type(leaves))
    if set(column.domain.texts) != set(tree.leaves):
        kind = "text"
    return read_quasi(leaves, kind=kind, hierarchy=tree)


def _with_labels(domain: Domain, texts: Sequence[str | None]) -> Domain:
    """Add labels that cannot be understood to the values: each stands for itself."""
    known = set(domain.texts)
    bare = [text.removesuffix(OR_MISSING) for text in texts if text is not None]
    new = dict.fromkeys(text for text in bare if text not in known and not is_all_stars(text))
    values = [*domain.texts, *new]
    return Domain(
        name=domain.name,
        histogram=np.zeros(len(values), dtype=np.int64),
        values=pl.Series(domain.name, values, dtype=pl.String),
    )


def _values(domain: Domain) -> pl.Series:
    assert domain.values is not None  # noqa: S101 - a quasi-identifier is one column with values
    return domain.values.alias(domain.name)


def _counted(quasi: Quasi, known: int, original: bool) -> dict[str, Any]:
    """Return the atom of each row of the original, and how many rows have each."""
    # There may be more atoms than the original has values.
    if not original:
        return {"points": None, "histogram": None}
    points, counts = quasi.codes, quasi.domain.histogram
    own, missing = quasi.domain.known, quasi.domain.missing
    if missing is not None and known > own:
        points = np.where(points == missing, np.int32(known), points)
    histogram = np.zeros(known + 1, dtype=np.int64)
    histogram[:own] = counts[:own]
    histogram[known] = 0 if missing is None else counts[missing]
    return {"points": points, "histogram": histogram}


def _require_some(name: str, places: Sequence[LabelCoverage], labels: Codes) -> None:
    """Refuse labels that cover none of the original's values."""
    empty = np.array([not place.runs and not place.missing for place in places])
    strange = empty[labels]
    if strange.any():
        raise TableError(
            f"column '{name}', row {int(strange.argmax()) + 1}: "
            "a value that the original does not have",
            hint="release and original must belong together",
        )
