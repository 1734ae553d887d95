"""Which search is chosen, and what passes through."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer

from gramfold.errors import ApproximationWarning, InputError
from gramfold.neighbors.exact import BlockedIndex, TreeIndex
from gramfold.neighbors.precomputed import DistanceIndex, GraphIndex, TransformerIndex
from gramfold.neighbors.search import build_index
from gramfold.runtime.costs import SearchCosts


def build(X, **changes):
    settings = {
        "metric": "euclidean",
        "metric_params": None,
        "search": "auto",
        "n_neighbors": 5,
        "radius": None,
        "n_jobs": 1,
        "random_state": np.random.RandomState(0),
    }
    return build_index(X, **settings | changes)


def rows(n, d):
    return np.random.default_rng(0).normal(size=(n, d))


@pytest.mark.parametrize(
    ("d", "metric", "chosen"),
    [
        (15, "euclidean", TreeIndex),
        (16, "euclidean", BlockedIndex),
        (3, "cosine", TreeIndex),
        (3, "chebyshev", TreeIndex),
        (16, "cityblock", BlockedIndex),
        (3, "canberra", BlockedIndex),
        (3, lambda u, v: float(abs(u - v).sum()), BlockedIndex),
    ],
)
def test_exact_searches(d, metric, chosen):
    index, _ = build(rows(30, d), metric=metric)
    assert type(index) is chosen
    assert index.recall is None


@pytest.mark.parametrize(("metric", "length"), [("euclidean", 1.0), ("cosine", 4.0), ("correlation", 4.0)])
@pytest.mark.parametrize("search", ["exact", KNeighborsTransformer(n_neighbors=4, metric="cosine")])
def test_rows_that_the_metric_takes_for_one_are_one_vertex(metric, length, search):
    X = rows(20, 8)
    alike = length * X[:5]
    index, collapse = build(np.vstack([X, alike]), metric=metric, search=search)
    assert index.size == 20
    assert collapse.vertex[20:].tolist() == [0, 1, 2, 3, 4]
    found = index.nearest(alike, 4)
    assert found.nearest.tolist() == [0, 1, 2, 3, 4]
    assert (found.distances[found.indptr[:-1]] == 0).all()


def test_given_neighbours():
    X = rows(30, 3)
    assert type(build(cdist(X, X), metric="precomputed")[0]) is DistanceIndex
    assert type(build(csr_array(cdist(X, X)), metric="precomputed")[0]) is GraphIndex
    assert type(build(X, search=KNeighborsTransformer())[0]) is TransformerIndex


class TestApproximate:
    CHEAP = SearchCosts(approximate_row=0.0, approximate_column=1.0)

    @pytest.fixture(autouse=True)
    def _faiss(self):
        pytest.importorskip("faiss")

    def test_few_rows_are_searched_exactly(self):
        assert type(build(rows(200, 20))[0]) is BlockedIndex  # as nothing makes the other search cheap

    def test_auto_switches_with_a_warning_that_tells_the_recall(self):
        with pytest.warns(ApproximationWarning, match=r"neighbours of 200 rows in 20 dimensions.*recall \d\.\d{3}"):
            index, _ = build(rows(200, 20), costs=self.CHEAP)
        assert type(index).__name__ == "SmallWorldIndex"
        assert 0.9 < index.recall <= 1.0

    def test_auto_stays_exact_where_a_few_columns_tell_who_is_far(self):
        X = rows(2_000, 4) @ rows(4, 64)
        costs = replace(self.CHEAP, least_work=0.0, approximate_row=1_000.0 * 100)  # of 64 columns: 1,000 · 124
        assert type(build(X, costs=costs)[0]) is BlockedIndex
        with pytest.warns(ApproximationWarning):
            build(rows(2_000, 64), costs=costs)
        with pytest.warns(ApproximationWarning):
            build(X, costs=replace(costs, least_work=np.inf))  # nobody has asked the columns

    def test_asked_for_it_does_not_warn(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            index, _ = build(rows(200, 20), search="approximate", costs=self.CHEAP)
        assert type(index).__name__ == "SmallWorldIndex"
        assert index.recall > 0.9

    @pytest.mark.parametrize(
        "changes",
        [{"search": "exact"}, {"radius": 1.0}, {"metric": "cityblock"}],
        ids=["exact", "radius", "metric"],
    )
    def test_where_it_may_not_or_cannot_the_search_is_exact(self, changes):
        assert type(build(rows(200, 20), costs=self.CHEAP, **changes)[0]) is BlockedIndex

    def test_a_tree_is_never_too_slow(self):
        assert type(build(rows(200, 15), costs=self.CHEAP)[0]) is TreeIndex

    def test_auto_stays_exact_without_faiss(self, monkeypatch):
        monkeypatch.setattr("gramfold.neighbors.search.faiss_installed", lambda: False)
        assert type(build(rows(200, 20), costs=self.CHEAP)[0]) is BlockedIndex


@pytest.mark.parametrize("search", ["auto", "exact", "approximate"])
def test_too_many_neighbours(search):
    X = rows(6, 3)
    with pytest.raises(InputError, match=r"n_neighbors=6, but there are only 6 distinct rows.*use n_neighbors <= 5"):
        build(X, n_neighbors=6, search=search)
    with pytest.raises(InputError, match=r"n_neighbors=5, but there are only 5 distinct rows"):
        build(X[[0, 1, 2, 3, 4, 4]], search=search)  # six rows, one of them twice


def test_too_many_neighbours_for_a_distance_matrix():
    X = rows(6, 3)[[0, 1, 2, 3, 4, 4]]
    with pytest.raises(InputError, match=r"n_neighbors=5, but there are only 5 distinct rows"):
        build(cdist(X, X), metric="precomputed")


def test_all_but_one_is_allowed_and_a_radius_does_not_count():
    X = rows(6, 3)
    assert build(X, n_neighbors=5)[0].own(5, None).counts.tolist() == [5] * 6
    assert build(X, n_neighbors=99, radius=1e3)[0].own(99, 1e3).counts.tolist() == [5] * 6


@pytest.mark.parametrize("precomputed", [False, True])
def test_duplicates_are_collapsed_and_reported(precomputed):
    X = rows(12, 3)[[0, 1, 2, 1, 3, 4, 5, 6, 0, 0]]
    index, collapse = build(cdist(X, X), metric="precomputed") if precomputed else build(X)
    assert collapse.vertex.tolist() == [0, 1, 2, 1, 3, 4, 5, 6, 0, 0]
    assert collapse.multiplicity.tolist() == [3, 2, 1, 1, 1, 1, 1]
    assert collapse.first.tolist() == [0, 1, 2, 4, 5, 6, 7]
    alone = build(rows(12, 3)[:7])[0].own(5, None)
    np.testing.assert_array_equal(index.own(5, None).indices, alone.indices)


def test_the_scale_of_a_metric_counts_every_row():
    X = np.repeat(rows(10, 3) * [1.0, 5.0, 25.0], np.arange(1, 11), axis=0)
    index, collapse = build(X, metric="seuclidean")
    truth = cdist(X, X, "seuclidean", V=X.var(axis=0, ddof=1))
    found = index.own(5, None)
    np.testing.assert_allclose(found.distances, truth[collapse.first[found.rows], collapse.first[found.indices]])
