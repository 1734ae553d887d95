"""Locality preserving projections: the linear map that keeps neighbours together best.

    X L Xᵀ v = μ X D Xᵀ v,   y(x) = vᵀ x                     (raw; L = D − W, smallest μ)
    the same with [x; 1] in the place of x, y(x) = vᵀ x + b   (affine: the constant, μ = 0, is dropped)

Laplacian eigenmaps among linear functions. Raw, the constant is no solution, and the map depends on where the origin
is; affine, it does not. A supervised graph joins rows of one class: with all its pairs joined, weighing 1/(rows of the
class), X L Xᵀ is the scatter within classes and X D Xᵀ the total one, and the affine map is Fisher's discriminant.
He, Niyogi, NIPS 16 (2003); Brand, IJCAI 2003, section 4 (the affine upgrade).
"""

from functools import partial
from typing import Any, Literal

import numpy as np
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
    continuous_part,
    judged,
    method,
    parameter,
    single_point,
)
from gramfold.errors import RankWarning
from gramfold.extension.continuous_source import CarriedBasis, ContinuousSource, require_columns
from gramfold.extension.extrapolation import EUCLIDEAN, Ball
from gramfold.graph.neighbor_graph import degree_of_distances
from gramfold.kernels.basis import LinearBasis, MixtureBasis
from gramfold.kernels.kernel_count import graph_and_functions
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
_ADVICE = "or pass fewer columns, for instance the leading principal components"


@method
class LPP(ContinuousMap, Embedding):
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
    graph: Literal["union", "class-neighbors", "classes"] = parameter(
        default="union",
        allowed=[StrOptions({"union", "class-neighbors", "classes"})],
        words="""Who is joined: each row with its nearest rows; with its nearest rows of its own class (all others of it
        where they are fewer); or all rows of one class, each edge weighing 1/(rows of the class) whatever `weights` is.
        The last two need the classes y.""",
    )

    components_ = attribute(
        "ndarray of shape (n_components, n_features)",
        """The map itself, y = x · components_ᵀ + intercept_. Not there where on_disconnected="separate" has made a map
        of each of several pieces.""",
    )
    intercept_ = attribute("ndarray of shape (n_components,)", "What is added; 0 for a raw map. Likewise.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.graph != "union"  # the classes
        return tags

    def _build(self, fit: Fit) -> Model:
        d = fit.columns.count
        degree = 0.0 if self.graph == "classes" else continuous_degree(self)  # whose weights are no lengths
        fit.check_neighborhood(self)
        fit.check_components(fit.X.shape[0])
        fit.forecast(partial(graph_and_functions, self.n_neighbors, d + 1), lambda: [_ADVICE])
        require_columns(fit.name, fit.reads.precomputed)
        if self.graph == "union":
            members, weights = fit.graph(self), None
            source, parts = ContinuousSource.of(members), list[Any](members.components.each())
        else:
            source, parts, weights = self._classes(fit)
        basis = linear_basis(source.rows, centered=self.approximation != "raw")
        maps = [
            continuous_part(fit, self, part, source.rows, basis, np.arange(len(part)), weights)
            if len(part) > 1
            else single_point(self.n_components)
            for part in parts
        ]
        warn_of_few_rows(maps, parts)
        # one kernel, for everybody: the inverse is affine
        own = CarriedBasis(MixtureBasis(np.zeros((1, d)), 1.0), ("auto",), everywhere=True)
        found = _matrix(maps[0], basis, source.unit, degree) if len(maps) == 1 else {}
        model = continuous_model(fit, source, parts, maps, own, degree, found)
        return judged(fit, model, self, keeps_neighbors=self.graph == "union")  # a supervised map keeps classes

    def _classes(self, fit: Fit) -> tuple[ContinuousSource, list[Any], Any]:
        """The rows in a graph of classes, which is one part, and the weights of edges that are no lengths."""
        of_distances = degree_of_distances(self)
        known = self.graph == "classes" or of_distances is not None
        unit = Unit.of_rows(fit.X) if known else Unit()
        rows, weights = unit.inward(fit.X), None
        with fit.stages("graph"):
            classes = numbered_classes(fit.y, len(rows), self.graph)
            if self.graph == "classes":
                part, weights = whole_classes(classes), class_weights(classes)
            else:
                radius = None if self.radius is None else float(unit.inward(float(self.radius), of_distances or 0))
                part = class_neighbors(rows, classes, self, radius, fit.n_jobs, lambda: fit.rng)
        fit.check_components(len(part))
        return ContinuousSource(unit, rows, Ball.of(rows), EUCLIDEAN, part.graph, None), [part], weights


def linear_basis(points: Floats, *, centered: bool) -> LinearBasis:
    """The columns; about their mean, where that is all the same to the map and loses fewest digits."""
    mean = points.mean(axis=0, dtype=np.float64)
    if not centered:
        return LinearBasis(np.zeros_like(mean))
    # rounding of the mean of a column that does not vary would be taken for variation
    constant = (points == points[0]).all(axis=0)
    return LinearBasis(np.where(constant, points[0], mean))


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
    """Say so where the columns span more directions than there are rows to learn them from."""
    for part, one in zip(maps, parts, strict=True):
        directions = 0 if part.kernel is None else part.kernel.white.shape[1]
        if directions > _MOST_DIRECTIONS * len(one):
            warn(
                f"the columns span {directions} directions and there are {len(one)} distinct rows, so the map is "
                "fitted to them and new rows will be placed worse than they are: use more rows or fewer columns, for "
                "instance the leading principal components.",
                RankWarning,
            )
