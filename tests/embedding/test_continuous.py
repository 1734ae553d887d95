"""Maps of a given weighted graph whose vertices have rows, against the dense eigenproblem."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.datasets import load_digits, load_wine
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramfold import LPP, KernelEigenmaps
from gramfold.errors import DegenerateMapWarning, DisconnectedGraphWarning, InputError, RankWarning
from gramfold.graph.affinity import affinity, default_width, inverse_lengths

WORDS = Path(__file__).parents[3] / "shared" / "data" / "nips_1-17.npz"  # not to be redistributed
# random weights have nothing to do with the rows, and a mixture that follows them swings between these
pytestmark = pytest.mark.filterwarnings("ignore:the map overfits:gramfold.errors.RankWarning")
FORMS = ("raw", "affine", "stochastic", "reweighted")
BOTH = pytest.mark.parametrize("cls", [LPP, KernelEigenmaps])


def random_graph(n, *, seed=0, loops=True, density=0.2):
    """Random weights that have nothing to do with any rows."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    W = upper + upper.T + np.eye(n, k=1) + np.eye(n, k=-1)
    return W + np.diag(rng.random(n)) if loops else W


def counts(n=80, d=5, seed=1):
    """Nonnegative rows."""
    return np.random.default_rng(seed).gamma(2.0, size=(n, d))


def plain(Z, W, form, count):
    """Penalties and coordinates of the small problem with everything dense, and the coordinates of new rows."""
    degrees = W.sum(axis=1)

    def solved(Z):
        values, vectors = eigh(Z.T @ W @ Z, Z.T @ (degrees[:, None] * Z))
        return 1 - values[::-1][1 : count + 1], vectors[:, ::-1]

    if form == "affine":
        extended = lambda new: np.hstack([new, np.ones((len(new), 1))])  # noqa: E731
        penalties, vectors = solved(extended(Z))
        return penalties, lambda new: extended(new) @ vectors[:, 1 : count + 1]
    penalties, vectors = solved(Z)
    first = vectors[:, :1] * np.sign((Z @ vectors[:, :1]).sum())
    if form == "reweighted":
        penalties, vectors = solved(Z / (Z @ first))
    if form == "raw":
        return penalties, lambda new: new @ vectors[:, 1 : count + 1]
    return penalties, lambda new: new @ vectors[:, 1 : count + 1] / (new @ first)


def mixture(model, X):
    """Z of a fitted mixture, from its centres and its width alone."""
    away = X[:, None] - model.centers_
    shares = np.exp(-np.square(away).sum(axis=2) / (2 * model.width_**2))
    shares /= shares.sum(axis=1, keepdims=True)
    blocks = np.concatenate([away, np.ones((*away.shape[:2], 1))], axis=2) * shares[:, :, None]
    return blocks.reshape(len(X), -1)


def off(found, expected):
    """Largest difference of coordinates, signs apart, relative to their size."""
    signs = np.sign((found * expected).sum(axis=0))
    return np.abs(found * signs - expected).max() / np.abs(expected).max()


# --- against the dense problem


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_lpp_is_the_dense_problem_of_the_given_graph(form, equal):
    X, W = counts(), random_graph(80)
    model = LPP(3, approximation=form, equal_degrees=equal).fit(X, affinity=W)
    if equal:
        W = W + np.diag(W.sum(axis=1).max() - W.sum(axis=1))
    penalties, place = plain(X, W, form, 3)
    np.testing.assert_allclose(model.spectrum_.penalties, penalties, rtol=1e-10)
    assert off(model.embedding_, place(X)) < 1e-10
    new = counts(30, seed=2)
    assert off(model.transform(new), place(new)) < 1e-10


