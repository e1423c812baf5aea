"""Make people.csv, and from it what ARX and sdcMicro would write; NOTE.md has the story.

ARX is a Java program and sdcMicro an R package, and neither runs where these tests run. So the
generalisation is done here by hand, simply and not optimally, and written down as they write it.

Run it again with ``python tests/peers/make.py``: equal files come out.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
K = 3
COLUMNS = ["name", "age", "zip", "sex", "education", "disease", "salary"]
QUASI = COLUMNS[1:5]
EDUCATION = ["primary", "secondary", "vocational", "bachelor", "master", "doctorate"]

Row = dict[str, str]


def people() -> list[Row]:
    """Return 240 made-up people with no value missing."""
    from wideberth import datasets

    table = datasets.census(260, seed=7).drop_nulls().head(240).rename({"id": "name"})
    return [{key: str(value) for key, value in row.items()} for row in table.to_dicts()]


# ---- ARX: hierarchies, and a search that goes up all of them at once

Ladder = list[Callable[[str], str]]


def interval(width: int, *, least: int = 20, most: int = 80) -> Callable[[str], str]:
    """Return ARX's interval of an age; what is out of bounds gets its own label."""

    def label(age: str) -> str:
        lower = int(age) // width * width
        if int(age) < least:
            return f"<{least}"
        return f">={most}" if int(age) >= most else f"[{lower}, {lower + width}["

    return label


def redacted(stars: int) -> Callable[[str], str]:
    """Return a text without its last characters, but with a star for each."""
    return lambda text: text[: len(text) - stars] + "*" * stars


def grouped(size: int) -> Callable[[str], str]:
    """Return the set of `size` neighbouring levels of education, as ARX writes sets."""

    def label(level: str) -> str:
        at = EDUCATION.index(level) // size * size
        return "{" + ", ".join(EDUCATION[at : at + size]) + "}"

    return label


def as_it_is(text: str) -> str:
    return text


def suppressed(_: str) -> str:
    return "*"


# From bottom to top, each with as many steps as the longest.
LADDERS: dict[str, Ladder] = {
    "age": [as_it_is, interval(5), interval(10), interval(20), interval(20)],
    "zip": [redacted(1), redacted(2), redacted(3), redacted(4), redacted(5)],
    "sex": [as_it_is] * 5,
    "education": [as_it_is, grouped(2), grouped(3), grouped(3), grouped(6)],
}


def generalised(rows: Iterable[Row], step: int) -> list[Row]:
    labels = {name: quasi_level[step] for name, quasi_level in LADDERS.items()}
    return [{**row, **{name: labels[name](row[name]) for name in QUASI}} for row in rows]


def frequent(rows: Sequence[Row]) -> list[bool]:
    """Tell of each row whether at least K have its labels."""
    found = Counter(tuple(row[name] for name in QUASI) for row in rows)
    return [found[tuple(row[name] for name in QUASI)] >= K for row in rows]


def arx_full_domain(rows: list[Row], *, step: int) -> list[Row]:
    """Generalise every row alike; rows in small classes lose all their quasi-identifiers."""
    out = generalised(rows, step)
    nothing = dict.fromkeys(QUASI, "*")
    return [
        {**row, "name": "*", **({} if kept else nothing)}
        for row, kept in zip(out, frequent(out), strict=True)
    ]


def arx_local(rows: list[Row]) -> list[Row]:
    """Generalise as little as each class permits: what is too rare is generalised once more."""
    out = [{**row, "name": "*", **dict.fromkeys(QUASI, "*")} for row in rows]
    left = list(range(len(rows)))
    for step in range(len(LADDERS["age"])):
        tried = generalised((rows[i] for i in left), step)
        kept = frequent(tried)
        for i, row, done in zip(left, tried, kept, strict=True):
            if done:
                out[i] = {**row, "name": "*"}
        left = [i for i, done in zip(left, kept, strict=True) if not done]
    return out


