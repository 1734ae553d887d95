"""The plain map that others are compared with."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from gramfold.kernels.plain_map import rows_by
from gramfold.neighbors.metrics import make_metric


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("d", [20, 400])
def test_sparse_rows_are_as_dense_ones(metric, d):
    rng = np.random.default_rng(0)
    along, across = np.cos(np.arange(90) / 15), np.sin(np.arange(90) / 15)
    even = np.arange(d) % 2
    X = rng.poisson(0.2, (90, d)) + 2.0 * np.outer(1 + along, even) + 1.2 * np.outer(1 + across, 1 - even)
    X[:, 0] += 1.0
    some, others = np.arange(0, 90, 2), np.arange(30)
    sparse, dense = (rows_by(make_metric(metric, None, rows), rows) for rows in (csr_array(X), X))
    np.testing.assert_allclose(sparse.squares(some, others), dense.squares(some, others), atol=1e-9)
    found, expected = sparse.plain_map(some, 2), dense.plain_map(some, 2)
    first, second = cdist(found, found), cdist(expected, expected)
    assert np.corrcoef(first.ravel(), second.ravel())[0, 1] > 0.99
    assert np.abs(first - second).max() < 0.1 * second.max()
