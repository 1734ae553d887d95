"""Plans for tables of every kind: they run on the very table, and say why."""

import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.spatial import procrustes
from sklearn.datasets import load_digits

import gramfold
from gramfold.advice import Advice, LeaveOut
from gramfold.datasets import make_gaussian_clusters, make_s_curve, make_swiss_roll
from gramfold.diagnostics import faults
from gramfold.errors import GramfoldWarning, InputError

RNG = np.random.default_rng(0)
ROLL = make_swiss_roll(300, random_state=0).points


def frame(**columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"x": ROLL[:, 0], "y": ROLL[:, 1], "z": ROLL[:, 2], **columns})


def dates():
    pandas = pytest.importorskip("pandas")
    when = pandas.date_range("2020-01-01", periods=300)
    return frame(when=when, written=[str(day.date()) for day in when], lasted=when - when[0])


def gaps(share, rows=ROLL):
    return np.where(np.random.default_rng(3).random(rows.shape) < share, np.nan, rows)


def mixed():
    table = frame(kind=RNG.choice(["a", "b", "c"], 300), flag=RNG.random(300) < 0.5)
    table.loc[::9, "x"] = np.nan
    table.loc[::13, "kind"] = None
    return table


def polars_table():
    return pytest.importorskip("polars").DataFrame({"x": ROLL[:, 0], "y": ROLL[:, 1], "id": np.arange(300)})


def arrow_table():
    return pytest.importorskip("pyarrow").table({"x": ROLL[:, 0], "y": ROLL[:, 1], "id": np.arange(300)})


def nullable():
    pandas = pytest.importorskip("pandas")
    some = pandas.array([None if i % 7 == 0 else i * 0.37 for i in range(300)], dtype="Float64")
    return frame(some=some, whole=pandas.array(RNG.integers(0, 9, 300), dtype="Int64"))


def distances():
    return np.linalg.norm(ROLL[:100, None] - ROLL[:100], axis=2)


