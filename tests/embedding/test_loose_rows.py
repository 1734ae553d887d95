"""Loosely tied rows on maps and in clusters: what is told of them, and what `loose_rows` does."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from gramfold import CommuteTime, DiffusionMap, HeatKernel, LaplacianEigenmaps, SpectralClustering
from gramfold.cli import main
from gramfold.datasets import make_gaussian_clusters, make_s_curve, make_swiss_roll
from gramfold.errors import DegenerateMapWarning, InputError
from gramfold.graph.affinity import affinity
from gramfold.types import participation

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")

FAMILY = [LaplacianEigenmaps, CommuteTime, HeatKernel, DiffusionMap]
quiet = pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")


def cube_with_tail(n: int = 800, tail: int = 12) -> np.ndarray:
    """Rows in a cube of five dimensions and, beside it, a handful of rows whose neighbours are each other."""
    rng = np.random.default_rng(0)
    return np.vstack([rng.random((n, 5)), [2.0, 0.5, 0.5, 0.5, 0.5] + 1e-3 * rng.standard_normal((tail, 5))])


TAIL = np.arange(812) >= 800


def tailed_graph(sizes: tuple[int, ...] = (8,)) -> csr_array:
    """Edges of weight 1 between neighbours in a cube, and chains tied to it by one edge each."""
    rows = np.random.default_rng(0).random((500, 5))
    near = kneighbors_graph(rows, 6).toarray()
    W = np.maximum(near, near.T)
    for number, size in enumerate(sizes):
        n = len(W)
        W = np.pad(W, (0, size))
        chain = np.r_[50 * number, np.arange(n, n + size)]
        W[chain[:-1], chain[1:]] = W[chain[1:], chain[:-1]] = 1.0
    return csr_array(W)


# --- what is told


@pytest.mark.parametrize("cls", FAMILY, ids=lambda cls: cls.__name__)
def test_a_coordinate_on_a_tail_is_told_with_its_rows_and_its_remedy(cls: type) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = cls(n_components=2).fit(cube_with_tail())
    (message,) = [str(one.message) for one in told if one.category is DegenerateMapWarning]
    assert "coordinate 1 is localised on 12 rows (such as 800, 801, 802)" in message
    assert "which 1 edge connects to the others" in message
    assert "Try loose_rows='trim', graph='mutual+mst', " in message
    assert model.participation_[0] < 13
    assert model.loose_ is None


@pytest.mark.parametrize("cls", FAMILY, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(
    "rows",
    [
        make_swiss_roll(800, random_state=0).points,
        make_s_curve(800, random_state=0).points,
        load_digits().data[:900],
        make_gaussian_clusters(600, random_state=0).points,
    ],
    ids=["roll", "curve", "digits", "groups"],
)
@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
def test_good_maps_are_not_accused(cls: type, rows: np.ndarray) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        cls(n_components=3).fit(rows)
    assert not [one for one in told if "localised" in str(one.message)]


def test_participation_is_over_rows_with_their_copies() -> None:
    rows = make_s_curve(200, random_state=0).points
    rows = np.vstack([rows, rows[:30], rows[:30]])
    model = LaplacianEigenmaps(3).fit(rows)
    np.testing.assert_allclose(model.participation_, participation(model.embedding_, np.ones(260)))
    np.testing.assert_allclose(model.spectrum_.participation, model.participation_)
    assert (model.participation_ > 50).all()


# --- trim


@quiet
@pytest.mark.parametrize("cls", FAMILY, ids=lambda cls: cls.__name__)
def test_trimmed_rows_have_coordinates_and_no_axis(cls: type) -> None:
    rows = cube_with_tail()
    model = cls(n_components=2, loose_rows="trim").fit(rows)
    np.testing.assert_array_equal(model.loose_, TAIL)
    assert model.participation_.min() > 250
    # all edges of the tail but one are within it, so that it lies where that one leads
    tail = model.embedding_[TAIL]
    attached = np.unique(model.graph_.lengths[np.flatnonzero(TAIL)].indices)
    (attached,) = attached[attached < 800]
    np.testing.assert_allclose(tail, np.tile(model.embedding_[attached], (12, 1)), atol=1e-9 * np.abs(tail).max())
    # the sheet is mapped as it is without the tail, but for the degree of the vertex that the tail is tied to
    alone = cls(n_components=2).fit(rows[:800]).embedding_
    both = np.abs(np.sum(alone * model.embedding_[:800], axis=0)) / np.linalg.norm(alone, axis=0)
    np.testing.assert_allclose(both, np.linalg.norm(model.embedding_[:800], axis=0), rtol=1e-2)


@quiet
@pytest.mark.parametrize("loose_rows", ["trim", "regularize"])
def test_new_rows_are_placed_and_training_rows_return(loose_rows: str) -> None:
    rows = cube_with_tail()
    model = LaplacianEigenmaps(2, loose_rows=loose_rows).fit(rows)
    np.testing.assert_array_equal(model.transform(rows), model.embedding_)
    size = np.abs(model.embedding_).max()
    np.testing.assert_allclose(model.transform(rows + 1e-9), model.embedding_, atol=1e-5 * size)
    new = rows[:200] + np.random.default_rng(5).uniform(-0.02, 0.02, (200, 5))
    assert np.abs(model.transform(new) - model.embedding_[:200]).mean() < 0.1 * size


@quiet
@pytest.mark.parametrize("laplacian", ["random-walk", "symmetric"])
@pytest.mark.parametrize("loose_rows", ["keep", "regularize"])
def test_the_edges_of_a_training_row_give_it_back(laplacian: str, loose_rows: str) -> None:
    """With weights given, a new row with the edges of row i is placed by the formula alone, and lands on it."""
    W = tailed_graph()
    model = LaplacianEigenmaps(3, weights="precomputed", laplacian=laplacian, loose_rows=loose_rows).fit(W)
    np.testing.assert_allclose(model.transform(W), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max())


@quiet
def test_a_given_graph_is_trimmed() -> None:
    W = tailed_graph((8, 6, 5))
    model = LaplacianEigenmaps(3, weights="precomputed", loose_rows="trim").fit(W)
    kept = ~model.loose_
    assert set(np.flatnonzero(model.loose_)) <= set(range(500, 519))
    assert model.loose_[500:508].all()
    L = np.diag(W.sum(axis=1)) - W.toarray()
    S, T = np.ix_(kept, kept), np.ix_(~kept, ~kept)
    schur = L[S] - L[np.ix_(kept, ~kept)] @ np.linalg.solve(L[T], L[np.ix_(~kept, kept)])
    values, vectors = eigh(schur, np.diag(np.asarray(W.sum(axis=1)).ravel()[kept]))
    np.testing.assert_allclose(model.spectrum_.penalties, values[1:4], rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.embedding_[kept]), np.abs(vectors[:, 1:4]), atol=1e-9)
    K = model.kernel_
    V = np.random.default_rng(0).standard_normal((519, 2))
    np.testing.assert_allclose(K @ V, K.dense() @ V, atol=1e-9 * np.abs(K.dense() @ V).max())


@quiet
def test_copies_of_loose_rows_are_loose() -> None:
    rows = cube_with_tail(800, 10)
    model = LaplacianEigenmaps(2, loose_rows="trim").fit(np.vstack([rows, rows[[3, 805, 805]]]))
    np.testing.assert_array_equal(np.flatnonzero(model.loose_), [*range(800, 810), 811, 812])
    np.testing.assert_array_equal(model.embedding_[[810, 811]], model.embedding_[[3, 805]])


@quiet
@pytest.mark.parametrize("how", ["separate", "largest"])
def test_components_are_trimmed_each_by_itself(how: str) -> None:
    rows = cube_with_tail()
    X = np.vstack([rows, rows[:500] + 50.0])
    model = LaplacianEigenmaps(2, loose_rows="trim", on_disconnected=how).fit(X)
    assert not model.loose_.any()  # the tail is a component of its own, and has no tie
    assert np.isnan(model.embedding_[800:812]).all() == (how == "largest")


@quiet
@pytest.mark.parametrize("loose_rows", ["trim", "regularize"])
def test_single_precision_gives_the_same_map(loose_rows: str) -> None:
    rows = cube_with_tail().astype(np.float32)
    narrow = LaplacianEigenmaps(2, loose_rows=loose_rows).fit(rows)
    wide = LaplacianEigenmaps(2, loose_rows=loose_rows).fit(rows.astype(np.float64))
    assert narrow.embedding_.dtype == np.float32
    np.testing.assert_allclose(narrow.embedding_, wide.embedding_, atol=1e-5 * np.abs(wide.embedding_).max())


@quiet
def test_a_table_without_loose_rows_is_mapped_as_ever() -> None:
    rows = make_s_curve(400, random_state=0).points
    plain, trim = LaplacianEigenmaps(2).fit(rows), LaplacianEigenmaps(2, loose_rows="trim").fit(rows)
    assert not trim.loose_.any()
    np.testing.assert_array_equal(plain.embedding_, trim.embedding_)


# --- regularize


@quiet
@pytest.mark.parametrize("n", [400, 1300], ids=["dense", "products"])
def test_regularised_map_is_that_of_the_dense_matrix(n: int) -> None:
    rows = np.random.default_rng(3).standard_normal((n, 3))
    model = LaplacianEigenmaps(3, weights="gaussian", loose_rows="regularize").fit(rows)
    W = affinity(model.graph_, model.width_).toarray()
    W += 0.1 * W.sum() / n**2
    values, vectors = eigh(np.diag(W.sum(axis=1)) - W, np.diag(W.sum(axis=1)), subset_by_index=[1, 3])
    np.testing.assert_allclose(model.spectrum_.penalties, values, rtol=1e-10)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(vectors), atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        LaplacianEigenmaps(laplacian="unnormalized", loose_rows="regularize"),
        CommuteTime(loose_rows="regularize"),
        HeatKernel(loose_rows="regularize"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_regularisation_that_would_do_nothing_is_refused(model) -> None:
    with pytest.raises(InputError, match=r"unnormalised Laplacian has the same eigenvectors.*use loose_rows='trim'"):
        model.fit(cube_with_tail())


def test_what_cannot_be_regularised_is_refused() -> None:
    with pytest.raises(InputError, match="density; use loose_rows='trim'"):
        DiffusionMap(loose_rows="regularize").fit(cube_with_tail())
    with pytest.raises(InputError, match="n_clusters='auto' compares eigenvalues"):
        SpectralClustering(loose_rows="regularize").fit(cube_with_tail())


# --- clusters


@quiet  # even regularised an eigenvector is localised on these rows, and said to be
def test_clusters_of_digits_are_better_without_loose_rows() -> None:
    digits = load_digits()
    labels = {
        name: SpectralClustering(10, loose_rows=name, random_state=0).fit(digits.data).labels_
        for name in ("keep", "trim", "regularize")
    }
    right = {name: adjusted_rand_score(digits.target, found) for name, found in labels.items()}
    assert np.bincount(labels["keep"]).min() < 30  # a cluster of rows that hang by one edge
    assert np.bincount(labels["trim"]).min() > 60
    assert right["trim"] > right["keep"] + 0.04
    assert right["regularize"] > right["keep"] + 0.03


@pytest.mark.parametrize("assign", ["kmeans", "qr", "threshold"])
@pytest.mark.parametrize("loose_rows", ["trim", "regularize"])
def test_two_groups_are_found_beside_a_tail(assign: str, loose_rows: str) -> None:
    """Two cubes side by side, and a chain that hangs on one of them: the first cut is that of the chain."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.random((300, 4)), rng.random((300, 4)) + [1.1, 0.0, 0.0, 0.0]])
    near = kneighbors_graph(rows, 8).toarray()
    W = np.pad(np.maximum(near, near.T), (0, 12))
    chain = np.r_[7, np.arange(600, 612)]
    W[chain[:-1], chain[1:]] = W[chain[1:], chain[:-1]] = 1.0
    truth = np.repeat([0, 1], 300)
    settings = {"weights": "precomputed", "assign": assign, "random_state": 0}
    with pytest.warns(DegenerateMapWarning, match=r"eigenvector 1 is localised on 12 rows .* a cluster may consist"):
        plain = SpectralClustering(2, **settings).fit(W)
    assert adjusted_rand_score(truth, plain.labels_[:600]) < 0.1
    model = SpectralClustering(2, loose_rows=loose_rows, **settings).fit(W)
    assert adjusted_rand_score(truth, model.labels_[:600]) > 0.9
    assert loose_rows == "regularize" or (model.labels_[600:] == model.labels_[7]).all()
    assert model.participation_[0] > 100
    np.testing.assert_array_equal(model.predict(W), model.labels_)


