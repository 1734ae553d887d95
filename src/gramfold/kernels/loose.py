"""Rows that few edges tie to the others, on which eigenvectors of a graph's Laplacian tend to live.

    loose part   at most 2% of the rows and at most 100, whose edges to the others weigh together less than half of what
                 the edges of one row do (the median); found among the vertices at the ends of an eigenvector
    trimmed      L v = μ M v with M_i = 0 for the vertices i of loose parts: they have no part in the norm of v, and
                 (L v)_i = 0 there, so that each lies at the weighted mean of its neighbours

How they are solved for: kernels/massless.py. An eigenvector of small eigenvalue is a cut of low conductance, and of
all cuts of a sparse graph those that part few vertices from the others are the most likely to be low:
Zhang, Rohe, NeurIPS 31 (2018).
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from gramfold.kernels.penalty import PenaltyKernel, leading_penalties
from gramfold.types import Floats, Integers, participation

LooseRows = Literal["keep", "trim", "regularize"]
Laplacian = TypeVar("Laplacian", bound=PenaltyKernel)

_SHARE, _MOST = 0.02, 100  # of the rows, in one part
_TIE = 0.5  # of the median degree
_ALL = 0.05  # of the rows, in all parts together
_HELD = 0.1  # of an eigenvector's sum of squares, on a part that matters for it
_MOSTLY_HELD = 0.5  # on a part on which the eigenvector is localised
_ROUNDS = 20


@dataclass(frozen=True)
class LoosePart:
    """Vertices at the end of an eigenvector that few edges tie to the others."""

    vertices: Integers  # the farthest out first
    edges: int  # that leave it
    held: float  # of the eigenvector's sum of squares


def most_rows(n: int) -> int:
    """How many of n rows may be a loose part."""
    return int(min(max(_SHARE * n, 1), _MOST))


def loose_part(weights: csr_array, copies: Floats, vector: Floats) -> LoosePart | None:
    """The part of least conductance at either end of a vector; None where no part there is loose and matters.

    `weights` (n, n) have no diagonal; `copies` (n,) are rows of each vertex, 0 where it is left out already.
    """
    degree = np.asarray(weights.sum(axis=1)).ravel()
    there = copies > 0
    limit = _TIE * float(np.median(degree[there] / copies[there]))
    away = vector - (copies @ vector) / copies.sum()
    squares = copies * away**2
    best, found = np.inf, None
    candidates = np.flatnonzero(there)
    most = most_rows(int(copies.sum()))
    for values in (away, -away):
        ends = candidates
        if len(ends) > most:
            ends = ends[np.argpartition(-values[ends], most - 1)[:most]]
        ends = ends[np.argsort(-values[ends], kind="stable")]
        among = csr_array(weights[ends][:, ends])
        rows = np.repeat(np.arange(len(ends)), np.diff(among.indptr))
        earlier = among.indices < rows
        inside = np.bincount(rows[earlier], weights=among.data[earlier], minlength=len(ends))
        volume = np.cumsum(degree[ends])
        cut = volume - 2.0 * np.cumsum(inside)
        held = np.cumsum(squares[ends]) / (squares.sum() or 1.0)
        tied = cut > 10 * np.finfo(np.float64).eps * volume  # else it is a connected component
        good = tied & (cut < limit) & (held >= _HELD) & (np.cumsum(copies[ends]) <= most)
        if good.any():
            conductance = np.where(good, cut / volume, np.inf)
            place = int(np.argmin(conductance))
            if conductance[place] < best:
                best, inner = conductance[place], ends[: place + 1]
                leaving = int(np.diff(weights.indptr)[inner].sum()) - csr_array(weights[inner][:, inner]).nnz
                found = LoosePart(inner, leaving, float(held[place]))
    return found


def localized(weights: csr_array, copies: Floats, vectors: Floats) -> dict[int, LoosePart]:
    """The coordinates that are localised on a loose part, by number."""
    found = {}
    effective = participation(vectors, copies)
    for number in np.flatnonzero(effective <= most_rows(int(copies.sum()))):
        part = loose_part(weights, copies, vectors[:, number])
        if part is not None and part.held >= _MOSTLY_HELD:
            found[int(number)] = part
    return found


# --- without mass


def trimmed(kernel: Laplacian, copies: Floats, count: int) -> Laplacian:
    """The kernel in which loose parts at the ends of its first `count` eigenvectors have no mass.

    `copies` (n,) are the rows of each vertex. Where a loose part is left out another one may come first, so this is
    repeated until none matters.
    """
    component = connected_components(kernel.penalty, directed=False)[1]
    scale, loose = getattr(kernel, "scale", None), np.zeros(len(copies), dtype=bool)
    for _ in range(_ROUNDS):
        now = without_mass(kernel, loose)
        vectors = leading_penalties(now, count).eigenvectors
        kept = np.flatnonzero(~loose)
        penalty = kernel.penalty if now.reduced is None else now.reduced[1].penalty
        weights = edge_weights_of(penalty, None if scale is None else scale[kept])
        vectors = (vectors if scale is None else vectors / scale[:, None])[kept]
        wider = loose.copy()
        for vector in vectors.T:
            part = loose_part(weights, np.where(wider[kept], 0.0, copies[kept]), vector)
            if part is not None:
                more = wider.copy()
                more[kept[part.vertices]] = True
                wider = more if _may_go(more, copies, component, count) else wider
        if (wider == loose).all():
            break
        loose = wider
    return without_mass(kernel, loose)


def _may_go(loose: np.ndarray, copies: Floats, component: Integers, count: int) -> bool:
    """Whether enough is left of the rows, of each connected component, and for so many eigenvectors."""
    few = copies @ loose <= max(_ALL * copies.sum(), 1.0)
    left = np.bincount(component, weights=~loose) >= 0.5 * np.bincount(component)
    return bool(few and left.all() and (~loose).sum() > count + len(left))


def without_mass(kernel: Laplacian, loose: np.ndarray) -> Laplacian:
    """The kernel in which these vertices have no mass."""
    return replace(kernel, mass=np.where(loose, 0.0, kernel.mass)) if loose.any() else kernel


def edge_weights_of(penalty: csr_array, scale: Floats | None = None) -> csr_array:
    """W (n, n) of a Laplacian L or, where a scale s (n,) is given, of L_ij / s_i s_j; without its diagonal."""
    edges = coo_array(penalty)
    rows, columns = edges.coords
    weights = -edges.data if scale is None else -edges.data * scale[rows] * scale[columns]
    joins = (rows != columns) & (weights > 0)
    return csr_array((weights[joins], (rows[joins], columns[joins])), shape=penalty.shape)
