"""Render triangle meshes to images: a small rasteriser with a depth buffer.

camera      perspective, looking at the origin from slightly above
visibility  spans of samples row by row; the nearest triangle keeps each sample
light       colour · (ambient + diffuse · max(0, normal · light)) at the corners, interpolated
edges       smoothed by several samples per pixel and direction, averaged
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramfold.datasets._mesh import Mesh

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Twice the area, in samples, of the thinnest triangle drawn: a thinner one would be dominated by rounding, and is not
# visible.
THINNEST = 1e-6


@dataclass(frozen=True)
class Camera:
    """Position of the camera, and the part of the scene that it shows.

    The frame is the rectangle `frame` = (width, height) of the plane through the origin that faces the
    camera; it is fitted into an image of any shape.
    """

    elevation: float
    distance: float
    frame: tuple[float, float]

    def axes(self) -> Array:
        """Directions right, down and towards the camera, one per row."""
        sine, cosine = np.sin(self.elevation), np.cos(self.elevation)
        # seen from the negative second axis, with the third axis up
        return np.array([[1.0, 0.0, 0.0], [0.0, -sine, -cosine], [0.0, -cosine, sine]])


@dataclass(frozen=True)
class Light:
    """Directional and ambient light; directions are (right, down, towards the camera)."""

    direction: tuple[float, float, float]
    ambient: float
    diffuse: float

    def on(self, normals: Array) -> Array:
        """Brightness of a white surface with these unit normals."""
        cosine = normals @ np.asarray(self.direction) / np.linalg.norm(self.direction)
        return np.asarray(self.ambient + self.diffuse * np.maximum(cosine, 0.0))


@dataclass(frozen=True, eq=False)
class _Fragments:
    """Samples of the picture and the triangles that cover them."""

    row: Indices
    column: Indices
    triangle: Indices

    def only(self, kept: NDArray[np.bool_]) -> "_Fragments":
        return _Fragments(self.row[kept], self.column[kept], self.triangle[kept])

    def values_of(self, planes: Array) -> Array:
        """Values p + q·x + r·y in the middles of the samples, from the triple (p, q, r) of each triangle."""
        p, q, r = planes.T
        x, y = self.column + 0.5, self.row + 0.5
        return np.asarray(p[self.triangle] + q[self.triangle] * x + r[self.triangle] * y)


def render(
    mesh: Mesh,
    camera: Camera,
    light: Light,
    background: Array,
    shape: tuple[int, int],
    samples_per_pixel: int,
) -> Array:
    """Render an image (rows, columns, channels) of the mesh, with as many channels as its colours have."""
    height, width = shape[0] * samples_per_pixel, shape[1] * samples_per_pixel
    axes = camera.axes()
    seen = mesh.vertices @ axes.T
    nearness = 1.0 / (camera.distance - seen[:, 2])  # linear on the screen, unlike the depth itself
    scale = camera.distance * min(width / camera.frame[0], height / camera.frame[1])
    screen = seen[:, :2] * (scale * nearness)[:, None] + (width / 2, height / 2)

    corners = screen[mesh.triangles]  # (m, 3, 2)
    # negative where a triangle faces the camera, as rows run downwards
    twice_area = _cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = twice_area < -THINNEST
    triangles, corners = mesh.triangles[facing], corners[facing]

    covered = _cover(corners, height, width)
    weights = _corner_weights(corners)
    depth = covered.values_of(np.einsum("mc,mcp->mp", nearness[triangles], weights))
    sample = covered.row * width + covered.column
    nearest = np.zeros(height * width)
    np.maximum.at(nearest, sample, depth)
    visible = covered.only(depth == nearest[sample])

    radiance = mesh.colors * light.on(mesh.normals @ axes.T)[:, None]
    picture = np.tile(background, (height * width, 1))
    lit = visible.row * width + visible.column
    for channel in range(picture.shape[1]):
        planes = np.einsum("mc,mcp->mp", radiance[triangles, channel], weights)
        picture[lit, channel] = visible.values_of(planes)
    return _averaged(picture.reshape(height, width, -1), samples_per_pixel)


def _averaged(picture: Array, samples: int) -> Array:
    """The mean of each block of `samples` by `samples`."""
    # nine sums of whole pictures are several times faster than one mean over two short axes
    pixels = sum(picture[row::samples, column::samples] for row in range(samples) for column in range(samples))
    return np.asarray(pixels / samples**2)


def _cover(corners: Array, height: int, width: int) -> _Fragments:
    """The samples inside each triangle: first its rows, then the span of columns on every row.

    Samples sit in the middles of the cells of a (height, width) grid.
    """
    low, high = corners[:, :, 1].min(axis=1), corners[:, :, 1].max(axis=1)
    first_row = np.maximum(np.ceil(low - 0.5), 0).astype(np.int64)
    last_row = np.minimum(np.floor(high - 0.5), height - 1).astype(np.int64)
    triangle, row = _expand(first_row, last_row)

    y = row + 0.5
    left, right = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for start in range(3):
        x0, y0 = corners[triangle, start].T
        x1, y1 = corners[triangle, (start + 1) % 3].T
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (y - y0) / (y1 - y0)  # not finite for a level edge, whose ends the other two edges give
        x = np.where((share >= 0) & (share <= 1), x0 + share * (x1 - x0), np.nan)
        left, right = np.fmin(left, x), np.fmax(right, x)
    crossed = left <= right
    triangle, row, left, right = triangle[crossed], row[crossed], left[crossed], right[crossed]

    first_column = np.maximum(np.ceil(left - 0.5), 0).astype(np.int64)
    last_column = np.minimum(np.floor(right - 0.5), width - 1).astype(np.int64)
    span, column = _expand(first_column, last_column)
    return _Fragments(row[span], column, triangle[span])


def _expand(first: Indices, last: Indices) -> tuple[Indices, Indices]:
    """All whole numbers from `first` to `last` of every pair: the pair's index, and the number."""
    length = np.maximum(last - first + 1, 0)
    owner = np.repeat(np.arange(len(length)), length)
    begin = np.cumsum(length) - length
    return owner, np.arange(len(owner)) - (begin - first)[owner]


def _corner_weights(corners: Array) -> Array:
    """Barycentric weights as functions of the screen: (m, 3, 3), a triple (p, q, r) for p + q·x + r·y."""
    following, last = np.roll(corners, -1, axis=1), np.roll(corners, -2, axis=1)
    twice_area = _cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    edge = last - following  # the side opposite to each corner, on which its weight vanishes
    planes = np.stack([_cross(following, last), -edge[..., 1], edge[..., 0]], axis=-1)
    return np.asarray(planes / twice_area[:, None, None])


def _cross(left: Array, right: Array) -> Array:
    return np.asarray(left[..., 0] * right[..., 1] - left[..., 1] * right[..., 0])
