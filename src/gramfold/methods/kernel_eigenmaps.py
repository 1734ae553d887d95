"""Kernel eigenmaps: a mixture of affine maps, the one that embeds the neighbour graph best.

    W_ij = 1/|x_i − x_j| on edges,  D = diag(W1)
    z(x) stacks p_k(x) · [x − μ_k; 1] over kernels k with centres μ_k, Σ_k p_k = 1
    Z W Zᵀ v = λ Z D Zᵀ v;    y(x) = vᵀ z(x) at every x;    the leading solution, the constant, is dropped

The eigenproblem has the size of z, not of the data. With a kernel on every row, too narrow to see another, it is
Laplacian eigenmaps; with one kernel it is an affine locality preserving projection.
Brand, IJCAI 2003.
"""

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import (
    Component,
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
from gramfold.extension.continuous_source import CarriedBasis, ContinuousSource, require_columns
from gramfold.extension.judging import midway_error
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
from gramfold.types import Floats, Integers


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
        words="Kernels sit at the centres of k-means, or at rows drawn at random.",
    )
    width: float | Literal["auto"] = parameter(
        default="auto",
        allowed=[Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        words="""σ of the kernels; "auto" is a quarter of the mean distance from a centre to the nearest other. Wider
        kernels reach across to neighbouring sheets, narrower ones have hard borders.""",
    )
    local_dim: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 0, None, closed="left"), None],
        words="""Principal axes of its own rows that each kernel sees; 0 leaves it a constant, None uses all columns.
        The eigenproblem has n_kernels · (local_dim + 1) unknowns.""",
    )

    centers_ = attribute(
        "ndarray of shape (n_kernels, n_features)",
        "μ of the kernels (of the largest piece).",
        lambda m: _basis(m).centers,
    )
    width_ = attribute("float", "The σ used.", lambda model: _basis(model).width)
    midway_error_ = attribute(
        "float",
        """Midway along 99 of 100 edges the map is no farther than this from the middle of their ends' places, in units
        of the map's spread (of the largest piece; without the bounds that `transform` keeps). Above 1 it cannot be
        trusted between the rows, and fit warns.""",
    )

    def _build(self, fit: Fit) -> Model:
        kernels = KernelCount(self.n_kernels, self.local_dim, fit.columns.count, self.n_components, self.n_neighbors)
        fit.check_neighborhood(self)
        fit.check_components(fit.X.shape[0])
        fit.forecast(kernels.memory, partial(kernels.advice, fit.X.shape[0]))
        require_columns(fit.name, fit.reads.precomputed)
        graph = fit.graph(self)
        parts, points, unit = graph.components.each(), graph.rows, graph.unit.size
        with fit.stages("kernel"):
            placed = [self._kernels(points, part.graph.rows, kernels.of(len(part)), unit, fit) for part in parts]

        def solved(part: Component, basis: MixtureBasis, order: Integers) -> Part:
            if len(part) == 1:
                return single_point(self.n_components)
            found = continuous_part(fit, self, part, points, basis, order)
            off = midway_error(part.graph, points, found.placement.map)
            return replace(found, found={**found.found, "midway_error_": off})

        maps = [solved(part, *kernels) for part, kernels in zip(parts, placed, strict=True)]
        own = CarriedBasis(placed[0][0], ("auto", "mixture"), everywhere=False)
        source, degree = ContinuousSource.of(graph), continuous_degree(self)
        return judged(fit, continuous_model(fit, source, parts, maps, own, degree), self)

    def _kernels(
        self, points: Floats, numbers: Integers, count: int, unit: float, fit: Fit
    ) -> tuple[MixtureBasis, Integers]:
        """Kernels for the rows `points[numbers]`, and an order of these in which neighbours are near each other."""
        n, d = len(numbers), points.shape[1]
        random_state = check_random_state(fit.random_state)
        if self.centers == "random" or count == n:
            chosen = points[numbers[random_rows(n, count, random_state)]]
        else:
            chosen = kmeans_centers(points, numbers, count, random_state)
        chosen = chosen[in_line(chosen)].astype(np.float64)
        width = spacing_width(chosen) if self.width == "auto" else float(self.width) / unit
        owner = nearest_centers(points, numbers, chosen)
        axes = None
        if self.local_dim is not None and self.local_dim < d:
            axes = principal_axes_of(points, numbers, chosen, owner, self.local_dim)
        basis = seen_axes(MixtureBasis(chosen, width, axes), points, numbers)
        return basis, np.argsort(owner, kind="stable")


def _basis(model: Any) -> MixtureBasis:
    basis: MixtureBasis = model.own.basis
    return basis
