"""Manifolds of known dimension, in as many columns as asked for."""

import numpy as np

from gramfold.datasets import make_helix, make_s_curve, make_swiss_roll, make_torus


def in_columns(points, columns, rng):
    """The same points, rotated into more columns."""
    frame = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    return points @ frame[: points.shape[1]]


def circle(n, rng):
    return flat_torus(1)(n, rng)


def helix(n, rng):
    return make_helix(n, random_state=rng.integers(2**31)).points


def swiss_roll(n, rng):
    return make_swiss_roll(n, random_state=rng.integers(2**31)).points


def s_curve(n, rng):
    return make_s_curve(n, random_state=rng.integers(2**31)).points


def torus(n, rng):
    return make_torus(n, random_state=rng.integers(2**31)).points


def sphere(d):
    """Uniform on the sphere of d dimensions: no edge."""

    def points(n, rng):
        normal = rng.normal(size=(n, d + 1))
        return normal / np.linalg.norm(normal, axis=1, keepdims=True)

    return points


def flat_torus(d):
    """A product of d circles: neither edge nor, as it is measured within, curvature."""

    def points(n, rng):
        angles = rng.uniform(0, 2 * np.pi, size=(n, d))
        return np.hstack([np.cos(angles), np.sin(angles)])

    return points


def cube(d):
    return lambda n, rng: rng.uniform(size=(n, d))


def normal(d):
    return lambda n, rng: rng.normal(size=(n, d))


# name: dimension, how it is made, columns
MANIFOLDS = {
    "circle": (1, circle, 2),
    "helix": (1, helix, 20),
    "swiss roll": (2, swiss_roll, 3),
    "swiss roll in 30 columns": (2, swiss_roll, 30),
    "S-curve": (2, s_curve, 3),
    "torus": (2, torus, 3),
    "sphere 2": (2, sphere(2), 3),
    "sphere 3": (3, sphere(3), 20),
    "cube 3": (3, cube(3), 20),
    "normal 3": (3, normal(3), 20),
    "sphere 5": (5, sphere(5), 30),
    "cube 5": (5, cube(5), 30),
    "normal 5": (5, normal(5), 30),
    "sphere 10": (10, sphere(10), 50),
    "cube 10": (10, cube(10), 50),
    "normal 10": (10, normal(10), 50),
}


def allowed(d):
    """How far an estimate of d may be from it."""
    return 0.5 if d <= 3 else 0.1 * d if d <= 5 else 0.2 * d
