"""What a published table says of people's quasi-identifiers.

`labels` reads what is written, `atoms` knows the values that people can have, `axes` tells which
of them each label covers, `boxes` puts the axes together, and `covering` asks which boxes cover
whom.
"""

from wideberth.published.axes import Axis
from wideberth.published.boxes import Published
from wideberth.published.covering import Covering

__all__ = ["Axis", "Covering", "Published"]
