"""Generalization hierarchies and semantic trees: one rooted tree for both.

`tree` is the data structure, `files` reads it from files, `derive` makes it from the values
themselves, `spec` understands what a policy says about it, and `view` shows it to people.
"""

from wideberth.hierarchy.derive import dates, flat, intervals, masks
from wideberth.hierarchy.files import from_parents, from_rows, read_hierarchy, read_parents
from wideberth.hierarchy.spec import parse_spec
from wideberth.hierarchy.tree import Hierarchy, IntArray
from wideberth.hierarchy.view import Summary, outline, summary

__all__ = [
    "Hierarchy",
    "IntArray",
    "Summary",
    "dates",
    "flat",
    "from_parents",
    "from_rows",
    "intervals",
    "masks",
    "outline",
    "parse_spec",
    "read_hierarchy",
    "read_parents",
    "summary",
]
