"""Weights of rows in `fit`: a row of weight 2 is a row that is given twice, or the class refuses weights by name."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle
from sklearn.utils.estimator_checks import check_sample_weights_not_overwritten, check_sample_weights_shape
from sklearn.utils.validation import has_fit_parameter

import gramfold
from gramfold.errors import GramfoldWarning, InputError
from tests.contract.discovery import by_name, exported

# Rows have no mass in these: they refuse weights by name.
REFUSING = {
    "DistortionDiscriminantAnalysis",
    "LandmarkMDS",
    "OrdinalMDS",
    "ProjectionPursuit",
}
ESTIMATORS = exported()
TAKING = [cls for cls in ESTIMATORS if cls.__name__ not in REFUSING]
MAPS = [cls for cls in TAKING if hasattr(cls, "fit_transform")]

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


def _digits():
    X = load_digits().data
    return np.vstack([X[:110], X[3:13]]), X[300:320]  # ten of them are there twice


def _groups():
    X = make_blobs(90, 4, centers=3, cluster_std=0.7, random_state=3)[0]
    return X[:75], X[75:]


def _table():
    X = load_iris().data  # which has copies of its own
    return X[::2], X[1::10]


TABLES = {"digits": _digits, "groups": _groups, "iris": _table}


def _weights(n, seed=0):
    return np.random.RandomState(seed).randint(1, 5, n)


def _off(a, b):
    """Largest difference, relative to the largest number."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape
    assert np.array_equal(np.isnan(a), np.isnan(b))
    scale = np.nanmax(np.abs(b), initial=0.0)
    return np.nanmax(np.abs(a - b), initial=0.0) / (scale or 1.0)


def _sheet():
    X = np.random.RandomState(2).rand(90, 3) * [2.0, 1.0, 0.1]
    return X[:80], X[80:]


def _assert_twice(model, X, new, w, *, fit=None, again=None, whole=True, tolerance=1e-7, signs=True):
    """Compare the fit of weighted rows with that of rows given as often; `signs` too, where rows are collapsed."""
    R = np.repeat(np.arange(len(w)), w)
    weighted = clone(model).fit(X, **(fit or {}), sample_weight=w)
    if again is None:
        again = {name: value[R] for name, value in (fit or {}).items()}
    repeated = clone(model).fit(X[R] if whole else X[np.ix_(R, R)], **again)
    there = new if whole or new is None else new[:, R]
    if hasattr(model, "predict"):
        assert np.array_equal(weighted.labels_[R], repeated.labels_)
        assert np.array_equal(weighted.predict(new), repeated.predict(there))
        assert weighted.score(new) == pytest.approx(repeated.score(there), abs=1e-9)
        return
    found = weighted.embedding_[R]
    if not signs:
        found = found * np.sign((found * repeated.embedding_).sum(axis=0))
    assert _off(found, repeated.embedding_) < tolerance
    first, second = weighted.spectrum_, repeated.spectrum_
    assert _off(first.eigenvalues, second.eigenvalues) < tolerance
    if signs and len(first.eigenvectors) == len(X):  # not of landmarks
        assert _off(first.eigenvectors[R], second.eigenvectors) < tolerance
    if first.total is not None:
        assert first.total == pytest.approx(second.total)
    if new is None:
        return
    assert _off(weighted.transform(new), repeated.transform(there)) < tolerance
    if whole:
        assert weighted.score(new) == pytest.approx(repeated.score(new), abs=1e-7)
        places = weighted.transform(new)
        places = places[np.isfinite(places).all(axis=1)][:5]
        assert _off(weighted.inverse_transform(places), repeated.inverse_transform(places)) < 10 * tolerance


def _quick(cls):
    return cls(n_neighbors=4) if cls.__name__ == "SDE" else cls()


# --- every class


