"""A new point on a map of geodesics: it steps to its neighbours, walks the fitted graph, and is projected.

Its derivative is that of the steps: with i(j) the neighbour through which the shortest path to j leads,

    ∂d(x, j) = ∇|x − x_i(j)|,    ∂y = Σ_j w_j s(d_j) 2 d_j ∂d(x, j)

with w the centred Λ^-½ V and s the derivative of the kernel by d². It jumps where a path changes its first
step. A training row steps along its own edges: any path from it begins with one of them.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from gramfold.extension.placement import NewRows, Part
from gramfold.extension.project import centered_projection
from gramfold.extension.walk import walk_and_project
from gramfold.graph.conformal import conformal_steps, mean_lengths
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.slopes import has_slopes, summed_slopes
from gramfold.types import Floats, Graph, Integers, Neighbors


@dataclass(frozen=True)
class GeodesicPlacement:
    """d(x, j) = min over the neighbours i of x of |x − x_i| + D_ij, conformal lengths where the graph has them."""

    conformal: bool
    reads_grams: ClassVar[bool] = False

    def compacted(self, part: Part) -> Part:
        """The walks of everybody, and what they are projected with."""
        return replace(part, kernel=part.kernel.for_new_walks(), found={})

    def read_of(self, graph: Graph) -> Graph:
        """Conformal steps are divided by the mean lengths of the lists."""
        bare = graph.bare()
        return replace(bare, neighbors=graph.neighbors.without("indices")) if self.conformal else bare

    def place(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        met = conformal_steps(new.met, new.graph) if self.conformal else new.met
        return walk_and_project(met, part.kernel, part.spectrum, n_jobs)

    def slopes(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats | None:
        """See the module."""
        index = new.index
        if not isinstance(index, VectorIndex) or not has_slopes(index.metric):
            return None
        met = self._off_training_rows(new)
        steps = conformal_steps(met, new.graph).distances if self.conformal else met.distances
        weights = centered_projection(part.kernel, part.spectrum) * part.kernel.gain(part.spectrum.eigenvalues)
        pulls = np.empty((len(met.indices), weights.shape[1]))
        for row, (start, end) in enumerate(zip(met.indptr, met.indptr[1:], strict=False)):
            home = int(new.met.indices[new.met.indptr[row]]) if new.met.distances[new.met.indptr[row]] == 0 else -1
            pulls[start:end] = _step_weights(part, met.indices[start:end], steps[start:end], weights, home)
        if self.conformal:
            pulls = _conformal_weights(met, new.graph, pulls)
        rows_met = replace(met, indices=new.graph.vertices[met.indices], n_vertices=index.size)
        return summed_slopes(index.metric, new.rows, index.points, rows_met, pulls)

    def _off_training_rows(self, new: NewRows) -> Neighbors:
        """Whom rows meet; those that are training rows meet the other ends of their edges instead."""
        met = new.met
        known = np.flatnonzero(met.distances[met.indptr[:-1]] == 0)
        if not known.size:
            return met
        homes = met.nearest[known]
        edges = csr_array(new.graph.lengths[homes])
        lengths, rows = edges.data, np.repeat(np.arange(len(known)), np.diff(edges.indptr))
        if self.conformal:  # back to the lengths of the data
            means = mean_lengths(new.graph.neighbors)
            lengths = lengths * np.sqrt(means[homes[rows]] * means[edges.indices])
        others = np.isin(met.rows, known, invert=True)
        return Neighbors.from_pairs(
            np.concatenate([met.rows[others], known[rows]]),
            np.concatenate([met.indices[others], edges.indices]),
            np.concatenate([met.distances[others], lengths]),
            (len(met), met.n_vertices),
        )


def _step_weights(part: Part, met: Integers, steps: Floats, weights: Floats, home: int) -> Floats:
    """Σ_j w_j s(d_j) 2 d_j over the vertices j that are reached by each of the steps of one row, (k, q)."""
    kernel: Any = part.kernel
    walks = np.sqrt(np.asarray(kernel.everybody[met], dtype=np.float64)) + steps[:, None]  # (k, n)
    first = walks.argmin(axis=0)
    lengths = walks[first, np.arange(walks.shape[1])]
    if home >= 0:  # a row is at distance 0 from itself, and the square has no slope there
        own = home if kernel.landmarks is None else np.flatnonzero(kernel.landmarks == home)
        lengths[own] = 0.0
    outer = 2.0 * kernel.slopes(lengths[None] ** 2) * lengths  # (1, n)
    reached = csr_array((outer.ravel(), (first, np.arange(len(first)))), shape=(len(met), len(first)))
    return np.asarray(reached @ weights)


def _conformal_weights(met: Neighbors, graph: Graph, pulls: Floats) -> Floats:
    """Weights of ∇d_i from those of the steps d_i / √(M M_i), with M the mean distance of the row."""
    own, theirs = mean_lengths(met), mean_lengths(graph.neighbors)[met.indices]
    inside = pulls * (met.distances / np.sqrt(theirs))[:, None]
    sums = np.add.reduceat(inside, met.indptr[:-1], axis=0) * (-0.5 * own**-1.5 / met.counts)[:, None]
    return np.asarray(pulls / np.sqrt(own[met.rows] * theirs)[:, None] + sums[met.rows])
