"""What a privacy principle is, and the registry that holds them all.

A `Principle` is what a user writes: a frozen dataclass of parameters. Bound to the domain of a
sensitive attribute it becomes a `Rule`: four questions about groups, answered for all groups at
once. Checks, algorithms, the command line, the documentation and the law tests know principles
only through this module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import cache, wraps
from importlib.metadata import entry_points
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, fraction
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, what_to_type
from wideberth.kernels.kinds import CompiledRule
from wideberth.kernels.randomness import Chance

if TYPE_CHECKING:
    from wideberth.principles.allowance import AllowedValues
    from wideberth.principles.partition.decide import Witness

ParameterKind = Literal["whole", "number", "flag", "choice", "values", "metric"]
#: What a principle must know of the sensitive attribute, beyond which values are equal.
Needs = Literal["size", "values", "numbers", "tree", "distance", "several", "population"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a principle: what it means and which values it takes."""

    doc: str
    kind: ParameterKind = "number"
    low: int | None = None
    high: int | None = None
    low_open: bool = False
    choices: tuple[str, ...] = ()
    stronger: Literal["higher", "lower"] | None = None
    exclusive: bool = False  # what a group achieves is itself just out of reach

    @property
    def range(self) -> str:
        """The permitted values in words."""
        if self.kind in ("number", "whole"):
            what = "a whole number" if self.kind == "whole" else "a number"
            if self.low is None:
                return what
            floor = f"above {self.low}" if self.low_open else f"from {self.low}"
            return f"{what} {floor}" + ("" if self.high is None else f" to {self.high}")
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        return {
            "flag": "true or false",
            "values": "sensitive values",
            "metric": "one of " + ", ".join(self.choices) + ", or a Python function of two values",
        }[self.kind]

    def wanted(self, value: object) -> str:
        """The permitted values in words, for somebody who gave one that is not."""
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
            return self.range
        if self.kind == "whole" and value > _MOST_ROWS:
            return f"{self.range}, at most {_MOST_ROWS:,}"
        if self.kind in ("whole", "number") and not _moderate(value):
            return f"{self.range}, and either 0 or of a size from 1e-300 to 1e300"
        return self.range

    def accepts(self, value: object) -> bool:
        """Return whether a value is permitted."""
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "choice":
            return value in self.choices
        if self.kind == "metric":
            return callable(value) or value in self.choices
        if self.kind == "values":
            return isinstance(value, tuple)
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
            return False
        if not _moderate(value):
            return False
        if self.kind == "whole" and (fraction(value).denominator != 1 or value > _MOST_ROWS):
            return False
        if self.low is not None and (value < self.low or (self.low_open and value == self.low)):
            return False
        return self.high is None or value <= self.high

    def as_strong(self, value: Any, other: Any) -> bool:
        """Return whether a value asks for as much as another, or more.

        >>> Parameter("", stronger="higher").as_strong(5, 3)
        True
        """
        if self.stronger is None or value is None or other is None:
            return bool(value == other)
        value, other = fraction(value), fraction(other)
        return value >= other if self.stronger == "higher" else value <= other

    def parse(self, text: str) -> object:
        """Read a value as it is written on the command line. Text that does not fit comes back."""
        try:
            if self.kind == "flag":
                return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
            if self.kind == "values":
                return tuple(text.split("|"))
            if self.kind in ("number", "whole"):
                exact = fraction(text)
                return int(exact) if exact.denominator == 1 else exact
        except (KeyError, ValueError, ZeroDivisionError):
            pass
        return text


#: Letters of a value that a message shows.
_LONGEST = 60


