"""An index is data: what it holds, what a pickle of it holds, and that its answers stay what they were."""

import pickle
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer

from gramfold.errors import GramfoldError
from gramfold.neighbors.approximate import SmallWorldIndex, faiss_installed
from gramfold.neighbors.duplicates import KnownRows
from gramfold.neighbors.exact import BlockedIndex, TreeIndex
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.precomputed import DistanceIndex, GraphIndex, KnownLists, TransformerIndex
from gramfold.neighbors.search import build_index
from gramfold.types import Graph, Neighbors

N, K = 150, 6
RNG = np.random.default_rng(0)
FEW, MANY = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 20))
FEW[N - 1], MANY[N - 1] = FEW[0], MANY[0]  # a row that comes twice
NEW_FEW, NEW_MANY = (np.concatenate([RNG.normal(size=(20, X.shape[1])), X[:5]]) for X in (FEW, MANY))


def largest_step(u, v):
    """A metric of the user's own."""
    return float(np.abs(u - v).max())


def nearest_of(queries, X):
    """A sparse graph of the distances up to the K-th."""
    D = cdist(queries, X)
    return csr_array(np.where(np.sort(D, axis=1)[:, K : K + 1] >= D, D, 0.0))


CASES = {
    "euclidean, tree": (TreeIndex, FEW, NEW_FEW, {}),
    "euclidean, blocks": (BlockedIndex, MANY, NEW_MANY, {}),
    "cosine, tree": (TreeIndex, FEW, NEW_FEW, {"metric": "cosine"}),
    "cosine, blocks": (BlockedIndex, MANY, NEW_MANY, {"metric": "cosine"}),
    "correlation": (BlockedIndex, MANY, NEW_MANY, {"metric": "correlation"}),
    "minkowski, tree": (TreeIndex, FEW, NEW_FEW, {"metric": "minkowski", "metric_params": {"p": 3}}),
    "minkowski, blocks": (BlockedIndex, MANY, NEW_MANY, {"metric": "minkowski", "metric_params": {"p": 3}}),
    "scipy": (BlockedIndex, FEW, NEW_FEW, {"metric": "canberra"}),
    "scipy, with a scale": (BlockedIndex, FEW, NEW_FEW, {"metric": "mahalanobis"}),
    "callable": (BlockedIndex, FEW, NEW_FEW, {"metric": largest_step}),
    "distances": (DistanceIndex, cdist(FEW, FEW), cdist(NEW_FEW, FEW), {"metric": "precomputed"}),
    "graph": (GraphIndex, nearest_of(FEW, FEW), nearest_of(NEW_FEW, FEW), {"metric": "precomputed"}),
    "transformer": (TransformerIndex, FEW, NEW_FEW, {"search": KNeighborsTransformer(n_neighbors=K)}),
    "radius": (TransformerIndex, FEW, NEW_FEW, {"search": RadiusNeighborsTransformer(radius=0.8)}),
    "approximate": (SmallWorldIndex, MANY, NEW_MANY, {"search": "approximate"}),
    "approximate cosine": (SmallWorldIndex, MANY, NEW_MANY, {"search": "approximate", "metric": "cosine"}),
}


def build(kind):
    chosen, X, queries, changes = CASES[kind]
    if chosen is SmallWorldIndex and not faiss_installed():
        pytest.skip("faiss is not installed")
    usual = {"metric": "euclidean", "metric_params": None, "search": "auto", "n_neighbors": K, "radius": None}
    index, _ = build_index(X, **usual | changes, n_jobs=1, random_state=np.random.RandomState(0))
    assert type(index) is chosen
    return index, queries


@pytest.fixture(params=CASES)
def case(request):
    return build(request.param)


def said(ask):
    """Arrays, or the sentence of a refusal."""
    try:
        answer = ask()
    except GramfoldError as error:
        return str(error)
    if isinstance(answer, Neighbors):
        return answer.indptr, answer.indices, answer.distances
    return (np.asarray(answer),)


def answers(index, queries):
    size, m = index.size, queries.shape[0]
    piece = np.arange(size) % 3
    r, lists = np.array([4, 0, 11]), np.arange(12).reshape(3, 4)
    reach, reaches = np.linspace(0.1, 1.0, m), np.linspace(0.0, 0.5, size)
    own = index.own(K, None)
    return {
        "own": said(lambda: own),
        "own within": said(lambda: index.own(None, 0.7)),
        "nearest": said(lambda: index.nearest(queries, K)),
        "within": said(lambda: index.within(queries, reach, reaches)),
        "joined": said(lambda: index.joined(queries, K, own)),
        "gaps": said(lambda: index.gaps(piece)),
        "distances from": said(lambda: index.distances_from(3)),
        "distances between": said(lambda: index.distances_between(np.arange(5), np.arange(5, 10))),
        "vertex grams": said(lambda: index.vertex_grams(np.arange(size)[::-1])(r, lists)),
        "query grams": said(lambda: index.query_grams(queries)(r, lists)),
    }


def assert_same_answers(first, second):
    assert first.keys() == second.keys()
    for name, said_first in first.items():
        if isinstance(said_first, str):
            assert said_first == second[name]
            continue
        for a, b in zip(said_first, second[name], strict=True):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes(), name


