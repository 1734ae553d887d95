"""Ordinal (non-metric) multidimensional scaling: distances on the map in the order of the dissimilarities.

    stress² = min over d̂ of Σ w (d − d̂)² / Σ w d²,   d̂ in the order of the dissimilarities, d_ij = |y_i − y_j|
    start: classical scaling of the ranks;   K = −½ H D̂² H, and at stress 0 the map is kernel PCA on it

All pairs have weight 1, or their own, w_ij (`pair_weights`).

Kruskal, Psychometrika 29 (1964), 1–27 and 115–129; Burges, section 2.2.2.
"""

from dataclasses import replace
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import (
    Alignable,
    Estimator,
    Fit,
    FittedMap,
    Kernelled,
    Metrics,
    Reads,
    attribute,
    leading_eigenvalues_of,
    method,
    negative_part_of,
    parameter,
    refuse_weights,
    shares_of,
)
from gramfold.errors import InputError, RankWarning
from gramfold.extension.project import positive_directions, scaled
from gramfold.kernels.gram import centered_gram
from gramfold.methods.ordinal_mds.dissimilarities import Dissimilarities
from gramfold.methods.ordinal_mds.guttman import EqualWeights, GivenWeights
from gramfold.methods.ordinal_mds.majorization import descend, squared_disparities, upright, warn_unless_converged
from gramfold.methods.ordinal_mds.monotone import RankOrder, Ties
from gramfold.methods.ordinal_mds.pair_weights import PairWeights, read_pair_weights
from gramfold.methods.ordinal_mds.start import rank_kernel
from gramfold.neighbors.metrics import MetricName
from gramfold.runtime.counting import last_columns_are
from gramfold.runtime.threads import one_blas_thread
from gramfold.runtime.warning import warn
from gramfold.spectral.canonical import canonical_signs
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats, NegativePart

# Order, weights, distances, disparities and their work space, and the n × n matrices of iterations and spectra, all of
# them float64 whatever the rows are: 41 to 92 bytes a pair were measured at n = 400 to 1600, and with pair weights,
# their factored Laplacian and shortest paths 41 to 115.
_BYTES_PER_PAIR = 100
_BYTES_PER_WEIGHTED_PAIR = 125
_OTHERS = "(it has no transform for the others), or use ClassicalMDS"
_WITHOUT_WEIGHTS = "its stress is a sum over pairs of rows (pair_weights are the weights of these)"


