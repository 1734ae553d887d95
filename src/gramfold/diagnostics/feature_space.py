"""Distances in feature space beside those in the data and on the map, far apart and between neighbours.

    feature space: d²_ij = K_ii + K_jj − 2 K_ij;    principal coordinates: V Λ^½, the projection of feature space

Where the map is a straight line of feature space, the dimensions that it leaves out hold nothing. Ham, Lee, Mika,
Schölkopf, ICML 2004, figs 2 to 4, panels C to F.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from gramfold.diagnostics.randomness import drawn_from
from gramfold.diagnostics.refits import check_whole
from gramfold.diagnostics.rows_kernel import EXACT_ROWS, RowsKernel, whole_matrix
from gramfold.embedding import Embedding, Model
from gramfold.errors import InputError
from gramfold.extension.graph_source import GraphSource
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.neighbors.search import exact_index
from gramfold.types import Floats, Integers

Space = Literal["feature", "input", "map", "principal"]

_SAMPLE = 800  # rows, where there are more than can be compared with all others
LEAST_SAMPLE = 20  # rows of a sample: half as many pairs of neighbours, of which a correlation says something
_NEAREST = 8  # neighbours of a row, of a method without a graph


@dataclass(frozen=True, eq=False, repr=False)
class ComparedDistances:
    """Distances of the same pairs of rows in several spaces.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_pairs, 2)
        Data rows.
    feature : ndarray of shape (n_pairs,)
        In feature space, √(K_ii + K_jj − 2 K_ij); 0 where an indefinite kernel has a negative square.
    input : ndarray of shape (n_pairs,)
        In the data, by the metric of the model; NaN where the distance is not known (precomputed values).
    map : ndarray of shape (n_pairs,)
        On the map.
    principal : ndarray of shape (n_pairs,)
        In the principal coordinates V Λ^½ of the axes of the map: the same as `map` for methods with these coordinates,
        and never more than `feature` for a positive semidefinite kernel.
    negative : float
        Share of the pairs with a negative square in feature space.
    """

    pairs: Integers
    feature: Floats
    input: Floats
    map: Floats
    principal: Floats
    negative: float

    def correlation(self, of: Space = "map", to: Space = "feature") -> float:
        """Pearson's correlation of the distances in two spaces; NaN where one of them does not vary or is not known.

        Parameters
        ----------
        of, to : {"feature", "input", "map", "principal"}
            The spaces.

        Returns
        -------
        correlation : float
            Between −1 and 1; 1 where one is a linear function of the other.
        """
        y, x = (self._centered(name) for name in (of, to))
        size = np.linalg.norm(y) * np.linalg.norm(x)
        return float(y @ x / size) if size > 0 else float("nan")

    def slope(self, of: Space = "map", to: Space = "feature") -> float:
        """Least-squares slope through the origin: `of` is about slope · `to`.

        Parameters
        ----------
        of, to : {"feature", "input", "map", "principal"}
            The spaces.

        Returns
        -------
        slope : float
            1 where distances are the same; NaN where those of `to` are 0 or not known.
        """
        y, x = self._distances(of), self._distances(to)
        square = float(x @ x)
        return float(x @ y) / square if square > 0 else float("nan")

    def _distances(self, name: Space) -> Floats:
        if name not in get_args(Space):
            raise InputError(f"{name!r} is no space of distances: use one of {', '.join(map(repr, get_args(Space)))}.")
        found: Floats = getattr(self, name)
        return found

    def _centered(self, name: Space) -> Floats:
        values = self._distances(name)
        return np.asarray(values - values.mean()) if len(values) else values

    def __repr__(self) -> str:
        return (
            f"ComparedDistances({len(self.pairs):,} pairs, map to feature space: correlation {self.correlation():.4f}, "
            f"slope {self.slope():.3g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class FeatureDistances:
    """Distances in feature space, in the data and on the map.

    Attributes
    ----------
    everywhere : ComparedDistances
        Of all pairs of rows, or of all pairs of the sampled ones.
    local : ComparedDistances
        Of neighbours: the edges of the neighbour graph or, for a method without one, rows and their 8 nearest.
    sampled : int
        Number of rows in the sample.
    n_rows : int
        Number of rows that the kernel is of.
    """

    everywhere: ComparedDistances
    local: ComparedDistances
    sampled: int
    n_rows: int

    def __repr__(self) -> str:
        return (
            f"FeatureDistances({self.sampled:,} of {self.n_rows:,} rows; correlation of map and feature space "
            f"{self.everywhere.correlation():.4f}, of neighbours {self.local.correlation():.4f})"
        )


def feature_distances(model: Any, *, sample: int | None = None, random_state: Any = 0) -> FeatureDistances:
    """Compare distances in feature space with those in the data and on the map.

    Parameters
    ----------
    model : estimator
        A fitted model with the attribute `kernel_`. Rows without kernel values (other connected components, rows that
        are no landmarks) are left out. A duplicate row is at distance 0 of the others.
    sample : int, default=None
        Number of rows that are drawn at random, at least 20; pairs of neighbours are drawn from all rows, half as
        many. None: all rows up to 2,000, else 800.
    random_state : int, RandomState instance or None, default=0
        Of the sample.

    Returns
    -------
    distances : FeatureDistances
        `everywhere` and `local`, each with the distances themselves, `correlation` and `slope`. They are those of the
        model, fitted to X / `unit_`, which is 1 unless values of X are extreme.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.diagnostics import feature_distances
    >>> found = feature_distances(Isomap().fit(make_s_curve(400, random_state=0).points))
    >>> bool(found.everywhere.correlation("map", "feature") > 0.99)
    True
    >>> bool(found.everywhere.correlation("map", "input") < 0.95)  # the curve was unrolled
    True
    """
    if not isinstance(model, Embedding):
        named = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InputError(f"model is {named}, which has no kernel: pass a fitted estimator with the attribute kernel_.")
    kernel = RowsKernel.of(model, "model")
    count = len(kernel) if sample is None else check_whole(sample, "sample", LEAST_SAMPLE)
    if sample is None and len(kernel) > EXACT_ROWS:
        count = _SAMPLE
    whole = count >= len(kernel)
    rng, spaces = drawn_from(random_state), _Spaces.of(model, kernel)
    drawn = np.sort(kernel.rows) if whole else np.sort(rng.choice(kernel.rows, count, replace=False))
    near = spaces.neighbors(None if whole else (rng, count // 2))
    if not whole and len(near) > count // 2:
        near = near[np.sort(rng.choice(len(near), count // 2, replace=False))]
    i, j = np.triu_indices(len(drawn), k=1)
    gram = _Entries.of(kernel, np.union1d(drawn, near), whole)
    return FeatureDistances(
        spaces.compared(np.column_stack([drawn[i], drawn[j]]), gram),
        spaces.compared(near, gram),
        len(drawn),
        len(kernel),
    )


@dataclass(frozen=True, eq=False)
class _Entries:
    """Kernel values among some rows."""

    rows: Integers  # ascending
    values: Floats  # over the vertices, or over these rows
    place: Integers  # of each of these rows in it

    @classmethod
    def of(cls, kernel: RowsKernel, rows: Integers, whole: bool) -> "_Entries":
        places = kernel.places(rows)
        if whole:
            return cls(rows, whole_matrix(kernel.kernel), kernel.kernel.rows[places])
        return cls(rows, kernel.kernel.columns(places)[places], np.arange(len(rows)))

    def squares(self, pairs: Integers) -> Floats:
        """Squared distances in feature space."""
        i, j = (self.place[np.searchsorted(self.rows, ends)] for ends in pairs.T)
        diagonal = np.diagonal(self.values)
        return np.asarray(diagonal[i] + diagonal[j] - 2.0 * self.values[i, j])


@dataclass(frozen=True, eq=False)
class _Spaces:
    """What is known of the rows of a model, in its unit."""

    model: Model
    kernel: RowsKernel
    places: Floats  # (n, p) the map
    principal: Floats  # (m, p) V Λ^½ of the rows of the kernel
    n_jobs: int | None

    @classmethod
    def of(cls, estimator: Any, kernel: RowsKernel) -> "_Spaces":
        model: Model = vars(estimator)["model_"]
        values = np.sqrt(np.maximum(model.spectrum.eigenvalues, 0.0))
        return cls(model, kernel, model.inner_map.astype(np.float64), kernel.leading * values, estimator.n_jobs)

    @property
    def graphs(self) -> GraphSource | None:
        """The neighbour graph, where the method has one."""
        source: Any = self.model.source
        found: GraphSource | None = source if isinstance(source, GraphSource) else getattr(source, "members", None)
        return found

    def neighbors(self, some: tuple[np.random.RandomState, int] | None) -> Integers:
        """Pairs of data rows (e, 2), the lower first, that the kernel has both of.

        Without a graph a search of all rows would take long where these are many: then of so many, drawn at random.
        """
        source: Any = self.model.source
        if self.graphs is not None or getattr(source, "joined", None) is not None:
            edges = source.graph.lengths.tocoo()
            i, j = (np.asarray(ends) for ends in edges.coords)
        elif source.rows is not None and source.metric is not None:
            first = collapse_rows(source.metric.prepare(source.rows)).first
            k = min(_NEAREST, len(first) - 1)
            index = exact_index(source.rows[first], source.metric, self.n_jobs)
            known = np.flatnonzero(np.isin(first, self.kernel.rows))
            if some is None or some[1] >= len(known):
                lists = index.own(k, None)
                i, j = first[lists.rows], first[lists.indices]
            else:
                random, count = some
                chosen = np.sort(random.choice(known, count, replace=False))
                lists = index.nearest(source.rows[first[chosen]], k + 1)
                i, j = first[chosen[lists.rows]], first[lists.indices]
                i, j = i[i != j], j[i != j]
        else:
            return np.empty((0, 2), dtype=np.intp)
        pairs = np.unique(np.column_stack([np.minimum(i, j), np.maximum(i, j)]), axis=0)
        return np.asarray(pairs[np.isin(pairs, self.kernel.rows).all(axis=1)])

    def compared(self, pairs: Integers, gram: _Entries) -> ComparedDistances:
        """The distances of these pairs in all spaces."""
        squares = gram.squares(pairs)
        i, j = pairs.T
        a, b = (self.kernel.places(ends) for ends in (i, j))
        return ComparedDistances(
            pairs,
            np.sqrt(np.maximum(squares, 0.0)),
            self._in_data(i, j),
            np.linalg.norm(self.places[i] - self.places[j], axis=1),
            np.linalg.norm(self.principal[a] - self.principal[b], axis=1),
            float((squares < 0).mean()) if len(squares) else 0.0,
        )

    def _in_data(self, i: Integers, j: Integers) -> Floats:
        source: Any = self.model.source
        if self.graphs is not None and not self.graphs.components.net.index.gaps_unknown:
            vertex = self.graphs.components.vertex_of(len(self.places))
            return self.graphs.components.net.index.distances_between(vertex[i], vertex[j])
        if source.rows is not None and source.metric is not None:
            rows = source.metric.prepare(source.rows)
            return np.asarray(source.metric.pairs(rows, i, rows, j, self.n_jobs))
        return np.full(len(i), np.nan)
