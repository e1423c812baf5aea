"""Find insensitive columns that determine other columns, such as a code beside the diagnosis.

A principle bounds what a group reveals about a sensitive attribute. An insensitive column is
published exactly, row by row: if it determines the sensitive attribute, anyone who knows a person's
value in it knows the sensitive value too, whatever the group. An insensitive column can also be a
copy of a quasi-identifier that the release coarsens.

Rows with the same value in one column are compared in the other. Rows that share a rare value can
agree by chance, so what chance explains is subtracted. A column whose values are all different
determines every other column; `wideberth.risk.leaks.identifiers` reports such columns. Numbers with
many different values are first cut into 20 ranges of equally many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from wideberth.core.codes import Codes, Column, Domain, compress
from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Partition
from wideberth.core.text import join_names, percent
from wideberth.labels import PublishedBoxes, PublishedQuasi
from wideberth.policy.guesses import looks_of
from wideberth.risk.attacks import VictimClasses, own_shares
from wideberth.risk.attribute import AuditedAttribute
from wideberth.risk.disclosure import GuessesBeyondChance
from wideberth.risk.findings import Finding
from wideberth.risk.inputs import AuditInputs, encode_published

#: How many columns are looked at, and how many rows of them in all comparisons together.
COLUMNS, _ROWS = 50, 20_000_000
#: Fewer people, or pairs of them, give no finding.
_ENOUGH = 20
#: Numbers with more different values than this are cut into this many ranges.
_FINE = 20
#: How many rows tell what a column looks like.
_HEAD = 1_000
#: A value that so many have is no surprise.
_COMMON = 0.5
#: As good as certain, and likely.
_NEARLY, _LIKELY = 0.9, 0.75
#: Of so many people a value is determined: of few, and of most.
_FEW, _MOST = 0.05, 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class _RangedColumn:
    """A column as codes of few values."""

    name: str
    codes: Codes
    width: int
    shown: Bools  # which codes stand for values that somebody would hide
    fine: bool  # whether it is a number, cut into parts

    @classmethod
    def of(cls, name: str, column: Column, harmless: Bools | None = None) -> _RangedColumn:
        domain = column.domain
        shown = np.arange(domain.size) < domain.known
        if harmless is not None:
            shown &= ~harmless
        cut = _cut(domain, column.codes)
        if cut is None:
            return cls(name=name, codes=column.codes, width=domain.size, shown=shown, fine=False)
        shown = np.append(np.ones(_FINE, dtype=bool), False)
        if harmless is not None:
            cut = np.where(harmless[column.codes], _FINE, cut)
        return cls(name=name, codes=cut, width=_FINE + 1, shown=shown, fine=True)


def _cut(domain: Domain, codes: Codes) -> Codes | None:
    """Cut numbers into parts of about as many rows each; None if they are not fine."""
    if domain.values is None or domain.numbers is None or domain.known <= _FINE:
        return None
    many = np.bincount(codes, minlength=domain.size)[: domain.known]
    middle = np.cumsum(many) - many / 2
    part = np.minimum(_FINE * middle // max(many.sum(), 1), _FINE - 1).astype(np.int32)
    return np.append(part, np.full(domain.size - domain.known, _FINE, np.int32))[codes]


@dataclass(frozen=True, kw_only=True)
class _Determination:
    """How well one column determines another, and for how many people."""

    by: str
    on: str
    sure: float  # share of people with an uncommon value that is nearly certain, beyond chance
    likely: float
    together: float  # share of pairs within a group that agree in `by` and agree in `on` as well

    def to_dict(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "on": self.on,
            "nearly": self.sure,
            "likely": self.likely,
            "within_groups": self.together,
        }


def judge_determined(
    taken: AuditInputs, published: PublishedBoxes, sensed: Sequence[AuditedAttribute]
) -> tuple[list[Finding], list[str]]:
    """Return findings on insensitive columns that determine others, and what was not looked at."""
    frame = taken.examined.frame
    names = [name for name in taken.roles["insensitive"] if not _nested(frame[name])]
    notes = []
    if len(names) > COLUMNS:
        notes.append(
            f"{len(names) - COLUMNS:,} of {len(names):,} insensitive columns were not looked at "
            "for what they tell of other columns"
        )
    kinds = looks_of(frame.select(names[:COLUMNS]).head(_HEAD)) if names else {}
    parts = [_RangedColumn.of(name, encode_published(frame[name])) for name in names[:COLUMNS]]
    found: list[Finding] = []
    if taken.examined.counted is None:  # else nobody knows whose sensitive values are whose
        for one in sensed:
            found += _on_sensitive(parts, one, published.boxes)
    found += _on_quasi(taken, published, [part.name for part in parts])
    found += _on_insensitive(parts, kinds)
    return found, notes


def _nested(series: pl.Series) -> bool:
    return series.dtype.is_nested() or series.dtype == pl.Object


def _on_sensitive(
    parts: Sequence[_RangedColumn], one: AuditedAttribute, boxes: Partition
) -> Iterable[Finding]:
    """Yield a finding if columns determine a sensitive attribute."""
    on = _RangedColumn.of(one.name, one.column, one.harmless)
    rows = _of_groups(boxes, len(parts))
    told = [_told(part, on, boxes, tries=len(parts), rows=rows) for part in parts]
    told = [each for each in told if max(each.likely / _FEW, each.together / _LIKELY) >= 1]
    if not told:
        return
    sure = any(each.sure >= _MOST or each.together >= _NEARLY for each in told)
    most = max(max(each.likely, each.together) for each in told)
    yield Finding(
        name="determined",
        severity="high" if sure and not on.fine else "medium",
        title=f"{_named(told)} {_tell(told)} '{one.name}' of up to {percent(most)} of the people"
        + (", to within a twentieth of the table" if on.fine else ""),
        meaning="An insensitive column is published exactly, row by row. Whoever knows it of a "
        f"person knows '{one.name}', too, whatever the group and its principle say; and a code "
        "of a sensitive value is that value.",
        advice=f"Drop {_named(told)}, or make each a sensitive column, with a principle.",
        figures={"column": one.name, "told": [each.to_dict() for each in told]},
    )


def _on_quasi(
    taken: AuditInputs, published: PublishedBoxes, names: Sequence[str]
) -> Iterable[Finding]:
    """Yield a finding if columns determine what the release coarsens; needs the original."""
    original = taken.original
    if original is None or taken.examined.counted is not None:
        return
    names = [name for name in names if name in original.columns and not _nested(original[name])]
    coarse = [
        axis.name
        for axis in published.axes
        if axis.name in original.columns and _exact(axis) < _COMMON
    ]
    if not names or not coarse:
        return
    rows = _rows(original.height, len(names) * len(coarse))
    given = [_RangedColumn.of(name, encode_published(original[name])) for name in names]
    told = []
    for name in coarse:
        column = encode_published(original[name])
        on = _RangedColumn(
            name=name,
            codes=column.codes,
            width=column.domain.size,
            shown=np.arange(column.domain.size) < column.domain.known,
            fine=False,
        )
        told += [_told(part, on, tries=len(given) * len(coarse), rows=rows) for part in given]
    told = [each for each in told if each.sure >= _MOST]
    if told:
        what = _quoted(sorted({each.on for each in told}))
        yield Finding(
            name="determined",
            severity="medium",
            title=f"{_named(told)} {_tell(told)} {what} of up to "
            f"{percent(max(each.sure for each in told))} of the people, which the release coarsens",
            meaning="An insensitive column is published exactly. One that is as good as a copy of "
            "a quasi-identifier makes groups smaller than they look, for whoever knows either.",
            advice=f"Drop {_named(told)}, or make it a quasi-identifier.",
            figures={"told": [each.to_dict() for each in told]},
        )


def _on_insensitive(parts: Sequence[_RangedColumn], kinds: Mapping[str, str]) -> Iterable[Finding]:
    """Yield a finding if columns that may be secrets are determined by others."""
    # A code beside the name of what people know of one another (a country's) reveals nothing new.
    usual = [part for part in parts if kinds[part.name] == "known"]
    targets = [
        part
        for part in parts
        if not part.fine
        and (
            kinds[part.name] == "sensitive"
            or not (part in usual or any(_same(part, other) for other in usual))
        )
    ]
    tries = len(targets) * (len(parts) - 1)
    rows = _rows(len(parts[0].codes) if parts else 0, tries)
    told = [
        each
        for on in targets
        for by in parts
        if by is not on and (each := _told(by, on, tries=tries, rows=rows)).sure >= _MOST
    ]
    if told:
        what = sorted({each.on for each in told})
        yield Finding(
            name="determined",
            severity="medium",
            title=f"{_quoted(what)} {'is' if len(what) == 1 else 'are'} "
            "nearly determined by other insensitive columns",
            meaning="Whoever knows one such column of a person knows the other. Nothing shows what "
            "they hold: one of them may be a code of a secret.",
            advice="Look at them together, and decide again whether they are harmless. If people "
            "may not learn one of them, make both sensitive, with principles, or drop them.",
            figures={"told": [each.to_dict() for each in told]},
        )


def _same(one: _RangedColumn, other: _RangedColumn) -> bool:
    """Return whether two columns say the same in other words: each has one value for each other."""
    pairs = len(np.unique(one.codes.astype(np.int64) * other.width + other.codes))
    return pairs == len(np.unique(one.codes)) == len(np.unique(other.codes))


def _quoted(names: Iterable[str]) -> str:
    return join_names([f"'{name}'" for name in names])


def _by(told: Iterable[_Determination]) -> list[str]:
    return sorted({each.by for each in told})


def _named(told: Iterable[_Determination]) -> str:
    return _quoted(_by(told))


def _tell(told: Iterable[_Determination]) -> str:
    return "tells" if len(_by(told)) == 1 else "tell"


def _exact(axis: PublishedQuasi) -> float:
    """Return the share of rows whose label is a single value."""
    single = (axis.widths() == 1) & ~axis.everything
    return float(axis.counts[single].sum() / max(axis.counts.sum(), 1))


def _rows(height: int, tries: int) -> Ints | slice:
    """Choose rows at random, so that not too many are looked at in all."""
    few = _ROWS // max(tries, 1)
    if height <= few:
        return slice(None)
    return np.sort(np.random.default_rng(0).choice(height, few, replace=False))


def _of_groups(boxes: Partition, tries: int) -> Ints | slice:
    """Choose groups at random, and return all their rows."""
    few = _ROWS // max(tries, 1)
    if len(boxes.labels) <= few:
        return slice(None)
    order = np.random.default_rng(0).permutation(boxes.count)
    kept = np.zeros(boxes.count, dtype=bool)
    kept[order[np.cumsum(boxes.sizes().sizes[order]) <= few]] = True
    return np.flatnonzero(kept[boxes.labels])


def _told(
    by: _RangedColumn,
    on: _RangedColumn,
    boxes: Partition | None = None,
    *,
    tries: int,
    rows: Ints | slice = slice(None),
) -> _Determination:
    """Measure what one column tells of another, alone and, given boxes, within groups."""
    ours, theirs = by.codes[rows], on.codes[rows]
    histogram = np.bincount(theirs, minlength=on.width)
    chance = histogram / max(len(theirs), 1)
    rare = on.shown & (chance < _COMMON)
    column = Column(theirs, Domain(name=on.name, histogram=histogram))
    together = 0.0
    if boxes is not None:
        kept, labels = compress(boxes.labels[rows].astype(np.int64), boxes.count)
        groups = Partition(labels, len(kept))
        together = _within(groups, ours, by.width, column, rare, _margin(tries))
    present, labels = compress(ours.astype(np.int64), by.width)
    faced = VictimClasses.known(Partition(labels, len(present)).histograms(column))
    found = GuessesBeyondChance.of_faced(
        faced, own_shares(faced), chance[faced.codes], rare[faced.codes]
    )
    if found.of < _ENOUGH:
        return _Determination(by=by.name, on=on.name, sure=0.0, likely=0.0, together=together)
    margin = _margin(tries)
    return _Determination(
        by=by.name,
        on=on.name,
        sure=found.share(_NEARLY, margin),
        likely=found.share(_LIKELY, margin),
        together=together,
    )


def _within(
    boxes: Partition, by: Codes, width: int, on: Column, rare: Bools, margin: float
) -> float:
    """Return the share of pairs that agree in `on` among those that agree in `by`."""
    # Pairs are of rows of one group. The result is 0 if it could be so by chance, that is, if the
    # share among all pairs of rows of a group is not much smaller.
    present, cells = compress(boxes.labels.astype(np.int64) * width + by, boxes.count * width)
    both, pairs = _pairs(Partition(cells, len(present)), on, rare)
    alike, all_of_them = _pairs(boxes, on, rare)
    if pairs < _ENOUGH or not all_of_them:
        return 0.0
    share, usual = both / pairs, alike / all_of_them
    spread = np.sqrt(usual * (1 - usual) / pairs * float(boxes.sizes().sizes.mean()))
    return share if share - usual > margin * spread else 0.0


def _pairs(parts: Partition, on: Column, rare: Bools) -> tuple[float, float]:
    """Count ordered pairs of rows of one part, the first of which has an uncommon value."""
    groups = parts.histograms(on)
    some = rare[groups.codes]
    counts = groups.counts[some].astype(np.float64)
    sizes = groups.sizes[groups.owner[some]]
    return float((counts * (counts - 1)).sum()), float((counts * (sizes - 1)).sum())


def _margin(tries: int) -> float:
    """Return how many standard deviations are none of so many chances in a thousand."""
    from scipy.special import ndtri

    return float(-ndtri(1e-3 / max(tries, 1)))
