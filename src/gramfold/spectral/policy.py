"""The choice of an eigensolver: dense for few rows, block Lanczos for a gram, `sparse` for a penalty.

Every result is checked: ‖Ay − λy‖ ≤ max(tol·λ, 10·eps·‖A‖). A result that fails is never returned, but an error raised.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from gramfold.errors import NotConvergedError
from gramfold.runtime.costs import COSTS, Costs
from gramfold.spectral.block_lanczos import block_lanczos
from gramfold.spectral.canonical import canonical_signs, signs_of
from gramfold.spectral.dense import eigenpairs_between, symmetric_eigenpairs
from gramfold.spectral.krylov import lanczos, largest_of_any_sign
from gramfold.spectral.pencil import mass_root, null_basis, rounding_of, symmetric_penalty, symmetric_root
from gramfold.spectral.sparse import SparsePenalty, smallest_penalties
from gramfold.types import Floats, Kernel, Spectrum

TOLERANCE = 1e-6
# Of a streamed gram: the residual at which the search ends, relative to each eigenvalue, because training rows that are
# embedded as new ones differ by as much; vectors beyond those wanted; restarts.
_STREAMED_END, _STREAMED_SPARE, _STREAMED_RESTARTS = 1e-8, 14, 3
_EPS = float(np.finfo(np.float64).eps)


def leading_spectrum(kernel: Kernel, count: int, start: Floats | None = None, *, costs: Costs = COSTS) -> Spectrum:
    """The `count` leading eigenpairs of the kernel; `start` (n, ·) are vectors near them, from an earlier solve."""
    solve = _gram_spectrum if kernel.kind == "gram" else _penalty_spectrum
    return solve(kernel, count, start, costs)


def _gram_spectrum(kernel: Kernel, count: int, start: Floats | None, costs: Costs) -> Spectrum:
    started = perf_counter()
    root = mass_root(kernel)[:, None]
    n = len(root)
    rounding = gram_rounding(kernel)
    start = kernel.near if start is None and kernel.streamed else start
    if n <= costs.eigen.dense_gram_rows or 4 * count > n:
        solver = "dense (LAPACK)"
        matrix = root * kernel.matrix() * root.T
        values, vectors = eigenpairs_between(matrix, n - count, n - 1)
        values, vectors, norm = values[::-1], vectors[:, ::-1], _norm(matrix)
    else:

        def product(v: Floats) -> Floats:
            return root * kernel.product(root * v)

        near = None if start is None else root * start
        try:
            solver = "block Lanczos"
            if kernel.streamed:
                solver = "block Lanczos, streamed"
                values, vectors, norm = _by_few_products(product, n, count, near)
            else:
                values, vectors, norm = block_lanczos(product, n, count, start=near)
                misfit = gram_misfit(product(vectors), vectors, values)
                checked(misfit, np.abs(values), rounding + 10 * _EPS * norm, solver)
        except NotConvergedError:  # slowly decaying eigenvalues: restarts keep the basis small; or of very unlike sizes
            if kernel.streamed:  # ARPACK would take hundreds of passes
                raise
            solver = "Lanczos (ARPACK)"
            values, vectors = largest_of_any_sign(product, n, count, rounding=rounding)
            norm = float(np.abs(lanczos(product, n, 1, which="LM", tolerance=1e-3)[0][0]))
    kernel.forget()
    values = np.where(np.abs(values) > rounding, values, 0.0)  # rounding does not define a direction
    vectors = vectors * signs_of(vectors / root)  # as they are over the vertices, whatever these weigh
    misfit = gram_misfit(root * kernel.product(root * vectors), vectors, values)
    floor = rounding + 10 * _EPS * norm
    residuals = checked(misfit, np.abs(values), floor, solver)
    return Spectrum(
        eigenvalues=values,
        eigenvectors=vectors / root,
        residuals=residuals,
        solver=solver,
        seconds=perf_counter() - started,
        total=kernel.trace(),  # type: ignore[attr-defined]
    )


def _by_few_products(
    product: Callable[[Floats], Floats], n: int, count: int, near: Floats | None
) -> tuple[Floats, Floats, float]:
    """The leading eigenpairs of a streamed gram, each product with many vectors."""
    width = max(count + _STREAMED_SPARE, 0 if near is None else near.shape[1])
    return block_lanczos(
        product, n, count, relative=_STREAMED_END, start=near, spare=width - count, restarts=_STREAMED_RESTARTS
    )


def gram_rounding(kernel: Kernel) -> float:
    """Size of the rounding errors in the eigenvalues of a centred gram."""
    # A sum of n terms rounds by a few √n·eps of what is summed, and B may be far larger than its centred K.
    return float(4 * _EPS * np.sqrt(len(kernel.mass)) * kernel.offset())  # type: ignore[attr-defined]


def proved_spectrum(
    kernel: Kernel, coordinates: Floats, solver: str, started: float, misfit: Floats | None = None
) -> Spectrum:
    """The spectrum of a positive semidefinite gram from given eigenpairs, whose residuals are checked.

    `coordinates` (n, p) are V Λ^½ with canonical signs, over the vertices; `started` is when the work began; `misfit`
    is ‖A U − U Λ‖ of the symmetric form where known.
    """
    weighed = not (kernel.mass == 1).all()
    mass = kernel.mass[:, None]
    squares = np.einsum("np,np->p", coordinates, mass * coordinates if weighed else coordinates)
    values = np.minimum.accumulate(squares)  # equal ones may rise by rounding; what rises by more fails the proof
    vectors = coordinates / np.sqrt(squares)
    if misfit is None and weighed:
        misfit = gram_misfit(np.sqrt(mass) * kernel.product(mass * vectors), np.sqrt(mass) * vectors, values)
    elif misfit is None:
        misfit = gram_misfit(kernel.product(vectors), vectors, values)
    rounding = gram_rounding(kernel)
    return Spectrum(
        eigenvalues=values,
        eigenvectors=vectors,
        residuals=checked(misfit, values, max(rounding, 10 * _EPS * float(values.max(initial=0.0))), solver),
        solver=solver,
        seconds=perf_counter() - started,
        total=kernel.trace(),  # type: ignore[attr-defined]
    )


def _penalty_spectrum(kernel: Kernel, count: int, start: Floats | None, costs: Costs) -> Spectrum:
    started = perf_counter()
    matrix, root = symmetric_penalty(kernel)
    null = null_basis(kernel)
    n = len(root)
    if n <= costs.eigen.dense_rows or 4 * count > n:
        solver = "dense (LAPACK)"
        penalties, vectors = symmetric_eigenpairs(matrix.toarray(), null, count)
    else:
        near = None if start is None else root[:, None] * start
        penalty = SparsePenalty(matrix, null, symmetric_root(kernel))
        solver, penalties, vectors = smallest_penalties(penalty, count, TOLERANCE, near, costs=costs)
    vectors = canonical_signs(vectors)
    misfit = np.linalg.norm(matrix @ vectors - vectors * penalties, axis=0)
    residuals = checked(misfit, penalties, rounding_of(matrix), solver)
    return Spectrum(
        eigenvalues=kernel.decay.of(penalties),  # type: ignore[attr-defined]
        eigenvectors=vectors / root[:, None],
        residuals=residuals,
        solver=solver,
        seconds=perf_counter() - started,
        penalties=penalties,
    )


def _norm(matrix: Floats) -> float:
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0  # whose square may overflow
    return largest * float(np.linalg.norm(matrix / largest))


def gram_misfit(product: Floats, vectors: Floats, values: Floats) -> Floats:
    """‖A v − λ v‖ of each eigenpair, from A V."""
    scale = float(np.abs(values).max(initial=0.0)) or 1.0  # whose square may overflow
    return np.asarray(scale * np.linalg.norm(product / scale - vectors * (values / scale), axis=0))


def checked(misfit: Floats, values: Floats, floor: float, solver: str) -> Floats:
    """Residuals relative to the eigenvalues; raises an error if one is too large. `floor` is rounding."""
    bad = np.flatnonzero(misfit > np.maximum(TOLERANCE * values, floor))
    if bad.size:
        raise NotConvergedError(
            f"{solver} left a residual of {misfit[bad[0]]:.2g} on eigenvalue {bad[0] + 1} ({values[bad[0]]:.3g}), "
            f"more than {TOLERANCE:g} times the eigenvalue, so this coordinate cannot be trusted: use fewer "
            "components or, if the kernel is of a neighbour graph, another n_neighbors or radius."
        )
    sizes = np.maximum(values, floor)  # all 0 for a kernel of zeros, which is solved exactly
    return np.divide(misfit, sizes, out=np.zeros_like(misfit), where=sizes > 0)
