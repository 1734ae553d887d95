"""Whether distances along the pairs of a graph hold its vertices in place: lateration.

A body starts as a clique and takes in every vertex with `order` pairs to it, again and again. In R^d, for points in
general position,

    order = d      the body is rigid: each new vertex is a 0-extension of Henneberg, so that the rigidity matrix has
                   the rank d n − d (d + 1) / 2 (Asimow, Roth 1978; Whiteley 1996)
    order = d + 1  it is universally rigid: no other points, in any dimension, have the same distances, so that a
                   semidefinite program over these distances has one solution (So, Ye 2007; Zhu, So, Ye 2010)

Either is sufficient, not necessary: a framework may be rigid that no body covers. Growth is a few sparse products,
where the rank of the rigidity matrix would be a factorisation with soft modes that rounding hides.

Asimow, Roth, Transactions of the AMS 245 (1978); Whiteley, Contemporary Mathematics 197 (1996); So, Ye, Mathematical
Programming 109 (2007); Zhu, So, Ye, SIAM Journal on Optimization 20 (2010).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gramfold.types import Integers

_TRIES = 24  # cliques that bodies are grown from
_GOLDEN = (5**0.5 - 1) / 2  # its multiples, modulo 1, are spread evenly


def rigid_bodies(pairs: csr_array, order: int) -> Integers:
    """The body of each vertex, (n,), the largest is 0; -1 where a vertex is in none that was found.

    `pairs` is symmetric and without diagonal; only its pattern counts. A vertex in several bodies is in the first.
    """
    n = pairs.shape[0]
    pattern = csr_array((np.ones(len(pairs.indices), dtype=np.int8), pairs.indices, pairs.indptr), shape=(n, n))
    label, found = np.full(n, -1), 0
    for attempt in range(1, _TRIES + 1):
        free = np.flatnonzero(label < 0)
        if not free.size:
            break
        clique = _clique(pattern, int(free[int(attempt * _GOLDEN % 1 * len(free))]), order + 1)
        if clique is not None:
            label[body(pattern, clique, order) & (label < 0)] = found
            found += 1
    sizes = np.bincount(label[label >= 0], minlength=1)
    rank = np.empty(len(sizes), dtype=label.dtype)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.where(label < 0, -1, rank[label])


def body(pairs: csr_array, clique: Integers, order: int) -> NDArray[np.bool_]:
    """The vertices that lateration of this order reaches from a clique, (n,)."""
    count = np.zeros(pairs.shape[0], dtype=np.int64)  # pairs of each vertex to the body
    inside = np.zeros(pairs.shape[0], dtype=bool)
    new = np.asarray(clique)
    while new.size:
        inside[new] = True
        reached = pairs[new].indices
        np.add.at(count, reached, 1)
        reached = np.unique(reached)
        new = reached[~inside[reached] & (count[reached] >= order)]
    return inside


def _clique(pairs: csr_array, seed: int, size: int) -> Integers | None:
    """So many vertices with pairs between all of them, one of them the seed: greedily, None where there are fewer."""
    near = pairs.indices[pairs.indptr[seed] : pairs.indptr[seed + 1]]
    among = pairs[near][:, near].toarray() > 0
    left, chosen = np.ones(len(near), dtype=bool), [seed]
    while len(chosen) < size:
        if not left.any():
            return None
        best = int(np.argmax(np.where(left, among @ left, -1)))
        chosen.append(int(near[best]))
        left &= among[best]
    return np.array(chosen)
