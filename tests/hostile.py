"""Hostile files: valid ones of every kind, what is done to them, and a process that is given them.

`cases` makes each case from its number alone. `Worker` runs commands in another process, because a
library that crashes or prints to standard error by itself is only seen from outside.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import random
import re
import select
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

#: Is part of every value of the people here; no message may repeat it.
SECRET = "Zq7X"  # noqa: S105 - a marker
#: A label that a hierarchy lacks is named if at least five rows hold it: it is nobody's own.
_COMMON = re.compile(r"'[^'\n]*' in (?:[5-9]|\d\d+) rows")
ROWS = 24
Files = dict[str, bytes]

_DISEASES = [f"{SECRET}flu", f"{SECRET}ulcer", f"{SECRET}asthma", f"{SECRET}gout"]
_ZIPS = [f"{SECRET}130", f"{SECRET}131", f"{SECRET}148", f"{SECRET}149"]

POLICY = """\
version = 1
group = "group"
[roles]
quasi = ["age", "zip", "born"]
sensitive = ["disease", "salary"]
[types]
age = "integer"
[table]
missing = ["?", ""]
[[principle]]
name = "k-anonymity"
k = 2
[[principle]]
name = "distinct-l"
on = "disease"
l = 2
[[principle]]
name = "epsilon-m"
on = "salary"
epsilon = 1
m = 2
[hierarchies]
zip = "zip.csv"
disease = { parents = "disease.csv" }
age = { interval = [5, 10], origin = 0 }
born = { date = ["month", "year"] }
[transform]
suppression_limit = 0.5
"""


def people() -> dict[str, list[Any]]:
    """Return the columns of a small table."""
    rng = random.Random(7)
    return {
        "age": [20 + rng.randrange(8) for _ in range(ROWS)],
        "zip": [rng.choice(_ZIPS) for _ in range(ROWS)],
        "born": [date(1990, 1 + rng.randrange(12), 1) for _ in range(ROWS)],
        "disease": [_DISEASES[i % 4] for i in range(ROWS)],
        "salary": [1000 + 100 * i for i in range(ROWS)],
    }


def _csv(columns: Mapping[str, list[Any]]) -> bytes:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    return "\n".join(lines).encode() + b"\n"


def _typed(columns: Mapping[str, Any], form: str) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    table, made = pa.table(columns), io.BytesIO()
    if form == "parquet":
        parquet.write_table(table, made)
    else:
        with pa.ipc.new_file(made, table.schema) as writer:
            writer.write_table(table)
    return made.getvalue()


def _released() -> dict[str, list[Any]]:
    given = people()
    order = sorted(range(ROWS), key=lambda i: (given["zip"][i], given["age"][i]))
    half = {i: place * 4 // ROWS for place, i in enumerate(order)}
    return {
        "age": ["20-29"] * ROWS,
        "zip": [f"{SECRET}1"] * ROWS,
        "born": ["1990"] * ROWS,
        "disease": given["disease"],
        "salary": given["salary"],
        "group": [half[i] for i in range(ROWS)],
    }


def _manifest(release: bytes) -> dict[str, Any]:
    return {
        "wideberth": "0.1.0",
        "input": {"name": "people.csv", "rows": ROWS, "sha256": "0" * 64},
        "output": {"name": "release.csv", "sha256": hashlib.sha256(release).hexdigest()},
        "roles": {
            "identifier": [],
            "quasi": ["age", "zip", "born"],
            "sensitive": ["disease", "salary"],
            "insensitive": [],
        },
        "group": "group",
        "principles": ["k-anonymity:k=2", "distinct-l:l=2 on disease"],
        "transform": {"algorithm": "mondrian", "cuts": "best", "recoding": {"age": "range"}},
        "rows": ROWS,
        "groups": 4,
        "suppressed": {"rows": 0, "share": 0.0},
        "loss": {"ncp_percent": 12.5, "ncp_percent_by_attribute": {"age": 12.5, "zip": 3.0}},
        "warnings": [],
        "versions": {"wideberth": "0.1.0", "python": "3.11"},
        "promise": "a promise",
        "not_promised": ["another"],
    }


def seeds() -> Files:
    """Return valid files of every kind that wideberth reads."""
    import gzip

    columns = people()
    table, release = _csv(columns), _csv(_released())
    parts = _released()
    counts = Counter(zip(parts["group"], parts["disease"], strict=True))
    groups = sorted(counts)
    return {
        "people.csv": table,
        "people.csv.gz": gzip.compress(table, mtime=0),
        "people.parquet": _typed(columns, "parquet"),
        "people.arrow": _typed(columns, "arrow"),
        "policy.toml": POLICY.encode(),
        "zip.csv": "".join(f"{z};{z[:-1]}*;{SECRET}1;*\n" for z in _ZIPS).encode(),
        "disease.csv": "\n".join(
            [
                "child;parent",
                *(f"{d};{SECRET}kind{i // 2}" for i, d in enumerate(_DISEASES)),
                *(f"{SECRET}kind{i};*" for i in range(2)),
            ]
        ).encode(),
        "release.csv": release,
        "release.csv.manifest.json": json.dumps(_manifest(release), indent=2).encode(),
        "priors.csv": f"disease,probability\n{_DISEASES[0]},0.7\n{_DISEASES[1]},0.1\n".encode(),
        "quasi.csv": _csv({k: _released()[k] for k in ("age", "zip", "group")}),
        "sensitive.csv": _csv(
            {
                "group": [g for g, _ in groups],
                "disease": [d for _, d in groups],
                "count": [counts[pair] for pair in groups],
            }
        ),
    }


_MEMORY = ("--memory", "512MB")
_NAMED = ("--qi", "age,zip,born", "--sensitive", "disease,salary", "--principle", "k-anonymity:k=2")
_OF_TABLE = (
    ("check", "TABLE", "-p", "policy.toml"),
    ("check", "TABLE", *_NAMED, *_MEMORY),
    ("check", "TABLE", *_NAMED),
    ("anonymize", "TABLE", "-p", "policy.toml", "-o", "out.csv", "--force"),
    ("anonymize", "TABLE", *_NAMED, "-o", "out.parquet", "--force", *_MEMORY),
    ("advise", "TABLE", "--sensitive", "salary", "--m", "2"),
    ("advise", "TABLE", "--sensitive", "disease", *_MEMORY),
    ("init", "TABLE"),
    ("audit", "TABLE"),
    ("measure", "release.csv", "--original", "TABLE", "-p", "policy.toml"),
    ("measure", "release.csv", "--original", "TABLE", "--qi", "age,zip", *_MEMORY),
    ("check", "release.csv", *_NAMED, "--reference", "TABLE"),
    ("hierarchy", "build", "--table", "TABLE", "--column", "age", "--interval", "5", "-o", "h.csv"),
)
#: Which commands read which file.
VERBS: dict[str, tuple[tuple[str, ...], ...]] = {
    "people.csv": _OF_TABLE,
    "people.csv.gz": _OF_TABLE,
    "people.parquet": _OF_TABLE,
    "people.arrow": _OF_TABLE,
    "policy.toml": (
        ("check", "people.csv", "-p", "policy.toml"),
        ("anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--force"),
        ("lattice", "people.csv", "-p", "policy.toml"),
        ("audit", "release.csv", "-p", "policy.toml"),
        ("check", "people.csv", "-p", "policy.toml", *_MEMORY),
        ("advise", "people.csv", "--sensitive", "disease", "-p", "policy.toml"),
    ),
    "zip.csv": (
        ("hierarchy", "show", "zip.csv"),
        ("hierarchy", "validate", "zip.csv", "--table", "people.csv", "--column", "zip"),
        ("anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--force"),
        ("lattice", "people.csv", "-p", "policy.toml"),
    ),
    "disease.csv": (
        ("hierarchy", "tree", "disease.csv", "--parents"),
        ("hierarchy", "show", "disease.csv", "--parents"),
        ("check", "people.csv", "-p", "policy.toml"),
        ("advise", "people.csv", "--sensitive", "disease", "-p", "policy.toml"),
    ),
    "release.csv": (
        ("audit", "release.csv", "--original", "people.csv"),
        ("measure", "release.csv", "--original", "people.csv", "-p", "policy.toml"),
        ("check", "release.csv", "--qi", "age,zip", "--sensitive", "disease", "--group", "group",
         "--principle", "distinct-l:l=2"),
    ),
    "release.csv.manifest.json": (
        ("audit", "release.csv"),
        ("audit", "release.csv", "--original", "people.csv", "--swaps"),
        ("report", "release.csv", "--original", "people.csv", "-o", "report.json", "--force"),
        ("report", "release.csv", "--original", "people.csv", "-o", "report.html", "--force"),
    ),
    "priors.csv": (("audit", "release.csv", "--priors", "priors.csv"),),
    "quasi.csv": (
        ("join", "quasi.csv", "sensitive.csv", "-o", "out.csv", "--force"),
        ("check", "quasi.csv", "--sensitive-table", "sensitive.csv", "--qi", "age", "--sensitive",
         "disease", "--principle", "distinct-l:l=2"),
    ),
    "sensitive.csv": (
        ("join", "quasi.csv", "sensitive.csv", "-o", "out.csv", "--force"),
        ("audit", "quasi.csv", "--sensitive-table", "sensitive.csv", "--qi", "age,zip"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Files, and a command that is given them."""

    name: str
    argv: tuple[str, ...]
    files: Files = field(repr=False)


