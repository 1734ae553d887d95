"""Triangle meshes of solids: surfaces of revolution, tubes along a curve, and curves through points."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangle mesh with smooth normals; triangles are counter-clockwise when seen from outside."""

    vertices: Array  # (n, 3)
    normals: Array  # (n, 3), of length 1
    triangles: Indices  # (m, 3)
    colors: Array  # (n, channels), share of the light that the surface reflects

    def painted(self, colors: Array) -> "Mesh":
        """Copy of the mesh in one colour (channels,), or in a colour for each vertex (n, channels)."""
        whole = np.broadcast_to(colors, (len(self.vertices), colors.shape[-1]))
        return replace(self, colors=whole)


def curve_through(points: Sequence[tuple[float, ...]], n_samples: int) -> Array:
    """Smooth curve through the points (Catmull-Rom spline), at `n_samples` equally spaced parameters."""
    knots = np.asarray(points, dtype=np.float64)
    # ends continued in a straight line
    padded = np.vstack([2 * knots[0] - knots[1], knots, 2 * knots[-1] - knots[-2]])
    parameter = np.linspace(0.0, len(knots) - 1, n_samples)
    piece = np.minimum(parameter.astype(np.int64), len(knots) - 2)
    x = (parameter - piece)[:, None]
    before, start, end, after = (padded[piece + shift] for shift in range(4))
    slope_start, slope_end = 0.5 * (end - before), 0.5 * (after - start)
    bend = 3 * (end - start) - 2 * slope_start - slope_end
    twist = 2 * (start - end) + slope_start + slope_end
    return np.asarray(start + x * (slope_start + x * (bend + x * twist)))


def revolve(profile: Array, n_around: int) -> Mesh:
    """Surface of revolution about the third axis of a profile of (radius, height), from bottom to top."""
    angle = np.arange(n_around) * (2 * np.pi / n_around)
    radius, height = profile.T
    rings = np.stack(
        [
            radius[:, None] * np.cos(angle),
            radius[:, None] * np.sin(angle),
            np.repeat(height[:, None], n_around, axis=1),
        ],
        axis=-1,
    )
    return _from_rings(rings)


def sweep(path: Array, widths: Array, n_around: int, *, flatness: float = 1.0) -> Mesh:
    """Tube along a path of (first, third) coordinates in the plane of these two axes.

    `widths` are the radii in that plane, one per sample; perpendicular to it they are `flatness` times as large.
    """
    tangent = np.gradient(path, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    # the plane of the path contains one axis of the cross-section, the second axis of space is the other
    side = np.column_stack([tangent[:, 1], np.zeros(len(path)), -tangent[:, 0]])
    centre = np.column_stack([path[:, 0], np.zeros(len(path)), path[:, 1]])
    angle = np.arange(n_around) * (2 * np.pi / n_around)
    rings = centre[:, None] + widths[:, None, None] * (
        np.cos(angle)[:, None] * side[:, None] + flatness * np.sin(angle)[:, None] * np.array([0.0, 1.0, 0.0])
    )
    return _from_rings(rings)


def join(meshes: Sequence[Mesh]) -> Mesh:
    """Merge several meshes into one."""
    offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return Mesh(
        np.vstack([mesh.vertices for mesh in meshes]),
        np.vstack([mesh.normals for mesh in meshes]),
        np.vstack([mesh.triangles + offset for mesh, offset in zip(meshes, offsets, strict=True)]),
        np.vstack([mesh.colors for mesh in meshes]),
    )


def _from_rings(rings: Array) -> Mesh:
    """Join each ring of vertices (n_rings, n_around, 3) to the next by a band of white triangles."""
    n_rings, n_around, _ = rings.shape
    number = np.arange(n_rings * n_around).reshape(n_rings, n_around)
    here, above = number[:-1], number[1:]
    here_next, above_next = np.roll(here, -1, axis=1), np.roll(above, -1, axis=1)
    triangles = np.concatenate(
        [
            np.stack([here, here_next, above_next], axis=-1).reshape(-1, 3),
            np.stack([here, above_next, above], axis=-1).reshape(-1, 3),
        ]
    )
    vertices = rings.reshape(-1, 3)
    return Mesh(vertices, _smooth_normals(vertices, triangles), triangles, np.ones((len(vertices), 1)))


def _smooth_normals(vertices: Array, triangles: Indices) -> Array:
    """The mean direction of the triangles at each vertex, weighted by their areas."""
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    face = np.cross(b - a, c - a)
    normals = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(normals, triangles[:, corner], face)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.asarray(normals / np.where(length > 0, length, 1.0))
