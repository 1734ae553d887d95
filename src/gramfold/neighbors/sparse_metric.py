"""Euclidean and cosine distances of sparse rows, none of which is made dense.

Distances of pairs are sums of squared differences over the columns that either row has, in float64; those of all pairs
come from products, and from differences where these cancel.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_array

from gramfold.errors import InputError
from gramfold.neighbors.sparse_products import Products
from gramfold.neighbors.sparse_rows import as_sparse, canonical, squared_lengths
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Integers

_PAIRS_PER_BLOCK = 20_000
_CANCELS = 1e-3  # |x − y|² below this share of |x|² + |y|² is computed from differences
_ENTRIES_PER_BLOCK = 1_000_000
_LARGEST = 1e150  # beyond, squared differences overflow


def refuse_sparse(name: str | Callable[..., float]) -> NoReturn:
    """Say that a metric is not known for sparse rows."""
    raise InputError(
        f"metric={name if callable(name) else repr(name)} is not available for sparse rows: use 'euclidean' or "
        "'cosine', reduce the columns first (sklearn.decomposition.TruncatedSVD), or pass X.toarray() if that fits in "
        "memory."
    )


def prepared_rows(X: Any, angular: bool) -> csr_array:
    """Rows as the search uses them: in the canonical form, and of unit length for the cosine metric."""
    rows = as_sparse(X)
    largest = float(max(rows.data.max(initial=0), -rows.data.min(initial=0)))
    if largest > _LARGEST:
        raise InputError(f"X holds values up to {largest:.1e}, whose distances overflow: divide X by a constant.")
    if not angular:
        return rows
    counts = np.diff(rows.indptr)
    lost = np.flatnonzero(counts == 0)
    if lost.size:
        raise InputError(
            f"row {lost[0]} is all zeros and has no direction ({lost.size} such rows), so its cosine distance is not "
            "defined: remove these rows or use another metric."
        )
    values = rows.data.astype(np.float64)
    values /= np.repeat(np.maximum.reduceat(np.abs(values), rows.indptr[:-1]), counts)  # so that no square overflows
    wide = csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
    values /= np.repeat(np.sqrt(squared_lengths(wide)), counts)
    units = csr_array((values.astype(rows.dtype, copy=False), rows.indices, rows.indptr), shape=rows.shape)
    return canonical(units)  # a value that is 0 beside the largest of its row


def sparse_pairs(
    left: csr_array, i: Integers, right: csr_array, j: Integers, angular: bool, n_jobs: int | None
) -> Floats:
    """Distances of the prepared rows left[i] and right[j], from differences."""
    from gramfold.neighbors.sparse_kernels import pair_distances

    out = np.empty(len(i))

    def work(part: slice) -> None:
        pair_distances(
            left.indptr, left.indices, left.data, i[part], right.indptr, right.indices, right.data, j[part], angular,
            out[part],
        )  # fmt: skip

    run_blocks(work, blocks(len(i), _PAIRS_PER_BLOCK), n_jobs)
    return out


def sparse_block(left: Any, right: Any, angular: bool) -> Floats:
    """All distances (m, n) between two sets of raw rows."""
    asked, rows = prepared_rows(left, angular), prepared_rows(right, angular)
    if asked.shape[0] == 1:
        return sparse_pairs(asked, np.zeros(rows.shape[0], np.intp), rows, np.arange(rows.shape[0]), angular, 1)[None]
    products, own = Products.of(rows), squared_lengths(asked)
    found = np.empty((asked.shape[0], rows.shape[0]))
    for part in beats(blocks(asked.shape[0], max(1, _ENTRIES_PER_BLOCK // rows.shape[0]))):
        sums = own[part, None] + products.squares
        squared = sums - 2.0 * products.wide(asked[part], own[part]).products
        near = np.nonzero(squared < _CANCELS * sums)
        distances = 0.5 * squared if angular else np.sqrt(np.maximum(squared, 0.0))
        distances[near] = sparse_pairs(asked[part], near[0], rows, near[1], angular, n_jobs=1)
        found[part] = distances
    return found