@pytest.mark.parametrize("cls", ESTIMATORS, ids=by_name)
def test_takes_weights_or_refuses_them_by_name(cls):
    takes = cls.__name__ not in REFUSING
    assert has_fit_parameter(cls, "sample_weight") == takes
    if takes:
        return
    X = _table()[0][:30]
    with pytest.raises(InputError, match=f"^{cls.__name__} takes no sample_weight, because .*: leave it out"):
        cls().fit(X, sample_weight=np.ones(30))
    with pytest.raises(InputError, match="takes no sample_weight"):
        cls().fit_transform(X, sample_weight=np.ones(30))
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'sample_wait'"):
        cls().fit(X, sample_wait=None)
    cls().fit(X, sample_weight=None)  # as others pass it on


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("cls", TAKING, ids=by_name)
def test_a_weight_of_two_is_a_row_given_twice(cls, table):
    X, new = TABLES[table]()
    tolerance = 1e-5 if cls.__name__ in {"FactorAnalysis", "MixturePPCA"} else 1e-7  # by iterations
    _assert_twice(_quick(cls), X, new, _weights(len(X)), tolerance=tolerance)


@pytest.mark.parametrize("cls", TAKING, ids=by_name)
def test_equal_weights_of_one_change_nothing(cls):
    X, new = _groups()
    plain, weighted = _quick(cls).fit(X), _quick(cls).fit(X, sample_weight=np.ones(len(X)))
    if hasattr(plain, "predict"):
        assert np.array_equal(plain.labels_, weighted.labels_)
        return
    assert _off(weighted.embedding_, plain.embedding_) < 1e-9
    assert _off(weighted.transform(new), plain.transform(new)) < 1e-9


@pytest.mark.parametrize("cls", TAKING, ids=by_name)
def test_scikit_learns_check_without_zeros(cls):
    """`check_sample_weight_equivalence_on_dense_data`, whose weights of 0 are refused here."""
    rng = np.random.RandomState(42)
    X, y, w = rng.rand(15, 30), rng.randint(0, 3, 15), rng.randint(1, 5, 15)
    repeated = _quick(cls).set_params(random_state=0).fit(X.repeat(w, axis=0), y=y.repeat(w))
    mixed, y, w = shuffle(X, y, w, random_state=0)
    weighted = _quick(cls).set_params(random_state=0).fit(mixed, y=y, sample_weight=w)
    if hasattr(weighted, "predict"):
        numbers = {}  # clusters are numbered as they first occur
        assert all(numbers.setdefault(a, b) == b for a, b in zip(weighted.predict(X), repeated.predict(X), strict=True))
        return
    if cls.__name__ in {"KernelEigenmaps", "MixturePPCA"}:
        return  # centres and starts are drawn by row number: another order of the rows is another map
    first, second = weighted.transform(X), repeated.transform(X)
    first = first * np.sign((first * second).sum(axis=0))  # at a tie the first row decides
    assert _off(first, second) < (1e-2 if cls.__name__ == "SDE" else 1e-5)  # whose solver stops near the optimum


@pytest.mark.parametrize("cls", [cls for cls in TAKING if hasattr(cls, "n_neighbors")], ids=by_name)
@pytest.mark.parametrize("check", [check_sample_weights_shape, check_sample_weights_not_overwritten])
def test_scikit_learns_checks_of_four_rows(cls, check):
    fewer = {"n_components": 1} if hasattr(cls, "n_components") else {"n_clusters": 2}
    check(cls.__name__, cls(n_neighbors=2, **fewer))


@pytest.mark.parametrize("cls", MAPS, ids=by_name)
def test_float32_rows_stay_so_and_weights_are_the_users_own(cls):
    X, new = _groups()
    w = np.random.RandomState(1).rand(len(X)) + 0.5
    given = w.copy()
    model = _quick(cls).fit(X.astype(np.float32), sample_weight=w)
    assert model.embedding_.dtype == np.float32
    assert model.transform(new.astype(np.float32)).dtype == np.float32
    assert np.array_equal(w, given)
    before = model.transform(new.astype(np.float32))
    w[:] = 1.0
    assert np.array_equal(model.transform(new.astype(np.float32)), before)
    again = _quick(cls).fit(X.astype(np.float32), sample_weight=given)
    assert np.array_equal(again.embedding_, model.embedding_)


