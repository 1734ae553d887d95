"""The unit of the rows does not matter: powers of two round nothing, so the map is the same to the bit."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import ClusterMixin

from gramfold import ClassicalMDS, Isomap, KernelPCA, LaplacianEigenmaps, SpectralClustering
from gramfold.errors import GramfoldWarning, InputError
from tests.contract.checks import sheet
from tests.contract.discovery import by_name, exported

ROWS, FRESH = sheet(60, seed=3), sheet(7, seed=4)
# ordinary ones, such whose squares leave the range of the dtype, and the ends of that range
SCALES = [("float64", power) for power in (-1000, -548, -3, 5, 480, 664, 1000)]
SCALES += [("float32", power) for power in (-110, -64, 7, 90, 120)]

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


def said_of(model, X, fresh):
    """All that a model says of rows that the unit could change."""
    if isinstance(model, ClusterMixin):
        return [model.fit_predict(X), model.predict(fresh)]
    places = model.fit_transform(X)
    if not hasattr(model, "transform"):
        return [places]
    return [places, model.transform(fresh), model.extrapolation(fresh, of="rows")]


def in_its_own_unit(values):
    """Divided by the power of two that brings the largest of them to about 1."""
    values = np.float64(values)
    return np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))


@pytest.mark.parametrize("cls", exported(), ids=by_name)
@pytest.mark.parametrize(("dtype", "power"), SCALES)
def test_the_unit_of_the_rows_does_not_matter(cls, dtype, power):
    # an even power, as some maps have the unit of the root
    X, fresh, power = ROWS.astype(dtype), FRESH.astype(dtype), 2 * (power // 2)
    found = said_of(cls(), np.ldexp(X, power), np.ldexp(fresh, power))
    for one, expected in zip(found, said_of(cls(), X, fresh), strict=True):
        np.testing.assert_array_equal(in_its_own_unit(one), in_its_own_unit(expected))


@pytest.mark.parametrize("cls", [cls for cls in exported() if hasattr(cls, "inverse_transform")], ids=by_name)
@pytest.mark.parametrize("power", [-600, 700])
def test_rows_are_rebuilt_in_their_unit(cls, power):
    plain, scaled = cls().fit(ROWS), cls().fit(np.ldexp(ROWS, power))
    rebuilt = np.ldexp(scaled.inverse_transform(scaled.embedding_[:5]), -power)
    np.testing.assert_allclose(rebuilt, plain.inverse_transform(plain.embedding_[:5]), atol=1e-9)
    assert scaled.inverse_error() == pytest.approx(plain.inverse_error(), rel=1e-6, abs=1e-12)
    # a log-density is one of the user's unit
    shift = power * FRESH.shape[1] * np.log(2.0) if hasattr(cls, "score_samples") else 0.0
    assert scaled.score(np.ldexp(FRESH, power)) + shift == pytest.approx(plain.score(FRESH), rel=1e-9)


@pytest.mark.parametrize("power", [-600, 700])
def test_lengths_that_a_user_gives_are_in_the_users_unit(power):
    scale = 2.0**power
    for make in (
        lambda unit: Isomap(radius=0.9 * unit),
        lambda unit: Isomap(metric="cityblock", radius=1.1 * unit),
        lambda unit: LaplacianEigenmaps(radius=0.9 * unit, weights="gaussian", width=0.4 * unit),
        lambda unit: LaplacianEigenmaps(radius=0.9 * unit),
        lambda unit: LaplacianEigenmaps(metric="cosine", radius=0.02),
        lambda unit: SpectralClustering(3, radius=0.9 * unit),
    ):
        plain, scaled = make(1.0).fit(ROWS), make(scale).fit(ROWS * scale)
        assert (
            plain.graph_.n_edges == scaled.graph_.n_edges != make(1.0).set_params(radius=None).fit(ROWS).graph_.n_edges
        )
        if isinstance(plain, SpectralClustering):
            np.testing.assert_array_equal(plain.labels_, scaled.labels_)
            continue
        found = [scaled.embedding_, scaled.transform(FRESH * scale)]
        for one, expected in zip(found, [plain.embedding_, plain.transform(FRESH)], strict=True):
            np.testing.assert_array_equal(in_its_own_unit(one), in_its_own_unit(expected))


@pytest.mark.parametrize("power", [-600, 700])
def test_distances_and_kernels_may_have_any_unit_too(power):
    scale = 2.0**power
    D, K = cdist(ROWS, ROWS), ROWS @ ROWS.T
    for model, values in ((ClassicalMDS(metric="precomputed"), D), (Isomap(metric="precomputed"), D)):
        np.testing.assert_array_equal(model.fit(values * scale).embedding_ / scale, model.fit(values).embedding_)
    model = KernelPCA(kernel="precomputed")
    root = 2.0 ** (power // 2)
    np.testing.assert_array_equal(model.fit(K * scale).embedding_ / root, model.fit(K).embedding_)
    np.testing.assert_array_equal(model.fit(K * scale).transform(K[:3] * scale) / root, model.fit(K).transform(K[:3]))


def test_a_function_of_the_users_sees_the_users_rows():
    seen = []

    def metric(x, y):
        seen.append(float(np.abs(x).max()))
        return float(np.abs(x - y).max() / 2.0**600)

    Isomap(n_neighbors=5, metric=metric).fit(ROWS * 2.0**600)
    assert max(seen) > 2.0**599


def test_one_row_beside_which_all_others_vanish_is_refused():
    X = ROWS.copy()
    X[4, 1] = 1e250
    with pytest.raises(InputError, match=r"row 4 contains 1.0e[+]250, while half of the rows have no value above"):
        LaplacianEigenmaps().fit(X)


@pytest.mark.parametrize("cls", exported(), ids=by_name)
def test_a_map_of_the_largest_rows_is_finite_or_refused(cls):
    U = np.random.default_rng(0).uniform(size=(60, 3))
    X = np.where(U > 0.5, 1.7e308, -1.6e308) * U  # rows farther apart than the largest float
    refusal = "coordinates exceed 1.8e+308, the largest float64: divide X by a constant."
    try:
        said, finite = said_of(cls(), X, 0.9 * X[:5]), True
    except InputError as error:
        said, finite = str(error), False
    assert all(np.isfinite(one).all() for one in said) if finite else said == refusal


def test_distances_up_to_the_largest_float_have_a_map():
    D = cdist(ROWS, ROWS)
    D *= 1.7e308 / D.max()
    places = Isomap(metric="precomputed").fit_transform(D)
    np.testing.assert_allclose(places / 1e300, Isomap(metric="precomputed").fit_transform(D / 1e300), rtol=1e-6)
