import numpy as np
import pytest
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array, random_array
from scipy.stats import ortho_group
from sklearn import decomposition

from gramfold import PCA, KernelPCA
from gramfold.errors import InputError, RankWarning
from tests.methods.maps import difference, digits

X = digits()


def frames(count: int, seed: int) -> np.ndarray:
    """Some orthonormal directions."""
    return ortho_group.rvs(X.shape[1], random_state=seed)[:, :count]


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "full", "arpack", "gram"])
def test_matches_scikit_learn(solver):
    ours, theirs = PCA(5, svd_solver=solver).fit(X[::2]), decomposition.PCA(5, svd_solver="full").fit(X[::2])
    assert difference(ours.embedding_, theirs.transform(X[::2])) < 1e-8
    assert difference(ours.transform(X[1::2]), theirs.transform(X[1::2])) < 1e-8
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-8)


def test_is_kernel_pca_of_the_linear_kernel():
    ours, theirs = PCA(4).fit(X), KernelPCA(4, kernel="linear").fit(X)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_, atol=1e-7)
    np.testing.assert_allclose(ours.spectrum_.eigenvalues, theirs.spectrum_.eigenvalues)
    assert ours.spectrum_.total == pytest.approx(theirs.spectrum_.total)
    some = np.arange(0, len(X), 100)
    np.testing.assert_allclose(ours.kernel_.columns(some), theirs.kernel_.columns(some), atol=1e-7)
    np.testing.assert_allclose(ours.kernel_.dense()[some], theirs.kernel_.columns(some).T, atol=1e-7)


# --- Burges, section 1.1


def test_decorrelates_whatever_the_distribution():  # 1.1.3
    skewed = np.random.default_rng(0).exponential(size=(500, 6)) @ frames(6, 0)[:6]
    model = PCA(6).fit(skewed)
    covariance = np.cov(model.embedding_.T, bias=True)
    np.testing.assert_allclose(covariance, np.diag(model.spectrum_.eigenvalues / 500), atol=1e-12)


def test_no_other_directions_have_more_variance():  # 1.1.2
    model = PCA(5).fit(X)
    kept = model.embedding_.var(axis=0).sum()
    assert kept == pytest.approx(model.spectrum_.eigenvalues.sum() / len(X))
    for seed in range(20):
        assert (X @ frames(5, seed)).var(axis=0).sum() < kept
    # nor do those close by: tilting one axis a little out of the plane loses at second order
    tilted = np.linalg.qr((model.components_ + 1e-2 * frames(5, 1).T).T)[0]
    assert (X @ tilted).var(axis=0).sum() < kept


@pytest.mark.parametrize("count", [1, 7, 40])
def test_error_is_the_sum_of_the_discarded_eigenvalues(count):  # 1.1.4
    model = PCA(count).fit(X)
    rebuilt = model.inverse_transform(model.embedding_)
    every = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    error = np.square(X - rebuilt).sum(axis=1).mean()
    assert error == pytest.approx(every[count:].sum(), rel=1e-9)
    for seed in range(10):
        basis = frames(count, seed)
        centred = X - X.mean(axis=0)
        assert np.square(centred - centred @ basis @ basis.T).sum(axis=1).mean() > error


def test_keeps_most_information_of_gaussian_rows():  # 1.1.5: the entropy ½ log det(2πe W C Wᵀ)
    C = np.cov(X.T, bias=True)
    model = PCA(6).fit(X)
    entropy = np.linalg.slogdet(model.components_ @ C @ model.components_.T)[1]
    assert entropy == pytest.approx(np.log(model.spectrum_.eigenvalues / len(X)).sum())
    for seed in range(20):
        assert np.linalg.slogdet(frames(6, seed).T @ C @ frames(6, seed))[1] < entropy
    turned = ortho_group.rvs(6, random_state=0) @ model.components_  # any basis of the same plane keeps as much
    assert np.linalg.slogdet(turned @ C @ turned.T)[1] == pytest.approx(entropy)


# --- size and kind of the table


def test_more_columns_than_rows_go_by_the_gram_side():
    wide = np.random.default_rng(1).standard_normal((60, 900)) * np.linspace(2, 0.1, 900)
    model = PCA(10).fit(wide)
    assert model.spectrum_.solver.startswith("Gram side")
    assert difference(model.embedding_, decomposition.PCA(10, svd_solver="full").fit_transform(wide)) < 1e-8
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(10), atol=1e-10)
    # rows rebuilt by what the others say: near the error of rows that were not there
    fresh = np.random.default_rng(2).standard_normal((60, 900)) * np.linspace(2, 0.1, 900)
    rebuilt = model.inverse_transform(model.transform(fresh))
    held_out = np.linalg.norm(fresh - rebuilt) / np.linalg.norm(fresh - wide.mean(axis=0))
    assert model.inverse_error_ == pytest.approx(held_out, rel=0.15)


