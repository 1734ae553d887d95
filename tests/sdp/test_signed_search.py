"""The exact and slack forms by a low-rank factor: closed forms, the dense solver, and the conditions written out."""

from dataclasses import replace

import numpy as np
import pytest

from gramfold.direct.factor import Factor, Symbolic
from gramfold.errors import InfeasibleLengthsError
from gramfold.sdp import interior_point, low_rank
from gramfold.sdp.assembly import Assembly
from gramfold.sdp.augmented import Augmented
from gramfold.sdp.dual_path import DualPath
from gramfold.sdp.newton_matrix import NewtonMatrix
from gramfold.sdp.problem import Problem
from tests.sdp.checking import dense_laplacian, verify
from tests.sdp.graphs import curved, nearest_pairs, path, straight
from tests.sdp.test_interior_point import instance

FORMS = ("exact", "slack")


def in_order(n: int, seed: int, k: int = 4, **options) -> tuple[Problem, Symbolic]:
    """A problem of points on a spiral, and its elimination: in the order of the numbers, lengths of mean 1."""
    return ordered(Problem.of(*nearest_pairs(curved(n, seed), k), **options))


def ordered(problem: Problem) -> tuple[Problem, Symbolic]:
    symbolic = low_rank.elimination_of(problem)
    return replace(
        problem, pairs=symbolic.number[problem.pairs], squared=problem.squared / problem.squared.mean()
    ), symbolic.renumbered()


# --- theory


@pytest.mark.parametrize("lengths", [[2.0], [1.0, 2.0, 0.5, 1.5], list(np.linspace(0.1, 3.0, 30))])
def test_a_chain_of_rods_is_pulled_straight(lengths):
    pairs, distances = path(lengths)
    solution = low_rank.solve(pairs, distances, isometry="exact", tol=1e-5)
    assert solution.converged
    verify(solution, pairs, distances, isometry="exact")
    np.testing.assert_allclose(solution.certificate.primal, straight(lengths), rtol=1e-5)


def test_a_chain_of_springs_is_longer_by_its_tensions():
    """In a straight chain w_e times the length is the sum of the places on one side, and lengths are d (1 + w/C)^½."""
    lengths = np.array([1.0, 2.0, 0.5, 1.5])
    pairs, distances = path(list(lengths))
    solution = low_rank.solve(pairs, distances, isometry="slack", stiffness=50.0, tol=1e-6)
    verify(solution, pairs, distances, isometry="slack", stiffness=50.0)
    stretched, w = lengths.copy(), np.zeros(4)
    for _ in range(200):
        places = np.concatenate([[0.0], np.cumsum(stretched)])
        w = -np.cumsum(places - places.mean())[:-1] / stretched
        stretched = lengths * np.sqrt(1.0 + w / 50.0)
    np.testing.assert_allclose(solution.certificate.weights, w, rtol=1e-3)
    own = np.linalg.norm(np.diff(solution.coordinates, axis=0), axis=1)
    np.testing.assert_allclose(own, stretched, rtol=1e-4)


@pytest.mark.parametrize("n", [4, 7, 30])
def test_a_ring_becomes_a_regular_polygon(n):
    pairs = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    solution = low_rank.solve(pairs, np.ones(n), isometry="exact", tol=1e-5)
    radius = 0.5 / np.sin(np.pi / n)
    np.testing.assert_allclose(solution.certificate.primal, n * radius**2, rtol=1e-5)


def test_rods_may_need_to_be_held_apart():
    """The diagonal of a kite holds its ends apart: pressure, a negative weight."""
    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    distances = np.array([1.0, 1.0, 2.0, 2.0, 1.0])
    solution = low_rank.solve(pairs, distances, isometry="exact", tol=1e-5)
    verify(solution, pairs, distances, isometry="exact")
    # 1 and 3 as far apart as they can be, in a plane on either side of the diagonal; Σ |y|² = Σ of all d² / 4
    near, far = np.sqrt(1.0 - 0.25), np.sqrt(4.0 - 0.25)
    np.testing.assert_allclose(solution.certificate.primal, (2 + 8 + 1 + (near + far) ** 2) / 4, rtol=1e-5)
    slope = (1.0 - (near + far) ** 2 / (4.0 * near * far)) / 4.0  # of that by the diagonal's d²
    np.testing.assert_allclose(solution.certificate.weights[4], slope, rtol=1e-2)
    assert solution.certificate.max_violation < 1e-6


# --- reference


