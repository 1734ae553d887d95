"""Generate images of a teapot that turns about its vertical axis: a closed curve in the space of images."""

import numpy as np
from numpy.typing import NDArray

from gramfold.datasets._arguments import between, count
from gramfold.datasets._mesh import Mesh, curve_through, join, revolve, sweep
from gramfold.datasets._render import Camera, Light, render
from gramfold.datasets.sample import Sample

Array = NDArray[np.float64]

# shares of red, green and blue
GLAZE = np.array([0.95, 0.96, 1.0])
COBALT = np.array([0.08, 0.15, 0.50])
TRIM = np.array([0.45, 0.28, 0.14])
INSIDE = np.array([0.38, 0.27, 0.22])
BACKGROUND = np.array([0.50, 0.50, 0.52])
LUMINANCE = np.array([[0.299], [0.587], [0.114]])  # as the eye weighs them

CAMERA = Camera(elevation=np.deg2rad(22.0), distance=9.0, frame=(4.4, 2.75))
LIGHT = Light(direction=(-0.35, -0.5, 0.8), ambient=0.35, diffuse=0.65)
SAMPLES_PER_PIXEL = 3

# The shapes are curves through these points: (radius, height) of what is turned about the axis, from bottom
# to top, and (distance along the first axis, height) of the middle of the two tubes.
BODY = [
    (0.0, -0.95),
    (0.55, -0.95),
    (0.72, -0.9),
    (0.98, -0.62),
    (1.12, -0.22),
    (1.05, 0.2),
    (0.82, 0.52),
    (0.68, 0.62),
]
LID = [(0.74, 0.60), (0.74, 0.66), (0.45, 0.78), (0.15, 0.86), (0.0, 0.88)]
KNOB = [(0.10, 0.84), (0.09, 0.92), (0.18, 1.01), (0.13, 1.11), (0.0, 1.14)]
HANDLE = [(-0.8, 0.38), (-1.25, 0.48), (-1.62, 0.36), (-1.7, 0.02), (-1.48, -0.32), (-0.95, -0.58)]
HANDLE_WIDTH = 0.12
SPOUT = [(0.60, -0.42), (1.20, -0.30), (1.46, 0.05), (1.60, 0.40), (1.86, 0.62)]
SPOUT_WIDTH = [(0.40,), (0.30,), (0.20,), (0.15,), (0.14,)]

# Blossoms are strewn over the body between these heights, each about a golden angle further around. Not quite: in a
# regular pattern every blossom would come to lie where its neighbour was, and far views would look alike.
BLOSSOMS = 60
BLOSSOM_HEIGHTS = (-0.75, 0.5)
BLOSSOM_RADIUS, PETALS, PETAL_DEPTH = 0.17, 5, 0.28
BRUSH = 0.06  # over which the paint fades at its edge
GOLDEN_ANGLE, ASTRAY = np.pi * (3.0 - np.sqrt(5.0)), 0.3


