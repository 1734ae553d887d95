"""The dense interior point: against Clarabel, closed forms, and its own definitions."""

from itertools import combinations

import numpy as np
import pytest

from gramfold.errors import InfeasibleLengthsError, InputError, NoInteriorError, UnboundedProblemError
from gramfold.sdp.constraints import Pairs, Rows
from gramfold.sdp.dense import factor_above, longest, product
from gramfold.sdp.interior_point import grounded, memory, seconds, solve
from gramfold.sdp.primal_dual import Program, core
from gramfold.sdp.problem import Problem

FORMS = ("exact", "nonexpansive", "slack")


def instance(n, seed, mass=False):
    """A curved strip with noise in every dimension, so that the Gram matrix of the points is an interior point."""
    rng = np.random.default_rng(seed)
    t = 3 * rng.random(n)
    X = np.zeros((n, n))
    X[:, :3] = np.column_stack([np.cos(t), np.sin(t), rng.random(n)])
    X += 0.03 * rng.standard_normal((n, n))
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    near = np.argsort(distances, axis=1, kind="stable")[:, 1:4]
    kept = {tuple(sorted((i, int(j)))) for i in range(n) for j in near[i]}
    kept |= {tuple(sorted(pair)) for row in near for pair in combinations(row.tolist(), 2)}
    order = np.argsort(t)
    kept |= {tuple(sorted(pair)) for pair in zip(order[:-1].tolist(), order[1:].tolist(), strict=True)}  # one piece
    pairs = np.array(sorted(kept))
    return pairs, distances[pairs[:, 0], pairs[:, 1]], rng.uniform(0.5, 3.0, n) if mass else np.ones(n)


def optimum(problem):
    """The same program in CVXPY's words, solved by Clarabel; vertex 0 at the origin, or Clarabel has no interior."""
    import cvxpy

    n, m = len(problem), problem.mass
    X = cvxpy.Variable((n - 1, n - 1), PSD=True)
    B = (np.eye(n)[problem.pairs[:, 0]] - np.eye(n)[problem.pairs[:, 1]])[:, 1:]
    lengths = cvxpy.sum(cvxpy.multiply(B @ X, B), axis=1)
    value = cvxpy.trace((np.diag(m) - np.outer(m, m) / m.sum())[1:, 1:] @ X)
    constraints = []
    if problem.isometry == "slack":
        misfit = cvxpy.multiply(lengths - problem.squared, 1 / np.sqrt(problem.squared))
        value -= problem.stiffness / 2 * cvxpy.sum_squares(misfit)
    elif problem.isometry == "exact":
        constraints.append(lengths == problem.squared)
    else:
        constraints.append(lengths <= problem.squared)
    program = cvxpy.Problem(cvxpy.Maximize(value), constraints)
    program.solve(solver="CLARABEL", tol_gap_abs=1e-8, tol_gap_rel=1e-8, tol_feas=1e-8)
    assert program.status == "optimal"
    return program.value


def check_against_clarabel(pairs, distances, mass, isometry):
    problem = Problem.of(pairs, distances, mass=mass, isometry=isometry)
    expected = optimum(problem)
    solution = solve(pairs, distances, mass=mass, isometry=isometry)
    certificate = solution.certificate
    assert solution.converged
    assert certificate.primal == pytest.approx(expected, rel=1e-5)
    room = certificate.primal_uncertainty + 1e-6 * expected  # Clarabel's own error
    assert certificate.primal - room <= expected <= certificate.upper_bound + room
    assert certificate.max_violation <= 1e-6


# --- reference


@pytest.mark.parametrize("isometry", FORMS)
@pytest.mark.parametrize("seed", range(20))
def test_clarabel_finds_the_same_optimum(isometry, seed):
    n = 6 + seed % 10
    check_against_clarabel(*instance(n, seed, mass=seed % 3 == 0), isometry)


@pytest.mark.slow
@pytest.mark.parametrize("isometry", FORMS)
@pytest.mark.parametrize("seed", range(20))
def test_clarabel_finds_the_same_optimum_of_larger_graphs(isometry, seed):
    check_against_clarabel(*instance(22 + 2 * seed, 100 + seed, mass=seed % 3 == 0), isometry)


@pytest.mark.parametrize("grounding", [False, True])
def test_the_schur_matrix_is_the_trace_of_four_matrices(grounding):
    rng = np.random.default_rng(0)
    n, kept = 7, np.array(list(combinations(range(8 if grounding else 7), 2)))[::2]
    B = (np.eye(8)[kept[:, 0]] - np.eye(8)[kept[:, 1]])[:, :n]
    X, V = (a @ a.T for a in rng.standard_normal((2, n, n)))
    expected = np.array([[np.trace(np.outer(b, b) @ X @ np.outer(c, c) @ V) for c in B] for b in B])
    pairs = Pairs(*kept.T, n)
    for constraints in (pairs, Rows(B)):
        out = np.full((len(B), len(B)), np.nan)
        constraints.schur(X, V, out)
        np.testing.assert_allclose(np.triu(out), np.triu(expected), rtol=1e-10, atol=1e-12)


