"""Walks that are not kept, strip by strip, against SciPy's; and an order in which few vertices lie above a strip."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.direct.elimination import eliminate
from gramfold.graph.geodesic import arranged
from gramfold.graph.streamed_walks import StreamedWalks, in_postorder, lanes_of, postorder
from gramfold.runtime.threads import stop_flag
from gramfold.types import Neighbors
from tests.graph.test_geodesic import ENGINES, GRAPHS, random_graph, reference


def streamed(name: str, engine: str, dtype: type = np.float64) -> StreamedWalks:
    walks = StreamedWalks(GRAPHS[name], dtype is np.float32)
    walks.__dict__["eliminated"] = walks.engine(ENGINES[engine])
    return walks


def plain_steps(walks: np.ndarray, steps: Neighbors) -> np.ndarray:
    out = np.full((len(steps), len(walks)), np.inf)
    for x in range(len(steps)):
        for q in range(steps.indptr[x], steps.indptr[x + 1]):
            out[x] = np.minimum(out[x], steps.distances[q] + walks[steps.indices[q]])
    return out


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_strips_are_half_of_dijkstras_matrix(name: str, engine: str, dtype: type, tolerance: float) -> None:
    walks, every = streamed(name, engine, dtype), reference(GRAPHS[name])
    n = len(every)
    for part in (slice(0, 1), slice(0, n), slice(n // 3, n // 2 + 1), slice(n - 1, n)):
        found = walks.strip(part, stop_flag())
        assert found.dtype == dtype
        np.testing.assert_allclose(found, every[: part.stop, part], rtol=tolerance)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("engine", ENGINES)
def test_points_step_onto_the_graph_and_walk(name: str, engine: str) -> None:
    walks, every, rng = streamed(name, engine), reference(GRAPHS[name]), np.random.default_rng(0)
    n, lists = len(every), [rng.permutation(len(every))[: 1 + i % 5] for i in range(40)]
    rows = np.repeat(np.arange(40), [len(one) for one in lists])
    steps = Neighbors.from_pairs(rows, np.concatenate(lists), rng.exponential(size=len(rows)), (40, n))
    np.testing.assert_allclose(walks.of(steps, stop_flag()), plain_steps(every, steps), rtol=1e-12)
    vertices = rng.integers(0, n, 300)  # more than are walked from at once
    np.testing.assert_allclose(walks.from_vertices(vertices, stop_flag()), every[vertices], rtol=1e-12)


def test_strips_cover_all_vertices() -> None:
    walks = streamed("sheet", "elimination")
    covered = np.concatenate([np.arange(part.start, part.stop) for part in walks.parts()])
    np.testing.assert_array_equal(covered, np.arange(500))
    assert lanes_of(100) == lanes_of(100_000) == 256
    assert lanes_of(10**9) == 64


def plain_subtrees(parent: np.ndarray) -> list[set[int]]:
    below = [{v} for v in range(len(parent))]
    for v, u in enumerate(parent):
        if u >= 0:
            below[u] |= below[v]
    return below


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.integers(0, 120), st.integers(0, 10_000))
def test_a_postorder_has_all_below_a_vertex_just_before_it(n: int, edges: int, seed: int) -> None:
    graph = random_graph(n, edges, seed)
    parent = eliminate(graph.lengths).parent
    order = postorder(parent)
    place = np.argsort(order)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    for v, below in enumerate(plain_subtrees(parent)):
        found = sorted(place[list(below)])
        assert found == list(range(place[v] - len(below) + 1, place[v] + 1))
    assert eliminate(in_postorder(graph).lengths).fill == eliminate(graph.lengths).fill


def test_few_vertices_lie_above_a_strip_of_a_sheet() -> None:
    graph = in_postorder(arranged(GRAPHS["sheet"]))
    eliminated = StreamedWalks(graph, single=False).engine(ENGINES["elimination"])
    above = [(eliminated.earliest[top:] < top).sum() for top in range(1, 500)]
    assert max(above) < 100
    np.testing.assert_array_equal(eliminated.earliest, [min(below) for below in plain_subtrees(eliminated.parent)])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_raised_flag_ends_a_strip(engine: str) -> None:
    walks, stop = streamed("sheet", engine), np.ones(1, dtype=np.uint8)
    if engine == "elimination":  # Dijkstra's algorithm ends with its block
        assert np.isinf(walks.strip(slice(0, 500), stop)).mean() > 0.9
    walks.strip(slice(0, 500), stop_flag())
    every = reference(GRAPHS["sheet"])
    np.testing.assert_allclose(walks.strip(slice(0, 500), stop_flag()), every, rtol=1e-12)
