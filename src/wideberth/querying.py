"""How well the two tables of an anatomised release answer count queries on the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.encode import Codes, Column, Domain, encode
from wideberth.errors import ParameterError, TableError
from wideberth.groups import Groups, Partition
from wideberth.schema import convert, infer_type
from wideberth.subject import require_column
from wideberth.twofold import QUASI_TABLE, SENSITIVE_TABLE, TwoTables, table_of
from wideberth.workload import QueryError, Workload, anatomy_answers, answers

_ORIGINAL = "the original"


def query_error(
    table: object,
    quasi: str | Sequence[str],
    sensitive: str,
    *,
    quasi_table: object,
    sensitive_table: object,
    group: str = "group",
    dimensions: int = 3,
    volume: float | Fraction = 0.1,
    queries: int = 1000,
    seed: int = 0,
) -> QueryError:
    """Measure how well an anatomised table answers random count queries on the original.

    Parameters
    ----------
    table : dataframe or path
        The original.
    quasi : str or sequence of str
        Its quasi-identifiers.
    sensitive : str
        Its sensitive attribute.
    quasi_table : dataframe or path
        The published quasi-identifiers, as in the original, and the group of each row.
    sensitive_table : dataframe or path
        The published sensitive values: group, value, and how many rows of the group have it.
    group : str
        The column of group ids.
    dimensions, volume, queries, seed
        Which queries to ask; see `Workload.draw`. An attribute's domain are the values that occur
        in the original.

    Returns
    -------
    QueryError
        Suppressed rows are in the original alone: that they are not counted is part of the error.

    Examples
    --------
    >>> from wideberth import datasets
    >>> people = datasets.wang2013_table1()
    >>> sensitive = datasets.wang2013_table5().group_by("group", "disease").len("count")
    >>> error = query_error(
    ...     people, ["age", "sex", "zip"], "disease",
    ...     quasi_table=datasets.wang2013_table4(), sensitive_table=sensitive, volume=0.3,
    ... )
    >>> 0 < error.mean < 1
    True
    """
    names = [quasi] if isinstance(quasi, str) else list(quasi)
    if len({*names, sensitive}) <= len(names):
        raise ParameterError("a column is named twice", hint="name each once")
    given = (table, quasi_table, sensitive_table)
    original, exact, counted = (tables.adopt(table_of(t, None))[0] for t in given)
    two = TwoTables.of(exact, counted, group)
    for frame, wanted, where in [
        (original, [*names, sensitive], _ORIGINAL),
        (exact, names, QUASI_TABLE),
        (counted, [sensitive], SENSITIVE_TABLE),
    ]:
        for name in wanted:
            require_column(frame, name, where)
    both = [_encoded(original[name], exact[name], QUASI_TABLE) for name in names]
    values, published = _encoded(original[sensitive], counted[sensitive], SENSITIVE_TABLE)
    groups = _histograms(two, published, values.domain.size)
    workload = Workload.draw(
        [*(column.domain.size for column, _ in both), values.domain.size],
        dimensions=dimensions,
        volume=volume,
        queries=queries,
        seed=seed,
    )
    return QueryError.of(
        answers(workload, [column.codes for column, _ in both], values.codes),
        anatomy_answers(workload, [codes for _, codes in both], two.member, groups),
    )


def _encoded(known: pl.Series, published: pl.Series, where: str) -> tuple[Column, Codes]:
    """Encode a column, and a published one by the same codes: it may lack values, but add none."""
    name, rows = known.name, len(known)
    kind = infer_type(known)
    above = convert(known, kind)
    try:
        below = convert(published, kind)
        both = pl.concat([s.alias("").to_frame() for s in (above, below)], how="vertical_relaxed")
    except TableError as error:
        raise TableError(f"{where}: {error.what}", hint=error.hint) from None
    except pl.exceptions.PolarsError:  # its message may quote values
        raise TableError(
            f"column '{name}' has different types in {_ORIGINAL} and {where}",
            hint="give it the same type in both",
        ) from None
    column = encode(both.to_series().alias(name))
    codes, theirs = column.codes[:rows], column.codes[rows:]
    counts = np.bincount(codes, minlength=column.domain.size)
    strange = counts[theirs] == 0
    if bool(strange.any()):
        raise TableError(
            f"{where}: column '{name}', row {int(strange.argmax()) + 1}: "
            f"a value that {_ORIGINAL} does not have",
            hint="all tables must belong to one release",
        )
    return Column(codes, replace(column.domain, histogram=counts)), theirs


def _histograms(two: TwoTables, codes: Codes, width: int) -> Groups:
    """Gather the lines of a sensitive table by group, whatever their order."""
    domain = Domain(name=two.value, histogram=np.zeros(width, dtype=np.int64))
    partition = Partition(np.repeat(two.owner, two.counts), int(two.member.max()) + 1)
    return partition.histograms(Column(np.repeat(codes, two.counts), domain))
