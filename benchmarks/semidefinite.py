"""Semidefinite embedding, paper 002's roll in 23 dimensions, certified."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, triu
from scipy.spatial import cKDTree
from sklearn.manifold import Isomap

from benchmarks.timing import Race, race
from gramfold.sdp import interior_point
from gramfold.sdp.problem import Solution

_K = 4
_TOL = 1e-6


def races() -> Iterator[Race]:
    """All of them."""
    yield from small()
    yield from paper()


def small() -> Iterator[Race]:
    """The exact form, 100 points, beside CVXPY."""
    X = roll(100)
    yield race(
        "exact SDE, roll n=100, gap 1e-6 (peer: CVXPY + Clarabel)",
        lambda: _solved(*_kept(X)),
        lambda: _clarabel(*_kept(X)),
        target="100x, 40x at least",
        runs=1,
    )


def paper() -> Iterator[Race]:
    """The exact form, the paper's 800 points, beside Isomap of 5,000."""
    X, many = roll(800), roll(5000)
    yield race(
        "exact SDE, roll n=800, gap and violation 1e-6 (peer: scikit-learn's Isomap, n=5,000)",
        lambda: _solved(*_kept(X)),
        lambda: Isomap(n_neighbors=10).fit(many),
        target="≥ 0.5x, 0.33x at least",
        runs=3,
    )


def roll(n: int, noise: float = 0.05) -> np.ndarray:
    """A swiss roll, uniform along its arc, with 20 dimensions of noise."""
    rng = np.random.default_rng(0)
    share, height = rng.random(n), 21.0 * rng.random(n)
    angles = np.linspace(1.5 * np.pi, 4.5 * np.pi, 10_000)
    arc = np.cumsum(np.sqrt(1.0 + angles**2))
    angle = np.interp(share, arc / arc[-1], angles)
    bent = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    return np.column_stack([bent, noise * rng.standard_normal((n, 20))])


def _kept(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours, and pairs that are neighbours of a common point, with their distances."""
    n = len(X)
    near = cKDTree(X).query(X, _K + 1)[1][:, 1:]
    lists = csr_array((np.ones(n * _K), near.ravel(), np.arange(0, n * _K + 1, _K)), shape=(n, n))
    kept = triu(lists + lists.T + lists.T @ lists, 1).tocoo()
    pairs = np.column_stack([kept.row, kept.col])
    return pairs, np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)


def _solved(pairs: np.ndarray, distances: np.ndarray) -> Solution:
    solution = interior_point.solve(pairs, distances, isometry="exact", tol=_TOL)
    if not solution.converged:
        raise SystemExit(f"not converged: {solution.certificate}")
    return solution


def _clarabel(pairs: np.ndarray, distances: np.ndarray) -> None:
    import cvxpy

    i, j = pairs.T
    n = int(pairs.max()) + 1
    K = cvxpy.Variable((n, n), PSD=True)
    diagonal = cvxpy.diag(K)
    lengths = diagonal[i] + diagonal[j] - 2 * K[i, j]
    program = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(K)), [cvxpy.sum(K) == 0, lengths == distances**2])
    program.solve(solver="CLARABEL", tol_gap_rel=_TOL, tol_feas=_TOL)
