import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.errors import NotConvergedError
from gramfold.spectral import chebyshev
from gramfold.spectral.chebyshev import chebyshev_eigenpairs
from tests.spectral.examples import angle, path, torus, torus_eigenvalues, two_clusters, uniform


def plain_filter(A: np.ndarray, V: np.ndarray, low: float, high: float, degree: int) -> np.ndarray:
    """T_m on all eigenvalues, by its definition inside and outside of [−1, 1]."""
    values, vectors = np.linalg.eigh(A)
    x = (values - (high + low) / 2) / ((high - low) / 2)
    inside = np.cos(degree * np.arccos(np.clip(x, -1, 1)))
    outside = np.sign(x) ** degree * np.cosh(degree * np.arccosh(np.maximum(np.abs(x), 1)))
    return (vectors * np.where(np.abs(x) <= 1, inside, outside)) @ (vectors.T @ V)


@pytest.mark.parametrize("degree", [1, 2, 7, 20])
def test_the_filter_is_the_chebyshev_polynomial(degree: int) -> None:
    A = two_clusters(40, 0.5)
    V = np.random.default_rng(0).standard_normal((80, 8))
    expected = plain_filter(A.toarray(), V, 3.0, 25.0, degree)
    found = chebyshev._filtered(A, V, 3.0, 25.0, degree)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_finds_what_lapack_finds() -> None:
    A = two_clusters(300, 0.5)
    values, vectors = chebyshev_eigenpairs(A, uniform(600), 4, 1e-9)
    expected, axes = np.linalg.eigh(A.toarray())
    np.testing.assert_allclose(values, expected[1:5], rtol=1e-10)
    assert angle(vectors, axes[:, 1:5]) < 1e-6  # residual over the gap to the next
    assert (np.linalg.norm(A @ vectors - vectors * values, axis=0) <= 1e-9 * values).all()


def test_every_copy_of_a_repeated_eigenvalue_is_found() -> None:
    values, _ = chebyshev_eigenpairs(torus(20, 20), uniform(400), 6, 1e-8)
    np.testing.assert_allclose(values, torus_eigenvalues(20, 20, 6), rtol=1e-9)


def test_a_long_path_is_given_up_when_it_is_seen_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    plain = chebyshev._filtered

    def counted(matrix: csr_array, block: np.ndarray, low: float, high: float, degree: int) -> np.ndarray:
        used.append(degree)
        return plain(matrix, block, low, high, degree)

    monkeypatch.setattr(chebyshev, "_filtered", counted)
    with pytest.raises(NotConvergedError, match=r"would need \d+ more, because the eigenvalues lie too close together"):
        chebyshev_eigenpairs(path(5000), uniform(5000), 2, 1e-7, most_products=2000)
    assert sum(used) < 1000


def test_a_good_start_saves_products(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    plain = chebyshev._filtered
    monkeypatch.setattr(chebyshev, "_filtered", lambda *a: used.append(a[-1]) or plain(*a))
    A = two_clusters(300, 0.5)
    _, vectors = chebyshev_eigenpairs(A, uniform(600), 3, 1e-9)
    cold = sum(used)
    chebyshev_eigenpairs(A, uniform(600), 3, 1e-9, start=vectors)
    assert sum(used) - cold < cold