# --- settings


SETTINGS = {
    "isomap landmarks": gramfold.Isomap(landmarks=20),
    "isomap conformal": gramfold.Isomap(conformal=True),
    "isomap apart": gramfold.Isomap(n_neighbors=5, on_disconnected="separate"),
    "isomap largest": gramfold.Isomap(n_neighbors=5, on_disconnected="largest"),
    "lle heat": gramfold.LLE(kernel_form="heat"),
    "hessian lle of three": gramfold.HessianLLE(1, n_neighbors=9),
    "laplacian symmetric": gramfold.LaplacianEigenmaps(laplacian="symmetric"),
    "laplacian unnormalized": gramfold.LaplacianEigenmaps(laplacian="unnormalized"),
    "laplacian tuned": gramfold.LaplacianEigenmaps(weights="gaussian", width="self-tuning"),
    "diffusion density": gramfold.DiffusionMap(alpha=1.0),
    "diffusion plain": gramfold.DiffusionMap(alpha=0.0),
    "mds constant": gramfold.ClassicalMDS(metric="cityblock", repair="constant"),
    "mds clip": gramfold.ClassicalMDS(metric="cityblock", repair="clip"),
    "pca white": gramfold.PCA(3, whiten=True),
    "pca share": gramfold.PCA(0.9),
    "pca gram": gramfold.PCA(3, svd_solver="gram"),
    "pca mle": gramfold.PCA("mle"),
    "ppca evidence": gramfold.ProbabilisticPCA("evidence"),
    "factors turned": gramfold.FactorAnalysis(2, rotation="varimax"),
    "kernel pca poly": gramfold.KernelPCA(kernel="poly"),
    "kernel pca landmarks": gramfold.KernelPCA(landmarks=20, landmark_choice="kmeans"),
    "nystrom leverage": gramfold.NystromEmbedding(landmarks=20, landmark_choice="leverage"),
    "lpp raw": gramfold.LPP(approximation="raw", equal_degrees=True),
    "kernel eigenmaps affine": gramfold.KernelEigenmaps(approximation="affine", weights="gaussian"),
    "clusters qr": gramfold.SpectralClustering(3, assign="qr", n_neighbors=12),
    "clusters threshold": gramfold.SpectralClustering(2, assign="threshold", n_neighbors=12),
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("table", ["groups", "iris"])
def test_a_weight_of_two_in_other_settings(name, table):
    X, new = TABLES[table]()
    tolerance = 1e-5 if "factors" in name else 1e-7
    _assert_twice(SETTINGS[name], X, new, _weights(len(X), 5), tolerance=tolerance)


@pytest.mark.parametrize("way", ["mixture", "barycentric", "ridge"])
def test_a_weight_of_two_in_other_inverses(way):
    X, new = _groups()
    _assert_twice(gramfold.Isomap(n_neighbors=12, inverse=way), X, new, _weights(len(X)))


def test_error_of_the_linear_inverse():
    X, _ = _groups()
    w = _weights(len(X))
    weighted = gramfold.PCA().fit(X, sample_weight=w)
    assert weighted.inverse_error() == pytest.approx(gramfold.PCA().fit(X.repeat(w, axis=0)).inverse_error())


def test_fixed_point_inverse():
    X, new = _groups()
    _assert_twice(gramfold.KernelPCA(inverse="fixed-point"), X, new, _weights(len(X)))


@pytest.mark.parametrize("count", [2, 28])
def test_pca_of_more_columns_than_rows(count):
    X = load_digits().data[:30]
    _assert_twice(gramfold.PCA(count), X, load_digits().data[40:50], _weights(30))


def test_pca_of_columns_of_very_different_size():
    X = _table()[0] * [1.0, 1e-6, 1e-9, 1e-12]
    _assert_twice(gramfold.PCA(4), X, None, _weights(len(X)), tolerance=1e-5)


def test_sparse_rows():
    X, new = _digits()
    w = _weights(len(X))
    for model in (gramfold.PCA(3), gramfold.KernelPCA(3)):
        dense = clone(model).fit(X, sample_weight=w)
        sparse = clone(model).fit(csr_array(X), sample_weight=w)
        assert _off(sparse.embedding_, dense.embedding_) < 1e-8
        assert _off(sparse.transform(csr_array(new)), dense.transform(new)) < 1e-8


def test_missing_values():
    X, new = _groups()
    rng = np.random.RandomState(0)
    X = np.where(rng.rand(*X.shape) < 0.1, np.nan, X)
    _assert_twice(gramfold.ProbabilisticPCA(2, tol=1e-12, max_iter=2000), X, new, _weights(len(X)), tolerance=1e-6)


def test_log_likelihoods_are_those_of_all_copies():
    X, _ = _groups()
    w = _weights(len(X))
    for model in (gramfold.FactorAnalysis(2), gramfold.ProbabilisticPCA(2, tol=1e-9)):
        holes = X.copy()
        if model.__class__ is gramfold.ProbabilisticPCA:
            holes[::7, 1] = np.nan
        weighted, repeated = clone(model).fit(holes, sample_weight=w), clone(model).fit(holes.repeat(w, axis=0))
        assert weighted.log_likelihoods_[-1] == pytest.approx(repeated.log_likelihoods_[-1])


def test_variances_are_those_of_all_copies():
    X, _ = _groups()
    w = _weights(len(X))
    weighted, repeated = gramfold.PCA().fit(X, sample_weight=w), gramfold.PCA().fit(X.repeat(w, axis=0))
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_", "mean_"):
        assert np.allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9), name


