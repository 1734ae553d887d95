"""Torus and helix: even in area and in arc length."""

import numpy as np
import pytest
from scipy.stats import kstest

from gramfold.datasets import make_helix, make_torus


def test_torus_points_follow_their_angles() -> None:
    points, truth = make_torus(2000, major_radius=3.0, minor_radius=0.5, random_state=0)
    from_axis = np.hypot(points[:, 0], points[:, 1])
    np.testing.assert_allclose(np.hypot(from_axis - 3.0, points[:, 2]), 0.5, atol=1e-14)
    np.testing.assert_allclose(np.arctan2(points[:, 1], points[:, 0]) % (2 * np.pi), truth[:, 0], atol=1e-13)
    np.testing.assert_allclose(np.arctan2(points[:, 2], from_axis - 3.0) % (2 * np.pi), truth[:, 1], atol=1e-12)


@pytest.mark.parametrize("minor_radius", [0.2, 1.0, 2.0])
def test_torus_is_even_in_area(minor_radius: float) -> None:
    _, truth = make_torus(5000, minor_radius=minor_radius, random_state=0)
    around_axis, around_tube = truth.T
    share_of_area = (around_tube + minor_radius / 2.0 * np.sin(around_tube)) / (2 * np.pi)
    assert kstest(around_axis / (2 * np.pi), "uniform").pvalue > 0.01
    assert kstest(share_of_area, "uniform").pvalue > 0.01


def test_outer_half_of_the_torus_holds_its_share() -> None:
    _, truth = make_torus(40000, random_state=0)
    outer = np.cos(truth[:, 1]) > 0
    # area of the outer half over the whole: 1/2 + r / (πR)
    assert outer.mean() == pytest.approx(0.5 + 1 / (2 * np.pi), abs=4 * 0.5 / 200)


def test_helix_points_follow_their_angle() -> None:
    points, truth = make_helix(2000, turns=5, random_state=0)
    angle = truth[:, 0]
    from_axis = 2 + np.cos(5 * angle)
    expected = [from_axis * np.cos(angle), from_axis * np.sin(angle), np.sin(5 * angle)]
    np.testing.assert_allclose(points, np.transpose(expected), atol=1e-12)


@pytest.mark.parametrize(("turns", "minor_radius"), [(1, 2.0), (3, 1.0), (8, 0.3)])
def test_helix_is_even_in_arc_length(turns: int, minor_radius: float) -> None:
    _, truth = make_helix(5000, turns=turns, minor_radius=minor_radius, random_state=0)
    # length walked up to each angle, measured along a fine polygon
    angle = np.linspace(0.0, 2 * np.pi, 400_001)
    from_axis = 2 + minor_radius * np.cos(turns * angle)
    fine = np.column_stack([from_axis * np.cos(angle), from_axis * np.sin(angle), minor_radius * np.sin(turns * angle)])
    walked = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1)))
    share = np.interp(truth[:, 0], angle, walked / walked[-1])
    assert kstest(share, "uniform").pvalue > 0.01


def test_helix_arc_length_is_inverted_exactly() -> None:
    from scipy.integrate import quad

    from gramfold.datasets.tori import _even_along_turn

    def speed(v: float) -> float:
        return float(np.hypot(2 + 1.5 * np.cos(v), 1.5 * 2))

    share = np.array([0.0, 0.1, 0.37, 0.5, 0.81, 1.0])
    angle = _even_along_turn(share, turns=2, major=2.0, minor=1.5)
    whole = quad(speed, 0.0, 2 * np.pi, epsabs=1e-13)[0]
    walked = [quad(speed, 0.0, end, epsabs=1e-13)[0] / whole for end in angle]
    np.testing.assert_allclose(walked, share, atol=1e-13)
