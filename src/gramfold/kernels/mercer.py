"""Repairs: the nearest ways to make any dissimilarities those of points in a Euclidean space.

With K(A) = −½ H A H the kernel K(D²) has negative eigenvalues where no space has the distances D.

    clip      K₊ = K − its negative part: the nearest positive semidefinite matrix
    shift     K~ = K + a H,                     d~² = d² + 2a off the diagonal;  a = −λmin(K)
    constant  K~ = K(D²) + 2c K(D) + ½c² H,     d~ = d + c off the diagonal;     c = c*

c* is the smallest c ≥ 0 that serves, and every larger one serves too: where d is Euclidean so are √d and d + c. For a
unit vector u the form uᵀ K~ u = ½c² + 2c uᵀK(D)u + uᵀK(D²)u has the larger root c_u, and c* is the largest of them
(Cailliez: the eigenvalue of largest real part of [[0, 2K(D²)], [−I, −4K(D)]]). So the lowest eigenvector of K~ at a
c below c* gives a root above c, and never above c*: steps that only grow and converge quadratically.

A new row x is at d + c from everybody, and so from a training row that it is very near to, which itself is at 0 from
itself: what a repair adds to K is b H, b = a or ½c², and a row's own share of it. Without that share a training row
would come to (λ − b) v λ^-½ in place of λ v λ^-½. So the projection of a new row is multiplied by λ / (λ − b), and
passes over into the places of training rows without a jump.

All of it goes through products with the stored squares; roots are taken a block at a time.

Cailliez, Psychometrika 48 (1983); Lingoes, Psychometrika 36 (1971); Choi, Choi, Mercer kernel Isomap, eqs (3)–(5).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Literal, Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from gramfold.errors import InputError, NotConvergedError
from gramfold.kernels.gram import GramKernel, centered_gram, times
from gramfold.kernels.opening import opened_gram
from gramfold.kernels.streamed import StreamedMatrix
from gramfold.kernels.streamed_repair import streamed_constant, streamed_shift
from gramfold.runtime.progress import beat
from gramfold.spectral.arpack import SEEDED
from gramfold.types import Floats, Integers

Repair = Literal["clip", "shift", "constant"]

# Clipping needs all eigenvectors: so many n × n matrices of float64 beside the stored squares, while it runs.
CLIP_MATRICES = 4
# A lowest eigenvalue this near to 0, relative to the largest, is not negative.
_ZERO = 1e-12
# Accuracy of lowest eigenvectors, relative to the largest eigenvalue: the error of their roots is its square.
_ROUGH, _FINE = 1e-5, 1e-8
# Each search starts from the vector found before, and this much of a random one, which holds what that may lack.
_RANDOM_PART = 0.1
_SUBSPACE = 32
_STEPS = 40
# A new row this near to a training row, relative to the distances, is that row: some metrics round there.
_SAME = 1e-10
# At most by so much a new row is lengthened: along directions that the repair has made little is known of it.
_MOST_GAIN = 4.0


@dataclass(frozen=True, repr=False)
class RepairedGram(GramKernel):
    """The kernel of d~² = (d + constant)² + 2·shift off the diagonal, plus what clipping gave back.

    `array` keeps the squares before the repair, from which new points walk.
    """

    constant: float = 0.0
    shift: float = 0.0
    dropped: Floats | None = None  # (n, q) the negative part of K is −dropped droppedᵀ

    def unrepaired(self) -> GramKernel:
        """The kernel before its repair."""
        return centered_gram(self.array, scale=-0.5, mass=self.mass, center=self.center, rows=self.rows)

    def for_new_values(self) -> Self:
        return replace(super().for_new_values().without("dropped"), array=self.array)  # see `_vertex_of`

    def for_new_walks(self) -> Self:
        return replace(super().for_new_walks().without("dropped"), array=self.array)

    def product(self, vectors: Floats) -> Floats:
        product = super().product(vectors)
        return product if self.dropped is None else product + self.dropped @ (self.dropped.T @ vectors)

    def uncentered(self, vectors: Floats) -> Floats:
        vectors = np.asarray(vectors, dtype=np.float64)
        return _raised_product(self.array, vectors, self.constant, self.shift)

    def matrix(self) -> Floats:
        squared = np.array(self.whole_array(), dtype=np.float64)
        squared += 2 * self.constant * np.sqrt(squared) + self.raised
        np.fill_diagonal(squared, 0.0)
        whole = super().cross(squared)
        return whole if self.dropped is None else whole + self.dropped @ self.dropped.T

    def cross(self, fresh: Floats) -> Floats:
        """Of new rows from their squared distances before the repair; what is at distance 0 stays there."""
        return super().cross(self._repaired_squares(fresh))

    def cross_times(self, fresh: Floats, weights: Floats) -> Floats:
        return super().cross_times(self._repaired_squares(fresh), weights)

    def _repaired_squares(self, fresh: Floats) -> Floats:
        squared = np.array(fresh, dtype=np.float64)
        squared += 2 * self.constant * np.sqrt(squared) + self.raised
        vertex = self._vertex_of(fresh)
        known = np.flatnonzero(vertex >= 0)
        squared[known, vertex[known]] = fresh[known, vertex[known]]
        return squared

    def _vertex_of(self, fresh: Floats) -> Integers:
        """(m,) the vertex that each row is, -1 where it is new; of several at one place that which sees as it does."""
        fresh = np.asarray(fresh, dtype=np.float64)
        near = fresh <= _SAME**2 * fresh.mean(axis=1, keepdims=True)
        vertex = np.where(near.any(axis=1), near.argmax(axis=1), -1)
        for row in np.flatnonzero(near.sum(axis=1) > 1):
            some = np.flatnonzero(near[row])
            vertex[row] = some[np.abs(self.array[some] - fresh[row]).max(axis=1).argmin()]
        return vertex

    def gains(self, fresh: Floats, eigenvalues: Floats) -> Floats | float:
        gain = self.gain(eigenvalues)
        return gain if self.raised == 0 else np.where(self._vertex_of(fresh)[:, None] < 0, gain, 1.0)

    def gain(self, eigenvalues: Floats) -> Floats | float:
        own = 0.5 * self.raised  # b
        if own == 0:
            return 1.0
        return np.asarray(1.0 / np.maximum(1.0 - own / np.maximum(eigenvalues, own), 1.0 / _MOST_GAIN))

    def slopes(self, fresh: Floats) -> Floats | float:
        if self.constant == 0:
            return self.scale
        lengths = np.sqrt(fresh)
        over = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return np.asarray(self.scale * (1.0 + self.constant * over))  # of (d + c)² over that of d²

    def trace(self) -> float:
        given_back = 0.0 if self.dropped is None else float(self.mass @ np.square(self.dropped).sum(axis=1))
        return super().trace() + given_back

    @property
    def raised(self) -> float:
        """d~² of two different points at distance 0: c² + 2a."""
        return self.constant * self.constant + 2 * self.shift


def mercer_gram(
    squared: Floats | StreamedMatrix,
    repair: Repair | None,
    *,
    mass: Floats | None = None,
    center: Floats | None = None,
    rows: Integers | None = None,
) -> GramKernel:
    """The centred kernel of squared dissimilarities, repaired as asked; `squared` is kept, not copied."""
    if isinstance(squared, StreamedMatrix):
        return _streamed_gram(squared, repair, mass, center)
    gram = centered_gram(squared, scale=-0.5, mass=mass, center=center, rows=rows)
    if repair is None:
        return gram
    if repair == "clip":
        return clipped(gram)
    c = additive_constant(squared) if repair == "constant" else 0.0
    a = smallest_shift(squared) if repair == "shift" else 0.0
    return _raised(gram, c, a)


def check_streamed(repair: Repair | None) -> None:
    """Refuse a repair that needs more than products."""
    if repair == "clip":
        raise InputError(
            "repair='clip' needs all eigenvectors of the n x n matrix, which storage='stream' never has: use "
            "repair='constant' or 'shift', or another storage."
        )


def _streamed_gram(
    squared: StreamedMatrix, repair: Repair | None, mass: Floats | None, center: Floats | None
) -> GramKernel:
    """The same of squares that are not stored."""
    check_streamed(repair)
    if repair is None:
        return opened_gram(squared, -0.5, mass, center)
    c = streamed_constant(squared) if repair == "constant" else 0.0
    a = streamed_shift(squared) if repair == "shift" else 0.0
    return _raised(opened_gram(squared, -0.5, mass, center, WithRoots(c) if c else None), c, a)


def _raised(gram: GramKernel, c: float, a: float) -> RepairedGram:
    """With c added to the distances and 2a to their squares."""
    w = gram.center
    means = _raised_product(gram.array, w[:, None], c, a).ravel()
    return _repaired(
        replace(gram, means=means, grand_mean=float(w @ means)),
        constant=c,
        shift=a,
    )


def clipped(gram: GramKernel) -> RepairedGram:
    """The gram without its negative part; the leading directions, and so the map, stay as they are."""
    root = np.sqrt(gram.mass)[:, None]
    values, vectors = eigh(root * gram.matrix() * root.T, overwrite_a=True)
    negative = values < 0
    return _repaired(gram, dropped=vectors[:, negative] * np.sqrt(-values[negative]) / root)


def additive_constant(squared: Floats) -> float:
    """c*: the smallest c ≥ 0 that makes d + c Euclidean."""
    n, top = len(squared), _size(squared)
    c = 0.0
    if top == 0:
        return c
    u: Floats = np.zeros((n, 1))
    for accuracy in (_ROUGH, _FINE):  # the last rounds are the proof
        for _ in range(_STEPS):
            u = _lowest_vector(squared, c, top, accuracy, u)
            plain, rooted = _form(squared, u), _form(squared, u, np.sqrt)
            if plain + 2 * c * rooted + 0.5 * c * c >= -_ZERO * top:
                break
            # uᵀ K~ u < 0 at c, so the roots are real and the larger lies above c (products: a power of two in the
            # lengths then is one in c, to the bit)
            c = -2 * rooted + float(np.sqrt(4 * rooted * rooted - 2 * plain))
        else:
            raise NotConvergedError(
                f"the additive constant of {n} x {n} dissimilarities did not converge in {_STEPS} iterations (now "
                f"{c:.6g}): use repair='shift', which needs no iteration."
            )
    return c


def smallest_shift(squared: Floats) -> float:
    """−λmin of the kernel, 0 where it is not negative: the smallest that makes d² + 2a Euclidean."""
    top = _size(squared)
    return max(0.0, -_form(squared, _lowest_vector(squared, 0.0, top, _FINE))) if top else 0.0


def _repaired(gram: GramKernel, **found: object) -> RepairedGram:
    kept = {one.name: getattr(gram, one.name) for one in fields(gram)}
    return RepairedGram(**{**kept, **found})


@dataclass(frozen=True)
class WithRoots:
    """d² + 2c d in the place of d²."""

    c: float

    def __call__(self, block: Floats) -> Floats:
        roots = np.sqrt(block)
        roots *= 2 * self.c
        block += roots
        return block


def _raised_product(squared: Floats | StreamedMatrix, vectors: Floats, c: float, a: float) -> Floats:
    """−½ D~² V with d~² = (d + c)² + 2a off the diagonal."""
    plain = times(squared, vectors, WithRoots(c) if c else None)
    return np.asarray(-0.5 * (plain + (c * c + 2 * a) * (vectors.sum(axis=0) - vectors)))


def _lowest_vector(squared: Floats, c: float, top: float, accuracy: float, near: Floats | float = 0.0) -> Floats:
    """The unit vector, summing to 0, at which K~(c) is lowest."""

    def flipped(v: Floats) -> Floats:
        # 2 top·H − K~: the lowest comes first, accuracy is relative to the largest, and the uniform vector stays at 0
        beat()
        v = v - v.mean(axis=0)
        v = 2 * top * v - _raised_product(squared, v, c, 0.0)
        return np.asarray(v - v.mean(axis=0)) * unit

    n, unit = len(squared), 2.0 ** -int(np.frexp(top)[1])  # ARPACK rounds otherwise at another size
    start = near + _RANDOM_PART / np.sqrt(n) * np.random.default_rng(n).standard_normal((n, 1))
    operator = LinearOperator((n, n), matvec=lambda v: flipped(v.reshape(-1, 1)).ravel(), dtype=np.float64)
    try:
        u = eigsh(operator, 1, which="LA", v0=start.ravel(), tol=accuracy, ncv=min(n, _SUBSPACE), **SEEDED)[1]
    except ArpackError as error:
        raise NotConvergedError(
            f"the smallest eigenvalue of {n} x {n} dissimilarities did not converge, because others are nearly equal: "
            "use repair='clip', which computes all eigenvalues."
        ) from error
    u -= u.mean()
    return np.asarray(u / np.linalg.norm(u))


def _form(squared: Floats, u: Floats, change: Callable[[Floats], Floats] | None = None) -> float:
    """uᵀ K(D²) u for u that sums to 0; with `change=np.sqrt`, uᵀ K(D) u."""
    return -0.5 * float((u.T @ times(squared, u, change)).item())


def _size(squared: Floats) -> float:
    """The trace of the kernel, ½ Σ d² / n: at least of the order of its largest eigenvalue."""
    return 0.5 * float(times(squared, np.ones((len(squared), 1))).mean())
