"""Cold start: what a user waits before anything is computed."""

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.timing import Race, cold, race

_RUNS = 9


def races() -> Iterator[Race]:
    """Each import in a fresh interpreter; an empty interpreter's own start counts in both."""
    yield race(
        "`import gramfold` against an empty interpreter",
        cold("import gramfold"),
        cold("pass"),
        target="difference ≤ 0.1 s",
        runs=_RUNS,
    )
    yield race(
        "`from gramfold import Isomap` against `from sklearn.manifold import Isomap`",
        cold("from gramfold import Isomap"),
        cold("from sklearn.manifold import Isomap"),
        target="≥ 0.91x (ours ≤ 1.1 of theirs)",
        runs=_RUNS,
    )
    _check_numba_waits()


def _check_numba_waits() -> None:
    code = (
        "import sys, numpy as np\n"
        "from gramfold import Isomap, LLE, LaplacianEigenmaps, KernelPCA, ClassicalMDS\n"
        "assert 'numba' not in sys.modules, 'numba was loaded by an import'\n"
        "Isomap().fit(np.random.default_rng(0).random((50, 3)))\n"
        "assert 'numba' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
