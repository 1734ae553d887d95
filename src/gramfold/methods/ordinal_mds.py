"""Ordinal (non-metric) multidimensional scaling: distances on the map in the order of the dissimilarities.

    stress² = min over d̂ of Σ (d − d̂)² / Σ d²,   d̂ in the order of the dissimilarities, d_ij = |y_i − y_j|
    start: classical scaling of the ranks;   K = −½ H D̂² H, and at stress 0 the map is kernel PCA on it

Kruskal, Psychometrika 29 (1964), 1–27 and 115–129.
"""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import method, parameter
from gramfold.embedding.all_or_nothing import all_or_nothing
from gramfold.embedding.reading import read_rows
from gramfold.errors import DisconnectedGraphError, InputError, NotConvergedWarning, RankWarning
from gramfold.extension.project import positive_directions, scaled
from gramfold.graph.build import build_graph
from gramfold.graph.connect import components
from gramfold.graph.geodesic import all_pairs
from gramfold.kernels.gram import centered_gram
from gramfold.kernels.majorization import Descent, descend, squared_disparities, upright
from gramfold.kernels.monotone import RankOrder, Ties, rank_order
from gramfold.neighbors.duplicates import Collapse, collapse_distances, collapse_rows
from gramfold.neighbors.metrics import MetricName, make_metric
from gramfold.neighbors.pairs import check_dissimilarities, pairs_of_matrix, pairs_of_rows
from gramfold.neighbors.precomputed import check_distances
from gramfold.neighbors.search import build_index
from gramfold.runtime.memory import require_memory
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.spectral.canonical import canonical_signs
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats

# Order, weights, distances, disparities and their work space, and the n × n matrices of steps and spectra, all of them
# float64 whatever the rows are: 45 to 92 bytes a pair were measured at n = 400 to 1600.
_BYTES_PER_PAIR = 100
_SMALL = {np.float64: 1e-60, np.float32: 1e-9}  # below, or above its inverse, powers of distances leave the dtype


