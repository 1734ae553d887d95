import numpy as np
import pytest
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array, random_array
from scipy.stats import ortho_group
from sklearn import decomposition
from sklearn.datasets import load_wine

from gramfold import PCA, KernelPCA
from gramfold.errors import InputError, RankWarning
from gramfold.kernels.principal_axes import axes_for_share
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
    assert model.inverse_error() == pytest.approx(held_out, rel=0.15)


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
        assert sparse.inverse_error() == pytest.approx(dense.inverse_error(), rel=1e-5)
        assert sparse.embedding_.dtype == dtype
        np.testing.assert_allclose(sparse.kernel_.columns([3]), dense.kernel_.columns([3]), atol=1e-5)


def _small(made: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    assert made.shape == (shape[0], shape[0]) or made.shape[0] * 2 <= 1_000_000 // shape[1], "the table was made dense"
    return made


def test_sparse_rows_have_no_full_decomposition():
    with pytest.raises(InputError, match="would convert the sparse 50 x 20 table"):
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
        with pytest.warns(RankWarning, match="n_components=4, but the rows vary along only 2 directions"):
            model = PCA(4, svd_solver=solver).fit(flat)
        assert (model.embedding_[:, 2:] == 0).all()
        assert len(model.spectrum_) == 2
        np.testing.assert_allclose(model.inverse_transform(model.embedding_), flat, atol=1e-9)
    with pytest.warns(RankWarning, match="along only 0 directions"):
        assert (PCA(1).fit(np.full((7, 3), 0.1)).embedding_ == 0).all()


# --- what scikit-learn's users read

_rng = np.random.default_rng(0)
TABLES = {
    "digits": np.round(X[::3]),  # without the jitter: some columns never vary
    "wine": load_wine().data,
    "tall": _rng.standard_normal((900, 12)) * np.linspace(3, 1, 12) + 5,
    "wide": _rng.standard_normal((40, 300)) * np.linspace(3, 1, 300) + 5,
}


@pytest.mark.filterwarnings("ignore::gramfold.errors.ScaleWarning")  # wine in its own units, as scikit-learn has it
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("count", [3, 0.5, 0.95, 0.999, "mle", None])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_attributes_are_scikit_learns(table, count, whiten, dtype):
    rows = TABLES[table].astype(dtype)
    if table == "wide" and count == "mle":
        count = 7
    ours = PCA(count, whiten=whiten).fit(rows)
    theirs = decomposition.PCA(count, whiten=whiten, svd_solver="full").fit(rows.astype(np.float64))
    assert ours.n_components_ == theirs.n_components_ == ours.embedding_.shape[1]
    assert len(ours.get_feature_names_out()) == ours.n_components_
    largest = theirs.explained_variance_[0]
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        expected = getattr(theirs, name)
        np.testing.assert_allclose(getattr(ours, name), expected, atol=1e-10 * np.abs(expected).max(), rtol=1e-10)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_, abs=1e-10 * largest)
    real = theirs.explained_variance_ > 1e-20 * largest  # beyond the rank they draw directions from rounding
    signs = np.sign((ours.components_ * theirs.components_).sum(axis=1))
    np.testing.assert_allclose(ours.components_[real], (signs[:, None] * theirs.components_)[real], atol=1e-10)
    places = (signs * theirs.transform(rows.astype(np.float64)))[:, real]
    rounding = (1e-10 if dtype is np.float64 else 1e-7) * np.abs(places).max()
    np.testing.assert_allclose(ours.embedding_[:, real], places, atol=rounding)
    np.testing.assert_allclose(ours.transform(rows), ours.embedding_, atol=rounding)
    rebuilt = theirs.inverse_transform(theirs.transform(rows[:20].astype(np.float64)))
    size = (1e-10 if dtype is np.float64 else 3e-7) * np.abs(rows).max()
    np.testing.assert_allclose(ours.inverse_transform(ours.embedding_[:20]), rebuilt, atol=size)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.99, 0.9999999])
@pytest.mark.parametrize("solver", ["auto", "full", "gram", "arpack"])
def test_a_share_takes_the_fewest_that_have_it(share, solver):
    rows = TABLES["tall"] if solver == "arpack" and share < 0.9 else TABLES["wide"]
    every = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    model = PCA(share, svd_solver=solver).fit(rows)
    kept = np.cumsum(every) / every.sum()
    assert model.n_components_ == 1 + int((kept < share).sum())
    assert model.explained_variance_ratio_.sum() >= share > model.explained_variance_ratio_[:-1].sum()


