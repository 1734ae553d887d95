"""A new point meets a gram."""

import numpy as np
import pytest

from gramfold.extension.project import positive_directions, project, scaled
from gramfold.kernels.gram import centered_gram
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Spectrum


def spectrum_of(values: list[float]) -> Spectrum:
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((9, len(values))))[0]
    return Spectrum(np.array(values), vectors, np.zeros(len(values)), "none", 0.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("exponent", [0.5, 0.0, 1.0])
def test_training_points_return(weighted: bool, exponent: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) + 3
    mass = rng.integers(1, 4, 60).astype(float) if weighted else np.ones(60)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    kernel = centered_gram(squared, scale=-0.5, mass=mass)
    kernel = type(kernel)(**{**vars(kernel), "exponent": exponent})
    spectrum = leading_spectrum(kernel, 4)
    placed = project(kernel.cross(squared), kernel, spectrum)
    np.testing.assert_allclose(placed, scaled(spectrum, exponent), atol=1e-10)


def test_a_linear_gram_places_new_points_as_principal_components_do() -> None:
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((60, 5)), rng.standard_normal((10, 5))
    kernel = centered_gram(X @ X.T)
    spectrum = leading_spectrum(kernel, 3)
    axes = np.linalg.svd(X - X.mean(axis=0))[2][:3]
    expected = (new - X.mean(axis=0)) @ axes.T
    found = project(kernel.cross(new @ X.T), kernel, spectrum)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-10)


def test_directions_that_are_not_positive_are_zero() -> None:
    spectrum = spectrum_of([4.0, 1e-11, 1e-13, 0.0, -1.0])
    np.testing.assert_array_equal(positive_directions(spectrum), [True, True, False, False, False])
    for power in (0.5, -0.5):
        found = scaled(spectrum, power)
        np.testing.assert_allclose(found[:, 0], 4.0**power * spectrum.eigenvectors[:, 0])
        np.testing.assert_array_equal(found[:, 2:], 0.0)
    assert scaled(spectrum, 0.0) is spectrum.eigenvectors


def test_nothing_is_positive_in_a_gram_of_zeros() -> None:
    assert not positive_directions(spectrum_of([0.0, 0.0])).any()
    assert not positive_directions(spectrum_of([-1e-20, -1.0])).any()
