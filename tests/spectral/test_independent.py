"""Functions of earlier eigenvectors are told from new directions."""

import numpy as np
import pytest

from gramfold.spectral import independent
from gramfold.spectral.independent import NEW_DIRECTION, new_directions


def rectangle(length: float, height: float, count: int, n: int = 1500, seed: int = 0) -> tuple[np.ndarray, list]:
    """The smoothest functions cos(aπs/L) cos(bπh/H) at random places, and their (a, b)."""
    s, h = np.random.default_rng(seed).random((2, n))
    modes = sorted(
        ((a, b) for a in range(30) for b in range(30) if a + b > 0),
        key=lambda ab: (ab[0] / length) ** 2 + (ab[1] / height) ** 2,
    )[:count]
    return np.column_stack([np.cos(a * np.pi * s) * np.cos(b * np.pi * h) for a, b in modes]), modes


@pytest.mark.parametrize("height", [90.0 * 0.9, 36.0, 21.0, 9.0])
def test_of_a_rectangle_its_two_sides_are_new(height):
    vectors, modes = rectangle(90.0, height, 20)
    found = new_directions(vectors, 20)
    assert [modes[i] for i in found.taken] == [(1, 0), (0, 1)]
    assert found.novelty[found.taken].min() > 0.85
    assert np.delete(found.novelty, found.taken).max() < 0.45


def test_a_circle_needs_two_and_a_sphere_three():
    t = np.random.default_rng(0).random(1000) * 2 * np.pi
    waves = np.column_stack([wave(m * t) for m in range(1, 6) for wave in (np.cos, np.sin)])
    assert new_directions(waves, 10).taken.tolist() == [0, 1]
    x, y, z = np.random.default_rng(0).standard_normal((3, 1500))
    x, y, z = np.array([x, y, z]) / np.sqrt(x**2 + y**2 + z**2)
    harmonics = np.column_stack([x, y, z, x * y, y * z, x * z, x**2 - y**2, 3 * z**2 - 1])
    assert new_directions(harmonics, 8).taken.tolist() == [0, 1, 2]


def test_a_trace_of_the_height_in_an_overtone_does_not_hide_the_height():
    vectors, modes = rectangle(90.0, 21.0, 5)
    assert modes[3:] == [(4, 0), (0, 1)]
    turn = np.deg2rad(15)
    vectors[:, 3:] = vectors[:, 3:] @ [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    assert new_directions(vectors, 2).taken.tolist() == [0, 4]


def reference_novelty(taken: np.ndarray, other: np.ndarray) -> float:
    """Point by point, by least squares on weighted rows with a ridge on the slopes."""
    n, q = taken.shape
    near = 5 * (q + 1)
    taken = (taken - taken.mean(axis=0)) / taken.std(axis=0)
    misfit = np.empty(n)
    for i in range(n):
        distances = np.linalg.norm(taken - taken[i], axis=1)
        others = np.argsort(distances)[1 : 2 * near + 1]
        width = distances[others[near - 1]]
        root = np.exp(-0.5 * (distances[others] / width) ** 2)
        rows = root[:, None] * np.column_stack([np.ones(len(others)), (taken[others] - taken[i]) / width])
        ridge = np.sqrt(1e-3 * np.sum(root**2)) * np.eye(q + 1)[1:]
        plane = np.linalg.lstsq(np.vstack([rows, ridge]), np.append(root * other[others], np.zeros(q)))[0]
        misfit[i] = other[i] - plane[0]
    return float(np.sqrt(np.mean(misfit**2)) / other.std())


@pytest.mark.parametrize("block", [10**6, 5_000])
def test_matches_a_plain_regression(block, monkeypatch):
    monkeypatch.setattr(independent, "_ENTRIES_PER_BLOCK", block)
    vectors, _ = rectangle(3.0, 2.0, 6, n=200)
    found = new_directions(vectors * [1, 50, 1, 1e-3, 1, 1] + 0.3, 6)
    assert found.taken.tolist() == [0, 1]
    assert found.novelty[0] == 1
    assert found.novelty[1] == pytest.approx(reference_novelty(vectors[:, :1], vectors[:, 1]), rel=1e-9)
    for other in range(2, 6):
        by_one, by_both = (reference_novelty(vectors[:, :q], vectors[:, other]) for q in (1, 2))
        assert found.novelty[other] == pytest.approx(min(by_one, by_both), rel=1e-9)


def test_noise_is_new():
    vectors = np.random.default_rng(0).standard_normal((2000, 3))
    found = new_directions(vectors, 3)
    assert found.taken.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.novelty, 1.0, atol=0.05)


def test_only_as_many_as_asked_for():
    vectors, _ = rectangle(3.0, 2.0, 6)
    assert new_directions(vectors, 1).taken.tolist() == [0]


def test_what_cannot_be_known_counts_as_new():
    few = np.linspace(-1, 1, 49)
    found = new_directions(np.column_stack([few, few**2]), 2)
    assert found.taken.tolist() == [0, 1]
    assert np.isnan(found.novelty[1])
    enough = np.linspace(-1, 1, 50)
    assert new_directions(np.column_stack([enough, enough**2]), 2).taken.tolist() == [0]


def test_at_most_six_are_asked():
    vectors = np.random.default_rng(0).standard_normal((1000, 10))
    vectors[:, 8] = vectors[:, 6]  # a copy of the seventh
    vectors[:, 9] = np.sin(vectors[:, 0])  # a function of the first
    found = new_directions(vectors, 10)
    assert found.taken.tolist() == list(range(9))
    assert found.novelty[8] > 0.9


def test_large_data_are_judged_on_even_steps_through_them():
    vectors, _ = rectangle(90.0, 36.0, 4, n=50_000)
    found = new_directions(vectors, 2)
    sample = new_directions(vectors[np.linspace(0, 49_999, 4_000).astype(int)], 2)
    np.testing.assert_array_equal(found.novelty, sample.novelty)
    assert found.taken.tolist() == [0, 2]


def test_points_on_top_of_each_other():
    # three tight clusters: any function of them is one of the first that tells them apart
    cluster = np.repeat([0, 1, 2], 100)
    vectors = np.array([[-1.0, 1.0, 0.5], [0.0, -2.0, 0.1], [1.0, 1.0, 0.2]])[cluster]
    found = new_directions(vectors, 3)
    assert found.taken.tolist() == [0]
    assert (found.novelty[1:] < 1e-6).all()
    assert NEW_DIRECTION == 0.5
