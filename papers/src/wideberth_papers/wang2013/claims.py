"""What measurements of anatomies say about the claims that are made for (l,e)-diversity.

Most say that (l,e)-diversity has more of something than l-diversity. It is counted in how many
settings that is so; the paper's own method, mbf, decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import geometric_mean
from typing import NamedTuple

from wideberth_papers.study import Row, Rows, Verdict, Word, graded

METHODS = ("mbf", "optimal")
#: How much more counts as more: of sums and means that do not depend on the machine, and of means
#: of random draws.
EXACT, DRAWN = 1e-9, 1e-4
#: Mean ratios of times up to this one tell nothing: single ratios change as much from run to run.
NOISE = 1.25
#: Mean ratios of what is about the same, and of what still is no contradiction.
ALIKE, FARTHER = 1.5, 3.0
#: With fewer rows than these, chance decides.
FEWEST = 500
#: Fewer rows than the paper's fewest are grouped too fast for times to mean anything.
TIMEABLE = 5_000
READINGS = {
    "full_kept": "formula 6, over kept rows",
    "full_all": "with 1 for each suppressed row",
    "true_kept": "at the true point, over kept rows",
    "true_all": "at the true point, with 1 for each suppressed row",
}


class Pair(NamedTuple):
    """l-diversity and (l,e)-diversity in one setting, by one method."""

    n: int
    ell: int
    plain: float
    semantic: float

    @property
    def ratio(self) -> float:
        """How much more (l,e)-diversity has; 1 if both have nothing."""
        return self.semantic / self.plain if self.plain else 1.0 if not self.semantic else 2.0

    def __str__(self) -> str:
        """Name the setting."""
        return f"n = {self.n:,}, l = {self.ell}"


def pairs(rows: Rows, field: str, method: str) -> list[Pair]:
    """Return what a column says of both principles, where both are possible.

    Examples
    --------
    >>> rows = [{"n": 9, "l": 2, "way": f"{p}, mbf", "dot": d}
    ...         for p, d in (("l-diversity", 1.0), ("(l,1)-diversity", 1.5))]
    >>> pairs(rows, "dot", "mbf")
    [Pair(n=9, ell=2, plain=1.0, semantic=1.5)]
    """
    found: dict[tuple[int, int], dict[bool, float]] = {}
    for row in rows:
        if row["way"].endswith(method) and row[field] is not None:
            plain = row["way"].startswith("l-")
            found.setdefault((row["n"], row["l"]), {})[plain] = row[field]
    return [Pair(*at, by[True], by[False]) for at, by in found.items() if len(by) == 2]


def mean_ratio(found: Sequence[Pair]) -> float:
    """Return the geometric mean of ratios, which needs them to be more than 0."""
    return geometric_mean(max(pair.ratio, 1e-9) for pair in found)


class Tally(NamedTuple):
    """In how many settings (l,e)-diversity has more, as much, and less."""

    more: int
    same: int
    less: int
    ratio: float

    @classmethod
    def of(cls, found: Sequence[Pair], least: float) -> Tally:
        """Count; differences of a smaller share than the least are none."""
        more = sum(pair.ratio > 1 + least for pair in found)
        less = sum(pair.ratio < 1 - least for pair in found)
        return cls(more, len(found) - more - less, less, mean_ratio(found))

    @property
    def settings(self) -> int:
        """How many there are."""
        return self.more + self.same + self.less

    @property
    def word(self) -> Word:
        """What becomes of the claim that it is more."""
        return graded(self.more, self.settings)

    def __str__(self) -> str:
        """Say it."""
        return (
            f"more in {self.more} of {self.settings} settings, less in {self.less} "
            f"(mean ratio {self.ratio:.3f})"
        )


_UNTESTED = Verdict("not tested here", "The table has too few rows for claims about thousands.")


def _small(rows: Rows) -> bool:
    return max((row["n"] for row in rows), default=0) < FEWEST


def judge_more(field: str, least: float, form: str, rows: Rows) -> Verdict:
    """Judge the claim that (l,e)-diversity has more of something; the paper's method decides."""
    greedy, optimal = (pairs(rows, field, method) for method in METHODS)
    if not greedy or not optimal or _small(rows):
        return _UNTESTED
    by_method = [Tally.of(found, least) for found in (greedy, optimal)]
    word = by_method[0].word
    if word == "confirmed" and by_method[1].word != "confirmed":
        word = "confirmed with differences"
    because = f"By mbf {by_method[0]}, by the optimal method {by_method[1]}."
    if word != "contradicted":
        return Verdict(word, because)
    against = min(greedy, key=lambda pair: (pair.ratio, -pair.n))
    return Verdict(word, because, _instance(against, "mbf", form))


