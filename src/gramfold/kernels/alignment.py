"""Penalties that align local pictures: each vertex, with its neighbours, says what it finds crooked.

    P = Σ_i m_i S_iᵀ B_i S_i,    S_i picks vertex i and its neighbours,    B_i (k + 1, k + 1) ⪰ 0 with B_i 1 = 0

The vertex itself belongs to its patch: without it a vertex that nobody chose as a neighbour has a row of zeros in P,
and the map shows nothing but that vertex. Zhang, Zha, SIAM Journal on Scientific Computing 26 (2004).
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array, csr_array

from gramfold.kernels.definite import Grams
from gramfold.kernels.local import ENTRIES_PER_BLOCK, solve_locally
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.types import Floats, Graph, Integers, Neighbors

# Directions whose share of the variance is below this are rounding of the Gram matrix.
_RANK_CUT = 1e-13


def alignment_penalty(
    neighbors: Neighbors,
    blocks: Callable[[Integers, Integers], Floats],
    mass: Floats,
    width: int,
    n_jobs: int | None = None,
    *,
    entries_per_block: int = ENTRIES_PER_BLOCK,
) -> csr_array:
    """P (n, n) from `blocks(rows, lists)`: B (b, k + 1, k + 1) of vertices with neighbours `lists` (b, k).

    A vertex that stands for m identical rows has m equal terms. `width` is how many numbers a neighbour has.
    """
    n, sizes = neighbors.n_vertices, neighbors.counts + 1
    small = np.int32 if (sizes**2).sum() <= np.iinfo(np.int32).max else np.int64
    # A row for each member of each patch: what the patch's block says of it. The rows of one vertex are then added up.
    indptr = np.concatenate(([0], np.cumsum(np.repeat(sizes, sizes)))).astype(small)
    start = np.concatenate(([0], np.cumsum(sizes**2)))  # of each block
    entries, columns = np.zeros(start[-1]), np.zeros(start[-1], dtype=small)

    def work(rows: Integers, places: Integers) -> None:
        lists = neighbors.indices[places]
        patches = np.column_stack([rows, lists])
        k = patches.shape[1]
        block = start[rows][:, None] + np.arange(k * k)
        entries[block] = blocks(rows, lists).reshape(len(rows), k * k)
        columns[block] = np.tile(patches, k)

    solve_locally(work, neighbors, width, n_jobs, entries_per_block=entries_per_block)
    said = csr_array((entries, columns, indptr), shape=(len(indptr) - 1, n))
    members = np.insert(neighbors.indices, neighbors.indptr[:-1], np.arange(len(neighbors))).astype(small)
    owner = csc_array((np.repeat(mass, sizes), members, np.arange(len(indptr), dtype=small)), shape=said.shape[::-1])
    return csr_array(csr_array(owner) @ said)


def aligned_kernel(
    graph: Graph, grams: Grams, blocks: Callable[[Floats], Floats], width: int, n_jobs: int | None
) -> PenaltyKernel:
    """The kernel of local penalties: `blocks` makes B (b, k + 1, k + 1) from local Gram matrices (b, k, k)."""
    penalty = alignment_penalty(
        graph.neighbors, lambda rows, lists: blocks(grams(rows, lists)), graph.multiplicity, width, n_jobs
    )
    return PenaltyKernel.of(penalty, graph.multiplicity)


def tangent_coordinates(grams: Floats, d: int) -> Floats:
    """Principal coordinates (b, k + 1, d) of each vertex and its neighbours, columns orthonormal and centred.

    `grams` (b, k, k) holds ⟨x_j − x, x_l − x⟩. Where a patch has fewer than d directions the last columns are 0.
    """
    centered = np.pad(grams, ((0, 0), (1, 0), (1, 0)))  # the vertex itself stands first
    centered -= centered.mean(axis=1, keepdims=True)
    centered -= centered.mean(axis=2, keepdims=True)
    # the constant is moved from the bottom of the spectrum to its top: there no direction mixes with it
    centered += 2.0 * np.abs(centered).sum(axis=2, keepdims=True).max(axis=1, keepdims=True) / centered.shape[1]
    values, vectors = np.linalg.eigh(centered)
    values, vectors = values[:, None, -2 : -d - 2 : -1], vectors[:, :, -2 : -d - 2 : -1]
    return np.where(values > _RANK_CUT * np.maximum(values[:, :, :1], 0.0), vectors, 0.0)
