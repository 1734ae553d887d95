"""What the maps of a graph's Laplacian share: weighed edges, a choice among eigenvectors, new points in balance.

rows (or landmarks) -> neighbours -> weights of width σ -> kernel f(L) -> eigenvectors;    extension/balance.py
"""

from dataclasses import replace
from numbers import Integral

import numpy as np

from gramfold.embedding.fit import Fit
from gramfold.embedding.groups import LaplacianMap
from gramfold.embedding.model import Model
from gramfold.embedding.solving import Few, few_positive, judged
from gramfold.errors import InputError, PrecomputedInputError
from gramfold.extension.balance import BalancedKernel, KernelOfWeights
from gramfold.graph.affinity import check_width, width_of_rows
from gramfold.graph.neighbor_graph import unit_of
from gramfold.kernels.directions import Coordinates, repeats_itself
from gramfold.kernels.landmarks import given_landmarks, kmeans_rows, landmark_count, random_rows
from gramfold.kernels.localization import localized_coordinates
from gramfold.types import Integers


def laplacian_map(
    fit: Fit,
    settings: LaplacianMap,
    kernel: KernelOfWeights,
    *,
    few: Few = few_positive,
    remedy: str = "",
    no_regularization: str = "",
) -> Model:
    """The map of `kernel(graph, width)`, which a method makes of each connected graph.

    `no_regularization` is why its Laplacian cannot be regularised, in words; empty where it can.
    """
    check_width(settings.weights, settings.width)
    if settings.loose_rows == "regularize" and no_regularization:
        raise InputError(
            f"loose_rows='regularize' is not available: {no_regularization}; use loose_rows='trim', or "
            "LaplacianEigenmaps with a normalised Laplacian."
        )
    coordinates = Coordinates(settings.coordinates == "independent", fit.n_components)
    count = None if settings.landmarks is None else landmark_count(settings.landmarks)
    fit.forecast_graph(settings, coordinates.memory, most=count)
    source = fit.graph(settings, rows=_landmarks(fit, settings), by_rule=True)
    net, graphs = source.components.net, source.components.graphs
    width = net.edge_width(graphs, settings.weights, settings.width)
    build = BalancedKernel(kernel, width, self_tuning=settings.width == "self-tuning")
    build = replace(build, loose_rows=settings.loose_rows, count=fit.n_components)
    vertex = source.components.vertex_of(fit.X.shape[0])
    model = fit.solve(source, build, choose=coordinates, few=few, found={"width_": width_of_rows(width, vertex)})
    trim = settings.loose_rows == "trim"
    model = replace(model, found={**model.found, "loose_": _loose(model, vertex) if trim else None})
    # coordinates that repeat themselves were warned of, and D^½ y has the degrees in it: neighbours are lost in both
    largest = model.parts[0]
    keeps = largest.kernel is None or (largest.kernel.scale is None and not repeats_itself(largest.spectrum))
    held = {} if largest.kernel is None else localized_coordinates(largest.kernel, largest.spectrum, graphs[0])
    if held and not trim:
        words = ("loose_rows='trim'", "" if fit.reads.precomputed else "graph='mutual+mst'", remedy)
        remedy = ", ".join(word for word in words if word)
    return judged(fit, model, settings, remedy=remedy, keeps_neighbors=keeps, localized=held)


def _loose(model: Model, vertex: Integers) -> np.ndarray:
    """Which data rows were left out of the eigenproblem; `vertex` is that of each, -1 where the graph has it not."""
    components = model.source.components  # type: ignore[attr-defined]
    left_out = np.zeros(len(components.component), dtype=bool)
    for graph, part in zip(components.graphs, model.parts, strict=True):
        if part.kernel is not None:
            left_out[graph.vertices] = part.kernel.mass == 0
    return np.asarray((vertex >= 0) & left_out[vertex])


SAME_EIGENVECTORS = "the unnormalised Laplacian has the same eigenvectors with regularisation as without it"


def _landmarks(fit: Fit, settings: LaplacianMap) -> Integers | None:
    """The rows that the graph has, ascending; None: all."""
    asked, n = settings.landmarks, fit.X.shape[0]
    given = None if asked is None or isinstance(asked, Integral) else np.sort(given_landmarks(asked, n))
    if asked is None or (int(asked) if given is None else len(given)) >= n:
        return None
    if fit.sample_weight is not None:
        raise InputError(
            f"landmarks={asked if given is None else 'indices'} and sample_weight were both given, but the graph is "
            "over the landmarks alone, and the weights of the other rows would not count: drop one of them."
        )
    if fit.reads.precomputed:
        raise PrecomputedInputError(
            "landmarks need a table of rows, but X is precomputed: fit on the submatrix of the landmarks and "
            "transform() the other rows."
        )
    if given is not None:
        return given
    if settings.landmark_choice == "random":
        return random_rows(n, int(asked), fit.rng)
    return kmeans_rows(unit_of(fit.X, settings).inward(fit.X), int(asked), fit.rng)
