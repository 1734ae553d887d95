"""Order and symbolic elimination against a plain elimination of a dense pattern."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramfold.datasets import make_swiss_roll
from gramfold.graph.build import symmetrize
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric
from gramfold.ordering import dissection, fill_reducing
from gramfold.ordering.contraction import Contraction
from gramfold.ordering.dissection import first_cut, nested_dissection
from gramfold.ordering.elimination import eliminate
from gramfold.ordering.fill_reducing import fill_reducing_order, metis, minimum_degree
from gramfold.ordering.permutation import permuted


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
    for order in (nested_dissection(graph), fill_reducing_order(graph)[0]):
        assert sorted(order.tolist()) == list(range(n))


@pytest.mark.parametrize("cut_apart", [False, True])
def test_dissection_keeps_a_grid_sparse(cut_apart, monkeypatch):
    if cut_apart:  # large parts are cut one by one, as on a million vertices
        monkeypatch.setattr(dissection, "_LARGE", 100)
    graph = grid(40)
    row_by_row = eliminate(graph).fill
    dissected = eliminate(permuted(graph, nested_dissection(graph))).fill
    assert dissected < 0.7 * row_by_row
    # George: n log₂ n for a grid, up to a constant
    assert dissected < 1.5 * 1600 * np.log2(1600)


def test_a_graph_without_separators_is_ordered_too():
    complete = csr_array(np.ones((80, 80)) - np.eye(80))
    assert eliminate(permuted(complete, nested_dissection(complete))).fill == 80 * 79 // 2


def test_metis_orders_what_is_too_large_for_minimum_degree(monkeypatch):
    pytest.importorskip("pymetis")
    graph = grid(40)
    by_levels = eliminate(permuted(graph, nested_dissection(graph))).fill
    by_metis = eliminate(permuted(graph, metis(graph.indptr, graph.indices))).fill
    monkeypatch.setattr(fill_reducing, "_METIS_OPERATIONS", 100)
    monkeypatch.setattr(fill_reducing, "_MINIMUM_DEGREE_OPERATIONS", 100)
    assert fill_reducing_order(graph)[1].fill == min(by_levels, by_metis)
    monkeypatch.setattr(fill_reducing, "_METIS_ROWS", 100)
    monkeypatch.setattr(fill_reducing, "_MINIMUM_DEGREE_ROWS", 100)
    order, found = fill_reducing_order(graph)
    assert sorted(order.tolist()) == list(range(1600))
    assert found.fill == eliminate(permuted(graph, order)).fill < 1.6 * by_metis
    assert fill_reducing_order(graph, first_cut(graph).separator ** 2 / 2 - 1)[1] is None
    monkeypatch.setattr(fill_reducing, "find_spec", lambda name: None)
    assert fill_reducing_order(graph)[1].fill == by_levels


def test_the_first_separator_parts_the_graph():
    assert first_cut(grid(40)).separator in range(30, 41)  # a diagonal, or a little less where a level is trimmed
    assert first_cut(csr_array(np.ones((80, 80)) - np.eye(80))).separator == 80


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(0, 200), st.integers(0, 10_000))
def test_a_contraction_is_the_graph_between_pairs(n, edges, seed):
    graph = random_graph(n, edges, seed)
    small = Contraction.of(graph, np.random.default_rng(seed).permutation(n))
    count = len(small.indptr) - 1
    members = np.eye(count)[:, small.group]  # (count, n)
    assert set(members.sum(axis=1)) <= {1, 2}
    for pair in members:
        inside = np.flatnonzero(pair)
        assert len(inside) == 1 or graph[inside[0], inside[1]] > 0  # a pair is an edge
    between = members @ graph.toarray() @ members.T > 0
    np.fill_diagonal(between, False)
    found = csr_array((np.ones(len(small.indices)), small.indices, small.indptr), shape=(count, count)).toarray()
    np.testing.assert_array_equal(found, between)
    order = small.expand(np.random.default_rng(seed).permutation(count))
    assert sorted(order.tolist()) == list(range(n))
    assert (np.diff(small.group[order]) != 0).sum() == count - 1  # the two of a pair stay together


def test_counting_ends_at_the_limit():
    graph = grid(20)
    fill = eliminate(graph).fill
    assert eliminate(graph, fill).fill == fill
    assert eliminate(graph, fill - 1) is None
    assert fill_reducing_order(graph, 100)[1] is None


def test_threads_do_not_change_the_order(monkeypatch):
    monkeypatch.setattr(dissection, "_LARGE", 100)
    np.testing.assert_array_equal(nested_dissection(grid(30), 1), nested_dissection(grid(30), 2))


def test_the_better_of_two_orders_is_taken():
    X = make_swiss_roll(2000, random_state=0).points
    graph = symmetrize(TreeIndex(X, Metric("euclidean", "euclidean"), None).own(10, None))
    order, elimination = fill_reducing_order(graph)
    fills = [eliminate(permuted(graph, o)).fill for o in (nested_dissection(graph), minimum_degree(graph))]
    assert elimination.fill == eliminate(permuted(graph, order)).fill == min(fills)
