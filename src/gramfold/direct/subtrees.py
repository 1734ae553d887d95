"""Parts of an elimination tree that can be eliminated at the same time.

Vertices of one subtree never touch those of another, only the rest of the tree above them, the top.
The cut depends on the tree alone, not on the number of threads, and so does every sum.
"""

from dataclasses import dataclass

import numpy as np

from gramfold.runtime.costs import COSTS, Costs
from gramfold.types import Floats, Integers

# Largest and smallest share of all the work in a subtree: smaller ones leave more to the top, which is not divided.
# What is not worth a thread goes with the top.
_MOST, _WORTH = 1 / 4, 1 / 64


@dataclass(frozen=True)
class Subtrees:
    """Supernodes by part, ascending: of each subtree, its root last, the most work first; and of the top."""

    parts: list[Integers]
    top: Integers


def subtrees(
    parent: Integers, operations: Floats, entries: Integers, border: Integers, *, costs: Costs = COSTS
) -> Subtrees:
    """Cut the tree of the supernodes; `border`: number of vertices above it that each supernode touches."""
    from gramfold.direct.subtree_kernels import cut_tree

    whole = operations.sum()
    label = np.empty(len(parent), dtype=np.int64)
    limits = (max(costs.direct.least_subtree, _WORTH * whole), _MOST * whole)
    cut_tree(parent, operations.copy(), entries.astype(np.float64), border, *limits, label)
    members = np.argsort(label, kind="stable")
    counts = np.bincount(label + 1)  # -1 is the top
    top, *parts = np.split(members, np.cumsum(counts)[:-1])
    return Subtrees(sorted(parts, key=lambda part: -operations[part].sum()), top)
