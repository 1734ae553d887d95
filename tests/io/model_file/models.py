"""One small model of every class, and of every kind of input and setting that changes what a model holds."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

import gramfold
from gramfold import (
    LLE,
    LPP,
    LTSA,
    PCA,
    SDE,
    ClassicalMDS,
    CommuteTime,
    DiffusionMap,
    DistortionDiscriminantAnalysis,
    FactorAnalysis,
    HeatKernel,
    Isomap,
    KernelEigenmaps,
    KernelIsomap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    MixturePPCA,
    NystromEmbedding,
    OrdinalMDS,
    OrientedPCA,
    ProbabilisticPCA,
    ProjectionPursuit,
    SpectralClustering,
)
from tests.contract.checks import sheet
from tests.contract.discovery import exported

Rows = Any
N = 80


def groups() -> np.ndarray:
    """Two sheets far apart: a graph of two components."""
    return np.concatenate([sheet(50), sheet(30, seed=4) + 40.0])


def copies() -> np.ndarray:
    """Rows that are there twice."""
    return np.concatenate([sheet(60), sheet(60)[:20]])


def frame() -> pd.DataFrame:
    return pd.DataFrame(sheet(N), columns=["wide", "höhe", "depth"])


def mixed() -> pd.DataFrame:
    table = frame()
    table["kind"] = np.where(table["wide"] > table["wide"].median(), "oak", "beech")
    table.loc[3, "depth"] = np.nan
    return table


def single() -> np.ndarray:
    return sheet(N).astype(np.float32)


def sparse() -> csr_array:
    rows = np.random.default_rng(0).poisson(0.6, size=(N, 30)).astype(float)
    rows[:, 0] += 1.0
    return csr_array(rows)


def counts() -> np.ndarray:
    return np.asarray(sparse().toarray())


def distances(X: np.ndarray | None = None) -> np.ndarray:
    X = sheet(N) if X is None else X
    return np.asarray(np.linalg.norm(X[:, None] - X[None], axis=2))


def near_graph() -> Any:
    return kneighbors_graph(sheet(N), 8, mode="distance")


def gappy() -> np.ndarray:
    X = sheet(N).copy()
    X[5, 1] = np.nan
    return X


def new_rows(X: Any, start: int = 0) -> Any:
    """Rows that a model of X can be asked about, none of them one of its own."""
    if isinstance(X, pd.DataFrame):
        fresh = X.iloc[start : start + 9].copy()
        fresh["wide"] += 0.01
        return fresh
    return X[start : start + 9] if start or not isinstance(X, np.ndarray) else X[:9] + X.dtype.type(0.01)


def _variants() -> dict[str, tuple[Any, Callable[[], Rows]]]:
    of_sheet = lambda: sheet(N)  # noqa: E731
    found: dict[str, tuple[Any, Callable[[], Rows]]] = {cls.__name__: (cls(), of_sheet) for cls in exported()}
    more: dict[str, tuple[Any, Callable[[], Rows]]] = {
        "Isomap of groups, bridged": (Isomap(), groups),
        "Isomap of groups, apart": (Isomap(on_disconnected="separate"), groups),
        "Isomap of groups, the largest": (Isomap(on_disconnected="largest"), groups),
        "Isomap of copies": (Isomap(), copies),
        "Isomap of a frame": (Isomap(), frame),
        "Isomap of float32": (Isomap(), single),
        "Isomap, landmarks": (Isomap(landmarks=20), of_sheet),
        "Isomap, conformal": (Isomap(conformal=True), of_sheet),
        "Isomap of distances": (Isomap(metric="precomputed"), distances),
        "Isomap of a graph": (Isomap(metric="precomputed"), near_graph),
        "Isomap, mixed": (Isomap(metric="gower"), mixed),
        "Isomap, cosine": (Isomap(metric="cosine"), counts),
        "Isomap, mahalanobis": (Isomap(metric="mahalanobis"), of_sheet),
        "Isomap, seuclidean": (Isomap(metric="seuclidean"), of_sheet),
        "Isomap, jaccard": (Isomap(metric="jaccard", n_neighbors=12), lambda: (counts() > 0).astype(float)),
        "Isomap, radius": (Isomap(radius=0.9), of_sheet),
        "Isomap, mutual+mst": (Isomap(graph="mutual+mst"), of_sheet),
        "Isomap, sparse rows": (Isomap(), sparse),
        "Isomap, approximate": (Isomap(search="approximate"), of_sheet),
        "Isomap, approximate sparse": (Isomap(search="approximate"), sparse),
        "Isomap, transformer": (Isomap(search=KNeighborsTransformer(n_neighbors=8)), of_sheet),
        "Isomap, many columns": (Isomap(), counts),
        "Isomap, edges dropped": (Isomap(drop_edges=np.array([[0, 1]])), of_sheet),
        "Isomap, streamed": (Isomap(storage="stream"), single),
        "KernelIsomap, streamed": (KernelIsomap(storage="stream"), copies),
        "KernelPCA, streamed": (KernelPCA(storage="stream"), sparse),
        "ClassicalMDS, streamed": (ClassicalMDS(storage="stream", repair="constant", metric="gower"), mixed),
        "KernelIsomap, landmarks": (KernelIsomap(landmarks=20), of_sheet),
        "KernelIsomap, clip": (KernelIsomap(repair="clip"), of_sheet),
        "KernelIsomap, shift": (KernelIsomap(repair="shift"), of_sheet),
        "LaplacianEigenmaps, gaussian": (LaplacianEigenmaps(weights="gaussian"), of_sheet),
        "LaplacianEigenmaps, self-tuning": (LaplacianEigenmaps(weights="gaussian", width="self-tuning"), of_sheet),
        "LaplacianEigenmaps, symmetric": (LaplacianEigenmaps(laplacian="symmetric"), of_sheet),
        "LaplacianEigenmaps, unnormalized": (LaplacianEigenmaps(laplacian="unnormalized"), of_sheet),
        "LaplacianEigenmaps, trim": (LaplacianEigenmaps(loose_rows="trim"), of_sheet),
        "LaplacianEigenmaps, regularize": (LaplacianEigenmaps(loose_rows="regularize"), of_sheet),
        "LaplacianEigenmaps, landmarks": (LaplacianEigenmaps(landmarks=30), of_sheet),
        "LaplacianEigenmaps, apart": (LaplacianEigenmaps(on_disconnected="separate"), groups),
        "LaplacianEigenmaps, independent": (LaplacianEigenmaps(coordinates="independent"), of_sheet),
        "LaplacianEigenmaps of weights": (
            LaplacianEigenmaps(metric="precomputed", weights="precomputed"),
            lambda: np.exp(-distances()),
        ),
        "DiffusionMap of copies": (DiffusionMap(), copies),
        "CommuteTime of groups": (CommuteTime(on_disconnected="largest"), groups),
        "HeatKernel, binary": (HeatKernel(weights="binary"), of_sheet),
        "LLE, heat": (LLE(kernel_form="heat"), of_sheet),
        "LLE, shift": (LLE(kernel_form="shift"), of_sheet),
        "LLE of distances": (LLE(metric="precomputed"), distances),
        "LTSA of groups": (LTSA(on_disconnected="separate"), groups),
        "SDE, exact": (SDE(isometry="exact", n_neighbors=4), lambda: sheet(40)),
        "SDE, slack": (SDE(isometry="slack"), lambda: sheet(40)),
        "SDE, landmarks": (SDE(landmarks=15), of_sheet),
        "KernelEigenmaps, affine": (KernelEigenmaps(approximation="affine"), of_sheet),
        "KernelEigenmaps, local": (KernelEigenmaps(local_dim=2), of_sheet),
        "KernelEigenmaps of groups": (KernelEigenmaps(on_disconnected="largest"), groups),
        "LPP, sparse": (LPP(), sparse),
        "LPP, raw": (LPP(approximation="raw"), of_sheet),
        "LPP, stochastic": (LPP(approximation="stochastic"), lambda: sheet(N) + 20.0),
        "KernelPCA, linear": (KernelPCA(kernel="linear"), of_sheet),
        "KernelPCA, poly": (KernelPCA(kernel="poly", degree=2), of_sheet),
        "KernelPCA, landmarks": (KernelPCA(landmarks=20), of_sheet),
        "KernelPCA, given": (KernelPCA(kernel="precomputed"), lambda: sheet(N) @ sheet(N).T),
        "KernelPCA, sparse": (KernelPCA(), sparse),
        "NystromEmbedding, approximate": (NystromEmbedding(landmarks=30, eigenvectors="approximate"), of_sheet),
        "ClassicalMDS of distances": (ClassicalMDS(metric="precomputed"), distances),
        "ClassicalMDS, constant": (ClassicalMDS(metric="cityblock", repair="constant"), of_sheet),
        "LandmarkMDS of distances": (LandmarkMDS(metric="precomputed", landmarks=20), distances),
        "OrdinalMDS of distances": (OrdinalMDS(metric="precomputed"), lambda: distances(sheet(30))),
        "PCA, sparse": (PCA(), sparse),
        "PCA, whitened": (PCA(whiten=True), of_sheet),
        "PCA of a frame": (PCA(), frame),
        "PCA of float32": (PCA(), single),
        "ProbabilisticPCA of gaps": (ProbabilisticPCA(), gappy),
        "MixturePPCA, bic": (MixturePPCA(n_planes="bic", max_planes=3), of_sheet),
        "FactorAnalysis, varimax": (
            FactorAnalysis(rotation="varimax"),
            lambda: sheet(N) @ np.ones((3, 5)) + counts()[:, :5],
        ),
        "OrientedPCA, noise": (OrientedPCA(noise_correlation=np.diag([1.0, 2.0, 3.0])), of_sheet),
        "DistortionDiscriminantAnalysis, layers": (DistortionDiscriminantAnalysis(), of_sheet),
        "ProjectionPursuit, kurtosis": (ProjectionPursuit(index="kurtosis"), of_sheet),
        "SpectralClustering, k-means": (SpectralClustering(n_clusters=3, assign="kmeans"), of_sheet),
        "SpectralClustering, threshold": (SpectralClustering(n_clusters=2, assign="threshold"), of_sheet),
        "SpectralClustering of groups": (SpectralClustering(n_clusters=2), groups),
    }
    return found | more


VARIANTS = _variants()


@cache
def fitted(name: str) -> Any:
    """The model of this name; nobody changes it."""
    model, rows = VARIANTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gramfold.errors.GramfoldWarning)
        return model.fit(rows())
