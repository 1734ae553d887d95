import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from gramfold import LPP, KernelEigenmaps
from gramfold.errors import (
    ApproximationWarning,
    DisconnectedGraphWarning,
    ExtrapolationWarning,
    InputError,
    MemoryForecastError,
    RankWarning,
)
from gramfold.extension.inverse import LocalInverse
from gramfold.graph.affinity import affinity, inverse_lengths
from gramfold.runtime import memory
from tests.methods.maps import difference


@pytest.fixture
def wine():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("weights", ["inverse-distance", "binary"])
def test_raw_is_the_problem_of_he_and_niyogi(wine, weights):
    X, _ = wine
    model = LPP(3, approximation="raw", weights=weights).fit(X)  # centred rows: no combination is nearly constant
    W = (affinity(model.graph_, None) if weights == "binary" else inverse_lengths(model.graph_)).toarray()
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(X.T @ (D - W) @ X, X.T @ D @ X)
    np.testing.assert_allclose(model.spectrum_.penalties, values[:3], rtol=1e-9)
    assert difference(model.embedding_, X @ vectors[:, :3]) < 1e-9
    assert not model.intercept_.any()


def test_affine_is_the_same_with_a_one_beside_each_row(wine):
    X, _ = wine
    model = LPP(3).fit(X)
    W = inverse_lengths(model.graph_).toarray()
    D = np.diag(W.sum(axis=1))
    Z = np.hstack([X, np.ones((len(X), 1))])
    values, vectors = eigh(Z.T @ (D - W) @ Z, Z.T @ D @ Z)
    assert abs(values[0]) < 1e-12
    np.testing.assert_allclose(model.spectrum_.penalties, values[1:4], rtol=1e-9)
    assert difference(model.embedding_, Z @ vectors[:, 1:4]) < 1e-9
    assert abs(model.leading_eigenvalue_ - 1) < 1e-10


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")  # the raw map lost its neighbours
@pytest.mark.parametrize("form", ["raw", "affine"])
def test_the_map_is_its_components(wine, form):
    X, _ = wine
    model = LPP(3, approximation=form).fit(X[:120])
    new = X[120:]
    np.testing.assert_allclose(model.transform(new), new @ model.components_.T + model.intercept_, atol=1e-12)


def test_only_the_affine_map_does_not_care_where_the_origin_is(wine):
    X, _ = wine
    for form, moves in (("affine", False), ("raw", True)):
        off = difference(LPP(2, approximation=form).fit(X).embedding_, LPP(2, approximation=form).fit(X + 3).embedding_)
        assert (off > 0.01) == moves
        assert moves or off < 1e-9


def test_all_pairs_of_a_class_give_the_discriminant_of_fisher(wine):
    X, y = wine
    model = LPP(2, graph="classes").fit(X, y)
    fisher = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).transform(X)
    for ours, theirs in zip(model.embedding_.T, fisher.T, strict=True):
        assert abs(np.corrcoef(ours, theirs)[0, 1]) > 1 - 1e-10
    # μ is the share of a direction's scatter that is within the classes
    within = sum(
        np.square(model.embedding_[y == k] - model.embedding_[y == k].mean(axis=0)).sum(axis=0) for k in range(3)
    )
    np.testing.assert_allclose(model.spectrum_.penalties, within, rtol=1e-9)


def test_names_of_the_classes_do_not_matter(wine):
    X, y = wine
    named = np.array(["red", "white", "pink"])[y]
    for graph in ("classes", "class-neighbors"):
        expected = LPP(2, graph=graph).fit_transform(X, y)
        np.testing.assert_allclose(np.abs(LPP(2, graph=graph).fit_transform(X, named)), np.abs(expected), atol=1e-10)


