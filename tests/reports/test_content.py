"""Reports: what they say, what they keep to themselves, and how they are shown."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import wideberth as wb
from tests.reports import samples
from wideberth.core.text import FEWER_THAN_3
from wideberth.errors import OutputError
from wideberth.reports import charts, tables
from wideberth.reports import notebook as showing
from wideberth.reports.content import POINTS, Report, check_path, compose
from wideberth.reports.redact import redact_small_counts
from wideberth.reports.terminal import render_report

Dict = dict[str, Any]


def report(**changed: Any) -> Report:
    return compose(**{**samples.parts(), **changed})


def audit(**changed: Any) -> Dict:
    return {**samples.audit(), **changed}


def finding(severity: str) -> Dict:
    return {**samples.findings()[1], "severity": severity, "title": f"a {severity} one"}


def shown(told: Report, **options: Any) -> str:
    file = StringIO()
    out = Console(file=file, width=80, highlight=False, markup=False, emoji=False)
    for part in render_report(told, **options):
        out.print(part)
    return file.getvalue()


def spoken(told: Report) -> str:
    return str(told).replace("\u00a0", " ")


# What it says.


def test_verdict_tells_before_and_after_the_price_and_the_limits() -> None:
    said = spoken(report())
    assert "Before: 19,812 people (99.1 %) are alone with their quasi-identifiers." in said
    assert "After: nobody can be told from fewer than 4 others." in said
    known = "nobody's value is guessed to within 4,500 with a chance above 20 %."
    assert f"After, if the group is known, {known}" in said
    assert "learns more: the chance is up to 33.4 %" in said
    assert "7.1 % of the quasi-identifiers' detail is lost (NCP), no row is left out" in said
    assert "Safety from those who know how the groups were chosen" in said


@pytest.mark.parametrize(
    ("changed", "level", "headline"),
    [
        ({}, "good", "nothing grave"),
        ({"findings": [finding("low")]}, "good", "nothing grave"),
        ({"findings": [finding("medium")]}, "caution", "1 finding"),
        ({"findings": [finding("low"), finding("high")]}, "bad", "there is 1 grave finding"),
        ({"guessed": True}, "caution", "guessed"),
        ({"satisfied": None, "principles": []}, "caution", "No policy was given"),
        ({"satisfied": None, "principles": [], "findings": [finding("high")]}, "bad", "1 grave"),
        (
            {"satisfied": False, "principles": samples.principles(satisfied=False)},
            "bad",
            "1 of 2 principles failed",
        ),
    ],
)
def test_verdict_is_no_better_than_what_was_found(changed: Dict, level: str, headline: str) -> None:
    verdict = report(audit=audit(**{"findings": [], **changed})).content["verdict"]
    assert verdict["level"] == level
    assert headline in verdict["headline"]


def test_overlapping_groups_that_tell_more_are_said() -> None:
    verdict = report().content["verdict"]
    assert verdict["level"] == "caution"
    assert "groups that overlap tell more" in verdict["headline"]


def test_a_sample_is_called_one() -> None:
    told = audit()
    told["attributes"][0]["victims"] = {"looked_at": 1000, "of": 20_000, "exact": False}
    told["attributes"][0]["covering"]["certain"]["people"] = 7
    told["identity"].update(uniques=40, smallest=1)
    told["identity"]["covering"]["above"]["1"] = 9
    made = report(audit=told)
    said = "(1,000 of 20,000 looked at)"
    assert f"up to 33.4 % {said}." in spoken(made)
    assert "After: at least 9 people are alone with their quasi-identifiers and 40" in spoken(made)
    for text in (made.html(), " ".join(shown(made).split()), showing.audit_html(told)):
        assert said in text or "of 20,000 looked at)" in text
    assert "looked at" not in showing.audit_html(audit())
    assert "looked at" not in report().html()


def test_who_is_alone_depends_on_what_is_known() -> None:
    told = audit()
    told["identity"].update(uniques=12, smallest=1)
    made = report(audit=told)
    assert "After: 12 people (0.1 %) are alone in their group." in spoken(made)
    rows = dict(row[::2] for row in tables.identity_table(made.content["risk"]).rows)
    assert rows["people alone in their group"] == "12"
    assert rows["people alone with their quasi-identifiers"] == "0"
    told["identity"]["covering"] = None  # quasi-identifiers are as they were
    made = report(audit=told)
    assert "After: 12 people (0.1 %) are alone with their quasi-identifiers." in spoken(made)
    assert "by who knows their quasi-identifiers and that" in made.html()


def test_figures_at_a_glance_are_the_worse_of_both_adversaries() -> None:
    def glance(told: Dict) -> list[str]:
        tiles = re.findall(r"<li><strong>(.*?)</li>", report(audit=told).html())
        return [re.sub("<.*?>", "", tile).replace("\u00a0", " ") for tile in tiles]

    told = audit()
    worst = "worst chance to guess income to within 4,500"
    assert glance(told)[:2] == [
        "100 % → 20 % worst chance to find a row, whether or not the group is known",
        f"100 % → 33.4 % {worst}, group not known (20 % if the group is known)",
    ]
    told["attributes"][0]["covering"]["nearness"]["risk"]["worst"] = 0.1
    assert glance(told)[1] == f"100 % → 20 % {worst} if the group is known"
    told["attributes"][0]["covering"] = None
    assert glance(told)[1] == f"100 % → 20 % {worst} if the group is known"


def test_disclosures_are_named_with_their_limits() -> None:
    told = audit()
    change = told["attributes"][0]["known"]["change"]
    change["positive"].update(delta=0.05, people=31)
    change["negative"].update(epsilon=0.02, floor=0.1, people=44)
    change["breaches"].update(rho1=0.2, rho2=0.6, people=55)
    rows = [" | ".join(row) for row in tables.learned_table(told["attributes"][0], None).rows]
    text = "\n".join(rows).replace("\u00a0", " ")
    assert (
        "people whose value is believed with more than 95 % (positive disclosure, δ = 0.05) | 31"
    ) in text
    assert (
        "people of whom a value is all but ruled out: below 2 %, before 10 % or more "
        "(negative disclosure, ε = 0.02) | 44"
    ) in text
    assert (
        "people of whom a belief goes from 20 % or less to 60 % or more, or from 80 % or more to "
        "40 % or less ((ρ1,ρ2)-breach) | 55"
    ) in text


def test_rows_of_stars_are_said() -> None:
    utility = {**samples.utility(), "rows": 19_927}
    told = report(utility=utility)
    assert "no row is left out, 73 rows are published as *" in spoken(told)
    assert told.content["release"]["suppressed"] == told.content["release"]["starred"] == 73
    told = report(audit=audit(suppressed=5), utility=utility)
    assert "5 rows are left out, 73 rows are published as *" in spoken(told)
    assert told.content["release"]["suppressed"] == 78


def test_failing_principle_is_named_with_its_groups() -> None:
    told = audit(satisfied=False, principles=samples.principles(satisfied=False))
    said = spoken(report(audit=told))
    assert (
        "Violated: epsilon-m (epsilon = 4,500, m = 5) on income, in 37 groups with 185 rows."
        in said
    )
    assert report(audit=told).content["promise"].startswith("None")


def test_relative_and_dated_reaches_have_their_units() -> None:
    told = audit()
    told["attributes"][0]["known"]["nearness"].update(epsilon=0.1, relative=True)
    assert "guessed to within 10 % with" in spoken(report(audit=told))
    told["attributes"][0]["known"]["nearness"].update(epsilon=30, relative=False, unit="days")
    assert "guessed to within 30 days with" in spoken(report(audit=told))


def test_what_counts_is_to_be_near_where_near_means_something() -> None:
    told = audit()
    known = told["attributes"][0]["known"]
    known.update(nearness=None, dissimilarity={"epsilon": 0.1, **samples.risk(0.75, 0.2, 20_000)})
    assert "guessed to within 0.1 with a chance above 75 %" in spoken(report(audit=told))
    known.update(dissimilarity=None)
    known["kinds"] = {"levels": [], "similarity": samples.risk(0.6, 0.2, 20_000, 5), "e": 1}
    made = report(audit=told)
    assert "guessed but for similar values (e = 1) with a chance of 50 % or more" in spoken(made)
    assert made.html()


def test_a_table_of_two_people() -> None:
    told = samples.audit(rows=2, groups=1)
    told["attributes"][0]["covering"] = None
    assert compose(audit=told).html()


def test_gravest_finding_comes_first() -> None:
    told = report(audit=audit(findings=[finding("info"), finding("high"), finding("low")]))
    assert [f["severity"] for f in told.content["findings"]] == ["high", "low", "info"]
    assert "The gravest (high): a high one. There are 2 further ones." in spoken(told)


def test_a_table_alone_is_enough() -> None:
    bare = audit(satisfied=None, principles=[], findings=[], original_rows=None, suppressed=None)
    bare["attributes"][0].update(covering=None, victims=None)
    bare["identity"]["covering"] = None
    told = compose(audit=bare)
    assert "before" not in spoken(told).lower()
    assert "There is no manifest" in told.html()
    assert json.loads(told.json())["risk"]["before"] is None
    assert shown(told)


def test_nothing_sensitive_at_all() -> None:
    told = compose(audit=audit(attributes=[], roles={"quasi": ["age"]}))
    assert "No sensitive attribute was named" in told.html()


def test_measured_utility_comes_before_the_manifest() -> None:
    told = report(utility=samples.utility(), probe=samples.probe(), group_sizes=None)
    assert "25 % of the quasi-identifiers' detail" in spoken(told)
    assert told.content["group_sizes"]["histogram"][0]["groups"] == 3601
    assert "height (no hierarchy of &#39;age&#39;)" in told.html()
    assert "normalized certainty penalty" in shown(told)
    assert "ridge: R²" in shown(told)


# What it keeps to itself.


def test_one_or_two_people_are_not_counted_where_their_values_are_learnt() -> None:
    told = audit()
    known = told["attributes"][0]["known"]
    known["guess"]["above"] = {"0.5": 3, "0.75": 2, "0.9": 1, "1": 0}
    known["certain"] = {"people": 1, "groups": 1}
    known["background"]["needed"]["people"] = {"0": 2, "1": 30, "more": 0}
    known["nearness"]["claims"] = [
        {"people": 1, "confidence": 1.0, "within": 5, "text": "1 person's income is known to …"}
    ]
    made = report(audit=told)
    after = made.content["risk"]["after"]["attributes"][0]["known"]
    assert after["guess"]["above"] == {"0.5": 3, "0.75": FEWER_THAN_3, "0.9": FEWER_THAN_3, "1": 0}
    assert after["certain"] == {"people": FEWER_THAN_3, "groups": FEWER_THAN_3}
    assert after["background"]["needed"]["people"] == {"0": FEWER_THAN_3, "1": 30, "more": 0}
    assert after["nearness"]["claims"][0]["text"] == f"{FEWER_THAN_3} people's income is known to …"
    assert told["attributes"][0]["known"]["certain"]["people"] == 1, "what was given stays"
    assert "fewer than 3 people&#39;s income" in made.html()


def test_findings_do_not_point_either() -> None:
    found = {**finding("high"), "title": "income of 1 person is certain, of 12 people nearly"}
    found["figures"] = {"people": 1, "risk": samples.risk(1.0, 0.5, 2, 2, 1)}
    told = report(audit=audit(findings=[found])).content["findings"][0]
    assert told["title"] == f"income of {FEWER_THAN_3} people is certain, of 12 people nearly"
    assert told["figures"]["people"] == FEWER_THAN_3
    assert told["figures"]["risk"]["people"] == 2, "all that there are"
    assert told["figures"]["risk"]["above"] == {
        "0.5": FEWER_THAN_3,
        "0.75": FEWER_THAN_3,
        "0.9": 0,
        "1": 0,
    }


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("1 person of 200 is alone", "fewer than 3 people of 200 are alone"),
        ("pay of 1 person is certain", "pay of fewer than 3 people is certain"),
        ("what kind of ill 1 person has is", "what kind of ill fewer than 3 people have is"),
        ("leave 1 of 4 people one only", "leave fewer than 3 of 4 people one only"),
        ("leave at least 1 of 4 people one only", "leave one or more of 4 people one only"),
        ("likely for 2 more people", "likely for fewer than 3 more people"),
        ("likely for at least 2 more people", "likely for one or more people"),
        ("pay of at least 2 people is certain", "pay of one or more people is certain"),
        ("all 2 rows that were left out have", "all rows (fewer than 3) that were left out have"),
        (
            "the only row that was left out has a",
            "fewer than 3 rows that were left out have a",
        ),
        ("out; 2 of whom no label covers", "out; fewer than 3 of whom no label covers"),
        ("at least 1 of whom no label covers", "one or more of whom no label covers"),
        ("1 row do not have it", "fewer than 3 rows do not have it"),
        *((same, same) for same in ("12 people", "of 1,002 people", "0.2 rows", "3 of 4 people")),
        *((same, same) for same in ("level 2 of its tree", "102 of whom", "12 of 200 rows")),
    ],
)
def test_no_text_points_at_one_or_two(said: str, shown: str) -> None:
    assert redact_small_counts(said) == shown


def test_figures_of_findings_do_not_point() -> None:
    found = {**finding("high"), "title": "pay of 2 people is certain: 2 groups with one value"}
    found["figures"] = {
        "mean": {"before": 0.5, "after": 1.0},
        "certain": {"before": 0, "after": 1},
        "above": {"0.5": {"before": 1, "after": 9}},
        "by_column": {"pay": 2, "job": 30},
        **{"people": 2, "groups": 2, "suppressed": 2, "covered_by_no_box": 1, "smallest": 2},
        **{"values": 1, "level": 2, "of": 2, "lower_bound": True},
    }
    told = report(audit=audit(findings=[found])).content["findings"][0]
    assert (
        told["title"]
        == f"pay of {FEWER_THAN_3} people is certain: {FEWER_THAN_3} groups with one value"
    )
    assert told["figures"] == {
        "mean": {"before": 0.5, "after": 1.0},
        "certain": {"before": 0, "after": FEWER_THAN_3},
        "above": {"0.5": {"before": FEWER_THAN_3, "after": 9}},
        "by_column": {"pay": FEWER_THAN_3, "job": 30},
        **dict.fromkeys(
            ["people", "groups", "suppressed", "covered_by_no_box", "smallest"], FEWER_THAN_3
        ),
        **{"values": 1, "level": 2, "of": 2, "lower_bound": True},
    }


def test_groups_of_one_or_two_rows_are_not_described() -> None:
    told = audit(satisfied=False, principles=samples.principles(satisfied=False))
    worst = told["principles"][0]["worst"]
    worst[0].update(rows=1, group={"age": "51"})
    told["principles"][0].update(violating_groups=1, violating_rows=1)
    made = report(audit=told)
    small, other = sorted(made.content["worst_groups"][0]["groups"], key=lambda g: bool(g["group"]))
    assert small["group"] == small["achieved"] == {}
    assert small["rows"] == FEWER_THAN_3
    assert other == worst[1]
    assert "51" not in json.dumps(made.content["worst_groups"])
    assert "a group of fewer than 3 rows is not described" in made.html()
    assert f"in {FEWER_THAN_3} groups with {FEWER_THAN_3} rows." in spoken(made)
    worst[1].update(rows=2)
    made = report(audit=told)
    assert len(made.content["worst_groups"][0]["groups"]) == 1
    assert "groups of fewer than 3 rows are not described" in made.html()


def test_beliefs_about_single_people_are_left_out() -> None:
    told = audit()
    told["attributes"][0]["believed"] = [{"who": "Bob", "value": "cancer", "posterior": 1.0}]
    assert "Bob" not in report(audit=told).json()


def test_bars_end_where_groups_do() -> None:
    bars = [
        {"from": 3, "to": 5, "groups": 9, "rows": 45},
        {"from": 6, "to": 10, "groups": 1, "rows": 7},
    ]
    sizes = {"smallest": 5, "largest": 7, "histogram": bars}
    kept = report(group_sizes=sizes).content["group_sizes"]["histogram"]
    assert [(bar["from"], bar["to"]) for bar in kept] == [(5, 5), (6, 7)]


def test_claims_lose_their_ends_and_originals_their_groups() -> None:
    for text in (report().json(), report().html(), shown(report())):
        assert "51300" not in text.replace(",", "")
        assert "60300" not in text.replace(",", "")
    before = report().content["risk"]["before"]
    assert all("worst" not in principle for principle in before["principles"])
    assert '"worst": [' not in json.dumps(before)


def test_what_tables_and_files_are_called_is_text() -> None:
    evil = "<script>alert(1)</script>"
    told = audit(findings=[{**finding("high"), "title": evil}], notes=[evil])
    told["attributes"][0]["on"] = evil
    told["principles"][0]["worst"][0]["group"] = {"age": evil}
    made = report(audit=told, title=evil, advice=[{**samples.advice(), "sensitive": evil}])
    assert "<script" not in made.html()
    assert "&lt;script&gt;" in made.html()
    assert "<script" not in showing.audit_html(told)
    assert "<script" not in made._repr_html_()


# The page.


class _Page(HTMLParser):
    """Gathers ids, what refers to them, headings, and whatever could be fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.named: list[str] = []
        self.headings: list[int] = []
        self.fetched: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if key in ("aria-labelledby", "headers"):
                self.named += (value or "").split()
            if key == "href" and (value or "").startswith("#"):
                self.named.append((value or "")[1:])
            elif key in ("src", "href", "xlink:href", "srcset", "action"):
                self.fetched.append(value or "")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))


