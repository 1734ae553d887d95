"""How far the difference of two maps is known.

A measure of a map is a mean over pairs of rows. Two maps of the same rows differ by D, a sum of what each ordered pair
adds, e_ij, beyond its mean. Pairs that share a row vary together: where one row lies decides on all of its pairs, as a
neighbour and as one who has neighbours. So, with S_i = Σ_j (e_ij + e_ji),

    Var D = Σ_i S_i² − Σ_ij e_ij²        (the products of pairs with a row in common; of a pair and its reverse twice)

The spread of the values of rows, as if these were independent, is too small, for neighbours kept by up to a half. Where
all pairs count, the sums S_i of the influences of pairs (rank_correlation.py) are enough: the second
sum is small beside the first.

Fafchamps, Gubert, Journal of Development Economics 83 (2007); Aronow, Samii, Assenova, Political Analysis 23 (2015).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.diagnostics.four_faults import Fault
from gramfold.diagnostics.intervals import half_width, mean_variance
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.labels import coded
from gramfold.diagnostics.rank_correlation import RankCorrelation
from gramfold.types import Floats, Neighbors


@dataclass(frozen=True, eq=False)
class Added:
    """What pairs of rows, or all pairs of a row together, add to a measure beyond their mean."""

    by_row: Floats  # (n,) S_i
    by_pair: csr_array | None = None  # (n, n) e_ij; None where all pairs count
    drawn: float = 0.0  # standard error from rows that were not drawn

    def noise(self, other: "Added") -> float:
        """Half of the 95% interval of the difference of two maps of the same rows."""
        variance = float(np.sum((self.by_row - other.by_row) ** 2)) + (self.drawn + other.drawn) ** 2
        if self.by_pair is not None and other.by_pair is not None:
            variance -= float(np.sum((self.by_pair - other.by_pair).data ** 2))
        return half_width(variance, len(self.by_row) - 1)


def added_locally(judged: Judged) -> Added:
    """To `r_nx`: whether each of the nearest in the data is among the nearest on the map."""
    n, k = judged.n, judged.n_neighbors
    in_data, on_map = (lists.indices.astype(np.int64) + n * lists.rows for lists in (judged.in_data, judged.on_map))
    kept = np.isin(in_data, on_map).astype(np.float64)
    return _of_lists(judged.in_data, kept, (n - 1) / (n - 1 - k))


def added_to_clusters(judged: Judged, labels: Any) -> Added:
    """To `neighborhood_purity`: whether each of the nearest on the map has the same label."""
    codes, _ = coded(labels, judged)
    lists = judged.on_map
    same = codes[lists.rows] == codes[lists.indices]
    return _of_lists(lists, same.astype(np.float64), 1.0)


def added_globally(judged: Judged, found: RankCorrelation) -> Added:
    """To `distance_correlation`: the influences of the pairs of each row."""
    by_row = np.zeros(judged.n)
    for rows, values in zip((judged.rows, found.pairs.columns), found.influences, strict=True):
        by_row[rows] += (values - values.mean()) / len(rows)
    return Added(by_row)


def added_to_edges(judged: Judged, strained: Fault) -> Added:
    """To the strain, the root of the mean of the squares v_i of rows: its derivative by these, and their own part.

    A row has a part in its own edges, and in those of the rows that it is a neighbour of. Both are counted as its own,
    which is on the safe side.
    """
    squares = strained.per_point[judged.kept] ** 2
    known = np.flatnonzero(~np.isnan(squares))  # of the rows drawn, those that have a place of their own
    by_row = np.zeros(judged.n)
    if strained.total <= judged.n * np.finfo(np.float64).eps:  # no length is changed
        return Added(by_row)
    values, m = squares[known], len(known)
    n = judged.n * m / len(judged.rows)  # such rows, of which these were drawn
    # half, the derivative of the root, and twice, since an edge has two rows; the rows drawn stand for all
    by_row[known] = (values - values.mean()) / strained.total / np.sqrt(n * m)
    drawn = 0.5 / strained.total * np.sqrt(mean_variance(values, round(n)))
    return Added(by_row, None, float(drawn))


def _of_lists(lists: Neighbors, values: Floats, scale: float) -> Added:
    n = len(lists)
    added = scale * (values - values.mean()) / len(values)
    pairs = csr_array((added, lists.indices, lists.indptr), shape=(n, n))
    return Added(np.asarray(pairs.sum(axis=0) + pairs.sum(axis=1), dtype=np.float64), pairs)
