"""What the figures of an audit mean: findings about groups, in words.

High is what must not be published: a principle violated, somebody alone, a value certain, exactly
or nearly. Medium is what an adversary learns with a good chance. Low and info are good to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wideberth.attacks import Identity, Measures
from wideberth.auditing.believing import Believed
from wideberth.findings import Finding
from wideberth.principles import DeltaLDiversity, EpsilonMAnonymity, Principle
from wideberth.results import CheckResult
from wideberth.showing.wording import as_risk, counted, people

#: From this chance on, a guess is too good to be published without a thought.
_LIKELY, _EVEN = 0.75, 0.5
_ROUNDING = 1e-9
_LARGER = "Make groups of k rows or more: k-anonymity with k = 5, say."
_DIVERSITY = (
    "Ask for diversity: distinct-l with l = 2 at the least, better frequency-l or entropy-l."
)


def judge_policy(checked: CheckResult) -> Iterator[Finding]:
    """Say which principles are violated."""
    for report in checked.principles:
        if not report.satisfied:
            on = f" on {report.shown}" if report.on else ""
            yield Finding(
                name="policy",
                severity="high",
                title=f"{report.principle}{on} is violated in "
                f"{counted(report.violating_groups, 'group')}",
                meaning=f"{counted(report.violating_rows, 'row')} do not have the protection that "
                "the policy asks for.",
                advice="Anonymize again with this policy, or ask `wideberth advise` what is "
                "possible.",
                figures={"groups": report.violating_groups, "rows": report.violating_rows},
            )


def judge_columns(unlisted: Sequence[str]) -> Iterator[Finding]:
    """Say which columns are published that the policy does not know."""
    for column in unlisted:
        yield Finding(
            name="unlisted-column",
            severity="medium",
            title=f"column '{column}' is published, but the policy does not know it",
            meaning="Nobody has decided what it does to privacy. It was taken for insensitive.",
            advice="Drop it, or give it a role in the policy.",
            figures={"column": column},
        )


def judge_identity(identity: Identity, *, exact: bool, sampled: bool) -> Iterator[Finding]:
    """Say who can be told from the others.

    Parameters
    ----------
    identity : Identity
        The risks.
    exact : bool
        Whether quasi-identifiers are published as they are, as anatomy does on purpose.
    sampled : bool
        Whether only some people were looked at to see which groups cover them.
    """
    of, mixed = identity.prosecutor.people, identity.covering
    alone = identity.uniques if mixed is None else mixed.above[1.0]
    if alone:
        yield Finding(
            name="uniques",
            severity="info" if exact else "high",
            title=f"{_at_least(sampled)}{people(alone)} of {of:,} {_are(alone)} alone with their "
            "quasi-identifiers",
            meaning="Whoever knows these of somebody in the table finds the one row."
            + (
                " That is what anatomy permits: the row does not tell the sensitive value."
                if exact
                else ""
            ),
            advice="Nothing, unless it is a secret who is in the table." if exact else _LARGER,
            figures={"people": alone, "of": of},
        )
    if identity.uniques > alone:
        yield Finding(
            name="alone-in-group",
            severity="medium",
            title=f"{people(identity.uniques)} of {of:,} {_are(identity.uniques)} alone in their "
            "group",
            meaning="Whoever knows the group finds the row. Who knows the quasi-identifiers only "
            "does not always: other groups may cover these people, too.",
            advice=_LARGER,
            figures={"people": identity.uniques, "of": of},
        )
    elif identity.smallest == 2 and not exact:
        yield Finding(
            name="small-groups",
            severity="medium",
            title="the smallest group has 2 rows",
            meaning="Each of the two people, who know their own row, know the other's.",
            advice="Make groups of at least 3 rows; 5 to 10 are usual.",
            figures={"smallest": 2, "above_half": identity.prosecutor.above[0.5]},
        )


def judge_attribute(name: str, known: Measures, guards: Sequence[Principle]) -> Iterator[Finding]:
    """Say what is learnt of one sensitive attribute by whoever knows a victim's group.

    Parameters
    ----------
    name : str
        The attribute.
    known : Measures
        What is learnt.
    guards : sequence of Principle
        The principles that guard it, and hold.
    """
    certain = known.certain.people
    if certain:
        yield Finding(
            name="homogeneity",
            severity="high",
            title=f"{name} of {people(certain)} is certain: "
            f"{counted(known.certain.groups, 'group')} with one value",
            meaning="Whoever knows that somebody is in such a group knows the value.",
            advice=_DIVERSITY,
            figures=known.certain.to_dict(),
        )
    if (likely := known.guess.above[_LIKELY] - certain) > 0:
        yield Finding(
            name="likely-value",
            severity="medium",
            title=f"{name} of {people(likely)} can be guessed with {100 * _LIKELY:g} % or more",
            meaning="One value has most of the group, and it is theirs.",
            advice="Ask for frequency-l: with l = 2, no value has more than half of a group.",
            figures=known.guess.to_dict(),
        )
    if (more := known.background.certain[1] - certain) > 0:
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


def judge_mixture(
    name: str,
    known: Measures,
    covering: Measures | None,
    guards: Sequence[Principle],
    *,
    sampled: bool,
) -> Iterator[Finding]:
    """Say what more is learnt of it by whoever does not know the group, and so faces several.

    Parameters
    ----------
    name : str
        The attribute.
    known, covering : Measures
        What is learnt with the group known, and without.
    guards : sequence of Principle
        The principles that guard it, and hold.
    sampled : bool
        Whether only some people were looked at.
    """
    if covering is None:
        return
    if covering.certain.people and not known.certain.people:
        yield Finding(
            name="homogeneity-covering",
            severity="high",
            title=f"{name} of {_at_least(sampled)}{people(covering.certain.people)} is certain for "
            "whoever knows their quasi-identifiers",
            meaning="All groups that cover them have one value.",
            advice=_DIVERSITY,
            figures=covering.certain.to_dict(),
        )
    if covering.nearness is None or known.nearness is None:
        return
    worst, alone = covering.nearness.risk.worst, known.nearness.risk.worst
    bounds = [
        1 / float(guard.m if isinstance(guard, EpsilonMAnonymity) else guard.l)
        for guard in guards
        if isinstance(guard, EpsilonMAnonymity | DeltaLDiversity)
    ]
    promised = bounds and known.attacks.chosen == "policy"
    if worst > (min(bounds) if promised else max(alone, _EVEN)) + _ROUNDING:
        than = "the policy promises" if promised else "who knows the group"
        chance = f"{as_risk(worst)} or more" if sampled else f"up to {as_risk(worst)}"
        yield Finding(
            name="mixture",
            severity="low" if promised else "medium",
            title=f"who knows the quasi-identifiers but not the group comes near {name} with a "
            f"chance of {chance}, more than {than}",
            meaning="Published ranges overlap, so several groups may be a victim's. Together they "
            "can hold more values near one another than each alone; under epsilon-m up to 2/m.",
            advice="Ask for delta-l with δ = ε and l = m, whose bound holds for any mixture, if "
            "`wideberth advise` finds it possible; else for a larger m.",
            figures={"worst": worst, "group_known": alone},
        )


def judge_beliefs(believed: Sequence[Believed]) -> Iterator[Finding]:
    """Say of whom an adversary with priors becomes nearly certain."""
    certain = [one for one in believed if one.certain]
    if certain:
        worst = max(certain, key=lambda one: one.worst)
        yield Finding(
            name="positive-disclosure",
            severity="medium",
            title=f"with the given priors, {worst.on} of people in "
            f"{counted(worst.certain, 'group')} is believed with up to {as_risk(worst.worst)}",
            meaning="What is believed of such people beforehand rules out the other values of "
            "their groups.",
            advice="Ask for a larger l, so that more values must be ruled out.",
            figures={"worst": worst.worst, "prior": worst.prior, "groups": worst.certain},
        )


def _nearness(known: Measures, guards: Sequence[Principle]) -> Iterator[Finding]:
    """Proximity: nearly the value is learnt, though not the value."""
    reach, near = known.attacks.neighbourhoods, known.to_dict()["nearness"]
    if reach is None or near is None:
        return
    # Of whom the value itself is known, that it is nearly known is no news; nor is what holds of
    # the whole table.
    told, everywhere = known.certain.people, reach.fullest_of_all()
    kept = any(isinstance(guard, EpsilonMAnonymity) for guard in guards)
    for claim in sorted(near["claims"], key=lambda claim: -claim["confidence"]):
        confidence = claim["confidence"]
        if claim["people"] <= told or confidence < _LIKELY or everywhere >= confidence:
            continue
        told = claim["people"]
        # What is near was said by somebody, or else it is a guess of ours.
        grave = confidence >= 1 and near["chosen"] != "audit" and not kept
        yield Finding(
            name="proximity",
            severity="high" if grave else "medium",
            title=claim["text"],
            meaning="Their groups' values differ, yet lie so close together that it hardly "
            "matters."
            + (
                " epsilon-m holds, but it is about intervals around people's own values; one that "
                "lies between them can hold more."
                if kept
                else ""
            ),
            advice="Ask for delta-l with δ = ε: its bound is on any interval."
            if kept
            else "Ask for epsilon-m or delta-l; `wideberth advise` tells which ε and m are "
            "possible.",
            figures={
                "people": told,
                "confidence": confidence,
                "epsilon_chosen_by": near["chosen"],
            },
        )


def _kinds(name: str, known: Measures) -> Iterator[Finding]:
    """Similarity: the kind of a value is learnt, from the finest kinds to the broadest."""
    told = known.certain.people
    for level in () if known.kinds is None else reversed(known.kinds.levels):
        if level.certain_people > told:
            told = level.certain_people
            yield Finding(
                name="similarity",
                severity="medium",
                title=f"what kind of {name} {people(told)} {'has' if told == 1 else 'have'} is "
                f"certain, at level {level.level} of its tree",
                meaning="The values of their groups differ, but are all of one kind.",
                advice="Ask for l-e: any two values of a group are then farther than e apart.",
                figures={"level": level.level, "people": told},
            )


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


def _at_least(sampled: bool) -> str:
    return "at least " if sampled else ""


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