def test_page_is_whole_and_in_order() -> None:
    text = report().html()
    page = _Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert set(page.named) <= set(page.ids)
    assert page.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(page.headings, page.headings[1:], strict=False))
    assert page.fetched == []
    assert "script" not in page.tags
    assert "url(" not in re.sub(r"url\(#[^)]*\)", "", text)
    assert "http" not in re.sub(r'xmlns="[^"]*"|http-equiv', "", text)
    assert len(text) < 200_000


def test_every_picture_has_words_and_a_table() -> None:
    text = report().html()
    figures = re.findall(r"<figure>.*?</figure>", text, flags=re.S)
    assert len(figures) == 8
    for figure in figures:
        assert re.search(r'<svg [^>]*role="img" aria-labelledby="(\S+)-title \1-text"', figure)
        assert re.search(r"<title id=.*?</title><desc id=.*?</desc>", figure)
        assert re.search(r"<details>.*<table>.*<tbody>\s*<tr>", figure, flags=re.S)


def test_large_releases_stay_small() -> None:
    rows = 500_000
    curve = [[None, 1], *([1e6 / m, m] for m in range(2, 100_000))]
    sizes = [{"from": n, "to": n, "groups": 10, "rows": 10 * n} for n in range(1, 5000)]
    many = [f"quasi{i}" for i in range(40)]
    told = audit(rows=rows, groups=98_109)
    told["roles"]["quasi"] = many
    told["attributes"] = [
        {**copy.deepcopy(told["attributes"][0]), "on": f"s{i}", "values": 50_000} for i in range(8)
    ]
    worst = told["principles"][0]["worst"][0]
    told["principles"][0]["worst"] = [{**worst, "group": dict.fromkeys(many, "[17,24]")}] * 1000
    losses = {"ncp_percent": 7.0, "ncp_percent_by_attribute": dict.fromkeys(many, 7.0)}
    made = compose(
        audit=told,
        before=samples.before(rows),
        advice=[{**samples.advice(), "curve": curve}] * 3,
        group_sizes={"smallest": 1, "histogram": sizes},
        queries=samples.queries(),
        manifest={**samples.manifest(), "loss": losses},
    )
    drawn = made.content["tradeoff"][0]["curve"]
    assert len(drawn) == POINTS
    assert drawn[0] == curve[0]
    assert drawn[-1] == curve[-1]
    kept = made.content["group_sizes"]["histogram"]
    assert sum(bar["rows"] for bar in kept) == sum(bar["rows"] for bar in sizes)
    assert len(made.html().encode()) < 1_000_000
    assert len(made.json().encode()) < 1_000_000


