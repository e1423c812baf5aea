"""report: everything that can be found out about a release, gathered into one report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wideberth.advice import advise
from wideberth.anatomy import MANIFEST, NAMES, published
from wideberth.auditing import Audit
from wideberth.auditing.inquiry import audited
from wideberth.auditing.taking import Taken, take
from wideberth.clock import Progress
from wideberth.errors import InfeasibleError, ParameterError, TableError
from wideberth.examining import Examined
from wideberth.measuring import measured
from wideberth.policy import Policy
from wideberth.principles import EpsilonMAnonymity, Principle
from wideberth.querying import query_error
from wideberth.release import manifest_path, sha256
from wideberth.reporting.content import Report, compose

#: How many queries are asked, and about how many attributes at most.
_QUERIES, _DIMENSIONS = 1000, 3
_STEPS = ("auditing", "auditing the original", "measuring", "asking queries", "writing")


def report(
    table: object,
    *,
    original: object = None,
    policy: Policy | str | Path | None = None,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    principles: str | Principle | Sequence[str | Principle] | None = None,
    source: str | Path | None = None,
    title: str | None = None,
    probe: bool = False,
    swaps: bool | None = None,
    epsilon: str | float | None = None,
    population: object = None,
    others: object = (),
    priors: object = None,
    everyone: bool = False,
    progress: Progress | None = None,
    **known: Any,
) -> Report:
    """Report on a release: what it risks, what it costs, what it promises and what not.

    Parameters
    ----------
    table : Release, dataframe or path
        The release. A manifest that lies beside a file is shown.
    original : dataframe or path, optional
        What it was made from. Only with it can a report compare before and after, and say what
        count queries the release answers how well.
    policy, quasi, sensitive, principles, population, others, priors, epsilon, everyone, swaps
        As in `audit`.
    source : str or Path, optional
        The file that the release was read from, if it is not given by its path.
    title : str, optional
        What to call the report.
    probe : bool
        Whether to try how well models learn from the release (needs scikit-learn).
    progress : callable, optional
        Told what is being done, as `anonymize` tells it.
    **known
        What else `audit` can be told about the table: group, count, sensitive_table,
        hierarchies, types.

    Returns
    -------
    Report
        With `html`, `save` and `to_dict`.

    Examples
    --------
    >>> table = pl.DataFrame({"zip": ["130**"] * 3, "disease": ["flu", "flu", "cancer"]})
    >>> made = report(table, quasi="zip", sensitive="disease", principles="frequency-l:l=2")
    >>> made.to_dict()["verdict"]["level"]
    'bad'
    """

    def tell(step: str) -> None:
        if progress is not None:
            progress(step, _STEPS.index(step), len(_STEPS))

    tell("auditing")
    taken = take(
        table,
        original=original,
        policy=policy,
        quasi=quasi,
        sensitive=sensitive,
        principles=principles,
        **known,
    )
    after = audited(
        taken,
        population=population,
        others=others,
        priors=priors,
        epsilon=epsilon,
        everyone=everyone,
        swaps=swaps,
    )
    tell("auditing the original")
    before = _before(taken, after)
    tell("measuring")
    source = table if source is None and isinstance(table, str | Path) else source
    manifest, notes = _manifest(taken, source)
    given = taken.examined
    utility = measured(given, taken.original, manifest=manifest)
    tell("asking queries")
    queries = _queries(taken)
    probed = _probe(taken) if probe else None
    tell("writing")
    return compose(
        audit=after.to_dict(),
        before=None if before is None else before.to_dict(),
        advice=_tradeoffs(given, taken.original),
        utility=utility.to_dict(),
        queries=queries,
        probe=probed,
        manifest=manifest,
        transform=None if given.policy is None else given.policy.transform,
        name=None if source is None else Path(source).name,
        title=title,
        notes=[*notes, *utility.notes],
    )


def _before(taken: Taken, after: Audit) -> Audit | None:
    """Audit the original, as if it were published as it is."""
    given, original = taken.examined, taken.original
    if original is None:
        return None
    whole = take(
        original[[*given.attributes, *given.sensitive]],
        quasi=given.attributes,
        sensitive=given.sensitive,
        principles=[p for p in given.principles if p.needs != "population"] or None,
        hierarchies={k: v for k, v in given.hierarchies.items() if k in given.sensitive},
        types={k: v for k, v in given.types.items() if k in original.columns},
    )
    near = [a.known.attacks for a in after.attributes if a.known.attacks.neighbourhoods]
    reach = near[0].neighbourhoods if len(near) == 1 else None
    if reach is None:
        return audited(whole, swaps=False)
    return audited(whole, swaps=False, near=(reach.epsilon, reach.relative))


def _manifest(taken: Taken, source: str | Path | None) -> tuple[dict[str, Any] | None, list[str]]:
    """Return what a release says of itself: in memory, or in the file beside it."""
    if taken.manifest is not None:
        return dict(taken.manifest), []
    if source is None:
        return None, []
    folder = published(source)
    beside = manifest_path(source) if folder is None else Path(source) / MANIFEST
    try:
        told = json.loads(beside.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, []
    except (OSError, ValueError):
        told = None
    output = told.get("output") if isinstance(told, dict) else None
    if not isinstance(output, dict):
        return None, [f"{beside.name} could not be read as a manifest"]
    if folder is None:
        same = output.get("sha256") == sha256(source)
    else:
        digests = [{"name": file.name, "sha256": sha256(file)} for file in folder]
        same = [output.get(part) for part in NAMES] == digests
    if not same:
        return None, [f"{beside.name} is of another file than {Path(source).name}: not shown"]
    return told, []


def _queries(taken: Taken) -> dict[str, Any] | None:
    """Ask count queries, if there is an original to ask as well, and one sensitive attribute."""
    given, original = taken.examined, taken.original
    if original is None or not given.sensitive:
        return None
    tables: dict[str, Any] = {"release": given.frame}
    if given.counted is not None:
        exact = given.frame.drop(given.sensitive)
        tables = {"quasi_table": exact, "sensitive_table": given.counted, "group": given.group}
    try:
        error = query_error(
            original,
            given.attributes,
            given.sensitive[0],
            **tables,
            hierarchies=given.hierarchies,
            types=given.types,
            dimensions=min(_DIMENSIONS, len(given.attributes) + 1),
            queries=_QUERIES,
        )
    except (TableError, ParameterError):  # values that were changed on purpose, say
        return None
    return {"on": given.sensitive[0], **error.to_dict()}


def _tradeoffs(given: Examined, original: pl.DataFrame | None) -> Sequence[Mapping[str, Any]]:
    """Tell for each sensitive number which ε and m are possible, and which were chosen."""
    frame = given.frame if original is None else original
    found = []
    for name in given.sensitive:
        types = {k: v for k, v in given.types.items() if k == name}
        advice = advise(frame[[name]], name, types=types)
        if not advice.numeric:
            continue
        guard = next(
            (
                p
                for p in given.principles
                if isinstance(p, EpsilonMAnonymity) and p.on in (None, name) and p.epsilon
            ),
            None,
        )
        epsilon, m, relative = (
            (None, None, False) if guard is None else (guard.epsilon, guard.m, guard.relative)
        )
        try:
            found.append(advice.to_dict(epsilon=epsilon, m=m, relative=relative))
        except (ParameterError, InfeasibleError, TableError):
            continue  # dates have no shares, say
    return found


def _probe(taken: Taken) -> dict[str, Any] | None:
    from wideberth.probing import probe

    given, original = taken.examined, taken.original
    if original is None or not given.sensitive or given.counted is not None:
        return None
    return probe(
        given.frame,
        original,
        target=given.sensitive[0],
        features=given.attributes,
        hierarchies=given.hierarchies,
        types=given.types,
    ).to_dict()
