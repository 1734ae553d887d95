"""A weighted graph that the user brings: a symmetric matrix of edge weights, checked once for all methods.

Where lengths are wanted, an edge of weight w has the length 1/w.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramfold.errors import InputError
from gramfold.neighbors.columns import as_table, numeric_table
from gramfold.neighbors.precomputed import LARGEST, NEGLIGIBLE, rounding_of
from gramfold.types import Floats, Graph, Integers, Neighbors

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_EDGES = "a weight is positive for an edge and 0 for none"


def checked_affinity(W: Any, n: int, name: str = "affinity") -> csr_array:
    """W as a canonical float64 CSR matrix of n vertices: symmetric, no stored zeros, its diagonal kept.

    `name` is what errors call it. Differences between W and Wᵀ that may be rounding are averaged, and weights that no
    eigensolver can tell from 0 beside the largest are 0.
    """
    W = as_table(W, name)
    shape = getattr(W, "shape", ())
    if shape and tuple(shape) != (n, n):
        raise InputError(
            f"{name} has the shape {tuple(shape)}, but there are {n} samples: pass a square matrix with one row and "
            "one column for each sample."
        )
    W = numeric_table(W, least_rows=1, name=name)
    given = csr_array(W, copy=True) if issparse(W) else csr_array(_dense(W, name))
    if given.dtype not in _FLOATS:
        given = given.astype(np.float64)
    given.sum_duplicates()
    _require_weights(given, name)
    rounding = rounding_of(given.data) if given.nnz else 0.0
    weights = given.astype(np.float64)
    np.maximum(weights.data, 0.0, out=weights.data)
    weights = _symmetric(weights, rounding, name)
    _require_ordinary(weights, name)
    weights.data[weights.data < NEGLIGIBLE * weights.data.max(initial=0.0)] = 0.0
    weights.eliminate_zeros()
    weights.sort_indices()
    _require_edges(weights, name)
    return weights


def _dense(W: Any, name: str) -> Floats:
    values = np.asarray(W)
    if values.dtype in _FLOATS:
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:  # missing values of pandas, numbers as text
        raise InputError(
            f"{name} holds values that are not numbers ({error}): pass a matrix of floats, 0 for no edge."
        ) from error


def graph_of_weights(W: csr_array, rows: Integers) -> Graph:
    """The graph of checked weights, whose vertices are these data rows; weights on the diagonal are no edges."""
    n = W.shape[0]
    first = np.repeat(np.arange(n), np.diff(W.indptr))
    edges = first != W.indices
    i, j = first[edges], W.indices[edges]
    indptr = np.concatenate(([0], np.cumsum(np.bincount(i, minlength=n))))
    # a weight near the smallest number has a length that is a number too
    lengths = 1.0 / np.maximum(W.data[edges], np.finfo(np.float64).tiny)
    nearest = np.lexsort((lengths, i))  # stable: the lower index at a tie
    neighbors = Neighbors(indptr, j[nearest].astype(np.intp), lengths[nearest], n)
    graph = csr_array((lengths, j, indptr), shape=(n, n))
    return Graph(graph, neighbors, None, np.ones(n), np.arange(n), rows)


def _require_weights(W: csr_array, name: str) -> None:
    """Refuse what is no weight."""
    bad = np.flatnonzero(~np.isfinite(W.data))
    if bad.size:
        value = "NaN" if np.isnan(W.data[bad[0]]) else "infinity"
        raise InputError(f"{name} contains {value} in entry {_entry(W, int(bad[0]))}: {_EDGES}; replace it.")
    if W.nnz and W.data.min() < -rounding_of(np.abs(W.data)):
        least = int(np.argmin(W.data))
        raise InputError(
            f"{name} contains the negative weight {W.data[least]:.3g} in entry {_entry(W, least)}: {_EDGES}; clip or "
            "shift the weights first."
        )


def _symmetric(W: csr_array, rounding: float, name: str) -> csr_array:
    """W itself, or (W + Wᵀ) / 2 where they differ by rounding."""
    turned = csr_array(W.T)
    difference = abs(W - turned)
    difference.eliminate_zeros()
    if not difference.nnz:
        return W
    most = int(np.argmax(difference.data))
    if difference.data[most] > rounding:
        i, j = _entry(difference, most)
        raise InputError(
            f"{name} is not symmetric: entry ({i}, {j}) is {W[i, j]:.6g} and entry ({j}, {i}) is {W[j, i]:.6g}, but an "
            "edge has one weight; pass (W + W.T) / 2."
        )
    return csr_array(0.5 * W + 0.5 * turned)


def _require_ordinary(W: csr_array, name: str) -> None:
    """Refuse weights whose powers overflow or vanish."""
    largest = float(W.data.max(initial=0.0))
    if largest > 0 and not 1.0 / LARGEST <= largest <= LARGEST:
        raise InputError(
            f"{name} has weights as large as {largest:.3g}, and weights must be between {1 / LARGEST:g} and "
            f"{LARGEST:g}: divide the matrix by its largest entry."
        )


def _require_edges(W: csr_array, name: str) -> None:
    """Refuse weights that join nobody."""
    if W.nnz == np.count_nonzero(W.diagonal()):
        raise InputError(
            f"{name} joins no two samples: its entries off the diagonal are all 0; pass the weights of the edges."
        )


def _entry(W: csr_array, stored: int) -> tuple[int, int]:
    """Row and column of a stored value."""
    return int(np.searchsorted(W.indptr, stored, side="right")) - 1, int(W.indices[stored])
