"""`gramfold transform`, `inverse` and `info`: what Python does with the same model, in the words of a table."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array, random_array, save_npz
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

import gramfold
from gramfold.advice import LeaveOut
from gramfold.cli import main
from gramfold.datasets import make_gaussian_clusters, make_swiss_roll

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.ScaleWarning")  # units are part of the tests

N, NEW = 120, 30
ROLL = make_swiss_roll(N + NEW, length=30, height=8, random_state=0)
ROWS = pd.DataFrame(ROLL.points, columns=["a", "b", "c"]).assign(
    name=[f"{row:03d}" for row in range(N + NEW)],
    kind=np.where(ROLL.truth[:, 0] > np.median(ROLL.truth[:, 0]), "far", "near"),
)
ROWS["b"] *= 1000  # in other units
OLD, FRESH = ROWS[:N], ROWS[N:].reset_index(drop=True)
NUMBERS = ["a", "b", "c"]


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def done(*words):
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result


def refused(*words):
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to stand in, with a model of a table that has ids and texts, and new rows."""
    monkeypatch.chdir(tmp_path)
    FRESH.to_csv("new.csv", index=False)
    gramfold.save(embedded(), "roll.gramfold")
    return tmp_path


def embedded(table=OLD, method="isomap", **how):
    """The pipeline that `embed` makes: columns by name, left out, scaled."""
    if "kind" in table and "metric" not in how:
        how = {"color": "kind", **how}
    _, model = gramfold.embed(table, method, draw=False, return_model=True, verbose=0, **how)
    return model


def fit(*steps):
    return make_pipeline(*steps).fit(OLD[NUMBERS])


# --------------------------------------------------------------------------------------- transform


@pytest.mark.parametrize(
    "model",
    [
        lambda: embedded(),
        lambda: embedded(method="pca", scale="none"),
        lambda: embedded(method="auto"),
        lambda: embedded(method="laplacian_eigenmaps", n_components=3),
        lambda: embedded(OLD[[*NUMBERS, "kind"]], "isomap", metric="gower", n_neighbors=60),
        lambda: fit(StandardScaler(), gramfold.PCA()),
        lambda: fit(RobustScaler(), KNNImputer(), gramfold.KernelPCA()),
        lambda: fit(make_pipeline(MinMaxScaler(), "passthrough"), gramfold.LLE()),
        lambda: gramfold.Isomap(n_neighbors=7).fit(OLD[NUMBERS]),
        lambda: make_pipeline(
            make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(sparse_output=False), ["kind"])),
            gramfold.PCA(),
        ).fit(OLD),
    ],
)
@pytest.mark.parametrize("compact", [False, True])
def test_new_rows_are_placed_as_python_places_them(model, compact, folder):
    fitted = model()
    gramfold.save(fitted, "one.gramfold", compact=compact)
    names = getattr(fitted, "feature_names_in_", NUMBERS)
    expected = np.asarray(fitted.transform(FRESH[list(names)]))
    shuffled = FRESH.assign(more=1.0)[["more", "kind", "c", "name", "a", "b"]]
    shuffled.to_csv("shuffled.csv", index=False)
    done("transform", "one.gramfold", "shuffled.csv", "--out", "placed.csv")
    placed = pd.read_csv("placed.csv")
    assert list(placed.columns) == list((fitted[-1] if hasattr(fitted, "steps") else fitted).get_feature_names_out())
    np.testing.assert_allclose(placed.to_numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "ending", [".csv", ".tsv", ".csv.gz", ".npy", ".npz", ".parquet", ".feather", ".xlsx", ".h5ad"]
)
def test_every_kind_of_file_is_read_and_written(ending, folder):
    if ending in (".xlsx", ".h5ad"):
        pytest.importorskip("python_calamine" if ending == ".xlsx" else "h5py")
    gramfold.io.write_table(f"rows{ending}", FRESH[NUMBERS].to_numpy(), NUMBERS)
    gramfold.save(embedded(OLD[NUMBERS]), "three.gramfold")
    done("transform", "three.gramfold", f"rows{ending}", "--out", f"placed{ending}")
    expected = embedded(OLD[NUMBERS]).transform(FRESH[NUMBERS])
    np.testing.assert_allclose(gramfold.io.read_table(f"placed{ending}").values, expected, rtol=1e-9)


