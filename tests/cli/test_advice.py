"""`gramfold advise`: the plan of Python, with the names of the file, and the command that does it."""

import json
import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array, save_npz

from gramfold.cli import main
from gramfold.datasets import make_swiss_roll
from gramfold.io import read_table, write_table

ROLL = make_swiss_roll(300, random_state=0).points


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to stand in, with tables, and quick trials."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gramfold.advice.trial.ROWS", 120)
    write_table("roll.csv", np.column_stack([np.arange(300), ROLL]), ["number", "x", "y", "z"])
    lines = [f"n{i},{x},{y},{z},{'ab'[i % 2]}" for i, (x, y, z) in enumerate(ROLL)]
    (tmp_path / "mixed.csv").write_text("\n".join(["name,x,y,z,kind", *lines]) + "\n")
    return tmp_path


def run(*words, exit_code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == exit_code, result.output
    return result.output


def command_of(output):
    line = next(line for line in output.splitlines() if line.startswith("  command"))
    return shlex.split(line.removeprefix("  command"))[1:]


def test_the_command_makes_the_map(folder):
    output = run("advise", "roll.csv", "--out", "advice.json")
    assert output.startswith("Advice for 300 rows of 4 columns\n  left out    column 'number': it counts the rows")
    written = json.loads((folder / "advice.json").read_text("utf8"))
    assert written["left_out"]["value"] == ["number"]
    words = command_of(output)
    assert words[words.index("--skip") + 1] == "number"
    run(*words)
    assert read_table("map.csv").values.shape == (300, written["n_components"]["value"])


def test_text_is_read():
    output = run("advise", "mixed.csv")
    assert "column 'name': it has another text in each row" in output
    assert "column 'kind': it holds text (the metric gower would" in " ".join(output.split())
    run(*command_of(output))
    labelled = run("advise", "mixed.csv", "--labels", "kind")
    assert "metric      euclidean" in labelled
    assert "kind" not in labelled.split("command")[0]


def test_numbers_with_a_decimal_comma(folder):
    lines = [f"{x};{y};{z}".replace(".", ",") for x, y, z in ROLL]
    (folder / "german.csv").write_text("\n".join(["x;y;z", *lines]) + "\n")
    assert "Advice for 300 rows of 3 columns" in run("advise", "german.csv")  # it is guessed
    output = run("advise", "german.csv", "--decimal", ",")
    assert "text that may be" not in output
    command = command_of(output)
    assert command[command.index("--decimal") + 1] == ","
    run(*command)
    assert "text that may be" not in run("advise", "mixed.csv")


def test_numbers_with_a_sign(folder):
    lines = [f"{x},{y},{abs(z):.1f}%" for x, y, z in ROLL]
    (folder / "shares.csv").write_text("\n".join(["x,y,share", *lines]) + "\n")
    assert "column 'share' holds text that may be numbers with a sign ('" in run("advise", "shares.csv")


def test_the_code_runs():
    pandas = pytest.importorskip("pandas")
    space = {"X": pandas.read_csv("roll.csv")}
    exec(run("advise", "roll.csv", "--code"), space)
    assert len(space["embedding"]) == 300


def test_sparse_rows_have_no_names():
    save_npz("counts.npz", csr_array(np.random.default_rng(0).poisson(0.1, (100, 60))))
    assert "none makes this plan: see --code" in run("advise", "counts.npz")
    assert "leave out --skip" in run("advise", "counts.npz", "--skip", "a", exit_code=2)


def test_errors_are_sentences():
    assert "There is no file" in run("advise", "absent.csv", exit_code=2)
    assert "advice is written as JSON only" in run("advise", "roll.csv", "--out", "advice.txt", exit_code=2)
    assert "no column of X is left for a map" in run("advise", "roll.csv", "--columns", "number", exit_code=2)


# --- columns that drown the others, in a fit


def test_loud_columns_are_told_once_and_by_name():
    write_table("units.csv", ROLL * [1, 1e4, 1], ["x", "salary", "z"])
    result = CliRunner().invoke(main, ["embed", "units.csv", "-m", "pca", "--scale", "none", "-o", "map.csv"])
    assert result.output.count("scales    column 'salary' has 100.0% of the variance") == 1
    assert "Next: column 'salary' has 100.0% of the variance" in result.output
    assert "Warning" not in result.output
    words = ["embed", "units.csv", "-m", "pca", "--scale", "none", "-o", "map.csv", "--quiet"]
    quiet = CliRunner().invoke(main, words)
    assert quiet.output.count("Warning: column 'salary' has 100.0% of the variance") == 1
    assert quiet.output.count("of the variance") == 1
    clustered = CliRunner().invoke(main, ["cluster", "units.csv", "-c", "2", "--scale", "none", "-o", "c.csv"])
    assert clustered.output.count("scales    column 'salary' has") == 1
    assert (
        "scales"
        not in CliRunner()
        .invoke(main, ["embed", "units.csv", "-m", "factor_analysis", "-o", "map.csv", "-d", "1"])
        .output
    )
