"""The turning teapot: a ring of pictures, well inside its frame and well lit."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from gramfold.datasets import Sample, make_teapots
from gramfold.datasets.teapots import BACKGROUND, LUMINANCE


@pytest.fixture(scope="module")
def ring() -> Sample:
    return make_teapots(72)


def test_neighbours_in_angle_are_nearest_in_picture_all_around(ring: Sample) -> None:
    distance = squareform(pdist(ring.points))
    np.fill_diagonal(distance, np.inf)
    nearest = np.sort(np.argsort(distance, axis=1)[:, :2], axis=1)
    place = np.arange(72)
    expected = np.sort(np.column_stack([(place - 1) % 72, (place + 1) % 72]), axis=1)
    assert np.array_equal(nearest, expected)


def test_the_last_step_closes_the_ring_like_any_other(ring: Sample) -> None:
    steps = np.linalg.norm(ring.points - np.roll(ring.points, -1, axis=0), axis=1)
    assert steps.min() > 0
    assert steps.max() < 1.5 * steps.min()  # of 100 photographs of a real one: 1.4
    assert steps.min() <= steps[-1] <= steps.max()
    assert ring.truth[-1, 0] + np.deg2rad(5.0) == pytest.approx(2 * np.pi)


def test_no_two_sides_look_alike() -> None:
    """A regular pattern would: turned by its own angle it comes to lie on itself."""
    distance = squareform(pdist(make_teapots(200).points))
    lag = np.abs(np.subtract.outer(np.arange(200), np.arange(200)))
    lag = np.minimum(lag, 200 - lag)
    assert distance[lag > 15].min() > 1.1 * distance[lag == 2].max()


def test_small_turns_change_the_picture_in_proportion() -> None:
    pictures = make_teapots(5, degrees=2.0).points
    distance = np.linalg.norm(pictures - pictures[0], axis=1)
    # edges pass over samples one by one, so a quarter is allowed for
    np.testing.assert_allclose(distance[1:], distance[4] * np.array([0.25, 0.5, 0.75, 1.0]), rtol=0.25)


def test_shorter_turn_includes_both_ends(ring: Sample) -> None:
    half = make_teapots(37, degrees=180.0)
    np.testing.assert_allclose(half.truth[:, 0], np.linspace(0.0, np.pi, 37))
    # the same angles of the whole turn give the same pictures, up to samples that rounding moves over an edge
    np.testing.assert_allclose(half.points, ring.points[:37], atol=0.1)
    assert np.abs(half.points - ring.points[:37]).mean() < 1e-5


def test_colour_pictures_have_the_dimension_of_the_paper() -> None:
    colour, grey = make_teapots(3, color=True), make_teapots(3)
    assert colour.points.shape[1] == 23028
    assert colour.image_shape == (76, 101, 3)
    assert grey.image_shape == (76, 101)
    luminance = colour.points.reshape(3, 76, 101, 3) @ LUMINANCE[:, 0]
    np.testing.assert_allclose(luminance.reshape(3, -1), grey.points, atol=1e-12)


@pytest.mark.parametrize("image_shape", [(76, 101), (40, 40), (30, 90), (90, 30)])
def test_teapot_stays_inside_the_picture(image_shape: tuple[int, int]) -> None:
    pictures = make_teapots(24, image_shape=image_shape).points.reshape(24, *image_shape)
    assert np.all((pictures >= 0) & (pictures <= 1))
    border = np.ones(image_shape, dtype=bool)
    border[1:-1, 1:-1] = False
    np.testing.assert_allclose(pictures[:, border], (BACKGROUND @ LUMINANCE)[0], atol=1e-12)


def test_teapot_is_well_lit(ring: Sample) -> None:
    solid = np.abs(ring.points - BACKGROUND @ LUMINANCE) > 1e-9
    share = solid.mean(axis=1)
    assert np.all((share > 0.2) & (share < 0.6))
    brightness = np.array([row[inside].mean() for row, inside in zip(ring.points, solid, strict=True)])
    assert np.all((brightness > 0.4) & (brightness < 0.75))


def test_handle_and_spout_are_on_opposite_sides() -> None:
    side, opposite = make_teapots(3, degrees=180.0, color=True).points[[0, 2]].reshape(2, 76, 101, 3)
    warm = side[..., 0] > side[..., 2] + 0.1  # the handle is brown, all else white and blue
    assert np.flatnonzero(warm[:, :30].any(axis=0)).size > 10
    assert not warm[:, 71:].any()
    warm = opposite[..., 0] > opposite[..., 2] + 0.1
    assert np.flatnonzero(warm[:, 71:].any(axis=0)).size > 10
    assert not warm[:, :30].any()


def test_nothing_is_random() -> None:
    assert np.array_equal(make_teapots(4).points, make_teapots(4).points)
