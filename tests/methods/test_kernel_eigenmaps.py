import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_digits

from gramfold import LPP, KernelEigenmaps, LaplacianEigenmaps
from gramfold.datasets import make_s_curve, make_swiss_roll
from gramfold.errors import DisconnectedGraphWarning, ExtrapolationWarning, MemoryForecastError, RankWarning
from gramfold.graph.affinity import inverse_lengths
from gramfold.runtime import memory
from tests.methods.maps import difference

# the reference maps of a sheet twice as long as it is high may repeat themselves
pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")

FORMS = ["reweighted", "affine", "stochastic", "raw"]


def sheet(n=600, seed=0):
    return make_s_curve(n, height=6, random_state=seed).points


# --- theory: the two ends


@pytest.mark.parametrize("weights", ["binary", "gaussian"])
@pytest.mark.parametrize("form", ["reweighted", "affine", "raw"])
def test_a_narrow_kernel_on_every_row_gives_laplacian_eigenmaps(weights, form):
    X = sheet(300)
    model = KernelEigenmaps(3, n_kernels=300, width=1e-4, weights=weights, approximation=form).fit(X)
    theirs = LaplacianEigenmaps(3, weights=weights).fit(X)
    assert difference(model.embedding_, theirs.embedding_) < 1e-8
    np.testing.assert_allclose(model.spectrum_.penalties, theirs.spectrum_.penalties, rtol=1e-8)


def test_the_same_for_inverse_distances_against_the_dense_problem():
    X = sheet(300)
    model = KernelEigenmaps(3, n_kernels=300, width=1e-4).fit(X)
    W = inverse_lengths(model.graph_).toarray()
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(W[W > 0], 1 / distances[W > 0], rtol=1e-10)
    vectors = eigh(np.diag(W.sum(axis=1)) - W, np.diag(W.sum(axis=1)))[1]
    assert difference(model.embedding_, vectors[:, 1:4]) < 1e-8


def test_narrower_kernels_come_nearer_to_laplacian_eigenmaps():
    X = sheet(300)
    graph = LaplacianEigenmaps(2).fit(X).embedding_
    off = [
        difference(
            KernelEigenmaps(2, n_kernels=300, width=width, weights="binary", local_dim=0).fit(X).embedding_, graph
        )
        for width in (0.3, 0.1, 0.03)
    ]
    assert off[0] > off[1] > off[2]
    assert off[2] < 1e-2


@pytest.mark.parametrize("width", ["auto", 1e6])
def test_one_kernel_gives_the_affine_locality_preserving_projection(width):
    X = sheet(300)
    model = KernelEigenmaps(2, n_kernels=1, width=width).fit(X)
    projection = LPP(2).fit(X)
    assert difference(model.embedding_, projection.embedding_) < 1e-10
    new = sheet(50, seed=1)
    assert difference(model.transform(new), projection.transform(new)) < 1e-10


def test_two_infinitely_wide_kernels_are_one():
    X = sheet(300)
    wide = KernelEigenmaps(2, n_kernels=2, width=1e8).fit(X)  # both have the share one half everywhere
    assert difference(wide.embedding_, LPP(2).fit(X).embedding_) < 1e-7


# --- theory: the trivial solution


@pytest.mark.parametrize("settings", [{}, {"centers": "random"}, {"local_dim": 1}, {"equal_degrees": True}], ids=str)
def test_the_trivial_solution_is_exact(settings):
    model = KernelEigenmaps(2, n_kernels=60, approximation="reweighted", **settings).fit(sheet())
    assert abs(model.leading_eigenvalue_ - 1) < 1e-10
    assert model.leading_ripple_ < 1e-8
    assert np.abs(model.kernel_.mass @ model.embedding_).max() < 1e-9 * np.sqrt(model.kernel_.mass.sum())


def test_equal_degrees_solve_the_plain_laplacian():
    X = sheet(300)
    model = KernelEigenmaps(2, n_kernels=300, width=1e-4, equal_degrees=True, weights="binary").fit(X)
    assert procrustes(model.embedding_, LaplacianEigenmaps(2, laplacian="unnormalized").fit(X).embedding_)[2] < 1e-10


@pytest.mark.parametrize("form", FORMS)
def test_the_four_agree_on_a_mixture_which_has_the_constant(form):
    X = sheet()
    places = KernelEigenmaps(2, n_kernels=60, approximation=form).fit(X).embedding_
    assert procrustes(KernelEigenmaps(2, n_kernels=60).fit(X).embedding_, places)[2] < 1e-10


