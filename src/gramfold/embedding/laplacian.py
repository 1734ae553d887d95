"""What the maps of a graph's Laplacian share: weighed edges, a choice among eigenvectors, new points in balance.

rows (or landmarks) -> neighbours -> weights of width σ -> kernel f(L) -> eigenvectors;    extension/balance.py
"""

from gramfold.embedding.fit import Fit
from gramfold.embedding.groups import LaplacianMap
from gramfold.embedding.model import Model
from gramfold.embedding.solving import Few, few_positive, judged
from gramfold.errors import PrecomputedInputError
from gramfold.extension.balance import BalancedKernel, KernelOfWeights
from gramfold.graph.affinity import check_width
from gramfold.graph.neighbor_graph import unit_of
from gramfold.kernels.directions import Coordinates, repeats_itself
from gramfold.kernels.landmarks import kmeans_rows, random_rows
from gramfold.types import Integers


def laplacian_map(
    fit: Fit, settings: LaplacianMap, kernel: KernelOfWeights, *, few: Few = few_positive, remedy: str = ""
) -> Model:
    """The map of `kernel(graph, width)`, which a method makes of each connected graph."""
    check_width(settings.weights, settings.width)
    coordinates = Coordinates(settings.coordinates == "independent", fit.n_components)
    fit.forecast_graph(settings, coordinates.memory, most=settings.landmarks)
    source = fit.graph(settings, rows=_landmarks(fit, settings), by_rule=True)
    net, graphs = source.components.net, source.components.graphs
    width = net.edge_width(graphs, settings.weights, settings.width)
    build = BalancedKernel(kernel, width, self_tuning=settings.width == "self-tuning")
    model = fit.solve(source, build, choose=coordinates, few=few, found={"width_": width})
    # where coordinates repeat themselves, that was told, and is why neighbours are lost
    return judged(fit, model, settings, remedy=remedy, keeps_neighbors=not repeats_itself(model.parts[0].spectrum))


def _landmarks(fit: Fit, settings: LaplacianMap) -> Integers | None:
    """The rows that the graph has, ascending; None: all."""
    count, n = settings.landmarks, fit.X.shape[0]
    if count is None or count >= n:
        return None
    if fit.reads.precomputed:
        raise PrecomputedInputError(
            f"landmarks={count} would place the other rows as new ones, and with metric='precomputed' "
            "their distances are not looked up: fit on the landmarks' own matrix and transform() the others."
        )
    if settings.landmark_choice == "random":
        return random_rows(n, count, fit.rng)
    return kmeans_rows(unit_of(fit.X, settings).inward(fit.X), count, fit.rng)