def test_neighbours_within_classes_are_those_of_each_class_alone(wine):
    X, y = wine
    model = LPP(2, graph="class-neighbors", weights="binary").fit(X, y)
    W = np.zeros((len(X), len(X)))
    for k in range(3):
        rows = np.flatnonzero(y == k)
        distances = np.linalg.norm(X[rows][:, None] - X[rows], axis=2)
        for i, order in enumerate(np.argsort(distances, axis=1)):
            W[rows[i], rows[order[1:9]]] = W[rows[order[1:9]], rows[i]] = 1
    D = np.diag(W.sum(axis=1))
    Z = np.hstack([X, np.ones((len(X), 1))])
    values, vectors = eigh(Z.T @ (D - W) @ Z, Z.T @ D @ Z)
    np.testing.assert_allclose(model.spectrum_.penalties, values[1:3], rtol=1e-9)
    assert difference(model.embedding_, Z @ vectors[:, 1:3]) < 1e-9


def test_small_classes_and_copies_among_classes(wine):
    X, y = wine
    X, y = np.vstack([X, X[:10], X[:1] + 1]), np.concatenate([y, np.full(10, 2), [3]])  # ten rows are in two classes
    model = LPP(2, graph="class-neighbors").fit(X, y)
    np.testing.assert_allclose(model.embedding_[178:188], model.embedding_[:10], atol=1e-12)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)


def test_classes_part_what_neighbours_do_not(wine):
    X, y = wine
    rng = np.random.default_rng(0)
    noisy = np.hstack([X, 3 * rng.standard_normal((len(X), 10))])

    def share_within(places):
        return sum(np.square(places[y == k] - places[y == k].mean(axis=0)).sum() for k in range(3)) / (
            np.square(places - places.mean(axis=0)).sum()
        )

    plain, by_class = LPP(2).fit_transform(noisy), LPP(2, graph="class-neighbors").fit_transform(noisy, y)
    assert share_within(by_class) < 0.5 * share_within(plain)


def test_the_way_back_is_the_affine_least_squares(wine):
    X, _ = wine
    model = LPP(2).fit(X)
    Y = np.hstack([model.embedding_, np.ones((len(X), 1))])
    expected = Y @ np.linalg.lstsq(Y, X)[0]
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), expected, atol=1e-10)


@pytest.mark.parametrize("graph", ["classes", "class-neighbors"])
def test_classes_must_be_given(wine, graph):
    X, y = wine
    with pytest.raises(InputError, match="no classes were given: pass y"):
        LPP(graph=graph).fit(X)
    with pytest.raises(InputError, match="X has 178 rows: pass one class for each row"):
        LPP(graph=graph).fit(X, y[:-1])


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 200))
    model = LPP(2).fit(X)
    assert (model.spectrum_.residuals < 1e-6).all()
    assert abs(model.leading_eigenvalue_ - 1) < 1e-10


# --- more columns than rows


@pytest.mark.parametrize("form", ["affine", "raw"])
def test_with_columns_enough_it_is_the_laplacian_eigenmap(form):
    """Rows in general position: every function of them is linear."""
    X = np.random.default_rng(0).standard_normal((60, 300))
    with pytest.warns(RankWarning, match="span 60 directions, but there are only 60 distinct rows"):
        model = LPP(2, approximation=form).fit(X)
    W = inverse_lengths(model.graph_).toarray()
    values, vectors = eigh(np.diag(W.sum(axis=1)) - W, np.diag(W.sum(axis=1)))
    np.testing.assert_allclose(model.spectrum_.penalties, values[1:3], rtol=1e-9)
    assert difference(model.embedding_, vectors[:, 1:3]) < 1e-9
    np.testing.assert_allclose(X @ model.components_.T + model.intercept_, model.embedding_, atol=1e-10)


def test_it_is_the_problem_in_the_span_of_the_rows():
    rng = np.random.default_rng(0)
    narrow, turn = rng.standard_normal((60, 12)), np.linalg.qr(rng.standard_normal((200, 12)))[0]
    wide = LPP(2).fit(narrow @ turn.T + 5)
    expected = LPP(2).fit(narrow)
    assert difference(wide.embedding_, expected.embedding_) < 1e-8
    new = rng.standard_normal((20, 12))
    assert difference(wide.transform(new @ turn.T + 5), expected.transform(new)) < 1e-8


def test_very_many_columns_take_little_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1e9)  # a matrix of the columns would take 80 GB
    X = np.random.default_rng(0).standard_normal((10, 100_000))
    with pytest.warns(RankWarning):
        model = LPP(2, n_neighbors=3).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-10)
    monkeypatch.setattr(memory, "available_memory", lambda: 1e7)
    with pytest.raises(MemoryForecastError, match=r"LPP on 10 rows needs 0\.0 GB.* or pass fewer columns"):
        LPP(2, n_neighbors=3).fit(X)


