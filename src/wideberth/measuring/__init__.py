"""What a published table is still worth, by every metric that can be computed."""

from wideberth.measuring.asking import measure, measured
from wideberth.measuring.utility import Utility

__all__ = ["Utility", "measure", "measured"]
