"""Kernel functions k(x, y) of two rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

# plain words beside scikit-learn's
SYNONYMS = {"gaussian": "rbf", "polynomial": "poly"}
NAMES = ("linear", "poly", "rbf", "sigmoid", "cosine")
_USES_GAMMA = {"poly", "rbf", "sigmoid"}
# |x − y|² below this share of |x|² + |y|² has lost more than six digits to their difference
_CANCELS = 1e-6
_ENTRIES_PER_BLOCK = 1_000_000
_ENTRIES_PER_PASS = 100_000  # of squared distances, which stay in the cache until they are done

KernelFunction = str | Callable[[Floats, Floats], float]


@dataclass(frozen=True)
class RowKernel:
    """A kernel function with its parameters settled."""

    name: KernelFunction
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1.0
    params: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, left: Any, right: Any) -> Floats:
        """k(left_i, right_j) for all pairs, (m, n) in float64."""
        from sklearn.metrics.pairwise import pairwise_kernels

        if callable(self.name):
            values = pairwise_kernels(left, right, metric=self.name, **self.params)
            return _finite(np.asarray(values, dtype=np.float64), self.name)
        left, right = left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)
        if self.name == "rbf":
            return _gaussian(left, right, self.gamma, np.exp)
        named: dict[str, Any] = {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}
        with np.errstate(over="ignore", invalid="ignore"):  # told in our own words
            values = pairwise_kernels(left, right, metric=self.name, filter_params=True, **named)
        return _finite(np.asarray(values), self.name)

    def varying(self, left: Any, right: Any) -> Floats:
        """k(left_i, right_j) − c, (m, n) in float64, with a constant c that any centring takes out again.

        c is the value of rows without length: 1 for the Gaussian. What varies about it would be lost where k is kept in
        float32 and γ is small.
        """
        if self.name == "rbf":
            left, right = left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)
            return _gaussian(left, right, self.gamma, np.expm1)
        values = self(left, right)
        values -= self._of_nothing()
        return values

    def varying_diagonal(self, rows: Any) -> Floats:
        """k(x_i, x_i) − c, (m,) in float64."""
        return self.diagonal(rows) - (1.0 if self.name == "rbf" else self._of_nothing())

    def _of_nothing(self) -> float:
        if self.name == "poly" and self.coef0 > 0:
            return float(self.coef0**self.degree)
        return float(np.tanh(self.coef0)) if self.name == "sigmoid" else 0.0

    def diagonal(self, rows: Any) -> Floats:
        """k(x_i, x_i), (m,) in float64, without the other pairs."""
        if callable(self.name):
            own = (rows[[i]] if issparse(rows) else rows[i] for i in range(rows.shape[0]))
            values = np.array([self.name(row, row, **self.params) for row in own], dtype=np.float64)
            return _finite(values, self.name)
        squares = _squared_lengths(rows)
        if self.name == "rbf":
            return np.ones(len(squares))
        if self.name == "cosine":
            return np.where(squares > 0, 1.0, 0.0)
        if self.name == "linear":
            return squares
        with np.errstate(over="ignore", invalid="ignore"):
            inner = (self.gamma or 0.0) * squares + self.coef0
            return _finite(inner**self.degree if self.name == "poly" else np.tanh(inner), self.name)


def _squared_lengths(rows: Any) -> Floats:
    from sklearn.utils.extmath import row_norms

    return np.asarray(row_norms(rows.astype(np.float64, copy=False), squared=True))


def _gaussian(left: Any, right: Any, gamma: float | None, exponential: np.ufunc) -> Floats:
    values = _squared_distances(left, right)
    values *= -(gamma or 0.0)
    return np.asarray(exponential(values, out=values))


def _squared_distances(left: Any, right: Any) -> Floats:
    """|x − y|² (m, n) as |x|² + |y|² − 2 x·y, and where that cancels from differences."""
    if issparse(left):
        from sklearn.metrics.pairwise import euclidean_distances

        return np.asarray(euclidean_distances(left, right, squared=True))
    center = right.mean(axis=0)  # shorter rows round less
    near_left, near_right = left - center, right - center
    sizes = _squared_lengths(near_left), _squared_lengths(near_right)
    values = np.empty((len(left), len(right)), dtype=np.result_type(left, right))
    longest = float(sizes[1].max(initial=0.0))

    def work(part: slice) -> None:
        block = np.matmul(near_left[part], near_right.T, out=values[part])
        block *= -2.0
        block += sizes[0][part, None].astype(block.dtype)
        block += sizes[1].astype(block.dtype)
        # those that may cancel are few: looked for with one bound for each row, and then one for each pair
        i, j = np.nonzero(block < (_CANCELS * (sizes[0][part] + longest))[:, None])
        near = block[i, j] < _CANCELS * (sizes[0][part][i] + sizes[1][j])
        i, j = i[near], j[near]
        for some in blocks(len(i), max(1, _ENTRIES_PER_BLOCK // left.shape[1])):
            away = left[part][i[some]].astype(np.float64) - right[j[some]]
            block[i[some], j[some]] = np.einsum("ij,ij->i", away, away)

    for part in blocks(len(left), max(1, _ENTRIES_PER_PASS // len(right))):
        work(part)
    return values


def default_gamma(name: KernelFunction, X: Any, mass: Floats | None = None) -> float | None:
    """1/(2σ²) with σ² the total variance of the rows (of this mass) for the Gaussian, 1/columns for the others."""
    if name == "rbf":
        return gamma_of(_total_variance(X) if mass is None else _weighted_variance(X, mass / mass.sum()))
    return 1.0 / X.shape[1] if name in _USES_GAMMA else None


def gamma_of(variance: float) -> float:
    """That of the Gaussian for rows of this total variance."""
    return 1.0 / (2.0 * variance) if variance > 0 else 1.0


def _total_variance(X: Any) -> float:
    if not issparse(X):
        return float(X.var(axis=0, dtype=np.float64).sum())
    X = X.astype(np.float64)
    return float((np.asarray(X.power(2).mean(axis=0)) - np.asarray(X.mean(axis=0)) ** 2).sum())


def _weighted_variance(X: Any, shares: Floats) -> float:
    mean = shares @ X
    if issparse(X):
        return max(float(shares @ X.astype(np.float64).power(2).sum(axis=1) - mean @ mean), 0.0)
    return float(shares @ np.square(X - mean).sum(axis=1))


def check_kernel(K: Any) -> None:
    """One sentence for whatever makes a matrix no kernel matrix."""
    if issparse(K):
        raise InputError(
            "kernel='precomputed' got a sparse matrix, but the centred kernel is dense: pass K.toarray() if it fits "
            "into memory."
        )
    if K.shape[0] != K.shape[1]:
        raise InputError(
            f"kernel='precomputed' needs a square matrix of kernel values, but got {K.shape[0]} x {K.shape[1]}: pass "
            "k(x_i, x_j) for all pairs of training rows."
        )
    difference = np.abs(K - K.T)
    rounding = max(1e-8, 100 * float(np.finfo(K.dtype).eps))
    if difference.max() > rounding * float(np.abs(K).max()):
        i, j = np.unravel_index(int(np.argmax(difference)), K.shape)
        raise InputError(
            f"the kernel is not symmetric: entry ({i}, {j}) is {K[i, j]:.6g} and entry ({j}, {i}) is "
            f"{K[j, i]:.6g}; use (K + K.T) / 2 if both mean the same value."
        )


def _finite(values: Floats, name: Any) -> Floats:
    if not np.isfinite(values).all():
        raise InputError(
            f"the kernel function {getattr(name, '__name__', name)!r} returned NaN or infinity for some pair of "
            "rows: it must give a finite number for every pair; change its parameters or scale the rows."
        )
    return values
