"""Runs that are stopped at random moments, and go on: the folder is that of an undisturbed run, byte for byte."""

import subprocess
import sys
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
