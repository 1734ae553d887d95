"""Who solves a semidefinite program, by what is forecast."""

import numpy as np
import pytest

from gramfold.errors import ApproximationWarning
from gramfold.runtime.costs import COSTS, Costs, UnfoldingCosts
from gramfold.sdp import low_rank
from gramfold.sdp.policy import solve_problem
from gramfold.sdp.problem import Problem
from tests.sdp.graphs import curved, nearest_pairs

NO_TIME = Costs(unfolding=UnfoldingCosts(long=0.0))


def example(n: int = 60) -> tuple[Problem, np.ndarray]:
    points = curved(n, 0)
    return Problem.of(*nearest_pairs(points, 4)), points


def mixtures() -> np.ndarray:
    """Each vertex a mixture of every fourth and the one after it."""
    weights = np.maximum(1 - np.abs(np.arange(60)[:, None] - np.arange(0, 60, 4)) / 4, 0)
    return weights / weights.sum(axis=1, keepdims=True)


def test_what_is_quick_is_solved_whole() -> None:
    assert solve_problem(example()[0]).solver == "low-rank interior point"


def test_landmarks_where_nothing_else_is_quick() -> None:
    with pytest.warns(ApproximationWarning, match="solved with landmarks instead"):
        found = solve_problem(example()[0], mixtures=mixtures, costs=NO_TIME)
    assert found.solver == "landmarks"


@pytest.mark.parametrize("options", [{}, {"mixtures": mixtures, "time_limit": 100.0}])
def test_what_has_no_landmarks_or_a_limit_is_solved_whole(options: dict) -> None:
    assert solve_problem(example()[0], costs=NO_TIME, **options).solver == "low-rank interior point"


@pytest.mark.parametrize("isometry", ["exact", "slack"])
def test_other_forms_are_solved_dense_while_that_is_quick(isometry) -> None:
    problem = Problem.of(*nearest_pairs(curved(60, 0), 4), isometry=isometry)
    slow = Costs(unfolding=UnfoldingCosts(short=0.0))
    assert solve_problem(problem).solver == "dense"
    assert solve_problem(problem, costs=slow).solver == "low-rank Newton"
    assert solve_problem(problem, solver="low-rank").solver == "low-rank Newton"
    # a fine tolerance is left to the dense solver, and so is what would take the other one long
    assert solve_problem(problem, costs=slow, tol=1e-6).solver == "dense"
    hopeless = Costs(unfolding=UnfoldingCosts(short=0.0, usual_newton_steps=10**9))
    assert solve_problem(problem, costs=hopeless).solver == "dense"


def test_forecasts_are_proportional_to_their_costs() -> None:
    symbolic = low_rank.elimination_of(example()[0])
    slow = Costs(unfolding=UnfoldingCosts(usual_iterations=2 * COSTS.unfolding.usual_iterations))
    assert low_rank.seconds(symbolic, costs=slow) == 2 * low_rank.seconds(symbolic)
    wide = Costs(unfolding=UnfoldingCosts(high_rank=2 * COSTS.unfolding.high_rank))
    assert low_rank.memory(60, 200, costs=wide) == 4 * low_rank.memory(60, 200)
