"""New points under a kernel function:  y(x) = Λ^-½ Vᵀ k_c(x, ·), against all rows or the landmarks alone."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import NoPreimageError
from gramfold.extension.fixed_point import FixedPointInverse
from gramfold.extension.placement import Built, Part
from gramfold.extension.project import centered_projection, project, scaled
from gramfold.kernels.function_slopes import has_kernel_slopes, kernel_slopes
from gramfold.kernels.nystrom import NystromGram, nystrom_gram
from gramfold.kernels.values import SQUARE_ENTRIES_PER_BLOCK, CarriedValues, KernelValues, Missed
from gramfold.runtime.progress import Stages, beats
from gramfold.runtime.threads import blocks
from gramfold.types import ROWS, Floats, Integers, LeftOut, Plain


@dataclass(frozen=True, eq=False)
class FunctionPlacement(Plain):
    """Against all training rows."""

    values: KernelValues
    rows: Any = field(metadata=ROWS)  # None where new rows hold their values

    def place(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        places = np.empty((new.shape[0], len(part.spectrum)))
        for some in beats(blocks(new.shape[0], max(1, SQUARE_ENTRIES_PER_BLOCK // len(part.kernel.mass)))):
            fresh = new[some] if self.values.function is None else self.values.function.varying(new[some], self.rows)
            places[some] = project(part.kernel.cross(fresh), part.kernel, part.spectrum)
        return places

    def compacted(self, part: Part) -> Part:
        """What values are centred and projected with."""
        return replace(part.boxed(), kernel=part.kernel.for_new_values())

    def needs(self, rows: Any) -> bool:
        """Whether the kernel is over all of these."""
        return self.rows is rows

    def slopes(self, new: Any, part: Part, n_jobs: int | None) -> Floats | None:
        """Σ_j w_j ∇k(x, x_j), with w the centred Λ^-½ V."""
        return _slopes(self.values, new, self.rows, centered_projection(part.kernel, part.spectrum))


@dataclass(frozen=True, eq=False)
class NystromPlacement(Plain):
    """Against the landmarks of K̂ = C A† Cᵀ."""

    values: KernelValues
    landmarks: Integers

    def place(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        return np.asarray(part.kernel.place(self.values.columns(new, self.landmarks), part.spectrum.axes))

    def compacted(self, part: Part) -> Part:
        """The landmarks, and the axes over them."""
        kernel, spectrum = part.kernel.for_new_values(), part.spectrum.without("eigenvectors")
        return replace(part.boxed(), kernel=kernel, spectrum=spectrum)

    def needs(self, rows: Any) -> bool:
        """Landmarks are enough."""
        return False

    def slopes(self, new: Any, part: Part, n_jobs: int | None) -> Floats | None:
        """Σ_l w_l ∇k(x, x_l) over the landmarks, with w = A^-½ U."""
        return _slopes(self.values, new, part.kernel.values.columns.landmarks, _images(part)[1])


@dataclass(frozen=True, eq=False)
class LandmarkPlacement(Plain):
    """Against landmarks whose own kernel was solved."""

    values: KernelValues
    landmarks: Integers

    def place(self, new: Any, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        new = self.values.columns(new, self.landmarks)
        places = np.empty((new.shape[0], len(part.spectrum)))
        for some, values in part.kernel.everybody.columns.stream(new):
            places[some] = project(part.kernel.cross(values), part.kernel, part.spectrum)
        return places

    def compacted(self, part: Part) -> Part:
        """The landmarks, and what values against them are centred and projected with."""
        everybody = replace(part.kernel.everybody, points=LeftOut("training rows"))
        kernel = replace(part.kernel.for_new_values(), all_values=everybody)
        return replace(part.boxed(), kernel=kernel)

    def needs(self, rows: Any) -> bool:
        """Landmarks are enough."""
        return False

    def slopes(self, new: Any, part: Part, n_jobs: int | None) -> Floats | None:
        """Σ_l w_l ∇k(x, x_l) over the landmarks, with w the centred Λ^-½ V."""
        landmarks = part.kernel.everybody.columns.landmarks
        return _slopes(self.values, new, landmarks, centered_projection(part.kernel, part.spectrum))


def _slopes(values: KernelValues, new: Any, points: Any, weights: Floats) -> Floats | None:
    if values.function is None or not has_kernel_slopes(values.function.name):
        return None
    return kernel_slopes(values.function, new, points, weights)


def nystrom_kernel(known: CarriedValues, stages: Stages) -> Built:
    """K̂ = C A† Cᵀ through the landmarks, and what they miss."""
    assert known.landmarks is not None
    gram = nystrom_gram(known.against_landmarks(), known.landmarks, stages, known.mass)
    missed = Missed.of(known.diagonal(), gram.explained, gram.trace(), known.mass)
    return Built(gram, NystromPlacement(known.values, known.landmarks), missed.found)


def check_fixed_point(kernel: Any) -> None:
    """Refuse the fixed-point inverse of a kernel that has none."""
    # of precomputed values nothing can be rebuilt, which inverse_transform says
    if not (isinstance(kernel, str) and kernel in {"rbf", "gaussian", "precomputed"}):
        raise NoPreimageError(
            f"inverse='fixed-point' needs kernel='rbf', but kernel={kernel!r}: use 'mixture', 'barycentric' or 'ridge'."
        )


@dataclass(frozen=True, eq=False)
class FunctionInverse(Plain):
    """The row whose image under a Gaussian kernel is nearest; other kernels have no inverse of their own."""

    kernel: Any  # its name, or the function
    gamma: float | None
    landmarks: Integers | None
    everywhere: bool = False

    def make(self, way: str, model: Any, n_jobs: int | None) -> FixedPointInverse | None:
        """The fixed-point inverse, where that is asked for."""
        if way != "fixed-point":
            return None
        check_fixed_point(self.kernel)
        (part,), (places, rows) = model.parts, model.known()
        if issparse(rows):
            raise NoPreimageError(
                "inverse='fixed-point' computes dense rows, but the model was fitted on a sparse table: use "
                "'barycentric', which returns sparse rows."
            )
        numbers = np.arange(len(rows)) if self.landmarks is None else self.landmarks
        middle, axes = _images(part)
        assert self.gamma is not None  # of a Gaussian kernel
        axes = np.pad(axes, ((0, 0), (0, places.shape[1] - axes.shape[1])))
        carriers = rows[numbers].astype(np.float64)
        return FixedPointInverse(self.gamma, carriers, middle, axes, places, rows, numbers)


def _images(part: Part) -> tuple[Floats, Floats]:
    """The mean image and the axes of the map as sums of images of the carriers: (m,) and (m, q)."""
    if isinstance(part.kernel, NystromGram):
        white = part.kernel.white.matrix
        return np.asarray(white @ part.kernel.mean), np.asarray(white @ part.spectrum.axes)
    return part.kernel.center, part.kernel.mass[:, None] * scaled(part.spectrum, -0.5)
