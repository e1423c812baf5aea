"""The verdict: is the policy met, what is risked before and after, what it costs, what is left.

It stands at the top of a report, in words. It says no more than was found: no policy, no praise.
Level, word and headline come from `wideberth.risk.verdict`, as those of an audit do.
"""

from __future__ import annotations

from typing import Any

from wideberth.core.text import (
    FEWER_THAN_3,
    as_risk,
    count,
    counted,
    join_names,
    percent,
    principle_in_words,
    sentence,
)
from wideberth.reports.tables import chief, sample_note
from wideberth.risk.verdict import Verdict, judge_release, seeded

Dict = dict[str, Any]

#: What is not promised, whatever the verdict, in one sentence.
_LIMITS = (
    "Safety from those who know how the groups were chosen, who know more than the principles "
    "allow for, who combine several releases, or who ask only whether somebody is in the table."
)


def verdict(content: Dict) -> Dict:
    """Return the verdict on a report's content: level, headline and sentences."""
    lines = [
        ("The policy", _policy(content["policy"])),
        ("Who is who", _identity(content["risk"])),
        *(
            (attribute["on"], _attribute(attribute, _same(content["risk"]["before"], attribute)))
            for attribute in content["risk"]["after"]["attributes"]
        ),
        ("The price", _price(content)),
        ("Findings", _findings(content["findings"])),
        ("Not promised", _LIMITS),
    ]
    return {
        **_judged(content).to_dict(),
        "sentences": [{"about": about, "text": text} for about, text in lines if text],
    }


def _judged(content: Dict) -> Verdict:
    """Apply the one rule that audits and the app apply."""
    release, policy = content["release"], content["policy"]
    left = release["suppressed"]
    total = release["rows"] + (left or 0) - release["starred"]
    return judge_release(
        content["findings"],
        satisfied=policy["satisfied"],
        principles=policy["principles"],
        guessed=policy["guessed"],
        lost=overall_loss(content),
        left_out=None if left is None or not total else left / total,
        seeded=seeded(content["manifest"]),
    )


def _same(audit: Dict | None, attribute: Dict) -> Dict | None:
    """Return what an audit of the original says of the same attribute."""
    for other in (audit or {}).get("attributes", ()):
        if other["on"] == attribute["on"]:
            return dict(other)
    return None


def _policy(policy: Dict) -> str:
    if not policy["principles"]:
        return "None was given, so there is no bound that the table could keep or break."
    kept = [_named(p) for p in policy["principles"] if p["satisfied"]]
    failed = [p for p in policy["principles"] if not p["satisfied"]]
    said = [f"Every group keeps {join_names(kept)}"] if kept else []
    for principle in failed:
        groups, rows = principle["violating_groups"], principle["violating_rows"]
        where = f"{counted(groups, 'group')} with {counted(rows, 'row')}"
        said.append(f"Violated: {_named(principle)}, in {where}")
    if policy["satisfied"] is False and not failed:
        said.append("But rows of one group are published with different quasi-identifiers")
    return " ".join(sentence(part) for part in said)


def _named(principle: Dict) -> str:
    where = f" on {principle['on']}" if principle.get("on") else ""
    return principle_in_words(principle["name"], principle["parameters"]) + where


def _identity(risk: Dict) -> str:
    now, then = risk["after"]["identity"], risk["before"]
    said = [] if then is None else [f"Before: {_alone(then)}"]
    smallest = now["smallest"]
    if smallest > 1:
        told = f"nobody can be told from fewer than {counted(smallest - 1, 'other')}"
        told += "" if said else " by the quasi-identifiers"
    else:
        told = _alone(risk["after"])
    said.append(f"After: {told}" if said else told)
    return " ".join(sentence(part) for part in said)


def _alone(audit: Dict) -> str:
    """Describe how many are alone with their quasi-identifiers, or alone in a group."""
    # Where boxes overlap, those who have a group to themselves may be covered by others as well.
    identity = audit["identity"]
    uniques, mixed = identity["uniques"], identity["covering"]
    alone = uniques if mixed is None else mixed["above"]["1"]
    sampled = mixed is not None and any(sample_note(a["victims"]) for a in audit["attributes"])
    said = []
    if alone:
        of = None if sampled else (mixed or identity["prosecutor"])["people"]
        said.append(_people(alone, of) + " alone with their quasi-identifiers")
        said[0] = f"at least {said[0]}" if sampled else said[0]
    if uniques and uniques != alone:
        said.append(_people(uniques, identity["prosecutor"]["people"]) + " alone in their group")
    return join_names(said) if said else "nobody is alone with their quasi-identifiers"


