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
from gramfold.kernels.loose import LooseRows
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Graph, Integers, Neighbors, Spectrum


def _graph(model: Any) -> Graph:
    found: Graph = model.graph
    return found


def _neighbors(model: Any) -> Neighbors:
    found: Neighbors = model.neighbors
    return found


def _dropped_edges(model: Any) -> Integers:
    dropped: Integers = model.dropped_edges
    return dropped


def _participation(model: Any) -> Floats | None:
    if "participation_" in model.found:
        found: Floats | None = model.found["participation_"]
        return found
    spectrum: Spectrum = model.spectrum
    return spectrum.participation


def _landmark_rows(model: Any) -> Integers | None:
    chosen = model.parts[0].kernel.landmarks
    return None if chosen is None else model.source.components.graphs[0].rows[chosen]


@method
class Metrics:
    """Distances between rows."""

    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""Distance between rows: the name of a metric of scipy.spatial.distance, ``"gower"`` (X may hold numbers,
        categories and gaps), a function of two rows, a function of two blocks of rows (`gramfold.blockwise`), or
        ``"precomputed"``. If ``"precomputed"``, X is a dense matrix of all distances or, for graph methods, a sparse
        one whose stored entries are the edges.""",
    )
    metric_params: Mapping[str, Any] | None = parameter(
        default=None,
        allowed=[dict, None],
        words="""Keyword arguments of the metric. For ``"gower"``: "categorical", positions or names of columns of
        numbers that are categories, and "weights", a positive number for each column.""",
    )


@method
class Neighborhood(Metrics):
    """Which rows are neighbours."""

    n_neighbors: int = parameter(
        default=8,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Number of neighbours of each row. It must be smaller than the number of distinct rows.",
        kw_only=False,
    )
    radius: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""If given, the neighbours of a row are all rows within this distance, and `n_neighbors` is not used (it
        must be left at its default).""",
    )
    search: Any = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "exact", "approximate"}), HasMethods(["fit", "transform"])],
        words="""How neighbours are found. "exact"; "approximate": with faiss, for large tables; "auto": exact, unless
        that is forecast to take much longer than all other steps, then approximate with a warning; or a scikit-learn
        neighbours transformer.""",
    )
    on_disconnected: OnDisconnected = parameter(
        default="bridge",
        allowed=[StrOptions({"bridge", "largest", "separate", "error"})],
        words="""What to do when the graph has several connected components. "bridge": connect them by the shortest
        edges between them; "largest": embed only the largest, the coordinates of the other rows are NaN; "separate":
        embed each by itself and arrange them side by side; "error": raise.""",
    )
    drop_edges: Any = parameter(
        default=None,
        allowed=[StrOptions({"short_circuits"}), "array-like", None],
        words="""Edges to remove from the neighbour graph: pairs of row numbers, shape (n_edges, 2); the result of
        `gramfold.diagnostics.short_circuits`; or "short_circuits": find those that cut through the ambient space, and
        remove them with a warning. Each of two identical rows names the same edges. If the graph is disconnected
        without them, `on_disconnected` applies; a bridge may be one of them.""",
    )

    graph_ = attribute(
        "Graph",
        """The symmetric neighbour graph over the data rows: `lengths` is a sparse matrix (n_samples, n_samples).
        Duplicate rows are one vertex, whose edges are stored in the row of the first duplicate; `graph_.rows[i]` is
        that row for row i.""",
        _graph,
    )
    neighbors_ = attribute(
        "Neighbors",
        """Nearest neighbours of each row in compressed sparse row form: `indptr`, `indices` and `distances`. Of
        duplicate rows only the first is listed. After an approximate search, `recall` is its estimated recall.""",
        _neighbors,
    )
    dropped_edges_ = attribute(
        "ndarray of shape (n_edges, 2)",
        "The rows of each edge that was removed from the graph (`drop_edges`); of duplicate rows the first.",
        _dropped_edges,
    )


@method
class GraphChoice(Neighborhood):
    """Which pairs of rows are edges of the graph."""

    graph: EdgeRule = parameter(
        default="union",
        allowed=[StrOptions(set(get_args(EdgeRule)))],
        words="""Which pairs of rows are edges. "union": one is a neighbour of the other; "mutual": each is a neighbour
        of the other; "mst": the minimum spanning tree; "union+mst" and "mutual+mst": both, so that the graph is
        connected.""",
    )


def _sample(model: Any) -> Integers | None:
    return None if model.drawn is None else model.drawn.rows


SAMPLE = attribute(
    "ndarray of int or None",
    """After a fit on rows in partitions (Dask, or files streamed): the numbers of the training rows that the model
    holds, counted through all partitions. None after a fit on a table in memory, which is held whole.""",
    _sample,
)


