"""New points on a graph: a row with the edges of a training row has its place, and one beside it nearly so."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from gramfold.errors import DisconnectedGraphWarning
from gramfold.extension.average import average
from gramfold.graph.build import build_graph
from gramfold.types import Graph, Neighbors


def union_graph(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances, and the edges d ≤ max(r_i, r_j), by hand."""
    D = cdist(X, X)
    reach = np.sort(D, axis=1)[:, k]
    edges = np.maximum(reach[:, None], reach[None, :]) >= D
    np.fill_diagonal(edges, val=False)
    return D, edges


def lists(D: np.ndarray, edges: np.ndarray) -> Neighbors:
    i, j = np.nonzero(edges)
    return Neighbors.from_pairs(i, j, D[i, j], D.shape)


def graph_of(D: np.ndarray, edges: np.ndarray) -> Graph:
    return build_graph(lists(D, edges), None, np.ones(len(D)))


def chain(n: int) -> Graph:
    """Vertices one after the other, all edges of length 4: within 1 of one a row passes over into it."""
    D = 4.0 * np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return graph_of(D, D == 4.0)


def eigenmaps(W: np.ndarray, mass: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = eigh(np.diag(W.sum(axis=1)) - W, np.diag(mass))
    return values[1 : count + 1], vectors[:, 1 : count + 1]


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("width", [None, 0.4])
@pytest.mark.parametrize("copies", [False, True])
def test_a_row_with_the_edges_of_a_training_row_has_its_place(
    normalized: bool, width: float | None, copies: bool
) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((120, 2))
    multiplicity = rng.integers(1, 4, 120).astype(float) if copies else np.ones(120)
    D, edges = union_graph(X, 6)
    W = edges * (1.0 if width is None else np.exp(-0.5 * (D / width) ** 2)) * np.outer(multiplicity, multiplicity)
    mass = W.sum(axis=1) if normalized else multiplicity
    penalties, vectors = eigenmaps(W, mass, 3)
    placed = average(
        lists(D, edges),
        graph_of(D, edges),
        vectors,
        width=width,
        pull=multiplicity,
        penalties=penalties,
        normalized=normalized,
    )
    np.testing.assert_allclose(placed, vectors, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("tuned", [False, True])
def test_so_it_has_under_density_and_self_tuning(alpha: float, tuned: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((120, 2)) ** 2  # dense towards a corner
    multiplicity = rng.integers(1, 4, 120).astype(float)
    D, edges = union_graph(X, 8)
    widths = np.sort(D, axis=1)[:, 7] if tuned else np.full(120, 0.2)
    w = edges * np.exp(-(D**2) / (2 * np.outer(widths, widths)))
    density = w @ multiplicity
    W = w * np.outer(multiplicity, multiplicity) / np.outer(density, density) ** alpha
    penalties, vectors = eigenmaps(W, W.sum(axis=1), 3)
    placed = average(
        lists(D, edges),
        graph_of(D, edges),
        vectors,
        width=widths if tuned else 0.2,
        new_width=widths,
        pull=multiplicity / density**alpha,
        penalties=penalties,
        normalized=True,
    )
    np.testing.assert_allclose(placed, vectors, atol=1e-14 * np.abs(vectors).max() * 120)


def test_self_tuned_weights_of_a_new_point() -> None:
    met = Neighbors.from_lists(np.array([[1, 0]]), np.array([[1.5, 2.5]]), 2)
    widths, places = np.array([1.0, 3.0]), np.array([[1.0], [2.0]])
    found = average(
        met,
        chain(2),
        places,
        width=widths,
        new_width=np.array([2.0]),
        pull=np.array([2.0, 1.0]),
        penalties=np.array([0.1]),
        normalized=False,
    )
    w = np.exp(-0.5 * np.array([2.5**2 / (2.0 * 1.0), 1.5**2 / (2.0 * 3.0)])) * [2.0, 1.0]
    np.testing.assert_allclose(found[0, 0], (w @ places[:, 0]) / (w.sum() - 0.1), rtol=1e-14)


@pytest.mark.parametrize("normalized", [True, False])
def test_a_point_passes_over_into_the_vertex_beside_it(normalized: bool) -> None:
    # 1 is a quarter of the shortest edge: at 0.25 three quarters of the way are gone
    distances = np.array([[1.0, 3.0], [0.25, 3.75], [1e-9, 4.0], [0.0, 4.0]])
    met = Neighbors.from_lists(np.tile([1, 2], (4, 1)), distances, 3)
    places, penalties = np.array([[7.0, 1.0], [1.0, 2.0], [3.0, 4.0]]), np.array([0.2, 0.4])
    found = average(met, chain(3), places, width=None, pull=np.ones(3), penalties=penalties, normalized=normalized)
    balanced = np.array([2.0, 3.0]) / (1 - penalties / (1 if normalized else 2))
    share = np.array([0.0, 0.75, 1 - 1e-9, 1.0])[:, None]
    np.testing.assert_allclose(found, share * places[1] + (1 - share) * balanced, rtol=1e-14)


def test_a_vertex_without_edges_is_not_passed_over_into() -> None:
    alone = Graph(
        csr_array((2, 2)),
        Neighbors.from_lists(np.empty((2, 0), int), np.empty((2, 0)), 2),
        None,
        np.ones(2),
        np.arange(2),
        np.arange(2),
    )
    met = Neighbors.from_lists(np.array([[1], [1]]), np.array([[0.5], [0.0]]), 2)
    found = average(
        met, alone, np.array([[1.0], [3.0]]), width=None, pull=np.ones(2), penalties=np.zeros(1), normalized=True
    )
    np.testing.assert_array_equal(found, [[3.0], [3.0]])


@pytest.mark.parametrize("n", [4, 9])
def test_eigenvalues_above_one_have_a_negative_balance(n: int) -> None:
    # a complete graph: all normalised eigenvalues are n / (n − 1)
    W = 1.0 - np.eye(n)
    penalties, vectors = eigenmaps(W, W.sum(axis=1), 2)
    assert (penalties > 1).all()
    placed = average(
        lists(W, W > 0), graph_of(W, W > 0), vectors, width=None, pull=np.ones(n), penalties=penalties, normalized=True
    )
    np.testing.assert_allclose(placed, vectors, atol=1e-12)


def test_an_eigenvalue_of_one_leaves_the_mean() -> None:
    # a star: functions of the leaves have eigenvalue 1, and the balance at the hub and leaves is 0 = 0
    met = Neighbors.from_lists(np.array([[1, 2]]), np.array([[1.0, 2.0]]), 3)
    places = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    found = average(met, chain(3), places, width=None, pull=np.ones(3), penalties=np.array([0.5, 1.0]), normalized=True)
    np.testing.assert_allclose(found, [[2.0 / 0.5, 3.0]])


def test_a_point_far_from_all_data_is_placed_by_its_nearest() -> None:
    met = Neighbors.from_lists(np.array([[2, 0], [1, 2]]), np.array([[1e3, 1e3 + 1e-4], [1e6, 2e6]]), 3)
    places = np.array([[1.0], [2.0], [5.0]])
    found = average(met, chain(3), places, width=0.5, pull=np.ones(3), penalties=np.array([0.2]), normalized=True)
    share = np.exp(-0.5 * ((1e3 + 1e-4) ** 2 - 1e3**2) / 0.5**2)
    np.testing.assert_allclose(found[:, 0], [(5 + share) / (1 + share) / 0.8, 2.0 / 0.8], rtol=1e-6)


@pytest.mark.parametrize("distance", [4.0, 1e5])
def test_weak_ties_are_told_and_put_near_the_mean(distance: float) -> None:
    met = Neighbors.from_lists(np.array([[0, 1], [0, 1]]), np.array([[1.1, 1.1], [distance, distance]]), 2)
    places = np.array([[1.0, 0.0], [3.0, 5.0]])
    penalties = np.array([0.3, 0.5])
    with pytest.warns(
        DisconnectedGraphWarning,
        match="1 of 2 new rows have edge weights too small .* near the mean of their neighbours",
    ):
        found = average(met, chain(2), places, width=1.0, pull=np.ones(2), penalties=penalties, normalized=False)
    degrees = 2 * np.exp(-0.5 * np.array([1.1, distance]) ** 2)
    np.testing.assert_allclose(found[0], places.mean(axis=0) * degrees[0] / (degrees[0] - penalties), rtol=1e-12)
    np.testing.assert_allclose(found[1], places.mean(axis=0) * (1 + degrees[1] / (2 * penalties)), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*edge weights too small")
def test_places_do_not_jump_where_ties_become_weak() -> None:
    penalty, places = np.array([0.4]), np.array([[1.0], [3.0]])
    tie = 0.8 * np.array([1 - 1e-9, 1 + 1e-9])  # of twice the penalty
    distances = np.sqrt(-2 * np.log(tie / 2))
    met = Neighbors.from_lists(np.array([[0, 1], [0, 1]]), np.column_stack([distances, distances]), 2)
    below, above = average(met, chain(2), places, width=1.0, pull=np.ones(2), penalties=penalty, normalized=False)
    np.testing.assert_allclose(below, above, rtol=1e-8)
    np.testing.assert_allclose(above, 4.0, rtol=1e-8)  # twice the mean
