"""Rows that two tables have in common."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csr_array

from gramfold.neighbors.common_rows import common_rows


def plain(new, old):
    """Each row compared with each, in Python."""
    pairs = []
    for i, row in enumerate(new):
        equal = [j for j, other in enumerate(old) if (row == other).all()]
        pairs += [(i, equal[0])] if equal else []
    return np.array(pairs, dtype=int).reshape(-1, 2)


def small_tables(columns: int):
    values = st.sampled_from([0.0, -0.0, 1.0, -1.5, 0.1])
    return st.integers(1, 8).flatmap(lambda n: arrays(np.float64, (n, columns), elements=values))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 3).flatmap(lambda d: st.tuples(small_tables(d), small_tables(d))))
def test_rows_are_those_that_a_plain_search_finds(tables):
    new, old = tables
    expected = plain(new, old)
    np.testing.assert_array_equal(common_rows(new, old), expected)
    np.testing.assert_array_equal(common_rows(csr_array(new), csr_array(old)), expected)
    np.testing.assert_array_equal(common_rows(new, csr_array(old)), expected)
    np.testing.assert_array_equal(common_rows(csr_array(new), old), expected)


def test_float32_rows_equal_float64_ones_to_their_precision():
    X = np.random.default_rng(0).standard_normal((50, 4))
    order = np.random.default_rng(1).permutation(50)
    for new, old in ((X[order].astype(np.float32), X), (X[order], X.astype(np.float32))):
        np.testing.assert_array_equal(common_rows(new, old), np.column_stack([np.arange(50), order]))
    assert len(common_rows(X * 1e200, X.astype(np.float32))) == 0


def test_a_missing_value_equals_no_other():
    X = np.array([[1.0, np.nan], [1.0, 2.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(common_rows(X, X), [[1, 1]])


def test_stored_zeros_and_split_entries_do_not_count():
    # [0, 3] stored as 0, 1 + 2
    odd = coo_array(([0.0, 1.0, 2.0], ([0, 0, 0], [0, 1, 1])), shape=(1, 2)).tocsr()
    np.testing.assert_array_equal(common_rows(odd, csr_array([[5.0, 5.0], [0.0, 3.0]])), [[0, 1]])


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_many_duplicates_are_one_match_each(make):
    X = np.zeros((20_000, 3))  # 4e8 pairs of equal rows
    X[7] = 1.0
    pairs = common_rows(make(X), make(X))
    np.testing.assert_array_equal(pairs[:, 0], np.arange(20_000))
    np.testing.assert_array_equal(np.unique(pairs[:, 1]), [0, 7])
