"""Where kernel values come from: a function of two rows, or X itself; and which rows carry the kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, Self

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError
from gramfold.kernels.functions import SYNONYMS, KernelFunction, RowKernel, check_kernel, default_gamma
from gramfold.kernels.gram import GramKernel, centered_gram
from gramfold.kernels.landmarks import Sampling, check_width, given_landmarks, kmeans_rows, leverage_rows, random_rows
from gramfold.kernels.nystrom import ENTRIES_PER_BLOCK, LandmarkColumns, LandmarkValues
from gramfold.kernels.opening import opened_gram
from gramfold.kernels.streamed import LANDMARKS, StreamedRows, stream_advice, stream_memory, stream_width
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.neighbors.units import Unit
from gramfold.runtime.memory import GIGABYTE, largest_that_fits
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Integers, Plain

ENTRIES_PER_TASK = 1_000_000  # of kernel values, for one thread
SQUARE_ENTRIES_PER_BLOCK = 4_000_000
_ADVISED_LANDMARKS = 1_000
_LARGEST_GAMMA = 1e300  # a number, so that no distance times it is 0


class KernelSettings(Protocol):
    """The parameters of a kernel function and of its landmarks."""

    kernel: KernelFunction
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    landmarks: Any
    landmark_choice: Sampling
    n_components: int
    inverse: Any


def map_degree(kernel: KernelFunction) -> float | None:
    """The power of the rows' unit that the map comes in; None where nobody knows how the kernel follows it."""
    if callable(kernel):
        return None
    return {"linear": 1.0, "precomputed": 0.5}.get(kernel, 0.0)  # the map's squares are those of the kernel


def kernel_unit(kernel: KernelFunction, rows: Any) -> Unit:
    """The unit of rows that such a kernel reads."""
    return Unit() if map_degree(kernel) is None else Unit.of_rows(rows)


@dataclass(frozen=True)
class FunctionMemory:
    """What kernel values of n rows need."""

    settings: KernelSettings
    precomputed: bool
    streams: bool | None = None  # whether all values are computed for each product; None: that is no choice

    def __call__(self, n: int, itemsize: int) -> float:
        """Bytes beyond the rows themselves."""
        landmarks = self.settings.landmarks
        if landmarks is None and self.streams:
            return stream_memory(n, stream_width(self.settings.n_components))
        if landmarks is None:
            return float(n) ** 2 * itemsize
        count = int(landmarks) if isinstance(landmarks, Integral) else len(landmarks)
        return self._with(n, min(n, count), itemsize)

    def advice(self, n: int, itemsize: int) -> list[str]:
        """What else would fit, in words."""
        if self.settings.landmarks is not None or n <= _ADVISED_LANDMARKS:
            return []
        count = largest_that_fits(lambda count: self._with(n, count, itemsize), _ADVISED_LANDMARKS)
        words = f"or use landmarks={count}, which needs {self._with(n, count, itemsize) / GIGABYTE:.1f} GB"
        advice = [words] if count > self.settings.n_components else []
        if self.streams is False and not self.precomputed:
            advice += stream_advice(n, stream_width(self.settings.n_components))
        return advice

    def _with(self, n: int, count: int, itemsize: int) -> float:
        # a block of kernel values and what is made of it, a few small squares, eigenvectors and places (90 bytes a row)
        work = 8.0 * (4 * min(n * count, ENTRIES_PER_BLOCK) + 4 * count**2 + 6 * n * self.settings.n_components)
        return work + (n * count * itemsize if self.precomputed else 0)


@dataclass(frozen=True, eq=False)
class StreamedValues(StreamedRows):
    """The function of each two rows, less a constant."""

    function: RowKernel

    @property
    def n_jobs(self) -> int | None:
        return 1 if callable(self.function.name) else None  # the user's may not be called by several threads

    def block(self, left: Any, right: Any) -> Floats:
        return self.function.varying(left, right)

    def diagonal(self) -> Floats:
        return self.function.varying_diagonal(self.rows)


