"""What the methods share whose map is a combination of functions of the rows, and so defined everywhere.

y(x) = vᵀ z(x);   Z W Zᵀ v = λ Z D Zᵀ v          (kernels/transformational.py)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding.fit import Fit
from gramfold.embedding.groups import Neighborhood
from gramfold.embedding.model import Model
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.solving import lay_out
from gramfold.errors import RankWarning
from gramfold.extension.continuous_source import CarriedBasis, ContinuousPlacement, ContinuousSource
from gramfold.extension.placement import Part, widened
from gramfold.graph.neighbor_graph import degree_of_distances
from gramfold.kernels.basis import Basis
from gramfold.kernels.edge_problem import edge_problem, solving_threads
from gramfold.kernels.transformational import Approximation, transformational_map
from gramfold.runtime.warning import warn
from gramfold.types import Graph, Integers


@method
class ContinuousMap(Neighborhood):
    """How the graph is weighed, and how the constant is kept out of the map."""

    approximation: Approximation = parameter(
        default="reweighted",
        allowed=[StrOptions({"reweighted", "affine", "stochastic", "raw"})],
        words="""How the constant is kept out of the map. "raw": the leading solution is dropped; "affine": the constant
        is put among the functions; "stochastic": raw coordinates divided by the leading one; "reweighted": the
        functions divided by it, and solved again, so that the constant is a solution exactly.""",
    )
    weights: Literal["inverse-distance", "binary", "gaussian"] = parameter(
        default="inverse-distance",
        allowed=[StrOptions({"inverse-distance", "binary", "gaussian"})],
        words="""What an edge of length d weighs: 1/d, 1, or exp(−d²/2s²) with s the root mean square length. For 1/d a
        length below a thousandth of the median counts as that.""",
    )
    equal_degrees: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="""Add weight to each vertex itself until all have the largest degree: neighbourhoods are taken to be of
        one size, and rows with heavy edges no longer drawn to the middle.""",
    )

    leading_eigenvalue_ = attribute("float", "That of the solution that was dropped; 1 where it is the constant.")
    leading_ripple_ = attribute(
        "float",
        """Largest departure of the dropped coordinate from its mean, relative to the mean; 0 where it is the
        constant.""",
    )


class Joined(Protocol):
    """A graph that is one part of a map: its data rows, and the vertex of each."""

    @property
    def graph(self) -> Graph:
        """Of its vertices."""

    @property
    def rows(self) -> Integers:
        """Data rows in it."""

    @property
    def numbers(self) -> Integers:
        """The vertex of each."""

    def __len__(self) -> int:
        """How many vertices there are."""


def continuous_degree(settings: ContinuousMap) -> float:
    """The power of the rows' unit that the map comes in: yᵀ D y = 1, and D has the unit of 1/d.

    Stochastic coordinates are quotients of such.
    """
    weighed = settings.weights == "inverse-distance" and settings.approximation != "stochastic"
    return 0.5 * (degree_of_distances(settings) or 0) if weighed else 0.0


def continuous_part(
    fit: Fit, settings: ContinuousMap, part: Joined, points: Any, basis: Basis, order: Integers, weights: Any = None
) -> Part:
    """The map of one component by these functions; `order` is one in which its neighbours are near each other.

    `weights` are those of its edges, where they are not what the settings make of their lengths.
    """
    with fit.stages("kernel"):
        problem = edge_problem(part.graph, points, order, weights, settings.weights, settings.equal_degrees)
    with fit.stages("spectrum"), solving_threads(min(basis.size, len(part)), fit.n_jobs):
        found = transformational_map(problem, basis, fit.n_components, settings.approximation, part.numbers, fit.stages)
    count = found.places.shape[1]
    if count < fit.n_components:
        warn(
            f"the {basis.size} functions of the map span {count} directions beside the constant and n_components="
            f"{fit.n_components} were asked for: the last {fit.n_components - count} columns of the map are zero.",
            RankWarning,
        )
    return Part(
        found.kernel,
        found.spectrum,
        ContinuousPlacement(found),
        widened(found.places, fit.n_components),
        np.zeros(fit.n_components),
        {"leading_eigenvalue_": found.leading, "leading_ripple_": found.ripple},
    )


def continuous_model(
    fit: Fit,
    source: ContinuousSource,
    parts: Sequence[Joined],
    solved: list[Part],
    own: CarriedBasis,
    degree: float,
    found: Mapping[str, Any] | None = None,
) -> Model:
    """The model of a map whose parts were solved."""
    model = replace(lay_out(fit, source, parts, solved, degree, found), own=own)
    embedding = model.embedding
    for part, one in zip(model.parts, parts, strict=True):
        # under some metrics rows that differ are one vertex, and the map has a place for each of them
        first = one.graph.rows[one.numbers]
        others = first != one.rows
        others[others] = (source.rows[one.rows[others]] != source.rows[first[others]]).any(axis=1)
        if others.any() and part.placement is not None:
            rows = one.rows[others]
            places = widened(part.placement.map.extended(source.rows[rows]).places, len(part.offset))
            embedding[rows] = model.outward(places + part.offset, embedding.dtype)
    return model
