"""`gramfold embed` on tables as people have them: what is left out, filled in, scaled, kept and saved."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

import gramfold
from gramfold.advice import FillByPPCA
from gramfold.cli import main
from gramfold.errors import InputError, ScaleWarning
from gramfold.io import read_columns, read_table, write_table

IRIS = load_iris()
MEASURED = ["length", "width", "petal", "tip"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to stand in, with a table of flowers."""
    monkeypatch.chdir(tmp_path)
    flowers().to_csv("iris.csv", index=False)
    return tmp_path


def flowers():
    table = pd.DataFrame(IRIS.data, columns=MEASURED)
    table.insert(0, "id", [f"{number:03d}" for number in range(1, 151)])
    return table.assign(species=IRIS.target_names[IRIS.target], day=pd.date_range("2024-03-01", periods=150))


def run(*words):
    result = CliRunner().invoke(main, ["embed", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


# ---------------------------------------------------------------------------------------- reference


@pytest.mark.parametrize("words", [[], ["--scale", "robust"], ["-m", "kernel_pca", "--missing", "mean"]])
def test_the_map_is_that_of_the_python_call(words, folder):
    table = flowers().astype({"id": int})
    table.loc[::9, "width"] = np.nan
    table.to_csv("gaps.csv", index=False)
    run("gaps.csv", *words, "--out", "map.csv")
    given = dict(zip(words[::2], words[1::2], strict=True))
    places = gramfold.embed(
        table.drop(columns="species"),
        given.get("-m", "auto"),
        scale=given.get("--scale", "auto"),
        gaps=given.get("--missing", "fill"),
        draw=False,
        verbose=0,
    )
    np.testing.assert_allclose(read_table("map.csv").values, places.to_numpy(), atol=1e-9)


@pytest.mark.parametrize(
    ("scale", "steps"), [("none", []), ("standard", [StandardScaler()]), ("robust", [RobustScaler()])]
)
def test_columns_are_scaled_as_asked(scale, steps, folder):
    run("iris.csv", "-m", "pca", "--scale", scale, "--out", "map.csv")
    wanted = make_pipeline(*steps, gramfold.PCA()).fit_transform(IRIS.data)
    np.testing.assert_allclose(read_table("map.csv").values, wanted, atol=1e-9)


@pytest.mark.parametrize(("missing", "fill"), [("mean", SimpleImputer()), ("ppca", FillByPPCA())])
def test_gaps_are_filled_in_as_asked(missing, fill, folder):
    table = flowers()
    table.loc[::9, "width"] = np.nan
    table.to_csv("gaps.csv", index=False)
    result = run("gaps.csv", "-m", "pca", "--scale", "none", "--missing", missing, "--out", "map.csv")
    wanted = make_pipeline(fill, gramfold.PCA()).fit_transform(table[MEASURED].to_numpy())
    np.testing.assert_allclose(read_table("map.csv").values, wanted, atol=1e-9)
    assert f"gaps      {missing}: 2.8% of the values are missing, in 1 column" in result.stdout


def test_rows_with_gaps_may_have_no_coordinates(folder):
    table = flowers()
    table.loc[::9, "width"] = np.nan
    table.to_csv("gaps.csv", index=False)
    result = run("gaps.csv", "-m", "pca", "--missing", "drop", "--id", "id", "--out", "map.csv")
    places = pd.read_csv("map.csv", dtype={"id": str})
    assert places.id.tolist() == table.id.tolist()
    assert places.pca0.isna().tolist() == table.width.isna().tolist()
    known = table.width.notna()
    wanted = gramfold.PCA().fit_transform(table.loc[known, MEASURED].to_numpy())
    np.testing.assert_allclose(places.loc[known, ["pca0", "pca1"]], wanted, atol=1e-9)
    assert "17 rows with missing values get no place" in result.stdout


def test_a_plane_fills_gaps_better_than_means(tmp_path):
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8)) + 0.01 * rng.normal(size=(300, 8))
    holed = np.where(rng.random(whole.shape) < 0.1, np.nan, whole)
    step = FillByPPCA().fit(holed)
    filled = step.transform(holed)
    known = ~np.isnan(holed)
    np.testing.assert_allclose(filled[known], whole[known], atol=1e-9)
    assert np.abs(filled - whole).max() < 0.1 * np.abs(SimpleImputer().fit_transform(holed) - whole).max()
    pipeline = make_pipeline(step, gramfold.PCA()).fit(holed)
    gramfold.save(pipeline, tmp_path / "model.gramfold")
    again = gramfold.load(tmp_path / "model.gramfold")
    np.testing.assert_array_equal(again.transform(holed[:5]), pipeline.transform(holed[:5]))


# ------------------------------------------------------------------------------------------- tables


