"""Who solves."""

from typing import Literal

from gramfold.sdp import low_rank
from gramfold.sdp.problem import Listener, Problem, Solution

Solver = Literal["auto", "dense", "low-rank", "landmarks"]


def solve_problem(
    problem: Problem,
    *,
    solver: Solver,
    tol: float,
    max_iter: int,
    time_limit: float | None,
    start: Solution | None,
    listen: Listener | None,
) -> Solution:
    return low_rank.solve_problem(
        problem, tol=tol, max_iter=max_iter, time_limit=time_limit, start=start, listen=listen
    )
