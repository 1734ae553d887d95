"""The command line: the same embeddings as in Python, and one sentence for what cannot be done."""

import inspect
import os
import re
import signal
import subprocess
import sys
import warnings

import click
import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array, eye_array, save_npz
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine
from sklearn.neighbors import kneighbors_graph

import gramfold
from gramfold.cli import main
from gramfold.cli.beside import check_use
from gramfold.cli.listing import GROUPS
from gramfold.cli.sentences import in_sentences
from gramfold.datasets import make_swiss_roll
from gramfold.errors import GramfoldWarning, InputError
from gramfold.io import read_table, write_table
from gramfold.methods.names import find_estimator, find_method, in_small_letters, known_methods, method_names

TAKE_AFFINITY = {"LPP", "KernelEigenmaps"}
LEARN_FROM_DISTORTED = {"OrientedPCA", "DistortionDiscriminantAnalysis"}
TAKE_PAIR_WEIGHTS = {"OrdinalMDS"}
ROLL = make_swiss_roll(n_samples=300, length=40, random_state=0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to stand in, with a table."""
    monkeypatch.chdir(tmp_path)
    write_table("roll.csv", ROLL.points, ["x", "y", "z"])
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


# ---------------------------------------------------------------------------------------- reference


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy", ".npz", ".parquet", ".feather"])
def test_the_map_is_the_one_that_python_gives(ending, folder):
    result = run("embed", "roll.csv", "--method", "isomap", "--dim", 3, "--neighbors", 7, "--out", f"map{ending}")
    assert result.exit_code == 0, result.output
    model = gramfold.Isomap(n_components=3, n_neighbors=7, random_state=0).fit(ROLL.points)
    table = read_table(f"map{ending}")
    np.testing.assert_array_equal(table.values, model.embedding_)
    if ending != ".npy":
        assert table.names == list(model.get_feature_names_out())


@pytest.mark.parametrize("count", [0.95, "mle", "none", 2])
def test_the_number_of_principal_components_may_be_left_to_the_rows(count, folder):
    result = run("embed", "roll.csv", "--method", "pca", "--n-components", count, "--out", "map.npy")
    assert result.exit_code == 0, result.output
    model = gramfold.PCA(None if count == "none" else count).fit(ROLL.points)
    np.testing.assert_array_equal(np.load("map.npy"), model.embedding_)
    result = run("embed", "roll.csv", "--method", "pca", "-d", "most", "--out", "map.npy")
    assert result.exit_code == 2
    assert "a float in the range (0.0, 1.0), a str among {'mle'} or None. Got 'most' instead" in result.output


def test_gaps_are_read_for_a_method_that_fills_them_in(folder):
    points = ROLL.points.copy()
    points[::9, 1] = np.nan
    write_table("gaps.csv", points, ["x", "y", "z"])
    result = run("embed", "gaps.csv", "--method", "probabilistic-pca", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load("map.npy"), gramfold.ProbabilisticPCA().fit_transform(points))
    refused = run("embed", "gaps.csv", "--method", "pca", "--missing", "error", "--out", "map.npy")
    assert "'gaps.csv' has 'nan' in column 'y', line 2" in refused.output


def test_every_option_reaches_the_method(folder):
    words = ["--radius", 4, "--metric", "cityblock", "--set", "on_disconnected=largest", "--set", "weights=gaussian"]
    result = run("embed", "roll.csv", "-m", "laplacian", *words, "--set", "laplacian=unnormalized", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    model = gramfold.LaplacianEigenmaps(
        radius=4.0, metric="cityblock", weights="gaussian", laplacian="unnormalized", on_disconnected="largest"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        expected = model.fit_transform(ROLL.points)
    np.testing.assert_array_equal(np.load("map.npy"), expected)


def test_neighbors_may_be_chosen(folder):
    result = run("embed", "roll.csv", "--method", "sde", "--neighbors", "auto", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load("map.npy"), gramfold.SDE(random_state=0).fit_transform(ROLL.points))
    refused = run("embed", "roll.csv", "--method", "isomap", "--neighbors", "auto", "--out", "no.npy")
    assert refused.exit_code != 0
    assert "n_neighbors" in refused.output
    assert "not a valid integer" in run("embed", "roll.csv", "--neighbors", "few", "--out", "no.npy").output


@pytest.mark.parametrize("option", ["--neighbors", "--n-neighbors", "-k"])
def test_neighbors_has_the_name_of_the_parameter_too(option, folder):
    result = run("embed", "roll.csv", option, 7, "--out", "map.npy")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load("map.npy"), gramfold.Isomap(n_neighbors=7).fit_transform(ROLL.points))


def test_short_circuits_are_dropped(folder):
    t = 6.0
    between = [[(t + np.pi) * np.cos(t), 10.0, (t + np.pi) * np.sin(t)]]
    rows = np.vstack([make_swiss_roll(1000, random_state=0).points, between])
    np.save("bent.npy", rows)
    result = run("embed", "bent.npy", "--drop-short-circuits", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    assert "1 short circuit of" in result.stderr
    with pytest.warns(GramfoldWarning, match="1 short circuit of"):
        model = gramfold.Isomap(drop_edges="short_circuits", random_state=0).fit(rows)
    np.testing.assert_array_equal(np.load("map.npy"), model.embedding_)
    assert f"dropped   {len(model.dropped_edges_)} edge" in result.output
    refused = run("embed", "bent.npy", "-m", "pca", "--drop-short-circuits", "--out", "map.npy")
    assert "PCA has no parameter drop_edges: leave out --drop-short-circuits." in refused.stderr


@pytest.mark.parametrize("search", ["auto", "exact", "approximate"])
def test_the_search_of_neighbours_is_an_option(search, folder):
    if search == "approximate":
        pytest.importorskip("faiss")
    result = run("embed", "roll.csv", "--search", search, "--out", "map.npy")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load("map.npy"), gramfold.Isomap(search=search).fit_transform(ROLL.points))
    result = run("embed", "roll.csv", "--search", "quick", "--out", "map.npy")
    assert result.exit_code == 2
    assert "Invalid value for '--search': 'quick' is not one of 'auto', 'exact', 'approximate'." in result.stderr


def test_columns_and_skip_choose_what_is_mapped(folder):
    frame = pd.DataFrame(ROLL.points, columns=["x", "y", "z"]).assign(name="Ada", **{"a, b": 1.0})
    frame.to_csv("people.csv", index=False)
    assert run("embed", "people.csv", "--skip", 'name,"a, b"', "-m", "classical", "--out", "a.npy").exit_code == 0
    assert run("embed", "people.csv", "--columns", "x,y,z", "-m", "classical", "--out", "b.npy").exit_code == 0
    expected = gramfold.ClassicalMDS().fit_transform(ROLL.points)
    np.testing.assert_array_equal(np.load("a.npy"), expected)
    np.testing.assert_array_equal(np.load("b.npy"), expected)


@pytest.mark.parametrize(
    "words",
    [
        ["--skip", "name", "--skip", '"a, b"'],
        ["--skip", 'name,"a, b"', "--skip", "name"],
        ["--columns", "x", "--columns", "y,z"],
        ["--columns", "x,y,z,name", "--skip", "name"],
        ["--columns", "x\ny", "--columns", "z"],
    ],
)
def test_names_may_stand_together_or_each_by_itself(words, folder):
    frame = pd.DataFrame(ROLL.points, columns=["x", "y", "z"]).assign(name="Ada", **{"a, b": 1.0})
    frame.to_csv("people.csv", index=False)
    result = run("embed", "people.csv", *words, "-m", "classical", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load("map.npy"), gramfold.ClassicalMDS().fit_transform(ROLL.points))


def test_text_may_be_written_in_other_ways(folder):
    words = ["-m", "classical", "--out", "map.npy"]
    pd.DataFrame(ROLL.points).to_csv("comma.csv", index=False, sep=";", decimal=",", header=["2020", "2021", "2022"])
    expected = gramfold.ClassicalMDS().fit_transform(ROLL.points)
    assert run("embed", "comma.csv", *words).exit_code == 0  # the decimal comma is guessed
    np.testing.assert_array_equal(np.load("map.npy"), expected)
    result = run("embed", "comma.csv", *words, "--decimal", ",")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith(
        "Warning: the numbers in the first line of 'comma.csv' (2020, 2021, 2022) are unlike those"
    )
    assert "pass `--no-header`" in result.stderr
    np.testing.assert_array_equal(np.load("map.npy"), expected)
    result = run("embed", "comma.csv", *words, "--decimal", ",", "--header", "--skip", "2021")
    assert (result.exit_code, result.stderr) == (0, "")
    assert run("embed", "comma.csv", *words, "--decimal", ",", "--no-header").exit_code == 0
    assert len(np.load("map.npy")) == 301
    # another table of text is read alike, one of arrays as it is
    noisy = ROLL.points + np.random.default_rng(0).normal(size=ROLL.points.shape)
    frame = pd.DataFrame(noisy, columns=["2020", "2021", "2022"])
    frame.to_csv("noisy.csv", index=False, sep=";", decimal=",")
    frame.to_parquet("noisy.parquet")
    expected = gramfold.OrientedPCA().fit_transform(ROLL.points, X_distorted=noisy)
    for other in ("noisy.csv", "noisy.parquet"):
        words[1] = "oriented_pca"
        result = run("embed", "comma.csv", *words, "--distorted", other, "--decimal", ",", "--header")
        assert result.exit_code == 0, result.output
        np.testing.assert_allclose(np.load("map.npy"), expected, rtol=1e-9)


@pytest.mark.parametrize("method", ["classical_mds", "kernel_pca", "pca", "isomap"])
def test_the_summary_counts_no_residual_of_a_column_that_is_zero(method, folder):
    line = np.random.default_rng(0).normal(size=(60, 1)) * [1.0, 2.0, -1.0]
    write_table("line.csv", line, ["x", "y", "z"])
    words = ["--set", "kernel=linear"] if method == "kernel_pca" else []
    told = run("embed", "line.csv", "-m", method, *words, "--out", "map.csv").stdout
    assert float(re.search(r"largest residual (\S+)", told)[1]) < 1e-12
    assert "rank      1, less than the 2 columns of the map; the other columns are zero" in told


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_labels_reach_a_method_that_looks_at_classes(ending, folder):
    X, y = load_wine(return_X_y=True)
    names = [f"c{j}" for j in range(X.shape[1])]
    kind = np.array(["red", "white", "other"])[y]
    frame = pd.DataFrame(X, columns=names).assign(kind=kind, number=y, note="x")
    frame.to_csv("wine.csv", index=False) if ending == ".csv" else frame.to_parquet("wine.parquet")
    words = ["-m", "lpp", "--set", "graph=classes", "--skip", "number,note", "--out", "map.npy"]
    result = run("embed", f"wine{ending}", *words, "--labels", "kind")
    assert result.exit_code == 0, result.output
    expected = gramfold.LPP(graph="classes", random_state=0).fit_transform(X, kind)
    np.testing.assert_array_equal(np.load("map.npy"), expected)
    assert "178 rows of 13 columns" in result.output
    assert "classes   3, by column 'kind'" in result.output
    # numbers name the same classes; who is called what does not matter
    words[words.index("number,note")] = "kind,note"
    assert run("embed", f"wine{ending}", *words, "--labels", "number").exit_code == 0
    np.testing.assert_allclose(np.load("map.npy"), expected, atol=1e-10 * np.abs(expected).max())


def test_distorted_tables_reach_a_method_that_learns_from_them(folder):
    rng = np.random.default_rng(0)
    versions = [ROLL.points + rng.standard_normal((300, 3)) * [0.1, 3.0, 0.5] for _ in range(2)]
    write_table("one.csv", versions[0], ["x", "y", "z"])
    write_table("two.parquet", np.column_stack([np.ones(300), versions[1][:, ::-1]]), ["w", "z", "y", "x"])
    result = run("embed", "roll.csv", "-m", "oriented_pca", "--distorted", "one.csv", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    expected = gramfold.OrientedPCA().fit_transform(ROLL.points, X_distorted=versions[0])
    np.testing.assert_array_equal(np.load("map.npy"), expected)
    # columns are found by their names; several versions are one noise
    words = ["--distorted", "one.csv", "--distorted", "two.parquet", "--set", "layers=[(1, 1, 1)]", "--out", "map.npy"]
    result = run("embed", "roll.csv", "-m", "distortion", *words)
    assert result.exit_code == 0, result.output
    model = gramfold.DistortionDiscriminantAnalysis(layers=[(1, 1, 1)])
    np.testing.assert_array_equal(np.load("map.npy"), model.fit_transform(ROLL.points, X_distorted=np.stack(versions)))
    assert "noise     of 2 distorted versions" in result.output


@pytest.mark.parametrize("ending", [".csv", ".npy"])
def test_pair_weights_reach_ordinal_mds(ending, folder):
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((60, 60)) * (rng.random((60, 60)) < 0.6), 1)
    weights += weights.T
    dissimilarities = np.where(weights > 0, cdist(ROLL.points[:60], ROLL.points[:60]), np.nan)
    write_table(f"weights{ending}", weights, [f"r{j}" for j in range(60)])
    write_table(f"ratings{ending}", dissimilarities, [f"r{j}" for j in range(60)])
    words = ["-m", "ordinal-mds", "--metric", "precomputed", "--out", "map.npy"]
    result = run("embed", f"ratings{ending}", *words, "--pair-weights", f"weights{ending}")
    assert result.exit_code == 0, result.output
    expected = gramfold.OrdinalMDS(metric="precomputed").fit_transform(dissimilarities, pair_weights=weights)
    np.testing.assert_array_equal(np.load("map.npy"), expected)
    assert f"weights   of {np.count_nonzero(weights) // 2:,} of 1,770 pairs of rows" in result.output
    result = run("embed", f"ratings{ending}", *words)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "the precomputed matrix contains NaN in row 0, column 5" in result.stderr


@pytest.mark.parametrize("ending", [".npz", ".csv", ".npy"])
@pytest.mark.parametrize("method", ["lpp", "kernel-eigenmaps"])
def test_a_given_graph_reaches_the_method(method, ending, folder):
    edges = kneighbors_graph(ROLL.points, 6, mode="distance")
    edges.data = 1 / edges.data
    edges = edges.maximum(edges.T)
    if ending == ".npz":
        save_npz("edges.npz", edges)
    else:
        write_table(f"edges{ending}", edges.toarray(), [f"r{j}" for j in range(300)])
    result = run("embed", "roll.csv", "-m", method, "--affinity", f"edges{ending}", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    model = {"lpp": gramfold.LPP, "kernel-eigenmaps": gramfold.KernelEigenmaps}[method]()
    np.testing.assert_array_equal(np.load("map.npy"), model.fit_transform(ROLL.points, affinity=edges))
    assert f"graph     given, {edges.nnz // 2:,} edges" in result.output


def test_sparse_pair_weights(folder):
    near = kneighbors_graph(ROLL.points[:60], 20)
    near = near.maximum(near.T)
    save_npz("weights.npz", near)
    write_table("distances.npy", cdist(ROLL.points[:60], ROLL.points[:60]), [f"r{j}" for j in range(60)])
    words = ["-m", "ordinal-mds", "--metric", "precomputed", "--pair-weights", "weights.npz", "--out", "map.npy"]
    result = run("embed", "distances.npy", *words)
    assert result.exit_code == 0, result.output
    assert f"weights   of {near.nnz // 2:,} of 1,770 pairs of rows" in result.output


@pytest.mark.parametrize("method", known_methods().values(), ids=lambda method: method.__name__)
def test_what_a_fit_takes_beside_the_rows_is_declared(method):
    """Classes: by scikit-learn's tag; all else by the signature. Without use for them they are refused."""
    model, name = method(), method.__name__
    with pytest.raises(InputError, match=f"{name} with these parameters does not use class labels"):
        check_use(model, "kind", [])
    if name in LEARN_FROM_DISTORTED:
        check_use(model, None, ["noisy.csv"])
    else:
        with pytest.raises(InputError, match=f"{name} does not use distorted rows"):
            check_use(model, None, ["noisy.csv"])
    if name in TAKE_PAIR_WEIGHTS:
        check_use(model, None, [], {"pair_weights": "weights.csv"})
    else:
        with pytest.raises(InputError, match=f"{name} does not use weights of pairs: leave out --pair-weights"):
            check_use(model, None, [], {"pair_weights": "weights.csv"})
    if name in TAKE_AFFINITY:
        check_use(model, None, [], {"affinity": "edges.npz"})
    else:
        with pytest.raises(
            InputError, match=f"{name} does not take a graph in addition to the rows: leave out --affinity"
        ):
            check_use(model, None, [], {"affinity": "edges.npz"})


def test_as_a_program(folder):
    words = [sys.executable, "-m", "gramfold", "embed", "roll.csv", "-m", "lle", "--out", "map.csv"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "LLE mapped 300 rows of 3 columns to 2 dimensions" in done.stdout
    assert "Traceback" not in done.stderr
    assert len(read_table("map.csv").values) == 300
    done = subprocess.run([*words, "--columns", "w"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["Error: 'roll.csv' has no column 'w'; it has x, y, z."]


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from gramfold.cli import main\n"
        "try: main(['embed', '--help'])\n"
        "except SystemExit: pass\n"
        "print(*{'numpy', 'sklearn', 'scipy', 'numba', 'matplotlib'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gramfold embed cells.csv --picture map.png --color stage" in done.stdout
    assert done.stderr.strip() == ""


# ------------------------------------------------------------------------------------------- itself


def test_every_method_is_found_by_its_name():
    known = known_methods()
    assert {"isomap", "kernel_pca", "classical_mds", "laplacian_eigenmaps", "lle"} <= set(known)
    for name, method in known.items():
        assert find_method(name) is find_method(name.replace("_", "-").upper()) is method
        assert getattr(gramfold, method.__name__) is method
    assert list(known) == method_names()
    lines = [line for group in GROUPS.values() for line in group]
    assert sorted(line.name for line in lines) == list(known), "the list of `gramfold methods` is not complete"
    for line in lines:
        assert line.new_rows == hasattr(known[line.name], "transform")
        assert len(line.use.split()) <= 8
    listed = run("methods").output.splitlines()
    assert max(map(len, listed)) <= 80
    assert [line.split()[0] for line in listed if line.split()[:1] and line.split()[0] in known] == [
        line.name for line in lines
    ]


def test_names_are_known_without_an_import():
    for name in gramfold.__all__:
        thing = getattr(gramfold, name)
        assert name[0].isupper() == (isinstance(thing, type) and issubclass(thing, BaseEstimator))
        if name[0].isupper():
            listed = in_small_letters(name) in method_names()
            assert listed == (hasattr(thing, "fit_transform") and thing.__name__ == name)


@pytest.mark.parametrize("name", ["maximum_variance_unfolding", "Maximum-Variance-Unfolding", "maximum"])
def test_an_alias_finds_its_method_and_is_not_listed_twice(name):
    assert find_method(name) is gramfold.SDE
    assert list(known_methods().values()).count(gramfold.SDE) == 1
    assert run("methods", name).output == run("methods", "sde").output


def test_the_clusterer_is_told_of_but_makes_no_map():
    assert "--set max_clusters=  int, default=10" in run("methods", "spectral_clustering").output
    with pytest.raises(InputError, match="no method 'spectral_clustering'"):
        find_method("spectral_clustering")


def test_the_summary_has_the_certificate_of_a_learned_kernel(folder):
    write_table("few.csv", ROLL.points[:60], ["x", "y", "z"])
    summary = run("embed", "few.csv", "-m", "sde", "--columns", "x,y", "--out", "map.csv").output
    assert 0 <= float(re.search(r"certified within (\S+) of", summary)[1]) <= 1e-3


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("la", r"'la' is ambiguous \(landmark_isomap, landmark_mds, laplacian_eigenmaps\): write more"),
        ("tsne", r"no method 'tsne': it is in other packages, .*isomap"),
        ("", "no method ''"),
    ],
)
def test_names_that_mean_no_method(name, sentence):
    with pytest.raises(InputError, match=sentence):
        find_method(name)


def test_the_parameters_of_a_method_are_told():
    told = run("methods", "lle").output
    assert "\n--set reg=  float" in told
    assert "\n-k, --neighbors  int, default=8\n" in told
    assert "embedding_" not in told


@pytest.mark.parametrize("name", [*method_names(), "spectral_clustering"])
def test_every_parameter_of_a_method_is_told_with_its_option(name):
    told = run("methods", name).output
    method = find_estimator(name)
    options = [line for line in told.splitlines() if line.startswith("-")]
    assert len(options) == len(inspect.signature(method).parameters)
    assert max(map(len, told.splitlines())) <= 80
    assert "``" not in told


@pytest.mark.parametrize(
    ("method", "setting", "values"),
    [("classical-mds", "metric", "distances"), ("kernel-pca", "kernel", "kernel values")],
)
def test_the_summary_says_what_was_precomputed(method, setting, values, folder):
    np.save("square.npy", cdist(ROLL.points, ROLL.points) if setting == "metric" else ROLL.points @ ROLL.points.T)
    told = run("embed", "square.npy", "-m", method, "--set", f"{setting}=precomputed", "--out", "map.csv").output
    assert f"mapped 300 rows of 300 {values} to 2 dimensions" in told


def test_the_summary_tells_how_the_map_was_made(folder):
    told = run("embed", "roll.csv", "-m", "kernel-pca", "--set", "kernel=linear", "--dim", 3, "--out", "map.csv").output
    assert "KernelPCA mapped 300 rows of 3 columns to 3 dimensions" in told
    # three linear dimensions hold all of three columns
    assert "variance  100.0% of the total variance of the kernel\n" in told
    assert "solver    " in told
    assert "spectrum " in told
    assert str(folder / "map.csv") in told
    quiet = run("embed", "roll.csv", "-m", "kernel-pca", "--out", "map.csv", "--quiet")
    assert quiet.output == ""


@pytest.mark.parametrize(("method", "cls"), [("isomap", gramfold.Isomap), ("ordinal-mds", gramfold.OrdinalMDS)])
def test_the_summary_tells_the_negative_part(method, cls, folder):
    rows = np.random.default_rng(0).standard_normal((80, 5))
    write_table("noise.csv", rows, list("abcde"))
    told = run("embed", "noise.csv", "-m", method, "--out", "map.csv").output
    model = cls().fit(read_table("noise.csv").values)
    every = np.linalg.eigvalsh(model.kernel_.dense())
    share, negative = model.spectrum_.eigenvalues.sum() / every[every > 0].sum(), -every[every < 0].sum()
    line = f"{share:.1%} of the positive part of the kernel; {negative / np.abs(every).sum():.1%} of its spectrum"
    assert f"variance  {line} is negative\n" in told


def test_the_summary_of_a_streamed_map_takes_no_passes_for_its_variance(folder):
    rows = np.random.default_rng(0).standard_normal((2_100, 3))
    for n, told_of in ((2_100, False), (300, True)):
        np.save("rows.npy", rows[:n])
        told = run("embed", "rows.npy", "-m", "isomap", "--set", "storage=stream", "--out", "map.csv").output
        assert "block Lanczos, streamed" in told
        assert ("variance  " in told) == told_of


def test_an_estimate_of_the_negative_part_has_its_interval(folder):
    np.save("noise.npy", np.random.default_rng(0).standard_normal((2_100, 5)))
    told = run("embed", "noise.npy", "-m", "isomap", "--out", "map.csv").output
    found = re.search(r"about ([\d.]+)% \(([\d.]+)% to ([\d.]+)%\) of its spectrum is negative", told)
    about, low, high = (float(number) for number in found.groups())
    assert 10 < low < about < high < 50


@pytest.mark.parametrize("method", ["lle", "factor-analysis"])
def test_the_summary_has_no_share_of_what_is_not_known(method, folder):
    assert "variance" not in run("embed", "roll.csv", "-m", method, "--out", "map.csv").output


def test_a_warning_is_one_line_and_rows_without_a_place_are_counted(folder):
    apart = np.vstack([ROLL.points, ROLL.points[:20] + 1000])
    write_table("apart.csv", apart, ["x", "y", "z"])
    result = run("embed", "apart.csv", "--set", "on_disconnected=largest", "--out", "map.csv")
    assert result.exit_code == 0
    told = result.stderr.splitlines()
    assert len(told) == 1
    assert told[0].startswith("Warning: the neighbour graph has 2 connected components of 300, 20 rows")
    assert "left out  20 rows; their coordinates are nan" in result.stdout
    written = pd.read_csv("map.csv")
    assert written.isna().any(axis=1).tolist() == [False] * 300 + [True] * 20


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_a_picture_shows_dots(dim, folder):
    result = run("embed", "roll.csv", "-m", "kernel-pca", "--dim", dim, "--out", "map.npy", "--picture", "map.png")
    assert result.exit_code == 0, result.output
    pixels = matplotlib.image.imread("map.png")[..., :3]
    blue = (pixels[..., 2] > pixels[..., 0] + 0.2).mean()
    assert 0.01 < blue < 0.5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["-m", "classical_mds", "--neighbors", 5],
            "ClassicalMDS has no parameter n_neighbors: leave out --n",
        ),
        (["-m", "kernel_pca", "--metric", "cosine"], "KernelPCA has no parameter metric: leave out --metric."),
        (["-m", "pca", "--search", "exact"], "PCA has no parameter search: leave out --search."),
        (["-m", "lle", "--set", "rge=1"], "LLE has no parameter 'rge': did you mean 'reg'?"),
        (["-m", "lle", "--set", "zzz=1"], "LLE has no parameter 'zzz': it has n_components,"),
        (["-m", "lle", "--set", "reg"], "--set reg has no value"),
        (["-m", "lle", "--set", "reg=high"], "'reg' parameter of LLE must be"),
        (["--dim", 2, "--set", "n_components=3"], "n_components was given twice"),
        (["--dim", 0], "--dim 0 is no number of dimensions: use 1, 2, 3, …, or name a method."),
        (["--dim", 0, "-m", "isomap"], "'n_components' parameter of Isomap must be"),
        (["--neighbors", 300], "n_neighbors=300, but there are only 300 distinct rows"),
        (["--columns", "x,w"], "no column 'w'"),
        (["--skip", "x,y,z"], "no column left"),
        (["--picture", "map.doc"], "does not have the ending of an image file"),
        (["--picture", "none/map.png"], "there is no folder"),
        (["--out", "map.doc"], "ends in '.doc', which cannot be written"),
        (["--out", "none/map.csv"], "there is no folder"),
        (["--out", "roll.csv"], "'roll.csv' is an input file and would be overwritten"),
        (["--out", "old.csv", "--no-overwrite"], "'old.csv' already exists"),
        (["--labels", "x"], "Isomap with these parameters does not use class labels: leave out --labels."),
        (["-m", "lpp", "--labels", "x"], "Use --skip x to leave out the column."),
        (["-m", "lpp", "--set", "graph=classes"], "needs the class of each row: name the column of the"),
        (["-m", "lpp", "--set", "graph=clases", "--labels", "x"], "'graph' parameter of LPP must be"),
        (["-m", "lpp", "--set", "graph=classes", "--labels", "w"], "'roll.csv' has no column 'w'; it has x, y, z."),
        (
            ["-m", "lpp", "--set", "graph=classes", "--labels", "x"],
            "y contains missing or continuous values, which are not class labels",
        ),
        (["-m", "pca", "--distorted", "other.csv"], "PCA does not use distorted rows: leave out --distorted"),
        (["-m", "oriented_pca", "--distorted", "none.csv"], "There is no file 'none.csv'"),
        (["-m", "oriented_pca", "--distorted", "other.csv"], "'other.csv' has no column 'z'; it has x, y."),
        (["-m", "oriented_pca", "--columns", "x,y", "--distorted", "other.csv"], "has 2 rows, but 'roll.csv' has 300"),
        (["-m", "oriented_pca", "--distorted", "gaps.csv"], "'gaps.csv' has 'nan' in column 'y', line 2"),
        (["-m", "oriented_pca", "--distorted", "other.csv", "--out", "other.csv"], "would be overwritten"),
        (["--pair-weights", "other.csv"], "Isomap does not use weights of pairs: leave out --pair-weights"),
        (["-m", "ordinal_mds", "--pair-weights", "none.csv"], "There is no file 'none.csv'"),
        (
            ["-m", "ordinal_mds", "--pair-weights", "other.csv"],
            "'other.csv' has 2 rows and 2 columns, but 'roll.csv' has 300 rows: pass a matrix with a row and a column",
        ),
        (["-m", "ordinal_mds", "--pair-weights", "gaps.csv"], "'gaps.csv' has 'nan' in column 'y', line 2"),
        (["--affinity", "other.csv"], "Isomap does not take a graph in addition to the rows: leave out --affinity"),
        (["-m", "lpp", "--affinity", "none.npz"], "There is no file 'none.npz'"),
        (["-m", "lpp", "--affinity", "other.csv"], "pass a matrix with a row and a column for each row of the table"),
        (["-m", "lpp", "--affinity", "small.npz"], "'small.npz' has 2 rows and 2 columns, but 'roll.csv' has 300 rows"),
        (["-m", "lpp", "--affinity", "damaged.npz"], "'damaged.npz' is not a readable"),
        (["-m", "lpp", "-k", "5", "--affinity", "whole.npz"], "affinity is the graph, so n_neighbors=5 has no effect"),
        (["-m", "lpp", "--affinity", "one_way.npz"], "affinity is not symmetric: entry (0, 1) is 1 and entry (1, 0)"),
        (["-m", "ordinal_mds", "--pair-weights", "other.csv", "--out", "other.csv"], "would be overwritten"),
        (["--out", "link.csv"], "'link.csv' is an input file"),
        (["--out", "loop.csv"], "'loop.csv' cannot be written (symbolic links form a loop)"),
        (["--out", "one.csv", "--picture", "one.png"], "'one.png' and 'one.csv' are the same file"),
        (["-m", "oriented_pca", "--distorted", "loop.csv"], "'loop.csv' cannot be read (symbolic links form a loop)"),
        (["-m", "oriented_pca", "--distorted", "x" * 300 + ".csv"], "cannot be read (File name too long)"),
        (["--columns", "x,x"], "column 'x' twice"),
        (["--decimal", "x"], "decimal='x' is not a decimal separator"),
        (["--thousands", ",", "--decimal", ","], "use two different separators"),
    ],
)
def test_one_sentence_and_nothing_written(words, sentence, folder):
    (folder / "old.csv").write_text("old")
    (folder / "link.csv").symlink_to("roll.csv")
    (folder / "loop.csv").symlink_to("loop.csv")
    for name in ("one.csv", "one.png"):
        (folder / name).symlink_to("one")
    write_table("other.csv", np.eye(2), ["x", "y"])
    write_table("gaps.csv", ROLL.points * [1.0, np.nan, 1.0], ["x", "y", "z"])
    for name, matrix in (("small", eye_array(2)), ("whole", eye_array(300, k=1)), ("one_way", eye_array(300, k=1))):
        save_npz(f"{name}.npz", csr_array(matrix + matrix.T if name == "whole" else matrix))
    (folder / "damaged.npz").write_bytes((folder / "whole.npz").read_bytes()[:-40])
    before = {path: path.exists() and path.read_bytes() for path in folder.iterdir()}
    out = [] if "--out" in words else ["--out", "map.csv"]
    result = run("embed", "roll.csv", *words, *out)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert {path: path.exists() and path.read_bytes() for path in folder.iterdir()} == before


