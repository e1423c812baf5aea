"""What an engine offers: the few questions that a pipeline asks of a table held elsewhere.

An engine holds the rows. It is given the work on a part (`BoundRequest.finish`,
`LabelTable.publish`) and never imports it, so engines stand below release and checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.progress import Progress
from wideberth.engines.split.growth import SplitTree
from wideberth.engines.split.scan import Scan, ScanCounts
from wideberth.policy.people import People
from wideberth.policy.strays import NonPersonRows
from wideberth.principles.counts import DistinctCounts

if TYPE_CHECKING:
    from wideberth.release.parts import BoundRequest, LabelTable


class Engine(Protocol):
    """What holds the rows of a table."""

    name: str

    def digest(self, columns: tuple[str, ...]) -> DistinctCounts:
        """Return the distinct values of columns, counted."""
        ...

    def people(self, **person: Sequence[str]) -> People | None:
        """Return the identifier that repeats; `person` says where to look for it."""
        ...

    def strays(self) -> NonPersonRows:
        """Return the rows that are no people."""
        ...

    def encode(self, job: BoundRequest) -> None:
        """Give rows the codes that the job speaks of; from now on only these are looked at."""
        ...

    def look(self, scan: Scan) -> ScanCounts:
        """Look at all rows once."""
        ...

    def finish(
        self, job: BoundRequest, tree: SplitTree, columns: Sequence[str], progress: Progress | None
    ) -> list[Mapping[str, Any]]:
        """Finish all leaves of a tree, keep the columns to publish, and return their figures."""
        ...

    def tuples(self, job: BoundRequest) -> tuple[list[Codes], Ints]:
        """Return the distinct tuples of the job's codes, and how many rows hold each."""
        ...

    def publish(
        self,
        job: BoundRequest,
        labels: LabelTable,
        at_a_time: int,
        columns: Sequence[str],
        progress: Progress | None,
    ) -> int:
        """Publish all rows that have labels, keep the columns, and return how many rows."""
        ...
