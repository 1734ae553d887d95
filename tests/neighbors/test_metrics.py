"""Every metric against SciPy's."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramfold.errors import InputError
from gramfold.neighbors.metrics import make_metric


def halves(u, v):
    return 0.5 * float(np.abs(u - v).sum())


METRICS = [
    ("euclidean", None, {"metric": "euclidean"}),
    ("l2", None, {"metric": "euclidean"}),
    ("euclidean", {"w": np.array([1.0, 0.0, 2.0, 3.0])}, {"metric": "euclidean", "w": np.array([1.0, 0.0, 2.0, 3.0])}),
    ("cosine", None, {"metric": "cosine"}),
    ("cosine", {"w": np.arange(1.0, 5.0)}, {"metric": "cosine", "w": np.arange(1.0, 5.0)}),
    ("cityblock", None, {"metric": "cityblock"}),
    ("manhattan", None, {"metric": "cityblock"}),
    ("manhattan", {"w": np.arange(1.0, 5.0)}, {"metric": "cityblock", "w": np.arange(1.0, 5.0)}),
    ("chebyshev", None, {"metric": "chebyshev"}),
    ("minkowski", {"p": 3}, {"metric": "minkowski", "p": 3}),
    ("minkowski", None, {"metric": "euclidean"}),
    ("minkowski", {"p": 3, "w": np.arange(1.0, 5.0)}, {"metric": "minkowski", "p": 3, "w": np.arange(1.0, 5.0)}),
    ("correlation", None, {"metric": "correlation"}),
    ("canberra", None, {"metric": "canberra"}),
    (halves, None, {"metric": halves}),
]


@pytest.mark.parametrize(("name", "params", "reference"), METRICS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pairs_and_blocks_match_scipy(name, params, reference, dtype):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 4)).astype(dtype), rng.normal(size=(9, 4)).astype(dtype)
    metric = make_metric(name, params, X)
    truth = cdist(X.astype(float), Y.astype(float), **reference)
    # cosine and correlation divide each float32 row by its length in float32
    tolerance = 1e-6 if name in {"cosine", "correlation"} and dtype == np.float32 else 1e-12
    np.testing.assert_allclose(metric.block(X, Y), truth, rtol=tolerance, atol=tolerance)
    i, j = rng.integers(0, 12, 40), rng.integers(0, 9, 40)
    found = metric.pairs(metric.prepare(X), i, metric.prepare(Y), j, n_jobs=1)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, truth[i, j], rtol=tolerance, atol=tolerance)


def noisy(u, v):
    return float(np.abs(u - v).sum()) + 1e-15


@pytest.mark.parametrize(
    ("name", "params"),
    [(name, None) for name in ("euclidean", "cosine", "cityblock", "chebyshev", "correlation", "jensenshannon", noisy)]
    + [("cosine", {"w": np.linspace(1.0, 3.0, 20)}), ("correlation", {"w": np.linspace(1.0, 3.0, 20)})],
)
def test_a_row_is_at_distance_zero_from_itself(name, params):
    X = (1e4 + np.random.default_rng(1).random((50, 20))).astype(np.float32)
    metric, everyone = make_metric(name, params, X), np.arange(50)
    rows = metric.prepare(X)
    np.testing.assert_array_equal(metric.pairs(rows, everyone, rows, everyone, n_jobs=1), 0.0)
    copies = np.concatenate([X[:5], X[:2]])
    found = metric.block(copies, X)
    assert (found >= 0).all()
    np.testing.assert_array_equal(found[np.arange(7), [0, 1, 2, 3, 4, 0, 1]], 0.0)
    assert np.count_nonzero(found == 0) == 7 or name == "jensenshannon"


def test_correlation_is_the_cosine_of_centred_rows():
    X = 1e3 + np.random.default_rng(4).normal(size=(30, 6))
    centred = X - X.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(
        make_metric("correlation", None, X).block(X, X),
        make_metric("cosine", None, X).block(centred, centred),
        atol=1e-12,
    )


@pytest.mark.parametrize("name", ["euclidean", "cosine", "cityblock"])
def test_many_pairs_are_the_same_for_any_number_of_threads(name):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 5))
    metric = make_metric(name, None, X)
    rows, i, j = metric.prepare(X), rng.integers(0, 300, 120_000), rng.integers(0, 300, 120_000)
    one, two = (metric.pairs(rows, i, rows, j, n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_search_length_is_the_length_between_prepared_rows():
    X = np.random.default_rng(3).normal(size=(20, 4))
    for name in ("cosine", "euclidean"):
        metric = make_metric(name, None, X)
        unit = metric.prepare(X)
        np.testing.assert_allclose(metric.search_length(metric.block(X, X)), cdist(unit, unit), atol=1e-7)


def test_cosine_in_one_dimension_knows_only_the_sign():
    metric = make_metric("cosine", None, np.array([[1.0], [2.0], [-3.0]]))
    rows = metric.prepare(np.array([[1.0], [2.0], [-3.0]]))
    np.testing.assert_allclose(metric.pairs(rows, np.array([0, 0]), rows, np.array([1, 2]), 1), [0.0, 2.0])


@pytest.mark.parametrize("size", [1e25, 1e-25])
def test_cosine_of_float32_rows_whose_squares_are_no_float32(size):
    X = np.random.default_rng(9).normal(size=(12, 4))
    metric = make_metric("cosine", None, X)
    rows = metric.prepare((size * X).astype(np.float32))
    assert rows.dtype == np.float32
    everyone = np.arange(12)
    found = metric.pairs(rows, everyone, rows, everyone[::-1], 1)
    np.testing.assert_allclose(found, cdist(X, X, "cosine")[everyone, everyone[::-1]], atol=1e-6)


# --- metrics that the training rows scale


def test_seuclidean_is_scaled_by_the_training_rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3)) * [1.0, 10.0, 0.1]
    metric, batch = make_metric("seuclidean", None, X), rng.normal(size=(6, 3))
    truth = cdist(batch, X, "seuclidean", V=X.var(axis=0, ddof=1))
    np.testing.assert_allclose(metric.block(batch, X), truth)
    np.testing.assert_array_equal(metric.block(batch[:1], X)[0], metric.block(batch, X)[0])


def test_mahalanobis_is_the_euclidean_distance_of_whitened_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    metric, batch = make_metric("mahalanobis", None, X), rng.normal(size=(6, 3))
    whiten = np.linalg.cholesky(np.linalg.inv(np.cov(X.T)))
    np.testing.assert_allclose(metric.block(batch, X), cdist(batch @ whiten, X @ whiten))
    np.testing.assert_array_equal(metric.block(batch[:1], X)[0], metric.block(batch, X)[0])


def test_a_scale_that_is_passed_is_used():
    X = np.random.default_rng(6).normal(size=(10, 2))
    metric = make_metric("seuclidean", {"V": np.array([4.0, 4.0])}, X)
    np.testing.assert_allclose(metric.block(X, X), cdist(X, X) / 2.0)


# --- sentences


def test_rows_without_direction():
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    with pytest.raises(InputError, match=r"row 1 is all zeros and has no direction \(2 such rows\).*another metric"):
        make_metric("cosine", None, X).prepare(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_constant_rows_have_no_correlation(dtype):
    X = np.array([[1.0, 2.0, 4.0], [0.1, 0.1, 0.1], [0.0, 0.0, 0.0], [0.3, 0.3, 0.3 + 1e-17]], dtype=dtype)
    with pytest.raises(InputError, match=r"row 1 is constant and has no direction \(3 such rows\), so its correlation"):
        make_metric("correlation", None, X).prepare(X)


def test_distances_below_zero():
    X = np.random.default_rng(0).normal(size=(5, 2))
    with pytest.raises(InputError, match=r"gives -\S+ for some pair of rows: distances cannot be negative"):
        make_metric(lambda u, v: float(u @ v), None, X).block(X, X)
    slightly = make_metric(lambda u, v: max(abs(u - v).sum() - 1e-12, -1e-12), None, X)
    assert slightly.block(X, X + 1e-14).min() == 0.0


def test_unknown_metric():
    with pytest.raises(InputError, match=r"metric='euclidian' .* cannot be computed by SciPy.*use 'euclidean'"):
        make_metric("euclidian", None, np.eye(3))


def test_parameter_that_the_metric_does_not_have():
    with pytest.raises(InputError, match=r"metric='euclidean' with .*'q': 1.*cannot be computed by SciPy"):
        make_metric("euclidean", {"q": 1}, np.eye(3))


def test_minkowski_below_one_is_no_distance():
    with pytest.raises(InputError, match=r"p=0.5 is not a distance: use p >= 1"):
        make_metric("minkowski", {"p": 0.5}, np.eye(3))


def test_constant_column():
    X = np.column_stack([np.arange(5.0), np.ones(5)])
    with pytest.raises(InputError, match=r"column 1 is constant.*'seuclidean'.*remove it"):
        make_metric("seuclidean", None, X)


def test_singular_covariance():
    X = np.random.default_rng(7).normal(size=(10, 2)) @ np.random.default_rng(8).normal(size=(2, 4))
    with pytest.raises(InputError, match=r"singular \(4 columns, rank 2\).*use fewer columns"):
        make_metric("mahalanobis", None, X)


def test_a_distance_that_is_not_a_number():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 4.0], [0.0, 5.0, 1.0]])  # a row of zeros has no direction
    with pytest.raises(InputError, match=r"'cosine' is not defined for 5 of 9 pairs.*another metric"):
        make_metric("cosine", {"w": np.ones(3)}, X).block(X, X)


def test_values_whose_squares_overflow():
    X = np.array([[1e200, 0.0], [0.0, 1.0]])
    with pytest.raises(InputError, match=r"values up to 1.0e\+200, whose distances overflow: divide X"):
        make_metric("euclidean", None, X).prepare(X)


@pytest.mark.parametrize(("name", "scales"), [("mahalanobis", np.eye(2)), ("seuclidean", np.ones(5))])
def test_scales_of_other_columns_are_refused(name, scales):
    X = np.random.default_rng(0).random((20, 4))
    with pytest.raises(InputError, match="but X has 4 columns: pass an array of shape"):
        make_metric(name, {"VI" if name == "mahalanobis" else "V": scales}, X)
