"""Near-copies, far groups, outliers: lengths of very different sizes in one graph."""

import numpy as np
import pytest

from gramfold.errors import GramfoldError, InfeasibleLengthsError
from gramfold.sdp import interior_point, low_rank
from gramfold.sdp.problem import Problem
from gramfold.sdp.scales import two_points, two_scales
from tests.sdp.checking import dense_laplacian, verify
from tests.sdp.graphs import curved, nearest_pairs, path, straight

SOLVERS = [
    ("nonexpansive", low_rank.solve),
    *((form, interior_point.solve) for form in ("nonexpansive", "exact", "slack")),
]
IDS = ["low-rank", "dense", "exact", "slack"]


def solved(solve, isometry, pairs, distances, mass=None, tol=1e-3):
    form = {} if solve is low_rank.solve else {"isometry": isometry}
    solution = solve(pairs, distances, mass=mass, tol=tol, **form)
    verify(solution, pairs, distances, mass=mass, isometry=isometry)
    return solution


def near_copies(near):
    points = curved(40, 0)
    return np.vstack([points, points[:10] + near * np.random.default_rng(0).standard_normal((10, 3))])


# --- theory


@pytest.mark.parametrize(("isometry", "solve"), SOLVERS, ids=IDS)
@pytest.mark.parametrize("short", [1e-14, 1e-10, 1e-7])
def test_a_chain_of_long_and_short_sticks_is_pulled_straight(isometry, solve, short):
    lengths = [1.0, short, 2.0, short, short, 1.5, 0.7]
    solution = solved(solve, isometry, *path(lengths))
    assert solution.converged
    if isometry != "slack":
        np.testing.assert_allclose(solution.certificate.primal, straight(lengths), rtol=1e-3)


@pytest.mark.parametrize("isometry", ["nonexpansive", "exact", "slack"])
def test_one_pair_in_closed_form(isometry):
    problem = Problem.of([[0, 1]], [3.0], mass=[2.0, 5.0], isometry=isometry, stiffness=10.0)
    closed = two_points(problem)
    found = interior_point.solve([[0, 1]], [3.0], mass=[2.0, 5.0], isometry=isometry, stiffness=10.0, tol=1e-8)
    assert closed.certificate.gap < 1e-12
    np.testing.assert_allclose(closed.certificate.primal, found.certificate.primal, rtol=1e-7)
    np.testing.assert_allclose(
        closed.coordinates @ closed.coordinates.T, found.coordinates @ found.coordinates.T, rtol=1e-6
    )
    np.testing.assert_allclose(closed.certificate.weights, found.certificate.weights, rtol=1e-6)


# --- reference


@pytest.mark.parametrize(("isometry", "solve"), SOLVERS, ids=IDS)
@pytest.mark.parametrize("near", [1e-13, 1e-10, 1e-7])
def test_near_copies_count_as_copies(isometry, solve, near):
    points = near_copies(near)
    pairs, distances = nearest_pairs(points, 4)
    # each pair of near-copies as one vertex that counts twice, with the shortest of its distances
    vertex = np.concatenate([np.arange(40), np.arange(10)])
    merged: dict[tuple[int, int], float] = {}
    for (i, j), distance in zip(vertex[pairs], distances, strict=True):
        if i != j:
            key = (min(i, j), max(i, j))
            merged[key] = min(merged.get(key, np.inf), distance)
    form = {} if solve is low_rank.solve else {"isometry": isometry}
    as_copies = solve(list(merged), list(merged.values()), mass=np.bincount(vertex), tol=1e-4, **form)
    solution = solved(solve, isometry, pairs, distances)
    assert solution.converged
    if isometry != "slack":  # there a second spring beside the first would count too
        np.testing.assert_allclose(solution.certificate.primal, as_copies.certificate.primal, rtol=1e-3)
    apart = np.linalg.norm(solution.coordinates[40:] - solution.coordinates[:10], axis=1)
    assert apart.max() < 1e-3 * np.linalg.norm(solution.coordinates, axis=1).max()


@pytest.mark.parametrize(("isometry", "solve"), SOLVERS, ids=IDS)
def test_far_groups_are_unfolded_each_by_itself(isometry, solve):
    one, other = curved(30, 1), curved(25, 2)
    pairs, distances = nearest_pairs(one, 3)
    more, others = nearest_pairs(other, 3)
    pairs, distances = np.vstack([pairs, 30 + more, [[0, 30]]]), np.concatenate([distances, others, [1e9]])
    solution = solved(solve, isometry, pairs, distances)
    assert solution.converged
    form = {} if solve is low_rank.solve else {"isometry": isometry}
    alone = solve(*nearest_pairs(one, 3), tol=1e-3, **form)
    within = solution.coordinates[:30] - solution.coordinates[:30].mean(axis=0)
    np.testing.assert_allclose(within @ within.T, alone.coordinates @ alone.coordinates.T, rtol=1e-6, atol=1e-4)