def arx_microaggregated(rows: list[Row]) -> list[Row]:
    """Publish the mean age of each class of the other quasi-identifiers, as Java prints doubles."""
    rest = ["zip", "sex", "education"]
    tops = {"zip": redacted(4), "sex": as_it_is, "education": grouped(3)}
    out = [{**row, "name": "*", **{name: tops[name](row[name]) for name in rest}} for row in rows]
    classes: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(out):
        classes.setdefault(tuple(row[name] for name in rest), []).append(i)
    for members in classes.values():
        mean = sum(int(rows[i]["age"]) for i in members) / len(members)
        labels = dict.fromkeys(QUASI, "*") if len(members) < K else {"age": str(mean)}
        for i in members:
            out[i].update(labels)
    return out


def write_arx(name: str, rows: list[Row]) -> None:
    """Write semicolons, and quotes only where they are needed."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter=";", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# ---- sdcMicro: globalRecode, groupAndRename, localSuppression, microaggregation and pram


def cut(age: str, breaks: Sequence[int]) -> str:
    """Return the interval that R's cut writes: open below, closed above, no blank."""
    at = int(np.searchsorted(breaks, int(age), side="left"))
    return f"({breaks[at - 1]},{breaks[at]}]"


def suppress_locally(rows: list[Row], importance: Sequence[str]) -> list[Row]:
    """Remove single values, the least important first, until K rows agree with each row.

    A removed value agrees with every value, as sdcMicro counts.
    """
    out = [dict(row) for row in rows]

    def agreeing(row: Row) -> int:
        return sum(
            all(row[name] == other[name] or "NA" in (row[name], other[name]) for name in importance)
            for other in out
        )

    for name in reversed(importance):
        rare = [row for row in out if agreeing(row) < K]
        for row in rare:
            if agreeing(row) < K:
                row[name] = "NA"
    return out


def microaggregated(values: Sequence[str], size: int) -> list[str]:
    """Replace each run of `size` neighbouring values by its mean, with R's fifteen digits."""
    numbers = np.array([float(value) for value in values])
    order = np.argsort(numbers, kind="stable")
    means = np.empty(len(numbers))
    for run in np.array_split(order, len(order) // size):
        means[run] = numbers[run].mean()
    return [f"{mean:.15g}" for mean in means]


def pram(values: Sequence[str], keep: float, rng: np.random.Generator) -> list[str]:
    """Replace some values by others, drawn as often as they occur."""
    drawn = rng.permutation(np.array(values))
    stays = rng.random(len(values)) < keep
    return [old if stay else str(new) for old, new, stay in zip(values, drawn, stays, strict=True)]


def sdcmicro(rows: list[Row]) -> list[Row]:
    """Recode age and zip, suppress, average the salaries and change some diseases."""
    breaks = [0, 20, 30, 40, 50, 60, 100]
    out = [{**row, "age": cut(row["age"], breaks), "zip": redacted(4)(row["zip"])} for row in rows]
    out = suppress_locally(out, ["age", "sex", "zip"])
    salaries = microaggregated([row["salary"] for row in rows], 3)
    diseases = pram([row["disease"] for row in rows], 0.8, np.random.default_rng(7))
    for row, salary, disease in zip(out, salaries, diseases, strict=True):
        row["salary"], row["disease"] = salary, disease
    return out


def write_csv_of_r(name: str, rows: list[Row]) -> None:
    """Write what R's write.csv does: texts and row names in quotes, numbers and NA bare."""
    columns = ["age", "zip", "sex", "disease", "salary"]
    lines = [",".join(['""', *(f'"{column}"' for column in columns)])]
    for i, row in enumerate(rows, 1):
        cells = [
            row[column] if column == "salary" or row[column] == "NA" else f'"{row[column]}"'
            for column in columns
        ]
        lines.append(",".join([f'"{i}"', *cells]))
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    rows = people()
    with (HERE / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    write_arx("arx.csv", arx_full_domain(rows, step=3))
    write_arx("arx_local.csv", arx_local(rows))
    write_arx("arx_microaggregated.csv", arx_microaggregated(rows))
    write_csv_of_r("sdcmicro.csv", sdcmicro(rows))


if __name__ == "__main__":
    main()
