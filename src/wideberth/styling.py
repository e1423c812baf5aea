"""How each quasi-identifier is to be published, decided before the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wideberth.align import ends
from wideberth.errors import ParameterError
from wideberth.quasi import Quasi
from wideberth.transform import RECODINGS, Grid


@dataclass(frozen=True)
class Style:
    """How one quasi-identifier is published.

    Parameters
    ----------
    recoding : str
        One of `RECODINGS`.
    grid : number or str, optional
        Where intervals and bounds may end; see `wideberth.align.ends`.
    """

    recoding: str
    grid: Grid | None = None

    def columns(self, quasi: Quasi) -> list[str]:
        """Return the names of the columns that are published for a quasi-identifier."""
        if self.recoding != "bounds":
            return [quasi.name]
        parts = ["min", "max"] if quasi.domain.missing is None else ["min", "max", "missing"]
        return [f"{quasi.name}_{part}" for part in parts]


def styles(
    quasis: Sequence[Quasi],
    recoding: str | Mapping[str, str] | None = None,
    align: str | Mapping[str, Grid] | None = None,
) -> dict[str, Style]:
    """Decide how each quasi-identifier is published.

    Parameters
    ----------
    quasis : sequence of Quasi
        The quasi-identifiers.
    recoding : str or mapping, optional
        One of `RECODINGS` by column, or one for all columns that it suits. By default a hierarchy
        where there is one, intervals for numbers and dates, and sets.
    align : str or mapping, optional
        Grids by column. "hierarchy" publishes the node of a hierarchy, for one column or for all
        that have one.

    Returns
    -------
    dict
        The style of each quasi-identifier.
    """
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
        result[quasi.name] = _style(quasi, asked, grid)
    return result


def _suits(recoding: str, quasi: Quasi) -> bool:
    if recoding == "hierarchy":
        return quasi.tree is not None
    return recoding == "set" or (recoding in ("interval", "bounds") and quasi.numeric)


def _style(quasi: Quasi, asked: str | None, grid: Grid | None) -> Style:
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
        return Style(recoding)
    if grid is not None and recoding not in ("interval", "bounds"):
        raise ParameterError(
            f"align: column '{quasi.name}' is published as a {recoding}, which has no grid",
            hint="align numbers and dates only",
        )
    style = Style(recoding, grid)
    if grid is not None:
        ends(quasi, grid)  # says what is wrong with the grid, before the work
    return style
