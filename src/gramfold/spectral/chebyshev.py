"""The smallest eigenpairs of a sparse penalty by matrix products only: Chebyshev-filtered subspace iteration.

On the interval [a, b] of unwanted eigenvalues the polynomial of degree m stays within ±1; at λ < a it is cosh(m·γ) with
cosh γ = 1 + 2(a − λ)/(b − a), by which each filtering amplifies the wanted directions. If the eigenvalues lie well
apart, a few filterings suffice. If they do not, γ gives the number that would be needed, and the iteration stops.
A block wider than the number wanted finds every copy of a repeated eigenvalue.
Zhou, Saad, Tiago, Chelikowsky, J. Comput. Phys. 219 (2006).
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from gramfold.direct.factor import COLUMNS
from gramfold.direct.permutation import permuted
from gramfold.errors import NotConvergedError
from gramfold.runtime.threads import blocks, run_blocks, thread_count
from gramfold.spectral.block_lanczos import first_block, whole_groups
from gramfold.spectral.downdated import Downdated
from gramfold.spectral.krylov import lanczos
from gramfold.spectral.pencil import one_norm
from gramfold.spectral.tall import off, orthonormal
from gramfold.types import Floats

_FIRST_DEGREE = 16  # while nothing is known of the eigenvalues
_MOST_DEGREE = 100
_FIRST_ROUNDS = 3
_LIFT = np.log(1e4)  # what one filtering should do for the last wanted eigenvector
_ROUGH, _SAFE = 1e-2, 1.05  # accuracy of the largest eigenvalue, and how far above it the interval ends


def chebyshev_eigenpairs(
    matrix: csr_array,
    null: Floats,
    count: int,
    tolerance: float,
    most_products: float = np.inf,
    start: Floats | None = None,
    outer: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Eigenpairs outside the null space, smallest first, with residuals of at most `tolerance` times the eigenvalue.

    With `outer` C (n, c) they are those of A − C Cᵀ (spectral/downdated.py).
    """
    n = matrix.shape[0]
    # neighbours near each other in memory make products several times as quick
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    matrix, null, start = permuted(matrix, order), null[order], None if start is None else start[order]
    whole = matrix if outer is None else Downdated(matrix, outer[order], null)
    largest = lanczos(lambda v: whole @ v, n, 1, tolerance=_ROUGH)[0][0]
    top = min(one_norm(whole), _SAFE * float(largest))
    values, block, _ = _ritz(whole, null, first_block(n, count, start, whole_groups(count)))
    used, rounds = 0, 0
    while True:
        cut, last = float(values[-1]), float(values[count - 1])
        rate = np.arccosh(1 + 2 * max(cut - last, 0.0) / (top - cut)) if cut < top else 0.0
        known = rounds >= _FIRST_ROUNDS and rate > 0
        degree = int(np.clip(_LIFT / rate, _FIRST_DEGREE, _MOST_DEGREE)) if known else _FIRST_DEGREE
        values, block, residuals = _ritz(whole, null, _filtered(whole, block, cut, top, degree))
        used, rounds = used + degree, rounds + 1
        worst = float((residuals[:count] / np.maximum(values[:count], np.finfo(np.float64).tiny)).max())
        if worst <= tolerance:
            vectors = np.empty((n, count))
            vectors[order] = block[:, :count]
            return values[:count], vectors
        needed = np.log(worst / tolerance) / rate if rate > 0 else np.inf
        if rounds > _FIRST_ROUNDS and used + needed > most_products:
            raise NotConvergedError(
                f"the Chebyshev filter left a residual of {worst:.1e} after {used} matrix products and would need "
                f"{needed:.0f} more, because the eigenvalues lie too close together: use fewer components."
            )


def _filtered(matrix: csr_array | Downdated, block: Floats, low: float, high: float, degree: int) -> Floats:
    """T_degree((A − middle) / half) V for the interval [low, high]."""
    from gramfold.spectral.chebyshev_kernels import step

    assert block.shape[1] % COLUMNS == 0  # as the kernel takes them
    middle, half = (high + low) / 2, (high - low) / 2
    parts = blocks(len(block), -(-len(block) // (2 * thread_count(None))))
    if not isinstance(matrix, Downdated):
        sparse, left, right = matrix, None, None
    else:
        # 0 may lie far below the other eigenvalues, and the filter would enlarge what rounding leaves of the null
        # vectors beyond all others: they are moved to the middle of the unwanted ones
        sparse, outer = matrix.sparse, matrix.outer
        null = np.empty((len(block), 0)) if matrix.null is None else matrix.null
        left, right = np.hstack([outer, -middle * null]), np.hstack([outer, null])

    def next_of(now: Floats, before: Floats, scale: float) -> Floats:
        out = np.empty_like(now)

        def work(part: slice) -> None:
            step(sparse.indptr, sparse.indices, sparse.data, now, before, scale, middle, part.start, part.stop, out)

        run_blocks(work, parts)
        if left is not None and right is not None:
            out -= scale * (left @ (right.T @ now))
        return out

    before, now = block, next_of(block, np.zeros_like(block), 1 / half)
    for _ in range(degree - 1):
        before, now = now, next_of(now, before, 2 / half)
    return now


def _ritz(matrix: csr_array | Downdated, null: Floats, block: Floats) -> tuple[Floats, Floats, Floats]:
    """Ritz pairs in the span of these vectors outside the null space, smallest first, and their residuals."""
    for _ in range(2):
        block = orthonormal(off(null, block))[0]
    image = matrix @ block
    values, rotation = np.linalg.eigh(block.T @ image)
    block = block @ rotation
    return values, block, np.linalg.norm(image @ rotation - block * values, axis=0)
