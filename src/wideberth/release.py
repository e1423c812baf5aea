"""A release: the table to publish, and a manifest that says how it was made and what it promises.

The manifest lies beside the published table, so it holds nothing that would help to undo the
release: no secret, no mapping of rows, no value of a cell. Nor the hash of the original: who knows
all of it but a few cells could try values until the hash is right.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.attributes import compares
from wideberth.checking import check
from wideberth.errors import VerificationError
from wideberth.principles import Principle
from wideberth.request import Request
from wideberth.results import CheckResult

PROMISE = (
    "In this single release, an adversary who knows everyone's quasi-identifiers and group, and "
    "holds a group's members equally likely, exceeds the stated bounds for no row."
)
NOT_PROMISED = (
    "Protection from an adversary who reasons about how the algorithm chose the groups.",
    "Protection from background knowledge beyond what the principles allow for.",
    "Protection when several releases of one table are combined.",
    "Hiding whether somebody is in the table.",
)
_NOT_HIDDEN = {
    False: "Hiding exact quasi-identifiers: interval ends are values of the table unless aligned, "
    "and sets list all of a group's.",
    True: "Hiding exact quasi-identifiers: they are published as they are.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A table that is safe to publish under its principles.

    Parameters
    ----------
    table : dataframe
        The published table, of the kind that came in.
    manifest : dict
        How it was made, what was verified, what it promises and what not; fit for JSON.
    question : mapping
        How `check` asks the published table whether it keeps its principles.
    verified : CheckResult, optional
        What it was found to satisfy before it was handed out.
    fingerprint : int, optional
        Of the table as it was then: who has the table may change it.
    """

    table: Any
    manifest: dict[str, Any]
    question: Mapping[str, Any] = field(default_factory=dict)
    verified: CheckResult | None = None
    fingerprint: int | None = None

    def check(self) -> CheckResult:
        """Check the principles again, from the published values alone."""
        return check(self.table, **self.question)

    def save(self, path: str | Path, *, force: bool = False) -> dict[str, Any]:
        """Write the table, and beside it the manifest; both or nothing.

        The file is read back and checked before it takes its place.

        Parameters
        ----------
        path : str or Path
            Where to, as CSV, Parquet or Arrow by its suffix; the manifest goes to
            ``<path>.manifest.json``.
        force : bool
            Whether to replace files that exist.

        Returns
        -------
        dict
            The manifest as written, with name and SHA-256 of the file.
        """
        target = Path(path)
        frame, _ = tables.adopt(self.table)
        with tables.drafts(target, manifest_path(target), force=force) as (table, note):
            tables.put(frame, table)
            with ThreadPoolExecutor(1) as pool:  # hashing lets others work meanwhile
                hashing = pool.submit(sha256, table)
                self._check_file(table, frame)
                output = {"name": target.name, "sha256": hashing.result()}
            manifest = {**self.manifest, "output": output}
            note.write_text(manifest_text(manifest), encoding="utf-8")
        return manifest

    def _check_file(self, path: Path, frame: pl.DataFrame) -> None:
        """Read a file back and check that what is in it keeps its principles."""
        if tables.holds(path, frame) and fingerprint(frame) == self.fingerprint:
            return  # what was verified, to the letter
        # Only an empty field is missing in what we wrote ourselves, whatever it was in the input.
        written = tables.read(path, tables.ReadOptions(missing=("",)))
        text = not path.name.lower().endswith(_TYPED)
        asked = [frame[name].dtype for name in self.question["sensitive"]]
        if written.shape != frame.shape or written.columns != frame.columns:
            raise VerificationError("the file written does not hold the table", hint=_REPORT)
        # Text does not tell that a column was of moments or durations, so it cannot be judged.
        if text and any(dtype in (pl.Datetime, pl.Duration, pl.Time) for dtype in asked):
            return
        if not check(written, worst=0, **self.question):
            raise VerificationError(
                "read back from the file, the release does not keep its principles",
                hint="write a .parquet file, which keeps types and missing values as they are",
            )

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        from wideberth.showing import notebook

        return notebook.release(self.manifest)

    def __repr__(self) -> str:
        """Return the outcome in a few lines."""
        told = self.manifest
        share = told["loss"]["ncp_percent"]
        return (
            f"{told['rows']:,} rows in {told['groups']:,} groups, {share:.2f} % loss (NCP), "
            f"{told['suppressed']['rows']:,} rows suppressed; verified: "
            + ", ".join(told["principles"])
        )


