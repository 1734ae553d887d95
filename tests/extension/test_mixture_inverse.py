"""A mixture of affine maps from the map to the data."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gramfold.extension.mixture_inverse import AffineMixture, MixtureInverse, learned_mixture


def bent(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Places in the unit square and their rows on a bent sheet in four dimensions."""
    places = np.random.default_rng(seed).random((n, 2))
    s, t = places.T
    return places, np.column_stack([np.sin(3 * s), np.cos(3 * s), t, t**2])


@pytest.mark.parametrize("n", [4, 30, 600])  # one patch, a few, many
def test_an_affine_map_is_undone_exactly(n):
    rng = np.random.default_rng(0)
    places = rng.standard_normal((n, 2)) * [1.0, 1e-3]
    A, b = rng.standard_normal((2, 5)) / np.array([[1.0], [1e-3]]), 100 * rng.standard_normal(5)
    mixture = learned_mixture(places, places @ A + b)
    new = rng.standard_normal((50, 2)) * [1.0, 1e-3]
    np.testing.assert_allclose(mixture(new), new @ A + b, atol=1e-9)


def test_against_a_plain_version():
    rng = np.random.default_rng(1)
    m, p, d = 5, 2, 3
    shares, middles = rng.dirichlet(np.ones(m)), rng.standard_normal((m, p))
    roots = rng.standard_normal((m, p, p))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(p)
    rows, slopes = rng.standard_normal((m, d)), rng.standard_normal((m, p, d))
    new = rng.standard_normal((20, p))
    expected = []
    for y in new:
        q = [shares[k] * multivariate_normal(middles[k], covariances[k]).pdf(y) for k in range(m)]
        maps = [rows[k] + (y - middles[k]) @ slopes[k] for k in range(m)]
        expected.append(sum(w * x for w, x in zip(q, maps, strict=True)) / sum(q))
    mixture = AffineMixture.of(shares, middles, covariances, rows, slopes)
    np.testing.assert_allclose(mixture(new), expected, rtol=1e-10)
    np.testing.assert_allclose(mixture.responsibilities(new).sum(axis=1), 1.0)


def test_learned_maps_are_weighted_least_squares():
    places, rows = bent(400)
    mixture = learned_mixture(places, rows)
    q = mixture.responsibilities(places)
    for k in range(0, len(mixture.middles), 7):
        root = np.sqrt(q[:, k : k + 1])
        design = np.column_stack([np.ones(400), places - mixture.middles[k]])
        expected = np.linalg.lstsq(root * design, root * rows, rcond=None)[0]
        np.testing.assert_allclose(mixture.rows[k], expected[0], atol=1e-9)
        np.testing.assert_allclose(mixture.slopes[k], expected[1:], atol=1e-8)


def test_a_bent_sheet_is_rebuilt_between_its_rows():
    places, rows = bent(2000)
    new, truth = bent(200, seed=1)
    error = np.linalg.norm(learned_mixture(places, rows)(new) - truth, axis=1)
    assert np.median(error) < 5e-3
    assert error.max() < 0.05


def test_the_judgement_is_of_rows_not_seen():
    places, rows = bent(700)
    rows = rows + 0.05 * np.random.default_rng(3).standard_normal(rows.shape)
    new, truth = bent(3000, seed=1)
    truth = truth + 0.05 * np.random.default_rng(4).standard_normal(truth.shape)
    model = MixtureInverse(places, rows)
    fresh = np.linalg.norm(model(new) - truth) / np.linalg.norm(truth - truth.mean(axis=0))
    seen = np.linalg.norm(model(places) - rows) / np.linalg.norm(rows - rows.mean(axis=0))
    assert model.judge() == pytest.approx(fresh, rel=0.1)
    assert seen < 0.95 * fresh


def test_copies_and_flat_maps_are_no_failure():
    places, rows = np.repeat([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], 40, axis=0), np.repeat(np.eye(3), 40, axis=0)
    model = MixtureInverse(places, rows)  # patches without extent, and a direction without any
    np.testing.assert_allclose(model(places[::40]), np.eye(3), atol=1e-6)
    assert MixtureInverse(places, np.ones((120, 2))).judge() == 0.0


def test_a_batch_is_its_rows():
    places, rows = bent(500)
    mixture = learned_mixture(places, rows)
    single = np.vstack([mixture(place[None]) for place in places[:30]])
    np.testing.assert_allclose(mixture(places[:30]), single, atol=1e-13)
