"""A new point on a map of geodesics: it steps to its neighbours, walks the fitted graph, and is projected."""

import numpy as np

from gramfold.extension.project import projection
from gramfold.graph.geodesic import squared_geodesics_from, stepped
from gramfold.kernels.geodesic import StreamedPaths
from gramfold.kernels.gram import GramKernel
from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks, stop_flag
from gramfold.types import Floats, Neighbors, Spectrum

_ENTRIES_PER_BLOCK = 400_000  # squared walks of a block: they stay in the cache while they are centred and projected
_ROWS_PER_BLOCK = 1_000
_ROOTED_AT_ONCE = 50_000_000


def walk_and_project(met: Neighbors, kernel: GramKernel, spectrum: Spectrum, n_jobs: int | None = None) -> Floats:
    """Coordinates (m, p) of points that meet these vertices; the kernel holds the squared walks."""
    if isinstance(kernel.everybody, StreamedPaths):
        return _streamed_places(met, kernel, spectrum, kernel.everybody, n_jobs)
    places = np.empty((len(met), len(spectrum)))
    order = np.argsort(met.nearest, kind="stable")  # those who start from the same vertices are handled together
    weights = projection(kernel, spectrum)
    # roots are taken once for all where there are many points and they take little room
    many = len(met) >= len(kernel.everybody) and kernel.everybody.size <= _ROOTED_AT_ONCE
    walks = np.sqrt(kernel.everybody.astype(np.float64, copy=False)) if many else None

    def work(part: slice) -> None:
        some = met.take(order[part])
        squared = squared_geodesics_from(some, kernel.everybody) if walks is None else stepped(some, walks)
        places[order[part]] = kernel.cross_times(squared, weights) * kernel.gains(squared, spectrum.eigenvalues)

    rows = min(_ROWS_PER_BLOCK, max(1, _ENTRIES_PER_BLOCK // kernel.everybody.shape[1]))
    with one_blas_thread():  # the pool's threads are enough
        run_blocks(work, blocks(len(met), rows), n_jobs)
    return places


def _streamed_places(
    met: Neighbors, kernel: GramKernel, spectrum: Spectrum, paths: StreamedPaths, n_jobs: int | None
) -> Floats:
    """The same where no walks are stored: each point walks by itself, over the eliminated graph."""
    places, stop = np.empty((len(met), len(spectrum))), stop_flag()
    order, weights = np.argsort(met.nearest, kind="stable"), projection(kernel, spectrum)
    paths.ready()

    def work(part: slice) -> None:
        squared = paths.reached(met.take(order[part]), stop)
        places[order[part]] = kernel.cross_times(squared, weights) * kernel.gains(squared, spectrum.eigenvalues)

    with one_blas_thread():
        run_blocks(work, blocks(len(met), paths.at_once), n_jobs, stop=stop)
    return places
