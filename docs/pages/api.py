"""The reference of the Python interface: which names belong to which task.

The pages only name what they show; mkdocstrings reads signatures and docstrings from the code. A
public name that belongs to no task is an error here, so that nothing stays undocumented.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import cleandoc, getdoc

import wideberth
from wideberth import principles


@dataclass(frozen=True)
class Task:
    """Names that serve one purpose, on one page.

    Parameters
    ----------
    title, about : str
        For the reader.
    names : tuple of str
        As in ``wideberth.NAME``.
    more : str
        Where the same is told at length.
    """

    title: str
    about: str
    names: tuple[str, ...]
    more: str = ""


def _registered() -> tuple[str, ...]:
    """Return the classes of the built-in principles, which are public names."""
    known = (cls.__name__ for cls in principles.iterate())
    return tuple(sorted(name for name in known if name in wideberth.__all__))


TASKS: dict[str, Task] = {
    "anonymizing": Task(
        "Making a release",
        "From a table and a policy to a release that was verified from its published values.",
        ("anonymize", "partition", "Release", "Anatomy", "join"),
        "[Policy files](../policy.md), [two tables](../anatomy.md)",
    ),
    "advice": Task(
        "Asking what is possible",
        "Before anything is made: which parameters a table permits, exactly; and which parameters "
        "of one principle imply another.",
        (
            "advise",
            "Advice",
            "implying_breach",
            "implying_alpha_k",
            "implying_l",
            "implied_by_breach",
            "implied_by_alpha_k",
        ),
        "[How to choose a principle](../choosing.md), [any distance](../dissimilarity.md)",
    ),
    "checking": Task(
        "Checking a table",
        "Which principles a table satisfies, anybody's, and where it fails.",
        ("check", "CheckResult", "claims", "Claim"),
        "[Principles](../principles.md)",
    ),
    "auditing": Task(
        "Auditing and reporting",
        "What an adversary learns from a table, and the report that says it to people who decide.",
        ("audit", "Audit", "Finding", "posterior", "report", "Report"),
        "[What an adversary learns](../audit.md)",
    ),
    "utility": Task(
        "Measuring what a release is worth",
        "Metrics, errors of count queries, models trained on a release.",
        ("measure", "Utility", "query_error", "probe", "Probe"),
        "[Utility](../utility.md), [metrics](../metrics.md)",
    ),
    "lattice": Task(
        "Searching a lattice",
        "One level of its hierarchy for each column, the same in all rows.",
        ("lattice", "Lattice"),
        "[The lattice](../policy.md#one-level-for-the-whole-table-the-lattice)",
    ),
    "reproducing": Task(
        "Repeating the papers' experiments",
        "Each figure of a paper made again, with a verdict on what the paper claims. Both names "
        "come with wideberth-papers; without it, they raise an error that says how to get it.",
        ("reproduce", "Reproduction"),
        "[Reproduction](../reproduction.md), [install](../install.md#the-papers-experiments)",
    ),
    "principles": Task(
        "Principles",
        "What a release must satisfy; each class takes its parameters by keyword.",
        (*_registered(), "Principle", "Rule", "parameter", "register"),
        "[Principles](../principles.md), [a principle of your own](../contributing.md)",
    ),
    "policies": Task(
        "Policies and hierarchies",
        "Decisions about a table as objects.",
        ("Policy", "Hierarchy"),
        "[Policy files](../policy.md)",
    ),
    "errors": Task(
        "Errors",
        "Each says what is wrong, where, and what to try; none quotes a cell.",
        (
            "WideberthError",
            "TableError",
            "EngineError",
            "HierarchyError",
            "PolicyError",
            "ParameterError",
            "OutputError",
            "InfeasibleError",
            "VerificationError",
            "PrivacyWarning",
        ),
    ),
}
#: Modules with names of their own, each a page.
MODULES = {
    "datasets": "Tables to try things on",
    "metrics": "Metrics, and how to add one",
    "perturbation": "Perturbation, the competitor of generalisation",
    "workload": "Count queries",
}


def pages() -> dict[str, str]:
    """Return the overview and a page for each task and module.

    Raises
    ------
    LookupError
        If a public name belongs to no task.
    """
    told = {name for task in TASKS.values() for name in task.names} | {"__version__"}
    if missing := sorted(set(wideberth.__all__) - told):
        raise LookupError(f"docs/pages/api.py puts these names on no page: {', '.join(missing)}")
    written = {f"api/{key}.md": _page(task) for key, task in TASKS.items()}
    written |= {f"api/{name}.md": _module(name, title) for name, title in MODULES.items()}
    return {"api.md": _overview(), **written}


def _overview() -> str:
    lines = [
        "# Python",
        "",
        "`import wideberth as wb` is all that is needed; names are imported when they are first",
        "used. Tables may be pandas, polars or pyarrow, or paths of files; what comes back is of",
        "the same kind. `wb.__version__` is the version. (Written by `make docs`.)",
        "",
    ]
    for key, task in TASKS.items():
        lines += [f"## [{task.title}](api/{key}.md)", "", task.about, ""]
        lines += ["| name | what it is |", "|---|---|"]
        lines += [f"| [`wb.{n}`](api/{key}.md#wideberth.{n}) | {_said(n)} |" for n in task.names]
        lines.append("")
    lines += ["## Modules", "", "| module | what is in it |", "|---|---|"]
    lines += [f"| [`wb.{name}`](api/{name}.md) | {title} |" for name, title in MODULES.items()]
    return "\n".join([*lines, ""])


def _page(task: Task) -> str:
    lines = [f"# {task.title}", "", task.about, ""]
    if task.more:
        lines += [f"More: {task.more}.", ""]
    for name in task.names:
        lines += [f"::: wideberth.{name}", *_principle(getattr(wideberth, name)), ""]
    return "\n".join(lines)


def _principle(named: object) -> list[str]:
    """Of a principle show its parameters only; its page says the rest."""
    if not isinstance(named, type) or not issubclass(named, principles.Principle):
        return []
    if named not in principles.iterate():
        return []
    shown = ", ".join(named.parameters())
    link = f"[`{named.name}`](../principles/{named.name}.md)"
    return ["    options:", f"      members: [{shown}]", "", f"More: {link}."]


def _module(name: str, title: str) -> str:
    """Write the page of a module: what it exports, or what is defined in it."""
    module = getattr(wideberth, name)  # it may be in a package, such as wideberth.utility
    listed = getattr(module, "__all__", None) or [
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    about = " ".join(cleandoc(module.__doc__ or "").split("\n\n")[0].split())
    lines = [f"# {title}", "", f"`wb.{name}`: {about}", ""]
    for key in sorted(listed, key=lambda key: (key.isupper(), key.lower())):
        if not key.isupper() or key == "NCP":
            lines += [f"::: {module.__name__}.{key}", ""]
    return "\n".join(lines)


def _said(name: str) -> str:
    """Return the first sentence of a name's docstring."""
    text = getdoc(getattr(wideberth, name)) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")
