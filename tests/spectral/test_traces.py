"""Traces from products: exact where all is known, within their interval otherwise."""

import numpy as np
import pytest

from gramfold.spectral.traces import sampled_inner_products, sampled_trace


def matrices(n=60, seed=0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    R = np.linalg.qr(rng.normal(size=(n, n)))[0]
    fall = 1.0 / np.arange(1, n + 1) ** 1.0
    A, B = (Q * fall) @ Q.T, (R * fall) @ R.T
    return A, A + 0.5 * B


def test_what_is_known_is_exact():
    A, _ = matrices()
    vectors = np.linalg.eigh(A)[1]
    found = sampled_trace(lambda V: A @ V, 60, vectors, 10, np.random.RandomState(0))
    assert found.values[0] == pytest.approx(np.trace(A), rel=1e-12)
    assert found.error(np.ones(1)) < 1e-12


def test_a_matrix_of_low_rank_needs_no_luck():
    A, B = (M[:, :4] @ M[:, :4].T for M in matrices())
    found = sampled_inner_products(
        lambda V: A @ V, lambda V: B @ V, 60, np.empty((60, 0)), 30, np.random.RandomState(0)
    )
    np.testing.assert_allclose(found.values, [np.sum(A * B), np.sum(A * A), np.sum(B * B)], rtol=1e-9)


def test_estimates_are_unbiased_and_within_their_interval():
    A, B = matrices()
    truth = np.array([np.sum(A * B), np.sum(A * A), np.sum(B * B)])
    trace, products, inside = [], [], 0
    for seed in range(300):
        rng = np.random.RandomState(seed)
        one = sampled_trace(lambda V: A @ V, 60, np.empty((60, 0)), 12, rng)
        both = sampled_inner_products(lambda V: A @ V, lambda V: B @ V, 60, np.empty((60, 0)), 12, rng)
        trace.append(one.values[0])
        products.append(both.values)
        inside += abs(one.values[0] - np.trace(A)) <= one.error(np.ones(1))
    off = (np.mean(trace) - np.trace(A)) / (np.std(trace) / np.sqrt(300))
    assert abs(off) < 4
    off = (np.mean(products, axis=0) - truth) / (np.std(products, axis=0) / np.sqrt(300))
    assert (np.abs(off) < 4).all()
    assert 270 <= inside <= 299  # 285 expected
