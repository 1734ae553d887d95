import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist
from sklearn.manifold import LocallyLinearEmbedding

from gramfold import LLE
from tests.methods.local_maps import affine_residual, held_out_disparity, plane
from tests.methods.maps import DATA, difference, roll, s_curve


@pytest.mark.parametrize("name", DATA)
def test_matches_scikit_learn(name):
    X = DATA[name]()
    ours = LLE(2, 12, on_disconnected="error").fit(X)
    theirs = LocallyLinearEmbedding(n_neighbors=12, n_components=2, eigen_solver="dense").fit(X)
    assert difference(ours.embedding_, theirs.embedding_) < 1e-6
    fresh = X[:20] + 1e-2
    np.testing.assert_allclose(
        cdist(ours.transform(fresh), ours.embedding_), cdist(theirs.transform(fresh), theirs.embedding_), atol=1e-5
    )


def test_the_three_kernels_have_the_same_axes():
    X = s_curve()[:300]
    models = {name: LLE(2, 10, kernel_form=name, t=5.0).fit(X) for name in ("pinv", "shift", "heat")}
    # each kernel as a matrix of its own, and its leading eigenvectors from that matrix alone
    leading = {name: np.linalg.eigh(model.kernel_.dense())[1][:, -2:] for name, model in models.items()}
    for name, model in models.items():
        assert subspace_angles(leading[name], leading["pinv"]).max() < 1e-6, name
        assert subspace_angles(model.embedding_, leading[name]).max() < 1e-6, name
        assert difference(model.embedding_, models["pinv"].embedding_) < 1e-6, name


def test_kernels_are_what_their_formulas_say():
    X = s_curve()[:120]
    n = len(X)
    H = np.eye(n) - 1 / n
    M = LLE(2, 8).fit(X).kernel_.penalty.toarray()
    top = np.linalg.eigvalsh(M)[-1]
    shift = LLE(2, 8, kernel_form="shift").fit(X).kernel_
    np.testing.assert_allclose(shift.dense(), H @ (top * np.eye(n) - M) @ H, atol=1e-9 * top)
    values, vectors = np.linalg.eigh(M)
    heat = LLE(2, 8, kernel_form="heat", t=0.7).fit(X).kernel_
    np.testing.assert_allclose(heat.dense(), H @ (vectors * np.exp(-0.7 * values)) @ vectors.T @ H, atol=1e-10)
    pinv = LLE(2, 8).fit(X).kernel_
    np.testing.assert_allclose(M @ pinv.dense(), H, atol=1e-5)


@pytest.mark.parametrize("n", [600, 1500])  # dense, and through a factor
def test_a_plane_is_recovered_up_to_an_affine_map(n):
    X, truth = plane(n)
    assert affine_residual(LLE(2, 10, reg=1e-9).fit_transform(X), truth) < 1e-6


def test_new_rows_land_where_a_refit_puts_them():
    assert held_out_disparity(lambda: LLE(2, 12)) < 0.05


def test_precomputed_distances_give_the_same_weights():
    X = roll()[:300]
    rows, known = LLE(2, 10).fit(X), LLE(2, 10, metric="precomputed").fit(cdist(X, X))
    assert difference(known.embedding_, rows.embedding_) < 1e-4
    fresh = roll()[300:330]
    np.testing.assert_allclose(
        known.transform(cdist(fresh, X)), rows.transform(fresh), atol=1e-3 * np.abs(rows.embedding_).max()
    )


def test_copies_count_as_often_as_they_occur():
    X = roll()[:200]
    copies = np.concatenate([np.arange(200), np.arange(30)])
    model = LLE(2, 8).fit(X[copies])
    M = model.kernel_.penalty.toarray()  # over distinct rows
    mass = np.bincount(copies)
    vertex = model.embedding_[:200]
    np.testing.assert_allclose(
        M @ vertex, mass[:, None] * vertex * model.spectrum_.penalties, atol=1e-12 * np.abs(M).max()
    )
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-8)