def test_pairs_and_rows_agree_with_the_definitions():
    rng = np.random.default_rng(1)
    kept, w = np.array([[0, 3], [1, 2], [3, 4], [0, 4], [1, 4]]), rng.standard_normal(5)
    B = (np.eye(5)[kept[:, 0]] - np.eye(5)[kept[:, 1]])[:, :4]
    A = rng.standard_normal((4, 4))
    A = A + A.T
    for constraints in (Pairs(*kept.T, 4), Rows(B)):
        np.testing.assert_allclose(constraints.lengths(A), np.diag(B @ A @ B.T))
        np.testing.assert_allclose(constraints.weighted(w), B.T @ np.diag(w) @ B, atol=1e-14)
        np.testing.assert_allclose(constraints.times(w, A), B.T @ np.diag(w) @ B @ A, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 5, 60])
def test_the_longest_step_ends_at_the_boundary(n):
    rng = np.random.default_rng(n)
    X, D = rng.standard_normal((2, n, n))
    X, D = X @ X.T + 0.1 * np.eye(n), D + D.T - 5 * np.eye(n)
    least = np.linalg.eigvals(np.linalg.solve(X, D)).real.min()
    found = longest(np.asfortranarray(np.linalg.cholesky(X)), D, 1e-6)
    assert found == pytest.approx(-1 / least, rel=1e-4)
    assert longest(np.asfortranarray(np.linalg.cholesky(X)), X) == np.inf


@pytest.mark.parametrize("m", [3, 400, 401, 700])
def test_factors_and_products_by_blocks(m):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((m, m))
    A = A @ A.T + np.eye(m)
    np.testing.assert_allclose(product(A.T, A), A.T @ A, rtol=1e-12, atol=1e-9)
    found = np.triu(A)  # nothing below the diagonal is read
    assert factor_above(found)
    np.testing.assert_allclose(np.triu(found), np.linalg.cholesky(A).T, atol=1e-10)
    A[-1, -1] = -1.0
    assert not factor_above(A)


@pytest.mark.parametrize("isometry", FORMS)
def test_any_vectors_in_place_of_pairs(isometry):
    # landmarks: y = Q l, and the kernel of the l is sought
    pairs, distances, _ = instance(40, 5)
    rng = np.random.default_rng(0)
    Q = rng.dirichlet(np.ones(6), 40)[:, 1:]  # the first landmark is the ground
    B = Q[pairs[:, 0]] - Q[pairs[:, 1]]
    C = Q.T @ (np.eye(40) - 1 / 40) @ Q
    squared = distances**2
    if isometry == "exact":
        B = B[:10]
        squared = (B**2).sum(axis=1) + 0.5 * B.sum(axis=1) ** 2  # those of X = 1 + 11ᵀ/2
    outcome = core(Program(Rows(B), squared, C, isometry), tol=1e-8)
    assert outcome.end == "converged"
    lengths, w = np.einsum("ek,kl,el->e", B, outcome.X, B), outcome.weights
    assert np.linalg.eigvalsh(B.T @ (w[:, None] * B) - C)[0] > -1e-9
    primal, bound = np.trace(C @ outcome.X), w @ squared
    if isometry == "nonexpansive":
        primal /= (lengths / squared).max()
        assert w.min() >= 0
    elif isometry == "slack":
        primal -= 50 * ((lengths - squared) ** 2 / squared).sum()
        bound += (w**2 @ squared) / 200
        np.testing.assert_allclose(w, 100 * (lengths / squared - 1), rtol=1e-3, atol=1e-3)
    else:
        np.testing.assert_allclose(lengths, squared, rtol=1e-6)
    assert primal == pytest.approx(bound, rel=1e-5)


def test_vectors_that_leave_a_direction_free_are_refused():
    B = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    with pytest.raises(UnboundedProblemError, match="do not bound the variance in some direction"):
        core(Program(Rows(B), np.ones(2), np.eye(3) - 1 / 3))


# --- theory


