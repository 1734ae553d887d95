import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.cluster import SpectralClustering as TheirClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer

from gramfold import SpectralClustering
from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning
from gramfold.graph.affinity import affinity
from tests.methods.maps import digits

FAR = np.array([[0.0, 0.0], [60.0, 0.0], [0.0, 60.0]])
ASSIGN = ["kmeans", "qr"]


def chained(k: int, seed: int = 0, size: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """k discs in a row, joined by thin chains of rows; the disc of each row that lies in one."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(k), size)
    radius, angle = 2.0 * np.sqrt(rng.random(k * size)), 2 * np.pi * rng.random(k * size)
    X = np.column_stack([7.0 * group + radius * np.cos(angle), radius * np.sin(angle)])
    chain = np.concatenate([7.0 * i + np.linspace(1.5, 5.5, 9) for i in range(k - 1)])
    return np.vstack([X, np.column_stack([chain, 0.02 * rng.standard_normal(len(chain))])]), group


def planted_partition(sizes: list[int], inside: float, outside: float, seed: int) -> tuple[csr_array, np.ndarray]:
    """A random graph with more edges within groups than between them."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    chance = np.where(np.equal.outer(group, group), inside, outside)
    edges = np.triu(rng.random(chance.shape) < chance, 1)
    return csr_array((edges | edges.T).astype(float)), group


# --- planted clusters


@pytest.mark.parametrize("assign", ASSIGN)
@pytest.mark.parametrize("weights", ["binary", "gaussian"])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_planted_groups_are_found(assign, weights, k):
    X, group = chained(k)
    model = SpectralClustering(k, assign=assign, weights=weights, n_neighbors=10).fit(X)
    assert model.eigenvalues_[1] > 0  # one piece: the eigenvectors had to find them
    assert adjusted_rand_score(group, model.labels_[: len(group)]) == 1


@pytest.mark.parametrize("assign", ASSIGN)
@pytest.mark.parametrize("sizes", [[60, 60], [80, 40, 60], [50, 50, 50, 50]])
def test_planted_partitions_of_a_graph_are_found(assign, sizes):
    graph, group = planted_partition(sizes, 0.5, 0.02, 0)
    model = SpectralClustering(len(sizes), assign=assign, metric="precomputed").fit(graph)
    assert adjusted_rand_score(group, model.labels_) == 1
    assert SpectralClustering(metric="precomputed", assign=assign).fit(graph).n_clusters_ == len(sizes)


def test_threshold_finds_two():
    X, group = chained(2)
    model = SpectralClustering(2, assign="threshold").fit(X)
    assert adjusted_rand_score(group, model.labels_[: len(group)]) == 1
    others = [SpectralClustering(2, assign=assign).fit(X).cut_ for assign in ASSIGN]
    assert model.cut_ <= min(others) + 1e-12


@pytest.mark.parametrize("data", [make_moons, make_circles])
def test_shapes_that_k_means_cannot_part(data):
    X, group = data(400, noise=0.05, random_state=0, **({"factor": 0.4} if data is make_circles else {}))
    assert adjusted_rand_score(group, SpectralClustering(2).fit_predict(X)) == 1


# --- scikit-learn's labels on the same graph


@pytest.mark.parametrize(("assign", "theirs"), [("kmeans", "kmeans"), ("qr", "cluster_qr")])
@pytest.mark.parametrize("weights", ["binary", "gaussian"])
@pytest.mark.parametrize("name", ["moons", "blobs", "chained", "digits"])
def test_agrees_with_scikit_learn_on_the_same_graph(assign, theirs, weights, name):
    X, k = {
        "moons": lambda: (make_moons(300, noise=0.08, random_state=0)[0], 2),
        "blobs": lambda: (make_blobs(400, centers=4, cluster_std=1.0, random_state=3)[0], 4),
        "chained": lambda: (chained(5)[0], 5),
        "digits": lambda: (digits()[:700], 10),
    }[name]()
    ours = SpectralClustering(k, assign=assign, weights=weights, n_neighbors=10).fit(X)
    W = affinity(ours.graph_, ours.width_).toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, about a graph in pieces
        labels = TheirClustering(k, affinity="precomputed", assign_labels=theirs, random_state=0).fit_predict(W)
    agreement = adjusted_rand_score(ours.labels_, labels)
    assert agreement > 0.97 if name == "digits" else agreement == 1


# --- a graph in pieces


def test_pieces_are_clusters_without_a_word():
    X, group = make_blobs(300, centers=FAR, random_state=0)
    for settings in ({"n_clusters": 3}, {}, {"n_clusters": 3, "assign": "qr"}, {"on_disconnected": "error"}):
        model = SpectralClustering(**settings).fit(X)
        assert adjusted_rand_score(group, model.labels_) == 1
        assert model.n_clusters_ == 3
        assert model.cut_ == 0
        np.testing.assert_array_equal(model.predict(FAR + 1), model.predict(FAR))
        assert adjusted_rand_score(model.predict(FAR), [0, 1, 2]) == 1
    model = SpectralClustering(3).fit(X)
    assert model.spectrum_ is model.embedding_ is None  # nothing had to be solved


@pytest.mark.parametrize("assign", ASSIGN)
def test_pieces_are_divided_further(assign):
    near, group = chained(3)
    X = np.vstack([near, near[:120] + 300.0])  # four groups in two pieces
    model = SpectralClustering(4, assign=assign, n_neighbors=10).fit(X)
    assert (model.eigenvalues_ == 0).sum() == 2
    truth = np.concatenate([group, np.full(120, 3)])
    labels = np.concatenate([model.labels_[: len(group)], model.labels_[-120:]])
    assert adjusted_rand_score(truth, labels) == 1
    np.testing.assert_array_equal(model.predict(X + 1e-6), model.labels_)
    assert model.cut_ < 0.2
    assert SpectralClustering(assign=assign, n_neighbors=10).fit(X).n_clusters_ == 4


def outliers() -> tuple[np.ndarray, np.ndarray]:
    """Three blobs and two far pairs of rows, each at the other end of one blob's street."""
    X, group = make_blobs(300, centers=FAR, random_state=0)
    pairs = np.array([[75.0, 0.0], [75.5, 0.0], [0.0, -15.0], [0.0, -15.5]])
    return np.vstack([X, pairs]), np.concatenate([group, [1, 1, 0, 0]])


def test_more_pieces_than_clusters():
    X, group = outliers()
    with pytest.warns(DisconnectedGraphWarning, match="5 connected components, more than n_clusters=3; the 2 smallest"):
        joined = SpectralClustering(3, radius=4.0).fit(X)
    assert adjusted_rand_score(group, joined.labels_) == 1
    with pytest.warns(DisconnectedGraphWarning, match="4 rows of the smallest are in no cluster"):
        largest = SpectralClustering(3, radius=4.0, on_disconnected="largest").fit(X)
    assert (largest.labels_[300:] == -1).all()
    assert adjusted_rand_score(group[:300], largest.labels_[:300]) == 1
    np.testing.assert_array_equal(largest.predict(X + 1e-6), largest.labels_)
    with pytest.warns(DisconnectedGraphWarning, match="each of the 5 components is a cluster"):
        apart = SpectralClustering(3, radius=4.0, on_disconnected="separate").fit(X)
    assert np.bincount(apart.labels_).tolist() == [100, 100, 100, 2, 2]
    with pytest.warns(DisconnectedGraphWarning, match="more than max_clusters=2"):
        assert SpectralClustering(max_clusters=2, radius=4.0).fit(X).n_clusters_ == 2
    assert SpectralClustering(radius=4.0).fit(X).n_clusters_ == 5
    with pytest.raises(DisconnectedGraphError, match="5 connected components, more than n_clusters=3"):
        SpectralClustering(3, radius=4.0, on_disconnected="error").fit(X)


def test_rows_alone():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [9.0]])
    model = SpectralClustering(radius=1.0).fit(X)  # two rows have no neighbour at all
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 2])
    divided = SpectralClustering(4, radius=1.0).fit(X)
    assert divided.n_clusters_ == 4
    assert divided.labels_[3] != divided.labels_[4]
    np.testing.assert_array_equal(model.predict([[0.05], [5.5], [8.5]]), [0, 1, 2])
    with pytest.warns(DisconnectedGraphWarning, match="no neighbours among the training rows"):
        np.testing.assert_array_equal(model.predict([[30.0]]), [2])
    lonely = SpectralClustering(4, radius=1.0, on_disconnected="largest").fit(X)
    np.testing.assert_array_equal(lonely.predict([[30.0], [0.1], [0.05], [-50.0]])[[0, 3]], [-1, -1])
    scattered = SpectralClustering(radius=0.01).fit(X)  # nobody has a neighbour
    np.testing.assert_array_equal(scattered.labels_, np.arange(5))


