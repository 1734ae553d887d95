"""What the Laplacian family shares: the choice of eigenvectors, the weights, the rule for new points."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors, kneighbors_graph

from gramfold import CommuteTime, DiffusionMap, HeatKernel, LaplacianEigenmaps
from gramfold.datasets import make_s_curve, make_swiss_roll
from gramfold.errors import PrecomputedInputError, RepeatedDirectionWarning
from gramfold.graph.affinity import affinity
from gramfold.kernels import directions

FAMILY = [LaplacianEigenmaps, CommuteTime, HeatKernel, DiffusionMap]
every_member = pytest.mark.parametrize("cls", FAMILY, ids=lambda cls: cls.__name__)
repeating = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")

FORMS = [{"weights": "binary"}, {"weights": "gaussian"}, {"weights": "gaussian", "width": "self-tuning"}]
every_form = pytest.mark.parametrize("form", FORMS, ids=str)
DIGITS = load_digits()
CELLS = Path(__file__).parents[3] / "shared" / "data" / "pbmc3k.npz"

SHEET = make_swiss_roll(1500, height=36.0, random_state=0)


def correlations(places, truth):
    return [abs(spearmanr(places[:, i], truth[:, i])[0]) for i in range(2)]


@every_member
def test_leading_coordinates_repeat_the_long_direction_and_say_so(cls):
    with pytest.warns(
        RepeatedDirectionWarning, match=r"coordinate 2 \(\d+%\) of the embedding can be predicted .*'independent'"
    ):
        model = cls().fit(SHEET.points)
    assert model.spectrum_.taken is None
    assert model.spectrum_.novelty[0] == 1
    assert model.spectrum_.novelty[1] < 0.2
    length, height = correlations(model.embedding_, SHEET.truth)
    assert length > 0.99
    assert height < 0.3


@every_member
def test_independent_coordinates_are_length_and_height(cls):
    model = cls(n_neighbors=15, coordinates="independent").fit(SHEET.points)
    assert model.spectrum_.taken.tolist() == [0, 2]
    assert model.spectrum_.novelty[1] > 0.85
    assert min(correlations(model.embedding_, SHEET.truth)) > 0.95


@repeating
@every_member
def test_independent_coordinates_are_the_leading_ones_that_were_taken(cls):
    chosen = cls(n_neighbors=15, coordinates="independent").fit(SHEET.points)
    leading = cls(3, n_neighbors=15).fit(SHEET.points)
    scale = np.abs(leading.embedding_).max()
    np.testing.assert_allclose(chosen.embedding_, leading.embedding_[:, [0, 2]], atol=1e-8 * scale)
    fresh = make_swiss_roll(50, height=36.0, random_state=7).points
    np.testing.assert_allclose(chosen.transform(fresh), leading.transform(fresh)[:, [0, 2]], atol=1e-8 * scale)
    for values in ("eigenvalues", "penalties"):
        np.testing.assert_allclose(getattr(chosen.spectrum_, values), getattr(leading.spectrum_, values)[[0, 2]])
    assert (chosen.spectrum_.residuals < 1e-6).all()


def test_a_square_has_nothing_to_warn_of():
    X = np.random.default_rng(0).random((600, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LaplacianEigenmaps().fit(X)
    assert (model.spectrum_.novelty > 0.8).all()
    chosen = LaplacianEigenmaps(coordinates="independent").fit(X)
    np.testing.assert_allclose(chosen.embedding_, model.embedding_, atol=1e-9)


def groups_of_50_columns(n=600, count=6):
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.standard_normal((count, 50))
    group = np.arange(n) % count
    return centers[group] + rng.standard_normal((n, 50)), group


@every_member
@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")  # groups are dots, which it tells
def test_steps_between_groups_repeat_nothing(cls):
    X, group = groups_of_50_columns()
    model = cls(4).fit(X)  # a RepeatedDirectionWarning would be an error
    np.testing.assert_array_equal(model.spectrum_.novelty, 1.0)
    chosen = cls(4, coordinates="independent").fit(X)
    assert chosen.spectrum_.taken.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(chosen.embedding_, model.embedding_)
    assert silhouette_score(model.spectrum_.eigenvectors, group) > 0.9


def cells():
    """Blood cells as they are usually prepared: log counts of the genes that vary most, on their principal axes."""
    with np.load(CELLS, allow_pickle=False) as z:
        counts = csr_array((z["data"].astype(float), z["indices"].astype("int32"), z["indptr"]), shape=z["shape"])
    logs = csr_array(counts.multiply(1e4 / counts.sum(axis=1)[:, None])).log1p()
    mean = logs.mean(axis=0)
    variance = logs.power(2).mean(axis=0) - mean**2
    vary = np.argsort(-np.where(mean > 0.0125, variance / np.maximum(mean, 1e-9), 0.0))[:1000]
    X = (logs[:, vary].toarray() - mean[vary]) / np.sqrt(variance[vary])
    return PCA(30, random_state=0).fit_transform(np.clip(X, -10, 10))


absent = pytest.mark.skipif(not CELLS.exists(), reason="the data of blood cells are not there")


@pytest.mark.parametrize("rows", [lambda: DIGITS.data, pytest.param(cells, marks=absent)], ids=["digits", "cells"])
def test_groups_of_real_rows_repeat_nothing(rows):
    X = rows()
    model = LaplacianEigenmaps(3, n_neighbors=10).fit(X)
    chosen = LaplacianEigenmaps(3, n_neighbors=10, coordinates="independent").fit(X)
    assert (model.spectrum_.novelty > 0.5).all()
    np.testing.assert_array_equal(chosen.embedding_, model.embedding_)


def test_no_more_eigenvectors_are_sought_than_needed(monkeypatch):
    asked = []
    plain = directions.leading_penalties

    def counted(kernel, count):
        asked.append(count)
        return plain(kernel, count)

    monkeypatch.setattr(directions, "leading_penalties", counted)
    LaplacianEigenmaps(2, coordinates="independent").fit(np.random.default_rng(0).random((400, 2)))
    assert asked == [2]
    asked.clear()
    LaplacianEigenmaps(2, n_neighbors=15, coordinates="independent").fit(SHEET.points)
    assert asked == [2, 16]


def test_more_eigenvectors_are_looked_at_where_the_first_do_not_do():
    # 20 times as long as high: the height comes after more overtones than the first look sees
    ribbon = np.stack(np.meshgrid(np.arange(240.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    ribbon += 0.01 * np.random.default_rng(0).standard_normal(ribbon.shape)
    model = LaplacianEigenmaps(coordinates="independent").fit(ribbon)
    assert model.spectrum_.taken[1] >= 16
    assert min(correlations(model.embedding_, ribbon)) > 0.9


def test_directions_that_are_not_there_are_zero_and_told():
    t = np.random.default_rng(0).random(1500) * 2 * np.pi
    X = np.column_stack([np.cos(t), np.sin(t)])
    with pytest.warns(
        RepeatedDirectionWarning, match="only 2 of the first 64 eigenvectors are independent: .* last col"
    ):
        model = LaplacianEigenmaps(3, coordinates="independent").fit(X)
    assert not model.embedding_[:, 2].any()
    assert len(model.spectrum_) == 2
    assert not model.transform(X[:5] * 1.001)[:, 2].any()


@repeating
@every_member
def test_pieces_choose_for_themselves(cls):
    apart = np.vstack([SHEET.points[:700], make_s_curve(400, random_state=0).points + 500])
    with pytest.warns(UserWarning, match="2 connected components"):
        model = cls(coordinates="independent", on_disconnected="separate").fit(apart)
    assert model.kept_.all()
    np.testing.assert_allclose(model.transform(apart), model.embedding_, atol=1e-8)


@repeating
@every_member
@every_form
def test_held_out_rows_agree_with_a_refit(cls, form):
    X = make_swiss_roll(2000, random_state=1).points
    placed = cls(n_neighbors=10, **form).fit(X[:1600]).transform(X[1600:])
    refit = cls(n_neighbors=10, **form).fit(X).embedding_[1600:]
    assert procrustes(refit, placed)[2] < 0.005


def moved(X, step):
    """Rows moved by this much, each its own way."""
    ways = np.random.default_rng(1).standard_normal(X.shape)
    return X + step * ways / np.linalg.norm(ways, axis=1, keepdims=True)


ROWS = {
    "S-curve": lambda: make_s_curve(700, random_state=0).points,
    "roll": lambda: make_swiss_roll(300, random_state=0).points,
    "Gaussian": lambda: np.random.default_rng(0).standard_normal((400, 5)),
    "digits": lambda: DIGITS.data[:600],  # whole numbers: many distances are equal
}


@repeating
@every_member
@every_form
@pytest.mark.parametrize("rows", ROWS)
def test_rows_beside_training_rows_land_beside_them(cls, form, rows):
    X = ROWS[rows]()
    model = cls(**form).fit(X)
    spacing = np.median(model.neighbors_.farthest)
    for step in (1e-9, 1e-6, 1e-4):
        away = np.linalg.norm(model.transform(moved(X, step * spacing)) - model.embedding_, axis=1)
        assert away.max() < 0.005 * np.ptp(model.embedding_, axis=0).max()
        assert np.median(away) < 0.0005 * np.ptp(model.embedding_, axis=0).max()


@repeating
@every_member
@pytest.mark.parametrize("laplacian", ["unnormalized", "random-walk", "symmetric"])
@pytest.mark.parametrize("setting", [{"radius": 0.6}, {"n_neighbors": 5}, {"metric": "cosine"}], ids=str)
def test_so_do_they_by_radius_and_angle(cls, setting, laplacian):
    form = {"laplacian": laplacian} if cls is LaplacianEigenmaps else {}
    X = make_s_curve(500, random_state=0).points
    model = cls(weights="gaussian", width="self-tuning", **setting, **form).fit(X)
    away = np.linalg.norm(model.transform(moved(X, 1e-7)) - model.embedding_, axis=1)
    assert away.max() < 1e-3 * np.ptp(model.embedding_, axis=0).max()


@repeating
@every_member
def test_the_ends_of_bridges_and_given_edges_are_kept(cls):
    apart = np.vstack([make_s_curve(200, random_state=0).points, make_s_curve(100, random_state=1).points + 9])
    with pytest.warns(UserWarning, match="2 connected components"):
        model = cls().fit(apart)
    size = np.ptp(model.embedding_, axis=0).max()
    assert np.abs(model.transform(moved(apart, 1e-7)) - model.embedding_).max() < 1e-4 * size
    X = apart[:200]
    given = cls(metric="precomputed").fit(kneighbors_graph(X, 8, mode="distance"))
    new = csr_array(NearestNeighbors(n_neighbors=9).fit(X).kneighbors_graph(moved(X, 1e-7), mode="distance"))
    size = np.ptp(given.embedding_, axis=0).max()
    assert np.abs(given.transform(new) - given.embedding_).max() < 1e-4 * size


@repeating
@every_member
@every_form
def test_new_digits_land_among_their_own(cls, form):
    """In many columns: as well as at the plain mean of their neighbours' places, and they meet as many as others do."""
    known, new, labels = DIGITS.data[450:], DIGITS.data[:450], DIGITS.target
    model = cls(5, **form).fit(known)
    judge = KNeighborsClassifier(5).fit(model.embedding_, labels[450:])
    nearest = NearestNeighbors(n_neighbors=8).fit(known).kneighbors(new, return_distance=False)
    plain = judge.score(model.embedding_[nearest].mean(axis=1), labels[:450])
    assert judge.score(model.transform(new), labels[:450]) > plain - 0.02
    assert model.model_.source.met(new).counts.mean() < 1.2 * model.graph_.lengths.nnz / len(known)


