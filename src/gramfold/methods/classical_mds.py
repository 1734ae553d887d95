"""Classical multidimensional scaling: kernel PCA on centred squared distances.

    K = −½ P D² Pᵀ,  P = I − 1 cᵀ with Σ c = 1;    y(x) = Λ^-½ Vᵀ k_c(x, ·) with k(x, j) = −½ d(x, j)²

The origin of the map is Σ c_i x_i. Distances that no space has are repaired first, where asked (kernels/mercer.py).
Torgerson, Psychometrika 17 (1952); Gower, Biometrika 53 (1966); Burges, sections 2.2 and 2.2.1.
"""

import numpy as np
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import Built, Embedding, Fit, Metrics, Model, Whole, judged, method, parameter
from gramfold.errors import InputError
from gramfold.extension.distance_placement import DistancePlacement
from gramfold.extension.extrapolation import Ball
from gramfold.extension.table_source import TableSource
from gramfold.kernels.distances import Distances
from gramfold.kernels.mercer import CLIP_MATRICES, Repair, mercer_gram, repaired_spectrum
from gramfold.neighbors.duplicates import Collapse, collapse_distances, collapse_rows, no_duplicates
from gramfold.types import Floats

_SUM_ROUNDING = 1e-6  # of weights that a user may have in float32


@method
class ClassicalMDS(Metrics, Embedding):
    """Classical multidimensional scaling of any distances.

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
        words="""What to do about distances that no Euclidean space has: nothing (None), drop the negative part of the
        kernel ("clip"), add a constant to their squares ("shift") or to the distances themselves ("constant"), the
        smallest that serves. Both leave distances of 0 alone.""",
    )
    center: Floats | None = parameter(
        default=None,
        allowed=["array-like", None],
        words="""Weights of the rows, with sum 1, whose weighted mean is the origin of the map and the point through
        which its axes run; None is the mean. One weight of 1 puts that row at the origin.""",
    )

    def _build(self, fit: Fit) -> Model:
        dense = 8.0 * CLIP_MATRICES if self.repair == "clip" else 0.0
        fit.check_components(fit.X.shape[0])
        fit.forecast(lambda n, itemsize: float(n) ** 2 * (itemsize + dense))
        distances = Distances.of(fit.X, self.metric, self.metric_params)
        rows, given = distances.measured(fit.X), fit.reads.precomputed
        copies = self._copies(rows, given)
        fit.check_components(len(copies))
        first = copies.first
        points = rows if len(first) == len(rows) else rows[np.ix_(first, first)] if given else rows[first]

        def kernel(_: Whole, fit: Fit) -> Built:
            squared = distances.squares(points, points, fit.n_jobs, fit.stages, points.dtype)  # (n, n)
            np.fill_diagonal(squared, 0.0)
            center = None if self.center is None else weights_of(self.center, copies)
            gram = mercer_gram(squared, self.repair, mass=copies.multiplicity, center=center)
            carriers = None if len(first) == len(rows) else first
            return Built(gram, DistancePlacement(distances, None if given else rows, carriers))

        known = (None, None, None) if given else (rows, distances.metric, Ball.of(rows))
        model = fit.solve_whole(
            TableSource(distances.unit, *known),
            kernel,
            degree=distances.degree,
            copies=copies,
            choose=repaired_spectrum,
        )
        return judged(fit, model, distances=True)

    def _copies(self, rows: Floats, given: bool) -> Collapse:
        if self.repair is None:
            return no_duplicates(len(rows))
        # a constant keeps different points apart, and copies of one point together
        return collapse_distances(rows) if given else collapse_rows(rows)


def weights_of(center: Floats, copies: Collapse) -> Floats:
    """The weights of the rows, checked, over the distinct ones."""
    n = len(copies.vertex)
    try:
        weights = np.asarray(center, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"center holds something else than numbers ({error}): pass one weight for each row, with sum 1."
        ) from error
    if weights.shape != (n,):
        raise InputError(
            f"center has the shape {weights.shape} and there are {n} rows: pass one weight for each row, with sum 1."
        )
    total = float(weights.sum())
    if not abs(total - 1.0) <= _SUM_ROUNDING * np.abs(weights).sum():
        raise InputError(
            f"the weights in center sum to {total:.6g}, and only weights with sum 1 make a centre: divide them by "
            "their sum."
        )
    return np.asarray(np.bincount(copies.vertex, weights=weights), dtype=np.float64)
