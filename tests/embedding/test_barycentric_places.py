"""New rows by local weights, where the distances are not Euclidean."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from gramfold import LLE, LTSA, SDE, HessianLLE, ModifiedLLE
from gramfold.datasets import make_s_curve
from gramfold.errors import NotEuclideanWarning
from tests.methods.maps import difference

CLASSES = [LLE, ModifiedLLE, HessianLLE, LTSA, SDE]
ROWS = {"digits": lambda: load_digits().data[:400], "S-curve": lambda: make_s_curve(400, random_state=0).points}
# (rows, metric, how far the places of new rows may be from those of their neighbours: in the median, of the map's size)
CASES = [("digits", "cosine", 0.03), ("digits", "cityblock", 0.04), ("S-curve", "cityblock", 0.03)]


def make(cls):
    return cls(2, 5 if cls is SDE else 10, metric="precomputed")


def settled(X, metric):
    D = cdist(X, X, metric)
    return np.maximum((D + D.T) / 2, 0) * (1 - np.eye(len(X)))


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize(("rows", "metric", "near"), CASES)
@pytest.mark.parametrize("cls", CLASSES)
def test_new_rows_stay_on_the_map(cls, rows, metric, near):
    D = settled(ROWS[rows](), metric)
    model = make(cls).fit(D[:300, :300])
    places, new = model.embedding_, model.transform(D[300:, :300])
    size = np.abs(places).max()
    assert np.abs(new).max() < 1.15 * size  # 1.4 to 84 times at the saddle of an indefinite Gram matrix
    around = places[np.argsort(D[300:, :300], axis=1)[:, :8]].mean(axis=1)
    assert np.median(np.linalg.norm(new - around, axis=1)) < near * size
    # rows very near to training rows land beside them
    beside = model.transform(D[:300, :300] + 1e-6 * np.median(D))
    assert np.median(np.linalg.norm(beside - places, axis=1)) < 0.005 * size


@pytest.mark.parametrize("cls", CLASSES)
def test_what_is_not_euclidean_is_told(cls):
    D = settled(ROWS["S-curve"](), "cityblock")
    warned = cls in (LLE, ModifiedLLE)  # the others fit without weights
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = make(cls).fit(D[:300, :300])
    assert [w.category for w in told] == [NotEuclideanWarning] * warned
    with pytest.warns(
        NotEuclideanWarning, match=r"on average \d+\.\d% of the spectrum of the 100 local Gram matrices is negative"
    ):
        model.transform(D[300:, :300])
    model.transform(D[:300, :300])  # training rows need no weights


@pytest.mark.parametrize("cls", CLASSES)
def test_roots_of_city_blocks_are_euclidean(cls):
    D = np.sqrt(settled(ROWS["S-curve"](), "cityblock"))
    make(cls).fit(D[:300, :300]).transform(D[300:, :300])  # warnings are errors


@pytest.mark.parametrize("cls", CLASSES)
def test_euclidean_distances_are_not_changed(cls, monkeypatch):
    X = ROWS["S-curve"]()
    D = settled(X, "euclidean")
    model = make(cls).fit(D[:300, :300])
    monkeypatch.setattr("gramfold.neighbors.precomputed.DistanceIndex.euclidean", True)  # as if there were no repair
    plain = make(cls).fit(D[:300, :300])
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    np.testing.assert_array_equal(model.transform(D[300:, :300]), plain.transform(D[300:, :300]))


def test_a_metric_chooses_neighbours_and_the_rows_make_the_weights():
    X = ROWS["S-curve"]()
    by_rows = LLE(2, 10, metric="cityblock").fit(X)  # no warning
    with pytest.warns(NotEuclideanWarning):
        by_distances = LLE(2, 10, metric="precomputed").fit(settled(X, "cityblock"))
    np.testing.assert_array_equal(by_rows.neighbors_.indices, by_distances.neighbors_.indices)
    assert difference(by_rows.embedding_, by_distances.embedding_) > 0.1


def test_a_batch_equals_its_rows():
    D = settled(ROWS["digits"](), "cityblock")  # some of its neighbourhoods are Euclidean
    model = make(SDE)
    with pytest.warns(UserWarning, match="2 connected components"):
        model.fit(D[:300, :300])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotEuclideanWarning)
        alone = np.concatenate([model.transform(D[[i], :300]) for i in range(300, 340)])
    np.testing.assert_allclose(model.transform(D[300:340, :300]), alone, rtol=1e-9)
