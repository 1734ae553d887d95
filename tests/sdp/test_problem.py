import numpy as np
import pytest

from gramfold.errors import DisconnectedGraphError, InfeasibleLengthsError, InputError, UnboundedProblemError
from gramfold.sdp.problem import Problem, by_variance
from tests.sdp.checking import dense_laplacian
from tests.sdp.graphs import curved, nearest_pairs


def test_laplacian_and_lengths_are_the_plain_ones():
    points = curved(20, 0)
    pairs, distances = nearest_pairs(points, 3)
    problem = Problem.of(pairs, distances)
    w = np.random.default_rng(0).random(len(pairs))
    np.testing.assert_allclose(problem.laplacian(w).toarray(), dense_laplacian(pairs, w, 20), atol=1e-12)
    np.testing.assert_allclose(problem.squared_lengths(points), distances**2)
    centered = problem.centered(points)
    # Σ w K_e = tr L(w) K, and tr K is the variance
    np.testing.assert_allclose(w @ problem.squared_lengths(points), np.trace(points.T @ problem.laplacian(w) @ points))
    np.testing.assert_allclose(problem.variance(centered), np.trace(centered @ centered.T))


def test_slack_bound_is_above_every_kernel():
    points = curved(15, 1)
    pairs, distances = nearest_pairs(points, 3)
    problem = Problem.of(pairs, distances, isometry="slack", stiffness=7.0)
    random = np.random.default_rng(2)
    w = random.random(len(pairs)) + 0.1
    least = np.linalg.eigvalsh(dense_laplacian(pairs, w, 15))[1]
    bound = problem.bound(w, least)
    for _ in range(50):
        other = problem.centered(points @ random.standard_normal((3, 4)) * random.random())
        assert problem.objective(other) < bound


def test_mass_counts_rows():
    points = curved(10, 3)
    pairs, distances = nearest_pairs(points, 2)
    mass = np.arange(1.0, 11.0)
    problem = Problem.of(pairs, distances, mass=mass)
    repeated = np.repeat(points, mass.astype(int), axis=0)
    centered = problem.centered(points)
    np.testing.assert_allclose(problem.variance(centered), ((repeated - repeated.mean(0)) ** 2).sum())


def test_turned_coordinates_have_the_same_kernel():
    Y = np.random.default_rng(0).standard_normal((12, 4))
    turned = by_variance(Y, np.ones(12))
    np.testing.assert_allclose(turned @ turned.T, Y @ Y.T, atol=1e-12)
    scatter = turned.T @ turned
    np.testing.assert_allclose(scatter, np.diag(np.diag(scatter)), atol=1e-10)
    assert (np.diff(np.diag(scatter)) < 0).all()


def test_pieces_are_unbounded():
    with pytest.raises(UnboundedProblemError, match=r"2 connected components.*without limit"):
        Problem.of([[0, 1], [2, 3]], [1.0, 1.0])
    assert issubclass(UnboundedProblemError, DisconnectedGraphError)
    with pytest.raises(UnboundedProblemError, match="vertices 0 and 2"):
        Problem.of([[0, 1]], [1.0], mass=np.ones(3))


def test_broken_triangle_is_infeasible_in_the_exact_form_only():
    pairs, distances = [[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 2.5]
    with pytest.raises(InfeasibleLengthsError, match=r"pair \(0, 2\).*triangle"):
        Problem.of(pairs, distances, isometry="exact")
    Problem.of(pairs, distances)
    Problem.of(pairs, [1.0, 1.0, 2.0], isometry="exact")  # a straight line is allowed


@pytest.mark.parametrize(
    ("pairs", "distances", "words"),
    [
        ([[0, 1]], [0.0], "merge vertices"),
        ([[0, 1]], [np.nan], "positive"),
        ([[0, 1]], [np.inf], "multiply all by a constant"),
        ([[0, 1]], [1e300], "multiply all by a constant"),
        ([[0, 1]], [1e-200], "multiply all by a constant"),
        ([[0, 0], [0, 1]], [1.0, 1.0], "paired with itself"),
        ([[0, 1], [1, 0]], [1.0, 1.0], "given twice"),
        ([[0, 1]], [1.0, 2.0], "shape"),
        (np.empty((0, 2)), [], "m >= 1"),
        ([[-1, 1]], [1.0], "a pair has vertex -1"),
    ],
)
def test_bad_pairs(pairs, distances, words):
    with pytest.raises(InputError, match=words):
        Problem.of(pairs, distances)


def test_messages_call_vertices_by_their_names():
    names = np.array([7, 3, 12])
    with pytest.raises(InfeasibleLengthsError, match=r"pair \(7, 12\)"):
        Problem.of([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 2.5], isometry="exact", names=names)
    with pytest.raises(InputError, match=r"pair \(3, 12\) is 0"):
        Problem.of([[0, 1], [1, 2]], [1.0, 0.0], names=names)


def test_bad_mass_and_form():
    with pytest.raises(InputError, match="mass"):
        Problem.of([[0, 1]], [1.0], mass=[1.0, 0.0])
    with pytest.raises(InputError, match="a pair has vertex 5, but there are 2 vertices"):
        Problem.of([[0, 5]], [1.0], mass=[1.0, 1.0])
    with pytest.raises(InputError, match="isometry='rigid'"):
        Problem.of([[0, 1]], [1.0], isometry="rigid")
