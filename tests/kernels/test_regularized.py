"""The regularised Laplacian against its dense definition, where every pair of rows has an edge."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array

from gramfold.graph.build import build_graph
from gramfold.kernels.diffusion import LaplacianKernel, laplacian_kernel
from gramfold.kernels.penalty import Inverse, Steps
from gramfold.kernels.regularized import graph_laplacian, regularized
from gramfold.runtime.costs import COSTS
from gramfold.spectral.downdated import Downdated
from gramfold.spectral.pencil import null_basis, one_norm, symmetric_penalty
from gramfold.spectral.policy import leading_spectrum
from gramfold.spectral.sparse import SparsePenalty, smallest_penalties
from gramfold.types import Graph, Neighbors


def random_graph(n: int, seed: int, copies: np.ndarray | None = None) -> Graph:
    """Random edges of random lengths, and a path that connects them."""
    rng = np.random.default_rng(seed)
    chosen = np.triu(rng.random((n, n)) < 6 / n, 1)
    chosen[np.arange(n - 1), np.arange(1, n)] = True
    i, j = np.nonzero(chosen)
    lengths = rng.uniform(0.5, 2.0, len(i))
    both = np.r_[i, j], np.r_[j, i], np.r_[lengths, lengths]
    return build_graph(Neighbors.from_pairs(*both, (n, n)), None, np.ones(n) if copies is None else copies)


def by_rows(graph: Graph, width: float | None) -> tuple[np.ndarray, np.ndarray]:
    """W + (τ/n) 1 1ᵀ over data rows, τ a tenth of the mean degree, and the vertex of each row.

    Copies are written out, and have no edge to each other.
    """
    vertex = np.repeat(np.arange(len(graph)), graph.multiplicity.astype(int))
    D = graph.lengths.toarray()
    W = np.where(D > 0, 1.0 if width is None else np.exp(-0.5 * (D / (width or 1.0)) ** 2), 0.0)[np.ix_(vertex, vertex)]
    return W + 0.1 * W.sum() / len(W) ** 2, vertex


def kernel_of(graph: Graph, width: float | None, form: str) -> LaplacianKernel:
    plain = laplacian_kernel(graph, width, form=form, decay=Inverse(), exponent=0.0)
    return regularized(plain, graph.multiplicity)


COPIES = np.r_[np.ones(30), [3.0, 2.0, 5.0], np.ones(47)]


@pytest.mark.parametrize("copies", [None, COPIES], ids=["distinct", "copies"])
@pytest.mark.parametrize("width", [None, 0.8])
@pytest.mark.parametrize("form", ["random-walk", "symmetric"])
def test_eigenpairs_are_those_of_the_dense_matrix(form: str, width: float | None, copies: np.ndarray | None) -> None:
    graph = random_graph(80, 3, copies)
    W, vertex = by_rows(graph, width)
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(D - W, D)
    found = leading_spectrum(kernel_of(graph, width, form), 6)
    expected, V = values[1:7], vectors[:, 1:7]
    shown = found.eigenvectors[vertex]
    if form == "symmetric":
        V = np.sqrt(np.diag(D))[:, None] * V
    np.testing.assert_allclose(found.penalties, expected, rtol=1e-10)
    np.testing.assert_allclose(np.abs(shown), np.abs(V), atol=1e-10)


@pytest.mark.parametrize("form", ["random-walk", "symmetric"])
def test_products_alone_find_the_same_eigenpairs(form: str) -> None:
    kernel = kernel_of(random_graph(400, 5), None, form)
    matrix, _ = symmetric_penalty(kernel)
    assert isinstance(matrix, Downdated)
    solver, values, vectors = smallest_penalties(SparsePenalty(matrix, null_basis(kernel)), 5, 1e-6)
    expected, V = np.linalg.eigh(matrix.toarray())
    assert solver == "Chebyshev filter"
    np.testing.assert_allclose(values, expected[1:6], rtol=1e-10)
    np.testing.assert_allclose(np.abs(vectors), np.abs(V[:, 1:6]), atol=1e-9)
    small = replace(COSTS, eigen=replace(COSTS.eigen, dense_rows=10))  # as for a large graph
    np.testing.assert_allclose(leading_spectrum(kernel, 5, costs=small).penalties, expected[1:6], rtol=1e-10)
    assert one_norm(matrix) >= expected[-1]


@pytest.mark.parametrize("decay", [Inverse(), Steps(2), Steps(1.5)], ids=["inverse", "steps", "broken"])
@pytest.mark.parametrize("form", ["random-walk", "symmetric"])
def test_the_product_is_that_of_the_matrix(form: str, decay: Inverse | Steps) -> None:
    graph = random_graph(80, 4, COPIES)
    kernel = replace(kernel_of(graph, 0.8, form), decay=decay)
    K, V = kernel.matrix(), np.random.default_rng(0).standard_normal((80, 3))
    np.testing.assert_allclose(kernel.product(V), K @ V, atol=1e-10 * np.abs(K @ V).max())
    P = kernel.penalty.toarray() - kernel.downdate @ kernel.downdate.T
    np.testing.assert_allclose(P @ kernel.null, 0.0, atol=1e-12)
    if isinstance(decay, Inverse):
        root = np.sqrt(kernel.mass)
        np.testing.assert_allclose(K, np.linalg.pinv(P / np.outer(root, root)) / np.outer(root, root), atol=1e-10)


def test_regularisation_leaves_the_eigenvectors_of_the_plain_form() -> None:
    """L_τ v = μ v is L v = (μ − τ) v: why it is refused there."""
    W, _ = by_rows(random_graph(60, 1), None)
    tau = W.sum(axis=1).mean() * 0.1 / 1.1
    plain = W - tau / 60
    np.fill_diagonal(plain, 0.0)
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    before, same = np.linalg.eigh(np.diag(plain.sum(axis=1)) - plain)
    np.testing.assert_allclose(values[1:], before[1:] + tau, rtol=1e-10)
    np.testing.assert_allclose(np.abs(vectors[:, 1:8]), np.abs(same[:, 1:8]), atol=1e-8)


@pytest.mark.parametrize("form", ["random-walk", "symmetric"])
def test_the_graph_itself_is_known_beside_its_regularisation(form: str) -> None:
    graph = random_graph(80, 2, COPIES)
    kernel = kernel_of(graph, None, form)
    plain = graph_laplacian(kernel)
    np.testing.assert_allclose(plain @ kernel.null, 0.0, atol=1e-12)
    np.testing.assert_array_equal((plain - kernel.penalty - csr_array(np.zeros((80, 80)))).toarray()[0, 1:], 0.0)
