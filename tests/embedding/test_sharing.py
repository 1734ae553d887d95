"""One neighbour search for several fits: the same bits as fits by themselves, found once."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from gramfold import LLE, Isomap, LaplacianEigenmaps
from gramfold.datasets import make_s_curve
from gramfold.embedding import fit as fit_module
from gramfold.embedding.sharing import CURRENT_SEARCH, first_neighbors, shared_search
from gramfold.errors import InputError
from gramfold.types import Neighbors

CURVE = make_s_curve(250, random_state=0).points
DIGITS = load_digits().data[:400]  # whole numbers, with many ties


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize(
    "rows", [CURVE, DIGITS, DIGITS.astype(np.float32), csr_array(DIGITS)], ids=lambda X: str(X.dtype)
)
@pytest.mark.parametrize("k", [3, 7, 20])
def test_lists_are_those_of_a_search_by_itself(rows, k):
    model = LaplacianEigenmaps(n_neighbors=k, graph="mutual+mst")
    own = model.fit(rows).neighbors_
    with shared_search(20):
        shared = model.fit(rows).neighbors_
    np.testing.assert_array_equal(shared.indices, own.indices)
    np.testing.assert_array_equal(shared.distances, own.distances)
    np.testing.assert_array_equal(shared.indptr, own.indptr)


def test_one_search_serves_all_fits_in_the_block_and_none_outside(monkeypatch):
    searched = []
    search = fit_module.NeighborGraph.of
    monkeypatch.setattr(
        fit_module.NeighborGraph,
        "of",
        lambda X, hood, **more: searched.append(hood.n_neighbors) or search(X, hood, **more),
    )
    with shared_search(12) as shared:
        for k in (12, 5, 8):
            Isomap(n_neighbors=k).fit(CURVE)
        LLE(n_neighbors=9).fit(CURVE)
    assert searched == [12]
    assert shared.searches == 1
    assert CURRENT_SEARCH.get() is None
    Isomap(n_neighbors=5).fit(CURVE)
    assert searched == [12, 5]


def test_other_rows_are_searched_again():
    with shared_search(10) as shared:
        Isomap(n_neighbors=6).fit(CURVE)
        moved = Isomap(n_neighbors=6).fit(CURVE[::-1])
        assert shared.searches == 2
    np.testing.assert_array_equal(moved.embedding_, Isomap(n_neighbors=6).fit(CURVE[::-1]).embedding_)


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
def test_each_metric_is_searched_by_itself():
    others = [
        {"metric": "cosine"},
        {"metric": "minkowski", "metric_params": {"p": 1.5}},
        {"metric": "minkowski", "metric_params": {"p": 4}},
    ]
    with shared_search(10) as shared:
        found = [Isomap(n_neighbors=9, **other).fit(DIGITS).embedding_ for other in ({}, *others, {})]
        assert shared.searches == 4
    np.testing.assert_array_equal(found[0], found[-1])
    for other, places in zip(others, found[1:], strict=False):
        np.testing.assert_array_equal(places, Isomap(n_neighbors=9, **other).fit(DIGITS).embedding_)


def test_a_failed_fit_ends_the_block():
    with pytest.raises(InputError, match="NaN"), shared_search(10):
        Isomap().fit(np.full((20, 2), np.nan))
    assert CURRENT_SEARCH.get() is None


def test_more_neighbours_than_were_searched_are_refused():
    with shared_search(5), pytest.raises(InputError, match="at most 5"):
        Isomap(n_neighbors=6).fit(CURVE)


def test_too_few_rows_for_the_largest_number_are_the_fault_of_the_fit_that_asks_for_it():
    few = CURVE[:30]
    with shared_search(40), pytest.raises(InputError, match="n_neighbors=40"):
        Isomap(n_neighbors=8).fit(few)
    with shared_search(40, optional=True):
        found = Isomap(n_neighbors=8).fit(few).embedding_
        with pytest.raises(InputError, match="n_neighbors=40"):
            Isomap(n_neighbors=40).fit(few)
    np.testing.assert_array_equal(found, Isomap(n_neighbors=8).fit(few).embedding_)


def test_a_radius_is_searched_by_itself():
    with shared_search(5) as shared:
        found = Isomap(radius=0.8).fit(CURVE).embedding_
        assert shared.searches == 0
    np.testing.assert_array_equal(found, Isomap(radius=0.8).fit(CURVE).embedding_)


def test_first_neighbors_of_lists_of_several_lengths():
    lists = Neighbors(np.array([0, 3, 3, 5]), np.array([2, 1, 0, 0, 1]), np.array([1.0, 2.0, 3.0, 1.0, 5.0]), 3)
    first = first_neighbors(lists, 2)
    assert first.indptr.tolist() == [0, 2, 2, 4]
    assert first.indices.tolist() == [2, 1, 0, 1]
