"""Nyström embedding of rows in partitions is that of the same rows in memory."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gramfold
from gramfold import NystromEmbedding
from gramfold.datasets import make_s_curve
from gramfold.distributed import nystrom, open_rows
from gramfold.distributed.landmarks import row_hashes
from gramfold.errors import InputError
from tests.distributed.parts import in_parts

N = 1500
SETTINGS = {
    "plain": {},
    "given": {"landmarks": list(range(1400, 0, -50))},
    "kmeans": {"landmark_choice": "kmeans"},
    "poly": {"kernel": "poly", "landmarks": 20},
    "linear": {"kernel": "linear", "landmarks": 20},
    "approximate": {"eigenvectors": "approximate"},
    "function": {"kernel": lambda x, y: float(np.exp(-np.abs(x - y).sum())), "landmarks": 8},
}


@pytest.fixture(scope="module")
def curve():
    return make_s_curve(N, random_state=0).points


@pytest.fixture
def few_held(monkeypatch):
    """Models that hold a sample of 200 rows, so that 1,500 rows are many."""
    monkeypatch.setattr(nystrom, "SAMPLE", 200)
    monkeypatch.setattr(nystrom, "ROWS_PER_CENTER", 5)


def maps(settings, X, rows):
    estimator = NystromEmbedding(2, **{"landmarks": 30, "random_state": 3, **settings})
    return clone(estimator).fit(X), clone(estimator).fit(rows)


def assert_same_map(whole, spread, X, within=1e-8):
    np.testing.assert_allclose(spread.transform(X), whole.embedding_, atol=within * np.ptp(whole.embedding_))


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize("count", [1, 7, 64])
@pytest.mark.parametrize("name", ["plain", "given", "poly"])
def test_any_partitions_make_the_map_of_one_process(curve, name, count):
    whole, spread = maps(SETTINGS[name], curve, in_parts(curve, count))
    np.testing.assert_array_equal(spread.sample_[spread.landmarks_], whole.landmarks_)
    assert_same_map(whole, spread, curve)
    np.testing.assert_allclose(spread.gamma_, whole.gamma_, rtol=1e-12)
    np.testing.assert_allclose(
        [spread.error_, spread.centered_error_], [whole.error_, whole.centered_error_], atol=1e-10
    )
    np.testing.assert_allclose(spread.leading_eigenvalues(5), whole.leading_eigenvalues(5), rtol=1e-8)
    np.testing.assert_allclose(spread.shares(), whole.shares(), rtol=1e-8)


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize("name", ["kmeans", "linear", "approximate", "function"])
def test_other_settings_do_too(curve, name):
    whole, spread = maps(SETTINGS[name], curve, in_parts(curve, 7))
    np.testing.assert_array_equal(spread.sample_[spread.landmarks_], whole.landmarks_)
    assert_same_map(whole, spread, curve)


@pytest.mark.parametrize("choice", ["random", "kmeans", "leverage"])
def test_landmarks_of_few_rows_are_chosen_among_all_of_them(curve, choice):
    """Copies of a row are passed over as in memory."""
    X = np.vstack([curve[:300], curve[:200]])
    whole, spread = maps({"landmark_choice": choice}, X, in_parts(X, 7))
    np.testing.assert_array_equal(spread.sample_[spread.landmarks_], whole.landmarks_)
    np.testing.assert_array_equal(spread.sample_, np.arange(500))
    assert_same_map(whole, spread, X)


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize("choice", ["random", "kmeans"])
@pytest.mark.parametrize("copies", [1, 400])
def test_copies_are_no_landmarks_of_many_rows_either(curve, choice, copies):
    X = np.vstack([curve[:copies], curve + 0.0, -0.0 * curve[:1], np.zeros((1, 3))])
    whole, spread = maps({"landmark_choice": choice}, X, in_parts(X, 7))
    np.testing.assert_array_equal(spread.sample_[spread.landmarks_], whole.landmarks_)
    assert_same_map(whole, spread, X)


def test_equal_rows_have_equal_hashes_and_others_do_not():
    rows = np.indices((60, 60, 60)).reshape(3, -1).T.astype(np.float64)  # few bits of each number are set
    assert len(np.unique(row_hashes(rows))) == len(rows)
    np.testing.assert_array_equal(row_hashes(-0.0 * rows), row_hashes(np.zeros_like(rows)))


@pytest.mark.usefixtures("few_held")
def test_leverage_of_many_rows_chooses_among_those_drawn(curve):
    spread = NystromEmbedding(2, landmarks=30, landmark_choice="leverage").fit(in_parts(curve, 7))
    again = NystromEmbedding(2, landmarks=spread.sample_[spread.landmarks_]).fit(curve)
    assert_same_map(again, spread, curve)


@pytest.mark.usefixtures("few_held")
@pytest.mark.usefixtures("client")
def test_on_a_cluster(curve):
    whole, spread = maps({}, curve, in_parts(curve, 7))
    assert_same_map(whole, spread, curve)


@pytest.mark.usefixtures("few_held")
def test_files_and_float32(curve, tmp_path):
    X = curve.astype(np.float32)
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    whole, spread = maps({}, frame, open_rows(tmp_path, memory_limit=40_000))
    assert spread.embedding_.dtype == np.float32
    assert spread.feature_names_in_.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(spread.transform(frame), whole.embedding_, atol=1e-5 * np.ptp(whole.embedding_))


@pytest.mark.usefixtures("few_held")
def test_what_the_model_holds(curve, tmp_path):
    """Rows that are drawn and landmarks: kernel, eigenvectors and places are those of all rows there."""
    whole, spread = maps({"inverse": "fixed-point"}, curve, in_parts(curve, 7))
    held = spread.sample_
    assert 200 <= len(held) <= 230
    np.testing.assert_allclose(spread.embedding_, whole.embedding_[held], atol=1e-8)
    np.testing.assert_allclose(spread.kernel_.dense(), whole.kernel_.dense()[np.ix_(held, held)], atol=1e-8)
    np.testing.assert_allclose(spread.spectrum_.eigenvectors, whole.spectrum_.eigenvectors[held], atol=1e-8)
    rows = spread.inverse_transform(whole.embedding_[:5])
    assert np.abs(spread.transform(rows) - whole.embedding_[:5]).max() < 0.2 * np.ptp(whole.embedding_)
    assert spread.score(curve[:200]) == pytest.approx(whole.score(curve[:200]))
    assert spread.negative_part().mass == 0
    assert f"{N:,} rows of 3 columns in partitions, {len(held)} of them held" in str(spread.summary())
    assert f"among {len(held)} of {N:,} rows" in str(spread.verdict())
    assert spread.report(tmp_path / "map.html", dimension=False).exists()
    for compact in (False, True):
        spread.save(tmp_path / "map.gramfold", compact=compact)
        again = gramfold.load(tmp_path / "map.gramfold")
        np.testing.assert_array_equal(again.transform(curve), spread.transform(curve))


def test_a_dataframe(curve):
    frame = pd.DataFrame(curve, columns=["x", "y", "z"])
    spread = NystromEmbedding(2, landmarks=30).fit_transform(dd.from_pandas(frame, npartitions=5))
    whole = NystromEmbedding(2, landmarks=30).fit_transform(frame)
    np.testing.assert_allclose(spread.compute().to_numpy(), whole, atol=1e-8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "precomputed"}, "reads rows of numbers, which kernel='precomputed' does not"),
        ({"landmarks": [0, N]}, f"landmarks contain row {N}"),
        ({"landmarks": 2, "n_components": 3}, "there are only 2 landmarks"),
    ],
)
def test_refused(curve, settings, message):
    with pytest.raises(InputError, match=message):
        NystromEmbedding(**{"n_components": 2, **settings}).fit(in_parts(curve, 7))


def test_rows_whose_squares_overflow(curve):
    with pytest.raises(InputError, match="the variance of X overflows"):
        NystromEmbedding(2, landmarks=30).fit(in_parts(curve * 1e200, 3))
