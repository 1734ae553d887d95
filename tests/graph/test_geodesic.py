"""Shortest walks against SciPy's, and one step before them against a plain loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from gramfold.graph.build import build_graph
from gramfold.graph.geodesic import all_pairs, squared_geodesics_from
from gramfold.types import Graph, Neighbors


def graph_from(pairs: list[tuple[int, int]], lengths: np.ndarray | list[float], n: int) -> Graph:
    i, j = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return build_graph(Neighbors.from_pairs(i, j, np.asarray(lengths, dtype=float), (n, n)), None, np.ones(n))


def grid(side: int) -> Graph:
    at = np.arange(side * side).reshape(side, side)
    pairs = [*zip(at[:, :-1].ravel(), at[:, 1:].ravel(), strict=True)]
    pairs += [*zip(at[:-1].ravel(), at[1:].ravel(), strict=True)]
    return graph_from(pairs, np.ones(len(pairs)), side * side)


def random_graph(n: int, edges: int, seed: int, *, whole: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, edges))
    lengths = rng.integers(0, 4, edges) if whole else rng.lognormal(0, 3, edges)
    keep = i != j
    return graph_from([*zip(i[keep], j[keep], strict=True)], lengths[keep], n)


GRAPHS = {
    "grid, all ties": grid(13),
    "path": graph_from([(i, i + 1) for i in range(150)], np.random.default_rng(0).random(150), 151),
    "star": graph_from([(0, i) for i in range(1, 90)], np.arange(1.0, 90), 90),
    "random": random_graph(200, 900, 1),
    "zeros and ties": random_graph(200, 700, 2, whole=True),
    "disconnected": random_graph(200, 130, 3),
    "no edge": graph_from([], [], 3),
}


def reference(graph: Graph) -> np.ndarray:
    """SciPy's Dijkstra; it drops stored zeros from a dense matrix but not from a sparse one."""
    return np.asarray(dijkstra(graph.lengths, directed=True))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_all_pairs_are_dijkstras(name: str, dtype: type, tolerance: float) -> None:
    found = all_pairs(GRAPHS[name], dtype, n_jobs=1)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, reference(GRAPHS[name]), rtol=tolerance)


def test_the_examples_hold_what_they_are_meant_to() -> None:
    assert np.isinf(reference(GRAPHS["disconnected"])).any()
    zeros = reference(GRAPHS["zeros and ties"])
    assert (zeros[~np.eye(len(zeros), dtype=bool)] == 0).any()


def test_walks_on_a_grid_are_city_blocks() -> None:
    x, y = np.divmod(np.arange(169), 13)
    expected = np.abs(x[:, None] - x) + np.abs(y[:, None] - y)
    np.testing.assert_array_equal(all_pairs(GRAPHS["grid, all ties"]), expected)


def test_threads_change_no_bit() -> None:
    graph = GRAPHS["random"]
    assert all_pairs(graph, n_jobs=1).tobytes() == all_pairs(graph, n_jobs=2).tobytes()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(0, 60))
def test_walks_are_a_metric_no_longer_than_an_edge(seed: int, n: int, edges: int) -> None:
    graph = random_graph(n, edges, seed)
    walks = all_pairs(graph, n_jobs=1)
    np.testing.assert_allclose(walks, walks.T, rtol=1e-13)
    assert (np.diag(walks) == 0).all()
    through = (walks[:, :, None] + walks[None, :, :]).min(axis=1)
    assert (walks <= through * (1 + 1e-12)).all()
    coo = graph.lengths.tocoo()
    assert (walks[coo.row, coo.col] <= coo.data).all()


def step_then_walk(nearest: Neighbors, walks: np.ndarray) -> np.ndarray:
    out = np.full((len(nearest), walks.shape[1]), np.inf)
    for x in range(len(nearest)):
        for e in range(nearest.indptr[x], nearest.indptr[x + 1]):
            out[x] = np.minimum(out[x], nearest.distances[e] + walks[nearest.indices[e]])
    return out**2


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-6)])
def test_new_points_step_and_then_walk(dtype: type, tolerance: float) -> None:
    rng = np.random.default_rng(0)
    walks = all_pairs(GRAPHS["random"], dtype)
    counts = rng.integers(0, 6, 300)  # some meet nobody
    rows = np.repeat(np.arange(300), counts)
    nearest = Neighbors.from_pairs(rows, rng.integers(0, 200, len(rows)), rng.random(len(rows)), (300, 200))
    expected = step_then_walk(nearest, walks.astype(np.float64))
    found = squared_geodesics_from(nearest, walks**2, n_jobs=1)
    np.testing.assert_allclose(found, expected, rtol=tolerance)
    assert found.tobytes() == squared_geodesics_from(nearest, walks**2, n_jobs=2).tobytes()


def test_a_block_is_smaller_than_a_long_query(monkeypatch: pytest.MonkeyPatch) -> None:
    walks = all_pairs(GRAPHS["path"])
    nearest = Neighbors.from_lists(np.arange(151)[:, None], np.full((151, 1), 0.25), 151)
    whole = squared_geodesics_from(nearest, walks**2)
    monkeypatch.setattr("gramfold.graph.geodesic._ENTRIES_PER_BLOCK", 16 * 151 * 10)
    np.testing.assert_array_equal(squared_geodesics_from(nearest, walks**2), whole)
    np.testing.assert_allclose(whole, (walks + 0.25) ** 2, rtol=1e-13)
