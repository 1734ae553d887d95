"""Products of tall blocks (n, few), some rows at a time, so that these stay in the cache.

Sums over the rows are taken slice by slice in a fixed order, so that they do not depend on the number of threads.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import Floats

_ROWS = 16_384  # at a time: two megabytes of sixteen columns
_WIDE = 16  # columns
_WELL_APART = 1e-8  # squared lengths of columns that their Gram matrix still resolves

Result = TypeVar("Result")


class GrowingBasis:
    """Blocks of columns stored in a few wide arrays, since products with very few columns are slow."""

    def __init__(self, block: Floats) -> None:
        self._room: list[Floats] = []
        self._free = 0  # columns of the last array
        self.add(block)

    def add(self, block: Floats) -> None:
        """Append a block with as many columns as the first."""
        n, width = block.shape
        if not self._free:
            self._free = max(1, _WIDE // width) * width
            self._room.append(np.empty((n, self._free)))
        place = self._room[-1][:, self._room[-1].shape[1] - self._free :][:, :width]
        _by_rows(n, lambda rows: np.copyto(place[rows], block[rows]))
        self._free -= width

    @property
    def blocks(self) -> list[Floats]:
        """All columns, in their order."""
        return [*self._room[:-1], self._room[-1][:, : self._room[-1].shape[1] - self._free]]


def inner(basis: Sequence[Floats], block: Floats) -> Floats:
    """BᵀV (p, w) for a basis B that is given in blocks."""
    if len(block) <= _ROWS:
        return basis[0].T @ block if len(basis) == 1 else np.concatenate([one.T @ block for one in basis])
    parts = _by_rows(len(block), lambda rows: np.concatenate([one[rows].T @ block[rows] for one in basis]))
    return np.asarray(sum(parts))


def combined(basis: Sequence[Floats], coefficients: Floats, out: Floats | None = None) -> Floats:
    """B C (n, w), in `out` if given, which may be the only block of B."""
    return _filled(basis, coefficients, lambda _, found: found, out)


def minus(block: Floats, basis: Sequence[Floats], coefficients: Floats, out: Floats | None = None) -> Floats:
    """V − B C, in `out` if given, which may be V."""
    return _filled(basis, coefficients, lambda rows, found: np.subtract(block[rows], found, out=found), out)


def off(basis: Floats, vectors: Floats, out: Floats | None = None) -> Floats:
    """The part of the vectors orthogonal to an orthonormal basis, in `out` if given, which may be the vectors."""
    return minus(vectors, [basis], inner([basis], vectors), out) if basis.shape[1] else vectors


def orthonormal(block: Floats, out: Floats | None = None) -> tuple[Floats, Floats]:
    """Q with orthonormal columns, in `out` if given, which may be the block, and R, block = Q R."""
    # from the Gram matrix of the columns, which reads a tall block twice, where that is accurate enough
    squares, axes = np.linalg.eigh(inner([block], block))
    if squares.size and squares[0] > _WELL_APART * squares[-1]:
        lengths = np.sqrt(squares)
        return combined([block], axes / lengths, out), lengths[:, None] * axes.T
    q, r = np.linalg.qr(block)
    return q, r


def _filled(
    basis: Sequence[Floats],
    coefficients: Floats,
    finish: Callable[[slice, Floats], Floats],
    out: Floats | None,
) -> Floats:
    n = len(basis[0])

    def work(rows: slice) -> Floats:
        first = basis[0].shape[1]
        found = basis[0][rows] @ coefficients[:first]
        for one in basis[1:]:
            found += one[rows] @ coefficients[first : first + one.shape[1]]
            first += one.shape[1]
        return finish(rows, found)

    if out is None and n <= _ROWS:
        return work(slice(0, n))
    filled = np.empty((n, coefficients.shape[1])) if out is None else out

    def write(rows: slice) -> None:
        filled[rows] = work(rows)

    _by_rows(n, write)
    return filled


def _by_rows(n: int, work: Callable[[slice], Result]) -> list[Result]:
    if n <= _ROWS:
        return [work(slice(0, n))]
    with one_blas_thread():  # the pool's threads are enough
        return run_blocks(work, blocks(n, _ROWS))
