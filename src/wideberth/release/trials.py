"""What a refusal proposes, tried on the table before it is said.

A setting can be possible and still lead nowhere: the other principles rule it out, ranges span most
of the domain, all rows that would be left out share one sensitive value, so that whoever is missing
from the release has it, or an audit of the release finds something grave. So each proposal is
followed, with all other principles, and what comes of it decides whether it is made. Where nothing
proposed works, weaker parameters are tried.

Trying costs about as much as the run that was refused. Tables above `ROWS` rows are not tried, nor
is anything begun after `SECONDS`; the message then says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import polars as pl

from wideberth import io
from wideberth.core.progress import Progress
from wideberth.errors import InfeasibleError, WideberthError
from wideberth.policy.request import Request
from wideberth.policy.two_tables import COUNT
from wideberth.principles.feasibility.refusal import Alternative, weaker
from wideberth.release.anatomized import Anatomy
from wideberth.release.release import Release

#: Tables with more rows are not tried, and nothing is begun after so many seconds.
ROWS, SECONDS = 100_000, 20.0
#: In percent: what loses more is proposed only if nothing loses less. Suppressed rows lose all.
USEFUL = 50.0
#: How many settings are tried at most, those that are proposed first.
_MOST = 16
#: So few rows may share a value by chance, so they are drawn again, so often, and for so long.
_FEW, _DRAWS, _SECONDS_OF_DRAWS = 10, 8, 2.0

#: Of how many unsafe settings the message says what is wrong; the JSON of a refusal has them all.
_NAMED = 2

WORKS, USELESS, UNSAFE = "works", "loses too much", "not safe"
IMPOSSIBLE, UNTRIED = "not possible", "not tried"
_UNTRIED = "not tried, may help"


@dataclass(frozen=True)
class ProposalTrial:
    """What came of trying one proposal."""

    proposal: Alternative
    outcome: str  # one of the constants above
    loss: float | None = None  # in percent, if there was a release
    why: str | None = None  # what is wrong with it

    @property
    def words(self) -> str:
        """The setting, with what came of it."""
        asked = self.proposal
        but = "" if self.why is None else f", but {self.why}"
        setting = ", ".join(filter(None, (asked.setting, asked.condition)))
        return f"{setting} (tried: {_percent(self.loss)} loss{but})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        tried = self.outcome != UNTRIED
        asked = self.proposal
        return {
            "setting": asked.setting if tried else asked.words,
            "tried": tried,
            "outcome": self.outcome,
            "loss": None if self.loss is None else float(f"{self.loss:.3g}"),
            "why": self.why,
            "condition": asked.condition,
        }


def try_proposals(
    error: InfeasibleError,
    request: Request,
    run: Callable[[Request], Release],
    progress: Progress | None = None,
) -> InfeasibleError:
    """Try the proposals of a refusal, and return one that proposes those found to work."""
    proposals = _for_method(error.proposals, request)
    if not proposals:
        return error
    error.proposals = tuple(proposals)
    return _said(error, list(_trials(proposals, request, run, progress)))


def _for_method(proposals: Sequence[Alternative], request: Request) -> list[Alternative]:
    """Propose what anatomy's method can do, and the method that can do all."""
    how = request.transform
    if how.algorithm != "anatomy" or how.method == "optimal":
        return list(proposals)
    setting = 'method = "optimal"'
    other = Alternative(setting, setting=setting, key="method", method="optimal")
    return [other, *(one for one in proposals if one.key != "allowed")]


def untried_proposals(error: InfeasibleError, request: Request | None = None) -> InfeasibleError:
    """Return a refusal that says that nothing was tried: on engines that takes too long."""
    if request is not None and error.proposals:
        error.proposals = tuple(_for_method(error.proposals, request))
    trials = [ProposalTrial(one, UNTRIED) for one in error.proposals]
    return _said(error, trials) if trials else error