@method
class OrdinalMDS(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Map whose distances have the order of the dissimilarities; their sizes do not count.

    It knows the order of the training rows and nothing else, so it has no `transform` for new ones.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map: centred, on its principal axes, the root mean square of its distances 1.
    stress_ : float
        Kruskal's stress-1 of the map: 0 where its distances have the very order of the dissimilarities.
    stress_path_ : ndarray of shape (n_iter_ + 1,)
        The stress after each step, the start first; it never rises.
    n_iter_ : int
        Steps taken.
    kernel_ : Kernel
        The Gram matrix of the disparities; its squared distances are theirs.
    spectrum_ : Spectrum
        Its leading eigenvalues and eigenvectors, and its negative part.
    timings_ : dict
        Seconds of each stage.
    n_features_in_ : int
        Columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import OrdinalMDS
    >>> towns = np.array([[0, 1, 4, 9], [1, 0, 2, 6], [4, 2, 0, 3], [9, 6, 3, 0]])  # nearest pair 1, farthest 9
    >>> model = OrdinalMDS(n_components=1, metric="precomputed").fit(towns)
    >>> bool(model.stress_ < 1e-3)
    True
    >>> bool(np.allclose(model.embedding_, OrdinalMDS(n_components=1, metric="precomputed").fit_transform(towns**3)))
    True
    """

    n_components: int = parameter(
        default=2, allowed=[Interval(Integral, 1, None, closed="left")], words="Dimensions of the map.", kw_only=False
    )
    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""A metric of scipy.spatial.distance, a function of two rows, or "precomputed": a square matrix of
        dissimilarities, of which only the order counts.""",
    )
    metric_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="More arguments of the metric."
    )
    n_neighbors: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 1, None, closed="left"), None],
        words="""If given, dissimilarities are geodesics, as Isomap's: shortest walks along the graph in which each row
        has this many neighbours by the metric.""",
    )
    ties: Ties = parameter(
        default="primary",
        allowed=[StrOptions({"primary", "secondary"})],
        words="""Whether pairs of equal dissimilarity may lie at any distances that fit the other pairs ("primary"), or
        should lie at equal ones ("secondary").""",
    )
    max_iter: int = parameter(
        default=500, allowed=[Interval(Integral, 1, None, closed="left")], words="Steps at most; a warning says so."
    )
    tol: float = parameter(
        default=1e-4,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words="The map is final when a step would move it by less than this share of its size.",
    )
    n_jobs: int | None = parameter(default=None, allowed=[Integral, None], words="Threads; None means every core.")
    verbose: int = parameter(default=0, allowed=["verbose"], words="Tell each stage on standard error.")

    _invariant: ClassVar[bool] = True  # under rotation, shift and reordering of the rows

    def _memory(self, n: int, itemsize: int) -> float:
        return 0.5 * n * (n - 1) * _BYTES_PER_PAIR

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``"precomputed"``, the square matrix of their dissimilarities.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        X = read_rows(self, X, reset=True, accept_sparse=False)
        stages = Stages(self.verbose, type(self).__name__)
        advice = "(it cannot place the others), or use ClassicalMDS"
        require_memory(type(self).__name__, lambda rows: self._memory(rows, X.dtype.itemsize), len(X), advice)
        with stages("dissimilarities"):
            dissimilarities, collapse, likeness = self._dissimilarities(X, stages)
        mass = collapse.multiplicity
        with stages("start"):
            order = rank_order(
                dissimilarities,
                pairs_of_matrix(np.multiply.outer(mass, mass)),
                self.ties,
                copies=float(mass @ (mass - 1.0)) / 2.0,
                likeness=likeness,
            )
            del dissimilarities  # from here on only their order is known
            start = self._start(order, mass)
        with stages("steps"):
            found = descend(start, order, mass, max_iter=self.max_iter, tol=self.tol, stages=stages)
            self._warn_unless_converged(found)
        places = canonical_signs(upright(found.layout.places, mass))
        with stages("spectrum"):
            squared = squared_disparities(places, order).astype(X.dtype, copy=False)
            kernel = centered_gram(squared, scale=-0.5, mass=mass, rows=collapse.vertex)
            spectrum = leading_spectrum(kernel, self.n_components)
        self.embedding_ = places[collapse.vertex].astype(X.dtype, copy=False)
        self.stress_, self.stress_path_ = found.layout.stress, found.stresses
        self.n_iter_ = len(found.stresses) - 1
        self.kernel_ = kernel
        self.spectrum_ = replace(spectrum, eigenvectors=spectrum.eigenvectors[collapse.vertex])
        self.timings_ = stages.seconds
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Embed the rows of X and return their map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        return self.fit(X).embedding_.copy()  # the user's own, as the model's is

    # --- what is known of the rows: a dissimilarity for each pair of distinct ones

    def _dissimilarities(self, X: Floats, stages: Stages) -> tuple[Floats, Collapse, float]:
        """They, which rows are the same, and the dissimilarity of those that are."""
        if self.n_neighbors is not None:
            return *self._geodesics(_of_ordinary_size(X, self.metric), self.n_neighbors, stages), 0.0
        if self._precomputed:
            check_dissimilarities(X)
            nearest = X.min()  # as a point is to itself and to its copies: it need not be 0
            collapse = collapse_distances(np.where(nearest < X, X, 0))
            self._check_components(len(collapse))
            whole = len(collapse) == len(X)
            return pairs_of_matrix(X if whole else X[np.ix_(collapse.first, collapse.first)]), collapse, float(nearest)
        X = _of_ordinary_size(X, self.metric)
        collapse = collapse_rows(X)
        self._check_components(len(collapse))
        metric = make_metric(self.metric, self.metric_params, X)
        return pairs_of_rows(X[collapse.first], metric, self.n_jobs, stages), collapse, 0.0

    def _geodesics(self, X: Floats, n_neighbors: int, stages: Stages) -> tuple[Floats, Collapse]:
        if self._precomputed:
            check_distances(X)
        index, collapse = build_index(
            X,
            metric=self.metric,
            metric_params=self.metric_params,
            neighbors="exact",
            n_neighbors=n_neighbors,
            radius=None,
            n_jobs=self.n_jobs,
            random_state=check_random_state(0),  # exact neighbours draw nothing
        )
        self._check_components(len(collapse))
        neighbors = index.own(n_neighbors, None, stages)
        graph = build_graph(neighbors, neighbors.farthest, collapse.multiplicity)
        pieces = np.bincount(components(graph))
        if len(pieces) > 1:
            raise DisconnectedGraphError(
                f"with n_neighbors={n_neighbors} the neighbour graph falls into {len(pieces)} pieces, the largest of "
                f"{pieces[0]:,} of {len(graph):,} distinct rows, and no walk leads from one to another: use more "
                "neighbours, or embed the pieces apart."
            )
        return pairs_of_matrix(all_pairs(graph, np.float64, self.n_jobs, stages)), collapse

    def _check_components(self, n: int) -> None:
        if n == 1:
            raise InputError(
                "all rows are the same point, so there is no order to embed: pass at least n_components + 1 = "
                f"{self.n_components + 1} different rows."
            )
        if self.n_components >= n:
            raise InputError(
                f"n_components={self.n_components} and there are n_samples={n} distinct rows, whose map has at most "
                f"{n - 1} dimensions: use n_components <= {n - 1}."
            )

    # --- the map

    def _start(self, order: RankOrder, mass: Floats) -> Floats:
        """Classical scaling of the ranks."""
        squared = squareform(np.square(order.ranks()), checks=False)  # (n, n)
        spectrum = leading_spectrum(centered_gram(squared, scale=-0.5, mass=mass), self.n_components)
        positive = int(positive_directions(spectrum).sum())
        if positive < self.n_components:
            warn(
                f"the ranks span {positive} dimensions and n_components={self.n_components} were asked for: the last "
                f"{self.n_components - positive} columns of the map are zero.",
                RankWarning,
            )
        return scaled(spectrum, 0.5)

    def _warn_unless_converged(self, found: Descent) -> None:
        if not found.converged:
            warn(
                f"after max_iter={self.max_iter} steps the next would still move the map by {found.layout.move:.1e} of "
                f"its size (tol={self.tol:g}), so its stress of {found.layout.stress:.4g} may not be the least: raise "
                "max_iter, or tol.",
                NotConvergedWarning,
            )

    # --- scikit-learn's protocol

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self._precomputed
        return tags


def _of_ordinary_size(X: Floats, metric: MetricName) -> Floats:
    """Rows or distances times a power of two where their squares would overflow or vanish.

    The order of the distances stays: every named metric grows with the rows, or does not see their size.
    """
    largest = float(max(X.max(), -X.min()))
    if callable(metric) or largest == 0 or _SMALL[X.dtype.type] <= largest <= 1.0 / _SMALL[X.dtype.type]:
        return X
    return np.ldexp(X, -int(np.frexp(largest)[1]))
