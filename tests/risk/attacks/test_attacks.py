"""The attacks of the five papers, in words and numbers; identity; what is said; bad input."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.core.codes import Column, Domain, encode, join_columns
from wideberth.core.groups import Groups, Partition
from wideberth.risk.attacks import (
    AdversarySettings,
    BeliefAttack,
    DissimilarityAttack,
    IdentityRisk,
    ProximityAttack,
    SimilarityAttack,
    VictimClasses,
    identification_risk,
    interval_claim,
    learn,
    own_shares,
    posterior,
    share_without,
    usual_epsilon,
)

INPATIENTS = ("zip", "age", "nationality")


class Published:
    """A published table: who is in which group, and what the groups hold."""

    def __init__(self, table: pl.DataFrame, quasi: Sequence[str], sensitive: str) -> None:
        self.table = table
        self.column = encode(table[sensitive])
        self._group(quasi)

    def _group(self, quasi: Sequence[str]) -> None:
        columns = (encode(self.table[name]) for name in quasi)
        self.partition = Partition.by_equality(columns, len(self.table))
        self.groups = self.partition.histograms(self.column)
        self.faced = VictimClasses.known(self.groups)

    @property
    def domain(self) -> Domain:
        return self.column.domain

    def group_of(self, row: int) -> int:
        return int(self.partition.labels[row])

    def of(self, row: int, figures: Any) -> float:
        """Return the figure of the class of victims that a row is in."""
        here = (self.faced.owner == self.group_of(row)) & (
            self.faced.codes == self.column.codes[row]
        )
        (found,) = figures[here]
        return float(found)


# ---- Machanavajjhala et al. 2006


def test_bob_has_cancer() -> None:
    """31, American, 13053: row 9. All four of his group have cancer (homogeneity)."""
    table = Published(datasets.machanavajjhala2006_figure2(), INPATIENTS, "condition")
    bob = 8
    assert table.table["condition"][bob] == "Cancer"
    assert table.of(bob, own_shares(table.faced)) == 1
    found = learn(table.faced, table.domain).to_dict()
    assert found["certain"] == {"people": 4, "groups": 1}
    assert found["guess"]["above"]["1"] == 4
    # Whoever held each condition for as likely as in the whole table now is certain of his.
    assert found["change"]["positive"] == {"delta": 0.1, "people": 4, "groups": 1}
    assert found["change"]["largest_ratio"] == pytest.approx(12 / 5)
    assert found["change"]["largest_gain"] == pytest.approx(7 / 12)


def test_umeko_has_a_viral_infection() -> None:
    """21, Japanese, 13068: row 3. Two of her group have heart disease, which is ruled out."""
    table = Published(datasets.machanavajjhala2006_figure2(), INPATIENTS, "condition")
    umeko = 2
    assert table.table["condition"][umeko] == "Viral Infection"
    assert table.of(umeko, own_shares(table.faced)) == 0.5
    assert table.of(umeko, share_without(table.faced, 1)) == 1
    found = learn(table.faced, table.domain).to_dict()["background"]
    # Bob's four are certain anyway, her four with one value ruled out, the others with two.
    assert [step["certain"] for step in found["ruled_out"][:3]] == [4, 8, 12]
    assert found["needed"]["least"] == 0
    # Her prior of heart disease is a hundredth of that of people like those in her group.
    hers = posterior([2, 2], [Fraction(1, 200), Fraction(1, 2)], [Fraction(1, 2)] * 2)
    assert hers == [Fraction(1, 101), Fraction(100, 101)]


def test_three_diversity_stops_both() -> None:
    """Figure 3: of nobody is anything certain before two conditions are ruled out."""
    table = Published(datasets.machanavajjhala2006_figure3(), INPATIENTS, "condition")
    found = learn(table.faced, table.domain, AdversarySettings(l=3)).to_dict()
    assert found["certain"]["people"] == 0
    steps = found["background"]["ruled_out"]
    assert [step["worst"] for step in steps[:3]] == [0.5, pytest.approx(2 / 3), 1.0]
    assert [step["certain"] for step in steps[:3]] == [0, 0, 12]
    assert found["background"]["needed"]["least"] == found["background"]["needed"]["median"] == 2


def test_cancer_is_ruled_out_for_umekos_group() -> None:
    """Negative disclosure: 5 of 12 have cancer, but nobody of the first group."""
    table = Published(datasets.machanavajjhala2006_figure2(), INPATIENTS, "condition")
    beliefs = BeliefAttack(table.domain)
    # Cancer in her group, and in Bob's the two other conditions.
    assert beliefs.change(table.faced).negative == (8, 2)
    assert BeliefAttack(table.domain, floor=0.4).change(table.faced).negative == (4, 1)


# ---- Li, Tao, Xiao 2008


def test_andy_earns_about_1000() -> None:
    """17, 12k: row 1. Three of four of his group earn within 100 of 1,000."""
    table = Published(datasets.li2008_table1b(), ["group"], "salary")
    andy = 0
    near = ProximityAttack(table.domain, epsilon=Fraction(100))
    assert table.of(andy, near.shares(table.faced)) == 0.75
    claim = interval_claim(table.groups, table.group_of(andy), table.domain, epsilon=100)
    assert claim is not None
    assert (claim.low, claim.high, claim.confidence) == (1000, 1020, Fraction(3, 4))
    found = learn(
        table.faced, table.domain, AdversarySettings(epsilon=100, chosen="policy")
    ).to_dict()
    texts = [claim["text"] for claim in found["nearness"]["claims"]]
    assert texts[0] == "8 people's salary is known to within 100 with 50 % confidence"
    assert texts[1] == "4 people's salary is known to within 100 with 75 % confidence"
    assert texts[3] == "nobody's salary is known to within 100 with 100 % confidence"
    assert found["nearness"]["risk"]["above"] == {"0.5": 7, "0.75": 3, "0.9": 0, "1": 0}
    assert found["nearness"]["widths"][1]["least"] == 20


def test_a_mixture_may_be_worse() -> None:
    """{40, 60} and {50, 80}, ε = 15: each keeps 1/2, but who faces both knows 50 with 3/4."""
    column = encode(pl.Series("s", [40, 60, 50, 80]))
    near = ProximityAttack(column.domain, epsilon=Fraction(15))
    apart = VictimClasses.known(Partition(np.array([0, 0, 1, 1], np.int32), 2).histograms(column))
    assert near.on(apart).risk.worst == 0.5
    together = Partition(np.zeros(4, np.int32), 1).histograms(column)
    pooled = VictimClasses(
        groups=together,
        owner=np.zeros(4, dtype=np.int64),
        codes=column.codes.astype(np.int64),
        people=np.ones(4, dtype=np.int64),
    )
    assert near.shares(pooled).tolist() == [0.5, 0.5, 0.75, 0.25]


# ---- Zare-Mirakabad 2012


def test_alice_earns_490_to_510() -> None:
    """{490, 500, 510, 1000}: 3-diverse, yet with 75 % a salary of 490 to 510."""
    table = Published(datasets.zaremirakabad2012_figure1(), ["age", "zip"], "salary")
    alice = 1
    claim = interval_claim(table.groups, table.group_of(alice), table.domain, epsilon=10)
    assert claim is not None
    assert (claim.low, claim.high, claim.confidence) == (490, 510, Fraction(3, 4))
    assert learn(table.faced, table.domain).to_dict()["certain"]["people"] == 0


# ---- Wang, Meng, Bamba, Liu, Pu 2009


def test_kevins_disease_is_close_to_a_known_one() -> None:
    """Table I, ε = 0.1: four of five are close to row 2. So the claim has 80 %, the risk is 3/4."""
    frame = datasets.wang2009_table1()
    names = ["flu", "asthma", "bronchitis", "none"]
    column = join_columns("disease", [encode(frame[name]) for name in names])
    groups = Partition((frame["group"] - 1).to_numpy().astype(np.int32), 2).histograms(column)
    faced = VictimClasses.known(groups)
    far = DissimilarityAttack(column.domain, Fraction(1, 10), "variational")
    shares = far.shares(faced)
    second = (faced.owner == 0) & (faced.codes == column.codes[1])
    assert shares[second].tolist() == [0.75]
    assert far.on(faced).worst == 0.75
    settings = AdversarySettings(far=0.1, distance="variational")
    told = learn(faced, column.domain, settings).to_dict()["dissimilarity"]
    assert (told["epsilon"], told["distance"], told["worst"]) == (0.1, "variational", 0.75)
    (claim, *_) = wb.claims(frame, group="group", sensitive=names, on="+".join(names), epsilon=0.1)
    assert (claim.confidence, claim.risk) == (Fraction(4, 5), Fraction(3, 4))


# ---- Wang, Han, Wang, Wang 2013


def test_toms_stomach() -> None:
    """Three diseases, each with 1/3; but all of them say "stomach"."""
    tree = datasets.wang2013_figure1()
    people = datasets.wang2013_table2()
    (tom,) = np.flatnonzero((people["age"] == 52).to_numpy()).tolist()
    told = encode(datasets.wang2013_table3()["disease"]).with_tree(tree)
    kinds = SimilarityAttack(told.domain, e=Fraction(1))
    for table, certain in (
        (datasets.wang2013_table3(), 3),
        (datasets.wang2013_table5(), 0),
    ):
        disease = encode(table["disease"]).with_tree(tree)
        labels = (table["group"] - 1).to_numpy().astype(np.int32)
        faced = VictimClasses.known(Partition(labels, 3).histograms(disease))
        found = kinds.on(faced)
        assert [level.certain_people for level in found.levels] == [certain, certain, 0]
        if certain:
            its = faced.owner == people["group"][tom] - 1
            assert kinds.shares(faced, 2)[its].tolist() == [1, 1, 1]
            assert own_shares(faced)[its].tolist() == [1 / 3] * 3
            assert found.levels[1].kind == "stomach"
            assert found.similarity is not None
            assert found.similarity.above[1.0] == 3
            told_of = json.dumps(learn(faced, disease.domain, AdversarySettings(e=1)).to_dict())
            assert "stomach" not in told_of
            assert '"e": 1' in told_of
        else:
            assert found.similarity is not None
            assert found.similarity.worst == pytest.approx(1 / 3)


# ---- identity


def test_identity_by_hand() -> None:
    identity = IdentityRisk.of(
        np.array([1, 2, 5]),
        population=np.array([10, 2, 4]),
        covering=identification_risk(np.array([8, 3, 0]), np.array([1, 6, 1])),
    )
    found = identity.to_dict()
    assert found["prosecutor"] == {
        "worst": 1.0,
        "mean": pytest.approx(3 / 8),
        "people": 8,
        "above": {"0.5": 3, "0.75": 1, "0.9": 1, "1": 1},
    }
    assert found["marketer"] == pytest.approx(3 / 8)
    assert (found["uniques"], found["smallest"]) == (1, 1)
    # Of the last group the population has fewer than the table: its own 5 are taken.
    assert found["journalist"]["worst"] == 0.5
    assert found["journalist"]["mean"] == pytest.approx((1 / 10 + 2 / 2 + 5 / 5) / 8)
    assert found["lacking"] == 5
    assert found["covering"]["mean"] == pytest.approx((1 / 8 + 6 / 3) / 8)
    assert IdentityRisk.of(np.array([2, 3])).to_dict()["journalist"] is None
    nobody = IdentityRisk.of(np.zeros(0, dtype=np.int64))
    assert (nobody.smallest, nobody.prosecutor.worst, nobody.marketer) == (0, 0, 0)


def test_people_who_are_not_rows() -> None:
    """Three people are known to be in the group of two rows, none in the other."""
    identity = IdentityRisk.of(np.array([2, 1]), people=np.array([3, 0]))
    assert (identity.prosecutor.worst, identity.prosecutor.people, identity.uniques) == (0.5, 3, 0)


# ---- what is said


def in_one_group(values: Sequence[Any], **settings: Any) -> dict[str, Any]:
    column = encode(pl.Series("stay", values))
    groups = Partition(np.zeros(len(values), np.int32), 1).histograms(column)
    found = learn(
        VictimClasses.known(groups), column.domain, AdversarySettings(**settings)
    ).to_dict()
    json.dumps(found)  # plain values throughout
    return found["nearness"]


def test_claims_in_words() -> None:
    alone = in_one_group([7], epsilon=1500)
    assert alone["claims"][3]["text"] == (
        "1 person's stay is known to within 1,500 with 100 % confidence"
    )
    dated = in_one_group([date(2024, 1, 1), date(2024, 1, 2)], epsilon=1)
    assert "within 1 day with" in dated["claims"][0]["text"]
    assert dated["widths"][3]["text"] == (
        "for half of the people, an interval of width 1 day holds 100 % of their group"
    )
    shares = in_one_group([100, 110], epsilon=0.125, relative=True)
    assert "within 12.5 % with" in shares["claims"][3]["text"]
    assert shares["claims"][3]["people"] == 2
    missing = in_one_group([None, None, 5], epsilon=1)
    assert [claim["people"] for claim in missing["claims"]] == [0, 0, 0, 0]
    assert missing["widths"][0] == {
        "confidence": 0.5,
        "least": None,
        "median": None,
        "text": None,
    }


@pytest.mark.parametrize(
    ("values", "epsilon"),
    [
        (range(0, 100_000, 100), Fraction(5000)),
        (range(40), Fraction(2)),
        ([0, 1, 2], Fraction(1)),
        ([x / 1000 for x in range(100)], Fraction(5, 1000)),
        ([3, 3, 3], Fraction(1)),
        ([0.5], Fraction(0)),
        ([0] * 1000 + [4000], Fraction(200)),
        ([date(2024, 1, 1) + timedelta(days) for days in range(1000)], Fraction(50)),
        ([None, None], Fraction(1)),
    ],
)
def test_a_usual_epsilon(values: Sequence[Any], epsilon: Fraction) -> None:
    column = encode(pl.Series("s", values, dtype=pl.Int64 if values[0] is None else None))
    assert usual_epsilon(column.domain) == epsilon


def test_who_chose_epsilon() -> None:
    found = in_one_group(range(40))
    assert (found["epsilon"], found["chosen"]) == (2, "audit")
    assert in_one_group(range(40), epsilon=3)["chosen"] == "given"


def test_more_values_are_ruled_out_for_a_larger_l() -> None:
    groups = Groups.of([list(range(9))], width=9)
    domain = Domain(name="s", histogram=np.ones(9, dtype=np.int64))
    found = learn(VictimClasses.known(groups), domain, AdversarySettings(l=8)).to_dict()[
        "background"
    ]
    assert [step["worst"] for step in found["ruled_out"]] == [1 / n for n in range(9, 1, -1)]
    assert found["needed"]["people"]["more"] == 9


def test_a_given_prior() -> None:
    """β is what the histogram says, α what was given."""
    groups = Groups.of([[0, 1]], width=2)
    domain = Domain(name="s", histogram=np.array([1, 1]))
    found = learn(
        VictimClasses.known(groups), domain, AdversarySettings(prior=np.array([1, 19]))
    ).to_dict()
    assert found["change"]["prior"] == "given"
    assert found["change"]["largest_ratio"] == pytest.approx(10)
    assert found["change"]["breaches"] == {
        "rho1": 0.1,
        "rho2": 0.5,
        "people": 2,
        "upward": 2,  # both face a value of which 5 % was believed, and now half
        "downward": 2,
    }


def test_a_breach_is_of_any_value() -> None:
    """Against counting: everybody who faces a value that went from at most ρ1 to at least ρ2."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        members = [rng.integers(0, 6, int(rng.integers(2, 6))).tolist() for _ in range(5)]
        histogram = np.bincount(np.concatenate(members), minlength=6)
        domain = Domain(name="s", histogram=histogram)
        change = BeliefAttack(domain, rho1=0.2, rho2=0.5).change(
            VictimClasses.known(Groups.of(members, width=6))
        )
        prior = [Fraction(int(n), int(histogram.sum())) for n in histogram]
        wanted = sum(
            len(group)
            for group in members
            if any(
                prior[value] <= Fraction(1, 5)
                and Fraction(group.count(value), len(group)) >= Fraction(1, 2)
                for value in set(group)
            )
        )
        assert change.upward == wanted


