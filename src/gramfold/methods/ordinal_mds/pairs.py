"""All pairs i < j, each once, in the order of scipy.spatial.distance.pdist."""

import numpy as np

from gramfold.errors import InputError
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.precomputed import ASYMMETRY
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats

_ENTRIES_PER_BLOCK = 1_000_000


def pairs_of_rows(rows: Floats, metric: Metric, n_jobs: int | None = None, stages: Stages = SILENT) -> Floats:
    """The distance of each pair of rows, (n(n − 1)/2,)."""
    n = len(rows)
    out = np.empty(n * (n - 1) // 2)

    def work(part: slice) -> None:
        distances = metric.block(rows[part], rows[part.start :])
        for row, i in enumerate(range(part.start, part.stop)):
            out[_pairs_of(i, n)] = distances[row, row + 1 :]

    run_blocks(work, blocks(n, max(1, _ENTRIES_PER_BLOCK // n)), n_jobs, stages=stages, what="distances")
    return out


def pairs_of_matrix(D: Floats) -> Floats:
    """The entry of each pair in a symmetric matrix.

    Where rounding made the two entries of a pair differ it is the larger: that choice depends on neither the order
    of the rows nor an increasing transform of the entries, as a mean would.
    """
    n = len(D)
    out = np.empty(n * (n - 1) // 2)
    for i in range(n):
        np.maximum(D[i, i + 1 :], D[i + 1 :, i], out=out[_pairs_of(i, n)])
    return out


def _pairs_of(i: int, n: int) -> slice:
    """Where the pairs (i, i + 1), …, (i, n − 1) stand."""
    start = i * n - i * (i + 1) // 2
    return slice(start, start + n - i - 1)


def check_dissimilarities(D: Floats) -> None:
    """One sentence for whatever makes a matrix none of dissimilarities, of which only the order counts.

    They may be negative, and the diagonal need not be 0: a point is only never farther from itself than from others.
    """
    if D.shape[0] != D.shape[1]:
        raise InputError(
            f"metric='precomputed' needs a square matrix of dissimilarities and got {D.shape[0]} x {D.shape[1]}: pass "
            "those of all pairs, or use another metric for a table of rows."
        )
    diagonal = np.diag(D)
    farther = np.flatnonzero(D.min(axis=1) < diagonal)
    if farther.size:
        row = int(farther[0])
        raise InputError(
            f"row {row} of the precomputed matrix has {diagonal[row]:.3g} on the diagonal and {D[row].min():.3g} "
            "elsewhere, so a point is less like itself than like another: pass dissimilarities (1 − similarity, for "
            "instance), with a diagonal that is not above them."
        )
    tolerance = max(ASYMMETRY, 10 * float(np.finfo(D.dtype).eps)) * float(np.abs(D).max())
    for part in blocks(len(D), max(1, _ENTRIES_PER_BLOCK // len(D))):
        difference = np.abs(D[part] - D[:, part].T)
        if difference.max() > tolerance:
            row, j = (int(k) for k in np.unravel_index(int(np.argmax(difference)), difference.shape))
            i = part.start + row
            raise InputError(
                f"the precomputed matrix is not symmetric: entry ({i}, {j}) is {D[i, j]:.6g} and entry ({j}, {i}) is "
                f"{D[j, i]:.6g}; use (D + D.T) / 2 if both mean the same dissimilarity."
            )
