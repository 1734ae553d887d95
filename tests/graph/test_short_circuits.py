"""Edges that cut through the ambient space: against the plain version, and on graphs that have none."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.datasets import make_swiss_roll
from gramfold.embedding import Neighborhood
from gramfold.graph.drop import short_circuits_of
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.graph.short_circuits import LEVEL, ShortCircuits, extreme, find_short_circuits
from gramfold.runtime.progress import SILENT
from tests.graph.plain_short_circuits import nearest, plain_short_circuits


def graph_of(X, **settings):
    return NeighborGraph.of(
        X,
        Neighborhood(**settings),
        check=lambda n: None,
        random_state=np.random.RandomState(0),
        n_jobs=1,
        stages=SILENT,
    )


def found_in(net, planes=True):
    rng = np.random.RandomState(0)
    return short_circuits_of(net, rng, 1) if planes else find_short_circuits(net.whole(), None, random_state=rng)


def between_turns(n, seed, noise=0.0, count=5):
    """A roll, and rows midway between two of its turns."""
    roll = make_swiss_roll(n, random_state=seed, noise=noise).points
    rng = np.random.default_rng(seed)
    t, height = rng.uniform(5.5, 7.5, count), rng.uniform(2.0, 19.0, count)
    return np.vstack([roll, np.column_stack([(t + np.pi) * np.cos(t), height, (t + np.pi) * np.sin(t)])])


@pytest.mark.parametrize(
    ("X", "k"),
    [
        (between_turns(450, 1), 8),
        (between_turns(350, 3, noise=0.2), 9),
        (make_swiss_roll(300, random_state=4).points, 12),  # with real ones
        (make_swiss_roll(400, random_state=2, noise=0.5, hole=True).points, 7),
    ],
)
@pytest.mark.parametrize("planes", [True, False])
def test_as_the_plain_version(X, k, planes):
    wanted = plain_short_circuits(X, k, planes=planes)
    found = found_in(graph_of(X, n_neighbors=k), planes)
    assert {(i, j) for i, j in found.edges.tolist()} == set(wanted)
    assert np.allclose(found.scores, [wanted[i, j] for i, j in found.edges.tolist()])
    assert (np.diff(found.scores) <= 0).all()
    assert found.evidence == ("tangent planes" if planes else "graph")


def test_plain_version_has_something_to_say():
    assert len(plain_short_circuits(between_turns(450, 1), 8, planes=True)) > 5


def test_edges_planted_in_a_graph(monkeypatch):
    monkeypatch.setattr("gramfold.graph.short_circuits.SAMPLE", 10**6)  # all edges, as the plain version does
    roll = make_swiss_roll(1200, random_state=3)
    edges, _, distances = nearest(roll.points, 10)
    arc = roll.truth[:, 0]
    planted = set()
    for i in np.flatnonzero((arc > 5) & (arc < 30))[::60][:5].tolist():
        j = int(np.argmin(np.where(np.abs(arc - arc[i]) > 30, distances[i], np.inf)))
        planted.add((min(i, j), max(i, j)))
        edges[min(i, j), max(i, j)] = distances[i, j]
    i, j = np.array(list(edges)).T
    lengths = np.array(list(edges.values()))
    graph = csr_array((np.r_[lengths, lengths], (np.r_[i, j], np.r_[j, i])), shape=(1200, 1200))
    found = found_in(graph_of(graph, metric="precomputed"))
    assert found.evidence == "graph"
    assert np.isnan(found.tilts).all()
    assert {(i, j) for i, j in found.edges.tolist()} == planted
    assert found.n_found == len(planted) == 5
    wanted = plain_short_circuits(roll.points, 10, planes=False, given=edges)
    assert set(wanted) == planted
    assert np.allclose(found.scores, [wanted[i, j] for i, j in found.edges.tolist()])
    assert (found.geodesics > 0).all()  # every one of them shortens some path


def test_parallel_edges_are_one_short_circuit():
    X = between_turns(1500, 1)
    found = found_in(graph_of(X, n_neighbors=10))
    planted = found.edges.max(axis=1)
    assert (planted >= 1500).all()
    assert len(np.unique(planted)) == found.n_found == found.circuits.max() + 1 < len(found)
    for number in range(found.n_found):
        assert len(np.unique(planted[found.circuits == number])) == 1
    assert len(found.first(2).edges) == np.isin(found.circuits, [0, 1]).sum()
    assert found.first(2).n_found == found.n_found


def test_geodesics_are_counted_as_they_run():
    # a path of 6 rows closed by one edge: from each row, geodesics to the others on either side of it
    X = np.column_stack([np.arange(40.0), np.zeros(40)])
    net = graph_of(X, n_neighbors=2)
    found = found_in(net)
    assert len(found) == 0
    from gramfold.graph.short_circuits import _geodesics_through

    graph = net.whole()
    share = _geodesics_through(graph, np.array([[20, 21]]), np.random.RandomState(0))
    sources = np.random.RandomState(0).choice(40, 32, replace=False)
    crossing = sum(sum((s <= 20) != (t <= 20) for t in range(40)) for s in sources)
    direct = share[0] * 32 * 39
    # rows two apart are neighbours only at the ends, so each crossing path takes this edge
    assert direct == pytest.approx(crossing)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_closed_curves_have_none(k):
    t = np.sort(np.random.default_rng(0).uniform(0, 2 * np.pi, 300))
    circle = np.column_stack([np.cos(t), np.sin(t), np.zeros(300)])
    assert len(found_in(graph_of(circle, n_neighbors=k))) == 0


def test_trees_and_clusters_have_none():
    star = csr_array((np.ones(38), (np.r_[np.zeros(19, int), 1:20], np.r_[1:20, np.zeros(19, int)])))
    assert len(found_in(graph_of(star, metric="precomputed"))) == 0
    rng = np.random.default_rng(0)
    groups = np.vstack([rng.normal(size=(100, 10)) + 4 * np.eye(10)[g] for g in range(4)])
    assert len(found_in(graph_of(groups, n_neighbors=8))) == 0


def test_few_rows_are_no_trouble():
    for n in (2, 3, 5, 10):
        X = np.random.default_rng(n).normal(size=(n, 3))
        assert len(found_in(graph_of(X, n_neighbors=min(8, n - 1)))) == 0


def test_extreme_is_what_chance_exceeds_once_in_a_hundred():
    rng = np.random.default_rng(0)
    exceeded = [(rng.exponential(size=50) > extreme(rng.exponential(size=2000), 50)).any() for _ in range(2000)]
    assert np.mean(exceeded) == pytest.approx(LEVEL, abs=0.012)  # the tail is estimated


def test_repr_says_what_was_found():
    none = found_in(graph_of(make_swiss_roll(900, random_state=0).points, n_neighbors=10))
    assert repr(none).startswith("ShortCircuits(none;")
    assert "tangent planes of 2 dimensions" in repr(none)
    some = found_in(graph_of(between_turns(1000, 1), n_neighbors=8))
    assert isinstance(some, ShortCircuits)
    assert f"{len(some)} edges" in repr(some)
    assert np.array_equal(np.asarray(some), some.edges)
