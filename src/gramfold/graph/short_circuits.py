"""Short circuits: edges of a neighbour graph that cut through the space around the manifold.

An edge is *tested* if it leaves the tangent planes at its ends (tangents.py), by more than half a neighbourhood radius
and five standard deviations of the sheet's thickness. Where there are no planes (a graph that was given, or
neighbourhoods that are not flat) it is tested if its ends have no common neighbour.

All tested edges are taken out of the graph at once, since parallel short circuits confirm each other. Those with a
short way round along the other edges go back in, again and again until no more do. Parts of the graph that are smaller
than a neighbourhood, such as a row between two sheets, are then attached by the edge that leaves the planes least. An
edge (i, j) of length ℓ that remains is a short circuit if the way round it, D, is finite and longer than

    π/2 · s · max(ℓ, u)     on a sheet, two rows nearer than twice its reach are at most π/2 times as far along it
                            (Federer; Niyogi, Smale, Weinberger 2008), and paths along the graph are s times longer
    c · u                   and chance makes one of all tested edges so long in one graph of a hundred

with u the larger of the median distances of i and j to their neighbours, s the stretch that 99% of the other edges
have, and c extrapolated from the ways round them. If no way round is left, nothing contradicts the edge, and it is not
named: clusters may be connected by it. A way round is short, and goes back in, if
it is not longer than the first of the two: an edge that is only not disproved confirms no other.

    score = D / max of the two;    a slow plain version: tests/graph/plain_short_circuits.py
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from gramfold.graph.tangents import Grams, plane_dimension, tilts
from gramfold.runtime.counting import counted
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks, run_blocks, stop_flag
from gramfold.types import Floats, Graph, Integers, Plain

STEEP = 0.5  # in neighbourhood radii: beyond, a chord as long as the radius is longer than the reach of the sheet
THICK = 5.0  # standard deviations of the sheet's thickness
NORMAL_90 = 1.645  # of which 90% of a normal distribution lie within so many
REACH = np.pi / 2
STRETCH = 0.99  # of the other edges are stretched less
LEVEL = 0.01  # probability that chance names an edge of a graph without short circuits
TAIL = 0.02  # share of the other edges that the tail is fitted to
FEWEST = 10  # of them
SAMPLE = 3000  # edges by which the others are judged
SOURCES = 32  # rows from which geodesics are counted
_WAYS_PER_BLOCK = 64

Evidence = Literal["tangent planes", "graph"]


@dataclass(frozen=True, eq=False, repr=False)
class ShortCircuits(Plain):
    """Edges that cut through the ambient space, the most certain first.

    Attributes
    ----------
    edges : ndarray of shape (m, 2)
        The two rows of each edge; of identical rows the first.
    lengths : ndarray of shape (m,)
        Length of each edge.
    scores : ndarray of shape (m,)
        Length of the way round relative to the longest that a sheet without short circuits would give: above 1.
    detours : ndarray of shape (m,)
        Length of the shortest path between the two rows without this edge and all others that are disputed.
    tilts : ndarray of shape (m,)
        How far the edge leaves the tangent plane at one of its ends, in neighbourhood radii; NaN without planes.
    geodesics : ndarray of shape (m,)
        Share of all geodesics (from 32 rows drawn at random) that run through the edge.
    circuits : ndarray of shape (m,)
        Number of the short circuit that the edge belongs to: parallel edges are one.
    evidence : {"tangent planes", "graph"}
        What made edges suspect: the tangent planes, or the graph alone.
    dimension : int or None
        Dimension of the tangent planes.
    n_tested : int
        Number of edges that were suspect.
    n_found : int
        Number of short circuits found, of which `most` are listed.
    tensions : ndarray of shape (m,), or None
        Of a fitted SDE, the multiplier of each edge relative to the median of all kept pairs; NaN for an edge that is
        not one of these.
    """

    edges: Integers
    lengths: Floats
    scores: Floats
    detours: Floats
    tilts: Floats
    geodesics: Floats
    circuits: Integers
    evidence: Evidence
    dimension: int | None
    n_tested: int
    n_found: int
    tensions: Floats | None = field(default=None)

    def __len__(self) -> int:
        return len(self.edges)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The edges, so that the result can be given as `drop_edges`."""
        return np.array(self.edges, dtype=dtype) if copy or dtype is not None else np.asarray(self.edges)

    def __repr__(self) -> str:
        if not len(self):
            return f"ShortCircuits(none; {counted(self.n_tested, 'edge')} tested by {self._by})"
        listed = int(self.circuits.max()) + 1
        more = "" if listed == self.n_found else f" of {self.n_found:,}"
        i, j = self.edges[0]
        return (
            f"ShortCircuits({listed}{more} with {counted(len(self), 'edge')}, found by {self._by}; first: rows {i} and "
            f"{j}, length {self.lengths[0]:.3g}, way round {self.detours[0]:.3g}, score {self.scores[0]:.3g})"
        )

    @property
    def _by(self) -> str:
        if self.evidence == "graph":
            return "the graph alone"
        return f"tangent planes of {counted(self.dimension or 0, 'dimension')}"

    def first(self, most: int | None) -> Self:
        """The edges of the first so many short circuits."""
        if most is None or most >= self.n_found:
            return self
        kept = self.circuits < most
        per_edge = ("edges", "lengths", "scores", "detours", "tilts", "geodesics", "circuits", "tensions")
        values = {name: getattr(self, name) for name in per_edge}
        kept_values: dict[str, Any] = {name: value if value is None else value[kept] for name, value in values.items()}
        return replace(self, **kept_values)


