"""The neighbour graph that sc.pp.neighbors left, as it is given to a method.

distances        n_neighbors − 1 neighbours of each cell (scanpy counts the cell itself), directed, with lengths;
                 for methods that take metric="precomputed": an edge is one that either cell has
connectivities   symmetric weights between 0 and 1; for methods that take weights="precomputed", or an affinity
"""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from gramfold.embedding import EdgeWeights, Neighborhood
from gramfold.errors import InputError
from gramfold.tl.cells import require_key

if TYPE_CHECKING:
    from anndata import AnnData

UseGraph = Literal["distances", "connectivities"]
_FIRST = "run sc.pp.neighbors first"


def given_graph(adata: "AnnData", use_graph: Any, neighbors_key: str | None) -> Any:
    """The matrix of this name."""
    if use_graph not in ("distances", "connectivities"):
        raise InputError(
            f"use_graph={use_graph!r} is not a matrix of sc.pp.neighbors: use 'distances' or 'connectivities'."
        )
    key = use_graph
    about = neighbors_record(adata, neighbors_key)
    if about is not None:
        key = str(about.get(f"{use_graph}_key", use_graph))
    return adata.obsp[require_key(key, adata.obsp.keys(), "obsp", _FIRST)]


def neighbors_record(adata: "AnnData", neighbors_key: str | None) -> Mapping[str, Any] | None:
    """What scanpy wrote about the graph; None where it wrote nothing and nothing was asked for."""
    if neighbors_key is None and "neighbors" not in adata.uns:
        return None
    key = require_key(neighbors_key or "neighbors", adata.uns.keys(), "uns", _FIRST)
    about = adata.uns[key]
    if not isinstance(about, Mapping) or "distances_key" not in about:
        raise InputError(
            f"adata.uns[{key!r}] does not say where a neighbour graph is (it has no 'distances_key'): pass the "
            "key_added of sc.pp.neighbors as neighbors_key."
        )
    return about


def takes_affinity(cls: type) -> bool:
    """Whether it reads rows and the graph beside them."""
    return "affinity" in inspect.signature(cls.fit).parameters  # type: ignore[attr-defined]


def takes_graph(cls: type) -> bool:
    """Whether any graph can be given to it."""
    return issubclass(cls, Neighborhood)


def graph_settings(cls: type, use_graph: UseGraph) -> dict[str, str]:
    """The parameter by which a method reads X as this graph; an error where it cannot."""
    if use_graph == "distances" and issubclass(cls, Neighborhood) and not takes_affinity(cls):
        return {"metric": "precomputed"}
    if use_graph == "connectivities" and issubclass(cls, EdgeWeights):
        return {"weights": "precomputed"}
    other = "use_graph='connectivities'" if use_graph == "distances" and takes_affinity(cls) else None
    if use_graph == "connectivities" and issubclass(cls, Neighborhood):
        other = "use_graph='distances'"
    raise InputError(
        f"{cls.__name__} does not take the {use_graph} of a given graph: "
        + (f"use {other}, or leave use_graph out." if other else "leave use_graph out, and it reads the rows.")
    )
