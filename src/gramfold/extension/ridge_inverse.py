"""The way back by kernel ridge regression of the rows on their places.

    x(y) = a(y) β + φ(y) w,   a(y) = [1, y];   min ‖X − A β − Φ w‖² + λ |w|²
    φ(y) = k(y, C) K_CC^-½:   Gaussians about at most 500 of the places, which span the functions

The affine part is free of the penalty, so an affine map is undone exactly. With P an orthonormal basis of A and
Φ⊥ = Φ − P PᵀΦ the fit is H X, H = P Pᵀ + Φ⊥ (Φ⊥ᵀΦ⊥ + λI)⁻¹ Φ⊥ᵀ, and a row left out is missed by r_i / (1 − H_ii): the
width of the Gaussians and λ are those for which this is least. Bakır, Weston, Schölkopf, NIPS 16 (2003).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gramfold.extension.judging import relative
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.spectral.nystrom import whitening
from gramfold.types import Floats

_MOST_CENTERS = 500
_WIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8)  # of the Gaussians, relative to the spread of the map
_RIDGES = tuple(10.0**exponent for exponent in range(-9, 2))  # relative to the largest eigenvalue
_ENTRIES_PER_BLOCK = 2_000_000
_LEAST_LEFT = 1e-10  # 1 − leverage of a row that has a function to itself


@dataclass(frozen=True)
class _Basis:
    """The functions of one width."""

    centers: Floats  # (m, p)
    gamma: float
    white: Floats  # (m, r) K_CC^-½

    @classmethod
    def about(cls, centers: Floats, width: float) -> "_Basis":
        gamma = 0.5 / width**2 if width > 0 else 0.0
        return cls(centers, gamma, whitening(np.exp(-gamma * _squares(centers, centers))).matrix)

    def __call__(self, places: Floats) -> Floats:
        """φ(y), (b, r)."""
        made = np.empty((len(places), self.white.shape[1]))
        for part in beats(blocks(len(places), max(1, _ENTRIES_PER_BLOCK // len(self.centers)))):
            made[part] = np.exp(-self.gamma * _squares(places[part], self.centers)) @ self.white
        return made


@dataclass(frozen=True)
class _Fit:
    error: float  # ‖r / (1 − h)‖
    basis: _Basis
    beta: Floats  # (p + 1, d)
    weights: Floats  # (r, d)


class RidgeInverse:
    """Kernel ridge pre-images."""

    def __init__(
        self,
        places: Floats,
        rows: Floats,
        *,
        widths: Sequence[float] = _WIDTHS,
        ridges: Sequence[float] = _RIDGES,
    ) -> None:
        places = np.asarray(places, dtype=np.float64)
        self._rows = rows
        self._middle = places.mean(axis=0)
        moved = places - self._middle
        spread = float(np.sqrt(np.square(moved).sum(axis=1).mean()))
        n = len(places)
        centers = moved[np.linspace(0, n - 1, min(n, _MOST_CENTERS)).astype(np.intp)]
        fits = (_best_fit(_Basis.about(centers, share * spread), moved, rows, ridges) for share in widths)
        self._fit = min(fits, key=lambda fit: fit.error)

    def __call__(self, places: Floats) -> Floats:
        """Data rows that belong to these places."""
        moved = places - self._middle
        return np.asarray(_affine(moved) @ self._fit.beta + self._fit.basis(moved) @ self._fit.weights)

    def judge(self) -> float:
        """Root mean square misfit of each row left out, the functions and the ridge held, relative to their spread."""
        return relative(self._fit.error, self._rows, self._rows)


def _best_fit(basis: _Basis, moved: Floats, rows: Floats, ridges: Sequence[float]) -> _Fit:
    A, Phi, X = _affine(moved), basis(moved), np.asarray(rows, dtype=np.float64)
    P, triangle = _orthonormal(A)
    flat = P @ (P.T @ X)
    Phi_left = Phi - P @ (P.T @ Phi)  # (n, r)
    values, vectors = np.linalg.eigh(Phi_left.T @ Phi_left)
    values = np.maximum(values, 0.0)
    along = Phi_left @ vectors  # (n, r), orthogonal columns of squared length `values`
    left, pulled = X - flat, along.T @ X
    own, squares = np.square(P).sum(axis=1), np.square(along)
    largest = max(float(values[-1]), np.finfo(np.float64).eps * float(np.square(Phi).sum()))  # what is not rounding
    errors = []
    for ridge in ridges:
        factors = 1.0 / (values + ridge * largest)
        free = np.maximum(1.0 - own - squares @ factors, _LEAST_LEFT)
        residuals = left - along @ (factors[:, None] * pulled)
        errors.append(float(np.linalg.norm(residuals / free[:, None])))
    best = int(np.argmin(errors))
    weights = vectors @ (pulled / (values + ridges[best] * largest)[:, None])
    beta = triangle @ (P.T @ (X - Phi @ weights))
    return _Fit(errors[best], basis, beta, weights)


def _affine(moved: Floats) -> Floats:
    return np.column_stack([np.ones(len(moved)), moved])


def _orthonormal(A: Floats) -> tuple[Floats, Floats]:
    """P and T with A T = P orthonormal, over the directions of A that are not rounding."""
    lengths = np.linalg.norm(A, axis=0)
    scaled = A / np.where(lengths > 0, lengths, 1.0)
    U, sizes, Vt = np.linalg.svd(scaled, full_matrices=False)
    real = sizes > 1e-10 * sizes[0]
    return U[:, real], (Vt[real].T / sizes[real]) / np.where(lengths > 0, lengths, 1.0)[:, None]


def _squares(left: Floats, right: Floats) -> Floats:
    from sklearn.metrics.pairwise import euclidean_distances

    return np.asarray(euclidean_distances(left, right, squared=True))
