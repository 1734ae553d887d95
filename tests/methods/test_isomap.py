import pickle
import shutil
from mmap import mmap

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap as TheirIsomap
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from gramfold import LLE, Isomap, KernelIsomap, LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll
from gramfold.errors import (
    DisconnectedGraphWarning,
    ExtrapolationWarning,
    InputError,
    MemoryForecastError,
    RankWarning,
)
from gramfold.runtime import memory
from tests.methods.maps import DATA, difference, digits, roll, s_curve, similarity


def test_complete_graph_is_pca():
    X = s_curve()[:150]
    assert difference(Isomap(n_neighbors=149).fit_transform(X), PCA(2).fit_transform(X)) < 1e-8


@pytest.mark.parametrize("name", DATA)
def test_matches_scikit_learn(name):
    X = DATA[name]()
    ours = Isomap(3, 10, on_disconnected="error").fit(X)
    theirs = TheirIsomap(n_components=3, n_neighbors=10, eigen_solver="dense").fit(X)
    assert difference(ours.embedding_, theirs.embedding_) < 1e-6


def test_new_points_match_scikit_learn():
    X = roll()
    ours = Isomap(n_neighbors=10).fit(X[:700])
    theirs = TheirIsomap(n_neighbors=10, eigen_solver="dense").fit(X[:700])
    assert difference(ours.transform(X[700:]), theirs.transform(X[700:])) < 1e-6


def test_swiss_roll_unrolls_and_new_points_land_in_place():
    sample = make_swiss_roll(2500, random_state=0)  # 90 long, 21 high
    X, truth = sample
    model = Isomap(n_neighbors=10).fit(X[:2000])
    assert procrustes(truth[:2000], model.embedding_)[2] < 0.01
    to_truth = similarity(model.embedding_, truth[:2000])
    off = np.linalg.norm(to_truth(model.transform(X[2000:])) - truth[2000:], axis=1)
    assert np.median(off) < 0.01 * 90


def test_copies_count_as_often_as_they_occur():
    X = roll()[:300]
    copies = np.concatenate([np.arange(300), np.arange(50), np.arange(50)])
    # plain: geodesics of the distinct rows, written out for every copy
    graph = kneighbors_graph(X, 8, mode="distance")
    D = shortest_path(graph, directed=False)[np.ix_(copies, copies)]
    n = len(copies)
    H = np.eye(n) - np.ones((n, n)) / n
    values, vectors = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    plain = vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    model = Isomap(on_disconnected="error").fit(X[copies])
    assert difference(model.embedding_, plain) < 1e-9
    np.testing.assert_allclose(model.kernel_.dense(), -0.5 * H @ D**2 @ H, atol=1e-8 * D.max() ** 2)


def test_precomputed_graph_and_transformer_equal_rows():
    X = roll()
    known, fresh = X[:600], X[600:]
    rows = Isomap().fit(known)
    dense = Isomap(metric="precomputed").fit(cdist(known, known))
    assert difference(dense.embedding_, rows.embedding_) < 1e-9
    np.testing.assert_allclose(dense.transform(cdist(fresh, known)), rows.transform(fresh), atol=1e-7)
    finder = KNeighborsTransformer(n_neighbors=8).fit(known)
    sparse = Isomap(metric="precomputed").fit(finder.transform(known))
    through = Isomap(search=KNeighborsTransformer(n_neighbors=8)).fit(known)
    for model, new in ((sparse, finder.transform(fresh)), (through, fresh)):
        assert difference(model.embedding_, rows.embedding_) < 1e-9
        np.testing.assert_allclose(model.transform(new), rows.transform(fresh), atol=1e-8)


def test_new_rows_of_a_transformer_match_scikit_learn():
    X = make_blobs(250, 5, centers=3, cluster_std=3.0, random_state=0)[0]
    finder = KNeighborsTransformer(n_neighbors=10).fit(X[:150])
    theirs = TheirIsomap(n_neighbors=10, metric="precomputed").fit(finder.transform(X[:150]))
    for ours, new in (
        (Isomap(metric="precomputed").fit(finder.transform(X[:150])), finder.transform(X[150:])),
        (Isomap(search=KNeighborsTransformer(n_neighbors=10)).fit(X[:150]), X[150:]),
    ):
        np.testing.assert_allclose(
            cdist(ours.transform(new), ours.embedding_),
            cdist(theirs.transform(finder.transform(X[150:])), theirs.embedding_),
            atol=1e-8,
        )


