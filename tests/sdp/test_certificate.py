import numpy as np
import pytest
from scipy.linalg import eigh

from gramfold.sdp import interior_point
from gramfold.sdp.certificate import certify, proved_least
from gramfold.sdp.problem import Problem
from tests.sdp.checking import verify
from tests.sdp.graphs import curved, nearest_pairs, path, straight


def second_eigenvalue(L, mass):
    return eigh(L.toarray(), np.diag(mass), eigvals_only=True)[1]


@pytest.mark.parametrize("seed", range(5))
def test_least_eigenvalue_is_below_the_true_one_and_close(seed):
    random = np.random.default_rng(seed)
    points = curved(60, seed)
    pairs, distances = nearest_pairs(points, 4)
    problem = Problem.of(pairs, distances)
    L = problem.laplacian(np.exp(3 * random.standard_normal(len(pairs))))
    mass = random.integers(1, 4, 60).astype(float)
    truth = second_eigenvalue(L, mass)
    found = proved_least(L, mass, random.standard_normal((60, 2)))
    assert found <= truth * (1 + 1e-12)
    assert found > 0.999 * truth


def test_multipliers_of_both_signs():
    points = curved(30, 0)
    pairs, distances = nearest_pairs(points, 5)
    problem = Problem.of(pairs, distances, isometry="exact")
    w = np.ones(len(pairs))
    w[::7] = -0.05
    L = problem.laplacian(w)
    truth = second_eigenvalue(L, np.ones(30))
    assert truth > 0
    found = proved_least(L, np.ones(30), points)
    assert 0.999 * truth < found <= truth * (1 + 1e-12)


def test_what_is_not_positive_is_not_proved():
    pairs, distances = path([1.0, 1.0, 1.0])
    problem = Problem.of(pairs, distances, isometry="exact")
    assert (
        proved_least(problem.laplacian(np.array([1.0, -0.5, 1.0])), np.ones(4), np.zeros((4, 1)) + [[1], [2], [3], [4]])
        == 0
    )
    certificate = certify(problem, np.arange(4.0)[:, None], np.array([1.0, -0.5, 1.0]))
    assert certificate.upper_bound == np.inf
    assert certificate.gap == 1.0


def test_optimum_of_a_chain_has_no_gap():
    lengths = [1.0, 2.0, 0.5, 1.5]
    pairs, distances = path(lengths)
    places = np.concatenate([[0.0], np.cumsum(lengths)])
    places -= places.mean()
    # L(w) Y = Y along a chain: the tension w_e d_e is the sum of the places on one side
    w = -np.cumsum(places)[:-1] / distances
    certificate = certify(Problem.of(pairs, distances), places[:, None], w)
    np.testing.assert_allclose(certificate.primal, straight(lengths))
    assert 0 <= certificate.gap < 1e-8
    np.testing.assert_allclose(certificate.weights, w, rtol=1e-7)


def test_a_shrunk_kernel_and_poor_multipliers_show_in_the_gap():
    pairs, distances = path([1.0, 1.0, 1.0])
    problem = Problem.of(pairs, distances)
    places = np.array([[-1.5], [-0.5], [0.5], [1.5]])
    good = certify(problem, places, np.array([1.5, 2.0, 1.5]))
    assert good.gap < 1e-8
    np.testing.assert_allclose(certify(problem, 0.9 * places, np.array([1.5, 2.0, 1.5])).gap, 1 - 0.81, atol=1e-8)
    assert certify(problem, places, np.ones(3)).gap > 0.01
    long = certify(problem, 1.1 * places, np.array([1.5, 2.0, 1.5]))
    np.testing.assert_allclose(long.max_violation, 0.1)


def test_scale_of_the_multipliers_does_not_count():
    points = curved(40, 2)
    pairs, distances = nearest_pairs(points, 3)
    problem = Problem.of(pairs, distances)
    w = np.random.default_rng(0).random(len(pairs))
    one, many = certify(problem, points, w), certify(problem, points, 1e6 * w)
    np.testing.assert_allclose(one.upper_bound, many.upper_bound, rtol=1e-6)


@pytest.mark.parametrize("long", [3.0, 30.0, 1e3, 1e6])
def test_slack_bound_where_every_kernel_costs_more_than_it_gains(long):
    # one stick is far too long for the others: the optimum is negative, and multipliers may be larger than they need be
    pairs, distances = np.array([[0, 1], [1, 2], [0, 2]]), np.array([1.0, 1.0, long])
    problem = Problem.of(pairs, distances, isometry="slack")
    solution = interior_point.solve(pairs, distances, isometry="slack", tol=1e-6)
    assert solution.converged
    assert solution.certificate.upper_bound < 0
    verify(solution, pairs, distances, isometry="slack")
    random = np.random.default_rng(0)
    for _ in range(50):
        other = problem.centered(solution.coordinates + 0.1 * random.standard_normal(solution.coordinates.shape))
        assert problem.objective(other) < solution.certificate.upper_bound


def test_near_vectors_may_be_zero():
    points = curved(220, 0)
    pairs, distances = nearest_pairs(points, 3)
    L = Problem.of(pairs, distances).laplacian(np.ones(len(pairs)))
    found = proved_least(L, np.ones(220), np.column_stack([points, np.zeros((220, 2))]))
    assert 0.999 < found / second_eigenvalue(L, np.ones(220)) <= 1


def test_exact_form_says_what_its_violation_is_worth():
    pairs, distances = path([1.0, 1.0])
    problem = Problem.of(pairs, distances, isometry="exact")
    certificate = certify(problem, np.array([[-1.01], [0.0], [1.01]]), np.array([1.0, 1.0]))
    np.testing.assert_allclose(certificate.primal_uncertainty, 2 * (1.01**2 - 1.0), rtol=1e-6)
    np.testing.assert_allclose(certificate.max_violation, 0.01)
    assert abs(certificate.primal - 2.0) <= certificate.primal_uncertainty * (1 + 1e-9)
