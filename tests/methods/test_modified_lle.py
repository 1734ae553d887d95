import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import LocallyLinearEmbedding

from gramfold import ModifiedLLE
from gramfold.datasets import make_swiss_roll
from gramfold.methods.modified_lle import weighted_median
from tests.methods import local_maps
from tests.methods.maps import DATA, difference, digits, roll

# the map shows little of the data, and says so: not what is asked here
shows_little = pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")


def plain(X, k, d, reg, *, most=None, mass=None):
    """The paper's steps for one row after the other; at most `most` weight vectors for each (k − d)."""
    most = k - d if most is None else most
    lists = local_maps.patches(X, k)
    spectra = [np.linalg.eigh((X[js] - X[i]) @ (X[js] - X[i]).T) for i, *js in lists]
    spectra = [(np.maximum(values[::-1], 0), vectors[:, ::-1]) for values, vectors in spectra]  # descending
    ratios = [values[d:].sum() / values[:d].sum() for values, _ in spectra]
    mass = np.ones(len(X), dtype=int) if mass is None else mass
    eta = np.median(np.repeat(ratios, mass))
    P = np.zeros((len(X), len(X)))
    for i, members in enumerate(lists):
        values, vectors = spectra[i]
        s = max([1, *(ell for ell in range(1, most + 1) if values[k - ell :].sum() <= eta * values[: k - ell].sum())])
        G = (X[members[1:]] - X[i]) @ (X[members[1:]] - X[i]).T
        w = np.linalg.solve(G + reg * np.trace(G) * np.eye(k), np.ones(k))
        V = vectors[:, k - s :]
        alpha = np.linalg.norm(V.sum(axis=0)) / np.sqrt(s)
        h = alpha - V.sum(axis=0)
        H = np.eye(s) - 2 * np.outer(h, h) / (h @ h) if np.linalg.norm(h) > 1e-12 else np.eye(s)
        W = (1 - alpha) * np.outer(w / w.sum(), np.ones(s)) + V @ H
        misfit = np.vstack([-np.ones(s), W])
        P[np.ix_(members, members)] += mass[i] * misfit @ misfit.T
    return P, eta


@shows_little
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(("d", "k", "reg"), [(1, 6, 1e-3), (2, 9, 1e-2), (2, 12, 1e-3)])
def test_against_a_plain_version(name, d, k, reg):
    X = DATA[name]()[:500]
    P, eta = plain(X, k, d, reg)
    model = ModifiedLLE(d, k, reg=reg).fit(X)
    assert model.eta_ == pytest.approx(eta, rel=1e-9)
    np.testing.assert_allclose(model.kernel_.penalty.toarray(), P, atol=1e-9)
    assert difference(model.embedding_, local_maps.plain_map(P, d)) < 1e-6


@pytest.mark.parametrize("name", ["swiss roll", "S-curve"])
@pytest.mark.parametrize("k", [6, 12])
def test_matches_scikit_learn(name, k):
    X = DATA[name]()
    theirs = LocallyLinearEmbedding(n_neighbors=k, method="modified", eigen_solver="dense").fit_transform(X)
    assert difference(ModifiedLLE(2, k).fit_transform(X), theirs) < 1e-7


def test_where_scikit_learn_is_not_the_paper():
    # it lets the number of weight vectors exceed k − d, which thick neighbourhoods make use of
    X, k = digits()[:400], 12
    theirs = LocallyLinearEmbedding(n_neighbors=k, method="modified", eigen_solver="dense").fit_transform(X)
    assert difference(local_maps.plain_map(plain(X, k, 2, 1e-3, most=k - 1)[0], 2), theirs) < 1e-6
    assert difference(ModifiedLLE(2, k).fit_transform(X), theirs) > 1e-2


@shows_little
def test_the_ridge_is_the_users():
    X = roll()
    maps = {reg: ModifiedLLE(2, 10, reg=reg).fit(X) for reg in (1e-3, 1e-1)}
    assert maps[1e-1].reg == 1e-1
    assert difference(maps[1e-3].embedding_, maps[1e-1].embedding_) > 1e-3


def test_a_plane_is_recovered_as_the_ridge_goes():
    for n in (600, 1500):
        X, truth = local_maps.plane(n)
        assert local_maps.affine_residual(ModifiedLLE(2, 10, reg=1e-9).fit_transform(X), truth) < 1e-7
        assert local_maps.affine_residual(ModifiedLLE(2, 10).fit_transform(X), truth) < 1e-2


def test_the_roll_is_unrolled():
    X, truth = make_swiss_roll(2000, random_state=0)
    assert local_maps.affine_residual(ModifiedLLE(2, 10).fit_transform(X), truth) < 0.03


def test_precomputed_distances_give_the_same_map():
    X, fresh = roll()[:400], roll()[400:430]
    rows, known = ModifiedLLE(2, 10).fit(X), ModifiedLLE(2, 10, metric="precomputed").fit(cdist(X, X))
    assert difference(known.embedding_, rows.embedding_) < 1e-5
    np.testing.assert_allclose(
        known.transform(cdist(fresh, X)), rows.transform(fresh), atol=1e-4 * np.abs(rows.embedding_).max()
    )


@shows_little
def test_copies_count_as_often_as_they_occur():
    X = roll()[:200]
    copies = np.concatenate([np.arange(200), np.arange(30), np.arange(5)])
    model = ModifiedLLE(2, 8).fit(X[copies])
    P, eta = plain(X, 8, 2, 1e-3, mass=np.bincount(copies))
    assert model.eta_ == pytest.approx(eta, rel=1e-9)
    np.testing.assert_allclose(model.kernel_.penalty.toarray(), P, atol=1e-10)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-9)


def test_new_rows_land_where_a_refit_puts_them():
    assert local_maps.held_out_disparity(lambda: ModifiedLLE(2, 10)) < 5e-4


def test_a_weighted_median_is_that_of_repeated_values():
    rng = np.random.default_rng(0)
    for n in range(1, 12):
        values, weights = rng.integers(0, 5, n) / 4, rng.integers(1, 5, n).astype(float)
        assert weighted_median(values, weights) == np.median(np.repeat(values, weights.astype(int)))
        assert weighted_median(values, 0.25 * weights) == weighted_median(values, weights)
