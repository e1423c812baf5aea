"""Every erratum is proven, and what proofs are written with is right itself."""

import ast
import builtins
import os
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth.algorithms.anatomy import maximal_bucket_first
from wideberth_papers import PAPERS
from wideberth_papers.errata import ERRATA, KINDS, Erratum, as_markdown, proofs

NAMES = {name: getattr(proofs, name) for name in proofs.__all__}
SMALL = [g for n in range(1, 6) for g in combinations_with_replacement(range(6), n)]


def evaluate(expression: str | ast.Expression) -> object:
    """Evaluate in the documented names alone."""
    return eval(compile(expression, "proof", "eval"), dict(NAMES))  # noqa: S307


def label(erratum: Erratum) -> str:
    return f"{erratum.paper}, {erratum.place}, {ERRATA.index(erratum)}"


each = pytest.mark.parametrize("erratum", ERRATA, ids=label)


# ---- the entries


@each
def test_proof_is_true(erratum):
    assert evaluate(erratum.proof) is True


@each
def test_proof_is_a_short_line_in_the_documented_names(erratum):
    assert len(erratum.proof) < 160
    assert "\n" not in erratum.proof
    tree = ast.parse(erratum.proof, mode="eval")
    assert any(isinstance(node, ast.Compare | ast.Call) for node in ast.walk(tree))
    named = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not _is_read(n)}
    assert named - bound <= set(NAMES) | set(dir(builtins))


@each
def test_proof_rests_on_its_numbers_or_words(erratum):
    """Some constant, changed, makes it false: it is not true whatever it says."""
    assert any(evaluate(changed) is False for changed in _changes(erratum.proof))


@each
def test_words_are_whole_sentences(erratum):
    assert erratum.paper in PAPERS
    assert erratum.kind in KINDS
    for words in (erratum.says, erratum.holds):
        assert words.endswith(".")
        assert words[0].isupper() or not words[0].isalpha() or words[0] == "l"
    assert erratum.place
    assert erratum.says != erratum.holds


def test_kinds_that_were_settled_stay():
    """By number: entries that are no errors, or not errors of their paper."""
    kinds = {number: one.kind for number, one in enumerate(ERRATA, start=1)}
    settled = {
        "rounding": [1, 11, 18, 23],
        "choice": [21],
        "imprecise": [7, 24, 28, 29, 31, 41],
        "gap": [30, 36],
    }
    for kind, numbers in settled.items():
        assert [kinds[number] for number in numbers] == [kind] * len(numbers)


def test_every_paper_has_errata_in_the_papers_order():
    papers = [erratum.paper for erratum in ERRATA]
    assert set(papers) == set(PAPERS)
    assert papers == sorted(papers, key=PAPERS.index)
    assert len({(e.paper, e.place, e.says) for e in ERRATA}) == len(ERRATA)


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _changes(proof: str) -> Iterator[ast.Expression]:
    """Yield the proof with one constant changed, in turn."""
    many = len(_constants(ast.parse(proof, mode="eval")))
    for at in range(many):
        tree = ast.parse(proof, mode="eval")
        node = _constants(tree)[at]
        for other in _others(node.value):
            node.value = other
            try:
                evaluate(tree)
            except (ArithmeticError, LookupError, TypeError, ValueError, wb.WideberthError):
                continue  # no longer means anything, so it shows nothing
            yield tree


def _constants(tree: ast.Expression) -> list[ast.Constant]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]


