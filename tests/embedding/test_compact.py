"""A compact model: what `transform` needs and no more; what it does not hold it says."""

import copy
import inspect
import pickle
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone

import gramfold
from gramfold.embedding.compact import compacted, training_rows_in
from gramfold.errors import ExtrapolationWarning, GramfoldWarning, InputError, LeftOutError
from gramfold.types import LeftOut
from tests.contract.checks import sheet
from tests.contract.discovery import by_name, exported

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")

ESTIMATORS = exported()
PLACING = [cls for cls in ESTIMATORS if hasattr(cls, "transform") or hasattr(cls, "predict")]
N = 120


def by_type(model: object) -> str:
    return type(model).__name__


def small(model: BaseEstimator) -> BaseEstimator:
    """The same estimator whose model is compact."""
    other = clone(model)
    other.model_ = compacted(model.model_)
    return other


def placed(model: BaseEstimator, rows: object) -> np.ndarray:
    return np.asarray(model.predict(rows) if hasattr(model, "predict") else model.transform(rows))


def with_warnings(model: BaseEstimator, rows: object) -> tuple[np.ndarray, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        places = placed(model, rows)
    return places, [str(one.message) for one in caught]


def two_sheets(n: int = N) -> np.ndarray:
    return np.vstack([sheet(n), sheet(n // 2, seed=3) + 50.0])


def sparse(X: np.ndarray) -> csr_array:
    return csr_array(np.where(np.abs(X) < 0.3, 0.0, np.abs(X)))


def mixed(X: np.ndarray) -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = np.where(X[:, 0] > 0, "left", "right")
    frame.loc[::7, "b"] = np.nan
    return frame


class Case:
    """An estimator, its training rows, and new ones: amid them and far away."""

    def __init__(self, model, train, new=None, far=None, name="", **fit):
        self.model, self.train, self.fit = model, train, fit
        self.new = sheet(40, seed=1) if new is None else new
        self.far = self.new + 90.0 if far is None and not isinstance(self.new, pd.DataFrame) else far
        self.name = f"{type(model).__name__}{name}"

    def fitted(self) -> BaseEstimator:
        return clone(self.model).fit(self.train, **self.fit)


def on_graphs(cls: type, **params) -> list[Case]:
    """What a method of a neighbour graph is given."""
    X, fresh, Z = sheet(N), sheet(40, seed=1), two_sheets()
    twice = np.vstack([X, X[:30]])
    return [
        Case(cls(**params), X),
        Case(cls(**params), twice, name="-copies"),
        Case(cls(**params, on_disconnected="separate"), Z, name="-separate"),
        Case(cls(**params, on_disconnected="largest"), Z, name="-largest"),
        Case(cls(**params, radius=0.9), X, name="-radius"),
        Case(cls(**params, metric="cosine"), X + 3.0, fresh + 3.0, name="-cosine"),
        Case(cls(**params), X.astype(np.float32), fresh.astype(np.float32), name="-float32"),
        Case(cls(**params), pd.DataFrame(X, columns=list("abc")), pd.DataFrame(fresh, columns=list("abc")), name="-df"),
        Case(cls(**params), X * 1e200, fresh * 1e200, name="-unit"),
    ]


def beyond_rows(cls: type, **params) -> list[Case]:
    X, fresh = sheet(N), sheet(40, seed=1)
    return [
        Case(cls(**params, search="approximate"), X, name="-approximate"),
        Case(cls(**params), sparse(X), sparse(fresh), far=sparse(fresh + 90.0), name="-sparse"),
        Case(cls(**params, metric="precomputed"), cdist(X, X), cdist(fresh, X), name="-precomputed"),
        Case(cls(**params, drop_edges=[(0, 1)]), X, name="-dropped"),
        Case(cls(**params), X, name="-weights", sample_weight=1.0 + (np.arange(N) % 3)),
    ]


def cases() -> list[Case]:
    g = gramfold
    X, fresh = sheet(N), sheet(40, seed=1)
    default = [Case(cls(), X, name="-default") for cls in PLACING]
    return [
        *default,
        *on_graphs(g.Isomap),
        *beyond_rows(g.Isomap),
        *on_graphs(g.LaplacianEigenmaps),
        *beyond_rows(g.LaplacianEigenmaps),
        *on_graphs(g.LLE),
        *beyond_rows(g.LLE),
        *on_graphs(g.SpectralClustering, n_clusters=3),
        *beyond_rows(g.SpectralClustering, n_clusters=3),
        *on_graphs(g.Isomap, landmarks=25),
        *on_graphs(g.LaplacianEigenmaps, landmarks=60),
        *on_graphs(g.LPP),
        *on_graphs(g.KernelEigenmaps),
        *(
            Case(cls(metric="gower"), mixed(X), mixed(fresh), name="-gower")
            for cls in (g.Isomap, g.LaplacianEigenmaps, g.SpectralClustering)
        ),
        Case(g.Isomap(conformal=True), X, name="-conformal"),
        Case(g.Isomap(landmarks=25, conformal=True), X, name="-conformal-landmarks"),
        Case(g.KernelIsomap(landmarks=25), X, name="-landmarks"),
        Case(g.KernelIsomap(conformal=True), X, name="-conformal"),
        Case(g.DiffusionMap(), np.vstack([X, X[:9]]), name="-copies"),
        Case(g.LaplacianEigenmaps(width="self-tuning", weights="gaussian"), X, name="-tuned"),
        Case(g.LaplacianEigenmaps(loose_rows="regularize"), X, name="-regularize"),
        Case(g.LaplacianEigenmaps(loose_rows="trim"), X, name="-trim"),
        Case(g.SpectralClustering(n_clusters=3, loose_rows="regularize"), X, name="-regularize"),
        Case(g.SpectralClustering(n_clusters=2), two_sheets(), name="-components"),
        Case(g.LaplacianEigenmaps(graph="mutual+mst"), X, name="-mutual"),
        Case(g.KernelPCA(landmarks=25), X, name="-landmarks"),
        Case(g.KernelPCA(), sparse(X), sparse(fresh), far=sparse(fresh + 90.0), name="-sparse"),
        Case(g.KernelPCA(landmarks=25), sparse(X), sparse(fresh), far=sparse(fresh + 90.0), name="-landmarks-sparse"),
        Case(g.KernelPCA(kernel="precomputed"), X @ X.T, fresh @ X.T, name="-precomputed"),
        Case(g.NystromEmbedding(kernel="precomputed", landmarks=25), X @ X.T, fresh @ X.T, name="-precomputed"),
        Case(g.NystromEmbedding(landmarks=25), X, name="-landmarks"),
        Case(g.ClassicalMDS(metric="cityblock"), X, name="-cityblock"),
        Case(g.ClassicalMDS(metric="cityblock", repair="constant"), np.vstack([X, X[:9]]), name="-constant"),
        Case(g.ClassicalMDS(metric="cityblock", repair="shift"), X, name="-shift"),
        Case(g.ClassicalMDS(metric="precomputed"), cdist(X, X), cdist(fresh, X), name="-precomputed"),
        Case(g.ClassicalMDS(metric="gower"), mixed(X), mixed(fresh), name="-gower"),
        Case(g.LandmarkMDS(landmarks=25, metric="precomputed"), cdist(X, X), cdist(fresh, X), name="-precomputed"),
        Case(g.LandmarkMDS(landmarks=25, metric="cityblock"), X, name="-cityblock"),
        Case(g.PCA(n_components=3), X, name="-all"),
        Case(g.PCA(whiten=True), X.astype(np.float32), fresh.astype(np.float32), name="-float32"),
        Case(g.PCA(), sparse(X), sparse(fresh), far=sparse(fresh + 90.0), name="-sparse"),
        Case(g.PCA(), X * 1e200, fresh * 1e200, name="-unit"),
        Case(g.PCA(), X, name="-weights", sample_weight=1.0 + (np.arange(N) % 3)),
    ]


CASES = cases()


@pytest.fixture(scope="module", params=CASES, ids=[case.name for case in CASES])
def case(request):
    try:
        return request.param, request.param.fitted()
    except TypeError as error:  # a parameter that the class has not
        pytest.fail(str(error))


def test_places_are_the_same_to_the_last_bit(case):
    case, model = case
    less = pickle.loads(pickle.dumps(small(model)))
    for rows in (case.new, case.train):
        expected, found = with_warnings(model, rows), with_warnings(less, rows)
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1] == expected[1]
    if case.far is not None and not issparse(case.far) and "precomputed" not in case.name:
        expected, found = with_warnings(model, case.far), with_warnings(less, case.far)
        np.testing.assert_array_equal(found[0], expected[0])
        assert len(found[1]) == len(expected[1])


# --- how large it is


def buffers(node: object, found: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Every array of a model; those that share memory once."""
    if isinstance(node, np.ndarray):
        base = node
        while isinstance(base.base, np.ndarray):
            base = base.base
        found[id(base)] = base
    elif issparse(node):
        for array in (node.data, node.indices, node.indptr):
            buffers(array, found)
    elif is_dataclass(node):
        for one in fields(node):
            buffers(getattr(node, one.name), found)
    elif isinstance(node, Mapping | tuple | list):
        for value in node.values() if isinstance(node, Mapping) else node:
            buffers(value, found)
    return found


def size(model: object) -> int:
    return sum(array.nbytes for array in buffers(model, {}).values())


def wide_sheet(n: int, seed: int = 0) -> np.ndarray:
    """A sheet in 10 columns."""
    return np.hstack([sheet(n, seed), 0.1 * np.random.default_rng(seed).normal(size=(n, 7))])


@pytest.mark.parametrize("conformal", [False, True])
def test_isomap_of_5000_rows_with_200_landmarks_takes_less_than_10_megabytes(conformal):
    model = gramfold.Isomap(landmarks=200, conformal=conformal).fit(wide_sheet(5_000))
    less = small(model)
    assert size(less.model_) <= 9.5e6, "the file has a header too"
    assert len(pickle.dumps(less)) <= 10e6
    fresh = wide_sheet(300, seed=1)
    np.testing.assert_array_equal(less.transform(fresh), model.transform(fresh))


@pytest.mark.parametrize(
    "model",
    [
        gramfold.PCA(),
        gramfold.ProbabilisticPCA(),
        gramfold.MixturePPCA(),
        gramfold.FactorAnalysis(),
        gramfold.OrientedPCA(),
        gramfold.ProjectionPursuit(),
        gramfold.LPP(),
        gramfold.KernelPCA(landmarks=20),
        gramfold.LandmarkMDS(landmarks=20),
    ],
    ids=by_type,
)
def test_the_size_of_maps_of_columns_and_landmarks_does_not_grow_with_the_rows(model):
    few, many = (size(compacted(clone(model).fit(wide_sheet(n)).model_)) for n in (200, 800))
    assert many <= 1.2 * few + 1_000


@pytest.mark.parametrize("model", [gramfold.KernelPCA(), gramfold.ClassicalMDS(), gramfold.LLE()], ids=by_type)
def test_others_keep_rows_and_nothing_of_their_square(model):
    few, many = (size(compacted(clone(model).fit(wide_sheet(n)).model_)) for n in (200, 800))
    assert many <= 4.1 * few + 1_000


# --- nothing is kept that nobody reads


def leaves(node: object, path: tuple = ()):
    """Arrays in a model and where they are."""
    if isinstance(node, LeftOut):
        return
    if isinstance(node, np.ndarray) or issparse(node):
        yield path, node
    elif is_dataclass(node):
        for one in fields(node):
            yield from leaves(getattr(node, one.name), (*path, one.name))
    elif isinstance(node, Mapping):
        for name, value in node.items():
            yield from leaves(value, (*path, name))
    elif isinstance(node, tuple | list):
        for number, value in enumerate(node):
            yield from leaves(value, (*path, number))


def put(node: object, path: tuple, value: object) -> object:
    """The same model with something else there."""
    if not path:
        return value
    name, *rest = path
    if is_dataclass(node):
        return replace(node, **{name: put(getattr(node, name), tuple(rest), value)})
    if isinstance(node, Mapping):
        return {**node, name: put(node[name], tuple(rest), value)}
    return type(node)(put(one, tuple(rest), value) if i == name else one for i, one in enumerate(node))


# n numbers at most, or rows that are stored once more for nothing: kept for plainer code
SPARED = (
    "points",  # an index is not made without them
    "multiplicity",  # of a Laplacian that is not regularised; the array is `pull`
    "vertices",
    "number",
    "shortest",
)
TOLD_APART = ("KernelIsomap", "ClassicalMDS-constant", "ClassicalMDS-shift")  # rows at one place, by the distances


def twice(model: object, leaf: object) -> bool:
    """Whether an array is in a model under another name too."""
    return sum(other is leaf for _, other in leaves(model)) > 1


def fails(model: BaseEstimator, rows: object) -> bool:
    """Whether rows get no places."""
    try:
        placed(model, rows)
    except (AttributeError, TypeError, ValueError):  # some are asked for their kind first
        return True
    return False


def test_what_is_kept_is_read(case):
    case, model = case
    less = small(model)
    for path, leaf in leaves(less.model_):
        if path[0] == "found" or leaf.size < N or path[-1] in SPARED or twice(less.model_, leaf):
            continue
        if path[-1] == "array" and case.name.startswith(TOLD_APART):
            continue
        without = clone(less)
        without.model_ = put(less.model_, path, LeftOut("this"))
        assert any(fails(without, rows) for rows in (case.new, case.train, case.far) if rows is not None), path


# --- what it does not hold it says


def same_or_left_out(ask, model, less) -> bool:
    """The same answer, or the one sentence; whether there is an answer."""
    expected = ask(model)
    try:
        found = ask(less)
    except LeftOutError:
        return False
    np.testing.assert_array_equal(found, expected)
    return True


@pytest.mark.parametrize("rows", ["new", "train"])
def test_sensitivity_is_the_same_or_refused(case, rows):
    case, model = case
    if not hasattr(model, "sensitivity") or model.sensitivity_kind == "none":
        return
    less = small(model)
    answered = same_or_left_out(lambda one: one.sensitivity(getattr(case, rows)), model, less)
    if isinstance(model, gramfold.PCA | gramfold.KernelPCA | gramfold.LPP) and not issparse(case.train):
        assert answered, "nothing more than the map is needed"


ASKED = {
    "embedding_": lambda model: model.embedding_,
    "kept_": lambda model: model.kept_,
    "kernel_": lambda model: model.kernel_.dense(),
    "spectrum_": lambda model: model.spectrum_.eigenvectors,
    "inverse_transform": lambda model: model.inverse_transform(np.zeros((2, 2))),
    "inverse_error": lambda model: model.inverse_error(),
    "verdict": lambda model: model.verdict().kind,
    "leading_eigenvalues": lambda model: model.leading_eigenvalues(2),
    "negative_part": lambda model: model.negative_part(),
    "shares": lambda model: model.shares(),
    "of coordinates": lambda model: model.extrapolation(np.zeros((2, 2)), of="coordinates"),
}


@pytest.mark.parametrize("cls", [cls for cls in PLACING if hasattr(cls, "transform")], ids=by_name)
def test_what_was_left_out_is_refused_in_one_sentence(cls):
    model = cls().fit(sheet(60))
    less = small(model)
    for ask in ASKED.values():
        with pytest.raises(
            LeftOutError, match=r"was left out: this model was saved with compact=True .* save it without"
        ):
            ask(less)
    for name in ("graph_", "neighbors_", "dropped_edges_"):
        if hasattr(model, name):
            with pytest.raises(LeftOutError, match=f"^{name} was left out"):
                getattr(less, name)
    fresh = sheet(9, seed=1)
    same_or_left_out(lambda one: one.extrapolation(fresh, of="rows"), model, less)
    assert less.score(sheet(30, seed=1)) == model.score(sheet(30, seed=1))
    np.testing.assert_array_equal(less.get_feature_names_out(), model.get_feature_names_out())
    assert (less.n_features_in_, less.timings_, less.unit_) == (model.n_features_in_, model.timings_, model.unit_)
    shown = small(model).set_output(transform="pandas").transform(fresh)
    np.testing.assert_array_equal(shown.to_numpy(), model.transform(fresh))


def test_clusters_are_predicted_but_not_scored():
    model = gramfold.SpectralClustering(n_clusters=3).fit(sheet(80))
    less = small(model)
    for ask in (lambda: less.labels_, lambda: less.graph_, lambda: less.score(sheet(20, seed=1))):
        with pytest.raises(LeftOutError, match="was left out"):
            ask()


@pytest.mark.parametrize("cls", PLACING, ids=by_name)
def test_a_compact_model_can_be_looked_at_copied_and_fitted_again(cls):
    model = cls().fit(sheet(60))
    less = small(model)
    for other in (less, copy.deepcopy(less), pickle.loads(pickle.dumps(less))):
        np.testing.assert_array_equal(placed(other, sheet(9, seed=1)), placed(model, sheet(9, seed=1)))
    assert inspect.getmembers(less)
    assert not hasattr(less, "embedding_")
    assert "LeftOut" in repr(less.model_)
    assert less._repr_html_()
    assert compacted(less.model_) is less.model_
    np.testing.assert_array_equal(placed(less.fit(sheet(60)), sheet(9, seed=1)), placed(model, sheet(9, seed=1)))


def test_an_aligned_model_stays_in_its_frame():
    old, new = gramfold.Isomap().fit(sheet(80)), gramfold.Isomap(n_neighbors=10).fit(sheet(80))
    model = gramfold.align(new, old)
    less = small(model)
    np.testing.assert_array_equal(less.transform(sheet(9, seed=1)), model.transform(sheet(9, seed=1)))
    assert less.alignment_.scale == model.alignment_.scale
    assert "misfit" in repr(less.alignment_)
    with pytest.raises(LeftOutError, match="residuals was left out"):
        less.alignment_.residuals.mean()


def test_without_transform_there_is_no_compact_model():
    with pytest.raises(InputError, match="OrdinalMDS has no coordinates for new rows"):
        compacted(gramfold.OrdinalMDS().fit(sheet(30)).model_)


@pytest.mark.parametrize(
    "use",
    [
        np.asarray,
        len,
        list,
        np.sqrt,
        lambda one: one[0],
        lambda one: one.shape,
        lambda one: one + 1,
        lambda one: np.ones(3) @ one,
        lambda one: np.ones(3)[one],
        lambda one: one(),
        bool,
    ],
)
def test_what_was_left_out_cannot_be_used(use):
    for one in (LeftOut("kernel_"), copy.copy(LeftOut("kernel_")), pickle.loads(pickle.dumps(LeftOut("kernel_")))):
        assert repr(one) == "LeftOut('kernel_')"
        assert inspect.getmembers(one)
        with pytest.raises(LeftOutError, match=r"^kernel_ was left out"):
            use(one)


# --- rows far outside


@pytest.mark.parametrize("model", [gramfold.PCA(), gramfold.LPP(), gramfold.KernelPCA(landmarks=20)], ids=by_type)
def test_without_rows_only_rows_surely_outside_are_warned_of(model):
    X = wide_sheet(400)
    model = clone(model).fit(X)
    less, middle = small(model), X.mean(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExtrapolationWarning)
        less.transform(X)
        less.transform(wide_sheet(400, seed=5))
    for times in (1.5, 3.0, 10.0, 1e3):
        row = middle + times * (X[:1] - middle) * np.abs(X - middle).max() / np.linalg.norm(X[0] - middle)
        told, known = with_warnings(less, row)[1], with_warnings(model, row)[1]
        assert len(told) <= len(known), "never where the rows say otherwise"
        assert told or times < 3


# --- what of the training data it holds


def rows_found(model: object, X: np.ndarray) -> int:
    """The most training rows that are found, as they are, in one array of a model."""
    known, most = {row.tobytes() for row in np.asarray(X, dtype=np.float64) + 0.0}, 0
    for _, leaf in leaves(model):
        dense = leaf.toarray() if issparse(leaf) else leaf
        if dense.ndim == 2 and dense.shape[1] == X.shape[1] and dense.dtype.kind == "f":
            most = max(most, len({row.tobytes() for row in dense.astype(np.float64) + 0.0} & known))
    return most


def test_rows_that_are_found_are_told_of(case):
    case, model = case
    if isinstance(case.train, pd.DataFrame) or case.name.endswith(("-unit", "-precomputed")):
        return
    X = case.train.toarray() if issparse(case.train) else case.train
    for one in (model.model_, compacted(model.model_)):
        told = training_rows_in(one)
        assert rows_found(one, X) <= told.rows
        assert told.n_rows == len(X)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (gramfold.PCA(), "no training rows"),
        (gramfold.PCA(n_components=3), "no training rows"),
        (gramfold.LPP(), "no training rows"),
        (gramfold.KernelPCA(landmarks=20), "20 different rows of 120 training rows"),
        (
            gramfold.Isomap(landmarks=20),
            "all 120 training rows; coordinates of training rows; distances or kernel values between training rows",
        ),
    ],
)
def test_what_of_the_training_data_is_told_in_words(model, words):
    assert str(training_rows_in(compacted(model.fit(sheet(N)).model_))) == words


def test_coordinates_of_a_full_map_and_categories_are_told_of():
    whole = gramfold.PCA(n_components=3).fit(sheet(N)).model_
    assert "from those of a linear map rows can be computed back" in str(training_rows_in(whole))
    table = mixed(sheet(N))
    assert (
        "the categories of the columns"
        in training_rows_in(compacted(gramfold.Isomap(metric="gower").fit(table).model_)).others
    )
    given = gramfold.KernelPCA(kernel="precomputed").fit(sheet(N) @ sheet(N).T).model_
    assert training_rows_in(given).rows == 0
