"""Functions of earlier eigenvectors are told from new directions."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from gramfold.spectral.independent import NEW_DIRECTION, new_directions, step_levels


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
def test_matches_a_plain_regression(block):
    vectors, _ = rectangle(3.0, 2.0, 6, n=200)
    found = new_directions(vectors * [1, 50, 1, 1e-3, 1, 1] + 0.3, 6, entries_per_block=block)
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
    np.testing.assert_allclose(found.novelty, 1.0, atol=0.08)  # noise of a sample of 1,000


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
    sample = new_directions(vectors[np.linspace(0, 49_999, 1_000).astype(int)], 2)
    np.testing.assert_array_equal(found.novelty, sample.novelty)
    assert found.taken.tolist() == [0, 2]


def test_points_on_top_of_each_other():
    # three dots: any function of them is one of the first that tells them apart (a graph would call them groups)
    cluster = np.repeat([0, 1, 2], 100)
    vectors = np.array([[-1.0, 1.0, 0.5], [0.0, -2.0, 0.1], [1.0, 1.0, 0.2]])[cluster]
    found = new_directions(vectors, 3)
    assert found.taken.tolist() == [0]
    assert (found.novelty[1:] < 1e-6).all()
    assert NEW_DIRECTION == 0.5


# --- steps between groups, told by the graph


def smoothest(W: np.ndarray, count: int, *, normalized: bool = True) -> tuple[np.ndarray, csr_array]:
    """The smoothest functions on a graph of these weights, and its Laplacian."""
    L = np.diag(W.sum(axis=1)) - W
    _, vectors = eigh(L, np.diag(W.sum(axis=1)) if normalized else None, subset_by_index=(1, count))
    return vectors, csr_array(L)


def joined(X: np.ndarray, k: int, width: float | None = None) -> np.ndarray:
    """Weights of the neighbour graph of these points."""
    D = cdist(X, X)
    reach = np.sort(D, axis=1)[:, k]
    W = (np.maximum(reach[:, None], reach[None, :]) >= D) * (1.0 if width is None else np.exp(-0.5 * (D / width) ** 2))
    np.fill_diagonal(W, 0.0)
    return W


def groups(count: int, seed: int = 0, columns: int = 50) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centers = 2.0 * rng.standard_normal((count, columns))
    return centers[np.arange(420) % count] + rng.standard_normal((420, columns))


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("count", [3, 6])
def test_steps_between_groups_are_new_and_constant_on_them(count, normalized):
    W = joined(groups(count), 8) + 1e-4  # so that they hold together
    vectors, L = smoothest(W, count + 2, normalized=normalized)
    assert (new_directions(vectors, count).novelty[1 : count - 1] < 0.1).all()  # where the graph is not asked
    found = new_directions(vectors, count - 1, L)
    assert found.taken.tolist() == list(range(count - 1))
    np.testing.assert_array_equal(found.novelty[: count - 1], 1.0)
    for vector in vectors[:, : count - 1].T:
        levels = step_levels(L, vector)
        of_groups = levels.reshape(-1, count)
        np.testing.assert_allclose(of_groups, np.broadcast_to(of_groups[:1], of_groups.shape))
        assert np.corrcoef(levels, vector)[0, 1] > 0.99
    assert step_levels(L, vectors[:, count]) is None  # within a group


@pytest.mark.parametrize("shape", [(1.0, 1.0), (5.0, 1.0), (20.0, 1.0)])
@pytest.mark.parametrize("width", [None, 0.8])
def test_slopes_are_no_steps(shape, width):
    X = np.random.default_rng(0).random((600, 2)) * shape
    spacing = np.sqrt(8 * shape[0] * shape[1] / 600)
    vectors, L = smoothest(joined(X, 8, None if width is None else width * spacing), 6)
    assert [step_levels(L, vector) for vector in vectors.T] == [None] * 6
    with_graph, without = new_directions(vectors, 6, L), new_directions(vectors, 6)
    np.testing.assert_array_equal(with_graph.novelty, without.novelty)


def test_what_a_step_has_within_a_group_predicts_nothing():
    # two equal strips joined at one point: the first vector tells them apart, and drifts a little within each
    strip = np.random.default_rng(0).random((300, 2)) * [6.0, 1.0]
    W = np.zeros((600, 600))
    W[:300, :300] = W[300:, 300:] = joined(strip, 8)
    W[0, 300] = W[300, 0] = 0.2
    vectors, L = smoothest(W, 6)
    assert step_levels(L, vectors[:, 0]) is not None
    assert new_directions(vectors, 6).novelty[1] < 0.5
    found = new_directions(vectors, 3, L)
    assert found.taken.tolist() == [0, 1]
    assert found.novelty[1] > 0.8  # the length of both
    assert (found.novelty[2:] < 0.3).all()  # that length with the sign of the strip, and overtones


def test_a_constant_has_no_steps():
    L = smoothest(joined(groups(3), 8), 1)[1]
    assert step_levels(L, np.ones(420)) is None
