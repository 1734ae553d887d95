"""The command line before any work: how long a person waits for a help text or for what is wrong."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from benchmarks.timing import Race, race

_RUNS = 15
_MOST = 2.0  # times `python -c "import click"`
_LINES = {
    "`gramfold --help`": "--help",
    "`gramfold embed --help`": "embed --help",
    "`gramfold methods`": "methods",
    "`gramfold embed` of a file that is missing": "embed none.csv --out map.csv",
    "`gramfold embed` with an unknown option": "embed none.csv --ot map.csv",
    "`gramfold embed` with an unknown method": "embed none.csv --out map.csv --method isomp",
    "`gramfold embed` to a folder that is missing": "embed {here} --out none/map.csv",
    "`gramfold judge` of a file that is missing": "judge none.csv none.csv",
    "`gramfold cluster` of a file that is missing": "cluster none.csv --out map.csv",
}


def races() -> Iterator[Race]:
    """Each command in a fresh interpreter, beside the import of click alone."""
    for job, line in _LINES.items():
        words = line.format(here=__file__).split()
        ours, theirs = _process("-m", "gramfold", *words), _process("-c", "import click")
        target = f"≥ {1 / _MOST:g}x (ours ≤ {_MOST:g} of theirs)"
        yield race(f"{job} (peer: `import click`)", ours, theirs, target=target, runs=_RUNS)


def _process(*words: str) -> Callable[[], None]:
    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, *words], check=False, capture_output=True, cwd=folder)

    return run