@pytest.mark.parametrize("form", FORMS)
def test_kernel_eigenmaps_are_the_dense_problem_of_the_given_graph(form):
    rng = np.random.default_rng(0)
    X, fresh, W = rng.random((80, 2)), rng.random((30, 2)), random_graph(80)
    model = KernelEigenmaps(3, n_kernels=4, width=0.25, approximation=form).fit(X, affinity=W)
    Z = mixture(model, X)
    # the shares sum to 1: with a row of ones one of the functions is superfluous
    functions = (lambda Z: Z[:, :-1]) if form == "affine" else (lambda Z: Z)
    penalties, place = plain(functions(Z), W, form, 3)
    np.testing.assert_allclose(model.spectrum_.penalties, penalties, rtol=1e-10)
    assert off(model.embedding_, place(functions(Z))) < 1e-10
    # without the bounds that transform keeps
    free = model.model_.parts[0].placement.map.unbounded(fresh)
    signs = np.sign((model.embedding_ * place(functions(Z))).sum(axis=0))
    np.testing.assert_allclose(free * signs, place(functions(mixture(model, fresh))), atol=1e-8 * np.abs(free).max())


def test_digits_and_a_graph_of_scikit_learn():
    X = load_digits().data
    X = X[:, X.std(axis=0) > 0]
    A = kneighbors_graph(X, 10)
    W = 0.5 * (A + A.T)
    for form in FORMS:
        model = LPP(4, approximation=form).fit(X, affinity=W)
        penalties, place = plain(X, W.toarray(), form, 4)
        np.testing.assert_allclose(model.spectrum_.penalties, penalties, rtol=1e-10)
        assert off(model.embedding_, place(X)) < 1e-9


@pytest.mark.skipif(not WORDS.exists(), reason="the word counts are not here")
def test_documents_of_the_nips_corpus():
    """Rows are the counts of frequent words, and the graph is that of the cosines of all words."""
    with np.load(WORDS) as stored:
        parts = (stored["data"].astype(float), stored["indices"].astype(np.int32), stored["indptr"])
        table = sp.csr_array(parts, shape=stored["shape"])[::4]
    X = table[:, np.argsort(-table.sum(axis=0))[:60]].toarray()
    A = kneighbors_graph(table, 10, metric="cosine")
    W = A.maximum(A.T)
    maps = {}
    for form in FORMS:
        model = LPP(2, approximation=form).fit(X, affinity=W)
        penalties, place = plain(X, W.toarray(), form, 2)
        np.testing.assert_allclose(model.spectrum_.penalties, penalties, rtol=1e-10)
        assert off(model.embedding_, place(X)) < 1e-10
        maps[form] = model
    # a quotient does not change with the length of a document
    np.testing.assert_allclose(maps["reweighted"].transform(X / 2), maps["reweighted"].embedding_, atol=1e-12)
    assert off(maps["affine"].transform(X / 2), maps["affine"].embedding_) > 0.1


# --- identities


@pytest.mark.parametrize("rule", ["inverse-distance", "binary", "gaussian"])
@BOTH
def test_the_weights_of_the_neighbour_graph_give_the_map_of_the_rows(cls, rule):
    X = StandardScaler().fit_transform(load_wine().data)
    own = cls(2, weights=rule).fit(X)
    if rule == "inverse-distance":
        W = inverse_lengths(own.graph_)
    else:
        W = affinity(own.graph_, None if rule == "binary" else default_width(own.graph_))
    given = cls(2).fit(X, affinity=W)
    assert off(given.embedding_, own.embedding_) < 1e-10
    new = X[:20] + 0.1
    assert off(given.transform(new), own.transform(new)) < 1e-10


@pytest.mark.parametrize("form", FORMS)
def test_with_a_column_for_each_vertex_it_is_the_laplacian_eigenmap(form):
    W = random_graph(60, density=0.1)
    with pytest.warns(RankWarning, match="span 60 directions, but there are only 60 distinct rows"):
        model = LPP(3, approximation=form).fit(np.eye(60), affinity=sp.csr_array(W))
    degrees = W.sum(axis=1)
    values, vectors = eigh(np.diag(degrees) - W, np.diag(degrees))
    np.testing.assert_allclose(model.spectrum_.penalties, values[1:4], rtol=1e-10)
    scale = np.sqrt(degrees.sum()) if form == "stochastic" else 1.0
    assert off(model.embedding_, scale * vectors[:, 1:4]) < 1e-8


