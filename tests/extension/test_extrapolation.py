"""How far outside of the training points others lie."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.errors import ExtrapolationWarning
from gramfold.extension.extrapolation import LIMIT, Ball, Surroundings, share_of_radius, warn_if_outside


def plain(points: np.ndarray, new: np.ndarray) -> list[float]:
    distinct, outside = np.unique(points, axis=0), []
    for x in new:
        away = np.linalg.norm(distinct - x, axis=1)
        nearest = int(away.argmin())
        reach = np.sort(np.linalg.norm(distinct - distinct[nearest], axis=1))[min(8, len(distinct) - 1)]
        outside.append(away[nearest] / reach)
    return outside


@pytest.mark.parametrize("d", [2, 30])  # a tree, and blocks
def test_against_a_plain_version(d):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((80, d))
    points = np.vstack([points, points[:30], points[:30]])  # copies are no neighbours
    new = 2 * rng.standard_normal((40, d))
    np.testing.assert_allclose(Surroundings(points, 1)(new), plain(points, new), rtol=1e-9)


def test_sparse_points_agree():
    rng = np.random.default_rng(0)
    points, new = rng.random((60, 12)), rng.random((20, 12)) + 0.5
    found = Surroundings(csr_array(points), 1)(csr_array(new))
    np.testing.assert_allclose(found, Surroundings(points, 1)(new), rtol=1e-7)


def test_it_grows_with_the_distance_and_not_with_the_scale():
    rng = np.random.default_rng(1)
    points = rng.random((500, 2))
    line = np.column_stack([np.linspace(1.5, 20, 30), np.full(30, 0.5)])
    outside = Surroundings(points, 1)(line)
    assert (np.diff(outside) > 0).all()
    np.testing.assert_allclose(Surroundings(1e-6 * points, 1)(1e-6 * line), outside, rtol=1e-9)


def test_a_reach_of_next_to_nothing_is_infinitely_far_away():
    np.testing.assert_array_equal(
        share_of_radius(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1e-320])), [0, np.inf, np.inf]
    )


def test_points_of_the_same_source_are_seldom_outside():
    rng = np.random.default_rng(2)
    for p in (1, 2, 5):
        outside = Surroundings(rng.random((2000, p)), 1)(rng.random((5000, p)))
        assert (outside > 1).mean() < 0.01
        assert (outside < LIMIT).all()


def test_a_ball_searches_only_beyond_it():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((200, 3))
    around, asked = Surroundings(points, 1), []

    def surroundings():
        asked.append(1)
        return around

    new = np.vstack([0.1 * points[:5], points[:5] + 50])
    outside = Ball.of(points).outside(new, surroundings)
    np.testing.assert_array_equal(outside[:5], 0)
    np.testing.assert_allclose(outside[5:], around(new[5:]))
    assert (Ball.of(points).outside(points, surroundings) == 0).all()
    assert len(asked) == 1
    sparse = Ball.of(csr_array(points)).outside(csr_array(new), lambda: Surroundings(csr_array(points), 1))
    np.testing.assert_allclose(sparse, outside, rtol=1e-7)


def test_what_is_far_is_told_in_words():
    with pytest.warns(
        ExtrapolationWarning,
        match=r"2 of 3 rows are farther than 3 neighbourhood radii from the training data \(index 2: 7 radii\)",
    ):
        warn_if_outside(np.array([1.0, 4.0, 7.0]), "rows")
    warn_if_outside(np.array([LIMIT, 0.0]), "rows")