def test_distorted_rows():
    X, new = _groups()
    noisy = X + np.random.RandomState(0).standard_normal(X.shape) * [1, 2, 3, 4]
    _assert_twice(gramfold.OrientedPCA(), X, new, _weights(len(X)), fit={"X_distorted": noisy})


@pytest.mark.parametrize("graph", ["classes", "class-neighbors"])
@pytest.mark.parametrize("equal_degrees", [False, True])
def test_classes(graph, equal_degrees):
    X, y = load_iris(return_X_y=True)
    _assert_twice(
        gramfold.LPP(graph=graph, equal_degrees=equal_degrees), X[::2], X[1::9], _weights(75), fit={"y": y[::2]}
    )


@pytest.mark.parametrize("model", [gramfold.LPP(), gramfold.LPP(equal_degrees=True), gramfold.KernelEigenmaps()])
def test_a_given_affinity(model):
    X, new = _groups()
    w = _weights(len(X))
    R = np.repeat(np.arange(len(w)), w)
    W = kneighbors_graph(X, 12).toarray()
    W = np.maximum(W, W.T)
    _assert_twice(model, X, new, w, fit={"affinity": W}, again={"affinity": W[np.ix_(R, R)]})


def test_precomputed_input():
    X, new = _groups()
    w = _weights(len(X))
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    across = np.linalg.norm(new[:, None] - X[None], axis=2)
    for model in (gramfold.Isomap(n_neighbors=12, metric="precomputed"), gramfold.ClassicalMDS(metric="precomputed")):
        _assert_twice(model, D, across, w, whole=False)
    K, new_K = np.exp(-0.05 * D**2), np.exp(-0.05 * across**2)
    _assert_twice(gramfold.KernelPCA(kernel="precomputed"), K, new_K, w, whole=False)


@pytest.mark.parametrize("form", ["random-walk", "symmetric", "unnormalized"])
def test_a_given_graph(form):
    X, _ = _table()
    w = _weights(len(X))
    W = np.exp(-np.square(np.linalg.norm(X[:, None] - X[None], axis=2)))
    np.fill_diagonal(W, 0.0)
    _assert_twice(
        gramfold.LaplacianEigenmaps(weights="precomputed", laplacian=form), W, None, w, whole=False, signs=False
    )


