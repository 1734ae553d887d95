"""Sparse factorisations of other packages, each in three steps: an order, a factor in it, solutions.

A package that is not installed is absent. None is a dependency of gramfold.
"""

from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix, tril, triu


class Peer:
    """One factorisation of a positive definite matrix; what is only a change of format is done before it is timed."""

    name: ClassVar[str]
    needs: ClassVar[str]
    most: ClassVar[float]  # multiplications of our factor above which its own, in its order, takes minutes
    orders: ClassVar[bool] = True  # whether the order is a step of its own; else the factor includes it
    order_told: ClassVar[str] = "order"

    def __init__(self, matrix: csr_array) -> None:
        raise NotImplementedError

    @classmethod
    def installed(cls) -> bool:
        """Whether it can be imported."""
        return find_spec(cls.needs) is not None

    def order(self) -> None:
        """Choose the order of elimination."""

    def factor(self) -> None:
        """Factor the matrix, in that order."""
        raise NotImplementedError

    def solve(self, vectors: np.ndarray) -> np.ndarray:
        """A⁻¹ V for V (n, p)."""
        raise NotImplementedError


class SuperLU(Peer):
    """SciPy's `splu`, in its symmetric mode. Its order (minimum degree) cannot be had without a factor."""

    name, needs, most, orders = "SuperLU", "scipy", 2e9, False

    def __init__(self, matrix: csr_array) -> None:
        self._matrix = csc_array(matrix)

    def factor(self) -> None:
        from scipy.sparse.linalg import splu

        options = {"SymmetricMode": True}
        self._factor = splu(self._matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)

    def solve(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray(self._factor.solve(vectors))


class QDLDL(Peer):
    """`qdldl`: L D Lᵀ column by column, in AMD's order. The order comes with a first factor; later ones keep it."""

    name, needs, most = "qdldl", "qdldl", 1e9
    order_told = "order (of the peer with a first factor)"

    def __init__(self, matrix: csr_array) -> None:
        self._matrix = csc_matrix(triu(matrix))

    def order(self) -> None:
        import qdldl

        self._solver = qdldl.Solver(self._matrix, upper=True)

    def factor(self) -> None:
        self._solver.update(self._matrix, upper=True)

    def solve(self, vectors: np.ndarray) -> np.ndarray:
        return np.stack([self._solver.solve(np.ascontiguousarray(v)) for v in vectors.T], axis=1)


class Cholmod(Peer):
    """CHOLMOD, as cvxopt's wheel bundles it: supernodal L Lᵀ, in AMD's order."""

    name, needs, most = "CHOLMOD of cvxopt", "cvxopt", np.inf

    def __init__(self, matrix: csr_array) -> None:
        import cvxopt

        lower = tril(matrix).tocoo()
        self._matrix = cvxopt.spmatrix(lower.data, lower.row.astype(int), lower.col.astype(int), matrix.shape)
        self._right: Any = None

    def order(self) -> None:
        from cvxopt import cholmod

        cholmod.options["supernodal"] = 2
        self._factor: Any = cholmod.symbolic(self._matrix)

    def factor(self) -> None:
        from cvxopt import cholmod

        cholmod.numeric(self._matrix, self._factor)

    def solve(self, vectors: np.ndarray) -> np.ndarray:
        from cvxopt import cholmod, matrix

        if self._right is None:  # its format; the first call is not timed
            self._right = matrix(vectors)
        solution = +self._right
        cholmod.solve(self._factor, solution)
        return np.array(solution)


class Pardiso(Peer):
    """PARDISO of Intel's MKL: supernodal L Lᵀ, in METIS's order."""

    name, needs, most = "PARDISO of MKL", "pypardiso", np.inf
    _POSITIVE_DEFINITE = 2

    def __init__(self, matrix: csr_array) -> None:
        from pypardiso import PyPardisoSolver

        self._matrix = csr_matrix(triu(matrix, format="csr"))
        self._matrix.sort_indices()
        self._solver = PyPardisoSolver(mtype=self._POSITIVE_DEFINITE)
        self._nothing = np.zeros((matrix.shape[0], 1))

    def _call(self, phase: int, vectors: np.ndarray) -> np.ndarray:
        self._solver.set_phase(phase)
        return self._solver._call_pardiso(self._matrix, vectors)  # noqa: SLF001 - its steps have no public name

    def order(self) -> None:
        self._call(11, self._nothing)

    def factor(self) -> None:
        self._call(22, self._nothing)

    def solve(self, vectors: np.ndarray) -> np.ndarray:
        return self._call(33, np.asfortranarray(vectors))

    def __del__(self) -> None:
        if hasattr(self, "_solver"):
            self._solver.free_memory(everything=True)


PEERS: tuple[type[Peer], ...] = (SuperLU, QDLDL, Cholmod, Pardiso)