def test_an_old_map_is_replaced(folder):
    (folder / "map.csv").write_text("old")
    assert run("embed", "roll.csv", "--out", "map.csv").exit_code == 0
    assert len(read_table("map.csv").values) == 300


def test_debug_shows_the_whole_error_and_a_fault_of_our_own_is_not_blamed_on_the_user(folder):
    words = ["embed", "none.csv", "--out", "map.csv"]
    assert run(*words).exit_code == 2
    with pytest.raises(InputError):
        run(*words, "--debug")

    @click.command()
    @in_sentences
    def broken():
        raise KeyError("lost")

    result = CliRunner().invoke(broken)
    assert result.exit_code == 1
    assert "KeyError: 'lost'. This is a bug in gramfold: --debug shows the traceback." in result.stderr


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("roll.npz", lambda whole: whole[:200] + bytes(200) + whole[400:]),
        ("roll.npz", lambda whole: whole[:-30]),
        ("roll.npy", lambda whole: whole[:-30]),
        ("roll.parquet", lambda whole: whole[: len(whole) // 2]),
        ("roll.feather", lambda whole: whole[: len(whole) // 2]),
        ("roll.csv", lambda whole: whole[:300] + b"\xff" + whole[300:]),
    ],
)
def test_a_damaged_file_is_not_blamed_on_gramfold(name, damage, folder):
    write_table(name, ROLL.points, ["x", "y", "z"])
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    result = run("embed", name, "--out", "map.csv")
    assert result.exit_code == 2, result.output
    assert (
        result.stderr.startswith(f"Error: '{name}' is not")
        or f"'X' of '{name}' is not" in result.stderr
        or ("is truncated" in result.stderr)
        or "which is not a number: correct it" in result.stderr
    )
    assert result.stderr.count("\n") == 1


def test_what_the_system_refuses_is_not_blamed_on_gramfold():
    @click.command()
    @in_sentences
    def full():
        raise OSError(28, "No space left on device", "/tmp/x")

    result = CliRunner().invoke(full)
    assert result.exit_code == 2
    assert "Error: The system reported an error ([Errno 28] No space left on device: '/tmp/x')" in result.stderr


def test_a_map_through_a_link(folder):
    (folder / "store").mkdir()
    (folder / "out.parquet").symlink_to("store/blob")
    result = run("embed", "roll.csv", "-m", "classical", "--out", "out.parquet")
    assert result.exit_code == 0, result.output
    assert f"map       {folder / 'out.parquet'}\n" in result.stdout
    assert (folder / "store" / "blob").read_bytes().startswith(b"PAR1")
    np.testing.assert_array_equal(read_table("out.parquet").values, gramfold.ClassicalMDS().fit_transform(ROLL.points))


def test_the_demo_shows_maps_with_their_verdicts(tmp_path, monkeypatch):
    monkeypatch.setattr("gramfold.cli.demo.ROLL_ROWS", 600)
    monkeypatch.setattr("gramfold.cli.demo.TEAPOTS", 100)
    result = run("demo", "--out", tmp_path / "new")
    assert result.exit_code == 0, result.output
    picture = tmp_path / "new" / "gramfold-demo.png"
    assert f"Picture: {picture}" in result.output
    assert matplotlib.image.imread(picture)[..., :3].std() > 0.05
    assert len(re.findall(r"Proved: within 0\.\d\d% of the largest variance", result.output)) == 2
    kept = [int(share) for share in re.findall(r"keeps\s+(\d+)%", result.output)]
    # the roll is made for unfolding: SDE keeps what PCA cannot
    assert kept[1] > 80 > 60 > kept[0]
    assert "lie along branches" in " ".join(result.output.split())


def test_an_interrupted_demo_leaves_no_folder(tmp_path, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gramfold.cli.demo._findings", lambda: None)
    monkeypatch.setattr("gramfold.cli.demo_picture.draw", lambda _: None)
    monkeypatch.setattr("gramfold.plotting.save_picture", pressed)
    result = run("demo", "--out", tmp_path / "new" / "deep")
    assert (result.exit_code, list(tmp_path.iterdir())) == (130, [])


def test_clusters_are_those_that_python_gives(folder):
    X = np.vstack([ROLL.points, ROLL.points[:100] + 200.0])
    write_table("groups.csv", X, ["x", "y", "z"])
    result = run("cluster", "groups.csv", "-k", 6, "-c", 3, "--set", "assign=qr", "--out", "clusters.csv")
    assert result.exit_code == 0, result.output
    model = gramfold.SpectralClustering(3, 6, assign="qr").fit(X)
    table = read_table("clusters.csv")
    assert table.names == ["cluster"]
    np.testing.assert_array_equal(table.values[:, 0], model.labels_)
    assert (folder / "clusters.csv").read_text().splitlines()[1] == "0"  # whole numbers
    assert "found 3 clusters among 400 rows" in result.output
    assert f"sizes     {', '.join(str(size) for size in np.bincount(model.labels_))}" in result.output
    auto = run("cluster", "groups.csv", "-k", 6, "--out", "auto.csv", "--quiet")
    assert auto.output == ""
    np.testing.assert_array_equal(
        read_table("auto.csv").values[:, 0], gramfold.SpectralClustering(n_neighbors=6).fit(X).labels_
    )


@pytest.mark.parametrize("option", ["--clusters", "--n-clusters"])
def test_clusters_has_the_name_of_the_parameter_too(option, folder):
    result = run("cluster", "roll.csv", option, 4, "--out", "clusters.csv")
    assert result.exit_code == 0, result.output
    expected = gramfold.SpectralClustering(n_clusters=4).fit(ROLL.points).labels_
    np.testing.assert_array_equal(read_table("clusters.csv").values[:, 0], expected)


# ------------------------------------------------------------------------------------------- graphs


def karate_club():
    """Zachary's club: in how many contexts each two of the 34 members met."""
    networkx = pytest.importorskip("networkx")
    return csr_array(networkx.to_numpy_array(networkx.karate_club_graph()))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_social_network_is_clustered(form, folder):
    club = karate_club()
    save_npz("club.npz", club.asformat(form))
    result = run("cluster", "club.npz", "-c", 2, "--set", "weights=precomputed", "--out", "c.csv")
    assert result.exit_code == 0, result.output
    model = gramfold.SpectralClustering(2, weights="precomputed").fit(club)
    np.testing.assert_array_equal(read_table("c.csv").values[:, 0], model.labels_)
    assert "found 2 clusters among 34 rows" in result.output
    np.save("club.npy", club.toarray())
    run("cluster", "club.npy", "-c", 2, "--set", "weights=precomputed", "--out", "dense.csv")
    assert (folder / "dense.csv").read_text() == (folder / "c.csv").read_text()


def test_a_weighted_graph_is_embedded(folder):
    club = karate_club()
    save_npz("club.npz", club)
    result = run("embed", "club.npz", "-m", "laplacian", "--set", "weights=precomputed", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    expected = gramfold.LaplacianEigenmaps(weights="precomputed").fit_transform(club)
    np.testing.assert_array_equal(np.load("map.npy"), expected)
    assert "LaplacianEigenmaps mapped 34 rows with 156 edge weights to 2 dimensions" in result.output


def test_a_sparse_neighbour_graph_is_embedded(folder):
    near = kneighbors_graph(ROLL.points, 8, mode="distance")
    save_npz("near.npz", near)
    result = run("embed", "near.npz", "-m", "isomap", "--metric", "precomputed", "--out", "map.npy")
    assert result.exit_code == 0, result.output
    expected = gramfold.Isomap(metric="precomputed").fit_transform(near)
    np.testing.assert_array_equal(np.load("map.npy"), expected)
    assert "Isomap mapped 300 rows with 2,400 distances to 2 dimensions" in result.output
    aligned = run("embed", "near.npz", "--metric", "precomputed", "--align-to", "map.npy", "--out", "again.npy")
    assert aligned.exit_code == 0, aligned.output
    np.testing.assert_allclose(np.load("again.npy"), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["isomap", "laplacian_eigenmaps", "pca"])
def test_an_oblong_sparse_matrix_is_rows(name, folder):
    rows = csr_array(np.random.default_rng(0).poisson(0.6, (60, 30)))
    save_npz("counts.npz", rows)
    result = run("embed", "counts.npz", "-m", name, "--out", "map.npy")
    assert result.exit_code == 0, result.output
    methods = {"isomap": gramfold.Isomap, "laplacian_eigenmaps": gramfold.LaplacianEigenmaps, "pca": gramfold.PCA}
    np.testing.assert_array_equal(np.load("map.npy"), methods[name]().fit_transform(rows))
    assert "mapped 60 rows of 30 columns to 2 dimensions" in result.output


def test_sparse_rows_are_matched_by_value(folder):
    rows = csr_array(np.random.default_rng(0).poisson(0.3, (60, 12)).astype(float))
    save_npz("march.npz", rows)
    save_npz("april.npz", rows[10:])
    save_npz("other.npz", rows[:, :5])
    assert run("embed", "march.npz", "-m", "pca", "--out", "march.csv").exit_code == 0
    words = ["embed", "april.npz", "-m", "pca", "--align-to", "march.csv", "--out", "april.csv", "--align-rows"]
    result = run(*words, "march.npz")
    assert result.exit_code == 0, result.output
    expected = gramfold.align(gramfold.PCA().fit(rows[10:]), gramfold.PCA().fit(rows))
    np.testing.assert_allclose(read_table("april.csv").values, expected.embedding_, atol=1e-9)
    refused = run(*words, "other.npz")
    assert refused.exit_code == 2
    assert "'other.npz' has 5 columns, but 'april.npz' has 12" in refused.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["cluster", "club.npz"],
            "use --metric precomputed if it holds the distances of a neighbour graph, or --set weights=precomputed if ",
        ),
        (
            ["embed", "club.npz", "-m", "isomap"],
            "Isomap with these parameters needs rows, and a square sparse matrix may be a graph: use --metric prec",
        ),
        (["embed", "club.npz", "-m", "lpp"], "LPP with these parameters needs a dense table: save it as a dense array"),
        (
            ["cluster", "club.npz", "--set", "weights=precomputed", "--skip", "x0"],
            "'club.npz' is a sparse matrix, which has no column names or text: leave out --skip.",
        ),
        (["cluster", "club.npz", "--set", "weights=precomputed", "--decimal", ","], "leave out --decimal."),
        (["cluster", "damaged.npz", "--set", "weights=precomputed"], "'damaged.npz' is not a readable sparse matrix"),
        (["cluster", "far.npz", "--set", "weights=precomputed"], "'far.npz' is not a readable sparse matrix"),
        (["cluster", "oblong.npz", "--set", "weights=precomputed"], "pass a square matrix with one row and one column"),
    ],
)
def test_a_sparse_matrix_that_cannot_be_used(words, sentence, folder):
    club = karate_club()
    save_npz("club.npz", club)
    save_npz("oblong.npz", club[:20])
    np.savez("far.npz", format=b"csr", shape=(2, 2), data=[1.0], indices=[7], indptr=[0, 1, 1])
    np.savez("damaged.npz", format=b"csr", shape=(2, 2), data=[1.0])
    result = run(*words, "--out", "c.csv")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert sentence in result.stderr
    assert not (folder / "c.csv").exists()


def test_a_number_of_clusters_that_is_none(folder):
    result = run("cluster", "roll.csv", "-c", "many", "--out", "clusters.csv")
    assert result.exit_code == 2
    assert result.output == "Error: --clusters must be a positive integer or auto, but 'many' is neither.\n"
    assert not (folder / "clusters.csv").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="Windows has no such signal")
