"""What the methods share whose map is a combination of functions of the rows, and so defined everywhere.

y(x) = vᵀ z(x);   Z W Zᵀ v = λ Z D Zᵀ v          (kernels/transformational.py)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding.fit import Fit
from gramfold.embedding.groups import DrawnRows, GraphChoice
from gramfold.embedding.model import Model
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.solving import lay_out, single_point
from gramfold.errors import DisconnectedGraphWarning, InputError, RankWarning
from gramfold.extension.continuous_source import CarriedBasis, ContinuousPlacement, ContinuousSource
from gramfold.extension.extrapolation import EUCLIDEAN, Ball
from gramfold.extension.placement import Part, widened
from gramfold.graph.given_weights import checked_affinity, graph_of_weights
from gramfold.graph.laplacian import degrees
from gramfold.graph.neighbor_graph import degree_of_distances
from gramfold.graph.over_rows import graph_over_rows
from gramfold.kernels.basis import Basis
from gramfold.kernels.edge_problem import edge_problem, solving_threads
from gramfold.kernels.transformational import Approximation, transformational_map
from gramfold.neighbors.sparse_rows import differ
from gramfold.neighbors.units import Unit
from gramfold.runtime.counting import last_columns_are
from gramfold.runtime.warning import warn
from gramfold.types import Graph, Integers, Plain


@method
class ContinuousMap(DrawnRows, GraphChoice):
    """How edges are weighted, and how the constant solution is removed."""

    approximation: Approximation = parameter(
        default="reweighted",
        allowed=[StrOptions({"reweighted", "affine", "stochastic", "raw"})],
        words="""How the trivial constant solution is removed. "raw": the leading solution is dropped if it is nearly
        constant. "affine": a constant is added to the basis functions; the constant is then an exact solution, which is
        dropped. "stochastic": as "raw", with the coordinates divided by the leading solution. "reweighted": the basis
        functions are divided by the leading solution and the problem is solved again; the constant is then an exact
        solution, which is dropped.""",
    )
    weights: Literal["inverse-distance", "binary", "gaussian"] = parameter(
        default="inverse-distance",
        allowed=[StrOptions({"inverse-distance", "binary", "gaussian"})],
        words="""Weight of an edge of length d: 1/d, 1, or exp(−d²/2s²) with s the root mean square length. For 1/d,
        lengths below 0.001 times the median are raised to that value. Must be left at its default if an affinity is
        given to `fit`.""",
    )
    equal_degrees: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="""Whether to add self-loops so that all vertices have the same degree, that of the largest. Rows with
        large edge weights are then no longer pulled towards the centre of the embedding.""",
    )

    leading_eigenvalue_ = attribute("float", "Eigenvalue of the leading solution; 1 if it is exactly constant.")
    leading_ripple_ = attribute(
        "float",
        "Largest deviation of the leading solution from its mean, relative to the mean; 0 if it is exactly constant.",
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
        """The number of vertices."""


@dataclass(frozen=True, eq=False)
class WholeGraph(Plain):
    """A graph as one part of a map, whatever the number of its connected components.

    A map that is a function of the rows needs no bridges between them.
    """

    graph: Graph
    rows: Integers  # (m,) data rows in it
    numbers: Integers  # (m,) the vertex of each

    def __len__(self) -> int:
        return len(self.graph)


@dataclass(frozen=True, eq=False)
class Given:
    """A weighted graph that `fit` was given: its rows with edges are one part of a map."""

    source: ContinuousSource
    part: WholeGraph
    weights: csr_array  # of the part


def affinity_of(fit: Fit, settings: ContinuousMap) -> csr_array | None:
    """The weights that `fit` was given, checked; None where the graph is that of the rows' neighbours."""
    W = fit.extras["affinity"]
    if W is None:
        return None
    for name in (*(one.name for one in fields(GraphChoice)), "weights"):
        value, default = getattr(settings, name), fit.declared[name].default
        if value is not default and value != default:
            raise InputError(
                f"affinity is the graph, so {name}={value!r} has no effect: leave {name} at its default, or fit "
                "without affinity to use the neighbour graph of the rows."
            )
    return checked_affinity(W, fit.X.shape[0])


def given_graph(fit: Fit, W: csr_array) -> Given:
    """The rows of X in the graph of these weights; duplicate rows are vertices of their own."""
    n, inside = fit.X.shape[0], np.flatnonzero(degrees(W))
    if len(inside) < n:
        alone = np.setdiff1d(np.arange(n), inside)
        warn(
            f"affinity has no edge for {len(alone)} of {n} rows (first: row {alone[0]}): they were left out of the "
            "fit and embedded out-of-sample. Give each row an edge to avoid this.",
            DisconnectedGraphWarning,
        )
        W = csr_array(W[inside][:, inside])
    with fit.stages("graph"):
        graph = graph_of_weights(W, inside)
        if fit.sample_weight is not None:
            mass = fit.sample_weight[inside]
            graph, W = replace(graph, multiplicity=mass), csr_array(diags_array(mass) @ W @ diags_array(mass))
        part = WholeGraph(graph, inside, np.arange(len(inside)))
    fit.check_components(len(part))
    first = np.full(n, -1)
    first[inside] = inside
    unit = Unit.of_rows(fit.X)
    rows = unit.inward(fit.X)
    joined = graph_over_rows((part.graph,), first)
    return Given(ContinuousSource(unit, rows, Ball.of(rows), EUCLIDEAN, joined, None), part, W)


def continuous_degree(settings: ContinuousMap) -> float:
    """The power of the rows' unit that the map of a neighbour graph comes in: yᵀ D y = 1, and D has the unit of 1/d.

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
            f"the {basis.size} basis functions have only {count} independent non-constant directions, fewer than "
            f"n_components={fit.n_components}: {last_columns_are(fit.n_components - count)} zero. Use fewer "
            "components, or more basis functions (n_kernels, or columns of X).",
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


def continuous_maps(
    fit: Fit, settings: ContinuousMap, source: ContinuousSource, parts: Sequence[Joined], basis: Basis, weights: Any
) -> list[Part]:
    """The map of each component by the same functions."""
    return [
        continuous_part(fit, settings, part, source.rows, basis, np.arange(len(part)), weights)
        if len(part) > 1
        else single_point(fit.n_components)
        for part in parts
    ]


def continuous_model(
    fit: Fit,
    source: ContinuousSource,
    parts: Sequence[Joined],
    solved: list[Part],
    own: CarriedBasis | None,
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
        others[others] = differ(source.rows, one.rows[others], first[others])
        if others.any() and part.placement is not None:
            rows = one.rows[others]
            places = widened(part.placement.map.extended(source.rows[rows]).places, len(part.offset))
            embedding[rows] = model.outward(places + part.offset, embedding.dtype)
    if source.members is None and not model.kept.all():  # rows without an edge
        alone = ~model.kept
        embedding[alone] = model.place(fit.X[alone], fit.n_jobs)
    return model
