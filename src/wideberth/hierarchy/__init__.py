"""Generalization hierarchies and semantic trees: one rooted tree for both.

`tree` is the data structure and its outline, `load` reads it from files, `derive` makes it from the
values themselves, `rule` reads what a policy says about it, `semantic` finds similar values and
makes the tree of ICD-10 codes, and `quasi` puts the codes of a quasi-identifier in tree order.
"""

from wideberth.hierarchy.derive import dates, flat, intervals, masks
from wideberth.hierarchy.load import from_parents, from_rows, read_hierarchy, read_parents
from wideberth.hierarchy.rule import as_rule, parse_spec
from wideberth.hierarchy.semantic import (
    SimilarLeaves,
    buckets,
    connected_components,
    depths,
    distances,
    exact_reach,
    icd10,
    require_one_root,
    similar_leaves,
    similar_pairs,
)
from wideberth.hierarchy.tree import Hierarchy, IntArray, Summary, outline, summary

__all__ = [
    "Hierarchy",
    "IntArray",
    "SimilarLeaves",
    "Summary",
    "as_rule",
    "buckets",
    "connected_components",
    "dates",
    "depths",
    "distances",
    "exact_reach",
    "flat",
    "from_parents",
    "from_rows",
    "icd10",
    "intervals",
    "masks",
    "outline",
    "parse_spec",
    "read_hierarchy",
    "read_parents",
    "require_one_root",
    "similar_leaves",
    "similar_pairs",
    "summary",
]
