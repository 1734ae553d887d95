"""Spectral clustering: the neighbour graph cut where it holds together least.

    Ncut = Σ_j cut(A_j, rest) / vol(A_j), relaxed:  L y = λ D y;  the first n_clusters eigenvectors are a map,
    and its rows are clustered by k-means, by pivoted QR, or (two clusters) by the threshold of least Ncut
    pieces of the graph are null vectors: known without solving, and clusters of their own
    number k: where the step λ_{k+1} / λ_k is largest, if it is larger than those of a shape without clusters

Shi, Malik, IEEE PAMI 22 (2000); Ng, Jordan, Weiss, NIPS 14 (2002); von Luxburg, Statistics and Computing 17 (2007);
Burges, section 2.5.2.
"""

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gramfold.embedding import EdgeWeights, NeighborGraph, method, parameter
from gramfold.embedding.all_or_nothing import all_or_nothing
from gramfold.embedding.reading import read_rows
from gramfold.embedding.units import in_unit, unit_of
from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning, InputError
from gramfold.extension.assign import (
    Assign,
    LargestEntry,
    Rule,
    by_appearance,
    kmeans_rule,
    numbered,
    qr_rule,
    threshold_rule,
)
from gramfold.extension.average import average, edge_weights
from gramfold.graph.affinity import affinity
from gramfold.graph.build import build_graph
from gramfold.graph.connect import OnDisconnected, components, merge_pieces, other_ways
from gramfold.graph.cut import kept_shares, normalized_cut
from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.runtime.memory import require_memory
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats, Integers, Neighbors, Spectrum

# A bottleneck shows as a step of the eigenvalues, λ_{k+1} / λ_k, that is large beside the later ones. Shapes without
# one have steps too: 4, 9/4, 16/9 … along an interval, 4 and then 9/4 around a ring, less in more dimensions. So a step
# counts if it is at least two-fold and its logarithm three times that of any later one (1.7 times for these shapes).
_LEAST_STEP, _DOMINANCE = 2.0, 3.0
_LATER = 2  # eigenvalues looked at beyond those of the most clusters
_LEFT_OUT = -1  # the label of rows that belong to no cluster


