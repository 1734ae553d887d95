"""The engine of the methods whose kernel is a function of two rows.

K_ij = k(x_i, x_j), centred;    y(x) = Λ^-½ Vᵀ k_c(x, ·)
landmarks: K̂ = C A† Cᵀ through a few rows, its exact eigenvectors (spectral/nystrom.py), nothing n × n
"""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.kernel_embedding import KernelEmbedding
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece
from gramfold.embedding.way_back import Inverse
from gramfold.errors import InputError, NoPreimageError
from gramfold.extension.fixed_point import FixedPointInverse
from gramfold.extension.project import project, scaled
from gramfold.kernels.functions import (
    NAMES,
    SYNONYMS,
    KernelFunction,
    RowKernel,
    check_kernel,
    default_gamma,
)
from gramfold.kernels.gram import GramKernel, centered_gram
from gramfold.kernels.landmark import check_width, given_landmarks
from gramfold.kernels.nystrom import ENTRIES_PER_BLOCK, LandmarkColumns, LandmarkValues, NystromGram, nystrom_gram
from gramfold.kernels.sampling import Sampling, kmeans_rows, leverage_rows, uniform_rows
from gramfold.runtime.memory import GIGABYTE, largest_that_fits
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks
from gramfold.spectral.nystrom import nystrom_spectrum
from gramfold.types import Floats, Integers, Kernel, Spectrum

_SQUARE_ENTRIES_PER_BLOCK = 4_000_000
_ADVISED_LANDMARKS = 1_000
_LARGEST_GAMMA = 1e300  # a number, so that no distance times it is 0


