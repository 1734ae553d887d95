"""Distortion discriminant analysis: layers of oriented PCA, each over windows of the output of the layer below.

    layer:  z = (window − mean) · N,  C n = q R n with R of that layer's own distortions, nᵀ R n = 1
    whole:  y(x) = (x − mean) · N₁ N₂ …: each layer is linear, and the last has one window over all remaining frames

So the features of a layer have mean 0, and its noise has mean square 1. Burges 2005, section 1.4; Burges, Platt, Jana,
IEEE Transactions on Speech and Audio Processing 11 (2003).
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
    refuse_weights,
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

_WITHOUT_WEIGHTS = "its layers see windows of rows and not the rows"


@method
class DistortionDiscriminantAnalysis(OrientedMap, Embedding):
    """Distortion discriminant analysis: layers of oriented PCA over windows of long rows.

    For signals such as audio: each row is a clip, with its frames along the columns. The features have the largest
    ratio of signal variance to noise, as in `OrientedPCA`, at low cost for long rows.

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

    unit_free = True  # variances are measured by those of the noise

    layers: Any = parameter(
        default=(),
        allowed=[list, tuple],
        words="""All layers but the last, each as (length, step, n_components). A layer has a window of `length` columns
        every `step` columns, and reduces each window to a frame of `n_components` features. Length and step of the next
        layer count these frames. The last layer is not listed: it reduces all remaining frames to the embedding. An
        empty list is oriented PCA of the rows.""",
    )

    layers_ = attribute(
        "list of Layer",
        "The fitted layers, the first one first, each with its `axes`, `signal_to_noise` and `windows`.",
        lambda model: list(model.found["layers_"]),
    )

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, *, X_distorted: Any = None, **refused: Any
    ) -> Self:
        """Fit the model to the rows of X and their distorted versions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The undistorted rows: the signal.
        y : ignored
            Not used, present for API consistency with scikit-learn.
        X_distorted : array-like of shape (n_samples, n_features) or (n_versions, n_samples, n_features)
            A distorted version of each row, or several versions. None: white noise, which gives principal components.
            A list holds one such array, or None, for each layer, the first one first and the last one included.
        **refused : dict
            `sample_weight` is refused, and so is every other name.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if refused:
            refuse_weights(type(self).__name__, _WITHOUT_WEIGHTS, refused)
        return self._fit(X, y, X_distorted=X_distorted)

    def _reads(self) -> Reads:
        return Reads(checked=False)

    def _build(self, fit: Fit) -> Model:
        distorted = fit.extras["X_distorted"]
        asked = not is_given(distorted)  # distorted rows are far from the clean ones, but are what the map is made for
        table = first_look(fit, beside=lambda n, _: self._beside(n, fit.X.shape[1], distorted))
        with fit.stages("directions"), algebra_threads(fit.n_jobs, fit.X):
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
        """Fit the layers, each to the output of the one below."""
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
        """Bytes for the windows of the signal, the same centred, those of one version of the noise, and matrices."""
        plan = check_layers(self.layers, columns, self.n_components)
        windows = max(each.count * each.size for each, _ in plan)
        several = isinstance(distorted, list | tuple)
        noisy = [one is not None for one in distorted] if several else [distorted is not None] * len(plan)
        # of each layer that has distorted rows
        squares = max((each.size**2 for (each, _), one in zip(plan, noisy, strict=False) if one), default=0)
        return 8.0 * (3 * n * windows + SQUARES * squares)
