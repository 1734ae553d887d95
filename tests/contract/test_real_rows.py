"""The battery for every estimator that places new rows: tables that ship with scikit-learn, and groups in 50 columns.

The larger tables, and those beside the checkout where they are there, run with the slow tests.
"""

from functools import cache

import pytest

from tests.contract import battery
from tests.contract.discovery import by_name, exported, worked_example

PLACING = [cls for cls in [*exported(), worked_example()] if hasattr(cls, "transform")]
# A semidefinite program of all rows would take the time of all others together.
FEWER_ROWS = {"SDE": 120}
# A check that an estimator need not pass has a reason here: {class name: {check name: reason}}.
EXCUSED: dict[str, dict[str, str]] = {
    "ProjectionPursuit": {
        "bad_maps_are_told": "looks for directions of any odd shape, where rows may vary least; keeps no neighbours"
    },
    "FactorAnalysis": {
        "bad_maps_are_told": "all columns count alike, whatever they vary by: the faint margins of digits too"
    },
}
# The table where an excuse is needed most, where it is not the groups.
SHOWN = {"FactorAnalysis": "digits"}
# Both hold matrices of all columns for each of their kernels: minutes at thousands of columns.
NARROW = {"KernelEigenmaps": 300, "MixturePPCA": 300}

every_placing = pytest.mark.parametrize("cls", PLACING, ids=by_name)


def run(cls, table):
    if table.rows.shape[1] > NARROW.get(cls.__name__, table.rows.shape[1]):
        pytest.skip(f"{cls.__name__} of {table.rows.shape[1]} columns takes minutes")
    trial = battery.Trial.of(cls, table.first(FEWER_ROWS[cls.__name__]) if cls.__name__ in FEWER_ROWS else table)
    for check in battery.CHECKS:
        if check.__name__ not in EXCUSED.get(cls.__name__, {}):
            check(trial)


bundled, long = cache(lambda name: battery.BUNDLED[name]()), cache(lambda name: battery.LONG[name][0]())


@every_placing
@pytest.mark.parametrize("name", battery.BUNDLED)
def test_real_rows(name, cls):
    run(cls, bundled(name))


@pytest.mark.slow
@every_placing
@pytest.mark.parametrize("name", battery.LONG)
def test_many_real_rows(name, cls):
    file = battery.LONG[name][1]
    if file is not None and not (battery.SHARED / file).exists():
        pytest.skip(f"{file} is not beside the checkout")
    run(cls, long(name))


def test_excuses_are_needed():
    """Each of them would fail without; on the table where it shows most."""
    classes = {cls.__name__: cls for cls in PLACING}
    for name, checks in EXCUSED.items():
        trial = battery.Trial.of(classes[name], bundled(SHOWN.get(name, "far-groups")))
        for check in checks:
            with pytest.raises(AssertionError):
                getattr(battery, check)(trial)