def test_a_sparse_graph_with_too_many_pieces_cannot_be_joined():
    graph = csr_array(np.kron(np.eye(4), np.ones((5, 5))) - np.eye(20))
    assert SpectralClustering(metric="precomputed").fit(graph).n_clusters_ == 4
    with pytest.raises(DisconnectedGraphError, match="cannot be bridged"):
        SpectralClustering(2, metric="precomputed").fit(graph)


def test_without_distances_no_bridge_is_offered():
    graph = csr_array(np.kron(np.eye(4), np.ones((5, 5))) - np.eye(20))
    with pytest.raises(DisconnectedGraphError, match="or use on_disconnected='largest' or 'separate'"):
        SpectralClustering(2, metric="precomputed", on_disconnected="error").fit(graph)


# --- the score


def plain_score(W: np.ndarray, labels: np.ndarray, own: np.ndarray) -> float:
    """Row by row, from dense weights (m, n) to training rows with these labels."""
    return float(np.mean([w[labels == label].sum() / w.sum() for w, label in zip(W, own, strict=True)]))


WEIGHINGS = [{}, {"weights": "gaussian"}, {"weights": "gaussian", "width": "self-tuning"}]


@pytest.mark.parametrize("settings", WEIGHINGS)
def test_the_score_of_training_rows_is_that_of_the_graph(settings):
    X, _ = make_moons(200, noise=0.12, random_state=0)
    model = SpectralClustering(3, **settings).fit(X)
    W = affinity(model.graph_, model.width_).toarray()
    assert model.score(X) == pytest.approx(plain_score(W, model.labels_, model.labels_), rel=1e-12)
    assert model.score(X[:50]) == pytest.approx(plain_score(W[:50], model.labels_, model.labels_[:50]), rel=1e-12)
    # by degree in the place of each row alike, what is lost would be the normalised cut
    degrees = W.sum(axis=1)
    lost = [(W[model.labels_ == c][:, model.labels_ != c]).sum() / degrees[model.labels_ == c].sum() for c in range(3)]
    assert sum(lost) == pytest.approx(model.cut_)


