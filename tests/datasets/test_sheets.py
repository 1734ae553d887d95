"""Sheets: the roll and the S are isometric to their truth, and evenly covered."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.stats import kstest

from gramfold.datasets import Sample, make_s_curve, make_swiss_roll, make_twin_peaks
from gramfold.datasets.sheets import SPIRAL_START, _spiral_angle, _spiral_length

SHEETS = {"roll": make_swiss_roll, "s": make_s_curve}


def sheet(name: str, n_samples: int, seed: int) -> Sample:
    return SHEETS[name](n_samples, random_state=seed)


def roll_at(truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """The default roll as a map from truth to space."""
    t = _spiral_angle(truth[:, 0], 90.0)
    return np.column_stack([t * np.cos(t), truth[:, 1], t * np.sin(t)])


def test_arc_length_of_the_spiral_is_inverted_to_the_last_bits() -> None:
    arc = np.linspace(0.0, 1000.0, 5000)
    t = _spiral_angle(arc, 1000.0)
    start = _spiral_length(np.array(SPIRAL_START))
    np.testing.assert_allclose(_spiral_length(t), start + arc, rtol=1e-15 * 4)
    assert t[0] == pytest.approx(SPIRAL_START, abs=1e-14)


def test_default_roll_ends_near_the_usual_place() -> None:
    points, _ = make_swiss_roll(20000, random_state=0)
    radius = np.hypot(points[:, 0], points[:, 2])
    assert radius.min() == pytest.approx(1.5 * np.pi, abs=0.01)
    assert radius.max() == pytest.approx(4.5 * np.pi, abs=0.05)


@pytest.mark.parametrize("name", SHEETS)
def test_chord_is_the_true_distance_to_second_order(name: str) -> None:
    points, truth = sheet(name, 4000, 0)
    curvature = 0.25 if name == "roll" else 1.0  # at most: of the spiral at t = 3π/2, and of the unit circle
    i, j = cKDTree(truth).query_pairs(0.5, output_type="ndarray").T
    true = np.linalg.norm(truth[i] - truth[j], axis=1)
    chord = np.linalg.norm(points[i] - points[j], axis=1)
    shortfall = true - chord
    assert len(true) > 1000
    assert shortfall.min() > -1e-12
    # an arc s of curvature κ has a chord of at least s (1 − (κs)²/24)
    assert np.all(shortfall <= true * (curvature * true) ** 2 / 24 + 1e-12)


def test_path_in_truth_is_as_long_in_space() -> None:
    share = np.linspace(0.0, 1.0, 200_001)[:, None]
    truth = (1 - share) * [0.0, 3.0] + share * [90.0, 20.0]
    steps = np.diff(roll_at(truth), axis=0)
    assert np.linalg.norm(steps, axis=1).sum() == pytest.approx(np.hypot(90.0, 17.0), rel=1e-9)


def test_roll_points_are_where_their_truth_says() -> None:
    points, truth = make_swiss_roll(500, random_state=3)
    np.testing.assert_allclose(points, roll_at(truth), atol=1e-12)


@pytest.mark.parametrize(("name", "length", "height"), [("roll", 90.0, 21.0), ("s", 3 * np.pi, 2.0)], ids=["roll", "s"])
def test_even_in_arc_length_and_height(name: str, length: float, height: float) -> None:
    _, truth = sheet(name, 5000, 7)
    assert kstest(truth[:, 0] / length, "uniform").pvalue > 0.01
    assert kstest(truth[:, 1] / height, "uniform").pvalue > 0.01


def test_hole_is_empty_and_the_rest_is_even() -> None:
    n_samples = 8000
    points, truth = make_swiss_roll(n_samples, hole=True, random_state=0)
    unit = truth / [90.0, 21.0]
    assert len(points) == n_samples
    assert not np.any(np.all((unit > 1 / 3) & (unit < 2 / 3), axis=1))
    counts, _, _ = np.histogram2d(unit[:, 0], unit[:, 1], bins=9, range=[[0, 1], [0, 1]])
    assert counts[3:6, 3:6].sum() == 0
    outside = counts[np.kron([[1, 1, 1], [1, 0, 1], [1, 1, 1]], np.ones((3, 3))) > 0]
    expected = n_samples / 72
    chi_squared = ((outside - expected) ** 2 / expected).sum()
    assert chi_squared < 71 + 4 * np.sqrt(2 * 71)
    np.testing.assert_allclose(points, roll_at(truth), atol=1e-12)


def test_extra_dimensions_hold_only_their_noise() -> None:
    plain = make_swiss_roll(800, random_state=0)
    wide = make_swiss_roll(800, extra_dimensions=20, random_state=0)
    assert np.array_equal(wide.points[:, :3], plain.points)
    assert np.array_equal(wide.truth, plain.truth)
    extra = wide.points[:, 3:]
    assert extra.shape[1] == 20
    assert extra.std() == pytest.approx(0.05, rel=0.025)
    silent = make_swiss_roll(50, extra_dimensions=4, extra_noise=0.0, random_state=0)
    assert np.all(silent.points[:, 3:] == 0)


def test_s_curve_lies_on_two_circles() -> None:
    points, truth = make_s_curve(500, random_state=0)
    upper = truth[:, 0] < 1.5 * np.pi
    centre = np.where(upper, 1.0, -1.0)
    np.testing.assert_allclose(np.hypot(points[:, 0], points[:, 2] - centre), 1.0, atol=1e-14)
    np.testing.assert_array_equal(points[:, 1], truth[:, 1])


def test_twin_peaks_surface() -> None:
    points, truth = make_twin_peaks(5000, peak=2.0, random_state=0)
    np.testing.assert_array_equal(points[:, :2], truth)
    np.testing.assert_allclose(points[:, 2], 2 * np.sin(np.pi * truth[:, 0]) * np.tanh(3 * truth[:, 1]), atol=1e-15)
    # two hills on one diagonal, two hollows on the other
    assert np.all(np.sign(points[:, 2]) == np.sign(truth[:, 0] * truth[:, 1]))
    assert kstest((truth[:, 0] + 1) / 2, "uniform").pvalue > 0.01
