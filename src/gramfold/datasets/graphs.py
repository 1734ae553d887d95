"""Random graphs whose edges carry lengths, for everything that starts from a graph."""

from dataclasses import dataclass
from math import gamma, pi
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gramfold.datasets._arguments import between, count, positive
from gramfold.datasets._randomness import RandomStateLike, generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class RandomGraph:
    """A graph of edge lengths, and what it was made from.

    Attributes
    ----------
    graph : scipy.sparse.csr_array of shape (n, n), float64
        Symmetric, with positive entries (the edge lengths) and an empty diagonal.
    truth : ndarray or None
        Positions (n, dimension) of a geometric graph, labels (n,) of a planted partition, else None.
    """

    graph: "csr_array"
    truth: NDArray[Any] | None


def make_random_graph(
    n_vertices: int = 100,
    *,
    kind: Literal["erdos_renyi", "geometric", "planted"] = "geometric",
    mean_degree: float = 8.0,
    lengths: tuple[float, float] = (0.5, 1.5),
    dimension: int = 2,
    n_communities: int = 3,
    mixing: float = 0.1,
    connected: bool = False,
    random_state: RandomStateLike = None,
) -> RandomGraph:
    """A random undirected graph with a length on every edge.

    Parameters
    ----------
    n_vertices : int
        Number of vertices.
    kind : {"erdos_renyi", "geometric", "planted"}
        ``"erdos_renyi"``: every pair is an edge with the same probability.
        ``"geometric"``: positions uniform in the unit cube, joined where they are closer than a radius;
        the length of an edge is the distance.
        ``"planted"``: communities of equal size, with more edges inside them than between them.
    mean_degree : float
        Expected number of edges at a vertex; at a vertex away from the border for a geometric graph.
    lengths : (float, float)
        The edge lengths of the two other kinds are uniform between these two positive numbers.
    dimension : int
        Dimension of the cube of a geometric graph.
    n_communities : int
        Number of communities of a planted partition.
    mixing : float
        Expected share of the edges of a planted partition that leave their community, in [0, 1].
    connected : bool
        Make sure that the graph is connected, by as many further edges as there are parts to join, less
        one. In a geometric graph these are the links of a minimum spanning tree over near neighbours.
        In the other kinds every part but the first is linked, by a random vertex, to a random vertex of
        the parts before it. A graph that is connected already is left as it is.
    random_state : None, int, RandomState or Generator
        Source of randomness.

    Returns
    -------
    RandomGraph
        The graph, and its truth.

    Examples
    --------
    >>> from gramfold.datasets import make_random_graph
    >>> made = make_random_graph(50, kind="planted", connected=True, random_state=0)
    >>> made.graph.shape, made.truth.shape
    ((50, 50), (50,))
    """
    from gramfold.datasets import _edges  # brings scipy, which no other data set needs

    n_vertices = count("n_vertices", n_vertices, least=2)
    mean_degree = positive("mean_degree", mean_degree)
    share = _probability(mean_degree, n_vertices - 1)
    rng = generator(random_state)

    if kind == "geometric":
        dimension = count("dimension", dimension)
        positions = rng.random((n_vertices, dimension))
        edges = _edges.pairs_nearer(positions, _radius(share, dimension))
        if connected:
            edges = np.vstack([edges, _edges.short_links(edges, positions)])
        gaps = np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)
        # two equal positions would make an entry that sparse arithmetic takes for no edge
        gaps = np.maximum(gaps, np.finfo(np.float64).tiny)
        return RandomGraph(_edges.symmetric_graph(edges, gaps, n_vertices), positions)

    labels = None
    if kind == "erdos_renyi":
        edges = _edges.pairs_within(n_vertices, share, rng)
    elif kind == "planted":
        mixing = between("mixing", mixing, 0.0, 1.0, closed="low high")
        labels = _labels(n_vertices, count("n_communities", n_communities), rng)
        size = n_vertices / n_communities
        inside = _probability(mean_degree * (1 - mixing), size - 1)
        outside = _probability(mean_degree * mixing, n_vertices - size)
        edges = _edges.pairs_planted(labels, inside, outside, rng)
    else:
        raise ValueError(f'kind={kind!r} is not a known kind of graph; choose "erdos_renyi", "geometric" or "planted".')
    if connected:
        edges = np.vstack([edges, _edges.random_links(edges, n_vertices, rng)])
    shortest, longest = _length_range(lengths)
    drawn = rng.uniform(shortest, longest, size=len(edges))
    return RandomGraph(_edges.symmetric_graph(edges, drawn, n_vertices), labels)


def _probability(expected: float, partners: float) -> float:
    """The probability of an edge with which a vertex expects `expected` of its `partners`."""
    if expected > partners:
        raise ValueError(
            f"mean_degree asks for {expected:g} edges at a vertex that has only {partners:g} partners; "
            "lower mean_degree, or change mixing or the number of communities of a planted partition."
        )
    return expected / partners if partners else 0.0


def _radius(share: float, dimension: int) -> float:
    """The radius of a ball that holds this share of the unit cube, borders aside."""
    unit_ball = pi ** (dimension / 2) / gamma(dimension / 2 + 1)
    return float((share / unit_ball) ** (1 / dimension))


def _labels(n_vertices: int, n_communities: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if n_communities > n_vertices:
        raise ValueError(
            f"n_communities={n_communities} exceeds n_vertices={n_vertices}, so some would be empty; "
            "ask for fewer communities."
        )
    return rng.permutation(np.arange(n_vertices) % n_communities)


def _length_range(lengths: tuple[float, float]) -> tuple[float, float]:
    if np.shape(lengths) != (2,):
        raise ValueError(f"lengths={lengths!r} is not a pair; give the least and the greatest edge length.")
    shortest, longest = (positive("lengths", one) for one in lengths)
    if shortest > longest:
        raise ValueError(f"lengths={lengths!r} runs downwards; give the smaller length first.")
    return shortest, longest