# --- weights that are no whole numbers, against plain dense references


def _real_weights(n):
    return np.random.RandomState(7).gamma(2.0, 0.7, n) + 0.05


def _same_map(found, expected):
    signs = np.sign((found * expected).sum(axis=0))
    return _off(found, expected * signs) < 1e-7


def _mass_map(B, w, count):
    """V Λ^½ of the kernel B centred by the weights, with Vᵀ W V = I."""
    c = w / w.sum()
    P = np.eye(len(w)) - np.outer(np.ones(len(w)), c)
    root = np.sqrt(w)
    values, vectors = np.linalg.eigh(root[:, None] * (P @ B @ P.T) * root)
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    return vectors / root[:, None] * np.sqrt(values), values


def test_pca_against_the_weighted_covariance():
    X, new = _digits()
    w = _real_weights(len(X))
    mean = np.average(X, axis=0, weights=w)
    C = np.cov(X.T, fweights=None, aweights=w, bias=True)
    values, vectors = np.linalg.eigh(C)
    axes = vectors[:, ::-1][:, :3]
    model = gramfold.PCA(3).fit(X, sample_weight=w)
    assert np.allclose(model.mean_, mean)
    assert _same_map(model.embedding_, (X - mean) @ axes)
    assert _same_map(model.transform(new), (new - mean) @ axes)
    assert np.allclose(model.explained_variance_, values[::-1][:3] * w.sum() / (w.sum() - 1))
    assert np.allclose(model.spectrum_.eigenvalues, values[::-1][:3] * w.sum())


def test_kernel_pca_against_the_weighted_kernel():
    X, _ = _digits()
    w = _real_weights(len(X))
    gamma = 1.0 / (2.0 * np.trace(np.cov(X.T, aweights=w, bias=True)))
    K = np.exp(-gamma * np.square(np.linalg.norm(X[:, None] - X[None], axis=2)))
    expected, values = _mass_map(K, w, 3)
    model = gramfold.KernelPCA(3).fit(X, sample_weight=w)
    assert model.gamma_ == pytest.approx(gamma)
    assert _same_map(model.embedding_, expected)
    assert np.allclose(model.spectrum_.eigenvalues, values)


def test_all_rows_as_landmarks_is_kernel_pca():
    X, new = _groups()
    w = _real_weights(len(X))
    nystrom = gramfold.NystromEmbedding(landmarks=np.arange(len(X))).fit(X, sample_weight=w)
    plain = gramfold.KernelPCA().fit(X, sample_weight=w)
    assert _same_map(nystrom.embedding_, plain.embedding_)
    assert _same_map(nystrom.transform(new), plain.transform(new))


def test_classical_mds_against_the_weighted_distances():
    X, _ = _groups()
    w = _real_weights(len(X))
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    expected, values = _mass_map(-0.5 * D**2, w, 3)
    model = gramfold.ClassicalMDS(3, metric="cityblock").fit(X, sample_weight=w)
    assert _same_map(model.embedding_, expected)
    assert np.allclose(model.spectrum_.eigenvalues, values)
    assert np.allclose(w @ model.embedding_, 0.0, atol=1e-9 * w.sum())  # the origin is the weighted mean


def test_isomap_against_weighted_geodesics():
    from scipy.sparse.csgraph import shortest_path

    X, _ = _sheet()
    w = _real_weights(len(X))
    lengths = kneighbors_graph(X, 12, mode="distance")
    paths = shortest_path(lengths.maximum(lengths.T), directed=False)
    expected, _ = _mass_map(-0.5 * paths**2, w, 2)
    assert _same_map(gramfold.Isomap(n_neighbors=12).fit(X, sample_weight=w).embedding_, expected)


