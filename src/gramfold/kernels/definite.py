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
from scipy.sparse import csr_array

from gramfold.errors import NotEuclideanWarning
from gramfold.kernels.reconstruction import weight_matrix
from gramfold.neighbors.index import Index
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers, Neighbors

_MUCH = 0.01  # mean share of the local Gram matrices that was negative
# Of the trace: an eigenvalue so little below 0 is rounding, and the least ridge of the weights makes up for it.
ROUNDING = 1e-13


Grams = Callable[[Integers, Integers], Floats]


class DefiniteGrams:
    """|G| for local Gram matrices G, and how much of each was negative."""

    def __init__(self, grams: Grams, count: int, *, euclidean: bool = False) -> None:
        """`grams(rows, lists)` makes matrices (b, k, k) for some of `count` rows; those of rows stay as they are."""
        self._grams, self._euclidean = grams, euclidean
        self.shares = np.zeros(count)  # Σ|λ<0| / Σ|λ| of each row asked for

    def __call__(self, rows: Integers, lists: Integers) -> Floats:
        grams = self._grams(rows, lists)
        if not self._euclidean:
            grams, self.shares[rows] = definite(grams)
        return grams

    def warn_of_much(self) -> None:
        """Say so where much was negative."""
        if self.shares.mean() > _MUCH:
            warn(
                f"the distances are not Euclidean: on average {self.shares.mean():.1%} of the spectrum of the "
                f"{len(self.shares)} local Gram matrices is negative (largest share: {self.shares.max():.1%}), so the "
                "reconstruction weights are approximate: pass the rows themselves, or Euclidean distances, such as the "
                "square roots of cosine, cityblock or Jaccard distances.",
                NotEuclideanWarning,
            )


def rebuilding_weights(
    lists: Neighbors, grams: Grams, index: Index, reg: float, width: int, n_jobs: int | None
) -> csr_array:
    """The weights that rebuild points from their neighbours, whatever the distances of the index are.

    `grams` are local Gram matrices around the points, `width` is how many numbers a neighbour has.
    """
    local = DefiniteGrams(grams, len(lists), euclidean=index.euclidean)
    weights = weight_matrix(lists, local, reg, width, n_jobs)
    local.warn_of_much()
    return weights


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