def _trials(
    proposals: Sequence[Alternative],
    request: Request,
    run: Callable[[Request], Release],
    progress: Progress | None,
) -> Iterator[ProposalTrial]:
    """Try proposals; if none works, weaker parameters, each until one does."""
    deadline = monotonic() + SECONDS
    many = 0
    settled: set[tuple[Any, str]] = set()  # where a stronger setting works already

    def attempt(one: Alternative) -> ProposalTrial:
        nonlocal many
        if request.frame.height > ROWS or monotonic() > deadline or many == _MOST:
            return ProposalTrial(one, UNTRIED)
        many += 1
        if progress is not None:
            progress("trying what may help", many - 1, many)
        trial = _trial(one, request, run, deadline)
        if trial.outcome == WORKS and one.condition is None:
            settled.add((one.replaces, one.key))
        return trial

    for one in _in_turn(proposals):
        if (one.replaces, one.key) not in settled:
            yield attempt(one)
    if settled or request.frame.height > ROWS:
        return
    seen = {(one.replaces, one.principle) for one in proposals}
    further = [
        replace(less, replaces=one.replaces)
        for one in proposals
        if one.principle is not None and one.condition is None
        for less in weaker(one.principle, one.key)
    ]
    for one in _in_turn(further):
        pair = (one.replaces, one.principle)
        if pair in seen or (one.replaces, one.key) in settled:
            continue
        seen.add(pair)
        if many < _MOST and monotonic() <= deadline:
            yield attempt(one)


def _in_turn(proposals: Sequence[Alternative]) -> list[Alternative]:
    """Put the first change of each parameter first, then the second of each, and so on."""
    many: Counter[tuple[Any, str]] = Counter()
    place = []
    for one in proposals:
        place.append(many[one.replaces, one.key])
        many[one.replaces, one.key] += 1
    return [one for _, one in sorted(zip(place, proposals, strict=True), key=lambda p: p[0])]


def _trial(
    one: Alternative, request: Request, run: Callable[[Request], Release], deadline: float
) -> ProposalTrial:
    """Follow one proposal."""
    changed = request
    if one.principle is not None:
        changed = replace(
            request,
            principles=[one.principle if p == one.replaces else p for p in request.principles],
        )
    how = request.transform
    if one.suppression_limit is not None:
        how = replace(how, suppression_limit=one.suppression_limit)
    if one.method is not None:
        how = replace(how, method=one.method)
    if how.algorithm == "lattice":
        left = max(deadline - monotonic(), 0.1)
        how = replace(how, max_seconds=min(left, how.max_seconds or left))
    changed = replace(changed, transform=how)
    start = monotonic()
    try:
        release = run(changed)
        column = _shared(release, request)
        for _ in range(_DRAWS):  # which of several rows goes is chance
            gone = release.manifest["suppressed"]["rows"]
            late = monotonic() > start + _SECONDS_OF_DRAWS
            if column is not None or not 1 < gone <= _FEW or late:
                break
            release = run(changed)
            column = _shared(release, request)
    except WideberthError:
        return ProposalTrial(one, IMPOSSIBLE)
    loss = loss_of(release)
    value = None
    if column is not None:
        gone = release.manifest["suppressed"]["rows"]
        value = f"the value of '{column}' of the row left out is known from totals"
        if gone > 1:
            rows = "both rows" if gone == 2 else f"all {gone:,} rows"
            value = f"{rows} left out have one value of '{column}'"
            return ProposalTrial(one, UNSAFE, loss, f"{value}: whoever is missing has it")
    if loss > USEFUL:
        return ProposalTrial(one, USELESS, loss, value)
    if monotonic() > deadline:
        return ProposalTrial(one, UNTRIED)
    try:
        grave = _grave(release, request)
    except WideberthError:
        return ProposalTrial(one, UNTRIED)
    if grave is not None:
        return ProposalTrial(one, UNSAFE, loss, f"an audit finds that {grave}")
    return ProposalTrial(one, WORKS, loss, value)


