"""Landmark Isomap: geodesic distances from a few landmarks only, by which all rows are embedded.

    K = −½ H D_ℓ² H over the landmarks;    any point: y = −½ Λ^-½ Vᵀ (d²(x, ·) − means of D_ℓ²)

It is Isomap with another default of `landmarks`. de Silva, Tenenbaum, NIPS 15 (2003); Burges 2005, section 2.2.3.
"""

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import method, parameter
from gramfold.methods.isomap import Isomap


@method
class LandmarkIsomap(Isomap):
    """Landmark Isomap: Isomap with geodesic distances to 200 landmarks only, for large data sets.

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
        words="""Number of landmarks, or the indices of the rows that are landmarks. The kernel is over the landmarks,
        and the other rows are embedded by their shortest paths to them. None: all rows are landmarks. "auto": all rows
        if the n × n matrix fits into memory, otherwise 2,000, or as many as fit, with a warning.""",
    )
