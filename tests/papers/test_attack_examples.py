"""The attacks that the five papers tell of, found by an audit: in words and in numbers."""

from __future__ import annotations

import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets


def said(audit, name):
    """Return the words of a finding, of which there must be one."""
    (found,) = (finding for finding in audit.findings if finding.name == name)
    return found.title


# ---- Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-Diversity. ICDE 2006, Section 1.1

PATIENT = ["zip", "age", "nationality"]


def audited(figure, **rest):
    return wb.audit(figure.drop("row"), quasi=PATIENT, sensitive="condition", **rest)


def inpatients(figure, **rest):
    return audited(figure, **rest).to_dict()["attributes"][0]


def test_bob_has_cancer():
    """Alice knows that Bob is 31 and lives in 13053: all four who might be him have cancer."""
    known = inpatients(datasets.machanavajjhala2006_figure2())["known"]
    assert known["certain"] == {"people": 4, "groups": 1}
    assert known["guess"]["worst"] == 1
    assert known["guess"]["above"]["1"] == 4


def test_bob_has_cancer_if_only_his_quasi_identifiers_are_known():
    """With the original, Bob is found among those whom his age and zip fit, and nobody else."""
    original = datasets.machanavajjhala2006_figure1()
    found = inpatients(datasets.machanavajjhala2006_figure2(), original=original)
    assert found["covering"]["certain"]["people"] == 4
    assert found["victims"] == {"looked_at": 12, "of": 12, "exact": True}


def test_bob_and_umeko_in_words():
    found = audited(datasets.machanavajjhala2006_figure2())
    assert "condition of 4 people is certain" in said(found, "homogeneity")
    ruled_out = "condition of 4 people is certain once a single value is ruled out"
    assert said(found, "background-knowledge") == ruled_out
    assert not found.safe


def test_umeko_has_a_viral_infection():
    """Her group has two conditions, and Japanese rarely have the other: heart disease."""
    known = inpatients(datasets.machanavajjhala2006_figure2())["known"]
    nothing, one, two = known["background"]["ruled_out"][:3]
    assert nothing == {"values": 0, "worst": 1.0, "certain": 4}  # Bob's group
    assert one["certain"] == 8  # and Umeko's
    assert two["certain"] == 12


def test_umeko_by_what_is_believed_beforehand():
    """Theorem 3.1: 3 of 12 patients have heart disease, but only 1 % of people like her."""
    original = datasets.machanavajjhala2006_figure1()
    priors = pl.DataFrame(
        {
            "nationality": ["Japanese"],
            "age": [21],
            "zip": ["13068"],
            "condition": ["Heart Disease"],
            "probability": [0.01],
        }
    )
    table = datasets.machanavajjhala2006_figure2()
    (umeko,) = inpatients(table, original=original, priors=priors)["believed"]
    assert umeko["groups"] == 1
    # f(s|q*) is 3/12, 4/12 and 5/12; f(s|q) is 1 %, the rest as 4 to 5.
    heart, viral = 2 * 0.01 / (3 / 12), 2 * 0.99 * (4 / 9) / (4 / 12)
    assert umeko["worst"] == pytest.approx(viral / (heart + viral))
    assert umeko["worst"] > 0.97


def test_figure_3_withstands_both():
    """It is 3-diverse: nothing is certain before two conditions are ruled out."""
    known = inpatients(datasets.machanavajjhala2006_figure3())["known"]
    assert known["certain"] == {"people": 0, "groups": 0}
    assert [step["certain"] for step in known["background"]["ruled_out"][:3]] == [0, 0, 12]
    assert known["background"]["needed"]["least"] == 2


# ---- Li, Tao, Xiao: Preservation of proximity privacy. SIGMOD 2008, Section 1

COMPANY = {"quasi": ["age", "zip"], "sensitive": "salary", "group": "group"}


def test_andy_earns_about_a_thousand_with_75_percent():
    """Three of the four salaries in Andy's group are within [900, 1100]."""
    audit = wb.audit(datasets.li2008_table1b(), **COMPANY, epsilon=100)
    nearness = audit.to_dict()["attributes"][0]["known"]["nearness"]
    assert nearness["epsilon"] == 100
    assert nearness["chosen"] == "given"
    assert nearness["risk"]["worst"] == 0.75
    assert nearness["risk"]["above"]["0.75"] == 3
    claim = "4 people's salary is known to within 100 with 75 % confidence"
    assert claim in [claim["text"] for claim in nearness["claims"]]
    assert said(audit, "proximity") == claim


