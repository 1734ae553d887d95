"""exp(−t A) times vectors for a symmetric positive semidefinite A, by products alone.

    e^(−tx) = e^(−z) [I_0(z) + 2 Σ_k (−1)^k I_k(z) T_k(x / h − 1)],    0 ≤ x ≤ 2h,  z = t h

with the modified Bessel functions I_k and Chebyshev's polynomials T_k. The terms fall as exp(−k²/2z), so that about
9 √z of them reach the accuracy of floating point. Nothing is drawn at random.
Tal-Ezer, SIAM J. Sci. Stat. Comput. 12 (1991).
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ive

from gramfold.spectral.pencil import one_norm
from gramfold.types import Floats

_NEGLIGIBLE = 1e-17  # a term beside the value at x = 0, which is 1
_FEWEST = 40  # terms that are computed at least: for a small z they fall faster than any power


def heat_products(matrix: csr_array, time: float) -> float:
    """About how many products with the matrix are needed."""
    return float(_FEWEST + 10.0 * np.sqrt(0.5 * time * one_norm(matrix)))


def heat_product(matrix: csr_array, time: float, vectors: Floats) -> Floats:
    """exp(−t A) V."""
    half = 0.5 * one_norm(matrix)
    terms = ive(np.arange(int(heat_products(matrix, time))), time * half)  # e^(−z) I_k(z)
    terms = terms[: int(np.flatnonzero(terms > _NEGLIGIBLE)[-1]) + 1]
    result = terms[0] * vectors
    before, now = vectors, vectors - matrix @ vectors / half  # (−1)^k T_k(x / h − 1) = T_k(1 − x / h)
    for term in terms[1:]:
        result = result + 2.0 * term * now
        before, now = now, 2.0 * (now - matrix @ now / half) - before
    return np.asarray(result)
