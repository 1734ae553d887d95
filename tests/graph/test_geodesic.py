"""Shortest walks against SciPy's, and one step before them against a plain loop."""

import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations, count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from gramfold.datasets import make_swiss_roll
from gramfold.direct.elimination import eliminate
from gramfold.graph import geodesic, min_plus
from gramfold.graph.build import build_graph
from gramfold.graph.geodesic import all_pairs, arranged, squared_geodesics_from, walks_from
from gramfold.graph.min_plus import EliminatedGraph
from gramfold.graph.plain_paths import PlainElimination
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.costs import COSTS, Costs, GeodesicCosts
from gramfold.runtime.progress import SILENT
from gramfold.runtime.threads import run_blocks
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


def neighbour_graph(X: np.ndarray, k: int) -> Graph:
    neighbors = TreeIndex(X, Metric("euclidean", "euclidean"), 1).own(k, None)
    return build_graph(neighbors, neighbors.farthest, np.ones(len(X)))


GRAPHS = {
    "grid, all ties": grid(13),
    "path": graph_from([(i, i + 1) for i in range(150)], np.random.default_rng(0).random(150), 151),
    "star": graph_from([(0, i) for i in range(1, 90)], np.arange(1.0, 90), 90),
    "random": random_graph(200, 900, 1),
    "zeros and ties": random_graph(200, 700, 2, whole=True),
    "disconnected": random_graph(200, 130, 3),
    "no edge": graph_from([], [], 3),
    "complete": graph_from([*combinations(range(60), 2)], np.random.default_rng(4).random(1770), 60),
    "many dimensions": neighbour_graph(np.random.default_rng(5).standard_normal((300, 12)), 8),
    "sheet": neighbour_graph(make_swiss_roll(500, random_state=0).points, 8),
    "lengths over 12 orders": graph_from(
        [(i, (7 * i + 3) % 97) for i in range(97)], 10.0 ** np.linspace(-6, 6, 97), 97
    ),
}


def reference(graph: Graph) -> np.ndarray:
    """SciPy's Dijkstra; it drops stored zeros from a dense matrix but not from a sparse one."""
    return np.asarray(dijkstra(graph.lengths, directed=True))


