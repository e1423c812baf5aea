"""Policies and manifests from outside: bounded before they are parsed, whatever they hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wideberth as wb
from wideberth.errors import HierarchyError, PolicyError
from wideberth.hierarchy import read_hierarchy
from wideberth.io import documents
from wideberth.policy.policy import Policy

KEYS = {
    "a dotted key": ".".join("a" * 30000) + " = 1",
    "a dotted key with blanks": " . ".join("a" * 30000) + " = 1",
    "a dotted key in quotes": ".".join(['"a.b"'] * 30000) + " = 1",
    "a dotted header": "[" + ".".join("a" * 30000) + "]",
    "lists": "a = " + "[" * 20000 + "]" * 20000,
    "open lists": "a = " + "[" * 20000,
    "lists over lines": "a = " + "[\n" * 20000,
    "tables": "a = " + "{a = " * 5000 + "1" + "}" * 5000,
}


@pytest.mark.parametrize("text", KEYS.values(), ids=KEYS)
def test_a_policy_is_not_nested_without_end(text: str, tmp_path: Path) -> None:
    """60 kB of a dotted key took 3.7 GB to parse."""
    path = tmp_path / "policy.toml"
    path.write_text(text)
    tracemalloc.start()
    with pytest.raises(PolicyError, match="nested too deeply") as caught:
        Policy.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.hint
    assert peak < 8 << 20


@pytest.mark.parametrize("text", KEYS.values(), ids=KEYS)
def test_nor_is_one_that_the_app_is_given(text: str) -> None:
    policies = pytest.importorskip("wideberth.ui.policy_forms")
    with pytest.raises(PolicyError, match="nested too deeply"):
        policies.read_policy_text(text.encode())


def test_brackets_and_dots_in_texts_are_no_nesting() -> None:
    marks = "[{." * 100
    text = "\n".join(
        [
            f'a = "{marks}\\"{marks}"  # {marks}',
            f"b = '{marks}'",
            f'c = """{marks}\n"" \\""" {marks}"""""',
            f"d = '''{marks}\n''{marks}'''",
            f'"{marks}" = 1',
            *(f"e{i} = 1.5" for i in range(100)),
        ]
    )
    read = documents.parse_toml(text, "it")
    assert read["b"] == marks
    assert read["c"].count(marks) == 2
    assert read[marks] == 1


