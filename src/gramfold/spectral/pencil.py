"""The symmetric forms that the solvers work on, M^½ K M^½ and M^-½ P M^-½, and their null vectors."""

import numpy as np
from scipy.sparse import csr_array, diags_array

from gramfold.spectral.downdated import Downdated
from gramfold.types import Floats, Kernel


def mass_root(kernel: Kernel) -> Floats:
    """M^½ as a vector."""
    return np.sqrt(kernel.mass)


def symmetric_penalty(kernel: Kernel) -> tuple[csr_array | Downdated, Floats]:
    """A = M^-½ P M^-½ and M^½."""
    outer: Floats | None = getattr(kernel, "downdate", None)
    sparse, root = _symmetric_sparse(kernel)
    return (sparse if outer is None else Downdated(sparse, outer / root[:, None])), root


def _symmetric_sparse(kernel: Kernel) -> tuple[csr_array, Floats]:
    root = mass_root(kernel)
    if (root == 1).all():
        return kernel.penalty, root  # type: ignore[attr-defined]
    penalty: csr_array = kernel.penalty  # type: ignore[attr-defined]
    entries = np.repeat(root, np.diff(penalty.indptr))
    entries *= root[penalty.indices]
    np.divide(penalty.data, entries, out=entries)
    # indices are copied: sorting one of two matrices that share them would scramble the other
    return csr_array((entries, penalty.indices.copy(), penalty.indptr.copy()), shape=penalty.shape), root


def symmetric_root(kernel: Kernel) -> csr_array | None:
    """S with A = SᵀS: R M^-½ if a root R of P is known, otherwise None."""
    root: csr_array | None = getattr(kernel, "root", None)
    return None if root is None else csr_array(root @ diags_array(1.0 / mass_root(kernel)))


def null_basis(kernel: Kernel) -> Floats:
    """Orthonormal null vectors of the symmetric form, (n, c)."""
    return np.linalg.qr(mass_root(kernel)[:, None] * kernel.null)[0]


def one_norm(matrix: csr_array | Downdated) -> float:
    """The largest absolute row sum, an upper bound of every eigenvalue; 1 for a matrix of zeros."""
    if isinstance(matrix, Downdated):
        return float(matrix.row_sums().max()) or 1.0
    return float(np.abs(matrix).sum(axis=1).max()) or 1.0


def rounding_of(matrix: csr_array | Downdated) -> float:
    """The residual below which an eigenpair of the matrix is exact up to rounding."""
    return 10 * float(np.finfo(np.float64).eps) * one_norm(matrix)