@method
class FunctionEmbedding(KernelEmbedding):
    """Engine of kernel PCA and its Nyström form; not used by itself."""

    kernel: KernelFunction = parameter(
        default="rbf",
        allowed=[StrOptions({*NAMES, *SYNONYMS, "precomputed"}), callable],
        words=""""linear", "poly", "rbf", "sigmoid", "cosine", "precomputed" or a function of two rows;
        "gaussian" and "polynomial" are other words for "rbf" and "poly".""",
    )
    gamma: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""γ in the Gaussian exp(−γ|x−y|²), polynomial (γ⟨x,y⟩ + coef0)^degree and sigmoid kernels. None stands
        for 1/(2σ²) with σ² the total variance of the rows, half their mean squared distance (Gaussian), or for
        1/n_features (the others).""",
    )
    degree: float = parameter(
        default=3, allowed=[Interval(Real, 0, None, closed="neither")], words="Of the polynomial kernel."
    )
    coef0: float = parameter(
        default=1.0,
        allowed=[Interval(Real, None, None, closed="neither")],
        words="Of the polynomial and sigmoid kernels.",
    )
    kernel_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="Passed to a function."
    )
    landmarks: Any = parameter(
        default=None,
        allowed=[Interval(Integral, 2, None, closed="left"), "array-like", None],
        words="""At most this many rows carry the kernel, or the numbers of the rows that do; None uses all rows and an
        n × n matrix. With given rows a precomputed kernel may hold one column per landmark instead of all.""",
    )
    landmark_choice: Sampling = parameter(
        default="uniform",
        allowed=[StrOptions({"uniform", "kmeans", "leverage"})],
        words="""Landmarks are rows at random, the rows nearest the centres of k-means, or rows drawn by their ridge
        leverage: those of which a first random subset says least.""",
    )
    random_state: Any = parameter(default=0, allowed=["random_state"], words="Chooses landmarks.")

    _attributes: ClassVar[str] = """
    gamma_ : float or None
        The γ used.
    width_ : float or None
        σ of the Gaussian, γ = 1/(2σ²).
    landmarks_ : ndarray of int or None
        The data rows that carry the kernel; None where all do.
    error_ : float or None
        Share of the kernel that the landmarks miss: the trace of the Schur complement K − C A† Cᵀ over that of K. None
        without landmarks, or where only columns of the kernel are known.
    centered_error_ : float or None
        The same share of the centred kernel, which the map is of, at most.
    """

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _degree(self) -> float | None:
        if callable(self.kernel):
            return None
        return {"linear": 1.0, "precomputed": 0.5}.get(self.kernel, 0.0)  # the map's squares are those of the kernel

    @property
    def _accepts_sparse(self) -> bool:
        return not self._precomputed

    def _memory(self, n: int, itemsize: int) -> float:
        if self.landmarks is None:
            return super()._memory(n, itemsize)
        count = int(self.landmarks) if isinstance(self.landmarks, Integral) else len(self.landmarks)
        return self._landmark_memory(n, min(n, count), itemsize)

    def _landmark_memory(self, n: int, count: int, itemsize: int) -> float:
        # a block of kernel values and what is made of it, a few small squares, eigenvectors and places (90 bytes a row)
        work = 8.0 * (4 * min(n * count, ENTRIES_PER_BLOCK) + 4 * count**2 + 6 * n * self.n_components)
        return work + (n * count * itemsize if self._precomputed else 0)

    def _memory_advice(self, n: int, itemsize: int) -> list[str]:
        if self.landmarks is not None or n <= _ADVISED_LANDMARKS:
            return []
        count = largest_that_fits(lambda count: self._landmark_memory(n, count, itemsize), _ADVISED_LANDMARKS)
        need = self._landmark_memory(n, count, itemsize)
        words = f"or use landmarks={count}, which needs {need / GIGABYTE:.1f} GB"
        return [words] if count > self.n_components else []

    # --- fit

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        sources = super()._sources(X, stages)
        self._settle(X)
        self.landmarks_: Any = None
        self.error_: float | None = None
        self.centered_error_: float | None = None
        if self.landmarks is not None:
            with stages("landmarks"):
                self.landmarks_ = self._chosen(X)
            self._check_landmarks(len(self.landmarks_))
        return sources

    def _settle(self, rows: Any) -> None:
        """The function with its parameters, or whether all values of a precomputed kernel are known."""
        self._square = self._precomputed and rows.shape[0] == rows.shape[1]
        self.gamma_, self.width_, self._function = None, None, None
        if self._precomputed:
            return
        name = SYNONYMS.get(self.kernel, self.kernel) if isinstance(self.kernel, str) else self.kernel
        if self.kernel_params and isinstance(name, str):
            raise InputError(
                f"kernel_params={self.kernel_params!r} are passed to a function and kernel={name!r} is none: use "
                "gamma, degree or coef0, or pass a function as kernel."
            )
        self.gamma_ = self._gamma(name, rows)
        if name == "rbf" and self.gamma_ is not None:
            self.width_ = float((2.0 * self.gamma_) ** -0.5) if self.gamma_ > 0 else np.inf  # it may vanish in `unit_`
        self._function = RowKernel(name, self.gamma_, self.degree, self.coef0, self.kernel_params or {})

    def _gamma(self, name: Any, rows: Any) -> float | None:
        default = default_gamma(name, rows)
        if name == "rbf" and self.gamma is None:
            return default
        given = default if self.gamma is None else self.gamma
        if given is None:
            return None
        return min(float(given) * self.unit_ * self.unit_, _LARGEST_GAMMA)  # it multiplies products of rows

    def _kernel(self, rows: Any, stages: Stages) -> GramKernel | NystromGram:
        if self.landmarks_ is not None:
            return self._landmark_kernel(rows, stages)
        if self._function is None:
            check_kernel(rows)
            return centered_gram(rows)
        n = rows.shape[0]
        values = np.empty((n, n), dtype=rows.dtype)
        for part in stages.bar(parts := blocks(n, max(1, _SQUARE_ENTRIES_PER_BLOCK // n)), len(parts), "kernel"):
            values[part] = self._function.varying(rows[part], rows)
        if callable(self._function.name):
            check_kernel(values)
        return centered_gram(values)

    def _landmark_kernel(self, rows: Any, stages: Stages) -> GramKernel | NystromGram:
        kernel = nystrom_gram(self._values(rows, self.landmarks_), self.landmarks_, stages)
        self._judge(self._diagonal(rows), kernel.explained, kernel.trace())
        return kernel

    def _spectrum(self, kernel: Kernel, count: int) -> Spectrum:
        return nystrom_spectrum(kernel, count) if isinstance(kernel, NystromGram) else super()._spectrum(kernel, count)

    # --- landmarks

    def _chosen(self, rows: Any) -> Integers:
        n, width = rows.shape
        given = None if isinstance(self.landmarks, Integral) else given_landmarks(self.landmarks, n)
        if self._precomputed:
            if given is not None:
                check_width(width, n, len(given), "kernel values")
            if given is None or self._square:
                check_kernel(rows)
        if given is not None:
            return given
        count, random_state = int(self.landmarks), check_random_state(self.random_state)
        if count >= n:
            return np.arange(n)
        if self.landmark_choice == "kmeans":
            if self._precomputed:
                raise InputError(
                    "landmark_choice='kmeans' needs the rows themselves and kernel='precomputed' has none: use "
                    "'uniform' or 'leverage', or pass the numbers of the rows as landmarks."
                )
            return kmeans_rows(rows, count, random_state)
        first = uniform_rows(n, count, random_state)
        if self.landmark_choice == "uniform":
            return first
        diagonal = self._diagonal(rows)
        assert diagonal is not None  # columns alone come with given landmarks
        return leverage_rows(self._values(rows, first), first, diagonal, random_state)

    def _check_landmarks(self, count: int) -> None:
        if self.n_components > count:
            raise InputError(
                f"n_components={self.n_components} and there are {count} landmarks, which span at most as many "
                f"directions: use landmarks >= {self.n_components} or fewer components."
            )

    def _values(self, rows: Any, landmarks: Integers) -> LandmarkValues:
        """k(rows, landmarks), made when needed."""
        m = len(landmarks)
        if self._function is not None:
            return LandmarkValues(LandmarkColumns(self._function, rows[landmarks], m), rows)
        return LandmarkValues(LandmarkColumns(None, None, m), self._given_values(rows, landmarks))

    def _given_values(self, rows: Any, landmarks: Integers) -> Any:
        """Of a whole precomputed kernel the columns of the landmarks; else the rows as they are."""
        return np.ascontiguousarray(rows[:, landmarks]) if self._square else rows

    def _judge(self, diagonal: Floats | None, explained: float, centered: float) -> None:
        """What the landmarks miss, from k(x, x) and the traces of C A† Cᵀ and of its centred form."""
        if diagonal is None:
            return
        whole = float(diagonal.sum())
        missed = max(whole - explained, 0.0)
        self.error_ = missed / whole if whole > 0 else 0.0
        # centring takes from the missed part too, so this is the most that can be left of it
        self.centered_error_ = missed / (missed + centered) if missed > 0 else 0.0

    def _diagonal(self, rows: Any) -> Floats | None:
        """k(x, x) of every row, (n,); None where only columns of the kernel are known."""
        if self._function is not None:
            return self._function.diagonal(rows)
        return np.asarray(np.diagonal(rows), dtype=np.float64) if self._square else None

    # --- whether the map shows the data

    def _keeps_neighbors(self) -> bool:
        return self.width_ is not None  # of the kernels only the Gaussian looks at what is near in the columns

    def _remedy(self) -> str:
        return f"another gamma, {super()._remedy()}" if self.gamma_ is not None else super()._remedy()

    # --- the way back

    def _check_way(self) -> None:
        if self.inverse != "fixed-point":
            super()._check_way()
        elif isinstance(self.kernel, str) and SYNONYMS.get(self.kernel, self.kernel) in {"rbf", "precomputed"}:
            return  # of precomputed values nothing can be rebuilt, which inverse_transform says
        else:
            raise NoPreimageError(
                f"inverse='fixed-point' exists for the Gaussian kernel (kernel='rbf') and this is {self.kernel!r}: use "
                "'mixture', 'barycentric' or 'ridge'."
            )

    def _make_way(self, way: str) -> Inverse:
        if way != "fixed-point":
            return super()._make_way(way)
        (piece,), (places, rows) = self._pieces, self._known()
        if issparse(rows):
            raise NoPreimageError(
                "inverse='fixed-point' makes dense rows and this model was fitted on sparse ones: use 'barycentric', "
                "which keeps them sparse."
            )
        numbers = np.arange(len(rows)) if self.landmarks_ is None else self.landmarks_
        middle, axes = self._images(piece)
        assert self.gamma_ is not None  # of a Gaussian kernel
        carriers = rows[numbers].astype(np.float64)
        return FixedPointInverse(self.gamma_, carriers, middle, axes, places, rows, numbers)

    def _images(self, piece: Piece) -> tuple[Floats, Floats]:
        """The mean image and the axes of the map as sums of images of the carriers: (m,) and (m, p)."""
        axes = np.zeros((piece.kernel.shape[0], self.n_components))
        if isinstance(piece.kernel, NystromGram):
            white = piece.kernel.white.matrix
            axes = np.zeros((len(white), self.n_components))
            axes[:, : len(piece.spectrum)] = white @ piece.spectrum.axes
            return np.asarray(white @ piece.kernel.mean), axes
        axes[:, : len(piece.spectrum)] = scaled(piece.spectrum, -0.5)
        return piece.kernel.center, axes

    # --- new points

    def _place(self, piece: Piece, new: Any) -> Floats:
        if self.landmarks_ is not None:
            return self._place_by_landmarks(piece, self._given_values(new, self.landmarks_))
        n = piece.kernel.shape[0]
        places = np.empty((new.shape[0], self.n_components))
        for part in blocks(new.shape[0], max(1, _SQUARE_ENTRIES_PER_BLOCK // n)):
            fresh = new[part] if self._function is None else self._function.varying(new[part], piece.source)
            places[part] = project(piece.kernel.cross(fresh), piece.kernel, piece.spectrum)
        return places

    def _place_by_landmarks(self, piece: Piece, points: Any) -> Floats:
        return np.asarray(piece.kernel.place(points, piece.spectrum.axes))
