"""Density preservation: whether the map is dense where the data are.

    r(i) = log of the mean squared distance to the k nearest, in the data and on the map;    their correlation

Narayan, Berger, Cho, Nature Biotechnology 39 (2021), with equal weights.
"""

from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.errors import UndefinedMeasureError
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Neighbors

_FEWEST = 3
_LEVEL = 1e-12  # of logarithms: a spread below it is rounding


@described
def density_preservation(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Correlation of the logarithms of neighbourhood radii in the data and on the map.

    1: where the data are dense, the map is, by one power law. 0: the density on the map says nothing, as on a random
    map. Below 0: it is reversed. It is exact for any number of rows. Rows whose neighbours are all at distance 0
    (copies, or a map that puts them at one place) have no radius and are left out.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    Measure
        With the product of both standardised values of each row, of which it is the mean.
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    radii = np.stack([_log_radii(lists) for lists in (judged.in_data, judged.on_map)])  # (2, n)
    known = np.isfinite(radii).all(axis=0)
    if known.sum() < _FEWEST:
        raise UndefinedMeasureError(
            f"{int(known.sum())} of {judged.n} rows have a neighbour at a distance above 0 both in the data and on the "
            f"map, but a correlation needs {_FEWEST}: use a larger n_neighbors, or remove copies."
        )
    radii = radii[:, known]
    spread = radii.std(axis=1, keepdims=True)
    if spread.min() <= _LEVEL:
        raise UndefinedMeasureError(
            "all neighbourhoods in the data, or all on the map, have the same radius, so radii have no correlation: "
            "use another n_neighbors, or other rows."
        )
    found = np.full(judged.n, np.nan)
    found[known] = np.prod((radii - radii.mean(axis=1, keepdims=True)) / spread, axis=0)
    return Measure(float(found[known].mean()), None, judged.per_point(found))


def _log_radii(lists: Neighbors) -> Floats:
    k = len(lists.indices) // len(lists)
    distances = lists.distances.reshape(-1, k)
    largest = distances.max(axis=1)  # in whose unit no square overflows or vanishes
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.mean((distances / largest[:, None]) ** 2, axis=1)
        return np.asarray(2 * np.log(largest) + np.log(shares))
