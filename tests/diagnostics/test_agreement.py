"""Agreement of maps and of kernels, against plain versions over n × n matrices."""

import numpy as np
import pytest
from scipy.spatial import procrustes as plain_procrustes

from gramfold import LLE, CommuteTime, HeatKernel, Isomap, KernelIsomap, KernelPCA, LaplacianEigenmaps, OrdinalMDS
from gramfold.alignment import align
from gramfold.datasets import make_s_curve, make_swiss_roll
from gramfold.diagnostics import kernel_alignment, procrustes
from gramfold.errors import InputError

CURVE = make_s_curve(300, random_state=0).points


def plain_alignment(K, L):
    n = len(K)
    H = np.eye(n) - 1.0 / n
    K, L = H @ K @ H, H @ L @ H
    return np.trace(K @ L) / np.sqrt(np.trace(K @ K) * np.trace(L @ L))


def turned(Y, seed=0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(Y.shape[1], Y.shape[1])))[0]
    return 3.0 * Y @ Q + rng.normal(size=Y.shape[1])


# --- maps


def test_disparity_is_that_of_scipy_and_the_squared_misfit():
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(300, 3))
    Z = turned(Y) + rng.normal(size=(300, 3))
    found = procrustes(Y, Z)
    assert found.value == pytest.approx(plain_procrustes(Z, Y)[2], abs=1e-10)
    assert found.value == pytest.approx(procrustes(Z, Y).value, abs=1e-12)
    assert found.per_point.mean() == pytest.approx(found.value, abs=1e-12)
    first, second = Isomap().fit(CURVE), LLE(n_neighbors=12).fit(CURVE)
    with pytest.warns(match="misfit"):
        assert procrustes(first, second).value == pytest.approx(align(first, second).alignment_.misfit ** 2, rel=1e-9)


def test_a_similar_map_has_no_disparity_and_a_moved_row_has_all_of_it():
    Y = np.random.default_rng(0).normal(size=(200, 2))
    assert procrustes(Y, turned(Y)).value < 1e-14
    Z = turned(Y)
    Z[17] += 5.0
    assert procrustes(Y, Z).per_point.argmax() == 17


def test_rows_without_coordinates_are_left_out():
    Y = np.random.default_rng(0).normal(size=(50, 2))
    Z = turned(Y) + 0.1 * Y**2
    Y[3], Z[7, 1] = np.nan, np.nan
    kept = np.setdiff1d(np.arange(50), [3, 7])
    found = procrustes(Y, Z)
    assert found.value == pytest.approx(plain_procrustes(Z[kept], Y[kept])[2], abs=1e-10)
    assert np.flatnonzero(np.isnan(found.per_point)).tolist() == [3, 7]


def test_maps_with_nothing_in_common_have_all_disparity():
    Y = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    Z = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]])
    found = procrustes(Y, Z)
    assert found.value == 1.0
    np.testing.assert_allclose(found.per_point, 1.0)


@pytest.mark.parametrize("factor", [1e-200, 1e150])
def test_any_unit(factor):
    rng = np.random.default_rng(0)
    Y, Z = rng.normal(size=(2, 40, 2))
    assert procrustes(factor * Y, Z).value == pytest.approx(procrustes(Y, Z).value, rel=1e-9)


def test_what_cannot_be_compared_is_told():
    Y = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match=r"shape \(20, 2\) and Z \(20, 3\)"):
        procrustes(Y, np.ones((20, 3)))
    with pytest.raises(InputError, match="all lie at one point of Z"):
        procrustes(Y, np.ones((20, 2)))
    with pytest.raises(InputError, match="1 of 20 rows"):
        procrustes(Y, np.vstack([Y[:1], np.full((19, 2), np.nan)]))


# --- kernels


@pytest.mark.parametrize(
    "pair",
    [
        (Isomap(), KernelIsomap()),
        (Isomap(), LaplacianEigenmaps()),
        (LaplacianEigenmaps(), CommuteTime()),
        (HeatKernel(), KernelPCA()),
    ],
    ids=lambda pair: "-".join(type(one).__name__ for one in pair),
)
@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_alignment_is_that_of_the_matrices(pair):
    rows = np.vstack([CURVE[:280], CURVE[:20]])  # with copies
    first, second = (one.fit(rows) for one in pair)
    truth = plain_alignment(first.kernel_.dense(), second.kernel_.dense())
    assert kernel_alignment(first, second).value == pytest.approx(truth, abs=1e-10)
    assert kernel_alignment(first.kernel_, second.kernel_.dense()).value == pytest.approx(truth, abs=1e-10)
    sampled = kernel_alignment(first, second, probes=60)
    low, high = sampled.interval
    assert low <= sampled.value <= high
    assert abs(sampled.value - truth) < 2 * (high - low) + 1e-12


