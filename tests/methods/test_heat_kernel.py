import numpy as np
import pytest
from scipy.linalg import expm

from gramfold import HeatKernel
from gramfold.errors import RankWarning
from gramfold.graph.affinity import affinity
from tests.methods.maps import s_curve

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")


@pytest.mark.parametrize("weights", ["binary", "gaussian"])
@pytest.mark.parametrize("time", [0.01, 1.0, 30.0])
def test_kernel_is_the_matrix_exponential_and_keeps_heat(weights, time):
    X = s_curve()[:80]
    model = HeatKernel(n_neighbors=6, weights=weights, t=time).fit(X)
    W = affinity(model.graph_, model.width_).toarray()
    expected = expm(-time * (np.diag(W.sum(axis=1)) - W))
    K = model.kernel_.dense()
    np.testing.assert_allclose(K, expected, atol=1e-12)
    np.testing.assert_allclose(K.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(model.kernel_.columns([3, 70]), expected[:, [3, 70]], atol=1e-12)
    np.testing.assert_allclose(model.kernel_ @ np.ones(80), 1.0, atol=1e-12)


def test_at_the_start_all_heat_is_where_it_was():
    X = s_curve()[:80]
    np.testing.assert_allclose(HeatKernel(t=0.0).fit(X).kernel_.dense(), np.eye(80), atol=1e-13)
    slow = [np.abs(HeatKernel(t=t).fit(X).kernel_.dense() - np.eye(80)).max() for t in (1e-2, 1e-4, 1e-6)]
    np.testing.assert_allclose(np.array(slow[1:]) / slow[:-1], 1e-2, rtol=0.1)  # K − I = −Lt + …


@pytest.mark.parametrize("time", [0.5, 20.0])
def test_distances_on_the_whole_map_are_those_of_the_kernel(time):
    model = HeatKernel(59, n_neighbors=6, t=time).fit(s_curve()[:60])
    on_the_map = np.square(model.embedding_[:, None] - model.embedding_[None]).sum(axis=2)
    expected = model.kernel_.squared_distances(np.arange(60))
    np.testing.assert_allclose(on_the_map, expected, atol=1e-11 * expected.max())
    np.testing.assert_allclose(model.spectrum_.eigenvalues, np.exp(-time * model.spectrum_.penalties), rtol=1e-12)


def test_coordinates_keep_their_proportions_though_heat_has_nearly_evened_out():
    X = s_curve()
    early, late = HeatKernel(3, t=1.0).fit(X), HeatKernel(3, t=2000.0).fit(X)
    shrunk = np.exp(-0.5 * 1999.0 * early.spectrum_.penalties)
    assert shrunk[2] < 1e-8 * shrunk[0]
    np.testing.assert_allclose(late.embedding_, early.embedding_ * shrunk, rtol=1e-6, atol=0)


def test_nothing_is_left_after_too_long():
    with pytest.warns(
        RankWarning, match=r"at t=1e\+09 .* is 0 in floating point for 2 of 2 eigenvectors.*a smaller t, about \d"
    ):
        assert not HeatKernel(t=1e9).fit_transform(s_curve()).any()


def test_copies_are_rows():
    X = s_curve()[:80]
    K = HeatKernel(t=2.0).fit(np.vstack([X, X[:30]])).kernel_.dense()
    np.testing.assert_allclose(K.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(K[80:], K[:30], atol=1e-14)
