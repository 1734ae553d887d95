"""Identical rows are found, whatever their bytes, and keep the order in which they came."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from gramfold.neighbors.duplicates import KnownRows, collapse_distances, collapse_rows

# few values, so that most tables hold duplicates; both zeros
VALUES = st.sampled_from([0.0, -0.0, 1.0, 0.1, -2.5, 1e-300, 1e30])
SHAPES = st.tuples(st.integers(1, 25), st.integers(1, 3))
TABLES = st.sampled_from(["f4", "f8"]).flatmap(
    lambda dtype: SHAPES.flatmap(
        lambda shape: arrays(dtype, shape, elements=VALUES.map(lambda v: float(np.array(v, dtype))))
    )
)


def plain_collapse(rows):
    """First appearance, vertex of each row, multiplicity: by a dictionary of tuples."""
    place, first, vertex, counts = {}, [], [], []
    for number, row in enumerate(map(tuple, rows.tolist())):
        if row not in place:
            place[row] = len(first)
            first.append(number)
            counts.append(0)
        vertex.append(place[row])
        counts[place[row]] += 1
    return first, vertex, counts


def assert_same(collapse, plain):
    first, vertex, counts = plain
    np.testing.assert_array_equal(collapse.first, first)
    np.testing.assert_array_equal(collapse.vertex, vertex)
    np.testing.assert_array_equal(collapse.multiplicity, counts)
    assert len(collapse) == len(first)


@settings(deadline=None)
@given(TABLES)
def test_rows_are_grouped_as_a_dictionary_would(X):
    assert_same(collapse_rows(X), plain_collapse(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_whole_numbers(dtype):
    # short numbers fill only the upper bits of a float: the keys must still tell them apart
    X = np.random.default_rng(0).integers(0, 6, (4000, 4)).astype(dtype)
    assert_same(collapse_rows(X), plain_collapse(X))


@pytest.mark.parametrize("d", [63, 64, 65, 300])
def test_rows_that_differ_in_a_single_column(d):
    """Whether or not it is among the columns that are looked at first."""
    X = np.repeat(np.ones((1, d)), d + 4, axis=0)
    X[np.arange(d), np.arange(d)] = 2.0
    assert_same(collapse_rows(X), plain_collapse(X))


def test_rows_that_share_a_key_but_not_their_values_stay_apart(monkeypatch):
    monkeypatch.setattr("gramfold.neighbors.duplicates._row_keys", lambda X: np.zeros(len(X), dtype=np.uint64))
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 1.0], [1.0, 1.0]])
    assert_same(collapse_rows(X), plain_collapse(X))


def test_both_zeros_are_the_same_point():
    collapse = collapse_rows(np.array([[0.0, -0.0], [1.0, 0.0], [-0.0, 0.0]], dtype=np.float32))
    assert collapse.vertex.tolist() == [0, 1, 0]
    assert collapse.multiplicity.tolist() == [2.0, 1.0]


def test_columns_in_any_memory_order():
    X = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]])
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        assert collapse_rows(same).vertex.tolist() == [0, 1, 0]


def test_a_column_without_repeats_settles_it(monkeypatch):
    monkeypatch.setattr("gramfold.neighbors.duplicates._row_keys", lambda X: pytest.fail("looked at every column"))
    X = np.column_stack([np.arange(5.0), np.zeros(5)])
    assert collapse_rows(X).vertex.tolist() == list(range(5))


@settings(deadline=None)
@given(TABLES.filter(lambda X: np.abs(X).max() < 1e10))
def test_distances_are_grouped_as_their_points(X):
    D = cdist(X, X, "cityblock")  # exact zeros, and equal rows of D for equal points
    exact = cdist(D, D, "chebyshev") == 0  # 1e-300 and 0 are one point to a matrix that cannot tell them apart
    assert_same(collapse_distances(D), plain_collapse(np.argmax(exact, axis=1)[:, None]))


def test_distance_zero_is_not_enough():
    # 0 and 1 touch, but 2 is not as far from the one as from the other: three vertices
    D = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    assert collapse_distances(D).vertex.tolist() == [0, 1, 2]


def test_all_points_the_same():
    collapse = collapse_distances(np.zeros((50, 50)))
    assert collapse.vertex.tolist() == [0] * 50
    assert collapse.multiplicity.tolist() == [50.0]


def test_distances_that_rounding_made_unlike_are_still_of_copies():
    rows = np.random.default_rng(0).normal(size=(6, 3))[[0, 1, 0, 2, 3, 1, 0]]
    D = cdist(rows, rows)
    off = D * (1 + 1e-10 * np.random.default_rng(1).normal(size=D.shape))
    off = (off + off.T) / 2
    assert len(collapse_distances(off)) == 7
    assert_same(collapse_distances(off, 1e-8), plain_collapse(rows))
    far = D.copy()
    far[0, 4] = far[4, 0] = 9.0  # no longer what its copies see
    assert collapse_distances(far, 1e-8).first.tolist() == [0, 1, 2, 3, 4]
    assert collapse_distances(far, 1e-8).vertex.tolist() == [0, 1, 2, 3, 4, 1, 2]


@settings(max_examples=50, deadline=None)
@given(TABLES, st.integers(0, 1000))
def test_known_rows_are_found(table, seed):
    rng = np.random.default_rng(seed)
    asked = np.concatenate([table[rng.integers(0, len(table), 8)], rng.normal(size=(2, table.shape[1]))])
    equal = (asked[:, None] == table[None]).all(axis=2)
    known = KnownRows(table)
    i, j = known.pairs(asked)
    found = np.zeros_like(equal)
    found[i, j] = True
    np.testing.assert_array_equal(found, equal)
    np.testing.assert_array_equal(known.find(asked), np.where(equal.any(axis=1), equal.argmax(axis=1), -1))


def test_weights_of_copies_add_up():
    copies = collapse_rows(np.array([[1.0], [2.0], [1.0], [3.0], [1.0]]))
    weighted = copies.weighted(np.array([0.5, 2.0, 1.5, 4.0, 1.0]))
    assert weighted.multiplicity.tolist() == [3.0, 2.0, 4.0]
    assert weighted.counts.tolist() == copies.multiplicity.tolist() == [3.0, 1.0, 1.0]
    assert np.array_equal(weighted.vertex, copies.vertex)
