"""Metrics of sets and of mixed rows: neighbours by blocks against SciPy, and approximate against exact."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from benchmarks.timing import Race, race
from gramfold.neighbors.search import build_index
from gramfold.types import Neighbors

_ROWS = 20_000
_PART = 200  # rows that SciPy compares with all others
_NEIGHBORS = 10


def races() -> Iterator[Race]:
    """Fingerprints of 512 features; tables of ten numbers and ten categories with gaps."""
    sets = fingerprints(_ROWS, 512)
    for metric in ("jaccard", "hamming"):
        yield race(
            f"exact {metric} neighbours, n={_ROWS:,}, 512 columns (peer: cdist and argpartition)",
            lambda metric=metric: _neighbors(sets, metric, "exact"),
            lambda metric=metric: _by_scipy(sets, metric),
            target="≥ 10x",
            runs=1,
            peer_factor=_ROWS // _PART,
        )
    yield race(
        f"approximate jaccard neighbours, n={_ROWS:,}, 512 columns (peer: exact)",
        lambda: _neighbors(sets, "jaccard", "approximate"),
        lambda: _neighbors(sets, "jaccard", "exact"),
        target="≥ 1x",
        runs=1,
    )
    rows = people(_ROWS)
    yield race(
        f"Gower neighbours, n={_ROWS:,}, 20 columns, a tenth of them gaps (peer: the same in NumPy)",
        lambda: _neighbors(rows, "gower", "exact"),
        lambda: _by_numpy(rows),
        target="≥ 3x",
        runs=1,
        peer_factor=_ROWS // _PART,
    )


def fingerprints(n: int, width: int) -> np.ndarray:
    """Noisy copies of 200 sets of different sizes."""
    rng = np.random.default_rng(0)
    kinds = rng.random((200, width)) < rng.uniform(0.05, 0.3, (200, 1))
    return (kinds[rng.integers(200, size=n)] ^ (rng.random((n, width)) < 0.03)).astype(np.float64)


def people(n: int) -> np.ndarray:
    """Ten columns of numbers and ten of five categories that follow two hidden ones, encoded as a fit reads them."""
    from gramfold.neighbors.mixed import MixedColumns, MixedTable

    rng = np.random.default_rng(0)
    hidden = rng.random((n, 2))
    numbers = hidden @ rng.random((2, 10)) + 0.1 * rng.random((n, 10))
    kinds = np.minimum(5 * hidden[:, np.arange(10) % 2] + 0.5 * rng.random((n, 10)), 4).astype(int)
    letters = np.array(list("abcde"))[kinds]
    frame = pd.concat([pd.DataFrame(numbers), pd.DataFrame(letters)], axis=1, ignore_index=True)
    table = MixedTable.of(frame.mask(rng.random(frame.shape) < 0.1), None, 2)
    return MixedColumns.of(table).encode(table)


def _neighbors(rows: np.ndarray, metric: str, search: str) -> Neighbors:
    state, options = np.random.RandomState(0), {"metric_params": None, "radius": None, "n_jobs": None}
    index, _ = build_index(rows, metric=metric, search=search, n_neighbors=_NEIGHBORS, random_state=state, **options)
    return index.own(_NEIGHBORS, None)


def _by_scipy(rows: np.ndarray, metric: str) -> None:
    np.argpartition(cdist(rows[:_PART], rows, metric), _NEIGHBORS, axis=1)


def _by_numpy(rows: np.ndarray) -> None:
    apart = np.zeros((_PART, len(rows)))
    shared = np.zeros_like(apart)
    for column in rows.T:
        gap = np.minimum(np.abs(column[:_PART, None] - column), 1.0)
        known = ~np.isnan(gap)
        np.add(apart, gap, out=apart, where=known)
        shared += known
    np.argpartition(apart / shared, _NEIGHBORS, axis=1)
