"""The comparison itself: it finds a difference, shows it, and writes only when it is told to."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import (
    snapshots,
    test_commands,
    test_datasets,
    test_groups,
    test_help,
    test_names,
    test_releases,
)

MODULES = (test_commands, test_datasets, test_groups, test_help, test_names, test_releases)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with one file; nobody asks to rewrite it."""
    monkeypatch.delenv("WIDEBERTH_GOLDEN", raising=False)
    monkeypatch.setattr(snapshots, "STORED", tmp_path)
    path = tmp_path / "numbers.txt"
    path.write_text("".join(f"{number}\n" for number in range(100)), encoding="utf-8")
    return path


@pytest.mark.skipif(
    snapshots.rewriting(), reason="other tests may not have written their files yet"
)
def test_every_stored_file_belongs_to_one_test() -> None:
    """A file without a test would freeze nothing: remove it together with its test."""
    named = [name for module in MODULES for name in module.FILES]
    found = [path for path in snapshots.STORED.rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(snapshots.STORED)) for path in found) == sorted(named)


def test_the_same_text_passes(stored: Path) -> None:
    snapshots.compare("numbers.txt", stored.read_text(encoding="utf-8"))


def test_a_difference_is_shown_and_nothing_is_written(stored: Path) -> None:
    before = stored.read_text(encoding="utf-8")
    with pytest.raises(pytest.fail.Exception) as failure:
        snapshots.compare("numbers.txt", before.replace("50\n", "fifty\n"))
    lines = str(failure.value).splitlines()
    assert lines[0] == "the result is not what tests/golden/stored/numbers.txt holds:"
    assert {"-50", "+fifty"} < set(lines)
    assert "7" not in lines  # lines far away
    assert "If you mean this change, rewrite the file: WIDEBERTH_GOLDEN=refresh" in lines[-2]
    assert stored.read_text(encoding="utf-8") == before


def test_a_large_difference_is_cut(stored: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"… and 6\d more lines") as failure:
        snapshots.compare("numbers.txt", "x" * 1000)
    assert len(str(failure.value)) < 1000


def test_a_file_that_is_missing_is_a_difference(stored: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"\+one"):
        snapshots.compare("new.txt", "one\n")
    assert not stored.with_name("new.txt").exists()


def test_files_are_rewritten_on_demand(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIDEBERTH_GOLDEN", "refresh")
    for name in ("numbers.txt", "folder/new.txt"):
        snapshots.compare(name, "one\n")
        assert (stored.parent / name).read_text(encoding="utf-8") == "one\n"


def test_json_keeps_its_order_and_twelve_digits() -> None:
    one, other = "x" * 60, "y" * 60
    text = snapshots.json_text({"b": 1 / 3, "a": [one, other], "c": [1, 0.1 + 0.2]})
    assert text.splitlines() == [
        *("{", ' "b": 0.333333333333,', ' "a": [', f'  "{one}",', f'  "{other}"', " ],"),
        *(' "c": [1, 0.3]', "}"),
    ]
    with pytest.raises(ValueError, match="not JSON compliant"):
        snapshots.json_text(float("nan"))
