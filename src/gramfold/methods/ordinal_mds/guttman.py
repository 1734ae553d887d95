"""Guttman's transform: of all configurations the one whose distances are nearest to given disparities, majorised.

    V y⁺ = B(y) y     V_ab = −w_ab, B_ab = −w_ab d̂_ab / d_ab for a ≠ b;  rows of V and B sum to 0

V is the Laplacian of the pair weights. Where the pairs with w > 0 connect all vertices its null vectors are the
constants, and y⁺ is determined up to a translation.

Equal weights: a vertex stands for m identical rows, M in all, so w_ab = m_a m_b and V = M diag(m) − m mᵀ. Then
y⁺_a = 1/M Σ_b m_b (d̂_ab / d_ab)(y_a − y_b), and nothing needs to be factored.

Pair weights: with the degrees g = Σ_b w_ab, G = Σ g, S = diag(g)^-½ and u = (g / G)^½,

    A = S (V + g gᵀ / G) S = I − S W S + u uᵀ

is positive definite, and (V + g gᵀ / G) x = z with 1ᵀz = 0 has gᵀx = 0 (multiply by 1ᵀ), so V x = z. A is factored
once; its scale depends neither on the unit of the weights nor on rows that have small weights only.

de Leeuw, Heiser, in Multivariate Analysis V (1980); Borg, Groenen, Modern Multidimensional Scaling (2005), chapter 8.
"""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dlange, dpocon
from scipy.spatial.distance import squareform

from gramfold.errors import DisconnectedGraphError
from gramfold.methods.ordinal_mds.monotone import RankOrder
from gramfold.types import Floats

_LEAST_RCOND = 1e-12  # below, the iterations would be made of rounding errors


class Guttman(Protocol):
    """The transform for some weights."""

    @property
    def mass(self) -> Floats:
        """(n,) the number of data rows that each vertex stands for."""

    def step(self, ratios: Floats, order: RankOrder, places: Floats) -> Floats:
        """V⁺ B y, centred; the ratios d̂ / d stand in rank order."""


@dataclass(frozen=True)
class EqualWeights:
    """Every pair of data rows has the same weight."""

    mass: Floats

    def step(self, ratios: Floats, order: RankOrder, places: Floats) -> Floats:
        """See `Guttman`."""
        pull = matrix_of(ratios, order)  # (n, n)
        sums = _times(pull, self.mass[:, None] * np.column_stack([np.ones(len(self.mass)), places]))  # (n, 1 + p)
        return np.asarray((sums[:, :1] * places - sums[:, 1:]) / self.mass.sum())


@dataclass(frozen=True)
class GivenWeights:
    """Each pair has its own weight."""

    mass: Floats
    root: Floats  # (n,) the diagonal of S
    factor: Floats  # (n, n) Cholesky factor of A, in its lower triangle

    @classmethod
    def of(cls, weights: Floats, mass: Floats) -> Self:
        """Of the weights of all pairs, (n(n − 1)/2,), which connect all vertices."""
        shifted = squareform(weights, checks=False)  # (n, n)
        degrees = shifted.sum(axis=1)
        root = 1.0 / np.sqrt(degrees)
        shifted *= -root[:, None]
        shifted *= root
        null = np.sqrt(degrees / degrees.sum())
        for a, share in enumerate(null):  # row by row: no second matrix
            shifted[a] += share * null
        shifted[np.diag_indices(len(mass))] += 1.0
        return cls(mass, root, _factored(shifted.T))

    def step(self, ratios: Floats, order: RankOrder, places: Floats) -> Floats:
        """See `Guttman`."""
        pull = matrix_of(order.weights * ratios, order)  # (n, n)
        sums = _times(pull, np.column_stack([np.ones(len(places)), places]))  # (n, 1 + p)
        force = sums[:, :1] * places - sums[:, 1:]  # B y
        root = self.root[:, None]
        stepped = root * cho_solve((self.factor, True), root * force, check_finite=False)
        return np.asarray(stepped - self.mass @ stepped / self.mass.sum())


def matrix_of(values: Floats, order: RankOrder) -> Floats:
    """The symmetric matrix of values that stand in rank order; 0 for pairs that are not listed."""
    of_pairs = np.zeros(order.n_pairs)
    of_pairs[order.order] = values
    return np.asarray(squareform(of_pairs, checks=False))


def _times(matrix: Floats, vectors: Floats) -> Floats:
    # without BLAS: its threads would wait for each other longer than such short work takes
    return np.stack([np.einsum("ij,j->i", matrix, vector) for vector in np.ascontiguousarray(vectors.T)], axis=1)


def _factored(matrix: Floats) -> Floats:
    """In place where the matrix is in Fortran's order."""
    norm = dlange("1", matrix)
    try:
        factor, _ = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        rcond, _ = dpocon(factor, norm, uplo="L")
    except LinAlgError:
        rcond = 0.0
    if rcond < _LEAST_RCOND:
        raise DisconnectedGraphError(
            "pair_weights connect some rows to the others only by weights that are tiny compared with the rest "
            f"(reciprocal condition number {rcond:.0e}), so their relative position is lost in rounding: raise these "
            "weights, or embed the groups of rows separately."
        )
    return np.asarray(factor)
