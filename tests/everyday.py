"""Tables as people bring them: exports, notations, repeats, codes; made up, and small."""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

ILLNESSES = ("asthma", "bronchitis", "diabetes", "eczema", "gastritis", "migraine")
ROWS = 240


@dataclass(frozen=True)
class Everyday:
    """A table as text, and what is true of it, which no command is told.

    Parameters
    ----------
    text : str
        The file.
    identifiers : sequence of str
        Columns that name a person.
    sensitive : sequence of str
        Columns that nobody must learn of a person.
    harmless : str, optional
        A sensitive value that harms nobody.
    decisions : mapping
        What the person at the keyboard decides of columns that stay undecided.
    asked : str, optional
        What the commands ask before anything is made; None if they need not ask.
    """

    text: str
    sensitive: Sequence[str]
    identifiers: Sequence[str] = ()
    harmless: str | None = None
    decisions: dict[str, str] = field(default_factory=dict)
    asked: str | None = None


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]], mark: str = ",") -> str:
    lines = [header, *rows]
    return "\n".join(mark.join(_cell(cell, mark) for cell in line) for line in lines) + "\n"


def _cell(cell: object, mark: str) -> str:
    text = str(cell)
    return f'"{text}"' if mark in text else text


def _people(seed: int, rows: int = ROWS) -> Iterable[tuple[random.Random, int, str, str, str, int]]:
    """Yield a generator, age, sex, postcode, illness, and wage of made-up people."""
    rng = random.Random(seed)
    for _ in range(rows):
        age, sex = rng.randint(18, 89), rng.choice("fm")
        code = f"{rng.randint(1, 9)}{rng.randint(0, 9)}{rng.randint(0, 3)}{rng.randint(0, 9)}0"
        yield rng, age, sex, code, rng.choice(ILLNESSES), rng.randint(900, 9900)


def german() -> Everyday:
    rows = [
        (
            age,
            f"0{code[:4]}",
            sex,
            f"{wage:,}".replace(",", ".") + f",{rng.randint(10, 99)}",
            illness,
        )
        for rng, age, sex, code, illness, wage in _people(1)
    ]
    header = ("Alter", "PLZ", "Geschlecht", "Gehalt", "Diagnose")
    return Everyday(_csv(header, rows, ";"), sensitive=["Gehalt", "Diagnose"])


def export() -> Everyday:
    """An export of a spreadsheet: a title, dollars, a total in the last row."""
    rows = [
        (f"E{1000 + i}", age, sex, f"${wage:,}.00")
        for i, (_, age, sex, _, _, wage) in enumerate(_people(2))
    ]
    total = sum(int(row[3][1:-3].replace(",", "")) for row in rows)
    rows.append(("Total", "", "", f"${total:,}.00"))
    text = "Payroll 2026\n" + _csv(("employee_id", "age", "sex", "salary"), rows)
    return Everyday(text, ["salary"], ["employee_id"], asked="title")


def totals() -> Everyday:
    """The same as a spreadsheet writes it, without the title."""
    text = export().text.partition("\n")[2]
    return Everyday(text, ["salary"], ["employee_id"], asked="looks like a total")


def visits() -> Everyday:
    return _visits("patient_id", "P{:04}")


def _visits(name: str, form: str) -> Everyday:
    rng = random.Random(3)
    patients = [(form.format(i), *rest[1:5]) for i, rest in enumerate(_people(3, 80))]
    rows = [(*rng.choice(patients)[:4], rng.choice(ILLNESSES)) for _ in range(ROWS)]
    header = (name, "age", "sex", "zip", "diagnosis")
    return Everyday(_csv(header, rows), ["diagnosis"], [name], asked="several rows")


def visits_by_zeros() -> Everyday:
    """Visits of patients whose numbers have zeros in front, and a name that says nothing."""
    return _visits("pat", "{:04}")


def visits_by_prefix() -> Everyday:
    return _visits("who", "P-{}")


def notes() -> Everyday:
    words = (
        "seen",
        "today",
        "mild",
        "pain",
        "since",
        "monday",
        "fever",
        "advised",
        "rest",
        "fluids",
    )
    rows = [
        (age, sex, code, illness, f"{' '.join(rng.sample(words, 8))} {rng.randint(10**9, 10**10)}")
        for rng, age, sex, code, illness, _ in _people(4)
    ]
    return Everyday(_csv(("age", "sex", "zip", "disease", "note"), rows), ["disease"], ["note"])


def long_ids() -> Everyday:
    rows = [
        (10**21 + rng.randint(0, 10**20), age, sex, illness)
        for rng, age, sex, _, illness, _ in _people(5)
    ]
    return Everyday(_csv(("record", "age", "sex", "disease"), rows), ["disease"], ["record"])


def tests() -> Everyday:
    """A test that is nearly always negative."""
    rows = [
        (age, sex, code, "positive" if rng.random() < 0.04 else "negative")
        for rng, age, sex, code, _, _ in _people(6)
    ]
    header = ("age", "sex", "zip", "test_result")
    return Everyday(_csv(header, rows), ["test_result"], harmless="negative")


def zero_wages() -> Everyday:
    rows = [
        (age, sex, code, 0 if rng.random() < 0.6 else wage)
        for rng, age, sex, code, _, wage in _people(7)
    ]
    return Everyday(_csv(("age", "sex", "zip", "wage"), rows), ["wage"], harmless="0")


