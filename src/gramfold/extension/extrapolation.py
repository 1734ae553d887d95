"""How far a point lies outside of the training points: 0 on one of them, 1 at the edge of what it reaches.

    e(x) = d(x, x_j) / r_j,    x_j the training point nearest to x,  r_j how far x_j is from its own 8th neighbour

(in a method with a neighbour graph r_j is the neighbourhood radius of x_j there). Points from the same source as the
training points seldom have e > 1: 2 in 10,000 on an even square, 3 in 100 in a Gaussian cloud of 5 dimensions, 19 in
100 of the USPS digits; beyond 3 none of them was. What is said of a point beyond `LIMIT` is extrapolated from points
that it has nothing to do with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import ExtrapolationWarning
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.neighbors.index import ROUNDING, Index
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.search import exact_index
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.runtime.warning import is_heard, warn
from gramfold.types import Floats

LIMIT = 3.0
_FLOWN = 10.0  # sizes of the map
_NEIGHBORS = 8
_AT_THE_RIM = 100  # points
CORNERS = 2  # of a box, which say where it is
_ENTRIES_PER_BLOCK = 100_000  # they stay in cache
EUCLIDEAN = Metric("euclidean", "euclidean")


@dataclass(frozen=True)
class Ball:
    """About the mean of the training points, through the farthest of them: amid them nothing need be searched."""

    middle: Floats  # (d,)
    radius: float

    @classmethod
    def of(cls, points: Any, middle: Floats | None = None) -> "Ball":
        """Of these training points, about their mean unless another point amid them is known."""
        if middle is None:
            middle = np.asarray(points.mean(axis=0, dtype=np.float64)).ravel()
        return cls(middle, float(_lengths(points, middle).max()))

    def outside(self, points: Any, around: "Callable[[], Surroundings | Rim]") -> Floats:
        """How far outside each point is that lies beyond the ball, which `around` is asked for; 0 for the others.

        It decides about a warning: where nobody would hear one, all are 0.
        """
        outside = np.zeros(points.shape[0])
        if not is_heard():
            return outside
        beyond = np.flatnonzero(_lengths(points, self.middle) > self.radius * (1.0 + ROUNDING))
        if beyond.size:
            outside[beyond] = around()(points[beyond])
        return outside


@dataclass(frozen=True)
class Rim:
    """What is left of training points that were left out: the ball about them, and how near they are to each other.

    A point beyond the ball is at least |x − middle| − radius away from all of them, and the one that is nearest to it
    is at their rim. That much over the largest neighbourhood radius of points at the rim is, as a rule, at most e(x).
    """

    ball: Ball | None  # None where nobody is asked how far outside a point is
    reach: float  # distance to the 8th neighbour, the largest of the points farthest out
    sparse: bool  # whether the points were

    @classmethod
    def of(cls, ball: Ball | None, points: Any) -> "Rim":
        """Of the points in this ball."""
        if ball is None:
            return cls(None, 0.0, issparse(points))
        outermost = points[np.argsort(_lengths(points, ball.middle))[-_AT_THE_RIM:]]
        return cls(ball, float(Surroundings(points, 1).radii(outermost).max()), issparse(points))

    def __call__(self, points: Any) -> Floats:
        """About how far outside points beyond the ball are, at least, (m,)."""
        assert self.ball is not None
        return share_of_radius(np.maximum(_lengths(points, self.ball.middle) - self.ball.radius, 0.0), self.reach)


class Surroundings:
    """Training points, asked how far others lie outside of them."""

    def __init__(self, points: Any, n_jobs: int | None, metric: Metric = EUCLIDEAN) -> None:
        points = points[collapse_rows(points).first]  # a copy is no neighbour: it is the same point
        self._index: Index = exact_index(points, metric, n_jobs)
        self._points = points
        self._k = min(_NEIGHBORS, points.shape[0] - 1)

    def __call__(self, points: Any) -> Floats:
        """E of each point, (m,)."""
        if issparse(points) and not issparse(self._points):
            points = points.toarray()  # as the training points are
        distances, nearest = self._nearest(points, 1)
        return share_of_radius(distances[:, 0], self.radii(self._points[nearest[:, 0]]))

    def radii(self, points: Any) -> Floats:
        """Distance of training points to their 8th neighbour, (m,)."""
        return self._nearest(points, self._k + 1)[0][:, -1]

    def _nearest(self, points: Any, k: int) -> tuple[Floats, np.ndarray]:
        lists = self._index.nearest(points, k)
        return lists.distances.reshape(-1, k), lists.indices.reshape(-1, k)


def corners(points: Floats) -> Floats:
    """The least and the largest value of each column, (2, p): the box about the points."""
    return np.stack([points.min(axis=0), points.max(axis=0)])


def share_of_radius(distance: Floats, radius: Floats | float) -> Floats:
    """Distance / radius, 0 at distance 0, infinity where the radius is next to 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(distance > 0, distance / radius, 0.0)


def warn_if_outside(outside: Floats, what: str) -> None:
    """Say so where points lie beyond the limit."""
    far = np.flatnonzero(outside > LIMIT)
    if far.size:
        worst = int(far[outside[far].argmax()])
        warn(
            f"{far.size} of {len(outside)} {what} are farther than {LIMIT:g} neighbourhood radii from the training "
            f"data (index {worst}: {outside[worst]:.3g} radii), so the result is an extrapolation: see "
            "extrapolation().",
            ExtrapolationWarning,
        )


def _lengths(points: Any, middle: Floats) -> Floats:
    """|x − middle| of each point, without making sparse ones dense."""
    if not issparse(points):
        lengths = np.empty(len(points))
        for part in beats(blocks(len(points), max(1, _ENTRIES_PER_BLOCK // len(middle)))):
            away = points[part] - middle
            lengths[part] = np.einsum("ij,ij->i", away, away)
        return np.sqrt(lengths, out=lengths)
    squares = np.asarray(points.power(2).sum(axis=1)).ravel() - 2.0 * (points @ middle) + float(middle @ middle)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def warn_if_flown(places: Floats, known: Floats) -> None:
    """Say so where rows amid the training rows land far from all of their places (m, p) and (n, p)."""
    if not is_heard() or not len(places):
        return
    least, most = corners(known)
    size = most - least
    middle = least + 0.5 * size
    if np.abs(corners(places) - middle).max() <= _FLOWN * (float(size.max()) or 1.0):
        return
    away = np.abs(places - middle).max(axis=1, initial=0.0) / (float(size.max()) or 1.0)
    far = np.flatnonzero(away > _FLOWN)
    if far.size:
        warn(
            f"{far.size} of {len(places)} new rows lie within the training data but are embedded up to "
            f"{away[far].max():.3g} times the size of the embedding away from its centre, because the training rows "
            "hardly vary along some coordinate: use fewer components.",
            ExtrapolationWarning,
        )
