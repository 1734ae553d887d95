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
_ROUGH = 1e-4  # the same for the lowest eigenvalue, which is only reported


def block_lanczos(product: Callable[[Floats], Floats], n: int, count: int) -> tuple[Floats, Floats, float]:
    """The largest eigenpairs of a symmetric operator, descending, and roughly its lowest eigenvalue (at most 0)."""
    block = np.linalg.qr(np.random.default_rng(_SEED).standard_normal((n, count + _SPARE)))[0]
    basis, images = block, product(block)
    best = np.inf
    for _ in range(_MOST_BLOCKS):
        values, rotation = np.linalg.eigh(_symmetric(basis.T @ images))
        chosen = np.r_[len(values) - 1 : len(values) - 1 - count : -1, 0]  # the largest, and the lowest
        vectors = basis @ rotation[:, chosen]
        misfit = np.linalg.norm(images @ rotation[:, chosen] - vectors * values[chosen], axis=0)
        top = float(np.abs(values).max()) or 1.0
        worst = float(misfit[:-1].max()) / top
        # rounding ends the descent: a further block that does not help is the last
        if misfit[-1] <= _ROUGH * top and (worst <= _TOLERANCE or (worst <= 1e-10 and worst > 0.5 * best)):
            return values[chosen[:-1]], vectors[:, :-1], min(float(values[0]), 0.0)
        best = min(best, worst)
        block = images[:, -block.shape[1] :]
        # Normalised in between: where the operator leads nowhere new, only rounding is left of a column, and the next
        # round makes a fresh direction of it.
        for _ in range(3):
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        basis, images = np.hstack([basis, block]), np.hstack([images, product(block)])
    raise NotConvergedError(
        f"block Lanczos left a residual of {worst:.1e} of the largest eigenvalue after {_MOST_BLOCKS} blocks: the "
        "eigenvalues lie close together."
    )


def _symmetric(matrix: Floats) -> Floats:
    return 0.5 * (matrix + matrix.T)
