import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import LocallyLinearEmbedding

from gramfold import LTSA
from gramfold.datasets import make_swiss_roll
from tests.methods import local_maps
from tests.methods.maps import DATA, difference, roll


def block(d):
    def crooked(rows):
        Q = np.column_stack([np.full(len(rows), len(rows) ** -0.5), local_maps.left_vectors(rows, d)])
        return np.eye(len(rows)) - Q @ Q.T

    return crooked


# as many local dimensions as columns would leave nothing that is not affine
CASES = [(name, d, k) for name in DATA for d, k in [(1, 6), (2, 8), (3, 12)] if d < 3 or name == "digits"]


@pytest.mark.parametrize(("name", "d", "k"), CASES)
def test_against_a_plain_version(name, d, k):
    X = DATA[name]()[:500]
    P = local_maps.plain_penalty(X, k, block(d))
    model = LTSA(d, k).fit(X)
    np.testing.assert_allclose(model.kernel_.penalty.toarray(), P, atol=1e-10)
    assert difference(model.embedding_, local_maps.plain_map(P, d)) < 1e-6


@pytest.mark.parametrize("name", DATA)
def test_matches_scikit_learn_on_the_same_patches(name, monkeypatch):
    X = DATA[name]()[:800]
    theirs = local_maps.scikit_learn_with_the_row_itself(monkeypatch, X, 10, "ltsa")
    assert difference(LTSA(2, 10).fit_transform(X), theirs) < 1e-9


def test_a_row_that_nobody_chose_has_its_place():
    X, truth = make_swiss_roll(800, random_state=3)
    model = LTSA(2, 6).fit(X)
    chosen = np.bincount(model.neighbors_.indices, minlength=len(X))
    assert (chosen == 0).any(), "the roll was chosen for this"
    assert local_maps.affine_residual(model.embedding_, truth) < 0.05
    # left out of its own patch it is in none, and spoils the map
    theirs = LocallyLinearEmbedding(n_neighbors=6, method="ltsa", eigen_solver="dense").fit_transform(X)
    assert local_maps.affine_residual(theirs, truth) > 0.5


def test_a_plane_is_recovered():
    for n in (600, 1500):  # dense, and through a factor
        X, truth = local_maps.plane(n)
        assert local_maps.affine_residual(LTSA(2, 10).fit_transform(X), truth) < 1e-9


def test_the_roll_is_unrolled():
    X, truth = make_swiss_roll(2000, random_state=0)
    assert local_maps.affine_residual(LTSA(2, 10).fit_transform(X), truth) < 0.01


def test_more_components_than_directions():
    line = np.linspace(0, 1, 60)[:, None] ** 1.5 * [[1.0, 2.0]]
    places = LTSA(2, 6).fit_transform(line)
    assert local_maps.affine_residual(places[:, :1], line[:, :1]) < 1e-6  # the one direction there is comes first


def test_precomputed_distances_give_the_same_map():
    X, fresh = roll()[:400], roll()[400:430]
    rows, known = LTSA(2, 10).fit(X), LTSA(2, 10, metric="precomputed").fit(cdist(X, X))
    assert difference(known.embedding_, rows.embedding_) < 1e-6
    np.testing.assert_allclose(
        known.transform(cdist(fresh, X)), rows.transform(fresh), atol=1e-5 * np.abs(rows.embedding_).max()
    )


@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
@pytest.mark.parametrize("seed", range(5))
def test_rounding_in_distances_is_no_failure(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    D = cdist(X, X)
    noisy = D * (1 + 1e-9 * rng.normal(size=D.shape))
    exact, model = LTSA(1, 2, metric="precomputed").fit(D), LTSA(1, 2, metric="precomputed").fit(noisy)
    P = model.kernel_.penalty.toarray()
    np.testing.assert_allclose(P, exact.kernel_.penalty.toarray(), atol=1e-6)
    assert np.linalg.eigvalsh(P)[0] > -1e-14  # Cholesky's factor was asked for


def test_copies_count_as_often_as_they_occur():
    X = roll()[:200]
    copies = np.concatenate([np.arange(200), np.arange(30), np.arange(5)])
    model = LTSA(2, 8).fit(X[copies])
    mass = np.bincount(copies)
    np.testing.assert_allclose(
        model.kernel_.penalty.toarray(), local_maps.plain_penalty(X, 8, block(2), mass), atol=1e-12
    )
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-8)


def test_lists_of_different_lengths():
    X = roll()[:300]
    model = LTSA(2, radius=8.0).fit(X)
    assert len(np.unique(model.neighbors_.counts)) > 3
    P = np.zeros((300, 300))
    for i in range(300):
        members = np.append(i, model.neighbors_.indices[slice(*model.neighbors_.indptr[i : i + 2])])
        P[np.ix_(members, members)] += block(2)(X[members])
    np.testing.assert_allclose(model.kernel_.penalty.toarray(), P, atol=1e-10)


def test_new_rows_land_where_a_refit_puts_them():
    assert local_maps.held_out_disparity(lambda: LTSA(2, 10)) < 5e-4
