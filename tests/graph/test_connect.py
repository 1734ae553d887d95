"""A graph in pieces: bridged by a minimum spanning tree, cut down, taken apart or refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer

from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning
from gramfold.graph.build import build_graph
from gramfold.graph.connect import bridge, components, connect, merge_components
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.index import Index
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.precomputed import DistanceIndex, GraphIndex, TransformerIndex
from gramfold.types import Graph


def index_of(points: np.ndarray) -> TreeIndex:
    return TreeIndex(points, Metric("euclidean", "euclidean"), 1)


def graph_of(index: Index, k: int) -> Graph:
    neighbors = index.own(k, None)
    return build_graph(neighbors, neighbors.farthest, np.ones(index.size))


def clumps(sizes: list[int], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centers = 30 * rng.standard_normal((len(sizes), 2))
    return np.concatenate([c + rng.standard_normal((m, 2)) for c, m in zip(centers, sizes, strict=True)])


def tree_length(distances: np.ndarray, piece: np.ndarray) -> float:
    """Length of the minimum spanning tree between pieces, by brute force over all pairs of points."""
    count = piece.max() + 1
    gaps = np.zeros((count, count))
    for a in range(count):
        for b in range(count):
            if a != b:
                gaps[a, b] = distances[np.ix_(piece == a, piece == b)].min()
    return float(minimum_spanning_tree(gaps).sum())


def test_pieces_are_numbered_by_how_many_rows_they_hold() -> None:
    lengths = csr_array(([1.0] * 6, ([0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3])), shape=(6, 6))
    graph = graph_of(GraphIndex(lengths), 0)
    np.testing.assert_array_equal(components(graph), [1, 1, 0, 0, 0, 2])
    heavy = type(graph)(**{**vars(graph), "multiplicity": np.array([1, 1, 1, 1, 1, 9.0])})
    np.testing.assert_array_equal(components(heavy), [2, 2, 1, 1, 1, 0])


@pytest.mark.parametrize(
    ("sizes", "seed"), [([5, 9], 0), ([3, 3, 3, 3, 3], 1), ([130, 4, 110, 6, 3, 150, 8], 2), ([3] * 12, 3)]
)
def test_bridges_are_a_minimum_spanning_tree(sizes: list[int], seed: int) -> None:
    points = clumps(sizes, seed)
    index = index_of(points)
    graph = graph_of(index, 2)
    piece = components(graph)
    joined = bridge(graph, piece, index)
    distances = cdist(points, points)
    i, j = joined.bridges.T
    assert len(joined.bridges) == piece.max() >= 1
    assert connected_components(joined.lengths)[0] == 1
    assert joined.n_edges == graph.n_edges + piece.max()
    np.testing.assert_allclose(joined.lengths[i, j], distances[i, j], rtol=1e-12)
    np.testing.assert_allclose(distances[i, j].sum(), tree_length(distances, piece), rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=24, unique=True))
def test_tied_gaps_still_give_a_minimum_spanning_tree(places: list[tuple[int, int]]) -> None:
    points = np.array(places, dtype=float)  # on a grid, where many gaps are equal
    distances = cdist(points, points)
    index = DistanceIndex(distances, np.arange(len(points)))
    graph = graph_of(index, 1)
    piece = components(graph)
    if piece.max() == 0:
        return
    joined = bridge(graph, piece, index)
    assert len(joined.bridges) == piece.max()
    assert connected_components(joined.lengths)[0] == 1
    total = distances[joined.bridges[:, 0], joined.bridges[:, 1]].sum()
    assert total == pytest.approx(tree_length(distances, piece), rel=1e-12)


def test_bridging_keeps_stored_zeros() -> None:
    distances = np.array([[0, 0, 7, 8.0], [0, 0, 6, 9], [7, 6, 0, 0], [8, 9, 0, 0]])
    index = DistanceIndex(distances, np.arange(4))
    joined = bridge(graph_of(index, 1), np.array([0, 0, 1, 1]), index)
    assert sorted(map(tuple, np.sort(joined.bridges))) == [(1, 2)]
    assert joined.n_edges == 3
    assert sorted(joined.lengths.data) == [0, 0, 0, 0, 6, 6]


def test_a_connected_graph_is_left_alone() -> None:
    index = index_of(clumps([20], 0))
    graph = graph_of(index, 6)
    assert connect(graph, index, "error") == [graph]


def test_the_four_choices() -> None:
    points = clumps([4, 12, 7], 5)
    index = index_of(points)
    graph = graph_of(index, 3)
    sizes = "3 connected components of 12, 7, 4 rows"
    with pytest.raises(
        DisconnectedGraphError,
        match=rf"{sizes}.*='error': more neighbours .* or use on_disconnected='bridge', 'largest' or 'separate'\.",
    ):
        connect(graph, index, "error")
    with pytest.warns(DisconnectedGraphWarning, match=f"{sizes}; they were connected by 2 bridges"):
        (whole,) = connect(graph, index, "bridge")
    assert len(whole) == 23
    assert connected_components(whole.lengths)[0] == 1
    with pytest.warns(
        DisconnectedGraphWarning, match=f"{sizes}; only the largest .* coordinates of the other 11 rows are NaN"
    ):
        (largest,) = connect(graph, index, "largest")
    np.testing.assert_array_equal(largest.vertices, np.arange(4, 16))
    with pytest.warns(DisconnectedGraphWarning, match=f"{sizes}; each was embedded by itself"):
        apart = connect(graph, index, "separate")
    assert [part.vertices.tolist() for part in apart] == [[*range(4, 16)], [*range(16, 23)], [*range(4)]]
    for part in apart:
        inside = part.vertices
        np.testing.assert_array_equal(part.lengths.toarray(), graph.lengths.toarray()[np.ix_(inside, inside)])


def test_sentences_count_rows_not_vertices() -> None:
    index = index_of(clumps([4, 6], 0))
    graph = graph_of(index, 3)
    multiplicity = np.where(np.arange(10) < 4, 5.0, 1.0)
    graph = type(graph)(**{**vars(graph), "multiplicity": multiplicity})
    with pytest.warns(
        DisconnectedGraphWarning, match="2 connected components of 20, 6 rows.* coordinates of the other 6 rows are NaN"
    ):
        (largest,) = connect(graph, index, "largest")
    np.testing.assert_array_equal(largest.vertices, np.arange(4))


def test_only_what_can_be_done_is_advised() -> None:
    points = clumps([8, 9], 0)
    edges = csr_array(np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10))
    rows, graph = index_of(points), GraphIndex(edges)
    found = TransformerIndex(KNeighborsTransformer(n_neighbors=3), rows)  # the graph was given, the rows are there
    for index, bridged, setting in ((rows, True, "n_neighbors or radius"), (graph, False, ""), (found, True, "")):
        with pytest.raises(DisconnectedGraphError) as caught:
            connect(graph_of(index, 3), index, "error")
        told = str(caught.value)
        assert ("'bridge'" in told) == bridged
        assert "'largest' or 'separate'" in told
        assert ("n_neighbors" in told) == bool(setting)
        if bridged:
            with pytest.warns(DisconnectedGraphWarning, match="connected by 1 bridge"):
                assert len(connect(graph_of(index, 3), index, "bridge")) == 1
        else:
            with pytest.raises(DisconnectedGraphError, match="cannot be bridged"):
                connect(graph_of(index, 3), index, "bridge")


def test_many_pieces_are_listed_in_short() -> None:
    index = index_of(clumps([3] * 9, 3))
    with pytest.raises(DisconnectedGraphError, match=r"9 connected components of 3, 3, 3, 3, 3, \.\.\. rows"):
        connect(graph_of(index, 2), index, "error")


def test_a_sparse_graph_cannot_be_bridged() -> None:
    lengths = csr_array(([1.0] * 4, ([0, 1, 2, 3], [1, 0, 3, 2])), shape=(4, 4))
    index = GraphIndex(lengths)
    with pytest.raises(DisconnectedGraphError, match="given graph does not hold the distances between components"):
        connect(graph_of(index, 0), index, "bridge")


def test_the_smallest_pieces_join_their_nearest() -> None:
    # pieces on a line: three of 10 at 0, 100, 200, one of 3 at 110, lone ones at 111 and 190
    X = np.concatenate([np.arange(10) * 0.1 + at for at in (0, 100, 200)] + [[110.0, 110.1, 110.2], [111.0], [190.0]])
    index = index_of(X[:, None])
    piece = np.repeat([0, 1, 2, 3, 4, 5], [10, 10, 10, 3, 1, 1])
    three = merge_components(piece, index, 3)
    # 111 goes to 110, 190 to 200, and then the three (four) to the hundred
    np.testing.assert_array_equal(np.bincount(three), [14, 11, 10])
    assert len(set(three[10:20]) | set(three[30:34])) == 1
    assert len(set(three[20:30]) | {three[34]}) == 1
    assert (merge_components(piece, index, 1) == 0).all()
    np.testing.assert_array_equal(merge_components(piece, index, 6), piece)


@pytest.mark.parametrize("way", ["bridge", "largest", "separate", "error"])
def test_a_graph_without_edges_is_refused(way: str) -> None:
    index = GraphIndex(csr_array((60, 60)))
    with pytest.raises(DisconnectedGraphError, match=r"no edges between its 60 vertices.*: add edges\.$"):
        connect(graph_of(index, 0), index, way)


@pytest.mark.parametrize("way", ["largest", "separate", "error"])
def test_rows_out_of_each_others_reach_can_be_bridged(way: str) -> None:
    index = index_of(clumps([5], 0))
    neighbors = index.own(None, 1e-9)
    graph = build_graph(neighbors, np.full(5, 1e-9), np.ones(5))
    with pytest.raises(DisconnectedGraphError, match=r"no edges .*radius\), or use on_disconnected='bridge'\.$"):
        connect(graph, index, way)
    with pytest.warns(DisconnectedGraphWarning, match="connected by 4 bridges"):
        connect(graph, index, "bridge")
