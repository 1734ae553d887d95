"""A Gram matrix through a few landmarks: K̂ = C A† Cᵀ, made when it is needed and never n × n.

    A = k(L, L),  C = k(X, L);    f(x) = A^-½ k(L, x);    K̂(x, y) = ⟨f(x) − f̄, f(y) − f̄⟩,  f̄ the mean over all rows

What is not reproduced is the Schur complement K − C A† Cᵀ. It is positive semidefinite, so its trace,
Σ k(x, x) − |f(x)|², is an error; it is 0 where A has the rank of K. Burges, sections 2.1.2 and 2.1.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from gramfold.errors import InputError
from gramfold.kernels.functions import RowKernel, check_kernel
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import blocks
from gramfold.spectral.nystrom import Whitening, centered_scatter, nystrom_spectrum, whitening
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import ROWS, Floats, Integers, Kernel, LeftOut, Spectrum

ENTRIES_PER_BLOCK = 1_000_000


@dataclass(frozen=True)
class LandmarkColumns:
    """k(·, L): the kernel values of any rows against the landmarks."""

    function: RowKernel | None  # None where the rows hold these values already
    landmarks: Any = field(metadata=ROWS)  # (m, d) their rows; None likewise
    count: int  # m
    entries_per_block: int = ENTRIES_PER_BLOCK

    def __call__(self, rows: Any) -> Floats:
        """The values (b, m), in float64."""
        if self.function is None:
            return np.asarray(rows, dtype=np.float64)
        return self.function(rows, self.landmarks)

    def stream(self, points: Any, stages: Stages = SILENT) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rows with their values."""
        parts = blocks(points.shape[0], max(1, self.entries_per_block // self.count))
        for part in stages.bar(parts, len(parts), "values"):
            yield part, self(points[part])


@dataclass(frozen=True)
class LandmarkValues:
    """C = k(X, L), (n, m): a matrix whose rows are computed when they are read."""

    columns: LandmarkColumns
    points: Any = field(metadata=ROWS)  # (n, d) the rows, or their precomputed values (n, m)

    def __len__(self) -> int:
        return int(self.points.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and landmarks."""
        return len(self), self.columns.count

    @property
    def dtype(self) -> Any:
        """Of what is stored."""
        return self.points.dtype

    @property
    def eps(self) -> float:
        """How well values are known: those of a function in float64, given ones in the dtype they came in."""
        return float(np.finfo(self.dtype if self.columns.function is None else np.float64).eps)

    def __getitem__(self, rows: Any) -> Floats:
        return self.columns(self.points[rows])

    def among(self, landmarks: Integers) -> Floats:
        """A = k(L, L), symmetric to the last bit."""
        own = self[landmarks]
        if self.columns.function is None or callable(self.columns.function.name):
            check_kernel(own)
        return np.asarray(0.5 * (own + own.T))

    def stream(self, stages: Stages = SILENT) -> Iterator[tuple[slice, Floats]]:
        """Blocks of its rows."""
        return self.columns.stream(self.points, stages)


@dataclass(frozen=True, repr=False)
class NystromGram(Kernel):
    """See the module. Nothing n × m is stored: kernel values are computed again where a product needs them."""

    values: LandmarkValues  # C
    white: Whitening  # A^-½, (m, r)
    mean: Floats  # (r,) f̄
    scatter: Floats  # (r, r) Q = Σ m (f − f̄)(f − f̄)ᵀ
    explained: float  # Σ m |f|², the trace of C A† Cᵀ
    rounding: float  # what of Q is rounding
    mass: Floats
    null: Floats
    rows: Integers
    drawn: bool = False  # whether the rows are a sample of those that f̄ and Q are over
    exponent: float = 0.5
    kind: Literal["gram"] = "gram"

    @property
    def everybody(self) -> LandmarkValues:
        """What every row is to the landmarks."""
        return self.values

    def for_new_values(self) -> Self:
        """What `place` reads."""
        values = replace(self.values, points=LeftOut.of("training rows", self.values.points))
        return replace(self.without("scatter", "mass", "null", "rows"), values=values)

    def features(self) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rows with their f(x) − f̄, (b, r)."""
        for part, values in self.values.stream():
            yield part, values @ self.white.matrix - self.mean

    def map_all(self, axes: Floats) -> tuple[Floats, Floats]:
        """F·axes (n, p) and Fᵀ M F·axes (r, p) in one pass, with the mass M of the rows."""
        if self.drawn:
            return np.vstack([block @ axes for _, block in self.features()]), self.scatter @ axes
        places, pulled = np.empty((len(self.mass), axes.shape[1])), np.zeros_like(axes)
        for part, block in self.features():
            places[part] = block @ axes
            pulled += block.T @ (self.mass[part, None] * places[part])
        return places, pulled

    def place(self, rows: Any, axes: Floats) -> Floats:
        """(f(x) − f̄) · axes of any rows, (b, p)."""
        # cheaper than by the features, and as good for coordinates; eigenvectors V = F·axes Λ^-½ would lose digits
        directions = self.white.matrix @ axes  # (m, p)
        places = np.empty((rows.shape[0], axes.shape[1]))
        for part, values in self.values.columns.stream(rows):
            places[part] = values @ directions
        return places - self.mean @ axes

    def product(self, vectors: Floats) -> Floats:
        """F (Fᵀ V)."""
        vectors = np.asarray(vectors, dtype=np.float64)
        pulled = np.zeros((len(self.mean), vectors.shape[1]))
        for part, block in self.features():
            pulled += block.T @ vectors[part]
        return self.map_all(pulled)[0]

    def matrix(self) -> Floats:
        """The whole centred matrix, n × n."""
        features = np.vstack([block for _, block in self.features()])
        return np.asarray(features @ features.T)

    def trace(self) -> float:
        """Trace of the centred matrix."""
        return float(np.trace(self.scatter))


def nystrom_gram(
    values: LandmarkValues, landmarks: Integers, stages: Stages = SILENT, mass: Floats | None = None
) -> NystromGram:
    """The kernel of these rows (of this mass) through the landmarks among them, in one pass over the rows."""
    own = values.among(landmarks)
    white = whitening(own, values.eps)
    moments = feature_moments(values, white, own.mean(axis=0), stages, mass)
    n = len(values)
    return gram_of_moments(values, white, moments, n, np.ones(n) if mass is None else mass)


def gram_of_moments(
    values: LandmarkValues, white: Whitening, moments: "Moments", n: int, mass: Floats, *, drawn: bool = False
) -> NystromGram:
    """The same from the moments of n rows, which may be more than those of the kernel."""
    return NystromGram(
        values=values,
        white=white,
        mean=moments.mean,
        scatter=moments.scatter,
        explained=moments.explained,
        # of the entries, and of sums over n of them
        rounding=4.0 * max(values.eps, np.sqrt(n) * np.finfo(np.float64).eps) * moments.explained,
        mass=mass,
        null=np.ones((len(values), 1)),
        rows=np.arange(len(values)),
        drawn=drawn,
    )


@dataclass(frozen=True)
class Moments:
    """Of the features f of some rows."""

    mean: Floats  # (r,)
    scatter: Floats  # (r, r) Σ (f − f̄)(f − f̄)ᵀ
    explained: float  # Σ |f|²


def feature_moments(
    values: LandmarkValues, white: Whitening, near: Floats, stages: Stages = SILENT, mass: Floats | None = None
) -> Moments:
    """In one pass over the rows; `near` are kernel values (m,) near their mean."""
    explained = 0.0

    def features() -> Iterator[Floats]:
        nonlocal explained
        for part, block in values.stream(stages):
            made = block @ white.matrix
            squares = np.square(made)
            explained += float(squares.sum() if mass is None else mass[part] @ squares.sum(axis=1))
            yield made

    mean, scatter = centered_scatter(features(), near @ white.matrix, mass)
    return Moments(mean, scatter, explained)


@dataclass(frozen=True)
class Completion:
    """A kernel without gaps."""

    matrix: Floats  # (n, n) the known entries as given, the others filled in
    rank: int  # of the block that it was grown from
    misfit: float | None  # largest |known − grown| / largest known, of the known entries that were not needed; or None


def complete_kernel(kernel: Any) -> Completion:
    """Fill in the missing entries (NaN) of a positive semidefinite kernel from the rows that are wholly known.

    With A, B the known rows, the rest is C = Bᵀ A† B: exact where A has the rank of the kernel (Burges, footnote 11),
    which `misfit` near 0 bears out. Where whole blocks between groups of rows are missing, the groups themselves
    known, it is the positive semidefinite completion of largest determinant, whatever the rank.

    Parameters
    ----------
    kernel : array-like of shape (n, n)
        Symmetric, NaN where not known; an entry may be missing on one side of the diagonal only.

    Returns
    -------
    completion : Completion
        The filled-in `matrix`, the `rank` of the known block, and `misfit`.
    """
    K = np.array(kernel, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(
            f"the kernel has shape {K.shape}, but must be square: pass k(x_i, x_j) for all pairs, NaN for missing "
            "values."
        )
    K = np.where(np.isnan(K), K.T, K)
    missing = np.isnan(K)
    known = np.flatnonzero(~missing.any(axis=1))
    if not known.size:
        raise InputError(
            f"every row of the kernel has missing values ({int(missing.sum())} in all), so they cannot be completed: "
            "at least one row must be complete, and as many as the rank of the kernel for an exact completion."
        )
    check_kernel(np.where(missing, 0.0, K))
    columns = K[:, known]
    white = whitening(columns[known])
    factor = columns @ white.matrix
    grown = factor @ factor.T
    spare = ~missing
    spare[known] = spare[:, known] = False
    misfit = None
    if spare.any():
        misfit = float(np.abs(K - grown)[spare].max() / np.abs(K[~missing]).max())
    return Completion(np.where(missing, grown, K), white.matrix.shape[1], misfit)


def function_spectrum(kernel: Kernel, count: int) -> Spectrum:
    """The leading eigenpairs, through the landmarks where the kernel has such."""
    return nystrom_spectrum(kernel, count) if isinstance(kernel, NystromGram) else leading_spectrum(kernel, count)
