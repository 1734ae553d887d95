"""All pairs i < j, each once, in the order of scipy.spatial.distance.pdist."""

import numpy as np

from gramfold.errors import InputError
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.precomputed import ASYMMETRY
from gramfold.runtime.progress import SILENT, Stages, beats
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats

ENTRIES_PER_BLOCK = 1_000_000


def pairs_of_rows(rows: Floats, metric: Metric, n_jobs: int | None = None, stages: Stages = SILENT) -> Floats:
    """The distance of each pair of rows, (n(n − 1)/2,)."""
    n = len(rows)
    out = np.empty(n * (n - 1) // 2)

    def work(part: slice) -> None:
        distances = metric.block(rows[part], rows[part.start :])
        for row, i in enumerate(range(part.start, part.stop)):
            out[_pairs_of(i, n)] = distances[row, row + 1 :]

    run_blocks(work, blocks(n, max(1, ENTRIES_PER_BLOCK // n)), n_jobs, stages=stages, what="distances")
    return out


def pairs_of_matrix(D: Floats) -> Floats:
    """The entry of each pair in a symmetric matrix.

    Where rounding made the two entries of a pair differ it is the larger: unlike a mean, that depends neither on the
    order of the rows nor on an increasing transform of the entries.
    """
    n = len(D)
    out = np.empty(n * (n - 1) // 2)
    for i in range(n):
        np.maximum(D[i, i + 1 :], D[i + 1 :, i], out=out[_pairs_of(i, n)])
    return out


def _pairs_of(i: int, n: int) -> slice:
    """The positions of the pairs (i, i + 1), …, (i, n − 1)."""
    start = i * n - i * (i + 1) // 2
    return slice(start, start + n - i - 1)


def known_dissimilarities(D: Floats, weights: Floats | None) -> Floats:
    """D with NaN for the pairs of weight 0; refuses what is not a matrix of dissimilarities.

    They may be negative, and the diagonal need not be 0: it must only not be above the others of its row.
    """
    _check_square(D)
    if weights is not None:
        unknown = weights == 0
        np.fill_diagonal(unknown, val=False)
        D = np.where(unknown, D.dtype.type(np.nan), D)
    _check_missing(D, weights)
    _check_diagonal(D)
    _check_symmetric(D)
    return D


def _check_square(D: Floats) -> None:
    if D.shape[0] != D.shape[1]:
        raise InputError(
            f"metric='precomputed' needs a square matrix of dissimilarities, but got {D.shape[0]} x {D.shape[1]}: pass "
            "those of all pairs, or use another metric for a table of rows."
        )


def _check_missing(D: Floats, weights: Floats | None) -> None:
    missing = np.isnan(D) if weights is None else np.isnan(D) & (weights > 0)
    np.fill_diagonal(missing, val=False)  # which is no pair
    if not missing.any():
        return
    i, j = (int(k) for k in np.argwhere(missing)[0])
    what = "is not known" if weights is None else "is not known but has a weight"
    raise InputError(
        f"the precomputed matrix contains NaN in row {i}, column {j} ({np.count_nonzero(missing):,} in all), so this "
        f"pair {what}: give such pairs weight 0 in fit(..., pair_weights=W), or fill them in."
    )


def _check_diagonal(D: Floats) -> None:
    diagonal, least = np.diag(D), np.fmin.reduce(D, axis=1)
    above = np.flatnonzero(least < diagonal)
    if above.size:
        row = int(above[0])
        raise InputError(
            f"row {row} of the precomputed matrix has {diagonal[row]:.3g} on the diagonal and a smaller value, "
            f"{least[row]:.3g}, elsewhere: pass dissimilarities, not similarities (for instance 1 − similarity). "
            "The diagonal entry must be the smallest of its row."
        )


def _check_symmetric(D: Floats) -> None:
    tolerance = max(ASYMMETRY, 10 * float(np.finfo(D.dtype).eps)) * float(np.nanmax(np.abs(D)))
    for part in beats(blocks(len(D), max(1, ENTRIES_PER_BLOCK // len(D)))):
        difference = np.abs(D[part] - D[:, part].T)
        if np.fmax.reduce(difference, axis=None) > tolerance:
            row, j = (int(k) for k in np.unravel_index(int(np.nanargmax(difference)), difference.shape))
            i = part.start + row
            raise InputError(
                f"the precomputed matrix is not symmetric: entry ({i}, {j}) is {D[i, j]:.6g} and entry ({j}, {i}) is "
                f"{D[j, i]:.6g}; use (D + D.T) / 2 if both mean the same dissimilarity."
            )
