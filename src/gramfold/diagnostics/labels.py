"""Labels on a map: how pure neighbourhoods are, and how well groups are apart.

    purity(i) = share of the k nearest that have the label of row i, on the map or in the data
    silhouette(i) = (b − a) / max(a, b) on the map, a the mean distance to the others of the same label, b the least
                    mean distance to those of another

Rousseeuw, Journal of Computational and Applied Mathematics 20 (1987).
"""

from typing import Any, Literal

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intervals import mean_interval
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.errors import InputError, UndefinedMeasureError
from gramfold.neighbors.columns import require_one_order
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Integers


@described
def neighborhood_purity(
    X: Any,
    Y: Any = None,
    labels: Any = None,
    *,
    on: Literal["map", "data"] = "map",
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Share of the neighbours that have the label of the row: on the map, and in the data to compare it with.

    1: neighbourhoods have one label. Chance is the sum of squared shares of the labels. A map that is purer than the
    data (``on="data"``) has pulled labels apart that are mixed; one that is less pure has mixed them. It is exact for
    any number of rows. At a tie the row with the lower number is nearer.

    Parameters
    ----------
    {shared}
    labels : array-like of shape (n_rows,)
        The label of each row.
    on : {"map", "data"}, default="map"
        Whose neighbours are looked at.
    {options}

    Returns
    -------
    Measure
        Mean over rows, with the value of each row.
    """
    require_labels_in_order(X, Y, labels)
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    if on not in {"map", "data"}:
        raise InputError(f"on={on!r} is not known: use 'map' or 'data'.")
    codes, _ = coded(labels, judged)
    if on == "map":
        judged.require_apart("the share of neighbours with the same label")
    lists = judged.on_map if on == "map" else judged.in_data
    pure = np.mean(codes[lists.indices].reshape(judged.n, -1) == codes[:, None], axis=1)
    return Measure(float(pure.mean()), None, judged.per_point(pure))


@described
def silhouette(
    X: Any,
    Y: Any = None,
    labels: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """How well labelled groups are apart on the map, by its distances.

    1: each row is much nearer to its group than to any other. 0: groups overlap. Below 0: rows lie in another group. It
    equals `sklearn.metrics.silhouette_score`; a row that is alone in its group counts 0. A high value says that the map
    shows the labels, not that the data do: compare with ``silhouette(X, X, labels)``.

    Parameters
    ----------
    {shared}
    labels : array-like of shape (n_rows,)
        The label of each row.
    {options}

    Returns
    -------
    Measure
        Mean over rows, with the value of each row.
    """
    require_labels_in_order(X, Y, labels)
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    codes, counts = coded(labels, judged)
    if not 2 <= len(counts) < judged.n:
        raise UndefinedMeasureError(
            f"labels hold {len(counts)} different values for {judged.n} rows, but silhouettes compare groups of rows: "
            "pass at least 2 groups, and fewer than rows."
        )
    order, starts = np.argsort(codes, kind="stable"), np.cumsum(counts) - counts

    def work(part: slice) -> Floats:
        rows = judged.rows[part]
        sums = np.add.reduceat(judged.map.distances(rows)[:, order], starts, axis=1)  # (b, groups)
        own, place = codes[rows], np.arange(len(rows))
        alone = counts[own] == 1
        near = sums[place, own] / np.where(alone, 1, counts[own] - 1)
        means = sums / counts
        means[place, own] = np.inf
        far = means.min(axis=1)
        largest = np.maximum(near, far)
        return np.where(alone | (largest == 0), 0.0, (far - near) / np.where(largest == 0, 1.0, largest))

    found = np.concatenate(judged.over_rows(work))
    return Measure(float(found.mean()), mean_interval(found, judged.n, (-1.0, 1.0)), judged.per_point(found))


def require_labels_in_order(X: Any, Y: Any, labels: Any) -> None:
    """Raise an error if labels have the index of the data, or of the map, in another order: they count by position."""
    for table, name in ((X, "X"), (Y, "Y")):
        require_one_order(table, labels, (name, "labels"))


def coded(labels: Any, judged: Judged) -> tuple[Integers, Integers]:
    """Numbers of the labels of the rows that are compared, and how often each occurs."""
    if labels is None:
        raise InputError("labels are missing, and this measure compares labels of neighbours: pass one for each row.")
    values = np.asarray(labels)
    if values.dtype.kind in "US" and not isinstance(labels, np.ndarray):
        values = np.asarray(labels, dtype=object)  # in a list, NaN among words would become the word "nan"
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if judged.drawn is not None and values.shape == (judged.n_all,):
        values = values[judged.drawn]
    if values.shape != (judged.n_given,):
        raise InputError(
            f"labels have shape {values.shape}, but there are {judged.n_given} rows: pass one label for each row."
        )
    missing = np.flatnonzero([_is_missing(one) for one in values.tolist()])
    if missing.size:
        raise InputError(
            f"labels are missing for {missing.size} rows (the first is row {missing[0]}), and are no class: name them, "
            "or leave these rows out."
        )
    if values.dtype == object:  # words and numbers in one column have no order
        values = values.astype(str)
    _, codes, counts = np.unique(values[judged.kept], return_inverse=True, return_counts=True)
    return codes, counts


def _is_missing(label: Any) -> bool:
    # pandas' NA and NaT, which are not imported for that
    return label is None or type(label).__name__ in {"NAType", "NaTType"} or label != label