@dataclass(eq=False)
class _Believed:
    """A graph of which some edges are believed: paths run along these."""

    graph: csr_array
    ends: Integers  # (m, 2) of each edge, the lower first
    places: Integers  # (m, 2) of each edge in the stored entries, both ways
    alive: NDArray[np.bool_]  # (nnz,)
    n_jobs: int | None

    @classmethod
    def of(cls, lengths: csr_array, n_jobs: int | None) -> Self:
        n = lengths.shape[0]
        rows = np.repeat(np.arange(n), np.diff(lengths.indptr))
        entry = csr_array((np.arange(1, lengths.nnz + 1), lengths.indices, lengths.indptr), shape=(n, n))
        back = csr_array(entry.T)
        back.sort_indices()
        upper = np.flatnonzero(rows < lengths.indices)
        ends = np.column_stack([rows[upper], lengths.indices[upper]])
        return cls(lengths, ends, np.column_stack([upper, back.data[upper] - 1]), np.ones(lengths.nnz, bool), n_jobs)

    @property
    def lengths(self) -> Floats:
        """Of each edge."""
        return np.asarray(self.graph.data[self.places[:, 0]])

    def believe(self, edges: Integers, *, whether: bool = True) -> None:
        self.alive[self.places[edges]] = whether

    def ways_round(self, edges: Integers, bounds: Floats | float = np.inf, *, avoid_common: bool = False) -> Floats:
        """Shortest paths between the ends of these edges without the edge itself; infinite beyond the bounds."""
        from gramfold.graph import detour_kernels

        out, bounds = np.empty(len(edges)), np.broadcast_to(np.asarray(bounds, dtype=np.float64), len(edges)).copy()
        indptr, indices = self.graph.indptr.astype(np.int64), self.graph.indices.astype(np.int32)
        lengths = np.ascontiguousarray(self.graph.data, dtype=np.float64)
        starts, ends = self.ends[edges].astype(np.int32).T.copy()

        def work(part: slice) -> None:
            detour_kernels.ways_round(
                indptr, indices, lengths, self.alive, starts[part], ends[part], bounds[part], avoid_common, out[part]
            )

        run_blocks(work, blocks(len(edges), _WAYS_PER_BLOCK), self.n_jobs, what="detours", stop=stop_flag())
        return out

    def components(self) -> Integers:
        """The component of each vertex along believed edges, (n,)."""
        alive = self.alive[self.places[:, 0]]
        i, j = self.ends[alive].T
        n = self.graph.shape[0]
        return np.asarray(connected_components(csr_array((np.ones(len(i)), (i, j)), shape=(n, n)), directed=False)[1])