def postcodes() -> Everyday:
    rows = [(age, sex, f"0{code[:4]}", illness) for _, age, sex, code, illness, _ in _people(8)]
    return Everyday(_csv(("age", "sex", "postcode", "disease"), rows), ["disease"])


def mixed() -> Everyday:
    """Numbers among which some cells say that nothing is known."""
    rows = [
        (age if rng.random() < 0.9 else "N/A", sex, wage if rng.random() < 0.95 else "-")
        for rng, age, sex, _, _, wage in _people(9)
    ]
    return Everyday(_csv(("age", "sex", "income"), rows), ["income"])


def wide() -> Everyday:
    """Many columns whose names say nothing."""
    rows = [
        (age, sex, illness, *(rng.randint(0, 3) for _ in range(40)))
        for rng, age, sex, _, illness, _ in _people(10)
    ]
    header = ("age", "sex", "disease", *(f"v{i}" for i in range(40)))
    decisions = {f"v{i}": "insensitive" for i in range(40)}
    return Everyday(_csv(header, rows), ["disease"], decisions=decisions)


def dates() -> Everyday:
    """Dates of birth that can be read in two ways."""
    rows = [
        (f"{rng.randint(1, 12):02}/{rng.randint(1, 12):02}/{rng.randint(1940, 2005)}", sex, illness)
        for rng, _, sex, _, illness, _ in _people(11)
    ]
    text = _csv(("born", "sex", "disease"), rows)
    return Everyday(text, ["disease"], asked="can be read in 2 ways")


def renamed(role: str, *, seed: int = 12, rows: int = ROWS) -> Callable[[], Everyday]:
    """A diagnosis under a name that nobody knows; the person at the keyboard decides wrongly.

    Diagnoses come with age, as they do: most people of an age have the same one.
    """

    def make() -> Everyday:
        lines = []
        for rng, age, sex, code, illness, wage in _people(seed, rows):
            had = illness if rng.random() < 0.1 else ILLNESSES[age // 25]
            lines.append((age, sex, code, f"{had[0].upper()}{len(had)}", wage))
        header = ("age", "sex", "zip", "kz7", "salary")
        text = _csv(header, lines)
        return Everyday(text, ["kz7", "salary"], decisions={"kz7": role})

    return make


TABLES: dict[str, Callable[[], Everyday]] = {
    "german": german,
    "export": export,
    "totals": totals,
    "visits": visits,
    "visits, by numbers with zeros": visits_by_zeros,
    "visits, by numbers with a prefix": visits_by_prefix,
    "notes": notes,
    "long_ids": long_ids,
    "tests": tests,
    "zero_wages": zero_wages,
    "postcodes": postcodes,
    "mixed": mixed,
    "wide": wide,
    "dates": dates,
    "renamed, taken for known": renamed("quasi"),
    "renamed, taken for harmless": renamed("insensitive"),
    "renamed, taken for known, and guessed": renamed("quasi", seed=14),
}


def unsafe(everyday: Everyday, original: Path, release: Path) -> list[str]:
    """Judge a release by its published text alone, and return what it gives away.

    Parameters
    ----------
    everyday : Everyday
        What is true of the table.
    original, release : Path
        The table, and what was published of it.
    """
    rows = _rows(release)
    people = _rows(original, ";" if ";" in everyday.text[:50] else ",")
    published = {cell for row in rows for cell in row.values()}
    found = []
    for column in everyday.identifiers:
        if published & {person[column] for person in people if column in person}:
            found.append(f"{column} is published")
    columns = [
        name
        for name in rows[0]
        if name not in everyday.sensitive and name not in everyday.decisions
    ]
    for column in everyday.sensitive:
        if column in rows[0]:
            # What was taken for a quasi-identifier is coarsened, and a set of values tells none.
            coarse = everyday.decisions.get(column) == "quasi"
            known = _covered if coarse else _grouped
            many = known(rows, people, columns, column, everyday.harmless)
            if many > len(rows) // 50:
                found.append(f"{column} of {many} of {len(rows)} people is known")
    return found


def _rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def _grouped(
    rows: Sequence[dict[str, str]],
    people: Sequence[dict[str, str]],
    columns: Sequence[str],
    on: str,
    harmless: str | None,
) -> int:
    """Count the rows that have the value of most of those with the same labels."""
    exact = {person[on] for person in people if on in person} - {harmless}
    groups: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in rows:
        groups[tuple(row[name] for name in columns)][row[on]] += 1
    return sum(
        count
        for values in groups.values()
        for value, count in values.items()
        if value in exact and count * 2 > values.total()
    )


def _covered(
    rows: Sequence[dict[str, str]],
    people: Sequence[dict[str, str]],
    columns: Sequence[str],
    on: str,
    harmless: str | None,
) -> int:
    """Count the people whose value stands in most of the rows whose labels cover the others."""
    known = 0
    for person in people:
        faced = [row[on] for row in rows if all(_covers(row[c], person[c]) for c in columns)]
        known += person[on] != harmless and faced.count(person[on]) * 2 > len(faced)
    return known


def _covers(label: str, value: str) -> bool:
    """Tell whether a label may stand for a value: itself, a mask, a set, or a range."""
    low, dots, high = label.partition("..")
    if dots:
        return int(low) <= int(value) <= int(high)
    return value in label.strip("{}").split("|") or fnmatchcase(value, label.replace("*", "?"))
