"""K = P B Pᵀ, centred on the way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.kernels.gram import centered_gram
from gramfold.spectral.policy import leading_spectrum


def example(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, n)) + 5.0
    return B + B.T, rng.integers(1, 5, n).astype(float)


def dense(B: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """H B Hᵀ with the weighted centring H = I − 1 sᵀ."""
    H = np.eye(len(B)) - np.outer(np.ones(len(B)), mass / mass.sum())
    return H @ B @ H.T


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10_000), st.sampled_from([1.0, -0.5]), st.booleans())
def test_against_dense_centring(n: int, seed: int, scale: float, weighted: bool) -> None:
    array, mass = example(n, seed)
    mass = mass if weighted else np.ones(n)
    kernel = centered_gram(array, scale=scale, mass=mass)
    K = dense(scale * array, mass)
    rng = np.random.default_rng(seed + 1)
    V, fresh = rng.standard_normal((n, 3)), rng.standard_normal((4, n))
    np.testing.assert_allclose(kernel.matrix(), K, atol=1e-12)
    np.testing.assert_allclose(kernel.product(V), K @ V, atol=1e-11)
    assert kernel.trace() == pytest.approx(mass @ np.diag(K), abs=1e-11)
    # a new row is centred with the training means: (f − sᵀf) − (means − grand mean)
    share = mass / mass.sum()
    means = scale * array @ share
    expected = scale * (fresh - (fresh @ share)[:, None]) - means + share @ means
    np.testing.assert_allclose(kernel.cross(fresh), expected, atol=1e-12)
    # over the data rows it is the plain centring
    rows = np.repeat(np.arange(n), mass.astype(int))
    np.testing.assert_allclose(
        K[np.ix_(rows, rows)], dense(scale * array[np.ix_(rows, rows)], np.ones(len(rows))), atol=1e-12
    )
    np.testing.assert_allclose(K @ mass, 0.0, atol=1e-11)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10_000))
def test_any_centre_against_dense_centring(n: int, seed: int) -> None:
    array, mass = example(n, seed)
    rng = np.random.default_rng(seed + 2)
    c = rng.standard_normal(n)
    c += (1 - c.sum()) / n  # of both signs, with sum 1
    kernel = centered_gram(array, scale=-0.5, mass=mass, center=c)
    P = np.eye(n) - np.outer(np.ones(n), c)
    K = -0.5 * P @ array @ P.T
    V, fresh = rng.standard_normal((n, 3)), rng.standard_normal((4, n))
    np.testing.assert_allclose(kernel.matrix(), K, atol=1e-10)
    np.testing.assert_allclose(kernel.product(V), K @ V, atol=1e-10)
    assert kernel.trace() == pytest.approx(mass @ np.diag(K), abs=1e-9)
    # the known null vector, of K and in the mass of the kernel
    np.testing.assert_allclose(K @ c, 0.0, atol=1e-10)
    np.testing.assert_allclose(K @ (mass[:, None] * kernel.null), 0.0, atol=1e-10)
    # a new row that equals a training row has that row of K
    np.testing.assert_allclose(kernel.cross(array[:2]), K[:2], atol=1e-10)
    np.testing.assert_allclose(kernel.cross(fresh) @ c, -(0.5 * -array @ c) @ c + kernel.grand_mean, atol=1e-10)
    assert kernel.offset() >= np.linalg.norm(np.sqrt(mass) * (0.5 * array @ (mass / mass.sum()))) * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_any_centre_of_a_conditionally_negative_matrix_is_positive_semidefinite(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    c = rng.standard_normal(40)
    c += (1 - c.sum()) / 40
    city = np.abs(X[:, None] - X[None]).sum(axis=2)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    # city-block distances themselves are conditionally negative; so are squares plus any f_i + f_j
    for matrix in (city, squared, squared + np.add.outer(X[:, 0], X[:, 0])):
        values = np.linalg.eigvalsh(centered_gram(matrix, scale=-0.5, center=c).matrix())
        assert values[0] >= -1e-12 * values[-1]
    # of points it is the Gram matrix about the weighted mean
    about = X - c @ X
    np.testing.assert_allclose(centered_gram(squared, scale=-0.5, center=c).matrix(), about @ about.T, atol=1e-10)


def test_float32_storage_multiplies_in_float64() -> None:
    array, mass = example(400, 0)  # several blocks and a shorter last one
    array = array.astype(np.float32)
    V = np.random.default_rng(1).standard_normal((400, 4))
    kernel = centered_gram(array, mass=mass)
    assert kernel.array is array
    K = dense(array.astype(np.float64), mass)
    np.testing.assert_allclose(kernel.product(V), K @ V, atol=1e-11)
    np.testing.assert_allclose(kernel.matrix(), K, atol=1e-12)


def test_duplicates_are_the_whole_gram() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    copies = rng.integers(1, 4, 30)
    rows = np.repeat(np.arange(30), copies)
    kernel = centered_gram(X @ X.T, mass=copies.astype(float), rows=rows)
    whole = dense(X[rows] @ X[rows].T, np.ones(len(rows)))
    np.testing.assert_allclose(kernel.dense(), whole, atol=1e-12)
    spectrum = leading_spectrum(kernel, 4)
    np.testing.assert_allclose(spectrum.eigenvalues, np.linalg.eigvalsh(whole)[::-1][:4], rtol=1e-12)
    vectors = spectrum.eigenvectors[rows]
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(whole @ vectors, vectors * spectrum.eigenvalues, atol=1e-11)
    assert spectrum.total == pytest.approx(np.trace(whole), rel=1e-12)


def test_what_a_user_sees_is_over_the_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    rows = rng.integers(0, 12, 20)
    mass = np.maximum(np.bincount(rows, minlength=12), 0.5)
    kernel = centered_gram(X @ X.T, mass=mass, rows=rows)
    whole = kernel.matrix()[np.ix_(rows, rows)]
    V = rng.standard_normal((20, 2))
    assert kernel.shape == whole.shape
    np.testing.assert_allclose(kernel @ V, whole @ V, atol=1e-12)
    np.testing.assert_allclose(kernel @ V[:, 0], whole @ V[:, 0], atol=1e-12)
    np.testing.assert_allclose(kernel.columns(np.array([3, 0])), whole[:, [3, 0]], atol=1e-12)
    # feature-space distances are those of the rows, as centring moves all alike
    squared = ((X[rows][:, None] - X[rows][None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(kernel.squared_distances(np.arange(20)), squared, atol=1e-12)
    np.testing.assert_allclose(
        kernel.squared_distances(np.array([1, 7]), np.array([7, 2, 3])), squared[[1, 7]][:, [7, 2, 3]], atol=1e-12
    )


def test_offset_is_the_length_of_b_times_the_uniform_vector() -> None:
    array, mass = example(9, 0)
    rows = np.repeat(np.arange(9), mass.astype(int))
    uniform = np.full(len(rows), len(rows) ** -0.5)
    expected = np.linalg.norm(-0.5 * array[np.ix_(rows, rows)] @ uniform)
    assert centered_gram(array, scale=-0.5, mass=mass).offset() == pytest.approx(expected, rel=1e-12)


def test_rounding_of_float32_entries_is_no_direction():
    """Rows of rank 3: rounded entries of their kernel span more, but by no more than the offset allows for."""
    rng = np.random.default_rng(0)
    for n in (30, 300, 1200):
        rows = rng.standard_normal((n, 3)) @ rng.standard_normal((3, 8)) + rng.choice([0.0, 10.0])
        squares = np.square(rows[:, None] - rows[None]).sum(axis=2)
        for array, scale in ((rows @ rows.T, 1.0), (squares, -0.5)):
            values = leading_spectrum(centered_gram(array.astype(np.float32), scale=scale), 5).eigenvalues
            assert (values[:3] > 0).all()
            assert (values[3:] == 0).all()