def test_a_policy_has_a_size(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("#" * (documents.LARGEST_POLICY + 1))
    with pytest.raises(PolicyError, match="larger than 1 MB"):
        Policy.load(path)
    path.write_text("#" * documents.LARGEST_POLICY)
    assert Policy.load(path).principles == []


def test_a_number_of_thousands_of_digits() -> None:
    with pytest.raises(PolicyError, match="a number that is too long"):
        documents.parse_toml("version = " + "9" * 10**5, "it")


# Manifests.

RELEASE = "age,disease,group\n" + "20-29,flu,1\n20-29,ulcer,1\n30-39,flu,2\n30-39,ulcer,2\n"


def manifest(path: Path) -> dict[str, Any]:
    from wideberth.release.release import sha256

    return {
        "output": {"name": path.name, "sha256": sha256(path)},
        "roles": {"quasi": ["age"], "sensitive": ["disease"]},
        "group": "group",
        "principles": ["k-anonymity:k=2"],
        "transform": {"algorithm": "mondrian"},
        "loss": {"ncp_percent": 12.5, "ncp_percent_by_attribute": {"age": 12.5}},
        "suppressed": {"rows": 0},
        "warnings": [],
    }


@pytest.fixture
def beside(tmp_path: Path) -> Callable[[Any], Path]:
    """Write a release, and a manifest beside it."""
    path = tmp_path / "release.csv"
    path.write_text(RELEASE)

    def write(content: Any) -> Path:
        text = content if isinstance(content, str) else json.dumps(content)
        path.with_name("release.csv.manifest.json").write_text(text)
        return path

    return write


def test_a_manifest_that_is_right(beside: Callable[[Any], Path], tmp_path: Path) -> None:
    path = beside(manifest(beside({})))
    found = wb.audit(path)
    assert not any("manifest" in note for note in found.notes)
    assert found.roles["quasi"] == ["age"]


WRONG: dict[str, Any] = {
    "half a letter": {"promise": "\ud800"},
    "a list": [],
    "nested": "[" * 200000,
    "nested objects": '{"a":' * 200000,
    "roles of numbers": {"roles": {"quasi": [1]}},
    "roles of text": {"roles": {"quasi": "age"}},
    "roles in a list": {"roles": [1]},
    "principles as a number": {"principles": 5},
    "principles of lists": {"principles": [[]]},
    "group as a list": {"group": ["group"]},
    "loss as text": {"loss": {"ncp_percent": "much"}},
    "suppressed as text": {"suppressed": {"rows": "many"}},
    "warnings as a number": {"warnings": 1},
    "versions as a list": {"versions": [1]},
    "versions of others": {"versions": {"python": "3"}},
    "versions of lists": {"versions": {"wideberth": [1]}},
    "a group without a name": {"group": ""},
    "warnings without end": {"warnings": ["x"] * 1001},
    "not promised without end": {"not_promised": ["x"] * 1001},
    "no roles": {"roles": None},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_manifest_of_wrong_types_is_not_used(change: Any, beside: Callable[[Any], Path]) -> None:
    path = beside({})
    told = {**manifest(path), **change} if isinstance(change, dict) else change
    found = wb.audit(beside(told), quasi=["age"], sensitive=["disease"])
    (note,) = (note for note in found.notes if "manifest" in note)
    assert "release.csv.manifest.json could not be read as a manifest" in note
    assert wb.report(path, quasi=["age"], sensitive=["disease"]).to_dict()["manifest"] is None


NULLS = ["group", "principles", "transform", "suppressed", "loss", "warnings", "versions"]


@pytest.mark.parametrize("part", [*NULLS, "promise", "not_promised"])
def test_a_part_of_a_manifest_that_is_null(part: str, beside: Callable[[Any], Path]) -> None:
    path = beside({})
    beside({**manifest(path), part: None})
    made = wb.report(path)
    assert made.to_dict()["manifest"][part] is None
    assert made.html()
    assert made.to_dict()["promise"]


def test_a_manifest_has_a_size(beside: Callable[[Any], Path]) -> None:
    path = beside({})
    told = {**manifest(path), "promise": "x" * documents.LARGEST_MANIFEST}
    beside(told)
    found = wb.audit(path, quasi=["age"], sensitive=["disease"])
    assert any("could not be read as a manifest" in note for note in found.notes)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")
@pytest.mark.parametrize("text", ['"{}"', '"{}', 'a = """{}"""', 'a = """{}'])
@pytest.mark.parametrize("piece", ["xx", "\\n", '\\"'])
def test_a_long_text_takes_no_more_memory_than_itself(text: str, piece: str) -> None:
    """16 MB in one text took 2.1 GB, which the regular expression remembered."""
    script = """if True:
        import resource, sys
        from wideberth.io import documents
        text = sys.argv[1].format(sys.argv[2] * 1_000_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert documents._too_deep(text) is None
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    words = [sys.executable, "-c", script, text, piece]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    assert int(told.stdout) < 32 << 10


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_are_not_read(kind: str, tmp_path: Path) -> None:
    """A pipe was waited for, and /dev/zero read for as long as there was memory."""
    odd = Path("/dev/zero")
    if kind == "pipe":
        os.mkfifo(odd := tmp_path / "pipe.csv")
    elif not odd.exists():
        pytest.skip("there is none here")
    with pytest.raises(PolicyError, match="not a regular file") as caught:
        Policy.load(odd)
    assert caught.value.hint
    with pytest.raises(HierarchyError, match="not a regular file"):
        read_hierarchy(odd)


def test_a_hierarchy_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "h.csv").write_text("a;*\nb;*\n")
    (link := tmp_path / "link.csv").symlink_to(path)
    assert read_hierarchy(link).labels == read_hierarchy(path).labels
    monkeypatch.setattr("wideberth.hierarchy.load.MAX_HIERARCHY_BYTES", 7)
    with pytest.raises(HierarchyError, match="larger than"):
        read_hierarchy(path)
