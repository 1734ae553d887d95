"""Rows in partitions get the places that the same rows get in memory: lazily, each where it is."""

import pickle
import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import sklearn

from gramfold import LTSA, PCA, Isomap, KernelEigenmaps, LandmarkMDS, MixturePPCA, NystromEmbedding, SpectralClustering
from gramfold.datasets import make_swiss_roll
from gramfold.distributed import open_rows, placing, sending
from gramfold.errors import InputError, MemoryForecastError
from gramfold.runtime.threads import thread_count
from tests.distributed.parts import in_parts

N, KNOWN = 900, 400
MODELS = [
    PCA(2),
    MixturePPCA(2, n_planes=2),
    Isomap(2, landmarks=30),
    LTSA(2),
    KernelEigenmaps(2, n_kernels=20),
    NystromEmbedding(2, landmarks=20),
    LandmarkMDS(2, landmarks=20),
]


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(N, height=8, random_state=0).points


@pytest.fixture(scope="module")
def frame(roll):
    return pd.DataFrame(roll, columns=["x", "y", "z"], index=[f"row{i:04}" for i in range(N)])


@pytest.fixture(scope="module")
def model(frame):
    return PCA(2).fit(frame)


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_way_gives_what_it_gives_in_memory(roll, model):
    model.fit(roll[:KNOWN])
    rows, places = in_parts(roll, 7), model.transform(roll)
    for way, parts, whole in [
        ("transform", rows, roll),
        ("inverse_transform", in_parts(places, 7), places),
        ("extrapolation", rows, roll),
    ]:
        lazily = getattr(model, way)(parts)
        found, expected = lazily.compute(), getattr(model, way)(whole)
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.ptp(expected), err_msg=way)
        assert (lazily.dtype, lazily.ndim) == (found.dtype, found.ndim) == (expected.dtype, expected.ndim)


def test_predict(frame):
    clusters = SpectralClustering(3).fit(frame[:KNOWN])
    lazily = clusters.predict(dd.from_pandas(frame, npartitions=5))
    assert lazily.name == "predict"
    np.testing.assert_array_equal(lazily.compute(), clusters.predict(frame))


def test_a_dataframe_keeps_index_and_divisions(frame, model):
    parts = dd.from_pandas(frame, npartitions=6)
    places = model.transform(parts)
    assert places.divisions == parts.divisions
    assert places.columns.tolist() == ["pca0", "pca1"]
    pd.testing.assert_frame_equal(
        places.compute(), pd.DataFrame(model.transform(frame), columns=["pca0", "pca1"], index=parts.compute().index)
    )
    numbered = dd.from_pandas(frame.set_axis([0, 1, 2], axis=1), npartitions=6)  # columns that have no names
    np.testing.assert_array_equal(PCA(2).fit(frame.to_numpy()).transform(numbered).compute(), places.compute())
    back = model.inverse_transform(places)
    assert back.columns.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(back.compute(), model.inverse_transform(model.transform(frame)), atol=1e-12)
    outside = model.extrapolation(parts)
    assert (outside.name, outside.divisions) == ("extrapolation", parts.divisions)


def test_empty_partitions_of_a_dataframe(frame, model):
    parts = dd.from_pandas(frame, npartitions=6)
    few = parts[parts.x > parts.x.max()]
    assert model.transform(few).compute().shape == (0, 2)
    assert model.extrapolation(few).compute().shape == (0,)


def test_float32_is_known_before_it_is_computed(frame, model):
    small = frame.astype(np.float32)
    places = model.transform(dd.from_pandas(small, npartitions=4))
    assert set(places.dtypes) == set(places.compute().dtypes) == {np.dtype(np.float32)}
    with pytest.warns(UserWarning, match="valid feature names"):  # once, not by each partition
        places = model.transform(da.from_array(small.to_numpy(), chunks=(200, 3)))
    assert places.dtype == places.compute().dtype == np.float32


def test_nothing_is_computed_before_it_is_asked_for(roll):
    def untouchable(block):
        raise AssertionError("a partition was computed")

    model = PCA(2).fit(roll)
    rows = da.from_array(roll, chunks=(200, 3)).map_blocks(untouchable, meta=np.empty((0, 3)))
    model.extrapolation(model.inverse_transform(model.transform(rows)), of="rows")


@pytest.mark.parametrize("by", ["estimator", "everywhere"])
def test_containers_are_dasks(roll, by):
    model, rows = PCA(2).fit(roll), in_parts(roll, 5)
    with sklearn.config_context(transform_output="pandas" if by == "everywhere" else "default"):
        if by == "estimator":
            model.set_output(transform="pandas")
        places = model.transform(rows)
        assert isinstance(places, dd.DataFrame)
        assert places.columns.tolist() == ["pca0", "pca1"]
        np.testing.assert_allclose(places.compute(), model.transform(roll), atol=1e-12)
        assert isinstance(model.fit_transform(rows), dd.DataFrame)
        assert isinstance(model.transform(open_rows(roll, memory_limit=5000)), pd.DataFrame)  # not lazy
        assert isinstance(model.inverse_transform(places), dd.DataFrame)
    with pytest.raises(InputError, match=r"set_output\(transform='polars'\) asks for a table in memory"):
        PCA(2).fit(roll).set_output(transform="polars").transform(rows)


def test_columns_are_compared_at_once(frame, model):
    parts = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(InputError, match="X has no column 'z'"):
        model.transform(parts[["x", "y"]])
    with pytest.raises(ValueError, match="X has column 'y', where the training rows have 'x'"):
        model.transform(parts[["y", "x", "z"]])
    with pytest.raises(ValueError, match="X has 2 features"):
        PCA(2).fit(frame.to_numpy()).transform(da.ones((9, 2)))


