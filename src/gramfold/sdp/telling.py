"""Messages about a semidefinite program: progress, a gap that is too large, distances that leave nothing to unfold."""

import numpy as np
from scipy.spatial.distance import pdist

from gramfold.errors import InfeasibleLengthsError, NoInteriorError, NotConvergedWarning, PinnedWarning
from gramfold.runtime.warning import warn
from gramfold.sdp.problem import Certificate, Problem, Solution, Step
from gramfold.types import Floats

_PINNED = 1e-4  # relative: variance that was gained
_BLOWN_UP = 1e3  # Σ|w|d² / Σ w d²: below 100 where there is an interior, 1e4 and more where there is none
_NEARLY_ALL, _UNMOVED = 0.9, 0.01  # so many of all pairs changed their distance by less


def progress(step: Step) -> str:
    """One line for an iteration."""
    return (
        f"iteration {step.iteration}, {step.seconds:.1f} s: objective {step.primal:.6g}, upper bound "
        f"{step.upper_bound:.6g}, gap {step.gap:.1e} ({step.words})"
    )


def warn_of_gap(solution: Solution, problem: Problem, tol: float) -> None:
    """Warn if the certified gap is above `tol`."""
    if solution.converged:
        return
    certificate = solution.certificate
    remedy = "use more landmarks" if solution.solver == "landmarks" else "raise max_iter or time_limit"
    if solution.stalled:
        shortest, longest = np.sqrt([problem.squared.min(), problem.squared.max()])
        remedy = (
            f"more iterations do not help (kept distances lie between {shortest:.1e} and {longest:.1e}); use a larger "
            "tol, or remove near-duplicate rows and outliers"
        )
    off = f" and distance errors of up to {certificate.max_violation:.1e}" if problem.isometry == "exact" else ""
    warn(
        f"the solver stopped at objective {certificate.primal:.6g} with upper bound {certificate.upper_bound:.6g}, a "
        f"gap of {certificate.gap:.1e}{off}, where tol={tol:g} was required: {remedy}.",
        NotConvergedWarning,
    )


def warn_if_pinned(solution: Solution, problem: Problem, rows: Floats | None) -> None:
    """Warn if exact distances leave nothing to unfold: the embedding is congruent to the rows."""
    if problem.isometry != "exact" or rows is None:
        return
    unfolded = solution.certificate.primal / problem.variance(problem.centered(rows))
    # distant groups dominate the variance, whatever is unfolded within them: among distances all pairs count alike
    moved = np.abs(pdist(solution.coordinates) / np.maximum(pdist(rows), np.finfo(float).tiny) - 1.0)
    if abs(unfolded - 1.0) < _PINNED and np.quantile(moved, _NEARLY_ALL) < _UNMOVED:
        warn(
            f"the exact distances leave nothing to unfold: the variance of the kernel is {unfolded:.4f} times that of "
            'the rows. Use isometry="nonexpansive" or "slack", or fewer neighbours.',
            PinnedWarning,
        )


def infeasible(weights: Floats, problem: Problem) -> InfeasibleLengthsError:
    """The error where multipliers prove that no points have these distances."""
    error = InfeasibleLengthsError(
        "no points have these distances, although they satisfy the triangle inequality: weighted by error.weights, the "
        "sum of squared distances of any points is at least 0, but for the given distances it is "
        f'{float(weights @ problem.squared):.3g}. Correct the distances, or use isometry="nonexpansive" or "slack".'
    )
    error.weights = weights
    return error


def no_interior(certificate: Certificate, problem: Problem) -> NoInteriorError | None:
    """The error where an exact form stalled because its multipliers diverge; None if they do not."""
    grown = float(np.abs(certificate.weights) @ problem.squared) / certificate.upper_bound
    if grown < _BLOWN_UP:  # `tol` is finer than rounding, or the limits were too tight
        return None
    return NoInteriorError(
        f"the iteration stalled at a gap of {abs(certificate.gap):.1e}, with relative distance errors of up to "
        f"{certificate.max_violation:.1e}. These distances almost determine the kernel (typical of noiseless data with "
        f"many common neighbours), so the multipliers diverge (they grew {grown:.0e} times): use "
        'isometry="nonexpansive" or "slack", fewer pairs, or a larger tol.'
    )
