"""How far two maps, or two kernels, of the same rows agree.

    maps:     1 − (tr Σ)² / (|Y|² |Z|²), what no rotation, reflection, scale and shift of Y explains of Z (alignment.py)
    kernels:  tr(HKH·HLH) / √(tr(HKH)² · tr(HLH)²), the cosine between two centred Gram matrices

Schönemann, Carroll, Psychometrika 35 (1970); Cortes, Mohri, Rostamizadeh, JMLR 13 (2012).
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from gramfold.alignment import similarity
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.randomness import drawn_from
from gramfold.diagnostics.refits import check_whole
from gramfold.diagnostics.rows_kernel import EXACT_ROWS, PROBES, RowsKernel, TakenRows
from gramfold.embedding.reading import check_finite, coordinates_of
from gramfold.errors import InputError
from gramfold.neighbors.columns import numeric_table, require_one_order
from gramfold.spectral.traces import sampled_inner_products
from gramfold.types import Floats

_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
_LEAST_PROBES = 8  # fewer have no interval worth the name


def procrustes(Y: Any, Z: Any) -> Measure:
    """Disparity of two maps of the same rows, after the best rotation, reflection, scale and shift.

    Parameters
    ----------
    Y : array-like of shape (n_rows, n_components), or fitted estimator
        A map: coordinates, or an estimator with the attribute `embedding_`. Rows with NaN are left out.
    Z : array-like of shape (n_rows, n_components), or fitted estimator
        Another map of the same rows, or their true coordinates.

    Returns
    -------
    disparity : Measure
        `value` between 0 (the maps are similar in the sense of geometry) and 1 (nothing of one is in the other): the
        share of the variance of Z that is not explained, the same if Y and Z are exchanged; it is that of
        `scipy.spatial.procrustes` and the square of `alignment_.misfit`. `per_point` is the residual of each row, its
        squared distance on the aligned map from its place on Z over the mean squared distance of these from their mean;
        `value` is the mean of these.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.diagnostics import procrustes
    >>> Y = np.random.default_rng(0).normal(size=(100, 2))
    >>> turned = 3.0 * Y @ np.array([[0.0, 1.0], [1.0, 0.0]]) + 5.0
    >>> bool(procrustes(Y, turned).value < 1e-12)
    True
    """
    require_one_order(Y, Z, ("Y", "Z"))
    first, second = _coordinates(Y, "Y"), _coordinates(Z, "Z")
    if first.shape != second.shape:
        raise InputError(
            f"Y has shape {first.shape} and Z {second.shape}, but disparity is of two maps of the same rows and "
            "dimensions: pass as many rows and columns of both."
        )
    n, kept = len(first), np.flatnonzero(~np.isnan(first).any(axis=1) & ~np.isnan(second).any(axis=1))
    if len(kept) < 2:
        raise InputError(
            f"{len(kept)} of {n} rows have coordinates on both maps, and so few have no shape: pass at least 2 such "
            "rows."
        )
    here, there = _unit_cloud(first[kept], "Y"), _unit_cloud(second[kept], "Z")
    if np.abs(here.T @ there).max() <= _ROUNDING:  # no rotation is better than another, and none explains anything
        return Measure(1.0, None, _spread_out(len(kept) * np.sum(there**2, axis=1), kept, n))
    every = np.arange(len(kept))
    alignment, _ = similarity(here, there, np.column_stack([every, every]))
    shares = len(kept) * alignment.residuals**2  # of clouds of size 1: their mean is the squared misfit
    return Measure(float(min(1.0, shares.mean())), None, _spread_out(shares, kept, n))


def kernel_alignment(first: Any, second: Any, *, probes: int | None = None, random_state: Any = 0) -> Measure:
    """Centred kernel alignment of two models or kernels of the same rows: the cosine between their Gram matrices.

    Parameters
    ----------
    first, second : fitted estimator, Kernel, or array-like of shape (n_rows, n_rows)
        A model with the attribute `kernel_`, such a kernel, or a matrix of kernel values. Rows that only one of them
        has kernel values of (other connected components, rows that are no landmarks) are left out, and both are centred
        on the rows that are left. Copies of a row are rows.
    probes : int, default=None
        Number of random vectors, 8 to as many as rows, for an estimate with a 95% interval. None: exact up to 2,000
        rows, an estimate from 60 above. No n × n matrix is made for an estimate but those that a model already has.
    random_state : int, RandomState instance or None, default=0
        Of the random vectors.

    Returns
    -------
    alignment : Measure
        `value` is 1 for kernels that differ by a factor and a shift of the origin; at least 0 for positive semidefinite
        kernels. An indefinite one, such as that of Isomap, may give less. There is no `per_point`.

    Examples
    --------
    >>> from gramfold import Isomap, KernelIsomap, LLE
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.diagnostics import kernel_alignment
    >>> X = make_s_curve(300, random_state=0).points
    >>> isomap = Isomap().fit(X)
    >>> bool(kernel_alignment(isomap, KernelIsomap().fit(X)).value > 0.95)
    True
    """
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and first.shape != second.shape:
        raise InputError(
            f"the kernels have shapes {first.shape} and {second.shape}, and nothing says which rows they have in "
            "common: pass matrices of the same rows."
        )
    left, right = _over_common_rows(RowsKernel.of(first, "first"), RowsKernel.of(second, "second"))
    n = len(left.places)
    if probes is None and n <= EXACT_ROWS:
        return _exact(left.matrix(), right.matrix())
    count = PROBES if probes is None else _read_probes(probes, n)
    found = sampled_inner_products(
        left.product,
        right.product,
        n,
        np.hstack([left.leading, right.leading]),
        count,
        drawn_from(random_state),
    )
    both, one, other = found.values
    _require_size(one, other)
    value = float(both / np.sqrt(one * other))
    error = found.error(value * np.array([1.0 / both if both else 0.0, -0.5 / one, -0.5 / other]))
    return Measure(min(value, 1.0), (max(value - error, -1.0), min(value + error, 1.0)))


def _read_probes(probes: Any, n: int) -> int:
    count = check_whole(probes, "probes", _LEAST_PROBES)
    if count > max(n, _LEAST_PROBES):
        raise InputError(
            f"probes={count:,} random vectors are more than the {n:,} rows in common, with which the value would be "
            f"exact: use probes <= {max(n, _LEAST_PROBES)}."
        )
    return count


def _exact(K: Floats, L: Floats) -> Measure:
    sizes = [float(np.abs(one).max(initial=0.0)) for one in (K, L)]
    _require_size(*sizes)
    K, L = K / sizes[0], L / sizes[1]  # whose squares may overflow
    return Measure(float(np.clip(np.vdot(K / np.linalg.norm(K), L / np.linalg.norm(L)), -1.0, 1.0)))


def _require_size(one: float, other: float) -> None:
    for size, which in ((one, "first"), (other, "second")):
        if not size > 0:
            raise InputError(
                f"the {which} kernel is constant over the rows in common, so it has no direction: pass one of rows "
                "that differ."
            )


def _over_common_rows(first: RowsKernel, second: RowsKernel) -> tuple[TakenRows, TakenRows]:
    common = np.intersect1d(first.rows, second.rows)
    if len(common) < 2:
        raise InputError(
            f"the kernels have {len(common)} rows in common, which say nothing of their agreement: pass kernels of the "
            "same rows."
        )
    return first.taken(common), second.taken(common)


def _coordinates(given: Any, name: str) -> Floats:
    table = numeric_table(coordinates_of(given, name), least_rows=1, name=name, dense_for="procrustes")
    places: Floats = check_array(table, dtype=np.float64, ensure_all_finite=False, input_name=name)
    check_finite(places, name, allow_missing=True)
    return places


def _unit_cloud(points: Floats, name: str) -> Floats:
    """Centred on their mean, with a sum of squares of 1."""
    points = points / (np.abs(points).max() or 1.0)  # whose squares may overflow
    centered = points - points.mean(axis=0)
    size = float(np.linalg.norm(centered))
    if size <= _ROUNDING * np.sqrt(len(points)):
        raise InputError(
            f"the {len(points):,} rows with coordinates on both maps all lie at one point of {name}, which has no "
            "shape: pass a map of rows that are apart."
        )
    return np.asarray(centered / size)


def _spread_out(values: Floats, kept: Any, n: int) -> Floats:
    found = np.full(n, np.nan)
    found[kept] = values
    return found
