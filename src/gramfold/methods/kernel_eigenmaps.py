"""Kernel eigenmaps: a mixture of affine maps, the one that embeds a weighted graph of the rows best.

    W_ij = 1/|x_i − x_j| on the edges of the neighbour graph, or given;   D = diag(W1)
    z(x) stacks p_k(x) · [x − μ_k; 1] over kernels k with centres μ_k, Σ_k p_k = 1
    Z W Zᵀ v = λ Z D Zᵀ v;    y(x) = vᵀ z(x) at every x;    the leading solution, the constant, is dropped

The eigenproblem has the size of z, not of the data. With a kernel on every row, too narrow to see another, it is
Laplacian eigenmaps; with one kernel it is an affine locality preserving projection.
Brand, IJCAI 2003.
"""

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

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
from gramfold.embedding.continuous import affinity_of, given_graph
from gramfold.extension.continuous_source import CarriedBasis, ContinuousSource, require_columns
from gramfold.extension.extrapolation import EUCLIDEAN
from gramfold.extension.judging import judged_sample, midway_error
from gramfold.kernels.basis import (
    MixtureBasis,
    in_line,
    nearest_centers,
    principal_axes_of,
    seen_axes,
    spacing_width,
)
from gramfold.kernels.kernel_count import KernelCount
from gramfold.kernels.landmarks import kmeans_centers, random_rows
from gramfold.neighbors.duplicates import collapse_rows
from gramfold.neighbors.search import exact_index
from gramfold.types import Floats, Graph, Integers