@pytest.mark.parametrize("isometry", ["exact", "nonexpansive"])
class TestClosedForms:
    def test_two_points(self, isometry):
        found = solve([[0, 1]], [3.0], mass=[2.0, 5.0], isometry=isometry)
        assert found.certificate.primal == pytest.approx(9 * 2 * 5 / 7, rel=1e-6)

    def test_a_path_unfolds_straight(self, isometry):
        lengths = np.array([1.0, 2.0, 0.5, 3.0, 1.5])
        found = solve([[k, k + 1] for k in range(5)], lengths, isometry=isometry)
        place = np.concatenate([[0], np.cumsum(lengths)])
        assert found.certificate.primal == pytest.approx(((place - place.mean()) ** 2).sum(), rel=1e-6)
        line = found.coordinates[:, 0] * np.sign(found.coordinates[-1, 0])
        np.testing.assert_allclose(line, place - place.mean(), atol=1e-4)
        assert (found.coordinates[:, 1:] ** 2).sum() <= 1e-5 * found.certificate.primal

    def test_a_complete_graph_is_pinned(self, isometry):
        Y = np.random.default_rng(3).standard_normal((6, 5))
        pairs = np.array(list(combinations(range(6), 2)))
        distances = np.linalg.norm(Y[pairs[:, 0]] - Y[pairs[:, 1]], axis=1)
        found = solve(pairs, distances, isometry=isometry)
        if isometry == "exact":
            Y = Y - Y.mean(axis=0)
            np.testing.assert_allclose(found.coordinates @ found.coordinates.T, Y @ Y.T, atol=1e-5)
        assert found.certificate.primal >= ((Y - Y.mean(axis=0)) ** 2).sum() * (1 - 1e-6)
        assert found.converged

    @pytest.mark.parametrize("n", [3, 4, 7, 12])
    def test_a_cycle_becomes_a_regular_polygon(self, isometry, n):
        found = solve([[k, (k + 1) % n] for k in range(n)], np.ones(n), isometry=isometry)
        radius = 0.5 / np.sin(np.pi / n)
        assert found.certificate.primal == pytest.approx(n * radius**2, rel=1e-6)
        np.testing.assert_allclose(np.linalg.norm(found.coordinates, axis=1), radius, rtol=1e-4)

    def test_a_star(self, isometry):
        # the leaves' directions cancel, so the centre is the centre
        found = solve([[0, k] for k in range(1, 6)], np.ones(5), isometry=isometry)
        assert found.certificate.primal == pytest.approx(5.0, rel=1e-6)

    def test_a_mass_of_two_is_the_vertex_given_twice(self, isometry):
        pairs, distances = [[0, 1], [1, 2], [2, 3], [1, 3]], [1.0, 2.0, 1.5, 1.0]
        heavy = solve(pairs, distances, mass=[1, 1, 1, 2], isometry=isometry)
        twice = solve([*pairs, [3, 4]], [*distances, 1e-5], isometry=isometry)
        assert heavy.certificate.primal == pytest.approx(twice.certificate.primal, rel=1e-4)


def test_slack_between_two_points():
    # max k/2 − (c/2)(k − d²)²/d²
    found = solve([[0, 1]], [2.0], isometry="slack", stiffness=10.0)
    assert found.certificate.primal == pytest.approx(4 / 2 + 4 / (8 * 10), rel=1e-6)
    assert found.certificate.weights == pytest.approx(0.5, rel=1e-4)


def test_stiff_slack_is_exact():
    pairs, distances, _ = instance(12, 0)
    exact, slack = (
        solve(pairs, distances, isometry=form, stiffness=1e6).certificate.primal for form in ("exact", "slack")
    )
    assert slack == pytest.approx(exact, rel=1e-3)
    assert slack > exact


def test_scale_and_numbering_do_not_matter():
    pairs, distances, mass = instance(20, 2, mass=True)
    turn = np.random.default_rng(0).permutation(20)
    back = np.argsort(turn)
    for isometry in FORMS:
        one = solve(pairs, distances, mass=mass, isometry=isometry)
        other = solve(turn[pairs], 1e3 * distances, mass=mass[back], isometry=isometry)
        assert other.certificate.primal == pytest.approx(1e6 * one.certificate.primal, rel=3e-6)


@pytest.mark.parametrize("isometry", FORMS)
@pytest.mark.parametrize("power", [-200, -100, -3, 5, 100, 200])
def test_powers_of_two_change_nothing_but_the_size(isometry, power):
    pairs, distances, mass = instance(15, 3, mass=True)
    one = solve(pairs, distances, mass=mass, isometry=isometry)
    other = solve(pairs, np.ldexp(distances, power), mass=mass, isometry=isometry)
    np.testing.assert_array_equal(other.coordinates, np.ldexp(one.coordinates, power))
    np.testing.assert_array_equal(other.certificate.weights, one.certificate.weights)
    assert other.certificate.upper_bound == np.ldexp(one.certificate.upper_bound, 2 * power)