# --- truth


def test_a_roll_is_unrolled_both_ways():
    """5,000 rows, 200 kernels, default width: held-out rows in both directions, and there and back."""
    roll = make_swiss_roll(6000, height=60, random_state=0)
    known, new = roll.points[:5000], roll.points[5000:]
    model = KernelEigenmaps(2, n_kernels=200).fit(known)
    places = model.transform(new)
    assert abs(spearmanr(places[:, 0], roll.truth[5000:, 0])[0]) > 0.97
    assert abs(spearmanr(places[:, 1], roll.truth[5000:, 1])[0]) > 0.97
    away = np.linalg.norm(model.inverse_transform(places) - new, axis=1)
    assert np.median(away) < 0.02 * 90


def test_two_axes_of_each_kernel_are_enough_for_a_sheet_among_noise():
    roll = make_swiss_roll(2500, height=60, extra_dimensions=20, random_state=0)
    model = KernelEigenmaps(2, n_kernels=120, local_dim=2).fit(roll.points[:2000])
    assert model.kernel_.basis.size == 360
    places = model.transform(roll.points[2000:])
    for coordinate, truth in zip(places.T, roll.truth[2000:].T, strict=True):
        assert abs(spearmanr(coordinate, truth)[0]) > 0.97


def test_the_map_is_continuous():
    """Along a line through the data no step is longer than the slope allows, however small the step."""
    X = sheet()
    model = KernelEigenmaps(2, n_kernels=60).fit(X)
    line = np.linspace(X[0], X[1], 4001)
    steps = np.linalg.norm(np.diff(model.transform(line), axis=0), axis=1)
    halves = np.linalg.norm(np.diff(model.transform(np.linspace(X[0], X[1], 8001)), axis=0), axis=1)
    assert halves.max() < 0.51 * steps.max()


# --- itself


def test_centres_and_width_are_told():
    X = sheet()
    model = KernelEigenmaps(2, n_kernels=40).fit(X)
    assert model.centers_.shape == (40, 3)
    gaps = np.linalg.norm(model.centers_[:, None] - model.centers_, axis=2) + np.diag(np.full(40, np.inf))
    assert model.width_ == pytest.approx(0.25 * gaps.min(axis=1).mean())
    drawn = KernelEigenmaps(2, n_kernels=20, centers="random", random_state=1).fit(X)
    assert (np.abs(X[:, None] - drawn.centers_).sum(axis=2).min(axis=0) == 0).all()
    assert KernelEigenmaps(2, n_kernels=40, width=0.7).fit(X).width_ == 0.7


def test_kernels_asked_for_by_nobody_leave_four_rows_for_each_function():
    assert len(KernelEigenmaps(2).fit(sheet(640)).centers_) == 40
    assert len(KernelEigenmaps(2, local_dim=1).fit(sheet(640)).centers_) == 80
    with pytest.warns(RankWarning, match="300 distinct rows are too few for 900 basis functions"):
        assert len(KernelEigenmaps(2, n_kernels=700).fit(sheet(300)).centers_) == 300  # at most one for each row


def test_refitting_forgets():
    model = KernelEigenmaps(2, n_kernels=20)
    model.fit(sheet(300))
    again = model.fit(sheet(200, seed=1))
    fresh = KernelEigenmaps(2, n_kernels=20).fit(sheet(200, seed=1))
    np.testing.assert_array_equal(again.centers_, fresh.centers_)
    np.testing.assert_array_equal(
        again.inverse_transform(again.embedding_[:5]), fresh.inverse_transform(fresh.embedding_[:5])
    )


def test_pieces_have_kernels_of_their_own():
    X = np.vstack([sheet(300), sheet(200, seed=1) + 100])
    with pytest.warns(DisconnectedGraphWarning, match="side by side"):
        model = KernelEigenmaps(2, n_kernels=20, on_disconnected="separate").fit(X)
    alone = KernelEigenmaps(2, n_kernels=20).fit(X[:300])
    assert difference(model.embedding_[:300], alone.embedding_) < 1e-8
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-10)
    new = np.vstack([sheet(20, seed=2), sheet(20, seed=3) + 100])
    placed = model.transform(new)
    assert (placed[:20, 0] < model.embedding_[300:, 0].min()).all()
    assert (placed[20:, 0] > model.embedding_[:300, 0].max()).all()


