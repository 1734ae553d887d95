import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist

from gramfold import ClassicalMDS, LandmarkMDS
from gramfold.errors import InputError
from tests.methods.maps import difference, s_curve

X = s_curve()


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_all_rows_as_landmarks_is_classical_mds(metric):
    ours = LandmarkMDS(landmarks=len(X), metric=metric).fit(X)
    theirs = ClassicalMDS(metric=metric).fit(X)
    assert difference(ours.embedding_, theirs.embedding_) < 1e-10
    assert difference(ours.transform(X[:50] + 0.1), theirs.transform(X[:50] + 0.1)) < 1e-10


def test_few_landmarks_hold_euclidean_distances_exactly():
    # four landmarks span space, and then nothing is approximate
    model = LandmarkMDS(3, landmarks=10).fit(X)
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-7)


def test_a_tenth_of_the_rows_carries_the_map():
    assert procrustes(ClassicalMDS().fit_transform(X), LandmarkMDS(landmarks=80).fit_transform(X))[2] < 0.01


def test_given_landmarks_and_columns_of_distances():
    rows = np.array([5, 300, 17, 640, 400, 99, 701])
    from_rows = LandmarkMDS(landmarks=rows).fit(X)
    np.testing.assert_array_equal(from_rows.landmarks_, rows)
    from_columns = LandmarkMDS(landmarks=rows, metric="precomputed").fit(cdist(X, X[rows]))
    from_square = LandmarkMDS(landmarks=rows, metric="precomputed").fit(cdist(X, X))
    fresh = X[:20] + 0.05
    for model, new in ((from_columns, cdist(fresh, X[rows])), (from_square, cdist(fresh, X))):
        np.testing.assert_allclose(model.embedding_, from_rows.embedding_, atol=1e-9)
        np.testing.assert_allclose(model.transform(new), from_rows.transform(fresh), atol=1e-9)


def test_all_rows_as_landmarks_in_any_order():
    D = cdist(X[:60], X[:60])
    order = np.random.default_rng(0).permutation(60)
    mixed = LandmarkMDS(landmarks=order, metric="precomputed").fit(D)
    plain = LandmarkMDS(landmarks=np.arange(60), metric="precomputed").fit(D)
    assert difference(mixed.embedding_, plain.embedding_) < 1e-10
    np.testing.assert_allclose(mixed.transform(D), mixed.embedding_, atol=1e-9)


@pytest.mark.parametrize(
    ("landmarks", "metric", "sentence"),
    [
        ([3, 3, 4], "euclidean", "contain row 3 more than once"),
        ([0.5, 2.0], "euclidean", "not the indices of at least two rows"),
        ([0, 9999], "euclidean", "contain row 9999, but there are 800 rows"),
        ([0, 1], "precomputed", "X has 3 columns, but precomputed distances"),
    ],
)
def test_landmarks_that_cannot_be(landmarks, metric, sentence):
    with pytest.raises(InputError, match=sentence):
        LandmarkMDS(1, landmarks=landmarks, metric=metric).fit(X)


def test_all_distances_are_checked_where_landmarks_are_named():
    distances = cdist(X, X)
    distances[3, 7] += 1.0
    with pytest.raises(InputError, match="symmetric"):
        LandmarkMDS(landmarks=[1, 2, 5], metric="precomputed").fit(distances)
