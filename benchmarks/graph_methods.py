"""Laplacian eigenmaps: images against scikit-learn's fastest solver, a million rows against their own neighbours."""

import time
from collections.abc import Iterator

from sklearn import manifold

from benchmarks.data import fashion_mnist, ocean
from benchmarks.timing import Race, race
from gramfold import LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll

_IMAGES = 60_000
_MILLION = 1_000_000


def races() -> Iterator[Race]:
    """Fashion-MNIST, k = 10, end to end; and its eigen-solve beside its neighbour search."""
    images = fashion_mnist(_IMAGES)
    if images is None:
        return
    models: list[LaplacianEigenmaps] = []
    yield race(
        f"Laplacian eigenmaps, Fashion-MNIST n={_IMAGES:,} (peer: SpectralEmbedding, amg)",
        lambda: models.append(LaplacianEigenmaps(n_neighbors=10).fit(images)),
        lambda: manifold.SpectralEmbedding(
            affinity="nearest_neighbors", n_neighbors=10, eigen_solver="amg", n_jobs=-1, random_state=0
        ).fit(images),
        target="10x, 4x at least",
        runs=1,
    )
    yield _own_stages("its eigen-solve beside its neighbour search", models[1:], "≥ 5x, 2.5x at least")


def million() -> Iterator[Race]:
    """Swiss roll and ocean readings, whole fits beside their own neighbour search, growth from 100,000 rows."""
    for name, rows in (("swiss roll", make_swiss_roll(_MILLION, random_state=0).points), ("ocean", ocean(_MILLION))):
        if rows is None:
            continue
        small, whole = (LaplacianEigenmaps(n_neighbors=10) for _ in range(2))
        seconds = []
        for model, X in ((small, rows[: _MILLION // 10]), (whole, rows)):
            LaplacianEigenmaps(n_neighbors=10).fit(X)  # memory and compiled code warm
            started = time.perf_counter()
            model.fit(X)
            seconds.append(time.perf_counter() - started)
        told = f"{whole.spectrum_.solver}, worst residual {whole.spectrum_.residuals.max():.1e}"
        yield Race(
            f"Laplacian eigenmaps, {name} n={_MILLION:,} ({told}; peer: its own neighbour search)",
            seconds[1:],
            [whole.timings_["neighbors"]],
            "≥ 0.167x (6 times at most)",
        )
        yield Race(f"the same beside {_MILLION // 10:,} rows", seconds[1:], seconds[:1], "≥ 0.05x (20 times at most)")


def _own_stages(job: str, models: list[LaplacianEigenmaps], target: str) -> Race:
    return Race(
        job,
        [model.timings_["spectrum"] for model in models],
        [model.timings_["neighbors"] for model in models],
        target,
    )
