import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal

from gramfold.datasets import make_s_curve
from gramfold.extension.carried_inverse import CarriedInverse
from gramfold.kernels.basis import MixtureBasis


@pytest.fixture
def sheet():
    curve = make_s_curve(500, random_state=0)
    return MixtureBasis(curve.points[:20], 0.4), curve.truth, curve.points


def test_matches_the_formula_one_kernel_at_a_time(sheet):
    basis, places, rows = sheet
    inverse = CarriedInverse(basis.responsibilities, places, rows)
    shares = basis.responsibilities(rows).toarray()
    new = places[:30] + 0.01
    density, guess = np.empty((30, 20)), np.empty((30, 20, 3))
    variances = [np.linalg.eigvalsh(np.cov(places.T, aweights=p, ddof=0))[-1] for p in shares.T]
    for k, p in enumerate(shares.T):
        y, x = p @ places / p.sum(), p @ rows / p.sum()
        V = (places - y).T @ (p[:, None] * (places - y)) / p.sum()
        slope = np.linalg.lstsq(np.sqrt(p)[:, None] * (places - y), np.sqrt(p)[:, None] * (rows - x))[0]
        guess[:, k] = x + (new - y) @ slope
        V += 1e-3 * max(variances[k], np.median(variances)) * np.eye(2)
        density[:, k] = p.sum() * multivariate_normal(y, V).pdf(new)
    expected = np.einsum("bk,bkd->bd", density / density.sum(axis=1, keepdims=True), guess)
    np.testing.assert_allclose(inverse(new), expected, atol=1e-10)


def test_an_affine_map_is_inverted_exactly():
    rng = np.random.default_rng(0)
    rows = 100 + rng.standard_normal((300, 2)) @ rng.standard_normal((2, 5))
    places = (rows - rows[0]) @ rng.standard_normal((5, 2))
    basis = MixtureBasis(rows[:6], 1.0)
    inverse = CarriedInverse(basis.responsibilities, places, rows)
    np.testing.assert_allclose(inverse(places), rows, atol=1e-8)
    assert inverse.judge() < 1e-10


def test_kernels_without_rows_or_with_one_answer_for_nothing_wrong(sheet):
    _, places, rows = sheet

    def shares(some):
        owner = np.where(np.linalg.norm(some - rows[0], axis=1) < 1e-9, 2, 0)  # kernel 1 has no row, 2 has one
        return csr_array((np.ones(len(some)), owner, np.arange(len(some) + 1)), shape=(len(some), 3))

    rebuilt = CarriedInverse(shares, places, rows)(places)
    assert np.isfinite(rebuilt).all()


def test_the_error_is_that_of_rows_not_seen(sheet):
    basis, places, rows = sheet
    inverse = CarriedInverse(basis.responsibilities, places[:400], rows[:400])
    away = np.linalg.norm(inverse(places[400:]) - rows[400:]) / np.linalg.norm(rows[400:] - rows.mean(axis=0))
    assert inverse.judge() == pytest.approx(away, rel=0.5)


def test_a_kernel_of_few_rows_stays_near_them(sheet):
    """Two rows tell no slope across the line between their places."""
    _, places, rows = sheet

    def shares(some):
        owner = np.where(np.linalg.norm(some - rows[0], axis=1) < 0.15, 1, 0)
        return csr_array((np.ones(len(some)), owner, np.arange(len(some) + 1)), shape=(len(some), 2))

    few = shares(rows).toarray()[:, 1] > 0
    assert 2 <= few.sum() < 12
    for bounded in (True, False):
        inverse = CarriedInverse(shares, places, rows, bounded=bounded)
        inverse.mixture.slopes[1] *= 1e6  # as a slope is that is divided by hardly any variance
        rebuilt = inverse(places[few] + 1e-3)
        low, high = rows[few].min(axis=0), rows[few].max(axis=0)
        outside = np.maximum(low - rebuilt, rebuilt - high).max()
        assert (outside <= 2.0 * (rows.max() - rows.min())) == bounded


@pytest.mark.parametrize("far", [1e2, 1e6, 1e9])
def test_clusters_that_are_points_on_the_map(far):
    """Their covariances are zero but for rounding, which may be less."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((90, 3)) + far * np.arange(3).repeat(30)[:, None]
    places = 0.1 * np.arange(3).repeat(30)[:, None] * np.array([1.0, -1.0]) + 1e-3 / far * rng.standard_normal((90, 2))
    basis = MixtureBasis(rows[::10], 0.5)
    inverse = CarriedInverse(basis.responsibilities, places, rows)
    rebuilt = inverse(places)
    assert np.abs(rebuilt - rows).max() < 10  # within the right cluster
    assert inverse.judge() < 2