@method
class OrdinalMDS(Metrics, Alignable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Non-metric MDS: an embedding whose distances have the order of the dissimilarities; their sizes do not count.

    Only the order of the pairs of training rows is used, so there is no out-of-sample `transform`.

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
        default=2,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Dimensions of the embedding.",
        kw_only=False,
    )
    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""Dissimilarity of two rows: the name of a metric of scipy.spatial.distance, "gower", a function of two
        rows or of two blocks of rows (`gramfold.blockwise`), or "precomputed". If "precomputed", X is
        a square matrix of dissimilarities, of which only the order counts.""",
    )
    n_neighbors: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 1, None, closed="left"), None],
        words="""If given, dissimilarities are geodesic distances, as in Isomap: shortest paths in the graph that joins
        each row to this many nearest neighbours by the metric.""",
    )
    ties: Ties = parameter(
        default="primary",
        allowed=[StrOptions({"primary", "secondary"})],
        words="""Distances of pairs with equal dissimilarities. "primary": they may differ. "secondary": they should be
        equal.""",
    )
    max_iter: int = parameter(
        default=500,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Maximum number of iterations; reaching it gives a NotConvergedWarning.",
    )
    tol: float = parameter(
        default=1e-4,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words="""Convergence tolerance: iterations stop when one would move the embedding by less than this share of its
        size.""",
    )

    embedding_ = attribute(
        "ndarray of shape (n_samples, n_components)",
        """Coordinates of the training rows: centred, along their principal axes, with a root mean square distance of 1
        (unless aligned with `gramfold.align`).""",
        attrgetter("aligned"),
    )
    stress_ = attribute(
        "float",
        """Kruskal's stress-1, with the pair weights if given: 0 where the distances have exactly the order of the
        dissimilarities.""",
    )
    stress_path_ = attribute(
        "ndarray of shape (n_iter_ + 1,)", "The stress after each iteration, the start first; it never rises."
    )
    n_iter_ = attribute("int", "Number of iterations.")
    kernel_ = attribute(
        "Kernel",
        """Gram matrix whose feature-space distances are the disparities. For a pair of weight 0, which has no
        disparity, the distance in the embedding is used.""",
    )
    spectrum_ = attribute("Spectrum", "Leading eigenvalues and eigenvectors of `kernel_`.")

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, *, pair_weights: Any = None, **refused: Any
    ) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``metric="precomputed"``, the square matrix of dissimilarities, which may be NaN for pairs of
            weight 0.
        y : ignored
            Not used, present for API consistency with scikit-learn.
        pair_weights : array-like or sparse matrix of shape (n_samples, n_samples), default=None
            Weight of each pair of rows in the stress, symmetric and at least 0. 0 (in a sparse matrix also what is not
            stored): the pair is not known or does not count. The diagonal is not used. None: all pairs have weight 1.
        **refused : dict
            `sample_weight` is refused, and so is every other name.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if refused:
            refuse_weights(type(self).__name__, _WITHOUT_WEIGHTS, refused)
        return self._fit(X, y, pair_weights=pair_weights)

    def fit_transform(self, X: Any, y: Any = None, *, pair_weights: Any = None, **refused: Any) -> Floats:
        """Embed the rows of X and return the embedding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            Not used, present for API consistency with scikit-learn.
        pair_weights : array-like or sparse matrix of shape (n_samples, n_samples), default=None
            As for `fit`.
        **refused : dict
            As for `fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        embedding: Floats = self.fit(X, pair_weights=pair_weights, **refused).embedding_
        return embedding.copy()  # the user's own, as the model's is

    def leading_eigenvalues(self, count: int) -> Floats:
        """Compute more eigenvalues of the kernel of the disparities than the embedding has dimensions.

        Parameters
        ----------
        count : int
            Number of eigenvalues.

        Returns
        -------
        eigenvalues : ndarray of shape (count,)
            The largest ones, descending.
        """
        with one_blas_thread():
            return leading_eigenvalues_of(self._kernelled(), count)

    def negative_part(self, *, before_repair: bool = False) -> NegativePart:
        """Compute how much of the spectrum of that kernel is negative: how far the disparities are from Euclidean.

        Exactly up to 2,000 rows; above by stochastic Lanczos quadrature, with a confidence interval.

        Parameters
        ----------
        before_repair : bool, default=False
            Not used: nothing is repaired. Present for API consistency.

        Returns
        -------
        negative : NegativePart
            `mass` Σ|λ<0| / Σ|λ|, its 95% `interval`, `most_negative` (above 2,000 rows a Ritz value, at most 0 and at
            least the smallest eigenvalue), `total` and `positive_total`.
        """
        with one_blas_thread():
            return negative_part_of(self._kernelled(), before_repair)

    def shares(self) -> Floats:
        """Compute the share of each eigenvalue of `spectrum_` in the sum of the positive ones.

        Returns
        -------
        shares : ndarray of shape (n_components,)
            They add up to at most 1.
        """
        with one_blas_thread():
            return shares_of(self._kernelled())

    def _kernelled(self) -> Kernelled:
        model: FittedMap = self._model()
        kernel, spectrum = model.found["kernel_"], model.found["spectrum_"]
        first = np.unique(kernel.rows, return_index=True)[1]  # a row of each vertex
        return Kernelled(model.name, kernel, replace(spectrum, eigenvectors=spectrum.eigenvectors[first]))

    def _build(self, fit: Fit) -> FittedMap:
        size = _BYTES_PER_PAIR if fit.extras["pair_weights"] is None else _BYTES_PER_WEIGHTED_PAIR
        fit.forecast(lambda n, _: 0.5 * n * (n - 1) * size, others=_OTHERS)
        with fit.stages("dissimilarities"):
            given = read_pair_weights(fit.extras["pair_weights"], fit.X.shape[0])
            known = self._dissimilarities(fit, given)
        copies, mass = known.copies, known.copies.multiplicity
        with fit.stages("start"):
            weights = PairWeights.equal(copies) if given is None else PairWeights.summed(given, copies)
            guttman = EqualWeights(mass) if given is None else GivenWeights.of(weights.pairs, mass)
            order = known.order(weights, self.ties)
            del known, given, weights  # from here on only the order counts
            start = self._start(order, mass, fit)
        with fit.stages("iterations"), one_blas_thread():
            descent = descend(start, order, guttman, max_iter=self.max_iter, tol=self.tol, stages=fit.stages)
            warn_unless_converged(descent, self.max_iter, self.tol)
        places = canonical_signs(upright(descent.layout.places, mass))
        with fit.stages("spectrum"):
            squared = squared_disparities(places, order).astype(fit.X.dtype, copy=False)
            kernel = centered_gram(squared, scale=-0.5, mass=mass, rows=copies.vertex)
            spectrum = leading_spectrum(kernel, self.n_components)
        found = {
            "stress_": descent.layout.stress,
            "stress_path_": descent.stresses,
            "n_iter_": len(descent.stresses) - 1,
            "kernel_": kernel,
            "spectrum_": replace(spectrum, eigenvectors=spectrum.eigenvectors[copies.vertex]),
        }
        embedding = places[copies.vertex].astype(fit.X.dtype, copy=False)
        return FittedMap(fit.name, fit.reads, fit.columns, fit.stages.seconds, found, embedding)

    def _dissimilarities(self, fit: Fit, weights: Floats | None) -> Dissimilarities:
        def check(n: int) -> None:
            if n == 1:
                raise InputError(
                    "all rows are identical, so there is no order to embed: pass at least n_components + 1 = "
                    f"{self.n_components + 1} distinct rows."
                )
            fit.check_components(n)

        if self.n_neighbors is not None:
            return Dissimilarities.along_graph(fit, self, self.n_neighbors, check)
        if fit.reads.precomputed:
            return Dissimilarities.given(fit.X, weights, check)
        return Dissimilarities.of_rows(fit, self, check)

    def _start(self, order: RankOrder, mass: Floats, fit: Fit) -> Floats:
        """Classical scaling of the ranks."""
        spectrum = leading_spectrum(rank_kernel(order, mass, fit.n_jobs, fit.stages), self.n_components)
        positive = int(positive_directions(spectrum).sum())
        if positive < self.n_components:
            warn(
                f"the ranks of the dissimilarities span {positive} dimensions, but n_components={self.n_components}, "
                f"so {last_columns_are(self.n_components - positive)} zero: use fewer components.",
                RankWarning,
            )
        return scaled(spectrum, 0.5)

    # --- scikit-learn's protocol

    def _reads(self) -> Reads:
        reads = super()._reads()
        # a pair of weight 0 may be missing, but no distance from which neighbours are chosen
        return replace(reads, gaps=reads.precomputed and self.n_neighbors is None)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