def test_charts_tell_kinds_apart_without_colour() -> None:
    attribute = samples.audit()["attributes"][0]
    known, covering = (attribute[who]["background"]["ruled_out"] for who in ("known", "covering"))
    drawn = charts.background(known, covering, name="b", on="income").svg()
    assert "stroke-dasharray" in drawn
    assert "group not known" in drawn
    risk = samples.risk(1.0, 0.5, 100, 60, 50, 40, 30)
    drawn = charts.at_risk(risk, risk, name="r", title="t", what="w").svg()
    assert "before: 60" in drawn.replace("\u00a0", " ")
    assert "after: 60" in drawn


@pytest.mark.parametrize(
    "curve",
    [
        {"epsilon": None, "m": None, "curve": [[None, 1], [5.0, 2]]},
        {"epsilon": 0, "m": 2, "curve": [[None, 1], [3, 2], [1, 4]]},
        {"epsilon": 0.1, "m": 5, "relative": True, "curve": [[None, 1], [0.4, 2], [0.01, 7]]},
        {"epsilon": 90_000, "m": 50, "curve": samples.curve()},
    ],
)
def test_tradeoffs_of_all_shapes_are_drawn(curve: Dict) -> None:
    made = report(advice=[{"sensitive": "income", **curve}])
    assert "What income permits" in made.html()
    assert "What was chosen" in shown(made)


