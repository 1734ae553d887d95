"""Local Gram matrices of distances that are not Euclidean."""

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from gramfold.kernels.definite import DefiniteGrams, definite
from gramfold.kernels.reconstruction import barycentric_weights


def grams_about_first(D: np.ndarray) -> np.ndarray:
    squares = D[..., 0, 1:] ** 2
    return 0.5 * (squares[..., :, None] + squares[..., None, :] - D[..., 1:, 1:] ** 2)


def patches(metric: str, count: int = 20, size: int = 9) -> np.ndarray:
    rng = np.random.default_rng(0)
    return grams_about_first(np.stack([cdist(X, X, metric) for X in rng.random((count, size, 3))]))


def test_euclidean_ones_are_left_alone() -> None:
    grams = patches("euclidean")
    found, shares = definite(grams)
    np.testing.assert_array_equal(found, grams)
    np.testing.assert_array_equal(shares, 0.0)
    mixed = np.concatenate([grams, patches("cosine")])  # also beside others
    np.testing.assert_array_equal(definite(mixed)[0][:20], grams)


def test_eigenvalues_are_absolute() -> None:
    grams = patches("cityblock")
    found, shares = definite(grams)
    for before, after, share in zip(grams, found, shares, strict=True):
        values = np.linalg.eigvalsh(before)
        np.testing.assert_allclose(np.linalg.eigvalsh(after), np.sort(np.abs(values)), atol=1e-12)
        np.testing.assert_allclose(after @ after, before @ before, atol=1e-12)  # |G|² = G²
        np.testing.assert_allclose(share, -values[values < 0].sum() / np.abs(values).sum(), rtol=1e-9)
    assert (shares > 0.001).all()
    np.testing.assert_array_equal(definite(found)[1], 0.0)


def test_weights_are_a_minimum_of_the_bound() -> None:
    (gram,), _ = definite(patches("cosine", count=1, size=6))
    reg = 1e-2
    ridged = gram + reg * np.trace(gram) * np.eye(5)
    found = minimize(
        lambda w: w @ ridged @ w,
        np.full(5, 0.2),
        jac=lambda w: 2 * ridged @ w,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(barycentric_weights(gram[None], reg)[0], found.x, atol=1e-5)


def test_the_shares_of_all_rows_are_kept() -> None:
    grams = patches("cosine")
    local = DefiniteGrams(lambda rows, lists: grams[rows], 20)
    lists = np.zeros((0, 0), dtype=int)
    np.testing.assert_array_equal(
        np.concatenate([local(np.arange(7), lists), local(np.arange(7, 20), lists)]), definite(grams)[0]
    )
    np.testing.assert_array_equal(local.shares, definite(grams)[1])
