"""The axes of largest variance, by whoever finds them soonest.

    C = (1/n) Σ (x − mean)(x − mean)ᵀ;    C e = λ e;    or, where columns outnumber rows,  K v = nλ v,  e = Fᵀ v / √(nλ)

A matrix that is small is made. Where both are large, products with the rows find a few axes that stand out, and where
none does, the smaller matrix finds them yet. Squares carry half the digits: an axis along which the rows vary 1e-5
times as much as along the first is found from the rows themselves, by QR and the singular vectors of R.
Burges, section 1.1 and the remark on that matrix in its conclusion.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import diags_array, issparse

from gramfold.errors import InputError, NotConvergedError
from gramfold.kernels.linear import (
    LinearGram,
    linear_gram,
    mean_and_scatter,
    mean_of,
    project,
    pull,
    shifted,
    squared_spread,
)
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.spectral.block_lanczos import block_lanczos
from gramfold.spectral.dense import leading_eigenpairs
from gramfold.spectral.krylov import largest_eigenpairs
from gramfold.spectral.policy import gram_rounding
from gramfold.types import Floats

Solver = Literal["auto", "covariance_eigh", "full", "arpack", "gram"]
_NARROW = 1_000  # columns up to which the whole covariance matrix is decomposed without a thought
_SHORT = 2_000  # rows up to which, where columns are more, the Gram matrix is
SMALL_SIDE = 5_000  # rows or columns up to which such a matrix is made where products do not converge
_NEARLY_ALL = 0.8  # share of the directions from which on it is cheapest to find them all
Moments = tuple[Floats, Floats]  # mean (d,) and Σ (x − mean)(x − mean)ᵀ (d, d)
_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 4 * _EPS
CARRIED = 1e-10  # of the largest eigenvalue: those below it are little but the rounding of their matrix
_ABOVE_ROUNDING = 2.0  # how far coordinates along an axis stand out of the rounding of their rows
_BLOCK_SIDES = 4  # rows of a block beside its columns, so that QR of it costs little more than that of all rows
_ENTRIES_PER_BLOCK = 1_000_000
FIRST_AXES = 50  # that are looked at first where a share of the variance is asked of a large table
_ORDINARY = (1e-6, 1e6)  # sizes at which nobody asks whether rows have squares, in float32 either


@dataclass(frozen=True)
class PrincipalAxes:
    """The leading axes of some rows."""

    mean: Floats  # (d,)
    axes: Floats  # (d, p), orthonormal
    variances: Floats  # (p,) λ, descending: mean squares, not n − 1
    total: float  # Σ of all λ
    solver: str
    scatter: Floats | None = None  # (d, d) nC, where it was made; n is the mass of all rows
    proved: bool = False  # whether every axis was found to stand out of rounding, however small its variance

    def leading(self, count: int) -> Self:
        """Only the first `count`."""
        return replace(self, axes=self.axes[:, :count], variances=self.variances[:count])

    @property
    def shares(self) -> Floats:
        """Of each axis in the total variance."""
        return np.asarray(self.variances / (self.total or 1.0))


def principal_axes(
    rows: Any,
    count: int,
    solver: Solver = "auto",
    n_jobs: int | None = None,
    moments: Moments | None = None,
    mass: Floats | None = None,
) -> PrincipalAxes:
    """The leading `count` axes of dense or sparse rows; `moments` are their mean and scatter, where known.

    `mass` (n,) is that of the rows; None: 1 each.
    """
    count = min(count, rows.shape[0] - 1, rows.shape[1])
    if solver == "auto":
        solver = _chosen(rows, count, mass) if moments is None else "covariance_eigh"
    return _resolved(rows, _from_products(rows, count, solver, n_jobs, moments, mass), count, solver, n_jobs, mass)


def axes_for_share(
    rows: Any,
    share: float,
    solver: Solver = "auto",
    n_jobs: int | None = None,
    moments: Moments | None = None,
    mass: Floats | None = None,
    *,
    small_side: int = SMALL_SIDE,
    first_axes: int = FIRST_AXES,
) -> PrincipalAxes:
    """The fewest leading axes that have this share of the total variance.

    All are found at once where rows or columns are at most `small_side`; else `first_axes`, and twice as many until
    these are enough.
    """
    n, d = rows.shape
    most = min(n, d) - 1 if solver == "arpack" else min(n - 1, d)
    count, chosen = min(first_axes, most), solver
    if min(n, d) <= small_side and solver != "arpack":  # the smaller matrix says all at once
        count = most
        chosen = ("covariance_eigh" if d <= n else "gram") if solver == "auto" else solver
    elif solver == "auto":
        chosen = "gram"
    while True:
        found = _from_products(rows, count, chosen, n_jobs, moments, mass)
        reached = np.flatnonzero(np.cumsum(found.shares) >= share * (1.0 - d * _EPS))
        if reached.size:
            enough = 1 + int(reached[0])
            return _resolved(rows, found.leading(enough), enough, chosen, n_jobs, mass)
        if count == most:
            if solver == "arpack":
                raise InputError(
                    f"svd_solver='arpack' cannot compute all components, and the largest possible number, {count} for "
                    f"a {n} x {d} table, explains {found.shares.sum():.4g} of the variance, less than "
                    f"n_components={share:g}: use svd_solver='auto'."
                )
            return _resolved(rows, found, count, chosen, n_jobs, mass)
        count = min(most, 2 * count)


def _from_products(
    rows: Any, count: int, solver: Solver, n_jobs: int | None, moments: Moments | None, mass: Floats | None
) -> PrincipalAxes:
    n, d = rows.shape
    whole = n if mass is None else float(mass.sum())
    if solver == "covariance_eigh" and not issparse(rows):
        return _by_covariance(whole, count, moments or mean_and_scatter(rows, n_jobs, mass))
    mean = mean_of(rows, n_jobs, mass)
    total = squared_spread(rows, mean, n_jobs, mass) / whole
    if total <= (_ROUNDING * float(np.linalg.norm(mean))) ** 2 and not _varies(rows, mean):
        return _no_axes(mean)
    if solver == "covariance_eigh" and mass is not None:
        return _by_covariance(whole, count, (mean, _sparse_scatter(rows, mean, mass)))
    if solver == "gram":
        return _by_gram(linear_gram(rows, mean, n_jobs=n_jobs, mass=mass), count, total)
    if mass is not None:
        raise InputError(
            f"svd_solver={solver!r} is scikit-learn's, which knows no sample_weight: use 'auto', 'covariance_eigh' or "
            "'gram'."
        )
    from sklearn.decomposition import PCA

    if issparse(rows) and solver == "full":
        raise InputError(
            f"svd_solver='full' would convert the sparse {n} x {d} table to a dense one: use 'auto', "
            "'covariance_eigh', 'arpack' or 'gram'."
        )
    if solver == "arpack" and count >= min(n, d):
        raise InputError(
            f"svd_solver='arpack' cannot compute all {count} components of a {n} x {d} table: use 'auto', or a "
            "smaller n_components."
        )
    wide = rows.astype(np.float64, copy=False) if issparse(rows) else rows - mean
    model = PCA(count, svd_solver=solver, copy=False, random_state=0).fit(wide)
    variances = model.explained_variance_ * ((n - 1) / n)
    return PrincipalAxes(mean, model.components_.T, variances, total, f"scikit-learn's PCA, {solver}")


def _sparse_scatter(rows: Any, mean: Floats, mass: Floats) -> Floats:
    """Σ m (x − mean)(x − mean)ᵀ of sparse rows with few columns."""
    rooted = diags_array(np.sqrt(mass)) @ rows.astype(np.float64)
    return np.asarray((rooted.T @ rooted).toarray() - mass.sum() * np.outer(mean, mean))


def _by_covariance(n: float, count: int, moments: Moments) -> PrincipalAxes:
    # scikit-learn's "covariance_eigh" takes n·mean meanᵀ off XᵀX, which leaves rounding where the mean is far, and sums
    # float32 rows in float32
    mean, scatter = moments
    total = float(np.trace(scatter)) / n
    if (np.diag(scatter) <= n * np.square(_ROUNDING * mean)).all():
        return _no_axes(mean)
    solver, values, axes = leading_eigenpairs(scatter, count)
    return PrincipalAxes(mean, axes, np.maximum(values, 0.0) / n, total, f"covariance, {solver}", scatter)


def _by_gram(gram: LinearGram, count: int, total: float) -> PrincipalAxes:
    n, d = gram.points.shape
    whole, root = float(gram.mass.sum()), np.sqrt(gram.mass)[:, None]

    def matrix() -> Floats:
        whole_matrix = gram.matrix()
        if not (root == 1).all():  # in place: n × n
            whole_matrix *= root
            whole_matrix *= root.T
        return whole_matrix

    def product(vectors: Floats) -> Floats:
        return root * gram.product(root * vectors)

    try:
        if n <= _SHORT or 4 * count > n:
            solver, values, vectors = leading_eigenpairs(matrix(), count)
        else:
            solver = "block Lanczos"
            values, vectors, _ = block_lanczos(product, n, count)
    except NotConvergedError:  # no axis stands out
        if d < n and d <= SMALL_SIDE and not issparse(gram.points):
            return _by_covariance(whole, count, mean_and_scatter(gram.points, gram.n_jobs, gram.mass))
        if n <= SMALL_SIDE:
            solver, values, vectors = leading_eigenpairs(matrix(), count)
        else:
            solver = "Lanczos (ARPACK)"
            values, vectors = largest_eigenpairs(product, n, count)
    # what rounding made is no direction
    real = values > max(gram_rounding(gram), _ROUNDING * n * float(values[0]))
    values, vectors = values[real], vectors[:, real]
    axes = pull(gram.points, gram.mean, root * vectors, gram.n_jobs) / np.sqrt(values)
    return PrincipalAxes(gram.mean, axes, values / whole, total, f"Gram side, {solver}")


def _resolved(
    rows: Any, found: PrincipalAxes, count: int, solver: Solver, n_jobs: int | None, mass: Floats | None
) -> PrincipalAxes:
    """The same axes, or, where products of the rows may have lost some of so many, those of the rows themselves."""
    if not _lacks_digits(rows, found, count):
        return found
    exact = found if solver == "full" else _from_rows(rows, found, count, n_jobs, mass)
    return _standing_out(rows, exact, n_jobs, mass)


def _lacks_digits(rows: Any, found: PrincipalAxes, count: int) -> bool:
    """Whether products of the rows may have lost an axis that the rows have."""
    variances = found.variances
    if issparse(rows) or min(rows.shape) > SMALL_SIDE or found.total == 0:
        return False
    return len(variances) < count or bool(variances[-1] < CARRIED * variances[0])


def _from_rows(
    rows: Floats, found: PrincipalAxes, count: int, n_jobs: int | None, mass: Floats | None
) -> PrincipalAxes:
    """The axes by QR of the centred rows or columns, the fewer, and the singular vectors of R."""
    n, d = rows.shape
    mean, whole = found.mean, n if mass is None else float(mass.sum())
    root = np.ones((n, 1)) if mass is None else np.sqrt(mass)[:, None]
    if d <= n:
        parts = shifted(rows, mean, slice(0, n), least=_BLOCK_SIDES * d)
        _, sizes, across = np.linalg.svd(triangle_of(part if mass is None else root[at] * part for at, part in parts))
        axes = across.T
    else:
        columns = blocks(d, _BLOCK_SIDES * n)
        turned, sizes, _ = np.linalg.svd(triangle_of((root * (rows[:, part] - mean[part])).T for part in columns).T)
        count = min(count, int((sizes > 0).sum()))
        # rounding leaves the leading axes in the others
        axes, R = np.linalg.qr(pull(rows, mean, root * turned[:, :count], n_jobs) / sizes[:count])
        axes *= np.sign(np.diag(R))
    variances, solver = np.square(sizes[:count]) / whole, "QR of the rows, then dense (LAPACK)"
    return replace(found, axes=axes[:, :count], variances=variances, solver=solver, scatter=None)


def _standing_out(rows: Floats, found: PrincipalAxes, n_jobs: int | None, mass: Floats | None) -> PrincipalAxes:
    """Only the axes along which the rows are more than the rounding of a decomposition, of each row and of the mean."""
    n, d = rows.shape
    own, shares = float(np.finfo(rows.dtype).eps), np.square(found.axes)
    places = project(rows, found.mean, found.axes, n_jobs)
    of_mean = np.square(found.mean) @ shares
    for part in beats(blocks(n, max(1, _ENTRIES_PER_BLOCK // d))):
        away = np.square(rows[part] - found.mean).sum(axis=1)
        # of the values in their own dtype, of the mean and of the axis in float64, along the axis each
        rounding = own**2 * (np.square(rows[part].astype(np.float64)) @ shares)
        rounding += _EPS**2 * (away[:, None] + of_mean)
        places[part] /= np.sqrt(np.where(rounding > 0, rounding, 1.0))
    shares = np.full(n, 1.0 / n) if mass is None else mass / mass.sum()
    real = shares @ np.square(places) > _ABOVE_ROUNDING**2
    real &= found.variances > (max(n, d) * _EPS) ** 2 * found.variances[0]
    real[0] = True  # rows that are all the same have none
    return replace(found, axes=found.axes[:, real], variances=found.variances[real], proved=True)


def triangle_of(parts: Iterable[Floats]) -> Floats:
    """R of the QR decomposition of rows that come in parts."""
    R: Any = None
    for part in parts:
        R = np.linalg.qr(part if R is None else np.vstack([R, part]), mode="r")
    return np.asarray(R)


def _varies(rows: Any, mean: Floats) -> bool:
    """Whether a column does, by more than the rounding of its own mean; sparse rows are not asked."""
    if issparse(rows):
        return False
    return bool((rows.max(axis=0).astype(np.float64) - rows.min(axis=0) > _ROUNDING * np.abs(mean)).any())


def _no_axes(mean: Floats) -> PrincipalAxes:
    return PrincipalAxes(mean, np.empty((len(mean), 0)), np.empty(0), 0.0, "none")


def is_narrow(rows: Any) -> bool:
    """Whether the covariance matrix is made without a thought."""
    n, d = rows.shape
    return bool(d <= min(n, _NARROW))


def are_ordinary(moments: Moments) -> bool:
    """Whether rows with this mean and scatter are all numbers, of a size that no model need measure in another unit."""
    mean, scatter = moments
    variance = float(np.diag(scatter).max())
    if not np.isfinite(variance):
        return False
    size = max(float(np.abs(mean).max()), float(np.sqrt(max(variance, 0.0))))
    return size == 0 or _ORDINARY[0] <= size <= _ORDINARY[1]


def _chosen(rows: Any, count: int, mass: Floats | None = None) -> Solver:
    n, d = rows.shape
    if is_narrow(rows):
        return "covariance_eigh"
    if count >= _NEARLY_ALL * min(n, d) and not issparse(rows) and mass is None:
        return "full"
    return "gram"
