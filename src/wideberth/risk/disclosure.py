"""Attribute disclosure beside the sensitive attributes: what a release says of its other columns.

A principle bounds what an adversary learns of a sensitive attribute. Nothing bounds what the same
release says of a quasi-identifier to an adversary who knows the others, or of an insensitive column
to one who knows the quasi-identifiers. If such a column is not what people know of one another (a
diagnosis under a name that nobody recognized), it is published without any protection.

For each column, the adversary knows a victim's other quasi-identifiers and faces all rows whose
published labels cover them. A row counts for a value only if its label means that value alone, so
the figures are lower bounds. They are compared with what the whole table says: to be certain of the
value that most people have is little news.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from wideberth.core.codes import Codes, Column, Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.core.text import counted, join_names, percent, reach_in_words
from wideberth.labels import BoxCover, PublishedBoxes, PublishedQuasi
from wideberth.policy.guesses import looks_of
from wideberth.risk.attacks import Risk, VictimClasses, own_shares, usual_epsilon
from wideberth.risk.findings import Finding, graver
from wideberth.risk.inputs import AuditInputs, encode_published, encode_together
from wideberth.risk.victims import faced_box_histograms

# -----------------------------------------------------------------------------
# Count the guesses that chance does not explain.
#
# Even if a column depends on nothing, some groups of five rows hold one value three times. So we
# count the people whose value an adversary guesses, and subtract the number expected if all rows
# but the victim's own had random values.


#: How sure an adversary must be for a guess to count.
LEVELS = (0.9, 0.75, 0.5)
#: Standard deviations above what chance explains, for one column.
MARGIN = 4.0
_SLACK = 1e-9


@dataclass(frozen=True, kw_only=True)
class GuessesBeyondChance:
    """Counts of people whose value is guessed, and of those whom chance explains."""

    of: int  # all people
    people: Mapping[float, int]  # by confidence: how many are guessed with that much or more
    expected: Mapping[float, float]  # by confidence: how many would be by chance alone
    spread: Mapping[float, float]  # by confidence: the standard deviation of that

    @classmethod
    def of_faced(
        cls, faced: VictimClasses, shares: Floats, chance: Floats, counted: Bools
    ) -> GuessesBeyondChance:
        """Count the guessed values at each level of confidence, and what chance would give.

        >>> from wideberth.core.groups import Groups
        >>> faced = VictimClasses.known(Groups.of([[0, 0]], width=1))
        >>> shares, prior, counted = np.ones(1), np.array([0.1]), np.array([True])
        >>> found = GuessesBeyondChance.of_faced(faced, shares, prior, counted)
        >>> found.people[0.9], round(found.expected[0.9], 3)
        (2, 0.2)
        """
        # All three arrays have an entry for each class of victims. `chance`: the probability that a
        # row has the value of the class by chance; `counted`: which classes count. The example:
        # both rows of a group agree on a value that one row in ten has.
        from scipy.special import bdtrc  # takes its time

        shares, chance, people = shares[counted], chance[counted], faced.people[counted]
        sizes = faced.sizes[counted]
        found, expected, spread = {}, {}, {}
        for level in LEVELS:
            others = np.ceil(level * sizes - _SLACK).astype(np.int64) - 1  # beside their own
            likely = np.ones(len(sizes))
            some = others > 0
            likely[some] = bdtrc(others[some] - 1, sizes[some] - 1, chance[some])
            found[level] = int(people[shares >= level - _SLACK].sum())
            expected[level] = float((people * likely).sum())
            # Whoever faces the same rows and has the same value is guessed or not together.
            together = people * likely * (1 - likely) * np.maximum(level * sizes, 1)
            spread[level] = float(np.sqrt(together.sum()))
        return cls(of=int(people.sum()), people=found, expected=expected, spread=spread)

    def share(self, level: float, margin: float = MARGIN) -> float:
        """Return the share of people beyond what chance explains; 0 if it may explain all."""
        more = self.people[level] - self.expected[level]
        return more / self.of if more > margin * self.spread[level] else 0.0

    def explained(self, level: float) -> str:
        """Return in words how many of the people chance explains."""
        many = round(self.expected[level])
        return f"about {many:,}" if many else "hardly any"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            f"{level:g}": {
                "people": self.people[level],
                "by_chance": round(self.expected[level], 1),
                "share": self.share(level),
            }
            for level in LEVELS
        }


# -----------------------------------------------------------------------------
# Attribute disclosure beside the sensitive attributes: what a release says of its other columns.


#: How many victims are looked at for each column, and how many pairs of them and their boxes.
PEOPLE, _PAIRS = 10_000, 200_000
#: How many columns are looked at, those first that look least like quasi-identifiers.
COLUMNS = 25
#: How many rows of a column tell what it looks like.
_HEAD = 1_000
#: As good as certain; and a value that so many have is no surprise.
_NEARLY, _COMMON = 0.9, 0.5
#: Of fewer people, or of fewer surprising values, no finding is made.
_ENOUGH, _FEWEST = 20, 5
#: Numbers of fewer different values are known exactly or not at all.
_FINE = 20
_ROUNDING = 1e-9

#: From which share of people with an uncommon value on a finding has which severity, if that value
#: is as good as certain, by the role of the column and by what it looks like. Somebody decided that
#: an insensitive column is harmless, so its findings ask to look at that decision again, and are
#: never high. An independent column with two values of equal frequency is the same in all 5 rows of
#: a group for about 1 person in 16: of a column of which nothing is known, so few are no reason to
#: doubt a release unless there are more than chance explains.
_UNKNOWN = {"medium": 0.1, "low": 0.01}
_GRAVE: dict[tuple[str, str], dict[str, float]] = {
    ("quasi", "sensitive"): {"high": 0.1, "medium": 0.01},
    ("quasi", "unknown"): _UNKNOWN,
    ("insensitive", "sensitive"): {"medium": 0.01},
    ("insensitive", "unknown"): _UNKNOWN,
    ("insensitive", "known"): {"low": 0.5},
}
#: The same for people whose value is guessed with half of certainty or more, beyond chance: then
#: the column depends on what an adversary knows. A column of which nothing is known may be a
#: diagnosis, so the release is in order only if that happens to few people.
_BEYOND: dict[str, dict[str, float]] = {
    "sensitive": {"medium": 0.01},
    "unknown": {"medium": 0.05, "low": 0.01},
}
#: From which share on a number is known nearly, by what the column looks like.
_NEAR = {**_GRAVE, **{(role, "unknown"): _BEYOND["unknown"] for role in ("quasi", "insensitive")}}
#: A number that is known nearly, not exactly, is no reason to refuse a release.
_NEARLY_KNOWN = {"high": "medium"}
#: Usual quasi-identifiers are named, together, if nearly everybody's is certain and no value is
#: common: sex is guessed too easily to be news.
_NEARLY_ALL, _VARIED = 0.9, 0.25


@dataclass(frozen=True, kw_only=True)
class ApproximateDisclosure:
    """Approximate knowledge of a number: all candidates' labels lie within an interval."""

    within: float  # half the length of the interval
    unit: str | None  # "days" for dates
    people: int  # how many of the people looked at are known so nearly
    everywhere: float  # share of the whole table in the fullest interval of that length

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "within": self.within,
            "unit": self.unit,
            "people": self.people,
            "everywhere": self.everywhere,
        }


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """What a release reveals of a column that no principle protects."""

    on: str
    role: str  # "quasi" or "insensitive"
    looks_like: str  # "known" (a usual quasi-identifier by its name), "sensitive" or "unknown"
    rows: int  # how many show the value exactly
    common: float  # share of the most common value: the best guess without the release
    guess: Risk  # the share of the rows an adversary faces that have the victim's value
    # "people" whose value less than half of the table has; for how many of them it is "certain",
    # and "nearly" so (0.9 or more)
    uncommon: Mapping[str, int]
    # of the same people, how many are guessed, and how many of these chance explains
    beyond: GuessesBeyondChance
    near: ApproximateDisclosure | None  # for numbers only
    # how many were "looked_at", "of" how many, whether that was everybody ("exact"), and whether
    # they were "drawn" among those who fit the labels (without an original)
    victims: Mapping[str, Any]

    @property
    def share(self) -> float:
        """Of people with an uncommon value, the share whose value is as good as certain."""
        return self.uncommon["nearly"] / max(self.uncommon["people"], 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "on": self.on,
            "role": self.role,
            "looks_like": self.looks_like,
            "published_exactly": self.rows,
            "most_common": self.common,
            "guess": self.guess.to_dict(),
            "uncommon": dict(self.uncommon),
            "beyond_chance": self.beyond.to_dict(),
            "near": None if self.near is None else self.near.to_dict(),
            "victims": dict(self.victims),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class _PublishedColumnValues:
    """What the boxes say of a column: codes below `exact` are values, others are not exact."""

    by_box: Groups
    own: Ints | Codes | None
    exact: int
    table: Floats | Ints
    low: Floats | None = None  # low and high: the outermost numbers of each code, if any
    high: Floats | None = None
    within: float = 0.0
    unit: str | None = None


def disclose(
    taken: AuditInputs, published: PublishedBoxes, *, everyone: bool = False
) -> tuple[list[Disclosure], list[str]]:
    """Measure what a release reveals of its quasi-identifiers and insensitive columns."""
    # A column that is the same in every row is left out. The notes name columns not looked at.
    few = published.rows if everyone else PEOPLE
    rows = None
    if published.original_rows is None:
        published, rows = published.drawn(few)
    victims = _DisclosureVictims(taken=taken, published=published, rows=rows, everyone=everyone)
    quasi = list(enumerate(published.axes)) if len(published.axes) > 1 else []
    looks = _looks(taken, [axis for _, axis in quasi])
    quasi.sort(key=lambda one: ("sensitive", "unknown", "known").index(looks[one[1].name]))
    notes = []
    if len(quasi) > COLUMNS:
        left = len(quasi) - COLUMNS
        notes.append(
            f"{counted(left, 'quasi-identifier')} of {len(quasi)} were not looked at for attribute "
            "disclosure, those last that look like usual ones"
        )
    found = [
        _measured(
            axis.name, "quasi", looks[axis.name], *victims.of_quasi(at), drawn=rows is not None
        )
        for at, axis in sorted(quasi[:COLUMNS])
    ]
    found += [
        _measured(name, "insensitive", looks[name], *said, drawn=rows is not None)
        for name, said in victims.of_insensitive()
    ]
    return [one for one in found if one.common < 1 and one.guess.people], notes


def judge_disclosures(disclosures: Sequence[Disclosure]) -> Iterator[Finding]:
    """Yield findings on columns about which a release reveals too much."""
    for one in disclosures:
        if one.guess.people < _ENOUGH or (one.role, one.looks_like) not in _GRAVE:
            continue
        severity, level = _guessed(one)
        nearly = None
        if one.near is not None and one.near.people >= _FEWEST:
            nearly = _severity(one.near.people / one.guess.people, _NEAR[one.role, one.looks_like])
            nearly = None if nearly is None else _NEARLY_KNOWN.get(nearly, nearly)
        if severity is not None and (nearly is None or not graver(nearly, severity)):
            yield _exactly(one, severity, level)
        elif nearly is not None:
            yield _to_within(one, nearly)
    usual = [
        one
        for one in disclosures
        if (one.role, one.looks_like) == ("quasi", "known")
        and one.guess.people >= _ENOUGH
        and one.share >= _NEARLY_ALL
        and one.common <= _VARIED
    ]
    if usual:
        names = join_names([f"'{one.on}'" for one in usual])
        yield Finding(
            name="attribute-disclosure",
            severity="info",
            title=f"{names} {'is' if len(usual) == 1 else 'are'} nearly determined by the other "
            "quasi-identifiers",
            meaning="An adversary who knows the other quasi-identifiers of a person is nearly "
            "always certain of this one, too. No principle protects a quasi-identifier's value.",
            advice="If other people may not know it, generalize it further, or make it sensitive.",
            figures={
                "columns": [one.on for one in usual],
                "share": min(one.share for one in usual),
            },
        )


def _severity(share: float, steps: Mapping[str, float]) -> str | None:
    return next((name for name, least in steps.items() if share >= least - _ROUNDING), None)


def _guessed(one: Disclosure) -> tuple[str | None, float]:
    """Return how grave it is that a value is guessed, and with how much confidence it is."""
    found = None
    if one.uncommon["nearly"] >= _FEWEST:
        found = _severity(one.share, _GRAVE[one.role, one.looks_like])
    level = _NEARLY
    for at in LEVELS:
        if one.beyond.people[at] >= _FEWEST:
            more = _severity(one.beyond.share(at), _BEYOND.get(one.looks_like, {}))
            if more is not None and (found is None or graver(more, found)):
                found, level = more, at
    return found, level


def _exactly(one: Disclosure, severity: str, level: float) -> Finding:
    certain, nearly = one.guess.above[1.0], one.guess.above[_NEARLY]
    of, chance = one.guess.people, ""
    many, how = certain, "is certain for"
    if level < _NEARLY or 2 * certain < nearly:
        many = nearly if level == _NEARLY else one.beyond.people[level]
        how = f"can be guessed with {percent(level)} confidence or more by"
    if level < _NEARLY:
        chance = f"Chance alone explains {one.beyond.explained(level)} of them. "
    return Finding(
        name="attribute-disclosure",
        severity=severity,
        title=f"'{one.on}' of {counted(many, 'person', 'people')} of {of:,} "
        f"({percent(many / of)}) {how} an adversary who knows their {_known(one)}",
        meaning=f"{_why(one)} {chance}Without the release, the best guess is the most common "
        f"value, which {percent(one.common)} of the table have. {_sample(one)}".rstrip(),
        advice=_advice(one),
        figures=_figures(one),
    )


def _to_within(one: Disclosure, severity: str) -> Finding:
    assert one.near is not None  # noqa: S101 - asked only if it was measured
    people, of = one.near.people, one.guess.people
    within = reach_in_words(one.near.within, unit=one.near.unit)
    return Finding(
        name="attribute-disclosure",
        severity=severity,
        title=f"'{one.on}' of {counted(people, 'person', 'people')} of {of:,} "
        f"({percent(people / of)}) is known to within {within} to an adversary who knows their "
        f"{_known(one)}",
        meaning=f"{_why(one)} Without the release, an interval of that length holds at most "
        f"{percent(one.near.everywhere)} of the table. {_sample(one)}".rstrip(),
        advice=_advice(one),
        figures=_figures(one),
    )


def _known(one: Disclosure) -> str:
    return "other quasi-identifiers" if one.role == "quasi" else "quasi-identifiers"


def _why(one: Disclosure) -> str:
    if one.role == "quasi":
        return (
            f"{counted(one.rows, 'row')} say exactly what the value is: no principle protects the "
            "value of a quasi-identifier."
        )
    return "The column is published as it is: no principle protects an insensitive column."


def _advice(one: Disclosure) -> str:
    if one.looks_like == "sensitive":
        return f"If people may not learn '{one.on}', make it a sensitive column, with a principle."
    return (
        f"Decide whether an adversary knows '{one.on}' already. If not, make it a sensitive column "
        "with a principle, or drop it."
    )


def _sample(one: Disclosure) -> str:
    if one.victims["exact"]:
        return ""
    if one.victims["drawn"]:
        return "Without the original, people were drawn at random who fit the published labels."
    return "Counted in a random sample (all: --everyone)."


def _figures(one: Disclosure) -> dict[str, Any]:
    return {"column": one.on, **{k: v for k, v in one.to_dict().items() if k != "on"}}


def _looks(taken: AuditInputs, axes: Sequence[PublishedQuasi]) -> Mapping[str, str]:
    """Guess from names, and from the first rows, what an adversary is likely to know."""
    given, original = taken.examined, taken.original
    columns = {axis.name: axis.columns[0] for axis in axes}
    columns |= {name: name for name in taken.roles["insensitive"]}
    rows = min(_HEAD, given.frame.height, _HEAD if original is None else original.height)
    head = pl.DataFrame(
        [
            (
                original[name]
                if original is not None and name in original.columns
                else given.frame[column].alias(name)
            ).head(rows)
            for name, column in columns.items()
        ]
        if columns
        else None
    )
    return looks_of(head) if columns else {}


@dataclass(frozen=True, eq=False, kw_only=True)
class _DisclosureVictims:
    """The people whom an adversary looks for: those of the original, or some who fit the labels."""

    taken: AuditInputs
    published: PublishedBoxes
    rows: Ints | None  # the row of each person drawn; None with an original
    everyone: bool

    def of_quasi(self, at: int) -> tuple[_PublishedColumnValues, BoxCover]:
        """Return what is said of a quasi-identifier, and what covers victims by the others."""
        published, axis = self.published, self.published.axes[at]
        rest, part_of = published.without(at)
        code, exact = _meaning(axis)
        code = code[published.labels[:, at]]
        width = exact + len(axis.texts)
        present, same = np.unique(part_of * width + code, return_inverse=True)
        counts = np.bincount(same, published.sizes, len(present)).astype(np.int64)
        edges = np.arange(len(rest.sizes) + 1) * width
        by_box = Groups(
            start=np.searchsorted(present, edges), codes=present % width, counts=counts, width=width
        )
        own: Ints | Codes | None = axis.points
        table: Floats | Ints
        if self.rows is None and axis.histogram is not None:
            table = axis.histogram
        else:
            own = code[published.boxes.labels[self.rows]]
            table = _spread(axis)
        low, high = _ends(axis)
        said = _PublishedColumnValues(
            by_box=by_box,
            own=own,
            exact=exact,
            table=table,
            low=low,
            high=high,
            within=0.0 if low is None else _reach(axis.name, axis.atoms, table[:-1]),
            unit="days" if axis.atoms.dtype.is_temporal() else None,
        )
        return said, self._covered(rest)

    def of_insensitive(self) -> Iterator[tuple[str, tuple[_PublishedColumnValues, BoxCover]]]:
        """Go through the insensitive columns that are worth a look."""
        frame, original = self.taken.examined.frame, self.taken.original
        cover = None
        for name in self.taken.roles["insensitive"]:
            if _nested(frame[name]):
                continue
            if original is None:
                column = encode_published(frame[name])
            elif name in original.columns and not _nested(original[name]):
                column = encode_together(frame[name], original[name])
            else:
                continue
            domain = column.domain
            low, within, unit = None, 0.0, None
            if domain.values is None or domain.numbers is None or domain.known <= _FINE:
                if 2 * domain.known > frame.height:  # nearly every row has its own value
                    continue
            else:
                low = np.full(domain.size, np.nan)
                low[: domain.known] = domain.numbers.floats()
                within = _reach(name, domain.values, domain.histogram[: domain.known])
                unit = "days" if domain.values.dtype.is_temporal() else None
            here = Column(column.codes[: frame.height], domain)
            cover = self._covered(self.published) if cover is None else cover
            said = _PublishedColumnValues(
                by_box=self.published.boxes.histograms(here),
                own=column.codes[frame.height :] if self.rows is None else here.codes[self.rows],
                exact=domain.size,
                table=domain.histogram,
                low=low,
                high=low,
                within=within,
                unit=unit,
            )
            yield name, (said, cover)

    def _covered(self, published: PublishedBoxes) -> BoxCover:
        found = published.covering(most=_PAIRS, everyone=self.everyone, few=PEOPLE)
        return found if self.rows is None else replace(found, of=published.rows, exact=False)


def _nested(series: pl.Series) -> bool:
    return series.dtype.is_nested() or series.dtype == pl.Object


def _meaning(axis: PublishedQuasi) -> tuple[Ints, int]:
    """Return a code for what each label means: a single value, or more than one."""
    # Labels of one value have its number; a missing value comes after all values. All other labels
    # have numbers of their own after these. Returned with how many codes stand for values.
    atoms, labels = len(axis.atoms), len(axis.texts)
    single = (axis.widths() == 1) & ~axis.everything
    first = np.append(axis.first, 0)[axis.start[:-1]]
    value = np.where(axis.missing, atoms, first)
    return np.where(single, value, atoms + 1 + np.arange(labels)), atoms + 1


def _spread(axis: PublishedQuasi) -> Floats:
    """Share out the rows of each label among the values it covers; missing is the last."""
    atoms, many = len(axis.atoms), np.diff(axis.start)
    each = axis.counts / np.maximum(axis.widths(), 1)
    change = np.zeros(atoms + 1)
    np.add.at(change, axis.first, np.repeat(each, many))
    np.subtract.at(change, axis.last + 1, np.repeat(each, many))
    return np.append(np.cumsum(change)[:atoms], each[axis.missing].sum()).clip(0)


def _ends(axis: PublishedQuasi) -> tuple[Floats | None, Floats | None]:
    """Return the outermost numbers of each code of `_meaning`, if it is about fine numbers."""
    if not axis.numeric or len(axis.atoms) <= _FINE:
        return None, None
    bare = np.diff(axis.start) == 0
    vague = axis.missing | axis.everything | bare
    ends = np.append(axis.first, 0)[axis.start[:-1]], np.append(axis.last, 0)[axis.start[1:] - 1]
    low, high = (np.where(vague, np.nan, axis.places[np.where(bare, 0, end)]) for end in ends)
    return (
        np.concatenate((axis.places, [np.nan], low)),
        np.concatenate((axis.places, [np.nan], high)),
    )


def _reach(name: str, values: pl.Series, histogram: Any) -> float:
    return float(usual_epsilon(Domain(name=name, histogram=histogram, values=values.alias(""))))


def _measured(
    on: str, role: str, looks: str, said: _PublishedColumnValues, cover: BoxCover, *, drawn: bool
) -> Disclosure:
    """Let an adversary guess a column."""
    faced = faced_box_histograms(said.by_box, said.own, cover)
    clear = faced.codes < said.exact
    shares = np.where(clear, own_shares(faced), 0.0)
    chance = said.table / max(said.table.sum(), 1)
    common = np.zeros(len(shares), dtype=bool)
    common[clear] = chance[faced.codes[clear]] >= _COMMON
    rare = Risk.of(shares[~common], faced.people[~common])
    codes, counts = said.by_box.codes, said.by_box.counts
    published = np.bincount(codes, counts, said.by_box.width) / max(counts.sum(), 1)
    return Disclosure(
        on=on,
        role=role,
        looks_like=looks,
        rows=int(counts[codes < said.exact].sum()),
        common=float(chance.max(initial=0.0)),
        guess=Risk.of(shares, faced.people),
        uncommon={
            "certain": rare.above[1.0],
            "nearly": rare.above[_NEARLY],
            "people": rare.people,
        },
        beyond=GuessesBeyondChance.of_faced(
            faced, shares, np.where(clear, published[faced.codes], 0.0), ~common
        ),
        near=_near(said, faced, clear),
        victims={
            "looked_at": len(cover.victims),
            "of": cover.of,
            "exact": cover.exact,
            "drawn": drawn,
        },
    )


def _near(
    said: _PublishedColumnValues, faced: VictimClasses, clear: Bools
) -> ApproximateDisclosure | None:
    """Count the people all of whose candidates lie within an interval, their own value included."""
    low, high = said.low, said.high
    if low is None or high is None or not len(faced.groups):
        return None
    places, many = low[: said.exact], said.table
    known = np.isfinite(places)
    places, running = places[known], np.concatenate(([0], np.cumsum(many[known])))
    length = 2 * said.within + _ROUNDING
    upto = np.searchsorted(places, places + length, side="right")
    fullest = (running[upto] - running[:-1]).max(initial=0) / max(many.sum(), 1)
    if fullest >= _COMMON:
        return None
    groups = faced.groups
    least, most = groups.min(low[groups.codes]), groups.max(high[groups.codes])
    narrow = most - least <= length  # never true of NaN
    own = np.where(clear, low[faced.codes], least[faced.owner])
    inside = narrow[faced.owner] & (least[faced.owner] <= own) & (own <= most[faced.owner])
    return ApproximateDisclosure(
        within=said.within,
        unit=said.unit,
        people=int(faced.people[inside].sum()),
        everywhere=float(fullest),
    )
