"""Windows over the frames of a row, and the layers that reduce them.

A row of d numbers is d frames of width 1. A layer has windows of `length` frames, one every `step` frames, and reduces
each to one frame of width p of the next layer, with the same axes for every window of every row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gramfold.errors import InputError
from gramfold.kernels.projection import Projection
from gramfold.neighbors.distorted import read_distorted
from gramfold.neighbors.units import Unit
from gramfold.types import Floats


@dataclass(frozen=True)
class Windows:
    """The windows of a layer."""

    length: int
    step: int
    frames: int  # number of frames of the layer below
    width: int  # of each frame

    @property
    def count(self) -> int:
        """Number of windows of a row."""
        return (self.frames - self.length) // self.step + 1

    @property
    def size(self) -> int:
        """Number of values in a window."""
        return self.length * self.width

    def of(self, features: Floats) -> Floats:
        """The windows (n · count, size) of features (n, frames, width)."""
        every = sliding_window_view(features, self.length, axis=1)[:, :: self.step]  # (n, count, width, length)
        return np.ascontiguousarray(every.swapaxes(2, 3)).reshape(-1, self.size)

    def spread(self, axes: Floats, above: Floats) -> Floats:
        """Axes (count · p, r) of the layer above as axes (frames · width, r) of this one, whose windows have (size, p).

        Overlapping windows add up.
        """
        r = above.shape[1]
        spread = np.zeros((self.frames, self.width, r))
        for window, part in enumerate(above.reshape(self.count, -1, r)):
            start = window * self.step
            spread[start : start + self.length] += (axes @ part).reshape(self.length, self.width, r)
        return spread.reshape(-1, r)


@dataclass(frozen=True)
class Layer:
    """A fitted layer."""

    windows: Windows
    axes: Floats  # (size, p), in units of the noise
    signal_to_noise: Floats  # (p,)
    root: Floats | None  # (size, size) of the noise; None where it is white
    proved: bool = False  # whether every axis is proved to be more than rounding

    def differences(self, features: Floats) -> Floats:
        """Output (n, count, p) of the layer for differences between features (n, frames, width)."""
        made = self.windows.of(features) @ self.axes
        return made.reshape(len(features), self.windows.count, -1)


def in_unit(layers: list[Layer], unit: Unit) -> list[Layer]:
    """Fitted layers in the user's unit: features have the unit of the rows up to the first layer with noise."""
    shown, degree = [], 1
    for layer in layers:
        before, degree = degree, degree if layer.root is None else 0
        axes = unit.outward(layer.axes, degree - before)
        root = None if layer.root is None else unit.outward(layer.root, -before)
        shown.append(
            replace(layer, axes=axes, signal_to_noise=unit.outward(layer.signal_to_noise, 2 * degree), root=root)
        )
    return shown


def check_layers(given: Any, columns: int, n_components: int) -> list[tuple[Windows, int]]:
    """The windows and the number of components of each layer; the last one is over all remaining frames."""
    plan, frames, width = [], columns, 1
    for number, layer in enumerate(given):
        wanted = isinstance(layer, Sequence) and len(layer) == 3 and all(isinstance(one, Integral) for one in layer)
        if not wanted or min(layer) < 1:
            raise InputError(
                f"layers[{number}] is {layer!r}, but must be three positive integers (length, step, n_components): "
                "write for example (128, 64, 16)."
            )
        length, step, count = (int(one) for one in layer)
        what = "columns" if number == 0 else "frames"
        if length > frames or (frames - length) % step:
            fits = length + max(0, frames - length) // step * step
            raise InputError(
                f"layers[{number}] has windows of {length} {what} every {step} {what}, which do not cover the {frames} "
                f"{what} of a row exactly: change length or step, or use rows with {fits} {what}."
            )
        if count > length * width:
            raise InputError(
                f"layers[{number}] has n_components={count}, but its windows have only {length * width} values: use "
                f"n_components <= {length * width}."
            )
        plan.append((Windows(length, step, frames, width), count))
        frames, width = plan[-1][0].count, count
    return [*plan, (Windows(frames, 1, frames, width), n_components)]


def versions_by_layer(given: Any, count: int, shape: tuple[int, int], unit: Unit) -> list[Floats | None]:
    """The distorted versions for each layer."""
    if not isinstance(given, list | tuple):
        return [None if given is None else unit.inward_new(read_distorted(given, shape))] * count
    if len(given) != count:
        raise InputError(
            f"X_distorted is a {type(given).__name__} of length {len(given)}, but there are {count} layers, including "
            "the last one over all frames: pass one array (or None) for each layer, or a single array for all."
        )
    return [
        None if one is None else unit.inward_new(read_distorted(one, shape, f"X_distorted[{number}]"))
        for number, one in enumerate(given)
    ]


def noise_of(rows: Floats, versions: Floats | None, windows: Windows, layers: list[Layer]) -> Floats | None:
    """R of the distortions after the layers so far; None for white noise."""
    if versions is None:
        return None
    total, count = np.zeros((windows.size, windows.size)), 0
    for version in versions:
        noise = (version.astype(np.float64) - rows)[:, :, None]
        for layer in layers:
            noise = layer.differences(noise)
        seen = windows.of(noise)
        with np.errstate(over="ignore", invalid="ignore"):  # `oriented_axes` reports an overflow
            total += seen.T @ seen
        count += len(seen)
    return np.asarray(total / count)


def _spread(layers: list[Layer], above: Floats) -> Floats:
    """Axes of the last layer's window as axes of whole rows."""
    for layer in reversed(layers[:-1]):
        above = layer.windows.spread(layer.axes, above)
    return above


def as_one_map(layers: list[Layer], mean: Floats) -> Projection:
    """All layers as one linear map of whole rows."""
    last, count = layers[-1], len(layers)
    plain = count == 1 and last.root is None  # principal components of the rows as they are
    return Projection(
        mean=mean,
        directions=_spread(layers, last.axes),
        solver=f"dense (LAPACK), {count} layer{'s' * (count > 1)}",
        root=None if plain else _spread(layers, np.eye(last.windows.size) if last.root is None else last.root),
        proved=plain and last.proved,
    )