def test_so_it_is_with_a_narrow_kernel_on_each():
    X, W = counts(60, 2), random_graph(60, density=0.1)
    model = KernelEigenmaps(3, n_kernels=60, width=1e-4, local_dim=0).fit(X, affinity=W)
    values, vectors = eigh(np.diag(W.sum(axis=1)) - W, np.diag(W.sum(axis=1)))
    np.testing.assert_allclose(model.spectrum_.penalties, values[1:4], rtol=1e-10)
    assert off(model.embedding_, vectors[:, 1:4]) < 1e-8


def test_all_pairs_of_a_class_give_the_discriminant_of_fisher():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    W = (y[:, None] == y) / np.bincount(y)[y]
    expected = LPP(2, graph="classes").fit(X, y)
    assert off(LPP(2).fit(X, affinity=W).embedding_, expected.embedding_) < 1e-10


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("cls", "settings"), [(LPP, {}), (KernelEigenmaps, {"n_kernels": 1})])
def test_the_order_of_the_rows_does_not_matter(cls, settings, form):
    X, W = counts(), random_graph(80)
    order = np.random.default_rng(0).permutation(80)
    first = cls(3, approximation=form, **settings).fit(X, affinity=W)
    second = cls(3, approximation=form, **settings).fit(X[order], affinity=W[np.ix_(order, order)])
    assert off(second.embedding_, first.embedding_[order]) < 1e-10


@BOTH
def test_heavier_weights_make_a_smaller_map(cls):
    X, W = counts(d=3), random_graph(80)
    expected = cls(2).fit(X, affinity=W).embedding_
    assert off(cls(2).fit(X, affinity=1e6 * W).embedding_, 1e-3 * expected) < 1e-10
    assert off(cls(2).fit(X, affinity=1e-80 * W).embedding_, 1e40 * expected) < 1e-10
    quotients = [cls(2, approximation="stochastic").fit(X, affinity=c * W).embedding_ for c in (1, 1e6)]
    assert off(*quotients) < 1e-10


@pytest.mark.parametrize("unit", [1e-250, 1e250])
@pytest.mark.parametrize("form", FORMS)
@BOTH
def test_the_unit_of_the_rows_does_not_matter(cls, form, unit):
    X, W = counts(d=3), random_graph(80)
    model = cls(2, approximation=form).fit(unit * X, affinity=W)
    expected = cls(2, approximation=form).fit(X, affinity=W)
    assert off(model.embedding_, expected.embedding_) < 1e-8
    new = X[:10] + 0.01
    assert off(model.transform(unit * new), expected.transform(new)) < 1e-8


@pytest.mark.parametrize("form", ["csc", "coo", "lil"])
@BOTH
def test_the_format_of_the_weights_does_not_matter(cls, form):
    X, W = counts(d=3), random_graph(80)
    expected = cls(2).fit_transform(X, affinity=W)
    np.testing.assert_array_equal(cls(2).fit_transform(X, affinity=sp.csr_matrix(W).asformat(form)), expected)


# --- vertices


def test_duplicate_rows_are_vertices_of_their_own():
    X, W = counts(), random_graph(80)
    X[40:] = X[:40]
    model = LPP(3).fit(X, affinity=W)
    penalties, place = plain(X, W, "affine", 3)
    np.testing.assert_allclose(model.spectrum_.penalties, penalties, rtol=1e-10)
    assert off(model.embedding_, place(X)) < 1e-10
    np.testing.assert_array_equal(model.embedding_[40:], model.embedding_[:40])
    assert model.graph_.n_edges == np.count_nonzero(np.triu(W, 1))
    mixed = KernelEigenmaps(2, n_kernels=80).fit(X[:, :2], affinity=W)
    assert len(mixed.centers_) == 40  # at most one for each distinct row


