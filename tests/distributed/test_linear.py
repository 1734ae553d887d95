"""Linear maps of rows in partitions are those of the same rows in memory."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gramfold
from gramfold import PCA, FactorAnalysis, OrientedPCA, ProbabilisticPCA
from gramfold.distributed import dask_rows, open_rows
from gramfold.errors import InputError, LeftOutError, MemoryForecastError, RankWarning, ScaleWarning
from tests.distributed.cuts import CUTS, agree, cut, far, held

HELD = 200
NOISE = np.diag([1.0, 2, 3, 4, 5, 6])
MAPS = {
    "pca": lambda: PCA(2),
    "share": lambda: PCA(0.9),
    "all": lambda: PCA(None),
    "mle": lambda: PCA("mle"),
    "gram": lambda: PCA(3, svd_solver="gram"),
    "white": lambda: PCA(4, whiten=True),
    "ppca": lambda: ProbabilisticPCA(2),
    "evidence": lambda: ProbabilisticPCA("evidence"),
    "oriented": lambda: OrientedPCA(2),
    "noise": lambda: OrientedPCA(2, noise_correlation=NOISE),
    "signal": lambda: OrientedPCA(2, signal_covariance=NOISE),
    "factors": lambda: FactorAnalysis(2),
    "varimax": lambda: FactorAnalysis(2, rotation="varimax"),
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    return rng.standard_normal((2000, 6)) * [5, 4, 3, 1, 0.5, 0.2] @ turn + np.arange(6)


@pytest.fixture
def sums(monkeypatch):
    held(monkeypatch, HELD)


def on_threads(model, rows, **fit):
    with dask.config.set(scheduler="synchronous"):
        return model.fit(rows, **fit)


@pytest.mark.parametrize("name", MAPS)
def test_every_map_is_that_of_the_rows_in_memory(table, sums, name):
    agree(on_threads(MAPS[name](), cut(table, 7)), MAPS[name]().fit(table), table)


@pytest.mark.parametrize("count", CUTS)
def test_any_partitioning_gives_the_same_map(table, sums, count):
    agree(on_threads(PCA(3), cut(table, count, seed=count)), PCA(3).fit(table), table)


def test_workers_of_a_cluster_add_up_in_the_same_order(client, table, sums):
    rows = cut(table, 12)
    far_away, here = PCA(3).fit(rows), on_threads(PCA(3), rows)
    assert far(far_away.components_, here.components_) < 1e-14
    assert far(far_away.embedding_, here.embedding_) < 1e-14
    agree(far_away, PCA(3).fit(table), table)
    assert far(far_away.transform(rows).compute(), PCA(3).fit(table).embedding_) < 1e-8


EXTREMES = {
    "far from the origin": lambda X: X / 5 + 1e6,
    "a constant column": lambda X: np.column_stack([X, np.full(len(X), 0.1)]),
    "a column twice": lambda X: np.column_stack([X, X[:, 0]]),
    "huge": lambda X: X * 1e200,
    "tiny": lambda X: X * 1e-200,
    "float32": lambda X: X.astype(np.float32),
    "large float32": lambda X: (X * 1e15).astype(np.float32),
    "copies": lambda X: np.repeat(X[:40], 50, axis=0),
    "one row": lambda X: np.repeat(X[:1], len(X), axis=0),
    "one column": lambda X: X[:, :1].copy(),
    "columns of unlike sizes": lambda X: X * [1e5, 1, 1, 1, 1e-2, 1e-4],
}


@pytest.mark.filterwarnings("ignore::gramfold.errors.RankWarning", "ignore::gramfold.errors.ScaleWarning")
@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize(
    "model",
    [PCA(2), PCA(None, whiten=True), ProbabilisticPCA(1), FactorAnalysis(1)],
    ids=lambda one: type(one).__name__,
)
def test_extremes(table, sums, name, model):
    X = EXTREMES[name](table)
    agree(on_threads(clone(model), cut(X, 7)), clone(model).fit(X), X)


def test_columns_without_noise_lead_to_the_same_factors(sums):
    """The likelihood is flat where a noise is near its floor: its rounding would decide where the search ends."""
    rng = np.random.default_rng(1)
    z, noise = rng.standard_normal((2000, 2)), rng.standard_normal((2000, 3))
    X = np.column_stack([z, noise + z @ [[0.4, 0, 0], [0, 0.3, 0]]])
    whole = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(whole.noise_variance_[:2] / X[:, :2].var(axis=0), whole.least_noise)
    assert far(on_threads(FactorAnalysis(2), cut(X, 7)).transform(X), whole.embedding_) < 1e-8


def test_columns_of_other_units_are_told_with_advice_for_partitions(table, sums):
    rows = da.from_array(table * [1e3, 1, 1, 1, 1, 1], chunks=(300, 6))
    with pytest.warns(ScaleWarning, match=r"X = \(X - X.mean\(axis=0\)\) / X.std\(axis=0\)"):
        on_threads(PCA(2), rows)
    alike = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model, whole = on_threads(PCA(2), alike), PCA(2).fit(alike.compute())
    assert far(model.transform(alike).compute(), whole.embedding_) < 1e-8


def test_small_directions_have_all_their_digits(table, sums):
    """Scatter carries half of them: whitened coordinates of a column 1e-5 as large would be off in the seventh."""
    X = table * [2e4, 1, 1, 1, 1, 1]
    with pytest.warns(ScaleWarning):
        model = on_threads(PCA(6, whiten=True), cut(X, 7))
    with pytest.warns(ScaleWarning):
        whole = PCA(6, whiten=True).fit(X)
    assert far(model.transform(X), whole.embedding_) < 1e-9


def test_what_is_told_of_the_map_is_told_once(table, sums):
    flat = table[:, :3].copy()
    flat[:, 2] = flat[:, 0]
    with pytest.warns(RankWarning, match="along only 2 directions") as told:
        on_threads(PCA(3), cut(flat, 7))
    assert len(told) == 1


def test_few_rows_are_fitted_as_they_are(table):
    rows = cut(table, 7)
    model, whole = on_threads(PCA(2), rows), PCA(2).fit(table)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    np.testing.assert_array_equal(model.sample_, np.arange(len(table)))
    with pytest.raises(InputError, match="minimum of 2"):
        on_threads(PCA(1), cut(table[:1], 7))


def test_little_is_gathered(client, table, sums, monkeypatch):
    sizes, computed = [], dask_rows.computed

    def seen(*given, **named):
        found = computed(*given, **named)
        sizes.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(dask_rows, "computed", seen)
    wide = np.tile(table, (10, 1))
    PCA(2).fit(cut(wide, 7))
    assert sizes
    assert max(sizes) < 1.5 * 8 * HELD * table.shape[1] < wide.nbytes / 50


# --- where rows come from


def test_a_dataframe_keeps_its_names(table, sums):
    frame = pd.DataFrame(table, columns=list("abcdef"))
    model = on_threads(PCA(2), dd.from_pandas(frame, npartitions=5))
    whole = PCA(2).fit(frame)
    agree(model, whole, frame)
    np.testing.assert_array_equal(model.feature_names_in_, whole.feature_names_in_)
    with pytest.raises(InputError, match="X has no column 'a'"):
        model.transform(frame.rename(columns={"a": "z"}))


def test_files_and_mapped_arrays_are_streamed_in_small_batches(table, sums, tmp_path):
    frame = pd.DataFrame(table, columns=list("abcdef"))
    whole = PCA(3).fit(frame)
    for i in range(3):
        frame[i * 700 : (i + 1) * 700].to_parquet(tmp_path / f"{i}.parquet")
    in_files = open_rows(tmp_path, memory_limit=40_000)
    np.save(tmp_path / "rows.npy", table)
    mapped = open_rows(tmp_path / "rows.npy", memory_limit=40_000)
    assert min(len(in_files), len(mapped)) > 15
    agree(PCA(3).fit(in_files), whole, frame)
    agree(PCA(3).fit(mapped), PCA(3).fit(table), table)


# --- distorted rows


@pytest.fixture(scope="module")
def distorted(table):
    rng = np.random.default_rng(1)
    return np.stack([table + rng.standard_normal(table.shape) * np.arange(1, 7) / k for k in (10, 20)])


@pytest.mark.parametrize("change", [lambda X: X, lambda X: X / 5 + 1e6, lambda X: X * 1e200], ids=["", "far", "huge"])
def test_distorted_rows_in_partitions(table, distorted, sums, change):
    X, D = change(table), change(distorted)
    whole = OrientedPCA(2).fit(X, X_distorted=D)
    agree(on_threads(OrientedPCA(2), cut(X, 7), X_distorted=[cut(one, 7) for one in D]), whole, X)


def test_distorted_rows_are_cut_as_the_rows_are(client, table, distorted, sums, tmp_path):
    whole = OrientedPCA(2).fit(table, X_distorted=distorted)
    versions = da.from_array(distorted, chunks=(1, 900, 3))
    agree(OrientedPCA(2).fit(cut(table, 7), X_distorted=versions), whole, table)
    np.save(tmp_path / "rows.npy", table)
    np.save(tmp_path / "distorted.npy", distorted[0])
    one = OrientedPCA(2).fit(table, X_distorted=distorted[0])
    rows = open_rows(tmp_path / "rows.npy", memory_limit=40_000)
    agree(OrientedPCA(2).fit(rows, X_distorted=tmp_path / "distorted.npy"), one, table)


def test_few_rows_with_distorted_ones(table, distorted):
    whole = OrientedPCA(2).fit(table, X_distorted=distorted)
    model = on_threads(OrientedPCA(2), cut(table, 7), X_distorted=[cut(one, 7) for one in distorted])
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda D: D, "not both Dask collections"),
        (lambda D: da.from_array(D[:1500], chunks=(100, 6)), "has 7 partitions and X_distorted has 15"),
        (lambda D: cut(D, 7, seed=5), r"partition \d has .* rows in X and .* in X_distorted"),
        (lambda D: cut(D[:, :5], 7), "X has 6 columns and X_distorted has 5"),
    ],
)
def test_distorted_rows_that_are_others_are_refused(table, distorted, sums, other, words):
    with pytest.raises(InputError, match=words):
        on_threads(OrientedPCA(2), cut(table, 7), X_distorted=other(distorted[0]))


# --- what is refused


@pytest.mark.parametrize(
    ("model", "fit", "words"),
    [
        (PCA(2), {"sample_weight": np.ones(2000)}, "takes no sample_weight"),
        (PCA(2, svd_solver="full"), {}, "svd_solver='full' is scikit-learn's"),
        (PCA(2000), {}, "has at most 1999 dimensions"),
        (OrientedPCA(2, noise_correlation=NOISE), {"X_distorted": np.ones((2000, 6))}, "both given"),
    ],
)
def test_what_is_refused(table, sums, model, fit, words):
    with pytest.raises(InputError, match=words):
        on_threads(model, cut(table, 7), **fit)


@pytest.mark.slow
def test_columns_whose_scatter_takes_more_memory_than_there_is(sums):
    rows = da.zeros((1000, 1_000_000), chunks=(10, 1_000_000))
    with pytest.raises(MemoryForecastError, match=r"scatter of 1,000,000 columns.* leave out columns"):
        PCA(2).fit(rows)


# --- the model


@pytest.mark.parametrize("name", ["pca", "white", "ppca", "noise", "varimax"])
def test_a_model_of_partitions_is_saved_and_read(table, sums, name, tmp_path):
    model = on_threads(MAPS[name](), cut(table, 7))
    model.save(tmp_path / "model.gramfold")
    again = gramfold.load(tmp_path / "model.gramfold")
    np.testing.assert_array_equal(again.transform(table), model.transform(table))
    np.testing.assert_array_equal(again.sample_, model.sample_)
    places = model.embedding_[:5]
    np.testing.assert_array_equal(again.inverse_transform(places), model.inverse_transform(places))
    model.save(tmp_path / "compact.gramfold", compact=True)
    compact = gramfold.load(tmp_path / "compact.gramfold")
    np.testing.assert_array_equal(compact.transform(table), model.transform(table))
    with pytest.raises(LeftOutError):
        _ = compact.kernel_
    assert "2,000 rows of 6 columns in partitions, 200 of them held" in str(again.summary())
    assert "2,000 rows of 6 columns" in str(compact.summary())


def test_a_model_of_partitions_is_judged_and_shown(table, sums, tmp_path):
    model, whole = on_threads(PCA(2), cut(table, 7)), PCA(2).fit(table)
    assert "200 of 2,000 rows" in str(model.verdict())
    assert far(model.inverse_error(), whole.inverse_error()) < 0.1  # of other rows
    page = model.report(tmp_path / "map.html", dimension=False).read_text("utf8")
    assert "fitted to 2,000 rows in partitions" in page
    assert "2,000 rows × 6 columns" in model._repr_html_inner()