@pytest.mark.parametrize("isometry", FORMS)
@pytest.mark.parametrize("seed", range(8))
def test_the_dense_solver_finds_the_same_optimum(isometry, seed):
    pairs, distances, mass = instance(20 + 10 * seed, seed, mass=seed % 3 == 0)
    solution = low_rank.solve(pairs, distances, mass=mass, isometry=isometry, tol=1e-4)
    assert solution.converged
    verify(solution, pairs, distances, mass=mass, isometry=isometry)
    dense = interior_point.solve(pairs, distances, mass=mass, isometry=isometry).certificate
    assert abs(solution.certificate.primal / dense.primal - 1) <= 1e-4
    assert solution.certificate.upper_bound >= dense.primal - dense.primal_uncertainty
    assert solution.certificate.max_violation <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("isometry", "stiffness"), [("exact", 100.0), ("slack", 100.0), ("slack", 30_000.0)])
def test_the_dense_solver_finds_the_same_optimum_of_a_roll(isometry, stiffness):
    from gramfold.datasets import make_swiss_roll

    points = make_swiss_roll(400, extra_dimensions=20, extra_noise=0.05, random_state=0).points
    pairs, distances = nearest_pairs(points, 4)
    options = {"isometry": isometry, "stiffness": stiffness}
    solution = low_rank.solve(pairs, distances, tol=1e-4, **options)
    assert solution.converged
    verify(solution, pairs, distances, **options)
    dense = interior_point.solve(pairs, distances, **options).certificate
    assert abs(solution.certificate.primal / dense.primal - 1) <= 1e-4


def test_blocks_are_those_of_the_assembled_matrix():
    problem, symbolic = in_order(60, 0)
    graph = Assembly.of(problem.pairs, 60)
    rng = np.random.default_rng(0)
    m = len(problem.pairs)
    for rank in (1, 3, 5):
        w, c, D, diagonal = rng.random(m), rng.random(m), rng.standard_normal((m, rank)), rng.random(60)
        forms = c[:, None, None] * D[:, :, None] * D[:, None, :] + w[:, None, None] * np.eye(rank)
        plain = Factor.of(graph.blocks(forms, diagonal), symbolic.blocks(rank))
        found = NewtonMatrix.of(graph, symbolic, rank).factored(w, c, D, diagonal)
        wanted = rng.standard_normal((60 * rank, 1))
        np.testing.assert_allclose(found.solve(wanted), plain.solve(wanted), rtol=1e-8, atol=1e-10)


def test_the_direction_solves_the_linearised_conditions():
    """Undamped, the step is Newton's: along it every condition falls at the rate of its size."""
    problem, symbolic = in_order(15, 0, k=3, isometry="exact")
    rng = np.random.default_rng(0)
    Y = problem.centered(rng.standard_normal((15, 4)))
    m = len(problem.pairs)
    w, anchor, stiff = rng.uniform(40, 50, m), rng.standard_normal(m), rng.uniform(1, 2, m)
    matrix = NewtonMatrix.of(Assembly.of(problem.pairs, 15), symbolic, 4)
    state = Augmented(problem, matrix, Y, w, damping=0.0)

    def conditions(Y, w):
        return problem.laplacian(w) @ Y - Y, w - anchor - stiff * (problem.squared_lengths(Y) - problem.squared)

    dY, dw = state.direction(anchor + stiff * state.excess(Y), stiff)
    h = 1e-6
    now, ahead, behind = conditions(Y, w), conditions(Y + h * dY, w + h * dw), conditions(Y - h * dY, w - h * dw)
    for value, plus, minus in zip(now, ahead, behind, strict=True):
        np.testing.assert_allclose((plus - minus) / (2 * h), -value, atol=1e-5 * (1.0 + np.abs(value).max()))


def test_steps_lead_to_the_optimum_of_the_augmented_lagrangian():
    problem, symbolic = in_order(40, 1, isometry="slack", stiffness=30.0)
    rng = np.random.default_rng(0)
    matrix = NewtonMatrix.of(Assembly.of(problem.pairs, 40), symbolic, 6)
    state = Augmented(problem, matrix, problem.centered(rng.standard_normal((40, 6))), np.ones(len(problem.pairs)))
    nothing, stiff = np.zeros(len(problem.pairs)), problem.stiffness / problem.squared
    for _ in range(60):
        if not state.step(nothing, stiff):
            break
    np.testing.assert_allclose(problem.laplacian(state.w) @ state.Y, state.Y, atol=1e-4 * np.abs(state.Y).max())
    np.testing.assert_allclose(state.w, stiff * state.excess(state.Y), rtol=1e-4, atol=1e-4 * np.abs(state.w).max())


