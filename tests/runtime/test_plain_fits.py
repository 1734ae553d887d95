"""Fits of small tables where nothing is compiled: numba is not loaded, and the maps are the same to the bit."""

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from gramfold import LLE, SDE, Isomap, LandmarkIsomap, LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll

TABLES = {"roll": make_swiss_roll(320, random_state=0).points, "digits": load_digits().data[:320]}
TABLES["digits in float32"] = TABLES["digits"].astype(np.float32)
SAME = {
    "Isomap": Isomap(),
    "LLE": LLE(),
    "LaplacianEigenmaps": LaplacianEigenmaps(),
    "LandmarkIsomap": LandmarkIsomap(landmarks=60),
}


def embed() -> dict[str, np.ndarray]:
    """Maps of 300 rows and of new ones, by name; SDE, whose factors are of two kinds, comes last."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of two components, and of maps that PCA surpasses
        for table, rows in TABLES.items():
            for name, model in SAME.items():
                found[f"{name}, {table}"] = model.fit(rows[:300]).embedding_
                found[f"{name}, {table}, new"] = model.transform(rows[300:])
        for table in ("roll", "digits"):
            found[f"SDE, {table}"] = SDE().fit(TABLES[table][:300]).embedding_
    return found


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Maps of a process that finds no machine code, and what it has loaded of numba."""
    folder = tmp_path_factory.mktemp("fresh")
    done = subprocess.run(
        [sys.executable, __file__, str(folder / "maps.npz")],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    with np.load(folder / "maps.npz") as maps:
        return dict(maps), json.loads(done.stdout), done.stderr


def test_numba_is_not_loaded(fresh):
    _, loaded, told = fresh
    assert loaded == []
    assert "compiling" not in told


def test_the_maps_are_those_of_compiled_kernels(fresh):
    plain, compiled = fresh[0], embed()
    assert "numba" in sys.modules  # as `load_kernels` says, they run here
    assert plain.keys() == compiled.keys()
    for name, places in compiled.items():
        if name.startswith("SDE"):  # SuperLU rounds in another order than our own factor
            assert np.linalg.norm(plain[name] - places) < 1e-6 * np.linalg.norm(places), name
        else:
            np.testing.assert_array_equal(plain[name], places, err_msg=name)


if __name__ == "__main__":
    np.savez(sys.argv[1], **embed())
    sys.stdout.write(json.dumps(sorted(name for name in sys.modules if name.split(".")[0] in {"numba", "llvmlite"})))
