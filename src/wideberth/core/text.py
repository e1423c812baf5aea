"""Numbers as people read them: few digits, and nothing is certain that is not."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

#: What stands for one or two people, where the number would point at them.
FEWER_THAN_3 = "fewer than 3"
#: A space that does not break a line.
_NARROW = "\u00a0"
_MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
]  # fmt: skip


def count(number: float | str | None) -> str:
    """Write a number of things.

    >>> count(9812), count(0), count(FEWER_THAN_3), count(None)
    ('9,812', '0', 'fewer than 3', '–')
    """
    if number is None:
        return "–"
    return number if isinstance(number, str) else f"{number:,}"


def counted(number: float | str, one: str, many: str | None = None) -> str:
    """Write a number of things with their name.

    >>> counted(1, "group"), counted(1200, "person", "people"), counted(0, "row")
    ('1 group', '1,200 people', 'no rows')
    """
    many = many or f"{one}s"
    if number == 0:
        return f"no {many}"
    return f"{count(number)} {one if number == 1 else many}"


def people(number: float | str) -> str:
    """Write a number of people.

    >>> people(1), people(1200)
    ('1 person', '1,200 people')
    """
    return counted(number, "person", "people")


def figure(number: Any) -> str:
    """Write any number with at most four digits that matter.

    >>> figure(4500), figure(2.8284271), figure(0.00012345), figure(None), figure(True)
    ('4,500', '2.828', '0.0001234', '–', 'yes')
    """
    if number is None:
        return "–"
    if isinstance(number, bool):
        return "yes" if number else "no"
    if not isinstance(number, int | float):
        return str(number)
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.1f}" if abs(number) >= 1000 else f"{number:.4g}"


def percent(share: float | None) -> str:
    """Write a share.

    >>> [percent(share).replace("\u00a0", " ") for share in (0.0707, 1.0, 0.0001, None)]
    ['7.1 %', '100 %', '< 0.1 %', '–']
    """
    if share is None:
        return "–"
    return _written(share, round(100 * share, 1))


def as_risk(share: float | None) -> str:
    """Write a risk, to the nearest tenth of a percent. What is not quite certain stays so.

    >>> [as_risk(p).replace("\u00a0", " ") for p in (0.2, 1 / 3, 0.2009, 0.9999)]
    ['20 %', '33.3 %', '20.1 %', '99.9 %']
    """
    if share is None:
        return "–"
    return _written(share, min(round(100 * share, 1), 99.9 if share < 1 else 100.0))


def _written(share: float, hundredths: float) -> str:
    if share > 0 and hundredths == 0:
        return f"<{_NARROW}0.1{_NARROW}%"
    return f"{hundredths:g}{_NARROW}%" if hundredths < 1000 else f"{hundredths:,.0f}{_NARROW}%"


def reach_in_words(epsilon: Any, relative: bool = False, unit: str | None = None) -> str:
    """Write how near is near.

    >>> relative = reach_in_words(0.1, True).replace("\u00a0", " ")
    >>> reach_in_words(4500), relative, reach_in_words(30, unit="days")
    ('4,500', '10 %', '30 days')
    """
    if relative and isinstance(epsilon, int | float):
        return percent(epsilon)
    return f"{figure(epsilon)} {unit}" if unit else figure(epsilon)


def moment(iso: str) -> str:
    """Write a time for people; what is no time stays as it is.

    >>> moment("2026-11-16T15:01:01+00:00")
    '16 November 2026, 15:01 UTC'
    """
    try:
        at = datetime.fromisoformat(iso).astimezone(UTC)
    except ValueError:
        return iso
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M} UTC"


def join_names(names: list[str]) -> str:
    """Join names as a sentence does.

    >>> join_names(["age"]), join_names(["age", "zip", "sex"])
    ('age', 'age, zip and sex')
    """
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def sentence(text: str) -> str:
    """Begin a text with a capital letter and end it with a full stop."""
    text = text.strip()
    return text and text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def principle_in_words(name: str, parameters: dict[str, Any]) -> str:
    """Write a principle with its parameters.

    >>> principle_in_words("epsilon-m", {"epsilon": 4500, "m": 5})
    'epsilon-m (epsilon = 4,500, m = 5)'
    """
    given = dict(parameters)
    if given.pop("relative", False) and "epsilon" in given:
        given["epsilon"] = reach_in_words(given["epsilon"], True)
    said = ", ".join(f"{key.replace('_', ' ')} = {figure(v)}" for key, v in given.items())
    return f"{name} ({said})" if said else name


def nearness_in_words(near: Mapping[str, Any]) -> str:
    """Write how near is near, as an audit took it."""
    return reach_in_words(near["epsilon"], bool(near.get("relative")), near.get("unit"))


def as_html(kind: str, facts: Mapping[str, Any]) -> str:
    """Return small HTML for a notebook, drawn by that function of `wideberth.reports.notebook`."""
    # Results show themselves in notebooks and are imported by what draws them: so this comes late.
    html: str = getattr(import_module("wideberth.reports.notebook"), f"{kind}_html")(facts)
    return html
