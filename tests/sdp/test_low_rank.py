from itertools import permutations

import numpy as np
import pytest

from gramfold.direct.factor import Factor, Symbolic
from gramfold.errors import UnboundedProblemError
from gramfold.sdp import interior_point, low_rank, low_rank_search
from gramfold.sdp.assembly import Assembly
from gramfold.sdp.problem import Problem
from tests.sdp.checking import dense_laplacian, verify
from tests.sdp.graphs import curved, nearest_pairs, path, straight

# --- theory


@pytest.mark.parametrize("lengths", [[2.0], [1.0, 1.0], [1.0, 2.0, 0.5, 1.5], list(np.linspace(0.1, 3.0, 40))])
def test_a_chain_is_pulled_straight(lengths):
    pairs, distances = path(lengths)
    solution = low_rank.solve(pairs, distances, tol=1e-7)
    assert solution.converged
    K = verify(solution, pairs, distances)
    np.testing.assert_allclose(np.trace(K), straight(lengths), rtol=1e-6)
    assert (solution.coordinates[:, 1:] ** 2).sum() < 1e-5 * np.trace(K)


@pytest.mark.parametrize("n", [3, 4, 7, 50])
def test_a_ring_becomes_a_regular_polygon(n):
    pairs = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    solution = low_rank.solve(pairs, np.ones(n), tol=1e-7)
    radius = 0.5 / np.sin(np.pi / n)
    np.testing.assert_allclose(solution.certificate.primal, n * radius**2, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(solution.coordinates, axis=1), radius, rtol=1e-3)