# the table, and what a plan for it must say
TABLES = {
    "an id": (lambda: np.column_stack([np.arange(300), ROLL]), {"left_out": (0,), "scaling": "none"}),
    "units": (lambda: ROLL * [1, 1e4, 1], {"scaling": "standardise"}),
    "units and outliers": (
        lambda: np.vstack([ROLL, ROLL[:3] + 300]) * [1, 1e4, 1],
        {"scaling": "robust"},
    ),
    "gaps": (lambda: gaps(0.05), {"gaps": "nearest"}),
    "gaps in half of the values": (lambda: gaps(0.45), {"gaps": "nearest"}),
    "categories and gaps": (mixed, {"metric": "euclidean", "left_out": ("kind",), "gaps": "nearest"}),
    "mostly categories": (
        lambda: mixed()[["x", "y", "kind"]].assign(**{f"t{j}": RNG.choice(["u", "v"], 300) for j in range(4)}),
        {"metric": "gower", "gaps": "metric", "left_out": ()},
    ),
    "one column of numbers": (
        lambda: frame(kind=RNG.choice(["a", "b"], 300))[["x", "kind"]],
        {"metric": "gower", "left_out": ()},
    ),
    "categories alone": (
        lambda: np.array([["a", "b"][i % 2] + "xyz"[i % 3] for i in range(120)], dtype=object).reshape(40, 3),
        {"metric": "gower"},
    ),
    "copies": (lambda: np.repeat(ROLL[:100], 3, axis=0), {}),
    "five rows, copied": (lambda: np.repeat(ROLL[:5], 40, axis=0), {"method": "PCA"}),
    "3 rows": (lambda: ROLL[:3], {"method": "PCA", "n_components": 2}),
    "2 rows": (lambda: ROLL[:2], {"method": "PCA", "n_components": 1}),
    "more columns than rows": (lambda: np.random.default_rng(1).normal(size=(30, 400)), {"method": "PCA"}),
    "outliers": (lambda: np.vstack([ROLL, ROLL[:3] + 300]), {"scaling": "none"}),
    "sparse counts": (lambda: csr_array(np.random.default_rng(1).poisson(0.05, (200, 500))), {"scaling": "logarithm"}),
    "sparse numbers": (lambda: random_array((200, 300), density=0.05, rng=0, format="csr"), {"scaling": "length"}),
    "dense counts": (lambda: np.random.default_rng(1).poisson(0.3, (200, 40)), {"scaling": "logarithm"}),
    "constant columns": (
        lambda: np.column_stack([np.ones(300), ROLL, np.full(300, np.nan)]),
        {"left_out": (0, 4)},
    ),
    "text": (lambda: frame(name=[f"n{i}" for i in range(300)]), {"left_out": ("name",)}),
    "dates": (dates, {"left_out": ("when", "written", "lasted")}),
    "groups": (lambda: make_gaussian_clusters(300, n_clusters=4, n_features=8, random_state=0).points, {}),
    "one column": (lambda: np.random.default_rng(1).normal(size=(100, 1)), {"n_components": 1}),
    "bits": (lambda: np.random.default_rng(1).random((200, 12)) < 0.3, {"scaling": "none"}),
    "a list": (lambda: ROLL[:60].tolist(), {}),
    "a list with text": (lambda: [[0.1 * i * i, "ab"[i % 2], float(i % 7)] for i in range(80)], {"left_out": (1,)}),
    "an array of text": (lambda: np.column_stack([ROLL[:80].astype(str), ["m", "f"] * 40]), {"left_out": (3,)}),
    "numbers as objects": (lambda: ROLL[:80].astype(object), {"metric": "euclidean"}),
    "nullable columns": (nullable, {"gaps": "nearest"}),
    "polars": (polars_table, {"left_out": ("id",)}),
    "Arrow": (arrow_table, {"left_out": ("id",)}),
    "distances": (distances, {"metric": "precomputed"}),
    "float32": (lambda: ROLL.astype(np.float32), {}),
    "very large": (lambda: ROLL * 1e140, {"scaling": "none"}),
    "very small": (lambda: ROLL * 1e-200, {"scaling": "none"}),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")  # of the map; what was seen stands in the notes
def test_the_plan_runs_on_the_table(name, monkeypatch):
    monkeypatch.setattr("gramfold.advice.trial.ROWS", 150)  # that trials are quick
    make, expected = TABLES[name]
    X = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error", GramfoldWarning)  # advice itself warns of nothing
        advice = gramfold.advise(X)
    assert {key: getattr(advice, key).value for key in expected} == expected
    places = advice.estimator.fit_transform(X)
    assert places.shape == (advice.n_rows, advice.n_components.value)
    assert np.isfinite(places).all()
    made = {"X": X}
    exec(advice.code, made)
    np.testing.assert_allclose(made["embedding"], places)
    assert all(item.reason and not item.reason.endswith(".") for _, item in advice)
    assert advice.method.value in str(advice)


@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")  # rows of one text are a component
def test_text_is_compared_where_it_is_asked_for():
    table = mixed()
    advice = gramfold.advise(table, metric="gower")
    assert (advice.left_out.value, advice.metric.value, advice.metric.reason) == ((), "gower", "it was asked for")
    assert np.isfinite(advice.estimator.fit_transform(table)).all()
    assert "'kind': it holds text (the metric gower would compare" in gramfold.advise(table).left_out.reason
    with pytest.raises(InputError, match="metric='cosine' is not known: use 'auto' or 'gower'"):
        gramfold.advise(table, metric="cosine")


def test_two_columns_of_other_units_are_standardised():
    rng = np.random.default_rng(0)
    strip = rng.normal(size=(400, 2)) * [30, 1]
    assert gramfold.advise(strip).scaling.value == "none"
    strip[:, 0] *= 400
    assert gramfold.advise(strip).scaling.value == "standardise"


def test_columns_that_are_left_out_fit_no_noise():
    table = pytest.importorskip("pandas").DataFrame(ROLL[:5, [0, 1, 2, 0]]).assign(a="u", b="v", c="w")
    assert gramfold.advise(table).left_out.value == ("a", "b", "c")
    assert not any("more columns" in note for note in gramfold.advise(table).notes)


def test_the_sheet_that_units_and_an_id_hide():
    roll = make_swiss_roll(700, random_state=3)
    table = np.column_stack([roll.points * [1, 5000, 1], np.random.default_rng(1).permutation(700)])
    found = gramfold.advise(table).estimator.fit_transform(table)
    assert procrustes(roll.truth, found)[2] < 0.05
    hidden = gramfold.Isomap().fit_transform
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        assert procrustes(roll.truth, hidden(table))[2] > 0.5


def test_what_is_linear_needs_no_graph():
    rng = np.random.default_rng(1)  # its own: the order of tests must not matter
    plane = rng.uniform(size=(400, 2)) @ rng.normal(size=(2, 12)) + 0.01 * rng.normal(size=(400, 12))
    advice = gramfold.advise(plane)
    assert advice.method.value == "PCA"
    assert advice.n_neighbors.value is None
    assert "linear map has 100% of the variance" in advice.method.reason


def test_rows_without_a_shape_need_no_graph():
    advice = gramfold.advise(np.random.default_rng(1).normal(size=(600, 30)))
    assert advice.method.value == "PCA"
    assert advice.method.reason.startswith("no map of so few dimensions shows a shape")


def test_wide_rows_are_judged_by_their_distances():
    roll = make_swiss_roll(300, random_state=0).points
    wide = roll @ np.linalg.qr(np.random.default_rng(1).normal(size=(400, 3)))[0].T
    one, other = gramfold.advise(roll), gramfold.advise(wide)
    assert one.method == other.method
    assert one.n_neighbors.value == other.n_neighbors.value


def test_columns_of_noise_are_not_standardised():
    points = make_swiss_roll(400, extra_dimensions=20, random_state=0).points
    advice = gramfold.advise(points)
    assert advice.scaling.value == "none"
    assert "look like noise" in advice.scaling.reason


@pytest.mark.slow
def test_few_loose_rows_do_not_take_the_coordinates_of_the_advised_map():
    X = load_digits().data
    advice = gramfold.advise(X)
    assert advice.method.value == "LaplacianEigenmaps"
    places = advice.estimator.fit_transform(X)
    assert "collapsed" not in faults(X, places, sample=600).named
    kept = gramfold.LaplacianEigenmaps(n_neighbors=advice.n_neighbors.value).fit_transform(X)
    assert "collapsed" in faults(X, kept, sample=600).named


def test_a_map_that_shows_groups_alone_is_noted():
    groups = make_gaussian_clusters(700, n_clusters=5, n_features=10, random_state=0).points
    advice = gramfold.advise(groups)
    assert advice.method.value == "LaplacianEigenmaps"
    assert advice.estimator.loose_rows == "trim"
    assert "collapsed" in faults(groups, advice.estimator.fit_transform(groups)).named
    (note,) = (note for note in advice.notes if "cannot be told apart" in note)
    assert "Isomap with 8 neighbours keeps 20%" in note
    assert not any("told apart" in note for note in gramfold.advise(ROLL).notes)


def test_many_rows_have_landmarks():
    points = make_swiss_roll(30_000, random_state=0).points
    advice = gramfold.advise(points)
    assert advice.method.value == "Isomap"
    assert advice.landmarks.value == advice.estimator.landmarks == 300
    assert "7.2 GB" in advice.landmarks.reason


def test_classes_are_used_where_they_help():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = rng.normal(size=(300, 8)) * np.repeat([1.0, 3.0], [2, 6])
    X[:, :2] += 3 * np.eye(3)[y, :2]  # two quiet columns of eight know
    advice = gramfold.advise(X, y)
    assert advice.supervised
    assert advice.method.value == "LPP"
    assert "by chance up to 38%" in advice.method.reason
    assert advice.estimator.fit_transform(X, y).shape == (300, 2)
    assert "fit_transform(X, y)" in advice.code


@pytest.mark.parametrize("number", [2, 3, 5])
def test_classes_by_chance_are_not_used(number):
    used = []
    for seed in range(4):  # one half of the rows, without noise in mind, took up every third
        advice = gramfold.advise(ROLL, np.random.default_rng(seed).integers(number, size=len(ROLL)))
        used.append(advice.supervised)
        assert any("by chance up to" in note for note in advice.notes)
    assert not any(used)


def test_classes_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    table = frame().set_index(pandas.Index([f"r{i}" for i in range(len(ROLL))]))
    y = pandas.Series(np.arange(len(ROLL)) % 2, index=table.index)
    gramfold.advise(table, y)
    with pytest.raises(InputError, match=r"X and y have the same index in different orders.*y\.loc\[X\.index\]"):
        gramfold.advise(table, y[::-1])


def test_classes_that_do_not_help_are_not_used():
    X, y = load_digits(return_X_y=True)
    advice = gramfold.advise(X[:600], y[:600])
    assert not advice.supervised
    assert any(note.startswith("y is not used") for note in advice.notes)


def test_numbers_are_no_classes():
    curve = make_s_curve(300, random_state=0)
    advice = gramfold.advise(curve.points, curve.truth[:, 0])
    assert not advice.supervised
    assert any("no classes" in note for note in advice.notes)


def test_advice_is_frozen_and_the_same_each_time():
    advice = gramfold.advise(ROLL)
    assert isinstance(advice, Advice)
    with pytest.raises(FrozenInstanceError):
        advice.method = None
    assert str(gramfold.advise(ROLL)) == str(advice)
    assert repr(advice) == f"Advice({advice.summary})"


def test_what_is_no_table_of_measurements():
    with pytest.raises(InputError, match=r"no column of X is left for a map \(column 0: it counts the rows"):
        gramfold.advise(np.column_stack([np.arange(50), np.ones(50)]))
    with pytest.raises(InputError, match="column 1 holds infinity"):
        gramfold.advise(np.where(np.arange(9).reshape(3, 3) == 4, np.inf, ROLL[:3]))
    with pytest.raises(InputError, match="y has shape"):
        gramfold.advise(ROLL, [1, 2])
    with pytest.raises(InputError, match="got 1D array"):
        gramfold.advise(ROLL[0])
    with pytest.raises(InputError, match="every value of X is 0"):
        gramfold.advise(csr_array((300, 10)))
    with pytest.raises(InputError, match=r"column 0 holds values as large as \de\+2\d\d, whose squares overflow"):
        gramfold.advise(ROLL * 1e200)
    with pytest.raises(InputError, match="X holds values as large as"):
        gramfold.advise(csr_array(ROLL * 1e200))


def test_a_numpy_matrix_is_read_as_the_array_it_holds():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(ROLL)
    assert str(gramfold.advise(matrix)) == str(gramfold.advise(ROLL))
    np.testing.assert_array_equal(gramfold.Isomap().fit_transform(matrix), gramfold.Isomap().fit_transform(ROLL))
    assert gramfold.compare(matrix, ["pca"])["pca"].measures["r_nx"].value > 0


@pytest.mark.parametrize("seed", [-1, "a", 1.5])
def test_what_is_no_seed(seed):
    with pytest.raises(InputError, match=r"random_state=.* is no seed: pass a whole number"):
        gramfold.advise(ROLL, random_state=seed)


def test_truth_values_may_be_missing():
    pandas = pytest.importorskip("pandas")
    table = frame(t=pandas.array([True, False, None] * 100, dtype="boolean"))
    advice = gramfold.advise(table)
    assert advice.gaps.value == "nearest"
    assert np.isfinite(advice.estimator.fit_transform(table)).all()


def test_sparse_columns_are_read_as_a_sparse_matrix():
    pandas = pytest.importorskip("pandas")
    matrix = random_array((200, 30), density=0.2, rng=0, format="csr")
    table = pandas.DataFrame.sparse.from_spmatrix(matrix)
    advice = gramfold.advise(table)
    assert str(advice) == str(gramfold.advise(matrix))
    expected = advice.estimator.fit_transform(matrix)
    np.testing.assert_allclose(procrustes(expected, advice.estimator.fit_transform(table))[2], 0.0, atol=1e-8)
    partly = frame(few=pandas.arrays.SparseArray(np.arange(300) % 3 * 1.0))
    dense = partly.astype({"few": float})
    advice = gramfold.advise(partly)
    assert str(advice) == str(gramfold.advise(dense))
    assert advice.estimator.fit_transform(partly).shape == (300, advice.n_components.value)


@pytest.mark.parametrize("kind", ["timestamp", "date", "tuple"])
def test_the_code_names_columns_of_dates(kind):
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2020-01-01", periods=4)
    names = {"timestamp": days, "date": list(days.date), "tuple": pandas.MultiIndex.from_product([["a"], days])}
    table = pandas.DataFrame(np.column_stack([ROLL, np.arange(300)]), columns=names[kind])
    advice = gramfold.advise(table)
    assert advice.left_out.value == (table.columns[3],)
    known = {"X": table}
    exec(advice.code, known)
    assert known["embedding"].shape == (300, 2)


# --- the step that leaves columns out


def test_columns_are_left_out_by_name_and_by_position():
    table = frame(name=["a"] * 300)
    np.testing.assert_array_equal(LeaveOut(["name", "y"]).fit_transform(table), ROLL[:, [0, 2]])
    np.testing.assert_array_equal(LeaveOut([1]).fit_transform(ROLL), ROLL[:, [0, 2]])
    step = LeaveOut(["name"]).fit(table)
    assert step.get_feature_names_out().tolist() == ["x", "y", "z"]
    with pytest.raises(InputError, match="no column 'age' to leave out"):
        LeaveOut(["age"]).fit(table)
    with pytest.raises(InputError, match="expecting 4 features"):
        step.transform(ROLL)
