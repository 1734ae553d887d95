"""The choice of a solver by its forecast time and memory.

"exact", "slack"     the dense solver while it is quick, which is also the more accurate; then the low-rank one
"nonexpansive"       the low-rank solver, unless the graph's factors fill in (data of high dimension): then the
                     dense one if it is fast enough, otherwise landmarks
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from gramfold.direct.factor import Symbolic
from gramfold.errors import ApproximationWarning, InputError
from gramfold.runtime.costs import COSTS, Costs
from gramfold.runtime.memory import GIGABYTE, USABLE_SHARE, available_memory, require_memory
from gramfold.runtime.warning import warn
from gramfold.sdp import interior_point, landmarks, low_rank
from gramfold.sdp.problem import Isometry, Problem, Solution
from gramfold.sdp.signed_search import rank_for
from gramfold.types import Floats

Solver = Literal["auto", "dense", "low-rank", "landmarks"]


def solve_problem(
    problem: Problem,
    *,
    solver: Solver = "auto",
    start: Solution | None = None,
    mixtures: Callable[[], Floats] | None = None,
    known: Floats | None = None,
    costs: Costs = COSTS,
    **limits: Any,
) -> Solution:
    """Solve by the named solver, or by the one that forecasts favour.

    `mixtures` returns the matrix (n, N) of vertices as mixtures of landmarks; `known` are feasible coordinates, if any;
    `limits` are `tol`, `max_iter`, `time_limit` and `listen` of every solver.
    """
    n, m = len(problem), len(problem.pairs)
    symbolic = None if solver in {"dense", "landmarks"} else low_rank.elimination_of(problem, costs=costs)
    if solver == "auto":
        assert symbolic is not None
        limited = limits.get("time_limit") is not None
        if problem.isometry == "nonexpansive":
            solver = _choose(problem, symbolic, can_mix=mixtures is not None, limited=limited, costs=costs)
        else:
            solver = _choose_signed(problem, symbolic, tol=limits.get("tol", 1e-3), costs=costs)
    if solver == "landmarks":
        if mixtures is None:
            raise InputError(
                'solver="landmarks" needs the rows or all distances between them, but X is a sparse graph: use another '
                "solver, or pass a dense matrix."
            )
        return landmarks.solve_problem(problem, mixtures, known, **limits)
    if solver == "dense":
        require_memory(
            'SDE(solver="dense")',
            lambda rows: interior_point.memory(rows, m * rows // n),
            n,
            'and embed the other rows with transform(), or use isometry="nonexpansive" with another solver',
        )
        return interior_point.solve_problem(problem, start=start, **limits)
    assert symbolic is not None
    rank = low_rank.most_columns(problem, costs=costs)
    other = 'solver="landmarks"' if problem.isometry == "nonexpansive" else 'isometry="nonexpansive"'
    require_memory(
        'SDE(solver="low-rank")',
        lambda rows: low_rank.memory(n, m, symbolic.entries, rank, costs=costs) * rows / n,
        n,
        f"and embed the other rows with transform(), or use {other}",
    )
    solution = low_rank.solve_problem(problem, start=start, symbolic=symbolic, **limits)
    again = solution.stalled and problem.isometry == "nonexpansive"
    return _continued(solution, problem, symbolic, **limits) if again else solution


def _continued(stalled: Solution, problem: Problem, symbolic: Symbolic | None, **limits: Any) -> Solution:
    """Start once more where the low-rank solver came to rest: with another barrier it often gets to the optimum."""
    left = None if limits.get("time_limit") is None else limits["time_limit"] - stalled.seconds
    steps = limits.get("max_iter", 100) - len(stalled.steps)
    if steps < 1 or (left is not None and left <= 0):
        return stalled
    again = {**limits, "time_limit": left, "max_iter": steps}
    solution = low_rank.solve_problem(problem, start=stalled, symbolic=symbolic, **again)
    better = solution if solution.certificate.gap < stalled.certificate.gap else stalled
    done, seconds = len(stalled.steps), stalled.seconds
    later = (replace(one, iteration=one.iteration + done, seconds=one.seconds + seconds) for one in solution.steps)
    return replace(better, steps=(*stalled.steps, *later), seconds=seconds + solution.seconds)


def least_memory(n: int, pairs: int, isometry: Isometry, solver: Solver) -> float:
    """Least bytes for n vertices and this number of pairs, by any of the solvers."""
    if solver == "dense":
        return interior_point.memory(n, pairs)
    if isometry == "nonexpansive":
        return low_rank.memory(n, pairs) if solver != "landmarks" else 0.0
    signed = low_rank.memory(n, pairs, rank=rank_for(n, pairs))
    return signed if solver == "low-rank" else min(signed, interior_point.memory(n, pairs))


def _choose_signed(problem: Problem, symbolic: Symbolic, *, tol: float, costs: Costs) -> Solver:
    """The solver of the exact and slack forms: the dense one for as long as it is quick, or the only one."""
    n, m, known = len(problem), len(problem.pairs), costs.unfolding
    budget = USABLE_SHARE * available_memory()
    dense = interior_point.seconds(n, m) if interior_point.memory(n, m) <= budget else float("inf")
    rank = rank_for(n, m)
    fits = low_rank.memory(n, m, symbolic.entries, rank, costs=costs) <= budget
    needed = tol < known.fine or not fits or low_rank.signed_seconds(symbolic, rank, costs=costs) > known.long
    return "dense" if dense <= (known.long if needed else known.short) else "low-rank"


def _choose(problem: Problem, symbolic: Symbolic, *, can_mix: bool, limited: bool, costs: Costs) -> Solver:
    n, m = len(problem), len(problem.pairs)
    budget = USABLE_SHARE * available_memory()
    forecast = low_rank.seconds(symbolic, costs=costs)
    needed = low_rank.memory(n, m, symbolic.entries, costs=costs)
    if needed <= budget and (forecast <= costs.unfolding.long or limited):
        return "low-rank"
    if interior_point.seconds(n, m) <= costs.unfolding.long and interior_point.memory(n, m) <= budget:
        return "dense"
    if not can_mix:
        return "low-rank"
    warn(
        f'solver="low-rank" is forecast to take {forecast / 60:.0f} minutes and {needed / GIGABYTE:.1f} GB, because '
        f"the graph of {n:,} rows has no small separators (data of high dimension). The problem was solved with "
        'landmarks instead, an approximation: pass solver="landmarks" to accept it, or solver="low-rank" and a '
        "time_limit for a smaller gap, if there is enough memory.",
        ApproximationWarning,
    )
    return "landmarks"
