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
    "wideberth.advice": ["Advice", "advise"],
    "wideberth.anatomy": ["Anatomy"],
    "wideberth.anonymizing": ["anonymize", "partition"],
    "wideberth.attacks": ["posterior"],
    "wideberth.auditing": ["Audit", "audit"],
    "wideberth.findings": ["Finding"],
    "wideberth.measuring": ["Utility", "measure"],
    "wideberth.probing": ["Probe", "probe"],
    "wideberth.reporting": ["Report", "report"],
    "wideberth.latticing": ["Lattice", "lattice"],
    "wideberth.release": ["Release"],
    "wideberth.checking": ["check"],
    "wideberth.adversary": ["claims"],
    "wideberth.claiming": ["Claim"],
    "wideberth.results": ["CheckResult"],
    "wideberth.twofold": ["join"],
    "wideberth.querying": ["query_error"],
    "wideberth.policy": ["Policy"],
    "wideberth.hierarchy": ["Hierarchy"],
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
    "wideberth.principles.converting": [
        "implied_by_alpha_k",
        "implied_by_breach",
        "implying_alpha_k",
        "implying_breach",
        "implying_l",
    ],
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
    _PAPERS: ["Reproduction", "reproduce"],
}
#: Modules with names of their own: `wb.metrics.register`, `wb.datasets.census`.
_MODULES = ("datasets", "metrics", "perturbation", "workload")
_WHERE = {name: module for module, names in _HOME.items() for name in names}

# `from wideberth import *` works without the papers' experiments.
_LACKING = [] if find_spec(_PAPERS) else _HOME[_PAPERS]

__all__ = ["__version__", *sorted(_WHERE.keys() - _LACKING)]

if TYPE_CHECKING:
    from wideberth.adversary import claims
    from wideberth.advice import Advice, advise
    from wideberth.anatomy import Anatomy
    from wideberth.anonymizing import anonymize, partition
    from wideberth.attacks import posterior
    from wideberth.auditing import Audit, audit
    from wideberth.checking import check
    from wideberth.claiming import Claim
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
    from wideberth.findings import Finding
    from wideberth.hierarchy import Hierarchy
    from wideberth.latticing import Lattice, lattice
    from wideberth.measuring import Utility, measure
    from wideberth.policy import Policy
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
    from wideberth.principles.converting import (
        implied_by_alpha_k,
        implied_by_breach,
        implying_alpha_k,
        implying_breach,
        implying_l,
    )
    from wideberth.probing import Probe, probe
    from wideberth.querying import query_error
    from wideberth.release import Release
    from wideberth.reporting import Report, report
    from wideberth.results import CheckResult
    from wideberth.twofold import join
    from wideberth_papers import Reproduction, reproduce


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _MODULES:
        return import_module(f"wideberth.{name}")
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
