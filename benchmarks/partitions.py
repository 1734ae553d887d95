"""Rows in partitions: `python -m benchmarks partitions`, or one of `:large`, `:workers`, `:peers`, `:files`, `:rates`.

A cluster is one scheduler and worker processes of one thread and 2 GB each on this machine. Rows are a noisy sheet,
rolled up in ten columns; each partition is made by the worker that reads it. `large` needs about 4 GB and an hour.
"""

import os
import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed
from distributed import Client, LocalCluster, SchedulerPlugin
from sklearn import decomposition
from sklearn.kernel_approximation import Nystroem
from sklearn.manifold import Isomap as PeerIsomap
from sklearn.pipeline import make_pipeline

from benchmarks.timing import Race, race
from gramfold import PCA, Isomap, KernelEigenmaps, NystromEmbedding
from gramfold.distributed import open_rows

_LARGE = 10_000_000
_PART = 250_000  # rows of a partition: 20 MB
_COLUMNS = 10
_LIMIT = 2e9  # bytes of a worker
_GATHERED = 1e9  # bytes of the largest result
_WIDTH = 4.0  # of the Gaussian kernels, in the units of the roll


def races() -> Iterator[Race]:
    """All of them."""
    for part in (large, workers, peers, files, rates):
        yield from part()


def large() -> Iterator[Race]:
    """Fit and transform of ten million rows: seconds, memory of each worker, the largest result."""
    for model in _models():
        with _cluster(2) as client:
            rows = rolled(_LARGE)
            watch = _Largest()
            client.cluster.scheduler.add_plugin(watch)  # of this process
            fit = _timed(model.fit, rows)
            fitted_peak = _peak(client)
            place = _timed(_placed, model, rows, client)
            peak = _peak(client)
            met = peak < _LIMIT and watch.bytes < _GATHERED
            what = (
                f"each worker < 2 GB: {peak / 1e9:.2f} ({fitted_peak / 1e9:.2f} after fit); largest result < 1 GB: "
                f"{watch.bytes / 1e6:.1f} MB ({watch.key}); this process {_own_peak() / 1e9:.2f} GB"
            )
            name = f"{type(model).__name__}, {_LARGE:,} x {_COLUMNS}"
            yield Race(f"{name}, fit", [fit], [], "see transform")
            yield Race(f"{name}, transform", [place], [], "").judged(what, met)