def _grave(release: Release, request: Request) -> str | None:
    """Return the first grave finding about a release, if there is one."""
    from wideberth.risk.audit import audit  # later: the audit's module needs this one

    found = audit(release, original=request.frame, swaps=False)
    return next((f.title for f in found.findings if f.severity == "high"), None)


def loss_of(release: Release) -> float:
    """Return what a release loses, in percent: NCP, and all of a row that is left out."""
    share = release.manifest["suppressed"]["share"]
    kept: float = release.manifest["loss"].get("ncp_percent", 0.0)
    return 100 * share + (1 - share) * kept


def _shared(release: Release, request: Request) -> str | None:
    """Return the sensitive column of which all rows that were left out have one value, if any."""
    if not release.manifest["suppressed"]["rows"]:
        return None
    for name in request.roles["sensitive"]:
        there = request.frame[name].alias("")
        if isinstance(release, Anatomy):
            told = io.adopt(release.sensitive)[0]
            here = told.select(pl.col(name).repeat_by(COUNT).list.explode()).to_series()
        else:
            here = io.adopt(release.table)[0][name]
        if len(_difference(here, there)) == 1:
            return name
    return None


def _difference(here: pl.Series, there: pl.Series) -> pl.DataFrame:
    """Return the values that are more frequent in the second column."""
    if isinstance(there.dtype, pl.Enum | pl.Categorical) or here.dtype != there.dtype:
        here, there = here.cast(pl.String), there.cast(pl.String)
    counts = pl.concat(
        [
            pl.DataFrame({"value": there, "more": [1] * len(there)}),
            pl.DataFrame({"value": here, "more": [-1] * len(here)}),
        ]
    )
    return counts.group_by("value").agg(pl.col("more").sum()).filter(pl.col("more") > 0)


def _said(error: InfeasibleError, trials: Sequence[ProposalTrial]) -> InfeasibleError:
    """Compose the refusal."""
    works = [trial.words for trial in trials if trial.outcome == WORKS]
    ran = sum(trial.outcome != UNTRIED for trial in trials)
    named = any(one.words in (error.hint or "") for one in error.proposals)
    if not ran:
        hints = [f"{_UNTRIED}: {error.hint}" if error.hint else _UNTRIED]
        hints += [f"{one.setting}, {one.condition}" for one in error.proposals if one.condition]
        hint = ", or ".join(hints)
    elif works:
        hint = ", or ".join([*works, *([] if named or error.hint is None else [error.hint])])
    else:
        general = None if named else error.hint
        hint = general or "weaken several principles together, or publish other columns"
        hint += f"; {_nothing(trials, ran)}"
    unsafe = [trial for trial in trials if trial.outcome == UNSAFE]
    for trial in unsafe[:_NAMED]:
        hint += f"; not {trial.proposal.setting}: {trial.why}"
    if (more := len(unsafe) - _NAMED) > 0:
        hint += f"; {more} more {'is' if more == 1 else 'are'} not safe either"
    return InfeasibleError(
        error.what,
        hint=hint,
        outcome=error.outcome,
        witness=error.witness,
        fact=error.fact,
        proposals=error.proposals,
        tries=[trial.to_dict() for trial in trials],
    )


def _nothing(trials: Sequence[ProposalTrial], ran: int) -> str:
    """Return that nothing works, and what loses least of what is safe."""
    told = f"none of the {ran} settings that were tried is both useful and safe"
    if ran == 1:
        told = "the only setting that was tried is not both useful and safe"
    if left := len(trials) - ran:
        told += f", {left} more {'was' if left == 1 else 'were'} not tried"
    poor = [trial for trial in trials if trial.outcome == USELESS]
    if not poor:
        return told
    best = min(poor, key=lambda trial: trial.loss or 0.0)
    return f"{told} (best: {best.proposal.setting}, {_percent(best.loss)} loss)"


def _percent(share: float | None) -> str:
    return f"{share or 0:.2g}%" if (share or 0) < 10 else f"{share:.0f}%"
