"""The smallest eigenpairs through a factorisation, against what is known."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.errors import NotConvergedError
from gramfold.runtime.costs import Costs, EigenCosts
from gramfold.spectral import shift_invert
from gramfold.spectral.shift_invert import rayleigh_ritz, smallest_eigenpairs, solve_off_null
from tests.spectral.examples import (
    angle,
    cycle,
    path,
    path_eigenvalues,
    path_eigenvectors,
    sheet_penalty,
    star,
    torus,
    torus_eigenvalues,
    two_clusters,
    uniform,
)


def test_path_of_2000() -> None:
    values, vectors = smallest_eigenpairs(path(2000), uniform(2000), 6)
    np.testing.assert_allclose(values, path_eigenvalues(2000, 6), rtol=1e-8)
    expected = path_eigenvectors(2000, 6)
    for k in range(6):
        assert angle(vectors[:, [k]], expected[:, [k]]) < 1e-6


def test_cycle_compares_by_planes() -> None:
    n = 1500
    values, vectors = smallest_eigenpairs(cycle(n), uniform(n), 6)
    turns = 2 * np.pi * np.arange(n)[:, None] / n * np.array([1, 2, 3])
    np.testing.assert_allclose(values, np.repeat(4 * np.sin(np.pi * np.array([1, 2, 3]) / n) ** 2, 2), rtol=1e-8)
    for k in range(3):
        plane = np.column_stack([np.cos(turns[:, k]), np.sin(turns[:, k])])
        assert angle(vectors[:, 2 * k : 2 * k + 2], plane) < 1e-6


@pytest.mark.parametrize("count", [2, 4, 12, 20])
def test_no_copy_is_skipped_on_a_torus(count: int) -> None:
    values, _ = smallest_eigenpairs(torus(36, 30), uniform(1080), count)
    np.testing.assert_allclose(values, torus_eigenvalues(36, 30, count), rtol=1e-9)


def test_star() -> None:
    values, vectors = smallest_eigenpairs(star(1200), uniform(1200), 5)
    np.testing.assert_allclose(values, 1.0, rtol=1e-10)
    np.testing.assert_allclose(vectors[0], 0.0, atol=1e-10)  # functions on the leaves that sum to zero
    np.testing.assert_allclose(vectors.sum(axis=0), 0.0, atol=1e-9)


def test_two_clusters_and_a_weak_bridge() -> None:
    m = 300
    P = two_clusters(m, 1e-9)
    values, vectors = smallest_eigenpairs(P, uniform(2 * m), 3)
    sides = np.repeat([1.0, -1.0], m)[:, None]
    assert angle(vectors[:, :1], sides) < 1e-6
    assert values[0] == pytest.approx(2 * 1e-9 / m, rel=1e-3)  # the cut's Rayleigh quotient, exact to first order
    np.testing.assert_allclose(values[1:], np.linalg.eigvalsh(P.toarray())[2:4], rtol=1e-9)


def test_squared_penalty_with_tiny_eigenvalues() -> None:
    side = 40
    P = sheet_penalty(side)
    n = P.shape[0]
    across, along = (4 * np.sin(np.pi * np.arange(m) / (2 * m)) ** 2 for m in (side, side + 1))
    expected = np.sort((across[:, None] + along).ravel() ** 2)[1:6]
    assert expected[0] < 1e-6 * shift_invert.one_norm(P)
    values, vectors = smallest_eigenpairs(P, uniform(n), 5)
    np.testing.assert_allclose(values, expected, rtol=1e-6)
    np.testing.assert_allclose(P @ vectors, vectors * values, atol=1e-13)


def test_solve_off_null_is_the_pseudo_inverse() -> None:
    P = two_clusters(60, 1e-3)
    V = np.random.default_rng(0).standard_normal((120, 3))
    V -= V.mean(axis=0)
    expected = np.linalg.pinv(P.toarray(), rcond=1e-12, hermitian=True) @ V
    np.testing.assert_allclose(solve_off_null(P, uniform(120), V), expected, rtol=1e-7, atol=1e-6)


def test_rayleigh_ritz_finds_the_pairs_in_a_span() -> None:
    P = path(50)
    expected = path_eigenvectors(50, 4)
    mixed = expected @ np.random.default_rng(0).standard_normal((4, 4))
    values, vectors = rayleigh_ritz(P, mixed)
    np.testing.assert_allclose(values, path_eigenvalues(50, 4), rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(vectors * expected, axis=0)), 1.0, rtol=1e-10)


@pytest.mark.parametrize(
    "costs", [EigenCosts(), EigenCosts(full_share=2.0), EigenCosts(full_share=2.0, superlu_operations=0)]
)
def test_a_factor_that_breaks_down_is_told_in_our_words(costs: EigenCosts) -> None:
    # by LAPACK, by SuperLU, by our own: what the shift adds to the first pivot makes it 0 without rounding
    pair = csr_array(np.diag([-shift_invert.SHIFT, 1.0]))
    with pytest.raises(NotConvergedError, match="factorisation of the 2 x 2 penalty broke down"):
        smallest_eigenpairs(pair, uniform(2), 1, costs=Costs(eigen=costs))
