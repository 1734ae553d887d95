"""Distortion discriminant analysis: layers of oriented PCA, each over windows of what the one below has made.

    layer:  z = (window − mean) · N,  C n = q R n with R of that layer's own distortions, nᵀ R n = 1
    whole:  y(x) = (x − mean) · N₁ N₂ …, for each layer is linear and the last has one window: all that is left

So the features of a layer have mean 0, and its noise has mean square 1. Burges, section 1.4; Burges, Platt, Jana, IEEE
Transactions on Speech and Audio Processing 11 (2003).
"""

from typing import Any

import numpy as np

from gramfold.embedding import method, parameter
from gramfold.errors import InputError
from gramfold.kernels.linear import mean_and_scatter, mean_of, project
from gramfold.projective.distorted import read_distorted
from gramfold.projective.layers import Layer, Windows, check_layers, in_unit
from gramfold.projective.linear_projection import Projection
from gramfold.projective.oriented_axes import SQUARES, oriented_axes, padded, warn_of_invented
from gramfold.projective.oriented_projection import OrientedProjection
from gramfold.projective.principal_axes import principal_axes
from gramfold.runtime.progress import Stages
from gramfold.types import Floats


@method
class DistortionDiscriminantAnalysis(OrientedProjection):
    """Features of long rows (a clip each, its frames along the columns) that survive distortion.

    Attributes
    ----------
    layers_ : list of Layer
        The fitted layers from the lowest on: `axes`, `signal_to_noise` and the `windows` they look at.

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

    def _projection(self, rows: Any, stages: Stages) -> Projection:
        plan = check_layers(self.layers, rows.shape[1], self.n_components)
        distorted = self._by_layer(len(plan), rows.shape)
        layers: list[Layer] = []
        features = rows[:, :, None]  # (n, frames, width)
        for (windows, count), versions in stages.bar(zip(plan, distorted, strict=True), len(plan), "layers"):
            signal = windows.of(features)
            layer = self._layer(signal, windows, count, _noise(rows, versions, windows, layers), len(layers))
            layers.append(layer)
            made = project(signal, mean_of(signal, self.n_jobs), layer.axes, self.n_jobs)
            features = made.reshape(len(rows), windows.count, -1)
        last = layers[-1]
        self.layers_ = in_unit(layers, self._unit)
        self.signal_to_noise_ = padded(self.layers_[-1].signal_to_noise, self.n_components)
        whole = len(plan) == 1 and last.root is None  # principal components of the rows as they are
        return Projection(
            mean=mean_of(rows, self.n_jobs),
            directions=_spread(layers, last.axes),
            solver=f"dense (LAPACK), {len(plan)} layer{'s' * (len(plan) > 1)}",
            root=None if whole else _spread(layers, np.eye(last.windows.size) if last.root is None else last.root),
            proved=whole and last.proved,
        )

    def _layer(self, signal: Floats, windows: Windows, count: int, noise: Floats | None, number: int) -> Layer:
        if noise is None:
            principal = principal_axes(signal, count, n_jobs=self.n_jobs)
            # windows that vary along fewer directions have frames that are 0 along the others
            axes = np.pad(principal.axes, ((0, 0), (0, count - principal.axes.shape[1])))
            return Layer(windows, axes, padded(principal.variances, count), None, principal.proved)
        covariance = mean_and_scatter(signal, self.n_jobs)[1] / len(signal)
        found = oriented_axes(covariance, noise, count, self.reg)
        warn_of_invented(found, f" of layer {number}")
        return Layer(windows, found.axes, found.quotients, found.root)

    def _by_layer(self, count: int, shape: tuple[int, int]) -> list[Floats | None]:
        """The distorted versions that each layer is to turn away from."""
        given = self._given_noise
        if not isinstance(given, list | tuple):
            return [None if given is None else self._unit.inward_new(read_distorted(given, shape))] * count
        if len(given) != count:
            raise InputError(
                f"X_distorted is a {type(given).__name__} of {len(given)} and there are {count} layers, the last over "
                "all frames included: pass one array (or None) for each layer, or a single array for all."
            )
        return [
            None if one is None else self._unit.inward_new(read_distorted(one, shape, f"X_distorted[{number}]"))
            for number, one in enumerate(given)
        ]

    def _memory(self, n: int, itemsize: int) -> float:
        columns = getattr(self, "_dense_columns", 0)
        plan = check_layers(self.layers, columns, self.n_components) if columns else []
        # windows of the signal as they are and centred, and those of one version of the noise; matrices of each layer
        # that has noise to turn away from
        windows = max((each.count * each.size for each, _ in plan), default=0)
        given = self._given_noise
        noisy = (
            [one is not None for one in given] if isinstance(given, list | tuple) else [given is not None] * len(plan)
        )
        squares = max((each.size**2 for (each, _), one in zip(plan, noisy, strict=False) if one), default=0)
        return super()._memory(n, itemsize) + 8.0 * (3 * n * windows + SQUARES * squares)


def _noise(rows: Floats, versions: Floats | None, windows: Windows, layers: list[Layer]) -> Floats | None:
    """R of what the layers so far make of the distortions; None for white noise."""
    if versions is None:
        return None
    total, count = np.zeros((windows.size, windows.size)), 0
    for version in versions:
        noise = (version.astype(np.float64) - rows)[:, :, None]
        for layer in layers:
            noise = layer.differences(noise)
        seen = windows.of(noise)
        with np.errstate(over="ignore", invalid="ignore"):  # said where it is used
            total += seen.T @ seen
        count += len(seen)
    return np.asarray(total / count)


def _spread(layers: list[Layer], above: Floats) -> Floats:
    """Axes of the last layer's window as axes of whole rows."""
    for layer in reversed(layers[:-1]):
        above = layer.windows.spread(layer.axes, above)
    return above
