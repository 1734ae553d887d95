"""Eigenpairs of a large Gram matrix from a few of its columns.

    A = K[L, L],  C = K[:, L];    K̂ = C A† Cᵀ = F Fᵀ with F = C A^-½          (1.22), K̂ = K if A has the rank of K
    Q = Fᵀ F = U Λ Uᵀ;    V = F U Λ^-½, so that K̂ = V Λ Vᵀ and VᵀV = I        (1.24)

Centred, F stands for F − 1 f̄ᵀ. A direction of A with eigenvalue λ is known to eps/√λ in F and is √λ large there, so
F Fᵀ is right to eps however small λ is; A† itself, or CᵀC in place of FᵀF, would lose half the digits.
Burges 2005, section 2.1.2; Fowlkes, Belongie, Chung, Malik, IEEE PAMI 26 (2004).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

import numpy as np
from scipy.linalg import eigh, qr, solve_triangular

from gramfold.errors import InputError, NotConvergedError
from gramfold.spectral.canonical import canonical_signs
from gramfold.spectral.policy import TOLERANCE
from gramfold.types import Floats, NegativePart, Spectrum

_EPS = float(np.finfo(np.float64).eps)
# Eigenvalues of Q this much below the largest are rounding, not directions.
_RANK_CUT = 1e-12


@dataclass(frozen=True)
class Whitening:
    """A^-½ over the eigenvalues of A that are not rounding, and the negative part of the others."""

    matrix: Floats  # (m, r)
    negative: NegativePart


@dataclass(frozen=True)
class NystromSpectrum(Spectrum):
    """A spectrum with the axes that map features to coordinates: y = (f(x) − f̄) · axes."""

    axes: Floats = field(default_factory=lambda: np.empty((0, 0)))  # (r, p)


class Factored(Protocol):
    """A Gram matrix F Fᵀ given by its factor."""

    @property
    def scatter(self) -> Floats:
        """Q = Fᵀ M F, (r, r)."""

    @property
    def mass(self) -> Floats:
        """M of the rows, (n,)."""

    @property
    def rounding(self) -> float:
        """Size of the rounding errors of Q."""

    @property
    def white(self) -> Whitening:
        """The whitening that F was made with."""

    @property
    def drawn(self) -> bool:
        """Whether the rows are a sample of those that Q is over."""

    def map_all(self, axes: Floats) -> tuple[Floats, Floats]:
        """F·axes (n, p) and Fᵀ F·axes (r, p)."""


def whitening(gram: Floats, eps: float = _EPS) -> Whitening:
    """U Λ^-½ of a small Gram matrix whose entries are known to `eps`."""
    values, vectors = eigh(gram)
    m = len(gram)
    # Errors of the entries, and those of the decomposition. A direction of noise with eigenvalue λ adds some m·eps²/λ
    # to F Fᵀ, and one that is dropped takes λ away: a cut at eps does little harm either way.
    rounding = max(eps * float(np.abs(gram).max()), m * _EPS * float(values[-1]))
    kept = values > rounding
    if not kept.any():
        raise InputError(
            f"the kernel of the {m} landmarks has no positive eigenvalue (largest: {float(values[-1]):.2g}), "
            "so it defines no coordinates: use other landmarks, or another kernel."
        )
    below = -float(values[values < -rounding].sum())
    mass = below / float(np.abs(values).sum())
    lowest = float(values[0]) if below > 0 else 0.0
    return Whitening(
        vectors[:, kept] / np.sqrt(values[kept]), NegativePart(lowest, mass, (mass, mass), float(values.sum()))
    )


def centered_scatter(features: Iterable[Floats], shift: Floats, mass: Floats | None = None) -> tuple[Floats, Floats]:
    """The mean f̄ and Σ m (f − f̄)(f − f̄)ᵀ over blocks of rows f; a `shift` near the mean avoids cancellation.

    `mass` (n,) are the m of the rows; None: 1 each.
    """
    shifted = shift.any()
    n, total, scatter = 0, np.zeros(len(shift)), np.zeros((len(shift), len(shift)))
    for block in features:
        moved = block - shift if shifted else np.asarray(block, dtype=np.float64)
        own = np.ones(len(moved)) if mass is None else mass[n : n + len(moved)]
        n += len(moved)
        total += own @ moved
        scatter += moved.T @ (moved if mass is None else own[:, None] * moved)
    whole = n if mass is None else float(mass[:n].sum())
    mean = total / whole
    return shift + mean, scatter - whole * np.outer(mean, mean)


def nystrom_spectrum(kernel: Factored, count: int) -> NystromSpectrum:
    """The leading eigenpairs of F Fᵀ from Q = Fᵀ M F, with Vᵀ M V = I."""
    started = perf_counter()
    root = np.sqrt(kernel.mass)[:, None]
    scatter = kernel.scatter
    values, axes = eigh(scatter)
    values, axes = values[::-1][:count], axes[:, ::-1][:, :count]
    real = values > max(_RANK_CUT * float(values[0]), kernel.rounding)
    values, axes = values[real], axes[:, real]
    vectors, pulled = kernel.map_all(axes / np.sqrt(values))
    if not kernel.drawn:
        # rounding leaves some eps·√(λ₁/λ) of the leading eigenvectors in each: taken out, and R is 1 but for that
        vectors, R = qr(root * vectors, mode="economic")
        flips = np.sign(np.diag(R))
        vectors, R = vectors / root * flips, flips[:, None] * R
        pulled = solve_triangular(R, pulled.T, trans="T").T
    signs = np.sign((canonical_signs(vectors) * vectors).sum(axis=0))
    vectors, axes, pulled = vectors * signs, axes * signs, pulled * signs
    # K̂ V − V Λ = F (Fᵀ V − U Λ^½), and |F g|² = gᵀ Q g
    off = pulled - axes * np.sqrt(values)
    misfit = np.sqrt(np.maximum((off * (scatter @ off)).sum(axis=0), 0.0))
    floor = max(kernel.rounding, 10 * _EPS * float(values.max(initial=0.0)))
    if (misfit > np.maximum(TOLERANCE * values, floor)).any():
        raise NotConvergedError(
            f"the eigenvectors computed in a subspace of {len(scatter)} dimensions have a residual of "
            f"{float((misfit / values).max()):.2g} relative to the eigenvalue, so the embedding cannot be trusted: use "
            "fewer components, or other landmarks."
        )
    missing = count - len(values)  # directions that the subset does not have
    return NystromSpectrum(
        eigenvalues=np.pad(values, (0, missing)),
        eigenvectors=np.pad(vectors, ((0, 0), (0, missing))),
        residuals=np.pad(misfit / values, (0, missing)),
        solver="Nyström (LAPACK)",
        seconds=perf_counter() - started,
        total=float(np.trace(scatter)),
        axes=np.pad(axes, ((0, 0), (0, missing))),
    )
