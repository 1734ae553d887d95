"""Vertices without mass: they have no part in the norm of an eigenvector and lie at the mean of their neighbours.

With M_T = 0 the rows T of P v = μ M v read (P v)_T = 0, so

    v_T = −P_TT⁻¹ P_TS v_S = E v_S,    (P_SS + P_ST E) v_S = μ M_S v_S

and the kernel f(P) in this mass is E f(P_S) Eᵀ. P_S, the Schur complement, is P_SS but for the vertices of S that the
same connected part of T is tied to.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array, csr_array, eye_array, vstack
from scipy.sparse.csgraph import connected_components

from gramfold.types import Integers

_ROUNDING = 1e-14  # beside the largest entry: what is left of entries that cancel


@dataclass(frozen=True, eq=False)
class Reduction:
    """The penalty of the vertices that have mass, and what the others are of them."""

    kept: Integers  # (k,) vertices with mass
    penalty: csr_array  # P_S (k, k)
    extension: csr_array  # (n, k): v = extension v_S


def reduction(penalty: csr_array, loose: np.ndarray) -> Reduction:
    """Of a penalty whose vertices of this mask have no mass; each of them has a path to one that has."""
    kept, gone = np.flatnonzero(~loose), np.flatnonzero(loose)
    rows, columns, values = [], [], []
    ties, inner = csr_array(penalty[gone][:, kept]), csr_array(penalty[gone][:, gone])
    count, part = connected_components(inner, directed=False)
    for members in np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part, minlength=count))[:-1]):
        tied = csr_array(ties[members])
        to = np.unique(tied.indices)
        factor = cho_factor(inner[members][:, members].toarray(), lower=True)
        found = cho_solve(factor, -tied[:, to].toarray())  # (members, to)
        rows.append(np.repeat(members, len(to)))
        columns.append(np.tile(to, len(members)))
        values.append(found.ravel())
    shape = (len(gone), len(kept))
    there = csr_array(coo_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape))
    reduced = csr_array(penalty[kept][:, kept] + ties.T @ there)
    reduced = csr_array(0.5 * (reduced + reduced.T))
    reduced.data[np.abs(reduced.data) < _ROUNDING * np.abs(reduced.data).max(initial=0.0)] = 0.0
    reduced.eliminate_zeros()
    order = np.empty(len(loose), dtype=np.intp)
    order[kept], order[gone] = np.arange(len(kept)), len(kept) + np.arange(len(gone))
    extension = csr_array(vstack([eye_array(len(kept), format="csr"), there]))[order]
    return Reduction(kept, reduced, csr_array(extension))
