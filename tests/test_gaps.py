"""What a review of the first version's corrections left open."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from wideberth.cli import main
from wideberth.errors import TableError
from wideberth.policy import proposal
from wideberth.policy.guesses import guess_columns
from wideberth.policy.people import find_people
from wideberth.policy.proposal import proposed_reading, reading_remarks
from wideberth.ui.tasks.open import profile


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run a command; return its exit code, and what it printed and said."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    said = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.out, said.err


class TestWideTables:
    """`init` looks at each column, and at no pair of columns."""

    @pytest.mark.parametrize("prefix", ["word ", "t", "A10000"])
    def test_few_searches_for_each_column(
        self, prefix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = type(pl.Series([""]).str)
        contains, searches = names.contains, 0

        def counted(*args: object, **more: object) -> object:
            nonlocal searches
            searches += 1
            return contains(*args, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(names, "contains", counted)
        many = []
        for width in (10, 20):
            searches = 0
            table = {
                f"column{i}": [f"{prefix}{(7 * row + i) % 30:02}" for row in range(40)]
                for i in range(width)
            }
            _look(pl.DataFrame(table))
            many.append(searches)
        assert many[1] == 2 * many[0]  # no column is compared with another
        assert many[0] <= 10 * 35

    def test_names_are_split_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from wideberth.policy import people

        asked, split = [], people.lowercase_words

        def counted(name: str) -> list[str]:
            asked.append(name)
            return split(name)

        monkeypatch.setattr(people, "lowercase_words", counted)
        find_people(pl.DataFrame({f"visit_id{i}": ["a1", "a1", "b2", "c3"] for i in range(200)}))
        assert len(asked) <= 20 * 200

    def test_absurd_widths_end_in_one_message(
        self,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(proposal, "MAX_PROPOSED_COLUMNS", 3)
        path = tmp_path / "people.csv"
        path.write_text("a;b;c;d\n1;2;3;4\n")
        code, out, err = run(capsys, "init", path)
        assert (code, out) == (1, "")
        assert err == (
            f"error: {path} has 4 columns; roles are proposed for 3 at most\n"
            "  try: keep the columns that you mean to publish, and leave out the others; or, if "
            "there should be fewer, name the delimiter (--delimiter)\n"
        )
        with pytest.raises(TableError, match=r"people\.csv has 4 columns"):
            profile(path=str(path), tell=lambda *_: None)


def _look(frame: pl.DataFrame) -> None:
    """Do what `init` does with a table, for each of its columns."""
    reading = proposed_reading(frame, proposal.ReadOptions())
    reading_remarks(frame, proposal.ReadOptions(), reading)
    guesses = guess_columns(frame)
    find_people(frame, identifier=[one.column for one in guesses if one.role == "identifier"])
