"""What the figures of an audit mean: findings about groups, in words.

High is what must not be published: a principle violated, somebody alone, a value certain, exactly
or nearly. Medium is what an adversary learns with a good chance. Low and info are good to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from wideberth.attacks import Identity, Measures
from wideberth.auditing.believing import Believed
from wideberth.findings import Finding
from wideberth.principles import DeltaLDiversity, EpsilonMAnonymity
from wideberth.results import CheckResult

#: From this chance on, a guess is too good to be published without a thought.
_LIKELY = 0.75


def judge_policy(checked: CheckResult) -> Iterator[Finding]:
    """Say which principles are violated."""
    for report in checked.principles:
        if not report.satisfied:
            on = f" on {report.shown}" if report.on else ""
            yield Finding(
                name="policy",
                severity="high",
                title=f"{report.principle}{on} is violated in "
                f"{many(report.violating_groups, 'group')}",
                meaning=f"{many(report.violating_rows, 'row')} do not have the protection that "
                "the policy asks for.",
                advice="Anonymize again with this policy, or ask `wideberth advise` what is "
                "possible.",
                figures={"groups": report.violating_groups, "rows": report.violating_rows},
            )


def judge_identity(identity: Identity, *, exact: bool) -> Iterator[Finding]:
    """Say who can be told from the others.

    Parameters
    ----------
    identity : Identity
        The risks.
    exact : bool
        Whether quasi-identifiers are published as they are, as anatomy does on purpose.
    """
    risk, mixed = identity.prosecutor, identity.covering
    hidden = mixed is not None and mixed.people == risk.people and not mixed.above[1]
    if identity.uniques and hidden:
        yield Finding(
            name="uniques",
            severity="medium",
            title=f"{people(identity.uniques)} of {risk.people:,} "
            f"{'is' if identity.uniques == 1 else 'are'} alone in their group",
            meaning="Other groups cover them, too, so their quasi-identifiers alone do not tell "
            "which row is theirs; whoever knows the group finds it.",
            advice="Make groups of k rows or more: k-anonymity with k = 5, say.",
            figures={"people": identity.uniques, "of": risk.people},
        )
    elif identity.uniques:
        yield Finding(
            name="uniques",
            severity="info" if exact else "high",
            title=f"{people(identity.uniques)} of {risk.people:,} "
            f"{'is' if identity.uniques == 1 else 'are'} alone with their quasi-identifiers",
            meaning="Whoever knows these of somebody in the table finds the one row."
            + (
                " That is what anatomy permits: the row does not tell the sensitive value."
                if exact
                else ""
            ),
            advice="None, if it is known who is in the table."
            if exact
            else "Make groups of k rows or more: k-anonymity with k = 5, say.",
            figures={"people": identity.uniques, "of": risk.people},
        )
    elif identity.smallest < 3 and not exact:
        yield Finding(
            name="small-groups",
            severity="medium",
            title=f"the smallest group has {many(identity.smallest, 'row')}",
            meaning="One of two people who know each other's row knows both.",
            advice="Make groups of at least 3 rows; 5 to 10 are usual.",
            figures={"smallest": identity.smallest, "above_half": risk.above[0.5]},
        )


def judge_attribute(
    name: str, known: Measures, covering: Measures | None, guards: Sequence[object] = ()
) -> Iterator[Finding]:
    """Say what is learnt of one sensitive attribute by whoever knows a victim's group.

    Parameters
    ----------
    name : str
        The attribute.
    known, covering : Measures
        What is learnt.
    guards : sequence of Principle
        The principles that guard it.
    """
    if known.certain.people:
        yield Finding(
            name="homogeneity",
            severity="high",
            title=f"{name} of {people(known.certain.people)} is certain: "
            f"{many(known.certain.groups, 'group')} with one value",
            meaning="Whoever knows that somebody is in such a group knows the value.",
            advice="Ask for diversity: distinct-l with l = 2 at the least, better frequency-l or "
            "entropy-l.",
            figures=known.certain.to_dict(),
        )
    elif known.guess.worst >= _LIKELY:
        yield Finding(
            name="likely-value",
            severity="medium",
            title=f"{name} of {people(known.guess.above[_LIKELY])} can be guessed with "
            f"{100 * _LIKELY:g} % or more",
            meaning="One value has most of the group.",
            advice="Ask for frequency-l: with l = 2, no value has more than half of a group.",
            figures=known.guess.to_dict(),
        )
    after_one = known.background.certain[1] if len(known.background.certain) > 1 else 0
    if after_one > known.certain.people:
        more = after_one - known.certain.people
        yield Finding(
            name="background-knowledge",
            severity="medium",
            title=f"{name} of {people(more)} is certain once a single value is ruled out",
            meaning="Their groups have two values. Who knows that one of them is out of the "
            "question knows the other.",
            advice="Ask for distinct-l with a larger l, one more than the values that somebody may "
            "rule out.",
            figures=known.background.to_dict()["needed"],
        )
    yield from _nearness(known, guards)
    yield from _kinds(name, known)
    yield from _farness(name, known)
    if covering is not None and covering.certain.people and not known.certain.people:
        yield Finding(
            name="homogeneity-covering",
            severity="high",
            title=f"{name} of {people(covering.certain.people)} is certain for whoever knows "
            "their quasi-identifiers",
            meaning="All groups that cover them have one value.",
            advice="Ask for diversity: distinct-l with l = 2 at the least.",
            figures=covering.certain.to_dict(),
        )


def judge_mixture(
    name: str, known: Measures, covering: Measures | None, guards: Sequence[object]
) -> Iterator[Finding]:
    """Say whether facing several groups tells more than the principle's bound for one."""
    if covering is None or covering.nearness is None or known.nearness is None:
        return
    worst = covering.nearness.risk.worst
    for guard in guards:
        bound: float | None = None
        if isinstance(guard, EpsilonMAnonymity):
            bound = guard.m
        elif isinstance(guard, DeltaLDiversity):
            bound = guard.l
        if bound is not None and known.nearness.risk.worst <= 1 / float(bound) < worst:
            yield Finding(
                name="mixture",
                severity="low",
                title=f"who knows the quasi-identifiers but not the group comes near {name} with "
                f"a chance of up to {100 * worst:.3g} %, above 1/{bound:g}",
                meaning="Published ranges overlap, so several groups may be a victim's. Together "
                "they can hold more values near one another than each alone; under epsilon-m up to "
                "2/m.",
                advice="Ask for delta-l with δ = ε and l = m, whose bound holds for any mixture, "
                "if `wideberth advise` finds it possible; else for a larger m.",
                figures={"worst": worst, "bound": float(Fraction(1) / Fraction(bound))},
            )