# ---- bad input


def test_posteriors_that_there_are_none_of() -> None:
    for arguments, match in (
        (([1, 1], [0.5, 0.5], [1.0, 0.0]), "probability 0"),
        (([1, 0], [0.0, 1.0], [0.5, 0.5]), "probability 0 for the victim"),
        (([1], [0.5, 0.5]), "1 counts, but 2 and 2"),
        (([-1, 2], [0.5, 0.5]), "negative"),
        (([0, 0], [0.5, 0.5]), "probability 0"),
    ):
        with pytest.raises(wb.ParameterError, match=match):
            posterior(*arguments)  # type: ignore[arg-type]
    assert posterior([3, 0], [0.5, 0.5], [0.5, 0]) == [1, 0]
    assert posterior([1, 3], [1, 1]) == [Fraction(1, 4), Fraction(3, 4)]
    assert isinstance(posterior([1, 3], [0.5, 0.5])[0], float)


def numbers() -> Column:
    return encode(pl.Series("pay", [1, 2, 3]))


def test_settings_that_make_no_sense() -> None:
    pay = numbers().domain
    faced = VictimClasses.known(Groups.of([[0, 1, 2]], width=3))
    for settings, match in (
        (AdversarySettings(epsilon=-1), "0 or more"),
        (AdversarySettings(epsilon=2, relative=True), "from 0 to 1"),
        (AdversarySettings(rho1=2), "rho1"),
        (AdversarySettings(delta=-0.1), "delta"),
        (AdversarySettings(prior=np.ones(2)), "3 values, but 2"),
        (AdversarySettings(prior=np.array([1, np.nan, 1])), "numbers from 0 up"),
        (AdversarySettings(prior=np.array([1, -1, 1])), "numbers from 0 up"),
        (AdversarySettings(prior=np.array([1, 0, 1])), "probability 0"),
        (
            AdversarySettings(prior=np.array([1, 1, 0]), group_prior=np.array([1, 1, 0])),
            "probability 0",
        ),
    ):
        with pytest.raises(wb.ParameterError, match=match):
            learn(faced, pay, settings)
    alone = VictimClasses.known(Groups.of([[0], [1, 2]], width=3))
    impossible = AdversarySettings(prior=np.array([0, 1, 1]), group_prior=np.ones(3))
    with pytest.raises(wb.ParameterError, match="for the victim"):
        learn(alone, pay, impossible)
    dated = encode(pl.Series("born", [date(2000, 1, 1)])).domain
    with pytest.raises(wb.ParameterError, match="'born'"):
        ProximityAttack(dated, epsilon=Fraction(1, 2), relative=True)
    with pytest.raises(wb.ParameterError, match="no hierarchy"):
        SimilarityAttack(pay)
    with pytest.raises(wb.TableError, match="holds none"):
        ProximityAttack(encode(pl.Series("s", ["a"])).domain, epsilon=Fraction(1))
    with pytest.raises(wb.ParameterError, match="2 groups"):
        IdentityRisk.of(np.array([1, 2]), population=np.array([1]))
