"""wb.audit: the figures against brute force, the words, and what is refused."""

from __future__ import annotations

import re
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests.effort import examples
from wideberth import datasets
from wideberth.errors import ParameterError, PolicyError, TableError

#: Two groups with the same published quasi-identifiers (THEORY, "group known, group unknown").
OVERLAPPING = pl.DataFrame({"age": ["20..29"] * 4, "pay": [40, 60, 50, 80], "group": [1, 1, 2, 2]})


def names(audit: wb.Audit) -> list[str]:
    return [finding.name for finding in audit.findings]


def test_several_groups_together_can_tell_more_than_each():
    audit = wb.audit(
        OVERLAPPING,
        quasi="age",
        sensitive="pay",
        group="group",
        principles="epsilon-m:epsilon=15,m=2",
    )
    assert audit.satisfied
    attribute = audit.attributes[0]
    assert attribute.known.nearness.risk.worst == 1 / 2
    assert attribute.covering.nearness.risk.worst == 3 / 4  # 40, 50, 60 around 50
    assert audit.identity.prosecutor.worst == 1 / 2
    assert audit.identity.covering.worst == 1 / 4
    assert "mixture" in names(audit)


people = st.lists(
    st.tuples(st.integers(20, 40), st.sampled_from("fmx"), st.integers(0, 60)),
    min_size=12,
    max_size=60,
)


def table_of(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["age", "sex", "pay"], orient="row")


def covers(label: str, value: object) -> bool:
    """Read a published label as a person would."""
    if ".." in label:
        low, high = map(int, label.split(".."))
        return low <= int(value) <= high
    if label.startswith("{"):
        return str(value) in label[1:-1].split("|")
    return label == str(value)


def faced_by(person, release: pl.DataFrame) -> list[int]:
    """Return the values in all groups that cover somebody."""
    return [
        row["pay"]
        for row in release.iter_rows(named=True)
        if covers(row["age"], person[0]) and covers(row["sex"], person[1])
    ]


@given(people, st.integers(0, 12), st.integers(2, 4))
@examples(25, 8)
def test_what_covers_a_victim_is_as_counted_one_by_one(rows, epsilon, m):
    table = table_of(rows)
    principles = [f"epsilon-m:epsilon={epsilon},m={m}"]
    try:
        made = wb.anonymize(
            table, quasi=["age", "sex"], sensitive="pay", principles=principles, seed=1
        )
    except wb.InfeasibleError:
        return
    audit = wb.audit(made, original=table, swaps=False)
    release = made.table.cast({"age": pl.String, "sex": pl.String})
    near, alike, found = [], [], []
    for person in rows:
        values = faced_by(person, release)
        assert person[2] in values
        near.append(Fraction(sum(abs(v - person[2]) <= epsilon for v in values), len(values)))
        alike.append(Fraction(values.count(person[2]), len(values)))
        found.append(Fraction(1, len(values)))
    covering = audit.attributes[0].covering
    for risk, shares in (
        (covering.nearness.risk, near),
        (covering.guess, alike),
        (audit.identity.covering, found),
    ):
        assert risk.people == len(rows)
        assert risk.worst == pytest.approx(float(max(shares)))
        assert risk.mean == pytest.approx(float(sum(shares) / len(shares)))
        assert risk.above[0.5] == sum(share >= Fraction(1, 2) for share in shares)
    # THEORY: in any mixture of groups the bound is 2/m.
    assert max(near) <= Fraction(2, m)
    groups = release.group_by("group").agg("pay")["pay"].to_list()
    known = [
        Fraction(sum(abs(v - w) <= epsilon for w in values), len(values))
        for values in groups
        for v in values
    ]
    assert audit.attributes[0].known.nearness.risk.worst == pytest.approx(float(max(known)))
    assert audit.attributes[0].known.nearness.risk.mean == pytest.approx(
        float(sum(known) / len(known))
    )


@given(people, st.integers(1, 8), st.integers(2, 3))
@examples(15, 5)
def test_under_stab_any_mixture_keeps_the_bound(rows, delta, l):  # noqa: E741
    table = table_of(rows)
    try:
        made = wb.anonymize(
            table,
            quasi=["age", "sex"],
            sensitive="pay",
            principles=f"delta-l:delta={delta},l={l}",
            seed=1,
        )
    except wb.InfeasibleError:
        return
    audit = wb.audit(made, original=table, swaps=False)
    assert audit.attributes[0].covering.nearness.risk.worst <= 1 / l + 1e-12


