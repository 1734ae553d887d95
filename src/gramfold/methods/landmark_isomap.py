"""Landmark Isomap: geodesics from a few landmarks only, and everybody placed by them.

    K = −½ H D_ℓ² H over the landmarks;    any point: y = −½ Λ^-½ Vᵀ (d²(x, ·) − means of D_ℓ²)

It is Isomap with one other default. de Silva, Tenenbaum, NIPS 15 (2003); Burges, section 2.2.3.
"""

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import method, parameter
from gramfold.methods.isomap import Isomap


@method
class LandmarkIsomap(Isomap):
    """Isomap with 200 landmarks: memory and time grow with the rows, not with their square.

    Examples
    --------
    >>> from gramfold import LandmarkIsomap
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(2000, random_state=0)
    >>> model = LandmarkIsomap(n_neighbors=10, landmarks=100).fit(roll.points)
    >>> len(model.landmarks_), model.kernel_.shape
    (100, (100, 100))
    """

    landmarks: Any = parameter(
        default=200,
        allowed=[Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), "array-like", None],
        words="""Number of landmarks, or the indices of the rows that are landmarks. The other rows are embedded by their
        shortest paths to the landmarks. "auto" and None as for `Isomap`.""",
    )