@pytest.mark.parametrize("cls", [Isomap, KernelIsomap])
def test_training_rows_return_whether_or_not_a_graph_stores_its_diagonal(cls):
    graph = kneighbors_graph(roll()[:300], 8, mode="distance")
    model = cls(metric="precomputed").fit(graph)
    np.testing.assert_array_equal(model.transform(graph), model.embedding_)
    np.testing.assert_array_equal(model.transform(graph[[7, 3]]), model.embedding_[[7, 3]])


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
@pytest.mark.parametrize("cls", [Isomap, LaplacianEigenmaps, LLE])
@pytest.mark.parametrize("metric", ["correlation", "cosine", "braycurtis"])
def test_training_rows_return_under_any_metric(cls, metric):
    X = digits()[:200]
    X = np.vstack([X, 2.0 * X[:20]])  # of one direction with others
    model = cls(2, 12, metric=metric).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_radius_graph():
    X = s_curve()
    model = Isomap(radius=0.5).fit(X)
    graph = np.where((D := cdist(X, X)) <= 0.5, D, 0)
    walks = shortest_path(graph, directed=False)
    H = np.eye(len(X)) - 1 / len(X)
    np.testing.assert_allclose(model.kernel_.dense(), -0.5 * H @ walks**2 @ H, atol=1e-9 * walks.max() ** 2)
    with (
        pytest.warns(DisconnectedGraphWarning, match="1 of 2 new rows"),
        pytest.warns(ExtrapolationWarning, match="1 of 2 rows .*index 1: 9"),
    ):
        places = model.transform(np.vstack([X[:1] + 0.01, X[:1] + [0, 0, 50]]))
    assert np.isfinite(places).all()


def test_negative_part_is_reported_not_hidden():
    model = Isomap().fit(roll())
    every, found = np.linalg.eigvalsh(model.kernel_.dense()), model.negative_part()
    assert every[0] < 0 < found.mass < 0.5
    assert found.most_negative == pytest.approx(every[0], rel=1e-9)
    assert found.mass == pytest.approx(-every[every < 0].sum() / np.abs(every).sum(), rel=1e-9)
    assert found.total == pytest.approx(every.sum())
    assert found.positive_total == pytest.approx(every[every > 0].sum())


class TestPieces:
    left = roll()[:200]
    X = np.vstack([left, left[:150] + [500.0, 0, 0]])

    def test_bridge_joins_and_keeps_distances_within_a_piece(self):
        with pytest.warns(
            DisconnectedGraphWarning, match="2 connected components of 200, 150 rows; they were connected by 1 "
        ):
            model = Isomap(n_neighbors=12).fit(self.X)
        alone = Isomap(n_neighbors=12).fit(self.left)
        walks = model.kernel_.squared_distances(np.arange(200), np.arange(200))
        np.testing.assert_allclose(walks, alone.kernel_.squared_distances(np.arange(200)), atol=1e-6)
        i, j = model.graph_.bridges[0]
        assert np.linalg.norm(self.X[i] - self.X[j]) == pytest.approx(cdist(self.X[:200], self.X[200:]).min())

    def test_largest_leaves_the_others_without_a_place(self):
        with pytest.warns(DisconnectedGraphWarning, match="coordinates of the other 150 rows are NaN"):
            model = Isomap(n_neighbors=12, on_disconnected="largest").fit(self.X)
        assert model.kept_[:200].all()
        assert np.isnan(model.embedding_[200:]).all()
        assert not model.kept_[200:].any()
        alone = Isomap(n_neighbors=12).fit(self.left)
        np.testing.assert_allclose(model.embedding_[:200], alone.embedding_, atol=1e-8)
        with pytest.warns(DisconnectedGraphWarning, match="1 of 2 new rows belong to connected components"):
            places = model.transform(self.X[[3, 300]] + 1e-3)
        assert np.isfinite(places[0]).all()
        assert np.isnan(places[1]).all()

    def test_separate_lays_them_side_by_side(self):
        with pytest.warns(DisconnectedGraphWarning, match="side by side"):
            model = Isomap(n_neighbors=12, on_disconnected="separate").fit(self.X)
        first, second = model.embedding_[:200], model.embedding_[200:]
        assert first[:, 0].max() < second[:, 0].min()
        assert difference(second, Isomap(n_neighbors=12).fit_transform(self.left[:150])) < 1e-8
        placed = model.transform(self.X[[3, 300]] + 1e-3)
        np.testing.assert_allclose(placed, model.embedding_[[3, 300]], atol=0.01)

    def test_a_piece_too_small_for_the_map_still_has_a_place(self):
        X = np.vstack([self.left, self.left[:1] + 900.0, self.left[:2] - 900.0])
        with pytest.warns(DisconnectedGraphWarning):
            model = Isomap(radius=12.0, on_disconnected="separate").fit(X)
        assert np.isfinite(model.embedding_).all()
        assert np.linalg.norm(np.subtract(*model.embedding_[-2:])) == pytest.approx(np.linalg.norm(X[-1] - X[-2]))
        np.testing.assert_allclose(model.transform(X[-3:] + 0.01), model.embedding_[-3:], atol=0.05)


