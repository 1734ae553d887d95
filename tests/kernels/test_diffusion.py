"""Kernels of the Laplacian, against the graph in which every copy of a row is a vertex of its own."""

import numpy as np
import pytest

from gramfold.errors import DisconnectedGraphWarning
from gramfold.graph.build import build_graph
from gramfold.kernels.diffusion import laplacian_kernel
from gramfold.kernels.penalty import Heat, Inverse
from gramfold.types import Neighbors

COPIES = np.array([1, 3, 1, 2, 1, 4, 1, 1])
VERTEX = np.repeat(np.arange(8), COPIES)


def graph_with_copies():
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(8, 1)
    keep = (rng.random(len(i)) < 0.5) | (j == i + 1)
    lists = Neighbors.from_pairs(i[keep], j[keep], rng.random(keep.sum()) + 0.1, (8, 8))
    return build_graph(lists, None, COPIES.astype(float))


def weights_of_copies(graph, width):
    lengths = graph.lengths.toarray()
    single = np.where(lengths > 0, np.exp(-0.5 * (lengths / width) ** 2), 0.0)
    return single[np.ix_(VERTEX, VERTEX)]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("form", ["random-walk", "symmetric", "unnormalized"])
@pytest.mark.parametrize("self_loops", [False, True])
def test_copies_count_as_rows_of_their_own(alpha, form, self_loops):
    graph = graph_with_copies()
    loops = np.ones(len(graph)) if self_loops else None
    kernel = laplacian_kernel(graph, 0.4, form=form, alpha=alpha, decay=Inverse(), exponent=0.0, self_loops=loops)
    W = weights_of_copies(graph, 0.4)
    if self_loops:  # each copy to itself and to the other copies, at distance 0
        W += VERTEX[:, None] == VERTEX[None, :]
    q = W.sum(axis=1)
    W = W / np.outer(q, q) ** alpha
    d = W.sum(axis=1)
    root = np.ones(len(d)) if form == "unnormalized" else np.sqrt(d)
    # on functions that are equal at all copies of a row
    alike = np.zeros((len(VERTEX), 8))
    alike[np.arange(len(VERTEX)), VERTEX] = root
    alike /= np.linalg.norm(alike, axis=0)
    inner = alike.T @ ((np.diag(d) - W) / np.outer(root, root)) @ alike
    expected = alike @ np.linalg.pinv(inner, hermitian=True) @ alike.T
    if form == "random-walk":
        expected /= np.outer(root, root)
    np.testing.assert_allclose(kernel.matrix()[np.ix_(VERTEX, VERTEX)], expected, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(kernel.pull, COPIES / q[np.unique(VERTEX, return_index=True)[1]] ** alpha, rtol=1e-14)


def test_ties_that_vanish_beside_self_loops_are_told():
    # two pairs, 9 widths apart: exp(−40.5) is less than the rounding of 1
    lists = Neighbors.from_pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([1.0, 9.0, 1.0]), (4, 4))
    graph = build_graph(lists, None, np.ones(4))
    form = {"form": "random-walk", "decay": Inverse(), "exponent": 0.0}
    with pytest.warns(
        DisconnectedGraphWarning,
        match="edges of weight below 2e-16 .* the graph has 2 connected components.* self_loops=False",
    ):
        laplacian_kernel(graph, 1.0, self_loops=np.ones(4), **form)
    laplacian_kernel(graph, 1.2, self_loops=np.ones(4), **form)
    laplacian_kernel(graph, 1.0, **form)


def test_heat_at_time_0_is_the_mean_over_copies():
    kernel = laplacian_kernel(
        graph_with_copies(), None, form="unnormalized", decay=Heat(0.0), exponent=0.5, null_value=1.0
    )
    mean = (VERTEX[:, None] == VERTEX[None, :]) / COPIES[VERTEX]
    np.testing.assert_allclose(kernel.matrix()[np.ix_(VERTEX, VERTEX)], mean, atol=1e-14)
