"""Gower's distance against a double loop over the user's own table, and in every method that takes a metric."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsTransformer

from gramfold import (
    LLE,
    LPP,
    LTSA,
    SDE,
    ClassicalMDS,
    CommuteTime,
    DiffusionMap,
    HeatKernel,
    HessianLLE,
    Isomap,
    KernelEigenmaps,
    KernelIsomap,
    LandmarkIsomap,
    LandmarkMDS,
    LaplacianEigenmaps,
    ModifiedLLE,
    OrdinalMDS,
    SpectralClustering,
)
from gramfold.errors import InputError, NoPreimageError, NotNumbersError
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.mixed import MixedColumns, MixedTable
from tests.contract.test_plain_models import leaves_of_a_user

DISTANCES_ALONE = [
    Isomap,
    LandmarkIsomap,
    KernelIsomap,
    LaplacianEigenmaps,
    DiffusionMap,
    HeatKernel,
    CommuteTime,
    ClassicalMDS,
    LandmarkMDS,
]
VECTORS = [LLE, ModifiedLLE, HessianLLE, LTSA, SDE, LPP, KernelEigenmaps]


def people(n=120, gaps=0.1, seed=0):
    """Numbers, text, categories, booleans and gaps, along one line of ages so that a map has a shape."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(18, 80, n)
    frame = pd.DataFrame(
        {
            "age": age,
            "income": age * 900 + rng.normal(0, 4000, n),
            "children": pd.array(rng.integers(0, 4, n), dtype="Int64"),
            "town": rng.choice(["Ulm", "Köln", "Bonn"], n),
            "job": pd.Categorical(np.where(age > 60, "retired", np.where(age > 30, "working", "student"))),
            "member": rng.random(n) < 0.5,
            "same": 7.0,
        }
    )
    for j, name in enumerate(frame.columns):
        if name == "member":
            frame[name] = frame[name].astype("object")
        frame.loc[rng.random(n) < gaps * (j != 0), name] = None
    return frame


def absent(value):
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def plain_gower(new, known, numbers, weights=None):
    """The definition, cell by cell."""
    weights = np.ones(len(known.columns)) if weights is None else np.asarray(weights, dtype=float)
    spread = {name: float(known[name].dropna().max()) - float(known[name].dropna().min()) for name in numbers}
    table = np.empty((len(new), len(known)))
    for i in range(len(new)):
        for j in range(len(known)):
            total = shared = 0.0
            for c, name in enumerate(known.columns):
                a, b = new.iloc[i, c], known.iloc[j, c]
                if absent(a) or absent(b):
                    continue
                shared += weights[c]
                if name not in numbers:
                    total += weights[c] * (a != b)
                elif spread[name] > 0:
                    total += weights[c] * min(abs(float(a) - float(b)) / spread[name], 1.0)
            table[i, j] = total / shared
    return table


NUMBERS = ["age", "income", "children", "same"]


def encoded(frame, new=None, categorical=None):
    table = MixedTable.of(frame, categorical, 1)
    columns = MixedColumns.of(table)
    return columns.encode(table), None if new is None else columns.encode(MixedTable.of(new, categorical, 1))


@pytest.mark.parametrize("gaps", [0.0, 0.15])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 3.0, 1.0, 0.25, 1.0]])
def test_block_and_pairs_are_the_double_loop(gaps, weights):
    known, new = people(60, gaps), people(25, gaps, seed=1)
    new.loc[0, "age"], new.loc[1, "town"], new.loc[2, "same"] = 500.0, "Rom", 9.0  # unseen in training
    rows, others = encoded(known, new)
    metric = make_metric("gower", {"weights": weights}, rows)
    for left, frame in ((rows, known), (others, new)):
        block = metric.block(left, rows)
        np.testing.assert_allclose(block, plain_gower(frame, known, NUMBERS, weights), rtol=1e-12, atol=1e-14)
        i, j = (part.ravel() for part in np.indices(block.shape))
        assert np.array_equal(metric.pairs(left, i, rows, j, 1), block.ravel())


def test_every_reading_of_a_table_gives_the_same_rows():
    frame = people(40, 0.1)
    rows, _ = encoded(frame)
    plain = frame.astype(object).where(frame.notna(), None)
    lists = plain.to_numpy().tolist()
    readings = [
        plain,
        np.array(lists, dtype=object),
        lists,
        pl.DataFrame({name: plain[name].tolist() for name in plain}, strict=False),
        pl.DataFrame({name: plain[name].tolist() for name in plain}, strict=False).to_arrow(),
        frame.astype({"town": "string", "member": "boolean"}),
    ]
    for reading in readings:
        np.testing.assert_array_equal(encoded(reading)[0], rows)