@dataclass(frozen=True, eq=False)
class KernelValues(Plain):
    """The function with its parameters, or whether all values of a precomputed kernel are known."""

    function: RowKernel | None  # None where X holds values
    gamma: float | None
    square: bool  # whether X holds all of them

    @classmethod
    def of(cls, settings: KernelSettings, rows: Any, unit: Unit, mass: Floats | None = None) -> Self:
        """For training rows in this unit, of this mass."""
        if isinstance(settings.kernel, str) and settings.kernel == "precomputed":
            return cls(None, None, rows.shape[0] == rows.shape[1])
        name = SYNONYMS.get(settings.kernel, settings.kernel) if isinstance(settings.kernel, str) else settings.kernel
        params = settings.kernel_params or {}
        if params and isinstance(name, str):
            raise InputError(
                f"kernel_params={params!r} are arguments of a kernel function, but kernel={name!r} is a name: use "
                "gamma, degree or coef0, or pass a function as kernel."
            )
        gamma = _gamma(name, settings.gamma, rows, unit, mass)
        return cls(RowKernel(name, gamma, settings.degree, settings.coef0, params), gamma, False)

    @property
    def width(self) -> float | None:
        """σ of the Gaussian, γ = 1/(2σ²)."""
        if self.function is None or self.function.name != "rbf" or self.gamma is None:
            return None
        return float((2.0 * self.gamma) ** -0.5) if self.gamma > 0 else np.inf  # it may vanish in the unit

    def gram(self, rows: Any, stages: Stages, mass: Floats | None = None) -> GramKernel:
        """The centred Gram matrix of all rows, of this mass."""
        if self.function is None:
            check_kernel(rows)
            return centered_gram(rows, mass=mass)
        function, by_user = self.function, callable(self.function.name)
        n = rows.shape[0]
        values = np.empty((n, n), dtype=rows.dtype)

        def work(part: slice) -> None:
            values[part] = function.varying(rows[part], rows)

        parts = blocks(n, max(1, (SQUARE_ENTRIES_PER_BLOCK if by_user else ENTRIES_PER_TASK) // n))
        # a function of the user's may not be called by several threads
        run_blocks(work, parts, 1 if by_user else None, stages=stages, what="values")
        if by_user:
            check_kernel(values)
        return centered_gram(values, mass=mass)

    def streamed(self, rows: Any, width: int, mass: Floats | None = None) -> GramKernel:
        """The same, with values that are computed for each product; `width` vectors are in a pass."""
        assert self.function is not None
        matrix = StreamedValues(width, rows, self.function)
        if callable(self.function.name):
            check_kernel(matrix.take(np.arange(min(rows.shape[0], LANDMARKS)))[:, :LANDMARKS])
        return opened_gram(matrix, 1.0, mass)

    def against(self, rows: Any, landmarks: Integers) -> LandmarkValues:
        """k(rows, landmarks), made when needed."""
        m = len(landmarks)
        if self.function is not None:
            return LandmarkValues(LandmarkColumns(self.function, rows[landmarks], m), rows)
        return LandmarkValues(LandmarkColumns(None, None, m), self.columns(rows, landmarks))

    def columns(self, rows: Any, landmarks: Integers) -> Any:
        """Of a whole precomputed kernel the columns of the landmarks; else the rows as they are."""
        return np.ascontiguousarray(rows[:, landmarks]) if self.square else rows

    def diagonal(self, rows: Any) -> Floats | None:
        """k(x, x) of every row, (n,); None where only columns of the kernel are known."""
        if self.function is not None:
            return self.function.diagonal(rows)
        return np.asarray(np.diagonal(rows), dtype=np.float64) if self.square else None

    def carriers(self, settings: KernelSettings, rows: Any, random_state: np.random.RandomState) -> Integers:
        """The rows that carry the kernel, as the settings have them."""
        n, width = rows.shape
        given = None if isinstance(settings.landmarks, Integral) else given_landmarks(settings.landmarks, n)
        if self.function is None:
            if given is not None:
                check_width(width, n, len(given), "kernel values")
            if given is None or self.square:
                check_kernel(rows)
        chosen = self._drawn(settings, rows, random_state) if given is None else given
        if settings.n_components > len(chosen):
            raise InputError(
                f"n_components={settings.n_components}, but there are only {len(chosen)} landmarks: use landmarks >= "
                f"{settings.n_components}, or fewer components."
            )
        return chosen

    def _distinct(self, rows: Any) -> Integers:
        """The first of identical rows: a copy of a landmark carries nothing, however often a row is given."""
        if self.function is None or issparse(rows):
            return np.arange(rows.shape[0])
        return collapse_rows(rows).first

    def _drawn(self, settings: KernelSettings, rows: Any, random_state: np.random.RandomState) -> Integers:
        distinct = self._distinct(rows)
        if len(distinct) < rows.shape[0]:
            return np.asarray(distinct[self._drawn(settings, rows[distinct], random_state)])
        n, count = rows.shape[0], int(settings.landmarks)
        if count >= n:
            return np.arange(n)
        if settings.landmark_choice == "kmeans":
            if self.function is None:
                raise InputError(
                    "landmark_choice='kmeans' needs the rows themselves, but kernel='precomputed' has none: use "
                    "'random' or 'leverage', or pass the row indices of the landmarks."
                )
            return kmeans_rows(rows, count, random_state)
        first = random_rows(n, count, random_state)
        if settings.landmark_choice == "random":
            return first
        diagonal = self.diagonal(rows)
        assert diagonal is not None  # columns alone come with given landmarks
        return leverage_rows(self.against(rows, first), first, diagonal, random_state)


def _gamma(name: Any, asked: float | None, rows: Any, unit: Unit, mass: Floats | None) -> float | None:
    default = default_gamma(name, rows, mass)
    if name == "rbf" and asked is None:
        return default
    given = default if asked is None else asked
    if given is None:
        return None
    return min(float(given) * unit.size * unit.size, _LARGEST_GAMMA)  # it multiplies products of rows


@dataclass(frozen=True)
class Missed:
    """What landmarks miss of a kernel, as shares of its trace and of that of its centred form; None: not known."""

    whole: float | None = None
    centered: float | None = None

    @classmethod
    def of(cls, diagonal: Floats | None, explained: float, centered: float, mass: Floats | None = None) -> Self:
        """From k(x, x) and the traces of C A† Cᵀ and of its centred form, over rows of this mass."""
        if diagonal is None:
            return cls()
        total = float(diagonal.sum() if mass is None else mass @ diagonal)
        missed = max(total - explained, 0.0)
        # centring takes from the missed part too, so this is the most that can be left of it
        return cls(missed / total if total > 0 else 0.0, missed / (missed + centered) if missed > 0 else 0.0)

    @property
    def found(self) -> dict[str, float | None]:
        """By the names of the attributes."""
        return {"error_": self.whole, "centered_error_": self.centered}


@dataclass(frozen=True, eq=False)
class CarriedValues:
    """Training rows, the values of the kernel between them, and which of them carry it."""

    values: KernelValues
    rows: Any
    landmarks: Integers | None
    mass: Floats | None = None  # (n,) of the rows; None: 1 each

    @property
    def carriers(self) -> Any:
        """The rows that new ones are compared with; None where those hold their values already."""
        return None if self.values.function is None else self.rows

    def against_landmarks(self) -> LandmarkValues:
        """k(rows, landmarks), made when needed."""
        assert self.landmarks is not None
        return self.values.against(self.rows, self.landmarks)

    def diagonal(self) -> Floats | None:
        """k(x, x) of every row; None where only columns of the kernel are known."""
        return self.values.diagonal(self.rows)
