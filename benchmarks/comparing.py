"""`gramfold.compare` beside its parts: each method fitted by itself, and one map judged.

Six methods, t-SNE as a guest and a finished map, of 5,000 rows. The parts search neighbours in every fit and judge one
map; a comparison searches once and judges eight. Both are timed in turn, and who is first alternates.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.manifold import TSNE

from benchmarks.timing import Race
from gramfold import LLE, LTSA, PCA, DiffusionMap, Isomap, LaplacianEigenmaps, compare
from gramfold.comparison.judging import judge_map
from gramfold.diagnostics import Judged

_ROWS, _COLUMNS, _GROUPS, _DIMENSIONS = 5_000, 50, 8, 4
_MOST = 1.3  # times the parts
_RUNS = 3


def races() -> Iterator[Race]:
    """Eight maps of groups on sheets of four dimensions."""
    yield _comparing(TSNE(random_state=0, init="pca"))


def without_guest() -> Iterator[Race]:
    """The same without t-SNE, which takes most of the time."""
    yield _comparing(None)


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Groups of rows, each near a flat piece of few dimensions; and their groups."""
    rng = np.random.default_rng(0)
    groups = rng.integers(_GROUPS, size=n)
    axes = rng.standard_normal((_GROUPS, _DIMENSIONS, _COLUMNS))
    places = rng.standard_normal((n, _DIMENSIONS))
    centers = 1.5 * rng.standard_normal((_GROUPS, _COLUMNS))
    X = np.einsum("nd,ndc->nc", places, axes[groups]) + centers[groups]
    return X + 0.3 * rng.standard_normal(X.shape), groups


def _comparing(guest: TSNE | None) -> Race:
    X, groups = rows(_ROWS)
    finished = X[:, :2]
    own: list[Any] = [PCA(2), Isomap(), LaplacianEigenmaps(), LLE(), LTSA(), DiffusionMap()]
    models = own if guest is None else [*own, guest]

    def together() -> None:
        found = compare(X, {**{type(model).__name__: model for model in models}, "finished": finished}, labels=groups)
        assert not found.failures

    def apart() -> None:
        for model in models:
            clone(model).fit_transform(X)
        judge_map(Judged(X, finished), groups)

    compare(X[:300], own, labels=groups[:300])  # compiled code warm
    jobs: tuple[Callable[[], None], ...] = (together, apart)
    times: tuple[list[float], list[float]] = ([], [])
    busy: tuple[list[float], list[float]] = ([], [])
    for turn in range(_RUNS):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            started, started_cpu = time.perf_counter(), time.process_time()
            jobs[which]()
            times[which].append(time.perf_counter() - started)
            busy[which].append(time.process_time() - started_cpu)
    spread = " and ".join(_ratios(*kind) for kind in (times, busy))
    job = (
        f"compare {len(models)} methods and a finished map, {_ROWS:,} × {_COLUMNS} (peer: its fits alone, one "
        f"judging), {spread} times their seconds and CPU time"
    )
    found = Race(job, *times, "", cpu=busy)
    return found.judged(f"≤ {_MOST}x the parts", found.ratio >= 1 / _MOST)


def _ratios(ours: list[float], peer: list[float]) -> str:
    found = [one / other for one, other in zip(ours, peer, strict=True)]
    return f"{min(found):.2f}–{max(found):.2f}"
