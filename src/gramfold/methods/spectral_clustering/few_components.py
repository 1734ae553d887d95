"""No more connected components than there may be clusters.

Where a graph falls into more, the smallest join their nearest others, or are left out, or all are clusters after all.
"""

import numpy as np

from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning
from gramfold.graph.connect import components, merge_components, other_ways
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.runtime.warning import warn
from gramfold.types import Graph, Integers

LEFT_OUT = -1  # the component, and the label, of rows that belong to no cluster


def few_components(graph: Graph, net: NeighborGraph, most: int, why: str) -> Integers:
    """The component of each vertex, (n,), brought to at most so many in the way of `on_disconnected`.

    `why` says, in a message, where that number is from.
    """
    component = components(graph)
    sizes = np.bincount(component, weights=graph.multiplicity).astype(np.intp)
    if len(sizes) <= most:
        return component
    found = f"the neighbour graph falls into {len(sizes)} pieces, more than the {most} clusters {why}"
    advice = "use more neighbours, or more clusters"
    if net.on_disconnected == "error":
        raise DisconnectedGraphError(f"{found}: {advice}, or choose {other_ways(component, net.index)}.")
    if net.on_disconnected == "bridge":
        done = f"the {len(sizes) - most} smallest were given to their nearest others"
        component = merge_components(component, net.index, most)
    elif net.on_disconnected == "largest":
        done = f"{int(sizes[most:].sum()):,} rows of the smallest are in no cluster (label −1)"
        component = np.where(component < most, component, LEFT_OUT)
    else:
        done = f"each piece is a cluster, {len(sizes)} in all"
    warn(f"{found}; {done}: {advice}.", DisconnectedGraphWarning)
    return component
