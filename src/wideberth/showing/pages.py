"""Pages from templates: how numbers are written in them, and the parts that all of them share."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from wideberth.showing import tabling, wording
from wideberth.showing.verdict import MARKS, WORDS


def environment(package: str) -> Environment:
    r"""Return what renders the templates of a package, and those of `showing`.

    >>> environment("wideberth.reporting").from_string("{{ 0.071|percent }}").render()
    '7.1\xa0%'
    """
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("wideberth.showing")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for shown in (wording.count, wording.counted, wording.figure, wording.percent,
                  wording.as_risk, wording.sentence, wording.moment):  # fmt: skip
        made.filters[shown.__name__] = shown
    made.globals.update(tabling=tabling, signs=tabling.SIGNS, words=WORDS, marks=MARKS)
    return made
