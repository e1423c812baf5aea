"""How each quasi-identifier is to be published, decided before the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from wideberth.core.exact import Ints
from wideberth.errors import ParameterError, RoleError
from wideberth.hierarchy.quasi import Quasi
from wideberth.policy.guesses import leads_to_people
from wideberth.policy.settings import MAX_SET, RECODINGS, Grid
from wideberth.release.align import interval_ends


@dataclass(frozen=True)
class Recoding:
    """How one quasi-identifier is published."""

    recoding: str  # one of `RECODINGS`
    grid: Grid | None = (
        None  # where intervals and bounds may end; see `wideberth.release.align.interval_ends`
    )
    max_set: int = MAX_SET  # a set of more values is published as ``*``

    def columns(self, quasi: Quasi) -> list[str]:
        """Return the names of the columns that are published for a quasi-identifier."""
        # They do not depend on its values, so that every release under a policy has the same.
        if self.recoding != "bounds":
            return [quasi.name]
        return [f"{quasi.name}_{part}" for part in ("min", "max", "missing")]


def choose_recodings(
    quasis: Sequence[Quasi],
    recoding: str | Mapping[str, str] | None = None,
    align: str | Mapping[str, Grid] | None = None,
    max_set: int = MAX_SET,
) -> dict[str, Recoding]:
    """Decide how each quasi-identifier is published."""
    # By default a hierarchy where there is one, intervals for numbers and dates, and sets. With
    # align="hierarchy" the node of a hierarchy is published.
    names = [quasi.name for quasi in quasis]
    for what, given in (("recoding", recoding), ("align", align)):
        for name in given if isinstance(given, Mapping) else ():
            if name not in names:
                raise ParameterError(
                    f"{what}: '{name}' is no quasi-identifier", hint=f"one of {', '.join(names)}"
                )
    if isinstance(align, str) and align != "hierarchy":
        raise ParameterError(
            "align must be 'hierarchy', or a grid for each column", hint="align = { age = 5 }"
        )
    result = {}
    for quasi in quasis:
        grid = align.get(quasi.name) if isinstance(align, Mapping) else None
        if isinstance(align, str) and quasi.tree is not None:
            grid = align
        asked = recoding.get(quasi.name) if isinstance(recoding, Mapping) else None
        if isinstance(recoding, str) and (_suits(recoding, quasi) or recoding not in RECODINGS):
            asked = recoding
        result[quasi.name] = replace(_style(quasi, asked, grid), max_set=max_set)
    return result


#: How a caution begins that a quasi-identifier publishes values of single people.
SINGLE = "numbers of single people are published"


def require_coarse_recoding(quasis: Sequence[Quasi], how: Mapping[str, Recoding]) -> list[str]:
    """Refuse record numbers whose published ranges or sets would name those of single people."""
    # Returns cautions for columns that look like record numbers, or differ in nearly every row,
    # though their names say nothing.
    cautions = []
    for quasi in quasis:
        style, domain = how[quasi.name], quasi.domain
        if style.recoding == "hierarchy" or style.grid is not None or domain.values is None:
            continue
        counts = domain.histogram[: domain.known]
        what = "its sets list" if style.recoding == "set" else "its ranges end at"
        cautions += exposure_caution(quasi.name, domain.values, counts, what)
    return cautions


def exposure_caution(
    name: str, values: pl.Series, counts: Ints, what: str, *, exact: bool = False
) -> list[str]:
    """Refuse a quasi-identifier that names people or records; return a caution if it may."""
    # what: how they would be published, as in "its ranges end at". exact: they would be published
    # as they are, whatever hierarchy or grid they have.
    known = leads_to_people(name, values, counts)
    if known is None:
        return []
    grid = f" or a grid (align = {{ {name} = … }})" if values.dtype.is_numeric() else ""
    coarse = "without --algorithm anatomy" if exact else f"give it a hierarchy{grid}"
    hint = f"make '{name}' an identifier, which drops it; or publish it coarsely: {coarse}"
    if known == "by name":
        single = int((counts == 1).sum())
        raise RoleError(
            f"quasi-identifier '{name}' holds numbers or names of people or records, and {what} "
            f"those of single people ({single:,} of its {len(values):,} values are one row's)",
            hint=hint,
        )
    if known == "by shape":
        looks = "looks like numbers of people or records"
        return [f"{SINGLE}: '{name}' {looks}, and {what} them; {hint}"]
    own = "has a value of its own in nearly every row"
    return [f"values of single people are published: '{name}' {own}, and {what} them; {hint}"]


def _suits(recoding: str, quasi: Quasi) -> bool:
    if recoding == "hierarchy":
        return quasi.tree is not None
    return recoding == "set" or (recoding in ("interval", "bounds") and quasi.numeric)


def _style(quasi: Quasi, asked: str | None, grid: Grid | None) -> Recoding:
    if asked is not None and asked not in RECODINGS:
        raise ParameterError(
            f"recoding: column '{quasi.name}' cannot be recoded like that",
            hint=f"one of {', '.join(RECODINGS)}",
        )
    usual = "hierarchy" if quasi.tree is not None else "interval" if quasi.numeric else "set"
    if grid is not None and grid != "hierarchy" and asked is None and quasi.numeric:
        usual = "interval"
    recoding = "hierarchy" if grid == "hierarchy" else asked or usual
    if not _suits(recoding, quasi):
        lacks, hint = (
            ("has no hierarchy", "give it one in [hierarchies]")
            if recoding == "hierarchy"
            else ("holds neither numbers nor dates", 'use "set", or a hierarchy')
        )
        raise ParameterError(f"recoding: column '{quasi.name}' {lacks}", hint=hint)
    if grid == "hierarchy":
        return Recoding(recoding)
    if grid is not None and recoding not in ("interval", "bounds"):
        raise ParameterError(
            f"align: column '{quasi.name}' is published as a {recoding}, which has no grid",
            hint="align numbers and dates only",
        )
    style = Recoding(recoding, grid)
    if grid is not None:
        interval_ends(quasi, grid)  # says what is wrong with the grid, before the work
    return style
