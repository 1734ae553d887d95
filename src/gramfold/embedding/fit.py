"""A fit under way: the rows, the settings that all methods share, and the verbs that methods are made of.

    fit.graph    rows -> neighbours -> connected components
    fit.solve    for each component: kernel -> spectrum -> coordinates V Λ^a; laid out on one map
    judged       the same model, with a warning where its map shows little of the data (solving.py)

Nothing of it is kept: what a fit leaves is the model that its verbs return.
"""

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from gramfold.embedding.groups import GraphChoice, Neighborhood
from gramfold.embedding.model import NO_FUNCTION, Model
from gramfold.embedding.reading import Columns, Reads, read_training
from gramfold.embedding.sharing import CURRENT_SEARCH, SharedSearch
from gramfold.embedding.solving import Choose, Few, Whole, few_positive, lay_out, solve_part
from gramfold.embedding.weighing import read_weights
from gramfold.errors import InputError, NoPreimageError
from gramfold.extension.graph_source import GraphSource
from gramfold.extension.placement import Built
from gramfold.extension.table_source import TableSource
from gramfold.graph.components import Component, Components
from gramfold.graph.drop import drop_edges
from gramfold.graph.neighbor_graph import EnoughNeighbors, Find, NeighborGraph, check_radius, found_here, graph_memory
from gramfold.neighbors.columns import require_one_order
from gramfold.neighbors.duplicates import Collapse, no_duplicates
from gramfold.neighbors.sparse_rows import numbers_per_row
from gramfold.runtime.memory import fits, require_memory
from gramfold.runtime.progress import Stages
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats, Graph, Integers


