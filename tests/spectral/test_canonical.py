"""One sign for each eigenvector."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gramfold.spectral.canonical import canonical_signs

MATRICES = arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(-5, 5, width=16))


@given(MATRICES, st.integers(0, 15))
def test_flipping_changes_nothing(vectors: np.ndarray, bits: int) -> None:
    signs = np.array([1.0 if bits >> k & 1 else -1.0 for k in range(vectors.shape[1])])
    found = canonical_signs(vectors)
    np.testing.assert_array_equal(canonical_signs(vectors * signs), found)
    np.testing.assert_array_equal(np.abs(found), np.abs(vectors))
    # the largest entry is positive, up to a tie
    assert (found.max(axis=0) >= (1 - 1e-6) * np.abs(found).max(axis=0)).all()


def test_ties_go_to_the_first() -> None:
    vectors = np.array([[0.1, -0.7, 0.0], [-0.7, 0.7 + 1e-9, 0.0], [0.7 + 1e-9, 0.1, 0.0]])
    expected = np.array([[-0.1, 0.7, 0.0], [0.7, -0.7 - 1e-9, 0.0], [-0.7 - 1e-9, -0.1, 0.0]])
    np.testing.assert_array_equal(canonical_signs(vectors), expected)
