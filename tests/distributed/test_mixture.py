"""Planes of rows in partitions are those of the same rows in memory, where the data leave no doubt about them."""

import pickle

import dask
import numpy as np
import pandas as pd
import pytest

import gramfold
from gramfold import MixturePPCA
from gramfold.distributed import dask_rows, open_rows
from gramfold.errors import InputError, NotConvergedWarning
from tests.distributed.cuts import CUTS, agree, cut, far, held, noted

HELD = 300


@pytest.fixture(scope="module")
def table():
    """Two planes that do not meet, of rows in any order."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((2400, 2)) * [3, 2], np.zeros((2400, 2))]) + 0.1 * rng.standard_normal((2400, 4))
    X[1200:] = X[1200:, ::-1] + [12, 0, 6, 0]
    return X[rng.permutation(len(X))]


@pytest.fixture
def sums(monkeypatch):
    held(monkeypatch, HELD)


def planes(**changed):
    return MixturePPCA(2, **{"n_planes": 2, "tol": 1e-14, "max_iter": 1000, **changed})


def on_threads(model, rows):
    with dask.config.set(scheduler="synchronous"):
        return model.fit(rows)


def same_planes(model, whole, limit=1e-8):
    """In some order: groups of k-means are numbered as they are found."""
    size = np.abs([plane.mean for plane in whole.planes_]).max()
    order = [int(np.argmin([np.abs(one.mean - plane.mean).max() for one in model.planes_])) for plane in whole.planes_]
    assert sorted(order) == list(range(len(order)))
    for i, plane in zip(order, whole.planes_, strict=True):
        one = model.planes_[i]
        assert far(one.mean, plane.mean, size) < limit
        assert far(one.axes @ one.axes.T, plane.axes @ plane.axes.T) < limit
        assert far([*one.variances, one.noise], [*plane.variances, plane.noise]) < limit
        assert far(model.shares_[i], whole.shares_[order.index(i)]) < limit


@pytest.mark.parametrize("count", CUTS)
def test_planes_and_map_are_those_of_the_rows_in_memory(table, sums, count):
    model, whole = on_threads(planes(), cut(table, count)), planes().fit(table)
    same_planes(model, whole)
    agree(model, whole, table)
    assert far(model.score(table), whole.score(table)) < 1e-8
    assert far(model.reconstruct(table), whole.reconstruct(table)) < 1e-8


@pytest.mark.parametrize("change", [lambda X: X * 1e200, lambda X: X.astype(np.float32)], ids=["huge", "float32"])
def test_units_and_precision(table, sums, change):
    X = change(table)
    agree(on_threads(planes(), cut(X, 7)), planes().fit(X), X)


def test_rows_far_from_the_origin(table, sums):
    X = table + 1e6
    agree(on_threads(planes(), cut(X, 7)), planes().fit(X), X, limit=3e-8)  # values are rounded to 1e-10


def test_rows_stay_on_the_workers_and_little_is_gathered(client, table, sums, monkeypatch, tmp_path):
    sizes, computed = [], dask_rows.computed

    def seen(*given, **named):
        found = computed(*given, **named)
        sizes.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(dask_rows, "computed", seen)
    wide = np.tile(table, (8, 1))
    model = planes().fit(noted(wide, 4, tmp_path))
    assert [file.read_text() for file in tmp_path.iterdir()] == [".."] * 4  # for their moments, and for all the rest
    assert model.n_iter_ > 3
    assert max(sizes) < 1.5 * 8 * HELD * table.shape[1] < wide.nbytes / 40
    same_planes(model, planes().fit(wide))


def test_the_number_of_planes_by_its_criterion(table, sums):
    by_criterion = {"n_planes": "bic", "max_planes": 3, "tol": 1e-6}
    model, whole = on_threads(planes(**by_criterion), cut(table, 7)), planes(**by_criterion).fit(table)
    assert model.n_planes_ == whole.n_planes_ == 2
    assert model.bic_[1] == pytest.approx(whole.bic_[1], rel=1e-10)
    assert model.bic_[2] == pytest.approx(whole.bic_[2], rel=1e-8)


def test_files_in_small_batches(table, sums, tmp_path):
    frame = pd.DataFrame(table, columns=list("abcd"))
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    rows = open_rows(tmp_path, memory_limit=40_000)
    assert len(rows) > 10
    model, whole = planes().fit(rows), planes().fit(frame)
    same_planes(model, whole)
    np.testing.assert_array_equal(model.feature_names_in_, whole.feature_names_in_)


def test_few_rows_are_fitted_as_they_are(table):
    model, whole = on_threads(planes(), cut(table, 7)), planes().fit(table)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)


def test_what_is_told(table, sums):
    with pytest.warns(NotConvergedWarning, match="max_iter=2"):
        on_threads(planes(n_init=1, max_iter=2), cut(table, 7))
    with pytest.raises(InputError, match="the 2400 rows are identical up to rounding"):
        on_threads(planes(), cut(np.ones((2400, 3)), 7))
    with pytest.raises(InputError, match="takes no sample_weight"):
        planes().fit(cut(table, 7), sample_weight=np.ones(2400))


def test_a_model_of_partitions_is_saved_and_shown(table, sums, tmp_path):
    model = on_threads(planes(), cut(table, 7))
    model.save(tmp_path / "model.gramfold")
    again = gramfold.load(tmp_path / "model.gramfold")
    np.testing.assert_array_equal(again.transform(table), model.transform(table))
    np.testing.assert_array_equal(again.inverse_transform(model.embedding_), model.inverse_transform(model.embedding_))
    model.save(tmp_path / "compact.gramfold", compact=True)
    compact = gramfold.load(tmp_path / "compact.gramfold")
    np.testing.assert_array_equal(compact.transform(table), model.transform(table))
    assert "2,400 rows of 4 columns in partitions, 300 of them held" in str(model.summary())
    assert "300 of 2,400 rows" in str(model.verdict())
    assert "fitted to 2,400 rows" in model.report(tmp_path / "map.html", dimension=False).read_text("utf8")