def find_short_circuits(
    graph: Graph,
    grams: Grams | None,
    *,
    columns: int | None = None,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
) -> ShortCircuits:
    """The short circuits of a neighbour graph, of which `grams` knows the rows; edges are of data rows.

    `columns` is how many columns rows have, where that is known: planes of as many dimensions are left by nothing.
    """
    believed = _Believed.of(graph.lengths, n_jobs)
    dimension = None if grams is None or not graph.n_edges else plane_dimension(graph.neighbors, grams)
    planes = dimension is not None and (columns is None or dimension < columns)
    if planes:
        assert grams is not None
        assert dimension is not None
        suspicion = _edge_tilts(graph, grams, dimension, believed)
        tested = np.flatnonzero(suspicion > _steep(suspicion))
    else:
        dimension, suspicion = None, believed.lengths
        tested = np.flatnonzero(_common_neighbors(graph.lengths)[believed.places[:, 0]] == 0)
    others = np.setdiff1d(np.arange(len(believed.ends)), tested, assume_unique=True)
    named: Integers = np.empty(0, dtype=np.intp)
    detours: Floats = np.empty(0)
    scores: Floats = np.empty(0)
    if tested.size and others.size:
        believed.believe(tested, whether=False)
        chosen = others if len(others) <= SAMPLE else random_state.choice(others, SAMPLE, replace=False)
        believable, longest = _bounds(graph, believed, chosen, len(tested), planes)
        named = _unconfirmed(believed, tested, suspicion, believable, _least(graph, dimension))
        detours = believed.ways_round(named)
        contradicted = np.isfinite(detours) & (detours > longest[named])
        named, detours = named[contradicted], detours[contradicted]
        scores = detours / longest[named]
    order = np.lexsort((named, -scores))
    named, detours, scores = named[order], detours[order], scores[order]
    circuits = _bundles(believed, named)
    return ShortCircuits(
        edges=graph.rows[believed.ends[named]].astype(np.intp),
        lengths=believed.lengths[named].astype(np.float64),
        scores=scores,
        detours=detours,
        tilts=suspicion[named] if planes else np.full(len(named), np.nan),
        geodesics=_geodesics_through(graph, believed.ends[named], random_state),
        circuits=circuits,
        evidence="tangent planes" if planes else "graph",
        dimension=dimension,
        n_tested=len(tested),
        n_found=int(circuits.max()) + 1 if len(circuits) else 0,
    )


def _edge_tilts(graph: Graph, grams: Grams, dimension: int, believed: _Believed) -> Floats:
    """How far each edge leaves the plane at one of its ends, (m,)."""
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.lengths.indptr))
    leaves = tilts(graph.neighbors, grams, dimension, rows, graph.lengths.indices)
    return np.asarray(leaves[believed.places].max(axis=1))


def _steep(suspicion: Floats) -> float:
    return max(STEEP, THICK * float(np.quantile(suspicion, 0.9)) / NORMAL_90)


def _common_neighbors(lengths: csr_array) -> Integers:
    """How many neighbours the two ends of each stored edge have in common, (nnz,)."""
    n = lengths.shape[0]
    ones = csr_array((np.ones(lengths.nnz, np.int32), lengths.indices, lengths.indptr), shape=(n, n))
    found = np.empty(lengths.nnz, dtype=np.int64)
    for part in beats(blocks(n, 1000)):  # all pairs with a common neighbour are many more than edges
        some = ones[part]
        shared = csr_array((some @ ones).multiply(some))
        marked = csr_array(shared + some)  # also where they share none
        marked.sort_indices()
        found[lengths.indptr[part.start] : lengths.indptr[part.stop]] = marked.data - 1
    return found


def _least(graph: Graph, dimension: int | None) -> int:
    """Rows that a part of the graph has at least to be a sheet of its own: a neighbourhood."""
    return max(int(np.median(graph.neighbors.counts)) + 1, 2 if dimension is None else dimension + 2)


def _bounds(graph: Graph, believed: _Believed, others: Integers, tests: int, planes: bool) -> tuple[Floats, Floats]:
    """Of each edge the longest way round that confirms it, and the longest that a sheet would give."""
    scale = _medians(graph)[believed.ends].max(axis=1)  # (m,)
    longer = np.maximum(believed.lengths, scale)
    ways = believed.ways_round(others)
    known = np.isfinite(ways) & (ways > 0) & (scale[others] > 0)  # a metric may find rows at distance 0 that differ
    if not known.any():  # a tree: there is no way round anything
        return np.full(len(scale), np.inf), np.full(len(scale), np.inf)
    confirms = REACH * float(np.quantile(ways[known] / longer[others][known], STRETCH)) * longer
    if planes:
        chance = REACH * extreme(np.log(ways[known] / scale[others][known]), tests, np.exp)
    else:  # tested edges have no common neighbours, so others are judged without theirs
        ways = believed.ways_round(others, avoid_common=True)
        known = np.isfinite(ways) & (scale[others] > 0)
        chance = extreme(ways[known] / scale[others][known], tests) if known.any() else np.inf
    return confirms, np.maximum(confirms, chance * np.where(scale > 0, scale, 1.0))


