"""Loosely tied rows: found at the ends of eigenvectors, and without mass as the limit of little mass says."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.loose import edge_weights_of, localized, loose_part, most_rows, trimmed, without_mass
from gramfold.kernels.penalty import Heat, Inverse, PenaltyKernel, Steps, leading_penalties
from gramfold.types import participation


def kernel_of(W: csr_array, mass: np.ndarray | None = None) -> PenaltyKernel:
    n = W.shape[0]
    mass = degrees(W) if mass is None else mass
    return PenaltyKernel(penalty=laplacian(W), mass=mass, null=np.ones((n, 1)), rows=np.arange(n))


def torus(side: int) -> np.ndarray:
    """A square grid without ends, each vertex with its eight neighbours."""
    x, y = np.divmod(np.arange(side * side), side)
    dx, dy = ((one[:, None] - one[None, :]) % side for one in (x, y))
    near = [np.minimum(one, side - one) <= 1 for one in (dx, dy)]
    W = (near[0] & near[1]).astype(float)
    np.fill_diagonal(W, 0.0)
    return W


def with_chain(W: np.ndarray, length: int, at: int = 0) -> csr_array:
    """The graph with a chain of further vertices, one after the other, tied to one of its own."""
    n = len(W)
    wide = np.pad(W, (0, length))
    ends = np.r_[at, np.arange(n, n + length)]
    wide[ends[:-1], ends[1:]] = wide[ends[1:], ends[:-1]] = 1.0
    return csr_array(wide)


def ring(n: int, reach: int) -> csr_array:
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    apart = np.minimum(apart, n - apart)
    return csr_array(((apart > 0) & (apart <= reach)).astype(float))


# --- vertices without mass


def random_weights(n: int, seed: int) -> csr_array:
    rng = np.random.default_rng(seed)
    W = np.triu(rng.lognormal(0, 1, (n, n)) * (rng.random((n, n)) < 0.1), 1)
    W[np.arange(n - 1), np.arange(1, n)] += 0.5
    return csr_array(W + W.T)


LOOSE = np.isin(np.arange(60), [3, 4, 5, 20, 41, 59])


def test_no_mass_is_the_limit_of_little_mass() -> None:
    W = random_weights(60, 0)
    kernel = without_mass(kernel_of(W), LOOSE)
    found = leading_penalties(kernel, 5)
    little = np.where(LOOSE, 1e-6 * degrees(W), degrees(W))
    values, vectors = eigh(laplacian(W).toarray(), np.diag(little))
    np.testing.assert_allclose(found.penalties, values[1:6], rtol=1e-5)
    np.testing.assert_allclose(np.abs(found.eigenvectors), np.abs(vectors[:, 1:6]), atol=1e-4)


def test_the_others_are_solved_by_the_schur_complement() -> None:
    W = random_weights(60, 3)
    L, mass = laplacian(W).toarray(), degrees(W)
    S, T = ~LOOSE, LOOSE
    schur = L[np.ix_(S, S)] - L[np.ix_(S, T)] @ np.linalg.solve(L[np.ix_(T, T)], L[np.ix_(T, S)])
    values, vectors = eigh(schur, np.diag(mass[S]))
    found = leading_penalties(without_mass(kernel_of(W), LOOSE), 5)
    np.testing.assert_allclose(found.penalties, values[1:6], rtol=1e-10)
    np.testing.assert_allclose(np.abs(found.eigenvectors[S]), np.abs(vectors[:, 1:6]), atol=1e-10)


def test_eigenvectors_are_harmonic_where_there_is_no_mass() -> None:
    W = random_weights(60, 1)
    kernel = without_mass(kernel_of(W), LOOSE)
    found = leading_penalties(kernel, 5)
    V, L = found.eigenvectors, laplacian(W)
    np.testing.assert_allclose(L @ V, kernel.mass[:, None] * V * found.penalties, atol=1e-10)
    np.testing.assert_allclose(V.T @ (kernel.mass[:, None] * V), np.eye(5), atol=1e-10)
    mean = (W @ V)[LOOSE] / degrees(W)[LOOSE][:, None]
    np.testing.assert_allclose(V[LOOSE], mean, atol=1e-10)


@pytest.mark.parametrize("decay", [Inverse(), Heat(0.7), Steps(2)], ids=["inverse", "heat", "steps"])
def test_the_kernel_is_the_sum_over_all_eigenvectors(decay) -> None:
    W = random_weights(60, 2)
    kernel = replace(without_mass(kernel_of(W), LOOSE), decay=decay)
    every = leading_penalties(kernel, int((~LOOSE).sum()) - 1)
    K = (every.eigenvectors * decay.of(every.penalties)) @ every.eigenvectors.T
    np.testing.assert_allclose(kernel.matrix(), K, atol=1e-9 * np.abs(K).max())
    V = np.random.default_rng(0).standard_normal((60, 2))
    np.testing.assert_allclose(kernel.product(V), K @ V, atol=1e-9 * np.abs(K @ V).max())


def test_a_part_tied_to_one_vertex_leaves_the_rest_of_the_graph_as_it_is() -> None:
    W = with_chain(torus(8), 5)
    kernel = without_mass(kernel_of(W), np.arange(69) >= 64)
    small, to = kernel.reduced
    plain = laplacian(csr_array(torus(8))).toarray()
    np.testing.assert_allclose(small.penalty.toarray(), plain, atol=1e-12)
    np.testing.assert_allclose(to.extension.toarray()[64:], np.eye(64)[[0] * 5], atol=1e-12)


# --- which rows are loose


def plainly(W: np.ndarray, copies: np.ndarray, vector: np.ndarray) -> set[int]:
    """The loose part by the definition, every start of both orders looked at by itself."""
    away = vector - (copies @ vector) / copies.sum()
    best, found = np.inf, set()
    for order in (np.argsort(-away, kind="stable"), np.argsort(away, kind="stable")):
        for count in range(1, len(order)):
            inside = np.isin(np.arange(len(order)), order[:count])
            cut, volume = W[inside][:, ~inside].sum(), W[inside].sum()
            held = (copies * away**2)[inside].sum() / (copies @ away**2)
            small = copies[inside].sum() <= max(0.02 * copies.sum(), 1) and copies[inside].sum() <= 100
            loose = 0 < cut < 0.5 * np.median(W.sum(axis=1) / copies)
            if small and loose and held >= 0.1 and cut / volume < best:
                best, found = cut / volume, set(order[:count].tolist())
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_part_is_the_one_that_the_definition_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W = with_chain(torus(20), 7, at=int(rng.integers(400))).toarray()
    copies = np.ones(407)
    copies[rng.integers(0, 400, 5)] = 2.0
    W = W * np.outer(copies, copies)
    vector = leading_penalties(kernel_of(csr_array(W)), 3).eigenvectors[:, seed % 3]
    part = loose_part(csr_array(W), copies, vector)
    assert (set() if part is None else set(part.vertices.tolist())) == plainly(W, copies, vector)


def test_the_first_eigenvector_lives_on_a_pendant_chain_and_without_it_on_all() -> None:
    W = with_chain(torus(20), 8)
    kernel, copies = kernel_of(W), np.ones(408)
    before = leading_penalties(kernel, 3).eigenvectors
    assert participation(before, copies)[0] < 8.5
    found = localized(W, copies, before)
    assert set(found) == {0}
    assert set(found[0].vertices) == set(range(400, 408))
    assert found[0].edges == 1
    cut = trimmed(kernel, copies, 3)
    assert set(np.flatnonzero(cut.mass == 0)) == set(range(400, 408))
    after = leading_penalties(cut, 3).eigenvectors
    assert participation(after, copies).min() > 170  # waves of a torus: cos x + cos y has 4/9 of 400
    assert not localized(W, copies, after)


def test_one_chain_after_another_is_found() -> None:
    W = torus(30)
    for number in range(4):
        W = with_chain(W, 9 + number, at=25 * number).toarray()
    cut = trimmed(kernel_of(csr_array(W)), np.ones(len(W)), 1)
    assert set(np.flatnonzero(cut.mass == 0)) == set(range(900, 942))


@pytest.mark.parametrize(
    "weights",
    [ring(300, 1), ring(300, 4), csr_array(np.eye(300, k=1) + np.eye(300, k=-1)), csr_array(torus(18))],
    ids=["ring", "thick ring", "path", "torus"],
)
def test_curves_and_sheets_have_no_loose_rows(weights: csr_array) -> None:
    kernel, copies = kernel_of(weights), np.ones(weights.shape[0])
    vectors = leading_penalties(kernel, 10).eigenvectors
    assert all(loose_part(weights, copies, one) is None for one in vectors.T)
    assert trimmed(kernel, copies, 10) is kernel


@pytest.mark.parametrize("size", [8, 30, 110])
def test_a_cluster_is_loose_only_where_it_is_a_handful(size: int) -> None:
    """A complete graph of `size` vertices tied by one edge to a torus of 900."""
    W = np.zeros((900 + size, 900 + size))
    W[:900, :900] = torus(30)
    W[900:, 900:] = 1.0 - np.eye(size)
    W[0, 900] = W[900, 0] = 1.0
    vector = leading_penalties(kernel_of(csr_array(W)), 1).eigenvectors
    found = localized(csr_array(W), np.ones(len(W)), vector)
    assert bool(found) == (size <= most_rows(len(W)))


def test_a_component_is_not_left_out() -> None:
    """Two components of which one is small: it is no loose part of the other."""
    W = np.zeros((412, 412))
    W[:408, :408] = with_chain(torus(20), 8).toarray()
    W[408:, 408:] = 1.0 - np.eye(4)
    component = connected_components(csr_array(W))[1]
    null = np.eye(2)[component]
    kernel = replace(kernel_of(csr_array(W)), null=null)
    cut = trimmed(kernel, np.ones(412), 3)
    assert set(np.flatnonzero(cut.mass == 0)) == set(range(400, 408))


def test_weights_are_those_of_the_laplacian() -> None:
    W = random_weights(30, 7)
    np.testing.assert_allclose(edge_weights_of(laplacian(W)).toarray(), W.toarray(), atol=1e-13)
    scale = np.random.default_rng(0).uniform(0.5, 2, 30)
    scaled = csr_array(laplacian(W).toarray() / np.outer(scale, scale))
    np.testing.assert_allclose(edge_weights_of(scaled, scale).toarray(), W.toarray(), atol=1e-13)


def test_participation_counts_rows() -> None:
    columns = np.column_stack([np.eye(10)[3], np.ones(10), np.r_[np.ones(4), np.zeros(6)], np.zeros(10)])
    np.testing.assert_allclose(participation(columns, np.ones(10)), [1, 10, 4, 0])
    copies = np.r_[np.full(4, 3.0), np.ones(6)]
    written_out = np.repeat(columns, copies.astype(int), axis=0)
    np.testing.assert_allclose(participation(columns, copies), participation(written_out, np.ones(18)))