@BOTH
def test_the_graph_that_was_given_is_there(cls):
    X, W = counts(d=3), random_graph(80)
    model = cls(2).fit(X, affinity=W)
    expected = np.divide(1, W, out=np.zeros_like(W), where=W > 0)
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(model.graph_.lengths.toarray(), expected)
    np.testing.assert_array_equal(model.neighbors_.counts, np.count_nonzero(expected, axis=1))
    assert not len(model.graph_.bridges)


@pytest.mark.parametrize("form", FORMS)
@BOTH
def test_rows_without_an_edge_are_placed_as_new_rows(cls, form):
    X, W = counts(d=3), random_graph(80)
    alone, others = np.arange(0, 80, 16), np.delete(np.arange(80), np.arange(0, 80, 16))
    W[alone] = W[:, alone] = 0.0
    with pytest.warns(DisconnectedGraphWarning, match=r"no edge for 5 of 80 rows \(first: row 0\)"):
        model = cls(2, approximation=form).fit(X, affinity=W)
    expected = cls(2, approximation=form).fit(X[others], affinity=W[np.ix_(others, others)])
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.embedding_[others], expected.embedding_, atol=1e-12 * size)
    np.testing.assert_allclose(model.embedding_[alone], expected.transform(X[alone]), atol=1e-12 * size)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12 * size)
    assert model.kept_.all()
    np.testing.assert_array_equal(np.flatnonzero(model.neighbors_.counts == 0), alone)
    assert model.graph_.lengths.shape == (80, 80)


def test_a_weight_on_the_diagonal_alone_counts():
    """By the formula: it is added to W and to D."""
    X, W = counts(), random_graph(80)
    W[0] = W[:, 0] = 0.0
    W[0, 0] = 3.0
    model = LPP(3).fit(X, affinity=W)
    assert off(model.embedding_, plain(X, W, "affine", 3)[1](X)) < 1e-10


def test_a_linear_map_needs_no_bridges():
    X = StandardScaler().fit_transform(load_wine().data)
    W = random_graph(178, density=0.05)
    W[:90, 90:] = W[90:, :90] = 0.0
    model = LPP(2).fit(X, affinity=W)  # a warning would be an error here
    assert off(model.embedding_, plain(X, W, "affine", 2)[1](X)) < 1e-10
    assert len(model.model_.parts) == 1