@method
class DrawnRows:
    """How many rows in partitions a graph has."""

    graph_rows: int = parameter(
        default=200_000,
        allowed=[Interval(Integral, 2, None, closed="left")],
        words="""For rows in partitions (Dask, or files that are streamed): the most rows that the neighbour graph is
        made of. If there are more, so many are drawn at random, and all others are embedded out-of-sample. A table in
        memory is used whole.""",
        last=True,
    )


@method
class Storage:
    """Whether a matrix of all pairs of rows is stored."""

    storage: Literal["memory", "stream"] = parameter(
        default="memory",
        allowed=[StrOptions({"memory", "stream"})],
        words="""Where the n × n matrix is stored. "memory": in memory; "stream": nowhere, its entries are computed anew
        from the rows in each of a few passes, so that memory grows with n only.""",
    )


@method
class Geodesics(DrawnRows, GraphChoice):
    """Which shortest paths are computed, and where they are stored."""

    conformal: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="""Whether to use conformal Isomap (C-Isomap): the length of an edge is divided by √(M_i M_j), with M_i
        the mean distance of row i to its neighbours. This corrects for a density that varies along the manifold.""",
    )
    landmarks: Any = parameter(
        default=None,
        allowed=[Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), "array-like", None],
        words="""Number of landmarks, or the indices of the rows that are landmarks. The kernel is over the landmarks,
        and the other rows are embedded by their shortest paths to them. None: all rows are landmarks. "auto": all
        where the n × n matrix fits into memory, else 2,000, or as many as fit, with a warning.""",
    )
    landmark_choice: Literal["maxmin", "random"] = parameter(
        default="maxmin",
        allowed=[StrOptions({"maxmin", "random"})],
        words="""Landmark selection. "maxmin": farthest-point sampling; "random": rows drawn at random.""",
    )
    storage: Literal["memory", "float32", "stream"] | PathLike[str] | str = parameter(
        default="memory",
        allowed=[str, PathLike],
        words="""Where the n × n matrix of shortest paths is stored. "memory": in memory, with the dtype of X;
        "float32": in memory, in single precision; "stream": nowhere, they are computed anew in each of a few passes; or
        a folder: in a temporary file there, which is memory-mapped and deleted with the model.""",
    )

    landmarks_ = attribute(
        "ndarray of int or None",
        "Row indices of the landmarks (of the largest connected component), in the order of `kernel_`; None if all "
        "rows are landmarks.",
        _landmark_rows,
    )


EDGE_WEIGHTS = """Edge weights. "binary": 1; "gaussian": exp(−d²/2σ²); "precomputed": X is the weighted graph itself, a
symmetric matrix (n_samples, n_samples), dense or sparse, of weights that are positive for an edge and 0 for none;
`n_neighbors`, `radius`, `search` and `metric` must then be left at their defaults."""


@method
class EdgeWeights(DrawnRows, GraphChoice):
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

    loose_rows: LooseRows = parameter(
        default="keep",
        allowed=[StrOptions(set(get_args(LooseRows)))],
        words="""What to do with loosely tied rows: pendant vertices and small tails of the graph, on which its first
        eigenvectors often are localised. "keep": nothing, with a warning where they hold a coordinate. "trim": leave
        them out of the eigenproblem (their mass is 0) and embed them at the weighted mean of their neighbours.
        "regularize": regularised Laplacian, with a weak edge of weight τ/n between any two rows, τ a tenth of the mean
        degree; for clusters more than for maps, and only for a normalised Laplacian. Another remedy is
        graph="mutual+mst".""",
    )

    width_ = attribute(
        "float, ndarray or None",
        'The σ used; with "self-tuning" that of each row; None if weights are not Gaussian.',
    )
    participation_ = attribute(
        "ndarray or None",
        """Effective number of rows on which each eigenvector lives, (Σ v²)² / Σ v⁴: near 1 if it is localised on one
        row, of the order of n_samples if it varies over all of them. None if no eigenvectors were computed.""",
        _participation,
    )
    loose_ = attribute(
        "ndarray of bool or None",
        'Which rows were left out of the eigenproblem as loosely tied; None unless loose_rows="trim".',
    )


@method
class LaplacianMap(EdgeWeights):
    """Which eigenvectors of a Laplacian the map shows, and which rows its weighed graph has."""

    coordinates: Literal["leading", "independent"] = parameter(
        default="leading",
        allowed=[StrOptions({"leading", "independent"})],
        words="""Which eigenvectors are coordinates. "leading": those of the smallest eigenvalues, with a warning if one
        is a function of the others before it; "independent": such repetitions are skipped.""",
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
        words="""Landmark selection. "random": rows drawn at random; "kmeans": the rows nearest the centres of
        k-means.""",
    )

    landmarks_ = attribute(
        "ndarray of int or None",
        "Row indices of the landmarks; None if all rows are used.",
        lambda model: model.source.components.subset,
    )


@method
class Rebuilding:
    """Reconstruction of rows from their neighbours."""

    reg: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, None, closed="left")],
        words="Regularisation of the local weights, relative to the trace of the local Gram matrix.",
    )