def test_a_star_with_three_arms_opens_to_a_line_or_a_plane():
    # three unit arms: Σ y = 0 and |y_i − y_0| = 1; the best is arms at 120 degrees, tr K = 3
    pairs = np.array([[0, 1], [0, 2], [0, 3]])
    solution = low_rank.solve(pairs, np.ones(3), tol=1e-7)
    np.testing.assert_allclose(solution.certificate.primal, 3.0, rtol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("long", [2.0, 3.0, 1e3])
def test_a_triangle_with_one_side_too_long_is_pulled_straight(long):
    # the third side never binds: 0 — 1 — 2 on a line, however the vertices and pairs are numbered
    for vertices in permutations(range(3)):
        for order in permutations(range(3)):
            pairs = np.array(vertices)[np.array([(0, 1), (1, 2), (0, 2)])[list(order)]]
            solution = low_rank.solve(pairs, np.array([1.0, 1.0, long])[list(order)])
            assert solution.converged
            np.testing.assert_allclose(solution.certificate.primal, 2.0, rtol=1e-3)


def test_a_flat_sheet_stays_as_it_is():
    points = np.random.default_rng(0).uniform(0, 1, (60, 2))
    D = np.linalg.norm(points[:, None] - points[None], axis=2)
    pairs = np.column_stack(np.triu_indices(60, 1))
    solution = low_rank.solve(pairs, D[pairs[:, 0], pairs[:, 1]], tol=1e-6)
    own = np.linalg.norm(solution.coordinates[:, None] - solution.coordinates[None], axis=2)
    np.testing.assert_allclose(own, D, atol=1e-3)


def test_masses_are_rows_given_again():
    points = curved(25, 0)
    pairs, distances = nearest_pairs(points, 3)
    mass = np.ones(25)
    mass[4] = 3.0
    once = low_rank.solve(pairs, distances, mass=mass, tol=1e-7)
    verify(once, pairs, distances, mass=mass)
    # two more vertices that the first holds at next to no distance
    tied = np.concatenate([pairs, [[4, 25], [4, 26]]])
    again = low_rank.solve(tied, np.concatenate([distances, [1e-5, 1e-5]]), tol=1e-7)
    np.testing.assert_allclose(once.certificate.primal, again.certificate.primal, rtol=1e-4)


# --- reference: the parts of an iteration written out


def test_assembled_matrices_are_the_plain_sums():
    points = curved(12, 0)
    pairs, _ = nearest_pairs(points, 3)
    random = np.random.default_rng(0)
    assembly = Assembly.of(pairs, 12)
    w, diagonal = random.random(len(pairs)), random.random(12)
    plain = dense_laplacian(pairs, w, 12)
    np.testing.assert_allclose(assembly.laplacian(w, diagonal).toarray(), plain + np.diag(diagonal), atol=1e-12)
    forms = random.standard_normal((len(pairs), 3, 3))
    forms += forms.transpose(0, 2, 1)
    blocks = np.kron(np.diag(diagonal), np.eye(3))
    for (i, j), form in zip(pairs, forms, strict=True):
        b = np.zeros(12)
        b[i], b[j] = 1.0, -1.0
        blocks += np.kron(np.outer(b, b), form)
    np.testing.assert_allclose(assembly.blocks(forms, diagonal).toarray(), blocks, atol=1e-12)
    D = points[pairs[:, 0]] - points[pairs[:, 1]]
    np.testing.assert_allclose(assembly.spread(w[:, None] * D), plain @ points, atol=1e-12)


def test_a_factor_of_blocks_solves():
    pairs, _ = nearest_pairs(curved(40, 0), 4)
    random = np.random.default_rng(0)
    assembly = Assembly.of(pairs, 40)
    forms = random.standard_normal((len(pairs), 3, 3))
    forms = forms @ forms.transpose(0, 2, 1)
    matrix = assembly.blocks(forms, np.ones(40))
    symbolic = Symbolic.of(assembly.pattern())
    wanted = random.standard_normal((120, 2))
    factor = Factor.of(matrix, symbolic.blocks(3))
    np.testing.assert_allclose(matrix @ factor.solve(wanted), wanted, atol=1e-9)
    assert factor.negative == 0


def test_the_direction_solves_the_linearised_conditions():
    """With θ = 1 the step is Newton's: along it every condition falls at the rate of its size."""
    points = curved(15, 0)
    pairs, distances = nearest_pairs(points, 3)
    problem = Problem.of(pairs, distances)
    search = low_rank_search.Search(problem, Symbolic.of(Assembly.of(pairs, 15).pattern()), None)
    search.measure(1e-3)
    newton = low_rank_search._Newton(search, theta=1.0)
    mu = 0.3
    step = newton.direction(mu, 0.0)
    h = 1e-6
    Y, s, v = search.Y, search.s, search.v

    def conditions(Y, s, v):
        return (
            problem.laplacian(v) @ Y - Y,
            problem.squared - problem.squared_lengths(Y) - s,
            v * s - mu,
        )

    now = conditions(Y, s, v)
    ahead = conditions(Y + h * step.y, s + h * step.s, v + h * step.v)
    behind = conditions(Y - h * step.y, s - h * step.s, v - h * step.v)
    for value, plus, minus in zip(now, ahead, behind, strict=True):
        np.testing.assert_allclose((plus - minus) / (2 * h), -value, atol=1e-5 * (1.0 + np.abs(value).max()))


# --- itself


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(30))
def test_small_graphs_of_any_lengths_are_certified(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    joined = np.triu(random.random((n, n)) < random.uniform(0.1, 1), 1) | np.diag(np.ones(n - 1, dtype=bool), 1)
    pairs = np.argwhere(joined)
    distances = (
        random.integers(1, 5, len(pairs)).astype(float) if seed % 2 else 10.0 ** random.uniform(-2, 2, len(pairs))
    )
    solution = low_rank.solve(pairs, distances)
    assert solution.converged
    verify(solution, pairs, distances)


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_are_certified_by_others(seed):
    random = np.random.default_rng(seed)
    points = curved(int(random.integers(30, 120)), seed, noise=float(random.uniform(0, 0.3)))
    pairs, distances = nearest_pairs(points, int(random.integers(3, 7)))
    solution = low_rank.solve(pairs, distances, tol=1e-5)
    assert solution.converged
    assert solution.certificate.gap <= 1e-5
    verify(solution, pairs, distances)


def test_random_rank_is_found():
    """Points of a ball in five dimensions, nearly rigid: the kernel needs more than three columns."""
    points = np.random.default_rng(0).standard_normal((60, 5))
    pairs, distances = nearest_pairs(points, 8)
    solution = low_rank.solve(pairs, distances, tol=1e-5)
    assert solution.converged
    verify(solution, pairs, distances)
    shares = (solution.coordinates**2).sum(axis=0) / (solution.coordinates**2).sum()
    assert (shares > 1e-3).sum() >= 4


def test_scale_of_the_distances_does_not_count():
    points = curved(60, 0)
    pairs, distances = nearest_pairs(points, 4)
    one, large = low_rank.solve(pairs, distances), low_rank.solve(pairs, 1e6 * distances)
    np.testing.assert_allclose(large.certificate.primal, 1e12 * one.certificate.primal, rtol=1e-6)
    np.testing.assert_allclose(large.certificate.weights, one.certificate.weights, rtol=1e-3, atol=1e-6)


def test_lengths_over_many_orders():
    random = np.random.default_rng(0)
    lengths = list(10.0 ** random.uniform(-4, 2, 60))
    pairs, distances = path(lengths)
    solution = low_rank.solve(pairs, distances, tol=1e-4)
    verify(solution, pairs, distances)
    np.testing.assert_allclose(solution.certificate.primal, straight(lengths), rtol=1e-3)


@pytest.mark.parametrize("slack", [1.5, 4.0])
def test_a_vertex_that_hangs_loose_leaves_the_line(slack):
    """In the middle of a straight line nothing pulls it aside: a step that only follows slopes would leave it there."""
    pairs, distances = path([1.0] * 39)
    pairs = np.vstack([pairs, [(19, 40), (20, 40)]])
    distances = np.append(distances, [0.5 * slack, 0.5 * slack])
    solution = low_rank.solve(pairs, distances, tol=1e-7)
    assert solution.converged
    verify(solution, pairs, distances)
    reference = interior_point.solve(pairs, distances, tol=1e-7)
    np.testing.assert_allclose(solution.certificate.primal, reference.certificate.primal, rtol=2e-7)
    # at the top of the triangle over the middle stick, for farther out along the line it may not go
    aside = np.linalg.norm(solution.coordinates[40] - solution.coordinates[[19, 20]].mean(axis=0))
    np.testing.assert_allclose(aside, 0.5 * np.sqrt(slack**2 - 1.0), rtol=1e-2)


def test_stopped_early_the_answer_is_feasible_and_certified():
    points = curved(100, 0)
    pairs, distances = nearest_pairs(points, 4)
    told = []
    solution = low_rank.solve(pairs, distances, max_iter=4, tol=1e-6, listen=told.append)
    assert not solution.converged
    assert solution.steps == tuple(told)
    assert len(told) == 4
    assert solution.certificate.gap > 1e-6
    verify(solution, pairs, distances)
    gaps = [step.gap for step in told]
    assert (np.diff(gaps) <= 0).all()
    assert len(low_rank.solve(pairs, distances, time_limit=1e-9, tol=1e-6).steps) == 1


def test_warm_start_saves_iterations():
    points = curved(150, 0)
    pairs, distances = nearest_pairs(points, 4)
    cold = low_rank.solve(pairs, distances, tol=1e-4)
    warm = low_rank.solve(pairs, 1.001 * distances, tol=1e-4, start=cold)
    assert warm.converged
    assert len(warm.steps) < len(cold.steps) / 2
    verify(warm, pairs, 1.001 * distances)


def test_a_graph_in_pieces_is_refused():
    with pytest.raises(UnboundedProblemError):
        low_rank.solve([[0, 1], [2, 3]], [1.0, 1.0])
