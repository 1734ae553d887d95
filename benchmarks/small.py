"""Fits of a few rows against scikit-learn's classes, warm: what a fit costs beside its arithmetic."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from sklearn import cluster, decomposition, manifold
from sklearn.base import BaseEstimator

import gramfold
from benchmarks.data import digits
from benchmarks.timing import Race, race
from gramfold.datasets import make_swiss_roll

_K = 8
_ENOUGH = 0.002  # seconds: less than this is not felt
_RUNS = {200: 9, 1_000: 7, 2_000: 5}


def races(*only: str) -> Iterator[Race]:
    """200, 1,000 and 2,000 rows; of all methods, or of those named."""
    yield from _races(_RUNS, only)


def quick(*only: str) -> Iterator[Race]:
    """200 and 1,000 rows."""
    yield from _races((200, 1_000), only)


def _races(sizes: Iterable[int], only: tuple[str, ...]) -> Iterator[Race]:
    for n in sizes:
        for data, X in (("swiss roll", make_swiss_roll(n, random_state=0).points), ("digits", digits(n))):
            for name, ours, peer in _pairs():
                if not only or name in only:
                    yield _race(name, ours, peer, data, X)


def _pairs() -> Iterator[tuple[str, BaseEstimator, BaseEstimator]]:
    yield "Isomap", gramfold.Isomap(n_neighbors=_K), manifold.Isomap(n_neighbors=_K)
    for name, method in (("LLE", "standard"), ("ModifiedLLE", "modified"), ("HessianLLE", "hessian"), ("LTSA", "ltsa")):
        peer = manifold.LocallyLinearEmbedding(n_neighbors=_K, method=method, random_state=0)
        yield name, getattr(gramfold, name)(n_neighbors=_K), peer
    of_graph = {"n_neighbors": _K, "affinity": "nearest_neighbors", "random_state": 0}
    yield "LaplacianEigenmaps", gramfold.LaplacianEigenmaps(n_neighbors=_K), manifold.SpectralEmbedding(**of_graph)
    clusters = gramfold.SpectralClustering(n_clusters=8, n_neighbors=_K)
    yield "SpectralClustering", clusters, cluster.SpectralClustering(8, **of_graph)
    yield "KernelPCA", gramfold.KernelPCA(kernel="rbf"), decomposition.KernelPCA(2, kernel="rbf")
    yield "ClassicalMDS", gramfold.ClassicalMDS(), manifold.ClassicalMDS()
    yield "PCA", gramfold.PCA(n_components=2), decomposition.PCA(2)


def _race(name: str, ours: BaseEstimator, peer: BaseEstimator, data: str, X: np.ndarray) -> Race:
    told = type(peer).__name__
    try:
        peer.fit(X)
    except ValueError as error:  # ARPACK fails where the matrix is singular to the last bit
        if "ARPACK" not in str(error):
            raise
        peer.set_params(eigen_solver="dense")
        peer.fit(X)
        told = f"{told}, dense: its ARPACK finds the matrix singular"
    timed = race(
        f"{name}, {data} n={len(X):,} (peer: {told})",
        _fit(ours, X),
        _fit(peer, X),
        target="",
        runs=_RUNS[len(X)],
        cpu=True,
    )
    return timed.judged("≥ 1.0x, or within 2 ms", timed.ratio >= 1 or timed.extra <= _ENOUGH)


def _fit(model: BaseEstimator, X: np.ndarray) -> Callable[[], object]:
    return lambda: model.fit(X)
