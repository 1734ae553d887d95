import numpy as np
import pytest

from gramfold import CommuteTime
from gramfold.graph.affinity import affinity
from tests.methods.maps import s_curve
from tests.walks import commute_times, walked_commute_times

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")


@pytest.mark.parametrize("weights", ["binary", "gaussian"])
def test_distances_on_the_whole_map_are_commute_times(weights):
    X = s_curve()[:40]
    model = CommuteTime(39, 5, weights=weights).fit(X)
    W = affinity(model.graph_, model.width_).toarray()
    on_the_map = np.square(model.embedding_[:, None] - model.embedding_[None]).sum(axis=2)
    expected = commute_times(W) / W.sum()
    np.testing.assert_allclose(on_the_map, expected, atol=1e-10 * expected.max())
    np.testing.assert_allclose(model.kernel_.squared_distances(np.arange(40)), expected, atol=1e-10 * expected.max())


@pytest.mark.parametrize("weights", ["binary", "gaussian"])
def test_walkers_take_as_long_as_the_kernel_says(weights):
    X = s_curve()[:30]
    model = CommuteTime(n_neighbors=6, weights=weights, on_disconnected="error").fit(X)
    W = affinity(model.graph_, model.width_).toarray()
    for i, j in ((0, 1), (3, 7), (11, 5)):
        mean, error = walked_commute_times(W, i, j, walkers=20_000, seed=i)
        expected = model.kernel_.squared_distances([i], [j])[0, 0] * W.sum()
        assert error < 0.02 * mean
        assert abs(mean - expected) < 4 * error


def test_kernel_is_the_pseudo_inverse():
    model = CommuteTime(n_neighbors=6).fit(s_curve()[:60])
    W = affinity(model.graph_, None).toarray()
    expected = np.linalg.pinv(np.diag(W.sum(axis=1)) - W, hermitian=True)
    np.testing.assert_allclose(model.kernel_.dense(), expected, atol=1e-11)
    # the map is V Λ^½ of that kernel
    values, vectors = np.linalg.eigh(expected)
    np.testing.assert_allclose(model.spectrum_.eigenvalues, values[::-1][:2], rtol=1e-9)
    np.testing.assert_allclose(
        np.abs(model.embedding_), np.abs(vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])), atol=1e-9
    )


def test_a_new_row_balances_its_edges():
    X = s_curve()
    model = CommuteTime(n_neighbors=8).fit(X[:500])
    reach = np.sort(np.linalg.norm(X[:500, None] - X[None, :500], axis=2), axis=1)[:, 8]
    apart = model.extrapolation(X[500:]) > 0.3  # so that no training row is beside them
    for x in X[500:][apart][:20]:
        d = np.linalg.norm(X[:500] - x, axis=1)
        edges = (d <= np.sort(d)[7]) | (d < reach)
        expected = model.embedding_[edges].sum(axis=0) / (edges.sum() - model.spectrum_.penalties)
        np.testing.assert_allclose(model.transform(x[None])[0], expected, rtol=1e-10)
