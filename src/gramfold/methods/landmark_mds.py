"""Landmark MDS: classical MDS of a few landmarks; all other rows are embedded by their distances to them.

    K = −½ H D_ℓ² H over the landmarks;    any point: y = −½ Λ^-½ Vᵀ (d²(x, ·) − means of D_ℓ²)

de Silva, Tenenbaum, NIPS 15 (2003); Burges 2005, section 2.2.3.
"""

from functools import partial
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import (
    Built,
    Embedding,
    Fit,
    Metrics,
    Model,
    Whole,
    attribute,
    judged,
    method,
    parameter,
    refuse_weights,
)
from gramfold.extension.distance_placement import DistancePlacement
from gramfold.extension.extrapolation import Ball
from gramfold.extension.table_source import TableSource
from gramfold.kernels.distances import Distances
from gramfold.kernels.gram import landmark_gram
from gramfold.kernels.landmarks import check_width, choose_landmarks, given_landmarks
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Integers

_WITHOUT_WEIGHTS = "its landmarks are rows without a mass, and a row that is given twice changes nothing"


@method
class LandmarkMDS(Metrics, Embedding):
    """Landmark MDS: classical MDS of landmarks; other rows are embedded by their distances to them.

    Examples
    --------
    >>> from gramfold import LandmarkMDS
    >>> from gramfold.datasets import make_torus
    >>> torus = make_torus(5000, random_state=0)
    >>> model = LandmarkMDS(3, landmarks=50, metric="cityblock").fit(torus.points)
    >>> model.kernel_.shape, model.embedding_.shape
    ((50, 50), (5000, 3))
    """

    landmarks: Any = parameter(
        default=100,
        allowed=[Interval(Integral, 2, None, closed="left"), "array-like"],
        words="""Number of landmarks, or the indices of the rows that are landmarks. The kernel is over the landmarks,
        and the other rows are embedded by their distances to them.""",
    )
    landmark_choice: Literal["maxmin", "random"] = parameter(
        default="maxmin",
        allowed=[StrOptions({"maxmin", "random"})],
        words="""How landmarks are selected. "maxmin": farthest-point sampling, each landmark is the row farthest from
        those already selected. "random": rows at random.""",
    )
    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""Distance between rows: the name of a metric of scipy.spatial.distance, "gower" (X may hold numbers,
        categories and gaps), a function of two rows, a function of two blocks of rows (`gramfold.blockwise`), or
        "precomputed". If "precomputed", X holds the distances between all rows or, if `landmarks` is a list of indices,
        from all rows to the landmarks, with one column for each landmark.""",
    )

    landmarks_ = attribute(
        "ndarray of int",
        """Indices of the rows that are landmarks, in the order of `kernel_`; after a fit on rows in partitions indices
        of `sample_`.""",
    )

    def fit(self, X: Any, y: Any = None, **refused: Any) -> Self:  # type: ignore[override]
        """Embed the rows of X by their distances to landmarks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``metric="precomputed"``, their distances.
        y : ignored
            Not used, present for API consistency with scikit-learn.
        **refused : dict
            `sample_weight` is refused, and so is every other name.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if refused:
            refuse_weights(type(self).__name__, _WITHOUT_WEIGHTS, refused)
        return self._fit(X, y)

    _sparse = "rows"

    def _build(self, fit: Fit) -> Model:
        counted = isinstance(self.landmarks, Integral)
        count = int(self.landmarks) if counted else len(self.landmarks)
        fit.check_components(fit.X.shape[0])
        fit.forecast(lambda n, itemsize: 2.0 * n * min(n, count) * itemsize)
        distances = Distances.of(fit.X, self.metric, self.metric_params)
        given, (n, width) = fit.reads.precomputed, fit.X.shape
        square = given and n == width
        # otherwise X holds the columns of the landmarks alone
        whole = square or not given or counted
        rows = distances.measured(fit.X) if whole else distances.unit.inward(fit.X)
        landmarks = self._chosen(rows, distances, fit) if counted else given_landmarks(self.landmarks, n)
        if given and not counted:
            check_width(width, n, len(landmarks), "distances")

        def kernel(_: Whole, fit: Fit) -> Built:
            to_landmarks = np.ascontiguousarray(rows[:, landmarks]) if square else rows
            squared = distances.squares(to_landmarks, rows[landmarks], fit.n_jobs, fit.stages, rows.dtype)
            gram = landmark_gram(squared, landmarks, np.ones(n))
            of_all = square or not given  # else new rows hold the distances to landmarks alone
            return Built(gram, DistancePlacement(distances, None if given else rows, landmarks if of_all else None))

        known = (None, None, None) if given else (rows, distances.metric, None if fit.reads.mixed else Ball.of(rows))
        source = TableSource(distances.unit, *known)
        model = fit.solve_whole(source, kernel, degree=distances.degree, found={"landmarks_": landmarks})
        return judged(fit, model, remedy=f"more landmarks (now {len(landmarks)})", distances=True)

    def _chosen(self, rows: Any, distances: Distances, fit: Fit) -> Integers:
        n, count = rows.shape[0], int(self.landmarks)
        return choose_landmarks(
            self.landmark_choice, partial(distances.row, rows), n, count, fit.rng, distances.outermost(rows)
        )