def _shown(value: object) -> str:
    text = repr(plain_value(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


#: No table has more rows.
_MOST_ROWS = 2**53


def _moderate(value: int | float | Decimal | Fraction) -> bool:
    """Return whether a number is finite and of a size that means something."""
    if not isinstance(value, int | Fraction) and not isfinite(value):
        return False
    size = abs(Fraction(value))
    return size == 0 or Fraction(1, 10**300) <= size <= 10**300


def parameter(doc: str, *, default: Any = MISSING, **specification: Any) -> Any:
    """Declare a principle's parameter; see `Parameter` for the rest."""
    return field(default=default, metadata={"parameter": Parameter(doc, **specification)})


@dataclass(frozen=True, kw_only=True)
class Principle(ABC):
    """What a user writes. Subclasses add their parameters and say what they mean.

    Parameters
    ----------
    on : str or sequence of str, optional
        The sensitive attribute it guards; several columns for one that spans them.
        May be left out where there is only one.
    """

    on: str | Sequence[str] | None = None

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    protects: ClassVar[str]
    does_not_protect: ClassVar[str]
    needs: ClassVar[Needs] = "values"
    #: One sentence for the reader of a list: why it is monotone, or a counterexample.
    monotonicity: ClassVar[str]
    #: The principle with sensible parameters, as on the command line.
    example: ClassVar[str]

    def __new__(cls, *unnamed: object, **named: object) -> Self:
        """Refuse parameters without names, and names that are not parameters."""
        declared = {f.name: f for f in fields(cls) if f.init}
        if unnamed and all(f.kw_only for f in declared.values()):
            free = [key for key in cls.parameters() if key not in named]
            pairs = zip(free, unnamed, strict=False)
            meant = ", ".join(f"{key}={_shown(value)}" for key, value in pairs)
            raise ParameterError(
                f"{cls.__name__} takes its parameters by name",
                hint=f"{cls.__name__}({meant})",
            )
        for key in named:
            if key not in declared:
                raise ParameterError(
                    f"{cls.__name__} has no parameter '{key}'" + _similar(key, declared),
                    hint=f"its parameters are {', '.join(cls.parameters())}",
                )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Refuse parameters outside their ranges."""
        if self.on is not None and self.needs in ("size", "population"):
            raise ParameterError(f"{self.name} looks at no attribute", hint="leave out 'on'")
        if self.on is not None and not isinstance(self.on, str):
            object.__setattr__(self, "on", tuple(self.on))
        for key, specification in self.parameters().items():
            value = getattr(self, key)
            if isinstance(value, np.generic):
                exact = float(str(value)) if isinstance(value, np.floating) else value.item()
                object.__setattr__(self, key, value := exact)
            if specification.kind == "values" and isinstance(value, str):
                object.__setattr__(self, key, value := (value,))
            if specification.kind == "values" and isinstance(value, list | set | frozenset):
                object.__setattr__(self, key, value := tuple(value))
            given = value is not None or key in self.mandatory()
            if given and not specification.accepts(value):
                raise ParameterError(
                    f"{self.name}: {key} must be {specification.wanted(value)}, "
                    f"not {_shown(value)}",
                    hint=_explained(type(self)),
                )
            if specification.kind == "whole" and value is not None:
                object.__setattr__(self, key, int(value))  # 2.0 is 2
        self.validate()

    def validate(self) -> None:
        """Refuse combinations of parameters that make no sense. Nothing by default."""
        return

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """Return the parameters by name."""
        return {f.name: f.metadata["parameter"] for f in fields(cls) if "parameter" in f.metadata}

    @classmethod
    def mandatory(cls) -> list[str]:
        """Return the names of the parameters without a default."""
        return [f.name for f in fields(cls) if "parameter" in f.metadata and f.default is MISSING]

    def given(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults, or have none."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if "parameter" in f.metadata
            and (f.default is MISSING or getattr(self, f.name) != f.default)
        }

    @property
    def monotone(self) -> bool:
        """Whether the union of two satisfying groups satisfies, with these parameters."""
        return True

    def share_bound(self, *, anywhere: bool = False) -> Fraction | None:
        """Return the most of a group that it lets lie near one of the group's values.

        None, as by default, if it bounds no such share. With `anywhere`, near any value whatever,
        which then holds for any mixture of groups, too.
        """
        return None

    @abstractmethod
    def bind(self, domain: Domain) -> Rule:
        """Return the rule for a sensitive attribute with the given domain."""

    def __str__(self) -> str:
        """Return the principle as it is written on the command line."""
        shown = ",".join(f"{key}={plain_value(value)}" for key, value in self.given().items())
        return f"{self.name}:{shown}" if shown else self.name


class Rule(ABC):
    """A principle at work. The first three questions are answered for all groups at once.

    Rules keep their laws: satisfies implies feasible; feasible is closed under union; every
    group that `finish` makes of a feasible group satisfies; for a monotone rule feasible is
    satisfies and `finish` leaves the group whole; the order of rows never matters.
    """

    monotone: bool = True
    #: Whether a group that satisfies still does with any other rows added. Then leaving out the
    #: rows of failing groups is monotone, too: coarser nodes of a lattice lose fewer.
    upward: bool = False
    #: Whether a no of `feasible` is proven; else it may mean that no partition was found.
    certain: bool = True
    #: No smaller group can satisfy the principle.
    least: int = 1
    #: No smaller group with a row that needs protection can; None if that is `least`.
    usual: int | None = None
    #: The values that need no protection, if there are any.
    allowance: AllowedValues | None = None
    #: The rule as compiled code reads it; None where there is no such form, only a slower way.
    kernel: CompiledRule | None = None

    @property
    def unit(self) -> int:
        """The smallest group that algorithms make."""
        return self.least if self.usual is None else self.usual

    @abstractmethod
    def satisfies(self, groups: Groups) -> Bools:
        """Return which groups satisfy the principle, exactly."""

    @abstractmethod
    def achieved(self, groups: Groups) -> dict[str, Floats]:
        """Return the strongest value of each parameter that each group reaches.

        The other parameters stay as they are. The first entry ranks the groups. Where a parameter
        is declared exclusive, only values beyond the figure are satisfied (c of recursive-cl).
        """

    @abstractmethod
    def reason(self, groups: Groups, group: int) -> str:
        """Say in a few words, without sensitive values, what the group's verdict rests on."""

    def feasible(self, groups: Groups) -> Bools:
        """Return which groups can be partitioned into groups that satisfy the principle."""
        return self.satisfies(groups)

    def finish(self, codes: Ints, rng: Chance) -> Ints:
        """Partition one feasible group, given by its rows' codes: a label for each row."""
        return np.zeros(len(codes), dtype=np.int64)

    def ruled_out(self, codes: Ints, unit: int) -> Witness | None:
        """Prove that rows, given by their codes, make no groups of at least so many rows.

        None, as by default, means that no proof is known.
        """
        return None


R = TypeVar("R", bound=Rule)
T = TypeVar("T")


def remembered(method: Callable[[R, Groups], T]) -> Callable[[R, Groups], T]:
    """Keep a method's latest result, for the verdict and the figures rest on the same counts."""
    slot = f"_{method.__name__}_remembered"

    @wraps(method)
    def wrapper(self: R, groups: Groups) -> T:
        latest = self.__dict__.get(slot)
        if latest is None or latest[0] is not groups:
            latest = self.__dict__[slot] = (groups, method(self, groups))
        result: T = latest[1]
        return result

    return wrapper


_REGISTRY: dict[str, type[Principle]] = {}

P = TypeVar("P", bound=type[Principle])


_TOLD = (
    "name",
    "title",
    "reference",
    "protects",
    "does_not_protect",
    "monotonicity",
    "example",
)


def register(cls: P) -> P:
    """Make a principle known to checks, the command line, the documentation and the law tests.

    A class of the same name in the same module takes the place of the one before, so that a cell
    of a notebook can run again. Packages may also list theirs under the entry point group
    ``wideberth.principles``.
    """
    for wanted in _TOLD:
        if not isinstance(getattr(cls, wanted, None), str):
            raise TypeError(f"{cls.__name__} must say its {wanted}")
    before = _REGISTRY.get(cls.name)
    if before is not None and not redefined(before, cls):
        raise ValueError(
            f"a principle named {cls.name!r} is registered already, by {before.__module__}: "
            "give yours another name"
        )
    _REGISTRY[cls.name] = cls
    return cls


def redefined(before: type, now: type) -> bool:
    """Return whether a class redefines another, as when a notebook's cell runs again.

    >>> redefined(Principle, Principle), redefined(Principle, Rule)
    (True, False)
    """
    return (before.__module__, before.__qualname__) == (now.__module__, now.__qualname__)


def registry() -> Mapping[str, type[Principle]]:
    """Return all registered principles by name, those of installed packages included."""
    _load_installed()
    return _REGISTRY


@cache
def _load_installed() -> None:
    for entry in entry_points(group="wideberth.principles"):
        entry.load()


def lookup(name: str) -> type[Principle]:
    """Return the principle of that name."""
    known = registry()
    if name not in known:
        raise ParameterError(
            f"there is no principle '{name}'" + _similar(name, known),
            hint=what_to_type(
                python="wideberth.principles.registry() lists them all",
                command="wideberth principles   (lists them all)",
            ),
        )
    return known[name]


def make(name: str, settings: Mapping[str, Any]) -> Principle:
    """Build a principle from its name and parameters, as a policy gives them.

    >>> make("k-anonymity", {"k": 5})
    KAnonymity(on=None, k=5)
    """
    cls = lookup(name)
    allowed = cls.parameters()
    for key in settings:
        if key != "on" and key not in allowed:
            raise ParameterError(
                f"{name} has no parameter '{key}'" + _similar(key, allowed),
                hint=f"its parameters are {', '.join(allowed)}",
            )
    for key in cls.mandatory():
        if key not in settings:
            raise ParameterError(
                f"{name} needs its parameter '{key}': {allowed[key].range}",
                hint=_explained(cls),
            )
    return cls(**{key: _read(allowed.get(key), value) for key, value in settings.items()})


def _read(specification: Parameter | None, value: Any) -> Any:
    """Read a number that a policy gives as text, such as 5/6, which TOML has no form for."""
    if specification is None or specification.kind not in ("number", "whole"):
        return value
    return specification.parse(value) if isinstance(value, str) else value


def parse(text: str) -> Principle:
    """Build a principle from its command-line form.

    >>> str(parse("frequency-l:l=2.5"))
    'frequency-l:l=2.5'
    """
    name, _, rest = text.partition(":")
    name = name.strip()
    allowed = lookup(name).parameters()
    settings: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise ParameterError(
                f"'{item}' in '{text}' is not of the form parameter=value",
                hint=f"for example {lookup(name).example}",
            )
        if key in settings:
            raise ParameterError(f"'{key}' stands twice in '{text}'", hint="give it once")
        if key == "on":
            parts = tuple(value.split("+"))
            settings[key] = parts[0] if len(parts) == 1 else parts
        else:
            settings[key] = allowed[key].parse(value) if key in allowed else value
    return make(name, settings)


def rows_in_words(count: int) -> str:
    """Write a number of rows in words.

    >>> rows_in_words(1), rows_in_words(1200)
    ('1 row', '1,200 rows')
    """
    return "1 row" if count == 1 else f"{count:,} rows"


def plain_value(value: object) -> Any:
    """Return a parameter's value as it is written: a short decimal, or a|b for several values."""
    if isinstance(value, Fraction | Decimal):
        exact = Fraction(value)
        if exact.denominator == 1:
            return int(exact)
        return float(exact) if fraction(float(exact)) == exact else str(exact)
    if isinstance(value, tuple):
        return "|".join(map(str, value))
    if callable(value):
        return getattr(value, "__name__", repr(value))
    return value


def _explained(cls: type[Principle]) -> str:
    """Return where the parameters of a principle are explained."""
    return what_to_type(
        python=f"help(wb.{cls.__name__})", command=f"wideberth principles {cls.name}"
    )


def _similar(name: str, known: Mapping[str, object]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def iterate() -> Iterator[type[Principle]]:
    """Go through all registered principles in alphabetical order."""
    known = registry()
    return (known[name] for name in sorted(known))
