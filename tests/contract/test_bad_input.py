"""Contract item 7: bad input gets one clear sentence, through the public API, and nothing half done."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from gramfold import (
    LLE,
    LPP,
    LTSA,
    PCA,
    ClassicalMDS,
    CommuteTime,
    DiffusionMap,
    HeatKernel,
    HessianLLE,
    Isomap,
    KernelEigenmaps,
    KernelPCA,
    LaplacianEigenmaps,
    MixturePPCA,
    ModifiedLLE,
    NystromEmbedding,
    OrdinalMDS,
    ProbabilisticPCA,
    SpectralClustering,
)
from gramfold.errors import DisconnectedGraphError, GramfoldError, InputError, PrecomputedInputError
from tests.contract.checks import sheet
from tests.contract.discovery import by_name, exported

X = sheet(40)
D = np.linalg.norm(X[:, None] - X[None], axis=2)
two_pieces = np.vstack([X, X + 1000])


def with_value(value, row=3, column=1):
    spoilt = X.copy()
    spoilt[row, column] = value
    return spoilt


def skewed(matrix):
    spoilt = matrix.copy()
    spoilt[0, 1] += 1
    return spoilt


def fitted(**settings):
    return Isomap(**settings).fit(X)


# what is done, and a part of the one sentence that answers it
CASES = {
    "NaN": (lambda: Isomap().fit(with_value(np.nan)), "X contains NaN in row 3, column 1"),
    "infinity": (lambda: LLE().fit(with_value(np.inf)), "X contains infinity in row 3, column 1"),
    "NaN at transform": (lambda: fitted().transform(with_value(np.nan)), "X contains NaN"),
    "NaN in places": (lambda: fitted().inverse_transform([[np.nan, 0.0]]), "Y contains NaN"),
    "one row": (lambda: Isomap().fit(X[:1]), "1 sample"),
    "no row": (lambda: ClassicalMDS().fit(X[:0]), "0 sample"),
    "no column": (lambda: KernelPCA().fit(X[:, :0]), "0 feature"),
    "one-dimensional": (lambda: Isomap().fit(X[:, 0]), "Expected 2D array"),
    "strings": (lambda: Isomap().fit([["a", "b"]] * 20), "X holds text"),
    "complex": (lambda: Isomap().fit(X + 1j), "Complex data not supported"),
    "k = n": (lambda: Isomap(n_neighbors=40).fit(X), "n_neighbors=40, but there are only 40 distinct rows"),
    "k = 0": (lambda: Isomap(n_neighbors=0).fit(X), "n_neighbors"),
    "k of a half": (lambda: Isomap(n_neighbors=2.5).fit(X), "n_neighbors"),
    "all rows the same": (lambda: Isomap().fit(np.ones((20, 3))), "all rows are equal, so none has a neighbour"),
    "a parameter that the metric lacks": (
        lambda: Isomap(metric_params={"q": 3}).fit(X),
        "cannot be computed by SciPy (cdist_euclidean(): incompatible function arguments): use",
    ),
    "too many copies": (lambda: LLE(n_neighbors=8).fit(np.repeat(X[:8], 5, axis=0)), "8 distinct rows"),
    "no dimension": (lambda: KernelPCA(n_components=0).fit(X), "n_components"),
    "too many dimensions": (lambda: ClassicalMDS(n_components=40).fit(X), "at most 39 dimensions"),
    "radius of nothing": (lambda: Isomap(radius=0.0).fit(X), "radius"),
    "negative radius": (lambda: Isomap(radius=-1.0).fit(X), "radius"),
    "unknown metric": (lambda: Isomap(metric="euclidian").fit(X), "metric='euclidian'"),
    "unknown kernel": (lambda: KernelPCA(kernel="rfb").fit(X), "kernel"),
    "negative gamma": (lambda: KernelPCA(gamma=-1.0).fit(X), "gamma"),
    "negative ridge": (lambda: LLE(reg=-1e-3).fit(X), "reg"),
    "unknown weights": (lambda: LaplacianEigenmaps(weights="cosine").fit(X), "weights"),
    "width of nothing": (lambda: LaplacianEigenmaps(weights="gaussian", width=0.0).fit(X), "width"),
    "width of a word": (lambda: LaplacianEigenmaps(weights="gaussian", width="wide").fit(X), "width"),
    "width of edges that all weigh 1": (
        lambda: LaplacianEigenmaps(width=0.5).fit(X),
        "width=0.5 applies only to Gaussian",
    ),
    "parameters of no function": (lambda: KernelPCA(kernel_params={"a": 1}).fit(X), "kernel='rbf' is a name"),
    "unknown coordinates": (lambda: CommuteTime(coordinates="best").fit(X), "coordinates"),
    "time before the start": (lambda: HeatKernel(t=-1.0).fit(X), "'t' parameter"),
    "more than all density": (lambda: DiffusionMap(alpha=1.5).fit(X), "alpha"),
    "unknown policy": (lambda: Isomap(on_disconnected="ignore").fit(X), "on_disconnected"),
    "unknown search": (lambda: Isomap(search="fast").fit(X), "search"),
    "no thread": (lambda: Isomap(n_jobs=0).fit(X), "n_jobs=0 is not a number of threads"),
    "minkowski below one": (
        lambda: Isomap(metric="minkowski", metric_params={"p": 0.5}).fit(X),
        "p=0.5 is not a distance",
    ),
    "cosine of nothing": (lambda: Isomap(metric="cosine").fit(X * (np.arange(40) != 7)[:, None]), "row 7 is all zeros"),
    "singular mahalanobis": (
        lambda: Isomap(metric="mahalanobis").fit(np.hstack([X, X])),
        "covariance of the rows is singular",
    ),
    "constant seuclidean": (
        lambda: Isomap(metric="seuclidean").fit(np.hstack([X, np.ones((40, 1))])),
        "column 3 is constant",
    ),
    "rows as distances": (lambda: Isomap(metric="precomputed").fit(X), "square matrix of distances, but got 40 x 3"),
    "asymmetric distances": (lambda: ClassicalMDS(metric="precomputed").fit(skewed(D)), "not symmetric"),
    "asymmetric distances for a graph": (lambda: LLE(metric="precomputed").fit(skewed(D)), "not symmetric"),
    "negative distances": (lambda: Isomap(metric="precomputed").fit(-D), "negative entry"),
    "similarities as distances": (lambda: Isomap(metric="precomputed").fit(np.exp(-D)), "on its diagonal"),
    "NaN distance": (lambda: Isomap(metric="precomputed").fit(np.where(D > 3, np.nan, D)), "X contains NaN"),
    "asymmetric kernel": (lambda: KernelPCA(kernel="precomputed").fit(skewed(X @ X.T)), "not symmetric"),
    "rows as kernel": (lambda: KernelPCA(kernel="precomputed").fit(X), "square matrix of kernel values"),
    "kernel gives NaN": (lambda: KernelPCA(kernel=lambda a, b: np.nan).fit(X), "returned NaN"),
    "kernel is no kernel": (lambda: KernelPCA(kernel=lambda a, b: a[0] - b[0]).fit(X), "not symmetric"),
    "sparse rows": (lambda: KernelEigenmaps().fit(random_array((40, 9), density=0.5, rng=0)), "reads dense rows"),
    "sparse distances": (lambda: ClassicalMDS(metric="precomputed").fit(csr_array(D)), "reads dense rows"),
    "sparse kernel": (lambda: KernelPCA(kernel="precomputed").fit(csr_array(X @ X.T)), "reads dense rows"),
    "wrong width at transform": (lambda: fitted().transform(X[:, :2]), "expecting 3 features"),
    "wrong width on the way back": (lambda: fitted().inverse_transform(X), "Y has 3 columns"),
    "transform before fit": (lambda: Isomap().transform(X), "not fitted yet"),
    "inverse before fit": (lambda: LLE().inverse_transform(X), "not fitted yet"),
    "score of too few": (lambda: fitted().score(X[:2]), "at least 4 rows"),
    "inverse of precomputed": (
        lambda: Isomap(metric="precomputed").fit(D).inverse_transform(X[:, :2]),
        "no rows to reconstruct from",
    ),
    "score of precomputed": (lambda: Isomap(metric="precomputed").fit(D).score(D), "score needs the rows themselves"),
    "pieces refused": (
        lambda: Isomap(on_disconnected="error").fit(two_pieces),
        "has 2 connected components of 40, 40 rows",
    ),
    "sparse pieces cannot be bridged": (
        lambda: Isomap(metric="precomputed").fit(csr_array(D * (D < 0.2))),
        "cannot be bridged",
    ),
    "no edges": (
        lambda: LLE(metric="precomputed", on_disconnected="largest").fit(csr_array(D * (D < 0.05))),
        "no edges between its 40 vertices, so there is nothing to embed: add edges.",
    ),
    "local weights of a sparse graph": (
        lambda: LLE(metric="precomputed").fit(csr_array(D)),
        "a sparse graph does not hold",
    ),
    "dense rows for a sparse model": (
        lambda: Isomap(metric="precomputed").fit(csr_array(D)).transform(D),
        "given a dense array",
    ),
    "a new row out of reach": (
        lambda: Isomap(radius=2.0, on_disconnected="error").fit(X).transform(X + 1000),
        "have no neighbours among the training rows",
    ),
    "approximate city blocks": (
        lambda: Isomap(search="approximate", metric="cityblock").fit(X),
        "euclidean, cosine and correlation metrics",
    ),
    "similarities as dissimilarities": (
        lambda: OrdinalMDS(metric="precomputed").fit(np.exp(-D)),
        "pass dissimilarities, not similarities",
    ),
    "asymmetric dissimilarities": (lambda: OrdinalMDS(metric="precomputed").fit(skewed(D)), "not symmetric"),
    "geodesics between pieces": (lambda: OrdinalMDS(n_neighbors=5).fit(two_pieces), "has 2 connected components"),
    "too few landmarks": (
        lambda: NystromEmbedding(3, landmarks=2).fit(X),
        "n_components=3, but there are only 2 landmarks",
    ),
    "landmarks of an asymmetric kernel": (
        lambda: NystromEmbedding(kernel="precomputed").fit(skewed(X @ X.T)),
        "not symmetric",
    ),
    "no cluster": (lambda: SpectralClustering(0).fit(X), "n_clusters"),
    "more clusters than rows": (
        lambda: SpectralClustering(41).fit(X),
        "n_clusters=41 is more than the 40 distinct rows of X",
    ),
    "three sides of a threshold": (lambda: SpectralClustering(3, assign="threshold").fit(X), "use n_clusters=2"),
    "more pieces than clusters": (
        lambda: SpectralClustering(1, on_disconnected="error").fit(two_pieces),
        "has 2 connected components, more than n_clusters=1",
    ),
    "predict before fit": (lambda: SpectralClustering().predict(X), "not fitted yet"),
    "wrong width at predict": (lambda: SpectralClustering(2).fit(X).predict(X[:, :2]), "expecting 3 features"),
    "unknown ties": (lambda: OrdinalMDS(ties="tertiary").fit(X), "ties"),
    "too few neighbours for a tangent": (lambda: LTSA(2, 2).fit(X), "n_neighbors=2, but LTSA"),
    "too few neighbours for a Hessian": (lambda: HessianLLE(3, 8).fit(X), "use n_neighbors >= 9"),
    "too few neighbours for many weights": (lambda: ModifiedLLE(3, 3).fit(X), "needs at least 4"),
    "too small a radius for a tangent": (
        lambda: LTSA(radius=1.5).fit(np.arange(20.0)[:, None] * [1, 2, 0] / 2),
        "row 0 has 1 neighbours",
    ),
    "too small a radius for many weights": (
        lambda: ModifiedLLE(radius=1.5).fit(np.arange(20.0)[:, None] * [1, 2, 0] / 2),
        "row 0 has 1 neighbours",
    ),
    "unknown approximation": (lambda: KernelEigenmaps(approximation="exact").fit(X), "approximation"),
    "no kernel": (lambda: KernelEigenmaps(2, n_kernels=0).fit(X), "n_kernels"),
    "kernels of no width": (lambda: KernelEigenmaps(width=0.0).fit(X), "width"),
    "distances for a map of columns": (lambda: LPP(metric="precomputed").fit(D), "pass the rows themselves"),
    "classes that nobody gave": (lambda: LPP(graph="classes").fit(X), "no classes were given"),
    "classes with gaps": (
        lambda: LPP(graph="classes").fit(X, np.where(np.arange(40) > 5, 1.0, np.nan)),
        "y contains missing or continuous values",
    ),
    "measurements as classes": (
        lambda: LPP(graph="classes").fit(X, X[:, 0]),
        "y contains missing or continuous values",
    ),
    "words beside nothing": (
        lambda: LPP(graph="classes").fit(X, np.array(["a", None] * 20, dtype=object)),
        "y contains missing or continuous values",
    ),
    "a class for each row": (
        lambda: LPP(graph="class-neighbors").fit(np.repeat(X, 3, axis=0), np.repeat(np.arange(40), 3)),
        "each of the 40 classes in y has only one distinct row",
    ),
    "unknown projection": (lambda: LPP(approximation="weighted").fit(X), "approximation"),
    "negative roughness": (lambda: HessianLLE(roughness=-1.0).fit(X), "roughness"),
    "all axes by arpack": (
        lambda: PCA(3, svd_solver="arpack").fit(X),
        "svd_solver='arpack' cannot compute all",
    ),
    "a mixture of one row": (lambda: MixturePPCA().fit(np.ones((20, 4))), "the 20 rows are identical up to rounding"),
    "no such decomposition": (lambda: PCA(svd_solver="jacobi").fit(X), "svd_solver"),
    "infinity among gaps": (lambda: ProbabilisticPCA().fit(with_value(np.inf)), "X contains infinity in row 3"),
    "a column without values": (
        lambda: ProbabilisticPCA().fit(np.where(np.arange(3) == 1, np.nan, X)),
        "column 1 of X contains only missing values",
    ),
    "gaps and no noise": (lambda: ProbabilisticPCA(3).fit(with_value(np.nan)), "use n_components <= 2"),
    "evidence with gaps": (lambda: ProbabilisticPCA("evidence").fit(with_value(np.nan)), "fill them in first"),
    "an unknown number": (lambda: ProbabilisticPCA("mle").fit(X), "n_components"),
    "no plane": (lambda: MixturePPCA(n_planes=0).fit(X), "n_planes"),
    "more planes than rows": (lambda: MixturePPCA(n_planes=41).fit(X), "n_planes=41 is more than the 40 rows of X"),
    "noise of nothing": (lambda: MixturePPCA(least_noise=0.0).fit(X), "least_noise"),
    "gaps and planes": (lambda: MixturePPCA().fit(with_value(np.nan)), "X contains NaN in row 3, column 1"),
    "responsibilities before fit": (lambda: MixturePPCA().responsibilities(X), "not fitted yet"),
    "wrong width to fill in": (lambda: ProbabilisticPCA().fit(X).impute(X[:, :2]), "expecting 3 features"),
    "tangents of a sparse graph": (
        lambda: LTSA(metric="precomputed").fit(csr_array(D)),
        "a sparse graph does not hold",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_gets_its_sentence(name):
    act, sentence = CASES[name]
    with pytest.raises((GramfoldError, ValueError, TypeError)) as caught:
        act()
    message = str(caught.value)
    assert sentence in message
    assert "Traceback" not in message
    assert "ARPACK" not in message
    assert "LAPACK" not in message


def test_there_are_at_least_thirty():
    assert len(CASES) >= 30


@pytest.mark.parametrize("cls", exported(), ids=by_name)
def test_a_failed_fit_leaves_no_half_fitted_model(cls):
    model = cls()
    spoilt = np.inf if model.__sklearn_tags__().input_tags.allow_nan else np.nan  # some fill in what is missing
    with pytest.raises(InputError):
        model.fit(with_value(spoilt))
    assert not hasattr(model, "embedding_")
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("cls", [cls for cls in exported() if "n_components" in cls().get_params()], ids=by_name)
def test_more_dimensions_than_rows_are_refused_before_memory_is_counted(cls):
    with pytest.raises(InputError, match=r"n_components=1000000000 .* use n_components <= 39\."):
        cls(n_components=10**9).fit(X)


def test_errors_are_what_python_programs_expect():
    assert issubclass(InputError, ValueError)
    assert issubclass(DisconnectedGraphError, ValueError)
    assert issubclass(PrecomputedInputError, TypeError)
