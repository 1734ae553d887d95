"""One neighbour search for several fits of the same rows.

The lists of k neighbours are the beginnings of the lists of more: they are nearest first, and the lower index at a tie.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.embedding.groups import GraphChoice, Neighborhood
from gramfold.errors import InputError
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.types import Neighbors

Search = Callable[[Neighborhood], NeighborGraph]


@dataclass(eq=False)
class SharedSearch:
    """Finds the neighbours of a table once, as many as the largest of several fits asks for."""

    largest: int
    searches: int = field(default=0, init=False)  # so many were made
    _rows: Any = field(default=None, init=False)  # whose neighbours are known
    _net: NeighborGraph | None = field(default=None, init=False)

    def neighbors(self, X: Any, hood: Neighborhood, search: Search, check: Callable[[int], None]) -> NeighborGraph:
        """Whom each distinct row of X chooses; `search` finds them, `check` is asked whether the rows are enough."""
        if hood.radius is not None:  # a number of neighbours has no part in it
            return search(hood)
        if hood.n_neighbors > self.largest:
            raise InputError(
                f"n_neighbors={hood.n_neighbors}, but the shared neighbour search is for at most {self.largest}: begin "
                "it with the largest number of neighbours."
            )
        net = self._net
        if net is None or not _equal(self._rows, X):
            most = Neighborhood(
                n_neighbors=self.largest,
                metric=hood.metric,
                metric_params=hood.metric_params,
                search=hood.search,
                on_disconnected=hood.on_disconnected,
            )
            net, self._rows = search(most), X
            self._net, self.searches = net, self.searches + 1
        if net.index.given:
            raise InputError(
                "the edges of the neighbour graph are given (a sparse matrix of distances, or a neighbours "
                "transformer), so n_neighbors has no effect: pass a table of rows or a dense matrix of distances, and "
                "name a search."
            )
        check(len(net.copies))
        return replace(
            net,
            neighbors=first_neighbors(net.neighbors, hood.n_neighbors),
            n_neighbors=hood.n_neighbors,
            on_disconnected=hood.on_disconnected,
            edges=hood.graph if isinstance(hood, GraphChoice) else "union",
        )


def first_neighbors(lists: Neighbors, k: int) -> Neighbors:
    """The first k of each list."""
    return lists.keep(np.arange(len(lists.indices)) - lists.indptr[lists.rows] < k)


def _equal(known: Any, X: Any) -> bool:
    if known.shape != X.shape or known.dtype != X.dtype or issparse(known) != issparse(X):
        return False
    if issparse(known):
        return bool((known != X).nnz == 0)
    return bool(np.array_equal(known, X, equal_nan=True))


# of the block that a fit begins in; None outside of any
CURRENT_SEARCH: ContextVar[SharedSearch | None] = ContextVar("CURRENT_SEARCH", default=None)


@contextmanager
def shared_search(largest: int) -> Iterator[SharedSearch]:
    """Fits in this block (and thread) that read the same rows share one neighbour search for `largest` neighbours."""
    search = SharedSearch(largest)
    token = CURRENT_SEARCH.set(search)
    try:
        yield search
    finally:
        CURRENT_SEARCH.reset(token)
