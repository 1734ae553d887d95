"""Probabilistic PCA of rows in partitions that have missing values is that of the same rows in memory."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import gramfold
from gramfold import PCA, ProbabilisticPCA
from gramfold.distributed import open_rows
from gramfold.errors import DegenerateMapWarning, InputError, NotConvergedWarning
from tests.distributed.cuts import CUTS, agree, cut, far, held, noted

HELD = 200


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    X = rng.standard_normal((2000, 6)) * [5, 4, 2, 1, 1, 1] @ turn + np.arange(6)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X[~np.isnan(X).all(axis=1)]


@pytest.fixture
def sums(monkeypatch):
    held(monkeypatch, HELD)


def on_threads(model, rows):
    with dask.config.set(scheduler="synchronous"):
        return model.fit(rows)


@pytest.mark.parametrize("count", CUTS)
def test_the_map_is_that_of_the_rows_in_memory(table, sums, count):
    model, whole = on_threads(ProbabilisticPCA(2), cut(table, count)), ProbabilisticPCA(2).fit(table)
    agree(model, whole, table)
    assert model.n_iter_ == whole.n_iter_ > 3
    assert far(model.log_likelihoods_, whole.log_likelihoods_) < 1e-12
    assert far(model.impute(table[:50]), whole.impute(table[:50])) < 1e-8
    assert far(model.score(table), whole.score(table)) < 1e-10


@pytest.mark.parametrize(
    "change",
    [lambda X: X / 5 + 1e6, lambda X: X * 1e200, lambda X: X * 1e-200, lambda X: X.astype(np.float32)],
    ids=["far", "huge", "tiny", "float32"],
)
def test_units_and_precision(table, sums, change):
    X = change(table)
    agree(on_threads(ProbabilisticPCA(2), cut(X, 7)), ProbabilisticPCA(2).fit(X), X)


def test_gaps_in_one_partition(table, sums):
    X = np.nan_to_num(table)
    X[1234, 2] = np.nan
    agree(on_threads(ProbabilisticPCA(2), cut(X, 7)), ProbabilisticPCA(2).fit(X), X)


def test_rows_stay_on_the_workers(client, table, sums, tmp_path):
    model = ProbabilisticPCA(2).fit(noted(table, 4, tmp_path))
    assert [file.read_text() for file in tmp_path.iterdir()] == [".."] * 4  # for their moments, and for all the rest
    assert model.n_iter_ > 3
    agree(model, ProbabilisticPCA(2).fit(table), table)


def test_rows_without_a_value_are_told_by_their_numbers(table, sums):
    X = table.copy()
    X[[7, 900, 1990]] = np.nan
    words = r"rows 7, 900, 1990 of X contain only missing values"
    with pytest.warns(DegenerateMapWarning, match=words):
        model = on_threads(ProbabilisticPCA(2), cut(X, 7))
    with pytest.warns(DegenerateMapWarning, match=words):
        whole = ProbabilisticPCA(2).fit(X)
    assert far(model.transform(table), whole.transform(table)) < 1e-8


def test_a_dataframe_and_files_in_small_batches(table, sums, tmp_path):
    frame = pd.DataFrame(table, columns=list("abcdef"))
    whole = ProbabilisticPCA(2).fit(frame)
    agree(on_threads(ProbabilisticPCA(2), dd.from_pandas(frame, npartitions=5)), whole, frame)
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = open_rows(tmp_path, memory_limit=40_000)
    assert len(rows) > 10
    agree(ProbabilisticPCA(2).fit(rows), whole, frame)


def test_few_rows_are_fitted_as_they_are(table):
    model, whole = on_threads(ProbabilisticPCA(2), cut(table, 7)), ProbabilisticPCA(2).fit(table)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)


def without(X, column):
    X = X.copy()
    X[:, column] = np.nan
    return X


@pytest.mark.parametrize(
    ("model", "change", "words"),
    [
        (ProbabilisticPCA("evidence"), lambda X: X, "needs the covariance of complete rows"),
        (ProbabilisticPCA(6), lambda X: X, "leaves no direction for the noise in the 6 columns"),
        (ProbabilisticPCA(2), lambda X: without(X, 3), "column 3 of X contains only missing values"),
        (PCA(2), lambda X: X, r"partition \d+ contains NaN"),
    ],
)
def test_what_is_refused(table, sums, model, change, words):
    with pytest.raises(InputError, match=words):
        on_threads(model, cut(change(table), 7))


def test_what_is_told(table, sums):
    with pytest.warns(NotConvergedWarning, match="max_iter=2"):
        on_threads(ProbabilisticPCA(2, max_iter=2), cut(table, 7))


def test_a_model_of_partitions_is_saved_and_shown(table, sums, tmp_path):
    model = on_threads(ProbabilisticPCA(2), cut(table, 7))
    model.save(tmp_path / "model.gramfold")
    again = gramfold.load(tmp_path / "model.gramfold")
    np.testing.assert_array_equal(again.transform(table), model.transform(table))
    np.testing.assert_array_equal(again.impute(table), model.impute(table))
    model.save(tmp_path / "compact.gramfold", compact=True)
    np.testing.assert_array_equal(gramfold.load(tmp_path / "compact.gramfold").transform(table), model.transform(table))
    assert "200 of them held" in str(again.summary())
    assert "200 of" in str(model.verdict())
    assert "fitted to" in model.report(tmp_path / "map.html", dimension=False).read_text("utf8")