def test_without_out_the_file_stands_beside_the_table_and_is_named(folder):
    (folder / "week").mkdir()
    FRESH.to_csv("week/new.csv.gz", index=False)
    told = done("transform", "roll.gramfold", "week/new.csv.gz").output
    assert told.splitlines() == [
        "Isomap placed 30 new rows on a map of 2 dimensions",
        "  not used  name, kind",
        "  outside   no row lies far outside of the training rows",
        f"  placed    {folder / 'week' / 'new.placed.csv'}",
    ]
    assert sorted(path.name for path in (folder / "week").iterdir()) == ["new.csv.gz", "new.placed.csv"]


def test_ids_and_chosen_columns_are_kept_as_they_are_written(folder):
    done("transform", "roll.gramfold", "new.csv", "--id", "name", "--keep", "kind,a", "--out", "placed.csv")
    placed = pd.read_csv("placed.csv", dtype={"name": str})
    assert list(placed.columns) == ["name", "isomap0", "isomap1", "kind", "a"]
    assert placed.name.tolist() == FRESH.name.tolist()  # 007 is not 7
    assert placed.kind.tolist() == FRESH.kind.tolist()
    np.testing.assert_allclose(placed.a, FRESH.a)
    done("transform", "roll.gramfold", "new.csv", "--keep", "all", "--out", "all.parquet")
    assert list(pd.read_parquet("all.parquet").columns) == ["isomap0", "isomap1", *FRESH.columns]


def test_a_semicolon_table_in_latin_1_is_read_and_told(folder):
    FRESH.rename(columns={"name": "Größe"}).to_csv("neu.csv", index=False, sep=";", decimal=",", encoding="latin-1")
    told = done("transform", "roll.gramfold", "neu.csv", "--out", "placed.csv").output
    assert "  read      text in Windows-1252 (Latin-1), separated by semicolons, decimal comma" in told
    expected = embedded().transform(FRESH)
    np.testing.assert_allclose(pd.read_csv("placed.csv"), expected, rtol=1e-6)


def test_rows_with_gaps_are_filled_in_by_a_model_that_does(folder):
    old, fresh = OLD.copy(), FRESH.copy()
    old.loc[::9, "b"] = np.nan
    fresh.loc[[2, 5], "b"] = np.nan
    fresh.to_csv("gaps.csv", index=False)
    fills = embedded(old)
    gramfold.save(fills, "fills.gramfold")
    done("transform", "fills.gramfold", "gaps.csv", "--out", "placed.csv")
    np.testing.assert_allclose(pd.read_csv("placed.csv"), fills.transform(fresh), rtol=1e-9)
    told = refused("transform", "roll.gramfold", "gaps.csv", "--out", "no.csv")
    assert "has no value in column 'b', line 4 (2 of 30 rows have gaps that the model does not fill in)" in told
    assert not (folder / "no.csv").exists()
    told = done("transform", "roll.gramfold", "gaps.csv", "--missing", "drop", "--out", "some.csv").output
    assert "left out  2 rows with gaps; no place (nan)" in told
    some = pd.read_csv("some.csv")
    assert some.index[some.isna().all(axis=1)].tolist() == [2, 5]
    known = fresh.dropna()
    np.testing.assert_allclose(some.dropna(), embedded().transform(known), rtol=1e-9)


