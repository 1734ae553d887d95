"""The certificate once more, by plain dense algebra and nothing of the package but the problem's numbers."""

import numpy as np


def kernel_of(coordinates: np.ndarray) -> np.ndarray:
    return coordinates @ coordinates.T


def lengths_of(K: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    i, j = pairs.T
    return K[i, i] + K[j, j] - 2.0 * K[i, j]


def dense_laplacian(pairs: np.ndarray, weights: np.ndarray, n: int) -> np.ndarray:
    L = np.zeros((n, n))
    for (i, j), w in zip(pairs, weights, strict=True):
        b = np.zeros(n)
        b[i], b[j] = 1.0, -1.0
        L += w * np.outer(b, b)
    return L


def least_eigenvalue(L: np.ndarray, mass: np.ndarray) -> float:
    """Of L v = λ M v on centred v."""
    root = 1.0 / np.sqrt(mass)
    S = root[:, None] * L * root[None, :]
    null = np.sqrt(mass / mass.sum())
    # the constant vector is moved out of the way
    return float(np.linalg.eigvalsh(S + 2.0 * np.abs(S).sum() * np.outer(null, null))[0])


def verify(solution, pairs, distances, mass=None, isometry="nonexpansive", stiffness=100.0):
    """Recompute everything that the certificate says and compare; returns the dense kernel."""
    squared = np.asarray(distances, dtype=float) ** 2
    n = len(solution.coordinates)
    mass = np.ones(n) if mass is None else np.asarray(mass, dtype=float)
    certificate = solution.certificate
    K = kernel_of(solution.coordinates)
    size = float(mass @ np.diag(K))
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * size
    assert abs(mass @ K @ mass) < 1e-9 * size * mass.sum()
    # |y_i − y_j|², for K_ii + K_jj − 2 K_ij would lose all digits of a pair that is 1e-6 of the map
    kept = np.square(solution.coordinates[pairs[:, 0]] - solution.coordinates[pairs[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(lengths_of(K, pairs), kept, rtol=1e-9, atol=1e-13 * np.diag(K).max())
    objective = size
    ratio = np.sqrt(kept / squared)
    if isometry == "nonexpansive":
        violation = max(0.0, ratio.max() - 1.0)
        assert violation <= 1e-12, "the kernel is feasible, not nearly"
        assert (certificate.weights >= 0).all()
    elif isometry == "exact":
        violation = np.abs(ratio - 1.0).max()
        worth = float(np.abs(certificate.weights) @ np.abs(kept - squared))
        np.testing.assert_allclose(certificate.primal_uncertainty, worth, rtol=1e-4, atol=1e-9 * size)
    else:
        violation = 0.0
        objective -= 0.5 * stiffness * float(((kept - squared) ** 2 / squared).sum())
    np.testing.assert_allclose(certificate.primal, objective, rtol=1e-9)
    np.testing.assert_allclose(certificate.max_violation, violation, rtol=1e-3, atol=1e-9)
    # weights are scaled so that L(w) ⪰ M on centred vectors
    w = certificate.weights
    least = least_eigenvalue(dense_laplacian(pairs, w, n), mass)
    rounding = 1e-14 * np.abs(w).max() / mass.min()  # of the dense eigenvalues
    assert least >= 1.0 - 1e-9 - rounding
    bound = float(w @ squared) + (float(w**2 @ squared) / (2 * stiffness) if isometry == "slack" else 0.0)
    np.testing.assert_allclose(certificate.upper_bound, bound, rtol=1e-9)
    np.testing.assert_allclose(certificate.gap, (bound - objective) / abs(bound), atol=1e-9)
    np.testing.assert_array_equal(np.sort(certificate.pairs, axis=1), np.sort(pairs, axis=1))
    return K
