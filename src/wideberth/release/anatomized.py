"""anonymize by anatomy: exact quasi-identifiers, and sensitive values by groups beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wideberth import io
from wideberth.algorithms.anatomy import AnatomyGroups, anatomize
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.arrangement import reorder_demands
from wideberth.checks.check import check
from wideberth.core.codes import Column, Domain
from wideberth.core.groups import Groups
from wideberth.core.progress import Clock
from wideberth.core.strings import is_text
from wideberth.errors import (
    InfeasibleError,
    OutputError,
    ParameterError,
    VerificationError,
    what_to_type,
)
from wideberth.io.manifest import MANIFEST, TABLE_ROLES, manifest_path, sha256
from wideberth.io.sanitize import sanitized_series
from wideberth.kernels.randomness import RootKey, Stream
from wideberth.policy.policy import GROUP_COLUMN
from wideberth.policy.request import Request
from wideberth.policy.two_tables import COUNT, join, require_anatomy_principle
from wideberth.principles.allowance import commonly_allowed
from wideberth.principles.columns import compares_with_table
from wideberth.release.prepare import demands_of, release_identity
from wideberth.release.publish import (
    group_ids,
    original_rows,
    publish,
    random_row_order,
    require_new_name,
)
from wideberth.release.release import Release, compose_manifest, manifest_text, table_fingerprint
from wideberth.release.styles import exposure_caution
from wideberth.release.verify import require_principles, require_true_anatomy
from wideberth.utility.metrics import AnatomyFigures
from wideberth.utility.queries import query_error
from wideberth.utility.workload import QueryError

# -----------------------------------------------------------------------------
# An anatomised release: exact quasi-identifiers in one table, sensitive values in another.


class AnatomyFiles(NamedTuple):
    """The files of an anatomised release, and the folder that is made for them if need be."""

    quasi: Path
    sensitive: Path
    manifest: Path
    folder: Path | None = None

    @property
    def files(self) -> tuple[Path, Path, Path]:
        """What is written."""
        return self[:3]


def anatomy_files(output: Sequence[str | Path], suffix: str) -> AnatomyFiles:
    """Return the files that an anatomised release is written to.

    >>> [str(path) for path in anatomy_files(["out"], ".csv").files]
    ['out/quasi.csv', 'out/sensitive.csv', 'out/manifest.json']
    """
    # output: a folder, or two files, of which the first is for the quasi-identifiers.
    if len(output) == 2:
        quasi, sensitive = map(Path, output)
        if quasi.resolve() == sensitive.resolve():
            raise OutputError("both tables would be written to one file", hint="name two files")
        return AnatomyFiles(quasi, sensitive, manifest_path(quasi))
    if len(output) > 2:
        raise OutputError(
            f"an anatomised release is two tables, not {len(output)}", hint="name two files"
        )
    folder = Path(output[0])
    if io.is_table(folder):
        raise OutputError(
            f"an anatomised release is two tables, {folder} is one file",
            hint="-o FOLDER, or -o QUASI-FILE -o SENSITIVE-FILE",
        )
    quasi, sensitive = (folder / f"{name}{suffix}" for name in TABLE_ROLES)
    return AnatomyFiles(quasi, sensitive, folder / MANIFEST, folder)


def suffix_for(source: str | Path | None) -> str:
    """Return the kind of files in a folder: that of the input, but no packed one."""
    return ".csv" if source is None else io.suffix_of(source).removesuffix(".gz")


def check_anatomy_files(
    goal: AnatomyFiles, *, force: bool, sources: Sequence[str | Path] = ()
) -> None:
    """Raise now what writing would raise later, after the work."""
    if goal.folder is not None and not goal.folder.is_dir():
        if goal.folder.exists():
            raise OutputError(
                f"{goal.folder} is a file", hint="name a folder, or two files (-o twice)"
            )
        io.check_target(goal.folder)  # its parent must be there, and open to us
        return
    for path in goal.files:
        io.check_target(path, force=force, table=path != goal.manifest, sources=sources)
    for path in other_format_tables(goal):
        raise OutputError(
            f"{path} is of another release, which beside this one would give away more than both",
            hint="remove it, or choose another folder",
        )


def repair_anatomy(goal: AnatomyFiles) -> None:
    """Put in order what runs have left that were stopped in this place, whatever their format."""
    known = list(goal.files)
    if goal.folder is not None:
        known += [goal.folder / f"{name}{suffix}" for name in TABLE_ROLES for suffix in io.SUFFIXES]
    io.repair(*known)
    io.sweep_drafts(*known)


def other_format_tables(goal: AnatomyFiles) -> list[Path]:
    """Return tables of another format in the folder: those of an earlier release."""
    found = [] if goal.folder is None else sorted(goal.folder.iterdir())
    return [
        path
        for path in found
        if path not in goal.files and io.is_table(path) and path.name.split(".")[0] in TABLE_ROLES
    ]


def published(folder: str | Path) -> tuple[Path, Path] | None:
    """Return the two tables in the folder of a release; None if it has none."""
    folder = Path(folder)
    if not folder.is_dir():
        return None
    found = [
        [path for path in sorted(folder.glob(f"{name}.*")) if io.is_table(path)]
        for name in TABLE_ROLES
    ]
    if [len(paths) for paths in found] != [1, 1]:
        return None
    return found[0][0], found[1][0]


@dataclass(frozen=True, eq=False, repr=False)
class Anatomy(Release):
    """Two tables that are safe to publish together under their principles.

    Parameters
    ----------
    table : dataframe
        The quasi-identifiers as they were, other columns, and the group of each row.
    sensitive : dataframe
        For each group its sensitive values, and how many of its rows hold each.
    suffix : str
        The kind of files that `save` writes into a folder.
    """

    sensitive: Any = None
    suffix: str = ".csv"

    def join(self) -> Any:
        """Pair every row with all values of its group, and say how likely each is."""
        return join(self.table, self.sensitive, group=self.question["group"])

    def query_error(self, table: object, **queries: Any) -> QueryError:
        """Measure how well the two tables answer random count queries on the original.

        Parameters
        ----------
        table : dataframe or path
            The original.
        **queries
            Which queries to ask: dimensions, volume, queries, seed; see `wideberth.query_error`.
        """
        return query_error(
            table,
            self.question["quasi"],
            self.question["sensitive"][0],
            quasi_table=self.table,
            sensitive_table=self.sensitive,
            group=self.question["group"],
            **queries,
        )

    def save(
        self, path: str | Path, sensitive: str | Path | None = None, *, force: bool = False
    ) -> dict[str, Any]:
        """Write both tables and the manifest; all or nothing.

        The files are read back and checked before they take their places.

        Parameters
        ----------
        path : str or Path
            A folder, which is made if it is not there; or a file for the quasi-identifiers.
        sensitive : str or Path, optional
            Then a file for the sensitive values.
        force : bool
            Whether to replace files that exist.

        Returns
        -------
        dict
            The manifest as written, with names and SHA-256 of the files.
        """
        goal = anatomy_files([path] if sensitive is None else [path, sensitive], self.suffix)
        frames = [io.adopt(table)[0] for table in (self.table, self.sensitive)]
        repair_anatomy(goal)
        check_anatomy_files(goal, force=force)
        with _folder(goal.folder), io.drafts(*goal.files, force=force) as drafts:
            *files, note = drafts
            for frame, file in zip(frames, files, strict=True):
                io.put(frame, file)
            with ThreadPoolExecutor(1) as pool:  # hashing lets others work meanwhile
                hashing = pool.map(sha256, files)
                self._check_files(files, frames)
                hashes = list(hashing)
            output = {
                part: {"name": target.name, "sha256": digest}
                for part, target, digest in zip(TABLE_ROLES, goal.files[:2], hashes, strict=True)
            }
            written = dict(zip(goal.files, frames, strict=False))
            manifest = self._described(output, written)
            note.write_text(manifest_text(manifest), encoding="utf-8")
        return manifest

    def _check_files(self, files: Sequence[Path], frames: Sequence[pl.DataFrame]) -> None:
        """Read both files back and check that what is in them keeps the principles."""
        exact = all(io.holds(*pair) for pair in zip(files, frames, strict=True))
        if exact and table_fingerprint(*frames) == self.fingerprint:
            return  # what was verified, to the letter
        written = [io.read(file, io.ReadOptions(missing=("",))) for file in files]
        for found, frame in zip(written, frames, strict=True):
            if found.shape != frame.shape or found.columns != frame.columns:
                raise VerificationError(
                    "the files written do not hold the tables",
                    hint="nothing was published; please report this",
                )
        question = {**self.question, "sensitive_table": written[1]}
        if not check(written[0], worst=0, **question):
            raise VerificationError(
                "read back from the files, the release does not keep its principles",
                hint="write .parquet files, which keep types and missing values as they are",
            )

    def __repr__(self) -> str:
        """Return the outcome in a few lines."""
        told = self.manifest
        return (
            f"{told['rows']:,} rows in {told['groups']:,} groups, two tables, "
            f"{told['suppressed']['rows']:,} rows suppressed; verified: "
            + ", ".join(told["principles"])
        )


@contextmanager
def _folder(path: Path | None) -> Iterator[None]:
    """Make a folder if there is none, and remove it again if nothing comes of it."""
    if path is None or path.is_dir():
        yield
        return
    try:
        path.mkdir()
    except OSError as error:
        raise OutputError(
            f"{path} cannot be made: {error.strerror}", hint="name a folder whose parent exists"
        ) from None
    try:
        yield
    except BaseException:
        with suppress(OSError):
            path.rmdir()
        raise


# -----------------------------------------------------------------------------
# anonymize by anatomy: exact quasi-identifiers, and sensitive values by groups beside them.


_MANY = 20  # rows, from which on it is no chance that all values of a column differ
EXACT = (
    "quasi-identifiers are published exactly: anatomy hides what is true of somebody, not that "
    "somebody is in the table"
)


def by_anatomy(
    request: Request,
    *,
    clock: Clock,
    cautions: Sequence[str],
    root: RootKey,
) -> Anatomy:
    """Make the two tables of an anatomised release."""
    # The root's key decides how rows are picked from buckets, groups numbered and rows shuffled.
    frame, rows = request.frame, request.frame.height
    how = request.transform
    with clock("encoding", rows):
        group, value = _names(request)
        cautions = [*cautions, *_exposed(request)]
        demands = demands_of(request, frame)
        key = root.bound(_identity(request, demands))
    with clock("dealing", rows):
        # If it is to be repeatable, the same groups whatever the order of the rows.
        given = request.by_content() if root.repeatable else np.arange(rows)
        dealt = anatomize(
            reorder_demands(demands, given) if root.repeatable else demands,
            rows,
            rng=Stream(key, "dealing"),
            method=how.method,
            group_rows=how.group_rows,
            limit=how.suppression_limit,
        )
        labels = np.empty_like(dealt.labels)
        labels[given] = dealt.labels
        dealt = replace(dealt, labels=labels)
    partition = dealt.partition
    groups, domain = _histograms(demands, dealt)
    single = groups.distinct < 2
    harmless = commonly_allowed(domain, (demand.principle for demand in demands))
    if harmless is not None:
        single &= ~harmless[groups.codes[groups.start[:-1]]]
    if alone := int(single.sum()):
        raise InfeasibleError(
            f"{alone:,} of {len(groups):,} groups would hold a single value, which two tables tell "
            "as plainly as one",
            hint='ask for more as well, such as "frequency-l:l=2"',
        )
    with clock("publishing", rows):
        order = random_row_order(len(dealt.rows), key)
        ids = group_ids(group, partition, order, key)
        shown = dealt.rows[order]
        gone = {*request.roles["identifier"], value}
        kept = [name for name in request.columns if name not in gone]
        quasi = publish(request, shown, [*kept, group], {group: ids})
        lines = sorted_value_counts(ids, frame[value][shown])
        sensitive = publish(
            request,
            shown[lines["row"].to_numpy()],
            [group, value, COUNT],
            {group: lines["group"].alias(group), COUNT: lines["count"]},
        )
        published, counts = io.adopt(quasi)[0], io.adopt(sensitive)[0]
    question = {
        "quasi": request.roles["quasi"],
        "principles": list(request.principles),
        "group": group,
        "sensitive_table": sensitive,
        "rows_are_people": True,  # else the table would have been refused
        **request.guarded,
    }
    lost = rows - len(dealt.rows)
    if lost and any(compares_with_table(p) for p in request.principles):
        # What t-closeness compares with, in an order that tells nothing.
        shuffled = frame[value][Stream(key, "reference").permutation(rows)]
        question["reference"] = pl.DataFrame([sanitized_series(shuffled)])
    with clock("verifying", rows):
        require_true_anatomy(
            published, counts, frame, shown, untouched=kept, group=group, value=value
        )
        verified = require_principles(published, question)
    manifest = compose_manifest(
        request,
        made={"anatomy": _account(dealt, rows)},
        suppressed=lost,
        loss=AnatomyFigures.of(groups, domain, lost).to_dict(),
        verified=verified,
        warnings=[*cautions, *_cautions(request, groups, lost)],
        origin=root.origin,
        group=group,
        seconds=clock.seconds,
    )
    manifest["output"] = {part: {"name": None, "sha256": None} for part in TABLE_ROLES}
    return Anatomy(
        quasi,
        manifest,
        question,
        verified,
        table_fingerprint(published, counts),
        _row_order=partial(original_rows, dealt.rows if lost else rows, key),
        sensitive=sensitive,
        suffix=suffix_for(request.source),
    )


def sorted_value_counts(ids: pl.Series, values: pl.Series) -> pl.DataFrame:
    """Count the values of each group, sorted as text: in no order that rows have.

    >>> sorted_value_counts(pl.Series([2, 1, 2, 2]), pl.Series(["b", "c", "a", "b"])).rows()
    [(1, 'c', 1, 1), (2, 'a', 2, 1), (2, 'b', 0, 2)]
    """
    # Columns: `group`, `value`, a `row` that has it, and the `count` of such rows.
    labels = isinstance(values.dtype, pl.Enum | pl.Categorical)
    pairs = pl.DataFrame(
        [ids.alias("group"), (values.cast(pl.String) if labels else values).alias("value")]
    )
    found = (
        pairs.with_row_index("row")
        .group_by("group", "value")
        .agg(pl.col("row").first(), pl.len().cast(pl.Int64).alias("count"))
    )
    return found.sort("group", "value", nulls_last=True)


def _identity(request: Request, demands: Sequence[Demand]) -> Iterator[object]:
    """Yield what the release depends on; see `RootKey.bound`."""
    yield from release_identity(request, (), demands, ())
    for name in request.roles["quasi"]:  # which may be of any type here, and are not encoded
        yield sorted(Counter(map(str, request.frame[name].to_list())).items())


def one_attribute_error(sensitive: Sequence[str]) -> ParameterError:
    """Return the refusal of more than one sensitive attribute."""
    return ParameterError(
        f"anatomy publishes one sensitive attribute, not {len(sensitive)}",
        hint=what_to_type(
            python='drop the others (identifier), or algorithm="mondrian"',
            command='drop the others (identifier), or algorithm = "mondrian"',
            app="drop the others in step 1, or choose “Ranges, group by group” in step 3",
        ),
    )


def _names(request: Request) -> tuple[str, str]:
    """Return the columns of group ids and of sensitive values, or say what anatomy cannot do."""
    sensitive = request.roles["sensitive"]
    if not sensitive:
        raise ParameterError("anatomy needs a sensitive attribute", hint="name one")
    if len(sensitive) != 1:
        raise one_attribute_error(sensitive)
    for principle in request.principles:
        require_anatomy_principle(principle)
    if request.group is False:
        raise ParameterError(
            "anatomy cannot do without group ids: they hold its two tables together",
            hint=f'group="{GROUP_COLUMN}"',
        )
    group = GROUP_COLUMN if request.group in (None, True) else str(request.group)
    require_new_name(group, request.columns, 'group="another name"')
    if COUNT in (group, sensitive[0]):
        raise ParameterError(
            f"the table of sensitive values has a column '{COUNT}' of its own",
            hint="give yours another name",
        )
    return group, sensitive[0]


def _account(dealt: AnatomyGroups, rows: int) -> dict[str, object]:
    """Return how the groups were made, and whether fewer rows could have been left out."""
    lost = rows - len(dealt.rows)
    return {
        "handling": dealt.how,
        "suppressed_at_least": dealt.at_least if lost else 0,
        "suppression_proven_least": not lost or dealt.at_least == lost,
    }


def _histograms(demands: Sequence[Demand], dealt: AnatomyGroups) -> tuple[Groups, Domain]:
    """Return the sensitive values of each group, and what their codes mean."""
    column = next(d.column for d in demands if d.column is not None)
    kept = Column(column.codes[dealt.rows], column.domain)
    return dealt.partition.histograms(kept), column.domain


def _exposed(request: Request) -> list[str]:
    """Refuse record numbers as quasi-identifiers, which two tables would publish as they are."""
    cautions = []
    for name in request.roles["quasi"]:
        if request.frame[name].dtype.is_nested():
            continue
        counted = request.frame[name].alias("").drop_nulls().value_counts()
        counts = counted["count"].to_numpy().astype(np.int64)
        values = counted.to_series(0)
        cautions += exposure_caution(name, values, counts, "its column publishes", exact=True)
    return cautions


def _cautions(request: Request, groups: Groups, lost: int) -> list[str]:
    """Return what anybody who publishes the two tables must know."""
    cautions = [EXACT]
    quasi = request.roles["quasi"]
    if lost:
        cautions.append(
            f"{lost:,} row{'' if lost == 1 else 's'} left out, of the most frequent kinds: whoever "
            "knows that somebody was in the table, and misses them, knows nearly what they have"
        )
    wanted, smallest = request.transform.group_rows, int(groups.sizes.min())
    if wanted is not None and smallest < wanted:
        cautions.append(
            f"groups of {wanted:,} rows were asked for, but the smallest has {smallest:,}: similar "
            "values are too frequent"
        )
    if unused := [name for name in quasi if name in request.hierarchies]:
        cautions.append(f"hierarchies of quasi-identifiers are not looked at: {', '.join(unused)}")
    if unique := [n for n in quasi if _identifies(request.frame[n])]:
        cautions.append(
            "every row has a value of its own, as identifiers have: " + ", ".join(unique)
        )
    return cautions


def _identifies(series: pl.Series) -> bool:
    """Return whether a column of names or numbers tells all rows apart."""
    named = is_text(series.dtype) or series.dtype.is_integer()
    return named and len(series) >= _MANY and series.alias("").n_unique() == len(series)