@pytest.mark.parametrize("weights", ["binary", "gaussian"])
def test_the_score_of_new_rows_is_that_of_their_edges(weights):
    X, _ = make_moons(300, noise=0.12, random_state=0)
    known, fresh = X[:200], X[200:]
    model = SpectralClustering(3, radius=0.35, weights=weights).fit(known)
    D = cdist(fresh, known)
    W = np.where(D <= 0.35, 1.0 if weights == "binary" else np.exp(-0.5 * (D / (model.width_ or 1.0)) ** 2), 0.0)
    assert model.score(fresh) == pytest.approx(plain_score(W, model.labels_, model.predict(fresh)), rel=1e-12)
    both = (200 * model.score(known) + 100 * model.score(fresh)) / 300
    assert model.score(X) == pytest.approx(both)
    nearly = model.score(known + 1e-9)  # a new row beside a training row has its edges, and one to that row itself
    assert abs(nearly - model.score(known)) < 0.02


def test_copies_score_as_often_as_they_occur():
    X, _ = make_moons(150, noise=0.12, random_state=0)
    copies = np.concatenate([np.arange(150), np.repeat([3, 40, 77], [5, 2, 9])])
    model = SpectralClustering(3, weights="gaussian").fit(X[copies])
    W = affinity(model.graph_, model.width_).toarray()[:150, :150]  # the edges of copies are at the first of them
    own = model.labels_[:150]
    shares = np.array([w[own == label].sum() / w.sum() for w, label in zip(W, own, strict=True)])
    assert model.score(X[copies]) == pytest.approx(shares[copies].mean(), rel=1e-12)


def test_more_clusters_score_less_and_pieces_score_one():
    X, _ = chained(4)
    scores = [SpectralClustering(k).fit(X).score(X) for k in (1, 4, 12)]
    assert scores[0] == 1 > scores[1] > 0.98 > scores[2]
    blobs, _ = make_blobs(300, centers=FAR, random_state=0)
    assert SpectralClustering(3).fit(blobs).score(blobs) == 1