# Whatever fills in, an edge that is never walked for less is eliminated, and one that is free is walked.
ENGINES = {
    "elimination": Costs(geodesics=GeodesicCosts(walked_edge=1e9, most_fill_share=np.inf)),
    "dijkstra": Costs(geodesics=GeodesicCosts(walked_edge=0.0)),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("n_sources", [None, 3])
@pytest.mark.parametrize("plain", [False, True])
def test_costs_name_the_engine(name: str, n_sources: int | None, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geodesic, "plain_paths", lambda *_: plain)
    found = {
        engine: geodesic._eliminated(GRAPHS[name], n_sources, np.float64, 1, SILENT, costs)
        for engine, costs in ENGINES.items()
    }
    if found["elimination"] is not None:
        assert isinstance(found["elimination"], PlainElimination if plain else EliminatedGraph)
    assert found["dijkstra"] is None
    assert (found["elimination"] is None) == (name == "no edge")  # where there is nothing to save


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("engine", ["elimination", "dijkstra", "chosen"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_all_pairs_are_dijkstras(name: str, engine: str, dtype: type, tolerance: float) -> None:
    found = all_pairs(GRAPHS[name], dtype, n_jobs=1, costs=ENGINES.get(engine, COSTS))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, reference(GRAPHS[name]), rtol=tolerance)


def test_a_graph_without_edges_is_eliminated_too() -> None:
    graph, out = GRAPHS["no edge"], np.empty((3, 3))
    EliminatedGraph.of(graph, eliminate(graph.lengths), np.float64, SILENT).all_pairs(out, 1, SILENT)
    np.testing.assert_array_equal(out, reference(graph))
    EliminatedGraph.of(graph, eliminate(graph.lengths), np.float64, SILENT).walks_from(
        np.arange(3, dtype=np.int32), out, 1, SILENT
    )
    np.testing.assert_array_equal(out, reference(graph))


@pytest.mark.parametrize("name", GRAPHS)
def test_some_sources_and_two_threads_give_the_same_rows(name: str) -> None:
    for costs in ENGINES.values():
        sources = np.random.default_rng(0).permutation(len(GRAPHS[name]))[:150]
        some = walks_from(GRAPHS[name], sources, n_jobs=1, costs=costs)
        assert some.tobytes() == walks_from(GRAPHS[name], sources, n_jobs=2, costs=costs).tobytes()
        np.testing.assert_allclose(some, all_pairs(GRAPHS[name], costs=costs)[:, sources], rtol=1e-14)


def test_sheets_are_eliminated_and_clouds_are_walked() -> None:
    sheet = neighbour_graph(make_swiss_roll(3000, random_state=0).points, 10)
    cloud = neighbour_graph(np.random.default_rng(0).standard_normal((2000, 10)), 10)
    ordered = arranged(sheet)
    assert not np.array_equal(ordered.vertices, sheet.vertices)
    # the arranged graph is the same graph under other numbers
    back = ordered.lengths[np.argsort(ordered.vertices)][:, np.argsort(ordered.vertices)]
    assert (back != sheet.lengths).nnz == 0
    walks = all_pairs(ordered)
    np.testing.assert_allclose(walks, reference(sheet)[np.ix_(ordered.vertices, ordered.vertices)], rtol=1e-12)
    assert geodesic.elimination_is_quicker(ordered, eliminate(ordered.lengths), 3000, 2, COSTS)
    mixed = arranged(cloud)
    assert not geodesic.elimination_is_quicker(mixed, eliminate(mixed.lengths), 10, 2, COSTS)
    walks = all_pairs(mixed)
    np.testing.assert_allclose(walks, reference(cloud)[np.ix_(mixed.vertices, mixed.vertices)], rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("everybody", [True, False])
def test_an_interrupt_ends_it_at_once_and_leaves_nothing_running(
    engine: str, everybody: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = arranged(neighbour_graph(make_swiss_roll(8_000, random_state=0).points, 10))
    begun, flags = count(), []

    def watched(work: Callable, parts: list[slice], *args: object, stop: np.ndarray, **options: object) -> list:
        def watch(part: slice) -> None:
            if next(begun) == 2:  # the third block of all presses the key, and is still under way when it is heard
                flags.append(stop)
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                wait_for(lambda: stop[0])
            work(part)

        return run_blocks(watch, parts, *args, stop=stop, **options)

    for module in (geodesic, min_plus):
        monkeypatch.setattr(module, "run_blocks", watched)
    threads = threading.active_count()
    find = all_pairs if everybody else partial(walks_from, sources=np.arange(8_000))
    with pytest.raises(KeyboardInterrupt):
        find(graph, n_jobs=2, costs=ENGINES[engine])
    assert flags[0][0]
    wait_for(lambda: threading.active_count() == threads)  # one that was being started may end a moment later
    assert threading.active_count() == threads
    assert next(begun) < 20, "those under way and those begun until it was heard, of 60 and more"


def wait_for(condition: Callable[[], object]) -> None:
    """Give up after a minute: whoever asserts the condition then says so."""
    for _ in range(6_000):
        if condition():
            return
        time.sleep(0.01)


@pytest.mark.parametrize("everybody", [True, False])
def test_a_raised_flag_ends_a_sweep_under_way(everybody: bool) -> None:
    graph, out = GRAPHS["sheet"], np.full((500, 500), np.nan)
    eliminated = EliminatedGraph.of(graph, eliminate(graph.lengths), np.float64, SILENT)
    eliminated.stop[0] = 1
    if everybody:
        eliminated.all_pairs(out, 1, SILENT)
    else:
        eliminated.walks_from(np.arange(500, dtype=np.int32), out, 1, SILENT)
    assert np.isnan(out).sum() > out.size / 2


@pytest.mark.parametrize("name", ["random", "complete"])  # its first supernode is one vertex, or all
def test_a_raised_flag_leaves_the_lengths_as_they_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GRAPHS[name]
    eliminated = EliminatedGraph.of(graph, eliminate(graph.lengths), np.float64, SILENT)
    monkeypatch.setattr(min_plus, "stop_flag", lambda: np.ones(1, dtype=np.uint8))
    found = EliminatedGraph.of(graph, eliminate(graph.lengths), np.float64, SILENT)
    dense = np.full(graph.lengths.shape, np.inf)
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.lengths.indptr))
    dense[rows, graph.lengths.indices] = graph.lengths.data
    placed = dense[np.repeat(np.arange(len(graph)), np.diff(found.start)), found.filled]
    np.testing.assert_array_equal(found.weights, placed)
    assert (eliminated.weights < placed).any()


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.integers(0, 200), st.integers(0, 10_000), st.booleans())
def test_eliminated_weights_are_those_of_a_plain_elimination(n: int, edges: int, seed: int, whole: bool) -> None:
    graph = random_graph(n, edges, seed, whole=whole)
    dense = np.full((n, n), np.inf)
    rows, columns = np.repeat(np.arange(n), np.diff(graph.lengths.indptr)), graph.lengths.indices
    dense[rows, columns] = graph.lengths.data
    for v in range(n):
        dense[v + 1 :, v + 1 :] = np.minimum(dense[v + 1 :, v + 1 :], dense[v, v + 1 :, None] + dense[v, None, v + 1 :])
    found = EliminatedGraph.of(graph, eliminate(graph.lengths), np.float64, SILENT)
    rows = np.repeat(np.arange(n), np.diff(found.start))
    np.testing.assert_array_equal(found.weights, dense[rows, found.filled])
    assert np.isfinite(dense[np.triu_indices(n, 1)]).sum() == len(found.filled)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_there_and_back_are_equal_to_the_bit(dtype: type) -> None:
    # more than one group of tiles, the last of them narrow
    walks = all_pairs(arranged(neighbour_graph(make_swiss_roll(1_100, random_state=1).points, 8)), dtype)
    np.testing.assert_array_equal(walks, walks.T)
    np.testing.assert_array_equal(np.diag(walks), 0)


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
    found = squared_geodesics_from(nearest, walks**2)
    np.testing.assert_allclose(found, expected, rtol=tolerance)
