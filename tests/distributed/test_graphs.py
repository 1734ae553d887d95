"""Graph methods of rows in partitions make the map that one process makes of the same rows."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gramfold
from gramfold import (
    LLE,
    CommuteTime,
    DiffusionMap,
    HeatKernel,
    Isomap,
    KernelIsomap,
    LandmarkIsomap,
    LaplacianEigenmaps,
    SpectralClustering,
)
from gramfold.datasets import make_swiss_roll
from gramfold.distributed import open_rows
from gramfold.errors import InputError, MemoryForecastError

N = 1500
MAPS = [
    Isomap(2, landmarks=40),
    LandmarkIsomap(2, landmarks=30, n_neighbors=6),
    KernelIsomap(2, n_neighbors=6),
    LaplacianEigenmaps(2, coordinates="independent"),
    DiffusionMap(2, coordinates="independent", weights="gaussian"),
    CommuteTime(2, coordinates="independent"),
    HeatKernel(2, coordinates="independent"),
]


@pytest.fixture(scope="module")
def roll():
    points = make_swiss_roll(N, random_state=0).points
    points[700:710] = points[3]  # copies in other partitions
    return points


def in_parts(X, sizes):
    return da.concatenate([da.from_array(part, chunks=-1) for part in np.split(X, np.cumsum(sizes)[:-1])])


@pytest.mark.parametrize("model", MAPS, ids=lambda model: type(model).__name__)
def test_the_map_is_that_of_one_process(client, roll, model):
    rows = in_parts(roll, [400, 0, 1, 99, 1000])
    whole = clone(model).fit(roll)
    spread = model.fit(rows)
    np.testing.assert_array_equal(spread.sample_, np.arange(N))
    np.testing.assert_allclose(spread.embedding_, whole.embedding_, atol=1e-12 * np.ptp(whole.embedding_))
    placed = model.transform(rows)
    assert placed.numblocks == rows.numblocks
    np.testing.assert_allclose(placed.compute(), whole.transform(roll), atol=1e-12 * np.ptp(whole.embedding_))


@pytest.mark.parametrize("model", [LaplacianEigenmaps(2), DiffusionMap(2), LaplacianEigenmaps(2, loose_rows="trim")])
def test_the_graph_of_landmarks_and_all_others_in_their_place(roll, model):
    """In memory the landmarks are named; here they are drawn."""
    model.set_params(landmarks=600, coordinates="independent", random_state=1)
    rows = in_parts(roll, [700, 800])
    model.fit(rows)
    assert len(model.sample_) == len(model.embedding_) == 600
    placed = model.transform(rows).compute()
    model.set_params(landmarks=model.sample_).fit(roll)
    np.testing.assert_allclose(placed, model.embedding_, atol=1e-10 * np.ptp(placed))
    same = model.fit(rows).transform(rows).compute()  # named
    np.testing.assert_allclose(same, placed, atol=1e-10 * np.ptp(placed))


@pytest.mark.parametrize("choice", ["random", "kmeans"])
def test_the_same_landmarks_are_drawn_as_in_memory(roll, choice):
    model = LaplacianEigenmaps(2, landmarks=300, landmark_choice=choice, coordinates="independent", random_state=5)
    spread = clone(model).fit(in_parts(roll, [10, 990, 500]))
    np.testing.assert_array_equal(spread.sample_, model.fit(roll).landmarks_)


def test_more_rows_than_graph_rows_are_drawn_and_all_are_placed(roll):
    rows = in_parts(roll, [500, 500, 500])
    model = Isomap(2, graph_rows=800, random_state=3).fit(rows)
    assert len(np.unique(model.sample_)) == 800
    by_hand = Isomap(2).fit(roll[model.sample_])
    np.testing.assert_allclose(model.embedding_, by_hand.embedding_, atol=1e-10)
    np.testing.assert_allclose(model.transform(rows).compute(), by_hand.transform(roll), atol=1e-10)
    again = Isomap(2, graph_rows=800, random_state=3).fit(in_parts(roll, [1, 1499]))
    np.testing.assert_array_equal(again.sample_, model.sample_)  # whatever the partitions
    assert "1,500 rows of 3 columns in partitions, 800 of them held" in str(model.summary())


def test_named_landmarks_of_isomap_are_rows_of_the_graph(roll):
    named = np.array([1400, 7, 300, 3, 900, 450])
    model = Isomap(2, landmarks=named, graph_rows=700, random_state=0).fit(in_parts(roll, [600, 900]))
    assert np.isin(named, model.sample_).all()
    assert len(model.sample_) == 700
    np.testing.assert_array_equal(np.sort(model.sample_[model.landmarks_]), np.sort(named))


def test_clusters(client, roll, tmp_path):
    groups = np.vstack([roll, roll + [100, 0, 0], roll[:500] + [0, 200, 0]])
    frame = dd.from_pandas(pd.DataFrame(groups, columns=list("abc")), npartitions=4)
    whole = SpectralClustering("auto", random_state=0).fit(groups)
    model = SpectralClustering("auto", random_state=0).fit(frame)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    np.testing.assert_array_equal(model.sample_, np.arange(len(groups)))
    model.save(tmp_path / "clusters.gramfold")
    again = gramfold.load(tmp_path / "clusters.gramfold")
    np.testing.assert_array_equal(again.predict(frame).compute().to_numpy().ravel(), whole.labels_)
    some = SpectralClustering("auto", random_state=0, graph_rows=900)
    labels = some.fit_predict(in_parts(groups, [2000, 1500])).compute()
    assert len(some.labels_) == 900
    pairs = set(zip(labels.tolist(), whole.labels_.tolist(), strict=True))
    assert len(pairs) == 3  # the same clusters, under other numbers
    assert "3,500 rows" in str(some.summary())


def test_files_are_streamed(roll, tmp_path):
    for i in range(3):
        table = pd.DataFrame(roll[500 * i : 500 * (i + 1)], columns=["x", "y", "z"])
        table.to_parquet(tmp_path / f"part{i}.parquet", row_group_size=200)
    rows = open_rows(tmp_path, memory_limit=40_000)  # many batches
    assert len(rows) > 6
    model, whole = (LaplacianEigenmaps(2, coordinates="independent").fit(X) for X in (rows, roll))
    np.testing.assert_allclose(model.embedding_, whole.embedding_, atol=1e-12)
    np.testing.assert_allclose(model.transform(tmp_path), whole.transform(roll), atol=1e-12)
    assert model.feature_names_in_.tolist() == ["x", "y", "z"]


def test_memory_is_forecast_before_rows_are_gathered(roll, monkeypatch):
    from gramfold.runtime import memory

    rows = in_parts(roll, [1500])
    monkeypatch.setattr(memory, "available_memory", lambda: 60_000.0)
    with pytest.raises(MemoryForecastError, match=r"the table of 1,500 rows .* use a smaller graph_rows"):
        Isomap().fit(rows)
    monkeypatch.setattr(memory, "available_memory", lambda: 8e6)
    with pytest.raises(MemoryForecastError, match=r"Isomap on 1,500 rows needs .*: use graph_rows=\d+ \(0.0 GB\)"):
        Isomap().fit(rows)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Isomap(metric="precomputed"), "metric='precomputed' does not"),
        (LaplacianEigenmaps(weights="precomputed"), "weights='precomputed' does not"),
        (Isomap(metric="gower"), "metric='gower' does not"),
        (Isomap(drop_edges=[[0, 1]]), "names edges of rows in memory"),
        (LaplacianEigenmaps(landmarks=[1, 5000]), "row 5000, but there are 1500 rows"),
        (Isomap(n_neighbors=2000), "only 1490 distinct rows"),
        (LLE(), "LLE is not fitted to rows in partitions"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(roll, model, words):
    with pytest.raises(InputError, match=words):
        model.fit(in_parts(roll, [1000, 500]))