def test_mended_coordinates_keep_their_distances():
    problem, symbolic = in_order(40, 2, isometry="exact")
    solution = low_rank.solve_problem(problem)
    rank = solution.coordinates.shape[1]
    Y = solution.coordinates + 1e-3 * np.random.default_rng(0).standard_normal((40, rank))
    matrix = NewtonMatrix.of(Assembly.of(problem.pairs, 40), symbolic, rank)
    state = Augmented(problem, matrix, Y, solution.certificate.weights)
    mended = state.mended()
    assert np.abs(state.excess(Y) / problem.squared).max() > 1e-2
    assert np.abs(state.excess(mended) / problem.squared).max() < 1e-6
    assert np.abs(mended - problem.centered(Y)).max() < 0.1


@pytest.mark.parametrize("isometry", FORMS)
def test_the_path_of_multipliers(isometry):
    """Tails are those of the dense inverse, every iterate proves a bound, and the last bound is the optimum's."""
    pairs, distances, _ = instance(50, 3)
    problem, symbolic = ordered(Problem.of(pairs, distances, isometry=isometry))
    dense = interior_point.solve_problem(problem, tol=1e-6)
    matrix = NewtonMatrix.of(Assembly.of(problem.pairs, 50), symbolic, 8)
    Y = dense.coordinates[:, :8]
    # multipliers that are wrong, and prove nothing
    noise = np.random.default_rng(0).standard_normal(len(problem.pairs))
    w = dense.certificate.weights * (1.0 + 0.01 * noise)
    track = DualPath(problem, symbolic, matrix, Y, w, 1e-4)
    for step in range(60):
        S = dense_laplacian(problem.pairs, track.w, 50) - track.theta * np.eye(50)
        assert (np.linalg.eigvalsh(S) < 0).sum() == 1  # the constant vector's
        if step % 10 == 0:
            i, j = problem.pairs.T
            inverse = np.linalg.inv(S)
            spread = inverse[i, i] + inverse[j, j] - 2 * inverse[i, j]
            found = track._spread(track._factor(track.w))
            np.testing.assert_allclose(found, spread, rtol=1e-5, atol=1e-9 * spread.max())
        track.advance()
    bound = problem.bound(track.w, track.theta)
    assert dense.certificate.primal * (1 - 1e-6) <= bound <= dense.certificate.upper_bound * (1 + 2e-3)


# --- itself


@pytest.mark.parametrize("isometry", FORMS)
def test_unit_and_order_do_not_count(isometry):
    pairs, distances, _ = instance(40, 3)
    one = low_rank.solve(pairs, distances, isometry=isometry, tol=1e-5).certificate
    large = low_rank.solve(pairs, 1e6 * distances, isometry=isometry, tol=1e-5).certificate
    np.testing.assert_allclose(large.primal, 1e12 * one.primal, rtol=3e-5)
    turned = np.random.default_rng(0).permutation(40)
    other = low_rank.solve(turned[pairs], distances, isometry=isometry, tol=1e-5).certificate
    np.testing.assert_allclose(other.primal, one.primal, rtol=3e-5)


@pytest.mark.parametrize("isometry", FORMS)
def test_stopped_early_the_answer_is_certified(isometry):
    pairs, distances = nearest_pairs(curved(100, 0), 4)
    told = []
    solution = low_rank.solve(pairs, distances, isometry=isometry, max_iter=2, tol=1e-6, listen=told.append)
    assert not solution.converged
    assert solution.steps == tuple(told)
    assert len(told) == 2
    verify(solution, pairs, distances, isometry=isometry)
    assert len(low_rank.solve(pairs, distances, isometry=isometry, time_limit=1e-9, tol=1e-6).steps) == 1


@pytest.mark.parametrize("isometry", FORMS)
def test_a_warm_start_saves_rounds(isometry):
    pairs, distances, _ = instance(80, 4)
    cold = low_rank.solve(pairs, distances, isometry=isometry, tol=1e-4)
    warm = low_rank.solve(pairs, 1.001 * distances, isometry=isometry, tol=1e-4, start=cold)
    assert warm.converged
    assert len(warm.steps) < len(cold.steps)
    verify(warm, pairs, 1.001 * distances, isometry=isometry)


def test_lengths_that_no_points_have():
    # three points a unit from the fourth and 1.9 from each other: angles there would add up to more than 360 degrees
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
    distances = np.array([1.0, 1.0, 1.0, 1.9, 1.9, 1.9])
    with pytest.raises(InfeasibleLengthsError) as caught:
        low_rank.solve(pairs, distances, isometry="exact")
    w = caught.value.weights
    assert w @ distances**2 < 0
    assert np.linalg.eigvalsh(dense_laplacian(pairs, w, 4))[0] > -1e-9 * np.abs(w).max()
    solution = low_rank.solve(pairs, distances, isometry="slack")
    assert solution.converged
    verify(solution, pairs, distances, isometry="slack")
