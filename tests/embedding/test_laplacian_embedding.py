"""What the Laplacian family shares: the choice of eigenvectors, the weights, the rule for new points."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from gramfold import CommuteTime, DiffusionMap, HeatKernel, LaplacianEigenmaps
from gramfold.datasets import make_s_curve, make_swiss_roll
from gramfold.errors import PrecomputedInputError, RepeatedDirectionWarning
from gramfold.graph.affinity import affinity

FAMILY = [LaplacianEigenmaps, CommuteTime, HeatKernel, DiffusionMap]
every_member = pytest.mark.parametrize("cls", FAMILY, ids=lambda cls: cls.__name__)
repeating = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")

SHEET = make_swiss_roll(1500, height=36.0, random_state=0)


def correlations(places, truth):
    return [abs(spearmanr(places[:, i], truth[:, i])[0]) for i in range(2)]


@every_member
def test_leading_coordinates_repeat_the_long_direction_and_say_so(cls):
    with pytest.warns(RepeatedDirectionWarning, match=r"coordinate 2 \(\d+%\) of the map repeats .*'independent'"):
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
    with pytest.warns(RepeatedDirectionWarning, match="2 of the first 64 eigenvectors are independent .* last 1 col"):
        model = LaplacianEigenmaps(3, coordinates="independent").fit(X)
    assert not model.embedding_[:, 2].any()
    assert len(model.spectrum_) == 2
    assert not model.transform(X[:5] * 1.001)[:, 2].any()


@repeating
@every_member
def test_pieces_choose_for_themselves(cls):
    apart = np.vstack([SHEET.points[:700], make_s_curve(400, random_state=0).points + 500])
    with pytest.warns(UserWarning, match="2 pieces"):
        model = cls(coordinates="independent", on_disconnected="separate").fit(apart)
    assert model.kept_.all()
    np.testing.assert_allclose(model.transform(apart), model.embedding_, atol=1e-8)


@repeating
@every_member
@pytest.mark.parametrize(
    "form", [{"weights": "binary"}, {"weights": "gaussian"}, {"weights": "gaussian", "width": "self-tuning"}], ids=str
)
def test_held_out_rows_agree_with_a_refit(cls, form):
    X = make_swiss_roll(2000, random_state=1).points
    placed = cls(n_neighbors=10, **form).fit(X[:1600]).transform(X[1600:])
    refit = cls(n_neighbors=10, **form).fit(X).embedding_[1600:]
    assert procrustes(refit, placed)[2] < 0.005


@repeating
@every_member
@pytest.mark.parametrize("reach", [{"n_neighbors": 5}, {"n_neighbors": 12}, {"radius": 0.6}], ids=str)
def test_rows_beside_training_rows_land_beside_them_under_self_tuned_widths(cls, reach):
    X = make_s_curve(700, random_state=0).points
    model = cls(weights="gaussian", width="self-tuning", **reach).fit(X)
    step = np.random.default_rng(0).standard_normal(X.shape)
    step *= 1e-7 / np.linalg.norm(step, axis=1, keepdims=True)
    off = np.linalg.norm(model.transform(X + step) - model.embedding_, axis=1) / np.ptp(model.embedding_, axis=0).max()
    assert np.median(off) < 0.001
    assert off.max() < 0.02


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
@pytest.mark.parametrize("choice", ["uniform", "kmeans"])
def test_landmarks_carry_the_graph_and_the_others_are_new_rows(cls, choice):
    settings = {"n_neighbors": 12, "random_state": 3}
    model = cls(landmarks=700, landmark_choice=choice, **settings).fit(SHEET.points)
    some = model.landmarks_
    assert len(some) <= 700
    assert len(model.graph_) == len(some)
    plain = cls(**settings).fit(SHEET.points[some])
    np.testing.assert_array_equal(model.embedding_[some], plain.embedding_)
    np.testing.assert_array_equal(model.embedding_, plain.transform(SHEET.points))
    assert cls(landmarks=1500, **settings).fit(SHEET.points).landmarks_ is None


def test_landmarks_need_rows():
    D = cdist(SHEET.points[:60], SHEET.points[:60])
    with pytest.raises(PrecomputedInputError, match="landmarks=30 would place the other rows"):
        LaplacianEigenmaps(metric="precomputed", landmarks=30).fit(D)