# What is done to files.

_PIECES = (
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\x28",
    b'"',
    b"'",
    b"\n",
    b"\r",
    b"\r\n",
    b";",
    b",",
    b"\t",
    b"[",
    b"{",
    b"]" * 40,
    b"[" * 3000,
    b'{"a":' * 3000,
    b"=",
    b"a." * 2000,
    b"#",
    b"\\",
    b"1e999",
    b"nan",
    b"9" * 400,
    b"-1",
    b"\xed\xa0\x80",
    b"\x1f",
    b"\x85",
    b"\xe2\x80\xa8",
    b"*",
    b"?",
    b"0001-01-01",
    b"9999-12-31",
    b"1979-05-27T07:32:00Z",
    b"a" * 70000,
    b"\x80" * 9,
    b"\xff" * 8,
    b"\xff\xff\xff\x7f",
    b"\0" * 64,
)


def mutated(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Damage some bytes of a file."""
    held = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        size = len(held) or 1
        near_end = rng.random() < 0.4  # where Parquet and Arrow have their footers
        at = max(0, size - 1 - rng.randrange(min(size, 800))) if near_end else rng.randrange(size)
        length = rng.choice((1, 2, 4, 8, 30, 200))
        match rng.randrange(8):
            case 0 | 1:
                for _ in range(rng.choice((1, 2, 8))):
                    place = min(len(held) - 1, at + rng.randrange(8))
                    if place >= 0:
                        held[place] ^= 1 << rng.randrange(8)
            case 2:
                del held[at:]
            case 3:
                held[at:at] = held[at : at + length] * rng.choice((1, 2, 50))
            case 4:
                del held[at : at + length]
            case 5:
                held[at : at + length] = rng.randbytes(length)
            case 6:
                held[at:at] = rng.choice(_PIECES)
            case _:
                begin = rng.randrange(len(other) or 1)
                held[at : at + length] = other[begin : begin + length]
    return bytes(held)


_ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-7",
              "cp037", "utf-8-sig")  # fmt: skip


def reencoded(data: bytes, rng: random.Random) -> bytes:
    """Write a text in another encoding, the last letter perhaps cut in half."""
    made = data.decode("utf-8", errors="replace").encode(rng.choice(_ENCODINGS))
    return made[: -rng.choice((1, 3))] if rng.random() < 0.3 else made


def _odd(rng: random.Random) -> Any:
    """Return a value that nobody expects."""
    deep: Any = []
    for _ in range(rng.choice((5, 40, 150))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return rng.choice(
        (
            None, True, False, 0, -1, 1, 10**400, 2**63, 0.5, 1e308, float("inf"), float("nan"), "",
            "*", "age", "\0", "../../etc/passwd", "\ud800", "é" * 3000, "0.5", "1/3", "10%", [], {},
            [[]], [None], [1, "a"], ["age", "age"], {"a": {"b": 1}}, {"": ""}, [{}], deep,
            ["age"] * 5000, {"k": [1]}, date(1, 1, 1), datetime(9999, 12, 31, 23, 59),
            "k-anonymity:k=", "on on on", " on ", "k-anonymity:k=2 on age on age", ":", ",=,",
        )
    )  # fmt: skip


def _places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in steps:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*path, key))


def swapped(content: Any, rng: random.Random) -> Any:
    """Put odd values in the places of others, or add, rename or drop a key."""
    content = json.loads(json.dumps(content, default=str))
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(content))
        if not places:
            break
        *way, last = rng.choice(places)
        holder = content
        for step in way:
            holder = holder[step]
        match rng.randrange(6):
            case 0 if isinstance(holder, dict):
                holder[rng.choice(("", "a", "*", "é", "age", "name", "on", "k"))] = _odd(rng)
            case 1:
                del holder[last]
            case _:
                holder[last] = _odd(rng)
    return content


def _as_toml(content: Any) -> bytes:
    import tomli_w

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if v is not None}
        if isinstance(value, list):
            return [plain(v) for v in value if v is not None]
        return value

    return tomli_w.dumps(plain(content)).encode(errors="surrogatepass")


def _as_json(content: Any) -> bytes:
    return json.dumps(content, default=str).encode()


def odd_columns() -> dict[str, Any]:
    """Return a column of every type that Arrow has, by a name of the type."""
    import pyarrow as pa

    n = ROWS
    days = pa.array([date(2000, 1, 1 + i) for i in range(n)])
    stamps = [datetime(2000, 1, 1) + timedelta(hours=i) for i in range(n)]
    nest: Any = pa.array([f"{SECRET}{i}" for i in range(n)])
    deep = nest
    for _ in range(60):
        deep = pa.StructArray.from_arrays([deep], ["a"])
    lists: Any = nest
    for _ in range(60):
        lists = pa.ListArray.from_arrays(pa.array(range(len(lists) + 1), pa.int32()), lists)
    kinds = pa.array([i % 2 for i in range(n)], pa.int8())
    two = [pa.array(range(n)), nest]
    made: dict[str, Any] = {
        "map": pa.array(
            [[(f"{SECRET}{i}", i)] for i in range(n)], pa.map_(pa.string(), pa.int64())
        ),
        "sparse union": pa.UnionArray.from_sparse(kinds, two),
        "dense union": pa.UnionArray.from_dense(kinds, pa.array(range(n), pa.int32()), two),
        "dictionary": nest.dictionary_encode(),
        "dictionary of numbers": pa.array(range(n)).dictionary_encode(),
        "dictionary of large text": nest.cast(pa.large_string()).dictionary_encode(),
        "null": pa.nulls(n),
        "binary": pa.array([f"{SECRET}\xff{i}".encode("latin-1") for i in range(n)]),
        "large binary": pa.array([b"\xff%d" % i for i in range(n)], pa.large_binary()),
        "fixed binary": pa.array([b"%08d" % i for i in range(n)], pa.binary(8)),
        "empty struct": pa.array([{}] * n, pa.struct([])),
        "struct": pa.array([{"a": i, "b": f"{SECRET}{i}"} for i in range(n)]),
        "deep struct": deep,
        "deep list": lists,
        "list": pa.array([[i, None] for i in range(n)]),
        "empty lists": pa.array([[]] * n, pa.list_(pa.int64())),
        "list of structs": pa.array([[{"a": i}] for i in range(n)]),
        "fixed list": pa.array([[i, i] for i in range(n)], pa.list_(pa.int64(), 2)),
        "large list": pa.array([[i] for i in range(n)], pa.large_list(pa.int64())),
        "list view": pa.array([[i] for i in range(n)], pa.list_view(pa.int64())),
        "string view": nest.cast(pa.string_view()),
        "binary view": pa.array([b"%d" % i for i in range(n)], pa.binary_view()),
        "run-end": pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), nest[:1]),
        "half float": pa.array(range(n), pa.float32()).cast(pa.float16()),
        "interval": pa.array([(1, 2, i) for i in range(n)], pa.month_day_nano_interval()),
        "date64": days.cast(pa.date64()),
        "far dates": pa.array(range(2**31 - 1 - n, 2**31 - 1), pa.int32()).cast(pa.date32()),
        "far times": pa.array([2**63 - 1 - i for i in range(n)], pa.int64()).cast(
            pa.timestamp("s")
        ),
        "strange zone": pa.array(stamps, pa.timestamp("us", "Mars/Olympus")),
        "offset zone": pa.array(stamps, pa.timestamp("us", "+05:45")),
        "nan": pa.array([float("nan")] * n),
        "infinite": pa.array([float("inf")] * n),
        "huge": pa.array([2**64 - 1 - i for i in range(n)], pa.uint64()),
        "bool": pa.array([bool(i % 2) for i in range(n)]),
        "decimal256": pa.array([Decimal(10) ** 60 + i for i in range(n)], pa.decimal256(76, 2)),
        "decimal128": pa.array([Decimal(i) / 4 for i in range(n)], pa.decimal128(38, 10)),
        "decimal scale": pa.array([Decimal(i) * 1000 for i in range(n)], pa.decimal128(20, -3)),
        "decimal32": pa.array([Decimal(i) for i in range(n)], pa.decimal32(5, 1)),
        "uuid": pa.array([b"%016d" % i for i in range(n)], pa.uuid()),
        "json": pa.array([f'{{"a":"{SECRET}"}}'] * n, pa.json_(pa.string())),
        "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1] * n, pa.int8())),
        "opaque": pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "x", "y"), nest),
        "tensor": pa.ExtensionArray.from_storage(
            pa.fixed_shape_tensor(pa.int64(), [2]),
            pa.array([[i, i] for i in range(n)], pa.list_(pa.int64(), 2)),
        ),
        "bad text": pa.Array.from_buffers(
            pa.string(), n, pa.array([b"\xff%d" % i for i in range(n)]).buffers()
        ),
    }
    for unit in ("s", "ms", "us", "ns"):
        made[f"duration {unit}"] = pa.array(range(n), pa.int64()).cast(pa.duration(unit))
        made[f"times {unit}"] = pa.array(stamps, pa.timestamp(unit))
        bits = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
        number = pa.int32() if unit in ("s", "ms") else pa.int64()
        made[f"time {unit}"] = pa.array(range(n), number).cast(bits)
        far = pa.array(
            [2**30 + i for i in range(n)]
            if number == pa.int32()
            else [2**62 + i for i in range(n)],
            number,
        )
        made[f"wrong time {unit}"] = far.cast(bits, safe=False) if unit != "ns" else far.view(bits)
    return made


def typed_cases() -> Iterator[Case]:
    """Yield a table of each odd type, in every format and role."""
    given, valid = people(), seeds()
    for name, column in odd_columns().items():
        for form in ("parquet", "arrow"):
            for place in ("age", "disease", "salary"):
                try:
                    data = _typed({**given, place: column}, form)
                except Exception:  # noqa: S112 - the format has no such type
                    continue
                file = f"people.{form}"
                for verb in _OF_TABLE:
                    yield _case(f"{name} as {place} in {form}", verb, file, {**valid, file: data})


def _case(name: str, verb: tuple[str, ...], file: str, files: Files) -> Case:
    argv = tuple(file if word == "TABLE" else word for word in verb)
    return Case(f"{name}: {' '.join(argv)}", argv, files)


def deep_cases() -> Iterator[Case]:
    """Yield files whose size is small and whose meaning is large."""
    import gzip

    valid = seeds()

    def policy(name: str, text: str) -> Iterator[Case]:
        for verb in VERBS["policy.toml"][:2]:
            yield _case(name, verb, "policy.toml", {**valid, "policy.toml": text.encode()})

    yield from policy("dotted keys", ".".join("a" * 30000) + " = 1\n")
    yield from policy("dotted header", "[" + ".".join("a" * 30000) + "]\n")
    yield from policy(
        "many dotted keys", "".join(f"{'.'.join('b' * 15)}.c{i} = 1\n" for i in range(2000))
    )
    yield from policy("dotted tables", "".join(f"[{'.'.join('a' * i)}]\n" for i in range(1, 300)))
    yield from policy("nested lists", "a = " + "[" * 20000 + "]" * 20000)
    yield from policy("nested tables", "a = " + "{a = " * 5000 + "1" + "}" * 5000)
    yield from policy("open brackets", "a = " + "[" * 50000)
    yield from policy("large", 'group = "' + "x" * (3 << 20) + '"')
    yield from policy("long number", "version = " + "9" * 100000)
    yield from policy("many keys", "[types]\n" + "".join(f"a{i} = 'x'\n" for i in range(20000)))
    yield from policy("spaced dots", " . ".join('"a"' * 1 for _ in range(20000)) + " = 1\n")
    for open_, close in (("[", "]"), ('{"a":', "}")):
        for depth in (100, 5000, 200000):
            data = open_ * depth + "1" + close * depth
            for verb in VERBS["release.csv.manifest.json"][:1]:
                files = {**valid, "release.csv.manifest.json": data.encode()}
                yield _case(f"{depth} {open_}", verb, "release.csv.manifest.json", files)
    chain = "".join(f"{SECRET}{i};{SECRET}{i + 1}\n" for i in range(20000)).encode()
    wide = (";".join(f"{SECRET}{i}" for i in range(20000)) + "\n").encode()
    for file, data in (("disease.csv", chain), ("zip.csv", wide)):
        for verb in VERBS[file]:
            yield _case("a deep tree", verb, file, {**valid, file: data})
    bomb = gzip.compress(b"age,zip,born,disease,salary\n" + b"1,2,2000-01-01,4,5\n" * 4, mtime=0)
    bomb += gzip.compress(b"\0" * (1 << 22), mtime=0) * 100
    for verb in _OF_TABLE[:4]:
        yield _case("many members", verb, "people.csv.gz", {**valid, "people.csv.gz": bomb})
    many = ",".join(f"c{i}" for i in range(30000))
    for verb in (*_OF_TABLE[:3], _OF_TABLE[7]):
        data = f"{many}\n{many}\n".encode()
        yield _case("many columns", verb, "people.csv", {**valid, "people.csv": data})


def cases(first: int, last: int) -> Iterator[Case]:
    """Yield the cases of some numbers."""
    valid = seeds()
    names = sorted(VERBS)
    toml, manifest = tomllib.loads(POLICY), json.loads(valid["release.csv.manifest.json"])
    for number in range(first, last):
        rng = random.Random(number)
        name = rng.choice(names)
        verb = rng.choice(VERBS[name])
        data = valid[name]
        structured = rng.random() < 0.7
        if name == "policy.toml" and structured:
            data = _as_toml(swapped(toml, rng))
        elif name.endswith(".json") and structured:
            data = _as_json(swapped(manifest, rng))
        elif name.endswith((".csv", ".toml", ".json")) and rng.random() < 0.15:
            data = reencoded(data, rng)
        elif name == "people.csv.gz" and rng.random() < 0.5:
            import gzip

            data = gzip.compress(mutated(valid["people.csv"], rng, valid["zip.csv"]), mtime=0)
        else:
            data = mutated(data, rng, valid[rng.choice(names)])
        files = {**valid, name: data}
        if name == "release.csv" and rng.random() < 0.5:  # a manifest that fits the damaged table
            files["release.csv.manifest.json"] = _as_json(_manifest(data))
        yield _case(f"case {number}, {name}", verb, name, files)


# The process that runs them.


@dataclass(frozen=True)
class Outcome:
    """What came of a case: its exit code, or None if the process died or took too long."""

    code: int | None
    err: str
    seconds: float
    peak: int

    def faults(self) -> list[str]:
        """Say what must not be."""
        wrong = []
        if self.code not in (0, 1, 2, 3):
            wrong.append(f"exit code {self.code}")
        err = _COMMON.sub("", self.err)
        for mark in ("unexpectedly", "panicked", "Traceback", "RUST_BACKTRACE", "Fatal", SECRET):
            if mark in err:
                wrong.append(mark)
        if self.peak > 2 << 30:
            wrong.append(f"{self.peak >> 20} MB")
        lines = [x for x in self.err.splitlines() if not x.startswith("note: ")]
        if self.code == 1 and not (lines and lines[0].startswith("error: ") and len(lines) <= 2):
            wrong.append("not one message")
        return wrong


class Worker:
    """A process that runs one command after the other; a new one takes the place of a dead one."""

    def __init__(self, folder: Path, seconds: float = 20.0) -> None:
        self.folder, self.seconds = folder, seconds
        self.process: subprocess.Popen[bytes] | None = None
        self.deaths = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> int | None:
        if self.process is None:
            return None
        self.process.kill()
        with self.process:
            code = self.process.wait()
        self.process = None
        return code

    def run(self, case: Case) -> Outcome:
        """Run a case."""
        for path in self.folder.iterdir():
            if path.is_file():
                path.unlink()
        for name, data in case.files.items():
            (self.folder / name).write_bytes(data)
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                env=os.environ | {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"},
            )
            self._told(120)
        process, begin = self.process, time.monotonic()
        assert process.stdin is not None
        process.stdin.write(json.dumps(case.argv).encode() + b"\n")
        process.stdin.flush()
        line = self._told(self.seconds)
        taken = time.monotonic() - begin
        if not line:
            ended = process.poll()
            self._end()
            self.deaths += 1
            how = "took too long" if ended is None else f"died with {ended}"
            err = self.folder / "stderr"
            said = err.read_text(errors="replace") if err.exists() else ""
            return Outcome(None, f"{how}: {said[-500:]}", taken, 0)
        found = json.loads(line)
        return Outcome(found["code"], found["err"], taken, found["peak"])

    def _told(self, seconds: float) -> bytes:
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if ready else b""


def _serve() -> None:
    """Run the commands that come in, and say what came of each."""
    import resource

    from wideberth.cli import main

    answers = os.fdopen(os.dup(1), "wb")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = 6 << 30
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    answers.write(b"ready\n")
    answers.flush()
    for line in sys.stdin.buffer:
        for number, name in ((1, "stdout"), (2, "stderr")):
            opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(opened, number)
            os.close(opened)
        _peak(reset=True)
        try:
            main(json.loads(line))
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        sys.stdout.flush()
        sys.stderr.flush()
        err = Path("stderr").read_text(errors="replace")
        told = {"code": code, "err": err[-20000:], "peak": _peak()}
        answers.write(json.dumps(told).encode() + b"\n")
        answers.flush()


def _peak(*, reset: bool = False) -> int:
    """Return how many bytes of memory were held at most since the last reset; 0 if unknown."""
    with contextlib.suppress(OSError):
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


if __name__ == "__main__":
    _serve()