def test_andy_has_no_exact_salary():
    """Each value of his group is as likely as the others: 25 %."""
    known = wb.audit(datasets.li2008_table1b(), **COMPANY).to_dict()["attributes"][0]["known"]
    assert known["certain"]["people"] == 0
    assert known["guess"]["worst"] == 0.5  # the two groups of two


def test_andy_as_a_principle_that_fails():
    audit = wb.audit(
        datasets.li2008_table1b(), **COMPANY, principles="epsilon-m:epsilon=100,m=2"
    ).to_dict()
    assert audit["satisfied"] is False
    nearness = audit["attributes"][0]["known"]["nearness"]
    assert (nearness["epsilon"], nearness["chosen"]) == (100, "policy")


def test_a_mixture_of_groups_may_tell_more_than_each():
    """{40, 60} and {50, 80} in one box: each group obeys ε = 15, m = 2, both together do not."""
    table = pl.DataFrame({"age": ["20-30"] * 4, "group": [1, 1, 2, 2], "salary": [40, 60, 50, 80]})
    found = wb.audit(table, quasi="age", sensitive="salary", group="group", epsilon=15)
    attribute = found.to_dict()["attributes"][0]
    assert attribute["known"]["nearness"]["risk"]["worst"] == 0.5
    assert attribute["covering"]["nearness"]["risk"]["worst"] == 0.75


# ---- Zare-Mirakabad: (δ,l)-diversity. 2012, Section 1


def test_alice_earns_490_to_510():
    """She is 19. No salary has more than a third of a group, but three of four are near 500."""
    table = datasets.zaremirakabad2012_figure1()
    audit = wb.audit(table, quasi=["age", "zip"], sensitive="salary", epsilon=10)
    known = audit.to_dict()["attributes"][0]["known"]
    assert known["guess"]["worst"] <= 1 / 3
    assert known["nearness"]["risk"]["worst"] == 0.75
    assert (
        said(audit, "proximity") == "4 people's salary is known to within 10 with 75 % confidence"
    )


# ---- Wang, Meng, Bamba, Liu, Pu: A general proximity privacy principle. ICDE 2009, Example 2

DISEASE = ["flu", "asthma", "bronchitis", "none"]


def test_kevin_is_close_to_four_of_five():
    """Each value is his with 20 %, but that of tuple 2 is close to three of the other four."""
    far = wb.Dissimilarity(on=tuple(DISEASE), epsilon=0.1, delta=0.5, k=3)
    audit = wb.audit(
        datasets.wang2009_table1().drop("row", "group"),
        quasi=["age", "zip"],
        sensitive=DISEASE,
        principles=far,
    )
    risk = audit.to_dict()["attributes"][0]["known"]["dissimilarity"]
    assert audit.satisfied is False
    assert (risk["epsilon"], risk["worst"]) == (0.1, 0.75)
    assert "1 person has" in said(audit, "dissimilarity")
    first = wb.audit(
        datasets.wang2009_table1().head(5).drop("row", "group"),
        quasi=["age", "zip"],
        sensitive=DISEASE,
        principles=far,
    ).to_dict()
    assert first["attributes"][0]["known"]["guess"]["worst"] == 0.2


# ---- Wang, Han, Wang, Wang: (l,e)-Diversity. 2013, Section I


def stomachs(quasi, diseases):
    audit = wb.audit(
        quasi,
        sensitive_table=diseases.group_by("group", "disease").len("count"),
        quasi=["age", "sex", "zip"],
        sensitive="disease",
        group="group",
        hierarchies={"disease": datasets.wang2013_figure1()},
    )
    return audit, audit.to_dict()["attributes"][0]["known"]


def test_tom_has_something_with_his_stomach():
    """Tables II and III: the three diseases of Tom's group differ, but all are of the stomach."""
    audit, known = stomachs(datasets.wang2013_table2(), datasets.wang2013_table3())
    assert known["guess"]["worst"] < 1
    _, stomach, disease = known["kinds"]["levels"]
    assert (stomach["worst"], stomach["certain_people"]) == (1, 3)
    assert disease["worst"] < 1
    assert "what kind of disease 3 people have is certain" in said(audit, "similarity")


def test_tables_4_and_5_hide_toms_stomach():
    """They are (3,1)-diverse: no two of a group have diseases of one kind."""
    audit, known = stomachs(datasets.wang2013_table4(), datasets.wang2013_table5())
    assert not [finding for finding in audit.findings if finding.name == "similarity"]
    for level in known["kinds"]["levels"]:
        assert level["worst"] == pytest.approx(1 / 3)
        assert level["certain_people"] == 0
