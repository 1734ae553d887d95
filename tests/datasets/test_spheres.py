"""Parts of the sphere: on it, evenly, with nothing where something was cut away."""

from typing import Literal

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.stats import kstest

from gramfold.datasets import make_punctured_sphere, make_severed_sphere


def test_severed_sphere_is_inverted_by_its_truth() -> None:
    points, truth = make_severed_sphere(2000, random_state=0)
    longitude, latitude = truth.T
    radius = np.cos(latitude)
    rebuilt = np.column_stack([radius * np.cos(longitude), radius * np.sin(longitude), np.sin(latitude)])
    np.testing.assert_allclose(points, rebuilt, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(np.arctan2(points[:, 1], points[:, 0]) % (2 * np.pi), longitude, atol=1e-14)


def test_severed_parts_are_empty() -> None:
    points, _ = make_severed_sphere(20000, polar_gap=0.3, slice_gap=0.8, random_state=0)
    longitude = np.arctan2(points[:, 1], points[:, 0]) % (2 * np.pi)
    from_pole = np.arccos(np.abs(points[:, 2]))
    assert longitude.max() < 2 * np.pi - 0.8
    assert from_pole.min() > 0.3
    # and nothing more is missing
    assert longitude.max() > 2 * np.pi - 0.81
    assert from_pole.min() < 0.31


def test_severed_sphere_is_even_in_area() -> None:
    points, truth = make_severed_sphere(5000, random_state=0)
    reach = np.cos(np.pi / 8)
    assert kstest((points[:, 2] / reach + 1) / 2, "uniform").pvalue > 0.01
    assert kstest(truth[:, 0] / (2 * np.pi - 0.55), "uniform").pvalue > 0.01


@pytest.mark.parametrize("sampling", ["area", "plane"])
def test_stereographic_coordinates_invert(sampling: Literal["area", "plane"]) -> None:
    cap = 0.7
    points, truth = make_punctured_sphere(5000, cap=cap, sampling=sampling, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(points[:, :2] / (1 - points[:, 2:]), truth, rtol=1e-12)
    assert np.arccos(points[:, 2]).min() > cap
    assert np.arccos(points[:, 2]).min() < cap + 0.05


@pytest.mark.parametrize("sampling", ["area", "plane"])
def test_punctured_sphere_is_sampled_as_documented(sampling: Literal["area", "plane"]) -> None:
    points, truth = make_punctured_sphere(5000, sampling=sampling, random_state=0)
    share_of_area = (points[:, 2] + 1) / (1 + np.cos(np.pi / 3))
    share_of_disc = (truth**2).sum(axis=1) * np.tan(np.pi / 6) ** 2
    even, uneven = (share_of_area, share_of_disc) if sampling == "area" else (share_of_disc, share_of_area)
    assert kstest(even, "uniform").pvalue > 0.01
    assert kstest(uneven, "uniform").pvalue < 1e-10
    direction = np.arctan2(truth[:, 1], truth[:, 0]) / (2 * np.pi) % 1
    assert kstest(direction, "uniform").pvalue > 0.01


def test_stereographic_truth_is_conformal() -> None:
    # small triangles keep their angles: all three sides grow by the same factor, (1 + |y|²) / 2
    points, truth = make_punctured_sphere(6000, random_state=0)
    i, j = cKDTree(points).query_pairs(0.02, output_type="ndarray").T
    chord = np.linalg.norm(points[i] - points[j], axis=1)
    flat = np.linalg.norm(truth[i] - truth[j], axis=1)
    factor = np.sqrt((1 + (truth[i] ** 2).sum(axis=1)) * (1 + (truth[j] ** 2).sum(axis=1))) / 2
    assert len(chord) > 1000
    np.testing.assert_allclose(flat, factor * chord, rtol=1e-9, atol=1e-14)
