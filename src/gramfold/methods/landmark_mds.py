"""Landmark MDS: classical scaling of a few landmarks, and everybody placed by the distances to them.

    K = −½ H D_ℓ² H over the landmarks;    any point: y = −½ Λ^-½ Vᵀ (d²(x, ·) − means of D_ℓ²)

de Silva, Tenenbaum, NIPS 15 (2003); Burges, section 2.2.3.
"""

from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import DistanceEmbedding, Piece, method, parameter
from gramfold.extension.project import project
from gramfold.kernels.landmark import (
    LandmarkGram,
    check_width,
    choose_landmarks,
    given_landmarks,
    landmark_gram,
)
from gramfold.neighbors.metrics import MetricName
from gramfold.runtime.progress import SILENT, Stages
from gramfold.types import Floats


@method
class LandmarkMDS(DistanceEmbedding):
    """Classical multidimensional scaling through landmarks.

    Attributes
    ----------
    landmarks_ : ndarray of int
        The data rows that carry the kernel, in its order.

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
        words="At most this many rows carry the kernel; or the numbers of the rows that do.",
    )
    landmark_choice: Literal["maxmin", "random"] = parameter(
        default="maxmin",
        allowed=[StrOptions({"maxmin", "random"})],
        words="Each landmark the row farthest from those already chosen, or any rows at random.",
    )
    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""A metric of scipy.spatial.distance, a function of two rows, or "precomputed": all distances, or with
        given `landmarks` only those of every row to them, a column per landmark.""",
    )
    random_state: Any = parameter(default=None, allowed=["random_state"], words="Chooses random landmarks.")

    def _memory(self, n: int, itemsize: int) -> float:
        count = int(self.landmarks) if isinstance(self.landmarks, Integral) else len(self.landmarks)
        return 2.0 * n * min(n, count) * itemsize

    def _kernel(self, rows: Any, stages: Stages) -> LandmarkGram:
        self._square = self._precomputed and rows.shape[0] == rows.shape[1]
        if self._square or not self._precomputed or isinstance(self.landmarks, Integral):
            rows = self._measure(rows)  # else X holds the columns of the landmarks alone
        self.landmarks_ = self._chosen(rows)
        to_landmarks = np.ascontiguousarray(rows[:, self.landmarks_]) if self._square else rows
        squared = self._squares(to_landmarks, rows[self.landmarks_], stages, rows.dtype)
        return landmark_gram(squared, self.landmarks_, np.ones(len(rows)))

    def _chosen(self, rows: Any) -> Any:
        n, width = rows.shape
        if isinstance(self.landmarks, Integral):
            return choose_landmarks(
                self.landmark_choice,
                lambda row: rows[row] if self._precomputed else self._metric.block(rows[[row]], rows)[0],
                n,
                int(self.landmarks),
                check_random_state(self.random_state),
                start=self._rim(rows),
            )
        chosen = given_landmarks(self.landmarks, n)
        if self._precomputed:
            check_width(width, n, len(chosen), "distances")
        return chosen

    def _rim(self, rows: Any) -> int:
        """A row far from the others, whatever their order."""
        if self._precomputed:
            return int(np.argmax(rows.sum(axis=1)))
        return int(np.argmax(self._metric.block(rows.mean(axis=0, keepdims=True), rows)[0]))

    def _remedy(self) -> str:
        return f"more landmarks (now {len(self.landmarks_)}), {super()._remedy()}"

    def _place(self, piece: Piece, new: Any) -> Floats:
        places = np.zeros((len(new), self.n_components))
        if self._square:
            new = new[:, self.landmarks_]
        squared = self._squares(new, piece.source[self.landmarks_], SILENT)
        found = project(piece.kernel.cross(squared), piece.kernel, piece.spectrum)
        places[:, : found.shape[1]] = found
        return places
