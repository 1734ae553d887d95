"""Runs that are stopped at random moments, and go on: the folder is that of an undisturbed run, byte for byte."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

_STOPS = 10
_LOOP = """
import os, random, shutil, signal, sys, time
from click.testing import CliRunner
from gramfold.cli import main
from pathlib import Path

command, stops = sys.argv[1:-2], int(sys.argv[-1])
whole, stopped = Path("whole"), Path("stopped")
random.seed(int(sys.argv[-2]))

def run(out):
    result = CliRunner().invoke(main, [*command, "--out", f"{out}/"])
    if result.exit_code:
        raise SystemExit(result.output)

def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}

run("warm")
started = time.perf_counter()
run(whole)
seconds = time.perf_counter() - started
wanted, counts, finished = contents(whole), {"stopped": 0, "part": 0}, 0
while counts["stopped"] < stops:
    child = os.fork()
    if not child:
        run(stopped)
        os._exit(0)
    least = random.choice([0, random.randrange(1, 24)])  # at any moment, or when so many files are there
    time.sleep(0 if least else random.uniform(0, seconds))
    for _ in range(20_000):
        if len(list(stopped.glob("*.parquet"))) >= least:
            break
        time.sleep(0.001)
    os.kill(child, random.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
    _, status = os.waitpid(child, 0)
    some = len(list(stopped.glob("*.parquet"))) if stopped.exists() else 0
    counts["stopped"] += status != 0
    counts["part"] += status != 0 and 0 < some
    if status == 0:
        odd = [name for name in {*wanted, *contents(stopped)} if contents(stopped).get(name) != wanted.get(name)]
        assert not odd, odd
        shutil.rmtree(stopped)
run(stopped)
odd = [name for name in {*wanted, *contents(stopped)} if contents(stopped).get(name) != wanted.get(name)]
assert not odd, odd
print(counts["stopped"], counts["part"])
"""


@pytest.fixture
def big(tmp_path):
    """A folder of small files."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5)) * [5, 4, 1, 100, 1]
    frame = pd.DataFrame(X, columns=list("abcde")).assign(barcode=np.arange(len(X)) + 7)
    (tmp_path / "big").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(X)), 24)):
        frame.iloc[rows].to_parquet(tmp_path / "big" / f"part{number:02}.parquet", index=False)
    return tmp_path


def stopped_at_random(folder: Path, *command: str, seed: int, stops: int = _STOPS) -> tuple[int, int]:
    """How often a run was stopped, and how often when some files were written."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _LOOP, *command, str(seed), str(stops)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    stopped, part = map(int, result.stdout.split()[-2:])
    return stopped, part


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_embed_stopped_ten_times_at_random_writes_the_same_bytes(big):
    command = ["embed", "big/*.parquet", "-m", "pca", "-d", "2", "--scale", "standard", "--id", "barcode", "--quiet"]
    stopped, part = stopped_at_random(big, *command, seed=0)
    assert stopped == _STOPS
    assert part > 0, "never when some files were written"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("seed", range(5))
def test_transform_stopped_fifty_times_at_random_writes_the_same_bytes(big, seed):
    from click.testing import CliRunner

    from gramfold.cli import main

    model = ["embed", str(big / "big"), "-m", "pca", "-d", "2", "--quiet", "--out", f"{big / 'first'}/"]
    assert CliRunner().invoke(main, model).exit_code == 0
    command = ["transform", "first/_model.gramfold", "big", "--extrapolation", "--keep", "all"]
    stopped, part = stopped_at_random(big, *command, seed=seed, stops=50)
    assert stopped == 50
    assert part > 10


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_program_that_is_killed_ten_times_writes_the_same_bytes(big):
    """Each a process of its own, also on its way through the imports and the fit."""
    command = [
        sys.executable,
        "-m",
        "gramfold",
        "embed",
        "big",
        "-m",
        "kernel_eigenmaps",
        "-k",
        "8",
        "--quiet",
        "--out",
    ]

    def started(out):
        return subprocess.Popen([*command, f"{out}/"], cwd=big)

    def contents(out):
        return {path.name: path.read_bytes() for path in (big / out).iterdir()}

    begun = time.perf_counter()
    assert started("whole").wait() == 0
    seconds = time.perf_counter() - begun
    rng, stops = np.random.default_rng(0), 0
    while stops < _STOPS:
        program = started("stopped")
        time.sleep(rng.uniform(0, seconds))
        program.kill()
        if program.wait() == 0:
            assert contents("stopped") == contents("whole")
            shutil.rmtree(big / "stopped")
        else:
            stops += 1
    assert started("stopped").wait() == 0
    assert contents("stopped") == contents("whole")


@pytest.mark.slow
def test_workers_killed_while_files_are_written_change_nothing(big, monkeypatch):
    """Tasks are run again elsewhere, and write the same bytes."""
    from click.testing import CliRunner
    from distributed import LocalCluster

    from gramfold.cli import main

    monkeypatch.chdir(big)

    def run(*words):
        result = CliRunner().invoke(main, [str(word) for word in words])
        assert result.exit_code == 0, result.output

    run("embed", "big", "-m", "pca", "-d", "2", "--quiet", "--out", "first/")
    model = "first/_model.gramfold"
    run("transform", model, "big", "--quiet", "--out", "whole/")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        rng = np.random.default_rng(0)
        for number in range(3):
            stopped = threading.Event()
            killer = threading.Thread(target=_kill_a_worker, args=(cluster, rng.uniform(0, 0.5), stopped))
            killer.start()
            run(
                "transform",
                model,
                "big",
                "--quiet",
                "--out",
                f"there{number}/",
                "--scheduler",
                cluster.scheduler_address,
            )
            stopped.wait()
            killer.join()
            whole = {path.name: path.read_bytes() for path in Path("whole").iterdir()}
            assert whole == {path.name: path.read_bytes() for path in Path(f"there{number}").iterdir()}


def _kill_a_worker(cluster, seconds, stopped):
    time.sleep(seconds)
    nanny = next(iter(cluster.workers.values()))
    os.kill(nanny.pid, signal.SIGKILL)  # the process of the worker, which its nanny starts again
    stopped.set()
