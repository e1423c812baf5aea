"""wideberth: publish tables about people without giving away what is true of one of them.

>>> import polars as pl
>>> import wideberth as wb
>>> table = pl.DataFrame({"age": ["17-24"] * 4, "salary": [1000, 1010, 1020, 50000]})
>>> wb.check(table, quasi="age", sensitive="salary", principles="distinct-l:l=4").satisfied
True
>>> wb.check(table, quasi="age", sensitive="salary", principles="epsilon-m:epsilon=20,m=4").satisfied
False
"""  # noqa: E501

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: The papers' experiments, a distribution of its own: wideberth-papers.
_PAPERS = "wideberth_papers"
# Names are imported when first used, so that `wideberth --help` need not wait for polars.
_HOME = {
    "wideberth.checks.advise": ["Advice", "advise"],
    "wideberth.checks.check": ["claims", "check"],
    "wideberth.checks.claims": ["Claim"],
    "wideberth.checks.result": ["CheckResult"],
    "wideberth.errors": [
        "EngineError",
        "HierarchyError",
        "InfeasibleError",
        "OutputError",
        "ParameterError",
        "PolicyError",
        "PrivacyWarning",
        "TableError",
        "VerificationError",
        "WideberthError",
    ],
    "wideberth.hierarchy": ["Hierarchy"],
    "wideberth.policy.policy": ["Policy"],
    "wideberth.policy.two_tables": ["join"],
    "wideberth.principles": [
        "AlphaKAnonymity",
        "DeltaLDiversity",
        "DeltaPresence",
        "Dissimilarity",
        "DistinctLDiversity",
        "EntropyLDiversity",
        "EpsilonMAnonymity",
        "FrequencyLDiversity",
        "KAnonymity",
        "KEAnonymity",
        "LEDiversity",
        "MUniqueness",
        "MultiAttributeLDiversity",
        "Principle",
        "RecursiveCLDiversity",
        "Rule",
        "TCloseness",
        "VarianceControl",
        "parameter",
        "register",
    ],
    "wideberth.principles.convert": [
        "implied_by_alpha_k",
        "implied_by_breach",
        "implying_alpha_k",
        "implying_breach",
        "implying_l",
    ],
    "wideberth.release.anatomized": ["Anatomy"],
    "wideberth.release.anonymize": ["anonymize", "partition"],
    "wideberth.release.lattice": ["Lattice", "lattice"],
    "wideberth.release.release": ["Release"],
    "wideberth.reports.content": ["Report"],
    "wideberth.reports.report": ["report"],
    "wideberth.risk.attacks": ["posterior"],
    "wideberth.risk.audit": ["audit"],
    "wideberth.risk.findings": ["Finding"],
    "wideberth.risk.outcome": ["Audit"],
    "wideberth.utility.measure": ["measure", "Utility"],
    "wideberth.utility.models": ["Probe", "probe"],
    "wideberth.utility.queries": ["query_error"],
    _PAPERS: ["Reproduction", "reproduce"],
}
#: Modules with names of their own: `wb.metrics.register`, `wb.datasets.census`.
_MODULES = {
    "datasets": "wideberth.datasets",
    "metrics": "wideberth.utility.metrics",
    "perturbation": "wideberth.utility.perturbation",
    "workload": "wideberth.utility.workload",
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

# `from wideberth import *` works without the papers' experiments.
_LACKING = [] if find_spec(_PAPERS) else _HOME[_PAPERS]

__all__ = ["__version__", *sorted(_WHERE.keys() - _LACKING)]

if TYPE_CHECKING:
    from wideberth.checks.advise import Advice, advise
    from wideberth.checks.check import check, claims
    from wideberth.checks.claims import Claim
    from wideberth.checks.result import CheckResult
    from wideberth.errors import (
        EngineError,
        HierarchyError,
        InfeasibleError,
        OutputError,
        ParameterError,
        PolicyError,
        PrivacyWarning,
        TableError,
        VerificationError,
        WideberthError,
    )
    from wideberth.hierarchy import Hierarchy
    from wideberth.policy.policy import Policy
    from wideberth.policy.two_tables import join
    from wideberth.principles import (
        AlphaKAnonymity,
        DeltaLDiversity,
        DeltaPresence,
        Dissimilarity,
        DistinctLDiversity,
        EntropyLDiversity,
        EpsilonMAnonymity,
        FrequencyLDiversity,
        KAnonymity,
        KEAnonymity,
        LEDiversity,
        MultiAttributeLDiversity,
        MUniqueness,
        Principle,
        RecursiveCLDiversity,
        Rule,
        TCloseness,
        VarianceControl,
        parameter,
        register,
    )
    from wideberth.principles.convert import (
        implied_by_alpha_k,
        implied_by_breach,
        implying_alpha_k,
        implying_breach,
        implying_l,
    )
    from wideberth.release.anatomized import Anatomy
    from wideberth.release.anonymize import anonymize, partition
    from wideberth.release.lattice import Lattice, lattice
    from wideberth.release.release import Release
    from wideberth.reports.content import Report
    from wideberth.reports.report import report
    from wideberth.risk.attacks import posterior
    from wideberth.risk.audit import audit
    from wideberth.risk.findings import Finding
    from wideberth.risk.outcome import Audit
    from wideberth.utility.measure import Utility, measure
    from wideberth.utility.models import Probe, probe
    from wideberth.utility.queries import query_error
    from wideberth_papers import Reproduction, reproduce


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _WHERE:
        raise AttributeError(f"module 'wideberth' has no attribute {name!r}")
    try:
        module = import_module(_WHERE[name])
    except ModuleNotFoundError as error:
        if error.name != _PAPERS:
            raise
        from wideberth.errors import papers_missing

        raise papers_missing(name) from None
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, *_MODULES])