@pytest.mark.parametrize("words", [["methods"], ["--help"], ["judge", "--help"], ["judge", "t.csv", "m.csv"]])
def test_a_closed_pipe_is_no_error(tmp_path, words):
    rows = np.random.default_rng(0).random((60, 3))
    write_table(tmp_path / "t.csv", rows, ["a", "b", "c"])
    write_table(tmp_path / "m.csv", rows[:, :2], ["x", "y"])
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "gramfold", *words],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    assert done.stderr == ""
    assert done.returncode == -signal.SIGPIPE  # as of `yes | head`


INTERRUPTED_WRITE = """
import signal
from pathlib import Path
from gramfold.cli import main
from gramfold.io import table

def half(path, *rest):
    Path(path).write_text("half")
    signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
table.text.write = half
main(["embed", "roll.csv", "--method", "pca", "--out", "map.csv"])
"""


def test_an_interrupt_ends_with_its_code_one_line_and_no_file(folder):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_WRITE], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "Interrupted: stopped by Ctrl-C; nothing was written.\n"
    assert [path.name for path in folder.iterdir()] == ["roll.csv"]


INTERRUPTED_IMPORT = """
import signal, sys

class Pressed:
    def find_spec(self, name, *_):
        if name == "{module}":
            sys.meta_path.remove(self)
            exec("signal.raise_signal(signal.SIGINT)")

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Pressed())
"""


