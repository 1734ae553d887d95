"""Bodies of lateration against the rank of the rigidity matrix, known frameworks, and the semidefinite program."""

from itertools import combinations, islice

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform

from gramfold.graph.rigidity import body, rigid_bodies
from gramfold.sdp import interior_point


def graph_of(pairs, n):
    """Symmetric pattern."""
    i, j = np.asarray(pairs).T
    matrix = np.zeros((n, n))
    matrix[i, j] = matrix[j, i] = 1.0
    return csr_array(matrix)


def flexes(pairs, points):
    """Infinitesimal motions that keep all distances, beyond those of space: nullity of the rigidity matrix, plainly."""
    n, d = points.shape
    matrix = np.zeros((len(pairs), n, d))
    for row, (i, j) in enumerate(pairs):
        matrix[row, i], matrix[row, j] = points[i] - points[j], points[j] - points[i]
    return n * d - np.linalg.matrix_rank(matrix.reshape(len(pairs), -1)) - d * (d + 1) // 2


def whole(pairs, n, order):
    return bool((rigid_bodies(graph_of(pairs, n), order) == 0).all())


def grid(width, height, *, diagonals):
    number = np.arange(width * height).reshape(height, width)
    pairs = [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    pairs += zip(number[:-1].ravel(), number[1:].ravel(), strict=True)
    if diagonals >= 1:
        pairs += zip(number[:-1, :-1].ravel(), number[1:, 1:].ravel(), strict=True)
    if diagonals >= 2:
        pairs += zip(number[:-1, 1:].ravel(), number[1:, :-1].ravel(), strict=True)
    return pairs


def chain(n, reach):
    return [(i, i + step) for step in range(1, reach + 1) for i in range(n - step)]


@pytest.mark.parametrize(
    ("pairs", "n", "order", "rigid"),
    [
        (grid(5, 4, diagonals=0), 20, 2, False),  # squares shear
        (grid(5, 4, diagonals=1), 20, 2, True),  # triangles do not
        (grid(5, 4, diagonals=1), 20, 3, False),  # but they fold in space
        (grid(5, 4, diagonals=2), 20, 2, True),
        (grid(5, 4, diagonals=2), 20, 3, False),  # squares with both diagonals fold along their sides
        (chain(12, 1), 12, 1, True),  # a wire, on a line
        (chain(12, 1), 12, 2, False),  # and in the plane
        (chain(12, 2), 12, 2, True),  # a strip of triangles
        (chain(12, 2), 12, 3, False),
        (chain(12, 3), 12, 3, True),
        ([*chain(6, 3), *((i + 6, j + 6) for i, j in chain(6, 3))], 12, 2, False),  # two that are apart
        ([*chain(6, 3), *((i + 5, j + 5) for i, j in chain(6, 3))], 11, 2, False),  # a hinge
        ([*chain(6, 3), *((i + 4, j + 4) for i, j in chain(6, 3))], 10, 2, True),  # two rows in common
    ],
)
def test_known_frameworks(pairs, n, order, rigid):
    assert whole(pairs, n, order) == rigid
    if rigid:
        assert flexes(pairs, np.random.default_rng(0).standard_normal((n, order))) == 0


def grown_slowly(near, clique, order):
    """The same body, a vertex at a time."""
    inside = set(clique)
    while True:
        new = [v for v in range(len(near)) if v not in inside and near[v, sorted(inside)].sum() >= order]
        if not new:
            return inside
        inside.add(new[0])


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_every_body_has_the_rank_of_a_rigid_framework(d, seed):
    points = np.random.default_rng(seed).random((60, d))
    distances = squareform(pdist(points))
    near = (distances < np.quantile(distances, [0.06, 0.12, 0.2][seed % 3])) & ~np.eye(60, dtype=bool)
    cliques = (
        [v, *more]
        for v in range(60)
        for more in combinations(np.flatnonzero(near[v]), d)
        if near[np.ix_(more, more)].sum() == d * (d - 1)
    )
    for clique in islice(cliques, 5):
        inside = body(csr_array(near.astype(float)), np.array(clique), d)
        assert set(np.flatnonzero(inside)) == grown_slowly(near, clique, d)
        assert flexes(np.argwhere(np.triu(near[np.ix_(inside, inside)])), points[inside]) == 0


def test_hinged_bodies_are_two():
    found = rigid_bodies(graph_of([*chain(8, 3), *((i + 7, j + 7) for i, j in chain(8, 3))], 15), 2)
    assert sorted(np.bincount(found)) == [7, 8]  # all rows are in one of them, the hinge in the first
    assert (found[:7] == found[0]).all()
    assert (found[8:] == found[8]).all()
    assert found[0] != found[8]


def test_laterated_points_are_the_only_solution():
    """Order d + 1 is universal rigidity: the largest variance, in any dimension, is that of the points themselves."""
    rng = np.random.default_rng(0)
    points = rng.random((40, 2)) * [3, 1]
    distances = squareform(pdist(points))
    pairs = np.argwhere(np.triu(distances < 0.75, k=1))
    assert whole(pairs, 40, 3)
    solution = interior_point.solve(pairs, distances[tuple(pairs.T)], isometry="exact", tol=1e-6)
    assert procrustes(points, solution.coordinates[:, :2])[2] < 1e-6
    assert np.square(solution.coordinates[:, 2:]).sum() < 1e-4 * np.square(solution.coordinates).sum()


def test_one_order_less_folds():
    """The strip of triangles is rigid in the plane, but in space it unfolds to more variance than it has there."""
    turn = np.arange(12) * 0.9
    points = np.column_stack([np.cos(turn) * (1 + 0.3 * (np.arange(12) % 2)), np.sin(turn)]) + 0.05 * turn[:, None]
    pairs = np.array(chain(12, 2))
    assert whole(pairs, 12, 2)
    assert not whole(pairs, 12, 3)
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    solution = interior_point.solve(pairs, lengths, isometry="exact", tol=1e-5)
    assert solution.certificate.primal > 1.5 * np.square(points - points.mean(axis=0)).sum()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_vertices(n):
    pairs = [(i, j) for i in range(n) for j in range(i)] or np.empty((0, 2), dtype=int)
    assert len(rigid_bodies(graph_of(pairs, n), 2)) == n
