"""Local Gram matrices of distances that no points of a Euclidean space have.

    G_jl = ½(d_j² + d_l² − d_jl²) = V Λ Vᵀ with some λ < 0;    |G| = V |Λ| Vᵀ

The weights that rebuild a point minimise wᵀ G w, which has no minimum where an eigenvalue is negative: its saddle may
lie anywhere. |wᵀ G w| ≤ wᵀ |G| w for every w, and no bound of this kind has a smaller trace; where G is positive
semidefinite both are the same. Dropping the negative eigenvalues instead would let weights grow along their
eigenvectors at no cost, and one constant added to all eigenvalues moves a point away from a neighbour that it is very
near to. Pękalska, Duin, The Dissimilarity Representation for Pattern Recognition (2005).
"""

from collections.abc import Callable

import numpy as np

from gramfold.types import Floats, Integers

# Of the trace: an eigenvalue so little below 0 is rounding, and the least ridge of the weights makes up for it.
ROUNDING = 1e-13


class DefiniteGrams:
    """|G| for local Gram matrices G, and how much of each was negative."""

    def __init__(self, grams: Callable[[Integers, Integers], Floats], count: int) -> None:
        """`grams(rows, lists)` makes matrices (b, k, k) for some of `count` rows."""
        self._grams = grams
        self.shares = np.zeros(count)  # Σ|λ<0| / Σ|λ| of each row asked for

    def __call__(self, rows: Integers, lists: Integers) -> Floats:
        grams, self.shares[rows] = definite(self._grams(rows, lists))
        return grams


def definite(grams: Floats) -> tuple[Floats, Floats]:
    """|G| (b, k, k) and Σ|λ<0| / Σ|λ| (b,) of symmetric matrices; those positive semidefinite are left as they are."""
    shares = np.zeros(len(grams))
    traces = np.trace(grams, axis1=1, axis2=2)
    rounding = np.where(traces > 0, ROUNDING * traces, 1.0)
    try:
        np.linalg.cholesky(grams + rounding[:, None, None] * np.eye(grams.shape[1]))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(grams)
        sizes = np.abs(values)
        repaired = np.flatnonzero(values[:, 0] < -rounding)
        shares[repaired] = -np.minimum(values[repaired], 0.0).sum(axis=1) / sizes[repaired].sum(axis=1)
        some = vectors[repaired]
        grams = grams.copy()
        grams[repaired] = (some * sizes[repaired, None, :]) @ some.transpose(0, 2, 1)
    return grams, shares