@pytest.mark.parametrize("cls", [KernelEigenmaps, LPP])
def test_rows_of_a_piece_left_out_have_no_place_as_new_ones_either(cls):
    X = np.vstack([sheet(300), sheet(200, seed=1) + 100])
    with pytest.warns(DisconnectedGraphWarning, match="only the largest was embedded"):
        model = cls(on_disconnected="largest").fit(X)
    with pytest.warns(DisconnectedGraphWarning, match="200 of 500 new rows"):
        placed = model.transform(X)
    np.testing.assert_allclose(placed, model.embedding_, atol=1e-10)
    assert (np.isnan(placed[:, 0]) == ~model.kept_).all()


# --- between the rows


def round_trip(model, fresh):
    rebuilt = model.inverse_transform(model.transform(fresh))
    return np.linalg.norm(rebuilt - fresh) / np.linalg.norm(fresh - fresh.mean(axis=0))


@pytest.mark.filterwarnings("ignore::gramfold.errors.ExtrapolationWarning")
def test_more_functions_than_rows_can_tell_are_told():
    rows, fresh = make_s_curve(240, random_state=0).points[::2], make_s_curve(240, random_state=0).points[1::2]
    for count in (25, 50, 120):
        with pytest.warns(
            RankWarning, match=f"of the edges .* 120 distinct rows are too few for {4 * count} basis functions"
        ):
            wild = KernelEigenmaps(2, n_kernels=count).fit(rows)
        assert wild.midway_error_ > 1
        assert round_trip(wild, fresh) < 1  # within the bounds of its kernels
    for count in ("auto", 10, 15):
        calm = KernelEigenmaps(2, n_kernels=count).fit(rows)
        assert calm.midway_error_ < 0.3
        assert round_trip(calm, fresh) < 0.4


def test_a_narrow_kernel_on_every_row_is_no_such_case():
    # as many functions count as there are rows, and between the rows the map is that of the nearest: half an edge off
    X = sheet(120)
    model = KernelEigenmaps(2, n_kernels=120, width=1e-3).fit(X)
    assert model.kernel_.white.shape[1] == 120
    assert model.midway_error_ < 0.5


def test_the_error_midway_is_that_of_the_map_there():
    X = sheet(80)
    model = KernelEigenmaps(2, n_kernels=6, n_neighbors=5).fit(X)
    i, j = np.nonzero(np.triu(model.graph_.lengths.toarray()))
    assert len(i) < 5000  # all are judged
    places = model.embedding_
    off = model.transform((X[i] + X[j]) / 2) - (places[i] + places[j]) / 2
    spread = np.sqrt(np.mean(np.sum((places - places.mean(axis=0)) ** 2, axis=1)))
    assert model.midway_error_ == pytest.approx(np.quantile(np.linalg.norm(off, axis=1), 0.99) / spread)


def test_fewer_directions_than_asked_for_are_told():
    with pytest.warns(RankWarning, match="n_components=5: the last 2 columns of the embedding are zero"):
        model = KernelEigenmaps(5, n_kernels=1).fit(sheet(100))
    assert not model.embedding_[:, 3:].any()
    assert not model.transform(sheet(10, seed=1))[:, 3:].any()


def test_too_many_functions_are_refused_with_what_would_fit(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2e8)
    with pytest.raises(MemoryForecastError, match=r"local_dim=3, which needs 0\.0 GB"):
        KernelEigenmaps(2, n_kernels=200).fit(np.random.default_rng(0).standard_normal((300, 150)))


@pytest.mark.filterwarnings("ignore::gramfold.errors.ExtrapolationWarning")  # rows at the very edge
@pytest.mark.parametrize("way", ["auto", "mixture", "barycentric", "ridge"])
def test_every_way_back_leads_to_the_sheet(way):
    X = sheet(700)
    model = KernelEigenmaps(2, inverse=way).fit(X[:600])
    error = np.linalg.norm(model.inverse_transform(model.transform(X[600:])) - X[600:], axis=1)
    assert np.median(error) < 0.02 * 3 * np.pi


# --- rows of many columns, in groups, with outliers


