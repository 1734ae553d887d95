"""Generate sheets in three dimensions: swiss roll, S-curve and twin peaks.

The swiss roll and the S-curve are isometric to a rectangle: their truth is (arc length, height), and the
geodesic distance of two points on the sheet is the Euclidean distance of their truths (on a sheet without
a hole). The twin peaks are a graph over a square and are not isometric to it.

    spiral  r = t,   arc length  s(t) = ½ (t √(1+t²) + asinh t),   t from 3π/2
"""

import numpy as np
from numpy.typing import NDArray

from gramfold.datasets._arguments import count, nonnegative, positive
from gramfold.datasets._inversion import invert_increasing
from gramfold.datasets._randomness import RandomStateLike, add_noise, generator
from gramfold.datasets.sample import Sample

SPIRAL_START = 1.5 * np.pi

Array = NDArray[np.float64]


def make_swiss_roll(
    n_samples: int = 1000,
    *,
    length: float = 90.0,
    height: float = 21.0,
    hole: bool = False,
    noise: float = 0.0,
    extra_dimensions: int = 0,
    extra_noise: float = 0.05,
    random_state: RandomStateLike = 0,
) -> Sample:
    """Generate a swiss roll: points uniform on a rolled-up rectangle.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    length : float, default=90.0
        Length of the rectangle along the spiral r = t, which starts at t = 3π/2. The default gives one and a half
        turns, to t = 14.2. Neighbouring turns lie about 2π apart.
    height : float, default=21.0
        Height of the rectangle, along the axis of the roll.
    hole : bool, default=False
        Whether to leave out a hole in the middle of the rectangle, a third of its length by a third of its height. All
        `n_samples` points lie outside the hole.
    noise : float, default=0.0
        Standard deviation of Gaussian noise in the three coordinates of the roll.
    extra_dimensions : int, default=0
        Number of additional columns that hold only noise. 20 of them give the 23-dimensional roll of Weinberger, Sha
        and Saul (ICML 2004, figure 1).
    extra_noise : float, default=0.05
        Standard deviation of the noise in the additional columns. With the default, 20 columns of noise put two points
        0.05·√40 ≈ 0.3 apart, a fifth of the spacing of 800 points on the default sheet.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data. The truth
        does not depend on `noise` and `extra_dimensions`.

    Returns
    -------
    Sample
        Points (n, 3 + extra_dimensions) and truth (n, 2): arc length and height.

    Examples
    --------
    >>> from gramfold.datasets import make_swiss_roll
    >>> points, truth = make_swiss_roll(800, extra_dimensions=20, random_state=0)
    >>> points.shape, truth.shape
    ((800, 23), (800, 2))
    """
    n_samples = count("n_samples", n_samples)
    length, height = positive("length", length), positive("height", height)
    noise, extra_noise = nonnegative("noise", noise), nonnegative("extra_noise", extra_noise)
    extra_dimensions = count("extra_dimensions", extra_dimensions, least=0)
    rng = generator(random_state)

    unit = _square_with_hole(n_samples, rng) if hole else rng.random((n_samples, 2))
    truth = unit * (length, height)
    t = _spiral_angle(truth[:, 0], length)
    roll = np.column_stack([t * np.cos(t), truth[:, 1], t * np.sin(t)])
    points = add_noise(roll, noise, rng)
    if extra_dimensions:
        extra = extra_noise * rng.standard_normal((n_samples, extra_dimensions))
        points = np.hstack([points, extra])
    return Sample(points, truth)


def make_s_curve(
    n_samples: int = 1000,
    *,
    height: float = 2.0,
    noise: float = 0.0,
    random_state: RandomStateLike = 0,
) -> Sample:
    """Generate an S-curve: points uniform on a sheet bent into two three-quarter circles of radius 1.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    height : float, default=2.0
        Height of the sheet. Its length is 3π.
    noise : float, default=0.0
        Standard deviation of Gaussian noise in the three coordinates.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    Sample
        Points (n, 3) and truth (n, 2): arc length, from 0 to 3π, and height.

    Examples
    --------
    >>> from gramfold.datasets import make_s_curve
    >>> points, truth = make_s_curve(200, random_state=0)
    >>> bool(truth[:, 0].max() < 3 * 3.1416)
    True
    """
    n_samples = count("n_samples", n_samples)
    height, noise = positive("height", height), nonnegative("noise", noise)
    rng = generator(random_state)

    truth = rng.random((n_samples, 2)) * (3 * np.pi, height)
    t = truth[:, 0] - 1.5 * np.pi  # the angle on a unit circle, so already an arc length
    points = np.column_stack([np.sin(t), truth[:, 1], np.sign(t) * (np.cos(t) - 1)])
    return Sample(add_noise(points, noise, rng), truth)


def make_twin_peaks(
    n_samples: int = 1000,
    *,
    peak: float = 1.0,
    noise: float = 0.0,
    random_state: RandomStateLike = 0,
) -> Sample:
    """Generate points on the surface z = peak · sin(πx) tanh(3y): two hills and two hollows over a square.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    peak : float, default=1.0
        Height of the hills and depth of the hollows.
    noise : float, default=0.0
        Standard deviation of Gaussian noise in the three coordinates.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    Sample
        Points (n, 3) and truth (n, 2): the parameters x and y, uniform on the square [−1, 1]².

    Examples
    --------
    >>> from gramfold.datasets import make_twin_peaks
    >>> points, truth = make_twin_peaks(200, random_state=0)
    >>> bool((points[:, :2] == truth).all())
    True
    """
    n_samples = count("n_samples", n_samples)
    peak, noise = nonnegative("peak", peak), nonnegative("noise", noise)
    rng = generator(random_state)

    truth = rng.uniform(-1.0, 1.0, size=(n_samples, 2))
    hills = peak * np.sin(np.pi * truth[:, 0]) * np.tanh(3 * truth[:, 1])
    points = np.column_stack([truth, hills])
    return Sample(add_noise(points, noise, rng), truth)


def _spiral_length(t: Array) -> Array:
    return np.asarray(0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t)))


def _spiral_angle(arc_length: Array, length: float) -> Array:
    """Angle t of the spiral at `arc_length` from its start."""
    start = float(_spiral_length(np.array(SPIRAL_START)))
    furthest = float(np.sqrt(2 * (start + length)))  # since s(t) ≥ t²/2
    return invert_increasing(_spiral_length, lambda t: np.sqrt(1 + t * t), start + arc_length, SPIRAL_START, furthest)


def _square_with_hole(n_samples: int, rng: np.random.Generator) -> Array:
    """Uniform on the unit square without its middle ninth."""
    # the rest is eight equal squares of a 3 x 3 board: choose one, then a point of it
    square = rng.integers(8, size=n_samples)
    square += square >= 4
    corner = np.column_stack(np.divmod(square, 3))
    return np.asarray((corner + rng.random((n_samples, 2))) / 3)
