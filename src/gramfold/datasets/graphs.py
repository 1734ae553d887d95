"""Generate random graphs with edge lengths."""

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
    """Graph with edge lengths, and the positions or labels that it was generated from.

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
    random_state: RandomStateLike = 0,
) -> RandomGraph:
    """Generate a random undirected graph with a length for every edge.

    Parameters
    ----------
    n_vertices : int, default=100
        Number of vertices.
    kind : {"erdos_renyi", "geometric", "planted"}, default="geometric"
        Kind of random graph.

        - ``"erdos_renyi"``: every pair of vertices is an edge with the same probability.
        - ``"geometric"``: positions are uniform in the unit cube. Those within a radius are joined by an edge, whose
          length is their distance.
        - ``"planted"``: planted partition of communities of equal size, with more edges inside them than between them.
    mean_degree : float, default=8.0
        Expected number of edges of a vertex; of a geometric graph, for a vertex away from the border of the cube.
    lengths : (float, float), default=(0.5, 1.5)
        Smallest and largest edge length, both positive; lengths are uniform between them. Not used for `geometric`.
    dimension : int, default=2
        Dimension of the cube of a geometric graph.
    n_communities : int, default=3
        Number of communities of a planted partition.
    mixing : float, default=0.1
        Expected share of the edges of a planted partition that join different communities, in [0, 1].
    connected : bool, default=False
        Whether to connect the graph by adding edges, one fewer than it has connected components. In a geometric graph
        these are the links of a minimum spanning tree over near neighbours. In the other kinds a random vertex of each
        component but the first is linked to a random vertex of the components before it.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    RandomGraph
        The graph, and the true positions or labels of its vertices.

    Examples
    --------
    >>> from gramfold.datasets import make_random_graph
    >>> made = make_random_graph(50, kind="planted", connected=True, random_state=0)
    >>> made.graph.shape, made.truth.shape
    ((50, 50), (50,))
    """
    from gramfold.datasets import _edges  # imports scipy, which no other data set needs

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
        # two equal positions would give an entry of 0, which sparse arithmetic may drop
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
    """Probability of an edge for which a vertex has `expected` edges to `partners` other vertices."""
    if expected > partners:
        raise ValueError(
            f"mean_degree needs {expected:g} edges at a vertex that has only {partners:g} possible ones; lower "
            "mean_degree or, for a planted partition, change mixing or n_communities."
        )
    return expected / partners if partners else 0.0


def _radius(share: float, dimension: int) -> float:
    """Radius of a ball with this share of the volume of the unit cube."""
    unit_ball = pi ** (dimension / 2) / gamma(dimension / 2 + 1)
    return float((share / unit_ball) ** (1 / dimension))


def _labels(n_vertices: int, n_communities: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if n_communities > n_vertices:
        raise ValueError(
            f"n_communities={n_communities} exceeds n_vertices={n_vertices}, so some communities would be "
            "empty; give fewer."
        )
    return rng.permutation(np.arange(n_vertices) % n_communities)


def _length_range(lengths: tuple[float, float]) -> tuple[float, float]:
    if np.shape(lengths) != (2,):
        raise ValueError(f"lengths={lengths!r} is not a pair; give the smallest and the largest edge length.")
    shortest, longest = (positive("lengths", one) for one in lengths)
    if shortest > longest:
        raise ValueError(f"lengths={lengths!r} is in descending order; give the smaller length first.")
    return shortest, longest
