"""Kernels known through their inverse: pseudo-inverse, shift, heat; and what their distances mean."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.sparse import csr_array

from gramfold.graph.laplacian import degrees, laplacian
from gramfold.kernels.penalty import Decay, Heat, Inverse, PenaltyKernel, Shift, Steps, largest_penalty
from tests.walks import commute_times


def random_weights(n: int, seed: int, density: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    W = np.triu(rng.lognormal(0, 1, (n, n)) * (rng.random((n, n)) < density), 1)
    W[np.arange(n - 1), np.arange(1, n)] += 0.5  # a path keeps it connected
    return W + W.T


def kernel_of(W: np.ndarray, mass: np.ndarray | None = None, decay: Decay | None = None) -> PenaltyKernel:
    n = len(W)
    return PenaltyKernel(
        penalty=laplacian(csr_array(W)),
        mass=np.ones(n) if mass is None else mass,
        null=np.ones((n, 1)),
        rows=np.arange(n),
        decay=decay or Inverse(),
    )


def pencil_top(W: np.ndarray, mass: np.ndarray) -> float:
    L = np.diag(W.sum(axis=1)) - W
    root = np.sqrt(mass)
    return float(np.linalg.eigvalsh(L / np.outer(root, root))[-1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["inverse", "shift", "heat"])
def test_product_and_matrix_agree(name: str, weighted: bool) -> None:
    W = random_weights(40, 0)
    mass = np.random.default_rng(1).lognormal(0, 1, 40) if weighted else np.ones(40)
    decay = {"inverse": Inverse(), "shift": Shift(largest_penalty(csr_array(np.diag(W.sum(axis=1)) - W), mass))}.get(
        name, Heat(0.7)
    )
    kernel = kernel_of(W, mass, decay)
    K = kernel.matrix()
    V = np.random.default_rng(2).standard_normal((40, 5))
    np.testing.assert_allclose(kernel.product(V), K @ V, rtol=1e-9, atol=1e-10 * np.abs(K).max())
    np.testing.assert_allclose(K, K.T, atol=1e-12 * np.abs(K).max())
    # centred in the mass, and positive semidefinite
    np.testing.assert_allclose(K @ mass, 0.0, atol=1e-10 * np.abs(K).max())
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max()


@pytest.mark.parametrize("n", [2, 3, 7, 40])
def test_largest_penalty(n: int) -> None:
    W = random_weights(n, 4)
    mass = np.random.default_rng(n).lognormal(0, 1, n)
    assert largest_penalty(csr_array(np.diag(W.sum(axis=1)) - W), mass) == pytest.approx(pencil_top(W, mass), rel=1e-10)


def test_inverse_is_the_pseudo_inverse() -> None:
    W = random_weights(30, 0)
    L = np.diag(W.sum(axis=1)) - W
    np.testing.assert_allclose(kernel_of(W).matrix(), np.linalg.pinv(L, hermitian=True), atol=1e-11)


def test_inverse_of_the_normalised_pencil() -> None:
    W = random_weights(30, 0)
    d = W.sum(axis=1)
    half = np.diag(d**-0.5)
    expected = half @ np.linalg.pinv(half @ (np.diag(d) - W) @ half, hermitian=True) @ half
    np.testing.assert_allclose(kernel_of(W, degrees(csr_array(W))).matrix(), expected, atol=1e-11)


PATH = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
TRIANGLE = np.array([[0, 1, 2.0], [1, 0, 0.25], [2, 0.25, 0]])


@pytest.mark.parametrize("W", [PATH, TRIANGLE, random_weights(12, 0), random_weights(20, 1, 0.1)])
def test_distances_are_commute_times(W: np.ndarray) -> None:
    """Ham et al. 2004, eq (23), for the discrete walk: C_ij = volume · d²_ij."""
    kernel = kernel_of(W)
    everybody = np.arange(len(W))
    found = W.sum() * kernel.squared_distances(everybody)
    np.testing.assert_allclose(found, commute_times(W), rtol=1e-9, atol=1e-9)
    by_products = W.sum() * kernel.squared_distances(everybody, everybody)
    np.testing.assert_allclose(by_products, commute_times(W), rtol=1e-8, atol=1e-9)


def test_commute_time_on_a_path_is_known() -> None:
    # resistance between ends of 5 unit edges is 5, volume 10
    assert 10 * kernel_of(PATH).squared_distances(np.array([0]))[0, 5] == pytest.approx(50, rel=1e-12)


@pytest.mark.parametrize("t", [0.01, 1.0, 20.0])
def test_heat_is_the_matrix_exponential_without_its_null_part(t: float) -> None:
    W = random_weights(25, 3)
    L = np.diag(W.sum(axis=1)) - W
    expected = expm(-L * t) - np.full((25, 25), 1 / 25)
    np.testing.assert_allclose(kernel_of(W, decay=Heat(t)).matrix(), expected, atol=1e-12)


@pytest.mark.parametrize("decay", [Heat, Steps])
def test_long_times_take_no_longer_and_give_the_same(decay: type) -> None:
    W = random_weights(25, 3)
    for t in (400, 600, 10**9, 1e300):  # from products to eigenvectors
        kernel = kernel_of(W, degrees(csr_array(W)), decay=decay(t))
        np.testing.assert_allclose(kernel @ np.eye(25), kernel.matrix(), atol=1e-12)


def test_heat_integrated_over_time_is_half_the_pseudo_inverse() -> None:
    """Ham et al. 2004, eqs (17)–(20)."""
    W = random_weights(8, 1)
    times, weights = np.polynomial.laguerre.laggauss(60)
    terms = [w * np.exp(t) * kernel_of(W, decay=Heat(2 * t)).matrix() for t, w in zip(times, weights, strict=True)]
    np.testing.assert_allclose(sum(terms), 0.5 * kernel_of(W).matrix(), atol=1e-5)  # the quadrature's own error


def test_shift_is_the_centred_eq_24() -> None:
    W = random_weights(25, 3)
    L = np.diag(W.sum(axis=1)) - W
    top = pencil_top(W, np.ones(25))
    H = np.eye(25) - 1 / 25
    found = kernel_of(W, decay=Shift(top)).matrix()
    np.testing.assert_allclose(found, H @ (top * np.eye(25) - L) @ H, atol=1e-12)
    assert np.linalg.eigvalsh(found)[0] > -1e-12


def test_product_keeps_accuracy_where_eigenvalues_are_tiny() -> None:
    # a path of 600: the largest eigenvalue of L† is 1.5e5 times its smallest
    n = 600
    W = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    # resistance between any two is their distance along the path
    found = kernel_of(W).squared_distances(np.array([0, 17]), np.array([599, 18, 17]))
    np.testing.assert_allclose(found, [[599, 18, 17], [582, 1, 0]], atol=1e-8)


@pytest.mark.parametrize("t", [0.0, 0.3, 4.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_null_vectors_may_have_a_value(t: float, weighted: bool) -> None:
    W = random_weights(25, 3)
    mass = np.random.default_rng(1).lognormal(0, 1, 25) if weighted else np.ones(25)
    root = np.sqrt(mass)
    L = np.diag(W.sum(axis=1)) - W
    whole = expm(-t * L / np.outer(root, root)) / np.outer(root, root)
    kernel = replace(kernel_of(W, mass, Heat(t)), null_value=1.0)
    np.testing.assert_allclose(kernel.matrix(), whole, atol=1e-12)
    V = np.random.default_rng(2).standard_normal((25, 3))
    np.testing.assert_allclose(kernel.product(V), whole @ V, atol=1e-12)
    np.testing.assert_allclose(kernel.product(mass[:, None]), 1.0, atol=1e-12)  # heat is neither made nor lost


@pytest.mark.parametrize("t", [0, 1, 3, 0.5, 1.7])
def test_steps_of_a_walk(t: float) -> None:
    W = random_weights(30, 2)
    d = W.sum(axis=1)
    kernel = kernel_of(W, d, Steps(t))
    P = W / d[:, None]
    values, vectors = np.linalg.eig(P)
    # P^2t with |λ|, over the degrees, without its constant part
    power = np.real((vectors * np.abs(values) ** (2 * t)) @ np.linalg.inv(vectors))
    expected = power / d - 1 / d.sum()
    np.testing.assert_allclose(kernel.matrix(), expected, atol=1e-12)
    if t == int(t):
        np.testing.assert_allclose(np.linalg.matrix_power(P, 2 * int(t)), power, atol=1e-12)
    V = np.random.default_rng(2).standard_normal((30, 3))
    np.testing.assert_allclose(kernel.product(V), expected @ V, atol=1e-11)
