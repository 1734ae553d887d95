"""Maps and clusters of graphs that are given with weights, against scikit-learn's and plain algebra."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import coo_array, csr_array
from sklearn.cluster import SpectralClustering as TheirClustering
from sklearn.datasets import load_digits
from sklearn.manifold import SpectralEmbedding
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from gramfold import CommuteTime, DiffusionMap, HeatKernel, LaplacianEigenmaps, SpectralClustering
from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning, InputError, PrecomputedInputError
from tests.methods.maps import difference

pytestmark = pytest.mark.filterwarnings(
    "ignore::gramfold.errors.RepeatedDirectionWarning", "ignore::gramfold.errors.DegenerateMapWarning"
)

FAMILY = [LaplacianEigenmaps, CommuteTime, HeatKernel, DiffusionMap]


def karate_club():
    """Zachary's network with his weights: in how many contexts two members met."""
    networkx = pytest.importorskip("networkx")
    return np.asarray(networkx.to_numpy_array(networkx.karate_club_graph()))


def random_graph(n=60, seed=0):
    generator = np.random.default_rng(seed)
    W = np.where(generator.random((n, n)) < 0.15, generator.lognormal(0, 1, (n, n)), 0.0)
    W = np.triu(W, 1) + np.diag(np.full(n - 1, 0.5), 1)  # a path, so that it is connected
    return W + W.T


GRAPHS = {
    "karate": karate_club,
    "random": random_graph,
    "full": lambda: rbf_kernel(load_digits().data[:120], gamma=1e-3),
}


@pytest.mark.parametrize("graph", GRAPHS)
def test_scikit_learn_agrees(graph):
    W = GRAPHS[graph]()
    ours = LaplacianEigenmaps(2, weights="precomputed").fit(W)
    theirs = SpectralEmbedding(2, affinity="precomputed", eigen_solver="arpack", random_state=0).fit_transform(W)
    assert difference(ours.embedding_, theirs) < 1e-8
    for k in (2, 3):
        clusters = SpectralClustering(k, weights="precomputed").fit(W)
        labels = TheirClustering(k, affinity="precomputed", random_state=0, eigen_solver="arpack").fit_predict(W)
        if graph != "random":  # which has no clusters to find
            assert adjusted_rand_score(clusters.labels_, labels) == 1.0
        assert clusters.score(csr_array(W)) > 0


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("sparse", [False, True])
def test_plain_algebra_agrees(graph, sparse):
    W = GRAPHS[graph]()
    off = W - np.diag(np.diag(W))
    d = off.sum(axis=1)
    L = np.diag(d) - off
    given = csr_array(W) if sparse else W
    plain, vectors = eigh(L)
    walk, functions = eigh(L, np.diag(d))
    heat = np.exp(-0.5 * 0.3 * plain[1:3])
    # P of the diffusion map has the diagonal of W, as it is
    q = W.sum(axis=1)
    density = W / np.outer(q, q)
    D = density.sum(axis=1)
    steps, psi = eigh(density / np.sqrt(np.outer(D, D)))
    psi = psi[:, ::-1] / np.sqrt(D / D.sum())[:, None]
    expected = {
        LaplacianEigenmaps(2): functions[:, 1:3],
        LaplacianEigenmaps(2, laplacian="unnormalized"): vectors[:, 1:3],
        LaplacianEigenmaps(2, laplacian="symmetric"): np.sqrt(d)[:, None] * functions[:, 1:3],
        CommuteTime(2): vectors[:, 1:3] / np.sqrt(plain[1:3]),
        HeatKernel(2, t=0.3): vectors[:, 1:3] * heat,
        DiffusionMap(2, t=2): psi[:, 1:3] * np.abs(steps[::-1][1:3]) ** 2,
    }
    for method, coordinates in expected.items():
        model = method.set_params(weights="precomputed").fit(given)
        signs = np.sign((model.embedding_ * coordinates).sum(axis=0))
        np.testing.assert_allclose(model.embedding_, signs * coordinates, atol=1e-10 * np.abs(coordinates).max())
        assert model.width_ is None
        np.testing.assert_allclose(1.0 / model.graph_.lengths.data, off[model.graph_.lengths.nonzero()], rtol=1e-14)
    assert walk[1] == pytest.approx(LaplacianEigenmaps(weights="precomputed").fit(given).spectrum_.penalties[0])


