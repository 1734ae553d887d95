"""Repairs, against matrices written out."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, squareform

from gramfold.kernels.mercer import RepairedGram, additive_constant, mercer_gram, smallest_shift
from gramfold.spectral.negative import negative_part
from gramfold.spectral.policy import leading_spectrum


def centred(A: np.ndarray) -> np.ndarray:
    H = np.eye(len(A)) - 1 / len(A)
    return -0.5 * H @ A @ H


def cailliez(D: np.ndarray) -> float:
    """The eigenvalue of largest real part of the 2n × 2n matrix."""
    n = len(D)
    whole = np.block([[np.zeros((n, n)), 2 * centred(D**2)], [-np.eye(n), -4 * centred(D)]])
    return float(np.linalg.eigvals(whole).real.max())


def bent_line(n: int) -> np.ndarray:
    """Walks around a circle: no flat space has them."""
    angle = np.sort(np.random.default_rng(0).random(n)) * 2 * np.pi
    apart = np.abs(angle[:, None] - angle[None])
    return np.minimum(apart, 2 * np.pi - apart)


def noise(n: int) -> np.ndarray:
    """Not even a metric."""
    return squareform(np.random.default_rng(1).random(n * (n - 1) // 2))


def city(n: int) -> np.ndarray:
    X = np.random.default_rng(2).random((n, 4))
    return cdist(X, X, "cityblock")


DISSIMILARITIES = {"circle": bent_line(120), "noise": noise(150), "city blocks": city(200), "four": noise(4)}
example = pytest.mark.parametrize("D", DISSIMILARITIES.values(), ids=DISSIMILARITIES)


@example
def test_constant_is_the_eigenvalue_of_largest_real_part(D):
    assert additive_constant(D**2) == pytest.approx(cailliez(D), rel=1e-8)


def test_two_points_need_no_repair():
    squared = np.array([[0.0, 4.0], [4.0, 0.0]])
    assert additive_constant(squared) == smallest_shift(squared) == 0.0
    assert additive_constant(np.zeros((3, 3))) == smallest_shift(np.zeros((3, 3))) == 0.0


def test_three_points_become_a_line():
    # 1 + 1 < 3: the triangle closes when c + 3 = 2 (c + 1)
    assert additive_constant(squareform([1.0, 1.0, 3.0]) ** 2) == pytest.approx(1.0, rel=1e-9)


def test_euclidean_distances_need_no_repair():
    X = np.random.default_rng(0).standard_normal((300, 5))
    squared = cdist(X, X, "sqeuclidean")
    assert additive_constant(squared) < 1e-7
    assert smallest_shift(squared) < 1e-9


@example
@pytest.mark.parametrize("repair", ["clip", "shift", "constant"])
def test_repaired_kernel_is_positive_semidefinite_and_no_more_than_that(D, repair):
    kernel = mercer_gram(D**2, repair)
    K = kernel.matrix()
    values = np.linalg.eigvalsh(K)
    assert abs(values[0]) <= 1e-9 * values[-1]
    if repair == "constant":
        np.testing.assert_allclose(
            K,
            centred(D**2) + 2 * kernel.constant * centred(D) + kernel.constant**2 * -centred(np.eye(len(D))),
            atol=1e-10 * values[-1],
        )
        below = np.where(D > 0, D + 0.99 * kernel.constant, 0)
        assert np.linalg.eigvalsh(centred(below**2))[0] < -1e-6 * values[-1]
    if repair == "shift":
        np.testing.assert_allclose(K, centred(D**2 + 2 * kernel.shift * (1 - np.eye(len(D)))), atol=1e-10 * values[-1])
        assert kernel.shift == pytest.approx(-np.linalg.eigvalsh(centred(D**2))[0], rel=1e-9)
    if repair == "clip":
        every, vectors = np.linalg.eigh(centred(D**2))
        np.testing.assert_allclose(K, (vectors * np.maximum(every, 0)) @ vectors.T, atol=1e-12 * values[-1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("repair", ["clip", "shift", "constant"])
def test_products_columns_and_trace_are_those_of_the_matrix(repair, dtype):
    rng = np.random.default_rng(0)
    n = 400  # so that products are taken in two blocks, the second shorter
    squared = (noise(n) ** 2).astype(dtype)
    mass, c = rng.integers(1, 4, n).astype(float), rng.standard_normal(n)
    c += (1 - c.sum()) / n
    kernel = mercer_gram(squared, repair, mass=mass, center=c)
    assert kernel.array is squared, "the one n × n array is kept"
    K, V = kernel.matrix(), rng.standard_normal((n, 3))
    size = np.abs(K).max()
    np.testing.assert_allclose(kernel.product(V), K @ V, atol=1e-11 * size)
    assert kernel.trace() == pytest.approx(mass @ np.diag(K), rel=1e-11)
    np.testing.assert_allclose(K @ c, 0, atol=1e-11 * size)
    values = np.linalg.eigvalsh(np.sqrt(np.outer(mass, mass)) * K)
    assert values[0] >= -1e-9 * values[-1], "in any mass and about any centre, from float32 squares too"
    if repair != "clip":
        np.testing.assert_allclose(kernel.cross(squared), K, atol=1e-11 * size)


@pytest.mark.parametrize("repair", ["clip", "shift", "constant"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_kernel_before_its_repair_and_the_negative_part_of_both(repair, weighted):
    squared = bent_line(200) ** 2
    mass = np.random.default_rng(0).integers(1, 4, 200).astype(float) if weighted else np.ones(200)
    plain, kernel = mercer_gram(squared, None, mass=mass), mercer_gram(squared, repair, mass=mass)
    assert not isinstance(plain, RepairedGram)
    before = kernel.unrepaired()
    assert not isinstance(before, RepairedGram)
    np.testing.assert_array_equal(before.matrix(), plain.matrix())
    np.testing.assert_array_equal(before.mass, mass)
    every = np.linalg.eigvalsh(np.sqrt(np.outer(mass, mass)) * plain.matrix())
    found = negative_part(before, leading_spectrum(before, 2))
    assert found.most_negative == pytest.approx(every[0], rel=1e-10)
    assert found.mass == pytest.approx(-every[every < 0].sum() / np.abs(every).sum(), rel=1e-10)
    assert found.mass > 0.05
    assert negative_part(kernel, leading_spectrum(kernel, 2)).mass < 1e-9
