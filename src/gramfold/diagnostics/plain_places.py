"""The map that PCA makes of any data, to compare another with.

Rows under the Euclidean metric are projected on their principal axes. Of other metrics only distances are known:
classical scaling of some rows, and all others placed by their distances from these, which would be PCA where distances
are Euclidean and all rows are taken. de Silva, Tenenbaum, NIPS 15 (2003).
"""

from typing import Any

import numpy as np

from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.tables import Remembered, Rows
from gramfold.kernels.linear import project
from gramfold.kernels.principal_axes import principal_axes
from gramfold.kernels.projection import algebra_threads
from gramfold.spectral.dense import eigenpairs_between
from gramfold.types import Floats

_LANDMARKS = 500


def plain_places(judged: Judged, dimensions: int) -> Floats:
    """Coordinates (n, p), fewer where the data have fewer dimensions."""
    table = judged.data.table if isinstance(judged.data, Remembered) else judged.data
    if isinstance(table, Rows) and table.metric.name == "euclidean":
        return _projected(table.rows, dimensions, judged.n_jobs)
    return _scaled(judged, dimensions)


def _projected(rows: Any, dimensions: int, n_jobs: int | None) -> Floats:
    with algebra_threads(n_jobs, rows):
        found = principal_axes(rows, dimensions, n_jobs=n_jobs)
        places = project(rows, found.mean, found.axes)
    sizes = np.sqrt(np.mean(places**2, axis=0))
    seen = sizes > np.sqrt(len(places) * np.finfo(np.float64).eps) * sizes.max(initial=0.0)
    return places[:, seen] if seen.any() else np.zeros((len(places), 1))


def _scaled(judged: Judged, dimensions: int) -> Floats:
    n = judged.n
    chosen = np.arange(n) if n <= 2 * _LANDMARKS else np.sort(judged.generator(30).choice(n, _LANDMARKS, replace=False))
    squares = judged.data.distances(chosen)  # (m, n)
    squares /= float(squares.max()) or 1.0  # whose squares may be no numbers; the unit does not matter
    squares **= 2
    own = squares[:, chosen]
    means = own.mean(axis=1)
    gram = -0.5 * (own - means[:, None] - means[None, :] + means.mean())
    values, vectors = eigenpairs_between(0.5 * (gram + gram.T), max(0, len(gram) - dimensions), len(gram) - 1)
    values, vectors = values[::-1], vectors[:, ::-1]
    seen = values > n * np.finfo(np.float64).eps * max(float(values[0]), 0.0)
    if not seen.any():
        return np.zeros((n, 1))
    axes = vectors[:, seen] / np.sqrt(values[seen])
    return np.asarray(-0.5 * (squares.T @ axes - means @ axes))
