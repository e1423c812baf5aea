"""What a published table is still worth, by every metric that can be computed."""

from wideberth.measuring.asking import detail, measure, measured
from wideberth.measuring.utility import Utility

__all__ = ["Utility", "detail", "measure", "measured"]
