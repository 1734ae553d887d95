"""Geodesics and what stands on them: exact Isomap, landmarks, new points."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import dijkstra
from sklearn import manifold

from benchmarks.data import fashion_mnist
from benchmarks.timing import Race, race
from gramfold import Isomap, LandmarkIsomap
from gramfold.datasets import make_swiss_roll
from gramfold.direct.permutation import permuted
from gramfold.graph.build import build_graph
from gramfold.graph.geodesic import all_pairs, arranged
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric

_N = 10_000
_MILLION = 1_000_000
_LANDMARKS = 200


def races() -> Iterator[Race]:
    """Swiss roll and Fashion-MNIST of 10,000 rows, a million rows through landmarks, 100,000 new rows."""
    X = make_swiss_roll(_N, random_state=0).points
    neighbors = TreeIndex(X, Metric("euclidean", "euclidean"), None).own(10, None)
    graph = build_graph(neighbors, neighbors.farthest, np.ones(_N))
    some = np.arange(0, _N, 20)
    yield race(
        f"all-pairs geodesics, swiss roll n={_N:,}, order included (peer: SciPy's dijkstra from 1 of 20 sources, x 20)",
        lambda: all_pairs(arranged(graph)),
        lambda: dijkstra(graph.lengths, directed=False, indices=some),
        target="25x, 12x at least",
        runs=9,  # on a virtual machine memory that nobody touched for a while costs seconds; the median is without
        peer_factor=20,
    )
    yield race(
        f"exact Isomap, swiss roll n={_N:,}",
        lambda: Isomap(n_neighbors=10).fit(X),
        lambda: manifold.Isomap(n_neighbors=10, n_jobs=-1).fit(X),
        target="20x, 12x at least",
        runs=2,
    )
    images = fashion_mnist(_N)
    if images is not None:
        yield race(
            f"exact Isomap, Fashion-MNIST n={_N:,}",
            lambda: Isomap(n_neighbors=10).fit(images),
            lambda: manifold.Isomap(n_neighbors=10, n_jobs=-1).fit(images),
            target="4x, 3x at least",
            runs=2,
        )
    known, new = X[:5000], make_swiss_roll(100_000, random_state=1).points
    ours, theirs = Isomap(n_neighbors=10).fit(known), manifold.Isomap(n_neighbors=10, n_jobs=-1).fit(known)
    yield race(
        "transform of 100,000 rows, fitted on 5,000 (peer: 1 of 10, x 10)",
        lambda: ours.transform(new),
        lambda: theirs.transform(new[::10]),
        target="20x, 10x at least",
        peer_factor=10,
    )


def million() -> Iterator[Race]:
    """A million rows end to end against SciPy's walks from the same landmarks alone; takes some minutes."""
    X = make_swiss_roll(_MILLION, random_state=0).points
    settings = {"n_neighbors": 10, "landmarks": _LANDMARKS, "landmark_choice": "random", "random_state": 0}
    LandmarkIsomap(**settings).fit(X[:3000])
    model = LandmarkIsomap(**settings).fit(X)
    graph = permuted(model.graph_.lengths, model.graph_.vertices.argsort())  # as the rows came
    sources = model.landmarks_[::20]
    yield race(
        f"landmark Isomap, swiss roll n={_MILLION:,}, {_LANDMARKS} landmarks, end to end (peer: 1 of 20 walks, x 20)",
        lambda: LandmarkIsomap(**settings).fit(X),
        lambda: dijkstra(graph, directed=False, indices=sources),
        target="5x, 3x at least",
        runs=1,
        warm=False,
        peer_factor=20,
    )
