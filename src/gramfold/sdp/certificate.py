"""The proof that a kernel is nearly optimal. It depends only on the problem, Y and w, not on the solver.

For multipliers w (w ≥ 0 in the non-expansive form) with L(w) ⪰ λ (M − m mᵀ/Σm), λ > 0, `Problem.bound` bounds every
feasible kernel. λ is the second smallest eigenvalue of L(w) v = λ M v. An estimate of it by iteration lies above it and
proves nothing, so it is taken a little lower, at σ, and confirmed: L(w) − σM has as many negative pivots as eigenvalues
of the pencil lie below σ, and one of them is the constant vector's 0. The pivots are those of a matrix that rounding
moved a little; how much is measured by solving with them, and taken off.
"""

import numpy as np
from scipy.sparse import csr_array, diags_array

from gramfold.direct.factor import Symbolic, symmetric_factor
from gramfold.errors import SingularFactorError
from gramfold.sdp.problem import Certificate, Problem
from gramfold.types import Floats

_BELOW = 1e-9  # the first σ is below the estimate by this, or by the estimate's own residual; then ever further
_FURTHER = 8.0
_FURTHEST = 0.5
_DENSE = 200  # vertices up to which all eigenvalues are found
_NOTICED = 1e-6  # rounding of those, relative to the wanted one, that is worth counting pivots
_SWEEPS = 30  # of inverse iteration, at most
_SPARE = 4  # vectors beside those of Y
_NEAR = 8  # columns of Y, the longest, that inverse iteration begins with: a dense solver's Y has n of them
_SETTLED = 1e-10  # relative change of the estimate
_FACTORS = 10  # that a proof takes about
_BACKWARD = 1e-12  # a factor that solves worse is not that of its matrix, and its inertia proves nothing
_ROUNDING = 32 * float(np.finfo(np.float64).eps)  # of a factor, relative to its matrix, at least


def certify(problem: Problem, coordinates: Floats, weights: Floats, symbolic: Symbolic | None = None) -> Certificate:
    """Measure Y (n, r) and bound the optimum by w (m,)."""
    coordinates = problem.centered(np.asarray(coordinates, dtype=np.float64))
    weights = np.asarray(weights, dtype=np.float64)
    if problem.isometry == "nonexpansive":
        weights = np.maximum(weights, 0.0)
    kept = problem.squared_lengths(coordinates)
    excess = np.sqrt(kept / problem.squared) - 1.0
    violation, uncertainty = 0.0, 0.0
    least = proved_least(problem.laplacian(weights), problem.mass, coordinates, symbolic)
    if problem.isometry == "nonexpansive":
        violation = max(0.0, float(excess.max()))
    elif problem.isometry == "exact":
        violation = float(np.abs(excess).max())
        uncertainty = float(np.abs(weights / least) @ np.abs(kept - problem.squared)) if least > 0 else np.inf
    return Certificate(
        primal=problem.objective(coordinates),
        upper_bound=problem.bound(weights, least),
        max_violation=violation,
        primal_uncertainty=uncertainty,
        weights=problem.multipliers(weights, least),
        pairs=problem.pairs,
    )


def proved_least(laplacian: csr_array, mass: Floats, near: Floats, symbolic: Symbolic | None = None) -> float:
    """A proved lower bound of the second eigenvalue of L v = λ M v, close to it; 0 where none could be proved.

    `near` (n, r) holds vectors that are expected close to the wanted eigenvectors.
    """
    known = 0.0
    if len(mass) <= _DENSE:
        known, rounding = _dense_least(laplacian.toarray(), mass)
        if rounding <= _NOTICED * known:
            return known
    return max(known, _counted_least(laplacian, mass, near, symbolic or Symbolic.of(laplacian)))


def _counted_least(laplacian: csr_array, mass: Floats, near: Floats, symbolic: Symbolic) -> float:
    """The bound by the inertia of sparse factors."""
    estimate, error = _estimate(laplacian, mass, near, symbolic)
    below = max(_BELOW, error)
    while estimate > 0 and below < _FURTHEST:
        sigma = estimate * (1.0 - below)
        count, moved = _eigenvalues_below(laplacian, mass, sigma, symbolic)
        if count == 1:
            return max(0.0, sigma - moved)
        below *= _FURTHER
    return 0.0


def _dense_least(laplacian: Floats, mass: Floats) -> tuple[float, float]:
    """The bound from all eigenvalues of a small pencil, lowered by their rounding, and that rounding."""
    root = np.sqrt(mass)
    values = np.linalg.eigvalsh(laplacian / np.outer(root, root))
    rounding = _ROUNDING * len(values) * float(np.abs(values).max())
    # 0 is the constant vector's: the least of them, or L is not positive semidefinite
    return (max(0.0, float(values[1]) - rounding) if values[0] >= -rounding else 0.0), rounding


def _eigenvalues_below(laplacian: csr_array, mass: Floats, sigma: float, symbolic: Symbolic) -> tuple[int, float]:
    """The number of eigenvalues of the pencil below σ (-1: not known), and how far rounding may have moved them."""
    shifted = csr_array(laplacian - diags_array(sigma * mass))
    size = float(abs(shifted).sum(axis=1).max())
    try:
        factor = symmetric_factor(shifted, symbolic, _FACTORS)
    except SingularFactorError:
        return -1, np.inf
    wanted = np.random.default_rng(0).standard_normal((len(mass), 2))
    found = factor.solve(wanted)
    backward = float(np.abs(shifted @ found - wanted).max() / (size * np.abs(found).max() + np.abs(wanted).max()))
    if not backward < _BACKWARD:
        return -1, np.inf
    return factor.negative, max(_ROUNDING, 4.0 * backward) * size / float(mass.min())


def _estimate(laplacian: csr_array, mass: Floats, near: Floats, symbolic: Symbolic) -> tuple[float, float]:
    """The second smallest eigenvalue by inverse iteration, and its last relative change."""
    spare = np.random.default_rng(0).standard_normal((len(mass), _SPARE))
    longest = np.argsort(-np.einsum("ic,ic->c", near, near), kind="stable")[:_NEAR]
    vectors = np.column_stack([near[:, longest], spare / np.sqrt(len(mass))])
    scale = float(laplacian.diagonal().sum() / mass.sum())  # keeps the factor from being singular; far below any λ
    factor = symmetric_factor(csr_array(laplacian + diags_array(1e-10 * scale * mass)), symbolic, _FACTORS)
    last, estimate = np.inf, np.inf
    for _ in range(_SWEEPS):
        vectors = factor.solve(_orthonormal(vectors, mass) * mass[:, None])
        vectors = _orthonormal(vectors, mass)
        last, estimate = estimate, float(np.linalg.eigvalsh(vectors.T @ (laplacian @ vectors))[0])
        if abs(last - estimate) <= _SETTLED * abs(estimate):
            break
    return estimate, min(1.0, abs(last - estimate) / max(abs(estimate), 1e-300))


def _orthonormal(vectors: Floats, mass: Floats) -> Floats:
    """A basis of the same span without the constant vector, orthonormal in M; dependent directions are dropped."""
    vectors = vectors - (mass @ vectors) / mass.sum()
    root = np.sqrt(mass)[:, None]
    lengths = np.linalg.norm(root * vectors, axis=0)
    basis, triangle = np.linalg.qr(root * vectors[:, lengths > 0] / lengths[lengths > 0])
    there = np.abs(np.diag(triangle)) > 1e-12
    return np.asarray(basis[:, there] / root)
