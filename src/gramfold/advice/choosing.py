"""Which method, with which parameters, by what a sample shows."""

import math
from dataclasses import dataclass
from typing import Any

from gramfold.advice.plan import Item
from gramfold.advice.trial import FEWEST, LOOSE, ROWS, SHAPELESS, Shape, Tried
from gramfold.methods.classical_mds import ClassicalMDS
from gramfold.methods.isomap import Isomap
from gramfold.methods.landmark_mds import LandmarkMDS
from gramfold.methods.laplacian_eigenmaps import LaplacianEigenmaps
from gramfold.methods.pca import PCA

_ALL_PATHS = 10_000  # rows up to which the shortest paths between all of them are computed
_ALL_DISTANCES = 20_000  # rows up to which distances between all are compared, by a metric without a search tree
_PATHS_FROM, _DISTANCES_TO = 300, 500  # landmarks
_WHOLE_GRAPH, _GRAPH_OF = 200_000, 20_000  # rows of a Laplacian
_TREE, _TREE_OF_MANY, _MANY = 15, 5, 200_000  # columns up to which a k-d tree finds neighbours; of many rows
_EXACT = 20_000  # rows up to which all pairs are compared in more columns
_MOST_NEIGHBORS, _MOST_GROWN = 30, 1.5

_NO_GRAPH = Item(None, "the method has no graph of neighbours")
_METHODS = {"Isomap": Isomap, "LaplacianEigenmaps": LaplacianEigenmaps}


@dataclass(frozen=True, eq=False)
class Choice:
    """A method, its parameters, and the estimator."""

    method: Item
    n_components: Item
    n_neighbors: Item
    search: Item
    landmarks: Item
    model: Any
    notes: tuple[str, ...] = ()


def choose(shape: Shape, n: int, width: int, metric: str, *, in_partitions: bool = False) -> Choice:
    """For n rows of so many columns; in partitions, where a graph costs much, only one that is better beyond noise."""
    p = shape.n_components
    components = Item(p, _why_components(shape, width))
    best, linear = shape.best, shape.linear
    if in_partitions and best is not None and linear is not None and not best.clearly_above(linear):
        best = linear
    if metric == "gower" and n > _ALL_DISTANCES:
        return _to_landmarks(components, n)
    if best is None or best.method == "PCA":
        return _without_graph(shape, best, components, metric)
    return _on_graph(shape, best, components, n, width, metric)


def _why_components(shape: Shape, width: int) -> str:
    p, found = shape.n_components, shape.dimension
    if p == width:
        return f"the map sees {width} column{'s' * (width > 1)}"
    if len(shape.shares) >= p and shape.shares[p - 1] >= 0.95:
        return f"{p} principal axes have {shape.shares[p - 1]:.1%} of the variance"
    if found is None:
        return "for a picture; rows are too few to estimate their dimension"
    if found <= p + 0.5:
        return f"the intrinsic dimension is about {found:.1f}"
    return f"for a picture; the intrinsic dimension is about {found:.0f}, so that no map of {p} keeps everything"


def _to_landmarks(components: Item, n: int) -> Choice:
    why = f"the distances of {n:,} rows from a few landmarks are enough for a map, and those between all take too long"
    return Choice(
        Item("LandmarkMDS", why),
        components,
        _NO_GRAPH,
        _NO_GRAPH,
        Item(_DISTANCES_TO, "enough to hold a map of few dimensions"),
        LandmarkMDS(components.value, landmarks=_DISTANCES_TO, metric="gower"),
    )


def _without_graph(shape: Shape, best: Tried | None, components: Item, metric: str) -> Choice:
    p, plain = components.value, metric == "euclidean"
    model = PCA(p) if plain else ClassicalMDS(p, metric=metric)
    return Choice(
        Item(type(model).__name__, _why_linear(shape, best)),
        components,
        _NO_GRAPH,
        _NO_GRAPH,
        Item(None, "all rows are used"),
        model,
    )