def test_many_rows_and_columns_go_by_products():
    rng = np.random.default_rng(3)
    big = rng.standard_normal((2100, 30)) @ rng.standard_normal((30, 1100)) + 0.1 * rng.standard_normal((2100, 1100))
    model = PCA(3).fit(big)
    assert model.spectrum_.solver == "Gram side, block Lanczos"
    assert difference(model.embedding_[::5], decomposition.PCA(3, svd_solver="full").fit_transform(big)[::5]) < 1e-8


@pytest.mark.parametrize(
    ("shape", "sparse", "solver"),
    [
        ((1700, 1800), False, "Gram side, Lanczos (ARPACK)"),  # of the matrix, made at once
        ((2100, 1050), False, "covariance, dense (LAPACK)"),  # after products that did not converge
        ((2100, 2400), True, "Gram side, Lanczos (ARPACK)"),  # likewise, of the matrix
    ],
)
def test_noise_in_which_no_axis_stands_out(shape, sparse, solver):
    rows = random_array(shape, density=0.02, rng=0) if sparse else np.random.default_rng(4).standard_normal(shape)
    model = PCA(2).fit(csr_array(rows) if sparse else rows)
    assert model.spectrum_.solver == solver
    dense = rows.toarray() if sparse else rows
    moved = dense - dense.mean(axis=0)
    smaller = moved @ moved.T if shape[0] < shape[1] else moved.T @ moved
    largest = eigvalsh(smaller, subset_by_index=(len(smaller) - 2, len(smaller) - 1))[::-1]
    np.testing.assert_allclose(model.spectrum_.eigenvalues, largest, rtol=1e-9)
    assert model.spectrum_.residuals.max() < 1e-6


@pytest.mark.parametrize("shape", [(300, 40), (80, 500)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_are_not_densified_and_agree(shape, dtype, monkeypatch):
    rows = csr_array(random_array(shape, density=0.05, rng=0, dtype=dtype))
    dense = PCA(4).fit(rows.toarray())
    monkeypatch.setattr(csr_array, "todense", None)
    whole = csr_array.toarray
    monkeypatch.setattr(csr_array, "toarray", lambda self, *a, **k: _small(whole(self, *a, **k), shape))
    for solver in ("auto", "covariance_eigh", "arpack", "gram"):
        sparse = PCA(4, svd_solver=solver).fit(rows)
        assert difference(sparse.embedding_, dense.embedding_) < (1e-8 if dtype is np.float64 else 1e-5)
        assert sparse.inverse_error_ == pytest.approx(dense.inverse_error_, rel=1e-5)
        assert sparse.embedding_.dtype == dtype
        np.testing.assert_allclose(sparse.kernel_.columns([3]), dense.kernel_.columns([3]), atol=1e-5)


def _small(made: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    assert made.shape == (shape[0], shape[0]) or made.shape[0] * 2 <= 1_000_000 // shape[1], "the table was made dense"
    return made


def test_sparse_rows_have_no_full_decomposition():
    with pytest.raises(InputError, match="would make 50 x 20 sparse rows dense"):
        PCA(svd_solver="full").fit(random_array((50, 20), density=0.3, rng=0))


def test_a_mean_far_away_does_no_harm():
    near, far = PCA(3).fit(X), PCA(3).fit(X + 1e7)
    assert difference(near.embedding_, far.embedding_) < 1e-6
    narrow = PCA(3).fit((X + 1000).astype(np.float32))
    assert difference(near.embedding_, narrow.embedding_) < 1e-4


@pytest.mark.parametrize("solver", ["auto", "full", "gram"])
def test_columns_of_very_different_size_are_all_found(solver):
    scales = np.array([1e5, 1e3, 1.0, 1.0])
    rows = np.random.default_rng(0).standard_normal((300, 4)) * scales @ ortho_group.rvs(4, random_state=1)
    model = PCA(4, svd_solver=solver).fit(rows)
    exact = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=0), exact, rtol=1e-5)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), rows, atol=1e-6)


def test_missing_directions_are_told():
    flat = np.random.default_rng(0).standard_normal((50, 2)) @ [[1.0, 2, 0, 1], [0, 1, 1, 1]]
    for solver in ("auto", "gram"):
        with pytest.warns(RankWarning, match="vary along 2 directions and n_components=4"):
            model = PCA(4, svd_solver=solver).fit(flat)
        assert (model.embedding_[:, 2:] == 0).all()
        assert len(model.spectrum_) == 2
        np.testing.assert_allclose(model.inverse_transform(model.embedding_), flat, atol=1e-9)
    with pytest.warns(RankWarning, match="along 0 directions"):
        assert (PCA(1).fit(np.full((7, 3), 0.1)).embedding_ == 0).all()
