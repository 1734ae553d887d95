"""Exact maps of which nothing n × n is stored: the same as from memory, and how time and memory grow.

Each fit runs in a process of its own, which tells its seconds, its processor time and its peak of memory.
`python -m benchmarks streamed` compares 20,000 rows with the stored matrix; `streamed:large` goes to 100,000 rows
beside 10,000 stored ones, and `streamed:others` streams the other methods.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import numpy as np

import gramfold
from benchmarks.timing import Race
from gramfold.datasets import make_swiss_roll

_SMALL, _MEDIUM, _LARGE = 10_000, 20_000, 100_000
_MOST_OFF, _MOST_RESIDUAL = 1e-6, 1e-6  # of the map's size, and of the eigenvalue
_MOST_TIMES, _MOST_EXPONENT, _MOST_GIGABYTES = 400.0, 2.3, 4.0
_WARM = 1_500  # rows of a first fit, which loads compiled code


def races() -> Iterator[Race]:
    """20,000 rows of a swiss roll: how far from the stored map, and beside its time and memory."""
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder, "stored.npy"), Path(folder, "streamed.npy")
        stored, streamed = _measured("Isomap", _MEDIUM, "memory", here), _measured("Isomap", _MEDIUM, "stream", there)
        places = np.load(here), np.load(there)
    off = float(np.abs(places[0] - places[1]).max() / np.abs(places[0]).max())
    found = _race(
        f"streamed Isomap, swiss roll n={_MEDIUM:,}, {off:.0e} of the map's size from the stored one, "
        f"{streamed['gigabytes']:.2f} GB (peer: stored, {stored['gigabytes']:.2f} GB)",
        streamed,
        stored,
    )
    yield found.judged(f"within {_MOST_OFF:g}", off <= _MOST_OFF)


def large() -> Iterator[Race]:
    """100,000 rows beside 10,000 stored ones, and the exponent of the time; takes some minutes."""
    stored, small = (_measured("Isomap", _SMALL, storage) for storage in ("memory", "stream"))
    whole = _measured("Isomap", _LARGE, "stream")
    found = _race(
        f"streamed Isomap, swiss roll n={_LARGE:,}, residual {whole['residual']:.0e}, {whole['gigabytes']:.2f} GB "
        f"(peer: stored n={_SMALL:,})",
        whole,
        stored,
    )
    met = (
        found.ratio * _MOST_TIMES >= 1 and whole["residual"] <= _MOST_RESIDUAL and whole["gigabytes"] <= _MOST_GIGABYTES
    )
    yield found.judged(f"≤ {_MOST_TIMES:g} times, ≤ {_MOST_RESIDUAL:g}, ≤ {_MOST_GIGABYTES:g} GB", met)
    exponent, of_processor = (
        log(whole[kind] / small[kind]) / log(_LARGE / _SMALL) for kind in ("seconds", "processor")
    )
    growth = _race(
        f"the same (peer: streamed n={_SMALL:,}); exponent {exponent:.2f}, of processor time {of_processor:.2f}",
        whole,
        small,
    )
    yield growth.judged(f"exponent ≤ {_MOST_EXPONENT:g}", exponent <= _MOST_EXPONENT)


def others() -> Iterator[Race]:
    """The other methods, streamed against stored; new rows of a streamed map."""
    for name in ("KernelIsomap", "KernelPCA", "ClassicalMDS"):
        n = _SMALL // 2 if name == "KernelIsomap" else _SMALL
        stored, streamed = (_measured(name, n, storage) for storage in ("memory", "stream"))
        job = (
            f"streamed {name}, swiss roll n={n:,}, {streamed['gigabytes']:.2f} GB (peer: {stored['gigabytes']:.2f} GB)"
        )
        yield _race(job, streamed, stored)
    stored, streamed = (_measured("Isomap", _SMALL, storage) for storage in ("memory", "stream"))
    yield Race(
        f"1,000 new rows on streamed Isomap of n={_SMALL:,} (peer: stored)", [streamed["new"]], [stored["new"]], "–"
    )


def fit(name: str, n: int, storage: str, out: str) -> None:
    """Print what one fit took, and write its map where that is asked for."""
    roll = make_swiss_roll(n + 1_000, random_state=0).points
    X, new = roll[:n], roll[n:]
    settings: dict[str, Any] = {"n_neighbors": 10} if "Isomap" in name else {}
    model = getattr(gramfold, name)(storage=storage, **settings)
    model.fit(X[:_WARM]).transform(new)
    started, used = time.perf_counter(), time.process_time()
    model.fit(X)
    took = {"seconds": time.perf_counter() - started, "processor": time.process_time() - used}
    started = time.perf_counter()
    model.transform(new)
    took["new"] = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)
    print(json.dumps({**took, "gigabytes": peak, "residual": float(model.spectrum_.residuals.max())}))
    if out:
        np.save(out, model.embedding_)


def _race(job: str, ours: dict[str, float], peer: dict[str, float]) -> Race:
    return Race(job, [ours["seconds"]], [peer["seconds"]], "–", cpu=([ours["processor"]], [peer["processor"]]))


def _measured(name: str, n: int, storage: str, out: Path | None = None) -> dict[str, float]:
    where = "" if out is None else str(out)
    code = f"from benchmarks.streamed import fit; fit({name!r}, {n}, {storage!r}, {where!r})"
    told = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True)
    return json.loads(told.stdout)