def _why_linear(shape: Shape, best: Tried | None) -> str:
    if best is None:
        few = shape.distinct < FEWEST
        return f"{shape.distinct} distinct rows are too few for a graph of neighbours" if few else "there is one column"
    other = next((one for one in shape.tried if one.method != "PCA"), None)
    share = shape.shares[min(shape.n_components, len(shape.shares)) - 1]
    beside = "" if other is None else f", {_named(other)} {other.score:.0%}"
    level = ", which is ahead by no more than noise" if best is not shape.best else ""
    shapeless = "no map of so few dimensions shows a shape: " if shape.tried[0].score < SHAPELESS else ""
    return (
        f"{shapeless}a linear map has {share:.0%} of the variance and keeps {best.score:.0%} of the neighbours in a "
        f"sample, beyond chance{beside}{level}"
    )


def _on_graph(shape: Shape, best: Tried, components: Item, n: int, width: int, metric: str) -> Choice:
    assert best.n_neighbors is not None
    p = components.value
    k, why_k = _neighbors(best, shape, n)
    landmarks = _landmarks(best.method, n)
    search = _search(n, width, metric)
    given: dict[str, Any] = {} if landmarks.value is None else {"landmarks": landmarks.value}
    if best.method == "LaplacianEigenmaps":
        given["loose_rows"] = LOOSE
    if search.value == "exact":
        given["search"] = "exact"
    measured = {} if metric == "euclidean" else {"metric": metric}
    model = _METHODS[best.method](p, n_neighbors=k, **measured, **given)
    linear = shape.linear
    beside = "" if linear is None else f", PCA {linear.score:.0%}"
    keeps = {
        "Isomap": "a map of shortest paths along the graph of neighbours",
        "LaplacianEigenmaps": "a map of the smoothest functions on the graph of neighbours, which draws groups apart,",
    }[best.method]
    apart = (
        f"the graph of {best.n_neighbors} neighbours of the sample has several connected components, so that the fit "
        "may warn that it joined them: distances between groups mean little"
    )
    return Choice(
        Item(best.method, f"{keeps} keeps {best.score:.0%} of the neighbours in a sample, beyond chance{beside}"),
        components,
        Item(k, why_k),
        search,
        landmarks,
        model,
        (*(() if best.connected else (apart,)), *_collapsed(shape, best)),
    )


def _collapsed(shape: Shape, best: Tried) -> tuple[str, ...]:
    """What a map that shows groups alone hides, and which does not."""
    if not best.collapsed:
        return ()
    other = next((one for one in shape.tried if not one.collapsed), None)
    beside = "" if other is None else f": {_named(other)} keeps {other.score:.0%}, and tells them apart"
    return (f"most rows of a group cannot be told apart on this map of the sample, which shows the groups{beside}",)


def _named(one: Tried) -> str:
    return one.method if one.n_neighbors is None else f"{one.method} with {one.n_neighbors} neighbours"


def _neighbors(best: Tried, shape: Shape, n: int) -> tuple[int, str]:
    """Those of the trial, and more for more rows: a graph stays connected with about log n neighbours."""
    assert best.n_neighbors is not None
    tried = min(ROWS, shape.distinct)
    more = min(max(1.0, math.log(n) / math.log(tried)), _MOST_GROWN)
    grown = math.ceil(best.n_neighbors * more - 1e-9)
    k = max(1, min(grown, _MOST_NEIGHBORS, shape.distinct - 1))
    others = sorted({one.n_neighbors for one in shape.tried if one.method == best.method and one.n_neighbors})
    among = ", ".join(str(one) for one in others)
    why = f"the best of {among} on a sample of {tried:,} rows"
    return k, why if k == best.n_neighbors else f"{why} was {best.n_neighbors}, and {n:,} rows need some more"


def _landmarks(method: str, n: int) -> Item:
    if method == "Isomap" and n > _ALL_PATHS:
        return Item(_PATHS_FROM, f"shortest paths between all {n:,} rows need {8e-9 * n * n:,.1f} GB")
    if method == "LaplacianEigenmaps" and n > _WHOLE_GRAPH:
        return Item(_GRAPH_OF, f"the graph of {n:,} rows takes long, and the others find their place among these")
    return Item(None, "all rows are used")


def _search(n: int, width: int, metric: str) -> Item:
    if metric == "precomputed":
        return Item("auto", "distances are known")
    if width <= (_TREE if n <= _MANY else _TREE_OF_MANY) and metric == "euclidean":
        return Item("exact", f"a tree finds the neighbours of {n:,} rows in {width} columns")
    if n <= _EXACT:
        return Item("exact", f"{n:,} rows are few enough to compare all pairs")
    return Item("auto", "exact, or approximate where that would take much longer than the fit")
