"""The kernels against NumPy, compiled and as the plain functions (`__wrapped__`) that a debugger steps into."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gramfold.neighbors.distance_kernels import meet, pair_lengths, pair_products, see, smallest

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


def test_products_of_pairs():
    rng = np.random.default_rng(1)
    left, right = rng.standard_normal((2, 30, 50)).astype(np.float32)
    i, j, out = rng.integers(0, 30, 100), rng.integers(0, 30, 100), np.empty(100, dtype=np.float32)
    pair_products(left, i, right, j, out)
    np.testing.assert_allclose(out, np.einsum("pc,pc->p", left.astype(float)[i], right.astype(float)[j]), atol=1e-5)


def tiles(seed):
    """Two tables of rows, their squared norms and products; many distances are equal up to rounding."""
    rng = np.random.default_rng(seed)
    height, width = rng.integers(1, [12, 70])  # more columns than one pass of the kernel
    rows = rng.integers(0, 3, (height + width, 3)) + 1e-7 * rng.integers(0, 3, (height + width, 3))
    left, right = np.split((0.37 * rows).astype(np.float32), [height])
    return left, right, np.square(left).sum(axis=1), np.square(right).sum(axis=1), left @ right.T


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 200))
def test_pairs_within_a_radius_are_decided_in_float64(seed, room):
    *_, left_norms, right_norms, products = tiles(seed)
    squares = (left_norms[:, None] + right_norms).astype(float) - 2 * products.astype(float)
    own, theirs = squares[:, 0].astype(np.float32), squares[-1].astype(np.float32)  # a distance of each, rounded
    truth = np.argwhere(squares <= np.maximum(own[:, None], theirs))
    for run in (see, see.__wrapped__):
        i, j, count = np.full(room, -1), np.full(room, -1), np.zeros(1, dtype=np.intp)
        run(products, left_norms, right_norms, own, theirs, i, j, count)
        assert count[0] == len(truth)
        np.testing.assert_array_equal(np.column_stack([i, j])[: len(truth)], truth[:room])


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.booleans(), st.booleans())
def test_neighbour_lists_are_the_same_compiled_and_plain(seed, k, certain, both):
    left, right, left_norms, right_norms, products = tiles(seed)
    n, lists = len(left) + len(right), []
    truth = np.sort((left_norms[:, None] + right_norms).astype(float) - 2 * products.astype(float), axis=1)[:, :k]
    for run in (meet, meet.__wrapped__):
        indices, squares = np.full((n, k), -1, dtype=np.int32), np.full((n, k), np.inf, dtype=np.float32)
        loose = products if certain else products + np.float32(0.1)  # upper bounds
        run(loose, certain, left, right, left_norms, right_norms, 0, len(left), both, indices, squares)
        np.testing.assert_allclose(squares[: len(left), : truth.shape[1]], truth, atol=1e-6)
        lists.append((indices.tobytes(), squares.tobytes()))
    assert lists[0] == lists[1] or not certain  # or products are summed by another library
