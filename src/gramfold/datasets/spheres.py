"""Generate parts of the unit sphere: without its poles and one slice, or without a cap."""

from typing import Literal

import numpy as np

from gramfold.datasets._arguments import between, count, nonnegative
from gramfold.datasets._randomness import RandomStateLike, add_noise, generator
from gramfold.datasets.sample import Sample


def make_severed_sphere(
    n_samples: int = 1000,
    *,
    polar_gap: float = np.pi / 8,
    slice_gap: float = 0.55,
    noise: float = 0.0,
    random_state: RandomStateLike = 0,
) -> Sample:
    """Generate points uniform on a unit sphere without its poles and without one slice.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    polar_gap : float, default=π/8
        Angular radius in radians of the missing cap at either pole, in [0, π/2).
    slice_gap : float, default=0.55
        Width in radians of the missing range of longitudes, in [0, 2π).
    noise : float, default=0.0
        Standard deviation of Gaussian noise in the three coordinates.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    Sample
        Points (n, 3), uniform in surface area, and truth (n, 2): longitude in [0, 2π − slice_gap] and
        latitude in [polar_gap − π/2, π/2 − polar_gap].

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.datasets import make_severed_sphere
    >>> points, truth = make_severed_sphere(200, random_state=0)
    >>> bool(np.allclose(points[:, 2], np.sin(truth[:, 1])))
    True
    """
    n_samples = count("n_samples", n_samples)
    polar_gap = between("polar_gap", polar_gap, 0.0, np.pi / 2, closed="low")
    slice_gap = between("slice_gap", slice_gap, 0.0, 2 * np.pi, closed="low")
    noise = nonnegative("noise", noise)
    rng = generator(random_state)

    longitude = rng.uniform(0.0, 2 * np.pi - slice_gap, size=n_samples)
    # equal slabs between parallel planes have equal area, so the third coordinate is uniform
    z = np.cos(polar_gap) * rng.uniform(-1.0, 1.0, size=n_samples)
    latitude = np.arcsin(z)
    radius = np.cos(latitude)
    points = np.column_stack([radius * np.cos(longitude), radius * np.sin(longitude), z])
    return Sample(add_noise(points, noise, rng), np.column_stack([longitude, latitude]))


def make_punctured_sphere(
    n_samples: int = 1000,
    *,
    cap: float = np.pi / 3,
    sampling: Literal["area", "plane"] = "area",
    noise: float = 0.0,
    random_state: RandomStateLike = 0,
) -> Sample:
    """Generate points on a unit sphere without the cap around its north pole.

    The truth is the stereographic projection from that pole, (x, y) / (1 − z): a conformal map of the
    rest of the sphere onto a disc of radius cot(cap / 2).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    cap : float, default=π/3
        Angular radius in radians of the missing cap, in (0, π). The default removes a quarter of the area.
    sampling : {"area", "plane"}, default="area"
        Distribution of the points.

        - ``"area"``: uniform in area on the sphere.
        - ``"plane"``: uniform on the disc of true coordinates, so that the points on the sphere are denser near the rim
          of the missing cap.
    noise : float, default=0.0
        Standard deviation of Gaussian noise in the three coordinates.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    Sample
        Points (n, 3) and truth (n, 2): the stereographic coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.datasets import make_punctured_sphere
    >>> points, truth = make_punctured_sphere(200, random_state=0)
    >>> bool(np.allclose(truth, points[:, :2] / (1 - points[:, 2:])))
    True
    """
    n_samples = count("n_samples", n_samples)
    cap = between("cap", cap, 0.0, np.pi)
    noise = nonnegative("noise", noise)
    if sampling not in ("area", "plane"):
        raise ValueError(f'sampling={sampling!r} is not a known sampling; choose "area" or "plane".')
    rng = generator(random_state)

    share = rng.random(n_samples)  # of the area, or of the disc, that lies further from the rim
    if sampling == "area":
        z = -1.0 + share * (1.0 + np.cos(cap))
        squared_radius = (1.0 + z) / (1.0 - z)
    else:
        squared_radius = share / np.tan(cap / 2) ** 2
    direction = rng.uniform(0.0, 2 * np.pi, size=n_samples)
    truth = np.sqrt(squared_radius)[:, None] * np.column_stack([np.cos(direction), np.sin(direction)])
    points = np.column_stack([2 * truth, squared_radius - 1]) / (squared_radius + 1)[:, None]
    return Sample(add_noise(points, noise, rng), truth)