def test_columns_of_numbers_may_be_categories():
    X = np.array([[1.0, 3.0], [2.0, 3.0], [5.0, np.nan], [9.0, 1.0]])
    frame = pd.DataFrame(X, columns=["kind", "size"])
    expected = np.array([[0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]])
    expected[:2, :2] /= 2
    for table, categorical in ((X, [0]), (X, [-2]), (frame, ["kind"]), (frame, [0])):
        rows, _ = encoded(table, categorical=categorical)
        np.testing.assert_allclose(make_metric("gower", {}, rows).block(rows, rows), expected)


def test_numbers_of_any_size_and_offset():
    column = np.array([-1.7e308, 0.0, 1.7e308])
    rows, _ = encoded(np.column_stack([column, 1.7e9 + np.array([0.0, 5.0, 10.0]), [0.0, 1e-310, 2e-310]]))
    np.testing.assert_allclose(rows, np.array([[0.0] * 3, [0.5] * 3, [1.0] * 3]), rtol=1e-9)


def test_two_new_rows_with_the_same_unseen_category_are_alike():
    rows, new = encoded(pd.DataFrame({"a": ["x", "y"]}), pd.DataFrame({"a": ["new", "other", "new", "x"]}))
    block = make_metric("gower", None, rows).block
    assert block(new, rows).tolist() == [[1.0, 1.0]] * 3 + [[0.0, 1.0]]
    assert block(new, new)[0].tolist() == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("method", DISTANCES_ALONE)
def test_methods_of_distances_map_mixed_rows(method):
    frame, new = people(150), people(20, seed=3)
    new.loc[4, "town"] = "Rom"
    options = {"landmarks": 60} if method in {LandmarkIsomap, LandmarkMDS} else {}
    model = method(metric="gower", **options).fit(frame)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert np.isfinite(model.embedding_).all()
    placed = model.transform(new)
    assert np.isfinite(placed).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(new), placed)
    np.testing.assert_array_equal(model.transform(new[::-1])[::-1], placed)
    assert np.isfinite(model.extrapolation(new, of="rows")).all()
    assert 0.5 < model.score(frame) <= 1
    with pytest.raises(NoPreimageError, match=f"{method.__name__} was fitted with metric='gower'"):
        model.inverse_transform(model.embedding_[:3])


@pytest.mark.parametrize("method", [Isomap, ClassicalMDS, LaplacianEigenmaps])
def test_a_map_is_that_of_the_double_loop(method):
    frame = people(90)
    distances = plain_gower(frame, frame, NUMBERS)
    found = method(metric="gower").fit(frame).embedding_
    np.testing.assert_allclose(found, method(metric="precomputed").fit(distances).embedding_, atol=1e-8)


def test_training_rows_keep_their_places_and_copies_collapse():
    frame = people(80)
    frame = pd.concat([frame, frame.iloc[:10]], ignore_index=True)
    model = Isomap(metric="gower").fit(frame)
    np.testing.assert_array_equal(model.embedding_[80:], model.embedding_[:10])
    assert len(np.unique(model.graph_.rows)) == 80
    whole = frame.notna().all(axis=1).to_numpy()
    np.testing.assert_allclose(model.transform(frame)[whole], model.embedding_[whole], atol=1e-12)


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")  # many rows have one place
@pytest.mark.parametrize("method", [Isomap, LaplacianEigenmaps, CommuteTime])
def test_a_training_row_at_distance_0_from_others_keeps_its_place(method):
    rng = np.random.default_rng(0)
    age = rng.random(150)
    kinds = np.array(list("uvwxyz"))[(6 * age).astype(int)]
    frame = pd.DataFrame({"a": (8 * age).round(), "b": kinds, "c": (5 * age).round(), "d": rng.choice(["p", "q"], 150)})
    frame = frame.mask((rng.random(frame.shape) < 0.25) & (np.arange(4) > 0))
    rows, _ = encoded(frame)
    copies = (np.nan_to_num(rows[:, None], nan=-9) == np.nan_to_num(rows, nan=-9)).all(axis=2)
    assert (make_metric("gower", None, rows).block(rows, rows)[~copies] == 0).sum() > 100
    model = method(metric="gower", n_neighbors=12).fit(frame)
    np.testing.assert_allclose(model.transform(frame), model.embedding_, atol=1e-12 * np.ptp(model.embedding_))


