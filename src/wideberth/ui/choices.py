"""The principles as the app offers them: in plain words, with the controls that they need."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from typing import Any

#: What a sensitive attribute is, in plain words, and the principles that suit it, the usual first.
PRINCIPLE_KINDS: dict[str, dict[str, Any]] = {
    "numbers": {
        "title": "Numbers",
        "words": "Salaries, amounts, dates. Nobody may learn a value, not even nearly.",
        "principles": ["delta-l", "epsilon-m"],
    },
    "categories": {
        "title": "Categories",
        "words": "Diseases, religions. Nobody may learn which one it is.",
        "principles": ["frequency-l", "entropy-l", "distinct-l", "recursive-cl", "t-closeness"],
    },
    "tree": {
        "title": "Categories with a tree",
        "words": "Some values are of a kind. Nobody may learn even the kind. Needs a tree.",
        "principles": ["l-e"],
    },
    "anything": {
        "title": "Anything else",
        "words": "Vectors, shares, places, texts: whatever has a distance.",
        "principles": ["dissimilarity"],
    },
}

#: What a principle asks, with its parameters in braces, for people who have not read the papers.
SENTENCES = {
    "k-anonymity": "Everybody is hidden among at least {k} people who look alike.",
    "epsilon-m": "Of each group, at most 1 in {m} may be within {epsilon} of anybody's {on}.",
    "delta-l": "No range of {on} that is twice {delta} wide holds more than 1 in {l} of a group, "
    "even for those who do not know the group.",
    "distinct-l": "Each group has at least {l} different values of {on}.",
    "frequency-l": "No value of {on} is held by more than 1 in {l} of a group.",
    "entropy-l": "The values of {on} in a group are as evenly spread as {l} equally likely ones.",
    "recursive-cl": "The most frequent value of {on} is held by less than {c} times those that are "
    "left when the {l} most frequent are struck out.",
    "t-closeness": "The values of {on} in a group are spread as in the whole table, but for {t}.",
    "l-e": "Each group has at least {l} values of {on}, all of them farther than {e} apart in the "
    "tree.",
    "dissimilarity": "Everybody's {on} is farther than {epsilon} from a share of {delta} of the "
    "others in the group, which has at least {k} people.",
}

#: What a parameter means, likewise; the registry's own words where nothing is said here.
MEANINGS = {
    ("epsilon-m", "epsilon"): "two values count as near if they differ by no more than this",
    ("epsilon-m", "m"): "of a group, at most 1 in this many may be near",
    ("epsilon-m", "relative"): "near is a share of the value, not a difference",
    ("delta-l", "delta"): "half the length of a range that would say too much",
    ("delta-l", "l"): "of a group, at most 1 in this many may lie in such a range",
    ("k-anonymity", "k"): "how many people look alike at least",
    ("distinct-l", "l"): "how many different values a group has at least",
    ("frequency-l", "l"): "of a group, at most 1 in this many may share a value",
    ("entropy-l", "l"): "as uncertain as so many equally likely values",
    ("t-closeness", "t"): "how far a group may differ from the table: 0 not at all, 1 wholly",
    ("l-e", "l"): "how many values a group has at least",
    ("l-e", "e"): "how many steps up the tree two values may meet and still be alike",
    ("dissimilarity", "epsilon"): "two values count as near up to this distance",
    ("dissimilarity", "delta"): "what share of the others must be farther away",
    ("dissimilarity", "k"): "how many people look alike at least",
}


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """Return all principles that can be asked of a release, by name."""
    from wideberth.principles import iterate
    from wideberth.principles.base import plain_value

    found = {}
    for cls in iterate():
        if cls.needs == "population":
            continue  # checked, not made
        defaults = {f.name: f.default for f in fields(cls)}
        mandatory = cls.mandatory()
        found[cls.name] = {
            "name": cls.name,
            "title": cls.title,
            "needs": cls.needs,
            "sentence": SENTENCES.get(cls.name),
            "protects": cls.protects,
            "does_not_protect": cls.does_not_protect,
            "reference": cls.reference,
            "parameters": [
                {
                    "name": key,
                    "doc": MEANINGS.get((cls.name, key), p.doc),
                    "kind": p.kind,
                    "low": p.low,
                    "high": p.high,
                    "choices": list(p.choices),
                    "stronger": p.stronger,
                    "required": key in mandatory,
                    "default": None if defaults[key] is MISSING else plain_value(defaults[key]),
                }
                for key, p in cls.parameters().items()
            ],
        }
    return found


@cache
def unfit_for_anatomy() -> list[str]:
    """Return the principles that two tables cannot answer for.

    >>> unfit_for_anatomy()
    ['alpha-k', 'delta-presence', 'k-anonymity', 'multi-attribute-l']
    """
    from wideberth.errors import ParameterError
    from wideberth.policy.two_tables import require_anatomy_principle
    from wideberth.principles import iterate, parse

    found = []
    for cls in iterate():
        try:
            require_anatomy_principle(parse(cls.example))
        except ParameterError:
            found.append(cls.name)
    return found


def size_principles() -> list[str]:
    """Return the principles that look at no sensitive value.

    >>> size_principles()
    ['k-anonymity']
    """
    return [name for name, told in catalogue().items() if told["needs"] == "size"]