@pytest.mark.parametrize("method", [*FAMILY, LaplacianEigenmaps], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("sparse", [False, True])
def test_new_vertices_bring_their_weights(method, sparse):
    W = random_graph(200, seed=1)
    form = (lambda A: csr_array(A)) if sparse else (lambda A: A)
    model = method(weights="precomputed").fit(form(W))
    # training rows return, all at once and one by one
    np.testing.assert_allclose(model.transform(form(W)), model.embedding_, atol=1e-10)
    np.testing.assert_allclose(model.transform(form(W[3:4])), model.embedding_[3:4], atol=1e-10)
    if method is LaplacianEigenmaps:
        new = np.random.default_rng(0).random((5, 200)) * (np.random.default_rng(1).random((5, 200)) < 0.1)
        expected = (new @ model.embedding_ / new.sum(axis=1)[:, None]) / (1.0 - model.spectrum_.penalties)
        np.testing.assert_allclose(model.transform(form(new)), expected, rtol=1e-9)
        np.testing.assert_allclose(model.transform(form(100 * new)), expected, rtol=1e-9)  # shares count, not sizes


def test_a_clusters_new_members():
    W = karate_club()
    model = SpectralClustering(2, weights="precomputed").fit(W)
    np.testing.assert_array_equal(model.predict(W), model.labels_)
    friend_of = np.zeros((2, 34))
    friend_of[0, [0, 1, 2, 3]], friend_of[1, [33, 32, 31]] = 3.0, 2.0
    np.testing.assert_array_equal(model.predict(friend_of), model.labels_[[0, 33]])


def test_components_of_a_given_graph():
    W = np.zeros((70, 70))
    W[:60, :60], W[60:, 60:] = random_graph(60), 1.0
    np.fill_diagonal(W, 0.0)
    with pytest.raises(DisconnectedGraphError, match="on_disconnected"):
        LaplacianEigenmaps(weights="precomputed").fit(W)
    with pytest.warns(DisconnectedGraphWarning):
        model = LaplacianEigenmaps(weights="precomputed", on_disconnected="largest").fit(W)
    alone = LaplacianEigenmaps(weights="precomputed").fit(W[:60, :60])
    np.testing.assert_allclose(model.embedding_[:60], alone.embedding_, atol=1e-10)
    np.testing.assert_array_equal(
        SpectralClustering(2, weights="precomputed").fit(W).labels_, np.repeat([0, 1], [60, 10])
    )


def test_self_loops_count_where_walkers_may_stay():
    W = random_graph() + np.diag(np.linspace(0, 3, 60))
    models = [DiffusionMap(weights="precomputed", self_loops=loops).fit(W) for loops in (None, True, False)]
    looped = [np.diag(W), np.ones(60), np.zeros(60)]
    for model, loops in zip(models, looped, strict=True):
        given = W - np.diag(np.diag(W)) + np.diag(loops)
        again = DiffusionMap(weights="precomputed").fit(given)
        np.testing.assert_allclose(model.embedding_, again.embedding_, atol=1e-12)
    plain = LaplacianEigenmaps(weights="precomputed")  # L does not see them, as in scikit-learn
    np.testing.assert_allclose(plain.fit(W).embedding_, plain.fit(W - np.diag(np.diag(W))).embedding_, atol=1e-12)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda W: W[:30], "square"),
        (lambda W: np.triu(W), "not symmetric"),
        (lambda W: -W, "negative"),
        (lambda W: np.where(W > 3, np.nan, W), "NaN"),
        (lambda W: np.where(W > 3, np.inf, W), "infinity"),
        (lambda W: 0 * W, "joins no two"),
    ],
)
@pytest.mark.parametrize("method", [*FAMILY, SpectralClustering])
def test_bad_weights(method, spoil, words):
    with pytest.raises(InputError, match=words):
        method(weights="precomputed").fit(spoil(random_graph()))