def test_a_kernel_of_tiny_penalties_is_solved_for():
    """Of LLE's M = RᵀR, of condition 1e8 and more, the singular values of R give the truth."""
    model, isomap = LLE(n_neighbors=12).fit(CURVE), Isomap().fit(CURVE)
    _, values, axes = np.linalg.svd(model.kernel_.root.toarray())
    K = (axes[:-1].T / values[:-1] ** 2) @ axes[:-1]
    truth = plain_alignment(K, isomap.kernel_.dense())
    assert kernel_alignment(model, isomap).value == pytest.approx(truth, abs=1e-7)


def test_a_kernel_is_aligned_with_itself_whatever_its_scale():
    kernel = Isomap().fit(CURVE).kernel_
    assert kernel_alignment(kernel, kernel).value == pytest.approx(1.0, abs=1e-12)
    assert kernel_alignment(kernel, 7.0 * kernel.dense() + 3.0).value == pytest.approx(1.0, abs=1e-12)
    sampled = kernel_alignment(kernel, kernel, probes=20)
    assert sampled.value == pytest.approx(1.0, abs=1e-12)


def test_only_rows_that_both_kernels_have_count():
    rows = np.vstack([CURVE[:100], CURVE[:60] + 100.0])
    with pytest.warns(match="connected components"):
        largest = Isomap(on_disconnected="largest").fit(rows)
    whole = KernelPCA().fit(rows)
    truth = plain_alignment(largest.kernel_.dense(), whole.kernel_.dense()[:100, :100])
    assert kernel_alignment(largest, whole).value == pytest.approx(truth, abs=1e-10)
    sampled = kernel_alignment(largest, whole, probes=90)
    assert abs(sampled.value - truth) <= 2 * (sampled.interval[1] - sampled.interval[0])
    landmarks = Isomap(landmarks=50).fit(CURVE)
    among = landmarks.landmarks_
    truth = plain_alignment(landmarks.kernel_.dense(), KernelPCA().fit(CURVE).kernel_.dense()[np.ix_(among, among)])
    assert kernel_alignment(landmarks, KernelPCA().fit(CURVE)).value == pytest.approx(truth, abs=1e-10)


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_no_matrix_is_made_for_an_estimate(monkeypatch):
    first, second = LLE(n_neighbors=12).fit(CURVE), CommuteTime().fit(CURVE)
    for kernel in (first.kernel_, second.kernel_):
        monkeypatch.setattr(type(kernel), "matrix", lambda self: pytest.fail("a whole matrix was made"))
    assert kernel_alignment(first, second, probes=20).interval is not None


def test_what_is_no_kernel_is_told():
    kernel = Isomap().fit(CURVE).kernel_
    with pytest.raises(InputError, match="first is OrdinalMDS, which has no kernel"):
        kernel_alignment(OrdinalMDS().fit(CURVE[:30]), kernel)
    with pytest.raises(InputError, match=r"second is a ndarray of shape \(3, 2\)"):
        kernel_alignment(kernel, np.ones((3, 2)))
    with pytest.raises(InputError, match="not symmetric"):
        kernel_alignment(kernel, np.triu(np.ones((300, 300))))
    with pytest.raises(InputError, match="the second kernel is constant"):
        kernel_alignment(kernel, np.ones((300, 300)))
    with pytest.raises(InputError, match="probes=3"):
        kernel_alignment(kernel, kernel, probes=3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
@pytest.mark.parametrize("n", [300, 1000])
def test_the_interval_holds_the_truth(n):
    """At least 178 of 200 seeds, of a nominal 190."""
    rows = make_swiss_roll(n, random_state=0).points
    first, second = Isomap(n_neighbors=10).fit(rows), CommuteTime(n_neighbors=10).fit(rows)
    truth = kernel_alignment(first, second).value
    intervals = [kernel_alignment(first, second, probes=30, random_state=seed).interval for seed in range(200)]
    assert sum(low <= truth <= high for low, high in intervals) >= 178
    assert np.median([high - low for low, high in intervals]) < 0.1  # and it says something


def test_the_unit_of_a_kernel_does_not_matter():
    X = np.random.default_rng(0).random((50, 3))
    assert kernel_alignment(1e200 * (X @ X.T), X @ X.T).value == pytest.approx(1.0)
    with pytest.raises(InputError, match="pass matrices of the same rows"):
        kernel_alignment((X @ X.T)[:9, :9], X @ X.T)


def test_more_probes_than_rows_say_no_more():
    kernel = np.eye(50)
    with pytest.raises(InputError, match="probes=1,000,000,000 random vectors are more than the 50 rows"):
        kernel_alignment(kernel, kernel, probes=10**9)
    with pytest.raises(InputError, match=r"probes=1000000000\.0 is not valid"):
        kernel_alignment(kernel, kernel, probes=1e9)
