"""Locality preserving projections: the linear map that keeps neighbours together best.

    X L Xᵀ v = μ X D Xᵀ v,   y(x) = vᵀ x                     (raw; L = D − W, smallest μ)
    the same with [x; 1] in the place of x, y(x) = vᵀ x + b   (affine: the constant, μ = 0, is dropped)
    y(x) = vᵀ x / u(x),   u(x) = v₁ᵀ x                        (stochastic; v₁ the leading raw solution)
    the same with x / u(x) in the place of x                  (reweighted: the constant is a solution and is dropped)

Laplacian eigenmaps among linear functions. Raw, the constant is no solution, and the map depends on where the origin
is; affine, it does not. The last two are for rows whose origin means something, as counts: y(x) does not change when x
is multiplied. A supervised graph joins rows of one class: with all its pairs joined, weighing 1/(rows of the class),
X L Xᵀ is the scatter within classes and X D Xᵀ the total one, and the affine map is Fisher's discriminant.
He, Niyogi, NIPS 16 (2003); Brand, IJCAI 2003, sections 2 (given graphs and rows) and 4 (the affine upgrade).
"""

from functools import partial
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import (
    ContinuousMap,
    Embedding,
    Fit,
    Model,
    Part,
    attribute,
    continuous_degree,
    continuous_model,
    judged,
    method,
    parameter,
)
from gramfold.embedding.continuous import WholeGraph, affinity_of, continuous_maps, given_graph
from gramfold.errors import InputError, RankWarning
from gramfold.extension.continuous_source import CarriedBasis, ContinuousSource, require_columns
from gramfold.extension.extrapolation import EUCLIDEAN, Ball
from gramfold.graph.build import EdgeRule
from gramfold.graph.neighbor_graph import degree_of_distances
from gramfold.graph.over_rows import graph_over_rows
from gramfold.kernels.basis import LinearBasis, MixtureBasis, Reweighted
from gramfold.kernels.kernel_count import graph_and_functions
from gramfold.kernels.transformational import Approximation
from gramfold.methods.lpp.class_graph import (
    class_neighbors,
    class_weights,
    numbered_classes,
    whole_classes,
)
from gramfold.neighbors.units import Unit
from gramfold.runtime.warning import warn
from gramfold.types import Floats

# For each row. On digits, faces, tables and Gaussian mixtures held-out rows were classified on the map worse than
# training rows by 0.03 on average up to 0.4, by 0.07 from 0.4 to 0.7, and by 0.3 at about 1.
_MOST_DIRECTIONS = 0.5
_OF_CLASSES = ("class-neighbors", "classes")
_ADVICE = "or pass fewer columns, for instance the leading principal components"


