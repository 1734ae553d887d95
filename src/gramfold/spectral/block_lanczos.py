"""Block Lanczos with full reorthogonalisation, which reads a large matrix once for several vectors.

Golub, Underwood, The block Lanczos method (1977). A block wider than the number wanted also finds every copy of a
repeated eigenvalue.
"""

from collections.abc import Callable

import numpy as np

from gramfold.direct.factor import COLUMNS
from gramfold.errors import NotConvergedError
from gramfold.runtime.progress import beats
from gramfold.spectral.tall import GrowingBasis, combined, inner, minus, orthonormal
from gramfold.types import Floats

_SEED = 20000812  # the start changes no result beyond its residual; a fixed one makes runs repeatable
_SPARE = 6  # vectors in a block beyond the number wanted, where nothing else is said
_MOST_BLOCKS = 24
_TOLERANCE = 1e-13  # of a residual, relative to the largest eigenvalue
_STALLED = 1e-10  # from there on rounding may be all that is left
_NOTHING_LOST = 1e-2  # by which a block of unit columns may shrink when a basis is taken out


def block_lanczos(
    product: Callable[[Floats], Floats],
    n: int,
    count: int,
    *,
    relative: float = 0.0,
    start: Floats | None = None,
    spare: int = _SPARE,
    restarts: int = 0,
) -> tuple[Floats, Floats, float]:
    """The largest eigenpairs of a symmetric operator, descending, and about its norm.

    Residuals are relative to the norm, or to `relative` times their own eigenvalue if that is more; `start` (n, ·) are
    vectors near the wanted ones; a block has `spare` more vectors than are wanted. After some blocks the basis is
    replaced by its best vectors, at most `restarts` times.
    """
    start = first_block(n, count, start, spare)
    width = start.shape[1]
    for _ in range(restarts + 1):
        newest = orthonormal(start)[0]
        grown = GrowingBasis(newest)
        most = min(_MOST_BLOCKS, n // width)
        whole = np.empty((most * width, most * width))
        best = np.inf
        for number in beats(range(1, most + 1)):
            basis, image = grown.blocks, product(newest)
            column = inner(basis, image)  # (p, w)
            projected = whole[: number * width, : number * width]  # the operator within the basis
            projected[:, -width:] = column
            projected[-width:] = column.T
            values, rotation = np.linalg.eigh(projected)
            # What the newest image has beyond the basis is where the operator leads out of it: image = basis · column +
            # block · rest, so that a Ritz vector has the residual |rest · its part on the newest block|.
            block, rest = _orthogonal(image, basis, column)
            chosen = np.arange(len(values) - 1, len(values) - 1 - count, -1)  # the largest
            misfit = np.linalg.norm(rest @ rotation[-width:, chosen], axis=0)
            top = float(np.abs(values).max()) or 1.0
            worst = float(misfit.max()) / top
            settled = (misfit <= np.maximum(_TOLERANCE * top, relative * np.abs(values[chosen]))).all()
            # rounding ends the descent: a further block that does not help is the last
            if settled or (worst <= _STALLED and worst > 0.5 * best):
                return values[chosen], combined(basis, rotation[:, chosen]), top
            best = min(best, worst)
            newest = block
            grown.add(newest)
        start = combined(basis, rotation[:, -width:])
    raise NotConvergedError(
        f"block Lanczos left a residual of {worst:.1e}, relative to the largest eigenvalue, after {_MOST_BLOCKS} "
        "blocks, because the eigenvalues lie too close together: use fewer components."
    )


def whole_groups(count: int, least: int = _SPARE) -> int:
    """Number of spare vectors, at least `least`, that makes the block a multiple of what compiled kernels process."""
    return least + -(count + least) % COLUMNS


def first_block(n: int, count: int, start: Floats | None = None, spare: int = _SPARE) -> Floats:
    """Start vectors (n, p), a few more than are wanted: the given ones, then random ones."""
    width = min(n, count + spare)
    block = np.random.default_rng(_SEED).standard_normal((n, width))
    if start is not None:
        given = start[:, :width]
        block[:, : given.shape[1]] = given
    return block


def _orthogonal(image: Floats, basis: list[Floats], along: Floats) -> tuple[Floats, Floats]:
    """Orthonormal basis of the part of the image that is orthogonal to the basis, and the coefficients of that part.

    `along` are the coefficients of the image in the basis; the image is overwritten. The rest is normalised and
    orthogonalised again: where the image is within the basis only rounding is left of a column, and the next round
    makes a new direction of it.
    """
    block, rest = orthonormal(minus(image, basis, along, out=image), out=image)
    for _ in range(2):
        block, factor = orthonormal(minus(block, basis, inner(basis, block), out=block), out=block)
        rest = factor @ rest
        if np.linalg.norm(factor.T @ factor - np.eye(len(factor))) < _NOTHING_LOST:
            break  # it was orthonormal and beyond the basis already
    return block, rest
