"""What to say of values that a hierarchy lacks, without showing one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from wideberth.errors import HierarchyError

#: A value that so many rows hold is a category, not what is true of one person.
_ENOUGH = 5
#: How many values are quoted at most, and how many letters of each.
_QUOTED, _LONG = 3, 40
#: What people write differently, and how to make it the same.
_SAME: dict[str, Callable[[str], str]] = {
    "capital letters": str.casefold,
    "spaces around it": str.strip,
    "dots": lambda text: text.replace(".", ""),
    "capital letters, spaces and dots": lambda text: text.replace(".", "").strip().casefold(),
}


def describe(
    values: Sequence[object], bad: Sequence[int], fault: str, rows: Sequence[int] | None = None
) -> str:
    """Return how many values have a fault and which row shows it first, without showing a value.

    >>> describe(["1", "x", "y", "x"], [1, 2, 3], "not numeric")
    '2 values are not numeric (first in row 2)'
    """
    # `fault` follows "is" or "are". rows: the row number of each value; position + 1 by default.
    count = len({values[i] for i in bad})
    first = min(i + 1 if rows is None else rows[i] for i in bad)
    return f"{count} {'value is' if count == 1 else 'values are'} {fault} (first in row {first})"


def common(values: Sequence[str], rows: Sequence[int]) -> str:
    """Quote the values that many rows hold, to follow a sentence; return "" if there are none.

    >>> common(["north", "Jane Doe", "south"], [12, 1, 7])
    ": 'north' in 12 rows, 'south' in 7 rows"
    """
    # A value that at least `_ENOUGH` rows hold is a category. A rarer one may be what is written of
    # a single person, and stays unquoted.
    held = sorted(zip(rows, values, strict=True), key=lambda pair: (-pair[0], pair[1]))
    often = [(many, value) for many, value in held if many >= _ENOUGH]
    said = [
        f"'{value if len(value) <= _LONG else value[: _LONG - 1] + '…'}' in {many:,} rows"
        for many, value in often[:_QUOTED]
    ]
    if len(often) > _QUOTED:
        said.append(f"and {len(often) - _QUOTED:,} more")
    return ": " + ", ".join(said) if said else ""


def lacking(
    what: str, values: Collection[str] = (), labels: Collection[str] = ()
) -> HierarchyError:
    """Return the error, with a hint if all of the values differ from labels in one thing only.

    >>> lacking("1 value is missing", ["a001"], ["A00.1"]).hint.split(":")[1].split("(")[0]
    ' they differ in capital letters, spaces and dots only '
    """
    for difference, same in _SAME.items() if values else ():
        known = {same(label) for label in labels}
        if all(same(value) in known for value in values):
            hint = f"correct the table or the tree: they differ in {difference} only"
            if "dots" in difference:
                hint += " (ICD-10 without dots: icd-10-undotted)"
            return HierarchyError(what, hint=hint)
    return HierarchyError(
        what, hint="add them, or correct the table; spelling, case and spaces count"
    )