@repeating
@pytest.mark.parametrize("weights", ["binary", "gaussian"])
def test_a_new_row_has_the_edges_of_a_row_that_comes_last(weights):
    known, new = DIGITS.data[:790], DIGITS.data[790:800]
    model = LaplacianEigenmaps(n_neighbors=10, weights=weights).fit(known)
    D, d = cdist(new, known), cdist(known, known)
    reach = np.sort(d, axis=1)[:, 10]
    for row, found in zip(D, model.transform(new), strict=True):
        chosen = np.zeros(790, dtype=bool)
        chosen[np.argsort(row, kind="stable")[:10]] = True
        a = (chosen | (row < reach * (1 - 1e-9))) * np.exp(-0.5 * (row / (model.width_ or np.inf)) ** 2)
        np.testing.assert_allclose(
            found, a @ model.embedding_ / a.sum() / (1 - model.spectrum_.penalties), rtol=1e-9, atol=1e-12
        )


@repeating
def test_self_tuned_widths_are_told_and_used():
    X = make_s_curve(300, random_state=0).points
    model = LaplacianEigenmaps(n_neighbors=10, weights="gaussian", width="self-tuning").fit(X)
    D = cdist(X, X)
    sigma = np.sort(D, axis=1)[:, 7]
    np.testing.assert_allclose(model.width_, sigma, rtol=1e-12)
    edges = model.graph_.lengths.toarray() > 0
    W = edges * np.exp(-(D**2) / (2 * np.outer(sigma, sigma)))
    np.testing.assert_allclose(affinity(model.graph_, model.width_).toarray(), W, rtol=1e-9)
    d, Y = W.sum(axis=1), model.embedding_
    np.testing.assert_allclose((np.diag(d) - W) @ Y, d[:, None] * Y * model.spectrum_.penalties, atol=1e-10)


