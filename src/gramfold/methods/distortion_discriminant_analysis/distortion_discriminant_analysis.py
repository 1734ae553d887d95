"""Distortion discriminant analysis: layers of oriented PCA, each over windows of what the one below has made.

    layer:  z = (window − mean) · N,  C n = q R n with R of that layer's own distortions, nᵀ R n = 1
    whole:  y(x) = (x − mean) · N₁ N₂ …, for each layer is linear and the last has one window: all that is left

So the features of a layer have mean 0, and its noise has mean square 1. Burges, section 1.4; Burges, Platt, Jana, IEEE
Transactions on Speech and Audio Processing 11 (2003).
"""

from typing import Any, Self

import numpy as np

from gramfold.embedding import (
    Embedding,
    Fit,
    Model,
    OrientedMap,
    Reads,
    Table,
    attribute,
    first_look,
    linear_model,
    method,
    parameter,
)
from gramfold.kernels.linear import mean_and_scatter, mean_of, project
from gramfold.kernels.oriented_axes import SQUARES, oriented_axes, padded, warn_of_invented
from gramfold.kernels.principal_axes import principal_axes
from gramfold.kernels.projection import algebra_threads, projected_rows
from gramfold.methods.distortion_discriminant_analysis.layers import (
    Layer,
    Windows,
    as_one_map,
    check_layers,
    in_unit,
    noise_of,
    versions_by_layer,
)
from gramfold.neighbors.distorted import is_given
from gramfold.types import Floats


@method
class DistortionDiscriminantAnalysis(OrientedMap, Embedding):
    """Features of long rows (a clip each, its frames along the columns) that survive distortion.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import DistortionDiscriminantAnalysis
    >>> rng = np.random.default_rng(0)
    >>> clips = rng.standard_normal((200, 60)).cumsum(axis=1)
    >>> noisy = clips + rng.standard_normal(clips.shape)
    >>> model = DistortionDiscriminantAnalysis(4, layers=[(10, 10, 3)]).fit(clips, X_distorted=noisy)
    >>> [layer.axes.shape for layer in model.layers_]  # 10 columns to 3 numbers, six times; 18 numbers to 4
    [(10, 3), (18, 4)]
    """

    layers: Any = parameter(
        default=(),
        allowed=[list, tuple],
        words="""For each layer but the last (length, step, n_components): it looks at `length` columns at a time, every
        `step` columns, and makes `n_components` numbers of them, a frame. The next layer counts in such frames. The
        last layer is not listed: it makes the map of all frames that are left. () is oriented PCA of the rows.""",
    )

    layers_ = attribute(
        "list of Layer",
        "The fitted layers from the lowest on: `axes`, `signal_to_noise` and the `windows` they look at.",
        lambda model: list(model.found["layers_"]),
    )

    def fit(self, X: Any, y: Any = None, *, X_distorted: Any = None) -> Self:
        """Find the directions of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows as they should be: the signal.
        y : ignored
            Present for scikit-learn's sake.
        X_distorted : array-like of shape (n_samples, n_features) or (n_versions, n_samples, n_features)
            Each row again, distorted; or several such versions. None: white noise, which gives principal components.
            A list may hold one such array, or None, for each layer from the lowest on.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, X_distorted=X_distorted)

    def fit_transform(self, X: Any, y: Any = None, *, X_distorted: Any = None) -> Floats:
        """Find the directions of the rows of X and return their map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            Present for scikit-learn's sake.
        X_distorted : array-like
            As for `fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        return self.fit(X, X_distorted=X_distorted).embedding_.copy()

    def _reads(self) -> Reads:
        return Reads(checked=False)

    def _build(self, fit: Fit) -> Model:
        distorted = fit.extras["X_distorted"]
        asked = not is_given(distorted)  # rows that are distorted are far from the clean ones, and what the map is for
        table = first_look(fit, beside=lambda n, _: self._beside(n, fit.X.shape[1], distorted))
        with fit.stages("directions"), algebra_threads(fit.n_jobs):
            layers = self._stack(table, distorted, fit)
            projection = as_one_map(layers, mean_of(table.rows, fit.n_jobs))
        made = projected_rows(table.rows, projection, self.n_components, fit.stages, fit.n_jobs)
        shown = in_unit(layers, table.unit)
        found = {
            "layers_": tuple(shown),
            "signal_to_noise_": padded(shown[-1].signal_to_noise, self.n_components),
        }
        return linear_model(fit, table, made, degree=int(asked), found=found, outside=asked, flown=asked)

    def _stack(self, table: Table, distorted: Any, fit: Fit) -> list[Layer]:
        """Fitted layers, each on what the one below has made."""
        rows = table.rows
        plan = check_layers(self.layers, rows.shape[1], self.n_components)
        noises = versions_by_layer(distorted, len(plan), rows.shape, table.unit)
        layers: list[Layer] = []
        features = rows[:, :, None]  # (n, frames, width)
        for (windows, count), versions in fit.stages.bar(zip(plan, noises, strict=True), len(plan), "layers"):
            signal = windows.of(features)
            noise = noise_of(rows, versions, windows, layers)
            layer = self._layer(signal, windows, count, noise, len(layers), fit.n_jobs)
            layers.append(layer)
            made = project(signal, mean_of(signal, fit.n_jobs), layer.axes, fit.n_jobs)
            features = made.reshape(len(rows), windows.count, -1)
        return layers

    def _layer(
        self, signal: Floats, windows: Windows, count: int, noise: Floats | None, number: int, n_jobs: int | None
    ) -> Layer:
        if noise is None:
            principal = principal_axes(signal, count, n_jobs=n_jobs)
            # windows that vary along fewer directions have frames that are 0 along the others
            axes = np.pad(principal.axes, ((0, 0), (0, count - principal.axes.shape[1])))
            return Layer(windows, axes, padded(principal.variances, count), None, principal.proved)
        covariance = mean_and_scatter(signal, n_jobs)[1] / len(signal)
        found = oriented_axes(covariance, noise, count, self.reg)
        warn_of_invented(found, f" of layer {number}")
        return Layer(windows, found.axes, found.quotients, found.root)

    def _beside(self, n: int, columns: int, distorted: Any) -> float:
        """Bytes for windows of the signal as they are and centred, and of one version of the noise; and matrices."""
        plan = check_layers(self.layers, columns, self.n_components)
        windows = max(each.count * each.size for each, _ in plan)
        several = isinstance(distorted, list | tuple)
        noisy = [one is not None for one in distorted] if several else [distorted is not None] * len(plan)
        # of each layer that has noise to turn away from
        squares = max((each.size**2 for (each, _), one in zip(plan, noisy, strict=False) if one), default=0)
        return 8.0 * (3 * n * windows + SQUARES * squares)
