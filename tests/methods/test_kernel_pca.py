import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as TheirKernelPCA

from gramfold import ClassicalMDS, KernelPCA, NystromEmbedding
from gramfold.errors import MemoryForecastError, RankWarning
from gramfold.runtime import memory
from tests.methods.maps import difference, digits, s_curve

X = load_iris().data


def test_linear_is_pca_is_classical_mds():
    rows = digits()
    pca = PCA(3).fit_transform(rows)
    assert difference(KernelPCA(3, kernel="linear").fit_transform(rows), pca) < 1e-8
    assert difference(ClassicalMDS(3).fit_transform(rows), pca) < 1e-8


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "cosine"])
def test_matches_scikit_learn(kernel):
    settings = {"gamma": 0.02, "degree": 2, "coef0": 0.5}
    ours = KernelPCA(3, kernel=kernel, **settings).fit(X[::2])
    theirs = TheirKernelPCA(3, kernel=kernel, eigen_solver="dense", **settings).fit(X[::2])
    assert difference(ours.embedding_, theirs.transform(X[::2])) < 1e-8
    assert difference(ours.transform(X[1::2]), theirs.transform(X[1::2])) < 1e-8


def test_words_and_functions_for_the_same_kernel():
    gaussian = KernelPCA(kernel="gaussian", gamma=0.3).fit_transform(X)
    np.testing.assert_array_equal(gaussian, KernelPCA(kernel="rbf", gamma=0.3).fit_transform(X))
    by_hand = KernelPCA(kernel=lambda a, b: np.exp(-0.3 * np.sum((a - b) ** 2))).fit(X)
    assert difference(by_hand.embedding_, gaussian) < 1e-8
    known = KernelPCA(kernel="precomputed").fit(np.exp(-0.3 * np.square(X[:, None] - X[None]).sum(axis=2)))
    assert difference(known.embedding_, gaussian) < 1e-8
    fresh = np.exp(-0.3 * np.square((X[:5] + 0.1)[:, None] - X[None]).sum(axis=2))
    np.testing.assert_allclose(known.transform(fresh), by_hand.transform(X[:5] + 0.1), atol=1e-10)


def test_default_width_is_half_the_mean_squared_distance():
    model = KernelPCA().fit(X)
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    assert model.width_**2 == pytest.approx(squares.mean() / 2)
    assert model.gamma_ == pytest.approx(1 / (2 * model.width_**2))
    assert KernelPCA(gamma=0.5).fit(X).width_ == pytest.approx(1.0)


def test_sparse_rows_are_not_densified_and_agree():
    counts = np.random.default_rng(0).poisson(0.3, (80, 30)).astype(float)
    for kernel in ("linear", "rbf", "cosine"):
        sparse, dense = (KernelPCA(kernel=kernel).fit(rows) for rows in (csr_array(counts + 1e-9), counts + 1e-9))
        assert difference(sparse.embedding_, dense.embedding_) < 1e-8
        assert sparse.inverse_error() == pytest.approx(dense.inverse_error())


def test_feature_space_distances_come_from_the_kernel_function():
    model = KernelPCA(gamma=0.1).fit(X)
    k = np.exp(-0.1 * np.square(X[3] - X[77]).sum())
    assert model.kernel_.squared_distances([3], [77])[0, 0] == pytest.approx(2 - 2 * k)
    np.testing.assert_allclose(model.kernel_.squared_distances([3])[0, 77], 2 - 2 * k)


@pytest.mark.parametrize("settings", [{}, {"kernel": "poly"}, {"kernel": "sigmoid"}])
@pytest.mark.parametrize("gamma", [1e-3, 1e-8, 1e-10])
def test_float32_keeps_what_a_small_gamma_leaves(settings, gamma):
    precise, rough = (KernelPCA(gamma=gamma, **settings).fit(X.astype(dtype)) for dtype in (np.float64, np.float32))
    assert rough.kernel_.array.dtype == np.float32
    assert difference(rough.embedding_, precise.embedding_) < 1e-5
    np.testing.assert_allclose(
        rough.transform(X.astype(np.float32)), rough.embedding_, atol=1e-5 * np.abs(rough.embedding_).max()
    )


def test_rank_is_told():
    with pytest.warns(RankWarning, match="n_components=5, but the kernel has only 3 positive eigenvalues"):
        model = KernelPCA(5, kernel="linear").fit(s_curve()[:100])
    assert (model.embedding_[:, 3:] == 0).all()
    assert (model.transform(s_curve()[100:110])[:, 3:] == 0).all()


def test_negative_part_of_an_indefinite_kernel_is_reported():
    assert KernelPCA(kernel="sigmoid", gamma=0.02).fit(X).negative_part().mass > 0.01
    assert KernelPCA(kernel="rbf").fit(X).negative_part().mass < 1e-12


@pytest.mark.filterwarnings("ignore::gramfold.errors.ExtrapolationWarning")  # flowers are no points of the curve
def test_landmarks_are_nystrom():
    few = KernelPCA(3, landmarks=40, landmark_choice="kmeans", random_state=3).fit(s_curve())
    same = NystromEmbedding(3, landmarks=40, landmark_choice="kmeans", random_state=3).fit(s_curve())
    np.testing.assert_array_equal(few.embedding_, same.embedding_)
    np.testing.assert_array_equal(few.transform(X[:, :3]), same.transform(X[:, :3]))
    assert len(few.landmarks_) == 40
    assert few.error_ == same.error_ > 0
    whole = KernelPCA(3).fit(s_curve())
    assert whole.landmarks_ is whole.error_ is None
    assert difference(few.embedding_, whole.embedding_) < 1e-3


def test_what_does_not_fit_is_told_of_landmarks(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 60e6)
    rows = np.random.default_rng(0).standard_normal((3000, 3))
    with pytest.raises(
        MemoryForecastError, match=r"needs 0\.1 GB.*or use landmarks=(\d+), which needs 0\.1 GB"
    ) as told:
        KernelPCA().fit(rows)
    count = int(re.search(r"landmarks=(\d+)", str(told.value))[1])
    assert 300 < count < 1000  # a thousand would not fit either
    KernelPCA(landmarks=count, random_state=0).fit(rows)
    with pytest.raises(MemoryForecastError):
        KernelPCA(landmarks=count + 1, random_state=0).fit(rows)
