"""A semantic tree of the schooling of Adult, all leaves equally deep.

The paper that measures (l,e)-diversity on this column does not print its own. Here degrees that
are told apart by years alone share a parent, and the four stages of schooling are below the root.
"""

from __future__ import annotations

from wideberth.hierarchy import Hierarchy, from_rows

#: Each value with what it generalises to, up to the root.
_ROWS = (
    ("Preschool", "before school", "school", "*"),
    ("1st-4th", "primary school", "school", "*"),
    ("5th-6th", "primary school", "school", "*"),
    ("7th-8th", "middle school", "school", "*"),
    ("9th", "middle school", "school", "*"),
    ("10th", "high school unfinished", "secondary", "*"),
    ("11th", "high school unfinished", "secondary", "*"),
    ("12th", "high school unfinished", "secondary", "*"),
    ("HS-grad", "high school finished", "secondary", "*"),
    ("Some-college", "college unfinished", "college", "*"),
    ("Assoc-voc", "associate degree", "college", "*"),
    ("Assoc-acdm", "associate degree", "college", "*"),
    ("Bachelors", "first degree", "university", "*"),
    ("Masters", "higher degree", "university", "*"),
    ("Prof-school", "professional degree", "university", "*"),
    ("Doctorate", "higher degree", "university", "*"),
)


def education() -> Hierarchy:
    """Return the tree.

    Examples
    --------
    >>> tree = education()
    >>> len(tree.leaves), tree.height, tree.balanced
    (16, 3, True)
    >>> tree.distance("Masters", "Doctorate"), tree.distance("Masters", "Bachelors")
    (Fraction(1, 1), Fraction(2, 1))
    """
    return from_rows(_ROWS)
