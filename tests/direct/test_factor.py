"""L D Lᵀ against NumPy: solves, inertia, and what cannot be factored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, eye_array, kron

from gramfold.direct.elimination import eliminate
from gramfold.direct.factor import Factor, Symbolic, without_diagonal
from gramfold.direct.factor_kernels import backward, factor_supernodes, forward
from gramfold.direct.permutation import permuted
from gramfold.direct.superlu import OrderedLU
from gramfold.errors import SingularFactorError
from gramfold.runtime.costs import Costs, DirectCosts

SMALL_PARTS = Costs(direct=DirectCosts(least_subtree=0.0))  # of a few vertices


def symmetric(n: int, edges: int, seed: int) -> csr_array:
    """Random entries, every diagonal one stored, strictly diagonally dominant with signs of both kinds."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((n, n))
    i, j = rng.integers(0, n, (2, edges))
    dense[i, j] = rng.standard_normal(edges)
    dense = dense + dense.T
    np.fill_diagonal(dense, 0.0)
    np.fill_diagonal(dense, (np.abs(dense).sum(axis=1) + 1) * rng.choice([-1.0, 1.0], n))
    return csr_array(dense)


def grid(side: int) -> csr_array:
    line = csr_array(2.0 * eye_array(side) - eye_array(side, k=1) - eye_array(side, k=-1))
    return csr_array(kron(line, eye_array(side)) + kron(eye_array(side), line))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 80), st.integers(0, 400), st.integers(0, 10_000), st.integers(1, 5))
def test_solves_and_counts_signs_as_numpy_does(n, edges, seed, columns):
    A = symmetric(n, edges, seed)
    found = Factor.of(A, Symbolic.of(A, costs=SMALL_PARTS))
    B = np.random.default_rng(seed).standard_normal((n, columns))
    np.testing.assert_allclose(found.solve(B), np.linalg.solve(A.toarray(), B), rtol=1e-9, atol=1e-11)
    assert found.negative == (np.linalg.eigvalsh(A.toarray()) < 0).sum()


@pytest.mark.parametrize("shift", [0.0, 0.5, 3.99, 7.5])
def test_inertia_counts_the_eigenvalues_below_a_shift(shift):
    # 1600 vertices: supernodes of more than a block, tails of more than a block
    side = 40
    line = 4 * np.sin(np.pi * np.arange(1, side + 1) / (2 * side + 2)) ** 2
    below = int(((line[:, None] + line) < shift).sum())
    assert Factor.of(csr_array(grid(side) - shift * eye_array(side**2))).negative == below


def test_a_dense_matrix_of_several_blocks():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200, 200))
    A = csr_array(A @ A.T + np.eye(200))
    B = rng.standard_normal((200, 3))
    np.testing.assert_allclose(Factor.of(A).solve(B), np.linalg.solve(A.toarray(), B), rtol=1e-8)


def test_a_supernode_of_several_blocks_beside_a_tail():
    # two cliques that share 20 vertices; some entries are stored and 0
    rng = np.random.default_rng(2)
    dense = rng.uniform(1.0, 2.0, (200, 200))
    dense[:90, 110:] = dense[110:, :90] = 0.0
    dense = dense + dense.T + np.diag(500.0 * rng.choice([-1.0, 1.0], 200))
    A = csr_array(dense)
    zero = np.triu(rng.random((200, 200)) < 0.2, 1)
    A.data[(zero | zero.T)[A.nonzero()]] = 0.0
    symbolic = Symbolic.of(A)
    assert ((np.diff(symbolic.heads) > 64) & (np.diff(symbolic.tail_start) > 0)).any()
    found, B = Factor.of(A, symbolic), rng.standard_normal((200, 2))
    np.testing.assert_allclose(found.solve(B), np.linalg.solve(A.toarray(), B), rtol=1e-10, atol=1e-14)
    assert found.negative == (np.linalg.eigvalsh(A.toarray()) < 0).sum()