def test_a_cell_that_is_no_number_is_named_with_its_place(folder):
    odd = FRESH.astype({"b": object})
    odd.loc[4, "b"] = "broken"
    odd.to_csv("odd.csv", index=False)
    assert "has 'broken' in column 'b', line 6, where" in refused("transform", "roll.gramfold", "odd.csv")
    odd.astype({"b": str}).to_parquet("odd.parquet")
    assert "in column 'b', row 0 counted from 0, where" in refused("transform", "roll.gramfold", "odd.parquet")
    FRESH.assign(b=pd.Timestamp("2024-05-01")).to_parquet("dates.parquet")
    assert "'2024-05-01" in refused("transform", "roll.gramfold", "dates.parquet")


def test_a_column_that_is_empty_is_filled_in_too(folder):
    old = OLD.copy()
    old.loc[::9, "b"] = np.nan
    fills = embedded(old)
    gramfold.save(fills, "fills.gramfold")
    empty = FRESH.assign(b=np.nan)
    empty.to_csv("empty.csv", index=False)
    done("transform", "fills.gramfold", "empty.csv", "--out", "placed.csv")
    np.testing.assert_allclose(pd.read_csv("placed.csv"), fills.transform(empty), rtol=1e-9)
    told = refused("transform", "roll.gramfold", "empty.csv", "--missing", "drop", "--out", "none.csv")
    assert "gaps in all of its 30 rows" in told


@pytest.mark.parametrize("method", ["isomap", "pca", "laplacian_eigenmaps"])
def test_rows_far_outside_are_counted_and_named(method, folder):
    model = embedded(method=method)
    gramfold.save(model, "one.gramfold")
    far = FRESH.copy()
    far.loc[7, NUMBERS] *= 50
    far.to_csv("far.csv", index=False)
    result = done("transform", "one.gramfold", "far.csv", "--extrapolation", "--out", "placed.csv")
    prepared = model[:-1].transform(far)
    expected = model[-1].extrapolation(prepared, of="rows")
    assert "1 row farther than 3 neighbourhood radii from the training rows" in result.stdout
    assert f": 7 ({expected[7]:.3g}) (rows counted from 0)" in result.stdout
    assert result.stderr == ""  # told once
    placed = pd.read_csv("placed.csv")
    assert placed.columns[-1] == "extrapolation"
    np.testing.assert_allclose(placed.extrapolation, expected, rtol=1e-9)
    facts = json.loads(done("transform", "one.gramfold", "far.csv", "--json", "--out", "again.csv").stdout)
    assert facts["far_outside"] == [7]
    assert facts["columns_not_used"] == ["name", "kind"]
    assert list(pd.read_csv("again.csv").columns) == facts["coordinates"]


def test_clusters_are_assigned(folder):
    groups = make_gaussian_clusters(N, random_state=0).points
    model = gramfold.SpectralClustering(n_clusters=3).fit(groups)
    gramfold.save(model, "groups.gramfold")
    np.save("groups.npy", groups[:40])
    told = done("transform", "groups.gramfold", "groups.npy", "--out", "clusters.csv").output
    expected = model.predict(groups[:40])
    assert pd.read_csv("clusters.csv").cluster.tolist() == expected.tolist()
    assert told.startswith("SpectralClustering assigned 40 new rows to 3 clusters\n")
    assert f"sizes     {', '.join(map(str, np.bincount(expected)))}" in told
    assert "no extrapolation" in refused("transform", "groups.gramfold", "groups.npy", "--extrapolation")
    np.save("map.npy", groups[:4, :1])
    assert "clusters and no map" in refused("inverse", "groups.gramfold", "map.npy")


