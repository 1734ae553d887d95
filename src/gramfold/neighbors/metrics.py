"""Metrics: preparation of the rows for the search, and distances."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError
from gramfold.neighbors.duplicates import KnownRows
from gramfold.neighbors.plain_distances import pair_lengths, plain_pairs
from gramfold.neighbors.sparse_metric import prepared_rows, refuse_sparse, sparse_block, sparse_pairs
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Integers, Plain

SYNONYMS = {"l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock"}
_MINKOWSKI = {"cityblock": 1.0, "chebyshev": np.inf}
_PLAIN_POWER = 5.0  # up to which powers of differences neither overflow nor underflow where rows are in their unit
_ANGULAR = {"cosine", "correlation"}
_OF_SETS = {"jaccard", "hamming"}
# Metrics that SciPy would scale by the rows of each call; here they are scaled by the training rows.
_DATA_SCALED = {"seuclidean": "V", "mahalanobis": "VI"}
_SCALED = {"euclidean", "cityblock", "chebyshev", "minkowski"}
_SCALE_FREE = {"cosine", "correlation", "canberra", "braycurtis", "jensenshannon"}
_PAIRS_PER_BLOCK = 50_000
_ROWS_PER_BLOCK = 10_000
_LARGEST = 1e150  # beyond, squared differences overflow
_NEGATIVE = 1e-9  # share of the largest distance: one so little below 0 is rounding
_CONSTANT = 4.0  # roundings of its largest entry: a row that varies by less is constant

MetricName = str | Callable[[Floats, Floats], float]


@dataclass(frozen=True, eq=False)
class Metric(Plain):
    """One of four families: Euclidean (cosine and correlation too, on unit rows), Minkowski, any of SciPy, or "blocks".

    Those of the last are subclasses that compute all distances of a block of rows at once.

    In each of them equal rows are at distance 0, even where the formula would give a rounding error.
    """

    family: Literal["euclidean", "minkowski", "scipy", "blocks"]
    name: MetricName
    p: float = 2.0
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _angular(self) -> bool:
        return self.family == "euclidean" and self.name in _ANGULAR

    def prepare(self, X: Any) -> Any:
        """Rows as the search uses them: of unit length for cosine, and centred before that for correlation."""
        if issparse(X):
            return prepared_rows(X, self._angular)
        largest = float(max(X.max(initial=0), -X.min(initial=0)))
        if largest > _LARGEST and not callable(self.name):
            raise InputError(f"X holds values up to {largest:.1e}, whose distances overflow: divide X by a constant.")
        if not self._angular:
            return np.ascontiguousarray(X)
        units = np.empty(X.shape, dtype=X.dtype)
        lost: list[Integers] = []
        for part in blocks(len(X), _ROWS_PER_BLOCK):
            wide = X[part].astype(np.float64)
            size = np.abs(wide).max(axis=1, keepdims=True)  # so that no square overflows or underflows
            wide /= np.where(size > 0, size, 1.0)
            if self.name == "correlation":
                wide -= wide.mean(axis=1, keepdims=True)
            lengths = np.linalg.norm(wide, axis=1, keepdims=True)
            least = _CONSTANT * float(np.finfo(X.dtype).eps) if self.name == "correlation" else 0.0
            flat = np.abs(wide).max(axis=1) <= least
            lost.append(part.start + np.flatnonzero(flat))
            units[part] = wide / np.where(flat[:, None], 1.0, lengths)
        self._require_directions(np.concatenate(lost))
        return units

    def _require_directions(self, lost: Integers) -> None:
        if lost.size:
            what = "constant" if self.name == "correlation" else "all zeros"
            raise InputError(
                f"row {lost[0]} is {what} and has no direction ({lost.size} such rows), so its {self.name} distance is "
                "not defined: remove these rows or use another metric."
            )

    @property
    def loose(self) -> bool:
        """Whether rows that differ may be at distance 0."""
        return callable(self.name)

    def identity(self, rows: Floats) -> Floats:
        """Prepared rows, as they are compared to find equal ones."""
        return rows

    def middle(self, rows: Any) -> Floats:
        """A row (1, d) amid these."""
        return np.atleast_2d(np.asarray(rows.mean(axis=0)))

    def pairs(self, left: Any, i: Integers, right: Any, j: Integers, n_jobs: int | None) -> Floats:
        """Distances of the prepared rows left[i] and right[j], in float64 and from differences."""
        if issparse(left):
            return sparse_pairs(left, i, right, j, self._angular, n_jobs)
        out = np.empty(len(i))
        run_blocks(
            lambda part: self._pairs(left, i[part], right, j[part], out[part]), blocks(len(i), _PAIRS_PER_BLOCK), n_jobs
        )
        return out

    @property
    def searched_power(self) -> float:
        """The p of the distances that a tree is searched by; where they are not these, they are never larger.

        The largest difference is that of p = inf, whose powers nobody takes.
        """
        return self.p if self.p <= _PLAIN_POWER else np.inf

    def _pairs(self, left: Floats, i: Integers, right: Floats, j: Integers, out: Floats) -> None:
        if self.family == "minkowski":
            out[:] = self._lengths(left[i].astype(np.float64) - right[j])
            return
        if self.family == "scipy":
            for place, (a, b) in enumerate(zip(i, j, strict=True)):
                equal = np.array_equal(left[a], right[b])
                out[place] = 0.0 if equal else self._plain(left[[a]], right[[b]])[0, 0]
            return
        if plain_pairs(len(i), left.shape[1]):
            pair_lengths(left, i, right, j, out)
        else:
            from gramfold.neighbors import distance_kernels

            distance_kernels.pair_lengths(left, i, right, j, out)
        if self._angular:
            out[:] = 0.5 * out**2  # |u − v|² = 2 − 2 cos for unit rows

    def _lengths(self, differences: Floats) -> Floats:
        """(Σ |x|^p)^(1/p) of each row (b, d); of large p relative to its largest entry, whose power is 1."""
        if self.searched_power == self.p:
            return np.asarray(np.linalg.norm(differences, ord=self.p, axis=1))
        sizes = np.abs(differences)
        largest = sizes.max(axis=1, initial=0.0)
        sizes /= np.where(largest > 0, largest, 1.0)[:, None]
        with np.errstate(under="ignore"):
            return np.asarray(largest * np.maximum((sizes**self.p).sum(axis=1), 1.0) ** (1.0 / self.p))

    @property
    def approximable(self) -> bool:
        """Whether the approximate search knows vectors whose Euclidean distances have the order of this metric's."""
        return self.family == "euclidean"

    def vectors(self, rows: Floats) -> Floats:
        """These vectors, of prepared rows."""
        return rows

    def candidates(self, k: int) -> int:
        """How many of the nearest vectors are taken to find the k nearest rows: more where their order differs."""
        return k

    def search_length(self, distances: Floats | float) -> Floats | float:
        """Euclidean length between prepared rows that corresponds to a distance of this metric."""
        return np.sqrt(2.0 * np.asarray(distances)) if self._angular else distances

    def block(self, left: Any, right: Any) -> Floats:
        """All distances between two sets of raw rows, in float64."""
        if issparse(right):
            return sparse_block(left, right, self._angular)
        from scipy.spatial.distance import cdist

        if self.family == "minkowski" and self.searched_power == self.p:
            return np.asarray(cdist(left, right, "minkowski", p=self.p))
        if self.family == "minkowski":
            return np.stack([self._lengths(row - right) for row in left.astype(np.float64)])
        if self._angular:
            return np.asarray(0.5 * cdist(self.prepare(left), self.prepare(right), "sqeuclidean"))
        distances = self._plain(left, right)
        if self.family == "euclidean":  # of differences, which are 0 for equal rows
            return distances
        if len(left) < len(right):  # the fewer are sorted
            distances.T[KnownRows(left).pairs(right)] = 0.0
        else:
            distances[KnownRows(right).pairs(left)] = 0.0
        return distances

    def _computed(self, left: Floats, right: Floats) -> Floats:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(left, right, self.name, **self.params))

    def _plain(self, left: Floats, right: Floats) -> Floats:
        """Distances computed by SciPy, in float64 for a function of the user's too."""
        left, right = left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)
        # undefined distances are reported below; warnings of a user's function are not suppressed
        with nullcontext() if callable(self.name) else np.errstate(divide="ignore", invalid="ignore"):
            distances = self._computed(left, right)
        undefined = np.isnan(distances)
        if undefined.any():
            raise InputError(
                f"metric={self.name!r} is not defined for {int(undefined.sum())} of {distances.size} pairs of rows "
                "(some metrics are not defined for constant or all-zero rows): remove such rows or use another metric."
            )
        least = float(distances.min(initial=0.0))
        if least < -_NEGATIVE * float(distances.max(initial=0.0)):
            raise InputError(
                f"metric={self.name!r} gives {least:.3g} for some pair of rows: distances cannot be negative; convert "
                "similarities to distances, or use another metric."
            )
        return np.asarray(np.maximum(distances, 0.0, out=distances))