@method
class KernelEigenmaps(ContinuousMap, Embedding):
    """Kernel eigenmaps: a continuous map of the whole data space.

    Examples
    --------
    >>> from gramfold import KernelEigenmaps
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(2000, height=60, random_state=0)
    >>> model = KernelEigenmaps(n_components=2, n_kernels=100).fit(roll.points[:1500])
    >>> model.transform(roll.points[1500:]).shape
    (500, 2)
    >>> model.kernel_.basis.size            # of the eigenproblem: 100 kernels, each an affine map of 3 columns
    400
    """

    n_kernels: int | Literal["auto"] = parameter(
        default="auto",
        allowed=[Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        words="""Number of kernels, at most one for each distinct row. "auto": 200, or fewer, so that there are at least
        4 rows for each basis function.""",
    )
    centers: Literal["kmeans", "random"] = parameter(
        default="kmeans",
        allowed=[StrOptions({"kmeans", "random"})],
        words="Centres of the kernels: those of k-means, or rows drawn at random.",
    )
    width: float | Literal["auto"] = parameter(
        default="auto",
        allowed=[Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        words="""Width σ of the kernels. "auto": a quarter of the mean distance from a centre to the nearest other
        centre. Wider kernels overlap neighbouring sheets, narrower ones have hard borders.""",
    )
    local_dim: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 0, None, closed="left"), None],
        words="""Number of local principal axes (of the rows nearest to the centre of a kernel) on which the affine map
        of that kernel depends. 0: the map is a constant. None: all columns. The eigenproblem has
        n_kernels · (local_dim + 1) unknowns.""",
    )

    centers_ = attribute(
        "ndarray of shape (n_kernels, n_features)",
        "Centres μ of the kernels (of the largest connected component).",
        lambda m: _basis(m).centers,
    )
    width_ = attribute(
        "float", "Width σ of the kernels (of the largest connected component).", lambda model: _basis(model).width
    )
    midway_error_ = attribute(
        "float",
        """Interpolation error: how far the map of the midpoint of an edge is from the midpoint of the coordinates of
        its two rows, relative to the spread of the embedding (99th percentile over the edges of the largest connected
        component). Above 1 the map is unreliable between training rows, and fit warns. If an affinity is given, pairs
        of nearest neighbours replace its edges.""",
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, affinity: Any = None) -> Self:
        """Fit the model to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : ignored
            Not used, present for API consistency with scikit-learn.
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

    _sparse = "no"  # its kernels are affine maps of all columns

    def _build(self, fit: Fit) -> Model:
        n = fit.X.shape[0]
        require_columns(fit.name, fit.reads.precomputed)
        W = affinity_of(fit, self)
        if W is None:
            fit.check_neighborhood(self)
        fit.check_components(n)
        edges = self.n_neighbors if W is None else W.nnz / n
        kernels = KernelCount(self.n_kernels, self.local_dim, fit.columns.count, self.n_components, edges)
        fit.forecast(kernels.memory, partial(kernels.advice, n))
        parts: list[Any]
        if W is None:
            graph, weights, degree = fit.graph(self), None, continuous_degree(self)
            source, parts = ContinuousSource.of(graph), list(graph.components.each())
        else:
            given = given_graph(fit, W)
            source, parts, weights, degree = given.source, [given.part], given.weights, 0.0
        points, unit = source.rows, source.unit.size
        with fit.stages("kernel"):
            placed = [self._kernels(points, part.graph.rows, kernels, unit, fit) for part in parts]

        def solved(part: Any, basis: MixtureBasis, order: Integers) -> Part:
            if len(part) == 1:
                return single_point(self.n_components)
            found = continuous_part(fit, self, part, points, basis, order, weights)
            near = part.graph if W is None else near_rows(part.graph, points, self.n_neighbors, fit.n_jobs)
            off = midway_error(near, points, found.placement.map)
            return replace(found, found={**found.found, "midway_error_": off})

        maps = [solved(part, *kernels) for part, kernels in zip(parts, placed, strict=True)]
        own = CarriedBasis(placed[0][0], ("auto", "mixture"), everywhere=False)
        model = continuous_model(fit, source, parts, maps, own, degree)
        if W is None:
            return judged(fit, model, self)
        return judged(fit, model, remedy="an affinity with other edges", keeps_neighbors=False)

    def _kernels(
        self, points: Floats, numbers: Integers, kernels: KernelCount, unit: float, fit: Fit
    ) -> tuple[MixtureBasis, Integers]:
        """Kernels for the rows `points[numbers]`, and an order of these in which neighbours are near each other."""
        d = points.shape[1]
        given = fit.extras["affinity"] is not None  # where duplicate rows are vertices too
        distinct = numbers[collapse_rows(points[numbers]).first] if given else numbers
        n, count = len(distinct), kernels.of(len(distinct))
        random_state = check_random_state(fit.random_state)
        if self.centers == "random" or count == n:
            chosen = points[distinct[random_rows(n, count, random_state)]]
        else:
            chosen = kmeans_centers(points, distinct, count, random_state)
        chosen = chosen[in_line(chosen)].astype(np.float64)
        width = spacing_width(chosen) if self.width == "auto" else float(self.width) / unit
        owner = nearest_centers(points, numbers, chosen)
        axes = None
        if self.local_dim is not None and self.local_dim < d:
            axes = principal_axes_of(points, numbers, chosen, owner, self.local_dim)
        basis = seen_axes(MixtureBasis(chosen, width, axes), points, numbers)
        return basis, np.argsort(owner, kind="stable")


def near_rows(graph: Graph, points: Floats, n_neighbors: int, n_jobs: int | None) -> Graph:
    """The vertices of a given graph, some joined with their nearest: its own edges may join rows far apart."""
    distinct = collapse_rows(points[graph.rows]).first
    some = distinct[judged_sample(len(distinct))]
    index = exact_index(points[graph.rows[distinct]], EUCLIDEAN, n_jobs)
    found = index.nearest(points[graph.rows[some]], min(n_neighbors + 1, len(distinct)))  # a row is its own nearest
    i, j = some[found.rows], distinct[found.indices]
    pairs = csr_array((found.distances, (np.minimum(i, j), np.maximum(i, j))), shape=(len(graph), len(graph)))
    return replace(graph, lengths=pairs)


def _basis(model: Any) -> MixtureBasis:
    basis: MixtureBasis = model.own.basis
    return basis