def test_columns_are_matched_by_position_where_one_side_has_no_names(folder):
    expected = embedded().transform(FRESH)
    np.save("new.npy", FRESH[NUMBERS].to_numpy())
    told = done("transform", "roll.gramfold", "new.npy", "--out", "placed.csv").output
    assert "columns   3 columns matched by position, since the table has no column names" in told
    np.testing.assert_allclose(pd.read_csv("placed.csv"), expected, rtol=1e-9)
    FRESH.to_csv("bare.csv", index=False, header=False)
    done("transform", "roll.gramfold", "bare.csv", "--no-header", "--out", "placed.csv")  # as wide as the old table
    np.testing.assert_allclose(pd.read_csv("placed.csv"), expected, rtol=1e-9)
    made_up = gramfold.PCA().fit(OLD[NUMBERS].set_axis(["x0", "x1", "x2"], axis=1))  # as `embed` calls those of arrays
    gramfold.save(made_up, "made_up.gramfold")
    told = done("transform", "made_up.gramfold", "new.csv", "--skip", "name,kind", "--out", "placed.csv").output
    assert "columns   3 columns matched by position, since the model has no column names" in told
    np.testing.assert_allclose(
        pd.read_csv("placed.csv"), made_up.transform(FRESH[NUMBERS].set_axis(["x0", "x1", "x2"], axis=1)), rtol=1e-9
    )
    gramfold.save(gramfold.Isomap().fit(OLD[NUMBERS].to_numpy()), "nameless.gramfold")
    told = done("transform", "nameless.gramfold", "new.csv", "--id", "name", "--out", "placed.csv").output
    assert "columns   3 columns matched by position, since the model has no column names\n  not used  kind" in told
    np.testing.assert_allclose(
        pd.read_csv("placed.csv")[["isomap0", "isomap1"]],
        gramfold.Isomap().fit(OLD[NUMBERS].to_numpy()).transform(FRESH[NUMBERS].to_numpy()),
        rtol=1e-9,
    )


def test_sparse_rows_are_placed(folder):
    words = csr_array(random_array((N, 40), density=0.2, rng=np.random.default_rng(0)))
    model = gramfold.Isomap(metric="cosine").fit(words)
    gramfold.save(model, "words.gramfold")
    save_npz("words.npz", words[:20])
    done("transform", "words.gramfold", "words.npz", "--out", "placed.csv")
    np.testing.assert_allclose(pd.read_csv("placed.csv"), model.transform(words[:20]), rtol=1e-9, atol=1e-12)
    save_npz("few.npz", words[:20, :30])
    assert "has 30 columns, and the model was fitted on 40" in refused("transform", "words.gramfold", "few.npz")
    assert "leave out --id" in refused("transform", "words.gramfold", "words.npz", "--id", "name")


# ----------------------------------------------------------------------------------------- inverse


@pytest.mark.parametrize("scaler", [StandardScaler(), RobustScaler(), MinMaxScaler(), PowerTransformer()])
@pytest.mark.parametrize("imputer", ["passthrough", SimpleImputer(), KNNImputer()])
def test_rows_come_back_in_the_units_of_the_table(scaler, imputer, folder):
    model = make_pipeline(LeaveOut(["kind", "name"]), scaler, imputer, gramfold.PCA(n_components=3)).fit(OLD)
    gramfold.save(model, "whole.gramfold")
    done("transform", "whole.gramfold", "new.csv", "--id", "name", "--keep", "kind", "--out", "new.map.csv")
    told = done("inverse", "whole.gramfold", "new.map.csv", "--id", "name").output
    rows = pd.read_csv("new.rows.csv", dtype={"name": str})
    assert list(rows.columns) == ["name", *NUMBERS]  # the left-out columns are not made up
    assert rows.name.tolist() == FRESH.name.tolist()
    np.testing.assert_allclose(rows[NUMBERS], FRESH[NUMBERS], rtol=1e-8, atol=1e-8)
    assert told.splitlines()[:2] == [
        "PCA computed 30 rows of 3 columns for coordinates",
        "  absent    name, kind, which the map was not made of",
    ]
    assert "error     0.0% of the spread of the rows, over all columns together" in told


