"""What a user is told of a semidefinite program: how far it has come, its gap, and whether anything was unfolded."""

import numpy as np
from scipy.spatial.distance import pdist

from gramfold.errors import NotConvergedWarning, PinnedWarning
from gramfold.runtime.warning import warn
from gramfold.sdp.problem import Problem, Solution, Step
from gramfold.types import Floats

_PINNED = 1e-4  # relative: variance that was gained
_NEARLY_ALL, _UNMOVED = 0.9, 0.01  # so many of all pairs changed their distance by less


def progress(step: Step) -> str:
    """One line for an iteration."""
    return (
        f"iteration {step.iteration}, {step.seconds:.1f} s: {step.primal:.6g} of at most {step.upper_bound:.6g}, "
        f"gap {step.gap:.1e} ({step.words})"
    )


def warn_of_gap(solution: Solution, problem: Problem, tol: float) -> None:
    """Say so where the gap that was asked for is not proved."""
    if solution.converged:
        return
    certificate = solution.certificate
    remedy = "more landmarks come nearer" if solution.solver == "landmarks" else "raise max_iter or time_limit"
    if solution.stalled:
        shortest, longest = np.sqrt([problem.squared.min(), problem.squared.max()])
        remedy = (
            f"more iterations gain nothing (kept distances lie between {shortest:.1e} and {longest:.1e}); use "
            "a larger tol, or leave out near-copies and outliers"
        )
    off = f", and distances off by up to {certificate.max_violation:.1e}" if problem.isometry == "exact" else ""
    warn(
        f"the kernel has {certificate.primal:.6g} and at most {certificate.upper_bound:.6g} is possible, a gap "
        f"of {certificate.gap:.1e}{off} where tol={tol:g} was asked for: {remedy}.",
        NotConvergedWarning,
    )


def warn_if_pinned(solution: Solution, problem: Problem, rows: Floats | None) -> None:
    """Say so where exact distances leave the rows, if they are known, as they lie."""
    if problem.isometry != "exact" or rows is None:
        return
    unfolded = solution.certificate.primal / problem.variance(problem.centered(rows))
    # far groups hold all of the variance, whatever is unfolded within them: there each pair counts alike
    moved = np.abs(pdist(solution.coordinates) / np.maximum(pdist(rows), np.finfo(float).tiny) - 1.0)
    if abs(unfolded - 1.0) < _PINNED and np.quantile(moved, _NEARLY_ALL) < _UNMOVED:
        warn(
            f"the exact distances leave nothing to unfold: the kernel's variance is {unfolded:.4f} of that of "
            'the rows as they lie. Use isometry="nonexpansive" or "slack", or fewer neighbours.',
            PinnedWarning,
        )
