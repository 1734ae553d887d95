"""The smallest eigenpairs of A = SᵀS through one sparse factorisation of S itself.

S (n, n) is far sparser than A, so is its LU, and its singular values σ are the roots of A's eigenvalues: an eigenvalue
of 1e-14 ‖A‖, lost in the rounding of A, is a σ of 1e-7 ‖S‖. S has null vectors on both sides, S Z = 0 (known) and
Lᵀ S = 0 (found from the factor); between their complements it is invertible:

    A† b = P_Z S⁻¹ P_L S⁻ᵀ P_Z b
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.sparse import csr_array, eye_array

from gramfold.direct.superlu import OrderedLU
from gramfold.errors import NotConvergedError, SingularFactorError
from gramfold.runtime.threads import one_blas_thread
from gramfold.spectral.krylov import largest_eigenpairs
from gramfold.spectral.pencil import one_norm
from gramfold.spectral.tall import off
from gramfold.types import Floats, Integers

Solve = Callable[[Floats], Floats]

# Added to the diagonal, relative to ‖S‖: keeps the last pivot from being 0; refined away at the end.
_SHIFT = 4 * float(np.finfo(np.float64).eps)
# A pivot off the diagonal is taken where the diagonal is this much smaller.
_PIVOT = 0.1
# Eigenvalues of A† below this share of the largest are lost in its rounding and are computed again without it.
_SEEN = 1e-8


def smallest_by_root(root: csr_array, null: Floats, count: int, order: Integers | None = None) -> tuple[Floats, Floats]:
    """Eigenpairs of SᵀS outside its null vectors (n, c), smallest first; `order` of elimination, or SuperLU's own."""
    with one_blas_thread():  # the matrices are small: threads would only wait for one another
        return _smallest(root, null, count, order)


def _smallest(root: csr_array, null: Floats, count: int, order: Integers | None) -> tuple[Floats, Floats]:
    n = root.shape[0]
    inverse, transposed = _factored(root, order)
    right, left = null, _orthonormal(transposed(transposed(null)))
    found = np.empty((n, 0))
    while found.shape[1] < count:

        def solve(vectors: Floats, steps: int = 0, right: Floats = right, left: Floats = left) -> Floats:
            inner = _between(transposed, root.T, right, left, vectors, steps)
            return _between(inverse, root, left, right, inner, steps)

        values, vectors = largest_eigenpairs(solve, n, count - found.shape[1], apart=True)
        # one more inverse step, refined, takes out what Lanczos and the shift left of the rough directions
        vectors = _orthonormal(solve(vectors[:, values >= _SEEN * values[0]], 1))
        found = np.hstack([found, vectors])
        right = np.hstack([right, vectors])
        left = _orthonormal(np.hstack([left, transposed(vectors)]))
    # the best pairs in their span, from S and not from SᵀS
    found = _orthonormal(found)
    _, singular, rotation = np.linalg.svd(root @ found, full_matrices=False)
    return singular[::-1] ** 2, found @ rotation[::-1].T


def _between(
    solve: Solve, matrix: csr_array, domain: Floats, image: Floats, vectors: Floats, refinements: int
) -> Floats:
    """The x orthogonal to `image` with matrix·x = b, b the part of the vectors orthogonal to `domain`."""
    target = off(domain, vectors)
    found = off(image, solve(target))
    for _ in range(refinements):
        found = found + off(image, solve(off(domain, target - matrix @ found)))
    return found


def _factored(root: csr_array, order: Integers | None) -> tuple[Solve, Solve]:
    """S⁻¹ and S⁻ᵀ times vectors."""
    n = root.shape[0]
    try:
        factor = OrderedLU(csr_array(root + _SHIFT * one_norm(root) * eye_array(n)), order, _PIVOT)
    except SingularFactorError as error:
        raise NotConvergedError(
            f"the sparse factorisation of the {n} x {n} weights broke down ({error}), because they are nearly "
            "singular: use a larger reg, or more neighbours."
        ) from error
    return partial(factor.solve, kind="N"), partial(factor.solve, kind="T")


def _orthonormal(vectors: Floats) -> Floats:
    return np.linalg.qr(vectors)[0]