def test_laplacian_eigenmaps_against_weighted_edges():
    X, _ = _sheet()
    w = _real_weights(len(X))
    W = kneighbors_graph(X, 12).toarray()
    W = np.maximum(W, W.T) * np.outer(w, w)
    D = np.diag(W.sum(axis=1))
    expected = eigh(D - W, D)[1][:, 1:3]
    model = gramfold.LaplacianEigenmaps(n_neighbors=12, weights="binary").fit(X, sample_weight=w)
    assert _same_map(model.embedding_ / np.linalg.norm(model.embedding_), expected / np.linalg.norm(expected))


def test_lpp_against_weighted_edges():
    X, _ = _sheet()
    w = _real_weights(len(X))
    W = kneighbors_graph(X, 12).toarray()
    W = np.maximum(W, W.T) * np.outer(w, w)
    D = np.diag(W.sum(axis=1))
    moved = X - np.average(X, axis=0, weights=np.diag(D))
    axes = eigh(moved.T @ (D - W) @ moved, moved.T @ D @ moved)[1][:, :2]
    model = gramfold.LPP(n_neighbors=12, weights="binary").fit(X, sample_weight=w)
    assert _same_map(model.embedding_ - model.embedding_.mean(axis=0), (X - X.mean(axis=0)) @ axes)


# --- a common factor of all weights

UNCHANGED = ["PCA", "KernelPCA", "ClassicalMDS", "Isomap", "KernelIsomap", "LandmarkIsomap", "NystromEmbedding"]
UNCHANGED += ["ProbabilisticPCA", "FactorAnalysis", "OrientedPCA", "SDE", "DiffusionMap"]
RESIZED = ["LLE", "ModifiedLLE", "HessianLLE", "LTSA", "LaplacianEigenmaps", "KernelEigenmaps", "LPP", "CommuteTime"]


@pytest.mark.parametrize("name", [*UNCHANGED, *RESIZED])
def test_a_common_factor(name):
    X, new = _groups()
    w = _real_weights(len(X))
    cls = getattr(gramfold, name)
    first, second = (_quick(cls).fit(X, sample_weight=factor * w) for factor in (1.0, 4.0))
    size = np.linalg.norm(second.embedding_) / np.linalg.norm(first.embedding_)
    assert (name in RESIZED) == (abs(size - 1.0) > 1e-3)
    assert _off(second.embedding_, first.embedding_ * size) < 1e-5
    if name != "KernelIsomap":  # what its constant adds to a new row is relative to the eigenvalues, which grow
        assert _off(second.transform(new), first.transform(new) * size) < 1e-5


# --- what cannot be used


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (3.0, r"sample_weight is the single number 3, but X has 40 rows: pass one positive number for each row"),
        (np.ones(39), r"sample_weight has the shape \(39,\), but X has 40 rows"),
        (np.ones((40, 1)), r"sample_weight has the shape \(40, 1\), but X has 40 rows"),
        (["a"] * 40, "sample_weight contains values that are not numbers"),
        ([[1.0], [1.0, 2.0]], "sample_weight contains values that are not numbers"),
        ([None] * 40, "sample_weight of row 0 is NaN"),
        (np.r_[np.ones(5), np.nan, np.ones(34)], "sample_weight of row 5 is NaN"),
        (np.r_[np.ones(5), np.inf, np.ones(34)], "sample_weight of row 5 is infinite"),
        (np.r_[np.ones(5), 0.0, np.ones(33), -1], r"sample_weight of row 5 is 0 \(2 such rows\).*leave rows of zero"),
        (np.full(40, 1e31), "sample_weight of row 0 is 1e[+]31, whose products overflow or vanish"),
        (np.full(40, 1j), "sample_weight contains values that are not numbers"),
    ],
)
def test_weights_that_cannot_be(weights, sentence):
    X = _groups()[0][:40]
    for cls in (gramfold.PCA, gramfold.Isomap, gramfold.SpectralClustering):
        with pytest.raises(InputError, match=sentence):
            cls().fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (gramfold.LaplacianEigenmaps(landmarks=20), "landmarks=20 and sample_weight were both given"),
        (
            gramfold.NystromEmbedding(eigenvectors="approximate"),
            "eigenvectors='approximate' are those of the landmarks",
        ),
        (gramfold.PCA(svd_solver="full"), "svd_solver='full' is scikit-learn's, which knows no sample_weight"),
        (gramfold.PCA(svd_solver="arpack"), "svd_solver='arpack' is scikit-learn's, which knows no sample_weight"),
    ],
)
def test_settings_that_have_no_weights(model, sentence):
    X = _groups()[0]
    with pytest.raises(InputError, match=sentence):
        model.fit(X, sample_weight=np.full(len(X), 2.0))


