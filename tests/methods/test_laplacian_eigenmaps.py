import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from sklearn.manifold import SpectralEmbedding

from gramfold import LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll
from gramfold.errors import ExtrapolationWarning
from gramfold.graph.affinity import affinity
from tests.methods.maps import DATA, difference, roll, s_curve
from tests.walks import commute_times

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")

FORMS = [
    {},
    {"weights": "gaussian"},
    {"laplacian": "unnormalized"},
    {"weights": "gaussian", "laplacian": "unnormalized"},
    {"laplacian": "symmetric"},
    {"weights": "gaussian", "laplacian": "symmetric"},
]


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("weights", ["binary", "gaussian"])
def test_matches_scikit_learn_on_the_same_graph(name, weights):
    ours = LaplacianEigenmaps(3, 10, weights=weights, on_disconnected="error").fit(DATA[name]())
    W = affinity(ours.graph_, ours.width_).toarray()
    theirs = SpectralEmbedding(3, affinity="precomputed", eigen_solver="arpack", random_state=0).fit_transform(W)
    assert difference(ours.embedding_, theirs) < 1e-6


@pytest.mark.parametrize("weights", ["binary", "gaussian"])
def test_feature_space_distances_are_commute_times(weights):
    X = s_curve()[:40]
    model = LaplacianEigenmaps(n_neighbors=5, weights=weights, laplacian="unnormalized").fit(X)
    W = affinity(model.graph_, model.width_).toarray()
    squares = model.kernel_.squared_distances(np.arange(40))
    np.testing.assert_allclose(squares, commute_times(W) / W.sum(), atol=1e-10 * squares.max())


def test_normalised_kernel_gives_commute_times_too():
    X = s_curve()[:40]
    model = LaplacianEigenmaps(n_neighbors=5).fit(X)
    W = affinity(model.graph_, None).toarray()
    root = np.sqrt(W.sum(axis=1))
    plain = np.linalg.pinv(np.eye(40) - W / np.outer(root, root)) / np.outer(root, root)
    np.testing.assert_allclose(model.kernel_.dense(), plain, atol=1e-10)
    squares = model.kernel_.squared_distances([0, 7], [11, 30])
    np.testing.assert_allclose(squares, commute_times(W)[np.ix_([0, 7], [11, 30])] / W.sum(), atol=1e-10)


def test_the_symmetric_form_is_the_pseudo_inverse_of_the_normalised_laplacian():
    X = s_curve()[:60]
    model = LaplacianEigenmaps(n_neighbors=5, weights="gaussian", laplacian="symmetric").fit(X)
    W = affinity(model.graph_, model.width_).toarray()
    root = np.sqrt(W.sum(axis=1))
    np.testing.assert_allclose(model.kernel_.dense(), np.linalg.pinv(np.eye(60) - W / np.outer(root, root)), atol=1e-10)
    walk = LaplacianEigenmaps(n_neighbors=5, weights="gaussian").fit(X)
    np.testing.assert_allclose(model.embedding_, root[:, None] * walk.embedding_, atol=1e-10)  # D^½ y


def test_copies_have_the_degree_of_one_row_in_the_symmetric_form():
    X = np.vstack([s_curve()[:60], s_curve()[[0, 0, 1]]])
    model = LaplacianEigenmaps(n_neighbors=5, laplacian="symmetric").fit(X)
    vertex = np.r_[np.arange(60), 0, 0, 1]
    single = model.graph_.lengths.toarray()[:60, :60] > 0
    W = single[np.ix_(vertex, vertex)].astype(float)  # copies have the edges of their vertex, and none between them
    d = W.sum(axis=1)
    Y = model.embedding_
    np.testing.assert_allclose(
        (np.diag(d) - W) / np.sqrt(np.outer(d, d)) @ Y, Y * model.spectrum_.penalties, atol=1e-10
    )
    np.testing.assert_allclose(Y.T @ Y, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_vectors_solve_the_problem_they_claim_to(form):
    model = LaplacianEigenmaps(**form).fit(roll())
    W = affinity(model.graph_, model.width_).toarray()
    d = W.sum(axis=1)
    laplacian, form = np.diag(d) - W, form.get("laplacian", "random-walk")
    M = np.diag(d) if form == "random-walk" else np.eye(len(d))
    if form == "symmetric":
        laplacian = laplacian / np.sqrt(np.outer(d, d))
    Y, penalties = model.embedding_, model.spectrum_.penalties
    np.testing.assert_allclose(laplacian @ Y, M @ Y * penalties, atol=1e-10)
    np.testing.assert_allclose(Y.T @ M @ Y, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(1 / penalties, model.spectrum_.eigenvalues)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_held_out_rows_agree_with_a_refit(form):
    X = make_swiss_roll(2000, random_state=1).points
    placed = LaplacianEigenmaps(n_neighbors=10, **form).fit(X[:1600]).transform(X[1600:])
    refit = LaplacianEigenmaps(n_neighbors=10, **form).fit(X).embedding_[1600:]
    assert procrustes(refit, placed)[2] < 0.02


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_precomputed_equals_rows(form):
    X = s_curve()[:300]
    rows = LaplacianEigenmaps(**form).fit(X)
    known = LaplacianEigenmaps(metric="precomputed", **form).fit(cdist(X, X))
    assert difference(known.embedding_, rows.embedding_) < 1e-7
    fresh = s_curve()[300:340]
    np.testing.assert_allclose(
        known.transform(cdist(fresh, X)), rows.transform(fresh), atol=1e-7 * np.abs(rows.embedding_).max()
    )


def test_far_rows_have_a_place():
    model = LaplacianEigenmaps(weights="gaussian").fit(s_curve())
    with pytest.warns(ExtrapolationWarning, match="3 of 3 rows"):
        places = model.transform(s_curve()[:3] + 100.0)
    assert np.isfinite(places).all()
    assert np.abs(places).max() <= np.abs(model.embedding_).max() * 1.1


def test_width_used_is_stored():
    model = LaplacianEigenmaps(weights="gaussian").fit(roll())
    assert model.width_ == pytest.approx(np.sqrt(np.mean(model.graph_.lengths.data**2)))
    assert LaplacianEigenmaps(weights="gaussian", width=2.5).fit(roll()).width_ == 2.5
    assert LaplacianEigenmaps().fit(roll()).width_ is None
