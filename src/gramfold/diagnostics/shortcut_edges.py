"""Short circuits of a neighbour graph, of rows or of a fitted model; what they are: graph/short_circuits.py."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramfold.diagnostics.randomness import drawn_from
from gramfold.embedding import Fit
from gramfold.errors import InputError
from gramfold.graph.drop import short_circuits_of
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.graph.short_circuits import ShortCircuits
from gramfold.methods.isomap import Isomap
from gramfold.runtime.threads import at_work
from gramfold.sdp.problem import Certificate
from gramfold.types import Floats, Integers

__all__ = ["ShortCircuits", "short_circuits"]


def short_circuits(
    X: Any,
    *,
    n_neighbors: int | None = None,
    radius: float | None = None,
    metric: Any = None,
    most: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> ShortCircuits:
    """Find edges of the neighbour graph that cut through the ambient space.

    Such an edge connects two rows that are near each other in space and far apart on the manifold, as on two turns of a
    swiss roll; one is enough to fold the map of a geodesic method. An edge is named if it leaves the tangent planes at
    its ends and the shortest path without it, and without all others that are disputed, is longer than a sheet without
    short circuits would give. Edges without which there is no path at all are not named.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns), sparse matrix, DataFrame, or fitted estimator
        Rows (with ``metric="precomputed"``, their distances or graph), or a fitted estimator of gramfold that has a
        neighbour graph, whose graph is then examined.
    n_neighbors : int, optional
        Number of neighbours of each row, 8 by default. Only for rows.
    radius : float, optional
        If given, the neighbours of a row are all rows within this distance. Only for rows.
    metric : str or callable, optional
        Distance between rows, "euclidean" by default. Only for rows.
    most : int, optional
        Name only the first so many short circuits, each with all of its parallel edges. By default all.
    random_state : int, RandomState or None, default=0
        Draws the edges that the others are compared with, and the rows from which geodesics are counted.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    ShortCircuits
        `edges` (pairs of rows), `lengths`, `scores`, `detours`, `tilts`, `geodesics` and `circuits`, one entry for
        each edge, the most certain first. It can be given to an estimator as ``drop_edges``. For a fitted SDE,
        `tensions` are the multipliers of its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import short_circuits
    >>> roll = make_swiss_roll(1000, random_state=0).points
    >>> short_circuits(roll)
    ShortCircuits(none; 0 edges tested by tangent planes of 2 dimensions)
    >>> t = 6.0  # a row between two turns
    >>> rows = np.vstack([roll, [(t + np.pi) * np.cos(t), 10.0, (t + np.pi) * np.sin(t)]])
    >>> found = short_circuits(rows)
    >>> bool((found.edges == 1000).any(axis=1).all())
    True
    >>> model = Isomap(drop_edges=found).fit(rows)
    """
    if most is not None and most < 1:
        raise InputError(f"most={most} names no short circuit: use most >= 1, or None for all of them.")
    rng = drawn_from(random_state)
    asked = {"n_neighbors": n_neighbors, "radius": radius, "metric": metric}
    asked = {name: value for name, value in asked.items() if value is not None}
    if not hasattr(X, "fit"):
        with at_work(n_jobs):
            net = _net_of_rows(X, asked, rng, n_jobs)
            found = short_circuits_of(net, rng, n_jobs).first(most)
        return _in_user_unit(found, net.unit_of_distances)
    if asked:
        name, value = next(iter(asked.items()))
        raise InputError(
            f"{name}={value!r} was given with a fitted {type(X).__name__}, which has a graph of its own: leave {name} "
            "out, or pass the rows."
        )
    net, subset = _net_of_model(X)
    with at_work(n_jobs):
        found = short_circuits_of(net, rng, n_jobs).first(most)
    found = _in_user_unit(found, net.unit_of_distances)
    if subset is not None:
        found = replace(found, edges=subset[found.edges])
    certificate = X.model_.found.get("solution_") if hasattr(X.model_, "found") else None
    return found if certificate is None else replace(found, tensions=tensions(certificate.certificate, found.edges))


def tensions(certificate: Certificate, edges: Integers) -> Floats:
    """Multipliers of these edges relative to the median of all kept pairs; NaN where a distance was not kept.

    A kept distance that holds two distant parts of the map together has a large one.
    """
    low, high = np.sort(certificate.pairs, axis=1).T.astype(np.int64)
    base = int(max(high.max(initial=0), edges.max(initial=0))) + 1
    keys = low * base + high
    order = np.argsort(keys)
    wanted = np.sort(edges, axis=1).astype(np.int64) @ np.array([base, 1])
    place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    weights = np.abs(certificate.weights)
    return np.where(keys[place] == wanted, weights[place] / np.median(weights[weights > 0]), np.nan)


def _net_of_rows(X: Any, asked: dict[str, Any], rng: np.random.RandomState, n_jobs: int | None) -> NeighborGraph:
    """The neighbours of rows, which are read and checked as those of a fit."""
    settings = Isomap(n_components=1, random_state=rng, n_jobs=n_jobs, **asked)
    settings._validate_params()  # noqa: SLF001  as its own fit does
    fit = Fit.of(settings, X, None, settings._reads(), {})  # noqa: SLF001
    fit.forecast_graph(settings)
    return fit.neighbors(settings)


def _net_of_model(estimator: Any) -> tuple[NeighborGraph, Integers | None]:
    """The neighbours of a fitted estimator, and the data rows that its graph is of; None: all."""
    check_is_fitted(
        estimator, msg="%(name)s is not fitted, so it has no neighbour graph: call fit first, or pass the rows."
    )
    model: Any = getattr(estimator, "model_", None)
    if isinstance(getattr(model, "net", None), NeighborGraph):
        return model.net, None
    source = getattr(model, "source", None)
    members = getattr(source, "members", source)
    components = getattr(members, "components", None)
    if components is None:
        raise InputError(
            f"{type(estimator).__name__} has no graph of neighbours, so there are no short circuits in it: pass the "
            "rows, or the fitted model of a graph method."
        )
    return components.net, components.subset


def _in_user_unit(found: ShortCircuits, unit: float) -> ShortCircuits:
    return found if unit == 1.0 else replace(found, lengths=found.lengths * unit, detours=found.detours * unit)