def test_the_ground_changes_nothing():
    pairs, distances, mass = instance(10, 0, mass=True)
    problem = Problem.of(pairs, distances, mass=mass)
    program, ground = grounded(problem)
    Y = problem.centered(np.random.default_rng(0).standard_normal((10, 3)))
    held = np.delete(Y - Y[ground], ground, axis=0)
    X = held @ held.T
    assert np.vdot(program.objective, X) == pytest.approx(problem.variance(Y))
    np.testing.assert_allclose(program.constraints.lengths(X), problem.squared_lengths(Y))


# --- failure has a name


def test_lengths_of_no_points_are_refused_with_a_proof():
    # the centre of a unit triangle is 0.577 from its corners; 0.55 breaks no triangle inequality
    pairs = np.array([[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]])
    distances = np.array([1, 1, 1, 0.55, 0.55, 0.55])
    with pytest.raises(InfeasibleLengthsError, match="no points have these distances") as caught:
        solve(pairs, distances, isometry="exact")
    w = caught.value.weights
    assert w @ distances**2 < 0
    assert np.linalg.eigvalsh(Problem.of(pairs, distances).laplacian(w).toarray())[0] > -1e-9 * np.abs(w).max()
    assert solve(pairs, distances).converged
    assert solve(pairs, distances, isometry="slack").converged


def noiseless_roll(n):
    rng = np.random.default_rng(0)
    t = np.sqrt(rng.uniform(1.5**2, 4.5**2, n)) * np.pi
    X = np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    near = np.argsort(distances, axis=1, kind="stable")[:, 1:6]
    kept = {tuple(sorted((i, int(j)))) for i in range(n) for j in near[i]}
    kept |= {tuple(sorted(pair)) for row in near for pair in combinations(row.tolist(), 2)}
    pairs = np.array(sorted(kept))
    return pairs, distances[pairs[:, 0], pairs[:, 1]]


def test_no_interior_is_named():
    pairs, distances = noiseless_roll(200)
    with pytest.raises(NoInteriorError, match="These distances almost determine the kernel"):
        solve(pairs, distances, isometry="exact")


def test_a_tolerance_below_rounding_ends_without_that_name():
    pairs, distances, _ = instance(15, 1)
    solution = solve(pairs, distances, isometry="exact", tol=1e-15)
    assert not solution.converged
    assert abs(solution.certificate.gap) < 1e-7


@pytest.mark.parametrize("isometry", FORMS)
def test_the_best_answer_so_far(isometry):
    pairs, distances, _ = instance(30, 0)
    full = solve(pairs, distances, isometry=isometry).certificate
    for limit in ({"max_iter": 5}, {"time_limit": 0.0}):
        early = solve(pairs, distances, isometry=isometry, **limit)
        assert not early.converged
        assert early.steps[-1].iteration == limit.get("max_iter", 0)
        certificate = early.certificate
        assert certificate.upper_bound >= full.primal - full.primal_uncertainty
        if isometry == "exact":
            assert certificate.max_violation > 1e-6
        else:
            assert certificate.primal <= full.upper_bound
            assert certificate.max_violation <= 1e-12


@pytest.mark.parametrize("isometry", FORMS)
def test_steps_are_told_as_they_happen(isometry):
    pairs, distances, _ = instance(15, 3)
    told = []
    solution = solve(pairs, distances, isometry=isometry, listen=told.append)
    assert tuple(told) == solution.steps
    assert [step.iteration for step in told] == list(range(len(told)))
    bounds = [step.upper_bound for step in told]
    assert bounds == sorted(bounds, reverse=True)
    assert 0 <= told[-1].gap <= 1e-6
    assert all(solution.certificate.primal <= bound * (1 + 1e-6) for bound in bounds)


@pytest.mark.parametrize("isometry", FORMS)
def test_a_warm_start_needs_fewer_iterations(isometry):
    pairs, distances, _ = instance(30, 4)
    first = solve(pairs, distances, isometry=isometry)
    moved = distances * 1.0001
    cold = solve(pairs, moved, isometry=isometry)
    warm = solve(pairs, moved, isometry=isometry, start=first)
    assert warm.converged
    assert len(warm.steps) <= 0.75 * len(cold.steps)
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=3e-6)


def test_a_start_of_other_pairs_is_refused():
    start = solve([[0, 1], [1, 2]], [1.0, 1.0])
    with pytest.raises(InputError, match="start from a solution for the same pairs"):
        solve([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 1.0], start=start)


def test_forecasts_grow_with_the_problem():
    assert memory(800, 3381) > 8 * 3381**2
    assert seconds(100, 444) < 1 < seconds(800, 3381) < seconds(1500, 7000)
