"""`--report` of embed, judge and compare: a page with all columns of the table, and the numbers of the summary."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from PIL import Image
from scipy.sparse import random as random_sparse
from scipy.sparse import save_npz

from gramfold.cli import main
from gramfold.io import read_table
from tests.report.decoded import Page, stored

N = 120


@pytest.fixture
def cells(tmp_path, monkeypatch):
    """A table as people have them, with an id, a class, a date, a gap and names that a browser could mistake."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(N, 3)), columns=["height", "weight", "</script>"])
    table["height"] += np.repeat([0, 8], N // 2)
    table.insert(0, "id", [f"{row:04d}" for row in range(N)])
    table["stage"] = np.repeat(["early", "=late()"], N // 2)
    table["born"] = pd.date_range("2001-01-01", periods=N).strftime("%Y-%m-%d")
    table.loc[5, "weight"] = None
    table.to_csv("cells.csv", index=False)
    return table


def run(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 2, result.output
    return result.output


def test_embed_writes_a_page_with_all_columns_as_they_are_in_the_file(cells, tmp_path):
    told = run("embed", "cells.csv", "--report", "x.html", "--id", "id", "--color", "stage", "--method", "pca")
    assert f"report    {tmp_path / 'x.html'}" in told
    page = Page.of("x.html")
    assert page.names[:6] == list(cells)
    assert page.column("id") == list(cells["id"])
    assert page.manifest["label"] == page.names.index("id")
    assert page.names[page.manifest["first_color"]] == "stage"
    assert page.column("stage") == list(cells["stage"])
    assert page.kind("born") == "date"
    assert np.array_equal(page.column("weight"), cells["weight"], equal_nan=True)  # not imputed, and in its unit
    assert [page.names[j] for j in page.manifest["data_columns"]] == ["height", "weight", "</script>"]
    places = read_table("cells.map.csv", columns=["pca0", "pca1"]).values
    assert np.abs(page.places - places).max() < 1e-5
    for words in ("left out", "gaps", "PCA(", "PCA: cells.csv"):
        assert words in page.text


@pytest.mark.parametrize("rows", [N, 20 * N])
def test_numbers_of_the_summary_are_those_of_the_page(tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).normal(size=(rows, 4)) * (3, 2, 1, 1)
    np.save("rows.npy", values)
    told = json.loads(run("embed", "rows.npy", "--report", "x.html", "--method", "pca", "--out", "map.npy", "--json"))
    page = Page.of("x.html")
    assert told["report"] == str(tmp_path / "x.html")
    assert told["rows_judged"] == rows
    shown = {
        attributes["data-name"]: attributes["data-value"]
        for tag, attributes in page.elements
        if "data-value" in attributes
    }
    for name, fault in told["faults"].items():
        assert float(shown[f"faults.{name}.total"]) == fault["value"]
    text = " ".join(page.text.split())
    for sentence in told["verdict"]:
        assert sentence in text


def test_rows_that_are_left_out_are_not_on_the_page(cells):
    run("embed", "cells.csv", "--report", "x.html", "--id", "id", "--missing", "drop", "--method", "pca")
    page = Page.of("x.html")
    assert page.column("id") == [name for row, name in enumerate(cells["id"]) if row != 5]
    assert f"1 of {N} have no place on this page" in page.text


def test_pictures_of_a_folder_are_pictures_on_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faces").mkdir()
    drawn = np.random.default_rng(0).integers(0, 255, (30, 6, 9), dtype=np.uint8)
    for number, pixels in enumerate(drawn):
        Image.fromarray(pixels).save(tmp_path / "faces" / f"{number:02d}.png")
    run("embed", "faces", "--report", "x.html", "--method", "pca", "--out", "map.csv", "--scale", "none")
    page = Page.of("x.html")
    held = page.manifest["pictures"]
    assert (held["width"], held["height"]) == (9, 6)
    assert np.array_equal(stored(held["pixels"], page.blocks).reshape(30, 6, 9), drawn)
    assert page.column("file")[3] == "03.png"


def test_a_sparse_matrix(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_npz("words.npz", random_sparse(150, 60, 0.2, random_state=0, format="csr"))
    run("embed", "words.npz", "--report", "x.html", "--method", "laplacian", "--out", "map.csv")
    assert Page.of("x.html").manifest["rows"]["shown"] == 150


def test_judge_writes_a_page_of_a_map_that_others_made(cells):
    full = cells.drop(index=5)
    full.to_csv("full.csv", index=False)
    places = pd.DataFrame({"id": full["id"], "u": full["height"], "v": full["weight"]})
    places.iloc[::-1].to_csv("umap.csv", index=False)
    told = run("judge", "full.csv", "umap.csv", "--id", "id", "--labels", "stage", "--report", "x.html")
    page = Page.of("x.html")
    assert np.allclose(page.places, places[["u", "v"]])
    assert page.manifest["maps"][0]["axes"] == ["u", "v"]
    assert page.column("id") == list(full["id"])
    assert page.column("stage") == list(full["stage"])
    assert page.names[page.manifest["first_color"]] == "stage"
    assert [page.names[j] for j in page.manifest["data_columns"]] == ["height", "weight", "</script>"]
    for line in told.splitlines():
        if line.startswith("  verdict"):
            assert line.removeprefix("  verdict").strip() in " ".join(page.text.split())
    kept = re.search(r"trustworthiness +([\d.]+)", told)[1]
    assert kept in page.text


def test_judge_of_distances(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(60, 3))
    np.save("distances.npy", np.linalg.norm(rows[:, None] - rows[None], axis=2))
    np.save("map.npy", rows[:, :2])
    run("judge", "distances.npy", "map.npy", "--metric", "precomputed", "--report", "x.html")
    page = Page.of("x.html")
    assert "torn" in page.names
    assert not page.manifest["data_columns"]


def test_compare_writes_a_page_of_all_maps(cells):
    told = run(
        "compare",
        "cells.csv",
        "--methods",
        "pca,classical_mds",
        "--skip",
        "weight",
        "--labels",
        "stage",
        "--report",
        "x.html",
    )
    page = Page.of("x.html")
    assert [one["name"] for one in page.manifest["maps"]] == ["pca", "classical_mds"]
    assert page.column("stage") == list(cells["stage"])
    assert "report    " in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("embed", "cells.csv", "--report", "x.pdf"), "'x.pdf' does not end in .html"),
        (("embed", "cells.csv", "--report", "no/x.html"), "there is no folder"),
        (("embed", "cells.csv", "--report", "x.html", "--model", "x.html"), "would be written twice"),
        (("embed", "cells.csv", "--report", "old.html", "--no-overwrite"), "already exists"),
        (("judge", "cells.csv", "cells.csv", "--report", "x.txt"), "'x.txt' does not end in .html"),
        (("compare", "cells.csv", "--report", "old.html", "--no-overwrite"), "already exists"),
        (("compare", "cells.csv", "--report", "x.csv"), "'x.csv' does not end in .html"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_before_any_work(cells, tmp_path, arguments, words):
    (tmp_path / "old.html").write_text("old")
    assert words in refused(*arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cells.csv", "old.html"]


def test_a_report_that_is_the_input_is_refused(cells, tmp_path):
    (tmp_path / "cells.csv").rename(tmp_path / "cells.html")
    (tmp_path / "link.csv").symlink_to("cells.html")
    assert "is an input file and would be overwritten" in refused("embed", "link.csv", "--report", "cells.html")


def test_a_colour_and_labels_of_the_page_need_no_picture(cells):
    run(
        "embed", "cells.csv", "--report", "x.html", "--color", "stage", "--label", "id", "--dim", "3", "--method", "pca"
    )
    page = Page.of("x.html")
    assert page.places.shape == (N, 3)
    assert page.names[page.manifest["label"]] == "id"
