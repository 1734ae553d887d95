"""Entries of an inverse, against NumPy's inverse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, eye_array

from gramfold.direct.factor import Factor, Symbolic
from gramfold.direct.selected_inverse import SelectedInverse
from tests.direct.test_factor import SMALL_PARTS, grid, symmetric


def check(A: csr_array, symbolic: Symbolic, tolerance: float) -> None:
    i, j = A.nonzero()
    found = SelectedInverse.of(symbolic, i, j).entries(Factor.of(A, symbolic))
    plain = np.linalg.inv(A.toarray())
    np.testing.assert_allclose(found, plain[i, j], atol=tolerance * np.abs(plain).max())


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 80), st.integers(0, 400), st.integers(0, 10_000))
def test_entries_are_those_of_the_dense_inverse(n, edges, seed):
    A = symmetric(n, edges, seed)
    check(A, Symbolic.of(A, costs=SMALL_PARTS), 1e-11)


@pytest.mark.parametrize("shift", [-0.1, 0.5, 3.99])
def test_supernodes_and_tails_of_more_than_a_block(shift):
    A = csr_array(grid(40) - shift * eye_array(1600))
    check(A, Symbolic.of(A, costs=SMALL_PARTS), 1e-9)


def test_the_number_of_threads_does_not_count():
    A = csr_array(grid(60) + 0.1 * eye_array(3600))
    symbolic = Symbolic.of(A, costs=SMALL_PARTS)
    selected, factor = SelectedInverse.of(symbolic, *A.nonzero()), Factor.of(A, symbolic)
    np.testing.assert_array_equal(selected.entries(factor, n_jobs=1), selected.entries(factor, n_jobs=4))
