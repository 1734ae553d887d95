"""The constants of repairs (mercer.py) where squares are not stored: by a block of vectors in each pass over them.

In the span of an orthonormal basis Q, whose columns sum to 0, the form of the repaired kernel is

    A + 2c B + ½c² I,    A = Qᵀ K(D²) Q,  B = Qᵀ K(D) Q,  K(S) = −½ H S H

and c, the smallest at which it has no negative eigenvalue there, grows with the basis to c*. Both images of Q come
from one pass. The basis grows by the residuals of the lowest eigenvectors (block Davidson, for one c block Lanczos)
until that of the lowest is small: the error of c is of the order of its square. With B = 0, −λmin(A) is the shift.
"""

from dataclasses import dataclass

import numpy as np

from gramfold.errors import NotConvergedError
from gramfold.kernels.streamed import StreamedMatrix
from gramfold.types import Floats

_SEED = 19830612
_BLOCK = 24  # vectors of a pass
_MOST_BLOCKS, _KEPT_BLOCKS = 10, 3  # of a basis, before and after it is replaced by its lowest vectors
_MOST_PASSES = 200
_ACCURACY = 1e-7  # of the residual, relative to the largest eigenvalue
_ZERO = 1e-12  # a lowest eigenvalue this near to 0, relative to the largest, is not negative
_STEPS = 40
_ROUNDS, _OUTSIDE = 5, 1e-12  # of the orthogonalisation


def streamed_constant(squared: StreamedMatrix) -> float:
    """c*: the smallest c ≥ 0 that makes d + c Euclidean."""
    return _lowest(squared, rooted=True)


def streamed_shift(squared: StreamedMatrix) -> float:
    """−λmin of the kernel, 0 where it is not negative: the smallest that makes d² + 2a Euclidean."""
    return _lowest(squared, rooted=False)


@dataclass(frozen=True, eq=False)
class _Span:
    """An orthonormal basis and its images."""

    basis: Floats  # (n, m)
    plain: Floats  # (n, m) K(D²) Q
    rooted: Floats  # (n, m) K(D) Q; zeros where only squares are raised

    def with_block(self, other: "_Span") -> "_Span":
        pairs = (
            (self.basis, other.basis),
            (self.plain, other.plain),
            (self.rooted, other.rooted),
        )
        return _Span(*(np.hstack(pair) for pair in pairs))

    def turned(self, turn: Floats) -> "_Span":
        return _Span(self.basis @ turn, self.plain @ turn, self.rooted @ turn)


def _lowest(squared: StreamedMatrix, *, rooted: bool) -> float:
    n = len(squared)
    width = min(_BLOCK, n - 1)
    newest = _centered(np.random.default_rng(_SEED).standard_normal((n, width)))
    span = _images(squared, np.linalg.qr(newest)[0], rooted)
    for _ in range(_MOST_PASSES):
        A, B = _form(span.basis, span.plain), _form(span.basis, span.rooted)
        top = float(np.abs(np.linalg.eigvalsh(A)).max())
        if top == 0:
            return 0.0
        c = _constant(A, B, top) if rooted else 0.0
        values, turn = np.linalg.eigh(A + 2 * c * B)
        low = span.turned(turn[:, : min(_KEPT_BLOCKS * width, len(values))])
        residuals = low.plain + 2 * c * low.rooted - low.basis * values[: low.basis.shape[1]]
        if np.linalg.norm(residuals[:, 0]) <= _ACCURACY * top or span.basis.shape[1] >= n - 1:
            return c if rooted else max(0.0, -float(values[0]))
        if span.basis.shape[1] >= _MOST_BLOCKS * width:
            span = low
        newest = _beyond(span.basis, residuals[:, : min(width, n - 1 - span.basis.shape[1])])
        span = span.with_block(_images(squared, newest, rooted))
    raise NotConvergedError(
        f"the constant that makes the distances of {n:,} rows Euclidean did not converge in {_MOST_PASSES} passes (now "
        f"{c:.6g}): use repair=None, or landmarks."
    )


def _images(squared: StreamedMatrix, basis: Floats, rooted: bool) -> _Span:
    found = squared.passed(basis, [None, np.sqrt] if rooted else [None])
    images = [-0.5 * _centered(one) for one in found]
    return _Span(basis, images[0], images[1] if rooted else np.zeros_like(basis))


def _constant(A: Floats, B: Floats, top: float) -> float:
    """The smallest c ≥ 0 at which A + 2c B + ½c² I has no negative eigenvalue, as in `additive_constant`."""
    c = 0.0
    for _ in range(_STEPS):
        u = np.linalg.eigh(A + 2 * c * B)[1][:, 0]
        plain, rooted = float(u @ A @ u), float(u @ B @ u)
        if plain + 2 * c * rooted + 0.5 * c * c >= -_ZERO * top:
            break
        c = -2 * rooted + float(np.sqrt(4 * rooted * rooted - 2 * plain))
    return c


def _form(basis: Floats, images: Floats) -> Floats:
    form = basis.T @ images
    return np.asarray(0.5 * (form + form.T))


def _centered(vectors: Floats) -> Floats:
    return np.asarray(vectors - vectors.mean(axis=0))


def _beyond(basis: Floats, vectors: Floats) -> Floats:
    """An orthonormal basis of what the vectors have outside of the span; its columns sum to 0.

    Where that is nothing of one, rounding makes a direction, which may lead back into the span: then once more.
    """
    for _ in range(_ROUNDS):
        vectors = np.linalg.qr(_centered(vectors - basis @ (basis.T @ vectors)))[0]
        inside = max(np.abs(basis.T @ vectors).max(), np.abs(vectors.sum(axis=0)).max())
        if inside < _OUTSIDE:
            break
    return vectors
