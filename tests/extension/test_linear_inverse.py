import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.extension.linear_inverse import LinearInverse

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 8)) @ RNG.standard_normal((8, 8))
MEAN = X.mean(axis=0)
Y = (X - MEAN) @ RNG.standard_normal((8, 3)) * [1.0, 1e-6, 1e5]  # directions aslant, coordinates of any size


def inverse(points=X, places=Y):
    return LinearInverse(points, MEAN, places, (X - MEAN).T @ places)


def test_is_least_squares():
    unit = Y / np.linalg.norm(Y, axis=0)
    expected = unit @ np.linalg.lstsq(unit, X - MEAN, rcond=None)[0] + MEAN
    np.testing.assert_allclose(inverse()(Y), expected, atol=1e-9)


def test_error_is_of_rows_left_out_of_the_least_squares():
    squares = 0.0
    for i in range(60):
        others = np.arange(60) != i
        A = np.column_stack([Y / np.abs(Y).max(axis=0), np.ones(60)])
        rebuilt = A[i] @ np.linalg.lstsq(A[others], X[others], rcond=None)[0]
        squares += np.square(X[i] - rebuilt).sum()
    expected = np.sqrt(squares) / np.linalg.norm(X - MEAN)
    assert inverse().error == pytest.approx(expected)
    assert inverse(csr_array(X)).error == pytest.approx(expected)


def test_a_coordinate_that_says_nothing_does_no_harm():
    padded = np.column_stack([Y, np.zeros(60), Y[:, 0]])  # nothing, and the same again
    np.testing.assert_allclose(inverse(places=padded)(padded), inverse()(Y), atol=1e-9)


def test_a_row_with_a_direction_to_itself_is_as_far_as_the_mean():
    alone = np.zeros((60, 1))
    alone[7] = 1.0
    alone -= alone.mean()
    lone = LinearInverse(X[[7]], MEAN, alone[[7]] / np.linalg.norm(alone), (X - MEAN).T @ alone)
    assert lone.error == pytest.approx(1.0)