@pytest.mark.parametrize("module", ["click", "gramfold.cli.embed", "gramfold.io.text"])
def test_an_interrupt_of_an_import_ends_so_too(folder, module):
    (folder / "sitecustomize.py").write_text(INTERRUPTED_IMPORT.format(module=module))
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    words = [sys.executable, "-m", "gramfold", "embed", "roll.csv", "--out", "map.csv"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}, cwd=folder
    )
    assert (done.returncode, done.stderr) == (130, "Interrupted: stopped by Ctrl-C; nothing was written.\n")


@pytest.mark.parametrize(
    "words",
    [
        ["embed", "roll.csv", "--out", "map.csv"],
        ["embed", "roll.csv", "--out", "map.csv", "--debug"],
        ["cluster", "roll.csv", "--clusters", 2, "--out", "map.csv"],
        ["advise", "roll.csv"],
        ["dimension", "roll.csv"],
        ["judge", "roll.csv", "roll.csv"],
        ["compare", "roll.csv", "--out", "map.csv"],
        ["demo", "--out", "map.csv"],
    ],
)
def test_every_command_can_be_interrupted(words, folder, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gramfold.io.read_table", pressed)
    monkeypatch.setattr("gramfold.io.read_columns", pressed)
    monkeypatch.setattr("gramfold.datasets.make_swiss_roll", pressed)
    monkeypatch.setattr("gramfold.io.names_in", pressed)
    result = run(*words)
    assert result.exit_code == 130, result.output
    assert result.stderr == "Interrupted: stopped by Ctrl-C; nothing was written.\n"
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["roll.csv"]


@pytest.mark.parametrize(
    "words",
    [
        ["advise", "dup.csv"],
        ["advise", "dup.csv", "--code"],
        ["embed", "dup.csv", "--out", "map.csv"],
        ["cluster", "dup.csv", "--clusters", 2, "--out", "map.csv"],
        ["dimension", "dup.csv"],
        ["judge", "dup.csv", "roll.csv"],
        ["compare", "dup.csv", "--methods", "pca"],
    ],
)
def test_columns_of_one_name_are_refused_as_in_python(words, folder):
    lines = [",".join(map(str, row)) for row in ROLL.points]
    (folder / "dup.csv").write_text("\n".join(["a,a,b", *lines]) + "\n")
    with pytest.raises(InputError, match="several columns named 'a'"):
        gramfold.advise(pd.DataFrame(ROLL.points, columns=["a", "a", "b"]))
    result = run(*words)
    assert result.exit_code == 2
    assert result.output == "Error: 'dup.csv' has several columns named 'a': give them different names.\n"
