"""What a published table says of people's quasi-identifiers.

`labels` reads what is written, `atoms` knows the values that people can have, `axes` tells which
of them each label covers, `boxes` puts the axes together, and `covering` asks which boxes cover
whom.
"""

from wideberth.labels.axes import PublishedQuasi
from wideberth.labels.boxes import PublishedBoxes
from wideberth.labels.cover import BoxCover

__all__ = ["BoxCover", "PublishedBoxes", "PublishedQuasi"]