def test_what_is_no_measurement_is_left_out_and_named(folder):
    result = run("iris.csv")
    assert "column 'species': it holds text" in result.stdout
    assert "column 'day': it holds dates" in result.stdout
    assert "column 'id': it counts the rows from 1 to 150" in result.stdout
    assert result.stderr.startswith("Warning: Column 'id': it counts the rows")
    assert "--columns with its name keeps it" in result.stderr
    assert "verdict   " in result.stdout
    assert f"map       {folder / 'iris.map.csv'}\n" in result.stdout


def test_columns_that_are_named_stay(folder):
    result = run("iris.csv", "-m", "pca", "--columns", "id,length,width", "--scale", "none", "--out", "map.csv")
    rows = np.column_stack([np.arange(1, 151), IRIS.data[:, :2]])
    with pytest.warns(ScaleWarning):
        wanted = gramfold.PCA().fit_transform(rows)
    np.testing.assert_allclose(read_table("map.csv").values, wanted, atol=1e-9)
    assert "column 'id': it stays, since it was asked for" in result.stdout
    assert "scales    column 'id' has" in result.stdout
    assert "(--scale standard does)" in result.stdout
    assert result.stderr == ""


def test_units_that_differ_are_made_alike_and_told(folder):
    flowers().assign(width=lambda table: 1000 * table.width).to_csv("units.csv", index=False)
    result = run("units.csv", "-m", "pca", "--out", "map.csv")
    assert "scaling   standardise: column 'width' would be 100.0% of the variance (--scale none keeps" in result.stdout
    assert "scales  " not in result.stdout


def test_a_table_of_another_country(folder):
    table = flowers().rename(columns={"species": "größe"}).assign(größe="Köln")
    table.to_csv("werte.csv", sep=";", decimal=",", encoding="latin-1", index=False)
    result = run("werte.csv", "-m", "pca", "--keep", "größe")
    assert "read      text in Windows-1252 (Latin-1), separated by semicolons, decimal comma" in result.stdout
    places = pd.read_csv("werte.map.csv")
    np.testing.assert_allclose(places[["pca0", "pca1"]], gramfold.PCA().fit_transform(IRIS.data), atol=1e-9)
    assert (places["größe"] == "Köln").all()
    run("werte.csv", "-m", "pca", "--encoding", "latin-1", "--separator", ";", "--decimal", ",", "--out", "said.csv")
    np.testing.assert_array_equal(read_table("said.csv").values, places[["pca0", "pca1"]])


def test_distances_are_seen(folder):
    from scipy.spatial.distance import cdist

    pd.DataFrame(cdist(IRIS.data[::3], IRIS.data[::3])).add_prefix("r").to_csv("far.csv", index=False)
    result = run("far.csv", "--out", "map.csv")
    assert "metric='precomputed'" in result.stdout


def test_cells_of_an_h5ad_file(folder):
    anndata = pytest.importorskip("anndata")
    kinds = pd.Categorical.from_codes(IRIS.target, pd.Index(IRIS.target_names, dtype=object))
    obs = pd.DataFrame({"kind": kinds}, index=pd.Index([f"cell{row}" for row in range(150)], dtype=object))
    var = pd.DataFrame(index=pd.Index(MEASURED, dtype=object))
    cells = anndata.AnnData(IRIS.data.astype(np.float32), obs=obs, var=var)
    cells.write_h5ad("cells.h5ad")
    result = run(
        "cells.h5ad", "-m", "pca", "--id", "obs_names", "--keep", "kind", "--picture", "p.png", "--color", "kind"
    )
    places = pd.read_csv("cells.map.csv")
    assert places.iloc[:, 0].tolist() == obs.index.tolist()
    assert places.kind.tolist() == obs.kind.tolist()
    np.testing.assert_allclose(places[["pca0", "pca1"]], gramfold.PCA().fit_transform(cells.X), atol=1e-4)
    assert "left out" not in result.stdout


# ------------------------------------------------------------------------------------ what is written


def test_the_map_beside_its_table_is_replaced_and_said_so(folder):
    (folder / "iris.csv.gz").write_bytes(gzip.compress((folder / "iris.csv").read_bytes()))
    assert "is replaced" not in run("iris.csv").stdout
    first = (folder / "iris.map.csv").read_bytes()
    result = run("iris.csv.gz", "--id", "id")
    assert "iris.map.csv (the earlier one is replaced)" in result.stdout
    assert (folder / "iris.map.csv").read_bytes() != first


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".feather", ".npz", ".xlsx", ".h5ad"])
def test_ids_and_columns_are_kept_in_every_kind_of_file(ending, folder):
    run("iris.csv", "-m", "pca", "--id", "id", "--keep", "species,length,day", "--out", f"map{ending}")
    found = read_columns(f"map{ending}")
    table = flowers()
    by = "obs_names" if ending == ".h5ad" else "id"
    assert found.words(by) == table.id.tolist()
    assert found.words("species") == table.species.tolist()
    np.testing.assert_array_equal(found.numbers(["length"])[:, 0], table.length)
    assert found.words("day")[0].startswith("2024-03-01")