def make_teapots(
    n_samples: int = 400,
    *,
    degrees: float = 360.0,
    image_shape: tuple[int, int] = (76, 101),
    color: bool = False,
) -> Sample:
    """Generate images of a turning teapot, as in Weinberger, Sha and Saul (ICML 2004, figures 2 and 4).

    The teapot is a model that is rendered here, not the one that was photographed for the paper. It turns about its
    vertical axis in equal steps, while the camera, slightly above it, and the light do not move. Nothing is random.

    Parameters
    ----------
    n_samples : int, default=400
        Number of images.
    degrees : float, default=360.0
        Angle in degrees by which the teapot turns, in (0, 360]. The images of a full turn form a closed ring, in which
        the first is not repeated at the end. A smaller turn includes both of its ends.
    image_shape : (int, int), default=(76, 101)
        Number of rows and columns of an image.
    color : bool, default=False
        Whether images have red, green and blue channels, so that an image of the default shape is a point in 23028
        dimensions. By default they are grey: the luminance of the coloured ones.

    Returns
    -------
    Sample
        Points (n, pixels) in [0, 1], one image per row; truth (n, 1), the angle in radians; and `image_shape`,
        (rows, columns) or (rows, columns, 3), the shape of an image.

    Examples
    --------
    >>> from gramfold.datasets import make_teapots
    >>> sample = make_teapots(4, image_shape=(19, 25))
    >>> sample.truth.ravel().round(2)
    array([0.  , 1.57, 3.14, 4.71])
    >>> sample.points[0].reshape(sample.image_shape).shape
    (19, 25)
    """
    n_samples = count("n_samples", n_samples)
    degrees = between("degrees", degrees, 0.0, 360.0, closed="high")
    if np.shape(image_shape) != (2,):
        raise ValueError(f"image_shape={image_shape!r} is not a pair; give the number of rows and columns of an image.")
    rows, columns = (count("image_shape", side) for side in image_shape)

    angles = np.linspace(0.0, np.deg2rad(degrees), n_samples, endpoint=degrees < 360.0)
    channels = np.eye(3) if color else LUMINANCE
    shape = (rows, columns, 3) if color else (rows, columns)
    teapot, background = _teapot(channels), BACKGROUND @ channels
    pictures = np.empty((n_samples, *shape))
    for picture, angle in zip(pictures, angles, strict=True):
        drawn = render(_turned(teapot, angle), CAMERA, LIGHT, background, (rows, columns), SAMPLES_PER_PIXEL)
        picture[...] = drawn.reshape(shape)
    return Sample(pictures.reshape(n_samples, -1), angles[:, None], shape)


def _turned(mesh: Mesh, angle: float) -> Mesh:
    sine, cosine = np.sin(angle), np.cos(angle)
    turn = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    return Mesh(mesh.vertices @ turn, mesh.normals @ turn, mesh.triangles, mesh.colors)


def _teapot(channels: Array) -> Mesh:
    """The solid about the third axis, its spout along the first; colours are mixed to these channels.

    Its body is painted all over, as that of the photographed teapot is, so that the image changes by about as much at
    every angle. With a plain body only handle and spout would change it, and unevenly.
    """
    body = revolve(curve_through(BODY, 56), 128)
    lid = revolve(curve_through(LID, 16), 64)
    knob = revolve(curve_through(KNOB, 14), 24)
    path = curve_through(HANDLE, 30)
    handle = sweep(path, np.full(len(path), HANDLE_WIDTH), 16, flatness=1.4)
    path = curve_through(SPOUT, 24)
    width = curve_through(SPOUT_WIDTH, 24)[:, 0]
    spout = sweep(path, width, 24)
    inside = sweep(*_closing_disc(path, width), 24)
    share = _decoration(body.vertices)[:, None]
    return join(
        [
            body.painted((share * COBALT + (1 - share) * GLAZE) @ channels),
            join([lid, spout]).painted(GLAZE @ channels),
            join([knob, handle]).painted(TRIM @ channels),
            inside.painted(INSIDE @ channels),
        ]
    )


def _decoration(vertices: Array) -> Array:
    """Share of paint at each vertex of the body, from 0 to 1: blossoms of five petals."""
    radius, height = curve_through(BODY, 200).T
    painted = np.zeros(len(vertices))
    for number, level in enumerate(np.linspace(*BLOSSOM_HEIGHTS, BLOSSOMS)):
        angle = number * GOLDEN_ANGLE + ASTRAY * (np.sqrt(3.0) * number**2 % 1.0 - 0.5)
        outwards, along = np.array([[np.cos(angle), np.sin(angle), 0.0], [-np.sin(angle), np.cos(angle), 0.0]])
        away = vertices - np.interp(level, height, radius) * outwards - (0.0, 0.0, level)
        direction = np.arctan2(away[:, 2], away @ along)
        petals = 1.0 - PETAL_DEPTH * (1.0 - np.cos(PETALS * direction + number))
        inside = BLOSSOM_RADIUS * petals - np.linalg.norm(away, axis=1)
        painted = np.maximum(painted, np.clip(0.5 + inside / BRUSH, 0.0, 1.0))
    return painted


def _closing_disc(path: Array, widths: Array) -> tuple[Array, Array]:
    """A very short tube that narrows to a point and closes the open end of a tube."""
    forward = path[-1] - path[-2]
    return path[-1] + np.array([[0.0], [1e-3]]) * forward, np.array([widths[-1], 0.0])
