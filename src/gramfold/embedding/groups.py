"""Groups of parameters that several methods share: fields and nothing else. Behaviour is held, not inherited."""

from collections.abc import Mapping
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal, get_args

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.graph.affinity import Weights
from gramfold.graph.build import EdgeRule
from gramfold.graph.connect import OnDisconnected
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Graph, Integers, Neighbors


def _graph(model: Any) -> Graph:
    found: Graph = model.graph
    return found


def _neighbors(model: Any) -> Neighbors:
    found: Neighbors = model.neighbors
    return found


def _landmark_rows(model: Any) -> Integers | None:
    chosen = model.parts[0].kernel.landmarks
    return None if chosen is None else model.source.components.graphs[0].rows[chosen]


@method
class Metrics:
    """How far apart rows are."""

    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""A metric of scipy.spatial.distance, a function of two rows, or ``"precomputed"``: dense distances, or
        for a neighbour graph also a sparse one whose stored entries are the edges.""",
    )
    metric_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="More arguments of the metric."
    )


@method
class Neighborhood(Metrics):
    """Who is a neighbour."""

    n_neighbors: int = parameter(
        default=8,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Neighbours of each row in the graph; a number not below that of distinct rows is an error.",
        kw_only=False,
    )
    radius: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""If given, all rows within this distance are neighbours, and `n_neighbors` is left at its default, which
        is not used then: another number beside a radius is an error, for only one of them can count.""",
    )
    search: Any = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "exact", "approximate"}), HasMethods(["fit", "transform"])],
        words="""How neighbours are searched: "auto", "exact", "approximate", or a scikit-learn neighbours transformer.
        "auto" is exact unless that would take far longer than everything else, and then warns.""",
    )
    on_disconnected: OnDisconnected = parameter(
        default="bridge",
        allowed=[StrOptions({"bridge", "largest", "separate", "error"})],
        words="""What to do when the graph falls into pieces: join them by their shortest gaps, embed only the largest
        (the other rows NaN), embed each by itself and lay them side by side, or refuse.""",
    )

    graph_ = attribute(
        "Graph",
        """The symmetric neighbour graph over the data rows: `lengths` is a sparse matrix (n_samples, n_samples). Identical
        rows are one vertex, whose edges are stored at the first of them, `graph_.rows[i]`.""",
        _graph,
    )
    neighbors_ = attribute(
        "Neighbors",
        """The nearest neighbours of each row: `indptr`, `indices` and `distances`, as in a sparse matrix; of identical
        neighbours the first is listed. `recall` where the search was approximate.""",
        _neighbors,
    )


@method
class GraphChoice(Neighborhood):
    """Which pairs of rows are edges of the graph."""

    graph: EdgeRule = parameter(
        default="union",
        allowed=[StrOptions(set(get_args(EdgeRule)))],
        words="""Which pairs of rows are edges. "union": one is a neighbour of the other; "mutual": each is a neighbour of
        the other; "mst": the minimum spanning tree; "union+mst" and "mutual+mst": both, so that the graph is
        connected.""",
    )


@method
class Geodesics(GraphChoice):
    """Which shortest paths are computed, and where they are kept."""

    conformal: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="""Divide each edge by the mean neighbour distances at its ends, so that dense and sparse regions of an
        evenly stretched sheet look alike (C-Isomap).""",
    )
    landmarks: Any = parameter(
        default=None,
        allowed=[Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), "array-like", None],
        words="""Number of landmarks, or the indices of the rows that are landmarks. The kernel is over the landmarks, and
        the other rows are embedded by their shortest paths to them. None: all rows are landmarks. "auto": all where the
        n × n matrix fits into memory, else 2,000, or as many as fit, with a warning.""",
    )
    landmark_choice: Literal["maxmin", "random"] = parameter(
        default="maxmin",
        allowed=[StrOptions({"maxmin", "random"})],
        words="Each landmark the row farthest from those already chosen, or any rows at random.",
    )
    storage: Literal["memory", "float32"] | PathLike[str] | str = parameter(
        default="memory",
        allowed=[str, PathLike],
        words="""Where the n × n walks are kept: in memory in the dtype of the rows, in memory in float32, or in a file
        in the folder named here, which the system pages in and out and which vanishes with the model.""",
    )

    landmarks_ = attribute(
        "ndarray of int or None",
        "Data rows that carry the kernel (of the largest piece), in its order; None where all do.",
        _landmark_rows,
    )


EDGE_WEIGHTS = """Edge weights. "binary": 1; "gaussian": exp(−d²/2σ²); "precomputed": X is the weighted graph itself, a
symmetric matrix (n_samples, n_samples), dense or sparse, of weights that are positive for an edge and 0 for none, and
`metric`, `n_neighbors`, `radius` and `search` are not used."""


@method
class EdgeWeights(GraphChoice):
    """The weights of the edges."""

    weights: Weights = parameter(
        default="binary", allowed=[StrOptions({"binary", "gaussian", "precomputed"})], words=EDGE_WEIGHTS
    )
    width: float | Literal["auto", "self-tuning"] = parameter(
        default="auto",
        allowed=[Interval(Real, 0, None, closed="neither"), StrOptions({"auto", "self-tuning"})],
        words="""σ of Gaussian weights. "auto": the root mean square edge length; "self-tuning": σ_i σ_j in place of σ²,
        where σ_i is the distance of row i to its 7th neighbour.""",
    )

    width_ = attribute(
        "float, ndarray or None",
        'The σ used; with "self-tuning" that of each row; None where weights are not Gaussian.',
    )


def weighted(hood: Any) -> bool:
    """Whether X is a graph with its weights."""
    return isinstance(hood, EdgeWeights) and hood.weights == "precomputed"


@method
class LaplacianMap(EdgeWeights):
    """Which eigenvectors of a Laplacian the map shows, and which rows its weighed graph has."""

    coordinates: Literal["leading", "independent"] = parameter(
        default="leading",
        allowed=[StrOptions({"leading", "independent"})],
        words="""The leading eigenvectors, with a warning where one is a function of those before it, or
        ("independent") the leading ones that are not.""",
    )
    landmarks: Any = parameter(
        default=None,
        allowed=[Interval(Integral, 2, None, closed="left"), "array-like", None],
        words="""Number of landmarks, or the indices of the rows that are landmarks. The graph is that of the landmarks,
        and the other rows are embedded out-of-sample (Nyström's formula for a graph: Bengio et al. 2004). None: all
        rows.""",
    )
    landmark_choice: Literal["random", "kmeans"] = parameter(
        default="random",
        allowed=[StrOptions({"random", "kmeans"})],
        words="Landmarks are rows at random, or the rows nearest the centres of k-means.",
    )

    landmarks_ = attribute(
        "ndarray of int or None",
        "Data rows that the graph has; None where it has all.",
        lambda model: model.source.components.subset,
    )


@method
class Rebuilding:
    """How rows are rebuilt from their neighbours."""

    reg: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="Ridge on the local weights, relative to the trace of the local Gram matrix.",
    )
