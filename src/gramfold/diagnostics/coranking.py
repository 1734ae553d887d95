"""Neighbours that a map keeps at every scale: the curve R_NX(K), and the area under it.

    s(i, j) = the larger of the ranks of j in the data and on the map;    Q(K) = mean over i of #{j : s(i, j) ≤ K} / K
    R(K) = ((n − 1) Q(K) − K) / (n − 1 − K);    area = Σ R(K)/K / Σ 1/K over K = 1 … n − 2

The area is a mean over rows too: Σ_j w(s(i, j)) with w(s) = Σ_{K ≥ s} (n − 1) / (K² (n − 1 − K)).

Lee, Peluffo-Ordóñez, Verleysen, Neurocomputing 169 (2015).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intervals import half_width, mean_interval
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.ranks import all_ranks
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Integers

_SCALES = 100  # numbers of neighbours, at even steps of their logarithm, where rows are drawn


@dataclass(frozen=True, eq=False)
class CorankingCurve:
    """Neighbours kept at every scale.

    Attributes
    ----------
    n_neighbors : ndarray of shape (s,)
        The scales K: all of 1 … n - 2, or where rows were drawn some of them, at even steps of the logarithm.
    q_nx : ndarray of shape (s,)
        Share of the K nearest in the data that are among the K nearest on the map.
    r_nx : ndarray of shape (s,)
        The same rescaled: 1 where all are kept, 0 where as many as on a random map.
    interval : ndarray of shape (s, 2), or None
        95% intervals of `r_nx`, each for itself; None where all rows were looked at.
    area : Measure
        Mean of `r_nx` over all K with weights 1/K, between 0 and 1; with the value of each row.
    """

    n_neighbors: Integers
    q_nx: Floats
    r_nx: Floats
    interval: Floats | None
    area: Measure

    def __repr__(self) -> str:
        return f"CorankingCurve({len(self.n_neighbors)} scales, area {self.area.value:.4g})"


@described
def r_nx_curve(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> CorankingCurve:
    """Share of neighbours that the map keeps at every scale, as it is and rescaled by chance.

    1: all are kept. 0: as many as on a random map. The curve is high on the left where near neighbours are kept, and on
    the right where the large shape is. At a tie the row with the lower number is nearer.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    CorankingCurve

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from gramfold.diagnostics import r_nx_curve
    >>> X = load_digits().data
    >>> curve = r_nx_curve(X, PCA(2).fit_transform(X))
    >>> curve
    CorankingCurve(1795 scales, area 0.2334)
    >>> curve.r_nx[[9, 99]].round(2)
    array([0.11, 0.36])
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    judged.require_apart("the share of neighbours that the map keeps")
    n, m = judged.n, len(judged.rows)
    scales = _scales(n, judged.exact)
    cost = _area_weights(n)
    areas = np.empty(m)
    # what counts of a rank is the first scale that it is within; the last place is for ranks beyond all of them
    place = np.searchsorted(scales, np.arange(n))

    def work(part: slice) -> tuple[Floats, Floats]:
        rows = judged.rows[part]
        larger = all_ranks(judged.data.distances(rows), rows)
        np.maximum(larger, all_ranks(judged.map.distances(rows), rows), out=larger)
        areas[part] = cost[larger].sum(axis=1)
        within = [np.bincount(place[ranks[ranks > 0]], minlength=len(scales) + 1)[:-1] for ranks in larger]
        shares = np.cumsum(within, axis=1) / scales
        return shares.sum(axis=0), np.square(shares).sum(axis=0)

    sums, squares = judged.added_over(m, work)
    harmonic = float((1.0 / np.arange(1, n - 1)).sum())
    areas = (areas - float((1.0 / (n - 1 - np.arange(1.0, n - 1))).sum())) / harmonic
    area = Measure(float(areas.mean()), mean_interval(areas, n, (-1.0, 1.0)), judged.per_point(areas))
    q = sums / m
    r, slope = ((n - 1) * q - scales) / (n - 1 - scales), (n - 1) / (n - 1 - scales)
    interval = None
    if not judged.exact:
        spread = np.maximum(squares / m - q**2, 0.0) * m / (m - 1)
        half = half_width(1.0, m - 1) * slope * np.sqrt(spread / m * (1 - m / n))
        interval = np.stack([r - half, np.minimum(r + half, 1.0)], axis=1)
    return CorankingCurve(scales, q, r, interval, area)


@described
def r_nx_area(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Area under the curve of R_NX with the number of neighbours on a logarithmic scale: one number for all scales.

    1: the map keeps all neighbours at every scale. 0: as many as a random map. At a tie the row with the lower number
    is nearer.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    Measure
        Mean over rows, with the value of each row.
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    return r_nx_curve(judged).area


def _scales(n: int, every: bool) -> Integers:
    if every:
        return np.arange(1, n - 1)
    return np.unique(np.geomspace(1, n - 2, _SCALES).round().astype(np.intp))


def _area_weights(n: int) -> Floats:
    """What a row at each rank adds to the area, (n,): nothing at rank 0, which is the row itself."""
    k = np.arange(1.0, n - 1)
    steps = (n - 1) / (k**2 * (n - 1 - k))
    return np.concatenate(([0.0], np.cumsum(steps[::-1])[::-1], [0.0]))
