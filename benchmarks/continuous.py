"""Kernel eigenmaps of a million rows: time beside a tenth of them, and the memory of the whole process.

The rows are a noisy 90 × 60 swiss roll turned into 20 columns; 200 kernels on all columns make 4,200 unknowns.
"""

import json
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.timing import Race

_MILLION = 1_000_000
_FIT = """
import json, resource, sys, time, warnings
import numpy as np
from gramfold import KernelEigenmaps
from gramfold.datasets import make_swiss_roll
warnings.simplefilter("ignore")
roll = make_swiss_roll(int(sys.argv[1]), height=60, extra_dimensions=17, random_state=0).points
X = roll @ np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))[0]
del roll
started, used = time.perf_counter(), time.process_time()
model = KernelEigenmaps(2, n_kernels=200, search="approximate").fit(X)
print(json.dumps({
    "seconds": time.perf_counter() - started,
    "processor": time.process_time() - used,
    "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    "stages": {name: round(spent, 1) for name, spent in model.timings_.items()},
}))
"""


def races() -> Iterator[Race]:
    """Each fit in a process of its own, so that its peak of memory is its own."""
    small, whole = (_measured(n) for n in (_MILLION // 10, _MILLION))
    told = ", ".join(f"{name} {spent:g} s" for name, spent in whole["stages"].items())
    yield Race(
        f"kernel eigenmaps, {_MILLION:,} × 20, 200 kernels (peak {whole['gigabytes']:.2f} GB, 3 allowed; {told}; "
        f"peer: {_MILLION // 10:,} rows)",
        [whole["seconds"]],
        [small["seconds"]],
        "≥ 0.083x (12 times at most)",
    )
    yield Race("the same in processor time, both cores", [whole["processor"]], [small["processor"]], "≥ 0.083x")


def _measured(n: int) -> dict:
    told = subprocess.run([sys.executable, "-c", _FIT, str(n)], check=True, capture_output=True, text=True).stdout
    return json.loads(told)
