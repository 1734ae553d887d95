"""Which rows stand for all."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.kernels.functions import RowKernel
from gramfold.kernels.landmarks import (
    kmeans_centers,
    kmeans_rows,
    leverage_rows,
    leverage_scores,
    random_rows,
    told_apart,
)
from gramfold.kernels.nystrom import LandmarkColumns, LandmarkValues

GAUSSIAN = RowKernel("rbf", gamma=0.5)


def crowd_and_outposts() -> np.ndarray:
    """1,900 rows in one place, and ten outposts of ten rows each."""
    rng = np.random.default_rng(0)
    outposts = 6 * rng.standard_normal((10, 3)).repeat(10, axis=0)
    return np.vstack([0.3 * rng.standard_normal((1900, 3)), outposts + 0.3 * rng.standard_normal((100, 3))])


def values_of(X: np.ndarray, first: np.ndarray) -> LandmarkValues:
    return LandmarkValues(LandmarkColumns(GAUSSIAN, X[first], len(first)), X)


def test_random_rows_are_different_and_all_are_likely() -> None:
    drawn = np.concatenate([random_rows(20, 5, np.random.RandomState(seed)) for seed in range(400)])
    assert all(len(set(random_rows(20, 5, np.random.RandomState(seed)))) == 5 for seed in range(20))
    counts = np.bincount(drawn, minlength=20)  # 100 each, give or take √(400·¼·¾) ≈ 9
    assert np.abs(counts - 100).max() < 5 * 9


@pytest.mark.parametrize("step", [1, 2])
def test_leverage_scores_are_those_of_the_whole_kernel(step: int) -> None:
    X = crowd_and_outposts()[::4]
    n, first = len(X), np.arange(0, len(X), step)
    s = len(first)
    K = GAUSSIAN(X, X)
    tail = np.linalg.eigvalsh(K[np.ix_(first, first)])[: -(s // 10)].sum() * n / s
    ridge = tail / (s // 10)
    exact = np.diag(np.linalg.solve(K + ridge * np.eye(n), K))
    found = leverage_scores(values_of(X, first), first, np.diag(K))
    if step == 1:  # from all rows the estimate is the definition itself
        np.testing.assert_allclose(found, exact, atol=1e-6)
    else:  # from half of them it is right within a factor for nearly all
        assert np.quantile(np.abs(np.log(found / exact)), 0.9) < np.log(2)


def test_leverage_finds_what_is_rare() -> None:
    X = crowd_and_outposts()
    found = []
    for seed in range(5):
        random_state = np.random.RandomState(seed)
        first = random_rows(2000, 100, random_state)
        rows = leverage_rows(values_of(X, first), first, np.ones(2000), random_state)
        assert len(np.unique(rows)) == 100
        found.append((rows >= 1900).sum())
    assert min(found) > 25  # five of a hundred are there by chance


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_kmeans_takes_a_row_of_each_group(kind: type) -> None:
    rng = np.random.default_rng(1)
    group = rng.permutation(np.repeat(np.arange(6), 20))
    X = 10.0 * np.eye(6)[group] + 0.1 * rng.standard_normal((120, 6))
    rows = kmeans_rows(kind(X), 6, np.random.RandomState(0))
    assert sorted(group[rows]) == list(range(6))


def test_kmeans_of_copies_takes_each_once() -> None:
    X = np.repeat(np.arange(5.0), 10)[:, None] * np.ones(3)
    rows = kmeans_rows(X, 20, np.random.RandomState(0))
    assert sorted(X[rows, 0]) == [0.0, 1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("power", [-100, 100])
def test_kmeans_is_the_same_where_squares_leave_float32(kind, power: int) -> None:
    X = crowd_and_outposts().astype(np.float32)
    near = kmeans_centers(kind(X), np.arange(len(X)), 12, np.random.RandomState(0))
    far = kmeans_centers(kind(np.ldexp(X, power)), np.arange(len(X)), 12, np.random.RandomState(0))
    np.testing.assert_array_equal(far, np.ldexp(near, power))
    rows = kmeans_rows(kind(np.ldexp(X, power)), 12, np.random.RandomState(0))
    np.testing.assert_array_equal(rows, kmeans_rows(kind(X), 12, np.random.RandomState(0)))


def test_rows_that_squares_cannot_tell_apart_are_one() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 3))
    assert told_apart(rows) == 30
    assert told_apart(np.vstack([rows, rows[:7]])) == 30
    assert told_apart(np.ones((5, 2))) == 1
    apart = np.array([[0.0, 0, 0], [1e10, 0, 0], [0, 1e10, 0]]).repeat(10, axis=0) + rows
    assert told_apart(apart) == 3
    # and k-means is not asked for more, of which it would warn
    assert len(kmeans_centers(apart, np.arange(30), 10, np.random.RandomState(0))) == 3
