"""What the figures of an audit mean: findings about groups, in words.

High is what must not be published: a principle violated, somebody alone, a value certain, exactly
or nearly. Medium is what an adversary learns with a good chance. Low and info are good to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from wideberth.checks.result import CheckResult
from wideberth.core.groups import Uneven
from wideberth.core.text import as_risk, counted, join_names, people
from wideberth.errors import what_to_type
from wideberth.policy.people import People
from wideberth.principles import remedies
from wideberth.risk.attacks import AttackResults, IdentityRisk
from wideberth.risk.counsel import RemedyAdvice
from wideberth.risk.findings import UNPROTECTED, Finding
from wideberth.risk.priors import BeliefResult

#: From this chance on, a guess is too good to be published without a thought.
_LIKELY, _EVEN = 0.75, 0.5
_ROUNDING = 1e-9
_NOBODY = "Leave out quasi-identifiers, or do not publish the table: it hides nobody."
_HARMLESS = (
    "No larger groups of this table help: {why}. If the value harms nobody, declare it harmless "
    "(the parameter `allowed` of the principle); else leave the column out, or put broader values "
    "in the place of its values, and anonymize again."
)
_BROADER = (
    "Leave the column out, or put broader values in the place of its values, and anonymize again."
)


def judge_policy(checked: CheckResult, counsels: Sequence[RemedyAdvice]) -> Iterator[Finding]:
    """Yield a finding for each violated principle."""
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
                advice=next(
                    (
                        one.about(report.principle)
                        for one in counsels
                        if report.principle in one.asked
                    ),
                    "Anonymize again with this policy.",
                ),
                figures={"groups": report.violating_groups, "rows": report.violating_rows},
            )


def judge_protection(bare: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding if no principle of the policy is on some sensitive columns."""
    if bare:
        names = join_names([f"'{column}'" for column in bare])
        them = "it" if len(bare) == 1 else "each of them"
        yield Finding(
            name=UNPROTECTED,
            severity="medium",
            title=f"no principle protects {names}",
            meaning="The policy bounds the size of groups or the values of other columns. All rows "
            "of a group may have one value here: if they do not in this release, that is chance.",
            advice=f"Add a principle on {them}; `wideberth advise` says which are possible.",
            figures={"columns": list(bare)},
        )


def judge_groups(uneven: Uneven | None) -> Iterator[Finding]:
    """Yield a finding if rows of a group are published with different quasi-identifiers."""
    if uneven is not None:
        yield Finding(
            name="uneven-groups",
            severity="high",
            title=str(uneven),
            meaning="Rows of a group are told apart by whoever knows these quasi-identifiers, so "
            "the group hides nobody, and what is said of groups here is not true of these.",
            advice="Publish the same label in all rows of a group; or leave the group ids out, and "
            "let the quasi-identifiers make the groups.",
            figures=uneven.to_dict(),
        )


def judge_foreign_values(name: str, foreign: int, of: int) -> Iterator[Finding]:
    """Yield a finding if people of the original lack their own value in their group."""
    if foreign:
        yield Finding(
            name="foreign-values",
            severity="high",
            title=f"at least {people(foreign)} of {of:,} {_do(foreign)} not have the value of "
            f"'{name}' that the original says in their group",
            meaning="The two tables are not of one release, or not of this original, or values "
            "were changed: what is said here of groups is not true of these people.",
            advice="Take both tables of one release, with its manifest beside them, and the "
            "original that it was made from; or make the release again.",
            figures={"people": foreign, "of": of},
        )


def _do(many: int) -> str:
    return "does" if many == 1 else "do"


def judge_people(people: People | None, *, where: str, decided: bool) -> Iterator[Finding]:
    """Yield a finding if an identifier repeats, so that rows are not people."""
    # Somebody may have decided that rows are people all the same. Only that person can know, so it
    # is reported, but it is no reason to refuse the release.
    if people is not None and decided:
        yield Finding(
            name="several-rows",
            severity="medium",
            title="it was decided that each row is a person, but the identifier says otherwise: "
            f"{where} has {people}",
            meaning="Principles and risks count rows, as rows_are_people = true says. If equal "
            "identifiers are one person after all, a group of five rows may be one person, who is "
            "then not hidden at all.",
            advice="If rows are visits, orders or the like, publish one row for each person, and "
            "leave rows_are_people out. If every row is a different person, nothing.",
            figures=people.to_dict(),
        )
    elif people is not None:
        advice = people.hint()
        yield Finding(
            name="several-rows",
            severity="high" if people.grave else "medium",
            title=f"a person seems to have several rows: {where} has {people}",
            meaning="Principles and risks count rows. A group of five rows may be one person, who "
            "is then not hidden at all.",
            advice=f"{advice[0].upper()}{advice[1:]}.",
            figures=people.to_dict(),
        )


