"""Weights that rebuild a point from its neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.manifold._locally_linear import barycenter_weights

from gramfold.kernels.reconstruction import barycentric_weights, reconstruction_root, weight_matrix
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric
from gramfold.types import Integers, Neighbors


def grams_of(X: np.ndarray) -> object:
    def grams(r: Integers, j: Integers) -> np.ndarray:
        differences = X[j] - X[r][:, None]
        return np.asarray(differences @ differences.transpose(0, 2, 1))

    return grams


def ragged(n: int, longest: int, seed: int) -> Neighbors:
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(n) for j in rng.permutation(np.delete(np.arange(n), i))[: rng.integers(1, longest)]]
    rows, columns = np.array(pairs).T
    return Neighbors.from_pairs(rows, columns, rng.random(len(rows)), (n, n))


def plain_weights(X: np.ndarray, neighbors: Neighbors, reg: float) -> np.ndarray:
    W = np.zeros((len(neighbors), neighbors.n_vertices))
    for i in range(len(neighbors)):
        js = neighbors.indices[neighbors.indptr[i] : neighbors.indptr[i + 1]]
        Z = X[js] - X[i]
        G = Z @ Z.T
        w = np.linalg.solve(G + reg * np.trace(G) * np.eye(len(js)), np.ones(len(js)))
        W[i, js] = w / w.sum()
    return W


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 20), st.integers(0, 10_000), st.sampled_from([1e-1, 1e-3, 1e-6]))
def test_ragged_lists_against_a_plain_loop(n: int, seed: int, reg: float) -> None:
    X = np.random.default_rng(seed).standard_normal((n, 3))
    neighbors = ragged(n, min(n, 8), seed)
    W = weight_matrix(neighbors, grams_of(X), reg, 3)
    np.testing.assert_allclose(W.toarray(), plain_weights(X, neighbors, reg), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(W.sum(axis=1), 1.0, atol=1e-10)


def test_blocks_change_nothing() -> None:
    X = np.random.default_rng(0).standard_normal((40, 3))
    neighbors = ragged(40, 6, 0)
    whole = weight_matrix(neighbors, grams_of(X), 1e-3, 3).toarray()
    cut = weight_matrix(neighbors, grams_of(X), 1e-3, 3, entries_per_block=100)
    np.testing.assert_allclose(cut.toarray(), whole, rtol=1e-12)


@pytest.mark.parametrize("reg", [1e-3, 1e-2])
def test_against_scikit_learn(reg: float) -> None:
    X = np.random.default_rng(0).standard_normal((60, 3))
    index = TreeIndex(X, Metric("euclidean", "euclidean"), 1)
    neighbors = index.own(7, None)
    W = weight_matrix(neighbors, index.vertex_grams(np.arange(60)), reg, 3)
    expected = barycenter_weights(X, X, neighbors.indices.reshape(60, 7), reg=reg)
    np.testing.assert_allclose(W.data.reshape(60, 7), expected, rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 6))
def test_no_ridge_gives_the_smallest_weights_that_rebuild_the_point(seed: int, d: int, spare: int) -> None:
    Z = np.random.default_rng(seed).standard_normal((1, d + 1 + spare, d))
    (w,) = barycentric_weights(Z @ Z.transpose(0, 2, 1), 0.0)
    conditions = np.vstack([Z[0].T, np.ones(Z.shape[1])])
    smallest = np.linalg.lstsq(conditions, np.eye(d + 1)[d], rcond=None)[0]
    np.testing.assert_allclose(w @ Z[0], 0.0, atol=1e-9 * np.abs(w).max())
    np.testing.assert_allclose(w, smallest, atol=0.02 * np.abs(smallest).max())


def test_neighbours_on_the_point_itself_share_evenly() -> None:
    np.testing.assert_array_equal(barycentric_weights(np.zeros((2, 4, 4)), 1e-3), 0.25)
    np.testing.assert_array_equal(barycentric_weights(np.zeros((2, 4, 4)), 0.0), 0.25)


def test_penalty_is_the_cost_of_not_being_rebuilt() -> None:
    X = np.random.default_rng(0).standard_normal((30, 3))
    W = weight_matrix(ragged(30, 6, 0), grams_of(X), 1e-3, 3)
    mass = np.random.default_rng(1).integers(1, 4, 30).astype(float)
    R = reconstruction_root(W, mass)
    M = csr_array(R.T @ R)
    y = np.random.default_rng(2).standard_normal(30)
    assert y @ (M @ y) == pytest.approx((mass * (y - W @ y) ** 2).sum(), rel=1e-12)
    np.testing.assert_allclose(M @ np.ones(30), 0.0, atol=1e-12)
    np.testing.assert_allclose(M.toarray(), M.toarray().T, atol=1e-13)


def test_a_plane_is_in_the_null_space_without_a_ridge() -> None:
    X = np.random.default_rng(0).standard_normal((80, 2))
    index = TreeIndex(X, Metric("euclidean", "euclidean"), 1)
    W = weight_matrix(index.own(8, None), index.vertex_grams(np.arange(80)), 0.0, 2)
    R = reconstruction_root(W, np.ones(80))
    M = csr_array(R.T @ R)
    np.testing.assert_allclose(M @ X, 0.0, atol=1e-10)
    assert np.linalg.eigvalsh(M.toarray())[3] > 1e-8  # constants and the plane, nothing else


def plain_convex(A: np.ndarray) -> np.ndarray:
    """The smallest wᵀ A w over w ≥ 0 with Σ w = 1, by trying every set of neighbours that may be used."""
    k, best, least = len(A), np.zeros(0), np.inf
    for used in range(1, 2**k):
        some = np.flatnonzero([used >> j & 1 for j in range(k)])
        w = np.zeros(k)
        w[some] = np.linalg.solve(A[np.ix_(some, some)], np.ones(len(some)))
        w /= w.sum()
        if (w >= 0).all() and w @ A @ w < least:
            best, least = w, w @ A @ w
    return best


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 7), st.integers(1, 4), st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 5.0]))
def test_weights_within_a_limit(k: int, d: int, seed: int, away: float) -> None:
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((6, k, d)) + away
    Z[0] = Z[0, 0]  # copies
    grams = Z @ Z.transpose(0, 2, 1)
    free, convex = barycentric_weights(grams, 1e-3), barycentric_weights(grams, 1e-3, 1.0)
    ridged = grams + 1e-3 * np.trace(grams, axis1=1, axis2=2)[:, None, None] * np.eye(k)
    np.testing.assert_allclose(convex, [plain_convex(A) for A in ridged], atol=1e-8)
    assert (convex >= 0).all()
    for limit in (1.5, 3.0):
        w = barycentric_weights(grams, 1e-3, limit)
        np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-10)
        assert (np.abs(w).sum(axis=1) <= limit * (1 + 1e-12)).all()
        fits = np.abs(free).sum(axis=1) <= limit
        np.testing.assert_array_equal(w[fits], free[fits])
        way = (free - convex)[~fits]
        along = ((w - convex)[~fits] * way).sum(axis=1, keepdims=True) / np.square(way).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(w[~fits], convex[~fits] + along * way, atol=1e-9)
        assert ((along > 0) & (along < 1)).all()


@pytest.mark.parametrize("power", [-1000, -300, 300, 1000])
def test_weights_of_any_size_are_the_same_to_the_bit(power: int) -> None:
    Z = np.random.default_rng(0).standard_normal((5, 6, 3))
    grams = Z @ Z.transpose(0, 2, 1)
    for limit in (1.0, np.inf):
        np.testing.assert_array_equal(
            barycentric_weights(np.ldexp(grams, power), 1e-3, limit), barycentric_weights(grams, 1e-3, limit)
        )
