"""How a table is partitioned into groups that satisfy its principles."""

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.splitting import Split, split

__all__ = ["Demand", "Split", "split"]
