"""Which pairs of rows are edges: either's neighbours, mutual neighbours, the minimum spanning tree, unions of these."""

import warnings

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree, shortest_path
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from gramfold import LPP, SDE, Isomap, KernelEigenmaps, LandmarkIsomap, LaplacianEigenmaps, SpectralClustering
from gramfold.datasets import make_s_curve
from gramfold.errors import DisconnectedGraphWarning, GramfoldWarning, InputError

pytestmark = pytest.mark.filterwarnings(
    "ignore::gramfold.errors.RepeatedDirectionWarning", "ignore::gramfold.errors.DegenerateMapWarning"
)

TABLES = {"curve": lambda: make_s_curve(160, random_state=0).points, "digits": lambda: load_digits().data[:160]}
CHOICES = ["union", "mutual", "mst", "union+mst", "mutual+mst"]
METHODS = [Isomap, LaplacianEigenmaps, SDE, KernelEigenmaps, LPP, SpectralClustering]


def edges_of(X, k, choice):
    """The plain version, (n, n)."""
    D = cdist(X, X)
    chosen = np.zeros(D.shape, dtype=bool)
    np.put_along_axis(chosen, np.argsort(D, axis=1, kind="stable")[:, 1 : k + 1], values=True, axis=1)
    tree = minimum_spanning_tree(D).toarray() > 0
    tree |= tree.T
    return {
        "union": chosen | chosen.T,
        "mutual": chosen & chosen.T,
        "mst": tree,
        "union+mst": chosen | chosen.T | tree,
        "mutual+mst": (chosen & chosen.T) | tree,
    }[choice]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", METHODS)
def test_edges_are_those_of_the_plain_rule(method, table, choice):
    X = TABLES[table]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method(n_neighbors=5, graph=choice).fit(X)
    expected = edges_of(X, 5, choice)
    graph = model.graph_
    found = graph.lengths.toarray() > 0
    found[tuple(graph.bridges.T)] = found[tuple(graph.bridges[:, ::-1].T)] = False
    np.testing.assert_array_equal(found, expected)
    if choice.endswith("mst"):
        assert connected_components(expected)[0] == 1
        assert not len(graph.bridges)


def test_geodesics_of_a_tree_are_its_paths():
    X = TABLES["digits"]()
    tree = minimum_spanning_tree(cdist(X, X))
    model = Isomap(graph="mst").fit(X)
    squares = shortest_path(tree, directed=False) ** 2
    np.testing.assert_allclose(model.kernel_.squared_distances(np.arange(160)), squares, atol=1e-8 * squares.max())


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", [Isomap, LandmarkIsomap, LaplacianEigenmaps])
def test_new_rows_follow_the_rule(method, table, choice):
    X = TABLES[table]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        model = method(n_neighbors=5, graph=choice).fit(X)
        size = np.ptp(model.embedding_, axis=0).max()
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * size)
        spacing = np.median(model.neighbors_.distances)
        moved = X + 1e-6 * spacing * np.random.default_rng(0).standard_normal(X.shape) / np.sqrt(X.shape[1])
        assert np.abs(model.transform(moved) - model.embedding_).max() < 0.02 * size
        net, new = model.model_.source.components.net, X[:20] + 0.3 * spacing * np.eye(X.shape[1])[0]
        met = net.joined(new, net.meet_by_rule(new) if method is LaplacianEigenmaps else net.meet(new))
    D, radii = cdist(new, X), np.sort(cdist(X, X), axis=1)[:, 5]
    nearest = np.argsort(D, axis=1)[:, :5]
    for row in range(20):
        own = set(nearest[row])
        choosers = set(np.flatnonzero(D[row] < radii)) if method is LaplacianEigenmaps else set()
        mutual = {j for j in own if D[row, j] < radii[j]}
        tree = {nearest[row, 0]}
        expected = {
            "union": own | choosers,
            "mutual": mutual or tree,  # joined to its nearest where it has no other edge
            "mst": tree,
            "union+mst": own | choosers,
            "mutual+mst": mutual | tree,
        }[choice]
        assert set(met.indices[slice(*met.indptr[row : row + 2])]) == expected


def test_a_radius_and_a_tree():
    X = np.vstack([TABLES["curve"](), [[50.0, 0, 0], [51.0, 0, 0]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Isomap(radius=0.5, graph="union+mst").fit(X)
    expected = (cdist(X, X) <= 0.5) & ~np.eye(162, dtype=bool)
    tree = minimum_spanning_tree(cdist(X, X)).toarray() > 0
    np.testing.assert_array_equal(model.graph_.lengths.toarray() > 0, expected | tree | tree.T)
    far = model.transform(np.array([[50.5, 0, 0]]))
    assert np.isfinite(far).all()


@pytest.mark.parametrize("method", [LandmarkIsomap, LaplacianEigenmaps])
def test_landmarks_by_name(method):
    X = TABLES["curve"]()
    rows = [150, 3, *range(20, 100)]
    model = method(landmarks=rows).fit(X)
    np.testing.assert_array_equal(np.sort(model.landmarks_), np.sort(rows))
    drawn = method(landmarks=60, random_state=3, landmark_choice="random").fit(X)
    again = method(landmarks=drawn.landmarks_).fit(X)
    np.testing.assert_array_equal(again.embedding_, drawn.embedding_)
    np.testing.assert_array_equal(
        method(landmarks=np.arange(160)).fit(X).embedding_, method(landmarks=None).fit(X).embedding_
    )
    for bad, words in ([[0, 160], "160"], [[1, 1, 2], "more than once"], [[0.5, 1.0], "at least two rows"]):
        with pytest.raises(InputError, match=words):
            method(landmarks=bad).fit(X)


def test_landmarks_of_every_component():
    X = np.vstack([TABLES["curve"](), TABLES["curve"]() + 100.0])
    with pytest.warns(DisconnectedGraphWarning), pytest.raises(InputError, match="connected component of 160 rows"):
        Isomap(landmarks=range(40), on_disconnected="separate").fit(X)
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(landmarks=[*range(40), *range(200, 230)], on_disconnected="separate").fit(X)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("mode", ["separate", "largest"])
@pytest.mark.parametrize("method", [Isomap, SDE])
def test_components_of_mutual_neighbours_are_maps_of_their_own(method, mode):
    # a row between two groups is a neighbour of neither, though both are neighbours of it
    X = np.vstack([TABLES["curve"]()[:60], TABLES["curve"]()[:50] + [12.0, 0, 0], [[6.0, 0, 0]]])
    settings = {"solver": "landmarks", "landmarks": 20} if method is SDE else {"conformal": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        model = method(n_neighbors=8, graph="mutual", on_disconnected=mode, **settings).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        alone = method(n_neighbors=8, graph="mutual", **settings).fit(X[:60])
    found = cdist(model.embedding_[:60], model.embedding_[:60])
    np.testing.assert_allclose(found, cdist(alone.embedding_, alone.embedding_), atol=1e-6 * found.max())


@pytest.mark.filterwarnings("ignore::gramfold.errors.NotConvergedWarning")
def test_a_tree_connects_what_landmarks_stand_for():
    X = np.repeat(np.random.default_rng(0).standard_normal((7, 5)), 2, axis=0)
    X += 1e-3 * np.random.default_rng(1).standard_normal(X.shape)  # pairs: each is the other's only neighbour
    model = SDE(n_components=1, n_neighbors=1, graph="union+mst", solver="landmarks", landmarks=3, max_iter=13).fit(X)
    assert np.isfinite(model.embedding_).all()
