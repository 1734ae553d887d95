import numpy as np
import pytest

from gramfold.errors import NotConvergedError
from gramfold.spectral.block_lanczos import block_lanczos


def with_spectrum(values: np.ndarray, seed: int = 0) -> np.ndarray:
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    return (Q * values) @ Q.T


def test_finds_what_lapack_finds() -> None:
    values = np.concatenate([[50.0, 20.0, 19.0, 3.0], np.linspace(1.0, -2.0, 296), [-7.0]])
    A = with_spectrum(values)
    found, vectors, norm = block_lanczos(lambda v: A @ v, len(A), 3)
    np.testing.assert_allclose(found, [50.0, 20.0, 19.0], rtol=1e-12)
    assert np.linalg.norm(A @ vectors - vectors * found) < 1e-10
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    assert norm == pytest.approx(50.0, rel=1e-12)


def test_every_copy_of_a_repeated_eigenvalue_is_found() -> None:
    A = with_spectrum(np.concatenate([[9.0, 9.0, 9.0, 9.0], np.linspace(2.0, 0.0, 200)]))
    found, _, norm = block_lanczos(lambda v: A @ v, len(A), 4)
    np.testing.assert_allclose(found, 9.0, rtol=1e-12)
    assert norm == pytest.approx(9.0, rel=1e-12)


def test_the_norm_is_that_of_the_largest_modulus() -> None:
    A = with_spectrum(np.concatenate([[-9.0, 5.0, 4.0], np.full(300, 1.0)]))
    found, _, norm = block_lanczos(lambda v: A @ v, len(A), 2)
    np.testing.assert_allclose(found, [5.0, 4.0], rtol=1e-12)
    assert norm == pytest.approx(9.0, rel=1e-6)


def test_one_eigenpair_of_a_matrix_that_is_negative_but_for_it() -> None:
    A = with_spectrum(np.concatenate([[2.0], -np.linspace(1.0, 4.0, 300)]))
    found, vectors, _ = block_lanczos(lambda v: A @ v, len(A), 1)
    np.testing.assert_allclose(found, [2.0], rtol=1e-11)
    assert np.linalg.norm(A @ vectors - vectors * found) < 1e-9


def test_a_flat_spectrum_is_said_to_be_too_hard() -> None:
    A = with_spectrum(np.linspace(1.0, 0.999, 1500))
    with pytest.raises(NotConvergedError, match="lie too close together"):
        block_lanczos(lambda v: A @ v, len(A), 2)
