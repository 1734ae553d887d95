"""A kernel that is known through its inverse: K = f(P) for a sparse positive semidefinite penalty P.

With P v = μ M v and Vᵀ M V = I, the kernel is K = Σ f(μ) v vᵀ over the eigenvectors outside the known null
space: f(μ) = 1/μ is the pseudo-inverse, f(μ) = μmax − μ the shifted penalty, f(μ) = exp(−μt) the heat kernel,
f(μ) = |1 − μ|^2t that of t steps of a random walk. Ham et al., ICML 2004, eqs (12), (20), (24).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
from scipy.sparse import csr_array, diags_array

from gramfold.kernels.massless import Reduction, reduction
from gramfold.spectral.dense import symmetric_eigenpairs
from gramfold.spectral.downdated import Downdated
from gramfold.spectral.heat import heat_product, heat_products
from gramfold.spectral.pencil import null_basis, symmetric_penalty
from gramfold.spectral.policy import leading_spectrum
from gramfold.spectral.shift_invert import solve_off_null
from gramfold.types import Floats, Integers, Kernel, Spectrum

# All eigenvectors take about as long as n²/100 products with a sparse matrix (1,000 rows: half a second).
# A thousand products are always quick.
_ROWS_PER_PRODUCT, _QUICK = 10, 1_000


class Decay(ABC):
    """A decreasing function f of the penalty, and f(A) times vectors for the symmetric A = M^-½ P M^-½."""

    @abstractmethod
    def of(self, penalties: Floats) -> Floats:
        """The kernel's eigenvalues f(μ)."""

    @abstractmethod
    def apply(self, symmetric: csr_array | Downdated, null: Floats, vectors: Floats) -> Floats:
        """f(A) V for V orthogonal to the null vectors."""

    def _apply_by_eigenvectors(self, symmetric: csr_array | Downdated, null: Floats, vectors: Floats) -> Floats:
        penalties, every = symmetric_eigenpairs(symmetric.toarray(), null)
        return np.asarray((every * self.of(penalties)) @ (every.T @ vectors))


@dataclass(frozen=True)
class Inverse(Decay):
    """f(μ) = 1/μ."""

    def of(self, penalties: Floats) -> Floats:
        # a penalty that vanishes beyond the known null space is finite in the kernel, and very large
        return 1.0 / np.maximum(penalties, np.finfo(np.float64).tiny ** 0.5)

    def apply(self, symmetric: csr_array | Downdated, null: Floats, vectors: Floats) -> Floats:
        return solve_off_null(symmetric, null, vectors)


@dataclass(frozen=True)
class Shift(Decay):
    """f(μ) = top − μ, with top the largest eigenvalue of the penalty."""

    top: float

    def of(self, penalties: Floats) -> Floats:
        return self.top - penalties

    def apply(self, symmetric: csr_array | Downdated, null: Floats, vectors: Floats) -> Floats:
        return np.asarray(self.top * vectors - symmetric @ vectors)


@dataclass(frozen=True)
class Heat(Decay):
    """f(μ) = exp(−μ t)."""

    time: float

    def of(self, penalties: Floats) -> Floats:
        return np.asarray(np.exp(-self.time * penalties))

    def apply(self, symmetric: csr_array | Downdated, null: Floats, vectors: Floats) -> Floats:
        if heat_products(symmetric, self.time) > _most_products(symmetric):
            return self._apply_by_eigenvectors(symmetric, null, vectors)
        return heat_product(symmetric, self.time, vectors)


@dataclass(frozen=True)
class Steps(Decay):
    """f(μ) = |1 − μ|^2t: a normalised Laplacian μ belongs to the eigenvalue λ = 1 − μ of one step of the walk.

    It decreases as far as μ = 1; beyond, λ is negative and the walk alternates.
    """

    time: float

    def of(self, penalties: Floats) -> Floats:
        return np.asarray(np.abs(1.0 - penalties) ** (2.0 * self.time))

    def apply(self, symmetric: csr_array | Downdated, null: Floats, vectors: Floats) -> Floats:
        # |λ| to a broken power is no polynomial: only all eigenvectors give it
        if not float(self.time).is_integer() or 2 * self.time > _most_products(symmetric):
            return self._apply_by_eigenvectors(symmetric, null, vectors)
        for _ in range(2 * int(self.time)):
            vectors = vectors - symmetric @ vectors
        return vectors


