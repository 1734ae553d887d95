"""A fitted model as the last line of a notebook cell: what its picture costs, beside scikit-learn's diagram.

Each in a fresh interpreter after the fit: the first call imports what it needs, the second is warm.
"""

import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.timing import Race

_RUNS = 5
_WITHIN = 0.3  # seconds, with all imports: a cell that shows its model at once
_CODE = """
import time, numpy as np
from gramfold import PCA
from sklearn.utils import estimator_html_repr
model = PCA().fit(np.random.default_rng(0).normal(size=({n}, {d})))
def seconds(show):
    began, busy = time.perf_counter(), time.process_time()
    show()
    return time.perf_counter() - began, time.process_time() - busy
ours = [seconds(model._repr_mimebundle_) for _ in range(2)]
theirs = [seconds(lambda: (repr(model), estimator_html_repr(model))) for _ in range(2)]
print(*(f"{{wall}} {{cpu}}" for wall, cpu in ours + theirs))
"""


def races() -> Iterator[Race]:
    """150, 5,000 and 1,000,000 rows, first and second call."""
    for n, d in ((150, 4), (5_000, 10), (1_000_000, 2)):
        runs = [_measured(n, d) for _ in range(_RUNS)]
        for call, name in enumerate(("first call, with imports", "second call")):
            (ours, cpu), (theirs, peer_cpu) = (
                ([run[at] for run in runs], [run[at + 1] for run in runs]) for at in (2 * call, 4 + 2 * call)
            )
            job = f"notebook picture of {n:,} × {d}, {name}; peer: scikit-learn's diagram"
            race = Race(job, ours, theirs, "", cpu=(cpu, peer_cpu))
            yield race.judged(f"≤ {_WITHIN} s", statistics.median(ours) <= _WITHIN)


def _measured(n: int, d: int) -> list[float]:
    code = _CODE.format(n=n, d=d)
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return [float(word) for word in ran.stdout.split()]
