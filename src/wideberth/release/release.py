"""A release: the table to publish, and a manifest that says how it was made and what it promises.

The manifest lies beside the published table, so it holds nothing that would help to undo the
release: no secret, no mapping of rows, no value of a cell. Nor the hash of the original: who knows
all of it but a few cells could try values until the hash is right.
"""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.checks.check import check
from wideberth.checks.result import CheckResult
from wideberth.core.codes import encode
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.core.strings import as_string
from wideberth.core.text import as_html
from wideberth.errors import ParameterError, TableError, VerificationError
from wideberth.io.manifest import manifest_path, sha256
from wideberth.kernels.randomness import Origin
from wideberth.policy.request import Request
from wideberth.principles import Principle
from wideberth.principles.columns import compares_with_table

PROMISE = (
    "In this single release, an adversary who knows everyone's quasi-identifiers and group, and "
    "holds a group's members equally likely, exceeds the stated bounds for no row."
)
NOT_PROMISED_LINES = (
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
    _row_order : callable, optional
        Returns the row of the original behind each published row.
    """

    table: Any
    manifest: dict[str, Any]
    question: Mapping[str, Any] = field(default_factory=dict)
    verified: CheckResult | None = None
    fingerprint: int | None = None
    _row_order: Callable[[], Ints] | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out which row is whose: a pickled release may be passed on."""
        return {**vars(self), "_row_order": None}

    def groups_of(self, original: object) -> Any:
        """Return what was published of each row of the original. Keep the answer private.

        It undoes the shuffling of the rows. It is never part of the release nor of its manifest,
        and a pickled release no longer knows it.

        Parameters
        ----------
        original : dataframe or path
            The table that this release was made from, its rows in the same order.

        Returns
        -------
        dataframe
            The published quasi-identifiers and the group of each row of the original, in its
            order, in the caller's own kind of table. They are missing where a row was left out.
            Without a column of group ids, groups are numbered from 1.

        Examples
        --------
        >>> from wideberth import anonymize
        >>> people = pl.DataFrame({"age": [21, 34, 25, 38], "pay": [10, 90, 50, 30]})
        >>> release = anonymize(people, quasi="age", sensitive="pay", principles="k-anonymity:k=2")
        >>> release.groups_of(people)["age"].to_list()
        ['21..25', '34..38', '21..25', '34..38']
        """
        if self._row_order is None:
            raise ParameterError(
                "this release does not know which row was whose",
                hint="ask the one that anonymize returned, of a table in memory",
            )
        source = io.read(original) if isinstance(original, str | Path) else original
        given, back = io.adopt(source)
        frame, _ = io.adopt(self.table)
        rows, total = self._row_order(), self.manifest["input"]["rows"]
        same = given.height == total and not any(
            _differ(frame[name], given[name].gather(rows))
            for name in self.question["sensitive"]
            if name in frame.columns and name in given.columns
        )
        if not same:
            raise TableError(
                "this is not the table that the release was made from",
                hint=f"its {total:,} rows in the order that anonymize was given",
            )
        quasi = list(self.question["quasi"])
        name = self.manifest["group"] or "group"
        while name in quasi:
            name += "_"
        if self.manifest["group"] is None:
            ids = Partition.by_equality([encode(frame[c]) for c in quasi], frame.height).labels + 1
            frame = frame.with_columns(pl.Series(name, ids))
        places = np.full(total, -1, dtype=np.int64)
        places[rows] = np.arange(len(rows))
        known = pl.Series("", places).to_frame().select(pl.when(pl.col("") >= 0).then(pl.col("")))
        return back(pl.DataFrame([frame[c].gather(known.to_series()) for c in (*quasi, name)]))

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
        frame, _ = io.adopt(self.table)
        with io.drafts(target, manifest_path(target), force=force) as (table, note):
            io.put(frame, table)
            with ThreadPoolExecutor(1) as pool:  # hashing lets others work meanwhile
                hashing = pool.submit(sha256, table)
                self._check_file(table, frame)
                output = {"name": target.name, "sha256": hashing.result()}
            manifest = self._described(output, {target: frame})
            note.write_text(manifest_text(manifest), encoding="utf-8")
        return manifest

    def _described(
        self, output: Mapping[str, Any], files: Mapping[Path, pl.DataFrame | pl.LazyFrame]
    ) -> dict[str, Any]:
        """Return the manifest of what is written, and warn of cells that look like formulas."""
        cautions = io.formula_caution(files)
        for caution in cautions:
            warnings.warn(caution, io.TableWarning, stacklevel=3)
        told = [*self.manifest["warnings"], *cautions]
        return {**self.manifest, "warnings": told, "output": output}

    def _check_file(self, path: Path, frame: pl.DataFrame) -> None:
        """Read a file back and check that what is in it keeps its principles."""
        if io.holds(path, frame) and table_fingerprint(frame) == self.fingerprint:
            return  # what was verified, to the letter
        # Only an empty field is missing in what we wrote ourselves, whatever it was in the input.
        written = io.read(path, io.ReadOptions(missing=("",)))
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
        return as_html("release", self.manifest)

    def __repr__(self) -> str:
        """Return the outcome in a few lines."""
        told = self.manifest
        share = told["loss"]["ncp_percent"]
        return (
            f"{told['rows']:,} rows in {told['groups']:,} groups, {share:.2f} % loss (NCP), "
            f"{told['suppressed']['rows']:,} rows suppressed; verified: "
            + ", ".join(told["principles"])
        )


def _differ(one: pl.Series, other: pl.Series) -> bool:
    """Return whether two columns hold other values, whatever their types."""
    plain = [as_string(series.alias("")) for series in (one, other)]
    return one.dtype == other.dtype and not plain[0].equals(plain[1], null_equal=True)


def percentages(losses: Mapping[str, float], weights: Sequence[float]) -> dict[str, Any]:
    """Return what generalised quasi-identifiers lost, in percent of each one's domain."""
    return {
        "ncp_percent": _rounded(100 * float(np.average(list(losses.values()), weights=weights))),
        "ncp_percent_by_attribute": {name: _rounded(100 * loss) for name, loss in losses.items()},
    }


def _rounded(figure: float) -> float:
    """Keep three digits: with all of them, a loss could tell the ends that alignment hides."""
    return float(f"{figure:.3g}")


def table_fingerprint(*frames: pl.DataFrame) -> int:
    """Return a number that changes with any cell of the tables, and with the names of columns."""
    # It is good for one run of the program only.
    return hash(tuple((*f.columns, int(f.hash_rows(seed=2008).sum())) for f in frames))


#: What a manifest says of the randomness. It holds neither the seed nor anything that follows from
#: a key, not even a fingerprint: with one, whoever has a file could tell whether it is the key.
_RANDOMNESS: Mapping[Origin, str] = {
    "system": "secret, from the operating system",
    "seed": "fixed, for tests only",
    "key file": "secret, repeatable with a key file",
}
_TYPED = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
_REPORT = "nothing was published; please report this"


def compose_manifest(
    request: Request,
    *,
    made: Mapping[str, Any],
    suppressed: int,
    loss: Mapping[str, Any],
    verified: CheckResult,
    warnings: Sequence[str],
    origin: Origin,
    group: str | None,
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """Compose the manifest of a release that has been verified."""
    # verified: groups that are published alike count as one, as whoever reads the release counts
    # them. loss: in the algorithm's own terms. made: how the algorithm made the groups.
    rows = verified.rows
    total = rows + suppressed
    return {
        "versions": program_versions(),
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
        "seed": _RANDOMNESS[origin],
        "rows": rows,
        "groups": verified.groups,
        "rows_are_people": request.rows_are_people,
        "people": None if request.people is None else request.people.to_dict(),
        **made,
        "suppressed": {"rows": suppressed, "share": suppressed / total},
        "loss": {
            **loss,
            "average_group_size": rows / verified.groups,
            "discernibility": verified.squares + suppressed * total,
        },
        "verified": _without_worst(verified, rounded=bool(suppressed)),
        "warnings": list(warnings),
        "promise": PROMISE,
        "not_promised": [*NOT_PROMISED_LINES, _NOT_HIDDEN[request.transform.exact]],
        "seconds": dict(seconds),
    }


def _as_written(principle: Principle, on: str | None) -> str:
    return str(principle) if on is None else f"{principle} on {on}"


def _without_worst(result: CheckResult, *, rounded: bool) -> dict[str, Any]:
    """Return the verdict without the worst groups: a reader need not be led to them."""
    told = result.to_dict()
    for principle, report in zip(told["principles"], result.principles, strict=True):
        del principle["worst"]
        # Where rows were suppressed, all digits of t would tell something of their values, for it
        # compares with them.
        if rounded and compares_with_table(report.principle):
            principle["achieved"] = {k: ceil(v * 100) / 100 for k, v in report.achieved.items()}
    return told


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Write a manifest as JSON."""
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def program_versions() -> dict[str, str]:
    """Return the versions of the program and of what its results rest on."""
    used = {name: version(name) for name in ("wideberth", "numpy", "polars", "numba")}
    return {"python": platform.python_version(), **used}


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
