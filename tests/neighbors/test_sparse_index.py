"""Neighbours of sparse rows against those of the same rows, dense, and against all distances."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from gramfold.errors import InputError
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.neighbors.index import Index
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.search import build_index
from gramfold.neighbors.sparse_index import SparseRowsIndex
from gramfold.neighbors.sparse_products import Products
from gramfold.neighbors.sparse_rows import canonical, find_rows, isometric_rows, numbers_per_row, row_labels
from gramfold.neighbors.sparse_sketch import Sketch, SketchIndex


def words(n: int, d: int = 300, length: int = 25, seed: int = 0, *, whole: bool = False) -> csr_array:
    """Texts of words that are as frequent as in a language; `whole`: counts, else weights of any size."""
    rng = np.random.default_rng(seed)
    share = np.cumsum(1.0 / np.arange(1, d + 1))
    columns = np.searchsorted(share / share[-1], rng.random((n, length)))
    counts = csr_array((np.ones(columns.size), columns.ravel(), length * np.arange(n + 1)), shape=(n, d))
    counts.sum_duplicates()
    if not whole:
        counts.data *= rng.uniform(0.5, 1.5, counts.nnz)
    return counts


def index_of(X, metric="euclidean", search="exact", n_neighbors=5) -> Index:
    random_state = np.random.RandomState(0)
    return build_index(
        X,
        metric=metric,
        metric_params=None,
        search=search,
        n_neighbors=n_neighbors,
        radius=None,
        n_jobs=2,
        random_state=random_state,
    )[0]


def plain_nearest(distances, k):
    """The slow reference: all distances, the lower index at a tie."""
    order = np.lexsort((np.broadcast_to(np.arange(distances.shape[1]), distances.shape), distances), axis=1)[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_nearest_are_those_of_all_distances(metric, dtype):
    X, fresh = words(200).astype(dtype), words(40, seed=1).astype(dtype)
    index = index_of(X, metric)
    assert isinstance(index, SparseRowsIndex)
    wide, new = X.toarray().astype(np.float64), fresh.toarray().astype(np.float64)
    among = cdist(wide, wide, metric)
    np.fill_diagonal(among, np.inf)
    for found, distances in ((index.own(7, None), among), (index.nearest(fresh, 7), cdist(new, wide, metric))):
        order, expected = plain_nearest(distances, 7)
        np.testing.assert_allclose(found.distances.reshape(-1, 7), expected, rtol=1e-5 if dtype == np.float32 else 1e-9)
        if dtype == np.float64:
            np.testing.assert_array_equal(found.indices.reshape(-1, 7), order)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_everything_of_the_index_of_dense_rows(metric):
    X, fresh = words(150), words(30, seed=2)
    sparse, dense = index_of(X, metric), index_of(X.toarray(), metric)
    lists = dense.own(6, None)
    radius = float(np.median(lists.distances))
    reach, reaches = np.full(30, radius), lists.farthest
    pairs = {
        "within": (sparse.own(None, radius), dense.own(None, radius)),
        "of new rows": (sparse.within(fresh, reach, reaches), dense.within(fresh.toarray(), reach, reaches)),
        "joined": (sparse.joined(fresh, 6, lists), dense.joined(fresh.toarray(), 6, lists)),
    }
    for name, (found, expected) in pairs.items():
        np.testing.assert_array_equal(found.indptr, expected.indptr, err_msg=name)
        np.testing.assert_array_equal(found.indices, expected.indices, err_msg=name)
        np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(sparse.distances_from(3), dense.distances_from(3), atol=1e-12)
    first, second = np.array([0, 5, 9]), np.array([7, 5, 2])
    found = sparse.distances_between(first, second)
    np.testing.assert_allclose(found, dense.distances_between(first, second), atol=1e-12)
    piece = np.repeat([0, 1, 2], 50)
    for found, expected in zip(sparse.gaps(piece), dense.gaps(piece), strict=True):
        assert found[:2] == expected[:2]
        assert found[2] == pytest.approx(expected[2], rel=1e-9)


def test_local_gram_matrices():
    X, fresh = words(60), words(8, seed=3)
    sparse, dense = index_of(X), index_of(X.toarray())
    vertices, lists = np.arange(60)[::-1].copy(), np.random.default_rng(0).integers(0, 60, (8, 4))
    rows = np.arange(8)
    found, expected = (index.vertex_grams(vertices)(rows, lists) for index in (sparse, dense))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    found = sparse.query_grams(fresh)(rows, lists)
    np.testing.assert_allclose(found, dense.query_grams(fresh.toarray())(rows, lists), atol=1e-12)


def test_of_ties_the_lowest_index():
    X = words(300, d=30, length=6, whole=True)  # counts: distances are roots of few whole numbers
    X = X[collapse_rows(X).first]
    wide = X.toarray()
    among = np.sqrt(np.square(wide[:, None] - wide).sum(axis=2))
    np.fill_diagonal(among, np.inf)
    order, expected = plain_nearest(among, 5)
    found = index_of(X).own(5, None)
    np.testing.assert_array_equal(found.indices.reshape(-1, 5), order)
    np.testing.assert_array_equal(found.distances.reshape(-1, 5), expected)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_without_a_common_column_are_all_as_far(sign):
    X = csr_array(np.kron(np.eye(40), np.array([[1.0, sign * 2.0], [2.0, 1.0]])))
    found = index_of(X, "cosine").own(4, None)
    lists, distances = found.indices.reshape(-1, 4), found.distances.reshape(-1, 4)
    np.testing.assert_array_equal(distances[:, -1], 1.0)
    others = [np.setdiff1d(np.arange(80), [i, i ^ 1])[:3] for i in range(80)]  # the lowest of all that are as far
    if sign > 0:
        np.testing.assert_array_equal(lists[:, 0], np.arange(80) ^ 1)
        np.testing.assert_array_equal(lists[:, 1:], others)
    else:  # (1, −2) and (2, 1) are orthogonal too
        np.testing.assert_array_equal(lists, [np.setdiff1d(np.arange(80), [i])[:4] for i in range(80)])


@pytest.mark.parametrize("size", [1e-60, 1e-20, 1.0, 1e20, 1e60])
def test_rows_of_any_size(size):
    X = words(120)
    expected = index_of(X).own(5, None)
    found = index_of(X * size).own(5, None)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, size * expected.distances, rtol=1e-12)


def test_small_rows_beside_very_long_ones():
    X = words(120).toarray()
    X[:60] *= 1e-30  # whose products with each other are no numbers of float32
    found = index_of(csr_array(X)).own(5, None)
    among = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    np.fill_diagonal(among, np.inf)
    np.testing.assert_array_equal(found.indices.reshape(-1, 5)[:60], plain_nearest(among, 5)[0][:60])


def test_offset_rows_are_searched_again():
    X = words(120, d=40).toarray()
    X[:, 0] += 1e6  # in float32 nothing else is left
    found = index_of(csr_array(X)).own(5, None)
    among = cdist(X, X)
    np.fill_diagonal(among, np.inf)
    np.testing.assert_array_equal(found.indices.reshape(-1, 5), plain_nearest(among, 5)[0])


@pytest.mark.parametrize("share", [0.0, 0.05, 2.0])
@pytest.mark.parametrize("wide", [False, True])
def test_products_by_common_and_rare_columns(share, wide):
    X, fresh = words(100), words(20, seed=1)
    products = Products.of(X, share)
    own = np.square(fresh.toarray()).sum(axis=1)
    block = products.wide(fresh, own) if wide else products.narrow(fresh, own)
    expected = (fresh @ X.T).toarray()
    off = np.abs(0.5 * block.twice * block.products.astype(np.float64) - expected)
    bound = 0.5 * (block.slack[:, None] * products.lengths + block.floor)
    assert (off <= bound).all()
    assert off.max() < (1e-14 if wide else 1e-5) * np.abs(expected).max()


def test_all_distances_where_products_cancel():
    X = words(30).toarray()
    near = X + 1e-9 * (X > 0)
    metric = make_metric("euclidean", None, csr_array(X))
    found = metric.block(csr_array(near), csr_array(X))
    np.testing.assert_allclose(found, cdist(near, X), rtol=1e-10)
    assert (metric.block(csr_array(X), csr_array(X)).diagonal() == 0).all()


# --- equal rows


def test_copies_are_one_vertex():
    X = words(50)
    twice = csr_array(np.vstack([X.toarray(), X.toarray()[::2], np.zeros((2, 300))]))
    copies = collapse_rows(twice)
    expected = collapse_rows(twice.toarray())
    np.testing.assert_array_equal(copies.vertex, expected.vertex)
    np.testing.assert_array_equal(copies.first, expected.first)
    np.testing.assert_array_equal(copies.multiplicity, expected.multiplicity)


def test_rows_of_one_direction_are_copies_for_the_cosine():
    X = words(30, whole=True)
    both = csr_array(np.vstack([X.toarray(), 3.0 * X.toarray()]))
    index = index_of(both, "cosine")
    assert index.size == index_of(X, "cosine").size


def test_one_form_for_all():
    X = csr_array(([1.0, 0.0, 2.0, -2.0, 5.0], [2, 0, 1, 1, 0], [0, 3, 5]), shape=(2, 3))  # unsorted, with a zero
    found = canonical(X)
    np.testing.assert_array_equal(found.indices, [1, 2, 0, 1])
    np.testing.assert_array_equal(found.data, [2.0, 1.0, 5.0, -2.0])
    assert X.nnz == 5, "the user's own is not changed"
    assert canonical(found) is found
    repeated = csr_array(([1.0, 2.0, 3.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    np.testing.assert_array_equal(canonical(repeated).toarray(), [[3.0, 3.0]])


def test_rows_are_found_by_value():
    X = words(40)
    np.testing.assert_array_equal(find_rows(X[[7, 3]], X), [7, 3])
    np.testing.assert_array_equal(find_rows(1.5 * X[[7]], X), [-1])
    np.testing.assert_array_equal(np.unique(row_labels(X)), np.arange(40))
    assert numbers_per_row(X) < 25 < numbers_per_row(X.toarray())


@pytest.mark.parametrize("d", [20, 300])
def test_isometric_rows(d):
    X = words(40, d=d)
    found = isometric_rows(X)
    assert found.shape[1] <= 40
    np.testing.assert_allclose(cdist(found, found), cdist(X.toarray(), X.toarray()), atol=1e-6)


# --- approximate


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_approximate_neighbours(metric):
    pytest.importorskip("faiss")
    X, fresh = words(900, d=2_000, length=60), words(50, d=2_000, length=60, seed=4)
    index, exact = index_of(X, metric, "approximate"), index_of(X, metric)
    assert isinstance(index, SketchIndex)
    assert 0.9 <= index.recall <= 1.0
    found, truth = index.own(5, None), exact.own(5, None)
    share = np.mean(found.distances.reshape(-1, 5) <= truth.farthest[:, None])
    assert share == pytest.approx(index.recall, abs=0.05)
    same = found.indices == truth.indices
    np.testing.assert_array_equal(found.distances[same], truth.distances[same])  # those of the rows, not of the sketch
    joined = index.joined(fresh, 5, found)
    nearest = exact.nearest(fresh, 5)
    assert np.mean(np.isin(nearest.rows * 900 + nearest.indices, joined.rows * 900 + joined.indices)) > 0.85
    assert (index.nearest(X[:20], 1).distances < 1e-15).all(), "a training row is its own nearest"
    again = index_of(X, metric, "approximate").own(5, None)
    np.testing.assert_array_equal(found.indices, again.indices)


def test_a_sketch_of_very_many_columns(monkeypatch):
    monkeypatch.setattr("gramfold.neighbors.sparse_sketch._MOST_COLUMNS", 512)
    X = words(400, d=5_000, length=60)
    sketch = Sketch.of(X, np.random.RandomState(0))
    assert sketch.axes.shape == (512, 256)
    places, wide = sketch(X), X.toarray()
    # about as far apart as the rows are
    assert np.corrcoef(cdist(places, places).ravel(), cdist(wide, wide).ravel())[0, 1] > 0.9


# --- what cannot be


@pytest.mark.parametrize("metric", ["cityblock", "correlation", "jaccard", "mahalanobis", np.dot])
def test_other_metrics_are_refused_by_name(metric):
    with pytest.raises(InputError, match="is not available for sparse rows: use 'euclidean' or 'cosine', reduce the"):
        index_of(words(20), metric)


def test_zeros_have_no_direction():
    X = words(20).toarray()
    X[[4, 9]] = 0.0
    with pytest.raises(InputError, match=r"row 4 is all zeros and has no direction \(2 such rows\), so its cosine"):
        index_of(csr_array(X), "cosine")


def test_huge_values_are_refused():
    with pytest.raises(InputError, match="whose distances overflow"):
        index_of(words(20) * 1e200)


def test_sparse_rows_for_dense_ones():
    with pytest.raises(InputError, match=r"new rows are sparse \(5 x 300\), but the model was fitted on dense rows"):
        index_of(words(30).toarray()).nearest(words(5), 3)
