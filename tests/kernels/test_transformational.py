import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array, random_array

from gramfold.errors import ApproximationWarning, InputError
from gramfold.kernels.basis import LinearBasis, MixtureBasis
from gramfold.kernels.transformational import (
    ClassWeights,
    Problem,
    Vertices,
    solve,
    solve_by_vertices,
    transformational_map,
)


def random_problem(n=80, r=5, seed=0, offset=1.0):
    """A random connected graph, and random functions of its vertices: their columns, read as they are."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
    W = csr_array(upper + upper.T + np.eye(n, k=1) + np.eye(n, k=-1))
    Z = offset + rng.standard_normal((n, r))
    order = rng.permutation(n)
    return Problem(Vertices(Z, np.arange(n), order), W, np.asarray(W.sum(axis=1)).ravel()), LinearBasis(np.zeros(r))


def plain(problem, Z):
    """Z W Zᵀ and Z D Zᵀ with everything dense."""
    W = problem.weights
    W = (W.memberships @ W.memberships.T).toarray() if isinstance(W, ClassWeights) else W.toarray()
    W = W + np.diag(problem.degrees - W.sum(axis=1))
    return Z.T @ W @ Z, Z.T @ np.diag(problem.degrees) @ Z


@pytest.mark.parametrize("graph", ["edges", "classes", "equal degrees"])
@pytest.mark.parametrize("entries", [50, 10**7])
def test_small_matrices_are_the_products_whatever_the_blocks(graph, entries):
    problem, _ = random_problem()
    basis = MixtureBasis(problem.vertices.points[:6], 1.5)
    if graph == "equal degrees":
        problem = Problem(problem.vertices, problem.weights, np.full(80, problem.degrees.max()))
    if graph == "classes":
        weights = ClassWeights(csr_array(random_array((80, 3), density=0.4, rng=0)))
        problem = Problem(problem.vertices, weights, weights.degrees)
    made = problem.matrices(basis, entries_per_block=entries)
    for found, expected in zip(made, plain(problem, basis(problem.vertices.points).toarray()), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_raw_solves_the_small_problem():
    problem, basis = random_problem()
    joined, scatter = plain(problem, problem.vertices.points)
    values, vectors = eigh(joined, scatter)
    found = transformational_map(problem, basis, 3, "raw")
    np.testing.assert_allclose(found.leading, values[-1], rtol=1e-12)
    np.testing.assert_allclose(found.spectrum.penalties, 1 - values[-2:-5:-1], rtol=1e-10)
    expected = problem.vertices.points @ vectors[:, -2:-5:-1]
    np.testing.assert_allclose(np.abs(found.places), np.abs(expected), atol=1e-10)
    np.testing.assert_allclose(found.places.T @ (problem.degrees[:, None] * found.places), np.eye(3), atol=1e-12)


def test_affine_adds_the_constant_to_the_functions():
    problem, basis = random_problem()
    joined, scatter = plain(problem, np.hstack([problem.vertices.points, np.ones((80, 1))]))
    values = eigh(joined, scatter, eigvals_only=True)[::-1]
    found = transformational_map(problem, basis, 3, "affine")
    np.testing.assert_allclose(found.spectrum.penalties, 1 - values[1:4], rtol=1e-9)
    assert abs(found.leading - 1) < 1e-12
    assert found.ripple < 1e-10


def test_stochastic_divides_the_raw_coordinates_by_the_first():
    problem, basis = random_problem(offset=4.0)
    raw = transformational_map(problem, basis, 3, "raw")
    found = transformational_map(problem, basis, 3, "stochastic")
    joined, scatter = plain(problem, problem.vertices.points)
    lead = problem.vertices.points @ eigh(joined, scatter)[1][:, -1]
    np.testing.assert_allclose(np.abs(found.places), np.abs(raw.places / lead[:, None]), rtol=1e-8)
    np.testing.assert_allclose(found(problem.vertices.points), found.places, rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_reweighted_has_the_constant_exactly_where_no_combination_is_constant(seed):
    problem, basis = random_problem(seed=seed, offset=4.0)
    raw = transformational_map(problem, basis, 3, "raw")
    assert raw.ripple > 0.1
    found = transformational_map(problem, basis, 3, "reweighted")
    assert abs(found.leading - 1) < 1e-10
    assert found.ripple < 1e-10
    # and with that the coordinates have the mean that an embedding of the graph has
    assert np.abs(problem.degrees @ found.places).max() < 1e-9 * np.sqrt(problem.degrees.sum())


def test_where_the_constant_is_a_combination_all_four_agree():
    problem, _ = random_problem()
    basis = MixtureBasis(problem.vertices.points[:6], 1.5)
    maps = [transformational_map(problem, basis, 3, form) for form in ("raw", "affine", "reweighted")]
    for one in maps[1:]:
        np.testing.assert_allclose(one.places, maps[0].places, atol=1e-9)
    stochastic = transformational_map(problem, basis, 3, "stochastic").places
    np.testing.assert_allclose(stochastic / stochastic[0], maps[0].places / maps[0].places[0], rtol=1e-6)


@pytest.mark.parametrize("form", ["reweighted", "stochastic"])
def test_what_cannot_be_divided_by_is_told(form):
    problem, basis = random_problem(offset=0.0)  # the leading combination changes its sign
    with pytest.warns(ApproximationWarning, match="approximation='affine' was used"):
        found = transformational_map(problem, basis, 3, form)
    affine = transformational_map(problem, basis, 3, "affine")
    np.testing.assert_array_equal(found.places, affine.places)


def test_a_raw_solution_that_is_not_nearly_constant_stays():
    problem, basis = random_problem(offset=0.0)
    joined, scatter = plain(problem, problem.vertices.points)
    found = transformational_map(problem, basis, 2, "raw")
    np.testing.assert_allclose(found.spectrum.penalties, 1 - eigh(joined, scatter)[0][-1:-3:-1], rtol=1e-10)


def test_stochastic_drops_what_it_divides_by_however_uneven_that_is():
    rng = np.random.default_rng(0)
    problem, basis = random_problem(offset=4.0)
    Z = problem.vertices.points * np.exp(1.3 * rng.standard_normal((80, 1)))  # one sign, and sizes of all orders
    problem = Problem(Vertices(Z, np.arange(80), np.arange(80)), problem.weights, problem.degrees)
    values, vectors = eigh(*plain(problem, Z))
    lead = Z @ vectors[:, -1]
    assert (problem.degrees @ lead) ** 2 < 0.5 * problem.degrees.sum()  # nearer to something else than to the constant
    found = transformational_map(problem, basis, 3, "stochastic")
    np.testing.assert_allclose(found.spectrum.penalties, 1 - values[-2:-5:-1], rtol=1e-10)
    expected = Z @ vectors[:, -2:-5:-1] / lead[:, None]
    np.testing.assert_allclose(np.abs(found.places), np.abs(expected), atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("form", ["raw", "affine", "stochastic", "reweighted"])
@pytest.mark.parametrize("r", [40, 90])
def test_of_several_components_the_constant_is_dropped_and_no_other(form, r):
    """Functions that can be constant on each component: five solutions with λ = 1."""
    rng = np.random.default_rng(0)
    W = np.kron(np.eye(5), rng.random((12, 12)))
    W = csr_array(W + W.T)
    turn = np.linalg.qr(rng.standard_normal((r, r)))[0]
    Z = np.hstack([np.kron(np.eye(5), np.ones((12, 1))), rng.standard_normal((60, r - 5))]) @ turn
    problem = Problem(Vertices(Z, np.arange(60), rng.permutation(60)), W, np.asarray(W.sum(axis=1)).ravel())
    found = transformational_map(problem, LinearBasis(np.zeros(r)), 4, form)
    assert found.leading == pytest.approx(1, abs=1e-9)
    assert found.ripple < 1e-6
    np.testing.assert_allclose(found.spectrum.penalties, 0, atol=1e-9)
    assert np.abs(problem.degrees @ found.places).max() < 1e-6 * (problem.degrees @ np.abs(found.places)).max()
    assert np.linalg.matrix_rank(found.places[::12], tol=1e-3 * np.abs(found.places).max()) == 4


def test_kernel_is_the_pseudo_inverse_of_the_penalty_on_the_functions():
    problem, basis = random_problem()
    found = transformational_map(problem, basis, 4, "affine")
    Z = np.hstack([problem.vertices.points, np.ones((80, 1))])
    joined, scatter = plain(problem, Z)
    values, vectors = eigh(scatter - joined, scatter)
    K = (Z @ vectors[:, 1:] / values[1:]) @ (Z @ vectors[:, 1:]).T
    np.testing.assert_allclose(found.kernel.dense(), K, atol=1e-10 * np.abs(K).max())
    np.testing.assert_allclose(found.kernel @ Z, K @ Z, atol=1e-10 * np.abs(K @ Z).max())


def test_functions_that_depend_on_each_other_are_whitened():
    problem, _ = random_problem()
    Z = problem.vertices.points
    doubled = np.hstack([Z, Z @ np.random.default_rng(1).standard_normal((5, 4)), np.zeros((80, 1))])
    twice = Problem(Vertices(doubled, np.arange(80), np.arange(80)), problem.weights, problem.degrees)
    found = transformational_map(twice, LinearBasis(np.zeros(10)), 3, "affine")
    expected = transformational_map(problem, LinearBasis(np.zeros(5)), 3, "affine")
    np.testing.assert_allclose(found.places, expected.places, atol=1e-9)
    assert found.kernel.white.shape[1] == 6


def test_units_of_the_columns_do_not_matter():
    problem, basis = random_problem()
    scaled = Problem(
        Vertices(problem.vertices.points * 10.0 ** np.arange(-6, 9, 3), np.arange(80), np.arange(80)),
        problem.weights,
        problem.degrees,
    )
    np.testing.assert_allclose(
        transformational_map(scaled, basis, 3, "affine").places,
        transformational_map(problem, basis, 3, "affine").places,
        atol=1e-9,
    )


def test_large_problems_have_the_same_solutions():
    """Beyond a thousand functions the few eigenpairs come from Lanczos on a factor."""
    rng = np.random.default_rng(0)
    n = 1100
    vectors = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.concatenate([[1.0, 1 - 1e-5, 1 - 3e-5], 1 - np.linspace(1e-3, 1.5, n - 3)])
    joined = (vectors * values) @ vectors.T
    found = solve(0.5 * (joined + joined.T), np.eye(n), 3, np.ones(n), np.zeros(n))
    np.testing.assert_allclose(found.values, values[:3], atol=1e-12)
    np.testing.assert_allclose(np.abs(found.coefficients.T @ vectors[:, :3]), np.eye(3), atol=1e-7)


def test_functions_that_are_all_constant_are_refused():
    problem, _ = random_problem()
    flat = Problem(Vertices(np.ones((80, 2)), np.arange(80), np.arange(80)), problem.weights, problem.degrees)
    with pytest.raises(InputError, match="basis functions are constant on these rows"):
        transformational_map(flat, LinearBasis(np.zeros(2)), 2, "affine")


# --- more functions than vertices


@pytest.mark.parametrize("graph", ["edges", "classes", "equal degrees", "a vertex alone"])
@pytest.mark.parametrize("rank", [30, 200])
def test_the_problem_of_the_vertices_has_the_same_solutions(graph, rank):
    rng = np.random.default_rng(0)
    problem, _ = random_problem(n=60)
    Z = rng.standard_normal((60, rank)) @ rng.standard_normal((rank, 200)) * 10.0 ** rng.uniform(-3, 3, 200)
    Z[:, 7] = 0.0
    weights, degrees = problem.weights, problem.degrees
    if graph == "equal degrees":
        degrees = np.full(60, degrees.max())
    if graph == "classes":
        weights = ClassWeights(csr_array(random_array((60, 3), density=0.9, rng=0)))
        degrees = weights.degrees
    if graph == "a vertex alone":
        edges = weights.toarray()
        edges[0] = edges[:, 0] = 0.0
        weights, degrees = csr_array(edges), edges.sum(axis=1)
    problem = Problem(Vertices(Z, np.arange(60), rng.permutation(60)), weights, degrees)
    basis = LinearBasis(np.zeros(200))
    joined, scatter = problem.matrices(basis)
    uniform = Z.T @ degrees / np.sqrt(degrees.sum())
    expected = solve(joined, scatter.copy(), 3, np.sqrt(np.diag(scatter)), uniform)
    found = solve_by_vertices(problem, basis, 3)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-10)
    signs = np.sign((found.coefficients * expected.coefficients).sum(axis=0))
    for one, other in (
        (found.coefficients, expected.coefficients),
        (Z @ found.coefficients, Z @ expected.coefficients),
    ):
        np.testing.assert_allclose(one * signs, other, atol=1e-8 * np.abs(other).max())
    np.testing.assert_allclose(found.white.T @ scatter @ found.white, np.eye(found.white.shape[1]), atol=1e-9)


# --- bounds


def mixture_map(form="reweighted"):
    problem, _ = random_problem(n=80, r=2)
    basis = MixtureBasis(problem.vertices.points[:5], 0.6)
    return problem, basis, transformational_map(problem, basis, 2, form)


@pytest.mark.parametrize("form", ["raw", "affine", "reweighted", "stochastic"])
def test_rows_of_the_fit_are_where_they_were_and_no_row_leaves_the_places_of_its_kernels(form):
    problem, basis, found = mixture_map(form)
    rows = problem.vertices.points
    np.testing.assert_allclose(found(rows), found.places, atol=1e-12 * np.abs(found.places).max())
    seen = basis.responsibilities(rows).toarray() > 0
    for step in (10.0, 1e3, 1e6):
        far = rows + step * np.array([1.0, -0.3])
        placed = found.extended(far)
        nearest = basis.responsibilities(far).toarray().argmax(axis=1)
        for place, k in zip(placed.places, nearest, strict=True):
            low, high = found.places[seen[:, k]].min(axis=0), found.places[seen[:, k]].max(axis=0)
            middle, half = (low + high) / 2, (high - low) / 2
            assert (np.abs(place - middle) <= 2 * half * (1 + 1e-9)).all()
    away = np.abs(found.unbounded(far) - placed.places).max(axis=1)
    np.testing.assert_allclose(placed.taken_back, away / np.ptp(found.places, axis=0).max())
    assert placed.taken_back.min() > 1e3


def test_the_map_within_its_bounds_is_continuous():
    problem, _, found = mixture_map()
    line = problem.vertices.points[0] + np.linspace(0, 30, 20_001)[:, None] * np.array([1.0, 0.4])
    places = found(line)
    assert found.extended(line).taken_back[-1] > 0.5
    steps, halves = (np.abs(np.diff(places[::count], axis=0)).max() for count in (2, 1))
    assert halves < 0.6 * steps


# --- what the pages say


def test_stochastic_is_larger_by_the_root_of_the_volume_where_the_constant_is_a_combination():
    problem, basis, raw = mixture_map("raw")
    stochastic = transformational_map(problem, basis, 2, "stochastic")
    np.testing.assert_allclose(stochastic.places, np.sqrt(problem.degrees.sum()) * raw.places, rtol=1e-6, atol=1e-9)


def test_kernel_is_centred_by_the_degrees_and_has_the_distances_of_the_pseudo_inverse():
    problem, basis, found = mixture_map()
    K = found.kernel.dense()
    np.testing.assert_allclose(K @ problem.degrees, 0, atol=1e-9 * np.abs(K).max() * problem.degrees.sum())
    Z = basis(problem.vertices.points).toarray()
    joined, scatter = plain(problem, Z)
    plainly = Z @ np.linalg.pinv(scatter - joined, rcond=1e-10) @ Z.T
    assert np.abs(plainly @ problem.degrees).max() > 1e-3 * np.abs(K).max() * problem.degrees.sum()  # not the same
    apart = [k.diagonal()[:, None] + k.diagonal() - 2 * k for k in (K, plainly)]
    np.testing.assert_allclose(apart[0], apart[1], atol=1e-7 * apart[0].max())
