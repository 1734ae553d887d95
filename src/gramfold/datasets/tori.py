"""Generate a torus, and a helix that winds around it.

torus  ((R + r cos v) cos u, (R + r cos v) sin u, r sin v);   helix  v = turns · u
"""

import numpy as np
from numpy.typing import NDArray

from gramfold.datasets._arguments import count, nonnegative, positive
from gramfold.datasets._inversion import invert_increasing
from gramfold.datasets._randomness import RandomStateLike, add_noise, generator
from gramfold.datasets.sample import Sample

# The cosine series of the helix' speed falls below rounding within 40 terms, even where R = r and turns = 1
SERIES_NODES = 256

Array = NDArray[np.float64]


def make_torus(
    n_samples: int = 1000,
    *,
    major_radius: float = 2.0,
    minor_radius: float = 1.0,
    noise: float = 0.0,
    random_state: RandomStateLike = 0,
) -> Sample:
    """Generate points uniform on the surface of a torus.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    major_radius : float, default=2.0
        Distance from the axis to the middle of the tube.
    minor_radius : float, default=1.0
        Radius of the tube; at most `major_radius`.
    noise : float, default=0.0
        Standard deviation of Gaussian noise in the three coordinates.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    Sample
        Points (n, 3), uniform in surface area, and truth (n, 2): the angle around the axis and the angle
        around the tube (0 on the outer equator), both in [0, 2π].

    Examples
    --------
    >>> from gramfold.datasets import make_torus
    >>> points, truth = make_torus(200, random_state=0)
    >>> points.shape, truth.shape
    ((200, 3), (200, 2))
    """
    n_samples = count("n_samples", n_samples)
    major, minor = _radii(major_radius, minor_radius)
    noise = nonnegative("noise", noise)
    rng = generator(random_state)

    around_axis = rng.uniform(0.0, 2 * np.pi, size=n_samples)
    # a strip of the tube has area proportional to R + r cos v: uniform in v + (r/R) sin v, Kepler's equation
    flatness = minor / major
    around_tube = invert_increasing(
        lambda v: v + flatness * np.sin(v),
        lambda v: 1.0 + flatness * np.cos(v),
        rng.uniform(0.0, 2 * np.pi, size=n_samples),
        0.0,
        2 * np.pi,
    )
    points = _on_torus(around_axis, around_tube, major, minor)
    return Sample(add_noise(points, noise, rng), np.column_stack([around_axis, around_tube]))


def make_helix(
    n_samples: int = 1000,
    *,
    turns: int = 8,
    major_radius: float = 2.0,
    minor_radius: float = 1.0,
    noise: float = 0.0,
    random_state: RandomStateLike = 0,
) -> Sample:
    """Generate points uniform along a closed helix that winds around a torus.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    turns : int, default=8
        Number of times that the curve winds around the tube while it goes once around the axis.
    major_radius : float, default=2.0
        Distance from the axis to the middle of the tube.
    minor_radius : float, default=1.0
        Radius of the tube; at most `major_radius`.
    noise : float, default=0.0
        Standard deviation of Gaussian noise in the three coordinates.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    Sample
        Points (n, 3), uniform in arc length, and truth (n, 1): the angle around the axis, in [0, 2π].

    Examples
    --------
    >>> from gramfold.datasets import make_helix
    >>> points, truth = make_helix(200, turns=5, random_state=0)
    >>> points.shape, truth.shape
    ((200, 3), (200, 1))
    """
    n_samples = count("n_samples", n_samples)
    turns = count("turns", turns)
    major, minor = _radii(major_radius, minor_radius)
    noise = nonnegative("noise", noise)
    rng = generator(random_state)

    around_tube = _even_along_turn(rng.random(n_samples), turns, major, minor)
    turn = rng.integers(turns, size=n_samples)
    angle = (around_tube + 2 * np.pi * turn) / turns
    points = _on_torus(angle, around_tube, major, minor)
    return Sample(add_noise(points, noise, rng), angle[:, None])


def _radii(major_radius: float, minor_radius: float) -> tuple[float, float]:
    major, minor = positive("major_radius", major_radius), positive("minor_radius", minor_radius)
    if minor > major:
        raise ValueError(
            f"minor_radius={minor:g} exceeds major_radius={major:g}, so the tube would cross itself; "
            "give a minor radius of at most the major one."
        )
    return major, minor


def _on_torus(around_axis: Array, around_tube: Array, major: float, minor: float) -> Array:
    from_axis = major + minor * np.cos(around_tube)
    return np.column_stack(
        [from_axis * np.cos(around_axis), from_axis * np.sin(around_axis), minor * np.sin(around_tube)]
    )


def _even_along_turn(share: Array, turns: int, major: float, minor: float) -> Array:
    """Angles v in [0, 2π] at these shares of the arc length of one turn."""

    def speed(v: Array) -> Array:
        # |d(curve)/dv| times `turns`; all turns are alike
        return np.hypot(major + minor * np.cos(v), minor * turns)

    # The speed is smooth, even and periodic: its cosine series is exact to rounding, and so is the integral.
    nodes = np.linspace(0.0, 2 * np.pi, SERIES_NODES, endpoint=False, dtype=np.float64)
    series = np.fft.rfft(speed(nodes)).real / SERIES_NODES
    mean = series[0]
    weights = 2 * series[1:] / np.arange(1, len(series))  # of sin v, sin 2v, … in the integral
    last = int(np.flatnonzero(np.abs(weights) > np.finfo(np.float64).eps * mean).max(initial=0))

    def walked(v: Array) -> Array:
        # Clenshaw's recurrence: the sum of sines with two arrays of the length of v, not one per wave
        twice_cosine, following, current = 2 * np.cos(v), np.zeros_like(v), np.zeros_like(v)
        for weight in weights[last::-1]:
            following, current = current, weight + twice_cosine * current - following
        return np.asarray(mean * v + np.sin(v) * current)

    return invert_increasing(walked, speed, share * (2 * np.pi * mean), 0.0, 2 * np.pi)
