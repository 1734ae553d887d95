"""What the tests of the local linear methods share: slow plain versions, and how a map is judged."""

import numpy as np
from scipy.linalg import eigh
from scipy.spatial import procrustes
from sklearn.manifold import LocallyLinearEmbedding, _locally_linear
from sklearn.neighbors import NearestNeighbors

from gramfold.datasets import make_swiss_roll


def patches(X, k):
    """Each row and its k nearest, the row itself first; (n, k + 1)."""
    return NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X, return_distance=False)


def plain_penalty(X, k, block, mass=None):
    """Σ_i m_i S_iᵀ B_i S_i, one row after the other; `block` makes B from the rows of a patch."""
    P = np.zeros((len(X), len(X)))
    for i, members in enumerate(patches(X, k)):
        P[np.ix_(members, members)] += (1 if mass is None else mass[i]) * block(X[members])
    return P


def plain_map(P, d):
    return eigh(P, subset_by_index=(1, d))[1]


def left_vectors(rows, d):
    return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[0][:, :d]


def scikit_learn_with_the_row_itself(monkeypatch, X, k, method):
    """scikit-learn's map from the same patches; by itself it leaves the row out of its patch."""

    class WithItself(NearestNeighbors):
        def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
            found = super().kneighbors(X, n_neighbors - 1, return_distance=False)
            return np.column_stack([found[:, 0], found])  # the first is taken off again

    monkeypatch.setattr(_locally_linear, "NearestNeighbors", WithItself)
    return LocallyLinearEmbedding(n_neighbors=k + 1, method=method, eigen_solver="dense").fit_transform(X)


def affine_residual(places, truth):
    """What of the map is not an affine function of the truth, relative to the map."""
    A = np.column_stack([truth, np.ones(len(truth))])
    rest = places - A @ np.linalg.lstsq(A, places, rcond=None)[0]
    return np.linalg.norm(rest) / np.linalg.norm(places - places.mean(axis=0))


def plane(n=600, columns=5):
    """Rows of a tilted plane, and its own coordinates."""
    truth = make_swiss_roll(n, random_state=0).truth
    return truth @ np.random.default_rng(0).standard_normal((2, columns)), truth


def held_out_disparity(make, n=2000, seed=0):
    """Procrustes disparity of held-out rows, placed by transform, to their places when all rows are fitted."""
    X = make_swiss_roll(n, random_state=seed).points
    held = np.random.default_rng(seed).permutation(n)[: n // 5]
    model = make().fit(np.delete(X, held, axis=0))
    return procrustes(model.transform(X[held]), make().fit(X).embedding_[held])[2]