def _instance(pair: Pair, method: str, form: str) -> str:
    return (
        f"{pair}, {method}: {form.format(pair.plain)} for l-diversity, "
        f"{form.format(pair.semantic)} for (l,e)-diversity ({pair.ratio - 1:+.1%})."
    )


def judge_loss(rows: Rows) -> Verdict:
    """Judge the claim about losses in all readings; that of formula 6 decides."""
    verdict = judge_more("full_kept", EXACT, "{:,.0f}", rows)
    if verdict.word == "not tested here":
        return verdict
    tallies = {said: Tally.of(pairs(rows, field, "mbf"), EXACT) for field, said in READINGS.items()}
    if len({(t.more, t.less) for t in tallies.values()}) == 1:
        readings = "The same in all four readings of the loss"
    else:
        each = (f"{said} more in {t.more}, less in {t.less}" for said, t in tallies.items())
        readings = f"By mbf: {'; '.join(each)}"
    suppressed = [row for row in rows if row["suppressed"]]
    because = (
        "Measured with e = 1, on a tree of ours: the paper does not print its own. "
        f"{verdict.because} {readings}. Rows are suppressed in {len(suppressed)} of {len(rows)} "
        "releases."
    )
    if verdict.word == "contradicted" and any(t.word == "confirmed" for t in tallies.values()):
        return Verdict("confirmed with differences", because)
    return replace(verdict, because=because)


def judge_longer(rows: Rows) -> Verdict:
    """Judge the claim that mbf takes longer, by ratios that are beyond noise."""
    found = pairs(rows, "seconds", "mbf")
    if not found or max(pair.n for pair in found) < TIMEABLE:
        return Verdict("not tested here", f"Fewer than {TIMEABLE:,} rows are grouped in no time.")
    least, most = (pick(found, key=lambda pair: pair.ratio) for pick in (min, max))
    mean = mean_ratio(found)
    because = (
        f"By mbf (l,e)-diversity takes {mean:.2f} times as long on average, {least.ratio:.2f} to "
        f"{most.ratio:.2f} times"
    )
    if optimal := pairs(rows, "seconds", "optimal"):
        because += f"; by the optimal method {mean_ratio(optimal):.2f} times"
    if 1 / NOISE < mean < NOISE:
        return Verdict("not tested here", f"No difference of mbf beyond noise. {because}.")
    if mean <= 1 / NOISE:
        in_ms = least._replace(plain=1000 * least.plain, semantic=1000 * least.semantic)
        return Verdict("contradicted", f"{because}.", _instance(in_ms, "mbf", "{:.1f} ms"))
    word: Word = "confirmed" if least.ratio > 1 / NOISE else "confirmed with differences"
    return Verdict(word, f"{because}.")


def judge_alike(field: str, form: str, rows: Rows) -> Verdict:
    """Judge the claim that both principles have about the same, by either method.

    `form` says it of (l,e)-diversity with a ratio: "takes {:.2f} times as long".
    """
    found = {method: pairs(rows, field, method) for method in METHODS}
    if not all(found.values()) or _small(rows):
        return _UNTESTED
    means = {method: mean_ratio(here) for method, here in found.items()}
    said = ", ".join(f"{form.format(mean)} by {method}" for method, mean in means.items())
    because = f"On average (l,e)-diversity {said}."
    farthest = max(_factor(mean) for mean in means.values())
    if farthest <= ALIKE:
        return Verdict("confirmed", because)
    if farthest <= FARTHER:
        return Verdict("confirmed with differences", because)
    method = max(METHODS, key=lambda method: _factor(means[method]))
    worst = max(found[method], key=lambda pair: _factor(pair.ratio))
    return Verdict("contradicted", because, _instance(worst, method, "{:.3g}"))


