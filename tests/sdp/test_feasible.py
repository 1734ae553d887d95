import numpy as np
import pytest

from gramfold.sdp.feasible import made_feasible, touching
from gramfold.sdp.problem import Problem
from tests.sdp.graphs import curved, nearest_pairs


@pytest.mark.parametrize("seed", range(4))
def test_no_pair_is_too_long_and_one_is_just_long_enough(seed):
    random = np.random.default_rng(seed)
    points = curved(80, seed)
    pairs, distances = nearest_pairs(points, 4)
    problem = Problem.of(pairs, distances)
    loose = problem.centered(points * random.uniform(0.5, 1.5, points.shape))
    for found in (made_feasible(problem, loose), touching(problem, loose)):
        ratio = np.sqrt(problem.squared_lengths(found) / problem.squared)
        assert ratio.max() <= 1.0
        assert ratio.max() > 1.0 - 1e-12
        np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-12)
    # pulling single pairs together costs less than shrinking everything by the worst of them
    assert problem.variance(made_feasible(problem, loose)) > problem.variance(touching(problem, loose))


def test_order_of_pairs_does_not_count():
    points = curved(60, 0)
    pairs, distances = nearest_pairs(points, 4)
    loose = points * 1.2
    order = np.random.default_rng(0).permutation(len(pairs))
    one = made_feasible(Problem.of(pairs, distances), loose)
    other = made_feasible(Problem.of(pairs[order], distances[order]), loose)
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_what_is_feasible_keeps_its_shape():
    points = curved(50, 0)
    pairs, distances = nearest_pairs(points, 4)
    problem = Problem.of(pairs, distances)
    np.testing.assert_allclose(made_feasible(problem, points), problem.centered(points), rtol=1e-9)
