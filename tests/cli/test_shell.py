"""The shell around the commands: what is imported, what is completed, what an interrupt says, progress."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import gramfold.datasets
from gramfold.cli import main
from gramfold.cli.commands import VERBS
from gramfold.cli.datasets import DATASETS
from gramfold.datasets import make_swiss_roll, make_torus
from gramfold.io import read_table, write_table
from gramfold.methods.names import method_names

HEAVY = ("numpy", "scipy", "sklearn", "numba", "matplotlib", "pandas", "pyarrow")
IMPORTED = (
    "import json, sys\n"
    "from gramfold.cli import main\n"
    "try: main(sys.argv[1:])\n"
    "except SystemExit as end: code = end.code\n"
    f"found = [name for name in {HEAVY} if name in sys.modules]\n"
    "sys.stderr.write('\\n' + json.dumps([code, found]))\n"
)


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("roll.csv", make_swiss_roll(60, length=20, random_state=0).points, ["x", "y", "z"])
    return tmp_path


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("--help", 0),
        ("embed --help", 0),
        ("methods", 0),
        ("datasets", 0),
        ("completion bash", 0),
        ("embde", 2),
        ("embed none.csv --out m.csv", 2),
        ("embed roll.csv --out m.csv --ot m.csv", 2),
        ("embed roll.csv --out m.csv -m isomp", 2),
        ("embed roll.csv --out none/m.csv", 2),
        ("embed roll.csv --out m.csv --picture none/m.png", 2),
        ("cluster none.csv --out m.csv", 2),
        ("cluster roll.csv --out m.csv -c many", 2),
        ("judge roll.csv none.csv", 2),
        ("judge roll.csv roll.csv --out none/m.csv", 2),
        ("compare none.csv", 2),
        ("compare roll.csv --methods isomp", 2),
        ("dimension none.csv", 2),
        ("advise none.csv", 2),
        ("transform none.gramfold roll.csv", 2),
        ("transform roll.csv none.csv", 2),
        ("transform roll.csv roll.csv --out none/m.csv", 2),
        ("inverse none.gramfold roll.csv", 2),
        ("inverse roll.csv none.csv --out m.csv", 2),
        ("info none.gramfold", 2),
        ("datasets torus --rows x --out m.csv", 2),
        ("datasets toruss --out m.csv", 2),
    ],
)
def test_nothing_heavy_is_imported_for_what_needs_nothing(line, code, folder):
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *line.split()], capture_output=True, text=True, check=True, cwd=folder
    )
    assert json.loads(done.stderr.splitlines()[-1]) == [code, []]


def completed(line, shell="bash"):
    """What the protocol of click's scripts answers: the words so far, and the place of the last."""
    words = line.split(" ")
    told = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_GRAMFOLD_COMPLETE": f"{shell}_complete"}
    done = subprocess.run(
        [sys.executable, "-c", "from gramfold.cli import main; main(prog_name='gramfold')"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **told},
    )
    return [one.partition(",") for one in done.stdout.split()]


def test_a_shell_completes_verbs_options_methods_data_sets_and_files():
    assert [name for _, _, name in completed("gramfold ")] == list(VERBS)
    assert [name for _, _, name in completed("gramfold em")] == ["embed"]
    assert ("plain", ",", "--neighbors") in completed("gramfold embed roll.csv --ne")
    assert [name for _, _, name in completed("gramfold embed roll.csv --method ")] == ["auto", *method_names()]
    assert [name for _, _, name in completed("gramfold embed -m la")] == [
        "landmark_isomap",
        "landmark_mds",
        "laplacian_eigenmaps",
    ]
    assert [name for _, _, name in completed("gramfold compare roll.csv --methods pca,isom")] == ["pca,isomap"]
    assert [name for _, _, name in completed("gramfold datasets to")] == ["torus"]
    assert "spectral_clustering" in [name for _, _, name in completed("gramfold methods spec")]
    assert completed("gramfold embed ro") == [("file", ",", "ro")]  # the shell's own files
    assert completed("gramfold embed roll.csv --out ma") == [("file", ",", "ma")]


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete --")])
def test_the_script_says_how_to_install_it(shell, word):
    told = run("completion", shell).output
    assert told.startswith(f"# Completion of gramfold in {shell}; to install it, run once\n#     ")
    assert word in told
    assert f"_GRAMFOLD_COMPLETE={shell}_complete" in told
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=told, text=True, check=True)


def test_an_interrupt_says_what_was_kept(folder, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gramfold.cli.drawn.Shown.draw", pressed)
    result = run("embed", "roll.csv", "--out", "map.csv", "--picture", "map.png")
    assert (result.exit_code, result.stderr) == (
        130,
        "Interrupted: stopped by Ctrl-C; map.csv is written and kept.\n",
    )
    assert len(read_table("map.csv").values) == 60
    assert run("embed", "none.csv", "--out", "map.csv").exit_code == 2  # the next command begins anew


def test_progress_is_shown_on_a_terminal_and_not_in_a_pipe(folder):
    pty = pytest.importorskip("pty")
    words = [sys.executable, "-m", "gramfold", "embed", "roll.csv", "--out", "map.csv"]
    piped = subprocess.run(words, capture_output=True, text=True, check=True)
    assert piped.stderr == ""
    ours, theirs = pty.openpty()
    shown = subprocess.run([*words], stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    told = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "[Isomap] neighbors" in told
    assert "\x1b[3" not in told  # no colours, whatever NO_COLOR says
    assert shown.stdout.splitlines()[-1] == piped.stdout.splitlines()[-1]


def test_data_sets_are_those_that_python_gives(folder):
    makers = {name.removeprefix("make_") for name in gramfold.datasets.__all__ if name.startswith("make_")}
    assert set(DATASETS) == makers - {"audio_clips", "random_graph"}  # which are no tables
    listed = run("datasets").output
    assert all(f"  {name} " in listed for name in DATASETS)
    result = run("datasets", "torus", "--rows", 50, "--noise", 0.1, "--seed", 3, "--truth", "--out", "torus.csv")
    assert result.exit_code == 0, result.output
    expected = make_torus(50, noise=0.1, random_state=3)
    table = read_table("torus.csv")
    np.testing.assert_array_equal(table.values, np.column_stack([expected.points, expected.truth]))
    assert table.names == ["x", "y", "z", "true_around_axis", "true_around_tube"]


@pytest.mark.parametrize("name", DATASETS)
def test_each_data_set_is_written_with_its_truth(name, folder):
    assert run("datasets", name, "-n", 7, "--truth", "--out", "rows.npz").exit_code == 0
    table = read_table("rows.npz")
    names = [f"true_{one}" for one in DATASETS[name].truth]
    assert len(table.values) == 7
    assert [one for one in table.names if one.startswith("true_")] == names
    sample = getattr(gramfold.datasets, f"make_{name}")(7)
    np.testing.assert_array_equal(table.values[:, -len(names) :], sample.truth.reshape(7, -1))


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("rol.csv", "did you mean 'roll.csv'?"),
        ("roll.txt", "did you mean 'roll.csv'?"),
        ("cells.csv", "check the name and the folder."),
        ("m.csv", "check the name and the folder."),
        ("Cell_Table.parquet", "did you mean 'cell-table.parquet'?"),
    ],
)
def test_a_file_that_was_meant_is_named(name, instead, folder):
    for other in ("cell-table.csv", "cell-table.parquet", "t.csv"):
        (folder / other).write_text("x")
    assert run("embed", name, "--out", "map.csv").stderr == f"Error: There is no file '{name}': {instead}\n"