def test_rows_of_a_curved_map_come_back_with_the_error_that_is_told(folder):
    model = embedded()
    done("transform", "roll.gramfold", "new.csv", "--out", "map.csv")
    told = done("inverse", "roll.gramfold", "map.csv", "--out", "rows.csv").output
    places = pd.read_csv("map.csv").to_numpy()
    expected = model[1].inverse_transform(model[-1].inverse_transform(places))
    np.testing.assert_allclose(pd.read_csv("rows.csv"), expected, rtol=1e-8, atol=1e-8)
    assert f"error     {model[-1].inverse_error():.1%} of the spread of the rows, over all columns together" in told
    facts = json.loads(done("inverse", "roll.gramfold", "map.csv", "--json", "--out", "rows.csv").stdout)
    assert facts["inverse_error"] == pytest.approx(model[-1].inverse_error())
    assert facts["columns"] == NUMBERS


def test_functions_are_undone_where_their_inverse_is_known(folder):
    positive = OLD[NUMBERS] - OLD[NUMBERS].min() + 1
    for function in (np.log1p, np.sqrt, np.arcsinh, None):
        model = make_pipeline(FunctionTransformer(function), gramfold.PCA(n_components=3)).fit(positive)
        gramfold.save(model, "one.gramfold")
        pd.DataFrame(model.transform(positive), columns=["pca0", "pca1", "pca2"]).to_csv("map.csv", index=False)
        done("inverse", "one.gramfold", "map.csv", "--out", "rows.csv")
        np.testing.assert_allclose(pd.read_csv("rows.csv"), positive, rtol=1e-8)


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (Normalizer(), "Normalizer"),
        (FunctionTransformer(np.abs), "FunctionTransformer (absolute)"),
        (make_column_transformer((StandardScaler(), NUMBERS)), "ColumnTransformer"),
        (SimpleImputer(add_indicator=True), "SimpleImputer"),
    ],
)
def test_a_step_that_cannot_be_undone_is_named(step, name, folder):
    gaps = OLD[NUMBERS].copy()
    if isinstance(step, SimpleImputer):
        gaps.loc[3, "a"] = np.nan
    gramfold.save(make_pipeline(step, gramfold.PCA()).fit(gaps), "one.gramfold")
    pd.DataFrame(np.zeros((2, 2)), columns=["pca0", "pca1"]).to_csv("map.csv", index=False)
    told = refused("inverse", "one.gramfold", "map.csv", "--out", "rows.csv")
    assert f"has the step {name} before the map, which cannot be undone" in told
    assert not (folder / "rows.csv").exists()


def test_columns_that_a_step_left_out_are_absent(folder):
    model = make_pipeline(VarianceThreshold(), StandardScaler(), gramfold.PCA()).fit(OLD[NUMBERS].assign(constant=7.0))
    gramfold.save(model, "one.gramfold")
    FRESH.assign(constant=7.0).to_csv("new.csv", index=False)
    done("transform", "one.gramfold", "new.csv", "--out", "map.csv")
    told = done("inverse", "one.gramfold", "map.csv", "--out", "rows.csv").output
    assert "absent    constant, which the map was not made of" in told
    assert list(pd.read_csv("rows.csv").columns) == NUMBERS


def test_coordinates_may_have_other_names_and_gaps(folder):
    done("transform", "roll.gramfold", "new.csv", "--out", "map.csv")
    places = pd.read_csv("map.csv")
    done("inverse", "roll.gramfold", "map.csv", "--out", "rows.csv")
    expected = pd.read_csv("rows.csv")
    places.loc[4, "isomap1"] = np.nan
    other = places.rename(columns={"isomap0": "across", "isomap1": "up"}).assign(note="x")
    other.to_csv("other.csv", index=False)
    assert "--map-columns" in refused("inverse", "roll.gramfold", "other.csv")
    words = ["--map-columns", "across,up", "--keep", "note", "--out", "rows.csv"]
    told = done("inverse", "roll.gramfold", "other.csv", *words).output
    assert "left out  1 row without coordinates (nan)" in told
    rows = pd.read_csv("rows.csv")
    assert list(rows.columns) == [*NUMBERS, "note"]
    assert rows.loc[4, NUMBERS].isna().all()
    kept = rows.index != 4
    np.testing.assert_allclose(rows.loc[kept, NUMBERS], expected[kept])
    np.save("places.npy", pd.read_csv("map.csv").to_numpy())
    told = done("inverse", "roll.gramfold", "places.npy", "--out", "again.csv").output
    assert "columns matched by position, since the map has no column names" in told
    np.testing.assert_allclose(pd.read_csv("again.csv"), expected)


