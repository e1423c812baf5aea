"""What a report keeps to itself, though an audit tells it.

A report is for showing, so it is more reserved than what it is made from. It has no sensitive
value and no row of the original; claims tell how near a value is known, not what it is; worst
groups are named by what is published of them, unless they have one or two rows. One or two people
become "fewer than 3". Who has the release can count them all the same: the rule keeps a report
from pointing, it is no protection of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from wideberth.core.text import FEWER_THAN_3

#: What counts people, or rows that are theirs.
_COUNTS = {
    *("people", "uniques", "certain", "certain_people", "upward", "downward", "above_half"),
    *("rows", "violating_rows", "suppressed", "covered_by_no_box", "covered_in_some_only"),
    *("published_exactly", "nearly"),
    "smallest",
}
#: What counts people for each of its keys.
_COUNTS_BY = ("above", "people", "by_column")
#: What is kept of an attribute besides what adversaries learn; beliefs about single people are not.
_ATTRIBUTE = ("on", "values", "victims")
#: What is kept of a claim about values; its text tells how near, not where.
_CLAIM = ("people", "confidence", "within", "relative", "text")
_ONE_OR_TWO = re.compile(
    r"(\bof )?(\bat least )?(\ball )?(?<![\d.,])\b[12]( of [\d,]+| more)? "
    r"(person|people|rows?|of whom)\b( of [\d,]+)?( (?:is|has|was|does)\b)?"
)
_ONLY = re.compile(r"\bthe only row that was left out has\b")
_GROUPS = re.compile(r"(?<![\d.,])\b[12] groups?\b")
_MANY = {"person": "people", "row": "rows"}
_VERBS = {" is": " are", " has": " have", " was": " were", " does": " do"}

Dict = dict[str, Any]


def redact_audit(audit: Mapping[str, Any]) -> Dict:
    """Return an audit without what points at people: few people learnt about, and worst groups."""
    told = without(audit, "findings", "notes", "reasons", "suppressed")
    told["principles"] = [
        redact_principle(principle) for principle in audit.get("principles") or ()
    ]
    # How small a group is must be known; whose it is must not.
    told["identity"] = {
        **_hidden(audit["identity"]),
        "smallest": audit["identity"]["smallest"],
    }
    told["attributes"] = [
        {
            **{key: attribute.get(key) for key in _ATTRIBUTE},
            **{who: _hidden(attribute.get(who)) for who in ("known", "covering")},
        }
        for attribute in audit.get("attributes") or ()
    ]
    told["disclosures"] = [_hidden(one) for one in audit.get("disclosures") or ()]
    return told


def redact_principle(principle: Mapping[str, Any]) -> Dict:
    """Return what was found of a principle, without its worst groups."""
    told = without(principle, "worst")
    told["violating_rows"] = _hidden(principle["violating_rows"], "violating_rows")
    if told["violating_rows"] == FEWER_THAN_3:
        told["violating_groups"] = FEWER_THAN_3
    return told


def redact_worst_groups(groups: Sequence[Mapping[str, Any]]) -> list[Dict]:
    """Return groups as they are published; those of one or two rows are not described."""
    told = [dict(group) for group in groups if group["rows"] > 2]
    small = [group for group in groups if group["rows"] <= 2]
    if small:
        told.append(
            {
                "group": {},
                "rows": FEWER_THAN_3,
                "satisfied": all(group["satisfied"] for group in small),
                "achieved": {},
                "reason": f"a group of {FEWER_THAN_3} rows is not described: it may be one person"
                if len(small) == 1
                else f"groups of {FEWER_THAN_3} rows are not described: each may be one person",
            }
        )
    return told


def redact_finding(found: Mapping[str, Any]) -> Dict:
    """Return a finding that counts no one or two people, nor groups that are perhaps theirs."""
    figures = _hidden(found.get("figures") or {})
    texts = {key: redact_small_counts(found[key]) for key in ("title", "meaning", "advice")}
    if figures.get("groups") == FEWER_THAN_3:
        texts = {key: _GROUPS.sub(f"{FEWER_THAN_3} groups", text) for key, text in texts.items()}
    return {**found, **texts, "figures": figures}


def redact_small_counts(text: str) -> str:
    """Write "1 person" as "fewer than 3 people", and what is like it.

    >>> redact_small_counts("the salary of 1 person, and of 32 people, is known")
    'the salary of fewer than 3 people, and of 32 people, is known'
    >>> redact_small_counts("1 person of 200 is alone; all 2 rows differ; at least 2 of 9 people")
    'fewer than 3 people of 200 are alone; all rows (fewer than 3) differ; one or more of 9 people'
    """
    return _ONE_OR_TWO.sub(_few, _ONLY.sub(f"{FEWER_THAN_3} rows that were left out have", text))


def _few(match: re.Match[str]) -> str:
    of, least, every, part, who, total, verb = (told or "" for told in match.groups())
    who = _MANY.get(who, who)
    # The value of one person is; one person of many has.
    ending = total + (verb if of else _VERBS.get(verb, verb))
    if every:
        return f"{of}{every}{who} ({FEWER_THAN_3}){ending}"
    if least:
        return f"{of}one or more{part.removesuffix(' more')} {who}{ending}"
    return f"{of}{FEWER_THAN_3}{part} {who}{ending}"


def _hidden(part: Any, key: str = "") -> Any:
    """Write one or two people as "fewer than 3", wherever they are counted."""
    if isinstance(part, Mapping):
        # Certain are so many people, in so many groups; or so many before and after.
        each = key in _COUNTS_BY or (key == "certain" and "people" not in part)
        made = {k: _hidden(v, "people" if each else k) for k, v in part.items()}
        if {"worst", "above", "people"} <= part.keys():
            made["people"] = part["people"]  # all that there are
        elif FEWER_THAN_3 in (made.get("people"), made.get("rows")):
            if "groups" in made:
                made["groups"] = FEWER_THAN_3  # a single group may be a single person
            if made.get("text"):
                made["text"] = redact_small_counts(made["text"])
        return made
    if isinstance(part, list | tuple):
        if key == "claims":  # how near a value is known, never what it is
            part = [{k: claim[k] for k in _CLAIM if k in claim} for claim in part]
        return [_hidden(each, key) for each in part]
    return FEWER_THAN_3 if key in _COUNTS and isinstance(part, int) and part in (1, 2) else part


def without(part: Mapping[str, Any], *keys: str) -> Dict:
    """Return a part but for some keys."""
    return {key: value for key, value in part.items() if key not in keys}
