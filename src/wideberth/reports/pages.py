"""Pages from templates: how numbers are written in them, and the parts that all of them share."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from wideberth.core import text
from wideberth.reports import tabling
from wideberth.risk.verdict import MARKS, WORDS


def environment(package: str) -> Environment:
    r"""Return what renders the templates of a package, and those of `showing`.

    >>> environment("wideberth.reports").from_string("{{ 0.071|percent }}").render()
    '7.1\xa0%'
    """
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("wideberth.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for shown in (text.count, text.counted, text.figure, text.percent,
                  text.as_risk, text.sentence, text.moment):  # fmt: skip
        made.filters[shown.__name__] = shown
    made.globals.update(tabling=tabling, signs=tabling.SIGNS, words=WORDS, marks=MARKS)
    return made
