"""The way back from places to rows."""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from gramfold.extension.inverse import LocalInverse
from gramfold.kernels.reconstruction import weight_matrix


def sheet(n: int, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Places in the square and their rows, an affine map of them."""
    rng = np.random.default_rng(seed)
    places = rng.random((n, 2))
    return places, places @ rng.standard_normal((2, d)) + rng.standard_normal(d)


def weights(x: np.ndarray, places: np.ndarray, k: int, signed: bool, reg: float = 1e-3) -> tuple:
    """The k nearest places and their weights: of either sign, or by non-negative least squares."""
    near = np.argsort(np.linalg.norm(places - x, axis=1))[:k]
    Z = places[near] - x
    G = Z @ Z.T
    A = G + reg * np.trace(G) * np.eye(k)
    # z ≥ 0 with the least ½ zᵀ A z − Σ z has the weights' ratios
    R = np.linalg.cholesky(A).T
    z = np.linalg.solve(A, np.ones(k)) if signed else nnls(R, np.linalg.solve(R.T, np.ones(k)))[0]
    return near, z / z.sum()


def rebuild(x: np.ndarray, places: np.ndarray, rows: np.ndarray, k: int, signed: bool = True) -> np.ndarray:
    near, w = weights(x, places, k, signed)
    return np.asarray(w @ rows[near])


def test_an_affine_map_is_undone_up_to_the_ridge() -> None:
    places, rows = sheet(400)
    new = 0.1 + 0.8 * np.random.default_rng(1).random((50, 2))
    A = np.linalg.lstsq(np.column_stack([places, np.ones(400)]), rows, rcond=None)[0]
    expected = np.column_stack([new, np.ones(50)]) @ A
    spread = rows.std()
    error = np.abs(LocalInverse(places, rows, 1)(new) - expected).max()
    assert error < 5e-3 * spread
    np.testing.assert_allclose(LocalInverse(places, rows, 1, reg=1e-9)(new), expected, atol=1e-7 * spread)


def test_against_a_plain_version() -> None:
    places, rows = sheet(80)
    rows = np.sin(3 * rows)
    new = np.random.default_rng(1).random((20, 2))
    model = LocalInverse(places, rows, 1)
    sizes = [np.abs(weights(x, places, model.k, signed=True)[1]).sum() for x in new]
    assert max(sizes) < model.limit
    expected = [rebuild(x, places, rows, model.k) for x in new]
    np.testing.assert_allclose(model(new), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("n", [60, 700])
def test_error_is_the_leave_one_out_error(kind: type, n: int) -> None:
    places, rows = sheet(n)
    rows = np.round(np.sin(3 * rows), 1)
    model = LocalInverse(places, kind(rows), 1)
    sample = np.linspace(0, n - 1, min(n, 500)).astype(int)
    expected = {}
    for k in (3, 4, 6, 10):
        for signed in (True, False):
            misfit = [
                rebuild(places[i], np.delete(places, i, axis=0), np.delete(rows, i, axis=0), k, signed) - rows[i]
                for i in sample
            ]
            expected[signed, k] = np.linalg.norm(misfit) / np.linalg.norm(rows[sample] - rows.mean(axis=0))
    best, convex = (min(error for (which, _), error in expected.items() if which is signed) for signed in (True, False))
    signed = n == 60
    assert (best < 0.9 * convex) == signed  # near rows are rounded alike, and negative weights gain little
    assert expected[signed, model.k] == (best if signed else convex)  # and so many neighbours are used
    assert model.judge() == pytest.approx(best if signed else convex, rel=1e-6)
    assert model.judge() > 1e-3
    left_out = [weights(places[i], np.delete(places, i, axis=0), model.k, signed)[1] for i in sample]
    assert model.limit == pytest.approx(np.abs(left_out).sum(axis=1).max(), rel=1e-9)


def pictures() -> np.ndarray:
    return load_digits().data[:400]


def test_pictures_keep_their_range() -> None:
    X = pictures()
    places = PCA(2).fit_transform(X)
    grid = np.stack(np.meshgrid(*np.linspace(places.min(axis=0), places.max(axis=0), 15).T), axis=-1).reshape(-1, 2)
    model = LocalInverse(places, X, 1)
    assert model.limit == 1.0
    for asked in (grid, 5 * grid, places):
        rebuilt = model(asked)
        assert rebuilt.min() >= X.min()
        assert rebuilt.max() <= X.max() * (1 + 1e-12)
    expected = [rebuild(x, places, X, model.k, signed=False) for x in grid]
    np.testing.assert_allclose(model(grid), expected, atol=1e-6)
    # negative weights would leave it by far, and rebuild rows left out no better
    free = weight_matrix(model.index.nearest(grid, 10), model.index.query_grams(grid), 1e-3, 2) @ X
    assert free.min() < X.min() - 2
    assert free.max() > X.max() + 2


def test_nothing_is_extrapolated_farther_than_was_tried() -> None:
    places, rows = sheet(300)
    model = LocalInverse(places, rows, 1)
    assert model.limit > 1.5  # rows at the rim are left out too
    spread = np.abs(rows - rows.mean(axis=0)).max()
    for far in (3.0, 30.0, 300.0):
        assert np.abs(model(places + far) - rows.mean(axis=0)).max() < model.limit * spread


def test_noise_asks_for_more_neighbours():
    places, rows = sheet(400)
    bent = np.sin(3 * rows)
    noise = 0.3 * np.random.default_rng(2).standard_normal(rows.shape)
    assert LocalInverse(places, bent + noise, 1).k > LocalInverse(places, bent, 1).k


def test_sparse_rows_stay_sparse() -> None:
    places, rows = sheet(60)
    rows[rows < 0] = 0
    rebuilt = LocalInverse(places, csr_array(rows), 1)(places[:5] + 1e-3)
    assert issparse(rebuilt)
    np.testing.assert_allclose(rebuilt.toarray(), LocalInverse(places, rows, 1)(places[:5] + 1e-3), atol=1e-12)


def test_few_points_use_all_others() -> None:
    places, rows = sheet(4)
    expected = [rebuild(x, places, rows, 3) for x in places + 0.01]
    np.testing.assert_allclose(LocalInverse(places, rows, 1)(places + 0.01), expected, rtol=1e-9)


def test_equal_places_and_equal_rows_are_no_failure() -> None:
    places, rows = sheet(30)
    places, rows = np.repeat(places, 12, axis=0), np.repeat(rows, 12, axis=0)
    model = LocalInverse(places, rows, 1)  # every list holds copies of one place only
    assert model.judge() < 1e-12
    np.testing.assert_allclose(model(places[::12]), rows[::12], atol=1e-12)
    assert LocalInverse(places, np.ones((360, 2)), 1).judge() == 0.0


def test_float32_places_are_weighed_in_float64() -> None:
    places, rows = sheet(100)
    places = places.astype(np.float32)
    new = places[:10] + np.float32(0.01)
    expected = LocalInverse(places.astype(np.float64), rows, 1)(new.astype(np.float64))
    np.testing.assert_allclose(LocalInverse(places, rows, 1)(new), expected, rtol=1e-6)


def test_nearest_places_are_used() -> None:
    # far places of another sheet must not mix in
    places, rows = sheet(50)
    both = np.concatenate([places, places + 100])
    values = np.concatenate([rows, np.full_like(rows, 1e6)])
    assert cdist(places[:5], places + 100).min() > 100
    np.testing.assert_allclose(
        LocalInverse(both, values, 1)(places[:5]), LocalInverse(places, rows, 1)(places[:5]), rtol=1e-12
    )
