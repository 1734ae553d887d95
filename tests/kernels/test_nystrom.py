"""A Gram matrix through a few of its columns, and a kernel with gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.errors import InputError
from gramfold.kernels.functions import RowKernel
from gramfold.kernels.nystrom import LandmarkColumns, LandmarkValues, complete_kernel, nystrom_gram
from gramfold.spectral.nystrom import nystrom_spectrum

GAUSSIAN = RowKernel("rbf", gamma=0.2)


def centered(K: np.ndarray) -> np.ndarray:
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ K @ H


def low_rank(n: int, rank: int, seed: int) -> np.ndarray:
    Z = np.random.default_rng(seed).standard_normal((n, rank))
    return Z @ Z.T


def through(K: np.ndarray, landmarks: np.ndarray):
    """The kernel object of a matrix that is at hand."""
    columns = LandmarkColumns(None, None, len(landmarks))
    return nystrom_gram(LandmarkValues(columns, np.ascontiguousarray(K[:, landmarks])), landmarks)


def of_function(function: RowKernel, X: np.ndarray, count: int, **blocks: int):
    """The kernel object of a function, with the first rows as landmarks."""
    return nystrom_gram(LandmarkValues(LandmarkColumns(function, X[:count], count, **blocks), X), np.arange(count))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 10_000))
def test_a_subset_of_the_kernels_rank_reproduces_it(rank: int, spare: int, seed: int) -> None:
    K = low_rank(30, rank, seed)
    rng = np.random.default_rng(seed)
    landmarks = np.sort(rng.choice(30, rank + spare, replace=False))
    # how far any such formula can be trusted: the smallest eigenvalue of A that is not rounding
    rounding = 1e-13 * np.trace(K) ** 2 / max(np.linalg.eigvalsh(K[np.ix_(landmarks, landmarks)])[spare], 1e-300)
    kernel = through(K, landmarks)
    np.testing.assert_allclose(kernel.matrix(), centered(K), atol=rounding)
    assert kernel.explained == pytest.approx(np.trace(K), abs=30 * rounding)
    V = rng.standard_normal((30, 2))
    np.testing.assert_allclose(kernel @ V, centered(K) @ V, atol=30 * rounding)


@pytest.mark.parametrize("spare", [0, 1, 10, 193])
def test_eigenpairs_of_a_low_rank_kernel_are_exact(spare: int) -> None:
    K = low_rank(200, 7, 0)
    spectrum = nystrom_spectrum(through(K, np.arange(7 + spare)), 7)
    values, vectors = np.linalg.eigh(centered(K))
    np.testing.assert_allclose(spectrum.eigenvalues, values[::-1][:7], rtol=1e-10)
    assert np.abs(spectrum.eigenvectors.T @ vectors[:, ::-1][:, :7]).max(axis=1) == pytest.approx(1.0, abs=1e-10)
    np.testing.assert_allclose(spectrum.eigenvectors.T @ spectrum.eigenvectors, np.eye(7), atol=1e-10)
    np.testing.assert_allclose(
        (spectrum.eigenvectors * spectrum.eigenvalues) @ spectrum.eigenvectors.T, centered(K), atol=1e-10 * values[-1]
    )


def test_against_the_formula_of_the_paper() -> None:
    # (1.24) uncentred, V = [A; Bᵀ] A^-½ U_Q Λ_Q^-½ with Q = A + A^-½ B Bᵀ A^-½, then centred by hand
    X = np.random.default_rng(0).standard_normal((50, 3))
    K = GAUSSIAN(X, X)
    A, B = K[:12, :12], K[:12, 12:]
    values, U = np.linalg.eigh(A)
    root = (U / np.sqrt(values)) @ U.T
    values, U = np.linalg.eigh(A + root @ B @ B.T @ root)
    V = np.vstack([A, B.T]) @ root @ U / np.sqrt(values)
    np.testing.assert_allclose(V.T @ V, np.eye(12), atol=1e-9)
    expected = centered((V * values) @ V.T)
    kernel = of_function(GAUSSIAN, X, 12, entries_per_block=12 * 7)  # several blocks and a shorter last one
    np.testing.assert_allclose(kernel.matrix(), expected, atol=1e-11)
    np.testing.assert_allclose(kernel @ V, expected @ V, atol=1e-10)
    assert kernel.trace() == pytest.approx(np.trace(expected))
    # the Schur complement is positive semidefinite, and its trace is what `explained` leaves
    schur = K - (V * values) @ V.T
    assert np.linalg.eigvalsh(schur)[0] > -1e-12
    assert np.trace(K) - kernel.explained == pytest.approx(np.trace(schur), rel=1e-9)


def test_centring_survives_a_kernel_that_is_nearly_constant() -> None:
    X = np.random.default_rng(0).standard_normal((300, 3))
    flat = RowKernel("rbf", gamma=1e-7)  # 1 − 1e-6: all but the seventh digit is taken out by centring
    kernel = of_function(flat, X, 40)
    spectrum = nystrom_spectrum(kernel, 3)
    linear = np.linalg.eigvalsh(centered(2e-7 * X @ X.T))[::-1][:3]  # its first order
    np.testing.assert_allclose(spectrum.eigenvalues, linear, rtol=1e-5)


def test_small_eigenvalues_are_found_to_rounding() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (1500, 2))
    smooth = RowKernel("rbf", gamma=0.05)
    kernel = of_function(smooth, X, 120)
    spectrum = nystrom_spectrum(kernel, 22)
    F = np.vstack([block for _, block in kernel.features()])
    exact = np.linalg.svd(F, compute_uv=False)[:22] ** 2
    assert exact[-1] < 1e-9 * exact[0]
    V = spectrum.eigenvectors
    np.testing.assert_allclose(spectrum.eigenvalues, exact, atol=1e-14 * exact[0])
    np.testing.assert_allclose(V.T @ V, np.eye(22), atol=1e-12)
    assert np.linalg.norm(F @ (F.T @ V) - V * exact, axis=0).max() < 1e-14 * exact[0]


def test_a_block_that_is_no_kernel_is_refused() -> None:
    skew = np.eye(6) + np.triu(np.ones((6, 6)), 1)
    with pytest.raises(InputError, match="not symmetric"):
        through(skew, np.arange(6))
    with pytest.raises(InputError, match="4 landmarks has no positive eigenvalue"):
        through(np.zeros((6, 6)), np.arange(4))


# --- footnote 11


def test_the_footnotes_kernel_is_regrown() -> None:
    K = low_rank(9, 2, 3)
    accident = K.copy()
    accident[2:, 2:] = np.nan
    found = complete_kernel(accident)
    np.testing.assert_allclose(found.matrix, K, atol=1e-12)
    assert found.rank == 2
    assert found.misfit is None  # nothing was known that could have borne it out


def test_more_known_rows_than_the_rank_in_any_order() -> None:
    K = low_rank(40, 3, 1)
    rng = np.random.default_rng(0)
    known = rng.choice(40, 10, replace=False)
    others = np.setdiff1d(np.arange(40), known)
    accident = K.copy()
    accident[np.ix_(others, others)] = np.nan
    np.fill_diagonal(accident, np.diag(K))
    found = complete_kernel(accident)
    np.testing.assert_allclose(found.matrix, K, atol=1e-12)
    assert found.rank == 3
    assert found.misfit < 1e-13
    accident[others[0], others[0]] += 1.0
    assert complete_kernel(accident).misfit == pytest.approx(1.0 / np.nanmax(np.abs(accident)))


def test_a_missing_block_between_groups_leaves_the_largest_determinant() -> None:
    X = np.random.default_rng(0).standard_normal((12, 3))
    K = GAUSSIAN(X, X)  # full rank: no completion is exact
    left, right = np.arange(4, 8), np.arange(8, 12)
    accident = K.copy()
    accident[np.ix_(left, right)] = np.nan  # one side will do: the other is filled from it, or both
    accident[np.ix_(right, left)] = np.nan
    found = complete_kernel(accident).matrix
    np.testing.assert_array_equal(found[~np.isnan(accident)], K[~np.isnan(accident)])
    assert np.linalg.eigvalsh(found)[0] > 0
    # the inverse vanishes where entries were free: the gradient of log det is 0 there
    np.testing.assert_allclose(np.linalg.inv(found)[np.ix_(left, right)], 0.0, atol=1e-8)
    best = np.linalg.slogdet(found)[1]
    rng = np.random.default_rng(1)
    for _ in range(20):
        other = found.copy()
        other[np.ix_(left, right)] += 1e-3 * rng.standard_normal((4, 4))
        other[np.ix_(right, left)] = other[np.ix_(left, right)].T
        assert np.linalg.slogdet(other)[1] < best


def test_an_entry_known_on_one_side_is_known() -> None:
    K = low_rank(5, 2, 0)
    accident = K.copy()
    accident[np.tril_indices(5, -1)] = np.nan
    found = complete_kernel(accident)
    np.testing.assert_array_equal(found.matrix, K)


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (np.full((3, 3), np.nan), "every row of the kernel has missing values"),
        (np.ones((2, 3)), "must be square"),
        (np.array([[1.0, 0.5], [0.1, 1.0]]), "not symmetric"),
    ],
)
def test_gaps_that_cannot_be_filled(kernel: np.ndarray, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        complete_kernel(kernel)
