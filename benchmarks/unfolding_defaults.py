"""The defaults of SDE beside other settings, on many kinds of data: `python -m benchmarks.unfolding_defaults`.

One line for each data set of unfolding_sets.py: by what a map is judged, and for each setting the error (0 is perfect),
processor seconds and, if it is not certified to 0.001, the gap. Settings are written as the number of neighbours and N
(pairs="neighbors") or A (pairs="angles"); the last column is the default, with what it chose. The last lines are a
summary: the median over sheets, and the mean over the others, of the error, and all seconds.
"""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.unfolding_sets import SETS, Rows
from gramfold import SDE

_TIME_LIMIT = 600.0  # seconds
_GAP = 1e-3
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "4N": {"n_neighbors": 4, "pairs": "neighbors"},
    "8N": {"n_neighbors": 8, "pairs": "neighbors"},
    "8A": {"n_neighbors": 8, "pairs": "angles"},
    "default": {},
}


@dataclass(frozen=True)
class Outcome:
    """Of one fit."""

    error: float
    seconds: float
    gap: float
    chosen: str

    def __str__(self) -> str:
        gap = "" if self.gap <= _GAP else f", gap {self.gap:.0e}"
        return f"{self.error:.2g} ({self.seconds:.1f} s{gap})"


def fitted(rows: Rows, settings: Mapping[str, Any]) -> Outcome:
    """Fit and judge; a time limit also keeps the solver from choosing landmarks."""
    began = time.process_time()
    model = SDE(rows.dimensions, **settings, time_limit=_TIME_LIMIT, n_jobs=1).fit(rows.points)
    seconds = time.process_time() - began
    chosen = f"{model.n_neighbors_}{model.pairs_[0].upper()}"
    return Outcome(rows.error(model.embedding_), seconds, model.certificate_.gap, chosen)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    fitted(Rows(np.random.default_rng(0).standard_normal((50, 3))), {})  # what is compiled at first use
    print(f"| data, rows | judged by | {' | '.join(SETTINGS)} | chosen |\n|{'---|' * (len(SETTINGS) + 3)}")
    found: dict[bool, list[dict[str, Outcome]]] = {True: [], False: []}
    for name, made in SETS.items():
        rows = made()
        if rows is None:
            print(f"| {name} | absent, skipped |{' |' * (len(SETTINGS) + 1)}")
            continue
        line = {setting: fitted(rows, parameters) for setting, parameters in SETTINGS.items()}
        found[rows.coordinates is not None].append(line)
        outcomes = " | ".join(map(str, line.values()))
        print(f"| {name} | {rows.kind} | {outcomes} | {line['default'].chosen} |", flush=True)
    for known, word in ((True, "median disparity"), (False, "mean error")):
        lines = found[known]
        summary = [
            f"{(np.median if known else np.mean)([line[one].error for line in lines]):.2g} "
            f"({sum(line[one].seconds for line in lines):.0f} s)"
            for one in SETTINGS
        ]
        print(f"| **{len(lines)} sets** | {word} | {' | '.join(summary)} | |")


if __name__ == "__main__":
    main()
