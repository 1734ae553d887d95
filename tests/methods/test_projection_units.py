"""The unit of the rows does not matter to a projection: all that it says follows it, to the bit."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.datasets import load_wine

from gramfold import (
    PCA,
    DistortionDiscriminantAnalysis,
    MixturePPCA,
    OrientedPCA,
    ProbabilisticPCA,
    ProjectionPursuit,
)
from gramfold.errors import GramfoldWarning, InputError

POWERS = (-500, -3, 5, 400)
WINE = load_wine().data[:, :6]  # columns of very different size
NOISE = np.random.default_rng(0).standard_normal(WINE.shape) * 0.1 * WINE.std(axis=0)
GAPS = np.where(np.random.default_rng(1).random(WINE.shape) < 0.1, np.nan, WINE)
OUTLIER = np.where(np.arange(len(WINE))[:, None] == 7, 1e12, WINE)
LAYERS = [(3, 1, 2)]

# a model, the rows, the power of their unit in the map, and how they are distorted
CASES = {
    "PCA": (PCA(3), WINE, 1, None),
    "a share": (PCA(0.999), WINE, 1, None),
    "all axes": (PCA(None), WINE, 1, None),
    "mle": (PCA("mle"), WINE, 1, None),
    "whitened": (PCA(2, whiten=True), WINE, 0, None),
    "from the rows": (PCA(2), OUTLIER, 1, None),
    "columns outnumber rows": (PCA(2), WINE[:5], 1, None),
    "ProbabilisticPCA": (ProbabilisticPCA(2), WINE, 0, None),
    "evidence": (ProbabilisticPCA("evidence"), WINE, 0, None),
    "gaps": (ProbabilisticPCA(2), GAPS, 0, None),
    "MixturePPCA": (MixturePPCA(2), WINE, 1, None),
    "some planes": (MixturePPCA(1, n_planes="bic", max_planes=3), WINE, 1, None),
    "OrientedPCA": (OrientedPCA(2), WINE, 1, None),
    "distorted": (OrientedPCA(2), WINE, 0, NOISE),
    "a noise": (OrientedPCA(2, noise_correlation=np.diag(np.arange(1.0, 7))), WINE, 1, None),
    "layers": (DistortionDiscriminantAnalysis(2, layers=LAYERS), WINE, 1, None),
    "distorted layers": (DistortionDiscriminantAnalysis(2, layers=LAYERS), WINE, 0, NOISE),
    "ProjectionPursuit": (ProjectionPursuit(2, n_starts=4), WINE, 0, None),
}

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


def fitted(model, X, noise, scale=1.0):
    distorted = {} if noise is None else {"X_distorted": (X + noise) * scale}
    return type(model)(**model.get_params()).fit(X * scale, **distorted)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("case", CASES)
def test_the_map_follows_the_unit_to_the_bit(case, power):
    model, X, degree, noise = CASES[case]
    scale, fresh = 2.0**power, X[:10] * 1.03
    plain, scaled = fitted(model, X, noise), fitted(model, X, noise, scale)
    of_map = scale**degree
    np.testing.assert_array_equal(scaled.embedding_, plain.embedding_ * of_map)
    np.testing.assert_array_equal(scaled.transform(fresh * scale), plain.transform(fresh) * of_map)
    np.testing.assert_array_equal(scaled.mean_, plain.mean_ * scale)
    rebuilt = scaled.inverse_transform(scaled.embedding_[:5])
    np.testing.assert_allclose(rebuilt / scale, plain.inverse_transform(plain.embedding_[:5]), rtol=1e-9)
    assert scaled.inverse_error() == pytest.approx(plain.inverse_error())


@pytest.mark.parametrize("case", [case for case in CASES if case != "whitened"])
def test_components_are_the_map_itself(case):
    model, X, _, noise = CASES[case]
    X = X if case != "gaps" else WINE
    scale = 2.0**-700
    found = fitted(model, X, noise, scale)
    rows = found.reconstruct(X * scale) if isinstance(found, MixturePPCA) else X * scale
    along = (rows - found.mean_) / scale @ (found.components_.T * scale / np.abs(found.embedding_).max())
    np.testing.assert_allclose(along, found.embedding_ / np.abs(found.embedding_).max(), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_variances_follow_it_as_far_as_floats_reach(dtype):
    X = WINE.astype(dtype)
    power = 40 if dtype is np.float32 else 300
    plain, scaled = PCA(3).fit(X), PCA(3).fit(np.ldexp(X, power))
    for name, degree in [("singular_values_", 1), ("explained_variance_", 2), ("noise_variance_", 2)]:
        np.testing.assert_array_equal(getattr(scaled, name), np.ldexp(getattr(plain, name), degree * power))
    np.testing.assert_array_equal(scaled.explained_variance_ratio_, plain.explained_variance_ratio_)
    np.testing.assert_array_equal(scaled.components_, plain.components_)
    tiny, huge = PCA(3).fit(np.ldexp(WINE, -560)), PCA(3).fit(np.ldexp(WINE, 600))
    assert (tiny.explained_variance_ == 0).all()
    assert np.isinf(huge.explained_variance_).all()
    np.testing.assert_array_equal(tiny.singular_values_, np.ldexp(PCA(3).fit(WINE).singular_values_, -560))


@pytest.mark.parametrize("power", [-600, 600])
@pytest.mark.parametrize("X", [WINE, GAPS], ids=["whole", "gaps"])
def test_a_density_is_one_of_the_users_unit(X, power):
    plain, scaled = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2).fit(np.ldexp(X, power))
    seen = (~np.isnan(X)).sum(axis=1)
    shift = -seen * power * np.log(2.0)
    np.testing.assert_allclose(scaled.score_samples(np.ldexp(X, power)), plain.score_samples(X) + shift, rtol=1e-12)
    np.testing.assert_array_equal(scaled.impute(np.ldexp(X, power)), np.ldexp(plain.impute(X), power))
    np.testing.assert_array_equal(scaled.sample(3), np.ldexp(plain.sample(3), power))
    np.testing.assert_array_equal(scaled.weights_, np.ldexp(plain.weights_, power))
    np.testing.assert_array_equal(scaled.posterior(np.ldexp(X, power)).mean, plain.posterior(X).mean)
    if plain.log_likelihoods_ is not None:
        expected = plain.log_likelihoods_ + shift.sum()
        np.testing.assert_allclose(scaled.log_likelihoods_, expected, rtol=1e-12)


@pytest.mark.parametrize("power", [-600, 600])
def test_planes_are_in_the_users_unit(power):
    X, d = np.ldexp(WINE, power), WINE.shape[1]
    plain, scaled = MixturePPCA(2).fit(WINE), MixturePPCA(2).fit(X)
    shift = -d * power * np.log(2.0)
    np.testing.assert_allclose(scaled.score_samples(X), plain.score_samples(WINE) + shift, rtol=1e-12)
    np.testing.assert_allclose(scaled.log_likelihoods_, plain.log_likelihoods_ + len(X) * shift, rtol=1e-12)
    assert scaled.bic_[2] == pytest.approx(scaled.bic(X), rel=1e-4)  # of the rows, before and after the last step
    np.testing.assert_array_equal(scaled.responsibilities(X), plain.responsibilities(WINE))
    np.testing.assert_array_equal(scaled.projections(X), np.ldexp(plain.projections(WINE), power))
    np.testing.assert_array_equal(scaled.reconstruct(X), np.ldexp(plain.reconstruct(WINE), power))
    for one, expected in zip(scaled.planes_, plain.planes_, strict=True):
        np.testing.assert_array_equal(one.mean, np.ldexp(expected.mean, power))
        np.testing.assert_array_equal(one.axes, expected.axes)


def test_signal_to_noise_is_in_the_users_unit():
    power = 300
    for model, noise, degree in [
        (OrientedPCA(2), None, 2),
        (OrientedPCA(2), NOISE, 0),
        (OrientedPCA(2, noise_correlation=np.eye(6)), None, 2),
        (DistortionDiscriminantAnalysis(2, layers=LAYERS), None, 2),
        (DistortionDiscriminantAnalysis(2, layers=LAYERS), NOISE, 0),
    ]:
        plain, scaled = fitted(model, WINE, noise), fitted(model, WINE, noise, 2.0**power)
        np.testing.assert_array_equal(scaled.signal_to_noise_, np.ldexp(plain.signal_to_noise_, degree * power))
        np.testing.assert_array_equal(scaled.directions_, plain.directions_)
    # a first layer that is white, in the unit of the rows, and a second in units of its noise
    mixed = [DistortionDiscriminantAnalysis(2, layers=LAYERS) for _ in range(2)]
    mixed[0].fit(WINE, X_distorted=[None, WINE + NOISE])
    mixed[1].fit(np.ldexp(WINE, power), X_distorted=[None, np.ldexp(WINE + NOISE, power)])
    np.testing.assert_array_equal(mixed[0].embedding_, mixed[1].embedding_)
    for number, (axes, signal) in enumerate([(0, 2), (-1, 0)]):
        ours, expected = mixed[1].layers_[number], mixed[0].layers_[number]
        np.testing.assert_array_equal(ours.axes, np.ldexp(expected.axes, axes * power))
        np.testing.assert_array_equal(ours.signal_to_noise, np.ldexp(expected.signal_to_noise, signal * power))


def test_sparse_rows_of_any_size():
    X = csr_array(random_array((60, 20), density=0.2, rng=0))
    plain, scaled = PCA(2).fit(X), PCA(2).fit(X * 2.0**600)
    np.testing.assert_array_equal(scaled.embedding_, np.ldexp(plain.embedding_, 600))
    np.testing.assert_array_equal(scaled.transform(X[:5] * 2.0**600), np.ldexp(plain.transform(X[:5]), 600))


def test_the_ends_of_the_range_give_no_warning_of_numpys():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for model in (PCA(2), ProbabilisticPCA(2), MixturePPCA(2), OrientedPCA(2), ProjectionPursuit(2, n_starts=2)):
            for size in (1e-165, 1e200, 1e290, 1e-300):
                model.fit(WINE / WINE.max() * size)
                assert np.isfinite(model.transform(WINE[:3] / WINE.max() * size)).all()
                assert np.isfinite(model.inverse_transform(model.embedding_[:3])).all()


def test_new_rows_in_quite_another_unit_are_refused():
    model = PCA(2).fit(WINE * 1e-200)
    with pytest.raises(InputError, match=r"the training values are at most 2\^"):
        model.transform(WINE * 1e180)
    with pytest.raises(InputError, match="check the unit of X_distorted"):
        OrientedPCA(2).fit(WINE, X_distorted=WINE * 1e200)
    with pytest.raises(InputError, match="row 0 is so far from every plane"):
        MixturePPCA(2).fit(WINE).score_samples(WINE * 1e200)