def test_rows_of_no_cluster_keep_nothing():
    X, _ = outliers()
    with pytest.warns(DisconnectedGraphWarning, match="in no cluster"):
        model = SpectralClustering(3, radius=4.0, on_disconnected="largest").fit(X)
    assert model.score(X) == pytest.approx(300 / 304)
    assert model.score([[1000.0, 0.0], X[0]]) == 0.5
    alone = SpectralClustering(4, radius=1.0).fit([[0.0], [0.1], [0.2], [0.3], [5.0]])  # divides the four
    assert alone.score([[5.0]]) == 1  # it has no edge to lose


def test_a_graph_is_scored_by_its_own_edges():
    graph, _ = planted_partition([40, 40], 0.5, 0.05, 0)
    model = SpectralClustering(2, metric="precomputed").fit(graph)
    assert model.score(graph) == pytest.approx(plain_score(graph.toarray(), model.labels_, model.predict(graph)))


# --- the number of clusters


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_the_eigengap_counts(k):
    X, _ = chained(k)
    model = SpectralClustering(n_neighbors=10).fit(X)
    assert model.n_clusters_ == k
    values = model.eigenvalues_
    assert len(values) == 12
    assert model.gap_ == pytest.approx((values[k] - values[k - 1]) / values[k])
    assert model.gap_ > 0.5


def test_one_group_is_one_cluster():
    rng = np.random.default_rng(0)
    for X in (rng.standard_normal((300, 4)), rng.uniform(0, 1, (300, 2)), np.linspace(0, 1, 100)[:, None]):
        model = SpectralClustering().fit(X)
        assert model.n_clusters_ == 1
        assert (model.predict(X[:5] + 0.01) == 0).all()


# --- new rows, other inputs


@pytest.mark.parametrize(("assign", "k"), [("kmeans", 3), ("qr", 3), ("threshold", 2)])
@pytest.mark.parametrize("weights", ["binary", "gaussian"])
def test_held_out_rows_get_the_label_of_a_refit(assign, k, weights):
    X, group = chained(k, seed=1)
    held = np.arange(0, len(group), 4)
    kept = np.setdiff1d(np.arange(len(X)), held)
    settings = {"assign": assign, "weights": weights, "n_neighbors": 10}
    model = SpectralClustering(k, **settings).fit(X[kept])
    refit = SpectralClustering(k, **settings).fit(X).labels_
    both = np.concatenate([model.labels_, model.predict(X[held])])
    assert adjusted_rand_score(both, refit[np.concatenate([kept, held])]) > 0.98


def test_precomputed_and_transformers_equal_rows():
    X, _ = chained(3)
    rows = SpectralClustering(3).fit(X)
    known = SpectralClustering(3, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_array_equal(known.labels_, rows.labels_)
    np.testing.assert_array_equal(known.predict(cdist(X[:30] + 0.1, X)), rows.predict(X[:30] + 0.1))
    found = SpectralClustering(3, search=KNeighborsTransformer(n_neighbors=8)).fit(X)
    assert adjusted_rand_score(found.labels_, rows.labels_) == 1


def test_qr_and_threshold_draw_nothing():
    X, _ = chained(2, seed=4)
    for assign in ("qr", "threshold"):
        first, second = (SpectralClustering(2, assign=assign, random_state=s).fit(X).labels_ for s in (0, 1))
        np.testing.assert_array_equal(first, second)


def test_copies_count():
    X, group = chained(3)
    rng = np.random.default_rng(0)
    copies = rng.integers(0, len(group), 200)
    model = SpectralClustering(3).fit(np.vstack([X, X[copies]]))
    np.testing.assert_array_equal(model.labels_[len(X) :], model.labels_[copies])
    assert adjusted_rand_score(group, model.labels_[: len(group)]) == 1


def test_self_tuned_widths_part_a_dense_group_inside_a_sparse_one():
    # Zelnik-Manor and Perona's case: one width is too wide for the inner disc or too narrow for the outer ring
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    ring = (3 + 0.3 * rng.standard_normal(300))[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([0.15 * rng.standard_normal((300, 2)), ring])
    model = SpectralClustering(2, 12, weights="gaussian", width="self-tuning").fit(X)
    assert adjusted_rand_score(np.repeat([0, 1], 300), model.labels_) == 1
    assert model.width_.shape == (600,)
    assert model.width_[:300].mean() < 0.3 * model.width_[300:].mean()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_one_cluster_is_apart_from_nobody():
    model = SpectralClustering().fit(np.random.default_rng(0).random((200, 2)))
    assert model.n_clusters_ == 1
    assert model.gap_ is None