def judge_total(*, what: str | None, where: str) -> Iterator[Finding]:
    """Yield a finding if some rows are totals or footnotes."""
    if what is not None:
        yield Finding(
            name="total-row",
            severity="medium",
            title=f"{where} has a row that is no person: {what}",
            meaning="It counts as a person, so a group has one person less than it seems; and a "
            "sum, or the cells that it lacks, can tell its row from the others.",
            advice="Delete what is no person, and make the release again.",
        )


def judge_columns(unlisted: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding for each published column that the policy does not know."""
    for column in unlisted:
        yield Finding(
            name="unlisted-column",
            severity="medium",
            title=f"column '{column}' is published, but the policy does not know it",
            meaning="Nobody has decided what it does to privacy. It was taken for insensitive.",
            advice="Drop it, or give it a role in the policy.",
            figures={"column": column},
        )


def judge_identity(
    identity: IdentityRisk, counsel: RemedyAdvice, *, exact: bool, sampled: bool
) -> Iterator[Finding]:
    """Yield findings on people who can be told from the others."""
    # `exact`: quasi-identifiers are published as they are, as anatomy does on purpose. `sampled`:
    # only some people were looked at to see which groups cover them.
    of, mixed = identity.prosecutor.people, identity.covering
    larger = counsel.against([remedies.least_group(2)], otherwise=_NOBODY)
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
            advice="Nothing, unless it is a secret who is in the table." if exact else larger,
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
            advice=larger,
            figures={"people": identity.uniques, "of": of},
        )
    elif identity.smallest == 2 and not exact:
        yield Finding(
            name="small-groups",
            severity="medium",
            title="the smallest group has 2 rows",
            meaning="Each of the two people, who know their own row, know the other's.",
            advice=counsel.against([remedies.least_group(3)], otherwise=_NOBODY),
            figures={"smallest": 2, "above_half": identity.prosecutor.above[0.5]},
        )


def judge_attribute(name: str, known: AttackResults, counsel: RemedyAdvice) -> Iterator[Finding]:
    """Yield findings on what an adversary who knows the group learns of an attribute."""
    certain = known.certain.people
    if certain:
        yield Finding(
            name="homogeneity",
            severity="high",
            title=f"{name} of {people(certain)} is certain: "
            f"{counted(known.certain.groups, 'group')} with one value",
            meaning="Whoever knows that somebody is in such a group knows the value.",
            advice=_diversity(counsel),
            figures=known.certain.to_dict(),
        )
    if (likely := known.guess.above[_LIKELY] - certain) > 0:
        yield Finding(
            name="likely-value",
            severity="medium",
            title=f"{name} of {people(likely)} can be guessed with {100 * _LIKELY:g} % or more",
            meaning="One value has most of the group, and it is theirs.",
            advice=counsel.against(
                remedies.no_common_value(Fraction(_LIKELY)),
                otherwise=_HARMLESS.format(why=counsel.commonest()),
            ),
            figures=known.guess.to_dict(),
        )
    if (more := known.background.certain[1] - certain) > 0:
        yield Finding(
            name="background-knowledge",
            severity="medium",
            title=f"{name} of {people(more)} is certain once a single value is ruled out",
            meaning="Their groups have two values. Who knows that one of them is out of the "
            "question knows the other.",
            advice=_more_values(counsel, 3),
            figures=known.background.to_dict()["needed"],
        )
    yield from _nearness(known, counsel)
    yield from _kinds(name, known, counsel)
    yield from _farness(name, known, counsel)


def judge_mixture(
    name: str,
    known: AttackResults,
    covering: AttackResults | None,
    counsel: RemedyAdvice,
    *,
    sampled: bool,
) -> Iterator[Finding]:
    """Yield findings on what is learnt only by an adversary who does not know the group."""
    if covering is None:
        return
    if covering.certain.people and not known.certain.people:
        yield Finding(
            name="homogeneity-covering",
            severity="high",
            title=f"{name} of {_at_least(sampled)}{people(covering.certain.people)} is certain for "
            "whoever knows their quasi-identifiers",
            meaning="All groups that cover them have one value.",
            advice=_diversity(counsel),
            figures=covering.certain.to_dict(),
        )
    near = known.attacks.neighbourhoods
    if near is None or covering.nearness is None or known.nearness is None:
        return
    worst, alone = covering.nearness.risk.worst, known.nearness.risk.worst
    bounds = [bound for guard in counsel.holding if (bound := guard.share_bound()) is not None]
    promised = bounds and known.attacks.chosen == "policy"
    if worst > (float(min(bounds)) if promised else max(alone, _EVEN)) + _ROUNDING:
        wanted = 1 / min(bounds) if promised else 1 / Fraction(_EVEN)
        than = "the policy promises" if promised else "who knows the group"
        chance = f"{as_risk(worst)} or more" if sampled else f"up to {as_risk(worst)}"
        yield Finding(
            name="mixture",
            severity="low" if promised else "medium",
            title=f"who knows the quasi-identifiers but not the group comes near {name} with a "
            f"chance of {chance}, more than {than}",
            meaning="Published ranges overlap, so several groups may be a victim's. Together they "
            "can hold more values near one another than each alone: up to twice the share that "
            "a bound around people's own values permits.",
            advice=counsel.against(
                remedies.no_mixture(near.epsilon, near.relative, wanted),
                otherwise="Make ranges that do not overlap: "
                + what_to_type(
                    python='cuts="disjoint".',
                    command="--cuts disjoint.",
                    app="cuts disjoint, in step 3.",
                ),
            ),
            figures={"worst": worst, "group_known": alone},
        )


def judge_beliefs(
    believed: Sequence[BeliefResult], known: AttackResults, counsel: RemedyAdvice
) -> Iterator[Finding]:
    """Yield a finding if an adversary with priors becomes nearly certain of somebody."""
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
            advice=_more_values(counsel, (known.background.least or 0) + 2),
            figures={"worst": worst.worst, "prior": worst.prior, "groups": worst.certain},
        )


def _diversity(counsel: RemedyAdvice) -> str:
    return counsel.against(
        remedies.several_values(), otherwise=_HARMLESS.format(why=counsel.commonest())
    )


def _more_values(counsel: RemedyAdvice, many: int) -> str:
    return counsel.against(
        [remedies.distinct_values(many)],
        otherwise="The column has too few different values for groups with more of them. Leave it "
        "out if that is too great a risk.",
    )


def _nearness(known: AttackResults, counsel: RemedyAdvice) -> Iterator[Finding]:
    """Yield findings on proximity: nearly the value is learnt, though not the value."""
    reach, near = known.attacks.neighbourhoods, known.to_dict()["nearness"]
    if reach is None or near is None:
        return
    # Of whom the value itself is known, that it is nearly known is no news; nor is what holds of
    # the whole table.
    told, everywhere = known.certain.people, reach.fullest_of_all()
    kept = next(
        (
            guard
            for guard in counsel.holding
            if guard.share_bound() is not None and guard.share_bound(anywhere=True) is None
        ),
        None,
    )
    claims: list[dict[str, Any]] = []
    for claim in sorted(near["claims"], key=lambda claim: -claim["confidence"]):
        confidence = claim["confidence"]
        if claim["people"] > told and everywhere < confidence and confidence >= _LIKELY:
            told = claim["people"]
            claims.append(claim)
    if not claims:
        return
    # What is near was said by somebody, or else it is a guess of ours.
    grave = claims[0]["confidence"] >= 1 and near["chosen"] != "audit" and kept is None
    yield Finding(
        name="proximity",
        severity="high" if grave else "medium",
        title="; ".join(claim["text"] for claim in claims),
        meaning="Their groups' values differ, yet lie so close together that it hardly matters."
        + (
            ""
            if kept is None
            else f" {kept.name} holds, but it is about intervals around people's own values; one "
            "that lies between them can hold more."
        )
        + (" This audit chose ε itself." if near["chosen"] == "audit" else ""),
        advice=counsel.against(
            remedies.no_interval(reach.epsilon, reach.relative, Fraction(_LIKELY)),
            otherwise="In the table as a whole too many values lie that close together. Leave the "
            "column out; or, if only closer values tell too much, ask for a smaller ε.",
        ),
        figures={
            "people": claims[0]["people"],
            "confidence": claims[0]["confidence"],
            "epsilon_chosen_by": near["chosen"],
            "levels": [{key: claim[key] for key in ("people", "confidence")} for claim in claims],
        },
    )


def _kinds(name: str, known: AttackResults, counsel: RemedyAdvice) -> Iterator[Finding]:
    """Yield findings on similarity: the kind of a value is learnt, the finest kinds first."""
    told = known.certain.people
    levels: list[dict[str, Any]] = []
    for up, level in enumerate(() if known.kinds is None else reversed(known.kinds.levels)):
        if level.certain_people > told:
            told = level.certain_people
            levels.append({"level": level.level, "above_values": up, "people": told})
    if levels:
        have = "has" if levels[0]["people"] == 1 else "have"
        more = "".join(f"; of {people(one['people'])} at level {one['above_values']}"
                       for one in levels[1:])  # fmt: skip
        yield Finding(
            name="similarity",
            severity="medium",
            title=f"what kind of {name} {people(levels[0]['people'])} {have} is certain, at level "
            f"{levels[0]['above_values']} of its tree{more}",
            meaning="The values of their groups differ, but are all of one kind.",
            advice=counsel.against(
                remedies.no_kind(levels[-1]["above_values"]), otherwise=_BROADER
            ),
            figures={**levels[0], "levels": levels},
        )


def _farness(name: str, known: AttackResults, counsel: RemedyAdvice) -> Iterator[Finding]:
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
        advice=counsel.against(
            remedies.farther(counsel.asked, Fraction(_LIKELY)),
            otherwise="Ask for a larger δ or a smaller ε; "
            + what_to_type(
                python="`wb.advise(…).dissimilarity()` tells which are possible.",
                command="`wideberth advise --distance` tells which are possible.",
                app="step 2 tells which are possible.",
            ),
        ),
        figures=risk.to_dict(),
    )


def _at_least(sampled: bool) -> str:
    return "at least " if sampled else ""


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
