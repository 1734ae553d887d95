"""Meshes: closed, turned outwards, with the normals of the solids they stand for."""

import numpy as np
import pytest

from gramfold.datasets._mesh import Mesh, curve_through, join, revolve, sweep


def volume(mesh: Mesh) -> float:
    """Signed volume by the divergence theorem: positive if all triangles face outwards."""
    a, b, c = (mesh.vertices[mesh.triangles[:, corner]] for corner in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def ball(n_rings: int = 60, n_around: int = 120, radius: float = 1.0) -> Mesh:
    latitude = np.linspace(-np.pi / 2, np.pi / 2, n_rings)
    return revolve(radius * np.column_stack([np.cos(latitude), np.sin(latitude)]), n_around)


def test_ball_has_its_volume_and_normals() -> None:
    mesh = ball()
    assert volume(mesh) == pytest.approx(4 / 3 * np.pi, rel=3e-3)
    away_from_poles = np.abs(mesh.vertices[:, 2]) < 0.999
    np.testing.assert_allclose(mesh.normals[away_from_poles], mesh.vertices[away_from_poles], atol=0.01)


def test_ring_shaped_tube_has_its_volume() -> None:
    angle = np.linspace(0.0, 2 * np.pi, 401)
    path = 2.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    mesh = sweep(path, np.full(401, 0.5), 100, flatness=1.5)
    # Pappus: area of the ellipse times the way of its middle; either sense of the path faces outwards
    expected = (np.pi * 0.5 * 0.75) * (2 * np.pi * 2.0)
    assert volume(mesh) == pytest.approx(expected, rel=3e-3)
    assert volume(sweep(path[::-1], np.full(401, 0.5), 100, flatness=1.5)) == pytest.approx(expected, rel=3e-3)


def test_normals_have_length_one() -> None:
    np.testing.assert_allclose(np.linalg.norm(ball().normals, axis=1), 1.0, atol=1e-12)


def test_joined_volumes_add_up() -> None:
    small, large = ball(radius=1.0), ball(radius=2.0)
    assert volume(join([small, large, small])) == pytest.approx(2 * volume(small) + volume(large), rel=1e-12)


def test_curve_meets_its_points_smoothly() -> None:
    knots = [(0.0, 1.0), (1.0, 3.0), (2.0, 0.0), (4.0, 1.0)]
    curve = curve_through(knots, 3001)
    np.testing.assert_allclose(curve[::1000], knots, atol=1e-12)
    slopes = np.diff(curve, axis=0) * 1000
    for knot in (1000, 2000):  # the same slope on both sides
        np.testing.assert_allclose(slopes[knot - 1], slopes[knot], atol=0.05)


def test_curve_through_a_line_is_the_line() -> None:
    line = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]
    curve = curve_through(line, 50)
    np.testing.assert_allclose(curve[:, 1], 1 + 2 * curve[:, 0], atol=1e-12)
    np.testing.assert_allclose(np.diff(curve[:, 0]), 2 / 49, atol=1e-12)