def test_a_raised_flag_changes_nothing():
    A = grid(12)
    found = Factor.of(A)
    known, stop = found.symbolic, np.array([1, 0], dtype=np.uint8)
    members, beside = np.arange(len(known.heads) - 1), np.zeros((0, 0))
    shape = (known.tail_start, known.tails, known.place)
    # to factor or to solve once more would change all of these
    values, pivots, x = found.values.copy(), found.pivots.copy(), np.ones((1, 144, 4))
    factor_supernodes(known.heads, known.owner, *shape, values, pivots, members, beside, stop)
    forward(known.heads, *shape, values, pivots, members, stop, x, np.zeros((1, 0, 4)))
    backward(known.heads, *shape, values, pivots, members, stop, x)
    assert values.tobytes() == found.values.tobytes()
    assert pivots.tobytes() == found.pivots.tobytes()
    assert (x == 1).all()
    assert stop.tolist() == [1, 0]


def test_one_pattern_serves_many_matrices_and_threads_change_no_bit():
    A = grid(100)
    symbolic = Symbolic.of(A)
    assert len(symbolic.subtrees.parts) > 1
    B = np.random.default_rng(1).standard_normal((10_000, 7))
    for scale in (1.0, 3.0):
        found = Factor.of(csr_array(scale * A), symbolic)
        X = found.solve(B)
        np.testing.assert_allclose(scale * (A @ X), B, atol=1e-10)
    for n_jobs in (1, 3):
        again = Factor.of(csr_array(3.0 * A), symbolic, n_jobs)
        assert again.values.tobytes() == found.values.tobytes()
        assert again.solve(B, n_jobs).tobytes() == X.tobytes()


def test_costs_say_what_is_worth_a_part_of_its_own():
    assert not Symbolic.of(grid(40)).subtrees.parts
    assert len(Symbolic.of(grid(40), costs=SMALL_PARTS).subtrees.parts) > 1


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 200), st.integers(0, 400), st.integers(0, 10_000))
def test_subtrees_are_disjoint_and_touch_only_the_top(n, edges, seed):
    symbolic = Symbolic.of(symmetric(n, edges, seed), costs=SMALL_PARTS)
    cut = symbolic.subtrees
    everyone = np.concatenate([*cut.parts, cut.top])
    assert sorted(everyone) == list(range(len(symbolic.heads) - 1))
    for members in cut.parts:
        border = set(symbolic.border(members))
        assert (np.diff(members) > 0).all()
        assert border <= set(np.flatnonzero(np.isin(symbolic.owner, cut.top)))
        for s in members:
            outside = symbolic.tails[symbolic.tail_start[s] : symbolic.tail_start[s + 1]]
            assert set(outside[~np.isin(symbolic.owner[outside], members)]) <= border


def test_the_forecast_is_what_the_factor_holds():
    A = grid(30)
    symbolic = Symbolic.of(A)
    elimination = eliminate(permuted(without_diagonal(A), symbolic.order))
    sizes = np.diff(symbolic.heads)
    # beyond the filled structure and the diagonal only the unused halves of the dense blocks
    assert symbolic.entries == elimination.fill + 900 + (sizes * (sizes - 1) // 2).sum()
    assert symbolic.operations.sum() == elimination.operations


@pytest.mark.parametrize("bad", [0.0, np.nan])
def test_a_pivot_that_nothing_can_be_divided_by(bad):
    entries, columns, rows = [1.0, 0.5, 0.5, 1.0, bad], [0, 1, 0, 1, 2], [0, 0, 1, 1, 2]
    A = csr_array((entries, (rows, columns)), shape=(3, 3))
    with pytest.raises(SingularFactorError, match="3 x 3 matrix is singular"):
        Factor.of(A)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 60), st.integers(0, 300), st.integers(0, 10_000))
def test_superlu_in_any_order_solves_both_ways(n, edges, seed):
    rng = np.random.default_rng(seed)
    A = symmetric(n, edges, seed).toarray()
    A[np.triu_indices(n, 1)] *= 0.5  # no longer symmetric
    B = rng.standard_normal((n, 3))
    found = OrderedLU(csr_array(A), rng.permutation(n), pivot=0.1)
    np.testing.assert_allclose(found.solve(B), np.linalg.solve(A, B), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.solve(B, "T"), np.linalg.solve(A.T, B), rtol=1e-9, atol=1e-11)


def test_superlu_names_a_singular_matrix():
    with pytest.raises(SingularFactorError, match="2 x 2 matrix is singular"):
        OrderedLU(csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]])), np.arange(2))
