"""Whether rows lie on a sheet, and how many neighbours hold them, against plain linear algebra and known data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from gramfold.datasets import make_gaussian_clusters, make_helix, make_s_curve, make_swiss_roll, make_twin_peaks
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.graph.rigidity import rigid_bodies
from gramfold.kernels.unfolding import MOST_NEIGHBORS, flatness, rigid_neighbors, sheet_dimension
from gramfold.methods.sde import SDE
from gramfold.runtime.progress import SILENT


def net_of(X, n_neighbors=1, **settings):
    return NeighborGraph.of(
        np.asarray(X, dtype=float),
        SDE(n_neighbors=n_neighbors, **settings),
        check=lambda n: None,
        random_state=np.random.RandomState(0),
        n_jobs=1,
        stages=SILENT,
    )


def grams_of(net):
    return net.index.vertex_grams(np.arange(net.index.size))


def test_flatness_is_that_of_principal_components():
    X = np.random.default_rng(0).standard_normal((90, 5)) * [5, 3, 1, 1, 0.5]
    net = net_of(X, 7)
    rows = np.array([3, 50, 80])
    for row, found in zip(rows, flatness(net.neighbors, grams_of(net), rows), strict=True):
        points = X[[row, *net.neighbors.indices[7 * row : 7 * row + 7]]]
        values = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) ** 2
        np.testing.assert_allclose(found, np.cumsum(values)[:2] / values.sum(), rtol=1e-10)


@pytest.mark.parametrize(
    ("X", "dimension"),
    [
        (make_helix(400, random_state=0).points, 1),
        (make_s_curve(400, random_state=0).points, 2),
        (make_swiss_roll(1000, noise=0.4, random_state=0).points, 2),
        (make_swiss_roll(500, extra_dimensions=20, random_state=0).points, 2),
        (make_gaussian_clusters(400, n_features=5, random_state=0).points, None),
        (load_digits().data[:600], None),
    ],
    ids=["helix", "S-curve", "noise", "23 columns", "5-D clusters", "digits"],
)
@pytest.mark.parametrize("k", [4, 6, 8, 12])
def test_dimension_of_a_sheet(X, dimension, k):
    net = net_of(X, k)
    found = sheet_dimension(net.neighbors, grams_of(net))
    # with noise of the size of their neighbourhoods, few neighbours show no sheet
    assert found == dimension or (k == 4 and dimension == 2 and found is None)


@pytest.mark.parametrize(
    "X",
    [make_swiss_roll(1000, random_state=0).points, make_twin_peaks(600, peak=0.5).points],
    ids=["roll", "twin peaks"],
)
def test_edges_of_a_sheet_are_just_rigid(X):
    k = rigid_neighbors(net_of(X)).n_neighbors

    def held(k):
        edges = kneighbors_graph(X, k)
        return np.mean(rigid_bodies((edges + edges.T).tocsr(), 3) == 0)

    assert held(k) >= 0.97 > held(k - 1)


def test_neighbors_are_those_of_a_search_for_as_many():
    X = load_digits().data[:300]
    net = rigid_neighbors(net_of(X))
    searched = net_of(X, net.n_neighbors)
    np.testing.assert_array_equal(net.neighbors.indices, searched.neighbors.indices)
    np.testing.assert_array_equal(net.neighbors.distances, searched.neighbors.distances)


def test_a_ring_in_many_columns_needs_two():
    turn = 2 * np.pi * np.arange(100) / 100
    ring = np.exp(-0.5 * ((turn[:, None] - turn + np.pi) % (2 * np.pi) - np.pi) ** 2 / 0.06**2)  # a bump that moves
    assert rigid_neighbors(net_of(ring)).n_neighbors == 2


def test_groups_are_held_each_by_itself():
    X = make_gaussian_clusters(300, n_clusters=3, n_features=4, separation=50, random_state=0).points
    assert rigid_neighbors(net_of(X)).n_neighbors <= 5
    one = make_s_curve(1_000, random_state=0).points
    two = np.vstack([one, one + [100, 0, 0]])
    assert abs(rigid_neighbors(net_of(two)).n_neighbors - rigid_neighbors(net_of(one)).n_neighbors) <= 1


@pytest.mark.parametrize("n", [2, 3, 5, 10, 13])
def test_small_tables_have_a_number(n):
    k = rigid_neighbors(net_of(np.random.default_rng(0).standard_normal((n, 3)))).n_neighbors
    assert 1 <= k <= min(n - 1, MOST_NEIGHBORS)


def test_a_sheet_of_few_rows_has_few_neighbors():
    """Where more would reach over much of it."""
    assert rigid_neighbors(net_of(make_s_curve(60, random_state=0).points)).n_neighbors == 4


def test_mutual_edges_need_more():
    X = make_s_curve(1_000, random_state=0).points
    mutual = replace(net_of(X), edges="mutual")
    assert rigid_neighbors(mutual).n_neighbors > rigid_neighbors(net_of(X)).n_neighbors


def test_where_nothing_holds():
    """Many small groups, none of which is a twentieth of the rows."""
    X = make_gaussian_clusters(30 * 15, n_clusters=30, n_features=30, separation=500, random_state=0).points
    assert rigid_neighbors(net_of(X)).n_neighbors == 4


def test_rows_are_connected_where_none_may_be_left_out():
    X = load_digits().data[:400]
    for rule in ("error", "largest"):
        net = rigid_neighbors(net_of(X, on_disconnected=rule))
        assert connected_components(net.whole().lengths, directed=False)[0] == 1
        assert net.n_neighbors > rigid_neighbors(net_of(X)).n_neighbors
