"""A Gram matrix that is at hand: K = P B Pᵀ, with B stored once and the centring done on the way.

    P = I − 1 cᵀ with Σ c = 1;    K_ij = B_ij − (B c)_i − (B c)_j + cᵀ B c;    K c = 0

B is a kernel function's values (less a constant, of which nothing is left), or −½ times squared distances. Where
B_ij = ⟨x_i, x_j⟩ (or −½|x_i − x_j|²) the centre Σ c_i x_i becomes the origin: K_ij = ⟨x_i − Σ c x, x_j − Σ c x⟩. Any
such c keeps K positive semidefinite if any does, for zᵀ K z = (Pᵀz)ᵀ B (Pᵀz) and Pᵀz sums to 0. By default c is the
share of each vertex in the data rows: the mean, in which a vertex that stands for m rows counts m times. Burges,
section 2.2.1.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from gramfold.errors import InputError
from gramfold.kernels.streamed import StreamedMatrix
from gramfold.runtime.memory import require_room
from gramfold.runtime.threads import blocks, in_blocks
from gramfold.types import DISTANCES, Floats, Integers, Kernel

_ENTRIES_PER_BLOCK = 100_000  # of a matrix that is raised to float64, or changed, a block at a time: they stay in cache


@dataclass(frozen=True, repr=False)
class GramKernel(Kernel):
    """See the module. `means` B c and `grand_mean` cᵀ B c are what a new row is centred with."""

    array: Floats | StreamedMatrix = field(metadata=DISTANCES)  # (n, n) symmetric, in the storage dtype, or streamed
    scale: float  # B = scale · array
    means: Floats  # (n,)
    grand_mean: float
    mass: Floats
    center: Floats  # (n,) the weights c
    null: Floats  # (n, 1) c / mass: K M null = 0
    rows: Integers
    exponent: float = 0.5
    kind: Literal["gram"] = "gram"
    landmarks: Integers | None = None  # (n,) the vertices that the kernel is over; None: all of them
    all_values: Any = field(
        default=None, metadata=DISTANCES
    )  # (n_vertices, n) where there are landmarks: what `array` holds, of every vertex

    @property
    def constant(self) -> float:
        """What a repair added to the distances."""
        return 0.0

    @property
    def everybody(self) -> Any:
        """`array` values (n_vertices, n) of every vertex against those of the kernel, who are all but for landmarks."""
        return self.array if self.all_values is None else self.all_values

    def for_new_values(self) -> Self:
        """What `cross` and `gains` of new values read."""
        return self.without("array", "all_values", "null", "rows")

    def for_new_walks(self) -> Self:
        """The same, and the squared walks of everybody."""
        return self.without("null", "rows", *([] if self.all_values is None else ["array"]))

    def product(self, vectors: Floats) -> Floats:
        """P B Pᵀ V."""
        vectors = np.asarray(vectors, dtype=np.float64)
        sums = vectors.sum(axis=0)  # (p,)
        plain = self.uncentered(vectors)
        return np.asarray(plain - np.outer(self.means, sums) - (self.means @ vectors - self.grand_mean * sums))

    def uncentered(self, vectors: Floats) -> Floats:
        """B V."""
        return self.scale * times(self.array, vectors)

    @property
    def streamed(self) -> bool:
        return isinstance(self.array, StreamedMatrix)

    def forget(self) -> None:
        if isinstance(self.array, StreamedMatrix):
            self.array.forget()

    @property
    def near(self) -> Floats | None:
        known = self.array.remembered if isinstance(self.array, StreamedMatrix) else None
        if known is None:
            return None
        mass = self.mass[:, None]  # known is M V, and before it c
        return np.divide(known[:, 1:], mass, out=np.zeros_like(known[:, 1:]), where=mass > 0)

    def matrix(self) -> Floats:
        """The centred matrix, in float64."""
        return self.cross(self.whole_array())

    def whole_array(self) -> Floats:
        """`array`, of which a streamed one is computed for once."""
        if not isinstance(self.array, StreamedMatrix):
            return self.array
        n = len(self.array)
        require_room(16.0 * n * n, f"the kernel of {n:,} rows as a matrix", "use its products or columns")
        return self.array[:]

    def dense(self) -> Floats:
        if self.streamed:
            raise InputError(
                f"the kernel of {len(self.rows):,} rows was fitted with storage='stream', which computes its entries "
                "for each product and stores none: use kernel_.columns(rows) or kernel_ @ vectors, or fit with "
                "storage='memory'."
            )
        return super().dense()

    def columns(self, rows: Integers) -> Floats:
        if not self.streamed:
            return super().columns(rows)
        return np.asarray(self.cross(self.array[self.rows[rows]]).T[self.rows])  # without a pass over all

    def squared_distances(self, rows: Integers, columns: Integers | None = None) -> Floats:
        if not self.streamed or columns is not None:
            return super().squared_distances(rows, columns)
        rows, diagonal = np.atleast_1d(np.asarray(rows)), self._diagonal()[self.rows]
        return np.asarray(diagonal[rows][:, None] + diagonal[None, :] - 2.0 * self.columns(rows).T)

    def cross(self, fresh: Floats) -> Floats:
        """Centred kernel values (m, n) of new rows from their uncentred ones (or squared distances)."""
        values = self.scale * np.asarray(fresh, dtype=np.float64)
        values -= (values @ self.center)[:, None]
        values -= self.means[None, :] - self.grand_mean
        return values

    def cross_times(self, fresh: Floats, weights: Floats) -> Floats:
        """cross(fresh) @ weights, without forming the centred values."""
        both = self.scale * (fresh @ np.column_stack([weights, self.center]))
        own_means = both[:, -1:]
        return np.asarray(both[:, :-1] - own_means * weights.sum(axis=0) - (self.means - self.grand_mean) @ weights)

    def gains(self, fresh: Floats, eigenvalues: Floats) -> Floats | float:
        """What the projections (m, p) of new rows are multiplied with."""
        return self.gain(eigenvalues)

    def gain(self, eigenvalues: Floats) -> Floats | float:
        """The same of rows that are no training rows, (p,)."""
        return 1.0

    def slopes(self, fresh: Floats) -> Floats | float:
        """Derivatives of what is centred with respect to `fresh`."""
        return self.scale

    def offset(self) -> float:
        """Size of what the centring takes out of B, ‖B 1‖ / ‖1‖ over the data rows: products round relative to it.

        Weights of both signs may take out less, or far more: the larger counts. Entries that were rounded to float32
        when they were stored are as a sum that takes out so much more, over their number.
        """
        total, share = self.mass.sum(), self.mass / self.mass.sum()
        taken = np.abs(self.means)
        if not np.array_equal(self.center, share):
            taken = np.maximum(taken, np.abs(self.uncentered(share[:, None]).ravel()))
        largest = float(taken.max()) or 1.0  # whose square may overflow
        out = largest * float(np.sqrt(total * (self.mass @ (taken / largest) ** 2)))
        coarser = float(np.finfo(self.everybody.dtype).eps / np.finfo(np.float64).eps)
        return max(out, coarser / float(total) * max(out, abs(self.trace())))

    def trace(self) -> float:
        """Trace over the data rows."""
        return float(self.mass @ self._diagonal())

    def _diagonal(self) -> Floats:
        """Of the centred matrix, (n,)."""
        return np.asarray(self.scale * self.array.diagonal().astype(np.float64) - 2 * self.means + self.grand_mean)


def centered_gram(
    array: Floats | StreamedMatrix,
    *,
    scale: float = 1.0,
    mass: Floats | None = None,
    rows: Integers | None = None,
    center: Floats | None = None,
) -> GramKernel:
    """The centred Gram matrix of `scale · array`; `array` is kept, not copied.

    `center` holds the weights c of the point that becomes the origin; None is the mean over the data rows.
    """
    n = len(array)
    mass = np.ones(n) if mass is None else mass
    center = mass / mass.sum() if center is None else center
    with np.errstate(over="ignore", invalid="ignore"):
        means = scale * times(array, center[:, None]).ravel()
    if not np.isfinite(means).all():
        raise InputError(
            f"squared distances or kernel values overflow {array.dtype}: divide X by a constant"
            f"{', or pass float64 rows' if array.dtype == np.float32 else ''}."
        )
    return GramKernel(
        array=array,
        scale=scale,
        means=means,
        grand_mean=float(center @ means),
        mass=mass,
        center=center,
        null=(center / mass)[:, None],
        rows=np.arange(n) if rows is None else rows,
    )


def landmark_gram(all_values: Any, landmarks: Integers, mass: Floats, scale: float = -0.5) -> GramKernel:
    """The kernel of landmarks, from the values (n_vertices, n_landmarks) of all vertices against them.

    Squared distances, or others:  K = −½ H D_ℓ² H,  any point: y = −½ Λ^-½ Vᵀ (d²(x, ·) − means of D_ℓ²). de Silva,
    Tenenbaum, NIPS 15 (2003); Burges, section 2.2.3.
    """
    own = all_values[landmarks].astype(np.float64)
    gram = centered_gram(0.5 * (own + own.T), scale=scale, mass=mass[landmarks])  # float32 rounds the two ways apart
    return replace(gram, all_values=all_values, landmarks=landmarks)


def square_in_place(distances: Floats) -> Floats:
    """Squares that overflow are left for `centered_gram` to tell of."""
    with np.errstate(over="ignore"):
        return np.square(distances, out=distances)


def times(array: Floats | StreamedMatrix, vectors: Floats, change: Callable[[Floats], Floats] | None = None) -> Floats:
    """The product in float64, whatever the storage; with `change`, of the array whose blocks went through it."""
    if isinstance(array, StreamedMatrix):
        return array.times(vectors, change)
    out = np.empty((len(array), vectors.shape[1]))
    plain = array.dtype == np.float64 and change is None

    def work(rows: slice) -> None:
        if plain:
            np.matmul(array[rows], vectors, out=out[rows])
            return
        for some in blocks(rows.stop - rows.start, max(1, _ENTRIES_PER_BLOCK // array.shape[1])):
            part = slice(rows.start + some.start, rows.start + some.stop)
            block = array[part].astype(np.float64)
            np.matmul(block if change is None else change(block), vectors, out=out[part])

    in_blocks(work, len(array), float(array.size) if plain else 4.0 * array.size)
    return out
