"""Mika's fixed point: the row whose image is nearest to a point of feature space."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris

from gramfold import Isomap, KernelPCA, NystromEmbedding
from gramfold.errors import NoPreimageError, NotConvergedWarning
from gramfold.extension.fixed_point import FixedPointInverse

X = load_iris().data[::3]


def gram(left, right, gamma):
    return np.exp(-gamma * np.square(left[:, None] - right[None]).sum(axis=2))


def distance_to_image(z, y, model, rows):
    """|φ(z) − P|² up to a constant, straight from the definition: P = φ̄ + Σ y_k v_k."""
    V = model.spectrum_.eigenvectors / np.sqrt(model.spectrum_.eigenvalues)
    gamma = 1 / len(rows) + (V - V.mean(axis=0)) @ y
    return -2 * (gram(z[None], rows, model.gamma_) @ gamma)[0]


def test_full_rank_images_of_training_rows_are_those_rows():
    distinct = np.unique(X, axis=0)
    model = KernelPCA(len(distinct) - 1, gamma=0.5, inverse="fixed-point").fit(distinct)
    rebuilt = model.inverse_transform(model.embedding_)
    np.testing.assert_allclose(rebuilt, distinct, atol=1e-6)


def test_against_a_general_minimiser():
    model = KernelPCA(4, gamma=0.3, inverse="fixed-point").fit(X)
    places = model.transform(X[:8] + 0.05)
    for y, z in zip(places, model.inverse_transform(places), strict=True):
        found = minimize(distance_to_image, z, (y, model, X), method="Nelder-Mead", options={"xatol": 1e-9})
        assert distance_to_image(z, y, model, X) <= found.fun + 1e-10
        np.testing.assert_allclose(z, found.x, atol=1e-4)


@pytest.mark.parametrize("eigenvectors", ["exact", "approximate"])
def test_all_rows_as_landmarks_change_nothing(eigenvectors):
    distinct = np.unique(X, axis=0)
    whole = KernelPCA(4, gamma=0.3, inverse="fixed-point").fit(distinct)
    few = NystromEmbedding(
        4, gamma=0.3, inverse="fixed-point", landmarks=np.arange(len(distinct)), eigenvectors=eigenvectors
    ).fit(distinct)
    rebuilt = few.inverse_transform(few.embedding_)
    np.testing.assert_allclose(rebuilt, whole.inverse_transform(whole.embedding_), atol=1e-5)


def test_noise_is_taken_off_a_curve():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 300)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = clean + 0.1 * rng.standard_normal(clean.shape)
    model = KernelPCA(4, gamma=2.0, inverse="fixed-point").fit(noisy)
    rebuilt = model.inverse_transform(model.embedding_)
    assert np.square(rebuilt - clean).mean() < 0.6 * np.square(noisy - clean).mean()


def test_the_error_is_of_rows_without_themselves():
    model = KernelPCA(len(X) // 2, gamma=2.0, inverse="fixed-point").fit(np.unique(X, axis=0))
    with_themselves = np.linalg.norm(model.inverse_transform(model.embedding_) - np.unique(X, axis=0))
    assert model.inverse_error() * np.linalg.norm(X - X.mean(axis=0)) > 2 * with_themselves


def test_unfinished_pre_images_are_told():
    rows = np.unique(X, axis=0)
    model, n = KernelPCA(4, gamma=0.3, inverse="fixed-point").fit(rows), len(rows)
    V = model.spectrum_.eigenvectors / np.sqrt(model.spectrum_.eigenvalues)
    places = model.embedding_
    patient = FixedPointInverse(0.3, rows, np.full(n, 1 / n), V - V.mean(axis=0), places, rows, np.arange(n))
    np.testing.assert_allclose(patient(places), model.inverse_transform(places))  # the model's own, and nothing is told
    with pytest.warns(NotConvergedWarning, match="pre-images did not converge in 1 iterations"):
        replace(patient, steps=1)(places)


@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid", "cosine", lambda a, b: float(a @ b)])
def test_other_kernels_have_none(kernel):
    with pytest.raises(NoPreimageError, match=r"needs kernel='rbf', but kernel=.* use 'mixture'"):
        KernelPCA(kernel=kernel, inverse="fixed-point").fit(X)


def test_methods_without_a_kernel_function_have_none():
    with pytest.raises(NoPreimageError, match="which Isomap does not have: use 'mixture'"):
        Isomap(inverse="fixed-point").fit(X)
