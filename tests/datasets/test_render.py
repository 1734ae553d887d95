"""The rasteriser, against shapes whose pictures can be computed by hand."""

import numpy as np
import pytest

from gramfold.datasets._mesh import Mesh, join, revolve
from gramfold.datasets._render import Camera, Light, render

FAR = Camera(elevation=0.0, distance=1e6, frame=(4.0, 4.0))  # as good as parallel rays
LAMP = Light(direction=(0.0, 0.0, 1.0), ambient=0.0, diffuse=1.0)
EVEN = Light(direction=(0.0, 0.0, 1.0), ambient=1.0, diffuse=0.0)
BLACK = np.zeros(1)


def ball(radius: float, shade: float, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Mesh:
    latitude = np.linspace(-np.pi / 2, np.pi / 2, 90)
    profile = radius * np.column_stack([np.cos(latitude), np.sin(latitude)])
    mesh = revolve(profile, 180).painted(np.array([shade]))
    return Mesh(mesh.vertices + shift, mesh.normals, mesh.triangles, mesh.colors)


def area(picture: np.ndarray) -> float:
    """In the units of a frame of width 4."""
    return float(picture.sum() * 16 / picture.shape[0] / picture.shape[1])


def test_ball_is_a_disc_of_its_area() -> None:
    picture = render(ball(1.0, 1.0), FAR, EVEN, BLACK, (80, 80), 3)
    assert area(picture) == pytest.approx(np.pi, rel=2e-3)
    assert picture.max() == pytest.approx(1.0, abs=1e-9)
    # no sample inside the disc is missed between two triangles
    y, x = np.indices((80, 80)) / 20 - 2 + 1 / 40
    inside = np.hypot(x, y) < 1 - 0.08
    assert picture[inside].min() == pytest.approx(1.0, abs=1e-9)
    assert picture[np.hypot(x, y) > 1 + 0.08].max() == 0.0


def test_lambert_shading_of_a_ball() -> None:
    picture = render(ball(1.0, 1.0), FAR, LAMP, BLACK, (80, 80), 3)[..., 0]
    # a lamp behind the camera: the brightness is the third coordinate, whose mean over the disc is 2/3
    assert area(picture) == pytest.approx(2 / 3 * np.pi, rel=2e-3)
    y, x = np.indices((80, 80)) / 20 - 2 + 1 / 40
    inside = np.hypot(x, y) < 0.9
    np.testing.assert_allclose(picture[inside], np.sqrt(1 - x[inside] ** 2 - y[inside] ** 2), atol=0.01)


def test_the_nearer_solid_hides_the_farther() -> None:
    near, far = ball(0.5, 0.25, (0.0, -3.0, 0.0)), ball(1.0, 1.0)
    for solids in ([near, far], [far, near]):
        picture = render(join(solids), FAR, EVEN, BLACK, (80, 80), 3)
        assert area(picture) == pytest.approx(np.pi * (1 - 0.25) + 0.25 * np.pi * 0.25, rel=3e-3)
        assert picture[40, 40, 0] == pytest.approx(0.25)
    hidden = render(join([ball(0.5, 0.25, (0.0, 3.0, 0.0)), far]), FAR, EVEN, BLACK, (80, 80), 3)
    assert hidden[40, 40, 0] == pytest.approx(1.0)


def test_solids_that_cross_are_cut_where_they_cross() -> None:
    # two equal balls side by side meet in the plane between them
    left, right = ball(1.0, 0.2, (-0.5, 0.0, 0.0)), ball(1.0, 0.8, (0.5, 0.0, 0.0))
    picture = render(join([left, right]), FAR, EVEN, BLACK, (80, 80), 3)[..., 0]
    assert np.all(picture[40, 32:39] == pytest.approx(0.2))
    assert np.all(picture[40, 42:48] == pytest.approx(0.8))


def test_perspective_enlarges_what_is_near() -> None:
    camera = Camera(elevation=0.0, distance=10.0, frame=(4.0, 4.0))
    at = {y: area(render(ball(0.3, 1.0, (0.0, y, 0.0)), camera, EVEN, BLACK, (120, 120), 3)) for y in (-2.0, 2.0)}
    # a ball at distance d is seen under the radius r / √(d² − r²)
    assert at[-2.0] / at[2.0] == pytest.approx((144 - 0.09) / (64 - 0.09), rel=0.01)


def test_a_raised_camera_sees_near_things_lower() -> None:
    camera = Camera(elevation=0.4, distance=1e6, frame=(4.0, 4.0))
    rows = np.indices((80, 80))[0] / 20 - 2 + 1 / 40
    for y, z in [(-1.0, 0.0), (1.0, 0.0), (0.0, 1.0)]:
        picture = render(ball(0.3, 1.0, (0.0, y, z)), camera, EVEN, BLACK, (80, 80), 3)[..., 0]
        middle = (rows * picture).sum() / picture.sum()
        assert middle == pytest.approx(-y * np.sin(0.4) - z * np.cos(0.4), abs=2e-3)


def test_solid_that_leaves_the_frame_is_cut_off() -> None:
    picture = render(ball(1.0, 1.0, (2.0, 0.0, 0.0)), FAR, EVEN, BLACK, (80, 80), 3)
    assert area(picture) == pytest.approx(np.pi / 2, rel=3e-3)
    outside = render(ball(1.0, 1.0, (9.0, 0.0, 0.0)), FAR, EVEN, BLACK, (80, 80), 3)
    assert not outside.any()


@pytest.mark.parametrize("shape", [(40, 80), (80, 40)])
def test_frame_is_fitted_without_stretching(shape: tuple[int, int]) -> None:
    picture = render(ball(1.8, 1.0), FAR, EVEN, BLACK, shape, 3)[..., 0]
    assert np.count_nonzero(picture.sum(axis=0)) == np.count_nonzero(picture.sum(axis=1)) == 36