# Saving and showing.


def test_saved_as_told_by_the_suffix(tmp_path: Path) -> None:
    made = report(created="2026-11-16T15:01:01+00:00")
    made.save(tmp_path / "r.html")
    made.save(tmp_path / "r.json")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == made.html()
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == made.to_dict()
    with pytest.raises(OutputError, match="force"):
        made.save(tmp_path / "r.html")
    made.save(tmp_path / "r.html", force=True)


@pytest.mark.parametrize("name", ["r.pdf", "report", "absent/r.html", ""])
def test_unwritable_paths_are_said(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError) as told:
        report().save(tmp_path / name)
    assert told.value.hint


def test_a_path_is_checked_before_the_work(tmp_path: Path) -> None:
    source = tmp_path / "r.html"
    source.write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="originals are never replaced"):
        check_path(source, force=True, sources=[source])


def test_terminal_fits_80_columns_and_ascii() -> None:
    assert all(len(line) <= 80 for line in shown(report()).splitlines())
    plain = shown(report(), unicode=False)
    assert plain.isascii(), sorted({c for c in plain if not c.isascii()})
    assert "k-anonymity" in plain


def test_infinities_become_null() -> None:
    told = audit()
    told["attributes"][0]["known"]["change"]["largest_ratio"] = float("inf")
    made = report(audit=told)
    assert "Infinity" not in made.json()
    assert made.html()


