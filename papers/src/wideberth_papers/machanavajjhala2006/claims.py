"""What the figures of the study of l-diversity say about the paper's claims."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import geometric_mean

from wideberth_papers.machanavajjhala2006.measuring import TIMED_FROM
from wideberth_papers.study import Row, Rows, Verdict, graded

#: The principles of Figure 7, as figures call them.
ANONYMITY, ENTROPY, RECURSIVE = "k-anonymity", "entropy l-diversity", "recursive (3,l)-diversity"
FORMS = (ANONYMITY, ENTROPY, RECURSIVE)
#: Those whose searches are timed.
SIX = ("6-anonymity", "entropy 6-diversity")

#: What the paper finds on the back of an envelope: groups, those that are alike, people in them.
PRINTED = {"groups": 12_000, "alike": 148, "revealed": 740}
#: "About" is our word for: within this share.
ABOUT = 0.05
#: "Similar" and "comparable" sizes and costs are our words for: within this factor.
SIMILAR = 2.0
#: Times that are about as long, on average, and those that are still no contradiction. A single
#: time that is less than the first factor of another may be so by chance.
AS_LONG, LONGER = 1.5, 3.0
#: Rows of the paper's table. One of less than half of them refutes nothing, and one of fewer than
#: the second number tells nothing.
ADULTS, FEWEST = 45_222, 500
#: The diversity of the ninth table: recursive (6,2)-diverse, and not (5,2)-diverse.
NINTH = (5, 6)
#: Average size of groups that the paper calls very large.
LARGE = 1_000
_NOTHING = Verdict("not tested here", "The table is too small.")


def judge_envelope(rows: Rows) -> Verdict:
    """Judge the expected number of groups that are alike: by chance, and in releases."""
    told, drawn, split = (
        next(row for row in rows if row["way"] == way)
        for way in ("calculated", "drawn at random", "split by anonymize")
    )
    because = (
        f"{told['rows']:,} rows in {told['groups']:,} groups: {told['alike']:.1f} without "
        f"diversity are expected, with a spread of {told['spread']:.1f}, and "
        f"{told['revealed']:.0f} people; drawn {drawn['runs']:,} times, there are "
        f"{drawn['alike']:.1f} on average. Releases by anonymize have {split['groups']:,.0f} "
        f"groups, of which {split['alike']:.1f} have no diversity ({split['expected']:.1f} are "
        f"expected of their sizes), with {split['revealed']:.0f} people."
    )
    for name, printed in PRINTED.items():
        if not _about(told[name], printed):
            against = f"{told[name]:,.1f} ({name}) by calculation, not {printed:,}."
            return Verdict("contradicted", because, against)
    if abs(drawn["alike"] - told["alike"]) > 4 * told["spread"] / drawn["runs"] ** 0.5:
        against = f"{drawn['alike']:.1f} drawn, not {told['alike']:.1f}."
        return Verdict("contradicted", because, against)
    groups, alike = split["groups"], split["expected"]  # of these sizes: less is left to chance
    if _about(groups, PRINTED["groups"]) and _about(alike, PRINTED["alike"]):
        return Verdict("confirmed", because)
    return Verdict("confirmed with differences", f"{because} Larger groups are alike less often.")


def _about(value: float, printed: float) -> bool:
    return abs(value / printed - 1) <= ABOUT


def judge_adults(rows: Rows) -> Verdict:
    """Judge how many 6-anonymous tables reveal an occupation, and a class of income."""
    work, pay = (
        [row for row in rows if row["sensitive"] == name and row["groups"] is not None]
        for name in ("occupation", "income")
    )
    if not work or not pay or rows[0]["rows"] < FEWEST:
        return _NOTHING
    because = (
        f"Occupation: {_vulnerable(work)} (the paper: 1 of 12). Income: {_vulnerable(pay)} (the "
        "paper: 8 of 9)."
    )
    safe = [row for row in pay if not row["alike"]]
    least = min((float(row["c"]) for row in safe), default=None)
    if least is not None:
        because += (
            f" Of the tables that reveal no income, the most diverse is recursive (c,2)-diverse "
            f"for c above {least:.1f} (the paper: 6)."
        )
    by_work, by_pay = (sum(row["alike"] > 0 for row in some) for some in (work, pay))
    if 2 * by_pay <= len(pay):
        if rows[0]["rows"] < ADULTS // 2:
            return Verdict("not tested here", f"{because} The paper's table is larger.")
        return Verdict("contradicted", because, _levels("No income is revealed by", safe[0]))
    if 2 * by_work >= len(work):
        worst = max(work, key=lambda row: int(row["revealed"]))
        return Verdict("contradicted", because, _levels("Occupations are revealed by", worst))
    counted = (by_work, len(work), by_pay, len(pay)) == (1, 12, 8, 9)
    ninth = least is not None and NINTH[0] <= least < NINTH[1]
    return Verdict("confirmed" if counted and ninth else "confirmed with differences", because)


def judge_orders(rows: Rows) -> Verdict:
    """Tell what 3-anonymous tables of made-up orders reveal; of real ones that says nothing."""
    known = [row for row in rows if row["groups"] is not None]
    if not known:
        return _NOTHING
    open_ = [row for row in known if row["alike"]]
    large = sum(row["size_alike"] > 100 and row["revealed"] > 1_000 for row in open_)
    return Verdict(
        "not tested here",
        f"The real table is not public. Of a made-up one, {_vulnerable(known)}; {large} reveal "
        "more than 1,000 costs, in groups of more than 100 rows on average. How often costs are "
        "the same in it is our own assumption.",
    )


def _vulnerable(rows: Rows) -> str:
    open_ = [row for row in rows if row["alike"]]
    said = f"{len(open_)} of {len(rows)} minimal tables have groups without diversity"
    if open_:
        most = max(open_, key=lambda row: int(row["revealed"]))
        said += (
            f" and reveal the values of up to {most['revealed']:,} of {most['rows']:,} rows, in "
            f"{most['alike']:,} group{'s' * (most['alike'] > 1)} ({most['levels']})"
        )
    return said


def _levels(said: str, row: Row) -> str:
    return f"{said} the table with levels {row['levels']}."


def judge_times(rows: Rows) -> Verdict:
    """Judge whether the searches for entropy 6-diverse and for 6-anonymous tables take alike."""
    found: dict[int, dict[str, Row]] = {}
    for row in rows:
        if row["checked"] is not None:
            found.setdefault(row["quasi"], {})[row["principle"]] = row
    pairs = {many: [by[name] for name in SIX] for many, by in found.items() if len(by) == len(SIX)}
    if not pairs:
        return _NOTHING
    ratios = {
        many: diverse["seconds"] / plain["seconds"] for many, (plain, diverse) in pairs.items()
    }
    fewer = [
        many for many, (plain, diverse) in pairs.items() if diverse["checked"] < plain["checked"]
    ]
    faster = [many for many in fewer if ratios[many] <= 1 / AS_LONG]
    mean = geometric_mean(ratios.values())
    because = (
        f"l-diversity takes {mean:.2f} times as long as k-anonymity on average, "
        f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f} times. Numbers of "
        f"quasi-identifiers with which it checks fewer tables: {_listed(fewer)}; where it also "
        f"takes less, by a third or more: {_listed(faster)}."
    )
    if rows[0]["rows"] < TIMED_FROM:
        return Verdict("not tested here", f"{because} Such times are too short to be compared.")
    if not 1 / LONGER <= mean <= LONGER:
        worst = max(ratios, key=lambda many: max(ratios[many], 1 / ratios[many]))
        against = f"With {worst} quasi-identifiers {ratios[worst]:.2f} times as long."
        return Verdict("contradicted", because, against)
    as_said = 1 / AS_LONG <= mean <= AS_LONG and faster
    return Verdict("confirmed" if as_said else "confirmed with differences", because)


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def judge_heights(rows: Rows) -> Verdict:
    """Judge whether diversity takes at most one more step of generalization."""
    heights = _by_form(rows, "height")
    more = {
        (form, at): heights[form][at] - plain
        for at, plain in heights[ANONYMITY].items()
        for form in (ENTROPY, RECURSIVE)
        if at in heights[form]
    }
    if not more or rows[0]["rows"] < FEWEST:
        return _NOTHING
    most = max(more, key=lambda key: more[key])
    same = sum(steps == 0 for steps in more.values())
    because = (
        f"The same height in {same} of {len(more)} cases, at most {more[most]:g} more "
        f"({most[0]}, l = {most[1]})."
    )
    word = graded(sum(steps <= 1 for steps in more.values()), len(more))
    if word != "contradicted":
        return Verdict(word, because)
    form, at = most
    against = f"k = l = {at}: {heights[ANONYMITY][at]:g} and, for {form}, {heights[form][at]:g}."
    return Verdict("contradicted", because, against)


def judge_sizes(rows: Rows) -> Verdict:
    """Judge whether diversity is often as useful, and recursive more useful than entropy."""
    sizes = _by_form(rows, "average_size")
    both = [at for at in sizes[ENTROPY] if at in sizes[RECURSIVE]]
    if not both:
        return _NOTHING
    costs = _ratios(sizes)
    near = sum(ratio <= SIMILAR for ratio in costs.values())
    dearer = sum(ratio > 1 for ratio in costs.values())
    smaller = [at for at in both if sizes[RECURSIVE][at] < sizes[ENTROPY][at]]
    larger = [at for at in both if sizes[RECURSIVE][at] > sizes[ENTROPY][at]]
    because = (
        f"Groups are at most {SIMILAR:g} times as large as with k-anonymity in {near} of "
        f"{len(costs)} cases, and larger in {dearer}. Recursive diversity has smaller groups than "
        f"entropy diversity for these l: {_listed(smaller)}; larger ones for these: "
        f"{_listed(larger)}."
    )
    # Often is half of the cases or more; of recursive and entropy, those that differ count.
    if "contradicted" in (
        graded(near, len(costs)),
        graded(len(smaller), len(smaller) + len(larger)),
    ):
        at = larger[0] if len(larger) > len(smaller) else max(costs, key=lambda key: costs[key])[1]
        said = ", ".join(f"{form} {sizes[form][at]:,.0f}" for form in FORMS if at in sizes[form])
        return Verdict("contradicted", because, f"At {at}: {said}.")
    as_said = dearer and graded(len(smaller), len(both)) == "confirmed"
    return Verdict("confirmed" if as_said else "confirmed with differences", because)


def judge_discernibility(rows: Rows) -> Verdict:
    """Judge whether both forms of diversity have similar costs, often near k-anonymity's."""
    costs = _by_form(rows, "discernibility")
    ratios = {
        at: cost / costs[RECURSIVE][at]
        for at, cost in costs[ENTROPY].items()
        if at in costs[RECURSIVE]
    }
    if not ratios:
        return _NOTHING
    dearer = _ratios(costs)
    near = sum(ratio <= SIMILAR for ratio in dearer.values())
    because = (
        f"Entropy diversity costs {min(ratios.values()):.2f} to {max(ratios.values()):.2f} times "
        f"what recursive diversity costs; either costs at most {SIMILAR:g} times what k-anonymity "
        f"does in {near} of {len(dearer)} cases."
    )
    word = graded(sum(1 / SIMILAR <= r <= SIMILAR for r in ratios.values()), len(ratios))
    if word == "confirmed" and graded(near, len(dearer)) == "contradicted":
        word = "confirmed with differences"
    if word != "contradicted":
        return Verdict(word, because)
    at = max(ratios, key=lambda ell: max(ratios[ell], 1 / ratios[ell]))
    against = f"l = {at}: {costs[ENTROPY][at]:,.0f} and {costs[RECURSIVE][at]:,.0f}."
    return Verdict("contradicted", because, against)