def test_a_share_that_is_met_exactly():
    square = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert PCA(0.5).fit(np.vstack([square, -square])).n_components_ == 2  # four axes of the same variance


@pytest.mark.parametrize("small_side", [20, 5])  # all axes at once; two, and twice as many until they are enough
def test_a_share_of_a_table_large_in_both_ways(small_side):
    ours = axes_for_share(TABLES["tall"], 0.9, "gram", small_side=small_side, first_axes=2)
    theirs = decomposition.PCA(0.9, svd_solver="full").fit(TABLES["tall"])
    assert len(ours.variances) == theirs.n_components_ == PCA(0.9, svd_solver="gram").fit(TABLES["tall"]).n_components_
    np.testing.assert_allclose(ours.shares, theirs.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.axes.T), np.abs(theirs.components_), atol=1e-8)


def test_whitened_coordinates_have_variance_one_in_their_own_kernel():
    model = PCA(4, whiten=True).fit(X)
    np.testing.assert_allclose(np.cov(model.embedding_.T), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(model.spectrum_.eigenvalues, len(X) - 1)
    some = np.arange(0, len(X), 200)
    np.testing.assert_allclose(model.kernel_.columns(some), model.embedding_ @ model.embedding_[some].T, atol=1e-9)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-10)


def test_directions_that_would_be_rounding_are_not_whitened():
    rows = np.random.default_rng(0).standard_normal((100, 5))
    rows[7] = 1e12
    with pytest.warns(RankWarning, match=r"vary along only 1 directions by at least 1e-06 .* rounding errors"):
        model = PCA(2, whiten=True).fit(rows)
    np.testing.assert_allclose(model.transform(rows), model.embedding_, atol=1e-9)
    assert (model.embedding_[:, 1] == 0).all()
    with pytest.warns(RankWarning, match=r"vary along only 1 directions by at least"):
        PCA(None, whiten=True).fit(rows)


def test_numbers_that_cannot_be_are_refused():
    for wrong in (0, -1, 1.0, 1.5, 0.0, "mlee"):
        with pytest.raises(ValueError, match=r"'n_components' parameter of PCA must be an int.* a float .*'mle'"):
            PCA(wrong).fit(X)
    with pytest.raises(InputError, match="n_components='mle' needs the variance along all 300 directions, but 40 rows"):
        PCA("mle").fit(TABLES["wide"])
    with pytest.raises(
        InputError,
        match=r"largest possible number, 4 for a 30 x 5 table, explains 0.9.* less than n_components=0.999999",
    ):
        PCA(0.999999, svd_solver="arpack").fit(np.random.default_rng(0).standard_normal((30, 5)))


@pytest.mark.filterwarnings("ignore::gramfold.errors.ScaleWarning")
def test_the_number_is_found_anew_at_each_fit():
    model = PCA(0.99).fit(TABLES["tall"])
    assert model.fit(TABLES["wine"]).n_components_ == 1
    assert model.transform(TABLES["wine"][:3]).shape == (3, 1)


# --- what squares of the rows cannot carry


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "gram", "full"])
@pytest.mark.parametrize("shape", [(100, 5), (20, 65)])
def test_one_row_far_away_leaves_the_other_columns(shape, solver):
    rows = np.random.default_rng(0).standard_normal(shape)
    rows[7] = 1e12
    model = PCA(3, svd_solver=solver).fit(rows)
    _, sizes, axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, sizes[:3], rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=0), sizes[:3], rtol=1e-4)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(axes[:3]), atol=1e-4)
    # beyond it the others lie as they do without it, but for the direction in which it is
    others = np.delete(rows, 7, axis=0)
    across = others - np.outer(others @ np.ones(shape[1]), np.ones(shape[1])) / shape[1]
    alone = np.linalg.svd(across - across.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_[1:], alone[:2], rtol=1e-4)
    rebuilt = PCA(None, svd_solver=solver).fit(rows)
    np.testing.assert_allclose(rebuilt.inverse_transform(rebuilt.embedding_[8:]), rows[8:], atol=1e-3)


@pytest.mark.parametrize(("dtype", "far"), [(np.float64, 0.0), (np.float64, 1e8), (np.float32, 0.0), (np.float32, 1e3)])
@pytest.mark.parametrize("shape", [(50, 4), (6, 40)])
def test_rounding_is_no_direction(shape, far, dtype):
    rng = np.random.default_rng(3)
    flat = (rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1])) * 1e4 + far).astype(dtype)
    with pytest.warns(RankWarning, match="vary along only 2 directions"):
        model = PCA(3).fit(flat)
    assert (model.embedding_[:, 2] == 0).all()


