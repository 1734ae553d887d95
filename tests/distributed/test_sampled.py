"""Kernel eigenmaps and LPP of rows in partitions are those of rows drawn from them."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gramfold
from gramfold import LPP, KernelEigenmaps
from gramfold.datasets import make_s_curve
from gramfold.distributed import open_rows
from gramfold.errors import InputError
from tests.distributed.parts import in_parts

N = 1200
MODELS = [KernelEigenmaps(2, n_kernels=30, random_state=1), LPP(2)]


@pytest.fixture(scope="module")
def curve():
    return make_s_curve(N, random_state=0)


@pytest.fixture(scope="module")
def classes(curve):
    return np.array(["left", "middle", "right"])[np.digitize(curve.truth[:, 0], [-1, 1])]


@pytest.mark.parametrize("count", [1, 7, 64])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_of_few_rows_it_is_the_map_of_all(curve, model, count):
    whole, spread = clone(model).fit(curve.points), clone(model).fit(in_parts(curve.points, count))
    np.testing.assert_array_equal(spread.sample_, np.arange(N))
    np.testing.assert_array_equal(spread.embedding_, whole.embedding_)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_of_many_rows_it_is_that_of_those_drawn(curve, model, tmp_path):
    spread = clone(model).set_params(graph_rows=800).fit(in_parts(curve.points, 7))
    whole = clone(model).fit(curve.points[spread.sample_])
    assert len(spread.sample_) == 800
    np.testing.assert_array_equal(spread.embedding_, whole.embedding_)
    again = clone(model).set_params(graph_rows=800).fit(in_parts(curve.points, 3))
    np.testing.assert_array_equal(again.sample_, spread.sample_)  # whatever the partitions
    assert f"{N:,} rows of 3 columns in partitions, 800 of them held" in str(spread.summary())
    assert "800 of 1,200 rows" in str(spread.verdict())
    for compact in (False, True):
        spread.save(tmp_path / "map.gramfold", compact=compact)
        loaded = gramfold.load(tmp_path / "map.gramfold")
        np.testing.assert_array_equal(loaded.transform(curve.points), whole.transform(curve.points))


@pytest.mark.usefixtures("client")
def test_on_a_cluster(curve):
    spread = KernelEigenmaps(2, n_kernels=30, graph_rows=800).fit(in_parts(curve.points, 7))
    whole = KernelEigenmaps(2, n_kernels=30).fit(curve.points[spread.sample_])
    np.testing.assert_allclose(spread.embedding_, whole.embedding_, atol=1e-8)


def test_files_and_float32(curve, tmp_path):
    frame = pd.DataFrame(curve.points.astype(np.float32), columns=["x", "y", "z"])
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    spread, whole = LPP(2).fit(open_rows(tmp_path, memory_limit=40_000)), LPP(2).fit(frame)
    assert spread.feature_names_in_.tolist() == ["x", "y", "z"]
    assert spread.embedding_.dtype == np.float32
    np.testing.assert_array_equal(spread.embedding_, whole.embedding_)


@pytest.mark.parametrize("graph_rows", [200_000, 800])
def test_classes_are_taken_along(curve, classes, graph_rows):
    frame = pd.DataFrame(curve.points, columns=["x", "y", "z"]).assign(side=classes)
    parts = dd.from_pandas(frame, npartitions=5)
    estimator = LPP(2, graph="classes", graph_rows=graph_rows)
    lazily = clone(estimator).fit(parts[["x", "y", "z"]], parts["side"])
    at_hand = clone(estimator).fit(parts[["x", "y", "z"]], classes)
    chosen = lazily.sample_
    whole = LPP(2, graph="classes").fit(frame[["x", "y", "z"]].iloc[chosen], classes[chosen])
    np.testing.assert_array_equal(lazily.embedding_, whole.embedding_)
    np.testing.assert_array_equal(at_hand.embedding_, whole.embedding_)


def test_classes_that_do_not_belong_to_the_rows(curve, classes):
    rows = da.from_array(curve.points, chunks=(300, 3))
    estimator = LPP(2, graph="classes")
    with pytest.raises(InputError, match="no classes were given"):
        estimator.fit(rows)
    with pytest.raises(InputError, match=r"y has the shape \(1199,\), but X has 1,200 rows"):
        estimator.fit(rows, classes[1:])
    numbers = np.arange(N) // 500
    with pytest.raises(InputError, match="y has 2 partitions and X has 4"):
        estimator.fit(rows, da.from_array(numbers, chunks=600))
    with pytest.raises(InputError, match=r"partition [01] of y has the shape \(\d+,\), but that of X has 300 rows"):
        estimator.fit(rows, da.from_array(numbers, chunks=(299, 301, 300, 300)))


def test_refused(curve):
    rows = da.from_array(curve.points, chunks=(300, 3))
    with pytest.raises(InputError, match="takes no affinity"):
        KernelEigenmaps(2).fit(rows, affinity=np.eye(N))
    with pytest.raises(InputError, match="takes no sample_weight"):
        LPP(2).fit(rows, sample_weight=np.ones(N))
    with pytest.raises(InputError, match="which metric='gower' does not"):
        KernelEigenmaps(2, metric="gower").fit(rows)
