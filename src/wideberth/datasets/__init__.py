"""Tables to try things on: those printed in the papers, and those of made-up people.

>>> from wideberth import datasets
>>> datasets.li2008_table1a().shape, datasets.census(1000).width, datasets.sal(1000).width
((8, 3), 7, 4)
"""

from wideberth.datasets.adults import adults
from wideberth.datasets.incomes import orders, sal
from wideberth.datasets.papers import (
    li2008_table1a,
    li2008_table1b,
    machanavajjhala2006_figure1,
    machanavajjhala2006_figure2,
    machanavajjhala2006_figure3,
    wang2009_table1,
    wang2013_figure1,
    wang2013_table1,
    wang2013_table2,
    wang2013_table3,
    wang2013_table4,
    wang2013_table5,
    zaremirakabad2012_figure1,
    zaremirakabad2012_figure2,
)
from wideberth.datasets.patients import patients
from wideberth.datasets.proximate import addresses, measurements, notes, symptoms
from wideberth.datasets.residents import census

__all__ = [
    "addresses",
    "adults",
    "census",
    "li2008_table1a",
    "li2008_table1b",
    "machanavajjhala2006_figure1",
    "machanavajjhala2006_figure2",
    "machanavajjhala2006_figure3",
    "measurements",
    "notes",
    "orders",
    "patients",
    "sal",
    "symptoms",
    "wang2009_table1",
    "wang2013_figure1",
    "wang2013_table1",
    "wang2013_table2",
    "wang2013_table3",
    "wang2013_table4",
    "wang2013_table5",
    "zaremirakabad2012_figure1",
    "zaremirakabad2012_figure2",
]