def test_clusters_are_those_of_the_definition():
    pairs, distances = path([1.0, 1e-7, 1e-7, 2.0, 1e-8])
    scales = two_scales(Problem.of(pairs, distances), 1e-5)
    assert scales is not None
    assert len(scales.clusters) == 3
    assert scales.cluster[1] == scales.cluster[2] == scales.cluster[3] != scales.cluster[0]
    assert scales.cluster[4] == scales.cluster[5]
    assert sorted(len(part.members) for part in scales.parts) == [2, 3]
    np.testing.assert_array_equal(np.sort(scales.clusters.mass), [1, 2, 3])
    np.testing.assert_allclose(np.sort(scales.clusters.squared), [1.0, 4.0])
    assert two_scales(Problem.of(*path([1.0, 1e-3, 2.0])), 1e-5) is None
    assert two_scales(Problem.of([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 1e9]), 1e-5) is None  # nothing is between


# --- itself


def test_lengths_that_no_points_have_within_a_cluster():
    # four points at mutual distance 1e-9 have no fifth at half of that from all; beyond them a chain
    pairs = [[i, j] for i in range(5) for j in range(i)] + [[4, 5], [5, 6]]
    distances = [0.5e-9 if 4 in pair else 1e-9 for pair in pairs[:-2]] + [1.0, 2.0]
    with pytest.raises(InfeasibleLengthsError, match="no points have these distances") as refused:
        interior_point.solve(pairs, distances, isometry="exact")
    weights = refused.value.weights  # the proof, for all pairs: Σ w d² < 0 where L(w) ⪰ 0
    assert weights @ np.square(distances) < 0
    assert np.linalg.eigvalsh(dense_laplacian(np.array(pairs), weights, 7))[0] > -1e-9 * np.abs(weights).max()


@pytest.mark.parametrize(("isometry", "solve"), SOLVERS, ids=IDS)
def test_limits_and_starts_hold_for_the_whole(isometry, solve):
    pairs, distances = nearest_pairs(near_copies(1e-9), 4)
    form = {} if solve is low_rank.solve else {"isometry": isometry}
    told = []
    first = solve(pairs, distances, tol=1e-2, listen=told.append, **form)
    assert first.steps == tuple(told)
    warm, cold = (solve(pairs, distances, tol=1e-4, start=start, **form) for start in (first, None))
    assert warm.converged
    assert len(warm.steps) <= len(cold.steps)
    verify(warm, pairs, distances, isometry=isometry)
    stopped = solve(pairs, distances, tol=1e-6, time_limit=1e-9, **form)
    assert not stopped.converged
    assert len(stopped.steps) <= 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(24))
def test_any_range_of_lengths_is_certified_or_named(seed):
    random = np.random.default_rng(seed)
    n, width = int(random.integers(2, 25)), random.uniform(1, 16)
    joined = np.triu(random.random((n, n)) < random.uniform(0.05, 0.5), 1) | np.diag(np.ones(n - 1, dtype=bool), 1)
    pairs = np.argwhere(joined)
    points = random.standard_normal((n, 3)) * 10.0 ** random.uniform(-width, 0, (n, 1))  # of all sizes
    if seed % 3 == 1:
        points = random.standard_normal((n, 3))  # of one
        points[::3] = points[0] + 10.0**-width * random.standard_normal((len(points[::3]), 3))  # and a crowd
    distances = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    if seed % 3 == 2:
        distances = 10.0 ** random.uniform(-width, 2, len(pairs))  # of nothing
    distances *= 10.0 ** random.uniform(-30, 30)
    mass = random.integers(1, 4, n).astype(float)
    for isometry, solve in SOLVERS:
        form = {} if solve is low_rank.solve else {"isometry": isometry}
        try:
            solution = solve(pairs, distances, mass=mass, tol=1e-3, max_iter=25, **form)
        except GramfoldError:
            assert seed % 3 != 1  # a crowd is solved
            continue
        assert solution.converged or seed % 3 != 1
        if solution.converged:
            verify(solution, pairs, distances, mass=mass, isometry=isometry)