def test_coordinates_far_outside_are_told_once(folder):
    pd.DataFrame({"isomap0": [0.0, 1e4], "isomap1": [0.0, 1e4]}).to_csv("map.csv", index=False)
    result = done("inverse", "roll.gramfold", "map.csv", "--out", "rows.csv")
    assert result.stderr == ""
    assert "outside   1 row farther than 3 neighbourhood radii from the places of training rows" in result.stdout


def test_a_compact_model_has_no_way_back_and_says_so(folder):
    gramfold.save(embedded(method="isomap"), "small.gramfold", compact=True)
    done("transform", "small.gramfold", "new.csv", "--out", "map.csv")
    told = refused("inverse", "small.gramfold", "map.csv", "--out", "rows.csv")
    assert "compact" in told


# -------------------------------------------------------------------------------------------- info


@pytest.mark.parametrize(
    ("method", "compact", "rows"), [("pca", False, N), ("pca", True, 0), ("isomap", True, N), ("isomap", False, N)]
)
def test_info_says_whether_training_rows_are_in_it(method, compact, rows, folder):
    gramfold.save(embedded(method=method), "one.gramfold", compact=compact)
    told = done("info", "one.gramfold").output
    assert told == f"{gramfold.model_info('one.gramfold')}\n"
    assert ("no training rows" in told) == (rows == 0)
    assert "fitted on:    120 rows of 5 columns: a, b, c, name, kind (left out: name, kind)" in told
    facts = json.loads(done("info", "one.gramfold", "--json").stdout)
    assert facts["training_rows"] == rows
    assert facts["left_out"] == ["name", "kind"]


def test_an_imputer_that_holds_rows_is_told(folder):
    gramfold.save(fit(KNNImputer(), gramfold.PCA()), "one.gramfold", compact=True)
    assert json.loads(done("info", "one.gramfold", "--json").stdout)["training_rows"] == N


def test_damaged_foreign_and_future_files_are_refused_by_all_three(folder):
    whole = (folder / "roll.gramfold").read_bytes()
    (folder / "damaged.gramfold").write_bytes(whole[:-40] + b"?" + whole[-39:])
    (folder / "short.gramfold").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.gramfold").write_bytes(b"")
    (folder / "foreign.gramfold").write_bytes(b"PK\x03\x04 something else")
    (folder / "future.gramfold").write_bytes(whole.replace(b'"version":"1"', b'"version":"9"'))
    shutil.copy("new.csv", "map.csv")
    for name, word in [
        ("damaged", "is damaged"),
        ("short", "is damaged"),
        ("empty", "is not a model file"),
        ("foreign", "is not a model file"),
        ("future", "install a newer gramfold"),
    ]:
        for words in (["info"], ["transform"], ["inverse"]):
            table = [] if words == ["info"] else ["new.csv", "--out", "out.csv"]
            assert word in refused(*words, f"{name}.gramfold", *table)
    assert not (folder / "out.csv").exists()


# -------------------------------------------------------------------------------------- interrupts