def degree(name: MetricName, params: Mapping[str, Any] | None) -> int | None:
    """Degree of homogeneity of the distances in the rows: 1 or 0, None where it is not known."""
    if callable(name):
        return None
    name = SYNONYMS.get(name.lower(), name.lower())
    if name in _SCALED or name == "precomputed" or _DATA_SCALED.get(name) in (params or {}):
        return 1
    return 0 if name in _SCALE_FREE or name in _DATA_SCALED else None


def reads_mixed(name: Any) -> bool:
    """Whether this metric is of tables of numbers, categories and gaps, which `mixed.py` reads."""
    return isinstance(name, str) and name.lower() == "gower"


def sees_units(name: Any) -> bool:
    """Whether a column counts by its unit: in sums of differences, which no metric but these is known to be."""
    return isinstance(name, str) and SYNONYMS.get(name.lower(), name.lower()) in _SCALED


def make_metric(name: MetricName, params: Mapping[str, Any] | None, X: Floats) -> Metric:
    """The metric of this name; variances or covariances that it needs are those of the training rows."""
    if params is not None and not isinstance(params, Mapping):
        raise InputError(
            f"metric_params={params!r} is a {type(params).__name__}, not parameters of a metric: pass a dict, such as "
            "{'p': 3}."
        )
    params = dict(params or {})
    if callable(name):
        if issparse(X):
            refuse_sparse(name)
        from gramfold.neighbors.blockwise import BlockMetric, Blockwise

        if isinstance(name, Blockwise):
            return BlockMetric.of(name, params)
        return Metric("scipy", name, params=params)
    if not isinstance(name, str):
        raise InputError(f"metric={name!r} is not a metric: pass its name, or a function of two rows.")
    name = SYNONYMS.get(name.lower(), name.lower())
    if name == "minkowski" and {"p": 2, **params} == {"p": 2}:
        name, params = "euclidean", {}
    if issparse(X) and (name not in {"euclidean", "cosine"} or params):
        refuse_sparse(name)
    if reads_mixed(name):
        from gramfold.neighbors.gower import Gower

        return Gower.of(params, X)
    if name in {"euclidean", *_ANGULAR} and not params:
        return Metric("euclidean", name)
    if name in _MINKOWSKI and not params:
        return Metric("minkowski", name, p=_MINKOWSKI[name])
    if name == "minkowski" and params.keys() <= {"p"}:
        p = params.get("p", 2.0)
        if not isinstance(p, Real) or not float(p) >= 1:  # NaN is no number of at least 1 either
            raise InputError(f"metric 'minkowski' with p={p!r} is not a distance: use p >= 1.")
        return Metric("minkowski", name, p=float(p))
    if name in _OF_SETS and not params:
        from gramfold.neighbors.binary import BinaryMetric, is_binary

        if is_binary(X):
            return BinaryMetric("scipy", name)
    if name in _DATA_SCALED:
        if _DATA_SCALED[name] not in params:
            params[_DATA_SCALED[name]] = _scale_of(name, X)
        _require_scales(name, params[_DATA_SCALED[name]], X.shape[1])
    metric = Metric("scipy", name, params=params)
    _try_once(metric, X)
    return metric


