"""Exact neighbours of every row against scikit-learn's brute force and the flat index of faiss, in as many threads."""

import os
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.data import digits, fashion_mnist, usps
from benchmarks.timing import Race, race
from gramfold.datasets import make_swiss_roll
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.search import exact_index

_K = 10
_SIZES = (2_000, 10_000, 20_000)
_THREADS = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
_TABLES = (("digits", digits), ("USPS", usps), ("Fashion-MNIST", fashion_mnist))


def races() -> Iterator[Race]:
    """64, 256 and 784 columns, and a roll of 3 columns, where ours is a tree."""
    for n in _SIZES:
        yield from _tables(n)
    yield from roll()


def quick() -> Iterator[Race]:
    """2,000 rows."""
    yield from _tables(_SIZES[0])


def roll(n: int = 100_000) -> Iterator[Race]:
    """Brute force of a part of the rows, since its time is proportional to it; and a tree, the peer to compare with."""
    X = make_swiss_roll(n, random_state=0).points
    yield from _races("swiss roll", X, part=50)
    metric = make_metric("euclidean", None, X)
    yield race(
        f"{_job('swiss roll', X)} (peer: scikit-learn, kd_tree)",
        lambda: exact_index(X, metric, _THREADS).own(_K, None),
        lambda: NearestNeighbors(n_neighbors=_K, algorithm="kd_tree", n_jobs=_THREADS).fit(X).kneighbors(),
        target="≥ 1.0x",
        cpu=_THREADS == 1,
    )


def _tables(n: int) -> Iterator[Race]:
    for name, read in _TABLES:
        X = read(n)
        if X is None:
            yield Race(f"neighbours of {name} n={n:,}: the data are absent", [], [], "none")
        else:
            yield from _races(name, X)


def _job(name: str, X: np.ndarray) -> str:
    return f"{_K} exact neighbours of {name}, {len(X):,} x {X.shape[1]}, {_THREADS} thread{'s'[: _THREADS > 1]}"


def _races(name: str, X: np.ndarray, part: int = 1) -> Iterator[Race]:
    job = _job(name, X)
    metric = make_metric("euclidean", None, X)
    asked = X[::part]

    def ours() -> np.ndarray:
        return exact_index(X, metric, _THREADS).own(_K, None).distances

    def brute() -> np.ndarray:
        return NearestNeighbors(n_neighbors=_K + 1, algorithm="brute").fit(X).kneighbors(asked)[0]

    mine = np.sort(ours().reshape(len(X), _K)[::part], axis=1)
    if not np.allclose(mine, brute()[:, 1:], rtol=1e-5):  # of each row the nearest is itself
        raise RuntimeError(f"distances to the neighbours of {name} differ from those of scikit-learn.")
    yield race(f"{job} (peer: scikit-learn, brute)", ours, brute, target="≥ 1.0x", peer_factor=part, cpu=part == 1)
    if find_spec("faiss") is None:
        yield Race(f"{job} (peer: faiss, absent)", [], [], "none")
        return
    import faiss

    faiss.omp_set_num_threads(_THREADS)
    single, some = np.ascontiguousarray(X, dtype=np.float32), np.ascontiguousarray(asked, dtype=np.float32)

    def flat() -> object:
        index = faiss.IndexFlatL2(single.shape[1])
        index.add(single)
        return index.search(some, _K + 1)

    yield race(f"{job} (peer: faiss, flat, float32)", ours, flat, target="≥ 1.0x", peer_factor=part, cpu=part == 1)
