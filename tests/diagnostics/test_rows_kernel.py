"""The kernel of a model over its data rows: entries and trace of every method, whatever rows its kernel is of."""

import numpy as np
import pytest

from gramfold import LLE, CommuteTime, Isomap, LaplacianEigenmaps, OrdinalMDS, SpectralClustering
from gramfold.datasets import make_s_curve
from gramfold.diagnostics.rows_kernel import EXACT_ROWS, RowsKernel
from tests.contract.discovery import exported

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(120, 4))
ROWS[60:70] = ROWS[:10]  # copies
ROWS[80:] += 30.0  # and two groups
WAYS = ({}, {"on_disconnected": "largest"}, {"on_disconnected": "separate"}, {"landmarks": 40})
CASES = [
    pytest.param(cls, more, id=f"{cls.__name__}-{more}")
    for cls in exported()
    if cls not in {OrdinalMDS, SpectralClustering}  # which have no kernel
    for more in WAYS
    if set(more) <= set(cls().get_params())
]


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize(("cls", "more"), CASES)
def test_entries_and_trace_are_those_of_the_matrix(cls, more):
    model = cls(**more).fit(ROWS)
    kernel = RowsKernel.of(model, "model")
    whole = model.kernel_.dense()
    rounding = _of_eigenvectors(model.kernel_, whole) if cls is LLE else 1e-8
    assert len(kernel) == len(whole)
    i, j = rng.choice(kernel.rows, (2, 15))
    a, b = ([kernel.rows.tolist().index(row) for row in rows] for rows in (i, j))
    np.testing.assert_allclose(kernel.entries(i, j), whole[a, b], atol=rounding * np.abs(whole).max())
    assert kernel.trace().value == pytest.approx(np.trace(whole), rel=rounding)
    absent = np.setdiff1d(np.arange(120), kernel.rows)
    assert np.isnan(kernel.entries(absent, absent)).all()


def _of_eigenvectors(kernel, whole):
    """The relative error of K = M†, made of all eigenvectors of M, whose eigenvalues are exact to eps ‖M‖."""
    return 10 * np.finfo(float).eps * np.linalg.norm(kernel.penalty.toarray(), 2) * np.linalg.norm(whole, 2)


def test_a_trace_that_is_estimated_is_within_its_interval():
    rows = make_s_curve(EXACT_ROWS + 100, random_state=0).points
    model = CommuteTime(coordinates="independent").fit(rows)
    kernel = RowsKernel.of(model, "model")
    found = kernel.trace()
    truth = float(np.trace(model.kernel_.product(np.eye(len(rows)))))
    low, high = found.interval
    assert high - low < 0.05 * truth
    assert abs(found.value - truth) <= high - low


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_intervals_hold_the_trace(monkeypatch):
    monkeypatch.setattr("gramfold.diagnostics.rows_kernel.EXACT_ROWS", 10)
    rows = np.vstack([make_s_curve(150, random_state=0).points] * 2)  # a copy of each
    model = LaplacianEigenmaps().fit(rows)
    kernel, truth = RowsKernel.of(model, "model"), float(np.trace(model.kernel_.dense()))
    intervals = [kernel.trace(seed).interval for seed in range(100)]
    assert sum(low <= truth <= high for low, high in intervals) >= 88


def test_weights_do_not_change_what_the_trace_is_of():
    rows = make_s_curve(100, random_state=0).points
    model = Isomap().fit(rows, sample_weight=np.linspace(1, 3, 100))
    assert RowsKernel.of(model, "model").trace().value == pytest.approx(np.trace(model.kernel_.dense()))