def test_a_bad_partition_is_named(frame, model, tmp_path):
    holes = frame.copy()
    holes.iloc[700, 1] = np.nan
    with pytest.raises(InputError, match=r"partition 4: X contains NaN in row 100, column 'y'"):
        model.transform(dd.from_pandas(holes, npartitions=6)).compute()
    holes.iloc[:600].to_parquet(tmp_path / "good.parquet")
    holes.iloc[600:].to_parquet(tmp_path / "holes.parquet")
    with pytest.raises(InputError, match=r"partition 1 .*holes\.parquet.* contains NaN in row 100, column 'y'"):
        model.transform(open_rows(tmp_path, columns=["x", "y", "z"]))


def test_files_give_one_array(frame, model, tmp_path):
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=50, index=False)
    rows = open_rows(tmp_path, memory_limit=10_000)
    assert len(rows) > 5
    np.testing.assert_array_equal(model.transform(rows), model.transform(frame))
    np.testing.assert_array_equal(model.extrapolation(rows), model.extrapolation(frame))
    np.save(tmp_path / "places.npy", model.transform(frame))
    places = open_rows(tmp_path / "places.npy", memory_limit=5_000)
    np.testing.assert_array_equal(model.inverse_transform(places), model.inverse_transform(model.transform(frame)))
    with pytest.raises(InputError, match="X has no column 'z'"):
        model.transform(open_rows(tmp_path, columns=["x", "y"]))


@pytest.mark.parametrize("names", [["x", "y", "z"], [0, 1, 2]], ids=["names", "numbers"])
def test_a_model_of_dask_rows_places_files_and_the_other_way_round(roll, tmp_path, names):
    table = pd.DataFrame(roll, columns=names)
    lazily = dd.from_pandas(table, npartitions=3)
    lazily.rename(columns=str).to_parquet(tmp_path)
    expected = PCA(2).fit_transform(roll)
    by_dask, by_files = PCA(2).fit(lazily), PCA(2).fit(str(tmp_path))
    for model, rows in [(by_dask, lazily), (by_files, str(tmp_path))]:
        np.testing.assert_allclose(np.asarray(model.transform(rows)), expected, atol=1e-10)
    with warnings.catch_warnings():
        if names == [0, 1, 2]:  # one of the two has no names, as scikit-learn says
            warnings.filterwarnings("ignore", message="X .*feature names")
        for model, rows in [(by_dask, str(tmp_path)), (by_files, lazily)]:
            np.testing.assert_allclose(np.asarray(model.transform(rows)), expected, atol=1e-10)


def test_a_result_that_does_not_fit_is_refused_before_rows_are_read(roll, monkeypatch):
    model = PCA(2).fit(roll)
    monkeypatch.setattr("gramfold.runtime.memory.available_memory", lambda: 1000.0)
    with pytest.raises(MemoryForecastError, match=r"the result of transform for 900 rows needs .* gramfold transform"):
        model.transform(open_rows(roll, memory_limit=5_000))


def test_tasks_have_one_thread_whatever_the_model_was_told(roll):
    model = PCA(2, n_jobs=8).fit(roll)
    reader = placing.BlockReader(None, 3, np.dtype(np.float64))
    asked = placing.Asked.of(model, "transform", {}, reader)
    assert asked.estimator.n_jobs is None
    assert model.n_jobs == 8
    assert thread_count(model.n_jobs) == 8
    # what `transform` does not read stays here
    assert len(pickle.dumps(asked)) < 20_000 < len(pickle.dumps(model))


@pytest.fixture
def pickled(monkeypatch):
    """How often a model was pickled in this process."""
    times = []
    state = placing.Asked.__reduce_ex__

    def counted(self, protocol):
        times.append(1)
        return state(self, protocol)

    monkeypatch.setattr(placing.Asked, "__reduce_ex__", counted)
    return times


@pytest.mark.usefixtures("client")
def test_a_small_model_travels_with_the_tasks(roll, pickled, monkeypatch):
    model = PCA(2).fit(roll)
    rows = da.from_array(roll, chunks=(15, 3))  # 60 partitions
    tiny = model.transform(rows)
    monkeypatch.setattr(sending, "_TINY", 0)
    small = model.transform(rows)
    of_its_own = [any("gramfold-model" in str(key) for key in dict(one.dask)) for one in (tiny, small)]
    assert of_its_own == [False, True]
    np.testing.assert_allclose(tiny.compute(), model.transform(roll), atol=1e-12)
    pickled.clear()
    np.testing.assert_allclose(small.compute(), model.transform(roll), atol=1e-12)
    assert 1 <= len(pickled) <= 6


@pytest.mark.usefixtures("client")
def test_a_large_model_is_sent_once_and_apart(roll, pickled, monkeypatch):
    monkeypatch.setattr(sending, "_LARGE", 1000)
    model = Isomap(2).fit(roll[:KNOWN])
    rows = da.from_array(roll, chunks=(15, 3))
    places = model.transform(rows)
    np.testing.assert_allclose(places.compute(), model.transform(roll), atol=1e-10)
    frame = dd.from_pandas(pd.DataFrame(roll, columns=list("abc")), npartitions=20)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "200 kB"}):  # a warning is an error here
        places.sum().compute()
        with pytest.warns(UserWarning, match="X has feature names"):  # once, not by each partition
            places = model.transform(frame)
        np.testing.assert_allclose(places.compute(), model.transform(roll), atol=1e-10)
    assert 1 <= len(pickled) <= 12  # of 80 partitions; Dask packs what it sends a few times
