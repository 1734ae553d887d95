import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import procrustes
from sklearn.base import clone

from gramfold import SDE, Isomap, KernelIsomap, LandmarkIsomap, LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll
from gramfold.errors import ApproximationWarning, MemoryForecastError
from gramfold.kernels.geodesic import PathMemory
from gramfold.runtime import memory
from tests.methods.maps import difference, roll

SAMPLE = make_swiss_roll(2000, random_state=0)


@pytest.mark.parametrize("choice", ["maxmin", "random"])
def test_a_tenth_of_the_rows_carries_the_map(choice):
    X, truth = SAMPLE
    model = LandmarkIsomap(n_neighbors=10, landmarks=200, landmark_choice=choice, random_state=0).fit(X)
    assert procrustes(truth, model.embedding_)[2] < 0.01
    assert procrustes(Isomap(n_neighbors=10).fit_transform(X), model.embedding_)[2] < 0.01


def test_all_rows_as_landmarks_is_isomap():
    X = roll()[:300]
    assert difference(LandmarkIsomap(landmarks=300).fit_transform(X), Isomap().fit_transform(X)) < 1e-12


def test_the_kernel_is_classical_scaling_of_the_landmarks():
    X = roll()
    model = LandmarkIsomap(landmarks=40).fit(X)
    walks = Isomap().fit(X).kernel_.squared_distances(model.landmarks_, model.landmarks_)
    H = np.eye(40) - 1 / 40
    np.testing.assert_allclose(model.kernel_.dense(), -0.5 * H @ walks @ H, atol=1e-8 * walks.max())


def test_everybody_is_placed_by_the_formula():
    X = roll()
    model = LandmarkIsomap(landmarks=40).fit(X)
    walks = Isomap().fit(X).kernel_.squared_distances(np.arange(len(X)), model.landmarks_)
    between = walks[model.landmarks_]
    V, values = model.spectrum_.eigenvectors, model.spectrum_.eigenvalues
    plain = -0.5 * (walks - between.mean(axis=0)) @ V / np.sqrt(values)
    np.testing.assert_allclose(model.embedding_, plain, atol=1e-7 * np.abs(plain).max())


def test_max_min_landmarks_are_far_apart():
    X = roll()
    far = X[LandmarkIsomap(landmarks=30).fit(X).landmarks_]
    any_rows = X[LandmarkIsomap(landmarks=30, landmark_choice="random", random_state=0).fit(X).landmarks_]

    def closest(rows):
        return min(np.linalg.norm(a - b) for i, a in enumerate(rows) for b in rows[:i])

    assert closest(far) > 3 * closest(any_rows)
    # the max-min rule: no row is farther from the landmarks than they are from each other
    reach = max(np.linalg.norm(far - x, axis=1).min() for x in X)
    assert reach <= closest(far) * (1 + 1e-9)


def test_auto_switches_when_memory_runs_out_and_says_so(monkeypatch):
    X = roll()
    assert Isomap(landmarks="auto").fit(X).landmarks_ is None
    monkeypatch.setattr(memory, "available_memory", lambda: 5e6)
    asked = PathMemory(Isomap(landmarks="auto"), len(X), 8)
    assert replace(asked, most=50).landmarks() == 50  # more fit, and are not worth their time
    count = asked.landmarks()
    assert 50 < count < len(X) // 2
    with pytest.warns(ApproximationWarning, match=f"{count} landmarks are used: pass landmarks={count}"):
        model = Isomap(landmarks="auto").fit(X)
    assert len(model.landmarks_) == count
    graph = 500.0 * 8 * len(X)
    monkeypatch.setattr(memory, "available_memory", lambda: (graph + 8.0 * len(X) * 20.5) / memory.USABLE_SHARE)
    with pytest.warns(ApproximationWarning, match="20 landmarks are used"):  # no more of them fit
        assert len(Isomap(landmarks="auto").fit(X).landmarks_) == 20


@pytest.mark.parametrize("model", [Isomap(), LandmarkIsomap(landmarks=600), Isomap(storage="float32")])
def test_as_many_landmarks_as_fit_are_advised(model, monkeypatch):
    X = make_swiss_roll(2000, random_state=0).points
    monkeypatch.setattr(memory, "available_memory", lambda: 1.2e7)  # of which the graph takes 8 MB
    with pytest.raises(MemoryForecastError) as refused:
        model.fit(X)
    count = int(re.search(r"or use landmarks=(\d+)", str(refused.value))[1])
    assert 2 < count < 600
    clone(model).set_params(landmarks=count).fit(X)
    with pytest.raises(MemoryForecastError):
        clone(model).set_params(landmarks=count + 1).fit(X)


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")  # of what the constant does to a roll
@pytest.mark.parametrize("cls", [Isomap, pytest.param(KernelIsomap, marks=pytest.mark.slow)])
def test_float32_is_advised_where_it_halves_the_walks(cls, monkeypatch):
    X = make_swiss_roll(3000, random_state=0).points
    monkeypatch.setattr(memory, "available_memory", lambda: 6e7)  # walks of 72 MB, or of 36 in float32
    with pytest.raises(MemoryForecastError, match="or pass float32 rows, which need half"):
        cls().fit(X)
    cls().fit(X.astype(np.float32))  # and the advice holds


def test_a_file_is_not_advised_where_a_repair_needs_the_memory(monkeypatch):
    X = make_swiss_roll(2000, random_state=0).points
    monkeypatch.setattr(memory, "available_memory", lambda: 6e7)  # clipping takes four matrices of 32 MB
    with pytest.raises(MemoryForecastError, match="or use landmarks=") as refused:
        KernelIsomap(repair="clip").fit(X)
    assert "storage" not in str(refused.value)


def test_nothing_is_advised_that_does_not_fit(monkeypatch):
    X = make_swiss_roll(2000, random_state=0).points
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    monkeypatch.setattr(memory, "available_memory", lambda: 1e6)
    with pytest.raises(MemoryForecastError, match=r"at most [\d,]+ rows") as refused:
        Isomap().fit(X)
    for word in ("landmarks", "storage", "float32", "most 0 rows"):
        assert word not in str(refused.value)
    X = X[:20]  # of which a copy fits
    monkeypatch.setattr(memory, "available_memory", lambda: 1e3)
    for method in (Isomap, LandmarkIsomap, LaplacianEigenmaps, SDE):
        with pytest.raises(MemoryForecastError, match="not even 3 rows fit, so free some memory"):
            method().fit(X)


def test_a_folder_need_not_hold_walks_that_are_not_made(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    assert len(Isomap(storage=tmp_path, landmarks=30).fit(roll()).landmarks_) == 30


def test_conformal_lengths_undo_an_even_stretch():
    # a flat disc stretched more and more towards its rim: dense in the middle, sparse outside, alike in all directions
    rng = np.random.default_rng(0)
    flat = rng.uniform(-1, 1, (1500, 2))
    flat = flat[np.linalg.norm(flat, axis=1) < 1]
    z = flat[:, 0] + 1j * flat[:, 1]
    stretched = (z + 2) ** 3  # a conformal map of the plane
    X = np.column_stack([stretched.real, stretched.imag])
    plain = procrustes(flat, Isomap(n_neighbors=10).fit_transform(X))[2]
    conformal = procrustes(flat, Isomap(n_neighbors=10, conformal=True).fit_transform(X))[2]
    assert conformal < 0.2 * plain
    assert conformal < 0.01
    model = Isomap(n_neighbors=10, conformal=True).fit(X[:1000])
    both = np.vstack([model.embedding_, model.transform(X[1000:])])
    assert procrustes(flat, both)[2] < 0.01