def test_every_column_may_be_kept(folder):
    run("iris.csv", "--keep", "all", "--out", "map.csv")
    places = pd.read_csv("map.csv", dtype={"id": str}).drop(columns=["pca0", "pca1"])
    pd.testing.assert_frame_equal(places, flowers().assign(day=flowers().day.astype(str)), check_dtype=False)


def test_a_saved_model_needs_only_the_columns_that_were_used(folder):
    table = flowers()
    table.loc[::9, "width"] = np.nan
    table.assign(tip=100 * table.tip).to_csv("gaps.csv", index=False)
    result = run("gaps.csv", "-m", "isomap", "--missing", "ppca", "--model", "flowers.gramfold", "--out", "map.npy")
    assert f"model     {folder / 'flowers.gramfold'}\n" in result.stdout
    model = gramfold.load("flowers.gramfold")
    new = pd.read_csv("gaps.csv")[["tip", "petal", "width", "length"]]
    np.testing.assert_allclose(model.transform(new), np.load("map.npy"), atol=1e-8)
    with pytest.raises(ValueError, match="no column 'tip'"):
        model.transform(new.drop(columns="tip"))


def test_the_summary_for_programs(folder):
    result = run("iris.csv", "--json", "--picture", "p.png", "--color", "species", "--model", "m.gramfold")
    told = json.loads(result.stdout)
    assert told["columns"] == MEASURED
    assert (told["rows"], told["dimensions"], told["rows_without_coordinates"]) == (150, 2, 0)
    assert told["verdict"][0].startswith("The data")
    assert set(told["faults"]) == {"glued", "torn", "strained", "collapsed"}
    for name in ("map", "picture", "model"):
        assert (folder / told[name]).is_file()
    lines = run("iris.csv").stdout
    assert f"kept      {told['neighbors_kept']:.0%} of" in lines
    assert all(sentence in lines for sentence in told["verdict"])


def test_labels_are_written_on_the_picture(folder, monkeypatch):
    drawn = []
    monkeypatch.setattr("gramfold.plotting.save_picture", lambda figure, _: drawn.append(figure))
    run("iris.csv", "--picture", "p.png", "--label", "species")
    assert {text.get_text() for text in drawn[0].axes[0].texts} >= set(IRIS.target_names)


def test_a_verdict_of_many_rows_is_of_a_sample_and_says_so(folder):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(3000, 3)), columns=["a", "b", "c"]).to_csv("many.csv", index=False)
    assert "judged    by 500 of 3,000 rows, drawn at random" in run("many.csv", "-m", "pca").stdout


def test_few_gaps_among_many_rows_are_seen():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30_000, 3))
    table[17, 1] = np.nan
    assert gramfold.advise(table).gaps.value == "median"


def test_a_map_that_cannot_be_judged_is_written_all_the_same(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 4))  # as booleans, which Jaccard's distance sees, all are equal
    write_table(tmp_path / "t.csv", rows, list("abcd"))
    out = tmp_path / "m.csv"
    told = CliRunner().invoke(main, ["embed", str(tmp_path / "t.csv"), "--metric", "jaccard", "--out", str(out)])
    assert told.exit_code == 0, told.output
    assert "verdict   none: by the metric 'jaccard' all rows of X are at distance 0 of the first" in told.output
    assert out.exists()


def test_an_error_names_the_files_that_are_kept(tmp_path, monkeypatch):
    from gramfold.cli import map_summary

    def fails(*_):
        raise InputError("this cannot be said.")

    monkeypatch.setattr(map_summary, "tell", fails)
    write_table(tmp_path / "t.csv", np.random.default_rng(0).normal(size=(60, 4)), list("abcd"))
    out = tmp_path / "m.csv"
    told = CliRunner().invoke(main, ["embed", str(tmp_path / "t.csv"), "--out", str(out)])
    assert told.exit_code == 2
    assert told.output.strip() == f"Error: this cannot be said. ({out} is written and kept.)"


def test_kept_columns_are_read_at_once_as_they_are_written(tmp_path, monkeypatch):
    from gramfold.cli.table_columns import kept_beside
    from gramfold.io import lines

    (tmp_path / "t.csv").write_text("code,size,word\n007,1.5,a\n008,2.5,NA\n")
    found = read_columns(tmp_path / "t.csv")
    read, parsed = [], lines.parsed
    monkeypatch.setattr(lines, "parsed", lambda *words, **more: read.append(more) or parsed(*words, **more))
    beside = kept_beside(found, ["all"], None)
    assert [list(column) for column in beside.values()] == [["007", "008"], [1.5, 2.5], ["a", None]]
    assert len(read) == 1
