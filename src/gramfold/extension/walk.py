"""A new point on a map of geodesics: it steps to its neighbours, walks the fitted graph, and is projected."""

import numpy as np
from threadpoolctl import threadpool_limits

from gramfold.extension.project import project, scaled
from gramfold.graph.geodesic import squared_geodesics_from
from gramfold.kernels.gram import GramKernel
from gramfold.kernels.mercer import RepairedGram
from gramfold.runtime.threads import blocks, run_blocks
from gramfold.types import Floats, Neighbors, Spectrum

_ENTRIES_PER_BLOCK = 400_000  # squared walks of a block: they stay in the cache while they are centred and projected
_ROWS_PER_BLOCK = 1_000


def walk_and_project(met: Neighbors, kernel: GramKernel, spectrum: Spectrum, n_jobs: int | None = None) -> Floats:
    """Coordinates (m, p) of points that meet these vertices; the kernel holds the squared walks."""
    places = np.empty((len(met), len(spectrum)))
    order = np.argsort(met.nearest, kind="stable")  # those who start from the same vertices are handled together

    def work(part: slice) -> None:
        together = order[part]
        squared = squared_geodesics_from(met.take(together), kernel.everybody)
        places[together] = project(kernel.cross(squared), kernel, spectrum)

    rows = min(_ROWS_PER_BLOCK, max(1, _ENTRIES_PER_BLOCK // kernel.everybody.shape[1]))
    with threadpool_limits(1, user_api="blas"):  # the pool's threads are enough
        run_blocks(work, blocks(len(met), rows), n_jobs)
    return places


def jump_beside_vertices(kernel: GramKernel, spectrum: Spectrum) -> Floats:
    """Where a new row very near vertex i lands, relative to it, (n, p): −½ m_i (c² + 2a) V_i Λ^-½.

    Under a repair its d~²(x, i) is c² + 2a and not 0, however near it is; all else is as it should be.
    """
    raised = kernel.raised if isinstance(kernel, RepairedGram) else 0.0
    return np.asarray(-0.5 * raised * kernel.mass[:, None] * scaled(spectrum, kernel.exponent - 1.0))
