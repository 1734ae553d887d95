"""Ordinal (non-metric) multidimensional scaling: distances on the map in the order of the dissimilarities.

    stress² = min over d̂ of Σ (d − d̂)² / Σ d²,   d̂ in the order of the dissimilarities, d_ij = |y_i − y_j|
    start: classical scaling of the ranks;   K = −½ H D̂² H, and at stress 0 the map is kernel PCA on it

Kruskal, Psychometrika 29 (1964), 1–27 and 115–129.
"""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import Estimator, Fit, Fitted, Metrics, attribute, method, parameter
from gramfold.errors import InputError, RankWarning
from gramfold.extension.project import positive_directions, scaled
from gramfold.kernels.gram import centered_gram
from gramfold.methods.ordinal_mds.dissimilarities import Dissimilarities
from gramfold.methods.ordinal_mds.majorization import descend, squared_disparities, upright, warn_unless_converged
from gramfold.methods.ordinal_mds.monotone import RankOrder, Ties
from gramfold.neighbors.metrics import MetricName
from gramfold.runtime.warning import warn
from gramfold.spectral.canonical import canonical_signs
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats

# Order, weights, distances, disparities and their work space, and the n × n matrices of steps and spectra, all of them
# float64 whatever the rows are: 45 to 92 bytes a pair were measured at n = 400 to 1600.
_BYTES_PER_PAIR = 100
_OTHERS = "(it cannot place the others), or use ClassicalMDS"


@method
class OrdinalMDS(Metrics, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Map whose distances have the order of the dissimilarities; their sizes do not count.

    It knows the order of the training rows and nothing else, so it has no `transform` for new ones.

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

    embedding_ = attribute(
        "ndarray of shape (n_samples, n_components)",
        "The map: centred, on its principal axes, the root mean square of its distances 1.",
    )
    stress_ = attribute(
        "float", "Kruskal's stress-1 of the map: 0 where its distances have the very order of the dissimilarities."
    )
    stress_path_ = attribute(
        "ndarray of shape (n_iter_ + 1,)", "The stress after each step, the start first; it never rises."
    )
    n_iter_ = attribute("int", "Steps taken.")
    kernel_ = attribute("Kernel", "The Gram matrix of the disparities; its squared distances are theirs.")
    spectrum_ = attribute("Spectrum", "Its leading eigenvalues and eigenvectors, and its negative part.")

    def _build(self, fit: Fit) -> Fitted:
        fit.forecast(lambda n, _: 0.5 * n * (n - 1) * _BYTES_PER_PAIR, others=_OTHERS)
        with fit.stages("dissimilarities"):
            known = self._dissimilarities(fit)
        copies, mass = known.copies, known.copies.multiplicity
        with fit.stages("start"):
            order = known.order(self.ties)
            del known  # from here on only their order is known
            start = self._start(order, mass)
        with fit.stages("steps"):
            descent = descend(start, order, mass, max_iter=self.max_iter, tol=self.tol, stages=fit.stages)
            warn_unless_converged(descent, self.max_iter, self.tol)
        places = canonical_signs(upright(descent.layout.places, mass))
        with fit.stages("spectrum"):
            squared = squared_disparities(places, order).astype(fit.X.dtype, copy=False)
            kernel = centered_gram(squared, scale=-0.5, mass=mass, rows=copies.vertex)
            spectrum = leading_spectrum(kernel, self.n_components)
        found = {
            "embedding_": places[copies.vertex].astype(fit.X.dtype, copy=False),
            "stress_": descent.layout.stress,
            "stress_path_": descent.stresses,
            "n_iter_": len(descent.stresses) - 1,
            "kernel_": kernel,
            "spectrum_": replace(spectrum, eigenvectors=spectrum.eigenvectors[copies.vertex]),
        }
        return Fitted(fit.name, fit.reads, fit.columns, fit.stages.seconds, found)

    def _dissimilarities(self, fit: Fit) -> Dissimilarities:
        def check(n: int) -> None:
            if n == 1:
                raise InputError(
                    "all rows are the same point, so there is no order to embed: pass at least n_components + 1 = "
                    f"{self.n_components + 1} different rows."
                )
            fit.check_components(n)

        if self.n_neighbors is not None:
            return Dissimilarities.along_graph(fit, self, self.n_neighbors, check)
        if fit.reads.precomputed:
            return Dissimilarities.given(fit.X, check)
        return Dissimilarities.of_rows(fit, self, check)

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
        embedding: Floats = self.fit(X).embedding_
        return embedding.copy()  # the user's own, as the model's is

    # --- scikit-learn's protocol

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
