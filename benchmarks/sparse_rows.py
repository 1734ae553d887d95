"""Sparse rows: a whole fit of texts beside scikit-learn's search for their neighbours alone, and its memory.

Each runs in a process of its own, which tells its seconds and its peak of memory.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_array

from benchmarks.timing import Race

_ROWS, _COLUMNS, _ENTRIES = 20_000, 50_000, 100
_NEIGHBORS = 8
_MOST_GIGABYTES = 3.0


def texts(n: int = _ROWS, d: int = _COLUMNS, entries: int = _ENTRIES) -> csr_array:
    """Rows of so many different words each, of Zipf's frequencies, weighted as log counts are."""
    rng = np.random.default_rng(0)
    share = np.cumsum(1.0 / np.arange(1, d + 1))
    share /= share[-1]
    columns = np.empty((n, entries), dtype=np.int32)
    for row in columns:
        drawn = np.empty(0, dtype=np.int32)
        while len(drawn) < entries:  # the first that are drawn, without repeats
            more = np.searchsorted(share, rng.random(2 * entries)).astype(np.int32)
            together = np.concatenate([drawn, more])
            drawn = together[np.sort(np.unique(together, return_index=True)[1])]
        row[:] = drawn[:entries]
    values = 1.0 + np.log(rng.geometric(0.6, columns.size))
    rows = csr_array((values, columns.ravel(), entries * np.arange(n + 1)), shape=(n, d))
    rows.sort_indices()
    return rows


def ours() -> None:
    """Laplacian eigenmaps under the cosine metric."""
    from gramfold import LaplacianEigenmaps

    small = texts(300, 1_000, 20)
    LaplacianEigenmaps(n_neighbors=_NEIGHBORS, metric="cosine").fit(small)  # compiled code warm
    _tell(lambda rows: LaplacianEigenmaps(n_neighbors=_NEIGHBORS, metric="cosine").fit(rows))


def peer() -> None:
    """scikit-learn's neighbours of the same rows, and nothing else."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=_NEIGHBORS, metric="cosine", algorithm="brute")
    _tell(lambda rows: search.fit(rows).kneighbors())


def _tell(work: Callable[[csr_array], object]) -> None:
    rows = texts()
    started = time.perf_counter()
    work(rows)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)
    print(json.dumps([seconds, peak]))


def races(runs: int = 2) -> Iterator[Race]:
    """In turn, each in a process of its own."""
    told: dict[str, list[list[float]]] = {"ours": [], "peer": []}
    for _ in range(runs):
        for name, kept in told.items():
            statement = f"import benchmarks.sparse_rows as rows; rows.{name}()"
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", statement], check=True, capture_output=True, text=True
            )
            kept.append(json.loads(done.stdout.splitlines()[-1]))
    seconds = {name: [one[0] for one in kept] for name, kept in told.items()}
    peaks = {name: max(one[1] for one in kept) for name, kept in told.items()}
    yield Race(
        f"Laplacian eigenmaps (cosine) of {_ROWS:,} x {_COLUMNS:,} sparse rows of {_ENTRIES} entries, "
        f"{peaks['ours']:.2f} GB (peer: scikit-learn's kneighbors alone, {peaks['peer']:.2f} GB)",
        seconds["ours"],
        seconds["peer"],
        f"≥ 0.67x, at most {_MOST_GIGABYTES:g} GB",
    )
