"""The way back from places to rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist

from gramfold.extension.inverse import LocalInverse


def sheet(n: int, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Places in the square and their rows, an affine map of them."""
    rng = np.random.default_rng(seed)
    places = rng.random((n, 2))
    return places, places @ rng.standard_normal((2, d)) + rng.standard_normal(d)


def rebuild(x: np.ndarray, places: np.ndarray, rows: np.ndarray, k: int, reg: float = 1e-3) -> np.ndarray:
    near = np.argsort(np.linalg.norm(places - x, axis=1))[:k]
    Z = places[near] - x
    G = Z @ Z.T
    w = np.linalg.solve(G + reg * np.trace(G) * np.eye(k), np.ones(k))
    return np.asarray(w @ rows[near] / w.sum())


def test_an_affine_map_is_undone_up_to_the_ridge(monkeypatch: pytest.MonkeyPatch) -> None:
    places, rows = sheet(400)
    new = 0.1 + 0.8 * np.random.default_rng(1).random((50, 2))
    A = np.linalg.lstsq(np.column_stack([places, np.ones(400)]), rows, rcond=None)[0]
    expected = np.column_stack([new, np.ones(50)]) @ A
    spread = rows.std()
    error = np.abs(LocalInverse(places, rows, 1)(new) - expected).max()
    assert error < 5e-3 * spread
    monkeypatch.setattr("gramfold.extension.inverse._REG", 1e-9)
    np.testing.assert_allclose(LocalInverse(places, rows, 1)(new), expected, atol=1e-7 * spread)


def test_against_a_plain_version() -> None:
    places, rows = sheet(80)
    rows = np.sin(3 * rows)
    new = np.random.default_rng(1).random((20, 2))
    model = LocalInverse(places, rows, 1)
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
        misfit = [
            rebuild(places[i], np.delete(places, i, axis=0), np.delete(rows, i, axis=0), k) - rows[i] for i in sample
        ]
        expected[k] = np.linalg.norm(misfit) / np.linalg.norm(rows[sample] - rows.mean(axis=0))
    assert expected[model.k] == min(expected.values())  # and so many neighbours are used
    assert model.judge() == pytest.approx(expected[model.k], rel=1e-9)
    assert model.judge() > 1e-3


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