def _factor(ratio: float) -> float:
    """Return by which factor something is more or less."""
    return max(ratio, 1 / max(ratio, 1e-9))


def judge_similar(rows: Rows) -> Verdict:
    """Judge what diversity degrees do not show: groups whose values are alike."""
    plain = [row for row in rows if row["way"].startswith("l-") and row["similar"] is not None]
    kinds = [pair for method in METHODS for pair in pairs(rows, "one_kind", method)]
    if not plain or not kinds or _small(rows):
        return _UNTESTED
    most = max(plain, key=lambda row: float(row["similar"]))
    if not most["similar"]:
        return Verdict("not tested here", "No group has similar values, whatever the principle.")
    because = (
        "No group under (l,1)-diversity has two values at most 1 apart; under l-diversity up to "
        f"{most['similar']:.1%} have (l = {most['l']}, {most['way'].split(', ')[1]})."
    )
    worst = max(kinds, key=lambda pair: pair.semantic)
    if not worst.semantic:
        return Verdict("confirmed", f"{because} Nor is any of one kind on level 1 of the tree.")
    because += (
        " But on level 1 of the tree, which e = 1 does not guard, up to "
        f"{worst.semantic:.2%} of its groups are of one kind ({worst}; under l-diversity "
        f"{worst.plain:.2%})."
    )
    told = [pair for pair in kinds if pair.plain or pair.semantic]
    worse = [pair for pair in told if pair.semantic >= pair.plain]
    if graded(len(told) - len(worse), len(told)) != "contradicted":
        return Verdict("confirmed with differences", because)
    most_more = max(worse, key=lambda pair: pair.semantic)
    return Verdict(
        "contradicted",
        because,
        f"{most_more}: {most_more.semantic:.2%} of the groups give their kind away, under "
        f"l-diversity {most_more.plain:.2%}.",
    )


def judge_farther(rows: Rows) -> Verdict:
    """Judge the claim that what is lost beyond l-diversity is lost by suppressing rows."""
    kept, whole = (pairs(rows, field, "mbf") for field in ("full_kept", "full_all"))
    if not kept or _small(rows):
        return _UNTESTED
    over_kept, over_all = Tally.of(kept, EXACT), Tally.of(whole, EXACT)
    because = (
        f"Over kept rows (formula 6): {over_kept}. With 1 for each suppressed row: {over_all}."
    )
    if over_kept.more:
        against = max(kept, key=lambda pair: pair.ratio)
        return Verdict("contradicted", because, _instance(against, "mbf", "{:,.0f}"))
    everywhere = over_all.word == "confirmed"
    return Verdict("confirmed" if everywhere else "confirmed with differences", because)


def judge_orders(rows: Rows) -> Verdict:
    """Judge whether the order of values changes more than the principle does."""
    known = [row for row in rows if None not in row.values()]
    if not known or _small(rows):
        return _UNTESTED
    changes = {row["l"]: (_gain(row), _span(row)) for row in known}
    gains, spans = zip(*changes.values(), strict=True)
    because = (
        f"The principle adds {min(gains):.1%} to {max(gains):.1%} to the diversity of mbf. Another "
        f"order of values alone changes that of plain l-diversity by {min(spans):.1%} to "
        f"{max(spans):.1%}."
    )
    against = [ell for ell, (gain, span) in changes.items() if gain >= span]
    word = graded(len(changes) - len(against), len(changes))
    if word != "contradicted":
        return Verdict(word, because)
    gain, span = changes[against[0]]
    instance = f"l = {against[0]}: the principle adds {gain:.1%}, the order of values {span:.1%}."
    return Verdict("contradicted", because, instance)


def _gain(row: Row) -> float:
    """Return what the principle adds to the diversity of mbf."""
    return float(row["mbf_semantic"] / row["mbf"] - 1)


def _span(row: Row) -> float:
    """Return by how much the diversity of l-diverse groups changes with the order of values."""
    most = max(row["alphabetical"], row["random_most"])
    return float(most / min(row["alphabetical"], row["random_least"]) - 1)
