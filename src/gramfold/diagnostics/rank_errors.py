"""Trustworthiness and continuity: how far neighbours on the map are neighbours in the data, and the reverse.

    T(k) = 1 − 2 / (k (2n − 3k − 1)) · mean over i of Σ (r(i, j) − k) over the k nearest j on the map that are not among
           the k nearest in the data, with r the rank in the data
    C(k) the same with data and map exchanged

Venna, Kaski, ICANN 2001; Neural Networks 19 (2006).
"""

from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intervals import mean_interval
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.ranks import ranks_of
from gramfold.diagnostics.tables import Table
from gramfold.errors import UndefinedMeasureError
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Neighbors


@described
def trustworthiness(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """How far neighbours on the map are neighbours in the data; low where the map brings strangers together.

    1: the nearest on the map are the nearest in the data. About 0.5: the map is random. 0: they are the farthest.
    It equals `sklearn.manifold.trustworthiness`. At a tie the row with the lower number is nearer.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    Measure
        Mean over rows, with the value of each row.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from gramfold.diagnostics import trustworthiness
    >>> X = load_digits().data
    >>> trustworthiness(X, PCA(2).fit_transform(X))
    Measure(0.83)
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    judged.require_apart("trustworthiness")
    return _kept_ranks(judged, judged.data, judged.on_map, "trustworthiness")


@described
def continuity(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """How far neighbours in the data are neighbours on the map; low where the map tears neighbours apart.

    1: the nearest in the data are the nearest on the map. About 0.5: the map is random. 0: they are the farthest.
    At a tie the row with the lower number is nearer.

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
    judged.require_apart("continuity")
    return _kept_ranks(judged, judged.map, judged.in_data, "continuity")


def _kept_ranks(judged: Judged, table: Table, lists: Neighbors, what: str) -> Measure:
    """By the ranks in the table of the neighbours in the lists, which are of the other table."""
    n, k = judged.n, judged.n_neighbors
    if 2 * k >= n:
        raise UndefinedMeasureError(
            f"n_neighbors={k} is half of the {n} rows or more, for which {what} is not defined: use n_neighbors <= "
            f"{(n - 1) // 2}."
        )
    asked = lists.indices.reshape(n, k)

    def work(part: slice) -> Floats:
        rows = judged.rows[part]
        beyond = np.maximum(ranks_of(table.distances(rows), rows, asked[rows]) - k, 0)
        return np.asarray(1.0 - 2.0 / (k * (2.0 * n - 3.0 * k - 1.0)) * beyond.sum(axis=1))

    kept = np.concatenate(judged.over_rows(work))
    return Measure(float(kept.mean()), mean_interval(kept, n, (0.0, 1.0)), judged.per_point(kept))
