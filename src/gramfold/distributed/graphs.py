"""Neighbour graphs of rows in partitions.

the rows of the graph   all, or if there are more than graph_rows so many drawn at random; or the landmarks. They are
                        gathered, because new rows find their neighbours among them
their neighbours        on a cluster: neighbor_cells.py
the map                 of this graph, in this process; all other rows are embedded out-of-sample, where they are
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.distributed.dask_rows import DaskRows
from gramfold.distributed.kmeans_landmarks import kmeans_numbers
from gramfold.distributed.landmarks import random_numbers
from gramfold.distributed.neighbor_cells import CellSearch
from gramfold.distributed.partitions import Partitions
from gramfold.distributed.sampled import fitted_to, require_numbers
from gramfold.embedding.groups import LaplacianMap
from gramfold.embedding.model import Drawn, Fitted
from gramfold.errors import InputError
from gramfold.graph.neighbor_graph import Find, found_here
from gramfold.kernels.landmarks import given_landmarks
from gramfold.runtime.memory import require_room
from gramfold.types import Floats, Integers

_COPIES = 3  # of the gathered rows: as they come, as one table, and as the neighbour search prepares them


def fit_graph(estimator: Any, rows: Partitions, extras: Mapping[str, Any]) -> Fitted:
    """Isomap, the maps of a Laplacian, spectral clustering."""
    _refuse(estimator)
    seen = _seen(estimator, rows)
    _require_room(estimator, rows, len(seen.numbers))
    with _gathered(rows, seen.numbers) as (table, find):
        drawn = Drawn(rows.n_rows, seen.numbers)
        return fitted_to(estimator, table, drawn, rows, y=extras.get("y"), find=find, **seen.changed)


@dataclass(frozen=True, eq=False)
class _Seen:
    """Rows that the graph has."""

    numbers: Integers  # ascending, counted through all partitions
    changed: Mapping[str, Any]  # parameters that mean something else for a table of these alone


def _seen(estimator: Any, rows: Partitions) -> _Seen:
    n, most, rng = rows.n_rows, int(estimator.graph_rows), check_random_state(estimator.random_state)
    landmarks = getattr(estimator, "landmarks", None)
    named = not (landmarks is None or isinstance(landmarks, str | Integral))
    chosen = np.sort(given_landmarks(landmarks, n)) if named else np.empty(0, dtype=np.intp)
    if isinstance(estimator, LaplacianMap) and landmarks is not None:  # the graph is that of the landmarks
        kmeans = estimator.landmark_choice == "kmeans" and not named and landmarks < n
        drawn = kmeans_numbers if kmeans else random_numbers
        return _Seen(chosen if named else drawn(rows, int(landmarks), rng), {"landmarks": None})
    numbers = random_numbers(rows, most, rng)
    if not named or n <= most:
        return _Seen(numbers, {})
    # landmarks of Isomap are among the rows of the graph
    numbers = np.union1d(chosen, rng.permutation(np.setdiff1d(numbers, chosen))[: max(0, most - len(chosen))])
    return _Seen(numbers, {"landmarks": np.searchsorted(numbers, np.asarray(landmarks))})


def _refuse(estimator: Any) -> None:
    require_numbers(estimator)
    if estimator.drop_edges is not None and not isinstance(estimator.drop_edges, str):
        raise InputError(
            f"drop_edges of {type(estimator).__name__} names edges of rows in memory: use drop_edges='short_circuits', "
            "or leave it out."
        )


def _require_room(estimator: Any, rows: Partitions, count: int) -> None:
    """Refuse rows whose table alone does not fit, before they are gathered."""
    words = "landmarks" if isinstance(estimator, LaplacianMap) and estimator.landmarks is not None else "graph_rows"
    require_room(
        float(_COPIES) * count * rows.width * rows.dtype.itemsize,
        f"the table of {count:,} rows whose neighbour graph {type(estimator).__name__} makes",
        f"use a smaller {words}",
    )


@contextmanager
def _gathered(rows: Partitions, numbers: Integers) -> Iterator[tuple[Floats, Find]]:
    """These rows, and who finds their neighbours."""
    if not isinstance(rows, DaskRows):
        yield rows.take(numbers), found_here
        return
    with rows.kept(numbers) as held:
        table = held.take(np.arange(len(numbers)))
        yield table, found_here if held.client is None else CellSearch(held)