def test_notebooks_show_a_frame_without_scripts() -> None:
    shown = report()._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert 'sandbox=""' in shown
    assert shown.count("<") == 2, "the page is inside an attribute, so its style stays there"


def test_small_objects_bring_their_own_style() -> None:
    told = [
        showing.check_html({"rows": 10, "groups": 2, "satisfied": False, "notes": ["n"],
                       "principles": samples.principles(satisfied=False)}),
        showing.release_html(samples.manifest()),
        showing.advice_html(samples.advice()),
        showing.audit_html(samples.audit()),
        showing.utility_html({"rows": 10, "groups": 2, "figures": [], "notes": []}),
        showing.queries_html(samples.queries()),
    ]  # fmt: skip
    for text in told:
        assert text.startswith("<div style=")
        assert "<style" not in text
        assert "<script" not in text
    assert "✗ not satisfied" in told[0]
    assert "<svg" in told[2]
    assert "c &gt; 0.03" in told[2]
    assert "k ≤ 20,000" in told[2]


def test_columns_named_as_what_every_object_has() -> None:
    quasi = ["constructor", "__proto__", "toString"]
    table = pl.DataFrame({name: [n % 8 for n in range(40)] for name in [*quasi, "valueOf"]})
    release = wb.anonymize(
        table, quasi=quasi, sensitive="valueOf", principles="k-anonymity:k=4", seed=1
    )
    page = wb.report(release, original=table).html()
    assert all(f">{name}</text>" in page for name in quasi)
    assert "Guessing valueOf: group known, or not" in page
