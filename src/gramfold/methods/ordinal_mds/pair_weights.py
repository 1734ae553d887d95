"""Pair weights: how much each pair of rows counts in the stress.

    stress² = Σ w_ij (d_ij − d̂_ij)² / Σ w_ij d_ij²,   over pairs i < j of data rows

A weight of 0 means that the dissimilarity is not known or does not count. Identical rows are one vertex. All pairs of
rows i in a and j in b then have one dissimilarity, one distance and so one disparity, and their terms add up to
W_ab (d_ab − d̂_ab)² with W_ab = Σ_{i in a, j in b} w_ij. Pairs of rows of one vertex lie at distance 0 and have the
least dissimilarity. With primary ties their disparity is 0 and so is their term; with secondary ties it is the mean of
their group, in which they count with Σ_a Σ_{i<j in a} w_ij in all (see `monotone`).

Only ratios of weights count: they are divided by the mean of those that are positive. Equal weights are no weights.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from gramfold.errors import DisconnectedGraphError, InputError
from gramfold.methods.ordinal_mds.pairs import ENTRIES_PER_BLOCK, pairs_of_matrix
from gramfold.neighbors.columns import as_table, numeric_table
from gramfold.neighbors.duplicates import Collapse
from gramfold.neighbors.precomputed import ASYMMETRY
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

_NAME = "pair_weights"


@dataclass(frozen=True)
class PairWeights:
    """Weights of the pairs of vertices."""

    pairs: Floats  # (n(n − 1)/2,)
    copies: float  # of the pairs of identical rows, in all

    @classmethod
    def equal(cls, copies: Collapse) -> Self:
        """Every pair of data rows has weight 1."""
        mass = copies.multiplicity
        return cls(pairs_of_matrix(np.multiply.outer(mass, mass)), float(mass @ (mass - 1.0)) / 2.0)

    @classmethod
    def summed(cls, weights: Floats, copies: Collapse) -> Self:
        """Of the weights (n_rows, n_rows) of data rows."""
        if len(copies) == len(weights):
            _check_connected(weights, copies)
            return cls(pairs_of_matrix(weights), 0.0)
        rows = np.arange(len(weights))
        member = csr_array((np.ones(len(rows)), (copies.vertex, rows)), shape=(len(copies), len(rows)))
        sums = member @ (member @ weights).T  # (n, n), its diagonal twice the weight of the pairs of copies
        _check_connected(sums, copies)
        return cls(pairs_of_matrix(sums), float(np.trace(sums)) / 2.0)


def read_pair_weights(given: Any, n: int) -> Floats | None:
    """Weights (n, n), 0 on the diagonal, with a mean of 1 where they are positive; None if all are equal."""
    if given is None:
        return None
    weights = _as_matrix(given, n)
    np.fill_diagonal(weights, 0.0)  # which is no pair, and may hold anything
    _check_values(weights)
    _symmetrize(weights)
    largest = float(weights.max())
    if largest == 0:
        raise InputError(
            f"{_NAME} are 0 for every pair, so no dissimilarity counts: give known pairs a weight above 0."
        )
    if np.count_nonzero(weights == largest) == n * (n - 1):
        return None
    weights /= largest  # first, as sums of large numbers overflow
    weights /= weights.sum() / np.count_nonzero(weights)
    return weights


def _as_matrix(given: Any, n: int) -> Floats:
    """A dense copy."""
    table = as_table(given, _NAME)
    shape = getattr(table, "shape", None)
    if shape is None or tuple(shape) != (n, n):
        found = f"a {type(table).__name__}" if shape is None else f"of shape {tuple(shape)}"
        raise InputError(
            f"{_NAME} is {found}, but X has {n} rows: pass an array of shape ({n}, {n}) with the weight of each pair "
            "of rows."
        )
    table = numeric_table(table, least_rows=1, name=_NAME)
    if issparse(table):
        return np.asarray(table.toarray(), dtype=np.float64)
    return np.asarray(check_array(table, dtype=np.float64, copy=True, ensure_all_finite=False, input_name=_NAME))


def _check_values(weights: Floats) -> None:
    if np.isfinite(weights).all() and weights.min() >= 0:
        return
    i, j = (int(k) for k in np.argwhere(~(np.isfinite(weights) & (weights >= 0)))[0])
    raise InputError(
        f"{_NAME} has {weights[i, j]:.3g} in row {i}, column {j}: weights must be finite and at least 0; use 0 where a "
        "dissimilarity is not known."
    )


def _symmetrize(weights: Floats) -> None:
    """In place; refuses what is more than rounding."""
    tolerance = ASYMMETRY * float(weights.max())
    for part in blocks(len(weights), max(1, ENTRIES_PER_BLOCK // len(weights))):
        other = weights[:, part].T.copy()
        difference = np.abs(weights[part] - other)
        if difference.max() > tolerance:
            row, j = (int(k) for k in np.unravel_index(int(np.argmax(difference)), difference.shape))
            i = part.start + row
            raise InputError(
                f"{_NAME} is not symmetric: entry ({i}, {j}) is {weights[i, j]:.6g} and entry ({j}, {i}) is "
                f"{weights[j, i]:.6g}; use (W + W.T) / 2, or np.maximum(W, W.T) for weights in one triangle."
            )
        weights[part] = 0.5 * weights[part] + 0.5 * other
        weights[:, part] = weights[part].T


def _check_connected(weights: Floats, copies: Collapse) -> None:
    """Refuse vertices between which there is no path of pairs with a weight."""
    reached = np.zeros(len(weights), dtype=bool)
    reached[0] = True
    waiting = [0]
    while waiting:
        new = np.flatnonzero((weights[waiting.pop()] > 0) & ~reached)
        reached[new] = True
        waiting.extend(new.tolist())
    if not reached.all():
        other = int(copies.first[np.argmin(reached)])
        raise DisconnectedGraphError(
            f"no path of pairs with a weight above 0 connects row 0 to row {other}, so their relative position is "
            f"undefined: give more pairs a weight in {_NAME}, or embed the connected components separately (row 0 is "
            f"connected to {int(reached.sum()) - 1:,} of {len(reached) - 1:,} other distinct rows)."
        )
