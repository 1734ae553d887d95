"""Reduce the connected components of a graph to at most the number of clusters.

If there are more, the smallest are each merged with the nearest component, or left out, or all become clusters.
"""

import numpy as np

from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning
from gramfold.graph.connect import components, merge_components, other_ways
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.runtime.warning import warn
from gramfold.types import Graph, Integers

LEFT_OUT = -1  # the component, and the label, of rows that belong to no cluster


def few_components(graph: Graph, net: NeighborGraph, most: int, why: str) -> Integers:
    """Component (n,) of each vertex, at most `most` of them unless `on_disconnected` is "separate".

    `why` is the parameter that limits their number, for messages.
    """
    component = components(graph)
    sizes = np.bincount(component, weights=net.copies.counts).astype(np.intp)
    if len(sizes) <= most:
        return component
    found = f"the neighbour graph has {len(sizes)} connected components, more than {why}={most}"
    advice = f"use more {'edges' if net.index.given else 'neighbours'}, or more clusters"
    if net.on_disconnected == "error":
        raise DisconnectedGraphError(f"{found}: {advice}, or use {other_ways(component, net.index)}.")
    if net.on_disconnected == "bridge":
        done = f"the {len(sizes) - most} smallest were each merged with the nearest component"
        component = merge_components(component, net.index, most)
    elif net.on_disconnected == "largest":
        done = f"{int(sizes[most:].sum()):,} rows of the smallest are in no cluster (label −1)"
        component = np.where(component < most, component, LEFT_OUT)
    else:
        done = f"each of the {len(sizes)} components is a cluster"
    warn(f"{found}; {done}: {advice}.", DisconnectedGraphWarning)
    return component
