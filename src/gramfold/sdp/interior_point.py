"""The dense interior-point solver on a graph with lengths: all three forms, gaps of 1e-6 and less, n up to about 1500.

Distances do not change under a shift, so one vertex, the ground, is held at the origin, and its row and column of the
kernel are left out: X_ij = (y_i − y_g)·(y_j − y_g) has an interior where the centred K has none. Then tr M K of the
centred K is ⟨C, X⟩ with C = M − m mᵀ/Σm without the ground's row and column, and bₑ = e_i − e_j with e_g = 0: the
program that `primal_dual` solves. The result is centred, factored, made feasible, and certified independently.
"""

import time
from typing import Any

import numpy as np

from gramfold.errors import InputError, UnboundedProblemError
from gramfold.runtime.threads import one_blas_thread
from gramfold.sdp.certificate import certify
from gramfold.sdp.constraints import Pairs
from gramfold.sdp.feasible import made_feasible, touching
from gramfold.sdp.primal_dual import Program, best_scale, core, too_far_apart
from gramfold.sdp.problem import Isometry, Listener, Problem, Solution, Step
from gramfold.sdp.scales import solve_by_scales
from gramfold.sdp.telling import infeasible, no_interior
from gramfold.types import Floats

_SAFELY = 0.5  # of `tol` is asked of the iteration: the certificate's λ is a little below the true one
_ROUNDING = 4 * np.finfo(float).eps  # eigenvalues of K below this, relative to the largest, are not known


def solve(
    pairs: Any,
    distances: Any,
    *,
    mass: Any = None,
    isometry: Isometry = "nonexpansive",
    stiffness: float = 100.0,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
    start: Solution | None = None,
    listen: Listener | None = None,
) -> Solution:
    """Unfold the graph with these (m, 2) pairs and (m,) distances."""
    problem = Problem.of(pairs, distances, mass=mass, isometry=isometry, stiffness=stiffness)
    return solve_problem(problem, tol=tol, max_iter=max_iter, time_limit=time_limit, start=start, listen=listen)


def solve_problem(
    problem: Problem,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
    start: Solution | None = None,
    listen: Listener | None = None,
) -> Solution:
    """Solve until the certified gap, and in the exact form the violation, are at most `tol`.

    `start` is a solution of a similar problem with the same pairs. At `max_iter` or `time_limit` (seconds) the best
    solution so far is returned, with `converged` False.
    """
    return solve_by_scales(
        problem, _solve_at_once, tol=tol, start=start, time_limit=time_limit, max_iter=max_iter, listen=listen
    )


def _solve_at_once(
    problem: Problem,
    *,
    tol: float,
    max_iter: int,
    time_limit: float | None,
    start: Solution | None,
    listen: Listener | None,
) -> Solution:
    """Solve for all lengths at once."""
    started = time.perf_counter()
    steps: list[Step] = []

    def watch(iteration: int, primal: float, bound: float) -> None:
        steps.append(Step(iteration, time.perf_counter() - started, primal, bound))
        if listen is not None:
            listen(steps[-1])

    program, ground = grounded(problem)
    with one_blas_thread():  # see `dense`
        try:
            outcome = core(
                program,
                start=None if start is None else _grounded_start(problem, ground, start),
                tol=_SAFELY * tol,
                max_iter=max_iter,
                time_limit=time_limit,
                watch=watch,
            )
        except UnboundedProblemError as error:  # of a connected graph that is rounding
            raise too_far_apart(problem.squared) from error
        if outcome.end == "infeasible":
            raise infeasible(outcome.weights, problem)
        coordinates = _factored(problem, _centered(problem, outcome.X, ground))
        coordinates = _feasible(problem, coordinates, converged=outcome.end == "converged")
    certificate = certify(problem, coordinates, outcome.weights)
    converged = abs(certificate.gap) <= tol and certificate.max_violation <= tol
    stalled = outcome.end in {"stalled", "converged"} and not converged  # what converged may not survive its rounding
    if stalled and problem.isometry == "exact":
        if not np.isfinite(certificate.upper_bound):
            raise too_far_apart(problem.squared)
        narrow = no_interior(certificate, problem)
        if narrow is not None:
            raise narrow
    seconds = time.perf_counter() - started
    return Solution(coordinates, certificate, converged, tuple(steps), "dense", seconds, stalled)


def memory(n: int, m: int) -> float:
    """Bytes for n vertices and m pairs: the Schur matrix and two dozen matrices of the size of the kernel."""
    return 8.0 * (m**2 + 28.0 * n**2)


def seconds(n: int, m: int) -> float:
    """Rough time in seconds to a gap of 1e-6: twenty times m³/3 multiplications for the Schur matrix and a few n³."""
    return 0.05 + 20.0 * (m**3 / 3.0 + 8.0 * n**3 + 6e3 * n**2) / 2e10


def grounded(problem: Problem) -> tuple[Program, int]:
    """The program without the row of the ground, and the ground: the vertex with the most pairs."""
    n = len(problem)
    ground = int(np.argmax(np.bincount(problem.pairs.ravel(), minlength=n)))
    number = np.full(n, n - 1, dtype=np.int32)
    others = np.arange(n) != ground
    number[others] = np.arange(n - 1)
    mass = problem.mass[others]
    objective = np.diag(mass) - np.outer(mass, mass) / problem.mass.sum()
    left, right = number[problem.pairs].T
    return Program(Pairs(left, right, n - 1), problem.squared, objective, problem.isometry, problem.stiffness), ground


def _grounded_start(problem: Problem, ground: int, start: Solution) -> tuple[Floats, Floats]:
    weights = start.certificate.weights
    if len(start.coordinates) != len(problem) or len(weights) != len(problem.pairs):
        raise InputError(
            f"the start has {len(start.coordinates)} vertices and {len(weights)} pairs, but the problem has "
            f"{len(problem)} and {len(problem.pairs)}: start from a solution for the same pairs, or pass start=None."
        )
    held = np.delete(start.coordinates - start.coordinates[ground], ground, axis=0)
    return held @ held.T, np.asarray(weights)


def _centered(problem: Problem, X: Floats, ground: int) -> Floats:
    """K = P G Pᵀ with P = 1 − 1mᵀ/Σm, and G the grounded X with its row and column of zeros."""
    n = len(problem)
    others = np.arange(n) != ground
    K = np.zeros((n, n))
    K[np.ix_(others, others)] = X
    share = problem.mass / problem.mass.sum()
    K -= share @ K
    K -= (K @ share)[:, None]
    return K


def _factored(problem: Problem, K: Floats) -> Floats:
    """Y with K = Y Yᵀ and uncorrelated columns of descending variance: M^½ K M^½ = U S Uᵀ, Y = M^-½ U S^½."""
    root = np.sqrt(problem.mass)
    values, vectors = np.linalg.eigh(root[:, None] * K * root)
    kept = values > _ROUNDING * values[-1]
    scaled = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]
    return problem.centered(scaled / root[:, None])


def _feasible(problem: Problem, coordinates: Floats, *, converged: bool) -> Floats:
    """The best multiple of Y; before convergence pairs may also be shortened one by one, if that is better."""
    if problem.isometry == "slack":
        lengths = problem.squared_lengths(coordinates)
        scale = best_scale(problem.variance(coordinates), lengths, problem.squared, problem.stiffness)
        return np.asarray(coordinates * np.sqrt(scale))
    if problem.isometry == "exact":
        return coordinates
    scaled = touching(problem, coordinates)
    if converged:
        return scaled
    return max(scaled, made_feasible(problem, coordinates), key=problem.variance)
