"""The compiled loops against numpy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gramfold.neighbors.distance_kernels import pair_lengths, smallest

ROWS = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 12)),
    elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.inf]),
)


@settings(deadline=None)
@given(ROWS, st.data())
def test_smallest_is_a_stable_sort(values, data):
    k = data.draw(st.integers(1, values.shape[1]))
    indices, kept = np.empty((len(values), k), dtype=np.intp), np.empty((len(values), k))
    smallest(values, indices, kept)
    truth = np.argsort(values, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, truth)
    np.testing.assert_array_equal(kept, np.take_along_axis(values, truth, 1))


def test_lengths_of_float32_rows_are_summed_in_float64():
    rng = np.random.default_rng(0)
    left, right = (1e4 + rng.random((2, 30, 50))).astype(np.float32)
    i, j, out = rng.integers(0, 30, 100), rng.integers(0, 30, 100), np.empty(100)
    pair_lengths(left, i, right, j, out)
    np.testing.assert_allclose(out, np.linalg.norm(left.astype(float)[i] - right.astype(float)[j], axis=1), rtol=1e-14)
