"""What a published table says of people's quasi-identifiers.

`parse` reads one label, `values` finds the values that a label covers, `axes` does so for all
labels of a quasi-identifier, `boxes` puts the quasi-identifiers together, and `cover` finds the
boxes that cover each person.
"""

from wideberth.labels.axes import PublishedQuasi
from wideberth.labels.boxes import PublishedBoxes
from wideberth.labels.cover import BoxCover

__all__ = ["BoxCover", "PublishedBoxes", "PublishedQuasi"]
