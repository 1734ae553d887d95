"""Random graphs: symmetric, positive, as dense as asked, connected where asked."""

from typing import Any, Literal, get_args

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from gramfold.datasets import make_random_graph
from gramfold.datasets._edges import pairs_within

Kind = Literal["erdos_renyi", "geometric", "planted"]
KINDS = get_args(Kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_symmetric_positive_and_without_loops(kind: Kind, connected: bool, seed: int) -> None:
    graph = make_random_graph(80, kind=kind, mean_degree=2.0, connected=connected, random_state=seed).graph
    assert graph.format == "csr"
    assert graph.has_canonical_format
    assert (graph != graph.T).nnz == 0
    assert np.all(graph.data > 0)
    assert np.all(graph.diagonal() == 0)
    if connected:
        assert connected_components(graph)[0] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_links_are_as_few_as_can_be(kind: Kind) -> None:
    loose, joined = (
        make_random_graph(300, kind=kind, mean_degree=1.5, connected=connected, random_state=0).graph
        for connected in (False, True)
    )
    n_parts = connected_components(loose)[0]
    assert n_parts > 10
    assert joined.nnz - loose.nnz == 2 * (n_parts - 1)
    # what was there is still there (lengths of the other kinds are drawn after the links)
    assert np.all((joined.toarray() > 0)[loose.toarray() > 0])


@pytest.mark.parametrize("kind", KINDS)
def test_connected_graph_is_left_as_it_is(kind: Kind) -> None:
    loose, joined = (
        make_random_graph(60, kind=kind, mean_degree=15.0, connected=connected, random_state=0).graph
        for connected in (False, True)
    )
    assert connected_components(loose)[0] == 1
    assert (loose != joined).nnz == 0


def test_geometric_links_are_the_shortest() -> None:
    made = make_random_graph(150, mean_degree=1.0, connected=True, random_state=2)
    assert made.truth is not None
    euclidean = minimum_spanning_tree(squareform(pdist(made.truth)))
    # edges up to the radius, and beyond it those of the Euclidean minimum spanning tree
    assert minimum_spanning_tree(made.graph).sum() == pytest.approx(euclidean.sum(), rel=1e-12)


def test_geometric_lengths_are_distances_and_no_near_pair_is_missing() -> None:
    made = make_random_graph(200, dimension=3, mean_degree=10.0, random_state=0)
    assert made.truth is not None
    distance = squareform(pdist(made.truth))
    radius = (10.0 / 199 / (4 / 3 * np.pi)) ** (1 / 3)
    np.testing.assert_allclose(made.graph.toarray(), np.where(distance <= radius, distance, 0.0), atol=1e-15)


@pytest.mark.parametrize("kind", ["erdos_renyi", "planted"])
def test_mean_degree_and_lengths(kind: Kind) -> None:
    graph = make_random_graph(3000, kind=kind, mean_degree=12.0, lengths=(2.0, 5.0), random_state=0).graph
    # 18000 expected edges are known to 134: four of these
    assert graph.nnz / 3000 == pytest.approx(12.0, abs=4 * 134 / 1500)
    assert graph.data.min() >= 2.0
    assert graph.data.max() <= 5.0
    assert graph.data.mean() == pytest.approx(3.5, abs=0.03)


def test_degrees_of_an_even_random_graph_are_binomial() -> None:
    graph = make_random_graph(4000, kind="erdos_renyi", mean_degree=6.0, random_state=0).graph
    degree = np.diff(graph.indptr)
    assert degree.var() == pytest.approx(6.0, rel=0.1)
    # no vertex is favoured by how pairs are numbered
    assert abs(np.corrcoef(degree, np.arange(4000))[0, 1]) < 4 / np.sqrt(4000)


def test_every_pair_is_numbered_once() -> None:
    pairs = pairs_within(300, 1.0, np.random.default_rng(0))
    assert len(pairs) == 300 * 299 // 2
    assert np.array_equal(pairs, np.column_stack(np.tril_indices(300, -1)))


@pytest.mark.parametrize("mixing", [0.0, 0.1, 0.5, 1.0])
def test_planted_edges_leave_their_community_as_often_as_asked(mixing: float) -> None:
    made = make_random_graph(2000, kind="planted", n_communities=4, mixing=mixing, mean_degree=10.0, random_state=0)
    labels: Any = made.truth
    edges = made.graph.tocoo()
    leaving = np.mean(labels[edges.row] != labels[edges.col])
    assert leaving == pytest.approx(mixing, abs=0.02)
    assert np.array_equal(np.bincount(labels), [500] * 4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_repeats(kind: Kind) -> None:
    first, again, other = (make_random_graph(60, kind=kind, random_state=seed) for seed in (1, 1, 2))
    assert (first.graph != again.graph).nnz == 0
    assert (first.graph != other.graph).nnz > 0
    assert (first.truth is None) == (kind == "erdos_renyi")
    assert np.array_equal(np.asarray(first.truth), np.asarray(again.truth))
