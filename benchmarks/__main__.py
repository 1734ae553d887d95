"""Run all benchmarks, or those named: `python -m benchmarks imports geodesics:million first_fit:races:Isomap,LLE`."""

import os
import platform
import sys
import warnings
from importlib import import_module
from importlib.metadata import version

from benchmarks.timing import HEADER

GROUPS = (
    "imports",
    "notebook",
    "shell",
    "first_fit",
    "small",
    "busy",
    "embeddings",
    "neighbors",
    "direct",
    "geodesics",
    "streamed",
    "graph_methods",
    "sparse_rows",
    "local_linear",
    "semidefinite",
    "projective",
    "continuous",
    "metrics",
    "judging",
    "sweep",
    "comparing",
    "report",
    "partitions",
)


def main() -> None:
    """Print one table, and what it was measured with."""
    wanted = sys.argv[1:] or GROUPS
    unknown = {name.partition(":")[0] for name in wanted} - set(GROUPS)
    if unknown:
        sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}: choose from {', '.join(GROUPS)}.")
    warnings.simplefilter("ignore")
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}\n\n{HEADER}", flush=True)
    for name in wanted:
        group, races, only = (*name.split(":"), "", "")[:3]
        make = getattr(import_module(f"benchmarks.{group}"), races or "races")
        for race in make(*only.split(",")) if only else make():
            print(race.row(), flush=True)


if __name__ == "__main__":
    main()
