"""Neighbours where copies are neighbours, against a sort of all distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramfold.neighbors.duplicates import collapse_rows
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.search import exact_index
from gramfold.neighbors.with_copies import nearest_with_copies


def found(X, k):
    collapse = collapse_rows(X)
    index = exact_index(X[collapse.first], make_metric("euclidean", None, X), 1)
    lists = nearest_with_copies(index, collapse, k)
    return lists.indices.reshape(-1, k), lists.distances.reshape(-1, k)


def expected(X, k):
    distances = cdist(X, X)
    distances[np.diag_indices(len(X))] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


@pytest.mark.parametrize("k", [1, 3, 10, 25])
@pytest.mark.parametrize("values", [2, 4, 50])
def test_as_a_sort_of_all_distances(k, values):
    X = np.random.default_rng(values).integers(0, values, size=(200, 3)).astype(float)
    for ours, theirs in zip(found(X, k), expected(X, k), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_fewer_distinct_rows_than_neighbors():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]], [4, 1, 7], axis=0)[np.random.default_rng(0).permutation(12)]
    for k in (1, 5, 11):
        for ours, theirs in zip(found(X, k), expected(X, k), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_all_rows_equal():
    indices, distances = found(np.ones((5, 2)), 3)
    np.testing.assert_array_equal(indices, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]])
    assert not distances.any()


def test_many_copies_of_one_row_are_searched_once():
    # a search among all of them would compare 30,000² pairs
    X = np.concatenate([np.zeros((30_000, 2)), np.random.default_rng(0).standard_normal((2_000, 2))])
    indices, _distances = found(X, 5)
    np.testing.assert_array_equal(indices[[0, 17_000]], [[1, 2, 3, 4, 5], [0, 1, 2, 3, 4]])
    some = slice(30_000, 30_050)
    theirs = cdist(X[some], X)
    theirs[np.arange(50), np.arange(30_000, 30_050)] = np.inf
    np.testing.assert_array_equal(indices[some], np.argsort(theirs, axis=1, kind="stable")[:, :5])