@repeating
@every_member
def test_self_tuning_knows_rows_distances_and_graphs(cls):
    X = make_s_curve(300, random_state=0).points
    fresh = make_s_curve(20, random_state=1).points
    form = {"n_neighbors": 10, "weights": "gaussian", "width": "self-tuning"}
    rows = cls(**form).fit(X)
    scale = np.abs(rows.embedding_).max()
    known = cls(metric="precomputed", **form).fit(cdist(X, X))
    np.testing.assert_allclose(known.embedding_, rows.embedding_, atol=1e-7 * scale)
    np.testing.assert_allclose(known.transform(cdist(fresh, X)), rows.transform(fresh), atol=1e-7 * scale)
    graph = cls(metric="precomputed", **form).fit(csr_array(rows.graph_.lengths))
    np.testing.assert_allclose(graph.embedding_, rows.embedding_, atol=1e-7 * scale)
    assert np.isfinite(graph.transform(csr_array(cdist(fresh, X) * (cdist(fresh, X) < 1)))).all()


@repeating
@every_member
@pytest.mark.parametrize("choice", ["random", "kmeans"])
def test_landmarks_carry_the_graph_and_the_others_are_new_rows(cls, choice):
    settings = {"n_neighbors": 12, "random_state": 3}
    model = cls(landmarks=700, landmark_choice=choice, **settings).fit(SHEET.points)
    some = model.landmarks_
    assert len(some) <= 700
    np.testing.assert_array_equal(np.flatnonzero(model.graph_.multiplicity), some)
    plain = cls(**settings).fit(SHEET.points[some])
    np.testing.assert_array_equal(model.embedding_[some], plain.embedding_)
    np.testing.assert_array_equal(model.embedding_, plain.transform(SHEET.points))
    assert cls(landmarks=1500, **settings).fit(SHEET.points).landmarks_ is None


def test_landmarks_need_rows():
    D = cdist(SHEET.points[:60], SHEET.points[:60])
    with pytest.raises(PrecomputedInputError, match="landmarks need a table of rows, but X is precomputed"):
        LaplacianEigenmaps(metric="precomputed", landmarks=30).fit(D)
