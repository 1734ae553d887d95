"""Every example in the help of every command is run, on files with the names that it has."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array, random_array, save_npz
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramfold
from gramfold.cli import main
from gramfold.cli.commands import VERBS
from gramfold.datasets import make_gaussian_clusters, make_swiss_roll

N = 120
BESIDE = {  # files that are written where none is named
    "demo": {"gramfold-demo.png"},
    "embed": {"cells.map.csv"},
    "transform": {"new_cells.placed.csv"},
    "inverse": {"cells.rows.csv"},
}


def found_examples():
    for verb in VERBS:
        help_text = main.get_command(None, verb).help
        lines = [line.strip() for line in help_text.splitlines() if line.strip().startswith("gramfold ")]
        yield verb, lines


EXAMPLES = list(found_examples())


def written():
    """The files that the examples name: tables of a roll, graphs, maps."""
    rng = np.random.default_rng(0)
    roll = make_swiss_roll(N, length=30, height=8, random_state=0).points
    groups = make_gaussian_clusters(N, random_state=0)
    cells = pd.DataFrame(roll, columns=["a", "b", "c"])
    named = cells.assign(name=rng.permutation(N) / N, stage=groups.truth, kind=groups.truth, type=groups.truth)
    named = named.assign(barcode=rng.permutation(N))
    named.to_csv("cells.csv", index=False)
    cells.assign(name=[f"cell {row}" for row in range(N)]).to_parquet("cells.parquet")
    cells.assign(households=rng.integers(1, 9, N)).to_csv("survey.csv", index=False)
    cells.to_csv("clean.csv", index=False)
    (cells + rng.normal(size=roll.shape)).to_csv("noisy.csv", index=False)
    ratings = pd.DataFrame(cdist(roll, roll)[:40, :40], columns=[f"r{row}" for row in range(40)])
    ratings.to_csv("ratings.csv", index=False)
    (ratings > 0).astype(int).to_csv("weights.csv", index=False)
    cells.assign(town=["Ulm" if row % 3 else "Bonn" for row in range(N)]).to_csv("people.csv", index=False)
    edges = kneighbors_graph(roll, 6)
    edges = csr_array(edges.maximum(edges.T))
    cells.to_csv("papers.csv", index=False)
    save_npz("citations.npz", edges)
    save_npz("friends.npz", edges)
    cells.to_csv("march.csv", index=False)
    cells[["a", "b"]].to_csv("march_map.csv", index=False)
    cells.iloc[::-1].to_csv("april.csv", index=False)
    pd.DataFrame(roll[:, :2], columns=["umap1", "umap2"]).assign(barcode=named.barcode).to_csv("umap.csv", index=False)
    save_npz("docs.npz", csr_array(random_array((N, 50), density=0.3, rng=rng)))
    save_npz("texts.npz", csr_array(random_array((N, 50), density=0.3, rng=rng)))
    np.save("tsne.npy", rng.normal(size=(N, 2)))
    for folder, columns in (("big", named.columns), ("new", ["a", "b", "c", "barcode"])):
        Path(folder).mkdir()
        for part in (0, 1):
            named[list(columns)].iloc[part::2].to_parquet(f"{folder}/part{part}.parquet", index=False)
    Path("parts").mkdir()
    for part in (0, 1):
        places = pd.DataFrame(roll[part::2, :2], columns=["pca0", "pca1"])
        places.assign(barcode=named.barcode.to_numpy()[part::2]).to_parquet(f"parts/part{part}.parquet", index=False)


def written_for_models():
    """A model of the cells, new ones, and their map."""
    named = pd.read_csv("cells.csv")
    cells = named[["a", "b", "c"]]
    model = make_pipeline(StandardScaler(), gramfold.Isomap()).fit(cells)
    gramfold.save(model, "cells.gramfold")
    named.to_csv("new_cells.csv", index=False)
    places = pd.DataFrame(model[-1].embedding_, columns=model[-1].get_feature_names_out())
    places.assign(barcode=named.barcode).to_csv("cells.map.csv", index=False)
    places.set_axis(["across", "up"], axis=1).to_csv("corners.csv", index=False)


@pytest.mark.parametrize(("verb", "lines"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_each_command_has_examples(verb, lines):
    assert len(lines) >= 2
    assert all(shlex.split(line)[1] == verb for line in lines)
    assert main.get_command(None, verb).get_short_help_str(200) == VERBS[verb].line, "not that of the list"


@pytest.mark.parametrize("line", [line for _, lines in EXAMPLES for line in lines])
def test_each_example_does_what_it_says(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gramfold.cli.demo.ROLL_ROWS", 300)
    monkeypatch.setattr("gramfold.cli.demo.TEAPOTS", 60)
    written()
    if shlex.split(line)[1] in ("transform", "inverse", "info"):
        written_for_models()
    before = {path.name for path in tmp_path.iterdir()}
    words = shlex.split(line.partition(" > ")[0])
    result = CliRunner().invoke(main, words[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.stdout
    files = ("--out", "-o", "--picture", "--model", "--report")
    named = {words[words.index(option) + 1].rstrip("/") for option in files if option in words}
    made = {path.name for path in tmp_path.iterdir()} - before
    beside = set() if {"--out", "-o"} & set(words) else BESIDE.get(words[1], set())
    assert made == named | beside