def workers(*only: str) -> Iterator[Race]:
    """Throughput of `transform` with two workers over that with one; tasks make the partitions that they read."""
    for model, n in zip(_models(), (10_000_000, 3_000_000, 3_000_000, 1_000_000), strict=True):
        if only and type(model).__name__ not in only:
            continue
        sample = rolled(50_000, 50_000).compute()
        model.fit(sample)
        with _cluster(2) as two, _cluster(1) as one:
            jobs = [partial(_placed, model, rolled(n, min(_PART, n // 16)), client) for client in (two, one)]
            found = race(f"{type(model).__name__}, transform of {n:,} rows, 2 workers / 1", *jobs, target="", runs=5)
        yield found.judged(">= 1.7", found.ratio >= 1.7)


def peers() -> Iterator[Race]:
    """Transform beside `map_blocks` of a pickled model of scikit-learn, fitted to the same rows; two workers."""
    gamma = 1 / _WIDTH**2
    pairs: tuple[tuple[Any, Any, int, int], ...] = (
        (PCA(2), decomposition.PCA(2), 50_000, 5_000_000),
        (
            NystromEmbedding(2, landmarks=500, gamma=gamma, random_state=0),
            make_pipeline(Nystroem(gamma=gamma, n_components=500, random_state=0), decomposition.PCA(2)),
            50_000,
            500_000,
        ),
        (Isomap(2, n_neighbors=8), PeerIsomap(n_components=2, n_neighbors=8), 2_000, 20_000),
    )
    for model, peer, known, n in pairs:
        sample = rolled(known, known).compute()
        model.fit(sample)
        sent = pickle.dumps(peer.fit(sample))
        with _cluster(2) as client:
            X = _held(client, n)

            found = race(
                f"{type(model).__name__}, fitted to {known:,} rows, transform of {n:,}",
                partial(_placed, model, X, client),
                partial(_placed_by_peer, sent, X, client),
                target="",
                runs=5,
            )
        yield found.judged(">= 1.0", found.ratio >= 1.0)


def files() -> Iterator[Race]:
    """Parquet files streamed in batches within 500 MB, beside Dask's threads on the same files, without a cluster."""
    n, parts = 1_000_000, 8
    with TemporaryDirectory() as folder:
        for i in range(parts):
            table = pd.DataFrame(_rolled(i, n // parts), columns=[f"x{j}" for j in range(_COLUMNS)])
            table.to_parquet(Path(folder) / f"part{i}.parquet", row_group_size=100_000)
        for model in _models()[:2]:
            name = f"{type(model).__name__}, {{}} of {n:,} rows in {parts} files"
            ours, peer = partial(open_rows, folder, memory_limit="500 MB"), partial(dd.read_parquet, folder)
            yield _within(model.fit, ours, peer, name.format("fit"))
            yield _within(lambda X, model=model: np.asarray(model.transform(X)), ours, peer, name.format("transform"))


def _within(work: Callable[[Any], Any], ours: Callable[[], Any], peer: Callable[[], Any], name: str) -> Race:
    """Seconds of both, and how much memory each run of ours took beyond what there was."""
    taken: list[float] = []

    def watched() -> None:
        before = _own_resident()
        _forget_peak()
        work(ours())
        taken.append(_own_peak() - before)

    found = race(name, watched, lambda: work(peer()), target="", runs=3)
    return found.judged(f">= 1 and <= 0.5 GB: {max(taken) / 1e9:.2f} GB", found.ratio >= 1 and max(taken) <= 5e8)


def rates() -> Iterator[Race]:
    """What the page on a billion rows counts with: seconds of each step, a million rows, one worker of one thread."""
    n = 1_000_000
    with _cluster(1) as client:
        X = _held(client, n)
        yield Race(f"make {n:,} rows", [_timed(rolled(n).sum().compute) for _ in range(3)], [], "")
        yield from _reading(X)
        small = client.persist(rolled(2000, 1))
        for name, job in (
            ("fit", partial(PCA(2).fit, small)),
            ("transform", partial(_placed, PCA(2).fit(X), small, client)),
        ):
            yield Race(f"PCA, {name} of 2,000 partitions of one row", [_timed(job) for _ in range(3)], [], "")
        for model in _models():
            name = type(model).__name__
            yield Race(f"{name}, fit of {n:,} rows", [_timed(model.fit, X)], [], "")
            seconds = [_timed(_placed, model, X, client) for _ in range(3)]
            yield Race(f"{name}, transform of {n:,} rows", seconds, [], "")


def _reading(X: Any) -> Iterator[Race]:
    """Of a Parquet file, whose pages the system has in memory."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pd.DataFrame(X.compute(), columns=[f"x{j}" for j in range(_COLUMNS)]).to_parquet(path, row_group_size=_PART)
        size = path.stat().st_size / 1e6
        seconds = [_timed(pd.read_parquet, path) for _ in range(3)]
    yield Race(f"read {len(X):,} rows of Parquet, {size:.0f} MB", seconds, [], "")


def _models() -> tuple[Any, ...]:
    return (
        PCA(2),
        NystromEmbedding(2, landmarks=500, gamma=1 / _WIDTH**2),
        KernelEigenmaps(2, random_state=0),
        Isomap(2, landmarks=200, random_state=0),
    )


def rolled(n: int, part: int = _PART) -> Any:
    """Rows (n, 10) as a Dask array; a row depends on its number and the size of partitions alone."""
    sizes = [min(part, n - first) for first in range(0, n, part)]
    make = delayed(_rolled, pure=True)
    made = [make(number, size) for number, size in enumerate(sizes)]
    return da.concatenate(
        [da.from_delayed(one, (size, _COLUMNS), dtype=np.float64) for one, size in zip(made, sizes, strict=True)]
    )


def _rolled(number: int, size: int) -> np.ndarray:
    """A roll of width 20, turned into ten columns, with noise in all of them."""
    rng = np.random.default_rng([7, number])
    angle = 1.5 * np.pi * (1 + 2 * rng.random(size))
    sheet = np.column_stack([angle * np.cos(angle), 20 * rng.random(size), angle * np.sin(angle)])
    turn, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((_COLUMNS, 3)))
    noise: np.ndarray = 0.02 * rng.standard_normal((size, _COLUMNS))
    return noise + sheet @ turn.T


def _placed_by_peer(sent: bytes, X: Any, client: Any) -> Any:
    placed = X.map_blocks(_peer, sent, chunks=(X.chunks[0], (2,)), meta=np.empty((0, 0)))
    return client.compute(placed.sum(axis=0)).result()


def _peer(block: np.ndarray, sent: bytes) -> np.ndarray:
    return np.asarray(pickle.loads(sent).transform(block))


def _held(client: Any, n: int) -> Any:
    """Rows in the memory of the workers, in at least sixteen partitions."""
    from distributed import wait

    X = client.persist(rolled(n, min(_PART, n // 16)))
    wait(X)
    return X


def _placed(model: Any, X: Any, client: Any) -> Any:
    """Places all rows; the sum of the places is all that comes back."""
    with client.as_current():  # which large models are sent through
        return client.compute(model.transform(X).sum(axis=0)).result()


@contextmanager
def _cluster(n: int) -> Iterator[Any]:
    with (
        LocalCluster(n_workers=n, threads_per_worker=1, memory_limit=int(_LIMIT), dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@dataclass(eq=False)
class _Largest(SchedulerPlugin):
    """The largest result of any task."""

    bytes: int = field(default=0)
    key: str = field(default="")

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        del start, args
        size = kwargs.get("nbytes") or 0
        if finish == "memory" and size > self.bytes:
            self.bytes, self.key = size, str(key)


def _own_peak() -> float:
    """Most resident memory of this process so far, in bytes."""
    return _of_status("VmHWM")


def _own_resident() -> float:
    return _of_status("VmRSS")


def _of_status(name: str) -> float:
    lines = Path(f"/proc/{os.getpid()}/status").read_text().splitlines()
    return 1024 * float(next(line.split()[1] for line in lines if line.startswith(name)))


def _forget_peak() -> None:
    """The most resident memory is counted from now on."""
    Path(f"/proc/{os.getpid()}/clear_refs").write_text("5")


def _peak(client: Any) -> float:
    return max(client.run(_own_peak).values())


def _timed(work: Callable[..., object], *arguments: Any) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started