@pytest.mark.parametrize("shape", [(50, 4), (8, 40)])
def test_a_column_far_away_that_never_varies_hides_no_other(shape):
    rows = np.random.default_rng(0).standard_normal(shape) * 1e-4
    rows[:, 0] = 1.7e12
    model = PCA(2).fit(rows)
    alone = PCA(2).fit(rows[:, 1:])
    np.testing.assert_allclose(model.singular_values_, alone.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(model.embedding_, alone.embedding_, atol=1e-12)
    np.testing.assert_allclose(model.transform(rows), alone.embedding_, atol=1e-12)


def test_a_column_of_small_values_is_a_direction_in_float32_too():
    rows = np.random.default_rng(0).standard_normal((80, 4)) * [1e3, 1e3, 1.0, 1e-5]
    model = PCA(4).fit(rows.astype(np.float32))
    assert model.singular_values_[3] == pytest.approx(1e-5 * np.sqrt(80), rel=0.3)


@pytest.mark.parametrize("n", [3, 12, 40, 60])
def test_very_many_equal_variances(n):
    model = PCA(2).fit(np.eye(n))
    np.testing.assert_allclose(model.singular_values_, 1.0)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=0), 1.0)


# --- what section 1.1 of Burges says of PCA beyond its formulas, and of other bases beside it


def skewed(m=400, d=7, seed=0):
    """Rows of no Gaussian shape, with a mean."""
    rng = np.random.default_rng(seed)
    return rng.exponential(size=(m, d)) @ rng.standard_normal((d, d)) + 4.0


def test_correlation_depends_on_the_basis_and_only_the_principal_one_has_none():  # 1.1.3
    X = skewed()
    basis = PCA(7).fit(X).components_
    for seed in range(5):
        other = np.cov(X @ ortho_group.rvs(7, random_state=seed), rowvar=False)
        assert np.abs(other - np.diag(np.diag(other))).max() > 1e-2 * np.abs(other).max()
    here = np.cov(X @ basis.T, rowvar=False)
    np.testing.assert_allclose(here, np.diag(np.diag(here)), atol=1e-10 * here.max())
    np.testing.assert_allclose(basis @ basis.T, np.eye(7), atol=1e-12)


def test_one_direction_after_another_is_as_good_as_all_at_once():  # the remark after (1.5)
    X = skewed()
    left, greedy = X - X.mean(axis=0), []
    for _ in range(3):
        (direction,) = PCA(1).fit(left).components_
        greedy.append(direction)
        left = left - np.outer(left @ direction, direction)
    together = PCA(3).fit(X)
    np.testing.assert_allclose(np.abs((np.array(greedy) * together.components_).sum(axis=1)), 1.0, atol=1e-10)
    rebuilt = together.inverse_transform(together.embedding_)
    assert np.square(left).sum() == pytest.approx(np.square(X - rebuilt).sum(), rel=1e-10)


def test_the_mean_must_be_taken_off_first():  # the caveat of 1.1.4
    X = skewed()
    model = PCA(2).fit(X)
    error = np.square(X - model.inverse_transform(model.embedding_)).sum()
    without = np.linalg.svd(X, full_matrices=False)[2][:2]
    assert error < np.square(X - X @ without.T @ without).sum()


@pytest.mark.parametrize("count", [1, 3, 6])
def test_information_is_the_product_of_the_leading_variances(count):  # 1.1.5, and Wilks for 1 < d' < d
    X = skewed()
    C = np.cov(X, rowvar=False, bias=True)
    W = PCA(count).fit(X).components_

    def entropy(W):  # in bits, eq (1.6) with (2πe)^d' in the place of its misprint
        return 0.5 * np.log2(2 * np.pi * np.e) * len(W) + 0.5 * np.linalg.slogdet(W @ C @ W.T)[1] / np.log(2)

    best = entropy(W)
    leading = np.linalg.eigvalsh(C)[::-1][:count]
    assert best == pytest.approx(0.5 * np.log2(2 * np.pi * np.e * leading).sum())
    for seed in range(30):
        assert entropy(ortho_group.rvs(7, random_state=seed)[:count]) < best
        near = np.linalg.qr((W + 0.05 * np.random.default_rng(seed).standard_normal(W.shape)).T)[0].T
        assert entropy(near) < best
    everything = [entropy(ortho_group.rvs(7, random_state=seed)) for seed in range(3)]  # d' = d: any basis will do
    np.testing.assert_allclose(everything, everything[0])
