"""Tables in doubt: wide ones, halves of two releases, texts that look like numbers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import polars as pl
import pytest

import wideberth as wb
from wideberth.cli import main
from wideberth.errors import InfeasibleError, TableError
from wideberth.io import ReadOptions
from wideberth.policy import proposal
from wideberth.policy.guesses import guess_columns
from wideberth.policy.people import find_people
from wideberth.policy.proposal import proposed_reading, reading_remarks
from wideberth.ui import jobs
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
    reading = proposed_reading(frame, ReadOptions())
    reading_remarks(frame, ReadOptions(), reading)
    guesses = guess_columns(frame)
    find_people(frame, identifier=[one.column for one in guesses if one.role == "identifier"])


class TestTwoTables:
    """Without a manifest, nothing ties two tables together."""

    @pytest.fixture
    def halves(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
        """Write quasi.csv of one release and sensitive.csv of another, of the same table."""
        monkeypatch.chdir(tmp_path)
        people = pl.DataFrame(
            {"age": range(20, 320), "disease": [f"ill {(7 * i) % 10}" for i in range(300)]}
        )
        people.write_csv("people.csv")
        for name in ("one", "two"):
            release = wb.anonymize(
                people,
                quasi="age",
                sensitive="disease",
                principles="distinct-l:l=3",
                algorithm="anatomy",
            )
            release.save(name)
            Path(name, "manifest.json").unlink()
        return people

    def test_check_is_not_sure(
        self, halves: pl.DataFrame, capsys: pytest.CaptureFixture[str]
    ) -> None:
        how = ("--sensitive", "disease", "--principle", "distinct-l:l=3")
        mixed = ("one/quasi.csv", "--sensitive-table", "two/sensitive.csv")
        code, out, _ = run(capsys, "check", *mixed, *how)
        assert code == 3
        assert out.splitlines()[-1].endswith(
            "satisfied if both tables are of one release: 1 principle"
        )
        assert "satisfied: 1" not in out
        code, out, _ = run(capsys, "check", *mixed, *how, "--format", "json")
        told = json.loads(out)
        assert (code, told["satisfied"]) == (3, True)
        assert told["verdict"] == "satisfied if both tables are of one release"
        assert "nothing says that" in told["untied"]
        result = wb.check(
            mixed[0], sensitive_table=mixed[2], sensitive="disease", principles="distinct-l:l=3"
        )
        assert result.satisfied
        assert not result

    def test_the_original_shows_it(self, halves: pl.DataFrame) -> None:
        quasi, values = pl.read_csv("one/quasi.csv"), pl.read_csv("two/sensitive.csv")
        mixed = wb.audit("one/quasi.csv", sensitive_table="two/sensitive.csv", original=halves)
        [found] = [one for one in mixed.findings if one.name == "foreign-values"]
        held = {(group, value) for group, value, _ in values.rows()}
        group = dict(quasi.select("age", "group").rows())
        lost = sum((group[age], disease) not in held for age, disease in halves.rows())
        assert lost > 100
        assert found.figures == {"people": lost, "of": 300}
        assert found.severity == "high"
        assert "ill" not in str(found.to_dict())
        whole = wb.audit("one/quasi.csv", sensitive_table="one/sensitive.csv", original=halves)
        assert "foreign-values" not in [one.name for one in whole.findings]

    @pytest.mark.filterwarnings("always::wideberth.io.TableWarning")
    def test_join_says_so(self, halves: pl.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
        _, _, err = run(capsys, "join", "one/quasi.csv", "two/sensitive.csv", "-o", "joined.csv")
        assert "nothing says that quasi.csv and sensitive.csv are of one release" in err


def test_advise_asks_how_a_text_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age;pay\n" + "".join(f"{i};{70_000 + 13 * i},97\n" for i in range(40)))
    code, out, err = run(capsys, "advise", path, "--sensitive", "pay")
    assert (code, out) == (2, "")
    assert "column 'pay' looks like numbers written as 1234,56" in err
    assert "--written" in err
    assert run(capsys, "advise", path, "--sensitive", "pay", "--type", "pay=text")[0] == 0
    assert run(capsys, "advise", path, "--sensitive", "pay", "--written", "pay=1234,56")[0] == 0


def test_a_method_is_proposed_only_what_it_can_do() -> None:
    values = ["common"] * 30 + [f"rare {i}" for i in range(30)]
    table = pl.DataFrame({"age": range(60), "disease": values})
    with pytest.raises(InfeasibleError) as refused:
        wb.anonymize(
            table,
            quasi="age",
            sensitive="disease",
            principles="frequency-l:l=3",
            algorithm="anatomy",
            method="mbf",
        )
    settings = {one["setting"]: one["outcome"] for one in refused.value.tries}
    assert not [one for one in settings if "allowed" in one]
    assert 'method = "optimal"' in settings
    hint = str(refused.value.hint)
    for setting, outcome in settings.items():
        assert (f"{setting} (tried" in hint) == (outcome == "works")


def test_as_many_jobs_run_as_the_docs_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real limit, and processes that are never started."""
    begun = 0

    async def worker(task: str) -> None:
        nonlocal begun
        begun += 1
        await asyncio.Event().wait()

    monkeypatch.setattr(jobs, "_worker", worker)
    monkeypatch.setattr(jobs, "_PATIENCE", 0.05)

    async def refused() -> list[object]:
        every = jobs.Jobs()
        asked = [asyncio.create_task(every.start("profile", {})) for _ in range(40)]
        done, waiting = await asyncio.wait(asked, timeout=2)
        for one in waiting:
            one.cancel()
        return [one.exception() for one in done]

    found = asyncio.run(refused())
    docs = (Path(__file__).parents[1] / "docs/threat-model.md").read_text()
    assert f"at most {begun} jobs run at once" in docs
    assert len(found) == 40 - begun
    assert all(isinstance(one, jobs.JobError) for one in found)
