"""Rows that a model of landmarks holds: the landmarks and a sample; of the others it knows how far out they are."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from gramfold.distributed.partitions import Partitions
from gramfold.embedding.model import Drawn, Model
from gramfold.extension.extrapolation import Ball
from gramfold.kernels.landmarks import random_rows
from gramfold.runtime.memory import require_room
from gramfold.types import Floats, Integers

_AS_IN_MEMORY = 50_000_000  # rows: drawing among more of them as NumPy does would take more than 400 MB
_HASH_BYTES = 40  # of each row: its hash, and what sorting takes
# of splitmix64: Steele, Lea, Flood, OOPSLA 2014
_MIXING = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_STEP = np.uint64(0x9E3779B97F4A7C15)


def random_numbers(rows: Partitions, count: int, rng: np.random.RandomState, among: Integers | None = None) -> Integers:
    """Those of `count` rows drawn at random, ascending: the same that are drawn from a table in memory."""
    if among is not None:
        return np.asarray(among[random_rows(len(among), count, rng)])
    n = rows.n_rows
    return random_rows(n, count, rng) if n <= _AS_IN_MEMORY else rows.drawn(count, rng)


def distinct_numbers(rows: Partitions) -> Integers | None:
    """The first of identical rows, by their hashes in one pass; None where all differ, or are too many to compare."""
    n = rows.n_rows
    if n > _AS_IN_MEMORY:
        return None
    require_room(
        float(_HASH_BYTES * n),
        f"the search for copies among {n:,} rows",
        "pass the row indices of the landmarks, which need no search",
    )
    hashes = np.concatenate([one for one in rows.each("copies", row_hashes) if one is not None])
    _, first = np.unique(hashes, return_index=True)
    return None if len(first) == n else np.sort(first)


def row_hashes(rows: Floats) -> Integers:
    """An integer (m,) of 64 mixed bits for each row: equal for equal rows, and for others about never."""
    found = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        found ^= (column.astype(np.float64) + 0.0).view(np.uint64)  # −0 is 0
        for shift, factor in _MIXING:
            found ^= found >> shift
            found *= factor
        found ^= found >> np.uint64(31)
        found += _STEP  # 0 does not stay 0
    return found


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Some rows, and the ball about all."""

    n_rows: int  # in all partitions
    numbers: Integers  # (m,) counted through all partitions, ascending
    table: Floats  # (m, d)
    ball: Ball  # in the user's unit

    @classmethod
    def of(cls, rows: Partitions, numbers: Integers) -> Self:
        """The rows of these numbers, in one pass after that of the moments."""
        middle = rows.moments.mean
        seen = rows.each("rows", _seen, middle, own=rows.places_of(numbers))
        found = [one for one in seen if one is not None]
        ball = Ball(middle, max(one.radius for one in found))
        return cls(rows.n_rows, numbers, rows.joined([one.picked for one in found]), ball)

    def with_rows(self, numbers: Integers, rows: Floats) -> Self:
        """With more rows, of these numbers, some of which it may hold already."""
        together, first = np.unique(np.concatenate([self.numbers, numbers]), return_index=True)
        return replace(self, numbers=together, table=np.concatenate([self.table, rows])[first])

    def only(self, numbers: Integers) -> Self:
        """Those of these ascending numbers alone."""
        return replace(self, numbers=numbers, table=self.table[self.at(numbers)])

    def at(self, numbers: Integers) -> Integers:
        """Where rows that it holds are in the table."""
        return np.searchsorted(self.numbers, numbers)

    def held_by(self, model: Model) -> Model:
        """The model of the table, which knows the ball about all rows and which of them it holds."""
        source: Any = model.source
        ball = Ball(source.unit.inward(self.ball.middle), float(source.unit.inward(np.float64(self.ball.radius))))
        return replace(model, source=replace(source, ball=ball), drawn=Drawn(self.n_rows, self.numbers))


@dataclass(frozen=True, eq=False)
class _Seen:
    """Of one partition."""

    picked: Floats
    radius: float


def _seen(rows: Floats, middle: Floats, inside: Integers) -> _Seen:
    with np.errstate(over="ignore"):  # a ball without end, where squares overflow
        return _Seen(rows[inside], Ball.of(rows, middle).radius)
