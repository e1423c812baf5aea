"""report: everything that can be found out about a release, gathered into one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wideberth.checks.advise import advise
from wideberth.core.progress import Progress
from wideberth.errors import InfeasibleError, ParameterError, TableError
from wideberth.policy.policy import Policy
from wideberth.policy.spec import ExaminedTable
from wideberth.principles import EpsilonMAnonymity, Principle
from wideberth.reports.content import Report, compose
from wideberth.risk.audit import run_audit
from wideberth.risk.inputs import AuditInputs, take_inputs
from wideberth.risk.outcome import Audit
from wideberth.utility.measure import measure_examined
from wideberth.utility.queries import query_error

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
    epsilon: str | float | Mapping[str, str | float] | None = None,
    limits: Mapping[str, float] | None = None,
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
    policy, quasi, sensitive, principles, population, others, priors
        As in `audit`.
    epsilon, limits, everyone, swaps
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
    taken = take_inputs(
        table,
        original=original,
        policy=policy,
        quasi=quasi,
        sensitive=sensitive,
        principles=principles,
        source=source,
        **known,
    )
    after = run_audit(
        taken,
        population=population,
        others=others,
        priors=priors,
        epsilon=epsilon,
        limits=limits,
        everyone=everyone,
        swaps=swaps,
    )
    tell("auditing the original")
    before = _before(taken, after, limits)
    tell("measuring")
    source = table if source is None and isinstance(table, str | Path) else source
    manifest = None if taken.manifest is None else dict(taken.manifest)
    given = taken.examined
    utility = measure_examined(given, taken.original, manifest=manifest)
    tell("asking queries")
    queries, unasked = _queries(taken)
    probed, untried = _probe(taken) if probe else (None, [])
    tradeoffs, untold = _tradeoffs(given, taken.original)
    tell("writing")
    return compose(
        # The worst groups of a release are named by what is published of them.
        audit=after.to_dict(show_rows=True),
        before=None if before is None else before.to_dict(),
        advice=tradeoffs,
        utility=utility.to_dict(),
        queries=queries,
        probe=probed,
        manifest=manifest,
        transform=None if given.policy is None else given.policy.transform,
        name=None if source is None else Path(source).name,
        title=title,
        notes=[*utility.notes, *unasked, *untried, *untold],
    )


def _before(taken: AuditInputs, after: Audit, limits: Mapping[str, float] | None) -> Audit | None:
    """Audit the original, as if it were published as it is."""
    given, original = taken.examined, taken.original
    if original is None:
        return None
    columns = [*given.attributes, *given.sensitive]
    whole = take_inputs(
        original[columns],
        quasi=given.attributes,
        sensitive=given.sensitive,
        principles=[p for p in given.principles if p.needs != "population"] or None,
        hierarchies={k: v for k, v in given.hierarchies.items() if k in given.sensitive},
        types={k: v for k, v in given.types.items() if k in columns},
    )
    near = [a.known.attacks for a in after.attributes if a.known.attacks.neighbourhoods]
    reach = near[0].neighbourhoods if len(near) == 1 else None
    if reach is None:
        return run_audit(whole, limits=limits, swaps=False)
    return run_audit(whole, limits=limits, swaps=False, near=(reach.epsilon, reach.relative))


def _queries(taken: AuditInputs) -> tuple[dict[str, Any] | None, list[str]]:
    """Ask count queries of the release and of its original, if there is one."""
    # That takes one sensitive attribute. If they cannot be asked, a note says why.
    given, original = taken.examined, taken.original
    if original is None or not given.sensitive:
        return None, []
    tables: dict[str, Any] = {"release": given.frame}
    if given.counted is not None:
        exact = given.frame.drop(given.sensitive)
        tables = {"quasi_table": exact, "sensitive_table": given.counted, "group": given.group}
    try:
        asked = query_error(
            original,
            given.attributes,
            given.sensitive[0],
            **tables,
            hierarchies=given.hierarchies,
            types=given.types,
            dimensions=min(_DIMENSIONS, len(given.attributes) + 1),
            queries=_QUERIES,
        )
    except (TableError, ParameterError) as error:  # values that were changed on purpose, say
        return None, [f"no count queries were asked: {error.what}"]
    return {"on": given.sensitive[0], **asked.to_dict()}, []


def _tradeoffs(
    given: ExaminedTable, original: pl.DataFrame | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return for each sensitive number which ε and m are possible, and which were chosen."""
    # If that is not known, a note says why.
    frame = given.frame if original is None else original
    found, notes = [], []
    for name in given.sensitive:
        types = {k: v for k, v in given.types.items() if k == name}
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
            advice = advise(frame[[name]], name, types=types)
            if advice.numeric:
                found.append(advice.to_dict(epsilon=epsilon, m=m, relative=relative))
        except (ParameterError, InfeasibleError, TableError) as error:  # dates have no shares, say
            notes.append(f"which ε and m are possible for {name} is not told: {error.what}")
    return found, notes


def _probe(taken: AuditInputs) -> tuple[dict[str, Any] | None, list[str]]:
    """Try how well models learn; if they cannot, a note says why."""
    from wideberth.utility.models import probe

    given, original = taken.examined, taken.original
    lacking = None
    if original is None:
        lacking = "the original is not given"
    elif not given.sensitive:
        lacking = "there is nothing sensitive to predict"
    elif given.counted is not None:
        lacking = "the sensitive values stand in a table of their own"
    if lacking is not None:
        return None, [f"no models were tried: {lacking}"]
    told = probe(
        given.frame,
        original,
        target=given.sensitive[0],
        features=given.attributes,
        hierarchies=given.hierarchies,
        types=given.types,
    )
    return told.to_dict(), []