def _others(value: object) -> Iterator[object]:
    """Yield values that differ; of a text, in a digit or in its last letter."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        for at, letter in enumerate(value):
            if letter.isdigit():
                yield from (value[:at] + other + value[at + 1 :] for other in "19")
        yield value[:-1] + "z"
    else:
        assert isinstance(value, int | float)
        yield from (value + 1, -1000 * value - 1)


# ---- what is quoted

DATA = Path(os.environ.get("WIDEBERTH_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.skipif(not (DATA / "adult.csv").exists(), reason="needs the real table")
def test_numbers_quoted_of_adult_are_right():
    adult = pl.read_csv(DATA / "adult.csv", null_values="?")
    whole = adult.filter(pl.col("education") == "HS-grad").height, adult.height
    assert whole == (10_501, 32_561)
    proofs = {e.place: e.proof for e in ERRATA if e.paper == "wang2013"}
    assert proofs["Section V"] == "10501 > 32561 // 4"
    complete = adult.drop_nulls()
    rich = complete.filter(pl.col("income") == ">50K").height / complete.height
    assert 3 < (1 - rich) / rich < 3.1


# ---- the table


def test_table_lists_all_with_their_proofs():
    head, rule, *rows = as_markdown().splitlines()
    assert head.count("|") == rule.count("|") == 5
    assert [row.split(" | ")[0] for row in rows] == [f"| {i + 1}" for i in range(len(ERRATA))]
    for erratum, row in zip(ERRATA, rows, strict=True):
        assert row.replace("\\|", "").count("|") == 5
        for part in (erratum.paper, erratum.place, erratum.says, erratum.holds, erratum.proof):
            assert part.replace("|", "\\|") in row


def test_table_of_some_is_numbered_anew():
    some = [e for e in ERRATA if e.paper == "deltal"]
    assert as_markdown(some).splitlines()[2].startswith("| 1 | deltal, ")
    assert len(as_markdown(some).splitlines()) == 2 + len(some)


# ---- what they are written with, against definitions


@pytest.mark.parametrize(("e1", "e2", "m"), list(product(range(3), range(3), (1, 2, 3))))
def test_figure_3_of_li_errs_for_single_tuples_only(e1, e2, m):
    for group in SMALL:
        near = [sum(x - e1 <= y <= x + e2 for y in group) for x in group]
        right = max(near) * m <= len(group)
        said = proofs.anonymity_check(group, e1, e2, m)
        assert said == (right or len(group) == 1)


@pytest.mark.parametrize("delta", [Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(7, 4)])
def test_figure_3_of_delta_l_is_right_of_longer_groups(delta):
    """Also where intervals touch, as the second comparison is taken for ≤."""
    for group in SMALL:
        crowd = max(sum(abs(x - y) <= 2 * delta for y in group) for x in group)
        for wanted in (1, Fraction(3, 2), 2, 3):
            right = crowd * wanted <= len(group)
            said = proofs.delta_l_checking(group, delta, wanted)
            assert said == (right or len(group) == 1)


@pytest.mark.parametrize("m", [2, 3, 4, 5])
@pytest.mark.parametrize("length", ["0.05", "0.1", "0.2"])
def test_retention_solves_the_equation(length, m):
    p, part = proofs.retention(length, m), Fraction(length)
    share = part  # of uniform values
    breach = share * (p + (1 - p) * part) / (share * p + (1 - p) * part)
    assert breach == Fraction(1, m)


def test_risk_is_what_dissimilarity_reports():
    for group in SMALL:
        delta = 1 - proofs.risk(group, 1)
        stated = f"dissimilarity:epsilon=1,delta={delta},k=1"
        assert proofs.satisfies(stated, group)
        if delta < 1:
            more = delta + Fraction(1, 1000)
            assert not proofs.satisfies(f"dissimilarity:epsilon=1,delta={more},k=1", group)


def test_maxsize_tells_feasibility():
    for group in SMALL:
        for m in (2, 3):
            possible = proofs.maxsize(group, 1) * m <= len(group)
            assert proofs.feasible(f"epsilon-m:epsilon=1,m={m}", group) == possible


def test_dealing_keeps_every_row_and_any_permitted_number_of_groups_is_safe():
    """The claim about Section 5.2 of Li et al., on all small buckets."""
    for group in SMALL:
        for g in range(proofs.maxsize(group, 1), len(group) // 2 + 1):
            dealt = proofs.deal(group, g)
            assert Counter(v for part in dealt for v in part) == Counter(group)
            assert all(proofs.satisfies("epsilon-m:epsilon=1,m=2", part) for part in dealt)


def test_span_counts_each_row():
    assert proofs.span([[3, 5, 9], [1], [2, 2]]) == 3 * 6


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)])
def test_alpha_k_and_epsilon_m_are_nearly_forms_of_dissimilarity(share):
    """Both imply it with 1 - δ = their share; it allows a (1 - share)/N-th more, and that much."""
    m, most = 1 / share, 0
    for group in (g for g in SMALL if len(g) < 5):
        for near, other in (
            (0, f"alpha-k:alpha={share},k=1"),
            (1, f"epsilon-m:epsilon=1,m={m}" if m.denominator == 1 else None),
        ):
            if other is None:
                continue
            fullest = max(sum(abs(v - w) <= near for w in group) for v in group)
            form = len(group) > 1 and proofs.satisfies(
                f"dissimilarity:epsilon={near},delta={1 - share},k=1", group
            )
            if proofs.satisfies(other, group) and len(group) > 1:
                assert form
            if form:
                bound = share + (1 - share) / len(group)
                assert Fraction(fullest, len(group)) <= bound
                most += Fraction(fullest, len(group)) == bound
    assert most  # the bound is attained


def test_a_larger_delta_implies_epsilon_m():
    for group in (g for g in SMALL if len(g) < 5):
        for m, k in ((2, 2), (2, 3), (2, 4), (3, 4), (3, 5)):
            delta = (1 - Fraction(1, m)) / (1 - Fraction(1, k))
            form = f"dissimilarity:epsilon=1,delta={delta},k={k}"
            if proofs.satisfies(form, group):
                assert proofs.satisfies(f"epsilon-m:epsilon=1,m={m}", group)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 2), (4, 2), (3, 3)])
def test_rows_near_nobody_mend_the_proof_of_theorem_2(n, m):
    """Every graph of n rows can be colored with m colors exactly if mN rows make groups of N."""
    pairs = list(combinations(range(n), 2))
    for chosen in product((False, True), repeat=len(pairs)):
        near = {pair for pair, is_ in zip(pairs, chosen, strict=True) if is_}
        colored = any(
            all(colors[a] != colors[b] for a, b in near) for colors in product(range(m), repeat=n)
        )
        assert _grouped(n, m * n, n, near) == colored


def _grouped(n: int, rows: int, k: int, near: set[tuple[int, int]]) -> bool:
    """Tell whether rows, those from n on near nobody, can be parted into groups of k or more."""

    def extend(row: int, groups: list[list[int]], alone: int) -> bool:
        if row == n:  # who is near nobody fits anywhere, and may fill groups or make new ones
            lacking = sum(max(k - len(group), 0) for group in groups)
            return lacking <= alone and (bool(groups) or alone >= k)
        for group in [*groups, None]:
            if group is None:
                if extend(row + 1, [*groups, [row]], alone):
                    return True
            elif not any((other, row) in near for other in group):
                group.append(row)
                if extend(row + 1, groups, alone):
                    return True
                group.pop()
        return False

    return extend(0, [], rows - n)


def test_trying_all_classes_suppresses_fewest():
    """Step 3 of MBF, as read in the erratum, against every way to form classes."""
    for counts in product(range(5), repeat=3):
        buckets = np.repeat(np.arange(3), counts)
        for wanted in (2, 3):
            labels = maximal_bucket_first(buckets, wanted, np.random.default_rng(0))
            kept = [
                sum(min(count, g) for count in counts)
                for g in range(1, sum(counts) // wanted + 1)
                if sum(min(count, g) for count in counts) >= g * wanted
            ]
            assert int((labels >= 0).sum()) == max(kept, default=0)


def test_no_delta_makes_dissimilarity_alpha_k_anonymity():
    """{a, a, b} must fail at α = 1/2, and {a, …, b, …} must pass at any length."""
    least = 1 - proofs.risk([0, 0, 1], 0)  # δ must be above
    most = [1 - proofs.risk([0] * n + [1] * n, 0) for n in (1, 10, 100, 1000)]  # at most
    assert most == sorted(most, reverse=True)
    assert least == Fraction(1, 2) < most[-1] < Fraction(1001, 2000)