def _people(number: int | str, of: int | None) -> str:
    share = "" if of is None or isinstance(number, str) else f" ({percent(number / of)})"
    return f"{counted(number, 'person', 'people')}{share} {'is' if number == 1 else 'are'}"


def _attribute(attribute: Dict, before: Dict | None) -> str:
    """Describe how well a value can be guessed if the group is known, and if it must be found."""
    how, risk = chief(attribute["known"])
    said = []
    then = chief(before["known"]) if before else None
    if then and then[0] == how:
        said.append(f"Before: {_guessed(then[1], how)}")
    now = f"if the group is known, {_guessed(risk, how)}"
    said.append(f"After, {now}" if said else now)
    fullest = (attribute["known"].get("nearness") or {}).get("fullest")
    if fullest is not None and fullest > risk["worst"] + 1e-9:
        said.append(f"An interval of that reach, where it is best, holds up to {as_risk(fullest)}")
    mixed = chief(attribute["covering"]) if attribute.get("covering") else None
    if mixed and mixed[0] == how:
        worst = mixed[1]["worst"]
        more = "more" if worst > risk["worst"] + 1e-9 else "no more"
        said.append(
            f"Who knows the quasi-identifiers but not the group learns {more}:"
            f" the chance is up to {as_risk(worst)}{sample_note(attribute.get('victims'))}"
        )
    return " ".join(sentence(part) for part in said)


def _guessed(risk: Dict, how: str) -> str:
    """Describe for how many a value is certain, or likelier than not, or else the worst chance."""
    for least, sure in (
        ("1", "with certainty"),
        ("0.5", f"with a chance of {percent(0.5)} or more"),
    ):
        people = risk["above"].get(least, 0)
        if people:
            share = "" if people == FEWER_THAN_3 else f" ({percent(people / risk['people'])})"
            return (
                f"the value of {counted(people, 'person', 'people')}{share} is guessed {how} {sure}"
            )
    return f"nobody's value is guessed {how} with a chance above {as_risk(risk['worst'])}"


def _price(content: Dict) -> str:
    parts = []
    loss = overall_loss(content)
    if loss is not None:
        parts.append(f"{percent(loss)} of the quasi-identifiers' detail is lost (NCP)")
    left, starred = content["release"]["suppressed"], content["release"]["starred"]
    if left is not None:
        left -= starred
        parts.append(
            f"{counted(left, 'row is', 'rows are')} left out" if left else "no row is left out"
        )
    if starred:
        parts.append(f"{counted(starred, 'row is', 'rows are')} published as *")
    queries = content["queries"]
    if queries and queries.get("median") is not None:
        parts.append(f"half of {count(queries['queries'])} count queries are off by no more than "
                     f"{percent(queries['median'])}")  # fmt: skip
    return sentence(join_names(parts)) if parts else ""


def overall_loss(content: Dict) -> float | None:
    """Return the loss (NCP) as a share, from the measured utility or else the manifest."""
    for measured in (content["utility"] or {}).get("figures", ()):
        if measured["name"] == "ncp" and measured.get("value") is not None:
            return float(measured["value"])
    told = ((content["manifest"] or {}).get("loss") or {}).get("ncp_percent")
    return None if told is None else told / 100


def reported_losses(content: Dict) -> dict[str, float]:
    """Return the loss (NCP) of each quasi-identifier, as measured or else from the manifest."""
    for measured in (content["utility"] or {}).get("figures", ()):
        if measured["name"] == "ncp" and measured.get("by_attribute"):
            return dict(measured["by_attribute"])
    told = ((content["manifest"] or {}).get("loss") or {}).get("ncp_percent_by_attribute") or {}
    return {name: percent / 100 for name, percent in told.items()}


def _findings(findings: list[Dict]) -> str:
    if not findings:
        return (
            "The audit looked for what a release gives away besides its groups and found nothing."
        )
    gravest = findings[0]
    more = len(findings) - 1
    rest = f" There {'is' if more == 1 else 'are'} {counted(more, 'further one')}." if more else ""
    return sentence(f"the gravest ({gravest['severity']}): {gravest['title']}") + rest
