"""Linear maps of rows in partitions are those of the same rows in memory."""

import dask.array as da
import numpy as np

from gramfold import PCA


def test_pca_on_a_cluster(client):
    X = np.random.default_rng(0).standard_normal((5000, 6)) * [5, 4, 3, 1, 1, 1]
    rows = da.from_array(X, chunks=(700, 6))
    model, whole = PCA(2).fit(rows), PCA(2).fit(X)
    np.testing.assert_allclose(model.transform(rows).compute(), whole.embedding_, atol=1e-9)
