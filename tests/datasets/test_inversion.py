"""Inverse of increasing functions, to the last bits."""

import numpy as np
import pytest

from gramfold.datasets._inversion import invert_increasing


@pytest.mark.parametrize("power", [1, 2, 3, 7])
def test_roots(power: int) -> None:
    target = np.linspace(0.01, 1.0, 200) ** power
    x = invert_increasing(lambda x: x**power, lambda x: power * x ** (power - 1), target, 0.0, 5.0)
    np.testing.assert_allclose(x, np.linspace(0.01, 1.0, 200), rtol=1e-13)


def test_newton_alone_would_diverge() -> None:
    # from the middle of the bracket, a plain Newton step on the arc tangent leaves for infinity
    target = np.arctan(np.array([-30.0, -2.0, 0.0, 5.0, 40.0]))
    x = invert_increasing(np.arctan, lambda x: 1 / (1 + x * x), target, -60.0, 50.0)
    np.testing.assert_allclose(x, [-30.0, -2.0, 0.0, 5.0, 40.0], rtol=1e-12, atol=1e-13)
