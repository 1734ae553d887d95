"""Kernel functions against scikit-learn's."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_kernels

from gramfold.errors import InputError
from gramfold.kernels.functions import NAMES, SYNONYMS, RowKernel, check_kernel, default_gamma

PARAMETERS = {
    "linear": {},
    "poly": {"gamma": 0.3, "degree": 2, "coef0": 0.7},
    "rbf": {"gamma": 0.3},
    "sigmoid": {"gamma": 0.3, "coef0": 0.7},
    "cosine": {},
}


def rows(n: int, d: int = 4, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[np.abs(X) < 0.4] = 0.0
    return X


def test_every_name_is_covered() -> None:
    assert set(PARAMETERS) == set(NAMES)
    assert set(SYNONYMS.values()) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_against_scikit_learn(name: str, kind: type, dtype: type) -> None:
    left, right = rows(7).astype(dtype), rows(9, seed=1).astype(dtype)
    found = RowKernel(name, gamma=0.3, degree=2, coef0=0.7)(kind(left), kind(right))
    assert found.dtype == np.float64
    expected = pairwise_kernels(left.astype(float), right.astype(float), metric=name, **PARAMETERS[name])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, csr_array])
def test_the_diagonal_is_that_of_the_matrix(name: str, kind: type) -> None:
    X = np.vstack([rows(7), np.zeros((1, 4))])
    kernel = RowKernel(name, gamma=0.3, degree=2, coef0=0.7)
    np.testing.assert_allclose(kernel.diagonal(kind(X)), np.diag(kernel(kind(X), kind(X))), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_what_varies_is_the_kernel_less_a_constant(name: str, kind: type) -> None:
    kernel = RowKernel(name, gamma=0.3, degree=2, coef0=0.7)
    left, right = kind(rows(7)), kind(rows(9, seed=1))
    constants = kernel(left, right) - kernel.varying(left, right)
    np.testing.assert_allclose(constants, kernel(kind(np.zeros((1, 4))), kind(np.zeros((1, 4)))).item(), atol=1e-14)
    np.testing.assert_array_equal(RowKernel(np.dot).varying(rows(3), rows(3)), RowKernel(np.dot)(rows(3), rows(3)))


def test_a_wide_gaussian_varies_in_all_digits() -> None:
    X = rows(20)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    found = RowKernel("rbf", gamma=1e-12).varying(X, X)
    np.testing.assert_allclose(found, -1e-12 * squared, rtol=1e-10, atol=1e-25)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_the_diagonal_of_a_function(kind: type) -> None:
    kernel = RowKernel(lambda x, y, power: float((x * y).sum()) ** power, params={"power": 2})
    X = kind(rows(5))
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)), rtol=1e-12)


def test_the_gaussian_far_from_the_origin_keeps_its_digits() -> None:
    X = rows(30)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    found = RowKernel("rbf", gamma=0.5)(X + 1e6, X + 1e6)
    np.testing.assert_allclose(found, np.exp(-0.5 * squared), atol=1e-8)  # 1e6 itself is rounded at 1e-10


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, csr_array])
def test_default_gamma(kind: type) -> None:
    X = rows(50) + 0.5
    pairs = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    # total variance is half the mean squared distance, so the default is 1 / mean squared distance
    assert default_gamma("rbf", kind(X)) == pytest.approx(1 / pairs.mean(), rel=1e-12)
    assert default_gamma("poly", kind(X)) == default_gamma("sigmoid", kind(X)) == 0.25
    assert default_gamma("linear", kind(X)) is default_gamma("cosine", kind(X)) is None


def test_default_gamma_of_equal_rows_is_finite() -> None:
    assert default_gamma("rbf", np.ones((5, 2))) == 1.0


def test_a_function_of_two_rows() -> None:
    def overlap(x: np.ndarray, y: np.ndarray, power: float = 1.0) -> float:
        return float(np.minimum(x, y).sum() ** power)

    left, right = np.abs(rows(5)), np.abs(rows(6, seed=1))
    found = RowKernel(overlap, params={"power": 2.0})(left, right)
    np.testing.assert_allclose(found, np.minimum(left[:, None], right[None]).sum(axis=-1) ** 2, rtol=1e-13)


def test_values_that_are_not_finite_are_named() -> None:
    def broken(x: np.ndarray, y: np.ndarray) -> float:
        return np.nan if x[0] == y[0] else 1.0

    with pytest.raises(InputError, match=r"'broken' returned NaN or infinity for some pair.*finite number"):
        RowKernel(broken)(rows(4), rows(4))
    with pytest.raises(InputError, match="'poly' returned NaN or infinity"):
        RowKernel("poly", gamma=1.0, degree=2.5, coef0=0.0)(rows(4), -rows(4))
    with pytest.raises(InputError, match="'poly' returned NaN or infinity"):
        RowKernel("poly", gamma=1e200, degree=3)(rows(4), rows(4))


def test_precomputed_matrices_that_are_no_kernels() -> None:
    K = np.array([[2.0, 1.0], [0.5, 3.0]])
    with pytest.raises(
        InputError, match=r"not symmetric: entry \(0, 1\) is 1 and entry \(1, 0\) is 0\.5; use \(K \+ K\.T\) / 2"
    ):
        check_kernel(K)
    with pytest.raises(InputError, match="square matrix of kernel values, but got 2 x 3"):
        check_kernel(np.ones((2, 3)))
    with pytest.raises(InputError, match=r"sparse matrix.*pass K\.toarray\(\)"):
        check_kernel(csr_array(np.eye(3)))


def test_rounding_is_no_asymmetry() -> None:
    K = np.array([[1.0, 0.5], [0.5 + 1e-9, 1.0]])
    check_kernel(K)
    check_kernel(np.array([[1.0, 0.5], [0.5 + 5e-7, 1.0]], dtype=np.float32))
    check_kernel(np.zeros((2, 2)))
    with pytest.raises(InputError, match="not symmetric"):
        check_kernel(np.array([[1.0, 0.5], [0.5 + 1e-4, 1.0]], dtype=np.float32))
    with pytest.raises(InputError, match="not symmetric"):
        check_kernel(np.array([[1e-12, 1e-13], [0.0, 1e-12]]))


def test_gaussian_of_near_rows_beside_one_far_away():
    """Products about the mean would lose all digits of what is near."""
    rows = np.random.default_rng(0).standard_normal((12, 10))
    rows[5] *= 4e7
    kernel = RowKernel("rbf", gamma=0.01)
    expected = np.expm1(-0.01 * cdist(rows, rows, "sqeuclidean"))
    np.testing.assert_allclose(kernel.varying(rows, rows), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel.varying(rows[:1], rows), expected[:1], rtol=1e-9)
