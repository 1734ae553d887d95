"""Rows in partitions: what a fit may ask of a table that no single process need hold.

    each     work(rows, *shared) on every partition, wherever it is; the results in the order of the partitions
    total    the same, merged by a tree over that order: a sum does not depend on who was ready first
    take     single rows by their numbers, counted through all partitions
    kept     the same rows, held where they are: for what passes over them many times

Dask (dask_rows.py) and files or arrays on disk (batches.py) answer these four, and nothing else is asked.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from gramfold.distributed.blocks import BlockReader
from gramfold.distributed.moments import Moments, merged, moments_of
from gramfold.errors import InputError
from gramfold.runtime.cached import cached_property
from gramfold.runtime.memory import require_room
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import Floats, Integers

Work = Callable[..., Any]
_SQUARES = 4  # matrices of columns × columns at once


class Partitions(ABC):
    """See the module. A partition without rows is asked nothing, and its result is None."""

    in_partitions = True  # what a fit asks of every X (neighbors/partitioned.py)
    lazy = False  # whether nothing of their places is computed before it is asked for
    reader: BlockReader
    stages: Stages = SILENT  # who is told of the work under way

    def read_for(self, stages: Stages, *, gaps: bool) -> Self:
        """The same rows for one fit: who is told of its work, and whether its method reads missing values."""
        rows = copy(self)
        rows.stages, rows.reader = stages, replace(self.reader, gaps=gaps)
        return rows

    @abstractmethod
    def __len__(self) -> int:
        """How many partitions there are."""

    @abstractmethod
    def each(self, name: str, work: Work, *shared: Any, own: Sequence[Any] | None = None) -> list[Any]:
        """work(rows, *shared) of every partition, or work(rows, *shared, own[i]); `name` is shown while it runs."""

    @abstractmethod
    def total(
        self,
        name: str,
        work: Work,
        merge: Callable[[Any, Any], Any],
        *shared: Any,
        own: Sequence[Any] | None = None,
    ) -> Any:
        """The same results merged, two neighbours at a time; None where there are no rows."""

    @contextmanager
    def kept(self) -> Iterator["Partitions"]:
        """The same rows in memory, for the length of the block, where there is room."""
        yield self

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self.reader.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """That rows are read in."""
        return self.reader.dtype

    @cached_property
    def sizes(self) -> Integers:
        """Rows of each partition."""
        return np.array([0 if size is None else size for size in self.each("count", len)], dtype=np.intp)

    @property
    def n_rows(self) -> int:
        """In all partitions."""
        return int(self.sizes.sum())

    @cached_property
    def moments(self) -> Moments:
        """Mean and scatter of all rows, in one pass."""
        what = f"the scatter of {self.width:,} columns, with its eigenvectors,"
        require_room(8.0 * _SQUARES * self.width**2, what, "leave out columns, or fit to a sample of rows in memory")
        found: Moments | None = self.total("moments", moments_of, merged, own=range(len(self)))
        if found is None:
            raise InputError("the partitions of X hold no rows: check what was selected.")
        self.sizes = np.array([found.sizes.get(number, 0) for number in range(len(self))], dtype=np.intp)
        return found

    @property
    def starts(self) -> Integers:
        """The number of the first row of each partition."""
        return np.cumsum(self.sizes) - self.sizes

    def places_of(self, numbers: Integers) -> list[Integers]:
        """Where in each partition the rows of these ascending numbers are."""
        cuts = np.searchsorted(numbers, np.append(self.starts, self.n_rows))
        return [numbers[a:b] - start for a, b, start in zip(cuts[:-1], cuts[1:], self.starts, strict=True)]

    def take(self, numbers: Integers) -> Floats:
        """The rows of these ascending numbers, (m, d)."""
        return self.joined(self.each("rows", picked, own=self.places_of(numbers)))

    def joined(self, found: Sequence[Any]) -> Floats:
        """Rows of the partitions, one below the other."""
        return np.vstack([np.empty((0, self.width), self.dtype), *(one for one in found if one is not None)])

    def drawn(self, count: int, rng: np.random.RandomState) -> Integers:
        """The numbers of `count` different rows drawn at random, ascending; of all rows if there are fewer."""
        n = self.n_rows
        return np.arange(n) if count >= n else np.sort(distinct_draws(n, count, rng))

    def sample(self, count: int, rng: np.random.RandomState) -> tuple[Integers, Floats]:
        """The same with the rows."""
        chosen = self.drawn(count, rng)
        return chosen, self.take(chosen)


def distinct_draws(n: int, count: int, rng: np.random.RandomState) -> Integers:
    """`count` different numbers below n, in time and memory that do not grow with n; count is at most half of n."""
    if 2 * count > n:
        return np.asarray(rng.choice(n, count, replace=False))
    drawn = np.empty(0, dtype=np.intp)
    while len(drawn) < count:
        fresh = rng.randint(0, n, size=count - len(drawn), dtype=np.int64)
        together = np.concatenate([drawn, fresh])
        _, first = np.unique(together, return_index=True)
        drawn = together[np.sort(first)]
    return drawn


def picked(rows: Floats, inside: Integers) -> Floats:
    """Some rows of a partition."""
    return rows[inside]