def assert_plain(value, path):
    """Nothing but data, all the way down; what is the user's own may be anything."""
    if value is None or isinstance(value, str | bool | int | float | np.number | np.bool_):
        return
    if value is largest_step or isinstance(value, BaseEstimator):
        return
    if isinstance(value, np.ndarray):
        assert type(value) is np.ndarray, path
        assert value.dtype.kind in "biuf", path
    elif issparse(value):
        assert isinstance(value, csr_array), path
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            assert_plain(part, f"{path}[{place}]")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            assert isinstance(key, str), path
            assert_plain(part, f"{path}[{key!r}]")
    else:
        assert is_dataclass(value), f"{path} is a {type(value).__name__}"
        assert value.__dataclass_params__.frozen, path
        assert not value.__dataclass_params__.eq or type(value).__name__ == "SearchCosts", path
        state = value.__reduce_ex__(pickle.HIGHEST_PROTOCOL)[2]
        assert state.keys() == {part.name for part in fields(value)}, path
        for name, part in state.items():
            assert_plain(part, f"{path}.{name}")


def test_an_index_is_plain_data_before_and_after_it_was_asked(case):
    index, queries = case
    assert_plain(index, "index")
    answers(index, queries)
    assert_plain(index, "index")


def test_a_walk_meets_what_is_not_plain():
    index, _ = build("euclidean, tree")
    with pytest.raises(AssertionError, match="points is a list"):
        assert_plain(replace_field(index, points=[1.0]), "index")
    with pytest.raises(AssertionError, match=r"metric\.params\['w'\] is a set"):
        assert_plain(replace(index, metric=replace(index.metric, params={"w": {1.0}})), "index")


def replace_field(index, **changes):
    other = replace(index)
    vars(other).update(changes)
    return other


def stored_size(index):
    """Bytes of what is ours: a transformer of the user's counts its queries."""
    return len(pickle.dumps(replace_field(index, transformer=None) if hasattr(index, "transformer") else index))


def test_a_pickle_holds_the_same_whether_or_not_the_index_was_asked(case):
    index, queries = case
    fresh, size = pickle.dumps(index), stored_size(index)
    expected = answers(index, queries)
    assert stored_size(index) == size
    for stored in (fresh, pickle.dumps(index)):
        copy = pickle.loads(stored)
        assert stored_size(copy) == size
        assert copy.recall == index.recall
        assert_same_answers(answers(copy, queries), expected)
        assert stored_size(copy) == size
    assert_same_answers(answers(index, queries), expected)


@pytest.mark.parametrize("kind", [kind for kind, (chosen, *_) in CASES.items() if issubclass(chosen, VectorIndex)])
def test_rows_are_stored_once(kind):
    index, queries = build(kind)
    answers(index, queries)
    links = index.links.nbytes if isinstance(index, SmallWorldIndex) else 0
    assert len(pickle.dumps(index)) < index.points.nbytes + links + 2_000
    if index.metric.name not in {"cosine", "correlation"}:
        assert index.rows is index.points


def test_nothing_can_be_set(case):
    index, _ = case
    for name in [*(part.name for part in fields(index)), "anything"]:
        with pytest.raises(FrozenInstanceError):
            setattr(index, name, None)


def test_threads_that_ask_first_hear_the_same(case):
    index, queries = case
    expected = answers(index, queries)
    fresh = pickle.loads(pickle.dumps(index))
    with ThreadPoolExecutor(4) as pool:
        for heard in pool.map(lambda _: answers(fresh, queries), range(4)):
            assert_same_answers(heard, expected)


def test_what_two_threads_have_made_at_once_is_alike(case):
    """As where no lock guards a derived thing: each has its own for a moment, and the last to be done is kept."""
    index, queries = case
    expected = answers(index, queries)
    other = pickle.loads(pickle.dumps(index))
    answers(other, queries)
    data = {part.name for part in fields(index)}
    derived = {name: value for name, value in vars(other).items() if name not in data}
    mixed = replace_field(index, **derived)
    assert_same_answers(answers(mixed, queries), expected)
    half = replace_field(index, **dict(list(derived.items())[::2]))
    assert_same_answers(answers(half, queries), expected)


def test_lists_and_what_knows_them_are_pickled_without_what_is_derived():
    lists = TreeIndex(FEW[:-1], build("euclidean, tree")[0].metric, 1).own(K, None)
    n = len(lists)
    graph = Graph(csr_array((n, n)), lists, None, np.ones(n), np.arange(n), np.arange(n))
    for made, ask in (
        (lists, lambda lists: lists.rows),
        (graph, lambda graph: graph.neighbors.rows),
        (KnownRows(FEW), lambda known: known.find(FEW)),
        (KnownLists(lists), lambda known: known.find(lists)),
    ):
        fresh = pickle.loads(pickle.dumps(made))
        before = len(pickle.dumps(fresh))
        first = ask(made)
        assert len(pickle.dumps(made)) == len(pickle.dumps(fresh)) == before
        np.testing.assert_array_equal(ask(fresh), first)
        assert_plain(fresh, type(fresh).__name__)


def test_a_search_graph_is_stored_as_it_was_built():
    """Built again by another version of faiss, or on another machine, it may be another."""
    index, queries = build("approximate")
    other = SmallWorldIndex.of(MANY[: index.size][::-1].copy(), index.metric, 1)
    assert index.links.dtype == np.uint8
    assert index.links.tobytes() != other.links.tobytes()
    faiss = pytest.importorskip("faiss")
    copy = pickle.loads(pickle.dumps(index))
    copy.nearest(queries, K)
    assert faiss.serialize_index(copy._graph).tobytes() == faiss.serialize_index(index._graph).tobytes()
