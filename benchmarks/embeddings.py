"""Whole fits against scikit-learn, kernels warm; the first run of a fresh machine compiles and is told apart."""

from collections.abc import Iterator

import numpy as np
from sklearn import manifold

from benchmarks.timing import Race, cold, race
from gramfold import LLE, Isomap, LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll
from gramfold.graph.affinity import affinity

_N = 4_000


def races() -> Iterator[Race]:
    """Swiss roll, k=10; the same graph for both where scikit-learn's own differs."""
    X = make_swiss_roll(_N, random_state=0).points
    yield race(
        f"exact Isomap, swiss roll n={_N:,}",
        lambda: Isomap(n_neighbors=10).fit(X),
        lambda: manifold.Isomap(n_neighbors=10, n_jobs=-1).fit(X),
        target="none in this part",
    )
    W = affinity(LaplacianEigenmaps(n_neighbors=10).fit(X).graph_, None)
    yield race(
        f"Laplacian eigenmaps, swiss roll n={_N:,} (peer: eigen-solve only)",
        lambda: LaplacianEigenmaps(n_neighbors=10).fit(X),
        lambda: manifold.SpectralEmbedding(affinity="precomputed", random_state=0).fit(W.tocsr()),
        target="none in this part",
    )
    yield race(
        f"LLE, swiss roll n={_N:,}",
        lambda: LLE(n_neighbors=10).fit(X),
        lambda: manifold.LocallyLinearEmbedding(n_neighbors=10, n_jobs=-1, random_state=0).fit(X),
        target="none in this part",
    )
    model, theirs = Isomap(n_neighbors=10).fit(X), manifold.Isomap(n_neighbors=10, n_jobs=-1).fit(X)
    new = X[: _N // 2] + 0.01 * np.random.default_rng(0).standard_normal((_N // 2, 3))
    yield race(
        f"Isomap transform of {_N // 2:,} rows, fitted on {_N:,}",
        lambda: model.transform(new),
        lambda: theirs.transform(new),
        target="none in this part",
    )
    fit = "import numpy as np; X = np.random.default_rng(0).random((500, 3)); Isomap(n_neighbors=10).fit(X)"
    yield race(
        "a whole process: import, Isomap fit of 500 rows (compiled code on disk)",
        cold(f"from gramfold import Isomap; {fit}"),
        cold(f"from sklearn.manifold import Isomap; {fit}"),
        target="none in this part",
    )
