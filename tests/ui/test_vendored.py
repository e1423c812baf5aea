"""What is vendored is what the packages hold."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files

VENDOR = files("wideberth") / "ui" / "static" / "vendor"


def test_files_are_those_of_the_packages() -> None:
    table = (VENDOR / "README.md").read_text(encoding="utf-8")
    sums = dict(re.findall(r"^\| (\S+\.js) \|.*`([0-9a-f]{64})` \|$", table, re.MULTILINE))
    assert set(sums) == {"vega.min.js", "vega-lite.min.js", "vega-interpreter.js"}
    for name, told in sums.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == told, name


def test_licences_lie_beside_them() -> None:
    for package in ("vega", "vega-lite", "vega-interpreter"):
        assert "Redistribution" in (VENDOR / f"LICENSE-{package}").read_text(encoding="utf-8")


def test_interpreter_differs_in_its_import_only() -> None:
    theirs, ours = (
        (VENDOR / name).read_text(encoding="utf-8").splitlines()
        for name in ("vega-interpreter.js", "interpreter.js")
    )
    assert ours[0] == theirs[0].replace("import", "const").replace(
        "from 'vega-util'", "= globalThis.vega"
    )
    assert theirs[-1].startswith("//# sourceMappingURL")
    assert ours[1:] == theirs[1:-1]