def extreme(values: Floats, tests: int, outward: Callable[[float], float] = float) -> float:
    """What none of so many more values exceeds with probability 1 − LEVEL, by the mean excess of the largest 2%."""
    largest = np.sort(values)[::-1]
    count = min(len(largest), max(FEWEST, int(np.ceil(TAIL * len(largest)))))
    base = float(largest[count - 1])
    excess = float(largest[:count].mean()) - base
    return float(outward(base + excess * max(0.0, float(np.log(count / len(largest) * tests / LEVEL)))))


def _medians(graph: Graph) -> Floats:
    """Median distance of each vertex to its neighbours, (n,); 0 where it has none."""
    lists = graph.neighbors
    found, some = np.zeros(len(lists)), np.flatnonzero(lists.counts > 0)
    low, high = (lists.counts[some] - 1) // 2, lists.counts[some] // 2  # distances are ascending
    found[some] = 0.5 * (lists.distances[lists.indptr[some] + low] + lists.distances[lists.indptr[some] + high])
    return found


def _unconfirmed(believed: _Believed, tested: Integers, suspicion: Floats, believable: Floats, least: int) -> Integers:
    """The tested edges that nothing confirms; the others are believed afterwards."""
    left = _confirm(believed, tested, believable)
    component = believed.components()
    sizes = np.bincount(component)
    parent = np.arange(len(sizes))

    def root(number: int) -> int:
        while parent[number] != number:
            number = parent[number]
        return int(number)

    attached = []
    for edge in left[np.argsort(suspicion[left], kind="stable")]:
        one, other = (root(component[end]) for end in believed.ends[edge])
        if one != other and min(sizes[one], sizes[other]) < least:
            parent[other] = one
            sizes[one] += sizes[other]
            attached.append(edge)
    believed.believe(np.array(attached, dtype=np.intp))
    return _confirm(believed, np.setdiff1d(left, attached, assume_unique=True), believable)


def _confirm(believed: _Believed, left: Integers, believable: Floats) -> Integers:
    """Believe edges with a short way round until there are no more; those that are left."""
    while left.size:
        short = np.isfinite(believed.ways_round(left, believable[left]))
        believed.believe(left[short])
        left = left[~short]
        if not short.any():
            break
    return left


def _bundles(believed: _Believed, named: Integers) -> Integers:
    """Numbers of bundles of parallel edges, (m,): they share a row, or are neighbours at both of their ends."""
    ends = believed.ends[named]
    near = {v: {v, *_row(believed.graph, v).tolist()} for v in np.unique(ends).tolist()}
    at: dict[int, list[int]] = {}
    for number, (i, j) in enumerate(ends.tolist()):
        at.setdefault(i, []).append(number)
        at.setdefault(j, []).append(number)
    first, second = [], []
    for number, (i, j) in enumerate(ends.tolist()):
        for u in near[i]:
            for other in at.get(u, ()):
                a, b = ends[other].tolist()
                far = b if a == u else a
                if u == i or far == j or far in near[j]:
                    first.append(number)
                    second.append(other)
        for other in at[j]:
            first.append(number)
            second.append(other)
    m = len(named)
    label = connected_components(csr_array((np.ones(len(first)), (first, second)), shape=(m, m)), directed=False)[1]
    seen = {old: new for new, old in enumerate(dict.fromkeys(label.tolist()))}
    return np.array([seen[one] for one in label.tolist()], dtype=np.intp)


def _row(graph: csr_array, vertex: int) -> Integers:
    return np.asarray(graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]])


def _geodesics_through(graph: Graph, ends: Integers, random_state: np.random.RandomState) -> Floats:
    """Share of the geodesics from some vertices that run through each of these edges, (m,)."""
    n, through, pairs = len(graph), np.zeros(len(ends)), 0
    if not len(ends):
        return through
    from gramfold.graph.detour_kernels import ends_below

    sources = random_state.choice(n, min(n, SOURCES), replace=False)
    for source in sources:
        far, before = dijkstra(graph.lengths, indices=source, return_predecessors=True)
        order = np.argsort(-far, kind="stable")
        order, below = order[np.isfinite(far[order])], np.empty(n, dtype=np.int64)
        ends_below(order, before, below)
        for one, other in ((0, 1), (1, 0)):
            through += np.where(before[ends[:, one]] == ends[:, other], below[ends[:, one]], 0)
        pairs += len(order) - 1
    return through / max(1, pairs)
