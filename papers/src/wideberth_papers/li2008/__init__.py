"""(ε,m)-anonymity, of Li, Tao and Xiao 2008: its errors beside those of perturbation, its times."""

from __future__ import annotations

from functools import partial

from wideberth.datasets import sal
from wideberth_papers import sources
from wideberth_papers.li2008 import breaches
from wideberth_papers.li2008.figures import figures
from wideberth_papers.li2008.points import USUAL, asked_at, compared, points
from wideberth_papers.li2008.releases import BEST, MATCHING, PAPER, PERTURBATION, Experiments
from wideberth_papers.shapes import ATO, SAL
from wideberth_papers.study import Plan, Setting, Step, Study

ROWS = 500_000


def plan(setting: Setting) -> Plan:
    """Plan the study."""
    source = sources.choose([SAL, ATO], setting, make=sal, made="SAL-like", usual=ROWS)
    run = Experiments(source=source, seed=setting.seed)
    steps = [
        Step("which principle catches which breach", breaches.measure),
    ]
    for point in points():
        asked = asked_at(point)
        steps += [
            Step(f"{method}, {point}", partial(run.released, method, point, asked))
            for method in (PAPER, BEST)
        ]
        steps.append(Step(f"{PERTURBATION}, {point}", partial(run.perturbed, point, asked)))
    steps += [
        Step(f"{method}, {point}, a sample", partial(run.compared, method, point, USUAL))
        for point in compared()
        for method in (PAPER, BEST, MATCHING)
    ]
    return Plan(source, steps, figures())


STUDY = Study(
    name="li2008",
    paper=(
        "Jiexing Li, Yufei Tao, Xiaokui Xiao: Preservation of proximity privacy in publishing "
        "numerical sensitive data. SIGMOD 2008"
    ),
    about=(
        "How well tables under (ε,m)-anonymity answer count queries, beside perturbed ones, and "
        "how long it takes to make them."
    ),
    plan=plan,
)
