"""Landmark MDS of rows in partitions is that of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gramfold
from gramfold import LandmarkMDS
from gramfold.datasets import make_torus
from gramfold.distributed import landmark_mds, open_rows
from gramfold.errors import InputError
from tests.distributed.parts import in_parts

N = 1500


@pytest.fixture(scope="module")
def torus():
    return make_torus(N, random_state=0).points


@pytest.fixture
def few_held(monkeypatch):
    """Models that hold a sample of 200 rows, so that 1,500 rows are many."""
    monkeypatch.setattr(landmark_mds, "SAMPLE", 200)


def maps(settings, X, rows):
    estimator = LandmarkMDS(2, **{"landmarks": 40, "random_state": 3, **settings})
    return clone(estimator).fit(X), clone(estimator).fit(rows)


def assert_same_map(whole, spread, X):
    np.testing.assert_array_equal(spread.sample_[spread.landmarks_], whole.landmarks_)
    np.testing.assert_allclose(spread.transform(X), whole.embedding_, atol=1e-8 * np.ptp(whole.embedding_))


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize("count", [1, 7, 64])
@pytest.mark.parametrize(
    "settings",
    [{}, {"landmark_choice": "random"}, {"landmarks": list(range(1400, 0, -50))}],
    ids=["maxmin", "random", "given"],
)
def test_any_partitions_make_the_map_of_one_process(torus, settings, count):
    assert_same_map(*maps(settings, torus, in_parts(torus, count)), torus)


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize(
    "settings",
    [
        {"metric": "cityblock"},
        {"metric": "cosine"},
        {"metric": "seuclidean", "metric_params": {"V": [1.0, 4.0, 2.0]}},
        {"metric": lambda x, y: float(np.abs(x - y).max()), "landmarks": 8},
    ],
    ids=["cityblock", "cosine", "seuclidean", "function"],
)
def test_farthest_points_by_other_metrics(torus, settings):
    assert_same_map(*maps(settings, torus, in_parts(torus, 7)), torus)


@pytest.mark.usefixtures("few_held")
def test_ties_are_decided_as_in_memory(torus):
    """On a grid many rows are as far out as the farthest."""
    grid = np.round(2 * torus)
    assert_same_map(*maps({"landmarks": 20}, grid, in_parts(grid, 7)), grid)


@pytest.mark.usefixtures("few_held")
def test_rows_of_bits():
    bits = (np.random.default_rng(0).random((N, 12)) < 0.4).astype(float)
    assert_same_map(*maps({"metric": "hamming", "landmarks": 20}, bits, in_parts(bits, 7)), bits)
    odd = bits.copy()
    odd[N // 2, 3] = 2.0
    with pytest.raises(InputError, match="some rows hold values other than 0 and 1"):
        LandmarkMDS(2, landmarks=20, metric="hamming").fit(in_parts(odd, 7))


@pytest.mark.usefixtures("few_held")
def test_landmarks_are_found_in_few_passes(torus):
    """One for each landmark would be 40."""
    told = []
    estimator = LandmarkMDS(2, landmarks=40, progress=lambda stage, done, total: told.append((stage, done, total)))
    estimator.fit(open_rows(torus, memory_limit=300_000))
    passes = [one for one in told if "landmarks" in one[0] and one[1] == 0]
    assert 1 <= len(passes) <= 15, told


@pytest.mark.usefixtures("few_held", "client")
def test_on_a_cluster(torus):
    assert_same_map(*maps({}, torus, in_parts(torus, 7)), torus)


def test_few_rows_are_all_held(torus):
    whole, spread = maps({"landmarks": 100}, torus[:60], in_parts(torus[:60], 7))
    np.testing.assert_array_equal(spread.sample_, np.arange(60))
    assert_same_map(whole, spread, torus[:60])


@pytest.mark.usefixtures("few_held")
def test_files_and_float32(torus, tmp_path):
    frame = pd.DataFrame(torus.astype(np.float32), columns=["x", "y", "z"])
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    whole, spread = maps({}, frame, open_rows(tmp_path, memory_limit=40_000))
    np.testing.assert_array_equal(spread.sample_[spread.landmarks_], whole.landmarks_)
    assert spread.embedding_.dtype == np.float32
    np.testing.assert_allclose(spread.transform(frame), whole.embedding_, atol=1e-5 * np.ptp(whole.embedding_))


@pytest.mark.usefixtures("few_held")
def test_what_the_model_holds(torus, tmp_path):
    whole, spread = maps({}, torus, in_parts(torus, 7))
    held = spread.sample_
    assert 200 <= len(held) <= 240
    np.testing.assert_allclose(spread.embedding_, whole.embedding_[held], atol=1e-10)
    np.testing.assert_allclose(spread.kernel_.dense(), whole.kernel_.dense(), atol=1e-10)
    np.testing.assert_allclose(spread.shares(), whole.shares(), atol=1e-10)
    # the ball about all rows, beyond which rows are said to be far outside
    assert spread.model_.source.ball.radius == pytest.approx(whole.model_.source.ball.radius)
    assert f"{N:,} rows of 3 columns in partitions, {len(held)} of them held" in str(spread.summary())
    assert f"among {len(held)} of {N:,} rows" in str(spread.verdict())
    assert spread.report(tmp_path / "map.html", dimension=False).exists()
    for compact in (False, True):
        spread.save(tmp_path / "map.gramfold", compact=compact)
        again = gramfold.load(tmp_path / "map.gramfold")
        np.testing.assert_array_equal(again.transform(torus), spread.transform(torus))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "precomputed"}, "reads rows of numbers, which metric='precomputed' does not"),
        ({"metric": "gower"}, "reads rows of numbers, which metric='gower' does not"),
        ({"metric": "seuclidean"}, "pass metric_params={'V': ...}"),
        ({"landmarks": [0, N]}, f"landmarks contain row {N}"),
    ],
)
def test_refused(torus, settings, message):
    with pytest.raises(InputError, match=message):
        LandmarkMDS(2, **settings).fit(in_parts(torus, 3))


def test_fewer_distinct_rows_than_landmarks(torus):
    few = np.repeat(torus[:10], 30, axis=0)
    model = LandmarkMDS(2, landmarks=40).fit(in_parts(few, 7))
    assert len(np.unique(few[model.sample_[model.landmarks_]], axis=0)) == 10
    with pytest.raises(InputError, match="all rows of X are at distance 0 from each other"):
        LandmarkMDS(2, landmarks=40).fit(in_parts(np.ones((300, 3)), 7))