def judge_beliefs(believed: Sequence[Believed]) -> Iterator[Finding]:
    """Say of whom an adversary with priors becomes nearly certain."""
    certain = [one for one in believed if one.certain]
    if certain:
        worst = max(certain, key=lambda one: one.worst)
        yield Finding(
            name="positive-disclosure",
            severity="medium",
            title=f"with the given priors, {worst.on} of people in {many(worst.certain, 'group')} "
            f"is believed with up to {100 * worst.worst:.3g} %",
            meaning="What is believed of such people beforehand rules out the other values of "
            "their groups.",
            advice="Ask for a larger l, so that more values must be ruled out.",
            figures={"worst": worst.worst, "prior": worst.prior, "groups": worst.certain},
        )


def _nearness(known: Measures, guards: Sequence[object]) -> Iterator[Finding]:
    """Proximity: nearly the value is learnt, though not the value."""
    near = known.to_dict()["nearness"]
    if near is None:
        return
    # Of whom the value itself is known, that it is nearly known is no news.
    news = known.certain.people
    claims = [c for c in near["claims"] if c["people"] > news and c["confidence"] >= _LIKELY]
    if not claims:
        return
    surest = max(claims, key=lambda claim: claim["confidence"])
    # What is near was said by somebody, or else it is a guess of ours.
    grave = surest["confidence"] >= 1 and near["chosen"] != "audit"
    around = next((g for g in guards if isinstance(g, EpsilonMAnonymity)), None)
    kept = around is not None and known.nearness is not None
    kept = kept and known.nearness.risk.worst <= 1 / around.m  # type: ignore[union-attr]
    yield Finding(
        name="proximity",
        severity="high" if grave and not kept else "medium",
        title=surest["text"],
        meaning="Their groups' values differ, yet lie so close together that it hardly matters."
        + (
            " epsilon-m holds, but it is about intervals around people's own values; one that "
            "lies between them can hold more."
            if kept
            else ""
        ),
        advice="Ask for delta-l with δ = ε: its bound is on any interval."
        if kept
        else "Ask for epsilon-m or delta-l; `wideberth advise` tells which ε and m are possible.",
        figures={
            "people": surest["people"],
            "confidence": surest["confidence"],
            "epsilon_chosen_by": near["chosen"],
        },
    )


def _kinds(name: str, known: Measures) -> Iterator[Finding]:
    kinds = known.kinds
    for level in () if kinds is None else reversed(kinds.levels):
        more = level.certain_people - known.certain.people
        if more > 0:
            yield Finding(
                name="similarity",
                severity="medium",
                title=f"what kind of {name} {people(more)} {'has' if more == 1 else 'have'} is "
                f"certain, at level {level.level} of its tree",
                meaning="The values of their groups differ, but are all of one kind.",
                advice="Ask for l-e: any two values of a group are then farther than e apart.",
                figures={"level": level.level, "people": more},
            )
            return


def _farness(name: str, known: Measures) -> Iterator[Finding]:
    risk = known.dissimilarity
    if risk is None or risk.worst < _LIKELY:
        return
    above = risk.above[_LIKELY]
    yield Finding(
        name="dissimilarity",
        severity="medium",
        title=f"{people(above)} {'has' if above == 1 else 'have'} a {name} near that of "
        f"{100 * _LIKELY:g} % or more of their group",
        meaning="To claim a value near the group's is then right for most of its people.",
        advice="Ask for dissimilarity; `wideberth advise --distance` tells which ε, δ and k are "
        "possible.",
        figures=risk.to_dict(),
    )


def people(number: int) -> str:
    """Write a number of people.

    >>> people(1), people(1200)
    ('1 person', '1,200 people')
    """
    return "1 person" if number == 1 else f"{number:,} people"


def many(number: int, noun: str) -> str:
    """Write a number of things."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