def table(name):
    X = (load_digits if name == "digits" else load_breast_cancer)().data
    if name == "cells":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    drawn = np.random.default_rng(1).permutation(len(X))
    return X[drawn[len(X) // 4 :]], X[drawn[: len(X) // 4]]


@pytest.mark.filterwarnings("ignore::gramfold.errors.ExtrapolationWarning")
@pytest.mark.parametrize(("name", "local_dim"), [("digits", None), ("cells", None), ("cells", 2), ("cells", 5)])
def test_held_out_rows_are_placed_among_their_neighbours(name, local_dim):
    """A kernel of one row, or whose rows never use a pixel, had slopes that threw new rows 1e3 to 1e16 maps away."""
    X, new = table(name)
    model = KernelEigenmaps(2, local_dim=local_dim).fit(X)
    size = np.ptp(model.embedding_, axis=0).max()
    nearest = np.argsort(cdist(new, X), axis=1)[:, :8]
    off = np.linalg.norm(model.transform(new) - model.embedding_[nearest].mean(axis=1), axis=1) / size
    assert np.median(off) < 0.05
    assert off.max() < 2
    assert (
        model.model_.parts[0].placement.map.extended(new).taken_back > 0.05
    ).mean() < 0.01  # so far out is hardly any of them
    # and beside the rows of the fit the map hardly moves
    gaps = np.sort(cdist(X, X[:200]), axis=0)[1]
    nudge = np.random.default_rng(0).standard_normal((200, X.shape[1]))
    nudge *= 1e-6 * gaps[:, None] / np.linalg.norm(nudge, axis=1, keepdims=True)
    moved = np.linalg.norm(model.transform(X[:200] + nudge) - model.embedding_[:200], axis=1) / size
    assert moved.max() < 0.02
    assert np.median(moved) < 1e-3


def test_rows_far_out_stay_at_the_edge_and_are_told():
    X = sheet()
    model = KernelEigenmaps(2, n_kernels=60).fit(X)
    far = X[:50] + np.array([0.0, 300.0, 0.0])
    with pytest.warns(ExtrapolationWarning) as told:
        placed = model.transform(far)
    assert any(
        "50 of 50 rows lie far outside of the training data. There the map overshoots" in str(one.message)
        for one in told
    )
    half = np.ptp(model.embedding_, axis=0) / 2
    assert (np.abs(placed - model.embedding_.min(axis=0) - half) <= 2 * half).all()
    with pytest.warns(ExtrapolationWarning, match="50 of 50 coordinates"):
        rebuilt = model.inverse_transform(10 * model.embedding_[:50])
    assert np.abs(rebuilt - X.mean(axis=0)).max() < 2 * np.ptp(X, axis=0).max()


def test_on_a_sheet_nothing_is_taken_back():
    roll = make_swiss_roll(2500, height=60, random_state=0).points
    for settings in ({}, {"local_dim": 2}):
        model = KernelEigenmaps(2, **settings).fit(roll[:2000])
        free = model.model_.parts[0].placement.map.unbounded(roll[2000:])
        np.testing.assert_array_equal(model.transform(roll[2000:]), free)
        assert model.kernel_.basis.basis.turned is None  # every kernel sees all directions


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")  # groups are dots, which it tells
@pytest.mark.parametrize("far", [1e2, 1e6, 1e9])
def test_clusters_far_apart_come_back(far):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3)) + far * np.array([[0.0, 0, 0], [1, 1, 1], [-1, -1, -1]]).repeat(40, axis=0)
    with pytest.warns(DisconnectedGraphWarning):
        model = KernelEigenmaps(2).fit(X)
    # each within its cluster, but for the share that another has
    assert np.abs(model.inverse_transform(model.embedding_) - X).max() < 10 + 1e-5 * far
    assert model.transform(X) == pytest.approx(model.embedding_, abs=1e-8 * np.abs(model.embedding_).max())


def test_a_column_that_does_not_vary_moves_nothing():
    """Each group has a value of its own, of which the mean is known up to rounding."""
    X = np.hstack([sheet(400), np.repeat([0.1, 0.7], 200)[:, None]])
    X[200:, 0] += 30
    with pytest.warns(DisconnectedGraphWarning):
        model = KernelEigenmaps(2).fit(X)
    moved = model.transform(X + [0, 0, 0, 0.01]) - model.embedding_
    assert np.abs(moved).max() < 0.01 * np.ptp(model.embedding_)


def test_as_many_columns_as_pictures_have():
    """More functions than rows: the problem has the size of the rows, and nothing that of the columns squared."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 1500)) + 0.01 * rng.standard_normal((60, 1500))
    model = KernelEigenmaps(2).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max())
    assert abs(model.leading_eigenvalue_ - 1) < 1e-10
