"""New points on a graph: the fit's rule returns training rows to their places."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from gramfold.errors import DisconnectedGraphWarning
from gramfold.extension.average import average, carried_reach
from gramfold.types import Neighbors


def union_graph(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances, reach r_k, and the edges d ≤ max(r_i, r_j), by hand."""
    D = cdist(X, X)
    reach = np.sort(D, axis=1)[:, k]
    edges = np.maximum(reach[:, None], reach[None, :]) >= D
    np.fill_diagonal(edges, val=False)
    return D, reach, edges


def lists(D: np.ndarray, edges: np.ndarray) -> Neighbors:
    i, j = np.nonzero(edges)
    return Neighbors.from_pairs(i, j, D[i, j], D.shape)


def all_lists(D: np.ndarray) -> Neighbors:
    return lists(D, np.ones(D.shape, dtype=bool))


def eigenmaps(W: np.ndarray, mass: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = eigh(np.diag(W.sum(axis=1)) - W, np.diag(mass))
    return values[1 : count + 1], vectors[:, 1 : count + 1]


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("width", [None, 0.4])
@pytest.mark.parametrize("copies", [False, True])
def test_training_rows_return(normalized: bool, width: float | None, copies: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((120, 2))
    multiplicity = rng.integers(1, 4, 120).astype(float) if copies else np.ones(120)
    D, reach, edges = union_graph(X, 6)
    W = edges * (1.0 if width is None else np.exp(-0.5 * (D / width) ** 2)) * np.outer(multiplicity, multiplicity)
    mass = W.sum(axis=1) if normalized else multiplicity
    penalties, vectors = eigenmaps(W, mass, 3)
    # the rule for a new point, at the places of the training points; itself is met at distance 0
    r = carried_reach(all_lists(D), reach)
    np.testing.assert_array_equal(r, reach)
    met = lists(D, np.maximum(r[:, None], reach[None, :]) >= D)
    placed = average(met, vectors, width=width, multiplicity=multiplicity, penalties=penalties, normalized=normalized)
    np.testing.assert_allclose(placed, vectors, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("tuned", [False, True])
def test_training_rows_return_to_density_and_self_tuning(alpha: float, tuned: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((120, 2)) ** 2  # dense towards a corner
    multiplicity = rng.integers(1, 4, 120).astype(float)
    D, reach, edges = union_graph(X, 8)
    widths = np.sort(D, axis=1)[:, 7] if tuned else np.full(120, 0.2)
    w = edges * np.exp(-(D**2) / (2 * np.outer(widths, widths)))
    density = w @ multiplicity
    W = w * np.outer(multiplicity, multiplicity) / np.outer(density, density) ** alpha
    penalties, vectors = eigenmaps(W, W.sum(axis=1), 3)
    placed = average(
        lists(D, np.maximum(reach[:, None], reach[None, :]) >= D),
        vectors,
        width=widths if tuned else 0.2,
        multiplicity=multiplicity / density**alpha,
        penalties=penalties,
        normalized=True,
    )
    np.testing.assert_allclose(placed, vectors, atol=1e-14 * np.abs(vectors).max() * 120)


def test_self_tuned_weights_of_a_new_point() -> None:
    met = Neighbors.from_lists(np.array([[1, 0]]), np.array([[0.5, 1.5]]), 2)
    widths, places = np.array([1.0, 3.0]), np.array([[1.0], [2.0]])
    found = average(
        met, places, width=widths, multiplicity=np.array([2.0, 1.0]), penalties=np.array([0.1]), normalized=False
    )
    own = 2.5  # min(1 + 1.5, 3 + 0.5)
    w = np.exp(-0.5 * np.array([1.5**2 / (own * 1.0), 0.5**2 / (own * 3.0)])) * [2.0, 1.0]
    np.testing.assert_allclose(found[0, 0], (w @ places[:, 0]) / (w.sum() - 0.1), rtol=1e-14)


@pytest.mark.parametrize("n", [4, 9])
def test_eigenvalues_above_one_have_a_negative_balance(n: int) -> None:
    # a complete graph: all normalised eigenvalues are n / (n − 1)
    W = 1.0 - np.eye(n)
    penalties, vectors = eigenmaps(W, W.sum(axis=1), 2)
    assert (penalties > 1).all()
    placed = average(
        lists(W, W > 0), vectors, width=None, multiplicity=np.ones(n), penalties=penalties, normalized=True
    )
    np.testing.assert_allclose(placed, vectors, atol=1e-12)


def test_an_eigenvalue_of_one_leaves_the_mean() -> None:
    # a star: functions of the leaves have eigenvalue 1, and the balance at the hub and leaves is 0 = 0
    met = Neighbors.from_lists(np.array([[1, 2]]), np.array([[1.0, 2.0]]), 3)
    places = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    found = average(met, places, width=None, multiplicity=np.ones(3), penalties=np.array([0.5, 1.0]), normalized=True)
    np.testing.assert_allclose(found, [[2.0 / 0.5, 3.0]])


def test_a_point_far_from_all_data_is_placed_by_its_nearest() -> None:
    met = Neighbors.from_lists(np.array([[2, 0], [1, 2]]), np.array([[1e3, 1e3 + 1e-4], [1e6, 2e6]]), 3)
    places = np.array([[1.0], [2.0], [5.0]])
    found = average(met, places, width=0.5, multiplicity=np.ones(3), penalties=np.array([0.2]), normalized=True)
    share = np.exp(-0.5 * ((1e3 + 1e-4) ** 2 - 1e3**2) / 0.5**2)
    np.testing.assert_allclose(found[:, 0], [(5 + share) / (1 + share) / 0.8, 2.0 / 0.8], rtol=1e-6)


@pytest.mark.parametrize("distance", [4.0, 1e5])
def test_weak_ties_are_told_and_put_at_the_mean(distance: float) -> None:
    met = Neighbors.from_lists(np.array([[0, 1], [0, 1]]), np.array([[0.1, 0.1], [distance, distance]]), 2)
    places = np.array([[1.0, 0.0], [3.0, 5.0]])
    penalties = np.array([0.3, 0.5])
    with pytest.warns(
        DisconnectedGraphWarning, match="1 of 2 new rows are tied too weakly .* mean of their neighbours"
    ):
        found = average(met, places, width=1.0, multiplicity=np.ones(2), penalties=penalties, normalized=False)
    degree = 2 * np.exp(-0.5 * 0.1**2)
    np.testing.assert_allclose(found[0], places.mean(axis=0) * degree / (degree - penalties), rtol=1e-12)
    np.testing.assert_allclose(found[1], places.mean(axis=0), rtol=1e-12)


PLACES = st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), min_size=5, max_size=15, unique=True)


@settings(max_examples=60, deadline=None)
@given(PLACES, st.integers(1, 4), st.integers(0, 10_000))
def test_carried_reach_continues_the_training_reach(places: list[tuple[float, float]], k: int, seed: int) -> None:
    X = np.array(places)
    D, reach, _ = union_graph(X, k)
    assume(D[~np.eye(len(X), dtype=bool)].min() > 1e-9)
    np.testing.assert_allclose(carried_reach(all_lists(D), reach), reach, rtol=1e-12)
    # slope at most 1 between any two points
    new = np.random.default_rng(seed).random((12, 2)) * 3 - 1
    r = carried_reach(all_lists(cdist(new, X)), reach)
    assert (np.abs(r[:, None] - r[None, :]) <= cdist(new, new) * (1 + 1e-12) + 1e-12).all()
    # and the largest such: the distance to the k-th other training point never beats it where x is a new point
    kth = np.sort(cdist(new, X), axis=1)[:, k]
    assert (r >= kth - 1e-12).all() or k + 1 > len(X)


def test_carried_reach_of_ragged_lists() -> None:
    met = Neighbors.from_pairs(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1.0, 2.0, 0.5]), (2, 2))
    np.testing.assert_array_equal(carried_reach(met, np.array([5.0, 0.25])), [2.25, 0.75])