def missing_scale(name: MetricName, params: Mapping[str, Any] | None) -> str | None:
    """The parameter that is read off the training rows, where it was not given."""
    scale = _DATA_SCALED.get(name.lower()) if isinstance(name, str) else None
    return None if scale in (params or {}) else scale


def _require_scales(name: str, scales: Any, columns: int) -> None:
    """Refuse scales of another number of columns, beyond which SciPy would read."""
    needed = (columns, columns) if name == "mahalanobis" else (columns,)
    try:
        scales = np.asarray(scales, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{_DATA_SCALED[name]} of metric='{name}' does not hold numbers: pass an array of shape {needed}."
        ) from error
    if np.shape(scales) != needed:
        raise InputError(
            f"{_DATA_SCALED[name]} of metric='{name}' has shape {np.shape(scales)}, but X has {columns} columns: "
            f"pass an array of shape {needed}."
        )


def _try_once(metric: Metric, X: Floats) -> None:
    from scipy.spatial.distance import cdist

    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            cdist(X[:1], X[:1], metric.name, **metric.params)
    except (ValueError, TypeError) as error:
        reason = str(error).splitlines()[0].split(". ")[0]  # SciPy may list whole signatures
        raise InputError(
            f"metric={metric.name!r} with metric_params={dict(metric.params)} cannot be computed by SciPy ({reason}): "
            "use 'euclidean', 'cosine', 'precomputed', another metric of scipy.spatial.distance.cdist, or a function."
        ) from error


def _scale_of(name: str, X: Floats) -> Floats:
    if name == "seuclidean":
        spread = X.var(axis=0, ddof=1, dtype=np.float64)
        if not spread.all():
            raise InputError(
                f"column {int(np.flatnonzero(spread == 0)[0])} is constant, so metric 'seuclidean' divides by "
                "zero: remove it."
            )
        return np.asarray(spread)
    covariance = np.atleast_2d(np.cov(X, rowvar=False))
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if rank < len(covariance):
        raise InputError(
            f"the covariance of the rows is singular ({len(covariance)} columns, rank {rank}), but metric "
            "'mahalanobis' needs its inverse: pass metric_params={'VI': ...} or use fewer columns."
        )
    return np.linalg.inv(covariance)
