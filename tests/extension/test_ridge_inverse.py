"""Kernel ridge regression from places to rows."""

import numpy as np
import pytest

from gramfold.extension.ridge_inverse import RidgeInverse
from tests.extension.test_mixture_inverse import bent


@pytest.mark.parametrize("n", [5, 300])
def test_an_affine_map_is_undone_exactly(n):
    rng = np.random.default_rng(0)
    places = rng.standard_normal((n, 2)) * [1.0, 1e-3]
    A, b = rng.standard_normal((2, 5)) / np.array([[1.0], [1e-3]]), 100 * rng.standard_normal(5)
    new = 3 * rng.standard_normal((50, 2)) * [1.0, 1e-3]
    np.testing.assert_allclose(RidgeInverse(places, places @ A + b)(new), new @ A + b, atol=1e-6)


def plain(places, rows, new, sigma, ridge):
    """The block system  [K + λI, A; Aᵀ, 0] [α; β] = [X; 0]: the same problem, its kernel in the place of features."""
    K = np.exp(-0.5 * np.square(places[:, None] - places[None]).sum(axis=2) / sigma**2)
    A = np.column_stack([np.ones(len(places)), places])
    q = A.shape[1]
    system = np.block([[K + ridge * np.eye(len(K)), A], [A.T, np.zeros((q, q))]])
    solved = np.linalg.solve(system, np.vstack([rows, np.zeros((q, rows.shape[1]))]))
    cross = np.exp(-0.5 * np.square(new[:, None] - places[None]).sum(axis=2) / sigma**2)
    return cross @ solved[: len(K)] + np.column_stack([np.ones(len(new)), new]) @ solved[len(K) :]


def test_against_a_plain_version_and_left_out_rows():
    places, rows = bent(60)
    new, _ = bent(20, seed=1)
    model = RidgeInverse(places, rows, widths=(0.4,), ridges=(1e-3,))
    moved = places - places.mean(axis=0)
    sigma = 0.4 * np.sqrt(np.square(moved).sum(axis=1).mean())
    K = np.exp(-0.5 * np.square(places[:, None] - places[None]).sum(axis=2) / sigma**2)
    P = np.linalg.qr(np.column_stack([np.ones(60), places]))[0]
    left = np.eye(60) - P @ P.T
    ridge = 1e-3 * np.linalg.eigvalsh(left @ K @ left)[-1]  # of the features once the affine part is out
    np.testing.assert_allclose(model(new), plain(places, rows, new, sigma, ridge), atol=1e-8)
    missed = [
        plain(np.delete(places, i, 0), np.delete(rows, i, 0), places[i : i + 1], sigma, ridge)[0] - rows[i]
        for i in range(60)
    ]
    expected = np.linalg.norm(missed) / np.linalg.norm(rows - rows.mean(axis=0))
    # the functions about the row that is left out stay, with a ridge: nearly, not exactly, the fit without it
    assert model.judge() == pytest.approx(expected, rel=1e-6)


def test_a_bent_sheet_is_rebuilt_between_its_rows():
    places, rows = bent(1500)  # more than there are centres
    new, truth = bent(200, seed=1)
    model = RidgeInverse(places, rows)
    assert np.median(np.linalg.norm(model(new) - truth, axis=1)) < 1e-4
    assert model.judge() < 1e-3


def test_noise_is_not_followed():
    places, clean = bent(500)
    rows = clean + 0.1 * np.random.default_rng(5).standard_normal(clean.shape)
    model = RidgeInverse(places, rows)
    assert np.sqrt(np.square(model(places) - clean).mean()) < 0.05
    new, truth = bent(2000, seed=1)
    truth = truth + 0.1 * np.random.default_rng(6).standard_normal(truth.shape)
    fresh = np.linalg.norm(model(new) - truth) / np.linalg.norm(truth - truth.mean(axis=0))
    assert model.judge() == pytest.approx(fresh, rel=0.1)


def test_equal_places_and_equal_rows_are_no_failure():
    assert np.isfinite(RidgeInverse(np.zeros((30, 2)), np.arange(60.0).reshape(30, 2)).judge())
    np.testing.assert_allclose(RidgeInverse(np.eye(3), np.ones((3, 2)))(np.eye(3)), 1.0)
