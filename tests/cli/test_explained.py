"""`gramfold embed --explain`: the sentences of Python, and one for tables without columns of numbers."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_matrix, save_npz
from sklearn.datasets import load_wine

from gramfold import PCA
from gramfold.cli import main
from gramfold.diagnostics import loadings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wine = load_wine(as_frame=True).data
    ((wine - wine.mean()) / wine.std()).to_csv("wine.csv", index=False)
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_words_are_those_of_python(folder):
    result = run("embed", "wine.csv", "-m", "pca", "--explain", "-q", "-o", "map.csv")
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    table = pd.read_csv("wine.csv")
    for axis, line in enumerate(str(loadings(PCA().fit(table))).splitlines()):
        assert f"axis {axis + 1} {line}" in words
    assert "axis 1" not in run("embed", "wine.csv", "-m", "pca", "-o", "map.csv").output


@pytest.mark.parametrize("method", ["isomap", "ordinal_mds", "laplacian_eigenmaps"])
def test_other_methods(method, folder):
    result = run("embed", "wine.csv", "-m", method, "--explain", "-o", "map.csv")
    assert result.exit_code == 0, result.output
    assert "The first axis is" in result.output


@pytest.mark.parametrize("method", ["pca", "isomap"])
def test_sparse_columns_are_told_by_their_numbers(method, folder):
    save_npz("sparse.npz", csr_matrix(pd.read_csv("wine.csv").to_numpy()))
    result = run("embed", "sparse.npz", "-m", method, "--explain", "-o", "map.csv")
    assert result.exit_code == 0, result.output
    assert "mostly column" in result.output


def test_gaps_are_no_obstacle(folder):
    table = pd.read_csv("wine.csv")
    table.iloc[::4, 2] = np.nan
    table.to_csv("gaps.csv", index=False)
    result = run("embed", "gaps.csv", "-m", "probabilistic_pca", "--explain", "-o", "map.csv")
    assert result.exit_code == 0, result.output
    assert "flavanoids" in result.output


@pytest.mark.parametrize("metric", ["gower", "precomputed"])
def test_what_has_no_columns_is_refused_first(metric, folder):
    result = run("embed", "wine.csv", "-m", "isomap", "--metric", metric, "--explain", "-o", "map.csv")
    assert result.exit_code == 2
    assert "--explain names columns of numbers" in result.output
    assert not (folder / "map.csv").exists()