def judge_large(rows: Rows) -> Verdict:
    """Judge whether minimal tables may have very large groups."""
    known = [row for row in rows if row["groups"] is not None]
    if not known:
        return _NOTHING
    largest = max(known, key=lambda row: float(row["average_size"]))
    many = sum(row["average_size"] > LARGE for row in known)
    because = (
        f"Groups have more than {LARGE:,} rows on average in {many} of {len(known)} minimal "
        f"4-anonymous tables, at most {largest['average_size']:,.0f} of {largest['rows']:,} "
        f"({largest['levels']})."
    )
    if many:
        return Verdict("confirmed", because)
    if largest["rows"] < ADULTS // 2:
        return Verdict("not tested here", f"{because} The paper's table is larger.")
    return Verdict("contradicted", because, _levels("The largest groups on average has", largest))


def _ratios(by_form: Mapping[str, Mapping[int, float]]) -> dict[tuple[str, int], float]:
    """Return how much more diversity has than k-anonymity, by form and k or l."""
    return {
        (form, at): by_form[form][at] / plain
        for at, plain in by_form[ANONYMITY].items()
        for form in (ENTROPY, RECURSIVE)
        if at in by_form[form]
    }


def _by_form(rows: Rows, field: str) -> dict[str, dict[int, float]]:
    """Return a column by principle and its k or l, where there is something."""
    found: dict[str, dict[int, float]] = {form: {} for form in FORMS}
    for row in rows:
        if row[field] is not None:
            found[row["principle"]][row["at"]] = row[field]
    return found
