"""Public names, and what can be done with them: parameters, defaults, attributes, methods.

A snapshot must survive a move of modules. So it names no module, it lists what a class has wherever
the class inherits it from, and it keeps annotations only of types that everybody knows.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import wideberth as wb

from .snapshots import TABLES, compare

#: Public modules; None where `__all__` lists the names.
MODULES: dict[str, list[str] | None] = {
    "datasets": None,
    "metrics": None,
    "perturbation": ["Span", "belief", "perturb", "perturbed_answers", "retention"],
    "workload": [
        *("QueryError", "Workload", "anatomy_answers", "answers", "box_answers"),
        "relative_errors",
    ],
}
FILES = [f"names/{name}.txt" for name in ("wideberth", *MODULES, "results")]

#: Classes whose objects the library makes; their constructors are its own business.
RESULTS = {
    *("Advice", "Anatomy", "Audit", "CheckResult", "Claim", "Finding", "Lattice", "Probe"),
    *("Release", "Report", "Reproduction", "Utility", "QueryError", "Material"),
    *("AnatomyFigures", "LevelRisk"),
}
#: Types whose names stay.
KNOWN = {
    *vars(builtins),
    *wb.__all__,
    *("Any", "Callable", "Decimal", "Fraction", "Iterable", "Iterator", "Literal", "Mapping"),
    *("Path", "Self", "Sequence", "pl"),
}
#: Letters of a signature on one line, and of a constant.
_WIDTH, _LONGEST = 100, 60


@pytest.mark.parametrize("module", ["wideberth", *MODULES])
def test_public_names(module: str) -> None:
    place = wb if module == "wideberth" else getattr(wb, module)
    names = set(MODULES.get(module) or place.__all__) - {"__version__"}
    public = {name: getattr(place, name) for name in sorted(names)}
    examples = {"WideberthError": wb.WideberthError(""), "Advice": wb.advise([1, 2])}
    examples["InfeasibleError"] = wb.InfeasibleError("")
    blocks = [described(name, public, examples.get(name)) for name in public]
    compare(f"names/{module}.txt", "\n".join(blocks))


def test_modules() -> None:
    assert set(dir(wb)) == {*wb.__all__, *MODULES}


def test_results() -> None:
    """What results are made of: objects of classes that have no public name."""
    settings: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": "salary"}
    settings["principles"] = "epsilon-m:epsilon=100,m=2"
    checked = wb.check(TABLES / "salaries.csv", **settings)
    audited = wb.audit(TABLES / "salaries.csv", **settings)
    visits = wb.check(TABLES / "visits.csv", policy=TABLES / "visits.toml")
    grouped: dict[str, Any] = {"quasi": "age", "group": "group", "principles": "k-anonymity:k=2"}
    uneven = wb.check(TABLES / "scores.csv", **grouped)
    advice = wb.advise(TABLES / "salaries.csv", "salary").dissimilarity()
    policy = wb.Policy.load(TABLES / "adults.toml")
    found = {
        "CheckResult.principles[0]": checked.principles[0],
        "CheckResult.principles[0].worst[0]": checked.principles[0].worst[0],
        "CheckResult.people": visits.people,
        "CheckResult.uneven": uneven.uneven,
        "Audit.identity": audited.identity,
        "Audit.attributes[0]": audited.attributes[0],
        "Audit.attributes[0].known": audited.attributes[0].known,
        "Audit.disclosures[0]": audited.disclosures[0],
        "Advice.dissimilarity()": advice,
        "Advice.dissimilarity().satisfiable()": advice.satisfiable(100, 0.5, 2),
        "Advice.best()": wb.advise([1, 2]).best("k-anonymity", "k"),
        "Lattice.best[0]": wb.lattice(TABLES / "adults.csv", policy=policy).best[0],
        "Policy.options": policy.options,
        "KAnonymity.parameters()['k']": wb.KAnonymity.parameters()["k"],
    }
    blocks = [
        "\n".join([path, *indented(members(type(one), one, result=True).values())]) + "\n"
        for path, one in found.items()
    ]
    compare("names/results.txt", "\n".join(blocks))


def described(name: str, public: Mapping[str, Any], example: object) -> str:
    """Return what a public name can do; of a class, what its public bases cannot."""
    value = public[name]
    if not callable(value):
        return f"{name} = {constant(value)}\n"
    if not inspect.isclass(value):
        return f"{name}{signature(value)}\n"
    above = [base for base in value.__mro__[1:] if is_known(base, public)]
    own = set(members(value, example, result=name in RESULTS).items())
    lines = [text for _, text in sorted(own.difference(*(members(b).items() for b in above)))]
    title = f"class {name}({', '.join(base.__name__ for base in above)})"
    return "\n".join([title, *indented(lines)]) + "\n"


def is_known(base: type, public: Mapping[str, Any]) -> bool:
    return base in public.values() or (base.__module__ == "builtins" and base is not object)


def members(cls: type, example: object = None, *, result: bool = False) -> dict[str, str]:
    """Return the public attributes and methods of a class, and its constructor, as text."""
    declared = {field.name for field in fields(cls)} if is_dataclass(cls) else set()
    found = {name for name in dir(cls) if not is_builtin(cls, name)}
    found |= {*declared, *getattr(example, "__dict__", ())}
    told = {} if result else {"()": constructor(cls)}
    told |= {n: member(cls, n, declared) for n in sorted(found) if not n.startswith("_")}
    return {name: text for name, text in told.items() if text}


def is_builtin(cls: type, name: str) -> bool:
    owner = next(base for base in cls.__mro__ if name in vars(base))
    return owner.__module__ in ("builtins", "abc")


def constructor(cls: type) -> str:
    """Return how objects are made; principles refuse names that are none in `__new__`."""
    if inspect.isfunction(cls.__init__):
        return signature(cls.__init__, bound=True)
    return signature(cls) if inspect.isfunction(cls.__new__) else ""


def member(cls: type, name: str, declared: set[str]) -> str:
    value = inspect.getattr_static(cls, name, None)
    if isinstance(value, classmethod | staticmethod):
        return f"@{type(value).__name__} {name}{signature(getattr(cls, name))}"
    if inspect.isfunction(value):
        return f"{name}{signature(value, bound=True)}"
    prose = isinstance(value, str) and " " in value  # which `wideberth principles` prints
    simple = isinstance(value, bool | int | float | str) and not prose and name not in declared
    return f"{name} = {constant(value)}" if simple else name


def constant(value: object) -> str:
    if isinstance(value, Mapping):
        value = sorted(value)
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def signature(function: Any, *, bound: bool = False) -> str:
    """Return parameters with kinds, defaults and known annotations; many stand one on a line."""
    whole = inspect.signature(function)
    shown = [one for one in whole.parameters.values() if not one.name.startswith("_")]
    parts = []
    kinds = [one.kind for one in shown]
    for place, one in enumerate(shown[bound:], int(bound)):
        before = kinds[place - 1] if place else None
        if before is one.POSITIONAL_ONLY and one.kind is not one.POSITIONAL_ONLY:
            parts.append("/")
        if one.kind is one.KEYWORD_ONLY and before not in (one.KEYWORD_ONLY, one.VAR_POSITIONAL):
            parts.append("*")
        parts.append(parameter(one))
    back = annotation(whole.return_annotation)
    end = f" -> {back}" if back else ""
    line = f"({', '.join(parts)}){end}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join(["(", *(f"    {part}," for part in parts), f"){end}"])


def parameter(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    told = annotation(one.annotation)
    text = f"{stars}{one.name}" + (f": {told}" if told else "")
    if one.default is one.empty:
        return text
    plain = " at 0x" not in repr(one.default) and not repr(one.default).startswith("<")
    default = repr(one.default) if plain else "…"
    return f"{text} = {default}" if told else f"{text}={default}"


def annotation(written: object) -> str:
    """Return an annotation as it is written, unless it names a type that may move or be renamed."""
    text = written if isinstance(written, str) else getattr(written, "__name__", "")
    if not text or written is inspect.Parameter.empty:
        return ""
    tree = ast.parse(text, mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return text if names <= KNOWN else ""


def indented(texts: Any) -> list[str]:
    return [f"    {line}" for text in texts for line in text.splitlines()]