def test_regularised_clusters_of_several_components_are_those_of_the_dense_matrices() -> None:
    rng = np.random.default_rng(1)
    X = np.vstack([rng.standard_normal((60, 2)), rng.standard_normal((40, 2)) + 100.0])
    model = SpectralClustering(5, loose_rows="regularize", random_state=0).fit(X)
    W = affinity(model.graph_, None).toarray()
    tau, values = 0.1 * W.sum(axis=1).mean(), []
    for part in (slice(0, 60), slice(60, 100)):
        one = W[part, part] + tau / len(W[part])
        values += eigh(np.diag(one.sum(axis=1)) - one, np.diag(one.sum(axis=1)), eigvals_only=True)[1:].tolist()
    np.testing.assert_allclose(model.eigenvalues_, [0, 0, *np.sort(values)[:3]], atol=1e-10)
    np.testing.assert_array_equal(model.predict(X + 1e-10), model.labels_)
    places = model.model_.edges.place_new(*_met(model, X + 1e-7), model.model_.division)
    np.testing.assert_allclose(places, model.embedding_, atol=1e-4 * np.abs(model.embedding_).max())


def _met(model: SpectralClustering, X: np.ndarray):
    met = model.model_._meet(X)
    return met, model.model_.net.radii_of(met)


# --- the command line


@quiet
def test_the_command_line_sets_it(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "rows.csv", cube_with_tail(), delimiter=",", header="a,b,c,d,e", comments="")
    words = ["embed", str(tmp_path / "rows.csv"), "-m", "laplacian", "--set", "loose_rows=trim"]
    result = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "map.npy")])
    assert result.exit_code == 0, result.output
    expected = LaplacianEigenmaps(2, loose_rows="trim").fit(cube_with_tail()).embedding_
    np.testing.assert_allclose(np.load(tmp_path / "map.npy"), expected, atol=1e-9)


def test_a_random_graph_without_ties_is_left_alone() -> None:
    W = np.triu(np.random.default_rng(0).random((300, 300)) < 0.05, 1).astype(float)
    W[np.arange(299), np.arange(1, 300)] = 1.0
    model = LaplacianEigenmaps(5, weights="precomputed", loose_rows="trim").fit(csr_array(W + W.T))
    assert not model.loose_.any()
