"""Graphs that join rows of one class: all of them, or each with its nearest ones."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramfold.embedding.continuous import WholeGraph
from gramfold.errors import InputError
from gramfold.graph.build import build_graph
from gramfold.graph.neighbor_graph import Neighborhood
from gramfold.kernels.transformational import ClassWeights
from gramfold.neighbors.duplicates import Collapse
from gramfold.neighbors.search import build_index
from gramfold.types import Floats, Integers, Neighbors


def numbered_classes(y: Any, n: int, graph: str) -> Integers:
    """The class of each row, numbered."""
    if y is None:
        raise InputError(
            f"graph={graph!r} joins rows of one class, but no classes were given: pass y to fit, or use graph='union'."
        )
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise InputError(f"y has the shape {labels.shape}, but X has {n} rows: pass one class for each row.")
    sentence = (
        "y contains missing or continuous values, which are not class labels: pass an integer or a string for each row."
    )
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.trunc(labels)):  # a NaN equals nothing
        raise InputError(sentence)
    try:
        return np.asarray(np.unique(labels, return_inverse=True)[1])
    except TypeError as error:  # words beside None or numbers
        raise InputError(sentence) from error


def whole_classes(classes: Integers, mass: Floats) -> WholeGraph:
    """All rows of one class are joined, by weights without lengths (`class_weights`): the graph lists no edges."""
    n = len(classes)
    nobody = Neighbors(np.zeros(n + 1, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0), n)
    _require_company(classes, n)
    return WholeGraph(build_graph(nobody, None, mass), np.arange(n), np.arange(n))


def class_weights(classes: Integers, mass: Floats) -> ClassWeights:
    """M m' / (mass of the class) between all rows of one class: 1/(rows of the class) where each has the mass 1."""
    sizes, n = np.bincount(classes, weights=mass), len(classes)
    shares = csr_array((mass / np.sqrt(sizes[classes]), classes, np.arange(n + 1)), shape=(n, len(sizes)))
    return ClassWeights(shares)


def class_neighbors(
    X: Floats, classes: Integers, hood: Neighborhood, radius: float | None, n_jobs: int | None, rng: Any, mass: Floats
) -> WholeGraph:
    """Each class is searched by itself, and the graphs are components of one; `rng` draws for each anew."""
    numbers, firsts, lists, multiplicities, size = np.empty(X.shape[0], dtype=np.intp), [], [], [], 0
    for number in range(int(classes.max()) + 1):
        rows = np.flatnonzero(classes == number)
        found, copies = _among(X[rows], hood, radius, n_jobs, rng())
        lists.append((found.counts, found.indices + size, found.distances))
        numbers[rows] = size + copies.vertex
        firsts.append(rows[copies.first])
        multiplicities.append(copies.weighted(mass[rows]).multiplicity)
        size += len(copies)
    counts, indices, distances = (np.concatenate(part) for part in zip(*lists, strict=True))
    first = np.concatenate(firsts)
    together = Neighbors(np.concatenate(([0], np.cumsum(counts))), indices, distances, size)
    graph = build_graph(together, None, np.concatenate(multiplicities), first)
    _require_company(classes[first], len(graph))
    if not len(together.indices):
        raise InputError(
            f"no two rows of one class are within radius={hood.radius:g} of each other, so the graph has no edges: use "
            "a larger radius, or n_neighbors."
        )
    return WholeGraph(graph, np.arange(X.shape[0]), numbers)


def _among(
    rows: Floats, hood: Neighborhood, radius: float | None, n_jobs: int | None, random_state: np.random.RandomState
) -> tuple[Neighbors, Collapse]:
    """The lists of neighbours among the rows of one class."""
    index, copies = build_index(
        rows,
        metric=hood.metric,
        metric_params=hood.metric_params,
        search=hood.search,
        n_neighbors=0,  # whether there are enough is asked below
        radius=radius,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    if len(copies) == 1:
        return Neighbors(np.zeros(2, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0), 1), copies
    return index.own(min(hood.n_neighbors, len(copies) - 1), radius), copies


def _require_company(classes: Integers, vertices: int) -> None:
    if np.bincount(classes).max() == 1:
        raise InputError(
            f"each of the {vertices} classes in y has only one distinct row, so the graph has no edges: pass classes "
            "of several rows, or use graph='union'."
        )
