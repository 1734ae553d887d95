"""`--metric gower`: files with text and gaps, mapped as in Python."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import gramfold
from gramfold.cli import main
from gramfold.io import read_table


def people(n=80):
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 80, n).round(2)
    frame = pd.DataFrame(
        {
            "age": age,
            "income": (age * 900 + rng.normal(0, 4000, n)).round(1),
            "town": rng.choice(["Ulm", "Köln", "Bonn"], n),
            "member": rng.random(n) < 0.5,
            "zip": rng.choice([10115.0, 50667.0, 89073.0], n),
        }
    )
    frame.loc[::9, "income"] = np.nan
    frame.loc[::7, "town"] = None
    return frame


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def save(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False, na_rep="NA")
    else:
        getattr(frame, f"to_{path.suffix[1:]}")(path)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_the_map_of_a_file_is_that_of_its_frame(ending, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(people(), tmp_path / f"people{ending}")
    for params in ({}, {"categorical": ["zip"]}):
        words = ("--set", f"metric_params={params}") if params else ()
        result = run("embed", f"people{ending}", "--method", "isomap", "--metric", "gower", "--out", "map.csv", *words)
        assert result.exit_code == 0, result.output
        model = gramfold.Isomap(metric="gower", metric_params=params or None).fit(people())
        np.testing.assert_allclose(read_table("map.csv").values, model.embedding_, atol=1e-12)


def test_text_is_compared_without_being_asked_for_where_numbers_are_few(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = people()[["income", "town"]].dropna()
    save(frame, tmp_path / "few.csv")
    for method in ("classical_mds", "auto"):
        result = run("embed", "few.csv", "--method", method, "--out", "map.csv")
        assert "metric    gower: 1 column of 2 holds text (such as 'town')" in result.output
        expected = gramfold.embed(frame, method, draw=False, verbose=0)
        np.testing.assert_allclose(read_table("map.csv").values, expected, atol=1e-8)
    result = run("embed", "few.csv", "--method", "pca", "--out", "map.csv")
    assert "column 'town': it holds categories, which PCA does not read" in result.output


def test_clusters_and_labels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(people(), tmp_path / "people.csv")
    result = run("cluster", "people.csv", "--metric", "gower", "-c", 2, "-k", 12, "--skip", "zip", "--out", "c.csv")
    assert result.exit_code == 0, result.output
    model = gramfold.SpectralClustering(2, n_neighbors=12, metric="gower").fit(people().drop(columns="zip"))
    np.testing.assert_array_equal(read_table("c.csv").values[:, 0], model.labels_)


def test_columns_are_numbers_only_where_every_cell_is(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;c;d\n1,5;x;;TRUE\n?;2;;false\n-3;;;NA\n", encoding="utf-8")
    table = read_table(tmp_path / "t.csv", text=True, decimal=",")
    assert table.values.tolist() == [[1.5, "x", None, "TRUE"], [None, "2", None, "false"], [-3.0, None, None, None]]


def test_one_sentence_for_what_cannot_be_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(people(), tmp_path / "people.csv")
    result = run("embed", "people.csv", "-m", "lle", "--metric", "gower", "--out", "map.csv")
    assert result.exit_code != 0
    assert "LLE reconstructs rows from their neighbours" in result.output
    run("embed", "people.csv", "--metric", "gower", "--out", "old.csv")
    result = run(
        *("embed", "people.csv", "--metric", "gower", "--align-to", "old.csv", "--align-rows", "people.csv"),
        *("--out", "map.csv"),
    )
    assert "--align-rows matches rows of numbers" in result.output
    people().reset_index(drop=True).to_csv("index.csv")
    result = run("embed", "index.csv", "--metric", "gower", "--out", "map.csv")
    assert "column 'x0': it has no name and holds distinct integers" in result.output
