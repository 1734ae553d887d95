"""LAPACK, with known null vectors out of the way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.spectral.dense import eigenpairs_between, symmetric_eigenpairs
from tests.spectral.examples import angle, path, path_eigenvalues, path_eigenvectors, uniform


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 20), st.integers(0, 10_000))
def test_some_eigenpairs_against_numpy(n: int, seed: int) -> None:
    A = np.random.default_rng(seed).standard_normal((n, n))
    A = A + A.T
    first = n - (n // 2 + 1)
    values, vectors = eigenpairs_between(A, first, n - 1)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[first:], atol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-11)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n - first), atol=1e-11)


@pytest.mark.parametrize("count", [1, 5, None])
def test_path_without_its_null_vector(count: int | None) -> None:
    values, vectors = symmetric_eigenpairs(path(60).toarray(), uniform(60), count)
    k = count or 59
    np.testing.assert_allclose(values, path_eigenvalues(60, k), rtol=1e-11)
    for p in range(k):
        assert angle(vectors[:, [p]], path_eigenvectors(60, k)[:, [p]]) < 1e-10


def test_several_null_vectors() -> None:
    P = np.zeros((70, 70))
    P[:30, :30], P[30:, 30:] = path(30).toarray(), path(40).toarray()
    null = np.zeros((70, 2))
    null[:30, 0], null[30:, 1] = 30**-0.5, 40**-0.5
    values, vectors = symmetric_eigenpairs(P, null)
    expected = np.sort(np.concatenate([path_eigenvalues(30, 29), path_eigenvalues(40, 39)]))
    np.testing.assert_allclose(values, expected, rtol=1e-11)
    np.testing.assert_allclose(null.T @ vectors, 0.0, atol=1e-12)


@pytest.mark.parametrize("n", [5, 20, 40, 60, 117])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_very_many_equal_eigenvalues_are_all_found(n: int, count: int) -> None:
    for A in (np.eye(n) - 1.0 / n, np.eye(n), 1e-3 * np.eye(n) - 1.0 / n):
        values, vectors = eigenpairs_between(A, n - count, n - 1)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[n - count :], atol=1e-12)
        np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-12)


@pytest.mark.parametrize("power", [-400, -3, 5, 300])
def test_some_eigenpairs_follow_the_unit_to_the_bit(power: int) -> None:
    for seed in range(10):
        A = np.random.default_rng(seed).standard_normal((9, 6))
        values, vectors = eigenpairs_between(A.T @ A, 3, 5)
        others, same = eigenpairs_between(np.ldexp(A.T @ A, power), 3, 5)
        np.testing.assert_array_equal(others, np.ldexp(values, power))
        np.testing.assert_array_equal(same, vectors)


def test_no_pairs_are_asked_for():
    values, vectors = eigenpairs_between(np.zeros((1, 1)), 1, 0)
    assert values.shape == (0,)
    assert vectors.shape == (1, 0)
