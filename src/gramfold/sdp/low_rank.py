"""All forms for many rows: a low-rank factor K = Y Yᵀ and sparse factorisations of the graph.

The iteration is in low_rank_search.py (non-expansive) and signed_search.py (exact and slack, from a rough non-expansive
solution). This module orders the vertices for elimination, scales the lengths to mean 1, checks limits, forecasts time
and memory, and computes the certificate.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from gramfold.direct.factor import Symbolic
from gramfold.runtime.costs import COSTS, Costs
from gramfold.runtime.progress import beat
from gramfold.runtime.threads import one_blas_thread
from gramfold.sdp.assembly import Assembly
from gramfold.sdp.certificate import certify
from gramfold.sdp.low_rank_search import Search
from gramfold.sdp.problem import Certificate, Isometry, Listener, Problem, Solution, Step, by_variance
from gramfold.sdp.scales import solve_by_scales
from gramfold.sdp.signed_search import KEPT, SignedSearch, rank_for
from gramfold.sdp.telling import infeasible, no_interior

_ROUGHLY = 10.0  # tolerance of the non-expansive solution that the other forms begin with, relative to theirs
_ROUGHEST = 0.1


def solve(
    pairs: Any,
    distances: Any,
    *,
    mass: Any = None,
    isometry: Isometry = "nonexpansive",
    stiffness: float = 100.0,
    tol: float = 1e-3,
    max_iter: int = 100,
    time_limit: float | None = None,
    start: Solution | None = None,
    listen: Listener | None = None,
) -> Solution:
    """Unfold the graph of these pairs.

    Parameters
    ----------
    pairs : array-like of shape (m, 2)
        Vertex indices of the pairs whose distances are kept.
    distances : array-like of shape (m,)
        Their distances.
    mass : array-like of shape (n,), optional
        Weight of each vertex; 1 by default.
    isometry : {"nonexpansive", "exact", "slack"}
        Whether distances may become shorter, are kept, or may change at a price.
    stiffness : float
        That price, C.
    tol : float
        Certified gap at which the solver stops. Distances of the exact form are then wrong by a tenth of it at most.
    max_iter, time_limit : int, float or None
        Maximum number of iterations, and of seconds. The best solution so far is then returned.
    start : Solution, optional
        Solution for the same pairs with similar distances, as a warm start.
    listen : callable, optional
        Called with a `Step` after each iteration.

    Returns
    -------
    solution : Solution
        The factor of the kernel and its certificate.
    """
    problem = Problem.of(pairs, distances, mass=mass, isometry=isometry, stiffness=stiffness)
    return solve_problem(problem, tol=tol, max_iter=max_iter, time_limit=time_limit, start=start, listen=listen)


def solve_problem(
    problem: Problem,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    time_limit: float | None = None,
    start: Solution | None = None,
    listen: Listener | None = None,
    symbolic: Symbolic | None = None,
) -> Solution:
    """Solve a problem that was checked; `symbolic` is its symbolic elimination, if known."""
    return solve_by_scales(
        problem,
        lambda part, **settings: _solve_at_once(part, symbolic=symbolic if part is problem else None, **settings),
        tol=tol,
        start=start,
        time_limit=time_limit,
        max_iter=max_iter,
        listen=listen,
    )


def _solve_at_once(
    problem: Problem,
    *,
    tol: float,
    max_iter: int,
    time_limit: float | None,
    start: Solution | None,
    listen: Listener | None,
    symbolic: Symbolic | None,
) -> Solution:
    """Solve for all lengths at once."""
    began = time.perf_counter()
    unit = float(problem.squared.mean())
    symbolic = symbolic or elimination_of(problem)
    number = np.empty(len(problem), dtype=np.int64)
    number[symbolic.order] = np.arange(len(problem))
    # vertices in the order of elimination, lengths of mean 1
    scaled = replace(
        problem,
        pairs=number[problem.pairs],
        squared=problem.squared / unit,
        mass=problem.mass[symbolic.order],
        names=None,
    )
    if start is not None:
        start = replace(start, coordinates=start.coordinates[symbolic.order] / np.sqrt(unit))
    natural = symbolic.renumbered()
    if problem.isometry != "nonexpansive" and start is None:
        start = _solve_at_once(
            replace(scaled, isometry="nonexpansive"),
            tol=min(_ROUGHEST, _ROUGHLY * tol),
            max_iter=max_iter,
            time_limit=time_limit,
            start=None,
            listen=None,
            symbolic=natural,
        )
    steps: list[Step] = []
    with one_blas_thread():  # what is dense is small: threads would only wait for one another
        search: Search | SignedSearch
        if problem.isometry == "nonexpansive":
            search = Search(scaled, natural, start)
        else:
            assert start is not None
            search = SignedSearch(scaled, natural, start)
        while True:
            beat()
            search.measure(tol)
            best = search.best
            seconds = time.perf_counter() - began
            steps.append(Step(len(steps), seconds, best.primal * unit, best.bound * unit, search.words))
            if listen is not None:
                listen(steps[-1])
            resting = search.at_rest(tol)
            over = resting or len(steps) >= max_iter or (time_limit is not None and seconds > time_limit)
            if best.gap <= search.prove_at * tol or over:
                certificate = certify(scaled, best.coordinates, best.weights, natural)
                if _met(certificate, tol) or over:
                    break
                search.best = replace(best, bound=certificate.upper_bound)
            search.advance()
    certificate = replace(
        certificate,
        primal=certificate.primal * unit,
        upper_bound=certificate.upper_bound * unit,
        primal_uncertainty=certificate.primal_uncertainty * unit,
        pairs=problem.pairs,
    )
    converged = _met(certificate, tol)
    if resting and not converged and problem.isometry == "exact":
        _judge(certificate, problem)
    return Solution(
        coordinates=by_variance(best.coordinates, scaled.mass)[number] * np.sqrt(unit),
        certificate=certificate,
        converged=converged,
        steps=tuple(steps),
        solver="low-rank interior point" if problem.isometry == "nonexpansive" else "low-rank Newton",
        seconds=time.perf_counter() - began,
        stalled=resting and not converged,
    )


def _met(certificate: Certificate, tol: float) -> bool:
    return abs(certificate.gap) <= tol and certificate.max_violation <= KEPT * tol


def _judge(certificate: Certificate, problem: Problem) -> None:
    """Raise the reason why an exact problem has no solution, if it is known."""
    if certificate.upper_bound < 0:  # L(w) ⪰ M, so Σ w d² = tr L(w) K ≥ 0 for every feasible K: there is none
        raise infeasible(certificate.weights, problem)
    narrow = no_interior(certificate, problem)
    if narrow is not None:
        raise narrow


def elimination_of(problem: Problem, *, costs: Costs = COSTS) -> Symbolic:
    """Symbolic elimination: the order of the vertices, and the fill-in."""
    return Symbolic.of(Assembly.of(problem.pairs, len(problem)).pattern(), costs=costs)


def most_columns(problem: Problem, *, costs: Costs = COSTS) -> int:
    """Number of columns of Y that is rarely exceeded."""
    if problem.isometry != "nonexpansive":
        return rank_for(len(problem), len(problem.pairs))
    return costs.unfolding.high_rank


def memory(n: int, pairs: int, entries: int | None = None, rank: int | None = None, *, costs: Costs = COSTS) -> float:
    """Bytes for a factor with this number of entries, of a Y with this number of columns, and its matrix."""
    entries = n + pairs if entries is None else entries  # nothing fills in
    known = costs.unfolding
    rank = known.high_rank if rank is None else rank
    return known.bytes_per_number * rank**2 * (entries + 5.0 * (n + 2.0 * pairs))


def seconds(symbolic: Symbolic, *, costs: Costs = COSTS) -> float:
    """Rough time in seconds of the non-expansive form, at the usual rank and number of iterations."""
    return costs.unfolding.usual_iterations * _of_step(symbolic, costs.unfolding.usual_rank, costs)


def signed_seconds(symbolic: Symbolic, rank: int, *, costs: Costs = COSTS) -> float:
    """Rough time in seconds of the exact and slack forms, with this number of columns."""
    return costs.unfolding.usual_newton_steps * _of_step(symbolic, rank, costs)


def _of_step(symbolic: Symbolic, rank: int, costs: Costs) -> float:
    known = costs.unfolding
    return float(symbolic.operations.sum()) * rank**3 / known.multiplications + known.vertex * len(symbolic.order)