def test_approximate_neighbours_give_nearly_the_same_map():
    pytest.importorskip("faiss")
    X = np.hstack([roll(), np.zeros((800, 20))])
    model = Isomap(search="approximate", random_state=0).fit(X)
    assert model.neighbors_.recall > 0.95
    assert procrustes(model.embedding_, Isomap().fit_transform(roll()))[2] < 0.01


@pytest.mark.parametrize("n", [7, 300])
def test_approximate_neighbours_within_a_radius(n):
    pytest.importorskip("faiss")
    X, fresh = s_curve()[:n], s_curve()[n : n + 50]
    exact, model = (Isomap(radius=3.0, search=how).fit(X) for how in ("exact", "approximate"))
    assert difference(model.embedding_, exact.embedding_) < 1e-9
    np.testing.assert_allclose(model.transform(fresh), exact.transform(fresh), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_walks_in_a_file_give_the_same_map_to_the_bit(dtype, tmp_path):
    X = many_rows().astype(dtype)
    here, there = Isomap().fit(X[:1100]), Isomap(storage=tmp_path).fit(X[:1100])
    assert isinstance(_owner(there.kernel_.array), mmap)
    assert not isinstance(_owner(here.kernel_.array), mmap)
    np.testing.assert_array_equal(there.embedding_, here.embedding_)
    np.testing.assert_array_equal(there.transform(X[1100:]), here.transform(X[1100:]))
    assert list(tmp_path.iterdir()) == []  # nothing to clean up
    np.testing.assert_array_equal(clone_by_pickle(there).transform(X[1100:]), here.transform(X[1100:]))


def test_walks_in_float32_give_nearly_the_same_map():
    X = many_rows()
    single, double = Isomap(storage="float32").fit(X[:1100]), Isomap().fit(X[:1100])
    assert single.kernel_.array.dtype == np.float32
    assert single.embedding_.dtype == np.float64
    assert 0 < difference(single.embedding_, double.embedding_) < 1e-6
    assert difference(single.transform(X[1100:]), double.transform(X[1100:])) < 1e-6
    landmarks = Isomap(storage="float32", landmarks=200).fit(X[:1100])
    assert landmarks.kernel_.all_values.dtype == np.float32


def test_a_folder_that_cannot_hold_the_walks_is_refused_at_once(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="is not a folder"):
        Isomap(storage=str(tmp_path / "absent")).fit(roll())
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(MemoryForecastError, match=r"GB on disk, but only 0.0 GB are free"):
        Isomap(storage=tmp_path).fit(roll())


def test_the_forecast_names_a_file(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "available_memory", lambda: 10e6)
    with pytest.raises(MemoryForecastError, match=r"or name a folder in storage=, where a file takes 0.0 GB"):
        Isomap().fit(many_rows())
    Isomap(storage=tmp_path).fit(many_rows())


def test_shares_of_a_ring_add_up_to_one():
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    model = Isomap(n_neighbors=2).fit(ring)  # geodesics of a ring are those of no space
    spectrum, every = model.spectrum_, np.linalg.eigvalsh(model.kernel_.dense())
    assert (spectrum.eigenvalues / spectrum.total).sum() > 1.2
    np.testing.assert_allclose(model.shares(), spectrum.eigenvalues / every[every > 0].sum(), rtol=1e-9)
    whole = Isomap(n_components=79, n_neighbors=2)
    with pytest.warns(RankWarning):
        assert whole.fit(ring).shares().sum() == pytest.approx(1.0)
    many = Isomap().fit(many_rows())  # of whose spectrum the fit computes only a part
    every = np.linalg.eigvalsh(many.kernel_.dense())
    np.testing.assert_allclose(many.shares(), many.spectrum_.eigenvalues / every[every > 0].sum(), rtol=1e-9)


def many_rows():
    return make_swiss_roll(1300, random_state=3).points  # beyond what is solved densely


def _owner(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array


def clone_by_pickle(model):
    return pickle.loads(pickle.dumps(model))