@method
class LPP(ContinuousMap, Embedding):
    """Locality preserving projections (LPP): a linear map that keeps neighbours, or rows of one class, close together.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from gramfold import LPP
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)  # neighbours depend on units
    >>> LPP(n_components=2).fit_transform(X).shape
    (178, 2)
    >>> LPP(n_components=2, graph="classes").fit(X, y).components_.shape     # Fisher's discriminant
    (2, 13)
    >>> from sklearn.neighbors import kneighbors_graph
    >>> A = kneighbors_graph(X, 10)
    >>> LPP(n_components=2).fit(X, affinity=A.maximum(A.T)).graph_
    Graph(178 rows, 1,231 edges)
    """

    approximation: Approximation = parameter(
        default="affine",
        allowed=[StrOptions({"affine", "raw", "stochastic", "reweighted"})],
        words="""Form of the map. "affine": y = vᵀ x + b. "raw": y = vᵀ x, as first published; the leading solution is
        dropped if it is mostly constant (its squared mean exceeds its variance). "stochastic": the raw coordinates are
        divided by the leading solution u(x). "reweighted": the rows are divided by u(x) and the problem is solved
        again. The last two need u(x) to have the same sign for all rows, as is usual for counts; otherwise "affine" is
        used, with a warning.""",
    )
    graph: EdgeRule | Literal["class-neighbors", "classes"] = parameter(  # type: ignore[assignment]
        default="union",
        allowed=[StrOptions({*get_args(EdgeRule), *_OF_CLASSES})],
        words="""Which pairs of rows are edges. "union": one is a neighbour of the other; "mutual": each is a neighbour
        of the other; "mst": the minimum spanning tree; "union+mst", "mutual+mst": both, so that the graph is connected;
        "class-neighbors": each row and its nearest rows of the same class (all of them if the class has fewer);
        "classes": all rows of the same class, each edge with the weight 1/(rows of the class), and `weights` is not
        used. The last two need the classes y. Must be left at its default if `fit` is given an affinity.""",
    )

    components_ = attribute(
        "ndarray of shape (n_components, n_features)",
        """Matrix of the map y = x · components_ᵀ + intercept_. Not available if `approximation` is "stochastic" or
        "reweighted", or if on_disconnected="separate" fitted a map for each of several connected components.""",
        lambda model: _of_matrix(model, "components_"),
    )
    intercept_ = attribute(
        "ndarray of shape (n_components,)",
        'Intercept b of the map; 0 if approximation="raw". Available only if `components_` is.',
        lambda model: _of_matrix(model, "intercept_"),
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, affinity: Any = None) -> Self:
        """Fit the model to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,), default=None
            Their classes, for ``graph="class-neighbors"`` and ``graph="classes"``; else not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, positive numbers: a row of weight 2 counts as if it were given twice. None: every row
            has the weight 1.
        affinity : array-like or sparse matrix of shape (n_samples, n_samples), default=None
            Edge weights of a given graph, which replaces the neighbour graph of the rows: symmetric and nonnegative; 0,
            or not stored, is no edge. Weights on the diagonal count, in W and in D. `n_neighbors`, `radius`, `metric`,
            `search`, `weights`, `graph` and `on_disconnected` are not used and must be left at their defaults.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight, affinity=affinity)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.graph in _OF_CLASSES
        return tags

    def _build(self, fit: Fit) -> Model:
        n, d = fit.X.shape[0], fit.columns.count
        require_columns(fit.name, fit.reads.precomputed)
        require_few_columns(fit.X)
        W = affinity_of(fit, self)
        # weights that are given, and those of classes, are no lengths
        degree = 0.0 if W is not None or self.graph == "classes" else continuous_degree(self)
        if W is None:
            fit.check_neighborhood(self)
        fit.check_components(n)
        edges = self.n_neighbors if W is None else W.nnz / n
        fit.forecast(partial(graph_and_functions, edges, d + 1), lambda: [_ADVICE])
        parts: list[Any]
        if W is not None:
            given = given_graph(fit, W)
            source, parts, weights = given.source, [given.part], given.weights
        elif self.graph in _OF_CLASSES:
            source, parts, weights = self._classes(fit)
        else:
            members, weights = fit.graph(self), None
            source, parts = ContinuousSource.of(members), list(members.components.each())
        # only an affine map does not depend on the origin
        basis = LinearBasis.about(source.rows) if self.approximation == "affine" else LinearBasis(np.zeros(d))
        maps = continuous_maps(fit, self, source, parts, basis, weights)
        warn_of_few_rows(maps, parts)
        affine = not any(map(_is_quotient, maps))
        # one kernel, for everybody: the inverse is affine; of sparse rows it would be dense
        carried = affine and not issparse(fit.X)
        own = CarriedBasis(MixtureBasis(np.zeros((1, d)), 1.0), ("auto",), everywhere=True) if carried else None
        found = _matrix(maps[0], basis, source.unit, degree) if affine and len(maps) == 1 else {}
        model = continuous_model(fit, source, parts, maps, own, degree, found)
        if W is not None:
            return judged(fit, model, remedy="an affinity with other edges", keeps_neighbors=False)
        return judged(fit, model, self, keeps_neighbors=self.graph not in _OF_CLASSES)

    def _classes(self, fit: Fit) -> tuple[ContinuousSource, list[WholeGraph], Any]:
        """The rows in a graph of classes, which is one part, and the weights of edges that are no lengths."""
        of_distances = degree_of_distances(self)
        if self.drop_edges is not None:
            raise InputError(
                f"drop_edges was given, but graph={self.graph!r} connects rows by their classes, so that it has no "
                "short circuits: leave drop_edges at None, or use another graph."
            )
        known = self.graph == "classes" or of_distances is not None
        unit = Unit.of_rows(fit.X) if known else Unit()
        rows, weights = unit.inward(fit.X), None
        with fit.stages("graph"):
            classes, mass = numbered_classes(fit.y, rows.shape[0], self.graph), fit.mass
            if self.graph == "classes":
                part, weights = whole_classes(classes, mass), class_weights(classes, mass)
            else:
                radius = None if self.radius is None else float(unit.inward(float(self.radius), of_distances or 0))
                part = class_neighbors(rows, classes, self, radius, fit.n_jobs, lambda: fit.rng, mass)
        fit.check_components(len(part))
        joined = graph_over_rows((part.graph,), part.graph.rows[part.numbers])
        return ContinuousSource(unit, rows, Ball.of(rows), EUCLIDEAN, joined, None), [part], weights


def require_few_columns(X: Any) -> None:
    """Refuse sparse rows of as many columns as there are rows, or more: the problem would hold all of them, dense."""
    n, d = X.shape
    if issparse(X) and d >= n:
        raise InputError(
            f"X is a sparse matrix of {n:,} x {d:,}, and LPP of so many columns computes with the dense table "
            f"({8e-9 * n * d:.2g} GB): reduce the columns first (sklearn.decomposition.TruncatedSVD), or pass "
            "X.toarray() if that fits in memory."
        )


def _is_quotient(part: Part) -> bool:
    return part.placement is not None and isinstance(part.placement.map.basis, Reweighted)


def _of_matrix(model: Any, name: str) -> Floats:
    """`components_` or `intercept_`."""
    if name not in model.found:
        several = len(model.parts) > 1
        why = f"{len(model.parts)} maps, one for each connected component" if several else "a quotient, y = vᵀ x / u(x)"
        raise AttributeError(f"this LPP has no {name}: its map is not one affine map but {why}; use transform.")
    found: Floats = model.found[name]
    return found


def _matrix(part: Part, basis: LinearBasis, unit: Unit, degree: float) -> dict[str, Floats]:
    """The map in the user's unit, y = x · components_ᵀ + intercept_."""
    coefficients, d, p = part.placement.map.coefficients, len(basis.origin), len(part.offset)
    count = coefficients.shape[1]
    components, intercept = np.zeros((p, d)), np.zeros(p)
    components[:count] = unit.outward(coefficients[:d].T, degree - 1)
    constant = coefficients[d:].sum(axis=0) - basis.origin @ coefficients[:d]
    intercept[:count] = unit.outward(constant, degree)
    return {"components_": components, "intercept_": intercept}


def warn_of_few_rows(maps: list[Part], parts: list[Any]) -> None:
    """Warn where the columns span many directions for the number of rows."""
    for part, one in zip(maps, parts, strict=True):
        directions = 0 if part.kernel is None else part.kernel.white.shape[1]
        if directions > _MOST_DIRECTIONS * len(one):
            warn(
                f"the columns span {directions} directions, but there are only {len(one)} distinct rows, so the map "
                "overfits and new rows will be placed worse than the training rows: use more rows or fewer columns, "
                "for instance the leading principal components.",
                RankWarning,
            )
