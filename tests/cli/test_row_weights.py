"""`--sample-weight COLUMN`: the map that Python's fit gives with these weights, of the other columns."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array, save_npz
from sklearn.datasets import load_iris

from gramfold import LPP, PCA, SpectralClustering
from gramfold.cli import main
from gramfold.io import read_table, write_table

X, KINDS = load_iris(return_X_y=True)
W = np.random.RandomState(0).randint(1, 5, 150) / 2.0
NAMES = ["a", "b", "c", "d"]


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = np.column_stack([X[:, :2], W, X[:, 2:]])
    for ending in ("csv", "parquet"):
        write_table(f"flowers.{ending}", whole, ["a", "b", "count", "c", "d"])
    np.savez("flowers.npz", X=X, count=W)
    np.savez("named.npz", X=whole, names=np.array(["a", "b", "count", "c", "d"]))
    lines = [",".join(map(str, [*row, w, "abc"[kind]])) for row, w, kind in zip(X, W, KINDS, strict=True)]
    (tmp_path / "classes.csv").write_text("\n".join(["a,b,c,d,count,kind", *lines]))
    return tmp_path


@pytest.mark.parametrize("name", ["flowers.csv", "flowers.parquet", "flowers.npz", "named.npz"])
def test_the_map_is_the_one_that_python_gives(name, tables):
    result = run("embed", name, "-m", "pca", "--sample-weight", "count", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(read_table("map.npy").values, PCA().fit(X, sample_weight=W).embedding_)
    assert f"  weights   of the rows, by column 'count' (in all {W.sum():g})\n" in result.output
    assert "150 rows of 4 columns" in result.output


def test_beside_columns_and_labels(tables):
    result = run("embed", "flowers.csv", "-m", "pca", "--columns", "b,d", "--sample-weight", "count", "-o", "map.npy")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(
        read_table("map.npy").values, PCA().fit(X[:, [1, 3]].copy(), sample_weight=W).embedding_
    )
    classes = ("--set", "graph=classes", "--labels", "kind")
    result = run("embed", "classes.csv", "-m", "lpp", *classes, "--sample-weight", "count", "-o", "map.npy")
    assert result.exit_code == 0, result.output
    expected = LPP(graph="classes").fit(X, np.array(list("abc"))[KINDS], sample_weight=W).embedding_
    np.testing.assert_allclose(read_table("map.npy").values, expected, rtol=1e-9)


def test_clusters(tables):
    result = run("cluster", "flowers.csv", "-c", 3, "--sample-weight", "count", "-o", "clusters.csv")
    assert result.exit_code == 0, result.output
    expected = SpectralClustering(3).fit(X, sample_weight=W).labels_
    np.testing.assert_array_equal(read_table("clusters.csv").values[:, 0], expected)
    assert "weights   of the rows, by column 'count'" in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["flowers.csv", "-m", "landmark_mds"], "LandmarkMDS does not use weights of rows: leave out --sample-weight."),
        (["flowers.csv", "--columns", "a,count"], "column 'count' holds weights and is not data"),
        (["graph.npz", "-m", "pca"], "'graph.npz' is a sparse matrix, which has no column names"),
        (["zeros.csv", "-m", "pca"], "sample_weight of row 1 is 0 (1 such row)"),
    ],
)
def test_what_cannot_be(words, sentence, tables):
    save_npz("graph.npz", csr_array(X))
    write_table("zeros.csv", np.column_stack([X[:5], [1, 0, 1, 1, 1]]), [*NAMES, "count"])
    result = run("embed", *words, "--sample-weight", "count", "--out", "map.csv")
    assert result.exit_code != 0
    assert sentence in result.output


def test_a_column_is_no_class(tables):
    classes = ("--set", "graph=classes", "--labels", "count")
    result = run("embed", "classes.csv", "-m", "lpp", *classes, "--sample-weight", "count", "--out", "map.csv")
    assert "column 'count' cannot be both --labels and --sample-weight" in result.output