def test_without_the_original_boxes_within_boxes_cover():
    table = pl.DataFrame(
        {"age": ["20..29", "20..29", "22..24", "22..24", "40"], "pay": [1, 2, 3, 4, 5]}
    )
    audit = wb.audit(table, quasi="age", sensitive="pay", epsilon=0)
    # Whoever is in 22..24 is in 20..29 too; not the other way round.
    assert audit.identity.covering.mean == pytest.approx((2 / 2 + 2 / 4 + 1) / 5)
    assert audit.identity.prosecutor.mean == pytest.approx((1 + 1 + 1) / 5)
    assert audit.identity.uniques == 1


def test_a_release_tells_what_it_is():
    people = datasets.sal(400)
    made = wb.anonymize(
        people,
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles=["k-anonymity:k=4", "epsilon-m:epsilon=1000,m=3"],
    )
    audit = wb.audit(made)
    assert audit
    assert audit.satisfied
    assert not audit.guessed
    assert audit.rows == 400
    assert audit.identity.smallest >= 4
    assert audit.attributes[0].known.nearness.risk.worst <= 1 / 3
    assert audit.to_dict()["roles"]["group"] == "group"
    assert {finding.severity for finding in audit.findings} <= {"low", "info"}


def test_what_is_said_of_a_release_goes_before_what_it_says():
    people = datasets.sal(100)
    made = wb.anonymize(
        people,
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles="k-anonymity:k=4",
    )
    audit = wb.audit(made, quasi=["age"], sensitive=["income"], principles="k-anonymity:k=2")
    assert audit.roles["quasi"] == ["age"]
    assert [str(report.principle) for report in audit.checked.principles] == ["k-anonymity:k=2"]


def test_hierarchies_of_a_release_are_known_to_it():
    people = datasets.sal(500)
    made = wb.anonymize(
        people,
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles="k-anonymity:k=5",
        algorithm="lattice",
        hierarchies={
            "age": {"interval": [10, 40]},
            "birthplace": {"interval": [100, 1000]},
            "occupation": {"interval": [200, 1000]},
        },
        suppression_limit=0.2,
    )
    audit = wb.audit(made, original=people, swaps=False)
    assert not [note for note in audit.notes if "could not be read" in note]
    assert audit.suppressed == 500 - audit.rows


def test_roles_are_guessed_and_that_is_said():
    audit = wb.audit(pl.DataFrame({"age": ["2*"] * 3, "disease": ["flu", "flu", "ulcer"]}))
    assert audit.guessed
    assert set(audit.reasons) == {"age", "disease"}
    assert audit.roles["quasi"] == ["age"]
    assert audit.roles["sensitive"] == ["disease"]
    assert any("guessed" in note for note in audit.notes)


def test_a_group_column_that_the_policy_does_not_name():
    policy = wb.Policy(
        roles={"quasi": ["age"], "sensitive": ["pay"]},
        principles=[wb.EpsilonMAnonymity(epsilon=15, m=2)],
    )
    audit = wb.audit(OVERLAPPING, policy=policy)
    assert audit.groups == 2
    assert audit.satisfied


def test_a_row_may_stand_for_several_people():
    table = pl.DataFrame({"age": ["2*", "2*"], "disease": ["flu", "ulcer"], "count": [3, 1]})
    for asked in ({"count": "count"}, {}):  # named, or guessed
        audit = wb.audit(table, quasi="age", sensitive="disease", **asked)
        assert audit.rows == 4
        assert audit.attributes[0].known.guess.worst == 3 / 4


def test_anatomy(tmp_path):
    people = datasets.patients(300)
    quasi = [c for c in people.columns if c != "diagnosis"]
    made = wb.anonymize(
        people,
        quasi=quasi,
        sensitive="diagnosis",
        principles="distinct-l:l=3",
        algorithm="anatomy",
    )
    made.save(tmp_path / "out")
    for audit in (wb.audit(made), wb.audit(tmp_path / "out", quasi=quasi, sensitive="diagnosis")):
        assert audit.attributes[0].covering is None
        assert audit.attributes[0].known.background.least >= 2
        assert audit.safe  # exact quasi-identifiers are what anatomy publishes
    guessed = wb.audit(tmp_path / "out")
    assert guessed.roles["sensitive"] == ["diagnosis"]


