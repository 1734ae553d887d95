"""Classical multidimensional scaling: kernel PCA on centred squared distances.

    K = −½ P D² Pᵀ,  P = I − 1 cᵀ with Σ c = 1;    y(x) = Λ^-½ Vᵀ k_c(x, ·) with k(x, j) = −½ d(x, j)²

The origin of the map is Σ c_i x_i. Distances that are not Euclidean can be repaired first (kernels/mercer.py).
Torgerson, Psychometrika 17 (1952); Gower, Biometrika 53 (1966); Burges 2005, sections 2.2 and 2.2.1.
"""

from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import (
    Built,
    Embedding,
    Fit,
    Metrics,
    Model,
    Storage,
    Whole,
    judged,
    method,
    parameter,
)
from gramfold.errors import InputError
from gramfold.extension.distance_placement import DistancePlacement
from gramfold.extension.extrapolation import Ball
from gramfold.extension.table_source import TableSource
from gramfold.kernels.distances import Distances, StreamedSquares
from gramfold.kernels.mercer import CLIP_MATRICES, Repair, check_streamed, mercer_gram
from gramfold.kernels.streamed import stream_advice, stream_memory, stream_width, streams_rows
from gramfold.neighbors.duplicates import Collapse, collapse_distances, collapse_rows, no_duplicates
from gramfold.types import Floats

_SUM_ROUNDING = 1e-6  # of weights that a user may have in float32


@method
class ClassicalMDS(Metrics, Storage, Embedding):
    """Classical MDS: an embedding whose Euclidean distances approximate the given distances.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import ClassicalMDS
    >>> towns = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> places = ClassicalMDS(metric="precomputed").fit_transform(towns)
    >>> bool(np.isclose(np.linalg.norm(places[1] - places[2]), 5.0))
    True
    """

    repair: Repair | None = parameter(
        default=None,
        allowed=[StrOptions({"clip", "shift", "constant"}), None],
        words="""How distances that are not Euclidean are repaired, so that the kernel is positive semidefinite. None:
        not at all. "clip": set negative eigenvalues of the kernel to 0. "shift": add a constant to the squared
        distances. "constant": add a constant to the distances. Both constants are the smallest possible, and distances
        of 0 stay 0.""",
    )
    center: Floats | None = parameter(
        default=None,
        allowed=["array-like", None],
        words="""Weights of the rows, with sum 1: their weighted mean becomes the origin of the embedding. None: the
        plain mean. A weight of 1 for one row puts that row at the origin.""",
    )

    _sparse = "rows"

    def _build(self, fit: Fit) -> Model:
        dense = 8.0 * CLIP_MATRICES if self.repair == "clip" else 0.0
        fit.check_components(fit.X.shape[0])
        width, streams = stream_width(self.n_components), streams_rows(self.storage, "metric", fit.reads.precomputed)
        if streams:
            check_streamed(self.repair)

        def need(n: int, itemsize: int) -> float:
            return stream_memory(n, width) if streams else float(n) ** 2 * (itemsize + dense)

        stored_already = streams or fit.reads.precomputed or self.repair == "clip"
        fit.forecast(need, lambda: [] if stored_already else stream_advice(fit.X.shape[0], width))
        distances = Distances.of(fit.X, self.metric, self.metric_params)
        rows, given = distances.measured(fit.X), fit.reads.precomputed
        copies = fit.massive(self._copies(rows, given))
        fit.check_components(len(copies))
        first = copies.first
        points = rows if len(first) == rows.shape[0] else rows[np.ix_(first, first)] if given else rows[first]

        def kernel(_: Whole, fit: Fit) -> Built:
            squared: Floats | StreamedSquares = StreamedSquares(width, points, distances)
            if not streams:
                squared = distances.squares(points, points, fit.n_jobs, fit.stages, points.dtype)  # (n, n)
                np.fill_diagonal(squared, 0.0)
            center = None if self.center is None else weights_of(self.center, copies)
            gram = mercer_gram(squared, self.repair, mass=copies.multiplicity, center=center)
            carriers = None if len(first) == rows.shape[0] else first
            return Built(gram, DistancePlacement(distances, None if given else rows, carriers))

        known = (None, None, None) if given else (rows, distances.metric, None if fit.reads.mixed else Ball.of(rows))
        model = fit.solve_whole(
            TableSource(distances.unit, *known),
            kernel,
            degree=distances.degree,
            copies=copies,
        )
        return judged(fit, model, distances=True)

    def _copies(self, rows: Any, given: bool) -> Collapse:
        if self.repair is None:
            return no_duplicates(rows.shape[0])
        # a constant is added between different points only: duplicates must stay at distance 0
        return collapse_distances(rows) if given else collapse_rows(rows)


def weights_of(center: Floats, copies: Collapse) -> Floats:
    """Check the weights of the rows and sum them over duplicates."""
    n = len(copies.vertex)
    try:
        weights = np.asarray(center, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"center contains values that are not numbers ({error}): pass one weight for each row, with sum 1."
        ) from error
    if weights.shape != (n,):
        raise InputError(
            f"center has shape {weights.shape}, but X has {n} rows: pass one weight for each row, with sum 1."
        )
    total = float(weights.sum())
    if not abs(total - 1.0) <= _SUM_ROUNDING * np.abs(weights).sum():
        raise InputError(
            f"the weights in center sum to {total:.6g}, but a weighted mean needs weights with sum 1: divide them by "
            "their sum."
        )
    return np.asarray(np.bincount(copies.vertex, weights=weights), dtype=np.float64)