@pytest.mark.parametrize("form", FORMS)
def test_of_several_components_only_the_constant_is_dropped(form):
    """Kernels that are each of one component: a place for each of these is a solution too, with the same eigenvalue."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3)) + 20 * np.eye(3).repeat(50, axis=0)
    A = kneighbors_graph(X, 8)
    W = A.maximum(A.T)
    with pytest.warns(DegenerateMapWarning, match="150 distinct rows have only 3 distinct positions"):
        model = KernelEigenmaps(2, n_kernels=12, approximation=form).fit(X, affinity=W)
    assert model.leading_ripple_ < 1e-8
    assert model.leading_eigenvalue_ == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(model.spectrum_.penalties, 0, atol=1e-12)
    degrees = W.toarray().sum(axis=1)
    assert np.abs(degrees @ model.embedding_).max() < 1e-8 * (degrees @ np.abs(model.embedding_)).max()
    places = model.embedding_.reshape(3, 50, 2)
    assert np.ptp(places, axis=1).max() < 1e-6 * np.ptp(model.embedding_)
    apart = np.linalg.norm(places[[0, 0, 1], 0] - places[[1, 2, 2], 0], axis=1)
    assert apart.min() > 0.5 * apart.max()  # three corners, whatever an eigensolver makes of equal eigenvalues


# --- as any other fit


@BOTH
def test_new_rows_and_inverse(cls):
    X = StandardScaler().fit_transform(load_wine().data)
    A = kneighbors_graph(X, 8)
    model = cls(2).fit(X, affinity=A.maximum(A.T))
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    assert np.linalg.norm(model.inverse_transform(model.embedding_) - X) < 0.9 * np.linalg.norm(X)
    assert 0 < model.inverse_error() < 1
    assert (model.extrapolation(X) == 0).all()
    assert (model.extrapolation(X + 100) > 3).all()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X[:9]), model.transform(X[:9]))
    np.testing.assert_array_equal(again.graph_.lengths.toarray(), model.graph_.lengths.toarray())


@BOTH
def test_in_a_pipeline_and_in_float32(cls):
    X, A = load_wine().data, kneighbors_graph(load_wine().data, 8)
    W = A.maximum(A.T)
    whole = make_pipeline(StandardScaler(), cls(2)).fit(X, **{f"{cls.__name__.lower()}__affinity": W})
    expected = cls(2).fit(StandardScaler().fit_transform(X), affinity=W)
    np.testing.assert_array_equal(whole.transform(X), expected.transform(StandardScaler().fit_transform(X)))
    single = cls(2).fit(StandardScaler().fit_transform(X).astype(np.float32), affinity=W)
    assert single.embedding_.dtype == np.float32
    assert off(single.embedding_, expected.embedding_) < 1e-3


@BOTH
def test_a_fit_without_affinity_forgets_the_one_before(cls):
    X, W = counts(d=3), random_graph(80)
    model = cls(2).fit(X, affinity=W).fit(X)
    np.testing.assert_array_equal(model.embedding_, cls(2).fit(X).embedding_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_neighbors", 5),
        ("radius", 1.0),
        ("metric", "cosine"),
        ("metric_params", {"p": 3}),
        ("search", "exact"),
        ("weights", "binary"),
        ("graph", "mutual"),
        ("on_disconnected", "error"),
    ],
)
@BOTH
def test_settings_of_another_graph_are_refused(cls, name, value):
    X, W = counts(d=3), random_graph(80)
    with pytest.raises(InputError, match=f"affinity is the graph, so {name}={value!r} has no effect: leave {name} at"):
        cls(2, **{name: value}).fit(X, affinity=W)
    if name == "graph":
        with pytest.raises(InputError, match="so graph='classes' has no effect"):
            LPP(2, graph="classes").fit(X, np.arange(80) % 3, affinity=W)


@BOTH
def test_weights_that_do_not_fit_the_rows(cls):
    X, W = counts(d=3), random_graph(80)
    with pytest.raises(InputError, match=r"affinity has the shape \(79, 79\), but there are 80 samples"):
        cls(2).fit(X, affinity=W[1:, 1:])
    with pytest.raises(InputError, match="affinity is not symmetric"):
        cls(2).fit(X, affinity=kneighbors_graph(X, 5))


@pytest.mark.parametrize("form", FORMS)
@BOTH
def test_rows_that_are_all_equal(cls, form):
    for value in (0.0, 1.0):
        with pytest.raises(InputError, match="basis functions are constant on these rows"):
            cls(2, approximation=form).fit(np.full((80, 3), value), affinity=random_graph(80))


@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
@BOTH
def test_too_few_rows_with_edges(cls):
    W = np.zeros((80, 80))
    W[3, 5] = W[5, 3] = 1.0
    with pytest.raises(InputError, match=r"n_components=2 and .*n_samples=2"):
        cls(2).fit(counts(d=3), affinity=W)


def test_midway_errors_are_those_between_near_rows():
    """Opposite sides of a ring are joined: midway along these edges is the middle of the ring, where no row is."""
    t = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    X = np.c_[np.cos(t), np.sin(t)]
    W = (np.linalg.norm(X[:, None] + X, axis=2) < 0.2).astype(float)
    model = KernelEigenmaps(2).fit(X, affinity=W)  # a warning would be an error here
    assert model.midway_error_ < 0.2
    rng = np.random.default_rng(0)
    with pytest.warns(RankWarning, match="the map overfits: at the midpoints of"):
        KernelEigenmaps(2, n_kernels=40).fit(rng.standard_normal((120, 3)), affinity=random_graph(120))