@method
class _Clusterer(ClusterMixin, BaseEstimator):
    """What comes first in a clusterer's constructor."""

    n_clusters: int | Literal["auto"] = parameter(
        default="auto",
        allowed=[Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        words="""Number of clusters; "auto" takes the number, up to `max_clusters`, after which the eigenvalues make
        their largest step, if it stands out, and else that of the graph's pieces.""",
        kw_only=False,
    )
    n_jobs: int | None = parameter(default=None, allowed=[Integral, None], words="Threads; None means every core.")
    verbose: int = parameter(default=0, allowed=["verbose"], words="Tell each stage on standard error.")


@method
class SpectralClustering(EdgeWeights, NeighborGraph, _Clusterer):
    """Clusters of a neighbour graph by its normalised cut.

    Attributes
    ----------
    labels_ : ndarray of int
        The cluster of each row, numbered as they first occur; −1 for rows left out (on_disconnected="largest").
    n_clusters_ : int
        How many there are.
    eigenvalues_ : ndarray
        The smallest eigenvalues of the normalised Laplacian that were needed, ascending: a 0 for each piece of the
        graph, and under "auto" two more than `max_clusters`.
    gap_ : float or None
        (λ_{k+1} − λ_k) / λ_{k+1} at the number k of clusters: near 1 where they are far apart. None where the next
        eigenvalue was not needed, and where there is one cluster, which is apart from nobody.
    cut_ : float
        Normalised cut of the clusters: the sum of the shares of their edges that leave them.
    embedding_ : ndarray of shape (n_samples, n_clusters) or None
        The map whose rows were clustered: an axis for each piece of the graph, then eigenvectors. None where pieces are
        the clusters and nothing had to be solved.
    spectrum_ : Spectrum or None
        The eigenvectors beyond the pieces' own, with residuals; None likewise.
    graph_ : Graph
        The symmetric graph, in one or more pieces. Its vertices are distinct rows: `graph_.rows` has the data row of
        each.
    unit_ : float
        What `graph_`, `width_` and the like are measured in: 1, or the power of two that brings rows of a very small or
        large size to one whose squares are numbers.
    timings_ : dict
        Seconds of each stage.
    n_features_in_ : int
        Columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import SpectralClustering
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = SpectralClustering(n_clusters=2, n_neighbors=5).fit(np.vstack([ring, 3 * ring]))
    >>> np.bincount(model.labels_)
    array([100, 100])
    >>> model.predict([[1.1, 0.0], [0.0, 2.8]])
    array([0, 1])
    """

    max_clusters: int = parameter(
        default=10, allowed=[Interval(Integral, 1, None, closed="left")], words='The most that "auto" finds.'
    )
    assign: Assign = parameter(
        default="kmeans",
        allowed=[StrOptions({"kmeans", "qr", "threshold"})],
        words="""How the rows of the map become clusters: k-means; pivoted QR, which draws nothing at random; or, for
        two clusters, the threshold on the second eigenvector that has the least normalised cut.""",
    )
    on_disconnected: OnDisconnected = parameter(
        default="bridge",
        allowed=[StrOptions({"bridge", "largest", "separate", "error"})],
        words="""What to do when the graph falls into more pieces than clusters (fewer are no matter: pieces are
        clusters, and are divided further): give the smallest to their nearest others, keep the largest and label the
        rest −1, let each be a cluster, or refuse.""",
    )
    random_state: Any = parameter(
        default=0,
        allowed=["random_state"],
        words="Starts k-means; chooses the sample on which approximate neighbours are judged.",
    )

    _invariant: ClassVar[bool] = True  # under rotation, shift and reordering of the rows

    def _memory(self, n: int, itemsize: int) -> float:
        # twice the eigenvectors for Lanczos, and the map
        return super()._memory(n, itemsize) + 24.0 * n * min(n, self._most() + 1)

    def _most(self) -> int:
        return self.max_clusters if self.n_clusters == "auto" else int(self.n_clusters)

    # --- fit

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``"precomputed"``, the square matrix of their distances, or a sparse neighbour graph.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        X = read_rows(self, X, reset=True, accept_sparse=self._accepts_sparse)
        self.unit_ = 1.0 if self._degree_of_distances is None else unit_of(X)
        X = in_unit(X, self.unit_)
        self._check_assign()
        stages = Stages(self.verbose, type(self).__name__)
        itemsize = X.dtype.itemsize
        advice = "and label the others with predict()"
        require_memory(type(self).__name__, lambda rows: self._memory(rows, itemsize), X.shape[0], advice)
        with stages("neighbours"):
            collapse = self._build_index(X, self.n_jobs)
            self._check_clusters(len(collapse))
            self._find_neighbors(stages)
        with stages("graph"):
            self.graph_ = build_graph(self.neighbors_, self._reach(), collapse.multiplicity, collapse.first)
            self.width_ = self._width_of([self.graph_], self._index.size, self._unit_of_distances)
            self._piece = self._pieces()
        count = int(self._piece.max()) + 1
        if count >= min(self._most(), len(self.graph_)):
            self._take_pieces(count)
        else:
            self._divide(count, stages)
        self.labels_ = self._labels[collapse.vertex]
        self.n_clusters_ = int(self._labels.max()) + 1
        self.embedding_ = self.spectrum_ = None
        if self._spectrum is not None:
            self.embedding_ = self._places[collapse.vertex].astype(X.dtype, copy=False)
            self.spectrum_ = replace(self._spectrum, eigenvectors=self._spectrum.eigenvectors[collapse.vertex])
        self.timings_ = stages.seconds
        return self

    def _check_assign(self) -> None:
        if self.assign == "threshold" and self.n_clusters != 2:
            raise InputError(
                f"assign='threshold' cuts the graph in two and n_clusters={self.n_clusters!r}: use n_clusters=2, or "
                "assign='kmeans' or 'qr'."
            )

    def _check_clusters(self, n: int) -> None:
        if self.n_clusters != "auto" and self.n_clusters > n:
            raise InputError(
                f"n_clusters={self.n_clusters} and there are {n} distinct rows, which cannot be in more clusters than "
                f"that: use n_clusters <= {n}."
            )

    def _pieces(self) -> Integers:
        """The piece of each vertex, brought to no more than there may be clusters; −1 for those left out."""
        piece, most = components(self.graph_), self._most()
        sizes = np.bincount(piece, weights=self.graph_.multiplicity).astype(np.intp)
        if len(sizes) <= most:
            return piece
        found = (
            f"the neighbour graph falls into {len(sizes)} pieces, more than the {most} clusters "
            f"{'that max_clusters allows' if self.n_clusters == 'auto' else 'asked for'}"
        )
        advice = "use more neighbours, or more clusters"
        if self.on_disconnected == "error":
            raise DisconnectedGraphError(f"{found}: {advice}, or choose {other_ways(piece, self._index)}.")
        if self.on_disconnected == "bridge":
            done = f"the {len(sizes) - most} smallest were given to their nearest others"
            piece = merge_pieces(piece, self._index, most)
        elif self.on_disconnected == "largest":
            done = f"{int(sizes[most:].sum()):,} rows of the smallest are in no cluster (label −1)"
            piece = np.where(piece < most, piece, _LEFT_OUT)
        else:
            done = f"each piece is a cluster, {len(sizes)} in all"
        warn(f"{found}; {done}: {advice}.", DisconnectedGraphWarning)
        return piece

    def _take_pieces(self, count: int) -> None:
        """Pieces are the clusters: their eigenvectors are known, and no edge is cut."""
        self.eigenvalues_, self.cut_ = np.zeros(count), 0.0
        self.gap_: float | None = None
        self._spectrum: Spectrum | None = None
        number = np.empty(count, dtype=np.intp)
        number[by_appearance(self._piece[self._piece != _LEFT_OUT])] = np.arange(count)
        self._labels = np.where(self._piece == _LEFT_OUT, _LEFT_OUT, number[self._piece])

    def _divide(self, count: int, stages: Stages) -> None:
        """More clusters than pieces: eigenvectors divide them further."""
        weights = affinity(self.graph_, self.width_)
        mass = degrees(weights)
        mass = np.where(mass > 0, mass, self.graph_.multiplicity)  # a vertex alone has no edge to count
        null = _indicators(self._piece, count, mass)
        kernel = PenaltyKernel(penalty=laplacian(weights), mass=mass, null=null, rows=np.arange(len(mass)))
        with stages("spectrum"):
            wanted = self._most() - count + (_LATER if self.n_clusters == "auto" else 0)
            spectrum = leading_spectrum(kernel, min(wanted, len(mass) - count))
            assert spectrum.penalties is not None
            self.eigenvalues_ = np.concatenate([np.zeros(count), spectrum.penalties])
            clusters = self._number(count) if self.n_clusters == "auto" else self._most()
            self.gap_ = self._gap(clusters)
        with stages("assignment"):
            self._places = np.hstack([null, spectrum.eigenvectors[:, : clusters - count]])
            self._assignment = numbered(self._rule(clusters, count, weights, mass), self._places)
            self._labels = self._assignment(self._places)
            self.cut_ = normalized_cut(weights, self._labels)
        self._spectrum = spectrum

    def _number(self, pieces: int) -> int:
        """Where the eigenvalues beyond those of the pieces step up most, if that stands out; else their number."""
        values = np.log(np.maximum(self.eigenvalues_[pieces:], np.finfo(np.float64).tiny))
        steps = np.diff(values)  # behind pieces + 1, pieces + 2, … clusters
        later = np.maximum.accumulate(steps[::-1])[::-1][1:]
        counts = (steps[:-1] > np.log(_LEAST_STEP)) & (steps[:-1] > _DOMINANCE * later)
        return pieces + 1 + int(np.argmax(np.where(counts, steps[:-1], 0.0))) if counts.any() else pieces

    def _gap(self, clusters: int) -> float | None:
        if clusters in (1, len(self.eigenvalues_)):
            return None
        lower, upper = self.eigenvalues_[clusters - 1 : clusters + 1]
        return float((upper - lower) / upper) if upper > 0 else 0.0

    def _rule(self, clusters: int, pieces: int, weights: csr_array, mass: Floats) -> Rule:
        if clusters == pieces:
            return LargestEntry(np.eye(clusters))
        if self.assign == "threshold":
            return threshold_rule(self._places, weights)
        if self.assign == "qr":
            return qr_rule(self._places, mass)
        return kmeans_rule(self._places, self.graph_.multiplicity, clusters, check_random_state(self.random_state))

    # --- new points

    def predict(self, X: Any) -> Integers:
        """The clusters of new rows.

        A new row gets edges by the rule of the fitted graph, from them a place on the map, and there the cluster that
        the same rule gives.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New rows; with ``"precomputed"``, their distances to the training rows.

        Returns
        -------
        labels : ndarray of int of shape (n_new,)
            Their clusters; under on_disconnected="largest", −1 where a row belongs to a piece that was left out or
            is out of everybody's reach.
        """
        return self._predicted(self._edges_of(X))

    def score(self, X: Any, y: Any = None) -> float:
        """How much of the rows' ties stays within their clusters, between 0 and 1.

        The share of a row's edge weight that goes to training rows of the cluster that `predict` gives it, its mean
        over the rows. Edges follow the rule of the fitted graph, as for `predict`; training rows have those of the
        graph itself. A row that is in no cluster (label −1) keeps nothing, one without any edge everything.

        More clusters cut more edges, and one cluster scores 1: the score compares clusterings into equally many
        clusters. How many there are it cannot tell; `n_clusters="auto"` and `gap_` do.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to label and judge; with ``"precomputed"``, their distances to the training rows.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        share : float
            1 where no edge leaves its cluster.
        """
        met = self._edges_of(X)
        labels = self._predicted(met)
        nearest, fresh = met.nearest, self._unseen(met)
        known = np.setdiff1d(np.flatnonzero(met.counts > 0), fresh)
        kept = np.ones(len(met))
        if fresh.size:
            weights = self._weights_of(met.take(fresh))
            kept[fresh] = kept_shares(weights, labels[fresh], self._labels)
        if self._spectrum is not None:  # else the clusters are pieces, which no edge of the graph leaves
            weights = affinity(self.graph_, self.width_)
            known = known[np.diff(weights.indptr)[nearest[known]] > 0]
            kept[known] = kept_shares(weights[nearest[known]], labels[known], self._labels)
        return float(np.where(labels == _LEFT_OUT, 0.0, kept).mean())

    def _edges_of(self, X: Any) -> Neighbors:
        """Whom rows meet by the rule of the fitted graph."""
        check_is_fitted(self)
        X = in_unit(read_rows(self, X, reset=False, accept_sparse=self._accepts_sparse), self.unit_)
        return self._reach_out(X, self._meet_by_rule(X))

    def _unseen(self, met: Neighbors) -> Integers:
        """The rows that meet somebody and are no training rows, which are at distance 0 from themselves."""
        fresh = np.flatnonzero(met.counts > 0)
        return np.asarray(fresh[met.distances[met.indptr[fresh]] > 0])

    def _predicted(self, met: Neighbors) -> Integers:
        nearest = met.nearest
        labels: Integers = np.where(nearest >= 0, self._labels[nearest], _LEFT_OUT)
        if self._spectrum is None:  # whoever is in a piece is in its cluster
            return labels
        fresh = self._unseen(met)
        if fresh.size:
            met = met.take(fresh)
            met = met.keep(self._piece[met.indices] == self._piece[nearest[fresh]][met.rows])
            labels[fresh] = self._assignment(self._place(met))
        return labels

    def _place(self, met: Neighbors) -> Floats:
        return average(
            met,
            self.graph_,
            self._places,
            width=self.width_,
            pull=self.graph_.multiplicity,
            penalties=self.eigenvalues_[: self._places.shape[1]],
            normalized=True,
            new_width=self._width_of_new(met, self._reach_of(met)),
        )

    def _weights_of(self, met: Neighbors) -> csr_array:
        new_width = self._width_of_new(met, self._reach_of(met))
        return edge_weights(met, self.width_, self.graph_.multiplicity, new_width)[0]

    # --- scikit-learn's protocol

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = self._accepts_sparse
        return tags


def _indicators(piece: Integers, count: int, mass: Floats) -> Floats:
    """A column for each piece, 0 outside it and orthonormal in the mass, (n, count)."""
    inside = np.equal.outer(piece, np.arange(count)).astype(np.float64)
    return np.asarray(inside / np.sqrt(mass @ inside))
