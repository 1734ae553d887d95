"""`gramfold dimension`: the numbers of Python, one line for each estimator."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array, save_npz
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine

from gramfold.cli import main
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import dimension
from gramfold.io import write_table

ROLL = make_swiss_roll(300, random_state=0).points


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to stand in, with a table."""
    monkeypatch.chdir(tmp_path)
    write_table("roll.csv", np.column_stack([ROLL, np.arange(300)]), ["x", "y", "z", "number"])
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, ["dimension", *(str(word) for word in words)], catch_exceptions=False)


def test_prints_the_estimates_of_python(folder):
    result = run("roll.csv", "--skip", "number", "-k", 15, "--level", 0.8, "--out", "found.json")
    assert result.exit_code == 0, result.output
    expected = dimension(ROLL, n_neighbors=15, level=0.8)
    assert json.loads((folder / "found.json").read_text("utf8")) == expected.as_dict()
    lines = result.output.splitlines()
    assert lines[0].startswith("Intrinsic dimension of 300 rows")
    for line, (name, one) in zip(lines[1:5], expected.estimates.items(), strict=True):
        low, high = one.interval
        assert line.split()[0] == name
        assert f"{one.value:.3g}  (80% interval {low:.3g} to {high:.3g})" in line
    assert expected.sentence in lines


def test_names_a_column_that_is_nearly_all_that_distances_see(folder):
    wine = load_wine()
    write_table("wine.csv", wine.data, list(wine.feature_names))
    assert "scaling   standardise: column 'proline'" in run("wine.csv").output
    result = run("wine.csv", "--scale", "none", "--out", "found.json")
    assert "Column 'proline' has 99.8% of the variance: standardise" in result.output
    assert "evenly" not in result.output
    assert "'proline'" in json.loads((folder / "found.json").read_text("utf8"))["sentence"]


@pytest.mark.usefixtures("folder")
def test_lower_bounds_are_no_infinite_numbers():
    np.save("wide.npy", np.random.default_rng(0).normal(size=(60, 2000)))
    said = run("wide.npy").output
    assert "inf" not in said
    assert said.count("not corrected: normal rows of 1,000 dimensions read less") == 3
    assert "uncorrected (k=2)" in said
    assert "are lower bounds" in said


def test_reads_distances_and_sparse_rows(folder):
    np.save("distances.npy", cdist(ROLL, ROLL))
    save_npz("rows.npz", csr_array(ROLL))
    for words in (("distances.npy", "--metric", "precomputed"), ("rows.npz",)):
        assert run(*words, "--out", "found.json").exit_code == 0
        found = json.loads((folder / "found.json").read_text("utf8"))
        assert found["estimates"]["two_nn"]["value"] == pytest.approx(dimension(ROLL).two_nn.value, rel=1e-6)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing.csv",), "There is no file"),
        (("roll.csv", "--columns", "w"), "'w'"),
        (("roll.csv", "--out", "found.csv"), "JSON only"),
        (("roll.csv", "--out", "nowhere/found.json"), "nowhere"),
        (("roll.csv", "--skip", "number", "-k", "300"), "300"),
        (("roll.csv", "--skip", "number", "--level", "2"), "level=2.0"),
        (("rows.npz", "--skip", "a"), "leave out --skip"),
        (("roll.csv", "--out", "there.json", "--no-overwrite"), "already exists"),
    ],
)
def test_one_sentence_for_what_cannot_be_done(words, said, folder):
    save_npz("rows.npz", csr_array(ROLL))
    (folder / "there.json").write_text("{}")
    result = run(*words)
    assert result.exit_code == 2
    assert said in result.output
    assert result.output.count("\n") == 1
