"""Hierarchies that someone wrote down: one row a leaf, or one row a child and its parent."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wideberth.errors import HierarchyError
from wideberth.hierarchy.tree import TOP, Hierarchy
from wideberth.io import documents

# The comma comes last: it is the one that labels such as "[30, 40)" contain.
_DELIMITERS = (";", "\t", "|", ",")
_LONGEST_CYCLE_SHOWN = 8
#: Bytes that a hierarchy file may have.
MAX_HIERARCHY_BYTES = 256 << 20
#: Work on a hierarchy grows with its levels; nobody has as many.
_MOST_LEVELS = 1000
_ROW_HINT = "write one row a leaf: value;level1;level2;…;*"
#: What the cells of a header are called: the first one, and those of levels and of parents.
_VALUE = re.compile(r"values?|lea(f|ves)|child(ren)?|(level|l)[ _-]?0")
_LEVEL = re.compile(r"(level|l)[ _-]?\d+|parents?")
_PAIR_HINT = "write one row a child: child,parent"


@dataclass(frozen=True)
class _HierarchyRows:
    """Rows, and how to name one in a message."""

    cells: list[list[str]]
    numbers: Sequence[int]
    name: str = ""
    unit: str = "row"

    def error(self, text: str, *, hint: str | None = None) -> HierarchyError:
        return HierarchyError(f"{self.name}: {text}" if self.name else text, hint=hint)

    def at(self, i: int) -> str:
        return f"({self.unit} {self.numbers[i]})"

    def without_first(self) -> _HierarchyRows:
        return _HierarchyRows(self.cells[1:], self.numbers[1:], self.name, self.unit)

    def below_header(
        self, given: bool | None, guessed: bool
    ) -> tuple[_HierarchyRows, str | None, str | None]:
        """Return the rows below a header, its first cell, and that of a row that may be one."""
        first = self.cells[0][0] if self.cells else None
        if first is not None and (guessed if given is None else given):
            return self.without_first(), first, None
        return self, None, first if given is None and _is_apart(self.cells) else None


def read_hierarchy(
    path: Path | str,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    column: str | None = None,
) -> Hierarchy:
    r"""Read a file with one row per leaf: `value;level1;level2;…;*`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "sector.csv")
    ...     _ = path.write_text("sector,kind,all\nState,Public,*\nCity,Public,*\nFirm,Private,*")
    ...     h = read_hierarchy(path)
    >>> h.generalize("City", 1), h.levels
    ('Public', 3)
    """
    # Rows may differ in length (cells left empty at the end do not count), and may also name an
    # inner node. If they end in different cells, `*` is put above them. Blank lines and repeated
    # rows are skipped; spaces are part of a cell.
    # By default the first row is a header if all further rows, at least two, end in the same cell
    # and it does not; or if it names its cells (`value`, `leaf` or the column's name first, or
    # `level1`, `level2`, … behind) and no other row has these names.
    rows = _read(Path(path), delimiter)
    guessed = _ends_apart(rows.cells) or _names_cells(rows.cells, column)
    rows, left_out, first = rows.below_header(header, guessed)
    for i, row in enumerate(rows.cells):
        if "" in row:
            raise rows.error(
                f"cell {row.index('') + 1} is empty {rows.at(i)}",
                hint="only cells at the end of a row may be empty; missing values need no row",
            )
    return replace(_from_rows(rows), header=left_out, first=first)


def from_rows(rows: Iterable[Sequence[str]]) -> Hierarchy:
    """Make a hierarchy from one row per leaf, as `read_hierarchy` does from a file.

    >>> from_rows([("f", "*"), ("m", "*")]).labels
    ('*', 'f', 'm')
    """
    cells = [list(row) for row in rows]
    return _from_rows(_HierarchyRows(cells, range(1, len(cells) + 1)))


def read_parents(
    path: Path | str,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    column: str | None = None,
) -> Hierarchy:
    r"""Read a file with one row for each child and its parent.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "icd.csv")
    ...     _ = path.write_text("child,parent\nE11.9,E11\nE11,E10-E14\nI10,I10-I15\n")
    ...     h = read_parents(path)
    >>> h.generalize("E11.9", 2), h.generalize("E11", 1), h.labels[0]
    ('E10-E14', 'E10-E14', '*')
    """
    # By default the first row is a header if it names its cells, as `child,parent` does, and no
    # other row has these names.
    rows = _read(Path(path), delimiter)
    rows, left_out, first = rows.below_header(header, _names_cells(rows.cells, column))
    return replace(_from_parents(rows), header=left_out, first=first)


def from_parents(pairs: Iterable[tuple[str, str]]) -> Hierarchy:
    """Make a hierarchy from (child, parent) pairs in any order.

    >>> h = from_parents([("flu", "infection"), ("infection", "disease"), ("ulcer", "disease")])
    >>> h.distance("flu", "ulcer"), h.distance("flu", "infection")
    (Fraction(3, 2), Fraction(1, 2))
    """
    # Inner nodes are values too. An empty parent, or none, makes a root; if there are several
    # roots, `*` is put above them.
    cells = [list(pair) for pair in pairs]
    return _from_parents(_HierarchyRows(cells, range(1, len(cells) + 1)))


def _from_rows(rows: _HierarchyRows) -> Hierarchy:
    cells = rows.cells
    if not cells or not all(cells):
        raise rows.error("a row is empty" if cells else "there are no rows", hint=_ROW_HINT)
    completed = len({row[-1] for row in cells}) > 1
    if completed:
        cells = [row if row[-1] == TOP else [*row, TOP] for row in cells]

    labels, parent = [cells[0][-1]], [-1]
    below: dict[tuple[int, str], int] = {}
    # A label at a level fixes all that lies above it, or generalizing to that level would publish
    # one label for two nodes. So its first row vouches for the rest of every later row.
    first: list[dict[str, tuple[int, int]]] = [{} for _ in range(max(map(len, cells)))]
    for i, row in enumerate(cells):
        node, start = 0, len(row) - 1
        for level, label in enumerate(row):
            if label in first[level]:
                earlier, node = first[level][label]
                if cells[earlier][level:] != row[level:]:
                    raise _conflict(rows, level, earlier, cells[earlier][level:], i, row[level:])
                start = level
                break
        first[start].setdefault(row[start], (i, node))
        for level in range(start - 1, -1, -1):
            label = row[level]
            child = below.setdefault((node, label), len(labels))
            if child == len(labels):
                labels.append(label)
                parent.append(node)
            node = child
            first[level][label] = (i, node)

    hierarchy = _built(rows, labels, parent, completed=completed)
    # Rows that turned out to name inner nodes are values too, so their labels must find them.
    if lost := hierarchy.uncovered([row[0] for row in cells]):
        raise rows.error(
            f"a value is the label of several inner nodes {rows.at(lost[0])}",
            hint="a value that is no leaf needs a label of its own",
        )
    return hierarchy


def _conflict(
    rows: _HierarchyRows, level: int, i: int, one: Sequence[str], j: int, other: Sequence[str]
) -> HierarchyError:
    """Return an error that names the lowest cell above which two rows part, but not its label."""
    # Labels are values of people, or tell something of them.
    step = next(k for k in range(1, len(one) + len(other)) if one[k : k + 1] != other[k : k + 1])
    return rows.error(
        f"cell {level + step} holds one label {rows.at(i)} and {rows.at(j)} "
        "under different parents",
        hint="at one level, a label has one parent: correct a row, or rename one of the two",
    )


def _built(
    rows: _HierarchyRows, labels: Sequence[str], parent: Sequence[int], *, completed: bool
) -> Hierarchy:
    hierarchy = Hierarchy.build(labels, parent, completed=completed)
    if hierarchy.levels > _MOST_LEVELS:
        raise rows.error(
            f"the hierarchy has {hierarchy.levels:,} levels, more than {_MOST_LEVELS:,}",
            hint="is it a hierarchy? Look for a delimiter that occurs in labels",
        )
    return hierarchy


def _from_parents(rows: _HierarchyRows) -> Hierarchy:
    if not rows.cells:
        raise rows.error("there are no rows", hint=_PAIR_HINT)
    ids: dict[str, int] = {}
    up: dict[str, str] = {}
    stated: dict[str, int] = {}
    for i, row in enumerate(rows.cells):
        if not 1 <= len(row) <= 2 or not row[0]:
            raise rows.error(f"not a child and its parent {rows.at(i)}", hint=_PAIR_HINT)
        child, parent = row[0], row[1] if len(row) == 2 else ""
        if up.setdefault(child, parent) != parent:
            raise rows.error(
                f"one child has different parents {rows.at(stated[child])} and {rows.at(i)}",
                hint="a child has one parent: correct a row, or rename one of the two",
            )
        stated.setdefault(child, i)
        for label in filter(None, (child, parent)):
            ids.setdefault(label, len(ids))

    if cycle := _cycle(up):
        closing = max(cycle, key=lambda label: stated[label])
        steps = [str(rows.numbers[stated[label]]) for label in cycle]
        shown = [*steps[:_LONGEST_CYCLE_SHOWN], "…"] if len(steps) > _LONGEST_CYCLE_SHOWN else steps
        raise rows.error(
            f"a label is its own ancestor {rows.at(stated[closing])}: "
            f"from {rows.unit} to {rows.unit} {' → '.join([*shown, steps[0]])}",
            hint="leave out one row of the circle",
        )
    roots = [label for label in ids if not up.get(label)]
    if len(roots) > 1:
        if up.get(TOP):
            raise rows.error(
                f"there are {len(roots)} roots, and {TOP!r} has a parent {rows.at(stated[TOP])}",
                hint=f"rename {TOP!r}, or give the roots a parent",
            )
        ids.setdefault(TOP, len(ids))
        up.update((root, TOP) for root in roots if root != TOP)
    parents = [ids[up[x]] if up.get(x) else -1 for x in ids]
    return _built(rows, list(ids), parents, completed=len(roots) > 1)


def _cycle(up: dict[str, str]) -> list[str]:
    """Follow each label upwards, and give the first circle met, child before parent."""
    safe: set[str] = set()
    for start in up:
        path: dict[str, None] = {}
        label = start
        while label and label not in safe:
            if label in path:
                steps = list(path)
                return steps[steps.index(label) :]
            path[label] = None
            label = up.get(label, "")
        safe.update(path)
    return []


def _read(path: Path, delimiter: str | None) -> _HierarchyRows:
    try:
        text = documents.read_text(path, MAX_HIERARCHY_BYTES)
    except UnicodeDecodeError as error:
        raise HierarchyError(
            f"{path}: not UTF-8 (byte {error.start + 1})", hint="save the file as UTF-8"
        ) from error
    except OSError as error:
        raise HierarchyError(
            f"{path}: cannot be read ({error.strerror})", hint="check the path"
        ) from error
    if text is None:
        what = f"{path}: larger than {MAX_HIERARCHY_BYTES >> 20} MB"
        raise HierarchyError(what, hint="is it a hierarchy file?")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise HierarchyError(f"{path}: {delimiter!r} is no delimiter", hint="use ; or , or a tab")

    marks = _DELIMITERS if delimiter is None else (delimiter,)
    readings, failures = [], []
    for mark in marks:
        try:
            readings.append(_split(text, mark))
        except csv.Error as error:
            # Strictly read, a quoted cell ends in the file's own delimiter or not at all.
            failures.append(error)
    if not readings:
        # The right delimiter is the one that got furthest.
        reason, line = max((error.args for error in failures), key=lambda args: int(args[1]))
        raise HierarchyError(
            f"{path}: cannot be split into cells: {reason} (line {line})",
            hint="close each quote, and double a quote inside quotes",
        )
    # Of equals, max takes the first.
    numbered = max(readings, key=lambda rows: sum(len(row) > 1 for _, row in rows))
    rows = [(line, _trimmed(row)) for line, row in numbered if any(row)]
    return _HierarchyRows([row for _, row in rows], [line for line, _ in rows], str(path), "line")


def _split(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Split the text into cells; each row comes with the number of its last line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise csv.Error(str(error), reader.line_num) from error


def _trimmed(row: list[str]) -> list[str]:
    while not row[-1]:
        row = row[:-1]
    return row


def _ends_apart(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether all rows but the first end in one cell."""
    # With a single further row the two are equals, and dropping a value would be the worse guess.
    tops = {row[-1] for row in cells[1:]}
    return len(cells) > 2 and len(tops) == 1 and cells[0][-1] not in tops


def _is_apart(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row shares no cell with another, but for what lies above all."""
    tops = {row[-1] for row in cells}
    shared = tops if len(tops) == 1 else {TOP}
    own = set(cells[0]) - shared if len(cells) > 2 else set()
    return len(own) > 1 and not any(own.intersection(row) for row in cells[1:])


def _names_cells(cells: Sequence[Sequence[str]], column: str | None) -> bool:
    """Return whether the first row says what its cells are, and no other row says the same."""
    if not cells:
        return False
    first, *above = (cell.strip().casefold() for cell in cells[0])
    value = bool(_VALUE.fullmatch(first)) or (column or "").strip().casefold() == first
    levels = bool(above) and all(map(_LEVEL.fullmatch, above))
    if not (value and levels if len(cells) == 1 else value or levels):
        return False
    # What lies above all values may stand in a header, too.
    top = {row[-1] for row in cells[1:]}
    names = set(cells[0]) - (top if len(top) == 1 else {TOP})
    return not any(names.intersection(row) for row in cells[1:])
