"""Stress and residual variance: how far distances on the map are proportional, or linear, to those in the data.

    stress = √(Σ (d − α y)² / Σ d²) over all pairs, α = Σ d y / Σ y²;    so it is √(1 − (Σ d y)² / (Σ d² Σ y²))
    residual variance = 1 − r², r the correlation of d and y over all pairs

Kruskal, Psychometrika 29 (1964); Tenenbaum, de Silva, Langford, Science 290 (2000).
"""

from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.pair_moments import PairMoments
from gramfold.errors import UndefinedMeasureError
from gramfold.neighbors.metrics import MetricName

_LEVEL = 1e-14  # share of the mean square: a variance below it is rounding


@described
def stress(
    X: Any,
    Y: Any = None,
    *,
    scale: bool = True,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Kruskal's stress-1 after the best common scale: how far lengths are changed.

    0: distances on the map are those in the data times a constant. 1: they have nothing in common (no map of more than
    one place reaches it). With the best scale it does not matter by which of both distances the error is divided. Rows
    far from all others count most, since their distances are large.

    Parameters
    ----------
    {shared}
    scale : bool, default=True
        Whether the map is scaled to fit best. If False, its distances are compared as they are, relative to the
        distances in the data; then it can exceed 1.
    {options}

    Returns
    -------
    Measure
        Of all pairs, with the value of each row's pairs under the same scale.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.diagnostics import stress
    >>> square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> stress(square, 3 * square, n_neighbors=2)
    Measure(0)
    >>> stress(square, square[:, :1], n_neighbors=2)
    Measure(0.521)
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    moments = judged.once(PairMoments.of)
    _, _, a, b, c = moments.means
    # of the map's unit to that of the data; a map of one place has no scale
    ratio = (c / b if b else 0.0) if scale else judged.unit * moments.units[1] / moments.units[0]
    square = (a - 2 * ratio * c + ratio**2 * b) / a
    of_rows = moments.of_rows[:, 2:] @ np.array([1.0, ratio**2, -2 * ratio]) / moments.of_rows[:, 2]
    per_point = judged.per_point(np.sqrt(np.maximum(of_rows, 0.0)))
    if judged.exact:
        return Measure(_root(square), None, per_point)
    # at the best scale the derivative by the scale is 0
    gradient = np.array([0.0, 0.0, (1 - square) / a, ratio**2 / a, -2 * ratio / a])
    half = moments.half_width(gradient)
    return Measure(_root(square), (_root(square - half), _root(square + half)), per_point)


@described
def residual_variance(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Share of the variance of distances that the map does not explain: ``1 - r**2``, r their correlation.

    0: distances on the map are a linear function of those in the data. 1: they are not correlated, as on a random map.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    Measure
        Of all pairs.
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    moments = judged.once(PairMoments.of)
    d, y, a, b, c = moments.means
    of_data, of_map, both = a - d**2, b - y**2, c - d * y
    for variance, size, what in ((of_data, a, "in the data"), (of_map, b, "on the map")):
        if variance <= _LEVEL * size:
            raise UndefinedMeasureError(
                f"all distances {what} are equal, so they have no correlation: pass more or other rows."
            )
    explained = both**2 / (of_data * of_map)
    value = float(min(max(1 - explained, 0.0), 1.0))
    if judged.exact:
        return Measure(value)
    by_both, by_data, by_map = 2 * both / (of_data * of_map), -explained / of_data, -explained / of_map
    gradient = np.array([-by_both * y - 2 * d * by_data, -by_both * d - 2 * y * by_map, by_data, by_map, by_both])
    half = moments.half_width(gradient)
    return Measure(value, (max(value - half, 0.0), min(value + half, 1.0)))


def _root(square: float) -> float:
    """A square of 0 may be a rounding error below it."""
    return float(np.sqrt(max(square, 0.0)))