def test_rows_do_not_depend_on_threads():
    frame = people(400)
    one, two = (Isomap(metric="gower", n_jobs=n).fit(frame) for n in (1, 2))
    np.testing.assert_array_equal(one.neighbors_.indices, two.neighbors_.indices)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


def test_clusters_of_mixed_rows():
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1, 2], 40)
    frame = pd.DataFrame(
        {
            "size": 10.0 * label + rng.normal(0, 1, 120),
            "colour": np.array(["red", "green", "blue"])[label],
            "shape": rng.choice(["round", "square"], 120),
        }
    )
    frame.loc[::7, "colour"] = None
    found = SpectralClustering(3, n_neighbors=15, metric="gower", metric_params={"weights": [1.0, 1.0, 0.1]}).fit(frame)
    assert all(len(set(found.labels_[label == one])) == 1 for one in range(3))
    np.testing.assert_array_equal(found.predict(frame), found.labels_)


def test_a_model_is_plain_and_its_own():
    frame, categorical = people(40), ["children"]
    model = ClassicalMDS(metric="gower", metric_params={"categorical": categorical}).fit(frame)
    found = []
    leaves_of_a_user(model.model_, "model_", found)
    assert not found
    placed = model.transform(frame)
    categorical[:] = ["age"]
    np.testing.assert_array_equal(model.transform(frame), placed)


def test_ordinal_mds_of_mixed_rows():
    frame = people(30)
    distances = plain_gower(frame, frame, NUMBERS)
    found = OrdinalMDS(metric="gower").fit_transform(frame)
    np.testing.assert_allclose(found, OrdinalMDS(metric="precomputed").fit_transform(distances), atol=1e-4)


@pytest.mark.parametrize("method", VECTORS)
def test_methods_that_need_vectors_refuse(method):
    with pytest.raises(InputError, match=rf"^{method.__name__} .* metric='gower' has distances alone"):
        method(metric="gower").fit(people(40))


def refused(frame, sentence, new=None, error=InputError, **params):
    model = ClassicalMDS(metric="gower", metric_params=params or None)
    with pytest.raises(error, match=re.escape(sentence)):
        _ = model.fit(frame) if new is None else model.fit(frame).transform(new)


def test_what_cannot_be_compared_is_named():
    frame = people(20)
    bare = frame.copy()
    bare.loc[7] = None
    refused(bare, "row 7 of X has no known value")
    refused(frame, "row 0 of X has no known value", new=bare.iloc[[7]])
    apart = pd.DataFrame({"a": [1.0, None, 2.0], "b": ["x", "y", "x"], "c": [None, None, 3.0]})
    apart.loc[0, "b"] = None
    refused(apart, "rows 0 and 1 share no known column")
    known = pd.DataFrame({"a": [1.0, 3.0, 2.0], "b": [None, "y", "x"]})
    refused(known, "new row 1 and training row 0 share no known column", new=known.iloc[[1, 2]].assign(a=[1.0, None]))
    dated = frame.assign(born=pd.Timestamp("2000-01-01"))
    refused(dated, "column 'born' holds dates or times", error=NotNumbersError)
    refused(frame, "column 'age' holds 'old'", new=frame.assign(age="old"), error=NotNumbersError)
    refused(frame.assign(age=np.inf), "X contains infinity in row 0, column 'age'")
    refused(np.array([["1", "a"], ["2", "b"]]), "column 0 of it holds numbers as text", error=NotNumbersError)
    refused(frame, "X has no such column", categorical=["height"])
    refused(frame, "is not a list", categorical="town")
    refused(frame, "have shape (2,), but X has 7 columns", weights=[1.0, 2.0])
    refused(frame, "contain 0", weights=[0.0] * 7)
    refused(frame, "no parameter 'weight'", weight=[1.0])
    refused(frame, "feature names", new=frame.rename(columns={"age": "years"}), error=ValueError)
    with pytest.raises(InputError, match="approximate search supports"):
        Isomap(metric="gower", search="approximate").fit(frame)
    with pytest.raises(InputError, match="cannot read categories"):
        Isomap(metric="gower", search=KNeighborsTransformer()).fit(frame)
