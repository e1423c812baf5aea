"""The figures of the study of l-diversity: which rows they show, how, and what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from wideberth_papers import plotting
from wideberth_papers.machanavajjhala2006.claims import (
    FORMS,
    SIX,
    judge_adults,
    judge_discernibility,
    judge_envelope,
    judge_heights,
    judge_large,
    judge_orders,
    judge_sizes,
    judge_times,
)
from wideberth_papers.plotting import Axis
from wideberth_papers.study import Figure, Rows, Spec, chosen

#: What is measured: on the whole table, and on samples of it.
WHOLE, SAMPLE = "all rows", "5 % of the rows"
SAMPLES = 10


def _envelope(rows: Rows) -> Rows:
    columns = ("rows", "way", "runs", "groups", "expected", "alike", "spread", "revealed")
    return chosen(rows, columns, measured="envelope")


def _attacks(table: str) -> Callable[[Rows], Rows]:
    columns = ("table", "rows", "sensitive", "number", "levels", "groups", "alike", "revealed",
               "size_alike", "entropy_l", "c")  # fmt: skip

    def select(rows: Rows) -> Rows:
        found = chosen(rows, columns, measured="attack", table=table)
        return [
            {**row, "share": None if row["groups"] is None else row["revealed"] / row["rows"]}
            for row in found
        ]

    return select


def _times(table: str) -> Callable[[Rows], Rows]:
    columns = ("rows", "quasi", "principle", "seconds", "nodes", "checked", "minimal")
    return lambda rows: chosen(rows, columns, measured="time", table=table)


def _whole(rows: Rows) -> Rows:
    return chosen(rows, ("principle", "at", "rows", "height"), measured="utility", of=WHOLE)


def _samples(field: str) -> Callable[[Rows], Rows]:
    """Return means over the samples; nothing where a sample has no such table."""

    def select(rows: Rows) -> Rows:
        found: dict[tuple[str, int], Rows] = {}
        for row in chosen(rows, ("principle", "at", "rows", field), measured="utility", of=SAMPLE):
            found.setdefault((row["principle"], row["at"]), []).append(row)
        ordered = sorted(found.items(), key=lambda one: (FORMS.index(one[0][0]), one[0][1]))
        return [
            {
                "principle": form,
                "at": at,
                "samples": len(some),
                "rows": fmean(row["rows"] for row in some),
                field: _mean([row[field] for row in some]),
            }
            for (form, at), some in ordered
        ]

    return select


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def _large(rows: Rows) -> Rows:
    return chosen(rows, ("rows", "levels", "groups", "average_size"), measured="large")


# ---- pictures


def _draw_attacks(rows: Rows) -> Spec:
    return plotting.bars(
        rows,
        "number",
        Axis("share", "share of rows revealed", ".2~%"),
        "sensitive",
        order=list(dict.fromkeys(row["sensitive"] for row in rows)),
        title_x="minimal table",
    )


def _draw_times(rows: Rows) -> Spec:
    many = sorted({row["quasi"] for row in rows})
    return plotting.lines(
        rows,
        Axis("quasi", "quasi-identifiers", "d", ticks=many),
        Axis("seconds", "CPU seconds", "~g"),
        "principle",
        order=SIX,
    )


def _draw_use(field: str, title: str) -> Callable[[Rows], Spec]:
    def draw(rows: Rows) -> Spec:
        return plotting.bars(
            rows, "at", Axis(field, title), "principle", order=FORMS, title_x="k, l"
        )

    return draw


# ---- figures

_TREES = (
    "The paper prints how high its hierarchies are, not what is in them: ours have these heights."
)
_MADE_UP = (
    "The real table is not public. Ours is made up and has the printed numbers of values; that "
    "three of five styles always cost the same is our own assumption. Dates climb to months and "
    "quarters."
)
_SEARCH = (
    "The paper's Incognito, in Java on a database, is replaced by our own search, which returns "
    "the minimal tables, below which no table satisfies and above which all do. Time is CPU time "
    "of the whole call of lattice, the best of three after one that is not counted; of one if it "
    "takes longer than a second. 'About as long' means within a factor of 1.5 on average, up to 3 "
    "with differences; 'less' means by a third or more, since smaller differences may be chance. "
    "How many tables are checked does not depend on chance."
)
_SAMPLED = (
    f"Means over {SAMPLES} samples of 5 %; the paper has one. Occupation is sensitive. "
    "'Comparable' and 'similar' mean at most twice as much."
)

FIGURES = (
    Figure(
        name="back-of-the-envelope",
        title="Section 1: groups that are alike by chance",
        claim="Of 60,000 rows with 3 values, not correlated with anything, 5-anonymity makes about "
        "12,000 groups; about 148 of them have a single value, which reveals that of 740 people.",
        select=_envelope,
        judge=judge_envelope,
        note="Calculated, drawn at random in groups of exactly 5, and from releases of anonymize, "
        "whose groups have 5 rows or a few more; 'expected' is what their sizes let expect. "
        "'About' means within 5 %.",
    ),
    Figure(
        name="homogeneity-adult",
        title="Section 6: homogeneity attack on Adult",
        claim="With 5 quasi-identifiers, one of 12 minimal 6-anonymous tables reveals occupations; "
        "8 of 9 reveal classes of income, and the ninth is but recursive (6,2)-diverse.",
        select=_attacks("Adult"),
        judge=judge_adults,
        draw=_draw_attacks,
        note=f"{_TREES} Which tables are 6-anonymous does not depend on what is sensitive, so both "
        "counts of minimal tables must be the same for one table; the paper's, 12 and 9, cannot be "
        "of the same rows and hierarchies.",
    ),
    Figure(
        name="homogeneity-lands-end",
        title="Section 6: homogeneity attack on Lands End",
        claim="With 5 quasi-identifiers, two of 3 minimal 3-anonymous tables reveal the costs of "
        "more than 1,000 orders, in groups of more than 100 rows on average; the third is entropy "
        "1.61-diverse.",
        select=_attacks("Lands End"),
        judge=judge_orders,
        note=f"{_MADE_UP} So the figure shows the attack, and tells nothing of the real table.",
    ),
    Figure(
        name="figure-5",
        title="Figure 5: time on Adult",
        claim="To find all entropy 6-diverse tables takes about as long as to find all 6-anonymous "
        "ones, and sometimes less, where more of the lattice is pruned.",
        select=_times("Adult"),
        judge=judge_times,
        draw=_draw_times,
        note=_SEARCH,
    ),
    Figure(
        name="figure-6",
        title="Figure 6: time on Lands End",
        claim="As on Adult: about as long, and sometimes less, where more of the lattice is "
        "pruned.",
        select=_times("Lands End"),
        judge=judge_times,
        draw=_draw_times,
        note=f"{_SEARCH} {_MADE_UP} There are 7 quasi-identifiers: the eighth column is sensitive.",
    ),
    Figure(
        name="figure-7a",
        title="Figure 7, left: height of generalization",
        claim="To be l-diverse, a table needs the same number of steps of generalization as to be "
        "k-anonymous for k = l, or one more.",
        select=_whole,
        judge=judge_heights,
        draw=_draw_use("height", "least height"),
        note=f"{_TREES} Occupation is sensitive.",
    ),
    Figure(
        name="figure-7b",
        title="Figure 7, middle: average size of groups",
        claim="The best k-anonymous and l-diverse tables of a sample are often comparable, in some "
        "cases diversity costs more; recursive (3,l)-diversity permits smaller groups than entropy "
        "l-diversity.",
        select=_samples("average_size"),
        judge=judge_sizes,
        draw=_draw_use("average_size", "least average size of groups"),
        note=_SAMPLED,
    ),
    Figure(
        name="figure-7c",
        title="Figure 7, right: discernibility",
        claim="Both forms of l-diversity have similar discernibility, often comparable to that of "
        "k-anonymity.",
        select=_samples("discernibility"),
        judge=judge_discernibility,
        draw=_draw_use("discernibility", "least discernibility"),
        note=_SAMPLED,
    ),
    Figure(
        name="large-groups",
        title="Section 6: minimal tables with large groups",
        claim="A minimal 4-anonymous table of Adult with 5 quasi-identifiers may have groups of "
        "more than 1,000 rows on average.",
        select=_large,
        judge=judge_large,
        note=_TREES,
    ),
)
