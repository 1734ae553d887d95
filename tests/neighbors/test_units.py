import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.errors import InputError
from gramfold.neighbors.units import Unit


def test_there_and_back():
    unit, values = Unit(-300), np.random.default_rng(0).standard_normal(20)
    for degree in (-1, 0, 1, 2):
        np.testing.assert_array_equal(unit.inward(unit.outward(values, degree), degree), values)
    assert unit.size == 2.0**-300
    assert Unit.of_size(3.0) == Unit(2)


@pytest.mark.parametrize(("dtype", "safe"), [(np.float64, 1e50), (np.float32, 1e8)])
def test_rows_of_an_ordinary_size_are_their_own_unit(dtype, safe):
    rows = np.array([[1.0, -2.0], [0.5, np.nan]], dtype=dtype)
    for size in (1.0, safe, 1 / safe):
        assert Unit.of_rows(rows * dtype(size)) == Unit()
    assert Unit.of_rows(np.zeros((3, 2), dtype=dtype)) == Unit()


@pytest.mark.parametrize(("dtype", "power"), [(np.float64, 700), (np.float64, -900), (np.float32, 101)])
@pytest.mark.parametrize("sparse", [False, True])
def test_others_come_to_about_one_by_a_power_of_four(dtype, power, sparse):
    rows = np.ldexp(np.array([[1.0, -1.5], [0.25, 0.0]], dtype=dtype), power)
    unit = Unit.of_rows(csr_array(rows) if sparse else rows)
    assert unit.power % 2 == 0
    seen = unit.inward(csr_array(rows) if sparse else rows)
    seen = seen.toarray() if sparse else seen
    assert seen.dtype == dtype
    assert 0.25 <= np.abs(seen).max() <= 4.0
    np.testing.assert_array_equal(unit.outward(seen), rows)


def test_a_row_beside_which_all_others_vanish_is_refused():
    with pytest.raises(
        InputError, match=r"row 3 contains 1\.0e\+200, while half of the rows have no value above 1\.0e\+00"
    ):
        Unit.of_rows(np.vstack([np.ones((3, 2)), [[1e200, 1.0]], np.ones((3, 2))]))


def test_what_floats_cannot_hold_is_refused():
    unit = Unit(-800)
    with pytest.raises(InputError, match="the training values are at most 2\\^-800"):
        unit.inward_new(np.full((1, 1), 1e200))
    large = Unit(1000)
    with pytest.raises(InputError, match=r"coordinates exceed 1\.8e\+308, the largest float64: divide X by a constant"):
        large.shown(np.full((1, 1), 1e30), 1, np.dtype(np.float64), "coordinates")
    assert large.shown(np.ones(2), 0, np.dtype(np.float32), "coordinates").dtype == np.float32
