"""All that is learnt of one sensitive attribute from the histograms that people face."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, fraction
from wideberth.core.groups import Groups
from wideberth.distances import DistanceFunction
from wideberth.risk.attacks.bayes import BeliefAttack, BeliefChange
from wideberth.risk.attacks.guess import RULED_OUT, BackgroundKnowledge, Homogeneity, own_shares
from wideberth.risk.attacks.intervals import ProximityAttack, ProximityResult, usual_epsilon
from wideberth.risk.attacks.similarity import (
    DissimilarityAttack,
    SimilarityAttack,
    SimilarityResult,
)
from wideberth.risk.attacks.situations import Risk, VictimClasses

#: How many entries of histograms are looked at in one go, and in how many threads.
_BLOCK, _THREADS = 1 << 17, 2


@dataclass(frozen=True, eq=False, kw_only=True)
class AdversarySettings:
    """What the adversary of an attribute knows and wants."""

    # how near is as good as known; None: `usual_epsilon` chooses
    epsilon: float | str | Fraction | None = None
    relative: bool = False  # epsilon is a share of the number
    chosen: str = "given"  # "given", "policy" or "audit"
    # distance on the tree at which two values are similar; None: not looked at
    e: float | Fraction | None = None
    # the largest that counts as near, by `distance`; None: not looked at
    far: float | Fraction | None = None
    distance: str | DistanceFunction = "auto"
    # of a principle, whose adversary rules out l - 1 values
    l: float | Fraction | None = None  # noqa: E741
    prior: Floats | None = None  # see `BeliefAttack`, as for the six that follow
    group_prior: Floats | None = None
    delta: float = 0.1
    negligible: float = 0.05  # ε of `BeliefAttack`
    floor: float = 0.1
    rho1: float = 0.1
    rho2: float = 0.5
    # The codes of values that need no protection: nobody is harmed who is known to have one, and
    # their rows are near nothing. They hide others all the same.
    harmless: Bools | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackResults:
    """What is learnt of an attribute; see the classes for each part."""

    guess: Risk
    certain: Homogeneity
    background: BackgroundKnowledge
    change: BeliefChange
    nearness: ProximityResult | None
    kinds: SimilarityResult | None
    dissimilarity: Risk | None
    attacks: AttributeAttacks

    @classmethod
    def merged(cls, parts: list[AttackResults]) -> AttackResults:
        """Put together what is learnt of different people."""
        nearness = [part.nearness for part in parts if part.nearness is not None]
        kinds = [part.kinds for part in parts if part.kinds is not None]
        far = [part.dissimilarity for part in parts if part.dissimilarity is not None]
        return cls(
            guess=Risk.merged([part.guess for part in parts]),
            certain=Homogeneity.merged([part.certain for part in parts]),
            background=BackgroundKnowledge.merged([part.background for part in parts]),
            change=BeliefChange.merged([part.change for part in parts]),
            nearness=ProximityResult.merged(nearness) if nearness else None,
            kinds=SimilarityResult.merged(kinds) if kinds else None,
            dissimilarity=Risk.merged(far) if far else None,
            attacks=parts[0].attacks,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON: numbers of people and shares, no value of the table."""
        return {
            "guess": self.guess.to_dict(),
            "certain": self.certain.to_dict(),
            "background": self.background.to_dict(),
            **self.attacks.to_dict(self),
        }


class AttributeAttacks:
    """All attacks on one attribute, made ready."""

    def __init__(self, domain: Domain, settings: AdversarySettings) -> None:
        self.beliefs = BeliefAttack(
            domain,
            prior=settings.prior,
            group_prior=settings.group_prior,
            delta=settings.delta,
            epsilon=settings.negligible,
            floor=settings.floor,
            rho1=settings.rho1,
            rho2=settings.rho2,
            harmless=settings.harmless,
        )
        self.harmless = settings.harmless
        ruled_out = 0 if settings.l is None else ceil(fraction(settings.l)) - 1
        self.ruled_out = max(RULED_OUT, ruled_out)
        self.neighbourhoods, self.chosen = None, settings.chosen
        if domain.numbers is not None:
            if settings.epsilon is None:
                epsilon, relative, self.chosen = usual_epsilon(domain), False, "audit"
            else:
                epsilon, relative = fraction(settings.epsilon), settings.relative
            self.neighbourhoods = ProximityAttack(
                domain, epsilon=epsilon, relative=relative, harmless=self.harmless
            )
        self.kinds = None
        if domain.tree is not None:
            self.kinds = SimilarityAttack(
                domain, None if settings.e is None else fraction(settings.e)
            )
        self.farness = None
        if settings.far is not None:
            self.farness = DissimilarityAttack(domain, fraction(settings.far), settings.distance)

    def on(self, faced: VictimClasses) -> AttackResults:
        """Look at all histograms at once."""
        near = faced
        if self.harmless is not None:
            faced = faced.guarded(self.harmless)
            near = faced.sparing(self.harmless)
        return AttackResults(
            guess=Risk.of(own_shares(faced), faced.people),
            certain=Homogeneity.of(faced),
            background=BackgroundKnowledge.of(faced, self.ruled_out, self.harmless),
            change=self.beliefs.change(faced),
            nearness=None if self.neighbourhoods is None else self.neighbourhoods.on(near),
            kinds=None if self.kinds is None else self.kinds.on(near),
            dissimilarity=None if self.farness is None else self.farness.on(near),
            attacks=self,
        )

    def to_dict(self, found: AttackResults) -> dict[str, Any]:
        """Return plain values of what depends on the settings."""
        near, kinds, far = self.neighbourhoods, self.kinds, self.farness
        return {
            "change": self.beliefs.to_dict(found.change),
            "nearness": near.to_dict(found.nearness, self.chosen)
            if near is not None and found.nearness is not None
            else None,
            "kinds": kinds.to_dict(found.kinds)
            if kinds is not None and found.kinds is not None
            else None,
            "dissimilarity": far.to_dict(found.dissimilarity)
            if far is not None and found.dissimilarity is not None
            else None,
        }


def learn(
    faced: VictimClasses | Iterable[VictimClasses],
    domain: Domain,
    settings: AdversarySettings | None = None,
) -> AttackResults:
    """Measure what an adversary learns of an attribute.

    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> pay = encode(pl.Series("salary", [1000, 1010, 1020, 50000])).domain
    >>> groups = Groups.of([[0, 1, 2, 3]], width=4)
    >>> found = learn(VictimClasses.known(groups), pay, AdversarySettings(epsilon=100))
    >>> found.to_dict()["nearness"]["claims"][1]["text"]
    "4 people's salary is known to within 100 with 75 % confidence"
    """
    # Large histograms may come in parts: no person and no histogram in two of them.
    attacks = AttributeAttacks(domain, settings or AdversarySettings())
    parts = [faced] if isinstance(faced, VictimClasses) else faced
    blocks = (block for part in parts for block in part.blocks(_BLOCK))
    if attacks.farness is not None:  # its memory is bounded: one at a time
        found = list(map(attacks.on, blocks))
    else:  # most of the work lets other threads work meanwhile
        with ThreadPoolExecutor(_THREADS) as pool:
            found = list(pool.map(attacks.on, blocks))
    return AttackResults.merged(found or [attacks.on(_nobody(domain))])


def _nobody(domain: Domain) -> VictimClasses:
    """Return histograms that there are none of."""
    empty = np.zeros(0, dtype=np.int64)
    nothing = Groups(start=np.zeros(1, np.int64), codes=empty, counts=empty, width=domain.size)
    return VictimClasses.known(nothing)
