"""Noise: rows whose columns have nothing to do with each other.

Values are shuffled within each column, which keeps the columns and destroys what they have in common. Structure of any
kind brings rows nearer to their neighbours than shuffled ones are:

    gain = d (mean log r of shuffled rows − mean log r)     r: distance to the 10th neighbour

is how much denser, in logarithms, neighbourhoods are. Columns are independent if the gain is below 0.1, or within three
standard deviations of what shuffled tables have among themselves.
"""

from dataclasses import dataclass

import numpy as np

from gramfold.diagnostics.shapes.cloud import euclidean
from gramfold.types import Floats

_ROWS = 600
_SHUFFLED = 10  # tables
_NEIGHBORS = 10
_LITTLE = 0.1
_SURE = 3.0


@dataclass(frozen=True, eq=False)
class Independence:
    """How far a table is from one with independent columns."""

    gain: float  # of the density around rows, in logarithms
    limit: float

    @property
    def holds(self) -> bool:
        """Whether nothing tells the columns from independent ones."""
        return self.gain < self.limit


def independence_of(table: Floats, dimension: float, random: np.random.Generator) -> Independence:
    """Of the columns of a table, or of its principal components."""
    if len(table) > _ROWS:
        table = table[random.choice(len(table), _ROWS, replace=False)]
    shuffled = np.array([_reach(random.permuted(table, axis=0)) for _ in range(_SHUFFLED)])
    gain = dimension * (float(shuffled.mean()) - _reach(table))
    return Independence(gain, max(_LITTLE, _SURE * dimension * float(shuffled.std(ddof=1))))


def _reach(table: Floats) -> float:
    """Mean logarithm of the distance to the tenth neighbour; copies are left out."""
    k = min(_NEIGHBORS, len(table) - 1)
    reach = np.partition(euclidean(table - table.mean(axis=0)), k, axis=1)[:, k]
    return float(np.log(reach[reach > 0]).mean()) if (reach > 0).any() else 0.0
