"""The normalised cut, against sums written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramfold.graph.cut import best_threshold, normalized_cut, threshold_cuts
from gramfold.graph.laplacian import degrees


def random_weights(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    W[np.arange(n - 1), np.arange(1, n)] += 0.1  # connected
    return W + W.T


def slow_cut(W: np.ndarray, labels: np.ndarray) -> float:
    total = 0.0
    for cluster in np.unique(labels):
        inside = labels == cluster
        total += W[np.ix_(inside, ~inside)].sum() / W[inside].sum()
    return total


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 15), st.integers(1, 4), st.integers(0, 10_000))
def test_cut_against_its_definition(n: int, count: int, seed: int) -> None:
    W = random_weights(n, seed)
    labels = np.unique(np.random.default_rng(seed).integers(0, count, n), return_inverse=True)[1]
    assert normalized_cut(csr_array(W), labels) == pytest.approx(slow_cut(W, labels), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 15), st.integers(0, 10_000), st.booleans())
def test_the_sweep_finds_the_best_of_all_thresholds(n: int, seed: int, ties: bool) -> None:
    W = random_weights(n, seed)
    values = np.random.default_rng(seed + 1).standard_normal(n)
    if ties:
        values = np.round(values)
        values[0], values[-1] = -9.0, 9.0  # at least two different ones
    distinct = np.unique(values)
    costs = [slow_cut(W, (values > t).astype(int)) for t in (distinct[:-1] + distinct[1:]) / 2]
    found = best_threshold(csr_array(W), values)
    assert slow_cut(W, (values > found).astype(int)) == pytest.approx(min(costs), abs=1e-12)


def test_vertices_without_edges_lose_nothing() -> None:
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = 2.0
    assert normalized_cut(csr_array(W), np.array([0, 0, 1, 2])) == 0.0
    assert normalized_cut(csr_array(W), np.array([0, 1, 1, 2])) == 2.0


def test_all_cuts_of_a_sweep_are_normalised_cuts():
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((30, 30)) * (rng.random((30, 30)) < 0.4), 1)
    W = csr_array(W + W.T + np.diag(np.full(30, 5.0)))  # a diagonal is not looked at
    values = np.round(rng.standard_normal(30), 1)
    volume = W.sum(axis=1) - 5.0
    order, cost = threshold_cuts(W, volume, values)
    plain = csr_array(W - 5.0 * np.eye(30))
    for place in range(29):
        side = np.zeros(30, dtype=int)
        side[order[: place + 1]] = 1
        equal = values[order[place]] == values[order[place + 1]]
        assert cost[place] == pytest.approx(np.inf if equal else normalized_cut(plain, side))


def test_a_side_that_holds_nothing_is_no_cut():
    weights = csr_array(np.array([[0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]]))
    order, cost = threshold_cuts(weights, degrees(weights), np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(order, [0, 1, 2])
    np.testing.assert_array_equal(cost, [np.inf, 2.0])
