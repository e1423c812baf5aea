"""wb.report on real releases, of every algorithm and of odd tables: true, discreet, complete."""

from __future__ import annotations

import datetime
import json
import re
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl
import pytest

import wideberth as wb

#: Words that no report may contain.
ILLS = ("Quinsy", "Dropsy", "Ague", "Scurvy", "Croup")
TREE = wb.Hierarchy.build(
    [*ILLS, "of the throat", "of the body", "of the air", "any"], [5, 6, 7, 6, 5, 8, 8, 8, -1]
)
QUASI = ["age", "zip", "sex"]
LEVELS = {"age": {"interval": [5, 10, 20]}, "zip": {"mask": 2}, "sex": {"flat": True}}
SAFE = ["k-anonymity:k=4", "frequency-l:l=2,on=disease", "epsilon-m:epsilon=500,m=2,on=salary"]


@cache
def people() -> pl.DataFrame:
    at = range(90)
    return pl.DataFrame(
        {
            "age": [20 + 7 * i % 50 for i in at],
            "zip": [f"130{10 + 3 * i % 40}" for i in at],
            "sex": ["mf"[i % 2] for i in at],
            "disease": [ILLS[(i + i // 9) % 5] for i in at],
            "salary": [71_003 + 3_719 * i for i in at],
        }
    )


def made(**how: Any) -> wb.Release:
    asked = {"quasi": QUASI, "sensitive": ["disease", "salary"], "principles": SAFE, "seed": 1}
    return wb.anonymize(people(), **{**asked, **how})


WAYS: dict[str, dict[str, Any]] = {
    "paper": {"cuts": "paper"},
    "disjoint": {"cuts": "disjoint"},
    "quality": {"cuts": "quality"},
    "matching": {"dealing": "matching"},
    "bounds": {"recoding": "bounds"},
    "set": {"recoding": "set"},
    "nodes": {"recoding": "hierarchy", "hierarchies": LEVELS},
    "aligned": {"align": {"age": 5}},
    "named group": {"group": "room"},
    "stab": {"principles": ["delta-l:delta=500,l=2,on=salary", "distinct-l:l=2,on=disease"]},
    "closeness": {"principles": ["k-anonymity:k=4", "t-closeness:t=0.5,on=disease"]},
    "relative": {"principles": ["epsilon-m:epsilon=5%,m=2,on=salary", "distinct-l:l=2,on=disease"]},
    "two reaches": {
        "principles": ["epsilon-m:e1=100,e2=500,m=2,on=salary", "distinct-l:l=2,on=disease"]
    },
    "lattice": {"algorithm": "lattice", "hierarchies": LEVELS},
    "suppressed": {"algorithm": "lattice", "hierarchies": LEVELS, "suppression_limit": 0.4},
    "rounds": {
        **{"algorithm": "lattice", "hierarchies": LEVELS},
        **{"suppression_limit": 0.4, "local_rounds": 2},
    },
    "tree": {
        **{"sensitive": "disease", "identifier": "salary", "hierarchies": {"disease": TREE}},
        "principles": "l-e:l=2,e=1",
    },
    "anatomy": {
        **{"sensitive": "disease", "identifier": "salary", "hierarchies": {"disease": TREE}},
        **{"principles": "l-e:l=2,e=1", "algorithm": "anatomy"},
    },
    "anatomy of numbers": {
        **{"sensitive": "salary", "identifier": "disease"},
        **{"principles": "epsilon-m:epsilon=500,m=3", "algorithm": "anatomy"},
    },
    "dissimilarity": {
        **{"sensitive": "salary", "insensitive": "disease"},
        "principles": "dissimilarity:epsilon=500,delta=0.9,k=3",
    },
}


def tells_nothing(text: str) -> None:
    for ill in ILLS:
        assert ill not in text
    numbers = set(re.findall(r"\d[\d,]*", text))
    assert not numbers & {f"{s:{form}}" for s in people()["salary"] for form in ("d", ",d")}


def plain(told: wb.Report) -> dict[str, Any]:
    """Return what a report says, which JSON holds without loss."""
    text = told.json()
    assert json.loads(text, parse_constant=pytest.fail) == told.to_dict()
    return told.to_dict()


@pytest.mark.filterwarnings("ignore:dealing by matching")
@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_making_a_release(way):
    release = made(**WAYS[way])
    report = wb.report(release, original=people(), swaps=False)
    told = plain(report)
    assert told["policy"]["satisfied"] is True
    assert told["release"]["rows"] == release.table.height
    assert told["release"]["suppressed"] == 90 - release.table.height
    assert told["manifest"]["roles"] == release.manifest["roles"]
    assert told["queries"] is not None
    tells_nothing(report.json())
    alone = wb.report(release, swaps=False)
    assert plain(alone)["risk"]["before"] is None
    tells_nothing(alone.json())


def test_columns_called_like_what_objects_of_javascript_have() -> None:
    """Names are data: tables, pictures and JSON are those of any other names."""
    odd = dict(zip(people().columns, ["constructor", "toString", "__proto__", "valueOf", "in"],
                   strict=True))  # fmt: skip
    asked: dict[str, Any] = {"quasi": ["constructor", "__proto__"], "sensitive": ["valueOf", "in"]}
    asked["principles"] = [re.sub(r"\bon=(.*)", lambda on: f"on={odd[on[1]]}", one) for one in SAFE]
    asked |= {"identifier": "toString", "align": {"constructor": 5}}
    release = wb.anonymize(people().rename(odd), **asked, rows_are_people=True, seed=1)
    told = wb.report(release, original=people().rename(odd), swaps=False)
    plainly = made(quasi=["age", "sex"], identifier="zip", align={"age": 5})
    usual = wb.report(plainly, original=people(), swaps=False)
    risks = plain(told)["risk"]["after"]["attributes"]
    assert [one["on"] for one in risks] == ["valueOf", "in"]
    html, other = told.html(), usual.html()
    for tag in ("<svg", "<path", "<text", "<td", "<th"):
        assert html.count(tag) == other.count(tag)
    assert all(f">{name}<" in html for name in ("constructor", "__proto__", "valueOf"))


@pytest.mark.parametrize("way", ["paper", "suppressed", "tree", "anatomy", "dissimilarity"])
def test_pages(way):
    html = wb.report(made(**WAYS[way]), original=people(), swaps=False).html()
    tells_nothing(html)
    assert "<script" not in html
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#|data:)""", html)
    assert not re.findall(r"url\((?!#|data:)", html)
    assert len(html) < 1_000_000


def test_figures_are_those_of_the_parts():
    release = made()
    told = plain(wb.report(release, original=people(), swaps=False))
    audit = wb.audit(release, original=people(), swaps=False).to_dict()
    for key in ("identity", "rows", "groups", "boxes"):
        assert told["risk"]["after"][key] == audit[key]
    utility = wb.measure(release, original=people())
    figures = {figure["name"]: figure["value"] for figure in told["utility"]["figures"]}
    assert figures["ncp"] == pytest.approx(utility["ncp"])
    assert figures["discernibility"] == pytest.approx(utility["discernibility"])
    sizes = [group.height for group in release.table.partition_by("group")]
    assert told["group_sizes"]["smallest"] == min(sizes)
    assert told["group_sizes"]["largest"] == max(sizes)
    assert told["group_sizes"]["mean"] == pytest.approx(mean(sizes))
    assert sum(bar["rows"] for bar in told["group_sizes"]["histogram"]) == 90
    assert figures["discernibility"] == pytest.approx(sum(size * size for size in sizes))


def test_before_is_the_original():
    told = plain(wb.report(made(), original=people(), swaps=False))
    before = told["risk"]["before"]
    boxes = people().group_by(QUASI).len()["len"]
    assert before["identity"]["uniques"] == int((boxes == 1).sum())
    assert before["rows"] == 90
    near = [a["known"]["nearness"] for a in before["attributes"] if a["on"] == "salary"]
    assert near[0]["epsilon"] == 500


def test_a_violated_policy():
    told = plain(
        wb.report(
            people(), quasi=QUASI, sensitive=["disease", "salary"], principles="k-anonymity:k=4"
        )
    )
    assert told["verdict"]["level"] == "bad"
    assert told["policy"]["satisfied"] is False
    assert told["promise"].startswith("None")
    assert told["worst_groups"][0]["groups"]
    tells_nothing(json.dumps(told))


PRINCIPLES = [
    *("distinct-l:l=6,on=disease", "distinct-l:l=91,on=salary", "k-anonymity:k=50"),
    *("frequency-l:l=6,on=disease", "entropy-l:l=4.9,on=disease", "alpha-k:alpha=0.1,k=5"),
    *("recursive-cl:c=0.5,l=4,on=disease", "t-closeness:t=0.001,on=salary"),
    *("epsilon-m:epsilon=90000,m=9,on=salary", "delta-l:delta=90000,l=9,on=salary"),
    *("epsilon-m:epsilon=50%,m=9,on=salary", "l-e:l=5,e=1,on=disease"),
    *("variance:t=1e12,on=salary", "k-e:k=3,e=400000,on=salary"),
]


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_worst_groups_tell_no_value(principle):
    sensitive = "disease" if "alpha" in principle else ["disease", "salary"]
    report = wb.report(
        people().with_columns(zip=pl.lit("130**"), age=pl.lit("20..70")),
        quasi=QUASI,
        sensitive=sensitive,
        principles=principle,
        hierarchies={"disease": TREE},
    )
    assert plain(report)["policy"]["satisfied"] is False
    tells_nothing(report.json())


def test_another_release():
    first = made()
    second = made(principles=["k-anonymity:k=5"], seed=2)
    for original in (None, people()):
        told = plain(wb.report(first, others=[second], original=original, swaps=False))
        assert told["verdict"]
        tells_nothing(json.dumps(told))


def test_priors_and_population():
    priors = pl.DataFrame({"sex": ["m"], "disease": ["Quinsy"], "probability": [0.9]})
    everyone = pl.concat([people()] * 2).select(QUASI)
    report = wb.report(
        made(), original=people(), priors=priors, population=everyone, epsilon="3%", swaps=False
    )
    told = plain(report)
    assert told["risk"]["after"]["identity"]["journalist"]["worst"] <= 1 / 8
    tells_nothing(report.json() + report.html())


def test_one_or_two_people_are_not_pointed_at():
    """A group of two with one value: the report says that there are some, not how many."""
    table = pl.DataFrame({"zip": ["1"] * 2 + ["2"] * 6, "ill": ["Ague"] * 2 + list("abcdef")})
    report = wb.report(table, quasi="zip", sensitive="ill")
    text = json.dumps(report.to_dict()["findings"] + [report.to_dict()["verdict"]])
    assert "2 people" not in text
    assert "fewer than 3 people" in text.replace("\u00a0", " ").replace("\\u00a0", " ")
    tells_nothing(report.json())


def test_one_person_whom_two_releases_tell():
    one = pl.DataFrame({"age": ["20..29"] * 2 + ["30..39"] * 2, "ill": ["a", "b", "c", "d"]})
    two = pl.DataFrame({"age": ["20..34"] * 3 + ["35..39"], "ill": ["a", "c", "x", "d"]})
    told = plain(wb.report(one, quasi="age", sensitive="ill", others=[two]))
    found = next(f for f in told["findings"] if f["name"] == "several-releases")
    assert "leave one or more of 4 people one" in found["title"]
    assert found["figures"]["certain"] == {"before": 0, "after": "fewer than 3"}
    assert found["figures"]["mean"]["before"] == 0.5
    assert found["title"] in json.dumps(told["verdict"], ensure_ascii=False)


@pytest.mark.parametrize("gone", [1, 2])
def test_one_or_two_people_who_were_left_out(gone):
    kept = pl.DataFrame({"age": ["20..26"] * 4, "ill": list("abcd")})
    whole = pl.DataFrame({"age": [20, 22, 24, 26, 28, 30], "ill": list("abcdxx")}).head(4 + gone)
    told = plain(wb.report(kept, original=whole, quasi="age", sensitive="ill"))
    found = next(f for f in told["findings"] if f["name"] == "suppression")
    text = json.dumps(found)
    assert "fewer than 3" in found["title"]
    assert "fewer than 3 of whom no published label covers" in found["meaning"]
    assert "only" not in found["title"]
    assert not re.search(rf"\b{gone} (rows?|of whom)", text)
    assert found["figures"]["suppressed"] == "fewer than 3"


def test_rows_that_stand_alone_are_not_shown():
    table = pl.DataFrame({"age": [34] * 3 + [51, 62], "zip": ["13053"] * 3 + ["14850"] * 2})
    table = table.with_columns(pay=10 * pl.int_range(5))
    how = {"quasi": ["age", "zip"], "sensitive": "pay", "principles": "k-anonymity:k=4"}
    report = wb.report(table, **how)
    worst = plain(report)["worst_groups"][0]["groups"]
    assert [group["group"] for group in worst] == [{"age": 34, "zip": "13053"}, {}]
    for text in (report.json(), report.html()):
        assert "14850" not in text


def test_stars_are_suppressed_rows():
    peers = Path(__file__).parents[1] / "peers"
    how = {"quasi": ["age", "zip", "sex"], "sensitive": "disease", "swaps": False}
    told = plain(wb.report(peers / "arx.csv", original=peers / "people.csv", **how))
    assert told["release"]["suppressed"] == told["utility"]["suppressed"] == 73
    assert "no row is left out, 73 rows are published as *" in json.dumps(told["verdict"])


def test_what_could_not_be_measured_is_said():
    table = odd()
    release = table.with_columns(
        age=pl.when(AT < 12).then(pl.lit("young")).otherwise(pl.lit("old"))
    )
    report = wb.report(
        release,
        original=table,
        quasi=["age", "sex"],
        sensitive="pay",
        swaps=False,
    )
    assert plain(report)["queries"] is None
    note = "no count queries were asked: the release: the labels of column 'age' could not be"
    assert note in " ".join(report.to_dict()["notes"])
    assert "No count queries were asked" in report.html()
    told = plain(wb.report(release, quasi=["age", "sex"], sensitive="pay", probe=True))
    assert "no models were tried: the original is not given" in told["notes"]


def test_a_tradeoff_that_cannot_be_told(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise wb.TableError("column 'pay' has no numbers", hint="look at it")

    monkeypatch.setattr("wideberth.reports.report.advise", refuse)
    told = plain(wb.report(odd(), quasi=["age", "sex"], sensitive="pay"))
    assert told["tradeoff"] == []
    note = "which ε and m are possible for pay is not told: column 'pay' has no numbers"
    assert note in told["notes"]


def test_limits_are_the_same_before_and_after():
    limits = {"delta": 0.25, "rho2": 0.75}
    told = plain(
        wb.report(odd(), original=odd(), quasi=["age", "sex"], sensitive="pay", limits=limits)
    )
    for when in ("before", "after"):
        change = told["risk"][when]["attributes"][0]["known"]["change"]
        assert (change["positive"]["delta"], change["breaches"]["rho2"]) == (0.25, 0.75)


# Odd tables.

ROWS = 24


def odd(**columns: pl.Expr) -> pl.DataFrame:
    at = pl.int_range(ROWS)
    frame = pl.select(age=20 + 7 * at % 30, sex=at % 2, pay=(at * 37 % 50) * 10)
    return frame.with_columns(**columns)


AT = pl.int_range(ROWS)
DAY = pl.date(2000, 1, 1)
ODD: dict[str, pl.DataFrame] = {
    "as it is": odd(),
    "one row": odd().head(1),
    "two rows": odd().head(2),
    "nothing known": odd(pay=pl.lit(None, dtype=pl.Int64)),
    "nothing known, of no type": odd(pay=pl.lit(None)),
    "some unknown": odd(
        age=pl.when(AT % 5 == 0).then(None).otherwise(pl.col("age")),
        pay=pl.when(AT % 4 == 0).then(None).otherwise(pl.col("pay")),
    ),
    "one value": odd(pay=pl.lit(5)),
    "one box": odd(age=pl.lit(5), sex=pl.lit(1)),
    "large": odd(pay=pl.col("pay") * 10**15, age=pl.col("age") * 10**16),
    "unsigned": odd(pay=pl.col("pay").cast(pl.UInt64) + 2**63),
    "digits beyond numbers": odd(pay=pl.format("99999999999999999999999999{}", AT)),
    "floats": odd(pay=pl.col("pay") / 7, age=pl.col("age") / 3),
    "tiny": odd(pay=pl.col("pay") * 1e-300, age=pl.col("age") * 1e-200),
    "decimals": odd(pay=pl.col("pay").cast(pl.Decimal(12, 2))),
    "dates": odd(pay=DAY + pl.duration(days=pl.col("pay")), age=DAY + pl.duration(days="age")),
    "times": odd(pay=pl.datetime(2000, 1, 1) + pl.duration(seconds=pl.col("pay"))),
    "booleans": odd(pay=pl.col("pay") > 200, sex=pl.col("sex") == 1),
    "categories": odd(pay=pl.col("pay").cast(pl.String).cast(pl.Categorical)),
    "lists": odd(pay=pl.concat_list(pl.col("pay") * 1.0, pl.col("age") * 1.0)),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("original", [False, True], ids=["alone", "with original"])
def test_odd_tables(kind, original):
    table = ODD[kind]
    before = table if original else None
    report = wb.report(table, original=before, quasi=["age", "sex"], sensitive="pay")
    told = plain(report)
    assert told["release"]["rows"] == table.height
    assert told["risk"]["after"]["identity"]["prosecutor"]["people"] == table.height


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "one row"])
def test_releases_of_odd_tables(kind):
    table = ODD[kind]
    release = wb.anonymize(
        table, quasi=["age", "sex"], sensitive="pay", principles="k-anonymity:k=2", seed=1
    )
    told = plain(wb.report(release, original=table, swaps=False))
    assert told["policy"]["satisfied"] is True
    assert told["risk"]["after"]["identity"]["smallest"] >= 2


@pytest.mark.parametrize(
    "names",
    [
        ("^a.*(g$", "[s+e]x", "p.*|{y}"),
        ("^.*$", "any*", "^pay$"),
        ("<b>&\"'", "{{7*7}}", "<script>alert(1)</script>"),
        ("[red]", "[/]", "[bold]x[/bold]"),
        ("âge 年齢", "s e x\n", "💶"),
        ("count", "row", "probability"),
        ("on", "group", "people"),
    ],
    ids=["regex", "everything", "html", "markup", "unicode", "counts", "reserved"],
)
def test_names_are_only_names(names):
    table = odd()
    table.columns = list(names)
    first, second, last = names
    report = wb.report(table, original=table, quasi=[first, second], sensitive=last)
    told = plain(report)
    assert told["policy"]["roles"]["quasi"] == [first, second]
    assert told["policy"]["roles"]["sensitive"] == [last]
    assert told["release"]["rows"] == ROWS
    html = report.html()
    assert "<script" not in html
    assert "<b>&" not in html


def test_very_many_quasi_identifiers():
    quasi = [f"q{i}" for i in range(30)]
    table = odd(**{name: (AT * (i + 3)) % 5 for i, name in enumerate(quasi)})
    release = wb.anonymize(
        table.select(*quasi, "pay"),
        quasi=quasi,
        sensitive="pay",
        principles="k-anonymity:k=4",
        seed=1,
    )
    report = wb.report(release, original=table, swaps=False)
    assert plain(report)["policy"]["satisfied"] is True
    assert report.html()


def test_nothing_sensitive():
    report = wb.report(odd(), original=odd(), quasi=["age", "sex"], sensitive=[])
    told = plain(report)
    assert told["risk"]["after"]["attributes"] == [] or told["policy"]["guessed"]
    assert report.html()


def test_several_attributes_and_a_family():
    table = odd(
        ill=pl.format("i{}", AT % 3),
        **{f"of.{name}": (AT * step % 11) / 11 for name, step in (("a", 3), ("b", 5))},
    )
    sensitive = ["pay", "ill", "of.*"]
    report = wb.report(table, original=table, quasi=["age", "sex"], sensitive=sensitive)
    after = plain(report)["risk"]["after"]
    assert [attribute["on"] for attribute in after["attributes"]] == ["pay", "ill", "of.*"]


@pytest.mark.parametrize("empty", [None, "", "*"])
def test_a_column_that_is_wholly_suppressed(empty):
    """As tools write it that leave nothing of a column."""
    table = odd().cast({"age": pl.String}).with_columns(age=pl.lit(empty, dtype=pl.String))
    for original in (None, odd()):
        told = plain(
            wb.report(table, original=original, quasi=["age", "sex"], sensitive="pay", swaps=False)
        )
        assert told["release"]["groups"] == 2


def test_dates_are_told_in_days_and_not_at_all():
    born = [datetime.date(1950, 3, 1) + datetime.timedelta(days=997 * i) for i in range(ROWS)]
    table = odd().with_columns(pay=pl.Series(born))
    report = wb.report(
        table, quasi=["age", "sex"], sensitive="pay", principles="epsilon-m:epsilon=30,m=2"
    )
    text = report.json() + report.html()
    assert not any(str(day) in text for day in born)


# Where it goes.


@pytest.mark.parametrize("suffix", ["html", "htm", "json", "HTML"])
def test_saved(tmp_path: Path, suffix: str):
    report = wb.report(odd(), quasi=["age", "sex"], sensitive="pay")
    path = tmp_path / f"report.{suffix}"
    report.save(path)
    with pytest.raises(wb.OutputError, match="exists"):
        report.save(path)
    report.save(path, force=True)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    text = path.read_text(encoding="utf-8")
    assert text == (report.json() if suffix == "json" else report.html())
