"""Products of tall blocks (n, few), some rows at a time: what is made of these rows is used while it is in the cache.

Sums over the rows are taken slice by slice in one order, so that they do not depend on the number of threads.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import Floats

_ROWS = 16_384  # at a time: two megabytes of sixteen columns
_WIDE = 16  # columns
_WELL_APART = 1e-8  # squared lengths of columns whose Gram matrix still tells them apart

Result = TypeVar("Result")


def inner(basis: Sequence[Floats], block: Floats) -> Floats:
    """BᵀV (p, w) for a basis B that is given in blocks."""
    parts = _by_rows(len(block), lambda rows: np.vstack([one[rows].T @ block[rows] for one in basis]))
    return np.asarray(sum(parts))


def combined(basis: Sequence[Floats], coefficients: Floats) -> Floats:
    """B C (n, w)."""
    return _filled(basis, coefficients, lambda _, found: found)


def minus(block: Floats, basis: Sequence[Floats], coefficients: Floats) -> Floats:
    """V − B C."""
    return _filled(basis, coefficients, lambda rows, found: np.subtract(block[rows], found, out=found))


def joined(basis: list[Floats]) -> list[Floats]:
    """The same basis in fewer blocks: products with very few columns are slow."""
    while len(basis) > 1 and basis[-2].shape[1] <= basis[-1].shape[1] < _WIDE:
        basis = [*basis[:-2], np.hstack(basis[-2:])]
    return basis


def off(basis: Floats, vectors: Floats) -> Floats:
    """The part of the vectors that is orthogonal to an orthonormal basis."""
    return minus(vectors, [basis], inner([basis], vectors)) if basis.shape[1] else vectors


def orthonormal(block: Floats) -> tuple[Floats, Floats]:
    """Q with orthonormal columns and R, block = Q R."""
    # from the Gram matrix of the columns, which reads a tall block twice, where that is accurate enough
    squares, axes = np.linalg.eigh(inner([block], block))
    if squares.size and squares[0] > _WELL_APART * squares[-1]:
        lengths = np.sqrt(squares)
        return combined([block], axes / lengths), lengths[:, None] * axes.T
    q, r = np.linalg.qr(block)
    return q, r


def _filled(basis: Sequence[Floats], coefficients: Floats, finish: Callable[[slice, Floats], Floats]) -> Floats:
    shares = np.split(coefficients, np.cumsum([one.shape[1] for one in basis])[:-1])
    out = np.empty((len(basis[0]), coefficients.shape[1]))

    def work(rows: slice) -> None:
        found = basis[0][rows] @ shares[0]
        for one, share in zip(basis[1:], shares[1:], strict=True):
            found += one[rows] @ share
        out[rows] = finish(rows, found)

    _by_rows(len(out), work)
    return out


def _by_rows(n: int, work: Callable[[slice], Result]) -> list[Result]:
    parts = blocks(n, _ROWS)
    if len(parts) == 1:
        return [work(parts[0])]
    with one_blas_thread():  # the pool's threads are enough
        return run_blocks(work, parts)
