"""What golden tests import from inside the package; all else goes by public names and commands."""

from __future__ import annotations

from tests.engines.spark.emulation import emulated as emulated
from wideberth.cli import wideberth as wideberth