def test_weights_that_leave_no_degree_of_freedom():
    X = _groups()[0]
    with pytest.raises(InputError, match="sample_weight sums to 1, but PCA has variances with n − 1"):
        gramfold.PCA().fit(X, sample_weight=np.full(len(X), 1.0 / len(X)))


def test_components_are_counted_in_rows():
    """The largest component is that of the largest weight, and messages count rows."""
    X = np.vstack([np.random.RandomState(0).rand(30, 2), 50 + np.random.RandomState(1).rand(20, 2)])
    w = np.r_[np.full(30, 0.1), np.full(20, 0.4)]
    model = gramfold.Isomap(n_neighbors=5, on_disconnected="largest")
    with pytest.warns(GramfoldWarning, match="components of 20, 30 rows; only the largest was embedded.*other 30 rows"):
        model.fit(X, sample_weight=w)
    assert np.array_equal(model.kept_, np.arange(50) >= 30)


# --- scikit-learn's ways of passing weights


def test_pipelines():
    X, _ = _groups()
    w = _real_weights(len(X))
    pipe = make_pipeline(StandardScaler(), gramfold.Isomap(n_neighbors=12))
    plain = gramfold.Isomap(n_neighbors=12).fit(StandardScaler().fit_transform(X), sample_weight=w)
    assert np.array_equal(pipe.fit(X, isomap__sample_weight=w)[-1].embedding_, plain.embedding_)
    assert np.array_equal(pipe.fit_transform(X, isomap__sample_weight=w), plain.embedding_)
    with pytest.raises(InputError, match="LandmarkMDS takes no sample_weight"):
        make_pipeline(gramfold.LandmarkMDS()).fit(X, landmarkmds__sample_weight=w)


def test_metadata_routing():
    X, _ = _groups()
    w = _real_weights(len(X))
    with config_context(enable_metadata_routing=True):
        asked = gramfold.Isomap(n_neighbors=12).set_fit_request(sample_weight=True)
        assert clone(asked).get_metadata_routing().fit.requests["sample_weight"] is True
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, asked).fit(X, sample_weight=w)
        refusing = gramfold.LandmarkMDS()
        assert "sample_weight" not in refusing.get_metadata_routing().fit.requests
        with pytest.raises(TypeError, match="sample_weight"):
            refusing.set_fit_request(sample_weight=True)
    plain = gramfold.Isomap(n_neighbors=12).fit(StandardScaler().fit_transform(X), sample_weight=w)
    assert np.array_equal(routed[-1].embedding_, plain.embedding_)


def test_data_frames_and_lists():
    pd = pytest.importorskip("pandas")
    X, _ = _groups()
    w = _weights(len(X))
    first = gramfold.PCA().fit(X, sample_weight=w).embedding_
    for given in (w.tolist(), pd.Series(w), pd.Series(w, dtype="Int64"), w.astype(object), w.astype(np.float32)):
        assert np.array_equal(gramfold.PCA().fit(X, sample_weight=given).embedding_, first)


def test_warnings_are_those_of_the_rows():
    """A fit with weights warns of nothing that the same fit of repeated rows would not."""
    X, _ = _digits()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gramfold.PCA().fit(X, sample_weight=_weights(len(X)))