@dataclass(frozen=True, eq=False)
class Fit:
    """See the module."""

    name: str  # of the estimator's class, for messages
    X: Any  # as it was read, in the user's unit
    y: Any
    extras: Mapping[str, Any]  # what else `fit` was given
    sample_weight: Floats | None  # (n,) how many times each row counts; None: once
    mass: Floats  # (n,) the same, 1 where none were given
    total: float  # n, as the sum of these
    reads: Reads
    columns: Columns
    n_components: Any
    n_jobs: int | None
    random_state: Any
    stages: Stages
    weighted: bool  # whether X is a graph with its weights
    declared: Mapping[str, Field[Any]]  # the estimator's parameters
    previous: Any  # the model of the fit before; None where there was none
    shared: SharedSearch | None = None  # that fits of the same rows have in common
    find: Find = found_here  # who finds the neighbours of the rows
    fewer: str = "fit on at most {:,} rows"  # what to do where memory does not suffice
    seen: Any = None  # the table of a linear map, where its first look was taken elsewhere (linear.Table)

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, reads: Reads, extras: Mapping[str, Any]) -> Self:
        """Of an estimator whose parameters were checked."""
        name = type(estimator).__name__
        if getattr(estimator, "inverse", None) == "fixed-point" and not hasattr(estimator, "gamma"):
            raise NoPreimageError(NO_FUNCTION.format(name))
        rows, columns = read_training(name, X, reads)
        given = extras.get("sample_weight")
        require_one_order(X, given, ("X", "sample_weight"))
        weights = None if given is None else read_weights(given, rows.shape[0])
        mass = np.ones(rows.shape[0]) if weights is None else weights
        return cls(
            name=name,
            X=rows,
            y=y,
            extras=extras,
            sample_weight=weights,
            mass=mass,
            total=float(mass.sum()),
            reads=reads,
            columns=columns,
            n_components=getattr(estimator, "n_components", None),  # a clusterer has none
            n_jobs=estimator.n_jobs,
            random_state=estimator.random_state,
            stages=Stages(estimator.verbose, name, estimator.progress),
            weighted=getattr(estimator, "weights", None) == "precomputed",
            declared=estimator.__dataclass_fields__,
            previous=vars(estimator).get("model_"),
            shared=CURRENT_SEARCH.get(),
        )

    @property
    def rng(self) -> np.random.RandomState:
        """Draws at random, from the beginning each time that it is asked for."""
        drawing: np.random.RandomState = check_random_state(self.random_state)
        return drawing

    def forecast(
        self,
        need: Callable[[int, int], float],
        advice: Callable[[], list[str]] = list,
        others: str = "and embed the other rows with transform()",
    ) -> None:
        """Refuse rows for which `need(n, itemsize)` bytes, beyond the rows themselves, are not there.

        `advice` knows what else would fit, in words that begin with "or"; `others` is what to do with the others.
        """
        n, itemsize = self.X.shape[0], self.X.dtype.itemsize

        def instead() -> list[str]:
            half = itemsize == 8 and need(n, 4) < 0.6 * need(n, 8) and fits(need(n, 4))
            return ["or pass float32 rows, which need half"] * half + advice()

        least = int(self.n_components) + 1 if isinstance(self.n_components, Integral) else 2
        require_memory(self.name, lambda rows: need(rows, itemsize), n, others, instead, least, self.fewer)

    def check_components(self, n: int) -> None:
        """Refuse a map of more dimensions than so many distinct rows have."""
        if self.n_components >= n:
            raise InputError(
                f"n_components={self.n_components} and n_samples={n} (distinct rows): an embedding of {n} rows has at "
                f"most {n - 1} dimensions; use n_components <= {n - 1}."
            )

    def check_neighborhood(self, hood: Neighborhood) -> None:
        """Refuse a number of neighbours in addition to a radius."""
        default: Any = self.declared["n_neighbors"].default
        check_radius(hood, default)
        if self.weighted:
            self._check_weighted(hood)

    @property
    def width(self) -> int:
        """How many numbers a row holds: its columns or, of sparse rows, the entries of the average one."""
        return self.columns.count if self.reads.precomputed else numbers_per_row(self.X)

    def degree(self, hood: Neighborhood) -> int:
        """Neighbours of a row: as many as are asked for, or about as many as a given graph has."""
        if not self.weighted:
            return hood.n_neighbors
        return int(self.X.nnz if issparse(self.X) else np.count_nonzero(self.X)) // int(self.X.shape[0]) + 1

    def _check_weighted(self, hood: Neighborhood) -> None:
        """Refuse settings of a neighbour search in addition to a given graph."""
        names = (
            "n_neighbors",
            "radius",
            "search",
            "metric_params",
            *(() if hood.metric == "precomputed" else ("metric",)),
        )
        for name in names:
            value, default = getattr(hood, name), self.declared[name].default
            if value is not default and value != default:
                raise InputError(
                    f"weights='precomputed' takes the graph from X, so {name}={value!r} has no effect: leave {name} at "
                    f"its default, or use other weights for a table of rows."
                )

    def forecast_graph(
        self,
        hood: Neighborhood,
        beside: Callable[[int, int], float] = lambda n, itemsize: 0.0,
        advice: Callable[[], list[str]] = list,
        most: int | None = None,
    ) -> None:
        """Refuse rows whose neighbour graph, and `beside(n, itemsize)` bytes more, do not fit; see `forecast`.

        The graph has at most so many of them.
        """
        self.check_neighborhood(hood)
        self.check_components(self.X.shape[0])
        degree = self.degree(hood)

        def need(n: int, itemsize: int) -> float:
            n = n if most is None else min(n, most)
            return graph_memory(n, degree) + beside(n, itemsize)

        self.forecast(need, advice)

    def graph(
        self,
        hood: Neighborhood,
        *,
        rows: Integers | None = None,
        arrange: Callable[[Graph], Graph] = lambda graph: graph,
        by_rule: bool = False,
        least: int = 0,
        net: NeighborGraph | None = None,
    ) -> GraphSource:
        """The neighbour graph of the rows (or some of them), in connected components.

        `arrange` numbers the vertices of a component; `by_rule` gives new rows the edges that the graph would give
        them, and not only those to their nearest; with fewer neighbours than `least` a row says nothing; `net` are the
        neighbours, where they are known.
        """
        enough = EnoughNeighbors(least, self.name, self.n_components)
        enough.of_settings(hood)
        net = self.neighbors(hood, rows) if net is None else net
        with self.stages("graph"):
            net = self.without_dropped(net, hood, rows)
            components = Components.of(net, arrange, rows)
        self.check_components(len(components.graphs[0]))
        enough.of_graphs(components.graphs)
        return GraphSource(components, None if self.reads.precomputed else net.unit.inward(self.X), by_rule)

    def neighbors(
        self, hood: Neighborhood, rows: Integers | None = None, check: Callable[[int], None] | None = None
    ) -> NeighborGraph:
        """Whom each distinct row (of some) chooses."""
        edges = hood.graph if isinstance(hood, GraphChoice) else "union"
        with self.stages("neighbors"):
            if self.weighted:
                net = NeighborGraph.of_weights(self.X, hood, edges, check or self.check_components)
                return replace(net, copies=self.massive(net.copies))
            some, checked = self.X if rows is None else self.X[rows], check or self.check_components

            def search(hood: Neighborhood) -> NeighborGraph:
                return NeighborGraph.of(
                    some,
                    hood,
                    check=checked,
                    random_state=self.rng,
                    n_jobs=self.n_jobs,
                    stages=self.stages,
                    edges=edges,
                    find=self.find,
                )

            found = search(hood) if self.shared is None else self.shared.neighbors(some, hood, search, checked)
        return replace(found, copies=self.massive(found.copies, rows))

    def without_dropped(self, net: NeighborGraph, hood: Neighborhood, rows: Integers | None = None) -> NeighborGraph:
        """The same neighbours without the edges that are to be dropped."""
        return drop_edges(net, hood.drop_edges, self.X.shape[0], rows, self.rng, self.n_jobs)

    def massive(self, copies: Collapse, rows: Integers | None = None) -> Collapse:
        """Vertices of the rows (or some of them) with the sums of their rows' weights as mass."""
        if self.sample_weight is None:
            return copies
        return copies.weighted(self.sample_weight if rows is None else self.sample_weight[rows])

    def solve(
        self,
        source: GraphSource,
        build: Callable[[Component, "Fit"], Built],
        *,
        power: float = 0.0,
        choose: Choose = leading_spectrum,
        few: Few = few_positive,
        found: Mapping[str, Any] | None = None,
    ) -> Model:
        """The map of a graph: `build` makes the kernel of a component, `choose` finds its eigenpairs.

        Coordinates come in this power of the unit of distances; `few` says that some of them are zero.
        """
        degree = power * (source.components.net.degree or 0)
        parts = source.components.each()
        return lay_out(self, source, parts, [solve_part(self, one, build, choose, few) for one in parts], degree, found)

    def solve_whole(
        self,
        source: TableSource,
        build: Callable[[Whole, "Fit"], Built],
        *,
        degree: float,
        copies: Collapse | None = None,
        choose: Choose = leading_spectrum,
        found: Mapping[str, Any] | None = None,
    ) -> Model:
        """The map of a table as one part; `degree` is the power of the rows' unit that coordinates come in."""
        whole = Whole(self.massive(no_duplicates(self.X.shape[0])) if copies is None else copies)
        return lay_out(self, source, [whole], [solve_part(self, whole, build, choose)], degree, found)
