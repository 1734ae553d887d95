"""Functions on the whole data space whose combinations are a map: y(x) = vᵀ z(x).

    linear:    z(x) = x − origin
    mixture:   z(x) stacks p_k(x) · [U_kᵀ (x − μ_k); 1] over kernels k,  p_k(x) ∝ exp(−|x − μ_k|²/2σ²),  Σ_k p_k = 1

A mixture has an affine map for each kernel and blends them. Far from every centre the nearest alone answers, by its
plane. z is sparse: kernels whose responsibility is below rounding are left out. With f_k the affine map of kernel k the
derivative of Σ p_k f_k is  Σ p_k ∇f_k + Σ p_k f_k (μ_k − μ̄) / σ²,  μ̄ = Σ p_k μ_k.
A kernel sees only directions in which its own rows differ (`seen_axes`): along any other its slope would be fitted to
rows of which it has a share of a millionth, and a new row that is all its own would be thrown a million times as far.
Brand, IJCAI 2003, section 3.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import CENTERS, Floats, Integers

_ENTRIES_PER_BLOCK = 2_000_000
_LEAST_SHARE = 1e-8  # of the largest responsibility: what is below is far from every place that it could change
_SPACING_SHARE = 0.25  # width / spacing of the centres: more bridges neighbouring sheets, less makes hard borders
MARGIN = 0.5  # of the extent of what a kernel has seen, by which a map may leave it
_MEMBERS = 500  # rows that a kernel's principal axes are found from, at most
_OWN_SHARE = 0.02  # of a row, from which on it is a kernel's own
_LEAST_VARIANCE = 1e-12  # of a direction, relative to the kernel's largest in units of its columns' own spread
_ROUNDING = 64  # in units of the largest value of a column: what varies less does not vary


class Basis(Protocol):
    """z of any rows."""

    @property
    def size(self) -> int:
        """Number r of functions."""

    def __call__(self, rows: Floats) -> Any:
        """The values z (b, r) at these rows, dense or CSR, in float64."""

    def units(self, sizes: Floats) -> Floats:
        """What to measure the functions in, if these (r,) are their root sums of squares: no unit of theirs matters."""

    def slopes(self, rows: Any, coefficients: Floats) -> Floats:
        """Derivatives (b, p, d) of the combinations zᵀ v at these rows, for coefficients v (r, p)."""


@dataclass(frozen=True)
class LinearBasis:
    """z(x) = x − origin."""

    origin: Floats  # (d,)

    @classmethod
    def about(cls, points: Any) -> Self:
        """With the mean of these rows for origin, which loses fewest digits."""
        # rounding of the mean of a column that does not vary would be taken for variation
        if issparse(points):
            least, most = (np.asarray(end.toarray()).ravel() for end in (points.min(axis=0), points.max(axis=0)))
            return cls(np.where(least == most, least, points.mean(axis=0, dtype=np.float64)))
        constant = (points == points[0]).all(axis=0)
        return cls(np.where(constant, points[0], points.mean(axis=0, dtype=np.float64)))

    @property
    def size(self) -> int:
        return len(self.origin)

    def __call__(self, rows: Any) -> Floats:
        # a block of sparse rows is dense about the origin
        return np.asarray((rows.toarray() if issparse(rows) else rows) - self.origin, dtype=np.float64)

    def units(self, sizes: Floats) -> Floats:
        return sizes

    def slopes(self, rows: Any, coefficients: Floats) -> Floats:
        return np.broadcast_to(coefficients.T, (rows.shape[0], *coefficients.T.shape))


@dataclass(frozen=True)
class MixtureBasis:
    """See the module."""

    centers: Floats = field(metadata=CENTERS)  # (m, d) μ
    width: float  # σ
    axes: Floats | None = None  # (m, d, l) U; None: all d
    turned: Any = None  # (m,) kernels whose axes are combinations, in units of their rows' spread; None: no kernel

    @property
    def size(self) -> int:
        return len(self.centers) * self.block

    def units(self, sizes: Floats) -> Floats:
        if self.turned is None:
            return sizes
        # combinations that vary little are no columns in a small unit: they stay small, beside p_k · 1
        units = sizes.reshape(len(self.centers), self.block).copy()
        units[self.turned] = units[self.turned, -1:]
        return units.ravel()

    @property
    def block(self) -> int:
        """Functions of one kernel."""
        return 1 + int(self.centers.shape[1] if self.axes is None else self.axes.shape[2])

    def __call__(self, rows: Floats) -> csr_array:
        shares = self.responsibilities(rows)
        who, kernel = np.repeat(np.arange(len(rows)), np.diff(shares.indptr)), shares.indices
        local = np.ones((len(who), self.block))
        local[:, :-1] = self._local(rows, who, kernel)
        local *= shares.data[:, None]
        columns = kernel[:, None].astype(np.intp) * self.block + np.arange(self.block)
        return csr_array(
            (local.ravel(), columns.ravel(), shares.indptr.astype(np.intp) * self.block), shape=(len(rows), self.size)
        )

    def slopes(self, rows: Any, coefficients: Floats) -> Floats:
        shares, (m, d) = self.responsibilities(rows), self.centers.shape
        who, kernel = np.repeat(np.arange(len(rows)), np.diff(shares.indptr)), shares.indices
        by_kernel = coefficients.reshape(m, self.block, -1)  # (m, l + 1, p)
        turned = by_kernel[:, :-1] if self.axes is None else self.axes @ by_kernel[:, :-1]  # (m, d, p) ∇f
        found = np.asarray(shares @ turned.reshape(m, -1)).reshape(len(rows), d, -1).transpose(0, 2, 1).copy()
        local, values = self._local(rows, who, kernel), np.empty((len(who), coefficients.shape[1]))
        for some in beats(blocks(len(who), max(1, _ENTRIES_PER_BLOCK // by_kernel[0].size))):
            theirs = by_kernel[kernel[some]]
            values[some] = np.einsum("bl,blp->bp", local[some], theirs[:, :-1]) + theirs[:, -1]  # f
        middle = shares @ self.centers
        over = 1.0 / max(self.width * self.width, float(np.finfo(np.float64).tiny))
        for axis, column in enumerate((shares.data[:, None] * values).T):
            pulls = csr_array((column, shares.indices, shares.indptr), shape=shares.shape)
            found[:, axis] += over * (pulls @ self.centers - np.asarray(pulls.sum(axis=1))[:, None] * middle)
        return found

    def responsibilities(self, rows: Floats) -> csr_array:
        """The shares p (b, m), each row summing to 1."""
        # 2σ² may be inf (all kernels alike) or vanish (the nearest alone): only what is kept is divided by it
        unit = max(2.0 * self.width * self.width, float(np.finfo(np.float64).tiny))
        logs = _minus_squares(rows, self.centers)
        logs -= logs.max(axis=1, keepdims=True)
        who, kernel = np.nonzero(logs >= np.log(_LEAST_SHARE) * unit)
        shares = np.exp(logs[who, kernel] / unit)
        counts = np.bincount(who, minlength=len(rows))
        shares /= np.bincount(who, weights=shares, minlength=len(rows))[who]
        return csr_array((shares, kernel, np.concatenate(([0], np.cumsum(counts)))), shape=logs.shape)

    def _local(self, rows: Floats, who: Integers, kernel: Integers) -> Floats:
        """U_kᵀ (x − μ_k) of each of these pairs."""
        if self.axes is None:
            return np.asarray(rows[who] - self.centers[kernel], dtype=np.float64)
        local = np.empty((len(who), self.axes.shape[2]))
        order = np.argsort(kernel, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(kernel[order])) + 1):
            if pairs.size:
                local[pairs] = self.local(rows[who[pairs]], kernel[pairs[0]])
        return local

    def local(self, rows: Floats, k: int) -> Floats:
        """U_kᵀ (x − μ_k) of these rows."""
        away = np.asarray(rows - self.centers[k], dtype=np.float64)
        return away if self.axes is None else np.asarray(away @ self.axes[k])


@dataclass(frozen=True)
class WithConstant:
    """z with a 1 appended, so that the constant is in its span."""

    basis: Basis

    @property
    def size(self) -> int:
        return self.basis.size + 1

    def units(self, sizes: Floats) -> Floats:
        return np.append(self.basis.units(sizes[:-1]), sizes[-1])

    def slopes(self, rows: Any, coefficients: Floats) -> Floats:
        return self.basis.slopes(rows, coefficients[:-1])

    def __call__(self, rows: Floats) -> Any:
        z, ones = self.basis(rows), np.ones((rows.shape[0], 1))
        if not issparse(z):
            return np.hstack([z, ones])
        from scipy.sparse import hstack

        return csr_array(hstack([z, csr_array(ones)], format="csr"))


@dataclass(frozen=True)
class Guard:
    """Keeps a divisor u(x) away from 0 at new rows: it is at least `least` times the size of z(x).

    That is half of the least u(x) / |z(x)| of the training rows, of which none is changed. A row and its multiples have
    the same z / u, so that |z| and not u alone decides.
    """

    units: Floats  # (r,) what the functions are measured in: their root mean squares
    least: float

    def divisors(self, z: Floats, u: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """What to divide by, (b,), and where that is not u."""
        floor = self.least * self.sizes(z)
        changed = ~(u > floor)
        return np.where(changed, np.where(floor > 0, floor, 1.0), u), changed

    def toward(self, z: Floats) -> Floats:
        """Derivative (r,) of the floor by the functions of one row."""
        inverse = np.divide(1.0, self.units, out=np.zeros_like(self.units), where=self.units > 0)
        size = float(np.linalg.norm(z * inverse))
        return np.asarray(self.least * z * inverse**2 / size) if size > 0 else np.zeros_like(z)

    def sizes(self, z: Floats) -> Floats:
        """|z|, (b,)."""
        scaled = np.divide(z, self.units, out=np.zeros_like(z), where=self.units > 0)
        return np.asarray(np.linalg.norm(scaled, axis=1))


@dataclass(frozen=True)
class Reweighted:
    """z(x) / u(x) with u(x) = firstᵀ z(x), so that `first` gives the constant 1 exactly."""

    basis: Basis
    first: Floats  # (r,)
    guard: Guard | None = None  # where z is dense and u may vanish at new rows

    @property
    def size(self) -> int:
        return self.basis.size

    def units(self, sizes: Floats) -> Floats:
        return self.basis.units(sizes)

    def __call__(self, rows: Floats) -> Any:
        z = self.basis(rows)
        u = z @ self.first
        if not issparse(z):
            return z / (u if self.guard is None else self.guard.divisors(z, u)[0])[:, None]
        return csr_array((z.data / np.repeat(u, np.diff(z.indptr)), z.indices, z.indptr), shape=z.shape)

    def slopes(self, rows: Any, coefficients: Floats) -> Floats:
        z = self.basis(rows)
        above = self.basis.slopes(rows, np.column_stack([coefficients, self.first]))
        above, below, u = above[:, :-1], above[:, -1:].copy(), z @ self.first
        if self.guard is not None:
            u, changed = self.guard.divisors(z, u)
            for row in np.flatnonzero(changed):
                below[row] = self.basis.slopes(rows[[row]], self.guard.toward(z[row])[:, None])[0]
        return np.asarray((above - ((z @ coefficients) / u[:, None])[:, :, None] * below) / u[:, None, None])

    def unlike(self, rows: Floats) -> NDArray[np.bool_]:
        """Rows (b,) at which u is so near 0, or negative, that something else is divided by."""
        if self.guard is None:
            return np.zeros(len(rows), dtype=bool)
        z = self.basis(rows)
        return self.guard.divisors(z, z @ self.first)[1]


def constant_of(basis: Basis) -> Floats | None:
    """The coefficients (r,) of the constant 1, if it is known to be a combination of the functions."""
    if isinstance(basis, MixtureBasis):
        return np.tile(np.eye(basis.block)[-1], len(basis.centers))  # Σ p_k = 1
    if isinstance(basis, WithConstant):
        return np.asarray(np.arange(basis.size) == basis.size - 1, dtype=np.float64)
    return np.asarray(basis.first) if isinstance(basis, Reweighted) else None


def in_line(centers: Floats) -> Integers:
    """An order of the centres in which those near each other are mostly near: along their longest direction."""
    moved = centers - centers.mean(axis=0)
    return np.argsort(moved @ np.linalg.svd(moved, full_matrices=False)[2][0], kind="stable")


def lower_ends(ends: Floats, shares: csr_array, values: Floats) -> None:
    """Lower `ends` (m, p) to the least of the values (b, p) of the rows that each kernel has a share (b, m) of."""
    by_kernel = shares.tocsc()
    some = np.flatnonzero(np.diff(by_kernel.indptr))
    if some.size:
        ends[some] = np.minimum(ends[some], np.minimum.reduceat(values[by_kernel.indices], by_kernel.indptr[some]))


def spacing_width(centers: Floats) -> float:
    """The default σ: a quarter of the mean distance from a centre to the nearest other."""
    if len(centers) < 2:
        return 1.0  # alone it is responsible for everybody at any width
    nearest = np.empty(len(centers))
    for part in beats(blocks(len(centers), max(1, _ENTRIES_PER_BLOCK // len(centers)))):
        squares = -_minus_squares(centers[part], centers)
        squares[np.arange(len(squares)), np.arange(part.start, part.stop)] = np.inf
        nearest[part] = np.sqrt(np.maximum(squares.min(axis=1), 0.0))
    return _SPACING_SHARE * float(nearest.mean()) or 1.0


def nearest_centers(points: Floats, numbers: Integers, centers: Floats) -> Integers:
    """The number (n,) of the centre nearest to each of the rows `points[numbers]`."""
    owner = np.empty(len(numbers), dtype=np.intp)
    for part in beats(blocks(len(numbers), max(1, _ENTRIES_PER_BLOCK // max(centers.shape)))):
        owner[part] = _minus_squares(points[numbers[part]], centers).argmax(axis=1)
    return owner


def principal_axes_of(points: Floats, numbers: Integers, centers: Floats, owner: Integers, count: int) -> Floats:
    """U (m, d, l): the leading directions of the rows of each centre about it, zeros where they have fewer.

    `owner` has the centre of each of the rows `points[numbers]`.
    """
    m, d = centers.shape
    axes = np.zeros((m, d, count))
    order = np.argsort(owner, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(owner[order])) + 1):
        k = owner[members[0]]
        some = members[np.linspace(0, len(members) - 1, min(len(members), _MEMBERS)).astype(np.intp)]
        _, sizes, directions = np.linalg.svd(points[numbers[some]] - centers[k], full_matrices=False)
        real = min(count, int((sizes > np.finfo(np.float64).eps * len(some) * sizes[0]).sum()))
        axes[k, :, :real] = directions[:real].T
    return axes


def seen_axes(basis: MixtureBasis, points: Floats, numbers: Integers) -> MixtureBasis:
    """The same kernels without the directions in which the rows `points[numbers]` that are their own do not differ."""
    m, width = len(basis.centers), basis.block - 1
    if not width:
        return basis
    own = _own_rows(basis, points, numbers)
    directions = [_varying(basis, points[own[k]], k) for k in range(m)]  # (l, l') of the kernel's functions; None: all
    if all(found is None for found in directions):
        return basis
    count = max(width if found is None else found.shape[1] for found in directions)
    axes = np.zeros((m, basis.centers.shape[1], count))
    for k, found in enumerate(directions):
        before = np.eye(width) if basis.axes is None else basis.axes[k]
        after = before if found is None else before @ found
        axes[k, :, : after.shape[1]] = after
    return replace(basis, axes=axes, turned=np.array([found is not None for found in directions]))


def _own_rows(basis: MixtureBasis, points: Floats, numbers: Integers) -> list[Integers]:
    """The rows of the table that are each kernel's own."""
    kernels, rows = [], []
    for part in beats(blocks(len(numbers), max(1, _ENTRIES_PER_BLOCK // max(basis.centers.shape)))):
        shares = basis.responsibilities(points[numbers[part]])
        own = shares.data >= _OWN_SHARE
        kernels.append(shares.indices[own])
        rows.append(np.repeat(numbers[part], np.diff(shares.indptr))[own])
    kernel, row = np.concatenate(kernels), np.concatenate(rows)
    order = np.argsort(kernel, kind="stable")
    return np.split(row[order], np.cumsum(np.bincount(kernel, minlength=len(basis.centers)))[:-1])


def _varying(basis: MixtureBasis, rows: Floats, k: int) -> Floats | None:
    """Combinations (l, l') of a kernel's local coordinates in which these rows differ; None if they do in all."""
    width = basis.block - 1
    if not len(rows):
        return np.zeros((width, 0))
    local = basis.local(rows, k)
    local -= local.mean(axis=0)
    largest = np.abs(rows).max(axis=0).astype(np.float64)
    rounding = (
        _ROUNDING * np.finfo(rows.dtype).eps * (largest if basis.axes is None else largest @ np.abs(basis.axes[k]))
    )
    spread = np.sqrt(np.square(local).mean(axis=0))
    varies = spread > rounding
    unit = np.where(varies, spread, np.inf)
    local /= unit
    if len(local) > width:
        values, vectors = np.linalg.eigh(local.T @ local)
    else:
        values, vectors = np.linalg.svd(local, full_matrices=False)[1:]
        values, vectors = np.square(values), vectors.T
    kept = values > _LEAST_VARIANCE * values.max()
    if kept.sum() == width:
        return None
    return np.asarray(vectors[:, kept] / unit[:, None])


def _minus_squares(rows: Floats, centers: Floats) -> Floats:
    """−|x − μ|², (b, m), in float64."""
    origin = centers.mean(axis=0)  # rows far from 0 would lose digits
    rows, centers = rows - origin, centers - origin
    values = (2.0 * rows) @ centers.T
    values -= np.square(rows).sum(axis=1)[:, None]
    values -= np.square(centers).sum(axis=1)
    return np.asarray(values)
