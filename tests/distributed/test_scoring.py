"""What is said of rows in partitions, row by row or as a mean, is what is said of the same rows in memory."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from gramfold import PCA, FactorAnalysis, Isomap, MixturePPCA, ProbabilisticPCA, SpectralClustering
from gramfold.diagnostics import Judged, trustworthiness
from gramfold.distributed import open_rows
from gramfold.errors import InputError, PrecomputedInputError
from tests.distributed.parts import in_parts

N, KNOWN = 900, 300
WAYS = {
    "ppca": (ProbabilisticPCA(2), ("score_samples", "impute")),
    "mixture": (MixturePPCA(1, n_planes=2), ("score_samples", "responsibilities", "projections", "reconstruct")),
    "factors": (FactorAnalysis(1), ("score_samples",)),
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, 4)) * [3, 2, 1, 0.5] + 2.0 * rng.integers(2, size=(N, 1))


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    pd.DataFrame(table, columns=list("abcd")).to_parquet(folder / "rows.parquet", row_group_size=200)
    return folder


def sources(table, folder):
    frame = pd.DataFrame(table, columns=list("abcd"))
    yield frame, dd.from_pandas(frame, npartitions=4)
    yield frame, open_rows(folder, memory_limit="20 kB")


@pytest.mark.parametrize("name", WAYS)
def test_every_way_is_that_in_memory(table, files, name):
    model, ways = WAYS[name]
    for frame, parts in sources(table, files):
        model.fit(frame[:KNOWN])
        assert model.score(parts) == pytest.approx(model.score(frame), rel=1e-12)
        for way in ways:
            found, expected = getattr(model, way)(parts), getattr(model, way)(frame)
            if isinstance(found, dd.DataFrame | dd.Series):
                assert found.divisions == parts.divisions
            found = np.asarray(found.compute() if hasattr(found, "compute") else found)
            np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=way)
            assert found.dtype == expected.dtype


def test_names_and_shapes_are_known_before_anything_is_computed(table):
    frame = dd.from_pandas(pd.DataFrame(table, columns=list("abcd")), npartitions=3)
    model = MixturePPCA(1, n_planes=2).fit(frame.compute())
    assert model.responsibilities(frame).columns.tolist() == ["responsibilities0", "responsibilities1"]
    assert model.reconstruct(frame).columns.tolist() == list("abcd")
    assert model.score_samples(frame).name == "score_samples"
    small = MixturePPCA(1, n_planes=2).fit(table.astype(np.float32))
    for way in ("score_samples", "responsibilities", "projections", "reconstruct"):
        lazily = getattr(small, way)(da.from_array(table.astype(np.float32), chunks=(250, 4)))
        found = lazily.compute()
        assert (lazily.shape, lazily.dtype) == (found.shape, found.dtype)


def test_gaps_are_filled_and_scored(table):
    holes = np.where(np.random.default_rng(1).random(table.shape) < 0.2, np.nan, table)
    model, parts = ProbabilisticPCA(2).fit(holes[:KNOWN]), in_parts(holes, 5)
    assert model.score(parts) == pytest.approx(model.score(holes), rel=1e-12)
    np.testing.assert_allclose(model.impute(parts).compute(), model.impute(holes), atol=1e-12)
    lazily, expected = model.posterior(parts), model.posterior(holes)
    np.testing.assert_allclose(lazily.mean.compute(), expected.mean, atol=1e-12)
    np.testing.assert_allclose(lazily.covariance.compute(), expected.covariance, atol=1e-12)


def test_the_criterion_is_that_in_memory(table):
    model = MixturePPCA(1, n_planes=2).fit(table)
    assert model.bic(in_parts(table, 5)) == pytest.approx(model.bic(table), rel=1e-12)


def test_clusters_are_scored(table):
    model = SpectralClustering(3).fit(table[:KNOWN])
    assert model.score(in_parts(table, 5)) == pytest.approx(model.score(table), rel=1e-12)


def test_trustworthiness_is_that_of_rows_that_are_drawn(table, monkeypatch):
    model = Isomap(2).fit(table[:KNOWN])
    assert model.score(in_parts(table, 5)) == pytest.approx(model.score(table), abs=1e-12)
    monkeypatch.setattr("gramfold.distributed.scoring.MOST", 600)
    few = np.sort(np.random.RandomState(0).choice(N, 600, replace=False))
    expected = trustworthiness(Judged(table[few], model.transform(table[few]))).value
    assert model.score(in_parts(table, 5)) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.usefixtures("client")
def test_a_score_is_the_same_on_a_cluster(table):
    model = FactorAnalysis(1).fit(table)
    assert model.score(da.from_array(table, chunks=(200, 4))) == pytest.approx(model.score(table), rel=1e-12)


def test_rows_may_be_passed_by_name(table):
    model, rows = PCA(2).fit(table), da.from_array(table, chunks=(200, 4))
    places = model.transform(table)
    np.testing.assert_array_equal(model.inverse_transform(Y=places), model.inverse_transform(places))
    lazily = model.inverse_transform(Y=model.transform(rows))
    np.testing.assert_allclose(lazily.compute(), model.inverse_transform(places), atol=1e-12)
    outside = model.extrapolation(of="rows", points=rows)
    np.testing.assert_allclose(outside.compute(), model.extrapolation(table), atol=1e-12)
    with pytest.raises(TypeError, match="too many positional arguments"):
        model.inverse_transform(rows, "ridge")
    with pytest.raises(TypeError, match="inverse_transform"):
        model.inverse_transform(table, "ridge")


def test_only_the_columns_of_the_model_are_read_of_files(table, files):
    rows = pd.DataFrame(table, columns=list("abcd"))[["c", "a"]]
    for model in (ProbabilisticPCA(1).fit(rows), PCA(1).fit(rows)):
        assert model.score(str(files)) == pytest.approx(model.score(rows), rel=1e-12)


def test_what_has_no_score(table):
    distances = np.abs(table[:50, None] - table[:50]).sum(axis=2)
    model = Isomap(2, metric="precomputed").fit(distances)
    with pytest.raises(PrecomputedInputError, match="score needs the rows themselves"):
        model.score(da.from_array(distances))
    rows = pd.DataFrame(table, columns=list("abcd"))
    with pytest.raises(InputError, match="'gower', whose rows may hold categories"):
        Isomap(2, metric="gower").fit(rows[:100]).score(dd.from_pandas(rows, npartitions=3))
    frame, factors = dd.from_pandas(rows, npartitions=3), FactorAnalysis(1).fit(rows)
    with pytest.raises(InputError, match="hold no rows"):
        factors.score(frame[frame.a > 1e9])
    with pytest.raises(InputError, match="X has no column 'd'"):
        factors.score(frame[["a", "b", "c"]])
    with pytest.raises(InputError, match="X has no column 'd'"):
        factors.score_samples(frame[["a", "b", "c"]])
    with pytest.raises(InputError, match="X has no column 'd'"):
        PCA(2).fit(rows).score(frame[["a", "b", "c"]])
