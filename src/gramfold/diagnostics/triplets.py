"""Triplet accuracy: of two other rows, the map shows the same one nearer as the data do.

    mean over rows i and pairs j, k of  1 − |sign(d_ij − d_ik) − sign(y_ij − y_ik)| / 2

Wang, Huang, Rudin, Shaposhnik, JMLR 22 (2021).
"""

from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intervals import half_width, mean_variance
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Integers

_ALL = 200  # rows up to which all triplets are looked at: 4 million
_TRIPLETS = 100  # drawn for each row


@described
def triplet_accuracy(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Share of triplets (row, two others) in which the map shows the same one of the two nearer as the data do.

    1: always. 0.5: chance. It sees the large shape. Two that are equally far in one table only count as half, in both
    as kept. All triplets are looked at up to 200 rows, else 100 drawn for each row.

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
    n, m = judged.n, len(judged.rows)
    if n <= _ALL and judged.exact:
        shares = np.concatenate(judged.over_rows(lambda part: _of_all(judged, judged.rows[part])))
        return Measure(float(shares.mean()), None, judged.per_point(shares))
    first, second = _other_rows(judged)  # (m, t) each
    kept = _kept(*(_nearer(table, judged.rows, first, second) for table in (judged.data, judged.map)))
    shares = kept.mean(axis=1)
    # the triplets of a row are drawn too: this counts for the rows that were drawn
    within = float(kept.var(axis=1, ddof=1).mean()) / _TRIPLETS
    half = half_width(mean_variance(shares, n) + m / n * within / m, m - 1)
    value = float(shares.mean())
    return Measure(value, (max(value - half, 0.0), min(value + half, 1.0)), judged.per_point(shares))


def _of_all(judged: Judged, rows: Integers) -> Floats:
    signs = []
    for table in (judged.data, judged.map):
        others = np.arange(judged.n - 1)
        distances = table.distances(rows)[np.arange(len(rows))[:, None], others + (others >= rows[:, None])]
        j, k = np.triu_indices(judged.n - 1, 1)
        signs.append(np.sign(distances[:, j] - distances[:, k]))
    return np.asarray(_kept(*signs).mean(axis=1))


def _other_rows(judged: Judged) -> tuple[Integers, Integers]:
    """Two different others of each row drawn, and so often."""
    drawing, shape = judged.generator(2), (len(judged.rows), _TRIPLETS)
    own = judged.rows[:, None]
    first = drawing.integers(judged.n - 1, size=shape)
    second = drawing.integers(judged.n - 2, size=shape)
    second += second >= first
    return first + (first >= own), second + (second >= own)


def _nearer(table: Any, rows: Integers, first: Integers, second: Integers) -> Floats:
    own = np.repeat(rows, first.shape[1])
    apart: Floats = table.between(own, first.ravel()) - table.between(own, second.ravel())
    return np.sign(apart).reshape(first.shape)


def _kept(in_data: Floats, on_map: Floats) -> Floats:
    return 1.0 - 0.5 * np.abs(in_data - on_map)
