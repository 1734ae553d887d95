"""The kernel of a fitted model over the data rows that it is of: products, entries and the trace."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gramfold.diagnostics.measure import Measure
from gramfold.embedding import Embedding, Model
from gramfold.errors import InputError
from gramfold.extension.graph_source import GraphSource
from gramfold.kernels.gram import centered_gram
from gramfold.spectral.traces import sampled_trace
from gramfold.types import Floats, Integers, Kernel

EXACT_ROWS = 2_000  # up to here all entries of a kernel are computed where a number needs them
PROBES = 60  # random vectors above
_BLOCK = 500  # columns at a time


@dataclass(frozen=True, eq=False)
class RowsKernel:
    """See the module. Rows that no kernel value is known of (other connected components) are not among `rows`."""

    kernel: Kernel
    rows: Integers  # (m,) the data row of each row of the kernel
    leading: Floats  # (m, p) its leading eigenvectors over these rows, as far as they are known

    @classmethod
    def of(cls, given: Any, name: str) -> Self:
        """Of a fitted model, a kernel, or a matrix; `name` is what the argument is called."""
        if isinstance(given, Kernel):
            m = given.shape[0]
            return cls(given, np.arange(m), np.empty((m, 0)))
        if isinstance(given, Embedding):
            check_is_fitted(given)
            return cls._of_model(given)
        return cls._of_matrix(given, name)

    @classmethod
    def _of_model(cls, estimator: Any) -> Self:
        model: Any = vars(estimator)["model_"]
        if not isinstance(model, Model) or not model.parts or model.parts[0].kernel is None:
            raise InputError(
                f"{type(estimator).__name__} has no kernel, so kernel values of its rows are not known: pass a model "
                "with the attribute kernel_."
            )
        rows = _rows_of(estimator, model)
        vectors = model.spectrum.eigenvectors
        return cls(model.kernel, rows, np.asarray(vectors, dtype=np.float64))

    @classmethod
    def _of_matrix(cls, given: Any, name: str) -> Self:
        if hasattr(given, "fit"):
            raise InputError(
                f"{name} is {type(given).__name__}, which has no kernel: pass a fitted model with the attribute "
                "kernel_, a kernel, or a square matrix of kernel values."
            )
        matrix = np.asarray(given)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "iufb":
            raise InputError(
                f"{name} is a {type(given).__name__} of shape {matrix.shape}, which is no kernel: pass a fitted model "
                "with kernel_, a kernel, or a square matrix of kernel values."
            )
        matrix = matrix.astype(np.float64)
        if not np.isfinite(matrix).all() or not np.allclose(
            matrix, matrix.T, rtol=1e-8, atol=1e-8 * np.abs(matrix).max()
        ):
            raise InputError(f"{name} is a matrix that is not symmetric, or not finite: pass one of kernel values.")
        m = len(matrix)
        return cls(centered_gram(0.5 * (matrix + matrix.T)), np.arange(m), np.empty((m, 0)))

    def __len__(self) -> int:
        return len(self.rows)

    def places(self, rows: Integers) -> Integers:
        """The position of each of these data rows in the kernel; -1 where it has none."""
        order = np.argsort(self.rows, kind="stable")
        found = np.searchsorted(self.rows[order], rows).clip(max=len(order) - 1)
        return np.where(self.rows[order][found] == rows, order[found], -1)

    def taken(self, rows: Integers) -> "TakenRows":
        """The kernel over these data rows only, all of which it has."""
        return TakenRows(self, self.places(rows))

    def entries(self, first: Integers, second: Integers) -> Floats:
        """K_ij of these pairs of data rows, (pairs,); NaN where one of them is not in the kernel."""
        values = np.full(len(first), np.nan)
        i, j = self.places(first), self.places(second)
        known = (i >= 0) & (j >= 0)
        wanted, place = np.unique(j[known], return_inverse=True)
        if known.any():
            values[known] = self.kernel.columns(wanted)[i[known], place]
        return values

    def trace(self, random_state: Any = 0) -> Measure:
        """Σ K_ii over its rows: exact where that is cheap, else with a 95% interval."""
        kernel = self.kernel
        counts = np.bincount(kernel.rows, minlength=len(kernel.mass))
        if hasattr(kernel, "trace") and np.array_equal(kernel.mass, counts):
            return Measure(float(kernel.trace()))
        if len(kernel.mass) <= EXACT_ROWS:
            return Measure(float(counts @ diagonal(kernel)))
        root = np.sqrt(counts)[:, None]
        known = np.zeros((len(counts), self.leading.shape[1]))
        known[kernel.rows] = self.leading
        found = sampled_trace(
            lambda vectors: root * kernel.product(root * vectors),
            len(counts),
            np.linalg.qr(root * known)[0],
            PROBES,
            check_random_state(random_state),
        )
        value, error = float(found.values[0]), found.error(np.ones(1))
        return Measure(value, (value - error, value + error))


@dataclass(frozen=True, eq=False)
class TakenRows:
    """A kernel over some of its rows, centred on their mean."""

    whole: RowsKernel
    places: Integers  # (n,) their positions in it

    def product(self, vectors: Floats) -> Floats:
        """H K H V for (n, p) vectors, without forming K."""
        spread = np.zeros((len(self.whole), vectors.shape[1]))
        spread[self.places] = vectors - vectors.mean(axis=0)
        image = (self.whole.kernel @ spread)[self.places]
        return np.asarray(image - image.mean(axis=0))

    def matrix(self) -> Floats:
        """H K H, (n, n)."""
        kernel = self.whole.kernel
        vertex = kernel.rows[self.places]
        values = whole_matrix(kernel)[np.ix_(vertex, vertex)]
        values -= values.mean(axis=0)
        values -= values.mean(axis=1)[:, None]
        return np.asarray(values)

    @property
    def leading(self) -> Floats:
        """Directions (n, p) along which it is large."""
        vectors = self.whole.leading[self.places]
        return np.asarray(vectors - vectors.mean(axis=0))


def whole_matrix(kernel: Kernel) -> Floats:
    """K over the vertices: what is stored or, of a penalty, by solves, which are quicker than all its eigenvectors."""
    return (
        np.asarray(kernel.matrix()) if kernel.kind == "gram" else np.asarray(kernel.product(np.eye(len(kernel.mass))))
    )


def diagonal(kernel: Kernel) -> Floats:
    """K_vv of every vertex."""
    n = len(kernel.mass)
    if kernel.kind == "gram":
        return np.asarray(np.diagonal(kernel.matrix()))
    found = np.empty(n)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        units = np.zeros((n, stop - start))
        units[np.arange(start, stop), np.arange(stop - start)] = 1.0
        found[start:stop] = kernel.product(units)[np.arange(start, stop), np.arange(stop - start)]
    return found


def _rows_of(estimator: Any, model: Model) -> Integers:
    """The data row of each row of the kernel: of all rows, of a connected component, or of landmarks."""
    kernel, n = model.kernel, len(model.embedding)
    m = kernel.shape[0]
    if kernel.landmarks is not None:
        return np.asarray(estimator.landmarks_)
    source: Any = model.source
    graphs = source if isinstance(source, GraphSource) else getattr(source, "members", None)
    if graphs is not None and m < n:
        return np.asarray(graphs.components.each()[0].rows)
    return np.arange(n)
