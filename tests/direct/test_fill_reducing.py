"""Order and symbolic elimination against a plain elimination of a dense pattern."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array, csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_flow

from gramfold.datasets import make_swiss_roll
from gramfold.direct import fill_reducing
from gramfold.direct.dissection import Dissection
from gramfold.direct.elimination import eliminate
from gramfold.direct.fill_reducing import fill_reducing_order, metis, minimum_degree
from gramfold.direct.permutation import permuted
from gramfold.direct.separator_kernels import least_separator
from gramfold.graph.build import symmetrize
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.costs import Costs, DirectCosts


def plain_elimination(graph: csr_array) -> list[list[int]]:
    """The later neighbours of each vertex when it is eliminated, its neighbours joined at that moment."""
    pattern = graph.toarray() > 0
    later = []
    for v in range(len(pattern)):
        touched = [u for u in range(v + 1, len(pattern)) if pattern[v, u]]
        for a in touched:
            for b in touched:
                pattern[a, b] = a != b
        later.append(touched)
    return later


def random_graph(n: int, edges: int, seed: int) -> csr_array:
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, edges))
    kept = i != j
    dense = np.zeros((n, n))
    dense[i[kept], j[kept]] = dense[j[kept], i[kept]] = 1.0
    return csr_array(dense)


def grid(side: int) -> csr_array:
    places = np.array([(a, b) for a in range(side) for b in range(side)])
    near = np.abs(places[:, None] - places[None]).sum(axis=2) == 1
    return csr_array(near.astype(float))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 30), st.integers(0, 60), st.integers(0, 10_000))
def test_structure_is_that_of_a_plain_elimination(n, edges, seed):
    graph = random_graph(n, edges, seed)
    later = plain_elimination(graph)
    found = eliminate(graph)
    start, filled = found.structure()
    assert [filled[start[v] : start[v + 1]].tolist() for v in range(n)] == later
    assert found.fill == sum(map(len, later))
    assert found.operations == sum(len(one) ** 2 for one in later) / 2
    assert found.parent.tolist() == [min(one, default=-1) for one in later]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 200), st.integers(0, 400), st.integers(0, 10_000))
def test_an_order_names_every_vertex_once(n, edges, seed):
    graph = random_graph(n, edges, seed)
    for order in (Dissection(graph).finish(), fill_reducing_order(graph)[0]):
        assert sorted(order.tolist()) == list(range(n))


@pytest.mark.parametrize("large", [50_000, 100])  # with the latter they are cut one by one, as on a million vertices
def test_dissection_keeps_a_grid_sparse(large):
    graph = grid(40)
    row_by_row = eliminate(graph).fill
    dissected = eliminate(permuted(graph, Dissection(graph).finish(large=large))).fill
    assert dissected < 0.7 * row_by_row
    # George: n log₂ n for a grid, up to a constant
    assert dissected < 1.5 * 1600 * np.log2(1600)


def test_a_graph_without_separators_is_ordered_too():
    complete = csr_array(np.ones((80, 80)) - np.eye(80))
    assert eliminate(permuted(complete, Dissection(complete).finish())).fill == 80 * 79 // 2


def test_cliques_at_the_ends_of_a_thread_are_not_cut():
    dense = np.diag(np.ones(79), 1)
    for clique in (slice(0, 30), slice(50, 80)):
        dense[clique, clique] = 1
    dense = np.triu(dense, 1)
    graph = csr_array(dense + dense.T)
    order = Dissection(graph).finish()
    later = plain_elimination(permuted(graph, order))
    assert sum(map(len, later)) == eliminate(permuted(graph, order)).fill
    # a separator in the thread keeps whatever is eliminated at one end from touching the other
    end = (order >= 50).astype(int) - (order < 30)
    assert all(end[v] * end[u] != -1 for v, touched in enumerate(later) for u in touched)


def test_hubs_are_eliminated_last():
    n = 2_000
    rng = np.random.default_rng(0)
    hub = np.zeros((n, n))
    hub[0, 1:] = hub[1:, 0] = 1
    assert eliminate(permuted(csr_array(hub), Dissection(csr_array(hub)).finish())).fill == n - 1
    bristles = np.diag(np.ones(99), 1)  # a thread of 100, and all others hang on one of it
    bristles = np.pad(bristles, (0, n - 100))
    bristles[rng.integers(0, 100, n - 100), np.arange(100, n)] = 1
    graph = csr_array(bristles + bristles.T)
    assert eliminate(permuted(graph, Dissection(graph).finish())).fill < 2 * n


def cloud(n: int, dimensions: int) -> csr_array:
    points = np.random.default_rng(0).random((n, dimensions))
    return symmetrize(TreeIndex(points, Metric("euclidean", "euclidean"), None).own(8, None))


def test_metis_orders_what_is_no_sheet(monkeypatch):
    pytest.importorskip("pymetis")
    costs = Costs(direct=DirectCosts(few_rows=100))
    graph = cloud(2_000, 4)
    by_metis = eliminate(permuted(graph, metis(graph.indptr, graph.indices))).fill
    assert fill_reducing_order(graph, costs=costs)[1].fill == by_metis
    assert fill_reducing_order(graph, Dissection(graph).separator ** 2 / 2 - 1, costs=costs)[1] is None
    sheet = cloud(2_000, 2)
    monkeypatch.setattr(fill_reducing, "metis", None)  # is not asked
    fill_reducing_order(sheet, costs=costs)
    monkeypatch.setattr(fill_reducing, "find_spec", lambda name: None)
    dissected, least = Dissection(graph).finish(), minimum_degree(graph)
    fills = [eliminate(permuted(graph, o)).fill for o in (dissected, least)]
    assert fill_reducing_order(graph, costs=costs)[1].fill == min(fills)


def test_a_large_part_that_is_no_sheet_ends_the_dissection():
    thread = csr_array(np.diag(np.ones(799), 1) + np.diag(np.ones(799), -1))
    ball = cloud(1_600, 4)
    both = csr_array(block_diag([thread, ball]))  # nothing separates the two
    assert Dissection(both).separator == 0
    assert Dissection(both).finish(widest=2.0, large=500) is None
    assert Dissection(thread).finish(widest=2.0, large=500) is not None
    assert sorted(Dissection(both).finish(large=500).tolist()) == list(range(2_400))


def test_minimum_degree_is_tried_where_it_is_quick_or_needed(monkeypatch):
    tried = []
    monkeypatch.setattr(fill_reducing, "find_spec", lambda name: None)
    monkeypatch.setattr(fill_reducing, "minimum_degree", lambda graph: tried.append(1) or np.arange(graph.shape[0]))
    costs = DirectCosts(few_rows=100, quick_rows=1_000)
    for graph, often in ((cloud(900, 2), 1), (cloud(1_100, 2), 1), (cloud(1_100, 6), 2)):
        fill_reducing_order(graph, costs=Costs(direct=costs))
        assert len(tried) == often
    fill_reducing_order(cloud(1_100, 6), costs=Costs(direct=replace(costs, minimum_degree_operations=100)))
    assert len(tried) == 2


def test_small_graphs_need_no_dissection(monkeypatch):
    sheet, ball = cloud(1_000, 2), cloud(1_000, 8)
    monkeypatch.setattr(fill_reducing, "Dissection", None)  # is not asked
    fill, less = (eliminate(permuted(sheet, minimum_degree(sheet))).fill, fill_reducing_order(ball)[1].fill)
    assert fill_reducing_order(sheet)[1].fill == fill
    assert less <= eliminate(permuted(ball, minimum_degree(ball))).fill
    assert fill_reducing_order(sheet, fill - 1)[1] is None
    assert fill_reducing_order(ball, less - 1)[1] is None
    assert fill_reducing_order(ball, less)[1].fill == less
    monkeypatch.setattr(fill_reducing, "find_spec", lambda name: None)
    assert fill_reducing_order(ball)[1].fill == eliminate(permuted(ball, minimum_degree(ball))).fill


@settings(deadline=None, max_examples=150)
@given(st.integers(3, 40), st.integers(0, 80), st.integers(0, 10_000))
def test_a_cut_parts_its_sides_and_none_is_smaller(n, edges, seed):
    graph = random_graph(n, edges, seed)
    graph = csr_array(graph + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))  # connected
    cut = Dissection(graph)
    assert sorted(cut.order.tolist()) == list(range(n))
    if not cut.sides:
        return
    one, other = (cut.order[side] for side in cut.sides)
    assert len(one)
    assert len(other)
    assert not graph.toarray()[np.ix_(one, other)].any()
    # every vertex of a least separator touches both sides
    separator = cut.order[cut.sides[1].stop :]
    touched = [graph.toarray()[np.ix_(separator, side)].any(axis=1).all() for side in (one, other)]
    assert all(touched)


@settings(deadline=None, max_examples=150)
@given(st.integers(2, 5), st.integers(2, 6), st.integers(0, 10_000))
def test_a_separator_has_as_many_vertices_as_paths_pass_it(depth, width, seed):
    """Layers of random edges between two ends; SciPy's flow through split vertices is the reference."""
    rng = np.random.default_rng(seed)
    n = depth * width + 2
    dense = np.zeros((n, n))
    layers = [np.array([0]), *np.arange(1, n - 1).reshape(depth, width), np.array([n - 1])]
    for a, b in pairwise(layers):
        chosen = rng.random((len(a), len(b))) < 0.5 if 0 not in a and n - 1 not in b else True
        dense[np.ix_(a, b)] = chosen
    dense += dense.T
    for layer in layers[1:-1]:
        dense[np.ix_(layer, layer)] = 1 - np.eye(width) if rng.random() < 0.3 else 0
    level = np.concatenate([np.full(len(layer), i) for i, layer in enumerate(layers)]).astype(np.int32)
    graph = csr_array(dense)
    steps, path, tried = (np.zeros(2 * n, dtype=np.int32) for _ in range(3))
    band = np.arange(1, n - 1, dtype=np.int32)
    edges = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    before, owner = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    least_separator(edges, band, owner, level, 1, depth, before, steps, path, tried)
    separator = band[(steps[2 * band] > 0) & (steps[2 * band + 1] < 0)]
    # entries are 0 to n, exits n to 2n; only to pass a vertex takes room
    split = np.block([[np.zeros((n, n)), np.eye(n)], [n * dense, np.zeros((n, n))]])
    paths = maximum_flow(csr_matrix(split.astype(np.int32)), n, n - 1).flow_value
    assert len(separator) == paths
    dense[separator] = dense[:, separator] = 0
    pieces = connected_components(csr_array(dense))[1]
    assert pieces[0] != pieces[n - 1]


def test_the_first_separator_parts_the_graph():
    assert Dissection(grid(40)).separator in range(30, 41)  # a diagonal, or a little less where a level is trimmed
    assert Dissection(csr_array(np.ones((80, 80)) - np.eye(80))).separator == 80
    # where all are two steps apart, one vertex is all that its neighbours would part from the rest
    assert Dissection(random_graph(1_000, 100_000, 0)).separator == 1_000


def test_counting_ends_at_the_limit():
    graph = grid(20)
    fill = eliminate(graph).fill
    assert eliminate(graph, fill).fill == fill
    assert eliminate(graph, fill - 1) is None
    assert fill_reducing_order(graph, 100)[1] is None


def test_threads_do_not_change_the_order():
    one, two = (Dissection(grid(30)).finish(n_jobs, large=100) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_the_better_of_two_orders_is_taken():
    X = make_swiss_roll(2000, random_state=0).points
    graph = symmetrize(TreeIndex(X, Metric("euclidean", "euclidean"), None).own(10, None))
    order, elimination = fill_reducing_order(graph)
    fills = [eliminate(permuted(graph, o)).fill for o in (Dissection(graph).finish(), minimum_degree(graph))]
    assert elimination.fill == eliminate(permuted(graph, order)).fill == min(fills)
