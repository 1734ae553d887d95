"""Locality preserving projections: the linear map that keeps neighbours together best.

    X L Xᵀ v = μ X D Xᵀ v,   y(x) = vᵀ x                     (raw; L = D − W, smallest μ)
    the same with [x; 1] in the place of x, y(x) = vᵀ x + b   (affine: the constant, μ = 0, is dropped)

Laplacian eigenmaps among linear functions. Raw, the constant is no solution, and the map depends on where the origin
is; affine, it does not. A supervised graph joins rows of one class: with all its pairs joined, weighing 1/(rows of the
class), X L Xᵀ is the scatter within classes and X D Xᵀ the total one, and the affine map is Fisher's discriminant.
He, Niyogi, NIPS 16 (2003); Brand, IJCAI 2003, section 4 (the affine upgrade).
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import ContinuousEmbedding, Piece, method, parameter
from gramfold.embedding.all_or_nothing import all_or_nothing
from gramfold.embedding.degenerate import Data, rows_by
from gramfold.errors import InputError, RankWarning
from gramfold.graph.build import build_graph
from gramfold.kernels.basis import Basis, LinearBasis, MixtureBasis
from gramfold.kernels.transformational import ClassWeights, TransformationalMap
from gramfold.neighbors.search import build_index
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Integers, Neighbors

# For each row. On digits, faces, tables and Gaussian mixtures held-out rows were classified on the map worse than
# training rows by 0.03 on average up to 0.4, by 0.07 from 0.4 to 0.7, and by 0.3 at about 1.
_MOST_DIRECTIONS = 0.5


@method
class LPP(ContinuousEmbedding):
    """Locality preserving projections, unsupervised or by classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramfold import LPP
    >>> X, y = load_wine(return_X_y=True)
    >>> LPP(n_components=2).fit_transform(X).shape
    (178, 2)
    >>> LPP(n_components=2, graph="classes").fit(X, y).components_.shape     # Fisher's discriminant
    (2, 13)
    """

    approximation: Literal["affine", "raw"] = parameter(
        default="affine",
        allowed=[StrOptions({"affine", "raw"})],
        words="""An affine map, y = vᵀ x + b, or a linear one, y = vᵀ x, as first published. The leading raw solution is
        dropped if it is nearer to the constant than not.""",
    )
    graph: Literal["neighbors", "class-neighbors", "classes"] = parameter(
        default="neighbors",
        allowed=[StrOptions({"neighbors", "class-neighbors", "classes"})],
        words="""Who is joined: each row with its nearest rows; with its nearest rows of its own class (all others of it
        where they are fewer); or all rows of one class, each edge weighing 1/(rows of the class) whatever `weights` is.
        The last two need the classes y.""",
    )

    _attributes: ClassVar[str] = """
    components_ : ndarray of shape (n_components, n_features)
        The map itself, y = x · components_ᵀ + intercept_. Not there where on_disconnected="separate" has made a map of
        each of several pieces.
    intercept_ : ndarray of shape (n_components,)
        What is added; 0 for a raw map. Likewise.
    """

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,), default=None
            Their classes, for a supervised graph; else not used.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._labels = y
        super().fit(X)
        del self._labels
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Embed the rows of X and return their map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : array-like of shape (n_samples,), default=None
            As for `fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        return self.fit(X, y).embedding_.copy()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.graph != "neighbors"  # the classes
        return tags

    @property
    def _degree(self) -> float | None:
        return 0.0 if self.graph == "classes" else super()._degree  # whose weights are no lengths

    def _to_compare(self, X: Any) -> Data | None:
        return super()._to_compare(X) if self.graph == "neighbors" else rows_by(self._row_metric, X)

    def _keeps_neighbors(self) -> bool:
        return self.graph == "neighbors"  # a supervised map keeps classes

    # --- the functions

    def _basis(self, points: Floats, numbers: Integers) -> tuple[LinearBasis, Integers]:
        # the affine map is the same about any origin, and loses fewest digits about the mean
        mean = points.mean(axis=0, dtype=np.float64)
        if self.approximation == "raw":
            return LinearBasis(np.zeros_like(mean)), np.arange(len(numbers))
        # rounding of the mean of a column that does not vary would be taken for variation
        constant = (points == points[0]).all(axis=0)
        return LinearBasis(np.where(constant, points[0], mean)), np.arange(len(numbers))

    def _size(self, n: int) -> int:
        return int(getattr(self, "n_features_in_", 0)) + 1

    def _memory_advice(self, n: int, itemsize: int) -> list[str]:
        return ["or pass fewer columns, for instance the leading principal components"]

    def _solve(self, source: Graph, rows: Integers, stages: Stages) -> Piece:
        piece = super()._solve(source, rows, stages)
        if piece.kernel is not None:
            self._warn_of_few_rows(piece.kernel.white.shape[1], len(source))
        return piece

    def _warn_of_few_rows(self, directions: int, n: int) -> None:
        if directions > _MOST_DIRECTIONS * n:
            warn(
                f"the columns span {directions} directions and there are {n} distinct rows, so the map is fitted to "
                "them and new rows will be placed worse than they are: use more rows or fewer columns, for instance "
                "the leading principal components.",
                RankWarning,
            )

    def _describe(self, basis: Basis, found: TransformationalMap) -> None:
        super()._describe(basis, found)
        assert isinstance(basis, LinearBasis)
        d, count = len(basis.origin), found.coefficients.shape[1]
        self.components_, self.intercept_ = np.zeros((self.n_components, d)), np.zeros(self.n_components)
        self.components_[:count] = found.coefficients[:d].T * (self._unit_of_map / self.unit_)
        constant = found.coefficients[d:].sum(axis=0) - basis.origin @ found.coefficients[:d]
        self.intercept_[:count] = constant * self._unit_of_map

    def _assembled(self, X: Any, rows_of: list[Integers]) -> Floats:
        if len(rows_of) > 1:
            del self.components_, self.intercept_  # of one of the pieces
        return super()._assembled(X, rows_of)

    # --- the way back, and how far outside

    _global_inverse: ClassVar[bool] = True  # affine

    def _shares(self, way: str) -> Callable[[Floats], Any] | None:
        if way != "auto":
            return None
        return MixtureBasis(np.zeros((1, self.n_features_in_)), 1.0).responsibilities  # one kernel, for everybody

    def _outside(self, X: Any) -> Floats:
        return super()._outside(X) if self.graph == "neighbors" else self._around_rows()(X)

    # --- the graph

    def _graphs(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        if self.graph == "neighbors":
            return super()._graphs(X, stages)
        with stages("graph"):
            self._class = self._classes(len(X))
            graph = self._class_neighbors(X) if self.graph == "class-neighbors" else self._without_edges(len(X))
        if np.bincount(self._class[self._first_rows]).max() == 1:
            raise InputError(
                f"each of the {len(graph)} classes in y has only one distinct row, so that none are joined: pass "
                "classes of several rows, or use graph='neighbors'."
            )
        if self.graph == "class-neighbors" and not len(graph.neighbors.indices):
            raise InputError(
                f"no two rows of one class are within radius={self.radius:g} of each other, so that none are joined: "
                "use a larger radius, or n_neighbors."
            )
        self.graph_, self.neighbors_ = graph, graph.neighbors
        self._check_components(len(graph))
        # a linear map of a graph in pieces needs no bridges: no combination of the columns is constant on each
        return [graph], [np.arange(len(X))]

    def _classes(self, n: int) -> Integers:
        """The class of each row, numbered."""
        if self._labels is None:
            raise InputError(
                f"graph={self.graph!r} joins rows of one class and no classes were given: pass y to fit, or use "
                "graph='neighbors'."
            )
        labels = np.asarray(self._labels)
        if labels.shape != (n,):
            raise InputError(f"y has the shape {labels.shape} and X has {n} rows: pass one class for each row.")
        sentence = "y holds gaps or measurements, which are no classes: pass a whole number or a word for each row."
        if labels.dtype.kind == "f" and not np.array_equal(labels, np.trunc(labels)):  # a NaN equals nothing
            raise InputError(sentence)
        try:
            return np.asarray(np.unique(labels, return_inverse=True)[1])
        except TypeError as error:  # words beside None or numbers
            raise InputError(sentence) from error

    def _without_edges(self, n: int) -> Graph:
        self._row_number = self._first_rows = np.arange(n)
        nobody = Neighbors(np.zeros(n + 1, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0), n)
        return build_graph(nobody, None, np.ones(n))

    def _class_neighbors(self, X: Any) -> Graph:
        """Each class has a search of its own, and the graphs stand beside each other."""
        self._row_number, firsts, lists, multiplicities, size = np.empty(len(X), dtype=np.intp), [], [], [], 0
        for number in range(int(self._class.max()) + 1):
            rows = np.flatnonzero(self._class == number)
            found, collapse = self._among(X[rows])
            lists.append((found.counts, found.indices + size, found.distances))
            self._row_number[rows] = size + collapse.vertex
            firsts.append(rows[collapse.first])
            multiplicities.append(collapse.multiplicity)
            size += len(collapse)
        counts, indices, distances = (np.concatenate(part) for part in zip(*lists, strict=True))
        self._first_rows = np.concatenate(firsts)
        together = Neighbors(np.concatenate(([0], np.cumsum(counts))), indices, distances, size)
        return build_graph(together, None, np.concatenate(multiplicities), self._first_rows)

    def _among(self, rows: Any) -> tuple[Neighbors, Any]:
        """The lists of neighbours among the rows of one class."""
        index, collapse = build_index(
            rows,
            metric=self.metric,
            metric_params=self.metric_params,
            neighbors=self.neighbors,
            n_neighbors=0,  # whether there are enough is asked below
            radius=self._radius,
            n_jobs=self.n_jobs,
            random_state=check_random_state(self.random_state),
        )
        if len(collapse) == 1:
            return Neighbors(np.zeros(2, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0), 1), collapse
        return index.own(min(self.n_neighbors, len(collapse) - 1), self._radius), collapse

    def _affinity(self, graph: Graph) -> Any:
        if self.graph != "classes":
            return super()._affinity(graph)
        sizes = np.bincount(self._class)
        n = len(self._class)
        shares = csr_array((1.0 / np.sqrt(sizes[self._class]), self._class, np.arange(n + 1)), shape=(n, len(sizes)))
        return ClassWeights(shares)