def percentages(losses: Mapping[str, float], weights: Sequence[float]) -> dict[str, Any]:
    """Say what generalised quasi-identifiers lost, by the share of each one's domain."""
    return {
        "ncp_percent": _rounded(100 * float(np.average(list(losses.values()), weights=weights))),
        "ncp_percent_by_attribute": {name: _rounded(100 * loss) for name, loss in losses.items()},
    }


def _rounded(figure: float) -> float:
    """Keep three digits: with all of them, a loss could tell the ends that alignment hides."""
    return float(f"{figure:.3g}")


def fingerprint(*frames: pl.DataFrame) -> int:
    """Return a number that changes with any cell of tables, and with the names of their columns.

    It is good for one run of the program only.
    """
    return hash(tuple((*f.columns, int(f.hash_rows(seed=2008).sum())) for f in frames))


_TYPED = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
_REPORT = "nothing was published; please report this"


def describe(
    request: Request,
    *,
    groups: int,
    squares: int,
    made: Mapping[str, Any],
    suppressed: int,
    loss: Mapping[str, Any],
    verified: CheckResult,
    warnings: Sequence[str],
    seed: int | None,
    group: str | None,
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """Compose the manifest of a release that has been verified.

    Parameters
    ----------
    request : Request
        What was asked.
    groups, squares : int
        How many groups were made, and the sum of the squares of their sizes.
    made : mapping
        What the algorithm tells of how it made them.
    suppressed : int
        How many rows were left out.
    loss : mapping
        What the release is worth less than the table, in the algorithm's own terms.
    verified : CheckResult
        What the published values were found to satisfy.
    warnings : sequence of str
        What a custodian must know.
    seed : int, optional
        The seed, if it was no secret.
    group : str, optional
        The column of group ids.
    seconds : mapping
        How long each phase took.
    """
    rows = verified.rows
    total = rows + suppressed
    return {
        "versions": versions(),
        "created": now(),
        "input": {
            "name": None if request.source is None else request.source.name,
            "rows": total,
            "columns": len(request.columns),
        },
        "output": {"name": None, "sha256": None},
        "roles": {role: list(columns) for role, columns in request.roles.items()},
        "group": group,
        "principles": [_as_written(r.principle, r.on) for r in verified.principles],
        "transform": request.transform.to_dict(),
        "seed": "secret, from the operating system" if seed is None else f"fixed: {seed}",
        "rows": rows,
        "groups": groups,
        **made,
        "suppressed": {"rows": suppressed, "share": suppressed / total},
        "loss": {
            **loss,
            "average_group_size": rows / groups,
            "discernibility": squares + suppressed * total,
        },
        "verified": _without_worst(verified, rounded=bool(suppressed)),
        "warnings": list(warnings),
        "promise": PROMISE,
        "not_promised": [*NOT_PROMISED, _NOT_HIDDEN[request.transform.exact]],
        "seconds": dict(seconds),
    }


def _as_written(principle: Principle, on: str | None) -> str:
    return str(principle) if on is None else f"{principle} on {on}"


def _without_worst(result: CheckResult, *, rounded: bool) -> dict[str, Any]:
    """Leave out the worst groups: a reader has the table, and need not be led to them.

    Where rows were suppressed, all digits of t would tell something of their values, for it
    compares with them.
    """
    told = result.to_dict()
    for principle, report in zip(told["principles"], result.principles, strict=True):
        del principle["worst"]
        if rounded and compares(report.principle):
            principle["achieved"] = {k: ceil(v * 100) / 100 for k, v in report.achieved.items()}
    return told


def manifest_path(path: str | Path) -> Path:
    """Return where the manifest of a published file lies.

    >>> manifest_path("out/release.csv").name
    'release.csv.manifest.json'
    """
    path = Path(path)
    return path.with_name(path.name + ".manifest.json")


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Write a manifest as JSON."""
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def sha256(path: str | Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of the program and of what its results rest on."""
    used = {name: version(name) for name in ("wideberth", "numpy", "polars", "numba")}
    return {"python": platform.python_version(), **used}


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
