"""Block Lanczos with full reorthogonalisation: a matrix too large for the cache is read once for several vectors.

Golub, Underwood, The block Lanczos method (1977). A block wider than the number wanted also finds every copy of a
repeated eigenvalue.
"""

from collections.abc import Callable

import numpy as np

from gramfold.errors import NotConvergedError
from gramfold.types import Floats

_SEED = 20000812  # the start changes no result beyond its residual; a fixed one makes runs repeatable
_SPARE = 6  # vectors in a block beyond the number wanted
_MOST_BLOCKS = 24
_TOLERANCE = 1e-13  # of a residual, relative to the largest eigenvalue
_STALLED = 1e3  # times what is allowed: from there on rounding may be all that is left ...
_NO_HELP = 0.5  # ... and is, where a block leaves more than this share of the residual
_ROUGH = 1e-4  # the same for the lowest eigenvalue, which is only reported


def block_lanczos(
    product: Callable[[Floats], Floats],
    n: int,
    count: int,
    *,
    relative: float = 0.0,
    lowest: bool = True,
    start: Floats | None = None,
) -> tuple[Floats, Floats, float]:
    """The largest eigenpairs of a symmetric operator, descending, and roughly its lowest eigenvalue (at most 0).

    Residuals are judged beside the largest eigenvalue, or beside `relative` times their own if that is more;
    `lowest=False` asks nothing of the lowest; `start` (n, ·) are vectors near the wanted ones.
    """
    block = np.linalg.qr(first_block(n, count, start))[0]
    basis, images = block, product(block)
    best = np.inf
    for _ in range(_MOST_BLOCKS):
        values, rotation = np.linalg.eigh(_symmetric(basis.T @ images))
        chosen = np.r_[len(values) - 1 : len(values) - 1 - count : -1, 0]  # the largest, and the lowest
        vectors = basis @ rotation[:, chosen]
        misfit = np.linalg.norm(images @ rotation[:, chosen] - vectors * values[chosen], axis=0)
        top = float(np.abs(values).max()) or 1.0
        allowed = np.maximum(_TOLERANCE * top, relative * np.abs(values[chosen[:-1]]))
        worst = float((misfit[:-1] / allowed).max())
        # rounding ends the descent: a further block that does not help is the last
        stalled = worst <= _STALLED and worst > _NO_HELP * best
        settled = worst <= 1 or stalled or basis.shape[1] == n
        if settled and (misfit[-1] <= _ROUGH * top or not lowest or basis.shape[1] == n):
            return values[chosen[:-1]], vectors[:, :-1], min(float(values[0]), 0.0)
        best = min(best, worst)
        block = images[:, -block.shape[1] :][:, : n - basis.shape[1]]
        # Normalised in between: where the operator leads nowhere new, only rounding is left of a column, and the next
        # round makes a fresh direction of it.
        for _ in range(3):
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        basis, images = np.hstack([basis, block]), np.hstack([images, product(block)])
    raise NotConvergedError(
        f"block Lanczos left a residual of {misfit[:-1].max() / top:.1e} of the largest eigenvalue after {_MOST_BLOCKS} "
        "blocks: the eigenvalues lie close together."
    )


def first_block(n: int, count: int, start: Floats | None = None) -> Floats:
    """Vectors (n, p) to begin with, a few more than are wanted: the given ones, then random ones."""
    width = min(n, count + _SPARE)
    block = np.random.default_rng(_SEED).standard_normal((n, width))
    if start is not None:
        given = start[:, :width]
        block[:, : given.shape[1]] = given
    return block


def _symmetric(matrix: Floats) -> Floats:
    return 0.5 * (matrix + matrix.T)
