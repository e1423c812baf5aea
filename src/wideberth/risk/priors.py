"""What an adversary believes beforehand, as it is told to an audit.

A belief about everybody is a probability for each sensitive value. A belief about some people, "of
Japanese, few have a heart disease", says so in columns of quasi-identifiers beside it; it changes
what their groups tell (Machanavajjhala et al. 2006, Theorem 3.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats
from wideberth.core.groups import Groups
from wideberth.core.strings import as_string
from wideberth.errors import ParameterError, TableError
from wideberth.hierarchy.quasi import read_quasi
from wideberth.labels import PublishedBoxes, PublishedQuasi
from wideberth.labels.values import LabelReader
from wideberth.risk.attacks import BeliefAttack, VictimClasses
from wideberth.risk.attribute import AuditedAttribute

#: The column of a table of beliefs that says how likely a value is.
PRIOR_COLUMN = "probability"
#: A belief above this is as good as certain.
_NEARLY = 0.9
#: By so much probabilities may fail to add up to 1.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class BeliefResult:
    """What is believed of some people, before and after."""

    of: dict[str, Any] = field(repr=False)  # their quasi-identifiers
    on: str
    groups: int  # how many could be theirs
    worst: float  # the largest belief in any value after seeing one of these groups
    prior: float  # the belief in the same value before
    mixture: float  # the largest belief after seeing all these groups, not knowing which is theirs
    certain: int  # after how many of these groups some value is believed with more than 0.9

    def to_dict(self, *, show_rows: bool = False) -> dict[str, Any]:
        """Return plain values, for JSON; without the people unless `show_rows`."""
        return {
            "of": self.of if show_rows else {},
            "on": self.on,
            "groups": self.groups,
            "worst": self.worst,
            "prior": self.prior,
            "mixture": self.mixture,
            "certain": self.certain,
        }


@dataclass(frozen=True, eq=False)
class Priors:
    """Beliefs about one sensitive attribute: of whom, values, probabilities last."""

    frame: pl.DataFrame
    on: str
    whom: tuple[str, ...]

    @classmethod
    def read(
        cls, given: object, sensed: Sequence[AuditedAttribute], quasi: Sequence[str]
    ) -> Priors | None:
        """Read beliefs, given as a mapping of values to probabilities, or as a table."""
        if given is None:
            return None
        names = [one.on[0] for one in sensed if len(one.on) == 1]
        if isinstance(given, Mapping):
            if len(names) != 1:
                raise ParameterError(
                    "priors must say which sensitive attribute they are about",
                    hint=f"a table with the attribute's column and '{PRIOR_COLUMN}'",
                )
            given = pl.DataFrame(
                {names[0]: [str(v) for v in given], PRIOR_COLUMN: list(given.values())}
            )
        frame, _ = io.adopt(io.read(given) if isinstance(given, str | Path) else given)
        on = [name for name in names if name in frame.columns]
        if len(on) != 1 or PRIOR_COLUMN not in frame.columns:
            raise TableError(
                f"priors need one sensitive attribute and a column '{PRIOR_COLUMN}'",
                hint=f"columns {names[0] if names else 'disease'}, {PRIOR_COLUMN}, and perhaps "
                "quasi-identifiers",
            )
        whom = tuple(name for name in frame.columns if name in quasi)
        strange = [c for c in frame.columns if c not in (*quasi, on[0], PRIOR_COLUMN)]
        if strange:
            raise TableError(
                f"priors: '{strange[0]}' is no quasi-identifier", hint="leave the column out"
            )
        likely = as_string(frame[PRIOR_COLUMN]).cast(pl.String).cast(pl.Float64, strict=False)
        fine = likely.is_between(0, 1).fill_null(False)
        if not bool(fine.all()):
            raise TableError(
                f"priors: column '{PRIOR_COLUMN}', row {int((~fine).arg_true()[0]) + 1}: no "
                "probability",
                hint="a number from 0 to 1",
            )
        # By numbers: polars may take a name such as ^a.*$ for a pattern.
        texts = [
            as_string(frame[name]).cast(pl.String).alias(str(at))
            for at, name in enumerate((*whom, on[0]))
        ]
        return cls(pl.DataFrame([*texts, likely.alias(PRIOR_COLUMN)]), on[0], whom)

    def about_everybody(self, sensed: AuditedAttribute) -> Floats | None:
        """Return the probability of each value, if that is what is believed."""
        if self.whom or sensed.on != (self.on,):
            return None
        return _probabilities(self.frame, self.on, sensed.domain)

    def about(
        self, sensed: AuditedAttribute, published: PublishedBoxes, groups: Groups
    ) -> Iterator[BeliefResult]:
        """Yield what is believed of the people whom the priors name, once groups are seen."""
        if not self.whom or sensed.on != (self.on,):
            return
        axes = {axis.name: at for at, axis in enumerate(published.axes)}
        rest = sensed.domain.histogram / max(int(sensed.domain.histogram.sum()), 1)
        numbers = [str(at) for at in range(len(self.whom))]
        for whom, some in self.frame.group_by(numbers, maintain_order=True):
            possible = np.ones(published.boxes.count, dtype=bool)
            for name, value in zip(self.whom, whom, strict=True):
                at = axes[name]
                possible &= _covers(published.axes[at], value)[published.labels[:, at]]
            prior = _probabilities(some, self.on, sensed.domain, rest)
            theirs = groups.some(np.flatnonzero(possible))
            # A group without a value that they can have is not theirs.
            theirs = theirs.some(np.flatnonzero(theirs.sum(prior[theirs.codes]) > 0))
            if not len(theirs):
                continue
            beliefs = BeliefAttack(sensed.domain, prior=prior, group_prior=rest)
            after = beliefs.after(VictimClasses.known(theirs))
            counts = np.bincount(theirs.codes, theirs.counts, theirs.width).astype(np.int64)
            mixed = np.flatnonzero(counts)
            together = replace(
                theirs, start=np.array([0, len(mixed)]), codes=mixed, counts=counts[mixed]
            )
            mixture = beliefs.after(VictimClasses.known(together))
            if sensed.harmless is not None:  # to believe in a harmless value harms nobody
                after = np.where(sensed.harmless[theirs.codes], 0, after)
                mixture = np.where(sensed.harmless[together.codes], 0, mixture)
            top, best = int(after.argmax()), theirs.max(after)
            yield BeliefResult(
                of=dict(zip(self.whom, whom, strict=True)),
                on=self.on,
                groups=len(theirs),
                worst=float(after[top]),
                prior=float(beliefs.prior[theirs.codes[top]]),
                mixture=float(mixture.max()),
                certain=int((best > _NEARLY).sum()),
            )


def _probabilities(
    frame: pl.DataFrame, on: str, domain: Domain, rest: Floats | None = None
) -> Floats:
    """Return a probability for each code; of values that are not named, in proportion to others."""
    found = np.full(domain.size, np.nan)
    *_, values, chances = frame
    for row, (value, likely) in enumerate(zip(values, chances, strict=True)):
        code = domain.missing if value is None else domain.code_of(value)
        if code is None:
            raise TableError(
                f"priors: column '{on}', row {row + 1}: a value that the table does not have",
                hint="leave it out",
            )
        if not np.isnan(found[code]):
            raise TableError(
                f"priors: a value of '{on}' is named twice for the same people",
                hint="name each value once",
            )
        found[code] = likely
    told = float(np.nansum(found))
    if told > 1 + _ROUNDING or told <= 0:
        raise TableError(
            f"priors: probabilities of '{on}' add up to {told:.4g}",
            hint="at most 1, and not all of them 0",
        )
    lacking = np.isnan(found)
    share = (domain.histogram if rest is None else rest)[lacking].astype(np.float64)
    if lacking.any() and share.sum() > 0:
        found[lacking] = max(1 - told, 0.0) * share / share.sum()
    return np.nan_to_num(found)


def _covers(axis: PublishedQuasi, value: str | None) -> Bools:
    """Return which labels of a quasi-identifier cover a value, be it one that the table tells."""
    if value is None:
        return axis.missing
    quasi = read_quasi(pl.Series(axis.name, [value]), hierarchy=axis.tree)
    line = LabelReader(quasi.domain, quasi.tree, suppressing=True)
    places = [line.place(text) for text in axis.texts]
    return np.array([place is not None and len(place.runs) > 0 for place in places])