def test_journalist():
    release = pl.DataFrame({"age": ["20..29"] * 2 + ["30..39"], "pay": [1, 2, 3]})
    population = pl.DataFrame({"age": [20, 21, 22, 23, 35]})
    risk = wb.audit(release, quasi="age", sensitive="pay", population=population).identity
    assert risk.journalist.worst == 1  # alone in the population, too
    assert risk.journalist.mean == pytest.approx((1 / 4 + 1 / 4 + 1) / 3)


def test_priors_of_everybody_change_what_was_believed_before():
    table = pl.DataFrame({"age": ["2*"] * 4, "disease": ["flu", "flu", "flu", "hiv"]})
    audit = wb.audit(table, quasi="age", sensitive="disease", priors={"flu": 0.99, "hiv": 0.01})
    change = audit.to_dict()["attributes"][0]["known"]["change"]
    assert change["prior"] == "given"
    assert change["largest_ratio"] == pytest.approx(0.25 / 0.01)


def test_priors_of_some_people():
    table = pl.DataFrame(
        {
            "zip": ["130**"] * 4 + ["148**"] * 2,
            "disease": ["heart", "heart", "viral", "viral", "viral", "heart"],
        }
    )
    believed = pl.DataFrame(
        {"zip": ["13068"] * 2, "disease": ["heart", "viral"], "probability": [0.001, 0.999]}
    )
    audit = wb.audit(table, quasi="zip", sensitive="disease", priors=believed)
    [one] = audit.attributes[0].believed
    assert one.groups == 1
    # Theorem 3.1, with the table's own 3/6 for everybody.
    assert one.worst == pytest.approx(2 * 0.999 / (2 * 0.999 + 2 * 0.001))
    assert "positive-disclosure" in names(audit)


def test_other_releases():
    people = pl.DataFrame({"age": [21, 22, 31, 32], "ill": ["a", "b", "c", "d"]})
    one = pl.DataFrame({"age": ["20..29"] * 2 + ["30..39"] * 2, "ill": ["a", "b", "c", "d"]})
    two = pl.DataFrame({"age": ["21", "22..31", "22..31", "32"], "ill": ["a", "b", "c", "d"]})
    audit = wb.audit(one, original=people, quasi="age", sensitive="ill", others=[two])
    assert "several-releases" in names(audit)
    assert "several-releases" not in names(wb.audit(one, quasi="age", sensitive="ill"))


def test_releases_that_cannot_be_combined_are_not_called_harmless():
    people = pl.DataFrame({"age": [*range(20, 32)], "ill": list("abc") * 4})
    known = {"quasi": "age", "sensitive": "ill"}
    split = wb.anonymize(people, **known, principles="distinct-l:l=3", seed=1)
    parted = wb.anonymize(
        people, **known, principles="frequency-l:l=3", algorithm="anatomy", seed=1
    )
    for one, other in ((parted, split), (split, parted)):
        found = wb.audit(one, original=people, others=[other], swaps=False)
        [several] = [f for f in found.findings if f.name == "several-releases"]
        assert "not combined" in several.title
        assert "nothing grave" not in found.verdict
        assert "not exhausted" in found.verdict
        assert "nothing grave" not in found._repr_html_()
        told = wb.report(one, original=people, others=[other]).to_dict()["verdict"]
        assert told["level"] != "good"
        assert "nothing grave" not in told["headline"]


def test_suppression_and_perturbation():
    people = datasets.sal(300)
    quasi = ["age", "birthplace", "occupation"]
    audit = wb.audit(people.head(290), original=people, quasi=quasi, sensitive="income")
    assert audit.suppressed == 10
    changed = people.with_columns(income=pl.when(pl.col("age") > 60).then(1).otherwise("income"))
    audit = wb.audit(changed, original=people, quasi=quasi, sensitive="income")
    assert any("not as in the original" in note for note in audit.notes)


