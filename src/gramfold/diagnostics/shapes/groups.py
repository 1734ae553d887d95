"""Groups: peaks of the density with valleys between them that chance does not make.

    density at a row, up to a factor:  r^−d,  r the distance to its k-th neighbour, d the dimension there

Rows join the densest of their neighbours in the graph, densest first; where two peaks meet, the lower one is given up
if it rises above the meeting row by less than a threshold (Chazal, Guibas, Oudot, Skraba, Journal of the ACM 60, 2013).
Of evenly spread rows k / (n V r^d) has a logarithm of standard deviation 1/√k. The largest of n such deviations is near
√(2 ln n) of them; a peak may be read so much too high and a valley so much too low:

    threshold = 2 √(2 ln n / k)   of the logarithm of the density

A sheet or a normal cloud have one peak by this. Where branches of a curve meet, rows are denser without being a group:
so curves are looked for before valleys are, and only parts that no edge connects are groups before that.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramfold.diagnostics.shapes.cloud import Cloud
from gramfold.types import Floats, Integers

_COUNTED = 15  # neighbours that the density is read from, ...
_SHARE = 6  # ... but at most one in so many rows
_LEAST_ROWS, _LEAST_SHARE = 10, 0.02  # of a group
_NEARLY_ALL = 0.98  # of the rows of a group, which have one value of a column


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of some rows, largest first."""

    sizes: list[int]
    mixed: float  # share of the neighbours of the rows of groups that are in another one
    depth: float  # logarithm of how much denser the lowest peak is than the valley beside it
    threshold: float
    n_parts: int  # of them that no edge connects
    label: Integers  # (m,) the group of each row; −1 for rows of none

    def __len__(self) -> int:
        return len(self.sizes)


def groups_of(cloud: Cloud, share: float = 1.0) -> Groups:
    """One group where there is no valley deeper than a share of the threshold."""
    k = int(np.clip(len(cloud) // _SHARE, 1, _COUNTED))
    _, reach = cloud.lists(k)
    at = min(int(np.searchsorted(cloud.scales.n_neighbors, k)), len(cloud.scales) - 1)
    d = float(max(cloud.scales.value[at], 1.0))
    thin = d * np.log(reach[:, -1])
    threshold = share * 2.0 * float(np.sqrt(2.0 * np.log(len(cloud)) / k))
    label, depths = basins(cloud.graph, thin, threshold)
    names, counts = np.unique(label, return_counts=True)
    least = max(_LEAST_ROWS, _LEAST_SHARE * len(cloud))
    large = counts >= least
    inside = np.isin(label, names[large])
    near, _ = cloud.lists(cloud.n_edges)
    mixed = float(np.mean(label[near[inside]] != label[inside][:, None])) if inside.any() else 0.0
    sizes = sorted((int(count) for count in counts[large]), reverse=True)
    peaks = sorted((depths.get(int(name), np.inf) for name in names[large]), reverse=True)
    _, part = connected_components(cloud.graph, directed=False)
    n_parts = int((np.bincount(part) >= least).sum())
    return Groups(
        sizes, mixed, float(peaks[-1]) if len(peaks) > 1 else 0.0, threshold, n_parts, np.where(inside, label, -1)
    )


def columns_of(label: Integers, table: Floats) -> list[int]:
    """The columns whose values are the groups, alone or together; none where groups differ in other ways.

    Such a column has one value in nearly all rows of each group.
    """
    names = [name for name in np.unique(label) if name >= 0]
    found: list[int] = []
    values: list[tuple[float, ...]] = [() for _ in names]
    for j, column in enumerate(table.T):
        usual = [_usual(column[label == name]) for name in names]
        if all(share >= _NEARLY_ALL for _, share in usual) and len({value for value, _ in usual}) > 1:
            found.append(j)
            values = [(*before, value) for before, (value, _) in zip(values, usual, strict=True)]
    return found if len(set(values)) == len(names) else []


def _usual(column: Floats) -> tuple[float, float]:
    """The most frequent value, and its share; a gap (NaN) is a value too."""
    values, counts = np.unique(column, return_counts=True)
    most = int(np.argmax(counts))
    value = float(values[most])
    return (np.inf if np.isnan(value) else value), float(counts[most] / len(column))


def basins(graph: csr_array, thin: Floats, threshold: float) -> tuple[Integers, dict[int, float]]:
    """The peak that each row belongs to, (n,), and how far each peak but the highest rises above its valley.

    `thin` is the negative logarithm of the density. A peak without a valley (in another connected component) has none.
    """
    n = len(thin)
    rank = np.empty(n, dtype=np.intp)
    order = np.argsort(thin, kind="stable")
    rank[order] = np.arange(n)
    parent = np.arange(n)
    depths: dict[int, float] = {}

    def peak(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for row in order:
        near = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
        near = near[rank[near] < rank[row]]
        if not near.size:
            continue
        parent[row] = peak(int(near[np.argmin(rank[near])]))
        meeting = sorted({peak(int(other)) for other in near}, key=lambda one: rank[one])
        for lower in meeting[1:]:
            depth = float(thin[row] - thin[lower])
            if depth < threshold:
                parent[lower] = peak(meeting[0])
            else:
                depths.setdefault(lower, depth)
    return np.array([peak(row) for row in range(n)]), depths
