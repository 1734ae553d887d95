"""The tests of shape, each against a plain version of itself or a truth that is known."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform

from gramfold.datasets import make_swiss_roll, make_torus
from gramfold.diagnostics import Judged
from gramfold.diagnostics.shapes.cloud import (
    MOST,
    Cloud,
    cloud_of,
    euclidean,
    over_gaps,
    step_of,
    widest_by_chance,
    without_noise,
)
from gramfold.diagnostics.shapes.groups import basins, groups_of
from gramfold.diagnostics.shapes.holes import loops, persistent
from gramfold.diagnostics.shapes.independence import independence_of
from gramfold.diagnostics.shapes.modes import dip, modes_of
from gramfold.diagnostics.shapes.shape import shape_of
from gramfold.diagnostics.shapes.skeleton import skeleton_of
from gramfold.diagnostics.shapes.surface import gaps, surface_of


def random(seed=0):
    return np.random.default_rng(seed)


def turned(flat, d, noise, seed):
    """The points in d columns, with noise."""
    axes = np.linalg.qr(random(seed).standard_normal((d, flat.shape[1])))[0].T
    return flat @ axes + noise * random(seed + 1).standard_normal((len(flat), d))


def circle(n, seed=0):
    angle = random(seed).uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def sphere(n, seed=0):
    points = random(seed).standard_normal((n, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def fork(n, seed=0):
    arm, along = random(seed).integers(0, 3, n), random(seed + 1).random(n)
    return 3 * along[:, None] * np.eye(3)[arm]


def cloud(X, **options):
    found = cloud_of(Judged(X, np.arange(len(X), dtype=float)[:, None], **options))
    assert found is not None
    return found


def shape(X, **options):
    return shape_of(Judged(X, np.arange(np.shape(X)[0], dtype=float)[:, None], **options))


# --- loops


def rank_of_bits(columns):
    """Rank of a matrix over Z/2, by elimination on rows of zeros and ones."""
    rows = [row.copy() for row in np.array(columns, dtype=np.int64).reshape(len(columns), -1)]
    rank = 0
    while rows:
        row = rows.pop()
        if row.any():
            rank += 1
            pivot = int(np.argmax(row))
            rows = [(other + row) % 2 if other[pivot] else other for other in rows]
    return rank


def loops_by_matrices(D, fine, coarse):
    """Rank of all fine cycles and coarse triangles together, less that of the triangles."""
    edges = [pair for pair in combinations(range(len(D)), 2) if D[pair] <= coarse]
    place = {pair: number for number, pair in enumerate(edges)}
    triangles = [
        [place[a, b], place[a, c], place[b, c]]
        for a, b, c in combinations(range(len(D)), 3)
        if max(D[a, b], D[a, c], D[b, c]) <= coarse
    ]
    sums = np.zeros((len(triangles), len(edges)))
    for row, three in zip(sums, triangles, strict=True):
        row[three] = 1
    fine_edges = [number for pair, number in place.items() if D[pair] <= fine]
    ends = np.zeros((len(fine_edges), len(D)))
    for row, number in zip(ends, fine_edges, strict=True):
        row[list(edges[number])] = 1
    kernel = cycles_of(ends, fine_edges, len(edges))
    return rank_of_bits([*sums, *kernel]) - rank_of_bits(list(sums))


def cycles_of(ends, numbers, n_edges):
    """A basis of the sums of edges without ends: eliminated together with a record of what was summed."""
    records = []
    for row, number in zip(ends, numbers, strict=True):
        record = np.zeros(n_edges)
        record[number] = 1
        records.append(np.concatenate([row, record]))
    found, n = [], ends.shape[1]
    while records:
        row = records.pop()
        if not row[:n].any():
            found.append(row[n:])
            continue
        pivot = int(np.argmax(row[:n]))
        records = [(other + row) % 2 if other[pivot] else other for other in records]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_loops_are_those_of_plain_elimination(seed):
    points = random(seed).random((18, 2)) if seed % 2 else circle(16, seed)
    D = squareform(pdist(points))
    for fine, coarse in ((0.3, 0.4), (0.4, 0.8), (0.8, 1.2)):
        assert persistent(D, fine, coarse) == loops_by_matrices(D, fine, coarse)


def test_loops_of_known_shapes():
    around = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.column_stack([np.cos(around), np.sin(around)])
    assert persistent(cdist(ring, ring), 0.3, 0.6) == 1
    two = np.concatenate([ring, ring + [3.0, 0.0]])
    assert persistent(cdist(two, two), 0.3, 0.6) == 2
    assert persistent(cdist(ring, ring), 0.3, 1.9) == 0  # triangles across fill it


# --- groups


def peaks_by_paths(graph, thin, threshold):
    """Peaks that rise above the lowest pass to a higher one by the threshold: passes by comparing all paths."""
    n = len(thin)
    passes = np.where(graph.toarray() > 0, np.maximum(thin[:, None], thin[None, :]), np.inf)
    np.fill_diagonal(passes, thin)
    for k in range(n):
        passes = np.minimum(passes, np.maximum(passes[:, k : k + 1], passes[k : k + 1]))
    count = 0
    for i in range(n):
        denser = thin < thin[i]
        count += not denser.any() or passes[i, denser].min() - thin[i] >= threshold
    return count


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("threshold", [0.2, 0.5, 1.0])
def test_peaks_are_those_of_all_paths(seed, threshold):
    points = random(seed).random((50, 2))
    D = cdist(points, points)
    near = D < 0.25
    np.fill_diagonal(near, False)
    graph = csr_array(np.where(near, D, 0.0))
    thin = random(seed + 50).random(50) * 2
    labels, _ = basins(graph, thin, threshold)
    assert len(np.unique(labels)) == peaks_by_paths(graph, thin, threshold)


def test_no_groups_in_one_cloud_and_all_of_those_that_are_apart():
    for seed in range(5):
        assert len(groups_of(cloud(random(seed).standard_normal((600, 2))))) == 1
        assert len(groups_of(cloud(random(seed).random((600, 5))))) == 1
    centers = 12 * np.eye(4)
    X = centers[np.arange(400) % 4] + random(9).standard_normal((400, 4))
    found = groups_of(cloud(X))
    assert found.sizes == [100] * 4
    assert found.mixed == 0.0


# --- curves, surfaces, noise


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_skeletons(noise):
    line = np.column_stack([np.linspace(0, 4, 300), np.sin(np.linspace(0, 4, 300))])
    for flat, ends, n_loops in ((line, 2, 0), (circle(300), 0, 1), (fork(400), 3, 0)):
        found = skeleton_of(cloud(turned(flat, 6, noise, seed=3)))
        assert found.thin
        assert (found.n_ends, found.n_loops) == (ends, n_loops)
    assert not skeleton_of(cloud(random().random((500, 2)) * [6.0, 1.0])).thin
    assert skeleton_of(cloud(random().random((800, 2)) * [20.0, 1.0])).thin


@pytest.mark.parametrize("n", [300, 1000, 1500])
def test_a_ring_with_a_gap_of_chance_is_a_ring(n):
    """Seeds whose widest gap is more than eight times the mean: ten neighbours do not reach over most of these."""
    widest = {seed: n * float(np.diff(np.sort(random(seed).random(n))).max()) for seed in range(200)}
    for seed in [seed for seed, gap in widest.items() if 8 < gap < 2 * np.log(n)][:8]:
        found = shape(circle(n, seed))
        assert found.kind == "ring"
        assert found.sure == "clear" or "whose ends nearly meet" in found.words


def test_a_line_whose_ends_nearly_meet_is_no_ring():
    for turns, sure in ((0.97, "likely"), (0.8, "clear")):
        angle = 2 * np.pi * turns * (np.arange(1000) + random(3).random(1000)) / 1000
        found = shape(np.column_stack([np.cos(angle), np.sin(angle)]))
        assert (found.kind, found.sure) == ("line", sure)
        assert ("a ring with a gap" in found.words) == (sure == "likely")


def test_many_loops_are_no_curve():
    for X in (random(1).dirichlet([0.3] * 3, 1000), np.cumsum(random(2).standard_normal((1000, 2)), axis=0)):
        assert "curves" not in shape(X).words
    across = 3 * random(3).random((6000, 2))
    centers = np.array([[0.8, 0.8], [0.8, 2.2], [2.2, 0.8], [2.2, 2.2]])
    pierced = across[(cdist(across, centers) > 0.5).all(axis=1)][:1500]
    assert shape(pierced).kind == "unclear"
    assert "no shape that has a name here" in shape(pierced).words


def test_gaps_are_those_of_the_angles_in_the_plane():
    points = random(4).random((80, 2))
    found, bent = gaps(Cloud(np.arange(80), cdist(points, points), None, 0.0, 0, 0), 12)
    for i, point in enumerate(points):
        near = np.argsort(np.linalg.norm(points - point, axis=1))[1:13]
        angles = np.sort(np.arctan2(*(points[near] - point).T))
        widest = max(*np.diff(angles), 2 * np.pi - np.ptp(angles))
        assert found[i] == pytest.approx(widest, abs=1e-6)
    assert bent < 1e-9


def test_edges_and_loops_of_surfaces():
    sheet = surface_of(cloud(make_swiss_roll(800, random_state=0).points))
    ball = surface_of(cloud(sphere(800)))
    torus = surface_of(cloud(make_torus(1500, random_state=0).points))
    assert (sheet.closed, ball.closed, torus.closed) == (False, True, True)
    assert (sheet.n_loops, ball.n_loops, torus.n_loops) == (0, 0, 2)


@pytest.mark.parametrize("n", [300, 500, 700])
def test_too_few_rows_to_see_a_hole(n):
    for seed in range(4):
        found, ball = shape(make_torus(n, random_state=seed).points), shape(sphere(n, seed))
        assert found.sure == "likely"
        assert "and no hole" not in found.words
        assert n < 700 or found.kind == "unclear"
        assert (ball.kind, ball.sure) == ("sphere", "likely")
        assert "too few rows" in ball.words
    assert (shape(sphere(1000)).kind, shape(sphere(1000)).sure) == ("sphere", "clear")


def test_the_area_of_a_surface_and_the_loops_of_a_torus():
    """A torus has a loop of at least the root of half its area; the area is read from neighbourhoods."""
    for major in np.linspace(1.05, 9, 50):
        assert max(2 * np.pi, 2 * np.pi * (major - 1)) ** 2 >= 0.5 * 4 * np.pi**2 * major - 1e-9
    around = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = np.column_stack([np.cos(around), np.sin(around)])
    D = cdist(ring, ring)
    graph = csr_array(np.where(D < 0.07, D, 0.0))
    assert loops(graph, 1e3).seen
    assert not loops(graph, 1.0).seen


def test_noise_is_left_out_where_it_is_flat():
    X = turned(3.0 * random(1).random((500, 2)), 20, 0.05, seed=2)
    directions, noise = without_noise(X - X.mean(axis=0), random())
    assert directions is not None
    assert directions.shape == (500, 2)
    assert noise == pytest.approx(0.05, rel=0.3)
    assert without_noise(random(3).standard_normal((500, 8)), random())[0] is None
    assert without_noise(random(3).standard_normal((500, 8)) * 2.0 ** np.arange(8), random())[0] is None  # no flat part


def test_shuffling_tells_structure_from_independent_columns():
    assert independence_of(random(5).exponential(size=(500, 4)), 4.0, random(6)).holds
    assert not independence_of(make_swiss_roll(500, random_state=0).points, 2.0, random(6)).holds


def dip_by_all_intervals(values, slopes):
    """The best two disjoint intervals against the best one, by trying all."""
    x = np.sort(values)
    low, high = np.quantile(x, [0.05, 0.95])
    pairs = [(i, j) for i in range(len(x)) for j in range(i, len(x))]
    most = 0.0
    for slope in slopes.ravel():
        gain = {(i, j): (j - i + 1) / len(x) - slope * (x[j] - x[i]) / (high - low) for i, j in pairs}
        two = max(gain[a] + gain[b] for a in pairs for b in pairs if a[1] < b[0])
        most = max(most, 0.5 * (two - max(gain.values())))
    return most


@pytest.mark.parametrize("seed", range(4))
def test_the_dip_is_that_of_all_intervals(seed):
    values, slopes = random(seed).random(14) ** (1 + seed), np.array([[0.1], [0.5], [1.0], [2.0]])
    assert dip(values, slopes) == pytest.approx(dip_by_all_intervals(values, slopes))


def test_two_modes_of_one_column_are_not_noise():
    for seed in range(6):
        X = random(seed).standard_normal((1000, 5))
        X[:500, 2] += 3.0
        found = shape(X)
        assert (found.kind, found.sure) != ("noise", "clear")
        assert "column 2" in found.words or "groups" in found.words
        X[:500, 2] += 0.5
        assert shape(X).kind != "noise"


@pytest.mark.parametrize("draw", ["standard_normal", "standard_exponential", "standard_cauchy", "random"])
def test_columns_of_one_mode(draw):
    tables = [getattr(random(seed), draw)((500, 8)) for seed in range(10)]
    assert sum(len(modes_of(X, random()).certain) for X in tables) <= 1
    assert sum(len(modes_of(np.round(2 * X), random()).certain) for X in tables) <= 1


@pytest.mark.parametrize(
    ("kind", "X"),
    [
        ("line", turned(4 * random().random((300, 1)), 5, 0.03, 1)),
        ("ring", turned(circle(400), 12, 0.05, 2)),
        ("branches", turned(fork(500), 8, 0.05, 3)),
        ("sheet", make_swiss_roll(800, noise=0.1, random_state=4).points),
        ("sphere", turned(sphere(800), 9, 0.02, 5)),
        ("groups", 8.0 * np.eye(5)[np.arange(500) % 3] + random(6).standard_normal((500, 5))),
        ("noise", random(7).standard_normal((500, 6))),
        ("noise", random(7).random((500, 2))),
        ("unclear", turned(random(8).random((800, 3)), 7, 0.01, 9)),
        ("unclear", make_torus(1500, random_state=0).points),
        ("unclear", random(9).integers(0, 3, (600, 4)).astype(float)),
    ],
)
def test_kinds(kind, X):
    found = shape(X)
    assert found.kind == kind
    assert shape(3.0 * X - 7.0).kind == kind  # units and origin do not matter
    assert shape(np.repeat(X, 2, axis=0)).kind == kind  # nor do copies


def test_gaps_that_chance_makes_are_bridged():
    places = np.concatenate([np.arange(40.0), 42.0 + np.arange(40.0), 95.0 + np.arange(40.0)])
    D = np.abs(places[:, None] - places)
    near = csr_array(np.where((D > 0) & (D <= 1), D, 0.0))
    reach = np.full(120, 2.0)
    found = over_gaps(near, D, reach, k=4, d=1.0)
    assert found == [(39, 40)]  # 3 wide; the other gap is 14 wide, and chance makes 2 · 2 (120^(1/4) − 1) = 9.2
    assert over_gaps(near, D, 0.3 * reach, k=4, d=1.0) == []


def test_the_widest_gap_by_chance_is_that_of_a_simulation():
    """Empty gaps in one dimension: b in radii of both rims, each the sum of k exponential gaps."""
    k, n, draws = 4, 20, 2_000_000
    reach = random(1).gamma(k, size=(draws, 2)).mean(axis=1)
    wider = random(2).exponential(size=draws) > widest_by_chance(n, k, 1.0) * reach
    assert wider.mean() == pytest.approx(n**-2.0, rel=0.1)


# --- columns of few levels


def answers(n, k, levels, seed):
    """Of one continuous factor, rounded to a few levels."""
    factor = random(seed).standard_normal((n, 1)) + 0.8 * random(seed + 100).standard_normal((n, k))
    return np.clip(np.round((levels + 1 + factor * levels / 2.5) / 2), 1, levels)


@pytest.mark.parametrize(("n", "k", "levels"), [(1000, 10, 5), (300, 10, 5), (1000, 8, 7), (1000, 20, 2), (600, 40, 3)])
def test_levels_of_a_sum_are_no_groups(n, k, levels):
    kinds = [shape(answers(n, k, levels, seed)).kind for seed in range(5)]
    assert set(kinds) <= {"unclear", "line", "groups"}
    assert kinds.count("groups") <= 1  # a gap that chance makes in one of n such tables


def test_rounding_and_counts_make_no_groups():
    for seed in range(5):
        X = random(seed).standard_normal((800, 1)) + 0.5 * random(seed + 50).standard_normal((800, 10))
        assert shape(np.round(2 * X) / 2).kind in {"unclear", "line"}
        assert shape(random(seed).poisson(np.exp(1.5 + 0.5 * X)).astype(float)).kind in {"unclear", "line"}


def test_groups_of_rounded_rows_and_levels_wider_than_noise_are_groups():
    centers = random(1).integers(1, 6, (3, 10))
    X = np.clip(np.round(centers[np.arange(900) % 3] + 0.6 * random(2).standard_normal((900, 10))), 1, 5)
    assert (shape(X).kind, shape(X).n_groups) == ("groups", 3)
    loud = np.column_stack([random(3).standard_normal((600, 9)), 10 * (np.arange(600) % 3)])
    assert (shape(loud).kind, shape(loud).n_groups) == ("groups", 3)


def test_the_step_of_a_column():
    assert step_of(np.round(4 * random(1).standard_normal(500)) / 4) == pytest.approx(0.25)
    assert step_of(np.tile([0.0, 1.0], 50)) == 1.0
    assert step_of(random(1).random(100)) == 0.0
    assert step_of(np.ones(100)) == 0.0


def test_what_rounding_took_away_is_added_again():
    exact = turned(3.0 * random(1).random((1000, 1)), 12, 0.1, seed=2)
    exact -= exact.mean(axis=0)
    plain, _ = without_noise(exact, random())
    rounded, _ = without_noise(np.round(exact / 0.2) * 0.2, random())
    assert plain is not None
    assert rounded is not None
    assert np.abs(np.corrcoef(plain[:, 0], rounded[:, 0])[0, 1]) > 0.97
    assert len(np.unique(rounded)) == 1000


def test_a_line_with_thin_ends_is_a_line():
    kinds = [shape(random(seed).standard_normal((200, 1)) * np.ones(3)).kind for seed in range(10)]
    assert kinds.count("line") >= 9
    assert "branches" not in kinds


def test_noise_of_many_columns():
    X = random(3).standard_normal((300, 600))
    assert shape(X).kind == "noise"
    assert shape(X).dimension <= 600


def test_rows_at_equal_distances_have_no_shape():
    assert shape(np.eye(60)).test == "equal distances"


def test_rows_far_from_all_others_have_no_part_in_it():
    X = turned(circle(400), 8, 0.03, 2)
    X[:4] = 1e3 * random(1).standard_normal((4, 8))
    assert cloud(X).n_aside == 4
    assert shape(X).kind == "ring"


def test_distances_have_the_shape_of_their_rows():
    X = make_swiss_roll(600, random_state=1).points
    assert shape(squareform(pdist(X)), metric="precomputed").kind == shape(X).kind == "sheet"
    assert shape(sphere(600) * random(2).uniform(1, 9, (600, 1)), metric="cosine").kind == "sphere"


def test_few_rows_and_many():
    assert shape(random().random((29, 3))).test == "number of rows"
    assert shape(circle(150)).sure == "likely"
    assert len(cloud(random().random((9_000, 3)))) == MOST


def test_products_give_the_same_distances():
    X = random(1).standard_normal((60, 80))
    X -= X.mean(axis=0)
    np.testing.assert_allclose(euclidean(X), cdist(X, X), atol=1e-9)