def test_nothing_is_quoted():
    secret = ["krankheit-a", "krankheit-b"]
    table = pl.DataFrame({"age": ["2*"] * 2, "name": ["x@y.org", "z@y.org"], "disease": secret})
    told = str(wb.audit(table, quasi="age", sensitive="disease").to_dict())
    assert not any(value in told for value in (*secret, "x@y.org"))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"original": pl.DataFrame({"age": [21], "pay": [40]})},
            TableError,
            "4 rows, the original only 1",
        ),
        (
            {"original": pl.DataFrame({"age": [21] * 5})},
            TableError,
            "the original has no column 'pay'",
        ),
        (
            {"original": pl.DataFrame({"pay": [40] * 5})},
            TableError,
            "the original has no column 'age'",
        ),
        (
            {"original": pl.DataFrame({"age": [21] * 5, "pay": [1] * 5})},
            TableError,
            "most values of 'pay'",
        ),
        (
            {"original": pl.DataFrame({"age": [51] * 5, "pay": [40, 60, 50, 80, 1]})},
            TableError,
            "original",
        ),
        ({"quasi": "agee"}, TableError, "no column 'agee'"),
        ({"epsilon": "near"}, ParameterError, "epsilon"),
        ({"priors": pl.DataFrame({"x": [1]})}, TableError, "priors need"),
        (
            {"population": pl.DataFrame({"x": [1]})},
            TableError,
            "the population has no column 'age'",
        ),
        (
            {"policy": wb.Policy(roles={"quasi": ["age"], "sensitive": ["income"]})},
            PolicyError,
            "income",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_input(arguments, error, message):
    usual = {} if "policy" in arguments else {"quasi": "age", "sensitive": "pay"}
    with pytest.raises(error, match=message):
        wb.audit(OVERLAPPING, **{**usual, "group": "group", **arguments})


def test_a_population_beside_an_anatomy():
    people = datasets.patients(200)
    quasi = [c for c in people.columns if c != "diagnosis"]
    made = wb.anonymize(
        people, quasi=quasi, sensitive="diagnosis", principles="distinct-l:l=2", algorithm="anatomy"
    )
    identity = wb.audit(made, population=people.drop("diagnosis")).identity
    assert identity.journalist.mean == identity.prosecutor.mean  # nobody else is in it


def test_presence_is_counted_by_what_labels_cover():
    release = pl.DataFrame({"age": ["20..29"] * 2, "pay": [1, 2]})
    population = pl.DataFrame({"age": [21, 22, 23, 24, 50]})
    for most, satisfied in (("0.5", True), ("0.4", False)):
        audit = wb.audit(
            release,
            quasi="age",
            sensitive="pay",
            principles=f"delta-presence:delta_min=0,delta_max={most}",
            population=population,
        )
        assert audit.satisfied is satisfied  # two of the four who are 20 to 29


def test_limits_of_disclosure():
    table = pl.DataFrame({"zip": ["1"] * 4 + ["2"] * 16, "ill": ["a", "a", "b", "c"] + ["c"] * 16})

    def breaches(**limits: float) -> int:
        audit = wb.audit(table, quasi="zip", sensitive="ill", limits=limits)
        return audit.to_dict()["attributes"][0]["known"]["change"]["breaches"]["people"]

    assert breaches() == 4  # all who face a: from 2/20 to 2/4
    assert breaches(rho2=0.6) == 0
    assert breaches(rho2=0.25) == 4  # b as well: from 1/20 to 1/4
    with pytest.raises(ParameterError, match="no 'rho3'"):
        breaches(rho3=1)


def test_how_near_is_near_for_each_attribute():
    table = pl.DataFrame({"zip": ["1"] * 4, "pay": [1000, 1050, 9000, 9900], "age": [1, 2, 3, 4]})
    audit = wb.audit(
        table, quasi="zip", sensitive=["pay", "age"], epsilon={"pay": 100, "age": "10%"}
    )
    told = [attribute["known"]["nearness"] for attribute in audit.to_dict()["attributes"]]
    assert [(near["epsilon"], near["relative"]) for near in told] == [(100, False), (0.1, True)]
    assert told[0]["risk"]["worst"] == 1 / 2


def test_what_holds_of_the_whole_table_is_no_finding():
    table = pl.DataFrame({"zip": ["1", "1", "2", "2"], "score": [1, 2, 3, 4]})
    assert "proximity" not in names(wb.audit(table, quasi="zip", sensitive="score", epsilon=100))
    assert "proximity" in names(wb.audit(table, quasi="zip", sensitive="score", epsilon=0.5))


def test_a_principle_that_holds_is_not_asked_for():
    table = pl.DataFrame({"zip": ["1"] * 2 + ["2"] * 2, "pay": [0, 150, 900, 1050]})
    audit = wb.audit(table, quasi="zip", sensitive="pay", principles="epsilon-m:epsilon=100,m=2")
    assert audit.satisfied
    [found] = [finding for finding in audit.findings if finding.name == "proximity"]
    assert found.severity == "medium"
    assert "delta-l" in found.advice


def test_findings_do_not_hide_one_another():
    rows = ["a"] * 2 + ["b"] * 9 + ["c"]
    table = pl.DataFrame({"zip": ["1"] * 2 + ["2"] * 10, "ill": rows})
    found = names(wb.audit(table, quasi="zip", sensitive="ill"))
    assert {"homogeneity", "likely-value", "background-knowledge"} <= set(found)


def test_who_is_alone_though_others_cover_them():
    people = pl.DataFrame({"age": [21, 22, 23, 50], "pay": [1, 2, 3, 4]})
    table = pl.DataFrame({"age": ["21..22", "20..22", "20..29", "50"], "pay": [1, 2, 3, 4]})
    audit = wb.audit(table, original=people, quasi="age", sensitive="pay")
    by_name = {finding.name: finding for finding in audit.findings}
    assert by_name["uniques"].figures["people"] == 2  # 23 and 50
    assert by_name["alone-in-group"].figures["people"] == 4


def test_a_column_that_the_policy_does_not_know():
    policy = wb.Policy(roles={"quasi": ["age"], "sensitive": ["pay"]})
    table = OVERLAPPING.with_columns(visits=pl.Series([1, 2, 2, 1]))
    audit = wb.audit(table, policy=policy)
    assert "unlisted-column" in names(audit)
    assert audit.roles["insensitive"] == ["visits"]


def test_a_manifest_tells_roles_and_principles(tmp_path):
    made = wb.anonymize(
        datasets.sal(300),
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles=["k-anonymity:k=3", "epsilon-m:epsilon=500,m=3"],
    )
    made.save(tmp_path / "release.csv")
    audit = wb.audit(tmp_path / "release.csv")
    assert not audit.guessed
    assert audit.satisfied
    assert [str(r.principle) for r in audit.checked.principles] == [
        "k-anonymity:k=3",
        "epsilon-m:epsilon=500,m=3",
    ]
    with (tmp_path / "release.csv").open("a") as file:  # another file than that of the manifest
        file.write("20..21,1,1,1,9\n")
    with pytest.raises(TableError, match=r"release\.csv is not the file that"):
        wb.audit(tmp_path / "release.csv")


def test_an_original_of_other_people_is_refused():
    people, others = datasets.sal(400), datasets.sal(400, seed=9)
    made = wb.anonymize(
        people.with_columns(ill=pl.Series(["a", "b"] * 200)),
        quasi=["age", "birthplace", "occupation"],
        sensitive=["income", "ill"],
        principles="distinct-l:on=income,l=3",
    )
    others = others.with_columns(pl.col("income") + 37, ill=pl.Series(["a", "b"] * 200))
    with pytest.raises(TableError, match="groups have more rows than they cover people"):
        wb.audit(made, original=others)


def test_a_sample_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr("wideberth.risk.audit._MANY_PAIRS", 500)
    people = datasets.sal(600)
    made = wb.anonymize(
        people,
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles="epsilon-m:epsilon=1000,m=3",
    )
    audit = wb.audit(made, original=people, swaps=False)
    victims = audit.attributes[0].victims
    assert not victims["exact"]
    assert victims["looked_at"] < victims["of"] == 600
    assert any(f"{victims['looked_at']:,} of 600 people" in note for note in audit.notes)
    everyone = wb.audit(made, original=people, swaps=False, everyone=True)
    assert everyone.attributes[0].victims["exact"]
    assert not [note for note in everyone.notes if "looked at" in note]


@pytest.mark.parametrize("label", ["x*", "{pilot|?}", "smith or so"])
def test_a_label_that_cannot_be_read_does_not_stop_an_audit(label):
    whole = pl.DataFrame({"job": ["smith", "cook", "nurse", "clerk"], "ill": list("abcd")})
    table = pl.DataFrame({"job": [label, "cook", label, "*"], "ill": list("abcd")})
    found = wb.audit(table, original=whole, quasi="job", sensitive="ill", swaps=False)
    assert any("could not be read" in note for note in found.notes)


@pytest.mark.parametrize("digits", [19, 20, 25, 60])
def test_long_ids(digits):
    ids = [str(10**digits + 7 * i) for i in range(30)]
    table = pl.DataFrame({"id": ids, "age": range(30), "ill": list("abc") * 10})
    assert "id" in wb.audit(table).to_dict()["roles"]["identifier"]


#: Tables with something to find: values, and what a policy asks of them.
ADVISED = [
    (["a"] * 9 + ["b"], ["k-anonymity:k=5"]),
    (["a"] * 9 + ["b"], ["k-anonymity:k=5", "frequency-l:l=2"]),
    (["a"] * 9 + ["b"], ["distinct-l:l=2", "frequency-l:l=1.1"]),
    (["a"] * 3 + ["b", "c", "d"], ["frequency-l:l=1.5"]),
    (["a"] * 6 + ["b"] * 3 + ["c"], []),
    (["a", "a", "a"], ["k-anonymity:k=5"]),
    (["a", "b"] * 4, ["entropy-l:l=3"]),
    ([100, 101, 102, 103, 900, 901, 902, 5000], ["epsilon-m:epsilon=50,m=3"]),
    ([100, 101, 102, 103, 900, 901, 902, 5000], ["epsilon-m:epsilon=10%,m=2"]),
    ([100, 101, 102, 103, 104, 105, 106, 5000], ["delta-l:delta=50,l=2"]),
    ([0, 150, 900, 1050], ["epsilon-m:epsilon=100,m=2"]),
]


@pytest.mark.parametrize(("values", "asked"), ADVISED)
def test_what_is_advised_is_possible_and_was_not_asked_for(values, asked):
    half = (len(values) + 1) // 2
    table = pl.DataFrame({"zip": ["1"] * half + ["2"] * (len(values) - half), "x": values})
    whole = table.with_columns(zip=pl.lit("*"))  # the best that any grouping can do
    found = wb.audit(table, quasi="zip", sensitive="x", principles=asked).findings
    assert found
    for finding in found:
        assert finding.advice
        told = re.findall(r"Ask for ([a-z-]+) with ([^:]+):", finding.advice)
        assert len(told) == finding.advice.count("Ask for")
        for name, parameters in told:
            advised = f"{name}:" + parameters.replace(" = ", "=").replace(" and ", ",")
            policy = [advised, *(one for one in asked if one.startswith(f"{name}:"))]
            if name == "epsilon-m":  # not monotone: a single group is not the best
                assert wb.anonymize(whole, quasi="zip", sensitive="x", principles=advised, seed=1)
                continue
            reports = wb.check(whole, quasi="zip", sensitive="x", principles=policy).principles
            assert reports[0].satisfied
            stronger = float(re.search(r"[kl]=([\d.]+)$", advised)[1])
            for one, report in zip(policy[1:], reports[1:], strict=True):
                weaker = float(re.search(r"[kl]=([\d.]+)$", one)[1]) < stronger
                assert weaker or not report.satisfied


def test_a_violated_principle_that_the_table_permits_is_asked_for_again_else_what_it_permits():
    rows = {"zip": ["1"] * 4 + ["2"] * 4, "ill": ["a"] * 4 + ["b"] * 2 + ["c"] * 2}
    found = wb.audit(pl.DataFrame(rows), quasi="zip", sensitive="ill", principles="frequency-l:l=2")
    advice = {finding.name: finding.advice for finding in found.findings}
    assert advice["policy"] == "Anonymize again with this policy."
    assert "anonymize again" in advice["homogeneity"]
    rows["ill"] = ["a"] * 7 + ["b"]
    found = wb.audit(pl.DataFrame(rows), quasi="zip", sensitive="ill", principles="frequency-l:l=2")
    advice = {finding.name: finding.advice for finding in found.findings}
    assert "No grouping of this table satisfies it" in advice["policy"]
    assert "l=1.14" in advice["policy"]
    assert "`allowed`" in advice["likely-value"]
    assert "7 of 8 rows" in advice["likely-value"]