@pytest.mark.parametrize("verb", ["transform", "inverse"])
def test_an_interrupt_leaves_nothing_half_written(verb, folder, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    done("transform", "roll.gramfold", "new.csv", "--out", "map.csv")
    monkeypatch.setattr("gramfold.io.text.write", pressed)
    before = sorted(path.name for path in folder.iterdir())
    result = run(verb, "roll.gramfold", "new.csv" if verb == "transform" else "map.csv", "--out", "out.csv")
    assert (result.exit_code, result.stderr) == (130, "Interrupted: stopped by Ctrl-C; nothing was written.\n")
    assert sorted(path.name for path in folder.iterdir()) == before


# --------------------------------------------------------------------------------------- gaps and units


@pytest.fixture
def gappy(tmp_path, monkeypatch):
    """A folder with rows that have gaps, and the model of a map for which these are filled in."""
    monkeypatch.chdir(tmp_path)
    rows = OLD[["name", *NUMBERS]].copy()
    rows.loc[[1, 5, 9], "a"] = np.nan
    rows.loc[[9], "c"] = np.nan
    rows.to_csv("gaps.csv", index=False)
    done("embed", "gaps.csv", "-m", "pca", "--id", "name", "--model", "m.gramfold", "--out", "m.csv")
    return tmp_path


@pytest.mark.usefixtures("gappy")
def test_transform_says_what_was_filled_in():
    assert "  filled in 3 rows, in columns 'a' and 'c'" in done("transform", "m.gramfold", "gaps.csv").output
    facts = json.loads(done("transform", "m.gramfold", "gaps.csv", "--json").stdout)
    assert (facts["rows_with_gaps"], facts["columns_with_gaps"]) == (3, ["a", "c"])
    OLD.assign(b=np.nan).to_csv("empty.csv", index=False)
    told = done("transform", "m.gramfold", "empty.csv").stderr
    assert "'empty.csv' has no value in column 'b', which the model reads" in told


def test_transform_refuses_a_table_of_which_no_row_has_a_place(gappy):
    words = ("embed", "gaps.csv", "-m", "pca", "--id", "name", "--missing", "drop", "--model", "d.gramfold")
    done(*words, "--out", "m.csv")
    OLD.assign(b=np.nan).to_csv("empty.csv", index=False)
    told = refused("transform", "d.gramfold", "empty.csv", "--missing", "drop", "--out", "new.csv")
    assert "so no row has a place" in told
    assert not (gappy / "new.csv").exists()
    assert "use --missing drop" in refused("transform", "d.gramfold", "gaps.csv", "--out", "new.csv")


@pytest.mark.usefixtures("gappy")
def test_inverse_names_the_columns_beside_which_its_error_says_nothing():
    done(
        "embed", "gaps.csv", "-m", "pca", "--id", "name", "--scale", "none", "--model", "raw.gramfold", "--out", "m.csv"
    )
    told = done("inverse", "raw.gramfold", "m.csv").output
    assert "caution   column 'b' has nearly all of that spread" in told
    assert json.loads(done("inverse", "raw.gramfold", "m.csv", "--json").stdout)["inverse_error_is_of"] == ["b"]


@pytest.mark.usefixtures("gappy")
def test_clusters_carry_ids_and_are_of_prepared_rows():
    words = ("cluster", "gaps.csv", "--id", "name", "--keep", "b", "-c", 2, "--model", "c.gramfold", "-o", "c.csv")
    told = done(*words).output
    assert "scaling   standardise" in told
    assert "gaps      nearest" in told
    found = pd.read_csv("c.csv", dtype={"name": str})
    assert list(found.columns) == ["name", "cluster", "b"]
    assert found["name"].tolist() == OLD["name"].tolist()
    done("transform", "c.gramfold", "gaps.csv", "-o", "t.csv")
    pd.testing.assert_series_equal(pd.read_csv("t.csv")["cluster"], found["cluster"])
    facts = json.loads(done("cluster", "gaps.csv", "-c", 2, "--missing", "drop", "--json", "-o", "c.csv").stdout)
    assert facts["rows_without_cluster"] == 3
    assert sum(facts["sizes"]) == N - 3
    assert pd.read_csv("c.csv")["cluster"].eq(-1).sum() == 3
