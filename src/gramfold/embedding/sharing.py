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
    """Finds the neighbours of a table once by each metric, as many as the largest of several fits asks for."""

    largest: int
    optional: bool = False  # where there are too few rows for the largest, fits search by themselves
    alone: int = field(default=0, init=False)  # searches that fits made by themselves
    _known: "list[_Known]" = field(default_factory=list, init=False)

    @property
    def searches(self) -> int:
        """So many were made."""
        return len(self._known)

    def neighbors(self, X: Any, hood: Neighborhood, search: Search, check: Callable[[int], None]) -> NeighborGraph:
        """Whom each distinct row of X chooses; `search` finds them, `check` is asked whether the rows are enough."""
        if hood.radius is not None:  # a number of neighbours has no part in it
            return search(hood)
        if hood.n_neighbors > self.largest:
            if self.optional:
                return self._by_itself(search, hood)
            raise InputError(
                f"n_neighbors={hood.n_neighbors}, but the shared neighbour search is for at most {self.largest}: begin "
                "it with the largest number of neighbours."
            )
        net = next((known.net for known in self._known if known.serves(X, hood)), None)
        if net is None:
            most = Neighborhood(
                n_neighbors=self.largest,
                metric=hood.metric,
                metric_params=hood.metric_params,
                search=hood.search,
                on_disconnected=hood.on_disconnected,
            )
            try:
                net = search(most)
            except InputError:
                if not self.optional:
                    raise
                return self._by_itself(search, hood)  # the fit that asks for the largest will say the same
            self._known.append(_Known(X, most, net))
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

    def _by_itself(self, search: Search, hood: Neighborhood) -> NeighborGraph:
        found = search(hood)
        self.alone += 1
        return found


@dataclass(frozen=True, eq=False)
class _Known:
    """A search that was made."""

    rows: Any
    hood: Neighborhood
    net: NeighborGraph

    def serves(self, X: Any, hood: Neighborhood) -> bool:
        """Whether another search, of these rows and with these settings, would find the same."""
        same = self.hood.metric == hood.metric and self.hood.search == hood.search
        return same and _same_params(self.hood.metric_params, hood.metric_params) and _equal(self.rows, X)


def _same_params(first: Any, second: Any) -> bool:
    first, second = first or {}, second or {}
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


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
def shared_search(largest: int, *, optional: bool = False) -> Iterator[SharedSearch]:
    """Fits in this block (and thread) that read the same rows share one neighbour search for `largest` neighbours.

    If `optional`, fits for which it cannot be made, since rows are too few for that many, search by themselves, and so
    do fits that ask for more.
    """
    search = SharedSearch(largest, optional)
    token = CURRENT_SEARCH.set(search)
    try:
        yield search
    finally:
        CURRENT_SEARCH.reset(token)


@contextmanager
def shared_nothing() -> Iterator[None]:
    """Fits in this block search by themselves, whatever is shared around it."""
    token = CURRENT_SEARCH.set(None)
    try:
        yield
    finally:
        CURRENT_SEARCH.reset(token)