def _most_products(symmetric: csr_array | Downdated) -> float:
    return max(_QUICK, float(symmetric.shape[0] / _ROWS_PER_PRODUCT) ** 2)


@dataclass(frozen=True, repr=False)
class PenaltyKernel(Kernel):
    """See the module. `null_value` is the kernel's eigenvalue on the null vectors; 0 leaves them out.

    Vertices may have no mass (kernels/massless.py); of a penalty P − C Cᵀ the two are held apart.
    """

    penalty: csr_array  # P (n, n), float64
    mass: Floats  # (n,)
    null: Floats  # (n, c), P null = 0
    rows: Integers
    exponent: float = 0.0
    decay: Decay = field(default_factory=Inverse)
    null_value: float = 0.0
    root: csr_array | None = None  # R (n, n) with P = RᵀR where it is known: sparser, its condition the square root
    downdate: Floats | None = None  # C (n, c), where the penalty is P − C Cᵀ
    kind: Literal["penalty"] = "penalty"

    @classmethod
    def of(cls, penalty: csr_array, mass: Floats, root: csr_array | None = None, decay: Decay | None = None) -> Self:
        """Of a penalty that constants do not feel; the kernel is its pseudo-inverse unless said otherwise."""
        n = len(mass)
        return cls(penalty, mass, np.ones((n, 1)), np.arange(n), decay=decay or Inverse(), root=root)

    @cached_property
    def reduced(self) -> "tuple[PenaltyKernel, Reduction] | None":
        """The kernel of the vertices that have mass, and what the others are of them; None where all have mass."""
        if (self.mass > 0).all():
            return None
        assert self.root is None
        assert self.downdate is None
        found = reduction(self.penalty, self.mass == 0)
        kept = found.kept
        return (
            PenaltyKernel(
                penalty=found.penalty,
                mass=self.mass[kept],
                null=self.null[kept],
                rows=np.arange(len(kept)),
                exponent=self.exponent,
                decay=self.decay,
                null_value=self.null_value,
            ),
            found,
        )

    def penalized(self, vectors: Floats) -> Floats:
        """P V, or (P − C Cᵀ) V."""
        image = np.asarray(self.penalty @ vectors)
        return image if self.downdate is None else image - self.downdate @ (self.downdate.T @ vectors)

    def product(self, vectors: Floats) -> Floats:
        """f(P) V, by a solve or products; nothing dense is formed."""
        if self.reduced is not None:
            small, to = self.reduced
            return np.asarray(to.extension @ small.product(to.extension.T @ np.asarray(vectors, dtype=np.float64)))
        symmetric, root = symmetric_penalty(self)
        null = null_basis(self)
        inner = np.asarray(vectors, dtype=np.float64) / root[:, None]
        along = null @ (null.T @ inner)
        result = self.decay.apply(symmetric, null, inner - along)
        result += self.null_value * along - null @ (null.T @ result)
        return np.asarray(result / root[:, None])

    def matrix(self) -> Floats:
        """The kernel from all eigenpairs of the penalty."""
        if self.reduced is not None:
            small, to = self.reduced
            return np.asarray(to.extension @ (to.extension @ small.matrix()).T)
        symmetric, root = symmetric_penalty(self)
        null = null_basis(self)
        penalties, vectors = symmetric_eigenpairs(symmetric.toarray(), null)
        inner = (vectors * self.decay.of(penalties)) @ vectors.T + self.null_value * (null @ null.T)
        return np.asarray(inner / np.outer(root, root))


def largest_penalty(penalty: csr_array, mass: Floats) -> float:
    """The largest eigenvalue of the pencil."""
    from gramfold.spectral.krylov import largest_eigenvalue

    root = diags_array(1.0 / np.sqrt(mass))
    return largest_eigenvalue(csr_array(root @ penalty @ root))


def leading_penalties(kernel: PenaltyKernel, count: int) -> Spectrum:
    """The leading spectrum; vertices without mass follow the others."""
    if kernel.reduced is None:
        return leading_spectrum(kernel, count)
    small, to = kernel.reduced
    spectrum = leading_spectrum(small, count)
    return replace(spectrum, eigenvectors=np.asarray(to.extension @ spectrum.eigenvectors))
