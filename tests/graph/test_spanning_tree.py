"""Minimum spanning trees against SciPy's, on rows, distances, given edges and ties."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from gramfold.graph.build import mutual, symmetrize
from gramfold.graph.spanning_tree import spanning_tree
from gramfold.neighbors.search import build_index
from gramfold.types import Neighbors


def tree_of(X, k=3, **settings):
    index, _ = build_index(
        X,
        **{
            "metric": "euclidean",
            "metric_params": None,
            "search": "exact",
            "n_neighbors": k,
            "radius": None,
            "n_jobs": 1,
            "random_state": np.random.RandomState(0),
            **settings,
        },
    )
    return spanning_tree(index, index.own(k, None))


def rows(n, d, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d))
    X[: n // 3] += 50.0  # groups far apart: the tree has long edges
    X[n // 3 : n // 2] *= 0.01
    return X


@pytest.mark.parametrize(("n", "d"), [(2, 1), (5, 2), (300, 2), (300, 30), (40, 3)])
@pytest.mark.parametrize("kind", ["rows", "distances", "transformer"])
def test_the_tree_is_minimal(n, d, kind):
    X = rows(n, d)
    D = cdist(X, X)
    settings = {"distances": {"metric": "precomputed"}, "transformer": {"search": KNeighborsTransformer(n_neighbors=1)}}
    tree = symmetrize(tree_of(D if kind == "distances" else X, k=1, **settings.get(kind, {})))
    assert tree.nnz == 2 * (n - 1)
    assert connected_components(tree)[0] == 1
    assert tree.sum() / 2 == pytest.approx(minimum_spanning_tree(D).sum(), rel=1e-12)
    i, j = tree.nonzero()
    np.testing.assert_allclose(tree.data, D[i, j], rtol=1e-12)


def test_ties_leave_one_tree():
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    tree = symmetrize(tree_of(grid))
    assert tree.nnz == 2 * (len(grid) - 1)
    assert connected_components(tree)[0] == 1
    assert (tree.data == 1.0).all()


def test_given_edges_have_a_forest_and_edges_of_no_length_count():
    X = rows(60, 2)
    graph = csr_array(kneighbors_graph(X, 3, mode="distance"))
    graph.data[:4] = 0.0  # edges of length 0, not absent ones
    forest = symmetrize(tree_of(graph, metric="precomputed"))
    lengths = symmetrize(Neighbors.from_pairs(np.repeat(np.arange(60), 3), graph.indices, graph.data, (60, 60)))
    count = connected_components(lengths)[0]
    assert count > 1
    assert connected_components(forest)[0] == count
    assert forest.nnz == 2 * (60 - count)
    shifted = lengths.copy()
    shifted.data += 1.0  # which SciPy takes for edges all
    assert (forest.data + 1.0).sum() / 2 == pytest.approx(minimum_spanning_tree(shifted).sum())


def test_mutual_pairs_are_listed_at_both_ends():
    X = rows(100, 4)
    lists = csr_array(kneighbors_graph(X, 5)).toarray() > 0
    i, j = np.nonzero(lists)
    kept = mutual(Neighbors.from_pairs(i, j, np.linalg.norm(X[i] - X[j], axis=1), (100, 100)))
    expected = lists & lists.T
    found = np.zeros_like(expected)
    found[kept.rows, kept.indices] = True
    np.testing.assert_array_equal(found, expected)
    assert 0 < expected.sum() < lists.sum()
