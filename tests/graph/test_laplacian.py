"""L = D − W."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramfold.graph.laplacian import degrees, laplacian


def random_weights(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.5)
    W = np.triu(W, 1)
    return W + W.T


@given(st.integers(0, 10_000), st.integers(1, 20))
def test_laplacian(seed: int, n: int) -> None:
    W = random_weights(seed, n)
    L = laplacian(csr_array(W))
    np.testing.assert_allclose(L.toarray(), np.diag(W.sum(axis=1)) - W, atol=1e-14)
    np.testing.assert_allclose(L @ np.ones(n), 0.0, atol=1e-13)
    np.testing.assert_allclose(degrees(csr_array(W)), W.sum(axis=1), atol=1e-14)


@given(st.integers(0, 10_000), st.integers(2, 20))
def test_quadratic_form(seed: int, n: int) -> None:
    """Ham et al. 2004, eq (10): ψᵀLψ = ½ Σ (ψ_i − ψ_j)² W_ij."""
    W = random_weights(seed, n)
    psi = np.random.default_rng(seed + 1).standard_normal(n)
    expected = 0.5 * ((psi[:, None] - psi[None, :]) ** 2 * W).sum()
    np.testing.assert_allclose(psi @ (laplacian(csr_array(W)) @ psi), expected, rtol=1e-10, atol=1e-12)
