"""exp(−t A) V by products: against SciPy's dense exponential, and without any draw at random."""

import numpy as np
import pytest
from scipy.linalg import expm

from gramfold import HeatKernel
from gramfold.spectral.heat import heat_product
from tests.spectral.examples import path, two_clusters


@pytest.mark.parametrize("time", [0.0, 1e-8, 0.3, 5.0, 200.0, 1e4])
@pytest.mark.parametrize("make", [lambda: path(60), lambda: two_clusters(30, 0.5)])
def test_it_is_the_dense_exponential(make, time: float) -> None:
    A = make()
    V = np.random.default_rng(0).standard_normal((60, 3))
    np.testing.assert_allclose(heat_product(A, time, V), expm(-time * A.toarray()) @ V, atol=1e-12)


def test_the_global_generator_is_neither_read_nor_changed() -> None:
    rows = np.random.default_rng(0).standard_normal((120, 3))
    columns = []
    for seed in (0, 1):
        np.random.seed(seed)  # noqa: NPY002  the state that a user may have set
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        columns.append(HeatKernel(t=3.0).fit(rows).kernel_.columns([4]))
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_array_equal(*columns)
