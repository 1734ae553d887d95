"""Tables of numbers read and written by gramfold, beside pyarrow's own reader and writer.

python -m benchmarks.reading
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from gramfold.io import read_table, write_table

ROWS, COLUMNS, TIMES = 200_000, 20, 7


def best(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Shortest of several times of each, in turn, so that both see the same machine."""
    times = []
    for _ in range(TIMES):
        for work in (ours, theirs):
            start = perf_counter()
            work()
            times.append(perf_counter() - start)
    return min(times[::2]), min(times[1::2])


def main() -> None:
    """Print the ratios."""
    values = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    names = [f"c{j}" for j in range(COLUMNS)]
    table = pa.table({name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names)})
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder) / "ours.csv", Path(folder) / "theirs.csv"
        write_table(path, values, names)
        for what, ours, theirs in (
            ("reading", lambda: read_table(path), lambda: csv.read_csv(path)),
            ("writing", lambda: write_table(path, values, names), lambda: csv.write_csv(table, other)),
        ):
            mine, its = best(ours, theirs)
            print(f"{what} {ROWS:,} × {COLUMNS}: {mine:.3f} s, pyarrow {its:.3f} s, ratio {mine / its:.2f}")
        assert np.array_equal(read_table(path).values, values)


if __name__ == "__main__":
    main()
