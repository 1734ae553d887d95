import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramfold import LTSA, HessianLLE
from gramfold.datasets import make_s_curve, make_swiss_roll
from gramfold.methods.hessian_lle import curved
from tests.methods import local_maps
from tests.methods.maps import DATA, difference, roll


def block(d, roughness):
    """Gram–Schmidt on 1, the coordinates and their products, as the paper has it."""

    def curved(rows):
        U = local_maps.left_vectors(rows, d)
        products = [U[:, a] * U[:, b] for a in range(d) for b in range(a, d)]
        Q = np.linalg.qr(np.column_stack([np.ones(len(rows)), U, *products]))[0]
        H = Q[:, d + 1 :]
        return H @ H.T + roughness * (np.eye(len(rows)) - Q @ Q.T)

    return curved


SETTINGS = [(1, 6, 1e-3), (2, 8, 0.0), (2, 12, 1e-3), (3, 12, 0.5)]
# as many local dimensions as columns would leave nothing that is not affine
CASES = [(name, *setting) for name in DATA for setting in SETTINGS if setting[0] < 3 or name == "digits"]


@pytest.mark.parametrize(("name", "d", "k", "roughness"), CASES)
def test_against_a_plain_version(name, d, k, roughness):
    X = DATA[name]()[:500]
    P = local_maps.plain_penalty(X, k, block(d, roughness))
    model = HessianLLE(d, k, roughness=roughness).fit(X)
    np.testing.assert_allclose(model.kernel_.penalty.toarray(), P, atol=1e-9)
    assert difference(model.embedding_, local_maps.plain_map(P, d)) < 1e-6


@pytest.mark.parametrize("name", ["swiss roll", "S-curve"])
def test_matches_scikit_learn_where_it_is_right(name, monkeypatch):
    # With the fewest neighbours nothing is left beyond the products, and scikit-learn takes all that is left.
    X = DATA[name]()[:800]
    theirs = local_maps.scikit_learn_with_the_row_itself(monkeypatch, X, 5, "hessian")
    assert difference(HessianLLE(2, 5).fit_transform(X), theirs) < 1e-8


def test_where_scikit_learn_is_not_the_paper(monkeypatch):
    X = roll()
    theirs = local_maps.scikit_learn_with_the_row_itself(monkeypatch, X, 12, "hessian")
    assert difference(LTSA(2, 12).fit_transform(X), theirs) < 1e-6
    assert difference(HessianLLE(2, 12, roughness=1.0).fit_transform(X), theirs) < 1e-6
    assert difference(HessianLLE(2, 12, roughness=0.0).fit_transform(X), theirs) > 1e-3


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")
def test_roughness_has_a_limit_that_any_size_reaches():
    X = make_s_curve(300, random_state=0).points
    limit = HessianLLE(2, 12, roughness=1e16).fit_transform(X)
    assert difference(HessianLLE(2, 12, roughness=1e300).fit_transform(X), limit) < 1e-6


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")  # which is true of no map
def test_why_there_is_roughness():
    """One dimension for a sheet: the paper's penalty has a null vector that is no map; a trace of roughness ends it."""
    X, truth = make_s_curve(500, random_state=0)
    bare, default = HessianLLE(1, roughness=0.0).fit(X), HessianLLE(1).fit(X)
    assert bare.spectrum_.penalties[0] < 1e-12 < default.spectrum_.penalties[0]
    along = np.corrcoef(default.embedding_[:, 0], truth[:, 0])[0, 1]
    assert abs(along) > 0.95


def test_roughness_hardly_matters_in_the_right_dimension():
    X = roll()
    assert difference(HessianLLE(2, 10).fit_transform(X), HessianLLE(2, 10, roughness=0.0).fit_transform(X)) < 0.01


def test_coordinates_on_a_conic_have_fewer_products():
    """On a circle u² + v² is constant: the span of the products is smaller, and nothing arbitrary fills it up."""
    angles = np.random.default_rng(0).random(9) * 2 * np.pi
    U = np.column_stack([np.cos(angles), np.sin(angles)])
    affine = np.linalg.qr(np.column_stack([np.ones(9), U]))[0]
    U = np.linalg.qr(U - U.mean(axis=0))[0]  # an ellipse
    (B,) = curved(U[None], 0.0)
    assert np.linalg.matrix_rank(B, tol=1e-8) == 2
    np.testing.assert_allclose(B @ B, B, atol=1e-9)
    np.testing.assert_allclose(B @ affine, 0.0, atol=1e-9)


def test_a_plane_is_recovered():
    for n in (600, 1500):
        X, truth = local_maps.plane(n)
        assert local_maps.affine_residual(HessianLLE(2, 10).fit_transform(X), truth) < 1e-9


def test_the_roll_is_unrolled():
    X, truth = make_swiss_roll(2000, random_state=0)
    assert local_maps.affine_residual(HessianLLE(2, 10).fit_transform(X), truth) < 0.01


def test_precomputed_distances_give_the_same_map():
    X, fresh = roll()[:400], roll()[400:430]
    rows, known = HessianLLE(2, 10).fit(X), HessianLLE(2, 10, metric="precomputed").fit(cdist(X, X))
    assert difference(known.embedding_, rows.embedding_) < 1e-6
    np.testing.assert_allclose(
        known.transform(cdist(fresh, X)), rows.transform(fresh), atol=1e-5 * np.abs(rows.embedding_).max()
    )


def test_copies_count_as_often_as_they_occur():
    X = roll()[:200]
    copies = np.concatenate([np.arange(200), np.arange(30), np.arange(5)])
    model = HessianLLE(2, 8).fit(X[copies])
    P = local_maps.plain_penalty(X, 8, block(2, 1e-3), np.bincount(copies))
    np.testing.assert_allclose(model.kernel_.penalty.toarray(), P, atol=1e-11)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-9)


def test_new_rows_land_where_a_refit_puts_them():
    assert local_maps.held_out_disparity(lambda: HessianLLE(2, 10)) < 5e-4
