"""Farthest-point sampling of rows in partitions, in few passes over them and to the last row as in memory.

    guess   the landmarks of the rows that are known: a sample, and whoever was found in an earlier pass
    pass    the row of each partition that is farthest from the mean, from the first guess, from the first two …
    done    where these are the rows that were guessed; else they are known, too

The first wrong guess is right in the next pass, and those after it mostly are, since they are farthest from the same
places: 100 landmarks of 100,000 rows took 6 to 10 passes (a roll, a cube, a Gaussian cloud of ten dimensions), where
one landmark for each pass takes 100.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from gramfold.distributed.landmarks import HeldRows
from gramfold.distributed.partitions import Partitions
from gramfold.kernels.distances import Distances
from gramfold.kernels.landmarks import max_min
from gramfold.types import Floats, Integers

_KNOWN_EACH = (
    16  # rows that a pass finds for each landmark: the farthest, and others in case that one before it changes
)


@dataclass(frozen=True, eq=False)
class Farthest:
    """Of some rows those that are farthest from the middle, from one landmark, from two …, from all but the last."""

    distances: Floats  # (count, k), descending
    numbers: Integers  # (count, k)
    rows: Floats  # (count, k, d)

    def beside(self, others: Self) -> Self:
        """Of these and of others: at a tie the lower number comes first."""
        distances = np.hstack([self.distances, others.distances])
        numbers = np.hstack([self.numbers, others.numbers])
        order = np.lexsort((numbers, -distances), axis=1)[:, :_KNOWN_EACH]
        step = np.arange(len(order))[:, None]
        rows = np.hstack([self.rows, others.rows])[step, order]
        return replace(self, distances=distances[step, order], numbers=numbers[step, order], rows=rows)


def farthest_rows(rows: Partitions, known: HeldRows, count: int, distances: Distances) -> tuple[HeldRows, Integers]:
    """The landmarks, in the order in which they are chosen; and with them all rows that are known in the end."""
    middle = distances.unit.inward(rows.moments.mean)[None]
    with rows.kept() as held:
        while True:
            table = distances.unit.inward(known.table)
            start = distances.outermost(table, middle)
            guess = max_min(partial(distances.row, table), len(table), count, start)
            if len(known.numbers) == known.n_rows:
                return known, known.numbers[guess]
            found: Farthest = held.total(
                "landmarks", _farthest, Farthest.beside, distances, middle, table[guess], own=rows.starts.tolist()
            )
            if np.array_equal(found.numbers[:, 0], known.numbers[guess]):
                return known, known.numbers[guess]
            known = known.with_rows(found.numbers.ravel(), found.rows.reshape(-1, rows.width))


def _farthest(rows: Floats, distances: Distances, middle: Floats, guess: Floats, start: int) -> Farthest:
    """Of one partition."""
    inside = distances.unit.inward(rows)
    away, first = distances.between(middle, inside), np.empty(len(guess), dtype=np.intp)
    farthest = np.empty(len(guess))
    for step, landmark in enumerate(guess[:, None]):
        first[step] = np.argmax(away)
        farthest[step] = away[first[step]]
        fresh = distances.between(landmark, inside)
        away = fresh if step == 0 else np.minimum(away, fresh, out=away)
    return Farthest(farthest[:, None], (start + first)[:, None], rows[first][:, None])
