"""Measuring several releases of one table with the same reach, so that they can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wideberth import io
from wideberth.core.progress import Progress
from wideberth.policy.policy import Policy
from wideberth.risk.audit import audit


def weigh_task(
    *,
    path: str,
    runs: Sequence[Mapping[str, Any]],
    reaches: Mapping[str, str],
    tell: Progress,
) -> dict[str, Any]:
    """Return the worst chance to guess a value to within a reach, for each of some releases."""
    # Each run has its number ("run"), the file or folder of its "release", its policy ("content",
    # "folder") and the column of group ids ("group"). A reach is text: "5600", or "10%".
    near = {on: text if text.endswith("%") else float(text) for on, text in reaches.items()}
    found: dict[str, dict[str, float]] = {}
    for at, run in enumerate(runs):
        tell("measuring", at, len(runs))
        policy = Policy.of(run["content"], folder=Path(run["folder"]))
        told = audit(
            Path(run["release"]),
            original=io.read(path, policy.options),
            policy=policy,
            group=run["group"],
            epsilon=near,
            swaps=False,
        ).to_dict()
        found[str(run["run"])] = {
            one["on"]: max(
                faced["nearness"]["risk"]["worst"]
                for faced in (one["known"], one.get("covering"))
                if faced
            )
            for one in told["attributes"]
            if one["on"] in reaches
        }
    return {"runs": found}