def test_what_has_no_effect_is_refused():
    W = random_graph()
    for setting in ({"radius": 0.5}, {"metric": "cosine"}, {"search": "approximate"}):
        with pytest.raises(InputError, match=rf"{next(iter(setting))}=.* has no effect"):
            LaplacianEigenmaps(weights="precomputed", **setting).fit(W)
    with pytest.raises(InputError, match=r"width=2\.0 applies only to Gaussian weights"):
        LaplacianEigenmaps(weights="precomputed", width=2.0).fit(W)
    with pytest.raises(PrecomputedInputError, match="landmarks need a table of rows, but X is precomputed"):
        LaplacianEigenmaps(weights="precomputed", landmarks=20).fit(W)
    model = LaplacianEigenmaps(weights="precomputed", metric="precomputed").fit(W)
    with pytest.raises(InputError, match="weights of the new rows contain -5"):
        model.transform(-W[:2])


def test_new_vertices_without_edges():
    model = LaplacianEigenmaps(weights="precomputed").fit(random_graph())
    with pytest.raises(DisconnectedGraphError, match="1 of 1 new rows"):
        model.transform(np.zeros((1, 60)))


def test_any_number_of_edges_and_any_size_of_weights():
    ring = coo_array((np.ones(40), (np.arange(40), (np.arange(40) + 1) % 40)), shape=(40, 40)).toarray()
    ring = ring + ring.T  # each vertex has two edges; a new one may have more
    model = LaplacianEigenmaps(weights="precomputed").fit(ring)
    new = np.zeros((1, 40))
    new[0, [0, 1, 2, 39]] = 1.0
    expected = model.embedding_[[0, 1, 2, 39]].mean(axis=0) / (1 - model.spectrum_.penalties)
    np.testing.assert_allclose(model.transform(new)[0], expected, rtol=1e-9)
    W = random_graph()
    for size in (1e-90, 1e90):
        np.testing.assert_allclose(
            LaplacianEigenmaps(weights="precomputed").fit(size * W).embedding_ * np.sqrt(size),
            LaplacianEigenmaps(weights="precomputed").fit(W).embedding_,
            rtol=1e-7,
        )


@pytest.mark.parametrize("method", [*FAMILY, SpectralClustering])
def test_weights_beyond_the_range_of_powers_are_refused(method):
    W = random_graph()
    for size in (1e-310, 1e-200, 1e150, 1e300):
        with pytest.raises(InputError, match="divide the matrix by its largest entry"):
            method(weights="precomputed").fit(size * W)
    model = method(weights="precomputed").fit(W)
    answer = model.predict if method is SpectralClustering else model.transform
    for size in (1e-310, 1e150):
        with pytest.raises(InputError, match="use the unit of the training weights"):
            answer(size * W[:3])
    few = W.copy()
    few[0, 40] = few[40, 0] = 1e-300  # an edge that no eigensolver can see
    again = method(weights="precomputed").fit(few)
    assert again.graph_.n_edges == np.count_nonzero(np.triu(W)) - (W[0, 40] > 0)


def test_new_vertices_without_edges_are_left_out_where_others_are():
    W = np.zeros((62, 62))
    W[:60, :60] = random_graph()
    with pytest.warns(DisconnectedGraphWarning):
        model = LaplacianEigenmaps(weights="precomputed", on_disconnected="largest").fit(W)
    with pytest.warns(DisconnectedGraphWarning):
        again = model.transform(W)
    np.testing.assert_allclose(again, model.embedding_, atol=1e-10)
    assert np.isnan(again[60:]).all()


def test_settings_of_a_search_and_odd_dtypes():
    W = random_graph()
    with pytest.raises(InputError, match="n_neighbors=5 has no effect"):
        LaplacianEigenmaps(n_neighbors=5, weights="precomputed").fit(W)
    plain = LaplacianEigenmaps(weights="precomputed").fit(W)
    for odd in (W.astype(object), W.astype(">f8"), csr_array(W).astype(np.float64)):
        np.testing.assert_allclose(LaplacianEigenmaps(weights="precomputed").fit(odd).embedding_, plain.embedding_)
    W[3, 7] = np.nan
    with pytest.raises(InputError, match=r"NaN in row 3, column 7 .*precomputed values must be finite"):
        LaplacianEigenmaps(weights="precomputed").fit(W)
