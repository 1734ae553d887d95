"""Units of columns, of which some hardly vary in the rows that are looked at."""

import numpy as np
import pytest

from gramfold.advice.scaling import choose_scaling


def columns(rare):
    """Two wide columns, three of noise in the last decimals, and one that is 1 in the first rows."""
    X = np.random.default_rng(0).standard_normal((2000, 5)) * [100, 50, 1e-3, 2e-3, 1e-3]
    return np.column_stack([X, np.where(np.arange(len(X)) < rare, 1.0, 1.0 + 1e-3)])


@pytest.mark.parametrize("rare", [1990, 2000])
def test_a_column_that_is_constant_in_some_rows_decides_nothing(rare):
    found = choose_scaling(columns(rare), list("abcdef"))
    assert found.value == choose_scaling(columns(rare)[:, :5], list("abcde")).value == "none"
    assert "look like noise" in found.reason


def test_quiet_columns_that_are_all_constant_are_no_noise():
    X = columns(1990)[:, [0, 5, 5, 5]]
    assert choose_scaling(np.column_stack([X, X[:, 0] / 2]), list("abcde")).value == "standardise"
