"""Lanczos by products: right, complete, and with errors of our own."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence

from gramfold.errors import NotConvergedError
from gramfold.spectral import krylov
from gramfold.spectral.krylov import largest_eigenpairs, largest_eigenvalue, largest_of_any_sign
from tests.spectral.examples import angle, path, torus, torus_eigenvalues


def with_spectrum(values: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, len(values))))[0]
    return (Q * values) @ Q.T


@pytest.mark.parametrize("seed", range(3))
def test_random_matrices_against_numpy(seed: int) -> None:
    A = np.random.default_rng(seed).standard_normal((300, 300))
    A = A + A.T
    every, basis = np.linalg.eigh(A)
    values, vectors = largest_eigenpairs(lambda v: A @ v, 300, 4)
    np.testing.assert_allclose(values, every[::-1][:4], rtol=1e-12)
    assert angle(vectors, basis[:, ::-1][:, :4]) < 1e-9
    values, vectors = largest_of_any_sign(lambda v: A @ v, 300, 4)
    np.testing.assert_allclose(values, every[::-1][:4], rtol=1e-12)
    assert angle(vectors, basis[:, ::-1][:, :4]) < 1e-9


def test_copies_beside_larger_negative_eigenvalues_are_found() -> None:
    K = with_spectrum(np.array([3.0, 3, 3, 1, -8, -8, -9]), 200)  # and 0, many times
    values, vectors = largest_of_any_sign(lambda v: K @ v, 200, 3)
    np.testing.assert_allclose(values, [3, 3, 3], rtol=1e-10)
    np.testing.assert_allclose(K @ vectors, 3 * vectors, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-10)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 9, 12, 20])
def test_every_copy_of_a_repeated_eigenvalue_is_found(count: int) -> None:
    # eigenvalues of a square torus come four and eight at a time; Lanczos from one start skips some
    A, n = torus(14, 14), 196
    expected = torus_eigenvalues(14, 14, count)
    L_plus = np.linalg.pinv(A.toarray(), hermitian=True)
    found = largest_eigenpairs(lambda v: L_plus @ v, n, count, tolerance=1e-9)[0]
    np.testing.assert_allclose(found, 1 / expected, rtol=1e-8)
    values, vectors = largest_of_any_sign(lambda v: L_plus @ v, n, count)
    np.testing.assert_allclose(values, 1 / expected, rtol=1e-10)
    np.testing.assert_allclose(L_plus @ vectors, vectors * values, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-10)


def test_a_skipped_copy_is_put_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    K = with_spectrum(np.array([9.0, 9, 9, 4, 2, 1]), 150)
    plain, calls = krylov.lanczos, []

    def skips(product: object, n: int, count: int, **options: object) -> tuple[np.ndarray, np.ndarray]:
        calls.append(count)
        if len(calls) > 1:
            return plain(product, n, count, **options)
        values, vectors = plain(product, n, 5)
        return values[[0, 3, 4]], vectors[:, [0, 3, 4]]  # two of the three nines are not seen

    monkeypatch.setattr(krylov, "lanczos", skips)
    values, vectors = largest_eigenpairs(lambda v: K @ v, 150, 3)
    np.testing.assert_allclose(values, [9, 9, 9], rtol=1e-12)
    np.testing.assert_allclose(K @ vectors, 9 * vectors, atol=1e-10)


def test_eigenvalues_that_lie_apart_take_few_products() -> None:
    K = with_spectrum(np.array([1.0, *4.0 ** -np.arange(30)]), 400)  # the largest is there twice
    products = {}
    for apart in (False, True):
        seen: list[int] = []

        def product(v: np.ndarray, seen: list[int] = seen) -> np.ndarray:
            seen.append(1)
            return K @ v

        values, vectors = largest_eigenpairs(product, 400, 3, apart=apart)
        np.testing.assert_allclose(values, [1.0, 1.0, 0.25], rtol=1e-12)
        np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-11)
        products[apart] = len(seen)
    assert products[True] < 0.8 * products[False]


@pytest.mark.parametrize("count", [3, 6])
def test_more_than_the_rank(count: int) -> None:
    K = with_spectrum(np.array([5.0, 3.0]), 400)
    values, vectors = largest_eigenpairs(lambda v: K @ v, 400, count)
    np.testing.assert_allclose(values, [5, 3, *[0] * (count - 2)], atol=1e-12)
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-12)


def test_runs_repeat_bit_for_bit() -> None:
    A = torus(15, 11)
    first, second = (largest_eigenpairs(lambda v: A @ v, 165, 5) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_largest_eigenvalue(n: int) -> None:
    A = csr_array(path(n) if n > 1 else np.array([[3.0]]))
    assert largest_eigenvalue(A) == pytest.approx(np.linalg.eigvalsh(A.toarray())[-1], rel=1e-12)


@pytest.mark.parametrize("error", [ArpackError(-9), ArpackNoConvergence("no", np.ones(1), np.ones((9, 1)))])
def test_no_raw_error_of_arpack_escapes(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(krylov, "eigsh", fails)
    with pytest.raises(NotConvergedError, match=r"Lanczos (found 1 of 3 eigenpairs|could not start)") as caught:
        largest_eigenpairs(lambda v: v, 9, 3)
    assert caught.value.__cause__ is error


def test_an_operator_that_is_not_symmetric_ends_in_an_error_of_ours() -> None:
    A = np.triu(np.random.default_rng(0).standard_normal((200, 200)))
    with pytest.raises(NotConvergedError):
        largest_eigenpairs(lambda v: A @ v, 200, 3)