def test_a_class_of_one_row_among_more_columns_than_rows():
    X = np.random.default_rng(0).standard_normal((31, 80))
    y = np.append(np.arange(3).repeat(10), 3)
    with pytest.warns(RankWarning):
        model = LPP(2, graph="class-neighbors").fit(X, y)
    assert np.isfinite(model.embedding_).all()
    assert (model.spectrum_.penalties < 1e-9).all()  # each class in one place


def test_few_rows_for_the_columns_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 60))
    with pytest.warns(RankWarning, match="span 61 directions, but there are only 100 distinct rows"):
        LPP(2).fit(X)
    LPP(2).fit(rng.standard_normal((200, 60)))  # a warning would be an error here


def test_a_column_that_does_not_vary_moves_nothing(wine):
    X = np.hstack([wine[0], np.full((178, 1), 0.1)])  # its mean is off by rounding
    model = LPP(2).fit(X)
    assert difference(model.embedding_, LPP(2).fit(wine[0]).embedding_) < 1e-10
    np.testing.assert_allclose(model.transform(X + np.eye(14)[13]), model.embedding_, atol=1e-12)


def test_several_maps_side_by_side_have_no_one_matrix():
    X = load_iris().data
    with pytest.warns(DisconnectedGraphWarning):
        model = LPP(on_disconnected="separate").fit(X)
    assert not hasattr(model, "components_")
    assert not hasattr(model, "intercept_")
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")
def test_rows_of_one_direction_have_places_of_their_own():
    """Under the cosine metric they are one vertex of the graph, and the map is linear in the rows."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    X = np.vstack([X, 3 * X[:20]])
    model = LPP(metric="cosine").fit(X)
    np.testing.assert_allclose(model.embedding_, X @ model.components_.T + model.intercept_, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


@pytest.mark.filterwarnings("ignore::gramfold.errors.ExtrapolationWarning")
@pytest.mark.parametrize("cls", [LPP, KernelEigenmaps])
def test_so_have_those_of_one_direction_in_a_component_of_several(cls):
    X = load_iris().data
    X = np.vstack([X, 2 * X[:40]])
    with pytest.warns(DisconnectedGraphWarning):
        model = cls(metric="cosine", on_disconnected="separate").fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


def test_a_radius_that_joins_nobody_of_one_class():
    X = np.random.default_rng(0).standard_normal((30, 4))
    with pytest.raises(InputError, match=r"no two rows of one class are within radius=0\.001 .* use a larger radius"):
        LPP(graph="class-neighbors", radius=1e-3).fit(X, np.arange(30) % 3)


# --- quotients: stochastic and reweighted


@pytest.fixture
def documents():
    """Counts of words in documents of different lengths, and which of three topics each is mostly about."""
    rng = np.random.default_rng(0)
    topics, shares = rng.dirichlet(np.ones(20), size=3), rng.dirichlet(np.full(3, 0.7), size=300)
    counts = rng.poisson(rng.gamma(10, 40, size=300)[:, None] * (shares @ topics)).astype(float)
    return counts, shares.argmax(axis=1)


@pytest.mark.parametrize("form", ["stochastic", "reweighted"])
def test_quotients_are_the_problem_of_brand(documents, form):
    X, _ = documents
    model = LPP(2, approximation=form, metric="cosine").fit(X)
    W = inverse_lengths(model.graph_).toarray()
    D = np.diag(W.sum(axis=1))

    def solved(Z):
        return [part[..., ::-1] for part in eigh(Z.T @ W @ Z, Z.T @ D @ Z)]

    values, vectors = solved(X)
    first = vectors[:, [0]] * np.sign((X @ vectors[:, 0]).sum())
    assert (X @ first > 0).all()  # of one sign, as nonnegative columns have it
    if form == "reweighted":
        values, vectors = solved(X / (X @ first))
        assert abs(model.leading_eigenvalue_ - 1) < 1e-12
        assert model.leading_ripple_ < 1e-10
    np.testing.assert_allclose(model.spectrum_.penalties, 1 - values[1:3], rtol=1e-9)
    expected = X @ vectors[:, 1:3] / (X @ first)
    signs = np.sign((model.embedding_ * expected).sum(axis=0))
    np.testing.assert_allclose(model.embedding_ * signs, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("form", ["stochastic", "reweighted"])
def test_a_quotient_does_not_change_with_the_length_of_a_row(documents, form):
    documents, _ = documents
    model = LPP(2, approximation=form, metric="cosine").fit(documents)
    scales = np.random.default_rng(1).uniform(0.2, 1.0, size=(300, 1))
    np.testing.assert_allclose(
        model.transform(scales * documents), model.embedding_, atol=1e-12 * np.abs(model.embedding_).max()
    )
    affine = LPP(2, metric="cosine").fit(documents)
    assert difference(affine.transform(scales * documents), affine.embedding_) > 0.1


@pytest.mark.parametrize("form", ["stochastic", "reweighted"])
def test_a_quotient_has_no_matrix_and_a_local_inverse(documents, form):
    documents, _ = documents
    model = LPP(2, approximation=form, metric="cosine").fit(documents)
    for name in ("components_", "intercept_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"this LPP has no {name}: .* a quotient, .*; use transform"):
            getattr(model, name)
    rows = model.inverse_transform(model.embedding_[:20])
    expected = LocalInverse(model.embedding_, documents, None)(model.embedding_[:20])
    np.testing.assert_allclose(rows, expected, atol=1e-8)
    barycentric = LPP(2, approximation=form, metric="cosine", inverse="barycentric").fit(documents)
    np.testing.assert_array_equal(barycentric.inverse_transform(model.embedding_[:20]), rows)
    assert 0 < model.inverse_error() < 1


@pytest.mark.parametrize("form", ["stochastic", "reweighted"])
def test_rows_at_which_nothing_can_be_divided_are_told(documents, form):
    documents, _ = documents
    model = LPP(2, approximation=form, metric="cosine").fit(documents)
    first = model.model_.parts[0].placement.map.basis.first
    rng = np.random.default_rng(0)
    across = rng.standard_normal((40, 20))
    across -= np.outer(across @ first, first) / (first @ first)  # u = 0
    across *= 5
    near = across + 1e-9 * first / (first @ first)
    size = np.abs(model.embedding_).max()
    guard = model.model_.parts[0].placement.map.basis.guard
    for rows in (across, near, -documents[:40], np.zeros((1, 20))):
        with pytest.warns(ExtrapolationWarning) as told:
            places = model.transform(rows)
        said = f"at {len(rows)} of {len(rows)} rows (first: row 0) the leading coordinate u(x), by which the embedding"
        assert any(said in str(one.message) and "is close to 0 or negative" in str(one.message) for one in told)
        assert np.isfinite(places).all()
        assert np.abs(places).max() < size / guard.least
    assert not places.any()  # of a row of zeros
    fresh = documents[:150] + documents[150:]
    model.transform(fresh / 2)  # a warning would be an error here


@pytest.mark.parametrize("form", ["stochastic", "reweighted"])
def test_where_the_leading_solution_changes_its_sign_the_map_is_affine(wine, form):
    X, _ = wine
    with pytest.warns(ApproximationWarning, match="changes sign or is close to 0"):
        model = LPP(2, approximation=form).fit(X)
    expected = LPP(2).fit(X)
    assert difference(model.embedding_, expected.embedding_) < 1e-9
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T + model.intercept_, atol=1e-12)


@pytest.mark.parametrize("form", ["affine", "raw", "stochastic", "reweighted"])
@pytest.mark.parametrize("graph", ["class-neighbors", "classes"])
def test_classes_come_apart_whatever_the_approximation(documents, form, graph):
    X, topic = documents
    model = LPP(2, approximation=form, graph=graph).fit(X[::2], topic[::2])
    placed = model.transform(X[1::2])
    nearest = np.linalg.norm(placed[:, None] - model.embedding_, axis=2).argmin(axis=1)
    assert np.mean(topic[::2][nearest] == topic[1::2]) > 0.6  # by chance: a third
