"""NUMBA_DISABLE_JIT=1 runs every kernel as plain Python, with the results of the compiled one."""

import os
import subprocess
import sys
import warnings

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, kron

from gramfold import SDE, Isomap, LaplacianEigenmaps
from gramfold.direct.dissection import Dissection
from gramfold.direct.factor import Factor, Symbolic, without_diagonal
from gramfold.errors import GramfoldWarning
from gramfold.graph.geodesic import all_pairs
from gramfold.neighbors.distance_kernels import pair_lengths
from gramfold.neighbors.join import seeming_within
from gramfold.neighbors.leading import Axes
from gramfold.runtime.costs import Costs, DirectCosts, GeodesicCosts
from gramfold.spectral.chebyshev import chebyshev_eigenpairs
from tests.kernels_loaded import load_kernels


def roll(n):
    angle, height = np.random.default_rng(0).uniform([[4.0], [0.0]], [[12.0], [8.0]], (2, n))
    return np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])


def mixed(n, d):
    rng = np.random.default_rng(1)
    return np.tanh(rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)))


def grid(side):
    line = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    return csr_array(kron(line, np.eye(side)) + kron(np.eye(side), line))


def fitted():
    """What kernels of every room give, by name."""
    load_kernels()
    rng, found = np.random.default_rng(2), {}
    X, wide = roll(60), mixed(60, 20)
    models = {
        "all pairs": (Isomap(n_neighbors=5), X),
        "in float32": (Isomap(n_neighbors=6), wide.astype(np.float32)),
        "landmarks": (Isomap(n_neighbors=5, landmarks=8), X),
        "products": (LaplacianEigenmaps(), wide),
        "dense": (SDE(isometry="exact", solver="dense"), X[:25]),
        "low rank": (SDE(solver="low-rank"), X[:25]),
    }
    for name, (model, rows) in models.items():
        found[name] = model.fit(rows).embedding_
        found[f"{name}, new rows"] = model.transform(rows[:5] + rows.dtype.type(0.01))
    walked = Costs(geodesics=GeodesicCosts(walked_edge=0.0))
    found["Dijkstra"] = all_pairs(models["all pairs"][0].graph_, costs=walked)
    A = grid(32)
    parts = Symbolic.of(A, costs=Costs(direct=DirectCosts(least_subtree=0.0)))
    found["solve"] = Factor.of(A, parts).solve(rng.standard_normal((A.shape[0], 5)))
    found["order"] = Dissection(without_diagonal(A)).finish()
    found["eigenvalues"] = chebyshev_eigenpairs(grid(8), np.zeros((64, 0)), 3, 1e-8)[0]
    near = seeming_within(wide, wide, *np.ones((2, 60)), Axes(np.linalg.svd(wide)[2][:8].T))
    found["within"] = np.stack([near.asking, near.rows])
    far, ends, found["overflow"] = np.array([[1e200], [-1e200]]), np.arange(2), np.empty(1)
    pair_lengths(far, ends[:1], far, ends[1:], found["overflow"])  # infinite, and compiled code does not warn
    return found


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled to compare with")
def test_plain_kernels_give_what_compiled_ones_do(tmp_path):
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path / "plain.npz")],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    compiled = fitted()
    with np.load(tmp_path / "plain.npz") as plain:
        assert set(plain) == set(compiled)
        for name in plain:
            np.testing.assert_allclose(plain[name], compiled[name], rtol=1e-10, atol=1e-10, err_msg=name)


if __name__ == "__main__":
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", GramfoldWarning)
    np.savez(sys.argv[1], **fitted())
