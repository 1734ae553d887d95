"""How good a way back is: rows that it has not seen, rebuilt from their places.

error = ‖rebuilt − row‖ / ‖row − mean row‖, both over all judged rows

And whether a map of all space is one between the rows too: midway along the edges of their graph it should be somewhere
between the places of the ends.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import RankWarning
from gramfold.kernels.transformational import TransformationalMap
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph

_FOLDS = 5
_SAMPLE = 500  # rows judged at most
_EDGES = 5_000  # edges judged at most: a map that is wild at one in a hundred should be found out
_SEED = 0
# Midway between neighbours a continuous map is near the middle of their places. With enough rows for each function it
# was off by at most 0.6 of its spread on 99 of 100 edges, and held-out rows came back; off by 1 and more they did not.
_FAR_OFF, _EDGES_ALLOWED = 1.0, 0.01


def judged_sample(n: int, most: int = _SAMPLE) -> np.ndarray:
    """The rows that are judged: all, or a few hundred evenly spaced."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def cross_validated(fit: Callable[[Floats, Any], Callable[[Floats], Any]], places: Floats, rows: Any) -> float:
    """The error of rows left out of a fit, in five turns: each row is left out once."""
    n = len(places)
    # drawn, not in turn: rows in some order would leave out whole stretches of it
    fold = np.random.default_rng(_SEED).permutation(n) % min(_FOLDS, n)
    judged = judged_sample(n)
    misfit = 0.0
    for turn in range(fold.max() + 1):
        left = judged[fold[judged] == turn]
        if left.size:
            way = fit(places[fold != turn], rows[fold != turn])
            misfit += frobenius(way(places[left]) - rows[left]) ** 2
    return relative(np.sqrt(misfit), rows[judged], rows)


def midway_misfits(graph: Graph, rows: Floats, places: Floats, way: Callable[[Floats], Floats]) -> Floats:
    """How far midway along edges a map is from the middle of their ends' places, in units of all places' spread.

    `rows` and `places` are of the vertices. Of very many edges some thousand are judged.
    """
    edges = graph.lengths.tocoo()
    once = np.flatnonzero(edges.row < edges.col)
    once = once[judged_sample(len(once), _EDGES)]
    i, j = edges.row[once], edges.col[once]
    off = way(0.5 * (rows[i].astype(np.float64) + rows[j])) - 0.5 * (places[i] + places[j])
    spread = frobenius(places - places.mean(axis=0)) / np.sqrt(len(places))
    return np.asarray(np.linalg.norm(off, axis=1) / spread) if spread > 0 else np.zeros(len(off))


def midway_error(graph: Graph, points: Floats, found: TransformationalMap) -> float:
    """Which of these misfits 99 of 100 edges stay below, with a warning where it is large.

    With too few rows for its functions any graph can be embedded, by a map that swings between the rows.
    """
    off = midway_misfits(graph, points[graph.rows], found.places, found.unbounded)
    share = float(np.mean(off > _FAR_OFF))
    if share > _EDGES_ALLOWED:
        warn(
            f"the map overfits: at the midpoints of {share:.0%} of the edges it deviates from linear interpolation by "
            f"more than the spread of the embedding, because {len(graph)} distinct rows are too few for "
            f"{found.kernel.basis.size} basis functions. Use a smaller n_kernels or local_dim, or centers='kmeans'.",
            RankWarning,
        )
    return float(np.quantile(off, 1 - _EDGES_ALLOWED))


def relative(misfit: float, judged: Any, rows: Any) -> float:
    """A misfit of the judged rows as a share of their spread about the mean of all rows."""
    spread = _spread(judged, np.asarray(rows.mean(axis=0, dtype=np.float64)).ravel())
    return float(misfit) / spread if spread > 0 else 0.0


def _spread(rows: Any, mean: Floats) -> float:
    """‖rows − mean‖, without making sparse rows dense."""
    if not issparse(rows):
        return frobenius(rows - mean)
    squared = frobenius(rows) ** 2 - 2 * float((rows @ mean).sum()) + rows.shape[0] * float(mean @ mean)
    return float(np.sqrt(max(squared, 0.0)))


def frobenius(matrix: Any) -> float:
    """√Σ a_ij² in float64."""
    values = matrix.data if issparse(matrix) else matrix
    return float(np.linalg.norm(np.asarray(values, dtype=np.float64)))
