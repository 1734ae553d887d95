"""Whether the sizes and indices of a model fit together. Compiled code looks nothing up beyond what is proved here.

The table has an entry for each field of a part that holds an array, a tuple or another part, in these words:

    "n d"          an array (or tuple) of this shape; a letter is a number, the same wherever the part has it; * is any
    "e < v"        and its entries are indices: from 0 to below v
    "n <? v"       the same, or -1 where there is none
    "m+1 ^ e"      starts of lists in an array of e entries: from 0 to e, none below the one before
    "= v"          an integer: this number
    "of n=v d=d"   a part, or a tuple of parts: its n is my v, its d is my d

What is None or left out is not looked at. `found` of a model, what a method found out on the way, is free. Numbers are
finite but in the fields of `_MAY_BE_NAN`. A kernel's k are the vertices that it is over, its v those that it has values
for: so many coordinates has the part, and so many vertices the graph whose numbers new rows look them up by.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.io.model_file.searches import rows_of_search
from gramfold.kernels.streamed import StreamedMatrix
from gramfold.types import Graph, Kernel, LeftOut, Spectrum

_INDEX = {"points": "v d", "metric": "of d=d", "costs": "of"}
_KERNEL = {"mass": "k", "null": "k *", "rows": "n < k", "landmarks": "k < v"}
_GRAM = _KERNEL | {"array": "k k", "means": "k", "center": "k", "rows": "n < v", "all_values": "v k"}
_PENALTY = _KERNEL | {"penalty": "k k", "root": "* k", "downdate": "k *", "decay": "of"}
_SPECTRUM = {
    "eigenvalues": "q", "eigenvectors": "k q", "residuals": "q", "penalties": "q", "taken": "q", "novelty": "q",
}  # fmt: skip
_LINEAR = {"mean": "d", "directions": "d p"}
_FITTED = {"reads": "of", "columns": "of d=d n=n", "remains": "of n=n p=p", "warned": "*", "drawn": "of n=n"}
_MAP = _FITTED | {"embedding": "n p", "alignment": "of p=p"}
_METRIC = {"params": "d"}

TABLE: Mapping[str, Mapping[str, str]] = {
    "Alignment": {"rotation": "p p", "shift": "p", "rows": "c 2", "residuals": "c"},
    "FittedMap": _MAP,
    "Model": _MAP | {"source": "of n=n d=d", "parts": "of p=p d=d", "own": "of d=d n=n", "rebuilt": "n *"},
    "Drawn": {"rows": "n"},
    "Remains": {"n_rows": "= n", "extent": "2 p"},
    "Columns": {"count": "= d", "names": "d", "mixed": "of d=d n=n", "shown": "d"},
    "Reads": {"categorical": "*"},
    "Balance": {},
    "Barycentric": {},
    "CarriedBasis": {"basis": "of d=d", "ways": "*"},
    "ContinuousPlacement": {"map": "of d=d"},
    "ContinuousSource": {
        "unit": "of", "rows": "n d", "ball": "of d=d", "metric": "of d=d", "joined": "of n=n", "members": "of n=n d=d",
        "rim": "of d=d",
    },
    "DistancePlacement": {"distances": "of d=d", "rows": "n d", "carriers": "k < n"},
    "Ball": {"middle": "d"},
    "Rim": {"ball": "of d=d"},
    "FunctionInverse": {"kernel": "of", "landmarks": "m < n"},
    "FunctionPlacement": {"values": "of", "rows": "k d"},
    "LandmarkPlacement": {"values": "of", "landmarks": "k < n"},
    "NystromPlacement": {"values": "of", "landmarks": "m < n"},
    "GeodesicPlacement": {},
    "GraphSource": {"components": "of n=n d=d", "rows": "n d"},
    "LeastSquares": {},
    "LinearPlacement": _LINEAR,
    "Part": {
        "kernel": "of d=d k=k v=v", "spectrum": "of k=k q=q", "placement": "of d=d k=k", "coordinates": "v p",
        "offset": "p", "box": "2 p",
    },
    "TableSource": {
        "unit": "of", "rows": "n d", "metric": "of d=d", "ball": "of d=d", "filling": "of d=d", "rim": "of d=d",
    },
    "Components": {
        "net": "of v=v n=s d=d", "graphs": "of v=v r=n", "component": "v <? c", "number": "v <? v", "subset": "s < n",
    },
    "NeighborGraph": {
        "index": "of v=v d=d n=n", "neighbors": "of m=v v=v", "copies": "of n=n v=v", "unit": "of",
        "dropped": "* 2 < v",
    },
    "Guard": {"units": "r"},
    "LinearBasis": {"origin": "d"},
    "MixtureBasis": {"centers": "m d", "axes": "m d *", "turned": "m"},
    "Reweighted": {"basis": "of d=d", "first": "r", "guard": "of r=r"},
    "WithConstant": {"basis": "of d=d"},
    "LaplacianKernel": _PENALTY | {"width": "k", "pull": "k", "scale": "k"},
    "StreamedPaths": {"walks": "of k=k"},
    "StreamedSquares": {"rows": "k d", "distances": "of d=d"},
    "StreamedValues": {"rows": "k d", "function": "of"},
    "StreamedWalks": {"graph": "of n=k"},
    "Distances": {"metric": "of d=d", "unit": "of"},
    "RowKernel": {"params": "d"},
    "GramKernel": _GRAM,
    "LinearGram": _KERNEL | {"points": "k d", "mean": "d", "root": "d *", "scatter": "d d"},
    "RepairedGram": _GRAM | {"dropped": "k *"},
    "Completion": {"matrix": "n n"},
    "LandmarkColumns": {"function": "of", "landmarks": "m d", "count": "= m"},
    "LandmarkValues": {"columns": "of m=m d=d", "points": "v *"},
    "NystromGram": _KERNEL | {"values": "of v=k m=m d=d", "white": "of m=m r=r", "mean": "r", "scatter": "r r"},
    "Heat": {}, "Inverse": {}, "Shift": {}, "Steps": {},
    "PenaltyKernel": _PENALTY,
    "Plane": {"mean": "d", "axes": "d p", "variances": "p"},
    "FactorKernel": _KERNEL | {"factor": "k *"},
    "Bounds": {"low": "r p", "high": "r p", "one": "r 1"},
    "TransformationalKernel": _KERNEL | {
        "vertices": "of k=k d=d", "basis": "of d=d", "white": "r s", "penalty_inside": "s s", "leading": "s *",
    },
    "TransformationalMap": {
        "basis": "of d=d", "coefficients": "r p", "kernel": "of d=d k=k", "spectrum": "of k=k q=p", "places": "k p",
        "bounds": "of r=r p=p",
    },
    "Vertices": {"points": "* d", "numbers": "k", "order": "k < k"},
    "KernelValues": {"function": "of"},
    "Layer": {"windows": "of", "axes": "s p", "signal_to_noise": "p", "root": "s s"},
    "Windows": {},
    "FactorPlacement": _LINEAR | {"factors": "of d=d"},
    "Factors": {"mean": "d", "noise": "d", "plane": "of"},
    "Mixture": {"center": "d", "shares": "k", "planes": "of d=d", "unit": "of"},
    "PlanesPlacement": _LINEAR | {"mixture": "of d=d"},
    "PlanesWay": {},
    "LatentPlane": {"plane": "of d=d p=p", "weights": "d p"},
    "Assignment": {"rule": "of p=p k=j", "order": "k < j"},
    "LargestEntry": {"rotation": "p k"},
    "NearestCenter": {"centers": "k p"},
    "Threshold": {},
    "Clusters": _FITTED | {"net": "of n=n v=v d=d", "edges": "of v=v", "labels": "v", "division": "of v=v"},
    "Edges": {"graph": "of n=v", "width": "v"},
    "Division": {
        "component": "v <? c", "places": "v k", "penalties": "k", "assignment": "of p=k", "centers": "c k",
    },
    "SmallWorldIndex": _INDEX | {"links": "*"},
    "BinaryMetric": _METRIC, "BlockMetric": _METRIC, "Gower": _METRIC, "Metric": _METRIC,
    "Collapse": {"first": "v < n", "vertex": "n < v", "multiplicity": "v"},
    "BlockedIndex": _INDEX,
    "TreeIndex": _INDEX,
    "MixedColumns": {"categories": "d", "smallest": "d", "spread": "d", "patterns": "q d", "owners": "q < n"},
    "DistanceIndex": {"distances": "v v", "first": "v < n", "costs": "of"},
    "GraphIndex": {"graph": "v v"},
    "TransformerIndex": {"transformer": "of", "vectors": "of v=v d=d", "graph": "v v"},
    "WeightedIndex": {"graph": "v v"},
    "SparseRowsIndex": _INDEX,
    "Sketch": {"axes": "c m", "fold": "d"},
    "SketchIndex": _INDEX | {"sketch": "of d=d m=m", "near": "of v=v d=m"},
    "Unit": {},
    "SearchCosts": {},
    "Certificate": {"weights": "m", "pairs": "m 2"},
    "Solution": {"coordinates": "n *", "certificate": "of", "steps": "of"},
    "Step": {},
    "NystromSpectrum": _SPECTRUM | {"axes": "* q"},
    "Whitening": {"matrix": "m r", "negative": "of"},
    "Graph": {
        "lengths": "n n", "neighbors": "of m=n v=n", "radii": "n", "multiplicity": "n", "vertices": "n <? v",
        "rows": "n <? r", "bridges": "* 2 < n", "loops": "n", "shortest": "n",
    },
    "LeftOut": {},
    "NegativePart": {"interval": "2"},
    "Neighbors": {"indptr": "m+1 ^ e", "indices": "e < v", "distances": "e", "n_vertices": "= v"},
    "Spectrum": _SPECTRUM,
}  # fmt: skip

_COMPUTED = {"all_values", "array"}  # values of a kernel that may be computed when they are read
_MAY_BE_ANYTHING = {"width", "categorical"}  # besides arrays: a number for all rows, or what the user gave
# Gaps in rows and their distances to nobody, rows without a place, what was not asked, and quotients by 0.
_MAY_BE_NAN = {
    "rows", "points", "rebuilt", "smallest", "spread", "distances", "radii", "shortest", "embedding", "novelty",
    "residuals", "signal_to_noise", "categorical",
}  # fmt: skip
_NEVER_NONE = "nvkdp"  # letters of which no model has 0
_LEAST_BYTES = {"f": 4, "i": 4, "b": 1}  # of an entry of each kind: compiled code was never tried with smaller ones


def _finite(value: Any) -> bool:
    """Whether all its numbers are; the ends are NaN where one of them is."""
    entries = value.data if issparse(value) else value
    if not isinstance(entries, np.ndarray) or entries.dtype.kind != "f" or not entries.size:
        return True
    return bool(np.isfinite(entries.min()) and np.isfinite(entries.max()))


class UnsoundError(ValueError):
    """Sizes or indices contradict each other; the sentence says where."""


class Soundness:
    """Looks at the parts of one model, each once, after those that it holds."""

    def __init__(self, *, scan: bool) -> None:
        self._scan = scan  # whether indices are looked at, or shapes only
        self._known: dict[int, _Sizes] = {}  # of the parts that were looked at, by id

    def require(self, part: Any) -> None:
        """Raise `UnsoundError` where the part is not sound."""
        name = type(part).__name__
        sizes = _Sizes(name, self._known, scan=self._scan)
        for field, words in TABLE[name].items():
            value = getattr(part, field)
            if value is None or isinstance(value, LeftOut):
                continue
            kind, *rest = words.split()
            if kind == "of":
                for one in value if isinstance(value, tuple | list) else (value,):
                    sizes.take(self._known.get(id(one)), dict(pair.split("=") for pair in rest), field)
            elif kind == "=":
                sizes.equal(rest[0], int(value), field)
            elif isinstance(value, Mapping):  # parameters of a metric: those that are arrays have an axis a column
                for key, one in value.items():
                    if isinstance(one, np.ndarray):
                        sizes.shaped(one, words.split() * one.ndim, f"{field}[{key!r}]")
            elif field not in _COMPUTED or not is_dataclass(value):
                self._array(sizes, value, words, field)
        if name in _RELATIONS:
            _RELATIONS[name](part, sizes)
        sizes.finish()
        self._known[id(part)] = sizes

    def _array(self, sizes: "_Sizes", value: Any, words: str, field: str) -> None:
        for mark in (" <? ", " < ", " ^ "):
            dims, found, bound = words.partition(mark)
            if found:
                break
        sizes.shaped(value, dims.split(), field)
        if self._scan and field not in _MAY_BE_NAN:
            sizes.require(_finite(value), field)
        if not found:
            return
        sizes.require(isinstance(value, np.ndarray) and value.dtype.kind == "i", field)
        if not self._scan:
            return
        if mark == " ^ ":
            sizes.require(value[0] == 0 and bool((value[1:] >= value[:-1]).all()), field)
            sizes.equal(bound, int(value[-1]), field)
        elif value.size:
            sizes.require(value.min() >= (-1 if mark == " <? " else 0), field)
            sizes.at_least(bound, int(value.max()) + 1)


class _Sizes:
    """The numbers behind the letters of one part."""

    def __init__(self, name: str, known: "dict[int, _Sizes]", *, scan: bool) -> None:
        self._name = name
        self._known = known
        self.scan = scan
        self.exact: dict[str, int] = {}
        self.least: dict[str, int] = {}  # where only indices below it are known

    def require(self, holds: Any, field: str) -> None:
        if not holds:
            raise UnsoundError(f"{self._name}.{field} does not fit the rest of the model")

    def equal(self, letter: str, number: int, field: str) -> None:
        self.require(number >= 0 and self.exact.setdefault(letter, number) == number, field)

    def at_least(self, letter: str, number: int) -> None:
        self.least[letter] = max(number, self.least.get(letter, 0))

    def shaped(self, value: Any, dims: list[str], field: str) -> None:
        """A tuple has a length, an array or sparse matrix a shape; numbers and texts have neither."""
        if isinstance(value, tuple | list):
            shape: tuple[int, ...] = (len(value),)
        elif isinstance(value, np.ndarray) or issparse(value):
            shape, kind = value.shape, value.dtype.kind
            self.require(kind in _LEAST_BYTES and value.dtype.itemsize >= _LEAST_BYTES[kind], field)
            self.require(not issparse(value) or value.format == "csr", field)
        else:
            self.require(field in _MAY_BE_ANYTHING, field)
            return
        self.require(len(shape) == len(dims), field)
        for dim, number in zip(dims, shape, strict=True):
            letter, _, more = dim.partition("+")
            if letter.isdigit():
                self.require(int(letter) == number, field)
            elif letter != "*":
                self.equal(letter, number - int(more or 0), field)

    def take(self, inner: "_Sizes | None", pairs: dict[str, str], field: str) -> None:
        """What a part that I hold knows."""
        if inner is None:  # no part of ours
            return
        for theirs, mine in pairs.items():
            if theirs in inner.exact:
                self.equal(mine, inner.exact[theirs], field)
            if theirs in inner.least:
                self.at_least(mine, inner.least[theirs])

    def of(self, letter: str, part: Any = None) -> int | None:
        """The number of mine, or of a part that I hold."""
        sizes = self if part is None else self._known.get(id(part))
        return None if sizes is None else sizes.exact.get(letter)

    def finish(self) -> None:
        for letter in _NEVER_NONE:
            self.require(self.exact.get(letter) != 0, f"({letter})")
        for letter, least in self.least.items():
            self.require(self.exact.get(letter, least) >= least, f"({letter})")


# --- what a table of shapes cannot say

_MOST_POWER = 1100  # of two: all numbers are within
_MOST_WIDTH = 1 << 20  # candidates of an approximate search


def _model(model: Any, sizes: _Sizes) -> None:
    n = sizes.of("n")
    sizes.require(not model.reads.precomputed or n in {None, sizes.of("d")}, "columns")
    members = getattr(model.source, "members", model.source)  # of a continuous map, those of its graph
    if hasattr(members, "components"):
        graphs = members.components.graphs
        sizes.require(len(graphs) == len(model.parts), "parts")
        for graph, part in zip(graphs, model.parts, strict=True):
            sizes.require(sizes.of("v", part) in {None, len(graph)}, "parts")
    else:
        sizes.require(len(model.parts) == 1 and (n is None or (sizes.of("v", model.parts[0]) or 0) <= n), "parts")


def _part(part: Any, sizes: _Sizes) -> None:
    columns = sizes.of("p") or 0
    sizes.require((sizes.of("q") or 0) <= columns, "coordinates")
    sizes.require((sizes.of("p", part.placement) or 0) <= columns, "placement")
    sizes.require(isinstance(part.kernel, Kernel | LeftOut | None), "kernel")
    sizes.require(isinstance(part.spectrum, Spectrum | LeftOut | None), "spectrum")
    sizes.require(part.placement is None or hasattr(type(part.placement), "place"), "placement")
    single = {part.kernel is None, part.spectrum is None, part.placement is None}  # a single point has none of them
    sizes.require(len(single) == 1, "kernel")


def _kernel(kernel: Any, sizes: _Sizes) -> None:
    if is_dataclass(array := getattr(kernel, "array", None)) and not isinstance(array, LeftOut):
        sizes.require(isinstance(array, StreamedMatrix), "array")
        sizes.equal("k", sizes.of("k", array) or 0, "array")
    values = getattr(kernel, "all_values", None)
    if (landmarks := getattr(kernel, "landmarks", None)) is None:
        sizes.require(values is None, "all_values")
        if (count := sizes.of("k")) is not None:
            sizes.equal("v", count, "mass")
    else:
        sizes.require(values is not None and not isinstance(landmarks, LeftOut), "landmarks")
        for theirs, mine in {"v": "v", "m": "k"}.items():
            if (number := sizes.of(theirs, values)) is not None:
                sizes.equal(mine, number, "all_values")
    sizes.require(not isinstance(values, np.ndarray) or values.dtype.kind == "f", "all_values")
    if sizes.scan and isinstance(kernel.mass, np.ndarray) and kernel.mass.size:
        sizes.require(kernel.mass.min() >= 0 and kernel.mass.max() > 0, "mass")


def _streamed_walks(walks: Any, sizes: _Sizes) -> None:
    sizes.require(isinstance(walks.graph, Graph), "graph")


def _distance_placement(placement: Any, sizes: _Sizes) -> None:
    if placement.carriers is None and (count := sizes.of("n")) is not None:
        sizes.equal("k", count, "rows")


def _functions(held: Any, sizes: _Sizes) -> None:
    """What combines the functions of a basis has a number for each."""
    sizes.equal("r", held.basis.size, "basis")


def _components(components: Any, sizes: _Sizes) -> None:
    sizes.equal("c", len(components.graphs), "component")
    if components.subset is None and (rows := sizes.of("s")) is not None:
        sizes.equal("n", rows, "subset")
    if sizes.scan:
        sizes.finish()
        inside = components.component >= 0
        lengths = np.array([len(one) for one in components.graphs])[components.component[inside]]
        number = components.number[inside]
        sizes.require(((number >= 0) & (number < lengths)).all(), "number")
        for one, graph in enumerate(components.graphs):  # new rows meet vertices of the net, and are looked up by these
            there = np.flatnonzero(components.component == one)
            same = len(there) == len(graph) and (graph.vertices[components.number[there]] == there).all()
            sizes.require(same, "number")


def _graph(graph: Any, sizes: _Sizes) -> None:
    if sizes.scan and issparse(graph.lengths) and graph.lengths.nnz:  # else a search for paths need not end
        lengths = graph.lengths.data
        sizes.require(lengths.min() >= 0 and lengths.max() < np.inf, "lengths")


def _neighbor_graph(net: Any, sizes: _Sizes) -> None:
    sizes.require(0 <= net.n_neighbors <= max(sizes.of("v") or 0, 1), "n_neighbors")


def _transformer(index: Any, sizes: _Sizes) -> None:
    rows = rows_of_search(index.transformer)
    sizes.require(index.graph is None or (rows is not None and rows.shape[0] == sizes.of("v")), "transformer")


def _sketch(sketch: Any, sizes: _Sizes) -> None:
    columns = len(sketch.axes)
    if sketch.fold is None:
        sizes.equal("d", columns, "axes")
    elif sizes.scan:
        into = np.abs(sketch.fold)
        sizes.require(into.min(initial=1) >= 1 and into.max(initial=1) <= columns, "fold")


def _layer(layer: Any, sizes: _Sizes) -> None:
    sizes.require(layer.windows.size == sizes.of("s"), "windows")


def _windows(windows: Any, sizes: _Sizes) -> None:
    length, step, frames = windows.length, windows.step, windows.frames
    sizes.require(min(length, step, windows.width) >= 1, "length")
    sizes.require(length <= frames and (frames - length) % step == 0, "frames")


def _costs(costs: Any, sizes: _Sizes) -> None:
    for one in fields(costs):
        sizes.require(0 < getattr(costs, one.name) < np.inf, one.name)


def _unit(unit: Any, sizes: _Sizes) -> None:
    sizes.require(abs(unit.power) <= _MOST_POWER, "power")


def _metric(metric: Any, sizes: _Sizes) -> None:
    sizes.require(metric.p >= 1, "p")


def _small_world(index: Any, sizes: _Sizes) -> None:
    sizes.require(0 < index.width <= _MOST_WIDTH, "width")


def _landmark_columns(columns: Any, sizes: _Sizes) -> None:
    sizes.require(columns.entries_per_block > 0, "entries_per_block")


_RELATIONS: Mapping[str, Callable[[Any, _Sizes], None]] = {
    "Model": _model,
    "Part": _part,
    "Components": _components,
    "Graph": _graph,
    "NeighborGraph": _neighbor_graph,
    "StreamedWalks": _streamed_walks,
    "DistancePlacement": _distance_placement,
    "TransformationalMap": _functions,
    "Reweighted": _functions,
    "TransformerIndex": _transformer,
    "Sketch": _sketch,
    "Layer": _layer,
    "Windows": _windows,
    "SearchCosts": _costs,
    "Unit": _unit,
    **dict.fromkeys(("BinaryMetric", "BlockMetric", "Gower", "Metric"), _metric),
    "SmallWorldIndex": _small_world,
    "LandmarkColumns": _landmark_columns,
} | dict.fromkeys((name for name, words in TABLE.items() if "mass" in words), _kernel)
