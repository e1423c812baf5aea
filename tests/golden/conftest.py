"""Golden tests type commands as the tests of the command line do."""

from __future__ import annotations

from cli.conftest import run, write  # noqa: F401 - fixtures
